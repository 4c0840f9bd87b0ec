/* program/verbs/verbs.c - the list of verbs, in the order of the help. A new verb is a file and a line here. */
#include "cli/verb.h"

#define VERBS(X)                                                                                   \
	X(ls)                                                                                      \
	X(show)                                                                                    \
	X(call)                                                                                    \
	X(read)                                                                                    \
	X(prompt)                                                                                  \
	X(complete)                                                                                \
	X(watch)                                                                                   \
	X(raw)                                                                                     \
	X(info)                                                                                    \
	X(shell)                                                                                   \
	X(ping)                                                                                    \
	X(doctor)                                                                                  \
	X(check)                                                                                   \
	X(validate)                                                                                \
	X(bench)                                                                                   \
	X(record)                                                                                  \
	X(replay)                                                                                  \
	X(serve)                                                                                   \
	X(install)                                                                                 \
	X(uninstall)                                                                               \
	X(config)                                                                                  \
	X(completion)                                                                              \
	X(version)                                                                                 \
	X(help)                                                                                    \
	X(man)

#define DECLARE(name) extern const struct verb verb_##name;
VERBS(DECLARE)

#define ENTRY(name) &verb_##name,
const struct verb *const cli_verbs[] = { VERBS(ENTRY) NULL };
