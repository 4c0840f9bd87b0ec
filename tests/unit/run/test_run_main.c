/* test_run_main.c - a server on standard input and output, and as a whole program: what is taken over
 * and given back, options, signals.
 */
#include "test.h"
#include "unit/run/test_run_child.h"

/* ---- standard input and output ------------------------------------------------------------ */

TEST(stdio_is_taken_over_and_given_back)
{
	size_t before = open_fds();
	cleat_server *s = new_server(NULL);
	struct stage g;
	char out[4096], err[4096];
	struct stat st[2], now[2];
	int rc;

	begin_stage(&g);
	put(g.in[1], INITIALIZE);
	put(g.in[1], call(1, "print", "{}"));
	close(g.in[1]);
	fstat(0, &st[0]);
	fstat(1, &st[1]);
	rc = cleat_server_run_stdio(s);
	fstat(0, &now[0]);
	fstat(1, &now[1]);
	end_stage(&g);
	slurp(g.out[0], out, sizeof out);
	slurp(g.err[0], err, sizeof err);
	assert_int_equal(rc, CLEAT_OK);
	assert_string_equal(err, "printed by a tool\n");
	assert_null(strstr(out, "printed"));
	assert_non_null(strstr(out, "no input"));
	assert_true(st[0].st_ino == now[0].st_ino && st[1].st_ino == now[1].st_ino);
	cleat_server_free(s);
	assert_int_equal(open_fds(), before);
}

TEST(closed_stdin_is_an_error)
{
	cleat_server *s = new_server(NULL);
	struct stage g;
	int rc;

	begin_stage(&g);
	close(0);
	rc = cleat_server_run_stdio(s);
	end_stage(&g);
	assert_int_equal(rc, CLEAT_EINVAL);
	assert_non_null(strstr(cleat_server_error(s)->message, "standard input"));
	assert_int_equal(cleat_server_run_stdio(NULL), CLEAT_ENOMEM);
	cleat_server_free(s);
	close(g.in[1]);
	close(g.out[0]);
	close(g.err[0]);
}

TEST(run_inside_a_handler_is_refused)
{
	cleat_server *s = new_server(NULL);
	struct stage g;
	char got[4096];
	int fds[2];

	attach(s, fds);
	put(fds[1], INITIALIZE);
	put(fds[1], call(1, "misuse", "{}"));
	begin_stage(&g);
	collect(cleat_server_loop(s), fds[1], 2, got, sizeof got);
	end_stage(&g);
	assert_non_null(strstr(got, "run -14")); /* CLEAT_EMISUSE */
	cleat_server_free(s);
	close(g.in[1]);
	close(g.out[0]);
	close(g.err[0]);
	close(fds[0]);
	close(fds[1]);
}

/* Also when it comes before the run function has made anything. */
TEST(stop_before_run_counts)
{
	cleat_server *s = new_server(NULL);
	struct stage g;
	int rc;

	cleat_server_stop(NULL);
	cleat_server_stop(s);
	begin_stage(&g);
	rc = cleat_server_run_stdio(s);
	end_stage(&g);
	assert_int_equal(rc, CLEAT_OK);
	cleat_server_free(s);
	close(g.in[1]);
	close(g.out[0]);
	close(g.err[0]);
}

/* ---- the whole program -------------------------------------------------------------------- */

TEST(main_serves_until_the_end_of_input)
{
	struct child c;
	char out[8192], err[1024];

	start(&c, new_server, NULL, NULL);
	put(c.in, INITIALIZE);
	put(c.in, call(1, "hello", "{\"name\":\"Oslo\"}"));
	put(c.in, call(2, "where", "{}"));
	assert_int_equal(finish(&c, out, sizeof out, err, sizeof err), 0);
	assert_non_null(strstr(out, "hello Oslo"));
	assert_non_null(strstr(out, "worker")); /* given time although the input had ended */
	assert_string_equal(err, "");
}

TEST(main_knows_its_options)
{
	char out[8192], err[1024];
	struct child c;

	start(&c, new_server, NULL, "--version");
	assert_int_equal(finish(&c, out, sizeof out, err, sizeof err), 0);
	assert_string_equal(out, "test 1.2.3\n");
	start(&c, new_server, NULL, "--help");
	assert_int_equal(finish(&c, out, sizeof out, err, sizeof err), 0);
	assert_non_null(strstr(out, "test 1.2.3"));
	assert_non_null(strstr(out, "Tools: hello, big, where"));
	assert_non_null(strstr(out, "/bin/test-server\"}")); /* an absolute path */
	assert_null(strstr(out, "\"./bin"));
	start(&c, new_server, NULL, "--stdio");
	assert_int_equal(finish(&c, out, sizeof out, err, sizeof err), 0);
	assert_string_equal(out, "");
}

/* What can be wrong with them: test_main_parse.c. */
TEST(main_refuses_options_before_anything_is_served)
{
	char out[1024], err[1024];
	struct child c;

	start(&c, new_server, NULL, "--nonsense");
	assert_int_equal(finish(&c, out, sizeof out, err, sizeof err), 2);
	assert_string_equal(out, "");
	assert_string_equal(err, "test: unknown option --nonsense; --help lists the options\n");
}

static cleat_server *make_bad(const cleat_server_options *o)
{
	cleat_server *s = new_server(o);

	cleat_server_add_tool(s, &(cleat_tool){ .signature = "bad(", .call = hello });
	return s;
}

static cleat_server *make_none(const cleat_server_options *o)
{
	(void)o;
	return NULL;
}

static cleat_server *make_wordy(const cleat_server_options *o)
{
	(void)o;
	return cleat_server_new(
		"a \"quoted\" name", "2",
		&(cleat_server_options){ .title = "The title", .description = "What it is for." });
}

TEST(help_shows_what_the_server_says_about_itself)
{
	char out[8192], err[1024];
	struct child c;

	start(&c, make_wordy, NULL, "--help");
	assert_int_equal(finish(&c, out, sizeof out, err, sizeof err), 0);
	assert_non_null(strstr(out, "2 - The title\nWhat it is for.\n"));
	assert_non_null(strstr(out, "{\"a \\\"quoted\\\" name\": "));
	assert_null(strstr(out, "Tools:"));
}

/* Somebody who starts it by hand is told what it waits for. */
TEST(terminal_is_greeted)
{
	char program[] = "server", *argv[] = { program, NULL }, err[1024];
	int master = posix_openpt(O_RDWR | O_NOCTTY), ends[2], status;
	pid_t pid;

	if (master < 0 || grantpt(master) || unlockpt(master))
		skip();
	assert_int_equal(pipe(ends), 0);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		int slave = open(ptsname(master), O_RDWR | O_NOCTTY);

		dup2(slave, 0);
		dup2(slave, 1);
		dup2(ends[1], 2);
		close(slave);
		close(ends[0]);
		close(ends[1]);
		exit(cleat_server_main(new_server(NULL), 1, argv));
	}
	close(ends[1]);
	put(master, "\004"); /* Ctrl-D */
	slurp(ends[0], err, sizeof err);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_non_null(strstr(err, "waits for an MCP client"));
	close(master);
}

TEST(main_reports_what_latched)
{
	char out[1024], err[1024];
	struct child c;

	start(&c, make_bad, NULL, NULL);
	assert_int_equal(finish(&c, out, sizeof out, err, sizeof err), 1);
	assert_string_equal(out, "");
	assert_non_null(strstr(err, "bad"));
	start(&c, make_none, NULL, NULL);
	assert_int_equal(finish(&c, out, sizeof out, err, sizeof err), 1);
	assert_non_null(strstr(err, "out of memory"));
}

TEST(signals_end_main_in_order)
{
	static const int numbers[] = { SIGTERM, SIGINT, SIGHUP };
	char out[8192], err[1024], c1;
	struct child c;
	int ready;

	for (size_t i = 0; i < CLEAT_COUNT(numbers); i++) {
		start(&c, new_server, &ready, NULL);
		put(c.in, INITIALIZE);
		put(c.in, call(1, "until_cancelled", "{}"));
		assert_int_equal(read(ready, &c1, 1), 1);
		kill(c.pid, numbers[i]);
		close(ready);
		assert_int_equal(finish(&c, out, sizeof out, err, sizeof err), 0);
		assert_non_null(strstr(out, "the server is stopping"));
		assert_string_equal(err, "");
	}
}

static void say_it_is_ready(cleat_server *s, void *userdata)
{
	fprintf(stderr, "%s is ready\n", (char *)userdata);
	assert_null(cleat_server_http_url(s, 0));
}

static void say_reloaded(cleat_server *s, void *userdata)
{
	(void)s;
	fprintf(stderr, "%s reads again\n", (char *)userdata);
}

static cleat_server *make_reloading(const cleat_server_options *o)
{
	static char me[] = "it";

	(void)o;
	return cleat_server_new("again", "1",
				&(cleat_server_options){ .on_ready = say_it_is_ready,
							 .on_reload = say_reloaded,
							 .userdata = me });
}

/* A program with files of its own hears of SIGHUP, and goes on. */
TEST(hangup_reloads_where_somebody_wants_that)
{
	char out[8192], err[1024] = "", byte;
	struct child c;
	size_t n = 0;

	start(&c, make_reloading, NULL, NULL);
	while (!strchr(err, '\n') && read(c.err, &byte, 1) == 1)
		err[n++] = byte;
	assert_string_equal(err, "it is ready\n");
	put(c.in, INITIALIZE); /* its answer shows that the loop runs */
	assert_int_equal(read(c.out, &byte, 1), 1);
	kill(c.pid, SIGHUP);
	memset(err, 0, sizeof err);
	for (n = 0; !strchr(err, '\n') && read(c.err, &byte, 1) == 1;)
		err[n++] = byte;
	assert_string_equal(err, "it reads again\n");
	put(c.in, call(1, "none", "{}"));
	assert_int_equal(finish(&c, out, sizeof out, err, sizeof err), 0);
	assert_non_null(strstr(out, "\"id\":1"));
}

/* The memory of a thread that still runs at the end counts as lost there, and changes the status. */
static void leaves_a_thread_behind(void)
{
	if (getenv("CLEAT_VALGRIND"))
		skip();
}

TEST(second_signal_ends_the_process_at_once)
{
	char out[8192], err[1024], c1;
	struct child c;
	int ready, status;

	leaves_a_thread_behind();
	start(&c, new_server, &ready, NULL);
	put(c.in, INITIALIZE);
	put(c.in, call(1, "for_ever", "{}"));
	assert_int_equal(read(ready, &c1, 1), 1);
	kill(c.pid, SIGTERM);
	kill(c.pid, SIGINT);
	close(ready);
	status = finish(&c, out, sizeof out, err, sizeof err);
	assert_true(status == 128 + SIGTERM || status == 128 + SIGINT);
}

/* The client has gone: a handler that heeds nothing must not keep the process. */
TEST(main_leaves_a_handler_that_never_ends)
{
	char out[8192], err[1024], c1;
	struct child c;
	int ready;

	leaves_a_thread_behind();
	start(&c, new_server, &ready, NULL);
	put(c.in, INITIALIZE);
	put(c.in, call(1, "for_ever", "{}"));
	assert_int_equal(read(ready, &c1, 1), 1);
	close(ready);
	assert_int_equal(finish(&c, out, sizeof out, err, sizeof err), 0);
	assert_string_equal(err, "test: 1 calls did not end although they were cancelled\n");
}

TEST(vanished_reader_ends_main)
{
	struct child c;
	char err[1024], out[16];

	start(&c, new_server, NULL, NULL);
	close(c.out);
	c.out = open("/dev/null", O_RDONLY);
	put(c.in, INITIALIZE);
	slurp(c.err, err, sizeof err); /* ends without the end of input */
	c.err = open("/dev/null", O_RDONLY);
	assert_int_equal(finish(&c, out, sizeof out, err, sizeof err), 0);
	assert_string_equal(err, "");
}

TEST_GROUP(warm_up, NULL)
