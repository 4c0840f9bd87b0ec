/* program/help/help.h - help, man pages and completions, all made of the tables of the verbs. */
#ifndef PROGRAM_HELP_HELP_H
#define PROGRAM_HELP_HELP_H

#include "cli/run.h"

struct topic {
	const char *name, *title, *summary;
	const char *const *lines; /* "word\ttext", or a paragraph; ends with NULL */
};

extern const struct topic help_topics[]; /* ends with name NULL */

extern const char help_summary[];

int help_version(struct cli *cli);
int help_all(struct cli *cli);
void help_short(void);
int help_verb(struct cli *cli, const struct verb *v);
int help_topic(struct cli *cli, const struct topic *t);

#endif
