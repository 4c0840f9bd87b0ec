/* program/serve/sql/sqlfunc.c - SQLite's functions that may take for ever on one row, in a kind that does not.
 *
 * They give what SQLite's own give for blobs and for texts in UTF-8. memmem() of the C library takes linear
 * time, so it is what searches.
 */
#define _GNU_SOURCE /* memmem */

#include "serve/sql/sqlfunc.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>

enum {
	VALUE_MOST = 16 << 20, /* as sqldb.c limits values */
	RESULT_SUBTYPE =
		1 << 24 /* SQLITE_RESULT_SUBTYPE: wanted since 3.45, not looked at before */
};

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
	if (!what.n) { /* as text; older versions of SQLite gave a number back as one */
		k.sqlite3_result_text(ctx, in.p, (int)in.n, SQLITE_TRANSIENT);
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

/* ---- patterns ---- */

/* SQLite compares each part of a pattern at each place of the text: about 2 ns for each pair of bytes, 6 ns for
 * GLOB's classes. What is more than about a second is refused. */
enum { PATTERN_MAX = 1000 };
#define LIKE_MOST (UINT64_C(384) << 20)
#define GLOB_MOST (UINT64_C(128) << 20)

/* NULL: it may be compared. */
static const char *wrong_pattern(struct str pattern, struct str text, uint64_t most)
{
	if (pattern.n > PATTERN_MAX)
		return "a pattern of LIKE or GLOB has at most 1000 bytes";
	if ((uint64_t)pattern.n * text.n > most)
		return "this text is too long for LIKE and GLOB with this pattern; instr() finds "
		       "words in texts of any length";
	return NULL;
}

/* Some SQLites are built so that blobs match nothing: then there is user data. Before anything is asked of the
 * values: a blob that was asked for its text is a text. */
static bool no_match(const struct sqlite *k, sqlite3_context *ctx, sqlite3_value **argv)
{
	bool blob = k->sqlite3_value_type(argv[0]) == SQLITE_BLOB ||
		    k->sqlite3_value_type(argv[1]) == SQLITE_BLOB;

	if (!blob || !k->sqlite3_user_data(ctx))
		return false;
	k->sqlite3_result_int64(ctx, 0);
	return true;
}

/* A character that is no wildcard; 0: none, or something else. */
static uint32_t escape_of(struct str s)
{
	size_t n = 0;
	uint32_t c = s.n ? utf8_next(s, &n) : 0;

	return n == s.n && c != '%' && c != '_' && c != UTF8_BAD ? c : 0;
}

static void sqlfunc_compare(const struct sqlite *k, sqlite3_context *ctx, int argc,
			    sqlite3_value **argv, bool glob)
{
	struct str pattern = bytes_of(k, argv[0], false), text = bytes_of(k, argv[1], false);
	struct str escape = argc > 2 ? bytes_of(k, argv[2], false) : STR_LIT("");
	const char *wrong;

	if (!pattern.p || !text.p || !escape.p)
		return;
	wrong = argc > 2 && !escape_of(escape)
			? "ESCAPE needs a single character that is not a wildcard"
			: wrong_pattern(pattern, text, glob ? GLOB_MOST : LIKE_MOST);
	if (wrong)
		k->sqlite3_result_error(ctx, wrong, -1);
	else if (glob)
		k->sqlite3_result_int64(ctx, k->sqlite3_strglob(pattern.p, text.p) == 0);
	else
		k->sqlite3_result_int64(
			ctx, k->sqlite3_strlike(pattern.p, text.p, escape_of(escape)) == 0);
}

/* like(pattern, text), like(pattern, text, escape). Only with its own function can SQLite use an index for "x%",
 * and for LIKE only on columns that are NOCASE; that is the price. */
static void do_like(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct sqlite k = calls_now();

	if (!no_match(&k, ctx, argv))
		sqlfunc_compare(&k, ctx, argc, argv, false);
}

static void do_glob(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct sqlite k = calls_now();

	if (!no_match(&k, ctx, argv))
		sqlfunc_compare(&k, ctx, argc, argv, true);
}

/* Of a text it looks for each character among those to be left out. */
static void do_unhex(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct sqlite k = calls_now();

	(void)argc;
	(void)argv;
	k.sqlite3_result_error(ctx, "unhex() has one argument here; use replace() before it", -1);
}

/* ---- by SQLite's own, within bounds ---- */

/* %.900000000c is written a character at a time: a number in a format is at most this. */
enum { FORMAT_NUMBER_MAX = 10000, FORMAT_ARGS_MAX = 100 };
/* json_patch() looks for each key of one text among all of the other: their bytes, multiplied. */
#define PATCH_MOST (UINT64_C(100) * 1024 * 100 * 1024)

/* What is wrong with a format; NULL: nothing. A number that an argument gives ("*") cannot be seen here. */
static const char *wrong_format(struct str s)
{
	unsigned long sum = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] != '%')
			continue;
		for (i++; i < s.n && strchr("-+ 0#,!.123456789*l", s.p[i]);) {
			unsigned long number = 0;

			if (s.p[i] == '*')
				return "a format's width and precision are numbers here, not *";
			for (; i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++)
				if (number <= FORMAT_NUMBER_MAX)
					number = number * 10 + (unsigned long)(s.p[i] - '0');
			sum += number;
			if (number > FORMAT_NUMBER_MAX || sum > VALUE_MOST)
				return "a format's width and precision are at most 10000";
			if (i < s.n && strchr("-+ #,!.l", s.p[i]))
				i++;
		}
	}
	return NULL;
}

/* On a connection where the function is not replaced. False: it has failed, and says why. */
static bool delegate(const struct sqlite *k, const char *name, sqlite3_context *ctx, int argc,
		     sqlite3_value **argv)
{
	sqlite3 *plain = k->sqlite3_user_data(ctx);
	char sql[32 + 2 * FORMAT_ARGS_MAX];
	sqlite3_stmt *stmt = NULL;
	size_t n = (size_t)snprintf(sql, sizeof sql, "SELECT %s(?", name);
	bool done;
	int rc;

	for (int i = 1; i < argc; i++) {
		memcpy(sql + n, ",?", 2);
		n += 2;
	}
	memcpy(sql + n, ")", 2);
	rc = k->sqlite3_prepare_v3(plain, sql, -1, 0, &stmt, NULL);
	for (int i = 0; i < argc && rc == SQLITE_OK; i++)
		rc = k->sqlite3_bind_value(stmt, i + 1, argv[i]);
	done = rc == SQLITE_OK && k->sqlite3_step(stmt) == SQLITE_ROW;
	if (done && k->sqlite3_column_type(stmt, 0) != SQLITE_NULL)
		k->sqlite3_result_text(ctx, (const char *)k->sqlite3_column_text(stmt, 0),
				       k->sqlite3_column_bytes(stmt, 0), SQLITE_TRANSIENT);
	else if (!done)
		k->sqlite3_result_error(ctx, k->sqlite3_errmsg(plain), -1);
	k->sqlite3_finalize(stmt);
	return done;
}

static void do_format(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct sqlite k = calls_now();
	struct str format;
	const char *wrong;

	if (!argc)
		return;
	format = bytes_of(&k, argv[0], false);
	if (!format.p)
		return;
	wrong = argc > FORMAT_ARGS_MAX ? "too many arguments for a format" : wrong_format(format);
	if (wrong)
		k.sqlite3_result_error(ctx, wrong, -1);
	else
		delegate(&k, "printf", ctx, argc, argv);
}

static void do_patch(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct sqlite k = calls_now();
	struct str to = bytes_of(&k, argv[0], false), patch = bytes_of(&k, argv[1], false);

	if ((uint64_t)to.n * patch.n > PATCH_MOST)
		k.sqlite3_result_error(ctx, "json_patch: too large (about 100 KB each)", -1);
	else if (delegate(&k, "json_patch", ctx, argc, argv))
		k.sqlite3_result_subtype(ctx, 'J'); /* JSON for other functions, not a text */
}

static void close_plain(void *db)
{
	struct sqlite k = calls_now();

	k.sqlite3_close_v2(db);
}

/* One connection for all of them, which goes with the last. */
static int add_delegated(const struct sqlite *lib, sqlite3 *db)
{
	static const struct {
		const char *name;
		int n;
		void (*fn)(sqlite3_context *ctx, int argc, sqlite3_value **argv);
	} theirs[] = {
		{ "printf", -1, do_format },
		{ "format", -1, do_format },
		{ "json_patch", 2, do_patch },
	};
	const size_t last = CLEAT_COUNT(theirs) - 1;
	sqlite3 *plain = NULL;
	int rc = lib->sqlite3_open_v2(":memory:", &plain,
				      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);

	if (rc == SQLITE_OK)
		lib->sqlite3_limit(plain, SQLITE_LIMIT_LENGTH, VALUE_MOST);
	for (size_t i = 0; i <= last && rc == SQLITE_OK; i++) {
		/* When the last fails it closes the connection itself. */
		rc = lib->sqlite3_create_function_v2(
			db, theirs[i].name, theirs[i].n,
			SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS | RESULT_SUBTYPE,
			plain, theirs[i].fn, NULL, NULL, i == last ? close_plain : NULL);
		if (i == last)
			return rc;
	}
	lib->sqlite3_close_v2(plain);
	return rc;
}

static bool blobs_match(const struct sqlite *lib, sqlite3 *db)
{
	sqlite3_stmt *stmt = NULL;
	bool match = lib->sqlite3_prepare_v3(db, "SELECT x'61' LIKE 'a'", -1, 0, &stmt, NULL) ==
			     SQLITE_OK &&
		     lib->sqlite3_step(stmt) == SQLITE_ROW &&
		     lib->sqlite3_column_int64(stmt, 0) == 1;

	lib->sqlite3_finalize(stmt);
	return match;
}

int sqlfunc_add(const struct sqlite *lib, sqlite3 *db)
{
	static char both[] = "lr", left[] = "l", right[] = "r"; /* given as void *; never changed */
	void *no_blobs = blobs_match(lib, db) ? NULL : both;
	const struct {
		const char *name;
		int n;
		void (*fn)(sqlite3_context *ctx, int argc, sqlite3_value **argv);
		void *data;
	} ours[] = {
		{ "instr", 2, do_instr, NULL },   { "replace", 3, do_replace, NULL },
		{ "trim", 2, do_trim, both },     { "ltrim", 2, do_trim, left },
		{ "rtrim", 2, do_trim, right },   { "like", 2, do_like, no_blobs },
		{ "like", 3, do_like, no_blobs }, { "glob", 2, do_glob, no_blobs },
		{ "unhex", 2, do_unhex, NULL },
	};
	int rc = SQLITE_OK;

	for (size_t i = 0; i < CLEAT_COUNT(ours) && rc == SQLITE_OK; i++)
		rc = lib->sqlite3_create_function_v2(db, ours[i].name, ours[i].n,
						     SQLITE_UTF8 | SQLITE_DETERMINISTIC |
							     SQLITE_INNOCUOUS,
						     ours[i].data, ours[i].fn, NULL, NULL, NULL);
	return rc == SQLITE_OK ? add_delegated(lib, db) : rc;
}
