/* client/options.h - the client's options: copied, completed, checked. */
#ifndef CLIENT_OPTIONS_H
#define CLIENT_OPTIONS_H

#include "base/arena.h"
#include "protocol/revision.h"

#include <cleat/client.h>

/* Replaces every pointer in *o by one into the arena, and zeros by defaults. CLEAT_OK or
 * CLEAT_ENOMEM. */
int options_copy(struct arena *ar, cleat_client_options *o);

/* Which ways of speaking they allow. */
struct options_eras {
	bool modern, legacy;
	enum revision best_legacy;
};
/* CLEAT_OK, or CLEAT_EINVAL with the reason; *ret is filled in any case. */
int options_check(const cleat_client_options *o, struct options_eras *ret, cleat_error *err);

#endif
