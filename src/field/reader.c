/* field/reader.c - see reader.h. */
#include "field/reader.h"

#include "base/buf.h"
#include "base/error.h"
#include "wording/show.h"
#include "json/parse.h"

enum { MESSAGE_MAX = 128 << 10 }; /* before it is cut to fit the error record */

/* ---- errors ------------------------------------------------------------------------------- */

int reader_no_memory(struct reader *r)
{
	return error_set(r->err, CLEAT_ENOMEM, "%s", cleat_strstatus(CLEAT_ENOMEM));
}

/* "column 14: ", or with the line where there are several. Columns count characters, from 1. */
static void write_place(struct buf *b, const struct reader *r, const char *at)
{
	const char *line = r->text;
	size_t number = 1;

	for (const char *p = r->text; p < at; p++)
		if (*p == '\n') {
			line = p + 1;
			number++;
		}
	if (number > 1)
		buf_printf(b, "line %zu, ", number);
	buf_printf(b, "column %zu: ", utf8_length((struct str){ line, (size_t)(at - line) }) + 1);
}

int reader_fail(struct reader *r, const char *at, const char *fmt, ...)
{
	cleat_allocator mem = arena_allocator(r->ar);
	struct buf b;
	struct str s;
	va_list ap;

	if (arena_failed(r->ar))
		return reader_no_memory(r);
	buf_init(&b, &mem, MESSAGE_MAX);
	if (at >= r->end && r->too_long) {
		buf_printf(&b, "a signature has at most %zu bytes", r->max);
	} else {
		write_place(&b, r, at);
		va_start(ap, fmt);
		buf_vprintf(&b, fmt, ap);
		va_end(ap);
	}
	if (buf_status(&b) == CLEAT_ENOMEM)
		return reader_no_memory(r);
	s = buf_str(&b);
	if (r->err && s.n >= sizeof r->err->message)
		s.n = sizeof r->err->message - 1;
	s.n = utf8_valid_prefix(s);
	return error_set(r->err, CLEAT_EINVAL, "%.*s", STR_ARGS(s));
}

struct str reader_ahead(const struct reader *r)
{
	return (struct str){ r->p, (size_t)(r->end - r->p) };
}

const char *reader_found(struct reader *r)
{
	cleat_allocator mem = arena_allocator(r->ar);
	struct str s = reader_ahead(r);
	struct buf b;
	size_t n;

	if (r->p == r->end)
		return *r->p ? "a byte that is not UTF-8" : "the end";
	n = *r->p == '"' ? reader_string(r, r->p) : show_word(s);
	if (!n)
		n = reader_number(r, r->p);
	if (!n)
		n = show_visible(s);
	buf_init(&b, &mem, 4096);
	if (*r->p == '"' && n > 1)
		show_quoted(&b, (struct str){ s.p + 1, n - 2 }, 30);
	else
		show_quoted(&b, (struct str){ s.p, n ? n : 1 }, 30);
	buf_putc(&b, '\0');
	return buf_status(&b) ? "something else" : b.data;
}

int reader_expected(struct reader *r, const char *what)
{
	const char *got = reader_found(r);

	return reader_fail(r, r->p, "expected %s, got %s", what, got);
}

/* ---- tokens ------------------------------------------------------------------------------- */

static void skip_space(struct reader *r)
{
	while (r->p < r->end && (*r->p == ' ' || *r->p == '\t' || *r->p == '\r' || *r->p == '\n'))
		r->p++;
}

char reader_peek(struct reader *r)
{
	skip_space(r);
	return r->p < r->end ? *r->p : '\0';
}

const char *reader_place(struct reader *r)
{
	skip_space(r);
	return r->p;
}

bool reader_take(struct reader *r, char c)
{
	if (reader_peek(r) != c)
		return false;
	r->p++;
	return true;
}

size_t reader_string(const struct reader *r, const char *p)
{
	const char *start = p++;

	for (; p < r->end && *p != '"'; p++)
		if (*p == '\\' && p + 1 < r->end)
			p++;
	return p < r->end ? (size_t)(p + 1 - start) : 0;
}

static const char *skip_digits(const struct reader *r, const char *p)
{
	while (p < r->end && *p >= '0' && *p <= '9')
		p++;
	return p;
}

size_t reader_number(const struct reader *r, const char *p)
{
	const char *start = p, *digits, *q;

	if (p < r->end && *p == '-')
		p++;
	digits = p;
	p = skip_digits(r, p);
	if (p == digits)
		return 0;
	if (p < r->end && *p == '.' && skip_digits(r, p + 1) > p + 1)
		p = skip_digits(r, p + 1);
	if (p < r->end && (*p == 'e' || *p == 'E')) {
		q = p + 1;
		if (q < r->end && (*q == '+' || *q == '-'))
			q++;
		if (skip_digits(r, q) > q)
			p = skip_digits(r, q);
	}
	return (size_t)(p - start);
}

int reader_json(struct reader *r, const char *at, size_t n, const cleat_json **ret)
{
	int rc = json_parse(r->ar, (struct str){ at, n }, NULL, ret, NULL);

	if (rc == CLEAT_ENOMEM)
		return reader_no_memory(r);
	return rc ? CLEAT_EINVAL : CLEAT_OK;
}

int reader_text(struct reader *r, const char **ret)
{
	const char *start = r->p;
	size_t n = reader_string(r, start);
	const cleat_json *v = NULL;
	int rc;

	if (!n) {
		r->p = r->end;
		return reader_expected(r, "a closing quote");
	}
	rc = reader_json(r, start, n, &v);
	if (rc == CLEAT_EINVAL)
		return reader_fail(r, start,
				   "not a JSON string (line breaks and control characters "
				   "must be escaped: \\n, \\u0007)");
	if (rc)
		return rc;
	if (str_has_nul(json_str(v)))
		return reader_fail(r, start, "text must not contain NUL");
	r->p = start + n;
	*ret = json_str(v).p;
	return CLEAT_OK;
}
