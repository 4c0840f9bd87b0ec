/* test_client_visit.c - pages that the user has to visit before a request can be served: -32042 (2025-11-25
 * client/elicitation, URL Elicitation Required Error).
 */
#include "test.h"
#include "unit/client/client_rig.h"

#define CALL_T "tools/call", "{\"name\":\"t\",\"arguments\":{\"x\":1}}"
#define PAGE(id)                                                                                   \
	"{\"mode\":\"url\",\"elicitationId\":\"" id "\",\"url\":\"https://example.com/" id         \
	"\",\"message\":\"Please connect\"}"
#define NEEDS_DATA(data)                                                                           \
	"\"error\":{\"code\":-32042,\"message\":\"not connected\",\"data\":" data "}"
#define NEEDS(pages) NEEDS_DATA("{\"elicitations\":[" pages "]}")
#define ACCEPT       "\"result\":{\"action\":\"accept\"}"
#define REVISION     "2025-11-25"

static int never(cleat_request *req)
{
	(void)req;
	fail(); /* the rig's peer answers */
	return CLEAT_OK;
}

static void begin(struct rig *rig, bool http)
{
	rig_legacy(rig, &(cleat_client_options){ .on_url = never }, http,
		   RIG_INITIALIZE(REVISION, RIG_CAPS));
}

static void expect_error(struct rig *rig)
{
	assert_int_equal(rig->n_done, 1);
	rig_expect(rig, CLEAT_EREMOTE, CLEAT_STEP_ANSWER, "tools/call t: not connected");
	assert_int_equal(cleat_result_error(rig_result(rig))->rpc_code, CLEAT_RPC_URL_ELICITATION);
	assert_non_null(cleat_result_error_data(rig_result(rig)));
}

/* "The error MUST include a list of elicitations that are required to complete before the original can be
 * retried." */
TEST(a_call_is_made_again_when_all_pages_are_accepted)
{
	for (int http = 0; http < 2; http++) {
		struct rig rig;
		size_t sent;

		begin(&rig, http);
		rig_call(&rig, CALL_T);
		sent = rig.n_sent;
		rig_answer(&rig, NEEDS(PAGE("a") "," PAGE("b")));
		assert_int_equal(rig.n_questions, 2);
		assert_int_equal(rig.facts.mode, PEER_ASKED);
		assert_int_equal(rig.facts.rev, REV_2025_11_25);
		assert_string_equal(rig.questions[1].text,
				    "{\"jsonrpc\":\"2.0\",\"id\":-2,\"method\":"
				    "\"elicitation/create\",\"params\":" PAGE("b") "}");
		rig_answer_question(&rig, 1, ACCEPT);
		assert_int_equal(rig.n_sent, sent);
		rig_answer_question(&rig, 0, ACCEPT);
		/* nobody but the user was told anything: the answers are not the server's */
		assert_int_equal(rig.n_sent, sent + 1);
		assert_has(rig_last(&rig)->text,
			   "\"method\":\"tools/call\",\"params\":{\"name\":\"t\","
			   "\"arguments\":{\"x\":1}");
		assert_ptr_not_equal(rig_last(&rig)->tag, rig.sent[sent - 1].tag);
		rig_answer(&rig, "\"result\":{\"content\":[]}");
		assert_int_equal(rig.n_done, 1);
		assert_int_equal(cleat_result_status(rig_result(&rig)), CLEAT_OK);
		rig_done(&rig);
	}
}

/* Any method may need it. */
RIG_TEST(lists_and_resources_are_asked_for_again_too)
{
	begin(rig, false);
	rig->answer_at_once = ACCEPT;
	rig_list(rig, NULL, CLEAT_LIST_TOOLS);
	rig_answer(rig, "\"result\":{\"tools\":[],\"nextCursor\":\"2\"}");
	rig_answer(rig, NEEDS(PAGE("a")));
	assert_has(rig_last(rig)->text, "\"cursor\":\"2\"");
	rig_answer(rig, "\"result\":{\"tools\":[]}");
	assert_int_equal(cleat_result_status(rig_result(rig)), CLEAT_OK);
	rig_call(rig, "resources/read", "{\"uri\":\"a:b\"}");
	rig_answer(rig, NEEDS(PAGE("a")));
	assert_has(rig_last(rig)->text, "\"uri\":\"a:b\"");
	rig_answer(rig, "\"result\":{\"contents\":[]}");
	assert_int_equal(cleat_result_status(rig_result(rig)), CLEAT_OK);
}

TEST(whoever_does_not_agree_gets_the_error)
{
	static const char *const answers[] = {
		"\"result\":{\"action\":\"decline\"}",
		"\"result\":{\"action\":\"cancel\"}",
		"\"result\":{}",
		"\"error\":{\"code\":-32602,\"message\":\"no\"}",
	};

	for (size_t i = 0; i < CLEAT_COUNT(answers); i++)
		for (int at_once = 0; at_once < 2; at_once++) {
			struct rig rig;

			begin(&rig, false);
			rig.answer_at_once = at_once ? answers[i] : NULL;
			rig_call(&rig, CALL_T);
			rig_answer(&rig, NEEDS(PAGE("a") "," PAGE("b")));
			if (!at_once)
				rig_answer_question(&rig, 0, answers[i]);
			rig_pump(&rig);
			expect_error(&rig);
			assert_int_equal(rig.n_questions, at_once ? 1 : 2);
			if (!at_once) /* nobody need look at the other one any more */
				assert_has(rig.cancelled, "\"requestId\":-2");
			assert_int_equal(rig.n_sent, 3);
			rig_done(&rig);
		}
}

/* The user agreed, and was not done when the server was asked again; or never will be. */
RIG_TEST(a_server_that_says_it_again_is_believed)
{
	begin(rig, false);
	rig->answer_at_once = ACCEPT;
	rig_call(rig, CALL_T);
	rig_answer(rig, NEEDS(PAGE("a")));
	assert_int_equal(rig->n_sent, 4);
	rig_answer(rig, NEEDS(PAGE("a")));
	expect_error(rig);
	assert_int_equal(rig->n_questions, 1);
}

/* Where it is not defined, nobody can be asked, or there is nothing to ask: an error like any other. */
TEST(otherwise_it_is_an_error_like_any_other)
{
	static const struct {
		const char *revision; /* NULL: modern */
		bool handler;
		const char *answer;
	} cases[] = {
		{ REVISION, false, NEEDS(PAGE("a")) },
		{ "2025-06-18", true, NEEDS(PAGE("a")) },
		{ NULL, true, NEEDS(PAGE("a")) },
		{ REVISION, true, "\"error\":{\"code\":-32042,\"message\":\"not connected\"}" },
		{ REVISION, true, NEEDS_DATA("{}") },
		{ REVISION, true, NEEDS_DATA("[]") },
		{ REVISION, true, NEEDS("") },
		{ REVISION, true, NEEDS_DATA("{\"elicitations\":{\"a\":" PAGE("a") "}}") },
		{ REVISION, true, NEEDS(PAGE("a") ",7") },
		{ REVISION, true, NEEDS(PAGE("a") ",{\"mode\":\"form\",\"message\":\"m\"}") },
		{ REVISION, true,
		  NEEDS("{\"mode\":\"url\",\"url\":\"https://x.y/\",\"message\":\"m\"}") },
		{ REVISION, true,
		  NEEDS("{\"mode\":\"url\",\"elicitationId\":1,\"url\":\"https://x.y/\","
			"\"message\":\"m\"}") },
		{ REVISION, true,
		  "\"error\":{\"code\":-32041,\"message\":\"not connected\",\"data\":"
		  "{\"elicitations\":[" PAGE("a") "]}}" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		cleat_client_options o = { .on_url = cases[i].handler ? never : NULL };
		char hello[512];
		struct rig rig;

		snprintf(hello, sizeof hello, RIG_INITIALIZE("%s", RIG_CAPS),
			 cases[i].revision ? cases[i].revision : "");
		if (cases[i].revision)
			rig_legacy(&rig, &o, false, hello);
		else
			rig_modern(&rig, &o, false);
		rig_call(&rig, CALL_T);
		rig_answer(&rig, cases[i].answer);
		assert_int_equal(rig.n_questions, 0);
		assert_int_equal(rig.n_done, 1);
		rig_expect(&rig, CLEAT_EREMOTE, CLEAT_STEP_ANSWER, "not connected");
		rig_done(&rig);
	}
}

TEST(a_server_may_not_send_the_user_everywhere)
{
	char text[16384], *at = text;
	struct rig rig;

	for (int n = 64; n <= 65; n++) {
		begin(&rig, false);
		rig_call(&rig, CALL_T);
		at = text + snprintf(text, sizeof text,
				     "\"error\":{\"code\":-32042,\"message\":"
				     "\"not connected\",\"data\":"
				     "{\"elicitations\":[");
		for (int i = 0; i < n; i++)
			at += snprintf(at, sizeof text - (size_t)(at - text), "%s%s", i ? "," : "",
				       PAGE("a"));
		snprintf(at, sizeof text - (size_t)(at - text), "]}}");
		rig_answer(&rig, text);
		assert_int_equal(rig.n_questions, n == 64 ? 64 : 0);
		assert_int_equal(rig.n_done, n == 64 ? 0 : 1);
		rig_done(&rig);
	}
}

/* What the server asks meanwhile is its own: its ids, its answers, its cancellations. */
RIG_TEST(questions_of_the_server_are_told_apart)
{
	size_t sent;

	begin(rig, false);
	rig_call(rig, CALL_T);
	rig_answer(rig, NEEDS(PAGE("a")));
	sent = rig->n_sent;
	rig_say(rig, REQUEST("1", "elicitation/create", "\"message\":\"m\""));
	assert_int_equal(rig->n_questions, 2);
	/* progress of our own question is nobody's business */
	rig_peer_says(rig, rig->questions[0].tag, PEER_NOTICE,
		      NOTE("notifications/progress", "\"progressToken\":1,\"progress\":1"));
	assert_int_equal(rig->n_sent, sent);
	rig_answer_question(rig, 1, ACCEPT);
	assert_int_equal(rig->n_sent, sent + 1);
	assert_int_equal(rig_last(rig)->kind, LINK_ANSWER);
	rig_answer_question(rig, 0, ACCEPT);
	assert_string_equal(rig_last(rig)->method, "tools/call");
}

RIG_TEST(time_stands_still_while_the_user_decides)
{
	begin(rig, false);
	rig_call_with(rig, &(cleat_call_options){ .timeout_ms = 1000, .hard_timeout_ms = 9000 },
		      CALL_T);
	rig_answer(rig, NEEDS(PAGE("a")));
	rig_pass(rig, 5000);
	assert_int_equal(rig->n_done, 0);
	rig_pass(rig, 5000);
	rig_expect(rig, CLEAT_ETIMEOUT, CLEAT_STEP_TIMEOUT, "hard_timeout_ms");
	assert_has(rig->cancelled, "\"requestId\":-1");
}

TEST(a_call_that_ends_meanwhile_leaves_no_question)
{
	for (int how = 0; how < 4; how++) {
		struct rig rig;
		cleat_call *call;

		(void)state;
		begin(&rig, false);
		call = rig_call(&rig, CALL_T);
		rig_answer(&rig, NEEDS(PAGE("a") "," PAGE("b")));
		switch (how) {
		case 0:
			client_call_cancel(call);
			rig_pump(&rig);
			rig_expect(&rig, CLEAT_ECANCELLED, CLEAT_STEP_CANCELLED, "");
			assert_has(rig.cancelled, "notifications/cancelled");
			break;
		case 1: /* nobody can tell whether the next one will ask the same */
			rig_down(&rig, "gone");
			expect_error(&rig);
			assert_int_equal(rig.peers_closed, 1);
			break;
		case 2: /* the handler came to nothing */
			rig.questions[0].open = false;
			rig.sink.ended(rig.sink.ctx, rig.questions[0].tag, true);
			rig_pump(&rig);
			expect_error(&rig);
			break;
		default: client_close(rig.c); assert_int_equal(rig.n_done, 1);
		}
		rig_done(&rig);
	}
}

/* No memory for a question is no reason to lose what the server said. */
TEST(without_memory_the_error_is_what_is_left)
{
	struct rig rig;

	begin(&rig, false);
	rig.no_peer = true;
	rig_call(&rig, CALL_T);
	rig_answer(&rig, NEEDS(PAGE("a")));
	expect_error(&rig);
	rig_done(&rig);
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		fail_alloc_calm(&fa);
		rig_legacy(&rig, &(cleat_client_options){ .on_url = never, .allocator = &fa.hook },
			   false, RIG_INITIALIZE(REVISION, RIG_CAPS));
		rig.answer_at_once = ACCEPT;
		rig_call(&rig, CALL_T);
		fail_alloc_arm(&fa);
		rig_answer(&rig, NEEDS(PAGE("a") "," PAGE("b")));
		fa.countdown = 0;
		/* the error, or another try */
		assert_int_equal(rig.n_done + (rig_request(&rig) != &rig.sent[2]), 1);
		rig_done(&rig);
	}
}
