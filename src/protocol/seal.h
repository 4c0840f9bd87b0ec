/* protocol/seal.h - requestState that travels through a client and comes back unchanged.
 *
 * 2026-07-28 patterns/mrtr: the state is attacker-controlled input; it is sealed (AES-256-GCM) and
 * bound to the principal, the method, a digest of the request's parameters, and an expiry. It is
 * not single-use: a server that needs that must remember on its own.
 */
#ifndef PROTOCOL_SEAL_H
#define PROTOCOL_SEAL_H

#include "base/buf.h"
#include "base/crypto.h"
#include "base/str.h"

#include <cleat/json.h>

struct seal_binding {
	struct str principal; /* absent: nobody is logged in */
	struct str method;
	unsigned char params[CRYPTO_HASH_SIZE];
};

/* The digest of a request's parameters without _meta, inputResponses and requestState: equal for
 * equal JSON, whatever the order of members or the white space. `params` NULL counts as {}. */
int seal_digest(const cleat_json *params, const cleat_allocator *mem,
		unsigned char out[CRYPTO_HASH_SIZE], cleat_error *err);
/* Appends the token (URL-safe base64 with a version mark) for `payload` to `out`. */
int seal_write(const unsigned char key[CRYPTO_KEY_SIZE], const struct seal_binding *to,
	       int64_t expires_ms, struct str payload, struct buf *out, cleat_error *err);
/* Appends the payload to `out`. CLEAT_EPROTO (not ours, or changed, or of another request or
 * principal: the message does not say which), CLEAT_ETIMEOUT (expired), CLEAT_ENOMEM. */
int seal_read(const unsigned char key[CRYPTO_KEY_SIZE], const struct seal_binding *to,
	      int64_t now_ms, struct str token, struct buf *out, cleat_error *err);

#endif
