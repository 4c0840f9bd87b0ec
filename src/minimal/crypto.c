/* minimal/crypto.c - base/crypto.h in a minimal build that was not told to link libcrypto: there is none, and
 * what needs one (state that a client carries for the server) says so. */
#include "base/crypto.h"

#include "base/error.h"

static int none(cleat_error *err)
{
	return error_set(
		err, CLEAT_EUNSUPPORTED,
		"this is a minimal build of libcleat without libcrypto (CLEAT_LINK_CRYPTO)");
}

int crypto_random(void *p, size_t n, cleat_error *err)
{
	(void)p;
	(void)n;
	return none(err);
}

int crypto_sha256(struct str data, unsigned char out[CRYPTO_HASH_SIZE], cleat_error *err)
{
	(void)data;
	(void)out;
	return none(err);
}

int crypto_seal(const unsigned char key[CRYPTO_KEY_SIZE], struct str aad, struct str plain,
		struct buf *out, cleat_error *err)
{
	(void)key;
	(void)aad;
	(void)plain;
	(void)out;
	return none(err);
}

int crypto_open(const unsigned char key[CRYPTO_KEY_SIZE], struct str aad, struct str sealed,
		struct buf *out, cleat_error *err)
{
	return crypto_seal(key, aad, sealed, out, err);
}
