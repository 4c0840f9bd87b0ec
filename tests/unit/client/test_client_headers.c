/* test_client_headers.c - headers that a client makes of arguments, and tools that it leaves out because their
 * annotations are wrong (2026-07-28 basic/transports/streamable-http "Schema Extension", "Value Encoding",
 * "Client Behavior"). The cases named conformance are those of the official suite, http-custom-headers and
 * http-invalid-tool-headers.
 */
#include "test.h"
#include "unit/client/toolbook_rig.h"

/* ---- headers ---------------------------------------------------------------------------------- */

#define VERBOSE             "'verbose':{'type':'boolean','x-mcp-header':'Verbose'},"
#define STRING(key, header) "'" key "':{'type':'string','x-mcp-header':'" header "'},"

/* conformance: http-custom-headers. All encodings at once. */
BOOK_TEST(arguments_become_headers)
{
	static const char tool[] =
		"{'name':'test_custom_headers','inputSchema':{'type':'object','properties':{" REGION
			PRIORITY VERBOSE
		"'debug':{'type':'boolean','x-mcp-header':'Debug'}," STRING("empty_val", "EmptyVal")
			STRING("method_val", "Method") "'float_val':{'type':'number'}," STRING(
				"non_ascii_val",
				"NonAscii") STRING("whitespace_val",
						   "Whitespace") STRING("leading_space_val",
									"LeadingSpace")
				STRING("trailing_space_val", "TrailingSpace") STRING(
					"internal_space_val",
					"InternalSpace") STRING("control_char_val", "ControlChar")
					STRING("crlf_val", "CrLf") STRING(
						"tab_val",
						"Tab") "'query':{'type':'string'}},"
						       "'required':['region','priority','query']}}";
	static const char args[] =
		"{'region':'us-west1','priority':42,'verbose':false,'debug':true,'empty_val':'',"
		"'method_val':'test-method','float_val':3.14159,'non_ascii_val':'Hello, "
		"\xE4\xB8\x96\xE7\x95\x8C','whitespace_val':' padded ','leading_space_val':' us-west1',"
		"'trailing_space_val':'us-west1 ','internal_space_val':'us west 1',"
		"'control_char_val':'line1\\nline2','crlf_val':'line1\\r\\nline2',"
		"'tab_val':'\\tindented','query':'SELECT * FROM users'}";

	assert_int_equal(learn(b, tool, err), CLEAT_OK);
	expect_fields(b, "test_custom_headers", args,
		      "mcp-param-region: us-west1\n"
		      "mcp-param-priority: 42\n"
		      "mcp-param-verbose: false\n"
		      "mcp-param-debug: true\n"
		      "mcp-param-emptyval: =?base64?"
		      "?=\n"
		      "mcp-param-method: test-method\n"
		      "mcp-param-nonascii: =?base64?SGVsbG8sIOS4lueVjA==?=\n"
		      "mcp-param-whitespace: =?base64?IHBhZGRlZCA=?=\n"
		      "mcp-param-leadingspace: =?base64?IHVzLXdlc3Qx?=\n"
		      "mcp-param-trailingspace: =?base64?dXMtd2VzdDEg?=\n"
		      "mcp-param-internalspace: us west 1\n"
		      "mcp-param-controlchar: =?base64?bGluZTEKbGluZTI=?=\n"
		      "mcp-param-crlf: =?base64?bGluZTENCmxpbmUy?=\n"
		      "mcp-param-tab: =?base64?CWluZGVudGVk?=\n");
}

TEST(values_are_converted_by_their_type)
{
	static const struct {
		const char *properties, *args, *wanted; /* NULL: CLEAT_EINVAL */
	} rows[] = {
		/* conformance: null has no header; absent has none */
		{ REGION PRIORITY VERBOSE "'query':{'type':'string'}",
		  "{'region':'us-east1','priority':1,'verbose':null,'query':'SELECT 1'}",
		  "mcp-param-region: us-east1\nmcp-param-priority: 1\n" },
		{ REGION "'q':{}", "{}", "" },
		{ REGION "'q':{}", NULL, "" },
		{ REGION "'q':{}", "{'Region':'x'}", "" },
		/* the example table of Value Encoding */
		{ REGION "'q':{}", "{'region':'=?base64?literal?='}",
		  "mcp-param-region: =?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=\n" },
		{ REGION "'q':{}", "{'region':'a\\u0000b'}",
		  "mcp-param-region: =?base64?YQBi?=\n" },
		/* integers in decimal, however they are written, in the range that is safe */
		{ PRIORITY "'q':{}", "{'priority':-7}", "mcp-param-priority: -7\n" },
		{ PRIORITY "'q':{}", "{'priority':42.0}", "mcp-param-priority: 42\n" },
		{ PRIORITY "'q':{}", "{'priority':1e2}", "mcp-param-priority: 100\n" },
		{ PRIORITY "'q':{}", "{'priority':-0}", "mcp-param-priority: 0\n" },
		{ PRIORITY "'q':{}", "{'priority':9007199254740991}",
		  "mcp-param-priority: 9007199254740991\n" },
		{ PRIORITY "'q':{}", "{'priority':-9007199254740991}",
		  "mcp-param-priority: -9007199254740991\n" },
		{ PRIORITY "'q':{}", "{'priority':9007199254740992}", NULL },
		{ PRIORITY "'q':{}", "{'priority':-9007199254740992}", NULL },
		{ PRIORITY "'q':{}", "{'priority':9223372036854775807}", NULL },
		{ PRIORITY "'q':{}", "{'priority':1e400}", NULL },
		{ PRIORITY "'q':{}", "{'priority':1.5}", NULL },
		{ REGION "'q':{}", "{'region':['a']}", NULL },
		{ REGION "'q':{}", "{'region':{}}", NULL },
		/* Schema Extension: "the instance value at the exact property path" */
		{ "'a':{'type':'object','properties':{'b':{'properties':{'c':{'type':'string',"
		  "'x-mcp-header':'Deep'}}}}}",
		  "{'a':{'b':{'c':'found'}},'c':'no','b':{'c':'no'}}", "mcp-param-deep: found\n" },
		{ "'a':{'properties':{'b':{'type':'string','x-mcp-header':'B'}}}", "{'a':'x'}",
		  "" },
		{ "'a':{'properties':{'b':{'type':'string','x-mcp-header':'B'}}}", "{'a':null}",
		  "" },
		{ "'a':{'properties':{'b':{'type':'string','x-mcp-header':'B'}}}", "{'a':[1]}",
		  "" },
		{ "'a':{'properties':{'b':{'type':'string','x-mcp-header':'B'}}}", "{'b':'x'}",
		  "" },
		/* properties with odd names; arguments that are no object */
		{ "'':{'type':'string','x-mcp-header':'E'}", "{'':'x'}", "mcp-param-e: x\n" },
		{ "'x-mcp-header':{'type':'string','x-mcp-header':'X'}", "{'x-mcp-header':'v'}",
		  "mcp-param-x: v\n" },
		{ "'a\\u0000b':{'type':'string','x-mcp-header':'N'}", "{'a':'no','a\\u0000b':'y'}",
		  "mcp-param-n: y\n" },
		{ REGION "'q':{}", "['region']", "" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		struct toolbook *b = open_book(NULL);
		cleat_error err;
		struct buf out;

		assert_int_equal(learn_properties(b, rows[i].properties, &err), CLEAT_OK);
		if (rows[i].wanted) {
			expect_fields(b, "t", rows[i].args, rows[i].wanted);
		} else {
			buf_init(&out, NULL, 1000);
			assert_int_equal(fields(b, "t", rows[i].args, &out, &err), CLEAT_EINVAL);
			assert_non_null(strstr(err.message, "mcp-param-"));
			assert_int_equal(buf_size(&out), 0);
		}
		toolbook_free(b);
	}
}

/* ---- tools to be left out --------------------------------------------------------------------- */

TEST(wrong_annotations_refuse_the_tool_and_no_other)
{
	static const struct {
		const char *name, *properties;
	} rows[] = {
		/* conformance: http-invalid-tool-headers */
		{ "invalid_empty_header", ONE("") },
		{ "invalid_object_header", "'data':{'type':'object','x-mcp-header':'Data'}" },
		{ "invalid_array_header",
		  "'items':{'type':'array','items':{'type':'string'},'x-mcp-header':'Items'}" },
		{ "invalid_null_header", "'nil':{'type':'null','x-mcp-header':'Nil'}" },
		{ "invalid_number_header", "'score':{'type':'number','x-mcp-header':'Score'}" },
		{ "invalid_duplicate_same_case",
		  "'field1':{'type':'string','x-mcp-header':'Region'},"
		  "'field2':{'type':'string','x-mcp-header':'Region'}" },
		{ "invalid_duplicate_diff_case",
		  "'field1':{'type':'string','x-mcp-header':'MyField'},"
		  "'field2':{'type':'string','x-mcp-header':'myfield'}" },
		{ "invalid_space_in_name", ONE("My Region") },
		{ "invalid_colon_in_name", ONE("Region:Primary") },
		{ "invalid_non_ascii_name", ONE("R\xC3\xA9gion") },
		{ "invalid_control_char_name", ONE("Region\\t1") },
		/* the rest of the clause */
		{ "crlf", ONE("X\\r\\nEvil: 1") },
		{ "nul", ONE("X\\u0000") },
		{ "number for a name", "'value':{'type':'string','x-mcp-header':7}" },
		{ "true for a name", "'value':{'type':'string','x-mcp-header':true}" },
		{ "null for a name", "'value':{'type':'string','x-mcp-header':null}" },
		{ "object for a name", "'value':{'type':'string','x-mcp-header':{}}" },
		{ "no type", "'value':{'x-mcp-header':'X'}" },
		{ "two types", "'value':{'type':['string','null'],'x-mcp-header':'X'}" },
		{ "items", "'a':{'type':'array','items':{'type':'string','x-mcp-header':'X'}}" },
		{ "items and properties",
		  "'a':{'items':{'properties':{'b':{'type':'string','x-mcp-header':'X'}}}}" },
		{ "anyOf", "'a':{'anyOf':[{'type':'string','x-mcp-header':'X'}]}" },
		{ "oneOf", "'a':{'oneOf':[{'properties':{" ONE("X") "}}]}" },
		{ "then", "'a':{'then':{'properties':{" ONE("X") "}}}" },
		{ "not", "'a':{'not':{'type':'string','x-mcp-header':'X'}}" },
		{ "additional",
		  "'a':{'additionalProperties':{'type':'string','x-mcp-header':'X'}}" },
		{ "$defs", "'a':{'$defs':{'b':{'type':'string','x-mcp-header':'X'}}}" },
		{ "nested twice",
		  "'a':{'properties':{" ONE("X") "}},'b':{'properties':{" ONE("x") "}}" },
	};
	struct toolbook *b = open_book(NULL);
	cleat_error err, again;

	assert_int_equal(learn(b,
			       "{'name':'valid_tool','inputSchema':{'type':'object','properties':{"
			       "'region':{'type':'string','x-mcp-header':'Region'}}}}",
			       &err),
			 CLEAT_OK);
	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		char text[1024];

		snprintf(text, sizeof text,
			 "{'name':'%s','inputSchema':{'type':'object','properties':{%s}}}",
			 rows[i].name, rows[i].properties);
		assert_int_equal(learn(b, text, &err), CLEAT_EINVAL);
		/* "including the tool name and the reason" */
		assert_non_null(strstr(err.message, rows[i].name));
		assert_non_null(strstr(err.message, "x-mcp-header"));
		assert_true(toolbook_knows(b, str_of(rows[i].name)));
		assert_true(toolbook_refused(b, str_of(rows[i].name), &again));
		assert_string_equal(again.message, err.message);
		assert_int_equal(again.status, CLEAT_EINVAL);
	}
	assert_false(toolbook_refused(b, STR_LIT("valid_tool"), &err));
	assert_false(toolbook_refused(b, STR_LIT("unheard of"), &err));
	expect_fields(b, "valid_tool", "{'region':'x'}", "mcp-param-region: x\n");
	toolbook_free(b);
}

BOOK_TEST(the_reason_may_be_of_no_interest)
{
	assert_int_equal(learn_properties(b, ONE(""), NULL), CLEAT_EINVAL);
	assert_true(toolbook_refused(b, STR_LIT("t"), NULL));
	assert_true(toolbook_refused(b, STR_LIT("t"), err));
	assert_non_null(strstr(err->message, "x-mcp-header"));
}

/* Otherwise a server could make the search for a duplicate take minutes. */
BOOK_TEST(there_is_a_limit_for_annotations)
{
	for (int n = 256; n <= 100000; n += 99744) {
		struct buf text;
		cleat_doc *d;

		buf_init(&text, NULL, SIZE_MAX / 2);
		buf_appendz(&text, "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"z\":{}");
		for (int i = 0; i < n; i++)
			buf_printf(&text, ",\"%d\":{\"type\":\"string\",\"x-mcp-header\":\"h%d\"}",
				   i, i);
		buf_appendz(&text, "}}}");
		d = cleat_doc_parse(buf_str(&text).p, buf_size(&text), NULL, NULL, NULL);
		assert_non_null(d);
		assert_int_equal(toolbook_learn(b, cleat_doc_root(d), err),
				 n == 256 ? CLEAT_OK : CLEAT_EINVAL);
		cleat_doc_free(d);
		buf_done(&text);
	}
}
