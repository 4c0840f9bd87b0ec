/* program/serve/folder/names.c - see names.h. */
#include "serve/folder/names.h"

#include "base/mem.h"
#include "loop/loop.h"

#include <pthread.h>
#include <time.h>

struct names {
	cleat_allocator mem;
	pthread_mutex_t lock;
	struct buf text; /* d_type and the terminated name, one after the other */
	struct stat st;
	bool known;
	uint64_t since; /* when it was read, ms */
	int64_t quiet_ms;
};

struct names *names_new(const cleat_allocator *mem, int64_t quiet_ms)
{
	struct names *n = mem_zalloc(mem, sizeof *n);

	if (!n)
		return NULL;
	n->mem = *mem;
	if (pthread_mutex_init(&n->lock, NULL)) {
		mem_free(mem, n);
		return NULL;
	}
	n->quiet_ms = quiet_ms;
	buf_init(&n->text, mem, NAMES_BYTES);
	return n;
}

void names_free(struct names *n)
{
	cleat_allocator mem;

	if (!n)
		return;
	mem = n->mem;
	buf_done(&n->text);
	pthread_mutex_destroy(&n->lock);
	mem_free(&mem, n);
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static bool unchanged(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	       same_time(&a->st_mtim, &b->st_mtim) && same_time(&a->st_ctim, &b->st_ctim);
}

/* Long enough ago that a change from now on gets another time? */
static bool is_quiet(const struct names *n, const struct stat *st)
{
	struct timespec now;
	int64_t ms;

	if (clock_gettime(CLOCK_REALTIME, &now))
		return false;
	ms = (int64_t)(now.tv_sec - st->st_ctim.tv_sec) * 1000 +
	     (now.tv_nsec - st->st_ctim.tv_nsec) / 1000000;
	return ms > n->quiet_ms;
}

bool names_each(struct names *n, int dir,
		int (*fn)(void *ctx, const char *name, unsigned char type), void *ctx, int *ret)
{
	struct stat st;
	bool known;

	if (!n || fstat(dir, &st))
		return false;
	pthread_mutex_lock(&n->lock);
	known = n->known && unchanged(&n->st, &st) && loop_now() - n->since < NAMES_KEPT_MS;
	if (known) {
		struct str text = buf_str(&n->text);
		int rc = CLEAT_OK;

		for (size_t i = 0; i < text.n && rc == CLEAT_OK;) {
			const char *name = text.p + i + 1;

			rc = fn(ctx, name, (unsigned char)text.p[i]);
			i += strlen(name) + 2;
		}
		*ret = rc;
	}
	pthread_mutex_unlock(&n->lock);
	return known;
}

void names_begin(struct names *n, struct names_reading *r, int dir)
{
	*r = (struct names_reading){ .on = false };
	if (!n)
		return;
	buf_init(&r->text, &n->mem, NAMES_BYTES);
	r->on = fstat(dir, &r->st) == 0 && is_quiet(n, &r->st);
}

void names_add(struct names_reading *r, const char *name, unsigned char type)
{
	if (!r->on)
		return;
	buf_putc(&r->text, (char)type);
	buf_append(&r->text, name, strlen(name) + 1);
	r->count++;
	if (buf_status(&r->text)) {
		r->on = false;
		buf_reset(&r->text, 0);
	}
}

void names_end(struct names *n, struct names_reading *r, int dir, bool all)
{
	struct stat st;

	if (n && r->on && all && r->count >= NAMES_MIN && fstat(dir, &st) == 0 &&
	    unchanged(&r->st, &st)) {
		struct buf old;

		pthread_mutex_lock(&n->lock);
		old = n->text;
		n->text = r->text;
		n->st = st;
		n->known = true;
		n->since = loop_now();
		pthread_mutex_unlock(&n->lock);
		r->text = old;
	}
	if (n)
		buf_done(&r->text);
	r->on = false;
}
