/* program/record/tap/front.c - the server of tap.h: httpd/server.h with its limits, and texts that end with a zero.
 *
 * An exchange is here as long as its user may name it. When its connection fails under it (no memory, or a
 * client that takes nothing), it is `lost`: it takes no more, and `gone` is told from the loop.
 */
#include "record/tap/impl.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/ring.h"
#include "endpoint/policy.h"
#include "http/sse.h"
#include "httpd/server.h"

#include <stdio.h>

enum {
	HEAD_MAX = 64 << 10,
	BODY_MAX = 64 << 20,
	ENOUGH = 256 << 10, /* waits: whoever can should wait, too */
	QUEUE_MAX = 128 << 20,
	STALLED_MS = 10 * 60 * 1000 /* a client may stand still in a debugger */
};

struct exchange {
	struct front_exchange x; /* first */
	struct exchange *next, **at;
	struct front *f;
	struct http_exchange *ex; /* NULL: it is lost */
	struct loop_call lost;
	struct arena memory; /* where the exchange itself is, too */
};

struct front {
	cleat_allocator mem;
	cleat_loop *loop;
	struct front_user user;
	struct httpd *server;
	struct exchange *all;
	struct address address;
	char origin[300], url[900];
};

static struct exchange *exchange_of(struct front_exchange *x)
{
	return (struct exchange *)(void *)x;
}

/* ---- exchanges --------------------------------------------------------------------------------- */

static void front_drop(struct exchange *e)
{
	struct arena memory = e->memory;

	*e->at = e->next;
	if (e->next)
		e->next->at = e->at;
	loop_cancel(e->f->loop, &e->lost);
	arena_done(&memory);
}

static void tell_gone(struct exchange *e)
{
	e->f->user.gone(e->f->user.ctx, &e->x);
	front_drop(e);
}

static void on_lost(struct loop_call *c)
{
	tell_gone(CONTAINER_OF(c, struct exchange, lost));
}

static void lose(struct exchange *e)
{
	http_exchange_abort(e->ex);
	e->ex = NULL;
	loop_defer(e->f->loop, &e->lost);
}

static const char *target_of(struct arena *ar, const struct http_request *r)
{
	if (!r->query.p)
		return arena_strndup(ar, r->path.p, r->path.n);
	return arena_printf(ar, "%.*s?%.*s", STR_ARGS(r->path), STR_ARGS(r->query));
}

/* NULL: out of memory. */
static struct exchange *front_take(struct front *f, struct http_exchange *ex)
{
	const struct http_request *r = http_exchange_request(ex);
	struct exchange *e;
	struct arena ar;

	arena_init(&ar, &f->mem, 0);
	e = arena_zalloc(&ar, sizeof *e);
	if (!e)
		return NULL;
	e->x.method = arena_strndup(&ar, r->method_name.p, r->method_name.n);
	e->x.target = target_of(&ar, r);
	e->x.fields = r->fields;
	e->x.n_fields = r->n_fields;
	e->x.body = r->body.p;
	e->x.n = r->body.n;
	e->f = f;
	e->ex = ex;
	e->lost.fn = on_lost;
	if (arena_failed(&ar)) {
		arena_done(&ar);
		return NULL;
	}
	e->memory = ar;
	e->next = f->all;
	e->at = &f->all;
	if (e->next)
		e->next->at = &e->next;
	f->all = e;
	return e;
}

/* ---- what the server tells --------------------------------------------------------------------- */

static void front_refuse(struct http_exchange *ex, int status, struct str why)
{
	http_exchange_close_after(ex);
	http_exchange_reply(ex, status, STR_LIT("text/plain"), NULL, 0, why);
}

/* Before its body is read. */
static void front_on_head(void *ctx, struct http_exchange *ex)
{
	const struct policy_options local = { .loopback = true };
	const struct http_request *r = http_exchange_request(ex);

	(void)ctx;
	if (policy_refuse(&local, r))
		front_refuse(ex, 403, STR_LIT("this is for programs on this machine\n"));
	else if (r->path.p[0] != '/')
		front_refuse(ex, 400, STR_LIT("this is a server, not a proxy\n"));
}

static void front_on_request(void *ctx, struct http_exchange *ex)
{
	struct front *f = ctx;
	struct exchange *e = front_take(f, ex);

	if (!e) {
		front_refuse(ex, 503, STR_LIT("out of memory\n"));
		return;
	}
	http_exchange_set_data(ex, e);
	f->user.request(f->user.ctx, &e->x);
}

static void front_on_gone(void *ctx, struct http_exchange *ex)
{
	struct exchange *e = http_exchange_data(ex);

	(void)ctx;
	if (e)
		tell_gone(e);
}

static void front_on_drained(void *ctx, struct http_exchange *ex)
{
	struct exchange *e = http_exchange_data(ex);
	struct front *f = ctx;

	if (e && f->user.drained)
		f->user.drained(f->user.ctx, &e->x);
}

/* ---- answers ----------------------------------------------------------------------------------- */

void front_answer(struct front_exchange *x, int status, struct str type,
		  const struct http_field *fields, size_t n_fields, const char *body, size_t n)
{
	struct exchange *e = exchange_of(x);

	if (e->ex)
		http_exchange_reply(e->ex, status, type, fields, n_fields,
				    (struct str){ n ? body : "", n });
	front_drop(e);
}

void front_begin(struct front_exchange *x, int status, struct str type,
		 const struct http_field *fields, size_t n_fields)
{
	struct exchange *e = exchange_of(x);

	x->fields = NULL;
	x->n_fields = 0;
	x->body = "";
	x->n = 0;
	if (e->ex && http_exchange_begin(e->ex, status, type, fields, n_fields) == CLEAT_ENOMEM)
		lose(e);
}

bool front_write(struct front_exchange *x, const char *p, size_t n)
{
	struct exchange *e = exchange_of(x);
	int rc;

	if (!e->ex)
		return false;
	rc = http_exchange_write(e->ex, (struct str){ p, n }, true);
	if (rc == CLEAT_ENOMEM || rc == CLEAT_ELIMIT) {
		lose(e);
		return false;
	}
	return http_exchange_queued(e->ex) < ENOUGH;
}

bool front_event(struct front_exchange *x, const char *message, size_t n)
{
	struct exchange *e = exchange_of(x);
	struct buf text;
	bool room = false;

	buf_init(&text, &e->f->mem, QUEUE_MAX);
	sse_write(&text, &(struct sse_event){ .event = STR_LIT("message"),
					      .data = { message, n },
					      .retry = -1 });
	if (buf_status(&text) == CLEAT_OK)
		room = front_write(x, buf_str(&text).p, buf_size(&text));
	else if (e->ex)
		lose(e);
	buf_done(&text);
	return room;
}

void front_end(struct front_exchange *x)
{
	struct exchange *e = exchange_of(x);

	if (e->ex)
		http_exchange_end(e->ex);
	front_drop(e);
}

void front_break(struct front_exchange *x)
{
	struct exchange *e = exchange_of(x);

	if (e->ex)
		http_exchange_abort(e->ex);
	front_drop(e);
}

/* ---- listening --------------------------------------------------------------------------------- */

static int open_listener(const char *address, struct listener *l, cleat_error *err)
{
	struct address a;
	int rc = address_parse(address, &a, err);

	if (rc == CLEAT_OK && (a.tls || a.fd >= 0))
		rc = error_set(err, CLEAT_EINVAL, "TLS and systemd sockets are not available here");
	if (rc == CLEAT_OK)
		rc = listener_open(&a, NULL, l, err);
	if (rc == CLEAT_OK && !l->address.loopback) {
		listener_close(l);
		rc = error_set(err, CLEAT_EINVAL,
			       "%.80s is an address that others can reach; this is for 127.0.0.1, "
			       "[::1] and unix:",
			       address);
	}
	return rc;
}

static int front_serve(struct front *f, struct listener *l, cleat_error *err)
{
	const struct httpd_options o = {
		.loop = f->loop,
		.mem = &f->mem,
		.service = { .head = front_on_head,
			     .request = front_on_request,
			     .gone = front_on_gone,
			     .drained = front_on_drained,
			     .ctx = f },
		.limits = { .max_head = HEAD_MAX, .max_body = BODY_MAX },
		.write_timeout_ms = STALLED_MS,
		.max_stream_queue = QUEUE_MAX,
	};
	int rc;

	snprintf(f->origin, sizeof f->origin, "%s", l->text);
	f->address = l->address;
	rc = httpd_new(&o, &f->server);
	if (rc != CLEAT_OK)
		return error_set(err, rc, "out of memory");
	return httpd_add(f->server, l, err);
}

struct front *front_new(cleat_loop *loop, const cleat_allocator *mem, const char *address,
			const struct front_user *user, cleat_error *err)
{
	cleat_allocator a = mem_resolve(mem);
	struct listener l = { .fd = -1 };
	struct front *f;

	if (open_listener(address, &l, err) != CLEAT_OK)
		return NULL;
	f = mem_zalloc(&a, sizeof *f);
	if (!f) {
		error_set(err, CLEAT_ENOMEM, "out of memory");
		listener_close(&l);
		return NULL;
	}
	f->mem = a;
	f->loop = loop;
	f->user = *user;
	if (front_serve(f, &l, err) == CLEAT_OK)
		return f;
	listener_close(&l);
	front_free(f);
	return NULL;
}

void front_free(struct front *f)
{
	cleat_allocator mem;

	if (!f)
		return;
	httpd_free(f->server);
	while (f->all) /* those that are lost */
		tell_gone(f->all);
	mem = f->mem;
	mem_free(&mem, f);
}

const char *front_path(const struct front *f)
{
	return f->address.path;
}

const char *front_url(struct front *f, const char *path)
{
	snprintf(f->url, sizeof f->url, "%s%s%s", f->origin, f->address.file[0] ? "#" : "",
		 f->address.path[0] ? f->address.path : path);
	return f->url;
}
