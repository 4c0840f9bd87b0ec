/* program/text/jsonc.c - JSON as people write it: with comments and trailing commas. */
#include "text/jsonc.h"

#include <string.h>

/* ---- to strict JSON ------------------------------------------------------------------------------ */

/* Behind the string that begins at i. */
static size_t skip_string(const char *text, size_t n, size_t i)
{
	for (i++; i < n && text[i] != '"'; i++)
		if (text[i] == '\\')
			i++;
	return i < n ? i + 1 : n;
}

static void blank(char *text, size_t from, size_t to)
{
	for (; from < to; from++)
		if (text[from] != '\n' && text[from] != '\r')
			text[from] = ' ';
}

size_t jsonc_comment_end(const char *text, size_t n, size_t i)
{
	if (i + 1 >= n || text[i] != '/' || (text[i + 1] != '/' && text[i + 1] != '*'))
		return i;
	if (text[i + 1] == '/') {
		while (i < n && text[i] != '\n')
			i++;
		return i;
	}
	for (i += 2; i + 1 < n; i++)
		if (text[i] == '*' && text[i + 1] == '/')
			return i + 2;
	return n;
}

void jsonc_blank(char *text, size_t n)
{
	size_t comma = n; /* the last one with nothing after it yet */
	size_t i = 0;

	if (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		blank(text, 0, 3);
	while (i < n) {
		size_t end = jsonc_comment_end(text, n, i);

		if (end > i) {
			blank(text, i, end);
			i = end;
			continue;
		}
		if (strchr(" \t\r\n", text[i]) && text[i]) {
			i++;
			continue;
		}
		if ((text[i] == '}' || text[i] == ']') && comma < n)
			text[comma] = ' ';
		comma = text[i] == ',' ? i : n;
		i = text[i] == '"' ? skip_string(text, n, i) : i + 1;
	}
}

/* ---- positions ----------------------------------------------------------------------------------- */

struct comment_scan {
	const char *text;
	size_t n, i;
};

static void skip_space(struct comment_scan *s)
{
	while (s->i < s->n && s->text[s->i] && strchr(" \t\r\n", s->text[s->i]))
		s->i++;
}

/* Behind a token that is not a bracket, comma or colon. */
static size_t skip_scalar(const char *text, size_t n, size_t i)
{
	if (text[i] == '"')
		return skip_string(text, n, i);
	while (i < n && text[i] && !strchr(" \t\r\n,:{}[]\"", text[i]))
		i++;
	return i < n && !text[i] ? i + 1 : i;
}

/* Behind a value of any kind. */
static void skip_value(struct comment_scan *s)
{
	size_t depth = 0;

	do {
		skip_space(s);
		if (s->i >= s->n)
			return;
		if (s->text[s->i] && strchr("{[", s->text[s->i])) {
			depth++;
			s->i++;
		} else if (s->text[s->i] && strchr("}]", s->text[s->i])) {
			depth -= depth > 0;
			s->i++;
		} else if (s->text[s->i] && strchr(",:", s->text[s->i])) {
			s->i++;
		} else {
			s->i = skip_scalar(s->text, s->n, s->i);
		}
	} while (depth);
}

size_t jsonc_value_end(const char *text, size_t n, size_t i)
{
	struct comment_scan s = { text, n, i };

	skip_value(&s);
	return s.i;
}

size_t jsonc_values(const char *text, size_t n, uint32_t *ret, size_t max)
{
	struct comment_scan s = { text, n, 0 };
	size_t count = 0;

	for (skip_space(&s); s.i < n; skip_space(&s)) {
		if (text[s.i] && strchr(",:}]", text[s.i])) {
			s.i++;
			continue;
		}
		if (count < max)
			ret[count] = (uint32_t)s.i;
		count++;
		s.i = text[s.i] == '{' || text[s.i] == '[' ? s.i + 1 : skip_scalar(text, n, s.i);
	}
	return count;
}

/* Into the member `key` of the object that begins here. */
static bool jsonc_enter(struct comment_scan *s, const char *key)
{
	size_t n = strlen(key);

	skip_space(s);
	if (s->i >= s->n || s->text[s->i] != '{')
		return false;
	s->i++;
	for (;;) {
		size_t start, end;

		skip_space(s);
		if (s->i >= s->n || s->text[s->i] != '"')
			return false;
		start = s->i + 1;
		s->i = skip_string(s->text, s->n, s->i);
		end = s->i - 1;
		skip_space(s);
		if (s->i >= s->n || s->text[s->i++] != ':')
			return false;
		skip_space(s);
		if (end - start == n && memcmp(s->text + start, key, n) == 0)
			return true;
		skip_value(s);
		skip_space(s);
		if (s->i >= s->n || s->text[s->i++] != ',')
			return false;
	}
}

void jsonc_line(const char *text, size_t at, size_t *ret_line, size_t *ret_column)
{
	*ret_line = *ret_column = 1;
	for (size_t i = 0; i < at; i++) {
		*ret_column += ((unsigned char)text[i] & 0xc0) != 0x80;
		if (text[i] == '\n') {
			++*ret_line;
			*ret_column = 1;
		}
	}
}

bool jsonc_locate(const char *text, size_t n, const char *const *path, size_t depth,
		  size_t *ret_line, size_t *ret_column)
{
	struct comment_scan s = { text, n, 0 };

	for (size_t i = 0; i < depth; i++)
		if (!jsonc_enter(&s, path[i]))
			return false;
	jsonc_line(text, s.i, ret_line, ret_column);
	return true;
}
