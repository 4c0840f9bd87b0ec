/* test_fetcher_tls.c - transport/http_client over TLS: whom it trusts, and what it says when it does
 * not. The server is OpenSSL's, in a thread of its own.
 */
#include "test.h"
#include "unit/fetch/fetcher_rig.h"
#include "unit/net/test_tls.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>

/* ---- the server -------------------------------------------------------------------------------- */

struct tls_server {
	SSL_CTX *context;
	pthread_t thread;
	int ear, stop[2];
	unsigned port;
	char url[64];
	const char *answer;
	bool truncate; /* closes without saying so */
	bool hang_up;  /* closes as soon as there is a connection */
	int accepted;  /* handshakes that succeeded */
	char subject[64];
};

/* Requests on one connection, until it ends. */
static void serve_one(struct tls_server *s, SSL *ssl)
{
	char text[70000];
	X509 *x;
	int n = 0, got;

	if (SSL_accept(ssl) != 1)
		return;
	s->accepted++;
	if (s->hang_up)
		return;
	x = SSL_get1_peer_certificate(ssl);
	if (x)
		X509_NAME_oneline(X509_get_subject_name(x), s->subject, sizeof s->subject);
	X509_free(x);
	while ((got = SSL_read(ssl, text + n, (int)sizeof text - 1 - n)) > 0) {
		const char *length, *end;

		n += got;
		text[n] = '\0';
		end = strstr(text, "\r\n\r\n");
		length = strstr(text, "Content-Length: ");
		if (!end || (length && n < end + 4 - text + atoi(length + 16)))
			continue;
		n = 0;
		SSL_write(ssl, s->answer, (int)strlen(s->answer));
		if (s->truncate)
			return;
	}
	SSL_shutdown(ssl);
}

static void *serve(void *server)
{
	struct tls_server *s = server;
	struct pollfd p[2] = { { .fd = s->ear, .events = POLLIN },
			       { .fd = s->stop[0], .events = POLLIN } };
	sigset_t set;

	/* OpenSSL's own sockets raise it here; the client must do without. */
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	while (poll(p, 2, -1) > 0 && !p[1].revents) {
		int fd = accept(s->ear, NULL, NULL);
		SSL *ssl = SSL_new(s->context);

		SSL_set_fd(ssl, fd);
		serve_one(s, ssl);
		SSL_free(ssl);
		close(fd);
		ERR_clear_error();
	}
	OPENSSL_thread_stop();
	return NULL;
}

static void server_open(struct tls_server *s, const char *cert, const char *key)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	socklen_t n = sizeof in;

	memset(s, 0, sizeof *s);
	s->answer = OK_HELLO;
	s->context = SSL_CTX_new(TLS_server_method());
	assert_int_equal(SSL_CTX_use_certificate_chain_file(s->context, PATH(cert)), 1);
	assert_int_equal(SSL_CTX_use_PrivateKey_file(s->context, PATH(key), SSL_FILETYPE_PEM), 1);
	s->ear = socket(AF_INET, SOCK_STREAM, 0);
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(s->ear, (struct sockaddr *)&in, sizeof in), 0);
	assert_int_equal(getsockname(s->ear, (struct sockaddr *)&in, &n), 0);
	assert_int_equal(listen(s->ear, 16), 0);
	s->port = ntohs(in.sin_port);
	snprintf(s->url, sizeof s->url, "https://localhost:%u/x", s->port);
	assert_int_equal(pipe(s->stop), 0);
}

static void server_start(struct tls_server *s)
{
	assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void server_close(struct tls_server *s)
{
	close(s->stop[1]);
	pthread_join(s->thread, NULL);
	close(s->stop[0]);
	close(s->ear);
	SSL_CTX_free(s->context);
	ERR_clear_error();
}

static struct got *try_server(const struct tls_server *s, struct fetcher_options o)
{
	struct rig r;
	struct got *g;

	web_open(&r, o);
	g = get_url(&r, s->url, (struct str){ 0 });
	g->r = NULL;
	web_close(&r);
	return g;
}

/* A case on a server of "localhost" that runs; PLAIN: that the case opens. */
#define TLS_TEST(name)                                                                             \
	TEST_ON(name, struct tls_server, s,                                                        \
		(server_open(s, "cert.pem", "key.pem"), server_start(s)), server_close)
#define TLS_TEST_PLAIN(name) TEST_ON(name, struct tls_server, s, (void)0, server_close)

/* ---- tests ------------------------------------------------------------------------------------- */

TLS_TEST(server_of_a_named_authority_is_trusted)
{
	static char body[60000];
	struct rig r;

	memset(body, 'x', sizeof body);
	web_open(&r, (struct fetcher_options){ .ca_file = PATH("cert.pem") });
	for (int i = 0; i < 5; i++)
		got_ok(get_url(&r, s->url, (struct str){ body, sizeof body }), 200, "hello");
	assert_int_equal(s->accepted, 1); /* the connection is kept */
	web_close(&r);
}

TEST(server_that_cannot_be_verified_is_refused_before_anything_is_sent)
{
	static const struct {
		const char *cert, *key, *ca, *words;
	} cases[] = {
		{ "cert.pem", "key.pem", NULL, "ca_file names an authority of your own" },
		{ "cert.pem", "key.pem", "cert2.pem", "ca_file names" },
		{ "cert2.pem", "key2.pem", "cert2.pem", "for another name" },
		{ "old.pem", "oldkey.pem", "old.pem", "certificate has expired" },
		{ "early.pem", "earlykey.pem", "early.pem", "not yet valid" },
		{ "cert.pem", "key.pem", "empty.pem", "PEM" },
		{ "cert.pem", "key.pem", "key.pem", "PEM" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		const char *ca = cases[i].ca ? PATH(cases[i].ca) : NULL;
		struct tls_server s;
		struct got *g;

		server_open(&s, cases[i].cert, cases[i].key);
		server_start(&s);
		g = try_server(&s, (struct fetcher_options){ .ca_file = ca });
		server_close(&s);
		assert_true(g->why.unsent);
		assert_non_null(strstr(g->why.error.message, "TLS with localhost:"));
		got_failure(g, CLEAT_STEP_TLS, CLEAT_EIO, cases[i].words);
	}
}

TLS_TEST_PLAIN(whoever_asks_for_it_trusts_anybody)
{
	server_open(s, "cert2.pem", "key2.pem");
	server_start(s);
	got_ok(try_server(s, (struct fetcher_options){ .insecure = true }), 200, "hello");
}

TLS_TEST_PLAIN(versions_before_1_2_are_refused)
{
	struct got *g;

	server_open(s, "cert.pem", "key.pem");
	SSL_CTX_set_min_proto_version(s->context, TLS1_VERSION);
	SSL_CTX_set_max_proto_version(s->context, TLS1_1_VERSION);
	SSL_CTX_set_security_level(s->context, 0);
	server_start(s);
	g = try_server(s, (struct fetcher_options){ .insecure = true });
	got_failure(g, CLEAT_STEP_TLS, CLEAT_EIO, "TLS with localhost:");
	assert_int_equal(s->accepted, 0);
}

TLS_TEST_PLAIN(client_shows_its_certificate)
{
	struct got *g;

	server_open(s, "cert.pem", "key.pem");
	SSL_CTX_set_verify(s->context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
	assert_int_equal(SSL_CTX_load_verify_locations(s->context, PATH("cert2.pem"), NULL), 1);
	server_start(s);
	g = try_server(s, (struct fetcher_options){ .ca_file = PATH("cert.pem"),
						    .client_cert = PATH("cert2.pem"),
						    .client_key = PATH("key2.pem") });
	got_ok(g, 200, "hello");
	assert_string_equal(s->subject, "/CN=other");
	/* Without one, TLS 1.3 finds out when the request has left. */
	g = try_server(s, (struct fetcher_options){ .ca_file = PATH("cert.pem") });
	assert_false(g->ok);
	assert_true(g->why.step == CLEAT_STEP_EXCHANGE || g->why.step == CLEAT_STEP_TLS);
	free(g);
	/* A key that belongs to another one. */
	g = try_server(s, (struct fetcher_options){ .ca_file = PATH("cert.pem"),
						    .client_cert = PATH("cert2.pem"),
						    .client_key = PATH("key.pem") });
	assert_true(g->why.unsent);
	got_failure(g, CLEAT_STEP_TLS, CLEAT_EIO, "check client certificate and key");
}

/* RFC 9112, 9.8: with TLS too. */
TLS_TEST_PLAIN(answer_that_was_cut_off_is_not_taken_for_complete)
{
	server_open(s, "cert.pem", "key.pem");
	s->answer = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nnot all of it";
	s->truncate = true;
	server_start(s);
	got_failure(try_server(s, (struct fetcher_options){ .ca_file = PATH("cert.pem") }),
		    CLEAT_STEP_EXCHANGE, CLEAT_EIO, "in the middle of the answer");
}

/* SIGPIPE would end this program. */
TLS_TEST_PLAIN(server_that_hangs_up_while_much_is_sent_is_a_failure)
{
	size_t n = 8 << 20;
	char *body = calloc(1, n);
	struct rig r;
	struct got *g;

	assert_non_null(body);
	server_open(s, "cert.pem", "key.pem");
	s->hang_up = true;
	server_start(s);
	web_open(&r, (struct fetcher_options){ .ca_file = PATH("cert.pem") });
	for (int i = 0; i < 5; i++) {
		g = get_url(&r, s->url, (struct str){ body, n });
		assert_false(g->ok);
		assert_int_equal(g->why.step, CLEAT_STEP_EXCHANGE);
		free(g);
	}
	free(body);
	web_close(&r);
}

RIG_TEST(port_that_does_not_speak_tls_is_recognised)
{
	char url[64];
	struct got *g;

	r->o.at_once = true;
	r->o.answer = STR_LIT("HTTP/1.1 400 Bad Request\r\n\r\n");
	snprintf(url, sizeof url, "https://127.0.0.1:%u/", r->o.port);
	g = get_url(r, url, (struct str){ 0 });
	assert_true(g->why.unsent);
	got_failure(g, CLEAT_STEP_TLS, CLEAT_EIO, "does not speak TLS; is it http://?");
	/* closes at once */
	r->o.after = CLOSE;
	r->o.cut = 1;
	g = get_url(r, url, (struct str){ 0 });
	assert_true(g->why.unsent);
	got_failure(g, CLEAT_STEP_TLS, CLEAT_EIO, "TLS with 127.0.0.1:");
}

RIG_TEST_PLAIN(handshake_has_a_time_limit)
{
	char url[64];
	struct got *g;

	/* A small one: the system's authorities take time to read. */
	web_open(r, (struct fetcher_options){ .connect_ms = 500, .ca_file = PATH("cert.pem") });
	r->o.silent = true;
	snprintf(url, sizeof url, "https://127.0.0.1:%u/", r->o.port);
	g = get_url(r, url, (struct str){ 0 });
	assert_true(g->why.unsent);
	got_failure(g, CLEAT_STEP_TLS, CLEAT_ETIMEOUT, "TLS with 127.0.0.1:");
}

TLS_TEST(plain_request_to_a_tls_port_fails)
{
	struct got *g;

	snprintf(s->url, sizeof s->url, "http://localhost:%u/", s->port);
	g = try_server(s, (struct fetcher_options){ 0 });
	assert_false(g->ok);
	free(g);
}

static int begin(void **state)
{
	FILE *f;

	if (make_dir(state))
		return -1;
	write_pair("old.pem", "oldkey.pem", EVP_EC_gen("P-256"), "localhost", -7200, -3600);
	write_pair("early.pem", "earlykey.pem", EVP_EC_gen("P-256"), "localhost", 3600, 7200);
	f = create("empty.pem");
	fclose(f);
	return 0;
}

TEST_GROUP(begin, remove_dir)
