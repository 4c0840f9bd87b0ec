/* test_client_toolbook.c - what a client remembers of tools: headers from arguments (2026-07-28
 * basic/transports/streamable-http "Schema Extension", "Value Encoding", "Client Behavior") and what a
 * result must look like (server/tools "Output Schema"). The cases named conformance are those of the
 * official suite, http-custom-headers and http-invalid-tool-headers.
 *
 * JSON is written with ' for ".
 */
#include "base/mem.h"
#include "client/toolbook.h"
#include "http/field.h"
#include "support.h"
#include "json/parse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static cleat_doc *parse(const char *text)
{
	char *copy = mem_strdup(&mem_default, text);
	cleat_doc *d;

	assert_non_null(copy);
	for (char *p = copy; *p; p++)
		if (*p == '\'')
			*p = '"';
	d = cleat_doc_parse(copy, strlen(copy), NULL, NULL, NULL);
	if (!d)
		print_error("no JSON: %s\n", copy);
	assert_non_null(d);
	mem_free(&mem_default, copy);
	return d;
}

static struct {
	int n, level;
	char text[300];
} noted;

static void note(void *ctx, int level, const char *text)
{
	assert_ptr_equal(ctx, &noted);
	noted.n++;
	noted.level = level;
	snprintf(noted.text, sizeof noted.text, "%s", text);
}

static struct toolbook *open_book(const cleat_allocator *mem)
{
	struct toolbook *b;

	memset(&noted, 0, sizeof noted);
	b = toolbook_new(&(struct toolbook_opts){ .mem = mem, .note = note, .ctx = &noted });
	assert_true(b || mem);
	return b;
}

static int learn(struct toolbook *b, const char *tool, cleat_error *err)
{
	cleat_doc *d = parse(tool);
	int rc = toolbook_learn(b, cleat_doc_root(d), err);

	cleat_doc_free(d); /* nothing may point into it */
	return rc;
}

/* A tool "t" with these properties. */
static int learn_properties(struct toolbook *b, const char *properties, cleat_error *err)
{
	char text[2048];

	snprintf(text, sizeof text,
		 "{'name':'t','inputSchema':{'type':'object','properties':{%s}}}", properties);
	return learn(b, text, err);
}

/* "name: value" lines, as they stand in a request. */
static int fields(struct toolbook *b, const char *name, const char *args, struct buf *out,
		  cleat_error *err)
{
	cleat_doc *d = args ? parse(args) : NULL;
	const struct link_field *f;
	struct arena ar;
	size_t n;
	int rc;

	arena_init(&ar, NULL, 0);
	rc = toolbook_fields(b, &ar, str_of(name), cleat_doc_root(d), &f, &n, err);
	cleat_doc_free(d);
	toolbook_clear(b); /* and what was given needs neither */
	assert_true(rc == CLEAT_OK || (n == 0 && !f));
	for (size_t i = 0; i < n; i++) {
		buf_append(out, f[i].name.p, f[i].name.n);
		buf_appendz(out, ": ");
		http_sentinel_encode(f[i].value, out);
		buf_putc(out, '\n');
	}
	arena_done(&ar);
	return rc;
}

static void expect_fields(struct toolbook *b, const char *name, const char *args,
			  const char *wanted)
{
	struct buf out;

	buf_init(&out, NULL, SIZE_MAX / 2);
	assert_int_equal(fields(b, name, args, &out, NULL), CLEAT_OK);
	buf_putc(&out, '\0');
	assert_string_equal(buf_str(&out).p, wanted);
	buf_done(&out);
}

/* ---- headers ---------------------------------------------------------------------------------- */

#define REGION              "'region':{'type':'string','description':'d','x-mcp-header':'Region'},"
#define PRIORITY            "'priority':{'type':'integer','x-mcp-header':'Priority'},"
#define VERBOSE             "'verbose':{'type':'boolean','x-mcp-header':'Verbose'},"
#define STRING(key, header) "'" key "':{'type':'string','x-mcp-header':'" header "'},"

/* conformance: http-custom-headers. All encodings at once. */
static void arguments_become_headers(void **state)
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
	struct toolbook *b = open_book(NULL);
	cleat_error err;

	(void)state;
	assert_int_equal(learn(b, tool, &err), CLEAT_OK);
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
	toolbook_free(b);
}

static void values_are_converted_by_their_type(void **state)
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

	(void)state;
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

#define ONE(header) "'value':{'type':'string','x-mcp-header':'" header "'}"

static void wrong_annotations_refuse_the_tool_and_no_other(void **state)
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

	(void)state;
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

static void the_reason_may_be_of_no_interest(void **state)
{
	struct toolbook *b = open_book(NULL);
	cleat_error err;

	(void)state;
	assert_int_equal(learn_properties(b, ONE(""), NULL), CLEAT_EINVAL);
	assert_true(toolbook_refused(b, STR_LIT("t"), NULL));
	assert_true(toolbook_refused(b, STR_LIT("t"), &err));
	assert_non_null(strstr(err.message, "x-mcp-header"));
	toolbook_free(b);
}

/* Otherwise a server could make the search for a duplicate take minutes. */
static void there_is_a_limit_for_annotations(void **state)
{
	struct toolbook *b = open_book(NULL);
	cleat_error err;

	(void)state;
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
		assert_int_equal(toolbook_learn(b, cleat_doc_root(d), &err),
				 n == 256 ? CLEAT_OK : CLEAT_EINVAL);
		cleat_doc_free(d);
		buf_done(&text);
	}
	toolbook_free(b);
}

/* ---- the list --------------------------------------------------------------------------------- */

static void what_is_no_tool_is_not_learned(void **state)
{
	static const char *const rows[] = {
		"{}", "{'name':''}", "{'name':7}", "{'name':null}",         "{'title':'t'}",
		"[]", "'t'",         "null",       "{'name':{'name':'t'}}", "[{'name':'t'}]",
	};
	struct toolbook *b = open_book(NULL);
	cleat_error err;

	(void)state;
	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		assert_int_equal(learn(b, rows[i], &err), CLEAT_EINVAL);
		assert_non_null(strstr(err.message, "no name"));
		assert_false(toolbook_knows(b, STR_LIT("t")));
		assert_false(toolbook_knows(b, STR_LIT("")));
	}
	assert_int_equal(toolbook_learn(b, NULL, &err), CLEAT_EINVAL);
	toolbook_free(b);
}

static void any_schema_can_be_learned(void **state)
{
	static const char *const rows[] = {
		"{'name':'t'}",
		"{'name':'t','inputSchema':null,'outputSchema':null}",
		"{'name':'t','inputSchema':[],'outputSchema':[]}",
		"{'name':'t','inputSchema':'x','outputSchema':'x'}",
		"{'name':'t','inputSchema':{'properties':[]}}",
		"{'name':'t','inputSchema':{'properties':{'a':7,'b':null,'c':[],'d':true}}}",
		"{'name':'t','inputSchema':{'properties':'x'},'annotations':7}",
	};
	struct toolbook *b = open_book(NULL);
	cleat_error err;

	(void)state;
	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		assert_int_equal(learn(b, rows[i], &err), CLEAT_OK);
		assert_true(toolbook_knows(b, STR_LIT("t")));
		expect_fields(b, "t", "{'a':1}", "");
	}
	toolbook_free(b);
}

static void names_are_compared_byte_by_byte(void **state)
{
	struct toolbook *b = open_book(NULL);
	cleat_error err;

	(void)state;
	assert_int_equal(learn(b, "{'name':'a\\u0000b'}", &err), CLEAT_OK);
	assert_int_equal(learn(b, "{'name':'T'}", &err), CLEAT_OK);
	assert_true(toolbook_knows(b, STR_LIT("a\0b")));
	assert_false(toolbook_knows(b, STR_LIT("a")));
	assert_false(toolbook_knows(b, STR_LIT("a\0c")));
	assert_false(toolbook_knows(b, STR_LIT("t")));
	assert_false(toolbook_knows(b, (struct str){ 0 }));
	toolbook_free(b);
}

static void of_two_with_one_name_the_later_counts(void **state)
{
	struct toolbook *b = open_book(NULL);
	cleat_error err;

	(void)state;
	toolbook_begin(b);
	assert_int_equal(learn_properties(b, ONE("Old"), &err), CLEAT_OK);
	assert_int_equal(learn_properties(b, ONE(""), &err), CLEAT_EINVAL);
	assert_true(toolbook_refused(b, STR_LIT("t"), &err));
	assert_int_equal(learn_properties(b, ONE("New"), &err), CLEAT_OK);
	toolbook_end(b);
	assert_false(toolbook_refused(b, STR_LIT("t"), &err));
	expect_fields(b, "t", "{'value':'x'}", "mcp-param-new: x\n");
	toolbook_free(b);
}

static void a_new_list_forgets_what_is_not_in_it(void **state)
{
	struct toolbook *b = open_book(NULL);
	cleat_error err;

	(void)state;
	toolbook_begin(b);
	learn(b, "{'name':'stays'}", &err);
	learn(b, "{'name':'goes'}", &err);
	toolbook_end(b);
	assert_true(toolbook_knows(b, STR_LIT("goes")));
	toolbook_begin(b);
	learn(b, "{'name':'stays'}", &err);
	learn(b, "{'name':'comes'}", &err);
	assert_true(toolbook_knows(b, STR_LIT("goes"))); /* its page may still come */
	toolbook_end(b);
	assert_true(toolbook_knows(b, STR_LIT("stays")));
	assert_true(toolbook_knows(b, STR_LIT("comes")));
	assert_false(toolbook_knows(b, STR_LIT("goes")));
	/* a page that somebody asked for by itself */
	learn(b, "{'name':'more'}", &err);
	assert_true(toolbook_knows(b, STR_LIT("more")) && toolbook_knows(b, STR_LIT("stays")));
	toolbook_clear(b);
	assert_false(toolbook_knows(b, STR_LIT("stays")));
	toolbook_free(b);
	toolbook_free(NULL);
}

static void the_book_has_an_end(void **state)
{
	struct toolbook *b = open_book(NULL);
	struct buf text;
	cleat_error err;
	cleat_doc *d;

	(void)state;
	buf_init(&text, NULL, SIZE_MAX / 2);
	for (int i = 0; i <= 10000; i++) {
		char tool[64];

		snprintf(tool, sizeof tool, "{'name':'tool%d'}", i);
		assert_int_equal(learn(b, tool, &err), i < 10000 ? CLEAT_OK : CLEAT_ELIMIT);
	}
	assert_non_null(strstr(err.message, "tool10000"));
	assert_false(toolbook_knows(b, STR_LIT("tool10000")));
	assert_int_equal(learn(b, "{'name':'tool77'}", &err), CLEAT_OK); /* in its own place */
	toolbook_clear(b);
	/* 16 MiB: a few large schemas */
	buf_appendz(&text, "{\"name\":\"big0\",\"outputSchema\":{\"description\":\"");
	for (int i = 0; i < 6 << 20; i++)
		buf_putc(&text, 'x');
	buf_appendz(&text, "\"}}");
	for (char i = '0'; i < '4'; i++) {
		text.data[12] = i;
		d = cleat_doc_parse(buf_str(&text).p, buf_size(&text), NULL, NULL, NULL);
		assert_int_equal(toolbook_learn(b, cleat_doc_root(d), &err),
				 i < '2' ? CLEAT_OK : CLEAT_ELIMIT);
		cleat_doc_free(d);
	}
	assert_int_equal(learn(b, "{'name':'small'}", &err), CLEAT_OK);
	assert_true(toolbook_knows(b, STR_LIT("big1")));
	assert_false(toolbook_knows(b, STR_LIT("big2")));
	buf_done(&text);
	toolbook_free(b);
}

/* ---- results ---------------------------------------------------------------------------------- */

static int check(struct toolbook *b, const char *result, cleat_error *err)
{
	cleat_doc *d = parse(result);
	int rc = toolbook_check(b, STR_LIT("t"), cleat_doc_root(d), err);

	cleat_doc_free(d);
	return rc;
}

/* 2026-07-28 server/tools, Output Schema: "Clients SHOULD validate structured results". */
static void results_fit_what_the_tool_promised(void **state)
{
#define WEATHER                                                                                    \
	"{'type':'object','properties':{'temperature':{'type':'number'},'conditions':{'type':"     \
	"'string'}},'required':['temperature','conditions']}"
	static const struct {
		const char *schema, *result, *message; /* NULL: it fits */
	} rows[] = {
		/* the examples of the clause */
		{ WEATHER,
		  "{'content':[],'structuredContent':{'temperature':22.5,'conditions':'x'}}",
		  NULL },
		{ WEATHER, "{'structuredContent':{'temperature':'22.5','conditions':'x'}}",
		  "temperature: expected number" },
		{ WEATHER, "{'structuredContent':{'temperature':1}}", "conditions" },
		{ WEATHER, "{'structuredContent':[]}", "expected object" },
		{ WEATHER, "{'structuredContent':null}", "expected object" },
		{ WEATHER, "{'content':[{'type':'text','text':'22.5'}]}", "no structuredContent" },
		{ WEATHER, "{}", "no structuredContent" },
		{ WEATHER,
		  "{'structuredContent':{'temperature':1,'temperature':2,'conditions':'x'}}",
		  "temperature" },
		/* a tool that failed promises nothing */
		{ WEATHER, "{'isError':true,'content':[]}", NULL },
		{ WEATHER, "{'isError':true,'structuredContent':7}", NULL },
		{ WEATHER, "{'isError':'true','content':[]}", "no structuredContent" },
		/* any JSON value */
		{ "{'type':'array','items':{'type':'integer'}}", "{'structuredContent':[1,2]}",
		  NULL },
		{ "{'type':'array','items':{'type':'integer'}}", "{'structuredContent':[1,'2']}",
		  "expected integer" },
		{ "{'type':'null'}", "{'structuredContent':null}", NULL },
		{ "{'type':'integer','maximum':5}", "{'structuredContent':1e999}", "5" },
		{ "{}", "{'structuredContent':{'anything':1}}", NULL },
		{ "true", "{'structuredContent':1}", NULL },
		{ "false", "{'structuredContent':1}", "structuredContent" },
		/* the dialect of older servers, and references within */
		{ "{'$schema':'http://json-schema.org/draft-07/schema#','definitions':{'a':{'type':"
		  "'string'}},'properties':{'x':{'$ref':'#/definitions/a'}}}",
		  "{'structuredContent':{'x':1}}", "x: expected string" },
	};

	(void)state;
	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		struct toolbook *b = open_book(NULL);
		cleat_error err = { 0 };
		char tool[512];

		snprintf(tool, sizeof tool, "{'name':'t','outputSchema':%s}", rows[i].schema);
		assert_int_equal(learn(b, tool, &err), CLEAT_OK);
		for (int k = 0; k < 2; k++) { /* compiled, and used again */
			assert_int_equal(check(b, rows[i].result, &err),
					 rows[i].message ? CLEAT_EPROTO : CLEAT_OK);
			if (rows[i].message)
				assert_non_null(strstr(err.message, rows[i].message));
		}
		assert_int_equal(noted.n, 0);
		toolbook_free(b);
	}
}

static void nothing_promised_nothing_checked(void **state)
{
	struct toolbook *b = open_book(NULL);
	cleat_error err;

	(void)state;
	assert_int_equal(check(b, "{'structuredContent':7}", &err), CLEAT_OK);
	assert_int_equal(learn(b, "{'name':'t','inputSchema':{}}", &err), CLEAT_OK);
	assert_int_equal(check(b, "{'structuredContent':7}", &err), CLEAT_OK);
	assert_int_equal(check(b, "{}", &err), CLEAT_OK);
	assert_int_equal(learn(b, "{'name':'t','outputSchema':null}", &err), CLEAT_OK);
	assert_int_equal(check(b, "{}", &err), CLEAT_OK);
	assert_int_equal(noted.n, 0);
	toolbook_free(b);
}

/* 2025-11-25 basic, JSON Schema Usage: nothing is fetched, and a dialect that is not known is handled
 * gracefully. */
static void a_schema_that_cannot_be_used_is_noted_once(void **state)
{
	static const char *const rows[] = {
		"{'$ref':'http://127.0.0.1:1/schema.json'}",
		"{'properties':{'x':{'$ref':'file:///etc/passwd'}}}",
		"{'$schema':'http://json-schema.org/draft-03/schema#'}",
		"{'type':'nothing'}",
		"{'pattern':'('}",
		"7",
		"'object'",
		"[]",
	};

	(void)state;
	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		struct toolbook *b = open_book(NULL);
		cleat_error err;
		char tool[256];

		snprintf(tool, sizeof tool, "{'name':'t','outputSchema':%s}", rows[i]);
		assert_int_equal(learn(b, tool, &err), CLEAT_OK);
		assert_int_equal(noted.n, 0); /* not before it is needed */
		for (int k = 0; k < 3; k++)
			assert_int_equal(check(b, "{'structuredContent':{}}", &err), CLEAT_OK);
		assert_int_equal(check(b, "{}", &err), CLEAT_OK);
		assert_int_equal(noted.n, 1);
		assert_int_equal(noted.level, CLEAT_LOG_WARNING);
		assert_non_null(strstr(noted.text, "tool \"t\""));
		assert_non_null(strstr(noted.text, "outputSchema"));
		toolbook_free(b);
	}
}

/* What takes too long to be checked has not been found to fit. */
static void a_check_has_a_limit(void **state)
{
	struct toolbook *b = open_book(NULL);
	struct buf text;
	cleat_error err;
	cleat_doc *d;

	(void)state;
	buf_init(&text, NULL, SIZE_MAX / 2);
	buf_appendz(&text, "{\"structuredContent\":");
	for (int i = 0; i < 100; i++)
		buf_putc(&text, '[');
	for (int i = 0; i < 100; i++)
		buf_putc(&text, ']');
	buf_putc(&text, '}');
	assert_int_equal(learn(b, "{'name':'t','outputSchema':{'items':{'$ref':'#'}}}", &err),
			 CLEAT_OK);
	d = cleat_doc_parse(buf_str(&text).p, buf_size(&text), NULL, NULL, NULL);
	assert_int_equal(toolbook_check(b, STR_LIT("t"), cleat_doc_root(d), &err), CLEAT_EPROTO);
	assert_non_null(strstr(err.message, "outputSchema"));
	cleat_doc_free(d);
	buf_done(&text);
	toolbook_free(b);
}

/* ---- memory ----------------------------------------------------------------------------------- */

struct docs {
	cleat_doc *tool, *large, *bad, *args, *good, *wrong;
};

static void only(int rc, int a, int b)
{
	assert_true(rc == a || rc == b || rc == CLEAT_ENOMEM);
}

static void use(const cleat_allocator *mem, const struct docs *d)
{
	const struct link_field *f;
	struct toolbook *b = open_book(mem);
	struct arena ar;
	cleat_error err = { 0 };
	size_t n;
	int rc;

	if (!b)
		return;
	arena_init(&ar, mem, 0);
	toolbook_begin(b);
	for (int again = 0; again < 2; again++) {
		rc = toolbook_learn(b, cleat_doc_root(d->tool), &err);
		only(rc, CLEAT_OK, CLEAT_OK);
		assert_int_equal(toolbook_knows(b, STR_LIT("t")), rc == CLEAT_OK);
		rc = toolbook_learn(b, cleat_doc_root(d->large), &err);
		only(rc, CLEAT_OK, CLEAT_OK);
		rc = toolbook_learn(b, cleat_doc_root(d->bad), &err);
		only(rc, CLEAT_EINVAL, CLEAT_EINVAL);
		assert_int_equal(toolbook_refused(b, STR_LIT("bad"), &err), rc == CLEAT_EINVAL);
	}
	toolbook_end(b);
	rc = toolbook_fields(b, &ar, STR_LIT("t"), cleat_doc_root(d->args), &f, &n, &err);
	only(rc, CLEAT_OK, CLEAT_OK);
	assert_int_equal(n, rc == CLEAT_OK && toolbook_knows(b, STR_LIT("t")) ? 2 : 0);
	for (int again = 0; again < 2; again++) {
		rc = toolbook_check(b, STR_LIT("t"), cleat_doc_root(d->good), &err);
		only(rc, CLEAT_OK, CLEAT_OK);
		rc = toolbook_check(b, STR_LIT("t"), cleat_doc_root(d->wrong), &err);
		only(rc, toolbook_knows(b, STR_LIT("t")) ? CLEAT_EPROTO : CLEAT_OK, CLEAT_ENOMEM);
		if (rc == CLEAT_ENOMEM)
			assert_int_equal(err.status, CLEAT_ENOMEM);
	}
	assert_int_equal(noted.n, 0);
	arena_done(&ar);
	toolbook_free(b);
}

/* Nothing of it fits where the one before did. */
static cleat_doc *large_tool(void)
{
	cleat_doc *d;
	struct buf b;

	buf_init(&b, NULL, SIZE_MAX / 2);
	buf_printf(&b, "{'name':'%0600d','inputSchema':{'properties':{'z':{}", 1);
	for (int i = 0; i < 30; i++)
		buf_printf(&b, ",'%0300d':{'type':'string','x-mcp-header':'%0300d'}", i, i);
	buf_append(&b, "}}}", 4);
	d = parse(buf_str(&b).p);
	buf_done(&b);
	return d;
}

static void lack_of_memory_is_told_and_leaks_nothing(void **state)
{
	struct docs d = {
		.tool = parse("{'name':'t','inputSchema':{'properties':{" REGION PRIORITY
			      "'q':{}}},'outputSchema':{'type':'array','items':{'type':'integer'},"
			      "'uniqueItems':true}}"),
		.large = large_tool(),
		.bad = parse("{'name':'bad','inputSchema':{'properties':{" ONE(
			"a") ",'b':{"
			     "'x-mcp-header':'b'}}}}"),
		.args = parse("{'region':'r','priority':3}"),
		.good = parse("{'structuredContent':[1,2,3]}"),
		.wrong = parse("{'structuredContent':[1,2,'3']}"),
	};

	(void)state;
	for (int forever = 0; forever < 2; forever++) {
		struct fail_alloc fa = { .failures = 1 };
		size_t n;

		for (n = 1; fa.failures; n++) {
			fail_alloc_init(&fa, n, forever);
			use(&fa.hook, &d);
			assert_int_equal(fa.live, 0);
		}
		assert_true(n > 10);
	}
	cleat_doc_free(d.tool);
	cleat_doc_free(d.large);
	cleat_doc_free(d.bad);
	cleat_doc_free(d.args);
	cleat_doc_free(d.good);
	cleat_doc_free(d.wrong);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_become_headers),
		cmocka_unit_test(values_are_converted_by_their_type),
		cmocka_unit_test(wrong_annotations_refuse_the_tool_and_no_other),
		cmocka_unit_test(the_reason_may_be_of_no_interest),
		cmocka_unit_test(there_is_a_limit_for_annotations),
		cmocka_unit_test(what_is_no_tool_is_not_learned),
		cmocka_unit_test(any_schema_can_be_learned),
		cmocka_unit_test(names_are_compared_byte_by_byte),
		cmocka_unit_test(of_two_with_one_name_the_later_counts),
		cmocka_unit_test(a_new_list_forgets_what_is_not_in_it),
		cmocka_unit_test(the_book_has_an_end),
		cmocka_unit_test(results_fit_what_the_tool_promised),
		cmocka_unit_test(nothing_promised_nothing_checked),
		cmocka_unit_test(a_schema_that_cannot_be_used_is_noted_once),
		cmocka_unit_test(a_check_has_a_limit),
		cmocka_unit_test(lack_of_memory_is_told_and_leaks_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
