/* tests/unit/test_json_template.c - templates: every conversion, the relaxed grammar, and that
 * whatever is not right is refused with its place.
 */
#include "base/buf.h"
#include "test.h"
#include "json/doc.h"
#include "json/writer.h"

#include <cleat/json.h>

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes the document. */
static void expect_doc(cleat_doc *doc, const char *expected)
{
	char *text = cleat_json_print(cleat_doc_root(doc), NULL);

	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
	cleat_doc_free(doc);
}

/* Without the compiler's check of the format: for %j and for wrong templates. */
static cleat_doc *unchecked(cleat_error *err, const char *fmt, ...)
{
	cleat_doc *doc;
	va_list ap;

	va_start(ap, fmt);
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#endif
	doc = cleat_doc_newv(err, fmt, ap);
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
	va_end(ap);
	return doc;
}

TEST(strings_are_encoded_whole)
{
	expect_doc(cleat_doc_newf(NULL, "{city: %s, zip: %.*s}", "Os\"lo\n}", 4, "0150 and more"),
		   "{\"city\":\"Os\\\"lo\\n}\",\"zip\":\"0150\"}");
	expect_doc(unchecked(NULL, "[%s, %.*s, %s]", (char *)NULL, 3, (char *)NULL, "\xFF"),
		   "[null,null,\"\xEF\xBF\xBD\"]");
	/* as in printf: a precision is a maximum, and a negative one is none */
	expect_doc(cleat_doc_newf(NULL, "[%.*s, %.*s, %.*s]", 99, "ab", -1, "cd", 0, "ef"),
		   "[\"ab\",\"cd\",\"\"]");
	expect_doc(cleat_doc_newf(NULL, "%.*s", 2, (char[2]){ 'n', 'o' }), "\"no\"");
	expect_doc(cleat_doc_newf(NULL, "{%s: 1, %.*s: 2}", "k\"", 1, "xyz"),
		   "{\"k\\\"\":1,\"x\":2}");
}

TEST(integers_of_every_size)
{
	expect_doc(cleat_doc_newf(NULL, "[%d, %i, %u]", -1, INT_MIN, UINT_MAX),
		   "[-1,-2147483648,4294967295]");
	expect_doc(cleat_doc_newf(NULL, "[%hd, %hu, %hhu]", (short)-2, (unsigned short)65535,
				  (unsigned char)255),
		   "[-2,65535,255]");
	expect_doc(cleat_doc_newf(NULL, "[%ld, %lu, %lld, %llu]", -3L, 4UL, LLONG_MIN, ULLONG_MAX),
		   "[-3,4,-9223372036854775808,18446744073709551615]");
	expect_doc(cleat_doc_newf(NULL, "[%zu, %zd, %td, %jd, %ju, %tu]", (size_t)5, (ptrdiff_t)-6,
				  (ptrdiff_t)-7, INTMAX_C(-8), UINTMAX_C(9), (size_t)10),
		   "[5,-6,-7,-8,9,10]");
	expect_doc(cleat_doc_newf(NULL, "[%" PRId64 ", %" PRIu64 "]", INT64_MIN, UINT64_MAX),
		   "[-9223372036854775808,18446744073709551615]");
}

TEST(hhd_is_a_boolean)
{
	bool yes = true, no = false;

	expect_doc(cleat_doc_newf(NULL, "[%hhd, %hhd, %hhi]", yes, no, (signed char)2),
		   "[true,false,true]");
}

TEST(doubles_are_shortest_exact)
{
	expect_doc(cleat_doc_newf(NULL, "[%g, %f, %e, %lf, %g]", 0.1, 2.0, 1e100, -1.5,
				  (double)INFINITY),
		   "[0.1,2,1e100,-1.5,null]");
}

TEST(values_are_copied)
{
	cleat_doc *doc = cleat_doc_parse("{\"n\":[1.10]}", 12, NULL, NULL, NULL);
	const cleat_json *v = cleat_doc_root(doc);

	expect_doc(cleat_doc_newf(NULL, "{a: %p, b: %p}", (void *)v, (void *)NULL),
		   "{\"a\":{\"n\":[1.10]},\"b\":null}");
	expect_doc(unchecked(NULL, "[%j,%j ,%jd,%j]", v, (void *)NULL, (intmax_t)-1, v),
		   "[{\"n\":[1.10]},null,-1,{\"n\":[1.10]}]");
	expect_doc(unchecked(NULL, "%j", v), "{\"n\":[1.10]}");
	cleat_doc_free(doc);
}

TEST(the_grammar_is_relaxed)
{
	expect_doc(cleat_doc_newf(NULL, "{ok: true, no: false, nil: null,}"),
		   "{\"ok\":true,\"no\":false,\"nil\":null}");
	expect_doc(cleat_doc_newf(NULL, " [ 1 , -0.5e+10 , 0 , ] "), "[1,-0.5e+10,0]");
	expect_doc(cleat_doc_newf(NULL, "{$a_1: {}, b-c: [], d.e/f: [[], {},],}"),
		   "{\"$a_1\":{},\"b-c\":[],\"d.e/f\":[[],{}]}");
	expect_doc(cleat_doc_newf(NULL, "{'a b': 'c \"d\"', \"e'\": \"f'g\"}"),
		   "{\"a b\":\"c \\\"d\\\"\",\"e'\":\"f'g\"}");
	expect_doc(cleat_doc_newf(NULL, "['{[,:', \"}]\", 'tab\there']"),
		   "[\"{[,:\",\"}]\",\"tab\\there\"]");
	expect_doc(cleat_doc_newf(NULL, "['\\'\\\"\\\\\\/\\n', \"\\u00e9\\ud834\\uDD1e\\u0000\"]"),
		   "[\"'\\\"\\\\/\\n\",\"\xC3\xA9\xF0\x9D\x84\x9E\\u0000\"]");
	expect_doc(cleat_doc_newf(NULL, "'\xC3\xA9\xFF'"), "\"\xC3\xA9\xEF\xBF\xBD\"");
	expect_doc(cleat_doc_newf(NULL, "{true: 1, null: 2}"), "{\"true\":1,\"null\":2}");
	expect_doc(cleat_doc_newf(NULL, "''"), "\"\"");
}

TEST(wrong_templates_are_refused_with_their_place)
{
	static const struct {
		const char *fmt, *message;
	} cases[] = {
		{ "", "expected a value at 0" },
		{ "  ", "expected a value at 2" },
		{ "{", "expected a key or '}' at 1" },
		{ "[", "expected a value at 1" },
		{ "[1", "expected ',' or ']' at 2" },
		{ "{a: 1", "expected ',' or '}' at 5" },
		{ "{a: 1]", "expected ',' or '}' at 5" },
		{ "[1}", "expected ',' or ']' at 2" },
		{ "[}", "expected a value at 1" },
		{ "{]", "expected a key or '}' at 1" },
		{ "]", "expected a value at 0" },
		{ "1]", "expected nothing more at 1" },
		{ "{} {}", "expected nothing more at 3" },
		{ "{city   1}", "expected ':' after key at 8" },
		{ "{city}", "expected ':' after key at 5" },
		{ "{a:}", "expected a value at 3" },
		{ "{,}", "expected a key or '}' at 1" },
		{ "[,]", "expected a value at 1" },
		{ "[1,,2]", "expected a value at 3" },
		{ "{1: 2}", "expected a key or '}' at 1" },
		{ "[1 2]", "expected ',' or ']' at 3" },
		{ "[01]", "expected ',' or ']' at 2" },
		{ "[+1]", "expected a value at 1" },
		{ "[-]", "wrong number at 1" },
		{ "[1.]", "wrong number at 1" },
		{ "[1e]", "wrong number at 1" },
		{ "[.5]", "expected a value at 1" },
		{ "[yes]", "expected true, false, null or quoted text at 1" },
		{ "[truely]", "expected true, false, null or quoted text at 1" },
		{ "[NaN]", "expected true, false, null or quoted text at 1" },
		{ "['a]", "unterminated text at 1" },
		{ "['a\\", "wrong escape at 3" },
		{ "[\"a']", "unterminated text at 1" },
		{ "['\\x41']", "wrong escape at 2" },
		{ "['\\u12g4']", "wrong escape at 2" },
		{ "['\\u12", "wrong escape at 2" },
		{ "['\\ud834']", "wrong escape at 2" },
		{ "['\\ud834\\u0041']", "wrong escape at 2" },
		{ "['\\udd1e']", "wrong escape at 2" },
		{ "['a' 'b']", "expected ',' or ']' at 5" },
		{ "['100%']", "'%' inside text at 5" },
		{ "['%s']", "'%' inside text at 2" },
		{ "[%%]", "unknown conversion at 1" },
		{ "[%", "unknown conversion at 1" },
		{ "[%5d]", "unknown conversion at 1" },
		{ "[%.3f]", "unknown conversion at 1" },
		{ "[%.*d]", "unknown conversion at 1" },
		{ "[%-s]", "unknown conversion at 1" },
		{ "[%c]", "unknown conversion at 1" },
		{ "[%x]", "unknown conversion at 1" },
		{ "[%n]", "unknown conversion at 1" },
		{ "[%ls]", "unknown conversion at 1" },
		{ "[%Lf]", "unknown conversion at 1" },
		{ "[%hhh", "unknown conversion at 1" },
		{ "{%d: 1}", "only %s and %.*s can be a key at 1" },
		{ "{%p: 1}", "only %s and %.*s can be a key at 1" },
		{ "{a: 1 // no\n}", "expected ',' or '}' at 6" },
		{ "{\xC3\xA9: 1}", "expected a key or '}' at 1" },
	};
	char expected[128];

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		cleat_error err = { 0 };

		snprintf(expected, sizeof expected, "template: %s", cases[i].message);
		assert_null(unchecked(&err, cases[i].fmt, ""));
		assert_int_equal(err.status, CLEAT_EINVAL);
		if (strcmp(err.message, expected) != 0)
			fail_msg("%s: got %s, expected %s", cases[i].fmt, err.message, expected);
		assert_null(unchecked(NULL, cases[i].fmt, ""));
	}
	assert_null(unchecked(NULL, NULL));
}

TEST(null_is_no_key)
{
	cleat_error err;

	assert_null(unchecked(&err, "{a: 1, %s: 2}", (char *)NULL));
	assert_string_equal(err.message, "template: NULL for a key at 7");
	assert_null(unchecked(&err, "{%.*s: 2}", 0, (char *)NULL));
	assert_int_equal(err.status, CLEAT_EINVAL);
}

TEST(nesting_ends_at_64)
{
	char text[200];
	cleat_error err;

	memset(text, '[', 64);
	memset(text + 64, ']', 64);
	text[128] = '\0';
	expect_doc(unchecked(&err, text), text);
	memset(text, '[', 65);
	memset(text + 65, ']', 65);
	text[130] = '\0';
	assert_null(unchecked(&err, text));
	assert_string_equal(err.message, "template: nested deeper than 64 levels at 64");
}

/* Objects and arrays in every mixture keep their closing brackets apart. */
TEST(nesting_remembers_objects_and_arrays)
{
	expect_doc(cleat_doc_newf(NULL, "{a:[{b:[[{c:{d:[{}]}}]]},[{}]],e:{f:[]}}"),
		   "{\"a\":[{\"b\":[[{\"c\":{\"d\":[{}]}}]]},[{}]],\"e\":{\"f\":[]}}");
	assert_null(unchecked(NULL, "{a:[{b:[[{c:{d:[{}]}}]}]}]}"));
}

TEST(a_failure_cuts_the_buffer_back)
{
	struct buf b;
	struct jw w;

	buf_init(&b, NULL, 30);
	jw_init(&w, &b);
	jw_arr(&w);
	assert_int_equal(jw_format(&w, NULL, "{a: %d}", 1), CLEAT_OK);
	assert_int_equal(jw_format(&w, NULL, "{b: %d", 2), CLEAT_EINVAL);
	assert_int_equal(buf_status(&b), CLEAT_OK);
	assert_int_equal(jw_format(&w, NULL, "[%d]", 3), CLEAT_OK);
	jw_arr_end(&w);
	assert_true(str_eqz(buf_str(&b), "[{\"a\":1},[3]]"));
	/* lack of room is the buffer's own error: cut back and latched */
	assert_int_equal(jw_format(&w, NULL, "[%s, %s]", "0123456789", "0123456789"), CLEAT_ELIMIT);
	assert_int_equal(buf_status(&b), CLEAT_ELIMIT);
	assert_true(str_eqz(buf_str(&b), "[{\"a\":1},[3]]"));
	assert_int_equal(jw_format(&w, NULL, "1"), CLEAT_ELIMIT);
	buf_done(&b);
}
