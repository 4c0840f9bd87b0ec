/* fuzz/fuzz_rpc.c - hostile messages to a JSON-RPC peer in both roles.
 *
 * Input: a byte of flags, a byte that says which allocation fails, then messages, one a line.
 * Invariants: everything the peer sends is JSON-RPC 2.0 by our own reader; every request of ours
 * ends exactly once; no request is answered twice; nothing leaks.
 */
#include "memory.h"
#include "rpc/message.h"
#include "json/parse.h"

#include <cleat/rpc.h>

#include <stdlib.h>
#include <string.h>

enum { STRICT = 1, NO_BATCH = 2, TICK = 4, CLOSE = 8, FORGET = 16, REENTER = 32, FOREVER = 64 };
enum { MAX_DEFERRED = 4 };

struct bench {
	cleat_rpc *rpc;
	unsigned flags;
	struct rpc_rules rules;
	cleat_rpc_call *deferred[MAX_DEFERRED];
	size_t n_deferred;
	int asked, answered;
	unsigned depth;
	struct fuzz_memory memory;
};

/* ---- the way out ---- */

static void check_message(const struct bench *b, const cleat_json *v)
{
	struct rpc_message m;
	cleat_error err;
	int rc = rpc_classify(v, &b->rules, &m, &err);

	/* MCP leaves out the id of an error that belongs to no request. */
	if (rc != CLEAT_OK)
		require(b->rules.integer_ids && m.kind == RPC_ERROR && m.error &&
			!cleat_json_get(v, "id"));
}

static int on_send(void *userdata, const char *bytes, size_t n)
{
	struct bench *b = userdata;
	cleat_doc *doc = cleat_doc_parse(bytes, n, NULL, NULL, NULL);
	const cleat_json *root = cleat_doc_root(doc);
	cleat_json_iter it = cleat_json_each(root);

	require(root != NULL && !memchr(bytes, '\n', n));
	if (cleat_json_type(root) == CLEAT_JSON_ARRAY) {
		require(cleat_json_size(root) > 0);
		while (cleat_json_next(&it))
			check_message(b, it.value);
	} else {
		check_message(b, root);
	}
	cleat_doc_free(doc);
	if ((b->flags & REENTER) && b->rpc && b->depth < 3) {
		b->depth++;
		cleat_rpc_receive(b->rpc, bytes, n); /* its own voice, from inside */
		b->depth--;
	}
	return CLEAT_OK;
}

static void on_notice(void *userdata, const cleat_error *e)
{
	(void)userdata;
	require(e->status != CLEAT_OK && memchr(e->message, '\0', sizeof e->message));
}

static void on_response(void *userdata, const cleat_rpc_response *r)
{
	struct bench *b = userdata;

	b->answered++;
	require(r->id > 0 && (r->error.status == CLEAT_OK) == (r->result != NULL));
}

/* ---- methods ---- */

static int echo(cleat_rpc_call *call)
{
	require(cleat_rpc_is_notification(call) || cleat_rpc_call_id(call) ||
		((struct bench *)cleat_rpc_userdata(call))->memory.countdown == 0);
	cleat_rpc_param(call, 1, "name");
	return cleat_rpc_reply(call, cleat_rpc_call_params(call));
}

static int later(cleat_rpc_call *call)
{
	struct bench *b = cleat_rpc_userdata(call);

	if (b->n_deferred == MAX_DEFERRED)
		return CLEAT_ELIMIT;
	b->deferred[b->n_deferred++] = call;
	return CLEAT_PENDING;
}

static int mute(cleat_rpc_call *call)
{
	(void)call;
	return CLEAT_OK;
}

static int reject(cleat_rpc_call *call)
{
	return cleat_rpc_reject_data(call, 7, cleat_rpc_call_method(call),
				     cleat_rpc_call_params(call));
}

static void answer_deferred(struct bench *b)
{
	while (b->n_deferred > 0) {
		cleat_rpc_call *call = b->deferred[--b->n_deferred];

		cleat_rpc_replyf(call, "{method: %s}", cleat_rpc_call_method(call));
	}
}

static void ask(struct bench *b)
{
	cleat_rpc_request_options o = { 10, on_response, b };

	if (cleat_rpc_request(b->rpc, &o, "ask", "{n: %d}", b->asked) > 0)
		b->asked++;
}

static void feed(struct bench *b, const char *text, size_t size)
{
	uint64_t now = 0;

	for (size_t i = 0; i <= size; i++) {
		const char *end = memchr(text + i, '\n', size - i);
		size_t n = end ? (size_t)(end - (text + i)) : size - i;

		ask(b);
		cleat_rpc_receive(b->rpc, text + i, n);
		if (b->flags & TICK)
			cleat_rpc_tick(b->rpc, now += 4);
		if (!(b->flags & FORGET))
			answer_deferred(b);
		i += n;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bench b = { 0 };
	cleat_allocator mem = fuzz_allocator(&b.memory);
	cleat_rpc_options o = { .send = on_send, .on_notice = on_notice, .userdata = &b };
	cleat_rpc *rpc;

	if (size < 2)
		return 0;
	b.flags = data[0];
	b.rules.integer_ids = o.strict_ids = (b.flags & STRICT) != 0;
	o.no_batch = (b.flags & NO_BATCH) != 0;
	o.max_message = 2048;
	o.max_batch = 8;
	o.max_inflight = 4;
	o.max_pending = 4;
	o.allocator = &mem;
	rpc = b.rpc = cleat_rpc_new(&o);
	cleat_rpc_on(rpc, "echo", echo, &b);
	cleat_rpc_on(rpc, "later", later, &b);
	cleat_rpc_on(rpc, "mute", mute, &b);
	cleat_rpc_on(rpc, "reject", reject, &b);
	b.memory =
		(struct fuzz_memory){ .countdown = data[1], .for_good = (b.flags & FOREVER) != 0 };
	feed(&b, (const char *)data + 2, size - 2);
	if (b.flags & CLOSE)
		cleat_rpc_close(rpc);
	answer_deferred(&b);
	cleat_rpc_free(rpc);
	require(b.asked == b.answered);
	return 0;
}
