/* program/serve/kit/taken.c - see taken.h. */
#include "serve/kit/taken.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LEFT_OPEN_MAX = 64 /* somebody plays games: rather a lock than all descriptors */ };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct taken *first; /* under `lock` */
static atomic_uint count;   /* of them, also without */

void taken_add(struct taken *t)
{
	pthread_mutex_lock(&lock);
	t->next = first;
	first = t;
	atomic_fetch_add(&count, 1);
	pthread_mutex_unlock(&lock);
}

void taken_remove(struct taken *t)
{
	struct taken **at = &first;

	pthread_mutex_lock(&lock);
	while (*at && *at != t)
		at = &(*at)->next;
	if (*at) {
		*at = t->next;
		atomic_fetch_sub(&count, 1);
	}
	pthread_mutex_unlock(&lock);
}

void taken_set_file(struct taken *t, const struct stat *st)
{
	pthread_mutex_lock(&lock);
	t->device = st ? (uint64_t)st->st_dev : 0;
	t->inode = st ? (uint64_t)st->st_ino : 0;
	pthread_mutex_unlock(&lock);
}

void taken_set_tool(struct taken *t, const char *tool)
{
	pthread_mutex_lock(&lock);
	t->tool = tool;
	pthread_mutex_unlock(&lock);
}

/* "-wal" of "x.db-wal"; NULL: it is not called like a file beside a database. */
static const char *suffix_of(const char *name)
{
	static const char *const suffixes[] = { "-wal", "-shm", "-journal" };
	size_t n = strlen(name);

	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
		size_t k = strlen(suffixes[i]);

		if (n > k && strcmp(name + n - k, suffixes[i]) == 0)
			return suffixes[i];
	}
	return NULL;
}

static bool is_beside(const struct taken *t, const char *suffix, const struct stat *st)
{
	char path[PATH_MAX];
	struct stat other;
	int n = snprintf(path, sizeof path, "%s%s", t->path, suffix);

	return n > 0 && (size_t)n < sizeof path && stat(path, &other) == 0 &&
	       other.st_dev == st->st_dev && other.st_ino == st->st_ino;
}

bool taken_any(void)
{
	return atomic_load(&count) > 0;
}

bool taken_is(const struct stat *st, const char *name, char why[TAKEN_WORDS])
{
	const char *suffix = suffix_of(name), *tool = NULL;
	bool found = false;

	if (!taken_any())
		return false;
	pthread_mutex_lock(&lock);
	for (const struct taken *t = first; t && !tool; t = t->next) {
		if ((t->inode != (uint64_t)st->st_ino || t->device != (uint64_t)st->st_dev) &&
		    !(suffix && is_beside(t, suffix, st)))
			continue;
		found = true;
		tool = t->tool;
	}
	if (found && why)
		snprintf(why, TAKEN_WORDS, "is %sa database that is served here; use %s%.100s",
			 suffix ? "part of " : "", tool ? "the tool " : "its own tools",
			 tool ? tool : "");
	pthread_mutex_unlock(&lock);
	return found;
}

void taken_leave_open(int fd)
{
	static atomic_uint n;

	if (atomic_fetch_add(&n, 1) >= LEFT_OPEN_MAX)
		close(fd);
}
