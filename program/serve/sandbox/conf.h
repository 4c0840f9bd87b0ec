/* program/serve/sandbox/conf.h - "sandbox" of a configuration to a sandbox. */
#ifndef PROGRAM_SERVE_SANDBOX_CONF_H
#define PROGRAM_SERVE_SANDBOX_CONF_H

#include "serve/kit/draft.h"
#include "serve/sandbox/sandbox.h"

/* Reads "sandbox" of the node, then of "defaults"; *ret NULL: none. False: problems were added. */
bool sandbox_conf(struct draft *b, const cleat_json *node, const char *program,
		  struct sandbox **ret);

#endif
