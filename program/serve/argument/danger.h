/* program/serve/argument/danger.h - what an argument must never become: a variable that changes how programs work, or a part
 * of a script.
 *
 * Both are found when the configuration is read, so that no value has to be looked at. It is a net for slips
 * of whoever writes a configuration, not for their intent: eval "$x" in a script, or a program that nobody here
 * has heard of and that runs its words, is not seen.
 */
#ifndef PROGRAM_SERVE_ARGUMENT_DANGER_H
#define PROGRAM_SERVE_ARGUMENT_DANGER_H

#include "base/str.h"

/* Letters, digits and _, no digit first? */
bool danger_is_name(struct str name);
/* May an argument of this name become an environment variable? NULL, or why not. */
const char *danger_variable(struct str name);
/* The words of a command (end with NULL), as they are configured; places[i]: an argument stands in words[i].
 * The index of a word in which it would become part of a script (sh -c, python3 -c), an option of an
 * interpreter, or the program that env is to run; 0: none. Rather one too many than one too few. */
size_t danger_script(const char *const *words, const bool *places);
/* The "--" behind which nothing is an option of the program that gets the words; words[i] NULL: an argument
 * is there. Its index; n: none. That of env, sudo, kubectl exec and so on is their own. */
size_t danger_dashes(const char *const *words, size_t n);

#endif
