/* support_files.c - see support_files.h. */
#include "support_files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char scratch_dir[64];

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	abort();
}

size_t open_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	size_t n = 0;

	must(d != NULL, "/proc/self/fd");
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

int scratch_begin(void **state)
{
	(void)state;
	strcpy(scratch_dir, "/tmp/cleat-test-XXXXXX");
	must(mkdtemp(scratch_dir) != NULL, scratch_dir);
	return 0;
}

int scratch_end(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof command, "rm -rf '%s'", scratch_dir);
	scratch_dir[0] = '\0';
	return system(command);
}

const char *scratch_path(const char *name)
{
	static char path[8][256];
	static unsigned next;
	char *p = path[next++ % 8];

	snprintf(p, sizeof path[0], "%s/%s", scratch_dir, name);
	return p;
}

void scratch_put(const char *name, const char *text)
{
	FILE *f = fopen(scratch_path(name), "w");

	must(f != NULL, name);
	fputs(text, f);
	must(fclose(f) == 0, name);
}
