/* test_client_negotiate_http.c - finding out what a server speaks over HTTP (2026-07-28 streamable-http,
 * Backward Compatibility): bodies and statuses that mean something, and those that do not.
 */
#include "test.h"
#include "unit/client/negotiate_rig.h"

/* ---- HTTP -------------------------------------------------------------------------------------- */

/* streamable-http: an empty body, or no recognized modern error: initialize. Conformance mocks answer
 * discover with 200 {} or 400 -32000. */
TEST(http_falls_back_to_initialize)
{
	static const struct {
		int status;
		const char *rest; /* NULL: no JSON in it */
	} cases[] = { { 200, "\"result\":{}" },
		      { 400, BUSY },
		      { 400, NULL },
		      { 404, NULL },
		      { 405, NULL },
		      { 406, NULL },
		      { 422, NULL },
		      { 404, UNKNOWN },
		      { 200, UNKNOWN } };

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct rig rig;

		open_http(&rig, NULL);
		assert_string_equal(rig_last(&rig)->method, "server/discover");
		if (cases[i].rest)
			rig_reply(&rig, rig_request(&rig), cases[i].status, cases[i].rest);
		else
			rig_failed(&rig, rig_request(&rig)->tag, cases[i].status, CLEAT_STEP_HTTP,
				   "no");
		expect_initialize(&rig, "2025-11-25");
		assert_int_equal(rig.resets, 1);
		rig_answer(&rig, RIG_INITIALIZE("2025-11-25", RIG_CAPS));
		/* Nothing else before the server has taken notifications/initialized. */
		assert_int_equal(rig.n_sent, 3);
		assert_string_equal(rig_last(&rig)->method, "notifications/initialized");
		assert_non_null(rig_last(&rig)->tag);
		assert_int_equal(rig_last(&rig)->rev, REV_2025_11_25);
		assert_int_equal(rig.listens, 0);
		rig.ev.accepted(rig.ev.ctx, rig_last(&rig)->tag);
		assert_int_equal(rig.listens, 1);
		expect_ready(&rig, false);
		rig_done(&rig);
	}
}

/* 401, 403, 429, 5xx and a broken connection say nothing about the era. */
TEST(trouble_is_no_evidence)
{
	static const struct {
		int status;
		enum cleat_step step;
	} cases[] = { { 401, CLEAT_STEP_AUTH },   { 403, CLEAT_STEP_AUTH },
		      { 429, CLEAT_STEP_HTTP },   { 500, CLEAT_STEP_HTTP },
		      { 503, CLEAT_STEP_HTTP },   { 0, CLEAT_STEP_CONNECT },
		      { 0, CLEAT_STEP_EXCHANGE }, { 0, CLEAT_STEP_TLS },
		      { 0, CLEAT_STEP_DNS } };

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct rig rig;

		open_http(&rig, NULL);
		rig_failed(&rig, rig_request(&rig)->tag, cases[i].status, cases[i].step, "nope");
		assert_int_equal(rig.n_sent, 1);
		rig_expect(&rig, CLEAT_EIO, cases[i].step, "nope");
		assert_int_equal(cleat_result_http_status(rig_result(&rig)), cases[i].status);
		/* and the next call tries again */
		rig_call(&rig, "tools/call", "{\"name\":\"t\"}");
		assert_int_equal(rig.opens, 1);
		assert_string_equal(rig_request(&rig)->method, "server/discover");
		rig_answer(&rig, RIG_DISCOVER(RIG_CAPS));
		expect_ready(&rig, true);
		rig_done(&rig);
	}
}

/* streamable-http, HTTP+SSE Transport: 400, 404 or 405 for initialize. */
TEST(http_falls_back_to_sse)
{
	static const int statuses[] = { 400, 404, 405 };

	for (size_t i = 0; i < CLEAT_COUNT(statuses); i++) {
		struct rig rig;

		open_http(&rig, NULL);
		rig_failed(&rig, rig_request(&rig)->tag, statuses[i], CLEAT_STEP_HTTP, "no POST");
		expect_initialize(&rig, "2025-11-25");
		rig_failed(&rig, rig_request(&rig)->tag, statuses[i], CLEAT_STEP_HTTP, "no POST");
		assert_int_equal(rig.fall_backs, 1);
		assert_int_equal(rig.n_sent, 2);
		rig_up(&rig);
		expect_initialize(&rig, "2025-11-25");
		rig_say(&rig,
			"{\"jsonrpc\":\"2.0\",\"id\":%d," RIG_INITIALIZE("2024-11-05", "{}") "}",
			(int)(uintptr_t)rig_request(&rig)->tag);
		rig.ev.accepted(rig.ev.ctx, rig_last(&rig)->tag);
		expect_ready(&rig, false);
		rig_done(&rig);
	}
}

TEST(no_sse_either_tells_both_reasons)
{
	struct rig rig;

	open_http(&rig, NULL);
	rig_failed(&rig, rig_request(&rig)->tag, 404, CLEAT_STEP_HTTP, "404 for the probe");
	rig_failed(&rig, rig_request(&rig)->tag, 404, CLEAT_STEP_HTTP, "404 for the POST");
	rig.ev.up(rig.ev.ctx, &(struct link_failure){ .step = CLEAT_STEP_HTTP,
						      .http_status = 404,
						      .error = { .status = CLEAT_EIO,
								 .message = "404 for the GET" } });
	rig_expect(&rig, CLEAT_EIO, CLEAT_STEP_HTTP,
		   "404 for the GET; before that: 404 for the POST");
	rig_done(&rig);
	/* a link that has no older way */
	open_http(&rig, NULL);
	rig.fall_back_status = CLEAT_EUNSUPPORTED;
	rig_failed(&rig, rig_request(&rig)->tag, 404, CLEAT_STEP_HTTP, "404 for the probe");
	rig_failed(&rig, rig_request(&rig)->tag, 404, CLEAT_STEP_HTTP, "404 for the POST");
	rig_expect(&rig, CLEAT_EPROTO, CLEAT_STEP_NEGOTIATE, "404 for the POST");
	rig_done(&rig);
}

/* A modern server that lacks discover, which it MUST have: 404 with -32601 for both. */
TEST(a_modern_server_without_discover_is_used_all_the_same)
{
	struct rig rig;

	open_http(&rig, NULL);
	rig_reply(&rig, rig_request(&rig), 404, UNKNOWN);
	rig_reply(&rig, rig_request(&rig), 404, UNKNOWN);
	assert_int_equal(rig.fall_backs, 0);
	expect_ready(&rig, true);
	rig_done(&rig);
	open_http(&rig, &(cleat_client_options){ .era = CLEAT_ERA_MODERN });
	rig_reply(&rig, rig_request(&rig), 404, UNKNOWN);
	expect_ready(&rig, true);
	rig_done(&rig);
}

TEST(initialized_may_be_refused_or_answered)
{
	struct rig rig;

	for (int answered = 0; answered < 2; answered++) {
		open_http(&rig, &(cleat_client_options){ .era = CLEAT_ERA_LEGACY });
		rig_answer(&rig, RIG_INITIALIZE("2025-11-25", RIG_CAPS));
		if (answered) {
			rig_message(&rig, "{\"jsonrpc\":\"2.0\",\"result\":{}}",
				    rig_last(&rig)->tag, 200);
			expect_ready(&rig, false);
		} else {
			rig_failed(&rig, rig_last(&rig)->tag, 500, CLEAT_STEP_HTTP, "broken");
			rig_expect(&rig, CLEAT_EIO, CLEAT_STEP_HTTP,
				   "notifications/initialized: broken");
		}
		rig_done(&rig);
	}
}

RIG_TEST(no_stream_is_opened_when_none_is_wanted)
{
	rig_legacy(rig, &(cleat_client_options){ .no_stream = true }, true,
		   RIG_INITIALIZE("2025-11-25", RIG_CAPS));
	assert_int_equal(rig->listens, 0);
}
