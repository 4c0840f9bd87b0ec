/* endpoint/endpoint.c - the endpoint's gate, its paths, and what all of its parts need. See endpoint.h. */
#include "endpoint/impl.h"

#include "base/crypto.h"
#include "base/error.h"
#include "base/mem.h"

#include <stdio.h>

enum {
	BODY_DEFAULT = 4 * 1024 * 1024,
	SESSION_IDLE_DEFAULT = 30 * 60 * 1000,
	SESSION_UNUSED_DEFAULT = 60 * 1000,
	SESSIONS_DEFAULT = 1000,
	STREAMS_DEFAULT = 1000,
	SUBSCRIPTIONS_DEFAULT = 10000,
	KEEP_ALIVE_DEFAULT = 15 * 1000,
	TICK_MAX = 5000
};

static const struct str text_type = { "text/plain; charset=utf-8", 25 };

/* ---- small things ------------------------------------------------------------------------------ */

uint64_t endpoint_now(const struct endpoint *m)
{
	return m->o.now ? m->o.now(m->o.ctx) : loop_now();
}

void endpoint_note(struct endpoint *m, int level, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	if (!m->o.note)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	m->o.note(m->o.ctx, level, text);
}

int endpoint_random_id(char id[SESSION_ID_CHARS + 1])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char bytes[SESSION_ID_CHARS / 2];
	int rc = crypto_random(bytes, sizeof bytes, NULL);

	for (size_t i = 0; i < sizeof bytes && !rc; i++) {
		id[2 * i] = digits[bytes[i] >> 4];
		id[2 * i + 1] = digits[bytes[i] & 15];
	}
	id[SESSION_ID_CHARS] = '\0';
	return rc;
}

static struct endpoint_accept read_accept(struct str text)
{
	static const char json[] = "application/json", events[] = "text/event-stream";
	struct endpoint_accept a = { .json = http_accept_quality(text, json) > 0,
				     .events = http_accept_quality(text, events) > 0 };

	a.prefers_events = text.p && a.events && http_accept_prefers(text, events, json);
	return a;
}

struct endpoint_accept endpoint_accept(struct endpoint *m, const struct http_request *r)
{
	struct str text = http_request_field(r, "accept");

	if (text.n == 0 || text.n > sizeof m->accept_text)
		return read_accept(text);
	if (!str_eq(text, (struct str){ m->accept_text, m->accept_size })) {
		m->accept = read_accept(text);
		memcpy(m->accept_text, text.p, text.n);
		m->accept_size = text.n;
	}
	return m->accept;
}

/* ---- time --------------------------------------------------------------------------------------- */

void endpoint_tick(struct endpoint *m)
{
	place_end_revoked(m);
	place_keep_alive(m);
	session_expire_all(m);
	old_sweep(m);
}

static void endpoint_on_timer(void *ctx)
{
	struct endpoint *m = ctx;

	endpoint_tick(m);
	loop_timer_start(m->timer,
			 m->o.keep_alive_ms / 2 < TICK_MAX ? m->o.keep_alive_ms / 2 + 1 : TICK_MAX);
}

/* ---- paths ------------------------------------------------------------------------------------- */

static bool is_health(const struct http_request *r)
{
	return str_eqz(r->path, "/healthz");
}

/* For Allow: what there is at this path. Of one where nothing is, and of the server as a whole ("*"), what
 * there is at the endpoint's: a browser that asks first can then see the 404. */
static const char *allowed(const struct endpoint *m, const struct http_request *r)
{
	if (is_health(r))
		return "GET, HEAD";
	if (!m->o.no_old_sse && str_eqz(r->path, "/sse"))
		return "GET";
	if (!m->o.no_old_sse && str_eqz(r->path, "/messages"))
		return "POST";
	return m->o.no_sessions || m->o.modern_only ? "POST" : "POST, GET, DELETE";
}

/* HEAD, too: what GET gives is a stream, of which there is nothing to know without reading it. */
static void refuse_method(struct endpoint *m, struct http_exchange *ex)
{
	endpoint_reply_not_allowed(m, ex, allowed(m, http_exchange_request(ex)));
}

static void serve_mcp(struct endpoint *m, struct http_exchange *ex, struct str principal)
{
	enum http_method method = http_exchange_request(ex)->method;
	bool sessions = !m->o.no_sessions && !m->o.modern_only;

	if (method == HTTP_METHOD_POST)
		endpoint_post(m, ex, principal);
	else if (method == HTTP_METHOD_GET && sessions)
		session_get(m, ex, principal);
	else if (method == HTTP_METHOD_DELETE && sessions)
		session_delete(m, ex, principal);
	else
		refuse_method(m, ex);
}

static void serve_health(struct endpoint *m, struct http_exchange *ex)
{
	enum http_method method = http_exchange_request(ex)->method;

	if (method != HTTP_METHOD_GET && method != HTTP_METHOD_HEAD)
		refuse_method(m, ex);
	else if (m->stopping)
		endpoint_reply(m, ex, 503, text_type, STR_LIT("stopping\n"), NULL, 0);
	else
		endpoint_reply(m, ex, 200, text_type, STR_LIT("ok\n"), NULL, 0);
}

static void serve_old(struct endpoint *m, struct http_exchange *ex, struct str principal,
		      bool messages)
{
	enum http_method method = http_exchange_request(ex)->method;

	if (method == HTTP_METHOD_POST && messages)
		old_post(m, ex, principal);
	else if (method == HTTP_METHOD_GET && !messages)
		old_get(m, ex, principal);
	else
		refuse_method(m, ex);
}

/* A browser asks before it sends something that a plain form could not. Nobody has to say who he is: it sends
 * no credentials, and there is nothing to learn but what this file says. */
static void serve_preflight(struct endpoint *m, struct http_exchange *ex)
{
	const struct http_request *r = http_exchange_request(ex);
	struct http_field fields[POLICY_FIELDS + 1];
	size_t n = policy_cors_fields(&m->o.policy, r, true, fields);

	fields[n++] = (struct http_field){ STR_LIT("Allow"), str_of(allowed(m, r)) };
	http_exchange_reply(ex, 204, (struct str){ 0 }, fields, n, STR_LIT(""));
}

static void route(struct endpoint *m, struct http_exchange *ex, struct str principal)
{
	struct str path = http_exchange_request(ex)->path;

	if (str_eqz(path, m->path))
		serve_mcp(m, ex, principal);
	else if (!m->o.no_old_sse && str_eqz(path, "/sse"))
		serve_old(m, ex, principal, false);
	else if (!m->o.no_old_sse && str_eqz(path, "/messages"))
		serve_old(m, ex, principal, true);
	else
		endpoint_reply_error(m, ex, 404, CLEAT_RPC_INVALID_REQUEST,
				     "there is nothing at this path; MCP is at %s", m->path);
}

/* What can be decided by the request alone. True: it may pass. Any thread. */
static bool may_ask(struct endpoint *m, struct http_exchange *ex)
{
	const struct http_request *r = http_exchange_request(ex);
	const char *why = policy_refuse(&m->o.policy, r);

	if (why)
		endpoint_reply_error(m, ex, 403, CLEAT_RPC_INVALID_REQUEST, "%s", why);
	else if (r->method == HTTP_METHOD_OPTIONS)
		serve_preflight(m, ex); /* browsers send it without credentials */
	else
		return true;
	return false;
}

void endpoint_screen(void *mcp, struct http_exchange *ex)
{
	const struct http_request *r = http_exchange_request(ex);
	struct endpoint *m = mcp;

	if (!may_ask(m, ex))
		return;
	if (m->o.screen && !is_health(r) && m->o.screen(m->o.ctx, r))
		endpoint_reply_unauthorized(m, ex);
	else
		http_exchange_limit_body(ex, m->o.max_body);
}

/* The one gate, before anything looks at the path. True: it may pass, as *ret. */
static bool gate(struct endpoint *m, struct http_exchange *ex, struct endpoint_caller *ret)
{
	const struct http_request *r = http_exchange_request(ex);

	if (!may_ask(m, ex))
		return false;
	if (is_health(r)) {
		serve_health(m, ex);
	} else if (m->o.authorize && (!http_request_field_is_single(r, "authorization") ||
				      m->o.authorize(m->o.ctx, r, ret))) {
		endpoint_reply_unauthorized(m, ex);
	} else {
		return true;
	}
	return false;
}

/* What is known of an exchange from its head on: kept with it, because the name of who asks is lent only until
 * the next one is looked at, and the request is gone when a streamed answer ends. */
struct visit {
	struct endpoint_caller caller;
	unsigned revocations;                     /* of the endpoint, at that time */
	struct str session, revision, rpc_method; /* for the log */
	char text[];
};

static struct str put_name(char **at, struct str s)
{
	struct str copy = { s.p ? *at : NULL, s.n };

	if (s.p)
		memcpy(*at, s.p, s.n);
	*at += s.n;
	return copy;
}

/* False when out of memory. */
static bool keep_visit(struct endpoint *m, struct http_exchange *ex,
		       const struct endpoint_caller *caller)
{
	const struct http_request *r = http_exchange_request(ex);
	struct str session = { 0 }, revision = { 0 }, method = { 0 };
	struct visit *v;
	char *at;

	if (m->o.logged) {
		session = endpoint_shown(http_request_field(r, "mcp-session-id"));
		revision = endpoint_shown(http_request_field(r, "mcp-protocol-version"));
		method = endpoint_shown(http_request_field(r, "mcp-method"));
	}
	v = mem_alloc(&m->mem, sizeof *v + caller->name.n + session.n + revision.n + method.n);
	http_exchange_keep(ex, v);
	if (!v)
		return false;
	at = v->text;
	v->caller = *caller;
	v->caller.name = put_name(&at, caller->name);
	v->revocations = m->revocations;
	v->session = put_name(&at, session);
	v->revision = put_name(&at, revision);
	v->rpc_method = put_name(&at, method);
	return true;
}

/* Everything that can be refused is refused before the body is read. */
static void endpoint_on_head(void *ctx, struct http_exchange *ex)
{
	struct endpoint *m = ctx;
	struct endpoint_caller caller = { 0 };

	if (!gate(m, ex, &caller))
		return;
	http_exchange_limit_body(ex, m->o.max_body);
	/* without it a line of the log says less, but nobody goes on as nobody */
	if ((m->o.logged || m->o.authorize) && !keep_visit(m, ex, &caller) && m->o.authorize)
		endpoint_reply_lost(m, ex);
}

/* Has he come through the gate, and is it still the same gate? */
static bool may_enter(const struct endpoint *m, const struct http_exchange *ex,
		      const struct visit *v)
{
	struct endpoint_caller again = { 0 };

	if (!m->o.authorize || !v || v->revocations == m->revocations)
		return !m->o.authorize || v;
	return m->o.authorize(m->o.ctx, http_exchange_request(ex), &again) == CLEAT_OK &&
	       str_eq(again.name, v->caller.name);
}

static void endpoint_on_request(void *ctx, struct http_exchange *ex)
{
	const struct visit *v = http_exchange_kept(ex);
	struct endpoint *m = ctx;

	if (may_enter(m, ex, v))
		route(m, ex, v ? v->caller.name : (struct str){ 0 });
	else
		endpoint_reply_unauthorized(m, ex);
}

bool endpoint_is_revoked(const struct endpoint *m, struct str principal, struct str name)
{
	if (name.p)
		return str_eq(principal, name);
	return m->o.knows && !m->o.knows(m->o.ctx, principal, NULL);
}

static bool visit_is_revoked(const struct endpoint *m, const struct visit *v, struct str name)
{
	if (name.p)
		return str_eq(v->caller.name, name);
	return m->o.knows && !m->o.knows(m->o.ctx, v->caller.name, v->caller.credential);
}

void endpoint_revoke(struct endpoint *m, struct str name)
{
	struct ring *next;

	if (!m->o.authorize)
		return;
	m->revocations++;
	for (struct ring *at = m->places.next; at != &m->places; at = next) {
		struct place *p = CONTAINER_OF(at, struct place, of_places);
		const struct visit *v = http_exchange_kept(p->ex);

		next = at->next;
		if (v && visit_is_revoked(m, v, name)) {
			ring_cut(at);
			ring_add(&m->revoked, at);
		}
	}
	session_revoke(m, name);
	loop_timer_start(m->timer, 0);
}

static void endpoint_on_gone(void *ctx, struct http_exchange *ex)
{
	struct place *p = http_exchange_data(ex);

	(void)ctx;
	if (p)
		p->ops->gone(p);
}

static void endpoint_on_drained(void *ctx, struct http_exchange *ex)
{
	struct place *p = http_exchange_data(ex);

	(void)ctx;
	if (p && p->ops->drained)
		p->ops->drained(p);
}

static void on_logged(void *ctx, const struct http_exchange *ex, int status, uint64_t bytes,
		      uint64_t micros)
{
	struct endpoint *m = ctx;
	const struct http_request *r = http_exchange_request(ex);
	struct endpoint_record record = { .address = http_exchange_address(ex),
					  .method = r->method_name,
					  .path = r->path,
					  .status = status,
					  .bytes = bytes,
					  .micros = micros };
	const struct visit *v = http_exchange_kept(ex);

	if (v) {
		record.principal = endpoint_shown(v->caller.name);
		record.session = v->session;
		record.revision = v->revision;
		record.rpc_method = v->rpc_method;
	}
	m->o.logged(m->o.ctx, &record);
}

struct http_service endpoint_service(struct endpoint *m)
{
	return (struct http_service){ .head = endpoint_on_head,
				      .request = endpoint_on_request,
				      .gone = endpoint_on_gone,
				      .drained = endpoint_on_drained,
				      .logged = m->o.logged ? on_logged : NULL,
				      .ctx = m };
}

/* ---- life -------------------------------------------------------------------------------------- */

static void take_defaults(struct endpoint_options *o)
{
	if (!o->max_body)
		o->max_body = BODY_DEFAULT;
	if (!o->session_idle_ms)
		o->session_idle_ms = SESSION_IDLE_DEFAULT;
	if (!o->session_unused_ms)
		o->session_unused_ms = SESSION_UNUSED_DEFAULT;
	if (o->session_unused_ms > o->session_idle_ms)
		o->session_unused_ms = o->session_idle_ms;
	if (!o->max_sessions_per_client)
		o->max_sessions_per_client = SESSIONS_DEFAULT;
	if (!o->max_streams_per_client)
		o->max_streams_per_client = STREAMS_DEFAULT;
	if (!o->max_subscriptions_per_client)
		o->max_subscriptions_per_client = SUBSCRIPTIONS_DEFAULT;
	if (!o->keep_alive_ms)
		o->keep_alive_ms = KEEP_ALIVE_DEFAULT;
	if (!o->max_reply)
		o->max_reply = 16 << 20;
}

int endpoint_new(const struct endpoint_options *o, struct endpoint **ret, cleat_error *err)
{
	const cleat_allocator mem = mem_resolve(o->mem);
	const char *path = o->path ? o->path : "/mcp";
	struct endpoint *m;

	if (path[0] != '/' || strchr(path, '?') || strchr(path, '#'))
		return error_set(err, CLEAT_EINVAL,
				 "the endpoint's path must begin with '/' and have no query, not "
				 "\"%.100s\"",
				 path);
	m = mem_zalloc(&mem, sizeof *m);
	if (m) {
		m->mem = mem;
		m->o = *o;
		take_defaults(&m->o);
		m->path = mem_strdup(&mem, path);
		ring_init(&m->places);
		ring_init(&m->revoked);
		for (size_t i = 0; i < CLEAT_COUNT(m->by_use); i++)
			ring_init(&m->by_use[i]);
		/* beside a message of the greatest size: the errors of a batch, with ids that are as
		 * large as what came in; and its frame */
		buf_init(&m->message, &mem, m->o.max_reply + 2 * m->o.max_body + (8 << 20));
		buf_init(&m->frame, &mem, 2 * m->message.max);
		m->timer = loop_timer_new(o->loop, endpoint_on_timer, m);
	}
	if (!m || !m->path || !m->timer) {
		endpoint_free(m);
		return error_set(err, CLEAT_ENOMEM, "out of memory");
	}
	loop_timer_start(m->timer, 1000);
	*ret = m;
	return CLEAT_OK;
}

void endpoint_shutdown(struct endpoint *m)
{
	m->stopping = true;
	session_stop_all(m);
	old_stop_all(m);
}

void endpoint_forget(struct endpoint *m)
{
	session_forget_all(m);
	old_forget_all(m);
	modern_forget_all(m);
}

void endpoint_free(struct endpoint *m)
{
	cleat_allocator mem;

	if (!m)
		return;
	mem = m->mem;
	session_free_all(m);
	old_free_all(m);
	modern_free_all(m);
	loop_timer_free(m->timer);
	buf_done(&m->message);
	buf_done(&m->frame);
	mem_free(&mem, m->path);
	mem_free(&mem, m);
}

void endpoint_stats(const struct endpoint *m, struct endpoint_stats *ret)
{
	*ret = (struct endpoint_stats){ .sessions = m->n_sessions, .streams = m->n_streaming };
}
