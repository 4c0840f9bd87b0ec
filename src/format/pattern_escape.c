/* format/pattern_escape.c - see pattern_impl.h: writing for PCRE2, names of groups, references, and
 * everything that begins with a backslash.
 */
#include "format/pattern_impl.h"

#include "uri/chars.h"

#include <stdio.h>

static bool is_letter(uint32_t c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool is_surrogate(uint32_t c)
{
	return c >= 0xD800 && c <= 0xDFFF;
}

/* ---- writing ------------------------------------------------------------------------------ */

void pattern_put(struct scan *s, const char *text)
{
	if (s->out)
		buf_appendz(s->out, text);
}

void pattern_put_literal(struct scan *s, uint32_t c)
{
	if (!s->out)
		return;
	if (c < 0x20 || c >= 0x7F) {
		buf_printf(s->out, "\\x{%x}", (unsigned)c);
		return;
	}
	if (!is_letter(c) && !is_digit((char)c) && c != '_')
		buf_putc(s->out, '\\');
	buf_putc(s->out, (char)c);
}

/* Opens the class when its first item comes: PCRE2 has no other way to write one without any. */
static void put_item(struct scan *s)
{
	if (s->in_class && !s->items)
		pattern_put(s, s->negated ? "[^" : "[");
	s->items = true;
}

/* Text is UTF-8, so lone surrogates are never met: they are cut off at both ends. */
void pattern_put_range(struct scan *s, uint32_t lo, uint32_t hi)
{
	if (is_surrogate(lo))
		lo = 0xE000;
	if (is_surrogate(hi))
		hi = 0xD7FF;
	if (lo > hi)
		return;
	put_item(s);
	pattern_put_literal(s, lo);
	if (lo == hi)
		return;
	pattern_put(s, "-");
	pattern_put_literal(s, hi);
}

/* Not `[]`, whose repetition PCRE2 10.42 gets wrong. */
void pattern_put_never(struct scan *s)
{
	pattern_put(s, "[^\\x{0}-\\x{10ffff}]");
}

static void put_set(struct scan *s, const char *ranges)
{
	if (s->in_class) {
		put_item(s);
		pattern_put(s, ranges);
		return;
	}
	pattern_put(s, "[");
	pattern_put(s, ranges);
	pattern_put(s, "]");
}

/* ---- names of groups ---------------------------------------------------------------------- */

static bool hex(struct str src, size_t *i, size_t digits, uint32_t *ret)
{
	uint32_t v = 0;

	if (src.n - *i < digits)
		return false;
	for (size_t k = 0; k < digits; k++) {
		int d = uri_hex_digit(src.p[*i + k]);

		if (d < 0)
			return false;
		v = v << 4 | (uint32_t)d;
	}
	*i += digits;
	*ret = v;
	return true;
}

/* Is there an escape of the second half of a pair? */
static bool low_surrogate(struct str src, size_t *i, uint32_t *ret)
{
	size_t k = *i + 2;

	if (src.n - *i < 6 || src.p[*i] != '\\' || src.p[*i + 1] != 'u' || !hex(src, &k, 4, ret) ||
	    *ret < 0xDC00 || *ret > 0xDFFF)
		return false;
	*i = k;
	return true;
}

/* Behind "\u". Two escapes that are the halves of a pair are one character. */
static bool unicode_escape(struct str src, size_t *i, uint32_t *ret)
{
	size_t k = *i;
	uint32_t c = 0, more;

	if (k < src.n && src.p[k] == '{') {
		for (k++; c <= 0x10FFFF && hex(src, &k, 1, &more);)
			c = c << 4 | more;
		if (c > 0x10FFFF || k >= src.n || src.p[k] != '}' || k == *i + 1)
			return false;
		k++;
	} else {
		if (!hex(src, &k, 4, &c))
			return false;
		if (c >= 0xD800 && c <= 0xDBFF && low_surrogate(src, &k, &more))
			c = 0x10000 + ((c - 0xD800) << 10) + (more - 0xDC00);
	}
	*i = k;
	*ret = c;
	return true;
}

static uint32_t name_char(struct str src, size_t *i)
{
	uint32_t c;

	if (src.p[*i] != '\\')
		return utf8_next(src, i);
	if (src.n - *i < 2 || src.p[*i + 1] != 'u')
		return UTF8_BAD;
	*i += 2;
	return unicode_escape(src, i, &c) && !is_surrogate(c) ? c : UTF8_BAD;
}

static bool same_name(struct str a, struct str b)
{
	size_t i = 0, k = 0;

	while (i < a.n && k < b.n)
		if (name_char(a, &i) != name_char(b, &k))
			return false;
	return i == a.n && k == b.n;
}

/* Its number, 0 when there is none. */
uint32_t pattern_named(const struct scan *s, struct str name)
{
	for (size_t i = 0; i < s->n_names; i++)
		if (same_name(s->names[i].name, name))
			return s->names[i].group;
	return 0;
}

/* Reads "name>". */
bool pattern_name(struct scan *s, struct str *ret)
{
	size_t from = s->at;

	while (s->at < s->src.n && s->src.p[s->at] != '>') {
		size_t at = s->at;
		uint32_t c = name_char(s->src, &s->at);
		bool first = at == from, digit = c < 0x80 && is_digit((char)c);

		if (c == UTF8_BAD ||
		    (c < 0x80 && !is_letter(c) && c != '$' && c != '_' && (first || !digit)))
			return pattern_bad(s, at, "not a character of a group's name");
	}
	*ret = (struct str){ s->src.p + from, s->at - from };
	if (!accept(s, '>'))
		return pattern_bad(s, s->src.n, "the name of the group does not end");
	return ret->n > 0 || pattern_bad(s, from, "the name of the group is empty");
}

/* ---- references --------------------------------------------------------------------------- */

static bool is_open(const struct scan *s, uint32_t group)
{
	for (size_t i = 0; i < s->depth; i++)
		if (s->stack[i].capture == group)
			return true;
	return false;
}

/* A reference to a group that has not ended yet, or is never entered, finds nothing captured, in
 * ECMA-262 also when both are repeated, and then matches the empty string. */
static void reference(struct scan *s, size_t from, uint32_t group)
{
	s->before = ATOM;
	if (s->behind) {
		pattern_cannot(s, CLEAT_EUNSUPPORTED, from,
			       "PCRE2 has no back reference in a lookbehind");
	} else if (group > MAX_REFERRED) {
		pattern_cannot(s, CLEAT_ELIMIT, from, "a reference beyond the first 1000 groups");
	} else if (group > s->opened || is_open(s, group) || s->number[group] == NEVER) {
		pattern_put(s, "(?:)");
	} else if (s->out) {
		buf_printf(s->out, "\\g{%u}", s->number[group]);
	} else {
		s->number[group] = 1; /* pattern.c counts when it writes */
	}
}

static bool named_reference(struct scan *s, size_t from)
{
	struct str name;
	uint32_t group;

	s->at++;
	if (!accept(s, '<'))
		return pattern_bad(s, from, "\\k without <name>");
	if (!pattern_name(s, &name))
		return false;
	group = pattern_named(s, name);
	if (!group)
		return pattern_bad(s, from, "no group has this name");
	reference(s, from, group);
	return true;
}

/* ---- escapes ------------------------------------------------------------------------------ */

/* Annex B: up to three digits, not over 377; 8 and 9 stand for themselves. */
static uint32_t octal(struct scan *s)
{
	uint32_t v = (uint32_t)(s->src.p[s->at++] - '0');
	size_t more = v <= 3 ? 2 : 1;

	if (v >= 8)
		return '0' + v;
	for (; more && peek(s, 0) >= '0' && peek(s, 0) <= '7'; more--)
		v = v * 8 + (uint32_t)(s->src.p[s->at++] - '0');
	return v;
}

static bool set_escape(struct scan *s, char c)
{
	switch (c) {
	case 'd': put_set(s, "0-9"); return true;
	case 'D': put_set(s, "\\x{0}-\\/\\:-\\x{10ffff}"); return true;
	case 'w': put_set(s, "0-9A-Z_a-z"); return true;
	case 'W': put_set(s, "\\x{0}-\\/\\:-\\@\\[-\\^\\`\\{-\\x{10ffff}"); return true;
	case 's':
		put_set(s,
			"\\t-\\r\\ \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}"
			"\\x{205f}\\x{3000}\\x{feff}");
		return true;
	case 'S':
		put_set(s,
			"\\x{0}-\\x{8}\\x{e}-\\x{1f}\\!-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}"
			"\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}"
			"\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}");
		return true;
	default: return false;
	}
}

/* At the p of \p{...}. */
static bool property(struct scan *s, size_t from)
{
	bool negated = s->src.p[s->at++] == 'P';
	struct str rest = { s->src.p + s->at, s->src.n - s->at };
	const char *end = rest.n ? memchr(rest.p, '}', rest.n) : NULL;
	char text[PROPERTY_SIZE] = "", what[80];
	struct str name;
	int rc;

	if (!end || rest.p[0] != '{')
		return pattern_bad(s, from, "\\p without {property}");
	name = (struct str){ rest.p + 1, (size_t)(end - rest.p) - 1 };
	s->at += name.n + 2;
	rc = pattern_property(name, negated, text);
	if (rc == CLEAT_EINVAL)
		return pattern_bad(s, from, "ECMA-262 has no such property");
	if (rc) {
		snprintf(what, sizeof what, "PCRE2 has no property %.*s", STR_ARGS(name));
		pattern_cannot(s, rc, from, what);
	}
	put_item(s);
	pattern_put(s, text);
	return true;
}

/* \c \0 \x \u, a syntax character, or what Annex B allows. */
static bool character_escape(struct scan *s, size_t from, uint32_t *ret)
{
	char c = s->src.p[s->at];

	if (c == '0' && !is_digit(peek(s, 1))) {
		s->at++;
		*ret = 0;
		return true;
	}
	if (is_digit(c)) {
		if (s->strict)
			return pattern_bad(
				s, from,
				"no group has this number, and there are no octal escapes");
		*ret = octal(s);
		return true;
	}
	if (!is_letter((unsigned char)c)) {
		if (s->strict && (c == '\0' || !strchr("^$\\.*+?()[]{}|/", c)) &&
		    !(c == '-' && s->in_class))
			return pattern_bad(s, from, "this character must not be escaped");
		*ret = utf8_next(s->src, &s->at);
		return true;
	}
	s->at++;
	if (c == 'c' && is_letter((unsigned char)peek(s, 0))) {
		*ret = s->src.p[s->at++] & 31;
		return true;
	}
	if (c == 'x' && hex(s->src, &s->at, 2, ret))
		return true;
	if (c == 'u' && unicode_escape(s->src, &s->at, ret))
		return true;
	return pattern_bad(s, from,
			   strchr("cxu", c) ? "incomplete escape"
					    : "this escape means nothing in ECMA-262");
}

/* Behind a backslash, in a class or outside. *ret is the character, or SET. */
bool pattern_escape(struct scan *s, size_t from, uint32_t *ret)
{
	static const char names[] = "fnrtv", values[] = "\f\n\r\t\v";
	const char *control;

	if (s->at == s->src.n)
		return pattern_bad(s, from, "there is nothing after the last backslash");
	*ret = SET;
	if (s->src.p[s->at] == 'p' || s->src.p[s->at] == 'P')
		return property(s, from);
	if (set_escape(s, s->src.p[s->at])) {
		s->at++;
		return true;
	}
	control = memchr(names, s->src.p[s->at], sizeof names - 1);
	if (!control)
		return character_escape(s, from, ret);
	*ret = (uint32_t)values[control - names];
	s->at++;
	return true;
}

/* Is it the number of a group? Numbers too large to be one are none. */
static bool is_group_number(const struct scan *s, size_t *digits, uint32_t *ret)
{
	uint32_t n = 0;
	size_t i = 0;

	for (; is_digit(peek(s, i)); i++)
		n = n > s->n_groups ? n : n * 10 + (uint32_t)(peek(s, i) - '0');
	*digits = i;
	*ret = n;
	return n <= s->n_groups;
}

bool pattern_escaped_term(struct scan *s)
{
	size_t from = s->at++, digits;
	char c = peek(s, 0);
	uint32_t value;

	if (c == 'b' || c == 'B') {
		s->at++;
		pattern_put(s, c == 'b' ? "\\b" : "\\B");
		s->before = NOTHING;
		return true;
	}
	if (c == 'k')
		return named_reference(s, from);
	if (c >= '1' && c <= '9' && is_group_number(s, &digits, &value)) {
		s->at += digits;
		reference(s, from, value);
		return true;
	}
	s->before = ATOM;
	if (!pattern_escape(s, from, &value))
		return false;
	if (is_surrogate(value))
		pattern_put_never(s);
	else if (value != SET)
		pattern_put_literal(s, value);
	return true;
}
