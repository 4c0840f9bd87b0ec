/* tests/unit/test_json_number.c - numbers: kept as text, read exactly, compared by value. */
#include "unit/json/json_rig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int64_t as_int(const char *text, int64_t fallback)
{
	cleat_doc *doc = parse(text);
	int64_t n = cleat_json_int(cleat_doc_root(doc), fallback);

	cleat_doc_free(doc);
	return n;
}

static uint64_t as_uint(const char *text, uint64_t fallback)
{
	cleat_doc *doc = parse(text);
	uint64_t n = cleat_json_uint(cleat_doc_root(doc), fallback);

	cleat_doc_free(doc);
	return n;
}

static double as_num(const char *text)
{
	cleat_doc *doc = parse(text);
	double n = cleat_json_num(cleat_doc_root(doc), -0.125);

	cleat_doc_free(doc);
	return n;
}

static bool integer(const char *text)
{
	cleat_doc *doc = parse(text);
	bool is = cleat_json_is_integer(cleat_doc_root(doc));

	cleat_doc_free(doc);
	return is;
}

TEST(integers_are_read_in_every_spelling)
{
	assert_int_equal(as_int("0", 9), 0);
	assert_int_equal(as_int("-0", 9), 0);
	assert_int_equal(as_int("-0.0e5", 9), 0);
	assert_int_equal(as_int("0e99999999999999999999", 9), 0);
	assert_int_equal(as_int("1.0", 9), 1);
	assert_int_equal(as_int("1e2", 9), 100);
	assert_int_equal(as_int("1E+2", 9), 100);
	assert_int_equal(as_int("1200e-2", 9), 12);
	assert_int_equal(as_int("1.25e2", 9), 125);
	assert_int_equal(as_int("0.00125e5", 9), 125);
	assert_int_equal(as_int("10.50e1", 9), 105);
	assert_int_equal(as_int("-100200.00", 9), -100200);
	assert_int_equal(as_int("1000000000000000000000e-21", 9), 1);
	assert_int_equal(as_int("0.000000000000000000000000000001e30", 9), 1);
}

TEST(integer_limits_are_exact)
{
	assert_true(as_int("9223372036854775807", 0) == INT64_MAX);
	assert_true(as_int("-9223372036854775808", 0) == INT64_MIN);
	assert_true(as_int("-9223372036854775807", 0) == -INT64_MAX);
	assert_int_equal(as_int("9223372036854775808", 5), 5);
	assert_int_equal(as_int("-9223372036854775809", 5), 5);
	assert_true(as_uint("18446744073709551615", 0) == UINT64_MAX);
	assert_true(as_uint("1844674407370955161.5e1", 0) == UINT64_MAX);
	assert_int_equal(as_uint("18446744073709551616", 5), 5);
	assert_int_equal(as_uint("-1", 5), 5);
	assert_int_equal(as_uint("-0", 5), 0);
	assert_true(as_uint("1e19", 0) == UINT64_C(10000000000000000000));
	assert_int_equal(as_uint("1e20", 5), 5);
	assert_true(as_int("9007199254740993", 0) == INT64_C(9007199254740993)); /* 2^53 + 1 */
}

TEST(fractions_and_huge_numbers_are_no_integers)
{
	assert_int_equal(as_int("1.5", 5), 5);
	assert_int_equal(as_int("1e-1", 5), 5);
	assert_int_equal(as_int("1e999", 5), 5);
	assert_int_equal(as_int("1e-99999999999999999999999", 5), 5);
	assert_int_equal(as_int("1e99999999999999999999999", 5), 5);
	assert_int_equal(as_int("123456789012345678901234567890", 5), 5);
	assert_true(integer("1e999"));
	assert_true(integer("123456789012345678901234567890"));
	assert_true(integer("-0.000"));
	assert_true(integer("1.50e1"));
	assert_false(integer("1.5"));
	assert_false(integer("15e-1"));
	assert_false(integer("1e-400"));
}

TEST(doubles_are_the_nearest)
{
	assert_true(as_num("0.1") == 0.1);
	assert_true(as_num("-1.7976931348623157e308") == -1.7976931348623157e308);
	assert_true(as_num("5e-324") == 5e-324);
	assert_true(as_num("1e-999") == 0.0);
	assert_true(as_num("9007199254740993") == 9007199254740992.0);
	assert_true(as_num("18446744073709551616") == 18446744073709551616.0);
	assert_true(as_num("-3") == -3.0);
	assert_true(as_num("1e999") == -0.125); /* beyond the range: the fallback */
	assert_true(as_num("-1e999") == -0.125);
}

/* yyjson ends raw tokens with a NUL; cleat_json_number_text() promises it. */
TEST(text_is_kept_and_terminated)
{
	static const char *const tokens[] = { "1.10", "12345678901234567890", "-0", "1E+2",
					      "1e999" };
	cleat_doc *doc = parse("[1.10,12345678901234567890 ,-0\n,1E+2,1e999]");
	const cleat_json *v = cleat_doc_root(doc);
	char *text;

	for (size_t i = 0; i < CLEAT_COUNT(tokens); i++)
		assert_string_equal(cleat_json_number_text(cleat_json_at(v, i)), tokens[i]);
	text = cleat_json_print(v, NULL);
	assert_string_equal(text, "[1.10,12345678901234567890,-0,1E+2,1e999]");
	free(text);
	cleat_doc_free(doc);
	doc = parse("42");
	assert_string_equal(cleat_json_number_text(cleat_doc_root(doc)), "42");
	cleat_doc_free(doc);
	doc = parse("{\"a\":42}");
	assert_string_equal(cleat_json_number_text(cleat_json_get(cleat_doc_root(doc), "a")), "42");
	cleat_doc_free(doc);
}

TEST(numbers_are_equal_by_value)
{
	assert_true(equal("1", "1.0"));
	assert_true(equal("100", "1e2"));
	assert_true(equal("-0", "0"));
	assert_true(equal("0.00", "0e7"));
	assert_true(equal("12.5", "125e-1"));
	assert_true(equal("1.2345e3", "12345e-1"));
	assert_true(equal("10e998", "1e999"));
	assert_true(equal("0e99999999999999999999", "0"));
	assert_false(equal("1", "-1"));
	assert_false(equal("1", "10"));
	assert_false(equal("105", "15"));
	assert_false(equal("9007199254740993", "9007199254740992")); /* the same double */
	assert_false(equal("1e999", "2e999"));
	assert_false(equal("0.1", "0.10000000000000000001"));
	assert_true(equal("1e99999999999999999999", "1e99999999999999999999"));
	assert_false(equal("1e99999999999999999999", "1e99999999999999999998"));
	assert_false(equal("1", "\"1\""));
	assert_false(equal("1", "true"));
}
