/* json/doc.c - documents: an arena and the value in it, and values as text from malloc.
 *
 * The document lies in its own arena, so that a small one is a single block. Not here: what parsing and
 * templates do (parse.c, format.c).
 */
#include "json/doc.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/sized.h"
#include "json/parse.h"
#include "json/writer.h"

struct cleat_doc {
	struct arena ar; /* holds the document too */
	const cleat_json *root;
};

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

/* The caller already holds a text of this size, so the arena has no limit of its own: what it
 * takes is bounded by the text. The document lives in its own arena. */
static cleat_doc *read_doc(const cleat_allocator *mem, struct str text,
			   const cleat_json_limits *limits, cleat_error *err)
{
	struct arena ar;
	cleat_doc *doc;

	arena_init(&ar, mem, SIZE_MAX / 2);
	ar.first = first_chunk(text.n);
	doc = arena_alloc(&ar, sizeof *doc);
	if (!doc) {
		error_set(err, CLEAT_ENOMEM, "out of memory while reading JSON");
		return NULL;
	}
	doc->ar = ar;
	if (json_parse(&doc->ar, text, limits, &doc->root, err) != CLEAT_OK) {
		cleat_doc_free(doc);
		return NULL;
	}
	return doc;
}

cleat_doc *cleat_doc_parse(const char *text, size_t n, const cleat_json_limits *limits,
			   const cleat_allocator *mem, cleat_error *err)
{
	const cleat_allocator a = mem_resolve(mem);

	if (limits && SIZED_RESERVED(limits, cleat_json_limits, err))
		return NULL;
	return read_doc(&a, (struct str){ text, n }, limits, err);
}

cleat_doc *doc_newv(const cleat_allocator *mem, cleat_error *err, const char *fmt, va_list ap)
{
	/* what the program itself builds is only held to what the library can walk */
	const cleat_json_limits limits = { .max_depth = SIZE_MAX, .max_nodes = SIZE_MAX };
	const cleat_allocator a = mem_resolve(mem);
	cleat_doc *doc = NULL;
	struct buf b;
	struct jw w;

	buf_init(&b, &a, SIZE_MAX / 2);
	jw_init(&w, &b);
	if (jw_vformat(&w, err, fmt, ap) == CLEAT_OK)
		doc = read_doc(&a, buf_str(&b), &limits, err);
	buf_done(&b);
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
