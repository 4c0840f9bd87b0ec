/* program/serve/kit/gate.h - how many calls of a tool run at once; the others wait their turn.
 *
 * A handler passes the gate (gate_enter) or is put in a queue, deferred, and runs when somebody leaves. The
 * queue is bounded; a call that is cancelled leaves it. Loop thread only (handlers that are not blocking).
 */
#ifndef PROGRAM_SERVE_KIT_GATE_H
#define PROGRAM_SERVE_KIT_GATE_H

#include <cleat/request.h>

enum { GATE_WAITING_MAX = 1000 };

struct gate;

/* NULL: no memory. `width` calls at once (0: 1), at most GATE_WAITING_MAX waiting. `mem` may be NULL. */
struct gate *gate_new(const cleat_allocator *mem, unsigned width);
/* Defers the request and calls run(req, ctx) now, or later from gate_leave(): CLEAT_PENDING. When too many
 * wait it replies "busy" and gives CLEAT_OK, when the request is cancelled already CLEAT_ECANCELLED; both
 * without deferring it. The handler returns what this returns. run() must lead to one gate_leave(). `ctx`
 * must live as long as the request. */
int gate_enter(struct gate *g, cleat_request *req, void (*run)(cleat_request *req, void *ctx),
	       void *ctx);
/* For the request's on_cancel function (which is set before gate_enter). True: it was waiting, and has been
 * finished; `run` will not be called. False: it is inside, or was never here. */
bool gate_cancel(struct gate *g, cleat_request *req);
/* Lets the next one in. It may run before this returns. */
void gate_leave(struct gate *g);
void gate_free(struct gate *g); /* nobody is inside or waiting; accepts NULL */

#endif
