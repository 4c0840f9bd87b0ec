/* test_field_members.c - members that cannot hold everything: char[N], enums, integers of a few bits. What
 * their schema says, what is refused, and that they come back as they went in. */
#include "field/field.h"
#include "support.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum unit { CELSIUS, FAHRENHEIT = 7, BELOW = -2 };
enum plain { RED = 1, GREEN = 2 };

struct all {
	char code[4], names3[3];
	enum unit unit;
	enum plain colour;
	uint8_t tiny; /* a packed enum is like this */
	uint8_t u8;
	int16_t i16;
	uint32_t u32;
	int64_t i64;
	const char (*names)[3];
	size_t n_names;
	const enum plain *colours;
	size_t n_colours;
	const int8_t *small;
	size_t n_small;
};

static const cleat_enum units[] = {
	{ "celsius", CELSIUS }, { "fahrenheit", FAHRENHEIT }, { "below", BELOW }, CLEAT_ENUM_END
};
static const cleat_enum colours[] = {
	{ "red", RED }, { "green", GREEN }, { "rot", RED }, CLEAT_ENUM_END
};
static const cleat_enum tinies[] = { { "low", 0 }, { "high", 255 }, CLEAT_ENUM_END };

static const cleat_field fields[] = {
	CLEAT_FIELD(struct all, code, "Code", CLEAT_AT_LEAST(1)),
	CLEAT_ENUM(struct all, unit, units, "Scale", .fallback = "\"celsius\""),
	CLEAT_ENUM(struct all, colour, colours, NULL, .optional = true),
	CLEAT_ENUM(struct all, tiny, tinies, NULL, .optional = true),
	CLEAT_FIELD(struct all, u8, NULL, .optional = true),
	CLEAT_FIELD(struct all, i16, NULL, .optional = true, CLEAT_AT_MOST(9)),
	CLEAT_FIELD(struct all, u32, NULL, .optional = true),
	CLEAT_FIELD(struct all, i64, NULL, .optional = true),
	CLEAT_ARRAY(struct all, names, n_names, NULL, .optional = true, CLEAT_AT_MOST(2)),
	CLEAT_ENUM_ARRAY(struct all, colours, n_colours, colours, NULL, .optional = true),
	CLEAT_ARRAY(struct all, small, n_small, NULL, .optional = true),
	CLEAT_FIELD_END,
};

TEST(a_schema_says_what_a_member_can_hold)
{
	char *schema = cleat_fields_schema(fields, NULL);

	assert_string_equal(
		schema,
		"{\"type\":\"object\",\"properties\":{"
		"\"code\":{\"type\":\"string\",\"description\":\"Code\",\"minLength\":1,\"maxLength\":3},"
		"\"unit\":{\"type\":\"string\",\"description\":\"Scale\","
		"\"enum\":[\"celsius\",\"fahrenheit\",\"below\"],\"default\":\"celsius\"},"
		"\"colour\":{\"type\":\"string\",\"enum\":[\"red\",\"green\",\"rot\"]},"
		"\"tiny\":{\"type\":\"string\",\"enum\":[\"low\",\"high\"]},"
		"\"u8\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":255},"
		"\"i16\":{\"type\":\"integer\",\"minimum\":-32768,\"maximum\":9},"
		"\"u32\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":4294967295},"
		"\"i64\":{\"type\":\"integer\"},"
		"\"names\":{\"type\":\"array\",\"maxItems\":2,\"items\":{\"type\":\"string\","
		"\"maxLength\":2}},"
		"\"colours\":{\"type\":\"array\",\"items\":{\"type\":\"string\","
		"\"enum\":[\"red\",\"green\",\"rot\"]}},"
		"\"small\":{\"type\":\"array\",\"items\":{\"type\":\"integer\",\"minimum\":-128,"
		"\"maximum\":127}}},"
		"\"required\":[\"code\"]}");
	free(schema);
}

TEST(a_signature_leaves_out_that_an_integer_has_32_bits)
{
	static const cleat_field some[] = {
		{ .name = "code", .type = CLEAT_T_CHARS, .width = 4, .record = 16 },
		{ .name = "u8", .type = CLEAT_T_UINT, .width = 1, .record = 16 },
		{ .name = "u32", .type = CLEAT_T_UINT, .width = 4, .record = 16 },
		{ .name = "i32", .type = CLEAT_T_INT, .width = 4, .record = 16 },
		CLEAT_FIELD_END,
	};
	char *schema = cleat_fields_schema(some, NULL);
	cleat_doc *doc = cleat_doc_parse(schema, strlen(schema), NULL, NULL, NULL);
	char *signature = cleat_signature_print("f", cleat_doc_root(doc), false, NULL);

	assert_string_equal(
		signature,
		"f(code: string ..3, u8: integer 0..255, u32: integer 0.., i32: integer)");
	free(signature);
	cleat_doc_free(doc);
	free(schema);
}

/* What decoding says of a document; "" when it fits. */
static const char *judge(const char *json, struct all *ret, cleat_doc **ret_doc)
{
	static cleat_error err;

	err = (cleat_error){ 0 };
	*ret_doc = cleat_doc_parse(json, strlen(json), NULL, NULL, NULL);
	assert_non_null(*ret_doc);
	cleat_fields_decode(fields, *ret_doc, ret, &err);
	return err.message;
}

TEST(what_a_member_cannot_hold_is_refused_never_cut)
{
	static const struct {
		const char *json, *said;
	} rows[] = {
		{ "{'code':'abc'}", "" },
		{ "{'code':'\xC3\xA9x'}", "" },
		{ "{'code':'abcd'}",
		  "code: expected string of at most 3 bytes in UTF-8, got 4 bytes" },
		/* two characters, four bytes: the schema would let it pass */
		{ "{'code':'\xC3\xA9\xC3\xA9'}",
		  "code: expected string of at most 3 bytes in UTF-8, got 4 bytes" },
		{ "{'code':''}", "code: expected string of 1 to 3 characters, got 0 characters" },
		{ "{'code':5}", "code: expected string of 1 to 3 characters, got 5" },
		{ "{}", "code: required, but missing (string of 1 to 3 characters \"Code\")" },
		{ "{'code':'a','unit':'kelvin'}",
		  "unit: expected one of \"celsius\", \"fahrenheit\", \"below\", got \"kelvin\"" },
		{ "{'code':'a','unit':7}",
		  "unit: expected one of \"celsius\", \"fahrenheit\", \"below\", got 7" },
		{ "{'code':'a','u8':256}", "u8: expected integer between 0 and 255, got 256" },
		{ "{'code':'a','names':['ab','abc']}",
		  "names[1]: expected string of at most 2 bytes in UTF-8, got 3 bytes" },
		{ "{'code':'a','colours':['blue']}",
		  "colours[0]: expected one of \"red\", \"green\", \"rot\", got \"blue\"" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		char json[128];
		struct all r;
		cleat_doc *doc;

		snprintf(json, sizeof json, "%s", rows[i].json);
		for (char *p = json; *p; p++)
			*p = *p == '\'' ? '"' : *p;
		assert_string_equal(judge(json, &r, &doc), rows[i].said);
		cleat_doc_free(doc);
	}
}

TEST(what_went_in_comes_out)
{
	static const char json[] =
		"{\"code\":\"abc\",\"unit\":\"below\",\"colour\":\"green\",\"tiny\":\"high\","
		"\"u8\":255,\"i16\":-32768,\"u32\":4294967295,\"i64\":-1,\"names\":[\"ab\",\"\"],"
		"\"colours\":[\"green\",\"red\"],\"small\":[-128]}";
	struct all r;
	cleat_doc *in, *out;
	char *text;

	assert_string_equal(judge(json, &r, &in), "");
	assert_string_equal(r.code, "abc");
	assert_int_equal(r.unit, BELOW);
	assert_int_equal(r.colour, GREEN);
	assert_int_equal(r.tiny, 255);
	assert_string_equal(r.names[0], "ab");
	assert_int_equal(r.colours[1], RED);
	out = cleat_fields_encode(fields, &r, NULL);
	text = cleat_json_print(cleat_doc_root(out), NULL);
	assert_string_equal(text, json);
	free(text);
	cleat_doc_free(out);
	cleat_doc_free(in);

	assert_string_equal(judge("{\"code\":\"a\",\"colour\":\"rot\"}", &r, &in), "");
	assert_int_equal(r.unit, CELSIUS); /* the fallback */
	assert_int_equal(r.colour, RED);   /* two names, one value: the first comes out */
	cleat_doc_free(in);
}

TEST(what_cannot_be_said_is_not_encoded)
{
	struct all unknown = { .code = "a", .unit = (enum unit)3 };
	struct all endless = { .code = { 'a', 'b', 'c', 'd' } };
	cleat_error err;

	assert_null(cleat_fields_encode(fields, &unknown, &err));
	assert_string_equal(err.message, "unit: the value 3 has no name");
	assert_null(cleat_fields_encode(fields, &endless, &err));
	assert_string_equal(err.message, "code: no NUL at the end of the text");
}

TEST(tables_that_promise_too_much_are_refused)
{
	static const cleat_enum none[] = { CLEAT_ENUM_END };
	static const cleat_enum wide[] = { { "a", 256 }, CLEAT_ENUM_END };
	static const cleat_enum low[] = { { "a", -129 }, CLEAT_ENUM_END };
	static const cleat_enum twice[] = { { "a", 1 }, { "b", 2 }, { "a", 3 }, CLEAT_ENUM_END };
	static const struct {
		cleat_field f;
		const char *said;
	} rows[] = {
		{ CLEAT_FIELD(struct all, code, NULL, CLEAT_AT_MOST(4)),
		  "a bound is outside what the member can hold" },
		{ CLEAT_FIELD(struct all, code, NULL, .choices = "a|abcd"),
		  "a choice is longer than the member" },
		{ CLEAT_FIELD(struct all, code, NULL, .fallback = "\"abcd\""), "does not fit" },
		{ CLEAT_FIELD(struct all, unit, NULL, .names = units), "only an enum has names" },
		{ CLEAT_ENUM(struct all, unit, NULL, NULL), "use CLEAT_ENUM" },
		{ CLEAT_ENUM(struct all, unit, none, NULL), "an enum without a value" },
		{ CLEAT_ENUM(struct all, tiny, wide, NULL), "outside what the member can hold" },
		{ CLEAT_ENUM(struct all, tiny, low, NULL), "outside what the member can hold" },
		{ CLEAT_ENUM(struct all, tiny, twice, NULL), "a choice stands twice" },
		{ CLEAT_ENUM(struct all, tiny, tinies, NULL, CLEAT_RANGE(0, 1)), "no range" },
		{ CLEAT_ENUM(struct all, names3, tinies, NULL), "size does not go" },
		{ CLEAT_FIELD(struct all, u8, NULL, .reserved = { 0, 1 }), "newer Cleat" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		cleat_field table[2] = { rows[i].f };
		cleat_error err = { 0 };

		assert_int_not_equal(field_table_check(table, &err), CLEAT_OK);
		if (!strstr(err.message, rows[i].said))
			fail_msg("row %zu: %s", i, err.message);
	}
}

TEST(copies_and_forms_know_enums)
{
	cleat_field form[] = { CLEAT_ENUM(struct all, unit, units, "Scale",
					  .choice_titles = "Celsius|Fahrenheit|Below"),
			       CLEAT_FIELD_END };
	struct field_choices c;
	const cleat_field *copy;
	struct arena ar;
	struct str s;
	struct buf b;
	struct jw w;

	arena_init(&ar, NULL, 0);
	buf_init(&b, NULL, 1 << 16);
	jw_init(&w, &b);
	assert_int_equal(field_form_check(form, NULL), CLEAT_OK);
	copy = field_table_copy(&ar, form);
	assert_true(copy->names != units && copy->names[0].name != units[0].name);
	c = field_choices(copy);
	assert_true(choice_next(&c, &s) && str_eqz(s, "celsius"));
	field_write_schema(&w, copy, FIELD_SCHEMA_FORM);
	buf_putc(&b, '\0');
	assert_non_null(
		strstr(buf_str(&b).p, "\"oneOf\":[{\"const\":\"celsius\",\"title\":\"Celsius\"},"));
	buf_done(&b);
	arena_done(&ar);
}
