/* test_canonical.c - json/canonical: one spelling for equal JSON. */

#include "support.h"
#include "unit/json/json_rig.h"
#include "json/canonical.h"

#include <stdlib.h>
#include <string.h>

static void assert_canonical(const char *text, const char *want)
{
	cleat_doc *doc = parse(text);
	struct buf out;

	buf_init(&out, NULL, 10000);
	assert_int_equal(json_write_canonical(&out, cleat_doc_root(doc), NULL), CLEAT_OK);
	buf_putc(&out, '\0');
	assert_string_equal(buf_str(&out).p, want);
	buf_done(&out);
	cleat_doc_free(doc);
}

TEST(canonical_order_table)
{
	static const char *const table[][2] = {
		{ "null", "null" },
		{ " \"x\" ", "\"x\"" },
		{ "[ ]", "[]" },
		{ "{ }", "{}" },
		{ "[3, 1, 2]", "[3,1,2]" }, /* arrays have an order of their own */
		{ "{\"b\": 1, \"a\": 2}", "{\"a\":2,\"b\":1}" },
		{ "{\"aa\":1,\"a\":2,\"\":3,\"b\":4}", "{\"\":3,\"a\":2,\"aa\":1,\"b\":4}" },
		{ "{\"a\":1,\"B\":2,\"_\":3,\"1\":4}", "{\"1\":4,\"B\":2,\"_\":3,\"a\":1}" },
		/* By bytes of UTF-8, which is the order of code points, not of UTF-16. */
		{ "{\"\xF0\x9F\x98\x80\":1,\"\xEF\xBF\xBD\":2,\"z\":3}",
		  "{\"z\":3,\"\xEF\xBF\xBD\":2,\"\xF0\x9F\x98\x80\":1}" },
		/* By the decoded key: both spellings of a are the same. */
		{ "{\"b\":1,\"\\u0061\":2}", "{\"a\":2,\"b\":1}" },
		{ "{\"a\\u0000b\":1,\"a\":2,\"a\\u0000a\":3}",
		  "{\"a\":2,\"a\\u0000a\":3,\"a\\u0000b\":1}" },
		/* The same key twice: in the order of the document. */
		{ "{\"a\":1,\"b\":0,\"a\":3,\"a\":2}", "{\"a\":1,\"a\":3,\"a\":2,\"b\":0}" },
		/* Numbers by their text. */
		{ "[1, 1.0, 1e0, -0, 12345678901234567890123, 1.10]",
		  "[1,1.0,1e0,-0,12345678901234567890123,1.10]" },
		{ "{\"z\":{\"y\":[{\"d\":1,\"c\":{}}],\"x\":[]},\"a\":[true,false]}",
		  "{\"a\":[true,false],\"z\":{\"x\":[],\"y\":[{\"c\":{},\"d\":1}]}}" },
		{ "[{\"b\":{\"d\":1,\"c\":2},\"a\":{\"f\":3,\"e\":4}},{\"h\":5,\"g\":6}]",
		  "[{\"a\":{\"e\":4,\"f\":3},\"b\":{\"c\":2,\"d\":1}},{\"g\":6,\"h\":5}]" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++)
		assert_canonical(table[i][0], table[i][1]);
}

TEST(canonical_of_no_value_is_null)
{
	struct buf out;

	buf_init(&out, NULL, 100);
	assert_int_equal(json_write_canonical(&out, NULL, NULL), CLEAT_OK);
	assert_true(str_eqz(buf_str(&out), "null"));
	buf_done(&out);
}

/* Any order of any number of keys gives the sorted one: the sort at every small size. */
TEST(canonical_sorts_every_size)
{
	uint32_t random = 1;

	for (unsigned n = 0; n < 200; n++) {
		unsigned order[200];
		struct buf text, want, out;
		cleat_doc *doc;

		for (unsigned i = 0; i < n; i++) {
			unsigned k = (random = random * 1664525u + 1013904223u) % (i + 1);

			order[i] = i;
			order[i] = order[k];
			order[k] = i;
		}
		buf_init(&text, NULL, 10000);
		buf_init(&want, NULL, 10000);
		buf_init(&out, NULL, 10000);
		for (unsigned i = 0; i < n; i++) {
			buf_printf(&text, "%c\"k%03u\":%u", i ? ',' : '{', order[i], order[i]);
			buf_printf(&want, "%c\"k%03u\":%u", i ? ',' : '{', i, i);
		}
		buf_appendz(&text, n ? "}" : "{}");
		buf_appendz(&want, n ? "}" : "{}");
		doc = parse_str(buf_str(&text));
		assert_int_equal(json_write_canonical(&out, cleat_doc_root(doc), NULL), CLEAT_OK);
		assert_true(str_eq(buf_str(&out), buf_str(&want)));
		cleat_doc_free(doc);
		buf_done(&text);
		buf_done(&want);
		buf_done(&out);
	}
}

TEST(canonical_goes_1024_deep)
{
	static const char *const open[] = { "[", "{\"k\":" }, *const close[] = { "]", "}" };
	struct buf text, out;
	cleat_doc *doc;

	for (int kind = 0; kind < 2; kind++) {
		buf_init(&text, NULL, 10000);
		buf_init(&out, NULL, 10000);
		for (int i = 0; i < 1024; i++)
			buf_appendz(&text, open[kind]);
		buf_appendz(&text, "0");
		for (int i = 0; i < 1024; i++)
			buf_appendz(&text, close[kind]);
		doc = parse_str(buf_str(&text));
		assert_int_equal(json_write_canonical(&out, cleat_doc_root(doc), NULL), CLEAT_OK);
		assert_true(str_eq(buf_str(&text), buf_str(&out)));
		cleat_doc_free(doc);
		buf_done(&text);
		buf_done(&out);
	}
}

TEST(canonical_failure_leaves_the_buffer_as_it_was)
{
	static const char text[] = "{\"b\":[1,2,{\"d\":1}],\"a\":{\"c\":\"long enough\"}}";
	cleat_doc *doc = parse_str((struct str){ text, sizeof text - 1 });
	struct buf out;

	for (size_t max = 4; max < 4 + sizeof text - 1; max++) {
		buf_init(&out, NULL, max);
		buf_appendz(&out, "kept");
		assert_int_equal(json_write_canonical(&out, cleat_doc_root(doc), NULL),
				 CLEAT_ELIMIT);
		assert_true(str_eqz(buf_str(&out), "kept"));
		assert_int_equal(buf_status(&out), CLEAT_OK);
		buf_appendz(&out, "far too much for what is left of this buffer, whatever it is");
		assert_int_equal(buf_status(&out), CLEAT_ELIMIT); /* one that failed before */
		assert_int_equal(json_write_canonical(&out, NULL, NULL), CLEAT_ELIMIT);
		assert_int_equal(buf_status(&out), CLEAT_ELIMIT);
		buf_done(&out);
	}
	cleat_doc_free(doc);
}

TEST(canonical_survives_every_failing_allocation)
{
	char text[2000] = "{\"z\":[[[[[[[[[[1]]]]]]]]]]";
	size_t at = strlen(text);
	cleat_doc *doc;

	for (int i = 0; i < 40; i++)
		at += (size_t)snprintf(text + at, sizeof text - at, ",\"k%d\":%d", i, i);
	snprintf(text + at, sizeof text - at, "}");
	doc = parse_str((struct str){ text, at + 1 });
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct buf out;
		int rc;

		buf_init(&out, &fa.hook, 10000);
		rc = json_write_canonical(&out, cleat_doc_root(doc), &fa.hook);
		assert_int_equal(rc, fail_alloc_hit(&fa) ? CLEAT_ENOMEM : CLEAT_OK);
		assert_int_equal(buf_size(&out), rc ? 0 : at + 1);
		buf_done(&out);
	}
	cleat_doc_free(doc);
}

/* One object with n members of the same key, which keep their order, in a document that is allowed to
 * be that large. */
static int write_many(size_t n, struct buf *out)
{
	cleat_json_limits limits = { .max_nodes = 4000000 };
	cleat_doc *doc;
	struct buf text;
	int rc;

	buf_init(&text, NULL, 1 << 24);
	for (size_t i = 0; i < n; i++)
		buf_append(&text, (char[]){ i ? ',' : '{', '"', '"', ':', (char)('0' + i % 10) },
			   5);
	buf_putc(&text, '}');
	doc = cleat_doc_parse(buf_str(&text).p, buf_size(&text), &limits, NULL, NULL);
	assert_non_null(doc);
	rc = json_write_canonical(out, cleat_doc_root(doc), NULL);
	if (!rc)
		assert_true(str_eq(buf_str(&text), buf_str(out)));
	cleat_doc_free(doc);
	buf_done(&text);
	return rc;
}

/* The table of members is bounded, whatever the limits of the document were. */
TEST(canonical_takes_2_to_the_20_members)
{
	struct buf out;

	buf_init(&out, NULL, 1 << 24);
	assert_int_equal(write_many(1 << 20, &out), CLEAT_OK);
	buf_reset(&out, 0);
	assert_int_equal(write_many((1 << 20) + 1, &out), CLEAT_ELIMIT);
	assert_int_equal(buf_size(&out), 0);
	buf_done(&out);
}

TEST(canonical_without_leaves_out_outermost_members_only)
{
	static const char *const skip[] = { "b", "" };
	static const char text[] = "{\"b\":1,\"c\":{\"b\":2,\"\":3},\"\":4,\"b\":5,\"bb\":6}";
	cleat_doc *doc = parse_str((struct str){ text, sizeof text - 1 });
	const cleat_json *root = cleat_doc_root(doc);
	struct buf out;

	buf_init(&out, NULL, 1000);
	assert_int_equal(json_write_canonical_without(&out, root, skip, 2, NULL), CLEAT_OK);
	assert_true(str_eqz(buf_str(&out), "{\"bb\":6,\"c\":{\"\":3,\"b\":2}}"));
	buf_done(&out);
	cleat_doc_free(doc);
}
