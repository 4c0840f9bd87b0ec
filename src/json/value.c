/* json/value.c - looking into a value: the getters of <cleat/json.h> and parse.h.
 *
 * Every function takes NULL and any type and answers with its fallback. Not here: numbers
 * (number.c), duplicate keys (keys.c), comparison (equal.c).
 */
#include "json/node.h"
#include "json/parse.h"

enum cleat_json_type cleat_json_type(const cleat_json *v)
{
	switch (v ? node_of(v)->tag & YYJSON_TYPE_MASK : YYJSON_TYPE_NONE) {
	case YYJSON_TYPE_NULL: return CLEAT_JSON_NULL;
	case YYJSON_TYPE_BOOL: return CLEAT_JSON_BOOL;
	case YYJSON_TYPE_RAW: return CLEAT_JSON_NUMBER;
	case YYJSON_TYPE_STR: return CLEAT_JSON_STRING;
	case YYJSON_TYPE_ARR: return CLEAT_JSON_ARRAY;
	case YYJSON_TYPE_OBJ: return CLEAT_JSON_OBJECT;
	default: return CLEAT_JSON_NONE;
	}
}

const char *json_type_name(const cleat_json *v)
{
	switch (cleat_json_type(v)) {
	case CLEAT_JSON_NULL: return "null";
	case CLEAT_JSON_BOOL: return cleat_json_bool(v, false) ? "true" : "false";
	case CLEAT_JSON_NUMBER: return "a number";
	case CLEAT_JSON_STRING: return "a string";
	case CLEAT_JSON_ARRAY: return "an array";
	case CLEAT_JSON_OBJECT: return "an object";
	case CLEAT_JSON_NONE: break;
	}
	return "nothing";
}

bool json_is_object(const cleat_json *v)
{
	return v && node_is(node_of(v), YYJSON_TYPE_OBJ);
}

bool json_is_array(const cleat_json *v)
{
	return v && node_is(node_of(v), YYJSON_TYPE_ARR);
}

bool json_is_string(const cleat_json *v)
{
	return v && node_is(node_of(v), YYJSON_TYPE_STR);
}

const cleat_json *json_empty_object(void)
{
	static const yyjson_val empty = { .tag = YYJSON_TYPE_OBJ, .uni.ofs = sizeof(yyjson_val) };

	return node_json(&empty);
}

struct str json_str(const cleat_json *v)
{
	return json_is_string(v) ? node_text(node_of(v)) : (struct str){ NULL, 0 };
}

const cleat_json *json_get(const cleat_json *v, struct str key)
{
	return cleat_json_getn(v, key.p, key.n);
}

const cleat_json *cleat_json_getn(const cleat_json *v, const char *key, size_t n)
{
	return node_json(yyjson_obj_getn(node_of(v), key, n));
}

const cleat_json *cleat_json_get(const cleat_json *v, const char *key)
{
	return key ? cleat_json_getn(v, key, strlen(key)) : NULL;
}

const cleat_json *cleat_json_at(const cleat_json *v, size_t i)
{
	return node_json(yyjson_arr_get(node_of(v), i));
}

size_t cleat_json_size(const cleat_json *v)
{
	switch (cleat_json_type(v)) {
	case CLEAT_JSON_STRING:
	case CLEAT_JSON_ARRAY:
	case CLEAT_JSON_OBJECT: return node_len(node_of(v));
	default: return 0;
	}
}

const char *cleat_json_str(const cleat_json *v, const char *fallback)
{
	return json_is_string(v) ? node_of(v)->uni.str : fallback;
}

const char *cleat_json_strn(const cleat_json *v, size_t *ret_len)
{
	struct str s = json_str(v);

	if (ret_len)
		*ret_len = s.n;
	return s.p;
}

bool cleat_json_bool(const cleat_json *v, bool fallback)
{
	return v && node_is(node_of(v), YYJSON_TYPE_BOOL) ? unsafe_yyjson_get_bool(node_of(v))
							  : fallback;
}

cleat_json_iter cleat_json_each(const cleat_json *v)
{
	cleat_json_iter it = { .object_ = json_is_object(v) };

	if (it.object_ || json_is_array(v)) {
		it.next_ = node_of(v) + 1;
		it.left_ = node_len(node_of(v));
	}
	return it;
}

bool cleat_json_next(cleat_json_iter *it)
{
	const yyjson_val *v;

	if (!it)
		return false;
	it->index = it->value ? it->index + 1 : 0;
	if (it->left_ == 0) {
		it->key = it->value = NULL;
		return false;
	}
	v = it->next_;
	it->key = it->object_ ? node_json(v) : NULL;
	v += it->object_;
	it->value = node_json(v);
	it->next_ = node_next(v);
	it->left_--;
	return true;
}
