/* cleat/json.h - reading and making JSON.
 *
 * A cleat_json is one immutable value inside a document (or inside a request, for what a handler
 * gets); it lives as long as that document. Every getter accepts NULL and values of the wrong type
 * and then gives its fallback, so lookups chain without checks:
 *
 *	const char *city = cleat_json_str(cleat_json_get(args, "city"), "Oslo");
 *
 * Numbers are kept as the text that was received, so 12345678901234567890 and 1.10 survive a round
 * trip byte for byte; the getters convert on demand.
 *
 * Templates. Functions that end in `f` take a relaxed JSON text with printf conversions, checked by
 * the compiler:
 *
 *	"{city: %s, days: %d, tags: [%s, %s], nested: {ok: true, x: %g}}"
 *
 * Keys of letters, digits and _ $ - . / need no quotes; text may appear in single or double quotes,
 * with JSON's escapes and \'; a comma may end a list; nesting ends at 64 levels. A conversion
 * stands for a whole value or key (keys: %s and %.*s only, not NULL), never for a part of a string,
 * so nothing can break out of its place:
 *	%s %.*s      a string (NULL gives null), encoded; invalid UTF-8 becomes U+FFFD; as in printf
 *	             the text ends at a NUL, the precision is a maximum
 *	%d %i %u     an integer, with hh, h, l, ll, z, t, j as in printf; %hhd and %hhi are booleans
 *	%g %f %e     a number in its shortest exact form (not finite gives null)
 *	%p           a JSON value (const cleat_json *; NULL gives null); cast it to (void *) where
 *	             the compiler is pedantic
 *	%j           the same as %p, for formats that no compiler checks (compilers take a lone %j
 *	             for a mistake)
 *	%%           is not needed and refused
 */
#ifndef CLEAT_JSON_H
#define CLEAT_JSON_H

#include <cleat/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cleat_json cleat_json;   /* one value; borrowed */
typedef struct cleat_doc cleat_doc;     /* a document: owns its values */
typedef struct cleat_build cleat_build; /* a document that is being made */

enum cleat_json_type {
	CLEAT_JSON_NONE, /* of NULL: there is no value */
	CLEAT_JSON_NULL,
	CLEAT_JSON_BOOL,
	CLEAT_JSON_NUMBER,
	CLEAT_JSON_STRING,
	CLEAT_JSON_ARRAY,
	CLEAT_JSON_OBJECT
};

/* Limits for text that is not trusted; zero means the default. */
typedef struct cleat_json_limits {
	size_t max_depth;   /* nested arrays and objects; 0: 128, at most 1024 */
	size_t max_nodes;   /* values and keys in all; 0: 1,000,000 */
	size_t reserved[4]; /* zero */
} cleat_json_limits;

/* ---- documents ---------------------------------------------------------------------------- */

/* Parses `n` bytes of strict JSON (RFC 8259, UTF-8). NULL when it is not that (CLEAT_EPROTO, with
 * line and column in the message), over a limit (CLEAT_ELIMIT) or out of memory; `err` may be NULL.
 * `limits` and `allocator` may be NULL. Free with cleat_doc_free(). Any thread. */
CLEAT_API cleat_doc *cleat_doc_parse(const char *text, size_t n, const cleat_json_limits *limits,
				     const cleat_allocator *allocator, cleat_error *err);
/* Makes a document from a template (see above). NULL when the template is wrong (CLEAT_EINVAL) or
 * memory is short. `err` may be NULL. Free with cleat_doc_free(). */
CLEAT_API cleat_doc *cleat_doc_newf(cleat_error *err, const char *fmt, ...) CLEAT_PRINTF(2, 3);
CLEAT_API cleat_doc *cleat_doc_newv(cleat_error *err, const char *fmt, va_list ap)
	CLEAT_PRINTF(2, 0);
/* The document's value. NULL for NULL. Borrowed. */
CLEAT_API const cleat_json *cleat_doc_root(const cleat_doc *doc);
/* Accepts NULL. */
CLEAT_API void cleat_doc_free(cleat_doc *doc);

/* ---- reading ------------------------------------------------------------------------------ */

/* The type of a value; CLEAT_JSON_NONE for NULL. */
CLEAT_API enum cleat_json_type cleat_json_type(const cleat_json *v);
/* The member `key` of an object; the first one if a key appears twice (see cleat_json_duplicate).
 * NULL when absent or when v is not an object. Keys are compared byte for byte. */
CLEAT_API const cleat_json *cleat_json_get(const cleat_json *v, const char *key);
CLEAT_API const cleat_json *cleat_json_getn(const cleat_json *v, const char *key, size_t n);
/* Element `i` of an array, from 0; NULL when there is none. Constant time only for flat arrays:
 * iterate instead of counting up. */
CLEAT_API const cleat_json *cleat_json_at(const cleat_json *v, size_t i);
/* Elements of an array, members of an object, bytes of a string; otherwise 0. */
CLEAT_API size_t cleat_json_size(const cleat_json *v);

/* A string's bytes, terminated; `fallback` for anything else. The text may contain NUL bytes; use
 * cleat_json_strn() where that matters. */
CLEAT_API const char *cleat_json_str(const cleat_json *v, const char *fallback);
CLEAT_API const char *cleat_json_strn(const cleat_json *v, size_t *ret_len);
/* A number that is an integer and fits (1, 1.0 and 1e2 are integers); `fallback` for anything
 * else. */
CLEAT_API int64_t cleat_json_int(const cleat_json *v, int64_t fallback);
CLEAT_API uint64_t cleat_json_uint(const cleat_json *v, uint64_t fallback);
/* The nearest double of a number; `fallback` for anything else, also for one beyond the range of a
 * double. */
CLEAT_API double cleat_json_num(const cleat_json *v, double fallback);
CLEAT_API bool cleat_json_bool(const cleat_json *v, bool fallback);
/* Is v a number without a fractional part (any size)? */
CLEAT_API bool cleat_json_is_integer(const cleat_json *v);
/* A number as it was written, terminated; NULL for anything else. */
CLEAT_API const char *cleat_json_number_text(const cleat_json *v);
/* Equal as JSON: members in any order, numbers by value (1 and 1.0 are equal). An object in which a
 * key appears twice equals another only member by member in the same order. NULL equals NULL only.
 * No allocation; linear, for objects of very many members in different order up to n * n / 5000. */
CLEAT_API bool cleat_json_equal(const cleat_json *a, const cleat_json *b);
/* The first key that appears twice in this object (not in nested ones), NULL if none. No allocation;
 * linear up to tens of thousands of keys, a fraction of a second for a million. */
CLEAT_API const cleat_json *cleat_json_duplicate(const cleat_json *v);

/* Iteration over an array or an object:
 *	cleat_json_iter it = cleat_json_each(v);
 *	while (cleat_json_next(&it))
 *		use(it.key, it.value);      // key is NULL in arrays
 */
typedef struct cleat_json_iter {
	const cleat_json *key;
	const cleat_json *value;
	size_t index; /* of the value that was just given, from 0 */
	const void *next_;
	bool object_;
	size_t left_;
} cleat_json_iter;

/* Starts an iteration; over anything but an array or object it ends at once. */
CLEAT_API cleat_json_iter cleat_json_each(const cleat_json *v);
/* Moves on and fills key, value and index; false when there is no more. */
CLEAT_API bool cleat_json_next(cleat_json_iter *it);

/* ---- building ----------------------------------------------------------------------------- */

/* A document made step by step, where a template does not fit: lists of any length, members that may be
 * absent.
 *
 *	cleat_build *b = cleat_build_new(NULL);
 *
 *	cleat_build_object(b, NULL);
 *	cleat_build_str(b, "city", "Oslo");
 *	cleat_build_array(b, "days");
 *	for (int i = 0; i < n; i++)
 *		cleat_build_num(b, NULL, days[i]);
 *	cleat_build_end(b);
 *	cleat_build_end(b);
 *	cleat_doc *doc = cleat_build_finish(b, &err);
 *
 * Nothing needs checking before cleat_build_finish(): the first thing that goes wrong stays, and what
 * follows does nothing. Wrong are (CLEAT_EMISUSE) a value in an object without a key or one in an array
 * with one, a second value at the top, an end too many or too few; (CLEAT_EINVAL) a key that appears twice
 * in an object that is built here, or a wrong template; (CLEAT_ELIMIT) nesting deeper than 1024 levels;
 * and lack of memory. Keys and values are copied. */

/* NULL when out of memory, which all of these accept: cleat_build_finish() says so. `allocator` may be
 * NULL. */
CLEAT_API cleat_build *cleat_build_new(const cleat_allocator *allocator);
/* Begins an object or an array, as a member `key` of the object, or element of the array, that is open;
 * `key` is NULL in arrays and at the top, here and below. */
CLEAT_API void cleat_build_object(cleat_build *b, const char *key);
CLEAT_API void cleat_build_array(cleat_build *b, const char *key);
/* Ends the one that was begun last. */
CLEAT_API void cleat_build_end(cleat_build *b);
/* A string; NULL gives null, invalid UTF-8 becomes U+FFFD. */
CLEAT_API void cleat_build_str(cleat_build *b, const char *key, const char *text);
CLEAT_API void cleat_build_strn(cleat_build *b, const char *key, const char *text, size_t n);
CLEAT_API void cleat_build_int(cleat_build *b, const char *key, int64_t v);
CLEAT_API void cleat_build_uint(cleat_build *b, const char *key, uint64_t v);
/* In its shortest exact form; not finite gives null. */
CLEAT_API void cleat_build_num(cleat_build *b, const char *key, double v);
CLEAT_API void cleat_build_bool(cleat_build *b, const char *key, bool v);
CLEAT_API void cleat_build_null(cleat_build *b, const char *key);
/* A copy of a value, as it is; NULL gives null. */
CLEAT_API void cleat_build_value(cleat_build *b, const char *key, const cleat_json *v);
/* What a template makes (see above). */
CLEAT_API void cleat_build_valuef(cleat_build *b, const char *key, const char *fmt, ...)
	CLEAT_PRINTF(3, 4);
/* The document, and the builder is gone. NULL when something went wrong, with the reason in *err (may be
 * NULL). Free with cleat_doc_free(). */
CLEAT_API cleat_doc *cleat_build_finish(cleat_build *b, cleat_error *err);
/* Gives a document up that was not finished. Accepts NULL. */
CLEAT_API void cleat_build_free(cleat_build *b);

/* ---- writing ------------------------------------------------------------------------------ */

/* The value as compact JSON text, terminated, from malloc; free() it. NULL when out of memory or
 * for NULL. `ret_len` may be NULL. */
CLEAT_API char *cleat_json_print(const cleat_json *v, size_t *ret_len);

#ifdef __cplusplus
}
#endif
#endif
