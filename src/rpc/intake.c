/* rpc/intake.c - messages that come in: one or a batch, to calls and responses.
 *
 * Every message gets an arena and a slot per member; the batch's answer is sent when nothing is
 * left to wait for, and all of it is freed at once when nobody holds it. Not here: running handlers (call.c), matching responses
 * (request.c). Invariant: each member that is owed an answer gets exactly one, in its place.
 */
#include "base/error.h"
#include "base/mem.h"
#include "rpc/peer.h"
#include "json/mend.h"

/* A parsed value takes up to sixteen bytes and a byte or two of text, and growing costs a copy. */
enum { ARENA_PER_BYTE = 40, ARENA_LEAST = 64 << 20 };

static size_t arena_max(const cleat_rpc *rpc)
{
	size_t n = rpc->opts.max_message;

	n = n < SIZE_MAX / ARENA_PER_BYTE ? n * ARENA_PER_BYTE : SIZE_MAX;
	return n > ARENA_LEAST ? n : ARENA_LEAST;
}

static struct intake *intake_new(cleat_rpc *rpc)
{
	struct intake *in = rpc->spare;

	if (in) {
		struct arena kept = in->arena;

		rpc->spare = NULL;
		*in = (struct intake){ .arena = kept };
	} else {
		in = mem_zalloc(&rpc->mem, sizeof *in);
		if (!in)
			return NULL;
		arena_init(&in->arena, &rpc->mem, arena_max(rpc));
	}
	in->rpc = rpc;
	in->holds = in->waits = 1;
	in->next = rpc->intakes;
	if (in->next)
		in->next->prev = in;
	rpc->intakes = in;
	return in;
}

void intake_free(struct intake *in)
{
	cleat_allocator mem = in->arena.mem;

	arena_done(&in->arena);
	mem_free(&mem, in);
}

static void retire(struct intake *in)
{
	cleat_rpc *rpc = in->rpc;

	*(in->prev ? &in->prev->next : &rpc->intakes) = in->next;
	if (in->next)
		in->next->prev = in->prev;
	if (rpc->spare) {
		intake_free(in);
		return;
	}
	arena_reset(&in->arena);
	rpc->spare = in;
}

/* An answer that could not even be kept until now is made here, from nothing but its id. */
static void write_answers(struct intake *in, struct buf *out)
{
	char before = '[';

	for (size_t i = 0; i < in->n_calls; i++) {
		const cleat_rpc_call *call = &in->calls[i];

		if (!call->due)
			continue;
		buf_putc(out, before);
		if (call->answer.p)
			buf_append(out, call->answer.p, call->answer.n);
		else
			peer_write_error(in->rpc, out, call->id, CLEAT_RPC_INTERNAL_ERROR, NULL);
		before = ',';
	}
	if (before == ',')
		buf_putc(out, ']');
}

static int answer_batch(struct intake *in)
{
	cleat_rpc *rpc = in->rpc;
	struct buf out;
	int rc;

	if (rpc->closed)
		return CLEAT_OK;
	out = peer_take_out(rpc);
	write_answers(in, &out);
	rc = buf_status(&out);
	if (rc == CLEAT_OK && buf_size(&out) > 0)
		rc = peer_send(rpc, buf_str(&out));
	peer_give_back(rpc, &out);
	if (rc != CLEAT_OK)
		peer_notice(rpc, rc, 0, "the answer to a batch was lost: %s", cleat_strstatus(rc));
	return rc;
}

int intake_settled(struct intake *in)
{
	return --in->waits == 0 && in->batch ? answer_batch(in) : CLEAT_OK;
}

void intake_release(struct intake *in)
{
	if (--in->holds == 0)
		retire(in);
}

/* ---- one member --------------------------------------------------------------------------- */

static int intake_refuse(cleat_rpc_call *call, const cleat_error *why)
{
	int rc = call_refuse(call, why);

	return rc != CLEAT_OK ? rc : why->status;
}

static int refuse_entry(cleat_rpc_call *call, int status)
{
	cleat_error err;

	/* Without its id: an answer with it would be taken for the answer to the first. */
	if (status == CLEAT_EEXIST)
		call->id = NULL;
	if (status == CLEAT_EEXIST)
		error_rpc(&err, CLEAT_EPROTO, CLEAT_RPC_INVALID_REQUEST,
			  "a request with this id is not answered yet");
	else if (status == CLEAT_ELIMIT)
		error_rpc(&err, status, CLEAT_RPC_INTERNAL_ERROR,
			  "%zu requests are not answered yet; try again later",
			  call->in->rpc->n_open);
	else
		error_rpc(&err, status, CLEAT_RPC_INTERNAL_ERROR, "%s", cleat_strstatus(status));
	return intake_refuse(call, &err);
}

/* Enters the call among those that wait for an answer from us. */
static int intake_enter(cleat_rpc *rpc, cleat_rpc_call *call)
{
	int rc;

	if (rpc->n_open >= rpc->opts.max_inflight)
		return CLEAT_ELIMIT;
	rc = call->id ? rpc_table_put(&rpc->inflight, &call->node, call->id) : CLEAT_OK;
	if (rc == CLEAT_OK)
		rpc->n_open++;
	return rc;
}

static int take_call(cleat_rpc_call *call, const struct rpc_message *m)
{
	cleat_rpc *rpc = call->in->rpc;
	cleat_error err;
	int rc;

	call->id = m->kind == RPC_REQUEST ? m->id : NULL;
	call->due = m->kind == RPC_REQUEST;
	call->method = m->method.p;
	call->params = m->params;
	if (json_is_object(m->params) && json_check_keys(m->params, &err) != CLEAT_OK) {
		err.rpc_code = CLEAT_RPC_INVALID_PARAMS;
		return intake_refuse(call, &err);
	}
	rc = intake_enter(rpc, call);
	if (rc != CLEAT_OK)
		return refuse_entry(call, rc);
	call->in->holds++;
	call->in->waits++;
	return call_run(call, m->method);
}

static int take_member(struct intake *in, cleat_rpc_call *call, const cleat_json *value)
{
	struct rpc_message m;
	cleat_error err;
	int rc;

	call->in = in;
	rc = rpc_classify(value, &in->rpc->rules, &m, &err);
	if (m.kind == RPC_RESULT || m.kind == RPC_ERROR)
		return pending_response(in->rpc, in, &m, rc, &err);
	if (rc == CLEAT_OK)
		return take_call(call, &m);
	call->id = m.id;
	call->due = true;
	return intake_refuse(call, &err);
}

/* ---- one message -------------------------------------------------------------------------- */

/* A message that is refused as a whole. */
static int refuse_all(cleat_rpc *rpc, int status, int code, const char *details)
{
	struct buf out = peer_take_out(rpc);
	int rc;

	peer_write_error(rpc, &out, NULL, code, details);
	rc = buf_status(&out);
	if (rc == CLEAT_OK)
		rc = peer_send(rpc, buf_str(&out));
	peer_give_back(rpc, &out);
	return rc < 0 ? rc : status;
}

static int refuse_text(cleat_rpc *rpc, int status, const char *details)
{
	int code = status == CLEAT_EPROTO   ? CLEAT_RPC_PARSE_ERROR
		   : status == CLEAT_ELIMIT ? CLEAT_RPC_INVALID_REQUEST
					    : CLEAT_RPC_INTERNAL_ERROR;

	return refuse_all(rpc, status, code, details);
}

static int check_batch(cleat_rpc *rpc, size_t n)
{
	cleat_error err;

	if (rpc->opts.no_batch)
		return refuse_all(rpc, CLEAT_EPROTO, CLEAT_RPC_INVALID_REQUEST,
				  "batches are not accepted here");
	if (n == 0)
		return refuse_all(rpc, CLEAT_EPROTO, CLEAT_RPC_INVALID_REQUEST,
				  "a batch must not be empty");
	if (n <= rpc->opts.max_batch)
		return CLEAT_OK;
	error_set(&err, CLEAT_ELIMIT, "a batch of %zu messages; at most %zu are accepted", n,
		  rpc->opts.max_batch);
	return refuse_all(rpc, CLEAT_ELIMIT, CLEAT_RPC_INVALID_REQUEST, err.message);
}

static int take_batch(struct intake *in, const cleat_json *root)
{
	cleat_json_iter it = cleat_json_each(root);
	int first = CLEAT_OK;

	in->batch = true;
	/* A handler may close the peer; then the rest of the batch is nobody's business. */
	while (!in->rpc->closed && cleat_json_next(&it)) {
		int rc = take_member(in, &in->calls[it.index], it.value);

		if (first == CLEAT_OK)
			first = rc;
	}
	return first;
}

static int take_root(struct intake *in, const cleat_json *root)
{
	bool batch = json_is_array(root);
	int rc = batch ? check_batch(in->rpc, cleat_json_size(root)) : CLEAT_OK;

	if (rc != CLEAT_OK)
		return rc;
	in->n_calls = batch ? cleat_json_size(root) : 1;
	in->calls = arena_zalloc(&in->arena, in->n_calls * sizeof *in->calls);
	if (!in->calls) {
		in->n_calls = 0;
		return refuse_text(in->rpc, CLEAT_ENOMEM, cleat_strstatus(CLEAT_ENOMEM));
	}
	return batch ? take_batch(in, root) : take_member(in, in->calls, root);
}

static int take_text(cleat_rpc *rpc, struct str text)
{
	const cleat_json *root;
	struct intake *in;
	unsigned mended;
	cleat_error err;
	int rc, sent;

	if (text.n > rpc->opts.max_message) {
		error_set(&err, CLEAT_ELIMIT, "a message of %zu bytes; at most %zu are accepted",
			  text.n, rpc->opts.max_message);
		return refuse_text(rpc, CLEAT_ELIMIT, err.message);
	}
	in = intake_new(rpc);
	if (!in)
		return refuse_text(rpc, CLEAT_ENOMEM, cleat_strstatus(CLEAT_ENOMEM));
	rc = json_parse_peer(&in->arena, text, &rpc->opts.limits, &root, &mended, &err);
	if (rc == CLEAT_OK)
		rc = take_root(in, root);
	else
		rc = refuse_text(rpc, rc, err.message);
	sent = intake_settled(in);
	intake_release(in);
	return rc != CLEAT_OK ? rc : sent;
}

int cleat_rpc_receive(cleat_rpc *rpc, const char *bytes, size_t n)
{
	int rc;

	if (!rpc || !bytes)
		return CLEAT_EINVAL;
	if (rpc->closed)
		return CLEAT_ECLOSED;
	peer_enter(rpc);
	rc = take_text(rpc, (struct str){ bytes, n });
	if (rpc->depth == 1)
		pending_deliver_held(rpc);
	peer_leave(rpc);
	return rc;
}
