/* program/text/print.c - text and JSON for people, made safe: nothing that a server says can move the cursor, change
 * the title of the window or turn the order of the letters around.
 */
#include "text/print.h"

#include "base/str.h"
#include "text/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { DEEPEST = 256, PROSE = 79, NARROWEST = 20 };

/* ---- characters ---------------------------------------------------------------------------------- */

/* What is not UTF-8 is not safe either. */
static bool is_unsafe(uint32_t c)
{
	return c == UTF8_BAD || (c != '\n' && c != '\t' && utf8_unsafe(c));
}

/* Writes what is safe as it is, and the rest by `show`. */
static void filter(FILE *to, const char *text, size_t n,
		   void (*show)(FILE *to, uint32_t c, unsigned char byte))
{
	size_t start = 0;

	for (size_t i = 0; i < n;) {
		size_t from = i;
		uint32_t c = utf8_next((struct str){ text, n }, &i);

		if (!is_unsafe(c))
			continue;
		fwrite(text + start, 1, from - start, to);
		start = i;
		if (c != '\r' || i >= n || text[i] != '\n')
			show(to, c, (unsigned char)text[from]);
	}
	fwrite(text + start, 1, n - start, to);
}

static void show_visible(FILE *to, uint32_t c, unsigned char byte)
{
	if (c == UTF8_BAD || c < 0x80)
		fprintf(to, "\\x%02x", byte);
	else
		fprintf(to, "\\u{%x}", (unsigned)c);
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
static void show_escaped(FILE *to, uint32_t c, unsigned char byte)
{
	if (c == UTF8_BAD)
		fprintf(to, "\\u%04x", byte);
	else if (c < 0x10000)
		fprintf(to, "\\u%04x", (unsigned)c);
	else
		fprintf(to, "\\u%04x\\u%04x", 0xd800 + (unsigned)((c - 0x10000) >> 10),
			0xdc00 + (unsigned)(c & 0x3ff));
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
static size_t columns(uint32_t c)
{
	static const struct {
		uint32_t from, to;
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

	if (is_unsafe(c))
		return c == UTF8_BAD || c < 0x80 ? 4
		       : c < 0x100               ? 6
		       : c < 0x10000             ? 8
						 : 9; /* as show_visible() */
	for (size_t i = 0; c >= ranges[0].from && i < CLEAT_COUNT(ranges); i++)
		if (c >= ranges[i].from && c <= ranges[i].to)
			return ranges[i].width;
	return 1;
}

size_t print_width(const char *text)
{
	struct str s = str_of(text);
	size_t width = 0;

	for (size_t i = 0; i < s.n;)
		width += columns(utf8_next(s, &i));
	return width;
}

size_t print_fit(const char *text, size_t room)
{
	struct str s = { text, strcspn(text, "\r\n") };
	size_t i = 0, next = 0;

	for (; i < s.n; i = next) {
		size_t width = columns(utf8_next(s, &next));

		if (width > room)
			break;
		room -= width;
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

size_t print_rows(FILE *to)
{
	struct winsize size;

	if (!isatty(fileno(to)))
		return SIZE_MAX;
	return ioctl(fileno(to), TIOCGWINSZ, &size) == 0 && size.ws_row ? size.ws_row : 24;
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
