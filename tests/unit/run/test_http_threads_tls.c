/* test_http_threads_tls.c - TLS on several threads, and a certificate that is replaced while they
 * serve. The clients are OpenSSL's.
 */
#include "unit/run/http_threads.h"

#include "test.h"

#include "unit/net/test_tls.h"

static SSL_CTX *client_context;

struct secure {
	struct client *c; /* its descriptor */
	SSL *ssl;
};

/* Whether a wait only ended early; see more(). */
static bool once_more(struct secure *k, int rc)
{
	return rc != 1 && errno == EINTR && SSL_get_error(k->ssl, rc) == SSL_ERROR_WANT_READ;
}

static void secure_dial(struct secure *k, struct site *v)
{
	int rc;

	k->c = dial(v);
	k->ssl = SSL_new(client_context);
	must(k->ssl && SSL_set_fd(k->ssl, k->c->fd) == 1);
	do
		rc = SSL_connect(k->ssl);
	while (once_more(k, rc));
	must(rc == 1);
}

static void secure_hang_up(struct secure *k)
{
	SSL_free(k->ssl);
	hang_up(k->c);
}

static void secure_name(struct secure *k, char *name, int room)
{
	X509 *x = SSL_get1_peer_certificate(k->ssl);

	must(x &&
	     X509_NAME_get_text_by_NID(X509_get_subject_name(x), NID_commonName, name, room) > 0);
	X509_free(x);
}

/* GET /healthz on a connection that stays. */
static void secure_ask(struct secure *k)
{
	static const char request[] = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
	char in[1024];
	size_t n = 0, got;
	int rc;

	must(SSL_write_ex(k->ssl, request, sizeof request - 1, &got) == 1);
	do {
		do
			rc = SSL_read_ex(k->ssl, in + n, sizeof in - 1 - n, &got);
		while (once_more(k, rc));
		must(rc == 1);
		n += got;
		in[n] = '\0';
	} while (!strstr(in, "\r\n\r\nok\n"));
	must(strncmp(in, "HTTP/1.1 200", 12) == 0);
}

static atomic_bool enough;

static void *secure_client(void *arg)
{
	struct secure k;

	while (!atomic_load(&enough)) {
		secure_dial(&k, arg);
		for (int i = 0; i < 3; i++)
			secure_ask(&k);
		secure_hang_up(&k);
	}
	ERR_clear_error();
	return NULL;
}

static void replace(const char *from, const char *to)
{
	must(rename(PATH(from), PATH(to)) == 0);
}

static void reload(cleat_server *s, void *arg)
{
	(void)arg;
	cleat_server_reload_http(s);
}

/* Connections that are there keep theirs; new ones get the new one, on every thread. */
TEST(a_new_certificate_reaches_every_thread)
{
	enum { CLIENTS = 4, IN_A_ROW = 40 };
	const cleat_http_options o = { .tls_cert = PATH("cert.pem"), .tls_key = PATH("key.pem") };
	pthread_t clients[CLIENTS];
	struct secure before, k;
	static struct site v;
	char name[64];

	site_open(&v, NULL, o);
	for (int i = 0; i < CLIENTS; i++)
		must(pthread_create(&clients[i], NULL, secure_client, &v) == 0);
	secure_dial(&before, &v);
	secure_name(&before, name, sizeof name);
	assert_string_equal(name, "localhost");
	replace("cert2.pem", "cert.pem");
	replace("key2.pem", "key.pem");
	assert_int_equal(cleat_server_post(v.s, reload, NULL), CLEAT_OK);
	for (int row = 0; row < IN_A_ROW;) {
		secure_dial(&k, &v);
		secure_name(&k, name, sizeof name);
		row = strcmp(name, "other") == 0 ? row + 1 : 0;
		secure_hang_up(&k);
	}
	secure_ask(&before);
	secure_hang_up(&before);
	atomic_store(&enough, true);
	for (int i = 0; i < CLIENTS; i++)
		pthread_join(clients[i], NULL);
	site_stop(&v);
}

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

TEST_GROUP(begin, end)
