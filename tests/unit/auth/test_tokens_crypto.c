/* test_tokens_crypto.c - bearer tokens (auth/tokens.c) when libcrypto is missing or fails.
 *
 * It compiles a second copy of the file under other names, whose hashes and random bytes come from
 * below: they fail when told to.
 */

#include "base/crypto.h"
#include "support.h"
#include "test.h"

static int fake_random(void *p, size_t n, cleat_error *err);
static int fake_sha256(struct str data, unsigned char out[CRYPTO_HASH_SIZE], cleat_error *err);

#define crypto_random fake_random
#define crypto_sha256 fake_sha256
#define tokens_parse  copy_parse
#define tokens_find   copy_find
#define tokens_free   copy_free
#include "auth/tokens.c" /* NOLINT(bugprone-suspicious-include): see above */
#undef crypto_random
#undef crypto_sha256

static int fail_random;  /* with this */
static int fail_sha256;  /* with this, ... */
static size_t hashes_ok; /* ... after so many */

static int fake_random(void *p, size_t n, cleat_error *err)
{
	if (fail_random)
		return error_set(err, fail_random, "no random bytes");
	return crypto_random(p, n, err);
}

static int fake_sha256(struct str data, unsigned char out[CRYPTO_HASH_SIZE], cleat_error *err)
{
	if (fail_sha256 && hashes_ok-- == 0) {
		hashes_ok = 0;
		return error_set(err, fail_sha256, "no hash");
	}
	return crypto_sha256(data, out, err);
}

#define FILE_TEXT STR_LIT("alice 0123456789abcdef\nbob fedcba9876543210\n")

TEST(without_random_bytes_there_are_no_tokens)
{
	static const int codes[] = { CLEAT_EUNSUPPORTED, CLEAT_EIO };
	struct tokens *t = NULL;
	struct fail_alloc fa;
	cleat_error err;

	for (size_t i = 0; i < CLEAT_COUNT(codes); i++) {
		fail_alloc_init(&fa, 0, false);
		fail_random = codes[i];
		assert_int_equal(copy_parse(&fa.hook, FILE_TEXT, &t, &err), codes[i]);
		assert_string_equal(err.message, "no random bytes");
		assert_null(t);
		assert_int_equal(fa.live, 0);
	}
	fail_random = 0;
}

TEST(a_hash_that_fails_ends_the_reading)
{
	struct tokens *t = NULL;
	struct fail_alloc fa;
	cleat_error err;

	fail_sha256 = CLEAT_EIO;
	for (size_t n = 0; n < 4; n++) { /* two for each token */
		fail_alloc_init(&fa, 0, false);
		hashes_ok = n;
		assert_int_equal(copy_parse(&fa.hook, FILE_TEXT, &t, &err), CLEAT_EIO);
		assert_string_equal(err.message, "no hash");
		assert_null(t);
		assert_int_equal(fa.live, 0);
	}
	fail_sha256 = 0;
}

TEST(a_hash_that_fails_finds_nobody)
{
	struct tokens *t = NULL;

	assert_int_equal(copy_parse(NULL, FILE_TEXT, &t, NULL), CLEAT_OK);
	fail_sha256 = CLEAT_EIO;
	for (size_t n = 0; n < 2; n++) {
		hashes_ok = n;
		assert_null(copy_find(t, STR_LIT("0123456789abcdef")));
	}
	fail_sha256 = 0;
	assert_string_equal(copy_find(t, STR_LIT("0123456789abcdef")), "alice");
	copy_free(t);
}
