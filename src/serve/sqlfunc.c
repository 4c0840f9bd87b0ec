/* serve/sqlfunc.c - SQLite's functions that may take for ever on one row, in a kind that does not.
 *
 * They give what SQLite's own give for blobs and for texts in UTF-8. memmem() of the C library takes linear
 * time, so it is what searches.
 */
#define _GNU_SOURCE /* memmem */

#include "serve/sqlfunc.h"

#include "base/str.h"

#include <string.h>

enum { VALUE_MOST = 16 << 20 }; /* as sqldb.c limits values */

/* The value's bytes; absent: NULL, or no memory. */
static struct str bytes_of(const struct sqlite *k, sqlite3_value *v, bool blob)
{
	const void *p = blob ? k->sqlite3_value_blob(v) : k->sqlite3_value_text(v);
	int n = k->sqlite3_value_bytes(v);

	if (!p && blob && k->sqlite3_value_type(v) == SQLITE_BLOB) /* an empty blob */
		return (struct str){ "", 0 };
	return (struct str){ p, p ? (size_t)n : 0 };
}

static struct sqlite calls_now(void)
{
	struct sqlite k = { 0 };

	sqlite_load(&k, NULL); /* it was loaded: somebody has called us through it */
	return k;
}

static void do_instr(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct sqlite k = calls_now();
	bool blobs = k.sqlite3_value_type(argv[0]) == SQLITE_BLOB &&
		     k.sqlite3_value_type(argv[1]) == SQLITE_BLOB;
	struct str in = bytes_of(&k, argv[0], blobs), what = bytes_of(&k, argv[1], blobs);
	const char *at;

	(void)argc;
	if (!in.p || !what.p)
		return;
	at = what.n ? memmem(in.p, in.n, what.p, what.n) : in.p;
	if (!at)
		k.sqlite3_result_int64(ctx, 0);
	else if (blobs)
		k.sqlite3_result_int64(ctx, at - in.p + 1);
	else
		k.sqlite3_result_int64(
			ctx,
			(sqlite3_int64)utf8_length((struct str){ in.p, (size_t)(at - in.p) }) + 1);
}

static const char *next(struct str in, size_t from, struct str what)
{
	return in.n - from < what.n ? NULL : memmem(in.p + from, in.n - from, what.p, what.n);
}

static void do_replace(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct sqlite k = calls_now();
	struct str in = bytes_of(&k, argv[0], false), what = bytes_of(&k, argv[1], false);
	struct str with = bytes_of(&k, argv[2], false);
	size_t n = in.n, from = 0, used = 0;
	const char *at;
	char *out;

	(void)argc;
	if (!in.p || !what.p || !with.p)
		return;
	if (!what.n) {
		k.sqlite3_result_value(ctx, argv[0]);
		return;
	}
	for (; n <= VALUE_MOST && (at = next(in, from, what)); from = (size_t)(at - in.p) + what.n)
		n = n - what.n + with.n;
	if (n > VALUE_MOST) {
		k.sqlite3_result_error_toobig(ctx);
		return;
	}
	out = k.sqlite3_malloc((int)n + 1);
	if (!out) {
		k.sqlite3_result_error_nomem(ctx);
		return;
	}
	for (from = 0; (at = next(in, from, what)); from = (size_t)(at - in.p) + what.n) {
		size_t before = (size_t)(at - in.p) - from;

		memcpy(out + used, in.p + from, before);
		memcpy(out + used + before, with.p, with.n);
		used += before + with.n;
	}
	memcpy(out + used, in.p + from, in.n - from);
	k.sqlite3_result_text(ctx, out, (int)n, k.sqlite3_free);
}

/* The length of the character of `list` that `in` begins (or, `back`, ends) with; 0: none does. */
static size_t listed(struct str in, struct str list, bool back)
{
	for (size_t i = 0, n; i < list.n; i += n) {
		size_t to = i;

		utf8_next(list, &to);
		n = to - i;
		if (n <= in.n && memcmp(back ? in.p + in.n - n : in.p, list.p + i, n) == 0)
			return n;
	}
	return 0;
}

static void do_trim(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct sqlite k = calls_now();
	const char *sides = k.sqlite3_user_data(ctx);
	struct str in = bytes_of(&k, argv[0], false), list = bytes_of(&k, argv[1], false);
	size_t n;

	(void)argc;
	if (!in.p || !list.p)
		return;
	if (list.n > TRIM_MAX) {
		k.sqlite3_result_error(ctx, "too many characters to trim", -1);
		return;
	}
	while (strchr(sides, 'l') && (n = listed(in, list, false)))
		in = (struct str){ in.p + n, in.n - n };
	while (strchr(sides, 'r') && (n = listed(in, list, true)))
		in.n -= n;
	k.sqlite3_result_text(ctx, in.p, (int)in.n, SQLITE_TRANSIENT);
}

int sqlfunc_add(const struct sqlite *lib, sqlite3 *db)
{
	static char both[] = "lr", left[] = "l", right[] = "r"; /* given as void *; never changed */
	static const struct {
		const char *name;
		int n;
		void (*fn)(sqlite3_context *ctx, int argc, sqlite3_value **argv);
		void *data;
	} ours[] = {
		{ "instr", 2, do_instr, NULL }, { "replace", 3, do_replace, NULL },
		{ "trim", 2, do_trim, both },   { "ltrim", 2, do_trim, left },
		{ "rtrim", 2, do_trim, right },
	};
	int rc = SQLITE_OK;

	for (size_t i = 0; i < CLEAT_COUNT(ours) && rc == SQLITE_OK; i++)
		rc = lib->sqlite3_create_function_v2(db, ours[i].name, ours[i].n,
						     SQLITE_UTF8 | SQLITE_DETERMINISTIC |
							     SQLITE_INNOCUOUS,
						     ours[i].data, ours[i].fn, NULL, NULL, NULL);
	return rc;
}
