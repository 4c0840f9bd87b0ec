/* program/bench/hist.h - how often which duration: a histogram of fixed size that any duration fits in.
 *
 * Slots are linear inside a power of two and double their width with each: 128 for each power, so that a
 * value and the middle of its slot differ by less than 0.4 %. Values below 256 have slots of their own.
 * Least, greatest, sum and number are exact. What is 2^42 or more (73 minutes, in nanoseconds) falls into
 * the last slot. Adding neither allocates nor fails.
 */
#ifndef PROGRAM_BENCH_HIST_H
#define PROGRAM_BENCH_HIST_H

#include <stddef.h>
#include <stdint.h>

#define HIST_SLOTS (34 * 128 + 256)

struct hist {
	uint64_t n, least, most, sum;
	uint64_t slots[HIST_SLOTS];
};

void hist_clear(struct hist *h);
void hist_add(struct hist *h, uint64_t value);
void hist_merge(struct hist *to, const struct hist *from);
/* The value that a part q (0 to 1) of all values does not exceed; 0 when there are none. */
uint64_t hist_quantile(const struct hist *h, double q);
uint64_t hist_mean(const struct hist *h);
/* Where a value is counted. */
size_t hist_slot(uint64_t value);
/* The least value of a slot; of HIST_SLOTS that after the last. */
uint64_t hist_low(size_t slot);

#endif
