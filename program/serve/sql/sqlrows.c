/* program/serve/sql/sqlrows.c - runs one statement and makes JSON of its rows. */
#include "serve/sql/sqlrows.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "request/reply.h"
#include "json/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 212, VALUES_MAX = 4000000 };

#define ROWS_PROPERTIES                                                                            \
	"\"columns\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"                        \
	"\"rows\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},"                           \
	"\"truncated\":{\"type\":\"boolean\",\"description\":\"There are more rows\"},"            \
	"\"note\":{\"type\":\"string\"}"

const char sqlrows_schema[] = "{\"type\":\"object\",\"properties\":{" ROWS_PROPERTIES
			      "},\"required\":[\"columns\",\"rows\",\"truncated\"]}";
const char sqlrows_change_schema[] =
	"{\"type\":\"object\",\"properties\":{\"changes\":{\"type\":\"integer\",\"description\":\"Rows "
	"that were changed\"},\"last_insert_rowid\":{\"type\":\"integer\"}," ROWS_PROPERTIES
	"},\"required\":[\"columns\",\"rows\",\"truncated\"]}";

/* ---- one statement -------------------------------------------------------------------------- */

/* Is there nothing in it but blanks, comments and semicolons? */
static bool nothing_left(const char *p, const char *end)
{
	while (p < end) {
		const char *stop;

		if (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n' || *p == ';' ||
		    *p == '\f') {
			p++;
		} else if (end - p >= 2 && memcmp(p, "--", 2) == 0) {
			stop = memchr(p, '\n', (size_t)(end - p));
			p = stop ? stop + 1 : end;
		} else if (end - p >= 2 && memcmp(p, "/*", 2) == 0) {
			for (p += 2; end - p >= 2 && memcmp(p, "*/", 2) != 0; p++)
				;
			p = end - p >= 2 ? p + 2 : end;
		} else {
			return false;
		}
	}
	return true;
}

/* NULL with the reason in `why`. */
static sqlite3_stmt *sqlrows_prepare(struct sqlconn *c, const char *sql, size_t n, bool write,
				     char *why, size_t room)
{
	sqlite3_stmt *stmt = NULL;
	const char *tail = sql;
	int rc;

	if (memchr(sql, '\0', n) || n > INT32_MAX) {
		snprintf(why, room, "it has a NUL character");
		return NULL;
	}
	rc = c->lib.sqlite3_prepare_v3(c->db, sql, (int)n, 0, &stmt, &tail);
	if (rc != SQLITE_OK)
		sqlconn_reason(c, rc, why, room);
	else if (!stmt)
		snprintf(why, room, "there is no statement in it");
	else if (!nothing_left(tail, sql + n))
		snprintf(why, room, "one statement at a time");
	else if (!write && !c->lib.sqlite3_stmt_readonly(stmt))
		snprintf(why, room, "it would change the database, which is read-only here");
	else
		return stmt;
	c->lib.sqlite3_finalize(stmt);
	return NULL;
}

int sqlrows_check(struct sqlconn *c, const char *sql, size_t n, bool write, cleat_error *err)
{
	char why[200];
	sqlite3_stmt *stmt = sqlrows_prepare(c, sql, n, write, why, sizeof why);

	if (!stmt)
		return error_set(err, CLEAT_EINVAL, "%s", why);
	c->lib.sqlite3_finalize(stmt);
	return CLEAT_OK;
}

bool sqlrows_params(struct sqlconn *c, const char *sql, size_t n,
		    void (*fn)(void *ctx, const char *name), void *ctx)
{
	char why[200];
	sqlite3_stmt *stmt = sqlrows_prepare(c, sql, n, true, why, sizeof why);

	if (!stmt)
		return false;
	for (int i = 1; i <= c->lib.sqlite3_bind_parameter_count(stmt); i++) {
		const char *name = c->lib.sqlite3_bind_parameter_name(stmt, i);

		fn(ctx, name && *name != '?' ? name + 1 : NULL);
	}
	c->lib.sqlite3_finalize(stmt);
	return true;
}

/* ---- values --------------------------------------------------------------------------------- */

/* One run of a statement. */
struct query_run {
	struct sqlconn *c;
	sqlite3_stmt *stmt;
	const struct sqlrows_options *o;
	struct buf text;
	struct jw w;
	char (*names)[NAME_MAX_BYTES]; /* of the columns */
	int n;
	size_t rows;
	bool truncated;
	char why[200]; /* "" as long as all is well */
};

static int bind_value(struct query_run *r, int at, const cleat_json *v)
{
	const struct sqlite *k = &r->c->lib;
	const char *s;
	char *json;
	size_t n;
	int rc;

	switch (cleat_json_type(v)) {
	case CLEAT_JSON_BOOL: return k->sqlite3_bind_int64(r->stmt, at, cleat_json_bool(v, false));
	case CLEAT_JSON_NUMBER:
		/* An integer beyond 64 bits is the nearest real, as SQLite reads it itself. */
		if (cleat_json_int(v, 0) == cleat_json_int(v, 1))
			return k->sqlite3_bind_int64(r->stmt, at, cleat_json_int(v, 0));
		return k->sqlite3_bind_double(r->stmt, at, cleat_json_num(v, 0));
	case CLEAT_JSON_STRING:
		s = cleat_json_strn(v, &n);
		if (n > INT32_MAX)
			return SQLITE_TOOBIG;
		return k->sqlite3_bind_text(r->stmt, at, s, (int)n, SQLITE_STATIC);
	case CLEAT_JSON_ARRAY:
	case CLEAT_JSON_OBJECT:
		json = cleat_json_print(v, &n);
		if (!json || n > INT32_MAX) {
			free(json);
			return SQLITE_NOMEM;
		}
		rc = k->sqlite3_bind_text(r->stmt, at, json, (int)n, SQLITE_TRANSIENT);
		free(json);
		return rc;
	default: return k->sqlite3_bind_null(r->stmt, at);
	}
}

static const cleat_json *value_of(const struct query_run *r, int at, const char *name)
{
	const cleat_json *params = r->o->params;

	if (cleat_json_type(params) == CLEAT_JSON_OBJECT)
		return name && *name != '?' ? cleat_json_get(params, name + 1) : NULL;
	return cleat_json_at(params, (size_t)at - 1);
}

static bool has_param(const struct query_run *r, const char *name)
{
	char full[300];

	for (const char *sign = ":@$"; *sign && strlen(name) < sizeof full - 2; sign++) {
		snprintf(full, sizeof full, "%c%s", *sign, name);
		if (r->c->lib.sqlite3_bind_parameter_index(r->stmt, full))
			return true;
	}
	return false;
}

/* A value that the statement has no place for is a mistake that would go unnoticed. */
static void check_extra(struct query_run *r, int count)
{
	const cleat_json *params = r->o->params;
	cleat_json_iter it = cleat_json_each(params);

	if (r->o->lenient)
		return;
	if (cleat_json_type(params) == CLEAT_JSON_ARRAY && cleat_json_size(params) > (size_t)count)
		snprintf(r->why, sizeof r->why, "it has %d parameters, but %zu values were given",
			 count, cleat_json_size(params));
	if (cleat_json_type(params) != CLEAT_JSON_OBJECT)
		return;
	if (cleat_json_size(params) > (size_t)count && count == 0)
		snprintf(r->why, sizeof r->why, "it has no parameters, but values were given");
	while (!*r->why && cleat_json_next(&it))
		if (!has_param(r, cleat_json_str(it.key, "")))
			snprintf(r->why, sizeof r->why, "it has no parameter :%.60s",
				 cleat_json_str(it.key, ""));
}

static bool bind_all(struct query_run *r)
{
	int count = r->c->lib.sqlite3_bind_parameter_count(r->stmt);

	check_extra(r, count);
	for (int i = 1; i <= count && !*r->why; i++) {
		const char *name = r->c->lib.sqlite3_bind_parameter_name(r->stmt, i);
		const cleat_json *v = value_of(r, i, name);
		int rc;

		if (!v && !r->o->lenient && name && *name != '?')
			snprintf(r->why, sizeof r->why, "params: there is no value for %.60s",
				 name);
		else if (!v && !r->o->lenient)
			snprintf(r->why, sizeof r->why,
				 "params: there is no value for parameter %d", i);
		else if ((rc = bind_value(r, i, v)) != SQLITE_OK)
			sqlconn_reason(r->c, rc, r->why, sizeof r->why);
	}
	return !*r->why;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static bool is_name_taken(const struct query_run *r, int before, const char *name)
{
	for (int i = 0; i < before; i++)
		if (strcmp(r->names[i], name) == 0)
			return true;
	return false;
}

/* The columns' names, once for all rows. One that was there before gets a number: no two are the same. */
static bool name_columns(struct query_run *r)
{
	const struct sqlite *k = &r->c->lib;

	r->n = k->sqlite3_column_count(r->stmt);
	r->names = mem_alloc(&r->text.mem, ((size_t)r->n + 1) * sizeof *r->names);
	for (int i = 0; i < r->n && r->names; i++) {
		const char *name = k->sqlite3_column_name(r->stmt, i);
		char *to = r->names[i];
		size_t n;

		snprintf(to, NAME_MAX_BYTES - 12, "%s", name ? name : "");
		n = utf8_valid_prefix(str_of(to));
		to[n] = '\0';
		for (unsigned number = 2; is_name_taken(r, i, to); number++)
			snprintf(to + n, NAME_MAX_BYTES - n, "_%u", number);
	}
	return r->names != NULL;
}

static void put_columns(struct query_run *r)
{
	jw_key(&r->w, "columns");
	jw_arr(&r->w);
	for (int i = 0; i < r->n; i++)
		jw_strz(&r->w, r->names[i]);
	jw_arr_end(&r->w);
}

static void put_value(struct query_run *r, int i)
{
	const struct sqlite *k = &r->c->lib;
	const void *p;

	switch (k->sqlite3_column_type(r->stmt, i)) {
	case SQLITE_INTEGER: jw_int(&r->w, k->sqlite3_column_int64(r->stmt, i)); return;
	case SQLITE_FLOAT: jw_real(&r->w, k->sqlite3_column_double(r->stmt, i)); return;
	case SQLITE_TEXT:
		p = k->sqlite3_column_text(r->stmt, i);
		jw_str(&r->w, (struct str){ p, (size_t)k->sqlite3_column_bytes(r->stmt, i) });
		return;
	case SQLITE_BLOB:
		p = k->sqlite3_column_blob(r->stmt, i);
		jw_obj(&r->w);
		jw_key(&r->w, "base64");
		jw_base64(&r->w, p ? p : "", (size_t)k->sqlite3_column_bytes(r->stmt, i));
		jw_obj_end(&r->w);
		return;
	default: jw_null(&r->w);
	}
}

static void put_row(struct query_run *r)
{
	jw_obj(&r->w);
	for (int i = 0; i < r->n; i++) {
		jw_keyn(&r->w, str_of(r->names[i]));
		put_value(r, i);
	}
	jw_obj_end(&r->w);
}

/* Adds rows until there are no more, or no room. False: r->why. */
static bool put_rows(struct query_run *r)
{
	bool changes = !r->c->lib.sqlite3_stmt_readonly(r->stmt);
	int rc;

	jw_key(&r->w, "rows");
	jw_arr(&r->w);
	while ((rc = r->c->lib.sqlite3_step(r->stmt)) == SQLITE_ROW) {
		size_t before = buf_size(&r->text);
		bool comma = r->w.comma;

		if (r->truncated) /* a change has to be carried through to its end */
			continue;
		if (r->rows < r->o->max_rows)
			put_row(r);
		if (r->rows == r->o->max_rows || buf_size(&r->text) > r->o->output_max ||
		    buf_status(&r->text) == CLEAT_ELIMIT) {
			buf_truncate(&r->text, before);
			r->w.comma = comma;
			r->truncated = true;
			if (!changes)
				break;
			continue;
		}
		r->rows++;
	}
	jw_arr_end(&r->w);
	if (rc != SQLITE_DONE && rc != SQLITE_ROW)
		sqlconn_reason(r->c, rc, r->why, sizeof r->why);
	return !*r->why;
}

static void put_ending(struct query_run *r)
{
	const struct sqlite *k = &r->c->lib;

	jw_kv_bool(&r->w, "truncated", r->truncated);
	if (r->truncated) {
		char note[120];

		if (r->rows)
			snprintf(note, sizeof note,
				 "Only the first %zu rows are shown; LIMIT and OFFSET give others.",
				 r->rows);
		else
			snprintf(
				note, sizeof note,
				"The first row alone is longer than an answer may be; ask for less "
				"of it, with substr() for example.");
		jw_kv_str(&r->w, "note", note);
	}
	if (r->o->write && !k->sqlite3_stmt_readonly(r->stmt)) {
		jw_kv_int(&r->w, "changes", k->sqlite3_changes(r->c->db));
		jw_kv_int(&r->w, "last_insert_rowid", k->sqlite3_last_insert_rowid(r->c->db));
	}
	jw_obj_end(&r->w);
}

static int reply(cleat_request *req, struct query_run *r)
{
	if (buf_status(&r->text) != CLEAT_OK)
		return buf_status(&r->text);
	if (r->rows * (2 * (size_t)r->n + 1) > VALUES_MAX)
		return cleat_reply_error(req, "too many values; ask for less");
	return reply_json_text(req, buf_str(&r->text));
}

static int run_statement(cleat_request *req, struct query_run *r)
{
	bool good;

	if (!name_columns(r))
		return CLEAT_ENOMEM;
	jw_init(&r->w, &r->text);
	jw_obj(&r->w);
	put_columns(r);
	good = put_rows(r);
	if (good)
		put_ending(r);
	return good ? reply(req, r) : cleat_reply_error(req, "SQL: %s", r->why);
}

int sqlrows_reply(cleat_request *req, struct sqldb *db, const struct sqlrows_options *o)
{
	struct query_run r = { .o = o };
	cleat_error err = { 0 };
	int status;

	buf_init(&r.text, NULL, o->output_max + (1 << 20));
	r.c = sqldb_take(db, o->write, req, o->timeout_ms, &err);
	if (!r.c)
		return err.status == CLEAT_ENOMEM ? CLEAT_ENOMEM
						  : cleat_reply_error(req, "%s", err.message);
	r.stmt = sqlrows_prepare(r.c, o->sql, o->n, o->write, r.why, sizeof r.why);
	if (!r.stmt || !bind_all(&r))
		status = cleat_reply_error(req, "SQL: %s", r.why);
	else
		status = run_statement(req, &r);
	mem_free(&r.text.mem, r.names);
	buf_done(&r.text);
	r.c->lib.sqlite3_finalize(r.stmt);
	sqldb_give(db, r.c);
	return status;
}
