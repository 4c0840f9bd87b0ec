/* test_uri_reference.c - RFC 3986 and 3987: splitting and checking, the RFC's own examples of
 * resolving, and what the RFC leaves open. IP addresses have their own file, test_uri_address.c.
 */

#include "support.h"
#include "test.h"
#include "uri/reference.h"

#include <stdlib.h>
#include <string.h>

/* ---- splitting ---------------------------------------------------------------------------- */

static void part(struct buf *b, const char *name, struct str s)
{
	if (s.p)
		buf_printf(b, "%s=%.*s ", name, STR_ARGS(s));
}

/* The parts that are there, "scheme=a path=b ". */
static void describe(struct buf *b, const struct uri *u)
{
	part(b, "scheme", u->scheme);
	part(b, "authority", u->authority);
	part(b, "userinfo", u->userinfo);
	part(b, "host", u->host);
	part(b, "port", u->port);
	part(b, "path", u->path);
	part(b, "query", u->query);
	part(b, "fragment", u->fragment);
	buf_putc(b, '\0');
}

/* Section 3 and appendix A: a part that is there may be empty, and differs from one that is not. */
TEST(a_reference_is_split_into_its_parts)
{
	static const struct {
		const char *text, *parts;
	} cases[] = {
		{ "", "path= " },
		{ "foo://example.com:8042/over/there?name=ferret#nose",
		  "scheme=foo authority=example.com:8042 host=example.com port=8042 path=/over/there "
		  "query=name=ferret fragment=nose " },
		{ "urn:example:animal:ferret:nose", "scheme=urn path=example:animal:ferret:nose " },
		{ "http://h?", "scheme=http authority=h host=h path= query= " },
		{ "http://h#", "scheme=http authority=h host=h path= fragment= " },
		{ "http://h?#", "scheme=http authority=h host=h path= query= fragment= " },
		{ "http://", "scheme=http authority= host= path= " },
		{ "//", "authority= host= path= " },
		{ "///a", "authority= host= path=/a " },
		{ "////a", "authority= host= path=//a " },
		{ "file:///etc/hosts", "scheme=file authority= host= path=/etc/hosts " },
		{ "file:/etc/hosts", "scheme=file path=/etc/hosts " },
		{ "a:", "scheme=a path= " },
		{ "a+b-c.9:d", "scheme=a+b-c.9 path=d " },
		{ "a:b:c", "scheme=a path=b:c " },
		{ "//u@h", "authority=u@h userinfo=u host=h path= " },
		{ "//@h", "authority=@h userinfo= host=h path= " },
		{ "//u:p:@h:80", "authority=u:p:@h:80 userinfo=u:p: host=h port=80 path= " },
		{ "//h:", "authority=h: host=h port= path= " },
		{ "//:80", "authority=:80 host= port=80 path= " },
		{ "//h:99999999999999999999", "authority=h:99999999999999999999 host=h "
					      "port=99999999999999999999 path= " },
		{ "//[::1]:80/x", "authority=[::1]:80 host=[::1] port=80 path=/x " },
		{ "//u@[::1]", "authority=u@[::1] userinfo=u host=[::1] path= " },
		{ "//[v1.a:b!$&'()*+,;=]", "authority=[v1.a:b!$&'()*+,;=] host=[v1.a:b!$&'()*+,;=] "
					   "path= " },
		{ "//[VaF9.-]", "authority=[VaF9.-] host=[VaF9.-] path= " },
		{ "//%41b", "authority=%41b host=%41b path= " },
		{ "//-.~_!$&'()*+,;=:%40:80%2f::::::@example.com",
		  "authority=-.~_!$&'()*+,;=:%40:80%2f::::::@example.com "
		  "userinfo=-.~_!$&'()*+,;=:%40:80%2f:::::: host=example.com path= " },
		{ "/a:b@c", "path=/a:b@c " },
		{ "./a:b", "path=./a:b " },
		{ "?a?b/c:@#d/?:@", "path= query=a?b/c:@ fragment=d/?:@ " },
		{ "#", "path= fragment= " },
		{ "//h/a//b/", "authority=h host=h path=/a//b/ " },
		/* 3.2.2: what is not an IPv4 address is a registered name. */
		{ "//999.1.1.01", "authority=999.1.1.01 host=999.1.1.01 path= " },
	};
	struct buf b;

	buf_init(&b, NULL, 1 << 16);
	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct uri u;
		bool ok = uri_split(str_of(cases[i].text), 0, &u);

		if (ok != (cases[i].parts != NULL))
			fail_msg("%s: %s", cases[i].text, ok ? "accepted" : "refused");
		if (!ok)
			continue;
		describe(&b, &u);
		assert_string_equal(buf_str(&b).p, cases[i].parts);
		buf_reset(&b, 1 << 16);
	}
	buf_done(&b);
}

static void refused(const struct str *cases, size_t n, unsigned flags)
{
	for (size_t i = 0; i < n; i++) {
		struct uri u;

		if (uri_split(cases[i], flags, &u))
			fail_msg("case %zu is accepted: %.*s", i, STR_ARGS(cases[i]));
	}
}

TEST(what_breaks_the_grammar_is_refused)
{
	const struct str cases[] = {
		/* 3.1, 4.2: no scheme, and a colon in the first segment */
		STR_LIT(":"),
		STR_LIT(":a"),
		STR_LIT("1a:b"),
		STR_LIT("+a:b"),
		STR_LIT("a_b:c"),
		STR_LIT("a%41:b"),
		STR_LIT("a@b:c"),
		STR_LIT("://h"),
		STR_LIT("k\xC3\xB6ln:a"),
		/* 2.1 */
		STR_LIT("%"),
		STR_LIT("%4"),
		STR_LIT("%4g"),
		STR_LIT("a/%g4"),
		STR_LIT("?%"),
		STR_LIT("#%1"),
		STR_LIT("//%x/"),
		STR_LIT("//%@h"),
		STR_LIT("%%41"),
		/* characters of no class */
		STR_LIT(" "),
		STR_LIT("a b"),
		STR_LIT("a\n"),
		STR_LIT("\ta"),
		STR_LIT("a\0b"),
		STR_LIT("\0"),
		STR_LIT("a\x7F"),
		STR_LIT("\""),
		STR_LIT("<a>"),
		STR_LIT("\\"),
		STR_LIT("^"),
		STR_LIT("`"),
		STR_LIT("{a}"),
		STR_LIT("a|b"),
		STR_LIT("\xC3\xA4"),
		STR_LIT("//k\xC3\xB6ln"),
		STR_LIT("?\xC3\xA4"),
		STR_LIT("#\xC3\xA4"),
		/* gen-delims where they cannot be */
		STR_LIT("a[b]"),
		STR_LIT("?[]"),
		STR_LIT("#]"),
		STR_LIT("#a#b"),
		STR_LIT("//a@b@c"),
		STR_LIT("//a[::1]"),
		STR_LIT("//u[@h"),
		STR_LIT("//]"),
		/* 3.2.3 */
		STR_LIT("//h:a"),
		STR_LIT("//h:8 "),
		STR_LIT("//h:-1"),
		STR_LIT("//h:1:2"),
		STR_LIT("//h:%38"),
		STR_LIT("//[::1]:a"),
		STR_LIT("//::1"),
		/* 3.2.2 */
		STR_LIT("//["),
		STR_LIT("//[]"),
		STR_LIT("//[::1"),
		STR_LIT("//[::1]]"),
		STR_LIT("//[::1]a"),
		STR_LIT("//[::1]80"),
		STR_LIT("//[[::1]]"),
		STR_LIT("//[1.2.3.4]"),
		STR_LIT("//[::1%25en0]"),
		STR_LIT("//[::%31]"),
		STR_LIT("//[v.a]"),
		STR_LIT("//[v1]"),
		STR_LIT("//[v1.]"),
		STR_LIT("//[vg.a]"),
		STR_LIT("//[v1.%41]"),
		STR_LIT("//[v1.a@b]"),
		STR_LIT("//[v]"),
		STR_LIT("//[v1.\xC3\xA4]"),
		STR_LIT("//[::ffff:1.2.3.04]"),
	};

	refused(cases, CLEAT_COUNT(cases), 0);
}

/* RFC 3987 section 2.2: the ends of each range of ucschar and iprivate. */
TEST(an_iri_may_hold_characters_beyond_ascii)
{
	const struct str good[] = {
		STR_LIT("http://\xC6\x92\xC3\xB8.\xC3\x9F\xC3\xA5r/\xE2\x88\x82?\xCF\x80#\xC3\xAE"),
		STR_LIT("//\xC3\xA4@\xC3\xB6"),
		STR_LIT("\xC2\xA0"),          /* U+00A0 */
		STR_LIT("\xED\x9F\xBF"),      /* U+D7FF */
		STR_LIT("\xEF\xA4\x80"),      /* U+F900 */
		STR_LIT("\xEF\xB7\x8F"),      /* U+FDCF */
		STR_LIT("\xEF\xB7\xB0"),      /* U+FDF0 */
		STR_LIT("\xEF\xBF\xAF"),      /* U+FFEF */
		STR_LIT("\xF0\x90\x80\x80"),  /* U+10000 */
		STR_LIT("\xF0\x9F\xBF\xBD"),  /* U+1FFFD */
		STR_LIT("\xF3\x9F\xBF\xBD"),  /* U+DFFFD */
		STR_LIT("\xF3\xA1\x80\x80"),  /* U+E1000 */
		STR_LIT("\xF3\xAF\xBF\xBD"),  /* U+EFFFD */
		STR_LIT("?\xEE\x80\x80"),     /* U+E000 */
		STR_LIT("?\xEF\xA3\xBF"),     /* U+F8FF */
		STR_LIT("?\xF3\xB0\x80\x80"), /* U+F0000 */
		STR_LIT("?\xF4\x8F\xBF\xBD"), /* U+10FFFD */
	};
	const struct str bad[] = {
		STR_LIT("\xC2\x80"),          /* U+0080 */
		STR_LIT("\xC2\x9F"),          /* U+009F */
		STR_LIT("\xEF\xB7\x90"),      /* U+FDD0 */
		STR_LIT("\xEF\xB7\xAF"),      /* U+FDEF */
		STR_LIT("\xEF\xBF\xB0"),      /* U+FFF0 */
		STR_LIT("\xEF\xBF\xBF"),      /* U+FFFF */
		STR_LIT("\xF0\x9F\xBF\xBE"),  /* U+1FFFE */
		STR_LIT("\xF3\xA0\x80\x81"),  /* U+E0001 */
		STR_LIT("\xF3\xA0\xBF\xBF"),  /* U+E0FFF */
		STR_LIT("?\xF4\x8F\xBF\xBE"), /* U+10FFFE */
		/* iprivate only in a query */
		STR_LIT("\xEE\x80\x80"),
		STR_LIT("#\xEE\x80\x80"),
		STR_LIT("//\xEF\xA3\xBF"),
		STR_LIT("\xF3\xB0\x80\x80"),
		/* not UTF-8 */
		STR_LIT("\xC3"),
		STR_LIT("\xA4"),
		STR_LIT("\xC0\xAF"),
		STR_LIT("\xED\xA0\x80"),
		STR_LIT("\xF4\x90\x80\x80"),
		STR_LIT("a\xFF"),
		STR_LIT("?\xE2\x88"),
		/* the rest of the grammar is the URI's */
		STR_LIT("\xC3\xA4:a"),
		STR_LIT("//[\xC3\xA4]"),
		STR_LIT("//h:\xD9\xA1"),
		STR_LIT("\xC3\xA4 "),
		STR_LIT("\xC3\xA4%"),
		STR_LIT("\\"),
	};

	for (size_t i = 0; i < CLEAT_COUNT(good); i++) {
		struct uri u;

		if (!uri_split(good[i], URI_IRI, &u))
			fail_msg("case %zu is refused: %.*s", i, STR_ARGS(good[i]));
		assert_false(uri_split(good[i], 0, &u));
	}
	refused(bad, CLEAT_COUNT(bad), URI_IRI);
}

/* Every byte in every place, against the grammar written down a second time. */
TEST(each_byte_is_allowed_where_the_grammar_says)
{
	static const char unreserved[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;=";
	static const struct {
		const char *before, *more, *behind; /* `more`: beyond the set above */
	} places[] = {
		{ "/x", ":@/?#", "" },    /* a path; '?' and '#' end it */
		{ "/?x", ":@/?#", "" },   /* a query */
		{ "/#x", ":@/?", "" },    /* a fragment */
		{ "//u", ":@/?#", "u" },  /* userinfo or a host... */
		{ "//u", ":/?#", "u@h" }, /* userinfo, or the authority ends there */
		{ "//[v1.x", ":", "x]" }, /* IPvFuture */
	};

	for (size_t p = 0; p < CLEAT_COUNT(places); p++)
		for (int c = 0; c < 256; c++) {
			char text[32];
			struct uri u;
			bool expected = c && (strchr(unreserved, c) || strchr(places[p].more, c));
			size_t n = strlen(places[p].before);

			memcpy(text, places[p].before, n);
			text[n++] = (char)c;
			memcpy(text + n, places[p].behind, strlen(places[p].behind));
			n += strlen(places[p].behind);
			if (p == 3 && c == ':') /* "u" is not a port */
				expected = false;
			if (uri_split((struct str){ text, n }, 0, &u) != expected)
				fail_msg("%.*s (byte %d)", (int)n, text, c);
		}
}

TEST(an_absent_text_is_the_empty_reference)
{
	struct uri u;

	assert_true(uri_split((struct str){ NULL, 0 }, 0, &u));
	assert_non_null(u.path.p);
	assert_int_equal(u.path.n, 0);
	assert_null(u.scheme.p);
	assert_null(u.authority.p);
	assert_null(u.host.p);
	assert_null(u.query.p);
	assert_null(u.fragment.p);
}

TEST(the_fragment_can_be_cut_off)
{
	assert_true(str_eqz(uri_without_fragment(STR_LIT("a:b#c")), "a:b"));
	assert_true(str_eqz(uri_without_fragment(STR_LIT("a:b#")), "a:b"));
	assert_true(str_eqz(uri_without_fragment(STR_LIT("a:b")), "a:b"));
	assert_true(str_eqz(uri_without_fragment(STR_LIT("#a#b")), ""));
	assert_null(uri_without_fragment((struct str){ NULL, 0 }).p);
}

/* ---- resolving ---------------------------------------------------------------------------- */

struct resolution {
	const char *base, *ref, *result;
};

static void check_resolution(const struct resolution *r)
{
	struct buf b;

	buf_init(&b, NULL, 4096);
	buf_appendz(&b, "|"); /* what is there stays */
	if (!uri_resolve(&b, str_of(r->base), str_of(r->ref)))
		fail_msg("%s + %s: refused", r->base, r->ref);
	assert_int_equal(buf_status(&b), CLEAT_OK);
	buf_putc(&b, '\0');
	if (strcmp(buf_str(&b).p + 1, r->result) != 0)
		fail_msg("%s + %s: %s instead of %s", r->base, r->ref, buf_str(&b).p + 1,
			 r->result);
	buf_done(&b);
}

static void check_resolutions(const struct resolution *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct resolution again = { "x://y/z?q#f", cases[i].result, cases[i].result };
		struct uri u;

		check_resolution(&cases[i]);
		assert_true(uri_split(str_of(cases[i].result), 0, &u));
		if (!u.scheme.p)
			again.base = "";
		check_resolution(&again);
	}
}

/* Section 5.4.1, all of it. */
static const struct resolution normal_examples[] = {
	{ "http://a/b/c/d;p?q", "g:h", "g:h" },
	{ "http://a/b/c/d;p?q", "g", "http://a/b/c/g" },
	{ "http://a/b/c/d;p?q", "./g", "http://a/b/c/g" },
	{ "http://a/b/c/d;p?q", "g/", "http://a/b/c/g/" },
	{ "http://a/b/c/d;p?q", "/g", "http://a/g" },
	{ "http://a/b/c/d;p?q", "//g", "http://g" },
	{ "http://a/b/c/d;p?q", "?y", "http://a/b/c/d;p?y" },
	{ "http://a/b/c/d;p?q", "g?y", "http://a/b/c/g?y" },
	{ "http://a/b/c/d;p?q", "#s", "http://a/b/c/d;p?q#s" },
	{ "http://a/b/c/d;p?q", "g#s", "http://a/b/c/g#s" },
	{ "http://a/b/c/d;p?q", "g?y#s", "http://a/b/c/g?y#s" },
	{ "http://a/b/c/d;p?q", ";x", "http://a/b/c/;x" },
	{ "http://a/b/c/d;p?q", "g;x", "http://a/b/c/g;x" },
	{ "http://a/b/c/d;p?q", "g;x?y#s", "http://a/b/c/g;x?y#s" },
	{ "http://a/b/c/d;p?q", "", "http://a/b/c/d;p?q" },
	{ "http://a/b/c/d;p?q", ".", "http://a/b/c/" },
	{ "http://a/b/c/d;p?q", "./", "http://a/b/c/" },
	{ "http://a/b/c/d;p?q", "..", "http://a/b/" },
	{ "http://a/b/c/d;p?q", "../", "http://a/b/" },
	{ "http://a/b/c/d;p?q", "../g", "http://a/b/g" },
	{ "http://a/b/c/d;p?q", "../..", "http://a/" },
	{ "http://a/b/c/d;p?q", "../../", "http://a/" },
	{ "http://a/b/c/d;p?q", "../../g", "http://a/g" },
};

/* Section 5.4.2, all of it; the last one strict. */
static const struct resolution abnormal_examples[] = {
	{ "http://a/b/c/d;p?q", "../../../g", "http://a/g" },
	{ "http://a/b/c/d;p?q", "../../../../g", "http://a/g" },
	{ "http://a/b/c/d;p?q", "/./g", "http://a/g" },
	{ "http://a/b/c/d;p?q", "/../g", "http://a/g" },
	{ "http://a/b/c/d;p?q", "g.", "http://a/b/c/g." },
	{ "http://a/b/c/d;p?q", ".g", "http://a/b/c/.g" },
	{ "http://a/b/c/d;p?q", "g..", "http://a/b/c/g.." },
	{ "http://a/b/c/d;p?q", "..g", "http://a/b/c/..g" },
	{ "http://a/b/c/d;p?q", "./../g", "http://a/b/g" },
	{ "http://a/b/c/d;p?q", "./g/.", "http://a/b/c/g/" },
	{ "http://a/b/c/d;p?q", "g/./h", "http://a/b/c/g/h" },
	{ "http://a/b/c/d;p?q", "g/../h", "http://a/b/c/h" },
	{ "http://a/b/c/d;p?q", "g;x=1/./y", "http://a/b/c/g;x=1/y" },
	{ "http://a/b/c/d;p?q", "g;x=1/../y", "http://a/b/c/y" },
	{ "http://a/b/c/d;p?q", "g?y/./x", "http://a/b/c/g?y/./x" },
	{ "http://a/b/c/d;p?q", "g?y/../x", "http://a/b/c/g?y/../x" },
	{ "http://a/b/c/d;p?q", "g#s/./x", "http://a/b/c/g#s/./x" },
	{ "http://a/b/c/d;p?q", "g#s/../x", "http://a/b/c/g#s/../x" },
	{ "http://a/b/c/d;p?q", "http:g", "http:g" },
};

TEST(the_examples_of_section_5_4_resolve)
{
	check_resolutions(normal_examples, CLEAT_COUNT(normal_examples));
	check_resolutions(abnormal_examples, CLEAT_COUNT(abnormal_examples));
}

/* Sections 5.2.3, 5.2.4 and 6.2.2.1. */
TEST(a_result_is_in_normal_form)
{
	static const struct resolution cases[] = {
		{ "http://h", "a", "http://h/a" },
		{ "http://h?q", "a", "http://h/a" },
		{ "http://h?q", "", "http://h?q" },
		{ "http://h", "", "http://h" },
		{ "http://h/a#f", "", "http://h/a" },
		{ "http://h/a#f", "#", "http://h/a#" },
		{ "http://h/a?q", "?", "http://h/a?" },
		{ "HTTP://H.Example/A", "B", "http://h.example/B" },
		{ "http://h", "URN:Example:A", "urn:Example:A" },
		{ "http://User%c3@H%c3%a4X:80/%c3%A4?%c3#%ff", "#%af",
		  "http://User%C3@h%C3%A4x:80/%C3%A4?%C3#%AF" },
		{ "http://[2001:DB8::A]:80", "/", "http://[2001:db8::a]:80/" },
		{ "http://u:p@h:", "a", "http://u:p@h:/a" },
		{ "http://h/a/../b/./c", "?q", "http://h/b/c?q" },
		{ "http://h/a/../b", "", "http://h/b" },
		{ "http://h//a//b", "c", "http://h//a//c" },
		{ "http://h//a//b", "..", "http://h//a/" },
		{ "http://h/a//", "../b", "http://h/a/b" },
		{ "http://h/%2e%2E/a", "b", "http://h/%2E%2E/b" },
		{ "http://h/a", "//g/../b", "http://g/b" },
		{ "http://h/a", "//g?x", "http://g?x" },
		{ "http://h/a", "..b/.c./...", "http://h/..b/.c./..." },
		{ "http://h", "x:/a/../../b", "x:/b" },
		{ "file:///a/b", "../../../c", "file:///c" },
		{ "file:/a/b", "c", "file:/a/c" },
		/* Schemes without a hierarchy. 5.2.4 gives a path of its own for these. */
		{ "urn:a:b", "c", "urn:c" },
		{ "urn:a:b", "#c", "urn:a:b#c" },
		{ "urn:a:b", "c:d", "c:d" },
		{ "urn:a:b", "./c:d", "urn:c:d" },
		{ "urn:a/b", "../../c", "urn:/c" },
		{ "urn:a/b", "..", "urn:/" },
		{ "x:", "..", "x:" },
		{ "x:", "../././../a", "x:a" },
		/* What begins with "//" would be an authority. */
		{ "x:/a", ".//b", "x:/.//b" },
		{ "x:/a", "/.//b", "x:/.//b" },
		{ "x:/a/", "..//b", "x:/.//b" },
		{ "x:a", "b/..//c", "x:/.//c" },
		{ "x://h/a", ".//b", "x://h//b" },
	};

	check_resolutions(cases, CLEAT_COUNT(cases));
}

TEST(without_an_absolute_base_the_result_is_relative)
{
	static const struct resolution cases[] = {
		{ "", "", "" },
		{ "", "#f", "#f" },
		{ "", "?q", "?q" },
		{ "", "a", "a" },
		{ "", "A/%c3?q#f", "A/%C3?q#f" },
		{ "", "http://H/a/../b", "http://h/b" },
		{ "", "//H/a/../b", "//h/b" },
		{ "", "/a/../../b", "/b" },
		{ "#f", "a", "a" },
		{ "a/b", "c", "a/c" },
		{ "a/b", "#f", "a/b#f" },
		{ "a/b?q", "", "a/b?q" },
		{ "a/b", "../c", "c" },
		{ "a/b", "../../c", "../c" },
		{ "a/b", "../..", "../" },
		{ "a", "..", "../" },
		{ "", "..", "../" },
		{ "", "../..", "../../" },
		{ "", "../../a/../b", "../../b" },
		{ "../a", "../b", "../../b" },
		{ "/a/b", "c", "/a/c" },
		{ "//h", "a", "//h/a" },
		{ "//h/a", "//g", "//g" },
		{ "", "a//../b", "a/b" },
		{ "", "a/b/..", "a/" },
		/* An empty path would be the base itself, */
		{ "", ".", "./" },
		{ "", "a/..", "./" },
		{ "a/b", "..", "./" },
		{ "", "./.?q", "./?q" },
		/* a colon would make a scheme, */
		{ "", "./a:b", "./a:b" },
		{ "", "a/../b:c/d", "./b:c/d" },
		{ "", "../a:b", "../a:b" },
		{ "", "a/b:c", "a/b:c" },
		/* and slashes an absolute path or an authority. */
		{ "", ".//a", ".//a" },
		{ "", "a/..//b", ".//b" },
		{ "", ".///a", ".///a" },
		{ "", "/.//a", "/.//a" },
		{ "/a", ".//b", "/.//b" },
	};

	check_resolutions(cases, CLEAT_COUNT(cases));
}

/* Resolving twice from "" and then from the base is resolving once, as long as the base has an
 * authority: nothing that the base could change is lost on the way. */
TEST(tidying_a_reference_does_not_change_where_it_leads)
{
	static const char *const pieces[] = { "", ".", "..", "a", "b:c" };
	enum { PIECES = CLEAT_COUNT(pieces), DEPTH = 5, ALL = 5 * 5 * 5 * 5 * 5 };
	struct buf tidy, once, twice;

	buf_init(&tidy, NULL, 4096);
	buf_init(&once, NULL, 4096);
	buf_init(&twice, NULL, 4096);
	for (size_t n = 0; n < ALL; n++) {
		char ref[64] = "";
		struct str base = STR_LIT("http://h/x/y/z"), r;

		for (size_t i = 0, left = n; i < DEPTH; i++, left /= PIECES) {
			if (i)
				strcat(ref, "/");
			strcat(ref, pieces[left % PIECES]);
		}
		r = str_of(ref);
		buf_reset(&tidy, 4096);
		buf_reset(&once, 4096);
		buf_reset(&twice, 4096);
		if (!uri_resolve(&tidy, STR_LIT(""), r))
			continue;
		assert_true(uri_resolve(&once, base, r));
		assert_true(uri_resolve(&twice, base, buf_str(&tidy)));
		if (!str_eq(buf_str(&once), buf_str(&twice)))
			fail_msg("%s: %.*s, tidied %.*s", ref, STR_ARGS(buf_str(&once)),
				 STR_ARGS(buf_str(&twice)));
	}
	buf_done(&tidy);
	buf_done(&once);
	buf_done(&twice);
}

TEST(nothing_is_written_for_what_is_no_reference)
{
	const struct {
		struct str base, ref;
	} cases[] = {
		{ STR_LIT("http://h"), STR_LIT("a b") },
		{ STR_LIT("http://h"), STR_LIT("%") },
		{ STR_LIT("http://h"), STR_LIT("a\0b") },
		{ STR_LIT("http:// h"), STR_LIT("a") },
		{ STR_LIT("http:// h"), STR_LIT("x:a") },
		{ STR_LIT("//["), STR_LIT("") },
		{ STR_LIT("http://h"), STR_LIT("\xC3\xA4") },
	};
	struct buf b;

	buf_init(&b, NULL, 100);
	for (size_t i = 0; i < CLEAT_COUNT(cases); i++)
		assert_false(uri_resolve(&b, cases[i].base, cases[i].ref));
	assert_int_equal(buf_size(&b), 0);
	assert_int_equal(buf_status(&b), CLEAT_OK);
	buf_done(&b);
}

TEST(a_long_path_is_resolved_in_linear_time)
{
	enum { N = 200000 };
	char *text = malloc(3 * N + 2);
	struct buf b;

	assert_non_null(text);
	text[0] = '/';
	for (size_t i = 0; i < N; i++)
		memcpy(text + 1 + 3 * i, i < N / 2 ? "aa/" : "../", 3);
	buf_init(&b, NULL, 1 << 20);
	assert_true(uri_resolve(&b, STR_LIT("x://h"), (struct str){ text, 3 * N + 1 }));
	assert_true(str_eqz(buf_str(&b), "x://h/"));
	buf_reset(&b, 0);
	assert_true(uri_resolve(&b, STR_LIT(""), (struct str){ text + 1, 3 * N }));
	assert_true(str_eqz(buf_str(&b), "./"));
	buf_done(&b);
	free(text);
}

TEST(errors_of_the_buffer_latch)
{
	struct fail_alloc fa;
	struct buf b;

	buf_init(&b, NULL, 8);
	assert_true(uri_resolve(&b, STR_LIT("x:"), STR_LIT("aa")));
	assert_true(str_eqz(buf_str(&b), "x:aa"));
	assert_true(uri_resolve(&b, STR_LIT("x:"), STR_LIT("a")));
	assert_int_equal(buf_status(&b), CLEAT_ELIMIT);
	assert_true(str_eqz(buf_str(&b), "x:aa"));
	buf_done(&b);

	for (int forever = 0; forever < 2; forever++) {
		fail_alloc_init(&fa, 1, forever);
		buf_init(&b, &fa.hook, 100);
		assert_true(uri_resolve(&b, STR_LIT("x:"), STR_LIT("a")));
		assert_int_equal(buf_status(&b), CLEAT_ENOMEM);
		assert_int_equal(buf_size(&b), 0);
		assert_true(fail_alloc_hit(&fa));
		fa.forever = false;
		buf_reset(&b, 0);
		assert_true(uri_resolve(&b, STR_LIT("x:"), STR_LIT("a")));
		assert_true(str_eqz(buf_str(&b), "x:a"));
		buf_done(&b);
		assert_int_equal(fa.live, 0);
	}
}

/* ---- origins ------------------------------------------------------------------------------ */

/* RFC 6454 section 5 */
TEST(origins_are_scheme_host_and_port)
{
	static const struct {
		const char *a, *b;
		bool same;
	} rows[] = {
		{ "http://h/a", "HTTP://H:80/b?c#d", true },
		{ "https://h", "https://h:443/", true },
		{ "http://h:/", "http://h:080/", true },
		{ "http://[::1]:8080/", "http://[::1]:8080/x", true },
		{ "tcp://h:1", "tcp://h:1", true },
		{ "http://h/", "https://h/", false },
		{ "http://h/", "https://h:80/", false },
		{ "http://h/", "http://h.example/", false },
		{ "http://h:1/", "http://h:2/", false },
		{ "http://h:65536/", "http://h:65536/", false },
		{ "http://h:99999999999/", "http://h:99999999998/", false },
		{ "tcp://h", "tcp://h", false }, /* who knows its port? */
		{ "/a", "/a", false },
		{ "http://h/", "//h/", false },
		{ "http://h h/", "http://h h/", false },
	};

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++)
		if (uri_same_origin(str_of(rows[i].a), str_of(rows[i].b)) != rows[i].same ||
		    uri_same_origin(str_of(rows[i].b), str_of(rows[i].a)) != rows[i].same)
			fail_msg("%s %s", rows[i].a, rows[i].b);
}
