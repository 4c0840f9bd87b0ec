/* test_http_sse.c - server-sent events, written and read. The rules are those of WHATWG HTML 9.2.5
 * ("Parsing an event stream") and 9.2.6 ("Interpreting an event stream"); the cases named wpt are those
 * of the web platform tests, eventsource/format-*, for what is not about HTTP.
 */
#include "http/sse.h"
#include "support.h"
#include "test.h"

#include <stdlib.h>

#define ROW(s)                                                                                     \
	{                                                                                          \
		s, sizeof(s) - 1                                                                   \
	}
#define BYTES(s) ((struct str)ROW(s))
#define X16      "xxxxxxxxxxxxxxxx"
#define X256     X16 X16 X16 X16 X16 X16 X16 X16 X16 X16 X16 X16 X16 X16 X16 X16
#define X1024    X256 X256 X256 X256

static const struct str none = { NULL, 0 };

/* ---- reading ---------------------------------------------------------------------------------- */

/* "(event id retry)data" for each; "message" and absent things are left out. */
static void write_down(void *ctx, const struct sse_event *e)
{
	struct buf *b = ctx;

	assert_non_null(e->data.p);
	assert_true(e->event.n > 0);
	buf_putc(b, '(');
	if (!str_eqz(e->event, "message"))
		buf_append(b, e->event.p, e->event.n);
	if (e->id.n) {
		buf_appendz(b, " #");
		buf_append(b, e->id.p, e->id.n);
	}
	if (e->retry >= 0)
		buf_printf(b, " ~%lld", (long long)e->retry);
	buf_putc(b, ')');
	buf_append(b, e->data.p, e->data.n);
}

/* Feeds in slices of `step`, each in memory of its own. */
static int feed_slices(struct sse_reader *r, struct str in, size_t step, struct buf *out)
{
	int rc = CLEAT_OK;

	for (size_t at = 0; at < in.n && rc == CLEAT_OK;) {
		size_t k = in.n - at < step ? in.n - at : step;
		char *slice = malloc(k);

		assert_true(slice && r);
		memcpy(slice, in.p + at, k);
		rc = sse_reader_feed(r, (struct str){ slice, k }, write_down, out);
		free(slice);
		at += k;
	}
	return rc;
}

struct wanted {
	struct str events;
	const char *last_id;
	int64_t retry;
};

static void expect_reading(struct str in, const struct wanted *w)
{
	static const size_t steps[] = { SIZE_MAX, 1, 2, 3, 5 };

	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		struct sse_reader *r = sse_reader_new(NULL, 1 << 20);
		struct buf b;

		assert_non_null(r);
		buf_init(&b, NULL, 1 << 20);
		assert_int_equal(feed_slices(r, in, steps[i], &b), CLEAT_OK);
		if (!str_eq(buf_str(&b), w->events))
			print_message("for: %.*s\nslices of %zu, got: %.*s\n", STR_ARGS(in),
				      steps[i], STR_ARGS(buf_str(&b)));
		assert_true(str_eq(buf_str(&b), w->events));
		assert_true(str_eqz(sse_reader_last_id(r), w->last_id ? w->last_id : ""));
		assert_int_equal(sse_reader_retry(r), w->retry);
		buf_done(&b);
		sse_reader_free(r);
	}
}

struct reading {
	struct str in;
	struct wanted wanted;
};

static void expect_readings(const struct reading *cases, size_t n)
{
	for (size_t i = 0; i < n; i++)
		expect_reading(cases[i].in, &cases[i].wanted);
}
#define EXPECT_READINGS(cases) expect_readings(cases, sizeof(cases) / sizeof *(cases))

TEST(the_web_platform_tests_pass)
{
	static const struct reading cases[] = {
		/* wpt format-bom, format-bom-2: one mark is skipped, another makes an unknown field */
		{ ROW("\xEF\xBB\xBF"
		      "data:1\n\n\xEF\xBB\xBF"
		      "data:2\n\ndata:3\n\n"),
		  { ROW("()1()3"), NULL, -1 } },
		{ ROW("\xEF\xBB\xBF\xEF\xBB\xBF"
		      "data:1\n\ndata:2\n\ndata:3\n\n"),
		  { ROW("()2()3"), NULL, -1 } },
		/* wpt format-comments */
		{ ROW("data:1\r:\0\n:\r\ndata:2\n:" X1024 "\rdata:3\n:data:fail\r:" X1024
		      "\ndata:4\n\n\n"),
		  { ROW("()1\n2\n3\n4"), NULL, -1 } },
		/* wpt format-data-before-final-empty-line: what is incomplete never happened, its id
		 * neither */
		{ ROW("retry:1000\ndata:test1\n\nid:test\ndata:test2"),
		  { ROW("( ~1000)test1"), NULL, 1000 } },
		/* wpt format-field-data */
		{ ROW("data:\n\ndata\ndata\n\ndata:test\n\n"), { ROW("()()\n()test"), NULL, -1 } },
		/* wpt format-field-event, format-field-event-empty */
		{ ROW("event:test\ndata:x\n\ndata:x\n\n"), { ROW("(test)x()x"), NULL, -1 } },
		{ ROW("event: \ndata:data\n\n"), { ROW("()data"), NULL, -1 } },
		/* wpt format-field-id, format-field-id-2, format-field-id-3 */
		{ ROW("id: 1\ndata: a\n\n"), { ROW("( #1)a"), "1", -1 } },
		{ ROW("id: \xE2\x80\xA6\ndata: a\n\ndata: b\n\n"),
		  { ROW("( #\xE2\x80\xA6)a( #\xE2\x80\xA6)b"), "\xE2\x80\xA6", -1 } },
		{ ROW("data:x\nid:1\n\ndata:y\nid\n\ndata:z\n\n"),
		  { ROW("( #1)x()y()z"), NULL, -1 } },
		/* wpt format-field-id-null */
		{ ROW("id:\0\0\ndata:a\n\n"), { ROW("()a"), NULL, -1 } },
		{ ROW("id:x\0\ndata:a\n\n"), { ROW("()a"), NULL, -1 } },
		{ ROW("id:\0x\ndata:a\n\n"), { ROW("()a"), NULL, -1 } },
		{ ROW("id:x\0x\ndata:a\n\n"), { ROW("()a"), NULL, -1 } },
		{ ROW("id: \0\ndata:a\n\n"), { ROW("()a"), NULL, -1 } },
		/* wpt format-field-parsing */
		{ ROW("data:\0\ndata:  2\rData:1\ndata\0:2\ndata:1\r\0data:4\nda-ta:3\rdata_5\ndata:3\r"
		      "data:\r\n data:32\ndata:4\n\n"),
		  { ROW("()\0\n 2\n1\n3\n\n4"), NULL, -1 } },
		/* wpt format-field-retry, -bogus, -empty */
		{ ROW("retry:03000\ndata:x\n\n"), { ROW("( ~3000)x"), NULL, 3000 } },
		{ ROW("retry:3000\nretry:1000x\ndata:x\n\n"), { ROW("( ~3000)x"), NULL, 3000 } },
		{ ROW("retry:1000\nretry\ndata:test\n\n"), { ROW("( ~1000)test"), NULL, 1000 } },
		/* wpt format-field-unknown */
		{ ROW("data:test\n data\ndata\nfoobar:xxx\njustsometext\n:thisisacommentyay\n"
		      "data:test\n\n"),
		  { ROW("()test\n\ntest"), NULL, -1 } },
		/* wpt format-leading-space */
		{ ROW("data:\ttest\rdata: \ndata:test\n\n"),
		  { ROW("()\ttest\n\ntest"), NULL, -1 } },
		/* wpt format-newlines */
		{ ROW("data:test\r\ndata\ndata:test\r\n\r"), { ROW("()test\n\ntest"), NULL, -1 } },
		/* wpt format-null-character, format-utf-8 */
		{ ROW("data:\0\n\n\n\n"), { ROW("()\0"), NULL, -1 } },
		{ ROW("data:ok\xE2\x80\xA6\n\n"), { ROW("()ok\xE2\x80\xA6"), NULL, -1 } },
	};

	EXPECT_READINGS(cases);
}

TEST(the_examples_of_the_specification_work)
{
	static const struct reading cases[] = {
		{ ROW("data: YHOO\ndata: +2\ndata: 10\n\n"), { ROW("()YHOO\n+2\n10"), NULL, -1 } },
		{ ROW(": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\n"
		      "data:  third event\n\n"),
		  { ROW("( #1)first event()second event() third event"), NULL, -1 } },
		{ ROW("data\n\ndata\ndata\n\ndata:"), { ROW("()()\n"), NULL, -1 } },
		{ ROW("data:test\n\ndata: test\n\n"), { ROW("()test()test"), NULL, -1 } },
	};

	EXPECT_READINGS(cases);
}

TEST(fields_and_line_ends_are_read_by_the_rules)
{
	static const struct reading cases[] = {
		{ ROW(""), { ROW(""), NULL, -1 } },
		{ ROW("\xEF\xBB"), { ROW(""), NULL, -1 } },
		/* half a mark is none */
		{ ROW("\xEF\xBB"
		      "data:1\n\ndata:2\n\n"),
		  { ROW("()2"), NULL, -1 } },
		{ ROW("\xEF\n\ndata:2\n\n"), { ROW("()2"), NULL, -1 } },
		/* all line ends, also mixed: LF CR is two */
		{ ROW("data:a\r\rdata:b\r\n\r\ndata:c\n\ndata:d\n\rdata:e\r\n\n"),
		  { ROW("()a()b()c()d()e"), NULL, -1 } },
		/* no data, no event; its name does not stay, its id does */
		{ ROW("event:x\nid:7\n\ndata:a\n\n"), { ROW("( #7)a"), "7", -1 } },
		{ ROW("id:7\n\n"), { ROW(""), "7", -1 } },
		{ ROW("id:7\n"), { ROW(""), NULL, -1 } },
		/* the last one counts */
		{ ROW("event:a\nevent:b\nid:1\nid:2\nretry:1\nretry:2\ndata:x\n\n"),
		  { ROW("(b #2 ~2)x"), "2", 2 } },
		{ ROW("id:1\nid:\0\ndata:x\n\n"), { ROW("( #1)x"), "1", -1 } },
		/* retry counts without an event, but belongs to none then */
		{ ROW("retry: 5\n\ndata:x\n\n"), { ROW("()x"), NULL, 5 } },
		{ ROW("retry:-1\nretry:+1\nretry:1 \nretry:  1\nretry:1.0\nretry:\n"),
		  { ROW(""), NULL, -1 } },
		{ ROW("retry:99999999999999999999999999\n"), { ROW(""), NULL, INT64_MAX } },
		{ ROW("retry:9223372036854775807\n"), { ROW(""), NULL, INT64_MAX } },
		{ ROW("retry:99999999999999999999999999x\n"), { ROW(""), NULL, -1 } },
		/* names are exact */
		{ ROW("DATA:a\ndat:b\ndatas:c\ndata :d\n data:e\ndatadata:f\n\n"),
		  { ROW(""), NULL, -1 } },
		/* one space goes, a tab stays, colons in values are nothing special */
		{ ROW("data::a: b\ndata:  x\ndata: \ty\n\n"),
		  { ROW("():a: b\n x\n\ty"), NULL, -1 } },
	};

	EXPECT_READINGS(cases);
}

/* A peer that sends many small things must not make the reader call itself (50,000 comments killed
 * another implementation) nor search the rest of the input for every line. */
TEST(many_lines_are_no_burden)
{
	struct sse_reader *r = sse_reader_new(NULL, 100);
	struct buf in, out;

	buf_init(&in, NULL, SIZE_MAX / 2);
	buf_init(&out, NULL, SIZE_MAX / 2);
	for (int i = 0; i < 300000; i++)
		buf_appendz(&in, ":ping\r\r");
	buf_appendz(&in, "data:x\r\r");
	assert_int_equal(feed_slices(r, buf_str(&in), SIZE_MAX, &out), CLEAT_OK);
	assert_true(str_eqz(buf_str(&out), "()x"));
	buf_done(&in);
	buf_done(&out);
	sse_reader_free(r);
}

TEST(events_have_a_limit)
{
	static const struct {
		struct str in;
		int rc;
	} cases[] = {
		{ ROW("data:12345678\n\n"), CLEAT_OK }, /* nine bytes, with the line end */
		{ ROW("data:123456789\ndata:\n\n"), CLEAT_ELIMIT },
		{ ROW("data:1234567890"), CLEAT_OK }, /* the line end would be one too many */
		{ ROW("data:12345678901"), CLEAT_ELIMIT },
		{ ROW("data:1\ndata:2\ndata:3\ndata:4\ndata:5\n\n"), CLEAT_OK },
		{ ROW("data\ndata\ndata\ndata\ndata\ndata\ndata\ndata\ndata\ndata\ndata\n"),
		  CLEAT_ELIMIT },
		{ ROW("event:12345678901"), CLEAT_ELIMIT },
		{ ROW("id:12345678901"), CLEAT_ELIMIT },
		{ ROW("id:12345\nevent:123456"), CLEAT_ELIMIT },
		/* what is not kept does not count */
		{ ROW(":" X256 "\n" X256 ":" X256 "\nretry:" X256 "\ndata:1\n\n"), CLEAT_OK },
		/* every event anew */
		{ ROW("data:1234567\n\ndata:1234567\n\nid:1234567\n\ndata:12\n\n"), CLEAT_OK },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		for (size_t step = 1; step < 300; step += 298) {
			struct sse_reader *r = sse_reader_new(NULL, 10);
			struct buf out;

			buf_init(&out, NULL, 4096);
			assert_int_equal(feed_slices(r, cases[i].in, step, &out), cases[i].rc);
			/* dead readers stay dead */
			assert_int_equal(sse_reader_feed(r, BYTES("\n\n"), write_down, &out),
					 cases[i].rc ? cases[i].rc
					 : i == 2    ? CLEAT_ELIMIT
						     : CLEAT_OK);
			buf_done(&out);
			sse_reader_free(r);
		}
	}
}

TEST(a_large_event_leaves_no_memory_behind)
{
	struct fail_alloc fa;
	struct sse_reader *r;
	struct buf in, out;

	fail_alloc_init(&fa, 0, false);
	buf_init(&in, NULL, SIZE_MAX / 2);
	buf_init(&out, NULL, SIZE_MAX / 2);
	buf_appendz(&in, "data:");
	for (int i = 0; i < 100000; i++)
		buf_putc(&in, 'x');
	buf_appendz(&in, "\n\n");
	r = sse_reader_new(&fa.hook, 1 << 20);
	assert_int_equal(feed_slices(r, buf_str(&in), 1000, &out), CLEAT_OK);
	assert_int_equal(buf_size(&out), 100002);
	assert_true(fa.peak > 100000);
	assert_true(fa.bytes < 8192);
	sse_reader_free(r);
	assert_int_equal(fa.live, 0);
	buf_done(&in);
	buf_done(&out);
}

TEST(lack_of_memory_is_told_and_leaks_nothing)
{
	static const struct str in = ROW("id:1\nevent:e\ndata:" X1024 "\nretry:7\n\nid:" X1024
					 "\ndata:x\n\ndata:" X1024 X256 X256 "\n\n");

	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct sse_reader *r;
		struct buf out;

		buf_init(&out, NULL, SIZE_MAX / 2);
		r = sse_reader_new(&fa.hook, 1 << 20);
		if (r) {
			int rc = feed_slices(r, in, 100, &out);

			assert_int_equal(rc, fail_alloc_hit(&fa) ? CLEAT_ENOMEM : CLEAT_OK);
		}
		sse_reader_free(r);
		buf_done(&out);
	}
}

/* ---- writing ---------------------------------------------------------------------------------- */

TEST(events_are_written_as_lines)
{
	static const struct {
		struct sse_event e;
		const char *out;
	} cases[] = {
		{ { .data = ROW("{}"), .retry = -1 }, "data: {}\n\n" },
		{ { .id = ROW("7"), .event = ROW("message"), .data = ROW("{}"), .retry = 0 },
		  "id: 7\nevent: message\nretry: 0\ndata: {}\n\n" },
		/* 2025-11-25: the first event of a stream has an id and empty data */
		{ { .id = ROW("7"), .data = ROW(""), .retry = 3000 },
		  "id: 7\nretry: 3000\ndata: \n\n" },
		{ { .retry = INT64_MAX }, "retry: 9223372036854775807\n\n" },
		{ { .id = ROW("7"), .retry = -1 }, "id: 7\n\n" },
		{ { .id = ROW(""), .event = ROW(""), .retry = -1 }, "id: \nevent: \n\n" },
		/* line ends of every kind */
		{ { .data = ROW("a\nb\rc\r\nd\n\re\n"), .retry = -1 },
		  "data: a\ndata: b\ndata: c\ndata: d\ndata: \ndata: e\ndata: \n\n" },
		{ { .data = ROW("\r"), .retry = -1 }, "data: \ndata: \n\n" },
		{ { .data = ROW(" x"), .retry = -1 }, "data:  x\n\n" },
		/* nothing gets out of its line */
		{ { .id = ROW("7\ndata: x"), .data = ROW("a"), .retry = -1 }, "data: a\n\n" },
		{ { .id = ROW("7\r"), .data = ROW("a"), .retry = -1 }, "data: a\n\n" },
		{ { .id = ROW("7\0"), .data = ROW("a"), .retry = -1 }, "data: a\n\n" },
		{ { .event = ROW("a\r\n"), .data = ROW("a"), .retry = -1 }, "data: a\n\n" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buf b;

		buf_init(&b, NULL, 4096);
		sse_write(&b, &cases[i].e);
		buf_putc(&b, 0);
		assert_string_equal(b.data, cases[i].out);
		buf_done(&b);
	}
}

TEST(comments_are_written)
{
	struct buf b;

	buf_init(&b, NULL, 4096);
	sse_write_comment(&b, "keep-alive");
	sse_write_comment(&b, "");
	sse_write_comment(&b, "a\ndata: b");
	buf_putc(&b, 0);
	assert_string_equal(b.data, ": keep-alive\n\n: \n\n: a\n: data: b\n\n");
	buf_done(&b);
}

TEST(lack_of_room_is_told)
{
	struct sse_event e = { .id = BYTES("1"), .data = BYTES("abc"), .retry = -1 };
	struct buf b;

	buf_init(&b, NULL, 12); /* "id: 1" and half of the data */
	sse_write(&b, &e);
	assert_int_equal(buf_status(&b), CLEAT_ELIMIT);
	buf_done(&b);
}

TEST(what_is_written_is_read)
{
	struct sse_event e = { .id = BYTES(" 1:2 "),
			       .event = BYTES("e: v"),
			       .data = BYTES(" a\n\nb\0: c\n"),
			       .retry = 12 };
	struct sse_reader *r = sse_reader_new(NULL, 4096);
	struct buf b, out;

	buf_init(&b, NULL, 4096);
	buf_init(&out, NULL, 4096);
	assert_int_equal(sse_reader_feed(r, none, write_down, &out), CLEAT_OK); /* no bytes */
	sse_write_comment(&b, "hello");
	sse_write(&b, &e);
	sse_write_comment(&b, "");
	e = (struct sse_event){ .id = none, .data = BYTES(""), .retry = -1 };
	sse_write(&b, &e);
	assert_int_equal(feed_slices(r, buf_str(&b), 7, &out), CLEAT_OK);
	assert_true(str_eq(buf_str(&out), BYTES("(e: v # 1:2  ~12) a\n\nb\0: c\n( # 1:2 )")));
	buf_done(&b);
	buf_done(&out);
	sse_reader_free(r);
}

/* A text of CRs only: a search to its end for every line would take minutes. */
TEST(many_line_ends_are_no_burden)
{
	enum { N = 1 << 20 };
	char *text = malloc(N);
	struct sse_event e = { .data = { text, N }, .retry = -1 };
	struct buf b;

	assert_non_null(text);
	memset(text, '\r', N);
	buf_init(&b, NULL, SIZE_MAX / 2);
	sse_write(&b, &e);
	assert_int_equal(buf_size(&b), (N + 1) * 7 + 1);
	buf_done(&b);
	free(text);
}
