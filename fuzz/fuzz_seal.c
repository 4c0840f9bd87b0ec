/* fuzz_seal.c - what comes back as requestState.
 *
 * The first byte says what the rest is: a token as it arrived; sealed bytes, encoded here so that
 * the fuzzer gets past base64url; a payload that must come back whole, and not once it has been
 * changed; or parameters, whose digest must not depend on how they are spelt.
 */
#include "protocol/seal.h"
#include "require.h"
#include "json/canonical.h"

#include <stdlib.h>
#include <string.h>

static const unsigned char key[CRYPTO_KEY_SIZE] = "0123456789abcdef0123456789abcdef";

static struct seal_binding binding(void)
{
	return (struct seal_binding){ .principal = STR_LIT("alice"),
				      .method = STR_LIT("tools/call") };
}

/* Nobody can make a token without the key: whatever it is, it is refused. */
static void forged(struct str token)
{
	struct seal_binding to = binding();
	struct buf out;
	int rc;

	buf_init(&out, NULL, 1 << 17);
	rc = seal_read(key, &to, 0, token, &out, NULL);
	require(rc == CLEAT_EPROTO && buf_size(&out) == 0);
	buf_done(&out);
}

static void forged_bytes(struct str sealed)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	uint32_t bits = 0;
	unsigned have = 0;
	struct buf token;

	buf_init(&token, NULL, 1 << 24);
	buf_appendz(&token, "c1.");
	for (size_t i = 0; i < sealed.n; i++) {
		bits = (bits << 8 | (unsigned char)sealed.p[i]) & 0xFFFF;
		for (have += 8; have >= 6;) {
			have -= 6;
			buf_putc(&token, digits[bits >> have & 63]);
		}
	}
	if (have)
		buf_putc(&token, digits[bits << (6 - have) & 63]);
	forged(buf_str(&token));
	buf_done(&token);
}

/* The first two bytes choose where the token is changed and into what. */
static void round_trip(struct str payload)
{
	struct seal_binding to = binding();
	struct buf token, out;
	size_t at;
	int rc;

	buf_init(&token, NULL, 1 << 17);
	buf_init(&out, NULL, 1 << 17);
	rc = seal_write(key, &to, 1000, payload, &token, NULL);
	if (rc == CLEAT_OK) {
		require(seal_read(key, &to, 1000, buf_str(&token), &out, NULL) == CLEAT_OK);
		require(str_eq(buf_str(&out), payload));
		require(seal_read(key, &to, 1001, buf_str(&token), &out, NULL) == CLEAT_ETIMEOUT);
		at = payload.n ? (unsigned char)payload.p[0] * 7919u % buf_size(&token) : 0;
		token.data[at] = (char)(token.data[at] ^ (payload.n > 1 ? payload.p[1] | 1 : 1));
		forged(buf_str(&token));
	} else {
		require(rc == CLEAT_ELIMIT && buf_size(&token) == 0);
	}
	buf_done(&token);
	buf_done(&out);
}

/* Does a key appear twice in any of its objects? */
static bool has_duplicate(const cleat_json *v)
{
	cleat_json_iter stack[129]; /* one more than the depth that is parsed by default */
	size_t depth = 0;

	for (;;) {
		if (cleat_json_duplicate(v))
			return true;
		stack[depth++] = cleat_json_each(v);
		while (depth > 0 && !cleat_json_next(&stack[depth - 1]))
			depth--;
		if (depth == 0)
			return false;
		v = stack[depth - 1].value;
	}
}

/* Canonical text is its own canonical text, and has the digest of what it came from. */
static void parameters(struct str text)
{
	cleat_doc *doc = cleat_doc_parse(text.p, text.n, NULL, NULL, NULL), *again;
	unsigned char a[CRYPTO_HASH_SIZE], b[CRYPTO_HASH_SIZE];
	struct buf once, twice;

	if (!doc)
		return;
	buf_init(&once, NULL, 1 << 24);
	buf_init(&twice, NULL, 1 << 24);
	require(json_write_canonical(&once, cleat_doc_root(doc), NULL) == CLEAT_OK);
	again = cleat_doc_parse(buf_str(&once).p, buf_size(&once), NULL, NULL, NULL);
	require(again != NULL);
	/* An object in which a key appears twice equals none with another order. */
	require(has_duplicate(cleat_doc_root(again)) ||
		cleat_json_equal(cleat_doc_root(doc), cleat_doc_root(again)));
	require(json_write_canonical(&twice, cleat_doc_root(again), NULL) == CLEAT_OK);
	require(str_eq(buf_str(&once), buf_str(&twice)));
	require(seal_digest(cleat_doc_root(doc), NULL, a, NULL) == CLEAT_OK);
	require(seal_digest(cleat_doc_root(again), NULL, b, NULL) == CLEAT_OK);
	require(memcmp(a, b, sizeof a) == 0);
	buf_done(&once);
	buf_done(&twice);
	cleat_doc_free(doc);
	cleat_doc_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str rest;

	if (size < 1)
		return 0;
	rest = (struct str){ (const char *)data + 1, size - 1 };
	switch (data[0]) {
	case 't': forged(rest); break;
	case 's': forged_bytes(rest); break;
	case 'p': round_trip(rest); break;
	case 'j': parameters(rest); break;
	default: return -1;
	}
	return 0;
}
