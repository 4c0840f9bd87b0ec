/* program/serve/sql/sqlite.c - SQLite, opened when the first database is. */
#include "serve/sql/sqlite.h"

#include "base/lazy.h"

#include <stdatomic.h>

#define CALLS(X)                                                                                   \
	X(sqlite3_open_v2)                                                                         \
	X(sqlite3_close_v2)                                                                        \
	X(sqlite3_exec)                                                                            \
	X(sqlite3_prepare_v3)                                                                      \
	X(sqlite3_step)                                                                            \
	X(sqlite3_finalize)                                                                        \
	X(sqlite3_stmt_readonly)                                                                   \
	X(sqlite3_bind_parameter_count)                                                            \
	X(sqlite3_bind_parameter_name)                                                             \
	X(sqlite3_bind_text)                                                                       \
	X(sqlite3_bind_int64)                                                                      \
	X(sqlite3_bind_double)                                                                     \
	X(sqlite3_bind_null)                                                                       \
	X(sqlite3_bind_value)                                                                      \
	X(sqlite3_column_count)                                                                    \
	X(sqlite3_column_name)                                                                     \
	X(sqlite3_column_type)                                                                     \
	X(sqlite3_column_int64)                                                                    \
	X(sqlite3_column_double)                                                                   \
	X(sqlite3_column_text)                                                                     \
	X(sqlite3_column_blob)                                                                     \
	X(sqlite3_column_bytes)                                                                    \
	X(sqlite3_errmsg)                                                                          \
	X(sqlite3_error_offset)                                                                    \
	X(sqlite3_errstr)                                                                          \
	X(sqlite3_extended_errcode)                                                                \
	X(sqlite3_changes)                                                                         \
	X(sqlite3_last_insert_rowid)                                                               \
	X(sqlite3_get_autocommit)                                                                  \
	X(sqlite3_busy_handler)                                                                    \
	X(sqlite3_limit)                                                                           \
	X(sqlite3_db_config)                                                                       \
	X(sqlite3_set_authorizer)                                                                  \
	X(sqlite3_progress_handler)                                                                \
	X(sqlite3_hard_heap_limit64)                                                               \
	X(sqlite3_bind_parameter_index)                                                            \
	X(sqlite3_create_function_v2)                                                              \
	X(sqlite3_user_data)                                                                       \
	X(sqlite3_value_type)                                                                      \
	X(sqlite3_value_text)                                                                      \
	X(sqlite3_value_blob)                                                                      \
	X(sqlite3_value_bytes)                                                                     \
	X(sqlite3_strlike)                                                                         \
	X(sqlite3_strglob)                                                                         \
	X(sqlite3_result_int64)                                                                    \
	X(sqlite3_result_text)                                                                     \
	X(sqlite3_result_subtype)                                                                  \
	X(sqlite3_result_error)                                                                    \
	X(sqlite3_result_error_toobig)                                                             \
	X(sqlite3_result_error_nomem)                                                              \
	X(sqlite3_malloc)                                                                          \
	X(sqlite3_free)

#define calls sqlite /* the name that base/lazy.h wants */
LAZY_LOADED(CALLS, "libsqlite3.so.0", "libsqlite3-0")

int sqlite_load(struct sqlite *ret, cleat_error *err)
{
	static atomic_bool limited;
	struct sqlite own;
	const struct sqlite *k = calls_get(&own, err);

	if (!k)
		return CLEAT_EUNSUPPORTED;
	if (!atomic_exchange(&limited, true))
		k->sqlite3_hard_heap_limit64(SQLITE_HEAP_MAX);
	*ret = *k;
	return CLEAT_OK;
}
