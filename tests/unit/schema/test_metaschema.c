/* tests/unit/test_metaschema.c - the meta-schemas: all there, under their own names only. */
#include "base/arena.h"
#include "schema/metaschema.h"
#include "test.h"
#include "json/parse.h"

#include <string.h>

#define D2020 "https://json-schema.org/draft/2020-12/"
#define D07   "http://json-schema.org/draft-07/schema"

static const char *const vocabularies[] = {
	"core",      "applicator",        "unevaluated",      "validation",
	"meta-data", "format-annotation", "format-assertion", "content",
};

static cleat_doc *load(const char *uri)
{
	struct str text = metaschema_text(str_of(uri));
	cleat_doc *doc;

	assert_non_null(text.p);
	assert_int_equal(text.p[text.n], '\0');
	doc = cleat_doc_parse(text.p, text.n, NULL, NULL, NULL);
	assert_non_null(doc);
	return doc;
}

static const char *text_of(const cleat_doc *doc, const char *key)
{
	return cleat_json_str(cleat_json_get(cleat_doc_root(doc), key), "absent");
}

TEST(schema_2020_12_refers_to_its_vocabularies)
{
	cleat_doc *doc = load(D2020 "schema");
	const cleat_json *v = cleat_doc_root(doc), *all = cleat_json_get(v, "allOf");
	static const char *const old[] = { "definitions", "dependencies", "$recursiveAnchor",
					   "$recursiveRef" };
	cleat_json_iter it = cleat_json_each(all);

	assert_string_equal(text_of(doc, "$id"), D2020 "schema");
	assert_string_equal(text_of(doc, "$schema"), D2020 "schema");
	assert_string_equal(text_of(doc, "$dynamicAnchor"), "meta");
	assert_int_equal(cleat_json_size(cleat_json_get(v, "$vocabulary")), 7);
	assert_int_equal(cleat_json_size(all), 7);
	while (cleat_json_next(&it)) {
		const char *ref = cleat_json_str(cleat_json_get(it.value, "$ref"), "absent");
		char uri[128] = D2020;

		strncat(uri, ref, 64);
		assert_non_null(metaschema_text(str_of(uri)).p);
	}
	for (size_t i = 0; i < CLEAT_COUNT(old); i++)
		assert_true(cleat_json_bool(
			cleat_json_get(cleat_json_get(cleat_json_get(v, "properties"), old[i]),
				       "deprecated"),
			false));
	cleat_doc_free(doc);
}

TEST(every_vocabulary_is_known_by_its_id)
{
	for (size_t i = 0; i < CLEAT_COUNT(vocabularies); i++) {
		char uri[128] = D2020 "meta/", vocabulary[128] = D2020 "vocab/";
		cleat_doc *doc;

		strcat(uri, vocabularies[i]);
		strcat(vocabulary, vocabularies[i]);
		doc = load(uri);
		assert_string_equal(text_of(doc, "$id"), uri);
		assert_string_equal(text_of(doc, "$schema"), D2020 "schema");
		assert_string_equal(text_of(doc, "$dynamicAnchor"), "meta");
		assert_true(cleat_json_bool(
			cleat_json_get(cleat_json_get(cleat_doc_root(doc), "$vocabulary"),
				       vocabulary),
			false));
		cleat_doc_free(doc);
	}
}

/* Its $id ends with an empty fragment, which is not a part of the URI it is asked for by. */
TEST(draft_07_is_known_without_its_fragment)
{
	cleat_doc *doc = load(D07);

	assert_string_equal(text_of(doc, "$id"), D07 "#");
	assert_string_equal(text_of(doc, "$schema"), D07 "#");
	assert_int_equal(cleat_json_size(cleat_json_get(cleat_doc_root(doc), "definitions")), 5);
	cleat_doc_free(doc);
}

/* Members of a key that appears twice would be lost. */
TEST(no_key_stands_twice)
{
	const char *const uris[] = { D2020 "schema",          D2020 "meta/core",
				     D2020 "meta/applicator", D2020 "meta/validation",
				     D2020 "meta/meta-data",  D07 };

	for (size_t i = 0; i < CLEAT_COUNT(uris); i++) {
		cleat_doc *doc = load(uris[i]);
		cleat_json_iter it = cleat_json_each(cleat_doc_root(doc));

		assert_null(cleat_json_duplicate(cleat_doc_root(doc)));
		while (cleat_json_next(&it))
			assert_null(cleat_json_duplicate(it.value));
		cleat_doc_free(doc);
	}
}

TEST(nothing_else_is_known)
{
	static const char *const others[] = {
		"",
		"schema",
		"meta/core",
		D2020,
		D2020 "schema#",
		D2020 "schema#meta",
		D2020 "schema/",
		D2020 "Schema",
		D2020 "meta/",
		D2020 "meta/core#",
		D2020 "meta/format",
		D2020 "meta/hyper-schema",
		D2020 "vocab/core",
		"http://json-schema.org/draft/2020-12/schema",
		"HTTPS://json-schema.org/draft/2020-12/schema",
		"https://json-schema.org/draft/2019-09/schema",
		"https://json-schema.org/draft/next/schema",
		D07 "#",
		D07 "#/definitions/schemaArray",
		"https://json-schema.org/draft-07/schema",
		"http://json-schema.org/draft-06/schema",
		"http://json-schema.org/schema",
	};

	for (size_t i = 0; i < CLEAT_COUNT(others); i++)
		assert_null(metaschema_text(str_of(others[i])).p);
	assert_null(metaschema_text((struct str){ NULL, 0 }).p);
	assert_null(metaschema_text((struct str){ D07 "\0", sizeof D07 }).p);
	assert_null(metaschema_text((struct str){ D07, sizeof D07 - 2 }).p);
}
