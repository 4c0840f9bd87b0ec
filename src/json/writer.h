/* json/writer.h - JSON text straight into a buf, or, by the same calls, values into a build.
 *
 * For text there is no tree and no nesting stack: one flag remembers whether the next element needs a
 * comma. The caller keeps begin and end balanced. Errors latch in the buf or the build. Output is always
 * valid UTF-8 on one line: invalid bytes become U+FFFD, control characters are escaped. Numbers are
 * written shortest-exact and independent of the locale.
 */
#ifndef JSON_WRITER_H
#define JSON_WRITER_H

#include "base/buf.h"
#include "base/str.h"

#include <cleat/json.h>

struct build;

struct jw {
	struct buf *b;
	bool comma;
	bool values; /* b is that of a build, and takes nothing but pieces of text */
};

void jw_init(struct jw *w, struct buf *b);
/* Makes values, so that what writes need not be read again. jw_raw() reads its text; pieces of values
 * (jw_splice, jw_frame) are CLEAT_EMISUSE. */
void jw_build(struct jw *w, struct build *to);

void jw_obj(struct jw *w);
void jw_obj_end(struct jw *w);
void jw_arr(struct jw *w);
void jw_arr_end(struct jw *w);
/* Keys written by the library itself: plain ASCII that needs no escaping. */
void jw_key(struct jw *w, const char *key);
/* Any key. */
void jw_keyn(struct jw *w, struct str key);
/* The key of a member, as iterating gives it. */
void jw_key_of(struct jw *w, const cleat_json *key);

void jw_str(struct jw *w, struct str s);   /* absent slice writes null */
void jw_strz(struct jw *w, const char *z); /* NULL writes null */
void jw_int(struct jw *w, int64_t v);
void jw_uint(struct jw *w, uint64_t v);
void jw_real(struct jw *w, double v); /* not finite writes null; 3.0 writes 3 */
void jw_bool(struct jw *w, bool v);
void jw_null(struct jw *w);
/* Text that is already valid JSON, as it is. */
void jw_raw(struct jw *w, struct str json);
void jw_rawz(struct jw *w, const char *json);
/* A piece of a value, as it is: what is fixed in a message is written in one go. `comma` tells
 * whether the next element needs one. */
void jw_splice(struct jw *w, struct str text, bool comma);
/* Fixed text, a value that is JSON already, fixed text: one move for the frame of a message. */
void jw_frame(struct jw *w, struct str before, struct str json, struct str after, bool comma);
/* The same around a string. */
void jw_frame_str(struct jw *w, struct str before, struct str text, struct str after, bool comma);
/* A parsed value, numbers byte for byte; NULL writes null. Iterative. */
void jw_value(struct jw *w, const cleat_json *v);
/* A string value holding the base64 (RFC 4648, padded) of the bytes. */
void jw_base64(struct jw *w, const void *p, size_t n);

/* Members in one call; the ones with NULL z or absent s write nothing at all. */
void jw_kv_str(struct jw *w, const char *key, const char *z);
void jw_kv_strn(struct jw *w, const char *key, struct str s);
void jw_kv_int(struct jw *w, const char *key, int64_t v);
void jw_kv_bool(struct jw *w, const char *key, bool v);
void jw_kv_raw(struct jw *w, const char *key, struct str json);
void jw_kv_value(struct jw *w, const char *key, const cleat_json *v);

/* A string value (or key) in parts, for whoever has it in pieces. Each part is encoded on its own,
 * so parts must not split a character. */
void jw_text_begin(struct jw *w);
void jw_text_part(struct jw *w, struct str s);
void jw_text_end(struct jw *w, bool key);

/* A template (grammar in <cleat/json.h>) as one value. CLEAT_OK, CLEAT_EINVAL with the place in
 * *err (may be NULL), or the buf's latched error. On failure the buf is cut back to where it was;
 * an error of the buf itself stays latched. `ap` is consumed. */
int jw_vformat(struct jw *w, cleat_error *err, const char *fmt, va_list ap) CLEAT_PRINTF(3, 0);
int jw_format(struct jw *w, cleat_error *err, const char *fmt, ...) CLEAT_PRINTF(3, 4);

#endif
