/* test_serve_sqlrows.c - what a statement's values and rows become: a database behind a server, asked by a
 * client in the same process. And that the sources are right with little memory. */
#include "support.h"
#include "support_files.h"
#include "test.h"

#include "base/mem.h"
#include "serve/kit/set.h"
#include "serve/sql/source.h"
#include "json/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cleat/client.h>

static const char init[] = "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT);"
			   "INSERT INTO t (name) VALUES ('a'), ('b'), ('c');";

/* A configuration with one database and a tool, in force. */
struct rig {
	cleat_server *server;
	cleat_client *client;
	struct runtime rt;
	struct draft b;
};

static void build(struct rig *r, const cleat_allocator *mem, cleat_server *server)
{
	char text[1000];

	assert_non_null(server);
	r->server = server;
	r->rt = (struct runtime){ .mem = *mem,
				  .server = server,
				  .loop = cleat_server_loop(server) };
	r->b = (struct draft){ .conf = conf_new(NULL), .rt = &r->rt, .set = set_new(NULL) };
	assert_true(r->b.conf && r->b.set);
	snprintf(
		text, sizeof text,
		"{\"databases\":{\"db\":{\"file\":\"%s/db\",\"init\":\"%s/init.sql\",\"write\":true,"
		"\"max_rows\":5,\"timeout\":\"20s\"}},\"tools\":{\"by_name\":{\"args\":\"name: string = \\\"b\\\", "
		"other?: string\",\"sql\":{\"database\":\"db\",\"query\":\"SELECT id, :other AS other FROM t "
		"WHERE name = :name\"}}}}",
		scratch_dir, scratch_dir);
	conf_add_option(r->b.conf, "sh", "x(): true");
	scratch_put("serve.json", text);
	conf_add_file(r->b.conf, scratch_path("serve.json"));
	conf_ready(r->b.conf);
}

static const cleat_json *part(struct rig *r, const char *section, const char *name)
{
	for (size_t i = 0; conf_root(r->b.conf, i); i++) {
		const cleat_json *v =
			cleat_json_get(cleat_json_get(conf_root(r->b.conf, i), section), name);

		if (v)
			return v;
	}
	return NULL;
}

static void add(struct rig *r)
{
	source_database(&r->b, "db", part(r, "databases", "db"));
	source_sql(&r->b, "by_name", part(r, "tools", "by_name"));
}

static void start(struct rig *r)
{
	struct set_change change;

	build(r, &mem_default, cleat_server_new("t", "1", NULL));
	add(r);
	if (conf_problems(r->b.conf))
		fail_msg("%s", conf_problem_line(r->b.conf, 0));
	assert_int_equal(set_apply(r->b.set, NULL, r->server, &change), CLEAT_OK);
	r->client = cleat_client_inproc(r->server, NULL);
	assert_non_null(r->client);
}

static void stop(struct rig *r)
{
	conf_free(r->b.conf);
	cleat_client_free(r->client);
	cleat_server_free(r->server);
	set_free(r->b.set);
}

/* The result as JSON, or what the tool says is wrong. */
static char *ask(struct rig *r, const char *tool, const char *args)
{
	cleat_doc *doc = cleat_doc_parse(args, strlen(args), NULL, NULL, NULL);
	cleat_result *result;
	char *text;

	if (!doc)
		fail_msg("no JSON: %s", args);
	result = cleat_client_call(r->client, tool, cleat_doc_root(doc));
	if (cleat_result_json(result))
		text = cleat_json_print(cleat_result_json(result), NULL);
	else
		text = strdup(cleat_result_text(result));
	cleat_result_free(result);
	cleat_doc_free(doc);
	return text;
}

#define ROWS(columns, rows) "{\"columns\":[" columns "],\"rows\":[" rows "],\"truncated\":false}"

TEST(values_and_rows)
{
	static const struct {
		const char *tool, *args, *want;
	} table[] = {
		{ "query",
		  "{\"sql\":\"SELECT 1 AS i, -9223372036854775808 AS m, 1.5 AS r, 9e999 AS inf, NULL AS n, "
		  "'é\\\"' AS t, x'00ff' AS b, '' AS e, x'' AS z\"}",
		  ROWS("\"i\",\"m\",\"r\",\"inf\",\"n\",\"t\",\"b\",\"e\",\"z\"",
		       "{\"i\":1,\"m\":-9223372036854775808,\"r\":1.5,\"inf\":null,\"n\":null,\"t\":\"é\\\"\","
		       "\"b\":{\"base64\":\"AP8=\"},\"e\":\"\",\"z\":{\"base64\":\"\"}}") },
		/* text that is none */
		{ "query",
		  "{\"sql\":\"SELECT CAST(x'61ff62' AS TEXT) AS t, 'a' || char(0) || 'b' AS u\"}",
		  ROWS("\"t\",\"u\"", "{\"t\":\"a\xEF\xBF\xBD"
				      "b\",\"u\":\"a\\u0000b\"}") },
		/* no two columns of one name, whatever they are called */
		{ "query", "{\"sql\":\"SELECT 1 AS id, 2 AS id, 3 AS id_2, 4 AS id\"}",
		  ROWS("\"id\",\"id_2\",\"id_2_2\",\"id_3\"",
		       "{\"id\":1,\"id_2\":2,\"id_2_2\":3,\"id_3\":4}") },
		/* values are bound */
		{ "query",
		  "{\"sql\":\"SELECT typeof(?) AS a, typeof(?) AS b, typeof(?) AS c, typeof(?) AS d, ? AS e, ? AS f\","
		  "\"params\":[1,1.5,true,null,[1,{\"a\":2}],\"x' OR 1\"]}",
		  ROWS("\"a\",\"b\",\"c\",\"d\",\"e\",\"f\"",
		       "{\"a\":\"integer\",\"b\":\"real\",\"c\":\"integer\",\"d\":\"null\",\"e\":\"[1,{\\\"a\\\":2}]\","
		       "\"f\":\"x' OR 1\"}") },
		{ "query",
		  "{\"sql\":\"SELECT :a + @b + $c AS s\",\"params\":{\"a\":1,\"b\":2,\"c\":3}}",
		  ROWS("\"s\"", "{\"s\":6}") },
		{ "query", "{\"sql\":\"SELECT ? AS big\",\"params\":[18446744073709551616]}",
		  ROWS("\"big\"", "{\"big\":18446744073709552000}") },
		{ "query", "{\"sql\":\"SELECT :a\",\"params\":{\"b\":1}}",
		  "SQL: it has no parameter :b" },
		{ "query", "{\"sql\":\"SELECT :a\",\"params\":{}}",
		  "SQL: params: there is no value for :a" },
		{ "query", "{\"sql\":\"SELECT ?\"}",
		  "SQL: params: there is no value for parameter 1" },
		{ "query", "{\"sql\":\"SELECT ?\",\"params\":[1,2]}",
		  "SQL: it has 1 parameters, but 2 values were given" },
		{ "query", "{\"sql\":\"SELECT 1\",\"params\":{\"a\":1}}",
		  "SQL: it has no parameters, but values were given" },
		{ "query", "{\"sql\":\"SELECT ?1001\"}",
		  "SQL: variable number must be between ?1 and ?1000, at character 8" },
		{ "query", "{\"sql\":\"SELECT 1\\u0000\"}", "SQL: it has a NUL character" },
		/* limits */
		{ "query", "{\"sql\":\"SELECT id FROM t\",\"limit\":2}",
		  "{\"columns\":[\"id\"],\"rows\":[{\"id\":1},{\"id\":2}],\"truncated\":true,\"note\":\"Only the first "
		  "2 rows are shown; LIMIT and OFFSET give others.\"}" },
		/* a query that never ends stops at the limit, also where changes are allowed */
		{ "execute",
		  "{\"sql\":\"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n\","
		  "\"limit\":1}",
		  "{\"columns\":[\"i\"],\"rows\":[{\"i\":1}],\"truncated\":true,\"note\":\"Only the first 1 rows are "
		  "shown; LIMIT and OFFSET give others.\"}" },
		/* a change is carried through, however little of it is shown */
		{ "execute",
		  "{\"sql\":\"INSERT INTO t (name) VALUES ('x'), ('y'), ('z') RETURNING id\",\"limit\":1}",
		  "{\"columns\":[\"id\"],\"rows\":[{\"id\":4}],\"truncated\":true,\"note\":\"Only the first 1 rows are "
		  "shown; LIMIT and OFFSET give others.\",\"changes\":3,\"last_insert_rowid\":6}" },
		{ "query", "{\"sql\":\"SELECT count(*) AS n FROM t\"}",
		  ROWS("\"n\"", "{\"n\":6}") },
		/* a row that is longer than an answer: not "the first 0 rows" */
		{ "query", "{\"sql\":\"SELECT zeroblob(1500000) AS b\"}",
		  "{\"columns\":[\"b\"],\"rows\":[],\"truncated\":true,\"note\":\"The first row alone is longer "
		  "than an answer may be; ask for less of it, with substr() for example.\"}" },
		/* a tool of one statement */
		{ "by_name", "{\"name\":\"c\",\"other\":\"o\"}",
		  ROWS("\"id\",\"other\"", "{\"id\":3,\"other\":\"o\"}") },
		{ "by_name", "{}", ROWS("\"id\",\"other\"", "{\"id\":2,\"other\":null}") },
	};
	struct rig r;

	start(&r);
	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		char *got = ask(&r, table[i].tool, table[i].args);

		if (strcmp(got, table[i].want) != 0)
			fail_msg("%s\ngave     %s\nexpected %s", table[i].args, got, table[i].want);
		free(got);
	}
	stop(&r);
}

/* Many names and many values, none of which fits: said soon. */
TEST(very_many_parameters_end_soon)
{
	struct buf text;
	struct rig r;
	char *got;

	start(&r);
	buf_init(&text, NULL, 4 << 20);
	buf_appendz(&text, "{\"sql\":\"SELECT 1 WHERE 1 IN (:n0");
	for (int i = 1; i < 1000; i++)
		buf_printf(&text, ",:n%d", i);
	buf_appendz(&text, ")\",\"params\":{\"n0\":0");
	for (int i = 1; i < 1000; i++)
		buf_printf(&text, ",\"n%d\":%d", i, i);
	buf_appendz(&text, "}}");
	buf_putc(&text, '\0');
	got = ask(&r, "query", buf_str(&text).p);
	assert_string_equal(got, "{\"columns\":[\"1\"],\"rows\":[{\"1\":1}],\"truncated\":false}");
	free(got);
	buf_reset(&text, SIZE_MAX);
	buf_appendz(&text, "{\"sql\":\"SELECT 1 WHERE 1 IN (:m0");
	for (int i = 1; i < 5000; i++)
		buf_printf(&text, ",:m%d", i);
	buf_appendz(&text, ")\"}");
	buf_putc(&text, '\0');
	got = ask(&r, "query", buf_str(&text).p);
	assert_non_null(strstr(got, "too many SQL variables"));
	free(got);
	buf_done(&text);
	stop(&r);
}

/* Long names that differ behind what is shown of them are still two columns. */
TEST(long_names_of_columns_stay_apart)
{
	char sql[2000], name[601], *got;
	struct rig r;

	start(&r);
	for (size_t i = 0; i < 300; i++)
		memcpy(name + 2 * i, "é", 2);
	name[600] = '\0';
	snprintf(sql, sizeof sql, "{\"sql\":\"SELECT 1 AS '%sa', 2 AS '%sb'\"}", name, name);
	got = ask(&r, "query", sql);
	assert_non_null(strstr(got, "é_2\":2}"));
	assert_null(strstr(got, "\xEF\xBF\xBD"));
	free(got);
	stop(&r);
}

TEST(sources_are_whole_or_not_there_with_little_memory)
{
	cleat_server *server = cleat_server_new("t", "1", NULL);

	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct rig r;

		build(&r, &fa.hook, server);
		add(&r);
		/* query, execute, the schema, the tables, the tool */
		assert_true(set_size(r.b.set) == 5 || conf_problems(r.b.conf) > 0);
		if (!fail_alloc_hit(&fa) && conf_problems(r.b.conf))
			fail_msg("%s", conf_problem_line(r.b.conf, 0));
		set_free(r.b.set);
		conf_free(r.b.conf);
	}
	cleat_server_free(server);
}

static int setup(void **state)
{
	scratch_begin(state);
	scratch_put("init.sql", init);
	return 0;
}

TEST_GROUP(setup, scratch_end)
