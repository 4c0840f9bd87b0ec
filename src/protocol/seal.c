/* protocol/seal.c - see seal.h.
 *
 * token  = "c1." base64url(sealed), RFC 4648 section 5 without padding
 * sealed = nonce (12) ciphertext tag (16), of
 * plain  = expiry (8, big endian, ms) payload
 * aad    = "c1." then principal, method, params: length (8, big endian) bytes; the length of an
 *          absent principal is all ones, so that "nobody" is not the principal with the empty name
 *
 * There is exactly one token text for one sealed text: anything but the canonical base64url is
 * refused, so that a token can serve as a key in a list of used ones. A state is good up to and
 * including the millisecond of its expiry. Not here: where keys come from, and clocks.
 */
#include "protocol/seal.h"

#include "base/base64.h"
#include "base/error.h"
#include "json/canonical.h"

#include <string.h>

enum {
	TOKEN_MAX = 64 * 1024,
	BINDING_MAX = 64 * 1024,
	PARAMS_MAX = 64 * 1024 * 1024,
	EXPIRY_SIZE = 8,
	SEAL_OVERHEAD = 12 + 16
};

static const char version[] = "c1.";
enum { VERSION_SIZE = sizeof version - 1 };

/* Where they stand in the request that is asked again they differ by design: 2026-07-28
 * patterns/mrtr. */
static const char *const unbound[] = { "_meta", "inputResponses", "requestState" };

/* ---- binding ------------------------------------------------------------------------------ */

static void put64(struct buf *b, uint64_t v)
{
	char be[8];

	for (size_t i = 0; i < sizeof be; i++)
		be[i] = (char)(unsigned char)(v >> (56 - 8 * i));
	buf_append(b, be, sizeof be);
}

static uint64_t get64(const char *p)
{
	uint64_t v = 0;

	for (size_t i = 0; i < 8; i++)
		v = v << 8 | (unsigned char)p[i];
	return v;
}

static void put_part(struct buf *b, struct str s)
{
	put64(b, s.p ? s.n : UINT64_MAX);
	if (s.p)
		buf_append(b, s.p, s.n);
}

/* The aad in `b`, which the caller frees either way. */
static int binding(struct buf *b, const cleat_allocator *mem, const struct seal_binding *to,
		   cleat_error *err)
{
	struct str params = { (const char *)to->params, sizeof to->params };

	buf_init(b, mem, BINDING_MAX);
	buf_append(b, version, VERSION_SIZE);
	put_part(b, to->principal);
	put_part(b, to->method);
	put_part(b, params);
	if (buf_status(b))
		return error_set(err, buf_status(b), "cannot bind the state to its request: %s",
				 cleat_strstatus(buf_status(b)));
	return CLEAT_OK;
}

int seal_digest(const cleat_json *params, const cleat_allocator *mem,
		unsigned char out[CRYPTO_HASH_SIZE], cleat_error *err)
{
	struct buf text;
	int rc = CLEAT_OK;

	buf_init(&text, mem, PARAMS_MAX);
	if (params)
		rc = json_write_canonical_without(&text, params, unbound, CLEAT_COUNT(unbound),
						  mem);
	else
		buf_appendz(&text, "{}");
	if (!rc)
		rc = buf_status(&text);
	if (rc)
		error_set(err, rc, "cannot digest the parameters: %s", cleat_strstatus(rc));
	else
		rc = crypto_sha256(buf_str(&text), out, err);
	buf_done(&text);
	return rc;
}

/* ---- tokens ------------------------------------------------------------------------------- */

/* Appends the token for sealed bytes. */
static int write_token(struct str sealed, struct buf *out, cleat_error *err)
{
	size_t n = VERSION_SIZE + base64_size(BASE64_URL, sealed.n);
	char *to = buf_reserve(out, n);

	if (!to)
		return error_set(err, buf_status(out), "no room for the sealed state: %s",
				 cleat_strstatus(buf_status(out)));
	memcpy(to, version, VERSION_SIZE);
	base64_encode(BASE64_URL, sealed.p, sealed.n, to + VERSION_SIZE);
	buf_commit(out, n);
	return CLEAT_OK;
}

int seal_write(const unsigned char key[CRYPTO_KEY_SIZE], const struct seal_binding *to,
	       int64_t expires_ms, struct str payload, struct buf *out, cleat_error *err)
{
	struct buf aad, plain, sealed;
	int rc;

	if (payload.n > TOKEN_MAX ||
	    VERSION_SIZE + base64_size(BASE64_URL, SEAL_OVERHEAD + EXPIRY_SIZE + payload.n) >
		    TOKEN_MAX)
		return error_set(err, CLEAT_ELIMIT,
				 "a state of %zu bytes is too long: the sealed text may have %d",
				 payload.n, (int)TOKEN_MAX);
	buf_init(&plain, &out->mem, EXPIRY_SIZE + payload.n);
	buf_init(&sealed, &out->mem, SEAL_OVERHEAD + EXPIRY_SIZE + payload.n);
	put64(&plain, (uint64_t)expires_ms);
	buf_append(&plain, payload.p, payload.n);
	rc = binding(&aad, &out->mem, to, err);
	if (!rc && buf_status(&plain))
		rc = error_set(err, buf_status(&plain), "no memory to seal the state");
	if (!rc)
		rc = crypto_seal(key, buf_str(&aad), buf_str(&plain), &sealed, err);
	if (!rc)
		rc = write_token(buf_str(&sealed), out, err);
	buf_done(&sealed);
	buf_done(&plain);
	buf_done(&aad);
	return rc;
}

static int not_ours(cleat_error *err)
{
	return error_set(err, CLEAT_EPROTO, "requestState is not valid for this request");
}

/* The plain text of a token's base64url part. */
static int open_text(const unsigned char *key, struct str aad, struct str text, struct buf *plain,
		     cleat_error *err)
{
	struct buf sealed;
	int rc;

	buf_init(&sealed, &plain->mem, TOKEN_MAX);
	rc = base64_decode(BASE64_URL, text, &sealed);
	if (rc == CLEAT_OK)
		rc = crypto_open(key, aad, buf_str(&sealed), plain, err);
	else if (rc != CLEAT_EPROTO)
		error_set(err, rc, "no memory to open requestState");
	if (rc == CLEAT_EPROTO)
		rc = not_ours(err);
	buf_done(&sealed);
	return rc;
}

/* Appends the payload of an authentic plain text that is still good. */
static int take_payload(struct str plain, int64_t now_ms, struct buf *out, cleat_error *err)
{
	uint64_t expiry;

	if (plain.n < EXPIRY_SIZE) /* not by seal_write; the key serves something else too */
		return not_ours(err);
	expiry = get64(plain.p);
	/* Signed order on the unsigned bits: flipping the top bit maps one to the other. */
	if (((uint64_t)now_ms ^ 1ull << 63) > (expiry ^ 1ull << 63))
		return error_set(err, CLEAT_ETIMEOUT, "requestState has expired");
	if (buf_status(out))
		return error_set(err, buf_status(out), "no room for the state");
	buf_append(out, plain.p + EXPIRY_SIZE, plain.n - EXPIRY_SIZE);
	if (buf_status(out))
		return error_set(err, buf_status(out), "no room for the state: %s",
				 cleat_strstatus(buf_status(out)));
	return CLEAT_OK;
}

int seal_read(const unsigned char key[CRYPTO_KEY_SIZE], const struct seal_binding *to,
	      int64_t now_ms, struct str token, struct buf *out, cleat_error *err)
{
	struct buf aad, plain;
	struct str text;
	int rc;

	if (token.n > TOKEN_MAX || !str_starts(token, version))
		return not_ours(err);
	text = (struct str){ token.p + VERSION_SIZE, token.n - VERSION_SIZE };
	buf_init(&plain, &out->mem, TOKEN_MAX);
	rc = binding(&aad, &out->mem, to, err);
	if (!rc)
		rc = open_text(key, buf_str(&aad), text, &plain, err);
	if (!rc)
		rc = take_payload(buf_str(&plain), now_ms, out, err);
	buf_done(&plain);
	buf_done(&aad);
	return rc;
}
