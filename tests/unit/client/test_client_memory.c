/* Every allocation of the client role fails once, then from there on: no crash, no leak, every call ends
 * exactly once, and where memory is back the client works. */
#include "test.h"
#include "unit/client/client_rig.h"

#define TOOLS                                                                                      \
	"{\"name\":\"h\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"region\":"         \
	"{\"type\":\"string\",\"x-mcp-header\":\"Region\"}}}},{\"name\":\"bad\",\"inputSchema\":"  \
	"{\"type\":\"object\",\"properties\":{\"r\":{\"type\":\"string\",\"x-mcp-header\":\"a b\"}}}}"
#define CALL_H "tools/call", "{\"name\":\"h\",\"arguments\":{\"region\":\"eu\"}}"

static const cleat_root roots[] = { { .uri = "file:///a", .name = "A" }, { .uri = "file:///b" } };
static const char *const headers[] = { "X-A: 1", "X-B: 2", NULL };

/* The server's part: a sensible answer to everything that is not answered yet. */
static const char *answer_to(const struct rig_sent *s)
{
	if (strcmp(s->method, "server/discover") == 0)
		return RIG_DISCOVER(RIG_CAPS);
	if (strcmp(s->method, "initialize") == 0)
		return RIG_INITIALIZE("2025-03-26", RIG_CAPS);
	if (strcmp(s->method, "tools/list") == 0)
		return strstr(s->text, "cursor")
			       ? "\"result\":{\"tools\":[" TOOLS "],\"ttlMs\":5000,"
				 "\"cacheScope\":\"public\"}"
			       : "\"result\":{\"tools\":[" TOOLS "],\"nextCursor\":\"2\","
				 "\"ttlMs\":5000,\"cacheScope\":\"public\"}";
	if (strcmp(s->method, "tools/call") == 0 && s->modern && !strstr(s->text, "inputResponses"))
		return "\"result\":{\"resultType\":\"input_required\",\"inputRequests\":{"
		       "\"a\":{\"method\":\"roots/list\"},\"b\":{\"method\":\"roots/list\"}},"
		       "\"requestState\":\"s\"}";
	if (strcmp(s->method, "prompts/get") == 0)
		return "\"error\":{\"code\":-32602,\"message\":\"no\"}";
	return "\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}";
}

static void serve(struct rig *rig, size_t *served)
{
	for (; *served < rig->n_sent; ++*served) {
		const struct rig_sent *s = &rig->sent[*served];

		if (s->kind == LINK_NOTICE && s->tag && rig->link.http)
			rig->ev.accepted(rig->ev.ctx, s->tag);
		if (s->kind != LINK_REQUEST)
			continue;
		if (strcmp(s->method, "subscriptions/listen") == 0)
			rig_say(rig,
				"{\"jsonrpc\":\"2.0\",\"method\":"
				"\"notifications/subscriptions/acknowledged\",\"params\":{\"_meta\":"
				"{\"io.modelcontextprotocol/subscriptionId\":%d},\"notifications\":"
				"{\"toolsListChanged\":true}}}",
				(int)(uintptr_t)s->tag);
		else
			rig_reply(rig, s, 200, answer_to(s));
	}
	rig_pump(rig);
}

static size_t begin_calls(struct rig *rig)
{
	cleat_doc *meta = rig_json("{\"x\":1}");
	size_t n = 0;

	n += rig_call_with(
		     rig,
		     &(cleat_call_options){ .meta = cleat_doc_root(meta), .log_level = "info" },
		     CALL_H) != NULL;
	cleat_doc_free(meta);
	n += rig_call(rig, "prompts/get", "{\"name\":\"p\"}") != NULL;
	n += rig_call(rig, "resources/read", "{\"uri\":\"a\"}") != NULL;
	n += rig_list(rig, NULL, CLEAT_LIST_TOOLS) != NULL;
	n += rig_call(rig, "tools/call", "[]") != NULL;
	return n;
}

/* One life of a client; `fa` may fail at any place. */
static void live(struct fail_alloc *fa, bool modern, bool http)
{
	const char *uris[] = { "file:///x", "file:///y", NULL };
	cleat_client_options o = { .allocator = &fa->hook,
				   .era = modern ? CLEAT_ERA_AUTO : CLEAT_ERA_LEGACY,
				   .roots = roots,
				   .n_roots = 2,
				   .headers = headers,
				   .log_level = "info",
				   .name = "n",
				   .restart = true };
	static struct rig rig;
	cleat_watch *w;
	size_t served = 0, begun;
	cleat_call *last;

	if (!rig_init(&rig, &o))
		return;
	rig.link.http = http;
	rig.answer_at_once = "\"result\":{\"roots\":[]}";
	w = cleat_client_watch(rig.c, &(cleat_watch_options){ .lists = CLEAT_CHANGE_TOOLS,
							      .uris = uris,
							      .on_change = rig_on_change,
							      .on_end = rig_on_end });
	rig_notify(&rig, "notifications/x", "{\"a\":1}");
	begun = begin_calls(&rig);
	rig_up(&rig);
	for (int i = 0; i < 12; i++)
		serve(&rig, &served);
	rig_say(&rig, NOTE("notifications/message", "\"level\":\"info\",\"data\":\"d\""));
	rig_say(&rig, REQUEST("\"q\"", "sampling/createMessage", "\"x\":1"));
	rig_say(&rig, "[" REQUEST("\"q\"", "ping", "") "," NOTE("notifications/a", "") "]");
	begun += begin_calls(&rig);
	for (int i = 0; i < 12; i++)
		serve(&rig, &served);
	if (!http) {
		begun += begin_calls(&rig);
		rig_down(&rig, "gone");
		rig_wait(&rig, 1000);
		rig_up(&rig);
		for (int i = 0; i < 12; i++)
			serve(&rig, &served);
	}
	/* Time ends what an answer that could not be read has left. */
	rig_wait(&rig, 400000);
	rig_wait(&rig, 400000);
	assert_int_equal(rig.n_done, begun);
	/* Memory is back: everything works. */
	fa->countdown = 0;
	fa->forever = false;
	last = rig_call(&rig, "tools/call", "{\"name\":\"z\"}");
	assert_non_null(last);
	for (int i = 0; i < 12 && rig.n_done == begun; i++) {
		if (client_phase(rig.c) == CLIENT_OPENING)
			rig_up(&rig);
		rig_wait(&rig, 1000);
		serve(&rig, &served);
	}
	assert_int_equal(rig.n_done, begun + 1);
	assert_int_equal(cleat_result_status(rig_result(&rig)), CLEAT_OK);
	cleat_watch_free(w);
	rig_done(&rig);
}

TEST(every_allocation_may_fail)
{
	for (int kind = 0; kind < 4; kind++) {
		for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
			live(&fa, kind & 1, kind & 2);
			assert_true(fa.round < 20000);
		}
	}
}

/* The answer itself cannot be read for want of memory: its call ends with that, another one lives. */
TEST(an_answer_without_memory_ends_its_call)
{
	struct fail_alloc fa;
	struct rig rig;

	for (int others = 0; others < 2; others++) {
		fail_alloc_init(&fa, 0, false);
		rig_modern(&rig, &(cleat_client_options){ .allocator = &fa.hook }, false);
		rig_call(&rig, "prompts/get", "{\"name\":\"p\"}");
		if (others)
			rig_call(&rig, "prompts/get", "{\"name\":\"q\"}");
		fa.countdown = 1;
		fa.forever = true;
		rig_reply(&rig, &rig.sent[1], 0, "\"result\":{\"messages\":[]}");
		assert_int_equal(rig.n_done, 1);
		assert_int_equal(cleat_result_status(rig_result(&rig)), CLEAT_ENOMEM);
		fa.countdown = 0;
		fa.forever = false;
		if (others) {
			rig_answer(&rig, "\"result\":{\"messages\":[]}");
			assert_int_equal(cleat_result_status(rig_result(&rig)), CLEAT_OK);
		}
		rig_done(&rig);
		assert_int_equal(fa.live, 0);
	}
}

static int never(cleat_request *req)
{
	(void)req;
	fail(); /* the rig's peer answers */
	return CLEAT_OK;
}

/* No memory to ask the user (-32042) is no reason to lose what the server said. */
TEST(an_error_outlives_the_question_it_asks_for)
{
	struct rig rig;

	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		fail_alloc_calm(&fa);
		rig_legacy(&rig, &(cleat_client_options){ .on_url = never, .allocator = &fa.hook },
			   false, RIG_INITIALIZE("2025-11-25", RIG_CAPS));
		rig.answer_at_once = "\"result\":{\"action\":\"accept\"}";
		rig_call(&rig, CALL_H);
		fail_alloc_arm(&fa);
		rig_answer(&rig, "\"error\":{\"code\":-32042,\"message\":\"m\",\"data\":"
				 "{\"elicitations\":[{\"mode\":\"url\",\"elicitationId\":\"a\","
				 "\"url\":\"https://a/\",\"message\":\"m\"}]}}");
		fail_alloc_calm(&fa);
		/* the error, or another try */
		assert_int_equal(rig.n_done + (rig_request(&rig) != &rig.sent[2]), 1);
		rig_done(&rig);
	}
}
