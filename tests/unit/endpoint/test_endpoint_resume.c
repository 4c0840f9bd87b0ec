/* test_endpoint_resume.c - streams of a session whose client comes back (2025-11-25 basic/transports:
 * Resumability and Redelivery): nothing is lost, nothing comes twice, and what is not there any more is an
 * error. Clients that are only slow are in test_endpoint_slow.c.
 */
#include "test.h"
#include "unit/endpoint/endpoint_rig.h"

static const char *const revisions[] = { "2025-03-26", "2025-06-18", "2025-11-25" };

enum { EVENTS = 5 }; /* of a call with four remarks */
#define FOUR CALL("1", "chat", "{\"n\":4}")

struct seen {
	char id[80];
	char data[200];
};

/* All events of a stream up to its end; gives how many. */
static size_t read_all(struct client *c, struct seen *all, size_t most)
{
	struct stream st;
	struct event e;
	size_t n = 0;

	stream_expect(c, &st);
	while (stream_next(&st, &e)) {
		assert_true(n < most);
		snprintf(all[n].id, sizeof all[n].id, "%s", e.id);
		snprintf(all[n].data, sizeof all[n].data, "%.150s", e.data ? e.data : "");
		n++;
		event_done(&e);
	}
	assert_true(st.ended);
	stream_done(&st);
	return n;
}

static struct client *resume(struct talk *t, const char *last)
{
	struct client *c = join(t->b);

	talk_get(t, c, last);
	return c;
}

static struct client *resume_stream(struct talk *t, const char *last, struct stream *st)
{
	struct client *c = resume(t, last);

	stream_expect(c, st);
	return c;
}

/* There is nothing to come back to. */
static void expect_missing(struct talk *t, const char *last)
{
	struct client *c = resume(t, last);

	expect_answer(c, 404);
	hang_up(c);
}

/* It says something. */
static void say(const char *text)
{
	cleat_request_log(parked[0], CLEAT_LOG_ERROR, "%s", text);
}

/* The client is gone, and the server has seen it. */
static void lose(struct talk *t, struct client *c, struct stream *st, bool reset)
{
	stream_done(st);
	if (reset)
		slam(c);
	else
		hang_up(c);
	WAIT_FOR(&t->b->h, stats_of(t->b).streams == 0);
}

/* ---- coming back -------------------------------------------------------------------------- */

/* After every event of a stream that is over: exactly the rest, with the same ids, as often as wanted.
 * Behind the last one there is nothing to come back for. */
BENCH_TEST(after_every_event_the_rest)
{
	struct seen all[8], again[8];
	struct talk t;
	struct client *c;
	size_t n;

	for (size_t i = 0; i < CLEAT_COUNT(revisions); i++) {
		bool primed = i == 2;

		talk_open(b, &t, revisions[i]);
		c = join(b);
		talk_post(&t, c, FOUR);
		n = read_all(c, all, CLEAT_COUNT(all));
		hang_up(c);
		assert_int_equal(n, EVENTS + primed);
		if (primed) /* "an event ID and an empty data field in order to prime the client" */
			assert_string_equal(all[0].data, "");
		for (size_t k = 0; k < n; k++) {
			assert_true(all[k].id[0]);
			for (size_t j = 0; j < k; j++)
				assert_string_not_equal(all[j].id, all[k].id);
		}
		for (size_t k = 0; k < 2 * n; k++) {
			c = resume(&t, all[k % n].id);
			if (k % n == n - 1) {
				expect_answer(c, 204);
				hang_up(c);
				continue;
			}
			assert_int_equal(read_all(c, again, CLEAT_COUNT(again)), n - 1 - k % n);
			for (size_t j = 0; k % n + 1 + j < n; j++) {
				assert_string_equal(again[j].id, all[k % n + 1 + j].id);
				assert_string_equal(again[j].data, all[k % n + 1 + j].data);
			}
			hang_up(c);
		}
	}
}

/* The connection is lost in the middle of a call, which goes on: what was said meanwhile comes first,
 * then what is said from now on. */
BENCH_TEST(a_lost_connection_loses_nothing)
{
	struct talk t;
	struct client *c;
	struct stream st;
	char id[80];

	for (size_t i = 0; i < CLEAT_COUNT(revisions); i++) {
		talk_open(b, &t, revisions[i]);
		c = park_call(&t);
		say("one");
		stream_expect(c, &st);
		if (i == 2)
			expect_event(&st, "");
		snprintf(id, sizeof id, "%s", expect_event(&st, "one"));
		lose(&t, c, &st, true);
		say("two");
		say("three");
		for (int k = 0; k < 2; k++) { /* it is lost once more, before the end */
			c = resume_stream(&t, id, &st);
			if (k == 0)
				expect_event(&st, "two");
			snprintf(id, sizeof id, "%s", expect_event(&st, "three"));
			say("three");
			snprintf(id, sizeof id, "%s", expect_event(&st, "three"));
			if (k == 1)
				break;
			lose(&t, c, &st, true);
			say("three");
		}
		unpark("the answer");
		expect_event(&st, "the answer");
		expect_stream_end(&st);
		hang_up(c);
	}
	assert_int_equal(n_cancelled, 0);
}

/* The answer comes while nobody is there. */
BENCH_TEST(the_answer_waits)
{
	struct talk t;
	struct client *c;
	struct stream st;
	char id[80];

	talk_open(b, &t, "2025-11-25");
	c = park_call(&t);
	say("one");
	stream_expect(c, &st);
	snprintf(id, sizeof id, "%s", expect_event(&st, "")); /* it has seen no more than that */
	lose(&t, c, &st, true);
	unpark("the answer");
	turn(b);
	c = resume_stream(&t, id, &st);
	expect_event(&st, "one");
	expect_event(&st, "the answer");
	expect_stream_end(&st);
	hang_up(c);
}

/* A question that was asked meanwhile is there, and can be answered. */
BENCH_TEST(questions_wait_too)
{
	struct talk t;
	struct client *c;
	struct stream st;
	struct event e;
	char id[80], answer[256];

	talk_open(b, &t, "2025-11-25");
	c = join(b);
	talk_post(&t, c, CALL("1", "ask", "{}"));
	stream_expect(c, &st);
	snprintf(id, sizeof id, "%s", expect_event(&st, ""));
	lose(&t, c, &st, true);
	c = resume_stream(&t, id, &st);
	assert_true(stream_next(&st, &e));
	snprintf(
		answer, sizeof answer,
		"{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"action\":\"accept\",\"content\":{}}}",
		strtol(strstr(e.data, "\"id\":") + 5, NULL, 10));
	event_done(&e);
	assert_int_equal(talk_status(&t, "POST", answer), 202);
	expect_event(&st, "confirmed");
	expect_stream_end(&st);
	hang_up(c);
}

/* Who comes back while the old connection is still there has noticed first that it is dead. */
BENCH_TEST(the_new_connection_takes_over)
{
	struct talk t;
	struct client *c, *d;
	struct stream st, old;
	char id[80];

	talk_open(b, &t, "2025-06-18");
	for (int standing = 0; standing < 2; standing++) {
		c = join(b);
		if (standing) {
			talk_get(&t, c, NULL);
			cleat_server_log(b->s, CLEAT_LOG_ERROR, "x", "one");
		} else {
			talk_post(&t, c, CALL("1", "park", "{}"));
			WAIT_FOR(&b->h, n_parked == 1);
			say("one");
		}
		stream_expect(c, &old);
		snprintf(id, sizeof id, "%s", expect_event(&old, "one"));
		d = resume_stream(&t, id, &st);
		if (standing)
			cleat_server_log(b->s, CLEAT_LOG_ERROR, "x", "two");
		else
			say("two");
		expect_event(&st, "two");
		/* the old one got nothing more, and is recognisably incomplete */
		while (!c->eof)
			wait_more(c);
		stream_take(&old);
		assert_false(old.ended);
		assert_int_equal(old.n, 0);
		if (!standing) {
			unpark("the answer");
			expect_event(&st, "the answer");
			expect_stream_end(&st);
		}
		stream_done(&old);
		stream_done(&st);
		hang_up(c);
		hang_up(d);
	}
}

/* An event id that names nothing, or something of another session, is 404, also with Last-Event-ID of
 * events that were not sent yet. */
BENCH_TEST_WITH(only_own_events_are_resumed, .tokens = true)
{
	struct seen all[8];
	struct talk t, other;
	struct client *c;
	char ids[12][80];
	size_t n, mark;

	talk_open_with(b, &t, "2025-11-25", "{}", "Authorization: Bearer ann\r\n");
	talk_open_with(b, &other, "2025-11-25", "{}", "Authorization: Bearer ann\r\n");
	c = join(b);
	talk_post(&t, c, FOUR);
	n = read_all(c, all, CLEAT_COUNT(all));
	hang_up(c);
	expect_missing(&other, all[0].id);
	mark = strcspn(all[0].id, ".");
	memset(ids, 0, sizeof ids);
	snprintf(ids[0], 80, "%.*s", (int)mark, all[0].id);
	snprintf(ids[1], 80, "%.*s.", (int)mark, all[0].id);
	snprintf(ids[2], 80, "%.*s.99.0", (int)mark, all[0].id);
	snprintf(ids[3], 80, "%.*s.2.99", (int)mark, all[0].id);
	snprintf(ids[4], 80, "%.*s.2", (int)mark, all[0].id);
	snprintf(ids[5], 80, "%.*s.2.", (int)mark, all[0].id);
	snprintf(ids[6], 80, "%.*s..1", (int)mark, all[0].id);
	snprintf(ids[7], 80, "%.*s.2.1x", (int)mark, all[0].id);
	snprintf(ids[8], 80, "%.*s.2.-1", (int)mark, all[0].id);
	snprintf(ids[9], 80, "%.*s.2.18446744073709551617", (int)mark, all[0].id);
	snprintf(ids[10], 80, "00000000.%.60s", all[0].id + mark + 1);
	snprintf(ids[11], 80, "%s", "x");
	for (size_t i = 0; i < CLEAT_COUNT(ids); i++) {
		expect_missing(&t, ids[i]);
	}
	/* another principal does not even learn that there is a session */
	snprintf(other.fields, sizeof other.fields,
		 "Mcp-Session-Id: %s\r\nAuthorization: Bearer bob\r\n", t.id);
	expect_missing(&other, all[0].id);
	c = resume(&t, all[0].id);
	assert_int_equal(read_all(c, all, CLEAT_COUNT(all)), n - 1);
	hang_up(c);
}

/* Streams that are over are kept for a while, not for ever. */
BENCH_TEST(old_streams_are_forgotten)
{
	enum { CALLS = 80 };
	static struct seen first[CALLS][8];
	struct talk t;
	struct client *c;
	struct store_stats kept;
	size_t known = 0;

	talk_open(b, &t, "2025-06-18");
	for (int i = 0; i < CALLS; i++) {
		c = join(b);
		talk_post(&t, c, FOUR);
		read_all(c, first[i], CLEAT_COUNT(first[i]));
		hang_up(c);
	}
	for (int i = 0; i < CALLS; i++) {
		const struct answer *a;

		c = resume(&t, first[i][0].id);
		a = answer_of(c);
		assert_non_null(a);
		assert_true(a->status == 200 || (a->status == 404 && known == 0));
		known += a->status == 200;
		hang_up(c);
	}
	assert_true(known >= 32 && known < CALLS);
	store_memory_stats(b->store, &kept);
	assert_int_equal(kept.streams, known);
}

/* ---- what is not there any more ----------------------------------------------------------- */

/* "replay of a purged range is an error, never partial" */
BENCH_TEST_WITH(a_purged_range_is_an_error, .store = { .max_session_bytes = 5000 })
{
	struct seen all[32];
	struct talk t;
	struct client *c;
	size_t n, whole = 0;

	talk_open(b, &t, "2025-06-18");
	c = join(b);
	talk_post(&t, c, CALL("1", "chat", "{\"n\":20,\"size\":500}"));
	n = read_all(c, all, CLEAT_COUNT(all));
	hang_up(c);
	assert_int_equal(n, 21);
	for (size_t k = 0; k < n - 1; k++) {
		struct seen rest[32];

		c = resume(&t, all[k].id);
		while (!strstr(c->buf, "\r\n\r\n"))
			wait_more(c);
		if (strncmp(c->buf, "HTTP/1.1 404", 12) == 0) {
			expect_answer(c, 404);
			assert_int_equal(whole, 0); /* what is older is not there either */
		} else {
			assert_int_equal(read_all(c, rest, CLEAT_COUNT(rest)), n - 1 - k);
			assert_string_equal(rest[0].id, all[k + 1].id);
			whole++;
		}
		hang_up(c);
	}
	assert_true(whole > 2 && whole < n - 2);
}

/* An event that is larger than all that may be kept reaches who is there, and is missed by who comes
 * back for it; what comes after it is kept again. */
BENCH_TEST_WITH(what_was_never_kept_is_missed, .store = { .max_session_bytes = 2000 })
{
	struct talk t;
	struct client *c;
	struct stream st;
	char first[80], before[80], large[80], after[80];

	talk_open(b, &t, "2025-06-18");
	c = park_call(&t);
	say("first");
	stream_expect(c, &st);
	snprintf(first, sizeof first, "%s", expect_event(&st, "first"));
	say("before");
	snprintf(before, sizeof before, "%s", expect_event(&st, "before"));
	cleat_request_log(parked[0], CLEAT_LOG_ERROR, "%-3000d", 7);
	snprintf(large, sizeof large, "%s", expect_event(&st, "7   "));
	stream_done(&st);
	hang_up(c);
	expect_missing(&t, before); /* nothing was kept behind it */
	expect_missing(&t, first);  /* not even what there is */
	c = resume_stream(&t, large, &st);
	say("after");
	snprintf(after, sizeof after, "%s", expect_event(&st, "after"));
	stream_done(&st);
	hang_up(c);
	expect_missing(&t, before);
	c = resume_stream(&t, large, &st);
	assert_string_equal(expect_event(&st, "after"), after);
	unpark("done");
	expect_event(&st, "done");
	expect_stream_end(&st);
	hang_up(c);
}

/* Nobody is there, and the answer is too large to be kept: an answer says so instead of nothing. */
BENCH_TEST_WITH(an_answer_that_cannot_be_kept_becomes_an_error,
		.store = { .max_session_bytes = 2000 })
{
	struct talk t;
	struct client *c;
	struct stream st;
	char id[80], text[4000];

	talk_open(b, &t, "2025-06-18");
	c = park_call(&t);
	say("one");
	stream_expect(c, &st);
	snprintf(id, sizeof id, "%s", expect_event(&st, "one"));
	lose(&t, c, &st, false);
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	unpark(text);
	turn(b);
	c = resume_stream(&t, id, &st);
	expect_event(&st, "\"id\":1,\"error\"");
	expect_stream_end(&st);
	hang_up(c);
}

/* The same for the stream that listens: who asks for events by id is told that they are missing, who
 * only wants to listen can. */
BENCH_TEST_WITH(a_purged_standing_stream_can_be_opened_again,
		.store = { .max_session_bytes = 3000 })
{
	struct talk t;
	struct client *c;
	struct stream st;
	char id[80];

	for (int i = 1; i < 3; i++) {
		talk_open(b, &t, revisions[i]);
		c = join(b);
		talk_get(&t, c, NULL);
		cleat_server_log(b->s, CLEAT_LOG_ERROR, "x", "one");
		stream_expect(c, &st);
		if (i == 2)
			expect_event(&st, "");
		snprintf(id, sizeof id, "%s", expect_event(&st, "one"));
		lose(&t, c, &st, false);
		for (int k = 0; k < 20; k++)
			cleat_server_log(b->s, CLEAT_LOG_ERROR, "x", "%-300d", k);
		expect_missing(&t, id);
		c = join(b);
		talk_get(&t, c, NULL);
		stream_expect(c, &st);
		if (i == 2) /* and can be come back to from here on */
			snprintf(id, sizeof id, "%s", expect_event(&st, ""));
		expect_silence(b, &st);
		cleat_server_log(b->s, CLEAT_LOG_ERROR, "x", "afterwards");
		if (i == 1) {
			expect_event(&st, "afterwards");
		} else {
			stream_done(&st);
			hang_up(c);
			c = resume_stream(&t, id, &st);
			expect_event(&st, "afterwards");
		}
		stream_done(&st);
		hang_up(c);
		assert_int_equal(talk_status(&t, "DELETE", NULL), 204);
	}
}

/* Events that are larger than the queue of a stream are replayed as well. */
BENCH_TEST_WITH(large_events_are_replayed, .http = { .max_stream_queue = 1000 })
{
	struct seen all[4];
	struct talk t;
	struct client *c;
	char id[80];

	talk_open(b, &t, "2025-11-25");
	c = join(b);
	snprintf(t.fields + strlen(t.fields), sizeof t.fields - strlen(t.fields),
		 "Accept: text/event-stream, application/json\r\n");
	talk_post(&t, c, CALL("1", "big", "{\"n\":100000}"));
	assert_int_equal(read_all(c, all, CLEAT_COUNT(all)), 2);
	hang_up(c);
	memcpy(id, all[0].id, sizeof id);
	t.fields[strlen(t.fields) - strlen("Accept: text/event-stream, application/json\r\n")] = 0;
	for (int i = 0; i < 2; i++) {
		c = resume(&t, id);
		assert_int_equal(read_all(c, all, CLEAT_COUNT(all)), 1);
		assert_has(all[0].data, "zzzz");
		hang_up(c);
	}
}

/* ---- the server lets go ------------------------------------------------------------------- */

/* "the server MAY close the connection (without terminating the SSE stream) ... it SHOULD send an SSE
 * event with a standard retry field before closing the connection." */
BENCH_TEST(a_released_client_comes_back)
{
	struct talk t;
	struct client *c;
	struct stream st;
	struct event e;
	char id[80];

	talk_open(b, &t, "2025-11-25");
	c = park_call(&t);
	cleat_request_release(parked[0], 4321);
	stream_expect(c, &st);
	assert_true(stream_next(&st, &e));
	assert_string_equal(e.data, "");
	snprintf(id, sizeof id, "%s", e.id);
	event_done(&e);
	assert_true(stream_next(&st, &e));
	assert_int_equal(e.retry, 4321);
	assert_null(e.data);
	event_done(&e);
	expect_stream_end(&st);
	cleat_request_release(parked[0], 1); /* nobody is there: nothing happens */
	/* the connection is free for something else meanwhile */
	talk_post(&t, c, PING("2"));
	expect_answer(c, 200);
	talk_get(&t, c, id);
	stream_expect(c, &st);
	expect_silence(b, &st);
	unpark("after minutes");
	expect_event(&st, "after minutes");
	expect_stream_end(&st);
	hang_up(c);
}

BENCH_TEST(who_cannot_come_back_is_not_released)
{
	static const struct {
		const char *rev, *accept;
	} rows[] = { { "2025-06-18", "" }, { "2025-11-25", "Accept: application/json\r\n" } };
	struct talk t;
	struct client *c;
	char fields[512];

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		talk_open(b, &t, rows[i].rev);
		c = join(b);
		snprintf(fields, sizeof fields, "%s%s", t.fields, rows[i].accept);
		send_request(c, "POST", "/mcp", fields, CALL("1", "park", "{}"));
		WAIT_FOR(&b->h, n_parked == 1);
		cleat_request_release(parked[0], 1);
		unpark("at once");
		assert_has(expect_answer(c, 200), "at once");
		hang_up(c);
	}
}
