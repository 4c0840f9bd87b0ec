/* base/base64.c - see base64.h. */
#include "base/base64.h"

static const char digits[2][65] = {
	[BASE64_STANDARD] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
	[BASE64_URL] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
};

size_t base64_size(enum base64 kind, size_t n)
{
	size_t last = n % 3 == 0 ? 0 : kind == BASE64_STANDARD ? 4 : n % 3 + 1;

	return n / 3 <= SIZE_MAX / 4 - 1 ? n / 3 * 4 + last : SIZE_MAX;
}

char *base64_encode(enum base64 kind, const void *bytes, size_t n, char *to)
{
	const char *set = digits[kind];
	const unsigned char *p = bytes;

	for (; n >= 3; n -= 3, p += 3, to += 4) {
		to[0] = set[p[0] >> 2];
		to[1] = set[(p[0] & 3) << 4 | p[1] >> 4];
		to[2] = set[(p[1] & 15) << 2 | p[2] >> 6];
		to[3] = set[p[2] & 63];
	}
	if (n == 0)
		return to;
	*to++ = set[p[0] >> 2];
	*to++ = set[(p[0] & 3) << 4 | (n == 2 ? p[1] >> 4 : 0)];
	if (n == 2)
		*to++ = set[(p[1] & 15) << 2];
	for (size_t i = n; kind == BASE64_STANDARD && i < 3; i++)
		*to++ = '=';
	return to;
}

static int value_of(enum base64 kind, char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == digits[kind][62] ? 62 : c == digits[kind][63] ? 63 : -1;
}

/* The text without its padding, which has to be right; false when it is not. */
static bool strip(enum base64 kind, struct str *text)
{
	if (kind == BASE64_URL)
		return true;
	if (text->n % 4)
		return false;
	for (int i = 0; i < 2 && text->n && text->p[text->n - 1] == '='; i++)
		text->n--;
	return true;
}

int base64_decode(enum base64 kind, struct str text, struct buf *out)
{
	uint32_t bits = 0;
	unsigned have = 0;
	unsigned char *to;
	size_t n;

	if (!strip(kind, &text) || text.n % 4 == 1)
		return CLEAT_EPROTO;
	n = text.n / 4 * 3 + (text.n % 4 ? text.n % 4 - 1 : 0);
	to = (unsigned char *)buf_reserve(out, n);
	if (!to)
		return buf_status(out);
	for (size_t i = 0; i < text.n; i++) {
		int d = value_of(kind, text.p[i]);

		if (d < 0)
			return CLEAT_EPROTO;
		bits = (bits << 6 | (uint32_t)d) & 0xFFFF;
		have += 6;
		if (have >= 8) {
			have -= 8;
			*to++ = (unsigned char)(bits >> have & 0xFF);
		}
	}
	if (bits & ((1u << have) - 1)) /* bits after the last byte */
		return CLEAT_EPROTO;
	buf_commit(out, n);
	return CLEAT_OK;
}
