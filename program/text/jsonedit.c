/* program/text/jsonedit.c - changes one member of an object in JSON with comments.
 *
 * Everything is found in a copy in which comments and trailing commas are blanks (jsonc_blank), whose
 * positions are those of the text; what is cut and put in is cut and put into the text itself.
 */
#include "text/jsonedit.h"

#include "text/jsonc.h"
#include "text/print.h"

#include <stdlib.h>
#include <string.h>

struct json_edit {
	const char *text; /* as it is */
	char *bare;       /* without comments and trailing commas */
	size_t n;
	char unit[9]; /* one step of indentation */
};

/* A member: where its key begins, its value begins and ends. */
struct member {
	size_t key, value, end;
};

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static size_t skip_space(const struct json_edit *e, size_t i)
{
	while (i < e->n && is_space(e->bare[i]))
		i++;
	return i;
}

/* The next member of the object; `i` is behind its '{' or behind a member. False: there is none. */
static bool next_member(const struct json_edit *e, size_t i, struct member *ret)
{
	i = skip_space(e, i);
	if (i < e->n && e->bare[i] == ',')
		i = skip_space(e, i + 1);
	if (i >= e->n || e->bare[i] != '"')
		return false;
	ret->key = i;
	i = skip_space(e, jsonc_value_end(e->bare, e->n, i));
	ret->value = skip_space(e, i + 1); /* behind ':' */
	ret->end = jsonc_value_end(e->bare, e->n, ret->value);
	return true;
}

/* Keys are compared as what they mean: a key may have been written with escapes. */
static bool key_is(const struct json_edit *e, const struct member *m, const char *key)
{
	size_t end = jsonc_value_end(e->bare, e->n, m->key);
	cleat_doc *doc = cleat_doc_parse(e->bare + m->key, end - m->key, NULL, NULL, NULL);
	size_t n = 0;
	const char *is = cleat_json_strn(cleat_doc_root(doc), &n);
	bool same = is && n == strlen(key) && memcmp(is, key, n) == 0;

	cleat_doc_free(doc);
	return same;
}

/* The member `key` of the object at `object`, the member before it (end 0: none), or the last one. */
static bool jsonedit_find(const struct json_edit *e, size_t object, const char *key,
			  struct member *ret, struct member *before)
{
	size_t i = object + 1;

	*before = *ret = (struct member){ 0 };
	for (struct member m; next_member(e, i, &m); i = m.end) {
		if (key_is(e, &m, key)) {
			*ret = m;
			return true;
		}
		*before = m;
	}
	return false;
}

/* A comma after the value that ends at `i`, a trailing one too; e->n: none. A blanked comma is one that
 * the bare copy has as a space and that stands outside of comments. */
static size_t comma_after(const struct json_edit *e, size_t i)
{
	while (i < e->n) {
		size_t end = jsonc_comment_end(e->text, e->n, i);

		if (end > i)
			i = end;
		else if (is_space(e->text[i]))
			i++;
		else
			return e->text[i] == ',' ? i : e->n;
	}
	return e->n;
}

/* Is `i` inside, or right behind, a comment that ends with its line? Then nothing may follow it there. */
static bool in_line_comment(const struct json_edit *e, size_t i)
{
	for (size_t at = 0; at < i;) {
		size_t end = jsonc_comment_end(e->text, e->n, at);

		if (end > at && e->text[at + 1] == '/' && i <= end)
			return true;
		if (end > at)
			at = end;
		else
			at = e->text[at] == '"' ? jsonc_value_end(e->text, e->n, at) : at + 1;
	}
	return false;
}

/* ---- indentation --------------------------------------------------------------------------------- */

/* Blanks at the beginning of the line that `i` is in. */
static struct member line_indent(const struct json_edit *e, size_t i)
{
	struct member m = { 0 };

	while (i && e->text[i - 1] != '\n')
		i--;
	m.key = m.end = i;
	while (m.end < e->n && (e->text[m.end] == ' ' || e->text[m.end] == '\t'))
		m.end++;
	return m;
}

/* What the file indents with: the first line that is. */
static void find_unit(struct json_edit *e)
{
	memcpy(e->unit, "  ", 3);
	for (size_t i = 0; i + 1 < e->n; i++) {
		size_t from = i + 1, to = from;

		if (e->text[i] != '\n')
			continue;
		while (to < e->n && e->text[to] == (e->text[from] == '\t' ? '\t' : ' '))
			to++;
		if (to == from || to >= e->n || e->text[to] != '"')
			continue;
		if (e->text[from] == '\t')
			memcpy(e->unit, "\t", 2);
		else if (to - from < sizeof e->unit) {
			memset(e->unit, ' ', to - from);
			e->unit[to - from] = '\0';
		}
		return;
	}
}

static void put_value(struct text *t, const struct json_edit *e, const cleat_json *v,
		      const char *indent);

static void put_list(struct text *t, const struct json_edit *e, const cleat_json *v,
		     const char *indent)
{
	bool object = cleat_json_type(v) == CLEAT_JSON_OBJECT;
	cleat_json_iter it = cleat_json_each(v);
	char *inner = keepf("%s%s", indent, e->unit);

	text_puts(t, object ? "{" : "[");
	while (cleat_json_next(&it)) {
		text_printf(t, "%s%s%s", it.index ? "," : "",
			    object     ? "\n"
			    : it.index ? " "
				       : "",
			    object ? inner : "");
		if (object) {
			text_json(t, cleat_json_str(it.key, ""), cleat_json_size(it.key));
			text_puts(t, ": ");
		}
		put_value(t, e, it.value, inner);
	}
	if (object && cleat_json_size(v))
		text_printf(t, "\n%s", indent);
	text_puts(t, object ? "}" : "]");
}

/* Objects one member a line, arrays in one line. The depth is that of what we made ourselves. */
static void put_value(struct text *t, const struct json_edit *e, const cleat_json *v,
		      const char *indent)
{
	if (cleat_json_type(v) == CLEAT_JSON_OBJECT || cleat_json_type(v) == CLEAT_JSON_ARRAY)
		put_list(t, e, v, indent);
	else
		text_puts(t, keep(cleat_json_print(v, NULL)));
}

/* ---- changing ------------------------------------------------------------------------------------ */

static void put_member(struct text *t, const struct json_edit *e, const char *const *path,
		       size_t depth, const cleat_json *value, const char *indent)
{
	text_json(t, path[0], strlen(path[0]));
	text_puts(t, ": ");
	if (depth == 1) {
		put_value(t, e, value, indent);
		return;
	}
	text_printf(t, "{\n%s%s", indent, e->unit);
	put_member(t, e, path + 1, depth - 1, value, keepf("%s%s", indent, e->unit));
	text_printf(t, "\n%s}", indent);
}

static void jsonedit_copy(struct text *t, const struct json_edit *e, size_t from, size_t to)
{
	text_add(t, e->text + from, to - from);
}

/* Into an object without members: on lines of their own. */
static void add_first(struct text *t, const struct json_edit *e, size_t object,
		      const char *const *path, size_t depth, const cleat_json *value)
{
	struct member in = line_indent(e, object);
	char *outer = keepf("%.*s", (int)(in.end - in.key), e->text + in.key);
	char *inner = keepf("%s%s", outer, e->unit);
	size_t close = jsonc_value_end(e->bare, e->n, object) - 1;
	bool blank = true; /* nothing but blanks inside: they go */

	for (size_t i = object + 1; i < close; i++)
		blank = blank && is_space(e->text[i]);
	jsonedit_copy(t, e, 0, object + 1);
	text_printf(t, "\n%s", inner);
	put_member(t, e, path, depth, value, inner);
	if (blank) {
		text_printf(t, "\n%s", outer);
		jsonedit_copy(t, e, close, e->n);
	} else {
		jsonedit_copy(t, e, object + 1, e->n);
	}
}

/* Where the line of `i` ends, if there is nothing but comments up to there; otherwise `i`. */
static size_t line_end(const struct json_edit *e, size_t i)
{
	size_t end = i;

	while (end < e->n && e->text[end] != '\n') {
		size_t comment = jsonc_comment_end(e->text, e->n, end);

		if (comment == end && !is_space(e->text[end]))
			return i;
		end = comment > end ? comment : end + 1;
	}
	while (end > i && e->text[end - 1] == '\r')
		end--;
	return end;
}

/* Behind the last member: its comma, what follows it on its line, then ours. A trailing comma stays one. */
static void add_last(struct text *t, const struct json_edit *e, const struct member *last,
		     const char *const *path, size_t depth, const cleat_json *value)
{
	struct member in = line_indent(e, last->key);
	char *indent = keepf("%.*s", (int)(in.end - in.key), e->text + in.key);
	size_t comma = comma_after(e, last->end);
	size_t from = comma < e->n ? comma + 1 : last->end;
	size_t at = line_end(e, from);
	bool own_line = in.end == last->key || in_line_comment(e, at);

	jsonedit_copy(t, e, 0, from);
	if (comma == e->n)
		text_puts(t, ",");
	jsonedit_copy(t, e, from, at);
	text_printf(t, "%s%s", own_line ? "\n" : " ", own_line ? indent : "");
	put_member(t, e, path, depth, value, indent);
	if (comma < e->n)
		text_puts(t, ",");
	jsonedit_copy(t, e, at, e->n);
}

static void edit_init(struct json_edit *e, const char *text, size_t n)
{
	*e = (struct json_edit){ .text = text, .n = n };
	e->bare = must_alloc(n + 1);
	memcpy(e->bare, text, n);
	e->bare[n] = '\0';
	jsonc_blank(e->bare, n);
	find_unit(e);
}

void jsonedit_set(struct text *ret, const char *text, size_t n, const char *const *path,
		  size_t depth, const cleat_json *value)
{
	struct member found, before;
	struct json_edit e;
	size_t object;

	edit_init(&e, text, n);
	object = skip_space(&e, 0);
	if (object == n) { /* an empty file, or nothing but comments */
		bool blank = true;

		for (size_t i = 0; i < n; i++)
			blank = blank && is_space(text[i]);
		if (!blank)
			text_add(ret, text, n);
		if (!blank && text[n - 1] != '\n')
			text_puts(ret, "\n");
		free(e.bare);
		jsonedit_set(ret, "{}\n", 3, path, depth, value);
		return;
	}
	while (depth > 1 && jsonedit_find(&e, object, path[0], &found, &before)) {
		object = found.value;
		path++;
		depth--;
	}
	if (jsonedit_find(&e, object, path[0], &found, &before)) {
		struct member in = line_indent(&e, found.key);

		jsonedit_copy(ret, &e, 0, found.value);
		put_value(ret, &e, value, keepf("%.*s", (int)(in.end - in.key), e.text + in.key));
		jsonedit_copy(ret, &e, found.end, n);
	} else if (before.end) {
		add_last(ret, &e, &before, path, depth, value);
	} else {
		add_first(ret, &e, object, path, depth, value);
	}
	free(e.bare);
}

/* Blanks before `i`, with the end of the line before, are cut, too. */
static size_t line_start(const struct json_edit *e, size_t i)
{
	size_t start = i;

	while (start && (e->text[start - 1] == ' ' || e->text[start - 1] == '\t'))
		start--;
	if (!start || e->text[start - 1] != '\n')
		return i;
	start--;
	return start && e->text[start - 1] == '\r' ? start - 1 : start;
}

bool jsonedit_remove(struct text *ret, const char *text, size_t n, const char *const *path,
		     size_t depth)
{
	struct member found = { 0 }, before = { 0 };
	size_t object, comma, start, before_comma, rest;
	struct json_edit e;
	bool there;

	edit_init(&e, text, n);
	object = skip_space(&e, 0);
	there = object < n;
	for (size_t i = 0; there && i < depth; i++) {
		there = jsonedit_find(&e, object, path[i], &found, &before);
		object = found.value;
	}
	if (there) {
		comma = comma_after(&e, found.end);
		start = line_start(&e, found.key);
		before_comma = before.end ? comma_after(&e, before.end) : n;
		if (comma < n || before_comma == n) { /* its own comma goes with it */
			jsonedit_copy(ret, &e, 0, start);
		} else { /* the last one: that of the one before goes */
			jsonedit_copy(ret, &e, 0, before_comma);
			jsonedit_copy(ret, &e, before_comma + 1, start);
		}
		rest = comma < n ? comma + 1 : found.end;
		if (rest < n && text[rest + (rest + 1 < n && text[rest] == '\r')] != '\n' &&
		    in_line_comment(&e, start))
			text_puts(ret, "\n");
		jsonedit_copy(ret, &e, rest, n);
	}
	free(e.bare);
	return there;
}

/* ---- showing ------------------------------------------------------------------------------------- */

static size_t count_lines(const char *p, size_t n)
{
	size_t lines = 0;

	for (size_t i = 0; i < n; i++)
		lines += p[i] == '\n' || i + 1 == n;
	return lines;
}

/* Prints some lines, each behind a sign. */
static void put_lines(FILE *to, char sign, const char *p, size_t n, const char *color)
{
	for (size_t i = 0; i < n;) {
		const char *end = memchr(p + i, '\n', n - i);
		size_t length = end ? (size_t)(end - p) - i : n - i;

		fprintf(to, "%s%c", color, sign);
		print_safe(to, p + i, length);
		fprintf(to, "%s\n", *color ? COLOR_OFF : "");
		i += length + 1;
	}
}

/* Back, or on, by so many lines. */
static size_t back(const char *p, size_t i, size_t lines)
{
	for (lines++; i; i--)
		if (p[i - 1] == '\n' && --lines == 0)
			break;
	return i;
}

static size_t forth(const char *p, size_t n, size_t i, size_t lines)
{
	for (; i < n && lines; i++)
		lines -= p[i] == '\n';
	return i;
}

void jsonedit_diff(FILE *to, const char *name, struct text *before, struct text *after, bool color)
{
	const char *a = text_str(before), *b = text_str(after);
	size_t most = before->n < after->n ? before->n : after->n;
	size_t head = 0, tail = 0, from, a_end, b_end, a_stop;

	while (head < most && a[head] == b[head])
		head++;
	head = back(a, head, 0);
	while (tail < most - head && a[before->n - 1 - tail] == b[after->n - 1 - tail])
		tail++;
	/* The common end begins with a line. */
	while (tail && before->n - tail > head && a[before->n - tail - 1] != '\n')
		tail--;
	while (tail && after->n - tail > head && b[after->n - tail - 1] != '\n')
		tail--;
	a_end = before->n - tail;
	b_end = after->n - tail;
	from = back(a, head, 3);
	a_stop = forth(a, before->n, a_end, 3);
	fprintf(to, "--- %s\n+++ %s\n", before->n ? name : "/dev/null", name);
	fprintf(to, "@@ -%zu,%zu +%zu,%zu @@\n", count_lines(a, from) + (before->n > 0),
		count_lines(a + from, a_stop - from), count_lines(a, from) + 1,
		count_lines(a + from, head - from) + count_lines(b + head, b_end - head) +
			count_lines(a + a_end, a_stop - a_end));
	put_lines(to, ' ', a + from, head - from, "");
	put_lines(to, '-', a + head, a_end - head, color ? COLOR_BAD : "");
	put_lines(to, '+', b + head, b_end - head, color ? COLOR_STRING : "");
	put_lines(to, ' ', a + a_end, a_stop - a_end, "");
}
