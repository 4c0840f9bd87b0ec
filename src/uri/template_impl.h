/* uri/template_impl.h - what a compiled URI template is made of.
 *
 * Only for template.c (compiles), expand.c and match.c; everybody else sees template.h. A template
 * is kept twice: as parts, which expansion walks, and as atoms, a flat program that matching runs.
 * Both are made once and never change.
 */
#ifndef URI_TEMPLATE_IMPL_H
#define URI_TEMPLATE_IMPL_H

#include "uri/chars.h"
#include "uri/template.h"

enum uri_op {
	OP_LITERAL, /* no expression */
	OP_SIMPLE,
	OP_RESERVED,  /* + */
	OP_FRAGMENT,  /* # */
	OP_LABEL,     /* . */
	OP_PATH,      /* / */
	OP_PARAM,     /* ; */
	OP_QUERY,     /* ? */
	OP_QUERY_MORE /* & */
};

/* One variable in one expression. */
struct uri_spec {
	struct str name;
	struct str key; /* the name in normal form, as it is in a URI */
	size_t slot;    /* index among the distinct names */
	size_t max;     /* the prefix modifier; 0 without one */
	bool explode;
	bool query; /* of a {?...} or {&...} */
};

struct uri_part {
	enum uri_op op;
	struct str text; /* of a literal */
	size_t first;    /* specs of an expression */
	size_t count;
	bool in_query;
};

enum uri_atom_kind {
	ATOM_LITERAL,
	ATOM_RUN,     /* a variable's characters, or the pairs of a query expression */
	ATOM_OPTIONAL /* either what follows, or continue at `skip` */
};

enum uri_stop {
	STOP_SLASH = 1,
	STOP_QUESTION = 2,
	STOP_HASH = 4,
	STOP_COMMA = 8,
	STOP_AMP = 16,
	STOP_SEMICOLON = 32,
};

enum { NO_SPEC = URI_TEMPLATE_MAX_VARS };

struct uri_atom {
	enum uri_atom_kind kind;
	struct str text; /* literal, in normal form */
	size_t units;    /* characters of the literal */
	unsigned stops;  /* run: characters it may not hold */
	size_t max;      /* run: most characters, 0 for no limit */
	bool empty;      /* run: may be empty */
	bool segments;   /* run: of '/'-separated segments, none empty */
	size_t spec;     /* run: whose value (of a query: the expression's first); optional: the
	                  * variable that is empty when skipped, or NO_SPEC */
	size_t skip;     /* optional: index of the atom after it */
};

struct uri_template {
	struct str text;
	struct uri_part *parts;
	size_t n_parts;
	struct uri_spec *specs;
	size_t n_specs;
	struct str *names;
	size_t n_names;
	struct uri_atom *atoms;
	size_t n_atoms;
	size_t literals; /* characters outside expressions; each escaped one counts once */
};

/* The first `max` characters of valid UTF-8; all of it for 0. */
struct str uri_prefix(struct str s, size_t max);

#endif
