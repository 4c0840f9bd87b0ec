/* json/parse.c - see parse.h. yyjson has no limits of its own and never recurses, so text of any
 * shape is read safely; what is added here bounds what the text may cost afterwards:
 *   - nodes: a text of n bytes holds at most n values, so only texts longer than the limit have
 *     theirs counted, before anything is allocated for them;
 *   - depth: a document of n values nests at most n deep, so most messages need no look at all,
 *     and the others one walk over the flat array.
 */
#include "json/parse.h"

#include "base/error.h"
#include "json/node.h"

#include <string.h>

enum { DEFAULT_DEPTH = 128, DEFAULT_NODES = 1000000 };

static cleat_json_limits parse_resolve(const cleat_json_limits *given)
{
	cleat_json_limits l = { .max_depth = DEFAULT_DEPTH, .max_nodes = DEFAULT_NODES };

	if (given && given->max_depth)
		l.max_depth = given->max_depth < NODE_MAX_DEPTH ? given->max_depth : NODE_MAX_DEPTH;
	if (given && given->max_nodes)
		l.max_nodes = given->max_nodes;
	return l;
}

size_t json_max_nodes(const cleat_json_limits *limits)
{
	return parse_resolve(limits).max_nodes;
}

size_t json_max_depth(const cleat_json_limits *limits)
{
	return parse_resolve(limits).max_depth;
}

size_t json_nodes(const cleat_json *v)
{
	const yyjson_val *at = node_of(v);

	return at ? (size_t)(node_next(at) - at) : 0;
}

size_t json_text_bytes(const cleat_json *v)
{
	const yyjson_val *at = node_of(v), *end = at + json_nodes(v);
	size_t bytes = 0;

	for (; at < end; at++)
		if (node_has_text(at))
			bytes += node_len(at) + 1;
	return bytes;
}

/* First byte after the string whose opening quote is at p. */
static const char *skip_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		if (*p == '\\' && p + 1 < end)
			p++;
	return p < end ? p + 1 : end;
}

/* Does the text hold more values and keys than this? Exact for valid JSON: every value but the
 * root follows a comma, a colon or the opening of a container that is not empty. */
static bool has_more_nodes(struct str text, size_t max)
{
	const char *p = text.p, *end = text.p + text.n;
	size_t count = 1;
	bool opened = false;

	while (p < end && count <= max) {
		char c = *p;

		if (c == ' ' || c == '\n' || c == '\r' || c == '\t') {
			p++;
			continue;
		}
		count += c == ',' || c == ':' || (opened && c != ']' && c != '}');
		opened = c == '[' || c == '{';
		p = c == '"' ? skip_string(p, end) : p + 1;
	}
	return count > max;
}

bool node_is_deeper(const yyjson_val *root, size_t count, size_t max)
{
	const yyjson_val *ends[NODE_MAX_DEPTH], *end = root + count;
	size_t depth = 0;

	if (count <= max) /* fewer containers than levels */
		return false;
	for (const yyjson_val *v = root; v < end; v++) {
		while (depth && v == ends[depth - 1])
			depth--;
		if (!node_is_container(v))
			continue;
		if (depth == max)
			return true;
		ends[depth++] = node_next(v);
	}
	return false;
}

static int fail_read(cleat_error *err, const yyjson_read_err *why)
{
	if (why->code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
		return error_set(err, CLEAT_ENOMEM, "out of memory while reading JSON");
	if (why->code == YYJSON_READ_ERROR_EMPTY_CONTENT)
		return error_set(err, CLEAT_EPROTO, "the JSON text is empty");
	return error_set(err, CLEAT_EPROTO, "%s", why->msg);
}

int json_parse_at(struct arena *ar, struct str text, const cleat_json_limits *limits,
		  const cleat_json **ret, size_t *ret_line, size_t *ret_column, cleat_error *err)
{
	const cleat_json_limits max = parse_resolve(limits);
	const cleat_allocator a = arena_allocator(ar);
	const yyjson_alc alc = { a.malloc, a.realloc, a.free, a.ctx };
	yyjson_read_err why;
	yyjson_doc *doc;

	*ret = NULL;
	*ret_line = *ret_column = 0;
	if (!text.p || text.n == 0)
		return error_set(err, CLEAT_EPROTO, "the JSON text is empty");
	if (text.n > max.max_nodes && has_more_nodes(text, max.max_nodes))
		return error_set(err, CLEAT_ELIMIT,
				 "the JSON text has more than %zu values and keys", max.max_nodes);
	doc = yyjson_read_opts((char *)text.p, text.n, YYJSON_READ_NUMBER_AS_RAW, &alc, &why);
	if (!doc && why.code != YYJSON_READ_ERROR_MEMORY_ALLOCATION &&
	    why.code != YYJSON_READ_ERROR_EMPTY_CONTENT)
		yyjson_locate_pos(text.p, text.n, why.pos < text.n ? why.pos : text.n, ret_line,
				  ret_column, NULL);
	if (!doc)
		return fail_read(err, &why);
	if (node_is_deeper(doc->root, yyjson_doc_get_val_count(doc), max.max_depth))
		return error_set(err, CLEAT_ELIMIT, "the JSON text nests deeper than %zu levels",
				 max.max_depth);
	*ret = node_json(doc->root);
	return CLEAT_OK;
}

int json_parse(struct arena *ar, struct str text, const cleat_json_limits *limits,
	       const cleat_json **ret, cleat_error *err)
{
	size_t line, column;
	int rc = json_parse_at(ar, text, limits, ret, &line, &column, err);

	if (rc && line && err)
		error_set(err, rc, "line %zu, column %zu: %s", line, column, err->message);
	return rc;
}
