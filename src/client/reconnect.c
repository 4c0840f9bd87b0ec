/* client/reconnect.c - reaching the server, losing it, reaching it again.
 *
 * With opts.restart a server that was ready once and is lost is reached again: after 1 s, 1.5 s, ... 30 s
 * (each time a random part of that, so that many clients do not come at once), and after five losses
 * within a minute not at all for half a minute, in which calls fail at once. Without it the next call
 * tries. What was under way is lost and is never sent again by itself: it may have had its effect.
 */
#include "client/state.h"

#include "base/error.h"
#include "base/mem.h"
#include "json/doc.h"
#include "json/parse.h"

enum { LEAST_DELAY = 100, FIRST_DELAY = 1000, LAST_DELAY = 30000, MAX_SESSIONS_LOST = 3 };

uint64_t reconnect_delay(cleat_client *c, unsigned attempts)
{
	uint64_t delay = FIRST_DELAY, part;

	while (attempts-- && delay < LAST_DELAY)
		delay += delay / 2;
	if (delay > LAST_DELAY)
		delay = LAST_DELAY;
	part = c->hooks.random(c->hooks.ctx) % (delay + 1);
	return part < LEAST_DELAY ? LEAST_DELAY : part;
}

static void tell_state(cleat_client *c)
{
	if (c->opts.on_state)
		c->opts.on_state(c, &c->error, c->opts.userdata);
}

/* ---- opening -------------------------------------------------------------------------------- */

/* A legacy server is greeted once on a connection. If that came to nothing (its answer could not be
 * read, or came too late), nobody can tell what it thinks. */
static void begin_anew(cleat_client *c)
{
	asked_close(c);
	negotiation_new_connection(&c->neg);
	c->link_up = false;
	c->link->ops->reset(c->link);
}

/* Begins to open. */
static void begin_to_open(cleat_client *c)
{
	if (negotiation_greeted(&c->neg) && c->link_up && c->link->renews)
		begin_anew(c);
	c->phase = CLIENT_OPENING;
	negotiation_open(&c->neg);
	c->open_until = client_now(c) + c->opts.connect_timeout_ms;
	client_arm(c, c->open_until);
	if (c->link_up)
		negotiate_begin(c);
	else
		c->link->ops->open(c->link);
}

int client_start(cleat_client *c)
{
	if (c->closing)
		return CLEAT_ECLOSED;
	if (c->doomed)
		return c->error.status;
	if (!c->link)
		return CLEAT_EMISUSE;
	if (c->phase == CLIENT_IDLE || c->phase == CLIENT_DEAD ||
	    (c->phase == CLIENT_READY && negotiation_stale(&c->neg)))
		begin_to_open(c);
	return CLEAT_OK;
}

int reconnect_admit(cleat_client *c, cleat_error *err)
{
	if (c->doomed) {
		*err = c->error;
		return err->status;
	}
	if (c->phase == CLIENT_WAITING && c->breaker) {
		uint64_t now = client_now(c);

		return error_set(err, CLEAT_ECLOSED,
				 "the server was lost %d times within a minute and is tried again "
				 "in %u s; the last reason: %s",
				 BREAKER_DEATHS,
				 c->retry_at > now ? (unsigned)((c->retry_at - now + 999) / 1000)
						   : 0,
				 c->error.message);
	}
	return CLEAT_OK;
}

/* ---- ready ---------------------------------------------------------------------------------- */

static void post_notice(cleat_client *c, const cleat_json *pair)
{
	const cleat_json *params = cleat_json_at(pair, 1);

	message_notice(c, json_str(cleat_json_at(pair, 0)), json_is_object(params) ? params : NULL,
		       NULL);
}

static void flush_notices(cleat_client *c)
{
	while (c->notices && c->phase == CLIENT_READY) {
		struct notice *n = c->notices;

		c->notices = n->next;
		c->n_notices--;
		post_notice(c, cleat_doc_root(n->doc));
		cleat_doc_free(n->doc);
		mem_free(&c->mem, n);
	}
}

void reconnect_ready(cleat_client *c)
{
	if (c->ever_ready) { /* it may be another server */
		if (c->cache)
			cache_clear(c->cache);
		toolbook_clear(c->tools);
		c->changes++;
	}
	c->ever_ready = true;
	c->half_open = c->breaker = false;
	c->open_until = 0;
	c->ready_at = client_now(c);
	error_clear(&c->error);
	c->error_step = CLEAT_STEP_NONE;
	c->error_http = 0;
	client_arm(c, 0); /* what was waited for so far is not, any more */
	tell_state(c);
	watch_ready(c);
	watch_pump(c, c->ready_at); /* first, so that what the calls change is heard */
	flush_notices(c);
	call_flush(c);
}

/* ---- losing it ------------------------------------------------------------------------------ */

static void fail_waiting(cleat_call *call, void *arg)
{
	cleat_client *c = call->client;

	(void)arg;
	call_fail_error(call, c->error_step, c->error_http, &c->error);
}

/* Notes the loss. Are there too many of them? */
static bool too_many(cleat_client *c, uint64_t now)
{
	uint64_t oldest;

	c->deaths[c->n_deaths++ % BREAKER_DEATHS] = now;
	oldest = c->deaths[c->n_deaths % BREAKER_DEATHS];
	return c->half_open || (c->n_deaths >= BREAKER_DEATHS && now - oldest <= BREAKER_WINDOW);
}

static void schedule(cleat_client *c)
{
	uint64_t now = client_now(c);

	if (c->ready_at && now - c->ready_at >= BREAKER_WINDOW)
		c->attempts = 0;
	c->ready_at = 0;
	c->breaker = too_many(c, now);
	c->half_open = false;
	c->retry_at = now + (c->breaker ? BREAKER_PAUSE : reconnect_delay(c, c->attempts++));
	c->phase = CLIENT_WAITING;
	client_arm(c, c->retry_at);
	client_note(c, CLEAT_LOG_WARNING, "the server is tried again in %u ms: %s",
		    (unsigned)(c->retry_at - now), c->error.message);
}

/* `again`: it may help to try once more by ourselves. */
static void lose(cleat_client *c, enum cleat_step step, int http_status, const cleat_error *why,
		 bool again)
{
	bool was_ready;

	negotiation_stop(&c->neg);
	c->open_until = 0;
	c->error = *why;
	c->error_step = step;
	c->error_http = http_status;
	was_ready = c->phase == CLIENT_READY;
	if (again && c->opts.restart && c->ever_ready)
		schedule(c);
	else
		c->phase = CLIENT_DEAD;
	tell_state(c);
	/* What waits although it was ready has found the link closed: it waits for the next one. */
	if ((c->phase == CLIENT_DEAD && !was_ready) || c->breaker)
		call_each(c, CALL_WAITING, fail_waiting, NULL);
}

void reconnect_failed(cleat_client *c, enum cleat_step step, int http_status,
		      const cleat_error *why)
{
	lose(c, step, http_status, why,
	     step != CLEAT_STEP_NEGOTIATE && step != CLEAT_STEP_AUTH && !c->link->http);
}

static void fail_sent(cleat_call *call, void *arg)
{
	const struct link_failure *why = arg;
	cleat_error err;

	error_set(&err, why->error.status, "lost before the answer: %s", why->error.message);
	err.os_errno = why->error.os_errno;
	call_fail_error(call, why->step ? why->step : CLEAT_STEP_EXCHANGE, why->http_status, &err);
}

static void start_for(cleat_call *call, void *arg)
{
	(void)arg;
	client_start(call->client);
}

void reconnect_down(void *ctx, const struct link_failure *why)
{
	cleat_client *c = ctx;
	bool again = negotiation_died_of_probe(&c->neg, c->link, &why->error);

	client_enter(c);
	c->link_up = false;
	if (!c->closing) {
		if (!again)
			lose(c, why->step ? why->step : CLEAT_STEP_EXCHANGE, why->http_status,
			     &why->error, true);
		if (!c->modern)
			asked_close(c);
		watch_lost(c);
		call_each(c, CALL_SENT, fail_sent, (void *)why);
		call_each(c, CALL_WAITING, start_for, NULL);
		if (again)
			c->link->ops->open(c->link);
	}
	client_leave(c);
}

void reconnect_up(void *ctx, const struct link_failure *why)
{
	cleat_client *c = ctx;
	const cleat_error *heard = negotiation_heard(&c->neg);
	cleat_error err;

	client_enter(c);
	c->link_up = !why;
	negotiation_new_connection(&c->neg);
	if (c->closing || !negotiation_is_at(&c->neg, NEGOTIATION_LINK)) {
		client_leave(c);
		return;
	}
	if (!why) {
		negotiate_begin(c);
	} else {
		err = why->error;
		/* What the first attempt heard is often the reason; not twice, though. */
		if (heard->status && !strstr(err.message, heard->message))
			error_set(&err, why->error.status, "%.110s; before that: %.110s",
				  why->error.message, heard->message);
		reconnect_failed(c, why->step ? why->step : CLEAT_STEP_CONNECT, why->http_status,
				 &err);
	}
	client_leave(c);
}

/* The server knows none of the sessions that it begins: nothing more is tried until the next call. */
static COLD void give_session_up(cleat_client *c, const struct link_failure *why)
{
	c->sessions_lost = 0;
	lose(c, why->step, why->http_status, &why->error, false);
}

/* 2025-11-25 transports, Session Management: 404 for a session means that a new one must be begun. The
 * server has not taken the request, so it is sent again, once. One that was sent in an earlier session
 * says nothing about this one. */
void reconnect_session_lost(cleat_call *call, const struct link_failure *why)
{
	cleat_client *c = call->client;
	bool hopeless = c->sessions_lost >= MAX_SESSIONS_LOST;
	bool now = call->session == c->session;
	bool lost = c->phase == CLIENT_READY && now;

	if (call->done || call->renewed || (hopeless && lost)) {
		call_fail_link(call, why);
	} else {
		call->renewed = true;
		call->state = CALL_WAITING;
		if (c->phase == CLIENT_READY && !lost)
			call_send(call);
	}
	if (now && !lost)
		negotiate_renew(c);
	if (!lost)
		return;
	asked_close(c);
	watch_lost(c);
	if (hopeless) {
		give_session_up(c, why);
		return;
	}
	c->sessions_lost++;
	client_note(c, CLEAT_LOG_NOTICE, "the server has lost the session; another one is begun");
	begin_to_open(c);
}

/* ---- time ----------------------------------------------------------------------------------- */

void reconnect_pump(cleat_client *c, uint64_t now)
{
	cleat_error err;

	if (c->phase == CLIENT_WAITING && now >= c->retry_at) {
		c->half_open = c->breaker;
		c->breaker = false;
		begin_to_open(c);
	} else if (c->phase == CLIENT_OPENING && now >= c->open_until) {
		error_set(&err, CLEAT_ETIMEOUT,
			  "the server was not ready within %u s (connect_timeout_ms)",
			  (c->opts.connect_timeout_ms + 999) / 1000);
		reconnect_failed(c, CLEAT_STEP_TIMEOUT, 0, &err);
	}
}

/* ---- what cannot work ----------------------------------------------------------------------- */

void client_fail(cleat_client *c, enum cleat_step step, const cleat_error *why)
{
	if (c->doomed)
		return;
	c->doomed = true;
	c->phase = CLIENT_DEAD;
	c->error = *why;
	c->error_step = step;
}

int client_notify(cleat_client *c, struct str method, const cleat_json *params)
{
	struct notice *n, **last;
	int rc = client_start(c);

	if (rc != CLEAT_OK)
		return rc;
	if (c->phase == CLIENT_READY)
		return message_notice(c, method, params, NULL);
	if (c->n_notices >= MAX_NOTICES)
		return CLEAT_ELIMIT;
	n = mem_zalloc(&c->mem, sizeof *n);
	if (n)
		n->doc = doc_newf(&c->mem, NULL, "[%.*s, %p]", (int)method.n, method.p,
				  (const void *)params);
	if (!n || !n->doc) {
		mem_free(&c->mem, n);
		return CLEAT_ENOMEM;
	}
	for (last = &c->notices; *last; last = &(*last)->next)
		;
	*last = n;
	c->n_notices++;
	return CLEAT_OK;
}
