/* link/http_impl.h - what the files of link_http share; for nobody else.
 *
 * Everything that is under way is an `exch`: one HTTP request, or several in a row that carry on one
 * stream of events. It is in the link's list until exch_drop(); its memory stays until no event of the
 * link is being told any more (link_http_enter, link_http_leave), so whoever is told something may call
 * any operation of the link, free() too. After telling, look at `gone` before touching anything else.
 *
 * Invariant: an exch tells its tag to the role at most once for good (answer, `failed`, `oversize` or
 * `accepted`); the tag is taken out of it before that.
 */
#ifndef LINK_HTTP_IMPL_H
#define LINK_HTTP_IMPL_H

#include "base/buf.h"
#include "base/error.h"
#include "base/ring.h"
#include "fetch/fetcher.h"
#include "http/sse.h"
#include "link/links.h"

enum {
	LINK_HTTP_EXCHANGES = 1024, /* under way at a time */
	LINK_HTTP_ID_MAX = 1024,    /* of a session id, and of an event id that can be sent back */
	LINK_HTTP_EXCUSE_MAX = 64 << 10, /* of the body of an error that is looked at */
	LINK_HTTP_RETRY_MS = 1000,       /* where the server names no time */
	LINK_HTTP_BACKOFF_MAX = 30 * 1000,
	LINK_HTTP_IDLE_MS = 5 * 60 * 1000, /* a GET stream without a byte is taken for dead */
	LINK_HTTP_LINGER_MS = 1000,        /* for the end of a stream after its answer */
	LINK_HTTP_LINGER_MAX = 64 << 10,
	LINK_HTTP_CLOSE_MS = 2000, /* all of a polite close */
	LINK_HTTP_NOTICES_MS = 1000
};

enum exch_kind {
	EXCH_REQUEST,
	EXCH_NOTICE,
	EXCH_ANSWER,
	EXCH_LISTEN, /* the GET stream of a legacy session */
	EXCH_DELETE,
	EXCH_OLD /* the stream of HTTP+SSE */
};

/* What the bytes of a body are. */
enum exch_body {
	BODY_SKIP,
	BODY_MESSAGE, /* one JSON text */
	BODY_EVENTS,
	BODY_EXCUSE /* of a status, or with a type, that is no answer: a JSON-RPC error, or text */
};

/* Which events of a stream were seen, as two hashes of each id; the oldest are forgotten. */
struct seen_id {
	uint32_t a, b;
};
struct seen {
	struct seen_id *ids;
	size_t n, cap, at; /* `at`: where the next one goes once there are SEEN_MAX */
};

struct exch {
	struct exch *prev, *next;
	struct link_http *l;
	enum exch_kind kind;
	void *tag;
	int64_t id;          /* EXCH_REQUEST: of the request; 0: not known */
	struct fetch *fetch; /* NULL: none runs (it waits for `due`) */
	bool modern, initialize;
	bool in_session; /* its request named the session */
	bool lingers;    /* answered; only the end of the stream is waited for */
	bool doomed;     /* its session was given up while it waited to be resumed */
	bool gone;
	int status;
	enum exch_body body;
	struct buf text; /* BODY_MESSAGE, BODY_EXCUSE */
	size_t skipped;
	uint64_t due; /* when something happens with it; 0: never */
	/* events */
	struct sse_reader *reader;
	struct buf last_id; /* to resume from; empty: none. Never what cannot be in a header */
	struct buf prev_id; /* of the last event of this connection */
	struct seen seen;
	int64_t retry;  /* the server's, in ms; negative: none */
	unsigned tries; /* connections in a row that brought nothing */
	uint64_t since; /* when this connection's head came */
	bool resumed;   /* this connection is not the first one */
	bool id_here;   /* it has brought an id */
	bool heard;     /* something new, or when to come back */
	bool opened;    /* EXCH_LISTEN: there was a stream once. EXCH_OLD: the endpoint is known */
	bool missed;    /* EXCH_LISTEN: events may be lost; told when the stream is back */
	int event_status; /* CLEAT_ELIMIT: an event was too large; CLEAT_ENOMEM */
};

/* Events that are told from the loop, because what led to them was a call. */
enum soon { SOON_UP = 1, SOON_UP_FAILED = 2, SOON_CLOSED = 4, SOON_OLD_DOWN = 8 };

struct link_http {
	struct link link; /* first */
	cleat_loop *loop;
	cleat_allocator mem;
	struct link_events ev;
	size_t max_message;
	unsigned connect_ms;
	uint32_t (*random)(void *ctx);
	void *random_ctx;
	struct fetcher *http;
	char *url;
	char place[96];   /* the url without what may be secret, for messages */
	struct arena own; /* of what is configured */
	struct http_field_list configured;
	bool authorized;      /* one of them is Authorization */
	struct arena scratch; /* of the fields of the request that is being made */
	bool no_stream;
	bool odd_type; /* a wrong charset was remarked */

	bool old;       /* HTTP+SSE */
	char *endpoint; /* its address for messages; NULL: none yet */
	bool used;      /* a message has gone there */
	char *session;  /* NULL: none */
	enum revision rev;
	struct exch *list, *graves;
	struct exch *listen, *stream; /* EXCH_LISTEN and EXCH_OLD, which are in the list, too */
	size_t n_list, n_linger;      /* the list has n_list that do not linger */

	struct loop_timer *timer;
	uint64_t timer_due; /* 0: it does not run */
	struct loop_call call;
	unsigned soon; /* enum soon */
	struct link_failure soon_why;
	uint64_t close_began, close_due;
	bool attached; /* from open() to `closed` */
	bool closing, deleting, closed;
	unsigned busy;
	bool freed;
};

static inline struct link_http *link_http_of(struct link *l)
{
	return (struct link_http *)(void *)l;
}

/* ---- http.c ---------------------------------------------------------------------------- */

/* Around everything that may tell the role something. */
void link_http_enter(struct link_http *l);
void link_http_leave(struct link_http *l);
void link_http_soon(struct link_http *l, enum soon what, const struct link_failure *why);
void link_http_note(struct link_http *l, int level, const char *fmt, ...) CLEAT_PRINTF(3, 4);
/* NULL: out of memory. In the list. */
struct exch *exch_new(struct link_http *l, enum exch_kind kind);
void exch_drop(struct exch *x);
/* Gives its fetch up; it stays. */
void exch_stop(struct exch *x);
/* Wakes the exch up after so many ms. */
void exch_wait(struct exch *x, uint64_t ms);
/* Begins an HTTP request of this exch; `m` NULL for what is not a message. CLEAT_OK or why not. */
int exch_fetch(struct exch *x, const char *method, const struct link_message *m, cleat_error *err);
/* Drops it and tells `failed` (a request, a notice with a tag) or notes it. */
void exch_fail(struct exch *x, const struct link_failure *why);
/* After an exch has ended: goes on with close(). */
void link_http_go_on(struct link_http *l);

/* ---- http_fields.c --------------------------------------------------------------------- */

/* Copies and checks the configured headers and the token. CLEAT_OK, CLEAT_EINVAL, CLEAT_ENOMEM. */
int link_http_configure(struct link_http *l, const struct link_http_options *o, cleat_error *err);
/* The fields of a request. */
int link_http_fields(const struct exch *x, const struct link_message *m, struct http_field_list *to,
		     cleat_error *err);
/* http or https, with a host, without credentials. */
bool link_http_url_good(struct str url, cleat_error *err);
/* Visible ASCII, not too long, not empty. */
bool link_http_id_good(struct str id);

/* ---- http_failure.c -------------------------------------------------------------------- */

/* What a status means that is no answer, with the beginning of its body. */
struct link_failure link_http_refused(const struct exch *x);
struct link_failure link_http_failure(enum cleat_step step, int status, const char *fmt, ...)
	CLEAT_PRINTF(3, 4);
/* The printable beginning of a text, for messages; buf of n bytes. */
const char *link_http_snippet(struct str text, char *buf, size_t n);
/* Milliseconds of Retry-After; negative: none, or a date. */
int64_t link_http_retry_after(const struct fetch *f);

/* ---- http_answer.c --------------------------------------------------------------------- */

/* What a text is, by its outermost members alone: has it "jsonrpc", is it (or is there in it, when it
 * is an array) a response, for the request with this id (0: for any)? 0 for what is not a complete object or
 * array. */
enum { LOOK_RPC = 1, LOOK_RESPONSE = 2 };
unsigned link_http_look(struct str text, int64_t id);
/* The events of a fetch of any exch. */
bool exch_on_head(void *ctx, struct fetch *f, int status);
bool exch_on_body(void *ctx, struct fetch *f, struct str bytes);
void exch_on_end(void *ctx, struct fetch *f, const struct link_failure *why);
/* Is what comes a stream of events? */
bool exch_is_stream(const struct exch *x);
/* There is nothing more to be told of it; the end of its body is waited for a little, so that the
 * connection can be used again. */
void exch_linger(struct exch *x);

/* ---- http_stream.c --------------------------------------------------------------------- */

/* A new connection brings events. CLEAT_OK or CLEAT_ENOMEM. */
int exch_begin_events(struct exch *x);
void exch_done_events(struct exch *x);
/* False when the connection is not needed any more. */
bool exch_feed(struct exch *x, struct str bytes);
/* The stream of a request's answer has ended without the answer, or could not be resumed; no fetch
 * runs. `why` NULL: in order. */
void exch_broke(struct exch *x, const struct link_failure *why);
bool resume_on_head(struct exch *x);
/* The time to connect (again) has come. */
void exch_resume(struct exch *x);
void link_http_listen(struct link_http *l);
bool listen_on_head(struct exch *x);
/* `why` NULL: in order. No fetch runs. */
void listen_broke(struct exch *x);

/* ---- http_old.c ------------------------------------------------------------------------ */

/* Opens the stream; what fails at once is told soon. */
void old_open(struct link_http *l);
bool old_on_head(struct exch *x);
void old_on_event(struct exch *x, const struct sse_event *e);
/* The stream has ended, or its endpoint does not know us: down, or not up. */
void old_over(struct link_http *l, const struct link_failure *why);
void old_on_due(struct exch *x);
/* A session that has begun is given up: down, soon. */
void old_reset(struct link_http *l);

#endif
