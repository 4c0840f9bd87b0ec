/* base/crypto.c - see crypto.h. libcrypto's functions are called through a table that the dynamic
 * loader fills on first use (base/lazy.h) or, with CLEAT_LINK_CRYPTO, the linker.
 *
 * Invariant: nothing that was not authenticated is ever visible in a caller's buffer.
 */
#include "base/crypto.h"

#include "base/error.h"
#include "base/lazy.h"

#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <string.h>

enum { NONCE_SIZE = 12, TAG_SIZE = 16, OVERHEAD = NONCE_SIZE + TAG_SIZE };

/* The functions in use, named as in libcrypto. */
struct calls {
	int (*RAND_bytes)(unsigned char *, int);
	int (*CRYPTO_memcmp)(const void *, const void *, size_t);
	void (*OPENSSL_cleanse)(void *, size_t);
	int (*ERR_set_mark)(void);
	int (*ERR_pop_to_mark)(void);
	const EVP_MD *(*EVP_sha256)(void);
	int (*EVP_Digest)(const void *, size_t, unsigned char *, unsigned int *, const EVP_MD *,
			  ENGINE *);
	const EVP_CIPHER *(*EVP_aes_256_gcm)(void);
	EVP_CIPHER_CTX *(*EVP_CIPHER_CTX_new)(void);
	void (*EVP_CIPHER_CTX_free)(EVP_CIPHER_CTX *);
	int (*EVP_CIPHER_CTX_ctrl)(EVP_CIPHER_CTX *, int, int, void *);
	int (*EVP_CipherInit_ex)(EVP_CIPHER_CTX *, const EVP_CIPHER *, ENGINE *,
				 const unsigned char *, const unsigned char *, int);
	int (*EVP_CipherUpdate)(EVP_CIPHER_CTX *, unsigned char *, int *, const unsigned char *,
				int);
	int (*EVP_CipherFinal_ex)(EVP_CIPHER_CTX *, unsigned char *, int *);
};

#define CALLS(X)                                                                                   \
	X(RAND_bytes)                                                                              \
	X(CRYPTO_memcmp)                                                                           \
	X(OPENSSL_cleanse)                                                                         \
	X(ERR_set_mark)                                                                            \
	X(ERR_pop_to_mark)                                                                         \
	X(EVP_sha256)                                                                              \
	X(EVP_Digest)                                                                              \
	X(EVP_aes_256_gcm)                                                                         \
	X(EVP_CIPHER_CTX_new)                                                                      \
	X(EVP_CIPHER_CTX_free)                                                                     \
	X(EVP_CIPHER_CTX_ctrl)                                                                     \
	X(EVP_CipherInit_ex)                                                                       \
	X(EVP_CipherUpdate)                                                                        \
	X(EVP_CipherFinal_ex)

#ifdef CLEAT_LINK_CRYPTO
LAZY_LINKED(CALLS)
#else
LAZY_LOADED(CALLS, "libcrypto.so.3", "libssl3")
#endif

int crypto_load(cleat_error *err)
{
	struct calls own;

	return calls_get(&own, err) ? CLEAT_OK : CLEAT_EUNSUPPORTED;
}

int crypto_random(void *p, size_t n, cleat_error *err)
{
	struct calls own;
	const struct calls *c = calls_get(&own, err);
	unsigned char *at = p;

	if (!c)
		return CLEAT_EUNSUPPORTED;
	while (n > 0) {
		int part = n > INT_MAX ? INT_MAX : (int)n;

		if (c->RAND_bytes(at, part) != 1)
			return error_set(err, CLEAT_EIO, "libcrypto has no random bytes to give");
		at += part;
		n -= (size_t)part;
	}
	return CLEAT_OK;
}

static const unsigned char *bytes(struct str s)
{
	return (const unsigned char *)(s.p ? s.p : "");
}

int crypto_sha256(struct str data, unsigned char out[CRYPTO_HASH_SIZE], cleat_error *err)
{
	struct calls own;
	const struct calls *c = calls_get(&own, err);

	if (!c)
		return CLEAT_EUNSUPPORTED;
	if (c->EVP_Digest(bytes(data), data.n, out, NULL, c->EVP_sha256(), NULL) != 1)
		return error_set(err, CLEAT_EIO, "libcrypto could not compute SHA-256");
	return CLEAT_OK;
}

/* One run of AES-256-GCM up to, not including, the tag: `n` bytes from `in` to `out`. libcrypto
 * takes lengths as int; its callers here have checked them. */
static bool crypto_run(const struct calls *c, EVP_CIPHER_CTX *ctx, bool seal,
		       const unsigned char *key, const unsigned char *nonce, struct str aad,
		       const unsigned char *in, size_t n, unsigned char *out)
{
	int len = 0;

	/* The default size of GCM's nonce is the 12 bytes used here. */
	if (c->EVP_CipherInit_ex(ctx, c->EVP_aes_256_gcm(), NULL, key, nonce, seal) != 1)
		return false;
	if (aad.n > 0 && c->EVP_CipherUpdate(ctx, NULL, &len, bytes(aad), (int)aad.n) != 1)
		return false;
	if (n == 0)
		return true;
	return c->EVP_CipherUpdate(ctx, out, &len, in, (int)n) == 1 && (size_t)len == n;
}

static bool seal_into(const struct calls *c, const unsigned char *key, struct str aad,
		      struct str plain, unsigned char *to)
{
	EVP_CIPHER_CTX *ctx = c->EVP_CIPHER_CTX_new();
	unsigned char *text = to + NONCE_SIZE, *tag = text + plain.n;
	int rest = 0;
	bool ok = ctx && crypto_run(c, ctx, true, key, to, aad, bytes(plain), plain.n, text) &&
		  c->EVP_CipherFinal_ex(ctx, tag, &rest) == 1 &&
		  c->EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, TAG_SIZE, tag) == 1;

	c->EVP_CIPHER_CTX_free(ctx);
	return ok;
}

int crypto_seal(const unsigned char key[CRYPTO_KEY_SIZE], struct str aad, struct str plain,
		struct buf *out, cleat_error *err)
{
	struct calls own;
	const struct calls *c = calls_get(&own, err);
	unsigned char *to;
	int rc;

	if (!c)
		return CLEAT_EUNSUPPORTED;
	if (aad.n > INT_MAX || plain.n > INT_MAX - OVERHEAD)
		return error_set(err, CLEAT_ELIMIT, "too long to be sealed");
	to = (unsigned char *)buf_reserve(out, plain.n + OVERHEAD);
	if (!to)
		return error_set(err, buf_status(out), "no room for the sealed text");
	rc = crypto_random(to, NONCE_SIZE, err);
	if (rc)
		return rc;
	/* libcrypto's list of errors belongs to the program that may be using libcrypto too. */
	c->ERR_set_mark();
	if (seal_into(c, key, aad, plain, to))
		buf_commit(out, plain.n + OVERHEAD);
	else
		rc = error_set(err, CLEAT_EIO, "libcrypto could not seal");
	c->ERR_pop_to_mark();
	return rc;
}

/* CLEAT_OK, CLEAT_EPROTO when the tag is wrong, CLEAT_EIO when libcrypto failed before that. */
static int open_into(const struct calls *c, const unsigned char *key, struct str aad,
		     const unsigned char *sealed, size_t n, unsigned char *to)
{
	EVP_CIPHER_CTX *ctx = c->EVP_CIPHER_CTX_new();
	unsigned char tag[TAG_SIZE];
	int rest = 0, rc = CLEAT_EIO;

	memcpy(tag, sealed + NONCE_SIZE + n, TAG_SIZE);
	if (ctx && crypto_run(c, ctx, false, key, sealed, aad, sealed + NONCE_SIZE, n, to) &&
	    c->EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, TAG_SIZE, tag) == 1)
		rc = c->EVP_CipherFinal_ex(ctx, to + n, &rest) == 1 ? CLEAT_OK : CLEAT_EPROTO;
	c->EVP_CIPHER_CTX_free(ctx);
	return rc;
}

int crypto_open(const unsigned char key[CRYPTO_KEY_SIZE], struct str aad, struct str sealed,
		struct buf *out, cleat_error *err)
{
	struct calls own;
	const struct calls *c = calls_get(&own, err);
	unsigned char *to;
	size_t n;
	int rc;

	if (!c)
		return CLEAT_EUNSUPPORTED;
	if (aad.n > INT_MAX || sealed.n > INT_MAX)
		return error_set(err, CLEAT_ELIMIT, "too long to be opened");
	if (sealed.n < OVERHEAD)
		return error_set(err, CLEAT_EPROTO, "the sealed text is not genuine");
	n = sealed.n - OVERHEAD;
	to = (unsigned char *)buf_reserve(out, n);
	if (!to)
		return error_set(err, buf_status(out), "no room for the opened text");
	c->ERR_set_mark();
	rc = open_into(c, key, aad, bytes(sealed), n, to);
	c->ERR_pop_to_mark();
	if (rc == CLEAT_OK) {
		buf_commit(out, n);
		return CLEAT_OK;
	}
	c->OPENSSL_cleanse(to, n);
	return error_set(err, rc,
			 rc == CLEAT_EPROTO ? "the sealed text is not genuine"
					    : "libcrypto could not open");
}

void crypto_wipe(void *p, size_t n)
{
	struct calls own;
	const struct calls *c = calls_get(&own, NULL);

	if (c) {
		c->OPENSSL_cleanse(p, n);
		return;
	}
	for (volatile unsigned char *at = p; n > 0; n--)
		*at++ = 0;
}

/* Without libcrypto nothing equals anything: the callers compare secrets, and fail closed. */
bool crypto_equal(const void *a, const void *b, size_t n)
{
	struct calls own;
	const struct calls *c = calls_get(&own, NULL);

	return c && c->CRYPTO_memcmp(a, b, n) == 0;
}
