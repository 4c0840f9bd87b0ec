/* tests/unit/schema/schema_rig.c - see schema_rig.h. */
#include "unit/schema/schema_rig.h"

#include <stdarg.h>
#include <string.h>

void add(struct text *t, const char *fmt, ...)
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

void add_many(struct text *t, const char *piece, size_t times)
{
	while (times-- > 0)
		add(t, "%s", piece);
}

static cleat_schema *compile(const char *text, const cleat_schema_options *opts, cleat_error *err)
{
	char *json = support_json(text);
	cleat_schema *s = cleat_schema_parse(json, strlen(json), opts, err);

	free(json);
	return s;
}

cleat_schema *schema_of(const char *text, const cleat_schema_options *opts)
{
	cleat_error err = { 0 };
	cleat_schema *s = compile(text, opts, &err);

	if (!s)
		fail_msg("%.200s: %s", text, err.message);
	return s;
}

cleat_doc *value_of(const char *text)
{
	const cleat_json_limits all = { .max_depth = 1024, .max_nodes = SIZE_MAX };
	char *json = support_json(text);
	cleat_doc *doc = cleat_doc_parse(json, strlen(json), &all, NULL, NULL);

	if (!doc)
		fail_msg("no JSON: %.200s", json);
	free(json);
	return doc;
}

void accept(const char *text, const cleat_schema_options *opts)
{
	cleat_schema_free(schema_of(text, opts));
}

void refuse(const char *text, const cleat_schema_options *opts, int status, const char *message)
{
	cleat_error err = { 0 };
	cleat_schema *s = compile(text, opts, &err);
	char *want = support_json(message);
	size_t n = strlen(want);

	if (s)
		fail_msg("accepted: %s", text);
	if (!n || want[n - 1] != '*' || strncmp(err.message, want, n - 1) != 0)
		assert_string_equal(err.message, want);
	assert_int_equal(err.status, status);
	free(want);
}

void add_known(cleat_schema_set *set, const char *uri, const char *schema, int status,
	       const char *message)
{
	cleat_doc *doc = value_of(schema);
	cleat_error err = { 0 };

	assert_int_equal(cleat_schema_set_add(set, uri, cleat_doc_root(doc), &err), status);
	if (message) {
		char *want = support_json(message);

		assert_string_equal(err.message, want);
		free(want);
	}
	cleat_doc_free(doc);
}

int verdict(const cleat_schema *s, const char *value, cleat_error *err)
{
	cleat_doc *doc = value_of(value);
	int rc = cleat_schema_check(s, cleat_doc_root(doc), err);

	cleat_doc_free(doc);
	return rc;
}

void judge_all(const char *text, const cleat_schema_options *opts, const char *const *values)
{
	cleat_schema *s = schema_of(text, opts);

	for (; *values; values++) {
		cleat_error err = { 0 };

		if (verdict(s, *values + 1, &err) != (**values == '+' ? CLEAT_OK : CLEAT_EINVAL))
			fail_msg("%.200s\n%.200s\n%s", text, *values, err.message);
	}
	cleat_schema_free(s);
}

uint64_t cost(const cleat_schema *s, const char *value)
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

void check_all(const struct verdict *table, size_t n)
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
