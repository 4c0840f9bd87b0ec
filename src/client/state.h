/* client/state.h - what the client role is made of: the client, its calls, the questions it was asked
 * and the watches on it.
 *
 * Everything belongs to the owner's thread, except cleat_call.marked. Invariants: a call is in
 * client->calls, by the id of its newest request, until it has ended, then in client->done until its
 * callback has run; callbacks that may free something run from client_leave() only, when nothing of
 * the role is on the stack; the tag that a link gets is a request's id, never a pointer, so nothing
 * that comes late can reach freed memory.
 */
#ifndef CLIENT_STATE_H
#define CLIENT_STATE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/cold.h"
#include "client/cache.h"
#include "client/core.h"
#include "client/negotiation.h"
#include "client/result.h"
#include "client/toolbook.h"
#include "rpc/message.h"
#include "rpc/table.h"

#include <stdatomic.h>

enum {
	MAX_OUT = 64 << 20,     /* bytes of a message of ours */
	MAX_QUESTIONS = 1024,   /* of the server that are open at a time */
	MAX_INTERNAL = 32,      /* calls of our own beside opts.max_calls */
	MAX_NOTICES = 256,      /* that wait for the server to be ready */
	BREAKER_DEATHS = 5,     /* so many deaths ... */
	BREAKER_WINDOW = 60000, /* ... within this time (ms) ... */
	BREAKER_PAUSE = 30000   /* ... and nothing is tried for this long */
};

/* What is remarked once. */
enum {
	REMARK_ID = 1,
	REMARK_NULL = 2,
	REMARK_JSON = 4 /* and the next three bits: json/mend.h */
};

/* ---- calls -------------------------------------------------------------------------------- */

enum call_state {
	CALL_WAITING, /* for the server to be ready */
	CALL_SENT,
	CALL_ASKING, /* the server wants to know something first (rounds.c, visit.c) */
	CALL_HELD,   /* until the list of tools has been read anew */
	CALL_ENDED   /* its callback is due */
};

struct pages;

struct cleat_call {
	struct rpc_node node;
	cleat_client *client;
	cleat_call *next; /* among those that have ended, or are spare */
	struct arena arena;
	cleat_call_options opts; /* strings are in the arena */
	/* A call of the role's own: who gets the result (and owns it). NULL: opts.on_done does. */
	void (*done)(cleat_call *call, cleat_result *r);
	atomic_bool marked; /* any thread: to be given up */

	enum call_state state;
	enum result_shape shape;
	struct str method;
	struct str name;          /* params.name or params.uri; absent: none */
	const cleat_json *params; /* an object; NULL: none */
	const cleat_json *meta;   /* of opts.meta: an object; NULL: none */
	struct str cache_key;     /* absent: its result is not kept */
	uint64_t changes;         /* the client's when it was set */
	cleat_result *result;     /* CALL_ENDED */

	uint64_t idle_at, hard_at; /* when it has taken too long; 0: never */
	unsigned idle_ms;
	double progress; /* last value told; less than 0: none yet */

	bool used;                                     /* its id was sent */
	bool retried_version, retried_headers, resent; /* each once */
	bool renewed;                                  /* sent again in a new session, once */
	unsigned session;                              /* the client's when it was sent */

	/* 2026-07-28 patterns/mrtr */
	unsigned rounds;
	unsigned asking;         /* questions that are not answered yet */
	cleat_result *asked;     /* the newest input_required: its requestState is echoed */
	struct str state_echo;   /* absent: the server gave none */
	struct buf answers;      /* members of inputResponses */
	bool answered_questions; /* the retry carries inputResponses */

	/* 2025-11-25: -32042 (visit.c), with `asking` */
	cleat_result
		*visit; /* what it ends with, unless the user agrees; NULL: nothing of the kind */
	bool visited;   /* once */

	struct pages *pages; /* a list that is read to its end (pages.c); NULL: a single request */
};

/* ---- questions of the server --------------------------------------------------------------- */

/* One question that the `asked` peer is working on. Its address is the peer's tag. */
struct question {
	struct question *prev, *next;
	cleat_client *client;
	void *link_tag; /* legacy: where the answer goes */
	cleat_call *
		call; /* whose input it is; NULL: a request of the server's, or the call has ended */
	struct str key; /* of inputRequests; lives as long as call->asked, or call->visit */
	int64_t id;     /* of the request that the peer was given; 0: it is the server's own */
	bool settled;   /* an answer came */
	bool cancel;    /* the peer is to be told that nobody waits */
};

/* ---- watches ------------------------------------------------------------------------------- */

struct cleat_watch {
	struct cleat_watch *prev, *next;
	cleat_client *client;
	cleat_watch_options opts;
	char **uris; /* ends with NULL */
	size_t n_uris;
	uint64_t gen; /* of client->watch_gen, when it was made */
	bool told;    /* the server tells it of changes: when it is lost something is missed */
	bool missed;  /* that has happened */
	bool ended;   /* hears nothing more */
	bool ending;  /* on_end is due, with `why` */
	bool dead;    /* freed while somebody walks along the list */
	cleat_error why;
};

/* A resource that a legacy server is asked to tell about. */
struct subscription {
	struct subscription *next;
	bool on;     /* resources/subscribe was answered */
	bool wanted; /* some watch has it */
	size_t n;
	char uri[];
};

/* A notification that waits for the server to be ready. */
struct notice {
	struct notice *next;
	cleat_doc *doc; /* [method, params or null] */
};

/* ---- the client ---------------------------------------------------------------------------- */

struct cleat_client {
	cleat_allocator mem;
	struct arena keep;         /* strings of the options */
	cleat_client_options opts; /* defaults applied */
	struct client_hooks hooks;
	struct link *link;
	void *runner;
	unsigned depth; /* calls into the role that are on the stack */
	uint64_t pump_at;
	bool closing, closed;

	/* reaching the server: negotiate.c, reconnect.c */
	enum client_phase phase;
	struct negotiation neg;
	bool ever_ready;
	unsigned session;       /* counts those that were begun */
	unsigned sessions_lost; /* without an answer in between */
	uint64_t open_until;    /* the opening has to end by then; 0: nothing opens */
	bool doomed;            /* client_fail() */
	unsigned remarked;      /* the bits of client_remark() */
	cleat_error error;      /* the last reason for not being ready */
	enum cleat_step error_step;
	int error_http;

	/* what the server is */
	enum revision rev; /* REV_NONE: none agreed on */
	bool modern;
	cleat_result *hello; /* what it said about itself */
	const cleat_json *caps;

	/* losing it: reconnect.c */
	uint64_t deaths[BREAKER_DEATHS];
	unsigned n_deaths; /* all ever; the ring's index follows from it */
	unsigned attempts; /* since it was last in order */
	uint64_t retry_at; /* CLIENT_WAITING */
	uint64_t ready_at;
	bool link_up;
	bool half_open; /* the one try after a pause */
	bool breaker;   /* nothing is tried until retry_at, calls fail at once */

	/* calls */
	struct rpc_table calls;
	int64_t last_id;
	unsigned n_calls; /* of the program's */
	unsigned n_late;  /* begun while the client closes */
	cleat_call *done_first, *done_last;
	cleat_call *spare;
	unsigned n_spare;
	bool refreshing_tools;
	struct notice *notices;
	unsigned n_notices;

	struct buf out;  /* kept for the next message; taken while one is written */
	struct buf meta; /* members of _meta that every modern request has */
	bool roots;      /* the capability is declared */
	bool said_roots; /* it was, to this session */

	struct cache *cache; /* NULL: none */
	uint64_t changes;    /* counts what the server said has changed */
	struct toolbook *tools;

	/* questions */
	struct peer *asked;
	struct question *questions;
	size_t n_questions;
	int64_t last_question;
	bool cancel_questions;
	struct buf asked_out;

	/* watches */
	struct cleat_watch *watches;
	unsigned walking;        /* along the watches */
	bool watch_dirty;        /* what is listened to has to be looked at again */
	cleat_call *listen;      /* acknowledged */
	cleat_call *listen_next; /* not yet */
	uint64_t watch_gen;      /* counts changes of the watches */
	uint64_t listen_gen;     /* the one that c->listen is for */
	uint64_t listen_next_gen;
	unsigned watch_attempts;   /* to listen, or to subscribe, that came to nothing */
	uint64_t watch_at;         /* not before; 0: at once */
	uint64_t listen_since;     /* acknowledged; 0: not */
	struct subscription *subs; /* legacy */
	size_t n_subs;
	cleat_call *subscribing;   /* resources/subscribe or unsubscribe, one at a time */
	struct subscription *busy; /* what it is about */
};

/* ---- tags ---- */

/* What the link gets for a request, and gives back: its id. A number where the link's interface wants a
 * pointer, so that one that comes late points to nothing. */
static inline void *tag_make(int64_t id)
{
	return (void *)(uintptr_t)id; /* NOLINT(performance-no-int-to-ptr) */
}

static inline int64_t tag_id(const void *tag)
{
	return (int64_t)(uintptr_t)tag;
}

/* ---- client.c ---- */
uint64_t client_now(cleat_client *c);
COLD void client_note(cleat_client *c, int level, const char *fmt, ...) CLEAT_PRINTF(3, 4);
/* A warning about what the server does not do by the book, but can only mean one thing by. Each once. */
COLD void client_remark(cleat_client *c, unsigned remark, const char *text);
/* Does the server have it? True also when it has not said what it has. */
bool client_offers(const cleat_client *c, const char *capability);
/* What the server says of itself, from now on; NULL: nothing. Takes the result. */
void client_set_hello(cleat_client *c, cleat_result *r);

/* ---- turn.c ---- */
/* Around everything that comes in from outside; the last one out runs what has ended. */
void client_enter(cleat_client *c);
void client_leave(cleat_client *c);
/* The same where no callback may run, because we were called by somebody whom it may call. */
void client_leave_later(cleat_client *c);
/* client_pump() has something to do, at the latest then; 0: now. */
void client_arm(cleat_client *c, uint64_t at);

/* ---- call.c ---- */
/* A call of the program's, from client_call_new(); nothing is sent. What is wrong with it from the start is
 * its result: it has ended then. NULL: out of memory, and it is gone. */
cleat_call *call_begin(cleat_call *call, const cleat_call_options *o, struct str method,
		       struct build *params);
/* A call of the role's own, from client_call_new() (NULL is accepted). NULL when out of memory, and it is
 * gone. Nothing is sent. `params` may be NULL: none. */
cleat_call *call_internal(cleat_call *call, const char *method, struct build *params,
			  void (*done)(cleat_call *, cleat_result *));
/* "tools/call add", for people; static inside `to`. */
const char *call_label(const cleat_call *call, char *to, size_t n);
/* Sends it as a new request, or lets it wait until the server is ready. */
void call_send(cleat_call *call);
/* The same for calls that make the server ready, and cannot wait for it. */
void call_send_now(cleat_call *call);
/* No time limit but this, from now on (0: none). */
void call_limit(cleat_call *call, uint64_t idle_ms, uint64_t hard_ms);
/* Sign of life. */
void call_touch(cleat_call *call);
/* Sets when it has taken too long, from idle_at and hard_at. */
void call_set_deadline(cleat_call *call);
/* The end; takes the result (NULL: out of memory). The callback follows in client_leave(). */
void call_end(cleat_call *call, cleat_result *r);
COLD void call_fail(cleat_call *call, enum cleat_step step, int status, const char *fmt, ...)
	CLEAT_PRINTF(4, 5);
COLD void call_fail_link(cleat_call *call, const struct link_failure *why);
COLD void call_fail_error(cleat_call *call, enum cleat_step step, int http_status,
			  const cleat_error *why);
/* Takes it off the wire: the server is told that nobody waits, and late answers are unknown. */
void call_abandon(cleat_call *call, const char *reason);
/* Ends a call of our own without its callback. NULL is accepted. */
void call_drop(cleat_call *call, const char *reason);
void call_free(cleat_call *call);
/* The one that is under way with this id (or tag); NULL: none. */
cleat_call *call_by_number(cleat_client *c, int64_t number);
cleat_call *call_by_tag(cleat_client *c, void *tag);
cleat_call *call_by_id(cleat_client *c, const cleat_json *id);
/* The only one of the program's that is under way; NULL: none or several. */
cleat_call *call_only(cleat_client *c);
/* Does this to every call in a state. The function may end calls, not start any. */
void call_each(cleat_client *c, enum call_state state, void (*fn)(cleat_call *, void *), void *arg);
/* Sends all that waits. */
void call_flush(cleat_client *c);

/* ---- answer.c ---- */
/* What came back for a call that was sent. `r` holds the message's values and is taken. */
void answer_result(cleat_call *call, cleat_result *r, const cleat_json *value, int http_status);
void answer_error(cleat_call *call, cleat_result *r, const cleat_json *error, int http_status);
/* Sets the key under which the result of a request with these params may be kept. */
void answer_set_key(cleat_call *call, const cleat_json *params);
/* The result, if it was kept; NULL otherwise. */
cleat_result *answer_cached(cleat_call *call);

/* ---- message.c ---- */
/* Takes the buffer for a message, and gives it back. In between the client has none, so that a
 * callback which sends something cannot disturb the one at hand. */
struct buf message_take(cleat_client *c);
void message_give(cleat_client *c, struct buf *b);
/* Writes the call's request with the id that it has. The buf's status. */
int message_request(cleat_call *call, struct buf *out);
/* Hands a text to the link. */
int message_post(cleat_client *c, const struct link_message *m);
/* A notification with these params (an object; NULL: none). */
int message_notice(cleat_client *c, struct str method, const cleat_json *params, void *tag);
void message_cancel(cleat_client *c, int64_t id, const char *reason);
/* Makes c->meta new; CLEAT_OK or CLEAT_ENOMEM. */
int message_set_meta(cleat_client *c);
/* clientInfo, and the capabilities that revision knows. */
void message_client_info(const cleat_client *c, struct build *b);
void message_capabilities(const cleat_client *c, struct build *b, enum revision rev);

/* ---- intake.c ---- */
void intake_message(void *ctx, struct str text, void *tag, int http_status);
void intake_oversize(void *ctx, void *tag, size_t limit);

/* ---- trim.c ---- */
/* The answer to a call for a list, without the entries that nest too deep, in the arena; they are noted. False when it
 * is something else. */
bool trim_list(const cleat_call *call, struct arena *ar, struct str text, struct str *ret);

/* ---- notify.c ---- */
/* A notification, and the message that it is. */
void notify_take(cleat_client *c, const struct rpc_message *m, const cleat_json *message,
		 void *tag);

/* ---- asked.c ---- */
/* A request of the server's, and the message that it is. */
void asked_request(cleat_client *c, const struct rpc_message *m, const cleat_json *message,
		   void *tag);
/* The server gives a request of its own up. */
void asked_cancelled(cleat_client *c, const cleat_json *message);
/* One of inputRequests, or a page to visit. CLEAT_OK: rounds_answer() or rounds_fail(), visit_answer() or
 * visit_fail() follows, perhaps from in here. */
int asked_input(cleat_call *call, struct str key, struct str method, const cleat_json *params);
/* The call has ended: nobody wants its answers. */
void asked_forget(cleat_call *call);
/* Tells the peer of questions that nobody waits for. */
void asked_pump(cleat_client *c);
/* The connection for questions is gone. */
void asked_close(cleat_client *c);

/* ---- rounds.c ---- */
/* The server wants input first. Takes `r`. */
void rounds_begin(cleat_call *call, cleat_result *r, const cleat_json *value);
/* `result` is JSON. */
void rounds_answer(cleat_call *call, struct str key, struct str result);
COLD void rounds_fail(cleat_call *call, struct str key, const char *why);
void rounds_done(cleat_call *call); /* frees what it has */
/* Somebody is asked: the call's idle time stands still. And: it is sent again. */
void rounds_pause(cleat_call *call);
void rounds_resume(cleat_call *call);

/* ---- visit.c ---- */
/* Is the call's error one that the user may do something about, and is he asked? Takes `r` then. */
bool visit_begin(cleat_call *call, cleat_result *r);
void visit_answer(cleat_call *call, struct str result); /* JSON */
COLD void visit_fail(cleat_call *call);
void visit_done(cleat_call *call); /* frees what it has */

/* ---- pages.c ---- */
/* A page is there: another one is asked for, or the call ends. Takes `r`. */
void pages_take(cleat_call *call, cleat_result *r);
/* Makes it a call for all pages. False when out of memory. */
bool pages_attach(cleat_call *call, enum cleat_list what);
/* The server refuses a page (what is kept of the others is dropped by now): is it worth another try, from
 * the beginning? True: that is under way. */
bool pages_restart(cleat_call *call);
/* Has a page come already? */
bool pages_begun(const cleat_call *call);
void pages_free(cleat_call *call);
void pages_cursor(const cleat_call *call, struct jw *w);
/* Nothing to ask for: the server does not have such a list. */
bool pages_empty(cleat_call *call);

/* ---- tools.c ---- */
/* A page of tools/list: learned, and cleared of tools that cannot be called. Gives the value to go on
 * with; NULL when out of memory. */
const cleat_json *tools_learn(cleat_call *call, cleat_result *r, const cleat_json *value);
/* The call is held until the list of tools has been read anew. */
void tools_refresh(cleat_call *call);

/* ---- negotiate.c ---- */
/* The link is up. */
void negotiate_begin(cleat_client *c);
/* A notice of ours was accepted, or not. */
void negotiate_accepted(cleat_client *c);
void negotiate_refused(cleat_client *c, const struct link_failure *why);
/* The session is lost before anything was asked in it: is another one begun? Once in an opening. */
bool negotiate_renew(cleat_client *c);

/* ---- reconnect.c ---- */
/* It is due. */
void reconnect_pump(cleat_client *c, uint64_t now);
void reconnect_ready(cleat_client *c);
COLD void reconnect_failed(cleat_client *c, enum cleat_step step, int http_status,
			   const cleat_error *why);
void reconnect_up(void *ctx, const struct link_failure *why);
void reconnect_down(void *ctx, const struct link_failure *why);
/* A session of a legacy server is gone; this call has noticed. */
void reconnect_session_lost(cleat_call *call, const struct link_failure *why);
/* How long to wait after so many attempts: a part of it, at random, but never nothing. */
uint64_t reconnect_delay(cleat_client *c, unsigned attempts);
/* When a call is made: may it wait? CLEAT_OK, or the reason why it fails at once. */
int reconnect_admit(cleat_client *c, cleat_error *err);

/* ---- watch.c ---- */
void watch_ready(cleat_client *c);
void watch_lost(cleat_client *c);
/* Makes what is listened to what is wanted; runs on_end. */
void watch_pump(cleat_client *c, uint64_t now);
/* When it wants to be called again; 0: not. */
uint64_t watch_next(const cleat_client *c);
/* Something changed; `uri` with CLEAT_CHANGE_RESOURCE. */
void watch_tell(cleat_client *c, enum cleat_change_kind what, struct str uri);
COLD void watch_end(struct cleat_watch *w, int status, const char *fmt, ...) CLEAT_PRINTF(3, 4);
/* What was tried came to nothing for now: it is tried again after a while. */
void watch_later(cleat_client *c);
/* Is the while over? */
bool watch_due(cleat_client *c, uint64_t now);
/* Something was lost: those that have heard will hear of it. */
void watch_missed(cleat_client *c);
void watch_free_all(cleat_client *c);
/* The lists that some watch wants, and the server has. */
unsigned watch_lists(const cleat_client *c, const struct cleat_watch *w);

/* ---- listen.c (modern) ---- */
void listen_pump(cleat_client *c, uint64_t now);
void listen_acknowledged(cleat_client *c, const cleat_json *meta, const cleat_json *params,
			 void *tag);
/* Does this notification belong to what we listen to? */
bool listen_owns(cleat_client *c, const cleat_json *meta, void *tag);
/* The server ends it with notifications/cancelled. */
void listen_cancelled(cleat_client *c, const cleat_json *id);
void listen_drop(cleat_client *c);

/* ---- subscribe.c (legacy) ---- */
void subscribe_pump(cleat_client *c, uint64_t now);
/* The session is a new one: nothing is subscribed. */
void subscribe_lost(cleat_client *c);
void subscribe_free(cleat_client *c);

#endif
