/* json/writer.c - see writer.h. What of a text needs no change is copied in runs. Not here: which
 * text that is (plain.c), templates (format.c).
 */
#include "json/writer.h"
#include "base/base64.h"
#include "base/cold.h"

#include "json/build.h"
#include "json/node.h"

/* A size that no text has, and to which one can be added. */
#define IMPOSSIBLE (SIZE_MAX / 2)

void jw_init(struct jw *w, struct buf *b)
{
	*w = (struct jw){ .b = b };
}

void jw_build(struct jw *w, struct build *to)
{
	to->pieces = BUF_INIT(&to->ar->mem, SIZE_MAX / 2);
	*w = (struct jw){ .b = &to->pieces, .values = true };
}

/* Where values go. */
static struct build *target(const struct jw *w)
{
	return (struct build *)(void *)((char *)w->b - offsetof(struct build, pieces));
}

/* A size that cannot be is left to the buf to refuse. A build's buf never has room,
 * so that there are values is seen here, and costs those nothing who write text. */
static COLD char *reserve_slow(const struct jw *w, size_t n)
{
	char *to = w->values ? NULL : buf_reserve(w->b, n < IMPOSSIBLE ? n + w->comma : SIZE_MAX);

	if (to && w->comma) {
		*to++ = ',';
		w->b->len++;
	}
	return to;
}

/* Room for n more bytes after the comma that may be due, which is written. NULL: there is none, or values
 * are made. */
static char *reserve(const struct jw *w, size_t n)
{
	struct buf *b = w->b;
	size_t room = b->cap - b->len;
	char *to;

	if (b->status || n + 1 >= room || b->len - b->head + n >= b->max)
		return reserve_slow(w, n);
	to = b->data + b->len;
	*to = ','; /* written over where none is due */
	b->len += w->comma;
	return to + w->comma;
}

static COLD void make_raw(const struct jw *w, const char *p, size_t n)
{
	if (w->values)
		build_raw(target(w), (struct str){ p, n });
}

/* A complete value of n bytes. */
static void put_value(struct jw *w, const char *p, size_t n)
{
	char *to = reserve(w, n);

	w->comma = true;
	if (to) {
		memcpy(to, p, n);
		w->b->len += n;
	} else {
		make_raw(w, p, n);
	}
}

void jw_splice(struct jw *w, struct str text, bool comma)
{
	put_value(w, text.p, text.n);
	w->comma = comma;
}

static COLD void refuse_piece(const struct jw *w)
{
	if (w->values)
		build_fail(target(w), CLEAT_EMISUSE, "a piece of JSON text is not a value");
}

void jw_frame(struct jw *w, struct str before, struct str json, struct str after, bool comma)
{
	char *to = json.n <= SIZE_MAX / 4 ? reserve(w, before.n + json.n + after.n)
					  : reserve(w, IMPOSSIBLE);

	w->comma = comma;
	if (!to) {
		refuse_piece(w);
		return;
	}
	memcpy(to, before.p, before.n);
	if (json.n)
		memcpy(to + before.n, json.p, json.n);
	memcpy(to + before.n + json.n, after.p, after.n);
	w->b->len += before.n + json.n + after.n;
}

static COLD void make_mark(const struct jw *w, char c)
{
	if (!w->values)
		return;
	if (c == '{')
		build_obj(target(w));
	else if (c == '[')
		build_arr(target(w));
	else if (c != '"')
		build_end(target(w));
}

static void put_mark(struct jw *w, char c)
{
	char *to = reserve(w, 1);

	if (to) {
		*to = c;
		w->b->len++;
	} else {
		make_mark(w, c);
	}
}

static void put_open(struct jw *w, char c)
{
	put_mark(w, c);
	w->comma = false;
}

static void put_close(struct jw *w, char c)
{
	w->comma = false;
	put_mark(w, c);
	w->comma = true;
}

void jw_obj(struct jw *w)
{
	put_open(w, '{');
}

void jw_obj_end(struct jw *w)
{
	put_close(w, '}');
}

void jw_arr(struct jw *w)
{
	put_open(w, '[');
}

void jw_arr_end(struct jw *w)
{
	put_close(w, ']');
}

/* ---- text --------------------------------------------------------------------------------- */

/* Writes what text_safe_prefix() stopped at; gives the number of bytes that it stands for. */
static COLD size_t put_special(struct buf *b, struct str s)
{
	static const char hex[] = "0123456789abcdef";
	unsigned char c = (unsigned char)*s.p;
	char esc[6] = { '\\', 'u', '0', '0', hex[c >> 4 & 0xF], hex[c & 0xF] };
	const char *brief;
	bool valid;

	if (c >= 0x80) {
		buf_append(b, "\xEF\xBF\xBD", 3);
		return text_step((const unsigned char *)s.p, s.n, &valid);
	}
	/* pairs; the letters among them are never special, so a hit is the first of its pair */
	brief = c ? strchr("\"\"\\\\\bb\tt\nn\ff\rr", c) : NULL;
	if (brief)
		esc[1] = brief[1];
	buf_append(b, esc, brief ? 2 : 6);
	return 1;
}

/* The inside of a string, after its safe prefix of `run` bytes is known. */
static COLD void writer_put_text(struct buf *b, struct str s, size_t run)
{
	for (;;) {
		size_t special;

		buf_append(b, s.p, run);
		if (run == s.n)
			return;
		s = (struct str){ s.p + run, s.n - run };
		special = put_special(b, s);
		s = (struct str){ s.p + special, s.n - special };
		run = text_safe_prefix(s);
	}
}

static COLD void make_string(const struct jw *w, struct str s, bool key)
{
	if (w->values)
		(key ? build_key : build_str)(target(w), s);
}

/* A quoted string and, for keys, the colon. `run` is the length of its safe prefix. */
static void put_string(struct jw *w, struct str s, size_t run, bool key)
{
	char *to = reserve(w, s.n <= SIZE_MAX / 4 ? s.n + 2 + key : IMPOSSIBLE);

	w->comma = !key;
	if (!to) {
		make_string(w, s, key);
		return;
	}
	*to++ = '"';
	if (run == s.n) {
		if (run)
			memcpy(to, s.p, run);
		to += run;
		*to++ = '"';
		if (key)
			*to = ':';
		w->b->len += run + 2 + key;
		return;
	}
	w->b->len++;
	writer_put_text(w->b, s, run);
	buf_append(w->b, "\":", 1 + (size_t)key);
}

static void put_key(struct jw *w, const yyjson_val *k)
{
	put_string(w, node_text(k), node_is_plain(k) ? node_len(k) : text_safe_prefix(node_text(k)),
		   true);
}

void jw_key(struct jw *w, const char *key)
{
	size_t n = strlen(key);

	put_string(w, (struct str){ key, n }, n, true);
}

void jw_keyn(struct jw *w, struct str key)
{
	put_string(w, key, text_safe_prefix(key), true);
}

void jw_key_of(struct jw *w, const cleat_json *key)
{
	put_key(w, node_of(key));
}

void jw_str(struct jw *w, struct str s)
{
	if (s.p)
		put_string(w, s, text_safe_prefix(s), false);
	else
		jw_null(w);
}

void jw_frame_str(struct jw *w, struct str before, struct str text, struct str after, bool comma)
{
	size_t run = text_safe_prefix(text);
	char *to;

	if (run != text.n || text.n > SIZE_MAX / 4) {
		jw_splice(w, before, false);
		put_string(w, text, run, false);
		w->comma = false;
		jw_splice(w, after, comma);
		return;
	}
	to = reserve(w, before.n + text.n + after.n + 2);
	w->comma = comma;
	if (!to) {
		refuse_piece(w);
		return;
	}
	memcpy(to, before.p, before.n);
	to += before.n;
	*to++ = '"';
	if (text.n)
		memcpy(to, text.p, text.n);
	to += text.n;
	*to++ = '"';
	memcpy(to, after.p, after.n);
	w->b->len += before.n + text.n + after.n + 2;
}

void jw_text_begin(struct jw *w)
{
	put_open(w, '"');
}

void jw_text_part(struct jw *w, struct str s)
{
	if (w->values)
		buf_append(w->b, s.p, s.n);
	else
		writer_put_text(w->b, s, text_safe_prefix(s));
}

static COLD void make_pieces(struct build *to, bool key)
{
	if (buf_status(&to->pieces))
		build_fail(to, CLEAT_ENOMEM, "out of memory while making a JSON value");
	else
		(key ? build_key : build_str)(to, buf_str(&to->pieces));
	buf_done(&to->pieces);
}

void jw_text_end(struct jw *w, bool key)
{
	if (w->values)
		make_pieces(target(w), key);
	else
		buf_append(w->b, "\":", 1 + (size_t)key);
	w->comma = !key;
}

void jw_strz(struct jw *w, const char *z)
{
	jw_str(w, str_of(z));
}

/* ---- numbers and words -------------------------------------------------------------------- */

static void put_decimal(struct jw *w, uint64_t n, bool negative)
{
	char digits[NODE_DIGITS];
	struct str text = node_decimal(digits, n, negative);

	put_value(w, text.p, text.n);
}

void jw_int(struct jw *w, int64_t v)
{
	put_decimal(w, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, v < 0);
}

void jw_uint(struct jw *w, uint64_t v)
{
	put_decimal(w, v, false);
}

void jw_real(struct jw *w, double v)
{
	char digits[NUMBER_REAL];

	jw_raw(w, number_print(digits, v));
}

void jw_bool(struct jw *w, bool v)
{
	if (v)
		put_value(w, "true", 4);
	else
		put_value(w, "false", 5);
}

void jw_null(struct jw *w)
{
	put_value(w, "null", 4);
}

void jw_raw(struct jw *w, struct str json)
{
	if (json.p)
		put_value(w, json.p, json.n);
	else
		jw_null(w);
}

void jw_rawz(struct jw *w, const char *json)
{
	jw_raw(w, str_of(json));
}

/* ---- values ------------------------------------------------------------------------------- */

static void put_scalar(struct jw *w, const yyjson_val *v)
{
	switch (v->tag & YYJSON_TYPE_MASK) {
	case YYJSON_TYPE_RAW: put_value(w, v->uni.str, node_len(v)); break;
	case YYJSON_TYPE_BOOL: jw_bool(w, unsafe_yyjson_get_bool((void *)v)); break;
	case YYJSON_TYPE_STR:
		put_string(w, node_text(v),
			   node_is_plain(v) ? node_len(v) : text_safe_prefix(node_text(v)), false);
		break;
	default: jw_null(w); break;
	}
}

/* The values lie in document order, so the stack only has to know what is still to come on each
 * level: twice the number of values, plus one in objects. */
static void put_container(struct jw *w, const yyjson_val *v)
{
	size_t left[NODE_MAX_DEPTH], depth = 0;

	if (w->values) {
		build_value(target(w), node_json(v));
		return;
	}
	for (;; v++) {
		bool object = node_is(v, YYJSON_TYPE_OBJ);

		if (!node_is_container(v)) {
			put_scalar(w, v);
		} else if (depth == NODE_MAX_DEPTH) {
			w->b->status = CLEAT_ELIMIT; /* json_parse() lets nothing so deep through */
			return;
		} else {
			put_open(w, object ? '{' : '[');
			left[depth++] = node_len(v) * 2 + object;
		}
		for (; depth && left[depth - 1] < 2; depth--)
			put_close(w, left[depth - 1] ? '}' : ']');
		if (depth == 0)
			return;
		left[depth - 1] -= 2;
		if (left[depth - 1] & 1)
			put_key(w, ++v);
	}
}

void jw_value(struct jw *w, const cleat_json *v)
{
	if (!v)
		jw_null(w);
	else if (node_is_container(node_of(v)))
		put_container(w, node_of(v));
	else
		put_scalar(w, node_of(v));
}

/* ---- base64 ------------------------------------------------------------------------------- */

static COLD void make_base64(const struct jw *w, const void *p, size_t n, size_t size)
{
	char *to = w->values ? buf_reserve(w->b, size) : NULL;

	if (!w->values)
		return;
	if (to)
		buf_commit(w->b, (size_t)(base64_encode(BASE64_STANDARD, p, n, to) - to));
	make_pieces(target(w), false);
}

void jw_base64(struct jw *w, const void *p, size_t n)
{
	size_t size = base64_size(BASE64_STANDARD, n);
	char *start = reserve(w, size < IMPOSSIBLE ? size + 2 : IMPOSSIBLE), *to = start;

	w->comma = true;
	if (!to) {
		make_base64(w, p, n, size);
		return;
	}
	*to++ = '"';
	to = base64_encode(BASE64_STANDARD, p, n, to);
	*to++ = '"';
	w->b->len += (size_t)(to - start);
}

/* ---- members ------------------------------------------------------------------------------ */

void jw_kv_str(struct jw *w, const char *key, const char *z)
{
	jw_kv_strn(w, key, str_of(z));
}

void jw_kv_strn(struct jw *w, const char *key, struct str s)
{
	if (!s.p)
		return;
	jw_key(w, key);
	jw_str(w, s);
}

void jw_kv_int(struct jw *w, const char *key, int64_t v)
{
	jw_key(w, key);
	jw_int(w, v);
}

void jw_kv_bool(struct jw *w, const char *key, bool v)
{
	jw_key(w, key);
	jw_bool(w, v);
}

void jw_kv_raw(struct jw *w, const char *key, struct str json)
{
	if (!json.p)
		return;
	jw_key(w, key);
	jw_raw(w, json);
}

void jw_kv_value(struct jw *w, const char *key, const cleat_json *v)
{
	if (!v)
		return;
	jw_key(w, key);
	jw_value(w, v);
}
