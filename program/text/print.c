/* program/text/print.c - text and JSON for people, made safe: nothing that a server says can move the cursor, change
 * the title of the window or turn the order of the letters around.
 */
#include "text/print.h"

#include "text/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { DEEPEST = 256, PROSE = 79, NARROWEST = 20 };

/* ---- characters ---------------------------------------------------------------------------------- */

/* The character at p, its length in *len; -1: no UTF-8. */
static long print_decode(const unsigned char *p, size_t n, size_t *len)
{
	static const long least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t need = p[0] < 0x80 ? 1 : p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	long c = need == 1 ? p[0] : p[0] & (0x7f >> need);

	*len = 1;
	if ((p[0] >= 0x80 && p[0] < 0xc2) || p[0] > 0xf4 || need > n)
		return -1;
	for (size_t i = 1; i < need; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return -1;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[need] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return -1;
	*len = need;
	return c;
}

/* Control characters, and those that change the direction or hide. */
static bool is_unsafe(long c)
{
	return (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7f && c < 0xa0) || c == 0x61c ||
	       (c >= 0x200b && c <= 0x200f && c != 0x200c && c != 0x200d) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
	       (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe007f);
}

/* Writes what is safe as it is, and the rest by `show`. */
static void filter(FILE *to, const char *text, size_t n,
		   void (*show)(FILE *to, long c, unsigned char byte))
{
	const unsigned char *p = (const unsigned char *)text;
	size_t start = 0, len;

	for (size_t i = 0; i < n; i += len) {
		long c = print_decode(p + i, n - i, &len);

		if (c >= 0 && !is_unsafe(c))
			continue;
		fwrite(text + start, 1, i - start, to);
		start = i + len;
		if (c != '\r' || i + 1 >= n || text[i + 1] != '\n')
			show(to, c, p[i]);
	}
	fwrite(text + start, 1, n - start, to);
}

static void show_visible(FILE *to, long c, unsigned char byte)
{
	if (c < 0)
		fprintf(to, "\\x%02x", byte);
	else if (c < 0x80)
		fprintf(to, "\\x%02lx", (unsigned long)c);
	else
		fprintf(to, "\\u{%lx}", (unsigned long)c);
}

void print_utf8(struct text *to, const char *text)
{
	size_t n = strlen(text), len;
	struct text clean = { 0 };

	for (size_t i = 0; i < n; i += len)
		if (print_decode((const unsigned char *)text + i, n - i, &len) >= 0)
			text_add(&clean, text + i, len);
		else
			text_puts(&clean, "\xef\xbf\xbd");
	text_json(to, text_str(&clean), clean.n);
	text_free(&clean);
}

void print_safe(FILE *to, const char *text, size_t n)
{
	filter(to, text, n, show_visible);
}

void print_line(FILE *to, const char *text)
{
	size_t n = strcspn(text, "\r\n");

	print_safe(to, text, n);
}

void print_content(FILE *to, const char *text, size_t n)
{
	if (isatty(fileno(to)))
		print_safe(to, text, n);
	else
		fwrite(text, 1, n, to);
}

/* ---- JSON ---------------------------------------------------------------------------------------- */

/* In JSON an unsafe character can stand inside of strings only, where it has a safe spelling. */
static void show_escaped(FILE *to, long c, unsigned char byte)
{
	if (c < 0)
		fprintf(to, "\\u%04x", byte);
	else if (c < 0x10000)
		fprintf(to, "\\u%04lx", (unsigned long)c);
	else
		fprintf(to, "\\u%04lx\\u%04lx", 0xd800 + ((unsigned long)(c - 0x10000) >> 10),
			0xdc00 + ((unsigned long)c & 0x3ff));
}

void print_json_text(FILE *to, const char *text, size_t n)
{
	if (isatty(fileno(to)))
		filter(to, text, n, show_escaped);
	else
		fwrite(text, 1, n, to);
}

bool print_json_line(FILE *to, const cleat_json *v)
{
	size_t n;
	char *text = cleat_json_print(v, &n);

	if (!text)
		return false;
	print_json_text(to, text, n);
	fputc('\n', to);
	free(text);
	return true;
}

struct pretty {
	FILE *to;
	bool color;
};

static void scalar(const struct pretty *p, const cleat_json *v, const char *color)
{
	size_t n;
	char *text = cleat_json_print(v, &n);

	if (!text)
		return;
	if (p->color)
		fputs(color, p->to);
	print_json_text(p->to, text, n);
	if (p->color)
		fputs(COLOR_OFF, p->to);
	free(text);
}

static void newline(const struct pretty *p, unsigned depth)
{
	fprintf(p->to, "\n%*s", (int)(2 * depth), "");
}

static void value(const struct pretty *p, const cleat_json *v, unsigned depth);

static void container(const struct pretty *p, const cleat_json *v, unsigned depth)
{
	bool object = cleat_json_type(v) == CLEAT_JSON_OBJECT;
	cleat_json_iter it = cleat_json_each(v);

	fputc(object ? '{' : '[', p->to);
	while (cleat_json_next(&it)) {
		if (it.index)
			fputc(',', p->to);
		newline(p, depth + 1);
		if (object) {
			scalar(p, it.key, COLOR_KEY);
			fputs(": ", p->to);
		}
		value(p, it.value, depth + 1);
	}
	if (cleat_json_size(v))
		newline(p, depth);
	fputc(object ? '}' : ']', p->to);
}

/* As deep as the parser lets documents be. */
static void value(const struct pretty *p, const cleat_json *v, unsigned depth)
{
	switch (cleat_json_type(v)) {
	case CLEAT_JSON_OBJECT:
	case CLEAT_JSON_ARRAY:
		if (depth < DEEPEST)
			container(p, v, depth);
		else
			scalar(p, v, "");
		break;
	case CLEAT_JSON_STRING: scalar(p, v, COLOR_STRING); break;
	case CLEAT_JSON_NUMBER: scalar(p, v, COLOR_NUMBER); break;
	case CLEAT_JSON_BOOL:
	case CLEAT_JSON_NULL: scalar(p, v, COLOR_WORD); break;
	case CLEAT_JSON_NONE: break;
	}
}

void print_pretty(FILE *to, const cleat_json *v, bool color)
{
	struct pretty p = { .to = to, .color = color };

	value(&p, v, 0);
	fputc('\n', to);
}

/* ---- columns ------------------------------------------------------------------------------------- */

/* East Asian characters and pictures take two columns, marks that are put on others none. */
static size_t columns(long c)
{
	static const struct {
		long from, to;
		size_t width;
	} ranges[] = {
		{ 0x300, 0x36f, 0 },     { 0x483, 0x489, 0 },     { 0x591, 0x5bd, 0 },
		{ 0x610, 0x61a, 0 },     { 0x64b, 0x65f, 0 },     { 0x93c, 0x93c, 0 },
		{ 0x941, 0x948, 0 },     { 0x94d, 0x94d, 0 },     { 0xe31, 0xe31, 0 },
		{ 0xe34, 0xe3a, 0 },     { 0xe47, 0xe4e, 0 },     { 0x1100, 0x115f, 2 },
		{ 0x1ab0, 0x1aff, 0 },   { 0x1dc0, 0x1dff, 0 },   { 0x200c, 0x200d, 0 },
		{ 0x20d0, 0x20f0, 0 },   { 0x231a, 0x231b, 2 },   { 0x23e9, 0x23ec, 2 },
		{ 0x2614, 0x2615, 2 },   { 0x26a1, 0x26a1, 2 },   { 0x2705, 0x2705, 2 },
		{ 0x2728, 0x2728, 2 },   { 0x274c, 0x274c, 2 },   { 0x2753, 0x2757, 2 },
		{ 0x2795, 0x2797, 2 },   { 0x2b50, 0x2b50, 2 },   { 0x2e80, 0xa4cf, 2 },
		{ 0xac00, 0xd7a3, 2 },   { 0xf900, 0xfaff, 2 },   { 0xfe00, 0xfe0f, 0 },
		{ 0xfe20, 0xfe2f, 0 },   { 0xfe30, 0xfe6f, 2 },   { 0xff00, 0xff60, 2 },
		{ 0xffe0, 0xffe6, 2 },   { 0x1f300, 0x1f64f, 2 }, { 0x1f680, 0x1f6ff, 2 },
		{ 0x1f900, 0x1f9ff, 2 }, { 0x1fa70, 0x1faff, 2 }, { 0x20000, 0x3fffd, 2 },
	};

	if (c < 0 || is_unsafe(c))
		return c < 0x80 ? 4 : c < 0x100 ? 6 : c < 0x10000 ? 8 : 9; /* as show_visible() */
	for (size_t i = 0; c >= ranges[0].from && i < CLEAT_COUNT(ranges); i++)
		if (c >= ranges[i].from && c <= ranges[i].to)
			return ranges[i].width;
	return 1;
}

size_t print_width(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t n = strlen(text), width = 0, len;

	for (size_t i = 0; i < n; i += len)
		width += columns(print_decode(p + i, n - i, &len));
	return width;
}

size_t print_fit(const char *text, size_t room)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t n = strcspn(text, "\r\n"), i = 0, len;

	while (i < n) {
		size_t width = columns(print_decode(p + i, n - i, &len));

		if (width > room)
			break;
		room -= width;
		i += len;
	}
	return i;
}

size_t print_room(FILE *to)
{
	struct winsize size;

	if (!isatty(fileno(to)))
		return SIZE_MAX;
	return ioctl(fileno(to), TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

size_t print_prose(FILE *to)
{
	size_t room = print_room(to);

	return room > PROSE ? PROSE : room > NARROWEST ? room - 1 : NARROWEST;
}

void print_wrapped(FILE *to, const char *text, size_t indent)
{
	size_t column = 0, room = print_prose(to) - indent;

	while (*text) {
		size_t n = strcspn(text, " \n");
		char *word = keepf("%.*s", (int)n, text);
		size_t w = print_width(word);

		if (n && column && column + 1 + w > room) {
			fputc('\n', to);
			column = 0;
		}
		if (n) {
			fprintf(to, "%*s", column ? 1 : (int)indent, "");
			column += column ? 1 : 0;
			print_safe(to, word, n);
			column += w;
		}
		if (text[n] == '\n') {
			fputc('\n', to);
			column = 0;
		}
		text += n + (text[n] != '\0');
	}
	if (column)
		fputc('\n', to);
}
