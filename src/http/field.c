/* http/field.c - see field.h: media types, preferences, the sentinel encoding. Hosts and origins are in
 * http/origin.c.
 */
#include "http/field.h"
#include "base/base64.h"
#include "http/token.h"

/* ---- text ------------------------------------------------------------------------------------- */

/* What comes before the next separator, trimmed; quoted strings are jumped over. False when there is
 * nothing left. Start with *at == 0. */
static bool next_part(struct str s, char separator, size_t *at, struct str *part)
{
	size_t start = *at, i = start;
	bool quoted = false;

	if (start > s.n || !s.p)
		return false;
	for (; i < s.n && (quoted || s.p[i] != separator); i++) {
		if (s.p[i] == '"')
			quoted = !quoted;
		else if (quoted && s.p[i] == '\\')
			i++; /* may lead beyond the end */
	}
	i = i < s.n ? i : s.n;
	*part = http_trim((struct str){ s.p + start, i - start });
	*at = i + 1;
	return true;
}

/* ---- media types ------------------------------------------------------------------------------ */

/* name=value, where the value is a token or a quoted string, whose quotes are taken off (nothing that
 * is looked for needs a backslash). */
static bool split_parameter(struct str part, struct str *name, struct str *value)
{
	const char *eq = part.n ? memchr(part.p, '=', part.n) : NULL;

	if (!eq)
		return false;
	*name = (struct str){ part.p, (size_t)(eq - part.p) };
	*value = (struct str){ eq + 1, part.n - name->n - 1 };
	if (!http_is_token(*name))
		return false;
	if (value->n >= 2 && value->p[0] == '"' && value->p[value->n - 1] == '"') {
		*value = (struct str){ value->p + 1, value->n - 2 };
		return true;
	}
	return http_is_token(*value);
}

bool http_has_media_type(struct str value, const char *type)
{
	struct str part;
	size_t at = 0;

	return next_part(value, ';', &at, &part) && str_samez(part, type);
}

bool http_is_media_type(struct str value, const char *type)
{
	struct str part, name, text;
	size_t at = 0;

	if (!next_part(value, ';', &at, &part) || !str_samez(part, type))
		return false;
	while (next_part(value, ';', &at, &part)) {
		if (part.n == 0) /* RFC 9110 section 5.6.6 allows it */
			continue;
		if (!split_parameter(part, &name, &text))
			return false;
		if (str_samez(name, "charset") && !str_samez(text, "utf-8"))
			return false;
	}
	return true;
}

/* ---- preferences ------------------------------------------------------------------------------ */

/* What a list says about one type. */
struct verdict {
	int specificity; /* 0: nothing, 1: all types, 2: type with any subtype, 3: the type itself */
	int quality;
	size_t place; /* in the list */
};

/* RFC 9110 section 12.4.2 in thousandths; also ".5", which Java has sent for decades. Negative: no
 * such thing. */
static int read_quality(struct str s)
{
	int q = 0, unit = 100;
	size_t i = 0;

	if (i < s.n && (s.p[i] == '0' || s.p[i] == '1'))
		q = (s.p[i++] - '0') * 1000;
	if (i < s.n && s.p[i] != '.')
		return -1;
	for (i++; i < s.n; i++, unit /= 10) {
		if (s.p[i] < '0' || s.p[i] > '9' || unit == 0)
			return -1;
		q += (s.p[i] - '0') * unit;
	}
	return s.n == 0 || q > 1000 ? -1 : q;
}

static int match_range(struct str range, const char *type)
{
	const char *slash = strchr(type, '/');
	size_t major = (size_t)(slash - type) + 1;

	if (str_samez(range, "*/*") || str_samez(range, "*"))
		return 1;
	if (range.n == major + 1 && range.p[major] == '*')
		return str_same((struct str){ range.p, major }, (struct str){ type, major }) ? 2
											     : 0;
	return str_samez(range, type) ? 3 : 0;
}

/* The quality of an element; its other parameters are taken as met. */
static int quality_of(struct str element, size_t at)
{
	struct str part, name, value;
	int q = 1000;

	while (next_part(element, ';', &at, &part)) {
		if (split_parameter(part, &name, &value) && str_samez(name, "q"))
			q = read_quality(value);
	}
	return q;
}

/* The most specific range decides, of several the kindest. */
static struct verdict judge(struct str accept, const char *type)
{
	struct verdict v = { 0, 0, 0 };
	struct str element, range;
	size_t at = 0;

	for (size_t place = 0; next_part(accept, ',', &at, &element); place++) {
		size_t behind = 0;
		int specificity, q;

		next_part(element, ';', &behind, &range);
		specificity = match_range(range, type);
		if (specificity == 0 || specificity < v.specificity)
			continue;
		q = quality_of(element, behind);
		if (q >= 0 && (specificity > v.specificity || q > v.quality))
			v = (struct verdict){ specificity, q, place };
	}
	return v;
}

int http_accept_quality(struct str accept, const char *type)
{
	return accept.p ? judge(accept, type).quality : 1000;
}

bool http_accept_prefers(struct str accept, const char *a, const char *b)
{
	struct verdict va = judge(accept, a), vb = judge(accept, b);

	if (va.quality != vb.quality)
		return va.quality > vb.quality;
	if ((va.specificity == 3) != (vb.specificity == 3)) /* only one of them is named */
		return va.specificity == 3;
	return va.place < vb.place;
}

/* ---- the sentinel ----------------------------------------------------------------------------- */

static const struct str sentinel_start = { "=?base64?", 9 }, sentinel_end = { "?=", 2 };

/* "starts with `=?base64?` and ends with `?=`"; in "=?base64?=" they share a character, which makes
 * it ambiguous enough to be encoded by us and refused from others. */
static bool is_sentinel(struct str s)
{
	return s.n > sentinel_start.n && memcmp(s.p, sentinel_start.p, sentinel_start.n) == 0 &&
	       memcmp(s.p + s.n - sentinel_end.n, sentinel_end.p, sentinel_end.n) == 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Visible ASCII, and space and tab inside. An empty value may arrive, but see below. */
static bool may_be_literal(struct str s)
{
	if (s.n && (is_blank(s.p[0]) || is_blank(s.p[s.n - 1])))
		return false;
	for (size_t i = 0; i < s.n; i++) {
		if ((s.p[i] < 0x21 || s.p[i] > 0x7E) && !is_blank(s.p[i]))
			return false;
	}
	return true;
}

bool http_is_plain(struct str value)
{
	return may_be_literal(value) && !is_sentinel(value);
}

int http_sentinel_decode(struct str value, struct buf *out)
{
	size_t frame = sentinel_start.n + sentinel_end.n, before = buf_size(out);
	struct str text;
	int rc;

	if (!is_sentinel(value)) {
		if (!may_be_literal(value))
			return CLEAT_EPROTO;
		buf_append(out, value.p, value.n);
		return buf_status(out);
	}
	if (value.n < frame)
		return CLEAT_EPROTO;
	value = (struct str){ value.p + sentinel_start.n, value.n - frame };
	rc = base64_decode(BASE64_STANDARD, value, out);
	if (rc)
		return rc;
	text = buf_str(out);
	text = (struct str){ text.p + before, text.n - before };
	if (utf8_valid_prefix(text) == text.n)
		return CLEAT_OK;
	buf_truncate(out, before);
	return CLEAT_EPROTO;
}

void http_sentinel_encode(struct str value, struct buf *out)
{
	size_t n = base64_size(BASE64_STANDARD, value.n);
	char *to;

	/* Not every library and proxy hands on a field with an empty value. */
	if (value.n && http_is_plain(value)) {
		buf_append(out, value.p, value.n);
		return;
	}
	buf_append(out, sentinel_start.p, sentinel_start.n);
	to = buf_reserve(out, n);
	if (!to)
		return;
	base64_encode(BASE64_STANDARD, value.p, value.n, to);
	buf_commit(out, n);
	buf_append(out, sentinel_end.p, sentinel_end.n);
}
