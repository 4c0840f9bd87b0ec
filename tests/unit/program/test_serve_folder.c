/* test_serve_folder.c - walks (order, pages, bounds, links), and edits (exactness, diffs). The tools as a whole
 * are tested from outside, in tests/e2e/test_serve_folder.mjs.
 */
#include "base/mem.h"
#include "serve/folder/edit.h"
#include "serve/folder/walk.h"
#include "serve/serve.h"
#include "support.h"
#include "support_files.h"
#include "test.h"

#include <cleat/loop.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct ground {
	struct beneath b;
};

static void ground_begin(struct ground *g)
{
	cleat_error err = { 0 };

	scratch_begin(NULL);
	if (beneath_init(&g->b, scratch_dir, &err))
		fail_msg("%s", err.message);
}

static void ground_end(struct ground *g)
{
	beneath_done(&g->b);
	assert_int_equal(scratch_end(NULL), 0);
}

#define GROUND_TEST(name) TEST_ON(name, struct ground, g, ground_begin(g), ground_end)

/* "dir/" makes a directory, anything else a file. */
static void make(struct ground *g, const char *path)
{
	if (path[strlen(path) - 1] == '/') {
		assert_int_equal(mkdirat(g->b.fd, path, 0755), 0);
	} else {
		int fd = openat(g->b.fd, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

		assert_true(fd >= 0);
		close(fd);
	}
}

static void walk_all(const struct walk_options *o, struct buf *out, size_t most)
{
	cleat_error err = { 0 };
	struct walk *w = walk_new(o, &err);
	struct walk_entry e;

	if (!w)
		fail_msg("%s", err.message);
	for (size_t n = 0; n < most && walk_next(w, &e); n++) {
		assert_memory_equal(e.path.p + e.path.n - e.name.n, e.name.p, e.name.n);
		assert_int_equal(faccessat(e.directory, e.name.p, F_OK, AT_SYMLINK_NOFOLLOW), 0);
		buf_append(out, e.path.p, e.path.n);
		buf_appendz(out, e.kind == WALK_DIRECTORY ? "/ "
				 : e.kind == WALK_LINK    ? "@ "
							  : " ");
	}
	assert_int_equal(walk_status(w), CLEAT_OK);
	walk_free(w);
}

static void expect_walk(const struct walk_options *o, const char *expected)
{
	struct buf out;

	buf_init(&out, NULL, 1 << 20);
	walk_all(o, &out, SIZE_MAX);
	buf_putc(&out, '\0');
	assert_string_equal(buf_str(&out).p, expected);
	buf_done(&out);
}

static void make_tree(struct ground *g)
{
	static const char *const names[] = { "b",     "a/",    "a/z",    "a/y/", "a/y/1", "a.b",
					     ".hide", ".dir/", ".dir/x", "c/",   "c/2",   "B" };

	for (size_t i = 0; i < CLEAT_COUNT(names); i++)
		make(g, names[i]);
	assert_int_equal(symlinkat("a", g->b.fd, "link"), 0);
	assert_int_equal(symlinkat("..", g->b.fd, "c/up"), 0);
}

GROUND_TEST(entries_come_in_order_without_what_is_hidden)
{
	struct walk_options o = { .root = &g->b, .batch = 100 };
	struct glob *glob = glob_new(NULL, STR_LIT("y"), NULL);

	assert_non_null(glob);
	make_tree(g);
	expect_walk(&o, "B a/ a.b b c/ link@ ");
	o.recursive = true;
	expect_walk(&o, "B a/ a/y/ a/y/1 a/z a.b b c/ c/2 c/up@ link@ ");
	o.from = STR_LIT("a");
	expect_walk(&o, "a/y/ a/y/1 a/z ");
	o.from = STR_LIT("");
	g->b.hidden = true;
	expect_walk(&o, ".dir/ .dir/x .hide B a/ a/y/ a/y/1 a/z a.b b c/ c/2 c/up@ link@ ");
	g->b.hidden = false;
	g->b.exclude = &glob;
	g->b.n_exclude = 1;
	expect_walk(&o, "B a/ a/z a.b b c/ c/2 c/up@ link@ ");
	glob_free(glob);
}

/* A page begins behind any entry, also one that is gone, or one of a directory that is gone. */
GROUND_TEST(a_walk_begins_again_behind_any_path)
{
	static const struct {
		const char *after, *expected;
	} cases[] = {
		{ "", "B a/ a/y/ a/y/1 a/z a.b b c/ c/2 c/up@ link@ " },
		{ "B", "a/ a/y/ a/y/1 a/z a.b b c/ c/2 c/up@ link@ " },
		{ "a", "a/y/ a/y/1 a/z a.b b c/ c/2 c/up@ link@ " },
		{ "a/y", "a/y/1 a/z a.b b c/ c/2 c/up@ link@ " },
		{ "a/y/1", "a/z a.b b c/ c/2 c/up@ link@ " },
		{ "a/z", "a.b b c/ c/2 c/up@ link@ " },
		{ "a.b", "b c/ c/2 c/up@ link@ " },
		{ "link", "" },
		{ "link/x", "" },
		{ "b/x/y", "c/ c/2 c/up@ link@ " },
		{ "a/x/gone", "a/y/ a/y/1 a/z a.b b c/ c/2 c/up@ link@ " },
		{ "gone", "link@ " },
		{ "zz", "" },
	};

	make_tree(g);
	for (size_t i = 0; i < CLEAT_COUNT(cases); i++)
		expect_walk(&(struct walk_options){ .root = &g->b,
						    .batch = 100,
						    .recursive = true,
						    .after = str_of(cases[i].after) },
			    cases[i].expected);
	{
		cleat_error err = { 0 };

		assert_null(walk_new(&(struct walk_options){ .root = &g->b,
							     .batch = 10,
							     .after = STR_LIT("../x") },
				     &err));
		assert_int_equal(err.status, CLEAT_EINVAL);
	}
}

/* Whatever the batch: the same, also when it is far smaller than a directory. */
GROUND_TEST(batches_do_not_show)
{
	struct buf all, pages;
	char name[40], last[40] = "";

	make(g, "sub/");
	for (unsigned i = 0; i < 1000; i++) {
		snprintf(name, sizeof name, "%sf%u", i % 3 ? "" : "sub/", i * 7919 % 1000);
		make(g, name);
	}
	buf_init(&all, NULL, 1 << 20);
	buf_init(&pages, NULL, 1 << 20);
	walk_all(&(struct walk_options){ .root = &g->b, .batch = 5000, .recursive = true }, &all,
		 SIZE_MAX);
	walk_all(&(struct walk_options){ .root = &g->b, .batch = 1, .recursive = true }, &pages,
		 SIZE_MAX);
	assert_int_equal(buf_size(&all), buf_size(&pages));
	assert_memory_equal(buf_str(&all).p, buf_str(&pages).p, buf_size(&all));
	buf_reset(&pages, 0);
	for (;;) { /* and in pages of 7 */
		size_t before = buf_size(&pages);
		struct str text;
		size_t n;

		walk_all(&(struct walk_options){ .root = &g->b,
						 .batch = 8,
						 .recursive = true,
						 .after = str_of(last) },
			 &pages, 7);
		text = buf_str(&pages);
		if (text.n == before)
			break;
		for (n = text.n - 1; n > 0 && text.p[n - 1] != ' '; n--)
			;
		snprintf(last, sizeof last, "%.*s", (int)(text.n - 1 - n), text.p + n);
		if (last[strlen(last) - 1] == '/')
			last[strlen(last) - 1] = '\0';
	}
	assert_int_equal(buf_size(&all), buf_size(&pages));
	assert_memory_equal(buf_str(&all).p, buf_str(&pages).p, buf_size(&all));
	buf_done(&all);
	buf_done(&pages);
}

static bool only_md(void *ctx, struct str path, enum walk_kind kind)
{
	(void)ctx;
	return kind == WALK_FILE && path.n > 3 && memcmp(path.p + path.n - 3, ".md", 3) == 0;
}

static bool not_c(void *ctx, struct str path)
{
	(void)ctx;
	return !str_eqz(path, "c");
}

GROUND_TEST(what_is_not_wanted_is_not_given)
{
	make(g, "a/");
	make(g, "a/1.md");
	make(g, "a/2.txt");
	make(g, "c/");
	make(g, "c/3.md");
	make(g, "4.md");
	expect_walk(
		&(struct walk_options){
			.root = &g->b, .batch = 9, .recursive = true, .wants = only_md },
		"4.md a/1.md c/3.md ");
	expect_walk(&(struct walk_options){ .root = &g->b,
					    .batch = 9,
					    .recursive = true,
					    .wants = only_md,
					    .enters = not_c },
		    "4.md a/1.md ");
	expect_walk(&(struct walk_options){ .root = &g->b, .batch = 9, .wants = only_md }, "4.md ");
}

static bool always(void *ctx)
{
	(void)ctx;
	return true;
}

GROUND_TEST(a_walk_stops_when_told)
{
	struct walk_entry e;
	struct walk *w;

	make(g, "a");
	w = walk_new(&(struct walk_options){ .root = &g->b, .batch = 9, .stop = always }, NULL);
	assert_non_null(w);
	assert_false(walk_next(w, &e));
	assert_int_equal(walk_status(w), CLEAT_ECANCELLED);
	walk_free(w);
}

/* Deeper than it goes, deeper than PATH_MAX: counted, no crash. */
GROUND_TEST(depth_is_bounded)
{
	struct walk_entry e;
	struct walk *w;
	int dir = openat(g->b.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t n = 0;

	for (int i = 0; i < 200; i++) {
		int next;

		assert_int_equal(mkdirat(dir, "dddddddddddddddddddddddddddddddddddddddd", 0755), 0);
		next = openat(dir, "dddddddddddddddddddddddddddddddddddddddd",
			      O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(next >= 0);
		close(dir);
		dir = next;
	}
	close(dir);
	w = walk_new(&(struct walk_options){ .root = &g->b, .batch = 9, .recursive = true }, NULL);
	assert_non_null(w);
	while (walk_next(w, &e))
		n++;
	assert_int_equal(n, WALK_DEPTH_MAX);
	assert_int_equal(walk_unread(w), 1);
	assert_int_equal(walk_status(w), CLEAT_OK);
	walk_free(w);
}

/* Counted, and the others are given. Root may read everything, so for a moment this is nobody. */
GROUND_TEST(directories_that_cannot_be_read_are_counted)
{
	bool root = geteuid() == 0;
	struct walk_entry e;
	struct walk *w;
	size_t n = 0;

	make(g, "a/");
	make(g, "a/x");
	make(g, "b/");
	make(g, "b/y");
	assert_int_equal(chmod(scratch_dir, 0755), 0);
	assert_int_equal(fchmodat(g->b.fd, "a", 0, 0), 0);
	if (root)
		assert_int_equal(seteuid(65534), 0);
	w = walk_new(&(struct walk_options){ .root = &g->b, .batch = 9, .recursive = true }, NULL);
	while (w && walk_next(w, &e))
		n++;
	if (root)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(fchmodat(g->b.fd, "a", 0755, 0), 0);
	assert_non_null(w);
	assert_int_equal(n, 3); /* a, b, b/y */
	assert_int_equal(walk_unread(w), 1);
	assert_int_equal(walk_status(w), CLEAT_OK);
	walk_free(w);
}

GROUND_TEST(a_walk_survives_want_of_memory)
{
	make_tree(g);
	for (unsigned i = 0; i < 300; i++) {
		char name[20];

		snprintf(name, sizeof name, "many%u", i);
		make(g, name);
	}
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct walk_entry e;
		cleat_error err = { 0 };
		size_t count = 0;
		struct walk *w = walk_new(
			&(struct walk_options){
				.root = &g->b, .mem = &fa.hook, .batch = 70, .recursive = true },
			&err);

		while (w && walk_next(w, &e))
			count++;
		assert_int_equal(w ? walk_status(w) : err.status,
				 fail_alloc_hit(&fa) ? CLEAT_ENOMEM : CLEAT_OK);
		if (!fail_alloc_hit(&fa))
			assert_int_equal(count, 311);
		walk_free(w);
	}
}

static size_t count_with(struct ground *g, struct names *names)
{
	struct buf out;
	size_t n = 0;

	buf_init(&out, NULL, 1 << 20);
	walk_all(&(struct walk_options){ .root = &g->b, .batch = 100, .names = names }, &out,
		 SIZE_MAX);
	for (size_t i = 0; i < buf_size(&out); i++)
		n += buf_str(&out).p[i] == ' ';
	buf_done(&out);
	return n;
}

static int refuse_all(void *ctx, const char *name, unsigned char type)
{
	(void)name;
	(void)type;
	++*(size_t *)ctx;
	return CLEAT_ECANCELLED;
}

/* A large directory is remembered, but only as long as it is as it was. */
GROUND_TEST(names_are_remembered_until_something_changes)
{
	const cleat_allocator mem = mem_default;
	struct names *names = names_new(&mem, -1);
	struct stat before, after;
	size_t asked = 0;
	int dir = openat(g->b.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = CLEAT_OK;

	for (unsigned i = 0; i < NAMES_MIN; i++) {
		char name[20];

		snprintf(name, sizeof name, "f%u", i);
		make(g, name);
	}
	assert_false(names_each(names, dir, refuse_all, &asked, &rc));
	assert_int_equal(count_with(g, names), NAMES_MIN);
	assert_true(names_each(names, dir, refuse_all, &asked, &rc));
	assert_int_equal(rc, CLEAT_ECANCELLED);
	assert_int_equal(asked, 1);
	assert_int_equal(count_with(g, names), NAMES_MIN);
	assert_int_equal(fstat(dir, &before), 0);
	do { /* until the clock of the file system has moved on */
		unlinkat(dir, "new", 0);
		make(g, "new");
		assert_int_equal(fstat(dir, &after), 0);
	} while (before.st_ctim.tv_nsec == after.st_ctim.tv_nsec);
	assert_false(names_each(names, dir, refuse_all, &asked, &rc));
	assert_int_equal(count_with(g, names), NAMES_MIN + 1);
	names_free(names);
	names = names_new(&mem, 3600 * 1000); /* it has changed within the hour */
	assert_int_equal(count_with(g, names), NAMES_MIN + 1);
	assert_false(names_each(names, dir, refuse_all, &asked, &rc));
	names_free(names);
	close(dir);
}

/* A whole server of a folder, its list made and watched, with memory that fails: nothing is left behind. */
GROUND_TEST(a_served_folder_survives_want_of_memory)
{
	const char *sources[] = { "dir", scratch_dir, NULL };

	make_tree(g);
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa); fa.round += 5) {
		struct serve *s;
		int status = 0;

		s = serve_new(&(struct serve_options){ .sources = sources, .mem = &fa.hook },
			      &status);
		for (int i = 0; s && i < 3; i++)
			cleat_loop_step(cleat_server_loop(serve_server(s)), 0);
		assert_true(s || (fail_alloc_hit(&fa) && status < 0));
		if (s && !fail_alloc_hit(&fa))
			assert_int_equal(serve_count(s, SERVE_RESOURCES), 6);
		serve_free(s);
	}
}

/* ---- edits ------------------------------------------------------------------------------------ */

TEST(edits_are_exact_and_show_what_they_did)
{
	static const struct {
		const char *text, *old, *fresh;
		bool all;
		const char *expected, *diff;
	} cases[] = {
		{ "one\ntwo\nthree\n", "two", "2", false, "one\n2\nthree\n",
		  "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n" },
		{ "a", "a", "b", false, "b", "@@ -1,1 +1,1 @@\n-a\n+b\n" },
		{ "a\n", "a\n", "", false, "", "@@ -1,1 +1,0 @@\n-a\n" },
		{ "a\nb\nc\n", "b\n", "", false, "a\nc\n", "@@ -1,3 +1,2 @@\n a\n-b\n c\n" },
		{ "a\nb\nc\n", "b\n", "x\ny\n", false, "a\nx\ny\nc\n",
		  "@@ -1,3 +1,4 @@\n a\n-b\n+x\n+y\n c\n" },
		{ "ab\ncd\n", "b\nc", "", false, "ad\n", "@@ -1,2 +1,1 @@\n-ab\n-cd\n+ad\n" },
		{ "ab\ncd\n", "b\n", "x", false, "axcd\n", "@@ -1,2 +1,1 @@\n-ab\n-cd\n+axcd\n" },
		{ "x x x\n", "x", "yy", true, "yy yy yy\n",
		  "@@ -1,1 +1,1 @@\n-x x x\n+yy yy yy\n" },
		{ "aaa", "aa", "b", true, "ba", "@@ -1,1 +1,1 @@\n-aaa\n+ba\n" },
		{ "x\n1\n2\n3\n4\n5\n6\nx\n", "x", "y", true, "y\n1\n2\n3\n4\n5\n6\ny\n",
		  "@@ -1,3 +1,3 @@\n-x\n+y\n 1\n 2\n@@ -6,3 +6,3 @@\n 5\n 6\n-x\n+y\n" },
		{ "x\n1\nx\n", "x\n", "", true, "1\n",
		  "@@ -1,2 +1,1 @@\n-x\n 1\n@@ -3,1 +2,0 @@\n-x\n" },
		{ "q\xff\nr\n", "r", "s", false, "q\xff\ns\n",
		  "@@ -1,2 +1,2 @@\n q\xff\n-r\n+s\n" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		const struct edit e = { str_of(cases[i].text), str_of(cases[i].old),
					str_of(cases[i].fresh), cases[i].all };
		cleat_error err = { 0 };
		struct buf out, diff;
		size_t count = 0;

		buf_init(&out, NULL, 1000);
		buf_init(&diff, NULL, 10000);
		if (edit_apply(&e, &out, &diff, &count, &err))
			fail_msg("case %zu: %s", i, err.message);
		buf_putc(&out, '\0');
		buf_putc(&diff, '\0');
		assert_string_equal(buf_str(&out).p, cases[i].expected);
		assert_string_equal(buf_str(&diff).p, cases[i].diff);
		assert_true(count >= 1);
		buf_done(&out);
		buf_done(&diff);
	}
}

static int apply(const struct edit *e, size_t max, cleat_error *err)
{
	struct buf out, diff;
	size_t count;
	int rc;

	buf_init(&out, NULL, max);
	buf_init(&diff, NULL, 100000);
	rc = edit_apply(e, &out, &diff, &count, err);
	buf_done(&out);
	buf_done(&diff);
	return rc;
}

TEST(edits_that_cannot_be_meant_are_refused)
{
	static const struct {
		const char *text, *old, *fresh;
		int status;
		const char *words;
	} cases[] = {
		{ "abc", "x", "y", CLEAT_ENOENT, "does not occur" },
		{ "", "x", "y", CLEAT_ENOENT, "does not occur" },
		{ "a\r\nb\r\n", "a\nb", "y", CLEAT_ENOENT, "CR LF" },
		{ "x\n\nx\nx", "x", "y", CLEAT_EEXIST, "3 times (lines 1, 3, 4)" },
		{ "aaa", "aa", "b", CLEAT_EEXIST, "2 times" }, /* they overlap: which one? */
		{ "abc", "", "y", CLEAT_EINVAL, "empty" },
		{ "abc", "b", "b", CLEAT_EINVAL, "the same" },
		{ "abc", "b", "12345678901234567890", CLEAT_ELIMIT, "too large" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		const struct edit e = { str_of(cases[i].text), str_of(cases[i].old),
					str_of(cases[i].fresh), false };
		cleat_error err = { 0 };

		assert_int_equal(apply(&e, 20, &err), cases[i].status);
		if (!strstr(err.message, cases[i].words))
			fail_msg("expected %s, got %s", cases[i].words, err.message);
	}
}

/* Very many places in one line, overlapping ones, and a diff that would be endless. (AddressSanitizer looks at
 * the whole rest of the text in every memmem, so there are not more of them.) */
TEST(large_edits_end_soon)
{
	size_t n = 256 << 10;
	char *text = malloc(n);
	struct edit e = { { text, n }, STR_LIT("a"), STR_LIT("bc"), true };
	struct buf out, diff;
	size_t count;
	cleat_error err = { 0 };

	assert_non_null(text);
	memset(text, 'a', n);
	buf_init(&out, NULL, 2 * n);
	buf_init(&diff, NULL, 100000);
	assert_int_equal(edit_apply(&e, &out, &diff, &count, &err), CLEAT_OK);
	assert_int_equal(count, n);
	assert_int_equal(buf_size(&out), 2 * n);
	assert_true(buf_size(&diff) < EDIT_DIFF_MAX + 1000);
	buf_reset(&out, 0);
	buf_reset(&diff, 0);
	for (size_t i = 1; i < n; i += 2)
		text[i] = '\n';
	assert_int_equal(edit_apply(&e, &out, &diff, &count, &err), CLEAT_OK);
	assert_int_equal(count, n / 2);
	assert_true(buf_size(&diff) < EDIT_DIFF_MAX + 1000);
	memset(text, 'a', n);
	e.old = (struct str){ text, 1000 };
	e.all = false;
	assert_int_equal(edit_apply(&e, &out, &diff, &count, &err), CLEAT_EEXIST);
	assert_non_null(strstr(err.message, "at least"));
	buf_done(&out);
	buf_done(&diff);
	free(text);
}
