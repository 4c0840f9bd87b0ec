/* schema/set.c - schemas that may be referred to, by URI. A set only keeps documents: what is in
 * them is looked at when a schema that refers to them is compiled (schema/locate.c).
 */
#include "schema/set.h"

#include "base/error.h"
#include "base/mem.h"
#include "uri/reference.h"
#include "json/copy.h"
#include "json/parse.h"

enum { SET_MAX = 10000 };

struct known {
	struct str uri;
	const cleat_json *schema;
};

struct cleat_schema_set {
	struct arena ar; /* of everything in it; its allocator is the set's own */
	struct known *known;
	size_t n, cap;
};

cleat_schema_set *cleat_schema_set_new(const cleat_allocator *mem)
{
	const cleat_allocator a = mem_resolve(mem);
	cleat_schema_set *set = mem_zalloc(&a, sizeof *set);

	if (set)
		arena_init(&set->ar, &a, SIZE_MAX / 2);
	return set;
}

void cleat_schema_set_free(cleat_schema_set *set)
{
	cleat_allocator mem;

	if (!set)
		return;
	mem = set->ar.mem;
	mem_free(&mem, set->known);
	arena_done(&set->ar);
	mem_free(&mem, set);
}

const cleat_json *schema_set_find(const cleat_schema_set *set, struct str uri)
{
	for (size_t i = 0; set && i < set->n; i++)
		if (str_eq(set->known[i].uri, uri))
			return set->known[i].schema;
	return NULL;
}

static int normal_uri(cleat_schema_set *set, struct str uri, struct str *ret, cleat_error *err)
{
	struct buf b;
	struct uri parts;

	if (!uri_split(uri, 0, &parts) || !parts.scheme.p || parts.fragment.n)
		return error_set(err, CLEAT_EINVAL,
				 "a known schema needs an absolute URI without a fragment, such as "
				 "https://example.com/address.json, not \"%.100s\"",
				 uri.p);
	buf_init(&b, &set->ar.mem, SIZE_MAX / 2);
	uri_resolve(&b, STR_LIT(""), uri_without_fragment(uri));
	*ret = (struct str){ arena_strndup(&set->ar, buf_str(&b).p, buf_size(&b)), buf_size(&b) };
	if (buf_status(&b) || !ret->p)
		*ret = (struct str){ 0 };
	buf_done(&b);
	return ret->p ? CLEAT_OK : error_set(err, CLEAT_ENOMEM, "out of memory");
}

int cleat_schema_set_add(cleat_schema_set *set, const char *uri, const cleat_json *schema,
			 cleat_error *err)
{
	enum cleat_json_type type = cleat_json_type(schema);
	void *array = set ? set->known : NULL;
	struct known k;
	int rc;

	if (!set || !uri)
		return error_set(err, CLEAT_EINVAL, "a set and a URI are needed");
	if (type != CLEAT_JSON_OBJECT && type != CLEAT_JSON_BOOL)
		return error_set(err, CLEAT_EINVAL, "a schema is an object or a boolean, not %s",
				 json_type_name(schema));
	rc = normal_uri(set, str_of(uri), &k.uri, err);
	if (rc)
		return rc;
	if (schema_set_find(set, k.uri))
		return error_set(err, CLEAT_EEXIST, "%.100s is known already", k.uri.p);
	if (set->n == SET_MAX)
		return error_set(err, CLEAT_ELIMIT, "more than %d known schemas", SET_MAX);
	rc = mem_grow(&set->ar.mem, &array, &set->cap, set->n, sizeof *set->known, SET_MAX);
	if (!rc) {
		set->known = array;
		rc = json_copy(&set->ar, schema, &k.schema);
	}
	if (rc)
		return error_set(err, rc, "%s", cleat_strstatus(rc));
	set->known[set->n++] = k;
	return CLEAT_OK;
}
