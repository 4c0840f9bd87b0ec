/* test_endpoint_shutdown.c - the end of an HTTP server with clients on it: calls may finish, streams end,
 * and whatever is open when everything is freed at once leaves nothing behind.
 */
#include "test.h"
#include "unit/endpoint/endpoint_rig.h"

#define PARK(id) MODERN_CALL(id, "park", "{}")

/* ---- all at once -------------------------------------------------------------------------- */

/* Everything that a client can have open. */
struct guests {
	struct client *c[8];
	struct stream st[8];
	size_t n;
};

static struct client *invite(struct bench *b, struct guests *g)
{
	return g->c[g->n++] = join(b);
}

static void fill(struct bench *b, struct guests *g)
{
	struct talk t;
	struct event e;
	struct client *c;
	char target[96];

	memset(g, 0, sizeof *g);
	talk_open(b, &t, "2025-11-25");
	invite(b, g); /* says nothing */
	put(invite(b, g), "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Le");
	modern_call(invite(b, g), "park", PARK("1"));
	WAIT_FOR(&b->h, n_parked == 1);
	c = invite(b, g);
	modern_listen(c, LISTEN("1", "\"toolsListChanged\":true"));
	stream_expect(c, &g->st[g->n - 1]);
	talk_post(&t, invite(b, g), CALL("1", "park", "{}"));
	c = invite(b, g);
	talk_get(&t, c, NULL);
	stream_expect(c, &g->st[g->n - 1]);
	c = invite(b, g);
	send_request(c, "GET", "/sse", "", NULL);
	stream_expect(c, &g->st[g->n - 1]);
	assert_true(stream_next(&g->st[g->n - 1], &e));
	snprintf(target, sizeof target, "%.90s", e.data);
	event_done(&e);
	c = invite(b, g);
	send_request(c, "POST", target, "", INITIALIZE("2024-11-05", "{}"));
	expect_answer(c, 202);
	send_request(c, "POST", target, "", CALL("4", "park", "{}"));
	expect_answer(c, 202);
	assert_int_equal(g->n, 8);
	WAIT_FOR(&b->h, n_parked == 3);
}

static void see_off(struct guests *g)
{
	for (size_t i = 0; i < g->n; i++) {
		stream_done(&g->st[i]);
		hang_up(g->c[i]);
	}
}

/* First the connections, then the endpoint, then the server. */
BENCH_TEST(everything_may_be_open_at_the_end)
{
	struct guests g;

	fill(b, &g);
	httpd_free(b->h.h);
	b->h.h = NULL;
	assert_int_equal(n_cancelled, 2); /* the session's call goes on: its client may come back */
	endpoint_free(b->m);
	b->m = NULL;
	assert_int_equal(n_cancelled, 3);
	see_off(&g);
}

/* Clients vanish in any order, also while the server is being stopped. */
TEST(clients_vanish_during_the_end)
{
	struct bench b;
	struct guests g;

	for (size_t k = 0; k < 8; k++) {
		bench_open(&b);
		fill(&b, &g);
		slam(g.c[k]);
		if (k % 2)
			turn(&b);
		bench_stop(&b);
		turn(&b);
		stream_done(&g.st[k]);
		g.c[k] = g.c[--g.n];
		g.st[k] = g.st[g.n];
		for (size_t i = 0; i < g.n; i++)
			if (i % 3 == k % 3)
				shutdown(g.c[i]->fd, SHUT_RDWR);
		turn(&b);
		while (n_parked)
			unpark("done");
		WAIT_FOR(&b.h, b.h.done || rig_stats(&b.h).exchanges == 0);
		see_off(&g);
		bench_close(&b);
	}
}

/* ---- by the public functions -------------------------------------------------------------- */

static void on_cancel_finish(cleat_request *req)
{
	n_cancelled++;
	cleat_request_finish(req, CLEAT_ECANCELLED);
}

static int tool_until_cancelled(cleat_request *req)
{
	n_parked++;
	cleat_request_defer(req);
	cleat_request_on_cancel(req, on_cancel_finish);
	return CLEAT_PENDING;
}

static void listen_publicly(struct bench *b, const cleat_http_options *o)
{
	const char *url;

	bench_base(b, &(struct bench_options){ 0 });
	cleat_server_remove_tool(b->s, "park");
	cleat_server_add_tool(b->s, &(cleat_tool){ .name = "park", .call = tool_until_cancelled });
	assert_int_equal(cleat_server_listen_http(b->s, "http://127.0.0.1:0/mcp", o), CLEAT_OK);
	url = cleat_server_http_url(b->s, 0);
	assert_non_null(url);
	assert_null(cleat_server_http_url(b->s, 1));
	assert_int_equal(strncmp(url, "http://127.0.0.1:", 17), 0);
	assert_int_equal(address_parse(url, &b->h.ear.address, NULL), CLEAT_OK);
}

static void close_publicly(struct bench *b, struct guests *g)
{
	n_parked = 0;
	cleat_server_free(b->s);
	if (g)
		see_off(g);
	rig_ground_done(&b->h);
}

TEST(the_server_may_be_freed_at_any_moment)
{
	struct bench b;
	struct guests g;

	listen_publicly(&b, NULL);
	close_publicly(&b, NULL);
	listen_publicly(&b, NULL);
	fill(&b, &g);
	close_publicly(&b, &g);
	assert_int_equal(n_cancelled, 3);
	/* stopped, but not at its end */
	listen_publicly(&b, NULL);
	fill(&b, &g);
	cleat_server_stop(b.s);
	turn(&b);
	close_publicly(&b, &g);
	assert_int_equal(n_cancelled, 3);
}

TEST(stop_ends_run)
{
	struct bench b;
	struct client *c;

	listen_publicly(&b, NULL);
	c = join(&b);
	modern_call(c, "echo", MODERN_CALL("1", "echo", "{\"text\":\"a\"}"));
	assert_has(expect_answer(c, 200), "echo a");
	cleat_server_stop(b.s);
	assert_int_equal(cleat_server_run(b.s), CLEAT_OK);
	expect_end(c);
	hang_up(c);
	assert_int_equal(cleat_server_run(b.s), CLEAT_EMISUSE); /* there is nothing any more */
	close_publicly(&b, NULL);
}

TEST(what_cannot_be_listened_on_says_why)
{
	static const struct {
		const char *address;
		cleat_http_options o;
		int rc;
		const char *part;
	} rows[] = {
		{ "http://127.0.0.1:0/mcp?x", { 0 }, CLEAT_EINVAL, "" },
		{ "ftp://127.0.0.1:0", { 0 }, CLEAT_EINVAL, "" },
		{ "0.0.0.0:0", { 0 }, CLEAT_EINVAL, "--allow-remote" },
		{ "0.0.0.0:0", { .allow_remote = true }, CLEAT_OK, NULL },
		{ "https://127.0.0.1:0", { 0 }, CLEAT_EINVAL, "certificate" },
		{ "127.0.0.1:0", { .tls_cert = "x" }, CLEAT_EINVAL, "both" },
		{ "127.0.0.1:0", { .token_file = "/nonexistent" }, CLEAT_EIO, "/nonexistent" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		struct bench b;

		bench_base(&b, &(struct bench_options){ 0 });
		assert_int_equal(cleat_server_listen_http(b.s, rows[i].address, &rows[i].o),
				 rows[i].rc);
		if (rows[i].rc) {
			assert_has(cleat_server_error(b.s)->message, rows[i].part);
			assert_null(cleat_server_http_url(b.s, 0));
			/* another address may be had */
			assert_int_equal(cleat_server_listen_http(b.s, "127.0.0.1:0", NULL),
					 CLEAT_OK);
			assert_non_null(cleat_server_http_url(b.s, 0));
		}
		close_publicly(&b, NULL);
	}
}

/* Listening fails as a whole, and can be tried again. */
TEST(listening_without_memory)
{
	static const char *const names[] = { "one.example", NULL };
	const cleat_http_options o = { .allow_hosts = names, .allow_origins = names };
	bool hit = true;

	for (size_t n = 1; hit; n++) {
		struct bench b;
		int rc;

		bench_base(&b, &(struct bench_options){ 0 });
		b.h.fa.countdown = n;
		rc = cleat_server_listen_http(b.s, "127.0.0.1:0", &o);
		hit = fail_alloc_hit(&b.h.fa);
		assert_true(rc == CLEAT_OK || (hit && rc == CLEAT_ENOMEM));
		assert_int_equal(!cleat_server_http_url(b.s, 0), rc != CLEAT_OK);
		if (rc)
			assert_int_equal(cleat_server_listen_http(b.s, "127.0.0.1:0", &o),
					 CLEAT_OK);
		close_publicly(&b, NULL);
	}
}
