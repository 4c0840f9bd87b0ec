/* fuzz_http_request.c - any bytes as a connection: the outcome must not depend on how they are sliced.
 *
 * The first two bytes give the limits and a seed for slices; the rest is fed whole, byte by byte and
 * in pseudo-random slices, request after request. Invariants besides: every request has a path, one
 * Host at most, names in lower case, no line end or NUL in any part of its header, its body within
 * the limit; and, written down again in the plainest way, it is read as the same request.
 */
#include "http/parser.h"
#include "require.h"

#include <stdlib.h>

struct seen {
	uint32_t hash;
	unsigned requests;
	int status; /* of the failure */
	bool idle;
};

static void put(struct buf *b, struct str s, const char *behind)
{
	buf_append(b, s.p, s.n);
	buf_appendz(b, behind);
}

static void check_text(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		require(s.p[i] != '\r' && s.p[i] != '\n' && s.p[i] != 0);
}

static void check_request(const struct http_request *r, size_t max_body)
{
	require(r->path.n > 0 && (r->path.p[0] == '/' || str_eqz(r->path, "*")));
	require(r->body.n <= max_body && r->n_fields <= HTTP_MAX_FIELDS);
	require(http_request_field_is_single(r, "host"));
	require(r->http_1_0 || http_request_field(r, "host").p);
	require(http_request_field_is_single(r, "content-length"));
	require(!http_request_field(r, "transfer-encoding").p ||
		!http_request_field(r, "content-length").p);
	check_text(r->path);
	check_text(r->query);
	for (size_t i = 0; i < r->n_fields; i++) {
		require(r->fields[i].name.n > 0);
		check_text(r->fields[i].name);
		check_text(r->fields[i].value);
		for (size_t k = 0; k < r->fields[i].name.n; k++)
			require(r->fields[i].name.p[k] < 'A' || r->fields[i].name.p[k] > 'Z');
	}
}

/* A text that tells requests apart. The framing fields are left out: they are not the same when the
 * request is written again. */
static void describe(struct buf *b, const struct http_request *r, bool framing)
{
	put(b, r->method_name, " ");
	put(b, r->path, "");
	if (r->query.p)
		put(b, STR_LIT("?"), "");
	put(b, r->query, r->http_1_0 ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n");
	for (size_t i = 0; i < r->n_fields; i++) {
		struct str name = r->fields[i].name;

		if (!framing &&
		    (str_eqz(name, "content-length") || str_eqz(name, "transfer-encoding")))
			continue;
		put(b, name, ": ");
		put(b, r->fields[i].value, "\r\n");
	}
}

static void check_again(const struct http_request *r)
{
	struct http_limits wide = { .max_head = 1 << 20, .max_body = 1 << 20 };
	struct http_parser *p = http_parser_new(NULL, &wide);
	struct buf text, again;
	size_t used = 0, at;

	buf_init(&text, NULL, 1 << 21);
	buf_init(&again, NULL, 1 << 21);
	describe(&text, r, false);
	describe(&again, r, false);
	if (r->n_fields < HTTP_MAX_FIELDS) {
		buf_printf(&text, "content-length: %zu\r\n\r\n", r->body.n);
		put(&text, r->body, "");
		require(p && http_parser_feed(p, buf_str(&text).p, buf_size(&text), &used) ==
				     HTTP_HEAD_DONE);
		at = used;
		require(http_parser_feed(p, buf_str(&text).p + at, buf_size(&text) - at, &used) ==
			HTTP_DONE);
		require(at + used == buf_size(&text));
		require(str_eq(http_parser_request(p)->body, r->body));
		require(http_parser_request(p)->keep_alive == r->keep_alive);
		buf_truncate(&text, 0);
		describe(&text, http_parser_request(p), false);
		require(str_eq(buf_str(&text), buf_str(&again)));
	}
	buf_done(&text);
	buf_done(&again);
	http_parser_free(p);
}

static void finish(struct seen *s, const struct http_request *r, size_t max_body, bool again)
{
	struct buf b;

	check_request(r, max_body);
	buf_init(&b, NULL, 1 << 21);
	describe(&b, r, true);
	put(&b, r->body, r->keep_alive ? "k" : "c");
	buf_putc(&b, r->expect_continue ? 'e' : 'n');
	s->hash = str_hash(buf_str(&b), s->hash);
	s->requests++;
	buf_done(&b);
	if (again)
		check_again(r);
}

/* Slices of `step` bytes; 0: pseudo-random ones. */
static struct seen run(const char *bytes, size_t n, const struct http_limits *limits, size_t step,
		       uint32_t seed)
{
	struct http_parser *p = http_parser_new(NULL, limits);
	enum http_progress got = HTTP_MORE;
	struct seen s = { 0 };
	size_t at = 0;

	require(p);
	while (got != HTTP_FAILED && (at < n || got == HTTP_HEAD_DONE)) {
		size_t k = step, used;
		char *slice;

		seed = seed * 1664525u + 1013904223u;
		k = k ? k : 1 + (seed >> 24) % 17;
		k = k < n - at ? k : n - at;
		slice = malloc(k ? k : 1);
		require(slice);
		memcpy(slice, bytes + at, k);
		got = http_parser_feed(p, slice, k, &used);
		free(slice);
		require(used <= k && (got != HTTP_MORE || used == k));
		at += used;
		if (got == HTTP_DONE) {
			finish(&s, http_parser_request(p), limits->max_body, step > 1);
			http_parser_next(p);
		}
	}
	if (got == HTTP_FAILED)
		s.status = http_parser_error(p, NULL);
	require(got != HTTP_FAILED || (s.status >= 400 && s.status != 500));
	s.idle = http_parser_is_idle(p);
	http_parser_free(p);
	return s;
}

static void require_same(struct seen a, struct seen b)
{
	require(a.hash == b.hash && a.requests == b.requests && a.status == b.status &&
		a.idle == b.idle);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data + 2;
	struct http_limits limits;
	struct seen whole;

	if (size < 2 || size > 1 << 16)
		return 0;
	limits =
		(struct http_limits){ .max_head = 64 + data[0] * 8u, .max_body = 1 + data[1] * 4u };
	whole = run(p, size - 2, &limits, SIZE_MAX, 0);
	require_same(whole, run(p, size - 2, &limits, 1, 0));
	require_same(whole, run(p, size - 2, &limits, 0, data[0] * 256u + data[1]));
	return 0;
}
