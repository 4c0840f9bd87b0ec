/* test_tls.h - what the TLS tests share: certificates made on the spot, a client (OpenSSL's own, in
 * memory), and a pair of client and server whose bytes are carried in slices of any size.
 */
#ifndef TEST_TLS_H
#define TEST_TLS_H

#include "net/tls.h"

#include "test.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ALL ((size_t)1 << 30) /* a slice that is never filled */

/* ---- files ------------------------------------------------------------------------------------- */

static char dir[64];

static inline const char *path_in_dir(char *buf, size_t n, const char *name)
{
	snprintf(buf, n, "%s/%s", dir, name);
	return buf;
}

#define PATH(name) path_in_dir((char[128]){ 0 }, 128, (name))

static inline FILE *create(const char *name)
{
	FILE *f = fopen(PATH(name), "w");

	assert_non_null(f);
	return f;
}

static inline X509 *certificate(EVP_PKEY *key, const char *cn, long from, long until)
{
	X509 *x = X509_new();
	X509_NAME *name = X509_NAME_new();

	assert_non_null(x);
	assert_non_null(name);
	X509_set_version(x, 2);
	ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
	X509_gmtime_adj(X509_getm_notBefore(x), from);
	X509_gmtime_adj(X509_getm_notAfter(x), until);
	X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)cn, -1, -1, 0);
	X509_set_subject_name(x, name);
	X509_set_issuer_name(x, name);
	X509_NAME_free(name);
	X509_set_pubkey(x, key);
	assert_true(X509_sign(x, key, EVP_sha256()) > 0);
	return x;
}

/* cert_file and key_file in the directory; takes the key over. */
static inline void write_pair(const char *cert_file, const char *key_file, EVP_PKEY *key,
			      const char *cn, long from, long until)
{
	X509 *x = certificate(key, cn, from, until);
	FILE *f = create(cert_file);

	assert_int_equal(PEM_write_X509(f, x), 1);
	fclose(f);
	f = create(key_file);
	assert_int_equal(PEM_write_PrivateKey(f, key, NULL, NULL, 0, NULL, NULL), 1);
	fclose(f);
	X509_free(x);
	EVP_PKEY_free(key);
}

static inline int make_dir(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/cleat-tls-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	write_pair("cert.pem", "key.pem", EVP_EC_gen("P-256"), "localhost", -60, 3600);
	write_pair("cert2.pem", "key2.pem", EVP_EC_gen("P-256"), "other", -60, 3600);
	return 0;
}

static inline int remove_dir(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof command, "rm -rf '%s'", dir);
	return system(command); /* NOLINT(cert-env33-c): the path is ours */
}

static inline struct tls_context *context_of(const char *cert, const char *key)
{
	struct tls_context *c = NULL;
	cleat_error e = { 0 };

	if (tls_context_new(NULL, PATH(cert), PATH(key), &c, &e) != CLEAT_OK)
		fail_msg("%s", e.message);
	return c;
}

static struct tls_context *context; /* of cert.pem */

static inline int set_up(void **state)
{
	if (make_dir(state))
		return -1;
	context = context_of("cert.pem", "key.pem");
	return 0;
}

static inline int tear_down(void **state)
{
	tls_context_drop(context);
	return remove_dir(state);
}

/* ---- a client and a server --------------------------------------------------------------------- */

struct pair {
	struct tls_session *server;
	struct buf plain, wire; /* the server's */
	int rc;                 /* of the last receive */
	cleat_error err;
	SSL_CTX *context; /* the client's */
	SSL *client;
	BIO *in, *out;
	struct buf got;   /* what the client has read */
	bool client_done; /* the server has said goodbye to it */
	size_t step;      /* bytes carried at once, both ways */
};

/* The client trusts everybody. `version` 0: whatever it likes best. */
static inline void pair_open(struct pair *p, struct tls_context *c, int version, size_t step)
{
	memset(p, 0, sizeof *p);
	p->step = step;
	buf_init(&p->plain, NULL, 16 << 20);
	buf_init(&p->wire, NULL, 16 << 20);
	buf_init(&p->got, NULL, 16 << 20);
	p->server = tls_session_new(c);
	assert_non_null(p->server);
	p->context = SSL_CTX_new(TLS_client_method());
	if (version) {
		SSL_CTX_set_min_proto_version(p->context, version);
		SSL_CTX_set_max_proto_version(p->context, version);
	}
}

/* After whatever the test sets in p->context. */
static inline void pair_start(struct pair *p)
{
	p->client = SSL_new(p->context);
	p->in = BIO_new(BIO_s_mem());
	p->out = BIO_new(BIO_s_mem());
	SSL_set_bio(p->client, p->in, p->out);
	SSL_set_connect_state(p->client);
}

static inline void pair_close(struct pair *p)
{
	SSL_free(p->client);
	SSL_CTX_free(p->context);
	tls_session_free(p->server);
	buf_done(&p->plain);
	buf_done(&p->wire);
	buf_done(&p->got);
	ERR_clear_error();
}

/* One slice to the server. True when there was one. */
static inline bool feed_server(struct pair *p)
{
	char slice[65536];
	int n = BIO_read(p->out, slice, p->step < sizeof slice ? (int)p->step : (int)sizeof slice);

	if (n <= 0)
		return false;
	p->rc = tls_session_receive(p->server, (struct str){ slice, (size_t)n }, &p->plain,
				    &p->wire, &p->err);
	return true;
}

static inline void client_reads(struct pair *p)
{
	char text[5000];
	int n;

	while ((n = SSL_read(p->client, text, sizeof text)) > 0)
		buf_append(&p->got, text, (size_t)n);
	p->client_done |= SSL_get_error(p->client, n) == SSL_ERROR_ZERO_RETURN;
}

static inline bool feed_client(struct pair *p)
{
	size_t n = buf_size(&p->wire) < p->step ? buf_size(&p->wire) : p->step;

	if (n == 0)
		return false;
	assert_int_equal(BIO_write(p->in, buf_str(&p->wire).p, (int)n), (int)n);
	buf_consume(&p->wire, n);
	client_reads(p);
	return true;
}

/* Until neither has anything to say. */
static inline void pair_run(struct pair *p)
{
	bool went = true;

	client_reads(p);
	while (went) {
		went = false;
		while (feed_server(p))
			went = true;
		while (feed_client(p))
			went = true;
	}
}

static inline void pair_connect(struct pair *p, struct tls_context *c, int version, size_t step)
{
	pair_open(p, c, version, step);
	pair_start(p);
	pair_run(p);
	if (p->rc != CLEAT_OK)
		fail_msg("%s", p->err.message);
	assert_true(tls_session_is_ready(p->server));
	assert_true(SSL_is_init_finished(p->client));
}

static inline void client_says(struct pair *p, struct str text)
{
	size_t n = 0;

	assert_int_equal(SSL_write_ex(p->client, text.p, text.n, &n), 1);
	assert_int_equal(n, text.n);
}

static inline void assert_bytes(const struct buf *b, struct str want)
{
	assert_int_equal(buf_size(b), want.n);
	assert_memory_equal(buf_str(b).p, want.p, want.n);
}

static inline struct str megabyte(char seed)
{
	static char bytes[1 << 20];

	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (char)(seed + (char)(i * 7 + i / 251));
	return (struct str){ bytes, sizeof bytes };
}

/* A line each way. */
static inline void assert_talking(struct pair *p)
{
	buf_reset(&p->plain, 0);
	buf_reset(&p->got, 0);
	client_says(p, STR_LIT("hello, server"));
	assert_int_equal(tls_session_send(p->server, STR_LIT("hello, client"), &p->wire), CLEAT_OK);
	pair_run(p);
	assert_int_equal(p->rc, CLEAT_OK);
	assert_bytes(&p->plain, STR_LIT("hello, server"));
	assert_bytes(&p->got, STR_LIT("hello, client"));
}

/* A case on a pair, which it opens itself. */
#define PAIR_TEST(name) TEST_ON(name, struct pair, p, (void)0, pair_close)
/* The same for each version. */
#define VERSIONS_TEST(name)                                                                        \
	static void name##_by(struct pair *p, int v);                                              \
	TEST(name)                                                                                 \
	{                                                                                          \
		for (int v = TLS1_2_VERSION; v <= TLS1_3_VERSION; v++) {                           \
			struct pair p = { 0 };                                                     \
                                                                                                   \
			name##_by(&p, v);                                                          \
			pair_close(&p);                                                            \
		}                                                                                  \
	}                                                                                          \
	static void name##_by(struct pair *p, int v)

#endif
