/* test_framing.c - lines out of bytes, however the bytes are sliced; and the outbox, its
 * counterpart. stdio transport: "Messages are delimited by newlines, and MUST NOT contain embedded
 * newlines."
 */
#include "net/framing.h"
#include "net/outbox.h"
#include "support.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a sink that remembers ---------------------------------------------------------------- */

struct seen {
	char text[4096]; /* "line|line|" with '#' for a line that was too long */
	size_t n;
	size_t pause_after; /* lines; 0: never */
	size_t lines;
	const char *low, *high; /* where uncopied lines lie */
	size_t uncopied;
};

static void put(struct seen *s, const char *p, size_t n)
{
	assert_true(s->n + n + 1 < sizeof s->text);
	memcpy(s->text + s->n, p, n);
	s->n += n;
	s->text[s->n++] = '|';
	s->text[s->n] = 0;
}

static bool on_line(void *ctx, struct str line)
{
	struct seen *s = ctx;

	put(s, line.p, line.n);
	if (line.p >= s->low && line.p < s->high)
		s->uncopied++;
	return ++s->lines != s->pause_after;
}

static void on_oversize(void *ctx, size_t limit)
{
	(void)limit;
	put(ctx, "#", 1);
}

static struct framing_sink sink_of(struct seen *s)
{
	return (struct framing_sink){ .line = on_line, .oversize = on_oversize, .ctx = s };
}

/* Feeds `text` in slices of `step` bytes, then ends; gives what was seen. */
static const char *run(struct seen *s, const char *text, size_t n, size_t step, size_t limit)
{
	struct framing_sink sink = sink_of(s);
	struct framing f;

	*s = (struct seen){ .low = text, .high = text + n };
	framing_init(&f, NULL, limit);
	for (size_t at = 0; at < n; at += step) {
		size_t k = n - at < step ? n - at : step;

		assert_int_equal(framing_feed(&f, text + at, k, &sink), k);
	}
	framing_end(&f, &sink);
	framing_done(&f);
	return s->text;
}

#define RUN(s, text, step, limit) run(s, text, sizeof(text) - 1, step, limit)

TEST(lines_do_not_depend_on_slices)
{
	static const char text[] = "{\"a\":1}\n\n\r\n[2]\r\n{\"c\":\r3}\nlast";
	struct seen s;

	for (size_t step = 1; step <= sizeof text; step++)
		assert_string_equal(RUN(&s, text, step, 100), "{\"a\":1}|[2]|{\"c\":\r3}|last|");
}

TEST(whole_lines_are_not_copied)
{
	static const char text[] = "one\ntwo\nthree\nfo";
	struct seen s;

	RUN(&s, text, sizeof text, 100);
	assert_int_equal(s.uncopied, 3);
	assert_int_equal(s.lines, 4);
}

TEST(one_cr_is_dropped_and_only_one)
{
	struct seen s;

	assert_string_equal(RUN(&s, "a\r\r\nb\r\nc\r", 100, 100), "a\r|b|c|");
	assert_string_equal(RUN(&s, "a\r\r\nb\r\nc\r", 1, 100), "a\r|b|c|");
}

TEST(bytes_are_not_looked_at)
{
	static const char text[] = "\xEF\xBB\xBF{}\n{\0}\n\xff\xfe{\0\n";
	struct seen s;

	for (size_t step = 1; step <= sizeof text; step++) {
		RUN(&s, text, step, 100);
		assert_int_equal(s.n, sizeof text - 1);
		assert_memory_equal(s.text, "\xEF\xBB\xBF{}|{\0}|\xff\xfe{\0|", s.n);
	}
}

TEST(last_line_needs_no_newline)
{
	struct seen s;

	assert_string_equal(RUN(&s, "a\nb", 100, 100), "a|b|");
	assert_string_equal(RUN(&s, "a\n", 100, 100), "a|");
	assert_string_equal(RUN(&s, "\r", 100, 100), "");
	assert_string_equal(RUN(&s, " \n\t \r\n x\n", 1, 100), " x|");
	assert_string_equal(RUN(&s, "", 1, 100), "");
}

/* A line over the limit is reported once, and the next one is good again. */
TEST(line_over_the_limit_is_skipped)
{
	struct seen s;

	for (size_t step = 1; step < 40; step++) {
		assert_string_equal(RUN(&s, "12345678\nok\n", step, 8), "12345678|ok|");
		assert_string_equal(RUN(&s, "12345678\r\nok\n", step, 8), "12345678|ok|");
		assert_string_equal(RUN(&s, "123456789\nok\n", step, 8), "#|ok|");
		assert_string_equal(RUN(&s, "1234567890123456789\nok\n", step, 8), "#|ok|");
		assert_string_equal(RUN(&s, "1234567890123456789", step, 8), "#|");
		assert_string_equal(RUN(&s, "123456789", step, 8), "#|");
	}
}

TEST(line_over_the_limit_is_reported_before_its_end)
{
	struct seen s = { .n = 0 };
	struct framing_sink sink = sink_of(&s);
	struct framing f;

	framing_init(&f, NULL, 8);
	framing_feed(&f, "123456789012", 12, &sink);
	assert_string_equal(s.text, "#|");
	framing_done(&f);
}

TEST(pause_keeps_the_rest_with_the_caller)
{
	static const char text[] = "a\nbb\nccc\nd";
	struct seen s = { .pause_after = 2 };
	struct framing_sink sink = sink_of(&s);
	struct framing f;
	size_t used;

	framing_init(&f, NULL, 100);
	used = framing_feed(&f, text, sizeof text - 1, &sink);
	assert_int_equal(used, 5);
	assert_string_equal(s.text, "a|bb|");
	assert_int_equal(framing_feed(&f, text + used, sizeof text - 1 - used, &sink),
			 sizeof text - 1 - used);
	framing_end(&f, &sink);
	assert_string_equal(s.text, "a|bb|ccc|d|");
	framing_done(&f);
}

/* ---- memory ------------------------------------------------------------------------------- */

static bool count_line(void *ctx, struct str line)
{
	*(size_t *)ctx += line.n;
	return true;
}

static void count_oversize(void *ctx, size_t limit)
{
	(void)limit;
	*(size_t *)ctx += 1;
}

/* An endless line costs no more than the limit allows, and after a huge line the memory goes. */
TEST(memory_is_bounded_and_shrinks)
{
	static char block[65536];
	struct fail_alloc fa;
	size_t sum = 0;
	struct framing_sink sink = { .line = count_line, .oversize = count_oversize, .ctx = &sum };
	struct framing f;

	fail_alloc_init(&fa, 0, false);
	memset(block, 'x', sizeof block);
	framing_init(&f, &fa.hook, 1024 * 1024);
	for (int i = 0; i < 500; i++)
		framing_feed(&f, block, sizeof block, &sink);
	assert_true(fa.peak <= 2 * 1024 * 1024);
	assert_int_equal(sum, 1);
	assert_true(fa.bytes <= 65536);
	framing_feed(&f, "\n", 1, &sink);
	for (int i = 0; i < 8; i++)
		framing_feed(&f, block, sizeof block, &sink);
	framing_feed(&f, "\n", 1, &sink);
	assert_int_equal(sum, 1 + 8 * sizeof block);
	assert_true(fa.bytes <= 65536);
	framing_done(&f);
	assert_int_equal(fa.bytes, 0);
}

/* No memory for the beginning of a line: that line is reported as lost, the next one is good. */
TEST(line_without_memory_is_reported)
{
	struct fail_alloc fa;
	struct seen s = { .n = 0 };
	struct framing_sink sink = sink_of(&s);
	struct framing f;

	fail_alloc_init(&fa, 1, true);
	framing_init(&f, &fa.hook, 100);
	framing_feed(&f, "begin", 5, &sink);
	framing_feed(&f, "end\nnext\n", 9, &sink);
	assert_string_equal(s.text, "#|next|");
	framing_done(&f);
	assert_int_equal(fa.bytes, 0);
}

/* ---- outbox ------------------------------------------------------------------------------- */

TEST(outbox_frames_and_takes_back)
{
	struct outbox o;

	outbox_init(&o, NULL, 100);
	buf_appendz(outbox_begin(&o), "one");
	assert_int_equal(outbox_ready(&o).n, 0); /* not shown half */
	assert_int_equal(outbox_end(&o, true), CLEAT_OK);
	buf_appendz(outbox_begin(&o), "half");
	assert_int_equal(outbox_ready(&o).n, 4);
	assert_int_equal(outbox_end(&o, false), CLEAT_OK);
	buf_appendz(outbox_begin(&o), "two");
	outbox_sent(&o, 2);
	assert_int_equal(outbox_end(&o, true), CLEAT_OK);
	assert_true(str_eqz(outbox_ready(&o), "e\ntwo\n"));
	o.shut = true;
	assert_null(outbox_begin(&o));
	assert_int_equal(outbox_end(&o, true), CLEAT_ECLOSED);
	assert_true(str_eqz(outbox_ready(&o), "e\ntwo\n")); /* what was taken is still sent */
	outbox_done(&o);
}

TEST(outbox_tells_large_messages_from_slow_readers)
{
	static char block[OUTBOX_SLACK];
	struct outbox o;

	memset(block, 'x', sizeof block);
	outbox_init(&o, NULL, 1000);
	buf_append(outbox_begin(&o), block, sizeof block);
	buf_append(outbox_begin(&o), block, 1001);
	assert_int_equal(outbox_end(&o, true), CLEAT_ELIMIT);
	assert_false(outbox_overrun(&o));
	buf_append(outbox_begin(&o), block, sizeof block);
	assert_int_equal(outbox_end(&o, true), CLEAT_OK);
	buf_append(outbox_begin(&o), block, 1000);
	assert_int_equal(outbox_end(&o, true), CLEAT_ELIMIT);
	assert_true(outbox_overrun(&o));
	assert_int_equal(outbox_ready(&o).n, sizeof block + 1);
	outbox_done(&o);
}

TEST(outbox_without_memory_keeps_what_it_has)
{
	struct fail_alloc fa;
	static char block[100000];
	struct outbox o;

	fail_alloc_init(&fa, 2, true);
	memset(block, 'x', sizeof block);
	outbox_init(&o, &fa.hook, SIZE_MAX);
	buf_appendz(outbox_begin(&o), "one");
	assert_int_equal(outbox_end(&o, true), CLEAT_OK);
	buf_append(outbox_begin(&o), block, sizeof block);
	assert_int_equal(outbox_end(&o, true), CLEAT_ENOMEM);
	buf_appendz(outbox_begin(&o), "two");
	assert_int_equal(outbox_end(&o, true), CLEAT_OK);
	assert_true(str_eqz(outbox_ready(&o), "one\ntwo\n"));
	outbox_done(&o);
	assert_int_equal(fa.bytes, 0);
}

TEST(empty_outbox_gives_memory_back)
{
	struct fail_alloc fa;
	static char block[1024 * 1024];
	struct outbox o;

	fail_alloc_init(&fa, 0, false);
	memset(block, 'x', sizeof block);
	outbox_init(&o, &fa.hook, sizeof block);
	buf_append(outbox_begin(&o), block, sizeof block);
	outbox_end(&o, true);
	outbox_sent(&o, sizeof block);
	outbox_sent(&o, 1);
	assert_true(fa.bytes <= 256 * 1024);
	outbox_done(&o);
	assert_int_equal(fa.bytes, 0);
}
