/* http/fields.c - see fields.h. */
#include "http/fields.h"
#include "http/token.h"

enum { FIRST_ROOM = 16 };

bool http_field_split(struct str line, struct http_field *ret)
{
	const char *colon = line.n ? memchr(line.p, ':', line.n) : NULL;

	if (!colon)
		return false;
	ret->name = (struct str){ line.p, (size_t)(colon - line.p) };
	ret->value = http_trim((struct str){ colon + 1, line.n - ret->name.n - 1 });
	return http_is_token(ret->name);
}

/* Whether eight bytes have one below ' ' or a DEL among them. A byte beyond ASCII may be taken for one too
 * (a carry): the caller looks again, one by one. */
static bool eight_suspect(const char *p)
{
	const uint64_t ones = UINT64_MAX / 0xff;
	uint64_t w, del;

	memcpy(&w, p, sizeof w);
	del = w ^ ones * 0x7f;
	return ((w - ones * 0x20) | (del - ones) | w) & ones * 0x80;
}

bool http_is_field_value(struct str s)
{
	size_t clean = 0;

	while (s.n - clean >= 8 && !eight_suspect(s.p + clean))
		clean += 8;
	for (size_t i = clean; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if ((c < 0x20 && c != '\t') || c == 0x7f)
			return false;
	}
	return true;
}

struct str http_fields_find(const struct http_field *fields, size_t n, const char *name)
{
	struct str wanted = str_of(name);

	for (size_t i = 0; i < n; i++)
		if (str_same(fields[i].name, wanted))
			return fields[i].value;
	return (struct str){ NULL, 0 };
}

/* ---- lists ------------------------------------------------------------------------------------ */

void http_field_add(struct http_field_list *l, struct str name, struct str value)
{
	if (l->n == l->room) {
		size_t room = l->room ? 2 * l->room : FIRST_ROOM;
		struct http_field *at =
			arena_realloc(l->ar, l->at, l->room * sizeof *at, room * sizeof *at);

		if (!at)
			return;
		l->at = at;
		l->room = room;
	}
	l->at[l->n++] = (struct http_field){ name, value };
}

static struct str copy(struct arena *ar, struct str s)
{
	return (struct str){ arena_strndup(ar, s.p, s.n), s.n };
}

void http_field_keep(struct http_field_list *l, struct str name, struct str value)
{
	http_field_add(l, copy(l->ar, name), copy(l->ar, value));
}
