/* test_crypto.c - base/crypto against published vectors, and sealing against tampering. What happens
 * when libcrypto is missing or fails is in test_crypto_missing.c.
 */

#include "base/crypto.h"
#include "base/error.h"
#include "support.h"
#include "test.h"

#include <limits.h>
#include <pthread.h>
#include <string.h>

static const unsigned char key[CRYPTO_KEY_SIZE] = "0123456789abcdef0123456789abcdef";

static size_t unhex(const char *hex, unsigned char *out)
{
	size_t n = strlen(hex) / 2;

	for (size_t i = 0; i < n; i++) {
		unsigned v = 0;

		assert_int_equal(sscanf(hex + 2 * i, "%2x", &v), 1);
		out[i] = (unsigned char)v;
	}
	return n;
}

/* ---- first: everybody loads at once ------------------------------------------------------- */

static void *hash_abc(void *arg)
{
	return crypto_sha256(STR_LIT("abc"), arg, NULL) == CLEAT_OK ? arg : NULL;
}

TEST(first_use_by_many_threads_at_once)
{
	enum { THREADS = 8 };
	unsigned char out[THREADS][CRYPTO_HASH_SIZE];
	pthread_t thread[THREADS];

	memset(out, 0, sizeof out);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, hash_abc, out[i]), 0);
	for (int i = 0; i < THREADS; i++) {
		void *ret = NULL;

		assert_int_equal(pthread_join(thread[i], &ret), 0);
		assert_ptr_equal(ret, out[i]);
	}
	assert_int_equal(out[0][0], 0xBA);
	for (int i = 1; i < THREADS; i++)
		assert_memory_equal(out[i], out[0], CRYPTO_HASH_SIZE);
	assert_int_equal(crypto_load(NULL), CLEAT_OK);
}

/* ---- known answers ------------------------------------------------------------------------ */

/* FIPS 180-4 examples. */
TEST(sha256_known_answers)
{
	static const struct {
		struct str text;
		const char *hash;
	} table[] = {
		{ { NULL, 0 }, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
		{ { "", 0 }, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
		{ { "abc", 3 },
		  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
		{ { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56 },
		  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		unsigned char out[CRYPTO_HASH_SIZE], want[CRYPTO_HASH_SIZE];

		unhex(table[i].hash, want);
		assert_int_equal(crypto_sha256(table[i].text, out, NULL), CLEAT_OK);
		assert_memory_equal(out, want, sizeof want);
	}
}

/* McGrew and Viega, "The Galois/Counter Mode of Operation", test cases 13, 14 and 16. */
static const struct {
	const char *key, *aad, *nonce, *text, *tag, *plain;
} gcm[] = {
	{ "0000000000000000000000000000000000000000000000000000000000000000", "",
	  "000000000000000000000000", "", "530f8afbc74536b9a963b4f1c4cb738b", "" },
	{ "0000000000000000000000000000000000000000000000000000000000000000", "",
	  "000000000000000000000000", "cea7403d4d606b6e074ec5d3baf39d18",
	  "d0d1c8a799996bf0265b98b5d48ab919", "00000000000000000000000000000000" },
	{ "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
	  "feedfacedeadbeeffeedfacedeadbeefabaddad2", "cafebabefacedbaddecaf888",
	  "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
	  "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
	  "76fc6ece0f4e1768cddf8853bb2d551b",
	  "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
	  "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39" },
};

TEST(open_known_answers)
{
	for (size_t i = 0; i < CLEAT_COUNT(gcm); i++) {
		unsigned char k[32], aad[32], sealed[128], plain[64];
		size_t n_aad, n_plain, n;
		struct buf out;

		unhex(gcm[i].key, k);
		n_aad = unhex(gcm[i].aad, aad);
		n_plain = unhex(gcm[i].plain, plain);
		n = unhex(gcm[i].nonce, sealed);
		n += unhex(gcm[i].text, sealed + n);
		n += unhex(gcm[i].tag, sealed + n);
		buf_init(&out, NULL, 64);
		assert_int_equal(crypto_open(k, (struct str){ (char *)aad, n_aad },
					     (struct str){ (char *)sealed, n }, &out, NULL),
				 CLEAT_OK);
		assert_int_equal(buf_size(&out), n_plain);
		assert_memory_equal(buf_str(&out).p, plain, n_plain);
		buf_done(&out);
	}
}

/* ---- sealing ------------------------------------------------------------------------------ */

TEST(sealed_text_opens_again_at_every_length)
{
	static char text[200];
	struct buf sealed, plain;

	for (size_t i = 0; i < sizeof text; i++)
		text[i] = (char)(i * 37);
	buf_init(&sealed, NULL, 1000);
	buf_init(&plain, NULL, 1000);
	for (size_t n = 0; n <= sizeof text; n++) {
		struct str in = { text, n }, aad = { text, n % 70 };

		buf_reset(&sealed, 1000);
		buf_reset(&plain, 1000);
		buf_appendz(&sealed, "kept");
		buf_appendz(&plain, "kept");
		assert_int_equal(crypto_seal(key, aad, in, &sealed, NULL), CLEAT_OK);
		assert_int_equal(buf_size(&sealed), 4 + 12 + n + 16);
		buf_consume(&sealed, 4);
		assert_int_equal(crypto_open(key, aad, buf_str(&sealed), &plain, NULL), CLEAT_OK);
		assert_int_equal(buf_size(&plain), 4 + n);
		assert_memory_equal(buf_str(&plain).p, "kept", 4);
		assert_memory_equal(buf_str(&plain).p + 4, text, n);
	}
	buf_done(&sealed);
	buf_done(&plain);
}

TEST(sealing_twice_gives_two_texts)
{
	struct buf a, b;

	buf_init(&a, NULL, 100);
	buf_init(&b, NULL, 100);
	assert_int_equal(crypto_seal(key, STR_LIT(""), STR_LIT("same"), &a, NULL), CLEAT_OK);
	assert_int_equal(crypto_seal(key, STR_LIT(""), STR_LIT("same"), &b, NULL), CLEAT_OK);
	assert_memory_not_equal(buf_str(&a).p, buf_str(&b).p, 12); /* the nonce is fresh */
	assert_memory_not_equal(buf_str(&a).p + 12, buf_str(&b).p + 12, 4);
	buf_done(&a);
	buf_done(&b);
}

/* Asserts that nothing comes out of it, not even in the memory behind the buffer's end. */
static void assert_refused(const unsigned char *k, struct str aad, struct str sealed)
{
	char before[64];
	struct buf out;
	cleat_error e;

	buf_init(&out, NULL, 100);
	memset(before, 0, sizeof before);
	assert_non_null(buf_reserve(&out, sizeof before));
	memset(buf_reserve(&out, sizeof before), 0, sizeof before);
	assert_int_equal(crypto_open(k, aad, sealed, &out, &e), CLEAT_EPROTO);
	assert_int_equal(e.status, CLEAT_EPROTO);
	assert_int_equal(buf_size(&out), 0);
	assert_int_equal(buf_status(&out), CLEAT_OK);
	assert_memory_equal(out.data, before, sizeof before);
	buf_done(&out);
}

TEST(open_refuses_every_change)
{
	const struct str aad = STR_LIT("bound to this");
	unsigned char other[CRYPTO_KEY_SIZE];
	struct buf sealed;
	size_t n;

	buf_init(&sealed, NULL, 100);
	assert_int_equal(crypto_seal(key, aad, STR_LIT("secret text"), &sealed, NULL), CLEAT_OK);
	n = buf_size(&sealed);
	for (size_t bit = 0; bit < n * 8; bit++) {
		sealed.data[bit / 8] = (char)(sealed.data[bit / 8] ^ (1 << bit % 8));
		assert_refused(key, aad, buf_str(&sealed));
		sealed.data[bit / 8] = (char)(sealed.data[bit / 8] ^ (1 << bit % 8));
	}
	for (size_t cut = 0; cut < n; cut++) {
		assert_refused(key, aad, (struct str){ sealed.data, cut });
		assert_refused(key, aad, (struct str){ sealed.data + n - cut, cut });
	}
	assert_refused(key, (struct str){ NULL, 0 }, buf_str(&sealed));
	assert_refused(key, STR_LIT("bound to thi"), buf_str(&sealed));
	assert_refused(key, STR_LIT("bound to this "), buf_str(&sealed));
	for (size_t i = 0; i < sizeof other; i++) {
		memcpy(other, key, sizeof other);
		other[i] ^= 1;
		assert_refused(other, aad, buf_str(&sealed));
	}
	buf_putc(&sealed, 0);
	assert_refused(key, aad, buf_str(&sealed));
	assert_refused(key, aad, (struct str){ NULL, 0 });
	buf_done(&sealed);
}

TEST(lengths_beyond_libcrypto_are_refused)
{
	struct str huge = { "x", (size_t)INT_MAX + 1 };
	struct buf out;
	cleat_error e;

	buf_init(&out, NULL, SIZE_MAX);
	assert_int_equal(crypto_seal(key, huge, STR_LIT("x"), &out, &e), CLEAT_ELIMIT);
	assert_int_equal(crypto_seal(key, STR_LIT(""), huge, &out, &e), CLEAT_ELIMIT);
	huge.n = (size_t)INT_MAX - 27; /* with nonce and tag one too many */
	assert_int_equal(crypto_seal(key, STR_LIT(""), huge, &out, &e), CLEAT_ELIMIT);
	huge.n = (size_t)INT_MAX + 1;
	assert_int_equal(crypto_open(key, huge, STR_LIT("x"), &out, &e), CLEAT_ELIMIT);
	assert_int_equal(crypto_open(key, STR_LIT(""), huge, &out, &e), CLEAT_ELIMIT);
	assert_int_equal(e.status, CLEAT_ELIMIT);
	assert_null(out.data);
}

TEST(full_and_failing_buffers_are_told)
{
	struct fail_alloc fa;
	struct buf out;
	cleat_error e;

	buf_init(&out, NULL, 31); /* 4 + 28 are needed */
	assert_int_equal(crypto_seal(key, STR_LIT(""), STR_LIT("text"), &out, &e), CLEAT_ELIMIT);
	assert_int_equal(buf_size(&out), 0);
	buf_done(&out);
	buf_init(&out, NULL, 32);
	assert_int_equal(crypto_seal(key, STR_LIT(""), STR_LIT("text"), &out, &e), CLEAT_OK);
	buf_done(&out);
	fail_alloc_init(&fa, 1, true);
	buf_init(&out, &fa.hook, 100);
	assert_int_equal(crypto_seal(key, STR_LIT(""), STR_LIT("text"), &out, &e), CLEAT_ENOMEM);
	buf_truncate(&out, 0);
	assert_int_equal(
		crypto_open(key, STR_LIT(""), (struct str){ (const char *)key, 32 }, &out, &e),
		CLEAT_ENOMEM);
	assert_int_equal(e.status, CLEAT_ENOMEM);
	buf_done(&out);
}

TEST(random_bytes_differ_and_fill_exactly)
{
	unsigned char a[33], b[33];

	memset(a, 0, sizeof a);
	memset(b, 0, sizeof b);
	assert_int_equal(crypto_random(a, 32, NULL), CLEAT_OK);
	assert_int_equal(crypto_random(b, 32, NULL), CLEAT_OK);
	assert_memory_not_equal(a, b, 32);
	assert_int_equal(a[32] | b[32], 0);
	assert_int_equal(crypto_random(a + 32, 0, NULL), CLEAT_OK);
	assert_int_equal(a[32], 0);
}

TEST(equal_compares_all_bytes)
{
	unsigned char a[32], b[32];

	memset(a, 7, sizeof a);
	memset(b, 7, sizeof b);
	assert_true(crypto_equal(a, b, sizeof a));
	assert_true(crypto_equal(a, b, 0));
	for (size_t i = 0; i < sizeof a; i++) {
		b[i] ^= 0x80;
		assert_false(crypto_equal(a, b, sizeof a));
		assert_true(crypto_equal(a, b, i));
		b[i] ^= 0x80;
	}
}

TEST(wipe_leaves_nothing_and_touches_nothing_else)
{
	char text[] = "[secret]";

	crypto_wipe(text + 1, 6);
	assert_memory_equal(text, "[\0\0\0\0\0\0]", 9);
	crypto_wipe(text, 0);
	assert_memory_equal(text, "[\0\0\0\0\0\0]", 9);
}
