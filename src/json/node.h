/* json/node.h - what the files of json/ know about a value that nobody else does.
 *
 * A cleat_json is a yyjson_val read with YYJSON_READ_NUMBER_AS_RAW: numbers are raw, terminated
 * text and never parsed ones. The values of a document lie in one array in document order: a
 * container is followed by its children, a key by its value. That order is what lets every walk
 * here do without recursion.
 */
#ifndef JSON_NODE_H
#define JSON_NODE_H

#include "base/str.h"

#include <cleat/json.h>
#include <yyjson.h>

/* The deepest nesting that json_parse() ever lets through: the size of every walk's stack. */
enum { NODE_MAX_DEPTH = 1024 };

static inline yyjson_val *node_of(const cleat_json *v)
{
	return (yyjson_val *)v;
}

static inline const cleat_json *node_json(const yyjson_val *v)
{
	return (const cleat_json *)v;
}

static inline size_t node_len(const yyjson_val *v)
{
	return (size_t)(v->tag >> YYJSON_TAG_BIT);
}

static inline bool node_is(const yyjson_val *v, yyjson_type type)
{
	return (v->tag & YYJSON_TYPE_MASK) == type;
}

static inline bool node_is_container(const yyjson_val *v)
{
	return unsafe_yyjson_is_ctn((void *)v);
}

/* One past the value and everything in it. */
static inline yyjson_val *node_next(const yyjson_val *v)
{
	return unsafe_yyjson_get_next((yyjson_val *)v);
}

/* Of a string or a raw number. */
static inline struct str node_text(const yyjson_val *v)
{
	return (struct str){ v->uni.str, node_len(v) };
}

static inline bool node_same_text(const yyjson_val *a, const yyjson_val *b)
{
	size_t n = node_len(a);

	return n == node_len(b) && (n == 0 || (a->uni.str[0] == b->uni.str[0] &&
					       memcmp(a->uni.str, b->uni.str, n) == 0));
}

/* A string that was read without any escape sequence: ASCII, and nothing in it needs escaping. */
static inline bool node_is_plain(const yyjson_val *v)
{
	return (v->tag & YYJSON_SUBTYPE_MASK) == YYJSON_SUBTYPE_NOESC;
}

/* ---- number.c ---- */

/* Equal by value, exactly: no rounding to double. Both must be numbers. */
bool number_equal(const yyjson_val *a, const yyjson_val *b);

/* ---- keys.c ---- */

uint64_t keys_hash(const yyjson_val *key, uint64_t seed);
/* Something that the peer cannot know, so that it cannot choose colliding keys. */
uint64_t keys_seed(const void *p);
/* Which of `parts` equal shares of all hashes this one falls into. */
static inline uint32_t keys_part(uint64_t hash, uint32_t parts)
{
	return (uint32_t)(((hash >> 32) * parts) >> 32);
}
/* The first key that stands before in this object, or NULL. `slots` is scratch of `nslots`
 * elements, a power of two of at least 64 and at most 65536. */
yyjson_val *keys_duplicate(const yyjson_val *obj, uint16_t *slots, size_t nslots);

#endif
