/* json/token.c - see token.h. Not here: what may appear where (format.c). */
#include "json/token.h"

#include <string.h>

static const char *skip_digits(const char *p)
{
	while (token_is_digit(*p))
		p++;
	return p;
}

const char *token_number_end(const char *p)
{
	const char *q;

	p += *p == '-';
	if (!token_is_digit(*p))
		return NULL;
	p = *p == '0' ? p + 1 : skip_digits(p);
	if (*p == '.') {
		q = skip_digits(p + 1);
		if (q == p + 1)
			return NULL;
		p = q;
	}
	if (*p == 'e' || *p == 'E') {
		p += p[1] == '-' || p[1] == '+' ? 2 : 1;
		q = skip_digits(p);
		return q == p ? NULL : q;
	}
	return p;
}

/* Four hexadecimal digits as a number, or -1. */
static long hex4(const char *p)
{
	long n = 0;

	for (int i = 0; i < 4; i++) {
		static const char digits[] = "0123456789abcdef0123456789ABCDEF";
		const char *d = p[i] ? strchr(digits, p[i]) : NULL;

		if (!d)
			return -1;
		n = n * 16 + (d - digits) % 16;
	}
	return n;
}

/* Length of the \u escape at p, with its low surrogate if it needs one, and what it stands for; 0 when
 * it is wrong. */
static size_t unicode_escape(const char *p, long *ret)
{
	long low;

	*ret = hex4(p + 2);
	if (*ret < 0 || (*ret >= 0xDC00 && *ret <= 0xDFFF))
		return 0;
	if (*ret < 0xD800 || *ret > 0xDBFF)
		return 6;
	if (p[6] != '\\' || p[7] != 'u')
		return 0;
	low = hex4(p + 8);
	*ret = 0x10000 + ((*ret - 0xD800) << 10) + (low - 0xDC00);
	return low >= 0xDC00 && low <= 0xDFFF ? 12 : 0;
}

static void append_utf8(struct buf *b, long c)
{
	if (c >= 0x80) {
		static const unsigned char marks[] = { 0xC0, 0xE0, 0xF0 };
		int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;

		buf_putc(b, (char)(marks[more - 1] | c >> 6 * more));
		while (more-- > 0)
			buf_putc(b, (char)(0x80 | (c >> 6 * more & 0x3F)));
	} else {
		buf_putc(b, (char)c);
	}
}

/* What the escape at p stands for, added; its length, or 0 when it is wrong. `\'` is the one that JSON does
 * not know. */
static size_t escape(const char *p, struct buf *to)
{
	static const char letters[] = "\"'\\/bfnrt", meant[] = "\"'\\/\b\f\n\r\t";
	const char *known = p[1] ? strchr(letters, p[1]) : NULL;
	size_t n = known ? 2 : 0;
	long c = known ? meant[known - letters] : 0;

	if (p[1] == 'u')
		n = unicode_escape(p, &c);
	if (n)
		append_utf8(to, c);
	return n;
}

const char *token_quoted(const char *p, struct buf *to, const char **why)
{
	const char *start = p;
	const char quote = *p++;

	*why = NULL;
	while (*p != quote) {
		size_t run = strcspn(p, quote == '"' ? "\"\\%" : "'\\%"), n;

		buf_append(to, p, run);
		p += run;
		if (*p == quote)
			break;
		if (*p == '\\') {
			n = escape(p, to);
			*why = n ? NULL : "wrong escape";
			p += n;
		} else {
			*why = *p ? "'%' inside text" : "unterminated text";
			p = *p ? p : start;
		}
		if (*why)
			return p;
	}
	return p + 1;
}
