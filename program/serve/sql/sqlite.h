/* program/serve/sql/sqlite.h - SQLite, opened when the first database is.
 *
 * Only the functions that are needed. The library is told once to keep its memory within
 * SQLITE_HEAP_MAX for the whole process: a query that wants more fails, the server does not.
 */
#ifndef PROGRAM_SERVE_SQL_SQLITE_H
#define PROGRAM_SERVE_SQL_SQLITE_H

#include <cleat/base.h>

#include <sqlite3.h>

enum { SQLITE_HEAP_MAX = 256 << 20 };

struct sqlite {
	int (*sqlite3_open_v2)(const char *, sqlite3 **, int, const char *);
	int (*sqlite3_close_v2)(sqlite3 *);
	int (*sqlite3_exec)(sqlite3 *, const char *, int (*)(void *, int, char **, char **), void *,
			    char **);
	int (*sqlite3_prepare_v3)(sqlite3 *, const char *, int, unsigned, sqlite3_stmt **,
				  const char **);
	int (*sqlite3_step)(sqlite3_stmt *);
	int (*sqlite3_finalize)(sqlite3_stmt *);
	int (*sqlite3_stmt_readonly)(sqlite3_stmt *);
	int (*sqlite3_bind_parameter_count)(sqlite3_stmt *);
	const char *(*sqlite3_bind_parameter_name)(sqlite3_stmt *, int);
	int (*sqlite3_bind_parameter_index)(sqlite3_stmt *, const char *);
	int (*sqlite3_bind_text)(sqlite3_stmt *, int, const char *, int, void (*)(void *));
	int (*sqlite3_bind_int64)(sqlite3_stmt *, int, sqlite3_int64);
	int (*sqlite3_bind_double)(sqlite3_stmt *, int, double);
	int (*sqlite3_bind_null)(sqlite3_stmt *, int);
	int (*sqlite3_bind_value)(sqlite3_stmt *, int, const sqlite3_value *);
	int (*sqlite3_column_count)(sqlite3_stmt *);
	const char *(*sqlite3_column_name)(sqlite3_stmt *, int);
	int (*sqlite3_column_type)(sqlite3_stmt *, int);
	sqlite3_int64 (*sqlite3_column_int64)(sqlite3_stmt *, int);
	double (*sqlite3_column_double)(sqlite3_stmt *, int);
	const unsigned char *(*sqlite3_column_text)(sqlite3_stmt *, int);
	const void *(*sqlite3_column_blob)(sqlite3_stmt *, int);
	int (*sqlite3_column_bytes)(sqlite3_stmt *, int);
	const char *(*sqlite3_errmsg)(sqlite3 *);
	int (*sqlite3_error_offset)(sqlite3 *);
	const char *(*sqlite3_errstr)(int);
	int (*sqlite3_extended_errcode)(sqlite3 *);
	int (*sqlite3_changes)(sqlite3 *);
	sqlite3_int64 (*sqlite3_last_insert_rowid)(sqlite3 *);
	int (*sqlite3_get_autocommit)(sqlite3 *);
	int (*sqlite3_busy_handler)(sqlite3 *, int (*)(void *, int), void *);
	int (*sqlite3_limit)(sqlite3 *, int, int);
	int (*sqlite3_db_config)(sqlite3 *, int, ...);
	int (*sqlite3_set_authorizer)(sqlite3 *,
				      int (*)(void *, int, const char *, const char *, const char *,
					      const char *),
				      void *);
	void (*sqlite3_progress_handler)(sqlite3 *, int, int (*)(void *), void *);
	sqlite3_int64 (*sqlite3_hard_heap_limit64)(sqlite3_int64);
	/* for functions of our own */
	int (*sqlite3_create_function_v2)(sqlite3 *, const char *, int, int, void *,
					  void (*)(sqlite3_context *, int, sqlite3_value **),
					  void (*)(sqlite3_context *, int, sqlite3_value **),
					  void (*)(sqlite3_context *), void (*)(void *));
	void *(*sqlite3_user_data)(sqlite3_context *);
	int (*sqlite3_value_type)(sqlite3_value *);
	const unsigned char *(*sqlite3_value_text)(sqlite3_value *);
	const void *(*sqlite3_value_blob)(sqlite3_value *);
	int (*sqlite3_value_bytes)(sqlite3_value *);
	int (*sqlite3_strlike)(const char *, const char *, unsigned int);
	int (*sqlite3_strglob)(const char *, const char *);
	void (*sqlite3_result_int64)(sqlite3_context *, sqlite3_int64);
	void (*sqlite3_result_text)(sqlite3_context *, const char *, int, void (*)(void *));
	void (*sqlite3_result_subtype)(sqlite3_context *, unsigned);
	void (*sqlite3_result_error)(sqlite3_context *, const char *, int);
	void (*sqlite3_result_error_toobig)(sqlite3_context *);
	void (*sqlite3_result_error_nomem)(sqlite3_context *);
	void *(*sqlite3_malloc)(int);
	void (*sqlite3_free)(void *);
};

/* CLEAT_OK, or CLEAT_EUNSUPPORTED with what to install. Any thread. */
int sqlite_load(struct sqlite *ret, cleat_error *err);

#endif
