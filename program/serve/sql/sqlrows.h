/* program/serve/sql/sqlrows.h - runs one statement and makes JSON of its rows.
 *
 *	{"columns": ["id", "name"], "rows": [{"id": 1, "name": "Ada"}], "truncated": false}
 *
 * Values are bound, never pasted. A column that is named like one before it gets a number ("id_2"). A blob is
 * {"base64": "..."}. What is over the limits is left out, and said.
 */
#ifndef PROGRAM_SERVE_SQL_SQLROWS_H
#define PROGRAM_SERVE_SQL_SQLROWS_H

#include "serve/sql/sqldb.h"

/* The result's schema, without and with what a change tells. */
extern const char sqlrows_schema[], sqlrows_change_schema[];

struct sqlrows_options {
	const char *sql; /* n bytes of it */
	size_t n;
	/* Values: an array by position, an object by name; NULL: none. With `lenient` a name that is not
	 * there is NULL, and names that the statement does not have are fine. */
	const cleat_json *params;
	bool lenient;
	bool write;
	size_t max_rows, output_max;
	uint64_t timeout_ms;
};

/* Runs it and replies; what the handler returns. On a worker thread. */
int sqlrows_reply(cleat_request *req, struct sqldb *db, const struct sqlrows_options *o);

/* Compiles it, without running it. CLEAT_OK, or CLEAT_EINVAL with the reason: it is not SQL, more than one
 * statement, changes something although !write. */
int sqlrows_check(struct sqlconn *c, const char *sql, size_t n, bool write, cleat_error *err);
/* The names of its parameters, without ':', one call each; `name` is NULL for one without a name. False:
 * it cannot be compiled. */
bool sqlrows_params(struct sqlconn *c, const char *sql, size_t n,
		    void (*fn)(void *ctx, const char *name), void *ctx);

#endif
