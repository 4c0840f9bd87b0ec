/* test_base.c - memory: mem, arena and buf. Text and errors are in test_str.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "support.h"

#include <stdalign.h>
#include <string.h>

#define assert_str(s, z) assert_slice(s, z, sizeof(z) - 1)

static void assert_slice(struct str s, const char *want, size_t n)
{
	assert_int_equal(s.n, n);
	assert_memory_equal(s.p, want, n);
}

/* ---- mem ---------------------------------------------------------------------------------- */

static void mem_resolve_takes_only_complete_hooks(void **state)
{
	struct fail_alloc fa;
	cleat_allocator broken;

	(void)state;
	fail_alloc_init(&fa, 0, false);
	assert_ptr_equal(mem_resolve(&fa.hook).ctx, &fa);
	assert_ptr_equal(mem_resolve(NULL).malloc, mem_default.malloc);
	broken = fa.hook;
	broken.malloc = NULL;
	assert_ptr_equal(mem_resolve(&broken).free, mem_default.free);
	broken = fa.hook;
	broken.realloc = NULL;
	assert_ptr_equal(mem_resolve(&broken).free, mem_default.free);
	broken = fa.hook;
	broken.free = NULL;
	assert_ptr_equal(mem_resolve(&broken).malloc, mem_default.malloc);
}

static void mem_zero_bytes_are_null_and_ask_nobody(void **state)
{
	struct fail_alloc fa;

	(void)state;
	fail_alloc_init(&fa, 0, false);
	assert_null(mem_alloc(&fa.hook, 0));
	assert_null(mem_zalloc(&fa.hook, 0));
	assert_null(mem_realloc(&fa.hook, NULL, 0, 0));
	mem_free(&fa.hook, NULL);
	assert_int_equal(fa.requests, 0);
}

static void mem_realloc_keeps_the_old_block_on_failure(void **state)
{
	struct fail_alloc fa;
	char *p;

	(void)state;
	fail_alloc_init(&fa, 2, false);
	p = mem_alloc(&fa.hook, 4);
	assert_non_null(p);
	memcpy(p, "abc", 4);
	assert_null(mem_realloc(&fa.hook, p, 4, 4000));
	assert_string_equal(p, "abc");
	assert_null(mem_realloc(&fa.hook, p, 4, 0)); /* not a way to free */
	assert_string_equal(p, "abc");
	p = mem_realloc(&fa.hook, p, 4, 4000);
	assert_non_null(p);
	assert_string_equal(p, "abc");
	mem_free(&fa.hook, p);
	assert_int_equal(fa.live, 0);
}

static void mem_default_works_as_its_namesakes(void **state)
{
	char *p = mem_zalloc(&mem_default, 64);

	(void)state;
	assert_non_null(p);
	for (size_t i = 0; i < 64; i++)
		assert_int_equal(p[i], 0);
	p[63] = 'x';
	p = mem_realloc(&mem_default, p, 64, 128);
	assert_non_null(p);
	assert_int_equal(p[63], 'x');
	mem_free(&mem_default, p);
}

static void mem_strdup_copies_and_terminates(void **state)
{
	struct fail_alloc fa;
	char *p;

	(void)state;
	fail_alloc_init(&fa, 0, false);
	assert_null(mem_strdup(&fa.hook, NULL));
	p = mem_strdup(&fa.hook, "");
	assert_string_equal(p, "");
	mem_free(&fa.hook, p);
	p = mem_strndup(&fa.hook, "a\0bcd", 4); /* text may contain NUL */
	assert_memory_equal(p, "a\0bc", 5);
	mem_free(&fa.hook, p);
	p = mem_strndup(&fa.hook, NULL, 0);
	assert_string_equal(p, "");
	mem_free(&fa.hook, p);
	assert_null(mem_strndup(&fa.hook, "x", SIZE_MAX)); /* n + 1 would be 0 */
	assert_int_equal(fa.live, 0);
	fail_alloc_init(&fa, 1, true);
	assert_null(mem_strdup(&fa.hook, "x"));
	assert_null(mem_zalloc(&fa.hook, 5));
}

static void mem_grow_doubles_up_to_the_maximum(void **state)
{
	static const size_t caps[] = { 8, 16, 32, 40 };
	struct fail_alloc fa;
	void *array = NULL;
	size_t cap = 0, used = 0;

	(void)state;
	fail_alloc_init(&fa, 0, false);
	for (size_t i = 0; i < CLEAT_COUNT(caps); i++) {
		for (; used < caps[i]; used++) {
			assert_int_equal(mem_grow(&fa.hook, &array, &cap, used, 4, 40), CLEAT_OK);
			assert_int_equal(cap, caps[i]);
			memset((char *)array + used * 4, (int)used, 4);
		}
	}
	assert_int_equal(mem_grow(&fa.hook, &array, &cap, used, 4, 40), CLEAT_ELIMIT);
	assert_int_equal(cap, 40);
	for (size_t i = 0; i < used; i++)
		assert_int_equal(((char *)array)[i * 4 + 3], i);
	assert_int_equal(fa.requests, 4);
	mem_free(&fa.hook, array);
}

static void mem_grow_changes_nothing_on_failure(void **state)
{
	struct fail_alloc fa;
	void *array = NULL;
	size_t cap = 0;

	(void)state;
	fail_alloc_init(&fa, 1, false);
	assert_int_equal(mem_grow(&fa.hook, &array, &cap, 0, 16, 100), CLEAT_ENOMEM);
	assert_null(array);
	assert_int_equal(cap, 0);
	/* A product that overflows is refused before the allocator hears of it. */
	assert_int_equal(mem_grow(&fa.hook, &array, &cap, 0, SIZE_MAX / 4, SIZE_MAX), CLEAT_ENOMEM);
	assert_int_equal(fa.requests, 1);
	assert_int_equal(mem_grow(&fa.hook, &array, &cap, 0, 16, 0), CLEAT_ELIMIT);
	assert_int_equal(mem_grow(&fa.hook, &array, &cap, 0, 16, 3), CLEAT_OK);
	assert_int_equal(cap, 3); /* a maximum under the first step */
	fa.countdown = 1;
	assert_int_equal(mem_grow(&fa.hook, &array, &cap, 3, 16, 100), CLEAT_ENOMEM);
	assert_non_null(array);
	assert_int_equal(cap, 3);
	mem_free(&fa.hook, array);
	assert_int_equal(fa.live, 0);
}

/* ---- arena -------------------------------------------------------------------------------- */

static void arena_blocks_are_aligned_apart_and_writable(void **state)
{
	static const size_t sizes[] = { 0,    1,    15,   16,    17,    31,    100,
					4031, 4032, 4033, 16368, 16369, 65472, 70000 };
	struct fail_alloc fa;
	struct arena ar;
	unsigned char *p[CLEAT_COUNT(sizes) * 8];
	size_t n = 0;

	(void)state;
	fail_alloc_init(&fa, 0, false);
	arena_init(&ar, &fa.hook, 0);
	assert_int_equal(fa.requests, 0);
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
	assert_int_equal(fa.live, 0);
	assert_int_equal(ar.total, 0);
	assert_non_null(arena_alloc(&ar, 5)); /* usable again */
	arena_done(&ar);
	assert_int_equal(fa.live, 0);
}

static void arena_done_accepts_a_zeroed_one(void **state)
{
	struct arena ar = { .used = 0 };

	(void)state;
	arena_done(&ar);
	arena_reset(&ar);
	assert_null(arena_alloc(&ar, 1)); /* no memory, but no crash either */
	assert_true(arena_failed(&ar));
}

static void arena_zalloc_clears_recycled_memory(void **state)
{
	struct fail_alloc fa;
	struct arena ar;
	unsigned char *p;

	(void)state;
	fail_alloc_init(&fa, 0, false);
	arena_init(&ar, &fa.hook, 0);
	memset(arena_alloc(&ar, 500), 0xFF, 500);
	arena_reset(&ar);
	p = arena_zalloc(&ar, 500);
	for (size_t i = 0; i < 500; i++)
		assert_int_equal(p[i], 0);
	arena_done(&ar);
}

static void arena_reset_keeps_one_ordinary_chunk(void **state)
{
	struct fail_alloc fa;
	struct arena ar;

	(void)state;
	fail_alloc_init(&fa, 0, false);
	arena_init(&ar, &fa.hook, 0);
	arena_reset(&ar); /* of an empty one */
	for (int i = 0; i < 1000; i++)
		assert_non_null(arena_alloc(&ar, 200));
	assert_true(fa.live > 1);
	arena_reset(&ar);
	assert_int_equal(fa.live, 1);
	assert_true(ar.total > 0 && ar.total < fa.bytes && fa.bytes < 70000);
	fa.requests = 0;
	for (int i = 0; i < 300; i++)
		assert_non_null(arena_alloc(&ar, 200));
	assert_int_equal(fa.requests, 0); /* the kept chunk is used */
	arena_done(&ar);

	assert_non_null(arena_alloc(&ar, 1 << 20)); /* a blob is not ordinary: it goes */
	assert_int_equal(fa.live, 1);
	arena_reset(&ar);
	assert_int_equal(fa.live, 0);
	assert_non_null(arena_alloc(&ar, 10));
	assert_non_null(
		arena_alloc(&ar, 1 << 20)); /* behind an ordinary chunk: only the blob goes */
	assert_int_equal(fa.live, 2);
	arena_reset(&ar);
	assert_int_equal(fa.live, 1);
	assert_true(fa.bytes < 5000);
	arena_done(&ar);
	assert_int_equal(fa.live, 0);
}

static void arena_blob_does_not_waste_the_current_chunk(void **state)
{
	struct fail_alloc fa;
	struct arena ar;
	char *a, *b;

	(void)state;
	fail_alloc_init(&fa, 0, false);
	arena_init(&ar, &fa.hook, 0);
	a = arena_alloc(&ar, 16);
	assert_non_null(arena_alloc(&ar, 100000));
	b = arena_alloc(&ar, 16);
	assert_ptr_equal(b, a + 16);
	arena_done(&ar);
}

static void arena_limit_latches_and_counts_what_the_user_takes(void **state)
{
	static const size_t limits[] = { 16, 1000 & ~15, 4032, 8192, 100000 & ~15, 1 << 20 };
	struct fail_alloc fa;
	struct arena ar;

	(void)state;
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

static void arena_refuses_absurd_sizes(void **state)
{
	struct fail_alloc fa;
	struct arena ar;

	(void)state;
	fail_alloc_init(&fa, 0, false);
	arena_init(&ar, &fa.hook, SIZE_MAX);
	assert_null(arena_alloc(&ar, SIZE_MAX));
	assert_null(arena_alloc(&ar, SIZE_MAX - 7));
	assert_null(arena_alloc(&ar, SIZE_MAX / 2 + 1));
	assert_int_equal(fa.requests, 0);
	arena_reset(&ar);
	assert_null(arena_strndup(&ar, "x", SIZE_MAX));
	assert_true(arena_failed(&ar)); /* a failure of size latches as every other */
	arena_reset(&ar);
	assert_null(arena_zalloc(&ar, SIZE_MAX));
	assert_null(arena_realloc(&ar, arena_alloc(&ar, 1), 1, SIZE_MAX));
	arena_done(&ar);
	assert_int_equal(fa.live, 0);
}

static void arena_realloc_grows_the_newest_in_place_and_others_by_copy(void **state)
{
	struct fail_alloc fa;
	struct arena ar;
	char *a, *b, *c;

	(void)state;
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

static void arena_realloc_moves_when_the_chunk_is_full(void **state)
{
	struct fail_alloc fa;
	struct arena ar;
	char *p;
	size_t n = 1;

	(void)state;
	fail_alloc_init(&fa, 0, false);
	arena_init(&ar, &fa.hook, 0);
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
	assert_int_equal(fa.live, 0);
}

static void arena_text_helpers(void **state)
{
	struct fail_alloc fa;
	struct arena ar;

	(void)state;
	fail_alloc_init(&fa, 0, false);
	arena_init(&ar, &fa.hook, 0);
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
	assert_int_equal(fa.live, 0);
}

static void arena_allocator_is_a_complete_hook(void **state)
{
	struct fail_alloc fa;
	struct arena ar;
	cleat_allocator hook;
	char *p;

	(void)state;
	fail_alloc_init(&fa, 0, false);
	arena_init(&ar, &fa.hook, 1 << 16);
	hook = arena_allocator(&ar);
	p = mem_strdup(&hook, "inside");
	p = mem_realloc(&hook, p, 7, 7000);
	assert_string_equal(p, "inside");
	mem_free(&hook, p);
	assert_string_equal(p, "inside"); /* nothing is freed on its own */
	assert_null(mem_alloc(&hook, 1 << 17));
	assert_true(arena_failed(&ar));
	arena_done(&ar);
	assert_int_equal(fa.live, 0);
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

static void arena_survives_every_failing_allocation(void **state)
{
	(void)state;
	for (int forever = 0; forever < 2; forever++) {
		for (size_t n = 1;; n++) {
			struct fail_alloc fa;
			struct arena ar;
			bool done;

			fail_alloc_init(&fa, n, forever);
			arena_init(&ar, &fa.hook, 0);
			done = arena_work(&ar);
			assert_int_equal(done, !fail_alloc_hit(&fa));
			assert_int_equal(arena_failed(&ar), fail_alloc_hit(&fa));
			arena_reset(&ar);
			fa.countdown = 0;
			fa.forever = false;
			assert_true(arena_work(&ar)); /* still usable */
			arena_done(&ar);
			assert_int_equal(fa.live, 0);
			if (done)
				break;
		}
	}
}

/* ---- buf ---------------------------------------------------------------------------------- */

static void buf_starts_empty_and_without_memory(void **state)
{
	struct fail_alloc fa;
	struct buf b;

	(void)state;
	fail_alloc_init(&fa, 0, false);
	buf_init(&b, &fa.hook, 100);
	assert_str(buf_str(&b), "");
	assert_non_null(buf_str(&b).p); /* empty, not absent */
	buf_append(&b, NULL, 0);
	buf_truncate(&b, 0);
	buf_consume(&b, 0);
	assert_int_equal(fa.requests, 0);
	buf_done(&b);
	buf_done(&b);
	buf_init(&b, &fa.hook, SIZE_MAX);
	assert_int_equal(b.max, SIZE_MAX / 2);
}

static void buf_appends_of_all_kinds(void **state)
{
	struct fail_alloc fa;
	struct buf b;
	char *to;

	(void)state;
	fail_alloc_init(&fa, 0, false);
	buf_init(&b, &fa.hook, 10000);
	buf_append(&b, "a\0b", 3);
	buf_appendz(&b, "cd");
	buf_appendz(&b, "");
	buf_putc(&b, 'e');
	buf_printf(&b, "<%s %d>", "f", 7);
	to = buf_reserve(&b, 5);
	memcpy(to, "ghijk", 5);
	buf_commit(&b, 2); /* less than reserved */
	assert_str(buf_str(&b), "a\0bcde<f 7>gh");
	assert_int_equal(buf_size(&b), 13);
	buf_done(&b);
	assert_int_equal(fa.live, 0);
}

static void buf_maximum_is_exact_and_latches(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, NULL, 8);
	buf_appendz(&b, "12345678"); /* exactly full is fine */
	assert_int_equal(buf_status(&b), CLEAT_OK);
	assert_non_null(buf_reserve(&b, 0));
	buf_putc(&b, '9');
	assert_int_equal(buf_status(&b), CLEAT_ELIMIT);
	buf_consume(&b, 8);
	buf_putc(&b, 'x'); /* there is room now, but the message before is broken */
	assert_null(buf_reserve(&b, 1));
	assert_null(buf_reserve(&b, 0));
	buf_printf(&b, "y");
	assert_int_equal(buf_size(&b), 0);
	buf_reset(&b, SIZE_MAX);
	assert_int_equal(buf_status(&b), CLEAT_OK);
	assert_null(buf_reserve(&b, SIZE_MAX));
	assert_int_equal(buf_status(&b), CLEAT_ELIMIT);
	buf_done(&b);
	assert_int_equal(buf_status(&b), CLEAT_OK);
}

static void buf_printf_fills_to_the_last_byte(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, NULL, 8); /* the terminator that printf writes does not count */
	buf_printf(&b, "%s", "12345678");
	assert_str(buf_str(&b), "12345678");
	buf_printf(&b, "%s", "");
	assert_int_equal(buf_status(&b), CLEAT_OK);
	buf_printf(&b, "%d", 9);
	assert_int_equal(buf_status(&b), CLEAT_ELIMIT);
	assert_str(buf_str(&b), "12345678");
	buf_done(&b);
	buf_init(&b, NULL, 600); /* and at the border of the memory, which is at 512 */
	buf_printf(&b, "%0511d", 1);
	buf_printf(&b, "%s", "x");
	assert_int_equal(buf_size(&b), 512);
	assert_int_equal(buf_str(&b).p[511], 'x');
	buf_done(&b);
}

static void buf_growth_keeps_the_bytes(void **state)
{
	struct fail_alloc fa;
	struct buf b;

	(void)state;
	fail_alloc_init(&fa, 0, false);
	buf_init(&b, &fa.hook, 1 << 20);
	for (int i = 0; i < 100000; i++)
		buf_putc(&b, (char)(i % 127));
	assert_int_equal(buf_size(&b), 100000);
	for (int i = 0; i < 100000; i++)
		assert_int_equal(buf_str(&b).p[i], i % 127);
	assert_true(fa.requests <= 10); /* doubles */
	buf_reset(&b, 1 << 20);
	assert_int_equal(fa.live, 1);
	buf_putc(&b, 'k');
	assert_str(buf_str(&b), "k");
	buf_reset(&b, 1000); /* larger than what is worth keeping */
	assert_int_equal(fa.live, 0);
	buf_putc(&b, 'l');
	assert_str(buf_str(&b), "l");
	buf_done(&b);
	assert_int_equal(fa.live, 0);
}

/* A queue that never gets empty must not eat memory: the front is reused. */
static void buf_consumed_front_is_reused(void **state)
{
	struct fail_alloc fa;
	struct buf b;
	unsigned in = 0, out = 0;

	(void)state;
	fail_alloc_init(&fa, 0, false);
	buf_init(&b, &fa.hook, 4096);
	for (int round = 0; round < 20000; round++) {
		unsigned take = (unsigned)round * 7 % 100;

		for (unsigned i = 0; i < 45; i++)
			buf_putc(&b, (char)(in++ % 251));
		for (; take > 0 && buf_size(&b) > 1; take--) {
			assert_int_equal((unsigned char)buf_str(&b).p[0], out++ % 251);
			buf_consume(&b, 1);
		}
	}
	assert_int_equal(buf_status(&b), CLEAT_OK);
	assert_int_equal(in - out, buf_size(&b));
	assert_true(fa.peak <= 4 * 4096);
	assert_true(fa.requests < 10);
	buf_done(&b);
}

static void buf_compacts_instead_of_growing(void **state)
{
	struct fail_alloc fa;
	struct buf b;

	(void)state;
	fail_alloc_init(&fa, 0, false);
	buf_init(&b, &fa.hook, 512);
	buf_printf(&b, "%0500d", 0);
	buf_appendz(&b, "tail");
	buf_consume(&b, 500);
	buf_printf(&b, "%0300d", 1);
	assert_int_equal(fa.requests, 1);
	assert_int_equal(buf_size(&b), 304);
	assert_memory_equal(buf_str(&b).p, "tail000", 7);
	buf_consume(&b, 304); /* empty: starts over at the front */
	assert_int_equal(b.head, 0);
	assert_int_equal(b.len, 0);
	buf_done(&b);
}

static void buf_truncate_undoes_half_a_message(void **state)
{
	struct buf b;
	size_t mark;

	(void)state;
	buf_init(&b, NULL, 16);
	buf_appendz(&b, "xxkeep");
	buf_consume(&b, 2);
	mark = buf_size(&b);
	buf_appendz(&b, "half");
	buf_appendz(&b, "of a message");
	assert_int_equal(buf_status(&b), CLEAT_ELIMIT);
	buf_truncate(&b, mark);
	assert_int_equal(buf_status(&b), CLEAT_OK);
	buf_putc(&b, '!');
	assert_str(buf_str(&b), "keep!");
	buf_truncate(&b, 0);
	assert_int_equal(buf_size(&b), 0);
	buf_done(&b);
}

static void buf_survives_every_failing_allocation(void **state)
{
	(void)state;
	for (int forever = 0; forever < 2; forever++) {
		for (size_t n = 1;; n++) {
			struct fail_alloc fa;
			struct buf b;
			bool hit;

			fail_alloc_init(&fa, n, forever);
			buf_init(&b, &fa.hook, 1 << 20);
			buf_appendz(&b, "some");
			buf_printf(&b, "%01000d", 1);
			buf_reserve(&b, 10000);
			hit = fail_alloc_hit(&fa);
			assert_int_equal(buf_status(&b), hit ? CLEAT_ENOMEM : CLEAT_OK);
			assert_int_equal(buf_size(&b), !hit     ? 1004
						       : n == 1 ? 0
						       : n == 2 ? 4
								: 1004);
			buf_done(&b);
			assert_int_equal(fa.live, 0);
			if (!hit)
				break;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mem_resolve_takes_only_complete_hooks),
		cmocka_unit_test(mem_zero_bytes_are_null_and_ask_nobody),
		cmocka_unit_test(mem_realloc_keeps_the_old_block_on_failure),
		cmocka_unit_test(mem_default_works_as_its_namesakes),
		cmocka_unit_test(mem_strdup_copies_and_terminates),
		cmocka_unit_test(mem_grow_doubles_up_to_the_maximum),
		cmocka_unit_test(mem_grow_changes_nothing_on_failure),
		cmocka_unit_test(arena_blocks_are_aligned_apart_and_writable),
		cmocka_unit_test(arena_done_accepts_a_zeroed_one),
		cmocka_unit_test(arena_zalloc_clears_recycled_memory),
		cmocka_unit_test(arena_reset_keeps_one_ordinary_chunk),
		cmocka_unit_test(arena_blob_does_not_waste_the_current_chunk),
		cmocka_unit_test(arena_limit_latches_and_counts_what_the_user_takes),
		cmocka_unit_test(arena_refuses_absurd_sizes),
		cmocka_unit_test(arena_realloc_grows_the_newest_in_place_and_others_by_copy),
		cmocka_unit_test(arena_realloc_moves_when_the_chunk_is_full),
		cmocka_unit_test(arena_text_helpers),
		cmocka_unit_test(arena_allocator_is_a_complete_hook),
		cmocka_unit_test(arena_survives_every_failing_allocation),
		cmocka_unit_test(buf_starts_empty_and_without_memory),
		cmocka_unit_test(buf_appends_of_all_kinds),
		cmocka_unit_test(buf_maximum_is_exact_and_latches),
		cmocka_unit_test(buf_printf_fills_to_the_last_byte),
		cmocka_unit_test(buf_growth_keeps_the_bytes),
		cmocka_unit_test(buf_consumed_front_is_reused),
		cmocka_unit_test(buf_compacts_instead_of_growing),
		cmocka_unit_test(buf_truncate_undoes_half_a_message),
		cmocka_unit_test(buf_survives_every_failing_allocation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
