/* test_fetcher_failures.c - transport/http_client when things go wrong: servers that break off, say
 * nothing, too much or rubbish, or are not there. Every fetch ends exactly once (see fetcher_rig.h).
 */
#include "test.h"
#include "unit/fetch/fetcher_rig.h"

/* ---- broken off -------------------------------------------------------------------------------- */

RIG_TEST(answer_that_breaks_off_anywhere_is_a_failure)
{
	/* (The very last byte of CHUNKED says nothing new.) */
	static const struct str answers[] = { { OK_HELLO, sizeof(OK_HELLO) - 1 },
					      { CHUNKED, sizeof(CHUNKED) - 2 },
					      { "HTTP/1.1 100 Continue\r\n\r\n" OK_HELLO,
						sizeof(OK_HELLO) + 24 } };

	for (size_t i = 0; i < CLEAT_COUNT(answers); i++)
		for (size_t cut = 1; cut < answers[i].n; cut++)
			for (int k = 0; k < 4; k++) {
				struct got *g;

				r->o.answer = answers[i];
				r->o.cut = cut;
				r->o.after = k % 2 ? RESET : CLOSE;
				g = k < 2 ? do_get(r, "/") : do_post(r, "/", STR_LIT("{}"));
				if (g->ok)
					fail_msg("%zu bytes of %zu are taken for all", cut, i);
				assert_false(g->why.unsent);
				assert_true(g->why.step == CLEAT_STEP_EXCHANGE ||
					    g->why.step == CLEAT_STEP_PROTOCOL);
				assert_non_null(strstr(g->why.error.message, "127.0.0.1:"));
				free(g);
			}
	web_alive(r);
}

static void close_now(struct origin *o, struct line *c)
{
	line_close(c, o->after == RESET);
}

RIG_TEST(connection_that_closes_without_an_answer_is_a_failure)
{
	r->o.script = close_now;
	got_failure(do_post(r, "/", STR_LIT("{}")), CLEAT_STEP_EXCHANGE, CLEAT_EIO,
		    "the connection was closed before any answer");
	assert_int_equal(r->o.requests, 1);
	r->o.after = RESET;
	got_failure(do_post(r, "/", STR_LIT("{}")), CLEAT_STEP_EXCHANGE, CLEAT_EIO, "reset");
	assert_int_equal(r->o.requests, 2);
	web_alive(r);
}

static bool with_reset;

static void close_on_second(struct origin *o, struct line *c)
{
	if (o->requests == 2)
		line_close(c, with_reset);
	else
		line_answer(c, STR_LIT(OK_HELLO));
}

/* RFC 9110, 9.2.2: what the server may have acted on is not sent again by itself, unless it may be. */
TEST(post_that_may_have_arrived_is_not_sent_twice)
{
	struct rig r;
	struct got *g;

	for (int reset = 0; reset < 2; reset++) {
		web_open(&r, (struct fetcher_options){ 0 });
		r.o.script = close_on_second;
		with_reset = reset;
		got_ok(do_post(&r, "/", STR_LIT("{}")), 200, "hello");
		g = do_post(&r, "/", STR_LIT("{}"));
		assert_false(g->why.unsent);
		got_failure(g, CLEAT_STEP_EXCHANGE, CLEAT_EIO, "may have acted");
		assert_int_equal(r.o.requests, 2);
		web_alive(&r);
		web_close(&r);
	}
}

RIG_TEST(get_that_may_be_repeated_is)
{
	with_reset = false;
	r->o.script = close_on_second;
	got_ok(do_get(r, "/"), 200, "hello");
	got_ok(do_get(r, "/"), 200, "hello");
	assert_int_equal(r->o.requests, 3);
}

/* ---- not reached ------------------------------------------------------------------------------- */

RIG_TEST(refused_connection_names_place_and_remedy)
{
	struct got *g;

	g = get_url(r, "http://127.0.0.1:1/secret?secret", (struct str){ 0 });
	assert_int_equal(g->why.error.os_errno, ECONNREFUSED);
	assert_true(g->why.unsent);
	assert_null(strstr(g->why.error.message, "secret"));
	got_failure(g, CLEAT_STEP_CONNECT, CLEAT_EIO,
		    "connecting to 127.0.0.1:1: Connection refused: is the server running?");
	/* The handle is used again: what it remembers of the last failure must not come back. */
	g = get_url(r, "https://[::1]:1/", (struct str){ 0 });
	assert_int_equal(g->why.error.os_errno, ECONNREFUSED);
	got_failure(g, CLEAT_STEP_CONNECT, CLEAT_EIO, "connecting to [::1]:1: ");
	r->o.script = close_now;
	g = do_get(r, "/");
	assert_int_equal(g->why.error.os_errno, 0);
	got_failure(g, CLEAT_STEP_EXCHANGE, CLEAT_EIO, "");
}

/* RFC 6761: .invalid never resolves. */
RIG_TEST_WITH(unknown_name_is_a_failure_of_dns, .connect_ms = 20000)
{
	struct got *g;

	g = get_url(r, "http://nosuch.invalid:8080/", (struct str){ 0 });
	assert_true(g->why.unsent);
	got_failure(g, CLEAT_STEP_DNS, CLEAT_EIO, "resolving nosuch.invalid: name not known");
}

RIG_TEST(fetch_can_be_cancelled_while_its_name_is_resolved)
{
	for (int i = 0; i < 10; i++) {
		struct got *g = START(r, .url = "http://nosuch.invalid/");

		cleat_loop_step(r->l, 0);
		if (!g->ends)
			fetch_cancel(g->f);
		free(g);
	}
	web_alive(r);
}

/* A listening socket whose queue is full lets the rest wait for ever. */
TEST(connecting_has_a_time_limit)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	socklen_t n = sizeof in;
	int ear = socket(AF_INET, SOCK_STREAM, 0), full[8];
	char url[64];
	struct rig r;
	struct got *g;

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(ear, (struct sockaddr *)&in, sizeof in), 0);
	assert_int_equal(listen(ear, 0), 0);
	assert_int_equal(getsockname(ear, (struct sockaddr *)&in, &n), 0);
	for (size_t i = 0; i < CLEAT_COUNT(full); i++) {
		full[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		(void)connect(full[i], (struct sockaddr *)&in, sizeof in);
	}
	web_open(&r, (struct fetcher_options){ .connect_ms = 50 });
	snprintf(url, sizeof url, "http://127.0.0.1:%u/", ntohs(in.sin_port));
	g = get_url(&r, url, (struct str){ 0 });
	assert_true(g->why.unsent);
	got_failure(g, CLEAT_STEP_CONNECT, CLEAT_ETIMEOUT, "no answer for 50 ms");
	web_close(&r);
	for (size_t i = 0; i < CLEAT_COUNT(full); i++)
		close(full[i]);
	close(ear);
}

/* ---- silence ----------------------------------------------------------------------------------- */

RIG_TEST(server_that_says_nothing_more_is_given_up)
{
	static const char answer[] = OK_HELLO;
	/* nothing; in the status line; in the header; before the body; in the body */
	static const size_t cuts[] = { 0, 5, 30, sizeof answer - 6, sizeof answer - 3 };

	for (size_t i = 0; i < CLEAT_COUNT(cuts); i++) {
		struct got *g;

		r->o.answer = STR_LIT(OK_HELLO);
		r->o.silent = cuts[i] == 0;
		r->o.cut = cuts[i];
		g = wait_end(START(r, .method = "POST", .idle_ms = 30));
		assert_false(g->why.unsent);
		assert_int_equal(g->heads, i >= 3);
		assert_int_equal(g->why.http_status, i >= 3 ? 200 : 0);
		got_failure(g, CLEAT_STEP_TIMEOUT, CLEAT_ETIMEOUT, "no byte for 30 ms");
		WAIT_FOR(r, origin_connections(&r->o) == 0); /* and is closed */
	}
	web_alive(r);
}

static struct loop_timer *drip;
static struct line *drips_on;
static int drops;

static void on_drip(void *ctx)
{
	(void)ctx;
	assert_int_equal(send(drips_on->fd, "x", 1, MSG_NOSIGNAL), 1);
	if (--drops)
		loop_timer_start(drip, 100);
}

static void drip_script(struct origin *o, struct line *c)
{
	(void)o;
	drips_on = c;
	drops = 5;
	line_answer(c, STR_LIT("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"));
	loop_timer_start(drip, 100);
}

/* Every byte counts: 500 ms altogether, with a limit of 400 between two. */
RIG_TEST(slow_answer_is_waited_for_as_long_as_something_comes)
{
	drip = loop_timer_new(r->l, on_drip, NULL);
	r->o.script = drip_script;
	got_ok(wait_end(START(r, .idle_ms = 400)), 200, "xxxxx");
	loop_timer_free(drip);
}

/* What leaves is life, too: some 30 times 20 ms, with a limit of 300. (A unix socket, because those of TCP
 * swallow megabytes.) */
RIG_TEST_PLAIN(large_body_may_take_longer_than_the_limit)
{
	size_t n = 7 << 20;
	char *body = calloc(1, n), path[64];
	struct fetch_options o = { .method = "POST", .body = { body, n }, .idle_ms = 300 };

	assert_non_null(body);
	snprintf(path, sizeof path, "/tmp/cleat-client-%ld.sock", (long)getpid());
	web_open(r, (struct fetcher_options){ .unix_socket = path });
	r->o.slow = true;
	r->o.answer = STR_LIT(OK_HELLO);
	got_ok(wait_end(web_start(r, o, NULL)), 200, "hello");
	assert_true(r->o.request_n > n);
	/* And when nothing follows, that is noticed. */
	r->o.slow = false;
	o.idle_ms = 100;
	r->o.silent = true;
	got_failure(wait_end(web_start(r, o, NULL)), CLEAT_STEP_TIMEOUT, CLEAT_ETIMEOUT,
		    "no byte for 100 ms");
	free(body);
}

/* ---- too much ---------------------------------------------------------------------------------- */

RIG_TEST_PLAIN(endless_answer_is_stopped_at_the_limit)
{
	static char chunk[6 + 65536 + 2];
	static const struct {
		const char *head;
		size_t from, n;
	} cases[] = {
		{ "HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n", 7, 65000 },
		{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", 0, sizeof chunk },
		{ "HTTP/1.1 200 OK\r\n\r\n", 7, 65000 },
	};

	memset(chunk, 'x', sizeof chunk);
	memcpy(chunk, "ffff\r\n", 6);
	memcpy(chunk + 6 + 65535, "\r\n", 2);
	web_open(r, (struct fetcher_options){ 0 });
	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		const uint64_t most = 1 << 20;
		struct got *g;

		r->o.answer = str_of(cases[i].head);
		r->o.pump = (struct str){ chunk + cases[i].from,
					  cases[i].from ? cases[i].n : cases[i].n - 1 };
		g = wait_end(START(r, .max_body = most));
		assert_true(g->n <= most);
		assert_true(g->n > most / 2);
		got_failure(g, CLEAT_STEP_PROTOCOL, CLEAT_ELIMIT, "more than 1048576 bytes");
		WAIT_FOR(r, origin_connections(&r->o) == 0);
	}
	assert_true(r->fa.peak < 300000);
	web_alive(r);
}

RIG_TEST(body_of_exactly_the_limit_is_not_too_much)
{
	r->o.answer = STR_LIT(OK_HELLO);
	for (size_t max = 4; max <= 5; max++) {
		struct got *g = wait_end(START(r, .max_body = max));

		if (max == 5)
			got_ok(g, 200, "hello");
		else
			got_failure(g, CLEAT_STEP_PROTOCOL, CLEAT_ELIMIT, "more than 4 bytes");
	}
}

RIG_TEST(endless_header_is_stopped)
{
	static const struct {
		const char *head, *pump;
	} cases[] = {
		{ "HTTP/1.1 200 OK\r\n", "X: y\r\n" },
		{ "HTTP/1.1 200 OK\r\nX: ",
		  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" },
		{ "HTTP/1.1 200 OK\r\nX: y\r\n", " folded and folded and folded and folded\r\n" },
		{ "", "HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n" },
		{ "", "HTTP/1.1 100 Continue\r\n\r\n" },
		{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "Trailer: x\r\n" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct got *g;
		char pump[65536];
		size_t n = strlen(cases[i].pump), all = 0;

		for (; all + n <= sizeof pump; all += n)
			memcpy(pump + all, cases[i].pump, n);
		r->o.pump = (struct str){ pump, all };
		r->o.answer = str_of(cases[i].head);
		if (!r->o.answer.n)
			r->o.answer = r->o.pump;
		g = do_get(r, "/");
		assert_int_equal(g->why.step, CLEAT_STEP_PROTOCOL);
		got_failure(g, CLEAT_STEP_PROTOCOL, g->why.error.status, "127.0.0.1");
		WAIT_FOR(r, origin_connections(&r->o) == 0);
		r->o.pump = (struct str){ 0 };
	}
	assert_true(r->fa.peak < 400000);
	web_alive(r);
}

RIG_TEST_PLAIN(header_of_the_allowed_size_is_taken)
{
	char *z = calloc(1, 100000);

	assert_non_null(z);
	web_open(r, (struct fetcher_options){ 0 });
	for (int lines = 199; lines <= 201; lines += 2) {
		int n = sprintf(z, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n");
		struct got *g;

		for (int i = 1; i < lines; i++)
			n += sprintf(z + n, "X-%d: y\r\n", i);
		sprintf(z + n, "\r\n");
		r->o.answer = str_of(z);
		g = do_get(r, "/");
		if (lines == 199)
			got_ok(g, 200, "");
		else
			got_failure(g, CLEAT_STEP_PROTOCOL, CLEAT_ELIMIT, "200 lines");
	}
	free(z);
}

/* ---- rubbish ----------------------------------------------------------------------------------- */

RIG_TEST(rubbish_is_a_failure_of_protocol)
{
	static const struct {
		const char *bytes, *words;
	} cases[] = {
		{ "SSH-2.0-OpenSSH_9.2\r\n", "HTTP" },
		{ "hello, I am no web server at all\n", "HTTP" },
		{ "\x15\x03\x01\x02\x02 alert", "HTTP" },
		{ "{\"jsonrpc\":\"2.0\"}\n", "HTTP" },
		{ "HTTP/1.1 2000 OK\r\n\r\n", "" },
		{ "HTTP/1.1 abc\r\n\r\n", "" },
		{ "HTTP/1.1 20\r\n\r\n", "" },
		{ "HTTP/1.1 099 X\r\n\r\n", "" },
		{ "HTTP/1.1 200\tOK\r\n\r\n", "" },
		{ "HTTP/1.1 200 OK\r\n\rX: y\r\nContent-Length: 0\r\n\r\n", "" },
		{ "HTTP/9.9 200 OK\r\n\r\n", "" },
		{ "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", "101" },
		{ "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "" },
		{ "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "" },
		{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "" },
		{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
		  "" },
		{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxyz\r\n", "" },
		{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "" },
		{ "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx",
		  "compressed" },
	};

	for (size_t i = 0; i < 2 * CLEAT_COUNT(cases); i++) {
		struct got *g;

		r->o.answer = str_of(cases[i / 2].bytes);
		r->o.after = CLOSE;
		r->o.slice = i % 2;
		g = do_get(r, "/");
		if (g->ok || g->why.step != CLEAT_STEP_PROTOCOL)
			fail_msg("%zu: step %d: %s", i, (int)g->why.step,
				 g->ok ? "taken" : g->why.error.message);
		got_failure(g, CLEAT_STEP_PROTOCOL, CLEAT_EPROTO, cases[i / 2].words);
	}
	web_alive(r);
}
