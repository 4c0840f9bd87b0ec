/* program/bench/worker.c - one thread of the load: its connections and its clock.
 *
 * A connection is in one of four states; while it is up, it is either busy with one request or in the list
 * of those that are idle. Whatever ends a request goes through worker_settle(), exactly once for each.
 */
#define _GNU_SOURCE /* epoll_pwait2 */

#include "bench/worker.h"
#include "bench/scan.h"

#include <cleat/json.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define EVENTS   256
#define SWEEP_NS 20000000u  /* timeouts and lost connections are looked for every 20 ms */
#define RETRY_NS 100000000u /* before it connects again after it could not */

static void fire(struct worker *w, struct conn *c, uint64_t due, uint64_t now);
static void lose(struct worker *w, struct conn *c, uint64_t now, const char *why);

/* ---- which request, and when -------------------------------------------------------------------- */

static uint64_t next_random(struct worker *w)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return w->random;
}

static size_t pick(struct worker *w)
{
	uint64_t at;
	size_t i = 0;

	if (w->o->n_shots == 1)
		return 0;
	at = next_random(w) % w->weights;
	while (at >= w->o->shots[i].weight)
		at -= w->o->shots[i++].weight;
	return i;
}

/* When the next request of the open loop is due. */
static uint64_t next_due(const struct worker *w)
{
	return w->begin - w->o->warmup_ns +
	       (uint64_t)(w->offset + w->interval * (double)w->arrival);
}

static bool may_send(const struct worker *w, uint64_t due)
{
	return !w->draining && due < w->end && w->left > 0;
}

/* A connection that has nothing to do waits its turn: what one round of the loop has answered is sent
 * anew in one go, which lets a server work in larger batches (and is what wrk does). */
static void set_free(struct worker *w, struct conn *c)
{
	c->next = NULL;
	*w->idle_end = c;
	w->idle_end = &c->next;
}

static struct conn *take_idle(struct worker *w)
{
	struct conn *c = w->idle;

	w->idle = c->next;
	if (!w->idle)
		w->idle_end = &w->idle;
	return c;
}

/* The closed loop: a request for everybody who is free. */
static void fire_all(struct worker *w)
{
	while (w->idle) {
		uint64_t now = load_clock();
		struct conn *c;

		if (!may_send(w, now))
			return;
		c = take_idle(w);
		/* Where it had to connect anew first, that counts. */
		fire(w, c, c->due ? c->due : now, now);
	}
}

/* What was due in the warm-up and could not be sent is not part of what is counted. */
static void begin_anew(struct worker *w)
{
	w->begun = true;
	while (next_due(w) < w->begin)
		w->arrival++;
}

/* The open loop: as many as are due. */
static void fire_due(struct worker *w, uint64_t now)
{
	uint64_t due;

	if (!w->begun && now >= w->begin)
		begin_anew(w);
	while (w->idle && (due = next_due(w)) <= now && may_send(w, due)) {
		w->arrival++;
		fire(w, take_idle(w), due, now);
	}
}

/* ---- endings ---------------------------------------------------------------------------------- */

/* The one end of a request. The connection is not free yet. */
static void worker_settle(struct worker *w, struct conn *c, enum outcome kind, int64_t detail,
			  uint64_t now)
{
	uint64_t took = now > c->due ? now - c->due : 0;

	c->answered = true;
	c->useful = c->useful || kind == OUT_GOOD;
	if (!c->counted)
		return;
	tally_add(&w->tally, kind, detail, c->which, now, took);
	if (kind == OUT_GOOD)
		atomic_store_explicit(&w->good, w->tally.kinds[OUT_GOOD], memory_order_relaxed);
	else
		atomic_fetch_add_explicit(&w->failed, 1, memory_order_relaxed);
}

static void not_busy(struct worker *w, struct conn *c)
{
	if (c->busy)
		w->under_way--;
	c->busy = c->answered = false;
}

static void unlist(struct worker *w, struct conn *c)
{
	struct conn **at = &w->idle;

	while (*at && *at != c)
		at = &(*at)->next;
	if (*at) {
		*at = c->next;
		if (!c->next)
			w->idle_end = at;
	}
}

static void note_reconnect(struct worker *w, uint64_t now)
{
	w->tally.reconnects += now >= w->begin;
}

/* The connection is gone; a request that was under way is not, see lose(). */
static void hang_up(struct worker *w, struct conn *c, uint64_t now)
{
	if (!c->busy)
		unlist(w, c);
	not_busy(w, c);
	epoll_ctl(w->epoll, EPOLL_CTL_DEL, c->in, NULL);
	if (w->o->pipes) {
		if (c->blocked)
			epoll_ctl(w->epoll, EPOLL_CTL_DEL, c->out, NULL);
		c->state = CONN_DEAD;
		w->dead++;
		return;
	}
	close(c->in);
	c->in = c->out = -1;
	c->blocked = false;
	c->state = CONN_DOWN;
	w->alive = now;
	w->refused = false;
	c->due = now;
	c->retry = now;
	c->useful = false;
	reader_reset(&c->reader);
}

/* ---- connecting ------------------------------------------------------------------------------- */

static bool poll_for(struct worker *w, struct conn *c, int fd, int op, uint32_t events)
{
	struct epoll_event e = { .events = events, .data = { .ptr = c } };

	return epoll_ctl(w->epoll, op, fd, &e) == 0;
}

static void connect_failed(struct worker *w, struct conn *c, uint64_t now, int error)
{
	char why[120];

	if (c->in >= 0)
		close(c->in);
	c->in = c->out = -1;
	c->state = CONN_DOWN;
	c->retry = now + RETRY_NS;
	w->refused = true;
	if (now < w->begin || w->draining || !w->left)
		return;
	if (w->left != UINT64_MAX)
		w->left--; /* it takes the place of a request */
	snprintf(why, sizeof why, "connecting: %s", strerror(error));
	tally_why(&w->tally, why);
	tally_add(&w->tally, OUT_CONNECT, error, c->which, now, 0);
	atomic_fetch_add_explicit(&w->failed, 1, memory_order_relaxed);
}

static void connected(struct worker *w, struct conn *c)
{
	c->state = CONN_UP;
	set_free(w, c);
}

static void start_connecting(struct worker *w, struct conn *c, uint64_t now)
{
	bool waiting;

	c->since = now;
	c->in = c->out = goal_connect(w->o->goal, &waiting);
	if (c->in < 0 ||
	    !poll_for(w, c, c->in, EPOLL_CTL_ADD, waiting ? EPOLLIN | EPOLLOUT : EPOLLIN)) {
		connect_failed(w, c, now, errno);
		return;
	}
	c->state = CONN_WAITING;
	if (!waiting)
		connected(w, c);
}

static void go_on_connecting(struct worker *w, struct conn *c, uint64_t now)
{
	int error = 0;
	socklen_t n = sizeof error;

	if (getsockopt(c->in, SOL_SOCKET, SO_ERROR, &error, &n) || error) {
		connect_failed(w, c, now, error);
		return;
	}
	poll_for(w, c, c->in, EPOLL_CTL_MOD, EPOLLIN);
	connected(w, c);
}

/* ---- sending ---------------------------------------------------------------------------------- */

static void set_blocked(struct worker *w, struct conn *c, bool blocked)
{
	if (c->blocked == blocked)
		return;
	c->blocked = blocked;
	if (c->in == c->out)
		poll_for(w, c, c->in, EPOLL_CTL_MOD, blocked ? EPOLLIN | EPOLLOUT : EPOLLIN);
	else if (blocked)
		poll_for(w, c, c->out, EPOLL_CTL_ADD, EPOLLOUT);
	else
		epoll_ctl(w->epoll, EPOLL_CTL_DEL, c->out, NULL);
}

static void push(struct worker *w, struct conn *c, uint64_t now)
{
	while (c->at < c->n) {
		ssize_t k = w->o->pipes
				    ? write(c->out, c->bytes + c->at, c->n - c->at)
				    : send(c->out, c->bytes + c->at, c->n - c->at, MSG_NOSIGNAL);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0 && errno == EAGAIN) {
			set_blocked(w, c, true);
			return;
		}
		if (k < 0) {
			lose(w, c, now, strerror(errno));
			return;
		}
		c->at += (size_t)k;
		w->tally.bytes_out += c->counted ? (uint64_t)k : 0;
	}
	set_blocked(w, c, false);
}

static void put_id(char *at, uint64_t id)
{
	for (int i = LOAD_ID_DIGITS - 1; i >= 0; i--, id /= 10)
		at[i] = (char)('0' + id % 10);
}

static void assemble(struct worker *w, struct conn *c)
{
	const struct shot *s = &w->o->shots[c->which];
	size_t n = 0;

	if (s->head_n) {
		const char *session = w->o->sessions[c->session];
		size_t len = strlen(session);

		memcpy(c->bytes, s->head, s->head_n);
		memcpy(c->bytes + s->head_n, session, len);
		n = s->head_n + len;
		c->session = (c->session + w->o->connections) % w->o->n_sessions;
	}
	memcpy(c->bytes + n, s->tail, s->tail_n);
	put_id(c->bytes + n + s->id_at, c->id);
	c->n = n + s->tail_n;
	c->at = 0;
}

static void fire(struct worker *w, struct conn *c, uint64_t due, uint64_t now)
{
	c->which = pick(w);
	c->id = w->next_id;
	w->next_id += w->o->threads;
	c->due = due;
	c->since = now;
	c->counted = due >= w->begin;
	c->busy = true;
	c->answered = false;
	w->under_way++;
	if (c->counted && w->left != UINT64_MAX)
		w->left--;
	assemble(w, c);
	push(w, c, now);
}

/* ---- answers ---------------------------------------------------------------------------------- */

/* The first failure, in the server's words: of an error its message, of a tool its text. */
static void quote(struct worker *w, const struct conn *c)
{
	const struct reader *r = &c->reader;
	const cleat_json *root, *text;
	cleat_doc *doc;
	const char *said;
	size_t n = 0;

	if (w->tally.why[0])
		return;
	doc = cleat_doc_parse(r->body, r->body_n, NULL, NULL, NULL);
	root = cleat_doc_root(doc);
	text = cleat_json_get(cleat_json_get(root, "error"), "message");
	if (!text)
		text = cleat_json_get(
			cleat_json_at(cleat_json_get(cleat_json_get(root, "result"), "content"), 0),
			"text");
	said = cleat_json_strn(text, &n);
	tally_quote(&w->tally, said ? said : r->body, said ? n : r->body_n);
	cleat_doc_free(doc);
}

/* A message that may be the answer; false: it is something else. */
static bool judge(struct worker *w, struct conn *c, uint64_t now)
{
	struct scan s;

	if (!c->reader.body_n)
		return false; /* 2025-11-25: a stream begins with an event that only has an id */
	scan_message(c->reader.body, c->reader.body_n, &s);
	if (s.kind == SCAN_REQUEST || s.kind == SCAN_NOTICE)
		return false;
	if (s.kind == SCAN_GARBAGE) {
		tally_why(&w->tally, "the server sent something that is not a JSON-RPC message");
		worker_settle(w, c, OUT_BAD, 0, now);
	} else if (s.has_id ? s.id != c->id : s.kind != SCAN_ERROR) {
		if (s.has_id && s.id < c->id)
			return false; /* of a request that was given up */
		tally_why(&w->tally, "an answer's id differs from its request's");
		worker_settle(w, c, OUT_BAD, 0, now);
	} else if (s.kind == SCAN_RESULT) {
		worker_settle(w, c, OUT_GOOD, 0, now);
	} else if (s.kind == SCAN_ERROR) {
		quote(w, c);
		worker_settle(w, c, OUT_RPC, s.code, now);
	} else {
		quote(w, c);
		worker_settle(w, c, s.kind == SCAN_ASKS ? OUT_ASKS : OUT_TOOL, 0, now);
	}
	return true;
}

/* The whole answer is there. */
static void complete(struct worker *w, struct conn *c, uint64_t now)
{
	struct reader *r = &c->reader;

	if (!c->answered && r->status != 200) {
		tally_quote(&w->tally, r->body, r->body ? r->body_n : 0);
		worker_settle(w, c, OUT_HTTP, r->status, now);
	} else if (!c->answered && (r->stream || !judge(w, c, now))) {
		tally_why(&w->tally, "the answer holds no JSON-RPC response");
		worker_settle(w, c, OUT_BAD, 0, now);
	}
	if (r->close) {
		note_reconnect(w, now);
		hang_up(w, c, now);
		start_connecting(w, c, now);
		return;
	}
	reader_next(r);
	not_busy(w, c);
	c->due = 0;
	set_free(w, c);
}

/* What is in the buffer. */
static void digest(struct worker *w, struct conn *c, uint64_t now)
{
	struct reader *r = &c->reader;

	for (;;) {
		switch (reader_step(r)) {
		case READER_MORE: return;
		case READER_BAD: lose(w, c, now, r->why); return;
		case READER_DONE:
			if (!c->busy) {
				lose(w, c, now,
				     "there was an answer to a request that was never sent");
				return;
			}
			complete(w, c, now);
			return;
		case READER_EVENT:
			if (c->busy && !c->answered && judge(w, c, now) &&
			    r->phase == READER_LINES) {
				not_busy(w, c);
				c->due = 0;
				set_free(w, c);
			}
			break;
		}
		if (c->state != CONN_UP)
			return;
	}
}

/* The connection ended or is of no use any more; so does the request that is under way on it. */
static void lose(struct worker *w, struct conn *c, uint64_t now, const char *why)
{
	bool useful = c->useful;

	if (c->busy && !c->answered) {
		tally_why(&w->tally, why);
		worker_settle(w, c, c->reader.why ? OUT_BAD : OUT_LOST, 0, now);
	}
	note_reconnect(w, now);
	hang_up(w, c, now);
	if (c->state == CONN_DOWN &&
	    useful) /* else sweep() does: a server that hangs up gets a rest */
		start_connecting(w, c, now);
}

static void receive(struct worker *w, struct conn *c, uint64_t now)
{
	size_t room = 0;
	char *p = reader_room(&c->reader, &room);
	ssize_t k;

	if (!p) {
		lose(w, c, now, c->reader.why);
		return;
	}
	k = w->o->pipes ? read(c->in, p, room) : recv(c->in, p, room, 0);
	if (k < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (k < 0) {
		lose(w, c, now, strerror(errno));
		return;
	}
	if (k == 0) {
		reader_ended(&c->reader);
		if (!reader_started(&c->reader)) {
			lose(w, c, now, "the connection ended before the answer");
			return;
		}
	}
	w->tally.bytes_in += c->counted ? (uint64_t)k : 0;
	reader_received(&c->reader, (size_t)k);
	digest(w, c, now);
	if (k == 0 && c->state == CONN_UP && c->reader.eof)
		lose(w, c, now, "the connection ended before the answer");
}

/* ---- time ------------------------------------------------------------------------------------- */

static void sweep(struct worker *w, uint64_t now)
{
	w->sweep = now + SWEEP_NS;
	for (size_t i = 0; i < w->n; i++) {
		struct conn *c = &w->conns[i];

		if (c->state == CONN_DOWN && c->retry <= now && !w->draining)
			start_connecting(w, c, now);
		if (c->state == CONN_WAITING && now - c->since >= w->o->timeout_ns)
			connect_failed(w, c, now, ETIMEDOUT);
		if (!c->busy || now - c->since < w->o->timeout_ns)
			continue;
		if (!c->answered)
			worker_settle(w, c, OUT_TIMEOUT, 0, now);
		if (w->o->pipes) { /* the answer may still come: it is told by its id */
			not_busy(w, c);
			c->due = 0;
			set_free(w, c);
		} else {
			note_reconnect(w, now);
			hang_up(w, c, now);
		}
	}
}

static void wait_for(struct worker *w, struct epoll_event *events, int *ret_n, uint64_t now)
{
	uint64_t until = w->sweep;
	struct timespec t;

	if (w->interval > 0 && w->idle && !w->draining && next_due(w) < until)
		until = next_due(w);
	until = until > now ? until - now : 0;
	t.tv_sec = (time_t)(until / 1000000000u);
	t.tv_nsec = (long)(until % 1000000000u);
	*ret_n = epoll_pwait2(w->epoll, events, EVENTS, &t, NULL);
	if (*ret_n < 0 && errno == ENOSYS) /* before Linux 5.11: to the millisecond */
		*ret_n = epoll_wait(w->epoll, events, EVENTS, (int)(until / 1000000u));
}

static void handle(struct worker *w, const struct epoll_event *e, uint64_t now)
{
	struct conn *c = e->data.ptr;

	if (c->state == CONN_WAITING) {
		go_on_connecting(w, c, now);
		return;
	}
	if (c->state == CONN_UP && c->blocked && e->events & (EPOLLOUT | EPOLLERR | EPOLLHUP))
		push(w, c, now);
	if (c->state == CONN_UP && e->events & (EPOLLIN | EPOLLERR | EPOLLHUP))
		receive(w, c, now);
}

/* What ends by number would never end when nobody is there to take the requests. */
static bool given_up(const struct worker *w, uint64_t now)
{
	return w->end == UINT64_MAX && w->refused && !w->under_way && !w->idle &&
	       now - w->alive > w->o->timeout_ns && now >= w->begin;
}

/* Is there anything left to wait for? */
static bool over(struct worker *w, uint64_t now)
{
	if (atomic_load_explicit(&w->stop, memory_order_relaxed) || w->dead == w->n)
		return true;
	if (!w->draining &&
	    (now >= w->end || (w->left == 0 && now >= w->begin) || given_up(w, now)))
		w->draining = true;
	return w->draining && !w->under_way;
}

/* Not before the thread runs, which may take a while on a busy machine. */
static void set_times(struct worker *w, uint64_t now)
{
	w->begin = now + w->o->warmup_ns;
	w->end = w->o->duration_ns ? w->begin + w->o->duration_ns : UINT64_MAX;
	w->tally.begin = w->begin;
	w->tally.until = w->end;
	w->alive = now;
	atomic_store(&w->shown_begin, w->begin);
}

void worker_run(struct worker *w)
{
	struct epoll_event events[EVENTS];
	uint64_t now = load_clock();
	int n = 0;

	prctl(PR_SET_TIMERSLACK, 1000ul, 0ul, 0ul, 0ul);
	set_times(w, now);
	for (size_t i = 0; i < w->n; i++) {
		struct conn *c = &w->conns[i];

		if (!w->o->pipes)
			start_connecting(w, c, now);
		else if (poll_for(w, c, c->in, EPOLL_CTL_ADD, EPOLLIN))
			connected(w, c);
	}
	while (!over(w, now)) {
		wait_for(w, events, &n, now);
		for (int i = 0; i < n; i++)
			handle(w, &events[i], now = load_clock());
		now = n > 0 ? now : load_clock();
		if (now >= w->sweep)
			sweep(w, now);
		if (w->interval > 0)
			fire_due(w, now);
		else
			fire_all(w);
	}
	if (w->begun && w->o->duration_ns)
		while (next_due(w) < (now < w->end ? now : w->end)) {
			w->tally.unsent++;
			w->arrival++;
		}
	tally_end(&w->tally, now, w->left == 0);
	atomic_store(&w->over, true);
}

/* ---- making and ending ------------------------------------------------------------------------- */

static size_t longest_request(const struct load_options *o)
{
	size_t longest = 0, session = 0;

	for (size_t i = 0; i < o->n_sessions; i++)
		session = strlen(o->sessions[i]) > session ? strlen(o->sessions[i]) : session;
	for (size_t i = 0; i < o->n_shots; i++) {
		size_t n = o->shots[i].head_n + o->shots[i].tail_n + session;

		longest = n > longest ? n : longest;
	}
	return longest;
}

static bool init_conns(struct worker *w)
{
	size_t room = longest_request(w->o);

	for (size_t i = 0; i < w->n; i++) {
		struct conn *c = &w->conns[i];

		c->in = c->out = -1;
		c->session = w->o->n_sessions ? (w->first + i) % w->o->n_sessions : 0;
		c->bytes = malloc(room + 1);
		if (!c->bytes ||
		    !reader_init(&c->reader, w->o->goal->kind != GOAL_HTTP, LOAD_ANSWER))
			return false;
		if (w->o->pipes) {
			c->in = w->o->pipes[w->first + i].in;
			c->out = w->o->pipes[w->first + i].out;
		}
	}
	return true;
}

bool worker_init(struct worker *w, const struct load_options *o, unsigned number)
{
	w->o = o;
	w->first = (size_t)o->connections * number / o->threads;
	w->n = (size_t)o->connections * (number + 1) / o->threads - w->first;
	w->idle_end = &w->idle;
	w->next_id = LOAD_ID_FIRST + number;
	w->random = 0x9E3779B97F4A7C15u + number;
	for (size_t i = 0; i < o->n_shots; i++)
		w->weights += o->shots[i].weight;
	w->left = UINT64_MAX;
	if (o->requests)
		w->left =
			o->requests * (number + 1) / o->threads - o->requests * number / o->threads;
	if (o->rate > 0) {
		w->interval = 1e9 / o->rate * o->threads;
		w->offset = 1e9 / o->rate * number;
	}
	atomic_init(&w->stop, false);
	atomic_init(&w->over, false);
	atomic_init(&w->shown_begin, UINT64_MAX);
	atomic_init(&w->good, 0);
	atomic_init(&w->failed, 0);
	w->epoll = epoll_create1(EPOLL_CLOEXEC);
	w->conns = calloc(w->n, sizeof *w->conns);
	if (!tally_init(&w->tally, o->n_shots) || !w->conns || w->epoll < 0 || !init_conns(w)) {
		worker_done(w);
		return false;
	}
	return true;
}

void worker_done(struct worker *w)
{
	for (size_t i = 0; w->conns && i < w->n; i++) {
		if (!w->o->pipes && w->conns[i].in >= 0)
			close(w->conns[i].in);
		free(w->conns[i].bytes);
		reader_done(&w->conns[i].reader);
	}
	free(w->conns);
	w->conns = NULL;
	if (w->epoll >= 0)
		close(w->epoll);
	tally_done(&w->tally);
}
