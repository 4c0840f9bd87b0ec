/* fuzz/fuzz_link_http.c - the HTTP link between a role and a server that both do what the input says, in
 * any order. The HTTP client below it (fetch/fetcher.h) is this file: no network, no libcurl.
 *
 * Input: lines, of which the first letter says what happens; see play(). A '|' in data is a line end.
 * Invariants: nothing is told from inside an operation; a tag is told for good once; what is forgotten is
 * not told; after close() `closed` comes; nothing leaks, and no fetch is used after its end.
 */
#include "base/mem.h"
#include "fetch/fetcher.h"
#include "link/links.h"
#include "require.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FETCHES = 16, TAGS = 10, WAITS = 3, STEPS = 2000 };

/* ---- memory that fails ------------------------------------------------------------------------ */

static size_t countdown, live;

static bool fails(void)
{
	return countdown && --countdown == 0;
}

static void *get(void *ctx, size_t n)
{
	void *p = fails() ? NULL : malloc(n);

	(void)ctx;
	live += p != NULL;
	return p;
}

static void *again(void *ctx, void *p, size_t old, size_t n)
{
	void *q = n > old && fails() ? NULL : realloc(p, n);

	(void)ctx;
	live += q && !p;
	return q;
}

static void give(void *ctx, void *p)
{
	(void)ctx;
	live -= p != NULL;
	free(p);
}

static const cleat_allocator memory = { get, again, give, NULL };

/* ---- the HTTP client -------------------------------------------------------------------------- */

struct fetcher {
	struct fetch *fetches[FETCHES];
	bool freed;
	unsigned busy;
};

struct fetch {
	struct fetcher *h;
	struct fetch_options o;
	int status;
	const char *type;
	struct str session, after, challenge;
	bool in_event, dead;
};

static struct fetcher *client; /* the one there is */

struct fetcher *fetcher_new(const struct fetcher_options *o, cleat_error *err)
{
	(void)o;
	(void)err;
	client = calloc(1, sizeof *client);
	require(client);
	return client;
}

static void fetch_free(struct fetch *f)
{
	for (size_t i = 0; i < FETCHES; i++)
		if (f->h->fetches[i] == f)
			f->h->fetches[i] = NULL;
	f->dead = true;
	if (!f->in_event)
		free(f);
}

void fetcher_free(struct fetcher *h)
{
	for (size_t i = 0; h && i < FETCHES; i++)
		if (h->fetches[i])
			fetch_free(h->fetches[i]);
	if (h && h->busy)
		h->freed = true;
	else
		free(h);
	client = NULL;
}

struct str fetch_field(const struct fetch *f, const char *name)
{
	require(!f->dead);
	if (strcmp(name, "content-type") == 0)
		return str_of(f->type);
	if (strcmp(name, "mcp-session-id") == 0)
		return f->session;
	if (strcmp(name, "retry-after") == 0)
		return f->after;
	return f->challenge;
}

int fetch_status(const struct fetch *f)
{
	return f->status;
}

struct fetch *fetch_start(struct fetcher *h, const struct fetch_options *o, cleat_error *err)
{
	struct fetch *f = fails() ? NULL : calloc(1, sizeof *f);
	size_t i = 0;

	for (size_t k = 0; k < o->n_fields; k++)
		require(o->fields[k].name.n && http_is_field_value(o->fields[k].value));
	while (i < FETCHES && h->fetches[i])
		i++;
	if (!f || i == FETCHES) {
		free(f);
		*err = (cleat_error){ .status = CLEAT_ENOMEM };
		return NULL;
	}
	f->h = h;
	f->o = *o;
	h->fetches[i] = f;
	return f;
}

void fetch_cancel(struct fetch *f)
{
	if (!f)
		return;
	require(!f->dead);
	fetch_free(f);
}

void fetch_pause(struct fetch *f, bool pause)
{
	(void)f;
	(void)pause;
}

/* ---- the role --------------------------------------------------------------------------------- */

struct role {
	struct link *link;
	cleat_loop *loop;
	bool calling;        /* an operation runs: nothing may be told */
	bool open[TAGS + 1]; /* the tag is under way */
	bool closed, again;  /* `again`: acts when it is told something */
	unsigned events;
};

static struct role role;

static void told(void *tag, bool last)
{
	size_t i = (uintptr_t)tag;

	require(!role.calling && i <= TAGS);
	require(!tag || role.open[i]);
	if (last)
		role.open[i] = false;
	role.events++;
}

/* A number where the link wants a pointer that it gives back. */
static void *tag_of(size_t i)
{
	return (void *)(uintptr_t)i; /* NOLINT(performance-no-int-to-ptr) */
}

static void forget(size_t i)
{
	role.calling = true;
	role.link->ops->forget(role.link, tag_of(i));
	role.calling = false;
	role.open[i] = false;
}

/* One that the link has to know as such, too. */
static bool is_response(struct str text)
{
	return str_eqz(text, "{\"result\":1}");
}

static void on_message(void *ctx, struct str text, void *tag, int status)
{
	(void)ctx;
	(void)status;
	require(text.p && text.n);
	told(tag, tag && is_response(text));
	if (role.again && tag && text.p[0] == 'F')
		forget((uintptr_t)tag);
}

static void on_accepted(void *ctx, void *tag)
{
	(void)ctx;
	told(tag, true);
}

static void on_failed(void *ctx, void *tag, const struct link_failure *why)
{
	(void)ctx;
	require(tag && why->error.status);
	told(tag, true);
	if (role.again && why->session_lost)
		role.link->ops->reset(role.link);
}

static void on_down(void *ctx, const struct link_failure *why)
{
	(void)ctx;
	require(why->error.status != CLEAT_OK);
	told(NULL, false);
	memset(role.open, 0, sizeof role.open);
	if (role.again)
		role.link->ops->open(role.link);
}

static void on_up(void *ctx, const struct link_failure *why)
{
	(void)ctx;
	(void)why;
	told(NULL, false);
}

static void on_gap(void *ctx)
{
	(void)ctx;
	told(NULL, false);
}

static void on_oversize(void *ctx, void *tag, size_t limit)
{
	(void)ctx;
	(void)limit;
	told(tag, true);
}

static void on_note(void *ctx, int level, const char *text)
{
	(void)ctx;
	(void)level;
	require(text[0]);
	told(NULL, false);
}

static void on_closed(void *ctx)
{
	(void)ctx;
	require(!role.closed);
	told(NULL, false);
	role.closed = true;
}

static uint32_t on_random(void *ctx)
{
	(void)ctx;
	return 0;
}

static void send_message(enum link_kind kind, size_t i, bool modern, bool initialize)
{
	const struct http_field field = { STR_LIT("Mcp-Param-X"), STR_LIT("\xFF\n") };
	const struct link_message m = { .text = STR_LIT("{}"),
					.kind = kind,
					.tag = tag_of(i),
					.rev = modern ? REV_2026_07_28 : REV_2025_11_25,
					.modern = modern,
					.initialize = initialize,
					.method = STR_LIT("ping"),
					.name = STR_LIT(" "),
					.fields = &field,
					.n_fields = 1 };

	if (i && role.open[i])
		return;
	role.calling = true;
	if (role.link->ops->send(role.link, &m) == CLEAT_OK && kind != LINK_ANSWER)
		role.open[i] = true;
	role.calling = false;
}

/* ---- the server ------------------------------------------------------------------------------- */

static struct fetch *pick(char c)
{
	return client ? client->fetches[(size_t)(unsigned char)c % FETCHES] : NULL;
}

static void after_event(struct fetcher *h, struct fetch *f, bool on)
{
	f->in_event = false;
	if (f->dead)
		free(f);
	else if (!on)
		fetch_free(f);
	if (--h->busy == 0 && h->freed)
		free(h);
}

/* "hN200e...": status, type, and the other fields' text */
static void head(struct fetch *f, const char *p, size_t n)
{
	static const char *const types[] = { "text/event-stream", "application/json", "text/html",
					     NULL };
	struct fetcher *h = f->h;
	int status = 0;

	for (size_t i = 0; i < 3 && i < n; i++)
		status = status * 10 + (p[i] >= '0' && p[i] <= '9' ? p[i] - '0' : 0);
	if (f->status || n < 4 || status < 200 || status > 599)
		return;
	f->status = status;
	f->type = types[p[3] == 'e' ? 0 : p[3] == 'j' ? 1 : p[3] == 't' ? 2 : 3];
	f->session = f->after = f->challenge = (struct str){ n > 4 ? p + 4 : NULL, n - 4 };
	f->in_event = true;
	h->busy++;
	after_event(h, f, f->o.on_head(f->o.ctx, f, status));
}

static void body(struct fetch *f, const char *p, size_t n)
{
	struct fetcher *h = f->h;
	char *copy = calloc(n + 1, 1);

	require(copy);
	for (size_t i = 0; i < n; i++)
		copy[i] = p[i] == '|' ? '\n' : p[i];
	f->in_event = true;
	h->busy++;
	after_event(h, f, f->o.on_body(f->o.ctx, f, (struct str){ copy, n }));
	free(copy);
}

static void end(struct fetch *f, bool well)
{
	struct link_failure why = { .step = CLEAT_STEP_EXCHANGE, .error = { .status = CLEAT_EIO } };
	struct fetcher *h = f->h;

	f->in_event = true;
	h->busy++;
	f->o.on_end(f->o.ctx, f, well && f->status ? NULL : &why);
	after_event(h, f, false);
}

/* ---- play ------------------------------------------------------------------------------------- */

static void play_role(char what, size_t tag)
{
	const struct link_ops *ops = role.link->ops;

	role.calling = true;
	switch (what) {
	case 'l': ops->listen(role.link); break;
	case 'z': ops->reset(role.link); break;
	case 'b': ops->fall_back(role.link); break;
	case 'o': ops->open(role.link); break;
	case 'c':
		ops->close(role.link);
		memset(role.open, 0, sizeof role.open);
		break;
	case 'r': send_message(LINK_REQUEST, tag, false, false); break;
	case 'm': send_message(LINK_REQUEST, tag, true, false); break;
	case 'i': send_message(LINK_REQUEST, tag, false, true); break;
	case 'n': send_message(LINK_NOTICE, tag, false, false); break;
	case 'a': send_message(LINK_ANSWER, tag, false, false); break;
	case 'f': forget(tag); break;
	case 'A': role.again = true; break;
	default: break;
	}
	role.calling = false;
}

static void play(const char *p, size_t n, unsigned *waits)
{
	struct fetch *f = n > 1 ? pick(p[1]) : NULL;

	if (n == 0)
		return;
	if (p[0] == 's')
		cleat_loop_step(role.loop, 0);
	else if (p[0] == 'w' && (*waits)++ < WAITS)
		cleat_loop_step(role.loop, 25);
	else if (p[0] == 'h' && f)
		head(f, p + 2, n - 2);
	else if (p[0] == 'd' && f && f->status && n > 2)
		body(f, p + 2, n - 2);
	else if ((p[0] == 'e' || p[0] == 'x') && f)
		end(f, p[0] == 'e');
	else if (p[0] == 'M') /* so many allocations from now one fails */
		countdown = n > 1 ? (size_t)(unsigned char)p[1] : 1;
	else
		play_role(p[0], n > 1 ? 1 + (size_t)(unsigned char)p[1] % TAGS : 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct link_events events = { .message = on_message,
						   .accepted = on_accepted,
						   .failed = on_failed,
						   .down = on_down,
						   .up = on_up,
						   .gap = on_gap,
						   .oversize = on_oversize,
						   .note = on_note,
						   .closed = on_closed };
	const char *p = (const char *)data, *stop = p + size;
	struct link_base_options base = { .mem = &memory,
					  .events = events,
					  .max_message = 200,
					  .connect_ms = 20,
					  .random = on_random };
	unsigned waits = 0;

	countdown = live = 0;
	memset(&role, 0, sizeof role);
	role.loop = base.loop = cleat_loop_new(NULL);
	require(role.loop);
	role.link =
		link_http_new(&base, &(struct link_http_options){ .url = "http://h/mcp" }, NULL);
	require(role.link);
	for (unsigned i = 0; p < stop && i < STEPS; i++) {
		const char *line = memchr(p, '\n', (size_t)(stop - p));
		size_t n = (size_t)((line ? line : stop) - p);

		play(p, n, &waits);
		p += n + (line != NULL);
	}
	countdown = 0;
	role.link->ops->free(role.link);
	cleat_loop_free(role.loop);
	require(live == 0 && client == NULL);
	return 0;
}
