/* wording/show.c - see show.h. Invalid UTF-8 becomes U+FFFD; nothing here recurses: a nested value
 * is walked with a short stack of iterators and deeper levels appear as "…".
 */
#include "wording/show.h"

#include <string.h>

enum { SHOW_DEPTH = 4 };

static void put_char(struct buf *b, const char *p, size_t len, uint32_t cp)
{
	if (cp == UTF8_BAD)
		buf_appendz(b, "\xEF\xBF\xBD");
	else if (!utf8_unsafe(cp))
		buf_append(b, p, len);
	else if (cp < 0x10000)
		buf_printf(b, "\\u%04x", (unsigned)cp);
	else
		buf_printf(b, "\\u%04x\\u%04x", 0xD800 + (unsigned)((cp - 0x10000) >> 10),
			   0xDC00 + (unsigned)(cp & 0x3FF));
}

void show_plain(struct buf *b, struct str s)
{
	for (size_t i = 0; i < s.n;) {
		size_t from = i;
		uint32_t cp = utf8_next(s, &i);

		put_char(b, s.p + from, i - from, cp);
	}
}

void show_quoted(struct buf *b, struct str s, size_t max)
{
	buf_putc(b, '"');
	for (size_t i = 0, count = 0; i < s.n; count++) {
		size_t from = i;
		uint32_t cp = utf8_next(s, &i);

		if (count == max) {
			buf_appendz(b, "…");
			break;
		}
		if (cp == '"' || cp == '\\')
			buf_putc(b, '\\');
		put_char(b, s.p + from, i - from, cp);
	}
	buf_putc(b, '"');
}

size_t show_visible(struct str s)
{
	size_t n = 0;
	uint32_t cp = s.n ? utf8_next(s, &n) : UTF8_BAD;

	return cp == ' ' || cp == 0xA0 || cp == UTF8_BAD || utf8_unsafe(cp) ? 0 : n;
}

static bool word_char(uint32_t cp, bool first)
{
	if ((cp >= 'a' && cp <= 'z') || (cp >= 'A' && cp <= 'Z') || cp == '_' || cp == '$')
		return true;
	if (cp >= 0x80)
		return cp > 0xA0 && cp != 0xFFFD && cp != UTF8_BAD && !utf8_unsafe(cp);
	return !first &&
	       ((cp >= '0' && cp <= '9') || cp == '.' || cp == '/' || cp == '+' || cp == '-');
}

size_t show_word(struct str s)
{
	size_t i = 0, next = 0;

	for (; i < s.n; i = next) {
		uint32_t cp = utf8_next(s, &next);

		if (!word_char(cp, i == 0))
			break;
		if (cp == '.' && i + 1 < s.n && s.p[i + 1] == '.')
			break;
	}
	return i;
}

bool show_is_word(struct str s)
{
	return s.n > 0 && show_word(s) == s.n;
}

void show_name(struct buf *b, struct str s)
{
	if (show_is_word(s))
		buf_append(b, s.p, s.n);
	else
		show_quoted(b, s, SHOW_CHARS);
}

static struct str string_of(const cleat_json *v)
{
	size_t n = 0;
	const char *p = cleat_json_strn(v, &n);

	return (struct str){ p, n };
}

static void show_scalar(struct buf *b, const cleat_json *v)
{
	switch (cleat_json_type(v)) {
	case CLEAT_JSON_NONE: buf_appendz(b, "nothing"); break;
	case CLEAT_JSON_NULL: buf_appendz(b, "null"); break;
	case CLEAT_JSON_BOOL: buf_appendz(b, cleat_json_bool(v, false) ? "true" : "false"); break;
	case CLEAT_JSON_STRING: show_quoted(b, string_of(v), SHOW_CHARS); break;
	case CLEAT_JSON_ARRAY: buf_appendz(b, cleat_json_size(v) ? "[…]" : "[]"); break;
	case CLEAT_JSON_OBJECT: buf_appendz(b, cleat_json_size(v) ? "{…}" : "{}"); break;
	case CLEAT_JSON_NUMBER: {
		struct str text = str_of(cleat_json_number_text(v));

		buf_append(b, text.p, text.n <= SHOW_CHARS ? text.n : SHOW_CHARS + 1);
		break;
	}
	}
}

static void show_container(struct buf *b, const cleat_json *v)
{
	cleat_json_iter stack[SHOW_DEPTH];
	size_t depth = 0, start = buf_size(b);

	do {
		enum cleat_json_type type = cleat_json_type(v);
		bool nested = type == CLEAT_JSON_ARRAY || type == CLEAT_JSON_OBJECT;

		if (nested && depth < SHOW_DEPTH && cleat_json_size(v)) {
			stack[depth++] = cleat_json_each(v);
			buf_putc(b, type == CLEAT_JSON_ARRAY ? '[' : '{');
		} else {
			show_scalar(b, v);
		}
		while (depth && !cleat_json_next(&stack[depth - 1]))
			buf_putc(b, stack[--depth].object_ ? '}' : ']');
		if (!depth)
			return;
		if (stack[depth - 1].index)
			buf_putc(b, ',');
		if (stack[depth - 1].key) {
			show_quoted(b, string_of(stack[depth - 1].key), SHOW_CHARS);
			buf_putc(b, ':');
		}
		v = stack[depth - 1].value;
	} while (buf_status(b) == CLEAT_OK && buf_size(b) - start <= (size_t)SHOW_CHARS * 4);
}

/* Cuts what was written since `start` down to SHOW_CHARS characters. */
static void cut(struct buf *b, size_t start)
{
	struct str all = buf_str(b);
	size_t i = start, count = 0;

	if (buf_status(b) != CLEAT_OK)
		return;
	for (; i < all.n && count < SHOW_CHARS; count++)
		(void)utf8_next(all, &i);
	if (i >= all.n)
		return;
	buf_truncate(b, i);
	buf_appendz(b, "…");
}

void show_value(struct buf *b, const cleat_json *v)
{
	enum cleat_json_type type = cleat_json_type(v);
	size_t start = buf_size(b);

	if (type == CLEAT_JSON_STRING) {
		show_scalar(b, v);
		return;
	}
	if (type == CLEAT_JSON_ARRAY || type == CLEAT_JSON_OBJECT)
		show_container(b, v);
	else
		show_scalar(b, v);
	cut(b, start);
}
