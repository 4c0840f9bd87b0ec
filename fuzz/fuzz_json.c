/* fuzz/fuzz_json.c - any bytes as JSON: parse, walk with every getter, print, read again; the second
 * document must equal the first, hash and print the same. The first byte chooses limits.
 */
#include "base/arena.h"
#include "require.h"
#include "json/hash.h"
#include "json/parse.h"

#include <cleat/json.h>

#include <stdlib.h>
#include <string.h>

static void touch(const cleat_json *v)
{
	size_t n = 0;
	const char *s = cleat_json_strn(v, &n), *number = cleat_json_number_text(v);

	require(!s || (s[n] == '\0' && n == cleat_json_size(v)));
	require(!number || number[strlen(number)] == '\0');
	if (cleat_json_int(v, 1) == cleat_json_int(v, 2))
		require(cleat_json_is_integer(v));
	(void)cleat_json_uint(v, 0);
	(void)cleat_json_num(v, 0);
	(void)cleat_json_bool(v, false);
	(void)cleat_json_at(v, n);
	require(json_type_name(v) != NULL);
}

/* Depth is bounded by the parser, so a small stack of iterators is enough. */
static void walk(const cleat_json *root, size_t max_depth, size_t max_nodes)
{
	static cleat_json_iter stack[1024];
	size_t depth = 0, nodes = 1;

	touch(root);
	stack[depth++] = cleat_json_each(root);
	while (depth) {
		cleat_json_iter *it = &stack[depth - 1];

		if (!cleat_json_next(it)) {
			depth--;
			continue;
		}
		nodes += it->key ? 2 : 1;
		touch(it->value);
		if (it->key) {
			struct str key = json_str(it->key);

			require(key.p && json_get(root, key) != it->key);
		}
		if (json_is_object(it->value) || json_is_array(it->value)) {
			require(depth < max_depth);
			stack[depth++] = cleat_json_each(it->value);
		}
	}
	require(nodes <= max_nodes);
}

static void check_keys(const cleat_json *v)
{
	cleat_error err;
	const cleat_json *twice = cleat_json_duplicate(v);

	if (twice)
		require(json_check_keys(v, &err) == CLEAT_EPROTO && err.message[0]);
}

static void round_trip(const cleat_json *v)
{
	size_t n = 0, m = 0;
	char *text = cleat_json_print(v, &n), *again;
	cleat_json_limits limits = { .max_depth = 1024, .max_nodes = SIZE_MAX };
	cleat_doc *doc;

	require(text && text[n] == '\0');
	doc = cleat_doc_parse(text, n, &limits, NULL, NULL);
	require(doc != NULL);
	require(cleat_json_equal(v, cleat_doc_root(doc)));
	require(cleat_json_equal(cleat_doc_root(doc), v));
	require(json_hash(v, n) == json_hash(cleat_doc_root(doc), n));
	again = cleat_json_print(cleat_doc_root(doc), &m);
	require(again && n == m && memcmp(text, again, n) == 0);
	free(again);
	free(text);
	cleat_doc_free(doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const cleat_json_limits choice[] = {
		{ 0 },
		{ .max_depth = 4 },
		{ .max_depth = 1024 },
		{ .max_nodes = 16 },
		{ .max_depth = 2, .max_nodes = 300 },
		{ .max_depth = 1, .max_nodes = 1 },
	};
	const cleat_json_limits *limits;
	cleat_error err = { 0 };
	cleat_doc *doc;

	if (size == 0)
		return 0;
	limits = &choice[data[0] % CLEAT_COUNT(choice)];
	doc = cleat_doc_parse((const char *)data + 1, size - 1, limits, NULL, &err);
	if (!doc) {
		require(err.status == CLEAT_EPROTO || err.status == CLEAT_ELIMIT);
		require(err.message[0] != '\0');
		return 0;
	}
	walk(cleat_doc_root(doc), limits->max_depth ? limits->max_depth : 128,
	     limits->max_nodes ? limits->max_nodes : 1000000);
	check_keys(cleat_doc_root(doc));
	round_trip(cleat_doc_root(doc));
	cleat_doc_free(doc);
	return 0;
}
