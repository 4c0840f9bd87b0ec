/* json/canonical.c - see canonical.h.
 *
 * One stack of frames, an open array or object each, and one stack of members: an object puts all
 * of its members on top of it, sorted, and takes them away when it ends. So the memory is bounded
 * by the members of the objects that are open at the same time, and nothing recurses. The sort is a
 * heap sort: no extra memory, no bad case for a hostile order, and the position in the document
 * breaks ties. (The C library's qsort may allocate behind the hook's back.)
 */
#include "json/canonical.h"

#include "base/mem.h"
#include "json/parse.h"
#include "json/writer.h"

#include <string.h>

enum { DEPTH_MAX = 1024, MEMBERS_MAX = 1 << 20 };

struct member {
	struct str key;
	const cleat_json *value;
	size_t index;
};

struct frame {
	bool object;
	cleat_json_iter it; /* of an array */
	size_t start, next; /* of an object: its place in members, and the one to write now */
};

struct walk {
	struct jw w;
	cleat_allocator mem;
	struct frame *frames;
	size_t n_frames, cap_frames;
	struct member *members;
	size_t n_members, cap_members;
};

/* Does a come before b? */
static bool before(const struct member *a, const struct member *b)
{
	size_t n = a->key.n < b->key.n ? a->key.n : b->key.n;
	int c = n ? memcmp(a->key.p, b->key.p, n) : 0;

	if (c != 0)
		return c < 0;
	if (a->key.n != b->key.n)
		return a->key.n < b->key.n;
	return a->index < b->index;
}

static void sift_down(struct member *m, size_t i, size_t n)
{
	struct member moving = m[i];

	for (size_t child = 2 * i + 1; child < n; child = 2 * i + 1) {
		if (child + 1 < n && before(&m[child], &m[child + 1]))
			child++;
		if (!before(&moving, &m[child]))
			break;
		m[i] = m[child];
		i = child;
	}
	m[i] = moving;
}

static void sort(struct member *m, size_t n)
{
	for (size_t i = n / 2; i > 0; i--)
		sift_down(m, i - 1, n);
	for (size_t end = n; end > 1; end--) {
		struct member last = m[end - 1];

		m[end - 1] = m[0];
		m[0] = last;
		sift_down(m, 0, end - 1);
	}
}

static bool is_skipped(struct str key, const char *const *skip, size_t n_skip)
{
	for (size_t i = 0; i < n_skip; i++)
		if (str_eqz(key, skip[i]))
			return true;
	return false;
}

static int add_members(struct walk *k, const cleat_json *v, const char *const *skip, size_t n_skip)
{
	size_t start = k->n_members;
	cleat_json_iter it = cleat_json_each(v);

	while (cleat_json_next(&it)) {
		struct str key = json_str(it.key);
		void *array = k->members;
		int rc;

		if (is_skipped(key, skip, n_skip))
			continue;
		rc = mem_grow(&k->mem, &array, &k->cap_members, k->n_members, sizeof *k->members,
			      MEMBERS_MAX);
		k->members = array;
		if (rc)
			return rc;
		k->members[k->n_members++] = (struct member){ key, it.value, it.index };
	}
	if (k->n_members > start)
		sort(k->members + start, k->n_members - start);
	return CLEAT_OK;
}

/* Writes a scalar, or opens an array or object and leaves its contents to the frames. */
static int canonical_enter(struct walk *k, const cleat_json *v, const char *const *skip,
			   size_t n_skip)
{
	bool object = json_is_object(v);
	void *array = k->frames;
	int rc;

	if (!object && !json_is_array(v)) {
		jw_value(&k->w, v);
		return buf_status(k->w.b);
	}
	rc = mem_grow(&k->mem, &array, &k->cap_frames, k->n_frames, sizeof *k->frames, DEPTH_MAX);
	k->frames = array;
	if (rc)
		return rc;
	k->frames[k->n_frames++] = (struct frame){ .object = object,
						   .it = cleat_json_each(v),
						   .start = k->n_members,
						   .next = k->n_members };
	if (!object) {
		jw_arr(&k->w);
		return buf_status(k->w.b);
	}
	jw_obj(&k->w);
	return add_members(k, v, skip, n_skip);
}

static void leave(struct walk *k, const struct frame *f)
{
	if (f->object) {
		jw_obj_end(&k->w);
		k->n_members = f->start;
	} else {
		jw_arr_end(&k->w);
	}
	k->n_frames--;
}

/* One more child of the innermost frame, or its end. A frame's members are the topmost ones
 * whenever it is the innermost, so n_members is where they end. */
static int canonical_step(struct walk *k)
{
	struct frame *f = &k->frames[k->n_frames - 1];
	const cleat_json *child;

	if (f->object && f->next < k->n_members) {
		const struct member *m = &k->members[f->next++];

		jw_keyn(&k->w, m->key);
		child = m->value;
	} else if (!f->object && cleat_json_next(&f->it)) {
		child = f->it.value;
	} else {
		leave(k, f);
		return buf_status(k->w.b);
	}
	return canonical_enter(k, child, NULL, 0);
}

int json_write_canonical_without(struct buf *out, const cleat_json *v, const char *const *skip,
				 size_t n_skip, const cleat_allocator *mem)
{
	struct walk k = { .mem = mem_resolve(mem) };
	size_t mark = buf_size(out);
	int rc = buf_status(out);

	if (rc)
		return rc;
	jw_init(&k.w, out);
	rc = canonical_enter(&k, v, skip, n_skip);
	while (!rc && k.n_frames > 0)
		rc = canonical_step(&k);
	mem_free(&k.mem, k.frames);
	mem_free(&k.mem, k.members);
	if (rc)
		buf_truncate(out, mark);
	return rc;
}

int json_write_canonical(struct buf *out, const cleat_json *v, const cleat_allocator *mem)
{
	return json_write_canonical_without(out, v, NULL, 0, mem);
}
