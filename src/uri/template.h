/* uri/template.h - URI templates (RFC 6570): compiling, expanding, and the reverse.
 *
 * Servers route resources/read by matching a URI against the templates they have registered;
 * clients expand a template into a URI. All four levels of the RFC, strict about its grammar. Not
 * here: URLs of the transport, and whether a value is safe as a file name (a decoded value may well
 * hold "../" or "/"). A compiled template never changes and may be shared between threads.
 *
 * Matching. RFC 6570 leaves it open; these are the rules, close to the official SDKs':
 *
 *  - The whole URI has to match. It is first brought to its normal form: bytes that may not stand
 *    in a URI (spaces, non-ASCII) are percent-encoded and the hex digits of escapes capitalised;
 *    the template's literals likewise. So "köln", "k%C3%B6ln" and "k%c3%b6ln" are the same. A
 *    broken escape anywhere ("%", "%4", "%zz") and a URI over URI_MAX_LEN match nothing.
 *  - Values are percent-decoded ('+' stays '+'). A value that then holds a NUL byte or is not
 *    UTF-8: no match. A variable never ends within an escape or within an encoded character.
 *  - Greedy from the left: of all ways to match, the first variable is as long as it can be, then
 *    the second, and so on. {a}{b} on "xyz" gives a=xy, b=z.
 *  - What a variable matches ("in the query" means after a literal '?' or a {?...}):
 *	{v}       one or more characters except / ? # , and, in the query, &
 *	{v*}      one or more characters except ? # and, in the query, &
 *	{+v}      one or more characters of any kind
 *	{/v} {.v} as {v}, after its '/' or '.'; {.v} may hold further dots
 *	{/v*}     one or more segments, none of them empty: /a/b/c gives "a/b/c"
 *	{;v}      optional: ";v=value" or ";v" (the value is then empty), the value without / ? # ;
 *	          With *, the same: one value.
 *	{#v}      optional: '#' and anything, also nothing
 *	{?v} {&v} optional: '?' (or '&') and name=value pairs up to '#'. In any order; names that the
 *	          template does not have are ignored; "name" alone is an empty value; a name that
 *	          appears twice is not a match, except that with * the values are joined with commas.
 *    Several variables in one expression stand with the operator's separator between them, and all
 *    of them have to be there, except in ; ? &.
 *  - A variable does not match the character (; ? & #) by which a later optional expression of the
 *    template begins, and before a later {?...} or {&...} not '#' either: {+path}{?q} splits where
 *    one expects. Of these, & counts only for a variable in the query.
 *  - {v:n} matches at most n characters. Only the prefix is known then, and that is the value.
 *  - A variable that appears twice has to have the same value twice (a prefix: agree with it).
 *  - Variables that have no value (absent optional ones) are not in the result.
 *
 * For a URI in normal form whose variables hold unreserved characters and escapes of others only,
 * expanding the result of a match gives the URI back.
 */
#ifndef URI_TEMPLATE_H
#define URI_TEMPLATE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

#include <cleat/json.h>

enum {
	URI_TEMPLATE_MAX_LEN = 8192, /* bytes of a template */
	URI_TEMPLATE_MAX_VARS = 64,  /* variables in a template, repeated ones counted again */
	URI_MAX_LEN = 8192           /* bytes of a URI to match */
};

struct uri_template;

struct uri_var {
	struct str name;  /* borrowed from the template */
	struct str value; /* decoded, terminated, in the arena of the match */
};

struct uri_vars {
	struct uri_var *v; /* in the order of uri_template_var_name() */
	size_t n;
	size_t steps; /* work done: cells filled and bytes compared, also when nothing matched */
};

/* Does the text contain an expression: a '{' with a '}' somewhere after it? The expression may
 * still be malformed. */
bool uri_is_template(struct str text);

/* Does the text keep to the grammar of RFC 6570? Without the limits above; allocates nothing. */
bool uri_template_is_valid(struct str text);

/* Compiles into the arena; the text is copied. CLEAT_OK; CLEAT_EINVAL with the position in *err
 * (may be NULL) when the text breaks the grammar; CLEAT_ELIMIT; CLEAT_ENOMEM. A text without
 * expressions is a template too, one that matches only itself. */
int uri_template_compile(struct arena *ar, struct str text, const struct uri_template **ret,
			 cleat_error *err);

/* Distinct variable names in order of first appearance. An index out of range gives an absent
 * slice. */
size_t uri_template_var_count(const struct uri_template *t);
struct str uri_template_var_name(const struct uri_template *t, size_t i);
/* Which one to try first: negative when a is more specific than b (more literal characters, then
 * fewer variables), positive when b is, 0 when the order of registration decides. */
int uri_template_compare(const struct uri_template *a, const struct uri_template *b);

/* Appends the expansion. `vars` is an object (NULL: no variables) whose members are strings,
 * numbers (written as received), booleans, arrays (lists) or objects (associations) of these; null
 * and absent mean undefined, as do empty arrays and objects. CLEAT_OK; CLEAT_EINVAL for other
 * values and for a prefix of a list; or the buf's error. On failure nothing has been appended. */
int uri_template_expand(const struct uri_template *t, const cleat_json *vars, struct buf *out,
			cleat_error *err);

/* Matches by the rules above, in time proportional to template times URI at the worst. False when
 * the URI does not match and when memory is short; arena_failed() tells the latter. *ret is always
 * set; its memory is the arena's. A URI that does not fit takes none of that. */
bool uri_template_match(const struct uri_template *t, struct str uri, struct arena *ar,
			struct uri_vars *ret);

#endif
