/* test_mem.c - base/mem: hooks, copies, arrays that grow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "support.h"

#include <string.h>

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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
