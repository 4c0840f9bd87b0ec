/* test_serve_mime.c - types by content and name, with libmagic and without. */
#include "serve/folder/mime.h"
#include "support.h"
#include "test.h"

#include <string.h>

static const char png[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\4\0\0\0\xb5\x1c\x0c\2";
static const char pdf[] = "%PDF-1.4\n%\xe2\xe3\xcf\xd3\n";
static const char wav[] =
	"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x44\xac\0\0\x88\x58\1\0\2\0\x10\0data";

#define BYTES(a)                                                                                   \
	{                                                                                          \
		(a), sizeof(a) - 1                                                                 \
	}

struct kase {
	const char *name;
	struct str head;
	const char *mime;
};

static void expect_all(const struct kase *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char got[MIME_MAX];

		mime_guess(str_of(cases[i].name), cases[i].head, true, got);
		if (strcmp(got, cases[i].mime) != 0)
			fail_msg("%s: expected %s, got %s", cases[i].name, cases[i].mime, got);
	}
}

TEST(the_bytes_decide_for_binaries_and_the_name_for_text)
{
	static const struct kase cases[] = {
		{ "a.md", BYTES("# Title\n"), "text/markdown" },
		{ "A.MD", BYTES("# Title\n"), "text/markdown" },
		{ "sub.dir/a.json", BYTES("{}"), "application/json" },
		{ "a.csv", BYTES("a,b\n1,2\n"), "text/csv" },
		{ "a.html", BYTES("x"), "text/html" },
		{ "a.css", BYTES("x"), "text/css" },
		{ "a.js", BYTES("x"), "text/javascript" },
		{ "a.svg", BYTES("<svg/>"), "image/svg+xml" },
		{ "README", BYTES("words\n"), "text/plain" },
		{ "empty", BYTES(""), "text/plain" },
		{ "empty.md", BYTES(""), "text/markdown" },
		{ "a.png", BYTES(png), "image/png" },
		{ "picture", BYTES(png), "image/png" },
		{ "lie.txt", BYTES(png), "image/png" },
		{ "lie.md", BYTES(png), "image/png" },
		{ "a.pdf", BYTES(pdf), "application/pdf" },
		{ "sound", BYTES(wav), "audio/x-wav" },
		{ "lie.png", BYTES("just text"), "text/plain" },
		{ "page", BYTES("<!DOCTYPE html><html><body></body></html>"), "text/html" },
		{ "noise", BYTES("\0\1\2\3\xff\xfe"), "application/octet-stream" },
		{ ".md", BYTES("x"), "text/markdown" },
		{ "md", BYTES("x"), "text/plain" },
		{ "a.", BYTES("x"), "text/plain" },
	};

	expect_all(cases, CLEAT_COUNT(cases));
}

TEST(without_libmagic_the_name_has_to_do)
{
	static const struct kase cases[] = {
		{ "a.md", BYTES("# Title\n"), "text/markdown" },
		{ "a.png", BYTES(png), "image/png" },
		{ "picture", BYTES(png), "application/octet-stream" },
		{ "lie.txt", BYTES(png), "application/octet-stream" },
		{ "lie.png", BYTES("just text"), "text/plain" },
		{ "a.xlsx", BYTES("PK\3\4\0\0"),
		  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" },
	};

	mime_forget_libmagic(true);
	expect_all(cases, CLEAT_COUNT(cases));
	mime_forget_libmagic(false);
}

TEST(text_is_utf8_without_nul)
{
	static const struct {
		struct str head;
		bool whole, expected;
	} cases[] = {
		{ BYTES(""), true, true },
		{ BYTES("a"), true, true },
		{ BYTES("\xc3\xa4"), true, true },
		{ BYTES("a\xc3"), true, false },
		{ BYTES("a\xc3"), false, true }, /* cut */
		{ BYTES("a\xf0\x9f\x98"), false, true },
		{ BYTES("a\xff"), false, false },
		{ BYTES("a\x80"), false, false },
		{ BYTES("\xc3 a"), false, false },
		{ BYTES("a\0b"), true, false },
		{ BYTES("caf\xe9 au lait"), true, false },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++)
		if (mime_is_text(cases[i].head, cases[i].whole) != cases[i].expected)
			fail_msg("case %zu: expected %d", i, cases[i].expected);
	assert_true(mime_is_lines(STR_LIT("caf\xe9")));
	assert_false(mime_is_lines((struct str){ "a\0", 2 }));
}
