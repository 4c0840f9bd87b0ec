/* tests/unit/schema_compile_rig.h - schemas that are accepted or refused, and with what words. */
#ifndef TESTS_SCHEMA_COMPILE_RIG_H
#define TESTS_SCHEMA_COMPILE_RIG_H

#include "schema/program.h"
#include "test.h"

#include <cleat/schema.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DRAFT_07   "http://json-schema.org/draft-07/schema"
#define D2020_12   "https://json-schema.org/draft/2020-12/schema"
#define VOCABULARY "https://json-schema.org/draft/2020-12/vocab/"

static const cleat_schema_options draft_07 = { .dialect = CLEAT_SCHEMA_DRAFT_07 };

static inline void accept(const char *text, const cleat_schema_options *opts)
{
	cleat_error err = { 0 };
	cleat_schema *s = cleat_schema_parse(text, strlen(text), opts, &err);

	if (!s)
		print_error("%s: %s\n", text, err.message);
	assert_non_null(s);
	cleat_schema_free(s);
}

/* The whole message, or its beginning when `message` ends in '*'. */
static inline void refuse(const char *text, const cleat_schema_options *opts, int status,
			  const char *message)
{
	cleat_error err = { 0 };
	cleat_schema *s = cleat_schema_parse(text, strlen(text), opts, &err);
	size_t n = strlen(message);

	if (s)
		print_error("accepted: %s\n", text);
	assert_null(s);
	if (n && message[n - 1] == '*' && strncmp(err.message, message, n - 1) == 0)
		n = strlen(err.message);
	else
		assert_string_equal(err.message, message);
	assert_int_equal(err.status, status);
}

static inline int verdict(const cleat_schema *s, const char *value)
{
	cleat_doc *doc = cleat_doc_parse(value, strlen(value), NULL, NULL, NULL);
	int rc = cleat_schema_check(s, cleat_doc_root(doc), NULL);

	assert_non_null(doc);
	cleat_doc_free(doc);
	return rc;
}

static inline cleat_schema *compiled(const char *text, const cleat_schema_options *opts)
{
	cleat_error err = { 0 };
	cleat_schema *s = cleat_schema_parse(text, strlen(text), opts, &err);

	if (!s)
		print_error("%s: %s\n", text, err.message);
	assert_non_null(s);
	return s;
}

static inline void add(cleat_schema_set *set, const char *uri, const char *schema, int status,
		       const char *message)
{
	cleat_doc *doc = cleat_doc_parse(schema, strlen(schema), NULL, NULL, NULL);
	cleat_error err = { 0 };

	assert_non_null(doc);
	assert_int_equal(cleat_schema_set_add(set, uri, cleat_doc_root(doc), &err), status);
	if (message)
		assert_string_equal(err.message, message);
	cleat_doc_free(doc);
}

#endif
