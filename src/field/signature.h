/* field/signature.h - `name(arg: type = default "doc", other?: type)` to a field table.
 *
 * The one small grammar of the project: it declares quick tools in C, is what the command line
 * prints for a tool, and what the no-code server accepts. The grammar page is docs/signatures.md.
 * The result is a field table without struct offsets. No recursion, no allocation outside the
 * arena.
 */
#ifndef FIELD_SIGNATURE_H
#define FIELD_SIGNATURE_H

#include "base/arena.h"

#include <cleat/field.h>

enum {
	SIGNATURE_MAX = 16 << 10,    /* bytes */
	SIGNATURE_PRINTED = 4 << 10, /* bytes that signature_print() writes */
	SIGNATURE_NAME = 128,        /* characters */
	SIGNATURE_ARGS = 64,
	SIGNATURE_CHOICES = 256
};

struct signature {
	const char *name;          /* terminated */
	const cleat_field *fields; /* ended by CLEAT_FIELD_END; never NULL */
	const char *description;   /* a trailing "doc" after the closing parenthesis; may be NULL */
};

/* Reads a signature of at most 16 KiB into the arena. On success `rest` (may be NULL) receives what
 * comes after it (a colon and a command, for the no-code server); where `rest` is NULL only white
 * space may follow. CLEAT_EINVAL with position and expectation in *err, or CLEAT_ENOMEM. */
int signature_parse(struct arena *ar, const char *text, struct signature *ret, const char **rest,
		    cleat_error *err);

/* What is between the parentheses of one, alone: "a: number, b?: string". Errors as above. */
int signature_parse_args(struct arena *ar, const char *text, const cleat_field **ret,
			 cleat_error *err);

/* As cleat_signature_print, with memory from `mem` (may be NULL). The text has at most
 * SIGNATURE_PRINTED bytes, then "…". */
char *signature_print(const cleat_allocator *mem, const char *name, const cleat_json *input_schema,
		      bool with_docs, cleat_error *err);
/* Must this word be quoted to be a choice (names of types, true, false, null)? */
bool signature_reserved(struct str word);

#endif
