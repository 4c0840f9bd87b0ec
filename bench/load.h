/* bench/load.h - what the programs of `make load` share. LOAD_NAME is the one that includes it. */
#ifndef BENCH_LOAD_H
#define BENCH_LOAD_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

__attribute__((format(printf, 1, 2))) static _Noreturn void fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs(LOAD_NAME ": ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(2);
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

#endif
