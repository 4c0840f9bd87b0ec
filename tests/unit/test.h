/* tests/unit/test.h - what a unit test is written with.
 *
 *	TEST(lines_do_not_depend_on_slices)
 *	{
 *		assert_int_equal(...);
 *	}
 *
 * A case is registered where it is defined and runs in that order; main() is in test.c. The assertions are
 * cmocka's. A case that works on what its set-up made finds it in `state`.
 */
#ifndef TESTS_UNIT_TEST_H
#define TESTS_UNIT_TEST_H

#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* for the rigs that are included after it */
#endif

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define TEST(name) TEST_WITH(name, NULL, NULL)
/* A case with a set-up and a tear-down of its own (NULL: none). */
#define TEST_WITH(name, set_up, tear_down)                                                         \
	static void name(void **state);                                                            \
	__attribute__((constructor)) static void add_##name(void)                                  \
	{                                                                                          \
		test_add(&(struct CMUnitTest){ #name, name, set_up, tear_down, NULL });            \
	}                                                                                          \
	static void name(__attribute__((unused)) void **state)

/* A case on a thing of its own, `it`, that is zeros, then made by the statement `open`, and after the case given to
 * `close`. Rigs have forms of this with fewer arguments. */
#define TEST_ON(name, type, it, open, close)                                                       \
	static void name##_on(type *it);                                                           \
	TEST(name)                                                                                 \
	{                                                                                          \
		type *it = test_thing(sizeof *it);                                                 \
                                                                                                   \
		open;                                                                              \
		name##_on(it);                                                                     \
		close(it);                                                                         \
	}                                                                                          \
	static void name##_on(type *it)

/* Texts that a case goes through, up to NULL. */
#define TEXTS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* With an arena (base/arena.h); with memory of which nothing may be left (support.h). */
#define ARENA_TEST(name) TEST_ON(name, struct arena, ar, arena_init(ar, NULL, 0), arena_done)
#define MEMORY_TEST(name)                                                                          \
	TEST_ON(name, struct fail_alloc, fa, fail_alloc_init(fa, 0, false), test_nothing_left)
#define test_nothing_left(fa) assert_int_equal((fa)->live, 0)

/* Before the first case of the file, and after the last; once a file. */
#define TEST_GROUP(set_up, tear_down)                                                              \
	__attribute__((constructor)) static void group_fixtures(void)                              \
	{                                                                                          \
		test_group(set_up, tear_down);                                                     \
	}

/* What the program does when it is started, before anything else: TEST_GO_ON runs the cases, anything else
 * is what the program exits with. For tests that start themselves in another role. */
#define TEST_START(argc, argv)                                                                     \
	static int on_start(int argc, char **argv);                                                \
	__attribute__((constructor)) static void add_start(void)                                   \
	{                                                                                          \
		test_start(on_start);                                                              \
	}                                                                                          \
	static int on_start(__attribute__((unused)) int argc, __attribute__((unused)) char **argv)
enum { TEST_GO_ON = -1 };

/* Memory of zeros for the case that runs, until the next one asks. */
void *test_thing(size_t size);
void test_add(const struct CMUnitTest *test); /* the name must stay where it is */
void test_group(CMFixtureFunction set_up, CMFixtureFunction tear_down);
void test_start(int (*start)(int argc, char **argv));

#endif
