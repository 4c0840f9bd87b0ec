/* program/bench/tally.h - what came of the requests of one run: counts by kind, durations, a course over time.
 *
 * Every request that is counted has exactly one outcome. Only good answers have a duration: an error that
 * comes at once must not make a server look fast. Of fixed size; adding does not allocate.
 */
#ifndef PROGRAM_BENCH_TALLY_H
#define PROGRAM_BENCH_TALLY_H

#include "bench/hist.h"

#include <stdbool.h>

enum outcome {
	OUT_GOOD,
	OUT_HTTP, /* a status other than 200; detail: which */
	OUT_RPC,  /* a JSON-RPC error; detail: its code */
	OUT_TOOL, /* isError */
	OUT_ASKS, /* the server asks something first */
	OUT_TIMEOUT,
	OUT_CONNECT, /* no connection */
	OUT_LOST,    /* it ended before the answer */
	OUT_BAD,     /* what came is no answer to this request */
	OUT_KINDS
};

#define TALLY_CODES  32  /* different details that are told apart */
#define TALLY_SLICES 400 /* of time, at most */

struct tally_code {
	enum outcome kind; /* OUT_HTTP, OUT_RPC */
	int64_t detail;
	uint64_t n;
};

struct tally_slice {
	uint64_t good, failed, sum, most; /* sum and most of the durations */
};

struct tally {
	uint64_t kinds[OUT_KINDS];
	struct tally_code codes[TALLY_CODES];
	uint64_t other_codes;
	char why[160]; /* the first failure in words, where there are any */
	uint64_t bytes_in, bytes_out, reconnects, unsent;
	uint64_t in_time;  /* good ones that came before `until` */
	uint64_t slice_ns; /* the length of a slice */
	struct tally_slice slices[TALLY_SLICES];
	size_t n_slices;
	uint64_t begin, end; /* of what is counted: see tally_end() */
	uint64_t until;      /* when the time is up; UINT64_MAX: it ends by number */
	uint64_t last;       /* outcome */
	struct hist all;
	struct hist *each; /* by request; n_each of them */
	uint64_t *failed;  /* the same; without those that found no connection */
	size_t n_each;
};

/* False: out of memory. */
bool tally_init(struct tally *t, size_t n_each);
void tally_done(struct tally *t);
/* At the time `now`, not before t->begin. `took` counts for OUT_GOOD alone. */
void tally_add(struct tally *t, enum outcome kind, int64_t detail, size_t which, uint64_t now,
	       uint64_t took);
/* It is over, `now`. By time it has lasted as long as it was to last, however late the last answers came;
 * when all that was to be sent was sent, it has lasted up to the last of them. */
void tally_end(struct tally *t, uint64_t now, bool all_sent);
void tally_why(struct tally *t, const char *text);
/* The same with the beginning of what a server sent; what is not plain ASCII in it becomes '?'. */
void tally_quote(struct tally *t, const char *text, size_t n);
void tally_merge(struct tally *to, const struct tally *from);
uint64_t tally_failed(const struct tally *t);
/* "timeout", ...; of OUT_GOOD "good". */
const char *outcome_name(enum outcome kind);

#endif
