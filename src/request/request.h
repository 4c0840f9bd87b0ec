/* request/request.h - a request: everything that is known of it while it is served.
 *
 * It belongs to the owner's thread, except the members that are marked otherwise. A request is in exactly
 * one phase; it leaves its connection only through request_end() (life.h).
 */
#ifndef REQUEST_REQUEST_H
#define REQUEST_REQUEST_H

#include "base/arena.h"
#include "base/buf.h"
#include "protocol/content.h"
#include "protocol/era.h"
#include "request/event.h"
#include "rpc/table.h"
#include "uri/template.h"

#include <stdatomic.h>

struct answers;
struct asked_call;
struct entry;
struct question;

struct method {
	const char *name;
	bool legacy, modern;
	bool asks;      /* its handler may ask the client (2026-07-28 patterns/mrtr) */
	bool cacheable; /* its result carries ttlMs and cacheScope */
	bool lasting;   /* it is about what comes later: not where nothing is remembered */
	/* Is there anything after it? NULL: always. */
	bool (*available)(const cleat_server *s);
	/* Serves the request: answers and ends it, or starts its handler. */
	void (*serve)(cleat_request *req);
	/* Writes the result of its handler; NULL where serve answers itself. */
	void (*write)(struct jw *w, cleat_request *req);
};

struct method_table {
	const struct method *v;
	size_t n;
};

/* What the reply of a handler becomes. */
enum shape {
	SHAPE_TOOL,
	SHAPE_RESOURCE,
	SHAPE_PROMPT,
	SHAPE_COMPLETION,
	SHAPE_OWN,  /* of a method of the program's: an object */
	SHAPE_FORM, /* from here on: in the asked mode */
	SHAPE_URL,
	SHAPE_SAMPLING
};

enum phase {
	PHASE_FREE,      /* in the server's pool */
	PHASE_READING,   /* being parsed and classified */
	PHASE_QUEUED,    /* over the connection's limit, waits */
	PHASE_RUNNING,   /* its handler runs, or was deferred */
	PHASE_ASKING,    /* waits for answers of a legacy client */
	PHASE_LISTENING, /* subscriptions/listen */
	PHASE_UNSENT     /* ended, but memory was too short even for an error: tried again */
};

typedef void cancel_fn(cleat_request *req);

struct cleat_request {
	/* touched by any thread */
	atomic_bool cancelled;
	atomic_int holds;     /* handler, and finish() after defer(): the last one ends the run */
	atomic_int deferred;  /* 0 no, 1 yes, 2 finished, or back in the pool */
	atomic_int posted;    /* progress and log on their way to the owner's thread */
	atomic_int cancel_fd; /* -1: none */
	_Atomic(cancel_fn *) on_cancel;
	/* kept when the request goes back to the pool */
	cleat_server *server;
	struct arena arena;
	struct buf content;      /* JSON of the blocks, comma-separated */
	struct buf structured;   /* JSON; empty: none */
	const cleat_json *value; /* the same, where it was given as one; see output_value() */

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
	cleat_connection *conn;
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
	struct answers *answers; /* of its batch; NULL: it is answered alone */

	/* what it is about */
	struct entry *entry; /* counted */
	enum shape shape;
	void *userdata; /* of the entry, or of who is asked */
	cleat_handler *handler;
	bool blocking;
	void (*settle)(
		cleat_request *req); /* when the handler has ended: answers and ends, or asks */
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
	const cleat_json *state;     /* of the run before */
	const cleat_json *new_state; /* set in this run */
	const cleat_json *given;     /* modern: inputResponses */
	const cleat_json *earlier;   /* modern: answers of rounds before, from the sealed state */
	const char *ask_failure;     /* what was wrong with an answer */
	int missing;                 /* enum cleat_client_capability that was needed, -1: none */

	/* subscriptions/listen */
	unsigned wants; /* LISTEN_* */
	const cleat_json *wanted_uris;
	bool behind; /* its client did not take a notification */
};

/* What subscriptions/listen counts as: itself, and each URI. */
static inline size_t request_listens_to(const cleat_request *req)
{
	return 1 + cleat_json_size(req->wanted_uris);
}

#endif
