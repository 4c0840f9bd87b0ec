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

/* ---- printf() and format() ---- */

/* %.900000000c is written a character at a time: a number in a format is at most this. */
enum { FORMAT_NUMBER_MAX = 10000, FORMAT_ARGS_MAX = 100 };

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

/* By SQLite's own, on a connection where it is not replaced. */
static int delegate(const struct sqlite *k, sqlite3 *plain, sqlite3_context *ctx, int argc,
		    sqlite3_value **argv)
{
	char sql[32 + 2 * FORMAT_ARGS_MAX] = "SELECT printf(?";
	size_t n = strlen(sql);
	sqlite3_stmt *stmt = NULL;
	int rc;

	for (int i = 1; i < argc; i++) {
		memcpy(sql + n, ",?", 2);
		n += 2;
	}
	memcpy(sql + n, ")", 2);
	rc = k->sqlite3_prepare_v3(plain, sql, -1, 0, &stmt, NULL);
	for (int i = 0; i < argc && rc == SQLITE_OK; i++)
		rc = k->sqlite3_bind_value(stmt, i + 1, argv[i]);
	if (rc == SQLITE_OK && k->sqlite3_step(stmt) == SQLITE_ROW) {
		const char *text = (const char *)k->sqlite3_column_text(stmt, 0);

		if (text)
			k->sqlite3_result_text(ctx, text, k->sqlite3_column_bytes(stmt, 0),
					       SQLITE_TRANSIENT);
	} else {
		rc = SQLITE_ERROR;
	}
	k->sqlite3_finalize(stmt);
	return rc;
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
	if (!wrong && delegate(&k, k.sqlite3_user_data(ctx), ctx, argc, argv) != SQLITE_OK)
		wrong = "the text could not be made";
	if (wrong)
		k.sqlite3_result_error(ctx, wrong, -1);
}

static void close_plain(void *db)
{
	struct sqlite k = calls_now();

	k.sqlite3_close_v2(db);
}

/* Both names, each with a connection of its own, which goes with the function. */
static int add_formats(const struct sqlite *lib, sqlite3 *db)
{
	static const char *const names[] = { "printf", "format" };
	int rc = SQLITE_OK;

	for (size_t i = 0; i < CLEAT_COUNT(names) && rc == SQLITE_OK; i++) {
		sqlite3 *plain = NULL;

		rc = lib->sqlite3_open_v2(":memory:", &plain,
					  SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
		if (rc != SQLITE_OK) {
			lib->sqlite3_close_v2(plain);
			break;
		}
		lib->sqlite3_limit(plain, SQLITE_LIMIT_LENGTH, VALUE_MOST);
		/* When this fails it closes the connection itself. */
		rc = lib->sqlite3_create_function_v2(
			db, names[i], -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
			plain, do_format, NULL, NULL, close_plain);
	}
	return rc;
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
	return rc == SQLITE_OK ? add_formats(lib, db) : rc;
}
