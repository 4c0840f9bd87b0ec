/* test_crypto_missing.c - base/crypto when libcrypto is not there, is another one, or fails.
 *
 * A second copy of base/crypto.c finds what missing_rig.h lets it find, and failing functions in the
 * place of libcrypto's. Contexts are counted, so that a leak on any path shows.
 */
#include "test.h"
#include "unit/base/missing_rig.h"

#undef CLEAT_LINK_CRYPTO
#define crypto_load   copy_load
#define crypto_random copy_random
#define crypto_sha256 copy_sha256
#define crypto_seal   copy_seal
#define crypto_open   copy_open
#define crypto_wipe   copy_wipe
#define crypto_equal  copy_equal
#include "base/crypto.c" /* NOLINT(bugprone-suspicious-include): see above */

static const char *failing; /* name of a function that is there, but fails */
static int contexts;
static const struct calls *real = NULL;

static const unsigned char key[CRYPTO_KEY_SIZE] = "0123456789abcdef0123456789abcdef";

static EVP_CIPHER_CTX *counted_new(void)
{
	contexts += strcmp(failing, "EVP_CIPHER_CTX_new") != 0;
	return strcmp(failing, "EVP_CIPHER_CTX_new") ? real->EVP_CIPHER_CTX_new() : NULL;
}

static void counted_free(EVP_CIPHER_CTX *ctx)
{
	contexts -= ctx != NULL;
	real->EVP_CIPHER_CTX_free(ctx);
}

static int fail_random(unsigned char *p, int n)
{
	(void)p;
	(void)n;
	return 0;
}

static int fail_digest(const void *p, size_t n, unsigned char *out, unsigned int *size,
		       const EVP_MD *md, ENGINE *engine)
{
	(void)p, (void)n, (void)out, (void)size, (void)md, (void)engine;
	return 0;
}

static int fail_init(EVP_CIPHER_CTX *ctx, const EVP_CIPHER *type, ENGINE *engine,
		     const unsigned char *k, const unsigned char *iv, int enc)
{
	(void)ctx, (void)type, (void)engine, (void)k, (void)iv, (void)enc;
	return 0;
}

static int fail_update(EVP_CIPHER_CTX *ctx, unsigned char *out, int *n, const unsigned char *in,
		       int len)
{
	(void)ctx, (void)out, (void)n, (void)in, (void)len;
	return 0;
}

static int fail_final(EVP_CIPHER_CTX *ctx, unsigned char *out, int *n)
{
	(void)ctx, (void)out, (void)n;
	return 0;
}

static int fail_ctrl(EVP_CIPHER_CTX *ctx, int type, int arg, void *p)
{
	(void)ctx, (void)type, (void)arg, (void)p;
	return 0;
}

/* Puts the failing functions into the copy's shared table. `failing` is never NULL afterwards. */
static void break_calls(const char *name)
{
	static struct calls genuine;

	if (!real) {
		assert_int_equal(copy_load(NULL), CLEAT_OK);
		genuine = shared;
		real = &genuine;
	}
	failing = name;
	shared = genuine;
	shared.EVP_CIPHER_CTX_new = counted_new;
	shared.EVP_CIPHER_CTX_free = counted_free;
	if (strcmp(name, "RAND_bytes") == 0)
		shared.RAND_bytes = fail_random;
	if (strcmp(name, "EVP_Digest") == 0)
		shared.EVP_Digest = fail_digest;
	if (strcmp(name, "EVP_CipherInit_ex") == 0)
		shared.EVP_CipherInit_ex = fail_init;
	if (strcmp(name, "EVP_CipherUpdate") == 0)
		shared.EVP_CipherUpdate = fail_update;
	if (strcmp(name, "EVP_CipherFinal_ex") == 0)
		shared.EVP_CipherFinal_ex = fail_final;
	if (strcmp(name, "EVP_CIPHER_CTX_ctrl") == 0)
		shared.EVP_CIPHER_CTX_ctrl = fail_ctrl;
}

/* ---- not there ---------------------------------------------------------------------------- */

static void assert_all_unsupported(void)
{
	static const char want[] = "libcrypto.so.3 cannot be loaded (a reason): install libssl3";
	unsigned char bytes[32];
	struct buf b;
	cleat_error e;

	buf_init(&b, NULL, 100);
	assert_int_equal(copy_load(&e), CLEAT_EUNSUPPORTED);
	assert_string_equal(e.message, want);
	assert_int_equal(copy_load(NULL), CLEAT_EUNSUPPORTED);
	assert_int_equal(copy_random(bytes, 0, &e), CLEAT_EUNSUPPORTED);
	assert_int_equal(copy_sha256(STR_LIT("x"), bytes, &e), CLEAT_EUNSUPPORTED);
	assert_int_equal(copy_seal(key, STR_LIT(""), STR_LIT("x"), &b, &e), CLEAT_EUNSUPPORTED);
	assert_int_equal(copy_open(key, STR_LIT(""), STR_LIT("x"), &b, &e), CLEAT_EUNSUPPORTED);
	assert_string_equal(e.message, want);
	assert_false(copy_equal("a", "a", 1)); /* cannot say, so no */
	memset(bytes, 'x', sizeof bytes);
	copy_wipe(bytes + 1, sizeof bytes - 2); /* needs nothing */
	assert_int_equal(bytes[0], 'x');
	assert_int_equal(bytes[sizeof bytes - 1], 'x');
	for (size_t i = 1; i < sizeof bytes - 1; i++)
		assert_int_equal(bytes[i], 0);
	assert_null(b.data);
}

TEST(missing_library_is_unsupported_and_says_what_to_install)
{
	deny_library(assert_all_unsupported);
}

TEST(missing_function_is_unsupported)
{
	DENY_FUNCTIONS(assert_all_unsupported);
}

/* After the two tests above: what failed before works once the library is there. */
TEST(library_that_appears_later_is_used_and_opened_once)
{
	opened = 0;
	assert_int_equal(copy_load(NULL), CLEAT_OK);
	assert_int_equal(copy_load(NULL), CLEAT_OK);
	assert_true(copy_equal("a", "a", 1));
	assert_int_equal(opened, 1);
}

/* While another thread fills the shared table nobody waits for it: the own look-up serves. */
TEST(table_that_is_being_filled_is_not_waited_for)
{
	unsigned char a[CRYPTO_HASH_SIZE], b[CRYPTO_HASH_SIZE];

	assert_int_equal(copy_sha256(STR_LIT("x"), a, NULL), CLEAT_OK);
	atomic_store(&lazy.state, LAZY_FILLING);
	opened = 0;
	assert_int_equal(copy_sha256(STR_LIT("x"), b, NULL), CLEAT_OK);
	assert_int_equal(opened, 1);
	assert_int_equal(atomic_load(&lazy.state), LAZY_FILLING);
	atomic_store(&lazy.state, LAZY_READY);
	assert_memory_equal(a, b, sizeof a);
}

/* ---- there, but failing ------------------------------------------------------------------- */

TEST(failing_random_and_digest_are_errors)
{
	unsigned char bytes[CRYPTO_HASH_SIZE];
	struct buf b;
	cleat_error e;

	buf_init(&b, NULL, 100);
	break_calls("RAND_bytes");
	assert_int_equal(copy_random(bytes, 1, &e), CLEAT_EIO);
	assert_int_equal(e.status, CLEAT_EIO);
	assert_int_equal(copy_seal(key, STR_LIT(""), STR_LIT("x"), &b, &e), CLEAT_EIO);
	assert_int_equal(buf_size(&b), 0); /* never with a weak nonce */
	break_calls("EVP_Digest");
	assert_int_equal(copy_sha256(STR_LIT("x"), bytes, &e), CLEAT_EIO);
	break_calls("");
	buf_done(&b);
}

TEST(failing_cipher_leaks_nothing_and_shows_nothing)
{
	static const char *const names[] = { "EVP_CIPHER_CTX_new", "EVP_CipherInit_ex",
					     "EVP_CipherUpdate", "EVP_CipherFinal_ex",
					     "EVP_CIPHER_CTX_ctrl" };
	struct buf sealed, b;
	cleat_error e;

	buf_init(&sealed, NULL, 100);
	buf_init(&b, NULL, 100);
	break_calls("");
	assert_int_equal(copy_seal(key, STR_LIT("aad"), STR_LIT("text"), &sealed, &e), CLEAT_OK);
	for (size_t i = 0; i < CLEAT_COUNT(names); i++) {
		bool final = strcmp(names[i], "EVP_CipherFinal_ex") == 0;

		break_calls(names[i]);
		assert_int_equal(copy_seal(key, STR_LIT("aad"), STR_LIT("text"), &b, &e),
				 CLEAT_EIO);
		assert_int_equal(copy_seal(key, STR_LIT(""), STR_LIT("text"), &b, &e), CLEAT_EIO);
		/* Only the tag says "not genuine"; everything before is libcrypto's failure. */
		assert_int_equal(copy_open(key, STR_LIT("aad"), buf_str(&sealed), &b, &e),
				 final ? CLEAT_EPROTO : CLEAT_EIO);
		assert_int_equal(e.status, final ? CLEAT_EPROTO : CLEAT_EIO);
		assert_int_equal(buf_size(&b), 0);
		assert_null(b.data ? memchr(b.data, 't', 4) : NULL);
		assert_int_equal(contexts, 0);
	}
	break_calls("");
	assert_int_equal(copy_open(key, STR_LIT("aad"), buf_str(&sealed), &b, &e), CLEAT_OK);
	assert_int_equal(contexts, 0);
	buf_done(&sealed);
	buf_done(&b);
}

/* A program that uses libcrypto itself finds its list of errors as it was. */
TEST(error_list_of_the_program_is_left_alone)
{
	char sealed[40] = "";
	struct buf b;

	break_calls("");
	buf_init(&b, NULL, 100);
	assert_int_equal(copy_open(key, STR_LIT(""), (struct str){ sealed, 40 }, &b, NULL),
			 CLEAT_EPROTO);
	/* Marks are balanced: there is none left to pop. */
	assert_int_equal(real->ERR_pop_to_mark(), 0);
	buf_done(&b);
}
