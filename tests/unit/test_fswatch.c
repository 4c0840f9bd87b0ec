/* test_fswatch.c - files and directories that change (loop/fswatch.c). */
#define _POSIX_C_SOURCE 200809L
#define _XOPEN_SOURCE   700

#include "loop/fswatch.h"
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char root[64];
static cleat_loop *loop;
static struct fswatch *watch;
static unsigned calls;
static char names[1024]; /* "a b " */
static bool free_in_call;

static const char *in(const char *name)
{
	static char path[4][256];
	static unsigned next;

	next = (next + 1) % 4;
	snprintf(path[next], sizeof path[next], "%s/%s", root, name);
	return path[next];
}

static void put(const char *name, const char *text)
{
	FILE *f = fopen(in(name), "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static int begin(void **state)
{
	(void)state;
	strcpy(root, "/tmp/cleat-fswatch-XXXXXX");
	assert_non_null(mkdtemp(root));
	loop = cleat_loop_new(NULL);
	assert_non_null(loop);
	calls = 0;
	names[0] = 0;
	free_in_call = false;
	return 0;
}

static int end(void **state)
{
	char command[128];

	(void)state;
	fswatch_free(watch);
	watch = NULL;
	cleat_loop_free(loop);
	snprintf(command, sizeof command, "rm -rf %s", root);
	return system(command);
}

static void on_file(void *ctx)
{
	assert_ptr_equal(ctx, root);
	calls++;
	if (free_in_call) {
		fswatch_free(watch);
		watch = NULL;
	}
}

static void on_entry(void *ctx, const char *name)
{
	on_file(ctx);
	strcat(strcat(names, name ? name : "*"), " ");
}

/* Runs the loop until something was told, at most ten seconds. */
static bool told(void)
{
	uint64_t until = loop_now() + 10000;
	unsigned before = calls;

	while (calls == before && loop_now() < until)
		cleat_loop_step(loop, 100);
	return calls > before;
}

/* What is told comes within FSWATCH_LONGEST_MS; a change that is seen afterwards closes the window. */
static bool quiet(void)
{
	uint64_t until = loop_now() + FSWATCH_LONGEST_MS + 100;
	unsigned before = calls;

	while (loop_now() < until)
		cleat_loop_step(loop, 50);
	return calls == before;
}

static void a_file_that_is_written_is_told_once(void **state)
{
	(void)state;
	put("a", "1");
	assert_int_equal(fswatch_file(loop, in("a"), on_file, root, &watch), CLEAT_OK);
	put("a", "22");
	put("a", "333");
	assert_true(told());
	assert_true(quiet());
	assert_int_equal(calls, 1);
}

static void a_file_that_is_renamed_over_is_seen_again_and_again(void **state)
{
	(void)state;
	put("a", "1");
	assert_int_equal(fswatch_file(loop, in("a"), on_file, root, &watch), CLEAT_OK);
	for (int i = 0; i < 3; i++) {
		put("a.new", "1");
		assert_int_equal(rename(in("a.new"), in("a")), 0);
		assert_true(told());
	}
}

static void other_files_beside_it_are_not_told(void **state)
{
	(void)state;
	put("a", "1");
	assert_int_equal(fswatch_file(loop, in("a"), on_file, root, &watch), CLEAT_OK);
	put("b", "1");
	assert_true(quiet());
}

static void a_file_may_go_and_come(void **state)
{
	(void)state;
	assert_int_equal(fswatch_file(loop, in("a"), on_file, root, &watch), CLEAT_OK);
	put("a", "1");
	assert_true(told());
	assert_int_equal(unlink(in("a")), 0);
	assert_true(told());
}

/* As mounted configuration is replaced: the link beside the file's own link is turned. */
static void a_link_that_is_turned_is_seen_and_followed(void **state)
{
	(void)state;
	assert_int_equal(mkdir(in("one"), 0700), 0);
	assert_int_equal(mkdir(in("two"), 0700), 0);
	put("one/f", "1");
	put("two/f", "22");
	assert_int_equal(symlink("one", in("data")), 0);
	assert_int_equal(symlink("data/f", in("f")), 0);
	assert_int_equal(fswatch_file(loop, in("f"), on_file, root, &watch), CLEAT_OK);
	put("one/f", "333");
	assert_true(told());
	assert_int_equal(symlink("two", in("data.new")), 0);
	assert_int_equal(rename(in("data.new"), in("data")), 0);
	assert_true(told());
	put("two/f", "4444");
	assert_true(told());
}

static void entries_of_a_directory_are_told_by_name(void **state)
{
	(void)state;
	assert_int_equal(fswatch_directory(loop, root, on_entry, root, &watch), CLEAT_OK);
	put("a", "1");
	put("b", "1");
	put("a", "2");
	assert_true(told());
	assert_string_equal(names, "a b ");
	assert_int_equal(unlink(in("a")), 0);
	assert_true(told());
	assert_string_equal(names, "a b a ");
}

static void too_many_entries_are_told_as_one(void **state)
{
	char name[16];

	(void)state;
	assert_int_equal(fswatch_directory(loop, root, on_entry, root, &watch), CLEAT_OK);
	for (int i = 0; i < FSWATCH_NAMES_MAX + 10; i++) {
		snprintf(name, sizeof name, "f%d", i);
		put(name, "");
	}
	assert_true(told());
	assert_string_equal(names, "* ");
}

static void a_directory_that_comes_again_is_watched_again(void **state)
{
	(void)state;
	assert_int_equal(mkdir(in("d"), 0700), 0);
	assert_int_equal(fswatch_directory(loop, in("d"), on_entry, root, &watch), CLEAT_OK);
	assert_int_equal(rmdir(in("d")), 0);
	assert_true(told());
	assert_int_equal(mkdir(in("d"), 0700), 0);
	assert_true(told());
	assert_string_equal(strrchr(names, '*'), "* ");
	put("d/x", "1");
	assert_true(told());
	assert_string_equal(strrchr(names, 'x'), "x ");
}

static void a_watch_may_be_freed_from_its_callback(void **state)
{
	(void)state;
	free_in_call = true;
	assert_int_equal(fswatch_directory(loop, root, on_entry, root, &watch), CLEAT_OK);
	put("a", "1");
	put("b", "1");
	assert_true(told());
	assert_int_equal(calls, 1);
	put("f", "1");
	assert_int_equal(fswatch_file(loop, in("f"), on_file, root, &watch), CLEAT_OK);
	put("f", "22");
	assert_true(told());
}

static void what_is_not_there_is_refused(void **state)
{
	(void)state;
	assert_int_equal(fswatch_directory(loop, in("no"), on_entry, root, &watch), CLEAT_ENOENT);
	assert_int_equal(fswatch_file(loop, in("no/f"), on_file, root, &watch), CLEAT_ENOENT);
	put("f", "");
	assert_int_equal(fswatch_directory(loop, in("f"), on_entry, root, &watch), CLEAT_ENOENT);
	assert_null(watch);
}

static void no_memory_is_survived(void **state)
{
	struct fail_alloc fa;
	bool hit = true;

	(void)state;
	put("t", "");
	assert_int_equal(symlink("t", in("f")), 0);
	for (size_t n = 1; hit; n++) {
		cleat_loop *l;
		int rc;

		fail_alloc_init(&fa, 0, false);
		l = cleat_loop_new(&fa.hook);
		assert_non_null(l);
		fa.countdown = n;
		rc = fswatch_file(l, in("f"), on_file, root, &watch);
		assert_true(rc == CLEAT_OK || rc == CLEAT_ENOMEM);
		hit = fail_alloc_hit(&fa);
		fswatch_free(watch);
		watch = NULL;
		cleat_loop_free(l);
		assert_int_equal(fa.live, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
		TEST(a_file_that_is_written_is_told_once),
		TEST(a_file_that_is_renamed_over_is_seen_again_and_again),
		TEST(other_files_beside_it_are_not_told),
		TEST(a_file_may_go_and_come),
		TEST(a_link_that_is_turned_is_seen_and_followed),
		TEST(entries_of_a_directory_are_told_by_name),
		TEST(too_many_entries_are_told_as_one),
		TEST(a_directory_that_comes_again_is_watched_again),
		TEST(a_watch_may_be_freed_from_its_callback),
		TEST(what_is_not_there_is_refused),
		TEST(no_memory_is_survived),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
