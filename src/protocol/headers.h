/* protocol/headers.h - headers that repeat what a message says (2026-07-28 streamable-http, Request
 * Metadata): do they agree with it?
 *
 * Somebody between client and server may have decided by them, so a message that says something else
 * is refused. All give CLEAT_OK, or CLEAT_EPROTO with -32020 and the reason in *err, or CLEAT_ENOMEM.
 * Without headers (stdio) there is nothing to check.
 */
#ifndef PROTOCOL_HEADERS_H
#define PROTOCOL_HEADERS_H

#include "base/arena.h"
#include "protocol/peer.h"
#include "rpc/message.h"

struct link_message;

/* What Mcp-Name repeats: the name or the URI of what is asked for. Absent where the method needs none, and
 * where the params lack it. */
struct str headers_name(struct str method, const cleat_json *params);
/* MCP-Protocol-Version against _meta's version. */
int headers_check_version(const struct peer_headers *h, struct str version, cleat_error *err);
/* Mcp-Method and Mcp-Name. `mem` for what has to be decoded. */
int headers_check_request(const struct peer_headers *h, const struct rpc_message *m,
			  const cleat_allocator *mem, cleat_error *err);

/* The fields that a client sends with a message because of what it says: Mcp-Method, Mcp-Name and those of the
 * message, encoded where they have to be. Text of the message, or in the list's arena. CLEAT_OK, or
 * CLEAT_EINVAL: it cannot be said in a header. */
int headers_of(const struct link_message *m, struct http_field_list *to, cleat_error *err);

/* ---- Mcp-Param-* ------------------------------------------------------------------------------ */

/* One annotated property of a tool's inputSchema. */
struct header_param {
	struct header_param *next;
	struct str field; /* "mcp-param-region" */
	struct str *path; /* keys from the arguments to the value */
	size_t depth;
};

/* Finds the annotations ("x-mcp-header") of a schema, checked as the clause says; a wrong one is
 * CLEAT_EINVAL with the reason: a client would have to leave the tool out. More than 256 are wrong, too.
 * *ret is NULL when there are none. Lives in the arena, except for the keys, which are the schema's. */
int header_params_find(struct arena *ar, const cleat_json *schema, struct header_param **ret,
		       cleat_error *err);
/* The value that the header repeats; NULL when it is absent or null: there is no header then. */
const cleat_json *header_param_value(const struct header_param *p, const cleat_json *arguments);
/* Do the headers agree with the arguments (an object or NULL)? */
int header_params_check(const struct peer_headers *h, const struct header_param *params,
			const cleat_json *arguments, const cleat_allocator *mem, cleat_error *err);

#endif
