/* test_mem.c - base/mem: hooks, copies, arrays that grow. */

#include "base/mem.h"
#include "support.h"
#include "test.h"

#include <string.h>

TEST(mem_resolve_takes_only_complete_hooks)
{
	struct fail_alloc fa;
	cleat_allocator broken;

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

TEST(mem_zero_bytes_are_null_and_ask_nobody)
{
	struct fail_alloc fa;

	fail_alloc_init(&fa, 0, false);
	assert_null(mem_alloc(&fa.hook, 0));
	assert_null(mem_zalloc(&fa.hook, 0));
	assert_null(mem_realloc(&fa.hook, NULL, 0, 0));
	mem_free(&fa.hook, NULL);
	assert_int_equal(fa.requests, 0);
}

TEST(mem_realloc_keeps_the_old_block_on_failure)
{
	struct fail_alloc fa;
	char *p;

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

TEST(mem_default_works_as_its_namesakes)
{
	char *p = mem_zalloc(&mem_default, 64);

	assert_non_null(p);
	for (size_t i = 0; i < 64; i++)
		assert_int_equal(p[i], 0);
	p[63] = 'x';
	p = mem_realloc(&mem_default, p, 64, 128);
	assert_non_null(p);
	assert_int_equal(p[63], 'x');
	mem_free(&mem_default, p);
}

TEST(mem_strdup_copies_and_terminates)
{
	struct fail_alloc fa;
	char *p;

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

TEST(mem_grow_doubles_up_to_the_maximum)
{
	static const size_t caps[] = { 8, 16, 32, 40 };
	struct fail_alloc fa;
	void *array = NULL;
	size_t cap = 0, used = 0;

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

TEST(mem_grow_changes_nothing_on_failure)
{
	struct fail_alloc fa;
	void *array = NULL;
	size_t cap = 0;

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
