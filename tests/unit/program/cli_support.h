/* cli_support.h - for the tests of the program's parts: what it says on stderr, what it keeps. */
#ifndef CLI_SUPPORT_H
#define CLI_SUPPORT_H

#include "text/text.h"

#include <stdio.h>
#include <unistd.h>

static int capture_saved = -1;

/* From now on stderr goes to a file. */
static inline void capture_begin(void)
{
	FILE *f = tmpfile();

	fflush(stderr);
	capture_saved = dup(STDERR_FILENO);
	if (!f || capture_saved < 0 || dup2(fileno(f), STDERR_FILENO) < 0)
		perror("stderr cannot be caught");
	if (f)
		fclose(f);
}

/* What was said since; stderr is itself again. */
static inline const char *capture_end(void)
{
	static char text[8192];
	ssize_t n;

	fflush(stderr);
	n = pread(STDERR_FILENO, text, sizeof text - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	dup2(capture_saved, STDERR_FILENO);
	close(capture_saved);
	return text;
}

/* For cmocka: what the parts have kept up to the program's end. */
static inline int forget(void **state)
{
	(void)state;
	keep_free_all();
	return 0;
}

#endif
