/* format/pattern_impl.h - what the files of schema/pattern share: the state of a pass over the source,
 * the reading of names and escapes, and the writing.
 *
 * Functions that return bool return false when the pattern is wrong or over a limit; s->status and
 * s->err then say why, and reading ends.
 */
#ifndef FORMAT_PATTERN_IMPL_H
#define FORMAT_PATTERN_IMPL_H

#include "format/pattern.h"

enum {
	MAX_DEPTH = 200,
	MAX_NAMES = 200,
	NEVER = UINT16_MAX,  /* the number of a group that is repeated zero times */
	MAX_REFERRED = 1000, /* groups: only the first so many can be referred to */
};

#define SET UINT32_MAX /* in the place of a character: a set, already written */

/* What a quantifier would repeat. */
enum before { NOTHING, ATOM, LOOKAHEAD };

enum kind { GROUP_PLAIN, GROUP_AHEAD, GROUP_BEHIND };

/* Where a term began: in what is written (SIZE_MAX: unknown), and how many groups were open before. */
struct place {
	size_t out;
	uint32_t opened;
};

struct level {
	enum kind kind;
	uint32_t capture; /* its number, 0: none */
	struct place from;
};

struct scan {
	struct str src;
	size_t at;
	bool strict;
	struct buf *out; /* NULL: only look */
	cleat_error *err;
	int status; /* CLEAT_OK, or why a correct pattern is not available */
	enum before before;
	struct place last;             /* where the term before began */
	bool looks;                    /* ahead or behind, somewhere */
	bool in_class, negated, items; /* the class, and whether it has any */

	struct level stack[MAX_DEPTH];
	size_t depth;
	size_t behind; /* how many of them are lookbehinds */

	struct {
		struct str name;
		uint32_t group;
	} names[MAX_NAMES];
	size_t n_names;
	uint32_t n_groups;                 /* that capture, in all */
	uint32_t opened;                   /* so far */
	uint16_t kept;                     /* so far, that capture in what is written */
	uint16_t number[MAX_REFERRED + 1]; /* of a group there; 0: not referred to; NEVER */
};

/* pattern.c: the failures. pattern_cannot() is for what is correct but is not available; reading goes on,
 * because there may be a mistake later. */
bool pattern_fail(struct scan *s, int status, size_t at, const char *what);
bool pattern_bad(struct scan *s, size_t at, const char *what);
void pattern_cannot(struct scan *s, int status, size_t at, const char *what);

/* pattern_escape.c: writing. A class is opened by its first item; pattern_put_never() matches nothing
 * and can be repeated. */
void pattern_put(struct scan *s, const char *text);
void pattern_put_literal(struct scan *s, uint32_t c);
void pattern_put_range(struct scan *s, uint32_t lo, uint32_t hi);
void pattern_put_never(struct scan *s);

/* pattern_escape.c: reads "name>". */
bool pattern_name(struct scan *s, struct str *ret);
/* The number of the group that has this name, 0: none. The name was read by pattern_name(). */
uint32_t pattern_named(const struct scan *s, struct str name);
/* Behind the backslash at `from`, in a class or outside: *ret is the character, or SET when a set was
 * written. */
bool pattern_escape(struct scan *s, size_t from, uint32_t *ret);
/* At a backslash outside of a class: writes the whole term. */
bool pattern_escaped_term(struct scan *s);

enum { PROPERTY_SIZE = 48 };
/* pattern_unicode.c: what is between the braces of \p{...}, or with `negated` of \P{...}, in
 * PCRE2's words, which mean the same inside a class and outside. CLEAT_EINVAL when ECMA-262 has no
 * such property (case matters), CLEAT_EUNSUPPORTED when PCRE2 has none. */
int pattern_property(struct str text, bool negated, char out[PROPERTY_SIZE]);

/* The byte `ahead` of the current one; 0 past the end. */
static inline char peek(const struct scan *s, size_t ahead)
{
	return s->at + ahead < s->src.n ? s->src.p[s->at + ahead] : '\0';
}

static inline bool accept(struct scan *s, char c)
{
	if (s->at >= s->src.n || s->src.p[s->at] != c)
		return false;
	s->at++;
	return true;
}

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

#endif
