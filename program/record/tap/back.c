/* program/record/tap/back.c - the requests of tap.h: fetch/fetcher.h, with the head of an answer as a list.
 *
 * A call is freed when it has ended or was cancelled, but not under a callback that is running.
 */
#include "record/tap/impl.h"

#include "base/error.h"
#include "base/mem.h"
#include "fetch/fetcher.h"
#include "run/reach.h"
#include "uri/reference.h"

#include <strings.h>

enum { FIELDS_MAX = 200 }; /* fetch/fetcher.h: no header has more lines */

struct back {
	cleat_allocator mem;
	struct arena memory; /* for what lives as long as it does */
	struct fetcher *client;
	const char *url, *origin, *path;
	const char *const *own; /* lines of the options */
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
	struct http_field fields[FIELDS_MAX];
	struct back_call *c = ctx;
	const struct tap_field *list;
	struct arena ar;
	size_t at = 0, n = 0;

	while (n < CLEAT_COUNT(fields) && fetch_next_header(f, &at, &fields[n]))
		n++;
	arena_init(&ar, &c->b->mem, 0);
	list = field_list(&ar, fields, n);
	c->busy++;
	if (arena_failed(&ar)) {
		c->fetch = NULL;
		c->user->done(c->ctx, "out of memory");
	} else {
		c->user->head(c->ctx, status, list);
	}
	arena_done(&ar);
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

static bool is_own(const struct back *b, const char *line)
{
	size_t n = strcspn(line, ":");

	for (size_t i = 0; b->own[i]; i++)
		if (strcspn(b->own[i], ":") == n && strncasecmp(b->own[i], line, n) == 0)
			return true;
	return false;
}

/* The options' lines, and those of the others that they do not replace. */
static const char *const *all_lines(const struct back *b, struct arena *ar,
				    const char *const *lines)
{
	size_t n = 0, k = 0;
	const char **all;

	while (b->own[n])
		n++;
	for (size_t i = 0; lines && lines[i]; i++)
		n++;
	all = arena_zalloc(ar, (n + 1) * sizeof *all);
	for (size_t i = 0; all && b->own[i]; i++)
		all[k++] = b->own[i];
	for (size_t i = 0; all && lines && lines[i]; i++)
		if (!is_own(b, lines[i]))
			all[k++] = lines[i];
	return all;
}

static struct fetch *back_start(struct back_call *c, struct fetch_options *o, const char *target,
				const char *const *lines, cleat_error *err)
{
	const struct back *b = c->b;
	struct fetch *f = NULL;
	struct arena ar;

	arena_init(&ar, &b->mem, 0);
	o->url = arena_printf(&ar, "%s%s", b->origin, target);
	o->headers = all_lines(b, &ar, lines);
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
			    const char *const *lines, const char *body, size_t n,
			    const struct back_user *user, void *ctx, cleat_error *err)
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
	c->fetch = back_start(c, &o, target, lines, err);
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

static void configure(struct back *b, const cleat_client_options *o)
{
	size_t n = 0, k = 0;
	const char **own;

	while (o->headers && o->headers[n])
		n++;
	own = arena_zalloc(&b->memory, (n + 2) * sizeof *own);
	b->own = own;
	if (own && o->bearer)
		own[k++] = arena_printf(&b->memory, "Authorization: Bearer %s", o->bearer);
	for (size_t i = 0; own && i < n; i++)
		own[k++] = arena_strdup(&b->memory, o->headers[i]);
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
				 "this is no HTTP server (http://, https:// or unix:)");
	configure(b, o);
	if (arena_failed(&b->memory))
		return error_set(err, CLEAT_ENOMEM, "out of memory");
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
