/* program/clients/expand.h - variables in configuration files, without a shell. */
#ifndef PROGRAM_CLIENTS_EXPAND_H
#define PROGRAM_CLIENTS_EXPAND_H

#include <cleat/base.h>

struct expand_places {
	const char *workspace;                /* ${workspaceFolder} */
	const char *home;                     /* ${userHome} */
	const char *(*get)(const char *name); /* a variable of the environment; NULL: getenv() */
};

/* ${VAR}, ${VAR:-default}, ${env:VAR}, ${workspaceFolder}, ${workspaceFolderBasename}, ${userHome},
 * ${pathSeparator}, ${/}; a $ without { is a $. What comes in is never expanded again. The text, kept
 * until the end of the run; or NULL with the reason in *why. */
const char *expand(const char *text, const struct expand_places *places, const char **why);

#endif
