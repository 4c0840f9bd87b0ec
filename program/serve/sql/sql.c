/* program/serve/sql/sql.c - a tool that is one SQL statement: its arguments are the statement's parameters.
 *
 *	"orders_of": { "args": "customer: string", "sql": { "database": "shop",
 *		"query": "SELECT * FROM orders WHERE customer = :customer" } }
 *
 * The statement is compiled when the configuration is read, so that a mistake is found then, and its
 * parameters are compared with the arguments. An argument that is not given is NULL.
 */
#include "base/mem.h"
#include "serve/argument/inquiry.h"
#include "serve/kit/tool.h"
#include "serve/sql/database.h"
#include "serve/sql/source.h"
#include "serve/sql/sqlrows.h"

#include <stdio.h>
#include <string.h>

struct statement {
	cleat_allocator mem;
	struct sqldb *db;
	struct inquiry *question;
	char *sql;
	bool write;
	size_t max_rows, output_max;
	uint64_t timeout_ms;
};

static void statement_free(void *p)
{
	struct statement *s = p;

	if (!s)
		return;
	inquiry_free(s->question);
	sqldb_unref(s->db);
	mem_free(&s->mem, s->sql);
	mem_free(&s->mem, s);
}

static int call(cleat_request *req)
{
	const struct statement *s = cleat_request_userdata(req);
	struct sqlrows_options o = { .sql = s->sql,
				     .n = strlen(s->sql),
				     .lenient = true,
				     .write = s->write,
				     .max_rows = s->max_rows,
				     .output_max = s->output_max,
				     .timeout_ms = s->timeout_ms };
	int status = inquiry_ask(s->question, req, &o.params);

	return status == CLEAT_OK && o.params ? sqlrows_reply(req, s->db, &o) : status;
}

/* ---- checking ------------------------------------------------------------------------------- */

struct params {
	struct draft *b;
	const cleat_json *at;
	const cleat_json *properties;
};

static void check_param(void *ctx, const char *name)
{
	struct params *p = ctx;
	struct str_nearest near = { .wanted = str_of(name) };
	cleat_json_iter it = cleat_json_each(p->properties);

	if (!name) {
		conf_problem(p->b->conf, p->at, "parameters need names: write :name instead of ?");
		return;
	}
	if (cleat_json_get(p->properties, name))
		return;
	while (cleat_json_next(&it))
		str_nearest_offer(&near, str_of(cleat_json_str(it.key, "")));
	if (near.best.p)
		conf_problem(p->b->conf, p->at,
			     "parameter :%s is not an argument of the tool; did you mean :%.*s?",
			     name, STR_ARGS(near.best));
	else
		conf_problem(p->b->conf, p->at, "parameter :%s is not an argument of the tool",
			     name);
}

static bool sql_check(struct draft *b, const cleat_json *at, const struct statement *s,
		      const cleat_json *arguments)
{
	struct params p = { b, at, cleat_json_get(arguments, "properties") };
	size_t before = conf_problems(b->conf);
	cleat_error err = { 0 };
	struct sqlconn *c = sqldb_trial(s->db, &err);

	if (!c && err.status == CLEAT_EUNSUPPORTED) /* said there, too */
		return true;
	if (!c && !before) /* otherwise it was said where the database is */
		conf_problem(b->conf, at, "%s", err.message);
	if (!c)
		return false;
	if (sqlrows_check(c, s->sql, strlen(s->sql), s->write, &err) != CLEAT_OK)
		conf_problem(b->conf, at, "%s", err.message);
	else
		sqlrows_params(c, s->sql, strlen(s->sql), check_param, &p);
	sqldb_give(s->db, c);
	return conf_problems(b->conf) == before;
}

/* ---- the source ----------------------------------------------------------------------------- */

static struct statement *statement_new(struct draft *b, const cleat_json *node,
				       const struct database_spec *from)
{
	const cleat_json *sql = cleat_json_get(node, "sql");
	struct statement *s = mem_zalloc(&b->rt->mem, sizeof *s);

	if (!s) {
		sqldb_unref(from->db);
		return NULL;
	}
	s->mem = b->rt->mem;
	s->db = from->db;
	s->write = from->write;
	s->max_rows = (size_t)cleat_json_uint(cleat_json_get(sql, "max_rows"), from->max_rows);
	s->output_max = tool_limits(b, node).output_max;
	s->timeout_ms = cleat_json_get(node, "timeout") ? tool_limits(b, node).timeout_ms
							: from->timeout_ms;
	s->sql = mem_strdup(&s->mem, conf_raw(cleat_json_get(sql, "query"), ""));
	if (s->sql)
		return s;
	statement_free(s);
	return NULL;
}

/* What the statement does not change, models may call without asking. */
static void hint(const struct statement *s, const cleat_json *node, cleat_tool *t)
{
	cleat_error err;
	struct sqlconn *c = cleat_json_get(node, "hints") ? NULL : sqldb_trial(s->db, &err);

	if (!c)
		return;
	if (sqlrows_check(c, s->sql, strlen(s->sql), false, &err) == CLEAT_OK)
		t->read_only = CLEAT_YES;
	t->open_world = CLEAT_NO;
	sqldb_give(s->db, c);
}

void source_sql(struct draft *b, const char *name, const cleat_json *node)
{
	const cleat_json *sql = cleat_json_get(node, "sql");
	const cleat_json *database = cleat_json_get(sql, "database");
	struct database_spec from = database_find(b, database, cleat_json_str(database, ""));
	cleat_tool t = { 0 };
	struct statement *s;

	if (!from.db)
		return;
	s = statement_new(b, node, &from);
	if (!s) {
		conf_problem(b->conf, node, "out of memory");
		return;
	}
	if (!tool_describe(b, name, node, &t) ||
	    !sql_check(b, cleat_json_get(sql, "query"), s, tool_arguments(b, node, &t))) {
		statement_free(s);
		return;
	}
	s->question = inquiry_new(b, node, &t, true);
	hint(s, node, &t);
	if (!t.output_schema)
		t.output_schema = s->write ? sqlrows_change_schema : sqlrows_schema;
	t.call = call;
	t.blocking = true;
	t.userdata = s;
	t.destroy = statement_free;
	draft_tool(b, node,
		   arena_printf(conf_arena(b->conf), "%s %s", draft_recipe(b, node),
				draft_recipe(b, from.node)),
		   &t);
}
