/* program/bench/plan.h - what is to be requested: --call and the like, or the scenarios of --mix.
 *
 *	[{"weight": 8, "call": "add", "arguments": {"a": 1, "b": 2}},
 *	 {"weight": 1, "list": "tools"}, {"weight": 1, "read": "config://app"},
 *	 {"prompt": "greet", "arguments": {"name": "x"}}, {"request": "ping", "params": {}}]
 *
 * Each is tried once with the library, which says whether it works at all, and whose messages are what is
 * repeated under load.
 */
#ifndef PROGRAM_BENCH_PLAN_H
#define PROGRAM_BENCH_PLAN_H

#include "cli/run.h"

#define PLAN_MAX 64

struct plan_item {
	const char *label;
	unsigned weight;
	const char *method; /* NULL: whether it answers, whatever that is called */
	const char *name;   /* of the tool */
	const cleat_json *params;
	const cleat_json *schema; /* of the tool's arguments; NULL: unknown */
	char *message;            /* as the library sent it */
	size_t message_n;
};

struct plan {
	struct plan_item items[PLAN_MAX];
	size_t n;
	/* what a session begins with; NULL: the server needs none */
	char *initialize, *initialized;
	size_t initialize_n, initialized_n;
	cleat_result *tools;
};

/* Reads the options. EXIT_GOOD, or what to exit with after a message. */
int plan_read(struct cli *cli, struct plan *p);
/* Reaches the server and tries everything. */
int plan_try(struct cli *cli, struct plan *p);
void plan_done(struct plan *p);

#endif
