/* test_server_output.c - results against what a tool has promised of them, where the transcripts do not
 * reach: results larger and deeper than any message that comes in, several replies, other failures at
 * the same time (2025-06-18 server/tools, output schema).
 */
#include "test.h"
#include "unit/server/server_rig.h"

static cleat_handler *now;

static int do_now(cleat_request *req)
{
	return now(req);
}

struct numbers {
	const int *n;
	size_t count;
};
static const cleat_field number_fields[] = { CLEAT_ARRAY(struct numbers, n, count, NULL),
					     CLEAT_FIELD_END };

static void open_rig(struct rig *r, size_t max_reply)
{
	cleat_server_options o = rig_options(r);

	o.max_reply = max_reply;
	rig_server(r, &o);
	cleat_server_add_tool(
		r->s, &(cleat_tool){ .name = "fields", .call = do_now, .output = number_fields });
	cleat_server_add_tool(
		r->s, &(cleat_tool){ .name = "schema",
				     .call = do_now,
				     .output_schema = "{\"type\":\"object\",\"properties\":{\"n\":{"
						      "\"type\":\"integer\"}}}" });
	assert_int_equal(cleat_server_error(r->s)->status, CLEAT_OK);
	rig_wire(r);
	rig_open(r, "2025-11-25");
}

static const char *run(struct rig *r, cleat_handler *fn, const char *line)
{
	now = fn;
	return rig_ask(r, line);
}

#define FIELDS CALL("1", "fields", "{}")
#define SCHEMA CALL("1", "schema", "{}")

/* More values than a message may have that comes in. */
static int many(cleat_request *req)
{
	enum { MANY = 1100000 };
	int *n = cleat_request_alloc(req, MANY * sizeof *n);

	return cleat_reply_record(req, &(struct numbers){ n, MANY });
}

RIG_TEST(large_results_are_checked)
{
	open_rig(r, 0);
	run(r, many, FIELDS);
	assert_has(r->out, "\"structuredContent\":{\"n\":[0,0,");
	assert_string_equal(r->notes, "");
}

static int deep(cleat_request *req)
{
	enum { DEEP = 300 };
	const cleat_json_limits limits = { .max_depth = DEEP + 1 };
	char text[2 * DEEP + 20];
	cleat_doc *doc;
	int rc;

	strcpy(text, "{\"x\":");
	memset(text + 5, '[', DEEP);
	memset(text + 5 + DEEP, ']', DEEP);
	strcpy(text + 5 + 2 * DEEP, "}");
	doc = cleat_doc_parse(text, strlen(text), &limits, NULL, NULL);
	assert_non_null(doc);
	rc = cleat_reply_json(req, cleat_doc_root(doc));
	cleat_doc_free(doc);
	return rc;
}

RIG_TEST(deep_results_are_checked)
{
	open_rig(r, 0);
	run(r, deep, SCHEMA);
	assert_has(r->out, "\"structuredContent\":{\"x\":[[[");
	assert_string_equal(r->notes, "");
}

static int second_thoughts(cleat_request *req)
{
	cleat_reply_jsonf(req, "{n: 'wrong'}");
	return cleat_reply_jsonf(req, "{n: 2}");
}

static int worse_thoughts(cleat_request *req)
{
	cleat_reply_jsonf(req, "{n: 2}");
	return cleat_reply_jsonf(req, "{n: 'wrong'}");
}

/* A value is kept beside its text, what a template wrote is read. */
static int reply_value(cleat_request *req, const char *json)
{
	cleat_doc *doc = cleat_doc_parse(json, strlen(json), NULL, NULL, NULL);
	int rc = cleat_reply_json(req, cleat_doc_root(doc));

	cleat_doc_free(doc);
	return rc;
}

static int spelled(cleat_request *req)
{
	cleat_reply_jsonf(req, "{n: 'wrong'}");
	return reply_value(req, "{\"z\":1e400,\"n\":1.0,\"a\":{\"b\":-0,\"c\":\"\\u0041\"}}");
}

static int value_and_template(cleat_request *req)
{
	reply_value(req, "{\"n\":2}");
	return cleat_reply_jsonf(req, "{n: 'wrong'}");
}

RIG_TEST(values_and_templates_are_checked_alike)
{
	open_rig(r, 0);
	run(r, spelled, SCHEMA);
	assert_has(r->out,
		   "\"structuredContent\":{\"z\":1e400,\"n\":1.0,\"a\":{\"b\":-0,\"c\":\"A\"}}");
	run(r, value_and_template, SCHEMA);
	assert_has(r->out, "\"code\":-32603");
}

RIG_TEST(the_last_structured_reply_counts)
{
	open_rig(r, 0);
	run(r, second_thoughts, SCHEMA);
	assert_has(r->out, "\"structuredContent\":{\"n\":2}");
	run(r, worse_thoughts, SCHEMA);
	assert_has(r->out, "\"code\":-32603");
	assert_null(strstr(r->out, "wrong"));
	assert_has(r->notes,
		   "error: the result of schema does not fit its output schema: n: expected "
		   "integer, got \"wrong\"");
}

static int misfit_and_reject(cleat_request *req)
{
	cleat_reply_jsonf(req, "{n: 'wrong'}");
	return cleat_reply_reject(req, -32050, "no");
}

static int misfit_and_failure(cleat_request *req)
{
	cleat_reply_jsonf(req, "{n: 'wrong'}");
	return CLEAT_EIO;
}

static int misfit_and_too_large(cleat_request *req)
{
	cleat_reply_jsonf(req, "{n: 'wrong'}");
	return cleat_reply_textf(req, "%05000d", 1);
}

/* What is not a result is not held against the schema. */
RIG_TEST(other_failures_come_first)
{
	open_rig(r, 4096);
	run(r, misfit_and_reject, SCHEMA);
	assert_has(r->out, "\"code\":-32050");
	run(r, misfit_and_failure, SCHEMA);
	assert_has(r->out, "\"isError\":true");
	run(r, misfit_and_too_large, SCHEMA);
	assert_has(r->out, "limit of 4096 bytes");
	assert_null(strstr(r->notes, "output schema"));
}

/* A line of the log is one line, and not endless, whatever a result holds. */
static int many_problems(cleat_request *req)
{
	return cleat_reply_jsonf(req, "{n: [%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s]}", "\n",
				 "\x1b[2J", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l");
}

RIG_TEST(the_log_line_is_one_line)
{
	open_rig(r, 0);
	run(r, many_problems, FIELDS);
	assert_has(r->out, "\"code\":-32603");
	assert_has(r->notes, "the result of fields does not fit its output schema: n[0]: expected "
			     "integer, got \"\\u000a\"; n[1]: ");
	assert_ptr_equal(strchr(r->notes, '\n'), r->notes + strlen(r->notes) - 1);
	assert_null(strchr(r->notes, '\x1b'));
}
