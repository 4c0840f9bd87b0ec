/* program/check/lists.c - looks at what a server lists: names, descriptions, hints, URIs. Sends nothing. */
#include "check/check.h"

#include "base/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
	NAME_MOST = 128,
	NAME_USUAL = 64,
	DESCRIPTION_LEAST = 12,
	PAIRS_MOST = 50000,
	SCHEMA_DEPTH = 64
};

static const char *const singular[] = { "tool", "resource", "template", "prompt" };

/* ---- texts --------------------------------------------------------------------------------------- */

/* Code points that nobody sees, but a model reads: controls, zero width, bidirectional, tags. The joiners and
 * marks U+200C to U+200F are how some scripts are written. */
static bool is_hidden(uint32_t c)
{
	return (c < 0x20 && c != '\n' && c != '\t' && c != '\r') || (c >= 0x7F && c < 0xA0) ||
	       c == 0x200B || (c >= 0x202A && c <= 0x202E) || (c >= 0x2060 && c <= 0x2064) ||
	       (c >= 0x2066 && c <= 0x206F) || c == 0xFEFF || (c >= 0xE0000 && c <= 0xE007F);
}

/* Behind a black flag, tags are the flag of Wales. */
static bool is_flag(uint32_t before, uint32_t c)
{
	return before == 0x1F3F4 && c >= 0xE0020 && c <= 0xE007F;
}

static void check_text(struct check *c, const char *where, const char *member, const cleat_json *v)
{
	struct str text = { NULL, 0 };
	uint32_t before = 0;

	text.p = cleat_json_strn(v, &text.n);
	for (size_t i = 0; i < text.n;) {
		uint32_t code = utf8_next(text, &i);

		if (is_flag(before, code))
			continue;
		if (is_hidden(code)) {
			check_report(c, CHECK_ERROR, "hidden-text", where, "U+%04X in %s",
				     (unsigned)code, member);
			return;
		}
		before = code;
	}
}

/* All text of a schema goes to the model: descriptions, names, choices. */
static void check_texts(struct check *c, const char *where, const char *member, const cleat_json *v,
			unsigned depth)
{
	cleat_json_iter it = cleat_json_each(v);

	check_text(c, where, member, v);
	while (depth && cleat_json_next(&it)) {
		check_text(c, where, member, it.key);
		check_texts(c, where, member, it.value, depth - 1);
	}
}

/* What is left when all that is easily taken for something else is the same. */
static void fold(const char *name, char *to, size_t room)
{
	size_t n = 0;

	for (; *name && n + 1 < room; name++) {
		char ch = (char)tolower((unsigned char)*name);

		if (!strchr("_-. ", ch))
			to[n++] = ch == '0' ? 'o' : ch == '1' || ch == 'i' ? 'l' : ch;
	}
	to[n] = 0;
}

static bool says_nothing(const char *description, const char *name)
{
	char a[NAME_MOST + 1], b[NAME_MOST + 1];

	fold(description, a, sizeof a);
	fold(name, b, sizeof b);
	return strcmp(a, b) == 0;
}

static void check_description(struct check *c, const char *where, const char *name,
			      const cleat_json *entry, bool tool)
{
	const char *text = cleat_json_str(cleat_json_get(entry, "description"), NULL);

	check_text(c, where, "description", cleat_json_get(entry, "description"));
	check_text(c, where, "title", cleat_json_get(entry, "title"));
	if (!text || !*text)
		check_report(c, tool ? CHECK_WARNING : CHECK_NOTE, "description", where,
			     "has no description");
	else if (says_nothing(text, name))
		check_report(c, CHECK_WARNING, "description", where,
			     "its description is only its name");
	else if (tool && strlen(text) < DESCRIPTION_LEAST)
		check_report(c, CHECK_WARNING, "description", where,
			     "its description is very short: %s", text);
}

/* ---- names --------------------------------------------------------------------------------------- */

/* The rules are those for tools; the protocol has none for prompts, but they become commands. */
static void check_name(struct check *c, const char *where, const cleat_json *v, bool tool)
{
	static const char allowed[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.";
	size_t n = 0, good;
	const char *name = cleat_json_strn(v, &n);

	if (!name)
		return; /* the protocol's business */
	check_text(c, where, "name", v);
	good = strspn(name, allowed);
	if (!n)
		check_report(c, CHECK_ERROR, "name", where, "the name is empty");
	else if (good < n)
		check_report(c,
			     !tool               ? CHECK_NOTE
			     : name[good] == '/' ? CHECK_WARNING
						 : CHECK_ERROR,
			     "name", where,
			     "character %zu of the name is not one of A-Z a-z 0-9 _ - .", good + 1);
	if (n > NAME_MOST)
		check_report(c, tool ? CHECK_ERROR : CHECK_WARNING, "name", where,
			     "the name has %zu characters, 128 are allowed", n);
	else if (n > NAME_USUAL)
		check_report(c, tool ? CHECK_WARNING : CHECK_NOTE, "name", where,
			     "the name has %zu characters; many clients allow 64", n);
}

struct folded {
	const char *name;
	char text[NAME_MOST + 1];
};

static int by_fold(const void *a, const void *b)
{
	const struct folded *x = a, *y = b;
	int rc = strcmp(x->text, y->text);

	return rc ? rc : strcmp(x->name, y->name);
}

static void check_pairs(struct check *c, const struct catalog_kind *kind, const char *what,
			const cleat_json *items)
{
	size_t n = 0, size = cleat_json_size(items);
	struct folded *all = size && size <= PAIRS_MOST ? keep_alloc(size * sizeof *all) : NULL;
	cleat_json_iter it = cleat_json_each(items);
	bool uri = strncmp(kind->key, "uri", 3) == 0;

	while (all && cleat_json_next(&it)) {
		all[n].name = catalog_name(kind, it.value);
		if (uri)
			snprintf(all[n].text, sizeof all[n].text, "%s", all[n].name);
		else
			fold(all[n].name, all[n].text, sizeof all[n].text);
		n++;
	}
	if (n > 1)
		qsort(all, n, sizeof *all, by_fold);
	for (size_t i = 1; i < n; i++) {
		const char *where = keepf("%s %s", what, all[i].name);

		if (strcmp(all[i - 1].name, all[i].name) == 0)
			check_report(c, CHECK_ERROR, "duplicate", where, "is listed twice");
		else if (!uri && strcmp(all[i - 1].text, all[i].text) == 0)
			check_report(c, CHECK_WARNING, "lookalike", where, "looks like %s",
				     all[i - 1].name);
	}
}

/* ---- tools --------------------------------------------------------------------------------------- */

static int hint(const cleat_json *annotations, const char *name)
{
	const cleat_json *v = cleat_json_get(annotations, name);

	return cleat_json_type(v) == CLEAT_JSON_BOOL ? cleat_json_bool(v, false) : -1;
}

/* Is the word at the beginning of the name, as a word? deleteFile, delete_file, delete. */
static bool begins_with(const char *name, const char *word)
{
	size_t n = strlen(word);

	return strncmp(name, word, n) == 0 && !islower((unsigned char)name[n]);
}

static void check_hints(struct check *c, const char *where, const char *name,
			const cleat_json *entry)
{
	/* The first ones leave no doubt; "create_chart" may well change nothing. */
	static const char *const writes[] = { "delete",  "remove", "drop",   "write",
					      "destroy", "kill",   "create", "update",
					      "insert",  "send",   "rename", "move" };
	enum { SURE = 6 };
	const cleat_json *a = cleat_json_get(entry, "annotations");
	int read_only = hint(a, "readOnlyHint");

	if (!a) {
		check_report(c, CHECK_NOTE, "annotations", where,
			     "says nothing: clients take it for destructive");
		return;
	}
	/* destructiveHint "is meaningful only when readOnlyHint == false". */
	if (read_only == 1 && hint(a, "destructiveHint") == 1)
		check_report(c, CHECK_WARNING, "annotations", where,
			     "is read-only and destructive at the same time");
	for (size_t i = 0; read_only == 1 && i < CLEAT_COUNT(writes); i++)
		if (begins_with(name, writes[i]))
			check_report(c, i < SURE ? CHECK_WARNING : CHECK_NOTE, "annotations", where,
				     "says it is read-only, but its name begins with \"%s\"",
				     writes[i]);
	if (hint(a, "destructiveHint") == 0 &&
	    (begins_with(name, "delete") || begins_with(name, "drop")))
		check_report(c, CHECK_WARNING, "annotations", where,
			     "says it is not destructive, which its name does not sound like");
}

static void check_tool(struct check *c, const char *where, const char *name,
		       const cleat_json *entry)
{
	check_hints(c, where, name, entry);
	check_texts(c, where, "inputSchema", cleat_json_get(entry, "inputSchema"), SCHEMA_DEPTH);
	check_tool_schema(c, where, "inputSchema", cleat_json_get(entry, "inputSchema"));
	if (cleat_json_get(entry, "outputSchema"))
		check_tool_schema(c, where, "outputSchema", cleat_json_get(entry, "outputSchema"));
}

/* ---- the others ---------------------------------------------------------------------------------- */

/* RFC 3986: ASCII only, no blanks and delimiters, "%" before two hexadecimal digits. */
static bool well_formed(const char *uri)
{
	for (const unsigned char *p = (const unsigned char *)uri; *p; p++)
		if (*p <= 0x20 || *p >= 0x7F || strchr("<>\"\\^`{|}", *p) ||
		    (*p == '%' && !(isxdigit(p[1]) && isxdigit(p[2]))))
			return false;
	return true;
}

static void check_uri(struct check *c, const char *where, const char *uri)
{
	size_t n = strspn(uri, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.");

	if (!isalpha((unsigned char)*uri) || uri[n] != ':')
		check_report(c, CHECK_ERROR, "uri", where, "is not a URI: it has no scheme");
	else if (!well_formed(uri))
		check_report(c, CHECK_ERROR, "uri", where,
			     "contains characters that a URI cannot have (%%20 is a space)");
}

static void check_template(struct check *c, const char *where, const char *text)
{
	cleat_error err;
	char *expanded = cleat_uri_template_expand(text, NULL, &err);

	if (!expanded)
		check_report(c, CHECK_ERROR, "uri", where, "%s", err.message);
	else if (!strchr(text, '{'))
		check_report(c, CHECK_WARNING, "uri", where,
			     "has no variables: it is a resource, not a template");
	free(expanded);
}

static void check_prompt(struct check *c, const char *where, const cleat_json *entry)
{
	cleat_json_iter it = cleat_json_each(cleat_json_get(entry, "arguments")), other;

	while (cleat_json_next(&it)) {
		const char *name = cleat_json_str(cleat_json_get(it.value, "name"), "");

		if (!cleat_json_get(it.value, "description"))
			check_report(c, CHECK_NOTE, "argument-description", where,
				     "%s is not described", name);
		check_text(c, where, "the description of an argument",
			   cleat_json_get(it.value, "description"));
		other = cleat_json_each(cleat_json_get(entry, "arguments"));
		while (cleat_json_next(&other) && other.index < it.index)
			if (strcmp(name, cleat_json_str(cleat_json_get(other.value, "name"), "")) ==
			    0)
				check_report(c, CHECK_ERROR, "duplicate", where,
					     "has the argument %s twice", name);
	}
}

static void check_list(struct check *c, size_t i)
{
	const struct catalog_kind *kind = &catalog_kinds[i];
	const cleat_json *items = cleat_result_items(c->lists[i]);
	cleat_json_iter it = cleat_json_each(items);

	while (cleat_json_next(&it)) {
		const char *name = catalog_name(kind, it.value);
		const char *where = keepf("%s %s", singular[i], name);

		if (i == 0 || i == 3)
			check_name(c, where, cleat_json_get(it.value, "name"), i == 0);
		check_description(c, where, name, it.value, i == 0);
		if (i == 0)
			check_tool(c, where, name, it.value);
		else if (i == 1)
			check_uri(c, where, name);
		else if (i == 2)
			check_template(c, where, name);
		else
			check_prompt(c, where, it.value);
	}
	check_pairs(c, kind, singular[i], items);
}

void check_entries(struct check *c)
{
	check_text(c, "server", "instructions",
		   cleat_json_get(cleat_client_server(c->cli->client), "instructions"));
	for (size_t i = 0; i < CLEAT_COUNT(catalog_kinds); i++)
		check_list(c, i);
}
