/* test_serve_yaml.c - YAML as JSON: scalars of the core schema of YAML 1.2 (10.3), anchors, limits. */
#include "support.h"
#include "test.h"

#include "text/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TEST(yaml_becomes_json)
{
	static const struct {
		const char *yaml, *json;
	} cases[] = {
		{ "a: 1", "{\"a\":1}" },
		{ "- 1\n- two\n- [3, {x: y}]\n", "[1,\"two\",[3,{\"x\":\"y\"}]]" },
		{ "{\"a\": [true, null, \"x\\n\"]}", "{\"a\":[true,null,\"x\\n\"]}" },
		/* 10.3.2: core schema */
		{ "[~, null, NULL, '', \"null\", ]", "[null,null,null,\"\",\"null\"]" },
		{ "a:\nb: ''", "{\"a\":null,\"b\":\"\"}" },
		{ "[true, True, FALSE, yes, on, n]", "[true,true,false,\"yes\",\"on\",\"n\"]" },
		{ "[0, -1, 1.5, 1e3, 12345678901234567890]",
		  "[0,-1,1.5,1e3,12345678901234567890]" },
		{ "[1., .5, +1, 007, 1.2.3, 2026-07-28, .inf, 0x1F, 1_000]",
		  "[\"1.\",\".5\",\"+1\",\"007\",\"1.2.3\",\"2026-07-28\",\".inf\",\"0x1F\",\"1_000\"]" },
		{ "200: ok\ntrue: yes\n", "{\"200\":\"ok\",\"true\":\"yes\"}" },
		{ "a: |\n  one\n  two\nb: >\n  one\n  two\n",
		  "{\"a\":\"one\\ntwo\\n\",\"b\":\"one two\\n\"}" },
		/* anchors */
		{ "a: &x {n: 1}\nb: *x\nc: [*x, *x]",
		  "{\"a\":{\"n\":1},\"b\":{\"n\":1},\"c\":[{\"n\":1},{\"n\":1}]}" },
		{ "- &x one\n- *x\n- &x two\n- *x", "[\"one\",\"one\",\"two\",\"two\"]" },
		{ "[1, &x [2, &y 3], *y, *x]", "[1,[2,3],3,[2,3]]" },
		{ "%YAML 1.1\n---\na: !!str 1\n...\n", "{\"a\":\"1\"}" },
		/* merge keys: what the mapping has itself counts, then the first that has it */
		{ "a: &x {n: 1, m: 2}\nb: {<<: *x, n: 3}",
		  "{\"a\":{\"n\":1,\"m\":2},\"b\":{\"n\":3,\"m\":2}}" },
		{ "- &x {n: 1}\n- &y {n: 2, k: {<<: *x}}\n- {<<: [*x, *y]}\n- {<<: *y, z: 0}",
		  "[{\"n\":1},{\"n\":2,\"k\":{\"n\":1}},{\"n\":1,\"k\":{\"n\":1}},"
		  "{\"z\":0,\"n\":2,\"k\":{\"n\":1}}]" },
		{ "- &x {}\n- &y {<<: *x}\n- {<<: [], a: *y, '<<': 1}",
		  "[{},{},{\"a\":{},\"<<\":1}]" },
		{ "\xef\xbb\xbf"
		  "a: \xc3\xa9",
		  "{\"a\":\"\xc3\xa9\"}" },
		{ "x", "\"x\"" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		cleat_error err = { 0 };
		struct buf out;

		buf_init(&out, NULL, 4096);
		if (yaml_to_json(str_of(cases[i].yaml), &out, &err) != CLEAT_OK)
			fail_msg("%s: %s", cases[i].yaml, err.message);
		if (!str_eqz(buf_str(&out), cases[i].json))
			fail_msg("%s became %.*s, not %s", cases[i].yaml, STR_ARGS(buf_str(&out)),
				 cases[i].json);
		buf_done(&out);
	}
}

TEST(what_is_wrong_is_said_with_its_place)
{
	static const struct {
		const char *yaml;
		int status;
		const char *message;
	} cases[] = {
		{ "", CLEAT_EPROTO, "it is empty" },
		{ "a: [1", CLEAT_EPROTO, "line 2, column 1: did not find expected ',' or ']'" },
		{ "a: 1\n b: 2", CLEAT_EPROTO,
		  "line 2, column 3: mapping values are not allowed in this context" },
		{ "? [a]\n: b", CLEAT_EPROTO, "line 1, column 3: a key has to be a text" },
		{ "a: *nobody", CLEAT_EPROTO, "line 1, column 4: an alias without an anchor" },
		{ "a: &x [*x]", CLEAT_EPROTO, "line 1, column 8: an alias without an anchor" },
		{ "a: &x {<<: *x}", CLEAT_EPROTO, "line 1, column 12: an alias without an anchor" },
		{ "[&x 1, {<<: *x}]", CLEAT_EPROTO,
		  "line 1, column 13: << takes aliases of mappings" },
		{ "<<: 1", CLEAT_EPROTO, "line 1, column 5: << takes aliases of mappings" },
		{ "<<: {a: 1}", CLEAT_EPROTO, "line 1, column 5: << takes aliases of mappings" },
		{ "<<: [[]]", CLEAT_EPROTO, "line 1, column 6: << takes aliases of mappings" },
		{ "a\n---\nb", CLEAT_EPROTO, "line 2, column 1: a second document" },
		{ "a: \xff", CLEAT_EPROTO, NULL },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		cleat_error err = { 0 };
		struct buf out;

		buf_init(&out, NULL, 4096);
		assert_int_equal(yaml_to_json(str_of(cases[i].yaml), &out, &err), cases[i].status);
		if (cases[i].message)
			assert_string_equal(err.message, cases[i].message);
		buf_done(&out);
	}
}

/* "A billion laughs": aliases of aliases end at the limit of the result. */
TEST(a_small_document_stays_small)
{
	char deep[2000];
	cleat_error err = { 0 };
	struct buf text, out;

	buf_init(&text, NULL, 1 << 16);
	buf_appendz(&text, "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
	for (int i = 1; i < 12; i++) {
		buf_printf(&text, "a%d: &a%d [", i, i);
		for (int k = 0; k < 10; k++)
			buf_printf(&text, "%s*a%d", k ? ", " : "", i - 1);
		buf_appendz(&text, "]\n");
	}
	buf_init(&out, NULL, 1 << 20);
	assert_int_equal(yaml_to_json(buf_str(&text), &out, &err), CLEAT_ELIMIT);
	assert_string_equal(err.message, "the document is too large");
	buf_done(&out);
	buf_done(&text);
	memset(deep, '[', sizeof deep);
	buf_init(&out, NULL, 1 << 20);
	assert_int_equal(yaml_to_json((struct str){ deep, sizeof deep }, &out, &err), CLEAT_ELIMIT);
	assert_non_null(strstr(err.message, "nested too deeply"));
	buf_done(&out);
}

TEST(all_of_it_or_nothing_with_little_memory)
{
	static const char text[] = "a: &x [1, two, {b: c}]\nd: *x\ne: &y text\nf: *y\n";

	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		cleat_error err = { 0 };
		struct buf out;
		int rc;

		buf_init(&out, &fa.hook, 1 << 20);
		rc = yaml_to_json(str_of(text), &out, &err);
		if (rc == CLEAT_OK)
			assert_true(
				str_eqz(buf_str(&out),
					"{\"a\":[1,\"two\",{\"b\":\"c\"}],\"d\":[1,\"two\",{\"b\":"
					"\"c\"}],\"e\":\"text\",\"f\":\"text\"}"));
		else
			assert_int_equal(rc, CLEAT_ENOMEM);
		buf_done(&out);
		if (!fail_alloc_hit(&fa))
			assert_int_equal(rc, CLEAT_OK);
	}
}
