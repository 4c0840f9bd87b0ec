/* test_uri_match.c - URI templates backwards (rules: uri/template.h): rule by rule, against
 * a reference matcher, round trips, the bound of the work, short memory.
 */
#include "test.h"
#include "unit/uri/uri_support.h"

#include "support.h"
#include "json/writer.h"

#include <stdlib.h>

/* ---- helpers ------------------------------------------------------------------------------ */

/* "a=1|b=2" of the variables; "-" when there is no match. */
static const char *matched(struct arena *ar, const char *tmpl, struct str uri)
{
	const struct uri_template *t = must_compile(ar, tmpl);
	struct uri_vars vars;
	const char *text = "";

	if (!uri_template_match(t, uri, ar, &vars)) {
		assert_false(arena_failed(ar));
		assert_int_equal(vars.n, 0);
		return "-";
	}
	for (size_t i = 0; i < vars.n; i++) {
		assert_int_equal(vars.v[i].value.p[vars.v[i].value.n], '\0');
		text = arena_printf(ar, "%s%s%.*s=%s", text, i ? "|" : "", STR_ARGS(vars.v[i].name),
				    vars.v[i].value.p);
	}
	return text;
}

static void check_match(const char *tmpl, const char *uri, const char *expected)
{
	struct arena ar;
	const char *got;

	arena_init(&ar, NULL, 0);
	got = matched(&ar, tmpl, str_of(uri));
	if (strcmp(got, expected) != 0)
		fail_msg("%s on %s: \"%s\" instead of \"%s\"", tmpl, uri, got, expected);
	arena_done(&ar);
}

static uint32_t rnd(uint32_t *seed, uint32_t n)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (*seed >> 8) % n;
}

/* ---- matching ----------------------------------------------------------------------------- */

/* uri/template.h, rule by rule */
TEST(matching_follows_the_rules)
{
	static const char *const cases[][3] = {
		/* literals */
		{ "a://b", "a://b", "" },
		{ "a://b", "a://bc", "-" },
		{ "a://b", "a://", "-" },
		{ "", "", "" },
		{ "", "a", "-" },
		{ "{a}", "", "-" },
		{ "K\xC3\xB6ln/{x}", "K%C3%B6ln/1", "x=1" },
		{ "K%c3%b6ln/{x}", "K\xC3\xB6ln/1", "x=1" },
		{ "K%C3%B6ln/{x}", "K%c3%b6ln/1", "x=1" },
		{ "A{x}", "%41b", "-" },
		{ "caf%C3{x}", "caf%C3%A9", "-" }, /* a variable never begins within a character */
		{ "a{x}", "a%A9b", "-" },
		/* {v} */
		{ "city://{name}", "city://Oslo", "name=Oslo" },
		{ "city://{name}", "city://", "-" },
		{ "city://{name}", "city://a/b", "-" },
		{ "city://{name}", "city://a?b", "-" },
		{ "city://{name}", "city://a#b", "-" },
		{ "city://{name}", "city://a,b", "-" },
		{ "city://{name}", "city://a%2Fb%2C%3F%23", "name=a/b,?#" },
		{ "city://{name}", "city://R&D;x=y:z@!", "name=R&D;x=y:z@!" },
		{ "city://{name}", "city://S\xC3\xA3o Paulo", "name=S\xC3\xA3o Paulo" },
		{ "city://{name}", "city://S%C3%a3o+Paulo", "name=S\xC3\xA3o+Paulo" },
		{ "t://{id}/data", "t://123/data", "id=123" },
		{ "t://{id}/data", "t://123/dat", "-" },
		{ "t://{id}/data", "t:///data", "-" },
		{ "{a}.{b}", "x.y.z", "a=x.y|b=z" },
		{ "{a}{b}", "xyz", "a=xy|b=z" },
		{ "{a}{b}{c}", "xyz", "a=x|b=y|c=z" },
		{ "{a}{b}{c}", "xy", "-" },
		{ "{a}{b}", "%C3%A4%C3%B6", "a=\xC3\xA4|b=\xC3\xB6" },
		{ "{a,b}", "1,2", "a=1|b=2" },
		{ "{a,b}", "1", "-" },
		{ "x?a={a}&b={b}", "x?a=1&b=2", "a=1|b=2" },
		{ "x?a={a}", "x?a=1&c=2", "-" },
		{ "x?a={a*}", "x?a=1/2,3", "a=1/2,3" },
		{ "a{x}ab", "aabab", "x=ab" },
		{ "{a}aa{b}aa", "aaaaaaa", "a=aa|b=a" },
		/* {v*} */
		{ "f/{p*}", "f/a/b,c", "p=a/b,c" },
		{ "f/{p*}", "f//a/", "p=/a/" },
		{ "f/{p*}", "f/a?b", "-" },
		{ "f/{p*}", "f/", "-" },
		{ "f/{p*}/x", "f/a/x/x", "p=a/x" },
		/* {+v} */
		{ "f:///{+p}", "f:///a/b.txt", "p=a/b.txt" },
		{ "f:///{+p}", "f:///", "-" },
		{ "proxy:{+u}", "proxy:http://h/p?q=1#f", "u=http://h/p?q=1#f" },
		{ "{+a,b}", "1,2,3", "a=1,2|b=3" },
		{ "f/{+p}{?q}", "f/a/b?q=1", "p=a/b|q=1" },
		{ "f/{+p}{?q}", "f/a/b", "p=a/b" },
		{ "f/{+p}{?q}", "f/a/b?q=1#x", "-" },
		{ "f/{+p}{#s}", "f/a?b#c#d", "p=a?b|s=c#d" },
		{ "f/{+p}{;v}", "f/a;v=1", "p=a|v=1" },
		{ "f?u={+u}{&v}", "f?u=http://x/&v=1", "u=http://x/|v=1" },
		{ "{+p}/{n}", "a/b/c", "p=a/b|n=c" },
		{ "{n}/{+p}", "a/b/c", "n=a|p=b/c" },
		/* {/v} {.v} */
		{ "f{/a}", "f/x", "a=x" },
		{ "f{/a}", "f/", "-" },
		{ "f{/a}", "f", "-" },
		{ "f{/a}", "f/x/y", "-" },
		{ "f{/a,b}", "f/x/y", "a=x|b=y" },
		{ "f{/a*}", "f/x", "a=x" },
		{ "f{/a*}", "f/x/y,z/w", "a=x/y,z/w" },
		{ "f{/a*}", "f//x", "-" },
		{ "f{/a*}", "f/x//y", "-" },
		{ "f{/a*}", "f/x/", "-" },
		{ "f{/a*}", "f/", "-" },
		{ "f{/a*}", "f", "-" },
		{ "f{/a*}/end", "f/x/end/end", "a=x/end" },
		{ "f{/a*}{/b*}", "f/x/y/z", "a=x/y|b=z" },
		{ "f{/a*,b}", "f/x/y/z", "a=x/y|b=z" },
		{ "f{/a*}/{b}", "f/x/y//z", "-" },
		{ "f{.a}", "f.tar.gz", "a=tar.gz" },
		{ "{f}{.a}", "f.tar.gz", "f=f.tar|a=gz" },
		{ "f{.a,b}", "f.x.y.z", "a=x.y|b=z" },
		{ "f{.a*}", "f.x.y", "a=x.y" },
		{ "f{.a}", "f.", "-" },
		/* {;v} */
		{ "f{;a,b}", "f;a=1;b=2", "a=1|b=2" },
		{ "f{;a,b}", "f;b=2", "b=2" },
		{ "f{;a,b}", "f;b=2;a=1", "-" },
		{ "f{;a,b}", "f;a;b=", "a=|b=" },
		{ "f{;a,b}", "f", "" },
		{ "f{;a,ab}", "f;ab=2", "ab=2" },
		{ "f{;a}", "f;c=1", "-" },
		{ "f{;a}/g", "f;a=1,2/g", "a=1,2" },
		{ "{f}{;a}", "x;a=1", "f=x|a=1" },
		{ "f{;a*}", "f;a=1;a=2", "-" },
		/* {#v} */
		{ "f{#s}", "f#x/y?z", "s=x/y?z" },
		{ "f{#s}", "f#", "s=" },
		{ "f{#s}", "f", "" },
		{ "f{#s,t}", "f#1,2,3", "s=1,2|t=3" },
		{ "f{#s,t}", "f#1", "-" },
		{ "{f}{#s}", "f#x", "f=f|s=x" },
		/* {?v} {&v} */
		{ "s{?q,r}", "s", "" },
		{ "s{?q,r}", "s?", "" },
		{ "s{?q,r}", "s?q=1", "q=1" },
		{ "s{?q,r}", "s?r=2&q=1", "q=1|r=2" },
		{ "s{?q,r}", "s?x=y&r=2&&z", "r=2" },
		{ "s{?q}", "s?q=a=b/c?d,e", "q=a=b/c?d,e" },
		{ "s{?q}", "s?q=", "q=" },
		{ "s{?q}", "s?q", "q=" },
		{ "s{?q}", "s?=1", "" },
		{ "s{?q}", "s?qq=1&Q=2", "" },
		{ "s{?q}", "s?q=1&q=1", "-" },
		{ "s{?q*}", "s?q=1&x=0&q=%32", "q=1,2" },
		{ "s{?q}", "s?%71=1", "" },
		{ "s{?k%c3%b6}", "s?k%C3%B6=1", "k%c3%b6=1" },
		{ "s{?q}", "s?q=a%20b+c%26", "q=a b+c&" },
		{ "s{?q}", "s?q=1#f", "-" },
		{ "s{?q}{#f}", "s?q=1#f", "q=1|f=f" },
		{ "s{?q}{#f}", "s#f?q=1", "f=f?q=1" },
		{ "s{?q}#x", "s?q=1#x", "q=1" },
		{ "s{?q}{&r}", "s?r=1&q=2", "q=2|r=1" },
		{ "s?x=1{&r}", "s?x=1&r=2", "r=2" },
		{ "s?x=1{&r}", "s?x=1", "" },
		{ "s?x=1{&r}", "s?x=12&r=2", "-" },
		{ "s?x={x}{&r}", "s?x=1&r=2", "x=1|r=2" },
		{ "s", "s?q=1", "-" },
		{ "{s}{?q}", "s?q=1", "s=s|q=1" },
		{ "{s*}{?q}", "a/b?q=1", "s=a/b|q=1" },
		/* {v:n} */
		{ "{a:2}", "xy", "a=xy" },
		{ "{a:2}", "xyz", "-" },
		{ "{a:2}{b}", "xyz", "a=xy|b=z" },
		{ "{a:2}{b}", "%C3%A4%C3%B6%C3%BC", "a=\xC3\xA4\xC3\xB6|b=\xC3\xBC" },
		{ "s{?q:2}", "s?q=ab", "q=ab" },
		{ "s{?q:2}", "s?q=abc", "-" },
		{ "{#a:1}", "#", "a=" },
		{ "{#a:1}", "#xy", "-" },
		/* the same variable twice */
		{ "{a}/{a}", "x/x", "a=x" },
		{ "{a}/{a}", "x/y", "-" },
		{ "{a}/{a}", "%78/x", "a=x" },
		{ "{a:1}/{a}", "x/xyz", "a=xyz" },
		{ "{a:1}/{a}", "y/xyz", "-" },
		{ "{a:1}/{a}", "%C3%A4/%C3%A4z", "a=\xC3\xA4z" },
		{ "{a}/{a:2}", "x/x", "a=x" },
		{ "{a}/{a:2}", "xyz/x", "-" },
		{ "{a:2}/{a:1}", "xy/x", "a=xy" },
		{ "{a:1}/{a:2}", "x/xy", "a=xy" },
		{ "{a}{?a}", "x?a=x", "a=x" },
		{ "{a}{?a}", "x?a=y", "-" },
		{ "{a}{?a}", "x", "a=x" },
		/* escapes and decoded values */
		{ "{a}", "%", "-" },
		{ "{a}", "x%4", "-" },
		{ "{a}", "x%zz", "-" },
		{ "{a}{?q}", "x?y=%zz", "-" },
		{ "{a}", "%00", "-" },
		{ "{a}{?q}", "x?y=%00", "a=x" },
		{ "{a}{?q}", "x?q=%00", "-" },
		{ "{a}", "%FF", "-" },
		{ "{a}", "%C3", "-" },
		{ "{a}", "%ED%A0%80", "-" },
		{ "{a}", "%0A%7F", "a=\n\x7F" },
		{ "{a}", "%2525", "a=%25" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++)
		check_match(cases[i][0], cases[i][1], cases[i][2]);
}

ARENA_TEST(uris_with_nul_or_over_the_limit_do_not_match)
{
	char *uri;

	assert_string_equal(matched(ar, "{a}", (struct str){ "x\0y", 3 }), "-");
	uri = repeat(ar, "a", URI_MAX_LEN + 1);
	assert_string_equal(matched(ar, "{a}", (struct str){ uri, URI_MAX_LEN + 1 }), "-");
	assert_string_not_equal(matched(ar, "{a}", (struct str){ uri, URI_MAX_LEN }), "-");
	assert_string_equal(matched(ar, "", (struct str){ NULL, 0 }), "");
	/* the longest normal form: three bytes for each */
	uri = repeat(ar, "\xC3\xA4", URI_MAX_LEN / 2);
	assert_int_equal(strlen(matched(ar, "{a}", str_of(uri))), URI_MAX_LEN + 2);
}

/* ---- a second opinion --------------------------------------------------------------------- */

/* Plain backtracking over the atoms, exponential and obvious: what the table must agree with. */
static bool slow(const struct uri_template *t, size_t k, struct str s, size_t i, size_t *ends)
{
	const struct uri_atom *a = &t->atoms[k];

	if (k == t->n_atoms)
		return i == s.n;
	if (a->kind == ATOM_OPTIONAL)
		return slow(t, k + 1, s, i, ends) || slow(t, a->skip, s, i, ends);
	if (a->kind == ATOM_LITERAL)
		return s.n - i >= a->text.n && memcmp(s.p + i, a->text.p, a->text.n) == 0 &&
		       slow(t, k + 1, s, i + a->text.n, ends);
	for (size_t e = s.n + 1; e-- > i;) {
		bool fits = (e > i || a->empty) && (!a->max || e - i <= a->max);

		for (size_t j = i; j < e; j++) {
			static const char stops[] = "/?#,&;";
			const char *at = strchr(stops, s.p[j]);

			fits = fits && !(at && (a->stops >> (at - stops) & 1));
			fits = fits && !(a->segments && s.p[j] == '/' &&
					 (j == i || j + 1 == e || s.p[j - 1] == '/'));
		}
		ends[k] = e;
		if (fits && slow(t, k + 1, s, e, ends)) {
			ends[k] = e;
			return true;
		}
	}
	return false;
}

static const char *random_template(struct arena *ar, uint32_t *seed)
{
	static const char *const pieces[] = { "a",      "/",       "ab",    "{x}",    "{y}",
					      "{+z}",   "{/p*}",   "{w*}",  "{;s}",   "{.d}",
					      "{#f}",   "{?q}",    "{v:2}", "{/m,n}", ",",
					      "{+g,h}", "{/r*,t}", ";s",    "{u:1}b", "?",
					      "{&k}",   "#" };
	const char *text = "";
	uint32_t used = 0;

	for (uint32_t n = 1 + rnd(seed, 6); n > 0; n--) {
		uint32_t i = rnd(seed, CLEAT_COUNT(pieces));

		if (pieces[i][0] == '{' && (used >> i & 1)) /* no variable twice */
			continue;
		used |= 1u << i;
		text = arena_printf(ar, "%s%s", text, pieces[i]);
	}
	return text;
}

TEST(the_table_agrees_with_backtracking)
{
	static const char alphabet[] = "aab//,,;s=?#.&";
	size_t matches = 0;
	uint32_t seed = 7;
	struct arena ar;

	for (int round = 0; round < 60000; round++) {
		const struct uri_template *t;
		struct uri_vars vars;
		char uri[12];
		size_t ends[64] = { 0 }, n = rnd(&seed, sizeof uri);
		bool expected;

		arena_init(&ar, NULL, 0);
		t = must_compile(&ar, random_template(&ar, &seed));
		for (size_t i = 0; i < n; i++)
			uri[i] = alphabet[rnd(&seed, sizeof alphabet - 1)];
		expected = slow(t, 0, (struct str){ uri, n }, 0, ends);
		if (expected) /* a query that has a name twice is not a match: not the table's business */
			for (size_t i = 0; i < t->n_specs; i++)
				t->specs[i].explode = t->specs[i].explode || t->specs[i].query;
		if (uri_template_match(t, (struct str){ uri, n }, &ar, &vars) != expected)
			fail_msg("%s on %.*s", t->text.p, (int)n, uri);
		for (size_t k = 0, v = 0; expected && k < t->n_atoms && v < vars.n; k++) {
			const struct uri_atom *a = &t->atoms[k];

			if (a->kind != ATOM_RUN || t->specs[a->spec].query ||
			    !str_eq(t->specs[a->spec].name, vars.v[v].name))
				continue;
			if (vars.v[v].value.n && /* the value ends where backtracking ended it */
			    (vars.v[v].value.n > ends[k] ||
			     memcmp(uri + ends[k] - vars.v[v].value.n, vars.v[v].value.p,
				    vars.v[v].value.n) != 0))
				fail_msg("%s on %.*s: %s", t->text.p, (int)n, uri,
					 vars.v[v].value.p);
			v++;
		}
		matches += expected;
		arena_done(&ar);
	}
	assert_true(matches > 2000); /* the test must not be about refusals alone */
}

/* ---- round trip --------------------------------------------------------------------------- */

static void random_value(uint32_t *seed, struct jw *w)
{
	static const char *const bits[] = { "a",
					    "B",
					    "7",
					    "-",
					    "~",
					    "/",
					    "?",
					    "#",
					    ",",
					    "%",
					    "%41",
					    " ",
					    "&",
					    "=",
					    ";",
					    "+",
					    "{",
					    "}",
					    "\"",
					    "\\",
					    "\n",
					    "\x01",
					    "\xC3\xA4",
					    "\xE2\x82\xAC",
					    "\xF0\x9D\x84\x9E" };
	char text[64] = "";

	for (uint32_t n = 1 + rnd(seed, 8); n > 0; n--)
		strcat(text, bits[rnd(seed, CLEAT_COUNT(bits))]);
	jw_strz(w, text);
}

/* expand, match and expand again: the same values, the same URI. The templates are those where the
 * borders between variables are reserved characters, which values never show. */
TEST(expansion_and_match_are_inverse)
{
	static const char *const templates[] = {
		"x://{a}",          "x://{a}/{b}",         "{a}:{b}@{c}",       "x{/a,b}{?c,d}",
		"x://{a,b}{;c}",    "x{;a,b}/{c}{?d}",     "x{/a}{?b}{&c}#end", "x?a={a}&b={b}{&c}",
		"K\xC3\xB6ln/{a}/", "x%20y/{a}!{b}{;c,d}", "{a}/{b}/{c}{/d}",   "{?a,b,c,d}",
	};
	uint32_t seed = 42;

	for (int round = 0; round < 12000; round++) {
		const struct uri_template *t;
		struct buf vars, uri, again;
		struct uri_vars found;
		const cleat_json *v;
		struct arena ar;
		struct jw w;

		arena_init(&ar, NULL, 0);
		buf_init(&vars, NULL, 1 << 16);
		buf_init(&uri, NULL, 1 << 16);
		buf_init(&again, NULL, 1 << 16);
		t = must_compile(&ar, templates[rnd(&seed, CLEAT_COUNT(templates))]);
		jw_init(&w, &vars);
		jw_obj(&w);
		for (size_t i = 0; i < uri_template_var_count(t); i++) {
			jw_keyn(&w, uri_template_var_name(t, i));
			random_value(&seed, &w);
		}
		jw_obj_end(&w);
		assert_int_equal(json_parse(&ar, buf_str(&vars), NULL, &v, NULL), CLEAT_OK);
		assert_int_equal(uri_template_expand(t, v, &uri, NULL), CLEAT_OK);
		if (!uri_template_match(t, buf_str(&uri), &ar, &found))
			fail_msg("%s: %.*s", t->text.p, STR_ARGS(buf_str(&uri)));
		assert_int_equal(found.n, uri_template_var_count(t));
		buf_reset(&vars, SIZE_MAX);
		jw_init(&w, &vars);
		jw_obj(&w);
		for (size_t i = 0; i < found.n; i++) {
			assert_true(
				str_eq(json_str(json_get(v, found.v[i].name)), found.v[i].value));
			jw_keyn(&w, found.v[i].name);
			jw_str(&w, found.v[i].value);
		}
		jw_obj_end(&w);
		assert_int_equal(json_parse(&ar, buf_str(&vars), NULL, &v, NULL), CLEAT_OK);
		assert_int_equal(uri_template_expand(t, v, &again, NULL), CLEAT_OK);
		assert_true(str_eq(buf_str(&again), buf_str(&uri)));
		buf_done(&vars);
		buf_done(&uri);
		buf_done(&again);
		arena_done(&ar);
	}
}

/* ---- work --------------------------------------------------------------------------------- */

static size_t steps(struct arena *ar, const char *tmpl, const char *uri)
{
	struct uri_vars vars;
	size_t n = strlen(uri);

	uri_template_match(must_compile(ar, tmpl), (struct str){ uri, n }, ar, &vars);
	assert_false(arena_failed(ar));
	assert_true(vars.steps <= 8 * (strlen(tmpl) + 1) * (n + 1));
	return vars.steps;
}

/* CVE-2026-0621 (typescript-sdk): thousands of commas against {/id*} took exponential time. */
ARENA_TEST(work_is_bounded_by_template_times_uri)
{
	static const char *const units[] = { "{a}",   "{a}a",   "{+a}",   "{+a},", "{/a*}",
					     "{a*},", "{a:9}a", "{;a}",   "{#a}",  "{?a*}",
					     "{.a}",  "{a,b}",  "{/a*}/", "{&a}",  "{a}{b}" };
	static const char *const fillers[] = { "a",  ",",  "/",   "a,", "/a",
					       ";a", ".a", "&a=", "?",  "%41" };

	for (size_t u = 0; u < CLEAT_COUNT(units); u++)
		for (size_t f = 0; f < CLEAT_COUNT(fillers); f++) {
			char *uri;

			arena_reset(ar);
			uri = repeat(ar, fillers[f], URI_MAX_LEN / strlen(fillers[f]));
			steps(ar, units[u], uri);
			steps(ar, repeat(ar, units[u], 32), uri);
			uri[strlen(uri) - 1] = '!';
			steps(ar, arena_printf(ar, "%s~", repeat(ar, units[u], 32)), uri);
		}
	arena_reset(ar);
	assert_true(steps(ar, "/x{/id*}", arena_printf(ar, "/x/%s!", repeat(ar, ",", 8000))) <
		    10 * 8192);
	/* literals that nearly match everywhere: quadratic, no more */
	steps(ar, arena_printf(ar, "{+a}%s!{+b}", repeat(ar, "a", 4000)), repeat(ar, "a", 8192));
	/* most templates are dismissed by their first literal */
	assert_true(steps(ar, "file:///{+a}", repeat(ar, "a", 8192)) <= 1);
}

/* ---- short memory ------------------------------------------------------------------------- */

struct work {
	const char *tmpl;
	const char *uri;
	const cleat_json *vars;
};

/* Compile, expand and match with an allocator that fails at some point; what came out. */
static int all_of_it(const cleat_allocator *mem, const struct work *job, bool *ret_matched)
{
	const struct uri_template *t;
	struct uri_vars found;
	struct arena ar;
	struct buf out;
	int rc;

	*ret_matched = false;
	arena_init(&ar, mem, 0);
	buf_init(&out, mem, 1 << 16);
	rc = uri_template_compile(&ar, str_of(job->tmpl), &t, NULL);
	if (rc == CLEAT_OK)
		rc = uri_template_expand(t, job->vars, &out, NULL);
	if (rc == CLEAT_OK) {
		*ret_matched = uri_template_match(t, str_of(job->uri), &ar, &found);
		rc = arena_failed(&ar) ? CLEAT_ENOMEM : CLEAT_OK;
	}
	buf_done(&out);
	arena_done(&ar);
	return rc;
}

static size_t fail_one_by_one(const struct work *job, bool forever)
{
	for (size_t n = 1;; n++) {
		struct fail_alloc fa;
		bool found;
		int rc;

		fail_alloc_init(&fa, n, forever);
		rc = all_of_it(&fa.hook, job, &found);
		assert_int_equal(fa.live, 0);
		assert_int_equal(rc, fail_alloc_hit(&fa) ? CLEAT_ENOMEM : CLEAT_OK);
		assert_int_equal(found, !fail_alloc_hit(&fa));
		if (!fail_alloc_hit(&fa))
			return n;
	}
}

/* With little data, and with so much that each step needs memory of its own. */
ARENA_TEST(every_allocation_may_fail)
{
	struct work little = { .tmpl = "x://{a}{/b*}{;n}{?q,l*}{#f}",
			       .uri = "x://a%20b/c/d?q=1&l=2&l=3#f" };
	struct work much = { .tmpl = NULL }, wide = { .tmpl = "", .uri = "" };
	char *fill;

	fill = repeat(ar, "y", 1500);
	little.vars = much.vars =
		must_parse(ar, "{\"a\":\"1\",\"b\":[1,2],\"l\":{\"k\":true},\"f\":\"x\"}");
	much.tmpl = arena_printf(ar, "%s/{%s}/{a}/%s%s{?%s,q*}", fill, fill, fill, fill, "l");
	much.uri = arena_printf(ar, "%s/%.500s/%.900s/%s%s?q=%.800s&q=%.300s&l=%.700s", fill, fill,
				fill, fill, fill, fill, fill, fill);
	for (int i = 0; i < 60; i++) {
		wide.tmpl = arena_printf(ar, "%s{v%d_%.50s}/", wide.tmpl, i, fill);
		wide.uri = arena_printf(ar, "%s%.40s/", wide.uri, fill);
	}
	for (int forever = 0; forever < 2; forever++) {
		assert_true(fail_one_by_one(&wide, forever) > 4);
		assert_true(fail_one_by_one(&little, forever) > 4);
		assert_true(fail_one_by_one(&much, forever) > 10);
	}
}

/* The caller's arena may be the one that is full, at any of its allocations. */
TEST(a_full_arena_is_no_match)
{
	const struct uri_template *t;
	struct uri_vars found;
	struct arena keep, ar;
	size_t max = 0;
	char *uri;

	arena_init(&keep, NULL, 0);
	t = must_compile(&keep, "{a}/{b}/{c}{?d}");
	uri = repeat(&keep, "y", 8000);
	uri[2600] = uri[5200] = '/';
	memcpy(uri + 6500, "?d=", 3);
	for (bool ok = false; !ok; max += 512) {
		arena_init(&ar, NULL, max + 1);
		ok = uri_template_match(t, str_of(uri), &ar, &found);
		assert_int_equal(ok, !arena_failed(&ar));
		assert_int_equal(found.n, ok ? 4 : 0);
		arena_done(&ar);
	}
	assert_true(max > 8000);
	arena_done(&keep);
}

/* After a failure the arena can be reset and the same template, made elsewhere, matches again. */
TEST(a_match_that_failed_for_memory_can_be_repeated)
{
	const struct uri_template *t;
	struct arena keep, ar;
	struct uri_vars found;
	struct fail_alloc fa;

	arena_init(&keep, NULL, 0);
	t = must_compile(&keep, "{a}/{b}");
	fail_alloc_init(&fa, 1, false);
	arena_init(&ar, &fa.hook, 0);
	assert_false(uri_template_match(t, STR_LIT("x/y"), &ar, &found));
	assert_true(arena_failed(&ar));
	assert_int_equal(found.n, 0);
	arena_reset(&ar);
	assert_true(uri_template_match(t, STR_LIT("x/y"), &ar, &found));
	assert_int_equal(found.n, 2);
	arena_done(&ar);
	arena_done(&keep);
	assert_int_equal(fa.live, 0);
}
