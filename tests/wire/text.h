/* text.h - growing text for the test program. Out of memory ends it: nothing to test is left then. */
#ifndef WIRE_TEXT_H
#define WIRE_TEXT_H

#include <cleat/base.h>

struct text {
	char *p; /* terminated; NULL while empty */
	size_t n, cap;
};

void *text_alloc(size_t n); /* zeroed */
char *text_dup(const char *s, size_t n);
void text_put(struct text *t, const char *s, size_t n);
void text_puts(struct text *t, const char *s);
void text_printf(struct text *t, const char *fmt, ...) CLEAT_PRINTF(2, 3);
/* Takes n bytes off the front. */
void text_drop(struct text *t, size_t n);
void text_free(struct text *t);
/* The text, "" when empty. */
const char *text_str(const struct text *t);
/* Appends `s` with its C escapes (\n \r \t \0 \\ \xHH) replaced; false when one is unknown. */
bool text_put_escaped(struct text *t, const char *s);

#endif
