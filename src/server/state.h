/* server/state.h - the three things that the server role is made of: the server, its connections,
 * their requests.
 *
 * Everything belongs to the owner's thread, except a request's members that are marked otherwise.
 * A request is in exactly one phase; it leaves its connection only through request_end(). A
 * connection lives until it is closed and its last request has ended.
 */
#ifndef SERVER_STATE_H
#define SERVER_STATE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/crypto.h"
#include "protocol/content.h"
#include "protocol/era.h"
#include "rpc/table.h"
#include "server/core.h"
#include "server/registry.h"

#include <stdatomic.h>

struct asked;
struct asked_call;
struct conn;
struct method;

/* ---- events from other threads ------------------------------------------------------------ */

enum event_kind { EVENT_DONE, EVENT_PROGRESS, EVENT_LOG, EVENT_RELEASE, EVENT_NOTE, EVENT_CALL };

struct event {
	struct server_event base; /* first: this is what hooks.post carries */
	enum event_kind kind;
	cleat_request *req;                     /* DONE, PROGRESS, LOG, RELEASE */
	uint64_t retry_ms;                      /* RELEASE */
	double done, total;                     /* PROGRESS */
	int level;                              /* LOG, NOTE */
	void (*fn)(cleat_server *s, void *arg); /* CALL */
	void *arg;
};

/* PROGRESS, LOG and NOTE carry a text; all but DONE are freed when handled. */
struct text_event {
	struct event e;
	bool has_text;
	size_t len;
	char text[];
};

/* ---- questions to the client -------------------------------------------------------------- */

enum ask_kind { ASK_FORM, ASK_URL, ASK_SAMPLING, ASK_ROOTS };

/* One question of a handler, by its key; lives in the request's arena. */
struct question {
	struct question *next;
	enum ask_kind kind;
	struct str key;
	struct str params;          /* JSON of the params of elicitation/create, ... */
	const char *elicitation_id; /* URL mode in 2025-11-25 */
	const cleat_json *answer;   /* the client's result; NULL: none yet */
	int failure;                /* a negative status instead of an answer */
	bool fresh;                 /* asked in this run of the handler */
	/* legacy: the request on its way to the client */
	cleat_request *req;
	struct rpc_node pending;
};

/* ---- a request ---------------------------------------------------------------------------- */

enum phase {
	PHASE_FREE,      /* in the server's pool */
	PHASE_READING,   /* being parsed and classified */
	PHASE_QUEUED,    /* over the connection's limit, waits */
	PHASE_RUNNING,   /* its handler runs, or was deferred */
	PHASE_ASKING,    /* waits for answers of a legacy client */
	PHASE_LISTENING, /* subscriptions/listen */
	PHASE_UNSENT     /* ended, but memory was too short even for an error: tried again */
};

struct batch;

typedef void cancel_fn(cleat_request *req);

struct cleat_request {
	/* touched by any thread */
	atomic_bool cancelled;
	atomic_int holds;     /* handler, and finish() after defer(): the last one ends the run */
	atomic_int deferred;  /* 0 no, 1 yes, 2 finished */
	atomic_int posted;    /* progress and log on their way to the owner's thread */
	atomic_int cancel_fd; /* -1: none */
	_Atomic(cancel_fn *) on_cancel;
	/* kept when the request goes back to the pool */
	cleat_server *server;
	struct arena arena;
	struct buf content;    /* JSON of the blocks, comma-separated */
	struct buf structured; /* JSON; empty: none */

	/* filled before they are read: by request_new(), rpc_classify(), the era, request_run() */
	struct rpc_node inflight;
	struct rpc_message msg;
	struct context ctx;
	struct event done; /* posted when the last hold is dropped */

	/* the reply: see reply_reset() */
	struct jw blocks_jw;
	size_t blocks;
	const char *role, *description;
	const char *meta; /* JSON object */
	const cleat_annotations *next_annotations;
	const char *next_meta;
	bool replied, is_error, rejected, has_cache, cache_shared;
	uint64_t cache_ttl;
	int reject_code;
	const char *reject_message, *reject_data;
	size_t suggested, suggest_total;
	bool suggest_total_set, suggest_more;
	int status; /* what the handler returned */

	/* zeroed from here on */
	struct conn *conn;
	void *tag;                  /* the transport's name for it */
	bool taken;                 /* the transport waits for its end */
	bool read;                  /* the message is in order: its method decides */
	cleat_request *next, *prev; /* in conn->requests, or in the pool */
	cleat_request *queue_next;
	enum phase phase;
	unsigned visit; /* see conn_each_request() */
	bool counted;   /* in n_running */
	bool silent;    /* the client cancelled or is gone: no answer */
	bool answered;  /* an answer was sent already (deadline, shutdown) */
	const struct method *method;
	struct batch *batch;

	/* what it is about */
	struct entry *entry; /* counted */
	cleat_handler *handler;
	bool blocking;
	const cleat_json *arguments; /* an object or NULL */
	void *args;                  /* decoded record */
	const char *uri;
	struct uri_vars vars;
	const cleat_json *complete_arg, *complete_ctx;
	struct asked_call *asked; /* PEER_ASKED, where there is a handler; NULL elsewhere */

	/* progress */
	double last_progress;
	bool any_progress;
	double progress_credit; /* notes that may be sent at once */
	uint64_t last_progress_ms;

	/* asking */
	struct question *questions;
	bool waits_for_session;   /* not sent before the session is initialized */
	const char *next_failure; /* ask_failure of the next run */
	unsigned open_questions;  /* on their way to a legacy client */
	unsigned rounds;
	const cleat_json *state;   /* of the run before */
	const char *new_state;     /* JSON set in this run */
	const cleat_json *given;   /* modern: inputResponses */
	const cleat_json *earlier; /* modern: answers of rounds before, from the sealed state */
	const char *ask_failure;   /* what was wrong with an answer */
	int missing;               /* enum cleat_client_capability that was needed, -1: none */

	/* subscriptions/listen */
	unsigned wants; /* LISTEN_* */
	const cleat_json *wanted_uris;
	bool behind; /* its client did not take a notification */
};

/* ---- a connection ------------------------------------------------------------------------- */

enum {
	LISTEN_TOOLS = 1 << SHELF_TOOLS,
	LISTEN_RESOURCES = 1 << SHELF_RESOURCES, /* templates count as resources */
	LISTEN_PROMPTS = 1 << SHELF_PROMPTS
};

struct subscription {
	struct subscription *next;
	struct str uri;
};

struct conn {
	struct peer peer; /* first */
	cleat_server *server;
	struct conn *next, *prev;
	struct peer_sink sink;
	struct peer_facts facts;            /* with a principal of its own */
	size_t taken;                       /* requests, in the call of receive() at hand */
	bool lost;                          /* an error without an id could not be sent in it */
	const struct peer_headers *headers; /* of the message at hand */
	bool closed;
	struct legacy_session session;
	struct arena arena;        /* session data */
	struct rpc_table inflight; /* requests by id */
	struct rpc_table pending;  /* our questions by number */
	cleat_request *starting;   /* the request whose method is being served, until it ends */
	int64_t next_id;
	cleat_request *requests; /* all that have not ended */
	size_t n_requests, n_running, n_listening;
	bool any_behind; /* of those that listen */
	cleat_request *queue, **queue_tail;
	size_t n_queued;
	struct subscription *subscriptions; /* legacy */
	size_t n_subscriptions;
	struct batch *unsent_batches;
	size_t n_unsent_batches;
	unsigned visit;
	unsigned busy; /* inside a call that must not free it */
};

/* ---- the server --------------------------------------------------------------------------- */

struct cleat_server {
	cleat_allocator mem;
	cleat_server_options opts; /* defaults applied, strings copied */
	struct arena arena;
	const char *name, *version;
	cleat_error error; /* the first one until there is a connection, then the last one */
	int start_status;  /* of the first one before any connection; the server is not run then */
	bool serving;      /* there was a connection */
	void (*log)(void *userdata, int level, const char *message);
	void *log_data;
	/* Remarks made before there was a log: cleat_server_main() brings one that late. */
	struct {
		int level;
		const char *text;
	} early[8];
	size_t n_early;
	struct server_hooks hooks;
	atomic_bool has_hooks; /* read by cleat_server_post(), any thread */
	_Atomic(void *) runner;
	atomic_bool stop_asked;
	void (*runner_done)(void *runner);
	struct registry registry;
	struct conn *conns;
	cleat_request *pool, **pool_tail; /* oldest first, so that a late double finish is seen */
	size_t pooled, running;
	unsigned changed; /* LISTEN_* bits: list_changed is due */
	bool stopping;
	bool pumping; /* inside server_pump() */
	bool unsent;  /* some answer waits for memory: PHASE_UNSENT, unsent_batches */
	uint32_t seed;
	uint64_t elicitations;      /* URL questions so far */
	struct str info[REV_COUNT]; /* Implementation, JSON, made when first needed */
	unsigned char key[CRYPTO_KEY_SIZE];
	bool has_key;
	struct asked *asked; /* NULL: there is no client behind this server (asked.h) */
	struct subscription_hook *subscription_hooks;
};

#endif
