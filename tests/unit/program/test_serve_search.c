/* test_serve_search.c - lines that match: patterns, context, blocks, hostile files and patterns, memory. */
#include "serve/folder/search.h"
#include "test.h"

#include "base/buf.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int file_of(struct str content)
{
	int fd = memfd_create("search", MFD_CLOEXEC);

	assert_true(fd >= 0);
	while (content.n) {
		ssize_t n = write(fd, content.p, content.n);

		assert_true(n > 0);
		content.p += n;
		content.n -= (size_t)n;
	}
	return fd;
}

struct notes {
	struct buf text;
	size_t lines, most;
	bool stop;
};

static bool on_line(void *ctx, const struct search_line *l)
{
	struct notes *n = ctx;

	if (l->kind == SEARCH_MATCH)
		buf_printf(&n->text, "%llu:%zu:", (unsigned long long)l->number, l->column);
	else
		buf_printf(&n->text, "%llu%c", (unsigned long long)l->number,
			   l->kind == SEARCH_BEFORE ? '<' : '>');
	buf_append(&n->text, l->text.p, l->text.n);
	buf_putc(&n->text, '\n');
	return ++n->lines != n->most;
}

static bool on_stop(void *ctx)
{
	return ((struct notes *)ctx)->stop;
}

/* What a search finds, or "[status] reason". */
static const char *found(const struct search_options *o, struct str content, size_t most)
{
	static char text[4000];
	struct notes n = { .most = most };
	const struct search_sink sink = { on_line, on_stop, &n };
	struct search *s;
	cleat_error err = { 0 };
	int rc = search_new(NULL, o, &s, &err), fd;

	if (rc) {
		snprintf(text, sizeof text, "[%d] %s", rc, err.message);
		return text;
	}
	buf_init(&n.text, NULL, 1 << 20);
	fd = file_of(content);
	rc = search_file(s, fd, &sink);
	close(fd);
	search_free(s);
	snprintf(text, sizeof text, "%.*s", (int)buf_size(&n.text), buf_str(&n.text).p);
	if (rc)
		snprintf(text, sizeof text, "[%d]", rc);
	buf_done(&n.text);
	return text;
}

TEST(patterns_find_lines)
{
	static const struct {
		const char *pattern, *content, *expected;
		bool literal, ignore_case;
		unsigned context;
	} cases[] = {
		{ "b", "a\nb\nc\n", "2:1:b\n", 0, 0, 0 },
		{ "b", "a\nb", "2:1:b\n", 0, 0, 0 },
		{ "b", "a\r\nxb\r\n", "2:2:xb\n", 0, 0, 0 },
		{ "^b$", "ab\nb\nbc\n", "2:1:b\n", 0, 0, 0 },
		{ "[ab]+c", "ac\nc\nbbc\n", "1:1:ac\n3:1:bbc\n", 0, 0, 0 },
		{ "x", "a\n", "", 0, 0, 0 },
		{ "x", "", "", 0, 0, 0 },
		{ "a.c", "abc\na.c\n", "2:1:a.c\n", 1, 0, 0 },
		{ "A.C", "abc\na.c\n", "2:1:a.c\n", 1, 1, 0 },
		{ "STRASSE",
		  "stra\xc3\x9f"
		  "e strasse\n",
		  "1:8:stra\xc3\x9f"
		  "e strasse\n",
		  0, 1, 0 },
		{ "\xc3\x84", "\xc3\xa4\n", "1:1:\xc3\xa4\n", 0, 1, 0 },
		{ "\xc3\xa4x", "\xc3\xb6\xc3\xa4x\n", "1:2:\xc3\xb6\xc3\xa4x\n", 0, 0, 0 },
		{ "a\\nb", "a\nb\n", "", 0, 0, 0 }, /* one line at a time */
		{ "\\Ab", "a\nb\n", "2:1:b\n", 0, 0, 0 },
		{ "m", "1\n2\nm\n4\n5\n6\n", "2<2\n3:1:m\n4>4\n", 0, 0, 1 },
		{ "m", "m\nx\nm\ny\n", "1:1:m\n2>x\n3:1:m\n4>y\n", 0, 0, 1 },
		{ "m", "m\n2\n3\n4\nm\n", "1:1:m\n2>2\n4<4\n5:1:m\n", 0, 0, 1 },
		{ "m", "m\nm\n", "1:1:m\n2:1:m\n", 0, 0, 2 },
		{ "caf", "caf\xe9 x\n", "1:1:caf\xef\xbf\xbd x\n", 0, 0, 0 },
		{ "caf. x", "caf\xe9 x\n", "1:1:caf\xef\xbf\xbd x\n", 0, 0, 0 },
		{ "^$", "a\n\nb\n", "2:1:\n", 0, 0, 0 },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		const struct search_options o = { .pattern = str_of(cases[i].pattern),
						  .literal = cases[i].literal,
						  .ignore_case = cases[i].ignore_case,
						  .context = cases[i].context };
		const char *got = found(&o, str_of(cases[i].content), 0);

		if (strcmp(got, cases[i].expected) != 0)
			fail_msg("%s in \"%s\": expected \"%s\", got \"%s\"", cases[i].pattern,
				 cases[i].content, cases[i].expected, got);
	}
}

TEST(bad_patterns_are_refused_with_a_reason)
{
	char longer[SEARCH_PATTERN_MAX + 1];

	assert_non_null(
		strstr(found(&(struct search_options){ .pattern = STR_LIT("(") }, STR_LIT(""), 0),
		       "paren"));
	assert_int_equal(
		found(&(struct search_options){ .pattern = STR_LIT("") }, STR_LIT(""), 0)[0], '[');
	assert_int_equal(
		found(&(struct search_options){ .pattern = { "a\0b", 3 } }, STR_LIT(""), 0)[0],
		'[');
	memset(longer, 'a', sizeof longer);
	assert_int_equal(found(&(struct search_options){ .pattern = { longer, sizeof longer } },
			       STR_LIT(""), 0)[0],
			 '[');
	/* but as plain text these mean themselves */
	assert_string_equal(
		found(&(struct search_options){ .pattern = STR_LIT("("), .literal = true },
		      STR_LIT("a(\n"), 0),
		"1:2:a(\n");
}

TEST(binary_files_are_skipped)
{
	char expected[20];

	snprintf(expected, sizeof expected, "[%d]", CLEAT_EUNSUPPORTED);
	assert_string_equal(found(&(struct search_options){ .pattern = STR_LIT("a") },
				  (struct str){ "a\0a", 3 }, 0),
			    expected);
}

TEST(the_sink_may_have_enough)
{
	assert_string_equal(
		found(&(struct search_options){ .pattern = STR_LIT("a") }, STR_LIT("a\na\na\n"), 2),
		"1:1:a\n2:1:a\n");
}

/* Lines before, on and behind the edge of a block have their numbers, and are whole. */
TEST(blocks_do_not_cut_lines)
{
	static const char *const patterns[] = { "needle", "ne[e]dle", "x*needle" };
	size_t size = 3 * SEARCH_BLOCK;
	char *text = malloc(size);

	assert_non_null(text);
	for (long shift = -8; shift <= 8; shift++)
		for (size_t p = 0; p < CLEAT_COUNT(patterns); p++) {
			size_t at = (size_t)(SEARCH_BLOCK + shift);
			char expected[64];

			for (size_t i = 0; i < size; i++)
				text[i] = i % 64 == 63 ? '\n' : '.';
			memcpy(text + at - 1, "\nneedle\n", 8);
			{
				size_t line = 1;

				for (size_t i = 0; i < at; i++)
					line += text[i] == '\n';
				snprintf(expected, sizeof expected, "%zu:1:needle\n", line);
			}
			assert_string_equal(
				found(&(struct search_options){ .pattern = str_of(patterns[p]) },
				      (struct str){ text, size }, 0),
				expected);
		}
	free(text);
}

TEST(long_lines_are_cut_for_show_and_counted_as_one)
{
	size_t size = 3 * SEARCH_BLOCK + 100;
	char *text = malloc(size);
	const char *got;

	assert_non_null(text);
	memset(text, 'y', size);
	memcpy(text + 5000, "needle", 6);
	memcpy(text + size - 10, "\nneedle\nz\n", 10);
	got = found(&(struct search_options){ .pattern = STR_LIT("needle") },
		    (struct str){ text, size }, 0);
	assert_memory_equal(got, "1:5001:\xe2\x80\xa6yyy", 13);
	assert_non_null(strstr(got, "yneedley"));
	assert_non_null(strstr(got, "\n2:1:needle\n"));
	assert_true(strlen(got) < SEARCH_TEXT_MAX + 60);
	/* also when plain text is not in the first, long line */
	memset(text + 5000, 'y', 6);
	got = found(&(struct search_options){ .pattern = STR_LIT("needle") },
		    (struct str){ text, size }, 0);
	assert_string_equal(got, "2:1:needle\n");
	free(text);
}

/* A pattern that would take for ever ends, and says so. */
TEST(a_hostile_pattern_ends)
{
	char text[4000], expected[20];

	memset(text, 'a', sizeof text);
	snprintf(expected, sizeof expected, "[%d]", CLEAT_ELIMIT);
	assert_string_equal(found(&(struct search_options){ .pattern = STR_LIT("(a+)+[bc]") },
				  (struct str){ text, sizeof text }, 0),
			    expected);
}

TEST(it_stops_when_told)
{
	struct notes n = { .stop = true };
	const struct search_sink sink = { on_line, on_stop, &n };
	const struct search_options o = { .pattern = STR_LIT("a") };
	struct search *s;
	int fd = file_of(STR_LIT("a\n"));

	assert_int_equal(search_new(NULL, &o, &s, NULL), CLEAT_OK);
	buf_init(&n.text, NULL, 1000);
	assert_int_equal(search_file(s, fd, &sink), CLEAT_ECANCELLED);
	n.stop = false;
	assert_int_equal(search_file(s, fd, &sink), CLEAT_OK); /* it can be used again */
	assert_int_equal(n.lines, 1);
	assert_int_equal(search_file(s, -1, &sink), CLEAT_EIO);
	buf_done(&n.text);
	search_free(s);
	close(fd);
}

TEST(memory_may_fail_at_any_time)
{
	static const struct search_options opts[] = {
		{ .pattern = { "a", 1 }, .context = 2 },
		{ .pattern = { "a+b?", 4 }, .context = 2 },
		{ .pattern = { "a.", 2 }, .literal = true, .ignore_case = true },
	};
	int fd = file_of(STR_LIT("x\xff\nab\na.\n"));

	for (size_t k = 0; k < CLEAT_COUNT(opts); k++)
		for (size_t i = 1;; i++) {
			struct notes n = { 0 };
			const struct search_sink sink = { on_line, on_stop, &n };
			struct fail_alloc fa;
			struct search *s;
			int rc;

			fail_alloc_init(&fa, i, true);
			buf_init(&n.text, NULL, 1000);
			rc = search_new(&fa.hook, &opts[k], &s, NULL);
			if (!rc)
				rc = search_file(s, fd, &sink);
			assert_true(rc == CLEAT_OK || rc == CLEAT_ENOMEM);
			assert_true(rc == CLEAT_ENOMEM || n.lines > 0);
			search_free(s);
			buf_done(&n.text);
			assert_int_equal(fa.live, 0);
			if (!fail_alloc_hit(&fa))
				break;
		}
	close(fd);
}
