/* test_arena.c - base/arena: blocks, limits, what latches, and memory that runs out. */

#include "base/arena.h"
#include "base/mem.h"
#include "support.h"
#include "test.h"

#include <stdalign.h>
#include <string.h>

MEMORY_TEST(arena_blocks_are_aligned_apart_and_writable)
{
	static const size_t sizes[] = { 0,    1,    15,   16,    17,    31,    100,
					4031, 4032, 4033, 16368, 16369, 65472, 70000 };
	struct arena ar;
	unsigned char *p[CLEAT_COUNT(sizes) * 8];
	size_t n = 0;

	arena_init(&ar, &fa->hook, 0);
	assert_int_equal(fa->requests, 0);
	for (size_t round = 0; round < 8; round++) {
		for (size_t i = 0; i < CLEAT_COUNT(sizes); i++, n++) {
			p[n] = arena_alloc(&ar, sizes[i]);
			assert_non_null(p[n]);
			assert_int_equal((uintptr_t)p[n] % alignof(max_align_t), 0);
			memset(p[n], (int)n, sizes[i]);
		}
	}
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < sizes[i % CLEAT_COUNT(sizes)]; k++)
			assert_int_equal(p[i][k], i);
	assert_ptr_not_equal(p[0], p[1]); /* zero bytes, yet unique */
	assert_false(arena_failed(&ar));
	arena_done(&ar);
	assert_int_equal(fa->live, 0);
	assert_int_equal(ar.total, 0);
	assert_non_null(arena_alloc(&ar, 5)); /* usable again */
	arena_done(&ar);
}

TEST(arena_done_accepts_a_zeroed_one)
{
	struct arena ar = { .used = 0 };

	arena_done(&ar);
	arena_reset(&ar);
	assert_null(arena_alloc(&ar, 1)); /* no memory, but no crash either */
	assert_true(arena_failed(&ar));
}

TEST(arena_zalloc_clears_recycled_memory)
{
	struct fail_alloc fa;
	struct arena ar;
	unsigned char *p;

	fail_alloc_init(&fa, 0, false);
	arena_init(&ar, &fa.hook, 0);
	memset(arena_alloc(&ar, 500), 0xFF, 500);
	arena_reset(&ar);
	p = arena_zalloc(&ar, 500);
	for (size_t i = 0; i < 500; i++)
		assert_int_equal(p[i], 0);
	arena_done(&ar);
}

MEMORY_TEST(arena_reset_keeps_one_ordinary_chunk)
{
	struct arena ar;

	arena_init(&ar, &fa->hook, 0);
	arena_reset(&ar); /* of an empty one */
	for (int i = 0; i < 1000; i++)
		assert_non_null(arena_alloc(&ar, 200));
	assert_true(fa->live > 1);
	arena_reset(&ar);
	assert_int_equal(fa->live, 1);
	assert_true(ar.total > 0 && ar.total < fa->bytes && fa->bytes < 70000);
	fa->requests = 0;
	for (int i = 0; i < 300; i++)
		assert_non_null(arena_alloc(&ar, 200));
	assert_int_equal(fa->requests, 0); /* the kept chunk is used */
	arena_done(&ar);

	assert_non_null(arena_alloc(&ar, 1 << 20)); /* a blob is not ordinary: it goes */
	assert_int_equal(fa->live, 1);
	arena_reset(&ar);
	assert_int_equal(fa->live, 0);
	assert_non_null(arena_alloc(&ar, 10));
	assert_non_null(
		arena_alloc(&ar, 1 << 20)); /* behind an ordinary chunk: only the blob goes */
	assert_int_equal(fa->live, 2);
	arena_reset(&ar);
	assert_int_equal(fa->live, 1);
	assert_true(fa->bytes < 5000);
	arena_done(&ar);
}

TEST(arena_blob_does_not_waste_the_current_chunk)
{
	struct fail_alloc fa;
	struct arena ar;
	char *a, *b;

	fail_alloc_init(&fa, 0, false);
	arena_init(&ar, &fa.hook, 0);
	a = arena_alloc(&ar, 16);
	assert_non_null(arena_alloc(&ar, 100000));
	b = arena_alloc(&ar, 16);
	assert_ptr_equal(b, a + 16);
	arena_done(&ar);
}

TEST(arena_limit_latches_and_counts_what_the_user_takes)
{
	static const size_t limits[] = { 16, 1000 & ~15, 4032, 8192, 100000 & ~15, 1 << 20 };
	struct fail_alloc fa;
	struct arena ar;

	for (size_t i = 0; i < CLEAT_COUNT(limits); i++) {
		size_t got = 0;

		fail_alloc_init(&fa, 0, false);
		arena_init(&ar, &fa.hook, limits[i]);
		while (arena_alloc(&ar, 16))
			got += 16;
		/* All of it can be used, whatever the size of the chunks is. */
		assert_int_equal(got, limits[i]);
		assert_int_equal(ar.total, limits[i]);
		assert_true(arena_failed(&ar));
		arena_reset(&ar);
		assert_false(arena_failed(&ar));
		assert_non_null(arena_alloc(&ar, 16));
		assert_null(arena_alloc(&ar, limits[i] + 1));
		assert_true(arena_failed(&ar));
		arena_done(&ar);
		assert_int_equal(fa.live, 0);
	}
}

MEMORY_TEST(arena_refuses_absurd_sizes)
{
	struct arena ar;

	arena_init(&ar, &fa->hook, SIZE_MAX);
	assert_null(arena_alloc(&ar, SIZE_MAX));
	assert_null(arena_alloc(&ar, SIZE_MAX - 7));
	assert_null(arena_alloc(&ar, SIZE_MAX / 2 + 1));
	assert_int_equal(fa->requests, 0);
	arena_reset(&ar);
	assert_null(arena_strndup(&ar, "x", SIZE_MAX));
	assert_true(arena_failed(&ar)); /* a failure of size latches as every other */
	arena_reset(&ar);
	assert_null(arena_zalloc(&ar, SIZE_MAX));
	assert_null(arena_realloc(&ar, arena_alloc(&ar, 1), 1, SIZE_MAX));
	arena_done(&ar);
}

TEST(arena_realloc_grows_the_newest_in_place_and_others_by_copy)
{
	struct fail_alloc fa;
	struct arena ar;
	char *a, *b, *c;

	fail_alloc_init(&fa, 0, false);
	arena_init(&ar, &fa.hook, 0);
	a = arena_realloc(&ar, NULL, 0, 10);
	memcpy(a, "first", 6);
	assert_ptr_equal(arena_realloc(&ar, a, 10, 100), a);
	b = arena_alloc(&ar, 8);
	assert_ptr_equal(b, a + 112); /* the room was really taken */
	memcpy(b, "second", 7);
	c = arena_realloc(&ar, a, 100, 200);
	assert_ptr_not_equal(c, a);
	assert_string_equal(c, "first");
	assert_string_equal(b, "second");
	assert_ptr_equal(arena_realloc(&ar, b, 8, 3), b); /* smaller: stays, newest or not */
	assert_ptr_equal(arena_realloc(&ar, c, 200, 20), c);
	assert_ptr_equal(arena_alloc(&ar, 1), c + 32); /* the newest gives its room back */
	arena_done(&ar);
}

MEMORY_TEST(arena_realloc_moves_when_the_chunk_is_full)
{
	struct arena ar;
	char *p;
	size_t n = 1;

	arena_init(&ar, &fa->hook, 0);
	p = arena_alloc(&ar, n);
	p[0] = 'a';
	for (; n < 1 << 18; n *= 2) { /* through every kind of chunk */
		p = arena_realloc(&ar, p, n, n * 2);
		assert_non_null(p);
		memset(p + n, (int)('a' + n % 23), n);
	}
	assert_int_equal(p[0], 'a');
	for (size_t from = 1; from < n; from *= 2)
		assert_int_equal(p[from * 2 - 1], 'a' + from % 23);
	arena_done(&ar);
}

MEMORY_TEST(arena_text_helpers)
{
	struct arena ar;

	arena_init(&ar, &fa->hook, 0);
	assert_null(arena_strdup(&ar, NULL));
	assert_null(arena_strndup(&ar, NULL, 3));
	assert_false(arena_failed(&ar)); /* nothing was asked for */
	assert_string_equal(arena_strdup(&ar, "text"), "text");
	assert_memory_equal(arena_strndup(&ar, "a\0bc", 3), "a\0b", 4);
	assert_string_equal(arena_strndup(&ar, "", 0), "");
	assert_string_equal(arena_printf(&ar, "%s-%d", "n", 42), "n-42");
	assert_string_equal(arena_printf(&ar, "%s", ""), "");
	assert_int_equal(strlen(arena_printf(&ar, "%100000d", 1)), 100000);
	arena_done(&ar);
}

MEMORY_TEST(arena_allocator_is_a_complete_hook)
{
	struct arena ar;
	cleat_allocator hook;
	char *p;

	arena_init(&ar, &fa->hook, 1 << 16);
	hook = arena_allocator(&ar);
	p = mem_strdup(&hook, "inside");
	p = mem_realloc(&hook, p, 7, 7000);
	assert_string_equal(p, "inside");
	mem_free(&hook, p);
	assert_string_equal(p, "inside"); /* nothing is freed on its own */
	assert_null(mem_alloc(&hook, 1 << 17));
	assert_true(arena_failed(&ar));
	arena_done(&ar);
}

static bool arena_work(struct arena *ar)
{
	char *a = arena_strdup(ar, "one");
	char *b = arena_alloc(ar, 5000);
	char *c = arena_zalloc(ar, 100000);
	char *d = a ? arena_realloc(ar, a, 4, 9000) : NULL;
	char *e = arena_printf(ar, "%070000d", 7);

	return a && b && c && d && e;
}

TEST(arena_survives_every_failing_allocation)
{
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct arena ar;
		bool done;

		arena_init(&ar, &fa.hook, 0);
		done = arena_work(&ar);
		assert_int_equal(done, !fail_alloc_hit(&fa));
		assert_int_equal(arena_failed(&ar), fail_alloc_hit(&fa));
		arena_reset(&ar);
		fail_alloc_calm(&fa);
		assert_true(arena_work(&ar)); /* still usable */
		arena_done(&ar);
	}
}
