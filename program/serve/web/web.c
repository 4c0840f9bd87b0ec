/* program/serve/web/web.c - a tool that makes an HTTP request: "http" (source.h).
 *
 * What the server answers becomes the result: JSON, text, an image. A status that is not a success is a result
 * that the model can read (isError), with the beginning of the answer. Redirects are followed within the
 * origin only (fetch/fetcher.h). Not here: the request itself (web_request.c).
 */
#include "serve/web/web.h"
#include "base/mem.h"
#include "fetch/fetcher.h"
#include "http/token.h"
#include "serve/argument/inquiry.h"
#include "serve/kit/gate.h"
#include "serve/kit/output.h"
#include "serve/kit/reqmem.h"
#include "serve/kit/tool.h"
#include "serve/web/source.h"
#include "serve/web/web_request.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { WEB_ARENA_MAX = 1 << 20, ERROR_BODY_MAX = 4096, SELECT_DEPTH = 64 };

enum web_as { AS_AUTO, AS_TEXT, AS_JSON };

struct exchange;

struct web {
	cleat_allocator mem;
	struct runtime *rt;
	struct web_request *request;
	struct inquiry *question;
	struct gate *gate;
	struct tool_limits limits;
	struct output output; /* with AS_JSON, and with an output schema */
	struct arena arena;
	const char *select; /* JSON Pointer; NULL: all of it */
	enum web_as as;
	bool ok[600]; /* which statuses are a success */
	struct exchange *first;
};

/* One call. It is memory of its request. */
struct exchange {
	struct exchange *next;
	struct web *web;
	cleat_request *req;
	struct web_message message;
	struct fetch *fetch; /* NULL: waits for its turn, or is over */
	struct loop_timer *timer;
	struct buf body;
	int status;
	char type[128]; /* of its content, without parameters */
};

/* ---- the result ------------------------------------------------------------------------------- */

/* RFC 6901. NULL: there is nothing. */
static const cleat_json *point_to(const cleat_json *v, const char *pointer)
{
	while (v && *pointer == '/') {
		char key[256];
		size_t n = 0;

		for (pointer++; *pointer && *pointer != '/'; pointer++) {
			if (n == sizeof key - 1)
				return NULL;
			if (*pointer == '~' && (pointer[1] == '0' || pointer[1] == '1'))
				key[n++] = *++pointer == '0' ? '~' : '/';
			else
				key[n++] = *pointer;
		}
		key[n] = '\0';
		if (cleat_json_type(v) == CLEAT_JSON_ARRAY) {
			size_t i = 0, used = 0;

			for (; key[used] >= '0' && key[used] <= '9' && used < 9; used++)
				i = i * 10 + (size_t)(key[used] - '0');
			v = used && !key[used] ? cleat_json_at(v, i) : NULL;
		} else {
			v = cleat_json_get(v, key);
		}
	}
	return v;
}

static bool begins(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

/* The status and the beginning of what came with it. */
static int reply_failure(const struct exchange *x)
{
	struct str body = buf_str(&x->body);
	const cleat_allocator mem = reqmem(x->req);
	struct buf text;

	if (body.n > ERROR_BODY_MAX)
		body.n = ERROR_BODY_MAX;
	buf_init(&text, &mem, 4 * ERROR_BODY_MAX);
	if (body.n && output_is_text(body)) {
		buf_appendz(&text, "\n\n");
		output_write_text(&text, output_chomp(body));
		if (buf_size(&x->body) > ERROR_BODY_MAX)
			buf_appendz(&text, "…");
	}
	return cleat_reply_error(x->req, "%s answered with HTTP status %d%.*s",
				 web_request_name(x->web->request), x->status, (int)buf_size(&text),
				 buf_size(&text) ? buf_str(&text).p : "");
}

static int reply_string(cleat_request *req, const cleat_json *v)
{
	size_t n;
	const char *text = cleat_json_strn(v, &n);

	return cleat_reply_textn(req, text, n);
}

static int reply_selected(const struct exchange *x, struct str body)
{
	const struct web *w = x->web;
	cleat_error err = { 0 };
	cleat_doc *doc = cleat_doc_parse(body.p ? body.p : "", body.n, NULL, NULL, &err);
	const cleat_json *v;
	char *text;
	size_t n = 0;
	int rc;

	if (!doc)
		return err.status == CLEAT_ENOMEM
			       ? CLEAT_ENOMEM
			       : cleat_reply_error(
					 x->req, "%s answered with something that is not JSON: %s",
					 web_request_name(w->request), err.message);
	v = point_to(cleat_doc_root(doc), w->select);
	text = v ? cleat_json_print(v, &n) : NULL;
	if (!v)
		rc = cleat_reply_error(x->req, "%s: there is no %s in the answer",
				       web_request_name(w->request), w->select);
	else if (!text)
		rc = CLEAT_ENOMEM;
	else if (w->as != AS_JSON && w->output.kind == OUTPUT_TEXT &&
		 cleat_json_type(v) == CLEAT_JSON_STRING)
		rc = reply_string(x->req, v);
	else
		rc = output_reply(&w->output, x->req, web_request_name(w->request),
				  (struct str){ text, n });
	free(text);
	cleat_doc_free(doc);
	return rc;
}

static int reply(const struct exchange *x)
{
	const struct web *w = x->web;
	struct str body = buf_str(&x->body);

	if (!w->ok[x->status])
		return reply_failure(x);
	if (w->select)
		return reply_selected(x, body);
	if (!body.n && w->as != AS_JSON && w->output.kind == OUTPUT_TEXT)
		return cleat_reply_textf(x->req, "HTTP status %d, no content", x->status);
	if (w->as == AS_AUTO && w->output.kind == OUTPUT_TEXT && !web_is_json(x->type) &&
	    !begins(x->type, "text/") && !output_is_text(body))
		return cleat_reply_blob(x->req, *x->type ? x->type : NULL, body.p, body.n);
	if (w->as == AS_AUTO && begins(x->type, "image/") && strcmp(x->type, "image/svg+xml") != 0)
		return cleat_reply_image(x->req, x->type, body.p, body.n);
	return output_reply(&w->output, x->req, web_request_name(w->request), body);
}

/* ---- one exchange ----------------------------------------------------------------------------- */

static void link_exchange(struct exchange *x)
{
	x->next = x->web->first;
	x->web->first = x;
}

static void unlink_exchange(struct exchange *x)
{
	struct exchange **p = &x->web->first;

	while (*p && *p != x)
		p = &(*p)->next;
	if (*p)
		*p = x->next;
}

static void web_finish(struct exchange *x, int status)
{
	cleat_request *req = x->req;
	struct gate *gate = x->web->gate;

	unlink_exchange(x);
	loop_timer_free(x->timer);
	buf_done(&x->body);
	cleat_request_on_cancel(req, NULL);
	/* The next one first: with the last request its entry may go, and the gate with it. */
	gate_leave(gate);
	cleat_request_finish(req, status);
}

/* "type/subtype": it comes from somebody else's server, and goes to somebody else's client. */
static bool is_type(struct str s)
{
	const char *slash = memchr(s.p, '/', s.n);
	size_t n = slash ? (size_t)(slash - s.p) : 0;

	return slash && http_is_token((struct str){ s.p, n }) &&
	       http_is_token((struct str){ slash + 1, s.n - n - 1 });
}

static bool web_on_head(void *ctx, struct fetch *f, int status)
{
	struct exchange *x = ctx;
	struct str type = fetch_field(f, "Content-Type");
	size_t n = 0;

	x->status = status < 600 ? status : 599;
	for (; n < type.n && n < sizeof x->type - 1 && type.p[n] != ';' && type.p[n] != ' '; n++)
		x->type[n] =
			type.p[n] >= 'A' && type.p[n] <= 'Z' ? (char)(type.p[n] + 32) : type.p[n];
	x->type[n] = '\0';
	if (!is_type(str_of(x->type)))
		x->type[0] = '\0';
	return true;
}

static bool on_body(void *ctx, struct fetch *f, struct str bytes)
{
	struct exchange *x = ctx;

	(void)f;
	buf_append(&x->body, bytes.p, bytes.n);
	if (buf_status(&x->body) == CLEAT_OK)
		return true;
	x->fetch = NULL; /* gone when this returns */
	if (buf_status(&x->body) == CLEAT_ELIMIT)
		cleat_reply_error(x->req, "%s answered with more than %zu bytes",
				  web_request_name(x->web->request), x->web->limits.output_max);
	web_finish(x, buf_status(&x->body) == CLEAT_ELIMIT ? CLEAT_OK : CLEAT_ENOMEM);
	return false;
}

static void on_end(void *ctx, struct fetch *f, const struct link_failure *why)
{
	struct exchange *x = ctx;

	(void)f;
	x->fetch = NULL;
	if (why)
		web_finish(x, cleat_reply_error(x->req, "%s: %s", web_request_name(x->web->request),
						why->error.message));
	else
		web_finish(x, reply(x));
}

static void on_timeout(void *ctx)
{
	struct exchange *x = ctx;

	fetch_cancel(x->fetch);
	x->fetch = NULL;
	web_finish(x, cleat_reply_error(x->req, "%s gave no answer within %llu ms",
					web_request_name(x->web->request),
					(unsigned long long)x->web->limits.timeout_ms));
}

static void web_run(cleat_request *req, void *ctx)
{
	struct exchange *x = ctx;
	struct web *w = x->web;
	cleat_error err = { 0 };
	struct fetcher *client = runtime_http(w->rt, &err);
	struct fetch_options o = { .method = x->message.method,
				   .url = x->message.url,
				   .fields = x->message.fields.at,
				   .n_fields = x->message.fields.n,
				   .body = x->message.body,
				   .on_head = web_on_head,
				   .on_body = on_body,
				   .on_end = on_end,
				   .ctx = x };

	if (client)
		x->fetch = fetch_start(client, &o, &err);
	if (x->fetch && w->limits.timeout_ms) {
		x->timer = loop_timer_new(w->rt->loop, on_timeout, x);
		if (x->timer)
			loop_timer_start(x->timer, w->limits.timeout_ms);
	}
	if (x->fetch && (x->timer || !w->limits.timeout_ms))
		return;
	fetch_cancel(x->fetch);
	web_finish(x, cleat_reply_error(req, "%s: %s", web_request_name(w->request),
					*err.message ? err.message : "out of memory"));
}

static void on_cancel(cleat_request *req)
{
	struct web *w = cleat_request_userdata(req);
	struct exchange *x = w->first;

	while (x && x->req != req)
		x = x->next;
	if (!x)
		return;
	if (x->fetch) {
		fetch_cancel(x->fetch);
		x->fetch = NULL;
		web_finish(x, CLEAT_ECANCELLED);
		return;
	}
	unlink_exchange(x);
	gate_cancel(w->gate, req);
}

static int call(cleat_request *req)
{
	struct web *w = cleat_request_userdata(req);
	const cleat_allocator mem = reqmem(req);
	struct exchange *x;
	const cleat_json *args = NULL;
	cleat_error err = { 0 };
	struct arena ar;
	int rc = inquiry_ask(w->question, req, &args);

	if (rc != CLEAT_OK || !args)
		return rc;
	x = cleat_request_alloc(req, sizeof *x);
	if (!x)
		return CLEAT_ENOMEM;
	*x = (struct exchange){ .web = w, .req = req };
	arena_init(&ar, &mem, SIZE_MAX);
	rc = web_request_render(w->request, args, &ar, &x->message, &err);
	if (rc != CLEAT_OK)
		return rc == CLEAT_ENOMEM ? rc : cleat_reply_error(req, "%s", err.message);
	buf_init(&x->body, &w->mem, w->limits.output_max);
	link_exchange(x);
	cleat_request_on_cancel(req, on_cancel);
	rc = gate_enter(w->gate, req, web_run, x);
	if (rc != CLEAT_PENDING) {
		unlink_exchange(x);
		cleat_request_on_cancel(req, NULL);
	}
	return rc;
}

/* ---- the source ------------------------------------------------------------------------------- */

static void web_free(void *p)
{
	struct web *w = p;

	if (!w)
		return;
	web_request_free(w->request);
	inquiry_free(w->question);
	gate_free(w->gate);
	output_done(&w->output);
	arena_done(&w->arena);
	mem_free(&w->mem, w);
}

/* "ok": [200, "2xx"] */
static bool read_ok(struct draft *b, struct web *w, const cleat_json *list)
{
	cleat_json_iter it = cleat_json_each(list);

	for (int i = 200; !list && i < 300; i++)
		w->ok[i] = true;
	while (cleat_json_next(&it)) {
		const char *text = cleat_json_str(it.value, NULL);
		int64_t one = cleat_json_int(it.value, 0);

		if (text && text[0] >= '1' && text[0] <= '5' && strcmp(text + 1, "xx") == 0) {
			for (int i = 0; i < 100; i++)
				w->ok[(text[0] - '0') * 100 + i] = true;
		} else if (one >= 100 && one < 600) {
			w->ok[one] = true;
		} else {
			conf_problem(b->conf, it.value,
				     "expected an HTTP status such as 200, or \"2xx\"");
			return false;
		}
	}
	return true;
}

static bool read_response(struct draft *b, struct web *w, const cleat_json *node,
			  const cleat_tool *t)
{
	const cleat_json *response = cleat_json_get(cleat_json_get(node, "http"), "response");
	const char *as = cleat_json_str(cleat_json_get(response, "as"), "auto");
	const char *select = cleat_json_str(cleat_json_get(response, "select"), NULL);

	if (!output_read(&w->output, b, &w->arena, node, t))
		return false;
	w->as = strcmp(as, "json") == 0 ? AS_JSON : strcmp(as, "text") == 0 ? AS_TEXT : AS_AUTO;
	if (w->as == AS_JSON && w->output.kind == OUTPUT_TEXT)
		w->output.kind = OUTPUT_STRUCTURED;
	if (select && *select && *select != '/') {
		conf_problem(b->conf, cleat_json_get(response, "select"),
			     "expected a JSON Pointer such as \"/data/items\"");
		return false;
	}
	w->select = select && *select ? arena_strdup(&w->arena, select) : NULL;
	return read_ok(b, w, cleat_json_get(response, "ok"));
}

/* What is only looked at, models may call without asking. */
static void hint(const cleat_json *node, cleat_tool *t)
{
	const char *method = cleat_json_str(
		cleat_json_get(cleat_json_get(node, "http"), "method"),
		cleat_json_get(cleat_json_get(node, "http"), "body") ? "POST" : "GET");

	if (t->read_only == CLEAT_UNSET &&
	    (strcasecmp(method, "GET") == 0 || strcasecmp(method, "HEAD") == 0))
		t->read_only = CLEAT_YES;
	if (t->open_world == CLEAT_UNSET)
		t->open_world = CLEAT_YES;
}

void web_add(struct draft *b, const cleat_json *at, const char *name, const cleat_json *node)
{
	cleat_tool t = { 0 };
	size_t before = conf_problems(b->conf);
	struct web *w;

	if (!tool_describe(b, name, node, &t))
		return;
	w = mem_zalloc(&b->rt->mem, sizeof *w);
	if (!w) {
		conf_problem(b->conf, at, "out of memory");
		return;
	}
	w->mem = b->rt->mem;
	w->rt = b->rt;
	arena_init(&w->arena, &w->mem, WEB_ARENA_MAX);
	w->arena.first = 256; /* there may be a thousand of them */
	w->limits = tool_limits(b, node);
	w->gate = gate_new(&w->mem, w->limits.concurrency);
	w->request = web_request_new(b, cleat_json_get(node, "http"), tool_arguments(b, node, &t));
	if (!w->request || !w->gate || !read_response(b, w, node, &t) || arena_failed(&w->arena)) {
		if (conf_problems(b->conf) == before)
			conf_problem(b->conf, at, "out of memory");
		web_free(w);
		return;
	}
	w->question = inquiry_new(b, node, &t, false);
	hint(node, &t);
	t.call = call;
	t.userdata = w;
	t.destroy = web_free;
	draft_tool(b, at, draft_recipe(b, node), &t);
}

void source_web(struct draft *b, const char *name, const cleat_json *node)
{
	web_add(b, node, name, node);
}
