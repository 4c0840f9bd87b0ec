/* http/field.h - what is in the values of header fields: media types, preferences, the sentinel encoding of
 * MCP, hosts and origins. Pure functions over slices; nothing allocates.
 */
#ifndef HTTP_FIELD_H
#define HTTP_FIELD_H

#include "base/buf.h"
#include "base/str.h"

/* Is the Content-Type this media type (parameters allowed, a charset must be utf-8)? `type` in lower
 * case: "application/json". */
bool http_is_media_type(struct str value, const char *type);
/* The same whatever its parameters are. */
bool http_has_media_type(struct str value, const char *type);

/* How Accept (RFC 9110, 12.5.1) values a media type, with ranges and q: 0 when not acceptable, else
 * 1..1000. An absent value accepts everything. */
int http_accept_quality(struct str accept, const char *type);
/* Does Accept prefer a to b: the higher quality, or, when both are equal, the one that is named
 * first? (Clients of MCP list what they like best first.) */
bool http_accept_prefers(struct str accept, const char *a, const char *b);

/* 2026-07-28 basic/transports/streamable-http, "Value Encoding". Does this value stand for itself, in a header
 * and out of it? */
bool http_is_plain(struct str value);
/* Decodes "=?base64?...?=" (strict:
 * padding and alphabet), takes anything else literally. CLEAT_OK; CLEAT_EPROTO when the sentinel is
 * broken or what it holds is not UTF-8, or when a literal value holds characters that had to be
 * encoded. The result is appended. (What is plain needs neither this nor the next.) */
int http_sentinel_decode(struct str value, struct buf *out);
/* Appends the value as it has to be sent: literal where it may be, else in the sentinel. */
void http_sentinel_encode(struct str value, struct buf *out);

/* ---- hosts and origins ---- */

/* Splits "host[:port]" of a Host field (RFC 9110, 7.2). The host of an IPv6 literal keeps its
 * brackets. False when it is neither a name nor an address with an optional port. */
bool http_split_host(struct str value, struct str *host, struct str *port);
/* Splits "scheme://host[:port]" of an Origin field (RFC 6454, 7); "null" is false. */
bool http_split_origin(struct str value, struct str *scheme, struct str *host, struct str *port);
/* localhost, *.localhost, 127.0.0.0/8 in dotted form, [::1]. */
bool http_is_loopback_name(struct str host);
/* The credentials of "Authorization: Bearer TOKEN"; absent when it is no such thing. */
struct str http_bearer(struct str authorization);

#endif
