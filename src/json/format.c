/* json/format.c - templates: relaxed JSON with printf conversions, as values or as strict JSON.
 *
 * The template is walked once, with one bit a level to tell objects from arrays. A conversion is
 * always a whole value or key and goes through the functions of the builder or the writer, so no
 * argument can change the structure. Anything that is not clearly right is refused with its place, a byte offset
 * from 0. Not here: other texts from outside; templates belong to the program.
 */
#include "base/error.h"
#include "json/build.h"
#include "json/token.h"
#include "json/writer.h"

#include <string.h>

enum { MAX_DEPTH = 64 };

enum want {
	WANT_VALUE,
	WANT_ELEMENT, /* a value or ']' */
	WANT_KEY,     /* a key or '}' */
	WANT_NEXT,    /* ',' or the end of the container */
	WANT_END
};

struct tpl {
	struct build *b; /* where it goes: a value, */
	struct jw *w;    /* or text */
	cleat_error *err;
	const char *fmt;
	const char *p;
	uint64_t objects; /* bit 0: the innermost container is an object; bit 1: the next one... */
	unsigned depth;
	enum want want;
	va_list ap;
};

static int format_fail(const struct tpl *t, const char *at, const char *reason)
{
	return error_set(t->err, CLEAT_EINVAL, "template: %s at %zu", reason,
			 (size_t)(at - t->fmt));
}

static struct str take_word(struct tpl *t)
{
	struct str s = { t->p, 0 };

	while (token_is_word(*t->p))
		t->p++;
	s.n = (size_t)(t->p - s.p);
	return s;
}

static void skip_space(struct tpl *t)
{
	while (*t->p == ' ' || *t->p == '\n' || *t->p == '\t' || *t->p == '\r')
		t->p++;
}

/* ---- output ------------------------------------------------------------------------------- */

static void put_text(struct tpl *t, struct str s, bool key)
{
	if (t->b && key)
		build_key(t->b, s);
	else if (t->b)
		build_str(t->b, s);
	else if (key)
		jw_keyn(t->w, s);
	else
		jw_str(t->w, s);
}

static void put_bool(struct tpl *t, bool v)
{
	if (t->b)
		build_bool(t->b, v);
	else
		jw_bool(t->w, v);
}

static void put_int(struct tpl *t, int64_t v)
{
	if (t->b)
		build_int(t->b, v);
	else
		jw_int(t->w, v);
}

static void put_uint(struct tpl *t, uint64_t v)
{
	if (t->b)
		build_uint(t->b, v);
	else
		jw_uint(t->w, v);
}

static void put_real(struct tpl *t, double v)
{
	if (t->b)
		build_real(t->b, v);
	else
		jw_real(t->w, v);
}

static void put_number(struct tpl *t, struct str text)
{
	if (t->b)
		build_number(t->b, text);
	else
		jw_raw(t->w, text);
}

/* NULL: null. */
static void put_value(struct tpl *t, const cleat_json *v)
{
	if (t->b)
		build_value(t->b, v);
	else
		jw_value(t->w, v);
}

static void put_begin(struct tpl *t, bool object)
{
	if (t->b)
		(object ? build_obj : build_arr)(t->b);
	else
		(object ? jw_obj : jw_arr)(t->w);
}

static void put_end(struct tpl *t, bool object)
{
	if (t->b)
		build_end(t->b);
	else
		(object ? jw_obj_end : jw_arr_end)(t->w);
}

/* ---- quoted text -------------------------------------------------------------------------- */

/* Text with escapes. */
static int take_escaped(struct tpl *t, bool key)
{
	struct buf text = BUF_INIT(t->b ? &t->b->ar->mem : &t->w->b->mem, SIZE_MAX / 2);
	const char *why, *end = token_quoted(t->p, &text, &why);
	int rc = buf_status(&text);

	if (why)
		rc = format_fail(t, end, why);
	else if (rc)
		error_set(t->err, rc, "out of memory");
	else
		put_text(t, buf_str(&text), key);
	buf_done(&text);
	t->p = end;
	return rc;
}

/* Text up to the matching quote; most has no escapes and goes as it is. */
static int take_quoted(struct tpl *t, bool key)
{
	size_t run = strcspn(t->p + 1, *t->p == '"' ? "\"\\%" : "'\\%");

	if (t->p[run + 1] != *t->p)
		return take_escaped(t, key);
	put_text(t, (struct str){ t->p + 1, run }, key);
	t->p += run + 2;
	return CLEAT_OK;
}

/* ---- conversions -------------------------------------------------------------------------- */

enum size {
	SIZE_INT,
	SIZE_CHAR,
	SIZE_SHORT,
	SIZE_LONG,
	SIZE_LLONG,
	SIZE_SIZE,
	SIZE_PTRDIFF,
	SIZE_MAXT
};

static enum size take_size(struct tpl *t)
{
	char c = *t->p;

	if (!c || !strchr("hlztj", c))
		return SIZE_INT;
	t->p++;
	if ((c == 'h' || c == 'l') && *t->p == c) {
		t->p++;
		return c == 'h' ? SIZE_CHAR : SIZE_LLONG;
	}
	switch (c) {
	case 'h': return SIZE_SHORT;
	case 'l': return SIZE_LONG;
	case 'z': return SIZE_SIZE;
	case 't': return SIZE_PTRDIFF;
	default: return SIZE_MAXT;
	}
}

static void put_signed(struct tpl *t, enum size size)
{
	switch (size) {
	case SIZE_CHAR: put_bool(t, va_arg(t->ap, int) != 0); break;
	case SIZE_SHORT: put_int(t, (short)va_arg(t->ap, int)); break;
	case SIZE_LONG: put_int(t, va_arg(t->ap, long)); break;
	case SIZE_LLONG: put_int(t, va_arg(t->ap, long long)); break;
	case SIZE_SIZE: put_int(t, (ptrdiff_t)va_arg(t->ap, size_t)); break;
	case SIZE_PTRDIFF: put_int(t, va_arg(t->ap, ptrdiff_t)); break;
	case SIZE_MAXT: put_int(t, va_arg(t->ap, intmax_t)); break;
	case SIZE_INT: put_int(t, va_arg(t->ap, int)); break;
	}
}

static void put_unsigned(struct tpl *t, enum size size)
{
	switch (size) {
	case SIZE_CHAR: put_uint(t, (unsigned char)va_arg(t->ap, unsigned)); break;
	case SIZE_SHORT: put_uint(t, (unsigned short)va_arg(t->ap, unsigned)); break;
	case SIZE_LONG: put_uint(t, va_arg(t->ap, unsigned long)); break;
	case SIZE_LLONG: put_uint(t, va_arg(t->ap, unsigned long long)); break;
	case SIZE_SIZE: put_uint(t, va_arg(t->ap, size_t)); break;
	case SIZE_PTRDIFF: put_uint(t, (size_t)va_arg(t->ap, ptrdiff_t)); break;
	case SIZE_MAXT: put_uint(t, va_arg(t->ap, uintmax_t)); break;
	case SIZE_INT: put_uint(t, va_arg(t->ap, unsigned)); break;
	}
}

/* The argument of %s or %.*s; as in printf a precision is a maximum, negative means none. */
static struct str string_arg(struct tpl *t, bool precise)
{
	int max = precise ? va_arg(t->ap, int) : -1;
	const char *s = va_arg(t->ap, const char *), *end;

	if (!s || max < 0)
		return str_of(s);
	end = memchr(s, '\0', (size_t)max);
	return (struct str){ s, end ? (size_t)(end - s) : (size_t)max };
}

/* At a %: steps over %s or %.*s; false, and not moved, when it is something else. */
static bool take_string(struct tpl *t, struct str *ret)
{
	bool precise = t->p[1] == '.' && t->p[2] == '*' && t->p[3] == 's';

	if (!precise && t->p[1] != 's')
		return false;
	t->p += precise ? 4 : 2;
	*ret = string_arg(t, precise);
	return true;
}

static int take_conversion(struct tpl *t)
{
	const char *start = t->p;
	struct str s;
	enum size size;
	char letter;

	if (take_string(t, &s)) {
		put_text(t, s, false);
		return CLEAT_OK;
	}
	t->p++;
	size = take_size(t);
	letter = *t->p;
	if (letter == 'd' || letter == 'i') {
		put_signed(t, size);
	} else if (letter == 'u') {
		put_unsigned(t, size);
	} else if (size == SIZE_MAXT) { /* %j alone: the letter is the template's own */
		put_value(t, va_arg(t->ap, const void *));
		return CLEAT_OK;
	} else if (letter == 'p' && size == SIZE_INT) {
		put_value(t, va_arg(t->ap, const void *));
	} else if (letter && strchr("gfe", letter) && (size == SIZE_INT || size == SIZE_LONG)) {
		put_real(t, va_arg(t->ap, double));
	} else {
		return format_fail(t, start, "unknown conversion");
	}
	t->p++;
	return CLEAT_OK;
}

/* ---- structure ---------------------------------------------------------------------------- */

static void after_value(struct tpl *t)
{
	t->want = t->depth ? WANT_NEXT : WANT_END;
}

static int open_container(struct tpl *t)
{
	bool object = *t->p == '{';

	if (t->depth == MAX_DEPTH)
		return format_fail(t, t->p, "nested deeper than 64 levels");
	t->depth++;
	t->objects = t->objects << 1 | object;
	t->want = object ? WANT_KEY : WANT_ELEMENT;
	t->p++;
	put_begin(t, object);
	return CLEAT_OK;
}

static void close_container(struct tpl *t)
{
	put_end(t, t->objects & 1);
	t->objects >>= 1;
	t->depth--;
	t->p++;
	after_value(t);
}

static int take_number(struct tpl *t)
{
	const char *end = token_number_end(t->p);

	if (!end)
		return format_fail(t, t->p, "wrong number");
	put_number(t, (struct str){ t->p, (size_t)(end - t->p) });
	t->p = end;
	return CLEAT_OK;
}

static int take_literal(struct tpl *t)
{
	struct str word = take_word(t);

	if (str_eqz(word, "null"))
		put_value(t, NULL);
	else if (str_eqz(word, "true") || str_eqz(word, "false"))
		put_bool(t, word.p[0] == 't');
	else
		return format_fail(t, word.p, "expected true, false, null or quoted text");
	return CLEAT_OK;
}

static int take_value(struct tpl *t)
{
	int rc;

	if (*t->p == '{' || *t->p == '[')
		return open_container(t);
	if (*t->p == '%')
		rc = take_conversion(t);
	else if (*t->p == '"' || *t->p == '\'')
		rc = take_quoted(t, false);
	else if (*t->p == '-' || token_is_digit(*t->p))
		rc = take_number(t);
	else if (token_is_word_start(*t->p))
		rc = take_literal(t);
	else
		rc = format_fail(t, t->p, "expected a value");
	if (rc == CLEAT_OK)
		after_value(t);
	return rc;
}

static int take_key_conversion(struct tpl *t)
{
	const char *start = t->p;
	struct str s;

	if (!take_string(t, &s))
		return format_fail(t, start, "only %s and %.*s can be a key");
	if (!s.p)
		return format_fail(t, start, "NULL for a key");
	put_text(t, s, true);
	return CLEAT_OK;
}

static int take_key(struct tpl *t)
{
	int rc = CLEAT_OK;

	if (*t->p == '%')
		rc = take_key_conversion(t);
	else if (*t->p == '"' || *t->p == '\'')
		rc = take_quoted(t, true);
	else if (token_is_word_start(*t->p))
		put_text(t, take_word(t), true);
	else
		rc = format_fail(t, t->p, "expected a key or '}'");
	if (rc != CLEAT_OK)
		return rc;
	skip_space(t);
	if (*t->p != ':')
		return format_fail(t, t->p, "expected ':' after key");
	t->p++;
	t->want = WANT_VALUE;
	return CLEAT_OK;
}

static int take_next(struct tpl *t)
{
	bool object = t->objects & 1;

	if (*t->p == (object ? '}' : ']')) {
		close_container(t);
		return CLEAT_OK;
	}
	if (*t->p != ',')
		return format_fail(t, t->p, object ? "expected ',' or '}'" : "expected ',' or ']'");
	t->p++;
	t->want = object ? WANT_KEY : WANT_ELEMENT;
	return CLEAT_OK;
}

static int format_step(struct tpl *t)
{
	switch (t->want) {
	case WANT_ELEMENT:
		if (*t->p == ']')
			break;
		return take_value(t);
	case WANT_KEY:
		if (*t->p == '}')
			break;
		return take_key(t);
	case WANT_NEXT: return take_next(t);
	case WANT_END: return format_fail(t, t->p, "expected nothing more");
	case WANT_VALUE: return take_value(t);
	}
	close_container(t);
	return CLEAT_OK;
}

static int format_run(struct tpl *t, va_list ap)
{
	int rc = CLEAT_OK;

	if (!t->fmt)
		return error_set(t->err, CLEAT_EINVAL, "template: it is NULL");
	t->p = t->fmt;
	va_copy(t->ap, ap);
	skip_space(t);
	while (rc == CLEAT_OK && (*t->p || t->want != WANT_END)) {
		rc = format_step(t);
		skip_space(t);
	}
	va_end(t->ap);
	return rc;
}

void build_vformat(struct build *b, const char *fmt, va_list ap)
{
	struct tpl t = { .b = b, .err = &b->err, .fmt = fmt, .want = WANT_VALUE };

	if (!b->err.status)
		format_run(&t, ap);
}

void build_format(struct build *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	build_vformat(b, fmt, ap);
	va_end(ap);
}

int jw_vformat(struct jw *w, cleat_error *err, const char *fmt, va_list ap)
{
	struct tpl t = { .w = w, .err = err, .fmt = fmt, .want = WANT_VALUE };
	const size_t start = buf_size(w->b);
	const bool comma = w->comma;
	int rc, latched = buf_status(w->b);

	if (latched != CLEAT_OK)
		return error_set(err, latched, "%s", cleat_strstatus(latched));
	rc = format_run(&t, ap);
	latched = buf_status(w->b);
	if (rc == CLEAT_OK && latched == CLEAT_OK)
		return CLEAT_OK;
	buf_truncate(w->b, start);
	w->b->status = latched; /* cut back, but lack of memory or room stays on record */
	w->comma = comma;
	return rc != CLEAT_OK ? rc : error_set(err, latched, "%s", cleat_strstatus(latched));
}

int jw_format(struct jw *w, cleat_error *err, const char *fmt, ...)
{
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = jw_vformat(w, err, fmt, ap);
	va_end(ap);
	return rc;
}
