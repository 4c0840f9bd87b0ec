/* tests/unit/uri_support.h - what the URI template tests share. */
#ifndef TESTS_URI_SUPPORT_H
#define TESTS_URI_SUPPORT_H

#include <string.h>

#include "test.h"
#include "uri/template_impl.h"
#include "json/parse.h"

static inline const struct uri_template *must_compile(struct arena *ar, const char *text)
{
	const struct uri_template *t;
	cleat_error err;

	if (uri_template_compile(ar, str_of(text), &t, &err) != CLEAT_OK)
		fail_msg("%s: %s", text, err.message);
	return t;
}

static inline const cleat_json *must_parse(struct arena *ar, const char *text)
{
	const cleat_json *v;

	assert_int_equal(json_parse(ar, str_of(text), NULL, &v, NULL), CLEAT_OK);
	return v;
}

/* n times the piece, one after the other. */
static inline char *repeat(struct arena *ar, const char *piece, size_t n)
{
	size_t len = strlen(piece);
	char *s = arena_alloc(ar, n * len + 1);

	assert_non_null(s);
	for (size_t i = 0; i < n; i++)
		memcpy(s + i * len, piece, len);
	s[n * len] = '\0';
	return s;
}

#endif
