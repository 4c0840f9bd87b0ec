/* test_headers.c - headers that repeat what a message says (2026-07-28 basic/transports/
 * streamable-http: Request Metadata, Schema Extension, Value Encoding, Server Validation).
 */
#include "base/mem.h"
#include "http/field.h"
#include "http/message.h"
#include "protocol/headers.h"
#include "test.h"
#include "unit/httpd/httpd_support.h"
#include "json/parse.h"

#include <string.h>

enum { MOST = 5 };

struct sent {
	char text[256];
	struct http_field fields[MOST];
	struct http_request r;
	struct peer_headers h;
};

/* "name: value | name: value". */
static const struct peer_headers *sent(struct sent *s, const char *all)
{
	const char *lines[MOST + 1] = { NULL };
	size_t n = 0;

	*s = (struct sent){ 0 };
	snprintf(s->text, sizeof s->text, "%s", all);
	for (char *at = *all ? s->text : NULL; at; n++) {
		char *end = strstr(at, " | ");

		lines[n] = at;
		if (end)
			*end = '\0';
		at = end ? end + 3 : NULL;
	}
	put_lines(&s->r, s->fields, lines, MOST);
	s->h = (struct peer_headers){ .fields = s->fields, .n = s->r.n_fields };
	return &s->h;
}

static cleat_doc *parse(const char *text)
{
	cleat_doc *d = cleat_doc_parse(json_of(text), strlen(text), NULL, NULL, NULL);

	if (!d)
		print_error("no JSON: %s\n", text);
	assert_non_null(d);
	return d;
}

/* ---- version ------------------------------------------------------------------------------ */

TEST(the_version_stands_once_and_is_that_of_the_body)
{
	static const struct {
		const char *lines, *body;
		bool ok;
	} rows[] = {
		{ "mcp-protocol-version: 2026-07-28", "2026-07-28", true },
		{ "mcp-protocol-version: 2099-01-01", "2099-01-01", true },
		{ "", "2026-07-28", false },
		{ "mcp-protocol-version:", "2026-07-28", false },
		{ "mcp-protocol-version: 2026-07-28", "2025-11-25", false },
		{ "mcp-protocol-version: 2026-07-2", "2026-07-28", false },
		{ "mcp-protocol-version: 2026-07-281", "2026-07-28", false },
		{ "mcp-protocol-version: 2026-07-28 | mcp-protocol-version: 2026-07-28",
		  "2026-07-28", false },
		{ "mcp-protocol-version: 2026-07-28 | mcp-protocol-version: 2025-11-25",
		  "2026-07-28", false },
	};
	struct sent s;
	cleat_error err;

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		int rc = headers_check_version(sent(&s, rows[i].lines), str_of(rows[i].body), &err);

		assert_int_equal(rc, rows[i].ok ? CLEAT_OK : CLEAT_EPROTO);
		if (rc)
			assert_int_equal(err.rpc_code, CLEAT_RPC_HEADER_MISMATCH);
	}
	assert_int_equal(headers_check_version(NULL, STR_LIT("2026-07-28"), &err), CLEAT_OK);
}

/* ---- method and name ---------------------------------------------------------------------- */

TEST(method_and_name_are_those_of_the_body)
{
	static const struct {
		const char *lines, *method, *params;
		bool ok;
	} rows[] = {
		{ "mcp-method: tools/list", "tools/list", "{}", true },
		{ "mcp-method: tools/list", "tools/list", NULL, true },
		{ "", "tools/list", "{}", false },
		{ "mcp-method: Tools/list", "tools/list", "{}", false },
		{ "mcp-method: tools", "tools/list", "{}", false },
		{ "mcp-method:", "tools/list", "{}", false },
		/* the name: of a tool, of a prompt, the URI of a resource */
		{ "mcp-method: tools/call | mcp-name: a", "tools/call", "{'name':'a'}", true },
		{ "mcp-method: tools/call | mcp-name: b", "tools/call", "{'name':'a'}", false },
		{ "mcp-method: tools/call | mcp-name: A", "tools/call", "{'name':'a'}", false },
		{ "mcp-method: tools/call", "tools/call", "{'name':'a'}", false },
		{ "mcp-method: tools/call | mcp-name:", "tools/call", "{'name':''}", true },
		{ "mcp-method: tools/call | mcp-name: a | mcp-name: a", "tools/call",
		  "{'name':'a'}", false },
		{ "mcp-method: prompts/get | mcp-name: p", "prompts/get", "{'name':'p'}", true },
		{ "mcp-method: prompts/get", "prompts/get", "{'name':'p'}", false },
		{ "mcp-method: resources/read | mcp-name: file:///a", "resources/read",
		  "{'uri':'file:///a'}", true },
		{ "mcp-method: resources/read | mcp-name: file:///a", "resources/read",
		  "{'uri':'file:///b','name':'file:///a'}", false },
		/* others have none, whatever they send */
		{ "mcp-method: resources/subscribe", "resources/subscribe", "{'uri':'x:y'}", true },
		{ "mcp-method: tools/list | mcp-name: x", "tools/list", "{'name':'y'}", true },
		/* without one in the body there is nothing to compare: that is said elsewhere */
		{ "mcp-method: tools/call | mcp-name: a", "tools/call", "{}", true },
		{ "mcp-method: tools/call | mcp-name: a", "tools/call", "{'name':7}", true },
		/* "servers MUST decode an encoded Mcp-Name ... before comparing it" */
		{ "mcp-method: tools/call | mcp-name: =?base64?w7w=?=", "tools/call",
		  "{'name':'\xc3\xbc'}", true },
		{ "mcp-method: tools/call | mcp-name: =?base64?w7w=?=", "tools/call",
		  "{'name':'=?base64?w7w=?='}", false },
		{ "mcp-method: tools/call | mcp-name: =?base64?PT9iYXNlNjQ/dzd3PT89?=",
		  "tools/call", "{'name':'=?base64?w7w=?='}", true },
		{ "mcp-method: tools/call | mcp-name: =?BASE64?w7w=?=", "tools/call",
		  "{'name':'\xc3\xbc'}", false },
		{ "mcp-method: tools/call | mcp-name: =?base64?w7w?=", "tools/call",
		  "{'name':'\xc3\xbc'}", false },
		{ "mcp-method: tools/call | mcp-name: =?base64?/w==?=", "tools/call",
		  "{'name':'x'}", false },
		{ "mcp-method: tools/call | mcp-name: \xc3\xbc", "tools/call",
		  "{'name':'\xc3\xbc'}", false },
		{ "mcp-method: tools/call | mcp-name: =?base64?YQBi?=", "tools/call",
		  "{\"name\":\"a\\u0000b\"}", true },
		{ "mcp-method: tools/call | mcp-name: a", "tools/call", "{\"name\":\"a\\u0000b\"}",
		  false },
	};
	struct sent s;

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		cleat_doc *d = rows[i].params ? parse(rows[i].params) : NULL;
		struct rpc_message m = { .kind = RPC_REQUEST,
					 .method = str_of(rows[i].method),
					 .params = cleat_doc_root(d) };
		cleat_error err = { 0 };
		int rc = headers_check_request(sent(&s, rows[i].lines), &m, &mem_default, &err);

		if (rc != (rows[i].ok ? CLEAT_OK : CLEAT_EPROTO))
			print_error("row %zu: %s\n", i, err.message);
		assert_int_equal(rc, rows[i].ok ? CLEAT_OK : CLEAT_EPROTO);
		if (rc) {
			assert_int_equal(err.rpc_code, CLEAT_RPC_HEADER_MISMATCH);
			assert_non_null(strstr(err.message, "Header mismatch"));
		}
		assert_int_equal(headers_check_request(NULL, &m, &mem_default, &err), CLEAT_OK);
		cleat_doc_free(d);
	}
}

/* ---- annotations -------------------------------------------------------------------------- */

#define PROPERTIES(p) "{'type':'object','properties':{" p "}}"
#define STRING(name)  "{'type':'string','x-mcp-header':'" name "'}"

/* Constraints on x-mcp-header values. */
TEST(annotations_are_found_or_refused)
{
	static const struct {
		const char *schema;
		int found; /* -1: refused */
	} rows[] = {
		{ "{'type':'object'}", 0 },
		{ PROPERTIES("'a':{'type':'string'}"), 0 },
		{ PROPERTIES("'a':" STRING("Region")), 1 },
		{ PROPERTIES("'a':" STRING("x") ",'b':" STRING("y")), 2 },
		{ PROPERTIES("'a':{'type':'integer','x-mcp-header':'n'}"), 1 },
		{ PROPERTIES("'a':{'type':'boolean','x-mcp-header':'n'}"), 1 },
		/* "MUST only be applied to parameters with primitive types" */
		{ PROPERTIES("'a':{'type':'number','x-mcp-header':'n'}"), -1 },
		{ PROPERTIES("'a':{'type':'object','x-mcp-header':'n'}"), -1 },
		{ PROPERTIES("'a':{'type':'array','x-mcp-header':'n'}"), -1 },
		{ PROPERTIES("'a':{'type':'null','x-mcp-header':'n'}"), -1 },
		{ PROPERTIES("'a':{'x-mcp-header':'n'}"), -1 },
		/* "MUST NOT be empty", "1*tchar" */
		{ PROPERTIES("'a':" STRING("")), -1 },
		{ PROPERTIES("'a':" STRING("a b")), -1 },
		{ PROPERTIES("'a':" STRING("a:b")), -1 },
		{ PROPERTIES("'a':" STRING("a\\r\\nX: y")), -1 },
		{ PROPERTIES("'a':" STRING("a\\u0000")), -1 },
		{ PROPERTIES("'a':" STRING("\xc3\xbc")), -1 },
		{ PROPERTIES("'a':" STRING("!#$%&\\u0027*+-.^_`|~09azAZ")), 1 },
		{ PROPERTIES("'a':{'type':'string','x-mcp-header':7}"), -1 },
		{ PROPERTIES("'a':{'type':'string','x-mcp-header':null}"), -1 },
		{ PROPERTIES("'a':{'type':'string','x-mcp-header':true}"), -1 },
		{ PROPERTIES("'a':{'type':'string','x-mcp-header':{}}"), -1 },
		/* "MUST be case-insensitively unique" */
		{ PROPERTIES("'a':" STRING("Same") ",'b':" STRING("sAME")), -1 },
		{ PROPERTIES("'a':" STRING(
			  "Same") ",'b':{'type':'object','properties':{'c':" STRING("same") "}}"),
		  -1 },
		/* "reachable via a chain consisting solely of properties keys" */
		{ PROPERTIES("'a':{'type':'object','properties':{'b':" STRING("deep") "}}"), 1 },
		{ "{'x-mcp-header':'n','type':'string'}", -1 },
		{ PROPERTIES("'a':{'type':'array','items':" STRING("n") "}"), -1 },
		{ PROPERTIES("'a':{'anyOf':[" STRING("n") "]}"), -1 },
		{ PROPERTIES("'a':{'oneOf':[{'properties':{'b':" STRING("n") "}}]}"), -1 },
		{ "{'allOf':[" PROPERTIES("'a':" STRING("n")) "]}", -1 },
		{ "{'not':" PROPERTIES("'a':" STRING("n")) "}", -1 },
		{ "{'if':" PROPERTIES("'a':" STRING("n")) "}", -1 },
		{ "{'then':" PROPERTIES("'a':" STRING("n")) "}", -1 },
		{ "{'else':" PROPERTIES("'a':" STRING("n")) "}", -1 },
		{ "{'$defs':{'d':" STRING("n") "}}", -1 },
		{ "{'patternProperties':{'d':" STRING("n") "}}", -1 },
		{ "{'additionalProperties':" STRING("n") "}", -1 },
		{ PROPERTIES("'a':" STRING("ok") ",'b':{'items':" STRING("n") "}"), -1 },
		/* a property may have that name */
		{ PROPERTIES("'x-mcp-header':{'type':'string'}"), 0 },
		{ PROPERTIES("'x-mcp-header':" STRING("n")), 1 },
		{ PROPERTIES("'x-mcp-header':true"), 0 },
		{ PROPERTIES("'properties':" STRING("n")), 1 },
	};
	struct arena ar;

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		cleat_doc *d = parse(rows[i].schema);
		struct header_param *list = NULL;
		cleat_error err = { 0 };
		int rc, n = 0;

		arena_init(&ar, NULL, 1 << 20);
		rc = header_params_find(&ar, cleat_doc_root(d), &list, &err);
		for (const struct header_param *p = list; p; p = p->next)
			n++;
		if (rc != (rows[i].found < 0 ? CLEAT_EINVAL : CLEAT_OK))
			print_error("row %zu: %s: %s\n", i, rows[i].schema, err.message);
		assert_int_equal(rc, rows[i].found < 0 ? CLEAT_EINVAL : CLEAT_OK);
		if (rc == CLEAT_OK)
			assert_int_equal(n, rows[i].found);
		else
			assert_non_null(strstr(err.message, "x-mcp-header"));
		arena_done(&ar);
		cleat_doc_free(d);
	}
}

/* Annotations are found down to sixty levels and more; a schema may be deeper than that. */
TEST(deep_schemas_are_walked)
{
	static char text[20000];

	for (size_t depth = 1; depth < 200; depth += 7) {
		static const cleat_json_limits deep = { .max_depth = 1000 };
		struct header_param *list = NULL;
		struct arena ar;
		cleat_doc *d;
		size_t n = 0;
		int rc;

		for (size_t i = 0; i < depth; i++)
			n += (size_t)snprintf(text + n, sizeof text - n,
					      "{'type':'object','properties':{'a':");
		n += (size_t)snprintf(text + n, sizeof text - n, STRING("deep"));
		for (size_t i = 0; i < depth; i++)
			n += (size_t)snprintf(text + n, sizeof text - n, "}}");
		d = cleat_doc_parse(json_of(text), n, &deep, NULL, NULL);
		assert_non_null(d);
		arena_init(&ar, NULL, 1 << 20);
		rc = header_params_find(&ar, cleat_doc_root(d), &list, NULL);
		if (rc == CLEAT_OK && list)
			assert_int_equal(list->depth, depth);
		else
			assert_true(depth > 60);
		arena_done(&ar);
		cleat_doc_free(d);
	}
}

/* ---- parameters --------------------------------------------------------------------------- */

static const char schema[] = PROPERTIES(
	"'s':{'type':'string','x-mcp-header':'S'},'n':{'type':'integer','x-mcp-header':'Num'},'o':{"
	"'type':'object','properties':{'b':{'type':'boolean','x-mcp-header':'Deep-B'}}}");

/* Server Behavior for Custom Headers, Server Validation. */
TEST(parameters_are_those_of_the_arguments)
{
	static const struct {
		const char *lines, *arguments;
		bool ok;
	} rows[] = {
		/* not in the arguments, or null: no header is expected, and none may appear */
		{ "", "{}", true },
		{ "", NULL, true },
		{ "", "{'s':null,'n':null}", true },
		{ "mcp-param-s: x", "{}", false },
		{ "mcp-param-s: x", NULL, false },
		{ "mcp-param-s: null", "{'s':null}", false },
		{ "mcp-param-s:", "{}", false },
		/* "Client omits header but value is in body: Server MUST reject the request" */
		{ "", "{'s':'x'}", false },
		{ "mcp-param-s: x", "{'s':'x'}", true },
		{ "mcp-param-s: X", "{'s':'x'}", false },
		{ "mcp-param-s:", "{'s':''}", true },
		{ "mcp-param-s: x | mcp-param-s: x", "{'s':'x'}", false },
		{ "mcp-param-s: =?base64?IHggCg==?=", "{\"s\":\" x \\n\"}", true },
		{ "mcp-param-s: =?base64?!?=", "{'s':'x'}", false },
		{ "mcp-param-s: \xff", "{'s':'x'}", false },
		/* one that the schema does not know is nobody's */
		{ "mcp-param-s: x | mcp-param-other: y", "{'s':'x'}", true },
		/* "servers SHOULD compare the header value and the body value numerically" */
		{ "mcp-param-num: 42", "{'n':42}", true },
		{ "mcp-param-num: 42.0", "{'n':42}", true },
		{ "mcp-param-num: 42", "{'n':42.0}", true },
		{ "mcp-param-num: 4.2e1", "{'n':42}", true },
		{ "mcp-param-num: -7", "{'n':-7}", true },
		{ "mcp-param-num: -0", "{'n':0}", true },
		{ "mcp-param-num: 9007199254740993", "{'n':9007199254740993}", true },
		{ "mcp-param-num: 9007199254740992", "{'n':9007199254740993}", false },
		{ "mcp-param-num: 43", "{'n':42}", false },
		{ "mcp-param-num: 042", "{'n':42}", false },
		{ "mcp-param-num: +42", "{'n':42}", false },
		{ "mcp-param-num: 0x2a", "{'n':42}", false },
		{ "mcp-param-num: 42 43", "{'n':42}", false },
		{ "mcp-param-num:", "{'n':42}", false },
		{ "mcp-param-num: true", "{'n':42}", false },
		{ "mcp-param-num: \"42\"", "{'n':42}", false },
		{ "mcp-param-num: [42]", "{'n':42}", false },
		/* by its path */
		{ "mcp-param-deep-b: true", "{'o':{'b':true}}", true },
		{ "mcp-param-deep-b: false", "{'o':{'b':false}}", true },
		{ "mcp-param-deep-b: True", "{'o':{'b':true}}", false },
		{ "mcp-param-deep-b: 1", "{'o':{'b':true}}", false },
		{ "", "{'o':{'b':true}}", false },
		{ "", "{'o':{}}", true },
		{ "", "{'o':{'b':null}}", true },
		{ "", "{'o':5,'b':true}", true },
		{ "", "{'b':true}", true },
		/* several: each of them */
		{ "mcp-param-s: x | mcp-param-num: 1 | mcp-param-deep-b: true",
		  "{'s':'x','n':1,'o':{'b':true}}", true },
		{ "mcp-param-s: x | mcp-param-num: 2 | mcp-param-deep-b: true",
		  "{'s':'x','n':1,'o':{'b':true}}", false },
		/* arguments that do not fit the schema: the schema says so */
		{ "mcp-param-s: 5", "{'s':5}", true },
		{ "mcp-param-s: x", "{'s':{}}", true },
	};
	cleat_doc *d = parse(schema);
	struct header_param *list;
	struct arena ar;
	struct sent s;

	arena_init(&ar, NULL, 1 << 20);
	assert_int_equal(header_params_find(&ar, cleat_doc_root(d), &list, NULL), CLEAT_OK);
	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		cleat_doc *a = rows[i].arguments ? parse(rows[i].arguments) : NULL;
		cleat_error err = { 0 };
		int rc = header_params_check(sent(&s, rows[i].lines), list, cleat_doc_root(a),
					     &mem_default, &err);

		if (rc != (rows[i].ok ? CLEAT_OK : CLEAT_EPROTO))
			print_error("row %zu: %s: %s\n", i,
				    rows[i].arguments ? rows[i].arguments : "-", err.message);
		assert_int_equal(rc, rows[i].ok ? CLEAT_OK : CLEAT_EPROTO);
		if (rc)
			assert_int_equal(err.rpc_code, CLEAT_RPC_HEADER_MISMATCH);
		assert_int_equal(
			header_params_check(NULL, list, cleat_doc_root(a), &mem_default, &err),
			CLEAT_OK);
		cleat_doc_free(a);
	}
	arena_done(&ar);
	cleat_doc_free(d);
}

/* ---- memory ------------------------------------------------------------------------------- */

/* Out of memory is not a mismatch: the client could do nothing about it. */
TEST(lack_of_memory_is_no_mismatch)
{
	cleat_doc *d = parse(schema), *params = parse("{'name':'a','s':'x','n':1}");
	struct rpc_message m = { .method = STR_LIT("tools/call"),
				 .params = cleat_doc_root(params) };
	struct sent s;

	sent(&s, "mcp-method: tools/call | mcp-name: a | mcp-param-s: x | mcp-param-num: 1");
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct header_param *list = NULL;
		struct arena ar;
		cleat_error err = { 0 };
		int rc;
		bool hit;

		arena_init(&ar, &fa.hook, 1 << 20);
		rc = header_params_find(&ar, cleat_doc_root(d), &list, &err);
		if (!rc)
			rc = headers_check_request(&s.h, &m, &fa.hook, &err);
		if (!rc)
			rc = header_params_check(&s.h, list, cleat_doc_root(params), &fa.hook,
						 &err);
		hit = fail_alloc_hit(&fa);
		assert_int_equal(rc, hit ? CLEAT_ENOMEM : CLEAT_OK);
		if (rc)
			assert_int_not_equal(err.rpc_code, CLEAT_RPC_HEADER_MISMATCH);
		arena_done(&ar);
	}
	cleat_doc_free(d);
	cleat_doc_free(params);
}
