/* test_httpd_answers.c - answers on their way: large ones, clients that go in the middle, and what is known of a
 * connection. (Others are transcripts: tests/wire/transcripts/httpd.)
 */
#include "test.h"
#include "unit/httpd/httpd_rig.h"

/* ---- answers ------------------------------------------------------------------------------ */

/* Larger than any buffer of the kernel's: all of it comes, and the next answer after it. */
RIG_TEST(large_answers_are_whole)
{
	static const size_t sizes[] = { 1, 32767, 32768, 200000 };
	struct answer *a = &last_answer;
	struct client *c = dial(r);

	for (size_t i = 0; i < CLEAT_COUNT(sizes); i++) {
		char text[128];

		snprintf(text, sizeof text, "GET /big?%zu HTTP/1.1\r\nHost: h\r\n\r\n" GET("/next"),
			 sizes[i]);
		put(c, text);
		assert_true(read_answer(c, a, false));
		assert_int_equal(a->n, sizes[i]);
		for (size_t k = 0; k < a->n; k++)
			assert_int_equal(a->body[k], 'a' + k % 23);
		expect(c, 200, "GET /next");
	}
}

/* 40 MB do not fit into any socket: the rest waits, and the client's reading brings it. */
RIG_TEST(an_answer_that_does_not_fit_waits_for_room)
{
	struct client *c = dial(r);
	size_t got = 0, body = 40000000;

	put(c, "GET /big?40000000 HTTP/1.1\r\nHost: h\r\n\r\n" GET("/next"));
	WAIT_FOR(r, r->requests == 1);
	rig_turn(r);
	assert_int_equal(r->requests, 1); /* nothing is looked at before this is gone */
	assert_true(rig_stats(r).queued_bytes > 0);
	assert_int_equal(rig_stats(r).exchanges, 0);
	while (got < body) {
		wait_more(c);
		assert_false(c->eof);
		got += c->n;
		if (got > body + 1000)
			break;
		c->n = 0;
	}
	while (!strstr(c->buf, "GET /next"))
		wait_more(c);
	assert_int_equal(rig_stats(r).queued_bytes, 0);
}

/* ---- the client goes ---------------------------------------------------------------------- */

/* Requests before the end of input are answered, also when the answers do not fit into the socket at first. */
RIG_TEST(the_end_of_input_behind_a_large_answer)
{
	struct client *c = dial(r);

	put(c, "GET /big?8000000 HTTP/1.1\r\nHost: h\r\n\r\n" GET("/2"));
	shutdown(c->fd, SHUT_WR);
	WAIT_FOR(r, r->requests == 1);
	rig_turn(r);
	while (!strstr(c->buf, "GET /2") && !c->eof) {
		c->n = 0;
		c->buf[0] = '\0';
		wait_more(c);
	}
	assert_int_equal(r->requests, 2);
}

/* MCP 2026-07-28, basic/transports/streamable-http, "Cancellation": closing cancels, whatever the request says
 * about its connection and whatever was sent behind it, also more than is read ahead. */
TEST(a_client_that_hangs_up_is_gone_at_once)
{
	static const struct {
		const char *text, *where;
		size_t behind; /* bytes of further requests */
	} table[] = {
		{ GET("/defer"), "tcp", 0 },
		{ "GET /defer HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "tcp", 0 },
		{ "GET /defer HTTP/1.0\r\n\r\n", "tcp", 0 },
		{ "GET /defer HTTP/1.0\r\n\r\n", "unix", 0 },
		{ GET("/defer"), "tcp", 100 },
		{ GET("/defer"), "tcp", HTTP_AHEAD + 1000 },
		{ GET("/defer"), "unix", HTTP_AHEAD + 1000 },
		{ "GET /stream HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "tcp", 0 },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		bool unix = strcmp(table[i].where, "unix") == 0;
		struct client *c;
		struct rig r;

		rig_open_with(&r, unix ? unix_address() : "127.0.0.1:0",
			      (struct httpd_options){ 0 });
		c = dial(&r);
		put(c, table[i].text);
		for (size_t n = 0; n < table[i].behind; n += strlen(GET("/2")))
			put(c, GET("/2"));
		WAIT_FOR(&r, r.n_held == 1);
		if (unix)
			assert_string_equal(http_exchange_address(r.held[0]), "unix");
		rig_turn(&r);
		hang_up(c);
		WAIT_FOR(&r, r.gone == 1 && rig_stats(&r).connections == 0);
		assert_int_equal(r.requests, 1);
		rig_close(&r);
	}
}

/* Resets at every byte of a request, in front of and behind an answer that is awaited. */
RIG_TEST(a_reset_at_every_byte_of_a_request)
{
	static const char text[] =
		"POST /defer HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody"
		"POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
		"2\r\nab\r\n0\r\n\r\n";

	for (size_t n = 0; n < sizeof text; n++) {
		size_t heads = r->heads, gone = r->gone;
		struct client *c = dial(r);

		put_bytes(c, text, n);
		WAIT_FOR(r, rig_stats(r).connections == 1);
		rig_turn(r);
		slam(c);
		WAIT_FOR(r, rig_stats(r).connections == 0);
		assert_int_equal(r->gone - gone, r->heads - heads);
		assert_int_equal(rig_stats(r).exchanges, 0);
	}
	expect_alive(r);
}

/* Resets after every byte of an answer was read, whole and streamed. */
RIG_TEST(a_reset_at_every_byte_of_an_answer)
{
	for (size_t n = 0; n < 140; n++) {
		struct client *c = dial(r);
		bool stream = n % 2;
		char byte;

		put(c, stream ? GET("/stream") : GET("/big?40000"));
		if (stream) {
			WAIT_FOR(r, r->n_held == 1);
			http_exchange_write(r->held[0], STR_LIT("some text of a stream"), false);
		}
		for (size_t i = 0; i < n; i++)
			while (recv(c->fd, &byte, 1, 0) != 1)
				cleat_loop_step(r->l, 10);
		slam(c);
		if (stream)
			WAIT_FOR(r, r->n_held == 0); /* gone() */
		WAIT_FOR(r, rig_stats(r).connections == 0);
	}
	assert_int_equal(r->gone, 70);
	expect_alive(r);
}

/* ---- connections -------------------------------------------------------------------------- */

RIG_TEST(data_of_a_connection_is_released_with_it)
{
	struct client *c = dial(r);

	put(c, GET("/mark") GET("/x"));
	expect(c, 200, "GET /mark");
	expect(c, 200, "GET /x");
	assert_int_equal(r->closed, 0);
	hang_up(c);
	WAIT_FOR(r, r->closed == 1);
	c = dial(r);
	put(c, GET("/mark"));
	expect(c, 200, "GET /mark");
	rig_free_server(r);
	assert_int_equal(r->closed, 2);
}

TEST(addresses_of_clients)
{
	static const struct {
		const char *where, *client;
	} cases[] = {
		{ "127.0.0.1:0", "127.0.0.1" },
		{ "[::1]:0", "::1" },
		{ "[::]:0", "127.0.0.1" }, /* IPv4 through a socket of both */
		{ NULL, "unix" },
	};
	struct address a;
	struct listener l;

	assert_int_equal(address_parse("[::1]:0", &a, NULL), CLEAT_OK);
	if (listener_open(&a, NULL, &l, NULL)) {
		print_message("no IPv6 here\n");
		skip();
	}
	listener_close(&l);
	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct client *c;
		struct rig r;
		int mine;

		rig_open_with(&r, cases[i].where ? cases[i].where : unix_address(),
			      (struct httpd_options){ 0 });
		c = dial(&r);
		put(c, GET("/defer"));
		WAIT_FOR(&r, r.n_held == 1);
		assert_string_equal(http_exchange_address(r.held[0]), cases[i].client);
		assert_null(http_exchange_data(r.held[0]));
		http_exchange_set_data(r.held[0], &mine);
		assert_ptr_equal(http_exchange_data(r.held[0]), &mine);
		hang_up(c);
		WAIT_FOR(&r, r.gone == 1);
		rig_close(&r);
	}
}

/* tcp(7): connections inherit these from the listening socket. */
RIG_TEST(connections_have_the_options_of_tcp)
{
	static const struct {
		int level, name, value;
	} cases[] = {
		{ IPPROTO_TCP, TCP_NODELAY, 1 },   { SOL_SOCKET, SO_KEEPALIVE, 1 },
		{ IPPROTO_TCP, TCP_KEEPIDLE, 30 }, { IPPROTO_TCP, TCP_KEEPINTVL, 10 },
		{ IPPROTO_TCP, TCP_KEEPCNT, 3 },   { IPPROTO_TCP, TCP_USER_TIMEOUT, 30000 },
	};
	struct http_conn *conn;
	struct client *c = dial(r);

	put(c, GET("/defer"));
	WAIT_FOR(r, r->n_held == 1);
	assert_string_equal(http_exchange_address(r->held[0]), "127.0.0.1");
	assert_false(http_exchange_is_tls(r->held[0]));
	conn = CONTAINER_OF(r->held[0], struct http_conn, ex);
	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		socklen_t n = sizeof(int);
		int value = -1;

		getsockopt(conn->end.fd, cases[i].level, cases[i].name, &value, &n);
		assert_int_equal(value, cases[i].value);
	}
	assert_int_equal(fcntl(conn->end.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}
