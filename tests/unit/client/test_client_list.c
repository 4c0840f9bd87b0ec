/* Lists (2026-07-28 server/utilities/pagination), what is kept of results (server/utilities/caching), and
 * what is remembered of tools (streamable-http, Custom Headers). */
#include "test.h"
#include "unit/client/client_rig.h"

#define PAGE(items, more) "\"result\":{\"tools\":[" items "]" more "}"
#define TOOL(name)        "{\"name\":\"" name "\",\"inputSchema\":{\"type\":\"object\"}}"
#define KEEP              ",\"ttlMs\":60000,\"cacheScope\":\"private\""
#define HEADER_TOOL                                                                                \
	"{\"name\":\"h\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"region\":"         \
	"{\"type\":\"string\",\"x-mcp-header\":\"Region\"}}}}"
#define BAD_TOOL                                                                                   \
	"{\"name\":\"bad\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"r\":"            \
	"{\"type\":\"string\",\"x-mcp-header\":\"a b\"}}}}"
#define CALL_H "tools/call", "{\"name\":\"h\",\"arguments\":{\"region\":\"eu\"}}"

static size_t items(struct rig *rig)
{
	return cleat_json_size(cleat_result_items(rig_result(rig)));
}

/* ---- pages ------------------------------------------------------------------------------------- */

MODERN_TEST(all_pages_become_one_result)
{
	rig_list(rig, NULL, CLEAT_LIST_TOOLS);
	assert_string_equal(rig_last(rig)->method, "tools/list");
	assert_lacks(rig_last(rig)->text, "cursor");
	rig_answer(rig, PAGE(TOOL("a") "," TOOL("b"), ",\"nextCursor\":\"\",\"x\":1"));
	assert_has(rig_last(rig)->text, "\"params\":{\"cursor\":\"\",\"_meta\"");
	rig_answer(rig, PAGE("", ",\"nextCursor\":\"c\\\"2\""));
	assert_has(rig_last(rig)->text, "\"cursor\":\"c\\\"2\"");
	rig_answer(rig, PAGE(TOOL("c"), ""));
	assert_int_equal(rig->n_done, 1);
	assert_int_equal(cleat_result_status(rig_result(rig)), CLEAT_OK);
	assert_int_equal(items(rig), 3);
	assert_null(cleat_json_get(cleat_result_raw(rig_result(rig)), "nextCursor"));
	assert_int_equal(cleat_json_int(cleat_json_get(cleat_result_raw(rig_result(rig)), "x"), 0),
			 1);
}

MODERN_TEST(one_page_is_as_it_came)
{
	rig_list(rig, NULL, CLEAT_LIST_TEMPLATES);
	assert_string_equal(rig_last(rig)->method, "resources/templates/list");
	rig_answer(rig, "\"result\":{\"resourceTemplates\":[{}],\"nextCursor\":null}");
	assert_int_equal(items(rig), 1);
}

RIG_TEST(a_server_without_the_capability_has_an_empty_list)
{
	rig_legacy(rig, NULL, false, RIG_INITIALIZE("2025-11-25", "{\"prompts\":{}}"));
	for (int what = CLEAT_LIST_TOOLS; what <= CLEAT_LIST_TEMPLATES; what++) {
		rig_list(rig, NULL, (enum cleat_list)what);
		rig_pump(rig);
		assert_int_equal(rig->n_sent, 2);
		assert_int_equal(cleat_result_status(rig_result(rig)), CLEAT_OK);
		assert_non_null(cleat_result_items(rig_result(rig)));
		assert_int_equal(items(rig), 0);
	}
	rig_list(rig, NULL, CLEAT_LIST_PROMPTS);
	assert_int_equal(rig->n_sent, 3);
}

TEST(hostile_pages_are_refused)
{
	static const struct {
		const char *first, *second, *part;
		int status;
	} cases[] = {
		{ PAGE("", ",\"nextCursor\":\"a\""), PAGE("", ",\"nextCursor\":\"a\""), "circle",
		  CLEAT_EPROTO },
		{ "\"result\":{}", NULL, "no list in it", CLEAT_EPROTO },
		{ "\"result\":{\"tools\":{}}", NULL, "no list in it", CLEAT_EPROTO },
		{ PAGE("", ",\"nextCursor\":7"), NULL, "no string", CLEAT_EPROTO },
		{ PAGE("", ",\"nextCursor\":\"a\""), "\"result\":{\"tools\":7}", "no list in it",
		  CLEAT_EPROTO },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct rig rig;

		rig_modern(&rig, NULL, false);
		rig_list(&rig, NULL, CLEAT_LIST_TOOLS);
		rig_answer(&rig, cases[i].first);
		if (cases[i].second)
			rig_answer(&rig, cases[i].second);
		assert_int_equal(rig.n_done, 1);
		rig_expect(&rig, cases[i].status, CLEAT_STEP_PROTOCOL, cases[i].part);
		rig_done(&rig);
	}
}

RIG_TEST(pages_and_cursors_have_limits)
{
	static char huge[80000];
	char page[64];

	rig_modern(rig, &(cleat_client_options){ .max_pages = 3 }, false);
	rig_list(rig, NULL, CLEAT_LIST_TOOLS);
	for (int i = 0; i < 3; i++) {
		snprintf(page, sizeof page, PAGE("", ",\"nextCursor\":\"%d\""), i);
		rig_answer(rig, page);
	}
	rig_expect(rig, CLEAT_ELIMIT, CLEAT_STEP_PROTOCOL, "max_pages");
	rig_list(rig, NULL, CLEAT_LIST_TOOLS);
	snprintf(huge, sizeof huge, "\"result\":{\"tools\":[],\"nextCursor\":\"%070000d\"}", 0);
	rig_answer(rig, huge);
	rig_expect(rig, CLEAT_EPROTO, CLEAT_STEP_PROTOCOL, "64 KiB");
}

#define TEN   "1,1,1,1,1,1,1,1,1,1"
#define FIFTY TEN "," TEN "," TEN "," TEN "," TEN

/* All pages become one value, which may have as much in it as that of one message, and four times the text:
 * {"prompts":[...],"nextCursor":"2"} are 55 values and keys, two more lists 51 each, and 200 bytes. */
TEST(a_list_has_the_limits_of_a_message)
{
	static const struct {
		cleat_client_options o;
		const char *part; /* of what is wrong; NULL: nothing */
	} cases[] = {
		{ { .json = { .max_nodes = 156 } }, "json.max_nodes" },
		{ { .json = { .max_nodes = 157 } }, NULL },
		{ { .max_message = 49 }, "max_message" },
		{ { .max_message = 50 }, NULL },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct rig rig;

		rig_modern(&rig, &cases[i].o, false);
		rig_list(&rig, NULL, CLEAT_LIST_PROMPTS);
		rig_answer(&rig, "\"result\":{\"prompts\":[" FIFTY "],\"nextCursor\":\"2\"}");
		rig_answer(&rig, "\"result\":{\"prompts\":[" FIFTY "],\"nextCursor\":\"3\"}");
		assert_int_equal(rig.n_done, 0);
		rig_answer(&rig, "\"result\":{\"prompts\":[" FIFTY "]}");
		assert_int_equal(rig.n_done, 1);
		if (cases[i].part) {
			rig_expect(&rig, CLEAT_ELIMIT, CLEAT_STEP_PROTOCOL, cases[i].part);
		} else {
			assert_int_equal(cleat_result_status(rig_result(&rig)), CLEAT_OK);
			assert_int_equal(items(&rig), 150);
		}
		rig_done(&rig);
	}
}

MODERN_TEST(an_error_on_a_page_is_the_result)
{
	rig_list(rig, NULL, CLEAT_LIST_TOOLS);
	rig_answer(rig, PAGE(TOOL("a"), ",\"nextCursor\":\"x\""));
	rig_answer(rig, "\"error\":{\"code\":-32602,\"message\":\"invalid cursor\"}");
	rig_expect(rig, CLEAT_EREMOTE, CLEAT_STEP_ANSWER, "tools/list: invalid cursor");
}

/* ---- the cache --------------------------------------------------------------------------------- */

/* caching: fresh while now < t_received + ttlMs; keyed by method and params. */
MODERN_TEST(fresh_results_are_not_asked_for_again)
{
	rig_call(rig, "resources/read", "{\"uri\":\"a:1\",\"_meta\":{\"x\":1}}");
	rig_answer(rig, "\"result\":{\"contents\":[]" KEEP "}");
	rig_call(rig, "resources/read", "{ \"uri\" : \"a:1\" }");
	assert_int_equal(rig->n_sent, 2);
	assert_int_equal(rig->n_done, 1); /* never inside the function that starts it */
	rig_pump(rig);
	assert_int_equal(rig->n_done, 2);
	assert_true(cleat_result_is_cached(rig_result(rig)));
	rig_call(rig, "resources/read", "{\"uri\":\"a:2\"}");
	assert_int_equal(rig->n_sent, 3);
	rig_call_with(rig, &(cleat_call_options){ .no_cache = true }, "resources/read",
		      "{\"uri\":\"a:1\"}");
	assert_int_equal(rig->n_sent, 4);
	rig_pass(rig, 60000);
	rig_call(rig, "resources/read", "{\"uri\":\"a:1\"}");
	assert_int_equal(rig_request(rig)->kind, LINK_REQUEST);
	assert_has(rig_request(rig)->text, "a:1");
}

TEST(what_must_not_be_kept_is_not)
{
	static const struct {
		bool no_cache, legacy;
		const char *method, *params, *answer;
	} cases[] = {
		{ true, false, "tools/list", "{}", PAGE("", KEEP) },
		{ false, true, "tools/list", "{}", PAGE("", KEEP) },
		{ false, false, "tools/list", "{}", PAGE("", ",\"ttlMs\":0") },
		{ false, false, "tools/list", "{}", PAGE("", "") },
		{ false, false, "tools/call", "{\"name\":\"x\"}",
		  "\"result\":{\"content\":[]" KEEP "}" },
		{ false, false, "resources/read", "{\"uri\":\"a\",\"requestState\":\"s\"}",
		  "\"result\":{\"contents\":[]" KEEP "}" },
		{ false, false, "resources/read", "{\"uri\":\"a\",\"inputResponses\":{}}",
		  "\"result\":{\"contents\":[]" KEEP "}" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct rig rig;
		cleat_client_options o = { .no_cache = cases[i].no_cache };
		size_t sent;

		if (cases[i].legacy)
			rig_legacy(&rig, &o, false, RIG_INITIALIZE("2025-11-25", RIG_CAPS));
		else
			rig_modern(&rig, &o, false);
		rig_call(&rig, cases[i].method, cases[i].params);
		rig_answer(&rig, cases[i].answer);
		assert_int_equal(cleat_result_status(rig_result(&rig)), CLEAT_OK);
		sent = rig.n_sent;
		rig_call(&rig, cases[i].method, cases[i].params);
		assert_int_equal(rig.n_sent, sent + 1);
		rig_done(&rig);
	}
}

/* "Results produced by retrying a request through [mrtr] MUST NOT be cached" */
MODERN_TEST(results_of_questions_are_not_kept)
{
	rig->answer_at_once = "\"result\":{}";
	rig_call(rig, "resources/read", "{\"uri\":\"a:1\"}");
	rig_answer(rig, "\"result\":{\"resultType\":\"input_required\",\"inputRequests\":"
			"{\"r\":{\"method\":\"roots/list\"}}}");
	rig_answer(rig, "\"result\":{\"contents\":[]" KEEP "}");
	assert_int_equal(rig->n_done, 1);
	rig_call(rig, "resources/read", "{\"uri\":\"a:1\"}");
	assert_int_equal(rig->n_sent, 4);
}

/* "each page is an independently cacheable response" */
MODERN_TEST(pages_are_kept_one_by_one)
{
	rig_list(rig, NULL, CLEAT_LIST_TOOLS);
	rig_answer(rig, PAGE(TOOL("a"), ",\"nextCursor\":\"2\"" KEEP));
	rig_answer(rig, PAGE(TOOL("b"), ",\"ttlMs\":1000"));
	assert_int_equal(rig->n_sent, 3);
	rig_list(rig, NULL, CLEAT_LIST_TOOLS);
	rig_pump(rig);
	assert_int_equal(rig->n_sent, 3);
	assert_int_equal(items(rig), 2);
	assert_true(cleat_result_is_cached(rig_result(rig)));
	rig_pass(rig, 2000);
	rig_list(rig, NULL, CLEAT_LIST_TOOLS);
	assert_int_equal(rig->n_sent, 4);
	assert_has(rig_last(rig)->text, "\"cursor\":\"2\"");
	rig_answer(rig, PAGE(TOOL("b") "," TOOL("c"), ""));
	assert_int_equal(items(rig), 3);
	assert_false(cleat_result_is_cached(rig_result(rig)));
}

/* "If a cursor becomes invalid [...], the client SHOULD discard all cached pages and re-fetch from the
 * beginning." Once; and an error that has nothing to do with what was kept is the result. */
MODERN_TEST(a_list_begins_anew_when_a_cursor_that_was_kept_is_refused)
{
	static const char refused[] = "\"error\":{\"code\":-32602,\"message\":\"no such cursor\"}";

	rig_list(rig, NULL, CLEAT_LIST_TOOLS);
	rig_answer(rig, PAGE(TOOL("a"), ",\"nextCursor\":\"2\"" KEEP));
	rig_answer(rig, PAGE(TOOL("b"), ",\"ttlMs\":1000"));
	rig_pass(rig, 2000);
	rig_list(rig, NULL, CLEAT_LIST_TOOLS);
	assert_has(rig_last(rig)->text, "\"cursor\":\"2\"");
	rig_answer(rig, refused);
	assert_int_equal(rig->n_done, 1);
	assert_null(strstr(rig_last(rig)->text, "cursor"));
	rig_answer(rig, PAGE(TOOL("c"), ",\"nextCursor\":\"2\"" KEEP));
	assert_has(rig_last(rig)->text, "\"cursor\":\"2\"");
	rig_answer(rig, PAGE(TOOL("d"), ""));
	assert_int_equal(items(rig), 2);
	assert_false(cleat_result_is_cached(rig_result(rig)));
	/* From the cache again, and this server refuses whatever it gives. */
	rig_list(rig, NULL, CLEAT_LIST_TOOLS);
	rig_answer(rig, refused);
	rig_answer(rig, PAGE(TOOL("c"), ",\"nextCursor\":\"3\"" KEEP));
	assert_int_equal(rig->n_done, 2);
	rig_answer(rig, refused);
	rig_expect(rig, CLEAT_EREMOTE, CLEAT_STEP_ANSWER, "no such cursor");
	/* What led there is not kept. */
	rig_list(rig, NULL, CLEAT_LIST_TOOLS);
	assert_null(strstr(rig_last(rig)->text, "cursor"));
}

/* ---- tools ------------------------------------------------------------------------------------- */

/* streamable-http, Custom Headers: Mcp-Param-*; wrong annotations: the tool MUST be left out. */
TEST(headers_follow_the_list_of_tools)
{
	struct rig rig;

	rig_modern(&rig, NULL, true);
	rig_call(&rig, CALL_H);
	assert_string_equal(rig_last(&rig)->fields, "");
	rig_call(&rig, "tools/list", NULL);
	rig_answer(&rig, PAGE(HEADER_TOOL "," BAD_TOOL "," TOOL("a"), ",\"x\":1"));
	assert_int_equal(items(&rig), 2);
	assert_has(rig.notes, "the tool \"bad\" was left out");
	assert_non_null(cleat_json_get(cleat_result_raw(rig_result(&rig)), "x"));
	rig_call(&rig, CALL_H);
	assert_has(rig_last(&rig)->fields, "=eu;");
	rig_call(&rig, "tools/call", "{\"name\":\"bad\",\"arguments\":{}}");
	rig_pump(&rig);
	rig_expect(&rig, CLEAT_EINVAL, CLEAT_STEP_ARGUMENTS, "tools/call bad");
	rig_done(&rig);
	/* on a stream there are no headers */
	rig_modern(&rig, NULL, false);
	rig_call(&rig, "tools/list", NULL);
	rig_answer(&rig, PAGE(HEADER_TOOL "," BAD_TOOL, ""));
	assert_int_equal(items(&rig), 2);
	rig_call(&rig, CALL_H);
	assert_string_equal(rig_last(&rig)->fields, "");
	rig_done(&rig);
}

/* "On HeaderMismatch ... refresh tools/list and retry." */
RIG_TEST(a_header_mismatch_refreshes_the_tools_once)
{
	static const char mismatch[] = "\"error\":{\"code\":-32020,\"message\":\"HeaderMismatch\"}";

	rig_modern(rig, NULL, true);
	rig_call(rig, CALL_H);
	rig_call(rig, CALL_H);
	rig_reply(rig, &rig->sent[1], 400, mismatch);
	rig_reply(rig, &rig->sent[2], 400, mismatch);
	assert_int_equal(rig->n_sent, 4);
	assert_string_equal(rig_last(rig)->method, "tools/list");
	rig_answer(rig, PAGE(TOOL("a"), ",\"nextCursor\":\"2\""));
	rig_answer(rig, PAGE(HEADER_TOOL, ""));
	assert_int_equal(rig->n_sent, 7);
	assert_has(rig->sent[5].fields, "=eu;");
	assert_has(rig->sent[6].fields, "=eu;");
	rig_reply(rig, &rig->sent[5], 400, mismatch);
	rig_expect(rig, CLEAT_EREMOTE, CLEAT_STEP_ANSWER, "HeaderMismatch");
	rig_reply(rig, &rig->sent[6], 200, "\"result\":{\"content\":[]}");
	assert_int_equal(cleat_result_status(rig_result(rig)), CLEAT_OK);
	assert_int_equal(rig->n_sent, 7);
	/* also when the list cannot be read */
	rig_call(rig, CALL_H);
	rig_reply(rig, rig_request(rig), 400, mismatch);
	rig_failed(rig, rig_request(rig)->tag, 500, CLEAT_STEP_HTTP, "broken");
	assert_string_equal(rig_request(rig)->method, "tools/call");
}

MODERN_TEST(results_are_held_against_the_output_schema)
{
	rig_call(rig, "tools/list", NULL);
	rig_answer(rig, PAGE("{\"name\":\"o\",\"inputSchema\":{\"type\":\"object\"},"
			     "\"outputSchema\":{\"type\":\"object\",\"properties\":{\"n\":"
			     "{\"type\":\"integer\"}},\"required\":[\"n\"]}}",
			     ""));
	rig_call(rig, "tools/call", "{\"name\":\"o\"}");
	rig_answer(rig, "\"result\":{\"content\":[],\"structuredContent\":{\"n\":1}}");
	assert_int_equal(cleat_result_status(rig_result(rig)), CLEAT_OK);
	rig_call(rig, "tools/call", "{\"name\":\"o\"}");
	rig_answer(rig, "\"result\":{\"content\":[],\"structuredContent\":{\"n\":\"1\"}}");
	rig_expect(rig, CLEAT_EPROTO, CLEAT_STEP_PROTOCOL, "tools/call o: ");
}

#define WITH_OUTPUT                                                                                \
	PAGE("{\"name\":\"o\",\"inputSchema\":{\"type\":\"object\"},"                              \
	     "\"outputSchema\":{\"type\":\"object\",\"required\":[\"n\"]}}",                       \
	     "")

/* server/tools, List Changed Notification: what was promised in a list that is not good any more, or by
 * a server that is gone, is not held against results. */
TEST(a_promise_lasts_as_long_as_its_list)
{
	for (int gone = 0; gone < 2; gone++) {
		struct rig rig;

		rig_legacy(&rig, NULL, false, RIG_INITIALIZE("2025-11-25", RIG_CAPS));
		rig_call(&rig, "tools/list", NULL);
		rig_answer(&rig, WITH_OUTPUT);
		rig_call(&rig, "tools/call", "{\"name\":\"o\"}");
		rig_answer(&rig, "\"result\":{\"content\":[],\"structuredContent\":{\"m\":1}}");
		rig_expect(&rig, CLEAT_EPROTO, CLEAT_STEP_PROTOCOL, "tools/call o: ");
		if (gone)
			rig_down(&rig, "exited");
		else
			rig_say(&rig, "{\"jsonrpc\":\"2.0\",\"method\":"
				      "\"notifications/tools/list_changed\"}");
		rig_call(&rig, "tools/call", "{\"name\":\"o\"}");
		if (gone) {
			rig_up(&rig);
			rig_answer(&rig, RIG_INITIALIZE("2025-11-25", RIG_CAPS));
		}
		rig_answer(&rig, "\"result\":{\"content\":[],\"structuredContent\":{\"m\":1}}");
		assert_int_equal(cleat_result_status(rig_result(&rig)), CLEAT_OK);
		rig_done(&rig);
	}
}
