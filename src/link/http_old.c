/* link/http_old.c - HTTP+SSE of 2024-11-05 basic/transports: one GET is the connection; its
 * first event says where to POST; all that the server says comes as events.
 *
 * To the role this is a stream: when the connection ends, everything in it has ended (`down`), and open()
 * makes a new one. The endpoint must be of the same origin, because messages carry what was configured
 * for this origin: a token, perhaps.
 */
#include "base/mem.h"
#include "http/token.h"
#include "link/http_impl.h"
#include "uri/reference.h"

enum { ENDPOINT_MAX = 8 << 10 };

void old_open(struct link_http *l)
{
	struct exch *x;
	struct link_failure f = { .step = CLEAT_STEP_CONNECT };

	if (l->stream)
		return; /* `up` is on its way */
	x = exch_new(l, EXCH_OLD);
	l->stream = x;
	if (!x) {
		error_set(&f.error, CLEAT_ENOMEM, "out of memory");
	} else if (exch_fetch(x, "GET", NULL, &f.error) == CLEAT_OK) {
		exch_wait(x, l->connect_ms);
		return;
	} else {
		exch_drop(x);
	}
	link_http_soon(l, SOON_UP_FAILED, &f);
}

static void drop_all(struct link_http *l)
{
	mem_free(&l->mem, l->endpoint);
	l->endpoint = NULL;
	while (l->list)
		exch_drop(l->list);
}

void old_reset(struct link_http *l)
{
	struct link_failure f =
		link_http_failure(CLEAT_STEP_EXCHANGE, CLEAT_ECLOSED, "the session was given up");

	drop_all(l);
	link_http_soon(l, SOON_OLD_DOWN, &f);
}

void old_over(struct link_http *l, const struct link_failure *why)
{
	bool was_up = l->endpoint != NULL;

	drop_all(l);
	if (l->closing)
		return;
	if (was_up)
		l->ev.down(l->ev.ctx, why);
	else
		l->ev.up(l->ev.ctx, why);
}

void old_on_due(struct exch *x)
{
	struct link_failure f = link_http_failure(
		CLEAT_STEP_TIMEOUT, CLEAT_ETIMEOUT,
		"%.70s did not send the address for messages (HTTP+SSE) within %u ms", x->l->place,
		x->l->connect_ms);

	f.http_status = x->status;
	old_over(x->l, &f);
}

bool old_on_head(struct exch *x)
{
	struct link_failure f;

	if (!exch_is_stream(x)) {
		x->body = BODY_EXCUSE;
		return true;
	}
	if (exch_begin_events(x) == CLEAT_OK)
		return true;
	f = link_http_failure(CLEAT_STEP_EXCHANGE, CLEAT_ENOMEM, "out of memory");
	old_over(x->l, &f);
	return false;
}

/* CLEAT_OK: the link has an endpoint. */
static int set_endpoint(struct link_http *l, struct str ref, cleat_error *err)
{
	struct str base = str_of(l->url);
	struct buf url;
	int rc;

	buf_init(&url, &l->mem, ENDPOINT_MAX + base.n);
	if (ref.n > ENDPOINT_MAX - 4 || !uri_resolve(&url, base, uri_without_fragment(ref)))
		rc = error_set(err, CLEAT_EPROTO,
			       "%.70s named no usable address for messages: %.*s", l->place,
			       (int)(ref.n < 80 ? ref.n : 80), ref.p);
	else if (buf_status(&url))
		rc = error_set(err, buf_status(&url), "the address for messages cannot be kept");
	else if (!uri_same_origin(base, buf_str(&url)))
		rc = error_set(err, CLEAT_EPROTO,
			       "%.70s wants messages to be sent elsewhere, which is refused: %.*s",
			       l->place, (int)(ref.n < 80 ? ref.n : 80), ref.p);
	else if (!link_http_url_good(buf_str(&url), err))
		rc = err->status = CLEAT_EPROTO;
	else {
		l->endpoint = mem_strndup(&l->mem, buf_str(&url).p, buf_size(&url));
		rc = l->endpoint ? CLEAT_OK : error_set(err, CLEAT_ENOMEM, "out of memory");
	}
	buf_done(&url);
	return rc;
}

static void first_event(struct exch *x, const struct sse_event *e)
{
	struct link_http *l = x->l;
	struct link_failure f = { .step = CLEAT_STEP_PROTOCOL, .http_status = x->status };
	int rc;

	if (str_eqz(e->event, "endpoint"))
		rc = set_endpoint(l, http_trim(e->data), &f.error);
	else
		rc = error_set(&f.error, CLEAT_EPROTO,
			       "%.70s opened a stream, but not one of HTTP+SSE: its first event is "
			       "\"%.*s\", not \"endpoint\"",
			       l->place, (int)(e->event.n < 30 ? e->event.n : 30), e->event.p);
	if (rc) {
		old_over(l, &f);
		return;
	}
	x->opened = true;
	x->due = 0;
	l->used = false;
	l->ev.up(l->ev.ctx, NULL);
}

void old_on_event(struct exch *x, const struct sse_event *e)
{
	struct link_http *l = x->l;

	if (!x->opened)
		first_event(x, e);
	else if (e->data.n && str_eqz(e->event, "message"))
		l->ev.message(l->ev.ctx, e->data, NULL, 0);
}
