/* fetch/fetch.c - one HTTP request; see fetcher.h.
 *
 * A fetch is one block of memory: the struct, the list of header lines as libcurl wants it (made
 * here, of fields, and nowhere else), and the text of both and of the body. It goes to libcurl, and comes back from it, only when the client is not
 * inside of libcurl. A redirect that is followed uses the same fetch again.
 *
 * Not here: the answer (answer.c), what a failure means (failure.c).
 */
#include "base/error.h"
#include "base/mem.h"
#include "fetch/impl.h"
#include "http/field.h"
#include "http/token.h"

enum { SMALL_BODY = 64 * 1024, USUAL_HEAD = 1024 };

/* ---- what may be asked for --------------------------------------------------------------------- */

bool fetch_split_url(struct str url, struct uri *ret)
{
	if (url.n > FETCH_MAX_URL || !uri_split(url, 0, ret) || !ret->scheme.p)
		return false;
	if (!str_samez(ret->scheme, "http") && !str_samez(ret->scheme, "https"))
		return false;
	return ret->host.n > 0 && !ret->userinfo.p && uri_port(ret) > 0;
}

/* URLs may hold secrets, so the message does not repeat it. */
static int check_url(const struct fetcher *h, const char *url, struct uri *ret, cleat_error *err)
{
	if (!fetch_split_url(str_of(url), ret))
		return error_set(err, CLEAT_EINVAL,
				 "not a URL that can be fetched: http://host[:port]/path or "
				 "https://..., without a user name, non-ASCII characters encoded");
	if (!h->has_tls && str_samez(ret->scheme, "https"))
		return error_set(err, CLEAT_EUNSUPPORTED, "this libcurl was built without TLS");
	return CLEAT_OK;
}

/* libcurl frames the message. */
static bool is_framing(struct str name)
{
	static const struct str names[] = {
		{ "content-length", 14 }, { "transfer-encoding", 17 },
		{ "connection", 10 },     { "upgrade", 7 },
		{ "expect", 6 },          { "te", 2 },
		{ "http2-settings", 14 },
	};

	for (size_t i = 0; i < CLEAT_COUNT(names); i++)
		if (str_same(name, names[i]))
			return true;
	return false;
}

/* Values may be secrets. */
static int check_field(const struct http_field *f, cleat_error *err)
{
	if (!http_is_token(f->name))
		return error_set(err, CLEAT_EINVAL,
				 "a header's name is made of letters, digits and -");
	if (!http_is_field_value(f->value))
		return error_set(err, CLEAT_EINVAL, "header %.*s: control characters in the value",
				 STR_ARGS(f->name));
	if (is_framing(f->name))
		return error_set(err, CLEAT_EINVAL, "header %.*s: belongs to the transport",
				 STR_ARGS(f->name));
	return CLEAT_OK;
}

/* ---- making one -------------------------------------------------------------------------------- */

struct measure {
	size_t text; /* of the lines */
	bool has_type;
};

static int measure(const struct fetch_options *o, struct measure *m, cleat_error *err)
{
	*m = (struct measure){ 0 };
	for (size_t i = 0; i < o->n_fields; i++) {
		const struct http_field *f = &o->fields[i];

		if (check_field(f, err))
			return CLEAT_EINVAL;
		m->text += f->name.n + f->value.n + 3;
		if (i == FETCH_MAX_LINES || m->text > FETCH_MAX_HEAD)
			return error_set(err, CLEAT_ELIMIT, "too many headers");
		m->has_type |= str_samez(f->name, "content-type");
	}
	return CLEAT_OK;
}

static char *fetch_put(char *at, struct str s)
{
	if (s.n)
		memcpy(at, s.p, s.n);
	at[s.n] = '\0';
	return at + s.n + 1;
}

/* As libcurl wants it: "Name: value", or "Name;" for an empty value. */
static char *fetch_put_line(char *at, const struct http_field *f)
{
	struct str value = http_trim(f->value);

	at = fetch_put(at, f->name) - 1;
	if (value.n == 0)
		return fetch_put(at, STR_LIT(";"));
	at = fetch_put(at, STR_LIT(": ")) - 1;
	return fetch_put(at, value);
}

static void link_lines(struct curl_slist *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		list[i].next = i + 1 < n ? &list[i + 1] : NULL;
}

static struct fetch *make(struct fetcher *h, const struct fetch_options *o, const struct measure *m)
{
	/* A name and a colon alone take a header away that libcurl would send by itself. */
	static char no_expect[] = "Expect:", no_type[] = "Content-Type:";
	struct str url = str_of(o->url), method = str_of(o->method);
	size_t text = m->text + url.n + method.n + o->body.n + 3, n = 0;
	struct fetch *f;
	char *at;

	f = mem_alloc(&h->mem, sizeof *f + (o->n_fields + 2) * sizeof *f->list + text);
	if (!f)
		return NULL;
	memset(f, 0, sizeof *f);
	f->h = h;
	f->o = *o;
	f->o.fields = NULL;
	at = (char *)&f->list[o->n_fields + 2];
	for (; n < o->n_fields; n++) {
		f->list[n].data = at;
		at = fetch_put_line(at, &o->fields[n]);
	}
	f->list[n++].data = no_expect;
	if (!m->has_type)
		f->list[n++].data = no_type;
	link_lines(f->list, n);
	f->o.url = at;
	at = fetch_put(at, url);
	f->o.method = at;
	at = fetch_put(at, method);
	f->o.body.p = at;
	fetch_put(at, o->body);
	arena_init(&f->head, &h->mem, 8 * FETCH_MAX_HEAD);
	f->head.first = USUAL_HEAD;
	f->fields.ar = &f->head;
	return f;
}

/* Go's rule: a proxy that the environment names is not for this machine itself. */
static bool is_direct(const struct fetcher *h, const struct uri *u)
{
	return !h->proxy && !h->unix_socket && http_is_loopback_name(u->host);
}

/* What differs from request to request; all of it, because handles are used again. */
static bool configure(struct fetch *f, bool direct)
{
	const struct libcurl *k = &f->h->curl;
	bool get = strcmp(f->o.method, "GET") == 0, post = strcmp(f->o.method, "POST") == 0;
	bool body = post || f->o.body.n > 0, head = strcmp(f->o.method, "HEAD") == 0;
	CURLcode rc = CURLE_OK;

#define SET(option, value)                                                                         \
	(rc = rc == CURLE_OK ? k->curl_easy_setopt(f->easy, CURLOPT_##option, (value)) : rc)
	SET(PRIVATE, (void *)f);
	SET(HEADERDATA, (void *)f);
	SET(WRITEDATA, (void *)f);
	SET(PREREQDATA, (void *)f);
	SET(ERRORBUFFER, f->words);
	SET(URL, f->o.url);
	SET(HTTPHEADER, f->list);
	if (!f->h->proxy && !f->h->unix_socket)
		SET(PROXY, direct ? "" : NULL);
	SET(NOBODY, 0L);
	SET(POSTFIELDSIZE_LARGE, (curl_off_t)f->o.body.n);
	SET(POSTFIELDS, body ? f->o.body.p : NULL);
	if (!body)
		SET(HTTPGET, 1L);
	if (head) /* its answer has no body, whatever Content-Length says */
		SET(NOBODY, 1L);
	SET(CUSTOMREQUEST, get || post || head ? NULL : f->o.method);
#undef SET
	return rc == CURLE_OK;
}

static void link_in(struct fetcher *h, struct fetch *f)
{
	f->next = h->fetches;
	f->at = &h->fetches;
	if (f->next)
		f->next->at = &f->next;
	h->fetches = f;
	if (h->n_fetches++ == 0)
		loop_attach(h->loop);
}

static void link_out(struct fetch *f)
{
	*f->at = f->next;
	if (f->next)
		f->next->at = f->at;
	if (--f->h->n_fetches == 0)
		loop_detach(f->h->loop);
}

static void fetch_release(struct fetch *f)
{
	cleat_allocator mem = f->h->mem;

	arena_done(&f->head);
	mem_free(&mem, f->moved);
	mem_free(&mem, f);
}

struct fetch *fetch_start(struct fetcher *h, const struct fetch_options *o, cleat_error *err)
{
	struct fetch *f;
	struct measure m;
	struct uri u;

	if (h->doomed) {
		error_set(err, CLEAT_ECLOSED, "the client is closed");
		return NULL;
	}
	if (h->n_fetches >= CLIENT_MAX_FETCHES) {
		error_set(err, CLEAT_ELIMIT, "%d requests are under way already",
			  CLIENT_MAX_FETCHES);
		return NULL;
	}
	if (check_url(h, o->url, &u, err) || measure(o, &m, err))
		return NULL;
	if (!http_is_token(str_of(o->method))) {
		error_set(err, CLEAT_EINVAL, "not a method");
		return NULL;
	}
	f = make(h, o, &m);
	if (!f)
		goto no_memory;
	f->easy = fetcher_handle(h);
	if (!f->easy || !configure(f, is_direct(h, &u)))
		goto no_handle;
	link_in(h, f);
	fetcher_attend(h, f);
	return f;
no_handle:
	if (f->easy)
		fetcher_handle_done(h, f->easy);
	fetch_release(f);
no_memory:
	error_set(err, CLEAT_ENOMEM, "out of memory");
	return NULL;
}

/* ---- its life ---------------------------------------------------------------------------------- */

static void take_out_of_waiting(struct fetch *f)
{
	struct fetcher *h = f->h;
	struct fetch **at = &h->waiting;

	if (!f->queued)
		return;
	while (*at != f)
		at = &(*at)->next_waiting;
	*at = f->next_waiting;
	if (h->waiting_end == &f->next_waiting)
		h->waiting_end = at;
	f->queued = false;
}

void fetch_end(struct fetch *f, const struct link_failure *why)
{
	struct fetcher *h = f->h;
	bool tell = f->state != FETCH_DEAD && !h->doomed;

	if (f->added)
		h->curl.curl_multi_remove_handle(h->multi, f->easy);
	fetcher_handle_done(h, f->easy);
	take_out_of_waiting(f);
	link_out(f);
	f->state = FETCH_ENDING;
	if (tell)
		f->o.on_end(f->o.ctx, f, why);
	fetch_release(f);
}

static void fetch_fail(struct fetch *f, CURLcode rc)
{
	struct link_failure why;

	fetch_failure(f, rc, &why);
	fetch_end(f, &why);
}

static void fetch_fetch_start(struct fetch *f)
{
	struct fetcher *h = f->h;

	if (h->curl.curl_multi_add_handle(h->multi, f->easy) != CURLM_OK) {
		fetch_fail(f, CURLE_OUT_OF_MEMORY);
		return;
	}
	f->added = true;
	f->state = FETCH_RUNNING;
	if (f->o.idle_ms) {
		f->last = loop_now();
		fetcher_idle_within(h, f->o.idle_ms);
	}
}

/* libcurl hands over what it kept back from in here. */
static void go_on(struct fetch *f)
{
	struct fetcher *h = f->h;
	CURLcode rc;

	f->held = false;
	h->inside = true;
	rc = h->curl.curl_easy_pause(f->easy, CURLPAUSE_CONT);
	h->inside = false;
	if (f->state == FETCH_DEAD)
		fetch_end(f, NULL);
	else if (rc != CURLE_OK)
		fetch_done(f, rc);
}

void fetch_attend(struct fetch *f)
{
	if (f->state == FETCH_DEAD)
		fetch_end(f, NULL);
	else if (f->state == FETCH_NEW)
		fetch_fetch_start(f);
	else if (f->held && !f->paused)
		go_on(f);
}

static void follow(struct fetch *f)
{
	struct fetcher *h = f->h;
	struct uri u;

	h->curl.curl_multi_remove_handle(h->multi, f->easy);
	f->added = false;
	f->state = FETCH_NEW;
	fetch_answer_reset(f);
	/* It was checked when it came. */
	if (!fetch_split_url(str_of(f->o.url), &u) || !configure(f, is_direct(h, &u)))
		fetch_fail(f, CURLE_OUT_OF_MEMORY);
	else
		fetcher_attend(h, f);
}

void fetch_done(struct fetch *f, CURLcode rc)
{
	if (f->faulted)
		fetch_end(f, &f->why);
	else if (f->hop)
		follow(f);
	else if (rc == CURLE_OK && f->status)
		fetch_end(f, NULL);
	else
		fetch_fail(f, rc);
}

uint64_t fetch_patience(struct fetch *f, uint64_t now)
{
	curl_off_t sent = 0;

	if (!f->o.idle_ms || f->paused || f->state != FETCH_RUNNING)
		return UINT64_MAX;
	if (now - f->last < f->o.idle_ms)
		return f->o.idle_ms - (now - f->last);
	/* What leaves is life, too; a small body leaves at once. */
	if (f->o.body.n > SMALL_BODY)
		f->h->curl.curl_easy_getinfo(f->easy, CURLINFO_SIZE_UPLOAD_T, &sent);
	/* Connecting has a limit of its own. */
	if (f->began && sent == f->sent)
		return 0;
	f->sent = sent;
	f->last = now;
	return f->o.idle_ms;
}

/* ---- what its owner does ----------------------------------------------------------------------- */

void fetch_cancel(struct fetch *f)
{
	if (!f || f->state == FETCH_ENDING || f->state == FETCH_DEAD)
		return;
	f->state = FETCH_DEAD;
	if (f->h->inside)
		f->h->dead = true;
	else
		fetch_end(f, NULL);
}

void fetch_pause(struct fetch *f, bool pause)
{
	if (f->paused == pause || f->state == FETCH_ENDING)
		return;
	f->paused = pause;
	if (pause)
		return; /* the next bytes will be kept back */
	fetcher_attend(f->h, f);
	if (f->o.idle_ms && f->state == FETCH_RUNNING) {
		f->last = loop_now();
		fetcher_idle_within(f->h, f->o.idle_ms);
	}
}

int fetch_status(const struct fetch *f)
{
	return f->status;
}

const struct http_field *fetch_fields(const struct fetch *f, size_t *ret_n)
{
	*ret_n = f->fields.n;
	return f->fields.at;
}

struct str fetch_field(const struct fetch *f, const char *name)
{
	struct str wanted = str_of(name);

	for (size_t i = f->fields.n; i > 0; i--)
		if (str_same(f->fields.at[i - 1].name, wanted))
			return f->fields.at[i - 1].value;
	return (struct str){ 0 };
}
