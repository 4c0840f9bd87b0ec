/* test_client_spawn.c - clients of real programs: this program as a server that behaves badly, and programs that are no servers at all. (Noise, signals, what cannot be started: test_link_stream.c.)
 */
#include "test.h"
#include "unit/child/child_support.h"
#include "unit/client/test_client.h"

static const char *const revisions_of_stdio[] = { "2024-11-05", "2025-11-25", "2026-07-28" };

/* ---- this program as a server ------------------------------------------------------------- */

static int tool_die(cleat_request *req)
{
	(void)req;
	_exit(3);
}

static int tool_env(cleat_request *req)
{
	const char *value = getenv(cleat_arg_str(req, "name"));

	return cleat_reply_text(req, value ? value : "(not set)");
}

static int tool_cwd(cleat_request *req)
{
	char path[PATH_MAX];

	return cleat_reply_text(req, getcwd(path, sizeof path) ? path : "");
}

static int tool_mutter(cleat_request *req)
{
	fprintf(stderr, "first line\nsecond line\n");
	fflush(stderr);
	return cleat_reply_nothing(req);
}

static int serve(void)
{
	cleat_server *s = new_server(NULL);
	char program[] = "server", *argv[] = { program, NULL };

	cleat_server_add_tool(s, &(cleat_tool){ .name = "die", .call = tool_die });
	cleat_server_add_tool(s,
			      &(cleat_tool){ .signature = "env(name: string)", .call = tool_env });
	cleat_server_add_tool(s, &(cleat_tool){ .name = "cwd", .call = tool_cwd });
	cleat_server_add_tool(s, &(cleat_tool){ .name = "mutter", .call = tool_mutter });
	return cleat_server_main(s, 1, argv);
}

static cleat_client *spawn_self(const cleat_client_options *o)
{
	const char *const argv[] = { myself(), "--serve", NULL };

	return cleat_client_spawn(argv, o);
}

/* ---- tests -------------------------------------------------------------------------------- */

TEST(a_program_that_is_no_server)
{
	static const char *const programs[][3] = { { "/bin/true", NULL },
						   { "/bin/sh", "-c", NULL },
						   { "/bin/cat", NULL } };

	for (size_t i = 0; i < CLEAT_COUNT(programs); i++) {
		const char *const argv[] = { programs[i][0], programs[i][1],
					     programs[i][1] ? "exit 4" : NULL, NULL };
		cleat_client_options o = { .probe_timeout_ms = 200, .connect_timeout_ms = 1000 };
		cleat_client *c = cleat_client_spawn(argv, &o);
		cleat_result *r = cleat_client_callf(c, "echo", NULL);

		assert_int_not_equal(cleat_result_status(r), CLEAT_OK);
		assert_int_not_equal(cleat_result_status(r), CLEAT_ENOMEM);
		assert_true(cleat_result_error(r)->message[0]);
		cleat_result_free(r);
		cleat_client_free(c);
	}
}

TEST(a_server_that_dies_ends_its_calls)
{
	for (size_t i = 0; i < CLEAT_COUNT(revisions_of_stdio); i++) {
		cleat_client_options o = { .protocol = revisions_of_stdio[i] };
		cleat_client *c = spawn_self(&o);
		struct ending e = { 0 };
		cleat_result *r;

		assert_text(cleat_client_callf(c, "echo", "{text: 'alive'}"), "alive");
		cleat_client_startf(c, ENDING(&e), "hang", NULL);
		r = cleat_client_callf(c, "die", NULL);
		assert_int_equal(cleat_result_step(r), CLEAT_STEP_EXCHANGE);
		assert_has(cleat_result_error(r)->message, "status 3");
		cleat_result_free(r);
		wait_ending(c, &e);
		assert_int_not_equal(e.status, CLEAT_OK);
		cleat_client_free(c);
	}
}

static void on_state(cleat_client *c, const cleat_error *state, void *userdata)
{
	(void)c;
	if (state->status == CLEAT_OK)
		++*(int *)userdata;
}

TEST(a_server_that_dies_is_started_again)
{
	for (size_t i = 0; i < CLEAT_COUNT(revisions_of_stdio); i++) {
		int ready = 0, first;
		cleat_client_options o = { .protocol = revisions_of_stdio[i],
					   .restart = true,
					   .on_state = on_state,
					   .userdata = &ready };
		cleat_client *c = spawn_self(&o);
		cleat_result *r;

		assert_int_equal(cleat_client_pid(c), 0); /* not before it is needed */
		assert_int_equal(cleat_client_open(c), CLEAT_OK);
		first = cleat_client_pid(c);
		assert_int_equal(kill(first, 0), 0);
		r = cleat_client_callf(c, "die", NULL);
		assert_int_not_equal(cleat_result_status(r), CLEAT_OK);
		cleat_result_free(r);
		assert_text(cleat_client_callf(c, "echo", "{text: 'again'}"), "again");
		assert_true(cleat_client_pid(c) > 0 && cleat_client_pid(c) != first);
		assert_int_equal(ready, 2);
		first = cleat_client_pid(c);
		cleat_client_free(c);
		assert_true(gone(first));
	}
}

static void collect_line(cleat_client *c, const char *line, void *userdata)
{
	char *all = userdata;

	(void)c;
	strncat(strncat(all, line, 100), "|", 2);
}

TEST(its_errors_come_line_by_line)
{
	char lines[1000] = "";
	cleat_client_options o = { .on_stderr = collect_line, .userdata = lines };
	cleat_client *c = spawn_self(&o);
	uint64_t until = loop_now() + 60000;

	cleat_result_free(cleat_client_callf(c, "mutter", NULL));
	while (count_of(lines, "|") < 2 && loop_now() < until)
		cleat_loop_step(cleat_client_loop(c), 100);
	assert_string_equal(lines, "first line|second line|");
	cleat_client_free(c);
}

TEST(its_surroundings_are_chosen)
{
	const char *const env[] = { "CLEAT_TEST_SET=yes", "CLEAT_TEST_OURS", NULL };
	cleat_client_options o = { .env = env, .cwd = "/" };
	cleat_client *c;

	setenv("CLEAT_TEST_OURS", "ours", 1);
	setenv("CLEAT_TEST_SECRET", "secret", 1);
	c = spawn_self(&o);
	assert_text(cleat_client_callf(c, "env", "{name: 'CLEAT_TEST_SET'}"), "yes");
	assert_text(cleat_client_callf(c, "env", "{name: 'CLEAT_TEST_OURS'}"), "ours");
	assert_text(cleat_client_callf(c, "env", "{name: 'CLEAT_TEST_SECRET'}"), "(not set)");
	assert_text(cleat_client_callf(c, "cwd", NULL), "/");
	cleat_client_free(c);
	o.inherit_env = true;
	c = spawn_self(&o);
	assert_text(cleat_client_callf(c, "env", "{name: 'CLEAT_TEST_SECRET'}"), "secret");
	assert_text(cleat_client_callf(c, "env", "{name: 'CLEAT_TEST_SET'}"), "yes");
	cleat_client_free(c);
}

/* 2026-07-28 stdio, Unexpected Termination: the client SHOULD restart it. Here it died while nobody
 * looked, so that no call of ours was lost with it. */
TEST(one_that_died_between_two_calls_is_started_again)
{
	cleat_client *c = spawn_self(NULL);
	int first;

	assert_text(cleat_client_callf(c, "echo", "{text: 'one'}"), "one");
	first = cleat_client_pid(c);
	kill(first, SIGKILL);
	while (!gone(first))
		poll(NULL, 0, 1);
	poll(NULL, 0,
	     50); /* calls that follow at once may still be lost: see client_run_may_wait() */
	assert_text(cleat_client_callf(c, "echo", "{text: 'two'}"), "two");
	assert_int_not_equal(cleat_client_pid(c), first);
	cleat_client_free(c);
}

TEST(two_children_on_one_loop)
{
	cleat_loop *loop = cleat_loop_new(NULL);
	cleat_client_options o = { .loop = loop };
	cleat_client *a = spawn_self(&o), *b = spawn_self(&o);
	struct ending e = { 0 };

	cleat_client_startf(a, ENDING(&e), "hang", NULL);
	assert_text(cleat_client_callf(b, "echo", "{text: 'b'}"), "b");
	cleat_client_free(a);
	assert_int_equal(e.status, CLEAT_ECLOSED);
	assert_text(cleat_client_callf(b, "echo", "{text: 'still'}"), "still");
	cleat_client_free(b);
	cleat_loop_free(loop);
}

TEST_START(argc, argv)
{
	if (argc > 1)
		return serve();
	return TEST_GO_ON;
}
