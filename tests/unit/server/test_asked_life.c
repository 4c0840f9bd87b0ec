/* test_asked_life.c - a question's life in the asked mode: handlers on worker threads, deferred ones, ones
 * that are cancelled or outlived by their connection, deadlines; and every allocation that fails.
 */
#include "test.h"
#include "unit/server/test_asked.h"

#include <pthread.h>

#define FORM                                                                                       \
	"\"message\":\"Who?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"name\":{" \
	"\"type\":\"string\"},\"age\":{\"type\":\"integer\",\"minimum\":1,\"default\":30},"        \
	"\"mail\":{\"type\":\"string\",\"format\":\"email\",\"default\":\"none\"}},\"required\":[" \
	"\"name\"]}"
#define ASK_FORM(id) REQUEST(id, "elicitation/create", FORM)
#define ASK_URL                                                                                    \
	REQUEST("9", "elicitation/create",                                                         \
		"\"mode\":\"url\",\"message\":\"\",\"url\":\"https://h/\"")
#define ASK_MODEL(id)                                                                                 \
	REQUEST(id, "sampling/createMessage",                                                         \
		"\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"Hi\"}}]," \
		"\"maxTokens\":10")

/* ---- a gate that handlers on other threads wait at -------------------------------------------- */

static struct gate {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int arrived, open;
	cleat_request *held;
	pthread_t owner;
} gate = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static void gate_close(void)
{
	gate.arrived = gate.open = 0;
	gate.held = NULL;
	gate.owner = pthread_self();
}

static void gate_open(void)
{
	pthread_mutex_lock(&gate.lock);
	gate.open = 1;
	pthread_cond_broadcast(&gate.changed);
	pthread_mutex_unlock(&gate.lock);
}

static void gate_await(int n)
{
	pthread_mutex_lock(&gate.lock);
	while (gate.arrived < n)
		pthread_cond_wait(&gate.changed, &gate.lock);
	pthread_mutex_unlock(&gate.lock);
}

static void gate_pass(cleat_request *req)
{
	if (pthread_equal(gate.owner, pthread_self()))
		abort(); /* it would wait for itself */
	pthread_mutex_lock(&gate.lock);
	gate.arrived++;
	gate.held = req;
	pthread_cond_broadcast(&gate.changed);
	while (!gate.open)
		pthread_cond_wait(&gate.changed, &gate.lock);
	pthread_mutex_unlock(&gate.lock);
}

/* ---- handlers ------------------------------------------------------------------------------- */

static int waits(cleat_request *req)
{
	gate_pass(req);
	if (cleat_request_cancelled(req))
		return CLEAT_ECANCELLED;
	return cleat_reply_jsonf(req, "{name: %s}", cleat_arg_str(req, "message"));
}

static int waits_to_speak(cleat_request *req)
{
	gate_pass(req);
	cleat_reply_model(req, "m");
	return cleat_reply_text(req, "Hello");
}

static int defers(cleat_request *req)
{
	cleat_request_defer(req);
	gate.held = req;
	return CLEAT_PENDING;
}

static void *finish_later(void *arg)
{
	cleat_request *req = arg;

	cleat_reply_jsonf(req, "{name: %s}", "later");
	cleat_request_finish(req, CLEAT_OK);
	return NULL;
}

static void *finish_declined(void *arg)
{
	cleat_request_finish(arg, CLEAT_EDECLINED);
	return NULL;
}

static int cancels;

static void on_cancel(cleat_request *req)
{
	cancels++;
	cleat_request_finish(req, CLEAT_ECANCELLED);
}

static int defers_until_cancelled(cleat_request *req)
{
	cleat_request_defer(req);
	cleat_request_on_cancel(req, on_cancel);
	return CLEAT_PENDING;
}

/* ---- worker threads ------------------------------------------------------------------------- */

BENCH_TEST(a_blocking_handler_runs_on_another_thread)
{
	const struct server_asked who = { .on_form = waits,
					  .on_sampling = waits_to_speak,
					  .blocking = true };

	gate_close();
	bench_start(b, REV_2025_11_25, &who);
	assert_string_equal(bench_ask(b, ASK_FORM("1")), "");
	bench_say(b, ASK_MODEL("2"));
	gate_await(2);
	assert_int_equal(b->p->ops->inflight(b->p), 2);
	assert_has(bench_ask(b, REQUEST("3", "ping", "")), "\"id\":3");
	gate_open();
	bench_wait(b);
	assert_has(bench_text(b),
		   "\"id\":1,\"result\":{\"action\":\"accept\",\"content\":{\"name\":"
		   "\"Who?\",\"age\":30}}}");
	assert_has(bench_text(b), "\"id\":2,\"result\":{\"role\":\"assistant\"");
	assert_int_equal(b->ended, 3);
}

/* 2025-11-25 utilities/cancellation: no answer to a question that was taken back. */
BENCH_TEST(a_cancelled_question_is_not_answered)
{
	gate_close();
	bench_start(b, REV_2025_11_25,
		    &(struct server_asked){ .on_form = waits, .blocking = true });
	bench_say(b, ASK_FORM("1"));
	gate_await(1);
	bench_say(b, CANCEL("1"));
	assert_int_equal(b->ended, 1);
	assert_int_equal(b->lost, 0);
	/* the id is free again */
	bench_say(b, ASK_FORM("1"));
	gate_await(2);
	gate_open();
	bench_wait(b);
	assert_int_equal(count_of(bench_text(b), "\n"), 1);
	assert_has(bench_text(b), "\"id\":1,\"result\":{\"action\":\"accept\"");
	assert_int_equal(b->ended, 2);
}

BENCH_TEST(a_closed_connection_waits_for_its_handlers)
{
	gate_close();
	bench_start(b, REV_2026_07_28,
		    &(struct server_asked){ .on_form = waits, .blocking = true });
	bench_say(b, ASK_FORM("1"));
	gate_await(1);
	b->p->ops->close(b->p);
	b->p = NULL;
	gate_open();
	bench_wait(b);
	assert_string_equal(bench_text(b), "");
}

/* ---- deferred ------------------------------------------------------------------------------- */

TEST(a_deferred_question_is_answered_from_any_thread)
{
	static const struct {
		void *(*finish)(void *);
		const char *answer;
	} table[] = {
		{ finish_later,
		  "{\"action\":\"accept\",\"content\":{\"name\":\"later\",\"age\":30}}" },
		{ finish_declined, "{\"action\":\"decline\"}" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		pthread_t thread;
		struct bench b;

		bench_start(&b, REV_2025_11_25, &(struct server_asked){ .on_form = defers });
		assert_string_equal(bench_ask(&b, ASK_FORM("1")), "");
		assert_int_equal(pthread_create(&thread, NULL, table[i].finish, gate.held), 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_has(bench_wait(&b), table[i].answer);
		bench_stop(&b);
	}
}

BENCH_TEST(a_deferred_question_hears_that_it_is_cancelled)
{
	cancels = 0;
	bench_start(b, REV_2025_11_25, &(struct server_asked){ .on_form = defers_until_cancelled });
	bench_say(b, ASK_FORM("1"));
	bench_say(b, ASK_FORM("2"));
	bench_say(b, CANCEL("1"));
	assert_int_equal(cancels, 1);
	b->p->ops->close(b->p);
	b->p = NULL;
	assert_int_equal(cancels, 2);
	assert_string_equal(bench_wait(b), "");
}

/* ---- limits --------------------------------------------------------------------------------- */

static uint64_t fake_now(void *ctx)
{
	return *(uint64_t *)ctx;
}

BENCH_TEST(a_question_that_takes_too_long_is_given_up)
{
	const cleat_server_options o = { .request_timeout_ms = 1000 };
	uint64_t now = 5000;

	cancels = 0;
	bench_server(b, &(struct server_asked){ .on_form = defers_until_cancelled }, &o);
	b->r->now = fake_now;
	b->r->now_ctx = &now;
	b->p = bench_accept(b, REV_2025_11_25);
	bench_say(b, ASK_FORM("1"));
	now += 999;
	server_pump(b->s);
	assert_string_equal(bench_text(b), "");
	now += 2;
	server_pump(b->s);
	assert_has(bench_wait(b), "\"id\":1,\"error\":{\"code\":-32603");
	assert_int_equal(cancels, 1);
}

static int says_much(cleat_request *req)
{
	char *text = cleat_request_alloc(req, 5000);

	memset(text, 'x', 4999);
	return cleat_reply_text(req, text);
}

static int fills_much(cleat_request *req)
{
	char *text = cleat_request_alloc(req, 5000);

	memset(text, 'x', 4999);
	return cleat_reply_jsonf(req, "{name: %s}", text);
}

BENCH_TEST(an_answer_over_the_limit_becomes_an_error)
{
	const cleat_server_options o = { .max_reply = 4096 };

	bench_server(b, &(struct server_asked){ .on_sampling = says_much, .on_form = fills_much },
		     &o);
	b->p = bench_accept(b, REV_2025_11_25);
	assert_has(bench_ask(b, ASK_MODEL("1")), "\"error\"");
	assert_has(bench_ask(b, ASK_FORM("1")), "\"error\"");
	assert_int_equal(b->lost, 0);
}

/* More nested than any value that is read back. */
static int goes_deep(cleat_request *req)
{
	char text[1024];
	cleat_doc *doc;
	int rc;

	memset(text, '[', 200);
	memset(text + 200, ']', 200);
	doc = cleat_doc_parse(text, 400, &(cleat_json_limits){ .max_depth = 500 }, NULL, NULL);
	assert_non_null(doc);
	rc = cleat_reply_json(req, cleat_doc_root(doc));
	cleat_doc_free(doc);
	return rc;
}

BENCH_TEST(an_answer_that_is_nested_too_deep_becomes_an_error)
{
	bench_start(b, REV_2025_11_25,
		    &(struct server_asked){ .on_sampling = goes_deep, .on_form = goes_deep });
	assert_has(bench_ask(b, ASK_MODEL("1")), "\"id\":1,\"error\":{\"code\":-32603");
	assert_has(bench_ask(b, ASK_FORM("1")), "\"id\":1,\"error\":{\"code\":-32603");
}

/* ---- memory --------------------------------------------------------------------------------- */

static int fills_in(cleat_request *req)
{
	return cleat_reply_jsonf(req, "{name: %s}", "Eve");
}

static int does_not_fit(cleat_request *req)
{
	return cleat_reply_jsonf(req, "{name: %d}", 5);
}

static int not_asked_for(cleat_request *req)
{
	return cleat_reply_jsonf(req, "{x: %d}", 5);
}

static int opens(cleat_request *req)
{
	return cleat_reply_nothing(req);
}

static int declines(cleat_request *req)
{
	(void)req;
	return CLEAT_EDECLINED;
}

static int speaks(cleat_request *req)
{
	int rc = cleat_reply_model(req, "m");

	if (!rc)
		rc = cleat_reply_stop_reason(req, "r");
	if (!rc)
		rc = cleat_reply_text(req, "one");
	if (!rc && strcmp(cleat_request_revision(req), "2025-11-25") >= 0)
		rc = cleat_reply_tool_use(req, "i", "n", NULL);
	return rc ? rc : cleat_reply_textf(req, "%s", "two");
}

static int speaks_json(cleat_request *req)
{
	return cleat_reply_jsonf(
		req, "{role: 'assistant', model: 'm', content: {type: 'text', text: 'x'}}");
}

static int speaks_nonsense(cleat_request *req)
{
	return cleat_reply_jsonf(req, "{role: 'assistant'}");
}

static const struct {
	const char *name;
	enum revision rev;
	struct server_asked who;
	const char *question, *want;
} scripts[] = {
	{ "form",
	  REV_2025_11_25,
	  { .on_form = fills_in },
	  ASK_FORM("9"),
	  "{\"name\":\"Eve\",\"age\":30}" },
	{ "misfit",
	  REV_2025_06_18,
	  { .on_form = does_not_fit },
	  ASK_FORM("9"),
	  "field \\\"name\\\"" },
	{ "stranger",
	  REV_2026_07_28,
	  { .on_form = not_asked_for },
	  ASK_FORM("9"),
	  "field \\\"x\\\"" },
	{ "bad form",
	  REV_2025_11_25,
	  { .on_form = fills_in },
	  REQUEST("9", "elicitation/create",
		  "\"message\":\"\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"a\":{"
		  "\"type\":\"string\",\"minLength\":-1}}}"),
	  "-32602" },
	{ "url", REV_2025_11_25, { .on_url = opens }, ASK_URL, "{\"action\":\"accept\"}" },
	{ "decline", REV_2025_11_25, { .on_url = declines }, ASK_URL, "{\"action\":\"decline\"}" },
	{ "undeclared", REV_2025_11_25, { .on_form = fills_in }, ASK_URL, "-32602" },
	{ "unknown", REV_2025_11_25, { 0 }, ASK_URL, "-32601" },
	{ "joined", REV_2024_11_05, { .on_sampling = speaks }, ASK_MODEL("9"), "one\\ntwo" },
	{ "blocks",
	  REV_2025_11_25,
	  { .on_sampling = speaks, .sampling_tools = true },
	  ASK_MODEL("9"),
	  "tool_use" },
	{ "whole",
	  REV_2026_07_28,
	  { .on_sampling = speaks_json },
	  ASK_MODEL("9"),
	  "\"model\":\"m\"" },
	{ "nonsense",
	  REV_2025_11_25,
	  { .on_sampling = speaks_nonsense },
	  ASK_MODEL("9"),
	  "-32603" },
	{ "rejected", REV_2025_11_25, { .on_sampling = declines }, ASK_MODEL("9"), "\"code\":-1," },
	{ "roots", REV_2025_11_25, { 0 }, REQUEST("9", "roots/list", ""), "file:///r" },
};

/* A question with so many bytes more in it: where an arena ends is then anywhere. */
static char *padded(const char *question, size_t pad)
{
	const char *at = strstr(question, "\"params\":{") + strlen("\"params\":{");
	size_t size = strlen(question) + pad + 32;
	char *text = malloc(size), *filler = malloc(pad + 1);

	assert_non_null(text);
	assert_non_null(filler);
	memset(filler, 'x', pad);
	filler[pad] = '\0';
	snprintf(text, size, "%.*s\"pad\":\"%s\"%s%s", (int)(at - question), question, filler,
		 *at == '}' ? "" : ",", at);
	free(filler);
	return text;
}

/* One question, whose n-th allocation fails. False when none did. */
static bool serve_with_failure(size_t i, size_t n, bool forever, size_t pad)
{
	char *question = padded(scripts[i].question, pad);
	static const cleat_root root = { .uri = "file:///r", .name = "r" };
	struct fail_alloc fa;
	const cleat_server_options o = { .allocator = &fa.hook };
	const char *got;
	struct bench b;
	bool hit;

	fail_alloc_init(&fa, 0, false);
	bench_server(&b, &scripts[i].who, &o);
	assert_int_equal(server_set_roots(b.s, &root, 1), CLEAT_OK);
	b.p = bench_accept(&b, scripts[i].rev);
	assert_non_null(b.p);
	fa.countdown = n;
	fa.forever = forever;
	if (bench_say(&b, question) == PEER_LOST)
		b.lost++;
	hit = fail_alloc_hit(&fa);
	fa.countdown = 0;
	fa.forever = false;
	server_pump(b.s); /* what waited for memory */
	got = bench_wait(&b);
	if (count_of(got, "\"jsonrpc\"") + b.lost != 1)
		print_error("%s, allocation %zu: %s%s\n", scripts[i].name, n, got, b.notes);
	assert_int_equal(count_of(got, "\"jsonrpc\"") + b.lost, 1);
	if (!hit)
		assert_has(got, scripts[i].want);
	assert_has(bench_ask(&b, question), scripts[i].want);
	free(question);
	assert_int_equal(b.p->ops->inflight(b.p), 0);
	bench_stop(&b);
	assert_int_equal(fa.live, 0);
	return hit;
}

TEST(every_question_survives_failing_allocations)
{
	for (size_t i = 0; i < CLEAT_COUNT(scripts); i++)
		for (int forever = 0; forever < 2; forever++)
			for (size_t n = 1; serve_with_failure(i, n, forever, 0); n++)
				;
}

TEST(it_fails_anywhere_in_a_question)
{
	for (size_t i = 0; i < CLEAT_COUNT(scripts); i++)
		for (size_t pad = 1; pad < 4096; pad += 61)
			for (size_t n = 1; n < 6 && serve_with_failure(i, n, true, pad); n++)
				;
}

TEST(setting_up_survives_failing_allocations)
{
	static const cleat_root old = { .uri = "file:///old" }, new = { .uri = "file:///new" };
	struct fail_alloc fa;

	for (size_t n = 1, hit = 1; hit; n++) {
		const cleat_server_options o = { .allocator = &fa.hook };
		cleat_server *s;
		int rc;

		fail_alloc_init(&fa, 0, false);
		s = cleat_server_new("client", "1", &o);
		fa.countdown = n;
		rc = server_set_asked(s, &(struct server_asked){ .on_url = opens });
		if (rc) {
			assert_int_equal(rc, CLEAT_ENOMEM);
			rc = server_set_asked(s, &(struct server_asked){ .on_url = opens });
		}
		assert_int_equal(rc, CLEAT_OK);
		if (server_set_roots(s, &old, 1))
			assert_int_equal(server_set_roots(s, &old, 1), CLEAT_OK);
		rc = server_set_roots(s, &new, 1);
		assert_true(rc == CLEAT_OK || rc == CLEAT_ENOMEM);
		hit = fail_alloc_hit(&fa);
		cleat_server_free(s);
		assert_int_equal(fa.live, 0);
	}
}
