/* wording/show.c - see show.h. Invalid UTF-8 becomes U+FFFD; nothing here recurses: a nested value
 * is walked with a short stack of iterators and deeper levels appear as "…".
 */
#include "wording/show.h"

#include <string.h>

enum { SHOW_DEPTH = 4 };

/* The code point at s.p[i] and its length in bytes; an invalid byte gives U+FFFD and 1. */
static size_t next_char(struct str s, size_t i, uint32_t *cp)
{
	const unsigned char *p = (const unsigned char *)s.p + i;
	size_t left = s.n - i, len = 1;

	*cp = p[0];
	if (p[0] < 0x80)
		return 1;
	len = p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2;
	*cp = 0xFFFD;
	if (len > left || utf8_valid_prefix((struct str){ s.p + i, len }) != len)
		return 1;
	*cp = p[0] & (0xFFu >> (len + 1));
	for (size_t k = 1; k < len; k++)
		*cp = *cp << 6 | (p[k] & 0x3Fu);
	return len;
}

/* Characters that move the cursor or turn the line around. */
static bool unsafe(uint32_t cp)
{
	return cp < 0x20 || (cp >= 0x7F && cp < 0xA0) || cp == 0x200E || cp == 0x200F ||
	       (cp >= 0x2028 && cp <= 0x202E) || (cp >= 0x2066 && cp <= 0x2069) || cp == 0xFEFF;
}

static void put_char(struct buf *b, const char *p, size_t len, uint32_t cp)
{
	if (unsafe(cp))
		buf_printf(b, "\\u%04x", (unsigned)cp);
	else if (cp == 0xFFFD && len == 1)
		buf_appendz(b, "\xEF\xBF\xBD");
	else
		buf_append(b, p, len);
}

void show_plain(struct buf *b, struct str s)
{
	for (size_t i = 0, len; i < s.n; i += len) {
		uint32_t cp;

		len = next_char(s, i, &cp);
		put_char(b, s.p + i, len, cp);
	}
}

void show_quoted(struct buf *b, struct str s, size_t max)
{
	buf_putc(b, '"');
	for (size_t i = 0, len, count = 0; i < s.n; i += len, count++) {
		uint32_t cp;

		if (count == max) {
			buf_appendz(b, "…");
			break;
		}
		len = next_char(s, i, &cp);
		if (cp == '"' || cp == '\\')
			buf_putc(b, '\\');
		put_char(b, s.p + i, len, cp);
	}
	buf_putc(b, '"');
}

size_t show_visible(struct str s)
{
	uint32_t cp;
	size_t len = s.n ? next_char(s, 0, &cp) : 0;

	return len && cp != ' ' && cp != 0xA0 && !unsafe(cp) && !(cp == 0xFFFD && len == 1) ? len
											    : 0;
}

static bool word_char(uint32_t cp, bool first)
{
	if ((cp >= 'a' && cp <= 'z') || (cp >= 'A' && cp <= 'Z') || cp == '_' || cp == '$')
		return true;
	if (cp >= 0x80)
		return cp > 0xA0 && cp != 0xFFFD && !unsafe(cp);
	return !first &&
	       ((cp >= '0' && cp <= '9') || cp == '.' || cp == '/' || cp == '+' || cp == '-');
}

size_t show_word(struct str s)
{
	size_t i = 0, len;

	for (; i < s.n; i += len) {
		uint32_t cp;

		len = next_char(s, i, &cp);
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
	for (; i < all.n && count < SHOW_CHARS; count++) {
		uint32_t cp;

		i += next_char(all, i, &cp);
	}
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
