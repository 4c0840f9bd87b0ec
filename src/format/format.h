/* format/format.h - the values of the keyword "format".
 *
 * Checking takes time linear in the text and allocates nothing. A format that is not in the list is
 * unknown and never asserted: among those of the specification that is idn-hostname, which takes
 * tables of Unicode properties. What "hostname" wants of labels in Punycode is checked as far as it
 * can be without them (format/alabel.c).
 */
#ifndef FORMAT_FORMAT_H
#define FORMAT_FORMAT_H

#include "base/str.h"

#include <stdbool.h>

/* X(NAME, "name", "what a person calls it, with an article") */
#define FORMAT_MAP(X)                                                                              \
	X(DATE_TIME, "date-time", "a date and time such as 2026-07-28T10:00:00Z")                  \
	X(DATE, "date", "a date such as 2026-07-28")                                               \
	X(TIME, "time", "a time such as 10:00:00Z")                                                \
	X(DURATION, "duration", "a duration such as P1DT12H")                                      \
	X(EMAIL, "email", "an email address")                                                      \
	X(IDN_EMAIL, "idn-email", "an email address")                                              \
	X(HOSTNAME, "hostname", "a host name")                                                     \
	X(IPV4, "ipv4", "an IPv4 address such as 192.0.2.1")                                       \
	X(IPV6, "ipv6", "an IPv6 address such as 2001:db8::1")                                     \
	X(URI, "uri", "a URI such as https://example.com/a")                                       \
	X(URI_REFERENCE, "uri-reference", "a URI or a relative reference")                         \
	X(IRI, "iri", "an IRI")                                                                    \
	X(IRI_REFERENCE, "iri-reference", "an IRI or a relative reference")                        \
	X(URI_TEMPLATE, "uri-template", "a URI template such as /users/{id}")                      \
	X(UUID, "uuid", "a UUID such as 2eb8aa08-aa98-11ea-b4aa-73b441d16380")                     \
	X(REGEX, "regex", "a regular expression")                                                  \
	X(JSON_POINTER, "json-pointer", "a JSON Pointer such as /a/0")                             \
	X(RELATIVE_JSON_POINTER, "relative-json-pointer", "a relative JSON Pointer such as 1/a")

enum format {
	FORMAT_UNKNOWN,
#define FORMAT_ENUM(NAME, name, what) FORMAT_##NAME,
	FORMAT_MAP(FORMAT_ENUM)
#undef FORMAT_ENUM
};

enum format format_find(struct str name);
/* Does the text have the format? True for FORMAT_UNKNOWN. */
bool format_check(enum format f, struct str text);
/* "a date such as 2026-07-28"; static. "anything" for FORMAT_UNKNOWN. */
const char *format_what(enum format f);

#endif
