/* program/serve/sql/database.h - the databases of a configuration, by name. */
#ifndef PROGRAM_SERVE_SQL_DATABASE_H
#define PROGRAM_SERVE_SQL_DATABASE_H

#include "serve/kit/draft.h"
#include "serve/sql/sqldb.h"

struct database_spec {
	const cleat_json *node; /* NULL: there is no database of this name */
	struct sqldb *db;       /* counted; NULL: problems were added */
	bool write;
	size_t max_rows, output_max;
	uint64_t timeout_ms;
};

/* Reads databases.NAME. `at`: who asks, for the problem when there is none. */
struct database_spec database_find(struct draft *b, const cleat_json *at, const char *name);

#endif
