/* test_tokens.c - bearer tokens from a file (auth/tokens.h). */

#include "auth/tokens.h"
#include "base/buf.h"
#include "support.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* SHA-256 of "0123456789abcdef", by sha256sum. */
#define HASH_OF_DIGITS "9f9f5111f7b27a781f1f1ddde5ebc2dd2b796bfc7365c9c28b548e564176929f"
#define HASH_UPPER     "9F9F5111F7B27A781F1F1DDDE5EBC2DD2B796BFC7365C9C28B548E564176929F"
/* And of nothing, and of "short". */
#define HASH_OF_NOTHING "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define HASH_OF_SHORT   "f9b0078b5df596d2ea19010c001bbd009e651de2c57e8fb7e355f31eb9d3f739"

static struct tokens *parse(const char *text)
{
	struct tokens *t = NULL;
	cleat_error err;

	if (tokens_parse(NULL, str_of(text), &t, &err) != CLEAT_OK)
		print_error("%s\n", err.message);
	assert_non_null(t);
	return t;
}

/* What is found for a token in a file; "" for nothing. */
TEST(tokens_are_found_in_any_layout)
{
	static const struct {
		const char *text, *token, *name;
	} cases[] = {
		{ "alice 0123456789abcdef", "0123456789abcdef", "alice" },
		{ "alice 0123456789abcdef\n", "0123456789abcdef", "alice" },
		{ "alice 0123456789abcdef\r\n", "0123456789abcdef", "alice" },
		{ "\talice \t 0123456789abcdef \t ", "0123456789abcdef", "alice" },
		{ "# x\n\n \n#\nalice 0123456789abcdef # of a\n", "0123456789abcdef", "alice" },
		{ "alice 0123456789abcdef\nbob fedcba9876543210", "fedcba9876543210", "bob" },
		{ "alice 0123456789abcdef\nbob fedcba9876543210", "0123456789abcdef", "alice" },
		{ "alice sha256:" HASH_OF_DIGITS, "0123456789abcdef", "alice" },
		{ "alice sha256:" HASH_UPPER, "0123456789abcdef", "alice" },
		{ "alice SHA256:" HASH_UPPER, "0123456789abcdef", "alice" },
		/* '#' is a comment only where a word begins */
		{ "al#ice 0123456789abcde#", "0123456789abcde#", "al#ice" },
		{ "alice !\"$%&'()*+,-./{~", "!\"$%&'()*+,-./{~", "alice" },
		{ "alice 0123456789abcdef", "0123456789abcdeF", "" },
		{ "alice 0123456789abcdef", "0123456789abcdef ", "" },
		{ "alice 0123456789abcdef", "0123456789abcde", "" },
		{ "alice 0123456789abcdef", "", "" },
		{ "alice 0123456789abcdef", "alice", "" },
		/* a hash does not stand for itself */
		{ "alice sha256:" HASH_OF_DIGITS, HASH_OF_DIGITS, "" },
		{ "alice sha256:" HASH_OF_DIGITS, "sha256:" HASH_OF_DIGITS, "" },
		/* what is too short to be a token is none, whatever its hash */
		{ "alice sha256:" HASH_OF_NOTHING, "", "" },
		{ "alice sha256:" HASH_OF_SHORT, "short", "" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct tokens *t = parse(cases[i].text);
		const char *name = tokens_find(t, str_of(cases[i].token));

		assert_string_equal(name ? name : "", cases[i].name);
		tokens_free(t);
	}
}

/* A table that was read later says whether a token is still there, and whether its name is. */
TEST(a_token_is_asked_for_again)
{
	static const struct {
		const char *text;
		bool token, name;
	} cases[] = {
		{ "alice sha256:" HASH_OF_DIGITS "\nbob fedcba9876543210", true, true },
		{ "alice fedcba9876543210", false, true },
		{ "bob 0123456789abcdef", false, false },
		{ "bob fedcba9876543210", false, false },
	};
	struct tokens *t = parse("alice 0123456789abcdef");
	unsigned char hash[CRYPTO_HASH_SIZE];

	assert_string_equal(tokens_find_hash(t, STR_LIT("0123456789abcdef"), hash), "alice");
	tokens_free(t);
	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		t = parse(cases[i].text);
		assert_int_equal(tokens_have(t, STR_LIT("alice"), hash), cases[i].token);
		assert_int_equal(tokens_have(t, STR_LIT("alice"), NULL), cases[i].name);
		tokens_free(t);
	}
	assert_false(tokens_have(NULL, STR_LIT("alice"), hash));
}

TEST(a_token_may_hold_any_bytes_when_it_is_looked_up)
{
	struct tokens *t = parse("alice 0123456789abcdef");
	char *large = calloc(1, 1 << 20);

	assert_non_null(large);
	assert_null(tokens_find(t, (struct str){ NULL, 0 }));
	assert_null(tokens_find(t, (struct str){ "0123456789abcdef\0x", 18 }));
	assert_null(tokens_find(t, (struct str){ "\xFF\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\n", 17 }));
	assert_null(tokens_find(t, (struct str){ large, 1 << 20 }));
	free(large);
	tokens_free(t);
	tokens_free(NULL);
}

/* The message has the line and the reason, and nothing of the file. */
TEST(what_is_wrong_is_refused_with_its_line)
{
#define TWO      "the same "
#define A        "alice 0123456789abcdef\n"
#define LONG_64  "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
#define NO_HEX   "line 1: 64 hexadecimal digits must follow \"sha256:\""
#define BAD_NAME "line 1: a name must be printable ASCII, at most 64 characters"
	static const struct {
		const char *text, *message;
	} cases[] = {
		{ "", "there is no token in it" },
		{ "\n# alice 0123456789abcdef\n \t\r\n", "there is no token in it" },
		{ "sesame-sesame-sesame",
		  "line 1: a name and a token are needed, with a space between them" },
		{ "sesame-sesame-sesame # alice 0123456789abcdef",
		  "line 1: a name and a token are needed, with a space between them" },
		{ "\n\nalice 0123456789abcdef sesame",
		  "line 3: there is something after the token" },
		{ "sesame sesame", "line 1: a token must have at least 16 characters" },
		{ "alice sesame789abcde", "line 1: a token must have at least 16 characters" },
		{ A "#\nbob sesame6789abcde\xC3\xA4", "line 3: a token must be printable ASCII" },
		{ "alice sesame6789abcdef\x7F", "line 1: a token must be printable ASCII" },
		{ "alice sesame6789abcdef\x01", "line 1: a token must be printable ASCII" },
		{ "alice sesame6789abcdef\rx", "line 1: a token must be printable ASCII" },
		{ "sesame\xC3\xA4 0123456789abcdef", BAD_NAME },
		{ "\xEF\xBB\xBFsesame 0123456789abcdef", BAD_NAME },
		{ LONG_64 "n 0123456789abcdef", BAD_NAME },
		{ "alice sha256:sesame", NO_HEX },
		{ "alice sha256:", NO_HEX },
		{ "alice Sha256:" HASH_OF_DIGITS "0", NO_HEX },
		{ "alice sha256:g" HASH_OF_DIGITS, NO_HEX },
		{ "alice sha256:" LONG_64, NO_HEX },
		{ A "\n\nalice sesame6789abcdef", "line 4: " TWO "name as in line 1" },
		{ "#\n" A "bob 0123456789abcdef", "line 3: " TWO "token as in line 2" },
		{ A "bob sha256:" HASH_OF_DIGITS, "line 2: " TWO "token as in line 1" },
		{ A "b sesame6789abcdef\nc sha256:" HASH_UPPER,
		  "line 3: " TWO "token as in line 1" },
	};
	struct tokens *t = NULL;
	cleat_error err;

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		assert_int_equal(tokens_parse(NULL, str_of(cases[i].text), &t, &err), CLEAT_EINVAL);
		assert_int_equal(err.status, CLEAT_EINVAL);
		assert_string_equal(err.message, cases[i].message);
		assert_null(strstr(err.message, "sesame"));
		assert_null(t);
		assert_int_equal(tokens_parse(NULL, str_of(cases[i].text), &t, NULL), CLEAT_EINVAL);
	}
	/* a NUL is no end */
	assert_int_equal(tokens_parse(NULL, (struct str){ "a\0b 0123456789abcdef", 20 }, &t, &err),
			 CLEAT_EINVAL);
	assert_string_equal(err.message, BAD_NAME);
	assert_int_equal(tokens_parse(NULL, (struct str){ NULL, 0 }, &t, &err), CLEAT_EINVAL);
}

TEST(a_name_of_64_characters_is_whole)
{
	struct tokens *t = parse(LONG_64 " 0123456789abcdef");

	assert_string_equal(tokens_find(t, STR_LIT("0123456789abcdef")), LONG_64);
	tokens_free(t);
}

/* A line of `n` bytes with one token. */
static int parse_line_of(size_t n, const char *end, struct tokens **ret, cleat_error *err)
{
	char *text = malloc(n + strlen(end) + 1);
	int rc;

	assert_non_null(text);
	memset(text, 't', n);
	memcpy(text, "alice ", 6);
	strcpy(text + n, end);
	rc = tokens_parse(NULL, str_of(text), ret, err);
	free(text);
	return rc;
}

TEST(lines_have_at_most_4096_bytes)
{
	static const char *const ends[] = { "", "\n", "\r\n" };
	char token[4090];
	struct tokens *t = NULL;
	cleat_error err;

	memset(token, 't', sizeof token);
	for (size_t i = 0; i < CLEAT_COUNT(ends); i++) {
		assert_int_equal(parse_line_of(4096, ends[i], &t, &err), CLEAT_OK);
		assert_string_equal(tokens_find(t, (struct str){ token, 4090 }), "alice");
		assert_null(tokens_find(t, (struct str){ token, 4089 }));
		tokens_free(t);
		assert_int_equal(parse_line_of(4097, ends[i], &t, &err), CLEAT_EINVAL);
		assert_string_equal(err.message, "line 1: longer than 4096 bytes");
	}
}

static void many_tokens(struct buf *b, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		buf_printf(b, "name-%u token-number-%08u\n# and\n", i, i);
	assert_int_equal(buf_status(b), CLEAT_OK);
}

TEST(ten_thousand_tokens_are_found_and_one_more_is_too_many)
{
	struct tokens *t = NULL;
	char token[40], name[40];
	cleat_error err;
	struct buf b;

	buf_init(&b, NULL, 1 << 20);
	many_tokens(&b, 10000);
	assert_int_equal(tokens_parse(NULL, buf_str(&b), &t, &err), CLEAT_OK);
	for (unsigned i = 0; i < 10001; i++) {
		snprintf(token, sizeof token, "token-number-%08u", i);
		snprintf(name, sizeof name, "name-%u", i);
		if (i < 10000)
			assert_string_equal(tokens_find(t, str_of(token)), name);
		else
			assert_null(tokens_find(t, str_of(token)));
	}
	tokens_free(t);
	t = NULL;
	buf_appendz(&b, "another token-number-00004711\n");
	assert_int_equal(tokens_parse(NULL, buf_str(&b), &t, &err), CLEAT_ELIMIT);
	assert_string_equal(err.message, "more than 10000 tokens");
	assert_null(t);
	buf_done(&b);
}

/* Neither the tokens nor their hashes are in the memory of the table: who reads it cannot use it, nor
 * try tokens against it without the key. */
static struct {
	void *blocks[16];
	size_t sizes[16], n;
} kept;

static void *kept_malloc(void *ctx, size_t size)
{
	(void)ctx;
	assert_true(kept.n < 16);
	kept.sizes[kept.n] = size;
	return kept.blocks[kept.n++] = malloc(size);
}

static void *kept_realloc(void *ctx, void *ptr, size_t old_size, size_t size)
{
	(void)ctx, (void)ptr, (void)old_size, (void)size;
	fail();
	return NULL;
}

static void kept_free(void *ctx, void *ptr)
{
	(void)ctx;
	for (size_t i = 0; i < kept.n; i++)
		if (kept.blocks[i] == ptr)
			kept.blocks[i] = NULL;
	free(ptr);
}

static bool kept_has(const char *bytes, size_t n)
{
	for (size_t i = 0; i < kept.n; i++)
		for (size_t at = 0; kept.blocks[i] && at + n <= kept.sizes[i]; at++)
			if (memcmp((char *)kept.blocks[i] + at, bytes, n) == 0)
				return true;
	return false;
}

TEST(memory_holds_neither_tokens_nor_plain_hashes)
{
	const cleat_allocator mem = { kept_malloc, kept_realloc, kept_free, NULL };
	struct tokens *t = NULL;

	assert_int_equal(tokens_parse(&mem, STR_LIT("alice 0123456789abcdef"), &t, NULL), CLEAT_OK);
	assert_true(kept_has("alice", 6)); /* it does look */
	assert_false(kept_has("0123456789abcdef", 8));
	assert_false(kept_has("\x9F\x9F\x51\x11\xF7\xB2\x7A\x78", 8));
	tokens_free(t);
	for (size_t i = 0; i < kept.n; i++)
		assert_null(kept.blocks[i]);
}

TEST(lack_of_memory_is_clean)
{
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct tokens *t = NULL;
		cleat_error err;
		int rc;

		rc = tokens_parse(&fa.hook, STR_LIT("alice 0123456789abcdef"), &t, &err);
		assert_int_equal(rc, fail_alloc_hit(&fa) ? CLEAT_ENOMEM : CLEAT_OK);
		assert_int_equal(t != NULL, rc == CLEAT_OK);
		tokens_free(t);
		if (rc)
			assert_int_equal(err.status, CLEAT_ENOMEM);
	}
}
