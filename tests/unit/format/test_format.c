/* test_format.c - the keyword "format": a table of edges of our own for each format, and the files
 * optional/format of the JSON Schema Test Suite for both dialects, with the misses listed.
 */

#include "base/arena.h"
#include "format/format.h"
#include "support.h"
#include "test.h"
#include "json/parse.h"

#include <stdlib.h>
#include <string.h>

/* ---- our own ------------------------------------------------------------------------------ */

struct edges {
	const char *format;
	const char *good[32];
	const char *bad[48];
};

static const struct edges edges[] = {
	{ "date", /* RFC 3339 section 5.6, 5.7 */
	  { "2026-07-28", "0000-01-01", "9999-12-31", "2000-02-29", "2024-02-29", "2026-04-30" },
	  { "",
	    "2026",
	    "2026-07",
	    "2026-7-28",
	    "26-07-28",
	    "2026-07-2",
	    "2026-07-281",
	    "2026-00-01",
	    "2026-13-01",
	    "2026-01-00",
	    "2026-01-32",
	    "2026-04-31",
	    "1900-02-29",
	    "2026-02-29",
	    "2026/07/28",
	    "20260728",
	    "2026-07-28 ",
	    " 2026-07-28",
	    "2026-07-28T",
	    "-2026-07-28",
	    "202\xD9\xA6-07-28",
	    "2026-0\xEF\xBC\x97-28",
	    "2026-07-28Z" } },
	{ "time", /* 5.6, 5.7 */
	  { "00:00:00Z", "23:59:59z", "10:00:00.1Z", "10:00:00.123456789012345678901234567890Z",
	    "10:00:00+00:00", "10:00:00-00:00", "10:00:00+23:59", "10:00:00-23:59", "23:59:60Z",
	    "23:59:60.999z", "00:59:60+01:00", "00:29:60+00:30", "22:59:60-01:00", "00:00:60+00:01",
	    "23:58:60-00:01" },
	  { "",
	    "10:00:00",
	    "10:00Z",
	    "10:00:00.Z",
	    "10:00:00,1Z",
	    "24:00:00Z",
	    "10:60:00Z",
	    "10:00:60Z",
	    "10:00:61Z",
	    "23:59:61Z",
	    "1:00:00Z",
	    "10:0:00Z",
	    "10:00:0Z",
	    "10:00:00+1:00",
	    "10:00:00+0100",
	    "10:00:00+01",
	    "10:00:00+24:00",
	    "10:00:00+00:60",
	    "10:00:00 Z",
	    "10:00:00ZZ",
	    "10:00:00Z+00:00",
	    "10.00.00Z",
	    "23:59:60+01:00",
	    "00:59:60-01:00",
	    "22:59:60Z",
	    "-1:00:00Z",
	    "10:00:00\xE2\x88\x92"
	    "01:00",
	    "1\xD9\xA0:00:00Z",
	    "\t10:00:00Z" } },
	{ "date-time", /* 5.6 */
	  { "2026-07-28T10:00:00Z", "2026-07-28t10:00:00z", "2026-07-28T10:00:00.5+02:00",
	    "2016-12-31T23:59:60Z", "2017-01-01T00:59:60+01:00", "2024-02-29T00:00:00-00:00" },
	  { "", "2026-07-28", "10:00:00Z", "2026-07-28 10:00:00Z", "2026-07-28T10:00:00",
	    "2026-07-28T10:00Z", "2026-07-28TT10:00:00Z", "2026-02-29T10:00:00Z",
	    "2026-07-28T24:00:00Z", "2026-07-28T10:00:60Z", "2026-07-28_10:00:00Z",
	    "2026-07-28T10:00:00Z ", "T" } },
	{ "duration", /* appendix A */
	  { "P1D", "P1Y", "P1M", "P1Y2M", "P1M2D", "P1Y2M3D", "PT1H", "PT1M", "PT1S", "PT1H2M",
	    "PT2M3S", "PT1H2M3S", "P1DT1S", "P1YT1H", "P1W", "P00D", "p1dt2h", "p3w" },
	  { "",
	    "P",
	    "T",
	    "PT",
	    "1D",
	    "P1",
	    "P1DT",
	    "P1DT1",
	    "P1Y2D",
	    "PT1H2S",
	    "P1D2M",
	    "P1S",
	    "PT1D",
	    "PT1Y",
	    "P1W1D",
	    "P1D1W",
	    "P1WT1H",
	    "P1W2W",
	    "P1Y1Y",
	    "PT1H1H",
	    "P-1D",
	    "+P1D",
	    "P1.5D",
	    "P1,5D",
	    "PT1.5S",
	    " P1D",
	    "P1D ",
	    "P1DT1H1D",
	    "PD",
	    "PTH",
	    "P1DT1HT1M",
	    "P\xD9\xA1"
	    "D" } },
	{ "email", /* RFC 5321 sections 4.1.2, 4.1.3, 4.5.3.1 */
	  { "a@b", "a.b@c.d", "A1+-_@x-y.z", "!#$%&'*+-/=?^_`{|}~@b", "\"\"@b", "\"a b\"@c",
	    "\"a\\\"b\\\\\"@c", "\"a\\ b\"@c", "\"@\"@b", "a@[127.0.0.1]", "a@[IPv6:::1]",
	    "a@[ipv6:2001:db8::1]", "a@1.2",
	    "1234567890123456789012345678901234567890123456789012345678901234@b" },
	  { "",
	    "a",
	    "@",
	    "@b",
	    "a@",
	    "a@b@c",
	    ".a@b",
	    "a.@b",
	    "a..b@c",
	    "a b@c",
	    "a@b c",
	    "a@b_c",
	    "a@.b",
	    "a@b.",
	    "a@b..c",
	    "a@-b",
	    "a@b-",
	    "a,b@c",
	    "a<b>@c",
	    "a(b)@c",
	    "a:b@c",
	    "a;b@c",
	    "a\\b@c",
	    "\"@b",
	    "\"a@b",
	    "\"a\"b@c",
	    "\"a\"\"b\"@c",
	    "\"a\nb\"@c",
	    "\"a\\\xC3\xA4\"@c",
	    "\"\\\"@b",
	    "a@[",
	    "a@[]",
	    "a@[127.0.0.1",
	    "a@[127.0.0.1]b",
	    "a@[127.0.0]",
	    "a@[::1]",
	    "a@[IPv6:1.2.3.4]",
	    "a@[IPv6]",
	    "a@[tag:text]",
	    "a@[IPv\x16:::1]",
	    "\xC3\xA4@b",
	    "a@\xC3\xA4",
	    "\"\xC3\xA4\"@b",
	    "Joe <a@b>",
	    "a@b ",
	    " a@b",
	    "12345678901234567890123456789012345678901234567890123456789012345@b" } },
	{ "idn-email", /* RFC 6531 section 3.3 */
	  { "a@b", "\xC3\xA4@b", "\"\xC3\xA4 \"@b", "a@\xC3\xA4", "a@\xC3\xA4.b", "a@[127.0.0.1]",
	    "\xEC\x8B\xA4\xEB\xA1\x80@\xEC\x8B\xA4\xEB\xA1\x80.\xED\x85\x8C\xEC\x8A\xA4\xED\x8A\xB8" },
	  { "", "\xC3\xA4", "\xC3\xA4@", "@\xC3\xA4", "a\xEF\xBC\xA0@", "a@-\xC3\xA4",
	    "a@\xC3\xA4-", "a@\xC3\xA4..b", "a@\xC3\xA4_b", "a@[\xC3\xA4]", "\"a\\\xC3\xA4\"@b",
	    "a@b\xC3", "\xFF@b", "\xC3\xA4 @b", "a@\xC3\xA4 " } },
	{ "hostname", /* RFC 1123 section 2.1, RFC 5891 */
	  { "a", "A", "1", "a-b", "a--b", "a.b.c", "3com.com", "localhost", "xn--mnchen-3ya",
	    "XN--MNCHEN-3YA", "xn--nxasmq6b.xn--jxalpdlp", "x--n", "xn-a" },
	  { "",
	    ".",
	    "a.",
	    ".a",
	    "a..b",
	    "-a",
	    "a-",
	    "a.-b",
	    "a-.b",
	    "a_b",
	    "a b",
	    "a\n",
	    "a/b",
	    "a:80",
	    "[::1]",
	    "\xC3\xA4",
	    "a\xC3\xA4",
	    "xn--",
	    "xn--a-",
	    "xn--0",
	    "xn--a",
	    "xn--99999999",
	    "xn--mnchen-3y",
	    "xn---m1i",
	    "a.xn--\x61\x62",
	    "xn--a-ecp.\x01" } },
	{ "ipv4",
	  { "0.0.0.0", "255.255.255.255", "192.0.2.1" },
	  { "", "1.2.3", "1.2.3.4.5", "256.0.0.1", "01.2.3.4", "1.2.3.4 ", "0x1.2.3.4", "::1",
	    "1.2.3.\xD9\xA4" } },
	{ "ipv6",
	  { "::", "::1", "2001:db8::1", "1:2:3:4:5:6:7:8", "::ffff:192.0.2.1" },
	  { "", ":", "1.2.3.4", "[::1]", "::1%eth0", "1:2:3:4:5:6:7:8:9", "12345::", "::1/64",
	    "fe80::1%25en0" } },
	{ "uri",
	  { "a:", "http://h/p?q#f", "urn:a:b", "mailto:a@b", "http://[::1]:80/" },
	  { "", "a", "/a", "//h", "#f", "?q", "http://h/a b", "http://h/\xC3\xA4", "http://h/%",
	    "1a:b", "http://h:x", "http://[::1" } },
	{ "uri-reference",
	  { "", "a", "/a", "//h", "#f", "?q", "http://h", "a/b:c" },
	  { "a b", "a\xC3\xA4", "%", ":a", "1:b", "\\", "#a#b", "[a]" } },
	{ "iri",
	  { "http://k\xC3\xB6ln/\xC3\xA4?\xEE\x80\x80#\xC3\xA4", "a:" },
	  { "", "\xC3\xA4", "/\xC3\xA4", "\xC3\xA4:a", "a:\xC2\x80", "a: ", "a:\xEE\x80\x80" } },
	{ "iri-reference",
	  { "", "\xC3\xA4", "//\xC3\xA4", "#\xC3\xA4", "a" },
	  { " ", "\xC3", "\\", "\xC3\xA4%" } },
	{ "uri-template", /* RFC 6570 section 2 */
	  { "", "a", "{a}", "{+a,b*,c:1}", "{#a}{.b}{/c}{;d}{?e}{&f}", "{a.b_c%41}", "{a:9999}",
	    "\xC3\xA4", "\xEE\x80\x80", "{1}" },
	  { "{",         "}",        "{}",           "{a",   "a}",        "{{a}}", "{a b}", "{a:0}",
	    "{a:10000}", "{a:}",     "{a*:1}",       "{=a}", "{!a}",      "{a.}",  "{.}",   "{a,}",
	    "%",         "a b",      "\"",           "<",    "\\",        "^",     "`",     "|",
	    "\x7F",      "\xC2\x80", "\xEF\xBF\xBF", "\xC3", "{\xC3\xA4}" } },
	{ "uuid", /* RFC 4122 section 3 */
	  { "00000000-0000-0000-0000-000000000000", "2EB8AA08-aa98-11EA-b4aa-73b441d16380" },
	  { "", "2eb8aa08-aa98-11ea-b4aa-73b441d1638", "2eb8aa08-aa98-11ea-b4aa-73b441d163800",
	    "2eb8aa08aa9811eab4aa73b441d16380", "{2eb8aa08-aa98-11ea-b4aa-73b441d16380}",
	    "2eb8aa08-aa98-11ea-b4aa-73b441d1638g", "2eb8aa08-aa98-11eab-4aa-73b441d16380",
	    "2eb8aa08-aa98-11ea-b4aa073b441d16380",
	    "\xD9\xA1"
	    "b8aa08-aa98-11ea-b4aa-73b441d16380" } },
	{ "json-pointer", /* RFC 6901 section 3 */
	  { "", "/", "//", "/a/0", "/~0~1", "/ ", "/\xC3\xA4" },
	  { "a", "#", "#/a", "~0", "/~", "/~2", "/~~0", "/a~" } },
	{ "relative-json-pointer", /* draft-bhutton-relative-json-pointer-00 section 3 */
	  { "0", "10", "0#", "1/a", "0/", "2/~0", "0-1/a", "0+12#", "3-1" },
	  { "", "#", "/a", "-1", "00", "01/a", "1a", "0##", "0#/a", "0/~", "0-0", "0+01", "0+",
	    "0-/a", "0-1-1", "\xD9\xA1" } },
	{ "regex",
	  { "", "a", "^a+$", "(a|b)*", "\\d{2,3}", "[^a-z]" },
	  { "(", ")", "[", "a**", "+", "\\", "(?P<a>b)", "a{2,1}" } },
};

TEST(each_format_has_the_edges_of_its_grammar)
{
	for (size_t i = 0; i < CLEAT_COUNT(edges); i++) {
		enum format f = format_find(str_of(edges[i].format));

		assert_int_not_equal(f, FORMAT_UNKNOWN);
		assert_null(edges[i].good[CLEAT_COUNT(edges[i].good) - 1]);
		assert_null(edges[i].bad[CLEAT_COUNT(edges[i].bad) - 1]);
		for (const char *const *s = edges[i].good; *s; s++)
			if (!format_check(f, str_of(*s)))
				fail_msg("%s refuses %s", edges[i].format, *s);
		for (const char *const *s = edges[i].bad; *s; s++)
			if (format_check(f, str_of(*s)))
				fail_msg("%s accepts %s", edges[i].format, *s);
	}
}

/* JSON strings may hold U+0000. Only pointers allow it, and a pattern is read for what it is. */
TEST(a_nul_is_a_character)
{
	for (size_t i = 0; i < CLEAT_COUNT(edges); i++) {
		enum format f = format_find(str_of(edges[i].format));

		if (f == FORMAT_REGEX || f == FORMAT_JSON_POINTER)
			continue;
		for (const char *const *s = edges[i].good; *s; s++) {
			struct str with = { *s, strlen(*s) + 1 };
			bool pointer = f == FORMAT_RELATIVE_JSON_POINTER && strchr(*s, '/');

			if (format_check(f, with) != pointer)
				fail_msg("%s: %s and a NUL", edges[i].format, *s);
		}
	}
	assert_true(format_check(FORMAT_JSON_POINTER, STR_LIT("/\0")));
	assert_false(format_check(FORMAT_JSON_POINTER, STR_LIT("\0")));
}

TEST(an_absent_text_is_an_empty_one)
{
	for (size_t i = 0; i < CLEAT_COUNT(edges); i++) {
		enum format f = format_find(str_of(edges[i].format));

		assert_int_equal(format_check(f, (struct str){ NULL, 0 }),
				 format_check(f, STR_LIT("")));
	}
}

/* A piece n times, with something before and behind. From malloc. */
static struct str made(const char *before, const char *piece, size_t n, const char *behind)
{
	size_t a = strlen(before), p = strlen(piece), z = strlen(behind);
	char *s = malloc(a + n * p + z + 1);

	assert_non_null(s);
	memcpy(s, before, a);
	for (size_t i = 0; i < n; i++)
		memcpy(s + a + i * p, piece, p);
	memcpy(s + a + n * p, behind, z + 1);
	return (struct str){ s, a + n * p + z };
}

TEST(lengths_have_the_limits_of_the_grammar_or_none)
{
	static const struct {
		enum format f;
		const char *before, *piece;
		size_t n;
		const char *behind;
		bool fits;
	} cases[] = {
		/* RFC 1035 section 2.3.4 */
		{ FORMAT_HOSTNAME, "", "a", 63, "", true },
		{ FORMAT_HOSTNAME, "", "a", 64, "", false },
		{ FORMAT_HOSTNAME, "a.", "b", 64, ".c", false },
		{ FORMAT_HOSTNAME, "", "a.", 126, "b", true },   /* 253 */
		{ FORMAT_HOSTNAME, "", "a.", 126, "bc", false }, /* 254 */
		{ FORMAT_HOSTNAME, "", "a.", 500000, "b", false },
		{ FORMAT_HOSTNAME, "xn--4ca", "a", 56, "", true }, /* U+00E4, 57 times */
		{ FORMAT_HOSTNAME, "xn--4ca", "a", 57, "", false },
		{ FORMAT_HOSTNAME, "xn--", "9", 59, "", false },
		/* RFC 5321 section 4.5.3.1 */
		{ FORMAT_EMAIL, "a@", "b.", 125, "c", true },    /* 253 */
		{ FORMAT_EMAIL, "a@", "b.", 125, "cd", true },   /* 254 */
		{ FORMAT_EMAIL, "a@", "b.", 125, "cde", false }, /* 255 */
		{ FORMAT_EMAIL, "a@", "b", 64, "", false },
		{ FORMAT_EMAIL, "\"", "a", 62, "\"@b", true },
		{ FORMAT_EMAIL, "\"", "a", 63, "\"@b", false },
		{ FORMAT_EMAIL, "\"", "a", 1000000, "\"@b", false },
		{ FORMAT_IDN_EMAIL, "", "\xC3\xA4", 32, "@b", true },
		{ FORMAT_IDN_EMAIL, "", "\xC3\xA4", 33, "@b", false },
		{ FORMAT_IDN_EMAIL, "a@", "\xC3\xA4", 59, "", true },
		{ FORMAT_IDN_EMAIL, "a@", "\xC3\xA4", 60, "", false },
		/* no limit */
		{ FORMAT_TIME, "10:00:00.", "0", 1000000, "Z", true },
		{ FORMAT_DURATION, "P", "9", 1000000, "D", true },
		{ FORMAT_DURATION, "P", "1D", 1000000, "", false },
		{ FORMAT_URI, "a:", "/..", 300000, "", true },
		{ FORMAT_URI, "a://", "b@", 300000, "", false },
		{ FORMAT_IPV6, "", "0", 1000000, "::", false },
		{ FORMAT_IPV6, "", "1:", 1000000, ":", false },
		{ FORMAT_URI_TEMPLATE, "", "{a}", 300000, "", true },
		{ FORMAT_URI_TEMPLATE, "", "{", 300000, "", false },
		{ FORMAT_URI_TEMPLATE, "{a", ",a", 300000, "}", true },
		{ FORMAT_JSON_POINTER, "", "/~0", 300000, "", true },
		{ FORMAT_JSON_POINTER, "", "/~0", 300000, "~", false },
		{ FORMAT_RELATIVE_JSON_POINTER, "1", "0", 300000, "#", true },
		{ FORMAT_UUID, "", "0", 300000, "", false },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct str s = made(cases[i].before, cases[i].piece, cases[i].n, cases[i].behind);

		if (format_check(cases[i].f, s) != cases[i].fits)
			fail_msg("%s: %s, %zu times %s, %s", format_what(cases[i].f),
				 cases[i].before, cases[i].n, cases[i].piece, cases[i].behind);
		free((char *)s.p);
	}
}

TEST(formats_are_found_by_their_exact_names)
{
	static const char *const names[] = {
#define NAME_OF(NAME, name, what) name,
		FORMAT_MAP(NAME_OF)
#undef NAME_OF
	};

	for (size_t i = 0; i < CLEAT_COUNT(names); i++) {
		assert_int_equal(format_find(str_of(names[i])), (int)i + 1);
		assert_true(format_what((enum format)(i + 1))[0] == 'a');
	}
	assert_int_equal(CLEAT_COUNT(names), CLEAT_COUNT(edges)); /* each has a row above */
	assert_int_equal(format_find(STR_LIT("")), FORMAT_UNKNOWN);
	assert_int_equal(format_find(STR_LIT("Date")), FORMAT_UNKNOWN);
	assert_int_equal(format_find(STR_LIT("date\0")), FORMAT_UNKNOWN);
	assert_int_equal(format_find(STR_LIT("dat")), FORMAT_UNKNOWN);
	assert_int_equal(format_find(STR_LIT("idn-hostname")), FORMAT_UNKNOWN);
	assert_int_equal(format_find((struct str){ NULL, 0 }), FORMAT_UNKNOWN);
	assert_true(format_check(FORMAT_UNKNOWN, STR_LIT("anything")));
	assert_string_equal(format_what(FORMAT_UNKNOWN), "anything");
}

/* ---- the suite ---------------------------------------------------------------------------- */

struct miss {
	const char *file, *group, *test;
	bool seen;
};

/* What is not found out, in either dialect. For the first two, which code points are marks, and for
 * the third, which are viramas, takes tables of Unicode properties; see format/alabel.c. */
static struct miss misses[] = {
	{ "hostname.json", "validation of A-label (punycode) host names",
	  "Begins with a Spacing Combining Mark", false },
	{ "hostname.json", "validation of A-label (punycode) host names",
	  "Begins with an Enclosing Mark", false },
	{ "hostname.json", "validation of A-label (punycode) host names",
	  "ZERO WIDTH JOINER not preceded by Virama", false },
};

static bool is_listed(const char *file, struct str group, struct str test)
{
	for (size_t i = 0; i < CLEAT_COUNT(misses); i++)
		if (strcmp(misses[i].file, file) == 0 && str_eqz(group, misses[i].group) &&
		    str_eqz(test, misses[i].test)) {
			assert_false(misses[i].seen);
			misses[i].seen = true;
			return true;
		}
	return false;
}

/* Returns the number of strings that were checked. */
static size_t run_group(const char *dialect, const char *file, const cleat_json *group)
{
	struct str name = json_str(cleat_json_get(group, "description"));
	enum format f =
		format_find(json_str(cleat_json_get(cleat_json_get(group, "schema"), "format")));
	cleat_json_iter it = cleat_json_each(cleat_json_get(group, "tests"));
	size_t n = 0;

	while (cleat_json_next(&it)) {
		const cleat_json *data = cleat_json_get(it.value, "data");
		struct str test = json_str(cleat_json_get(it.value, "description"));
		bool valid = cleat_json_bool(cleat_json_get(it.value, "valid"), false);
		bool ok;

		if (cleat_json_type(data) != CLEAT_JSON_STRING)
			continue;
		n++;
		ok = format_check(f, json_str(data)) == valid;
		if (is_listed(file, name, test) == ok)
			fail_msg("%s, %s, %.*s, %.*s: %s", dialect, file, STR_ARGS(name),
				 STR_ARGS(test), ok ? "is listed as a miss and passes" : "fails");
	}
	return n;
}

/* SIZE_MAX when there is no such file. */
static size_t run_file(const char *dialect, const char *file)
{
	char name[160], path[1024];
	const cleat_json *root;
	cleat_json_iter it;
	struct arena ar;
	size_t len, n = 0;
	char *text;

	snprintf(name, sizeof name, "JSON-Schema-Test-Suite/tests/%s/optional/format/%s", dialect,
		 file);
	if (!support_data_path(path, sizeof path, name))
		return SIZE_MAX;
	text = support_read_file(path, &len);
	assert_non_null(text);
	arena_init(&ar, NULL, 0);
	assert_int_equal(json_parse(&ar, (struct str){ text, len }, NULL, &root, NULL), CLEAT_OK);
	it = cleat_json_each(root);
	while (cleat_json_next(&it))
		n += run_group(dialect, file, it.value);
	arena_done(&ar);
	free(text);
	return n;
}

/* All files but idn-hostname.json, whose format is unknown here. `least` is what the newest
 * suite has at least; an older one may lack some. */
static void run_dialect(const char *dialect, size_t least)
{
	static const char *const files[] = {
		"date-time.json",     "date.json",
		"duration.json",      "ecmascript-regex.json",
		"email.json",         "hostname.json",
		"idn-email.json",     "ipv4.json",
		"ipv6.json",          "iri-reference.json",
		"iri.json",           "json-pointer.json",
		"regex.json",         "relative-json-pointer.json",
		"time.json",          "unknown.json",
		"uri-reference.json", "uri-template.json",
		"uri.json",           "uuid.json",
	};
	size_t total = 0, missing = 0;

	for (size_t i = 0; i < CLEAT_COUNT(misses); i++)
		misses[i].seen = false;
	for (size_t i = 0; i < CLEAT_COUNT(files); i++) {
		size_t n = run_file(dialect, files[i]);

		if (n == SIZE_MAX)
			missing++; /* draft-07 has no duration and no uuid */
		else
			total += n;
	}
	if (missing == CLEAT_COUNT(files)) {
		print_message("JSON-Schema-Test-Suite is not there\n");
		skip();
	}
	assert_true(total > least / 2);
	for (size_t i = 0; i < CLEAT_COUNT(misses); i++)
		if (!misses[i].seen && total >= least)
			fail_msg("%s: no test \"%s\"", dialect, misses[i].test);
}

TEST(the_suite_for_2020_12_passes)
{
	run_dialect("draft2020-12", 400);
}

TEST(the_suite_for_draft_07_passes)
{
	run_dialect("draft7", 300);
}
