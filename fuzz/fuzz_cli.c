/* fuzz_cli.c - what the program reads from files and servers: configuration files, variables, arguments, and
 * text that is printed.
 *
 * The first byte says which; what is printed must have no control character but newline and tab, and blanking
 * a file must keep its length and its lines.
 */
#include "cli/arguments.h"
#include "clients/expand.h"
#include "text/jsonc.h"
#include "text/print.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *get(const char *name)
{
	return name[0] == 'A' ? "value" : NULL;
}

static void configuration(const char *data, size_t size)
{
	static const char *const path[] = { "mcpServers", "a", "env", "b" };
	char *text = malloc(size + 1);
	size_t line, column;

	if (!text)
		return;
	memcpy(text, data, size);
	jsonc_blank(text, size);
	for (size_t i = 0; i < size; i++)
		if ((text[i] == '\n') != (data[i] == '\n'))
			abort();
	for (size_t depth = 0; depth <= CLEAT_COUNT(path); depth++)
		if (jsonc_locate(text, size, path, depth, &line, &column) &&
		    (line > size + 1 || !column))
			abort();
	free(text);
}

static void variables(const char *data, size_t size)
{
	const struct expand_places places = { .workspace = "/w", .home = "/h", .get = get };
	char *text = keepf("%.*s", (int)size, data);
	const char *why = NULL;

	if (!expand(text, &places, &why) && !why)
		abort();
}

/* A schema, a zero, and a value. */
static void argument(const char *data, size_t size)
{
	const char *zero = memchr(data, 0, size);
	size_t n = zero ? (size_t)(zero - data) : size;
	cleat_doc *schema = cleat_doc_parse(data, n, NULL, NULL, NULL), *value;
	const char *why = NULL;

	if (schema && zero) {
		value = argument_value(cleat_doc_root(schema), cleat_doc_root(schema), zero + 1,
				       size - n - 1, &why);
		if (!value && !why)
			abort();
		cleat_doc_free(value);
		argument_type(cleat_doc_root(schema));
	}
	cleat_doc_free(schema);
}

static void printing(const char *data, size_t size)
{
	char *text = NULL;
	size_t n = 0;
	FILE *to = open_memstream(&text, &n);

	if (!to)
		return;
	print_safe(to, data, size);
	print_wrapped(to, keepf("%.*s", (int)size, data), 4);
	fclose(to);
	for (size_t i = 0; i < n; i++)
		if (((unsigned char)text[i] < ' ' && text[i] != '\n' && text[i] != '\t') ||
		    text[i] == 0x7f)
			abort();
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const what[])(const char *data, size_t size) = { configuration, variables,
								       argument, printing };

	if (size && size <= 1 << 16)
		what[data[0] % CLEAT_COUNT(what)]((const char *)data + 1, size - 1);
	keep_free_all();
	return 0;
}
