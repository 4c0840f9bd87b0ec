/* tests/unit/test_form.c - which JSON Schemas can be a form (2025-11-25 client/elicitation, requested
 * schema; PrimitiveSchemaDefinition of each revision).
 */
#include "field/form.h"
#include "support.h"
#include "test.h"
#include "json/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "" when it can, or why not. In both texts ' stands for ". */
static void expect(const char *schema, enum field_schema_style style, const char *why)
{
	char *json = support_json(schema), *message = support_json(why);
	const cleat_json *v;
	cleat_error err = { 0 };
	struct arena ar;
	int rc;

	arena_init(&ar, NULL, 0);
	assert_int_equal(json_parse(&ar, str_of(json), NULL, &v, NULL), CLEAT_OK);
	rc = form_check(v, style, &err);
	assert_int_equal(rc, *why ? CLEAT_EINVAL : CLEAT_OK);
	assert_string_equal(err.message, message);
	assert_int_equal(form_check(v, style, NULL), rc);
	arena_done(&ar);
	free(json);
	free(message);
}

/* A form of one property. */
static void property(const char *schema, const char *why)
{
	char form[1024], message[512];

	snprintf(form, sizeof form, "{'type':'object','properties':{'a':%s}}", schema);
	snprintf(message, sizeof message, "%s%s", *why ? "property 'a': " : "", why);
	expect(form, FIELD_SCHEMA_FORM, message);
}

static void whole(const char *schema, const char *why)
{
	expect(schema, FIELD_SCHEMA_FORM, why);
	expect(schema, FIELD_SCHEMA_FORM_2025_06_18, why);
}

TEST(a_form_is_a_flat_object)
{
	whole("{'type':'object','properties':{}}", "");
	whole("{'$schema':'x','type':'object','properties':{},'required':['a'],'title':"
	      "'t','additionalProperties':false,'x-mine':{}}",
	      "");
	whole("true", "a form must say 'type': 'object'");
	whole("[]", "a form must say 'type': 'object'");
	whole("{}", "a form must say 'type': 'object'");
	whole("{'type':['object'],'properties':{}}", "a form must say 'type': 'object'");
	whole("{'type':'array','properties':{}}", "a form must say 'type': 'object'");
	whole("{'type':'object'}", "a form needs 'properties'");
	whole("{'type':'object','properties':[]}", "a form needs 'properties'");
}

TEST(nothing_else_may_speak_of_the_whole)
{
	static const char *const members[][2] = {
		{ "$ref", "'#/x'" },
		{ "$dynamicRef", "'#x'" },
		{ "$defs", "{}" },
		{ "definitions", "{}" },
		{ "allOf", "[{}]" },
		{ "anyOf", "[{}]" },
		{ "oneOf", "[{}]" },
		{ "not", "{}" },
		{ "if", "{}" },
		{ "dependentSchemas", "{}" },
		{ "patternProperties", "{}" },
		{ "propertyNames", "{}" },
		{ "additionalProperties", "{}" },
		{ "dependencies", "{}" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(members); i++) {
		char schema[128], why[128];

		snprintf(schema, sizeof schema, "{'type':'object','properties':{},'%s':%s}",
			 members[i][0], members[i][1]);
		snprintf(why, sizeof why, "a form is flat, so '%s' cannot be used in it",
			 members[i][0]);
		whole(schema, why);
	}
}

/* The examples of the specification, and their bounds. */
TEST(primitives_are_taken)
{
	property("{'type':'string','title':'Display Name','description':'Text',"
		 "'minLength':3,'maxLength':50,'pattern':'^[A-Za-z]+$','format':'email',"
		 "'default':'user@example.com'}",
		 "");
	property("{'type':'number','minimum':0,'maximum':100,'default':50}", "");
	property("{'type':'integer','exclusiveMinimum':0,'multipleOf':2}", "");
	property("{'type':'boolean','default':false}", "");
	property("{'type':'string','enum':['Red'],'enumNames':['R'],'default':'Red'}", "");
	property("{'type':'string','oneOf':[{'const':'#FF0000','title':'Red'}]}", "");
	property("{'type':'array','minItems':1,'items':{'type':'string','enum':["
		 "'Red']},'default':['Red']}",
		 "");
	property("{'type':'array','items':{'anyOf':[{'const':'#F00','title':'Red'}]}}", "");
}

TEST(everything_else_is_refused)
{
	static const char only[] = "a form has only strings, numbers, booleans and choices";
	static const char arrays[] =
		"a form has no arrays except of choices: 'items' needs 'type': "
		"'string' with 'enum', or 'anyOf' with titles";
	static const char titled[] =
		"'oneOf' must be a list of {'const': ..., 'title': ...}, all strings";

	property("true", only);
	property("{}", only);
	property("{'type':'object','properties':{}}", only);
	property("{'type':'null'}", only);
	property("{'type':['string','null']}", only);
	property("{'$ref':'#/properties/b'}", only);
	property("{'type':'string','format':'ipv4'}",
		 "a form knows the formats email, uri, date and date-time");
	property("{'type':'string','format':7}",
		 "a form knows the formats email, uri, date and date-time");
	property("{'type':'string','enum':['a',1]}", "'enum' must be a list of strings");
	property("{'type':'string','enum':'a'}", "'enum' must be a list of strings");
	property("{'type':'string','oneOf':{}}", titled);
	property("{'type':'string','oneOf':[{'const':'a'}]}", titled);
	property("{'type':'string','oneOf':[{'const':1,'title':'a'}]}", titled);
	property("{'type':'string','not':{'const':'a'}}",
		 "a form is flat, so 'not' cannot be used here");
	property("{'type':'number','oneOf':[{'const':1,'title':'a'}]}",
		 "a form is flat, so 'oneOf' cannot be used here");
	property("{'type':'boolean','$ref':'#'}", "a form is flat, so '$ref' cannot be used here");
	property("{'type':'array'}", arrays);
	property("{'type':'array','items':true}", arrays);
	property("{'type':'array','items':{'type':'string'}}", arrays);
	property("{'type':'array','items':{'type':'integer','enum':[1]}}", arrays);
	property("{'type':'array','items':[{'type':'string','enum':['a']}]}", arrays);
	property("{'type':'array','items':{'anyOf':[{'type':'string'}]}}", arrays);
	property("{'type':'array','items':{'type':'string','enum':['a'],'not':{}}}",
		 "a form is flat, so 'not' cannot be used here");
	property("{'type':'array','items':{'type':'string','enum':['a']},'contains':{}}",
		 "a form is flat, so 'contains' cannot be used here");
}

TEST(the_property_is_named_as_far_as_is_sensible)
{
	whole("{'type':'object','properties':{'fine':{'type':'string'},"
	      "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa':1}}",
	      "property 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa': a form "
	      "has only strings, numbers, booleans and choices");
}

TEST(arrays_came_with_2025_11_25)
{
	expect("{'type':'object','properties':{'a':{'type':'array','items':{'type':"
	       "'string','enum':['x']}}}}",
	       FIELD_SCHEMA_FORM_2025_06_18,
	       "property 'a': revision 2025-06-18 has no arrays in forms");
}

/* Every form that is made of fields would be taken as a schema as well. */
TEST(forms_of_fields_are_forms)
{
	static const cleat_field fields[] = {
		{ .name = "s", .type = CLEAT_T_STRING, .format = "uri", .fallback = "\"x:y\"" },
		{ .name = "i", .type = CLEAT_T_INT, .bounds = 3, .min = 1, .max = 2 },
		{ .name = "u", .type = CLEAT_T_UINT, .optional = true },
		{ .name = "r", .type = CLEAT_T_REAL },
		{ .name = "b", .type = CLEAT_T_BOOL },
		{ .name = "c", .type = CLEAT_T_STRING, .choices = "a|b" },
		{ .name = "t", .type = CLEAT_T_STRING, .choices = "a|b", .choice_titles = "A|B" },
		CLEAT_FIELD_END
	};
	static const cleat_field lists[] = {
		{ .name = "c", .type = CLEAT_T_STRING, .array = true, .choices = "a|b" },
		{ .name = "t",
		  .type = CLEAT_T_STRING,
		  .array = true,
		  .choices = "a|b",
		  .choice_titles = "A|B" },
		CLEAT_FIELD_END
	};
	static const struct {
		const cleat_field *fields;
		enum field_schema_style style;
	} cases[] = { { fields, FIELD_SCHEMA_FORM },
		      { fields, FIELD_SCHEMA_FORM_2025_06_18 },
		      { lists, FIELD_SCHEMA_FORM },
		      { NULL, FIELD_SCHEMA_FORM } };

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct buf b;
		struct jw w;

		assert_int_equal(field_form_check(cases[i].fields, NULL), CLEAT_OK);
		buf_init(&b, NULL, 1 << 16);
		jw_init(&w, &b);
		field_write_schema(&w, cases[i].fields, cases[i].style);
		buf_putc(&b, '\0');
		expect(buf_str(&b).p, cases[i].style, "");
		buf_done(&b);
	}
}
