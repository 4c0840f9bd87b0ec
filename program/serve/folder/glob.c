/* program/serve/folder/glob.c - see glob.h.
 *
 * {a,b} is multiplied out when the pattern is compiled; each of the resulting branches is a list of items.
 * Matching keeps the set of items that may come next (a bit each) and moves it along the path, one
 * character after the other, so nothing is ever tried twice.
 *
 * Invariant: items <= GLOB_ITEMS_MAX, branches <= GLOB_BRANCHES_MAX; the set fits in the stack.
 */
#include "serve/folder/glob.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/mem.h"

#include <string.h>

enum item_kind {
	ITEM_CHAR, /* exactly `c` */
	ITEM_ANY,  /* one, not '/' */
	ITEM_STAR, /* any number, not '/' */
	ITEM_DEEP, /* any number of whole directories, each with its '/' */
	ITEM_REST, /* at least one character, of any kind */
	ITEM_CLASS
};

struct range {
	uint32_t from, to;
};

struct item {
	enum item_kind kind;
	bool negated;
	uint32_t c;
	uint32_t n_ranges;
	const struct range *ranges;
};

struct branch {
	struct item *items;
	size_t n;
	bool name_only;
	struct str suffix; /* "*" and then only this: compared without more ado; absent: no */
};

struct glob {
	struct arena memory;
	struct branch branches[GLOB_BRANCHES_MAX];
	size_t n;
};

/* ---- compiling ------------------------------------------------------------------------------ */

struct source {
	struct str text;
	size_t at;
};

/* Bytes that are no UTF-8 are characters of their own, beyond the last one. */
static uint32_t next_char(struct str s, size_t *i)
{
	unsigned char byte = (unsigned char)s.p[*i];
	uint32_t c = utf8_next(s, i);

	return c == UTF8_BAD ? 0x110000u + byte : c;
}

static bool more(const struct source *in)
{
	return in->at < in->text.n;
}

static bool looks_at(const struct source *in, const char *what)
{
	return str_starts((struct str){ in->text.p + in->at, in->text.n - in->at }, what);
}

static int class_char(struct source *in, uint32_t *ret)
{
	if (more(in) && in->text.p[in->at] == '\\')
		in->at++;
	if (!more(in))
		return CLEAT_EINVAL;
	*ret = next_char(in->text, &in->at);
	return CLEAT_OK;
}

/* Behind the '['. */
static int read_class(struct arena *ar, struct source *in, struct item *it)
{
	size_t most = in->text.n - in->at + 1;
	struct range *list = arena_alloc(ar, most * sizeof *list);
	bool first = true;

	if (!list)
		return CLEAT_ENOMEM;
	it->kind = ITEM_CLASS;
	it->ranges = list;
	if (looks_at(in, "!") || looks_at(in, "^")) {
		it->negated = true;
		in->at++;
	}
	for (; more(in) && (first || !looks_at(in, "]")); first = false) {
		struct range *r = &list[it->n_ranges];

		if (class_char(in, &r->from))
			return CLEAT_EINVAL;
		r->to = r->from;
		if (looks_at(in, "-") && !looks_at(in, "-]")) {
			in->at++;
			if (class_char(in, &r->to) || r->to < r->from)
				return CLEAT_EINVAL;
		}
		it->n_ranges++;
	}
	if (!more(in))
		return CLEAT_EINVAL;
	in->at++;
	/* What was too much is used again: a pattern has hundreds of classes, times its alternatives. */
	arena_realloc(ar, list, most * sizeof *list, it->n_ranges * sizeof *list);
	return CLEAT_OK;
}

/* "**" means more than '*' only as a whole component. */
static void read_stars(struct source *in, struct item *it)
{
	bool at_start = in->at == 0 || in->text.p[in->at - 1] == '/';

	it->kind = ITEM_STAR;
	if (at_start && looks_at(in, "**/")) {
		it->kind = ITEM_DEEP;
		in->at += 3;
	} else if (at_start && looks_at(in, "**") && in->at + 2 == in->text.n) {
		it->kind = ITEM_REST;
		in->at += 2;
	} else {
		while (looks_at(in, "*"))
			in->at++;
	}
}

static int read_item(struct arena *ar, struct source *in, struct item *it)
{
	*it = (struct item){ .kind = ITEM_CHAR };
	switch (in->text.p[in->at]) {
	case '*': read_stars(in, it); return CLEAT_OK;
	case '?':
		it->kind = ITEM_ANY;
		in->at++;
		return CLEAT_OK;
	case '[': in->at++; return read_class(ar, in, it);
	case '\\':
		if (++in->at == in->text.n)
			return CLEAT_EINVAL;
		break;
	default: break;
	}
	it->c = next_char(in->text, &in->at);
	return CLEAT_OK;
}

static void find_suffix(struct branch *b, struct str text)
{
	struct str tail = { text.p + 1, text.n - 1 };

	if (b->name_only && text.n > 1 && text.p[0] == '*' && !glob_is_pattern(tail))
		b->suffix = tail;
}

static int compile_branch(struct glob *g, struct str text, cleat_error *err)
{
	struct branch *b = &g->branches[g->n];
	struct source in = { text, 0 };

	if (g->n == GLOB_BRANCHES_MAX)
		return error_set(err, CLEAT_ELIMIT, "has more than %d alternatives",
				 GLOB_BRANCHES_MAX);
	while (str_starts(text, "**/") && !memchr(text.p + 3, '/', text.n - 3)) {
		text.p += 3; /* a name, anywhere */
		text.n -= 3;
	}
	b->name_only = !memchr(text.p, '/', text.n);
	in.text = text;
	if (looks_at(&in, "/")) {
		in.text.p++;
		in.text.n--;
	}
	b->items = arena_alloc(&g->memory, GLOB_ITEMS_MAX * sizeof *b->items);
	if (!b->items)
		return error_set(err, CLEAT_ENOMEM, "no memory");
	while (more(&in)) {
		int rc;

		if (b->n == GLOB_ITEMS_MAX)
			return error_set(err, CLEAT_ELIMIT, "has more than %d items",
					 GLOB_ITEMS_MAX);
		rc = read_item(&g->memory, &in, &b->items[b->n]);
		if (rc == CLEAT_ENOMEM)
			return error_set(err, rc, "no memory");
		if (rc)
			return error_set(err, rc, "ends in the middle of [...] or behind a '\\'");
		b->n++;
	}
	b->items = arena_realloc(&g->memory, b->items, GLOB_ITEMS_MAX * sizeof *b->items,
				 (b->n ? b->n : 1) * sizeof *b->items);
	find_suffix(b, text);
	g->n++;
	return CLEAT_OK;
}

/* The place behind the character at i, which may be escaped or a class. */
static size_t glob_step(struct str s, size_t i)
{
	if (s.p[i] == '\\' && i + 1 < s.n)
		return i + 2;
	if (s.p[i] == '[') {
		size_t end = i + 1;

		if (end < s.n && (s.p[end] == '!' || s.p[end] == '^'))
			end++;
		if (end < s.n)
			end += s.p[end] == '\\' ? 2 : 1;
		while (end < s.n && s.p[end] != ']')
			end += s.p[end] == '\\' ? 2 : 1;
		return end < s.n ? end + 1 : i + 1;
	}
	return i + 1;
}

struct braces {
	size_t open, close;
};

/* The last '{' that has its '}', with no other inside. */
static bool find_braces(struct str s, struct braces *ret)
{
	bool open = false;

	for (size_t i = 0; i < s.n; i = glob_step(s, i)) {
		if (s.p[i] == '{') {
			ret->open = i;
			open = true;
		} else if (s.p[i] == '}' && open) {
			ret->close = i;
			return true;
		}
	}
	return false;
}

struct pending {
	struct str texts[GLOB_BRANCHES_MAX];
	size_t n;
};

static int put_alternative(struct glob *g, struct pending *p, struct str whole,
			   const struct braces *at, struct str inner, cleat_error *err)
{
	size_t tail = whole.n - at->close - 1;
	char *text = arena_alloc(&g->memory, at->open + inner.n + tail + 1);

	if (!text)
		return error_set(err, CLEAT_ENOMEM, "no memory");
	if (p->n == GLOB_BRANCHES_MAX)
		return error_set(err, CLEAT_ELIMIT, "has more than %d alternatives",
				 GLOB_BRANCHES_MAX);
	memcpy(text, whole.p, at->open);
	memcpy(text + at->open, inner.p, inner.n);
	memcpy(text + at->open + inner.n, whole.p + at->close + 1, tail);
	p->texts[p->n++] = (struct str){ text, at->open + inner.n + tail };
	return CLEAT_OK;
}

static int multiply(struct glob *g, struct pending *p, struct str text, const struct braces *at,
		    cleat_error *err)
{
	size_t from = at->open + 1;
	int rc = CLEAT_OK;

	for (size_t i = from; rc == CLEAT_OK && i <= at->close; i = glob_step(text, i))
		if (i == at->close || text.p[i] == ',') {
			rc = put_alternative(g, p, text, at,
					     (struct str){ text.p + from, i - from }, err);
			from = i + 1;
		}
	return rc;
}

static int glob_compile(struct glob *g, struct str pattern, cleat_error *err)
{
	struct pending p = { .n = 1 };
	struct braces at = { 0 };
	int rc = CLEAT_OK;

	p.texts[0] = pattern;
	while (rc == CLEAT_OK && p.n) {
		struct str text = p.texts[--p.n];

		rc = find_braces(text, &at) ? multiply(g, &p, text, &at, err)
					    : compile_branch(g, text, err);
	}
	return rc;
}

struct glob *glob_new(const cleat_allocator *mem, struct str pattern, cleat_error *err)
{
	const cleat_allocator a = mem_resolve(mem);
	cleat_error why = { 0 };
	struct glob *g;

	if (!pattern.n || pattern.n > GLOB_TEXT_MAX || str_has_nul(pattern)) {
		error_set(err, CLEAT_EINVAL, "a glob has 1 to %d bytes and no NUL", GLOB_TEXT_MAX);
		return NULL;
	}
	g = mem_zalloc(&a, sizeof *g);
	if (!g) {
		error_set(err, CLEAT_ENOMEM, "no memory for a glob");
		return NULL;
	}
	arena_init(&g->memory, &a, 0);
	pattern.p = arena_strndup(&g->memory, pattern.p, pattern.n);
	if (!pattern.p || glob_compile(g, pattern, &why)) {
		error_set(err, why.status ? why.status : CLEAT_ENOMEM, "the glob \"%.*s\" %s",
			  (int)(pattern.n < 80 ? pattern.n : 80), pattern.p ? pattern.p : "",
			  why.status ? why.message : "found no memory");
		glob_free(g);
		return NULL;
	}
	return g;
}

void glob_free(struct glob *g)
{
	cleat_allocator mem;

	if (!g)
		return;
	mem = g->memory.mem;
	arena_done(&g->memory);
	mem_free(&mem, g);
}

/* ---- matching ------------------------------------------------------------------------------- */

enum { WORDS = GLOB_ITEMS_MAX / 64 + 1 };

/* Items that may come next; one more bit for the end. */
struct places {
	uint64_t bits[WORDS];
};

static bool has(const struct places *p, size_t i)
{
	return p->bits[i / 64] >> (i % 64) & 1;
}

/* Adds a place and those that can be reached from it without a character. */
static void reach(const struct branch *b, struct places *p, size_t i)
{
	for (;; i++) {
		p->bits[i / 64] |= UINT64_C(1) << (i % 64);
		if (i == b->n || (b->items[i].kind != ITEM_STAR && b->items[i].kind != ITEM_DEEP))
			return;
	}
}

static bool in_class(const struct item *it, uint32_t c)
{
	for (uint32_t i = 0; i < it->n_ranges; i++)
		if (c >= it->ranges[i].from && c <= it->ranges[i].to)
			return !it->negated;
	return it->negated;
}

static void stay(struct places *p, size_t i)
{
	p->bits[i / 64] |= UINT64_C(1) << (i % 64);
}

/* One character from place i. An item that repeats keeps its place without what is behind it: a
 * directory of ITEM_DEEP is over only at its '/'. */
static void advance(const struct branch *b, struct places *to, size_t i, uint32_t c)
{
	const struct item *it = &b->items[i];

	switch (it->kind) {
	case ITEM_CHAR:
		if (c == it->c)
			reach(b, to, i + 1);
		break;
	case ITEM_ANY:
		if (c != '/')
			reach(b, to, i + 1);
		break;
	case ITEM_STAR:
		if (c != '/')
			reach(b, to, i);
		break;
	case ITEM_DEEP:
		if (c == '/')
			reach(b, to, i);
		else
			stay(to, i);
		break;
	case ITEM_REST:
		stay(to, i);
		reach(b, to, i + 1);
		break;
	case ITEM_CLASS:
		if (c != '/' && in_class(it, c))
			reach(b, to, i + 1);
		break;
	}
}

static bool glob_run(const struct branch *b, struct str path, struct places *now)
{
	size_t at = 0;

	*now = (struct places){ { 0 } };
	reach(b, now, 0);
	while (at < path.n) {
		uint32_t c = next_char(path, &at);
		struct places then = { { 0 } };
		bool any = false;

		for (size_t w = 0; w <= b->n / 64; w++)
			any |= now->bits[w] != 0;
		if (!any)
			return false;
		for (size_t i = 0; i < b->n; i++)
			if (has(now, i))
				advance(b, &then, i, c);
		*now = then;
	}
	return true;
}

static struct str last_part(struct str path)
{
	for (size_t i = path.n; i > 0; i--)
		if (path.p[i - 1] == '/')
			return (struct str){ path.p + i, path.n - i };
	return path;
}

static bool branch_matches(const struct branch *b, struct str path)
{
	struct places p;

	if (b->name_only)
		path = last_part(path);
	if (b->suffix.p)
		return path.n >= b->suffix.n &&
		       memcmp(path.p + path.n - b->suffix.n, b->suffix.p, b->suffix.n) == 0;
	return glob_run(b, path, &p) && has(&p, b->n);
}

bool glob_match(const struct glob *g, struct str path)
{
	for (size_t i = 0; i < g->n; i++)
		if (branch_matches(&g->branches[i], path))
			return true;
	return false;
}

static bool branch_may_enter(const struct branch *b, struct str directory)
{
	struct places p, below = { { 0 } };
	bool any = false;

	if (b->name_only || !directory.n)
		return true;
	if (!glob_run(b, directory, &p))
		return false;
	for (size_t i = 0; i < b->n; i++)
		if (has(&p, i))
			advance(b, &below, i, '/');
	for (size_t w = 0; w < WORDS; w++)
		any |= below.bits[w] != 0;
	return any;
}

bool glob_may_enter(const struct glob *g, struct str directory)
{
	for (size_t i = 0; i < g->n; i++)
		if (branch_may_enter(&g->branches[i], directory))
			return true;
	return false;
}

bool glob_is_name(const struct glob *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (!g->branches[i].name_only)
			return false;
	return true;
}

bool glob_is_pattern(struct str text)
{
	for (size_t i = 0; i < text.n; i++)
		if (strchr("*?[{\\", text.p[i]) && text.p[i])
			return true;
	return false;
}
