/* test_serve_sqldb.c - connections that can do no harm (program/serve/sql/sqldb.c, program/serve/sql/sqlrows.c): what a model may
 * not do, each tried for real, with a control that shows that it would have worked. */
#include "support.h"
#include "support_files.h"
#include "test.h"

#include "loop/loop.h"
#include "serve/sql/sqlrows.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct sqldb *get(const char *path, bool write, const char *init)
{
	struct sqldb_options o = { .path = path, .write = write, .init = init };
	cleat_error err = { 0 };
	struct sqldb *db = sqldb_get(NULL, &o, &err);

	if (!db)
		fail_msg("%s", err.message);
	return db;
}

static struct sqlconn *take(struct sqldb *db, bool write)
{
	cleat_error err = { 0 };
	struct sqlconn *c = sqldb_take(db, write, NULL, 0, &err);

	if (!c)
		fail_msg("%s", err.message);
	return c;
}

static int exec(struct sqlconn *c, const char *sql)
{
	return c->lib.sqlite3_exec(c->db, sql, NULL, NULL, NULL);
}

/* The file, made without any of our guards. */
static void make(const char *path, const char *sql)
{
	struct sqlite lib;
	sqlite3 *db;

	assert_int_equal(sqlite_load(&lib, NULL), CLEAT_OK);
	assert_int_equal(
		lib.sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL),
		SQLITE_OK);
	assert_int_equal(lib.sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	lib.sqlite3_close_v2(db);
}

static const char sample[] = "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT);"
			     "INSERT INTO t (name) VALUES ('a'), ('b'), ('c');"
			     "CREATE INDEX by_name ON t (name);"
			     "CREATE TABLE child (t REFERENCES t (id));";

struct sample {
	struct sqldb *db;
	struct sqlconn *c;
};

static void take_from(struct sample *on, const char *name, bool write)
{
	on->db = get(scratch_path(name), true, sample);
	on->c = take(on->db, write);
}

static void give_back(struct sample *on)
{
	sqldb_give(on->db, on->c);
	sqldb_unref(on->db);
}

/* A case on a connection to a sample of its own, `on`. */
#define SAMPLE_TEST(name, write)                                                                   \
	TEST_ON(name, struct sample, on, take_from(on, #name, write), give_back)

/* Each is refused, or none is. */
static void try_all(struct sqlconn *c, const char *const *sql, size_t n, bool fine)
{
	for (size_t i = 0; i < n; i++)
		if ((exec(c, sql[i]) == SQLITE_OK) != fine)
			fail_msg("%s: %s", sql[i],
				 fine ? c->lib.sqlite3_errmsg(c->db) : "not refused");
}

/* Issue: "read-only connection". */
TEST(a_reading_connection_only_reads)
{
	static const char *const refused[] = {
		"INSERT INTO t (name) VALUES ('x')",
		"UPDATE t SET name = 'x'",
		"DELETE FROM t",
		"UPDATE sqlite_schema SET sql = 'x'",
		"SELECT * FROM pragma_database_list",
		"DROP TABLE t",
		"CREATE TABLE x (y)",
		"CREATE TEMP TABLE x (y)",
		"CREATE VIEW v AS SELECT 1",
		"ALTER TABLE t ADD COLUMN z",
		"REINDEX",
		"ANALYZE",
		"VACUUM",
		"VACUUM INTO '/tmp/cleat-sqldb-vacuum.db'",
		"ATTACH '/tmp/cleat-sqldb-attached.db' AS x",
		"ATTACH ':memory:' AS x",
		"DETACH main",
		"BEGIN",
		"COMMIT",
		"SAVEPOINT s",
		"PRAGMA query_only = 0",
		"PRAGMA writable_schema = 1",
		"PRAGMA journal_mode = DELETE",
		"PRAGMA user_version = 7",
		"PRAGMA temp_store_directory = '/tmp'",
		"PRAGMA database_list",
		"PRAGMA trusted_schema = 1",
		"SELECT load_extension('x')",
		"WITH x AS (SELECT 1) DELETE FROM t",
		"REPLACE INTO t VALUES (1, 'x')",
		"EXPLAIN DELETE FROM t",
	};
	static const char *const fine[] = {
		"SELECT * FROM t",
		"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT * FROM n",
		"SELECT * FROM pragma_table_info('t')",
		"SELECT * FROM json_each('[1, 2]')",
		"PRAGMA table_info(t)",
		"PRAGMA user_version",
		"PRAGMA TABLE_INFO(t)",
		"SELECT json_object('a', 1), upper('x'), count(*) FROM t GROUP BY name",
		"EXPLAIN QUERY PLAN SELECT * FROM t",
		"VALUES (1), (2)",
	};
	const char *path = scratch_path("reading.db");
	struct sqldb *db;
	struct sqlconn *c;

	make(path, sample);
	db = get(path, false, NULL);
	c = take(db, false);
	try_all(c, refused, CLEAT_COUNT(refused), false);
	try_all(c, fine, CLEAT_COUNT(fine), true);
	assert_int_not_equal(access("/tmp/cleat-sqldb-vacuum.db", F_OK), 0);
	assert_int_not_equal(access("/tmp/cleat-sqldb-attached.db", F_OK), 0);
	sqldb_give(db, c);
	sqldb_unref(db);
}

/* "only statements that read data" was said of SELECTs on FTS5 and R-Tree tables. */
static const struct module {
	const char *name, *make, *read[3], *change[4];
} modules[] = {
	{ "fts5",
	  "CREATE VIRTUAL TABLE f5 USING fts5(body); INSERT INTO f5 VALUES ('one two'), ('three');",
	  { "SELECT bm25(f5), highlight(f5, 0, '[', ']'), snippet(f5, 0, '', '', '', 3) FROM f5('one') "
	    "ORDER BY rank",
	    "SELECT count(*) FROM f5 WHERE f5 MATCH 't*'", "SELECT * FROM f5_data" },
	  { "INSERT INTO f5 VALUES ('x')", "INSERT INTO f5 (f5) VALUES ('optimize')",
	    "DELETE FROM f5", "DELETE FROM f5_data" } },
	{ "fts5vocab",
	  "CREATE VIRTUAL TABLE g5 USING fts5(body); CREATE VIRTUAL TABLE v5 USING fts5vocab(g5, 'row');",
	  { "SELECT * FROM v5" },
	  { "INSERT INTO v5 VALUES ('x', 1, 1)" } },
	{ "fts4",
	  "CREATE VIRTUAL TABLE f4 USING fts4(body); INSERT INTO f4 VALUES ('one two');",
	  { "SELECT snippet(f4), offsets(f4), matchinfo(f4) FROM f4 WHERE f4 MATCH 'one'" },
	  { "INSERT INTO f4 VALUES ('x')", "SELECT optimize(f4) FROM f4", "DELETE FROM f4" } },
	{ "fts4aux",
	  "CREATE VIRTUAL TABLE g4 USING fts4(body); CREATE VIRTUAL TABLE a4 USING fts4aux(g4);",
	  { "SELECT * FROM a4" },
	  { "DELETE FROM a4" } },
	{ "fts3",
	  "CREATE VIRTUAL TABLE f3 USING fts3(body); INSERT INTO f3 VALUES ('one two');",
	  { "SELECT * FROM f3 WHERE f3 MATCH 'two'" },
	  { "UPDATE f3 SET body = 'x'" } },
	{ "rtree",
	  "CREATE VIRTUAL TABLE rt USING rtree(id, x0, x1, +note); INSERT INTO rt VALUES (1, 0, 1, 'a');",
	  { "SELECT * FROM rt WHERE x0 < 3 AND x1 > 0",
	    "SELECT r.note FROM t JOIN rt r USING (id)" },
	  { "INSERT INTO rt VALUES (2, 0, 1, 'b')", "DELETE FROM rt", "UPDATE rt SET note = 'x'",
	    "DELETE FROM rt_node" } },
	{ "rtree_i32",
	  "CREATE VIRTUAL TABLE ri USING rtree_i32(id, x0, x1); INSERT INTO ri VALUES (1, 0, 1);",
	  { "SELECT * FROM ri" },
	  { "DELETE FROM ri_rowid" } },
	{ "geopoly",
	  "CREATE VIRTUAL TABLE gp USING geopoly(a); "
	  "INSERT INTO gp (_shape) VALUES ('[[0,0],[1,0],[0,1],[0,0]]');",
	  { "SELECT geopoly_area(_shape) FROM gp" },
	  { "DELETE FROM gp" } },
	{ "dbstat", "", { "SELECT name, pgsize FROM dbstat" }, { "DELETE FROM dbstat" } },
	{ "json_each", "", { "SELECT value FROM json_each('[1]')" }, { 0 } },
	{ "json_tree", "", { "SELECT value FROM t, json_tree('[1]')" }, { 0 } },
	{ "pragma_module_list",
	  "",
	  { "SELECT name FROM pragma_module_list", "SELECT * FROM pragma_index_list('t')",
	    "SELECT * FROM pragma_data_version" },
	  { "SELECT * FROM pragma_journal_mode('delete')" } },
};

static int found(void *ctx, int n, char **values, char **names)
{
	(void)n;
	(void)values;
	(void)names;
	*(bool *)ctx = true;
	return 0;
}

static bool has_module(struct sqlconn *c, const char *name)
{
	bool has = false;
	char sql[120];

	snprintf(sql, sizeof sql, "SELECT 1 FROM pragma_module_list WHERE name = '%s'", name);
	assert_int_equal(c->lib.sqlite3_exec(c->db, sql, found, &has, NULL), SQLITE_OK);
	if (!has)
		print_message("this SQLite has no %s\n", name);
	return has;
}

static size_t count_of(const char *const *list, size_t most)
{
	size_t n = 0;

	while (n < most && list[n])
		n++;
	return n;
}

TEST(virtual_tables_are_read_and_not_changed)
{
	/* Tables that are only called like those of an R-Tree are tables. */
	static const char *const never[] = { "INSERT INTO my_node VALUES (1)",
					     "DELETE FROM my_node", "UPDATE my_node SET id = 2" };
	const char *path = scratch_path("modules.db");
	struct sqldb *db;
	struct sqlconn *c, *writes;
	char *before, *after;
	cleat_error err;
	size_t n;

	make(path, sample);
	make(path, "CREATE TABLE my_node (id); INSERT INTO my_node VALUES (1);");
	db = get(path, true, NULL);
	for (size_t i = 0; i < CLEAT_COUNT(modules); i++) {
		const struct module *m = &modules[i];
		size_t reads = count_of(m->read, CLEAT_COUNT(m->read));

		writes = take(db, true);
		if (has_module(writes, m->name)) {
			try_all(writes, &m->make, 1, true);
			try_all(writes, m->read, reads, true);
			before = support_read_file(path, &n);
			c = take(db, false);
			try_all(c, m->read, reads, true);
			try_all(c, m->change, count_of(m->change, CLEAT_COUNT(m->change)), false);
			try_all(c, never, CLEAT_COUNT(never), false);
			for (size_t j = 0; j < CLEAT_COUNT(never); j++)
				assert_int_equal(
					sqlrows_check(c, never[j], strlen(never[j]), false, &err),
					CLEAT_EINVAL);
			after = support_read_file(path, &n);
			assert_memory_equal(before, after, n);
			free(before);
			free(after);
			sqldb_give(db, c);
		}
		sqldb_give(db, writes);
	}
	sqldb_unref(db);
}

/* It was opened, and waited for ever for somebody who writes. */
TEST(a_pipe_is_no_database)
{
	struct sqldb_options o = { .path = scratch_path("pipe"), .look = true };
	cleat_error err = { 0 };
	struct sqldb *db;

	assert_int_equal(mkfifo(o.path, 0600), 0);
	for (int write = 0; write < 2; write++) {
		o.write = write;
		db = sqldb_get(NULL, &o, &err);
		assert_non_null(db);
		assert_null(sqldb_trial(db, &err));
		assert_non_null(strstr(err.message, "pipe: not a file"));
		assert_null(sqldb_take(db, false, NULL, 0, &err));
		sqldb_unref(db);
	}
}

SAMPLE_TEST(a_writing_connection_writes_here_only, true)
{
	static const char *const fine[] = {
		"INSERT INTO t (name) VALUES ('x')",
		"UPDATE t SET name = 'y' WHERE name = 'x'",
		"CREATE TABLE more (y)",
		"CREATE INDEX i ON more (y)",
		"DELETE FROM t WHERE name = 'y'",
		"ALTER TABLE more ADD COLUMN z",
		"ALTER TABLE more RENAME COLUMN z TO zz",
		"ALTER TABLE more RENAME TO much",
		"CREATE TRIGGER tr AFTER INSERT ON much BEGIN DELETE FROM t; END",
		"CREATE VIEW v AS SELECT instr(y, 'a') FROM much",
		"SELECT * FROM v",
		"DROP TABLE much",
	};
	static const char *const refused[] = {
		"ATTACH ':memory:' AS x",
		"VACUUM INTO '/tmp/cleat-sqldb-vacuum.db'",
		"BEGIN",
		"PRAGMA journal_mode = MEMORY",
		"PRAGMA writable_schema = 1",
		"UPDATE sqlite_schema SET sql = 'x'",
		"SELECT load_extension('x')",
		"CREATE VIRTUAL TABLE v USING csv(filename = '/etc/passwd')",
		"INSERT INTO child VALUES (77)", /* foreign keys hold */
		/* What stays with the connection would deceive who has it next. */
		"CREATE TEMP TABLE t (id, name)",
		"CREATE TEMP VIEW t AS SELECT 'not the table'",
		"CREATE TEMP TRIGGER x AFTER INSERT ON main.t BEGIN DELETE FROM t; END",
		"CREATE TABLE temp.t (id)",
	};

	try_all(on->c, fine, CLEAT_COUNT(fine), true);
	try_all(on->c, refused, CLEAT_COUNT(refused), false);
}

TEST(a_statement_is_one_and_complete)
{
	static const struct {
		const char *sql, *why; /* NULL: fine */
		bool write;
	} cases[] = {
		{ "SELECT 1", NULL, false },
		{ "SELECT 1;", NULL, false },
		{ "SELECT 1; -- that is all\n /* really */ ;", NULL, false },
		{ "SELECT 1; SELECT 2", "one statement at a time", false },
		{ "SELECT 1; DELETE FROM t", "one statement at a time", true },
		{ "", "there is no statement in it", false },
		{ " -- nothing", "there is no statement in it", false },
		{ "DELETE FROM t",
		  "not allowed here: only statements that read data, one at a time", false },
		{ "SELEC 1", "near \"SELEC\": syntax error, at character 1", false },
		{ "SELECT nme FROM t", "no such column: nme, at character 8", false },
		{ "SELECT * FROM nowhere", "no such table: nowhere", false },
		{ "SELECT 1; /* open", NULL, false },
	};
	struct sqldb *db = get(scratch_path("one.db"), true, sample);

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct sqlconn *c = take(db, cases[i].write);
		cleat_error err = { 0 };
		int status =
			sqlrows_check(c, cases[i].sql, strlen(cases[i].sql), cases[i].write, &err);

		assert_int_equal(status, cases[i].why ? CLEAT_EINVAL : CLEAT_OK);
		if (cases[i].why)
			assert_string_equal(err.message, cases[i].why);
		sqldb_give(db, c);
	}
	sqldb_unref(db);
}

/* A statement that never gives a row ends all the same. */
TEST(time_is_bounded)
{
	struct sqldb *db = get(scratch_path("time.db"), true, sample);
	cleat_error err = { 0 };
	struct sqlconn *c = sqldb_take(db, false, NULL, 50, &err);
	uint64_t before = loop_now();
	char why[100];
	int rc;

	assert_non_null(c);
	rc = exec(c, "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT "
		     "count(*) FROM n");
	assert_int_equal(rc, SQLITE_INTERRUPT);
	assert_true(loop_now() - before >= 50);
	assert_true(loop_now() - before < 20000);
	sqlconn_reason(c, rc, why, sizeof why);
	assert_string_equal(why, "it took too long and was ended");
	sqldb_give(db, c);
	c = take(db, false); /* the same one, without the deadline */
	assert_int_equal(exec(c, "SELECT 1"), SQLITE_OK);
	sqldb_give(db, c);
	sqldb_unref(db);
}

/* SQLite looks at the clock between steps, and a function is one step: its own instr() would take hours. */
SAMPLE_TEST(time_of_one_function_is_bounded, false)
{
	static const char *const table[] = {
		"SELECT instr(hex(zeroblob(7000000)), hex(zeroblob(3500000)) || '1')",
		"SELECT replace(hex(zeroblob(7000000)), hex(zeroblob(3500000)) || '1', '')",
		"SELECT trim(hex(zeroblob(7000000)), 'é' || hex(zeroblob(120)))",
		"SELECT hex(zeroblob(30000)) LIKE '%' || substr(hex(zeroblob(100)), 1, 190) || '1%'",
		"SELECT hex(zeroblob(30000)) GLOB '*' || substr(hex(zeroblob(100)), 1, 190) || '1*'",
		"SELECT hex(zeroblob(30000)) LIKE '%' || substr(hex(zeroblob(100)), 1, 20) || '1%'",
		"SELECT hex(zeroblob(30000)) LIKE '%' || substr(hex(zeroblob(500)), 1, 400) || '1%'",
	};
	struct sqlconn *c = on->c;

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		clock_t before = clock(); /* of this process, not of a busy machine */

		if (exec(c, table[i]) != SQLITE_OK)
			fail_msg("%s: %s", table[i], c->lib.sqlite3_errmsg(c->db));
		assert_true(clock() - before < 60 * CLOCKS_PER_SEC);
	}
	assert_int_not_equal(exec(c, "SELECT trim('x', hex(zeroblob(1000)))"), SQLITE_OK);
	assert_int_not_equal(exec(c, "SELECT 'x' LIKE hex(zeroblob(1000))"), SQLITE_OK);
	assert_int_not_equal(exec(c, "SELECT hex(zeroblob(7000000)) LIKE '%' || hex(zeroblob(100)) "
				     "|| '1%'"),
			     SQLITE_OK);
	assert_non_null(strstr(c->lib.sqlite3_errmsg(c->db), "too long for LIKE and GLOB"));
	assert_int_not_equal(exec(c, "SELECT hex(zeroblob(7000000)) GLOB '*' || hex(zeroblob(100)) "
				     "|| '1*'"),
			     SQLITE_OK);
	assert_int_not_equal(exec(c, "SELECT unhex('61', ' ')"), SQLITE_OK);
	/* Many keys on either side: SQLite's own compares each with all others. */
	assert_int_not_equal(
		exec(c, "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
			"20000), o (j) AS (SELECT '{' || group_concat('\"' || i || '\":1') || '}' "
			"FROM n) SELECT json_patch(j, j) FROM o"),
		SQLITE_OK);
	assert_non_null(strstr(c->lib.sqlite3_errmsg(c->db), "json_patch: too large"));
	assert_int_equal(exec(c, "SELECT replace(hex(zeroblob(10000)), '0', hex(zeroblob(500)))"),
			 SQLITE_TOOBIG);
}

static int same(void *ctx, int n, char **values, char **names)
{
	(void)ctx;
	(void)names;
	for (int i = 0; i + 1 < n; i += 2)
		if (!values[i] != !values[i + 1] ||
		    (values[i] && strcmp(values[i], values[i + 1]) != 0))
			fail_msg("%s, not %s", values[i], values[i + 1]);
	return 0;
}

/* The functions that take the place of SQLite's own give what those give: asked of both. */
SAMPLE_TEST(our_functions_are_like_their_own, true)
{
	static const char *const calls[] = {
		"instr('abcabc', 'ca')",
		"instr('ééa', 'a')",
		"instr('a', 'x')",
		"instr('a', '')",
		"instr('', 'a')",
		"instr('', '')",
		"instr(NULL, 'a')",
		"instr('a', NULL)",
		"instr(x'0102', x'02')",
		"instr(x'', x'')",
		"instr(x'6162', 'b')",
		"instr('ab', x'62')",
		"instr(12345, 34)",
		"instr(1.5, '.')",
		"replace('aXbX', 'X', 'yy')",
		"replace('aaa', 'aa', 'b')",
		"replace('abc', '', 'x')",
		"replace('abc', 'c', '')",
		"replace('', 'a', 'b')",
		"replace(NULL, 'a', 'b')",
		"replace('a', NULL, 'b')",
		"replace('a', 'a', NULL)",
		"replace(1234, 23, 9)",
		"replace('éaé', 'é', 'ö')",
		"replace(x'6162', 'b', 'c')",
		"trim('xxaxx', 'x')",
		"ltrim('xyxa', 'yx')",
		"rtrim('aéèé', 'èé')",
		"trim('aaa', 'a')",
		"trim('abc', '')",
		"trim(NULL, 'a')",
		"trim('a', NULL)",
		"trim(1121, 1)",
		"typeof(trim(12, 3))",
		"trim('  a  ')",
		"'abc' LIKE 'A_%'",
		"'abc' LIKE 'b%'",
		"'ÄB' LIKE 'äb'",
		"'a%c' LIKE 'a!%c' ESCAPE '!'",
		"'abc' LIKE 'a!%c' ESCAPE '!'",
		"'a%' LIKE 'aé%' ESCAPE 'é'",
		"'' LIKE '%'",
		"NULL LIKE 'a'",
		"'a' LIKE NULL",
		"'a' LIKE 'a' ESCAPE NULL",
		"123 LIKE '1%'",
		"x'6162' LIKE 'a%'",
		"'aXb' NOT LIKE '%x%'",
		"'abc' GLOB 'a[a-c]*'",
		"'abc' GLOB 'A*'",
		"'abc' GLOB '[^a]*'",
		"NULL GLOB '*'",
		"printf('%5d|%-3s|%%', 42, 'x')",
		"format('%.2f', 1.005)",
		"printf(NULL)",
		"json_patch('{\"a\":1,\"b\":2}', '{\"a\":null,\"c\":[3]}')",
		"json_patch(NULL, '{}')",
		"json_object('x', json_patch('{}', '{\"y\":1}'))",
	};
	struct sqlconn *c = on->c;
	struct sqlite lib;
	sqlite3 *plain;

	assert_int_equal(sqlite_load(&lib, NULL), CLEAT_OK);
	assert_int_equal(lib.sqlite3_open_v2(":memory:", &plain,
					     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL),
			 SQLITE_OK);
	for (size_t i = 0; i < CLEAT_COUNT(calls); i++) {
		char sql[200];
		sqlite3_stmt *stmt;
		const unsigned char *theirs;

		snprintf(sql, sizeof sql, "SELECT quote(%s)", calls[i]);
		assert_int_equal(lib.sqlite3_prepare_v3(plain, sql, -1, 0, &stmt, NULL), SQLITE_OK);
		assert_int_equal(lib.sqlite3_step(stmt), SQLITE_ROW);
		theirs = lib.sqlite3_column_text(stmt, 0);
		snprintf(sql, sizeof sql, "SELECT quote(%s), '", calls[i]);
		for (size_t n = strlen(sql); *theirs && n + 4 < sizeof sql; theirs++) {
			sql[n++] = (char)*theirs;
			if (*theirs == '\'')
				sql[n++] = '\'';
			sql[n] = '\0';
		}
		snprintf(sql + strlen(sql), sizeof sql - strlen(sql), "'");
		if (c->lib.sqlite3_exec(c->db, sql, same, NULL, NULL) != SQLITE_OK)
			fail_msg("%s: %s", sql, c->lib.sqlite3_errmsg(c->db));
		lib.sqlite3_finalize(stmt);
	}
	lib.sqlite3_close_v2(plain);
}

/* A query that wants all the memory there is fails; the next one works. */
SAMPLE_TEST(memory_is_bounded, false)
{
	struct sqlconn *c = on->c;
	char why[100];
	int rc;

	rc = exec(
		c,
		"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40), x (b) "
		"AS (SELECT hex(zeroblob(4000000)) || i FROM n) SELECT * FROM x ORDER BY b");
	assert_int_equal(rc, SQLITE_NOMEM);
	sqlconn_reason(c, rc, why, sizeof why);
	assert_string_equal(why, "it needs too much memory");
	rc = exec(c, "SELECT hex(zeroblob(100000000))");
	assert_int_equal(rc, SQLITE_TOOBIG);
	assert_int_equal(exec(c, "SELECT 1"), SQLITE_OK);
}

TEST(the_file_is_made_of_init_once)
{
	const char *path = scratch_path("made.db");
	struct sqldb *db = get(path, false, sample);
	cleat_error err = { 0 };
	struct sqlconn *c = sqldb_trial(db, &err);
	struct stat before, after;

	assert_non_null(c); /* in memory: looking makes nothing */
	assert_int_equal(exec(c, "SELECT name FROM t"), SQLITE_OK);
	sqldb_give(db, c);
	assert_int_not_equal(stat(path, &before), 0);
	c = take(db, false);
	assert_int_equal(exec(c, "SELECT name FROM t"), SQLITE_OK);
	sqldb_give(db, c);
	assert_int_equal(stat(path, &before), 0);
	sqldb_unref(db);
	db = get(path, false, sample); /* there already: not made again */
	c = take(db, false);
	sqldb_give(db, c);
	assert_int_equal(stat(path, &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	sqldb_unref(db);
	/* a mistake in it leaves nothing behind */
	path = scratch_path("broken.db");
	db = get(path, false, "CREATE TABLE x (y); CREATE TABLE x (y);");
	assert_null(sqldb_trial(db, &err));
	assert_non_null(strstr(err.message, "already exists"));
	assert_null(sqldb_take(db, false, NULL, 0, &err));
	assert_int_not_equal(stat(path, &after), 0);
	sqldb_unref(db);
}

TEST(what_is_no_database_is_said)
{
	const char *path = scratch_path("text.db");
	cleat_error err = { 0 };
	struct sqldb *db;
	FILE *f = fopen(path, "w");

	fputs("this is no database, but a text that is long enough to be looked at as one; really it is.",
	      f);
	fclose(f);
	db = get(path, false, NULL);
	assert_null(sqldb_trial(db, &err));
	assert_non_null(strstr(err.message, "file is not a database"));
	sqldb_unref(db);
	db = get(scratch_path("missing.db"), false, NULL);
	assert_null(sqldb_trial(db, &err));
	assert_int_equal(err.status, CLEAT_ENOENT);
	assert_null(sqldb_take(db, false, NULL, 0, &err));
	sqldb_unref(db);
	/* SQLite would wait for somebody to write into a pipe. */
	assert_int_equal(mkfifo(scratch_path("pipe.db"), 0600), 0);
	assert_int_equal(mkdir(scratch_path("directory.db"), 0700), 0);
	for (int i = 0; i < 2; i++) {
		db = get(scratch_path(i ? "pipe.db" : "directory.db"), false, NULL);
		assert_null(sqldb_trial(db, &err));
		assert_non_null(strstr(err.message, "not a file"));
		assert_null(sqldb_take(db, false, NULL, 0, &err));
		sqldb_unref(db);
	}
}

/* A connection does not go on reading a file that was replaced. */
TEST(a_replaced_file_is_noticed)
{
	const char *path = scratch_path("replaced.db"), *other = scratch_path("other.db");
	struct sqlconn *c, *again;
	struct sqldb *db;

	make(path, sample);
	make(other, "CREATE TABLE fresh (x);");
	db = get(path, false, NULL);
	c = take(db, false);
	assert_int_equal(exec(c, "SELECT * FROM t"), SQLITE_OK);
	sqldb_give(db, c);
	again = take(db, false);
	assert_ptr_equal(again, c); /* kept */
	sqldb_give(db, again);
	assert_int_equal(rename(other, path), 0);
	c = take(db, false);
	assert_int_equal(exec(c, "SELECT * FROM fresh"), SQLITE_OK);
	sqldb_give(db, c);
	sqldb_unref(db);
}

/* Reading a configuration happens on the server's one thread: it must not wait long, nor once for each tool. */
TEST(a_locked_file_does_not_hold_up_a_trial)
{
	const char *path = scratch_path("locked.db");
	uint64_t before = loop_now();
	struct sqlite lib;
	cleat_error err = { 0 };
	struct sqldb *db;
	sqlite3 *other;

	make(path, sample);
	assert_int_equal(sqlite_load(&lib, NULL), CLEAT_OK);
	lib.sqlite3_open_v2(path, &other, SQLITE_OPEN_READWRITE, NULL);
	assert_int_equal(lib.sqlite3_exec(other, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
	db = get(path, true, NULL);
	for (int i = 0; i < 10; i++) {
		assert_null(sqldb_trial(db, &err));
		assert_non_null(strstr(err.message, "locked by another program"));
	}
	assert_true(loop_now() - before < 8000);
	lib.sqlite3_close_v2(other);
	sqldb_unref(db);
}

/* A statement that changes something can be tried where that is allowed, also when the file is there. */
TEST(a_trial_may_do_what_the_database_may)
{
	static const char sql[] = "INSERT INTO t (name) VALUES (:x)";
	const char *path = scratch_path("trial.db");
	cleat_error err = { 0 };

	make(path, sample);
	for (int write = 0; write < 2; write++) {
		struct sqldb *db = get(path, write, NULL);
		struct sqlconn *c = sqldb_trial(db, &err);

		assert_non_null(c);
		assert_int_equal(sqlrows_check(c, sql, strlen(sql), write, &err),
				 write ? CLEAT_OK : CLEAT_EINVAL);
		sqldb_give(db, c);
		sqldb_unref(db);
	}
}

/* Somebody else's lock is waited for as long as the call may take, not longer. */
TEST(a_lock_is_waited_for_until_the_time_is_over)
{
	const char *path = scratch_path("waits.db");
	cleat_error err = { 0 };
	struct sqlconn *c;
	struct sqldb *db;
	uint64_t before;
	sqlite3 *other;

	make(path, sample);
	db = get(path, true, NULL);
	c = sqldb_take(db, true, NULL, 100, &err);
	assert_non_null(c);
	c->lib.sqlite3_open_v2(path, &other, SQLITE_OPEN_READWRITE, NULL);
	assert_int_equal(c->lib.sqlite3_exec(other, "BEGIN EXCLUSIVE", NULL, NULL, NULL), 0);
	before = loop_now();
	c->deadline = before + 100;
	assert_int_equal(exec(c, "INSERT INTO t (name) VALUES ('n')") & 0xff, SQLITE_BUSY);
	assert_true(loop_now() - before >= 100);
	c->deadline = 0;
	c->lib.sqlite3_close_v2(other);
	assert_int_equal(exec(c, "INSERT INTO t (name) VALUES ('n')"), SQLITE_OK);
	sqldb_give(db, c);
	sqldb_unref(db);
}

/* Worker threads: each takes connections and gives them back. */
struct worker {
	pthread_t thread;
	struct sqldb *db;
	bool writes;
	char bad[300];
};

static void *work(void *arg)
{
	struct worker *w = arg;

	for (int i = 0; i < 60 && !*w->bad; i++) {
		bool write = w->writes && i % 3 == 0;
		cleat_error err = { 0 };
		struct sqldb *db = sqldb_ref(w->db);
		struct sqlconn *c = sqldb_take(db, write, NULL, 60000, &err);
		int rc =
			c ? exec(c, write ? "INSERT INTO t (name) VALUES ('n')" : "SELECT * FROM t")
			  : 0;

		if (!c)
			snprintf(w->bad, sizeof w->bad, "%s", err.message);
		else if (rc)
			snprintf(w->bad, sizeof w->bad, "%s", c->lib.sqlite3_errmsg(c->db));
		sqldb_give(db, c);
		sqldb_unref(db);
	}
	return NULL;
}

/* Writing; or only reading, while the file is replaced (which must not be done to one that is written). */
TEST(threads_share_a_database)
{
	const char *path = scratch_path("threads.db"), *other = scratch_path("threads.new");

	for (int writes = 1; writes >= 0; writes--) {
		struct sqldb *db = get(path, writes, sample);
		struct worker workers[4] = { 0 };

		for (size_t i = 0; i < CLEAT_COUNT(workers); i++) {
			workers[i].db = db;
			workers[i].writes = writes;
			assert_int_equal(
				pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
		}
		for (int i = 0; i < 5 && !writes; i++) {
			make(other, sample);
			rename(other, path);
		}
		for (size_t i = 0; i < CLEAT_COUNT(workers); i++)
			pthread_join(workers[i].thread, NULL);
		for (size_t i = 0; i < CLEAT_COUNT(workers); i++)
			assert_string_equal(workers[i].bad, "");
		sqldb_unref(db);
	}
}

TEST(the_same_file_is_shared)
{
	struct sqldb *a = get(scratch_path("shared.db"), true, NULL),
		     *b = get(scratch_path("shared.db"), true, NULL);
	struct sqldb *c = get(scratch_path("shared.db"), false, NULL);

	assert_ptr_equal(a, b);
	assert_ptr_not_equal(a, c);
	sqldb_unref(a);
	sqldb_unref(sqldb_ref(b));
	sqldb_unref(b);
	sqldb_unref(c);
	sqldb_unref(NULL);
}

TEST_GROUP(scratch_begin, scratch_end)
