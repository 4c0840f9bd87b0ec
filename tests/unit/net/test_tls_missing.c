/* test_tls_missing.c - net/tls when OpenSSL is not there, is another one, or fails.
 *
 * A second copy of net/tls.c finds what missing_rig.h lets it find, and failing functions in the
 * place of OpenSSL's. OpenSSL's objects are counted, so that a leak on any path shows.
 */
#include "test.h"
#include "unit/base/missing_rig.h"

#undef CLEAT_LINK_TLS
#define tls_context_new      copy_context_new
#define tls_context_hold     copy_context_hold
#define tls_context_drop     copy_context_drop
#define tls_session_new      copy_session_new
#define tls_session_free     copy_session_free
#define tls_session_receive  copy_session_receive
#define tls_session_send     copy_session_send
#define tls_session_is_ready copy_session_is_ready
#define tls_session_finish   copy_session_finish
#include "net/tls.c" /* NOLINT(bugprone-suspicious-include): see above */
#include "unit/net/test_tls.h"

static int objects;
static struct calls genuine;

/* ---- not there --------------------------------------------------------------------------------- */

static void assert_unsupported(void)
{
	struct tls_context *c = NULL;
	cleat_error e = { 0 };

	assert_int_equal(tls_context_new(NULL, PATH("cert.pem"), PATH("key.pem"), &c, &e),
			 CLEAT_EUNSUPPORTED);
	assert_string_equal(e.message, "libssl.so.3 cannot be loaded (a reason): install libssl3");
	assert_int_equal(tls_context_new(NULL, PATH("cert.pem"), PATH("key.pem"), &c, NULL),
			 CLEAT_EUNSUPPORTED);
	assert_null(c);
}

TEST(missing_library_is_unsupported_and_says_what_to_install)
{
	deny_library(assert_unsupported);
}

TEST(missing_function_is_unsupported)
{
	DENY_FUNCTIONS(assert_unsupported);
}

/* After the two tests above: what failed before works once the library is there. */
TEST(library_that_appears_later_is_used_and_opened_once)
{
	struct pair p;

	opened = 0;
	context = context_of("cert.pem", "key.pem");
	assert_int_equal(opened, 1);
	pair_connect(&p, context, 0, ALL);
	assert_talking(&p);
	pair_close(&p);
	assert_int_equal(opened, 1);
}

/* While another thread fills the shared table, the own look-up serves, in the BIO too. */
TEST(table_that_is_being_filled_is_not_waited_for)
{
	struct tls_context *c;
	struct pair p;

	atomic_store(&lazy.state, LAZY_FILLING);
	c = context_of("cert.pem", "key.pem");
	pair_connect(&p, c, 0, ALL);
	assert_talking(&p);
	pair_close(&p);
	tls_context_drop(c);
	assert_int_equal(atomic_load(&lazy.state), LAZY_FILLING);
	atomic_store(&lazy.state, LAZY_READY);
}

/* ---- there, but failing ------------------------------------------------------------------------ */

static SSL_CTX *counted_context(const SSL_METHOD *m)
{
	objects++;
	return genuine.SSL_CTX_new(m);
}

static void counted_context_free(SSL_CTX *c)
{
	objects -= c != NULL;
	genuine.SSL_CTX_free(c);
}

static BIO_METHOD *counted_method(int type, const char *name)
{
	objects++;
	return genuine.BIO_meth_new(type, name);
}

static void counted_method_free(BIO_METHOD *m)
{
	objects -= m != NULL;
	genuine.BIO_meth_free(m);
}

static SSL *counted_ssl(SSL_CTX *c)
{
	objects++;
	return genuine.SSL_new(c);
}

static void counted_ssl_free(SSL *ssl)
{
	objects -= ssl != NULL;
	genuine.SSL_free(ssl);
}

static SSL_CTX *no_context(const SSL_METHOD *m)
{
	(void)m;
	ERR_raise(ERR_LIB_SSL, ERR_R_MALLOC_FAILURE);
	return NULL;
}

static BIO_METHOD *no_method(int type, const char *name)
{
	(void)type, (void)name;
	return NULL;
}

static int no_read(BIO_METHOD *m, int (*f)(BIO *, char *, int))
{
	(void)m, (void)f;
	return 0;
}

static int no_write(BIO_METHOD *m, int (*f)(BIO *, const char *, int))
{
	(void)m, (void)f;
	return 0;
}

static int no_ctrl(BIO_METHOD *m, long (*f)(BIO *, int, long, void *))
{
	(void)m, (void)f;
	return 0;
}

static long no_minimum(SSL_CTX *c, int command, long n, void *p)
{
	(void)c, (void)command, (void)n, (void)p;
	return 0;
}

static int no_ciphers(SSL_CTX *c, const char *list)
{
	(void)c, (void)list;
	return 0;
}

static int no_key(SSL_CTX *c, const char *file, int type)
{
	(void)c, (void)file, (void)type;
	ERR_raise(ERR_LIB_PEM, ERR_R_MALLOC_FAILURE);
	return 0;
}

static int no_certificate(SSL_CTX *c, const char *file)
{
	(void)c, (void)file;
	ERR_raise(ERR_LIB_X509, ERR_R_MALLOC_FAILURE);
	return 0;
}

static SSL *no_ssl(SSL_CTX *c)
{
	(void)c;
	ERR_raise(ERR_LIB_SSL, ERR_R_MALLOC_FAILURE);
	return NULL;
}

static BIO *no_bio(const BIO_METHOD *m)
{
	(void)m;
	return NULL;
}

static int no_room_to_read(SSL *ssl, void *p, size_t n, size_t *ret)
{
	(void)ssl, (void)p, (void)n, (void)ret;
	ERR_raise(ERR_LIB_EVP, ERR_R_MALLOC_FAILURE);
	ERR_raise(ERR_LIB_SSL, ERR_R_EVP_LIB);
	return 0;
}

static int no_room_to_write(SSL *ssl, const void *p, size_t n, size_t *ret)
{
	(void)ssl, (void)p, (void)n, (void)ret;
	ERR_raise(ERR_LIB_SSL, ERR_R_MALLOC_FAILURE);
	return 0;
}

static int no_goodbye(SSL *ssl)
{
	(void)ssl;
	return -1;
}

static void learn_genuine(void)
{
	struct calls own;
	const struct calls *k = calls_get(&own, NULL);

	assert_non_null(k);
	if (!genuine.SSL_new)
		genuine = *k;
}

static void count(void)
{
	learn_genuine();
	shared = genuine;
	shared.SSL_CTX_new = counted_context;
	shared.SSL_CTX_free = counted_context_free;
	shared.BIO_meth_new = counted_method;
	shared.BIO_meth_free = counted_method_free;
	shared.SSL_new = counted_ssl;
	shared.SSL_free = counted_ssl_free;
	objects = 0;
}

/* `break_it` in the place of one function: no context, and nothing is left of it. */
#define ASSERT_NO_CONTEXT(name, break_it)                                                          \
	do {                                                                                       \
		struct tls_context *c_ = NULL;                                                     \
		cleat_error e_ = { 0 };                                                            \
		count();                                                                           \
		shared.name = (break_it);                                                          \
		assert_int_equal(                                                                  \
			tls_context_new(NULL, PATH("cert.pem"), PATH("key.pem"), &c_, &e_),        \
			CLEAT_ENOMEM);                                                             \
		assert_int_equal(e_.status, CLEAT_ENOMEM);                                         \
		assert_null(c_);                                                                   \
		assert_int_equal(objects, 0);                                                      \
		assert_int_equal(ERR_peek_error(), 0);                                             \
	} while (0)

TEST(failing_context_leaks_nothing)
{
	ASSERT_NO_CONTEXT(SSL_CTX_new, no_context);
	ASSERT_NO_CONTEXT(BIO_meth_new, no_method);
	ASSERT_NO_CONTEXT(BIO_meth_set_read, no_read);
	ASSERT_NO_CONTEXT(BIO_meth_set_write, no_write);
	ASSERT_NO_CONTEXT(BIO_meth_set_ctrl, no_ctrl);
	ASSERT_NO_CONTEXT(SSL_CTX_ctrl, no_minimum);
	ASSERT_NO_CONTEXT(SSL_CTX_set_cipher_list, no_ciphers);
	ASSERT_NO_CONTEXT(SSL_CTX_use_PrivateKey_file, no_key);
	ASSERT_NO_CONTEXT(SSL_CTX_use_certificate_chain_file, no_certificate);
	shared = genuine;
}

TEST(failing_session_leaks_nothing)
{
	for (int i = 0; i < 2; i++) {
		struct tls_context *c;

		count();
		if (i)
			shared.BIO_new = no_bio;
		else
			shared.SSL_new = no_ssl;
		c = context_of("cert.pem", "key.pem");
		assert_null(tls_session_new(c));
		assert_int_equal(ERR_peek_error(), 0);
		tls_context_drop(c);
		assert_int_equal(objects, 0);
	}
	shared = genuine;
}

TEST(openssl_without_memory_ends_the_session)
{
	struct tls_context *c = context_of("cert.pem", "key.pem");
	struct pair p;

	learn_genuine();
	pair_connect(&p, c, 0, ALL);
	c->calls.SSL_read_ex = no_room_to_read;
	client_says(&p, STR_LIT("hello"));
	assert_true(feed_server(&p));
	assert_int_equal(p.rc, CLEAT_ENOMEM);
	assert_string_equal(p.err.message, "OpenSSL is out of memory");
	assert_false(tls_session_is_ready(p.server));
	pair_close(&p);

	c->calls = genuine;
	pair_connect(&p, c, 0, ALL);
	c->calls.SSL_write_ex = no_room_to_write;
	assert_int_equal(tls_session_send(p.server, STR_LIT("hello"), &p.wire), CLEAT_ENOMEM);
	assert_int_equal(tls_session_send(p.server, STR_LIT("hello"), &p.wire), CLEAT_ENOMEM);
	pair_close(&p);

	c->calls = genuine;
	pair_connect(&p, c, 0, ALL);
	c->calls.SSL_shutdown = no_goodbye;
	tls_session_finish(p.server, &p.wire);
	assert_int_equal(tls_session_send(p.server, STR_LIT("hello"), &p.wire), CLEAT_EPROTO);
	pair_close(&p);
	tls_context_drop(c);
}

TEST_GROUP(make_dir, tear_down)
