/* tests/unit/schema_check_rig.h - schemas, values and what they cost, for the tests of verdicts.
 *
 * In texts ' stands for ", to keep tables readable. Costs are counted in steps, never in time.
 */
#ifndef TESTS_SCHEMA_CHECK_RIG_H
#define TESTS_SCHEMA_CHECK_RIG_H

#include "schema/run.h"
#include "support.h"
#include "test.h"
#include "json/node.h"

#include <cleat/schema.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts -------------------------------------------------------------------------------- */

/* A text that grows; freed by whoever asked for it. */
struct text {
	char *p;
	size_t n, cap;
};

static inline void add(struct text *t, const char *fmt, ...) CLEAT_PRINTF(2, 3);
static inline void add(struct text *t, const char *fmt, ...)
{
	va_list ap;

	if (t->cap - t->n < 4096) {
		t->cap = t->cap * 2 + 8192;
		t->p = realloc(t->p, t->cap);
		assert_non_null(t->p);
	}
	va_start(ap, fmt);
	t->n += (size_t)vsnprintf(t->p + t->n, t->cap - t->n, fmt, ap);
	va_end(ap);
}

static inline void add_many(struct text *t, const char *piece, size_t times)
{
	while (times-- > 0)
		add(t, "%s", piece);
}

static inline void unquote(char *p)
{
	for (; *p; p++)
		if (*p == '\'')
			*p = '"';
}

static inline cleat_schema *schema_of(const char *text, const cleat_schema_options *opts)
{
	struct text t = { 0 };
	cleat_error err = { 0 };
	cleat_schema *s;

	t.p = malloc(strlen(text) + 1);
	assert_non_null(t.p);
	strcpy(t.p, text);
	unquote(t.p);
	s = cleat_schema_parse(t.p, strlen(t.p), opts, &err);
	if (!s)
		print_error("%.200s: %s\n", t.p, err.message);
	assert_non_null(s);
	free(t.p);
	return s;
}

static inline cleat_doc *value_of(const char *text)
{
	const cleat_json_limits all = { .max_depth = 1024, .max_nodes = SIZE_MAX };
	char *copy = malloc(strlen(text) + 1);
	cleat_doc *doc;

	assert_non_null(copy);
	strcpy(copy, text);
	unquote(copy);
	doc = cleat_doc_parse(copy, strlen(copy), &all, NULL, NULL);
	if (!doc)
		print_error("no JSON: %.200s\n", copy);
	assert_non_null(doc);
	free(copy);
	return doc;
}

static inline int verdict(const cleat_schema *s, const char *value, cleat_error *err)
{
	cleat_doc *doc = value_of(value);
	int rc = cleat_schema_check(s, cleat_doc_root(doc), err);

	cleat_doc_free(doc);
	return rc;
}

/* Steps that a verdict takes. */
static inline uint64_t cost(const cleat_schema *s, const char *value)
{
	cleat_doc *doc = value_of(value);
	struct run r;
	uint64_t steps;

	run_init(&r, s);
	steps = r.steps;
	run_apply(&r, s->root, node_of(cleat_doc_root(doc)), NULL);
	assert_int_equal(r.status, CLEAT_OK);
	steps -= r.steps;
	run_done(&r);
	cleat_doc_free(doc);
	return steps;
}

struct verdict {
	const char *schema, *value;
	bool fits;
};

static inline void check_all(const struct verdict *table, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		cleat_schema *s = schema_of(table[i].schema, NULL);
		cleat_error err = { 0 };
		int rc = verdict(s, table[i].value, &err);

		if (rc != (table[i].fits ? CLEAT_OK : CLEAT_EINVAL))
			fail_msg("%s\n%s\n%d %s", table[i].schema, table[i].value, rc, err.message);
		cleat_schema_free(s);
	}
}

#endif
