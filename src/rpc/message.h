/* rpc/message.h - what one JSON value means in JSON-RPC 2.0, and how the answers are written.
 *
 * Classification of a parsed value into request, notification, result or error response, with every
 * rule of the specification; and the writers for those four. No state, no I/O, no method knowledge.
 * An id keeps the token it came with: 1, 1.0 and "1" are three ids, and are echoed as received.
 */
#ifndef RPC_MESSAGE_H
#define RPC_MESSAGE_H

#include "base/str.h"
#include "json/writer.h"

#include <cleat/json.h>

enum rpc_kind { RPC_INVALID, RPC_REQUEST, RPC_NOTIFICATION, RPC_RESULT, RPC_ERROR };

/* MCP is stricter than JSON-RPC 2.0. */
struct rpc_rules {
	bool integer_ids;   /* ids are strings or integers, never null, never 1.5 (else -32600) */
	bool no_lookalikes; /* "Method" beside or instead of "method" is refused, not ignored */
	bool named_params;  /* params, where present, is an object (else -32602, as JSON-RPC says a
	                      structured value that the method cannot take) */
};

struct rpc_message {
	enum rpc_kind kind;
	const cleat_json *root;
	const cleat_json *id;     /* NULL when absent or unusable; a JSON null id is a value */
	struct str method;        /* requests and notifications; without NUL bytes */
	const cleat_json *params; /* NULL when absent */
	const cleat_json *result; /* RPC_RESULT */
	const cleat_json *error;  /* RPC_ERROR: the object */
	int64_t error_code;
	struct str error_message;
	bool null_beside; /* a response with both, one of them null: that is overlooked */
};

/* CLEAT_OK, or CLEAT_EPROTO with err->rpc_code (-32600 or -32602) and a message that says what is
 * wrong and what would be right. Also on failure ret->id is set when a usable id is there, and
 * ret->kind is RPC_RESULT/RPC_ERROR when the broken message looks like a response (which must never
 * be answered). Refused: not an object, jsonrpc missing or not "2.0", duplicate keys or keys with
 * NUL in the envelope, method not a string, method with NUL, id of a wrong type, params neither
 * array nor object, both result and error (unless one of them is null, which is overlooked), neither,
 * error without integer code and string message, a response without an id. */
int rpc_classify(const cleat_json *root, const struct rpc_rules *rules, struct rpc_message *ret,
		 cleat_error *err);

/* Same id: same JSON type and same token (strings by content, numbers by text). */
bool rpc_id_equal(const cleat_json *a, const cleat_json *b);
/* May an answer with this id be meant for our request n? Not with a whole number, or a string, that says something
 * else. `text`: of a number as it is written (or of anything else that is not a string), or a string's content. */
bool rpc_id_may_mean(struct str text, bool string, int64_t n);
uint32_t rpc_id_hash(const cleat_json *id, uint32_t seed);

/* {"jsonrpc":"2.0","id":ID,"result":  - the caller writes the value, then rpc_end. A NULL id writes
 * null for rpc_result; rpc_error omits or nulls it by `null_id`. */
void rpc_begin_result(struct jw *w, const cleat_json *id);
/* The same up to and including the brace of a result that is an object, as every result of MCP is,
 * and both closing braces. */
void rpc_begin_result_object(struct jw *w, const cleat_json *id);
void rpc_end_result_object(struct jw *w);
/* {"jsonrpc":"2.0","id":N,"method":"M" [,"params":  - the caller writes params, then rpc_end. */
void rpc_begin_request(struct jw *w, int64_t id, const char *method);
void rpc_begin_notification(struct jw *w, const char *method);
void rpc_params(struct jw *w); /* writes ,"params": */
void rpc_end(struct jw *w);
/* The whole error response; `data` is JSON text or absent. With a NULL id the member is written as
 * null when `null_id` (JSON-RPC 2.0) and left out otherwise (MCP's schema allows no null). */
void rpc_write_error(struct jw *w, const cleat_json *id, bool null_id, int code, struct str message,
		     struct str data);

#endif
