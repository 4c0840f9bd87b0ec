/* program/serve/sql/database.c - a SQLite database: a query tool, and its schema as resources.
 *
 *	"databases": { "shop": { "file": "shop.db" } }
 *
 * gives the tool query (several databases: shop_query), the resource sqlite://shop/schema, a template for
 * its tables, and, with "write", the tool execute. Everything that a client can reach goes through
 * connections that can do no harm (sqldb.h). Work is done on worker threads.
 */
#include "serve/sql/database.h"

#include "base/mem.h"
#include "serve/kit/tool.h"
#include "serve/sql/source.h"
#include "serve/sql/sqlrows.h"
#include "json/writer.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ROWS_DEFAULT = 1000, SCHEMA_MAX = 1 << 20, TIMEOUT_MS = 5000 };

/* ---- configuration -------------------------------------------------------------------------- */

static const cleat_json *find_node(struct draft *b, const char *name)
{
	for (size_t i = 0; conf_root(b->conf, i); i++) {
		const cleat_json *all = cleat_json_get(conf_root(b->conf, i), "databases");
		const cleat_json *node = cleat_json_get(all, name);

		if (node)
			return node;
	}
	return NULL;
}

static size_t count_databases(struct draft *b)
{
	size_t n = 0;

	for (size_t i = 0; conf_root(b->conf, i); i++)
		n += cleat_json_size(cleat_json_get(conf_root(b->conf, i), "databases"));
	return n;
}

static const char *nearest_name(struct draft *b, const char *name)
{
	struct str_nearest near = { .wanted = str_of(name) };

	for (size_t i = 0; conf_root(b->conf, i); i++) {
		cleat_json_iter it =
			cleat_json_each(cleat_json_get(conf_root(b->conf, i), "databases"));

		while (cleat_json_next(&it))
			str_nearest_offer(&near, str_of(cleat_json_str(it.key, "")));
	}
	return near.best.p;
}

/* Can the file be made where it is to be? Said now, not at the first call. */
static void check_place(struct draft *b, const cleat_json *at, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *directory;

	if (access(path, F_OK) == 0 || !slash)
		return;
	directory = arena_strndup(conf_arena(b->conf), path, (size_t)(slash - path) + 1);
	if (directory && access(directory, W_OK | X_OK) != 0)
		conf_problem(b->conf, at,
			     "%s is not there, and cannot be made: no permission to "
			     "write to %s (or no such directory)",
			     path, directory);
}

struct database_spec database_find(struct draft *b, const cleat_json *at, const char *name)
{
	const cleat_json *node = find_node(b, name);
	struct database_spec s = { .node = node };
	struct tool_limits limits;
	struct sqldb_options o = { 0 };
	struct str init = { 0 };
	cleat_error err = { 0 };

	if (!node) {
		const char *near = nearest_name(b, name);

		conf_problem(b->conf, at, "there is no database \"%s\" in \"databases\"%s%s%s",
			     name, near ? ", did you mean \"" : "", near ? near : "",
			     near ? "\"?" : "");
		return s;
	}
	limits = tool_limits(b, node);
	s.write = o.write = cleat_json_bool(cleat_json_get(node, "write"), false);
	s.max_rows = (size_t)cleat_json_uint(cleat_json_get(node, "max_rows"), ROWS_DEFAULT);
	s.output_max = limits.output_max;
	s.timeout_ms = conf_timeout(b->conf, cleat_json_get(node, "timeout"), TIMEOUT_MS);
	o.path = conf_path_at(b->conf, cleat_json_get(node, "file"));
	if (!o.path)
		return s;
	if (cleat_json_get(node, "init")) {
		const char *file = conf_path_at(b->conf, cleat_json_get(node, "init"));

		if (!file || !draft_read(b, cleat_json_get(node, "init"), file, SCHEMA_MAX, &init))
			return s;
		o.init = init.p;
	}
	o.look = b->rt->check;
	if (o.write || o.init)
		check_place(b, cleat_json_get(node, "file"), o.path);
	s.db = sqldb_get(&b->rt->mem, &o, &err);
	if (!s.db)
		conf_problem(b->conf, node, "%s", err.message);
	return s;
}

/* ---- what the entries share ----------------------------------------------------------------- */

struct database {
	cleat_allocator mem;
	atomic_uint refs;
	struct sqldb *db;
	char *name;
	size_t max_rows, output_max;
	uint64_t timeout_ms;
};

static void database_unref(void *p)
{
	struct database *d = p;

	if (!d || atomic_fetch_sub(&d->refs, 1) != 1)
		return;
	sqldb_unref(d->db);
	mem_free(&d->mem, d->name);
	mem_free(&d->mem, d);
}

static struct database *database_ref(struct database *d)
{
	atomic_fetch_add(&d->refs, 1);
	return d;
}

static struct database *database_new(struct draft *b, const char *name,
				     const struct database_spec *s)
{
	struct database *d = mem_zalloc(&b->rt->mem, sizeof *d);

	if (!d) {
		sqldb_unref(s->db);
		return NULL;
	}
	d->mem = b->rt->mem;
	atomic_init(&d->refs, 1);
	d->db = s->db;
	d->name = mem_strdup(&d->mem, name);
	d->max_rows = s->max_rows;
	d->output_max = s->output_max;
	d->timeout_ms = s->timeout_ms;
	if (d->name)
		return d;
	database_unref(d);
	return NULL;
}

/* ---- tools ---------------------------------------------------------------------------------- */

static int run_sql(cleat_request *req, bool write)
{
	const struct database *d = cleat_request_userdata(req);
	struct sqlrows_options o = { .params = cleat_arg(req, "params"),
				     .write = write,
				     .max_rows = d->max_rows,
				     .output_max = d->output_max,
				     .timeout_ms = d->timeout_ms };
	int64_t limit = cleat_arg_int(req, "limit");

	o.sql = cleat_json_strn(cleat_arg(req, "sql"), &o.n);
	if (limit > 0 && (uint64_t)limit < o.max_rows)
		o.max_rows = (size_t)limit;
	return sqlrows_reply(req, d->db, &o);
}

static int query(cleat_request *req)
{
	return run_sql(req, false);
}

static int execute(cleat_request *req)
{
	return run_sql(req, true);
}

/* params: an array for ?, an object for :name. */
static const char *input_schema(struct draft *b, bool write, size_t max_rows)
{
	return arena_printf(
		conf_arena(b->conf),
		"{\"type\":\"object\",\"properties\":{\"sql\":{\"type\":\"string\",\"minLength\":1,"
		"\"description\":\"One statement of SQLite's SQL%s; values as ? or :name\"},"
		"\"params\":{\"type\":[\"array\",\"object\"],\"description\":\"Values: a list for ?, an "
		"object for :name\"},\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":%zu,"
		"\"default\":%zu,\"description\":\"Most rows to give\"}},\"required\":[\"sql\"],"
		"\"additionalProperties\":false}",
		write ? " that may change data" : "", max_rows, max_rows < 100 ? max_rows : 100);
}

static void add_tool(struct draft *b, const cleat_json *node, const char *recipe,
		     struct database *d, const char *prefix, bool write)
{
	const char *about = conf_shown(b->conf, cleat_json_get(node, "description"), NULL);
	struct arena *ar = conf_arena(b->conf);
	cleat_tool t = { .call = write ? execute : query,
			 .read_only = write ? CLEAT_NO : CLEAT_YES,
			 .destructive = write ? CLEAT_YES : CLEAT_UNSET,
			 .open_world = CLEAT_NO,
			 .output_schema = write ? sqlrows_change_schema : sqlrows_schema,
			 .input_schema = input_schema(b, write, d->max_rows),
			 .blocking = true,
			 .userdata = database_ref(d),
			 .destroy = database_unref };

	t.name = arena_printf(ar, "%s%s", prefix, write ? "execute" : "query");
	if (t.name)
		sqldb_set_tool(d->db, t.name);
	t.description = arena_printf(
		ar, "%s of the SQLite database \"%s\"%s%s%s sqlite://%s/schema has its tables.",
		write ? "Runs one SQL statement that may change the data"
		      : "Runs one SQL query (read-only) on the data",
		d->name, about ? ": " : ".", about ? about : "",
		about && *about && about[strlen(about) - 1] != '.' ? "." : "", d->name);
	draft_tool(b, node, recipe, &t);
}

/* ---- resources ------------------------------------------------------------------------------ */

static const char schema_sql[] =
	"SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
	"ORDER BY CASE type WHEN 'table' THEN 0 WHEN 'view' THEN 1 WHEN 'index' THEN 2 ELSE 3 END, name";
static const char tables_sql[] =
	"SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' "
	"ESCAPE '\\' ORDER BY name";

/* Calls fn for the first column of each row, until it says no. SQLITE_OK, SQLITE_DONE, or an error. */
static int each_text(struct sqlconn *c, const char *sql, const char *bound,
		     bool (*fn)(void *ctx, const char *text), void *ctx)
{
	sqlite3_stmt *stmt = NULL;
	int rc = c->lib.sqlite3_prepare_v3(c->db, sql, -1, 0, &stmt, NULL);

	if (rc == SQLITE_OK && bound)
		rc = c->lib.sqlite3_bind_text(stmt, 1, bound, -1, SQLITE_STATIC);
	while (rc == SQLITE_OK || rc == SQLITE_ROW) {
		const unsigned char *text;

		rc = c->lib.sqlite3_step(stmt);
		if (rc != SQLITE_ROW)
			break;
		text = c->lib.sqlite3_column_text(stmt, 0);
		if (text && !fn(ctx, (const char *)text))
			break;
	}
	c->lib.sqlite3_finalize(stmt);
	return rc;
}

static int sql_failed(cleat_request *req, const struct sqlconn *c, int rc)
{
	char why[200];

	sqlconn_reason(c, rc, why, sizeof why);
	return cleat_reply_reject(req, CLEAT_RPC_INTERNAL_ERROR, "SQL: %s", why);
}

static int too_large(cleat_request *req, const struct buf *out)
{
	if (buf_status(out) == CLEAT_ENOMEM)
		return CLEAT_ENOMEM;
	return cleat_reply_reject(req, CLEAT_RPC_INTERNAL_ERROR,
				  "more than %d bytes; ask sqlite_schema with a query instead",
				  SCHEMA_MAX);
}

static struct sqlconn *database_take(cleat_request *req, const struct database *d, int *ret_status)
{
	cleat_error err = { 0 };
	struct sqlconn *c = sqldb_take(d->db, false, req, d->timeout_ms, &err);

	if (!c)
		*ret_status = cleat_reply_reject(req, CLEAT_RPC_INTERNAL_ERROR, "%s", err.message);
	return c;
}

static bool add_sql(void *ctx, const char *text)
{
	struct buf *out = ctx;

	buf_appendz(out, text);
	buf_appendz(out, ";\n");
	return buf_status(out) == CLEAT_OK;
}

/* Replies with what `add` makes of the rows of a statement (its parameter: `value`); `none` where that is nothing. */
static int reply_rows(cleat_request *req, const char *sql, const char *value,
		      bool (*add)(void *ctx, const char *text), int (*none)(cleat_request *req))
{
	const struct database *d = cleat_request_userdata(req);
	int status = CLEAT_OK, rc;
	struct sqlconn *c = database_take(req, d, &status);
	struct buf out;

	if (!c)
		return status;
	buf_init(&out, NULL, SCHEMA_MAX);
	rc = each_text(c, sql, value, add, &out);
	if (rc != SQLITE_DONE && rc != SQLITE_ROW)
		status = sql_failed(req, c, rc);
	else if (buf_status(&out) != CLEAT_OK)
		status = too_large(req, &out);
	else if (buf_size(&out))
		status = cleat_reply_textn(req, buf_str(&out).p, buf_size(&out));
	else
		status = none(req);
	buf_done(&out);
	sqldb_give(d->db, c);
	return status;
}

static int no_tables(cleat_request *req)
{
	return cleat_reply_text(req, "-- no tables\n");
}

static int read_schema(cleat_request *req)
{
	return reply_rows(req, schema_sql, NULL, add_sql, no_tables);
}

/* One value of JSON text: what SQLite's own JSON functions make of a table. */
static const char table_sql[] =
	"SELECT json_object('table', s.name, 'type', s.type, 'sql', s.sql, 'columns', (SELECT "
	"json_group_array(json_object('name', i.name, 'type', i.type, 'required', json(iif(i.\"notnull\", "
	"'true', 'false')), 'default', i.dflt_value, 'primary_key', json(iif(i.pk, 'true', 'false')))) FROM "
	"pragma_table_info(s.name) i), 'foreign_keys', (SELECT json_group_array(json_object('from', "
	"f.\"from\", 'table', f.\"table\", 'to', f.\"to\")) FROM pragma_foreign_key_list(s.name) f), "
	"'indexes', (SELECT json_group_array(json_object('name', x.name, 'unique', json(iif(x.\"unique\", "
	"'true', 'false')))) FROM pragma_index_list(s.name) x)) FROM sqlite_schema s WHERE s.name = ?1 AND "
	"s.type IN ('table', 'view')";

static bool add_table(void *ctx, const char *text)
{
	struct buf *out = ctx;

	buf_appendz(out, text);
	return false;
}

static int read_table(cleat_request *req)
{
	return reply_rows(req, table_sql, cleat_request_var(req, "table"), add_table,
			  cleat_reply_not_found);
}

static bool suggest(void *ctx, const char *text)
{
	cleat_request *req = ctx;
	const char *typed = cleat_request_typed(req);

	if (strncmp(text, typed, strlen(typed)) == 0)
		cleat_reply_suggest(req, text);
	return true;
}

static int complete_table(cleat_request *req)
{
	const struct database *d = cleat_request_userdata(req);
	int status = CLEAT_OK;
	struct sqlconn *c = database_take(req, d, &status);

	if (!c)
		return status;
	each_text(c, tables_sql, NULL, suggest, req);
	sqldb_give(d->db, c);
	return CLEAT_OK;
}

static void add_resource(struct draft *b, const cleat_json *node, const char *recipe,
			 struct database *d, cleat_resource r)
{
	r.blocking = true;
	r.userdata = database_ref(d);
	r.destroy = database_unref;
	draft_resource(b, node, recipe, &r);
}

/* ---- the source ----------------------------------------------------------------------------- */

/* Is it a database, and does it have tables to speak of? The tables themselves are not listed one by one:
 * they may change at any time; the template completes their names. */
static bool try_it(struct draft *b, const cleat_json *node, const struct database *d)
{
	cleat_error err = { 0 };
	struct sqlconn *c = sqldb_trial(d->db, &err);

	if (c) {
		sqldb_give(d->db, c);
		return true;
	}
	if (err.status == CLEAT_EUNSUPPORTED) {
		draft_say(b, CLEAT_LOG_NOTICE, "%s: %s",
			  conf_where(b->conf, cleat_json_get(node, "init")), err.message);
		return true;
	}
	conf_problem(b->conf, cleat_json_get(node, "file"), "%s", err.message);
	return false;
}

static const char *prefix_of(struct draft *b, const char *name, const cleat_json *node)
{
	const cleat_json *prefix = cleat_json_get(node, "prefix");

	if (prefix)
		return conf_text(b->conf, prefix, "");
	return count_databases(b) == 1 ? "" : arena_printf(conf_arena(b->conf), "%s_", name);
}

static void add_all(struct draft *b, const char *name, const cleat_json *node, struct database *d,
		    bool write)
{
	struct arena *ar = conf_arena(b->conf);
	const char *prefix = prefix_of(b, name, node);
	const char *recipe = arena_printf(ar, "%s %s", prefix, draft_recipe(b, node));

	if (cleat_json_bool(cleat_json_get(node, "query"), true))
		add_tool(b, node, recipe, d, prefix, false);
	if (write)
		add_tool(b, node, recipe, d, prefix, true);
	if (!cleat_json_bool(cleat_json_get(node, "resources"), true))
		return;
	add_resource(b, node, recipe, d,
		     (cleat_resource){ .uri = arena_printf(ar, "sqlite://%s/schema", name),
				       .name = arena_printf(ar, "%s schema", name),
				       .description = "All tables, views and indexes, as SQL",
				       .mime_type = "application/sql",
				       .read = read_schema });
	add_resource(b, node, recipe, d,
		     (cleat_resource){ .uri = arena_printf(ar, "sqlite://%s/tables/{table}", name),
				       .name = arena_printf(ar, "%s table", name),
				       .description = "Columns, keys and indexes of a table",
				       .mime_type = "application/json",
				       .read = read_table,
				       .complete = complete_table });
}

/* It stands in addresses and in names of tools. */
static bool is_name(const char *name)
{
	return *name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "0123456789_-.")];
}

void source_database(struct draft *b, const char *name, const cleat_json *node)
{
	struct database_spec s = database_find(b, node, name);
	struct database *d;

	if (!s.db)
		return;
	if (!is_name(name)) {
		conf_problem(b->conf, node,
			     "expected a name of letters (a to z), digits, \"_\", \"-\" and \".\"");
		sqldb_unref(s.db);
		return;
	}
	d = database_new(b, name, &s);
	if (!d) {
		conf_problem(b->conf, node, "out of memory");
		return;
	}
	if (try_it(b, node, d))
		add_all(b, name, node, d, s.write);
	database_unref(d);
}
