/* test_client_http.c - clients over HTTP, as programs use them, of a server on the same loop: tokens, addresses,
 * servers that are replaced. (Every operation over HTTP: test_client_matrix.c. Certificates: test_fetcher_tls.c. What is
 * not there or something else: test_link_http*.c, test_link_socket.c, test_fetcher_failures.c.)
 */
#include "support_files.h"
#include "test.h"
#include "unit/client/test_client.h"

static const char *const eras[] = { "2025-11-25", "2026-07-28" };

struct bench {
	cleat_loop *loop;
	cleat_server *s;
	cleat_client *c;
	char url[200];
};

static void serve(struct bench *b, const char *address, const cleat_http_options *http)
{
	b->s = cleat_server_new("http", "1", &(cleat_server_options){ .loop = b->loop });
	add_all(b->s, NULL);
	assert_int_equal(cleat_server_listen_http(b->s, address, http), CLEAT_OK);
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

#define BENCH_TEST(name) TEST_ON(name, struct bench, b, b->loop = cleat_loop_new(NULL), stop)

static int only_ann(void *userdata, const char *token, char *name)
{
	(void)userdata;
	strcpy(name, "ann");
	return strcmp(token, "secret-of-ann") == 0 ? CLEAT_OK : CLEAT_ENOENT;
}

BENCH_TEST(a_token_is_sent)
{
	const char *const headers[] = { "Authorization: Bearer secret-of-ann", NULL };
	const struct {
		const char *bearer, *const *headers;
		bool good;
	} cases[] = { { "secret-of-ann", NULL, true },
		      { NULL, headers, true },
		      { "something-else", NULL, false },
		      { NULL, NULL, false } };

	serve(b, "127.0.0.1:0", &(cleat_http_options){ .verify = only_ann });
	for (size_t i = 0; i < 2 * CLEAT_COUNT(cases); i++) {
		cleat_result *r;

		reach(b, b->url,
		      (cleat_client_options){ .protocol = eras[i % 2],
					      .bearer = cases[i / 2].bearer,
					      .headers = cases[i / 2].headers });
		r = cleat_client_callf(b->c, "echo", "{text: 'in'}");
		assert_string_equal(cleat_result_text(r), cases[i / 2].good ? "in" : "");
		assert_int_equal(cleat_result_step(r),
				 cases[i / 2].good ? CLEAT_STEP_NONE : CLEAT_STEP_AUTH);
		assert_int_equal(cleat_result_http_status(r), cases[i / 2].good ? 200 : 401);
		assert_lacks(cleat_result_error(r)->message, "something-else");
		cleat_result_free(r);
		leave(b);
	}
}

/* Whatever it is doing just then. */
BENCH_TEST(freed_while_connecting)
{
	struct ending e;

	serve(b, "127.0.0.1:0", NULL);
	for (int steps = 0; steps < 6; steps++) {
		e = (struct ending){ 0 };
		reach(b, b->url, (cleat_client_options){ 0 });
		assert_non_null(cleat_client_startf(b->c, ENDING(&e), "hang", NULL));
		for (int i = 0; i < steps; i++)
			cleat_loop_step(b->loop, 1);
		leave(b);
		assert_int_equal(e.count, 1);
		assert_int_equal(e.status, CLEAT_ECLOSED);
	}
}

BENCH_TEST(a_unix_socket_has_several_names)
{
	static const char *const names[] = { "unix:%s", "UNIX:%s", "unix://%s", "unix:%s#/mcp",
					     "http://localhost/mcp" };
	char path[100], name[120];

	scratch_begin(NULL);
	snprintf(path, sizeof path, "%s", scratch_path("sock"));
	for (size_t i = 0; i < CLEAT_COUNT(names); i++) {
		bool plain = !strstr(names[i], "%s");

		snprintf(name, sizeof name, "%.*s%s%s", (int)strcspn(names[i], "%"), names[i],
			 plain ? "" : path, plain ? "" : strstr(names[i], "%s") + 2);
		if (i == 0)
			serve(b, name, NULL);
		reach(b, name, (cleat_client_options){ .unix_socket = plain ? path : NULL });
		assert_text(cleat_client_callf(b->c, "echo", "{text: 'near'}"), "near");
		leave(b);
	}
	scratch_end(NULL);
}

/* The server is gone under a call, and another one took its place. */
BENCH_TEST(a_server_that_was_replaced_is_reached_again)
{
	for (size_t i = 0; i < CLEAT_COUNT(eras); i++) {
		struct ending e = { 0 };

		serve(b, i ? b->url : "127.0.0.1:0", NULL);
		reach(b, b->url, (cleat_client_options){ .protocol = eras[i] });
		assert_text(cleat_client_callf(b->c, "echo", "{text: 'first'}"), "first");
		cleat_client_startf(b->c, ENDING(&e), "hang", NULL);
		while (!e.progress)
			cleat_loop_step(b->loop, 1000);
		cleat_server_free(b->s);
		serve(b, b->url, NULL);
		assert_text(cleat_client_callf(b->c, "echo", "{text: 'second'}"), "second");
		leave(b); /* the first call has ended, or ends now */
		assert_int_equal(e.count, 1);
		assert_int_not_equal(e.status, CLEAT_OK);
		cleat_server_free(b->s);
		b->s = NULL;
	}
}
