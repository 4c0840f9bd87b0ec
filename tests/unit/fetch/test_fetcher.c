/* test_fetcher.c - transport/http_client: what is sent, how answers are read however they come,
 * connections, proxies, backpressure, the trace.
 */
#include "test.h"
#include "unit/fetch/fetcher_rig.h"

/* ---- answers ----------------------------------------------------------------------------------- */

static const struct {
	const char *name, *bytes;
	enum after after;
	int status;
	const char *body, *type;
} answers[] = {
	{ "length", OK_HELLO, KEEP, 200, "hello", "text/plain" },
	{ "empty", "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", KEEP, 202, "", "" },
	{ "no content", "HTTP/1.1 204 No Content\r\n\r\n", KEEP, 204, "", "" },
	{ "chunked",
	  "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	  "3\r\nabc\r\n10;ext=1\r\n0123456789abcdef\r\n0\r\n\r\n",
	  KEEP, 200, "abc0123456789abcdef", "text/event-stream" },
	{ "trailers",
	  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: a/b\r\n\r\n"
	  "1\r\nx\r\n0\r\nContent-Type: c/d\r\nX: y\r\n\r\n",
	  KEEP, 200, "x", "a/b" },
	{ "up to the end", "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nto the end", CLOSE,
	  200, "to the end", "text/plain" },
	{ "HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nold", CLOSE, 200, "old",
	  "text/plain" },
	{ "1xx before",
	  "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n"
	  "Content-Type: wrong/one\r\n\r\n" OK_HELLO,
	  KEEP, 200, "hello", "text/plain" },
	{ "an error is an answer",
	  "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\nContent-Type: application/json\r\n\r\n{ } ",
	  KEEP, 404, "{ } ", "application/json" },
	{ "500", "HTTP/1.1 500 Oops\r\nContent-Length: 2\r\n\r\nno", KEEP, 500, "no", "" },
	{ "401",
	  "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\nContent-Length: 0\r\n\r\n",
	  KEEP, 401, "", "" },
	{ "304 is no redirect", "HTTP/1.1 304 Not Modified\r\n\r\n", KEEP, 304, "", "" },
	{ "3xx without a place", "HTTP/1.1 302 Found\r\nContent-Length: 1\r\n\r\nx", KEEP, 302, "x",
	  "" },
	{ "bare line feeds", "HTTP/1.1 200 OK\nContent-Type: text/plain\nContent-Length: 2\n\nok",
	  KEEP, 200, "ok", "text/plain" },
	{ "last one counts",
	  "HTTP/1.1 200 OK\r\nContent-Type: a/a\r\nCONTENT-TYPE:   b/b  \r\nContent-Length: 0\r\n\r\n",
	  KEEP, 200, "", "b/b" },
	{ "a field without a name",
	  "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n: x\r\nContent-Type: a/b\r\n\r\n", KEEP, 200, "",
	  "a/b" },
	{ "folded (RFC 9112, 5.2)",
	  "HTTP/1.1 200 OK\r\nContent-Type: a/b;\r\n  charset=x\r\nContent-Length: 0\r\n\r\n", KEEP,
	  200, "", "a/b; charset=x" },
};

RIG_TEST(answers_are_read_whole_and_in_slices_of_any_size)
{
	static const size_t slices[] = { 0, 1, 2, 3, 7, 64 };

	for (size_t i = 0; i < CLEAT_COUNT(answers); i++)
		for (size_t k = 0; k < 2 * CLEAT_COUNT(slices); k++) {
			bool post = k >= CLEAT_COUNT(slices);
			struct got *g;

			r->o.answer = str_of(answers[i].bytes);
			r->o.after = answers[i].after;
			r->o.slice = slices[k % CLEAT_COUNT(slices)];
			g = post ? do_post(r, "/x", STR_LIT("{}")) : do_get(r, "/x");
			if (!g->ok)
				fail_msg("%s: %s", answers[i].name, g->why.error.message);
			assert_string_equal(g->type, answers[i].type);
			got_ok(g, answers[i].status, answers[i].body);
		}
}

RIG_TEST(header_of_an_answer_is_found_without_regard_to_case)
{
	struct got *g;

	r->o.answer = STR_LIT("HTTP/1.1 200 OK\r\nMcp-Session-Id: \t a b \t\r\nEmpty:\r\nX: 1\r\n"
			      "Content-Length: 1\r\n\r\n");
	g = start_get(r, "/");
	WAIT_FOR(r, g->heads);
	assert_true(str_eqz(fetch_field(g->f, "mcp-session-id"), "a b"));
	assert_true(str_eqz(fetch_field(g->f, "MCP-SESSION-ID"), "a b"));
	assert_non_null(fetch_field(g->f, "empty").p);
	assert_int_equal(fetch_field(g->f, "empty").n, 0);
	assert_null(fetch_field(g->f, "Mcp-Session").p);
	assert_null(fetch_field(g->f, "Mcp-Session-Idx").p);
	assert_null(fetch_field(g->f, "HTTP/1.1 200 OK").p);
	assert_int_equal(fetch_status(g->f), 200);
	fetch_cancel(g->f);
	free(g);
}

RIG_TEST(headers_of_an_answer_come_one_by_one_as_they_were_sent)
{
	static const struct {
		const char *name, *value;
	} sent[] = { { "Set-Cookie", "a=1" },
		     { "X", "" },
		     { "set-cookie", "b=2;" },
		     { "Folded", "a b" },
		     { "Content-Length", "1" } };
	const struct http_field *got;
	struct got *g;
	size_t n;

	r->o.answer = STR_LIT(
		"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
		"HTTP/1.1 200 OK\r\nSet-Cookie:  a=1 \r\nX:\r\n: nameless\r\nset-cookie: b=2;\r\n"
		"Folded: a\r\n\t b\r\nContent-Length: 1\r\n\r\n");
	g = start_get(r, "/");
	WAIT_FOR(r, g->heads);
	got = fetch_fields(g->f, &n);
	assert_int_equal(n, CLEAT_COUNT(sent));
	for (size_t i = 0; i < n; i++) {
		assert_true(str_eqz(got[i].name, sent[i].name));
		assert_true(str_eqz(got[i].value, sent[i].value));
	}
	fetch_cancel(g->f);
	free(g);
}

/* ---- requests ---------------------------------------------------------------------------------- */

static bool sent_line(const struct rig *r, const char *line)
{
	char text[256];

	snprintf(text, sizeof text, "\r\n%s\r\n", line);
	return strstr(r->o.request, text) != NULL;
}

RIG_TEST(request_is_sent_as_it_was_asked_for)
{
	const char *headers[] = { "Accept: application/json, text/event-stream",
				  "Content-Type: application/json",
				  "Empty:",
				  "Authorization: Bearer token",
				  "X-Spaces:\t  in the middle  ",
				  NULL };
	const struct fetch_options o = { .method = "POST",
					 .url = "/mcp/a%20b?q=1#fragment",
					 .body = { "{\"a\":\0 1}", 9 } };

	r->o.answer = STR_LIT(OK_HELLO);
	got_ok(wait_end(web_start(r, o, headers)), 200, "hello");
	assert_memory_equal(r->o.request, "POST /mcp/a%20b?q=1 HTTP/1.1\r\n", 30);
	assert_true(sent_line(r, "Accept: application/json, text/event-stream"));
	assert_true(sent_line(r, "Content-Type: application/json"));
	assert_true(sent_line(r, "Content-Length: 9"));
	assert_true(sent_line(r, "Empty:"));
	assert_true(sent_line(r, "Authorization: Bearer token"));
	assert_true(sent_line(r, "X-Spaces: in the middle"));
	assert_true(sent_line(r, "User-Agent: cleat/" CLEAT_VERSION));
	assert_null(strstr(r->o.request, "Expect"));
	assert_null(strstr(r->o.request, "Accept-Encoding"));
	assert_null(strstr(r->o.request, "Cookie"));
}

/* The same handles serve all methods. */
RIG_TEST(methods_alternate_and_leave_nothing_behind)
{
	r->o.answer = STR_LIT(OK_HELLO);
	for (int i = 0; i < 3; i++) {
		got_ok(do_post(r, "/p", STR_LIT("body")), 200, "hello");
		assert_memory_equal(r->o.request, "POST /p ", 8);
		assert_true(sent_line(r, "Content-Length: 4"));
		got_ok(do_get(r, "/g"), 200, "hello");
		assert_memory_equal(r->o.request, "GET /g ", 7);
		assert_null(strstr(r->o.request, "Content-"));
		got_ok(wait_end(START(r, .method = "DELETE", .url = "/d")), 200, "hello");
		assert_memory_equal(r->o.request, "DELETE /d ", 10);
		assert_null(strstr(r->o.request, "Content-"));
		got_ok(do_post(r, "/e", (struct str){ 0 }), 200, "hello");
		assert_true(sent_line(r, "Content-Length: 0"));
	}
	assert_int_equal(r->o.accepted, 1);
}

RIG_TEST_PLAIN(large_body_is_sent_without_waiting_for_permission)
{
	size_t n = 3 << 20;
	char *body = malloc(n);

	assert_non_null(body);
	memset(body, 'x', n);
	web_open(r, (struct fetcher_options){ 0 });
	r->o.answer = STR_LIT(OK_HELLO);
	got_ok(do_post(r, "/", (struct str){ body, n }), 200, "hello");
	assert_null(strstr(r->o.request, "Expect"));
	assert_true(r->o.request_n > n);
	free(body);
}

RIG_TEST(bad_requests_are_refused_without_repeating_secrets)
{
	static const struct {
		const char *url, *method, *header;
	} cases[] = {
		{ "http://h/", "POST", "X: se\r\nY: secret" },
		{ "http://h/", "POST", "X: a\nsecret" },
		{ "http://h/", "POST", "X: a\x7fsecret" },
		{ "http://h/", "POST", "X\r\nsecret: a" },
		{ "http://h/", "POST", ": secret" },
		{ "http://h/", "POST", "X Y: secret" },
		{ "http://h/", "POST", "" },
		{ "http://h/", "POST", "Content-Length: 5" },
		{ "http://h/", "POST", "transfer-encoding: chunked" },
		{ "http://h/", "POST", "Connection: close" },
		{ "http://h/", "POST", "Expect: 100-continue" },
		{ "http://h/", "PO ST", NULL },
		{ "http://h/", "", NULL },
		{ "http://h/", "GET\r\nsecret: x", NULL },
		{ "http://user:secret@h/", "GET", NULL },
		{ "http://@h/", "GET", NULL },
		{ "ftp://h/secret", "GET", NULL },
		{ "file:///etc/passwd", "GET", NULL },
		{ "h/secret", "GET", NULL },
		{ "", "GET", NULL },
		{ "http://", "GET", NULL },
		{ "http:///secret", "GET", NULL },
		{ "http://h:0/", "GET", NULL },
		{ "http://h:65536/", "GET", NULL },
		{ "http://h:99999999999999999999/", "GET", NULL },
		{ "http://h/\r\nsecret", "GET", NULL },
		{ "http://h/a b", "GET", NULL },
		{ "http://b\xc3\xbc/secret", "GET", NULL },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		const char *headers[] = { cases[i].header, NULL };
		cleat_error e = { 0 };
		struct fetch_options o = { .method = cases[i].method, .url = cases[i].url };

		set_fields(&o, headers);
		assert_null(fetch_start(r->h, &o, &e));
		assert_int_equal(e.status, CLEAT_EINVAL);
		assert_null(strstr(e.message, "secret"));
		assert_true(e.message[0] != '\0');
		assert_null(fetch_start(r->h, &o, NULL));
	}
	web_alive(r);
}

TEST(too_many_headers_and_requests_are_refused)
{
	const char *lines[300];
	char *longer = malloc(100000);
	struct fetch_options o = { .method = "GET" };
	cleat_error e = { 0 };
	struct rig r;
	size_t n = 0;

	assert_non_null(longer);
	web_open(&r, (struct fetcher_options){ 0 });
	o.url = web_url(&r, "/");
	for (size_t i = 0; i < 299; i++)
		lines[i] = "A: b";
	lines[299] = NULL;
	set_fields(&o, lines);
	assert_null(fetch_start(r.h, &o, &e));
	assert_int_equal(e.status, CLEAT_ELIMIT);
	memset(longer, 'x', 99999);
	longer[99999] = '\0';
	memcpy(longer, "A: ", 3);
	lines[0] = longer;
	lines[1] = lines[2] = NULL;
	set_fields(&o, lines);
	assert_null(fetch_start(r.h, &o, &e));
	assert_int_equal(e.status, CLEAT_ELIMIT);
	o.n_fields = 0;
	while (fetch_start(r.h, &o, &e))
		n++;
	assert_int_equal(e.status, CLEAT_ELIMIT);
	assert_true(n > 1000);
	free(longer);
	web_close(&r); /* with all of them waiting */
}

/* ---- connections ------------------------------------------------------------------------------- */

RIG_TEST(connection_is_used_again)
{
	r->o.answer = STR_LIT(OK_HELLO);
	for (int i = 0; i < 20; i++)
		got_ok(do_post(r, "/", STR_LIT("{}")), 200, "hello");
	assert_int_equal(r->o.accepted, 1);
	assert_int_equal(r->o.requests, 20);
	/* A server that says so gets a new one. */
	r->o.answer = STR_LIT("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
	got_ok(do_get(r, "/"), 200, "");
	assert_int_equal(r->o.accepted, 1);
	web_alive(r);
	assert_int_equal(r->o.accepted, 2);
}

RIG_TEST(requests_at_the_same_time_do_not_wait_for_each_other)
{
	struct got *stream, *g[8];

	r->o.answer = STR_LIT("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: hi\n\n");
	stream = start_get(r, "/stream");
	WAIT_FOR(r, stream->bodies);
	r->o.answer = STR_LIT(OK_HELLO);
	for (size_t i = 0; i < 8; i++)
		g[i] = start_post(r, "/", STR_LIT("{}"));
	for (size_t i = 0; i < 8; i++)
		got_ok(wait_end(g[i]), 200, "hello");
	assert_int_equal(r->o.accepted, 9);
	assert_int_equal(stream->ends, 0);
	fetch_cancel(stream->f);
	free(stream);
}

/* A server closes an idle connection; what follows goes over a new one, unnoticed. */
RIG_TEST(connection_that_was_closed_meanwhile_is_replaced)
{
	r->o.answer = STR_LIT(OK_HELLO);
	for (int i = 0; i < 4; i++) {
		got_ok(do_post(r, "/", STR_LIT("{}")), 200, "hello");
		for (size_t k = 0; k < ORIGIN_LINES; k++)
			if (r->o.lines[k])
				line_close(r->o.lines[k], i % 2);
		web_turn(r);
	}
	assert_int_equal(r->o.accepted, 4);
	assert_int_equal(r->o.requests, 4);
}

RIG_TEST_PLAIN(unix_socket_is_spoken_to)
{
	char path[64];

	snprintf(path, sizeof path, "/tmp/cleat-client-%ld.sock", (long)getpid());
	web_open(r, (struct fetcher_options){ .unix_socket = path });
	r->o.answer = STR_LIT(OK_HELLO);
	got_ok(do_post(r, "/x", STR_LIT("{}")), 200, "hello");
	assert_true(sent_line(r, "Host: localhost"));
	/* The URL's host is a name only. */
	got_ok(do_get(r, "/y"), 200, "hello");
	assert_int_equal(r->o.accepted, 1);
}

RIG_TEST_PLAIN(unix_socket_without_a_server_is_named)
{
	char path[64], words[128];

	snprintf(path, sizeof path, "/tmp/cleat-client-%ld.sock", (long)getpid());
	snprintf(words, sizeof words, "connecting to unix:%s: ", path);
	web_open(r, (struct fetcher_options){ .unix_socket = path });
	unlink(path);
	got_failure(do_get(r, "/x"), CLEAT_STEP_CONNECT, CLEAT_EIO, words);
}

/* ---- proxies ----------------------------------------------------------------------------------- */

/* The rig's server, as the proxy of a fetcher of its own. */
static void use_as_proxy(struct rig *r)
{
	char proxy[64];

	snprintf(proxy, sizeof proxy, "http://user:secret@127.0.0.1:%u", r->o.port);
	got_free_client(r);
	r->opts.proxy = proxy;
	r->h = fetcher_new(&r->opts, NULL);
	assert_non_null(r->h);
}

RIG_TEST(proxy_gets_plain_requests_with_the_whole_url)
{
	use_as_proxy(r);
	r->o.answer = STR_LIT(OK_HELLO);
	got_ok(get_url(r, "http://far.example/x", (struct str){ 0 }), 200, "hello");
	assert_memory_equal(r->o.request, "GET http://far.example/x HTTP/1.1\r\n", 35);
}

/* RFC 9110, 9.3.6: the proxy sees a host and a port, and none of our headers. */
RIG_TEST(proxy_is_asked_for_a_tunnel_and_sees_no_secret)
{
	const char *headers[] = { "Authorization: Bearer token", NULL };
	struct got *g;

	use_as_proxy(r);
	r->o.answer = STR_LIT("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nX: proxy's\r\n\r\n");
	g = wait_end(
		web_start(r, (struct fetch_options){ .url = "https://far.example/x" }, headers));
	assert_int_equal(g->heads, 0);
	assert_true(g->why.unsent);
	assert_null(strstr(g->why.error.message, "secret"));
	got_failure(g, CLEAT_STEP_CONNECT, CLEAT_EIO, "403");
	assert_memory_equal(r->o.request, "CONNECT far.example:443 HTTP/1.1\r\n", 34);
	assert_null(strstr(r->o.request, "token"));
}

RIG_TEST_WITH(proxy_that_is_not_there_is_named_as_such, .proxy = "http://user:secret@127.0.0.1:1")
{
	struct got *g = get_url(r, "http://far.example/x", (struct str){ 0 });

	assert_null(strstr(g->why.error.message, "secret"));
	got_failure(g, CLEAT_STEP_CONNECT, CLEAT_EIO, "proxy");
}

TEST(proxy_of_the_environment_is_not_used_for_this_machine)
{
	struct rig r;

	setenv("http_proxy", "http://127.0.0.1:1", 1);
	web_open(&r, (struct fetcher_options){ 0 });
	web_alive(&r);
	got_failure(get_url(&r, "http://far.example/", (struct str){ 0 }), CLEAT_STEP_CONNECT,
		    CLEAT_EIO, "proxy");
	web_alive(&r);
	web_close(&r);
	unsetenv("http_proxy");
}

/* ---- backpressure ------------------------------------------------------------------------------ */

static char *big_answer(size_t n, size_t *ret_n)
{
	char *z = malloc(n + 200);
	int head;

	assert_non_null(z);
	head = snprintf(z, 200, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", n);
	for (size_t i = 0; i < n; i++)
		z[(size_t)head + i] = (char)('a' + i % 23);
	*ret_n = (size_t)head + n;
	return z;
}

RIG_TEST(paused_fetch_reads_nothing_and_goes_on_where_it_was)
{
	size_t n, all = 4 << 20;
	char *z = big_answer(all, &n);
	uint64_t before;
	struct got *g;

	r->o.answer = (struct str){ z, n };
	g = start_get(r, "/big");
	g->pause_in_body = true;
	while (g->n < 200000) {
		before = g->n;
		fetch_pause(g->f, false);
		fetch_pause(g->f, false);
		WAIT_FOR(r, g->n > before);
		before = g->n;
		web_turn(r);
		assert_int_equal(g->n, before); /* not a byte while it is paused */
	}
	assert_int_equal(g->ends, 0);
	g->pause_in_body = false;
	fetch_pause(g->f, false);
	wait_end(g);
	if (!g->ok)
		fail_msg("%s", g->why.error.message);
	assert_int_equal(g->n, all);
	assert_true(g->ok);
	for (size_t i = 0; i < sizeof g->body - 1; i++)
		assert_int_equal(g->body[i], 'a' + (int)(i % 23));
	free(g);
	web_alive(r);
	free(z);
}

RIG_TEST(paused_fetch_can_be_cancelled_and_does_not_time_out)
{
	struct got *g;

	r->o.answer = STR_LIT("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello");
	g = START(r, .idle_ms = 20);
	fetch_pause(g->f, true); /* before it began */
	WAIT_FOR(r, g->heads);
	r->o.silent = true;
	got_failure(wait_end(START(r, .idle_ms = 60)), CLEAT_STEP_TIMEOUT, CLEAT_ETIMEOUT,
		    "no byte for 60 ms");
	assert_int_equal(g->ends, 0);
	assert_int_equal(g->n, 0);
	fetch_cancel(g->f);
	got_silence(g, 1);
	web_alive(r);
}

/* ---- the trace --------------------------------------------------------------------------------- */

static char traced[65536];

static void on_trace(void *ctx, bool out, const char *line)
{
	size_t n = strlen(traced);

	assert_ptr_equal(ctx, traced);
	assert_null(strpbrk(line, "\r\n"));
	snprintf(traced + n, sizeof traced - n, "%c %s\n", out ? '>' : '<', line);
}

RIG_TEST_PLAIN(trace_shows_headers_but_no_secrets)
{
	const char *headers[] = { "Authorization: Bearer secret", "X-Api-Key: secret",
				  "Content-Type: application/json", NULL };
	const struct fetch_options o = { .method = "POST",
					 .url = "/mcp?key=secret",
					 .body = { "secret", 6 } };

	traced[0] = '\0';
	web_open(r, (struct fetcher_options){ .trace = on_trace, .ctx = traced });
	r->o.answer =
		STR_LIT("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nMcp-Session-Id: secret\r\n"
			"Set-Cookie: a=secret\r\nContent-Length: 6\r\n\r\nsecret");
	got_ok(wait_end(web_start(r, o, headers)), 200, "secret");
	assert_null(strstr(traced, "secret"));
	assert_non_null(strstr(traced, "> POST /mcp?...\n"));
	assert_non_null(strstr(traced, "> Authorization: ...\n"));
	assert_non_null(strstr(traced, "> X-Api-Key: ...\n"));
	assert_non_null(strstr(traced, "> Content-Type: application/json\n"));
	assert_non_null(strstr(traced, "< HTTP/1.1 200 OK\n"));
	assert_non_null(strstr(traced, "< Mcp-Session-Id: ...\n"));
	assert_non_null(strstr(traced, "> * Trying 127.0.0.1"));
}
