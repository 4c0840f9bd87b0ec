/* cleat/schema.h - JSON Schema: compile once, check many values.
 *
 *	cleat_error err;
 *	cleat_schema *s = cleat_schema_parse(text, strlen(text), NULL, &err);
 *	if (!s)
 *		die(err.message);              // "/properties/days/minimum: expected a number, got \"1\""
 *	if (cleat_schema_check(s, value, &err) == CLEAT_EINVAL)
 *		complain(err.message);         // "days: expected integer between 1 and 14, got \"tomorrow\""
 *	cleat_schema_free(s);
 *
 * Dialects are 2020-12 and draft-07, chosen by "$schema"; a schema that says nothing is taken as
 * options.dialect. Any other dialect, a keyword with a value it cannot have, and a reference that
 * leads nowhere are refused when the schema is compiled, so that a check never finds out half-way
 * that it cannot be done. Nothing is ever fetched: a reference to another document is found only in
 * the set of known schemas (options.known) or among the two dialects' own meta-schemas.
 *
 * A server compiles and applies the schemas of its tools by itself; this header is for programs that
 * have schemas of their own.
 */
#ifndef CLEAT_SCHEMA_H
#define CLEAT_SCHEMA_H

#include <cleat/base.h>
#include <cleat/json.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cleat_schema cleat_schema;         /* compiled; never changes */
typedef struct cleat_schema_set cleat_schema_set; /* schemas that may be referred to, by URI */

enum cleat_schema_dialect {
	CLEAT_SCHEMA_2020_12, /* https://json-schema.org/draft/2020-12/schema */
	CLEAT_SCHEMA_DRAFT_07 /* http://json-schema.org/draft-07/schema# */
};

/* Zero everywhere is what most programs want. */
typedef struct cleat_schema_options {
	int dialect;          /* of a schema without "$schema": enum cleat_schema_dialect */
	bool assert_formats;  /* "format" is checked; by default it is only a remark */
	const char *base_uri; /* of a schema without "$id"; NULL: it has none */
	const cleat_schema_set *known;    /* used while compiling only; NULL: none */
	const cleat_allocator *allocator; /* NULL: malloc */
	size_t max_depth;      /* of the schema and of the values it checks; 0: 64, at most 256 */
	size_t max_subschemas; /* with all that it refers to; 0: 10,000 */
	uint64_t max_steps;    /* of one check; 0: 1,000,000 */
} cleat_schema_options;

/* ---- compiling ---------------------------------------------------------------------------- */

CLEAT_API cleat_schema *cleat_schema_new_(const cleat_json *schema,
					  const cleat_schema_options *opts, size_t size,
					  cleat_error *err);
CLEAT_API cleat_schema *cleat_schema_parse_(const char *text, size_t n,
					    const cleat_schema_options *opts, size_t size,
					    cleat_error *err);
/* Compiles a schema, which is copied. NULL when it is not a valid schema or refers to something
 * unknown (CLEAT_EINVAL, with the place as a JSON Pointer in the message), when its dialect, or a
 * vocabulary that it requires, is not one that can be honoured (CLEAT_EUNSUPPORTED), over a limit
 * (CLEAT_ELIMIT) or out of memory. `opts` and `err` may be NULL; `schema` NULL is CLEAT_EINVAL.
 * Free with cleat_schema_free(). Any thread. */
static inline cleat_schema *cleat_schema_new(const cleat_json *schema,
					     const cleat_schema_options *opts, cleat_error *err)
{
	return cleat_schema_new_(schema, opts, sizeof(cleat_schema_options), err);
}
/* The same from text; CLEAT_EPROTO when it is not JSON. */
static inline cleat_schema *cleat_schema_parse(const char *text, size_t n,
					       const cleat_schema_options *opts, cleat_error *err)
{
	return cleat_schema_parse_(text, n, opts, sizeof(cleat_schema_options), err);
}
/* Accepts NULL. */
CLEAT_API void cleat_schema_free(cleat_schema *schema);

/* ---- checking ----------------------------------------------------------------------------- */

/* Does the value fit? CLEAT_OK; CLEAT_EINVAL with the first problem in err->message; CLEAT_ELIMIT
 * when it could not be found out within max_depth, max_steps or a pattern's own limit, which the
 * message names; CLEAT_ENOMEM. An object in which a key appears twice does not fit a schema that says
 * something about members. A value that fits costs no allocation, except for unevaluated*,
 * uniqueItems and patterns on large values. `value` NULL is CLEAT_EINVAL; `err` may be NULL. Any
 * number of threads may check with one schema at the same time (options.allocator, if given, is then
 * called by all of them). The stack it needs grows with max_depth: about 300 KiB by default. */
CLEAT_API int cleat_schema_check(const cleat_schema *schema, const cleat_json *value,
				 cleat_error *err);

/* One reason why a value does not fit. All of it is gone when the callback returns. */
typedef struct cleat_schema_problem {
	const char *line;        /* for a person or a model: place, expected, found; terminated */
	const char *path;        /* JSON Pointer of the place in the value, "/items/3/days" */
	const char *schema_path; /* of the keyword: URI, if any, and fragment,
				    "#/properties/days/minimum" */
	const cleat_json *value; /* what is at the place; NULL where something is missing */
} cleat_schema_problem;

typedef void cleat_schema_problem_fn(void *ctx, const cleat_schema_problem *problem);

/* As cleat_schema_check(), and calls `fn` for each problem, at most ten times, in the order of the
 * schema; at least once when it returns CLEAT_EINVAL. `fn` NULL is CLEAT_EINVAL. */
CLEAT_API int cleat_schema_explain(const cleat_schema *schema, const cleat_json *value,
				   cleat_schema_problem_fn *fn, void *ctx, cleat_error *err);

/* ---- known schemas ------------------------------------------------------------------------ */

/* A set of schemas by URI, empty; NULL when out of memory. `allocator` may be NULL. */
CLEAT_API cleat_schema_set *cleat_schema_set_new(const cleat_allocator *allocator);
/* Makes a schema known under an absolute URI (a fragment "#" at its end is ignored). It is copied
 * and looked at only when something refers to it. CLEAT_EEXIST when the URI is taken, CLEAT_EINVAL
 * when it is not absolute or the schema is neither an object nor a boolean, CLEAT_ELIMIT for more than
 * 10,000, CLEAT_ENOMEM. Not while another thread compiles with the set. */
CLEAT_API int cleat_schema_set_add(cleat_schema_set *set, const char *uri, const cleat_json *schema,
				   cleat_error *err);
/* Accepts NULL. Schemas compiled with it stay valid. */
CLEAT_API void cleat_schema_set_free(cleat_schema_set *set);

#ifdef __cplusplus
}
#endif
#endif
