/* program/text/text.c - text that grows, and memory that lives until the end of the run. */
#include "text/text.h"

#include "json/writer.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---------------------------------------------------------------------------------- */

/* Questions at the terminal are asked on a thread of their own. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	void **at;
	size_t n, cap;
} kept;

static void text_no_memory(void)
{
	fputs("cleat: out of memory\n", stderr);
	exit(EXIT_FAILURE);
}

void *must_alloc(size_t n)
{
	void *p = malloc(n ? n : 1);

	if (!p)
		text_no_memory();
	return p;
}

char *keep(char *p)
{
	if (!p)
		text_no_memory();
	pthread_mutex_lock(&lock);
	if (kept.n == kept.cap) {
		size_t cap = kept.cap ? 2 * kept.cap : 64;
		void **at = realloc(kept.at, cap * sizeof *at);

		if (!at)
			text_no_memory();
		kept.at = at;
		kept.cap = cap;
	}
	kept.at[kept.n++] = p;
	pthread_mutex_unlock(&lock);
	return p;
}

void *keep_alloc(size_t n)
{
	void *p = must_alloc(n);

	memset(p, 0, n);
	return keep(p);
}

char *must_vprintf(const char *fmt, va_list ap)
{
	va_list again;
	size_t size;
	char *p;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	size = n < 0 ? 1 : (size_t)n + 1;
	p = must_alloc(size);
	*p = '\0';
	vsnprintf(p, size, fmt, ap);
	return p;
}

char *keepf(const char *fmt, ...)
{
	va_list ap;
	char *p;

	va_start(ap, fmt);
	p = must_vprintf(fmt, ap);
	va_end(ap);
	return keep(p);
}

size_t keep_mark(void)
{
	size_t n;

	pthread_mutex_lock(&lock);
	n = kept.n;
	pthread_mutex_unlock(&lock);
	return n;
}

void keep_release(size_t mark)
{
	pthread_mutex_lock(&lock);
	while (kept.n > mark)
		free(kept.at[--kept.n]);
	pthread_mutex_unlock(&lock);
}

void keep_free_all(void)
{
	for (size_t i = 0; i < kept.n; i++)
		free(kept.at[i]);
	free(kept.at);
	memset(&kept, 0, sizeof kept);
}

void words_add(struct words *w, const char *word)
{
	if (w->n + 2 > w->cap) {
		size_t cap = w->cap ? 2 * w->cap : 16;
		const char **at = keep_alloc(cap * sizeof *at);

		if (w->n)
			memcpy(at, w->at, w->n * sizeof *at);
		w->at = at;
		w->cap = cap;
	}
	w->at[w->n++] = word;
	w->at[w->n] = NULL;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void reserve(struct text *t, size_t more)
{
	size_t cap = t->cap ? t->cap : 256;
	char *p;

	if (t->n + more + 1 <= t->cap)
		return;
	while (cap < t->n + more + 1)
		cap *= 2;
	p = realloc(t->p, cap);
	if (!p)
		text_no_memory();
	t->p = p;
	t->cap = cap;
}

void text_add(struct text *t, const char *s, size_t n)
{
	reserve(t, n);
	if (n)
		memcpy(t->p + t->n, s, n);
	t->n += n;
	t->p[t->n] = '\0';
}

void text_puts(struct text *t, const char *s)
{
	text_add(t, s, strlen(s));
}

void text_printf(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	reserve(t, (size_t)n);
	va_start(ap, fmt);
	vsnprintf(t->p + t->n, (size_t)n + 1, fmt, ap);
	va_end(ap);
	t->n += (size_t)n;
}

void text_json(struct text *t, const char *s, size_t n)
{
	struct buf b;
	struct jw w;

	buf_init(&b, NULL, SIZE_MAX / 2);
	jw_init(&w, &b);
	jw_str(&w, (struct str){ n ? s : "", n });
	if (buf_status(&b))
		text_no_memory();
	text_add(t, buf_str(&b).p, buf_size(&b));
	buf_done(&b);
}

void text_drop(struct text *t, size_t n)
{
	if (!n)
		return;
	memmove(t->p, t->p + n, t->n - n);
	t->n -= n;
	t->p[t->n] = '\0';
}

void text_drop_taken(struct text *t, size_t *taken)
{
	if (*taken <= t->n / 2)
		return;
	text_drop(t, *taken);
	*taken = 0;
}

const char *text_str(struct text *t)
{
	return t->p ? t->p : "";
}

char *text_take(struct text *t)
{
	char *p;

	reserve(t, 0);
	t->p[t->n] = '\0';
	p = t->p;
	memset(t, 0, sizeof *t);
	return p;
}

void text_free(struct text *t)
{
	free(t->p);
	memset(t, 0, sizeof *t);
}

bool text_read(struct text *t, const char *path, size_t max)
{
	bool is_stdin = strcmp(path, "-") == 0;
	FILE *f = is_stdin ? stdin : fopen(path, "rb");
	size_t start = t->n, n;
	int failed = 0;

	if (!f)
		return false;
	do {
		reserve(t, 16384);
		n = fread(t->p + t->n, 1, 16384, f);
		t->n += n;
		t->p[t->n] = '\0';
		if (t->n - start > max)
			failed = EFBIG;
	} while (n && !failed);
	if (!failed && ferror(f))
		failed = errno ? errno : EIO;
	if (!is_stdin)
		fclose(f);
	errno = failed;
	return !failed;
}
