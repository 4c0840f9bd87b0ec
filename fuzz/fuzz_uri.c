/* fuzz_uri.c - a base, a newline, a reference: split, resolve; and the reference against every format.
 *
 * Invariants: the parts make up the text again; what is a URI is an IRI; resolving gives a valid
 * reference or, for invalid input, nothing; a result resolved again is itself, against any base if it
 * has a scheme and against none if not; the syntax check of templates agrees with their compiler.
 */
#include "format/format.h"
#include "require.h"
#include "uri/reference.h"
#include "uri/template.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 20 };

static void put(struct buf *b, const char *before, struct str s, const char *behind)
{
	if (!s.p)
		return;
	buf_appendz(b, before);
	buf_append(b, s.p, s.n);
	buf_appendz(b, behind);
}

/* RFC 3986 section 5.3, with the authority from its parts. */
static void check_parts(struct str text, const struct uri *u)
{
	struct buf b;

	buf_init(&b, NULL, ROOM);
	require(u->path.p && !u->authority.p == !u->host.p);
	put(&b, "", u->scheme, ":");
	put(&b, "", u->authority.p ? STR_LIT("//") : u->authority, "");
	put(&b, "", u->userinfo, "@");
	put(&b, "", u->host, "");
	put(&b, ":", u->port, "");
	put(&b, "", u->path, "");
	put(&b, "?", u->query, "");
	put(&b, "#", u->fragment, "");
	require(buf_status(&b) == CLEAT_OK && str_eq(buf_str(&b), text));
	buf_done(&b);
}

static bool check_split(struct str text, struct uri *ret)
{
	struct uri iri;
	bool wide = uri_split(text, URI_IRI, &iri), ok = uri_split(text, 0, ret);

	require(wide || !ok);
	if (wide)
		check_parts(text, &iri);
	if (ok)
		check_parts(text, ret);
	return ok;
}

static void check_settled(struct str base, struct str result)
{
	struct buf again;

	buf_init(&again, NULL, ROOM);
	require(uri_resolve(&again, base, result) && str_eq(buf_str(&again), result));
	buf_done(&again);
}

static void check_resolve(struct str base, struct str ref)
{
	struct uri b, r, u;
	bool base_ok = check_split(base, &b), ref_ok = check_split(ref, &r);
	struct buf out;

	buf_init(&out, NULL, ROOM);
	require(uri_resolve(&out, base, ref) == (base_ok && ref_ok));
	if (!base_ok || !ref_ok) {
		require(buf_size(&out) == 0);
	} else {
		require(buf_status(&out) == CLEAT_OK && check_split(buf_str(&out), &u));
		require(!u.scheme.p == !(r.scheme.p || b.scheme.p));
		require(!u.fragment.p == !r.fragment.p);
		if (u.scheme.p)
			check_settled(base, buf_str(&out));
		check_settled(STR_LIT(""), buf_str(&out));
	}
	buf_done(&out);
}

static void check_formats(struct str text)
{
	const struct uri_template *t;
	struct arena ar;
	int rc;

#define CHECK(NAME, name, what) (void)format_check(FORMAT_##NAME, text);
	FORMAT_MAP(CHECK)
#undef CHECK
	arena_init(&ar, NULL, 0);
	rc = uri_template_compile(&ar, text, &t, NULL);
	require(rc == CLEAT_ELIMIT || uri_template_is_valid(text) == (rc == CLEAT_OK));
	arena_done(&ar);
}

/* A copy of its own size, so that a byte too far is noticed. */
static struct str copy(const uint8_t *p, size_t n)
{
	char *s = malloc(n ? n : 1);

	require(s);
	if (n)
		memcpy(s, p, n);
	return (struct str){ s, n };
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *cut = size ? memchr(data, '\n', size) : NULL;
	size_t n = cut ? (size_t)(cut - data) : 0;
	struct str base = copy(data, n);
	struct str ref = cut ? copy(cut + 1, size - n - 1) : copy(data, size);

	check_resolve(base, ref);
	check_formats(ref);
	free((char *)base.p);
	free((char *)ref.p);
	return 0;
}
