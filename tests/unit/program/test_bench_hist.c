/* test_bench_hist.c - the histogram of `cleat bench`, against the same values in a sorted array. */
#include "bench/hist.h"
#include "test.h"

#include <stdlib.h>

static struct hist h, other;

static uint64_t next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Values of all sizes: uniform in their logarithm. */
static uint64_t any_value(uint64_t *seed, unsigned bits)
{
	uint64_t v = next(seed);

	return (v >> 20) >> (44 - next(seed) % (bits + 1));
}

/* The value of rank ceil(q * n), from 1. */
static uint64_t exact(const uint64_t *sorted, size_t n, double q)
{
	size_t rank = (size_t)(q * (double)n);

	if ((double)rank < q * (double)n || rank == 0)
		rank++;
	return sorted[(rank > n ? n : rank) - 1];
}

TEST(quantiles_are_within_0_4_percent_of_a_sorted_array)
{
	static const double q[] = { 0,    0.001, 0.01, 0.1,   0.25,   0.5,
				    0.75, 0.9,   0.99, 0.999, 0.9999, 1 };
	static uint64_t values[100000];
	uint64_t seed = 88172645463325252u;

	for (unsigned bits = 4; bits <= 40; bits += 6) {
		for (size_t n = 1; n <= 100000; n *= 10) {
			hist_clear(&h);
			for (size_t i = 0; i < n; i++)
				hist_add(&h, values[i] = any_value(&seed, bits));
			qsort(values, n, sizeof *values, by_value);
			for (size_t i = 0; i < sizeof q / sizeof *q; i++) {
				uint64_t want = exact(values, n, q[i]),
					 got = hist_quantile(&h, q[i]);
				uint64_t off = got > want ? got - want : want - got;

				assert_true(off * 250 <= want);
				assert_true(q[i] < 1 || got == want);
			}
		}
	}
}

TEST(slots_follow_each_other_without_gaps)
{
	for (size_t i = 0; i < HIST_SLOTS; i++) {
		uint64_t low = hist_low(i), end = hist_low(i + 1);

		assert_true(end > low);
		assert_true((end - low) * 128 <= low || end - low == 1);
		hist_clear(&h);
		hist_add(&h, low);
		hist_add(&h, end - 1);
		assert_int_equal(h.slots[i], 2);
	}
	assert_true(hist_low(HIST_SLOTS) == (uint64_t)1 << 42);
}

TEST(number_sum_least_and_most_are_exact)
{
	hist_clear(&h);
	assert_int_equal(hist_quantile(&h, 0.5), 0);
	assert_int_equal(hist_mean(&h), 0);
	hist_add(&h, 1000003);
	hist_add(&h, 17);
	hist_add(&h, 999999999);
	assert_int_equal(h.n, 3);
	assert_int_equal(h.least, 17);
	assert_int_equal(h.most, 999999999);
	assert_int_equal(hist_mean(&h), (1000003u + 17u + 999999999u) / 3);
	assert_int_equal(hist_quantile(&h, 1), 999999999);
	assert_int_equal(hist_quantile(&h, 0), 17);
}

TEST(what_is_too_large_is_in_the_last_slot_and_the_most)
{
	hist_clear(&h);
	hist_add(&h, UINT64_MAX / 2);
	hist_add(&h, 1);
	assert_int_equal(h.slots[HIST_SLOTS - 1], 1);
	assert_true(h.most == UINT64_MAX / 2);
	assert_true(hist_quantile(&h, 1) == UINT64_MAX / 2);
}

TEST(merging_is_as_adding_all)
{
	static struct hist all;
	uint64_t seed = 1234567;

	hist_clear(&h);
	hist_clear(&other);
	hist_clear(&all);
	hist_merge(&h, &other);
	assert_int_equal(h.n, 0);
	for (int i = 0; i < 10000; i++) {
		uint64_t v = any_value(&seed, 30);

		hist_add(i % 3 ? &h : &other, v);
		hist_add(&all, v);
	}
	hist_merge(&h, &other);
	assert_memory_equal(&h, &all, sizeof h);
}
