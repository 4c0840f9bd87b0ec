/* program/verbs/perform.h - calls what a server has by name: a tool, a prompt. */
#ifndef PROGRAM_VERBS_PERFORM_H
#define PROGRAM_VERBS_PERFORM_H

#include "reach/catalog.h"

struct performance {
	const struct catalog_kind *kind;
	const char *method;
	/* The schema of an entry's arguments; NULL: none. *ret_doc is what it belongs to if that is not the
	 * entry itself, and is freed. */
	const cleat_json *(*schema)(const cleat_json *entry, cleat_doc **ret_doc);
};

/* cli->argv is a name and arguments. They are typed and checked by the schema, unless --no-check; with
 * --dry-run what would be sent is printed, otherwise it is done and its content printed. Gives the exit
 * code. */
int perform(struct cli *cli, const struct performance *p);

extern const struct cli_option perform_options[];

#endif
