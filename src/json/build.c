/* json/build.c - see build.h.
 *
 * The nodes lie in one array that doubles, in document order, as yyjson would leave them. While a
 * container is open its length counts the nodes directly in it (in an object the keys too: an odd number
 * says that a value is due), and its offset is the place of the container around it. So there is no
 * stack, and nothing to free.
 */
#include "json/build.h"

#include "base/cold.h"
#include "base/error.h"
#include "json/node.h"
#include "json/parse.h"

enum { FIRST_NODES = 16, TEXT_ROOM = 128 };

void build_init(struct build *b, struct arena *ar)
{
	b->ar = ar;
	b->nodes = NULL;
	b->n = b->cap = b->open = b->depth = b->room = 0;
	b->unique = false;
	b->err.status = CLEAT_OK;
}

int build_fail(struct build *b, int status, const char *fmt, ...)
{
	va_list ap;

	if (b->err.status)
		return b->err.status;
	va_start(ap, fmt);
	error_vset(&b->err, status, 0, fmt, ap);
	va_end(ap);
	return status;
}

static COLD void out_of_memory(struct build *b)
{
	build_fail(b, CLEAT_ENOMEM, "out of memory while making a JSON value");
}

const cleat_json *build_at(const struct build *b, size_t i)
{
	return i < b->n ? node_json(&b->nodes[i]) : NULL;
}

/* ---- places ------------------------------------------------------------------------------- */

static COLD bool grow(struct build *b, size_t more)
{
	size_t cap = b->cap ? b->cap : FIRST_NODES;
	yyjson_val *nodes;

	while (cap - b->n < more && cap < SIZE_MAX / 4 / sizeof *nodes)
		cap *= 2;
	if (b->n == 0 && more > FIRST_NODES)
		cap = more; /* a copy: nothing follows, most often */
	nodes = cap - b->n < more ? NULL
				  : arena_realloc(b->ar, b->nodes, b->cap * sizeof *nodes,
						  cap * sizeof *nodes);
	if (!nodes) {
		out_of_memory(b);
		return false;
	}
	b->nodes = nodes;
	b->cap = cap;
	return true;
}

static COLD void misplaced(struct build *b, bool key)
{
	if (!b->open)
		build_fail(b, CLEAT_EMISUSE,
			   key ? "a key outside of an object"
			       : "a second value: a document has one, perhaps an array");
	else if (!key)
		build_fail(b, CLEAT_EMISUSE, "a value in an object has no key");
	else if (node_is(&b->nodes[b->open - 1], YYJSON_TYPE_ARR))
		build_fail(b, CLEAT_EMISUSE, "a value in an array has a key");
	else
		build_fail(b, CLEAT_EMISUSE, "a key follows a key: there is no value between them");
}

/* Room for a key or a value of `n` nodes, where one may appear; NULL, and why, where none may. */
static yyjson_val *place(struct build *b, bool key, size_t n)
{
	yyjson_val *in = b->open ? &b->nodes[b->open - 1] : NULL;
	bool due = in ? node_is(in, YYJSON_TYPE_OBJ) && !(node_len(in) & 1) : false;

	if (b->err.status)
		return NULL;
	if (key != due || (!in && b->n)) {
		misplaced(b, key);
		return NULL;
	}
	if (in)
		in->tag += UINT64_C(1) << YYJSON_TAG_BIT;
	if (b->cap - b->n < n && !grow(b, n))
		return NULL;
	b->n += n;
	return &b->nodes[b->n - n];
}

static void put_tag(struct build *b, uint64_t tag)
{
	yyjson_val *v = place(b, false, 1);

	if (v)
		*v = (yyjson_val){ .tag = tag };
}

/* ---- objects and arrays -------------------------------------------------------------------- */

static void begin(struct build *b, uint64_t type)
{
	yyjson_val *v;

	if (b->depth == NODE_MAX_DEPTH)
		build_fail(b, CLEAT_ELIMIT, "nested deeper than %d levels", NODE_MAX_DEPTH);
	v = place(b, false, 1);
	if (!v)
		return;
	v->tag = type;
	v->uni.ofs = b->open;
	b->open = b->n;
	b->depth++;
}

void build_obj(struct build *b)
{
	begin(b, YYJSON_TYPE_OBJ);
}

void build_arr(struct build *b)
{
	begin(b, YYJSON_TYPE_ARR);
}

void build_end(struct build *b)
{
	size_t at = b->open - 1, len;
	yyjson_val *v;

	if (b->err.status)
		return;
	if (!b->open) {
		build_fail(b, CLEAT_EMISUSE, "an end without an object or array that is open");
		return;
	}
	v = &b->nodes[at];
	len = node_len(v);
	if (node_is(v, YYJSON_TYPE_OBJ)) {
		if (len & 1)
			build_fail(b, CLEAT_EMISUSE, "an object ends after a key");
		v->tag = YYJSON_TYPE_OBJ | (uint64_t)(len / 2) << YYJSON_TAG_BIT;
	}
	b->open = v->uni.ofs;
	b->depth--;
	v->uni.ofs = (b->n - at) * sizeof *v;
	if (b->unique && !b->err.status && json_check_keys(node_json(v), &b->err))
		b->err.status = CLEAT_EINVAL;
}

/* ---- text ---------------------------------------------------------------------------------- */

/* A terminated copy; short ones share a block. NULL when out of memory. */
static char *copy_text(struct build *b, struct str s)
{
	char *to;

	if (s.n < b->room || s.n < TEXT_ROOM / 4) {
		if (s.n >= b->room) {
			b->text = arena_alloc(b->ar, TEXT_ROOM);
			b->room = b->text ? TEXT_ROOM : 0;
		}
		if (!b->text)
			return NULL;
		to = memcpy(b->text, s.p, s.n);
		to[s.n] = '\0';
		b->text += s.n + 1;
		b->room -= s.n + 1;
		return to;
	}
	return arena_strndup(b->ar, s.p, s.n);
}

/* What is not UTF-8 becomes U+FFFD, as the writer has it. */
static COLD struct str repair(struct arena *ar, struct str s)
{
	char *copy = s.n < SIZE_MAX / 4 ? arena_alloc(ar, 3 * s.n + 1) : NULL;
	struct str to = { copy, 0 };

	for (size_t i = 0; copy && i < s.n;) {
		bool valid;
		size_t step = text_step((const unsigned char *)s.p + i, s.n - i, &valid);
		struct str put = valid ? (struct str){ s.p + i, step } : STR_LIT("\xEF\xBF\xBD");

		memcpy(copy + to.n, put.p, put.n);
		to.n += put.n;
		i += step;
	}
	if (copy)
		copy[to.n] = '\0';
	return to;
}

static void put_text(struct build *b, struct str s, bool key)
{
	yyjson_val *v = place(b, key, 1);
	uint64_t plain;

	if (!v)
		return;
	plain = text_safe_prefix(s) == s.n ? YYJSON_SUBTYPE_NOESC : YYJSON_SUBTYPE_NONE;
	if (!plain && utf8_valid_prefix(s) < s.n)
		s = repair(b->ar, s);
	else
		s.p = copy_text(b, s);
	v->tag = YYJSON_TYPE_STR | plain | (uint64_t)s.n << YYJSON_TAG_BIT;
	v->uni.str = s.p;
	if (!s.p)
		out_of_memory(b);
}

void build_key(struct build *b, struct str key)
{
	put_text(b, key.p ? key : STR_LIT(""), true);
}

void build_keyz(struct build *b, const char *key)
{
	build_key(b, str_of(key));
}

void build_str(struct build *b, struct str s)
{
	if (s.p)
		put_text(b, s, false);
	else
		build_null(b);
}

void build_strz(struct build *b, const char *z)
{
	build_str(b, str_of(z));
}

void build_kv_str(struct build *b, const char *key, const char *z)
{
	if (!z)
		return;
	build_keyz(b, key);
	build_strz(b, z);
}

/* ---- numbers and words --------------------------------------------------------------------- */

void build_number(struct build *b, struct str text)
{
	yyjson_val *v = place(b, false, 1);

	if (!v)
		return;
	v->tag = YYJSON_TYPE_RAW | (uint64_t)text.n << YYJSON_TAG_BIT;
	v->uni.str = copy_text(b, text);
	if (!v->uni.str)
		out_of_memory(b);
}

void build_int(struct build *b, int64_t v)
{
	char digits[NODE_DIGITS];

	build_number(b, node_decimal(digits, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, v < 0));
}

void build_uint(struct build *b, uint64_t v)
{
	char digits[NODE_DIGITS];

	build_number(b, node_decimal(digits, v, false));
}

void build_real(struct build *b, double v)
{
	char digits[NUMBER_REAL];
	struct str text = number_print(digits, v);

	if (text.p)
		build_number(b, text);
	else
		build_null(b);
}

void build_bool(struct build *b, bool v)
{
	put_tag(b, YYJSON_TYPE_BOOL | (v ? YYJSON_SUBTYPE_TRUE : YYJSON_SUBTYPE_FALSE));
}

void build_null(struct build *b)
{
	put_tag(b, YYJSON_TYPE_NULL);
}

/* ---- values -------------------------------------------------------------------------------- */

/* Offsets are relative, so copied nodes are right but for their texts, which get one block. */
static void copy_texts(struct build *b, yyjson_val *nodes, size_t n)
{
	char *to = arena_alloc(b->ar, json_text_bytes(node_json(nodes)));

	if (!to) {
		out_of_memory(b);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (!node_has_text(&nodes[i]))
			continue;
		memcpy(to, nodes[i].uni.str, node_len(&nodes[i]) + 1);
		nodes[i].uni.str = to;
		to += node_len(&nodes[i]) + 1;
	}
}

void build_value(struct build *b, const cleat_json *v)
{
	size_t n = json_nodes(v);
	yyjson_val *to;

	if (!v) {
		build_null(b);
		return;
	}
	if (node_is_deeper(node_of(v), n, NODE_MAX_DEPTH - b->depth))
		build_fail(b, CLEAT_ELIMIT, "nested deeper than %d levels", NODE_MAX_DEPTH);
	to = place(b, false, n);
	if (!to)
		return;
	memcpy(to, node_of(v), n * sizeof *to);
	copy_texts(b, to, n);
}

static bool is_number(struct str json) /* that is one value, perhaps with space around it */
{
	return json.n && memchr("-0123456789", json.p[0], 11) && json.p[json.n - 1] >= '0' &&
	       json.p[json.n - 1] <= '9';
}

void build_raw(struct build *b, struct str json)
{
	const cleat_json_limits limits = { .max_depth = NODE_MAX_DEPTH, .max_nodes = SIZE_MAX };
	const cleat_json *v;

	if (is_number(json))
		build_number(b, json);
	else if (str_eqz(json, "true") || str_eqz(json, "false"))
		build_bool(b, json.p[0] == 't');
	else if (str_eqz(json, "null"))
		build_null(b);
	else if (!b->err.status && !json_parse(b->ar, json, &limits, &v, &b->err))
		build_value(b, v);
}

/* ---- the end ------------------------------------------------------------------------------- */

int build_finish(struct build *b, const cleat_json **ret, cleat_error *err)
{
	if (b->open)
		build_fail(b, CLEAT_EMISUSE, "an object or array is not ended");
	else if (!b->n)
		build_fail(b, CLEAT_EMISUSE, "there is no value");
	*ret = b->err.status ? NULL : node_json(b->nodes);
	if (err && b->err.status)
		*err = b->err;
	return b->err.status;
}
