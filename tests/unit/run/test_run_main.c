/* test_run_main.c - a server on standard input and output, and as a whole program: what is taken over
 * and given back, options, signals.
 */
#include "test.h"
#include "unit/run/test_run_child.h"

/* ---- standard input and output ------------------------------------------------------------ */

/* What a tool prints, forges or leaves to its children is not the protocol's. */
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
	put(g.in[1], call(2, "hello", "{\"name\":\"still in order\"}"));
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
	assert_string_equal(err, "printf in a tool\n"
				 "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"forged\"}\n"
				 "write in a tool\nchild of a tool\nnot flushed yet\n");
	assert_int_equal(count_of(out, "\n"), 3);
	assert_has(out, "noise made");
	assert_has(out, "still in order");
	assert_true(st[0].st_ino == now[0].st_ino && st[1].st_ino == now[1].st_ino);
	cleat_server_free(s);
	assert_int_equal(open_fds(), before);
}

/* On a stage; without this descriptor, if it is none below 0. */
static int run_stdio_without(cleat_server *s, int closed)
{
	struct stage g;
	int rc;

	begin_stage(&g);
	if (closed >= 0)
		close(closed);
	rc = cleat_server_run_stdio(s);
	end_stage(&g);
	close(g.in[1]);
	close(g.out[0]);
	close(g.err[0]);
	return rc;
}

TEST(closed_descriptors_are_an_error)
{
	for (int closed = 0; closed < 2; closed++) {
		cleat_server *s = new_server(NULL);

		assert_int_equal(run_stdio_without(s, closed), CLEAT_EINVAL);
		assert_has(cleat_server_error(s)->message,
			   closed ? "standard output" : "standard input");
		cleat_server_free(s);
	}
	assert_int_equal(cleat_server_run_stdio(NULL), CLEAT_ENOMEM);
}

FDS_TEST(run_inside_a_handler_is_refused)
{
	struct stage g;
	char got[4096];

	put(fds[1], call(1, "misuse", "{}"));
	begin_stage(&g);
	collect(l, fds[1], 2, got, sizeof got);
	end_stage(&g);
	assert_has(got, "run -14"); /* CLEAT_EMISUSE */
	close(g.in[1]);
	close(g.out[0]);
	close(g.err[0]);
}

/* Also when it comes before the run function has made anything. */
TEST(stop_before_run_counts)
{
	cleat_server *s = new_server(NULL);

	cleat_server_stop(NULL);
	cleat_server_stop(s);
	assert_int_equal(run_stdio_without(s, -1), CLEAT_OK);
	cleat_server_free(s);
}

/* ---- the whole program -------------------------------------------------------------------- */

TEST(main_serves_until_the_end_of_input)
{
	struct child c;

	start(&c, new_server, NULL);
	put(c.in, INITIALIZE);
	put(c.in, call(1, "hello", "{\"name\":\"Oslo\"}"));
	put(c.in, call(2, "where", "{}"));
	assert_int_equal(finish(&c), 0);
	assert_has(c.text, "hello Oslo");
	assert_has(c.text, "worker"); /* given time although the input had ended */
	assert_string_equal(c.errors, "");
	start_call(&c, "until_cancelled"); /* which the end of input does, too */
	assert_int_equal(finish(&c), 0);
}

TEST(main_knows_its_options)
{
	struct child c;

	start(&c, new_server, "--version");
	assert_int_equal(finish(&c), 0);
	assert_string_equal(c.text, "test 1.2.3\n");
	start(&c, new_server, "--help");
	assert_int_equal(finish(&c), 0);
	assert_has(c.text, "test 1.2.3");
	assert_has(c.text, "Tools: hello, big, where");
	assert_has(c.text, "/bin/test-server\"}"); /* an absolute path */
	assert_lacks(c.text, "\"./bin");
	start(&c, new_server, "--stdio");
	assert_int_equal(finish(&c), 0);
	assert_string_equal(c.text, "");
	/* What can be wrong with them: test_main_parse.c. */
	start(&c, new_server, "--nonsense");
	assert_int_equal(finish(&c), 2);
	assert_string_equal(c.text, "");
	assert_string_equal(c.errors,
			    "test: unknown option --nonsense; --help lists the options\n");
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
	struct child c;

	start(&c, make_wordy, "--help");
	assert_int_equal(finish(&c), 0);
	assert_has(c.text, "2 - The title\nWhat it is for.\n");
	assert_has(c.text, "{\"a \\\"quoted\\\" name\": ");
	assert_lacks(c.text, "Tools:");
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

static void close_input(void)
{
	close(0);
}

TEST(main_reports_what_latched)
{
	struct child c;

	start(&c, make_bad, NULL);
	assert_int_equal(finish(&c), 1);
	assert_string_equal(c.text, "");
	assert_has(c.errors, "bad");
	start(&c, make_none, NULL);
	assert_int_equal(finish(&c), 1);
	assert_has(c.errors, "out of memory");
	start_with(&c, new_server, NULL, close_input);
	assert_int_equal(finish(&c), 1);
	assert_has(c.errors, "standard input");
}

TEST(signals_end_main_in_order)
{
	static const int numbers[] = { SIGTERM, SIGINT, SIGHUP };
	struct child c;

	for (size_t i = 0; i < CLEAT_COUNT(numbers); i++) {
		start_call(&c, "until_cancelled");
		kill(c.pid, numbers[i]);
		assert_int_equal(finish(&c), 0);
		/* what ran has been answered and flushed */
		assert_has(c.text, "\"id\":1,\"error\":{\"code\":-32800,\"message\":"
				   "\"the server is stopping\"}}\n");
		assert_int_equal(count_of(c.text, "\n"), 2);
		assert_string_equal(c.errors, "");
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

static void expect_error_line(struct child *c, const char *line)
{
	char got[256] = "";

	for (size_t n = 0; !strchr(got, '\n') && read(c->err, got + n, 1) == 1; n++)
		;
	assert_string_equal(got, line);
}

/* A program with files of its own hears of SIGHUP, and goes on. */
TEST(hangup_reloads_where_somebody_wants_that)
{
	struct child c;
	char byte;

	start(&c, make_reloading, NULL);
	expect_error_line(&c, "it is ready\n");
	put(c.in, INITIALIZE); /* its answer shows that the loop runs */
	assert_int_equal(read(c.out, &byte, 1), 1);
	kill(c.pid, SIGHUP);
	expect_error_line(&c, "it reads again\n");
	put(c.in, call(1, "none", "{}"));
	assert_int_equal(finish(&c), 0);
	assert_has(c.text, "\"id\":1");
}

/* The memory of a thread that still runs at the end counts as lost there, and changes the status. */
static void leaves_a_thread_behind(void)
{
	if (getenv("CLEAT_VALGRIND"))
		skip();
}

TEST(second_signal_ends_the_process_at_once)
{
	struct child c;
	int status;

	leaves_a_thread_behind();
	start_call(&c, "for_ever");
	kill(c.pid, SIGTERM);
	kill(c.pid, SIGINT);
	status = finish(&c);
	assert_true(status == 128 + SIGTERM || status == 128 + SIGINT);
}

/* The client has gone: a handler that heeds nothing must not keep the process. */
TEST(main_leaves_a_handler_that_never_ends)
{
	struct child c;

	leaves_a_thread_behind();
	start_call(&c, "for_ever");
	assert_int_equal(finish(&c), 0);
	assert_string_equal(c.errors, "test: 1 calls did not end although they were cancelled\n");
}

TEST(vanished_reader_ends_main)
{
	struct child c;

	start(&c, new_server, NULL);
	close(c.out);
	c.out = open("/dev/null", O_RDONLY);
	put(c.in, INITIALIZE);
	slurp(c.err, c.errors, sizeof c.errors); /* ends without the end of input */
	assert_string_equal(c.errors, "");
	c.err = open("/dev/null", O_RDONLY);
	assert_int_equal(finish(&c), 0);
}

TEST_GROUP(warm_up, NULL)
