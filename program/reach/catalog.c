/* program/reach/catalog.c - what a server has, one line each: what it is called, and what it says about itself. */
#include "reach/catalog.h"
#include "text/print.h"

#include <stdlib.h>
#include <string.h>

enum { WIDEST_HEAD = 44, BROKEN_INDENT = 4 };

const struct catalog_kind catalog_kinds[4] = {
	{ CLEAT_LIST_TOOLS, "tools", "Tools", "tools", "name", "tool" },
	{ CLEAT_LIST_RESOURCES, "resources", "Resources", "resources", "uri", "resource" },
	{ CLEAT_LIST_TEMPLATES, "templates", "Resource templates", "resourceTemplates",
	  "uriTemplate", "template" },
	{ CLEAT_LIST_PROMPTS, "prompts", "Prompts", "prompts", "name", "prompt" },
};

const struct catalog_kind *catalog_kind(enum cleat_list list)
{
	size_t i = 0;

	while (catalog_kinds[i].list != list)
		i++;
	return &catalog_kinds[i];
}

const char *catalog_name(const struct catalog_kind *kind, const cleat_json *entry)
{
	return cleat_json_str(cleat_json_get(entry, kind->key), "");
}

static const char *prompt_head(const cleat_json *prompt)
{
	cleat_json_iter it = cleat_json_each(cleat_json_get(prompt, "arguments"));
	struct text t = { 0 };

	text_printf(&t, "%s(", cleat_json_str(cleat_json_get(prompt, "name"), ""));
	while (cleat_json_next(&it))
		text_printf(&t, "%s%s%s", it.index ? ", " : "",
			    cleat_json_str(cleat_json_get(it.value, "name"), ""),
			    cleat_json_bool(cleat_json_get(it.value, "required"), false) ? ""
											 : "?");
	text_puts(&t, ")");
	return keep(text_take(&t));
}

const char *catalog_head(const struct catalog_kind *kind, const cleat_json *entry)
{
	const char *name = catalog_name(kind, entry);
	char *signature;

	if (kind->list == CLEAT_LIST_PROMPTS)
		return prompt_head(entry);
	if (kind->list != CLEAT_LIST_TOOLS)
		return name;
	signature = cleat_signature_print(name, cleat_json_get(entry, "inputSchema"), false, NULL);
	return signature ? keep(signature) : name;
}

const char *catalog_hints(const cleat_json *entry)
{
	static const struct {
		const char *key, *word;
	} known[] = { { "readOnlyHint", "read-only" },
		      { "destructiveHint", "destructive" },
		      { "idempotentHint", "idempotent" },
		      { "openWorldHint", "open-world" } };
	const cleat_json *hints = cleat_json_get(entry, "annotations");
	bool read_only = cleat_json_bool(cleat_json_get(hints, "readOnlyHint"), false);
	struct text t = { 0 };

	for (size_t i = 0; i < CLEAT_COUNT(known); i++) {
		if (!cleat_json_bool(cleat_json_get(hints, known[i].key), false) ||
		    (i == 1 && read_only)) /* says nothing then */
			continue;
		text_printf(&t, "%s%s", t.n ? ", " : "", known[i].word);
	}
	return keep(text_take(&t));
}

/* What an entry says about itself, its first line. */
static const char *about(const cleat_json *entry)
{
	const char *text = cleat_json_str(cleat_json_get(entry, "description"), NULL);

	if (!text || !*text)
		text = cleat_json_str(cleat_json_get(entry, "title"), NULL);
	if (!text || !*text)
		text = cleat_json_str(cleat_json_get(cleat_json_get(entry, "annotations"), "title"),
				      NULL);
	return text ? text : "";
}

/* As much of the first line as there is room for. */
static void print_about(FILE *to, const char *text, size_t room)
{
	size_t n = strcspn(text, "\r\n");
	bool whole = print_fit(text, room) == n;

	print_safe(to, text, whole ? n : print_fit(text, room - 1));
	if (!whole)
		fputs("…", to);
}

/* A signature is one line for a program; for a terminal that is too narrow it is broken between arguments. */
static void print_head(FILE *to, const char *head, size_t room)
{
	size_t used = 0, indent = 0;

	while (*head) {
		const char *comma = room == SIZE_MAX ? NULL : strstr(head, ", ");
		size_t n = comma ? (size_t)(comma - head) + 1 : strlen(head);
		char *part = keepf("%.*s", (int)n, head);
		size_t width = print_width(part);

		if (used > indent && used + 1 + width > room) {
			indent = BROKEN_INDENT;
			fprintf(to, "\n%*s", (int)indent, "");
			used = indent;
		} else if (used) {
			fputc(' ', to);
			used++;
		}
		print_line(to, part);
		used += width;
		head += n + (comma != NULL);
	}
}

static void print_entry(struct cli *cli, FILE *to, const struct catalog_kind *kind,
			const cleat_json *entry, size_t column)
{
	const char *head = catalog_head(kind, entry), *hints = catalog_hints(entry),
		   *text = about(entry);
	size_t width = print_width(head), room = print_room(to), used = column + 2;

	fputs(cli->color ? COLOR_BOLD : "", to);
	print_head(to, head, room);
	fputs(cli->color ? COLOR_OFF : "", to);
	if (!*hints && !*text) {
		fputc('\n', to);
		return;
	}
	if (width > column)
		fprintf(to, "\n%*s", (int)used, "");
	else
		fprintf(to, "%*s", (int)(used - width), "");
	if (*hints) {
		fprintf(to, "[%s]%s", hints, *text ? " " : "");
		used += strlen(hints) + 3;
	}
	print_about(to, text, room == SIZE_MAX ? room : room > used ? room - used : 1);
	fputc('\n', to);
}

void catalog_print(struct cli *cli, FILE *to, const struct catalog_kind *kind,
		   const cleat_json *items)
{
	cleat_json_iter it = cleat_json_each(items);
	size_t column = 0, half = print_room(to) / 2;
	size_t widest = half < WIDEST_HEAD ? half : WIDEST_HEAD;

	while (cleat_json_next(&it)) {
		size_t width = print_width(catalog_head(kind, it.value));

		if (width > column && width <= widest)
			column = width;
	}
	if (!column)
		column = 8;
	it = cleat_json_each(items);
	while (cleat_json_next(&it))
		print_entry(cli, to, kind, it.value, column);
}

const cleat_json *catalog_find(const struct catalog_kind *kind, const cleat_json *items,
			       const char *name)
{
	cleat_json_iter it = cleat_json_each(items);

	while (cleat_json_next(&it))
		if (strcmp(catalog_name(kind, it.value), name) == 0)
			return it.value;
	return NULL;
}

void catalog_names(const struct catalog_kind *kind, const cleat_json *items, struct words *to)
{
	cleat_json_iter it = cleat_json_each(items);

	while (cleat_json_next(&it))
		words_add(to, catalog_name(kind, it.value));
}

cleat_doc *catalog_completion(bool uri, const char *ref, const char *argument, const char *typed,
			      const cleat_json *known)
{
	cleat_build *b = cleat_build_new(NULL);

	cleat_build_object(b, NULL);
	cleat_build_valuef(b, "ref", "{type: %s, %s: %s}", uri ? "ref/resource" : "ref/prompt",
			   uri ? "uri" : "name", ref);
	cleat_build_valuef(b, "argument", "{name: %s, value: %s}", argument, typed);
	if (cleat_json_size(known))
		cleat_build_valuef(b, "context", "{arguments: %p}", (const void *)known);
	cleat_build_end(b);
	return cleat_build_finish(b, NULL);
}
