/* link/http_answer.c - what comes back for a POST: one JSON message, a stream of events, an
 * acceptance, or a refusal (2025-11-25 basic/transports, Sending Messages; 2026-07-28 streamable-http,
 * Sending and Receiving Messages).
 *
 * Messages are handed on unread. Only so much is looked at as tells whether one of them is a response,
 * which ends the exchange. Everything from the server is bounded: a message by max_message, an excuse by
 * LINK_HTTP_EXCUSE_MAX, what follows an answer by time and size.
 */
#include "base/mem.h"
#include "http/field.h"
#include "link/http_impl.h"
#include "rpc/message.h"
#include "json/skim.h"

enum { LINGERING_MAX = 64, WRONG_TYPE_MAX = 512 };

/* ---- looking at a message --------------------------------------------------------------------- */

/* Does an id, as it is written, say that the message is not about this request? */
static bool is_others(struct str id, int64_t mine)
{
	bool string = id.n >= 2 && id.p[0] == '"';

	if (string)
		id = (struct str){ id.p + 1, id.n - 2 };
	return mine && id.p && !rpc_id_may_mean(id, string, mine);
}

static unsigned look_at_message(struct skim *s, int64_t mine)
{
	bool rpc = false, method = false, outcome = false, others = false;
	struct str key, value;

	while (skim_member(s, &key)) {
		value = skim_value(s);
		rpc |= skim_is(key, "jsonrpc");
		method |= skim_is(key, "method");
		outcome |= skim_is(key, "result") || skim_is(key, "error");
		if (skim_is(key, "id"))
			others = is_others(value, mine);
	}
	return (rpc ? LOOK_RPC : 0U) | (outcome && !method && !others ? LOOK_RESPONSE : 0U);
}

unsigned link_http_look(struct str text, int64_t id)
{
	struct skim s = skim_text(text);
	unsigned found = 0;

	if (skim_enter(&s, '{'))
		found = look_at_message(&s, id);
	else if (skim_enter(&s, '['))
		while (skim_element(&s)) {
			if (skim_enter(&s, '{'))
				found |= look_at_message(&s, id);
			else
				skim_value(&s);
		}
	return s.bad ? 0 : found;
}

/* ---- ends ------------------------------------------------------------------------------------- */

void exch_linger(struct exch *x)
{
	struct link_http *l = x->l;

	if (x->gone || x->lingers)
		return;
	x->tag = NULL;
	if (!x->fetch || l->n_linger >= LINGERING_MAX) {
		exch_drop(x);
		return;
	}
	x->lingers = true;
	l->n_list--;
	l->n_linger++;
	x->body = BODY_SKIP;
	exch_wait(x, LINK_HTTP_LINGER_MS);
}

static void fail_memory(struct exch *x)
{
	struct link_failure f = link_http_failure(CLEAT_STEP_EXCHANGE, CLEAT_ENOMEM,
						  "there is no memory for the server's answer");

	f.http_status = x->status;
	exch_fail(x, &f);
}

/* The body is the message. One that is not the answer (a notification) is told as well, but then there
 * will be none. */
static void deliver(struct exch *x)
{
	struct link_http *l = x->l;
	void *tag = x->tag;
	bool other = link_http_look(buf_str(&x->text), 0) == LOOK_RPC;
	struct link_failure f;

	if (buf_size(&x->text) == 0) {
		f = link_http_failure(CLEAT_STEP_PROTOCOL, CLEAT_EPROTO,
				      "%.70s answered %d without a message", l->place, x->status);
		f.http_status = x->status;
		exch_fail(x, &f);
		return;
	}
	exch_drop(x);
	l->ev.message(l->ev.ctx, buf_str(&x->text), tag, x->status);
	if (!other || !tag || l->freed || l->closing)
		return;
	f = link_http_failure(CLEAT_STEP_PROTOCOL, CLEAT_EPROTO,
			      "%.70s answered %d with a message that is not an answer", l->place,
			      x->status);
	f.http_status = x->status;
	l->ev.failed(l->ev.ctx, tag, &f);
}

/* 2025-11-25 Session Management 4: whatever the body says. */
static struct link_failure session_lost(const struct exch *x)
{
	struct link_failure f =
		link_http_failure(CLEAT_STEP_HTTP, CLEAT_EREMOTE,
				  "%.70s does not know our session any more", x->l->place);

	f.http_status = x->status;
	f.session_lost = true;
	return f;
}

static struct link_failure wrong_type(const struct exch *x)
{
	char said[121], type[41];
	struct link_failure f;

	link_http_snippet(fetch_field(x->fetch, "content-type"), type, sizeof type);
	link_http_snippet(buf_str(&x->text), said, sizeof said);
	f = link_http_failure(
		CLEAT_STEP_PROTOCOL, CLEAT_EPROTO,
		"%.70s answered %d with %s%s, which is not MCP; is this the address of the "
		"endpoint?%s%s",
		x->l->place, x->status, *type ? "the type " : "no type", type,
		*said ? " It said: " : "", said);
	f.http_status = x->status;
	return f;
}

/* A status, or a type, that is no answer, and all of the body that is looked at. `ended`: the fetch is
 * over and is not to be cancelled. */
static void judge_excuse(struct exch *x, bool ended)
{
	struct link_http *l = x->l;
	bool auth = x->status == 401 || x->status == 403;
	bool lost = x->status == 404 && (x->in_session || l->old) && x->kind != EXCH_OLD;
	struct link_failure f = x->status < 300         ? wrong_type(x)
				: lost && x->in_session ? session_lost(x)
							: link_http_refused(x);

	if (ended)
		x->fetch = NULL;
	if (x->kind == EXCH_OLD || (lost && l->old))
		old_over(l, &f);
	else if (x->kind == EXCH_REQUEST && x->status >= 300 && !auth && !lost &&
		 link_http_look(buf_str(&x->text), 0) == (LOOK_RPC | LOOK_RESPONSE))
		deliver(x);
	else
		exch_fail(x, &f);
}

/* ---- heads ------------------------------------------------------------------------------------ */

/* JSON and events are UTF-8, and nothing else (RFC 8259 section 8.1, WHATWG HTML 9.2.5): a charset that says otherwise
 * is wrong about the name, or about bytes that will be refused. */
static bool has_type(const struct exch *x, const char *type)
{
	struct str said = fetch_field(x->fetch, "content-type");
	char shown[61];

	if (!http_has_media_type(said, type))
		return false;
	if (!http_is_media_type(said, type) && !x->l->odd_type) {
		x->l->odd_type = true;
		link_http_note(x->l, CLEAT_LOG_WARNING,
			       "%.70s answers with \"%s\"; it is read as UTF-8", x->l->place,
			       link_http_snippet(said, shown, sizeof shown));
	}
	return true;
}

bool exch_is_stream(const struct exch *x)
{
	return x->status == 200 && has_type(x, "text/event-stream");
}

/* 2025-11-25 Session Management 1. False when the exch has failed. */
static bool take_session(struct exch *x)
{
	struct link_http *l = x->l;
	struct str id = fetch_field(x->fetch, "mcp-session-id");
	struct link_failure f;
	char *copy;

	if (!id.p)
		return true;
	if (!link_http_id_good(id)) {
		f = link_http_failure(CLEAT_STEP_PROTOCOL, CLEAT_EPROTO,
				      "%.70s sent an invalid session id: it has to be 1 to "
				      "%d visible ASCII characters",
				      l->place, LINK_HTTP_ID_MAX);
		f.http_status = x->status;
		exch_fail(x, &f);
		return false;
	}
	copy = mem_strndup(&l->mem, id.p, id.n);
	if (!copy) {
		fail_memory(x);
		return false;
	}
	mem_free(&l->mem, l->session);
	l->session = copy;
	return true;
}

/* "If the body is a JSON-RPC request": JSON or events, nothing else. */
static bool request_on_head(struct exch *x)
{
	struct link_failure f;

	x->body = BODY_EXCUSE;
	if (x->status >= 300)
		return true;
	if (x->l->old) { /* the answer comes on the stream */
		exch_linger(x);
		return true;
	}
	if (x->status == 202 || x->status == 204) {
		f = link_http_failure(CLEAT_STEP_PROTOCOL, CLEAT_EPROTO,
				      "%.70s took the request (%d) but does not answer it",
				      x->l->place, x->status);
		f.http_status = x->status;
		exch_fail(x, &f);
		return false;
	}
	if (exch_is_stream(x)) {
		if (exch_begin_events(x)) {
			fail_memory(x);
			return false;
		}
	} else if (has_type(x, "application/json")) {
		x->body = BODY_MESSAGE;
	} else {
		return true;
	}
	return !x->initialize || x->modern || take_session(x);
}

/* The acceptance is in the status; older servers send a body with it, which nobody needs. */
static void notice_on_head(struct exch *x)
{
	struct link_http *l = x->l;
	void *tag = x->tag;

	if (x->status >= 300 && x->kind != EXCH_DELETE) {
		x->body = BODY_EXCUSE;
		return;
	}
	exch_linger(x);
	if (tag)
		l->ev.accepted(l->ev.ctx, tag);
}

bool exch_on_head(void *ctx, struct fetch *f, int status)
{
	struct exch *x = ctx;
	struct link_http *l = x->l;
	bool on = true;

	link_http_enter(l);
	x->fetch = f;
	x->status = status;
	x->since = loop_now();
	if (x->kind == EXCH_LISTEN)
		on = listen_on_head(x);
	else if (x->kind == EXCH_OLD)
		on = old_on_head(x);
	else if (x->kind != EXCH_REQUEST)
		notice_on_head(x);
	else if (x->resumed)
		on = resume_on_head(x);
	else
		on = request_on_head(x);
	on = on && !x->gone && x->fetch == f;
	link_http_leave(l);
	return on;
}

/* ---- bodies ----------------------------------------------------------------------------------- */

static void take_message(struct exch *x, struct str bytes)
{
	struct link_http *l = x->l;
	void *tag = x->tag;

	if (bytes.n > l->max_message - buf_size(&x->text)) {
		exch_drop(x);
		l->ev.oversize(l->ev.ctx, tag, l->max_message);
		return;
	}
	buf_append(&x->text, bytes.p, bytes.n);
	if (buf_status(&x->text))
		fail_memory(x);
}

static void take_excuse(struct exch *x, struct str bytes)
{
	size_t max = x->status < 300 ? WRONG_TYPE_MAX : LINK_HTTP_EXCUSE_MAX;
	size_t room;

	max = max < x->l->max_message ? max : x->l->max_message;
	room = max - buf_size(&x->text);
	buf_append(&x->text, bytes.p, bytes.n < room ? bytes.n : room);
	if (bytes.n >= room || buf_status(&x->text))
		judge_excuse(x, false);
}

bool exch_on_body(void *ctx, struct fetch *f, struct str bytes)
{
	struct exch *x = ctx;
	struct link_http *l = x->l;
	bool on = true;

	link_http_enter(l);
	switch (x->body) {
	case BODY_MESSAGE: take_message(x, bytes); break;
	case BODY_EXCUSE: take_excuse(x, bytes); break;
	case BODY_EVENTS: on = exch_feed(x, bytes); break;
	case BODY_SKIP:
		x->skipped += bytes.n;
		if (x->skipped > LINK_HTTP_LINGER_MAX)
			exch_drop(x);
		break;
	}
	on = on && !x->gone && x->fetch == f;
	link_http_leave(l);
	return on;
}

/* ---- ends of fetches -------------------------------------------------------------------------- */

static void post_on_end(struct exch *x, const struct link_failure *why)
{
	struct link_failure f;

	if (x->body == BODY_EXCUSE && x->status) {
		judge_excuse(x, true); /* as much of it as came; the status is known */
		return;
	}
	x->fetch = NULL;
	if (x->body == BODY_EVENTS || (x->resumed && why)) {
		exch_broke(x, why);
	} else if (why) {
		f = *why;
		f.http_status = x->status;
		exch_fail(x, &f);
	} else if (x->body == BODY_MESSAGE) {
		deliver(x);
	} else {
		exch_drop(x);
	}
}

void exch_on_end(void *ctx, struct fetch *f, const struct link_failure *why)
{
	struct exch *x = ctx;
	struct link_http *l = x->l;
	const struct link_failure ended = link_http_failure(
		CLEAT_STEP_EXCHANGE, CLEAT_EIO, "%.70s ended the stream of events", l->place);

	link_http_enter(l);
	x->fetch = f;
	if (x->lingers || x->kind == EXCH_DELETE) {
		x->fetch = NULL;
		exch_drop(x);
	} else if (x->kind == EXCH_LISTEN) {
		x->fetch = NULL;
		listen_broke(x);
	} else if (x->kind == EXCH_OLD && x->body != BODY_EXCUSE) {
		x->fetch = NULL;
		old_over(l, why ? why : &ended);
	} else {
		post_on_end(x, why);
	}
	link_http_leave(l);
}
