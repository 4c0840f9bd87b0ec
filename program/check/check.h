/* program/check/check.h - the rules of `cleat check`, and what they found. */
#ifndef PROGRAM_CHECK_CHECK_H
#define PROGRAM_CHECK_CHECK_H

#include "reach/catalog.h"

enum check_severity { CHECK_ERROR, CHECK_WARNING, CHECK_NOTE };

struct check_rule {
	const char *id;
	const char *what; /* what it looks at */
	const char *fix;  /* what to do when it found something */
};
extern const struct check_rule check_rules[]; /* ends with id NULL */

struct check {
	struct cli *cli;
	FILE *to;
	cleat_build *findings; /* an array */
	size_t found[CHECK_NOTE + 1];
	unsigned unanswered; /* requests */
	bool asked;          /* by the last call: the server wanted to know something */
	uint64_t told;       /* rules whose remedy was printed, a bit each */
	/* What the server has; NULL: it has none, or the list failed. */
	cleat_result *lists[CLEAT_COUNT(catalog_kinds)];
};

/* Reads --rule and --skip. EXIT_GOOD, or EXIT_USAGE after a message. */
int check_choose(struct cli *cli);
bool check_wanted(const struct check *c, const char *rule);
/* A finding, unless nobody wants this rule. `where` is "tool add"; what is a server's is made safe. */
void check_report(struct check *c, enum check_severity severity, const char *rule,
		  const char *where, const char *fmt, ...) CLEAT_PRINTF(5, 6);

/* What the lists say (lists.c, schema.c): nothing is sent. */
void check_entries(struct check *c);
void check_tool_schema(struct check *c, const char *where, const char *member,
		       const cleat_json *schema);
/* How the server behaves (live.c): calls what cannot do harm. */
void check_behaviour(struct check *c);

#endif
