/* net/tls.c - see tls.h. OpenSSL's functions are called through a table that the dynamic loader
 * fills on first use (base/lazy.h) or, with CLEAT_LINK_TLS, the linker. Those of libcrypto are found
 * through libssl, which needs it.
 *
 * OpenSSL reads and writes through a BIO that stands on the caller's buffers, so between two calls a
 * session holds no bytes but OpenSSL's own: one incomplete record, or one handshake message under
 * OpenSSL's limits. OpenSSL takes its memory from malloc; only the structs here come from the
 * allocator.
 *
 * Invariants: a call takes in all the bytes it is given, and leaves the thread's list of OpenSSL
 * errors as it was.
 */
#include "net/tls.h"

#include "base/cold.h"
#include "base/error.h"
#include "base/lazy.h"
#include "base/mem.h"

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* With an authenticated cipher, a record is longer than its text by 29 bytes at most (TLS 1.2: 5 of
 * header, 8 of nonce, 16 of tag). */
enum { RECORD_TEXT = 16384, RECORD_EXTRA = 32 };

/* Forward secrecy and authenticated encryption only. TLS 1.3 has nothing else. */
#define CIPHERS_1_2 "ECDHE+AESGCM:ECDHE+CHACHA20"

/* For people who have no certificate yet. */
#define TRY_OUT                                                                                    \
	"to try TLS out: openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost "           \
	"-addext subjectAltName=DNS:localhost -keyout key.pem -out cert.pem"

/* The functions in use, named as in libssl and libcrypto. */
struct calls {
	const SSL_METHOD *(*TLS_server_method)(void);
	SSL_CTX *(*SSL_CTX_new)(const SSL_METHOD *);
	void (*SSL_CTX_free)(SSL_CTX *);
	long (*SSL_CTX_ctrl)(SSL_CTX *, int, long, void *);
	uint64_t (*SSL_CTX_set_options)(SSL_CTX *, uint64_t);
	int (*SSL_CTX_set_cipher_list)(SSL_CTX *, const char *);
	void (*SSL_CTX_set_alpn_select_cb)(SSL_CTX *, SSL_CTX_alpn_select_cb_func, void *);
	void (*SSL_CTX_set_default_passwd_cb)(SSL_CTX *, pem_password_cb *);
	void (*SSL_CTX_set_default_passwd_cb_userdata)(SSL_CTX *, void *);
	int (*SSL_CTX_use_certificate_chain_file)(SSL_CTX *, const char *);
	int (*SSL_CTX_use_PrivateKey_file)(SSL_CTX *, const char *, int);
	int (*SSL_CTX_check_private_key)(const SSL_CTX *);
	SSL *(*SSL_new)(SSL_CTX *);
	void (*SSL_free)(SSL *);
	void (*SSL_set_bio)(SSL *, BIO *, BIO *);
	void (*SSL_set_accept_state)(SSL *);
	int (*SSL_is_init_finished)(const SSL *);
	int (*SSL_read_ex)(SSL *, void *, size_t, size_t *);
	int (*SSL_write_ex)(SSL *, const void *, size_t, size_t *);
	int (*SSL_shutdown)(SSL *);
	int (*SSL_get_shutdown)(const SSL *);
	int (*SSL_get_error)(const SSL *, int);
	BIO_METHOD *(*BIO_meth_new)(int, const char *);
	void (*BIO_meth_free)(BIO_METHOD *);
	int (*BIO_meth_set_read)(BIO_METHOD *, int (*)(BIO *, char *, int));
	int (*BIO_meth_set_write)(BIO_METHOD *, int (*)(BIO *, const char *, int));
	int (*BIO_meth_set_ctrl)(BIO_METHOD *, long (*)(BIO *, int, long, void *));
	BIO *(*BIO_new)(const BIO_METHOD *);
	void (*BIO_set_data)(BIO *, void *);
	void *(*BIO_get_data)(BIO *);
	void (*BIO_set_flags)(BIO *, int);
	void (*BIO_clear_flags)(BIO *, int);
	unsigned long (*ERR_peek_error)(void);
	unsigned long (*ERR_get_error_all)(const char **, int *, const char **, const char **,
					   int *);
	const char *(*ERR_reason_error_string)(unsigned long);
	void (*ERR_clear_error)(void);
	void (*ERR_new)(void);
	void (*ERR_set_debug)(const char *, int, const char *);
	void (*ERR_set_error)(int, int, const char *, ...);
};

#define CALLS(X)                                                                                   \
	X(TLS_server_method)                                                                       \
	X(SSL_CTX_new)                                                                             \
	X(SSL_CTX_free)                                                                            \
	X(SSL_CTX_ctrl)                                                                            \
	X(SSL_CTX_set_options)                                                                     \
	X(SSL_CTX_set_cipher_list)                                                                 \
	X(SSL_CTX_set_alpn_select_cb)                                                              \
	X(SSL_CTX_set_default_passwd_cb)                                                           \
	X(SSL_CTX_set_default_passwd_cb_userdata)                                                  \
	X(SSL_CTX_use_certificate_chain_file)                                                      \
	X(SSL_CTX_use_PrivateKey_file)                                                             \
	X(SSL_CTX_check_private_key)                                                               \
	X(SSL_new)                                                                                 \
	X(SSL_free)                                                                                \
	X(SSL_set_bio)                                                                             \
	X(SSL_set_accept_state)                                                                    \
	X(SSL_is_init_finished)                                                                    \
	X(SSL_read_ex)                                                                             \
	X(SSL_write_ex)                                                                            \
	X(SSL_shutdown)                                                                            \
	X(SSL_get_shutdown)                                                                        \
	X(SSL_get_error)                                                                           \
	X(BIO_meth_new)                                                                            \
	X(BIO_meth_free)                                                                           \
	X(BIO_meth_set_read)                                                                       \
	X(BIO_meth_set_write)                                                                      \
	X(BIO_meth_set_ctrl)                                                                       \
	X(BIO_new)                                                                                 \
	X(BIO_set_data)                                                                            \
	X(BIO_get_data)                                                                            \
	X(BIO_set_flags)                                                                           \
	X(BIO_clear_flags)                                                                         \
	X(ERR_peek_error)                                                                          \
	X(ERR_get_error_all)                                                                       \
	X(ERR_reason_error_string)                                                                 \
	X(ERR_clear_error)                                                                         \
	X(ERR_new)                                                                                 \
	X(ERR_set_debug)                                                                           \
	X(ERR_set_error)

#ifdef CLEAT_LINK_TLS
LAZY_LINKED(CALLS)
#else
LAZY_LOADED(CALLS, "libssl.so.3", "libssl3")
#endif

struct tls_context {
	cleat_allocator mem;
	struct calls calls;
	atomic_size_t holders;
	SSL_CTX *ssl;
	BIO_METHOD *bio;
	bool asked; /* for a password */
};

struct tls_session {
	struct tls_context *context;
	SSL *ssl;
	struct str in;   /* what OpenSSL has not read yet; empty between two calls */
	struct buf *out; /* where it writes; only during a call */
	int status;      /* of what ended the session */
	bool began;      /* a byte has come */
	bool plain_http; /* to judge by the first byte */
};

/* ---- the list of errors ------------------------------------------------------------------------ */

/* OpenSSL's list of the thread's errors belongs to the program, which may be using OpenSSL too. A mark
 * in it does not do here: a handshake clears the list, marks and all, and SSL_get_error() wants it
 * empty. So what is in it is taken out for the time of a call and put back. Texts are cut; all but
 * always there is nothing to take. */
struct errors {
	size_t n;
	struct {
		unsigned long code;
		int line;
		char file[96], func[64], data[128];
	} list[ERR_NUM_ERRORS];
};

static void errors_take(const struct calls *k, struct errors *e)
{
	for (e->n = 0; e->n < ERR_NUM_ERRORS && k->ERR_peek_error(); e->n++) {
		const char *file = "", *func = "", *data = "";
		int line = 0, flags = 0;

		e->list[e->n].code = k->ERR_get_error_all(&file, &line, &func, &data, &flags);
		e->list[e->n].line = line;
		snprintf(e->list[e->n].file, sizeof e->list->file, "%s", file);
		snprintf(e->list[e->n].func, sizeof e->list->func, "%s", func);
		snprintf(e->list[e->n].data, sizeof e->list->data, "%s",
			 flags & ERR_TXT_STRING ? data : "");
	}
}

static void errors_put_back(const struct calls *k, const struct errors *e)
{
	k->ERR_clear_error();
	for (size_t i = 0; i < e->n; i++) {
		unsigned long code = e->list[i].code;

		k->ERR_new();
		k->ERR_set_debug(e->list[i].file, e->list[i].line, e->list[i].func);
		k->ERR_set_error(ERR_GET_LIB(code), ERR_GET_REASON(code),
				 e->list[i].data[0] ? "%s" : NULL, e->list[i].data);
	}
}

static const char *reason(const struct calls *k, unsigned long code)
{
	const char *text = ERR_SYSTEM_ERROR(code) ? strerror(ERR_GET_REASON(code))
						  : k->ERR_reason_error_string(code);

	return text ? text : "no reason given";
}

static bool is_no_memory(unsigned long code)
{
	return ERR_GET_REASON(code) == ERR_R_MALLOC_FAILURE;
}

/* ---- the BIO ----------------------------------------------------------------------------------- */

static const struct calls *bio_calls(struct calls *own, BIO *b, struct tls_session **ret)
{
	const struct calls *k = calls_get(own, NULL);

	*ret = k ? k->BIO_get_data(b) : NULL;
	return *ret ? k : NULL;
}

static int bio_read(BIO *b, char *to, int n)
{
	struct calls own;
	struct tls_session *t;
	const struct calls *k = bio_calls(&own, b, &t);
	size_t take;

	if (!k || n <= 0)
		return -1;
	k->BIO_clear_flags(b, BIO_FLAGS_RWS | BIO_FLAGS_SHOULD_RETRY);
	if (t->in.n == 0) {
		k->BIO_set_flags(b, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY);
		return -1;
	}
	take = t->in.n < (size_t)n ? t->in.n : (size_t)n;
	memcpy(to, t->in.p, take);
	t->in.p += take;
	t->in.n -= take;
	return (int)take;
}

/* Takes all or fails for good: there is no "later" here. */
static int bio_write(BIO *b, const char *from, int n)
{
	struct calls own;
	struct tls_session *t;
	const struct calls *k = bio_calls(&own, b, &t);

	if (!k || n < 0)
		return -1;
	k->BIO_clear_flags(b, BIO_FLAGS_RWS | BIO_FLAGS_SHOULD_RETRY);
	buf_append(t->out, from, (size_t)n);
	return buf_status(t->out) == CLEAT_OK ? n : -1;
}

static long bio_ctrl(BIO *b, int command, long number, void *p)
{
	(void)b, (void)number, (void)p;
	return command == BIO_CTRL_FLUSH;
}

static bool make_bio(struct tls_context *c)
{
	const struct calls *k = &c->calls;

	/* No number of its own: the numbers are few, and every reload of a certificate comes here. */
	c->bio = k->BIO_meth_new(BIO_TYPE_SOURCE_SINK, "buffers");
	return c->bio && k->BIO_meth_set_read(c->bio, bio_read) == 1 &&
	       k->BIO_meth_set_write(c->bio, bio_write) == 1 &&
	       k->BIO_meth_set_ctrl(c->bio, bio_ctrl) == 1;
}

/* ---- the context ------------------------------------------------------------------------------- */

/* Without this OpenSSL would ask on the terminal. */
static int refuse_password(char *to, int size, int writing, void *context)
{
	(void)to, (void)size, (void)writing;
	((struct tls_context *)context)->asked = true;
	return -1;
}

/* RFC 7301, 3.2: a client that names protocols, but none of ours, gets no_application_protocol. */
static int choose_protocol(SSL *ssl, const unsigned char **ret, unsigned char *ret_n,
			   const unsigned char *list, unsigned int n, void *arg)
{
	(void)ssl, (void)arg;
	for (unsigned int i = 0; i < n && list[i] < n - i; i += 1u + list[i]) {
		if (!str_eqz((struct str){ (const char *)list + i + 1, list[i] }, "http/1.1"))
			continue;
		*ret = list + i + 1;
		*ret_n = list[i];
		return SSL_TLSEXT_ERR_OK;
	}
	return SSL_TLSEXT_ERR_ALERT_FATAL;
}

static bool configure(struct tls_context *c)
{
	const struct calls *k = &c->calls;

	c->ssl = k->SSL_CTX_new(k->TLS_server_method());
	if (!c->ssl || !make_bio(c))
		return false;
	/* The machine's openssl.cnf may ask for more, not for less. */
	if (k->SSL_CTX_ctrl(c->ssl, SSL_CTRL_GET_MIN_PROTO_VERSION, 0, NULL) < TLS1_2_VERSION &&
	    k->SSL_CTX_ctrl(c->ssl, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, NULL) != 1)
		return false;
	k->SSL_CTX_set_options(c->ssl, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
	/* 32 KiB less for a connection that waits. */
	k->SSL_CTX_ctrl(c->ssl, SSL_CTRL_MODE, SSL_MODE_RELEASE_BUFFERS, NULL);
	/* Clients resume with tickets, which they keep; here nothing is kept for them. */
	k->SSL_CTX_ctrl(c->ssl, SSL_CTRL_SET_SESS_CACHE_MODE, SSL_SESS_CACHE_OFF, NULL);
	k->SSL_CTX_set_alpn_select_cb(c->ssl, choose_protocol, NULL);
	k->SSL_CTX_set_default_passwd_cb(c->ssl, refuse_password);
	k->SSL_CTX_set_default_passwd_cb_userdata(c->ssl, c);
	return k->SSL_CTX_set_cipher_list(c->ssl, CIPHERS_1_2) == 1;
}

/* What to do about it. */
static const char *remedy(unsigned long code)
{
	if (ERR_SYSTEM_ERROR(code))
		return ERR_GET_REASON(code) == ENOENT ? "; " TRY_OUT : "";
	if (ERR_GET_LIB(code) == ERR_LIB_SSL)
		return "; OpenSSL's security level asks for a stronger one";
	return "; it has to be PEM";
}

COLD static int bad_file(const struct tls_context *c, const char *what, const char *file,
			 cleat_error *err)
{
	unsigned long code = c->calls.ERR_peek_error();
	int rc = is_no_memory(code) ? CLEAT_ENOMEM : CLEAT_EINVAL;

	if (c->asked)
		return error_set(err, CLEAT_EINVAL,
				 "TLS %s %s is encrypted; decrypt it: openssl pkey -in %s -out ...",
				 what, file, file);
	error_set(err, rc, "TLS %s %s: %s%s", what, file, reason(&c->calls, code),
		  rc == CLEAT_ENOMEM ? "" : remedy(code));
	if (err && ERR_SYSTEM_ERROR(code))
		err->os_errno = ERR_GET_REASON(code);
	return rc;
}

/* The key first: OpenSSL gives a key up when a certificate comes that it does not belong to, whatever
 * their types, and then there is only one way to notice. */
static int load_files(struct tls_context *c, const char *cert, const char *key, cleat_error *err)
{
	const struct calls *k = &c->calls;

	if (k->SSL_CTX_use_PrivateKey_file(c->ssl, key, SSL_FILETYPE_PEM) != 1)
		return bad_file(c, "key", key, err);
	if (k->SSL_CTX_use_certificate_chain_file(c->ssl, cert) != 1)
		return bad_file(c, "certificate", cert, err);
	if (k->SSL_CTX_check_private_key(c->ssl) != 1)
		return error_set(err, CLEAT_EINVAL,
				 "TLS key %s does not belong to the (first) certificate in %s", key,
				 cert);
	return CLEAT_OK;
}

static int tls_prepare(struct tls_context *c, const char *cert, const char *key, cleat_error *err)
{
	struct errors program;
	int rc;

	errors_take(&c->calls, &program);
	if (configure(c))
		rc = load_files(c, cert, key, err);
	else
		rc = error_set(err, CLEAT_ENOMEM, "OpenSSL made no TLS context: %s",
			       reason(&c->calls, c->calls.ERR_peek_error()));
	errors_put_back(&c->calls, &program);
	return rc;
}

int tls_context_new(const cleat_allocator *mem, const char *cert_file, const char *key_file,
		    struct tls_context **ret, cleat_error *err)
{
	cleat_allocator m = mem_resolve(mem);
	struct calls own;
	const struct calls *k;
	struct tls_context *c;
	int rc;

	if (!cert_file || !key_file)
		return error_set(err, CLEAT_EINVAL,
				 "TLS needs two files, a certificate and its key; " TRY_OUT);
	k = calls_get(&own, err);
	if (!k)
		return CLEAT_EUNSUPPORTED;
	c = mem_zalloc(&m, sizeof *c);
	if (!c)
		return error_set(err, CLEAT_ENOMEM, "no memory for a TLS context");
	c->mem = m;
	c->calls = *k;
	atomic_init(&c->holders, 1);
	rc = tls_prepare(c, cert_file, key_file, err);
	if (rc == CLEAT_OK)
		*ret = c;
	else
		tls_context_drop(c);
	return rc;
}

struct tls_context *tls_context_hold(struct tls_context *c)
{
	atomic_fetch_add_explicit(&c->holders, 1, memory_order_relaxed);
	return c;
}

void tls_context_drop(struct tls_context *c)
{
	cleat_allocator mem;

	if (!c || atomic_fetch_sub_explicit(&c->holders, 1, memory_order_acq_rel) > 1)
		return;
	c->calls.SSL_CTX_free(c->ssl);
	c->calls.BIO_meth_free(c->bio);
	mem = c->mem;
	mem_free(&mem, c);
}

/* ---- the session ------------------------------------------------------------------------------- */

static bool make_ssl(struct tls_session *t)
{
	const struct calls *k = &t->context->calls;
	BIO *b;

	t->ssl = k->SSL_new(t->context->ssl);
	b = t->ssl ? k->BIO_new(t->context->bio) : NULL;
	if (!b)
		return false;
	k->BIO_set_data(b, t);
	k->SSL_set_bio(t->ssl, b, b); /* which owns it now */
	k->SSL_set_accept_state(t->ssl);
	return true;
}

struct tls_session *tls_session_new(struct tls_context *c)
{
	struct tls_session *t = mem_zalloc(&c->mem, sizeof *t);
	struct errors program;

	if (!t)
		return NULL;
	t->context = tls_context_hold(c);
	errors_take(&c->calls, &program);
	if (!make_ssl(t)) {
		tls_session_free(t);
		t = NULL;
	}
	errors_put_back(&c->calls, &program);
	return t;
}

void tls_session_free(struct tls_session *t)
{
	struct tls_context *c;

	if (!t)
		return;
	c = t->context;
	c->calls.SSL_free(t->ssl);
	mem_free(&c->mem, t);
	tls_context_drop(c);
}

/* A record begins with a byte below 32, a request with its method. */
static void look_at_first(struct tls_session *t, struct str bytes)
{
	if (t->began || bytes.n == 0)
		return;
	t->began = true;
	t->plain_http = memchr("CDGHOPT", bytes.p[0], 7) != NULL;
}

/* The first error that libssl noted: those before it are details of libcrypto's, those after it its
 * consequences. Empties the list. */
static unsigned long cause(const struct calls *k)
{
	unsigned long first = k->ERR_peek_error(), code = first;

	while (code && ERR_GET_LIB(code) != ERR_LIB_SSL && !is_no_memory(code))
		code = k->ERR_get_error_all(NULL, NULL, NULL, NULL, NULL);
	return code ? code : first;
}

COLD static int explain(const struct tls_session *t, cleat_error *err)
{
	const struct calls *k = &t->context->calls;
	unsigned long code = cause(k);
	bool alert =
		ERR_GET_LIB(code) == ERR_LIB_SSL && ERR_GET_REASON(code) >= SSL_AD_REASON_OFFSET;

	if (buf_status(t->out) != CLEAT_OK)
		return error_set(err, buf_status(t->out), "no room for what TLS has to send");
	if (is_no_memory(code))
		return error_set(err, CLEAT_ENOMEM, "OpenSSL is out of memory");
	if (t->plain_http)
		return error_set(err, CLEAT_EPROTO,
				 "the client speaks plain HTTP: this address is https:// only");
	return error_set(err, CLEAT_EPROTO, "%s: %s", alert ? "the client gave TLS up" : "TLS",
			 reason(k, code));
}

static int tls_read_all(struct tls_session *t, struct buf *plain, cleat_error *err)
{
	const struct calls *k = &t->context->calls;
	char text[RECORD_TEXT];
	size_t n = 0;

	while (k->SSL_read_ex(t->ssl, text, sizeof text, &n) == 1) {
		buf_append(plain, text, n);
		if (buf_status(plain) != CLEAT_OK)
			return t->status = error_set(err, buf_status(plain),
						     "no room for what TLS has decrypted");
	}
	switch (k->SSL_get_error(t->ssl, 0)) {
	case SSL_ERROR_WANT_READ: return CLEAT_OK;
	case SSL_ERROR_ZERO_RETURN:
		return error_set(err, CLEAT_ECLOSED, "the client has closed the TLS session");
	default: return t->status = explain(t, err);
	}
}

int tls_session_receive(struct tls_session *t, struct str bytes, struct buf *plain,
			struct buf *wire, cleat_error *err)
{
	const struct calls *k = &t->context->calls;
	struct errors program;
	int rc;

	if (t->status != CLEAT_OK)
		return error_set(err, t->status, "the TLS session is over");
	look_at_first(t, bytes);
	errors_take(k, &program);
	t->in = bytes;
	t->out = wire;
	rc = tls_read_all(t, plain, err);
	t->in = (struct str){ NULL, 0 };
	t->out = NULL;
	errors_put_back(k, &program);
	return rc;
}

bool tls_session_is_ready(const struct tls_session *t)
{
	return t->status == CLEAT_OK && t->context->calls.SSL_is_init_finished(t->ssl) == 1;
}

static bool is_finished(const struct tls_session *t)
{
	return t->context->calls.SSL_get_shutdown(t->ssl) & SSL_SENT_SHUTDOWN;
}

int tls_session_send(struct tls_session *t, struct str bytes, struct buf *wire)
{
	const struct calls *k = &t->context->calls;
	struct errors program;
	size_t n = 0;

	if (t->status != CLEAT_OK)
		return t->status;
	if (!tls_session_is_ready(t))
		return CLEAT_EMISUSE;
	if (is_finished(t))
		return CLEAT_ECLOSED;
	if (bytes.n == 0)
		return CLEAT_OK;
	/* OpenSSL cannot take a record back, so there has to be room before it begins. */
	if (!buf_reserve(wire, bytes.n + (bytes.n / RECORD_TEXT + 2) * RECORD_EXTRA))
		return buf_status(wire);
	errors_take(k, &program);
	t->out = wire;
	if (k->SSL_write_ex(t->ssl, bytes.p, bytes.n, &n) != 1)
		t->status = explain(t, NULL);
	t->out = NULL;
	errors_put_back(k, &program);
	return t->status;
}

void tls_session_finish(struct tls_session *t, struct buf *wire)
{
	const struct calls *k = &t->context->calls;
	struct errors program;

	if (!tls_session_is_ready(t) || is_finished(t))
		return;
	errors_take(k, &program);
	t->out = wire;
	if (k->SSL_shutdown(t->ssl) < 0)
		t->status = explain(t, NULL);
	t->out = NULL;
	errors_put_back(k, &program);
}
