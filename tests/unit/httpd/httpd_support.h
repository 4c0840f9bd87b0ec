/* tests/unit/httpd_support.h - what the tests of the HTTP parser share: a stream of bytes is fed whole,
 * byte by byte and in odd slices, and what came of it is written down as a text, which must be the
 * same each time.
 */
#ifndef TESTS_HTTP_SUPPORT_H
#define TESTS_HTTP_SUPPORT_H

#include "base/mem.h"
#include "http/parser.h"
#include "support.h"
#include "test.h"
#include "unit/http/field_lines.h"

#include <stdlib.h>

#define BYTES(s) ((struct str){ s, sizeof(s) - 1 })
#define ROW(s)                                                                                     \
	{                                                                                          \
		s, sizeof(s) - 1                                                                   \
	} /* the same in a static table */

/* Gives a request "name: value" lines; a value may be empty. */
static inline void put_lines(struct http_request *r, struct http_field *fields,
			     const char *const *lines, size_t most)
{
	r->fields = fields;
	r->n_fields = field_lines(fields, most, lines);
}

static inline void put_str(struct buf *b, const char *before, struct str s)
{
	buf_appendz(b, before);
	if (s.p)
		buf_append(b, s.p, s.n);
	else
		buf_appendz(b, "-");
}

/* "POST /path query 1.1 keep {name=value}{...} [body]" */
static inline void put_request(struct buf *b, const struct http_request *r)
{
	put_str(b, "", r->method_name);
	put_str(b, " ", r->path);
	put_str(b, " ", r->query);
	buf_appendz(b, r->http_1_0 ? " 1.0" : " 1.1");
	buf_appendz(b, r->keep_alive ? " keep" : " close");
	buf_appendz(b, r->expect_continue ? " expect " : " ");
	for (size_t i = 0; i < r->n_fields; i++) {
		put_str(b, "{", r->fields[i].name);
		put_str(b, "=", r->fields[i].value);
		buf_appendz(b, "}");
	}
}

/* Feeds all bytes in slices of `step`, request after request, and appends what comes of it:
 * "<request> [body]" per request, then "more" (one has begun), "idle" or "!status". Every slice has
 * memory of its own, so that nobody looks at an old one. The parser is left as it is. */
static inline void feed_all(struct http_parser *p, struct str in, size_t step, struct buf *out)
{
	enum http_progress got = HTTP_MORE;
	size_t at = 0, used;

	while (at < in.n || got == HTTP_HEAD_DONE) {
		size_t k = in.n - at < step ? in.n - at : step;
		char *slice = malloc(k ? k : 1);

		assert_true(slice && p);
		memcpy(slice, in.p + at, k);
		got = http_parser_feed(p, slice, k, &used);
		free(slice);
		assert_true(used <= k);
		at += used;
		if (got == HTTP_FAILED) {
			buf_printf(out, "!%d", http_parser_error(p, NULL));
			return;
		} else if (got == HTTP_DONE) {
			put_request(out, http_parser_request(p));
			put_str(out, " [", http_parser_request(p)->body);
			buf_appendz(out, "] ");
			http_parser_next(p);
		} else if (got == HTTP_MORE) {
			assert_int_equal(used, k);
		}
	}
	buf_appendz(out, http_parser_is_idle(p) ? "idle" : "more");
}

/* The outcome for `in`, the same in all slicings. From malloc. */
static inline char *outcome(struct str in, const struct http_limits *limits)
{
	static const size_t steps[] = { SIZE_MAX, 1, 2, 3, 7, 64 };
	char *first = NULL;

	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		struct http_parser *p = http_parser_new(NULL, limits);
		struct buf b;

		assert_non_null(p);
		buf_init(&b, NULL, SIZE_MAX / 2);
		feed_all(p, in, steps[i], &b);
		buf_putc(&b, 0);
		http_parser_free(p);
		if (first)
			assert_string_equal(b.data, first);
		else
			first = mem_strdup(&mem_default, b.data);
		buf_done(&b);
	}
	return first;
}

static inline void expect_outcome(struct str in, const struct http_limits *limits,
				  const char *wanted)
{
	char *got = outcome(in, limits);

	if (strcmp(got, wanted) != 0)
		print_message("for: %.*s\n", STR_ARGS(in));
	assert_string_equal(got, wanted);
	free(got);
}

#endif
