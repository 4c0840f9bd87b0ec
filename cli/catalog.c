/* cli/catalog.c - what a server has, one line each: what it is called, and what it says about itself. */
#include "catalog.h"

#include "print.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDEST_HEAD = 44 };

const struct catalog_kind catalog_kinds[4] = {
	{ CLEAT_LIST_TOOLS, "tools", "Tools", "tools", "name" },
	{ CLEAT_LIST_RESOURCES, "resources", "Resources", "resources", "uri" },
	{ CLEAT_LIST_TEMPLATES, "templates", "Resource templates", "resourceTemplates",
	  "uriTemplate" },
	{ CLEAT_LIST_PROMPTS, "prompts", "Prompts", "prompts", "name" },
};

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

static size_t room_of(FILE *to)
{
	struct winsize size;

	if (!isatty(fileno(to)))
		return SIZE_MAX;
	return ioctl(fileno(to), TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

/* As much of the first line as there is room for. */
static void print_about(FILE *to, const char *text, size_t room)
{
	size_t n = strcspn(text, "\r\n");
	char *line = keepf("%.*s", (int)n, text);

	if (print_width(line) <= room) {
		print_line(to, line);
		return;
	}
	while (n && print_width(line) + 1 > room)
		line[--n] = '\0';
	while (n && ((unsigned char)line[n - 1] & 0xc0) == 0x80) /* not half a character */
		line[--n] = '\0';
	print_line(to, line);
	fputs("…", to);
}

static void print_entry(struct cli *cli, FILE *to, const struct catalog_kind *kind,
			const cleat_json *entry, size_t column)
{
	const char *head = catalog_head(kind, entry), *hints = catalog_hints(entry),
		   *text = about(entry);
	size_t width = print_width(head), room = room_of(to), used;

	fputs(cli->color ? COLOR_BOLD : "", to);
	print_line(to, head);
	fputs(cli->color ? COLOR_OFF : "", to);
	if (!*hints && !*text) {
		fputc('\n', to);
		return;
	}
	if (width > column)
		fprintf(to, "\n%*s", (int)column + 2, "");
	else
		fprintf(to, "%*s", (int)(column - width) + 2, "");
	used = column + 2;
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
	size_t column = 0;

	while (cleat_json_next(&it)) {
		size_t width = print_width(catalog_head(kind, it.value));

		if (width > column && width <= WIDEST_HEAD)
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
