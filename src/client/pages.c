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
	unsigned n;       /* pages so far */
	struct buf items; /* of all pages but the first: elements of an array */
	size_t nodes; /* values and keys of all pages: what is too much for a message is for a list */
	cleat_result *first; /* its items come before these */
	struct buf cursor;   /* of the next page */
	uint32_t *seen;      /* hashes of cursors */
	size_t cap_seen;
	bool fresh;     /* one of them at least is not from the cache */
	bool kept;      /* one of them is */
	bool restarted; /* a cursor that was kept was refused */
};

bool pages_attach(cleat_call *call, enum cleat_list what)
{
	cleat_client *c = call->client;
	struct pages *p = mem_zalloc(&c->mem, sizeof *p);

	if (!p)
		return false;
	p->list = &lists[what];
	buf_init(&p->items, &c->mem,
		 c->opts.max_message < SIZE_MAX / 2 / MAX_MESSAGES
			 ? c->opts.max_message * MAX_MESSAGES
			 : SIZE_MAX / 2);
	buf_init(&p->cursor, &c->mem, MAX_CURSOR);
	call->pages = p;
	return true;
}

void pages_free(cleat_call *call)
{
	struct pages *p = call->pages;

	if (!p)
		return;
	buf_done(&p->items);
	buf_done(&p->cursor);
	cleat_result_free(p->first);
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

static bool parse_into(cleat_call *call, cleat_result *r, const struct buf *text)
{
	/* What was let in piece by piece, and counted, is let in as a whole. */
	static const cleat_json_limits all = { .max_depth = 1024, .max_nodes = SIZE_MAX };
	const cleat_json *value;

	if (buf_status(text) != CLEAT_OK ||
	    json_parse(&r->arena, buf_str(text), &all, &value, NULL) != CLEAT_OK)
		return false;
	r->shape = call->shape;
	result_set(r, value);
	return true;
}

/* A server that does not have the capability has an empty list; there is no need to ask. */
bool pages_empty(cleat_call *call)
{
	cleat_client *c = call->client;
	struct buf text = BUF_INIT(&c->mem, MAX_CURSOR);
	struct pages *p = call->pages;
	cleat_result *r;
	struct jw w;

	if (!p || p->n || client_offers(c, p->list->capability))
		return false;
	r = result_new(&c->mem, call->shape);
	jw_init(&w, &text);
	jw_obj(&w);
	jw_key(&w, p->list->member);
	jw_rawz(&w, "[]");
	jw_obj_end(&w);
	if (r && !parse_into(call, r, &text)) {
		cleat_result_free(r);
		r = NULL;
	}
	buf_done(&text);
	call_end(call, r);
	return true;
}

static void put_items(struct jw *w, const cleat_json *items)
{
	cleat_json_iter it = cleat_json_each(items);

	while (cleat_json_next(&it))
		jw_value(w, it.value);
}

/* The last page is there: {"tools":[all]}, and what else the first one says. */
static void merge(cleat_call *call)
{
	cleat_client *c = call->client;
	struct pages *p = call->pages;
	struct buf text = BUF_INIT(&c->mem, SIZE_MAX / 2);
	cleat_json_iter it = cleat_json_each(p->first->raw);
	cleat_result *r = result_new(&c->mem, call->shape);
	struct jw w;

	jw_init(&w, &text);
	jw_obj(&w);
	while (cleat_json_next(&it)) {
		struct str key = json_str(it.key);

		if (str_eqz(key, "nextCursor") || str_eqz(key, p->list->member))
			continue;
		jw_keyn(&w, key);
		jw_value(&w, it.value);
	}
	jw_key(&w, p->list->member);
	jw_arr(&w);
	put_items(&w, json_member(p->first->raw, p->list->member));
	if (buf_size(&p->items))
		jw_splice(&w, buf_str(&p->items), true);
	jw_arr_end(&w);
	jw_obj_end(&w);
	/* not three times in memory while it is read */
	buf_done(&p->items);
	cleat_result_free(p->first);
	p->first = NULL;
	if (r && !parse_into(call, r, &text)) {
		cleat_result_free(r);
		r = NULL;
	}
	buf_done(&text);
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
			     "the server's pages go round in a circle: a nextCursor came twice");
		return;
	}
	buf_reset(&p->cursor, SIZE_MAX);
	buf_append(&p->cursor, cursor.p, cursor.n);
	if (rc == CLEAT_OK)
		rc = buf_status(&p->cursor);
	if (rc != CLEAT_OK)
		pages_refuse(call, rc, "a page could not be kept");
}

static bool too_many(cleat_call *call, const cleat_json *more)
{
	size_t n = json_nodes(more), max = json_max_nodes(&call->client->opts.json);

	if (n > max || call->pages->nodes > max - n)
		return true;
	call->pages->nodes += n;
	return false;
}

static int pages_add(struct pages *p, const cleat_json *items)
{
	struct jw w;

	jw_init(&w, &p->items);
	w.comma = buf_size(&p->items) > 0;
	put_items(&w, items);
	return buf_status(&p->items);
}

/* What is wrong with a page; NULL: nothing. */
static const char *complaint(const struct pages *p, const cleat_json *page)
{
	const cleat_json *next = json_member(page, "nextCursor");

	if (!json_is_array(json_member(page, p->list->member)))
		return "the server's result has no list in it";
	if (next && !json_is_string(next) && cleat_json_type(next) != CLEAT_JSON_NULL)
		return "the server's nextCursor is no string";
	return NULL;
}

/* Takes `r`. Afterwards the call has ended, or wants the page at p->cursor. */
static void client_pages_take(cleat_call *call, cleat_result *r)
{
	struct pages *p = call->pages;
	const char *wrong = complaint(p, r->raw);
	struct str next = json_str(json_member(r->raw, "nextCursor"));
	int rc = CLEAT_OK;

	p->n++;
	p->fresh |= !r->cached;
	p->kept |= r->cached;
	if (p->n == 1 && !next.p && !wrong) {
		call_end(call, r); /* the only page: as it came */
		return;
	}
	if (p->n == 1)
		p->first = r;
	else if (!wrong)
		rc = pages_add(p, json_member(r->raw, p->list->member));
	if (wrong)
		pages_refuse(call, CLEAT_EPROTO, wrong);
	else if (rc != CLEAT_OK)
		pages_refuse(call, rc,
			     "the list has more text than four messages may (opts.max_message)");
	else if (too_many(call, p->n == 1 ? r->raw : json_member(r->raw, p->list->member)))
		pages_refuse(call, CLEAT_ELIMIT,
			     "the list has more values than opts.json.max_nodes allows");
	else if (next.p)
		turn_over(call, next);
	else
		merge(call);
	if (r != p->first)
		cleat_result_free(r);
}

/* The cache keeps every page by itself (2026-07-28 caching, Interaction with Pagination). */
static void set_key(cleat_call *call)
{
	struct pages *p = call->pages;
	struct buf text = BUF_INIT(&call->client->mem, 8 * MAX_CURSOR);
	const cleat_json *params = NULL;
	struct jw w;

	jw_init(&w, &text);
	jw_obj(&w);
	pages_cursor(call, &w);
	jw_obj_end(&w);
	call->cache_key = (struct str){ NULL, 0 };
	if (p->n && (buf_status(&text) != CLEAT_OK ||
		     json_parse(&call->arena, buf_str(&text), NULL, &params, NULL) != CLEAT_OK))
		params = NULL;
	if (!p->n || params)
		answer_set_key(call, params);
	buf_done(&text);
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

	if (!p->n || !p->kept || p->restarted)
		return false;
	cleat_result_free(p->first);
	p->first = NULL;
	buf_reset(&p->items, SIZE_MAX);
	p->n = 0;
	p->nodes = 0;
	p->fresh = p->kept = false;
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
	cleat_call *call = call_begin(c, o, str_of(lists[what].method), (struct str){ NULL, 0 });

	if (!call || call->state == CALL_ENDED)
		return call;
	if (pages_attach(call, what))
		go_on(call);
	else
		call_end(call, NULL);
	return call;
}
