/* fuzz_cli_jsonedit.c - any file with comments that other programs' configurations may be: a server is put in
 * and taken out again. What comes out must mean what it should, and nothing else may have changed.
 */
#include "require.h"
#include "text/jsonc.h"
#include "text/jsonedit.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const path[] = { "mcpServers", "new" };

static cleat_doc *parse(const char *p, size_t n)
{
	char *bare = malloc(n + 1);
	cleat_doc *doc;

	if (!bare)
		abort();
	memcpy(bare, p, n);
	jsonc_blank(bare, n);
	doc = cleat_doc_parse(bare, n, NULL, NULL, NULL);
	free(bare);
	return doc;
}

static const cleat_json *servers_of(const cleat_doc *doc)
{
	return cleat_json_get(cleat_doc_root(doc), path[0]);
}

/* Are all members of `a` in `b`, with the same values, except `but`? */
static bool all_in(const cleat_json *a, const cleat_json *b, const char *but)
{
	cleat_json_iter it = cleat_json_each(a);

	while (cleat_json_next(&it)) {
		size_t n;
		const char *key = cleat_json_strn(it.key, &n);
		const cleat_json *other = cleat_json_getn(b, key, n);

		if (n == strlen(but) && memcmp(key, but, n) == 0)
			continue;
		if (!other || !cleat_json_equal(it.value, other))
			return false;
	}
	return true;
}

static void set_and_remove(const char *data, size_t size, const cleat_doc *before)
{
	cleat_doc *value = cleat_doc_parse("{\"a\":[1,{\"b\":\"}\"}]}", 19, NULL, NULL, NULL);
	struct text set = { 0 }, removed = { 0 };
	cleat_doc *after, *again;
	FILE *nowhere = fopen("/dev/null", "w");
	struct text old = { 0 };

	require(value && nowhere);
	jsonedit_set(&set, data, size, path, 2, cleat_doc_root(value));
	after = parse(text_str(&set), set.n);
	require(after != NULL);
	require(cleat_json_equal(cleat_json_get(servers_of(after), path[1]),
				 cleat_doc_root(value)));
	require(all_in(cleat_doc_root(before), cleat_doc_root(after), path[0]));
	require(all_in(cleat_doc_root(after), cleat_doc_root(before), path[0]));
	require(all_in(servers_of(before), servers_of(after), path[1]));
	require(all_in(servers_of(after), servers_of(before), path[1]));
	text_add(&old, data, size);
	jsonedit_diff(nowhere, "x", &old, &set, false);
	require(jsonedit_remove(&removed, text_str(&set), set.n, path, 2));
	again = parse(text_str(&removed), removed.n);
	require(again != NULL);
	require(!cleat_json_get(servers_of(again), path[1]));
	require(all_in(servers_of(before), servers_of(again), path[1]));
	require(all_in(servers_of(again), servers_of(before), path[1]));
	require(all_in(cleat_doc_root(before), cleat_doc_root(again), path[0]));
	fclose(nowhere);
	cleat_doc_free(value);
	cleat_doc_free(after);
	cleat_doc_free(again);
	text_free(&set);
	text_free(&removed);
	text_free(&old);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	cleat_doc *doc = parse(text, size);
	const cleat_json *root = cleat_doc_root(doc), *servers = servers_of(doc);
	size_t blanks = 0;

	/* What `cleat install` checks first; and a key that appears twice has no meaning to keep. */
	if (doc && cleat_json_type(root) == CLEAT_JSON_OBJECT && !cleat_json_duplicate(root) &&
	    (!servers ||
	     (cleat_json_type(servers) == CLEAT_JSON_OBJECT && !cleat_json_duplicate(servers))))
		set_and_remove(text, size, doc);
	cleat_doc_free(doc);
	while (!doc && blanks < size && strchr(" \t\r\n", text[blanks]) && text[blanks])
		blanks++;
	if (!doc && blanks == size)
		set_and_remove(text, size, NULL);
	keep_free_all();
	return 0;
}
