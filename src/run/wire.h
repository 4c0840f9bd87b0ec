/* run/wire.h - a connection without descriptors, as <cleat/wire.h> shows it: a role, and what both roles
 * have in common. wire_server.c and wire_client.c are the roles; each struct begins with its cleat_wire.
 */
#ifndef RUN_WIRE_H
#define RUN_WIRE_H

#include <cleat/wire.h>

#include "base/str.h"

/* The public functions, with their checks done; never one from inside another. */
struct wire_role {
	int (*feed)(cleat_wire *w, const void *p, size_t n);
	void (*eof)(cleat_wire *w);
	struct str (*ready)(const cleat_wire *w);
	void (*sent)(cleat_wire *w, size_t n);
	int (*poll)(cleat_wire *w);
	size_t (*inflight)(const cleat_wire *w);
	void (*free)(cleat_wire *w);
};

struct cleat_wire {
	const struct wire_role *role;
	cleat_wire_options opts;
	bool busy; /* inside a call */
	bool told; /* wake was called; since the last call */
};

/* Something is to be done or to be sent, and nobody looks here by themselves. Owner's thread. */
void wire_tell(cleat_wire *w);

#endif
