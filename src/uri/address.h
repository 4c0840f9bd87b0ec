/* uri/address.h - IP addresses in text, as RFC 3986 section 3.2.2 writes them.
 *
 * Only whether a text is one. Strict: four decimal numbers without leading zeros (some readers take
 * 010 for eight), no zone, no brackets, no prefix length. Not here: the address as a number.
 */
#ifndef URI_ADDRESS_H
#define URI_ADDRESS_H

#include "base/str.h"

bool ip4_valid(struct str text);
/* RFC 4291 section 2.2, with "::" for at least one group, and an IPv4 address as the last two. */
bool ip6_valid(struct str text);

#endif
