/* test_fetcher_redirect.c - transport/http_client: redirects are followed to the same origin only, a
 * few times, with method and body; everything else is a failure that says where it led to.
 */
#include "test.h"
#include "unit/fetch/fetcher_rig.h"

static char location[512];
static int code;
static size_t hops; /* so many redirects, then the answer */

/* Redirects whatever does not ask for /there. */
static void redirect_script(struct origin *o, struct line *c)
{
	static char answer[1024];

	if (hops-- == 0) {
		line_answer(c, STR_LIT(OK_HELLO));
		return;
	}
	snprintf(answer, sizeof answer,
		 "HTTP/1.1 %d Elsewhere\r\nLocation: %s\r\nContent-Type: wrong/one\r\n"
		 "Content-Length: 9\r\n\r\nnot this.",
		 code, location);
	line_answer(c, str_of(answer));
	(void)o;
}

static struct got *ask(struct rig *r, const char *method, const char *path, int status,
		       const char *where, size_t n)
{
	static const char *const headers[] = { "Authorization: Bearer token", "X: y",
					       "Content-Type: application/json", NULL };
	struct fetch_options o = { .method = method, .url = path };

	snprintf(location, sizeof location, "%s", where);
	code = status;
	hops = n;
	r->o.script = redirect_script;
	if (strcmp(method, "POST") == 0)
		o.body = STR_LIT("{\"a\":1}");
	return wait_end(web_start(r, o, headers));
}

RIG_TEST(same_origin_is_followed_with_headers_and_body)
{
	static const struct {
		const char *method;
		int status;
		const char *location, *line;
	} cases[] = {
		{ "GET", 301, "/there", "GET /there HTTP/1.1" },
		{ "GET", 302, "there", "GET /a/there HTTP/1.1" },
		{ "GET", 303, "../there?x=1", "GET /there?x=1 HTTP/1.1" },
		{ "GET", 307, "?q", "GET /a/b?q HTTP/1.1" },
		{ "GET", 308, "/x/./y/../there#f", "GET /x/there HTTP/1.1" },
		{ "GET", 302, "SELF/there", "GET /there HTTP/1.1" },
		{ "GET", 302, "SELF", "GET / HTTP/1.1" },
		{ "GET", 302, "//HOST/there", "GET /there HTTP/1.1" },
		{ "POST", 307, "/there", "POST /there HTTP/1.1" },
		{ "POST", 308, "SELF/there", "POST /there HTTP/1.1" },
		{ "DELETE", 307, "/there", "DELETE /there HTTP/1.1" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		char where[256];
		struct got *g;

		if (strncmp(cases[i].location, "SELF", 4) == 0)
			snprintf(where, sizeof where, "HTTP://127.0.0.1:0%u%s", r->o.port,
				 cases[i].location + 4);
		else if (strncmp(cases[i].location, "//HOST", 6) == 0)
			snprintf(where, sizeof where, "//127.0.0.1:%u%s", r->o.port,
				 cases[i].location + 6);
		else
			snprintf(where, sizeof where, "%s", cases[i].location);
		g = ask(r, cases[i].method, "/a/b", cases[i].status, where, 1);
		assert_string_equal(g->type, "text/plain");
		assert_int_equal(g->heads, 1);
		got_ok(g, 200, "hello");
		assert_memory_equal(r->o.request, cases[i].line, strlen(cases[i].line));
		assert_non_null(strstr(r->o.request, "\r\nAuthorization: Bearer token\r\n"));
		assert_non_null(strstr(r->o.request, "\r\nX: y\r\n"));
		assert_int_equal(strstr(r->o.request, "\r\n\r\n{\"a\":1}") != NULL,
				 cases[i].method[0] == 'P');
	}
	assert_int_equal(r->o.accepted, 1); /* and the connection is kept */
}

RIG_TEST(five_redirects_are_followed_and_no_more)
{
	struct got *g;

	got_ok(ask(r, "GET", "/a", 302, "/a", 5), 200, "hello");
	g = ask(r, "POST", "/a", 308, "/a", 6);
	assert_int_equal(g->heads, 0);
	assert_int_equal(g->why.http_status, 308);
	assert_false(g->why.unsent);
	got_failure(g, CLEAT_STEP_HTTP, CLEAT_EPROTO, "5 redirects");
	web_alive(r);
}

RIG_TEST(other_origins_are_named_and_never_gone_to)
{
	static const struct {
		const char *location, *words;
	} cases[] = {
		{ "http://127.0.0.1:1/there", "http://127.0.0.1:1/there, another origin" },
		{ "http://localhost:PORT/there", "http://localhost:" },
		{ "https://127.0.0.1:PORT/there", "https://127.0.0.1:" },
		{ "https://elsewhere.example/mcp?secret#secret",
		  "https://elsewhere.example/mcp, another origin" },
		{ "//elsewhere.example/", "http://elsewhere.example/" },
		{ "//elsewhere.example:PORT/", "http://elsewhere.example:" },
		{ "http://127.0.0.1:PORT.elsewhere.example/", "leads to http://127.0.0.1:" },
		{ "http://user:secret@127.0.0.1:PORT/", "127.0.0.1, which cannot" },
		{ "http://127.0.0.1:PORT@elsewhere.example/", "elsewhere.example, which cannot" },
		{ "http://127.0.0.1:PORT\\@elsewhere.example/", "cannot be followed" },
		{ "http://[::ffff:127.0.0.1]:PORT/", "another origin" },
		{ "http://127.1:PORT/", "another origin" },
		{ "http://2130706433:PORT/", "another origin" },
		{ "http://127.0.0.1:99999/", "cannot be followed" },
		{ "http:///x", "cannot be followed" },
		{ "file:///etc/passwd", "file:///etc/passwd, which cannot" },
		{ "javascript:alert(1)", "cannot be followed" },
		{ "ftp://127.0.0.1:PORT/", "cannot be followed" },
		{ "gopher://127.0.0.1:PORT/", "cannot be followed" },
		{ "http://b\xc3\xbc/", "cannot be followed" },
		{ "/a b", "cannot be followed" },
		{ "/%zz", "cannot be followed" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		const char *port = strstr(cases[i].location, "PORT");
		char where[256];
		struct got *g;

		if (port)
			snprintf(where, sizeof where, "%.*s%u%s", (int)(port - cases[i].location),
				 cases[i].location, r->o.port, port + 4);
		else
			snprintf(where, sizeof where, "%s", cases[i].location);
		g = ask(r, i % 2 ? "GET" : "POST", "/a", 307, where, 1);
		assert_int_equal(g->heads, 0);
		assert_int_equal(g->why.http_status, 307);
		assert_null(strstr(g->why.error.message, "secret"));
		assert_non_null(strstr(g->why.error.message, "answers 307"));
		got_failure(g, CLEAT_STEP_HTTP, CLEAT_EPROTO, cases[i].words);
		assert_int_equal(r->o.requests, i + 1);
	}
	web_alive(r);
}

/* RFC 9110, 15.4: only 307 and 308 promise that the method stays. */
RIG_TEST(method_is_never_changed)
{
	static const int codes[] = { 301, 302, 303 };
	static const char *const methods[] = { "POST", "DELETE" };

	for (size_t i = 0; i < 6; i++)
		got_failure(ask(r, methods[i % 2], "/a", codes[i / 2], "/there", 1),
			    CLEAT_STEP_HTTP, CLEAT_EPROTO,
			    "leads to /there, which is not an answer");
	assert_int_equal(r->o.requests, 6);
}

static struct str big; /* the first answer */

static void big_script(struct origin *o, struct line *c)
{
	line_answer(c, o->requests == 1 ? big : STR_LIT(OK_HELLO));
	if (o->requests > 1)
		o->pump = (struct str){ 0 };
}

TEST(body_of_a_redirect_is_thrown_away_but_not_for_ever)
{
	static char junk[65536];
	struct rig r;
	struct got *g;

	memset(junk, 'x', sizeof junk);
	for (int endless = 0; endless < 2; endless++) {
		web_open(&r, (struct fetcher_options){ 0 });
		big = endless ? STR_LIT("HTTP/1.1 302 Found\r\nLocation: /there\r\n\r\n")
			      : STR_LIT("HTTP/1.1 302 Found\r\nLocation: /there\r\n"
					"Content-Length: 5\r\n\r\nhello");
		if (endless)
			r.o.pump = (struct str){ junk, sizeof junk };
		r.o.script = big_script;
		g = do_get(&r, "/");
		assert_int_equal(g->n, 5);
		got_ok(g, 200, "hello");
		assert_int_equal(r.o.accepted, endless ? 2 : 1);
		web_close(&r);
	}
}

/* The redirect itself breaks off after its header: that said all there is to know. */
RIG_TEST(redirect_that_breaks_off_after_its_header_is_followed)
{
	big = STR_LIT("HTTP/1.1 302 Found\r\nLocation: /there\r\nContent-Length: 5\r\n\r\nh");
	r->o.after = CLOSE;
	r->o.script = big_script;
	got_ok(do_get(r, "/"), 200, "hello");
}

RIG_TEST(cancel_and_silence_between_redirects)
{
	struct got *g;

	for (int i = 0; i < 2; i++) {
		/* its body never comes */
		big = STR_LIT(
			"HTTP/1.1 302 Found\r\nLocation: /there\r\nContent-Length: 5\r\n\r\nh");
		r->o.script = big_script;
		r->o.requests = 0;
		g = START(r, .idle_ms = i ? 30 : 0);
		WAIT_FOR(r, r->o.requests == 1);
		web_turn(r);
		if (i) {
			got_failure(wait_end(g), CLEAT_STEP_TIMEOUT, CLEAT_ETIMEOUT, "30 ms");
		} else {
			fetch_cancel(g->f);
			got_silence(g, 0);
		}
	}
	/* cancelled as soon as the second request is there */
	big = STR_LIT("HTTP/1.1 302 Found\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n");
	r->o.requests = 0;
	r->o.cut = 70;
	g = start_get(r, "/");
	WAIT_FOR(r, r->o.requests == 2);
	fetch_cancel(g->f);
	got_silence(g, 0);
	web_alive(r);
}

/* For whoever passes it on: RFC 9110 section 15.4 is about the client that asked. Other codings of the transfer
 * (RFC 9112 section 7) stay ours, and so a failure. */
RIG_TEST(verbatim_answers_are_answers_whatever_they_say)
{
	static const struct {
		const char *bytes;
		int status;
		const char *body;
	} cases[] = {
		{ "HTTP/1.1 302 Found\r\nLocation: /there\r\nContent-Length: 2\r\n\r\nno", 302,
		  "no" },
		{ "HTTP/1.1 308 Moved\r\nLocation: http://example.com/\r\nContent-Length: 0\r\n\r\n",
		  308, "" },
		{ "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n\037x",
		  200, "\037x" },
		{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 0, NULL },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		size_t before = r->o.requests;
		struct got *g;

		r->o.answer = str_of(cases[i].bytes);
		g = wait_end(START(r, .url = "/here", .verbatim = true));
		assert_int_equal(r->o.requests, before + 1);
		if (cases[i].status)
			got_ok(g, cases[i].status, cases[i].body);
		else
			got_failure(g, CLEAT_STEP_PROTOCOL, CLEAT_EPROTO, "");
	}
}
