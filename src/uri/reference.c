/* uri/reference.c - splitting, checking and resolving; see reference.h.
 *
 * Splitting follows the grammar of RFC 3986 appendix A, resolving the steps of section 5.2. A result
 * is written in place into room that is reserved once: it is never longer than both inputs and a few
 * delimiters, and removing dot segments only moves bytes to the left. Where the RFC's steps would
 * give a text that reads differently (a path that begins with "//" without an authority, a first
 * segment that is empty or has a colon without a scheme), a dot segment is put in front.
 */
#include "uri/reference.h"

#include "uri/address.h"
#include "uri/chars.h"

#include <string.h>

/* ---- the grammar -------------------------------------------------------------------------- */

/* Are these characters all of the classes, of `more`, or escapes? */
static bool only(struct str s, unsigned classes, const char *more)
{
	size_t len;

	for (size_t i = 0; i < s.n; i += len) {
		if (uri_char_at(s, i, &len) & classes)
			continue;
		if (uri_escape_at(s, i))
			len = 3;
		else if (len != 1 || !memchr(more, s.p[i], strlen(more)))
			return false;
	}
	return true;
}

/* unreserved, sub-delims and, in an IRI, ucschar: what all parts may hold. */
static unsigned common(unsigned flags)
{
	return CHAR_UNRESERVED | CHAR_SUB_DELIM | (flags & URI_IRI ? CHAR_UCS : 0u);
}

/* Cuts off what comes before the first of `stops`; all of it when there is none. */
static struct str reference_take(struct str *rest, const char *stops)
{
	struct str head = *rest;
	size_t n = 0;

	while (n < rest->n && !memchr(stops, rest->p[n], strlen(stops)))
		n++;
	head.n = n;
	rest->p += n;
	rest->n -= n;
	return head;
}

/* The same with the one character that `rest` begins with skipped; absent when it does not. */
static struct str take_after(struct str *rest, char first, const char *stops)
{
	if (rest->n == 0 || rest->p[0] != first)
		return (struct str){ NULL, 0 };
	rest->p++;
	rest->n--;
	return reference_take(rest, stops);
}

static bool scheme_ok(struct str s)
{
	if (s.n == 0 || uri_char_class(s.p[0]) != CHAR_ALPHA)
		return false;
	for (size_t i = 1; i < s.n; i++)
		if (!(uri_char_class(s.p[i]) & (CHAR_ALPHA | CHAR_DIGIT)) &&
		    !memchr("+-.", s.p[i], 3))
			return false;
	return true;
}

/* A colon in the first segment ends a scheme: a relative reference cannot have one there (4.2). */
static bool split_scheme(struct str *rest, struct uri *u)
{
	struct str all = *rest, head = reference_take(rest, ":/?#");

	if (rest->n == 0 || rest->p[0] != ':') {
		*rest = all;
		return true;
	}
	u->scheme = head;
	rest->p++;
	rest->n--;
	return scheme_ok(head);
}

/* "[" ( IPv6address / IPvFuture ) "]" */
static bool literal_ok(struct str host)
{
	struct str in, version;

	if (host.n < 2 || host.p[host.n - 1] != ']')
		return false;
	in = (struct str){ host.p + 1, host.n - 2 };
	if (in.n == 0 || (in.p[0] != 'v' && in.p[0] != 'V'))
		return ip6_valid(in);
	in.p++;
	in.n--;
	version = reference_take(&in, ".");
	for (size_t i = 0; i < version.n; i++)
		if (uri_hex_digit(version.p[i]) < 0)
			return false;
	return version.n > 0 && in.n > 1 && !memchr(in.p, '%', in.n) &&
	       only((struct str){ in.p + 1, in.n - 1 }, common(0), ":");
}

static bool split_authority(struct uri *u, unsigned flags)
{
	struct str rest = u->authority, head = reference_take(&rest, "@");

	if (rest.n) {
		u->userinfo = head;
		rest.p++;
		rest.n--;
	} else {
		rest = u->authority;
	}
	if (rest.n && rest.p[0] == '[') {
		u->host = reference_take(&rest, "]");
		if (rest.n) { /* with its bracket */
			u->host.n++;
			rest.p++;
			rest.n--;
		}
		if (!literal_ok(u->host))
			return false;
	} else {
		u->host = reference_take(&rest, ":");
		if (!only(u->host, common(flags), ""))
			return false;
	}
	u->port = take_after(&rest, ':', "");
	for (size_t i = 0; i < u->port.n; i++)
		if (uri_char_class(u->port.p[i]) != CHAR_DIGIT)
			return false;
	return rest.n == 0 && only(u->userinfo, common(flags), ":");
}

bool uri_split(struct str text, unsigned flags, struct uri *ret)
{
	unsigned in_query = common(flags) | (flags & URI_IRI ? CHAR_PRIVATE : 0u);
	struct str rest = { text.p ? text.p : "", text.n };

	*ret = (struct uri){ .path = { rest.p, 0 } };
	if (!split_scheme(&rest, ret))
		return false;
	if (rest.n >= 2 && memcmp(rest.p, "//", 2) == 0) {
		rest.p += 2;
		rest.n -= 2;
		ret->authority = reference_take(&rest, "/?#");
		if (!split_authority(ret, flags))
			return false;
	}
	ret->path = reference_take(&rest, "?#");
	ret->query = take_after(&rest, '?', "#");
	ret->fragment = take_after(&rest, '#', "");
	return only(ret->path, common(flags), ":@/") && only(ret->query, in_query, ":@/?") &&
	       only(ret->fragment, common(flags), ":@/?");
}

struct str uri_without_fragment(struct str text)
{
	const char *hash = text.n ? memchr(text.p, '#', text.n) : NULL;

	return (struct str){ text.p, hash ? (size_t)(hash - text.p) : text.n };
}

/* ---- resolving ---------------------------------------------------------------------------- */

/* Room that is known to be enough. */
struct writer {
	char *p;
	size_t n;
};

static void reference_put(struct writer *w, struct str s)
{
	if (s.n)
		memcpy(w->p + w->n, s.p, s.n);
	w->n += s.n;
}

/* Section 6.2.2.1: the digits of escapes are capitals, and with `lower` letters are small. */
static void put_normal(struct writer *w, struct str s, bool lower)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (c == '%') {
			size_t at = i;

			w->n += uri_normal_next(s, &at, w->p + w->n);
			i = at - 1;
			continue;
		}
		w->p[w->n++] = lower && c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
	}
}

/* Length of the segment at p[i], without slashes. */
static size_t segment(const char *p, size_t i, size_t n)
{
	const char *slash = memchr(p + i, '/', n - i);

	return slash ? (size_t)(slash - p) - i : n - i;
}

/* 1 for ".", 2 for "..", 0 for an ordinary segment. */
static size_t dots(const char *p, size_t n)
{
	return n <= 2 && memcmp(p, "..", n) == 0 ? n : 0;
}

/* Puts two characters in front; returns the new length. */
static size_t prefix(char *p, size_t n, const char *two)
{
	memmove(p + 2, p, n);
	memcpy(p, two, 2);
	return n + 2;
}

/* Section 5.2.4 to the letter, in place; returns the new length. */
static size_t remove_dots(char *p, size_t n)
{
	size_t out = 0, i = 0;

	while (i < n) {
		size_t slash = p[i] == '/', len = slash + segment(p, i + slash, n);
		size_t kind = dots(p + i + slash, len - slash);

		if (kind == 2 && slash) /* C: the last segment of the output goes, with its slash */
			while (out > 0 && p[--out] != '/')
				;
		if (kind == 0) { /* E */
			memmove(p + out, p + i, len);
			out += len;
		} else if (!slash) { /* A, D: goes with the slash after it */
			len += i + len < n;
		} else if (i + len == n) { /* B, C: only the slash stays */
			p[out++] = '/';
		}
		i += len;
	}
	return out;
}

/* The same for a path that stays relative: ".." that nothing comes before is kept. The result is
 * empty only if the path was, because an empty path means something else (the base itself). */
static size_t remove_dots_relative(char *p, size_t n)
{
	size_t out = 0, kept = 0, len, kind;

	for (size_t i = 0; i < n; i += len + 1) {
		len = segment(p, i, n);
		kind = dots(p + i, len);
		if (kind == 0) {
			size_t with = len + (i + len < n);

			memmove(p + out, p + i, with);
			out += with;
		} else if (kind == 2 && out > kept) {
			for (out--; out > kept && p[out - 1] != '/'; out--)
				;
		} else if (kind == 2) {
			memcpy(p + out, "../", 3);
			kept = out += 3;
		}
	}
	if (n > 0 && (out == 0 || p[0] == '/' || memchr(p, ':', segment(p, 0, out))))
		out = prefix(p, out, "./");
	return out;
}

static void put_path(struct writer *w, struct str dir, struct str path, bool has_scheme,
		     bool has_authority)
{
	char *p = w->p + w->n;
	size_t from = w->n, n;

	put_normal(w, dir, false);
	put_normal(w, path, false);
	n = w->n - from;
	if (n == 0)
		return;
	if (has_scheme || p[0] == '/')
		n = remove_dots(p, n);
	else
		n = remove_dots_relative(p, n);
	if (!has_authority && n >= 2 && memcmp(p, "//", 2) == 0)
		n = prefix(p, n, "/.");
	w->n = from + n;
}

static void put_authority(struct writer *w, const struct uri *u)
{
	reference_put(w, STR_LIT("//"));
	if (u->userinfo.p) {
		put_normal(w, u->userinfo, false);
		reference_put(w, STR_LIT("@"));
	}
	put_normal(w, u->host, true);
	if (u->port.p) {
		reference_put(w, STR_LIT(":"));
		reference_put(w, u->port);
	}
}

/* Section 5.2.3: what of the base's path comes before that of a relative-path reference. */
static struct str directory(const struct uri *base)
{
	struct str path = base->path;

	if (base->authority.p && path.n == 0)
		return STR_LIT("/");
	while (path.n && path.p[path.n - 1] != '/')
		path.n--;
	return path;
}

/* Section 5.2.2: which part comes from where. */
static void reference_resolve(struct writer *w, const struct uri *base, const struct uri *ref)
{
	const struct uri *top = ref->scheme.p || ref->authority.p ? ref : base;
	struct str scheme = ref->scheme.p ? ref->scheme : base->scheme;
	struct str dir = { NULL, 0 }, path = ref->path, query = ref->query;

	if (top == base && path.n == 0) {
		path = base->path;
		query = query.p ? query : base->query;
	} else if (top == base && path.p[0] != '/') {
		dir = directory(base);
	}
	if (scheme.p) {
		put_normal(w, scheme, true);
		reference_put(w, STR_LIT(":"));
	}
	if (top->authority.p)
		put_authority(w, top);
	put_path(w, dir, path, scheme.p, top->authority.p);
	if (query.p) {
		reference_put(w, STR_LIT("?"));
		put_normal(w, query, false);
	}
	if (ref->fragment.p) {
		reference_put(w, STR_LIT("#"));
		put_normal(w, ref->fragment, false);
	}
}

bool uri_resolve(struct buf *out, struct str base, struct str ref)
{
	struct uri b, r;
	struct writer w = { .n = 0 };

	if (!uri_split(base, 0, &b) || !uri_split(ref, 0, &r))
		return false;
	w.p = buf_reserve(out, base.n + ref.n + 4);
	if (w.p) {
		reference_resolve(&w, &b, &r);
		buf_commit(out, w.n);
	}
	return true;
}

/* ---- origins ---------------------------------------------------------------------------------- */

unsigned uri_port(const struct uri *u)
{
	unsigned port = 0;

	if (u->port.n == 0)
		return str_samez(u->scheme, "https") ? 443 : str_samez(u->scheme, "http") ? 80 : 0;
	for (size_t i = 0; i < u->port.n && port <= 65535; i++)
		port = port * 10 + (unsigned)(u->port.p[i] - '0');
	return port <= 65535 ? port : 0;
}

bool uri_same_origin(struct str a, struct str b)
{
	struct uri ua, ub;

	return uri_split(a, 0, &ua) && uri_split(b, 0, &ub) && ua.scheme.p && ub.scheme.p &&
	       str_same(ua.scheme, ub.scheme) && str_same(ua.host, ub.host) && uri_port(&ua) &&
	       uri_port(&ua) == uri_port(&ub);
}
