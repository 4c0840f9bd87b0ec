/* test_endpoint_memory.c - every allocation of the endpoint, the server after it and the connections fails,
 * once and from then on: a client gets a complete answer, an error status, or the end of its connection,
 * never half of something and never nothing; the next client is served as if nothing had happened, and
 * nothing is left behind.
 */
#include "test.h"
#include "unit/endpoint/endpoint_rig.h"

enum { IDLE_STEPS = 40, MOST_STEPS = 4000 };

/* ---- a client that takes what it gets ----------------------------------------------------- */

/* The size of the first answer in the buffer; 0 while it is not complete. */
static size_t whole_answer(const struct client *c)
{
	const char *end = strstr(c->buf, "\r\n\r\n"), *length, *chunk, *line;
	size_t size;

	if (!end)
		return 0;
	end += 4;
	length = strstr(c->buf, "Content-Length: ");
	if (strncmp(c->buf, "HTTP/1.1 204", 12) == 0)
		return (size_t)(end - c->buf);
	if (length && length < end) {
		size = (size_t)(end - c->buf) + (size_t)atol(length + 16);
		return c->n >= size ? size : 0;
	}
	for (chunk = end; (line = strstr(chunk, "\r\n")) != NULL; chunk = line + 4 + size) {
		size = (size_t)strtoul(chunk, NULL, 16);
		if ((size_t)(line - c->buf) + size + 4 > c->n)
			return 0;
		if (size == 0)
			return (size_t)(line - c->buf) + 4;
	}
	return 0;
}

/* Steps the loop until `part` has come (NULL: a whole answer) or the connection has ended. When nothing
 * happens for a while memory comes back, for which answers may have waited. */
static void wait_for(struct bench *b, struct client *c, const char *part)
{
	size_t idle = 0, had = c->n;

	for (size_t i = 0; i < MOST_STEPS; i++) {
		look(c);
		c->buf[c->n] = '\0';
		if (c->eof || (part ? strstr(c->buf, part) != NULL : whole_answer(c) > 0))
			return;
		idle = c->n == had ? idle + 1 : 0;
		had = c->n;
		if (idle > IDLE_STEPS) {
			b->h.fa.countdown = 0;
			b->h.fa.forever = false;
		}
		cleat_loop_step(b->h.l, 1);
	}
	print_error("nothing came but: %.300s\n", c->buf);
	fail();
}

static int status_of(const struct client *c)
{
	return strncmp(c->buf, "HTTP/1.1 ", 9) == 0 ? atoi(c->buf + 9) : 0;
}

/* Sends and gives the status of the answer, which stays in the buffer; 0: the connection ended before
 * its end. */
static int talk_to(struct bench *b, struct client *c, const char *request)
{
	c->n = 0;
	c->buf[0] = '\0';
	put(c, request);
	wait_for(b, c, NULL);
	return whole_answer(c) ? status_of(c) : 0;
}

/* The value of a field in the answer. */
static bool field_of(const struct client *c, const char *name, char *to, size_t size)
{
	const char *at = strstr(c->buf, name);

	if (!at)
		return false;
	at += strlen(name) + 2;
	snprintf(to, size, "%.*s", (int)strcspn(at, "\r\n"), at);
	return true;
}

/* What a request may come to: its answer, or an error; 202 is for what wants no answer. */
static void check_answer(const struct client *c, int status, const char *id)
{
	char result[64], error[64];

	snprintf(result, sizeof result, "\"id\":%s,\"result\"", id);
	snprintf(error, sizeof error, "\"id\":%s,\"error\"", id);
	if (status == 0 || status >= 400)
		return;
	assert_int_equal(status, 200);
	if (!strstr(c->buf, result) && !strstr(c->buf, error)) {
		print_error("neither %s nor an error: %.600s\n", result, c->buf);
		fail();
	}
}

/* ---- scenarios ---------------------------------------------------------------------------- */

static void modern_calls(struct bench *b)
{
	struct client *c = join(b);
	int status;

	status = talk_to(b, c,
			 request_text("POST", "/mcp", modern_fields("tools/call", "echo", ""),
				      MODERN_CALL("1", "echo", "{\"text\":\"a\"}")));
	check_answer(c, status, "1");
	hang_up(c);
	c = join(b);
	status = talk_to(
		b, c,
		request_text("POST", "/mcp", modern_fields("tools/call", "steps", ""),
			     REQUEST("2", "tools/call",
				     LOGGING ",\"name\":\"steps\",\"arguments\":{\"n\":2}")));
	check_answer(c, status, "2");
	if (status == 200 && !c->eof) {
		status = talk_to(
			b, c,
			request_text("POST", "/mcp",
				     modern_fields("tools/call", "region",
						   "Mcp-Param-Region: =?base64?w7w=?=\r\n"
						   "Mcp-Param-Zone: 7.0\r\n"),
				     MODERN_CALL("3", "region",
						 "{\"region\":\"\xc3\xbc\",\"zone\":{\"n\":7}}")));
		check_answer(c, status, "3");
	}
	hang_up(c);
}

static void modern_errors(struct bench *b)
{
	static const char *const bodies[] = {
		"{", "[1]", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":5}",
		REQUEST("1", "tools/call", MODERN ",\"name\":\"none\"")
	};

	for (size_t i = 0; i < CLEAT_COUNT(bodies); i++) {
		struct client *c = join(b);
		int status =
			talk_to(b, c,
				request_text("POST", "/mcp",
					     modern_fields("tools/call", "none", ""), bodies[i]));

		assert_true(status == 0 || status == 200 || status >= 400);
		if (status == 200)
			check_answer(c, status, "1");
		hang_up(c);
	}
}

/* Fields of a session, or false. */
static bool begin_session(struct bench *b, const char *rev, char fields[256])
{
	struct client *c = join(b);
	char body[512], id[64];
	int status;

	snprintf(body, sizeof body, INITIALIZE("%s", "{\"elicitation\":{}}"), rev);
	status = talk_to(b, c, request_text("POST", "/mcp", "", body));
	check_answer(c, status, "\"init\"");
	if (status != 200 || !field_of(c, "Mcp-Session-Id", id, sizeof id)) {
		hang_up(c);
		return false;
	}
	snprintf(fields, 256, "Mcp-Session-Id: %s\r\n", id);
	status = c->eof ? 0
			: talk_to(b, c,
				  request_text("POST", "/mcp", fields,
					       NOTE("notifications/initialized", "")));
	assert_true(status == 0 || status == 202 || status >= 400);
	hang_up(c);
	return status == 202;
}

static void sessions_and_streams(struct bench *b)
{
	char fields[512], id[80];
	struct client *c;
	int status;

	if (!begin_session(b, "2025-11-25", fields))
		return;
	c = join(b);
	status =
		talk_to(b, c, request_text("POST", "/mcp", fields, CALL("1", "chat", "{\"n\":2}")));
	check_answer(c, status, "1");
	if (status == 200 && field_of(c, "id", id, sizeof id) && strchr(id, '.')) {
		char more[700];
		struct client *d = join(b);

		snprintf(more, sizeof more, "%sLast-Event-ID: %s\r\n", fields, id);
		status = talk_to(b, d, request_text("GET", "/mcp", more, NULL));
		assert_true(status == 0 || status == 200 || status == 204 || status >= 400);
		if (status == 200)
			check_answer(d, status, "1");
		hang_up(d);
	}
	hang_up(c);
}

/* As sessions_and_streams(), but a question is waited for, and answered. */
static void questions(struct bench *b)
{
	char fields[256], answer[256];
	struct client *c;
	const char *at;

	if (!begin_session(b, "2025-06-18", fields))
		return;
	c = join(b);
	c->buf[0] = '\0';
	put(c, request_text("POST", "/mcp", fields, CALL("1", "ask", "{}")));
	wait_for(b, c, "\r\n\r\n");
	if (status_of(c) == 200 && strstr(c->buf, "text/event-stream"))
		wait_for(b, c, "\n\n\r\n"); /* the end of an event, and of its chunk */
	at = strstr(c->buf, "elicitation/create");
	if (at) {
		struct client *d = join(b);
		int status;

		at = strstr(c->buf, "\"id\":");
		snprintf(answer, sizeof answer,
			 "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"action\":\"accept\","
			 "\"content\":{}}}",
			 strtol(at + 5, NULL, 10));
		status = talk_to(b, d, request_text("POST", "/mcp", fields, answer));
		assert_true(status == 0 || status == 202 || status >= 400);
		if (status == 202) { /* it was read: so the call goes on to its end */
			wait_for(b, c, NULL);
			if (whole_answer(c))
				check_answer(c, status_of(c), "1");
		}
		hang_up(d);
	} else if (whole_answer(c)) {
		check_answer(c, status_of(c), "1");
	}
	hang_up(c);
}

/* Ids that are repeated in answers, so that no buffer is large enough already: also the error that says
 * so may have to wait. */
static void large_ids(struct bench *b)
{
	static const char *const formats[][2] = {
		{ "{\"jsonrpc\":\"2.0\",\"id\":\"", "\",\"method\":5}" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":\"", "\",\"method\":\"ping\"}" },
		{ "[{\"jsonrpc\":\"2.0\",\"id\":\"", "\",\"method\":5}]" },
		{ "[{\"jsonrpc\":\"2.0\",\"id\":\"", "\",\"method\":\"ping\"}]" },
		{ "[{\"jsonrpc\":\"2.0\",\"id\":\"", "\",\"method\":\"initialize\"}]" },
	};
	static char body[70200];
	char fields[256];

	if (!begin_session(b, "2025-03-26", fields))
		return;
	for (size_t i = 0; i < 2 * CLEAT_COUNT(formats); i++) {
		const char *const *f = formats[i / 2];
		struct client *c = join(b);
		int status;

		snprintf(body, sizeof body, "%s%070000d%s", f[0], 0, f[1]);
		status = talk_to(b, c,
				 request_text("POST", "/mcp",
					      i % 2 ? modern_fields("ping", NULL, "") : fields,
					      body));
		assert_true(status == 0 || status == 200 || status >= 400);
		hang_up(c);
	}
}

/* What a listener is not told it learns: by an answer, or by the end of the connection. */
static void listening(struct bench *b)
{
	struct client *c = join(b);
	size_t told;

	c->buf[0] = '\0';
	put(c, request_text("POST", "/mcp", modern_fields("subscriptions/listen", NULL, ""),
			    LISTEN("1", "\"toolsListChanged\":true,\"resourceSubscriptions\":["
					"\"test://one\"]")));
	wait_for(b, c, "\r\n\r\n");
	if (status_of(c) != 200 || !strstr(c->buf, "text/event-stream")) {
		if (!c->eof)
			wait_for(b, c, NULL);
		hang_up(c);
		return;
	}
	wait_for(b, c, "\n\n\r\n");
	if (strstr(c->buf, "subscriptions/acknowledged")) {
		for (int i = 0; i < 3; i++) {
			cleat_server_resource_changed(b->s, "test://one");
			cleat_loop_step(b->h.l, 0);
		}
		for (int i = 0; i < IDLE_STEPS; i++)
			cleat_loop_step(b->h.l, 1);
		look(c);
		c->buf[c->n] = '\0';
		told = count_of(c->buf, "resources/updated");
		if (told < 3 && !c->eof)
			wait_for(b, c, "\"id\":1,\"");
		if (told < 3 && !c->eof)
			assert_has(c->buf, "\"id\":1,\"error\"");
	}
	hang_up(c);
}

static void standing(struct bench *b)
{
	char fields[256];
	struct client *c;

	if (!begin_session(b, "2025-11-25", fields))
		return;
	c = join(b);
	c->buf[0] = '\0';
	cleat_server_log(b->s, CLEAT_LOG_ERROR, "x", "before");
	put(c, request_text("GET", "/mcp", fields, NULL));
	wait_for(b, c, "\r\n\r\n");
	cleat_server_log(b->s, CLEAT_LOG_ERROR, "x", "after");
	cleat_server_remove_tool(b->s, "who");
	for (int i = 0; i < 3; i++)
		cleat_loop_step(b->h.l, 0);
	hang_up(c);
	c = join(b);
	talk_to(b, c, request_text("DELETE", "/mcp", fields, NULL));
	hang_up(c);
}

static void batches(struct bench *b)
{
	static const char *const bodies[] = {
		"[" CALL("1", "echo", "{\"text\":\"a\"}") "," PING("2") "," NOTE("x", "") "]",
		"[5,{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}]",
		"[" NOTE("x", "") "]",
		"[]",
	};
	char fields[256];

	if (!begin_session(b, "2025-03-26", fields))
		return;
	for (size_t i = 0; i < CLEAT_COUNT(bodies); i++) {
		struct client *c = join(b);
		int status = talk_to(b, c, request_text("POST", "/mcp", fields, bodies[i]));

		assert_true(status == 0 || status >= 400 || status == (i == 2 ? 202 : 200));
		hang_up(c);
	}
}

static void old_links(struct bench *b)
{
	struct client *c = join(b), *d;
	const char *at;
	char target[128];
	int status = 0;

	c->buf[0] = '\0';
	put(c, request_text("GET", "/sse", "", NULL));
	wait_for(b, c, "\r\n\r\n");
	if (status_of(c) == 200)
		wait_for(b, c, "\n\n\r\n");
	at = strstr(c->buf, "/messages?");
	if (at && !c->eof) {
		static const char *const bodies[] = { INITIALIZE("2024-11-05", "{}"),
						      CALL("1", "echo", "{\"text\":\"a\"}"),
						      PING("2") };

		snprintf(target, sizeof target, "%.*s", (int)strcspn(at, "\n"), at);
		for (size_t i = 0; i < CLEAT_COUNT(bodies) && !c->eof; i++) {
			c->n = 0;
			d = join(b);
			status = talk_to(b, d, request_text("POST", target, "", bodies[i]));
			assert_true(status == 0 || status == 202 || status >= 400);
			hang_up(d);
			/* where it was taken, it is answered, perhaps without its id */
			if (status == 202)
				wait_for(b, c, "\"jsonrpc\"");
		}
	}
	hang_up(c);
}

/* The end of a server whose memory is at an end. */
static void stopping(struct bench *b)
{
	char fields[256];
	struct client *c, *d = NULL;

	c = join(b);
	modern_listen(c, LISTEN("1", "\"toolsListChanged\":true"));
	wait_for(b, c, "\r\n\r\n");
	if (begin_session(b, "2025-11-25", fields)) {
		d = join(b);
		put(d, request_text("POST", "/mcp", fields, CALL("1", "park", "{}")));
		for (int i = 0; i < 5; i++)
			cleat_loop_step(b->h.l, 1);
	}
	bench_stop(b);
	server_abort(b->s);
	while (n_parked)
		unpark("late");
	turn(b);
	hang_up(c); /* a connection that was refused something waits for that */
	for (int i = 0; i < MOST_STEPS && !b->h.done; i++) {
		if (i == IDLE_STEPS)
			b->h.fa.countdown = 0, b->h.fa.forever = false;
		cleat_loop_step(b->h.l, 1);
	}
	assert_true(b->h.done);
	if (d)
		hang_up(d);
}

/* ---- each allocation ---------------------------------------------------------------------- */

typedef void scenario_fn(struct bench *b);

static void check_as_new(struct bench *b)
{
	struct client *c = join(b);
	struct talk t;

	modern_call(c, "echo", MODERN_CALL("1", "echo", "{\"text\":\"after\"}"));
	assert_has(expect_answer(c, 200), "echo after");
	hang_up(c);
	talk_open(b, &t, "2025-11-25");
	assert_int_equal(talk_status(&t, "POST", CALL("1", "chat", "{\"n\":1}")), 200);
	assert_int_equal(talk_status(&t, "DELETE", NULL), 204);
}

static void fail_each(scenario_fn *scenario, bool stops)
{
	for (int forever = 0; forever < 2; forever++) {
		for (size_t n = 1;; n++) {
			struct bench b;
			bool hit;

			bench_open(&b);
			turn(&b);
			b.h.fa.countdown = n;
			b.h.fa.forever = forever;
			scenario(&b);
			hit = fail_alloc_hit(&b.h.fa);
			b.h.fa.countdown = 0;
			b.h.fa.forever = false;
			turn(&b);
			if (!stops)
				check_as_new(&b);
			bench_close(&b);
			if (!hit)
				break;
		}
	}
}

#define SCENARIO(name, stops)                                                                      \
	TEST(name##_without_memory)                                                                \
	{                                                                                          \
		fail_each(name, stops);                                                            \
	}

SCENARIO(modern_calls, false)
SCENARIO(modern_errors, false)
SCENARIO(sessions_and_streams, false)
SCENARIO(questions, false)
SCENARIO(listening, false)
SCENARIO(standing, false)
SCENARIO(batches, false)
SCENARIO(large_ids, false)
SCENARIO(old_links, false)
SCENARIO(stopping, true)

/* Listening fails as a whole, and can be tried again. */
TEST(listen_http_without_memory)
{
	static const char *const names[] = { "one.example", NULL };

	for (size_t n = 1;; n++) {
		struct bench b;
		cleat_http_options o = { .allow_hosts = names, .allow_origins = names };
		int rc;
		bool hit;

		bench_base(&b, &(struct bench_options){ 0 });
		b.h.fa.countdown = n;
		rc = cleat_server_listen_http(b.s, "127.0.0.1:0", &o);
		hit = fail_alloc_hit(&b.h.fa);
		assert_true(rc == CLEAT_OK || (hit && rc == CLEAT_ENOMEM));
		assert_int_equal(!cleat_server_http_url(b.s, 0), rc != CLEAT_OK);
		if (rc)
			assert_int_equal(cleat_server_listen_http(b.s, "127.0.0.1:0", &o),
					 CLEAT_OK);
		cleat_server_free(b.s);
		cleat_loop_free(b.h.l);
		assert_int_equal(b.h.fa.live, 0);
		assert_int_equal(open_fds(), b.h.fds);
		alarm(0);
		if (!hit)
			break;
	}
}
