/* fuzz/fuzz_mcp_http.c - hostile bytes to a whole HTTP server: connections, endpoint, sessions,
 * store, and the fixture of tests/wire behind them. Nothing listens: connections are socket pairs.
 *
 * Input: a byte of flags ('@': none), a byte that says which allocation fails (up to the blank: none; its
 * high bit: and all that follow), then what clients send, in sections:
 *
 *	%%0	the following is sent on connection 0 (up to 3), which is opened if need be
 *	%%x0	connection 0 is closed; %%h0: it only sends no more
 *	%%t	time passes; %%f: parked calls finish; %%n: the server notifies; %%q: it stops
 *	%%vann	whatever is ann's is revoked
 *
 * In what is sent "\n" ends a line of the header as "\r\n" does, and $S is the last session id that the
 * server gave, $E the last event id, $M the last address for messages, $C the length of the body, so that
 * inputs can have what cannot be known when they are written. With the flag RAW bytes are bytes.
 *
 * Invariants: what comes out are answers with a status line, a clean header and a body of the announced
 * length, no more than there were requests; what they carry is JSON-RPC, and a request of the endpoint
 * has one answer. Afterwards a new client is served.
 */
#include "mcp_http.h"
#include "messages.h"

#include "endpoint/endpoint.h"
#include "http/field.h"
#include "http/parser.h"
#include "httpd/conn.h"
#include "run/runner.h"
#include "store/store.h"
#include "json/parse.h"

#include "../tests/wire/fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Bits of the first byte. */
enum {
	BYTES = 1,   /* sent byte by byte */
	TIGHT = 2,   /* small limits */
	SLOW = 4,    /* connections but the first are read only at the end */
	MODERN = 8,  /* nothing else */
	TOKENS = 16, /* Authorization: Bearer NAME is needed, except of the last client */
	RAW = 32,    /* bytes are bytes */
	LOOSE = 128  /* no sessions, lenient headers */
};

enum { CONNS = MCP_HTTP_CONNS, MAX_REQUESTS = 256, MAX_OUT = 32 << 20 };

struct request {
	bool head, post, is_1_0;
};

struct end {
	int fd; /* -1: none */
	bool closed;
	struct http_parser *parser; /* reads along, to know what was asked */
	bool failed;
	struct request requests[MAX_REQUESTS];
	size_t n_requests;
	char *out;
	size_t n_out, cap;
};

struct bench {
	cleat_loop *loop;
	cleat_server *server;
	struct endpoint *mcp;
	struct store *store;
	struct httpd *http;
	struct fixture fixture;
	struct end ends[CONNS];
	uint64_t now_ms;
	unsigned flags;
	size_t allocations, live;
	size_t countdown; /* allocations until one fails; 0: never */
	bool for_good, failing, stopped;
	char session[64], event[96], messages[128];
};

/* ---- memory and time ---- */

static bool refuse(struct bench *b)
{
	b->allocations++;
	if (!b->countdown)
		return b->failing;
	b->countdown--;
	b->failing = b->countdown == 0 && b->for_good;
	return b->countdown == 0;
}

static void *hook_malloc(void *ctx, size_t n)
{
	struct bench *b = ctx;
	void *p = refuse(b) ? NULL : malloc(n);

	b->live += p != NULL;
	return p;
}

static void *hook_realloc(void *ctx, void *p, size_t old_size, size_t n)
{
	struct bench *b = ctx;
	void *q = refuse(b) ? NULL : realloc(p, n);

	(void)old_size;
	b->live += q && !p;
	return q;
}

static void hook_free(void *ctx, void *p)
{
	struct bench *b = ctx;

	b->live -= p != NULL;
	free(p);
}

static uint64_t now_ms(void *ctx)
{
	return ((struct bench *)ctx)->now_ms;
}

static uint64_t now_us(void *ctx)
{
	return ((struct bench *)ctx)->now_ms * 1000;
}

static void pass(struct bench *b)
{
	b->now_ms += 16000;
	endpoint_tick(b->mcp);
	httpd_tick(b->http);
}

/* ---- the server ---- */

static struct peer *on_accept(void *ctx, const struct peer_sink *sink,
			      const struct peer_facts *facts)
{
	return server_accept(((struct bench *)ctx)->server, sink, facts);
}

static int on_authorize(void *ctx, const struct http_request *r, struct endpoint_caller *ret)
{
	struct bench *b = ctx;

	ret->name = http_bearer(http_request_field(r, "authorization"));
	return ret->name.p || !(b->flags & TOKENS) ? CLEAT_OK : CLEAT_ENOENT;
}

static void open_bench(struct bench *b)
{
	cleat_allocator mem = { hook_malloc, hook_realloc, hook_free, b };
	bool tight = b->flags & TIGHT;
	cleat_server_options o = { .userdata = &b->fixture,
				   .allocator = &mem,
				   .max_reply = 1 << 20 };
	struct store_limits kept = { .max_sessions = tight ? 2 : 0,
				     .max_session_bytes = tight ? 2000 : 0 };
	struct endpoint_options endpoint = { .accept = on_accept,
					     .authorize = on_authorize,
					     .ctx = b,
					     .modern_only = b->flags & MODERN,
					     .no_sessions = b->flags & LOOSE,
					     .lenient_headers = b->flags & LOOSE,
					     .policy = { .loopback = true },
					     .max_body = tight ? 1000 : 0,
					     .max_reply = 1 << 20,
					     .now = now_ms };
	struct httpd_options http = { .max_stream_queue = tight ? 500 : 0 };

	if (tight) {
		o.max_inflight = o.max_queued = o.max_subscriptions = 2;
		o.request_timeout_ms = 10000;
		o.max_reply = 3000;
	}
	b->loop = o.loop = cleat_loop_new(NULL);
	b->server = cleat_server_new("fuzz", "1", &o);
	fixture_add_suite_tools(b->server);
	fixture_add_suite_asks(b->server);
	fixture_add_suite_resources(b->server);
	fixture_add_suite_prompts(b->server);
	fixture_add_calls(b->server);
	cleat_server_remove_tool(b->server, "block"); /* no threads here */
	require(cleat_server_loop(b->server) == b->loop);
	((struct runner *)server_runner(b->server))->now = now_ms;
	((struct runner *)server_runner(b->server))->now_ctx = b;
	b->store = store_memory_new(&mem, &kept, now_ms, b);
	require(b->store != NULL);
	endpoint.loop = http.loop = b->loop;
	endpoint.mem = http.mem = &mem;
	endpoint.store = b->store;
	require(endpoint_new(&endpoint, &b->mcp, NULL) == CLEAT_OK);
	http.service = endpoint_service(b->mcp);
	require(httpd_new(&http, &b->http) == CLEAT_OK);
	httpd_set_clock(b->http, now_us, b);
}

/* ---- clients ---- */

static bool open_end(struct bench *b, struct end *e)
{
	int fds[2], small = 4096;

	require(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
	if (b->flags & SLOW)
		setsockopt(fds[1], SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	fcntl(fds[1], F_SETFL, O_NONBLOCK);
	e->fd = fds[0];
	e->parser = http_parser_new(NULL, NULL);
	require(e->parser != NULL);
	return http_conn_open(b->http, fds[1], "fuzz", NULL) == CLEAT_OK;
}

/* The last value that comes after `key`. */
static void learn(struct end *e, const char *key, const char *stop, char *to, size_t size)
{
	const char *at = e->n_out ? strstr(e->out, key) : NULL;

	for (; at; at = strstr(at + 1, key))
		snprintf(to, size, "%.*s", (int)strcspn(at + strlen(key), stop), at + strlen(key));
}

static void look(struct bench *b, struct end *e)
{
	ssize_t n = 0;

	while (e->fd >= 0 && e->n_out < MAX_OUT) {
		if (e->n_out + 65537 > e->cap) {
			e->cap = e->cap * 2 + 65537;
			e->out = realloc(e->out, e->cap);
			require(e->out != NULL);
		}
		n = recv(e->fd, e->out + e->n_out, 65536, 0);
		if (n <= 0)
			break;
		e->n_out += (size_t)n;
		e->out[e->n_out] = '\0';
	}
	e->closed = e->closed || (e->fd >= 0 && (n == 0 || (n < 0 && errno != EAGAIN)));
	learn(e, "Mcp-Session-Id: ", "\r", b->session, sizeof b->session);
	learn(e, "\nid: ", "\n", b->event, sizeof b->event);
	learn(e, "data: /messages?", "\n", b->messages, sizeof b->messages);
}

static void turn(struct bench *b, bool all)
{
	for (int i = 0; i < 3; i++)
		cleat_loop_step(b->loop, 0);
	for (size_t i = 0; i < CONNS; i++)
		if (all || i == 0 || !(b->flags & SLOW))
			look(b, &b->ends[i]);
}

/* What was asked, by our own reader. */
static void read_along(struct end *e, const char *p, size_t n)
{
	size_t used;

	for (bool again = true; again && !e->failed && e->n_requests < MAX_REQUESTS;) {
		enum http_progress got = http_parser_feed(e->parser, p, n, &used);
		const struct http_request *r = http_parser_request(e->parser);

		p += used;
		n -= used;
		again = n > 0 || got == HTTP_HEAD_DONE;
		e->failed = got == HTTP_FAILED;
		if (got == HTTP_HEAD_DONE)
			e->requests[e->n_requests++] =
				(struct request){ .head = r->method == HTTP_METHOD_HEAD,
						  .post = r->method == HTTP_METHOD_POST &&
							  str_eqz(r->path, "/mcp"),
						  .is_1_0 = r->http_1_0 };
		if (got == HTTP_DONE)
			http_parser_next(e->parser);
	}
	if (e->n_requests == MAX_REQUESTS)
		e->failed = true;
}

static void send_bytes(struct bench *b, struct end *e, const char *p, size_t n)
{
	read_along(e, p, n);
	while (n > 0) {
		size_t k = b->flags & BYTES ? 1 : n;
		ssize_t done = send(e->fd, p, k, MSG_NOSIGNAL);

		if (done <= 0) {
			turn(b, false);
			done = send(e->fd, p, k, MSG_NOSIGNAL);
		}
		if (done <= 0)
			return; /* it does not read, or has closed */
		p += done;
		n -= (size_t)done;
		if (b->flags & BYTES)
			cleat_loop_step(b->loop, 0);
	}
}

/* ---- sections ---- */

static size_t head_length(const char *p, size_t n)
{
	for (size_t i = 0; i + 1 < n; i++)
		if (p[i] == '\n' &&
		    (p[i + 1] == '\n' || (p[i + 1] == '\r' && i + 2 < n && p[i + 2] == '\n')))
			return i + (p[i + 1] == '\n' ? 2 : 3);
	return n;
}

static void put(struct buf *to, struct bench *b, char what, size_t body)
{
	switch (what) {
	case 'S': buf_appendz(to, b->session); break;
	case 'E': buf_appendz(to, b->event); break;
	case 'M': buf_appendz(to, b->messages); break;
	case 'C': buf_printf(to, "%zu", body); break;
	default:
		buf_putc(to, '$');
		buf_putc(to, what);
		break;
	}
}

static void say(struct bench *b, struct end *e, const char *p, size_t n)
{
	size_t head = b->flags & RAW ? 0 : head_length(p, n);
	struct buf text;

	buf_init(&text, NULL, SIZE_MAX / 2);
	for (size_t i = 0; i < head; i++) {
		if (p[i] == '$' && i + 1 < head)
			put(&text, b, p[++i], n - head);
		else if (p[i] == '\n' && (i == 0 || p[i - 1] != '\r'))
			buf_appendz(&text, "\r\n");
		else
			buf_putc(&text, p[i]);
	}
	buf_append(&text, p + head, n - head);
	if (e->fd < 0 && !e->closed && !open_end(b, e)) {
		close(e->fd);
		e->fd = -1;
		e->closed = true;
	}
	if (e->fd >= 0)
		send_bytes(b, e, buf_str(&text).p, buf_size(&text));
	buf_done(&text);
	turn(b, false);
}

static void stop(struct bench *b)
{
	if (b->stopped)
		return;
	b->stopped = true;
	server_shutdown(b->server);
	endpoint_shutdown(b->mcp);
	httpd_drain(b->http, NULL, NULL);
}

static void close_end(struct bench *b, struct end *e)
{
	look(b, e);
	if (e->fd >= 0)
		close(e->fd);
	e->fd = -1;
	e->closed = true;
	turn(b, false);
}

/* The command of a section; gives the connection that the rest of it is for, or NULL. */
static struct end *command(struct bench *b, const char *p, size_t n)
{
	struct end *e = &b->ends[n > 1 ? (unsigned char)p[1] % CONNS : 0];

	switch (n ? p[0] : 0) {
	case 't': pass(b); break;
	case 'f': fixture_finish_all(&b->fixture); break;
	case 'q': stop(b); break;
	case 'v':
		endpoint_revoke(b->mcp, (struct str){ p + 1, n - 1 - (p[n - 1] == '\n') });
		endpoint_tick(b->mcp);
		break;
	case 'n':
		cleat_server_resource_changed(b->server, "test://static-text");
		cleat_server_log(b->server, CLEAT_LOG_ERROR, "fuzz", "%0400d", 7);
		break;
	case 'h':
		if (e->fd >= 0)
			shutdown(e->fd, SHUT_WR);
		break;
	case 'x': close_end(b, e); break;
	default: return &b->ends[n ? (unsigned char)p[0] % CONNS : 0];
	}
	turn(b, false);
	return NULL;
}

static const char *next_section(const char *p, const char *end)
{
	while (end - p >= 2 && !(p[0] == '%' && p[1] == '%'))
		p++;
	return end - p >= 2 ? p : end;
}

static void run_all(struct bench *b, const char *p, size_t n)
{
	const char *end = p + n, *next;
	struct end *e = &b->ends[0];

	for (; p < end; p = next) {
		bool has_command = end - p >= 2 && p[0] == '%' && p[1] == '%';
		const char *line = has_command ? memchr(p, '\n', (size_t)(end - p)) : NULL;

		if (has_command) {
			next = line ? line + 1 : end;
			e = command(b, p + 2, (size_t)(next - p - 2));
			continue;
		}
		next = next_section(p, end);
		if (e)
			say(b, e, p, (size_t)(next - p));
	}
}

/* ---- what came out ---- */

/* Events, of which the last may not be there to its end; gives how many are responses. */
static size_t check_events(const char *p, size_t n)
{
	const char *end = p + n, *line;
	size_t responses = 0;

	for (; (line = memchr(p, '\n', (size_t)(end - p))) != NULL; p = line + 1) {
		size_t k = (size_t)(line - p);

		require(k == 0 || p[0] == ':' || memchr(p, ':', k));
		if (k > 6 && memcmp(p, "data: ", 6) == 0 && p[6] != '/')
			responses += check_messages(p + 6, k - 6);
	}
	return responses;
}

static void check_header(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)p[i];

		require(c >= 0x20 || c == '\t' || (c == '\r' && p[i + 1] == '\n') ||
			(c == '\n' && p[i - 1] == '\r'));
	}
}

/* Is there such a field in the header? Gives its value, up to the end of the line. */
static const char *field(const char *head, size_t n, const char *name)
{
	size_t k = strlen(name);

	for (size_t i = 0; i + k < n; i++)
		if (memcmp(head + i, name, k) == 0)
			return head + i + k;
	return NULL;
}

/* Takes the chunks out; gives where they end, or NULL when they do not. */
static const char *unchunk(const char *p, const char *end, struct buf *body)
{
	for (;;) {
		const char *line = NULL;
		size_t size;

		for (const char *q = p; q + 1 < end && !line; q++)
			line = q[0] == '\r' && q[1] == '\n' ? q : NULL;
		if (!line)
			return NULL;
		require(line > p && strspn(p, "0123456789abcdef") == (size_t)(line - p));
		size = (size_t)strtoul(p, NULL, 16);
		p = line + 2;
		if ((size_t)(end - p) < size + 2) {
			buf_append(body, p, (size_t)(end - p) < size ? (size_t)(end - p) : size);
			return NULL;
		}
		buf_append(body, p, size);
		require(p[size] == '\r' && p[size + 1] == '\n');
		p += size + 2;
		if (size == 0)
			return p;
	}
}

/* One answer; gives where the next begins, NULL when this one has no end. */
static const char *check_answer(const char *p, const char *end, const struct request *r,
				int *status)
{
	const char *head = p, *length, *type;
	struct buf body;
	size_t n = 0, responses = 0;

	require(end - p > 12 && memcmp(p, "HTTP/1.1 ", 9) == 0 && p[12] == ' ');
	*status = atoi(p + 9);
	require(*status >= 100 && *status < 600);
	while (head + n + 4 <= end && memcmp(head + n, "\r\n\r\n", 4) != 0)
		n++;
	if (head + n + 4 > end)
		return NULL;
	n += 4;
	check_header(head, n);
	p += n;
	if (*status < 200 || *status == 204 || (r && r->head))
		return p;
	buf_init(&body, NULL, SIZE_MAX / 2);
	length = field(head, n, "\r\nContent-Length: ");
	type = field(head, n, "\r\nContent-Type: ");
	if (field(head, n, "\r\nTransfer-Encoding: chunked\r\n")) {
		require(!length);
		p = unchunk(p, end, &body);
	} else if (length) {
		size_t size = (size_t)strtoul(length, NULL, 10);

		buf_append(&body, p, (size_t)(end - p) < size ? (size_t)(end - p) : size);
		p = (size_t)(end - p) < size ? NULL : p + size;
	} else {
		require(r && r->is_1_0);
		buf_append(&body, p, (size_t)(end - p));
		p = end;
	}
	if (type && memcmp(type, "text/event-stream\r", 18) == 0)
		responses = check_events(buf_str(&body).p, buf_size(&body));
	else if (type && memcmp(type, "application/json\r", 17) == 0 && p && buf_size(&body))
		responses = check_messages(buf_str(&body).p, buf_size(&body));
	require(responses <= 1 || !r || !r->post);
	buf_done(&body);
	return p;
}

/* What is not complete must be the last. Gives how many answers there are. */
static size_t check_end(const struct end *e)
{
	const char *p = e->out, *end = p ? p + e->n_out : NULL;
	size_t answers = 0;
	int status;

	while (p && p < end) {
		require(answers <= e->n_requests);
		p = check_answer(p, end, answers < e->n_requests ? &e->requests[answers] : NULL,
				 &status);
		answers += status >= 200;
	}
	require(answers <= e->n_requests + 1);
	return answers;
}

/* A client that comes afterwards. */
static void check_alive(struct bench *b)
{
	static const char body[] =
		"{\"jsonrpc\":\"2.0\",\"id\":\"last\",\"method\":\"server/discover\",\"params\":{\"_meta\":{"
		"\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
		"\"io.modelcontextprotocol/clientCapabilities\":{}}}}";
	char request[600];
	int n = snprintf(request, sizeof request,
			 "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer last\r\n"
			 "Content-Type: application/json\r\nAccept: application/json\r\n"
			 "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: server/discover\r\n"
			 "Content-Length: %zu\r\n\r\n%s",
			 sizeof body - 1, body);
	struct end e = { .fd = -1 };

	require(open_end(b, &e));
	send_bytes(b, &e, request, (size_t)n);
	turn(b, false);
	look(b, &e);
	require(e.n_out > 15 && memcmp(e.out, "HTTP/1.1 200 OK", 15) == 0);
	require(strstr(e.out, "\"id\":\"last\",\"result\"") != NULL);
	check_end(&e);
	close(e.fd);
	http_parser_free(e.parser);
	free(e.out);
}

/* ---- one run ---- */

static void close_bench(struct bench *b)
{
	fixture_finish_all(&b->fixture);
	turn(b, false);
	httpd_free(b->http);
	endpoint_free(b->mcp);
	fixture_finish_all(&b->fixture);
	cleat_server_free(b->server);
	b->store->ops->free(b->store);
	cleat_loop_free(b->loop);
	require(b->live == 0);
	for (size_t i = 0; i < CONNS; i++) {
		struct end *e = &b->ends[i];

		if (e->fd >= 0)
			close(e->fd);
		http_parser_free(e->parser);
		free(e->out);
	}
}

/* Memory is back: what waited for it goes out. */
static void recover(struct bench *b)
{
	b->countdown = 0;
	b->failing = false;
	turn(b, true);
	server_pump(b->server);
	for (int i = 0; i < 4; i++)
		turn(b, true);
}

void mcp_http_play(const uint8_t *data, size_t size, size_t fail_at, bool for_good,
		   struct mcp_http_result *ret)
{
	struct bench *b = calloc(1, sizeof *b);

	require(b != NULL && size >= 2);
	b->now_ms = 1000000;
	b->flags = data[0];
	for (size_t i = 0; i < CONNS; i++)
		b->ends[i].fd = -1;
	open_bench(b);
	b->allocations = 0;
	b->countdown = fail_at;
	b->for_good = for_good;
	run_all(b, (const char *)data + 2, size - 2);
	ret->allocations = b->allocations;
	recover(b);
	for (size_t i = 0; i < CONNS; i++) {
		ret->conns[i].requests = b->ends[i].n_requests;
		ret->conns[i].answers = check_end(&b->ends[i]);
		ret->conns[i].closed = b->ends[i].closed;
	}
	if (!b->stopped)
		check_alive(b);
	close_bench(b);
	free(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mcp_http_result result;
	unsigned which = size > 1 ? data[1] & 0x7f : 0;

	if (size > 1)
		mcp_http_play(data, size, which > ' ' ? (size_t)(which - ' ') * 2 : 0,
			      (data[1] & 0x80) != 0, &result);
	return 0;
}
