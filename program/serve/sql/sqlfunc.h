/* program/serve/sql/sqlfunc.h - SQLite's functions that may take for ever on one row, in a kind that does not.
 *
 * A statement is ended when its time is over, but SQLite looks at the clock between the steps of its machine,
 * and a function is one step: its instr() and replace() compare every place of one text with all of another,
 * its trim() every character with a list; 16 MB and 8 MB of zeros are hours. These do the same in time
 * proportional to their arguments (trim: with a list of at most TRIM_MAX bytes). Its printf() and format() write
 * %.900000000c a character at a time, its json_patch() compares every key of one text with all of the other:
 * those are called with bounds, and so are LIKE and GLOB, which compare a pattern with every place of a text.
 */
#ifndef PROGRAM_SERVE_SQL_SQLFUNC_H
#define PROGRAM_SERVE_SQL_SQLFUNC_H

#include "serve/sql/sqlite.h"

enum { TRIM_MAX = 256 };

/* Puts them in place of those of SQLite. */
int sqlfunc_add(const struct sqlite *lib, sqlite3 *db);

#endif
