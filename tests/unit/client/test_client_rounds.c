/* What a server asks its client: within a call (2026-07-28 patterns/mrtr), and as requests of its own
 * (up to 2025-11-25). */
#include "test.h"
#include "unit/client/client_rig.h"

#define CALL_T "tools/call", "{\"name\":\"t\",\"arguments\":{\"x\":1}}"
#define FORM                                                                                       \
	"{\"method\":\"elicitation/create\",\"params\":{\"mode\":\"form\",\"message\":\"m\","      \
	"\"requestedSchema\":{\"type\":\"object\",\"properties\":{}}}}"
#define ASK(requests, more)                                                                        \
	"\"result\":{\"resultType\":\"input_required\",\"inputRequests\":{" requests "}" more "}"
#define ACCEPT "\"result\":{\"action\":\"accept\",\"content\":{\"ok\":true}}"
#define DONE   "\"result\":{\"resultType\":\"complete\",\"content\":[]}"

/* Client Requirements 1-3: the inputs first, the state as it came, a new id, the same params. */
MODERN_TEST(answers_go_back_with_the_retry)
{
	rig_call(rig, CALL_T);
	rig_answer(rig, ASK("\"confirm\":" FORM ",\"who\":{\"method\":\"roots/list\"}",
			    ",\"requestState\":\"a\\u00e9\\\"b\\\\ \\u0001\""));
	assert_int_equal(rig->n_questions, 2);
	assert_int_equal(rig->facts.mode, PEER_ASKED);
	assert_int_equal(rig->facts.rev, REV_2026_07_28);
	assert_has(rig->questions[0].text,
		   "\"method\":\"elicitation/create\",\"params\":{\"mode\":\"form\"");
	assert_string_equal(rig->questions[1].text,
			    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"roots/list\"}");
	assert_int_equal(rig->n_sent, 2);
	rig_answer_question(rig, 1, "\"result\":{\"roots\":[]}");
	assert_int_equal(rig->n_sent, 2);
	rig_answer_question(rig, 0, ACCEPT);
	assert_int_equal(rig->n_sent, 3);
	assert_has(rig_last(rig)->text,
		   "\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"t\",\"arguments\":"
		   "{\"x\":1},\"inputResponses\":{\"who\":{\"roots\":[]},\"confirm\":{\"action\":"
		   "\"accept\",\"content\":{\"ok\":true}}},\"requestState\":\"a\xc3\xa9\\\"b\\\\ "
		   "\\u0001\",\"_meta\":{\"progressToken\":3,");
	rig_answer(rig, DONE);
	assert_int_equal(rig->n_done, 1);
	assert_int_equal(cleat_result_status(rig_result(rig)), CLEAT_OK);
}

/* "If the InputRequiredResult does not contain a requestState field, the client MUST NOT include one";
 * nor does any other request have it. */
MODERN_TEST(no_state_means_no_member)
{
	rig->answer_at_once = ACCEPT;
	rig_call(rig, CALL_T);
	rig_answer(rig, ASK("\"c\":" FORM, ",\"requestState\":\"s1\""));
	assert_has(rig_last(rig)->text, "\"requestState\":\"s1\"");
	rig_call(rig, CALL_T);
	assert_lacks(rig_last(rig)->text, "requestState");
	assert_lacks(rig_last(rig)->text, "inputResponses");
	rig_reply(rig, &rig->sent[2], 0, ASK("\"d\":" FORM, ""));
	assert_has(rig_last(rig)->text, "\"inputResponses\":{\"d\":");
	assert_lacks(rig_last(rig)->text, "requestState");
	assert_lacks(rig_last(rig)->text, "\"c\":");
}

/* "If the InputRequiredResult does not contain the inputRequests field, the client MAY retry the original
 * request immediately." */
MODERN_TEST(state_alone_is_sent_back_at_once)
{
	rig_call(rig, CALL_T);
	rig_answer(rig, "\"result\":{\"resultType\":\"input_required\",\"requestState\":\"\"}");
	assert_int_equal(rig->n_sent, 3);
	assert_has(rig_last(rig)->text, "\"requestState\":\"\"");
	assert_lacks(rig_last(rig)->text, "inputResponses");
}

RIG_TEST(rounds_have_a_limit)
{
	rig_modern(rig, &(cleat_client_options){ .max_rounds = 3 }, false);
	rig->answer_at_once = ACCEPT;
	rig_call(rig, CALL_T);
	for (int i = 0; i < 4; i++)
		rig_answer(rig, ASK("\"c\":" FORM, ""));
	assert_int_equal(rig->n_sent, 5);
	rig_expect(rig, CLEAT_ELIMIT, CLEAT_STEP_PROTOCOL, "max_rounds");
}

/* Servers MUST NOT send InputRequiredResult on any other client requests; and what it must look like. */
TEST(wrong_input_required_results_are_refused)
{
	static const struct {
		const char *method, *params, *answer, *part;
	} cases[] = {
		{ "tools/list", "{}", ASK("\"c\":" FORM, ""), "cannot ask" },
		{ "completion/complete", "{}", ASK("\"c\":" FORM, ""), "cannot ask" },
		{ CALL_T, "\"result\":{\"resultType\":\"input_required\"}", "does not say which" },
		{ CALL_T, "\"result\":{\"resultType\":\"input_required\",\"inputRequests\":[]}",
		  "no object" },
		{ CALL_T, ASK("\"a\":" FORM ",\"a\":" FORM, ""), "twice" },
		{ CALL_T, ASK("", ",\"requestState\":7"), "requestState is no string" },
		{ CALL_T, ASK("\"a\":{}", ""), "is no request" },
		{ CALL_T, ASK("\"a\":7", ""), "is no request" },
		{ CALL_T, ASK("\"a\":{\"method\":\"roots/list\",\"params\":[]}", ""),
		  "is no request" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct rig rig;

		rig_modern(&rig, NULL, false);
		rig_call(&rig, cases[i].method, cases[i].params);
		rig_answer(&rig, cases[i].answer);
		assert_int_equal(rig.n_done, 1);
		assert_int_equal(rig.n_sent, 2);
		rig_expect(&rig, CLEAT_EPROTO, CLEAT_STEP_PROTOCOL, cases[i].part);
		rig_done(&rig);
	}
}

TEST(questions_have_limits)
{
	struct rig rig;
	static char text[8192];
	size_t n;

	/* in one result */
	rig_modern(&rig, NULL, false);
	n = (size_t)snprintf(text, sizeof text,
			     "\"result\":{\"resultType\":\"input_required\",\"inputRequests\":{");
	for (int i = 0; i < 65; i++)
		n += (size_t)snprintf(text + n, sizeof text - n,
				      "%s\"%d\":{\"method\":\"roots/list\"}", i ? "," : "", i);
	snprintf(text + n, sizeof text - n, "}}");
	rig_call(&rig, CALL_T);
	rig_answer(&rig, text);
	rig_expect(&rig, CLEAT_EPROTO, CLEAT_STEP_PROTOCOL, "more than 64");
	/* that nobody can take */
	rig.no_peer = true;
	rig_call(&rig, CALL_T);
	rig_answer(&rig, ASK("\"a\":" FORM, ""));
	assert_int_equal(cleat_result_status(rig_result(&rig)), CLEAT_ENOMEM);
	rig_done(&rig);
	/* at a time: the fake peer takes 256 */
	rig_legacy(&rig, NULL, false, RIG_INITIALIZE("2025-06-18", RIG_CAPS));
	for (int i = 0; i < RIG_MAX; i++)
		rig_say(&rig, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"roots/list\"}", i);
	assert_int_equal(rig.n_sent, 2);
	rig_say(&rig, REQUEST("\"last\"", "roots/list", ""));
	assert_has(rig_last(&rig)->text, "\"id\":\"last\",\"error\":{\"code\":-32603");
	rig_done(&rig);
}

/* All three methods may ask. */
MODERN_TEST(prompts_and_resources_may_ask)
{
	rig->answer_at_once = ACCEPT;
	rig_call(rig, "prompts/get", "{\"name\":\"p\"}");
	rig_answer(rig, ASK("\"c\":" FORM, ""));
	assert_has(rig_last(rig)->text, "\"name\":\"p\",\"inputResponses\"");
	rig_call(rig, "resources/read", "{\"uri\":\"a:b\"}");
	rig_answer(rig, ASK("\"c\":" FORM, ""));
	assert_has(rig_last(rig)->text, "\"uri\":\"a:b\",\"inputResponses\"");
}

MODERN_TEST(a_question_that_cannot_be_answered_ends_the_call)
{
	rig_call(rig, CALL_T);
	rig_answer(rig, ASK("\"a\":" FORM ",\"b\":" FORM, ""));
	rig_answer_question(rig, 0, "\"error\":{\"code\":-32603,\"message\":\"handler broke\"}");
	rig_pump(rig);
	rig_expect(
		rig, CLEAT_EREMOTE, CLEAT_STEP_ASKED,
		"tools/call t: the server's question \"a\" could not be answered: handler broke");
	/* the other one is given up, and its late answer is for nobody */
	assert_has(rig->cancelled, "\"requestId\":2");
	rig_answer_question(rig, 1, ACCEPT);
	rig_pump(rig);
	assert_int_equal(rig->n_done, 1);
	assert_int_equal(rig->n_sent, 2);
	/* a method that no client knows */
	rig_call(rig, CALL_T);
	rig_answer(rig, ASK("\"a\":{\"method\":\"shell/run\"}", ""));
	rig_expect(rig, CLEAT_EREMOTE, CLEAT_STEP_ASKED, "does not know");
	/* a peer that ends without an answer */
	rig_call(rig, CALL_T);
	rig_answer(rig, ASK("\"a\":" FORM, ""));
	rig->sink.ended(rig->sink.ctx, rig->questions[2].tag, true);
	rig_pump(rig);
	rig_expect(rig, CLEAT_EREMOTE, CLEAT_STEP_ASKED, "no answer");
}

/* A person may be typing: the idle timeout stands still, the hard one counts. */
MODERN_TEST(time_stands_still_while_somebody_is_asked)
{
	const cleat_call_options o = { .timeout_ms = 1000, .hard_timeout_ms = 10000 };

	rig_call_with(rig, &o, CALL_T);
	rig_answer(rig, ASK("\"a\":" FORM, ""));
	rig_pass(rig, 9000);
	assert_int_equal(rig->n_done, 0);
	rig_answer_question(rig, 0, ACCEPT);
	assert_int_equal(rig->n_sent, 3);
	rig_pass(rig, 999);
	assert_int_equal(rig->n_done, 0);
	rig_pass(rig, 1);
	rig_expect(rig, CLEAT_ETIMEOUT, CLEAT_STEP_TIMEOUT, "t: the server");
	rig_call_with(rig, &o, CALL_T);
	rig_answer(rig, ASK("\"a\":" FORM, ""));
	rig_pass(rig, 10000);
	rig_expect(rig, CLEAT_ETIMEOUT, CLEAT_STEP_TIMEOUT, "hard_timeout_ms");
	assert_has(rig->cancelled, "notifications/cancelled");
}

MODERN_TEST(cancelling_a_call_cancels_its_questions)
{
	cleat_call *call;

	call = rig_call(rig, CALL_T);
	rig_answer(rig, ASK("\"a\":" FORM, ""));
	client_call_cancel(call);
	rig_pump(rig);
	assert_string_equal(rig->cancelled, "{\"jsonrpc\":\"2.0\",\"method\":"
					    "\"notifications/cancelled\",\"params\":"
					    "{\"requestId\":1}}");
	rig_expect(rig, CLEAT_ECANCELLED, CLEAT_STEP_CANCELLED, "");
	assert_int_equal(rig->n_sent, 2); /* nothing of it is on the wire */
}

/* The link may break while somebody is asked; the answers go to the next one. */
MODERN_TEST(questions_survive_a_lost_link)
{
	rig_call(rig, CALL_T);
	rig_answer(rig, ASK("\"a\":" FORM, ""));
	rig_down(rig, "gone");
	assert_int_equal(rig->n_done, 0);
	rig_answer_question(rig, 0, ACCEPT);
	assert_int_equal(rig->opens, 2);
	rig_up(rig);
	rig_answer(rig, RIG_DISCOVER(RIG_CAPS));
	assert_has(rig_last(rig)->text, "inputResponses");
	rig_answer(rig, DONE);
	assert_int_equal(cleat_result_status(rig_result(rig)), CLEAT_OK);
}

/* ---- requests of a legacy server ---------------------------------------------------------------- */

TEST(legacy_questions_go_to_the_peer_and_back)
{
	struct rig rig;

	for (int http = 0; http < 2; http++) {
		void *tag = http ? (void *)(uintptr_t)77 : NULL;

		rig_legacy(&rig, NULL, http, RIG_INITIALIZE("2025-06-18", RIG_CAPS));
		rig_message(&rig, REQUEST("\"s1\"", "elicitation/create", "\"message\":\"m\""), tag,
			    0);
		assert_int_equal(rig.facts.rev, REV_2025_06_18);
		assert_int_equal(rig.facts.http, http);
		assert_string_equal(rig.questions[0].text,
				    REQUEST("\"s1\"", "elicitation/create", "\"message\":\"m\""));
		rig_answer_question(&rig, 0, ACCEPT);
		assert_int_equal(rig_last(&rig)->kind, LINK_ANSWER);
		assert_ptr_equal(rig_last(&rig)->tag, tag);
		assert_int_equal(rig_last(&rig)->rev, REV_2025_06_18);
		assert_string_equal(rig_last(&rig)->text,
				    "{\"jsonrpc\":\"2.0\",\"id\":\"s1\"," ACCEPT "}");
		rig_done(&rig);
	}
}

/* A person who thinks about an answer is not a server that says nothing; how long it may take in all
 * is hard_timeout_ms. */
TEST(time_does_not_run_while_a_legacy_server_waits_for_us)
{
	struct rig rig;

	for (int answered = 0; answered < 2; answered++) {
		rig_legacy(&rig, NULL, false, RIG_INITIALIZE("2025-11-25", RIG_CAPS));
		rig_call(&rig, CALL_T);
		rig_say(&rig, REQUEST("1", "elicitation/create", "\"message\":\"m\""));
		rig_pass(&rig, 60000);
		rig_pass(&rig, 60000);
		assert_int_equal(rig.n_done, 0);
		if (answered)
			rig_answer_question(&rig, 0, ACCEPT);
		rig_pass(&rig, answered ? 60000 : 180000);
		rig_expect(&rig, CLEAT_ETIMEOUT, CLEAT_STEP_TIMEOUT,
			   answered ? "did not answer within 60 s"
				    : "within 300 s (hard_timeout_ms)");
		rig_done(&rig);
	}
}

RIG_TEST(ping_is_answered_at_any_time)
{
	assert_true(rig_init(rig, &(cleat_client_options){ .era = CLEAT_ERA_LEGACY }));
	client_start(rig->c);
	rig_up(rig);
	rig_say(rig, REQUEST("1", "ping", ""));
	assert_string_equal(rig_last(rig)->text, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
	assert_int_equal(rig_last(rig)->kind, LINK_ANSWER);
	/* the rest not before there is a session */
	rig_say(rig, REQUEST("2", "roots/list", ""));
	assert_has(rig_last(rig)->text, "\"code\":-32601");
	assert_int_equal(rig->n_questions, 0);
}

RIG_TEST(unknown_methods_are_refused)
{
	rig_legacy(rig, NULL, false, RIG_INITIALIZE("2025-06-18", RIG_CAPS));
	rig_say(rig, REQUEST("\"x\"", "tools/call", ""));
	assert_has(rig_last(rig)->text, "\"id\":\"x\",\"error\":{\"code\":-32601");
	rig->no_peer = true;
	rig_say(rig, REQUEST("\"y\"", "roots/list", ""));
	assert_has(rig_last(rig)->text, "\"id\":\"y\",\"error\":{\"code\":-32603");
}

/* 2026-07-28 stdio: "The server MUST NOT write JSON-RPC requests to stdout." */
MODERN_TEST(a_modern_server_may_not_ask_by_requests)
{
	rig_say(rig, REQUEST("1", "roots/list", ""));
	assert_int_equal(rig->n_sent, 1);
	assert_int_equal(rig->n_questions, 0);
	assert_has(rig->notes, "must not");
}

RIG_TEST(a_server_may_give_its_question_up)
{
	rig_legacy(rig, NULL, false, RIG_INITIALIZE("2025-06-18", RIG_CAPS));
	rig_say(rig, CANCEL("\"s1\""));
	rig_say(rig, REQUEST("\"s1\"", "sampling/createMessage", ""));
	rig_say(rig, CANCEL("\"s1\""));
	assert_string_equal(rig->cancelled, CANCEL("\"s1\""));
	rig->sink.ended(rig->sink.ctx, rig->questions[0].tag, false);
	assert_int_equal(rig->n_sent, 2);
}

TEST(open_questions_go_with_the_link)
{
	struct rig rig;

	rig_legacy(&rig, NULL, false, RIG_INITIALIZE("2025-06-18", RIG_CAPS));
	rig_say(&rig, REQUEST("1", "sampling/createMessage", ""));
	rig_down(&rig, "gone");
	assert_int_equal(rig.peers_closed, 1);
	rig_done(&rig);
	assert_int_equal(rig.peers_closed, 1);
	/* and with the client */
	rig_legacy(&rig, NULL, false, RIG_INITIALIZE("2025-06-18", RIG_CAPS));
	rig_say(&rig, REQUEST("1", "sampling/createMessage", ""));
	client_close(rig.c);
	assert_int_equal(rig.peers_closed, 1);
	rig_done(&rig);
}

RIG_TEST(what_a_handler_says_meanwhile_is_passed_on)
{
	rig_legacy(rig, NULL, false, RIG_INITIALIZE("2025-06-18", RIG_CAPS));
	rig_say(rig, REQUEST("1", "sampling/createMessage", ""));
	rig_peer_says(rig, rig->questions[0].tag, PEER_NOTICE,
		      NOTE("notifications/progress", "\"progressToken\":1,\"progress\":1"));
	assert_int_equal(rig_last(rig)->kind, LINK_NOTICE);
	rig_peer_says(rig, rig->questions[0].tag, PEER_TAKE_BACK, "half");
	assert_int_equal(rig->n_sent, 3);
}

TEST(roots_that_change_are_told_where_they_were_offered)
{
	struct rig rig;

	rig_legacy(&rig, &(cleat_client_options){ .offer_roots = true }, false,
		   RIG_INITIALIZE("2025-06-18", RIG_CAPS));
	client_roots_changed(rig.c);
	assert_string_equal(rig_last(&rig)->method, "notifications/roots/list_changed");
	rig_done(&rig);
	rig_legacy(&rig, NULL, false, RIG_INITIALIZE("2025-06-18", RIG_CAPS));
	client_roots_changed(rig.c);
	assert_string_equal(rig_last(&rig)->method, "notifications/initialized");
	rig_done(&rig);
	rig_modern(&rig, NULL, false);
	client_roots_changed(rig.c);
	rig_call(&rig, CALL_T);
	assert_has(rig_last(&rig)->text, "clientCapabilities\":{\"roots\":{}}");
	rig_done(&rig);
}
