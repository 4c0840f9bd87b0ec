/* program/serve/sql/sqldb.h - a database file, and connections to it that can do no harm.
 *
 * Statements come from a model, so a connection is shut in: one statement at a time; no ATTACH, no VACUUM, no
 * extension, no PRAGMA that changes something, no transaction that outlives its call; a reading connection
 * reads, by the file's own mode, by SQLite's query_only, by the authorizer and by what SQLite says of the statement; time is bounded, also for a
 * statement that never gives a row; memory is bounded (sqlite.h); the file itself may be hostile
 * (trusted_schema off, defensive on, no memory mapping). Temporary tables and sorting stay in memory.
 *
 * Connections are kept and used again; one that leads to a file that has been replaced is closed.
 *
 * Any thread. A connection is used by one thread at a time.
 */
#ifndef PROGRAM_SERVE_SQL_SQLDB_H
#define PROGRAM_SERVE_SQL_SQLDB_H

#include "serve/kit/taken.h"
#include "serve/sql/sqlite.h"

#include <cleat/request.h>

struct sqldb;

struct sqldb_options {
	const char *path; /* absolute */
	bool write;       /* may be changed; the file is made when it is not there */
	const char *init; /* SQL that makes the file when it is not there; NULL */
	bool look;        /* sqldb_trial() leaves no trace on the disk: it does not lock, either */
};

/* The database of this path, counted; those who ask for the same share one. Does not touch the file. NULL:
 * *err says why. */
struct sqldb *sqldb_get(const cleat_allocator *mem, const struct sqldb_options *o,
			cleat_error *err);
struct sqldb *sqldb_ref(struct sqldb *db);
void sqldb_unref(struct sqldb *db); /* accepts NULL */

/* What reads it is called so, for messages of others that must not (taken.h); the first name counts. */
void sqldb_set_tool(struct sqldb *db, const char *tool);

struct sqlconn {
	struct sqlite lib;
	sqlite3 *db;
	bool write;
	/* Who waits, and how long. */
	cleat_request *req; /* NULL: nobody */
	uint64_t deadline;  /* loop_now(); 0: none */
	/* private */
	bool trial;
	uint64_t patience_ms, waits_since; /* for a lock */
	struct taken taken;
	struct sqlconn *next;
};

/* A connection for this request (NULL: none) that gives up after timeout_ms (0: never) or when the request is
 * cancelled. NULL: *err says why, for people. Give it back with sqldb_give(). */
struct sqlconn *sqldb_take(struct sqldb *db, bool write, cleat_request *req, uint64_t timeout_ms,
			   cleat_error *err);
/* For looking at the schema when a configuration is read: the file, or what `init` would make of it, in
 * memory, when it is not there yet; empty when it would be made empty. It may change things where the database
 * may be changed: compile, do not run. Waits a second for a lock at the most. One thread at a time. An `init` that
 * uses other files (ATTACH, VACUUM INTO) cannot be tried: CLEAT_EUNSUPPORTED. */
struct sqlconn *sqldb_trial(struct sqldb *db, cleat_error *err);
void sqldb_give(struct sqldb *db, struct sqlconn *c);

/* Why a statement failed: "no such column: nme, at character 8", or that it took too long. */
void sqlconn_reason(const struct sqlconn *c, int rc, char *buf, size_t n);

#endif
