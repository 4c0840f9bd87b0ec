/* program/bench/scan.h - what a JSON-RPC message is, without reading it: a look at the members of the
 * outermost object, and at those of "result" and "error".
 *
 * With json/skim.h: right for any JSON, but no check that a message is JSON. One pass, no allocation.
 */
#ifndef PROGRAM_BENCH_SCAN_H
#define PROGRAM_BENCH_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum scan_kind {
	SCAN_GARBAGE,
	SCAN_RESULT,
	SCAN_TOOL_ERROR, /* a result with "isError": true */
	SCAN_ASKS,       /* a result with "resultType": "input_required" */
	SCAN_ERROR,
	SCAN_REQUEST, /* from the server */
	SCAN_NOTICE
};

struct scan {
	enum scan_kind kind;
	bool has_id; /* a number that is a whole one: */
	uint64_t id;
	size_t id_at, id_n; /* where the id is in the text, whatever it is; id_n 0: there is none */
	const char *method; /* as it is in the text, without its quotes; NULL: none */
	size_t method_n;
	int64_t code; /* of an error */
};

void scan_message(const char *text, size_t n, struct scan *ret);

#endif
