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

struct secure {
	struct rig *r;
	SSL *ssl;
	int fd;
	char buf[1 << 19];
	size_t n;
	int end; /* SSL_ERROR_... once it is over */
};

static bool again(struct secure *c, int rc)
{
	int e = SSL_get_error(c->ssl, rc);

	if (e != SSL_ERROR_WANT_READ && e != SSL_ERROR_WANT_WRITE)
		return false;
	cleat_loop_step(c->r->l, 10);
	return true;
}

static struct secure *secure_dial(struct rig *r)
{
	struct secure *c = calloc(1, sizeof *c);
	int rc;

	assert_non_null(c);
	c->r = r;
	c->fd = dial_fd(r);
	c->ssl = SSL_new(client_context);
	SSL_set_fd(c->ssl, c->fd);
	do {
		ERR_clear_error();
		rc = SSL_connect(c->ssl);
	} while (rc <= 0 && again(c, rc));
	assert_int_equal(rc, 1);
	return c;
}

static void secure_put(struct secure *c, const char *text)
{
	int rc;

	do {
		ERR_clear_error();
		rc = SSL_write(c->ssl, text, (int)strlen(text));
	} while (rc <= 0 && again(c, rc));
	assert_true(rc > 0);
}

/* Reads what comes next. */
static void secure_read(struct secure *c)
{
	int rc;

	do {
		ERR_clear_error();
		rc = SSL_read(c->ssl, c->buf + c->n, (int)(sizeof c->buf - 1 - c->n));
	} while (rc <= 0 && again(c, rc));
	if (rc > 0)
		c->n += (size_t)rc;
	else
		c->end = SSL_get_error(c->ssl, rc);
}

/* Reads until the text is there, or to the end. */
static bool secure_until(struct secure *c, const char *text)
{
	while (!strstr(c->buf, text) && !c->end)
		secure_read(c);
	return strstr(c->buf, text) != NULL;
}

static void secure_forget(struct secure *c)
{
	memset(c->buf, 0, sizeof c->buf);
	c->n = 0;
}

static void secure_close(struct secure *c)
{
	SSL_free(c->ssl);
	close(c->fd);
	free(c);
}

/* ---- tests -------------------------------------------------------------------------------- */

RIG_TEST_PLAIN(requests_and_streams_work_behind_tls)
{
	struct secure *c;

	open_tls(r);
	c = secure_dial(r);
	for (int i = 0; i < 3; i++) {
		secure_put(c, GET("/a") GET("/b"));
		assert_true(secure_until(c, "GET /b"));
		assert_non_null(strstr(c->buf, "GET /a"));
		secure_forget(c);
	}
	secure_put(c, "GET /big?300000 HTTP/1.1\r\nHost: h\r\n\r\n" GET("/next"));
	assert_true(secure_until(c, "GET /next"));
	assert_true(c->n > 300000);
	secure_forget(c);
	secure_put(c, GET("/stream"));
	WAIT_FOR(r, r->n_held == 1);
	assert_true(http_exchange_is_tls(r->held[0]));
	for (int i = 0; i < 3; i++)
		assert_int_equal(http_exchange_write(r->held[0], STR_LIT("tick"), false), CLEAT_OK);
	assert_true(secure_until(c, "4\r\ntick\r\n4\r\ntick\r\n4\r\ntick\r\n"));
	WAIT_FOR(r, r->drained == 1);
	http_exchange_end(r->held[0]);
	assert_true(secure_until(c, "\r\n0\r\n\r\n"));
	secure_close(c);
}

/* Answers that say so end with close_notify: nobody has cut them off. */
RIG_TEST_PLAIN(the_end_is_announced)
{
	struct secure *c;

	open_tls(r);
	c = secure_dial(r);
	secure_put(c, "GET /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
	assert_false(secure_until(c, "never"));
	assert_non_null(strstr(c->buf, "GET /x"));
	assert_int_equal(c->end, SSL_ERROR_ZERO_RETURN);
	secure_close(c);
	/* What cannot be parsed is answered too. */
	c = secure_dial(r);
	secure_put(c, "nonsense\r\n\r\n");
	assert_false(secure_until(c, "never"));
	assert_memory_equal(c->buf, "HTTP/1.1 501 ", 13);
	assert_int_equal(c->end, SSL_ERROR_ZERO_RETURN);
	secure_close(c);
	/* And a server that drains says goodbye. */
	c = secure_dial(r);
	secure_put(c, GET("/x"));
	assert_true(secure_until(c, "GET /x"));
	httpd_drain(r->h, on_done, r);
	assert_false(secure_until(c, "never"));
	assert_int_equal(c->end, SSL_ERROR_ZERO_RETURN);
	WAIT_FOR(r, r->done);
	secure_close(c);
}

RIG_TEST_PLAIN(a_client_that_goes_is_noticed)
{
	open_tls(r);
	for (size_t i = 0; i < 2; i++) {
		struct secure *c = secure_dial(r);

		secure_put(c, GET("/stream"));
		WAIT_FOR(r, r->n_held == 1);
		if (i == 0)
			SSL_shutdown(c->ssl); /* with a word */
		else
			shutdown(c->fd, SHUT_RDWR);
		WAIT_FOR(r, r->gone == i + 1);
		secure_close(c);
		WAIT_FOR(r, rig_stats(r).connections == 0);
	}
}

/* Plain HTTP, or anything else: the connection ends, the others do not notice. */
RIG_TEST_PLAIN(whoever_does_not_speak_tls_is_sent_away)
{
	struct client *c;
	struct secure *s;

	open_tls(r);
	c = dial(r);
	put(c, GET("/x"));
	while (!c->eof)
		wait_more(c);
	assert_null(strstr(c->buf, "HTTP/1.1 200"));
	hang_up(c);
	assert_int_equal(r->requests, 0);
	assert_int_equal(r->remarks, 1);
	assert_non_null(strstr(r->remark, "127.0.0.1: "));
	s = secure_dial(r);
	secure_put(s, GET("/x"));
	assert_true(secure_until(s, "GET /x"));
	secure_close(s);
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

static bool is_named(struct secure *c, const char *name)
{
	X509 *x = SSL_get1_peer_certificate(c->ssl);
	bool same;
	char cn[64] = "";

	X509_NAME_get_text_by_NID(X509_get_subject_name(x), NID_commonName, cn, sizeof cn);
	same = strcmp(cn, name) == 0;
	X509_free(x);
	return same;
}

/* A new certificate: connections that are there go on with the old one. */
RIG_TEST_PLAIN(the_certificate_can_be_replaced)
{
	struct tls_context *other = context_of("cert2.pem", "key2.pem");
	struct secure *a, *b;

	open_tls(r);
	a = secure_dial(r);
	httpd_set_tls(r->h, other);
	tls_context_drop(other);
	b = secure_dial(r);
	assert_true(is_named(a, "localhost"));
	assert_true(is_named(b, "other"));
	secure_put(a, GET("/old"));
	secure_put(b, GET("/new"));
	assert_true(secure_until(a, "GET /old"));
	assert_true(secure_until(b, "GET /new"));
	secure_close(a);
	secure_close(b);
}

/* A slow reader: what waits is bounded, encrypted or not. */
RIG_TEST_PLAIN(what_waits_is_bounded_behind_tls)
{
	static char text[4096];
	struct secure *c;
	int rc;

	memset(text, 'x', sizeof text);
	open_tls(r);
	c = secure_dial(r);
	secure_put(c, GET("/stream"));
	WAIT_FOR(r, r->n_held == 1);
	do {
		rc = http_exchange_write(r->held[0], (struct str){ text, sizeof text }, false);
		cleat_loop_step(r->l, 0);
	} while (rc == CLEAT_OK);
	assert_int_equal(rc, CLEAT_ELIMIT);
	assert_true(rig_stats(r).queued_bytes <= 256 * 1024 + 4096);
	http_exchange_end(r->held[0]);
	while (!c->end && !strstr(c->buf, "\r\n0\r\n\r\n")) {
		size_t keep = c->n < 8 ? c->n : 8;

		memmove(c->buf, c->buf + c->n - keep, keep);
		memset(c->buf + keep, 0, sizeof c->buf - keep);
		c->n = keep;
		secure_read(c);
	}
	assert_int_equal(c->end, 0);
	secure_close(c);
}

TEST_GROUP(begin, end)
