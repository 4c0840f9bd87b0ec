/* endpoint_rig.c - see endpoint_rig.h. */
#include "endpoint_rig.h"

#include "http/field.h"

cleat_request *parked[64];
size_t n_parked, n_cancelled;
static size_t n_poked;

static int tool_echo(cleat_request *req)
{
	return cleat_reply_textf(req, "echo %s", cleat_arg_str(req, "text"));
}

static int tool_big(cleat_request *req)
{
	size_t n = (size_t)cleat_arg_int(req, "n");
	char *z = cleat_request_alloc(req, n + 1);

	if (z)
		memset(z, 'z', n);
	return cleat_reply_text(req, z);
}

/* `n` log messages of `size` bytes, then the answer. */
static int tool_chat(cleat_request *req)
{
	int64_t n = cleat_arg_int(req, "n"), size = cleat_arg_int(req, "size");

	for (int64_t i = 1; i <= n; i++)
		cleat_request_log(req, CLEAT_LOG_ERROR, "<%lld>%*s", (long long)i, (int)size, "");
	return cleat_reply_text(req, "said");
}

static int tool_steps(cleat_request *req)
{
	int64_t n = cleat_arg_int(req, "n");

	for (int64_t i = 1; i <= n; i++)
		cleat_request_progress(req, (double)i, (double)n, "step %d", (int)i);
	return cleat_reply_text(req, "walked");
}

static void on_parked_cancel(cleat_request *req)
{
	(void)req;
	n_cancelled++;
}

static int tool_park(cleat_request *req)
{
	assert_true(n_parked < CLEAT_COUNT(parked));
	parked[n_parked++] = req;
	cleat_request_on_cancel(req, on_parked_cancel);
	cleat_request_defer(req);
	return CLEAT_PENDING;
}

void unpark(const char *text)
{
	cleat_request *req = parked[0];

	assert_true(n_parked > 0);
	memmove(parked, parked + 1, --n_parked * sizeof *parked);
	cleat_request_finish(req, cleat_reply_text(req, text));
}

static int tool_ask(cleat_request *req)
{
	int rc = cleat_ask_confirm(req, "sure", "Really?");

	return rc ? rc : cleat_reply_text(req, "confirmed");
}

int tool_who(cleat_request *req)
{
	const char *name = cleat_request_principal(req);

	return cleat_reply_textf(req, "you are %s", name ? name : "anybody");
}

static int tool_region(cleat_request *req)
{
	return cleat_reply_text(req, "there");
}

static int method_poke(cleat_request *req)
{
	(void)req;
	n_poked++;
	return CLEAT_OK;
}

static int method_poked(cleat_request *req)
{
	return cleat_reply_jsonf(req, "{poked: %zu}", n_poked);
}

static void add_tools(cleat_server *s)
{
	static const cleat_tool tools[] = {
		{ .signature = "echo(text: string)", .call = tool_echo },
		{ .signature = "big(n: integer)", .call = tool_big },
		{ .signature = "chat(n: integer, size: integer = 0)", .call = tool_chat },
		{ .signature = "steps(n: integer)", .call = tool_steps },
		{ .name = "park", .call = tool_park },
		{ .name = "ask", .call = tool_ask },
		{ .name = "who", .call = tool_who },
		{ .name = "region",
		  .call = tool_region,
		  .input_schema = "{\"type\":\"object\",\"properties\":{\"region\":{\"type\":"
				  "\"string\",\"x-mcp-header\":\"Region\"},\"zone\":{\"type\":"
				  "\"object\",\"properties\":{\"n\":{\"type\":\"integer\","
				  "\"x-mcp-header\":\"Zone\"}}},\"dry\":{\"type\":\"boolean\","
				  "\"x-mcp-header\":\"Dry-Run\"}}}" },
	};
	static const cleat_resource resources[] = {
		{ .uri = "test://one", .text = "1" },
		{ .uri = "test://two", .text = "2" },
	};

	static const cleat_method methods[] = {
		{ .name = "com.example/poke", .call = method_poke, .notification = true },
		{ .name = "com.example/poked", .call = method_poked },
	};

	cleat_server_add_tools(s, tools, CLEAT_COUNT(tools));
	cleat_server_add_methods(s, methods, CLEAT_COUNT(methods));
	cleat_server_add_resources(s, resources, CLEAT_COUNT(resources));
}

static uint64_t bench_clock(void *ctx)
{
	return ((struct bench *)ctx)->now_ms;
}

static void bench_note(void *ctx, int level, const char *text)
{
	struct bench *b = ctx;
	size_t n = strlen(b->notes);

	(void)level;
	snprintf(b->notes + n, sizeof b->notes - n, "%s\n", text);
}

static struct peer *bench_accept(void *ctx, const struct peer_sink *sink,
				 const struct peer_facts *facts)
{
	struct bench *b = ctx;

	if (b->refuse) {
		b->refuse--;
		return NULL;
	}
	return server_accept(b->s, sink, facts);
}

static bool bench_knows(void *ctx, struct str name, const unsigned char *credential)
{
	char token[128];

	snprintf(token, sizeof token, "%.*s/%.16s", (int)name.n, name.p,
		 credential ? (const char *)credential : "");
	return !str_eqz(name, ((struct bench *)ctx)->banned) &&
	       strcmp(token, ((struct bench *)ctx)->banned) != 0;
}

static int bench_authorize(void *ctx, const struct http_request *r, struct endpoint_caller *ret)
{
	struct str token = http_bearer(http_request_field(r, "authorization"));
	struct bench *b = ctx;
	char *slash;

	b->asked++;
	snprintf(b->lent, sizeof b->lent, "%.*s", (int)token.n, token.p ? token.p : "");
	slash = strchr(b->lent, '/');
	if (slash) {
		*slash = '\0';
		snprintf((char *)ret->credential, sizeof ret->credential, "%s", slash + 1);
	}
	ret->name = str_of(b->lent);
	return token.p && bench_knows(b, ret->name, ret->credential) ? CLEAT_OK : CLEAT_ENOENT;
}

static void bench_http(struct bench *b, const struct bench_options *o)
{
	struct httpd_options http = o->http;

	http.loop = b->h.l;
	http.mem = &b->h.fa.hook;
	http.service = endpoint_service(b->m);
	http.note = bench_note;
	http.note_ctx = b;
	assert_int_equal(httpd_new(&http, &b->h.h), CLEAT_OK);
	rig_hear(&b->h, ":0");
	assert_int_equal(httpd_add(b->h.h, &b->h.ear, NULL), CLEAT_OK);
}

static void bench_opened(cleat_connection *c, void *userdata)
{
	struct bench *b = userdata;
	const char *name = cleat_connection_principal(c);

	b->opened++;
	assert_int_equal(cleat_connection_transport(c), CLEAT_TRANSPORT_HTTP);
	assert_string_equal(cleat_connection_address(c), "127.0.0.1");
	assert_string_equal(name ? name : "", b->lent);
}

static void bench_closed(cleat_connection *c, void *userdata)
{
	(void)c;
	((struct bench *)userdata)->closed++;
}

void bench_base(struct bench *b, const struct bench_options *o)
{
	cleat_server_options server = o->server;

	memset(b, 0, sizeof *b);
	n_parked = n_cancelled = n_poked = 0;
	b->now_ms = 1000000;
	rig_ground(&b->h);
	alarm(120); /* these take longer */
	server.allocator = &b->h.fa.hook;
	server.loop = b->h.l;
	server.log = bench_note;
	server.userdata = b;
	server.on_open = bench_opened;
	server.on_close = bench_closed;
	b->s = cleat_server_new("bench", "1", &server);
	add_tools(b->s);
	assert_ptr_equal(cleat_server_loop(b->s), b->h.l);
}

void bench_open_with(struct bench *b, const struct bench_options *o)
{
	static const char *const pages[] = { "https://app.example", NULL };
	struct endpoint_options mcp = o->mcp;

	bench_base(b, o);
	b->store = store_memory_new(&b->h.fa.hook, &o->store, bench_clock, b);
	assert_non_null(b->store);
	mcp.loop = b->h.l;
	mcp.mem = &b->h.fa.hook;
	mcp.accept = bench_accept;
	mcp.authorize = o->tokens ? bench_authorize : NULL;
	mcp.knows = bench_knows;
	mcp.note = bench_note;
	mcp.ctx = b;
	mcp.policy.loopback = true;
	mcp.policy.origins = o->pages ? pages : NULL;
	mcp.store = b->store;
	mcp.now = bench_clock;
	assert_int_equal(endpoint_new(&mcp, &b->m, NULL), CLEAT_OK);
	bench_http(b, o);
}

void bench_open(struct bench *b)
{
	bench_open_with(b, &(struct bench_options){ 0 });
}

void bench_stop(struct bench *b)
{
	server_shutdown(b->s);
	endpoint_shutdown(b->m);
	httpd_drain(b->h.h, on_done, &b->h);
}

void bench_close(struct bench *b)
{
	while (n_parked)
		unpark("late");
	httpd_free(b->h.h);
	endpoint_free(b->m);
	cleat_server_free(b->s);
	assert_int_equal(b->closed, b->opened);
	b->store->ops->free(b->store);
	rig_ground_done(&b->h);
}

struct client *join(struct bench *b)
{
	return dial(&b->h);
}

void turn(struct bench *b)
{
	rig_turn(&b->h);
}

void pass(struct bench *b, uint64_t ms)
{
	b->now_ms += ms;
	endpoint_tick(b->m);
	turn(b);
}

struct endpoint_stats stats_of(const struct bench *b)
{
	struct endpoint_stats s;

	endpoint_stats(b->m, &s);
	return s;
}

const char *request_text(const char *method, const char *target, const char *fields,
			 const char *body)
{
	static char text[1 << 17];
	int n = snprintf(
		text, sizeof text, "%s %s HTTP/1.1\r\n%s%s%s%s", method, target,
		strstr(fields, "Host:") ? "" : "Host: localhost\r\n",
		strstr(fields, "Accept:") ? "" : "Accept: application/json, text/event-stream\r\n",
		body && !strstr(fields, "Content-Type:") ? "Content-Type: application/json\r\n"
							 : "",
		fields);

	if (body)
		n += snprintf(text + n, sizeof text - (size_t)n, "Content-Length: %zu\r\n",
			      strlen(body));
	n += snprintf(text + n, sizeof text - (size_t)n, "\r\n%s", body ? body : "");
	assert_true((size_t)n < sizeof text);
	return text;
}

void send_request(struct client *c, const char *method, const char *target, const char *fields,
		  const char *body)
{
	put(c, request_text(method, target, fields, body));
}

const char *modern_fields(const char *method, const char *name, const char *more)
{
	static char fields[2048];

	snprintf(fields, sizeof fields, MODERN_VERSION "Mcp-Method: %s\r\n%s%s%s%s", method,
		 name ? "Mcp-Name: " : "", name ? name : "", name ? "\r\n" : "", more);
	return fields;
}

void modern_call(struct client *c, const char *tool, const char *body)
{
	send_request(c, "POST", "/mcp", modern_fields("tools/call", tool, ""), body);
}

void modern_listen(struct client *c, const char *body)
{
	send_request(c, "POST", "/mcp", modern_fields("subscriptions/listen", NULL, ""), body);
}

const struct answer *answer_of(struct client *c)
{
	return read_answer(c, &last_answer, false) ? &last_answer : NULL;
}

const char *expect_answer_(struct client *c, int status, const char *file, int line)
{
	const struct answer *a = answer_of(c);

	if (!a || a->status != status) {
		print_error("wanted %d, got %d: %.500s\n", status, a ? a->status : 0,
			    a ? a->body : "the connection ended");
		_fail(file, line);
	}
	return a ? a->body : "";
}

static void stream_take_chunk(struct stream *st)
{
	struct client *c = st->c;
	char *end = strstr(c->buf, "\r\n");
	size_t size, line;

	if (!end)
		return;
	size = (size_t)strtoul(c->buf, NULL, 16);
	line = (size_t)(end - c->buf) + 2;
	if (c->n < line + size + 2)
		return;
	assert_memory_equal(c->buf + line + size, "\r\n", 2);
	if (st->n + size + 1 > st->cap) {
		st->cap = (st->n + size + 1) * 2;
		st->text = realloc(st->text, st->cap);
		assert_non_null(st->text);
	}
	memcpy(st->text + st->n, c->buf + line, size);
	st->n += size;
	st->text[st->n] = '\0';
	st->ended = size == 0;
	take_front(c, line + size + 2);
}

/* Takes all whole chunks that have come. */
static void stream_take(struct stream *st)
{
	struct client *c = st->c;
	size_t before;

	look(c);
	c->buf[c->n] = '\0';
	do {
		before = c->n;
		if (!st->ended && c->n)
			stream_take_chunk(st);
	} while (c->n != before && !st->ended);
}

bool stream_begin(struct client *c, struct stream *st)
{
	char *end;

	memset(st, 0, sizeof *st);
	st->c = c;
	c->buf[c->n] = '\0';
	while (!strstr(c->buf, "\r\n\r\n") && !c->eof)
		wait_more(c);
	end = strstr(c->buf, "\r\n\r\n");
	if (!end || !strstr(c->buf, "Content-Type: text/event-stream") ||
	    strncmp(c->buf, "HTTP/1.1 200 ", 13) != 0)
		return false;
	assert_true((size_t)(end - c->buf) + 4 < sizeof st->head);
	memcpy(st->head, c->buf, (size_t)(end - c->buf) + 4);
	take_front(c, (size_t)(end - c->buf) + 4);
	return true;
}

void stream_expect(struct client *c, struct stream *st)
{
	if (!stream_begin(c, st)) {
		print_error("no stream: %.500s\n", c->buf);
		fail();
	}
}

void stream_done(struct stream *st)
{
	free(st->text);
	memset(st, 0, sizeof *st);
}

static void event_read(struct event *e, char *block)
{
	*e = (struct event){ .retry = -1, .block = block };
	for (char *line = strtok(block, "\n"); line; line = strtok(NULL, "\n")) {
		if (strncmp(line, "id: ", 4) == 0)
			snprintf(e->id, sizeof e->id, "%s", line + 4);
		else if (strncmp(line, "data:", 5) == 0)
			e->data = line + 5 + (line[5] == ' ');
		else if (strncmp(line, "retry: ", 7) == 0)
			e->retry = atol(line + 7);
		else if (strncmp(line, "event: ", 7) == 0)
			snprintf(e->name, sizeof e->name, "%s", line + 7);
	}
}

bool stream_poll(struct stream *st, struct event *e)
{
	char *end, *block;

	stream_take(st);
	while ((end = st->n ? strstr(st->text, "\n\n") : NULL) != NULL) {
		size_t n = (size_t)(end - st->text) + 2;

		block = malloc(n + 1);
		assert_non_null(block);
		memcpy(block, st->text, n);
		block[n] = '\0';
		memmove(st->text, st->text + n, st->n - n + 1);
		st->n -= n;
		if (block[0] != ':') {
			event_read(e, block);
			return true;
		}
		st->comments++;
		free(block);
	}
	return false;
}

void event_done(struct event *e)
{
	free(e->block);
	e->block = NULL;
}

bool stream_next(struct stream *st, struct event *e)
{
	while (!stream_poll(st, e)) {
		if (st->ended || st->c->eof)
			return false;
		wait_more(st->c);
	}
	return true;
}

const char *expect_event_(struct stream *st, const char *part, const char *file, int line)
{
	static char id[80];
	struct event e;

	if (!stream_next(st, &e)) {
		print_error("wanted %s, but the stream ended\n", part);
		_fail(file, line);
		return "";
	}
	if (!e.data || !strstr(e.data, part)) {
		print_error("wanted %s, got: %.500s\n", part, e.data ? e.data : "(no data)");
		_fail(file, line);
	}
	snprintf(id, sizeof id, "%s", e.id);
	event_done(&e);
	return id;
}

void listen_on(struct client *c, struct stream *st, const char *body)
{
	modern_listen(c, body);
	stream_expect(c, st);
	expect_event(st, "notifications/subscriptions/acknowledged");
}

void expect_stream_end_(struct stream *st, const char *file, int line)
{
	struct event e;

	if (stream_next(st, &e)) {
		print_error("wanted the end, got: %.500s\n", e.data ? e.data : "(no data)");
		_fail(file, line);
	}
	if (!st->ended) {
		print_error("the connection ended before the stream\n");
		_fail(file, line);
	}
	stream_done(st);
}

void expect_silence(struct bench *b, struct stream *st)
{
	struct event e;

	turn(b);
	if (stream_poll(st, &e)) {
		print_error("wanted silence, got: %.500s\n", e.data ? e.data : "(no data)");
		fail();
	}
	assert_false(st->ended);
	assert_false(st->c->eof);
}

void talk_open_with(struct bench *b, struct talk *t, const char *rev, const char *caps,
		    const char *more)
{
	struct client *c = join(b);
	char body[1024];
	const struct answer *a;
	int n;

	memset(t, 0, sizeof *t);
	t->b = b;
	snprintf(t->rev, sizeof t->rev, "%s", rev);
	snprintf(body, sizeof body, INITIALIZE("%s", "%s"), rev, caps);
	send_request(c, "POST", "/mcp", more, body);
	a = answer_of(c);
	assert_non_null(a);
	assert_int_equal(a->status, 200);
	assert_has(a->body, rev);
	assert_non_null(header(a, "Mcp-Session-Id"));
	snprintf(t->id, sizeof t->id, "%.40s", header(a, "Mcp-Session-Id"));
	n = snprintf(t->fields, sizeof t->fields, "Mcp-Session-Id: %s\r\n%s%s%s%s", t->id,
		     strcmp(rev, "2025-03-26") ? "MCP-Protocol-Version: " : "",
		     strcmp(rev, "2025-03-26") ? rev : "", strcmp(rev, "2025-03-26") ? "\r\n" : "",
		     more);
	assert_in_range(n, 1, sizeof t->fields - 1);
	send_request(c, "POST", "/mcp", t->fields, NOTE("notifications/initialized", ""));
	expect_answer(c, 202);
	hang_up(c);
}

void talk_open(struct bench *b, struct talk *t, const char *rev)
{
	talk_open_with(b, t, rev, "{\"elicitation\":{}}", "");
}

void talk_post(struct talk *t, struct client *c, const char *body)
{
	send_request(c, "POST", "/mcp", t->fields, body);
}

struct client *park_call(struct talk *t)
{
	struct client *c = join(t->b);

	talk_post(t, c, CALL("1", "park", "{}"));
	WAIT_FOR(&t->b->h, n_parked == 1);
	return c;
}

void talk_get(struct talk *t, struct client *c, const char *last)
{
	char fields[512];
	int n = snprintf(fields, sizeof fields, "%s%s%s%sAccept: text/event-stream\r\n", t->fields,
			 last ? "Last-Event-ID: " : "", last ? last : "", last ? "\r\n" : "");

	assert_in_range(n, 1, sizeof fields - 1);
	send_request(c, "GET", "/mcp", fields, NULL);
}

int talk_status(struct talk *t, const char *method, const char *body)
{
	struct client *c = join(t->b);
	const struct answer *a;
	int status;

	send_request(c, method, "/mcp", t->fields, body);
	a = answer_of(c);
	status = a ? a->status : 0;
	hang_up(c);
	return status;
}
