/* test_bench_reader.c - answers as `cleat bench` reads them: HTTP/1.1 (RFC 9112), event streams, lines; and
 * what it makes of the messages in them. Every case is read whole, byte by byte and in odd slices.
 */
#include "bench/reader.h"
#include "bench/scan.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OK_HEAD  "HTTP/1.1 200 OK\r\n"
#define CHUNKED  "Transfer-Encoding: chunked\r\n"
#define STREAM   "Content-Type: text/event-stream; charset=utf-8\r\n"
#define MAX_SIZE ((size_t)1 << 20)

/* Everything that is seen, in words: "event(data)", "200(body)", "close", "bad". */
struct seen {
	char text[4096];
	size_t n;
};

static void note(struct seen *s, const char *what, const char *p, size_t n)
{
	int k = snprintf(s->text + s->n, sizeof s->text - s->n, "%s(%.*s)", what, (int)n,
			 p ? p : "");

	assert_true(k > 0 && s->n + (size_t)k < sizeof s->text);
	s->n += (size_t)k;
}

/* What is there; false: no further. */
static bool drain(struct reader *r, struct seen *s)
{
	char status[16];

	for (;;) {
		switch (reader_step(r)) {
		case READER_MORE: return true;
		case READER_BAD: note(s, "bad", NULL, 0); return false;
		case READER_EVENT: note(s, "event", r->body, r->body_n); break;
		case READER_DONE:
			snprintf(status, sizeof status, "%d%s", r->status, r->close ? "close" : "");
			note(s, status, r->body, r->stream ? 0 : r->body_n);
			if (r->session[0])
				note(s, "session", r->session, strlen(r->session));
			reader_next(r);
			if (!reader_started(r))
				return true;
			break;
		}
	}
}

/* Slices of `step` bytes; 0: of different ones. */
static void read_all(const char *p, size_t n, bool lines, bool end, size_t step, struct seen *s)
{
	struct reader r;
	unsigned seed = 7;
	size_t at = 0;
	bool go_on = true;

	s->n = 0;
	s->text[0] = '\0';
	assert_true(reader_init(&r, lines, MAX_SIZE));
	while (go_on && at < n) {
		size_t room, k = step ? step : 1 + (seed = seed * 1103515245 + 12345) / 65536 % 23;
		char *to = reader_room(&r, &room);

		if (!to) {
			note(s, "bad", NULL, 0);
			go_on = false;
			break;
		}
		k = k < n - at ? k : n - at;
		k = k < room ? k : room;
		memcpy(to, p + at, k);
		reader_received(&r, k);
		at += k;
		go_on = drain(&r, s);
	}
	if (go_on && end && reader_started(&r)) {
		reader_ended(&r);
		drain(&r, s);
	}
	reader_done(&r);
}

struct row {
	const char *in, *out;
	unsigned how; /* LINES, END: the connection ends then */
};
enum { LINES = 1, END = 2 };

static void check(const struct row *rows, size_t n)
{
	static struct seen s;

	for (size_t i = 0; i < n; i++) {
		for (size_t step = 0; step < 9; step++) {
			read_all(rows[i].in, strlen(rows[i].in), rows[i].how & LINES,
				 rows[i].how & END, step == 8 ? (size_t)1 << 20 : step, &s);
			if (strcmp(s.text, rows[i].out) != 0)
				print_message("case %zu in slices of %zu\n", i, step);
			assert_string_equal(s.text, rows[i].out);
		}
	}
}
#define CHECK(rows) check(rows, sizeof(rows) / sizeof *(rows))

/* RFC 9112 6.3: where a body ends. */
TEST(bodies_end_where_their_framing_says)
{
	static const struct row rows[] = {
		{ OK_HEAD "Content-Length: 5\r\n\r\nhello", "200(hello)", 0 },
		{ OK_HEAD "content-length:5  \r\nX: y\r\n\r\nhello" OK_HEAD
			  "Content-Length: 0\r\n\r\n",
		  "200(hello)200()", 0 },
		{ OK_HEAD "Content-Length: 2\nMcp-Session-Id: abc-1\n\nhi", "200(hi)session(abc-1)",
		  0 },
		{ OK_HEAD CHUNKED "\r\n5\r\nhello\r\n1;ext=\"x\"\r\n!\r\n0\r\n\r\n", "200(hello!)",
		  0 },
		{ OK_HEAD CHUNKED "\r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n" OK_HEAD
				  "Content-Length: 1\r\n\r\nx",
		  "200(0123456789)200(x)", 0 },
		{ OK_HEAD "\r\nuntil the end", "200close(until the end)", END },
		{ "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", "202()", 0 },
		{ "HTTP/1.1 204 No Content\r\n\r\n", "204()", 0 },
		{ "HTTP/1.1 100 Continue\r\n\r\n" OK_HEAD "Content-Length: 1\r\n\r\nx", "200(x)",
		  0 },
		{ "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\nno",
		  "503(no)", 0 },
		{ OK_HEAD "Connection: close\r\nContent-Length: 1\r\n\r\nx", "200close(x)", 0 },
		{ OK_HEAD "Connection: Upgrade, Close\r\nContent-Length: 1\r\n\r\nx", "200close(x)",
		  0 },
		{ "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", "200close(x)", 0 },
		{ "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx",
		  "200(x)", 0 },
		{ "HTTP/1.1 200\r\nContent-Length: 1\r\n\r\nx", "200(x)", 0 },
	};

	CHECK(rows);
}

/* WHATWG HTML 9.2.6, in chunks, with a length, up to the end. */
TEST(events_are_given_one_by_one)
{
	static const struct row rows[] = {
		{ OK_HEAD STREAM CHUNKED "\r\n9\r\ndata: a\n\n\r\n0\r\n\r\n", "event(a)200()", 0 },
		{ OK_HEAD STREAM CHUNKED "\r\n7\r\ndata: a\r\n14\r\n\nda"
					 "ta: b\nid: 1\n\n: c\n\r\n0\r\n\r\n",
		  "event(a\nb)200()", 0 },
		{ OK_HEAD STREAM "Content-Length: 25\r\n\r\nevent: x\ndata:{\"a\": 1}\n\n\n" OK_HEAD
				 "Content-Length: 1\r\n\r\ny",
		  "event({\"a\": 1})200()200(y)", 0 },
		{ OK_HEAD STREAM "\r\ndata: a\r\n\r\ndata: b\r\rdata:  c\ndata\n\n",
		  "event(a)event(b)event( c\n)200close()", END },
		{ OK_HEAD STREAM "\r\n: hello\n\nid: 7\nretry: 10\n\ndatum: x\n\ndata: last\n",
		  "200close()", END },
		{ OK_HEAD STREAM CHUNKED "\r\n9\r\ndata: a\n\n\r\nzz\r\n", "event(a)bad()", 0 },
	};

	CHECK(rows);
}

TEST(lines_are_given_one_by_one)
{
	static const struct row rows[] = {
		{ "{\"a\":1}\n\n{\"b\":2}\r\n{\"c\"", "event({\"a\":1})event({\"b\":2})", LINES },
		{ "{\"a\":1}\nrest", "event({\"a\":1})bad()", LINES | END },
	};

	CHECK(rows);
}

TEST(what_is_no_http_is_refused)
{
	static const struct row rows[] = {
		{ "SSH-2.0-OpenSSH\r\n", "bad()", 0 },
		{ "HTTP/2 200\r\n", "bad()", 0 },
		{ "HTTP/1.1 2x0 OK\r\n", "bad()", 0 },
		{ OK_HEAD "no colon\r\n", "bad()", 0 },
		{ OK_HEAD ": no name\r\n", "bad()", 0 },
		{ OK_HEAD "A: b\r\n folded\r\n", "bad()", 0 },
		{ OK_HEAD "Content-Length: -1\r\n", "bad()", 0 },
		{ OK_HEAD "Content-Length: 1x\r\n", "bad()", 0 },
		{ OK_HEAD "Content-Length:\r\n", "bad()", 0 },
		{ OK_HEAD "Content-Length: 99999999999999999999\r\n", "bad()", 0 },
		{ OK_HEAD "Content-Length: 1\r\nContent-Length: 2\r\n", "bad()", 0 },
		{ OK_HEAD "Content-Length: 1048577\r\n\r\n", "bad()", 0 },
		{ OK_HEAD "Transfer-Encoding: gzip, chunked\r\n", "bad()", 0 },
		{ OK_HEAD "Content-Encoding: br\r\n", "bad()", 0 },
		{ OK_HEAD CHUNKED "\r\nx\r\n", "bad()", 0 },
		{ OK_HEAD CHUNKED "\r\n-5\r\n", "bad()", 0 },
		{ OK_HEAD CHUNKED "\r\n\r\n", "bad()", 0 },
		{ OK_HEAD CHUNKED "\r\n123456789\r\n", "bad()", 0 },
		{ OK_HEAD CHUNKED "\r\n2\r\nabc\r\n", "bad()", 0 },
		{ OK_HEAD "Content-Length: 5\r\n\r\nhel", "bad()", END },
		{ OK_HEAD CHUNKED "\r\n5\r\nhel", "bad()", END },
		{ OK_HEAD "Conte", "bad()", END },
	};

	CHECK(rows);
}

/* `head`, then `piece` again and again: it must end. */
static size_t flood(const char *head, const char *piece)
{
	struct seen s = { .n = 0 };
	const char *p = head;
	struct reader r;
	size_t total = 0;
	bool go_on = true;

	assert_true(reader_init(&r, false, MAX_SIZE));
	while (go_on && total < 64 * MAX_SIZE) {
		size_t room;
		char *to = reader_room(&r, &room);

		if (!to)
			break;
		assert_true(room >= strlen(p));
		memcpy(to, p, strlen(p));
		reader_received(&r, strlen(p));
		total += strlen(p);
		p = piece;
		s.n = 0;
		go_on = drain(&r, &s);
	}
	reader_done(&r);
	return total;
}

TEST(nothing_grows_without_end)
{
	assert_true(flood(OK_HEAD, "X: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n") < 70000);
	assert_true(flood(OK_HEAD STREAM, "X: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n") < 70000);
	assert_true(flood(OK_HEAD, "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy") < 140000);
	assert_true(flood("HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n") <
		    70000);
	assert_true(flood(OK_HEAD CHUNKED "\r\n", "5;yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy") < 10000);
	assert_true(flood(OK_HEAD CHUNKED "\r\n", "5\r\nhello\r\n") < 4 * MAX_SIZE);
	assert_true(flood(OK_HEAD STREAM "\r\n", "data: yyyyyyyyyyyyyyyyyyyyyyy\n") < 2 * MAX_SIZE);
	assert_true(flood(OK_HEAD STREAM "\r\n", "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy") < 2 * MAX_SIZE);
	assert_true(flood(OK_HEAD "\r\n", "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy") <
		    2 * MAX_SIZE);
	/* A stream of small events may last: nothing of it is kept. */
	assert_true(flood(OK_HEAD STREAM CHUNKED "\r\n", "9\r\ndata: x\n\n\r\n") >= 64 * MAX_SIZE);
}

/* ---- messages ----------------------------------------------------------------------------------- */

TEST(messages_are_told_apart)
{
	static const struct {
		const char *text;
		enum scan_kind kind;
		long id; /* -1: none that is a number */
		long code;
	} rows[] = {
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", SCAN_RESULT, 1, 0 },
		{ " { \"result\" : { \"a\" : [ { } , \"}\" ] } , \"id\" : 12 } \r\n", SCAN_RESULT,
		  12, 0 },
		{ "{\"result\":null,\"id\":\"1\"}", SCAN_RESULT, -1, 0 },
		{ "{\"result\":{\"content\":[],\"isError\":true},\"id\":3}", SCAN_TOOL_ERROR, 3,
		  0 },
		{ "{\"result\":{\"isError\":false},\"id\":3}", SCAN_RESULT, 3, 0 },
		{ "{\"result\":{\"content\":[{\"isError\":true}]},\"id\":3}", SCAN_RESULT, 3, 0 },
		{ "{\"result\":{\"x\":\"\\\"isError\\\":true\"},\"id\":3}", SCAN_RESULT, 3, 0 },
		{ "{\"result\":{\"is\\u0045rror\":true},\"i\\u0064\":3}", SCAN_TOOL_ERROR, 3, 0 },
		{ "{\"result\":{\"resultType\":\"input_required\"},\"id\":3}", SCAN_ASKS, 3, 0 },
		{ "{\"result\":{\"resultType\":\"complete\"},\"id\":3}", SCAN_RESULT, 3, 0 },
		{ "{\"id\":4,\"error\":{\"message\":\"x\",\"code\":-32601}}", SCAN_ERROR, 4,
		  -32601 },
		{ "{\"id\":null,\"error\":{\"code\":5,\"data\":{\"code\":6}}}", SCAN_ERROR, -1, 5 },
		{ "{\"id\":7,\"method\":\"ping\"}", SCAN_REQUEST, 7, 0 },
		{ "{\"method\":\"notifications/progress\",\"params\":{\"id\":1,\"result\":2}}",
		  SCAN_NOTICE, -1, 0 },
		{ "{\"a\":{\"id\":9,\"result\":1},\"id\":5,\"result\":\"\\\\\"}", SCAN_RESULT, 5,
		  0 },
		{ "{\"a\":\"\\\\\\\"\",\"id\":6,\"result\":[[],[{}]]}", SCAN_RESULT, 6, 0 },
		{ "{\"id\":1.5,\"result\":{}}", SCAN_RESULT, -1, 0 },
		{ "{\"id\":-1,\"result\":{}}", SCAN_RESULT, -1, 0 },
		{ "{\"id\":1}", SCAN_GARBAGE, 1, 0 },
		{ "[]", SCAN_GARBAGE, -1, 0 },
		{ "", SCAN_GARBAGE, -1, 0 },
		{ "{", SCAN_GARBAGE, -1, 0 },
		{ "{\"id\"", SCAN_GARBAGE, -1, 0 },
		{ "{\"id\":", SCAN_GARBAGE, -1, 0 },
		{ "{\"result\":{", SCAN_GARBAGE, -1, 0 },
		{ "{\"result\":{}", SCAN_GARBAGE, -1, 0 },
		{ "{\"result\":{}}x", SCAN_GARBAGE, -1, 0 },
		{ "{\"result\":{},}", SCAN_GARBAGE, -1, 0 },
		{ "{\"result\" {}}", SCAN_GARBAGE, -1, 0 },
		{ "{\"x\":\"abc\\\"}", SCAN_GARBAGE, -1, 0 },
	};
	struct scan s;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		/* A copy of exactly its size: nothing may be read after it. */
		size_t n = strlen(rows[i].text);
		char *copy = malloc(n ? n : 1);

		assert_non_null(copy);
		memcpy(copy, rows[i].text, n);
		scan_message(copy, n, &s);
		if (s.kind != rows[i].kind)
			print_message("%s\n", rows[i].text);
		assert_int_equal(s.kind, rows[i].kind);
		assert_int_equal(s.has_id ? (long)s.id : -1, rows[i].id);
		assert_int_equal(s.code, rows[i].code);
		free(copy);
	}
}

TEST(the_place_of_an_id_is_found)
{
	static const char text[] =
		"{\"params\":{\"id\":1}, \"id\" : \"x\\\"y\" ,\"method\":\"a/b\"}";
	struct scan s;

	scan_message(text, sizeof text - 1, &s);
	assert_int_equal(s.kind, SCAN_REQUEST);
	assert_int_equal(s.id_n, 6);
	assert_memory_equal(text + s.id_at, "\"x\\\"y\"", 6);
	assert_int_equal(s.method_n, 3);
	assert_memory_equal(s.method, "a/b", 3);
}
