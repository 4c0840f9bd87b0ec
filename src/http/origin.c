/* http/origin.c - see field.h: hosts, origins and credentials, which decide who is let in.
 *
 * Strict on purpose: a text that some reader could take for another host is not a host here. Nothing is
 * decoded or normalised, so what is accepted can be compared as it is (without case).
 */
#include "http/field.h"
#include "uri/address.h"
#include "uri/chars.h"

enum { MAX_NAME = 255 };

static bool is_digit(char c)
{
	return uri_char_class(c) == CHAR_DIGIT;
}

static bool may_stand_in_name(char c)
{
	return (uri_char_class(c) & (CHAR_ALPHA | CHAR_DIGIT)) || c == '-' || c == '_';
}

/* WHATWG URL, "ends in a number": such a text is an IPv4 address to browsers (127.1, 0x7f.1,
 * 2130706433), so it is a name to nobody. */
static bool is_number(struct str label)
{
	size_t i = 0;

	if (label.n >= 2 && label.p[0] == '0' && (label.p[1] == 'x' || label.p[1] == 'X')) {
		for (i = 2; i < label.n && uri_hex_digit(label.p[i]) >= 0; i++)
			;
		return i == label.n;
	}
	while (i < label.n && is_digit(label.p[i]))
		i++;
	return i == label.n;
}

/* Labels of letters, digits, '-' and '_' with dots between them, and perhaps one at the end. */
static bool is_name(struct str host)
{
	struct str label = { host.p, 0 };

	if (host.n == 0 || host.n > MAX_NAME)
		return false;
	if (host.p[host.n - 1] == '.')
		host.n--;
	for (size_t i = 0; i < host.n; i++) {
		if (host.p[i] == '.' && label.n > 0)
			label = (struct str){ host.p + i + 1, 0 };
		else if (may_stand_in_name(host.p[i]))
			label.n++;
		else
			return false;
	}
	return label.n > 0 && !is_number(label);
}

static bool is_port(struct str port)
{
	uint32_t v = 0;

	if (port.n == 0 || port.n > 5 || (port.p[0] == '0' && port.n > 1))
		return false;
	for (size_t i = 0; i < port.n; i++) {
		if (!is_digit(port.p[i]))
			return false;
		v = v * 10 + (uint32_t)(port.p[i] - '0');
	}
	return v <= UINT16_MAX;
}

static bool is_literal(struct str host)
{
	return host.n > 2 && host.p[0] == '[' && host.p[host.n - 1] == ']' &&
	       ip6_valid((struct str){ host.p + 1, host.n - 2 });
}

bool http_split_host(struct str value, struct str *host, struct str *port)
{
	const char *from = value.n ? memchr(value.p, ']', value.n) : NULL;
	const char *colon;

	if (value.n == 0)
		return false;
	from = from ? from : value.p;
	colon = memchr(from, ':', value.n - (size_t)(from - value.p));
	*host = value;
	*port = (struct str){ NULL, 0 };
	if (colon) {
		host->n = (size_t)(colon - value.p);
		*port = (struct str){ colon + 1, value.n - host->n - 1 };
		if (!is_port(*port))
			return false;
	}
	return is_name(*host) || ip4_valid(*host) || is_literal(*host);
}

bool http_split_origin(struct str value, struct str *scheme, struct str *host, struct str *port)
{
	size_t n = 0;

	while (n < value.n && ((uri_char_class(value.p[n]) & (CHAR_ALPHA | CHAR_DIGIT)) ||
			       memchr("+-.", value.p[n], 3)))
		n++;
	if (n == 0 || uri_char_class(value.p[0]) != CHAR_ALPHA || value.n - n < 3 ||
	    memcmp(value.p + n, "://", 3) != 0)
		return false;
	*scheme = (struct str){ value.p, n };
	return http_split_host((struct str){ value.p + n + 3, value.n - n - 3 }, host, port);
}

bool http_is_loopback_name(struct str host)
{
	static const char tail[] = ".localhost";
	size_t n = sizeof tail - 1;

	if (str_samez(host, "localhost") || str_samez(host, "[::1]"))
		return true;
	if (host.n > n && str_samez((struct str){ host.p + host.n - n, n }, tail))
		return is_name(host);
	return str_starts(host, "127.") && ip4_valid(host);
}

/* RFC 6750 section 2.1: "Bearer" 1*SP b64token; the scheme without case (RFC 9110 section 11.1). */
struct str http_bearer(struct str authorization)
{
	static const struct str absent = { NULL, 0 };
	struct str token = authorization;
	size_t n = 0;

	if (token.n < 8 || !str_samez((struct str){ token.p, 6 }, "bearer") || token.p[6] != ' ')
		return absent;
	token = (struct str){ token.p + 6, token.n - 6 };
	while (token.n && token.p[0] == ' ')
		token = (struct str){ token.p + 1, token.n - 1 };
	while (n < token.n && ((uri_char_class(token.p[n]) & CHAR_UNRESERVED) ||
			       token.p[n] == '+' || token.p[n] == '/'))
		n++;
	if (n == 0)
		return absent;
	while (n < token.n && token.p[n] == '=')
		n++;
	return n == token.n ? token : absent;
}
