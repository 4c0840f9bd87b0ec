/* test_server_threads.c - requests and threads: deferred ones finished elsewhere, blocking ones on
 * workers, cancels that race with them, connections and servers that go away meanwhile. Meant to be
 * run under ThreadSanitizer as well. Nothing here waits for time.
 */
#include "unit/server/served_rig.h"

#include "test.h"

/* ---- finishers: threads that end deferred requests ------------------------------------------------ */

struct finishers {
	pthread_mutex_t lock;
	pthread_cond_t more;
	cleat_request *queue[2048];
	size_t head, count;
	bool closing;
	pthread_t threads[8];
};

static struct finishers pool;

static void *finisher(void *arg)
{
	cleat_request *req;

	(void)arg;
	for (;;) {
		pthread_mutex_lock(&pool.lock);
		while (pool.count == 0 && !pool.closing)
			pthread_cond_wait(&pool.more, &pool.lock);
		if (pool.count == 0) {
			pthread_mutex_unlock(&pool.lock);
			return NULL;
		}
		req = pool.queue[pool.head++ % 2048];
		pool.count--;
		pthread_mutex_unlock(&pool.lock);
		cleat_request_progress(req, 1, 2, "on a thread");
		cleat_request_log(req, CLEAT_LOG_WARNING, "from %s", "a thread");
		cleat_reply_textf(req, "n=%lld", (long long)cleat_arg_int(req, "n"));
		cleat_request_finish(req, CLEAT_OK);
	}
}

static void start_finishers(void)
{
	memset(&pool, 0, sizeof pool);
	pthread_mutex_init(&pool.lock, NULL);
	pthread_cond_init(&pool.more, NULL);
	for (size_t i = 0; i < CLEAT_COUNT(pool.threads); i++)
		assert_int_equal(pthread_create(&pool.threads[i], NULL, finisher, NULL), 0);
}

static void stop_finishers(void)
{
	pthread_mutex_lock(&pool.lock);
	pool.closing = true;
	pthread_cond_broadcast(&pool.more);
	pthread_mutex_unlock(&pool.lock);
	for (size_t i = 0; i < CLEAT_COUNT(pool.threads); i++)
		pthread_join(pool.threads[i], NULL);
	pthread_cond_destroy(&pool.more);
	pthread_mutex_destroy(&pool.lock);
}

/* The finisher may be done before this returns. */
static int hand_over(cleat_request *req)
{
	cleat_request_defer(req);
	pthread_mutex_lock(&pool.lock);
	pool.queue[(pool.head + pool.count++) % 2048] = req;
	pthread_cond_signal(&pool.more);
	pthread_mutex_unlock(&pool.lock);
	return CLEAT_PENDING;
}

static const cleat_tool over_tool = { .signature = "over(n: integer)", .call = hand_over };

RIG_TEST(hundreds_are_finished_in_parallel)
{
	enum { N = 600 };
	char line[256], part[64];

	start_finishers();
	rig_start(r, &over_tool, 1);
	rig_clear(r);
	for (int i = 0; i < N; i++) {
		snprintf(line, sizeof line,
			 REQUEST("%d", "tools/call",
				 "\"name\":\"over\",\"arguments\":{\"n\":%d},\"_meta\":{"
				 "\"progressToken\":%d}"),
			 i, i * 3, i);
		rig_say(r, line);
	}
	wait_until((rig_poll(r), cleat_wire_inflight(r->w) == 0));
	assert_true(atomic_load(&r->wakes) > 0);
	for (int i = 0; i < N; i++) {
		snprintf(part, sizeof part, "\"id\":%d,\"result\":{\"content\":[", i);
		assert_int_equal(count_of(r->out, part), 1);
		snprintf(part, sizeof part, "\"n=%d\"", i * 3);
		assert_has(r->out, part);
	}
	assert_string_equal(r->notes, "");
	stop_finishers();
}

/* Cancels arrive while finishers finish: at most one answer each, nothing is left. */
RIG_TEST(cancels_race_with_finish)
{
	enum { N = 600 };
	char line[256], part[64];

	start_finishers();
	rig_start(r, &over_tool, 1);
	rig_clear(r);
	for (int i = 0; i < N; i++) {
		snprintf(line, sizeof line, CALL("%d", "over", "{\"n\":%d}"), i, i);
		rig_say(r, line);
		if (i % 3 == 0)
			cleat_wire_poll(r->w);
		snprintf(line, sizeof line, CANCEL("%d"), i - i % 7);
		rig_say(r, line);
		rig_take(r);
	}
	wait_until((rig_poll(r), cleat_wire_inflight(r->w) == 0));
	for (int i = 0; i < N; i++) {
		snprintf(part, sizeof part, "\"id\":%d,", i);
		assert_true(count_of(r->out, part) <= 1);
	}
	stop_finishers();
}

/* The wire goes while threads still hold its requests; the server waits for them. */
TEST(wire_and_server_go_while_threads_finish)
{
	char line[256];
	struct rig r;

	for (int round = 0; round < 20; round++) {
		start_finishers();
		rig_start(&r, &over_tool, 1);
		for (int i = 0; i < 50; i++) {
			snprintf(line, sizeof line, CALL("%d", "over", "{\"n\":%d}"), i, i);
			rig_say(&r, line);
		}
		rig_stop(&r);
		stop_finishers();
	}
}

/* ---- threads of an inline handler ------------------------------------------------------------------- */

static void *speak(void *arg)
{
	cleat_request_progress(arg, 1, 0, "progress");
	cleat_request_log(arg, CLEAT_LOG_ERROR, "log");
	return NULL;
}

static int with_helper(cleat_request *req)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, speak, req), 0);
	pthread_join(thread, NULL);
	return cleat_reply_text(req, "answer");
}

static void *speak_and_finish(void *arg)
{
	speak(arg);
	cleat_reply_text(arg, "answer");
	cleat_request_finish(arg, CLEAT_OK);
	return NULL;
}

static int with_finisher(cleat_request *req)
{
	pthread_t thread;

	cleat_request_defer(req);
	assert_int_equal(pthread_create(&thread, NULL, speak_and_finish, req), 0);
	pthread_join(thread, NULL); /* it is finished before this returns */
	return CLEAT_PENDING;
}

/* What other threads said of a request comes out before its answer, and never of another request:
 * also when the handler, or the last hold on the request, ends on the owner's thread. */
RIG_TEST(what_threads_said_comes_before_the_answer)
{
	static const cleat_tool tools[] = { { .name = "h", .call = with_helper },
					    { .name = "f", .call = with_finisher } };
	static const char *const lines[] = {
		REQUEST("1", "tools/call", "\"name\":\"h\",\"_meta\":{\"progressToken\":\"p\"}"),
		REQUEST("1", "tools/call", "\"name\":\"f\",\"_meta\":{\"progressToken\":\"p\"}"),
	};

	rig_start(r, tools, 2);
	for (size_t i = 0; i < CLEAT_COUNT(lines); i++) {
		const char *progress, *log, *answer;

		rig_clear(r);
		rig_say(r, lines[i]);
		wait_until((rig_poll(r), cleat_wire_inflight(r->w) == 0));
		assert_messages(r->out, 3);
		progress = strstr(r->out, "\"message\":\"progress\"");
		log = strstr(r->out, "\"data\":\"log\"");
		answer = strstr(r->out, "\"text\":\"answer\"");
		assert_true(progress && log && answer && progress < log && log < answer);
	}
}

static int inline_thread(cleat_request *req)
{
	return cleat_reply_text(
		req, pthread_equal(pthread_self(), *(pthread_t *)cleat_request_userdata(req))
			     ? "same thread"
			     : "another thread");
}

/* <cleat/wire.h>: "Blocking handlers run inline, unless the server's loop is driven as well." */
RIG_TEST(blocking_handlers_of_a_wire)
{
	pthread_t me = pthread_self();
	cleat_tool t = { .name = "b", .call = inline_thread, .blocking = true, .userdata = &me };

	rig_start(r, &t, 1);
	assert_has(rig_ask(r, CALL("1", "b", "{}")), "same thread");
	assert_non_null(cleat_server_loop(r->s));
	rig_clear(r);
	rig_say(r, CALL("2", "b", "{}"));
	wait_until((rig_poll(r), cleat_wire_inflight(r->w) == 0));
	assert_has(r->out, "another thread");
}

/* ---- blocking handlers ---------------------------------------------------------------------------------- */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int inside, most, done;
	pthread_t loop_thread;
	atomic_int cancelled;
	atomic_bool go;
} gate = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static void reset_gate(void)
{
	gate.inside = gate.most = gate.done = 0;
	atomic_store(&gate.cancelled, 0);
	atomic_store(&gate.go, false);
}

/* Returns when four of them are inside at the same time. */
static int four_together(cleat_request *req)
{
	assert_false(pthread_equal(pthread_self(), gate.loop_thread));
	pthread_mutex_lock(&gate.lock);
	gate.inside++;
	pthread_cond_broadcast(&gate.changed);
	while (gate.inside < 4)
		pthread_cond_wait(&gate.changed, &gate.lock);
	pthread_mutex_unlock(&gate.lock);
	return cleat_reply_textf(req, "together");
}

static int where(cleat_request *req)
{
	gate.loop_thread = pthread_self();
	return cleat_reply_text(req, "here");
}

TEST(blocking_handlers_run_beside_the_loop)
{
	static const cleat_tool tools[] = {
		{ .name = "b", .call = four_together, .blocking = true },
		{ .name = "where", .call = where }
	};
	struct served *v = serve(tools, 2, &(cleat_server_options){ .workers = 4 });

	reset_gate();
	send_line(v, CALL("0", "where", "{}"));
	expect(v, "\"id\":0");
	send_line(v, CALL("1", "b", "{}"));
	send_line(v, CALL("2", "b", "{}"));
	send_line(v, CALL("3", "b", "{}"));
	send_line(v, REQUEST("4", "ping", "")); /* the loop is free meanwhile */
	expect(v, "\"id\":4");
	assert_lacks(v->in, "together");
	send_line(v, CALL("5", "b", "{}"));
	expect(v, "\"id\":1,");
	expect(v, "\"id\":2,");
	expect(v, "\"id\":3,");
	expect(v, "\"id\":5,");
	leave(v);
}

/* Returns when it is cancelled, learnt from the descriptor. */
static int until_cancelled(cleat_request *req)
{
	struct pollfd p = { .fd = cleat_request_cancel_fd(req), .events = POLLIN };

	assert_true(p.fd >= 0);
	cleat_request_progress(req, 1, 0, NULL);
	pthread_mutex_lock(&gate.lock);
	gate.inside++;
	pthread_cond_broadcast(&gate.changed);
	pthread_mutex_unlock(&gate.lock);
	assert_int_equal(poll(&p, 1, DEADLINE_MS), 1);
	assert_true(cleat_request_cancelled(req));
	atomic_fetch_add(&gate.cancelled, 1);
	return cleat_reply_text(req, "thrown away");
}

static void wait_inside(int n)
{
	pthread_mutex_lock(&gate.lock);
	while (gate.inside < n)
		pthread_cond_wait(&gate.changed, &gate.lock);
	pthread_mutex_unlock(&gate.lock);
}

static const cleat_tool until_tool = { .name = "u", .call = until_cancelled, .blocking = true };

TEST(cancel_reaches_a_worker)
{
	struct served *v = serve(&until_tool, 1, NULL);

	reset_gate();
	send_line(v, CALL("1", "u", "{}"));
	wait_inside(1);
	send_line(v, CANCEL("1"));
	wait_until(atomic_load(&gate.cancelled) == 1);
	send_line(v, REQUEST("2", "ping", ""));
	expect(v, "\"id\":2");
	assert_lacks(v->in, "thrown away");
	assert_lacks(v->in, "\"id\":1,");
	leave(v);
}

/* The client goes away while workers run: they are told, and the loop ends. */
TEST(close_reaches_workers)
{
	struct served *v = serve(&until_tool, 1, NULL);

	reset_gate();
	send_line(v, CALL("1", "u", "{}"));
	send_line(v, CALL("2", "u", "{}"));
	wait_inside(2);
	leave(v);
	assert_int_equal(atomic_load(&gate.cancelled), 2);
}

/* More requests than workers wait in the pool when the connection goes; they run, cancelled. */
static int quick(cleat_request *req)
{
	if (cleat_request_cancelled(req))
		atomic_fetch_add(&gate.cancelled, 1);
	return cleat_reply_text(req, "quick");
}

TEST(cancels_race_with_workers)
{
	static const cleat_tool tool = { .name = "q", .call = quick, .blocking = true };
	enum { N = 300 };
	struct served *v = serve(&tool, 1, NULL);
	char line[256];

	reset_gate();
	for (int i = 0; i < N; i++) {
		snprintf(line, sizeof line, CALL("%d", "q", "{}"), i);
		send_line(v, line);
		snprintf(line, sizeof line, CANCEL("%d"), i);
		if (i % 2)
			send_line(v, line);
	}
	/* the even ones are answered, each once */
	for (int i = 0; i < N; i += 2) {
		snprintf(line, sizeof line, "\"id\":%d,", i);
		expect(v, line);
		assert_int_equal(count_of(v->in, line), 1);
	}
	for (int i = 1; i < N; i += 2) {
		snprintf(line, sizeof line, "\"id\":%d,", i);
		assert_true(count_of(v->in, line) <= 1);
	}
	leave(v);
}

enum { RACES = 120 };
static atomic_int called[RACES];

static void count_cancel(cleat_request *req)
{
	atomic_fetch_add(&called[cleat_arg_int(req, "n")], 1);
}

/* Sets its callback at about the time when the cancel arrives; it is called once, whoever was first. */
static int race_callback(cleat_request *req)
{
	int64_t n = cleat_arg_int(req, "n");

	if (n % 2)
		cleat_request_cancel_fd(req);
	cleat_request_on_cancel(req, count_cancel);
	wait_until(atomic_load(&called[n]) > 0);
	cleat_request_on_cancel(req, count_cancel); /* again, after the fact */
	wait_until(atomic_load(&called[n]) == 2); /* here at once, or by the loop at that moment */
	cleat_request_on_cancel(req, NULL);
	return CLEAT_ECANCELLED;
}

TEST(callback_races_with_cancel)
{
	static const cleat_tool tool = { .signature = "race(n: integer)",
					 .call = race_callback,
					 .blocking = true };
	struct served *v = serve(&tool, 1, NULL);
	char line[256];

	for (int i = 0; i < RACES; i++) {
		atomic_store(&called[i], 0);
		snprintf(line, sizeof line, CALL("%d", "race", "{\"n\":%d}"), i, i);
		send_line(v, line);
		snprintf(line, sizeof line, CANCEL("%d"), i);
		send_line(v, line);
	}
	send_line(v, REQUEST("\"end\"", "ping", ""));
	expect(v, "\"id\":\"end\"");
	assert_int_equal(count_of(v->in, "\n"), 2); /* nothing but that and the initialize */
	leave(v);
	for (int i = 0; i < RACES; i++) /* one that was cancelled while it waited did not run */
		assert_true(atomic_load(&called[i]) == 2 || atomic_load(&called[i]) == 0);
}

/* A deadline that passes while a worker works: an error, and the late reply is thrown away. */
TEST(deadline_reaches_a_worker)
{
	struct served *v =
		serve(&until_tool, 1, &(cleat_server_options){ .request_timeout_ms = 1 });

	reset_gate();
	send_line(v, CALL("1", "u", "{}"));
	expect(v, "\"id\":1,\"error\":{\"code\":-32603,\"message\":\"the request took too long\"}");
	send_line(v, REQUEST("2", "ping", ""));
	expect(v, "\"id\":2");
	assert_lacks(v->in, "thrown away");
	leave(v);
}

/* 2026-07-28 patterns/subscriptions: a server that stops ends its subscriptions in an orderly way. */
TEST(stop_ends_subscriptions)
{
	struct served *v = serve(&until_tool, 1, NULL);

	send_line(v, REQUEST("\"l\"", "subscriptions/listen",
			     MODERN ",\"notifications\":{\"toolsListChanged\":true}"));
	expect(v, "notifications/subscriptions/acknowledged");
	cleat_server_stop(v->rig.s);
	expect(v, "\"id\":\"l\",\"result\":{\"resultType\":\"complete\"");
	assert_has(v->in, "\"method\":\"notifications/cancelled\"");
	leave(v);
}
