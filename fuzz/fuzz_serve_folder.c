/* fuzz/fuzz_serve_folder.c - what clients write about files: globs, edits, paths. The first byte chooses; fields are
 * separated by NUL.
 *
 *	g pattern path        what matches can be reached: no directory above it is refused
 *	e all text old new    the same as replacing by hand
 *	p path                what is let through is clean
 */
#include "base/buf.h"
#include "require.h"
#include "serve/folder/beneath.h"
#include "serve/folder/edit.h"
#include "serve/folder/glob.h"

static struct str field(struct str *rest)
{
	const char *end = rest->n ? memchr(rest->p, 0, rest->n) : NULL;
	struct str f = { rest->p, end ? (size_t)(end - rest->p) : rest->n };

	rest->p += f.n + (end != NULL);
	rest->n -= f.n + (end != NULL);
	return f;
}

static struct str last_part(struct str s)
{
	for (size_t i = s.n; i > 0; i--)
		if (s.p[i - 1] == '/')
			return (struct str){ s.p + i, s.n - i };
	return s;
}

static void try_glob(struct str rest)
{
	struct str pattern = field(&rest), path = field(&rest);
	struct glob *g;

	if (path.n > 2000)
		return;
	g = glob_new(NULL, pattern, NULL);
	if (!g)
		return;
	if (glob_match(g, path))
		for (size_t i = 0; i < path.n; i++)
			require(path.p[i] != '/' || glob_may_enter(g, (struct str){ path.p, i }));
	if (!glob_is_pattern(pattern) && !memchr(pattern.p, '/', pattern.n) &&
	    !memchr(pattern.p, '}', pattern.n))
		require(glob_match(g, path) == str_eq(pattern, last_part(path)));
	glob_free(g);
}

/* Replacing from left to right, in the plainest way. */
static size_t by_hand(const struct edit *e, struct buf *out)
{
	size_t count = 0;

	for (size_t i = 0; i < e->text.n;) {
		bool here =
			e->text.n - i >= e->old.n && memcmp(e->text.p + i, e->old.p, e->old.n) == 0;

		if (here && (e->all || !count)) {
			buf_append(out, e->fresh.p, e->fresh.n);
			i += e->old.n;
			count++;
		} else {
			buf_putc(out, e->text.p[i++]);
		}
	}
	return count;
}

static void try_edit(struct str rest)
{
	struct str flag = field(&rest);
	struct edit e = { .all = flag.n & 1 };
	struct buf out, diff, expected;
	cleat_error err = { 0 };
	size_t count;

	e.text = field(&rest);
	e.old = field(&rest);
	e.fresh = field(&rest);
	buf_init(&out, NULL, 1 << 20);
	buf_init(&diff, NULL, 1 << 20);
	buf_init(&expected, NULL, 1 << 20);
	if (edit_apply(&e, &out, &diff, &count, &err) == CLEAT_OK) {
		require(by_hand(&e, &expected) == count && count > 0 && (e.all || count == 1));
		require(str_eq(buf_str(&out), buf_str(&expected)));
		require(buf_size(&diff) > 4 && memcmp(buf_str(&diff).p, "@@ -", 4) == 0);
	} else {
		require(err.status < 0 && err.message[0]);
	}
	buf_done(&out);
	buf_done(&diff);
	buf_done(&expected);
}

static void try_path(struct str path)
{
	const struct beneath b = { .fd = -1 };
	struct beneath_path p;
	struct buf shown;

	buf_init(&shown, NULL, 1 << 20);
	beneath_show(&shown, path, true);
	require(utf8_valid_prefix(buf_str(&shown)) == buf_size(&shown));
	require(!buf_size(&shown) || !memchr(buf_str(&shown).p, '\n', buf_size(&shown)));
	buf_done(&shown);
	if (beneath_clean(&b, path, &p, NULL))
		return;
	require(p.n < sizeof p.text && p.text[p.n] == '\0' && strlen(p.text) == p.n);
	require(p.text[0] != '/' && p.text[0] != '.' && !strstr(p.text, "//") &&
		!strstr(p.text, "/."));
	require(!p.n || p.text[p.n - 1] != '/');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str rest = { (const char *)data + 1, size ? size - 1 : 0 };

	if (!size)
		return 0;
	switch (data[0]) {
	case 'g': try_glob(rest); break;
	case 'e': try_edit(rest); break;
	case 'p': try_path(rest); break;
	default: break;
	}
	return 0;
}
