/* test_asked.c - the asked mode as a whole: which methods there are, in which revision, with which
 * capabilities; roots; what a handler can learn of its question.
 */
#include "unit/server/test_asked.h"
#include "test.h"

#define FORM(schema) "\"message\":\"Who?\",\"requestedSchema\":" schema
#define EMPTY_FORM   FORM("{\"type\":\"object\",\"properties\":{}}")
#define ASK_FORM     REQUEST("1", "elicitation/create", EMPTY_FORM)
#define ASK_URL                                                                                    \
	REQUEST("1", "elicitation/create",                                                         \
		"\"mode\":\"url\",\"message\":\"Go\",\"url\":\"https://a.example/x?y=1\","         \
		"\"elicitationId\":\"e\"")
#define MESSAGES                                                                                   \
	"\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"Hi\"}}]"
#define ASK_MODEL REQUEST("1", "sampling/createMessage", MESSAGES ",\"maxTokens\":10")
#define ASK_ROOTS REQUEST("1", "roots/list", "")

static int nothing(cleat_request *req)
{
	return cleat_reply_nothing(req);
}

static int hello(cleat_request *req)
{
	return cleat_reply_text(req, "Hello");
}

static const struct server_asked everything = { .on_form = nothing,
						.on_url = nothing,
						.on_sampling = hello };

static const cleat_root roots[] = { { .uri = "file:///home/me/a%20b", .name = "mine" },
				    { .uri = "file:///tmp" } };

static bool elicits(enum revision rev)
{
	return rev >= REV_2025_06_18;
}

static bool has_urls(enum revision rev)
{
	return rev >= REV_2025_11_25;
}

/* The results are those of the published schemas, with nothing of 2026-07-28 around them. */
TEST(every_question_is_answered_in_the_shape_of_its_revision)
{
	for (int i = 0; i < REV_COUNT; i++) {
		enum revision rev = (enum revision)i;
		const char *got;
		struct bench b;

		bench_start(&b, rev, &everything);
		assert_int_equal(server_set_roots(b.s, roots, 2), CLEAT_OK);
		assert_string_equal(b.p->ops->revision(b.p), revision_name(rev));
		got = bench_ask(&b, ASK_MODEL);
		assert_string_equal(
			got, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"role\":"
			     "\"assistant\",\"content\":{\"type\":\"text\",\"text\":"
			     "\"Hello\"},\"model\":\"unknown\",\"stopReason\":\"endTurn\"}}\n");
		assert_published(rev, "CreateMessageResult", got);
		got = bench_ask(&b, ASK_ROOTS);
		assert_string_equal(got, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"roots\":[{"
					 "\"uri\":\"file:///home/me/a%20b\",\"name\":\"mine\"},{"
					 "\"uri\":\"file:///tmp\"}]}}\n");
		assert_published(rev, "ListRootsResult", got);
		got = bench_ask(&b, ASK_FORM);
		if (elicits(rev)) {
			assert_string_equal(got, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{"
						 "\"action\":\"accept\",\"content\":{}}}\n");
			assert_published(rev, "ElicitResult", got);
		} else {
			assert_has(got, "-32601");
		}
		got = bench_ask(&b, ASK_URL);
		if (has_urls(rev)) {
			assert_string_equal(got, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{"
						 "\"action\":\"accept\"}}\n");
			assert_published(rev, "ElicitResult", got);
		} else {
			assert_has(got, elicits(rev) ? "-32602" : "-32601");
		}
		got = bench_ask(&b, REQUEST("\"p\"", "ping", ""));
		assert_string_equal(got, "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"result\":{}}\n");
		assert_int_equal(b.ended, 5);
		assert_int_equal(b.lost, 0);
		assert_string_equal(b.notes, "");
		bench_stop(&b);
	}
}

/* 2026-07-28 patterns/mrtr: what stands in _meta of a question is not a claim about its era. */
BENCH_TEST(modern_meta_in_a_question_changes_nothing)
{
	bench_start(b, REV_2026_07_28, &everything);
	assert_has(bench_ask(b, REQUEST("1", "elicitation/create", EMPTY_FORM "," MODERN)),
		   "{\"action\":\"accept\",\"content\":{}}");
}

/* The methods of a server are not those of a client, and nothing needs a handshake. */
TEST(nothing_else_can_be_asked)
{
	static const char *const methods[] = { "initialize",
					       "tools/list",
					       "tools/call",
					       "resources/read",
					       "prompts/get",
					       "completion/complete",
					       "logging/setLevel",
					       "server/discover",
					       "subscriptions/listen",
					       "elicitation/creat",
					       "" };

	for (size_t i = 0; i < CLEAT_COUNT(methods); i++) {
		char message[256];
		struct bench b;

		bench_start(&b, REV_2025_11_25, &everything);
		snprintf(message, sizeof message,
			 "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"%s\",\"params\":{}}",
			 methods[i]);
		assert_has(bench_ask(&b, message), "\"id\":7,\"error\":{\"code\":-32601");
		bench_stop(&b);
	}
}

/* In the other modes these methods stay unknown, also on a server that has a client after it. */
BENCH_TEST(a_server_is_not_asked_by_its_own_clients)
{
	static const char *const questions[] = {
		REQUEST("1", "elicitation/create", EMPTY_FORM "," MODERN),
		REQUEST("1", "sampling/createMessage", MESSAGES "," MODERN),
		REQUEST("1", "roots/list", MODERN),
	};

	bench_server(b, &everything, NULL);
	assert_int_equal(server_set_roots(b->s, roots, 2), CLEAT_OK);
	b->p = server_accept(b->s,
			     &(struct peer_sink){ .begin = bench_begin,
						  .end = bench_end,
						  .congested = bench_congested,
						  .ctx = b },
			     NULL);
	assert_non_null(b->p);
	for (size_t i = 0; i < CLEAT_COUNT(questions); i++)
		assert_has(bench_ask(b, questions[i]), "-32601");
}

TEST(without_a_client_there_is_no_such_connection)
{
	cleat_server *s = cleat_server_new("plain", "1", NULL);

	assert_non_null(s);
	assert_null(server_accept(s, &(struct peer_sink){ 0 },
				  &(struct peer_facts){ .mode = PEER_ASKED }));
	assert_int_equal(server_set_roots(s, roots, 2), CLEAT_EMISUSE);
	cleat_server_free(s);
}

/* ---- capabilities --------------------------------------------------------------------------- */

struct capability {
	struct server_asked who;
	const char *question, *code;
};

/* 2025-11-25 client/elicitation, error handling: -32602 for a mode that was not declared. Where nothing
 * of a method was declared there is no such method (client/roots, error handling: -32601). */
TEST(what_was_not_declared_cannot_be_asked)
{
	static const struct capability table[] = {
		{ { 0 }, ASK_FORM, "-32601" },
		{ { 0 }, ASK_URL, "-32601" },
		{ { 0 }, ASK_MODEL, "-32601" },
		{ { 0 }, ASK_ROOTS, "-32601" },
		{ { .on_form = nothing }, ASK_URL, "-32602" },
		{ { .on_url = nothing }, ASK_FORM, "-32602" },
		{ { .on_url = nothing },
		  REQUEST("1", "elicitation/create", "\"mode\":\"form\"," EMPTY_FORM),
		  "-32602" },
		{ { .on_form = nothing, .on_url = nothing },
		  REQUEST("1", "elicitation/create", "\"mode\":\"voice\"," EMPTY_FORM),
		  "-32602" },
		{ { .on_form = nothing, .on_url = nothing },
		  REQUEST("1", "elicitation/create", "\"mode\":null," EMPTY_FORM),
		  "-32602" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++)
		for (enum revision rev = REV_2025_11_25; rev <= REV_2026_07_28; rev++) {
			struct bench b;

			bench_start(&b, rev, &table[i].who);
			assert_has(bench_ask(&b, table[i].question), table[i].code);
			bench_stop(&b);
		}
}

/* ---- roots ---------------------------------------------------------------------------------- */

BENCH_TEST(roots_can_be_replaced_and_be_none)
{
	static const cleat_root bad[] = { { .uri = "file:///ok" }, { .name = "x" } };
	static const cleat_root path[] = { { .uri = "/home/me" } };
	cleat_root one = { .uri = "file:///one", .name = "\"one\"\n" };

	bench_start(b, REV_2025_03_26, &(struct server_asked){ 0 });
	assert_has(bench_ask(b, ASK_ROOTS), "-32601");
	assert_int_equal(server_set_roots(b->s, NULL, 0), CLEAT_OK);
	assert_has(bench_ask(b, ASK_ROOTS), "\"result\":{\"roots\":[]}");
	assert_int_equal(server_set_roots(b->s, &one, 1), CLEAT_OK);
	one.uri = one.name = "gone";
	assert_has(bench_ask(b, ASK_ROOTS),
		   "{\"roots\":[{\"uri\":\"file:///one\",\"name\":\"\\\"one\\\"\\n\"}]}");
	assert_int_equal(server_set_roots(b->s, bad, 2), CLEAT_EINVAL);
	assert_int_equal(server_set_roots(b->s, path, 1), CLEAT_EINVAL);
	assert_has(b->notes, "root 0: \"/home/me\" is not a URI");
	assert_has(bench_ask(b, ASK_ROOTS), "file:///one");
}

/* ---- what a handler sees -------------------------------------------------------------------- */

static int told, not_told;

static int look(cleat_request *req)
{
	const cleat_json *list;

	assert_ptr_equal(cleat_request_userdata(req), &told);
	assert_ptr_equal(cleat_request_client(req), (cleat_client *)(void *)&not_told);
	assert_string_equal(cleat_request_revision(req), "2025-11-25");
	assert_string_equal(cleat_request_method(req), "elicitation/create");
	assert_string_equal(cleat_request_name(req), "");
	assert_string_equal(cleat_arg_str(req, "message"), "Who?");
	assert_true(cleat_arg_given(req, "requestedSchema"));
	assert_false(cleat_arg_given(req, "mode"));
	assert_int_equal(cleat_json_size(cleat_request_arguments(req)), 3);
	assert_int_equal(cleat_json_int(cleat_json_get(cleat_request_meta(req), "x"), 0), 5);
	assert_null(cleat_request_args(req));
	assert_false(cleat_request_cancelled(req));
	assert_non_null(cleat_request_alloc(req, 10));
	assert_false(cleat_request_client_can(req, CLEAT_CLIENT_ROOTS));
	assert_int_equal(cleat_ask_roots(req, "r", &list), CLEAT_EUNSUPPORTED);
	assert_int_equal(cleat_ask_confirm(req, "c", "?"), CLEAT_EUNSUPPORTED);
	assert_int_equal(cleat_ask_url(req, "u", "?", "https://x"), CLEAT_EUNSUPPORTED);
	cleat_request_log(req, CLEAT_LOG_EMERGENCY, "not for the server");
	cleat_request_progress(req, 1, 2, "half");
	not_told++;
	return cleat_reply_nothing(req);
}

BENCH_TEST(a_handler_knows_its_question)
{
	const struct server_asked who = { .on_form = look,
					  .userdata = &told,
					  .client = (cleat_client *)(void *)&not_told };
	const char *got;

	not_told = 0;
	bench_start(b, REV_2025_11_25, &who);
	got = bench_ask(b, REQUEST("1", "elicitation/create", EMPTY_FORM ",\"_meta\":{\"x\":5}"));
	assert_has(got, "\"action\":\"accept\"");
	assert_int_equal(count_of(got, "\n"),
			 1); /* no log, and no progress that nobody asked for */
	assert_int_equal(not_told, 1);
	got = bench_ask(b, REQUEST("2", "elicitation/create",
				   EMPTY_FORM ",\"_meta\":{\"x\":5,\"progressToken\":\"t\"}"));
	assert_has(got,
		   "\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"t\"");
}

static int asks(cleat_request *req)
{
	return cleat_ask_confirm(req, "c", "?");
}

static int wants_more(cleat_request *req)
{
	(void)req;
	return CLEAT_NEED_INPUT;
}

/* A handler here has nobody to ask; what it makes of that is an error like others. */
TEST(a_question_is_not_answered_with_a_question)
{
	static cleat_handler *const handlers[] = { asks, wants_more };

	for (size_t i = 0; i < CLEAT_COUNT(handlers); i++)
		for (enum revision rev = REV_2025_11_25; rev <= REV_2026_07_28; rev++) {
			struct bench b;
			const char *got;

			bench_start(&b, rev, &(struct server_asked){ .on_form = handlers[i] });
			got = bench_ask(&b, ASK_FORM);
			assert_has(got, "\"id\":1,\"error\":{\"code\":-32603");
			assert_int_equal(count_of(got, "\n"), 1);
			assert_has(b.notes, "elicitation/create failed");
			bench_stop(&b);
		}
}

BENCH_TEST(handlers_can_be_replaced)
{
	bench_start(b, REV_2025_11_25, &(struct server_asked){ .on_form = wants_more });
	assert_int_equal(server_set_roots(b->s, roots, 2), CLEAT_OK);
	assert_has(bench_ask(b, ASK_FORM), "-32603");
	assert_int_equal(server_set_asked(b->s, &everything), CLEAT_OK);
	assert_has(bench_ask(b, ASK_FORM), "accept");
	assert_has(bench_ask(b, ASK_ROOTS), "file:///tmp"); /* they stay */
}

/* ---- messages that are none ----------------------------------------------------------------- */

BENCH_TEST(broken_messages_do_no_harm)
{
	static const struct {
		const char *message, *answer; /* "": none */
	} table[] = {
		{ "{", "-32700" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\",\"params\":[]}",
		  "-32602" },
		{ REQUEST("1", "roots/list", "\"_meta\":5"), "-32602" },
		{ REQUEST("1", "elicitation/create", EMPTY_FORM ",\"message\":\"twice\""),
		  "-32602" },
		{ REQUEST("1", "elicitation/create", EMPTY_FORM ",\"x\":{\"a\":1,\"a\":2}"),
		  "-32602" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"elicitation/create\"}", "-32602" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"sampling/createMessage\"}",
		  "-32602" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}", "\"roots\":" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", "" },
		{ NOTE("notifications/initialized", ""), "" },
		{ NOTE("notifications/roots/list_changed", ""), "" },
		{ NOTE("elicitation/create", EMPTY_FORM), "" },
		{ CANCEL("99"), "" },
		{ "[" ASK_ROOTS "]", "-32600" },
	};

	bench_start(b, REV_2025_11_25, &everything);
	assert_int_equal(server_set_roots(b->s, roots, 2), CLEAT_OK);
	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		const char *got = bench_ask(b, table[i].message);

		if (*table[i].answer)
			assert_has(got, table[i].answer);
		else
			assert_string_equal(got, "");
		assert_has(bench_ask(b, ASK_URL), "accept");
	}
}

/* 2025-03-26 basic, batching: a client, too, must be able to take them. */
BENCH_TEST(a_batch_of_2025_03_26_is_answered_as_one)
{
	const char *got;

	bench_start(b, REV_2025_03_26, &everything);
	assert_int_equal(server_set_roots(b->s, roots, 2), CLEAT_OK);
	got = bench_ask(b, "[" ASK_ROOTS "," REQUEST("2", "ping", "") "]");
	assert_int_equal(got[0], '[');
	assert_int_equal(count_of(got, "\"result\""), 2);
	assert_int_equal(count_of(got, "\n"), 1);
}
