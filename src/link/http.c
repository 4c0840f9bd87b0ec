/* link/http.c - the link to a server over HTTP: making it, its operations, its time.
 *
 * One POST for each message (2025-03-26 to 2026-07-28), with a session and its GET stream where the
 * server has them, or HTTP+SSE of 2024-11-05 (http_old.c). What an answer is: http_answer.c.
 * Streams and resuming them: http_stream.c. Headers: http_fields.c.
 *
 * Not here: connections, TLS, redirects (fetch/fetcher.h); JSON-RPC, eras and when to try again, which is
 * the role's. Time is loop_now() alone. One timer serves all that waits.
 */
#include "link/http_impl.h"

#include "base/mem.h"
#include "uri/reference.h"
#include "json/skim.h"

#include <stdio.h>

enum { FIELDS_MAX = 256 << 10, CONFIGURED_MAX = 8 << 20, DEFAULT_MESSAGE = 16 << 20 };

/* ---- events ----------------------------------------------------------------------------------- */

static void destroy(struct link_http *l)
{
	arena_done(&l->own);
	arena_done(&l->scratch);
	mem_free(&l->mem, l->url);
	mem_free(&l->mem, l->endpoint);
	mem_free(&l->mem, l->session);
	mem_free(&l->mem, l);
}

static void bury(struct link_http *l)
{
	struct exch *x;

	while ((x = l->graves) != NULL) {
		l->graves = x->next;
		exch_done_events(x);
		buf_done(&x->text);
		buf_done(&x->last_id);
		buf_done(&x->prev_id);
		mem_free(&l->mem, x->seen.ids);
		mem_free(&l->mem, x);
	}
}

void link_http_enter(struct link_http *l)
{
	l->busy++;
}

void link_http_leave(struct link_http *l)
{
	if (l->busy == 1 && !l->freed)
		link_http_go_on(l);
	if (--l->busy)
		return;
	bury(l);
	if (l->freed)
		destroy(l);
}

static void detach(struct link_http *l)
{
	if (l->attached)
		loop_detach(l->loop);
	l->attached = false;
}

static void tell_soon(struct loop_call *c)
{
	struct link_http *l = CONTAINER_OF(c, struct link_http, call);
	unsigned soon = l->soon;
	struct link_failure why = l->soon_why;

	l->soon = 0;
	link_http_enter(l);
	if (soon & SOON_OLD_DOWN)
		l->ev.down(l->ev.ctx, &why);
	if (soon & SOON_UP && !l->freed)
		l->ev.up(l->ev.ctx, NULL);
	if (soon & SOON_UP_FAILED && !l->freed)
		l->ev.up(l->ev.ctx, &why);
	if (soon & SOON_CLOSED && !l->freed) {
		detach(l);
		l->ev.closed(l->ev.ctx);
	}
	link_http_leave(l);
}

void link_http_soon(struct link_http *l, enum soon what, const struct link_failure *why)
{
	l->soon |= what;
	if (why)
		l->soon_why = *why;
	loop_defer(l->loop, &l->call);
}

void link_http_note(struct link_http *l, int level, const char *fmt, ...)
{
	cleat_error text;
	va_list ap;

	if (l->freed || !l->ev.note)
		return;
	va_start(ap, fmt);
	error_vset(&text, CLEAT_OK, 0, fmt, ap);
	va_end(ap);
	l->ev.note(l->ev.ctx, level, text.message);
}

/* ---- what is under way ------------------------------------------------------------------------ */

struct exch *exch_new(struct link_http *l, enum exch_kind kind)
{
	struct exch *x = mem_zalloc(&l->mem, sizeof *x);

	if (!x)
		return NULL;
	x->l = l;
	x->kind = kind;
	x->retry = -1;
	buf_init(&x->text, &l->mem, l->max_message + 1);
	buf_init(&x->last_id, &l->mem, LINK_HTTP_ID_MAX);
	buf_init(&x->prev_id, &l->mem, LINK_HTTP_ID_MAX);
	x->next = l->list;
	if (x->next)
		x->next->prev = x;
	l->list = x;
	l->n_list++;
	return x;
}

void exch_stop(struct exch *x)
{
	struct fetch *f = x->fetch;

	x->fetch = NULL;
	fetch_cancel(f);
}

void exch_drop(struct exch *x)
{
	struct link_http *l = x->l;

	if (x->gone)
		return;
	x->gone = true;
	*(x->lingers ? &l->n_linger : &l->n_list) -= 1;
	if (x->prev)
		x->prev->next = x->next;
	else
		l->list = x->next;
	if (x->next)
		x->next->prev = x->prev;
	if (l->listen == x)
		l->listen = NULL;
	if (l->stream == x)
		l->stream = NULL;
	exch_stop(x);
	x->next = l->graves;
	l->graves = x;
	if (!l->busy)
		bury(l);
}

void exch_fail(struct exch *x, const struct link_failure *why)
{
	struct link_http *l = x->l;
	enum exch_kind kind = x->kind;
	void *tag = x->tag;

	if (x->gone)
		return;
	exch_drop(x);
	if (tag)
		l->ev.failed(l->ev.ctx, tag, why);
	else if (kind == EXCH_NOTICE || kind == EXCH_ANSWER)
		link_http_note(l, CLEAT_LOG_WARNING, "%s could not be sent: %s",
			       kind == EXCH_NOTICE ? "a notification"
						   : "the answer to a question of the server",
			       why->error.message);
}

int exch_fetch(struct exch *x, const char *method, const struct link_message *m, cleat_error *err)
{
	struct link_http *l = x->l;
	struct fetch_options o = { .method = method,
				   .url = m && l->old ? l->endpoint : l->url,
				   .body = m ? m->text : (struct str){ 0 },
				   .on_head = exch_on_head,
				   .on_body = exch_on_body,
				   .on_end = exch_on_end,
				   .ctx = x };
	struct http_field_list fields = { .ar = &l->scratch };
	int rc;

	if (!m && x->kind != EXCH_OLD && x->kind != EXCH_DELETE)
		o.idle_ms = LINK_HTTP_IDLE_MS;
	x->status = 0;
	x->body = BODY_SKIP;
	x->heard = false;
	arena_reset(&l->scratch);
	rc = link_http_fields(x, m, &fields, err);
	if (rc == CLEAT_OK) {
		o.fields = fields.at;
		o.n_fields = fields.n;
		x->fetch = fetch_start(l->http, &o, err);
		rc = x->fetch ? CLEAT_OK : err->status;
	}
	return rc;
}

/* ---- time ------------------------------------------------------------------------------------- */

static void arm(struct link_http *l, uint64_t due)
{
	uint64_t now = loop_now();

	if (l->timer_due && l->timer_due <= due)
		return;
	l->timer_due = due;
	loop_timer_start(l->timer, due > now ? due - now : 0);
}

void exch_wait(struct exch *x, uint64_t ms)
{
	x->due = loop_now() + ms;
	arm(x->l, x->due);
}

static void wake(struct exch *x)
{
	x->due = 0;
	if (x->lingers)
		exch_drop(x);
	else if (x->kind == EXCH_OLD)
		old_on_due(x);
	else
		exch_resume(x);
}

static struct exch *find_due(struct link_http *l, uint64_t now)
{
	struct exch *x = l->list;

	while (x && (x->due == 0 || x->due > now))
		x = x->next;
	return x;
}

/* The time that close() gives to what was sent before it, or to deleting the session, is over. */
static void hurry(struct link_http *l)
{
	l->close_due = 0;
	while (l->list)
		exch_drop(l->list);
	link_http_go_on(l);
}

static void http_on_timer(void *ctx)
{
	struct link_http *l = ctx;
	uint64_t now = loop_now();
	struct exch *x;

	l->timer_due = 0;
	link_http_enter(l);
	while (!l->freed && (x = find_due(l, now)) != NULL)
		wake(x);
	if (!l->freed && l->close_due && l->close_due <= now)
		hurry(l);
	for (x = l->list; x && !l->freed; x = x->next)
		if (x->due)
			arm(l, x->due);
	if (!l->freed && l->close_due)
		arm(l, l->close_due);
	link_http_leave(l);
}

/* ---- operations ------------------------------------------------------------------------------- */

static void op_open(struct link *base)
{
	struct link_http *l = link_http_of(base);

	if (l->closing)
		return;
	if (!l->attached)
		loop_attach(l->loop);
	l->attached = true;
	l->soon &= ~(unsigned)SOON_OLD_DOWN; /* whoever opens it knows */
	if (l->old && !l->endpoint)
		old_open(l);
	else
		link_http_soon(l, SOON_UP, NULL);
}

/* What belongs to the session cannot go on without it. Nothing is told from in here. */
static void forget_session(struct link_http *l)
{
	mem_free(&l->mem, l->session);
	l->session = NULL;
	l->rev = REV_NONE;
	if (l->listen)
		exch_drop(l->listen);
	for (struct exch *x = l->list; x; x = x->next)
		if (x->kind == EXCH_REQUEST && (x->resumed || x->due) && !x->lingers) {
			exch_stop(x);
			x->doomed = true;
			exch_wait(x, 0);
		}
}

static int op_send(struct link *base, const struct link_message *m)
{
	static const enum exch_kind kinds[] = { [LINK_REQUEST] = EXCH_REQUEST,
						[LINK_NOTICE] = EXCH_NOTICE,
						[LINK_ANSWER] = EXCH_ANSWER };
	struct link_http *l = link_http_of(base);
	cleat_error err;
	struct exch *x;
	int rc;

	if (l->closing || (l->old && !l->endpoint))
		return CLEAT_ECLOSED;
	if (l->n_list >= LINK_HTTP_EXCHANGES)
		return CLEAT_ELIMIT;
	x = exch_new(l, kinds[m->kind]);
	if (!x)
		return CLEAT_ENOMEM;
	if (m->initialize)
		forget_session(l);
	else if (!m->modern && m->rev != REV_NONE)
		l->rev = m->rev;
	x->tag = m->kind == LINK_ANSWER ? NULL : m->tag;
	if (m->kind == LINK_REQUEST)
		skim_whole(skim_find(m->text, "id"), &x->id);
	x->modern = m->modern;
	x->initialize = m->initialize;
	x->in_session = !m->modern && !l->old && l->session != NULL;
	l->used = true;
	rc = exch_fetch(x, "POST", m, &err);
	if (rc)
		exch_drop(x);
	return rc;
}

static void op_forget(struct link *base, void *tag)
{
	struct exch *x = link_http_of(base)->list;

	while (x && (x->tag != tag || !tag))
		x = x->next;
	if (x)
		exch_drop(x);
}

static void op_listen(struct link *base)
{
	struct link_http *l = link_http_of(base);

	if (!l->old && !l->no_stream && !l->closing && !l->listen)
		link_http_listen(l);
}

static void op_reset(struct link *base)
{
	struct link_http *l = link_http_of(base);

	if (!l->old)
		forget_session(l);
	else if (l->endpoint && l->used)
		old_reset(l);
}

static int op_fall_back(struct link *base)
{
	struct link_http *l = link_http_of(base);

	if (l->old)
		return CLEAT_EUNSUPPORTED;
	if (l->closing)
		return CLEAT_ECLOSED;
	forget_session(l);
	l->old = l->link.renews = true;
	old_open(l);
	return CLEAT_OK;
}

/* ---- the end ---------------------------------------------------------------------------------- */

/* 2025-11-25 basic/transports, Session Management 5. */
static bool delete_session(struct link_http *l)
{
	struct exch *x = exch_new(l, EXCH_DELETE);
	cleat_error err;

	if (!x)
		return false;
	x->in_session = true;
	if (exch_fetch(x, "DELETE", NULL, &err) == CLEAT_OK)
		return true;
	exch_drop(x);
	return false;
}

void link_http_go_on(struct link_http *l)
{
	if (!l->closing || l->closed || l->list)
		return;
	if (l->session && !l->deleting) {
		l->deleting = true;
		if (delete_session(l)) {
			l->close_due = l->close_began + LINK_HTTP_CLOSE_MS;
			arm(l, l->close_due);
			return;
		}
	}
	l->closed = true;
	l->close_due = 0;
	link_http_soon(l, SOON_CLOSED, NULL);
}

static void op_close(struct link *base)
{
	struct link_http *l = link_http_of(base);
	struct exch *x, *next;

	if (l->closing)
		return;
	l->closing = true;
	link_http_enter(l);
	for (x = l->list; x; x = next) {
		next = x->next;
		x->tag = NULL;
		if (x->kind != EXCH_NOTICE && x->kind != EXCH_ANSWER)
			exch_drop(x);
	}
	l->soon = 0;
	l->close_began = loop_now();
	l->close_due = l->close_began + LINK_HTTP_NOTICES_MS;
	arm(l, l->close_due);
	link_http_leave(l);
}

static void op_free(struct link *base)
{
	struct link_http *l = link_http_of(base);

	if (l->freed)
		return;
	link_http_enter(l);
	l->freed = true;
	while (l->list)
		exch_drop(l->list);
	fetcher_free(l->http);
	loop_timer_free(l->timer);
	detach(l);
	loop_cancel(l->loop, &l->call);
	link_http_leave(l);
}

static const struct link_ops ops = { .open = op_open,
				     .send = op_send,
				     .forget = op_forget,
				     .listen = op_listen,
				     .reset = op_reset,
				     .fall_back = op_fall_back,
				     .close = op_close,
				     .free = op_free };

/* ---- making one ------------------------------------------------------------------------------- */

static int set_url(struct link_http *l, const char *url, cleat_error *err)
{
	struct str whole = uri_without_fragment(str_of(url));
	size_t n = 0;

	if (!link_http_url_good(whole, err))
		return CLEAT_EINVAL;
	while (n < whole.n && whole.p[n] != '?')
		n++;
	snprintf(l->place, sizeof l->place, "%.*s",
		 (int)(n < sizeof l->place ? n : sizeof l->place), url);
	l->url = mem_strndup(&l->mem, whole.p, whole.n);
	return l->url ? CLEAT_OK : error_set(err, CLEAT_ENOMEM, "out of memory");
}

static int set_client(struct link_http *l, const struct link_http_options *o, cleat_error *err)
{
	const struct fetcher_options c = { .loop = l->loop,
					   .mem = &l->mem,
					   .proxy = o->proxy,
					   .ca_file = o->ca_file,
					   .client_cert = o->client_cert,
					   .client_key = o->client_key,
					   .unix_socket = o->unix_socket,
					   .insecure = o->insecure,
					   .no_http2 = o->no_http2,
					   .connect_ms = l->connect_ms,
					   .trace = o->trace,
					   .ctx = o->trace_ctx };

	l->timer = loop_timer_new(l->loop, http_on_timer, l);
	if (!l->timer)
		return error_set(err, CLEAT_ENOMEM, "out of memory");
	l->http = fetcher_new(&c, err);
	return l->http ? CLEAT_OK : CLEAT_EINVAL;
}

struct link *link_http_new(const struct link_base_options *o, const struct link_http_options *http,
			   cleat_error *err)
{
	cleat_allocator mem = mem_resolve(o->mem);
	struct link_http *l = mem_zalloc(&mem, sizeof *l);

	if (!l) {
		error_set(err, CLEAT_ENOMEM, "out of memory");
		return NULL;
	}
	l->link = (struct link){ .ops = &ops, .http = true };
	l->loop = o->loop;
	l->mem = mem;
	l->ev = o->events;
	arena_init(&l->own, &mem, CONFIGURED_MAX);
	arena_init(&l->scratch, &mem, FIELDS_MAX);
	l->configured.ar = &l->own;
	l->max_message = o->max_message ? o->max_message : DEFAULT_MESSAGE;
	l->connect_ms = o->connect_ms ? o->connect_ms : 30000;
	l->random = o->random;
	l->random_ctx = o->random_ctx;
	l->old = l->link.renews = http->old_sse;
	l->no_stream = http->no_stream;
	l->rev = REV_NONE;
	l->call.fn = tell_soon;
	if (set_url(l, http->url, err) == CLEAT_OK &&
	    link_http_configure(l, http, err) == CLEAT_OK && set_client(l, http, err) == CLEAT_OK)
		return &l->link;
	loop_timer_free(l->timer);
	destroy(l);
	return NULL;
}
