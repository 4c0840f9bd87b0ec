/* cleat/uri.h - URI templates (RFC 6570), all four levels.
 *
 * Servers that register a resource under a template such as "city://{name}{?units}" need none of
 * this: the library matches, and the handler asks for its variables. These functions are for
 * clients, which expand a template that a server lists, and for programs with templates of their
 * own.
 *
 * Limits: a template has at most 8 KiB and 64 variables, a URI to match at most 8 KiB, an expansion
 * at most 1 MiB.
 */
#ifndef CLEAT_URI_H
#define CLEAT_URI_H

#include <cleat/json.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Expands a template. `vars` is an object of strings, numbers (written as they were received),
 * booleans, arrays (lists) and objects (associations); null, an empty array, an empty object and an
 * absent member all mean "undefined", which RFC 6570 leaves out. `vars` NULL means no variables.
 *
 *	cleat_doc *d = cleat_doc_newf(NULL, "{name: %s, units: 'metric'}", city);
 *	char *uri = cleat_uri_template_expand("city://{name}{?units}", cleat_doc_root(d), NULL);
 *
 * Returns terminated text from malloc; free() it. NULL on failure: CLEAT_EINVAL when the template is
 * malformed or NULL, when `vars` is not an object, or when a value does not fit (a list inside a list, a
 * prefix {v:3} of a list); CLEAT_ELIMIT; CLEAT_ENOMEM. `err` may be NULL. Any thread. */
CLEAT_API char *cleat_uri_template_expand(const char *tmpl, const cleat_json *vars,
					  cleat_error *err);

/* Matches a URI against a template and gives the variables as a document: an object whose members
 * are strings, percent-decoded. Optional variables ({?v}, {&v}, {;v}, {#v}) that the URI does not
 * have are absent. The whole URI has to match; {v} stops at / ? # and comma, {+v} does not, {/v*}
 * and {v*} go over slashes; query parameters may appear in any order and unknown ones are ignored.
 * Where a URI can be split in several ways, the earlier variable is the longer one. Time is bounded
 * by the length of the template times that of the URI.
 *
 * A value is text that somebody else wrote: it may hold "..", or a '/' that stood as %2F. Check it
 * before it becomes a file name.
 *
 * Free with cleat_doc_free(). NULL on failure: CLEAT_ENOENT when the URI does not match (also when
 * it has a broken escape, or a value is not UTF-8 or holds a NUL byte), CLEAT_EINVAL when the
 * template is malformed or an argument is NULL, CLEAT_ELIMIT for a template over the limits,
 * CLEAT_ENOMEM. `allocator` and `err` may be NULL. Any thread. */
CLEAT_API cleat_doc *cleat_uri_template_match(const char *tmpl, const char *uri,
					      const cleat_allocator *allocator, cleat_error *err);

#ifdef __cplusplus
}
#endif
#endif
