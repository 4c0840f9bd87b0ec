/* test_http_threads.c - cleat_http_options.threads: several threads serve the connections of one address,
 * and the server notices nothing of it. Meant to be run under ThreadSanitizer as well.
 */
#include "unit/run/http_threads.h"

#include "support_files.h"
#include "test.h"

#include "run/runner.h"

/* ---- both eras, all at once --------------------------------------------------------------- */

enum { CLIENTS = 6, ROUNDS = 12 };

/* Calls one after the other on one connection. */
static void calls_on_a_connection(struct site *v, struct answer *a, int seed)
{
	struct client *c = dial(v);
	char args[64], wanted[64];

	for (int i = 0; i < 5; i++) {
		snprintf(args, sizeof args, "{\"a\":%d,\"b\":%d}", seed, i);
		snprintf(wanted, sizeof wanted, "\"sum=%d\"", seed + i);
		modern_call(c, "add", args, "");
		read_answer(c, a);
		must(a->status == 200 && a->whole && strstr(a->body, wanted));
	}
	modern_call(c, "large", "{\"n\":60000}", "");
	read_answer(c, a);
	must(a->status == 200 && a->whole && a->n > 60000);
	hang_up(c);
}

/* streamable-http: what is sent because of a request is its answer, as events, the result last. */
static void progress_on_a_stream(struct site *v, struct answer *a, int seed)
{
	struct client *c = dial(v);
	char token[64], wanted[64];

	snprintf(token, sizeof token, ",\"progressToken\":\"p%d\"", seed);
	snprintf(wanted, sizeof wanted, "\"progressToken\":\"p%d\"", seed);
	modern_call(c, "steps", "{\"n\":20}", token);
	read_answer(c, a);
	must(a->status == 200 && a->whole && strstr(a->body, "\"steps=20\""));
	must(count_of(a->body, "notifications/progress") == count_of(a->body, wanted));
	must(count_of(a->body, wanted) > 0);
	must(!strstr(strstr(a->body, "\"steps=20\""), "notifications/progress"));
	hang_up(c);
}

/* A session is known on whatever thread its messages come in. */
static void a_session_on_many_connections(struct site *v, struct answer *a, int seed)
{
	char session[64], message[256], wanted[64];

	session_begin(v, session, a);
	for (int i = 0; i < 4; i++) {
		snprintf(message, sizeof message, CALL("%d", "add", "{\"a\":%d,\"b\":%d}"), i, seed,
			 i);
		snprintf(wanted, sizeof wanted, "\"sum=%d\"", seed + i);
		must(session_say(v, session, message, a) == 200);
		must(a->whole && strstr(a->body, wanted));
	}
	must(session_end(v, session, a) == 204);
	must(session_say(v, session, REQUEST("9", "ping", ""), a) == 404);
}

/* streamable-http, Cancellation: closing the connection cancels the request. */
static void a_call_that_is_left(struct site *v)
{
	int ticket = atomic_fetch_add(&v->tickets, 1);
	struct client *c = dial(v);
	char args[64];

	snprintf(args, sizeof args, "{\"ticket\":%d}", ticket);
	modern_call(c, "hang", args, "");
	await(atomic_load(&v->hangs[ticket]));
	hang_up(c);
}

static void a_refusal(struct site *v, struct answer *a)
{
	struct client *c = dial(v);

	put(c, "POST /mcp HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 2\r\n\r\n{}");
	read_answer(c, a);
	must(a->status == 403);
	put(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
	read_answer(c, a);
	must(a->status == 200 && strcmp(a->body, "ok\n") == 0);
	hang_up(c);
}

static void *client_of_everything(void *arg)
{
	struct answer *a = malloc(sizeof *a);
	struct site *v = arg;

	must(a);
	for (int i = 0; i < ROUNDS; i++) {
		calls_on_a_connection(v, a, i * 1000);
		progress_on_a_stream(v, a, i);
		a_session_on_many_connections(v, a, i * 100);
		a_call_that_is_left(v);
		a_refusal(v, a);
	}
	free(a);
	return NULL;
}

static void serve_everybody(const char *address)
{
	pthread_t clients[CLIENTS];
	static struct site v;

	site_open(&v, address, (cleat_http_options){ 0 });
	for (int i = 0; i < CLIENTS; i++)
		must(pthread_create(&clients[i], NULL, client_of_everything, &v) == 0);
	for (int i = 0; i < CLIENTS; i++)
		pthread_join(clients[i], NULL);
	assert_int_equal(atomic_load(&v.tickets), CLIENTS * ROUNDS);
	await(atomic_load(&v.cancelled) == CLIENTS * ROUNDS);
	site_stop(&v);
}

TEST(many_clients_of_both_eras)
{
	serve_everybody(NULL);
}

/* A unix socket has one queue, which all threads take from; its file goes with the server. */
TEST(many_clients_on_a_unix_socket)
{
	char address[128];

	snprintf(address, sizeof address, "unix:%s", scratch_path("socket"));
	serve_everybody(address);
	assert_int_equal(access(address + 5, F_OK), -1);
}

/* ---- streams that listen ------------------------------------------------------------------ */

enum { LISTENERS = 12 };

static void listen_modern(struct client *c)
{
	modern_send(c, "subscriptions/listen", NULL,
		    "\"notifications\":{\"toolsListChanged\":true}", "");
	must(await_text(c, "notifications/subscriptions/acknowledged"));
}

static void listen_legacy(struct client *c, const char *session)
{
	char text[256];

	snprintf(text, sizeof text,
		 "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
		 "Mcp-Session-Id: %s\r\nMCP-Protocol-Version: 2025-11-25\r\n\r\n",
		 session);
	put(c, text);
	must(await_text(c, "\r\n\r\n"));
}

static void toggle_tool(cleat_server *s, void *arg)
{
	static const cleat_tool extra = { .signature = "extra()", .call = add_call };

	(void)arg;
	if (cleat_server_remove_tool(s, "extra"))
		cleat_server_add_tool(s, &extra);
}

TEST(listeners_on_all_threads_are_told)
{
	struct answer *a = malloc(sizeof *a);
	struct client *c[2 * LISTENERS];
	static struct site v;
	char session[64];

	site_open(&v, NULL, (cleat_http_options){ 0 });
	for (int i = 0; i < LISTENERS; i++) {
		session_begin(&v, session, a);
		c[2 * i] = dial(&v);
		listen_modern(c[2 * i]);
		c[2 * i + 1] = dial(&v);
		listen_legacy(c[2 * i + 1], session);
	}
	for (int round = 0; round < 3; round++) {
		assert_int_equal(cleat_server_post(v.s, toggle_tool, NULL), CLEAT_OK);
		for (int i = round; i < 2 * LISTENERS; i++)
			must(await_text(c[i], "notifications/tools/list_changed"));
		hang_up(c[round]); /* the others do not notice */
	}
	/* "the server is stopping": streams that only listen end. */
	cleat_server_stop(v.s);
	for (int i = 3; i < 2 * LISTENERS; i++) {
		must(await_text(c[i], "0\r\n\r\n"));
		hang_up(c[i]);
	}
	free(a);
	site_stop(&v);
}

/* ---- limits ------------------------------------------------------------------------------- */

/* One limit for all threads together, however the system shares the connections out. */
TEST(connections_are_counted_together)
{
	enum { MAX = 5 };
	struct answer *a = malloc(sizeof *a);
	struct client *c[MAX], *d;
	static struct site v;

	site_open(&v, NULL, (cleat_http_options){ .max_connections = MAX });
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < MAX; i++) {
			/* The end of one of the last round may not have been seen yet. */
			do {
				c[i] = dial(&v);
				modern_call(c[i], "add", "{\"a\":1,\"b\":1}", "");
				read_answer(c[i], a);
				must(a->status == 200 || a->status == 503);
				if (a->status == 503)
					hang_up(c[i]);
			} while (a->status == 503);
		}
		d = dial(&v);
		put(d, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
		read_answer(d, a);
		assert_int_equal(a->status, 503);
		hang_up(d);
		for (int i = 0; i < MAX; i++)
			hang_up(c[i]);
	}
	free(a);
	site_stop(&v);
}

/* <cleat/http.h>: 0 and 1 are the server's own thread alone. */
TEST(threads_are_started_as_asked_for)
{
	static const unsigned wanted[] = { 0, 1, 2, 4, 16 };
	static struct site v;

	for (size_t i = 0; i < CLEAT_COUNT(wanted); i++) {
		unsigned n = wanted[i] > 1 ? wanted[i] : 0;

		assert_int_equal(site_try(&v, NULL, (cleat_http_options){ .threads = wanted[i] }),
				 CLEAT_OK);
		assert_int_equal(count_in("/proc/self/task"), v.tasks + n);
		site_free(&v); /* it never ran */
	}
	assert_int_equal(site_try(&v, NULL, (cleat_http_options){ .threads = 257 }), CLEAT_EINVAL);
	assert_has(cleat_server_error(v.s)->message, "257 threads are too many");
	site_free(&v);
}

/* A second program does not get a share of the connections. */
TEST(an_address_is_taken_once)
{
	static struct site v, other;
	char address[64];

	site_open(&v, NULL, (cleat_http_options){ 0 });
	snprintf(address, sizeof address, "127.0.0.1:%d", v.port);
	assert_int_equal(site_try(&other, address, (cleat_http_options){ .threads = 2 }),
			 CLEAT_EIO);
	assert_has(cleat_server_error(other.s)->message, "already in use");
	site_free(&other);
	site_stop(&v);
}

/* ---- who may pass ------------------------------------------------------------------------- */

static void reload(cleat_server *s, void *arg)
{
	cleat_server_reload_http(s);
	atomic_fetch_add((atomic_int *)arg, 1);
}

#define POST_WITH(token, length)                                                                   \
	"POST /mcp HTTP/1.1\r\nHost: localhost\r\n" token                                          \
	"Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"        \
	"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\nContent-Length: " length    \
	"\r\n\r\n"

static int status_of(struct site *v, struct answer *a, const char *request)
{
	struct client *c = dial(v);

	put(c, request);
	read_answer(c, a);
	hang_up(c);
	return a->status;
}

static int verify(void *userdata, const char *token, char *name)
{
	atomic_fetch_add((atomic_int *)userdata, 1);
	strcpy(name, "somebody");
	return strcmp(token, "the-only-good-one") == 0 ? CLEAT_OK : CLEAT_ENOENT;
}

/* Whoever has no token is refused before his body is read, whichever thread it is; tokens can be read
 * again while others are looked up. */
TEST(tokens_are_checked_on_every_thread)
{
	static const char empty[] = POST_WITH("Authorization: Bearer 0123456789abcdef\r\n", "0");
	struct answer *a = malloc(sizeof *a);
	const char *path = scratch_path("tokens");
	atomic_int reloads = 0, asked = 0;
	static struct site v;

	scratch_put("tokens", "alice 0123456789abcdef\n");
	site_open(&v, NULL, (cleat_http_options){ .token_file = path });
	scratch_put("tokens", "alice 0123456789abcdef\nbob fedcba9876543210\n");
	for (int i = 0; i < 20; i++) {
		assert_int_equal(status_of(&v, a, POST_WITH("", "1000000")), 401);
		assert_int_equal(status_of(&v, a,
					   POST_WITH("Authorization: Bearer wrong-wrong-wrong\r\n",
						     "1000000")),
				 401);
		assert_int_equal(status_of(&v, a, empty), 400); /* the body is not JSON */
		assert_int_equal(cleat_server_post(v.s, reload, &reloads), CLEAT_OK);
	}
	await(atomic_load(&reloads) == 20);
	assert_int_equal(
		status_of(&v, a, POST_WITH("Authorization: Bearer fedcba9876543210\r\n", "0")),
		400);
	site_stop(&v);
	/* A function of the program's is asked on its own thread alone. */
	site_open(&v, NULL, (cleat_http_options){ .verify = verify, .userdata = &asked });
	assert_int_equal(status_of(&v, a, POST_WITH("", "1000000")), 401);
	assert_int_equal(status_of(&v, a, POST_WITH("X-Api-Key: a-bad-one\r\n", "0")), 401);
	assert_int_equal(status_of(&v, a, POST_WITH("X-Api-Key: the-only-good-one\r\n", "0")), 400);
	assert_int_equal(asked, 2); /* once about each that has a token */
	site_stop(&v);
	free(a);
}

static void revoke_name(cleat_server *s, void *arg)
{
	cleat_server_revoke_http(s, arg);
}

/* <cleat/http.h>: "everything that is open in this name ends". */
TEST(a_program_revokes_a_name)
{
	atomic_int asked = 0;
	static struct site v;
	struct client *c;

	site_open(&v, NULL, (cleat_http_options){ .verify = verify, .userdata = &asked });
	c = dial(&v);
	put(c, "GET /sse HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: the-only-good-one\r\n"
	       "Accept: text/event-stream\r\n\r\n");
	must(await_text(c, "endpoint"));
	cleat_server_post(v.s, revoke_name, NULL);
	cleat_server_post(v.s, revoke_name, "nobody");
	cleat_server_post(v.s, revoke_name, "somebody");
	must(await_text(c, "0\r\n\r\n")); /* the end of the stream */
	hang_up(c);
	site_stop(&v);
}

/* ---- records ------------------------------------------------------------------------------ */

static size_t count_lines(const char *path, const char *part)
{
	char line[4200];
	FILE *f = fopen(path, "r");
	size_t n = 0;

	must(f);
	while (fgets(line, sizeof line, f)) {
		must(line[0] == '{' && strstr(line, "}\n"));
		n += strstr(line, part) != NULL;
	}
	fclose(f);
	return n;
}

/* One line for each request, whole, whoever answered it. */
TEST(every_request_is_logged_once)
{
	enum { N = 25 };
	struct answer *a = malloc(sizeof *a);
	const char *path = scratch_path("log");
	static struct site v;
	int fd;

	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
	must(fd >= 0);
	site_open(&v, NULL, (cleat_http_options){ .access_log = fd });
	for (int i = 0; i < N; i++) {
		calls_on_a_connection(&v, a, i);
		progress_on_a_stream(&v, a, i);
		a_call_that_is_left(&v);
		a_refusal(&v, a);
	}
	site_stop(&v);
	close(fd);
	assert_int_equal(count_lines(path, "\"rpc\":\"tools/call\""), N * (6 + 1 + 1));
	assert_int_equal(count_lines(path, "\"status\":403"), N);
	assert_int_equal(count_lines(path, "\"path\":\"/healthz\",\"status\":200"), N);
	assert_int_equal(count_lines(path, "\"status\":0"), N);
	assert_int_equal(count_lines(path, ""), N * 10);
	free(a);
}

static int metric(struct site *v, int port, const char *name)
{
	struct site scraped = { .port = port };
	struct answer *a = malloc(sizeof *a);
	char line[128];
	const char *at;
	int value;

	(void)v;
	must(a);
	must(status_of(&scraped, a, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n") == 200);
	snprintf(line, sizeof line, "\n%s ", name);
	at = strstr(a->body, line);
	must(at);
	value = atoi(at + strlen(line));
	free(a);
	return value;
}

/* The numbers of all threads are added up. */
TEST(numbers_are_added_up)
{
	enum { N = 20 };
	struct answer *a = malloc(sizeof *a);
	struct client *c[N];
	static struct site v, probe;
	char address[64];
	int port;

	assert_int_equal(site_try(&probe, NULL, (cleat_http_options){ 0 }), CLEAT_OK);
	port = probe.port; /* that is free in a moment */
	site_free(&probe);
	snprintf(address, sizeof address, "127.0.0.1:%d", port);
	site_open(&v, NULL, (cleat_http_options){ .metrics = address });
	for (int i = 0; i < N; i++) {
		c[i] = dial(&v);
		modern_call(c[i], "add", "{\"a\":1,\"b\":1}", "");
		read_answer(c[i], a);
		assert_int_equal(a->status, 200);
	}
	await(metric(&v, port, "cleat_connections") == N);
	assert_int_equal(metric(&v, port, "cleat_connections_accepted_total"), N);
	for (int i = 0; i < N; i++)
		hang_up(c[i]);
	await(metric(&v, port, "cleat_connections") == 0);
	assert_int_equal(metric(&v, port, "cleat_http_requests_total{code=\"2xx\"}"), N);
	assert_int_equal(metric(&v, port, "cleat_queued_bytes"), 0);
	site_stop(&v);
	free(a);
}

/* ---- the end ------------------------------------------------------------------------------ */

static atomic_bool enough;
static atomic_int answers;

/* Calls until there is nobody to call any more. An answer that begins is whole. */
static void *insistent_client(void *arg)
{
	struct answer *a = malloc(sizeof *a);
	struct site *v = arg;
	struct client *c = NULL;

	must(a);
	while (!atomic_load(&enough)) {
		if (!c)
			c = try_dial(v);
		if (!c)
			continue;
		modern_call(c, "add", "{\"a\":20,\"b\":22}", "");
		read_answer(c, a);
		must(a->status == 0 || a->whole);
		must(a->status == 0 || a->status == 503 || strstr(a->body, "\"sum=42\""));
		atomic_fetch_add(&answers, a->status == 200);
		if (a->status == 0 || c->eof) {
			hang_up(c);
			c = NULL;
		}
	}
	if (c)
		hang_up(c);
	free(a);
	return NULL;
}

static bool is_listening(struct site *v)
{
	struct client *c = try_dial(v);

	if (c)
		hang_up(c);
	return c != NULL;
}

/* Stopped in the middle of it: those that run may finish, and nothing is left behind. */
TEST(stopped_under_load)
{
	pthread_t clients[CLIENTS];
	static struct site v;

	for (int round = 0; round < 6; round++) {
		struct answer *a = malloc(sizeof *a);
		struct client *c;

		atomic_store(&enough, false);
		atomic_store(&answers, 0);
		site_open(&v, NULL, (cleat_http_options){ 0 });
		for (int i = 0; i < CLIENTS; i++)
			must(pthread_create(&clients[i], NULL, insistent_client, &v) == 0);
		c = dial(&v);
		modern_call(c, "gated", "{}", "");
		await(atomic_load(&v.begun) == 1 && atomic_load(&answers) >= 50);
		cleat_server_stop(v.s);
		/* Connections without a call end; the call goes on. */
		await(!is_listening(&v));
		must(write(v.gate[1], "g", 1) == 1);
		read_answer(c, a);
		must(a->status == 200 && a->whole && strstr(a->body, "let through"));
		hang_up(c);
		atomic_store(&enough, true);
		for (int i = 0; i < CLIENTS; i++)
			pthread_join(clients[i], NULL);
		site_stop(&v);
		free(a);
	}
}

/* Whoever does not come to an end is cancelled after a grace, and then cut off. */
TEST(cut_off_after_the_grace)
{
	static struct site v;

	for (int round = 0; round < 6; round++) {
		struct client *c[4];

		must(site_try(&v, NULL, (cleat_http_options){ .threads = THREADS }) == CLEAT_OK);
		((struct runner *)server_runner(v.s))->grace_ms = 1;
		site_start(&v);
		for (size_t i = 0; i < CLEAT_COUNT(c); i++)
			c[i] = dial(&v);
		put(c[0], "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{");
		modern_call(c[1], "hang", "{\"ticket\":0}", "");
		modern_call(c[2], "large", "{\"n\":12000000}", ""); /* nobody reads it */
		listen_modern(c[3]);
		await(atomic_load(&v.hangs[0]));
		cleat_server_stop(v.s);
		pthread_join(v.thread, NULL);
		must(v.rc == CLEAT_OK);
		await(atomic_load(&v.cancelled) == 1); /* by a worker, perhaps a moment later */
		while (more(c[0]))                     /* or 408 */
			;
		for (size_t i = 0; i < CLEAT_COUNT(c); i++)
			hang_up(c[i]);
		site_free(&v);
	}
}

/* Freed without having been stopped, in the middle of everything. */
TEST(freed_under_load)
{
	pthread_t clients[CLIENTS];
	static struct site v;

	for (int round = 0; round < 6; round++) {
		struct client *c[6];
		struct answer *a = malloc(sizeof *a);
		cleat_loop *l;

		atomic_store(&enough, false);
		atomic_store(&answers, 0);
		must(site_try(&v, NULL, (cleat_http_options){ .threads = THREADS }) == CLEAT_OK);
		l = cleat_server_loop(v.s);
		for (int i = 0; i < CLIENTS; i++)
			must(pthread_create(&clients[i], NULL, insistent_client, &v) == 0);
		for (size_t i = 0; i < CLEAT_COUNT(c); i++)
			c[i] = dial(&v);
		modern_call(c[0], "hang", "{\"ticket\":0}", "");
		modern_send(c[1], "subscriptions/listen", NULL,
			    "\"notifications\":{\"toolsListChanged\":true}", "");
		modern_call(c[2], "add", "{\"a\":1,\"b\":1}", "");
		post(c[3], "", "{\"half a ");
		put(c[4], "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Le");
		while (!atomic_load(&v.hangs[0]) || atomic_load(&answers) < 50)
			must(cleat_loop_step(l, 10) == CLEAT_OK);
		cleat_server_free(v.s);
		v.s = NULL;
		atomic_store(&enough, true);
		must(atomic_load(&v.cancelled) == 1);
		for (size_t i = 0; i < CLEAT_COUNT(c); i++) {
			read_answer(c[i], a); /* whatever there was, and then the end */
			while (more(c[i]))
				drop_front(c[i], c[i]->n);
			hang_up(c[i]);
		}
		for (int i = 0; i < CLIENTS; i++)
			pthread_join(clients[i], NULL);
		free(a);
		site_free(&v);
	}
}

/* ---- no memory ---------------------------------------------------------------------------- */

/* Every answer is an answer or an end, and afterwards everything works again. */
static void provoke(struct site *v, struct answer *a)
{
	struct client *c = dial(v);

	modern_call(c, "add", "{\"a\":20,\"b\":22}", "");
	read_answer(c, a);
	modern_call(c, "steps", "{\"n\":3}", ",\"progressToken\":1");
	read_answer(c, a);
	hang_up(c);
	session_say(v, "",
		    REQUEST("0", "initialize",
			    "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{}"),
		    a);
	if (a->status == 200 && a->session[0]) {
		char session[64];

		memcpy(session, a->session, sizeof session);
		session_say(v, session, CALL("1", "add", "{\"a\":1,\"b\":2}"), a);
		session_end(v, session, a);
	}
}

TEST(no_memory_on_any_thread)
{
	struct answer *a = malloc(sizeof *a);
	static struct site v;

	site_open(&v, NULL, (cleat_http_options){ 0 });
	for (long n = 1; n < 400; n += 1 + n / 40) {
		atomic_store(&v.mem.forever, false);
		atomic_store(&v.mem.countdown, n);
		provoke(&v, a);
		atomic_store(&v.mem.countdown, 0);
		calls_on_a_connection(&v, a, (int)n);
	}
	must(atomic_load(&v.mem.failures) > 20);
	for (int i = 0; i < 20; i++) { /* nothing at all for a while */
		atomic_store(&v.mem.forever, true);
		provoke(&v, a);
		atomic_store(&v.mem.forever, false);
		calls_on_a_connection(&v, a, i);
	}
	site_stop(&v);
	free(a);
}

TEST(no_memory_to_begin_with)
{
	struct site v;
	bool done = false;

	for (long n = 1; !done; n += 1 + n / 20) {
		cleat_http_options o = { .threads = THREADS };
		int rc;

		must(site_try(&v, NULL, (cleat_http_options){ .threads = 1 }) == CLEAT_OK);
		atomic_store(&v.mem.countdown, n);
		rc = cleat_server_listen_http(v.s, "127.0.0.1:0", &o);
		done = atomic_load(&v.mem.countdown) > 0;
		atomic_store(&v.mem.countdown, 0);
		must(rc == CLEAT_OK || rc == CLEAT_ENOMEM);
		must(!done || rc == CLEAT_OK);
		site_free(&v);
	}
}

TEST_GROUP(scratch_begin, scratch_end)
