/* format/format.c - the table of formats, and those that take a few lines.
 *
 * Dates are in time.c, names and mail in host.c; URIs, templates and patterns have
 * modules of their own. Nothing here allocates, and the time is linear in the text.
 */
#include "format/format.h"

#include "format/impl.h"
#include "format/pattern.h"
#include "uri/address.h"
#include "uri/chars.h"
#include "uri/reference.h"
#include "uri/template.h"

/* RFC 4122 section 3; any version and variant. */
static bool uuid(struct str text)
{
	if (text.n != 36)
		return false;
	for (size_t i = 0; i < text.n; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? text.p[i] != '-' : uri_hex_digit(text.p[i]) < 0)
			return false;
	}
	return true;
}

/* RFC 6901 section 3. */
static bool json_pointer(struct str text)
{
	if (text.n && text.p[0] != '/')
		return false;
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] == '~' &&
		    (i + 1 == text.n || (text.p[i + 1] != '0' && text.p[i + 1] != '1')))
			return false;
	return true;
}

/* Length of the number at text.p[i], without leading zeros; 0 when there is none. */
static size_t number_length(struct str text, size_t i)
{
	size_t n = 0;

	while (i + n < text.n && uri_char_class(text.p[i + n]) == CHAR_DIGIT)
		n++;
	return n > 1 && text.p[i] == '0' ? 0 : n;
}

/* draft-bhutton-relative-json-pointer-00 section 3, the one of 2020-12: an index may be adjusted by a
 * positive number ("0-1/a"), which the draft that draft-07 names does not have yet. */
static bool relative_json_pointer(struct str text)
{
	size_t i = number_length(text, 0);

	if (i == 0)
		return false;
	if (i < text.n && (text.p[i] == '+' || text.p[i] == '-')) {
		size_t n = number_length(text, ++i);

		if (n == 0 || text.p[i] == '0')
			return false;
		i += n;
	}
	text = (struct str){ text.p + i, text.n - i };
	return str_eqz(text, "#") || json_pointer(text);
}

static bool reference(struct str text, unsigned flags, bool absolute)
{
	struct uri u;

	return uri_split(text, flags, &u) && (u.scheme.p || !absolute);
}

bool format_check(enum format f, struct str text)
{
	switch (f) {
	case FORMAT_UNKNOWN: return true;
	case FORMAT_DATE_TIME: return format_date_time(text);
	case FORMAT_DATE: return format_date(text);
	case FORMAT_TIME: return format_time(text);
	case FORMAT_DURATION: return format_duration(text);
	case FORMAT_EMAIL: return format_email(text);
	case FORMAT_IDN_EMAIL: return format_idn_email(text);
	case FORMAT_HOSTNAME: return format_hostname(text);
	case FORMAT_IPV4: return ip4_valid(text);
	case FORMAT_IPV6: return ip6_valid(text);
	case FORMAT_URI: return reference(text, 0, true);
	case FORMAT_URI_REFERENCE: return reference(text, 0, false);
	case FORMAT_IRI: return reference(text, URI_IRI, true);
	case FORMAT_IRI_REFERENCE: return reference(text, URI_IRI, false);
	case FORMAT_URI_TEMPLATE: return uri_template_is_valid(text);
	case FORMAT_UUID: return uuid(text);
	case FORMAT_REGEX: return pattern_is_valid(text);
	case FORMAT_JSON_POINTER: return json_pointer(text);
	case FORMAT_RELATIVE_JSON_POINTER: return relative_json_pointer(text);
	}
	return true;
}

/* ---- the names ---------------------------------------------------------------------------- */

static const struct {
	const char *name, *what;
} formats[] = { { NULL, "anything" },
#define FORMAT_ENTRY(NAME, name, what) { name, what },
		FORMAT_MAP(FORMAT_ENTRY)
#undef FORMAT_ENTRY
};

enum { FORMATS = sizeof formats / sizeof formats[0] };

enum format format_find(struct str name)
{
	for (int i = FORMAT_UNKNOWN + 1; i < FORMATS; i++)
		if (str_eqz(name, formats[i].name))
			return (enum format)i;
	return FORMAT_UNKNOWN;
}

const char *format_what(enum format f)
{
	return formats[f].what;
}
