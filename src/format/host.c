/* format/host.c - host names and email addresses.
 *
 * Syntax only, with the lengths that DNS and SMTP have. A host name's labels that begin with "xn--"
 * are looked into; the labels of email domains are not, and what may be a label beyond ASCII takes
 * tables that are not here: RFC 6531 addresses are checked for UTF-8 and length. Nothing is resolved.
 */
#include "format/impl.h"

#include "uri/address.h"
#include "uri/chars.h"

#include <string.h>

enum {
	NAME_MAX_LEN =
		253, /* RFC 1035 3.1: 255 with the length bytes of the first label and the root */
	LABEL_MAX_LEN = 63,  /* RFC 1035 2.3.4 */
	WIDE_MAX_CHARS = 59, /* what can be left of 63 after "xn--" */
	LOCAL_MAX_LEN = 64,  /* RFC 5321 4.5.3.1.1 */
	MAIL_MAX_LEN = 254   /* RFC 5321 4.5.3.1.3, without the angle brackets */
};

/* ---- names -------------------------------------------------------------------------------- */

static bool is_wide(char c)
{
	return (unsigned char)c >= 0x80;
}

static char host_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

/* RFC 1123 section 2.1: letters, digits and inner hyphens; with `wide`, RFC 6531's U-labels too. */
static bool label_ok(struct str label, bool wide)
{
	size_t beyond = 0;

	if (label.n == 0 || label.p[0] == '-' || label.p[label.n - 1] == '-')
		return false;
	for (size_t i = 0; i < label.n; i++) {
		if (wide && is_wide(label.p[i]))
			beyond++;
		else if (!(uri_char_class(label.p[i]) & (CHAR_ALPHA | CHAR_DIGIT)) &&
			 label.p[i] != '-')
			return false;
	}
	return beyond ? utf8_length(label) <= WIDE_MAX_CHARS : label.n <= LABEL_MAX_LEN;
}

/* Cuts the label before the next dot off; false at the end. Start with *at 0. */
static bool next_label(struct str name, size_t *at, struct str *ret)
{
	const char *dot;

	if (*at > name.n)
		return false;
	dot = *at < name.n ? memchr(name.p + *at, '.', name.n - *at) : NULL;
	*ret = (struct str){ name.p + *at, (dot ? (size_t)(dot - name.p) : name.n) - *at };
	*at += ret->n + 1;
	return true;
}

static bool is_alabel(struct str label)
{
	return label.n >= 4 && host_lower(label.p[0]) == 'x' && host_lower(label.p[1]) == 'n' &&
	       memcmp(label.p + 2, "--", 2) == 0;
}

bool format_hostname(struct str text)
{
	struct str label;
	size_t at = 0;

	if (text.n == 0 || text.n > NAME_MAX_LEN)
		return false;
	while (next_label(text, &at, &label))
		if (!label_ok(label, false) || (is_alabel(label) && !format_alabel(label)))
			return false;
	return true;
}

/* ---- mail --------------------------------------------------------------------------------- */

static bool domain_ok(struct str domain, bool wide)
{
	struct str label;
	size_t at = 0;

	if (domain.n == 0 || domain.n > NAME_MAX_LEN)
		return false;
	while (next_label(domain, &at, &label))
		if (!label_ok(label, wide))
			return false;
	return true;
}

/* RFC 5321 section 4.1.3. Of the tags, only IPv6 is registered. */
static bool address_ok(struct str domain)
{
	static const char tag[] = "ipv6:";
	struct str in;
	size_t n = 0;

	if (domain.n < 2 || domain.p[domain.n - 1] != ']')
		return false;
	in = (struct str){ domain.p + 1, domain.n - 2 };
	while (n < 5 && n < in.n && host_lower(in.p[n]) == tag[n])
		n++;
	return n == 5 ? ip6_valid((struct str){ in.p + 5, in.n - 5 }) : ip4_valid(in);
}

/* atext of RFC 5322 section 3.2.3. */
static bool is_atext(char c, bool wide)
{
	return uri_char_class(c) & (CHAR_ALPHA | CHAR_DIGIT) ||
	       memchr("!#$%&'*+-/=?^_`{|}~", c, 19) || (wide && is_wide(c));
}

/* Length of the Dot-string at the beginning; 0 when there is none. */
static size_t dot_string(struct str s, bool wide)
{
	size_t i = 0;

	for (;;) {
		size_t start = i;

		while (i < s.n && is_atext(s.p[i], wide))
			i++;
		if (i == start)
			return 0;
		if (i == s.n || s.p[i] != '.')
			return i;
		i++;
	}
}

/* The same for a Quoted-string. */
static size_t quoted_string(struct str s, bool wide)
{
	for (size_t i = 1; i < s.n; i++) {
		if (s.p[i] == '"')
			return i + 1;
		if (s.p[i] == '\\' && (++i == s.n || is_wide(s.p[i])))
			return 0;
		if (is_wide(s.p[i]) ? !wide : s.p[i] < ' ' || s.p[i] == 0x7F)
			return 0;
	}
	return 0;
}

static bool mailbox_ok(struct str text, bool wide)
{
	size_t n;
	struct str domain;

	if (text.n == 0 || text.n > MAIL_MAX_LEN || utf8_valid_prefix(text) != text.n)
		return false;
	n = text.p[0] == '"' ? quoted_string(text, wide) : dot_string(text, wide);
	if (n == 0 || n > LOCAL_MAX_LEN || n == text.n || text.p[n] != '@')
		return false;
	domain = (struct str){ text.p + n + 1, text.n - n - 1 };
	if (domain.n && domain.p[0] == '[')
		return address_ok(domain);
	return domain_ok(domain, wide);
}

bool format_email(struct str text)
{
	return mailbox_ok(text, false);
}

bool format_idn_email(struct str text)
{
	return mailbox_ok(text, true);
}
