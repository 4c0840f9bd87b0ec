/* child/shed.c - the guard gives back the memory of ours that it is a copy of; see
 * guard.h.
 *
 * Without this every page that we change would be copied for as long as the child lives: a program of
 * a gigabyte could grow by one for each of its children, and the out-of-memory killer would take the
 * small guard for a large process. What goes is anonymous memory (the heap, what was mapped, the
 * stacks of other threads) and everything that is shared. What stays is where the guard itself is: the
 * files of the program with the zeroed data behind them, and a little around the stack, errno and the
 * thread's own record, which also the kernel writes to (rseq).
 *
 * Nothing here or in the guard afterwards may call the C library, but for syscall(): sanitizers and
 * preloaded libraries put functions with memory of their own in front of it.
 */
#define _GNU_SOURCE /* syscall */

#include "child/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
	__has_feature(memory_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

enum {
	AROUND = 128 * 1024,      /* kept on both sides of each address that is needed */
	STATIC_DATA = 1024 * 1024 /* kept behind a file: its zeroed data, which has no name */
};

struct span {
	uintptr_t from, to;
};

enum { NEEDED = 3 };

/* A line of /proc/self/maps: "from-to perms offset device inode   name". */
struct line {
	struct span at;
	unsigned field;
	size_t n;       /* characters of this field */
	char access[4]; /* "rw-p" */
	bool file;      /* the inode is not 0 */
	char name[6];   /* its beginning */
};

static bool droppable(const struct line *l)
{
	static const char heap[] = "[heap", anon[] = "[anon";
	bool is_heap = true, is_anon = true;

	if (l->access[3] == 's')
		return true;
	if (l->file)
		return false;
	for (size_t i = 0; i < sizeof heap - 1; i++) {
		is_heap = is_heap && l->name[i] == heap[i];
		is_anon = is_anon && l->name[i] == anon[i];
	}
	return l->name[0] == 0 || is_heap || is_anon;
}

static void unmap(struct span s, const struct span *needed)
{
	while (s.from < s.to) {
		uintptr_t next = s.to, stop = next;

		for (int i = 0; i < NEEDED; i++) {
			if (needed[i].to <= s.from || needed[i].from >= stop)
				continue;
			stop = needed[i].from > s.from ? needed[i].from : s.from;
			next = needed[i].to;
		}
		if (stop > s.from)
			syscall(SYS_munmap, s.from, stop - s.from);
		s.from = next;
	}
}

static uintptr_t digit(char c)
{
	return (uintptr_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static void take_char(struct line *l, char c)
{
	if (c == ' ' && l->field < 5) {
		l->field++;
		l->n = 0;
		return;
	}
	if (c == ' ' && l->n == 0)
		return; /* before the name */
	if (l->field == 0 && c == '-')
		l->at.from = l->at.to, l->at.to = 0;
	else if (l->field == 0)
		l->at.to = l->at.to * 16 + digit(c);
	else if (l->field == 1 && l->n < sizeof l->access)
		l->access[l->n] = c;
	else if (l->field == 4)
		l->file = l->file || c != '0';
	else if (l->field == 5 && l->n < sizeof l->name - 1)
		l->name[l->n] = c;
	l->n++;
}

/* `file_end`: where the last mapping of a file ended. */
static void take_line(const struct line *l, const struct span *needed, uintptr_t *file_end)
{
	struct span s = l->at;

	if (l->file)
		*file_end = l->at.to;
	if (!droppable(l))
		return;
	if (l->access[3] != 's' && s.from == *file_end)
		s.from = s.to - s.from > STATIC_DATA ? s.from + STATIC_DATA : s.to;
	unmap(s, needed);
}

static struct span around(uintptr_t p)
{
	uintptr_t page = 65536, at = p / page * page;

	return (struct span){ at > AROUND ? at - AROUND : 0, at + page + AROUND };
}

/* Its memory is in the same list as the program's, and nothing tells them apart. */
static bool under_valgrind(long fd)
{
	static const char word[] = "/vgpreload_"; /* what it loads into every program */
	char buf[1024];
	size_t matched = 0;
	long n;

	while ((n = syscall(SYS_read, fd, buf, sizeof buf)) > 0)
		for (long i = 0; i < n; i++) {
			if (buf[i] != word[matched])
				matched = 0;
			matched += buf[i] == word[matched];
			if (matched == sizeof word - 1)
				return true;
		}
	return syscall(SYS_lseek, fd, 0l, SEEK_SET) != 0;
}

void guard_shed(void)
{
	static const struct line empty;
	struct line l = empty;
	uintptr_t file_end = 0;
	char buf[1024];
	long n, fd;
	bool watched;
	/* pthread_self() points to the thread's record, or right after it */
	struct span needed[NEEDED] = { around((uintptr_t)&l), around((uintptr_t)&errno),
				       around((uintptr_t)pthread_self()) };

	if (SANITIZED)
		return; /* their shadow is memory of this kind, too */
	fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	watched = under_valgrind(fd);
	while (!watched && (n = syscall(SYS_read, fd, buf, sizeof buf)) > 0) {
		for (long i = 0; i < n; i++) {
			if (buf[i] != '\n') {
				take_char(&l, buf[i]);
				continue;
			}
			take_line(&l, needed, &file_end);
			l = empty;
		}
	}
	syscall(SYS_close, fd);
}
