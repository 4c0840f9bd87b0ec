/* test_bench_tally.c - what `cleat bench` counts: outcomes, how long a run was, its course over time, and that
 * the sum of several threads is what one would have counted.
 */
#include "bench/tally.h"
#include "test.h"

#include <string.h>

#define MS 1000000u
#define S  1000000000u

static struct tally t, other;

static int begin(void **state)
{
	(void)state;
	assert_true(tally_init(&t, 2));
	assert_true(tally_init(&other, 2));
	t.begin = other.begin = 100 * (uint64_t)S;
	return 0;
}

static int end(void **state)
{
	(void)state;
	tally_done(&t);
	tally_done(&other);
	return 0;
}

TEST_WITH(each_outcome_is_counted_once_and_only_good_ones_have_a_duration, begin, end)
{
	for (int kind = 0; kind < OUT_KINDS; kind++)
		tally_add(&t, (enum outcome)kind, 7, 1, t.begin, 5 * MS);
	assert_int_equal(t.kinds[OUT_GOOD], 1);
	assert_int_equal(tally_failed(&t), OUT_KINDS - 1);
	assert_int_equal(t.each[1].n, 1);
	assert_int_equal(t.each[1].sum, 5 * MS);
	assert_int_equal(t.each[0].n, 0);
	/* who found no connection has tried no scenario */
	assert_int_equal(t.failed[1], OUT_KINDS - 2);
	assert_int_equal(t.failed[0], 0);
}

/* One late answer must not make a run longer, nor a quiet end shorter. */
TEST_WITH(a_run_by_time_has_lasted_as_long_as_it_was_to_last, begin, end)
{
	t.until = t.begin + S;
	tally_add(&t, OUT_GOOD, 0, 0, t.begin + 300 * MS, MS);
	tally_add(&t, OUT_GOOD, 0, 0, t.begin + 9 * (uint64_t)S, 8 * (uint64_t)S);
	tally_end(&t, t.begin + 9 * (uint64_t)S, false);
	assert_int_equal(t.end - t.begin, S);
	assert_int_equal(t.in_time, 1);
	assert_int_equal(t.kinds[OUT_GOOD], 2);
	tally_end(&t, t.begin + 400 * MS, false); /* interrupted */
	assert_int_equal(t.end - t.begin, 400 * MS);
}

TEST_WITH(a_run_by_number_has_lasted_up_to_the_last_answer, begin, end)
{
	tally_add(&t, OUT_GOOD, 0, 0, t.begin + 300 * MS, MS);
	tally_add(&t, OUT_TIMEOUT, 0, 0, t.begin + 500 * MS, 0);
	tally_end(&t, t.begin + 520 * MS, true);
	assert_int_equal(t.end - t.begin, 500 * MS);
	assert_int_equal(t.in_time, 1);
}

static uint64_t good_slices(const struct tally *of)
{
	uint64_t n = 0;

	for (size_t i = 0; i < of->n_slices; i++)
		n += of->slices[i].good;
	return n;
}

TEST_WITH(the_course_has_room_for_any_time_and_loses_nothing, begin, end)
{
	for (uint64_t i = 0; i < 10000; i++)
		tally_add(&t, OUT_GOOD, 0, 0, t.begin + i * 100 * MS, MS);
	assert_true(t.n_slices <= TALLY_SLICES && t.n_slices >= TALLY_SLICES / 2);
	assert_true(t.slice_ns * t.n_slices >= 9999 * (uint64_t)100 * MS);
	assert_int_equal(good_slices(&t), 10000);
}

TEST_WITH(threads_of_different_length_add_up, begin, end)
{
	t.begin = 0; /* a sum has none yet */
	for (uint64_t i = 0; i < 500; i++)
		tally_add(&other, OUT_GOOD, 0, i % 2, other.begin + i * 50 * MS, i);
	tally_add(&other, OUT_HTTP, 503, 0, other.begin, 0);
	tally_why(&other, "busy");
	tally_end(&other, other.begin + 25 * (uint64_t)S, false);
	tally_merge(&t, &other);
	other.end += S;
	tally_merge(&t, &other);
	assert_int_equal(t.begin, other.begin);
	assert_int_equal(t.end, other.end);
	assert_int_equal(t.all.n, 1000);
	assert_int_equal(t.each[1].n, 500);
	assert_int_equal(t.in_time, 1000);
	assert_int_equal(t.failed[0], 2);
	assert_int_equal(good_slices(&t), 1000);
	assert_int_equal(t.codes[0].n, 2);
	assert_int_equal(t.codes[0].detail, 503);
	assert_string_equal(t.why, "busy");
}

TEST_WITH(codes_are_told_apart_as_far_as_there_is_room, begin, end)
{
	for (int i = 0; i < TALLY_CODES + 3; i++)
		tally_add(&t, OUT_RPC, -32000 - i, 0, t.begin, 0);
	tally_add(&t, OUT_HTTP, -32000, 0, t.begin, 0); /* another kind */
	assert_int_equal(t.codes[TALLY_CODES - 1].n, 1);
	assert_int_equal(t.other_codes, 4);
}

TEST_WITH(what_a_server_said_is_quoted_safely_and_once, begin, end)
{
	static const char said[] = "{\"a\":\t\"\xc3\xa4\0\x1b[2J\"}";
	char plain[400];

	tally_quote(&t, said, sizeof said - 1);
	assert_string_equal(t.why, "{\"a\": \"????[2J\"}");
	tally_quote(&t, "later", 5);
	assert_string_equal(t.why, "{\"a\": \"????[2J\"}");
	memset(plain, 'x', sizeof plain);
	tally_quote(&other, plain, sizeof plain);
	assert_int_equal(strlen(other.why), sizeof other.why - 1);
	assert_string_equal(other.why + sizeof other.why - 5, "x...");
}
