/* auth/tokens.h - bearer tokens and API keys from a file.
 *
 * One a line: a name, white space, and "sha256:" with 64 hex digits (cleat never needs the token
 * itself), or the token as it is, for quick trials; a word that begins with '#' begins a comment. Names
 * and tokens are printable ASCII without spaces, names up to 64 characters, tokens from 16 on: whatever
 * can be tried from outside must not be found by trying. Nothing is there twice.
 *
 * Only hashes are kept in memory. How long it takes to look one up says nothing about the tokens that
 * are there. Not here: OAuth.
 */
#ifndef AUTH_TOKENS_H
#define AUTH_TOKENS_H

#include "base/crypto.h"
#include "base/str.h"

#include <cleat/base.h>

struct tokens;

/* Reads the text of a file. CLEAT_OK; CLEAT_EINVAL with line and reason (also when there is no token in
 * it, or a line is over 4 KiB); CLEAT_EUNSUPPORTED (no libcrypto); CLEAT_EIO (it fails);
 * CLEAT_ENOMEM; CLEAT_ELIMIT over 10,000. The reason never repeats anything of the file. Nothing of the
 * text is kept: whoever read the file can wipe it (crypto_wipe) when this returns. */
int tokens_parse(const cleat_allocator *mem, struct str text, struct tokens **ret,
		 cleat_error *err);
/* Accepts NULL. */
void tokens_free(struct tokens *t);
/* The name that belongs to the token; NULL when there is none, also without any tokens (t NULL), for
 * any token under 16 bytes and when libcrypto fails. Borrowed from t. Any thread. */
const char *tokens_find(const struct tokens *t, struct str token);
/* The same, with the hash of a token that is there, so that it can be asked for later. */
const char *tokens_find_hash(const struct tokens *t, struct str token,
			     unsigned char hash[CRYPTO_HASH_SIZE]);
/* Is the token with this hash there , under this name? The table may be a newer one than that which gave
 * the hash. NULL: does the name have any token? Any thread. */
bool tokens_have(const struct tokens *t, struct str name,
		 const unsigned char hash[CRYPTO_HASH_SIZE]);

#endif
