/* test_httpd_tls.c - the HTTP server behind TLS, with OpenSSL's client on a real socket. */
#include "test.h"
#include "unit/httpd/httpd_rig.h"
#include "unit/net/test_tls.h"

static SSL_CTX *client_context;

static int begin(void **state)
{
	client_context = SSL_CTX_new(TLS_client_method());
	return client_context ? set_up(state) : -1;
}

static int end(void **state)
{
	SSL_CTX_free(client_context);
	return tear_down(state);
}

static void open_tls(struct rig *r)
{
	cleat_loop_free(cleat_loop_new(NULL));
	rig_open_with(r, ":0", (struct httpd_options){ .tls = context });
}

/* ---- a client ----------------------------------------------------------------------------- */

/* The result of a call as recv() would give it. */
static ssize_t as_read(struct client *c, int rc)
{
	int e = SSL_get_error(c->tls, rc);

	if (rc > 0 || e == SSL_ERROR_ZERO_RETURN)
		return rc > 0 ? rc : 0;
	errno = e == SSL_ERROR_WANT_READ || e == SSL_ERROR_WANT_WRITE ? EAGAIN : EPROTO;
	return -1;
}

static ssize_t secure_send(struct client *c, const void *p, size_t n)
{
	ERR_clear_error();
	return as_read(c, SSL_write(c->tls, p, (int)n));
}

static ssize_t secure_recv(struct client *c, void *p, size_t n)
{
	ERR_clear_error();
	return as_read(c, SSL_read(c->tls, p, (int)n));
}

static void secure_bye(struct client *c)
{
	SSL_free(c->tls);
}

static struct client *secure_dial(struct rig *r)
{
	struct client *c = dial(r);
	SSL *ssl = SSL_new(client_context);

	c->tls = ssl;
	c->send = secure_send;
	c->recv = secure_recv;
	c->bye = secure_bye;
	SSL_set_fd(ssl, c->fd);
	ERR_clear_error();
	while (as_read(c, SSL_connect(ssl)) < 0 && errno == EAGAIN)
		cleat_loop_step(r->l, 10);
	assert_true(SSL_is_init_finished(ssl));
	return c;
}

/* ---- tests -------------------------------------------------------------------------------- */

RIG_TEST_PLAIN(requests_and_streams_work_behind_tls)
{
	struct client *c;

	open_tls(r);
	c = secure_dial(r);
	for (int i = 0; i < 3; i++) {
		put(c, GET("/a") GET("/big?200000") GET("/b"));
		expect(c, 200, "GET /a");
		expect(c, 200, NULL);
		assert_int_equal(last_answer.n, 200000);
		expect(c, 200, "GET /b");
	}
	put(c, GET("/stream"));
	WAIT_FOR(r, r->n_held == 1);
	assert_true(http_exchange_is_tls(r->held[0]));
	for (int i = 0; i < 3; i++)
		assert_int_equal(http_exchange_write(r->held[0], STR_LIT("tick"), false), CLEAT_OK);
	WAIT_FOR(r, r->drained == 1);
	http_exchange_end(r->held[0]);
	expect(c, 200, "tickticktick");
}

/* Answers that say so end with close_notify: nobody has cut them off. */
RIG_TEST_PLAIN(the_end_is_announced)
{
	struct client *c;

	open_tls(r);
	c = secure_dial(r);
	put(c, "GET /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
	expect(c, 200, "GET /x");
	expect_end(c);
	/* What cannot be parsed is answered too. */
	c = secure_dial(r);
	put(c, "nonsense\r\n\r\n");
	expect(c, 501, NULL);
	expect_end(c);
	hang_up(c);
	/* And a server that drains says goodbye. */
	c = secure_dial(r);
	put(c, GET("/x"));
	expect(c, 200, "GET /x");
	httpd_drain(r->h, on_done, r);
	expect_end(c);
	WAIT_FOR(r, r->done);
}

RIG_TEST_PLAIN(a_client_that_goes_is_noticed)
{
	open_tls(r);
	for (size_t i = 0; i < 2; i++) {
		struct client *c = secure_dial(r);

		put(c, GET("/stream"));
		WAIT_FOR(r, r->n_held == 1);
		if (i == 0)
			SSL_shutdown(c->tls); /* with a word */
		else
			shutdown(c->fd, SHUT_RDWR);
		WAIT_FOR(r, r->gone == i + 1);
		hang_up(c);
		WAIT_FOR(r, rig_stats(r).connections == 0);
	}
}

/* Plain HTTP, or anything else: the connection ends, the others do not notice. */
RIG_TEST_PLAIN(whoever_does_not_speak_tls_is_sent_away)
{
	struct client *c;

	open_tls(r);
	c = dial(r);
	put(c, GET("/x"));
	while (!c->eof)
		wait_more(c);
	assert_null(strstr(c->buf, "HTTP/1.1 200"));
	assert_int_equal(r->requests, 0);
	assert_int_equal(r->remarks, 1);
	assert_non_null(strstr(r->remark, "127.0.0.1: "));
	c = secure_dial(r);
	put(c, GET("/x"));
	expect(c, 200, "GET /x");
}

/* The handshake has the time of a header. */
TEST(a_handshake_that_does_not_end)
{
	struct client *c;
	struct rig r;

	open_tls(&r);
	c = dial(&r);
	put_bytes(c, "\x16\x03\x01", 3);
	WAIT_FOR(&r, rig_stats(&r).connections == 1);
	rig_turn(&r);
	rig_pass(&r, 9999);
	assert_int_equal(rig_stats(&r).connections, 1);
	rig_pass(&r, 1);
	assert_int_equal(rig_stats(&r).connections, 0);
	assert_int_equal(rig_stats(&r).timeouts, 1);
	rig_close(&r);
}

static void expect_named(struct client *c, const char *name)
{
	X509 *x = SSL_get1_peer_certificate(c->tls);
	char cn[64] = "";

	X509_NAME_get_text_by_NID(X509_get_subject_name(x), NID_commonName, cn, sizeof cn);
	assert_string_equal(cn, name);
	X509_free(x);
	put(c, GET("/x"));
	expect(c, 200, "GET /x");
}

/* A new certificate: connections that are there go on with the old one. */
RIG_TEST_PLAIN(the_certificate_can_be_replaced)
{
	struct tls_context *other = context_of("cert2.pem", "key2.pem");
	struct client *c;

	open_tls(r);
	c = secure_dial(r);
	httpd_set_tls(r->h, other);
	tls_context_drop(other);
	expect_named(secure_dial(r), "other");
	expect_named(c, "localhost");
}

/* A slow reader: what waits is bounded, encrypted or not. */
RIG_TEST_PLAIN(what_waits_is_bounded_behind_tls)
{
	static const char text[4096] = "";
	struct client *c;
	int rc;

	open_tls(r);
	c = secure_dial(r);
	put(c, GET("/stream"));
	WAIT_FOR(r, r->n_held == 1);
	do {
		rc = http_exchange_write(r->held[0], (struct str){ text, sizeof text }, false);
		cleat_loop_step(r->l, 0);
	} while (rc == CLEAT_OK);
	assert_int_equal(rc, CLEAT_ELIMIT);
	assert_true(rig_stats(r).queued_bytes <= 256 * 1024 + 4096);
	http_exchange_end(r->held[0]);
	while (!c->eof && (c->n < 5 || memcmp(c->buf + c->n - 5, "0\r\n\r\n", 5) != 0)) {
		take_front(c, c->n > 8 ? c->n - 8 : 0);
		wait_more(c);
	}
	assert_false(c->eof);
}

TEST_GROUP(begin, end)
