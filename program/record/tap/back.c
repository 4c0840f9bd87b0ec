/* program/record/tap/back.c - the requests of tap.h: fetch/fetcher.h, for messages that are passed on as they are.
 *
 * A call is freed when it has ended or was cancelled, but not under a callback that is running.
 */
#include "record/tap/impl.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/mem.h"
#include "fetch/fetcher.h"
#include "run/reach.h"
#include "uri/reference.h"

struct back {
	cleat_allocator mem;
	struct arena memory; /* for what lives as long as it does */
	struct fetcher *client;
	const char *url, *origin, *path;
	struct http_field_list own; /* of the options */
	struct back_call *calls;
};

struct back_call {
	struct back *b;
	struct back_call *next, **at;
	struct fetch *fetch; /* NULL: it has ended, or was cancelled */
	const struct back_user *user;
	void *ctx;
	unsigned busy; /* callbacks that are running */
};

static void back_drop(struct back_call *c)
{
	if (c->busy)
		return;
	*c->at = c->next;
	if (c->next)
		c->next->at = c->at;
	mem_free(&c->b->mem, c);
}

/* ---- answers ----------------------------------------------------------------------------------- */

/* The rest of a callback: should the answer go on? */
static bool leave(struct back_call *c)
{
	bool on = c->fetch != NULL;

	c->busy--;
	if (!on)
		back_drop(c);
	return on;
}

static bool back_on_head(void *ctx, struct fetch *f, int status)
{
	struct back_call *c = ctx;
	const struct http_field *fields;
	size_t n;

	fields = fetch_fields(f, &n);
	c->busy++;
	c->user->head(c->ctx, status, fields, n);
	return leave(c);
}

static bool on_body(void *ctx, struct fetch *f, struct str bytes)
{
	struct back_call *c = ctx;

	(void)f;
	c->busy++;
	c->user->data(c->ctx, bytes.p, bytes.n);
	return leave(c);
}

static void on_end(void *ctx, struct fetch *f, const struct link_failure *why)
{
	struct back_call *c = ctx;

	(void)f;
	c->fetch = NULL;
	c->busy++;
	c->user->done(c->ctx, why ? why->error.message : NULL);
	leave(c);
}

/* ---- requests ---------------------------------------------------------------------------------- */

/* The options' fields, and those of the others that they do not replace. */
static void add_all(const struct back *b, const struct http_field *fields, size_t n,
		    struct http_field_list *to)
{
	for (size_t i = 0; i < b->own.n; i++)
		http_field_add(to, b->own.at[i].name, b->own.at[i].value);
	for (size_t i = 0; i < n; i++) {
		bool own = false;

		for (size_t k = 0; k < b->own.n && !own; k++)
			own = str_same(b->own.at[k].name, fields[i].name);
		if (!own)
			http_field_add(to, fields[i].name, fields[i].value);
	}
}

static struct fetch *back_start(struct back_call *c, struct fetch_options *o, const char *target,
				const struct http_field *fields, size_t n, cleat_error *err)
{
	const struct back *b = c->b;
	struct fetch *f = NULL;
	struct http_field_list all;
	struct arena ar;

	arena_init(&ar, &b->mem, 0);
	all = (struct http_field_list){ .ar = &ar };
	add_all(b, fields, n, &all);
	o->url = arena_printf(&ar, "%s%s", b->origin, target);
	o->fields = all.at;
	o->n_fields = all.n;
	o->verbatim = true;
	o->on_head = back_on_head;
	o->on_body = on_body;
	o->on_end = on_end;
	o->ctx = c;
	if (arena_failed(&ar))
		error_set(err, CLEAT_ENOMEM, "out of memory");
	else
		f = fetch_start(b->client, o, err);
	arena_done(&ar);
	return f;
}

struct back_call *back_send(struct back *b, const char *method, const char *target,
			    const struct http_field *fields, size_t n_fields, const char *body,
			    size_t n, const struct back_user *user, void *ctx, cleat_error *err)
{
	struct fetch_options o = { .method = method, .body = { n ? body : NULL, n } };
	struct back_call *c = mem_zalloc(&b->mem, sizeof *c);

	if (!c) {
		error_set(err, CLEAT_ENOMEM, "out of memory");
		return NULL;
	}
	c->b = b;
	c->user = user;
	c->ctx = ctx;
	c->fetch = back_start(c, &o, target, fields, n_fields, err);
	if (!c->fetch) {
		mem_free(&b->mem, c);
		return NULL;
	}
	c->next = b->calls;
	c->at = &b->calls;
	if (c->next)
		c->next->at = &c->next;
	b->calls = c;
	return c;
}

void back_cancel(struct back_call *call)
{
	struct fetch *f = call ? call->fetch : NULL;

	if (!f)
		return;
	call->fetch = NULL;
	fetch_cancel(f);
	back_drop(call);
}

void back_pause(struct back_call *call, bool pause)
{
	if (call && call->fetch)
		fetch_pause(call->fetch, pause);
}

/* ---- the server -------------------------------------------------------------------------------- */

/* Origin and path of the address. */
static bool split(struct back *b, struct str url)
{
	struct uri u;
	size_t n;

	url = uri_without_fragment(url);
	if (!uri_split(url, 0, &u) || !u.authority.p)
		return false;
	n = (size_t)(u.authority.p + u.authority.n - url.p);
	b->url = arena_strndup(&b->memory, url.p, url.n);
	b->origin = arena_strndup(&b->memory, url.p, n);
	b->path = arena_printf(&b->memory, "%s%.*s", u.path.n ? "" : "/", (int)(url.n - n),
			       url.p + n);
	return true;
}

static int configure(struct back *b, const cleat_client_options *o, cleat_error *err)
{
	struct http_field f;

	b->own.ar = &b->memory;
	if (o->bearer)
		http_field_add(&b->own, STR_LIT("Authorization"),
			       str_of(arena_printf(&b->memory, "Bearer %s", o->bearer)));
	for (size_t i = 0; o->headers && o->headers[i]; i++) {
		if (!http_field_split(str_of(o->headers[i]), &f))
			return error_set(err, CLEAT_EINVAL,
					 "a header has to be \"Name: value\", with a name of "
					 "letters, digits and hyphens");
		http_field_keep(&b->own, f.name, f.value);
	}
	return arena_failed(&b->memory) ? error_set(err, CLEAT_ENOMEM, "out of memory") : CLEAT_OK;
}

static int open_client(struct back *b, cleat_loop *loop, const struct reach *at,
		       const cleat_client_options *o, const char *agent, cleat_error *err)
{
	const struct fetcher_options c = { .loop = loop,
					   .mem = &b->mem,
					   .proxy = o->proxy,
					   .ca_file = o->ca_file,
					   .client_cert = o->client_cert,
					   .client_key = o->client_key,
					   .unix_socket = at->socket ? at->socket : o->unix_socket,
					   .user_agent = agent,
					   .insecure = o->insecure,
					   .no_http2 = o->no_http2 };

	if (!at->http || !split(b, str_of(at->url)))
		return error_set(err, CLEAT_EINVAL,
				 "this is not an HTTP server (http://, https:// or unix:)");
	if (configure(b, o, err) != CLEAT_OK)
		return err->status;
	b->client = fetcher_new(&c, err);
	return b->client ? CLEAT_OK : CLEAT_EINVAL;
}

struct back *back_new(cleat_loop *loop, const cleat_allocator *mem, const char *url,
		      const cleat_client_options *o, const char *agent, cleat_error *err)
{
	cleat_allocator a = mem_resolve(mem);
	struct back *b = mem_zalloc(&a, sizeof *b);
	struct reach at;
	int rc;

	if (!b) {
		error_set(err, CLEAT_ENOMEM, "out of memory");
		return NULL;
	}
	b->mem = a;
	arena_init(&b->memory, &a, 0);
	rc = reach_parse(&at, url, &a, err);
	if (rc == CLEAT_OK)
		rc = open_client(b, loop, &at, o, agent, err);
	reach_done(&at);
	if (rc == CLEAT_OK)
		return b;
	back_free(b);
	return NULL;
}

void back_free(struct back *b)
{
	cleat_allocator mem;

	if (!b)
		return;
	fetcher_free(b->client);
	while (b->calls) {
		b->calls->busy = 0;
		back_drop(b->calls);
	}
	arena_done(&b->memory);
	mem = b->mem;
	mem_free(&mem, b);
}

const char *back_path(const struct back *b)
{
	return b->path;
}

const char *back_url(const struct back *b)
{
	return b->url;
}
