/* test_server_stop.c - the outside of a running server: stop and post from threads and signal handlers,
 * and its end while somebody still holds requests. Meant to be run under ThreadSanitizer as well.
 */
#include "unit/server/served_rig.h"

#include "test.h"

#include <signal.h>

/* ---- stop ------------------------------------------------------------------------------------------------- */

static _Atomic(cleat_request *) kept;

static int keep(cleat_request *req)
{
	cleat_request_defer(req);
	atomic_store(&kept, req);
	return CLEAT_PENDING;
}

static const cleat_tool keep_tool = { .name = "keep", .call = keep };

/* Finishes what was kept as soon as it is cancelled. */
static void *finish_when_cancelled(void *arg)
{
	cleat_request *req;

	(void)arg;
	wait_until((req = atomic_load(&kept)) != NULL);
	wait_until(cleat_request_cancelled(req));
	cleat_request_finish(req, CLEAT_ECANCELLED);
	return NULL;
}

TEST(stop_from_a_thread_answers_and_ends)
{
	struct served *v = serve(&keep_tool, 1, NULL);
	pthread_t thread;

	atomic_store(&kept, NULL);
	assert_int_equal(pthread_create(&thread, NULL, finish_when_cancelled, NULL), 0);
	send_line(v, CALL("1", "keep", "{}"));
	wait_until(atomic_load(&kept));
	cleat_server_stop(v->rig.s);
	pthread_join(v->thread, NULL);
	assert_int_equal(v->rc, CLEAT_OK);
	expect(v, "\"id\":1,\"error\":{\"code\":-32800,\"message\":\"the server is stopping\"}");
	pthread_join(thread, NULL);
	cleat_server_free(v->rig.s);
	close(v->client);
	close(v->server);
	free(v);
}

/* Stopping ends the connections, not the server: it may be run again, also while a request of before
 * is still held by somebody. */
TEST(stopped_server_runs_again)
{
	struct served *v = serve(&keep_tool, 1, NULL);

	atomic_store(&kept, NULL);
	send_line(v, CALL("1", "keep", "{}"));
	wait_until(atomic_load(&kept));
	cleat_server_stop(v->rig.s);
	pthread_join(v->thread, NULL);
	expect(v, "the server is stopping");
	close(v->client);
	rig_wire(&v->rig);
	rig_open(&v->rig, "2025-11-25");
	assert_has(rig_ask(&v->rig, REQUEST("2", "ping", "")), "\"id\":2,\"result\":{}");
	cleat_request_finish(atomic_load(&kept), CLEAT_OK);
	rig_clear(&v->rig);
	assert_string_equal(rig_poll(&v->rig), "");
	cleat_wire_free(v->rig.w);
	cleat_server_free(v->rig.s);
	free(v->rig.out);
	close(v->server);
	free(v);
}

static cleat_server *to_stop;

static void on_signal(int number)
{
	(void)number;
	cleat_server_stop(to_stop);
}

TEST(stop_from_a_signal_handler)
{
	struct sigaction sa = { .sa_handler = on_signal }, before;
	struct served *v = serve(&keep_tool, 1, NULL);

	to_stop = v->rig.s;
	sigemptyset(&sa.sa_mask);
	assert_int_equal(sigaction(SIGUSR1, &sa, &before), 0);
	assert_int_equal(pthread_kill(v->thread, SIGUSR1), 0); /* the loop waits for input */
	pthread_join(v->thread, NULL);
	assert_int_equal(v->rc, CLEAT_OK);
	sigaction(SIGUSR1, &before, NULL);
	cleat_server_free(v->rig.s);
	close(v->client);
	close(v->server);
	free(v);
}

/* Asked before there is anything to stop: the run function ends at once. */
TEST(stop_before_run)
{
	struct served *v = calloc(1, sizeof *v);
	int ends[2];

	assert_non_null(v);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	rig_server(&v->rig, NULL);
	cleat_server_stop(v->rig.s);
	assert_int_equal(cleat_server_attach_fds(v->rig.s, ends[0], ends[0]), CLEAT_OK);
	assert_int_equal(cleat_loop_run(cleat_server_loop(v->rig.s)), CLEAT_OK);
	cleat_server_free(v->rig.s);
	close(ends[0]);
	close(ends[1]);
	free(v);
}

/* ---- post --------------------------------------------------------------------------------------------------- */

struct posted {
	cleat_server *s;
	int from, last[4], count;
	pthread_t seen_on;
};

static struct posted board;

static void on_post(cleat_server *s, void *arg)
{
	intptr_t v = (intptr_t)arg;

	assert_ptr_equal(s, board.s);
	assert_true(board.last[v >> 16] == (v & 0xFFFF)); /* in the order of each thread */
	board.last[v >> 16]++;
	board.count++;
	board.seen_on = pthread_self();
}

static void *post_many(void *arg)
{
	intptr_t me = (intptr_t)arg;

	for (intptr_t i = 0; i < 200; i++)
		assert_int_equal(cleat_server_post(board.s, on_post, (void *)(me << 16 | i)), 0);
	return NULL;
}

static void add_later(cleat_server *s, void *arg)
{
	assert_int_equal(board.count, 800); /* posted after all of them */
	assert_true(pthread_equal(board.seen_on, pthread_self()));
	assert_int_equal(cleat_server_add_tool(s, &(cleat_tool){ .name = arg, .call = keep }),
			 CLEAT_OK);
}

TEST(post_from_many_threads)
{
	struct served *v = serve(&keep_tool, 1, NULL);
	pthread_t threads[4];

	memset(&board, 0, sizeof board);
	board.s = v->rig.s;
	for (intptr_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, post_many, (void *)i), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(cleat_server_post(v->rig.s, add_later, (void *)"added"), CLEAT_OK);
	expect(v, "notifications/tools/list_changed");
	leave(v);
}

static atomic_bool was_called;

static void note_call(cleat_server *s, void *arg)
{
	(void)s;
	(void)arg;
	atomic_store(&was_called, true);
}

/* A thread that the program started first, and that has something to say at once. */
static void *post_until_taken(void *arg)
{
	int rc;

	wait_until((rc = cleat_server_post(arg, note_call, NULL)) != CLEAT_EMISUSE);
	assert_int_equal(rc, CLEAT_OK);
	return NULL;
}

RIG_TEST(post_while_the_loop_is_made)
{
	pthread_t thread;

	atomic_store(&was_called, false);
	rig_server(r, NULL);
	assert_int_equal(pthread_create(&thread, NULL, post_until_taken, r->s), 0);
	rig_wire(r);
	wait_until((rig_poll(r), atomic_load(&was_called)));
	pthread_join(thread, NULL);
}

/* ---- the end of a server ---------------------------------------------------------------------------------------- */

/* Deferred requests that end while cleat_server_free() waits for them. */
TEST(free_waits_for_deferred_requests)
{
	struct rig r;
	pthread_t thread;

	for (int i = 0; i < 20; i++) {
		atomic_store(&kept, NULL);
		assert_int_equal(pthread_create(&thread, NULL, finish_when_cancelled, NULL), 0);
		rig_start(&r, &keep_tool, 1);
		rig_ask(&r, CALL("1", "keep", "{}"));
		rig_stop(&r);
		pthread_join(thread, NULL);
	}
}

/* A deferred request that nobody finishes: free() cancels it, waits a while (5 s) and gives up; what
 * the request needs stays, so that the late finish and a loop that goes on find it. */
TEST(free_gives_up_on_what_is_never_finished)
{
	cleat_loop *loop = cleat_loop_new(NULL);
	cleat_request *abandoned;
	cleat_server_options o;
	struct rig r;

	assert_non_null(loop);
	o = rig_options(&r);
	o.loop = loop;
	atomic_store(&kept, NULL);
	rig_server(&r, &o);
	cleat_server_add_tool(r.s, &keep_tool);
	assert_ptr_equal(cleat_server_loop(r.s), loop);
	rig_wire(&r);
	rig_open(&r, "2025-11-25");
	rig_ask(&r, CALL("1", "keep", "{}"));
	abandoned = atomic_load(&kept);
	cleat_wire_free(r.w);
	assert_true(cleat_request_cancelled(abandoned));
	cleat_server_free(r.s);
	assert_has(r.notes, "1 requests were deferred and never finished");
	cleat_loop_step(loop, 0);
	assert_string_equal(cleat_request_name(abandoned), "keep");
	cleat_request_finish(abandoned, CLEAT_OK);
	cleat_loop_step(loop, 0);
	/* No program may do this; here it shows that nothing else was left behind. */
	cleat_server_free(r.s);
	cleat_loop_free(loop);
	free(r.out);
}
