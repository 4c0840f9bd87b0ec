/* tests/unit/test_field_schema.c - field tables as JSON Schema, for tools and for forms. */
#include "field/field.h"
#include "support.h"
#include "test.h"
#include "json/parse.h"

#include <cleat/schema.h>
#include <stdlib.h>
#include <string.h>

struct point {
	double x;
	int8_t y;
};

struct args {
	const char *city, *unit, *mail;
	int days;
	bool fast;
	double ratio;
	unsigned count;
	const cleat_json *any;
	struct point point;
	const char *const *tags;
	size_t ntags;
	const unsigned *numbers;
	size_t nnumbers;
	const struct point *path;
	size_t npath;
};

static const cleat_field point_fields[] = {
	CLEAT_FIELD(struct point, x, "Right"),
	CLEAT_FIELD(struct point, y, NULL, .optional = true, CLEAT_AT_LEAST(-3)), CLEAT_FIELD_END
};

/* Whatever is written is a schema that the engine accepts. */
static void assert_compiles(const char *text)
{
	cleat_error err;
	cleat_schema *schema = cleat_schema_parse(text, strlen(text), NULL, &err);

	if (!schema)
		fail_msg("%s: %s", text, err.message);
	cleat_schema_free(schema);
}

/* In the schema ' stands for ". */
static void expect(const cleat_field *fields, enum field_schema_style style, const char *wanted)
{
	char *schema = support_json(wanted);
	struct buf b;
	struct jw w;

	assert_int_equal(field_table_check(fields, NULL), CLEAT_OK);
	buf_init(&b, NULL, 1 << 20);
	jw_init(&w, &b);
	field_write_schema(&w, fields, style);
	buf_putc(&b, '\0');
	assert_int_equal(buf_status(&b), CLEAT_OK);
	assert_string_equal(buf_str(&b).p, schema);
	assert_compiles(schema);
	buf_done(&b);
	free(schema);
}

TEST(an_empty_table_has_no_properties)
{
	static const cleat_field none[] = { CLEAT_FIELD_END };

	expect(NULL, FIELD_SCHEMA_TOOL, "{'type':'object','properties':{}}");
	expect(none, FIELD_SCHEMA_TOOL, "{'type':'object','properties':{}}");
}

TEST(scalars_keep_what_was_declared)
{
	static const cleat_field t[] = {
		CLEAT_FIELD(struct args, city, "City name", CLEAT_RANGE(1, 80)),
		CLEAT_FIELD(struct args, unit, "Scale", .optional = true,
			    .choices = "celsius|fahrenheit", .choice_titles = "C|F"),
		CLEAT_FIELD(struct args, mail, NULL, .format = "email", .title = "Mail"),
		CLEAT_FIELD(struct args, days, "Days", CLEAT_RANGE(1, 14), .fallback = "1"),
		CLEAT_FIELD(struct args, fast, NULL, .fallback = "true"),
		CLEAT_FIELD(struct args, ratio, NULL, CLEAT_RANGE(0.25, 1e30)),
		CLEAT_FIELD(struct args, count, NULL, CLEAT_AT_MOST(9)),
		CLEAT_FIELD(struct args, any, "Anything", .fallback = "{\"a\":\n[1]}"),
		CLEAT_FIELD_END
	};

	expect(t, FIELD_SCHEMA_TOOL,
	       "{'type':'object','properties':{"
	       "'city':{'type':'string','description':'City name','minLength':1,"
	       "'maxLength':80},"
	       "'unit':{'type':'string','description':'Scale',"
	       "'enum':['celsius','fahrenheit']},"
	       "'mail':{'type':'string','title':'Mail','format':'email'},"
	       "'days':{'type':'integer','description':'Days','minimum':1,"
	       "'maximum':14,'default':1},"
	       "'fast':{'type':'boolean','default':true},"
	       "'ratio':{'type':'number','minimum':0.25,'maximum':1e30},"
	       "'count':{'type':'integer','minimum':0,'maximum':9},"
	       "'any':{'description':'Anything','default':{'a': [1]}}},"
	       "'required':['city','mail','ratio','count']}");
}

TEST(records_and_arrays_nest)
{
	static const cleat_field t[] = {
		CLEAT_RECORD(struct args, point, point_fields, "Where"),
		CLEAT_ARRAY(struct args, tags, ntags, "Tags", .optional = true, CLEAT_RANGE(1, 5),
			    .choices = "a|b"),
		CLEAT_ARRAY(struct args, numbers, nnumbers, NULL, .fallback = "[]"),
		CLEAT_RECORD_ARRAY(struct args, path, npath, point_fields, NULL), CLEAT_FIELD_END
	};
	static const char point[] =
		"\"properties\":{\"x\":{\"type\":\"number\",\"description\":\"Right\"},"
		"\"y\":{\"type\":\"integer\",\"minimum\":-3,\"maximum\":127}},\"required\":[\"x\"]}";
	char wanted[2048];

	snprintf(
		wanted, sizeof wanted,
		"{\"type\":\"object\",\"properties\":{"
		"\"point\":{\"type\":\"object\",\"description\":\"Where\",%s,"
		"\"tags\":{\"type\":\"array\",\"description\":\"Tags\",\"minItems\":1,\"maxItems\":5,"
		"\"items\":{\"type\":\"string\",\"enum\":[\"a\",\"b\"]}},"
		"\"numbers\":{\"type\":\"array\",\"items\":{\"type\":\"integer\",\"minimum\":0,"
		"\"maximum\":4294967295},\"default\":[]},"
		"\"path\":{\"type\":\"array\",\"items\":{\"type\":\"object\",%s}},"
		"\"required\":[\"point\",\"path\"]}",
		point, point);
	expect(t, FIELD_SCHEMA_TOOL, wanted);
}

TEST(names_and_texts_are_escaped)
{
	static const cleat_field t[] = {
		{ .name = "a\"b\n", .type = CLEAT_T_RECORD, .doc = "\t\"" }, CLEAT_FIELD_END
	};

	expect(t, FIELD_SCHEMA_TOOL,
	       "{'type':'object','properties':{'a\\'b\\n':{'type':'object',"
	       "'description':'\\t\\''}},'required':['a\\'b\\n']}");
}

static const cleat_field form[] = {
	{ .name = "name",
	  .type = CLEAT_T_STRING,
	  .title = "Name",
	  .doc = "Yours",
	  .bounds = 3,
	  .min = 1,
	  .max = 9,
	  .fallback = "\"x\"" },
	{ .name = "mail", .type = CLEAT_T_STRING, .format = "email" },
	{ .name = "age", .type = CLEAT_T_INT, .bounds = 1, .min = 18, .fallback = "20" },
	{ .name = "share", .type = CLEAT_T_REAL, .bounds = 2, .max = 0.5 },
	{ .name = "sure", .type = CLEAT_T_BOOL, .fallback = "false" },
	{ .name = "plain", .type = CLEAT_T_STRING, .choices = "a|b", .fallback = "\"a\"" },
	{ .name = "titled", .type = CLEAT_T_STRING, .choices = "a|b", .choice_titles = "A|B" },
	CLEAT_FIELD_END
};

static const cleat_field lists[] = { { .name = "plain",
				       .type = CLEAT_T_STRING,
				       .array = true,
				       .choices = "a|b",
				       .bounds = 3,
				       .min = 1,
				       .max = 2,
				       .fallback = "[\"a\"]" },
				     { .name = "titled",
				       .type = CLEAT_T_STRING,
				       .array = true,
				       .choices = "a|b",
				       .choice_titles = "A|B",
				       .title = "T",
				       .optional = true },
				     CLEAT_FIELD_END };

/* 2025-06-18 PrimitiveSchemaDefinition: enum with enumNames, a default for booleans alone. */
TEST(forms_of_2025_06_18)
{
	assert_int_equal(field_form_check(form, NULL), CLEAT_OK);
	assert_int_equal(field_form_fits(form, FIELD_SCHEMA_FORM_2025_06_18, NULL), CLEAT_OK);
	expect(form, FIELD_SCHEMA_FORM_2025_06_18,
	       "{'type':'object','properties':{"
	       "'name':{'type':'string','title':'Name','description':'Yours',"
	       "'minLength':1,'maxLength':9},"
	       "'mail':{'type':'string','format':'email'},"
	       "'age':{'type':'integer','minimum':18},"
	       "'share':{'type':'number','maximum':0.5},"
	       "'sure':{'type':'boolean','default':false},"
	       "'plain':{'type':'string','enum':['a','b']},"
	       "'titled':{'type':'string','enum':['a','b'],"
	       "'enumNames':['A','B']}},"
	       "'required':['mail','share','titled']}");
}

/* 2025-11-25 and 2026-07-28: TitledSingleSelectEnumSchema, TitledMultiSelectEnumSchema, defaults. */
TEST(forms_since_2025_11_25)
{
	expect(form, FIELD_SCHEMA_FORM,
	       "{'type':'object','properties':{"
	       "'name':{'type':'string','title':'Name','description':'Yours',"
	       "'minLength':1,'maxLength':9,'default':'x'},"
	       "'mail':{'type':'string','format':'email'},"
	       "'age':{'type':'integer','minimum':18,'default':20},"
	       "'share':{'type':'number','maximum':0.5},"
	       "'sure':{'type':'boolean','default':false},"
	       "'plain':{'type':'string','enum':['a','b'],'default':'a'},"
	       "'titled':{'type':'string','oneOf':[{'const':'a','title':'A'},"
	       "{'const':'b','title':'B'}]}},"
	       "'required':['mail','share','titled']}");
	expect(lists, FIELD_SCHEMA_FORM,
	       "{'type':'object','properties':{"
	       "'plain':{'type':'array','minItems':1,'maxItems':2,"
	       "'items':{'type':'string','enum':['a','b']},'default':['a']},"
	       "'titled':{'type':'array','title':'T','items':{'anyOf':["
	       "{'const':'a','title':'A'},{'const':'b','title':'B'}]}}}}");
}

TEST(arrays_do_not_fit_forms_of_2025_06_18)
{
	cleat_error err;

	assert_int_equal(field_form_check(lists, NULL), CLEAT_OK);
	assert_int_equal(field_form_fits(lists, FIELD_SCHEMA_FORM, NULL), CLEAT_OK);
	assert_int_equal(field_form_fits(lists, FIELD_SCHEMA_FORM_2025_06_18, &err),
			 CLEAT_EUNSUPPORTED);
	assert_string_equal(err.message,
			    "field \"plain\": revision 2025-06-18 has no arrays in forms");
}

static void refuse_form(const cleat_field *f, const char *reason)
{
	cleat_field table[2] = { *f };
	cleat_error err;

	assert_int_equal(field_form_check(table, &err), CLEAT_EINVAL);
	assert_non_null(strstr(err.message, reason));
}

TEST(forms_are_flat)
{
	refuse_form(&(cleat_field){ .name = "o", .type = CLEAT_T_RECORD }, "only strings, numbers");
	refuse_form(&(cleat_field){ .name = "o", .type = CLEAT_T_JSON }, "only strings, numbers");
	refuse_form(&(cleat_field){ .name = "o", .type = CLEAT_T_STRING, .array = true },
		    "no arrays except of choices");
	refuse_form(&(cleat_field){ .name = "o", .type = CLEAT_T_STRING, .format = "ipv4" },
		    "knows the formats");
	refuse_form(&(cleat_field){ .name = "o", .type = 99 }, "unknown type");
	assert_int_equal(field_form_check(NULL, NULL), CLEAT_OK);
}

/* Every member must be one that the revision's own definition names, and none that it requires may
 * be missing. */
static void obeys(const cleat_json *definition, const cleat_json *property)
{
	const cleat_json *known = cleat_json_get(definition, "properties");
	cleat_json_iter it = cleat_json_each(property);

	assert_non_null(known);
	while (cleat_json_next(&it))
		assert_non_null(json_get(known, json_str(it.key)));
	it = cleat_json_each(cleat_json_get(definition, "required"));
	while (cleat_json_next(&it))
		assert_non_null(json_get(property, json_str(it.value)));
	assert_true(!cleat_json_get(property, "items") ||
		    cleat_json_size(cleat_json_get(known, "items")));
}

struct definition {
	const char *field, *name;
};

static void compare(const char *revision, const char *defs, enum field_schema_style style,
		    const cleat_field *fields, const struct definition *wanted)
{
	char path[512], name[64];
	const cleat_json *spec, *schema;
	struct arena ar;
	struct buf b;
	struct jw w;
	char *text;
	size_t n;

	snprintf(name, sizeof name, "mcp-schema/%s/schema.json", revision);
	if (!support_data_path(path, sizeof path, name))
		skip();
	text = support_read_file(path, &n);
	assert_non_null(text);
	arena_init(&ar, NULL, 0);
	buf_init(&b, NULL, 1 << 20);
	jw_init(&w, &b);
	field_write_schema(&w, fields, style);
	assert_int_equal(json_parse(&ar, (struct str){ text, n }, NULL, &spec, NULL), CLEAT_OK);
	assert_int_equal(json_parse(&ar, buf_str(&b), NULL, &schema, NULL), CLEAT_OK);
	for (; wanted->field; wanted++)
		obeys(cleat_json_get(cleat_json_get(spec, defs), wanted->name),
		      cleat_json_get(cleat_json_get(schema, "properties"), wanted->field));
	buf_done(&b);
	arena_done(&ar);
	free(text);
}

static const struct definition scalar_definitions[] = {
	{ "name", "StringSchema" },
	{ "mail", "StringSchema" },
	{ "age", "NumberSchema" },
	{ "share", "NumberSchema" },
	{ "sure", "BooleanSchema" },
	{ "plain", "UntitledSingleSelectEnumSchema" },
	{ "titled", "TitledSingleSelectEnumSchema" },
	{ NULL, NULL },
};

static const struct definition list_definitions[] = {
	{ "plain", "UntitledMultiSelectEnumSchema" },
	{ "titled", "TitledMultiSelectEnumSchema" },
	{ NULL, NULL },
};

TEST(forms_obey_the_published_schema_of_2025_06_18)
{
	static const struct definition old[] = {
		{ "name", "StringSchema" },  { "mail", "StringSchema" },
		{ "age", "NumberSchema" },   { "share", "NumberSchema" },
		{ "sure", "BooleanSchema" }, { "plain", "EnumSchema" },
		{ "titled", "EnumSchema" },  { NULL, NULL },
	};

	compare("2025-06-18", "definitions", FIELD_SCHEMA_FORM_2025_06_18, form, old);
}

TEST(forms_obey_the_published_schema_of_2025_11_25)
{
	compare("2025-11-25", "$defs", FIELD_SCHEMA_FORM, form, scalar_definitions);
	compare("2025-11-25", "$defs", FIELD_SCHEMA_FORM, lists, list_definitions);
}

TEST(forms_obey_the_published_schema_of_2026_07_28)
{
	compare("2026-07-28", "$defs", FIELD_SCHEMA_FORM, form, scalar_definitions);
	compare("2026-07-28", "$defs", FIELD_SCHEMA_FORM, lists, list_definitions);
}

TEST(the_public_function_gives_text_or_a_reason)
{
	static const cleat_field wrong[] = { { .name = "", .type = CLEAT_T_INT }, CLEAT_FIELD_END };
	cleat_error err;
	char *text = cleat_fields_schema(point_fields, &err);

	assert_non_null(text);
	assert_string_equal(text, "{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"number\","
				  "\"description\":\"Right\"},\"y\":{\"type\":\"integer\","
				  "\"minimum\":-3,\"maximum\":127}},\"required\":[\"x\"]}");
	free(text);
	assert_null(cleat_fields_schema(wrong, &err));
	assert_int_equal(err.status, CLEAT_EINVAL);
	assert_string_equal(err.message, "field 1 has no name");
	assert_null(cleat_fields_schema(wrong, NULL));
	text = cleat_fields_schema(NULL, NULL);
	assert_string_equal(text, "{\"type\":\"object\",\"properties\":{}}");
	free(text);
}

TEST(memory_failure_latches_in_the_buffer)
{
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct buf b;
		struct jw w;

		buf_init(&b, &fa.hook, 1 << 20);
		jw_init(&w, &b);
		field_write_schema(&w, form, FIELD_SCHEMA_FORM);
		assert_int_equal(buf_status(&b), fail_alloc_hit(&fa) ? CLEAT_ENOMEM : CLEAT_OK);
		buf_done(&b);
		assert_true(fa.round < 100);
	}
}
