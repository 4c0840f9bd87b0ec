/* program/bench/report.h - what a run has shown, as text, JSON and a page of HTML. */
#ifndef PROGRAM_BENCH_REPORT_H
#define PROGRAM_BENCH_REPORT_H

#include "bench/load.h"
#include "bench/usage.h"
#include "cli/run.h"
#include "text/text.h"
#include "json/writer.h"

struct report {
	const struct tally *t;
	const struct load_options *load;
	const struct usage *usage; /* of the server; n 0: nothing is known */
	const char *server, *version, *revision;
	const char *transport;     /* "HTTP", "stdio", ... */
	const char *where;         /* URL or command */
	const char *const *labels; /* of the requests, load->n_shots of them */
	const unsigned *weights;
	char started[24]; /* 2026-11-16T04:05:06Z */
	bool library, interrupted;
	size_t sessions;
	uint64_t own_cpu_ns;
};

void report_text(struct cli *cli, FILE *to, const struct report *r);
/* An object. */
void report_json(struct jw *w, const struct report *r);
/* A page that needs nothing else. False with errno. */
bool report_html(const char *path, const struct report *r);

/* For these: "1.24 ms", "71.3 us", "12,345", "3.1 MiB"; into `room`, which has 32 bytes at least. */
const char *show_time(char *room, uint64_t ns);
const char *show_number(char *room, uint64_t n);
const char *show_bytes(char *room, uint64_t n);
/* Nanoseconds as milliseconds with all their digits: 1.234567 */
const char *show_ms(char *room, uint64_t ns);
/* "64 connections, closed loop, 10.0 s after 1.00 s of warm-up" */
void report_load(struct text *to, const struct report *r);
/* Per second, of `n` in `ns`. */
uint64_t report_rate(uint64_t n, uint64_t ns);
uint64_t report_elapsed(const struct report *r);
/* Good answers. What was under way when the time was up does not count. */
uint64_t report_per_second(const struct report *r);
/* Processor time of a request. */
uint64_t report_cost(uint64_t cpu_ns, const struct report *r);
/* The i-th kind of failure there was, in words ("HTTP 503"), and how many; false after the last. */
bool report_failure(const struct tally *t, size_t i, char *room, size_t n, uint64_t *ret_count);

#endif
