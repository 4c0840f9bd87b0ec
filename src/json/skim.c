/* json/skim.c - see skim.h. Strings are jumped over with memchr(): that is most of a large message. */
#include "json/skim.h"

enum { MATCHED = 1024, WHOLE_MAX = 18 };

static void skim_fail(struct skim *s)
{
	s->bad = true;
	s->p = s->end;
}

/* The next character that counts; 0 at the end. */
static inline char peek(struct skim *s)
{
	while (s->p < s->end && (*s->p == ' ' || *s->p == '\n' || *s->p == '\r' || *s->p == '\t'))
		s->p++;
	return s->p < s->end ? *s->p : '\0';
}

static inline bool eat(struct skim *s, char what)
{
	if (peek(s) != what || s->p == s->end)
		return false;
	s->p++;
	return true;
}

/* ---- values ----------------------------------------------------------------------------------- */

/* A quote ends a string unless an odd number of backslashes comes before it. */
static bool is_escaped(const char *start, const char *quote)
{
	const char *p = quote;

	while (p > start && p[-1] == '\\')
		p--;
	return (quote - p) % 2;
}

/* At its first quote. What is between the quotes, as it is. */
static struct str string(struct skim *s)
{
	const char *start = ++s->p, *quote;

	for (const char *from = start; from < s->end; from = quote + 1) {
		quote = memchr(from, '"', (size_t)(s->end - from));
		if (!quote)
			break;
		if (!is_escaped(from, quote)) {
			s->p = quote + 1;
			return (struct str){ start, (size_t)(quote - start) };
		}
	}
	skim_fail(s);
	return (struct str){ NULL, 0 };
}

/* At its bracket. */
static void skip_container(struct skim *s)
{
	char open[MATCHED];
	size_t depth = 0;

	while (s->p < s->end) {
		char c = *s->p;

		if (c == '"') {
			string(s);
			continue;
		}
		s->p++;
		if (c == '{' || c == '[') {
			if (depth < MATCHED)
				open[depth] = c;
			depth++;
		} else if (c == '}' || c == ']') {
			depth--;
			if (depth < MATCHED && open[depth] != (c == '}' ? '{' : '['))
				break;
			if (depth == 0)
				return;
		}
	}
	skim_fail(s);
}

static void skip_scalar(struct skim *s)
{
	const char *start = s->p;

	while (s->p < s->end && !memchr(",]} \n\r\t:\"{[", *s->p, 12))
		s->p++;
	if (s->p == start)
		skim_fail(s);
}

struct str skim_value(struct skim *s)
{
	char first = peek(s);
	const char *start = s->p;

	if (first == '"')
		string(s);
	else if (first == '{' || first == '[')
		skip_container(s);
	else
		skip_scalar(s);
	return s->bad ? (struct str){ NULL, 0 } : (struct str){ start, (size_t)(s->p - start) };
}

/* ---- members ---------------------------------------------------------------------------------- */

bool skim_enter(struct skim *s, char bracket)
{
	s->fresh = eat(s, bracket);
	return s->fresh;
}

/* Is there another one before the closing bracket? */
static inline bool go_on(struct skim *s, char bracket)
{
	bool first = s->fresh;

	s->fresh = false;
	if (eat(s, bracket))
		return false;
	if (!first && !eat(s, ','))
		skim_fail(s);
	return !s->bad;
}

bool skim_member(struct skim *s, struct str *key)
{
	if (!go_on(s, '}'))
		return false;
	if (peek(s) != '"') {
		skim_fail(s);
		return false;
	}
	*key = string(s);
	if (!eat(s, ':'))
		skim_fail(s);
	return !s->bad;
}

bool skim_element(struct skim *s)
{
	return go_on(s, ']');
}

bool skim_is_over(struct skim *s)
{
	peek(s);
	return !s->bad && s->p == s->end;
}

/* ---- what values are -------------------------------------------------------------------------- */

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The escape at *at, which moves past it; -1 for one that is not a character of a word. */
static int unescape(struct str s, size_t *at)
{
	size_t i = *at + 1;
	int v = 0;

	if (i < s.n && s.p[i] == '/') {
		*at = i + 1;
		return '/';
	}
	if (s.n - *at < 6 || s.p[i] != 'u')
		return -1;
	for (*at += 6, i++; i < *at; i++) {
		if (hex(s.p[i]) < 0)
			return -1;
		v = v * 16 + hex(s.p[i]);
	}
	return v;
}

bool skim_is(struct str quoted, const char *word)
{
	size_t n = strlen(word), at = 0;

	if (quoted.n == n)
		return memcmp(quoted.p, word, n) == 0;
	if (quoted.n < n)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (at >= quoted.n ||
		    (quoted.p[at] == '\\' ? unescape(quoted, &at) : quoted.p[at++]) != word[i])
			return false;
	}
	return at == quoted.n;
}

bool skim_is_text(struct str value, const char *word)
{
	return value.n >= 2 && value.p[0] == '"' &&
	       skim_is((struct str){ value.p + 1, value.n - 2 }, word);
}

bool skim_whole(struct str value, int64_t *ret)
{
	bool minus = value.n && value.p[0] == '-';
	int64_t v = 0;

	if (value.n == (size_t)minus || value.n > WHOLE_MAX)
		return false;
	for (size_t i = minus; i < value.n; i++) {
		if (value.p[i] < '0' || value.p[i] > '9')
			return false;
		v = v * 10 + (value.p[i] - '0');
	}
	*ret = minus ? -v : v;
	return true;
}

struct str skim_find(struct str text, const char *key)
{
	struct skim s = skim_text(text);
	struct str is, value = { NULL, 0 };
	bool found = false;

	if (skim_enter(&s, '{'))
		while (!found && skim_member(&s, &is)) {
			value = skim_value(&s);
			found = skim_is(is, key);
		}
	return found ? value : (struct str){ NULL, 0 };
}
