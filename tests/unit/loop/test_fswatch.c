/* test_fswatch.c - files and directories that change (loop/fswatch.c). */
#include "loop/fswatch.h"
#include "support.h"
#include "support_files.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static cleat_loop *loop;
static struct fswatch *watch;
static unsigned calls;
static char names[1024]; /* "a b " */
static bool free_in_call;

static int begin(void **state)
{
	scratch_begin(state);
	loop = cleat_loop_new(NULL);
	assert_non_null(loop);
	calls = 0;
	names[0] = 0;
	free_in_call = false;
	return 0;
}

static int end(void **state)
{
	fswatch_free(watch);
	watch = NULL;
	cleat_loop_free(loop);
	return scratch_end(state);
}

static void on_file(void *ctx)
{
	assert_ptr_equal(ctx, scratch_dir);
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

/* Runs the loop until something was told, at most a minute. */
static bool told(void)
{
	uint64_t until = loop_now() + 60000;
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

TEST_WITH(a_file_that_is_written_is_told_once, begin, end)
{
	scratch_put("a", "1");
	assert_int_equal(fswatch_file(loop, scratch_path("a"), on_file, scratch_dir, &watch),
			 CLEAT_OK);
	scratch_put("a", "22");
	scratch_put("a", "333");
	assert_true(told());
	assert_true(quiet());
	assert_int_equal(calls, 1);
}

TEST_WITH(a_file_that_is_renamed_over_is_seen_again_and_again, begin, end)
{
	scratch_put("a", "1");
	assert_int_equal(fswatch_file(loop, scratch_path("a"), on_file, scratch_dir, &watch),
			 CLEAT_OK);
	for (int i = 0; i < 3; i++) {
		scratch_put("a.new", "1");
		assert_int_equal(rename(scratch_path("a.new"), scratch_path("a")), 0);
		assert_true(told());
	}
}

TEST_WITH(other_files_beside_it_are_not_told, begin, end)
{
	scratch_put("a", "1");
	assert_int_equal(fswatch_file(loop, scratch_path("a"), on_file, scratch_dir, &watch),
			 CLEAT_OK);
	scratch_put("b", "1");
	assert_true(quiet());
}

TEST_WITH(a_file_may_go_and_come, begin, end)
{
	assert_int_equal(fswatch_file(loop, scratch_path("a"), on_file, scratch_dir, &watch),
			 CLEAT_OK);
	scratch_put("a", "1");
	assert_true(told());
	assert_int_equal(unlink(scratch_path("a")), 0);
	assert_true(told());
}

/* As mounted configuration is replaced: the link beside the file's own link is turned. */
TEST_WITH(a_link_that_is_turned_is_seen_and_followed, begin, end)
{
	assert_int_equal(mkdir(scratch_path("one"), 0700), 0);
	assert_int_equal(mkdir(scratch_path("two"), 0700), 0);
	scratch_put("one/f", "1");
	scratch_put("two/f", "22");
	assert_int_equal(symlink("one", scratch_path("data")), 0);
	assert_int_equal(symlink("data/f", scratch_path("f")), 0);
	assert_int_equal(fswatch_file(loop, scratch_path("f"), on_file, scratch_dir, &watch),
			 CLEAT_OK);
	scratch_put("one/f", "333");
	assert_true(told());
	assert_int_equal(symlink("two", scratch_path("data.new")), 0);
	assert_int_equal(rename(scratch_path("data.new"), scratch_path("data")), 0);
	assert_true(told());
	scratch_put("two/f", "4444");
	assert_true(told());
}

TEST_WITH(entries_of_a_directory_are_told_by_name, begin, end)
{
	assert_int_equal(fswatch_directory(loop, scratch_dir, on_entry, scratch_dir, &watch),
			 CLEAT_OK);
	scratch_put("a", "1");
	scratch_put("b", "1");
	scratch_put("a", "2");
	assert_true(told());
	assert_string_equal(names, "a b ");
	assert_int_equal(unlink(scratch_path("a")), 0);
	assert_true(told());
	assert_string_equal(names, "a b a ");
}

TEST_WITH(too_many_entries_are_told_as_one, begin, end)
{
	char name[16];

	assert_int_equal(fswatch_directory(loop, scratch_dir, on_entry, scratch_dir, &watch),
			 CLEAT_OK);
	for (int i = 0; i < FSWATCH_NAMES_MAX + 10; i++) {
		snprintf(name, sizeof name, "f%d", i);
		scratch_put(name, "");
	}
	assert_true(told());
	assert_string_equal(names, "* ");
}

TEST_WITH(a_directory_that_comes_again_is_watched_again, begin, end)
{
	assert_int_equal(mkdir(scratch_path("d"), 0700), 0);
	assert_int_equal(fswatch_directory(loop, scratch_path("d"), on_entry, scratch_dir, &watch),
			 CLEAT_OK);
	assert_int_equal(rmdir(scratch_path("d")), 0);
	assert_true(told());
	assert_int_equal(mkdir(scratch_path("d"), 0700), 0);
	assert_true(told());
	assert_string_equal(strrchr(names, '*'), "* ");
	scratch_put("d/x", "1");
	assert_true(told());
	assert_string_equal(strrchr(names, 'x'), "x ");
}

TEST_WITH(a_watch_may_be_freed_from_its_callback, begin, end)
{
	free_in_call = true;
	assert_int_equal(fswatch_directory(loop, scratch_dir, on_entry, scratch_dir, &watch),
			 CLEAT_OK);
	scratch_put("a", "1");
	scratch_put("b", "1");
	assert_true(told());
	assert_int_equal(calls, 1);
	scratch_put("f", "1");
	assert_int_equal(fswatch_file(loop, scratch_path("f"), on_file, scratch_dir, &watch),
			 CLEAT_OK);
	scratch_put("f", "22");
	assert_true(told());
}

TEST_WITH(what_is_not_there_is_refused, begin, end)
{
	assert_int_equal(fswatch_directory(loop, scratch_path("no"), on_entry, scratch_dir, &watch),
			 CLEAT_ENOENT);
	assert_int_equal(fswatch_file(loop, scratch_path("no/f"), on_file, scratch_dir, &watch),
			 CLEAT_ENOENT);
	scratch_put("f", "");
	assert_int_equal(fswatch_directory(loop, scratch_path("f"), on_entry, scratch_dir, &watch),
			 CLEAT_ENOENT);
	assert_null(watch);
}

TEST_WITH(no_memory_is_survived, begin, end)
{
	struct fail_alloc fa;
	bool hit = true;

	scratch_put("t", "");
	assert_int_equal(symlink("t", scratch_path("f")), 0);
	for (size_t n = 1; hit; n++) {
		cleat_loop *l;
		int rc;

		fail_alloc_init(&fa, 0, false);
		l = cleat_loop_new(&fa.hook);
		assert_non_null(l);
		fa.countdown = n;
		rc = fswatch_file(l, scratch_path("f"), on_file, scratch_dir, &watch);
		assert_true(rc == CLEAT_OK || rc == CLEAT_ENOMEM);
		hit = fail_alloc_hit(&fa);
		fswatch_free(watch);
		watch = NULL;
		cleat_loop_free(l);
		assert_int_equal(fa.live, 0);
	}
}
