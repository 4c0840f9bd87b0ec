/* client/turn.c - when things happen: the end of calls, deadlines, the events of the link, closing.
 *
 * Whatever comes in passes client_enter() and client_leave(). Callbacks that may do anything (on_done)
 * run when the last one leaves, so no code of the role has to expect that a call, a watch or the
 * client's state changes under it except where it says so.
 */
#include "client/state.h"

#include "base/error.h"

#include <limits.h>
#include <stdio.h>

enum { MAX_TURNS = 64 };

void client_enter(cleat_client *c)
{
	c->depth++;
}

static void turn_finish(cleat_call *call)
{
	cleat_result *r = call->result;

	call->result = NULL;
	if (call->done)
		call->done(call, r);
	else
		call->opts.on_done(call, r);
	call_free(call);
}

/* Those that have ended by now; not those that are begun in here and end at once. */
static void run_done(cleat_client *c)
{
	const cleat_call *last = c->done_last;
	bool more = last != NULL;

	while (more && c->done_first) {
		cleat_call *call = c->done_first;

		more = call != last;

		c->done_first = call->next;
		if (!c->done_first)
			c->done_last = NULL;
		turn_finish(call);
	}
}

static bool due(const cleat_client *c)
{
	return c->done_first || c->cancel_questions || c->watch_dirty;
}

/* Callbacks that begin calls which end at once shall not keep the loop from everybody else. */
static bool go_on(cleat_client *c, unsigned turn)
{
	if (turn < MAX_TURNS + (c->closing ? c->opts.max_calls : 0))
		return true;
	client_arm(c, 0);
	return false;
}

void client_leave(cleat_client *c)
{
	if (c->depth > 1) {
		c->depth--;
		return;
	}
	for (unsigned turn = 0; due(c) && go_on(c, turn); turn++) {
		run_done(c);
		asked_pump(c);
		if (c->watch_dirty)
			watch_pump(c, client_now(c));
	}
	c->depth--;
}

void client_leave_later(cleat_client *c)
{
	if (c->depth == 1 && due(c))
		client_arm(c, 0);
	c->depth--;
}

void client_arm(cleat_client *c, uint64_t at)
{
	if (c->pump_at && at >= c->pump_at)
		return;
	c->pump_at = at ? at : 1;
	c->hooks.wake(c->hooks.ctx);
}

/* ---- time --------------------------------------------------------------------------------- */

/* "60 s", "0.5 s", for people. */
static const char *seconds(unsigned ms, char *to, size_t n)
{
	int len = snprintf(to, n, "%u.%03u", ms / 1000, ms % 1000);

	while (to[len - 1] == '0')
		to[--len] = '\0';
	if (to[len - 1] == '.')
		to[--len] = '\0';
	return to;
}

static void expire(cleat_call *call, uint64_t now)
{
	const cleat_error *last = &call->client->error;
	bool hard = call->hard_at && now >= call->hard_at;
	enum call_state state = call->state;
	char time[32];

	/* A legacy server that waits for our answer is not the one that takes its time. */
	if (!hard && call->client->n_questions) {
		call_touch(call);
		return;
	}
	seconds(hard ? call->opts.hard_timeout_ms : call->idle_ms, time, sizeof time);
	call_abandon(call, "timed out");
	if (state == CALL_WAITING)
		call_fail(call, CLEAT_STEP_TIMEOUT, CLEAT_ETIMEOUT,
			  "the server was not ready within %s s%s%s", time,
			  last->status ? "; the last reason: " : "",
			  last->status ? last->message : "");
	else if (hard)
		call_fail(call, CLEAT_STEP_TIMEOUT, CLEAT_ETIMEOUT,
			  "the server had no final answer within %s s (hard_timeout_ms)", time);
	else
		call_fail(call, CLEAT_STEP_TIMEOUT, CLEAT_ETIMEOUT,
			  "the server did not answer within %s s (timeout_ms)", time);
}

static void check_deadlines(cleat_client *c, uint64_t now)
{
	struct rpc_node *n;

	while ((n = rpc_table_expired(&c->calls, now)))
		expire(CONTAINER_OF(n, cleat_call, node), now);
}

static void earlier(uint64_t *at, uint64_t other)
{
	if (other && (!*at || other < *at))
		*at = other;
}

static uint64_t next_time(const cleat_client *c)
{
	uint64_t at = rpc_table_next_deadline(&c->calls);

	if (c->phase == CLIENT_WAITING)
		earlier(&at, c->retry_at);
	if (c->phase == CLIENT_OPENING)
		earlier(&at, c->open_until);
	earlier(&at, watch_next(c));
	return at;
}

int client_pump(cleat_client *c)
{
	uint64_t now = client_now(c), at;

	if (c->depth)
		return 0;
	client_enter(c);
	if (!c->closing) {
		check_deadlines(c, now);
		reconnect_pump(c, now);
		watch_pump(c, now);
	}
	client_leave(c);
	at = c->closing ? 0 : next_time(c);
	c->pump_at = at;
	now = client_now(c);
	if (!at)
		return -1;
	if (at <= now)
		return 0;
	return at - now > INT_MAX ? INT_MAX : (int)(at - now);
}

/* ---- the link ------------------------------------------------------------------------------- */

static void accepted(void *ctx, void *tag)
{
	cleat_client *c = ctx;

	client_enter(c);
	if (negotiation_sent(&c->neg, tag))
		negotiate_accepted(c);
	client_leave(c);
}

/* HTTP: an answer that no modern server would give. Perhaps there is another server now: the next
 * call finds out (2026-07-28 basic/versioning: "re-probing if the cached assumption later fails"). */
static void suspect(cleat_client *c, const struct link_failure *why)
{
	if (c->phase == CLIENT_READY && c->modern &&
	    (why->http_status == 400 || why->http_status == 404 || why->http_status == 405))
		negotiation_suspect(&c->neg);
}

static void failed(void *ctx, void *tag, const struct link_failure *why)
{
	cleat_client *c = ctx;
	cleat_call *call;

	client_enter(c);
	call = call_by_tag(c, tag);
	if (negotiation_sent(&c->neg, tag))
		negotiate_refused(c, why);
	else if (call && why->session_lost &&
		 (c->phase == CLIENT_READY || c->phase == CLIENT_OPENING))
		reconnect_session_lost(call, why);
	else if (call && why->unsent && why->step == CLEAT_STEP_EXCHANGE && !call->resent) {
		call->resent = true;
		call_send_now(call);
	} else if (call) {
		suspect(c, why);
		call_fail_link(call, why);
	}
	client_leave(c);
}

static void ignore(cleat_call *call, cleat_result *r)
{
	(void)call;
	cleat_result_free(r);
}

/* The stream also breaks when the session is lost; a question finds out, and the session is begun anew
 * (2025-11-25 transports, Session Management). */
static void gap(void *ctx)
{
	cleat_client *c = ctx;
	cleat_call *ping;

	client_enter(c);
	ping = c->phase == CLIENT_READY && !c->modern
		       ? call_internal(client_call_new(c, NULL), "ping", NULL, ignore)
		       : NULL;
	if (ping)
		call_send(ping);
	if (c->cache)
		cache_clear(c->cache);
	c->changes++;
	watch_missed(c);
	watch_tell(c, CLEAT_CHANGE_MISSED, (struct str){ NULL, 0 });
	client_leave(c);
}

static void note(void *ctx, int level, const char *text)
{
	client_note(ctx, level, "%s", text);
}

static void err_line(void *ctx, const char *line)
{
	cleat_client *c = ctx;

	if (c->opts.on_stderr)
		c->opts.on_stderr(c, line, c->opts.userdata);
}

static void closed(void *ctx)
{
	cleat_client *c = ctx;

	c->closed = true;
}

struct link_events client_link_events(cleat_client *c)
{
	return (struct link_events){ .message = intake_message,
				     .accepted = accepted,
				     .failed = failed,
				     .down = reconnect_down,
				     .up = reconnect_up,
				     .gap = gap,
				     .oversize = intake_oversize,
				     .note = note,
				     .err_line = err_line,
				     .closed = closed,
				     .ctx = c };
}

/* ---- the end -------------------------------------------------------------------------------- */

static void end_closed(cleat_call *call, void *arg)
{
	(void)arg;
	call_fail(call, CLEAT_STEP_CANCELLED, CLEAT_ECLOSED, "the client was closed");
}

void client_close(cleat_client *c)
{
	if (c->closing)
		return;
	client_enter(c);
	c->closing = true;
	c->phase = CLIENT_DEAD;
	negotiation_stop(&c->neg);
	listen_drop(c);
	for (int s = CALL_WAITING; s < CALL_ENDED; s++)
		call_each(c, (enum call_state)s, end_closed, NULL);
	asked_close(c);
	client_leave(c);
	if (c->link)
		c->link->ops->close(c->link);
	else
		c->closed = true;
}

bool client_closed(const cleat_client *c)
{
	return c->closed;
}
