/* program/clients/config.h - servers that other programs have in their configuration files.
 *
 * The files are read, never written. A name that is in several of them means the one that is nearest:
 * --config; otherwise this directory's (Claude Code's local ones, .mcp.json, .vscode, .cursor) before
 * the user's.
 */
#ifndef PROGRAM_CLIENTS_CONFIG_H
#define PROGRAM_CLIENTS_CONFIG_H

#include "cli/run.h"
#include "text/text.h"

struct config_file {
	const char *path;    /* as it is shown: "~/.cursor/mcp.json" */
	const char *program; /* whose it is: "Cursor" */
	const char *problem; /* why it was not read; NULL: it was, or is not there */
	bool found, project;
	cleat_doc *doc;
	char *text; /* strict JSON, with the positions of the file */
	size_t n;
};

struct config_server {
	const char *name;
	const struct config_file *file;
	const char *keys[4]; /* the way to it: "mcpServers", "gh"; ends with NULL, or is full */
	size_t n_keys;
	const cleat_json *entry;
	const struct config_server *shadowed_by; /* NULL: this one counts */
};

struct config {
	struct config_file *files;
	size_t n_files;
	struct config_server *servers; /* in the order of precedence */
	size_t n;
};

/* All that is there; read once. NULL: --config names a file that cannot be read (printed). Files that are
 * found by themselves and are broken are only remarked on. */
const struct config *config_load(struct cli *cli);
/* The server of this name that counts; NULL: none. */
const struct config_server *config_find(const struct config *c, const char *name);
void config_free(void);

const char *config_home(void);
const char *config_workspace(void); /* this directory; a static buffer */

#endif
