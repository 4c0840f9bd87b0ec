/* program/reach/target.h - where a server is: a command or a URL, and what goes with it. */
#ifndef PROGRAM_REACH_TARGET_H
#define PROGRAM_REACH_TARGET_H

#include "clients/config.h"

/* A server, ready to be reached. */
struct target {
	const char *const *argv; /* a command; or */
	const char *url;
	struct words env, headers;
	const char *cwd;
	const char *file;      /* that it is from; NULL: the command line */
	const char *no_bearer; /* why $CLEAT_BEARER is not for it; NULL: it is, or there is none */
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
/* What the server answered to initialize or server/discover, where there is more of it than fits into the library's
 * message; NULL: there is not. */
const cleat_json *cli_refusal(const struct cli *cli);
/* Takes $CLEAT_BEARER out of the environment, so that nothing that is started has it. Before anything else. */
void bearer_take(void);
/* $CLEAT_BEARER, if it is for this one; NULL: no, or there is none, with the reason in *ret_why (NULL: none). */
const char *bearer_for(const struct target *t, const char **ret_why);
/* An --env as it was given; CLEAT_BEARER alone with its value, because that was asked for. */
const char *bearer_env(const char *entry);
/* "command" or "http" or "sse" or "unix" or NULL, and what it is, unexpanded, in one line (kept). */
const char *config_kind(const struct config_server *s);
const char *config_line(const struct config_server *s);

#endif
