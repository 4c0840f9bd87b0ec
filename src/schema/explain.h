/* schema/explain.h - what explain.c (one problem) and nearest.c (one of several forms) share. The
 * functions that add a problem to a report are in run.h.
 */
#ifndef SCHEMA_EXPLAIN_H
#define SCHEMA_EXPLAIN_H

#include "schema/run.h"

/* One problem that is being written. */
struct problem {
	struct run *r;
	const struct at *at;
	node_id id;
	const char *keyword;
	const yyjson_val *value;
	struct buf line; /* its place is in it already */
};

/* At least this far away when a value has not even the type. */
enum { EXPLAIN_OTHER_TYPE = 1000 };

/* Counts a problem; false when its line is not wanted (or the run ends here), else problem_end()
 * follows. */
bool problem_begin(struct problem *p, struct run *r, node_id id, const char *keyword,
		   const yyjson_val *v, const struct at *at);
/* Tells it. Out of memory ends the run. */
void problem_end(struct problem *p);

/* ---- nearest.c ---- */

/* How far the value is from the schema (0: it fits); its first problem is appended to *line, without
 * the place where that is `within`. */
size_t explain_first(struct run *r, node_id id, const yyjson_val *v, const struct at *at,
		     const struct at *within, struct buf *line);
/* "; nearest is [2].x: required, but missing", for an array too few of whose elements fit. */
void explain_nearest_element(struct run *r, node_id id, const yyjson_val *v, const struct at *at,
			     struct buf *line);

#endif
