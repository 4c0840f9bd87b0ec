/* test_run_stream.c - messages over a stream: slices, slow readers, limits, the end of input. */
#include "test.h"
#include "unit/run/stream_rig.h"

/* ---- messages ----------------------------------------------------------------------------- */

PIPES_TEST(every_line_is_answered_in_order)
{
	put(r, "one\ntwo\r\n\nthr");
	expect(r, "one\ntwo\n");
	put(r, "ee\n");
	expect(r, "three\n");
}

/* One read, one write: all answers to what came together leave together. */
PIPES_TEST(answers_leave_in_one_piece)
{
	char text[8192] = "", got[8192];
	size_t n = 0;

	for (int i = 0; i < 64; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "{\"id\":%d}\n", i);
	put(r, text);
	cleat_loop_step(r->l, -1);
	assert_int_equal(get(r, got, sizeof got), n); /* nothing else was run */
	assert_memory_equal(got, text, n);
}

PIPES_TEST(answers_from_outside_leave_with_the_next_step)
{
	cleat_loop_step(r->l, 0);
	answer(&r->echo, "late", 4);
	assert_int_equal(cleat_loop_timeout(r->l), 0);
	expect(r, "late\n");
}

PIPES_TEST(line_over_the_limit_does_not_end_the_connection)
{
	static char block[65536];

	memset(block, 'x', sizeof block);
	for (int i = 0; i < 17; i++) { /* 1 MiB and a bit */
		assert_true(write(r->in[1], block, sizeof block) == (ssize_t)sizeof block);
		while (r->s && cleat_loop_step(r->l, 0) == CLEAT_OK &&
		       cleat_loop_timeout(r->l) == 0)
			;
		cleat_loop_step(r->l, 0);
	}
	put(r, "\ngood\n");
	expect(r, "over 1048576\ngood\n");
	assert_int_equal(r->echo.oversize, 1);
}

/* ---- slow readers ------------------------------------------------------------------------- */

RIG_TEST(partial_writes_lose_nothing)
{
	enum { SIZE = 300000 };
	static char got[SIZE + 100];
	size_t n = 0;

	begin_socket(r);
	put(r, "big 300000\nafter\n");
	while (n < SIZE + 7) {
		cleat_loop_step(r->l, 0);
		n += get(r, got + n, n % 7 + 1); /* slowly */
		if (n > 1000)
			n += get(r, got + n, sizeof got - n);
	}
	for (size_t i = 0; i < SIZE; i++)
		assert_int_equal(got[i], 'z');
	assert_memory_equal(got + SIZE, "\nafter\n", 7);
	assert_false(r->over);
}

/* Nobody reads: input waits, memory stays bounded; when somebody reads again, all answers come, in
 * order. */
PIPES_TEST(input_waits_until_output_is_read)
{
	enum { LINES = 200, SIZE = 100000 };
	static char got[65536];
	size_t newlines = 0, sent = 0, most = 0, bytes = 0;
	char line[32];

	for (int i = 0; i < LINES; i++) {
		snprintf(line, sizeof line, "big %d\n", SIZE + i);
		put(r, line);
	}
	for (int i = 0; i < 50; i++)
		cleat_loop_step(r->l, 0);
	sent = r->echo.received;
	assert_true(sent * SIZE < OUTBOX_HIGH + 3 * SIZE);
	assert_true(r->echo.congested);
	while (newlines < LINES) {
		size_t n = get(r, got, sizeof got);

		for (size_t i = 0; i < n; i++) {
			if (got[i] == '\n') {
				assert_int_equal(bytes, SIZE + newlines);
				newlines++;
				bytes = 0;
			} else {
				bytes++;
			}
		}
		cleat_loop_step(r->l, 0);
		sent = r->echo.received - newlines;
		most = sent > most ? sent : most;
	}
	assert_true(most * SIZE < OUTBOX_HIGH + 3 * SIZE);
	assert_int_equal(r->echo.unsent, 0);
	assert_false(r->over);
}

/* Answers that nobody asked to wait (from other threads) go over every mark: the other side counts
 * as gone. */
PIPES_TEST(reader_that_never_reads_is_given_up)
{
	static char block[1 << 20];

	memset(block, 'x', sizeof block);
	for (int i = 0; i < 40; i++)
		answer(&r->echo, block, sizeof block);
	assert_true(r->echo.unsent > 0);
	assert_int_equal(r->echo.closed, 0); /* not from inside its own call */
	run_to_end(r);
	assert_int_equal(r->status, CLEAT_ELIMIT);
	assert_int_equal(r->echo.closed, 1);
	assert_non_null(strstr(r->notes, "does not read"));
}

PIPES_TEST(message_over_the_reply_limit_is_refused_alone)
{
	put(r, "big 25000000\nsmall\n");
	expect(r, "small\n");
	assert_int_equal(r->echo.unsent, 1);
	assert_false(r->over);
}

/* ---- the end of input --------------------------------------------------------------------- */

/* To the end without waiting: so few turns only when it is not the clock that ends it, however slow the machine
 * is. */
static void turn_to_end(struct rig *r)
{
	for (int turns = 0; !r->over && turns < 20; turns++)
		cleat_loop_step(r->l, 0);
	assert_true(r->over);
}

PIPES_TEST(end_of_input_ends_at_once_when_nothing_runs)
{
	char got[64];

	put(r, "one\nlast without newline");
	close_fd(&r->in[1]);
	turn_to_end(r);
	assert_int_equal(r->status, CLEAT_OK);
	assert_int_equal(r->echo.closed, 1);
	assert_int_equal(get(r, got, sizeof got), 25);
	assert_memory_equal(got, "one\nlast without newline\n", 25);
	assert_int_equal(cleat_loop_step(r->l, -1), CLEAT_ECLOSED);
}

PIPES_TEST(end_of_input_lets_requests_finish)
{
	put(r, "defer\n");
	close_fd(&r->in[1]);
	for (int i = 0; i < 5; i++)
		assert_int_equal(cleat_loop_step(r->l, 0), CLEAT_OK);
	assert_int_equal(r->echo.received, 1);
	assert_int_equal(r->echo.closed, 0);
	answer(&r->echo, "done", 4);
	r->echo.inflight = 0;
	run_to_end(r);
	expect(r, "done\n");
	assert_int_equal(r->echo.closed, 1);
}

/* A request that ends without an answer (it was cancelled) is noticed too, not only by the clock. */
PIPES_TEST(end_of_input_notices_requests_without_answer)
{
	put(r, "defer\n");
	close_fd(&r->in[1]);
	while (r->echo.received == 0)
		cleat_loop_step(r->l, -1);
	r->echo.inflight = 0;
	cleat_loop_wake(r->l);
	turn_to_end(r);
}

PIPES_TEST(end_of_input_cancels_what_takes_too_long)
{
	uint64_t before = loop_now();

	put(r, "defer\n");
	close_fd(&r->in[1]);
	run_to_end(r);
	assert_true(loop_now() - before >= STREAM_GRACE_MS - 1);
	assert_int_equal(r->status, CLEAT_OK);
	assert_int_equal(r->echo.closed, 1);
}

PIPES_TEST(rest_that_nobody_reads_is_given_up)
{
	put(r, "big 500000\n");
	close_fd(&r->in[1]);
	run_to_end(r);
	assert_int_equal(r->status, CLEAT_OK);
	assert_non_null(strstr(r->notes, "did not take the last"));
}

PIPES_TEST(rest_is_written_to_a_slow_reader)
{
	enum { SIZE = 500000 };
	static char got[4096];
	size_t n = 0;

	put(r, "big 500000\n");
	close_fd(&r->in[1]);
	while (!r->over) {
		cleat_loop_step(r->l, 0);
		n += get(r, got, sizeof got);
	}
	for (size_t k; (k = get(r, got, sizeof got)) > 0;)
		n += k;
	assert_int_equal(n, SIZE + 1);
}
