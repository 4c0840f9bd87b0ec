/* text.c - see text.h. */
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *text_alloc(size_t n)
{
	void *p = calloc(1, n ? n : 1);

	if (!p) {
		fputs("Bail out! out of memory\n", stdout);
		exit(2);
	}
	return p;
}

char *text_dup(const char *s, size_t n)
{
	char *copy = text_alloc(n + 1);

	memcpy(copy, s, n);
	return copy;
}

void text_put(struct text *t, const char *s, size_t n)
{
	if (t->n + n + 1 > t->cap) {
		size_t cap = (t->n + n + 64) * 2;
		char *p = text_alloc(cap);

		if (t->n)
			memcpy(p, t->p, t->n);
		free(t->p);
		t->p = p;
		t->cap = cap;
	}
	if (n)
		memcpy(t->p + t->n, s, n);
	t->n += n;
	t->p[t->n] = '\0';
}

void text_puts(struct text *t, const char *s)
{
	text_put(t, s, strlen(s));
}

void text_printf(struct text *t, const char *fmt, ...)
{
	va_list ap, again;
	char *s;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	s = text_alloc((size_t)n + 1);
	vsnprintf(s, (size_t)n + 1, fmt, ap);
	va_end(ap);
	text_put(t, s, (size_t)n);
	free(s);
}

void text_drop(struct text *t, size_t n)
{
	if (!n)
		return;
	t->n -= n;
	memmove(t->p, t->p + n, t->n + 1);
}

void text_free(struct text *t)
{
	free(t->p);
	*t = (struct text){ 0 };
}

const char *text_str(const struct text *t)
{
	return t->p ? t->p : "";
}

static int hex(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c | 0x20) : NULL;

	return at ? (int)(at - digits) : -1;
}

bool text_put_escaped(struct text *t, const char *s)
{
	static const char from[] = "nrt0\\", to[] = "\n\r\t\0\\";

	for (; *s; s++) {
		const char *at;

		if (*s != '\\') {
			text_put(t, s, 1);
			continue;
		}
		s++;
		at = *s ? strchr(from, *s) : NULL;
		if (at) {
			text_put(t, to + (at - from), 1);
		} else if (*s == 'x' && hex(s[1]) >= 0 && hex(s[2]) >= 0) {
			char byte = (char)(hex(s[1]) * 16 + hex(s[2]));

			text_put(t, &byte, 1);
			s += 2;
		} else {
			return false;
		}
	}
	return true;
}
