/* cleat/rpc.h - JSON-RPC 2.0 by itself: one peer, both roles, no I/O, no MCP.
 *
 * A cleat_rpc is one side of a conversation. Whole messages go in with cleat_rpc_receive(), whole
 * messages come out through the `send` callback; how they travel (a line each, a frame, a datagram)
 * is the program's business. It answers requests with the handlers that were registered, sends
 * requests of its own and matches the answers, and speaks batches. The clock comes from outside.
 *
 *	static int subtract(cleat_rpc_call *call)
 *	{
 *		double a = cleat_json_num(cleat_rpc_param(call, 0, "minuend"), 0);
 *		double b = cleat_json_num(cleat_rpc_param(call, 1, "subtrahend"), 0);
 *
 *		return cleat_rpc_replyf(call, "%g", a - b);
 *	}
 *
 *	cleat_rpc *rpc = cleat_rpc_new(&(cleat_rpc_options){ .send = write_line });
 *	cleat_rpc_on(rpc, "subtract", subtract, NULL);
 *	cleat_rpc_receive(rpc, line, length);
 *
 * Threads: a peer and everything that belongs to it is used by one thread at a time.
 *
 * Re-entrancy: every function may be called from inside every callback, also from `send` (so two
 * peers in one process can be wired together directly). cleat_rpc_free() from inside a callback
 * closes at once and frees when the outermost call into the peer returns.
 */
#ifndef CLEAT_RPC_H
#define CLEAT_RPC_H

#include <cleat/base.h>
#include <cleat/json.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cleat_rpc cleat_rpc;
typedef struct cleat_rpc_call cleat_rpc_call; /* a request or notification that came in */

/* Deals with one request or notification. It returns
 *	CLEAT_OK        after it answered (a notification needs no answer),
 *	CLEAT_PENDING   when the answer follows later; the call stays valid until it is answered,
 *	a failure       to have -32603 answered with the text of that status.
 * Returning CLEAT_OK without an answer is noticed: the other side gets -32603, on_notice is told. */
typedef int cleat_rpc_handler(cleat_rpc_call *call);

/* ---- the peer ----------------------------------------------------------------------------- */

/* Everything but `send` may be zero. */
typedef struct cleat_rpc_options {
	/* Takes one whole message: valid JSON, UTF-8, on one line, without a newline at its end. The
	 * bytes are valid during the call. Returns CLEAT_OK or a failure, which is handed to the
	 * function that wanted to send; the message counts as gone either way. */
	int (*send)(void *userdata, const char *bytes, size_t n);
	/* What no caller can be told otherwise: a response to nothing, a broken response, a failed
	 * notification handler, a handler that returned without an answer, an answer that could not be
	 * sent. May be NULL. */
	void (*on_notice)(void *userdata, const cleat_error *notice);
	cleat_rpc_handler *fallback; /* for methods nobody registered; NULL: -32601 */
	void *userdata;              /* for the three above */
	const cleat_allocator *allocator;
	cleat_json_limits limits;
	bool strict_ids;    /* MCP's rule: ids are strings or integers; an error for a message whose
	                        id is unknown leaves the id out instead of writing null */
	bool no_batch;      /* an array is answered with -32600 */
	size_t max_message; /* bytes of a message in either direction; 0: 4 MiB */
	size_t max_batch;   /* members of a batch that comes in; 0: 100 */
	size_t max_inflight; /* calls that wait for their answer from us; 0: 256 */
	size_t max_pending;  /* requests that wait for their answer from there; 0: 256 */
} cleat_rpc_options;

/* A new peer. NULL when opts or opts->send is NULL, when opts is of a newer Cleat (<cleat/base.h>), or out
 * of memory. Free with cleat_rpc_free().
 * Programs call cleat_rpc_new(); the size of the struct travels along. */
CLEAT_API cleat_rpc *cleat_rpc_new_(const cleat_rpc_options *opts, size_t size);
static inline cleat_rpc *cleat_rpc_new(const cleat_rpc_options *opts)
{
	return cleat_rpc_new_(opts, sizeof(cleat_rpc_options));
}
/* Closes (see cleat_rpc_close) and frees. Calls that were never answered are freed with it and must
 * not be touched any more. From inside a callback of this peer the freeing itself waits until the
 * outermost call into it returns. Accepts NULL. */
CLEAT_API void cleat_rpc_free(cleat_rpc *rpc);
/* The conversation is over: every pending request gets its callback with CLEAT_ECLOSED, in the order
 * they were sent; nothing is sent or taken in any more (CLEAT_ECLOSED). Calls that wait for an answer
 * stay valid and still have to be answered (or freed with the peer); the answer goes nowhere. Again:
 * nothing. Accepts NULL. */
CLEAT_API void cleat_rpc_close(cleat_rpc *rpc);

/* Registers a handler; `method` is copied, `userdata` is what cleat_rpc_userdata() gives. CLEAT_OK;
 * CLEAT_EINVAL for NULL, an empty or not UTF-8 name, a NULL handler, or a name that starts with
 * "rpc." (reserved; the fallback sees those); CLEAT_EEXIST; CLEAT_ELIMIT over 10,000 methods;
 * CLEAT_ENOMEM. */
CLEAT_API int cleat_rpc_on(cleat_rpc *rpc, const char *method, cleat_rpc_handler *handler,
			   void *userdata);

/* Takes in one whole message of n bytes: a request, notification, response or a batch of them.
 * Handlers and response callbacks run inside. What is wrong is answered as JSON-RPC 2.0 says (never
 * a response, never a notification). A batch is answered with one array, in the order of its
 * requests, when the last of them is answered. CLEAT_OK; CLEAT_EPROTO when the message (or a member
 * of the batch) broke the protocol; CLEAT_ELIMIT when it was over a limit; CLEAT_ENOMEM;
 * CLEAT_ECLOSED; CLEAT_EINVAL for NULL; or what `send` returned. The peer is usable after each. */
CLEAT_API int cleat_rpc_receive(cleat_rpc *rpc, const char *bytes, size_t n);

/* Tells the time: milliseconds of any clock that does not go backwards. Runs the callbacks of
 * requests whose time is over. Returns the milliseconds until it should be called again, 0 for at
 * once, -1 when there is nothing to wait for. The timeout of a request counts from the first tick
 * after it was sent, so it is never shorter than asked for, and the answer to "how long may I sleep"
 * is only right when asked after the last request. NULL and a closed peer give -1. */
CLEAT_API int64_t cleat_rpc_tick(cleat_rpc *rpc, uint64_t now_ms);

/* ---- a call that came in ------------------------------------------------------------------ */

/* All are borrowed from the call and valid until it is answered; inside the handler, until the
 * handler returns. NULL gives NULL, or false. */
CLEAT_API cleat_rpc *cleat_rpc_call_peer(const cleat_rpc_call *call);
CLEAT_API const char *cleat_rpc_call_method(const cleat_rpc_call *call);
/* An array, an object, or NULL when there are none. */
CLEAT_API const cleat_json *cleat_rpc_call_params(const cleat_rpc_call *call);
/* One parameter, however it was passed: element `index` of an array, or member `name` of an object
 * (`name` may be NULL for methods that take positions only). NULL when it is not there. */
CLEAT_API const cleat_json *cleat_rpc_param(const cleat_rpc_call *call, size_t index,
					    const char *name);
/* The id as JSON text (5, "a", null), as it was received. NULL for a notification, or out of
 * memory. */
CLEAT_API const char *cleat_rpc_call_id(cleat_rpc_call *call);
/* Is no answer wanted? A request whose id is null is a request. */
CLEAT_API bool cleat_rpc_is_notification(const cleat_rpc_call *call);
/* What was registered with the handler; for the fallback, the peer's userdata. */
CLEAT_API void *cleat_rpc_userdata(const cleat_rpc_call *call);

/* The answers. Each ends the call, whatever it returns: when the answer cannot be made (a wrong
 * template, over max_message, no memory) the other side gets -32603 instead and the status tells
 * why. For a notification they send nothing and return CLEAT_OK, so a handler need not ask. Other
 * results: CLEAT_EMISUSE for a second answer inside the handler, CLEAT_ECLOSED, CLEAT_EINVAL for a
 * NULL call, or what `send` returned. After the answer to a call that was CLEAT_PENDING the call is
 * gone. */

/* `result` NULL answers null. It may belong to the call (an echo). */
CLEAT_API int cleat_rpc_reply(cleat_rpc_call *call, const cleat_json *result);
/* A template, see <cleat/json.h>. */
CLEAT_API int cleat_rpc_replyf(cleat_rpc_call *call, const char *fmt, ...) CLEAT_PRINTF(2, 3);
/* An error with a plain printf text. `fmt` NULL gives the standard text of the code. */
CLEAT_API int cleat_rpc_reject(cleat_rpc_call *call, int code, const char *fmt, ...)
	CLEAT_PRINTF(3, 4);
/* The same with a ready text and data; both may be NULL. */
CLEAT_API int cleat_rpc_reject_data(cleat_rpc_call *call, int code, const char *message,
				    const cleat_json *data);

/* ---- requests of our own ------------------------------------------------------------------ */

/* How a request ended. Borrowed: valid during the callback. */
typedef struct cleat_rpc_response {
	int64_t id;
	/* status is CLEAT_OK; CLEAT_EREMOTE (then rpc_code and message are the other side's, cut to fit);
	 * CLEAT_ETIMEOUT; CLEAT_ECANCELLED; CLEAT_ECLOSED; or CLEAT_EPROTO when the response was broken. */
	cleat_error error;
	const cleat_json *result;       /* with CLEAT_OK */
	const cleat_json *error_object; /* with CLEAT_EREMOTE: code, message, data as received */
} cleat_rpc_response;

typedef struct cleat_rpc_request_options {
	uint64_t timeout_ms; /* 0: none */
	/* Called exactly once for a request that was sent, never inside cleat_rpc_request(). NULL: the
	 * answer is awaited but nobody is told. */
	void (*on_response)(void *userdata, const cleat_rpc_response *response);
	void *userdata;
} cleat_rpc_request_options;

/* int64_t cleat_rpc_request(cleat_rpc *rpc, const cleat_rpc_request_options *opts, const char *method,
 *                           const char *fmt, ...)
 * Sends a request. `fmt` is a template that makes an array or an object (see <cleat/json.h>), or NULL
 * for no params. `opts` may be NULL. Returns its id, which is positive and never used twice, or a
 * failure: CLEAT_EINVAL, CLEAT_ELIMIT (max_pending requests are waiting, or the message is over
 * max_message), CLEAT_ENOMEM, CLEAT_ECLOSED, or what `send` returned; then there is no callback.
 * A response that arrives inside `send` waits for the next tick or message. cleat_rpc_requestv() takes
 * a va_list. */
CLEAT_API int64_t cleat_rpc_request_(size_t size, cleat_rpc *rpc,
				     const cleat_rpc_request_options *opts, const char *method,
				     const char *fmt, ...) CLEAT_PRINTF(5, 6);
CLEAT_API int64_t cleat_rpc_requestv_(size_t size, cleat_rpc *rpc,
				      const cleat_rpc_request_options *opts, const char *method,
				      const char *fmt, va_list ap) CLEAT_PRINTF(5, 0);
#define cleat_rpc_request(...)  cleat_rpc_request_(sizeof(cleat_rpc_request_options), __VA_ARGS__)
#define cleat_rpc_requestv(...) cleat_rpc_requestv_(sizeof(cleat_rpc_request_options), __VA_ARGS__)

/* Sends a notification; `fmt` as for cleat_rpc_request(). CLEAT_OK or a failure as there. */
CLEAT_API int cleat_rpc_notify(cleat_rpc *rpc, const char *method, const char *fmt, ...)
	CLEAT_PRINTF(3, 4);
CLEAT_API int cleat_rpc_notifyv(cleat_rpc *rpc, const char *method, const char *fmt, va_list ap)
	CLEAT_PRINTF(3, 0);

/* Forgets a pending request: its callback runs now, with CLEAT_ECANCELLED, and an answer that comes
 * later is a notice. JSON-RPC 2.0 has no cancellation: nothing is sent. CLEAT_OK, CLEAT_ENOENT when it
 * is not pending, CLEAT_EINVAL for NULL. */
CLEAT_API int cleat_rpc_cancel(cleat_rpc *rpc, int64_t id);

#ifdef __cplusplus
}
#endif
#endif
