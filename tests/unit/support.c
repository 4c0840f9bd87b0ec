/* tests/unit/support.c - see support.h. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

/* In front of every block; keeps the alignment that malloc gives. */
union header {
	struct {
		size_t size;
		uint64_t mark;
	} h;
	max_align_t align;
};

static const uint64_t LIVE = UINT64_C(0x6c697665626c6f63), DEAD = UINT64_C(0x6465616462c6f6f6);

static bool refuse(struct fail_alloc *fa)
{
	fa->requests++;
	if (fa->countdown == 0 && fa->failures && fa->forever) {
		fa->failures++;
		return true;
	}
	if (fa->countdown == 0 || --fa->countdown > 0)
		return false;
	fa->failures++;
	return true;
}

static void check(const union header *p)
{
	if (p->h.mark == LIVE)
		return;
	fprintf(stderr, "fail_alloc: %s\n", p->h.mark == DEAD ? "freed twice" : "not my block");
	abort();
}

static void account(struct fail_alloc *fa, size_t gone, size_t come)
{
	fa->bytes = fa->bytes - gone + come;
	if (fa->bytes > fa->peak)
		fa->peak = fa->bytes;
}

static void *fa_malloc(void *ctx, size_t size)
{
	struct fail_alloc *fa = ctx;
	union header *p;

	if (refuse(fa))
		return NULL;
	p = size < SIZE_MAX / 2 ? malloc(sizeof *p + size) : NULL;
	if (!p)
		return NULL;
	p->h.size = size;
	p->h.mark = LIVE;
	memset(p + 1, 0xA5, size); /* nobody may count on zeros */
	fa->live++;
	account(fa, 0, size);
	return p + 1;
}

static void fa_free(void *ctx, void *ptr)
{
	struct fail_alloc *fa = ctx;
	union header *p = ptr;

	if (!p)
		return;
	p--;
	check(p);
	account(fa, p->h.size, 0);
	fa->live--;
	p->h.mark = DEAD;
	free(p);
}

static void *fa_realloc(void *ctx, void *ptr, size_t old_size, size_t size)
{
	struct fail_alloc *fa = ctx;
	union header *old = ptr;
	void *fresh;

	if (!old)
		return fa_malloc(ctx, size);
	old--;
	check(old);
	if (old->h.size != old_size) {
		fprintf(stderr, "fail_alloc: old size %zu given as %zu\n", old->h.size, old_size);
		abort();
	}
	if (size <= old_size) {
		account(fa, old_size, size);
		old->h.size = size;
		return ptr;
	}
	fresh = fa_malloc(ctx, size); /* always moves, so that stale pointers are found */
	if (!fresh)
		return NULL;
	memcpy(fresh, ptr, old_size);
	fa_free(ctx, ptr);
	return fresh;
}

void fail_alloc_init(struct fail_alloc *fa, size_t countdown, bool forever)
{
	*fa = (struct fail_alloc){
		.hook = { .malloc = fa_malloc, .realloc = fa_realloc, .free = fa_free, .ctx = fa },
		.countdown = countdown,
		.forever = forever,
	};
}

bool fail_alloc_hit(const struct fail_alloc *fa)
{
	return fa->failures > 0;
}

bool fail_alloc_next(struct fail_alloc *fa)
{
	bool lasting = fa->lasting, last = fa->round > 0 && !fail_alloc_hit(fa);
	size_t round = last ? 1 : fa->round + 1;

	if (fa->live > 0) {
		fprintf(stderr, "fail_alloc: %zu blocks are left when request %zu fails%s\n",
			fa->live, fa->round, lasting ? " and all after it" : "");
		exit(1); /* where they are from is told by whoever looks for leaks */
	}
	if (last && lasting)
		return false;
	lasting = lasting || last;
	fail_alloc_init(fa, round, lasting);
	fa->round = round;
	fa->lasting = lasting;
	return true;
}

void fail_alloc_calm(struct fail_alloc *fa)
{
	fa->countdown = 0;
	fa->forever = false;
}

void fail_alloc_arm(struct fail_alloc *fa)
{
	fa->countdown = fa->round;
	fa->forever = fa->lasting;
}

const char *json_of(const char *text)
{
	static char *buffers[8];
	static unsigned next;
	char **to = &buffers[next++ % 8];
	size_t n = strlen(text) + 1;

	*to = realloc(*to, n);
	for (size_t i = 0; i < n; i++)
		(*to)[i] = text[i] == '\'' ? '"' : text[i];
	return *to;
}

static bool is_there(char *buf, size_t n, const char *dir, const char *name)
{
	int len = snprintf(buf, n, "%s/%s", dir, name);
	FILE *f = len > 0 && (size_t)len < n ? fopen(buf, "rb") : NULL; /* opens directories, too */

	if (f)
		fclose(f);
	return f;
}

bool support_data_path(char *buf, size_t n, const char *name)
{
	const char *dir = getenv("CLEAT_TEST_DATA");

	return is_there(buf, n, dir && *dir ? dir : CLEAT_SOURCE_DIR "/../shared/data", name) ||
	       is_there(buf, n, CLEAT_SOURCE_DIR "/.deps/data", name);
}

char *support_json(const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		abort();
	for (char *p = copy; *p; p++)
		if (*p == '\'')
			*p = '"';
	return copy;
}

char *support_read_file(const char *path, size_t *ret_len)
{
	size_t n = 0, cap = 4096;
	char *text = malloc(cap + 1), *more;
	FILE *f = fopen(path, "rb");

	while (f && text) {
		size_t got = fread(text + n, 1, cap - n, f);

		n += got;
		if (got == 0)
			break;
		if (n < cap)
			continue;
		more = realloc(text, cap * 2 + 1);
		if (!more)
			break;
		text = more;
		cap *= 2;
	}
	if (!f || !text || ferror(f)) {
		free(text);
		text = NULL;
	}
	if (f)
		fclose(f);
	if (text)
		text[n] = '\0';
	if (ret_len)
		*ret_len = text ? n : 0;
	return text;
}
