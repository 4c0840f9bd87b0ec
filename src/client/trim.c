/* client/trim.c - lists with entries that nest too deep: they are read without those.
 *
 * A list is many people's work, and one tool whose schema is too deep is no reason to have none. Only here, after the
 * message was refused as a whole, and in the text: nothing of that depth becomes a value. Other answers stay refused,
 * for half of a result is not a result.
 */
#include "client/state.h"

#include "json/parse.h"
#include "json/skim.h"

enum { ABOVE = 3 }; /* levels around an entry: the message, its result, the list */

struct trim {
	cleat_client *client;
	struct skim s;
	const char *from; /* what is not copied yet */
	char *to;         /* where it goes */
	size_t max;       /* levels of an entry */
	size_t left_out;
};

static void copy_to(struct trim *t, const char *end)
{
	memcpy(t->to, t->from, (size_t)(end - t->from));
	t->to += end - t->from;
}

static size_t depth_of(struct str v)
{
	size_t depth = 0, most = 0;

	for (size_t i = 0; i < v.n; i++) {
		if (v.p[i] == '"')
			for (i++; i < v.n && v.p[i] != '"'; i++)
				i += v.p[i] == '\\';
		else if (v.p[i] == '{' || v.p[i] == '[')
			most = ++depth > most ? depth : most;
		else if (v.p[i] == '}' || v.p[i] == ']')
			depth--;
	}
	return most;
}

static void leave_out(struct trim *t, struct str entry)
{
	struct str name = skim_find(entry, "name");

	if (name.n > 60)
		name.n = 60;
	t->left_out++;
	client_note(t->client, CLEAT_LOG_WARNING,
		    "the entry %.*s of a list was left out: it nests deeper than %zu levels",
		    (int)name.n, name.p ? name.p : "", t->max);
}

/* In the array, of which the bracket was entered. */
static void trim_entries(struct trim *t)
{
	bool first = true;

	copy_to(t, t->s.p);
	while (skim_element(&t->s)) {
		struct str entry = skim_value(&t->s);

		if (t->s.bad)
			return;
		if (depth_of(entry) > t->max) {
			leave_out(t, entry);
			continue;
		}
		if (!first)
			*t->to++ = ',';
		first = false;
		t->from = entry.p;
		copy_to(t, entry.p + entry.n);
	}
	t->from = t->s.p - 1;
}

static void trim_result(struct trim *t)
{
	struct str key;

	if (!skim_enter(&t->s, '{')) {
		skim_value(&t->s);
		return;
	}
	while (skim_member(&t->s, &key))
		if (skim_enter(&t->s, '['))
			trim_entries(t);
		else
			skim_value(&t->s);
}

bool trim_list(const cleat_call *call, struct arena *ar, struct str text, struct str *ret)
{
	cleat_client *c = call->client;
	struct trim t = { .client = c, .s = skim_text(text) };
	size_t levels = json_max_depth(&c->opts.json);
	struct str key, end = STR_LIT("/list");
	char *start;

	if (levels <= ABOVE || call->method.n < end.n ||
	    memcmp(call->method.p + call->method.n - end.n, end.p, end.n) != 0)
		return false;
	t.from = t.s.p;
	t.max = levels - ABOVE;
	start = t.to = arena_alloc(ar, text.n);
	if (!start || !skim_enter(&t.s, '{'))
		return false;
	while (skim_member(&t.s, &key))
		if (skim_is(key, "result"))
			trim_result(&t);
		else
			skim_value(&t.s);
	if (!t.left_out || !skim_is_over(&t.s))
		return false;
	copy_to(&t, text.p + text.n);
	*ret = (struct str){ start, (size_t)(t.to - start) };
	return true;
}
