/* tests/unit/test_field_check.c - what field_check() says about objects that do and do not fit. */
#include "field/field.h"
#include "support.h"
#include "test.h"
#include "json/parse.h"

#include <stdlib.h>
#include <string.h>

struct point {
	double x, y;
};

struct args {
	const char *city, *unit;
	int days;
	bool fast;
	double ratio;
	float small;
	int8_t i8;
	uint16_t u16;
	uint64_t u64;
	int64_t i64;
	const cleat_json *any;
	struct point point;
	const char *const *tags;
	size_t ntags;
	const struct point *path;
	size_t npath;
};

static const cleat_field point_fields[] = { CLEAT_FIELD(struct point, x, "Right"),
					    CLEAT_FIELD(struct point, y, NULL, .optional = true),
					    CLEAT_FIELD_END };

static const cleat_field fields[] = {
	CLEAT_FIELD(struct args, city, "City name"),
	CLEAT_FIELD(struct args, unit, "Scale", .optional = true, .choices = "celsius|fahrenheit"),
	CLEAT_FIELD(struct args, days, "Days ahead", CLEAT_RANGE(1, 14), .fallback = "1"),
	CLEAT_FIELD(struct args, fast, NULL, .optional = true),
	CLEAT_FIELD(struct args, ratio, NULL, .optional = true, CLEAT_RANGE(0, 0.5)),
	CLEAT_FIELD(struct args, small, NULL, .optional = true),
	CLEAT_FIELD(struct args, i8, NULL, .optional = true),
	CLEAT_FIELD(struct args, u16, NULL, .optional = true),
	CLEAT_FIELD(struct args, u64, NULL, .optional = true),
	CLEAT_FIELD(struct args, i64, NULL, .optional = true),
	CLEAT_FIELD(struct args, any, NULL, .optional = true),
	CLEAT_RECORD(struct args, point, point_fields, NULL, .optional = true),
	CLEAT_ARRAY(struct args, tags, ntags, NULL, .optional = true, CLEAT_AT_MOST(3)),
	CLEAT_RECORD_ARRAY(struct args, path, npath, point_fields, NULL, .optional = true),
	CLEAT_FIELD_END
};

static const cleat_json *parse(struct arena *ar, const char *json)
{
	const cleat_json *v = NULL;

	assert_int_equal(json_parse(ar, str_of(json), NULL, &v, NULL), CLEAT_OK);
	return v;
}

/* In both texts ' stands for ". */
static void expect_in(const cleat_field *table, const char *json, bool closed, const char *wanted)
{
	char *text = json ? support_json(json) : NULL, *lines = support_json(wanted);
	struct arena ar;
	struct buf b;
	int rc;

	arena_init(&ar, NULL, 0);
	buf_init(&b, NULL, 1 << 20);
	rc = field_check(table, text ? parse(&ar, text) : NULL, closed, &b);
	buf_putc(&b, '\0');
	assert_string_equal(buf_str(&b).p, lines);
	assert_int_equal(rc, *wanted ? CLEAT_EINVAL : CLEAT_OK);
	buf_done(&b);
	arena_done(&ar);
	free(text);
	free(lines);
}

static void expect(const char *json, const char *wanted)
{
	expect_in(fields, json, false, wanted);
}

TEST(fitting_objects_pass)
{
	assert_int_equal(field_table_check(fields, NULL), CLEAT_OK);
	expect("{'city':'Oslo'}", "");
	expect("{'city':'','unit':'celsius','days':14,'fast':false,'ratio':0.5,"
	       "'i8':-128,'u16':65535,'u64':18446744073709551615,"
	       "'i64':-9223372036854775808,'any':null,'point':{'x':1},"
	       "'tags':['a','b','c'],'path':[{'x':1,'y':2},{'x':0}]}",
	       "");
	expect_in(NULL, NULL, true, "");
	expect_in(NULL, "{}", true, "");
	expect_in(NULL, "{'a':1}", false, "");
}

TEST(an_absent_object_counts_as_empty)
{
	expect(NULL, "city: required, but missing (string 'City name')");
	expect("{}", "city: required, but missing (string 'City name')");
	expect("[1]", "expected object, got [1]");
	expect("null", "expected object, got null");
}

TEST(types_are_named_with_what_was_there)
{
	expect("{'city':7}", "city: expected string, got 7");
	expect("{'city':'a','days':'tomorrow'}",
	       "days: expected integer between 1 and 14, got 'tomorrow'");
	expect("{'city':'a','fast':'yes'}", "fast: expected boolean, got 'yes'");
	expect("{'city':'a','ratio':'x'}", "ratio: expected number between 0 and 0.5, got 'x'");
	expect("{'city':'a','unit':'kelvin'}",
	       "unit: expected one of 'celsius', 'fahrenheit', got 'kelvin'");
	expect("{'city':'a','tags':{'a':[1,{'b':null}]}}",
	       "tags: expected array of at most 3 elements, got {'a':[1,{'b':null}]}");
	expect("{'city':'a','point':true}", "point: expected object, got true");
}

TEST(null_for_an_optional_field_is_explained)
{
	expect("{'city':'a','fast':null}",
	       "fast: expected boolean, got null (optional: leave it out)");
	expect("{'city':null}", "city: expected string, got null");
	expect("{'city':'a','tags':[null]}", "tags[0]: expected string, got null");
}

/* 3, 3.0 and 3e0 are the same integer (JSON Schema 2020-12 validation 6.1.1); 3.5 is none. */
TEST(integers_are_judged_by_value)
{
	expect("{'city':'a','days':3.0}", "");
	expect("{'city':'a','days':3e0}", "");
	expect("{'city':'a','days':0.3e1}", "");
	expect("{'city':'a','i8':-0}", "");
	expect("{'city':'a','u64':-0.0}", "");
	expect("{'city':'a','days':3.5}", "days: expected integer between 1 and 14, got 3.5");
	expect("{'city':'a','days':0}", "days: expected integer between 1 and 14, got 0");
	expect("{'city':'a','days':15}", "days: expected integer between 1 and 14, got 15");
	expect("{'city':'a','days':1e400}", "days: expected integer between 1 and 14, got 1e400");
}

TEST(integers_must_fit_their_member)
{
	expect("{'city':'a','i8':128}", "i8: expected integer between -128 and 127, got 128");
	expect("{'city':'a','i8':-129}", "i8: expected integer between -128 and 127, got -129");
	expect("{'city':'a','i8':'x'}", "i8: expected integer, got 'x'");
	expect("{'city':'a','u16':-1}", "u16: expected integer between 0 and 65535, got -1");
	expect("{'city':'a','u64':18446744073709551616}",
	       "u64: expected integer between 0 and 18446744073709551615, got "
	       "18446744073709551616");
	expect("{'city':'a','i64':9223372036854775808}",
	       "i64: expected integer between -9223372036854775808 and 9223372036854775807, got "
	       "9223372036854775808");
	expect("{'city':'a','i64':9223372036854775807}", "");
}

TEST(reals_must_be_in_range)
{
	expect("{'city':'a','ratio':0.5000001}",
	       "ratio: expected number between 0 and 0.5, got 0.5000001");
	expect("{'city':'a','ratio':-1e-300}",
	       "ratio: expected number between 0 and 0.5, got -1e-300");
	expect("{'city':'a','ratio':5e-400}", "");
	expect("{'city':'a','small':3.4e38}", "");
	expect("{'city':'a','small':3.5e38}", "small: expected number, got 3.5e38");
	expect("{'city':'a','small':1e999}", "small: expected number, got 1e999");
}

TEST(bounds_beyond_double_precision_compare_exactly)
{
	struct big {
		int64_t i;
		uint64_t u;
	};
	static const cleat_field big[] = { CLEAT_FIELD(struct big, i, NULL, .optional = true,
						       CLEAT_RANGE(-9007199254740992.0,
								   9007199254740992.0)),
					   CLEAT_FIELD(struct big, u, NULL, .optional = true,
						       CLEAT_AT_MOST(9007199254740992.0)),
					   CLEAT_FIELD_END };

	assert_int_equal(field_table_check(big, NULL), CLEAT_OK);
	expect_in(big, "{'i':9007199254740992,'u':9007199254740992}", false, "");
	expect_in(big, "{'u':9007199254740993}", false,
		  "u: expected integer of at most 9007199254740992, got 9007199254740993");
	expect_in(big, "{'i':-9007199254740993}", false,
		  "i: expected integer between -9007199254740992 and 9007199254740992, got "
		  "-9007199254740993");
}

TEST(nested_places_are_named_by_path)
{
	expect("{'city':'a','point':{'x':'far'}}", "point.x: expected number, got 'far'");
	expect("{'city':'a','point':{}}", "point.x: required, but missing (number 'Right')");
	expect("{'city':'a','tags':['a','b',7]}", "tags[2]: expected string, got 7");
	expect("{'city':'a','path':[{'x':1},{'x':1,'y':[]}]}",
	       "path[1].y: expected number, got []");
	expect("{'city':'a','path':[4]}", "path[0]: expected object, got 4");
}

TEST(sizes_are_counted_in_characters_and_elements)
{
	struct s {
		const char *a, *b, *c, *d;
	};
	static const cleat_field sized[] = {
		CLEAT_FIELD(struct s, a, NULL, .optional = true, CLEAT_RANGE(2, 3)),
		CLEAT_FIELD(struct s, b, NULL, .optional = true, CLEAT_AT_LEAST(1)),
		CLEAT_FIELD(struct s, c, NULL, .optional = true, CLEAT_AT_MOST(2)),
		CLEAT_FIELD(struct s, d, NULL, .optional = true, CLEAT_RANGE(4, 4)), CLEAT_FIELD_END
	};

	expect_in(sized, "{'a':'äöü','b':'x','c':'','d':'abcd'}", false, "");
	expect_in(sized, "{'a':'äöüx','b':'','c':'abc','d':'abc'}", false,
		  "a: expected string of 2 to 3 characters, got 4 characters\n"
		  "b: expected string of at least 1 character, got 0 characters\n"
		  "c: expected string of at most 2 characters, got 3 characters\n"
		  "d: expected string of 4 characters, got 3 characters");
	expect("{'city':'a','tags':['a','b','c','d']}",
	       "tags: expected array of at most 3 elements, got 4 elements");
}

/* Strings reach C handlers as terminated text. */
TEST(strings_with_nul_are_refused)
{
	expect("{'city':'a\\u0000b'}", "city: must not contain NUL");
	expect("{'city':'a','tags':['\\u0000']}", "tags[0]: must not contain NUL");
	expect("{'city':'a','unit':'celsius\\u0000'}",
	       "unit: expected one of 'celsius', 'fahrenheit', got 'celsius\\u0000'");
}

TEST(unknown_members_count_only_in_closed_objects)
{
	expect_in(fields, "{'city':'a','cty':1}", false, "");
	expect_in(fields, "{'city':'a','cty':1}", true,
		  "unknown argument 'cty' (did you mean 'city'?)");
	expect_in(fields, "{'city':'a','nothing like it':1}", true,
		  "unknown argument 'nothing like it'");
	expect_in(fields, "{'city':'a','city\\u0000':1}", true,
		  "unknown argument 'city\\u0000' (did you mean 'city'?)");
	expect_in(fields, "{'city':'a','point':{'x':1,'z':2}}", true, "point: unknown member 'z'");
	expect_in(NULL, "{'a':1}", true, "unknown argument 'a'");
}

TEST(a_key_that_stands_twice_is_a_problem)
{
	expect("{'city':'a','city':'b'}", "'city' stands twice");
	expect("{'city':'a','z':1,'z':1}", "'z' stands twice");
	expect("{'city':'a','point':{'x':1,'x':2}}", "point: 'x' stands twice");
}

TEST(shown_values_are_cut_to_sixty_characters)
{
	expect("{'city':'a','days':'ääääääääääääääääääääääääääääääääääääääääääääääääää"
	       "ääääääääääää'}",
	       "days: expected integer between 1 and 14, got 'ääääääääääääääääääääääääääääääääää"
	       "ääääääääääääääääääääääääää…'");
	expect("{'city':[11111,22222,33333,44444,55555,66666,77777,88888,99999,11111,22222]}",
	       "city: expected string, got "
	       "[11111,22222,33333,44444,55555,66666,77777,88888,99999,11111…");
	expect("{'city':123456789012345678901234567890123456789012345678901234567890123}",
	       "city: expected string, got "
	       "123456789012345678901234567890123456789012345678901234567890…");
	expect("{'city':[[[[[[1]]]]]]}", "city: expected string, got [[[[[…]]]]]");
}

/* Messages reach terminals: no cursor movement, no turned-around text. */
TEST(shown_text_is_safe)
{
	expect("{'city':'a','days':'\\u001b[2J\\u009b\\u202e\\'\\\\'}",
	       "days: expected integer between 1 and 14, got "
	       "'\\u001b[2J\\u009b\\u202e\\'\\\\'");
}

TEST(ten_problems_are_enough)
{
	char json[512] = "{\"city\":\"a\",\"path\":[";
	static const char wanted[] = "path[0]: expected object, got 1\n"
				     "path[1]: expected object, got 1\n"
				     "path[2]: expected object, got 1\n"
				     "path[3]: expected object, got 1\n"
				     "path[4]: expected object, got 1\n"
				     "path[5]: expected object, got 1\n"
				     "path[6]: expected object, got 1\n"
				     "path[7]: expected object, got 1\n"
				     "path[8]: expected object, got 1\n"
				     "path[9]: expected object, got 1\n"
				     "... and 3 more";

	for (int i = 0; i < 12; i++)
		strcat(json, "1,");
	strcat(json, "1]}");
	expect(json, wanted);
}

TEST(odd_names_are_quoted_in_messages)
{
	static const cleat_field inner[] = { { .name = "\"\n", .type = CLEAT_T_BOOL },
					     CLEAT_FIELD_END };
	static const cleat_field odd[] = {
		{ .name = "a b", .type = CLEAT_T_RECORD, .fields = inner }, CLEAT_FIELD_END
	};

	assert_int_equal(field_table_check(odd, NULL), CLEAT_OK);
	expect_in(odd, "{'a b':{'\\'\\n':1}}", false,
		  "'a b'.'\\'\\u000a': expected boolean, got 1");
}

TEST(any_object_takes_objects_alone)
{
	static const cleat_field any[] = {
		{ .name = "o", .type = CLEAT_T_RECORD },
		{ .name = "os", .type = CLEAT_T_RECORD, .array = true, .optional = true },
		CLEAT_FIELD_END
	};

	assert_int_equal(field_table_check(any, NULL), CLEAT_OK);
	expect_in(any, "{'o':{'x':1},'os':[{},{'y':[]}]}", true, "");
	expect_in(any, "{'o':[],'os':[{},1]}", true,
		  "o: expected object, got []\nos[1]: expected object, got 1");
}

TEST(missing_fields_say_what_they_are)
{
	static const cleat_field t[] = {
		{ .name = "plain", .type = CLEAT_T_INT },
		{ .name = "unit", .type = CLEAT_T_STRING, .choices = "a|b", .doc = "Scale" },
		{ .name = "bare", .type = CLEAT_T_STRING, .choices = "a|b" },
		{ .name = "list", .type = CLEAT_T_STRING, .array = true, .doc = "Names" },
		{ .name = "any", .type = CLEAT_T_JSON },
		CLEAT_FIELD_END
	};

	expect_in(t, "{}", false,
		  "plain: required, but missing (integer)\n"
		  "unit: required, but missing (string 'Scale', one of 'a', 'b')\n"
		  "bare: required, but missing (one of 'a', 'b')\n"
		  "list: required, but missing (array of string 'Names')\n"
		  "any: required, but missing (any JSON)");
}

TEST(many_choices_are_not_all_listed)
{
	static const cleat_field t[] = { { .name = "c",
					   .type = CLEAT_T_STRING,
					   .choices =
						   "a|b|c|d|e|f|g|h|i|j|k|l|m|n|o|p|q|r|s|t|u|v" },
					 CLEAT_FIELD_END };

	expect_in(t, "{'c':'u'}", false, "");
	expect_in(t, "{'c':1}", false,
		  "c: expected one of 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', "
		  "'j', 'k', 'l', 'm', 'n', 'o', 'p', 'q', 'r', 's', 't', ... "
		  "(22 in all), got 1");
}

/* Tables of more than a few fields are looked up by hash; the answers must not change. */
TEST(large_tables_are_checked_like_small_ones)
{
	static char names[256][16];
	static cleat_field many[257];
	struct arena ar;
	struct buf json, problems;

	for (int i = 0; i < 256; i++) {
		snprintf(names[i], sizeof names[i], "f%d", i);
		many[i] = (cleat_field){ .name = names[i], .type = CLEAT_T_INT };
	}
	assert_int_equal(field_table_check(many, NULL), CLEAT_OK);
	arena_init(&ar, NULL, 0);
	buf_init(&json, NULL, 1 << 20);
	buf_init(&problems, NULL, 1 << 20);
	for (int i = 0; i < 256; i++)
		buf_printf(&json, "%c\"f%d\":%s", i ? ',' : '{', i, i == 200 ? "\"x\"" : "1");
	buf_appendz(&json, ",\"f2000\":1,\"f1\\u0000\":1}");
	buf_putc(&json, '\0');
	assert_int_equal(field_check(many, parse(&ar, buf_str(&json).p), true, &problems),
			 CLEAT_EINVAL);
	buf_putc(&problems, '\0');
	assert_string_equal(buf_str(&problems).p,
			    "f200: expected integer, got \"x\"\n"
			    "unknown argument \"f2000\" (did you mean \"f200\"?)\n"
			    "unknown argument \"f1\\u0000\" (did you mean \"f1\"?)");
	buf_done(&json);
	buf_done(&problems);
	arena_done(&ar);
}

ARENA_TEST(a_full_buffer_keeps_whole_lines)
{
	struct buf b;

	buf_init(&b, NULL, 60);
	assert_int_equal(
		field_check(fields, parse(ar, "{\"city\":7,\"fast\":1,\"i8\":[]}"), false, &b),
		CLEAT_EINVAL);
	assert_int_equal(buf_status(&b), CLEAT_OK);
	buf_done(&b);
	buf_init(&b, NULL, 200);
	assert_int_equal(
		field_check(fields, parse(ar, "{\"city\":7,\"fast\":1,\"i8\":[]}"), false, &b),
		CLEAT_EINVAL);
	assert_true(str_eqz(buf_str(&b), "city: expected string, got 7\n"
					 "fast: expected boolean, got 1\n"
					 "i8: expected integer, got []"));
	buf_done(&b);
}

TEST(memory_failure_is_reported)
{
	char json[4096] = "{\"city\":[1],\"path\":[";
	struct arena ar;
	struct buf b;

	for (int i = 0; i < 30; i++)
		strcat(json,
		       "[\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"],");
	strcat(json, "1]}");
	arena_init(&ar, NULL, 0);
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		int rc;

		buf_init(&b, &fa.hook, 1 << 20);
		rc = field_check(fields, parse(&ar, json), true, &b);
		assert_int_equal(rc, fail_alloc_hit(&fa) ? CLEAT_ENOMEM : CLEAT_EINVAL);
		buf_done(&b);
		assert_true(fa.round < 100);
	}
	arena_done(&ar);
}
