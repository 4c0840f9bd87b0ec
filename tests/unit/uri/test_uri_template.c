/* test_uri_template.c - RFC 6570: the public corpus, the grammar's edges, expansion, and the public
 * functions. Matching has its own file, test_uri_match.c.
 */
#include "test.h"
#include "unit/uri/uri_support.h"

#include "support.h"

#include <cleat/uri.h>

#include <stdio.h>
#include <stdlib.h>

/* ---- helpers ------------------------------------------------------------------------------ */

static void check_expand(const char *tmpl, const char *vars, const char *expected)
{
	struct arena ar;
	struct buf out;
	int rc;

	arena_init(&ar, NULL, 0);
	buf_init(&out, NULL, 1 << 20);
	rc = uri_template_expand(must_compile(&ar, tmpl), must_parse(&ar, vars), &out, NULL);
	assert_int_equal(rc, expected ? CLEAT_OK : CLEAT_EINVAL);
	if (expected && !str_eqz(buf_str(&out), expected))
		fail_msg("%s: \"%.*s\" instead of \"%s\"", tmpl, STR_ARGS(buf_str(&out)), expected);
	if (!expected)
		assert_int_equal(buf_size(&out), 0);
	buf_done(&out);
	arena_done(&ar);
}

/* ---- the corpus --------------------------------------------------------------------------- */

static bool is_expected(const cleat_json *expected, struct str got)
{
	cleat_json_iter it = cleat_json_each(expected);

	if (json_is_string(expected))
		return str_eq(json_str(expected), got);
	while (cleat_json_next(&it))
		if (str_eq(json_str(it.value), got))
			return true;
	return false;
}

static bool run_case(struct arena *ar, const cleat_json *test, const cleat_json *vars)
{
	const cleat_json *expected = cleat_json_at(test, 1);
	const struct uri_template *t;
	struct buf out;
	bool ok;
	int rc;

	buf_init(&out, NULL, 1 << 20);
	rc = uri_template_compile(ar, json_str(cleat_json_at(test, 0)), &t, NULL);
	if (rc == CLEAT_OK)
		rc = uri_template_expand(t, vars, &out, NULL);
	if (cleat_json_type(expected) == CLEAT_JSON_BOOL)
		ok = rc == CLEAT_EINVAL;
	else
		ok = rc == CLEAT_OK && is_expected(expected, buf_str(&out));
	if (!ok)
		print_error("%s gives %.*s\n", cleat_json_str(cleat_json_at(test, 0), ""),
			    STR_ARGS(buf_str(&out)));
	buf_done(&out);
	return ok;
}

/* github.com/uri-templates/uritemplate-test: every case of RFC 6570 and more, and what must fail */
TEST(corpus_passes_completely)
{
	static const char *const files[] = { "spec-examples.json", "spec-examples-by-section.json",
					     "extended-tests.json", "negative-tests.json" };
	size_t passed = 0, total = 0;
	struct arena ar;

	arena_init(&ar, NULL, 0);
	for (size_t f = 0; f < CLEAT_COUNT(files); f++) {
		const cleat_json *root;
		cleat_json_iter group;
		char path[1024], name[64], *text;
		size_t n;

		snprintf(name, sizeof name, "uritemplate-test/%s", files[f]);
		if (!support_data_path(path, sizeof path, name)) {
			arena_done(&ar);
			skip();
		}
		text = support_read_file(path, &n);
		assert_non_null(text);
		assert_int_equal(json_parse(&ar, (struct str){ text, n }, NULL, &root, NULL),
				 CLEAT_OK);
		free(text);
		group = cleat_json_each(root);
		while (cleat_json_next(&group)) {
			cleat_json_iter it =
				cleat_json_each(cleat_json_get(group.value, "testcases"));

			while (cleat_json_next(&it)) {
				total++;
				passed += run_case(&ar, it.value,
						   cleat_json_get(group.value, "variables"));
			}
		}
	}
	arena_done(&ar);
	assert_true(total >= 250);
	assert_int_equal(passed, total);
}

/* ---- the grammar -------------------------------------------------------------------------- */

/* RFC 6570 section 2 */
ARENA_TEST(malformed_templates_are_refused_with_a_position)
{
	static const struct {
		const char *text;
		const char *message;
	} cases[] = {
		{ "{", "position 1: '{' without '}'" },
		{ "ab{c", "position 3: '{' without '}'" },
		{ "ab{c,", "position 3: '{' without '}'" },
		{ "ab{c*", "position 3: '{' without '}'" },
		{ "ab{c:", "position 3: '{' without '}'" },
		{ "ab{?", "position 3: '{' without '}'" },
		{ "ab}", "position 3: '}' without '{'" },
		{ "{a}}", "position 4: '}' without '{'" },
		{ "{}", "position 2: a variable name is expected here" },
		{ "{?}", "position 3: a variable name is expected here" },
		{ "{a,}", "position 4: a variable name is expected here" },
		{ "{a,,b}", "position 4: a variable name is expected here" },
		{ "{{a}}", "position 2: a variable name is expected here" },
		{ "{a{b}", "position 3: ',' or '}' is expected here" },
		{ "{a b}", "position 3: ',' or '}' is expected here" },
		{ "{a-b}", "position 3: ',' or '}' is expected here" },
		{ "{.a.}", "position 5: a variable name cannot end here" },
		{ "{..a}", "position 3: a variable name is expected here" },
		{ "{a..b}", "position 4: a variable name cannot end here" },
		{ "{%4}", "position 2: a variable name is expected here" },
		{ "{a%zz}", "position 3: ',' or '}' is expected here" },
		{ "{\xC3\xA4}", "position 2: a variable name is expected here" },
		{ "{=a}", "position 2: this operator is reserved" },
		{ "{,a}", "position 2: this operator is reserved" },
		{ "{!a}", "position 2: this operator is reserved" },
		{ "{@a}", "position 2: this operator is reserved" },
		{ "{|a}", "position 2: this operator is reserved" },
		{ "{a:0}", "position 4: a prefix length from 1 to 9999 is expected here" },
		{ "{a:01}", "position 4: a prefix length from 1 to 9999 is expected here" },
		{ "{a:}", "position 4: a prefix length from 1 to 9999 is expected here" },
		{ "{a:x}", "position 4: a prefix length from 1 to 9999 is expected here" },
		{ "{a:-1}", "position 4: a prefix length from 1 to 9999 is expected here" },
		{ "{a:10000}", "position 8: ',' or '}' is expected here" },
		{ "{a:3*}", "position 5: ',' or '}' is expected here" },
		{ "{a*:3}", "position 4: ',' or '}' is expected here" },
		{ "{a**}", "position 4: ',' or '}' is expected here" },
		{ "a b", "position 2: this character has to be percent-encoded" },
		{ "a%", "position 2: this character has to be percent-encoded" },
		{ "a%4", "position 2: this character has to be percent-encoded" },
		{ "a%4g", "position 2: this character has to be percent-encoded" },
		{ "a\"", "position 2: this character has to be percent-encoded" },
		{ "a<b>", "position 2: this character has to be percent-encoded" },
		{ "a\\b", "position 2: this character has to be percent-encoded" },
		{ "a^b", "position 2: this character has to be percent-encoded" },
		{ "a`b", "position 2: this character has to be percent-encoded" },
		{ "a|b", "position 2: this character has to be percent-encoded" },
		{ "a\nb", "position 2: this character has to be percent-encoded" },
		{ "a\x7F", "position 2: this character has to be percent-encoded" },
		{ "a\xC3", "not UTF-8" },
		/* ucschar and iprivate of RFC 3987 have neither controls nor noncharacters */
		{ "a\xC2\x80", "position 2: this character has to be percent-encoded" },
		{ "a\xEF\xBF\xBF", "position 2: this character has to be percent-encoded" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		const struct uri_template *t = NULL;
		cleat_error err = { .status = 0 };

		if (uri_template_compile(ar, str_of(cases[i].text), &t, &err) != CLEAT_EINVAL)
			fail_msg("%s is accepted", cases[i].text);
		assert_false(uri_template_is_valid(str_of(cases[i].text)));
		assert_null(t);
		assert_int_equal(err.status, CLEAT_EINVAL);
		if (!strstr(err.message, cases[i].message))
			fail_msg("%s: %s", cases[i].text, err.message);
	}
}

/* Text from the wire may hold NUL: it is a character that a template cannot have. */
ARENA_TEST(nul_bytes_are_refused_everywhere)
{
	static const struct str cases[] = {
		{ "a\0b", 3 }, { "{a\0}", 4 }, { "{\0a}", 4 }, { "{a:1\0}", 6 }
	};
	const struct uri_template *t;

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++)
		assert_int_equal(uri_template_compile(ar, cases[i], &t, NULL), CLEAT_EINVAL);
}

ARENA_TEST(limits_are_exact)
{
	static const struct {
		const char *piece;
		size_t n;
		int status;
	} cases[] = {
		{ "{a}", 64, CLEAT_OK },      { "{a}", 65, CLEAT_ELIMIT },
		{ "x{a}", 64, CLEAT_OK },     { "{;a}", 64, CLEAT_OK },
		{ "x{a}", 65, CLEAT_ELIMIT }, { "{a}x", 65, CLEAT_ELIMIT },
		{ "{a,b}", 32, CLEAT_OK },    { "{a,b}", 33, CLEAT_ELIMIT },
		{ ",", 8192, CLEAT_OK },      { "a", 8192, CLEAT_OK },
		{ "a", 8193, CLEAT_ELIMIT },
	};
	const struct uri_template *t;

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct str text = str_of(repeat(ar, cases[i].piece, cases[i].n));

		assert_int_equal(uri_template_compile(ar, text, &t, NULL), cases[i].status);
		assert_true(uri_template_is_valid(text)); /* the grammar has no limits */
	}
}

ARENA_TEST(accessors_describe_the_template)
{
	const struct uri_template *t;

	t = must_compile(ar, "k\xC3\xB6ln%20/{b,a:3}{?b,c*}");
	assert_int_equal(uri_template_var_count(t), 3);
	assert_true(str_eqz(uri_template_var_name(t, 0), "b"));
	assert_true(str_eqz(uri_template_var_name(t, 1), "a"));
	assert_true(str_eqz(uri_template_var_name(t, 2), "c"));
	assert_null(uri_template_var_name(t, 3).p);
	assert_int_equal(t->literals, 6);
	t = must_compile(ar, "");
	assert_int_equal(uri_template_var_count(t), 0);
	assert_int_equal(t->literals, 0);
}

TEST(is_template_looks_for_an_expression)
{
	assert_true(uri_is_template(STR_LIT("a{b}")));
	assert_true(uri_is_template(STR_LIT("}{b}")));
	assert_false(uri_is_template(STR_LIT("a{b")));
	assert_false(uri_is_template(STR_LIT("a}b{")));
	assert_false(uri_is_template(STR_LIT("file:///x")));
	assert_false(uri_is_template((struct str){ NULL, 0 }));
}

static int compare(struct arena *ar, const char *a, const char *b)
{
	int there = uri_template_compare(must_compile(ar, a), must_compile(ar, b));

	assert_int_equal(uri_template_compare(must_compile(ar, b), must_compile(ar, a)), -there);
	return there;
}

ARENA_TEST(the_more_specific_template_comes_first)
{
	assert_true(compare(ar, "a://b/{c}", "a://{b}/{c}") < 0);
	assert_true(compare(ar, "a://{b}/d", "a://{b}/{c}") < 0);
	assert_true(compare(ar, "a://{b}", "a://{b}{?c}") < 0);
	assert_true(compare(ar, "a://{b}", "a://{+c}") == 0);
	assert_true(compare(ar, "a%20{b}", "ab{b}") == 0);
}

/* ---- expansion ---------------------------------------------------------------------------- */

TEST(values_of_every_type_expand)
{
	/* numbers are written as they were received */
	check_expand("{a}/{b}/{c}/{d}",
		     "{\"a\":1.10,\"b\":12345678901234567890,\"c\":-0,\"d\":1E+2}",
		     "1.10/12345678901234567890/-0/1E%2B2");
	check_expand("{+d}{?l}", "{\"d\":1E+2,\"l\":[1.0,true,\"x\"]}", "1E+2?l=1.0,true,x");
	check_expand("{a}{b}", "{\"a\":true,\"b\":false}", "truefalse");
	check_expand("{a:2}", "{\"a\":1234}", "12");
	check_expand("x{?a,b}", "{\"a\":null}", "x");
	check_expand("x{?a*}", "{\"a\":[null,\"1\",null,2]}", "x?a=1&a=2");
	check_expand("x{?a}{/b*}", "{\"a\":[null],\"b\":{\"k\":null}}", "x");
	check_expand("{a}", "{\"a\":\"\\u0000\"}", "%00");
	check_expand("{;a,b*}{?a,b*}", "{\"a\":\"\",\"b\":[\"\",\"x\"]}", ";a;b;b=x?a=&b=&b=x");
	check_expand("{;m*}{?m*}{m*}", "{\"m\":{\"k\":\"\"}}", ";k?k=k=");
	/* a list that appears twice, and one that is only empty strings */
	check_expand("{l}-{l*}-{/l*}", "{\"l\":[\"\",\"\"]}", ",-,-//");
	check_expand("", "{}", "");
}

TEST(values_that_do_not_fit_are_refused)
{
	check_expand("x{a}", "{\"a\":[[1]]}", NULL);
	check_expand("x{a}", "{\"a\":[{}]}", NULL);
	check_expand("x{a*}", "{\"a\":{\"k\":[]}}", NULL);
	check_expand("x{a:1}", "{\"a\":[]}", NULL);
	check_expand("x{a}", "[]", NULL);
}

ARENA_TEST(expansion_appends_all_or_nothing)
{
	struct buf out;

	buf_init(&out, NULL, 10);
	buf_appendz(&out, "ab");
	assert_int_equal(uri_template_expand(must_compile(ar, "x{a}"),
					     must_parse(ar, "{\"a\":[[]]}"), &out, NULL),
			 CLEAT_EINVAL);
	assert_true(str_eqz(buf_str(&out), "ab"));
	assert_int_equal(uri_template_expand(must_compile(ar, "0123456789"), NULL, &out, NULL),
			 CLEAT_ELIMIT);
	assert_true(str_eqz(buf_str(&out), "ab"));
	assert_int_equal(uri_template_expand(must_compile(ar, "{v}"), NULL, &out, NULL), CLEAT_OK);
	assert_int_equal(uri_template_expand(must_compile(ar, "01234567"), NULL, &out, NULL),
			 CLEAT_OK);
	assert_true(str_eqz(buf_str(&out), "ab01234567"));
	buf_putc(&out, 'x');
	assert_int_equal(uri_template_expand(must_compile(ar, ""), NULL, &out, NULL), CLEAT_ELIMIT);
	buf_done(&out);
}

/* ---- public ------------------------------------------------------------------------------- */

TEST(public_expand_gives_text_or_says_why)
{
	cleat_doc *doc = cleat_doc_newf(NULL, "{name: %s, units: 'metric'}", "S\xC3\xA3o Paulo");
	const cleat_json *vars = cleat_doc_root(doc);
	cleat_error err;
	char *uri;

	uri = cleat_uri_template_expand("city://{name}{?units}", vars, &err);
	assert_string_equal(uri, "city://S%C3%A3o%20Paulo?units=metric");
	free(uri);
	uri = cleat_uri_template_expand("city://{name}", NULL, NULL);
	assert_string_equal(uri, "city://");
	free(uri);
	assert_null(cleat_uri_template_expand("{", vars, &err));
	assert_int_equal(err.status, CLEAT_EINVAL);
	assert_null(cleat_uri_template_expand(NULL, vars, &err));
	assert_int_equal(err.status, CLEAT_EINVAL);
	assert_null(cleat_uri_template_expand("{a}", cleat_json_get(vars, "name"), &err));
	assert_int_equal(err.status, CLEAT_EINVAL);
	cleat_doc_free(doc);
}

TEST(public_match_gives_a_document_or_says_why)
{
	cleat_error err;
	cleat_doc *doc;

	doc = cleat_uri_template_match("city://{name}{?units,lang}",
				       "city://S%C3%A3o%22?lang=", NULL, &err);
	assert_string_equal(cleat_json_str(cleat_json_get(cleat_doc_root(doc), "name"), ""),
			    "S\xC3\xA3o\"");
	assert_string_equal(cleat_json_str(cleat_json_get(cleat_doc_root(doc), "lang"), "?"), "");
	assert_int_equal(cleat_json_size(cleat_doc_root(doc)), 2);
	cleat_doc_free(doc);
	doc = cleat_uri_template_match("a", "a", NULL, NULL);
	assert_int_equal(cleat_json_type(cleat_doc_root(doc)), CLEAT_JSON_OBJECT);
	cleat_doc_free(doc);
	assert_null(cleat_uri_template_match("a{b}", "x", NULL, &err));
	assert_int_equal(err.status, CLEAT_ENOENT);
	assert_null(cleat_uri_template_match("a{b", "x", NULL, &err));
	assert_int_equal(err.status, CLEAT_EINVAL);
	assert_null(cleat_uri_template_match(NULL, "x", NULL, &err));
	assert_int_equal(err.status, CLEAT_EINVAL);
	assert_null(cleat_uri_template_match("a", NULL, NULL, NULL));
}

TEST(public_match_survives_every_failing_allocation)
{
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		cleat_error err = { .status = CLEAT_OK };
		cleat_doc *doc;

		doc = cleat_uri_template_match("a{/b*}{?c}", "a/x/y?c=1", &fa.hook, &err);
		assert_int_equal(err.status, doc ? CLEAT_OK : CLEAT_ENOMEM);
		assert_int_equal(doc == NULL, fail_alloc_hit(&fa));
		cleat_doc_free(doc);
	}
}
