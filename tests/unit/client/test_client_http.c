/* test_client_http.c - clients over HTTP, as programs use them: a server on the same loop, a server in
 * another process, tokens, sessions that are lost, servers that are not there or are something else.
 * (Every operation over HTTP: test_client_matrix.c. Certificates: test_fetcher_tls.c.)
 */
#include "test.h"
#include "unit/client/test_client.h"

#include "loop/loop.h"

#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static char self[PATH_MAX];

static const char *const eras[] = { "2025-11-25", "2026-07-28" };

/* ---- a server on the client's loop -------------------------------------------------------- */

struct bench {
	cleat_loop *loop;
	cleat_server *s;
	cleat_client *c;
	char url[200];
};

static void serve(struct bench *b, const cleat_http_options *http)
{
	*b = (struct bench){ .loop = cleat_loop_new(NULL) };
	b->s = cleat_server_new("http", "1", &(cleat_server_options){ .loop = b->loop });
	add_all(b->s, NULL);
	assert_int_equal(cleat_server_listen_http(b->s, "127.0.0.1:0", http), CLEAT_OK);
	snprintf(b->url, sizeof b->url, "%s", cleat_server_http_url(b->s, 0));
}

static void reach(struct bench *b, const char *url, cleat_client_options o)
{
	o.loop = b->loop;
	b->c = cleat_client_connect(url, &o);
	assert_non_null(b->c);
}

static void leave(struct bench *b)
{
	cleat_client_free(b->c);
	b->c = NULL;
}

static void stop(struct bench *b)
{
	leave(b);
	cleat_server_free(b->s);
	cleat_loop_free(b->loop);
}

static int only_ann(void *userdata, const char *token, char *name)
{
	(void)userdata;
	strcpy(name, "ann");
	return strcmp(token, "secret-of-ann") == 0 ? CLEAT_OK : CLEAT_ENOENT;
}

TEST(a_token_is_sent)
{
	const char *const headers[] = { "Authorization: Bearer secret-of-ann", NULL };
	struct bench b;

	serve(&b, &(cleat_http_options){ .verify = only_ann });
	for (size_t i = 0; i < CLEAT_COUNT(eras); i++) {
		cleat_client_options right = { .protocol = eras[i], .bearer = "secret-of-ann" };
		cleat_client_options header = { .protocol = eras[i], .headers = headers };
		cleat_client_options wrong = { .protocol = eras[i], .bearer = "something-else" };
		cleat_client_options none = { .protocol = eras[i] };
		const cleat_client_options *const good[] = { &right, &header }, *const bad[] = {
			&wrong, &none
		};

		for (size_t k = 0; k < 2; k++) {
			cleat_result *r;

			reach(&b, b.url, *good[k]);
			assert_text(cleat_client_callf(b.c, "echo", "{text: 'in'}"), "in");
			leave(&b);
			reach(&b, b.url, *bad[k]);
			r = cleat_client_callf(b.c, "echo", "{text: 'out'}");
			assert_int_equal(cleat_result_step(r), CLEAT_STEP_AUTH);
			assert_int_equal(cleat_result_http_status(r), 401);
			assert_lacks(cleat_result_error(r)->message, "something-else");
			cleat_result_free(r);
			leave(&b);
		}
	}
	stop(&b);
}

/* 2025-11-25 basic/transports: 404 for a session that was there means that a new one is begun. */
TEST(a_session_that_is_lost_is_begun_anew)
{
	uint64_t until;
	struct bench b;

	serve(&b, &(cleat_http_options){ .session_idle_ms = 1000 });
	reach(&b, b.url, (cleat_client_options){ .protocol = "2025-11-25", .no_stream = true });
	assert_text(cleat_client_callf(b.c, "echo", "{text: 'first'}"), "first");
	until = loop_now() + 2500;
	while (loop_now() < until)
		cleat_loop_step(b.loop, 100);
	assert_text(cleat_client_callf(b.c, "echo", "{text: 'second'}"), "second");
	stop(&b);
}

TEST(what_is_not_mcp_says_what_it_is)
{
	static const char *const places[] = { "/other", "/" };
	struct bench b;

	serve(&b, NULL);
	for (size_t i = 0; i < CLEAT_COUNT(places); i++) {
		char url[300];
		cleat_result *r;

		snprintf(url, sizeof url, "%.*s%s", (int)(strlen(b.url) - strlen("/mcp")), b.url,
			 places[i]);
		reach(&b, url, (cleat_client_options){ 0 });
		r = cleat_client_callf(b.c, "echo", NULL);
		assert_int_equal(cleat_result_http_status(r), 404);
		assert_int_not_equal(cleat_result_status(r), CLEAT_OK);
		cleat_result_free(r);
		leave(&b);
	}
	stop(&b);
}

/* A port on which nobody listens. */
static int free_port(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof at;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &n), 0);
	close(fd);
	return ntohs(at.sin_port);
}

TEST(nobody_listens)
{
	char http[60], tcp[60], port[20];
	const struct {
		const char *address, *word;
	} cases[] = {
		{ http, port },
		{ tcp, port },
		{ "unix:/nonexistent/mcp.sock", "/nonexistent/mcp.sock" },
		{ "unix-stream:/nonexistent/mcp.sock", "/nonexistent/mcp.sock" },
	};

	snprintf(port, sizeof port, "%d", free_port());
	snprintf(http, sizeof http, "http://127.0.0.1:%s/mcp", port);
	snprintf(tcp, sizeof tcp, "tcp://127.0.0.1:%s", port);
	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		cleat_client *c = cleat_client_connect(cases[i].address, NULL);
		cleat_result *r = cleat_client_callf(c, "echo", NULL);

		assert_int_equal(cleat_result_step(r), CLEAT_STEP_CONNECT);
		assert_has(cleat_result_error(r)->message, cases[i].word);
		cleat_result_free(r);
		assert_int_not_equal(cleat_client_open(c), CLEAT_OK);
		cleat_client_free(c);
	}
}

/* Whatever it is doing just then. */
TEST(freed_while_connecting)
{
	struct ending e = { 0 };
	struct bench b;

	serve(&b, NULL);
	for (int steps = 0; steps < 6; steps++) {
		e = (struct ending){ 0 };
		reach(&b, b.url, (cleat_client_options){ 0 });
		assert_non_null(cleat_client_startf(b.c, ENDING(&e), "hang", NULL));
		for (int i = 0; i < steps; i++)
			cleat_loop_step(b.loop, 1);
		leave(&b);
		assert_int_equal(e.count, 1);
		assert_int_equal(e.status, CLEAT_ECLOSED);
	}
	stop(&b);
}

/* ---- a server in another process ---------------------------------------------------------- */

static pid_t running; /* 0: none */

/* Becomes the server, which ends with us if we are killed. */
static _Noreturn void become_server(int err, const char *address, pid_t parent)
{
#ifdef __linux__
	prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
	if (getppid() == parent && dup2(err, STDERR_FILENO) >= 0)
		execl(self, self, "--http", address, (char *)NULL);
	_exit(126);
}

static void start_process(char *url, size_t n, const char *address)
{
	pid_t me = getpid();
	char line[300];
	int ends[2];
	FILE *f;
	char *at;

	assert_int_equal(running, 0);
	assert_int_equal(pipe(ends), 0);
	running = fork();
	if (running == 0) {
		close(ends[0]);
		become_server(ends[1], address, me);
	}
	close(ends[1]);
	assert_true(running > 0);
	f = fdopen(ends[0], "r");
	assert_non_null(fgets(line, sizeof line, f));
	fclose(f);
	at = strstr(line, "listening on ");
	assert_non_null(at);
	at += strlen("listening on ");
	snprintf(url, n, "%.*s", (int)strcspn(at, "\n"), at);
}

static void end_process(int sig)
{
	pid_t pid = running;

	running = 0;
	if (pid > 0 && kill(pid, sig) == 0)
		waitpid(pid, NULL, 0);
}

/* Also behind a test that has failed, which has ended nothing. */
static int end_what_is_left(void **state)
{
	(void)state;
	end_process(SIGTERM);
	return 0;
}

TEST_WITH(a_server_in_another_process, NULL, end_what_is_left)
{
	char url[200];

	start_process(url, sizeof url, "127.0.0.1:0");
	for (size_t i = 0; i <= CLEAT_COUNT(eras); i++) {
		cleat_client_options o = { .protocol = i < CLEAT_COUNT(eras) ? eras[i] : NULL };
		cleat_client *c = cleat_client_connect(url, &o);
		struct ending e = { 0 };
		cleat_call_options progress = { .on_progress = ending_progress, .userdata = &e };

		assert_text(cleat_client_callf(c, "echo", "{text: 'far'}"), "far");
		assert_text(
			cleat_client_request_withf(c, &progress, "tools/call", "{name: 'steps'}"),
			"done");
		assert_int_equal(e.progress, 3);
		assert_int_equal(cleat_client_pid(c), 0);
		cleat_client_free(c);
	}
	end_process(SIGTERM);
}

TEST_WITH(a_server_behind_a_unix_socket, NULL, end_what_is_left)
{
	char path[100], listen[120], plain[120], slashes[120], whole[120];
	char url[200];
	const struct {
		const char *address, *socket;
	} cases[] = {
		{ plain, NULL },
		{ slashes, NULL },
		{ whole, NULL },
		{ "http://localhost/mcp", path },
	};

	snprintf(path, sizeof path, "/tmp/cleat-http-%ld.sock", (long)getpid());
	snprintf(listen, sizeof listen, "unix:%s", path);
	snprintf(plain, sizeof plain, "UNIX:%s", path);
	snprintf(slashes, sizeof slashes, "unix://%s", path);
	snprintf(whole, sizeof whole, "unix:%s#/mcp", path);
	start_process(url, sizeof url, listen);
	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		cleat_client_options o = { .unix_socket = cases[i].socket };
		cleat_client *c = cleat_client_connect(cases[i].address, &o);

		assert_text(cleat_client_callf(c, "echo", "{text: 'near'}"), "near");
		cleat_client_free(c);
	}
	end_process(SIGTERM);
}

/* The server is killed under a call, and another one took its place. */
TEST_WITH(a_server_that_was_replaced_is_reached_again, NULL, end_what_is_left)
{
	for (size_t i = 0; i < CLEAT_COUNT(eras); i++) {
		char url[200], address[100];
		cleat_client_options o = { .protocol = eras[i] };
		struct ending e = { 0 };
		cleat_client *c;

		start_process(url, sizeof url, "127.0.0.1:0");
		c = cleat_client_connect(url, &o);
		assert_text(cleat_client_callf(c, "echo", "{text: 'first'}"), "first");
		cleat_client_startf(c, ENDING(&e), "hang", NULL);
		while (!e.progress)
			cleat_loop_step(cleat_client_loop(c), 1000);
		end_process(SIGKILL);
		snprintf(address, sizeof address, "%.*s",
			 (int)strcspn(url + strlen("http://"), "/"), url + strlen("http://"));
		start_process(url, sizeof url, address);
		assert_text(cleat_client_callf(c, "echo", "{text: 'second'}"), "second");
		cleat_client_free(c); /* the first call has ended, or ends now */
		assert_int_equal(e.count, 1);
		assert_int_not_equal(e.status, CLEAT_OK);
		end_process(SIGTERM);
	}
}

TEST_START(argc, argv)
{
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	if (n <= 0) {
		print_message("this system does not tell where the program is: skipped\n");
		return 0;
	}
	self[n] = '\0';
	if (argc > 1)
		return cleat_server_main(new_server(NULL), argc, argv);
	return TEST_GO_ON;
}
