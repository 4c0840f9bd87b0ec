/* test_client_cache.c - results that the server lets us keep: 2026-07-28 server/utilities/caching,
 * sections Cache Key, Time-to-Live, Cache Scope, Interaction with Notifications and with Pagination.
 */
#include "client/cache.h"
#include "support.h"
#include "test.h"
#include "json/parse.h"

#include <stdlib.h>
#include <string.h>

#define LIST STR_LIT("tools/list")
#define READ STR_LIT("resources/read")
#define NONE ((struct str){ 0 })

static void expect(struct cache *k, struct str method, const char *params, uint64_t now,
		   const char *wanted)
{
	struct str got = cache_get(k, method, str_of(params), now);

	assert_int_equal(got.p != NULL, wanted != NULL);
	if (wanted)
		assert_true(str_eqz(got, wanted));
}

/* ---- what the server says --------------------------------------------------------------------- */

TEST(the_ttl_is_what_the_result_says)
{
	const uint64_t day = 86400000;
	const struct {
		const char *result;
		uint64_t ttl;
	} rows[] = {
		{ "{\"ttlMs\":300000,\"cacheScope\":\"public\"}", 300000 },
		{ "{\"resultType\":\"complete\",\"ttlMs\":1,\"cacheScope\":\"private\"}", 1 },
		{ "{\"ttlMs\":1000.0,\"cacheScope\":\"public\"}", 1000 },
		{ "{\"ttlMs\":1e3,\"cacheScope\":\"public\"}", 1000 },
		/* no scope: the one that shares nothing, which is all that is done here */
		{ "{\"ttlMs\":5}", 5 },
		/* "If ttlMs is 0 ... immediately stale"; absent: 0; negative: ignore */
		{ "{\"ttlMs\":0,\"cacheScope\":\"public\"}", 0 },
		{ "{\"cacheScope\":\"public\"}", 0 },
		{ "{\"ttlMs\":-1,\"cacheScope\":\"public\"}", 0 },
		{ "{\"ttlMs\":-0,\"cacheScope\":\"public\"}", 0 },
		{ "{\"ttlMs\":-1e300,\"cacheScope\":\"public\"}", 0 },
		/* "an integer value" */
		{ "{\"ttlMs\":0.5,\"cacheScope\":\"public\"}", 0 },
		{ "{\"ttlMs\":1000.5,\"cacheScope\":\"public\"}", 0 },
		{ "{\"ttlMs\":\"1000\",\"cacheScope\":\"public\"}", 0 },
		{ "{\"ttlMs\":null}", 0 },
		{ "{\"ttlMs\":true}", 0 },
		{ "{\"ttlMs\":[1000]}", 0 },
		/* no longer than a day */
		{ "{\"ttlMs\":86399999,\"cacheScope\":\"public\"}", day - 1 },
		{ "{\"ttlMs\":86400001,\"cacheScope\":\"public\"}", day },
		{ "{\"ttlMs\":18446744073709551615,\"cacheScope\":\"public\"}", day },
		{ "{\"ttlMs\":99999999999999999999999999999,\"cacheScope\":\"public\"}", day },
		{ "{\"ttlMs\":1e999999999,\"cacheScope\":\"public\"}", day },
		/* "Interim results ... are not cacheable" */
		{ "{\"resultType\":\"input_required\",\"ttlMs\":1000,\"cacheScope\":\"public\"}",
		  0 },
		{ "{\"resultType\":\"other\",\"ttlMs\":1000,\"cacheScope\":\"public\"}", 0 },
		{ "{\"resultType\":7,\"ttlMs\":1000,\"cacheScope\":\"public\"}", 0 },
		/* neither public nor private */
		{ "{\"ttlMs\":1000,\"cacheScope\":\"Public\"}", 0 },
		{ "{\"ttlMs\":1000,\"cacheScope\":\"no-store\"}", 0 },
		{ "{\"ttlMs\":1000,\"cacheScope\":\"\"}", 0 },
		{ "{\"ttlMs\":1000,\"cacheScope\":null}", 0 },
		{ "{\"ttlMs\":1000,\"cacheScope\":\"public\\u0000\"}", 0 },
		{ "[{\"ttlMs\":1000}]", 0 },
		{ "1000", 0 },
	};

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		cleat_doc *d =
			cleat_doc_parse(rows[i].result, strlen(rows[i].result), NULL, NULL, NULL);

		assert_non_null(d);
		assert_int_equal(cache_ttl(cleat_doc_root(d)), rows[i].ttl);
		cleat_doc_free(d);
	}
	assert_int_equal(cache_ttl(NULL), 0);
}

/* Cache Key: "the request parameters that affect the result". */
TEST(params_have_one_spelling)
{
	static const struct {
		const char *params, *key;
	} rows[] = {
		{ NULL, "{}" },
		{ "{}", "{}" },
		{ "{\"_meta\":{\"progressToken\":1}}", "{}" },
		{ "{ \"uri\" : \"a\", \"_meta\" : {} }", "{\"uri\":\"a\"}" },
		{ "{\"b\":1,\"a\":{\"_meta\":2}}", "{\"a\":{\"_meta\":2},\"b\":1}" },
		{ "{\"uri\":\"\\u0061\"}", "{\"uri\":\"a\"}" },
	};
	struct buf b;

	buf_init(&b, NULL, 1000);
	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		struct str text = str_of(rows[i].params);
		cleat_doc *d = text.p ? cleat_doc_parse(text.p, text.n, NULL, NULL, NULL) : NULL;

		buf_reset(&b, 1000);
		assert_int_equal(cache_params(&b, cleat_doc_root(d), NULL), CLEAT_OK);
		assert_true(str_eqz(buf_str(&b), rows[i].key));
		cleat_doc_free(d);
	}
	buf_done(&b);
}

/* ---- keeping ---------------------------------------------------------------------------------- */

static struct cache *new_cache(size_t most)
{
	struct cache *k = cache_new(NULL, most);

	assert_non_null(k);
	return k;
}

/* "fresh while now < t_received + ttlMs" */
TEST(a_result_is_fresh_until_its_time)
{
	struct cache *k = new_cache(100000);

	cache_put(k, LIST, STR_LIT("{}"), STR_LIT("one"), 1000);
	expect(k, LIST, "{}", 0, "one");
	expect(k, LIST, "{}", 999, "one");
	expect(k, LIST, "{}", 1000, NULL);
	assert_int_equal(cache_bytes(k), 0);
	expect(k, LIST, "{}", 0, NULL);
	cache_put(k, LIST, STR_LIT("{}"), STR_LIT("x"), UINT64_MAX);
	expect(k, LIST, "{}", UINT64_MAX - 1, "x");
	cache_free(k);
	cache_free(NULL);
}

/* "MUST NOT serve a cached response for a request whose method or parameters differ" */
TEST(other_methods_and_params_are_other_entries)
{
	struct cache *k = new_cache(100000);

	cache_put(k, LIST, STR_LIT("{}"), STR_LIT("page 1"), 10);
	cache_put(k, LIST, STR_LIT("{\"cursor\":\"2\"}"), STR_LIT("page 2"), 20);
	cache_put(k, READ, STR_LIT("{}"), STR_LIT("read"), 10);
	/* the bytes of method and params must not run into each other */
	cache_put(k, STR_LIT("ab"), STR_LIT("c"), STR_LIT("ab+c"), 10);
	cache_put(k, STR_LIT("a"), STR_LIT("bc"), STR_LIT("a+bc"), 10);
	cache_put(k, STR_LIT("a"), STR_LIT("b\0c"), STR_LIT("nul"), 10);
	expect(k, LIST, "{}", 5, "page 1");
	expect(k, LIST, "{\"cursor\":\"2\"}", 5, "page 2");
	expect(k, LIST, "{\"cursor\":\"3\"}", 5, NULL);
	expect(k, READ, "{}", 5, "read");
	expect(k, STR_LIT("ab"), "c", 5, "ab+c");
	expect(k, STR_LIT("a"), "bc", 5, "a+bc");
	expect(k, STR_LIT("a"), "b", 5, NULL);
	expect(k, STR_LIT("abc"), "", 5, NULL);
	/* Interaction with Pagination: every page has a time of its own */
	expect(k, LIST, "{}", 15, NULL);
	expect(k, LIST, "{\"cursor\":\"2\"}", 15, "page 2");
	cache_free(k);
}

TEST(a_new_result_replaces_the_old_one)
{
	struct cache *k = new_cache(100000);
	struct str old;
	size_t bytes;

	cache_put(k, LIST, STR_LIT("{}"), STR_LIT("one"), 10);
	bytes = cache_bytes(k);
	cache_put(k, LIST, STR_LIT("{}"), STR_LIT("two"), 20);
	expect(k, LIST, "{}", 15, "two");
	assert_int_equal(cache_bytes(k), bytes);
	/* what is there may be given back */
	old = cache_get(k, LIST, STR_LIT("{}"), 15);
	cache_put(k, LIST, STR_LIT("{}"), old, 30);
	expect(k, LIST, "{}", 25, "two");
	/* an empty text is one */
	cache_put(k, LIST, STR_LIT("{}"), STR_LIT(""), 30);
	expect(k, LIST, "{}", 25, "");
	cache_free(k);
}

/* "the notification invalidates the cached response" */
TEST(what_has_changed_is_forgotten)
{
	struct cache *k = new_cache(100000);

	cache_put(k, LIST, STR_LIT("{}"), STR_LIT("1"), 10);
	cache_put(k, LIST, STR_LIT("{\"cursor\":\"2\"}"), STR_LIT("2"), 10);
	cache_put(k, READ, STR_LIT("{\"uri\":\"a\"}"), STR_LIT("a"), 10);
	cache_put(k, READ, STR_LIT("{\"uri\":\"b\"}"), STR_LIT("b"), 10);
	cache_drop(k, READ, STR_LIT("{\"uri\":\"a\"}"));
	expect(k, READ, "{\"uri\":\"a\"}", 5, NULL);
	expect(k, READ, "{\"uri\":\"b\"}", 5, "b");
	cache_drop(k, READ, STR_LIT("{\"uri\":\"z\"}"));
	cache_drop(k, STR_LIT("nothing"), NONE);
	cache_drop(k, LIST, NONE);
	expect(k, LIST, "{}", 5, NULL);
	expect(k, LIST, "{\"cursor\":\"2\"}", 5, NULL);
	expect(k, READ, "{\"uri\":\"b\"}", 5, "b");
	cache_clear(k);
	expect(k, READ, "{\"uri\":\"b\"}", 5, NULL);
	assert_int_equal(cache_bytes(k), 0);
	cache_clear(k);
	cache_free(k);
}

/* ---- limits ----------------------------------------------------------------------------------- */

TEST(what_was_used_least_recently_goes_first)
{
	char text[1000] = { 0 };
	struct str big = { text, sizeof text };
	struct cache *k = new_cache(3600); /* three of them */

	cache_put(k, LIST, STR_LIT("1"), big, 10);
	cache_put(k, LIST, STR_LIT("2"), big, 10);
	cache_put(k, LIST, STR_LIT("3"), big, 10);
	assert_non_null(cache_get(k, LIST, STR_LIT("1"), 5).p);
	cache_put(k, LIST, STR_LIT("4"), big, 10);
	assert_null(cache_get(k, LIST, STR_LIT("2"), 5).p);
	assert_non_null(cache_get(k, LIST, STR_LIT("1"), 5).p);
	assert_non_null(cache_get(k, LIST, STR_LIT("3"), 5).p);
	assert_non_null(cache_get(k, LIST, STR_LIT("4"), 5).p);
	assert_true(cache_bytes(k) <= 3600);
	cache_free(k);
}

TEST(what_is_too_large_is_not_kept)
{
	char text[4000] = { 0 };
	struct cache *k = new_cache(3600), *none = new_cache(0);

	cache_put(k, LIST, STR_LIT("a"), STR_LIT("small"), 10);
	cache_put(k, LIST, STR_LIT("b"), (struct str){ text, sizeof text }, 10);
	cache_put(k, LIST, STR_LIT("c"), (struct str){ text, SIZE_MAX }, 10);
	assert_null(cache_get(k, LIST, STR_LIT("b"), 5).p);
	expect(k, LIST, "a", 5, "small"); /* nothing had to go for it */
	/* but the old one is not what the server said last */
	cache_put(k, LIST, STR_LIT("a"), (struct str){ text, sizeof text }, 10);
	expect(k, LIST, "a", 5, NULL);
	cache_put(none, LIST, STR_LIT("a"), STR_LIT(""), 10);
	expect(none, LIST, "a", 5, NULL);
	cache_free(k);
	cache_free(none);
}

/* Against a list of what must be there: random puts, gets and drops, the whole time within the limit. */
MEMORY_TEST(it_does_what_a_plain_list_would)
{
	enum { KEYS = 60, STEPS = 20000 };
	struct {
		uint64_t until;
		unsigned value;
	} model[KEYS] = { { 0 } };
	struct cache *k;
	uint32_t seed = 7;

	k = cache_new(&fa->hook, 6000);
	for (unsigned i = 0; i < STEPS; i++) {
		char key[16], value[16];
		unsigned at, what;
		struct str got;

		seed = seed * 1664525u + 1013904223u;
		at = (seed >> 8) % KEYS;
		what = (seed >> 24) % 8;
		snprintf(key, sizeof key, "%u", at);
		if (what < 4) {
			model[at].until = i + (seed >> 16) % 300;
			model[at].value = i;
			snprintf(value, sizeof value, "%u", i);
			cache_put(k, LIST, str_of(key), str_of(value), model[at].until);
		} else if (what == 4) {
			model[at].until = 0;
			cache_drop(k, LIST, str_of(key));
		}
		got = cache_get(k, LIST, str_of(key), i);
		if (got.p) { /* it may have been pushed out, but is never wrong */
			snprintf(value, sizeof value, "%u", model[at].value);
			assert_true(i < model[at].until && str_eqz(got, value));
		} else if (what < 4) {
			assert_true(i >= model[at].until);
		}
		assert_true(cache_bytes(k) <= 6000);
		assert_true(fa->bytes >= cache_bytes(k));
	}
	cache_free(k);
}

TEST(lack_of_memory_means_not_kept)
{
	size_t rounds = 0;

	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa); rounds++) {
		cleat_doc *d = cleat_doc_newf(NULL, "{b: {c: 1}, a: [2]}");
		struct cache *k;
		struct buf b;

		buf_init(&b, &fa.hook, 1000);
		k = cache_new(&fa.hook, 10000);
		if (!cache_params(&b, cleat_doc_root(d), &fa.hook))
			assert_true(str_eqz(buf_str(&b), "{\"a\":[2],\"b\":{\"c\":1}}"));
		else
			assert_true(fail_alloc_hit(&fa));
		for (int i = 0; k && i < 3; i++) {
			cache_put(k, LIST, STR_LIT("{}"), STR_LIT("v"), 10);
			if (!cache_get(k, LIST, STR_LIT("{}"), 5).p) {
				assert_true(fail_alloc_hit(&fa));
				assert_int_equal(cache_bytes(k), 0);
			}
		}
		cache_free(k);
		buf_done(&b);
		cleat_doc_free(d);
	}
	assert_true(rounds > 2 * 3);
}
