/* test_client_result.c - how a call ended: what results, errors and records look like to a program,
 * whatever the server has sent (2026-07-28 server/tools "Error Handling", "Structured Content"; basic,
 * "Responses").
 */
#include "base/buf.h"
#include "client/result.h"
#include "support.h"
#include "test.h"
#include "json/parse.h"

#include <string.h>

static cleat_result *parse(const cleat_allocator *mem, enum result_shape shape, const char *text,
			   const cleat_json **ret)
{
	cleat_result *r = result_new(mem, shape);

	assert_non_null(r);
	assert_int_equal(json_parse(&r->arena, str_of(text), NULL, ret, NULL), CLEAT_OK);
	return r;
}

static cleat_result *make(enum result_shape shape, const char *text)
{
	const cleat_json *v;
	cleat_result *r = parse(NULL, shape, text, &v);

	result_set(r, v);
	return r;
}

static cleat_result *make_error(const char *text)
{
	const cleat_json *v;
	cleat_result *r = parse(NULL, RESULT_TOOL, text, &v);

	result_set_error(r, 400, v);
	return r;
}

/* ---- NULL ------------------------------------------------------------------------------------- */

struct point {
	int x;
	const char *label;
};
static const cleat_field point_fields[] = {
	CLEAT_FIELD(struct point, x, NULL, CLEAT_RANGE(0, 9)),
	CLEAT_FIELD(struct point, label, NULL, .optional = true),
	CLEAT_FIELD_END,
};

TEST(no_result_means_out_of_memory)
{
	struct point p = { 5, "x" };
	cleat_content c = { .kind = CLEAT_CONTENT_LINK, .size = 3 };

	assert_int_equal(cleat_result_status(NULL), CLEAT_ENOMEM);
	assert_int_equal(cleat_result_error(NULL)->status, CLEAT_ENOMEM);
	assert_string_equal(cleat_result_error(NULL)->message, cleat_strstatus(CLEAT_ENOMEM));
	assert_int_equal(cleat_result_step(NULL), CLEAT_STEP_NONE);
	assert_int_equal(cleat_result_http_status(NULL), 0);
	assert_false(cleat_result_is_tool_error(NULL));
	assert_false(cleat_result_is_cached(NULL));
	assert_null(cleat_result_raw(NULL));
	assert_null(cleat_result_json(NULL));
	assert_null(cleat_result_items(NULL));
	assert_null(cleat_result_error_data(NULL));
	assert_null(cleat_result_error_json(NULL));
	assert_string_equal(cleat_result_text(NULL), "");
	assert_false(cleat_result_content(NULL, 0, &c));
	assert_null(c.json);
	assert_int_equal(c.size, 0);
	assert_int_equal(cleat_result_record(NULL, point_fields, &p), CLEAT_ENOMEM);
	assert_int_equal(p.x, 0);
	assert_null(p.label);
	cleat_result_free(NULL);
	result_fail(NULL, CLEAT_STEP_DNS, 0, cleat_result_error(NULL));
	result_set(NULL, NULL);
	result_set_error(NULL, 0, NULL);
}

TEST(a_new_one_is_empty)
{
	cleat_result *r = result_new(NULL, RESULT_TOOL);
	cleat_content c;

	assert_int_equal(cleat_result_status(r), CLEAT_OK);
	assert_int_equal(cleat_result_error(r)->status, CLEAT_OK);
	assert_string_equal(cleat_result_error(r)->message, "");
	assert_null(cleat_result_raw(r));
	assert_null(cleat_result_json(r));
	assert_null(cleat_result_items(r));
	assert_string_equal(cleat_result_text(r), "");
	assert_false(cleat_result_content(r, 0, &c));
	assert_false(cleat_result_content(r, 0, NULL));
	cleat_result_free(r);
}

/* ---- results ---------------------------------------------------------------------------------- */

TEST(the_shape_follows_from_the_method)
{
	static const struct {
		const char *method;
		enum result_shape shape;
	} rows[] = {
		{ "tools/call", RESULT_TOOL },
		{ "resources/read", RESULT_RESOURCE },
		{ "prompts/get", RESULT_PROMPT },
		{ "completion/complete", RESULT_COMPLETE },
		{ "tools/list", RESULT_LIST },
		{ "resources/list", RESULT_LIST },
		{ "resources/templates/list", RESULT_LIST },
		{ "prompts/list", RESULT_LIST },
		{ "ping", RESULT_OTHER },
		{ "tools", RESULT_OTHER },
		{ "tools/callx", RESULT_OTHER },
		{ "", RESULT_OTHER },
	};

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++)
		assert_int_equal(result_shape_of(str_of(rows[i].method)), rows[i].shape);
	assert_int_equal(result_shape_of((struct str){ 0 }), RESULT_OTHER);
	assert_int_equal(result_shape_of(STR_LIT("ping\0tools/call")), RESULT_OTHER);
}

/* `items`: the first of them, as JSON text; NULL: none. */
TEST(the_items_are_the_array_that_it_is_about)
{
	static const struct {
		enum result_shape shape;
		const char *text, *items;
	} rows[] = {
		{ RESULT_TOOL, "{\"content\":[1]}", "[1]" },
		{ RESULT_TOOL, "{\"content\":[]}", "[]" },
		{ RESULT_TOOL, "{\"content\":{\"0\":1}}", NULL },
		{ RESULT_TOOL, "{\"content\":\"x\"}", NULL },
		{ RESULT_TOOL, "{\"contents\":[1]}", NULL },
		{ RESULT_RESOURCE, "{\"contents\":[2],\"content\":[1]}", "[2]" },
		{ RESULT_RESOURCE, "{\"contents\":null}", NULL },
		{ RESULT_PROMPT, "{\"description\":\"d\",\"messages\":[3]}", "[3]" },
		{ RESULT_PROMPT, "{\"messages\":true}", NULL },
		{ RESULT_COMPLETE, "{\"completion\":{\"values\":[\"a\"]}}", "[\"a\"]" },
		{ RESULT_COMPLETE, "{\"completion\":[\"a\"]}", NULL },
		{ RESULT_COMPLETE, "{\"completion\":{\"values\":\"a\"}}", NULL },
		{ RESULT_COMPLETE, "{\"values\":[\"a\"]}", NULL },
		{ RESULT_LIST, "{\"tools\":[4],\"nextCursor\":\"x\"}", "[4]" },
		{ RESULT_LIST, "{\"x-more\":[1],\"prompts\":[5]}", "[5]" },
		{ RESULT_LIST, "{\"resources\":[6]}", "[6]" },
		{ RESULT_LIST, "{\"resourceTemplates\":[7]}", "[7]" },
		{ RESULT_LIST, "{\"tools\":{},\"others\":[8]}", "[8]" },
		{ RESULT_LIST, "{\"tools\":null}", NULL },
		{ RESULT_LIST, "{}", NULL },
		{ RESULT_OTHER, "{\"content\":[1],\"tools\":[2]}", NULL },
	};

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		cleat_result *r = make(rows[i].shape, rows[i].text);
		const cleat_json *items = cleat_result_items(r), *wanted;

		assert_int_equal(cleat_result_status(r), CLEAT_OK);
		assert_int_equal(items != NULL, rows[i].items != NULL);
		if (items) {
			json_parse(&r->arena, str_of(rows[i].items), NULL, &wanted, NULL);
			assert_true(cleat_json_equal(items, wanted));
			assert_ptr_equal(r->items, NULL);
			r->items = wanted; /* the pages of a list, put together */
			assert_ptr_equal(cleat_result_items(r), wanted);
		}
		cleat_result_free(r);
	}
}

/* 2026-07-28 server/tools, Structured Content: any JSON value, null too. */
TEST(the_json_of_a_tool_is_its_structured_content)
{
	static const struct {
		enum result_shape shape;
		const char *text;
		int type;
	} rows[] = {
		{ RESULT_TOOL, "{\"content\":[],\"structuredContent\":{\"a\":1}}",
		  CLEAT_JSON_OBJECT },
		{ RESULT_TOOL, "{\"structuredContent\":[1]}", CLEAT_JSON_ARRAY },
		{ RESULT_TOOL, "{\"structuredContent\":null}", CLEAT_JSON_NULL },
		{ RESULT_TOOL, "{\"structuredContent\":1e999}", CLEAT_JSON_NUMBER },
		{ RESULT_TOOL, "{\"content\":[]}", CLEAT_JSON_NONE },
		{ RESULT_OTHER, "{\"content\":[]}", CLEAT_JSON_OBJECT },
		{ RESULT_LIST, "{\"structuredContent\":1}", CLEAT_JSON_OBJECT },
	};

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		cleat_result *r = make(rows[i].shape, rows[i].text);

		assert_int_equal(cleat_json_type(cleat_result_json(r)), rows[i].type);
		assert_int_equal(cleat_json_type(cleat_result_raw(r)), CLEAT_JSON_OBJECT);
		cleat_result_free(r);
	}
}

TEST(what_is_no_object_is_no_result)
{
	static const char *const rows[] = { "null", "[]", "\"ok\"", "1", "true", "-0", "[{}]" };

	for (size_t i = 0; i <= CLEAT_COUNT(rows); i++) {
		cleat_result *r = i < CLEAT_COUNT(rows) ? make(RESULT_TOOL, rows[i])
							: result_new(NULL, RESULT_TOOL);

		if (i == CLEAT_COUNT(rows))
			result_set(r, NULL);
		assert_int_equal(cleat_result_status(r), CLEAT_EPROTO);
		assert_int_equal(cleat_result_step(r), CLEAT_STEP_PROTOCOL);
		assert_non_null(strstr(cleat_result_error(r)->message, "result"));
		assert_null(cleat_result_raw(r));
		assert_null(cleat_result_json(r));
		assert_null(cleat_result_items(r));
		cleat_result_free(r);
	}
}

/* ---- failures --------------------------------------------------------------------------------- */

TEST(a_tool_that_failed_is_a_failure_with_content)
{
	static const struct {
		const char *text, *message;
		bool failed;
	} rows[] = {
		{ "{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"no such city\"}]}",
		  "no such city", true },
		{ "{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"a\"},"
		  "{\"type\":\"text\",\"text\":\"b\"}]}",
		  "a b", true },
		{ "{\"isError\":true,\"content\":[]}", "the tool failed and does not say why",
		  true },
		{ "{\"isError\":true}", "the tool failed and does not say why", true },
		{ "{\"isError\":true,\"content\":7}", "the tool failed and does not say why",
		  true },
		{ "{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"%s%n\\u001b[2J\"}]}",
		  "%s%n [2J", true },
		{ "{\"isError\":false,\"content\":[]}", "", false },
		{ "{\"isError\":\"true\",\"content\":[]}", "", false },
		{ "{\"isError\":1}", "", false },
		{ "{\"isError\":null}", "", false },
	};

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		cleat_result *r = make(RESULT_TOOL, rows[i].text);

		assert_int_equal(cleat_result_is_tool_error(r), rows[i].failed);
		assert_int_equal(cleat_result_status(r), rows[i].failed ? CLEAT_EREMOTE : CLEAT_OK);
		assert_int_equal(cleat_result_step(r),
				 rows[i].failed ? CLEAT_STEP_ANSWER : CLEAT_STEP_NONE);
		assert_int_equal(cleat_result_error(r)->rpc_code, 0);
		assert_string_equal(cleat_result_error(r)->message, rows[i].message);
		assert_non_null(cleat_result_raw(r));
		cleat_result_free(r);
	}
}

TEST(only_tools_have_is_error)
{
	cleat_result *r = make(RESULT_RESOURCE, "{\"isError\":true,\"contents\":[]}");

	assert_int_equal(cleat_result_status(r), CLEAT_OK);
	assert_false(cleat_result_is_tool_error(r));
	cleat_result_free(r);
}

TEST(an_error_of_the_server_is_told_with_code_and_data)
{
	static const struct {
		const char *text, *message;
		int status, code;
		bool data;
	} rows[] = {
		{ "{\"code\":-32602,\"message\":\"Unknown tool\",\"data\":{\"a\":1}}",
		  "Unknown tool", CLEAT_EREMOTE, -32602, true },
		{ "{\"code\":7,\"message\":\"x\",\"data\":null}", "x", CLEAT_EREMOTE, 7, true },
		{ "{\"code\":1e2,\"message\":\"line1\\nline2\"}", "line1 line2", CLEAT_EREMOTE, 100,
		  false },
		{ "{\"code\":99999999999,\"message\":\"x\"}", "x", CLEAT_EREMOTE, 0, false },
		{ "{\"code\":1e999999999,\"message\":\"x\"}", "x", CLEAT_EREMOTE, 0, false },
		{ "{\"code\":\"-32602\",\"message\":\"x\"}", "x", CLEAT_EREMOTE, 0, false },
		{ "{\"code\":1.5,\"message\":\"x\"}", "x", CLEAT_EREMOTE, 0, false },
		{ "{\"code\":-2147483648,\"message\":\"a\\u0000b\"}", "a", CLEAT_EREMOTE,
		  -2147483647 - 1, false },
		{ "{\"code\":1}", "the server answered with an error and does not say why",
		  CLEAT_EREMOTE, 1, false },
		{ "{\"message\":{\"a\":1}}",
		  "the server answered with an error and does not say why", CLEAT_EREMOTE, 0,
		  false },
		{ "{\"message\":\"\"}", "the server answered with an error and does not say why",
		  CLEAT_EREMOTE, 0, false },
		{ "\"no\"", "the server's error is a string instead of an object", CLEAT_EPROTO, 0,
		  false },
		{ "null", "the server's error is null instead of an object", CLEAT_EPROTO, 0,
		  false },
	};

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		cleat_result *r = make_error(rows[i].text);

		assert_int_equal(cleat_result_status(r), rows[i].status);
		assert_string_equal(cleat_result_error(r)->message, rows[i].message);
		assert_int_equal(cleat_result_error(r)->rpc_code, rows[i].code);
		assert_int_equal(cleat_result_error_data(r) != NULL, rows[i].data);
		assert_int_equal(cleat_result_error_json(r) != NULL,
				 rows[i].status == CLEAT_EREMOTE);
		assert_int_equal(cleat_result_http_status(r), 400);
		assert_null(cleat_result_raw(r));
		assert_false(cleat_result_is_tool_error(r));
		assert_int_equal(cleat_result_step(r), rows[i].status == CLEAT_EREMOTE
							       ? CLEAT_STEP_ANSWER
							       : CLEAT_STEP_PROTOCOL);
		cleat_result_free(r);
	}
}

TEST(a_failure_is_kept_as_it_was)
{
	const cleat_error why = { .status = CLEAT_EIO, .os_errno = 111, .message = "refused" };
	cleat_result *r = result_new(NULL, RESULT_TOOL);
	struct point p;

	result_fail(r, CLEAT_STEP_CONNECT, 0, &why);
	assert_int_equal(cleat_result_status(r), CLEAT_EIO);
	assert_memory_equal(cleat_result_error(r), &why, sizeof why);
	assert_int_equal(cleat_result_step(r), CLEAT_STEP_CONNECT);
	assert_int_equal(cleat_result_record(r, point_fields, &p), CLEAT_EIO);
	assert_memory_equal(cleat_result_error(r), &why, sizeof why);
	result_fail(r, CLEAT_STEP_HTTP, 503, &why);
	assert_int_equal(cleat_result_http_status(r), 503);
	cleat_result_free(r);
}

TEST(every_step_has_a_name_of_its_own)
{
	for (int i = CLEAT_STEP_NONE; i <= CLEAT_STEP_CANCELLED; i++) {
		assert_string_not_equal(cleat_step_name((enum cleat_step)i), "unknown");
		for (int k = CLEAT_STEP_NONE; k < i; k++)
			assert_string_not_equal(cleat_step_name((enum cleat_step)i),
						cleat_step_name((enum cleat_step)k));
	}
	assert_string_equal(cleat_step_name((enum cleat_step)99), "unknown");
	assert_string_equal(cleat_step_name(CLEAT_STEP_CONNECT), "connecting");
	assert_string_equal(cleat_step_name(CLEAT_STEP_TLS), "TLS");
}

/* ---- records ---------------------------------------------------------------------------------- */

TEST(records_fit_or_the_place_is_named)
{
	static const struct {
		enum result_shape shape;
		const char *text;
		int status;
		const char *message; /* a part of it */
	} rows[] = {
		{ RESULT_TOOL, "{\"structuredContent\":{\"x\":3,\"label\":\"a\"}}", CLEAT_OK, "" },
		{ RESULT_TOOL, "{\"structuredContent\":{\"x\":3,\"label\":\"a\",\"more\":[]}}",
		  CLEAT_OK, "" },
		{ RESULT_OTHER, "{\"x\":3,\"label\":\"a\"}", CLEAT_OK, "" },
		{ RESULT_TOOL, "{\"x\":3}", CLEAT_EPROTO, "no structuredContent" },
		{ RESULT_TOOL, "{\"structuredContent\":null}", CLEAT_EPROTO,
		  "structuredContent: expected object, got null" },
		{ RESULT_TOOL, "{\"structuredContent\":[3]}", CLEAT_EPROTO, "expected object" },
		{ RESULT_TOOL, "{\"structuredContent\":{}}", CLEAT_EPROTO, "x" },
		{ RESULT_TOOL, "{\"structuredContent\":{\"x\":\"3\"}}", CLEAT_EPROTO,
		  "structuredContent: x: expected integer" },
		{ RESULT_TOOL, "{\"structuredContent\":{\"x\":10}}", CLEAT_EPROTO,
		  "between 0 and 9" },
		{ RESULT_TOOL, "{\"structuredContent\":{\"x\":1e400}}", CLEAT_EPROTO, "x: " },
		{ RESULT_TOOL, "{\"structuredContent\":{\"x\":1,\"x\":2}}", CLEAT_EPROTO, "x" },
		{ RESULT_TOOL, "{\"structuredContent\":{\"x\":1,\"label\":\"a\\u0000b\"}}",
		  CLEAT_EPROTO, "label" },
		{ RESULT_TOOL, "{\"isError\":true,\"structuredContent\":{\"x\":1}}", CLEAT_EREMOTE,
		  "does not say why" },
		{ RESULT_OTHER, "{\"x\":-1}", CLEAT_EPROTO, "result: x: expected" },
		{ RESULT_OTHER, "{\"x\":-1,\"label\":7}", CLEAT_EPROTO, "got -1" }, /* the first */
	};

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		cleat_result *r = make(rows[i].shape, rows[i].text);
		struct point p = { 77, "old" };
		int own = cleat_result_status(r);

		assert_int_equal(cleat_result_record(r, point_fields, &p), rows[i].status);
		assert_non_null(strstr(cleat_result_error(r)->message, rows[i].message));
		assert_int_equal(cleat_result_error(r)->status, rows[i].status);
		assert_int_equal(cleat_result_status(r), own);
		assert_int_equal(p.x, rows[i].status ? 0 : 3);
		if (rows[i].status)
			assert_null(p.label);
		else
			assert_string_equal(p.label, "a");
		cleat_result_free(r);
	}
}

TEST(another_record_gets_another_answer)
{
	static const cleat_field narrow[] = { CLEAT_FIELD(struct point, x, NULL, CLEAT_AT_MOST(1)),
					      CLEAT_FIELD_END };
	static const cleat_field wrong[] = { CLEAT_FIELD(struct point, x, NULL),
					     CLEAT_FIELD(struct point, x, NULL), CLEAT_FIELD_END };
	cleat_result *r = make(RESULT_TOOL, "{\"structuredContent\":{\"x\":3}}");
	struct point p;

	assert_int_equal(cleat_result_record(r, narrow, &p), CLEAT_EPROTO);
	assert_int_equal(cleat_result_error(r)->status, CLEAT_EPROTO);
	assert_int_equal(cleat_result_record(r, point_fields, &p), CLEAT_OK);
	assert_int_equal(p.x, 3);
	assert_int_equal(cleat_result_error(r)->status, CLEAT_OK);
	assert_int_equal(cleat_result_record(r, wrong, &p), CLEAT_EINVAL);
	assert_int_equal(cleat_result_record(r, NULL, &p), CLEAT_EINVAL);
	assert_int_equal(cleat_result_record(r, point_fields, NULL), CLEAT_EINVAL);
	assert_int_equal(cleat_result_error(r)->status, CLEAT_EINVAL);
	assert_int_equal(cleat_result_status(r), CLEAT_OK);
	cleat_result_free(r);
}

/* Nobody's values make the message too long for its place. */
TEST(a_misfit_is_one_line_that_fits)
{
	char line[1000];
	cleat_error err;

	memset(line, 'x', sizeof line);
	line[100] = '\n';
	assert_int_equal(result_misfit(&err, "what", (struct str){ line, sizeof line }),
			 CLEAT_EPROTO);
	assert_int_equal(err.status, CLEAT_EPROTO);
	assert_int_equal(strlen(err.message), 6 + 100);
	line[100] = 'x';
	assert_int_equal(result_misfit(&err, "what", (struct str){ line, sizeof line }),
			 CLEAT_EPROTO);
	assert_int_equal(strlen(err.message), sizeof err.message - 1);
	assert_int_equal(result_misfit(&err, "what", (struct str){ 0 }), CLEAT_EPROTO);
	assert_string_equal(err.message, "what: ");
	assert_int_equal(result_misfit(NULL, "what", (struct str){ line, 3 }), CLEAT_EPROTO);
}

/* ---- memory ----------------------------------------------------------------------------------- */

static const char answer[] =
	"{\"jsonrpc\":\"2.0\",\"id\":12345,\"result\":{\"content\":[{\"type\":\"text\",\"text\":"
	"\"Oslo: light rain, 9 degrees, wind from the south-west\"},{\"type\":\"text\",\"text\":"
	"\"Source: weather service\"}],\"isError\":false}}   ";

TEST(a_small_answer_costs_one_allocation)
{
	struct fail_alloc fa;
	const cleat_json *v;
	cleat_result *r;

	assert_in_range(sizeof answer - 1, 190, 210);
	fail_alloc_init(&fa, 0, false);
	r = parse(&fa.hook, RESULT_TOOL, answer, &v);
	result_set(r, json_member(v, "result"));
	assert_int_equal(strlen(cleat_result_text(r)), 53 + 1 + 23);
	assert_int_equal(fa.requests, 1);
	assert_true(fa.peak <= 4096);
	cleat_result_free(r);
	assert_int_equal(fa.live, 0);
}

struct many {
	const int *n;
	size_t count;
	struct point p;
};
static const cleat_field many_fields[] = {
	CLEAT_ARRAY(struct many, n, count, NULL),
	CLEAT_RECORD(struct many, p, point_fields, NULL),
	CLEAT_FIELD_END,
};

/* Everything with one allocation failing, once or from then on. */
static void use(const cleat_allocator *mem, const char *text)
{
	cleat_result *r = result_new(mem, RESULT_TOOL);
	const cleat_json *v = NULL;
	cleat_error why = { 0 };
	cleat_content c;
	struct many m;
	int rc;

	if (r && json_parse(&r->arena, str_of(text), NULL, &v, &why))
		result_fail(r, CLEAT_STEP_PROTOCOL, 0, &why);
	else
		result_set(r, v);
	rc = cleat_result_record(r, many_fields, &m);
	if (cleat_result_status(r) == CLEAT_OK) {
		assert_true(rc == CLEAT_OK || rc == CLEAT_ENOMEM || rc == CLEAT_EPROTO);
		assert_true(rc == CLEAT_ENOMEM || rc == cleat_result_error(r)->status ||
			    cleat_result_error(r)->status == CLEAT_ENOMEM);
		assert_int_equal(m.count, rc == CLEAT_OK ? 400 : 0);
	} else {
		assert_int_equal(rc, CLEAT_ENOMEM);
	}
	for (size_t i = 0; i < 4; i++)
		if (!cleat_result_content(r, i, &c))
			assert_null(c.json);
	assert_non_null(cleat_result_text(r));
	assert_non_null(cleat_result_text(r));
	cleat_result_free(r);
}

TEST(lack_of_memory_is_told_and_leaks_nothing)
{
	struct buf text;
	size_t rounds;

	buf_init(&text, NULL, SIZE_MAX / 2);
	for (int bad = 0; bad < 2; bad++) {
		buf_reset(&text, SIZE_MAX);
		buf_appendz(&text, "{\"content\":[{\"type\":\"image\",\"data\":\"");
		for (int i = 0; i < 1000; i++)
			buf_appendz(&text, "QUJD");
		buf_appendz(&text, "\"},{\"type\":\"text\",\"text\":\"");
		for (int i = 0; i < 1000; i++)
			buf_appendz(&text, "text");
		buf_appendz(&text,
			    "\"},{\"type\":\"text\",\"text\":\"b\"}],\"structuredContent\":{");
		buf_printf(&text, "\"p\":{\"x\":%s},\"n\":[0", bad ? "\"?\"" : "1");
		for (int i = 1; i < 400; i++)
			buf_appendz(&text, ",1");
		buf_append(&text, "]}}", 4);
		rounds = 0;
		for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa); rounds++)
			use(&fa.hook, buf_str(&text).p);
		assert_true(rounds > 2 * 3);
	}
	buf_done(&text);
}
