/* test_stdio_process.c - real processes: this program starts itself as a server (see serve()) and is
 * its client, over pipes, sockets and files. How it starts, talks, is starved, signalled, and ends.
 */
#include "support_files.h"
#include "test.h"
#include "unit/server/test_server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DEADLINE_MS = 60000 };

/* ---- the server ---------------------------------------------------------------------------------- */

static int echo(cleat_request *req)
{
	return cleat_reply_text(req, cleat_arg_str(req, "text"));
}

static int noisy(cleat_request *req)
{
	printf("printf in a tool\n");
	puts("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"forged\"}");
	fflush(stdout);
	if (write(STDOUT_FILENO, "write in a tool\n", 16) != 16)
		return CLEAT_EIO;
	if (system("echo child of a tool; cat") != 0) /* would eat the protocol's input */
		return CLEAT_EIO;
	printf("not flushed yet");
	return cleat_reply_text(req, "noise made");
}

static int until_cancelled(cleat_request *req)
{
	struct pollfd p = { .fd = cleat_request_cancel_fd(req), .events = POLLIN };

	fprintf(stderr, "waiting\n");
	poll(&p, 1, DEADLINE_MS);
	return cleat_reply_text(req, "was cancelled");
}

static int stuck(cleat_request *req)
{
	(void)req;
	fprintf(stderr, "stuck\n");
	for (;;)
		pause();
	return CLEAT_OK;
}

static int fds(cleat_request *req)
{
	return cleat_reply_textf(req, "%zu descriptors", open_fds());
}

static cleat_server *make(void)
{
	static char words[4000];
	cleat_server *s = cleat_server_new("process", "1.2.3", NULL);

	memset(words, 'w', sizeof words - 1);
	cleat_server_add_tool(s, &(cleat_tool){ .signature = "echo(text: string)", .call = echo });
	cleat_server_add_tool(s, &(cleat_tool){ .name = "noisy", .call = noisy });
	cleat_server_add_tool(
		s, &(cleat_tool){ .name = "wait", .call = until_cancelled, .blocking = true });
	cleat_server_add_tool(s, &(cleat_tool){ .name = "stuck", .call = stuck, .blocking = true });
	cleat_server_add_tool(s, &(cleat_tool){ .name = "fds", .call = fds });
	cleat_server_add_prompt(
		s, &(cleat_prompt){ .name = "words", .description = words, .get = echo });
	return s;
}

/* What the program does as a server: argv[2] says how. */
static int serve(int argc, char **argv)
{
	cleat_server *s = make();
	size_t before;
	int rc;

	if (strcmp(argv[1], "--run") != 0)
		return cleat_server_main(s, argc, argv);
	cleat_loop_free(
		cleat_loop_new(NULL)); /* libuv keeps a pipe for signals, once and for all */
	before = open_fds();
	rc = cleat_server_run_stdio(s); /* and then standard output is ours again */
	cleat_server_free(s);
	printf("run gave %d, descriptors %zu, %zu\n", rc, before, open_fds());
	return 0;
}

/* ---- the client ----------------------------------------------------------------------------------- */

struct process {
	pid_t pid;
	int in, out, err; /* our ends; -1: none */
	char *text;       /* standard output so far */
	size_t n, cap;
	char errors[65536]; /* standard error so far */
	size_t n_err;
};

static void cloexec_pipe(int ends[2])
{
	assert_int_equal(pipe(ends), 0);
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	fcntl(ends[1], F_SETFD, FD_CLOEXEC);
}

/* Starts `program` with these descriptors; -1 means closed. */
static pid_t spawn(const char *program, char *const argv[], int in, int out, int err)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	if (in >= 0)
		dup2(in, 0);
	else
		close(0);
	if (out >= 0)
		dup2(out, 1);
	else
		close(1);
	if (err >= 0)
		dup2(err, 2);
	execv(program, argv);
	_exit(126);
}

static const char *self(void)
{
	static char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

	/* under valgrind that is still this program, by its emulation */
	assert_true(n > 0);
	path[n] = '\0';
	return path;
}

static struct process *start_program(const char *program, const char *option)
{
	char *argv[] = { (char *)program, (char *)option, NULL };
	struct process *p = calloc(1, sizeof *p);
	int in[2], out[2], err[2];

	assert_non_null(p);
	cloexec_pipe(in);
	cloexec_pipe(out);
	cloexec_pipe(err);
	p->pid = spawn(program, argv, in[0], out[1], err[1]);
	close(in[0]);
	close(out[1]);
	close(err[1]);
	p->in = in[1];
	p->out = out[0];
	p->err = err[0];
	fcntl(p->err, F_SETFL, O_NONBLOCK);
	return p;
}

static struct process *start(const char *option)
{
	return start_program(self(), option);
}

static void give(struct process *p, const char *bytes, size_t n)
{
	while (n) {
		ssize_t k = write(p->in, bytes, n);

		assert_true(k > 0);
		bytes += k;
		n -= (size_t)k;
	}
}

static void tell(struct process *p, const char *line)
{
	give(p, line, strlen(line));
	give(p, "\n", 1);
}

/* Reads once from both; false at the end of standard output. */
static bool read_more(struct process *p)
{
	struct pollfd fds_[2] = { { .fd = p->out, .events = POLLIN },
				  { .fd = p->err, .events = POLLIN } };
	ssize_t n;

	if (poll(fds_, 2, DEADLINE_MS) <= 0) {
		print_error("nothing comes; so far: %.3000s\n%s\n", p->text ? p->text : "",
			    p->errors);
		abort();
	}
	if (fds_[1].revents) {
		n = read(p->err, p->errors + p->n_err, sizeof p->errors - 1 - p->n_err);
		if (n > 0)
			p->n_err += (size_t)n;
		else if (n == 0) { /* closed: look at it no more */
			close(p->err);
			p->err = -1;
		}
		p->errors[p->n_err] = '\0';
	}
	if (!fds_[0].revents)
		return true;
	if (p->n + 65537 > p->cap) {
		p->cap = p->cap * 2 + 65537;
		p->text = realloc(p->text, p->cap);
		assert_non_null(p->text);
	}
	n = read(p->out, p->text + p->n, 65536);
	assert_true(n >= 0);
	p->n += (size_t)n;
	p->text[p->n] = '\0';
	return n > 0;
}

static const char *expect(struct process *p, const char *part)
{
	while (!p->text || !strstr(p->text, part))
		if (!read_more(p)) {
			print_error("ended without %s: %s\n%s\n", part, p->text, p->errors);
			fail();
		}
	return p->text;
}

static void expect_error(struct process *p, const char *part)
{
	while (!strstr(p->errors, part))
		assert_true(read_more(p));
}

static void end_input(struct process *p)
{
	close(p->in);
	p->in = -1;
}

/* Reads all that is left and gives the status of waitpid(). */
static int finish(struct process *p)
{
	int status;

	while (read_more(p))
		;
	while (p->err >= 0) {
		struct pollfd e = { .fd = p->err, .events = POLLIN };
		ssize_t n;

		if (poll(&e, 1, DEADLINE_MS) != 1)
			break;
		n = read(p->err, p->errors + p->n_err, sizeof p->errors - 1 - p->n_err);
		if (n <= 0)
			break;
		p->n_err += (size_t)n;
		p->errors[p->n_err] = '\0';
	}
	assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
	return status;
}

#define assert_exits(p, code)                                                                      \
	do {                                                                                       \
		int status_ = finish(p);                                                           \
		if (!WIFEXITED(status_) || WEXITSTATUS(status_) != (code))                         \
			print_error("status %x\n%s\n", (unsigned)status_, (p)->errors);            \
		assert_true(WIFEXITED(status_));                                                   \
		assert_int_equal(WEXITSTATUS(status_), code);                                      \
	} while (0)

static void forget(struct process *p)
{
	if (p->in >= 0)
		close(p->in);
	if (p->out >= 0)
		close(p->out);
	if (p->err >= 0)
		close(p->err);
	free(p->text);
	free(p);
}

static const char hello[] = REQUEST(
	"\"i\"", "initialize",
	"\"protocolVersion\":\"2025-11-25\",\"capabilities\":{}") "\n" NOTE("notifications/initialized",
									    "") "\n";

static struct process *start_session(void)
{
	struct process *p = start("--stdio");

	give(p, hello, strlen(hello));
	expect(p, "\"id\":\"i\"");
	return p;
}

/* ---- ends -------------------------------------------------------------------------------------------- */

/* 2025-11-25 basic/lifecycle: shutdown of stdio: the client closes the server's input. */
TEST(end_of_input_ends_it)
{
	struct process *p = start_session();

	tell(p, CALL("1", "echo", "{\"text\":\"last\"}"));
	end_input(p);
	assert_exits(p, 0);
	assert_has(p->text, "last");
	assert_messages(p->text, 2);
	assert_string_equal(p->errors, "");
	forget(p);
}

TEST(input_that_ends_at_once)
{
	struct process *p = start("--stdio");

	end_input(p);
	assert_exits(p, 0);
	assert_string_equal(p->text ? p->text : "", "");
	forget(p);
}

/* A call that runs when the input ends is cancelled, so that the process ends. */
TEST(end_of_input_cancels)
{
	struct process *p = start_session();

	tell(p, CALL("1", "wait", "{}"));
	expect_error(p, "waiting");
	end_input(p);
	assert_exits(p, 0);
	forget(p);
}

TEST(signals_end_it_cleanly)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP };

	for (size_t i = 0; i < CLEAT_COUNT(signals); i++) {
		struct process *p = start_session();

		tell(p, CALL("1", "echo", "{\"text\":\"before\"}"));
		expect(p, "before");
		tell(p, CALL("2", "wait", "{}"));
		expect_error(p, "waiting");
		kill(p->pid, signals[i]);
		assert_exits(p, 0);
		/* what ran has been answered and flushed */
		assert_has(p->text,
			   "\"id\":2,\"error\":{\"code\":-32800,\"message\":\"the server is "
			   "stopping\"}");
		assert_messages(p->text, 3);
		forget(p);
	}
}

/* A handler that does not listen must not be stronger than the user. */
TEST(second_signal_ends_it_at_once)
{
	struct process *p = start_session();

	tell(p, CALL("1", "stuck", "{}"));
	expect_error(p, "stuck");
	kill(p->pid, SIGTERM);
	expect(p, "the server is stopping");
	kill(p->pid, SIGTERM);
	assert_exits(p, 128 + SIGTERM);
	forget(p);
}

/* The client dies: nobody reads any more. */
TEST(reader_that_goes_away_ends_it)
{
	struct process *p = start_session();
	int status;

	close(p->out);
	p->out = -1;
	tell(p, CALL("1", "echo", "{\"text\":\"x\"}"));
	assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
	assert_true(WIFEXITED(status)); /* not by SIGPIPE */
	assert_int_equal(WEXITSTATUS(status), 0);
	forget(p);
}

/* ---- standard output is protected ----------------------------------------------------------------------- */

TEST(printf_in_a_tool_does_not_disturb)
{
	struct process *p = start_session();

	tell(p, CALL("1", "noisy", "{}"));
	tell(p, CALL("2", "echo", "{\"text\":\"still in order\"}"));
	expect(p, "still in order");
	end_input(p);
	assert_exits(p, 0);
	assert_messages(p->text, 3);
	assert_lacks(p->text, "in a tool");
	assert_lacks(p->text, "forged");
	assert_lacks(p->text, "not flushed");
	assert_has(p->text, "noise made");
	assert_has(p->errors, "printf in a tool");
	assert_has(p->errors, "write in a tool");
	assert_has(p->errors, "child of a tool");
	assert_has(p->errors, "not flushed yet");
	forget(p);
}

/* cleat_server_run_stdio() gives standard output back and leaves no descriptor behind. */
TEST(run_gives_everything_back)
{
	struct process *p = start("--run");
	int rc = 9, before = 0, after = 1;

	give(p, hello, strlen(hello));
	tell(p, CALL("1", "noisy", "{}"));
	tell(p, CALL("2", "fds", "{}"));
	end_input(p);
	assert_exits(p, 0);
	assert_int_equal(sscanf(strstr(p->text, "run gave"), "run gave %d, descriptors %d, %d", &rc,
				&before, &after),
			 3);
	assert_int_equal(rc, 0);
	assert_int_equal(before, after);
	forget(p);
}

/* Requests, also blocking and cancelled ones, leave no descriptors behind. */
TEST(requests_leave_no_descriptors)
{
	struct process *p = start_session();
	char line[256], first[64];

	tell(p, CALL("\"w\"", "wait", "{}")); /* the pool and its eventfd exist from here on */
	expect_error(p, "waiting");
	tell(p, CANCEL("\"w\""));
	tell(p, CALL("1", "fds", "{}"));
	expect(p, "\"id\":1,");
	expect(p, "descriptors");
	for (int i = 0; i < 30; i++) {
		snprintf(line, sizeof line, CALL("%d", "wait", "{}"), 100 + i);
		tell(p, line);
		snprintf(line, sizeof line, CANCEL("%d"), 100 + i);
		tell(p, line);
	}
	/* cancelled ones may take a moment to end: ask until the number is right */
	for (int i = 0;; i++) {
		int now = 0, then = 0;
		const char *at;

		snprintf(line, sizeof line, CALL("%d", "fds", "{}"), 1000 + i);
		tell(p, line);
		snprintf(line, sizeof line, "\"id\":%d,", 1000 + i);
		at = strstr(expect(p, line), line);
		while (!strchr(at, '\n')) {
			assert_true(read_more(p));
			at = strstr(p->text, line);
		}
		sscanf(strstr(at, "\"text\":\"") + 8, "%d", &now);
		at = strstr(p->text, "\"id\":1,");
		sscanf(strstr(at, "\"text\":\"") + 8, "%d", &then);
		if (now <= then)
			break;
		snprintf(first, sizeof first, "%d then, %d now", then, now);
		if (i >= 5000)
			print_error("%s\n", first);
		assert_true(i < 5000);
	}
	end_input(p);
	assert_exits(p, 0);
	forget(p);
}

/* ---- all kinds of input ------------------------------------------------------------------------------------ */

TEST(one_byte_at_a_time)
{
	struct process *p = start("--stdio");
	static const char line[] = CALL("1", "echo", "{\"text\":\"by bytes \xc3\xbc\"}") "\r\n";

	for (size_t i = 0; i < strlen(hello); i++)
		give(p, hello + i, 1);
	for (size_t i = 0; i < strlen(line); i++)
		give(p, line + i, 1);
	expect(p, "by bytes \xc3\xbc");
	end_input(p);
	assert_exits(p, 0);
	assert_messages(p->text, 2);
	forget(p);
}

/* Input from and output to a regular file, as in a test by hand. */
TEST(input_and_output_are_files)
{
	char in_name[] = "/tmp/cleat-in-XXXXXX", out_name[] = "/tmp/cleat-out-XXXXXX";
	int in = mkstemp(in_name), out = mkstemp(out_name), status;
	char *argv[] = { (char *)self(), (char *)"--stdio", NULL };
	static const char call[] = CALL("1", "echo", "{\"text\":\"no newline at the end\"}");
	pid_t pid;
	char *text;

	assert_true(in >= 0 && out >= 0);
	assert_int_equal(write(in, hello, strlen(hello)), strlen(hello));
	assert_int_equal(write(in, call, strlen(call)), strlen(call));
	assert_int_equal(lseek(in, 0, SEEK_SET), 0);
	pid = spawn(self(), argv, in, out, -1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	text = support_read_file(out_name, NULL);
	assert_non_null(text);
	assert_messages(text, 2);
	assert_has(text, "no newline at the end");
	free(text);
	close(in);
	close(out);
	unlink(in_name);
	unlink(out_name);
}

TEST(input_is_dev_null)
{
	char *argv[] = { (char *)self(), (char *)"--stdio", NULL };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), status;
	pid_t pid = spawn(self(), argv, null, null, -1);

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(null);
}

/* One socket for both directions, as inetd and some clients (Node) have it. */
TEST(one_socket_for_both)
{
	char *argv[] = { (char *)self(), (char *)"--stdio", NULL };
	struct process *p = calloc(1, sizeof *p);
	int ends[2], status;

	assert_non_null(p);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	p->pid = spawn(self(), argv, ends[1], ends[1], -1);
	close(ends[1]);
	p->in = p->out = ends[0];
	p->err = -1;
	give(p, hello, strlen(hello));
	tell(p, CALL("1", "echo", "{\"text\":\"by socket\"}"));
	expect(p, "by socket");
	assert_int_equal(shutdown(p->in, SHUT_WR), 0);
	while (read_more(p))
		;
	assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
	assert_int_equal(status, 0);
	p->in = -1;
	forget(p);
}

/* Started without standard input or output: says so and fails. */
TEST(closed_descriptors_are_an_error)
{
	char *argv[] = { (char *)self(), (char *)"--stdio", NULL };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), status;
	pid_t pid;

	pid = spawn(self(), argv, -1, null, null);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	pid = spawn(self(), argv, null, -1, null);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	close(null);
}

/* ---- a client that does not read ---------------------------------------------------------------------------- */

static long memory_of(pid_t pid, const char *key)
{
	char path[64], line[256];
	long kb = -1;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof line, f))
		if (strncmp(line, key, strlen(key)) == 0)
			kb = strtol(line + strlen(key), NULL, 10);
	if (f)
		fclose(f);
	return kb;
}

enum { FLOOD = 10000 };

static void *flood(void *arg)
{
	struct process *p = arg;
	char line[128];

	for (int i = 0; i < FLOOD; i++) {
		snprintf(line, sizeof line, REQUEST("%d", "prompts/list", ""), i);
		tell(p, line);
	}
	return NULL;
}

/* Checks the whole lines from *at on: answer number *next, then the one after it. */
static void check_answers(const struct process *p, size_t *at, int *next)
{
	const char *end;
	char head[64];

	while ((end = memchr(p->text + *at, '\n', p->n - *at)) != NULL) {
		int n = snprintf(head, sizeof head,
				 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":", *next);

		assert_true(end - (p->text + *at) > n);
		assert_memory_equal(p->text + *at, head, (size_t)n);
		*at = (size_t)(end + 1 - p->text);
		++*next;
	}
}

/* 40 MB of answers for a client that takes none: the server stops reading instead of growing. Then
 * the client reads, and nothing is missing. */
TEST(client_that_never_reads_cannot_fill_memory)
{
	struct process *p = start_session();
	long before = memory_of(p->pid, "VmRSS:"), peak;
	struct timespec nap = { .tv_nsec = 1000000 };
	size_t at = p->n;
	pthread_t writer;
	int blocked = 0, next = 0;

	assert_int_equal(pthread_create(&writer, NULL, flood, p), 0);
	while (blocked < 100) { /* the pipe is full and stays it */
		struct pollfd w = { .fd = p->in, .events = POLLOUT };

		blocked = poll(&w, 1, 0) == 0 ? blocked + 1 : 0;
		nanosleep(&nap, NULL);
	}
	while (next < FLOOD) {
		assert_true(read_more(p));
		check_answers(p, &at, &next);
	}
	pthread_join(writer, NULL);
	peak = memory_of(p->pid, "VmHWM:");
	if (peak - before > 48 * 1024)
		print_error("from %ld to %ld kB\n", before, peak);
	assert_true(before > 0 && peak - before < 48 * 1024);
	end_input(p);
	assert_exits(p, 0);
	assert_int_equal(at, p->n); /* and nothing came after */
	forget(p);
}

/* ---- the command line ------------------------------------------------------------------------------------------ */

TEST(options)
{
	struct process *p = start("--version");

	assert_exits(p, 0);
	assert_string_equal(p->text, "process 1.2.3\n");
	forget(p);
	p = start("--help");
	assert_exits(p, 0);
	assert_has(p->text, "Usage:");
	assert_has(p->text, "Tools: echo, noisy, wait, stuck, fds\n");
	assert_has(p->text, "{\"mcpServers\": {\"process\": {\"command\": \"/");
	forget(p);
	p = start("--nonsense");
	assert_exits(p, 2);
	assert_string_equal(p->text ? p->text : "", "");
	assert_has(p->errors, "unknown option --nonsense");
	forget(p);
}

/* The example from the manual, as it was built. */
TEST(the_shortest_example_works)
{
	const char *build = getenv("CLEAT_BUILD_DIR");
	struct process *p;
	char path[4096];

	snprintf(path, sizeof path, "%s/examples/hello", build ? build : ".");
	if (access(path, X_OK) != 0) {
		print_message("no %s\n", path);
		skip();
	}
	p = start_program(path, NULL);
	give(p, hello, strlen(hello));
	tell(p, CALL("1", "add", "{\"a\":2,\"b\":0.5}"));
	end_input(p);
	assert_exits(p, 0);
	assert_has(p->text, "\"text\":\"2.5\"");
	assert_messages(p->text, 2);
	forget(p);
}

/* Ten of them at once, none of them left. */
TEST(many_at_once)
{
	struct process *p[10];

	for (size_t i = 0; i < CLEAT_COUNT(p); i++)
		p[i] = start("--stdio");
	for (size_t i = 0; i < CLEAT_COUNT(p); i++) {
		give(p[i], hello, strlen(hello));
		tell(p[i], CALL("1", "echo", "{\"text\":\"x\"}"));
		end_input(p[i]);
	}
	for (size_t i = 0; i < CLEAT_COUNT(p); i++) {
		assert_exits(p[i], 0);
		assert_messages(p[i]->text, 2);
		forget(p[i]);
	}
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child of ours is left */
	assert_int_equal(errno, ECHILD);
}

TEST_START(argc, argv)
{
	if (argc > 1)
		return serve(argc, argv);
	signal(SIGPIPE, SIG_IGN); /* a server that ended must fail a test, not end it */
	return TEST_GO_ON;
}
