/* test_str.c - base/str and base/error: byte strings, UTF-8, near names, error records. */

#include "base/error.h"
#include "base/str.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

/* ---- str ---------------------------------------------------------------------------------- */

TEST(str_comparison_is_by_bytes_and_length)
{
	static const char *const words[] = { "ab", "b", "", NULL };
	const struct str absent = { NULL, 0 };

	assert_null(str_of(NULL).p);
	assert_int_equal(str_of("abc").n, 3);
	assert_true(str_eq(STR_LIT("a\0b"), STR_LIT("a\0b")));
	assert_false(str_eq(STR_LIT("a\0b"), STR_LIT("a\0c")));
	assert_false(str_eqz(STR_LIT("a\0b"), "a"));
	assert_false(str_eqz(STR_LIT("ab"), "abc"));
	assert_true(str_eqz(STR_LIT("abc"), "abc"));
	assert_true(str_eq(absent, STR_LIT("")));
	assert_true(str_eqz(absent, NULL));
	assert_true(str_starts(STR_LIT("abc"), "ab"));
	assert_true(str_starts(STR_LIT("abc"), "abc"));
	assert_true(str_starts(STR_LIT("abc"), ""));
	assert_false(str_starts(STR_LIT("ab"), "abc"));
	assert_false(str_starts(STR_LIT("xbc"), "ab"));
	assert_true(str_starts(absent, ""));
	assert_false(str_starts(absent, "a"));
	assert_true(str_among(STR_LIT("b"), words));
	assert_true(str_among(STR_LIT(""), words));
	assert_false(str_among(STR_LIT("a"), words)); /* not a part of one */
	assert_false(str_among(STR_LIT("B"), words));
	assert_false(str_among(STR_LIT("b\0"), words));
	assert_false(str_among(STR_LIT("b"), words + 3));
	assert_true(str_has_nul(STR_LIT("a\0b")));
	assert_false(str_has_nul(STR_LIT("ab")));
	assert_false(str_has_nul(absent));
}

TEST(str_same_ignores_case_and_nothing_else)
{
	assert_true(str_samez(STR_LIT("Text/HTML"), "tEXT/html"));
	assert_true(str_samez(STR_LIT(""), ""));
	assert_true(str_samez((struct str){ 0 }, ""));
	assert_false(str_samez(STR_LIT("text"), "text/html"));
	assert_false(str_samez(STR_LIT("text/html"), "text"));
	assert_false(str_samez(STR_LIT("text\0"), "text"));
	assert_false(str_samez(STR_LIT("@"), "`"));
	assert_false(str_samez(STR_LIT("["), "{"));
	assert_false(str_samez(STR_LIT("\xE2\x84\xAA"), "k")); /* U+212A */
}

TEST(str_hash_depends_on_bytes_length_and_seed)
{
	assert_int_equal(str_hash(STR_LIT("abc"), 1), str_hash(STR_LIT("abc"), 1));
	assert_int_not_equal(str_hash(STR_LIT("abc"), 1), str_hash(STR_LIT("abc"), 2));
	assert_int_not_equal(str_hash(STR_LIT("abc"), 1), str_hash(STR_LIT("abd"), 1));
	assert_int_not_equal(str_hash(STR_LIT("a"), 0), str_hash(STR_LIT("a\0"), 0));
	assert_int_equal(str_hash((struct str){ NULL, 0 }, 3), str_hash(STR_LIT(""), 3));
}

/* RFC 3629 section 4; Unicode 15, table 3-7. */
TEST(utf8_valid_prefix_stops_at_each_ill_formed_class)
{
	static const struct {
		struct str text;
		size_t prefix;
	} table[] = {
#define WELL(s) { { "" s, sizeof(s) - 1 }, sizeof(s) - 1 }
#define ILL(s, at)                                                                                 \
	{                                                                                          \
		{ "" s, sizeof(s) - 1 }, at                                                        \
	}
		WELL(""),
		WELL("plain ASCII, longer than eight bytes"),
		WELL("\0\x01\x7F"),
		WELL("\xC2\x80\xDF\xBF"),
		WELL("\xE0\xA0\x80\xE0\xBF\xBF"),
		WELL("\xE1\x80\x80\xEC\xBF\xBF"),
		WELL("\xED\x80\x80\xED\x9F\xBF"), /* the last before the surrogates */
		WELL("\xEE\x80\x80\xEF\xBF\xBF"), /* the first after; a noncharacter is well-formed */
		WELL("\xF0\x90\x80\x80\xF0\xBF\xBF\xBF"),
		WELL("\xF1\x80\x80\x80\xF3\xBF\xBF\xBF"),
		WELL("\xF4\x80\x80\x80\xF4\x8F\xBF\xBF"), /* U+10FFFF */
		WELL("1234567\xC3\xA9 across the word"),
		ILL("\x80", 0), /* a continuation alone */
		ILL("\xBF", 0),
		ILL("ab\x80", 2),
		ILL("\xC0\x80", 0), /* overlong */
		ILL("\xC1\xBF", 0),
		ILL("\xE0\x80\x80", 0),
		ILL("\xE0\x9F\xBF", 0),
		ILL("\xF0\x80\x80\x80", 0),
		ILL("\xF0\x8F\xBF\xBF", 0),
		ILL("\xED\xA0\x80", 0), /* surrogates */
		ILL("\xED\xBF\xBF", 0),
		ILL("\xF4\x90\x80\x80", 0), /* above U+10FFFF */
		ILL("\xF5\x80\x80\x80", 0),
		ILL("\xF8\x88\x80\x80\x80", 0), /* five and six bytes */
		ILL("\xFC\x84\x80\x80\x80\x80", 0),
		ILL("\xFE", 0),
		ILL("\xFF", 0),
		ILL("\xC3", 0), /* cut short, at the end and by a character */
		ILL("\xC3 ", 0),
		ILL("\xE2\x82", 0),
		ILL("\xE2\x82 ", 0),
		ILL("\xE2 \xAC", 0),
		ILL("\xE2", 0),
		ILL("\xF0\x9F\x98", 0),
		ILL("\xF0\x9F\x98 ", 0),
		ILL("\xF0\x9F \x80", 0),
		ILL("\xC3\xC3\xA9", 0),
		ILL("12345678abcdefg\xFF", 15),
		ILL("1234567\xE2\x82\xAC\xE2\x82", 10),
#undef WELL
#undef ILL
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		char *copy = malloc(table[i].text.n + 1); /* its end is where ASan looks */
		struct str s = { copy, table[i].text.n };

		assert_non_null(copy);
		memcpy(copy, table[i].text.p, table[i].text.n);
		copy = realloc(copy, table[i].text.n ? table[i].text.n : 1);
		s.p = copy;
		assert_int_equal(utf8_valid_prefix(s), table[i].prefix);
		free(copy);
	}
	assert_int_equal(utf8_valid_prefix((struct str){ NULL, 0 }), 0);
}

static size_t encode(uint32_t cp, char *p)
{
	static const unsigned char lead[] = { 0, 0, 0xC0, 0xE0, 0xF0 };
	size_t n = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;

	for (size_t i = n; i > 1; i--, cp >>= 6)
		p[i - 1] = (char)(0x80 | (cp & 0x3F));
	p[0] = (char)(unsigned char)(lead[n] | cp);
	return n;
}

TEST(utf8_every_code_point_is_judged_right)
{
	char p[4];

	for (uint32_t cp = 0; cp < 0x120000; cp++) {
		struct str s = { p, encode(cp, p) };
		bool good = (cp < 0xD800 || cp > 0xDFFF) && cp <= 0x10FFFF;
		size_t i = 0;

		if (utf8_valid_prefix(s) != (good ? s.n : 0) || (good && utf8_length(s) != 1))
			fail_msg("U+%04X", (unsigned)cp);
		if (utf8_next(s, &i) != (good ? cp : UTF8_BAD) || i != (good ? s.n : 1))
			fail_msg("U+%04X is read as something else", (unsigned)cp);
	}
}

TEST(utf8_length_counts_code_points)
{
	assert_int_equal(utf8_length(STR_LIT("")), 0);
	assert_int_equal(utf8_length(STR_LIT("abc")), 3);
	assert_int_equal(utf8_length(STR_LIT("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80")), 4);
	assert_int_equal(utf8_length(STR_LIT("\0\0")), 2);
}

/* Malformed bytes are passed one by one, as the reader of a text needs it to go on. */
TEST(characters_that_nobody_sees_are_unsafe)
{
	static const uint32_t bad[] = { 0,      '\n',   '\t',   0x1F,   0x7F,   0x9F,   0x61C,
					0x200B, 0x200F, 0x202E, 0x2066, 0xFEFF, 0xFFFB, 0xE0041 },
			      good[] = { ' ',    '~',    0xA0,   0xE9,    0x200C, 0x200D,
					 0x2027, 0x20AC, 0xFFFD, 0x1F600, 0xE0080 };

	for (size_t i = 0; i < CLEAT_COUNT(bad); i++)
		assert_true(utf8_unsafe(bad[i]));
	for (size_t i = 0; i < CLEAT_COUNT(good); i++)
		assert_false(utf8_unsafe(good[i]));
}

TEST(utf8_next_walks_a_text)
{
	static const uint32_t want[] = {
		'a', 0xE9, UTF8_BAD, UTF8_BAD, 0x20AC, 0, 0x1F600, UTF8_BAD
	};
	struct str s = STR_LIT("a\xC3\xA9\xE2\x82\xE2\x82\xAC\0\xF0\x9F\x98\x80\xF0");
	size_t i = 0, n = 0;

	for (; i < s.n; n++) {
		assert_true(n < sizeof want / sizeof want[0]);
		assert_int_equal(utf8_next(s, &i), want[n]);
	}
	assert_int_equal(i, s.n);
	assert_int_equal(n, sizeof want / sizeof want[0]);
}

TEST(str_distance_table)
{
	static const struct {
		const char *a, *b;
		size_t limit, want;
	} table[] = {
		{ "", "", 0, 0 },
		{ "", "abc", 3, 3 },
		{ "", "abc", 2, SIZE_MAX },
		{ "abc", "abc", 0, 0 },
		{ "Abc", "aBC", 0, 0 }, /* ASCII case does not count */
		{ "abc", "abd", 1, 1 },
		{ "abc", "abd", 0, SIZE_MAX },
		{ "abc", "ab", 1, 1 },
		{ "abc", "xabc", 1, 1 },
		{ "abcd", "abdc", 4, 1 }, /* neighbours swapped */
		{ "ab", "ba", 4, 1 },
		{ "aB", "bA", 4, 1 },
		{ "ca", "abc", 4, 3 }, /* restricted: nothing is edited twice */
		{ "kitten", "sitting", 4, 3 },
		{ "saturday", "sunday", 4, 3 },
		{ "temprature", "temperature", 4, 1 },
		{ "a", "zzzz", 10, 4 },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		struct str a = str_of(table[i].a), b = str_of(table[i].b);

		assert_int_equal(str_distance(a, b, table[i].limit), table[i].want);
		assert_int_equal(str_distance(b, a, table[i].limit), table[i].want);
	}
}

TEST(str_distance_of_long_text_is_not_computed)
{
	char text[65], other[64];

	memset(text, 'a', sizeof text);
	memset(other, 'b', sizeof other);
	assert_int_equal(str_distance((struct str){ text, 64 }, (struct str){ other, 64 }, 64), 64);
	assert_int_equal(str_distance((struct str){ text, 64 }, (struct str){ text, 64 }, 0), 0);
	assert_int_equal(str_distance((struct str){ text, 65 }, (struct str){ text, 64 }, 9),
			 SIZE_MAX);
	assert_int_equal(str_distance((struct str){ text, 64 }, (struct str){ text, 65 }, 9),
			 SIZE_MAX);
}

TEST(str_nearest_offers)
{
	static const struct {
		const char *wanted, *offers[4], *best;
	} table[] = {
		{ "citty", { "country", "city", "cite" }, "city" },
		{ "CITY", { "cite", "city" }, "city" },
		{ "city", { "aaaa", "bbbb" }, NULL },
		{ "ct", { "city", "cut" }, NULL }, /* of two letters only the case may differ */
		{ "abcdef", { "abcxyz", "abcdxy" }, "abcdxy" },           /* 6: two */
		{ "abcdefghijklmnopqr", { "abcdefghijklmvwxyz" }, NULL }, /* never over four */
		{ "abcdefghijklmnopqr", { "abcdefghijklmnwxyz" }, "abcdefghijklmnwxyz" },
		{ "abc", { "abd", "abe" }, "abd" }, /* the first of equals stays */
		{ "aa", { NULL }, NULL },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		struct str_nearest n = { .wanted = str_of(table[i].wanted) };

		for (size_t k = 0; k < 4 && table[i].offers[k]; k++)
			str_nearest_offer(&n, str_of(table[i].offers[k]));
		if (table[i].best)
			assert_true(str_eqz(n.best, table[i].best));
		else
			assert_null(n.best.p);
	}
}

/* ---- error -------------------------------------------------------------------------------- */

TEST(status_texts_and_values_are_unique)
{
	static const int values[] = {
#define VALUE(name, value, text) value,
		CLEAT_STATUS_MAP(VALUE)
#undef VALUE
	};

	for (size_t i = 0; i < CLEAT_COUNT(values); i++) {
		assert_string_not_equal(cleat_strstatus(values[i]), "");
		assert_string_not_equal(cleat_strstatus(values[i]), "unknown status");
		for (size_t k = 0; k < i; k++) {
			assert_int_not_equal(values[i], values[k]);
			assert_string_not_equal(cleat_strstatus(values[i]),
						cleat_strstatus(values[k]));
		}
	}
	assert_string_equal(cleat_strstatus(CLEAT_ENOMEM), "out of memory");
	assert_string_equal(cleat_strstatus(-9999), "unknown status");
	assert_string_equal(cleat_strstatus(INT32_MAX), "unknown status");
	assert_string_equal(cleat_version(), CLEAT_VERSION);
	assert_int_equal(cleat_version_num(), CLEAT_VERSION_NUM);
}

TEST(log_levels_have_the_names_of_rfc_5424)
{
	assert_string_equal(cleat_log_level_name(CLEAT_LOG_DEBUG), "debug");
	assert_string_equal(cleat_log_level_name(CLEAT_LOG_WARNING), "warning");
	assert_string_equal(cleat_log_level_name(CLEAT_LOG_EMERGENCY), "emergency");
	assert_null(cleat_log_level_name(-1));
	assert_null(cleat_log_level_name(8));
	assert_null(cleat_log_level_name(INT32_MIN));
}

TEST(error_set_fills_the_whole_record)
{
	cleat_error e;

	memset(&e, 0xFF, sizeof e);
	assert_int_equal(error_set(&e, CLEAT_EINVAL, "bad %s", "thing"), CLEAT_EINVAL);
	assert_int_equal(e.status, CLEAT_EINVAL);
	assert_int_equal(e.rpc_code, 0);
	assert_int_equal(e.os_errno, 0);
	assert_string_equal(e.message, "bad thing");
	assert_int_equal(error_rpc(&e, CLEAT_EPROTO, CLEAT_RPC_PARSE_ERROR, "x%d", 1),
			 CLEAT_EPROTO);
	assert_int_equal(e.rpc_code, -32700);
	assert_string_equal(e.message, "x1");
	assert_int_equal(error_set(NULL, CLEAT_EIO, "nobody listens"), CLEAT_EIO);
	assert_int_equal(error_rpc(NULL, CLEAT_EIO, 5, "nobody listens"), CLEAT_EIO);
	error_clear(&e);
	error_clear(NULL);
	assert_int_equal(e.status, CLEAT_OK);
	assert_string_equal(e.message, "");
}

TEST(error_message_may_quote_itself)
{
	cleat_error e;

	error_set(&e, CLEAT_EIO, "no such file");
	error_set(&e, CLEAT_EINVAL, "reading the key: %s", e.message);
	assert_string_equal(e.message, "reading the key: no such file");
}

/* <cleat/base.h>: "one line for a person, always terminated"; what is quoted came from a peer. */
TEST(error_message_is_one_line_of_whole_characters)
{
	cleat_error e;

	error_set(&e, CLEAT_EPROTO, "key \"%s\"", "a\n\x1B[2Jb\x7F\t");
	assert_string_equal(e.message, "key \"a  [2Jb  \"");
	for (int lead = 236; lead < 246; lead++) {
		size_t n;

		error_set(&e, CLEAT_EPROTO, "%0*d%s", lead, 0,
			  "\xE2\x82\xAC\xF0\x9F\x98\x80\xC3\xA9");
		n = strlen(e.message);
		assert_true(n < sizeof e.message && n + 4 >= sizeof e.message - 1);
		assert_int_equal(utf8_valid_prefix(str_of(e.message)), n);
	}
	error_set(&e, CLEAT_EPROTO, "%0300d", 0);
	assert_int_equal(strlen(e.message), sizeof e.message - 1);
}
