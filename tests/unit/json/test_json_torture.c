/* tests/unit/test_json_torture.c - every allocation of parsing, printing and templates fails in
 * turn, once and for good: a clean CLEAT_ENOMEM, nothing leaked. Also the failing allocator itself.
 */
#include "base/arena.h"
#include "support.h"
#include "test.h"
#include "json/doc.h"
#include "json/parse.h"

#include <cleat/json.h>

#include <stdlib.h>
#include <string.h>

/* Long enough for several chunks and for a growing value array. */
static char *big_text(size_t *ret_len)
{
	const size_t n = 40000;
	char *text = malloc(n);

	assert_non_null(text);
	memset(text, ',', n);
	for (size_t i = 1; i < n; i += 2)
		text[i] = '1';
	text[0] = '[';
	text[n - 2] = '1';
	text[n - 1] = ']';
	text[n - 3] = ' ';
	*ret_len = n;
	return text;
}

typedef void work(struct fail_alloc *fa, const cleat_json *v);

static void each_allocation_fails(work *f, size_t least)
{
	size_t n;
	char *text = big_text(&n);
	cleat_doc *doc = cleat_doc_parse(text, n, NULL, NULL, NULL);

	assert_non_null(doc);
	for (int forever = 0; forever < 2; forever++) {
		struct fail_alloc fa;
		size_t i = 0;

		do {
			fail_alloc_init(&fa, ++i, forever);
			f(&fa, cleat_doc_root(doc));
			assert_int_equal(fa.live, 0);
			assert_int_equal(fa.bytes, 0);
			assert_true(i < 1000);
		} while (fail_alloc_hit(&fa));
		assert_true(i > least); /* it did fail, that often */
	}
	cleat_doc_free(doc);
	free(text);
}

static void parse_once(struct fail_alloc *fa, const cleat_json *v)
{
	cleat_error err = { 0 };
	cleat_doc *doc;
	size_t n;
	char *text = big_text(&n);

	doc = cleat_doc_parse(text, n, NULL, &fa->hook, &err);
	if (doc)
		assert_true(cleat_json_equal(v, cleat_doc_root(doc)));
	else
		assert_int_equal(err.status, CLEAT_ENOMEM);
	assert_int_equal(doc == NULL, fail_alloc_hit(fa));
	cleat_doc_free(doc);
	free(text);
}

TEST(parsing_survives_lack_of_memory)
{
	each_allocation_fails(parse_once, 3);
}

static void print_once(struct fail_alloc *fa, const cleat_json *v)
{
	size_t n = 1;
	char *text = doc_print(&fa->hook, v, &n);

	assert_int_equal(text == NULL, fail_alloc_hit(fa));
	assert_int_equal(n, text ? strlen(text) : 0);
	fa->hook.free(fa->hook.ctx, text);
}

TEST(printing_survives_lack_of_memory)
{
	each_allocation_fails(print_once, 3);
}

static cleat_doc *newf(struct fail_alloc *fa, cleat_error *err, const char *fmt, ...)
	CLEAT_PRINTF(3, 4);

static cleat_doc *newf(struct fail_alloc *fa, cleat_error *err, const char *fmt, ...)
{
	cleat_doc *doc;
	va_list ap;

	va_start(ap, fmt);
	doc = doc_newv(&fa->hook, err, fmt, ap);
	va_end(ap);
	return doc;
}

static void newf_once(struct fail_alloc *fa, const cleat_json *v)
{
	cleat_error err = { 0 };
	cleat_doc *doc =
		newf(fa, &err, "{a: %p, 'te\\'xt': %s, b: [%d, \"q\"]}", (void *)v, "s", 1);

	if (doc)
		assert_int_equal(cleat_json_size(cleat_doc_root(doc)), 3);
	else
		assert_int_equal(err.status, CLEAT_ENOMEM);
	assert_int_equal(doc == NULL, fail_alloc_hit(fa));
	cleat_doc_free(doc);
}

TEST(templates_survive_lack_of_memory)
{
	each_allocation_fails(newf_once, 3);
}

TEST(the_failing_allocator_counts)
{
	struct fail_alloc fa;
	const cleat_allocator *a = &fa.hook;
	void *p, *q;

	fail_alloc_init(&fa, 2, false);
	p = a->malloc(a->ctx, 10);
	assert_non_null(p);
	assert_null(a->realloc(a->ctx, p, 10, 20));
	assert_int_equal(fa.bytes, 10);
	q = a->realloc(a->ctx, p, 10, 30);
	assert_non_null(q);
	assert_int_equal(fa.live, 1);
	assert_int_equal(fa.bytes, 30);
	assert_int_equal(fa.peak, 40);
	assert_int_equal(fa.failures, 1);
	assert_int_equal(fa.requests, 3);
	a->free(a->ctx, q);
	a->free(a->ctx, NULL);
	assert_int_equal(fa.live, 0);
	fail_alloc_init(&fa, 1, true);
	assert_null(a->malloc(a->ctx, 1));
	assert_null(a->malloc(a->ctx, 1));
	assert_int_equal(fa.failures, 2);
	fail_alloc_init(&fa, 0, true);
	p = a->malloc(a->ctx, 1);
	assert_non_null(p);
	a->free(a->ctx, p);
	assert_false(fail_alloc_hit(&fa));
}
