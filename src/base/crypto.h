/* base/crypto.h - the three pieces of cryptography that the core needs, from libcrypto.
 *
 * libcrypto is loaded when it is first needed (dlopen of libcrypto.so.3): linking it would cost a
 * server that never seals anything 1.3 MB of memory and a millisecond at every start. With
 * CLEAT_LINK_CRYPTO it is linked in the ordinary way. Nothing here is written by hand.
 */
#ifndef BASE_CRYPTO_H
#define BASE_CRYPTO_H

#include "base/buf.h"
#include "base/str.h"

enum { CRYPTO_KEY_SIZE = 32, CRYPTO_HASH_SIZE = 32 };

/* CLEAT_OK, or CLEAT_EUNSUPPORTED with the loader's reason. Any thread; loads once. */
int crypto_load(cleat_error *err);
/* Random bytes from the system. CLEAT_OK or an error; never weak bytes. */
int crypto_random(void *p, size_t n, cleat_error *err);
int crypto_sha256(struct str data, unsigned char out[CRYPTO_HASH_SIZE], cleat_error *err);
/* AES-256-GCM with a random 96-bit nonce: appends nonce || ciphertext || tag to `out`. `aad` is
 * authenticated, not encrypted. */
int crypto_seal(const unsigned char key[CRYPTO_KEY_SIZE], struct str aad, struct str plain,
		struct buf *out, cleat_error *err);
/* The reverse; CLEAT_EPROTO when the text was not sealed with this key and aad. */
int crypto_open(const unsigned char key[CRYPTO_KEY_SIZE], struct str aad, struct str sealed,
		struct buf *out, cleat_error *err);
/* Overwrites a secret that is not needed any more; no compiler leaves it out. */
void crypto_wipe(void *p, size_t n);
/* Equal in constant time. */
bool crypto_equal(const void *a, const void *b, size_t n);

#endif
