/* json/doc.c - documents: an arena and the value in it, read, built or from a template; and values as
 * text from malloc.
 *
 * The document lies in its own arena, so that a small one is a single block; so does a builder, until it
 * is finished. Not here: what parsing, building and templates do (parse.c, build.c, format.c).
 */
#include "json/doc.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/sized.h"
#include "json/build.h"
#include "json/parse.h"
#include "json/writer.h"

struct cleat_doc {
	struct arena ar; /* holds the document too */
	const cleat_json *root;
};

/* What a small template makes takes, document and all. */
enum { TEMPLATE = 1024 };

static size_t align16(size_t n)
{
	return (n + 15) & ~(size_t)15;
}

/* What a small text will take, document and all, so that it is one small block: malloc has those at
 * hand. yyjson reserves a value for every six bytes. */
static size_t first_chunk(size_t n)
{
	enum { SMALL = 1024, HEAD = 24 };

	return n < SMALL ? align16(sizeof(cleat_doc)) + align16(n + 8) + (n / 6 + HEAD) * 16 : 0;
}

/* A document without a value yet, in its own arena, which has no limit of its own: what it takes is
 * bounded by what the caller already holds. */
static cleat_doc *doc_new(const cleat_allocator *mem, size_t first)
{
	struct arena ar;
	cleat_doc *doc;

	arena_init(&ar, mem, SIZE_MAX / 2);
	ar.first = first;
	doc = arena_alloc(&ar, sizeof *doc);
	if (doc)
		*doc = (cleat_doc){ .ar = ar };
	return doc;
}

cleat_doc *cleat_doc_parse(const char *text, size_t n, const cleat_json_limits *limits,
			   const cleat_allocator *mem, cleat_error *err)
{
	cleat_doc *doc;

	if (limits && SIZED_RESERVED(limits, cleat_json_limits, err))
		return NULL;
	doc = doc_new(mem, first_chunk(n));
	if (!doc) {
		error_set(err, CLEAT_ENOMEM, "out of memory while reading JSON");
		return NULL;
	}
	if (json_parse(&doc->ar, (struct str){ text, n }, limits, &doc->root, err) != CLEAT_OK) {
		cleat_doc_free(doc);
		return NULL;
	}
	return doc;
}

/* The document with what was built, or NULL and why not. */
static cleat_doc *doc_finish(cleat_doc *doc, struct build *b, cleat_error *err)
{
	if (build_finish(b, &doc->root, err) == CLEAT_OK)
		return doc;
	cleat_doc_free(doc);
	return NULL;
}

cleat_doc *doc_newv(const cleat_allocator *mem, cleat_error *err, const char *fmt, va_list ap)
{
	cleat_doc *doc = doc_new(mem, TEMPLATE);
	struct build b;

	if (!doc) {
		error_set(err, CLEAT_ENOMEM, "out of memory while making a JSON value");
		return NULL;
	}
	build_init(&b, &doc->ar);
	build_vformat(&b, fmt, ap);
	return doc_finish(doc, &b, err);
}

cleat_doc *doc_newf(const cleat_allocator *mem, cleat_error *err, const char *fmt, ...)
{
	cleat_doc *doc;
	va_list ap;

	va_start(ap, fmt);
	doc = doc_newv(mem, err, fmt, ap);
	va_end(ap);
	return doc;
}

cleat_doc *cleat_doc_newv(cleat_error *err, const char *fmt, va_list ap)
{
	return doc_newv(NULL, err, fmt, ap);
}

cleat_doc *cleat_doc_newf(cleat_error *err, const char *fmt, ...)
{
	cleat_doc *doc;
	va_list ap;

	va_start(ap, fmt);
	doc = doc_newv(NULL, err, fmt, ap);
	va_end(ap);
	return doc;
}

const cleat_json *cleat_doc_root(const cleat_doc *doc)
{
	return doc ? doc->root : NULL;
}

struct arena *doc_arena(cleat_doc *doc)
{
	return &doc->ar;
}

void cleat_doc_free(cleat_doc *doc)
{
	struct arena ar;

	if (!doc)
		return;
	ar = doc->ar;
	arena_done(&ar);
}

char *doc_print(const cleat_allocator *mem, const cleat_json *v, size_t *ret_len)
{
	const cleat_allocator a = mem_resolve(mem);
	struct buf b;
	struct jw w;

	if (ret_len)
		*ret_len = 0;
	if (!v)
		return NULL;
	buf_init(&b, &a, SIZE_MAX / 2);
	jw_init(&w, &b);
	jw_value(&w, v);
	buf_putc(&b, '\0');
	if (buf_status(&b) != CLEAT_OK) {
		buf_done(&b);
		return NULL;
	}
	if (ret_len)
		*ret_len = buf_size(&b) - 1;
	return b.data; /* nothing was consumed, so the block starts with the text */
}

char *cleat_json_print(const cleat_json *v, size_t *ret_len)
{
	return doc_print(NULL, v, ret_len);
}

/* ---- building ----------------------------------------------------------------------------- */

struct cleat_build {
	cleat_doc *doc; /* holds the builder too */
	struct build b;
};

cleat_build *cleat_build_new(const cleat_allocator *mem)
{
	cleat_doc *doc = doc_new(mem, 0);
	cleat_build *b = doc ? arena_alloc(&doc->ar, sizeof *b) : NULL;

	if (!b) {
		cleat_doc_free(doc);
		return NULL;
	}
	b->doc = doc;
	build_init(&b->b, &doc->ar);
	b->b.unique = true;
	return b;
}

bool doc_writer(cleat_build *b, struct jw *ret)
{
	if (b)
		jw_build(ret, &b->b);
	return b != NULL;
}

/* The key that a value gets; NULL: none. False when there is no builder. */
static bool put_key(cleat_build *b, const char *key)
{
	if (b && key)
		build_keyz(&b->b, key);
	return b != NULL;
}

void cleat_build_object(cleat_build *b, const char *key)
{
	if (put_key(b, key))
		build_obj(&b->b);
}

void cleat_build_array(cleat_build *b, const char *key)
{
	if (put_key(b, key))
		build_arr(&b->b);
}

void cleat_build_end(cleat_build *b)
{
	if (b)
		build_end(&b->b);
}

void cleat_build_str(cleat_build *b, const char *key, const char *text)
{
	if (put_key(b, key))
		build_strz(&b->b, text);
}

void cleat_build_strn(cleat_build *b, const char *key, const char *text, size_t n)
{
	if (put_key(b, key))
		build_str(&b->b, (struct str){ text, n });
}

void cleat_build_int(cleat_build *b, const char *key, int64_t v)
{
	if (put_key(b, key))
		build_int(&b->b, v);
}

void cleat_build_uint(cleat_build *b, const char *key, uint64_t v)
{
	if (put_key(b, key))
		build_uint(&b->b, v);
}

void cleat_build_num(cleat_build *b, const char *key, double v)
{
	if (put_key(b, key))
		build_real(&b->b, v);
}

void cleat_build_bool(cleat_build *b, const char *key, bool v)
{
	if (put_key(b, key))
		build_bool(&b->b, v);
}

void cleat_build_null(cleat_build *b, const char *key)
{
	if (put_key(b, key))
		build_null(&b->b);
}

void cleat_build_value(cleat_build *b, const char *key, const cleat_json *v)
{
	if (put_key(b, key))
		build_value(&b->b, v);
}

void cleat_build_valuef(cleat_build *b, const char *key, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (put_key(b, key))
		build_vformat(&b->b, fmt, ap);
	va_end(ap);
}

cleat_doc *cleat_build_finish(cleat_build *b, cleat_error *err)
{
	if (b)
		return doc_finish(b->doc, &b->b, err);
	error_set(err, CLEAT_ENOMEM, "out of memory while making a JSON value");
	return NULL;
}

void cleat_build_free(cleat_build *b)
{
	if (b)
		cleat_doc_free(b->doc);
}
