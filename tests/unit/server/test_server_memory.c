/* test_server_memory.c - every allocation fails once, or once and all that follow: while a server is
 * built, and while it serves one request of each kind. Nothing crashes, nothing leaks, every request
 * gets exactly one answer (or, where not even its id could be read, an error without one or a remark),
 * and with memory back the next request is served as if nothing had been.
 */
#include "test.h"
#include "unit/server/test_server.h"

struct place {
	const char *city;
	int days;
	const cleat_json *extra;
};

static const cleat_field place_fields[] = {
	CLEAT_FIELD(struct place, city, "City", .choices = "Oslo|Odessa|Rome"),
	CLEAT_FIELD(struct place, days, "Days", CLEAT_RANGE(1, 14), .fallback = "3"),
	CLEAT_FIELD(struct place, extra, "Anything", .optional = true),
	CLEAT_FIELD_END,
};

static int echo(cleat_request *req)
{
	cleat_request_progress(req, 1, 2, "half %d", 1);
	cleat_request_log(req, CLEAT_LOG_ERROR, "log %d", 1);
	cleat_reply_annotate(req, &(cleat_annotations){ .user = true, .last_modified = "2026" },
			     "{ \"a\": 1 }");
	cleat_reply_text(req, "text");
	cleat_reply_meta(req, "{ \"m\": 2 }");
	return cleat_reply_blob(req, NULL, "bytes", 5);
}

static int record(cleat_request *req)
{
	const struct place *p = cleat_request_args(req);

	return cleat_reply_record(req, p);
}

static int with_state(cleat_request *req)
{
	const cleat_json *roots;
	int rc;

	cleat_request_alloc(req, 10000);
	rc = cleat_request_set_state(req, "{n: %d}", 5);
	if (!rc)
		rc = cleat_ask_roots(req, "r", &roots);
	return rc ? rc : cleat_reply_jsonf(req, "{n: %zu}", cleat_json_size(roots));
}

static cleat_request *held;

static int defer(cleat_request *req)
{
	cleat_request_defer(req);
	held = req;
	return CLEAT_PENDING;
}

static int prompt(cleat_request *req)
{
	cleat_reply_description(req, "described");
	return cleat_reply_message(req, "assistant", "%s", cleat_arg_str(req, "city"));
}

static int reject(cleat_request *req)
{
	return cleat_reply_reject_data(req, -1234, "{ \"d\": [1, 2] }", "refused %s", "so");
}

static int read_city(cleat_request *req)
{
	return cleat_reply_textf(req, "%s", cleat_request_var(req, "name"));
}

static int complete_city(cleat_request *req)
{
	return cleat_reply_suggest(req, "Oslo");
}

static int destroyed;

static void count_destroy(void *userdata)
{
	(void)userdata;
	destroyed++;
}

enum { ENTRIES = 9 };

/* Registers all there is; false when a call failed. */
static bool fill(cleat_server *s)
{
	static const cleat_icon icons[] = { { .src = "https://i", .sizes = "any" },
					    { .src = NULL } };
	const cleat_tool tools[] = {
		{ .name = "echo", .call = echo, .meta = "{\"k\": 1}", .icons = icons },
		{ .name = "record", .call = record, .input = place_fields, .output = place_fields },
		{ .signature = "ask(a?: integer = 1)", .call = with_state },
		{ .name = "defer", .call = defer, .input_schema = "{\"type\":\"object\"}" },
		{ .name = "reject", .call = reject },
	};
	const cleat_resource resources[] = {
		{ .uri = "note:1",
		  .text = "fixed",
		  .annotations = &(cleat_annotations){ .user = true } },
		{ .uri = "city://{name}", .read = read_city, .complete = complete_city },
	};
	const cleat_prompt prompts[] = {
		{ .name = "p", .get = prompt, .input = place_fields },
		{ .signature = "q(n: integer, unit?: cm|in)", .get = prompt },
	};
	cleat_tool t[5];
	cleat_resource r[2];
	cleat_prompt p[2];
	int rc = 0;

	memcpy(t, tools, sizeof t);
	memcpy(r, resources, sizeof r);
	memcpy(p, prompts, sizeof p);
	for (size_t i = 0; i < 5; i++)
		t[i].destroy = count_destroy;
	for (size_t i = 0; i < 2; i++)
		r[i].destroy = p[i].destroy = count_destroy;
	rc |= cleat_server_add_tools(s, t, 5);
	rc |= cleat_server_add_resources(s, r, 2);
	rc |= cleat_server_add_prompts(s, p, 2);
	return rc == 0;
}

static cleat_server *make(struct fail_alloc *fa, struct rig *r)
{
	cleat_server_options o = rig_options(r);

	o.title = "Title";
	o.instructions = "Read the manual.";
	o.allocator = &fa->hook;
	return cleat_server_new("rig", "1", &o);
}

/* With all of it and a wire. */
static void start(struct rig *r, struct fail_alloc *fa)
{
	r->s = make(fa, r);
	assert_true(fill(r->s));
	rig_wire(r);
}

/* ---- building -------------------------------------------------------------------------------- */

static void build_with_failures(bool forever)
{
	struct fail_alloc fa;

	for (size_t n = 1;; n++) {
		struct rig r = { 0 };
		bool filled;

		destroyed = 0;
		fail_alloc_init(&fa, n, forever);
		r.s = make(&fa, &r);
		filled = fill(r.s);
		if (fail_alloc_hit(&fa)) {
			if (cleat_server_error(r.s)->status != CLEAT_ENOMEM)
				print_error("allocation %zu: %s\n", n,
					    cleat_server_error(r.s)->message);
			assert_int_equal(cleat_server_error(r.s)->status, CLEAT_ENOMEM);
			assert_null(cleat_wire_server(r.s, NULL));
		} else {
			assert_true(filled);
			assert_int_equal(destroyed, 0);
		}
		cleat_server_free(r.s);
		assert_int_equal(destroyed, ENTRIES);
		assert_int_equal(fa.live, 0);
		if (!fail_alloc_hit(&fa))
			break;
	}
}

TEST(building_survives_one_failure)
{
	build_with_failures(false);
}

TEST(building_survives_lasting_failure)
{
	build_with_failures(true);
}

/* A wire that cannot be made leaves a server that can be asked again. */
TEST(wire_can_be_made_later)
{
	struct fail_alloc fa;

	for (size_t n = 1;; n++) {
		struct rig r = { 0 };

		fail_alloc_init(&fa, 0, false);
		r.s = make(&fa, &r);
		assert_true(fill(r.s));
		fa.countdown = n;
		r.w = cleat_wire_server(r.s, NULL);
		fa.countdown = 0;
		if (fail_alloc_hit(&fa)) {
			assert_null(r.w);
			r.w = cleat_wire_server(r.s, NULL);
		}
		assert_non_null(r.w);
		rig_open(&r, "2025-11-25");
		n = fail_alloc_hit(&fa) ? n : 0;
		rig_stop(&r);
		assert_int_equal(fa.live, 0);
		if (n == 0)
			break;
	}
}

/* ---- serving ---------------------------------------------------------------------------------- */

/* A conversation about request 9: what the client says, one line after the other. Lines that answer
 * our question are left out when it was not asked. */
struct script {
	const char *name, *revision;
	const char *lines[2];
	const char *want; /* with memory */
};

#define ROOTS "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"roots\":[]}}"

static const struct script scripts[] = {
	{ "initialize",
	  NULL,
	  { REQUEST("9", "initialize",
		    "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"roots\":{}},"
		    "\"clientInfo\":{\"name\":\"n\"}") },
	  "serverInfo" },
	{ "ping", "2025-11-25", { REQUEST("9", "ping", "") }, "\"result\":{}" },
	{ "unknown method", "2025-11-25", { REQUEST("9", "tools/lits", "") }, "-32601" },
	{ "no session", NULL, { REQUEST("9", "tools/list", "") }, "-32602" },
	{ "wrong version",
	  NULL,
	  { REQUEST("9", "tools/list",
		    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2027-01-01\"}") },
	  "-32022" },
	{ "discover", NULL, { REQUEST("9", "server/discover", MODERN) }, "supportedVersions" },
	{ "tools/list", "2025-11-25", { REQUEST("9", "tools/list", "") }, "inputSchema" },
	{ "modern tools/list", NULL, { REQUEST("9", "tools/list", MODERN) }, "inputSchema" },
	{ "prompts/list", "2025-06-18", { REQUEST("9", "prompts/list", "") }, "\"p\"" },
	{ "templates", "2025-06-18", { REQUEST("9", "resources/templates/list", "") }, "city" },
	{ "tools/call",
	  "2025-11-25",
	  { REQUEST("9", "tools/call", "\"name\":\"echo\",\"_meta\":{\"progressToken\":\"t\"}") },
	  "\"m\":2" },
	{ "2024 tools/call", "2024-11-05", { CALL("9", "echo", "{}") }, "text" },
	{ "modern tools/call",
	  NULL,
	  { REQUEST("9", "tools/call", MODERN ",\"name\":\"echo\",\"arguments\":{}") },
	  "resultType" },
	{ "record",
	  "2025-11-25",
	  { CALL("9", "record", "{\"city\":\"Rome\",\"extra\":[1,{}]}") },
	  "structuredContent" },
	{ "bad arguments",
	  "2025-11-25",
	  { CALL("9", "record", "{\"city\":1,\"days\":99}") },
	  "isError" },
	{ "bad arguments before 2025-11-25",
	  "2025-03-26",
	  { CALL("9", "record", "{\"days\":99}") },
	  "-32602" },
	{ "unknown tool", "2025-11-25", { CALL("9", "ecko", "{}") }, "did you mean echo?" },
	{ "reject", "2025-11-25", { CALL("9", "reject", "{}") }, "-1234" },
	{ "read", "2025-11-25", { REQUEST("9", "resources/read", "\"uri\":\"note:1\"") }, "fixed" },
	{ "read template",
	  NULL,
	  { REQUEST("9", "resources/read", MODERN ",\"uri\":\"city://Oslo\"") },
	  "\"text\":\"Oslo\"" },
	{ "not found",
	  "2025-11-25",
	  { REQUEST("9", "resources/read", "\"uri\":\"note:2\"") },
	  "-32002" },
	{ "prompt",
	  "2025-11-25",
	  { REQUEST("9", "prompts/get",
		    "\"name\":\"p\",\"arguments\":{\"city\":\"Rome\",\"days\":\"4\"}") },
	  "described" },
	{ "complete",
	  "2025-11-25",
	  { REQUEST(
		  "9", "completion/complete",
		  "\"ref\":{\"type\":\"ref/prompt\",\"name\":\"p\"},\"argument\":{\"name\":\"city\","
		  "\"value\":\"O\"}") },
	  "\"values\":[\"Oslo\",\"Odessa\"]" },
	{ "subscribe",
	  "2025-11-25",
	  { REQUEST("9", "resources/subscribe", "\"uri\":\"note:1\"") },
	  "\"result\":{}" },
	{ "listen refused", NULL, { REQUEST("9", "subscriptions/listen", MODERN) }, "-32602" },
	{ "set level",
	  "2025-11-25",
	  { REQUEST("9", "logging/setLevel", "\"level\":\"error\"") },
	  "\"result\":{}" },
	{ "modern ask",
	  NULL,
	  { REQUEST("9", "tools/call",
		    MODERN_CAPS("{\"roots\":{}}") ",\"name\":\"ask\",\"arguments\":{}") },
	  "input_required" },
	{ "ask", "2025-11-25", { CALL("9", "ask", "{}"), ROOTS }, "{\"n\":0}" },
	{ "ask before there were roots",
	  "2024-11-05",
	  { CALL("9", "ask", "{}"), ROOTS },
	  "\\\"n\\\":0" },
};

static void feed_line(struct rig *r, const char *line)
{
	size_t n = strlen(line);
	char *whole = malloc(n + 2);

	assert_non_null(whole);
	memcpy(whole, line, n);
	whole[n] = '\n';
	assert_int_equal(cleat_wire_feed(r->w, whole, n + 1), CLEAT_OK);
	free(whole);
}

/* 1 when an error without an id came, or where that was not possible a remark. */
static size_t losses(const struct rig *r)
{
	size_t errors = count_of(r->out, "{\"jsonrpc\":\"2.0\",\"error\"") +
			count_of(r->out, "\"id\":null,\"error\"");

	if (errors)
		return errors;
	return strstr(r->notes, "lost") || strstr(r->notes, "not read") ? 1 : 0;
}

/* Runs it with the n-th allocation from line `at` on failing; false when none failed. */
static bool run_script(const struct script *sc, size_t at, size_t n, bool forever)
{
	struct fail_alloc fa;
	struct rig r = { 0 };
	bool hit;

	destroyed = 0;
	fail_alloc_init(&fa, 0, false);
	start(&r, &fa);
	if (sc->revision)
		rig_open_caps(&r, sc->revision, "{\"roots\":{},\"sampling\":{}}");
	rig_take(&r);
	rig_clear(&r);
	for (size_t i = 0; i < 2 && sc->lines[i]; i++) {
		if (i == 1 && !strstr(rig_take(&r), "roots/list"))
			break;
		fa.forever = forever;
		fa.countdown = i == at ? n : 0;
		feed_line(&r, sc->lines[i]);
		cleat_wire_poll(r.w);
		fa.countdown = 0;
		fa.forever = false;
	}
	hit = fail_alloc_hit(&fa);
	cleat_wire_poll(r.w); /* memory is back */
	rig_take(&r);
	if (!hit)
		assert_has(r.out, sc->want);
	if (count_of(r.out, "\"id\":9,") + losses(&r) != 1 &&
	    !(at == 1 && cleat_wire_inflight(r.w) == 1 && losses(&r) == 1)) {
		print_error("%s, line %zu, allocation %zu%s: out: %s\nnotes: %s\n", sc->name, at, n,
			    forever ? " and all after it" : "", r.out ? r.out : "", r.notes);
		fail();
	}
	if (at == 0)
		assert_int_equal(cleat_wire_inflight(r.w), 0);
	assert_has(rig_ask(&r, REQUEST("\"next\"", "tools/list", MODERN)),
		   "\"resultType\":\"complete\"");
	rig_stop(&r);
	assert_int_equal(destroyed, ENTRIES);
	assert_int_equal(fa.live, 0);
	return hit;
}

static void run_all(bool forever)
{
	for (size_t i = 0; i < CLEAT_COUNT(scripts); i++)
		for (size_t at = 0; at < 2 && scripts[i].lines[at]; at++)
			for (size_t n = 1; run_script(&scripts[i], at, n, forever); n++)
				assert_true(n < 1000);
}

TEST(every_kind_of_request_survives_one_failure)
{
	run_all(false);
}

TEST(every_kind_of_request_survives_lasting_failure)
{
	run_all(true);
}

/* 2026-07-28 patterns/mrtr: the second round, which opens the sealed state. */
TEST(second_round_survives_failures)
{
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct rig r = { 0 };
		char line[4096];
		const char *p;

		fail_alloc_calm(&fa);
		start(&r, &fa);
		rig_ask(&r,
			REQUEST("1", "tools/call",
				MODERN_CAPS(
					"{\"roots\":{}}") ",\"name\":\"ask\",\"arguments\":{}"));
		p = strstr(r.out, "\"requestState\":\"");
		if (!p) { /* this machine has no libcrypto */
			assert_has(r.notes, "requestState could not be made");
			rig_stop(&r);
			skip();
		}
		p += strlen("\"requestState\":\"");
		snprintf(
			line, sizeof line,
			REQUEST("9", "tools/call",
				MODERN_CAPS(
					"{\"roots\":{}}") ",\"name\":\"ask\",\"arguments\":{},"
							  "\"inputResponses\":{\"r\":{\"roots\":[]}},\"requestState\":\"%.*s\""),
			(int)strcspn(p, "\""), p);
		rig_clear(&r);
		fail_alloc_arm(&fa);
		feed_line(&r, line);
		fail_alloc_calm(&fa);
		rig_poll(&r);
		assert_int_equal(count_of(r.out, "\"id\":9,") + losses(&r), 1);
		if (!fail_alloc_hit(&fa))
			assert_has(r.out, "\"structuredContent\":{\"n\":0}");
		rig_stop(&r);
	}
}

/* A deferred request: the failure happens while it is replied to and finished. */
TEST(finishing_survives_failures)
{
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct rig r = { 0 };

		fail_alloc_calm(&fa);
		start(&r, &fa);
		rig_open(&r, "2025-11-25");
		rig_ask(&r, REQUEST("9", "tools/call",
				    "\"name\":\"defer\",\"_meta\":{\"progressToken\":1}"));
		fail_alloc_arm(&fa);
		cleat_request_progress(held, 1, 1, "x");
		cleat_request_cancel_fd(held);
		cleat_reply_textf(held, "%0600d", 1);
		cleat_reply_link(held, "a:b", "n", NULL, NULL);
		cleat_request_finish(held, CLEAT_OK);
		cleat_wire_poll(r.w);
		fail_alloc_calm(&fa);
		rig_poll(&r);
		assert_int_equal(count_of(r.out, "\"id\":9,"), 1);
		assert_int_equal(cleat_wire_inflight(r.w), 0);
		rig_stop(&r);
	}
}

/* A batch (2025-03-26): all answered, or one error without an id, or a remark. */
TEST(batch_survives_failures)
{
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct rig r = { 0 };

		fail_alloc_calm(&fa);
		start(&r, &fa);
		rig_open(&r, "2025-03-26");
		rig_clear(&r);
		fail_alloc_arm(&fa);
		feed_line(&r, "[" REQUEST("1", "ping", "") "," CALL("2", "echo", "{}") "," NOTE(
				      "notifications/x", "") "," CALL("3", "defer", "{}") "]");
		fail_alloc_calm(&fa);
		if (cleat_wire_inflight(r.w))
			cleat_wire_poll(r.w);
		if (cleat_wire_inflight(r.w)) {
			cleat_reply_text(held, "x");
			cleat_request_finish(held, CLEAT_OK);
		}
		rig_poll(&r);
		if (!fail_alloc_hit(&fa) || losses(&r) == 0) {
			assert_int_equal(count_of(r.out, "\"id\":1,"), 1);
			assert_int_equal(count_of(r.out, "\"id\":2,"), 1);
			assert_int_equal(count_of(r.out, "\"id\":3,"), 1);
		}
		assert_int_equal(cleat_wire_inflight(r.w), 0);
		assert_has(rig_ask(&r, REQUEST("4", "ping", "")), "\"id\":4,\"result\":{}");
		rig_stop(&r);
	}
}

/* The batch's answers are ready, and memory is too short to send them: they are sent later. */
TEST(finished_batch_is_not_lost)
{
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct rig r = { 0 };

		fail_alloc_calm(&fa);
		start(&r, &fa);
		rig_open(&r, "2025-03-26");
		rig_ask(&r, "[" CALL("3", "defer", "{}") "," REQUEST("4", "ping", "") "]");
		cleat_reply_textf(held, "%070000d", 1);
		cleat_request_finish(held, CLEAT_OK);
		fail_alloc_arm(&fa); /* first batch.out, then the outbox cannot grow */
		cleat_wire_poll(r.w);
		fail_alloc_calm(&fa);
		rig_poll(&r);
		assert_int_equal(count_of(r.out, "\"id\":3,"), 1);
		assert_int_equal(count_of(r.out, "\"id\":4,"), 1);
		rig_stop(&r);
	}
}

/* While an answer waits for memory, poll() says when to come again; it neither spins nor forgets. */
MEMORY_TEST(unsent_answer_has_a_time_to_try_again)
{
	struct rig r = { 0 };
	int ms;

	start(&r, fa);
	rig_open(&r, "2025-11-25");
	rig_ask(&r, CALL("9", "defer", "{}"));
	cleat_reply_textf(held, "%070000d", 1);
	cleat_request_finish(held, CLEAT_OK);
	/* outbox: full to its capacity, so that even an error needs memory */
	for (int i = 0; i < 3000; i++)
		rig_say(&r, REQUEST("1", "ping", ""));
	fa->forever = true;
	do { /* fill what capacity is left */
		fa->countdown = 1;
		fa->failures = 0;
		rig_say(&r, REQUEST("2", "ping", ""));
	} while (fa->failures == 0);
	ms = cleat_wire_poll(r.w);
	assert_true(ms > 0);
	assert_true(cleat_wire_inflight(r.w) > 0);
	fa->countdown = 0;
	fa->forever = false;
	rig_poll(&r);
	assert_int_equal(count_of(r.out, "\"id\":9,"), 1);
	assert_int_equal(cleat_wire_inflight(r.w), 0);
	assert_int_equal(cleat_wire_poll(r.w), -1);
	rig_stop(&r);
}

/* The connection goes while answers wait for memory: nothing is sent, nothing is left. */
TEST(unsent_answers_go_with_their_connection)
{
	for (int way = 0; way < 2; way++) {
		struct fail_alloc fa;
		struct rig r = { 0 };

		fail_alloc_init(&fa, 0, false);
		start(&r, &fa);
		rig_open(&r, "2025-03-26");
		rig_ask(&r, "[" CALL("8", "defer", "{}") "," REQUEST("7", "ping", "") "]");
		cleat_reply_textf(held, "%070000d", 1);
		cleat_request_finish(held, CLEAT_OK);
		fa.forever = true;
		do { /* fill what capacity is left in the outbox */
			fa.countdown = 1;
			fa.failures = 0;
			rig_say(&r, REQUEST("2", "ping", ""));
		} while (fa.failures == 0);
		cleat_wire_poll(r.w);
		assert_true(cleat_wire_inflight(r.w) > 1);
		if (way == 0)
			cleat_wire_eof(r.w);
		fa.countdown = 0;
		fa.forever = false;
		rig_stop(&r);
		assert_int_equal(fa.live, 0);
	}
}
