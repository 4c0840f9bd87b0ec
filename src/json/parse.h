/* json/parse.h - untrusted text to values, inside an arena.
 *
 * A thin, limited layer over yyjson: numbers stay raw text (YYJSON_READ_NUMBER_AS_RAW), depth and
 * node count are bounded, nothing recurses. A cleat_json is a yyjson_val. Not here: what a message
 * means (rpc/), templates (json/format.h), writing (json/writer.h).
 */
#ifndef JSON_PARSE_H
#define JSON_PARSE_H

#include "base/arena.h"
#include "base/str.h"

#include <cleat/json.h>
#include <string.h>

/* Parses text into the arena. CLEAT_OK, or CLEAT_EPROTO / CLEAT_ELIMIT / CLEAT_ENOMEM with the
 * reason (line, column) in *err (may be NULL). The text is copied. */
int json_parse(struct arena *ar, struct str text, const cleat_json_limits *limits,
	       const cleat_json **ret, cleat_error *err);

/* How many values and keys, and levels, these limits allow; NULL: the default ones. */
size_t json_max_nodes(const cleat_json_limits *limits);
size_t json_max_depth(const cleat_json_limits *limits);
/* How many values and keys there are in it, itself included; NULL: 0. */
size_t json_nodes(const cleat_json *v);
/* How many bytes of text its keys, strings and numbers have, each with its end; NULL: 0. */
size_t json_text_bytes(const cleat_json *v);

/* The same for text that a person wrote: where it is not JSON, the place goes to *ret_line and *ret_column
 * (from 1; 0 where there is none) instead of into the message. */
int json_parse_at(struct arena *ar, struct str text, const cleat_json_limits *limits,
		  const cleat_json **ret, size_t *ret_line, size_t *ret_column, cleat_error *err);

/* A string's bytes as a slice; { NULL, 0 } for anything else. */
struct str json_str(const cleat_json *v);
/* A number's text; { NULL, 0 } for anything else. */
struct str json_number(const cleat_json *v);
/* Member by slice; as cleat_json_getn. */
const cleat_json *json_get(const cleat_json *v, struct str key);
/* As cleat_json_get, for keys of our own: a literal's length is known when it is compiled. */
static inline const cleat_json *json_member(const cleat_json *v, const char *key)
{
	return cleat_json_getn(v, key, strlen(key));
}
bool json_is_object(const cleat_json *v);
bool json_is_array(const cleat_json *v);
bool json_is_string(const cleat_json *v);
/* Are the keys of this object fit for a protocol place: no duplicate, no NUL byte? CLEAT_OK, or
 * CLEAT_EPROTO with the key named in *err. No allocation; linear up to some 25,000 keys, then n * n
 * / 25,000 (json/keys.c). Anything but an object is CLEAT_OK. */
int json_check_keys(const cleat_json *obj, cleat_error *err);
/* The same for the value and every object inside it. */
int json_check_all_keys(const cleat_json *v, cleat_error *err);
/* {}; static. */
const cleat_json *json_empty_object(void);
/* "null", "true", "a number", ... for messages; static. */
const char *json_type_name(const cleat_json *v);

#endif
