/* client/asked.c - what the server asks us: passed to the `asked` peer, and its answers passed back.
 *
 * Two ways, one peer. A legacy server sends requests: they go to the peer as they came, and the answers
 * to the link. A modern one puts questions into a result, and one of 2025-11-25 into an error (visit.c): for
 * each the peer is given a request of our own making, and the answer belongs to a call. A `struct question`
 * stands for each that is open; its address is the tag that the peer gives back.
 */
#include "client/state.h"

#include "base/mem.h"
#include "json/build.h"
#include "json/doc.h"
#include "json/parse.h"
#include "json/skim.h"

static const struct str absent;

/* ---- questions ------------------------------------------------------------------------------ */

static struct question *question_new(cleat_client *c)
{
	struct question *q = mem_zalloc(&c->mem, sizeof *q);

	if (!q)
		return NULL;
	q->client = c;
	q->next = c->questions;
	if (q->next)
		q->next->prev = q;
	c->questions = q;
	c->n_questions++;
	return q;
}

static void question_free(struct question *q)
{
	cleat_client *c = q->client;

	if (q->prev)
		q->prev->next = q->next;
	else
		c->questions = q->next;
	if (q->next)
		q->next->prev = q->prev;
	c->n_questions--;
	mem_free(&c->mem, q);
}

/* ---- what the peer says ----------------------------------------------------------------------- */

static struct buf *asked_sink_begin(void *ctx, void *tag)
{
	cleat_client *c = ctx;

	(void)tag;
	if (c->closing)
		return NULL;
	buf_reset(&c->asked_out, 64 << 10);
	return &c->asked_out;
}

static void send_back(cleat_client *c, const struct question *q, struct str text, int kind)
{
	message_post(
		c, &(struct link_message){ .text = text,
					   .kind = kind >= PEER_ANSWER ? LINK_ANSWER : LINK_NOTICE,
					   .tag = kind >= PEER_ANSWER && q ? q->link_tag : NULL,
					   .rev = c->rev,
					   .modern = c->modern });
}

static COLD void asked_fail(cleat_call *call, struct str key, const char *why)
{
	if (call->visit)
		visit_fail(call);
	else
		rounds_fail(call, key, why);
}

/* The peer has answered with an error, whose words are wanted without their escapes. */
static COLD void settle_error(const struct question *q, cleat_call *call, struct str text)
{
	const cleat_json *v;
	struct arena ar;

	arena_init(&ar, &q->client->mem, SIZE_MAX / 2);
	if (json_parse(&ar, text, NULL, &v, NULL) == CLEAT_OK)
		asked_fail(call, q->key,
			   cleat_json_str(json_member(json_member(v, "error"), "message"),
					  "there is no answer"));
	else
		call_end(call, NULL);
	arena_done(&ar);
}

/* The answer to a question of our own making. A result goes to the server as the peer has written it. */
static void asked_settle(struct question *q, struct str text)
{
	cleat_call *call = q->call;
	struct str result = skim_find(text, "result");

	q->call = NULL;
	if (!result.p)
		settle_error(q, call, text);
	else if (call->visit)
		visit_answer(call, result);
	else
		rounds_answer(call, q->key, result);
}

static int asked_sink_end(void *ctx, void *tag, int kind)
{
	cleat_client *c = ctx;
	struct question *q = tag;
	struct buf out = c->asked_out;
	int rc = buf_status(&out);

	if (kind == PEER_TAKE_BACK || rc != CLEAT_OK) {
		buf_reset(&c->asked_out, 64 << 10);
		return rc;
	}
	/* Taken while it is in use: what hears of it may ask for something. */
	buf_init(&c->asked_out, &c->mem, MAX_OUT);
	client_enter(c);
	if (q && kind >= PEER_ANSWER)
		q->settled = true;
	if (q && q->id) {
		if (q->call && kind >= PEER_ANSWER)
			asked_settle(q, buf_str(&out));
	} else if (!c->modern) {
		send_back(c, q, buf_str(&out), kind);
	}
	buf_done(&c->asked_out);
	c->asked_out = out;
	client_leave_later(c);
	return CLEAT_OK;
}

static void sink_ended(void *ctx, void *tag, bool lost)
{
	struct question *q = tag;

	(void)ctx;
	(void)lost;
	if (!q)
		return;
	if (q->call && !q->settled) {
		client_enter(q->client);
		asked_fail(q->call, q->key, "there was no answer");
		client_leave_later(q->client);
	}
	question_free(q);
}

static bool asked_sink_congested(void *ctx)
{
	(void)ctx;
	return false;
}

static bool need_peer(cleat_client *c)
{
	struct peer_sink sink = { .begin = asked_sink_begin,
				  .end = asked_sink_end,
				  .ended = sink_ended,
				  .congested = asked_sink_congested,
				  .ctx = c };
	struct peer_facts facts = { .mode = PEER_ASKED,
				    .transport = c->link->http ? CLEAT_TRANSPORT_HTTP
							       : CLEAT_TRANSPORT_FDS,
				    .rev = c->rev };

	if (!c->asked)
		c->asked = c->hooks.asked(c->hooks.ctx, &sink, &facts);
	return c->asked != NULL;
}

/* What a call is waiting for is answered by handlers that do not know of the link: it stays. The
 * questions of a legacy server are gone with it. */
void asked_close(cleat_client *c)
{
	struct peer *p = c->asked;

	if (!p)
		return;
	c->asked = NULL;
	p->ops->close(p);
	while (c->questions) {
		struct question *q = c->questions;
		cleat_call *call = q->call;

		q->call = NULL;
		if (call)
			asked_fail(call, q->key, "the client was closed");
		question_free(q);
	}
}

/* ---- legacy: requests ----------------------------------------------------------------------- */

static void answer(cleat_client *c, void *tag, struct buf *out)
{
	if (buf_status(out) == CLEAT_OK)
		message_post(c, &(struct link_message){ .text = buf_str(out),
							.kind = LINK_ANSWER,
							.tag = tag,
							.rev = c->rev });
	message_give(c, out);
}

static void pong(cleat_client *c, const cleat_json *id, void *tag)
{
	struct buf out = message_take(c);
	struct jw w;

	jw_init(&w, &out);
	rpc_begin_result_object(&w, id);
	rpc_end_result_object(&w);
	answer(c, tag, &out);
}

static COLD void reject(cleat_client *c, const cleat_json *id, void *tag, int code,
			const char *message)
{
	struct buf out = message_take(c);
	struct jw w;

	jw_init(&w, &out);
	rpc_write_error(&w, id, false, code, str_of(message), absent);
	answer(c, tag, &out);
}

static bool known(struct str method)
{
	return str_eqz(method, "elicitation/create") || str_eqz(method, "roots/list") ||
	       str_eqz(method, "sampling/createMessage");
}

static void pass_on(cleat_client *c, const struct rpc_message *m, const cleat_json *message,
		    void *tag)
{
	struct question *q = NULL;

	if (c->n_questions < MAX_QUESTIONS && need_peer(c))
		q = question_new(c);
	if (!q) {
		reject(c, m->id, tag, CLEAT_RPC_INTERNAL_ERROR,
		       c->n_questions < MAX_QUESTIONS ? "out of memory"
						      : "too many questions are open");
		return;
	}
	q->link_tag = tag;
	/* 0: it was none after all; PEER_LOST: it could not be read. Otherwise `ended` frees it. */
	switch (c->asked->ops->take(c->asked, message, q)) {
	case 0: question_free(q); break;
	case PEER_LOST:
		question_free(q);
		reject(c, m->id, tag, CLEAT_RPC_INTERNAL_ERROR, "out of memory");
		break;
	default: break;
	}
}

void asked_request(cleat_client *c, const struct rpc_message *m, const cleat_json *message,
		   void *tag)
{
	/* 2026-07-28 basic/transports: the server MUST NOT send requests. There is no way to answer. */
	if (c->modern && !negotiation_is_at(&c->neg, NEGOTIATION_DISCOVER)) {
		client_note(c, CLEAT_LOG_WARNING,
			    "the server sent a request, which it must not in 2026-07-28");
		return;
	}
	if (str_eqz(m->method, "ping"))
		pong(c, m->id, tag);
	else if (!known(m->method) || c->rev == REV_NONE || c->modern)
		reject(c, m->id, tag, CLEAT_RPC_METHOD_NOT_FOUND,
		       "this client does not know the method");
	else
		pass_on(c, m, message, tag);
}

void asked_cancelled(cleat_client *c, const cleat_json *message)
{
	if (c->asked)
		c->asked->ops->take(c->asked, message, NULL);
}

/* ---- questions of our own making ------------------------------------------------------------- */

/* A legacy server numbers its own requests, and hardly with less than nothing. */
static int64_t next_id(cleat_client *c)
{
	int64_t n = ++c->last_question;

	return c->modern ? n : -n;
}

static size_t put_question(struct question *q, struct str method, const cleat_json *params)
{
	struct peer *peer = q->client->asked;
	const cleat_json *message;
	size_t n = PEER_LOST;
	struct arena ar;
	struct build b;

	arena_init(&ar, &q->client->mem, SIZE_MAX / 2);
	build_init(&b, &ar);
	build_obj(&b);
	build_kv_str(&b, "jsonrpc", "2.0");
	build_keyz(&b, "id");
	build_int(&b, q->id);
	build_keyz(&b, "method");
	build_str(&b, method);
	if (params) {
		build_keyz(&b, "params");
		build_value(&b, params);
	}
	build_end(&b);
	if (build_finish(&b, &message, NULL) == CLEAT_OK)
		n = peer->ops->take(peer, message, q);
	arena_done(&ar);
	return n;
}

int asked_input(cleat_call *call, struct str key, struct str method, const cleat_json *params)
{
	cleat_client *c = call->client;
	struct question *q;
	size_t n;
	bool settled;

	if (!known(method)) {
		asked_fail(call, key, "this client does not know the method that is asked");
		return CLEAT_OK;
	}
	if (c->n_questions >= MAX_QUESTIONS) {
		asked_fail(call, key, "too many questions are open");
		return CLEAT_OK;
	}
	q = need_peer(c) ? question_new(c) : NULL;
	if (!q)
		return CLEAT_ENOMEM;
	q->call = call;
	q->key = key;
	q->id = next_id(c);
	n = put_question(q, method, params);
	if (n != 0 && n != PEER_LOST)
		return CLEAT_OK;
	/* The peer took no request: it has said why, or could not. */
	settled = q->settled;
	q->call = NULL;
	question_free(q);
	return settled ? CLEAT_OK : CLEAT_ENOMEM;
}

static void cancel(cleat_client *c, int64_t id)
{
	cleat_doc *doc = doc_newf(&c->mem, NULL,
				  "{jsonrpc: '2.0', method: 'notifications/cancelled', params: "
				  "{requestId: %jd}}",
				  (intmax_t)id);

	if (c->asked && doc)
		c->asked->ops->take(c->asked, cleat_doc_root(doc), NULL);
	cleat_doc_free(doc);
}

/* The peer may be on the stack, so it hears of this later. */
void asked_forget(cleat_call *call)
{
	cleat_client *c = call->client;

	if (!call->rounds && !call->visited)
		return;
	for (struct question *q = c->questions; q; q = q->next) {
		if (q->call != call)
			continue;
		q->call = NULL;
		q->key = absent;
		q->cancel = true;
		c->cancel_questions = true;
	}
}

void asked_pump(cleat_client *c)
{
	struct question *q = c->questions;

	if (!c->cancel_questions)
		return;
	c->cancel_questions = false;
	while (q) {
		if (!q->cancel) {
			q = q->next;
			continue;
		}
		q->cancel = false;
		cancel(c, q->id);
		/* Any of them may have ended now. */
		q = c->questions;
	}
}
