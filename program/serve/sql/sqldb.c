/* program/serve/sql/sqldb.c - a database file, and connections to it that can do no harm. */
#include "serve/sql/sqldb.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "serve/sql/sqlfunc.h"
#include "uri/chars.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	IDLE_MAX = 8,        /* connections that wait */
	STEPS = 1000,        /* of SQLite's machine between two looks at the clock */
	TRIAL_MS = 1000,     /* the same, while a configuration is read */
	BUSY_MS = 10000,     /* to wait for somebody else's lock, where nothing else bounds it */
	VALUE_MAX = 16 << 20 /* bytes of one value */
};

struct sqldb {
	cleat_allocator mem;
	struct sqlite lib;
	char *path, *init, *tool;
	bool write, look;
	struct taken taken;   /* from the beginning, also before there is a connection */
	unsigned refs;        /* under `all` */
	struct sqldb *next;   /* under `all` */
	uint64_t busy_since;  /* sqldb_trial() found it locked; 0: no */
	pthread_mutex_t lock; /* the following */
	struct sqlconn *idle;
	size_t n_idle;
};

static const char busy_words[] = "the database is locked by another program; try again";

static pthread_mutex_t all = PTHREAD_MUTEX_INITIALIZER;
static struct sqldb *first;

/* ---- databases ------------------------------------------------------------------------------ */

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static void conn_free(struct sqldb *db, struct sqlconn *c)
{
	if (!c)
		return;
	c->lib.sqlite3_close_v2(c->db);
	taken_remove(&c->taken);
	mem_free(&db->mem, c);
}

static void database_free(struct sqldb *db)
{
	if (!db)
		return;
	for (struct sqlconn *c = db->idle, *next; c; c = next) {
		next = c->next;
		conn_free(db, c);
	}
	taken_remove(&db->taken);
	pthread_mutex_destroy(&db->lock);
	mem_free(&db->mem, db->path);
	mem_free(&db->mem, db->init);
	mem_free(&db->mem, db->tool);
	mem_free(&db->mem, db);
}

static bool there(const struct sqldb *db, struct stat *st)
{
	return stat(db->path, st) == 0;
}

/* Nothing that is there, or a file. A pipe would let SQLite wait for ever. */
static bool is_file(const struct sqldb *db, struct stat *st, cleat_error *err)
{
	if (!there(db, st) || S_ISREG(st->st_mode))
		return true;
	error_set(err, CLEAT_EIO, "%s: not a file", db->path);
	return false;
}

static struct sqldb *database_new(const cleat_allocator *mem, const struct sqldb_options *o,
				  cleat_error *err)
{
	cleat_allocator a = mem_resolve(mem);
	struct sqldb *db = mem_zalloc(&a, sizeof *db);
	struct stat st;

	if (!db || pthread_mutex_init(&db->lock, NULL) != 0) {
		mem_free(&a, db);
		error_set(err, CLEAT_ENOMEM, "out of memory");
		return NULL;
	}
	db->mem = a;
	db->write = o->write;
	db->look = o->look;
	db->refs = 1;
	db->path = mem_strdup(&a, o->path);
	db->init = mem_strdup(&a, o->init);
	if (!db->path || (o->init && !db->init)) {
		database_free(db);
		error_set(err, CLEAT_ENOMEM, "out of memory");
		return NULL;
	}
	if (sqlite_load(&db->lib, err) != CLEAT_OK) {
		database_free(db);
		return NULL;
	}
	db->taken = (struct taken){ .path = db->path };
	taken_set_file(&db->taken, there(db, &st) ? &st : NULL);
	taken_add(&db->taken);
	return db;
}

struct sqldb *sqldb_get(const cleat_allocator *mem, const struct sqldb_options *o, cleat_error *err)
{
	struct sqldb *db;

	pthread_mutex_lock(&all);
	for (db = first; db; db = db->next)
		if (strcmp(db->path, o->path) == 0 && db->write == o->write &&
		    same_text(db->init, o->init))
			break;
	if (db) {
		db->refs++;
	} else if ((db = database_new(mem, o, err))) {
		db->next = first;
		first = db;
	}
	pthread_mutex_unlock(&all);
	return db;
}

struct sqldb *sqldb_ref(struct sqldb *db)
{
	pthread_mutex_lock(&all);
	db->refs++;
	pthread_mutex_unlock(&all);
	return db;
}

void sqldb_unref(struct sqldb *db)
{
	bool last;

	if (!db)
		return;
	pthread_mutex_lock(&all);
	last = --db->refs == 0;
	for (struct sqldb **at = &first; last && *at; at = &(*at)->next)
		if (*at == db) {
			*at = db->next;
			break;
		}
	pthread_mutex_unlock(&all);
	if (last)
		database_free(db);
}

void sqldb_set_tool(struct sqldb *db, const char *tool)
{
	pthread_mutex_lock(&all);
	if (!db->tool && (db->tool = mem_strdup(&db->mem, tool)))
		taken_set_tool(&db->taken, db->tool);
	pthread_mutex_unlock(&all);
}

/* ---- what a statement may do ---------------------------------------------------------------- */

/* Pragmas come as they were typed, and case does not count. */
static bool is_named(const char *word, const char *const *list)
{
	for (; word && *list; list++)
		if (strcasecmp(word, *list) == 0)
			return true;
	return false;
}

/* Those that only tell something. With a value most pragmas would set it. */
static bool pragma_allowed(const char *name, const char *value)
{
	static const char *const about[] = { "table_info",        "table_xinfo", "index_list",
					     "index_info",        "index_xinfo", "foreign_key_list",
					     "foreign_key_check", "table_list",  NULL };
	/* FTS5 asks for data_version each time it is used. */
	static const char *const plain[] = { "user_version",    "schema_version",
					     "page_count",      "page_size",
					     "encoding",        "application_id",
					     "data_version",    "freelist_count",
					     "module_list",     "function_list",
					     "collation_list",  "pragma_list",
					     "compile_options", NULL };

	return is_named(name, about) || (!value && is_named(name, plain));
}

/* An R-Tree (and Geopoly) compiles the statements that would change its own tables when it is first read, and
 * the authorizer is not told who compiles. To be compiled is all that they are allowed: the file is open
 * for reading, query_only holds, and a statement of a model that changes something is refused by what
 * SQLite says of it as a whole (sqlite3_stmt_readonly() in sqlrows.c), whatever the table is called. */
static bool is_of_rtree(const char *table)
{
	static const char *const endings[] = { "_node", "_rowid", "_parent" };
	size_t n = table ? strlen(table) : 0;

	for (size_t i = 0; i < CLEAT_COUNT(endings); i++)
		if (n > strlen(endings[i]) && !strcmp(table + n - strlen(endings[i]), endings[i]))
			return true;
	return false;
}

static int authorize_read(int action, const char *one, const char *two)
{
	static const char *const never[] = { "load_extension", "fts3_tokenizer", "readfile",
					     "writefile",      "edit",           NULL };

	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE: return SQLITE_OK;
	/* So does SQLite ask when a table-valued function (json_each) is used for the first time; a real change
	 * is refused by query_only, and by the file's mode. */
	case SQLITE_UPDATE:
		if (one && strcmp(one, "sqlite_master") == 0)
			return SQLITE_OK;
		/* fall through */
	case SQLITE_INSERT:
	case SQLITE_DELETE: return is_of_rtree(one) ? SQLITE_OK : SQLITE_DENY;
	case SQLITE_FUNCTION: return is_named(two, never) ? SQLITE_DENY : SQLITE_OK;
	case SQLITE_PRAGMA: return pragma_allowed(one, two) ? SQLITE_OK : SQLITE_DENY;
	default: return SQLITE_DENY;
	}
}

static int authorize(void *ctx, int action, const char *one, const char *two, const char *where,
		     const char *who)
{
	static const char *const modules[] = { "fts5",  "fts5vocab", "fts4",    "fts4aux", "fts3",
					       "rtree", "rtree_i32", "geopoly", NULL };
	static const char *const writers[] = { "optimize", NULL }; /* of FTS3 and FTS4 */
	const struct sqlconn *c = ctx;

	(void)who;
	if (!c->write && action == SQLITE_FUNCTION && is_named(two, writers))
		return SQLITE_DENY;
	if (!c->write)
		return authorize_read(action, one, two);
	/* What is temporary would stay with the connection, and come before the file's own tables for whoever
	 * uses it next. Every way to make something begins with such an insertion. */
	if (action == SQLITE_INSERT && where && strcasecmp(where, "temp") == 0)
		return SQLITE_DENY;
	switch (action) {
	case SQLITE_ATTACH:
	case SQLITE_DETACH:
	case SQLITE_TRANSACTION:
	case SQLITE_SAVEPOINT: return SQLITE_DENY;
	case SQLITE_CREATE_VTABLE: return is_named(two, modules) ? SQLITE_OK : SQLITE_DENY;
	case SQLITE_FUNCTION:
	case SQLITE_PRAGMA: return authorize_read(action, one, two);
	default: return SQLITE_OK;
	}
}

/* Not 0: give up. */
static int progress(void *ctx)
{
	const struct sqlconn *c = ctx;

	return (c->req && cleat_request_cancelled(c->req)) ||
	       (c->deadline && loop_now() >= c->deadline);
}

/* Somebody else has the lock; `n`: how often that was said already. SQLite's own waiting hears neither that
 * the request was cancelled nor of the deadline, and sleeps so long that whoever comes later is served first. */
static int wait_for_lock(void *ctx, int n)
{
	struct sqlconn *c = ctx;
	struct timespec pause = { .tv_nsec = n < 10 ? 1000000 : 10000000 };

	if (n == 0)
		c->waits_since = loop_now();
	if (progress(c) || loop_now() - c->waits_since >= c->patience_ms)
		return 0;
	nanosleep(&pause, NULL);
	return 1;
}

static int shut_in(struct sqlconn *c)
{
	static const struct {
		int what, most;
	} limits[] = {
		{ SQLITE_LIMIT_LENGTH, VALUE_MAX },     { SQLITE_LIMIT_SQL_LENGTH, 1 << 20 },
		{ SQLITE_LIMIT_COLUMN, 500 },           { SQLITE_LIMIT_EXPR_DEPTH, 200 },
		{ SQLITE_LIMIT_COMPOUND_SELECT, 100 },  { SQLITE_LIMIT_ATTACHED, 0 },
		{ SQLITE_LIMIT_VARIABLE_NUMBER, 1000 }, { SQLITE_LIMIT_TRIGGER_DEPTH, 10 },
		{ SQLITE_LIMIT_WORKER_THREADS, 0 },
	};
	static const struct {
		int what, on;
	} config[] = {
		{ SQLITE_DBCONFIG_DEFENSIVE, 1 },
		{ SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
		{ SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0 },
		{ SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0 },
	};
	int rc = SQLITE_OK;

	for (size_t i = 0; i < CLEAT_COUNT(limits); i++)
		c->lib.sqlite3_limit(c->db, limits[i].what, limits[i].most);
	for (size_t i = 0; i < CLEAT_COUNT(config) && rc == SQLITE_OK; i++)
		rc = c->lib.sqlite3_db_config(c->db, config[i].what, config[i].on, NULL);
	if (rc == SQLITE_OK)
		rc = sqlfunc_add(&c->lib, c->db);
	if (rc == SQLITE_OK)
		rc = c->lib.sqlite3_exec(c->db,
					 "PRAGMA temp_store = 2; PRAGMA mmap_size = 0; "
					 "PRAGMA cell_size_check = 1; PRAGMA foreign_keys = 1;",
					 NULL, NULL, NULL);
	if (rc == SQLITE_OK && !c->write)
		rc = c->lib.sqlite3_exec(c->db, "PRAGMA query_only = 1;", NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = c->lib.sqlite3_set_authorizer(c->db, authorize, c);
	c->lib.sqlite3_progress_handler(c->db, STEPS, progress, c);
	return rc;
}

/* ---- connections ---------------------------------------------------------------------------- */

void sqlconn_reason(const struct sqlconn *c, int rc, char *buf, size_t n)
{
	int at = c->db ? c->lib.sqlite3_error_offset(c->db) : -1;

	switch (rc & 0xff) {
	case SQLITE_INTERRUPT: snprintf(buf, n, "it took too long and was ended"); return;
	case SQLITE_AUTH:
		snprintf(buf, n, "not allowed here: only statements that %s data, one at a time",
			 c->write ? "read and change" : "read");
		return;
	case SQLITE_NOMEM: snprintf(buf, n, "it needs too much memory"); return;
	case SQLITE_BUSY: snprintf(buf, n, "%s", busy_words); return;
	default: break;
	}
	snprintf(buf, n, "%s", c->db ? c->lib.sqlite3_errmsg(c->db) : c->lib.sqlite3_errstr(rc));
	if (at >= 0 && strlen(buf) + 40 < n)
		snprintf(buf + strlen(buf), n - strlen(buf), ", at character %d", at + 1);
}

static void sqldb_fail(const struct sqlconn *c, const char *path, int rc, cleat_error *err)
{
	char why[200];

	sqlconn_reason(c, rc, why, sizeof why);
	error_set(err, rc == SQLITE_NOMEM ? CLEAT_ENOMEM : CLEAT_EIO, "%s: %s", path, why);
}

static struct sqlconn *conn_new(struct sqldb *db, const char *path, int flags, bool write,
				cleat_error *err)
{
	struct sqlconn *c = mem_zalloc(&db->mem, sizeof *c);
	int rc;

	if (!c) {
		error_set(err, CLEAT_ENOMEM, "out of memory");
		return NULL;
	}
	c->lib = db->lib;
	c->write = write;
	rc = c->lib.sqlite3_open_v2(path, &c->db, flags | SQLITE_OPEN_NOMUTEX, NULL);
	if (rc != SQLITE_OK) {
		sqldb_fail(c, db->path, rc, err);
		conn_free(db, c);
		return NULL;
	}
	c->patience_ms = BUSY_MS;
	c->lib.sqlite3_busy_handler(c->db, wait_for_lock, c);
	return c;
}

static int make(struct sqlconn *c, const char *sql)
{
	return c->lib.sqlite3_exec(c->db, sql, NULL, NULL, NULL);
}

/* Makes the file of `init`, whole or not at all: beside it, then given its name, unless somebody was
 * faster. */
static int make_file(struct sqldb *db, cleat_error *err)
{
	size_t n = strlen(db->path) + 32;
	char *fresh = mem_alloc(&db->mem, n);
	struct sqlconn *c = NULL;
	int rc = SQLITE_OK, status = CLEAT_OK;

	if (!fresh)
		return error_set(err, CLEAT_ENOMEM, "out of memory");
	snprintf(fresh, n, "%s.%ld.new", db->path, (long)getpid());
	unlink(fresh);
	c = conn_new(db, fresh, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, true, err);
	if (c)
		rc = make(c, db->init);
	if (c && rc != SQLITE_OK)
		sqldb_fail(c, db->path, rc, err);
	status = c && rc == SQLITE_OK ? CLEAT_OK : CLEAT_EIO;
	conn_free(db, c);
	if (status == CLEAT_OK && link(fresh, db->path) != 0 && errno != EEXIST)
		status = error_set(err, CLEAT_EIO, "%s: %s", db->path, strerror(errno));
	unlink(fresh);
	mem_free(&db->mem, fresh);
	return status;
}

/* The file is there, or is made now: of `init`, or empty where it may be changed. */
static int make_sure(struct sqldb *db, cleat_error *err)
{
	struct sqlconn *c = NULL;
	int status = CLEAT_OK;
	struct stat st;

	pthread_mutex_lock(&db->lock); /* one thread makes it, the others wait */
	if (!there(db, &st) && db->init) {
		status = make_file(db, err);
	} else if (!there(db, &st) && db->write) {
		c = conn_new(db, db->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, true, err);
		status = c ? CLEAT_OK : CLEAT_EIO;
		if (c)
			make(c, "PRAGMA user_version = 0;");
		conn_free(db, c);
	}
	pthread_mutex_unlock(&db->lock);
	return status;
}

static struct sqlconn *conn_open(struct sqldb *db, bool write, cleat_error *err)
{
	struct stat st = { 0 };
	struct sqlconn *c;
	int rc;

	/* Which file it is: before, so that one that takes its place meanwhile is noticed. */
	if (make_sure(db, err) != CLEAT_OK || !is_file(db, &st, err))
		return NULL;
	taken_set_file(&db->taken, &st);
	c = conn_new(db, db->path, write ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY, write,
		     err);
	if (!c)
		return NULL;
	/* Of its own: the path may lead to another file soon. */
	c->taken = (struct taken){ .path = db->path };
	taken_set_file(&c->taken, &st);
	taken_add(&c->taken);
	rc = shut_in(c);
	if (rc != SQLITE_OK) {
		sqldb_fail(c, db->path, rc, err);
		conn_free(db, c);
		return NULL;
	}
	return c;
}

/* One that waits, and leads to the file that is there now. */
static struct sqlconn *conn_idle(struct sqldb *db, bool write)
{
	struct sqlconn *c, **at;
	struct stat st;

	if (!there(db, &st))
		return NULL;
	pthread_mutex_lock(&db->lock);
	for (at = &db->idle; (c = *at); at = &c->next)
		if (c->write == write)
			break;
	if (c) {
		*at = c->next;
		db->n_idle--;
	}
	pthread_mutex_unlock(&db->lock);
	if (c &&
	    (c->taken.device != (uint64_t)st.st_dev || c->taken.inode != (uint64_t)st.st_ino)) {
		conn_free(db, c);
		return conn_idle(db, write);
	}
	return c;
}

struct sqlconn *sqldb_take(struct sqldb *db, bool write, cleat_request *req, uint64_t timeout_ms,
			   cleat_error *err)
{
	struct sqlconn *c = conn_idle(db, write);

	if (!c)
		c = conn_open(db, write, err);
	if (!c)
		return NULL;
	c->req = req;
	c->deadline = timeout_ms ? loop_now() + timeout_ms : 0;
	c->patience_ms = timeout_ms ? timeout_ms : BUSY_MS;
	return c;
}

/* Is there a log whose content belongs to the database? */
static bool has_log(const struct sqldb *db)
{
	char path[PATH_MAX];
	struct stat st;
	int n = snprintf(path, sizeof path, "%s-wal", db->path);

	return n > 0 && (size_t)n < sizeof path && stat(path, &st) == 0 && st.st_size > 0;
}

/* "file:/x/y.db?immutable=1": neither locks nor files beside it are made, and nothing is mended. */
static struct sqlconn *conn_look(struct sqldb *db, cleat_error *err)
{
	struct sqlconn *c = NULL;
	struct buf uri;
	struct stat st;
	int rc;

	if (!is_file(db, &st, err))
		return NULL;
	buf_init(&uri, &db->mem, 4 * PATH_MAX);
	buf_appendz(&uri, "file:");
	for (const char *p = db->path; *p; p++) {
		char three[3];

		uri_escape(three, (unsigned char)*p);
		buf_append(&uri, *p == '/' ? p : three, *p == '/' ? 1 : 3);
	}
	buf_appendz(&uri, has_log(db) ? "" : "?immutable=1");
	buf_putc(&uri, '\0');
	if (buf_status(&uri))
		error_set(err, buf_status(&uri), "%s: %s", db->path,
			  cleat_strstatus(buf_status(&uri)));
	else
		c = conn_new(db, buf_str(&uri).p, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, db->write,
			     err);
	buf_done(&uri);
	if (!c)
		return NULL;
	c->trial = true; /* not to be used for anything else */
	rc = shut_in(c);
	if (rc == SQLITE_OK)
		return c;
	sqldb_fail(c, db->path, rc, err);
	conn_free(db, c);
	return NULL;
}

/* Of the file that is there. Who reads a configuration does not wait long for a lock, and not once for each
 * statement. */
static struct sqlconn *trial_of_file(struct sqldb *db, cleat_error *err)
{
	struct sqlconn *c;
	int rc;

	if (db->busy_since && loop_now() - db->busy_since < TRIAL_MS) {
		error_set(err, CLEAT_EIO, "%s: %s", db->path, busy_words);
		return NULL;
	}
	c = db->look ? conn_look(db, err) : conn_open(db, db->write, err);
	if (!c)
		return NULL;
	c->patience_ms = TRIAL_MS;
	c->deadline = loop_now() + BUSY_MS;
	rc = make(c, "SELECT count(*) FROM sqlite_schema"); /* is it a database at all? */
	db->busy_since = (rc & 0xff) == SQLITE_BUSY ? loop_now() : 0;
	if (rc == SQLITE_OK)
		return c;
	sqldb_fail(c, db->path, rc, err);
	conn_free(db, c);
	return NULL;
}

/* `ctx`: a bool, becomes true when another file would be opened. */
static int authorize_trial(void *ctx, int action, const char *one, const char *two,
			   const char *where, const char *who)
{
	(void)two;
	(void)where;
	(void)who;
	if (action != SQLITE_ATTACH || (one && (!*one || strcmp(one, ":memory:") == 0)))
		return SQLITE_OK;
	*(bool *)ctx = true;
	return SQLITE_DENY;
}

struct sqlconn *sqldb_trial(struct sqldb *db, cleat_error *err)
{
	bool other_file = false;
	struct sqlconn *c;
	struct stat st;
	int rc;

	if (there(db, &st))
		return trial_of_file(db, err);
	if (!db->init && !db->write) {
		error_set(err, CLEAT_ENOENT, "%s: %s", db->path, strerror(ENOENT));
		return NULL;
	}
	c = conn_new(db, ":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, db->write, err);
	if (!c)
		return NULL;
	c->trial = true;
	c->lib.sqlite3_set_authorizer(c->db, authorize_trial, &other_file);
	rc = db->init ? make(c, db->init) : SQLITE_OK;
	if (rc == SQLITE_OK)
		rc = shut_in(c);
	if (rc == SQLITE_OK)
		return c;
	if (other_file)
		error_set(err, CLEAT_EUNSUPPORTED,
			  "%s: its \"init\" uses other files (ATTACH or VACUUM INTO), so what it "
			  "makes is not known before it is made",
			  db->path);
	else
		sqldb_fail(c, db->path, rc, err);
	conn_free(db, c);
	return NULL;
}

void sqldb_give(struct sqldb *db, struct sqlconn *c)
{
	bool keep;

	if (!c)
		return;
	c->req = NULL;
	c->deadline = 0;
	keep = !c->trial && c->lib.sqlite3_get_autocommit(c->db);
	pthread_mutex_lock(&db->lock);
	keep = keep && db->n_idle < IDLE_MAX;
	if (keep) {
		c->next = db->idle;
		db->idle = c;
		db->n_idle++;
	}
	pthread_mutex_unlock(&db->lock);
	if (!keep)
		conn_free(db, c);
}
