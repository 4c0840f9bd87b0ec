/* server/batch.c - see batch.h. */
#include "server/batch.h"

#include "base/cold.h"
#include "base/mem.h"
#include "request/life.h"
#include "request/note.h"
#include "request/out.h"
#include "json/copy.h"
#include "json/parse.h"

enum { BATCH_MAX = 100, BATCH_ERRORS_MAX = BATCH_MAX * 8192 };

struct batch {
	struct answers answers; /* first */
	struct batch *next;     /* in conn->unsent_batches */
	cleat_connection *conn;
	void *tag;
	size_t open; /* members that have not ended, plus one while the batch is being read */
	bool taken;  /* the transport waits for its end */
};

static void free_batch(struct batch *b, bool lost)
{
	cleat_connection *c = b->conn;

	if (b->taken && c->sink.ended && !c->closed)
		c->sink.ended(c->sink.ctx, b->tag, lost);
	buf_done(&b->answers.text);
	mem_free(&c->server->mem, b);
}

static int send_batch(struct batch *b)
{
	struct str all = buf_str(&b->answers.text);
	struct out o;

	if (!b->answers.n || !out_begin_for(&o, b->conn, b->tag, PEER_ANSWER))
		return CLEAT_OK;
	o.limit = SIZE_MAX; /* each member has kept to it */
	buf_append(o.b, all.p, all.n);
	buf_putc(o.b, ']');
	return out_end(&o);
}

/* The array is one more that has to end. Without a request in it, and nothing left to send, it is
 * none. */
static void take_batch(struct batch *b)
{
	if (b->taken)
		return;
	b->taken = true;
	b->conn->taken++;
}

/* The transport cannot carry so much at once: an error without an id says at least that. */
static COLD void lose_batch(struct batch *b, int status)
{
	cleat_connection *c = b->conn;
	struct out o;

	server_note(c->server, CLEAT_LOG_ERROR, "the answer to a batch was lost: %s",
		    cleat_strstatus(status));
	if (status == CLEAT_ECLOSED || !out_begin_for(&o, c, b->tag, PEER_ANSWER))
		return;
	rpc_write_error(&o.w, NULL, true, CLEAT_RPC_INTERNAL_ERROR,
			STR_LIT("the answers to this batch are too large to be sent together"),
			(struct str){ NULL, 0 });
	out_end(&o);
}

/* Memory that is too short for the answers is waited for, as with PHASE_UNSENT. */
static void finish_batch(struct batch *b)
{
	cleat_connection *c = b->conn;
	int rc = send_batch(b);

	if (rc == CLEAT_ENOMEM) {
		take_batch(b);
		b->next = c->unsent_batches;
		c->unsent_batches = b;
		c->n_unsent_batches++;
		conn_retry_later(c);
		return;
	}
	if (rc)
		lose_batch(b, rc);
	free_batch(b, rc != CLEAT_OK);
}

static void member_ended(struct answers *a)
{
	struct batch *b = (struct batch *)(void *)a;

	if (--b->open == 0)
		finish_batch(b);
}

/* Each member becomes a message of its own, with memory of its own. */
static int receive_member(struct batch *b, const cleat_json *v, batch_receive *receive)
{
	cleat_connection *c = b->conn;
	cleat_request *req = request_new(c);
	const cleat_json *root;
	int rc;

	if (!req)
		return CLEAT_ENOMEM;
	rc = json_copy(&req->arena, v, &root);
	req->answers = &b->answers;
	req->tag = b->tag;
	b->open++;
	if (rc) {
		request_end(req);
		return rc;
	}
	if (str_eqz(json_str(json_member(root, "method")), "initialize")) {
		req->msg.id = json_member(root, "id");
		out_error(req, CLEAT_RPC_INVALID_REQUEST, NULL,
			  "initialize must not be part of a batch");
		request_end(req);
		return CLEAT_OK;
	}
	receive(req, root);
	return CLEAT_OK;
}

static const char *batch_problem(const cleat_connection *c, const cleat_json *list)
{
	if (!conn_has_revision(c) || !(revision_features(c->session.rev) & FEAT_BATCH))
		return "a batch (JSON array) is only part of revision 2025-03-26, after initialize; send "
		       "one message at a time";
	if (cleat_json_size(list) == 0)
		return "an empty batch";
	if (cleat_json_size(list) > BATCH_MAX)
		return "a batch of more than 100 messages";
	return NULL;
}

COLD void batch_read(cleat_request *req, const cleat_json *list, batch_receive *receive)
{
	cleat_connection *c = req->conn;
	const char *problem = batch_problem(c, list);
	struct batch *b = problem ? NULL : mem_zalloc(&c->server->mem, sizeof *b);
	cleat_json_iter it = cleat_json_each(list);
	int rc = CLEAT_OK;

	if (!b) {
		out_error(req, problem ? CLEAT_RPC_INVALID_REQUEST : CLEAT_RPC_INTERNAL_ERROR, NULL,
			  problem ? problem : cleat_strstatus(CLEAT_ENOMEM));
		request_end(req);
		return;
	}
	b->conn = c;
	b->tag = req->tag;
	b->open = 1;
	/* Results share max_reply; errors of the others, with their ids, come on top of it. */
	b->answers.ended = member_ended;
	buf_init(&b->answers.text, &c->server->mem,
		 c->server->opts.max_reply + BATCH_ERRORS_MAX + c->server->opts.max_message);
	while (!rc && cleat_json_next(&it))
		rc = receive_member(b, it.value, receive);
	if (rc)
		out_error(req, CLEAT_RPC_INTERNAL_ERROR, NULL, cleat_strstatus(rc));
	if (c->taken || b->open > 1)
		take_batch(b);
	request_end(req);
	member_ended(&b->answers);
}

static struct batch *take_unsent_batches(cleat_connection *c)
{
	struct batch *list = c->unsent_batches;

	c->unsent_batches = NULL;
	c->n_unsent_batches = 0;
	return list;
}

void batch_retry(cleat_connection *c)
{
	struct batch *b = take_unsent_batches(c), *next;

	for (; b; b = next) {
		next = b->next;
		finish_batch(b);
	}
}

void batch_drop(cleat_connection *c)
{
	struct batch *b = take_unsent_batches(c), *next;

	for (; b; b = next) {
		next = b->next;
		free_batch(b, true);
	}
}
