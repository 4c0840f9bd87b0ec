/* client/core.h - the client role, as seen by the layer that runs it (run/).
 *
 * The core does no I/O: it has no descriptors, clocks or threads. It speaks to a server through a
 * `link` (protocol/link.h), gets the time from its hooks, and lets somebody else answer what the
 * server asks: `asked`, a peer (protocol/peer.h) that is given the server's questions as JSON-RPC
 * requests. Everything is called on the thread that owns the client.
 */
#ifndef CLIENT_CORE_H
#define CLIENT_CORE_H

#include "protocol/link.h"
#include "protocol/peer.h"
#include "json/build.h"

#include <cleat/client.h>

struct client_hooks {
	/* Milliseconds of a clock that never goes back. */
	uint64_t (*now_ms)(void *ctx);
	/* client_pump() wants to be called soon: no later than the next turn of the loop, never from in
	 * here. */
	void (*wake)(void *ctx);
	/* Random bits, for jitter. */
	uint32_t (*random)(void *ctx);
	/* Who answers the server's questions: a new connection for them. NULL result: out of memory. The
	 * answers go to `sink`. facts->mode is PEER_ASKED, facts->rev the revision agreed on. */
	struct peer *(*asked)(void *ctx, const struct peer_sink *sink,
			      const struct peer_facts *facts);
	void *ctx;
};

/* A client without a link yet; options are copied, defaults applied. NULL when out of memory. A client
 * whose options are wrong (an unknown revision) is made; its calls fail with the reason. */
cleat_client *client_new(const cleat_client_options *opts, const struct client_hooks *hooks);
/* Where the link sends its events; good as long as the client. */
struct link_events client_link_events(cleat_client *c);
/* Before anything is called. The link is the client's from now on (link_ops.free in client_free). */
void client_set_link(cleat_client *c, struct link *l);
/* What cannot work at all (a wrong address): all calls end with this. */
void client_fail(cleat_client *c, enum cleat_step step, const cleat_error *why);
/* What run/ keeps for this client. */
void client_set_runner(cleat_client *c, void *runner);
void *client_runner(const cleat_client *c);
const cleat_client_options *client_options(const cleat_client *c); /* defaults applied */

/* Begins to reach the server if nobody has yet (opts.on_state tells). CLEAT_OK, or why not. */
int client_start(cleat_client *c);
enum client_phase {
	CLIENT_IDLE,    /* nothing was tried yet */
	CLIENT_OPENING, /* the link opens, the era is found out, the session begins */
	CLIENT_READY,
	CLIENT_WAITING, /* lost; reached again after a while */
	CLIENT_DEAD     /* failed, and nothing more is tried until the next call, or never */
};
enum client_phase client_phase(const cleat_client *c);
/* Calls of the program's that have not ended. */
size_t client_calls(const cleat_client *c);

/* Ends what waits, runs callbacks that are due, checks deadlines. Gives milliseconds until it wants to
 * be called again, -1: not before the next hooks.wake. */
int client_pump(cleat_client *c);
/* Ends all calls with CLEAT_ECLOSED (their on_done runs in here), closes the `asked` peer at once, says
 * good-bye to the server and closes the link: client_closed() is true when that has ended. A call that
 * is begun afterwards fails. */
void client_close(cleat_client *c);
bool client_closed(const cleat_client *c);
/* Frees all, the link too, at once. */
void client_free(cleat_client *c);

/* ---- calls: what the public functions are made of ------------------------------------------- */

/* A call that is not made yet, and *params to build its params with, in the call's own memory: an object,
 * or nothing. NULL when out of memory: what is built then has failed. client_call() or client_call_drop() has to follow at once. */
cleat_call *client_call_new(cleat_client *c, struct build *params);
void client_call_drop(cleat_call *call);
/* Makes it: a call of `method` with what was built, which is checked; what latched there is its result.
 * Gives the call, or NULL when out of memory: then it is gone. For "tools/call" and the like the name is
 * taken out of the params. Never calls on_done from in here. `o` is copied; on_done must be set. */
cleat_call *client_call(cleat_call *call, const cleat_call_options *o, struct str method,
			struct build *params);
/* All pages of a list as one result. */
cleat_call *client_call_list(cleat_client *c, const cleat_call_options *o, enum cleat_list what);
/* A call that ends with this failure. */
cleat_call *client_call_failed(cleat_client *c, const cleat_call_options *o, enum cleat_step step,
			       const cleat_error *why);
/* A notification; `params` is an object, or NULL: none. CLEAT_OK: it was handed to the link, or (at most 256
 * of them) it will be when the server is ready. */
int client_notify(cleat_client *c, struct str method, const cleat_json *params);
/* As cleat_call_cancel(), on the owner's thread. */
void client_call_cancel(cleat_call *call);
/* Marks a call that somebody wants to be given up. Any thread, as long as the call is there; nothing else
 * happens. */
void client_call_mark(cleat_call *call);
/* Gives up the calls that were marked. */
void client_cancel_marked(cleat_client *c);

/* ---- answering the server ------------------------------------------------------------------- */

/* There are other roots now, which run/ keeps: the capability is declared from now on (a session that
 * is under way stays as it was declared), and a legacy session that has it is told. */
int client_roots_changed(cleat_client *c);

#endif
