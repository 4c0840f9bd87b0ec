/* httpd/deadline.c - time in an HTTP server: the clock, deadlines, the Date field.
 *
 * A connection waits for one thing at a time, and for each kind of thing all wait equally long: so
 * one list for each kind is in the order in which time runs out, starting a deadline is an append,
 * and one timer for the whole server looks at the heads of the lists. It runs only while somebody
 * waits.
 */
#define _POSIX_C_SOURCE 200809L

#include "httpd/conn.h"

#include <stdio.h>

enum {
	HEAD_MS = 10000,
	BODY_MS = 30000,
	IDLE_MS = 75000,
	WRITE_MS = 30000,
	LINGER_MS =
		5000, /* the answer is lost for a client that is slower to notice; nginx has the same */
	LAST_LINGER_MS = 1000, /* when the server is to end */
	LONGEST_TICK_MS = 1000,
	SHORTEST_TICK_MS = 10,
	AT_ONCE = 128 /* connections that are dealt with before the others have a turn */
};

static uint64_t monotonic_us(void *ctx)
{
	struct timespec ts;

	(void)ctx;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

static uint64_t or_default(uint64_t ms, uint64_t usual)
{
	return ms ? ms : usual;
}

void http_deadlines_init(struct httpd *h)
{
	uint64_t head = or_default(h->o.head_timeout_ms, HEAD_MS);
	uint64_t body = or_default(h->o.body_timeout_ms, BODY_MS);

	h->clock = monotonic_us;
	h->body_us = body * 1000;
	h->patience_ms[HTTP_UNTIL_REQUEST] = or_default(h->o.idle_timeout_ms, IDLE_MS);
	h->patience_ms[HTTP_UNTIL_HEAD] = head;
	h->patience_ms[HTTP_UNTIL_BODY] = body < head ? body : head;
	h->patience_ms[HTTP_UNTIL_WRITTEN] = or_default(h->o.write_timeout_ms, WRITE_MS);
	h->patience_ms[HTTP_UNTIL_FORGOTTEN] = LINGER_MS;
	h->tick_ms = LONGEST_TICK_MS;
	for (int i = 0; i < HTTP_DEADLINES; i++) {
		ring_init(&h->waiting[i]);
		if (i && h->patience_ms[i] / 2 < h->tick_ms)
			h->tick_ms = h->patience_ms[i] / 2;
	}
	if (h->tick_ms < SHORTEST_TICK_MS)
		h->tick_ms = SHORTEST_TICK_MS;
}

void http_deadlines_drain(struct httpd *h)
{
	h->patience_ms[HTTP_UNTIL_FORGOTTEN] = LAST_LINGER_MS;
}

uint64_t httpd_now_us(const struct httpd *h)
{
	return h->clock(h->clock_ctx);
}

void httpd_set_clock(struct httpd *h, uint64_t (*clock)(void *ctx), void *ctx)
{
	h->clock = clock;
	h->clock_ctx = ctx;
}

static enum http_deadline deadline_of(const struct http_conn *c)
{
	if (c->writing)
		return HTTP_UNTIL_WRITTEN;
	switch (c->phase) {
	case CONN_IDLE:
		return c->tls && !tls_session_is_ready(c->tls) ? HTTP_UNTIL_HEAD
							       : HTTP_UNTIL_REQUEST;
	case CONN_HEAD: return HTTP_UNTIL_HEAD;
	case CONN_BODY: return HTTP_UNTIL_BODY;
	case CONN_CLOSING: return HTTP_UNTIL_WRITTEN;
	case CONN_LINGERING: return HTTP_UNTIL_FORGOTTEN;
	default: return HTTP_NO_DEADLINE;
	}
}

void http_conn_arm(struct http_conn *c)
{
	struct httpd *h = c->server;
	enum http_deadline kind = deadline_of(c);
	bool total = kind == HTTP_UNTIL_HEAD || kind == HTTP_UNTIL_FORGOTTEN;
	bool restart = kind != c->deadline || (c->progress && !total);

	c->progress = false;
	if (!restart)
		return;
	c->deadline = kind;
	c->since_us = h->now_us;
	ring_remove(&c->waiting);
	if (kind == HTTP_NO_DEADLINE)
		return;
	ring_add(&h->waiting[kind], &c->waiting);
	if (!h->ticking) {
		h->ticking = true;
		loop_timer_start(h->tick, h->tick_ms);
	}
}

/* The first of those whose time is over. */
static struct http_conn *overdue(struct httpd *h, enum http_deadline kind)
{
	struct ring *first = h->waiting[kind].next;
	struct http_conn *c = CONTAINER_OF(first, struct http_conn, waiting);

	if (first == &h->waiting[kind] || h->now_us - c->since_us < h->patience_ms[kind] * 1000)
		return NULL;
	return c;
}

void httpd_tick(struct httpd *h)
{
	bool any = false;
	int left = AT_ONCE;

	httpd_enter(h);
	for (int i = 1; i < HTTP_DEADLINES; i++) {
		struct http_conn *c;

		while (!h->dying && left && (c = overdue(h, (enum http_deadline)i)) != NULL) {
			left--;
			c->handling = true;
			http_conn_expired(c);
			http_conn_settle(c);
		}
		any = any || !ring_alone(&h->waiting[i]);
	}
	h->ticking = any && !h->dying;
	if (h->ticking)
		loop_timer_start(h->tick, left ? h->tick_ms : 1);
	httpd_leave(h);
}

/* RFC 9110 section 5.6.7. Not strftime(), which knows the locale. */
struct str httpd_date(struct httpd *h)
{
	static const char days[] = "SunMonTueWedThuFriSat";
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	time_t now = time(NULL);
	struct tm t;

	if (now != h->date_second && gmtime_r(&now, &t)) {
		h->date_second = now;
		snprintf(h->date, sizeof h->date, "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT",
			 days + 3 * t.tm_wday, t.tm_mday, months + 3 * t.tm_mon,
			 (t.tm_year + 1900) % 10000, t.tm_hour, t.tm_min, t.tm_sec);
	}
	return (struct str){ h->date, strlen(h->date) };
}
