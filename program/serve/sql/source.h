/* program/serve/sql/source.h - databases, and queries as tools: from a value of the configuration to entries of a draft, or problems. */
#ifndef PROGRAM_SERVE_SQL_SOURCE_H
#define PROGRAM_SERVE_SQL_SOURCE_H

#include "serve/kit/draft.h"

/* databases.NAME (database.c). */
void source_database(struct draft *b, const char *name, const cleat_json *node);
/* tools.NAME with "sql" (sql.c). */
void source_sql(struct draft *b, const char *name, const cleat_json *node);

#endif
