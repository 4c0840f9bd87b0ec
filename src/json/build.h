/* json/build.h - values made step by step, in an arena.
 *
 * What comes out is what parsing gives: the same nodes, so that everything else in json/ takes them.
 * Errors latch, lack of memory as well as misuse; build_finish() tells. Text is copied and made valid
 * UTF-8. A key that appears twice is let through, as parsing does, unless `unique` is set. Not here: text
 * (json/writer.h), the public builder, which is this one with a document around it (doc.c).
 */
#ifndef JSON_BUILD_H
#define JSON_BUILD_H

#include "base/arena.h"
#include "base/buf.h"

#include <cleat/json.h>

struct yyjson_val;

struct build {
	struct arena *ar;
	struct yyjson_val *nodes; /* in document order */
	size_t n, cap;
	size_t open; /* index of the innermost object or array that is not ended, plus 1; 0: none */
	size_t depth;
	char *text;        /* room for short texts, */
	size_t room;       /* so many bytes */
	bool unique;       /* a key that appears twice in an object is CLEAT_EINVAL */
	cleat_error err;   /* the first thing that went wrong; only `status` is set before that */
	struct buf pieces; /* of a jw (json/writer.h), which sets it up: text that comes in parts */
};

/* Allocates nothing. */
void build_init(struct build *b, struct arena *ar);
/* The value that was made, borrowed from the arena; *ret is NULL unless all is well. CLEAT_OK, or what
 * went wrong, with the words in *err (may be NULL). */
int build_finish(struct build *b, const cleat_json **ret, cleat_error *err);
/* What went wrong, unless something did before. Gives the status. */
int build_fail(struct build *b, int status, const char *fmt, ...) CLEAT_PRINTF(3, 4);
/* Node `i`, to look at until the next one is added; NULL where there is none. */
const cleat_json *build_at(const struct build *b, size_t i);

void build_obj(struct build *b);
void build_arr(struct build *b);
void build_end(struct build *b);
void build_key(struct build *b, struct str key);
void build_keyz(struct build *b, const char *key);

void build_str(struct build *b, struct str s); /* an absent slice is null */
void build_strz(struct build *b, const char *z);
void build_int(struct build *b, int64_t v);
void build_uint(struct build *b, uint64_t v);
void build_real(struct build *b, double v); /* not finite: null */
void build_bool(struct build *b, bool v);
void build_null(struct build *b);
/* The text of a number that is known to be one. */
void build_number(struct build *b, struct str text);
/* A value by its text, which is read; only the library's own limits hold. */
void build_raw(struct build *b, struct str json);
/* A copy of a value; NULL: null. */
void build_value(struct build *b, const cleat_json *v);
/* A member; absent or NULL: nothing at all. */
void build_kv_str(struct build *b, const char *key, const char *z);

/* A template (grammar in <cleat/json.h>) as one value. What is wrong with it latches. */
void build_vformat(struct build *b, const char *fmt, va_list ap) CLEAT_PRINTF(2, 0);
void build_format(struct build *b, const char *fmt, ...) CLEAT_PRINTF(2, 3);

#endif
