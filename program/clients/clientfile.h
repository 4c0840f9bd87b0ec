/* program/clients/clientfile.h - a configuration file of another program, changed with care.
 *
 * The difference is shown before anything is written; what was there is kept beside it; the new file takes
 * the old one's place at once and whole, so that the program never sees half of it. A symbolic link stays
 * one: the file it leads to is replaced.
 */
#ifndef PROGRAM_CLIENTS_CLIENTFILE_H
#define PROGRAM_CLIENTS_CLIENTFILE_H

#include "cli/run.h"
#include "clients/places.h"
#include "text/text.h"

struct clientfile {
	struct place place;
	const char *real; /* without symbolic links */
	struct text text; /* "" when it is not there */
	cleat_doc *doc;
	const cleat_json *servers; /* NULL: none yet */
};

/* Options that both verbs have. */
#define CLIENTFILE_OPTIONS                                                                         \
	{ .name = "project",                                                                       \
	  .help = "the file of this directory (.mcp.json, .vscode/mcp.json, "                      \
		  ".cursor/mcp.json), not the user's" },                                           \
		{ .name = "dry-run",                                                               \
		  .letter = 'n',                                                                   \
		  .help = "show the difference, write nothing" },                                  \
	{                                                                                          \
		.name = "yes", .letter = 'y',                                                      \
		.help = "do not ask; needed where there is no terminal"                            \
	}

/* Reads the file of a program ("cursor") or a path. EXIT_GOOD, or a message was printed. */
int clientfile_open(struct cli *cli, struct clientfile *f, const char *client);
/* Shows the difference, asks on a terminal (without one --yes is needed), keeps a backup, writes. EXIT_GOOD, also with --dry-run. */
int clientfile_write(struct cli *cli, struct clientfile *f, struct text *after);
void clientfile_close(struct clientfile *f);

#endif
