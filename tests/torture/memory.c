/* memory.c - the default allocator of a library that is built for torture (CLEAT_TORTURE).
 *
 * In such a build src/base/mem.c is compiled with malloc and realloc renamed to the two functions
 * below, so that what reaches the C library through the default allocator, and only that, can fail;
 * the tests' own memory does not. The environment says when:
 *
 *	CLEAT_TORTURE_AT=N        the N-th allocation fails (from 1; absent or 0: none)
 *	CLEAT_TORTURE_FOR_GOOD=1  and all that follow
 *	CLEAT_TORTURE_COUNT=FILE  at exit the number of allocations is written there
 *
 * A broken pipe shows where it happened before it ends the program: tests write to servers that could
 * not start. Only the process that begins is counted, not its children. Any thread may allocate.
 */
#include "memory.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_ulong count;
static unsigned long fail_at;
static bool for_good;
static pid_t first;

/* Of the sanitizers' runtime. */
void __attribute__((weak)) __sanitizer_print_stack_trace(void);

static void on_pipe(int sig)
{
	if (__sanitizer_print_stack_trace)
		__sanitizer_print_stack_trace();
	signal(sig, SIG_DFL);
	raise(sig);
}

static void __attribute__((constructor)) begin(void)
{
	const char *at = getenv("CLEAT_TORTURE_AT");

	if (at)
		signal(SIGPIPE, on_pipe);
	fail_at = at ? strtoul(at, NULL, 10) : 0;
	for_good = getenv("CLEAT_TORTURE_FOR_GOOD") != NULL;
	first = getpid();
}

static void __attribute__((destructor)) end(void)
{
	const char *path = getenv("CLEAT_TORTURE_COUNT");
	FILE *f = path && getpid() == first ? fopen(path, "w") : NULL;

	if (!f)
		return;
	fprintf(f, "%lu\n", atomic_load(&count));
	fclose(f);
}

static bool refuse(void)
{
	unsigned long n = atomic_fetch_add_explicit(&count, 1, memory_order_relaxed) + 1;

	return fail_at && (n == fail_at || (for_good && n > fail_at));
}

void *torture_malloc(size_t size)
{
	void *p = refuse() ? NULL : malloc(size);

	if (p)
		memset(p, 0xA5, size); /* nobody may count on zeros */
	return p;
}

void *torture_realloc(void *p, size_t size)
{
	return refuse() ? NULL : realloc(p, size);
}
