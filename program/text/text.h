/* program/text/text.h - text that grows, and memory that lives until the end of the run.
 *
 * A program that has no memory left cannot do anything useful: these say so and exit (EXIT_OTHER), so
 * that nobody else has to ask.
 */
#ifndef PROGRAM_TEXT_TEXT_H
#define PROGRAM_TEXT_TEXT_H

#include <cleat/base.h>

struct text {
	char *p; /* NULL as long as it is empty */
	size_t n, cap;
};

void text_add(struct text *t, const char *s, size_t n);
void text_puts(struct text *t, const char *s);
void text_printf(struct text *t, const char *fmt, ...) CLEAT_PRINTF(2, 3);
/* As a JSON string, with its quotes; what is not UTF-8 becomes U+FFFD. */
void text_json(struct text *t, const char *s, size_t n);
/* Forgets the first n bytes. */
void text_drop(struct text *t, size_t n);
/* The same for a queue of which *taken bytes have been taken: when that is worth the moving. */
void text_drop_taken(struct text *t, size_t *taken);
/* The text, terminated, "" when it is empty; still the struct's. */
const char *text_str(struct text *t);
/* The text, terminated, from malloc; the struct is empty then. */
char *text_take(struct text *t);
void text_free(struct text *t);
/* Adds all of a file; "-" is stdin. False with errno set (EFBIG: more than `max` bytes). */
bool text_read(struct text *t, const char *path, size_t max);

/* malloc() or the end. */
void *must_alloc(size_t n);
/* A text however long, from malloc. */
char *must_vprintf(const char *fmt, va_list ap) CLEAT_PRINTF(1, 0);
/* Memory that is freed at the end of the run; keep() takes over what came from malloc. */
void *keep_alloc(size_t n); /* zeroed */
char *keep(char *p);
char *keepf(const char *fmt, ...) CLEAT_PRINTF(1, 2);
void keep_free_all(void);
/* What was kept since the mark is freed. */
size_t keep_mark(void);
void keep_release(size_t mark);

/* A list of strings that ends with NULL; the array grows, the strings are not copied. It is freed at
 * the end of the run. */
struct words {
	const char **at;
	size_t n, cap;
};
void words_add(struct words *w, const char *word);

#endif
