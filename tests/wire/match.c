/* match.c - see match.h. Recursion is bounded by the depth of what the test itself parsed. */
#include "match.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- words -------------------------------------------------------------------------------- */

static struct word *find(const struct words *w, const char *name, size_t n, bool captured)
{
	struct word *v = w->first;

	while (v &&
	       !(v->captured == captured && strlen(v->name) == n && memcmp(v->name, name, n) == 0))
		v = v->next;
	return v;
}

void words_set(struct words *w, const char *name, size_t n, const char *value, bool captured)
{
	struct word *v = find(w, name, n, captured);

	if (!v) {
		v = text_alloc(sizeof *v);
		v->name = text_dup(name, n);
		v->captured = captured;
		v->next = w->first;
		w->first = v;
	}
	text_free(&v->value);
	text_puts(&v->value, value);
}

const char *words_get(const struct words *w, const char *name, size_t n, bool captured)
{
	const struct word *v = find(w, name, n, captured);

	return v ? text_str(&v->value) : NULL;
}

void words_free(struct words *w)
{
	while (w->first) {
		struct word *v = w->first;

		w->first = v->next;
		free(v->name);
		text_free(&v->value);
		free(v);
	}
}

static size_t name_length(const char *p)
{
	size_t n = 0;

	while (isalnum((unsigned char)p[n]) || p[n] == '_')
		n++;
	return n;
}

/* The longest known name at p, so that $REV-x and $REVISION both work. */
static const char *longest_let(const struct words *w, const char *p, size_t *n)
{
	const char *value = NULL;

	for (*n = name_length(p); *n && !value; *n -= !value)
		value = words_get(w, p, *n, false);
	return value;
}

/* `"<NAME>"` is the whole value; `<NAME>` inside a longer string is its text. Gives how much of s
 * was used. */
static size_t expand_capture(const struct words *w, const char *s, struct text *into)
{
	bool quoted = *s == '"';
	const char *name = s + quoted + 1, *value;
	size_t n = name_length(name);

	if (s[quoted] != '<' || name[n] != '>')
		return 0;
	value = words_get(w, name, n, true);
	if (!value)
		return 0;
	if (quoted && name[n + 1] == '"') {
		text_puts(into, value);
		return n + 4;
	}
	if (quoted)
		return 0;
	if (*value == '"')
		text_put(into, value + 1, strlen(value) - 2);
	else
		text_puts(into, value);
	return n + 2;
}

void words_expand(const struct words *w, const char *s, struct text *into)
{
	while (*s) {
		size_t n = 0;
		const char *value = *s == '$' ? longest_let(w, s + 1, &n) : NULL;

		if (value) {
			words_expand(w, value, into);
			s += n + 1;
			continue;
		}
		n = *s == '"' || *s == '<' ? expand_capture(w, s, into) : 0;
		if (!n)
			text_put(into, s, 1);
		s += n ? n : 1;
	}
}

/* ---- matching ----------------------------------------------------------------------------- */

struct match {
	struct words *words;
	struct text path, *why;
};

static bool differ(struct match *m, const cleat_json *want, const cleat_json *got)
{
	char *w = cleat_json_print(want, NULL), *g = cleat_json_print(got, NULL);

	text_printf(m->why, "at %s\n  expected %s\n  got      %s",
		    m->path.n ? m->path.p : "the top", w ? w : "nothing", g ? g : "nothing");
	free(w);
	free(g);
	return false;
}

static bool same_scalar(const cleat_json *want, const cleat_json *got)
{
	size_t n, k;
	const char *a, *b;

	switch (cleat_json_type(want)) {
	case CLEAT_JSON_NUMBER:
		return strcmp(cleat_json_number_text(want), cleat_json_number_text(got)) == 0;
	case CLEAT_JSON_STRING:
		a = cleat_json_strn(want, &n);
		b = cleat_json_strn(got, &k);
		return n == k && memcmp(a, b, n) == 0;
	case CLEAT_JSON_BOOL: return cleat_json_bool(want, false) == cleat_json_bool(got, false);
	default: return true;
	}
}

/* 1: fits, 0: does not, -1: is no placeholder. */
static int placeholder(struct match *m, const cleat_json *want, const cleat_json *got)
{
	static const char capture[] = "<capture:";
	const char *s = cleat_json_str(want, "");
	size_t n = strlen(s);
	char *value;

	if (strcmp(s, "<any>") == 0)
		return got != NULL;
	if (strncmp(s, capture, sizeof capture - 1) != 0 || s[n - 1] != '>' || !got)
		return -1;
	value = cleat_json_print(got, NULL);
	words_set(m->words, s + sizeof capture - 1, n - sizeof capture, value, true);
	free(value);
	return 1;
}

static bool value(struct match *m, const cleat_json *want, const cleat_json *got);

static bool member(struct match *m, const char *key, size_t index, const cleat_json *want,
		   const cleat_json *got)
{
	size_t before = m->path.n;
	bool ok;

	if (key)
		text_printf(&m->path, "%s%s", before ? "." : "", key);
	else
		text_printf(&m->path, "[%zu]", index);
	ok = value(m, want, got);
	m->path.n = before;
	m->path.p[before] = '\0';
	return ok;
}

static bool container(struct match *m, const cleat_json *want, const cleat_json *got)
{
	cleat_json_iter it = cleat_json_each(want);

	while (cleat_json_next(&it)) {
		const char *key = it.key ? cleat_json_str(it.key, "") : NULL;
		const cleat_json *other =
			key ? cleat_json_get(got, key) : cleat_json_at(got, it.index);

		if (!member(m, key, it.index, it.value, other))
			return false;
	}
	if (cleat_json_size(want) >= cleat_json_size(got))
		return true;
	it = cleat_json_each(got);
	while (cleat_json_next(&it)) {
		const char *key = it.key ? cleat_json_str(it.key, "") : NULL;

		if (key ? !cleat_json_get(want, key) : !cleat_json_at(want, it.index))
			return member(m, key, it.index, NULL, it.value);
	}
	return true;
}

static bool value(struct match *m, const cleat_json *want, const cleat_json *got)
{
	enum cleat_json_type type = cleat_json_type(want);
	int special = type == CLEAT_JSON_STRING ? placeholder(m, want, got) : -1;

	if (special == 1)
		return true;
	if (special == 0 || type != cleat_json_type(got))
		return differ(m, want, got);
	if (type == CLEAT_JSON_OBJECT || type == CLEAT_JSON_ARRAY)
		return container(m, want, got);
	return same_scalar(want, got) ? true : differ(m, want, got);
}

bool match_message(struct words *w, const cleat_json *want, const cleat_json *got, struct text *why)
{
	struct match m = { .words = w, .why = why };
	bool ok;

	text_puts(&m.path, "");
	ok = value(&m, want, got);
	text_free(&m.path);
	return ok;
}

const char *match_duplicate(const cleat_json *v)
{
	cleat_json_iter it = cleat_json_each(v);
	const cleat_json *twice = cleat_json_duplicate(v);
	const char *found = NULL;

	if (twice)
		return cleat_json_str(twice, "");
	while (!found && cleat_json_next(&it))
		found = match_duplicate(it.value);
	return found;
}
