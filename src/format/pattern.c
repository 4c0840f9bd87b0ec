/* format/pattern.c - see pattern.h.
 *
 * One pass over the source reads ECMA-262's grammar term by term and writes the same for PCRE2.
 * Groups are kept on a stack, so nothing recurses. It is made twice: the first time without output,
 * to check and to learn which groups are referred to; the others need not capture, which makes
 * PCRE2's backtracking points smaller.
 *
 * Invariant: what is written is plain ASCII, every character in it that could mean something to
 * PCRE2 was put there on purpose, and PCRE2 never finds a syntax error in it.
 */
#include "format/pattern_impl.h"

#include "base/error.h"

#define MAX_REPEAT 65535 /* PCRE2's */
#define UNBOUNDED  UINT32_MAX

static size_t column(const struct scan *s, size_t at)
{
	return utf8_length((struct str){ s->src.p, at }) + 1;
}

bool pattern_fail(struct scan *s, int status, size_t at, const char *what)
{
	s->status = error_set(s->err, status, "column %zu: %s", column(s, at), what);
	return false;
}

bool pattern_bad(struct scan *s, size_t at, const char *what)
{
	return pattern_fail(s, CLEAT_EINVAL, at, what);
}

/* Correct, so reading goes on: there may be a mistake later. */
void pattern_cannot(struct scan *s, int status, size_t at, const char *what)
{
	if (!s->status)
		pattern_fail(s, status, at, what);
}

/* ---- before the first pass: how many groups there are, and what they are called ----------- */

static bool survey_group(struct scan *s, size_t at)
{
	struct str rest = { s->src.p + at, s->src.n - at }, name;

	if (!str_starts(rest, "(?")) {
		s->n_groups++;
		return true;
	}
	if (!str_starts(rest, "(?<") || str_starts(rest, "(?<=") || str_starts(rest, "(?<!"))
		return true;
	s->n_groups++;
	s->at = at + 3;
	if (!pattern_name(s, &name))
		return false;
	if (pattern_named(s, name))
		return pattern_bad(s, at, "another group has this name");
	if (s->n_names == MAX_NAMES)
		return pattern_fail(s, CLEAT_ELIMIT, at, "more than 200 groups with names");
	s->names[s->n_names].name = name;
	s->names[s->n_names++].group = s->n_groups;
	return true;
}

static bool survey(struct scan *s)
{
	bool in_class = false;

	for (size_t i = 0; i < s->src.n; i++)
		switch (s->src.p[i]) {
		case '\\': i++; break;
		case '[': in_class = true; break;
		case ']': in_class = false; break;
		case '(':
			if (!in_class && !survey_group(s, i))
				return false;
			break;
		default: break;
		}
	return true;
}

/* ---- classes ------------------------------------------------------------------------------ */

static bool class_atom(struct scan *s, uint32_t *ret)
{
	size_t from = s->at;

	if (!accept(s, '\\')) {
		*ret = utf8_next(s->src, &s->at);
		return true;
	}
	if (accept(s, 'b')) {
		*ret = '\b';
		return true;
	}
	return pattern_escape(s, from, ret);
}

static bool class_range(struct scan *s, size_t from, uint32_t lo, uint32_t hi)
{
	if (lo != SET && hi != SET) {
		if (lo > hi)
			return pattern_bad(s, from, "the range is out of order");
		pattern_put_range(s, lo, hi);
		return true;
	}
	if (s->strict)
		return pattern_bad(s, from, "a range needs a character at both ends");
	if (lo != SET)
		pattern_put_range(s, lo, lo);
	pattern_put_range(s, '-', '-');
	if (hi != SET)
		pattern_put_range(s, hi, hi);
	return true;
}

static bool class_items(struct scan *s)
{
	size_t start = s->at;

	while (!accept(s, ']')) {
		size_t from = s->at;
		uint32_t lo, hi;

		if (s->at == s->src.n)
			return pattern_bad(s, start, "the class does not end");
		if (!class_atom(s, &lo))
			return false;
		if (peek(s, 0) == '-' && s->at + 1 < s->src.n && peek(s, 1) != ']') {
			s->at++;
			if (!class_atom(s, &hi) || !class_range(s, from, lo, hi))
				return false;
		} else if (lo != SET) {
			pattern_put_range(s, lo, lo);
		}
	}
	return true;
}

static bool class(struct scan *s)
{
	s->at++;
	s->in_class = true;
	s->negated = accept(s, '^');
	s->items = false;
	if (!class_items(s))
		return false;
	s->in_class = false;
	if (s->items)
		pattern_put(s, "]");
	else if (s->negated)
		pattern_put(s, "[^]");
	else
		pattern_put_never(s);
	s->before = ATOM;
	return true;
}

/* ---- groups and quantifiers --------------------------------------------------------------- */

static struct place place(const struct scan *s)
{
	bool sound = s->out && buf_status(s->out) == CLEAT_OK; /* truncating would mend it */

	return (struct place){ sound ? buf_size(s->out) : SIZE_MAX, s->opened };
}

/* At "(": what it begins. */
static bool group_begin(struct scan *s, struct level *l)
{
	static const struct {
		const char *text;
		enum kind kind;
	} marks[] = { { "(?:", GROUP_PLAIN },
		      { "(?=", GROUP_AHEAD },
		      { "(?!", GROUP_AHEAD },
		      { "(?<=", GROUP_BEHIND },
		      { "(?<!", GROUP_BEHIND } };
	struct str rest = { s->src.p + s->at, s->src.n - s->at }, name;
	size_t from = s->at;

	for (size_t i = 0; i < CLEAT_COUNT(marks); i++)
		if (str_starts(rest, marks[i].text)) {
			pattern_put(s, marks[i].text);
			s->at += strlen(marks[i].text);
			*l = (struct level){ .kind = marks[i].kind };
			return true;
		}
	*l = (struct level){ .capture = ++s->opened };
	if (s->opened <= MAX_REFERRED && s->number[s->opened] && s->number[s->opened] != NEVER) {
		s->number[s->opened] = ++s->kept;
		pattern_put(s, "(");
	} else {
		pattern_put(s, "(?:");
	}
	s->at++;
	if (!str_starts(rest, "(?"))
		return true;
	s->at += 2;
	if (!str_starts(rest, "(?<"))
		return pattern_bad(s, from, "ECMA-262 has no such group");
	return pattern_name(s, &name);
}

static bool group_open(struct scan *s)
{
	struct level *l = &s->stack[s->depth];
	const struct place from = place(s);

	if (s->depth == MAX_DEPTH)
		return pattern_fail(s, CLEAT_ELIMIT, s->at, "groups nest deeper than 200");
	if (!group_begin(s, l))
		return false;
	s->depth++;
	l->from = from;
	s->looks |= l->kind != GROUP_PLAIN;
	s->behind += l->kind == GROUP_BEHIND;
	s->before = NOTHING;
	return true;
}

static bool group_close(struct scan *s)
{
	static const enum before before[] = {
		[GROUP_PLAIN] = ATOM, [GROUP_AHEAD] = LOOKAHEAD, [GROUP_BEHIND] = NOTHING
	};
	const struct level *l;

	if (s->depth == 0)
		return pattern_bad(s, s->at, "no group is open");
	l = &s->stack[--s->depth];
	s->behind -= l->kind == GROUP_BEHIND;
	s->before = before[l->kind];
	s->last = l->from;
	s->at++;
	pattern_put(s, ")");
	return true;
}

static bool number(struct scan *s, uint32_t *ret)
{
	uint32_t n = 0;

	if (!is_digit(peek(s, 0)))
		return false;
	for (; is_digit(peek(s, 0)); s->at++)
		n = n > UNBOUNDED / 16 ? UNBOUNDED - 1 : n * 10 + (uint32_t)(peek(s, 0) - '0');
	*ret = n;
	return true;
}

/* {n} {n,} {n,m}; leaves s->at alone when it is none of them. */
static bool braces(struct scan *s, uint32_t *min, uint32_t *max)
{
	size_t from = s->at++;

	if (number(s, min)) {
		*max = *min;
		if (accept(s, ',') && !number(s, max))
			*max = UNBOUNDED;
		if (accept(s, '}'))
			return true;
	}
	s->at = from;
	return false;
}

static void put_braces(struct scan *s, size_t from, uint32_t min, uint32_t max)
{
	if (min > MAX_REPEAT || (max > MAX_REPEAT && max != UNBOUNDED))
		pattern_cannot(s, CLEAT_ELIMIT, from, "repeated more than 65535 times");
	else if (s->out && max == UNBOUNDED)
		buf_printf(s->out, "{%u,}", (unsigned)min);
	else if (s->out)
		buf_printf(s->out, "{%u,%u}", (unsigned)min, (unsigned)max);
}

/* What is repeated zero times is not written: PCRE2 10.42 takes (^|a){0}b for anchored. */
static void forget(struct scan *s)
{
	if (s->out && s->last.out != SIZE_MAX)
		buf_truncate(s->out, s->last.out);
	for (uint32_t i = s->last.opened + 1; i <= s->opened && i <= MAX_REFERRED; i++)
		s->number[i] = NEVER;
}

static bool literal(struct scan *s)
{
	char c = s->src.p[s->at];

	if (s->strict && (c == ']' || c == '}'))
		return pattern_bad(s, s->at, c == ']' ? "] without [" : "} without {");
	pattern_put_literal(s, utf8_next(s->src, &s->at));
	s->before = ATOM;
	return true;
}

static bool quantifier(struct scan *s)
{
	const char simple[] = { s->src.p[s->at], '\0' };
	size_t from = s->at;
	uint32_t min = 0, max = 0;

	if (simple[0] != '{') {
		s->at++;
	} else if (!braces(s, &min, &max)) {
		if (s->strict)
			return pattern_bad(s, from, "{ begins no repeat");
		s->last = place(s);
		return literal(s);
	}
	if (s->before == NOTHING)
		return pattern_bad(s, from, "nothing that could be repeated");
	if (s->before == LOOKAHEAD && s->strict)
		return pattern_bad(s, from, "a lookahead cannot be repeated");
	if (min > max)
		return pattern_bad(s, from, "the numbers of the repeat are out of order");
	if (simple[0] == '{' && max == 0)
		forget(s);
	else if (simple[0] == '{')
		put_braces(s, from, min, max);
	else
		pattern_put(s, simple);
	if (accept(s, '?') && (simple[0] != '{' || max > 0))
		pattern_put(s, "?");
	s->before = NOTHING;
	return true;
}

/* ---- all ---------------------------------------------------------------------------------- */

static bool mark(struct scan *s, const char *text)
{
	s->at++;
	pattern_put(s, text);
	s->before = NOTHING;
	return true;
}

static bool term(struct scan *s)
{
	char c = s->src.p[s->at];

	if (!strchr("*+?{)", c) || c == '\0')
		s->last = place(s);
	switch (c) {
	case '|': return mark(s, "|");
	case '^': return mark(s, "^");
	case '$': return mark(s, "$");
	case '(': return group_open(s);
	case ')': return group_close(s);
	case '[': return class(s);
	case '*':
	case '+':
	case '?':
	case '{': return quantifier(s);
	case '\\': return pattern_escaped_term(s);
	case '.':
		mark(s, "[^\\n\\r\\x{2028}\\x{2029}]");
		s->before = ATOM;
		return true;
	default: return literal(s);
	}
}

static bool pass(struct scan *s, struct buf *out)
{
	s->at = 0;
	s->before = NOTHING;
	s->opened = 0;
	s->kept = 0;
	s->out = out;
	while (s->at < s->src.n)
		if (!term(s))
			return false;
	return s->depth == 0 || pattern_bad(s, s->src.n, "a group does not end");
}

/* Everything but the writing. s->status may still say that a correct pattern is not available. */
static bool pattern_check(struct scan *s, struct str source, bool strict, cleat_error *err)
{
	size_t valid = utf8_valid_prefix(source);

	memset(s, 0, sizeof *s);
	s->src = source;
	s->strict = strict;
	s->err = err;
	if (source.n > REGEX_MAX_PATTERN) {
		s->status = error_set(err, CLEAT_ELIMIT, "longer than %d bytes", REGEX_MAX_PATTERN);
		return false;
	}
	if (valid != source.n)
		return pattern_bad(s, valid, "not UTF-8");
	return survey(s) && pass(s, NULL);
}

bool pattern_is_valid(struct str source)
{
	struct scan s;

	return pattern_check(&s, source, true, NULL);
}

int pattern_translate(struct str source, bool strict, struct buf *out, cleat_error *err)
{
	struct scan s;

	if (pattern_check(&s, source, strict, err) && !s.status) {
		/* PCRE2 10.42 wants two of them for (?=a)b?a. */
		if (s.looks)
			buf_appendz(out, "(*NO_START_OPT)");
		pass(&s, out);
	}
	if (!s.status && buf_status(out))
		s.status = error_set(err, buf_status(out), "no room for the pattern");
	return s.status;
}

int pattern_compile(const cleat_allocator *mem, struct str source, struct regex **ret,
		    cleat_error *err)
{
	cleat_error own, *e = err ? err : &own;
	struct buf text;
	int rc;

	*ret = NULL;
	buf_init(&text, mem, REGEX_MAX_PATTERN);
	rc = pattern_translate(source, false, &text, e);
	if (rc == CLEAT_OK) {
		rc = regex_compile(mem, buf_str(&text), REGEX_ECMA, ret, e);
		/* What was written is correct, so it is beyond PCRE2. Its offset is of no use. */
		if (rc == CLEAT_EINVAL)
			rc = error_set(e, CLEAT_EUNSUPPORTED, "PCRE2 cannot do this: %s",
				       strchr(e->message, ':') + 2);
	}
	buf_done(&text);
	return rc;
}
