/* program/clients/config.h - servers that other programs have in their configuration files.
 *
 * The files are read, never written. A name that is in several of them means the one that is nearest:
 * --config; otherwise this directory's (Claude Code's local ones, .mcp.json, .vscode, .cursor) before
 * the user's.
 */
#ifndef PROGRAM_CLIENTS_CONFIG_H
#define PROGRAM_CLIENTS_CONFIG_H

#include "cli/cli.h"
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

/* A server, ready to be reached. */
struct target {
	const char *const *argv; /* a command; or */
	const char *url;
	struct words env, headers;
	const char *cwd;
	const char *file; /* that it is from; NULL: the command line */
	bool old_sse;
	bool inherit_env; /* a command that the user typed */
};

/* Where cli->server or cli->command is. EXIT_GOOD, or EXIT_USAGE after a message. */
int target_find(struct cli *cli, struct target *ret);
/* Options that are for another kind of server. EXIT_GOOD, or EXIT_USAGE after a message. */
int target_check(struct cli *cli, const struct target *t);
/* Expands variables. NULL, or what is wrong ("file:line:column: key: why"), kept. */
const char *config_resolve(const struct config_server *s, struct target *ret);
/* Where the client of cli_client() has been told to go, and with what. Good until the end of the run. */
const struct target *cli_target(const struct cli *cli, const cleat_client_options **ret_options);
/* After the client is gone: what --record has written is complete. False: it is not (printed). */
bool server_end(const struct cli *cli);
/* "command" or "http" or "sse" or "unix" or NULL, and what it is, unexpanded, in one line (kept). */
const char *config_kind(const struct config_server *s);
const char *config_line(const struct config_server *s);

const char *config_home(void);
const char *config_workspace(void); /* this directory; a static buffer */

#endif
