/* fuzz/fuzz_signature.c - signatures and schemas from anybody.
 *
 * The input is read as a signature; one that is accepted must give a valid table, and what is
 * printed for its schema must read as the same schema. The same input, where it is JSON, is also
 * printed as if it were a tool's inputSchema.
 */
#include "field/field.h"
#include "field/signature.h"
#include "require.h"
#include "json/parse.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Is the printed text complete, and not cut at the limit? */
static bool complete(const char *text)
{
	size_t n = strlen(text);

	require(n < SIGNATURE_PRINTED);
	require(utf8_valid_prefix(str_of(text)) == n);
	return n < 3 || strcmp(text + n - 3, "\xE2\x80\xA6") != 0;
}

static void there_and_back(const char *text)
{
	char *name = NULL, *schema, *printed, *again;
	cleat_doc *doc;

	schema = cleat_signature_schema(text, &name, NULL);
	if (!schema)
		return;
	doc = cleat_doc_parse(schema, strlen(schema), NULL, NULL, NULL);
	require(doc);
	printed = cleat_signature_print(name, cleat_doc_root(doc), true, NULL);
	require(printed);
	if (complete(printed)) {
		again = cleat_signature_schema(printed, NULL, NULL);
		require(again && strcmp(again, schema) == 0);
		free(again);
	}
	cleat_doc_free(doc);
	free(printed);
	free(schema);
	free(name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), *printed;
	struct signature sig;
	cleat_error err;
	struct arena ar;
	const char *rest;
	cleat_doc *doc;

	arena_init(&ar, NULL, 0);
	if (signature_parse(&ar, text, &sig, &rest, &err) == CLEAT_OK) {
		require(rest >= text && rest <= text + size);
		require(field_table_check(sig.fields, NULL) == CLEAT_OK);
	} else {
		require(err.status == CLEAT_EINVAL);
		require(utf8_valid_prefix(str_of(err.message)) == strlen(err.message));
	}
	arena_done(&ar);
	there_and_back(text);
	doc = cleat_doc_parse(text, size, NULL, NULL, NULL);
	if (doc) {
		printed = cleat_signature_print("t", cleat_doc_root(doc), size % 2, NULL);
		require(printed);
		complete(printed);
		free(printed);
	}
	cleat_doc_free(doc);
	free(text);
	return 0;
}
