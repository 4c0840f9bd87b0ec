/* rpc/peer.h - the inside of <cleat/rpc.h>, shared by the files that implement it.
 *
 * peer.c owns the object, the methods and the way out; intake.c takes messages in and answers
 * batches; call.c runs handlers and writes their answers; request.c sends requests and matches
 * responses. Invariants: an intake lives while somebody holds it (the loop that reads it, each call
 * that is not answered or whose handler is running, each response that waits for its callback);
 * nothing of a peer is freed while depth is not 0.
 */
#ifndef RPC_PEER_H
#define RPC_PEER_H

#include "base/arena.h"
#include "base/buf.h"
#include "rpc/message.h"
#include "rpc/table.h"

#include <cleat/rpc.h>

struct method {
	char *name;
	cleat_rpc_handler *handler;
	void *userdata;
};

/* One message that came in: a single one, or a batch with all its calls. */
struct intake {
	struct arena arena;
	cleat_rpc *rpc;
	struct intake *prev, *next; /* among the live ones of the peer */
	cleat_rpc_call *calls;      /* one per member */
	size_t n_calls;
	size_t holds; /* reasons to stay in memory */
	size_t waits; /* reasons not to answer the batch: calls not answered, members not read */
	size_t answer_bytes; /* of a batch, so far */
	bool batch;
};

struct cleat_rpc_call {
	struct intake *in;
	struct rpc_node node; /* in rpc->inflight while a request is not answered */
	const cleat_json *id; /* NULL: a notification, or a refused message whose id is unknown */
	const char *method;
	const cleat_json *params;
	void *userdata;
	const char *id_text; /* made on demand */
	struct str answer;   /* of a member of a batch, until all are there */
	bool due;            /* an answer is owed */
	bool running;        /* its handler is on the stack */
	bool answered;
};

/* A request that went out. */
struct pending {
	struct rpc_node node;
	void (*on_response)(void *userdata, const cleat_rpc_response *response);
	void *userdata;
	uint64_t timeout_ms;
	bool anchored;       /* a tick has seen it, so its deadline is set */
	bool sending;        /* cleat_rpc_request is still on the stack: no callback yet */
	int ended;           /* closed or cancelled while sending */
	struct intake *held; /* the response that came while sending, */
	cleat_rpc_response response;
};

struct cleat_rpc {
	cleat_allocator mem;
	cleat_rpc_options opts; /* resolved: no zero limits */
	struct rpc_rules rules;
	struct method *methods; /* sorted by name */
	size_t n_methods, cap_methods;
	struct rpc_table inflight, pending;
	struct intake *intakes; /* live */
	struct intake *spare;   /* one kept for the next message */
	struct buf out;         /* kept for the next message out; taken while one is written */
	size_t n_open;          /* calls that are not answered, notifications included */
	size_t n_held;          /* pending requests with a held response */
	int64_t last_id;
	uint64_t now_ms;
	unsigned depth; /* calls into the peer that are on the stack */
	bool closed, dying;
};

/* ---- peer.c ---- */
void peer_enter(cleat_rpc *rpc);
void peer_leave(cleat_rpc *rpc); /* may free rpc */
void peer_notice(cleat_rpc *rpc, int status, int rpc_code, const char *fmt, ...) CLEAT_PRINTF(4, 5);
/* A copy of the registered method, or one with a NULL handler. */
struct method peer_method(const cleat_rpc *rpc, struct str name);
/* The registered name nearest to this one; absent when none is near. */
struct str peer_nearest(const cleat_rpc *rpc, struct str name);
/* A buffer for one message out, and the way back. In between the peer has none, so that a `send`
 * that calls in again cannot disturb a message that is being sent. */
struct buf peer_take_out(cleat_rpc *rpc);
void peer_give_back(cleat_rpc *rpc, struct buf *out);
int peer_send(cleat_rpc *rpc, struct str text);
/* The text that JSON-RPC 2.0 gives the code; "Server error" for those it does not know. */
const char *peer_code_text(int code);
/* An error with the standard text of the code and {"details": ...}; details may be NULL. */
void peer_write_error(cleat_rpc *rpc, struct buf *out, const cleat_json *id, int code,
		      const char *details);

/* ---- intake.c ---- */
/* One thing less to wait for; the last one sends the answer of a batch. */
int intake_settled(struct intake *in);
/* Gives up one hold; the last one frees. */
void intake_release(struct intake *in);
void intake_free(struct intake *in);

/* ---- call.c ---- */
int call_run(cleat_rpc_call *call, struct str method);
/* Answers with the standard error of why->rpc_code; for a notification it is only a notice. */
int call_refuse(cleat_rpc_call *call, const cleat_error *why);

/* ---- request.c ---- */
/* A response; `rc` and `err` are what classifying it gave. */
int pending_response(cleat_rpc *rpc, struct intake *in, const struct rpc_message *m, int rc,
		     const cleat_error *err);
void pending_deliver_held(cleat_rpc *rpc);
void pending_close_all(cleat_rpc *rpc);

#endif
