/* test_run_http.c - a server on HTTP as a whole program: addresses, signals, what it tells a service
 * manager, counters and access log. Real processes and sockets.
 */
#include "test.h"
#include "unit/run/test_run_child.h"

#include <netinet/in.h>
#include <sys/un.h>
#include <time.h>

/* ---- a program ---------------------------------------------------------------------------- */

static int go_fd = -1; /* what until_told waits for */

static int until_told(cleat_request *req)
{
	char c;

	say_ready();
	return cleat_reply_text(req, read(go_fd, &c, 1) == 1 ? "was told" : "?");
}

static cleat_server *make(const cleat_server_options *o)
{
	cleat_server *s = new_server(o);

	cleat_server_add_tool(
		s, &(cleat_tool){ .name = "until_told", .call = until_told, .blocking = true });
	return s;
}

/* Files and sockets of a test. */
static char notify_path[64], socket_path[64], token_path[64];
static int notify_fd = -1;

static int make_place(void **state)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };

	if (warm_up(state) || scratch_begin(state))
		return -1;
	snprintf(notify_path, sizeof notify_path, "%s", scratch_path("notify"));
	snprintf(socket_path, sizeof socket_path, "%s", scratch_path("mcp"));
	snprintf(token_path, sizeof token_path, "%s", scratch_path("tokens"));
	memcpy(un.sun_path, notify_path, sizeof notify_path);
	notify_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return bind(notify_fd, (struct sockaddr *)&un, sizeof un);
}

static int watched = -1; /* standard error of the process: it ends with it */

static void begin(struct child *c, const char *const *options, void (*prepare)(void))
{
	char text[256];

	while (recv(notify_fd, text, sizeof text, MSG_DONTWAIT) > 0)
		;
	start_with(c, make, options, prepare);
	watched = c->err;
}

/* What the service manager is told next. */
static const char *heard(void)
{
	static char text[256];
	struct pollfd p[] = { { .fd = notify_fd, .events = POLLIN }, { .fd = watched } };
	ssize_t n;

	assert_true(poll(p, 2, -1) > 0);
	n = recv(notify_fd, text, sizeof text - 1, MSG_DONTWAIT);
	assert_true(n > 0);
	text[n] = 0;
	return text;
}

static void with_notify(void)
{
	setenv("NOTIFY_SOCKET", notify_path, 1);
}

struct site {
	struct child c;
	int go;
	int ports[2], metrics; /* that it said it listens on */
	size_t n_ports;
};

static void read_line(int fd, char *to, size_t room)
{
	size_t n = 0;

	while (n + 1 < room && read(fd, to + n, 1) == 1 && to[n] != '\n')
		n++;
	to[n] = 0;
}

/* Starts it and waits for the addresses, of which there are `lines`. */
static void open_site(struct site *s, size_t lines, const char *const *options)
{
	int go[2];
	char line[256];
	const char *colon;

	memset(s, 0, sizeof *s);
	assert_int_equal(pipe(go), 0);
	fcntl(go[1], F_SETFD, FD_CLOEXEC);
	go_fd = go[0];
	begin(&s->c, options, with_notify);
	close(go[0]);
	s->go = go[1];
	for (size_t i = 0; i < lines; i++) {
		read_line(s->c.err, line, sizeof line);
		colon = strrchr(line, ':');
		assert_non_null(colon);
		if (strncmp(line, "test: metrics are at http://127.0.0.1:", 38) == 0)
			s->metrics = atoi(colon + 1);
		else if (strncmp(line, "test: listening on http://127.0.0.1:", 36) == 0)
			s->ports[s->n_ports++] = atoi(colon + 1);
		else if (strncmp(line, "test: listening on unix:", 24) != 0)
			fail_msg("%s", line);
	}
	assert_string_equal(heard(), "READY=1");
}

/* After it was told to end. */
static int close_site(struct site *s)
{
	int status = finish(&s->c);

	assert_string_equal(s->c.text, "");
	close(s->go);
	return status;
}

static void stop_site(struct site *s)
{
	kill(s->c.pid, SIGTERM);
	assert_string_equal(heard(), "STOPPING=1");
	assert_int_equal(close_site(s), 0);
}

/* ---- a client ----------------------------------------------------------------------------- */

static int dial_unix(const char *path)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(un.sun_path, sizeof un.sun_path, "%s", path);
	assert_int_equal(connect(fd, (struct sockaddr *)&un, sizeof un), 0);
	return fd;
}

static char answer[16384]; /* the last one, with its header */

static int take_answer(int fd)
{
	int status = 0;

	slurp(fd, answer, sizeof answer);
	sscanf(answer, "HTTP/1.1 %d", &status);
	return status;
}

static int get(int port, const char *target, const char *host)
{
	char text[256];
	int fd = dial(port);

	snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n",
		 target, host);
	put(fd, text);
	return take_answer(fd);
}

static int call_tool(int port, const char *tool, const char *headers)
{
	int fd = dial(port);

	send_call(fd, tool, "{}", headers);
	return take_answer(fd);
}

#define BEARER(token) "Authorization: Bearer " token "\r\n"

/* Begins a session of 2025-11-25; gives the header that names it. */
static const char *begin_session(int port, const char *headers)
{
	static char header[128];
	const char *id;
	int fd = dial(port);

	send_post(fd, "/mcp", headers, INITIALIZE);
	assert_int_equal(take_answer(fd), 200);
	id = strstr(answer, "Mcp-Session-Id: ");
	if (!id)
		id = strstr(answer, "mcp-session-id: ");
	assert_non_null(id);
	snprintf(header, sizeof header, "%s%.*s\r\n", headers, (int)strcspn(id, "\r"), id);
	return header;
}

/* ---- serving and ending ------------------------------------------------------------------- */

static const char *const plain[] = { "--http", "127.0.0.1:0", NULL };

/* An idle connection, which could be kept for 75 s, and the grace for calls, which is 10 s, are
 * not waited for when there is no call. */
TEST(idle_server_ends_at_once)
{
	static const int numbers[] = { SIGTERM, SIGINT };
	struct timespec begun, ended;
	struct site s;

	for (size_t i = 0; i < CLEAT_COUNT(numbers); i++) {
		int idle;

		open_site(&s, 1, plain);
		assert_int_equal(call_tool(s.ports[0], "where", ""), 200);
		assert_has(answer, "\"worker\"");
		idle = dial(s.ports[0]);
		put(idle, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
		assert_true(read(idle, answer, sizeof answer) > 0);
		clock_gettime(CLOCK_MONOTONIC, &begun);
		kill(s.c.pid, numbers[i]);
		assert_int_equal(read(idle, answer, sizeof answer), 0);
		assert_string_equal(heard(), "STOPPING=1");
		assert_int_equal(close_site(&s), 0);
		clock_gettime(CLOCK_MONOTONIC, &ended);
		assert_string_equal(s.c.errors, "");
		if (!getenv("CLEAT_VALGRIND"))
			assert_true(ended.tv_sec - begun.tv_sec < 9);
		close(idle);
	}
}

/* <cleat/http.h>: "those that run may finish". (In sessions, and over HTTP+SSE: shutdown.txt of the transcripts.) */
TEST(running_call_is_answered_after_sigterm)
{
	struct site s;
	int fd;

	open_site(&s, 1, plain);
	fd = dial(s.ports[0]);
	send_call(fd, "until_told", "{}", "");
	wait_ready(&s.c);
	kill(s.c.pid, SIGTERM);
	assert_string_equal(heard(), "STOPPING=1");
	put(s.go, "!");
	assert_int_equal(take_answer(fd), 200);
	assert_has(answer, "was told");
	assert_int_equal(close_site(&s), 0);
	assert_string_equal(s.c.errors, "");
}

/* Its client has gone, and could come back for the answer only if the server stayed. */
TEST(call_that_nobody_waits_for_is_cancelled)
{
	struct site s;
	int fd;

	open_site(&s, 1, plain);
	fd = dial(s.ports[0]);
	send_post_on(fd, "keep-alive", "/mcp", begin_session(s.ports[0], ""),
		     call(7, "until_cancelled", "{}"));
	wait_ready(&s.c);
	close(fd);
	stop_site(&s);
	assert_string_equal(s.c.errors, "");
}

TEST(second_signal_ends_it_at_once)
{
	struct site s;
	int fd;

	if (getenv("CLEAT_VALGRIND"))
		skip(); /* the thread that still runs counts as lost memory there */
	open_site(&s, 1, plain);
	fd = dial(s.ports[0]);
	send_call(fd, "for_ever", "{}", "");
	wait_ready(&s.c);
	kill(s.c.pid, SIGTERM);
	assert_string_equal(heard(), "STOPPING=1");
	kill(s.c.pid, SIGHUP); /* there is nothing to reload any more */
	kill(s.c.pid, SIGTERM);
	assert_int_equal(finish(&s.c), 128 + SIGTERM);
	close(fd);
	close(s.go);
}

/* ---- files that are read again ------------------------------------------------------------ */

#define FIRST  "first-token-of-alice"
#define SECOND "second-token-of-alice"

static void expect_reload(pid_t pid)
{
	kill(pid, SIGHUP);
	assert_int_equal(strncmp(heard(), "RELOADING=1\nMONOTONIC_USEC=", 27), 0);
	assert_string_equal(heard(), "READY=1");
}

/* Reads until this has come. */
static void await_text(int fd, const char *part)
{
	char text[4096] = "";
	size_t n = 0;

	for (ssize_t k = 1; !strstr(text, part); n += (size_t)k, text[n] = 0)
		assert_true((k = read(fd, text + n, sizeof text - 1 - n)) > 0);
}

/* Whose token was taken away, or changed, hears nothing more: seen on the stream of a session and on that of
 * a subscription. */
TEST(a_token_that_is_gone_ends_its_streams)
{
	const char *options[] = { "--http", "127.0.0.1:0", "--token-file", token_path, "--threads",
				  "1",      NULL };
	struct site s;
	int get, sub;

	for (int i = 0; i < 2; i++) {
		options[5] = i ? "2" : "1";
		scratch_put("tokens", "alice " FIRST "\n");
		open_site(&s, 1, options);
		get = dial(s.ports[0]);
		put(get, "GET /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
			 "Accept: text/event-stream\r\n");
		put(get, begin_session(s.ports[0], BEARER(FIRST)));
		put(get, "\r\n");
		sub = dial(s.ports[0]);
		send_post(sub, "/mcp",
			  BEARER(FIRST) "MCP-Protocol-Version: 2026-07-28\r\n"
					"Mcp-Method: subscriptions/listen\r\n",
			  REQUEST("1", "subscriptions/listen",
				  MODERN ",\"notifications\":{\"toolsListChanged\":true}"));
		await_text(get, "retry: ");
		await_text(sub, "acknowledged");
		scratch_put("tokens", "alice " SECOND "\n");
		expect_reload(s.c.pid);
		slurp(get, answer, sizeof answer);
		slurp(sub, answer, sizeof answer);
		stop_site(&s);
	}
}

TEST(hangup_reads_tokens_again)
{
	const char *const options[] = { "--http", "127.0.0.1:0", "--token-file", token_path, NULL };
	struct site s;

	scratch_put("tokens", "alice " FIRST "\n");
	open_site(&s, 1, options);
	assert_int_equal(call_tool(s.ports[0], "where", ""), 401);
	assert_int_equal(call_tool(s.ports[0], "where", BEARER(FIRST)), 200);
	assert_int_equal(call_tool(s.ports[0], "where", BEARER(SECOND)), 401);
	scratch_put("tokens", "alice " SECOND "\n");
	expect_reload(s.c.pid);
	assert_int_equal(call_tool(s.ports[0], "where", BEARER(FIRST)), 401);
	assert_int_equal(call_tool(s.ports[0], "where", BEARER(SECOND)), 200);
	/* what cannot be read changes nothing */
	scratch_put("tokens", "alice\n");
	expect_reload(s.c.pid);
	assert_int_equal(call_tool(s.ports[0], "where", BEARER(SECOND)), 200);
	unlink(token_path);
	expect_reload(s.c.pid);
	assert_int_equal(call_tool(s.ports[0], "where", BEARER(SECOND)), 200);
	stop_site(&s);
	assert_has(s.c.errors, "test: error: the tokens stay as they were: ");
	assert_has(s.c.errors, "No such file or directory\n");
	assert_lacks(s.c.errors, SECOND);
}

/* nohup ignores SIGHUP so that it does not end the process, which it does not here. */
static void ignore_hangup(void)
{
	signal(SIGHUP, SIG_IGN);
	with_notify();
}

TEST(hangup_is_heard_under_nohup)
{
	struct child c;
	char line[256];

	begin(&c, plain, ignore_hangup);
	read_line(c.err, line, sizeof line);
	assert_string_equal(heard(), "READY=1");
	expect_reload(c.pid);
	kill(c.pid, SIGTERM);
	assert_string_equal(heard(), "STOPPING=1");
	assert_int_equal(finish(&c), 0);
}

/* ---- addresses ---------------------------------------------------------------------------- */

static void refuses(const char *const *options, const char *why)
{
	struct child c;

	start_with(&c, make, options, NULL);
	assert_int_equal(finish(&c), 1);
	assert_string_equal(c.text, "");
	assert_has(c.errors, why);
	assert_int_equal(strncmp(c.errors, "test: ", 6), 0);
	assert_lacks(c.errors, "listening");
}

TEST(address_that_others_reach_needs_tokens)
{
	const char *const wide[] = { "--http", "0.0.0.0:0", NULL };
	const char *const metrics[] = { "--http",       "127.0.0.1:0", "--metrics", "0.0.0.0:0",
					"--token-file", token_path,    NULL };
	const char *const allowed[] = { "--http",      "127.0.0.1:0",    "--metrics",
					"127.0.0.1:0", "--allow-remote", NULL };
	struct site s;

	scratch_put("tokens", "alice " FIRST "\n");
	refuses(wide, "can be reached from other machines, and clients would not have to authorize "
		      "themselves: give a token file (--token-file), or say that this is wanted "
		      "(--allow-remote)");
	refuses(metrics,
		"for metrics, can be reached from other machines, and no token is asked for "
		"there: say that this is wanted (--allow-remote)");
	open_site(&s, 2, allowed);
	stop_site(&s);
}

TEST(address_that_cannot_be_had_is_told)
{
	static const struct {
		const char *options[8], *why;
	} cases[] = {
		{ { "--http", "nonsense:port" }, "port" },
		{ { "--http", "https://127.0.0.1:0" }, "https needs a certificate and a key" },
		{ { "--http", "0", "--tls-cert", "x" }, "TLS needs both" },
		{ { "--http", "0", "--token-file", "/nonexistent" },
		  "/nonexistent: No such file or directory" },
		{ { "--http", "0", "--metrics", "https://127.0.0.1:0" },
		  "metrics are served without TLS" },
		{ { "--http", "0", "--metrics", "http://127.0.0.1:0/x" },
		  "metrics are always at the path /metrics" },
		{ { "--http", "unix:/nonexistent/socket" }, "No such file or directory" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++)
		refuses(cases[i].options, cases[i].why);
}

TEST(unix_socket_is_served_and_removed)
{
	char address[80];
	const char *const options[] = { "--http", address, NULL };
	struct stat st;
	struct site s;
	int fd;

	snprintf(address, sizeof address, "unix:%s", socket_path);
	open_site(&s, 1, options);
	assert_int_equal(stat(socket_path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	fd = dial_unix(socket_path);
	send_call(fd, "where", "{}", "");
	assert_int_equal(take_answer(fd), 200);
	assert_has(answer, "worker");
	stop_site(&s);
	assert_int_equal(stat(socket_path, &st), -1);
}

/* sd_listen_fds(3): the socket is descriptor 3 of the process that LISTEN_PID names. */
static int handed_over;

static void hand_over(void)
{
	char pid[32];

	snprintf(pid, sizeof pid, "%d", (int)getpid());
	setenv("LISTEN_PID", pid, 1);
	setenv("LISTEN_FDS", "1", 1);
	dup2(handed_over, 3);
	with_notify();
}

TEST(socket_of_the_service_manager_is_served)
{
	const char *const options[] = { "--http", "fd:3", NULL };
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t n = sizeof in;
	char line[256];
	struct child c;
	int fd;

	handed_over = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(handed_over, (struct sockaddr *)&in, sizeof in), 0);
	assert_int_equal(listen(handed_over, 8), 0);
	assert_int_equal(getsockname(handed_over, (struct sockaddr *)&in, &n), 0);
	fd = dial(ntohs(in.sin_port)); /* waits there until somebody serves it */
	send_call(fd, "where", "{}", "");
	begin(&c, options, hand_over);
	close(handed_over);
	read_line(c.err, line, sizeof line);
	assert_has(line, "listening on ");
	assert_string_equal(heard(), "READY=1");
	assert_int_equal(take_answer(fd), 200);
	kill(c.pid, SIGTERM);
	assert_string_equal(heard(), "STOPPING=1");
	assert_int_equal(finish(&c), 0);
}

/* ---- counters and log --------------------------------------------------------------------- */

/* One address for the counters of both, and nothing else is to be had there. */
TEST(metrics_have_an_address_of_their_own)
{
	const char *const options[] = { "--http",    "127.0.0.1:0", "--http", "127.0.0.1:0",
					"--metrics", "127.0.0.1:0", NULL };
	struct site s;
	int fd;

	open_site(&s, 3, options);
	assert_int_equal(s.n_ports, 2);
	assert_int_equal(call_tool(s.ports[0], "where", ""), 200);
	assert_int_equal(call_tool(s.ports[1], "where", ""), 200);
	assert_int_equal(call_tool(s.ports[1], "nonsense", ""), 200);
	assert_int_equal(get(s.ports[0], "/metrics", "localhost"), 404);
	begin_session(s.ports[0], "");
	assert_int_equal(get(s.metrics, "/metrics", "localhost"), 200);
	assert_has(answer, "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n");
	assert_has(answer, "\ncleat_http_requests_total{code=\"2xx\"} 4\n");
	assert_has(answer, "\ncleat_http_requests_total{code=\"4xx\"} 1\n");
	assert_has(answer, "\ncleat_rpc_requests_total{method=\"tools/call\"} 3\n");
	assert_has(answer, "\ncleat_rpc_requests_total{method=\"other\"} 1\n");
	assert_has(answer, "\ncleat_rpc_errors_total{method=\"tools/call\"} 1\n");
	assert_has(answer, "\ncleat_request_duration_seconds_count 4\n");
	assert_has(answer, "\ncleat_sessions 1\n");
	assert_has(answer, "\ncleat_connections_accepted_total 5\n");
	assert_int_equal(get(s.metrics, "/mcp", "localhost"), 404);
	assert_int_equal(get(s.metrics, "/metrics", "evil.example"), 403);
	fd = dial(s.metrics);
	send_call(fd, "where", "{}", "");
	assert_int_equal(take_answer(fd), 404);
	fd = dial(s.metrics);
	send_post(fd, "/metrics", "", "x");
	assert_int_equal(take_answer(fd), 405);
	assert_has(answer, "Allow: GET, HEAD\r\n");
	fd = dial(s.metrics);
	put(fd, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx");
	assert_int_equal(take_answer(fd), 413);
	/* also there while a call comes to its end */
	fd = dial(s.ports[0]);
	send_call(fd, "until_told", "{}", "");
	wait_ready(&s.c);
	kill(s.c.pid, SIGTERM);
	assert_string_equal(heard(), "STOPPING=1");
	assert_int_equal(get(s.metrics, "/metrics", "localhost"), 200);
	assert_has(answer, "\ncleat_connections 1\n");
	put(s.go, "!");
	assert_int_equal(take_answer(fd), 200);
	assert_int_equal(close_site(&s), 0);
}

/* The next line of the log. */
static char *next_line(char **at)
{
	char *line = *at, *end = strchr(line, '\n');

	assert_non_null(end);
	*end = 0;
	*at = end + 1;
	return line;
}

static void expect_entry(char **at, const char *const *parts)
{
	const char *line = next_line(at);
	cleat_doc *doc = cleat_doc_parse(line, strlen(line), NULL, NULL, NULL);

	assert_non_null(doc);
	cleat_doc_free(doc);
	for (; *parts; parts++)
		if ((*parts)[0] == '!' ? strstr(line, *parts + 1) != NULL : !strstr(line, *parts))
			fail_msg("%s: %s", *parts, line);
}

TEST(access_log_has_a_line_for_every_request)
{
	const char *const options[] = { "--http",   "127.0.0.1:0",  "--token-file",
					token_path, "--access-log", NULL };
	static const char *const entries[][10] = {
		{ "\"remote\":\"127.0.0.1\"", "\"method\":\"GET\"", "\"path\":\"/healthz\"",
		  "\"status\":200", "!principal", "!secret" },
		{ "\"status\":401", "!principal", "!nobody" },
		{ "\"path\":\"/mcp\"", "\"status\":200", "\"revision\":\"2026-07-28\"",
		  "\"principal\":\"alice\"", "\"rpc\":\"tools/call\"", "!\"session\"" },
		{ "\"path\":\"/mcp\"", "\"status\":200", "\"principal\":\"alice\"",
		  "!\"session\"" },
		/* a streamed answer, whose request is gone when it ends */
		{ "\"method\":\"POST\"", "\"path\":\"/mcp\"", "\"status\":200",
		  "\"principal\":\"alice\"", "\"session\":\"" },
		{ "\"status\":400" },
	};
	struct site s;
	char *at;
	int fd;

	scratch_put("tokens", "alice " FIRST "\n");
	open_site(&s, 1, options);
	assert_int_equal(get(s.ports[0], "/healthz?secret=1", "localhost"), 200);
	assert_int_equal(call_tool(s.ports[0], "where", BEARER("nobody-has-this-one")), 401);
	assert_int_equal(call_tool(s.ports[0], "where", BEARER(FIRST)), 200);
	fd = dial(s.ports[0]);
	send_post(fd, "/mcp", begin_session(s.ports[0], BEARER(FIRST)),
		  call(7, "until_told", "{}"));
	wait_ready(&s.c);
	put(s.go, "!");
	assert_int_equal(take_answer(fd), 200);
	fd = dial(s.ports[0]);
	put(fd, "GET /mcp HTTP/1.1\r\n\r\n"); /* without Host */
	assert_int_equal(take_answer(fd), 400);
	stop_site(&s);
	at = s.c.errors;
	for (size_t i = 0; i < CLEAT_COUNT(entries); i++)
		expect_entry(&at, entries[i]);
	assert_string_equal(at, "");
}

TEST_GROUP(make_place, scratch_end)
