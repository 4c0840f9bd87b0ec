/* server/core.h - the server role, as seen by the layer that runs it (run/).
 *
 * The core does no I/O: it has no descriptors, clocks or threads. What it needs of them it gets
 * through server_hooks. Everything here is called on the thread that owns the server, except where
 * it says "any thread".
 */
#ifndef SERVER_CORE_H
#define SERVER_CORE_H

#include "protocol/peer.h"
#include "request/hooks.h"
#include "request/note.h"

#include <cleat/server.h>

#include <stdatomic.h>

/* The hooks must be set before the first connection; they are copied. */
void server_set_hooks(cleat_server *s, const struct server_hooks *hooks);
/* What run/ keeps for this server (its loop, its pool); freed by `done` in cleat_server_free(),
 * before the core itself is freed and after all peers were closed. */
void server_set_runner(cleat_server *s, void *runner, void (*done)(void *runner));
/* Any thread, also signal handlers. */
void *server_runner(const cleat_server *s);
/* Set by cleat_server_stop(), taken back by who obeys it; lives as long as the server. Any thread,
 * also signal handlers. */
atomic_bool *server_stop_flag(cleat_server *s);
const cleat_server_options *server_options(const cleat_server *s);
const cleat_allocator *server_memory(const cleat_server *s);
/* CLEAT_OK when the server may be run: nothing failed while it was built. NULL gives
 * CLEAT_ENOMEM. */
int server_start_status(const cleat_server *s);
/* Replaces opts.log. */
void server_set_log(cleat_server *s, void (*log)(void *userdata, int level, const char *message),
		    void *userdata);
/* The i-th tool's name, NULL after the last. */
const char *server_tool_name(const cleat_server *s, size_t i);
const char *server_name(const cleat_server *s);
const char *server_version(const cleat_server *s);
size_t server_max_message(const cleat_server *s); /* with the default applied */
size_t server_max_reply(const cleat_server *s);

/* Changes what is offered in one go: the entries `gone` (of this server) are taken out, and all of the
 * registry `more` move in, those of the same name into their places; clients that listen are told once, of the
 * lists that say something else now. CLEAT_OK; CLEAT_EEXIST (one of `more` is
 * there already and not `gone`), CLEAT_ENOMEM or CLEAT_ELIMIT: then nothing has changed. `between` (may be
 * NULL) is called when nothing can go wrong any more, before anything moves in; it may remove things.
 * Owner's thread. */
struct entry;
struct registry;
int server_exchange(cleat_server *s, struct entry *const *gone, size_t n_gone,
		    struct registry *more, void (*between)(void *ctx), void *ctx);
struct registry *server_registry(cleat_server *s);

/* Told of each URI that a client subscribes to, so that only what somebody wants to hear of needs to be
 * watched. Ends of subscriptions are not told: ask server_is_subscribed() when it matters. Owner's thread. */
struct subscription_hook {
	void (*fn)(struct subscription_hook *h, struct str uri);
	struct subscription_hook *next; /* the server's */
};
/* Also calls fn for every subscription that is already there. */
void server_hook_subscriptions(cleat_server *s, struct subscription_hook *h);
/* Does nothing for one that is not there. */
void server_unhook_subscriptions(cleat_server *s, struct subscription_hook *h);
bool server_is_subscribed(const cleat_server *s, struct str uri);

/* A new connection; NULL when out of memory, and for PEER_ASKED before server_set_asked(), and then
 * facts.userdata is still the caller's. Sink and facts are copied; `facts` NULL is all-zero. */
struct peer *server_accept(cleat_server *s, const struct peer_sink *sink,
			   const struct peer_facts *facts);
/* Handles an event from hooks.post. */
void server_deliver(cleat_server *s, struct server_event *base);
/* Sends list_changed notices that are due, checks deadlines. Gives milliseconds until it wants to
 * be called again, -1: not before the next hooks.wake. */
int server_pump(cleat_server *s);
/* Cancels everything that runs, ends subscriptions gracefully, answers what is still waiting; the
 * peers stay until they are closed. Over HTTP what runs may finish, as long as it does not ask its
 * client, which cannot be heard any more. */
void server_shutdown(cleat_server *s);
/* Now it may not: answers and cancels what server_shutdown() let run. */
void server_abort(cleat_server *s);
/* Requests of all connections whose handlers have not ended yet. */
size_t server_running(const cleat_server *s);

#endif
