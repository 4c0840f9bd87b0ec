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

static inline bool node_has_text(const yyjson_val *v)
{
	return node_is(v, YYJSON_TYPE_STR) || node_is(v, YYJSON_TYPE_RAW);
}

/* Of a string or a raw number. */
static inline struct str node_text(const yyjson_val *v)
{
	return (struct str){ v->uni.str, node_len(v) };
}

static inline uint64_t node_load8(const char *p)
{
	uint64_t x;

	memcpy(&x, p, sizeof x);
	return x;
}

static inline uint32_t node_load4(const char *p)
{
	uint32_t x;

	memcpy(&x, p, sizeof x);
	return x;
}

/* Keys are mostly short, and comparing them is most of what finding a member costs: two loads that
 * may overlap instead of a call. */
static inline bool node_same_bytes(const char *a, const char *b, size_t n)
{
	if (n > 16)
		return memcmp(a, b, n) == 0;
	if (n >= 8)
		return node_load8(a) == node_load8(b) &&
		       node_load8(a + n - 8) == node_load8(b + n - 8);
	if (n >= 4)
		return node_load4(a) == node_load4(b) &&
		       node_load4(a + n - 4) == node_load4(b + n - 4);
	return n == 0 || (a[0] == b[0] && a[n / 2] == b[n / 2] && a[n - 1] == b[n - 1]);
}

static inline bool node_same_text(const yyjson_val *a, const yyjson_val *b)
{
	size_t n = node_len(a);

	return n == node_len(b) && node_same_bytes(a->uni.str, b->uni.str, n);
}

/* A string that was read without any escape sequence: nothing in it needs escaping. It may still hold
 * characters beyond ASCII. */
static inline bool node_is_plain(const yyjson_val *v)
{
	return (v->tag & YYJSON_SUBTYPE_MASK) == YYJSON_SUBTYPE_NOESC;
}

enum { NODE_DIGITS = 21 };

/* An integer as text, at the end of `to`; not terminated. */
static inline struct str node_decimal(char to[NODE_DIGITS], uint64_t n, bool negative)
{
	size_t at = NODE_DIGITS;

	do
		to[--at] = (char)('0' + n % 10);
	while (n /= 10);
	if (negative)
		to[--at] = '-';
	return (struct str){ to + at, NODE_DIGITS - at };
}

/* ---- number.c ---- */

enum { NUMBER_REAL = 128 };
/* The shortest text that is this number exactly, in `to`; absent when it is not finite. */
struct str number_print(char to[NUMBER_REAL], double v);

/* ---- parse.c ---- */

/* Do `count` nodes, which are one value, nest deeper than `max` (at most NODE_MAX_DEPTH) levels? */
bool node_is_deeper(const yyjson_val *root, size_t count, size_t max);

/* ---- plain.c ---- */

/* Length of the prefix that stands in JSON as it is: valid UTF-8 and nothing to escape. */
size_t text_safe_prefix(struct str s);
/* Length of the well-formed sequence at p, or, with *valid false, of the maximal subpart of an
 * ill-formed one, which one U+FFFD replaces (Unicode 15, 3.9, tables 3-7 and 3-8). */
size_t text_step(const unsigned char *p, size_t n, bool *valid);

/* ---- arithmetic.c ---- */

/* Equal by value, exactly: no rounding to double. Both must be numbers. */
bool number_equal(const yyjson_val *a, const yyjson_val *b);

/* ---- keys.c ---- */

/* One step of a hash: every bit of h reaches many others, and no two h become the same. */
static inline uint64_t keys_mix(uint64_t h)
{
	h = (h ^ (h >> 32)) * UINT64_C(0xd6e8feb86659fd93);
	return h ^ (h >> 29);
}
/* Of any string. */
uint64_t keys_hash(const yyjson_val *key, uint64_t seed);
/* Something that the peer cannot know, so that it cannot choose colliding keys. */
uint64_t keys_seed(const void *p);
/* Which of `parts` equal shares of all hashes this one falls into. */
static inline uint32_t keys_part(uint64_t hash, uint32_t parts)
{
	return (uint32_t)(((hash >> 32) * parts) >> 32);
}
/* The first key that comes before in this object, or NULL. `slots` is scratch of `nslots`
 * elements, a power of two of at least 64 and at most 65536. */
yyjson_val *keys_duplicate(const yyjson_val *obj, uint16_t *slots, size_t nslots);

#endif
