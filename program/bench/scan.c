/* program/bench/scan.c - see scan.h. */
#include "bench/scan.h"

#include <string.h>

/* What is left of the text. `bad` once something is not where it must be: then p is at the end. */
struct cursor {
	const char *p, *end;
	bool bad;
};

struct slice {
	const char *p;
	size_t n;
};

static void scan_fail(struct cursor *c)
{
	c->bad = true;
	c->p = c->end;
}

static void blanks(struct cursor *c)
{
	while (c->p < c->end && (*c->p == ' ' || *c->p == '\n' || *c->p == '\r' || *c->p == '\t'))
		c->p++;
}

/* The next character that counts; 0 at the end. */
static char peek(struct cursor *c)
{
	blanks(c);
	return c->p < c->end ? *c->p : '\0';
}

static bool eat(struct cursor *c, char what)
{
	if (peek(c) != what || c->p == c->end)
		return false;
	c->p++;
	return true;
}

/* A quote ends a string unless an odd number of backslashes stands before it. */
static bool escaped(const char *start, const char *quote)
{
	const char *p = quote;

	while (p > start && p[-1] == '\\')
		p--;
	return (quote - p) % 2;
}

/* At its first quote. What is between the quotes, as it stands. */
static struct slice string(struct cursor *c)
{
	const char *start = ++c->p, *quote;

	for (const char *from = start; from < c->end; from = quote + 1) {
		quote = memchr(from, '"', (size_t)(c->end - from));
		if (!quote)
			break;
		if (!escaped(from, quote)) {
			c->p = quote + 1;
			return (struct slice){ start, (size_t)(quote - start) };
		}
	}
	scan_fail(c);
	return (struct slice){ NULL, 0 };
}

static void skip_container(struct cursor *c)
{
	size_t depth = 0;

	do {
		char ch = c->p < c->end ? *c->p : '\0';

		if (c->p == c->end) {
			scan_fail(c);
			return;
		}
		if (ch == '"') {
			string(c);
			continue;
		}
		if (ch == '{' || ch == '[')
			depth++;
		else if (ch == '}' || ch == ']')
			depth--;
		c->p++;
	} while (depth && !c->bad);
}

static struct slice scalar(struct cursor *c)
{
	const char *start = c->p;

	while (c->p < c->end && !memchr(",]} \n\r\t:\"{[", *c->p, 12))
		c->p++;
	if (c->p == start)
		scan_fail(c);
	return (struct slice){ start, (size_t)(c->p - start) };
}

static struct slice skip_value(struct cursor *c)
{
	char first = peek(c);
	const char *start = c->p;

	if (first == '"')
		string(c);
	else if (first == '{' || first == '[')
		skip_container(c);
	else
		return scalar(c);
	return (struct slice){ start, (size_t)(c->p - start) };
}

/* ---- members ---------------------------------------------------------------------------------- */

/* The key of the next member, its value being next; false behind the last. `first` is the caller's,
 * true before the first. */
static bool next_member(struct cursor *c, bool *first, struct slice *key)
{
	if (eat(c, '}'))
		return false;
	if (!*first && !eat(c, ',')) {
		scan_fail(c);
		return false;
	}
	*first = false;
	if (peek(c) != '"') {
		scan_fail(c);
		return false;
	}
	*key = string(c);
	if (!eat(c, ':'))
		scan_fail(c);
	return !c->bad;
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* An escape \uXXXX; -1 for any other. */
static int unescape(struct slice s, size_t at)
{
	int v = 0;

	if (s.n - at < 6 || s.p[at + 1] != 'u')
		return -1;
	for (size_t i = at + 2; i < at + 6; i++) {
		if (hex(s.p[i]) < 0)
			return -1;
		v = v * 16 + hex(s.p[i]);
	}
	return v;
}

/* Is a string this word? Letters may be written as \u0069. */
static bool is(struct slice s, const char *word)
{
	size_t n = strlen(word), at = 0;

	if (s.n == n)
		return memcmp(s.p, word, n) == 0;
	for (size_t i = 0; i < n; i++) {
		bool escape = at < s.n && s.p[at] == '\\';

		if (at >= s.n || (escape ? unescape(s, at) : s.p[at]) != word[i])
			return false;
		at += escape ? 6 : 1;
	}
	return at == s.n;
}

static bool is_text(struct slice value, const char *word)
{
	return value.n >= 2 && value.p[0] == '"' &&
	       is((struct slice){ value.p + 1, value.n - 2 }, word);
}

/* A whole number without fraction and exponent. */
static bool whole(struct slice s, int64_t *ret)
{
	bool minus = s.n && s.p[0] == '-';
	int64_t v = 0;

	if (s.n == (size_t)minus || s.n > 18)
		return false;
	for (size_t i = minus; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
		v = v * 10 + (s.p[i] - '0');
	}
	*ret = minus ? -v : v;
	return true;
}

/* ---- messages --------------------------------------------------------------------------------- */

static void look_into_result(struct cursor *c, struct scan *ret)
{
	struct slice key, value;
	bool first = true;

	ret->kind = SCAN_RESULT;
	if (!eat(c, '{')) {
		skip_value(c);
		return;
	}
	while (next_member(c, &first, &key)) {
		value = skip_value(c);
		if (is(key, "isError") && value.n == 4 && memcmp(value.p, "true", 4) == 0)
			ret->kind = SCAN_TOOL_ERROR;
		else if (is(key, "resultType") && is_text(value, "input_required"))
			ret->kind = SCAN_ASKS;
	}
}

static void look_into_error(struct cursor *c, struct scan *ret)
{
	struct slice key, value;
	bool first = true;

	ret->kind = SCAN_ERROR;
	if (!eat(c, '{')) {
		skip_value(c);
		return;
	}
	while (next_member(c, &first, &key)) {
		value = skip_value(c);
		if (is(key, "code"))
			whole(value, &ret->code);
	}
}

static void look_at_id(struct slice value, const char *text, struct scan *ret)
{
	int64_t id;

	ret->id_at = (size_t)(value.p - text);
	ret->id_n = value.n;
	if (whole(value, &id) && id >= 0) {
		ret->has_id = true;
		ret->id = (uint64_t)id;
	}
}

void scan_message(const char *text, size_t n, struct scan *ret)
{
	struct cursor c = { text, text + n, false };
	struct slice key, value;
	bool first = true;

	memset(ret, 0, sizeof *ret);
	if (!eat(&c, '{'))
		return;
	while (next_member(&c, &first, &key)) {
		if (is(key, "result")) {
			look_into_result(&c, ret);
		} else if (is(key, "error")) {
			look_into_error(&c, ret);
		} else {
			value = skip_value(&c);
			if (c.bad)
				break;
			if (is(key, "id")) {
				look_at_id(value, text, ret);
			} else if (is(key, "method") && value.p[0] == '"') {
				ret->method = value.p + 1;
				ret->method_n = value.n - 2;
			}
		}
	}
	if (ret->method)
		ret->kind = ret->id_n ? SCAN_REQUEST : SCAN_NOTICE;
	if (c.bad || peek(&c) || c.p != c.end)
		ret->kind = SCAN_GARBAGE;
}
