/* json/doc.h - documents and printing with an allocator of choice, for the layers above and for
 * tests that make allocations fail. The public functions are these with the default one.
 */
#ifndef JSON_DOC_H
#define JSON_DOC_H

#include <cleat/json.h>

struct arena;
struct jw;

/* The arena that holds the document's values, for what is decoded from them. */
struct arena *doc_arena(cleat_doc *doc);

/* As cleat_doc_newv; `mem` may be NULL. */
cleat_doc *doc_newv(const cleat_allocator *mem, cleat_error *err, const char *fmt, va_list ap)
	CLEAT_PRINTF(3, 0);
cleat_doc *doc_newf(const cleat_allocator *mem, cleat_error *err, const char *fmt, ...)
	CLEAT_PRINTF(3, 4);
/* A writer whose values go into the document that is being made; false for NULL. */
bool doc_writer(cleat_build *b, struct jw *ret);
/* As cleat_json_print; the text comes from `mem` (may be NULL) and goes back to it. */
char *doc_print(const cleat_allocator *mem, const cleat_json *v, size_t *ret_len);

#endif
