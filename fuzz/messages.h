/* fuzz/messages.h - what a server may send, whatever it was sent: JSON-RPC messages, one by one or in a
 * batch.
 */
#ifndef FUZZ_MESSAGES_H
#define FUZZ_MESSAGES_H

#include "require.h"
#include "rpc/message.h"

#include <cleat/json.h>

static inline void check_message(const cleat_json *v)
{
	static const struct rpc_rules rules = { .integer_ids = true, .named_params = true };
	struct rpc_message m;
	cleat_error err;
	int rc = rpc_classify(v, &rules, &m, &err);
	const cleat_json *id = cleat_json_get(v, "id");

	/* The id of an error that belongs to no request is left out, or null up to 2025-06-18. */
	require(rc == CLEAT_OK || (m.kind == RPC_ERROR && m.error &&
				   (!id || cleat_json_type(id) == CLEAT_JSON_NULL)));
}

/* One text of JSON; true when it is a response or a batch. */
static inline bool check_messages(const char *p, size_t n)
{
	static const cleat_json_limits deep = { .max_depth = 1024 };
	cleat_doc *doc = cleat_doc_parse(p, n, &deep, NULL, NULL);
	const cleat_json *root = cleat_doc_root(doc);
	cleat_json_iter it = cleat_json_each(root);
	bool batch = cleat_json_type(root) == CLEAT_JSON_ARRAY;
	bool response = batch || cleat_json_get(root, "result") || cleat_json_get(root, "error");

	require(root != NULL);
	if (batch)
		while (cleat_json_next(&it))
			check_message(it.value);
	else
		check_message(root);
	cleat_doc_free(doc);
	return response;
}

#endif
