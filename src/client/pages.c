/* client/pages.c - lists, read to their end: all pages as one result.
 *
 * The call stays one call: it sends its request again with the next cursor, and everything that is true
 * of a call (time, cancelling, progress) is true of the whole. A cursor is opaque (2026-07-28
 * server/utilities/pagination); a server that gives one twice would keep us for ever, and is told from
 * one that has many pages by a table of hashes of all that it gave.
 */
#include "client/state.h"

#include "base/mem.h"
#include "json/parse.h"

enum {
	MAX_CURSOR = 64 << 10,
	MAX_MESSAGES = 4 /* all pages but the first have as much text as so many messages */
};

static const struct list {
	const char *method, *member, *capability;
} lists[] = {
	[CLEAT_LIST_TOOLS] = { "tools/list", "tools", "tools" },
	[CLEAT_LIST_RESOURCES] = { "resources/list", "resources", "resources" },
	[CLEAT_LIST_TEMPLATES] = { "resources/templates/list", "resourceTemplates", "resources" },
	[CLEAT_LIST_PROMPTS] = { "prompts/list", "prompts", "prompts" },
};

struct pages {
	const struct list *list;
	unsigned n;          /* pages so far */
	cleat_result **kept; /* as they came, until the last one is there */
	size_t n_kept, cap_kept;
	size_t nodes; /* values and keys of all pages: what is too much for a message is for a list */
	size_t text;       /* bytes of all pages but the first, likewise */
	struct buf cursor; /* of the next page */
	uint32_t *seen;    /* hashes of cursors */
	size_t cap_seen;
	bool fresh;     /* one of them at least is not from the cache */
	bool kept_some; /* one of them is */
	bool restarted; /* a cursor that was kept was refused */
};

bool pages_attach(cleat_call *call, enum cleat_list what)
{
	cleat_client *c = call->client;
	struct pages *p = mem_zalloc(&c->mem, sizeof *p);

	if (!p)
		return false;
	p->list = &lists[what];
	buf_init(&p->cursor, &c->mem, MAX_CURSOR);
	call->pages = p;
	return true;
}

static void forget_pages(struct pages *p)
{
	while (p->n_kept)
		cleat_result_free(p->kept[--p->n_kept]);
	p->nodes = p->text = 0;
}

void pages_free(cleat_call *call)
{
	struct pages *p = call->pages;

	if (!p)
		return;
	forget_pages(p);
	mem_free(&call->client->mem, p->kept);
	buf_done(&p->cursor);
	mem_free(&call->client->mem, p->seen);
	mem_free(&call->client->mem, p);
	call->pages = NULL;
}

bool pages_begun(const cleat_call *call)
{
	return call->pages->n > 0;
}

void pages_cursor(const cleat_call *call, struct jw *w)
{
	if (call->pages->n)
		jw_kv_strn(w, "cursor",
			   (struct str){ buf_size(&call->pages->cursor)
						 ? buf_str(&call->pages->cursor).p
						 : "",
					 buf_size(&call->pages->cursor) });
}

/* ---- one result of many ----------------------------------------------------------------------- */

/* A result of our own making, built with *b; what is built has failed where there is none. */
static cleat_result *begin_result(const cleat_call *call, struct build *b)
{
	cleat_result *r = result_new(&call->client->mem, call->shape);

	build_init(b, r ? &r->arena : NULL);
	b->err.status = r ? CLEAT_OK : CLEAT_ENOMEM;
	return r;
}

/* NULL when out of memory. */
static cleat_result *end_result(cleat_result *r, struct build *b)
{
	const cleat_json *value;

	if (build_finish(b, &value, NULL) != CLEAT_OK) {
		cleat_result_free(r);
		return NULL;
	}
	result_set(r, value);
	return r;
}

/* A server that does not have the capability has an empty list; there is no need to ask. */
bool pages_empty(cleat_call *call)
{
	cleat_client *c = call->client;
	struct pages *p = call->pages;
	cleat_result *r;
	struct build b;

	if (!p || p->n || client_offers(c, p->list->capability))
		return false;
	r = begin_result(call, &b);
	build_format(&b, "{%s: []}", p->list->member);
	call_end(call, end_result(r, &b));
	return true;
}

/* The last page is there: {"tools":[all]}, and what else the first one says. */
static void merge(cleat_call *call)
{
	struct pages *p = call->pages;
	cleat_json_iter it = cleat_json_each(p->kept[0]->raw);
	struct build b;
	cleat_result *r = begin_result(call, &b);

	build_obj(&b);
	while (cleat_json_next(&it)) {
		struct str key = json_str(it.key);

		if (str_eqz(key, "nextCursor") || str_eqz(key, p->list->member))
			continue;
		build_key(&b, key);
		build_value(&b, it.value);
	}
	build_keyz(&b, p->list->member);
	build_arr(&b);
	for (size_t i = 0; i < p->n_kept; i++) {
		it = cleat_json_each(json_member(p->kept[i]->raw, p->list->member));
		while (cleat_json_next(&it))
			build_value(&b, it.value);
	}
	build_end(&b);
	build_end(&b);
	r = end_result(r, &b);
	if (r)
		r->cached = !p->fresh;
	call_end(call, r);
}

/* ---- pages ------------------------------------------------------------------------------------ */

/* Was this cursor given before? Two that collide end the list early once in 2^32 pages. */
static int pages_remember(cleat_client *c, struct pages *p, struct str cursor)
{
	uint32_t hash = str_hash(cursor, 0x9e3779b9u);
	size_t n = p->n;
	int rc;

	for (size_t i = 0; i + 1 < n; i++)
		if (p->seen[i] == hash)
			return CLEAT_EEXIST;
	rc = mem_grow(&c->mem, (void **)&p->seen, &p->cap_seen, n - 1, sizeof *p->seen,
		      SIZE_MAX / sizeof *p->seen);
	if (rc == CLEAT_OK)
		p->seen[n - 1] = hash;
	return rc;
}

static COLD void pages_refuse(cleat_call *call, int status, const char *what)
{
	if (status == CLEAT_ENOMEM)
		call_end(call, NULL);
	else
		call_fail(call, CLEAT_STEP_PROTOCOL, status, "%s", what);
}

/* There is another page, at this cursor. */
static void turn_over(cleat_call *call, struct str cursor)
{
	cleat_client *c = call->client;
	struct pages *p = call->pages;
	int rc;

	if (p->n >= c->opts.max_pages) {
		pages_refuse(call, CLEAT_ELIMIT,
			     "the list has more pages than opts.max_pages allows");
		return;
	}
	if (cursor.n > MAX_CURSOR) {
		pages_refuse(call, CLEAT_EPROTO, "the server's nextCursor is over 64 KiB");
		return;
	}
	rc = pages_remember(c, p, cursor);
	if (rc == CLEAT_EEXIST) {
		pages_refuse(call, CLEAT_EPROTO,
			     "the server's pages go round in circles: a nextCursor came twice");
		return;
	}
	buf_reset(&p->cursor, SIZE_MAX);
	buf_append(&p->cursor, cursor.p, cursor.n);
	if (rc == CLEAT_OK)
		rc = buf_status(&p->cursor);
	if (rc != CLEAT_OK)
		pages_refuse(call, rc, "a page could not be kept");
}

/* Keeps a page; what is wrong with that, or NULL. */
static const char *pages_keep(cleat_call *call, cleat_result *r)
{
	struct pages *p = call->pages;
	const cleat_client *c = call->client;
	const cleat_json *more = p->n == 1 ? r->raw : json_member(r->raw, p->list->member);
	size_t max = json_max_nodes(&c->opts.json);

	p->kept[p->n_kept++] = r;
	p->nodes += json_nodes(more);
	if (p->n > 1)
		p->text += json_text_bytes(more);
	if (p->text / MAX_MESSAGES > c->opts.max_message)
		return "the list has more text than four messages may (opts.max_message)";
	return p->nodes > max ? "the list has more values than opts.json.max_nodes allows" : NULL;
}

/* What is wrong with a page; NULL: nothing. */
static const char *complaint(const struct pages *p, const cleat_json *page)
{
	const cleat_json *next = json_member(page, "nextCursor");

	if (!json_is_array(json_member(page, p->list->member)))
		return "the server's result has no list in it";
	if (next && !json_is_string(next) && cleat_json_type(next) != CLEAT_JSON_NULL)
		return "the server's nextCursor is not a string";
	return NULL;
}

/* Takes `r`. Afterwards the call has ended, or wants the page at p->cursor. */
static void client_pages_take(cleat_call *call, cleat_result *r)
{
	struct pages *p = call->pages;
	const char *wrong = complaint(p, r->raw), *over;
	struct str next = json_str(json_member(r->raw, "nextCursor"));
	cleat_client *c = call->client;

	p->n++;
	p->fresh |= !r->cached;
	p->kept_some |= r->cached;
	if (p->n == 1 && !next.p && !wrong) {
		call_end(call, r); /* the only page: as it came */
		return;
	}
	if (wrong || mem_grow(&c->mem, (void **)&p->kept, &p->cap_kept, p->n_kept, sizeof *p->kept,
			      SIZE_MAX / sizeof *p->kept)) {
		cleat_result_free(r);
		pages_refuse(call, wrong ? CLEAT_EPROTO : CLEAT_ENOMEM, wrong);
		return;
	}
	over = pages_keep(call, r);
	if (over)
		pages_refuse(call, CLEAT_ELIMIT, over);
	else if (next.p)
		turn_over(call, next);
	else
		merge(call);
}

/* The cache keeps every page by itself (2026-07-28 caching, Interaction with Pagination). */
static void set_key(cleat_call *call)
{
	struct pages *p = call->pages;
	struct str cursor = buf_str(&p->cursor);
	const cleat_json *params = NULL;
	struct build b;

	call->cache_key = (struct str){ NULL, 0 };
	build_init(&b, &call->arena);
	build_obj(&b);
	build_keyz(&b, "cursor");
	build_str(&b, cursor.p ? cursor : STR_LIT(""));
	build_end(&b);
	if (!p->n || build_finish(&b, &params, NULL) == CLEAT_OK)
		answer_set_key(call, params);
}

/* Pages that are kept are taken from there; the first that is not is asked for. */
static void go_on(cleat_call *call)
{
	while (call->state != CALL_ENDED) {
		cleat_result *r;

		set_key(call);
		r = answer_cached(call);
		if (!r) {
			call_send(call);
			return;
		}
		client_pages_take(call, r);
	}
}

/* 2026-07-28 caching, Interaction with Pagination: an invalid cursor. What came from the server just now
 * is another matter: there the error is the result. */
bool pages_restart(cleat_call *call)
{
	struct pages *p = call->pages;

	if (!p->n || !p->kept_some || p->restarted)
		return false;
	forget_pages(p);
	p->n = 0;
	p->fresh = p->kept_some = false;
	p->restarted = true;
	go_on(call);
	return true;
}

void pages_take(cleat_call *call, cleat_result *r)
{
	client_pages_take(call, r);
	go_on(call);
}

cleat_call *client_call_list(cleat_client *c, const cleat_call_options *o, enum cleat_list what)
{
	cleat_call *call = client_call_new(c, NULL);

	if (call)
		call = call_begin(call, o, str_of(lists[what].method), NULL);
	if (!call || call->state == CALL_ENDED)
		return call;
	if (pages_attach(call, what))
		go_on(call);
	else
		call_end(call, NULL);
	return call;
}
