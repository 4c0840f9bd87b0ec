/* request/life.c - see life.h. */
#include "request/life.h"

#include "base/mem.h"
#include "request/entry.h"
#include "request/out.h"
#include "request/question.h"
#include "request/queue.h"
#include "request/reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	REQUEST_ARENA_MAX = 256 << 20, /* parsed messages are several times their text */
	POOL_MAX = 256,
	KEEP_BUF = 32768
};

static cleat_request *allocate(cleat_server *s)
{
	cleat_request *req = mem_zalloc(&s->mem, sizeof *req);

	if (!req)
		return NULL;
	req->server = s;
	arena_init(&req->arena, &s->mem, REQUEST_ARENA_MAX);
	buf_init(&req->content, &s->mem, s->opts.max_reply);
	buf_init(&req->structured, &s->mem, s->opts.max_reply);
	return req;
}

void request_free(cleat_request *req)
{
	arena_done(&req->arena);
	buf_done(&req->content);
	buf_done(&req->structured);
	mem_free(&req->server->mem, req);
}

static cleat_request *from_pool(cleat_server *s)
{
	cleat_request *req = s->pool;

	if (!req)
		return allocate(s);
	s->pool = req->next;
	if (!s->pool)
		s->pool_tail = &s->pool;
	s->pooled--;
	return req;
}

/* The library's memset: for this size compilers write "rep stos" in place, which is slower. */
static void *(*const volatile zero)(void *, int, size_t) = memset;

cleat_request *request_new(cleat_connection *c)
{
	const size_t from = offsetof(cleat_request, conn);
	cleat_request *req = from_pool(c->server);

	if (!req)
		return NULL;
	zero((char *)req + from, 0, sizeof *req - from);
	atomic_store_explicit(&req->cancelled, false, memory_order_relaxed);
	atomic_store_explicit(&req->deferred, 0, memory_order_relaxed);
	atomic_store_explicit(&req->posted, 0, memory_order_relaxed);
	atomic_store_explicit(&req->cancel_fd, -1, memory_order_relaxed);
	atomic_store_explicit(&req->on_cancel, NULL, memory_order_relaxed);
	req->inflight.in_table = false;
	req->msg.id = NULL;
	req->msg.method.p = NULL;
	req->ctx.era = NULL;
	req->conn = c;
	req->phase = PHASE_READING;
	req->next = c->requests;
	if (c->requests)
		c->requests->prev = req;
	c->requests = req;
	c->n_requests++;
	return req;
}

void request_use(cleat_request *req, struct entry *e, enum shape shape)
{
	entry_ref(e);
	req->entry = e;
	req->userdata = e->userdata;
	req->shape = shape;
}

/* ---- misuse -------------------------------------------------------------------------------- */

/* May run on any thread, so it goes the way of events. */
static COLD void tell_log(cleat_server *s, const char *text)
{
	const struct server_hooks *h = &s->hooks;
	size_t n = strlen(text);
	struct text_event *ev = mem_alloc(&s->mem, sizeof *ev + n + 1);

	if (!ev)
		return;
	ev->e = (struct event){ .kind = EVENT_NOTE, .level = CLEAT_LOG_ERROR };
	ev->has_text = true;
	ev->len = n;
	memcpy(ev->text, text, n + 1);
	h->post(h->ctx, &ev->e.base);
}

void request_misuse(cleat_request *req, enum misuse kind, const char *fmt, ...)
{
	unsigned told = atomic_fetch_or(&req->server->misused, 1u << kind);
	char text[512];
	va_list ap;

	if (told & 1u << kind)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
#ifndef NDEBUG
	if (!str_eqz(str_of(getenv("CLEAT_MISUSE")), "log")) {
		fprintf(stderr, "cleat: %s\n", text);
		abort();
	}
#endif
	tell_log(req->server, text);
}

/* ---- running ------------------------------------------------------------------------------ */

static void post_done(cleat_request *req)
{
	const struct server_hooks *h = &req->server->hooks;

	req->done = (struct event){ .kind = EVENT_DONE, .req = req };
	h->post(h->ctx, &req->done.base);
}

/* True for the one who drops the last hold; the run is over then. */
static bool drop_hold(cleat_request *req)
{
	return atomic_fetch_sub(&req->holds, 1) == 1;
}

/* The handler has returned. Any thread. True when the run is over. */
static bool handler_returned(cleat_request *req, int status)
{
	/* Only the handler itself defers, and it has returned: without that nobody else has a hold. */
	if (atomic_load_explicit(&req->deferred, memory_order_relaxed)) {
		if (status != CLEAT_PENDING)
			request_misuse(
				req, MISUSE_NOT_PENDING,
				"the handler of %s deferred its request and returned \"%s\" "
				"instead of CLEAT_PENDING: only cleat_request_finish() answers it",
				req->msg.method.p, cleat_strstatus(status));
		return drop_hold(req);
	}
	req->status = status == CLEAT_PENDING ? CLEAT_EMISUSE : status;
	return true;
}

void request_run(cleat_request *req)
{
	const struct server_hooks *h = &req->server->hooks;

	reply_reset(req);
	req->phase = PHASE_RUNNING;
	atomic_store_explicit(&req->deferred, 0, memory_order_relaxed);
	atomic_store_explicit(&req->holds, 1, memory_order_relaxed);
	if (req->blocking && h->work(h->ctx, req) == CLEAT_OK)
		return;
	if (!handler_returned(req, req->handler(req)))
		return;
	if (atomic_load(&req->posted))
		post_done(req); /* what other threads said before comes first */
	else
		request_complete(req);
}

void server_work(cleat_request *req)
{
	/* Cancelled while it waited for a thread: nobody wants the answer any more. */
	int status = cleat_request_cancelled(req) ? CLEAT_ECANCELLED : req->handler(req);

	if (handler_returned(req, status))
		post_done(req);
}

void request_call(cleat_request *req, cleat_handler *fn, bool blocking,
		  void (*settle)(cleat_request *req))
{
	req->handler = fn;
	req->blocking = blocking;
	req->settle = settle;
	request_run(req);
}

void cleat_request_defer(cleat_request *req)
{
	int no = 0;

	if (req && atomic_compare_exchange_strong(&req->deferred, &no, 1))
		atomic_fetch_add(&req->holds, 1);
}

void cleat_request_finish(cleat_request *req, int status)
{
	int yes = 1;

	if (!req)
		return;
	if (!atomic_compare_exchange_strong(&req->deferred, &yes, 2)) {
		if (yes == 2)
			request_misuse(req, MISUSE_FINISHED_TWICE,
				       "cleat_request_finish was called twice for one request");
		else
			request_misuse(req, MISUSE_NOT_DEFERRED,
				       "cleat_request_finish was called without "
				       "cleat_request_defer");
		return;
	}
	req->status = status;
	atomic_store(&req->on_cancel, NULL); /* what it would touch may be gone from here on */
	if (drop_hold(req))
		post_done(req);
}

/* ---- the end ------------------------------------------------------------------------------ */

void request_complete(cleat_request *req)
{
	cleat_connection *c = req->conn;

	c->busy++;
	/* finished, and not answered yet: from here on it is the library that may reply */
	atomic_store_explicit(&req->deferred, 0, memory_order_relaxed);
	if (req->silent || req->answered || c->closed)
		request_end(req);
	else
		req->settle(req);
	c->busy--;
	conn_maybe_free(c);
}

static void close_cancel_fd(cleat_request *req)
{
	const struct server_hooks *h = &req->server->hooks;
	int fd = atomic_load_explicit(&req->cancel_fd, memory_order_relaxed);

	if (fd < 0)
		return;
	atomic_store(&req->cancel_fd, -1);
	h->cancel_fd_close(h->ctx, fd);
}

static void unlink_request(cleat_request *req)
{
	cleat_connection *c = req->conn;

	rpc_table_remove(&c->inflight, &req->inflight);
	if (c->starting == req)
		c->starting = NULL;
	if (req->next)
		req->next->prev = req->prev;
	if (req->prev)
		req->prev->next = req->next;
	else
		c->requests = req->next;
	c->n_requests--;
}

static void back_to_pool(cleat_request *req)
{
	cleat_server *s = req->server;

	if (s->pooled >= POOL_MAX) {
		request_free(req);
		return;
	}
	atomic_store_explicit(&req->deferred, 2, memory_order_relaxed); /* see reply_may() */
	arena_reset(&req->arena);
	buf_reset(&req->content, KEEP_BUF);
	buf_reset(&req->structured, KEEP_BUF);
	req->phase = PHASE_FREE;
	req->next = NULL;
	*s->pool_tail = req;
	s->pool_tail = &req->next;
	s->pooled++;
}

/* Who waits for the end of a request: its batch, and the transport. */
struct waiting {
	cleat_connection *conn;
	struct answers *answers;
	void *tag;
	bool taken, lost;
};

static struct waiting take_waiting(cleat_request *req)
{
	struct waiting w = { .conn = req->conn,
			     .answers = req->answers,
			     .tag = req->tag,
			     .taken = req->taken,
			     .lost = !req->answered && !req->silent };

	req->answers = NULL;
	req->tag = NULL;
	req->taken = false;
	return w;
}

/* Nothing more will be sent because of it. */
static void tell_waiting(const struct waiting *w)
{
	cleat_connection *c = w->conn;

	if (w->answers)
		w->answers->ended(w->answers);
	if (w->taken && c->sink.ended && !c->closed)
		c->sink.ended(c->sink.ctx, w->tag, w->lost);
}

/* Whenever its handler ends. */
void request_let_go(cleat_request *req)
{
	struct waiting w = take_waiting(req);

	req->conn->busy++;
	tell_waiting(&w);
	req->conn->busy--;
}

/* It waits for memory. What was wrong with it may be all that is known of it, and then the transport
 * has not been told yet that something will follow. */
static void stay_unsent(cleat_request *req)
{
	cleat_connection *c = req->conn;

	if (!req->taken && !req->answers) {
		req->taken = true;
		c->taken++;
	}
	conn_retry_later(c);
}

static void stop_listening(cleat_request *req)
{
	struct peer_quota *quota = req->conn->facts.quota;

	req->conn->n_listening--;
	if (quota)
		quota->used -= request_listens_to(req);
}

void request_end(cleat_request *req)
{
	cleat_connection *c = req->conn;
	struct waiting w;

	if (req->counted) {
		req->counted = false;
		c->n_running--;
		req->server->running--;
	}
	if (req->phase == PHASE_LISTENING)
		stop_listening(req);
	if (req->phase == PHASE_UNSENT && !c->closed && !req->silent) {
		stay_unsent(req);
		return;
	}
	close_cancel_fd(req);
	w = take_waiting(req);
	unlink_request(req);
	entry_unref(req->entry);
	back_to_pool(req);
	c->busy++;
	tell_waiting(&w);
	queue_advance(c);
	c->busy--;
	conn_maybe_free(c);
}

/* ---- cancelling --------------------------------------------------------------------------- */

static void tell_handler(cleat_request *req)
{
	const struct server_hooks *h = &req->server->hooks;
	cancel_fn *fn;
	int fd;

	if (atomic_exchange(&req->cancelled, true))
		return;
	fd = atomic_load(&req->cancel_fd);
	if (fd >= 0)
		h->cancel_fd_signal(h->ctx, fd);
	fn = atomic_exchange(&req->on_cancel, NULL);
	if (fn)
		fn(req);
}

void request_cancel(cleat_request *req)
{
	req->silent = true;
	/* The id is free again: the client knows that no answer will come. */
	rpc_table_remove(&req->conn->inflight, &req->inflight);
	switch (req->phase) {
	case PHASE_RUNNING:
		tell_handler(req);
		request_let_go(req);
		break;
	case PHASE_QUEUED:
		queue_leave(req);
		request_end(req);
		break;
	case PHASE_ASKING:
		questions_abandon(req);
		tell_handler(req);
		request_end(req);
		break;
	case PHASE_LISTENING:
	case PHASE_UNSENT: request_end(req); break;
	case PHASE_FREE:
	case PHASE_READING: break;
	}
}

void request_abort(cleat_request *req, int code, const char *message)
{
	enum phase before = req->phase;

	out_error(req, code, NULL, message);
	if (req->phase != PHASE_UNSENT) {
		request_cancel(req);
		return;
	}
	switch (before) {   /* it waits for memory from now on, and for nothing else */
	case PHASE_RUNNING: /* what the handler leaves behind will be the answer */
		req->phase = PHASE_RUNNING;
		tell_handler(req);
		return;
	case PHASE_QUEUED: queue_leave(req); break;
	case PHASE_ASKING:
		questions_abandon(req);
		tell_handler(req);
		break;
	case PHASE_LISTENING: stop_listening(req); break;
	default: break;
	}
	request_end(req);
}

bool cleat_request_cancelled(cleat_request *req)
{
	return req && atomic_load_explicit(&req->cancelled, memory_order_relaxed);
}

void cleat_request_on_cancel(cleat_request *req, void (*fn)(cleat_request *req))
{
	if (!req)
		return;
	atomic_store(&req->on_cancel, fn);
	if (!fn || !atomic_load(&req->cancelled))
		return;
	fn = atomic_exchange(&req->on_cancel, NULL);
	if (fn)
		fn(req);
}

int cleat_request_cancel_fd(cleat_request *req)
{
	const struct server_hooks *h = req ? &req->server->hooks : NULL;
	int fd = req ? atomic_load(&req->cancel_fd) : -1;

	if (fd >= 0 || !req)
		return fd;
	fd = h->cancel_fd_open(h->ctx);
	if (fd < 0)
		return -1;
	atomic_store(&req->cancel_fd, fd);
	if (atomic_load(&req->cancelled))
		h->cancel_fd_signal(h->ctx, fd);
	return fd;
}
