/* serve/danger.h - what an argument must never become: a variable that changes how programs work, or a part
 * of a script.
 *
 * Both are found when the configuration is read, so that no value has to be looked at. It is a net for slips
 * of whoever writes a configuration, not for their intent: eval "$x", or ssh, whose words are a script on the
 * other side, are not seen.
 */
#ifndef SERVE_DANGER_H
#define SERVE_DANGER_H

#include "base/str.h"

/* Letters, digits and _, no digit first? */
bool danger_is_name(struct str name);
/* May an argument of this name become an environment variable? NULL, or why not. */
const char *danger_variable(struct str name);
/* The word of a command (ends with NULL) that an interpreter in it takes for a script, as behind sh -c or
 * python3 -c: its index, or 0. */
size_t danger_script(const char *const *words);

#endif
