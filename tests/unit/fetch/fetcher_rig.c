/* fetcher_rig.c - see fetcher_rig.h. */
#include "unit/fetch/fetcher_rig.h"

#include "unit/http/field_lines.h"

#include <sched.h>

void web_open(struct rig *r, struct fetcher_options o)
{
	cleat_error e = { 0 };

	memset(r, 0, sizeof *r);
	alarm(120); /* a test that waits for what never comes ends here */
	cleat_loop_free(cleat_loop_new(NULL)); /* libuv keeps two descriptors of the first */
	r->fds = open_fds();
	fail_alloc_init(&r->fa, 0, false);
	r->l = cleat_loop_new(&r->fa.hook);
	assert_non_null(r->l);
	origin_open(&r->o, o.unix_socket);
	r->opts = o;
	r->opts.loop = r->l;
	r->opts.mem = &r->fa.hook;
	r->h = fetcher_new(&r->opts, &e);
	if (!r->h)
		fail_msg("%s", e.message);
}

void web_close(struct rig *r)
{
	fetcher_free(r->h);
	origin_close(&r->o);
	cleat_loop_free(r->l);
	assert_int_equal(r->fa.live, 0);
	/* A server, or a resolver, in another thread closes its end when it notices; the alarm ends
	 * this. */
	while (open_fds() > r->fds)
		sched_yield();
	assert_int_equal(open_fds(), r->fds);
	alarm(0);
}

void web_step(struct rig *r)
{
	origin_turn(&r->o);
	cleat_loop_step(r->l, 1);
}

void web_turn(struct rig *r)
{
	for (int i = 0; i < 6; i++)
		web_step(r);
}

/* ---- what became of a fetch -------------------------------------------------------------------- */

void got_free_client(struct rig *r)
{
	struct fetcher *h = r->h;

	r->h = NULL;
	fetcher_free(h);
}

static void got_cancel(struct fetch **f)
{
	if (f && *f) {
		fetch_cancel(*f);
		*f = NULL;
	}
}

static bool got_head(void *ctx, struct fetch *f, int status)
{
	struct got *g = ctx;
	struct str type = fetch_field(f, "content-type");

	assert_ptr_equal(f, g->f);
	assert_int_equal(g->heads++, 0);
	assert_int_equal(g->bodies, 0);
	assert_int_equal(fetch_status(f), status);
	g->status = status;
	snprintf(g->type, sizeof g->type, "%.*s", STR_ARGS(type));
	got_cancel(g->cancel_in_head);
	if (g->free_in_head)
		got_free_client(g->r);
	return !g->stop_in_head && g->f && !g->free_in_head;
}

static bool got_body(void *ctx, struct fetch *f, struct str bytes)
{
	struct got *g = ctx;

	assert_ptr_equal(f, g->f);
	assert_int_equal(g->heads, 1);
	assert_int_equal(g->ends, 0);
	g->bodies++;
	for (size_t i = 0; i < bytes.n && g->n + i < sizeof g->body - 1; i++)
		g->body[g->n + i] = bytes.p[i];
	g->n += bytes.n;
	if (g->pause_in_body)
		fetch_pause(f, true);
	got_cancel(g->cancel_in_body);
	if (g->free_in_body)
		got_free_client(g->r);
	return !g->stop_in_body && g->f && !g->free_in_body;
}

static void got_end(void *ctx, struct fetch *f, const struct link_failure *why)
{
	struct got *g = ctx;

	assert_ptr_equal(f, g->f);
	assert_int_equal(g->ends++, 0);
	g->ok = !why;
	if (why) {
		g->why = *why;
		assert_true(why->error.status < 0);
		assert_true(why->error.message[0] != '\0');
		assert_int_not_equal(why->step, CLEAT_STEP_NONE);
	}
	g->f = NULL;
	fetch_cancel(f); /* harmless */
	got_cancel(g->cancel_in_end);
	if (g->free_in_end)
		got_free_client(g->r);
}

const char *web_url(const struct rig *r, const char *path)
{
	static char url[8][512];
	static size_t next;

	next = (next + 1) % 8;
	if (r->o.port)
		snprintf(url[next], sizeof url[0], "http://127.0.0.1:%u%s", r->o.port, path);
	else
		snprintf(url[next], sizeof url[0], "http://localhost%s", path);
	return url[next];
}

void set_fields(struct fetch_options *o, const char *const *lines)
{
	static struct http_field fields[300];

	o->fields = fields;
	o->n_fields = field_lines(fields, CLEAT_COUNT(fields), lines);
}

/* ---- requests ----------------------------------------------------------------------------------- */

struct got *got_new(struct rig *r, struct fetch_options *o, const char *const *fields)
{
	struct got *g = calloc(1, sizeof *g);

	assert_non_null(g);
	g->r = r;
	if (!o->method)
		o->method = "GET";
	if (!o->url || o->url[0] == '/')
		o->url = web_url(r, o->url ? o->url : "/");
	if (fields)
		set_fields(o, fields);
	o->on_head = got_head;
	o->on_body = got_body;
	o->on_end = got_end;
	o->ctx = g;
	return g;
}

struct got *web_start(struct rig *r, struct fetch_options o, const char *const *fields)
{
	struct got *g = got_new(r, &o, fields);
	cleat_error e = { 0 };

	g->f = fetch_start(r->h, &o, &e);
	if (!g->f)
		fail_msg("%s", e.message);
	assert_int_equal(g->heads + g->bodies + g->ends, 0); /* never from in there */
	return g;
}

struct got *start_get(struct rig *r, const char *path)
{
	return START(r, .url = path);
}

struct got *start_post(struct rig *r, const char *path, struct str body)
{
	static const char *const type[] = { "Content-Type: application/json", NULL };

	return web_start(r, (struct fetch_options){ .method = "POST", .url = path, .body = body },
			 type);
}

struct got *wait_end(struct got *g)
{
	WAIT_FOR(g->r, g->ends);
	return g;
}

struct got *do_get(struct rig *r, const char *path)
{
	return wait_end(start_get(r, path));
}

struct got *do_post(struct rig *r, const char *path, struct str body)
{
	return wait_end(start_post(r, path, body));
}

struct got *get_url(struct rig *r, const char *url, struct str body)
{
	return wait_end(START(r, .method = body.n ? "POST" : "GET", .url = url, .body = body));
}

void got_ok(struct got *g, int status, const char *body)
{
	if (!g->ok)
		fail_msg("%s", g->why.error.message);
	assert_int_equal(g->ends, 1);
	assert_int_equal(g->status, status);
	assert_string_equal(g->body, body);
	free(g);
}

void got_failure(struct got *g, enum cleat_step step, int status, const char *words)
{
	assert_int_equal(g->ends, 1);
	assert_false(g->ok);
	if (!strstr(g->why.error.message, words))
		fail_msg("\"%s\" is not in \"%s\"", words, g->why.error.message);
	assert_int_equal(g->why.step, step);
	assert_int_equal(g->why.error.status, status);
	free(g);
}

void got_silence(struct got *g, size_t heads)
{
	web_turn(g->r);
	assert_int_equal(g->ends, 0);
	assert_int_equal(g->heads, heads);
	free(g);
}

void web_alive(struct rig *r)
{
	struct origin *o = &r->o;

	o->script = NULL;
	o->answer = STR_LIT(OK_HELLO);
	o->slice = o->cut = 0;
	o->pump = (struct str){ 0 };
	o->after = KEEP;
	o->silent = o->at_once = false;
	got_ok(do_get(r, "/alive"), 200, "hello");
}
