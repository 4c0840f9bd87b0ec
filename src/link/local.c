/* link/local.c - a link to a peer in this process; see links.h.
 *
 * Messages wait in two queues, one each way, and are handed on from the loop: neither side is ever
 * called from inside its own call, as with any other link. A queue is handed on whole; what is sent
 * meanwhile goes to a new one. LOCAL_BURST rounds in one turn at most, so that two who talk without
 * end do not keep the loop from everything else.
 */
#include "base/error.h"
#include "base/mem.h"
#include "base/ring.h"
#include "link/line.h"

enum { LOCAL_BURST = 64, LOCAL_KEEP = 64 * 1024 };

/* In front of every message of a queue. */
struct mark {
	size_t n;
	void *tag; /* of a request */
};

struct queue {
	struct buf waiting, handed; /* swapped when it is handed on */
	size_t whole;               /* bytes of whole messages in `waiting` */
	size_t at;                  /* in `handed` */
};

enum state { IDLE, OPENING, UP, CLOSING, CLOSED };

struct link_local {
	struct link link;
	struct link_base_options o;
	struct link_local_options local;
	cleat_allocator mem;
	enum state state;
	struct peer *peer;
	struct queue out, in; /* to the peer, from the peer */
	struct loop_call call;
	bool attached, entered, freed, lost;
};

/* ---- queues ------------------------------------------------------------------------------- */

static void queue_init(struct queue *q, const cleat_allocator *mem, size_t most)
{
	*q = (struct queue){ .whole = 0 };
	buf_init(&q->waiting, mem, most);
	buf_init(&q->handed, mem, most);
}

static void queue_done(struct queue *q)
{
	buf_done(&q->waiting);
	buf_done(&q->handed);
	q->whole = q->at = 0;
}

static void queue_begin(struct queue *q)
{
	struct mark m = { 0, NULL };

	buf_append(&q->waiting, &m, sizeof m);
}

/* The message that was begun is complete, or taken back. */
static int queue_end(struct queue *q, void *tag, bool ok, size_t limit)
{
	struct mark m = { .tag = tag };
	int rc = buf_status(&q->waiting);

	if (rc == CLEAT_OK)
		m.n = buf_size(&q->waiting) - q->whole - sizeof m;
	if (rc == CLEAT_OK && m.n > limit)
		rc = CLEAT_ELIMIT;
	if (rc || !ok) {
		buf_truncate(&q->waiting, q->whole);
		return rc;
	}
	memcpy(q->waiting.data + q->waiting.head + q->whole, &m, sizeof m);
	q->whole = buf_size(&q->waiting);
	return CLEAT_OK;
}

static bool queue_empty(const struct queue *q)
{
	return q->whole == 0 && q->at >= buf_size(&q->handed);
}

/* The next message that is to be handed on. */
static bool queue_take(struct queue *q, struct mark *m, struct str *text)
{
	struct str all = buf_str(&q->handed);

	if (q->at >= all.n)
		return false;
	memcpy(m, all.p + q->at, sizeof *m);
	*text = (struct str){ all.p + q->at + sizeof *m, m->n };
	q->at += sizeof *m + m->n;
	return true;
}

/* What waits is what is handed on now. */
static void queue_turn(struct queue *q)
{
	struct buf done = q->handed;

	if (q->at < buf_size(&done))
		return;
	q->handed = q->waiting;
	q->waiting = done;
	q->at = q->whole = 0;
	buf_reset(&q->waiting, LOCAL_KEEP);
}

static void queue_forget(struct buf *b, size_t at, size_t end, const void *tag)
{
	struct mark m;

	for (char *p = b->data + b->head; at < end; at += sizeof m + m.n) {
		memcpy(&m, p + at, sizeof m);
		if (m.tag == tag) {
			m.tag = NULL;
			memcpy(p + at, &m, sizeof m);
		}
	}
}

/* ---- the peer's side ---------------------------------------------------------------------- */

static struct buf *local_sink_begin(void *ctx, void *tag)
{
	struct link_local *k = ctx;

	(void)tag;
	if (k->state != UP || k->freed)
		return NULL;
	queue_begin(&k->in);
	return &k->in.waiting;
}

static int local_sink_end(void *ctx, void *tag, int kind)
{
	struct link_local *k = ctx;
	int rc;

	(void)tag;
	if (k->state != UP || k->freed)
		return CLEAT_ECLOSED;
	rc = queue_end(&k->in, NULL, kind != PEER_TAKE_BACK, k->o.max_message);
	if (!k->entered)
		loop_defer(k->o.loop, &k->call);
	return rc;
}

static bool local_sink_congested(void *ctx)
{
	const struct link_local *k = ctx;

	return k->state != UP || k->in.whole >= OUTBOX_CONGESTED;
}

/* ---- handing on --------------------------------------------------------------------------- */

static bool is_up(const struct link_local *k)
{
	return !k->freed && k->state == UP;
}

static bool has_peer(const struct link_local *k)
{
	return is_up(k) && !k->lost;
}

static void lose(struct link_local *k, void *tag)
{
	struct link_failure why = { .step = CLEAT_STEP_EXCHANGE, .unsent = true };

	error_set(&why.error, CLEAT_ENOMEM, "out of memory in the server");
	k->o.events.failed(k->o.events.ctx, tag, &why);
}

static void to_peer(struct link_local *k)
{
	struct mark m;
	struct str text;

	queue_turn(&k->out);
	while (has_peer(k) && queue_take(&k->out, &m, &text))
		if (k->peer->ops->receive(k->peer, text, NULL, NULL) == PEER_LOST && m.tag &&
		    is_up(k))
			lose(k, m.tag);
}

static void to_client(struct link_local *k)
{
	struct mark m;
	struct str text;

	queue_turn(&k->in);
	while (is_up(k) && queue_take(&k->in, &m, &text))
		k->o.events.message(k->o.events.ctx, text, NULL, 0);
}

/* ---- states ------------------------------------------------------------------------------- */

static void close_peer(struct link_local *k)
{
	struct peer *p = k->peer;

	k->peer = NULL;
	if (p && !k->lost)
		p->ops->close(p);
	k->lost = false;
}

static void open_peer(struct link_local *k)
{
	struct peer_sink sink = { .begin = local_sink_begin,
				  .end = local_sink_end,
				  .congested = local_sink_congested,
				  .ctx = k };
	struct peer_facts facts = { .mode = PEER_ANY };
	struct link_failure why = { .step = CLEAT_STEP_CONNECT, .unsent = true };

	k->state = UP; /* a peer may speak first */
	queue_done(&k->in);
	queue_done(&k->out);
	k->peer = k->local.accept(k->local.ctx, &sink, &facts);
	if (k->peer) {
		k->o.events.up(k->o.events.ctx, NULL);
		return;
	}
	k->state = IDLE;
	loop_hold(k->o.loop, &k->attached, false);
	error_set(&why.error, CLEAT_ENOMEM, "the server takes no connection");
	k->o.events.up(k->o.events.ctx, &why);
}

static void go_down(struct link_local *k)
{
	struct link_failure why = { .step = CLEAT_STEP_EXCHANGE };

	close_peer(k);
	k->state = IDLE;
	loop_hold(k->o.loop, &k->attached, false);
	error_set(&why.error, CLEAT_ECLOSED, "the server has ended");
	k->o.events.down(k->o.events.ctx, &why);
}

static void closed(struct link_local *k)
{
	k->state = CLOSED;
	loop_hold(k->o.loop, &k->attached, false);
	k->o.events.closed(k->o.events.ctx);
}

static void local_release(struct link_local *k)
{
	cleat_allocator mem = k->mem;

	queue_done(&k->in);
	queue_done(&k->out);
	mem_free(&mem, k);
}

static void exchange(struct link_local *k)
{
	for (int i = 0; i < LOCAL_BURST && has_peer(k); i++) {
		if (queue_empty(&k->out) && queue_empty(&k->in))
			return;
		to_peer(k);
		to_client(k);
	}
	if (is_up(k) && k->lost) {
		to_client(k); /* its last words */
		to_client(k);
	}
	if (is_up(k) && k->lost)
		go_down(k);
}

static void on_call(struct loop_call *c)
{
	struct link_local *k = CONTAINER_OF(c, struct link_local, call);

	k->entered = true;
	if (k->state == OPENING)
		open_peer(k);
	else if (k->state == CLOSING)
		closed(k);
	exchange(k);
	k->entered = false;
	if (k->freed)
		local_release(k);
	else if (k->state == OPENING || k->state == CLOSING)
		loop_defer(k->o.loop, &k->call);
	else if (k->state == UP && !(queue_empty(&k->out) && queue_empty(&k->in)))
		loop_post(k->o.loop, &k->call);
}

/* ---- ops ---------------------------------------------------------------------------------- */

static struct link_local *of(struct link *l)
{
	return (struct link_local *)(void *)l;
}

static void op_open(struct link *l)
{
	struct link_local *k = of(l);

	if (k->state != IDLE)
		return;
	k->state = OPENING;
	loop_hold(k->o.loop, &k->attached, true);
	if (!k->entered)
		loop_defer(k->o.loop, &k->call);
}

static int op_send(struct link *l, const struct link_message *m)
{
	struct link_local *k = of(l);
	int rc;

	if (!has_peer(k))
		return CLEAT_ECLOSED;
	if (k->out.whole > 0 && m->text.n > LINE_WAITING - k->out.whole)
		return CLEAT_ELIMIT;
	queue_begin(&k->out);
	buf_append(&k->out.waiting, m->text.p, m->text.n);
	rc = queue_end(&k->out, m->kind == LINK_REQUEST ? m->tag : NULL, true, SIZE_MAX);
	if (rc == CLEAT_OK && !k->entered)
		loop_defer(k->o.loop, &k->call);
	return rc;
}

static void op_forget(struct link *l, void *tag)
{
	struct link_local *k = of(l);

	if (!tag)
		return;
	queue_forget(&k->out.waiting, 0, k->out.whole, tag);
	queue_forget(&k->out.handed, k->out.at, buf_size(&k->out.handed), tag);
}

static void op_reset(struct link *l)
{
	struct link_local *k = of(l);

	if (k->state != UP)
		return;
	close_peer(k);
	k->state = IDLE;
	loop_hold(k->o.loop, &k->attached, false);
}

static void op_close(struct link *l)
{
	struct link_local *k = of(l);

	if (k->state == CLOSING || k->state == CLOSED)
		return;
	loop_hold(k->o.loop, &k->attached, true);
	k->state = CLOSING;
	close_peer(k);
	if (!k->entered)
		loop_defer(k->o.loop, &k->call);
}

static void op_free(struct link *l)
{
	struct link_local *k = of(l);

	if (k->freed)
		return;
	k->state = CLOSED;
	k->freed = true;
	close_peer(k);
	loop_cancel(k->o.loop, &k->call);
	loop_hold(k->o.loop, &k->attached, false);
	if (!k->entered)
		local_release(k);
}

void link_local_lost(struct link *l)
{
	struct link_local *k = of(l);

	if (k->state != UP)
		return;
	k->lost = true;
	if (!k->entered)
		loop_defer(k->o.loop, &k->call);
}

struct link *link_local_new(const struct link_base_options *o,
			    const struct link_local_options *local, cleat_error *err)
{
	static const struct link_ops ops = {
		.open = op_open,
		.send = op_send,
		.forget = op_forget,
		.listen = line_no_stream,
		.reset = op_reset,
		.fall_back = line_no_fall_back,
		.close = op_close,
		.free = op_free,
	};
	cleat_allocator mem = mem_resolve(o->mem);
	struct link_local *k = mem_zalloc(&mem, sizeof *k);

	if (!k) {
		error_set(err, CLEAT_ENOMEM, "out of memory");
		return NULL;
	}
	k->link = (struct link){ .ops = &ops, .local = true, .renews = true };
	k->o = *o;
	k->o.max_message = o->max_message ? o->max_message : LINE_MESSAGE;
	k->local = *local;
	k->mem = mem;
	k->call.fn = on_call;
	queue_init(&k->in, &mem, k->o.max_message + OUTBOX_SLACK);
	queue_init(&k->out, &mem, SIZE_MAX / 2);
	return &k->link;
}
