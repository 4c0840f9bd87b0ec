/* test_seal.c - protocol/seal: requestState that a client cannot change, move to another request or
 * keep for ever (2026-07-28 patterns/mrtr).
 */

#include "protocol/seal.h"
#include "support.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static const unsigned char key[CRYPTO_KEY_SIZE] = "0123456789abcdef0123456789abcdef";
static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static struct seal_binding alice(void)
{
	struct seal_binding to = { .principal = STR_LIT("alice"), .method = STR_LIT("tools/call") };

	memset(to.params, 7, sizeof to.params);
	return to;
}

/* A token for alice's request, good until 1000, in a fresh buf. */
static void seal(struct buf *token, struct str payload)
{
	struct seal_binding to = alice();

	buf_init(token, NULL, 1 << 20);
	assert_int_equal(seal_write(key, &to, 1000, payload, token, NULL), CLEAT_OK);
}

/* A case on such a token, `token`. */
#define TOKEN_TEST(name, payload) TEST_ON(name, struct buf, token, seal(token, payload), buf_done)

static void assert_read(const struct seal_binding *to, int64_t now, struct str token, int want)
{
	cleat_error e = { .status = 99 };
	struct buf out;

	buf_init(&out, NULL, 1 << 20);
	buf_appendz(&out, "kept");
	assert_int_equal(seal_read(key, to, now, token, &out, &e), want);
	if (want) {
		assert_int_equal(e.status, want);
		assert_int_equal(buf_size(&out), 4); /* nothing of it came through */
	}
	if (want == CLEAT_EPROTO) /* the message does not say which it was */
		assert_string_equal(e.message, "requestState is not valid for this request");
	buf_done(&out);
}

static void assert_refused(struct str token)
{
	struct seal_binding to = alice();

	assert_read(&to, 0, token, CLEAT_EPROTO);
}

/* ---- round trip --------------------------------------------------------------------------- */

TEST(payload_comes_back_at_every_length)
{
	struct seal_binding to = alice();
	struct buf token, out;
	char text[100];

	for (size_t i = 0; i < sizeof text; i++)
		text[i] = (char)(i * 41);
	for (size_t n = 0; n <= sizeof text; n++) {
		seal(&token, (struct str){ n ? text : NULL, n });
		buf_init(&out, NULL, 200);
		assert_int_equal(seal_read(key, &to, 0, buf_str(&token), &out, NULL), CLEAT_OK);
		assert_int_equal(buf_size(&out), n);
		assert_memory_equal(buf_str(&out).p, text, n);
		buf_done(&out);
		buf_done(&token);
	}
}

TOKEN_TEST(token_is_url_safe_and_marked, STR_LIT("{\"step\":2}"))
{
	assert_true(str_starts(buf_str(token), "c1."));
	assert_int_equal(buf_size(token), 3 + (12 + 8 + 10 + 16 + 2) / 3 * 4 - 2);
	for (size_t i = 3; i < buf_size(token); i++)
		assert_non_null(strchr(digits, token->data[i]));
}

TEST(token_is_appended)
{
	struct seal_binding to = alice();
	struct buf token;

	buf_init(&token, NULL, 200);
	buf_appendz(&token, "before");
	assert_int_equal(seal_write(key, &to, 1, STR_LIT("x"), &token, NULL), CLEAT_OK);
	assert_true(str_starts(buf_str(&token), "beforec1."));
	buf_done(&token);
}

/* ---- tampering ---------------------------------------------------------------------------- */

TOKEN_TEST(every_flipped_bit_is_refused, STR_LIT("state"))
{
	for (size_t bit = 0; bit < buf_size(token) * 8; bit++) {
		char *c = &token->data[bit / 8];

		*c = (char)(*c ^ (1 << bit % 8));
		assert_refused(buf_str(token));
		*c = (char)(*c ^ (1 << bit % 8));
	}
}

TOKEN_TEST(every_other_digit_is_refused, STR_LIT("state"))
{
	for (size_t i = 3; i < buf_size(token); i++) {
		char genuine = token->data[i];

		for (const char *d = digits; *d; d++) {
			token->data[i] = *d;
			if (*d != genuine)
				assert_refused(buf_str(token));
		}
		token->data[i] = genuine;
	}
}

TOKEN_TEST(every_truncation_is_refused, STR_LIT("state"))
{
	char *copy;

	for (size_t n = 0; n < buf_size(token); n++) {
		copy = malloc(n ? n : 1); /* exact, so that ASan sees a read past it */
		assert_non_null(copy);
		memcpy(copy, token->data, n);
		assert_refused((struct str){ copy, n });
		free(copy);
		assert_refused((struct str){ token->data + n + 1, buf_size(token) - n - 1 });
	}
	assert_refused((struct str){ NULL, 0 });
}

/* One text for one state: RFC 4648 section 3.5 on canonical encoding. */
TEST(other_spellings_are_refused)
{
	static const char *const tails[] = { "=", "==", "A", "AA", "AAA", "AAAA", "\n", " ", "." };

	for (size_t length = 4; length < 7; length++) { /* 40, 41, 42 bytes: each kind of end */
		struct seal_binding to = alice();
		struct buf token;
		size_t n;

		seal(&token, (struct str){ "states", length });
		n = buf_size(&token);
		for (size_t i = 0; i < CLEAT_COUNT(tails); i++) {
			buf_appendz(&token, tails[i]);
			assert_refused(buf_str(&token));
			buf_truncate(&token, n);
		}
		buf_append(&token, "", 1);
		assert_refused(buf_str(&token));
		buf_truncate(&token, n);
		token.data[0] = 'C';
		assert_refused(buf_str(&token));
		token.data[0] = 'c';
		token.data[1] = '2';
		assert_refused(buf_str(&token));
		token.data[1] = '1';
		assert_read(&to, 0, buf_str(&token), CLEAT_OK);
		buf_done(&token);
	}
}

TEST(spare_bits_of_the_last_digit_are_refused)
{
	struct seal_binding to = alice();

	for (size_t length = 5; length < 7; length++) { /* 41 bytes: 4 spare bits; 42: 2 */
		struct buf token;
		size_t last, accepted = 0;

		seal(&token, (struct str){ "states", length });
		last = buf_size(&token) - 1;
		for (const char *d = digits; *d; d++) {
			struct buf out;

			buf_init(&out, NULL, 100);
			token.data[last] = *d;
			accepted += seal_read(key, &to, 0, buf_str(&token), &out, NULL) == CLEAT_OK;
			buf_done(&out);
		}
		assert_int_equal(accepted, 1);
		buf_done(&token);
	}
}

TOKEN_TEST(bytes_of_another_alphabet_are_refused, STR_LIT("state"))
{
	struct seal_binding to = alice();

	for (int c = -128; c < 128; c++) {
		char genuine = token->data[10];

		token->data[10] = (char)c;
		assert_read(&to, 0, buf_str(token), c == genuine ? CLEAT_OK : CLEAT_EPROTO);
		token->data[10] = genuine;
	}
}

/* ---- binding ------------------------------------------------------------------------------ */

TOKEN_TEST(another_key_is_refused, STR_LIT("state"))
{
	unsigned char other[CRYPTO_KEY_SIZE];
	struct seal_binding to = alice();
	struct buf out;

	memcpy(other, key, sizeof other);
	other[31] ^= 1;
	buf_init(&out, NULL, 100);
	assert_int_equal(seal_read(other, &to, 0, buf_str(token), &out, NULL), CLEAT_EPROTO);
	assert_int_equal(buf_size(&out), 0);
}

TOKEN_TEST(another_principal_method_or_request_is_refused, STR_LIT("state"))
{
	struct seal_binding to = alice();

	assert_read(&to, 0, buf_str(token), CLEAT_OK);
	to.principal = STR_LIT("bob");
	assert_read(&to, 0, buf_str(token), CLEAT_EPROTO);
	to.principal = STR_LIT("alice\0");
	assert_read(&to, 0, buf_str(token), CLEAT_EPROTO);
	to.principal = (struct str){ NULL, 0 };
	assert_read(&to, 0, buf_str(token), CLEAT_EPROTO);
	to = alice();
	to.method = STR_LIT("prompts/get");
	assert_read(&to, 0, buf_str(token), CLEAT_EPROTO);
	to = alice(); /* lengths are bound: a byte cannot move from one part to the other */
	to.principal = STR_LIT("alicet");
	to.method = STR_LIT("ools/call");
	assert_read(&to, 0, buf_str(token), CLEAT_EPROTO);
	for (size_t i = 0; i < CRYPTO_HASH_SIZE; i++) {
		to = alice();
		to.params[i] ^= 0x40;
		assert_read(&to, 0, buf_str(token), CLEAT_EPROTO);
	}
}

TEST(nobody_is_not_the_empty_name)
{
	struct seal_binding nobody = alice(), empty = alice();
	struct buf token;

	nobody.principal = (struct str){ NULL, 0 };
	empty.principal = STR_LIT("");
	buf_init(&token, NULL, 200);
	assert_int_equal(seal_write(key, &nobody, 9, STR_LIT("s"), &token, NULL), CLEAT_OK);
	assert_read(&nobody, 0, buf_str(&token), CLEAT_OK);
	assert_read(&empty, 0, buf_str(&token), CLEAT_EPROTO);
	buf_reset(&token, 0);
	assert_int_equal(seal_write(key, &empty, 9, STR_LIT("s"), &token, NULL), CLEAT_OK);
	assert_read(&empty, 0, buf_str(&token), CLEAT_OK);
	assert_read(&nobody, 0, buf_str(&token), CLEAT_EPROTO);
	buf_done(&token);
}

TEST(expiry_is_the_last_good_millisecond)
{
	static const int64_t times[] = { INT64_MIN, -1, 0, 1000, INT64_MAX };
	struct seal_binding to = alice();
	struct buf token;

	buf_init(&token, NULL, 200);
	for (size_t i = 0; i < CLEAT_COUNT(times); i++) {
		int64_t t = times[i];

		buf_reset(&token, SIZE_MAX);
		assert_int_equal(seal_write(key, &to, t, STR_LIT("s"), &token, NULL), CLEAT_OK);
		assert_read(&to, t, buf_str(&token), CLEAT_OK);
		assert_read(&to, INT64_MIN, buf_str(&token), CLEAT_OK);
		if (t < INT64_MAX) {
			assert_read(&to, t + 1, buf_str(&token), CLEAT_ETIMEOUT);
			assert_read(&to, INT64_MAX, buf_str(&token), CLEAT_ETIMEOUT);
		}
	}
	/* Whether a token that is not for this request has expired is nobody's business. */
	to.principal = STR_LIT("bob");
	assert_read(&to, INT64_MAX, buf_str(&token), CLEAT_EPROTO);
	buf_done(&token);
}

/* An authentic text that seal_write cannot have made: the same key used for something else. */
TEST(authentic_text_without_expiry_is_refused)
{
	static const char raw_aad[] = "c1.\0\0\0\0\0\0\0\5alice\0\0\0\0\0\0\0\12tools/call"
				      "\0\0\0\0\0\0\0\40";
	struct buf aad, sealed, token;

	buf_init(&aad, NULL, 200);
	buf_append(&aad, raw_aad, sizeof raw_aad - 1);
	for (int i = 0; i < CRYPTO_HASH_SIZE; i++)
		buf_putc(&aad, 7);
	for (size_t n = 0; n <= 8; n++) {
		struct seal_binding to = alice();
		uint32_t bits = 0;
		unsigned have = 0;

		buf_init(&sealed, NULL, 100);
		buf_init(&token, NULL, 100);
		assert_int_equal(crypto_seal(key, buf_str(&aad),
					     (struct str){ "\0\0\0\0\0\0\0\0", n }, &sealed, NULL),
				 CLEAT_OK);
		buf_appendz(&token, "c1.");
		for (size_t i = 0; i < buf_size(&sealed); i++) {
			bits = (bits << 8 | (unsigned char)sealed.data[i]) & 0xFFFF;
			for (have += 8; have >= 6;) {
				have -= 6;
				buf_putc(&token, digits[bits >> have & 63]);
			}
		}
		if (have)
			buf_putc(&token, digits[bits << (6 - have) & 63]);
		assert_read(&to, 0, buf_str(&token), n < 8 ? CLEAT_EPROTO : CLEAT_OK);
		buf_done(&sealed);
		buf_done(&token);
	}
	buf_done(&aad);
}

/* ---- limits and memory -------------------------------------------------------------------- */

TEST(token_may_have_64_kib)
{
	const size_t most = (65536 - 3) / 4 * 3 - 36; /* 65533 = 4 * 16383 + 1 digits */
	struct seal_binding to = alice();
	char *payload = calloc(1, 70000);
	struct buf token;
	cleat_error e;

	assert_non_null(payload);
	buf_init(&token, NULL, 1 << 20);
	assert_int_equal(seal_write(key, &to, 9, (struct str){ payload, most }, &token, &e),
			 CLEAT_OK);
	assert_in_range(buf_size(&token), 65533, 65536);
	assert_read(&to, 0, buf_str(&token), CLEAT_OK);
	buf_reset(&token, 0);
	assert_int_equal(seal_write(key, &to, 9, (struct str){ payload, most + 1 }, &token, &e),
			 CLEAT_ELIMIT);
	assert_int_equal(seal_write(key, &to, 9, (struct str){ payload, SIZE_MAX }, &token, &e),
			 CLEAT_ELIMIT);
	assert_int_equal(e.status, CLEAT_ELIMIT);
	assert_int_equal(buf_size(&token), 0);
	free(payload);
	buf_done(&token);
}

TEST(longer_tokens_are_refused_without_work)
{
	struct seal_binding to = alice();
	char *text = malloc(65537);
	struct fail_alloc fa;
	struct buf out;

	assert_non_null(text);
	memset(text, 'A', 65537);
	memcpy(text, "c1.", 3);
	fail_alloc_init(&fa, 0, false);
	buf_init(&out, &fa.hook, 1 << 20);
	assert_int_equal(seal_read(key, &to, 0, (struct str){ text, 65537 }, &out, NULL),
			 CLEAT_EPROTO);
	assert_int_equal(fa.requests, 0);
	assert_int_equal(seal_read(key, &to, 0, (struct str){ text, 65536 - 1 }, &out, NULL),
			 CLEAT_EPROTO);
	assert_true(fa.requests > 0);
	assert_int_equal(fa.live, 0);
	free(text);
}

TEST(principal_beyond_measure_is_a_limit)
{
	struct seal_binding to = alice();
	char *name = calloc(1, 70000);
	struct buf token;
	cleat_error e;

	assert_non_null(name);
	to.principal = (struct str){ name, 70000 };
	buf_init(&token, NULL, 1000);
	assert_int_equal(seal_write(key, &to, 9, STR_LIT("s"), &token, &e), CLEAT_ELIMIT);
	assert_int_equal(seal_read(key, &to, 9, STR_LIT("c1.AAAA"), &token, &e), CLEAT_ELIMIT);
	assert_int_equal(e.status, CLEAT_ELIMIT);
	free(name);
	buf_done(&token);
}

TEST(full_output_is_a_limit_and_stays_as_it_was)
{
	struct seal_binding to = alice();
	struct buf token, small;
	cleat_error e;

	buf_init(&small, NULL, 20);
	buf_appendz(&small, "kept");
	assert_int_equal(seal_write(key, &to, 9, STR_LIT("s"), &small, &e), CLEAT_ELIMIT);
	assert_int_equal(buf_size(&small), 4);
	buf_truncate(&small, 4);
	seal(&token, STR_LIT("seventeen bytes.."));
	assert_int_equal(seal_read(key, &to, 0, buf_str(&token), &small, &e), CLEAT_ELIMIT);
	assert_int_equal(buf_size(&small), 4);
	assert_int_equal(seal_read(key, &to, 0, buf_str(&token), &small, &e), CLEAT_ELIMIT);
	buf_done(&small);
	buf_done(&token);
}

TEST(every_failing_allocation_is_enomem)
{
	struct seal_binding to = alice();
	char big[3000];
	struct str payload = { big, sizeof big };

	memset(big, 'p', sizeof big);
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct buf token, out;
		bool hit;
		int rc;

		buf_init(&token, &fa.hook, 1 << 20);
		buf_init(&out, &fa.hook, 1 << 20);
		rc = seal_write(key, &to, 9, payload, &token, NULL);
		if (!rc)
			rc = seal_read(key, &to, 9, buf_str(&token), &out, NULL);
		hit = fail_alloc_hit(&fa);
		assert_int_equal(rc, hit ? CLEAT_ENOMEM : CLEAT_OK);
		assert_int_equal(buf_size(&out), hit ? 0 : sizeof big);
		buf_done(&token);
		buf_done(&out);
	}
}

/* ---- digest of the parameters ------------------------------------------------------------- */

static cleat_doc *parse(const char *text, size_t n)
{
	cleat_json_limits limits = { .max_depth = 1024 };
	cleat_doc *doc = cleat_doc_parse(text, n, &limits, NULL, NULL);

	assert_non_null(doc);
	return doc;
}

static void digest(const char *text, unsigned char out[CRYPTO_HASH_SIZE])
{
	cleat_doc *doc = text ? parse(text, strlen(text)) : NULL;

	assert_int_equal(seal_digest(cleat_doc_root(doc), NULL, out, NULL), CLEAT_OK);
	cleat_doc_free(doc);
}

TEST(digest_ignores_what_changes_between_rounds)
{
	static const struct {
		const char *a, *b;
		bool same;
	} table[] = {
		{ NULL, "{}", true },
		{ "{}", "{ \"_meta\": {\"progressToken\": 1} }", true },
		{ "{\"name\":\"x\",\"arguments\":{\"a\":1,\"b\":2}}",
		  "{ \"arguments\" : {\"b\":2, \"a\":1}, \"name\" : \"\\u0078\" }", true },
		{ "{\"name\":\"x\"}",
		  "{\"requestState\":\"c1.x\",\"name\":\"x\",\"inputResponses\":{\"q\":{}},"
		  "\"_meta\":{}}",
		  true },
		{ "{\"name\":\"x\"}", "{\"name\":\"y\"}", false },
		{ "{\"name\":\"x\"}", "{\"name\":\"x\",\"arguments\":{}}", false },
		{ "{\"a\":1}", "{\"a\":1.0}", false },
		{ "{\"a\":[1,2]}", "{\"a\":[2,1]}", false },
		{ "{\"a\":1,\"a\":2}", "{\"a\":2,\"a\":1}", false },
		/* Only the outermost members of these names are the protocol's. */
		{ "{\"arguments\":{}}", "{\"arguments\":{\"_meta\":1}}", false },
		{ "{\"arguments\":{}}", "{\"arguments\":{\"requestState\":\"\"}}", false },
		{ "{\"a\":[{}]}", "{\"a\":[{\"inputResponses\":1}]}", false },
		{ "{}", "{\"_meta\\u0000\":1}", false },
		{ "{}", "[]", false },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		unsigned char a[CRYPTO_HASH_SIZE], b[CRYPTO_HASH_SIZE];

		digest(table[i].a, a);
		digest(table[i].b, b);
		assert_int_equal(memcmp(a, b, sizeof a) == 0, table[i].same);
	}
}

TEST(digest_survives_every_failing_allocation)
{
	static const char text[] = "{\"b\":1,\"a\":2}";
	cleat_doc *doc = parse(text, sizeof text - 1);

	for (int kind = 0; kind < 2; kind++) {
		for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
			const cleat_json *params = kind ? cleat_doc_root(doc) : NULL;
			unsigned char out[CRYPTO_HASH_SIZE];
			cleat_error e;
			int rc;

			rc = seal_digest(params, &fa.hook, out, &e);
			assert_int_equal(rc, fail_alloc_hit(&fa) ? CLEAT_ENOMEM : CLEAT_OK);
			if (rc)
				assert_int_equal(e.status, CLEAT_ENOMEM);
		}
	}
	cleat_doc_free(doc);
}
