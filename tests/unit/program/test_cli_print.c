/* test_cli_print.c - text for people (program/text/print.c): what it may contain, and how much room it takes. */
#include "support.h"
#include "test.h"

#include "text/print.h"
#include "text/text.h"

#include <stdlib.h>
#include <string.h>

/* What was written to `f`, which is closed. */
static const char *written(FILE *f)
{
	static char text[4096];
	size_t n;

	rewind(f);
	n = fread(text, 1, sizeof text - 1, f);
	text[n] = '\0';
	fclose(f);
	return text;
}

static const char *safe(const char *text)
{
	FILE *f = tmpfile();

	assert_non_null(f);
	print_safe(f, text, strlen(text));
	return written(f);
}

/* The width is that of what is printed: of what was made visible, too. */
TEST(width_is_what_a_terminal_needs)
{
	static const struct {
		const char *text, *printed;
		size_t width;
	} cases[] = {
		{ "", "", 0 },
		{ "plain", "plain", 5 },
		{ "\xc3\xa4", "\xc3\xa4", 1 },                                 /* a with dots */
		{ "a\xcc\x88", "a\xcc\x88", 1 },                               /* the same in two */
		{ "\xe6\x97\xa5\xe6\x9c\xac", "\xe6\x97\xa5\xe6\x9c\xac", 4 }, /* Japan */
		{ "\xe2\x9c\x85 \xe2\x9d\x8c", "\xe2\x9c\x85 \xe2\x9d\x8c", 5 }, /* signs */
		{ "\xf0\x9f\x91\x8d", "\xf0\x9f\x91\x8d", 2 },                   /* a thumb */
		{ "\xe0\xb8\x81\xe0\xb8\xb4", "\xe0\xb8\x81\xe0\xb8\xb4", 1 },   /* Thai */
		{ "a\x1b[2Jb", "a\\x1b[2Jb", 9 },
		{ "\x7f", "\\x7f", 4 },
		{ "\xff", "\\xff", 4 },                             /* no UTF-8 */
		{ "\xc3", "\\xc3", 4 },                             /* half of a character */
		{ "\xc2\x9b", "\\u{9b}", 6 },                       /* CSI */
		{ "\xe2\x80\xae", "\\u{202e}", 8 },                 /* from right to left */
		{ "\xf3\xa0\x81\x81", "\\u{e0041}", 9 },            /* a tag that nobody sees */
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80", 12 },          /* half of a pair */
		{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", 16 }, /* beyond the last */
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		assert_string_equal(safe(cases[i].text), cases[i].printed);
		assert_int_equal(print_width(cases[i].text), cases[i].width);
	}
}

TEST(a_text_is_cut_between_characters)
{
	static const struct {
		const char *text;
		size_t room, fits;
	} cases[] = {
		{ "", 5, 0 },
		{ "word", 4, 4 },
		{ "word", 3, 3 },
		{ "word", 0, 0 },
		{ "one\ntwo", 80, 3 },
		{ "one\r\ntwo", 80, 3 },
		{ "\xe6\x97\xa5\xe6\x9c\xac", 4, 6 },
		{ "\xe6\x97\xa5\xe6\x9c\xac", 3, 3 }, /* two columns do not fit into one */
		{ "\xe6\x97\xa5\xe6\x9c\xac", 1, 0 },
		{ "a\xcc\x88z", 1, 3 }, /* the mark belongs to its letter */
		{ "a\x1b[", 4, 1 },
		{ "a\x1b[", 5, 2 },
		{ "a\xe2\x80\xae", 8, 1 },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++)
		if (print_fit(cases[i].text, cases[i].room) != cases[i].fits)
			fail_msg("%zu: %zu", i, print_fit(cases[i].text, cases[i].room));
}

/* A server chooses how long its texts are: one pass, whatever they are. */
TEST(a_long_line_takes_no_longer_than_reading_it)
{
	enum { LENGTH = 8 << 20 };
	char *text = malloc(LENGTH + 1);

	assert_non_null(text);
	memset(text, 'x', LENGTH);
	text[LENGTH] = '\0';
	assert_int_equal(print_fit(text, 60), 60);
	assert_int_equal(print_fit(text, SIZE_MAX), LENGTH);
	free(text);
}

TEST(prose_is_wrapped_and_keeps_its_paragraphs)
{
	FILE *f = tmpfile();
	const char *text, *line;

	assert_non_null(f);
	assert_true(print_room(f) == SIZE_MAX);
	assert_int_equal(print_prose(f), 79);
	print_wrapped(f,
		      "one two three four five six seven eight nine ten eleven twelve thirteen "
		      "fourteen fifteen\nnext \x1b[1m\n\nlast",
		      4);
	text = written(f);
	for (line = text; *line; line += strcspn(line, "\n") + 1) {
		assert_true(strcspn(line, "\n") <= 79);
		if (*line != '\n')
			assert_memory_equal(line, "    ", 4);
	}
	assert_non_null(
		strstr(text, "thirteen\n    fourteen fifteen\n    next \\x1b[1m\n\n    last\n"));
	keep_free_all();
}
