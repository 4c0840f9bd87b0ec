/* Finding out what a server speaks (2026-07-28 basic/versioning; stdio, Backward Compatibility; 2025-11-25
 * basic/lifecycle). HTTP has its own signs: test_client_negotiate_http.c. */
#include "test.h"
#include "unit/client/negotiate_rig.h"

/* ---- streams ----------------------------------------------------------------------------------- */

/* stdio: probe with server/discover; a DiscoverResult is a modern server. */
RIG_TEST(a_discover_result_means_modern)
{
	open_stream(rig, NULL);
	assert_int_equal(rig->n_sent, 1);
	assert_string_equal(rig_last(rig)->method, "server/discover");
	assert_has(rig_last(rig)->text,
		   "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"");
	assert_true(rig_last(rig)->modern);
	rig_answer(rig, RIG_DISCOVER(RIG_CAPS));
	expect_ready(rig, true);
	assert_int_equal(rig->n_states, 1);
	assert_int_equal(rig->states[0].status, CLEAT_OK);
}

/* stdio: any other error, or no DiscoverResult: fall back. "MUST NOT be keyed to one specific error
 * code". */
TEST(anything_else_means_legacy)
{
	static const char *const answers[] = {
		UNKNOWN,
		BUSY,
		"\"error\":{\"code\":-32602,\"message\":\"x\"}",
		"\"error\":{\"code\":-32022,\"message\":\"a code of its own\"}",
		"\"result\":{}",
		"\"result\":{\"supportedVersions\":[]}",
		"\"result\":{\"supportedVersions\":\"2026-07-28\"}",
		"\"result\":{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":[]}",
		"\"result\":null",
		"\"result\":{\"resultType\":\"input_required\",\"requestState\":\"x\"}",
	};

	for (size_t i = 0; i < CLEAT_COUNT(answers); i++) {
		struct rig rig;

		open_stream(&rig, NULL);
		rig_answer(&rig, answers[i]);
		expect_initialize(&rig, "2025-11-25");
		rig_answer(&rig, RIG_INITIALIZE("2025-11-25", RIG_CAPS));
		assert_string_equal(rig.sent[2].text, "{\"jsonrpc\":\"2.0\",\"method\":"
						      "\"notifications/initialized\"}");
		expect_ready(&rig, false);
		assert_string_equal(cleat_client_server_name(rig.c), "old");
		rig_done(&rig);
	}
}

/* A legacy server that cannot make sense of the id, or of the message as a whole. */
TEST(an_error_without_id_answers_the_probe)
{
	static const char *const lines[] = {
		"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"?\"}}",
		"{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,\"message\":\"?\"}}",
	};

	for (size_t i = 0; i < CLEAT_COUNT(lines); i++) {
		struct rig rig;

		open_stream(&rig, NULL);
		rig_message(&rig, lines[i], NULL, 0);
		expect_initialize(&rig, "2025-11-25");
		rig_done(&rig);
	}
}

/* stdio: "does not respond within a reasonable timeout". Late answers to the probe are ignored. */
RIG_TEST(silence_means_legacy)
{
	open_stream(rig, NULL);
	assert_int_equal(rig_pump(rig), 5000);
	rig_pass(rig, 5000);
	expect_initialize(rig, "2025-11-25");
	rig_reply(rig, &rig->sent[0], 0, RIG_DISCOVER(RIG_CAPS));
	assert_int_equal(client_phase(rig->c), CLIENT_OPENING);
	rig_answer(rig, RIG_INITIALIZE("2025-06-18", RIG_CAPS));
	expect_ready(rig, false);
	assert_string_equal(cleat_client_revision(rig->c), "2025-06-18");
	rig_reply(rig, &rig->sent[0], 0, RIG_DISCOVER(RIG_CAPS));
	assert_int_equal(cleat_client_era(rig->c), CLEAT_ERA_LEGACY);
}

/* A program that was still starting when it was probed reads both questions at once: a modern one answers the
 * first, which nobody waits for any more, and refuses the other. It is asked again, once. */
TEST(a_modern_server_that_starts_slowly_is_found)
{
	struct rig rig;

	open_stream(&rig, NULL);
	rig_pass(&rig, 5000);
	rig_reply(&rig, &rig.sent[0], 0, RIG_DISCOVER(RIG_CAPS));
	rig_answer(&rig, BUSY);
	assert_string_equal(rig_last(&rig)->method, "server/discover");
	rig_answer(&rig, RIG_DISCOVER(RIG_CAPS));
	expect_ready(&rig, true);
	rig_done(&rig);
	/* one that knows neither is left */
	open_stream(&rig, NULL);
	rig_pass(&rig, 5000);
	rig_answer(&rig, UNKNOWN);
	rig_answer(&rig, UNKNOWN);
	assert_int_equal(client_phase(rig.c), CLIENT_DEAD);
	rig_done(&rig);
}

/* A server that ends at a first message it does not know is started anew, and greeted in the old way. */
TEST(a_server_that_dies_of_the_probe_is_legacy)
{
	struct rig rig;

	open_stream(&rig, NULL);
	rig_down(&rig, "exited with status 1");
	assert_int_equal(rig.opens, 2);
	rig_up(&rig);
	expect_initialize(&rig, "2025-11-25");
	rig_answer(&rig, RIG_INITIALIZE("2025-11-25", RIG_CAPS));
	expect_ready(&rig, false);
	rig_done(&rig);
	/* when that does not work, either, both reasons are told */
	open_stream(&rig, NULL);
	rig_down(&rig, "exited with status 1");
	rig.ev.up(rig.ev.ctx, &(struct link_failure){ .step = CLEAT_STEP_SPAWN,
						      .error = { .status = CLEAT_EIO,
								 .message = "no such file" } });
	rig_expect(&rig, CLEAT_EIO, CLEAT_STEP_SPAWN,
		   "no such file; before that: exited with status 1");
	rig_done(&rig);
}

/* ---- -32022 and the other modern errors ----------------------------------------------------------- */

/* Conformance, request-metadata: the first request is refused although its version is in the list. */
TEST(the_same_version_is_tried_once_more)
{
	struct rig rig;

	for (int http = 0; http < 2; http++) {
		open_any(&rig, http);
		rig_reply(&rig, rig_request(&rig), http ? 400 : 0, UNSUPPORTED("\"2026-07-28\""));
		assert_int_equal(rig.n_sent, 2);
		assert_string_equal(rig_last(&rig)->method, "server/discover");
		assert_has(rig_last(&rig)->text, "\"id\":3");
		rig_answer(&rig, RIG_DISCOVER(RIG_CAPS));
		expect_ready(&rig, true);
		rig_done(&rig);
		/* but not for ever */
		open_any(&rig, http);
		rig_reply(&rig, rig_request(&rig), http ? 400 : 0, UNSUPPORTED("\"2026-07-28\""));
		rig_reply(&rig, rig_request(&rig), http ? 400 : 0, UNSUPPORTED("\"2026-07-28\""));
		assert_int_equal(rig.n_sent, 2);
		rig_expect(&rig, CLEAT_EPROTO, CLEAT_STEP_NEGOTIATE, "no common revision");
		rig_done(&rig);
	}
}

/* versioning: select a mutually supported version, or surface an error. */
TEST(only_legacy_versions_lead_to_initialize)
{
	static const char *const answers[] = {
		UNSUPPORTED("\"2025-03-26\",\"2025-06-18\",\"1999-01-01\""),
		"\"result\":{\"supportedVersions\":[\"2025-06-18\"],\"capabilities\":{}}",
	};

	for (size_t i = 0; i < CLEAT_COUNT(answers); i++) {
		struct rig rig;

		open_stream(&rig, NULL);
		rig_answer(&rig, answers[i]);
		expect_initialize(&rig, "2025-06-18");
		rig_done(&rig);
	}
}

TEST(no_common_version_names_both_lists)
{
	static const char *const answers[] = {
		UNSUPPORTED("\"2027-01-01\",\"2028-02-02\""),
		"\"result\":{\"supportedVersions\":[\"2027-01-01\",\"2028-02-02\"]}",
	};

	for (size_t i = 0; i < CLEAT_COUNT(answers); i++) {
		struct rig rig;

		open_stream(&rig, NULL);
		rig_answer(&rig, answers[i]);
		rig_expect(&rig, CLEAT_EPROTO, CLEAT_STEP_NEGOTIATE,
			   "the server speaks 2027-01-01, 2028-02-02, this client 2026-07-28, "
			   "2025-11-25");
		assert_int_equal(client_phase(rig.c), CLIENT_DEAD);
		assert_int_equal(rig.n_states, 1);
		assert_int_equal(cleat_client_error(rig.c)->status, CLEAT_EPROTO);
		rig_done(&rig);
	}
}

TEST(other_modern_errors_mean_modern)
{
	static const char *const answers[] = {
		"\"error\":{\"code\":-32020,\"message\":\"HeaderMismatch\"}",
		"\"error\":{\"code\":-32021,\"message\":\"x\",\"data\":{"
		"\"requiredCapabilities\":{\"roots\":{}}}}",
	};

	for (size_t i = 0; i < CLEAT_COUNT(answers); i++) {
		struct rig rig;

		open_http(&rig, NULL);
		rig_reply(&rig, rig_request(&rig), 400, answers[i]);
		expect_ready(&rig, true);
		assert_null(cleat_client_server(rig.c));
		rig_done(&rig);
	}
}

/* A call that is refused with -32022 is sent again once. */
RIG_TEST(a_call_is_sent_again_with_a_supported_version)
{
	rig_modern(rig, NULL, true);
	rig_call(rig, "tools/call", "{\"name\":\"t\"}");
	rig_reply(rig, rig_request(rig), 400, UNSUPPORTED("\"2026-07-28\""));
	assert_int_equal(rig->n_sent, 3);
	rig_reply(rig, rig_request(rig), 400, UNSUPPORTED("\"2026-07-28\""));
	assert_int_equal(rig->n_sent, 3);
	rig_expect(rig, CLEAT_EREMOTE, CLEAT_STEP_ANSWER, "Unsupported protocol version");
	/* another server than it was */
	rig_call(rig, "tools/call", "{\"name\":\"t\"}");
	rig_reply(rig, rig_request(rig), 400, UNSUPPORTED("\"2025-11-25\""));
	assert_string_equal(rig_request(rig)->method, "server/discover");
	rig_reply(rig, rig_request(rig), 400, UNSUPPORTED("\"2025-11-25\""));
	expect_initialize(rig, "2025-11-25");
	rig_answer(rig, RIG_INITIALIZE("2025-11-25", RIG_CAPS));
	rig->ev.accepted(rig->ev.ctx, rig_last(rig)->tag);
	expect_ready(rig, false);
}

/* ---- legacy ------------------------------------------------------------------------------------ */

static int never(cleat_request *req)
{
	(void)req;
	return CLEAT_OK;
}

/* What there are handlers for, in the words of the revision. */
TEST(capabilities_fit_handlers_and_revision)
{
	static const struct {
		const char *protocol;
		cleat_handler *form, *url, *sampling;
		bool tools, roots;
		const char *part;
	} cases[] = {
		{ "2025-11-25", NULL, NULL, NULL, false, false, "\"capabilities\":{}" },
		{ "2025-11-25", never, never, never, true, true,
		  "\"capabilities\":{\"roots\":{\"listChanged\":true},\"sampling\":{\"tools\":{}},"
		  "\"elicitation\":{\"form\":{},\"url\":{}}}" },
		{ "2025-11-25", never, NULL, never, false, false,
		  "\"capabilities\":{\"sampling\":{},\"elicitation\":{\"form\":{}}}" },
		{ "2025-11-25", NULL, never, NULL, true, false,
		  "\"capabilities\":{\"elicitation\":{\"url\":{}}}" },
		{ "2025-06-18", never, never, never, true, false,
		  "\"capabilities\":{\"sampling\":{},\"elicitation\":{}}" },
		{ "2025-06-18", NULL, never, NULL, true, false, "\"capabilities\":{}" },
		{ "2025-03-26", never, never, never, true, true,
		  "\"capabilities\":{\"roots\":{\"listChanged\":true},\"sampling\":{}}" },
		{ "2026-07-28", never, never, never, true, true,
		  "clientCapabilities\":{\"roots\":{},\"sampling\":{\"tools\":{}},"
		  "\"elicitation\":{\"form\":{},\"url\":{}}}" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct rig rig;

		open_stream(&rig, &(cleat_client_options){ .protocol = cases[i].protocol,
							   .on_form = cases[i].form,
							   .on_url = cases[i].url,
							   .on_sampling = cases[i].sampling,
							   .sampling_tools = cases[i].tools,
							   .offer_roots = cases[i].roots });
		assert_has(rig_last(&rig)->text, cases[i].part);
		rig_done(&rig);
	}
}

/* lifecycle, Version Negotiation. */
TEST(an_unknown_revision_is_refused)
{
	static const struct {
		const char *pinned, *answer, *part;
	} cases[] = {
		{ NULL, RIG_INITIALIZE("1999-01-01", "{}"), "\"1999-01-01\"" },
		{ NULL, RIG_INITIALIZE("2026-07-28", "{}"), "\"2026-07-28\"" },
		{ "2025-06-18", RIG_INITIALIZE("2025-03-26", "{}"), "asked for 2025-06-18" },
		{ NULL, "\"result\":{}", "no InitializeResult" },
		{ NULL, "\"result\":{\"protocolVersion\":7}", "no InitializeResult" },
		{ NULL, "\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":1}",
		  "no InitializeResult" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct rig rig;

		open_stream(&rig, &(cleat_client_options){ .era = CLEAT_ERA_LEGACY,
							   .protocol = cases[i].pinned });
		rig_answer(&rig, cases[i].answer);
		rig_expect(&rig, CLEAT_EPROTO, CLEAT_STEP_NEGOTIATE, cases[i].part);
		rig_done(&rig);
	}
}

TEST(log_level_is_set_where_there_is_logging)
{
	struct rig rig;

	for (int logging = 0; logging < 2; logging++) {
		rig_legacy(&rig, &(cleat_client_options){ .log_level = "warning" }, false,
			   logging ? RIG_INITIALIZE("2025-11-25", "{\"logging\":{}}")
				   : RIG_INITIALIZE("2025-11-25", "{}"));
		assert_int_equal(rig.n_sent, 2 + logging);
		if (logging)
			assert_has(rig_last(&rig)->text,
				   "\"method\":\"logging/setLevel\",\"params\":"
				   "{\"level\":\"warning\"}");
		rig_say(&rig, NOTE("notifications/message", "\"level\":\"error\",\"data\":\"d\""));
		assert_string_equal(rig.logs, "4 - d\n");
		rig_done(&rig);
	}
}

/* Two POSTs at once arrive in any order: calls wait until the server knows what to log, or has had its time
 * to learn it. */
TEST(over_http_calls_wait_for_the_log_level)
{
	struct rig rig;

	for (int silent = 0; silent < 2; silent++) {
		open_http(&rig,
			  &(cleat_client_options){ .log_level = "info", .era = CLEAT_ERA_LEGACY });
		rig_answer(&rig, RIG_INITIALIZE("2025-11-25", "{\"logging\":{}}"));
		rig.ev.accepted(rig.ev.ctx, rig_last(&rig)->tag);
		assert_string_equal(rig_last(&rig)->method, "logging/setLevel");
		assert_int_equal(client_phase(rig.c), CLIENT_OPENING);
		if (silent)
			rig_pass(&rig, 5000);
		else
			rig_answer(&rig, "\"error\":{\"code\":-32601,\"message\":\"no\"}");
		expect_ready(&rig, false);
		rig_done(&rig);
	}
}

/* 2025-03-26 basic: "Implementations MUST support receiving batches". */
RIG_TEST(batches_are_read_where_there_are_any)
{
	rig_legacy(rig, NULL, false, RIG_INITIALIZE("2025-03-26", RIG_CAPS));
	rig_call(rig, "prompts/get", "{\"name\":\"a\"}");
	rig_call(rig, "prompts/get", "{\"name\":\"b\"}");
	rig_message(rig,
		    "[{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"messages\":[]}},"
		    "{\"jsonrpc\":\"2.0\",\"id\":\"s\",\"method\":\"ping\"},7,"
		    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":"
		    "{\"level\":\"info\",\"data\":\"x\"}},"
		    "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":1,\"message\":\"no\"}}]",
		    NULL, 0);
	assert_int_equal(rig->n_done, 2);
	assert_int_equal(cleat_result_status(rig->done[0]), CLEAT_OK);
	assert_int_equal(cleat_result_status(rig->done[1]), CLEAT_EREMOTE);
	assert_string_equal(rig_last(rig)->text,
			    "{\"jsonrpc\":\"2.0\",\"id\":\"s\",\"result\":{}}");
	assert_string_equal(rig->logs, "1 - x\n");
}

/* ---- options ----------------------------------------------------------------------------------- */

TEST(eras_can_be_chosen)
{
	static const struct {
		enum cleat_era era, known;
		const char *protocol, *first, *version;
	} cases[] = {
		{ CLEAT_ERA_AUTO, CLEAT_ERA_AUTO, NULL, "server/discover", NULL },
		{ CLEAT_ERA_AUTO, CLEAT_ERA_LEGACY, NULL, "initialize", "2025-11-25" },
		{ CLEAT_ERA_AUTO, CLEAT_ERA_MODERN, NULL, "server/discover", NULL },
		{ CLEAT_ERA_LEGACY, CLEAT_ERA_MODERN, NULL, "initialize", "2025-11-25" },
		{ CLEAT_ERA_MODERN, CLEAT_ERA_LEGACY, NULL, "server/discover", NULL },
		{ CLEAT_ERA_AUTO, CLEAT_ERA_AUTO, "2024-11-05", "initialize", "2024-11-05" },
		{ CLEAT_ERA_AUTO, CLEAT_ERA_LEGACY, "2026-07-28", "server/discover", NULL },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct rig rig;

		open_stream(&rig, &(cleat_client_options){ .era = cases[i].era,
							   .known_era = cases[i].known,
							   .protocol = cases[i].protocol });
		assert_string_equal(rig_last(&rig)->method, cases[i].first);
		if (cases[i].version)
			expect_initialize(&rig, cases[i].version);
		rig_done(&rig);
	}
}

TEST(wrong_options_are_the_result_of_calls)
{
	static const struct {
		cleat_client_options o;
		const char *part;
	} cases[] = {
		{ { .protocol = "2025-01-01" }, "\"2025-01-01\"" },
		{ { .protocol = "2025-11-25", .era = CLEAT_ERA_MODERN }, "opts.era" },
		{ { .protocol = "2026-07-28", .era = CLEAT_ERA_LEGACY }, "opts.era" },
		{ { .log_level = "loud" }, "opts.log_level" },
		{ { .era = (enum cleat_era)17 }, "opts.era is 17" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct rig rig;

		assert_true(rig_init(&rig, &cases[i].o));
		rig_call(&rig, "ping", NULL);
		rig_pump(&rig);
		assert_int_equal(rig.opens, 0);
		rig_expect(&rig, CLEAT_EINVAL, CLEAT_STEP_ARGUMENTS, cases[i].part);
		rig_done(&rig);
	}
}

RIG_TEST(modern_only_does_not_fall_back)
{
	open_stream(rig, &(cleat_client_options){ .era = CLEAT_ERA_MODERN });
	assert_int_equal(rig_pump(rig), 30000);
	rig_answer(rig, UNKNOWN);
	rig_expect(rig, CLEAT_EPROTO, CLEAT_STEP_NEGOTIATE, "Method not found");
}

/* "re-probing if the cached assumption later fails": what was known is wrong by now. */
TEST(a_wrong_hint_costs_one_question)
{
	struct rig rig;

	open_stream(&rig, &(cleat_client_options){ .known_era = CLEAT_ERA_LEGACY });
	rig_answer(&rig, UNKNOWN);
	assert_string_equal(rig_request(&rig)->method, "server/discover");
	rig_answer(&rig, RIG_DISCOVER(RIG_CAPS));
	expect_ready(&rig, true);
	rig_done(&rig);
	open_stream(&rig, &(cleat_client_options){ .known_era = CLEAT_ERA_LEGACY });
	rig_answer(&rig, UNKNOWN);
	rig_answer(&rig, UNKNOWN);
	rig_expect(&rig, CLEAT_EPROTO, CLEAT_STEP_NEGOTIATE, "neither");
	rig_done(&rig);
}

/* The verdict is kept over restarts. */
RIG_TEST(what_was_found_out_is_kept)
{
	open_stream(rig, NULL);
	rig_answer(rig, UNKNOWN);
	rig_answer(rig, RIG_INITIALIZE("2025-06-18", "{}"));
	expect_ready(rig, false);
	rig_down(rig, "gone");
	rig_call(rig, "tools/call", "{\"name\":\"t\"}");
	assert_int_equal(rig->opens, 2);
	rig_up(rig);
	expect_initialize(rig, "2025-11-25");
}

/* HTTP: an answer that no modern server gives makes the next call find out anew. */
RIG_TEST(another_server_at_the_same_address_is_noticed)
{
	rig_modern(rig, NULL, true);
	rig_call(rig, "tools/call", "{\"name\":\"t\"}");
	rig_failed(rig, rig_request(rig)->tag, 404, CLEAT_STEP_HTTP, "not found");
	rig_expect(rig, CLEAT_EIO, CLEAT_STEP_HTTP, "not found");
	rig_call(rig, "tools/call", "{\"name\":\"t\"}");
	assert_string_equal(rig_request(rig)->method, "server/discover");
	rig_failed(rig, rig_request(rig)->tag, 400, CLEAT_STEP_HTTP, "bad");
	rig_answer(rig, RIG_INITIALIZE("2025-11-25", "{}"));
	rig->ev.accepted(rig->ev.ctx, rig_last(rig)->tag);
	expect_ready(rig, false);
}

RIG_TEST(opening_has_a_limit)
{
	assert_true(rig_init(rig, &(cleat_client_options){ .connect_timeout_ms = 5000 }));
	rig_call(rig, "tools/call", "{\"name\":\"t\"}");
	rig_pass(rig, 4999);
	assert_int_equal(rig->n_done, 0);
	rig_pass(rig, 1);
	rig_expect(rig, CLEAT_ETIMEOUT, CLEAT_STEP_TIMEOUT, "not ready within 5 s");
	rig_up(rig); /* too late, but good for the next call */
	assert_int_equal(rig->n_sent, 0);
	rig_call(rig, "tools/call", "{\"name\":\"t\"}");
	assert_string_equal(rig_last(rig)->method, "server/discover");
}

/* 2025-11-25 basic/utilities/cancellation: initialize MUST NOT be cancelled. */
RIG_TEST(initialize_is_never_cancelled)
{
	open_stream(rig, &(cleat_client_options){ .era = CLEAT_ERA_LEGACY });
	rig_pass(rig, 30000);
	assert_int_equal(rig->n_sent, 1);
	assert_int_equal(rig->n_done, 1);
	assert_int_equal(cleat_result_status(rig_result(rig)), CLEAT_ETIMEOUT);
}
