/* request/server.h - the server itself, as its connections and requests see it: what was asked of it, what
 * it offers, what it has in common for all of them. Remarks and errors are in note.h.
 *
 * Everything belongs to the owner's thread, except where it says "any thread". How a server is made, run
 * and freed is in core.h.
 */
#ifndef REQUEST_SERVER_H
#define REQUEST_SERVER_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/crypto.h"
#include "protocol/revision.h"
#include "request/hooks.h"
#include "request/registry.h"

#include <stdatomic.h>

struct asked;
struct subscription_hook;

struct cleat_server {
	cleat_allocator mem;
	cleat_server_options opts; /* defaults applied, strings copied */
	struct arena arena;
	const char *name, *version;
	cleat_error error; /* the first one until there is a connection, then the last one */
	int start_status;  /* of the first one before any connection; the server is not run then */
	bool serving;      /* there was a connection */
	atomic_uint misused; /* kinds of misuse that were told (life.h) */
	void (*log)(void *userdata, int level, const char *message);
	void *log_data;
	/* Remarks made before there was a log: cleat_server_main() brings one that late. */
	struct {
		int level;
		const char *text;
	} early[8];
	size_t n_early;
	struct server_hooks hooks;
	atomic_bool has_hooks; /* read by cleat_server_post(), any thread */
	_Atomic(void *) runner;
	atomic_bool stop_asked;
	void (*runner_done)(void *runner);
	struct registry registry;
	cleat_connection *conns;
	cleat_request *pool, **pool_tail; /* oldest first, so that a late double finish is seen */
	size_t pooled, running;
	unsigned changed; /* LISTEN_* bits: list_changed is due */
	bool stopping;
	bool pumping; /* inside server_pump() */
	bool unsent;  /* some answer waits for memory: PHASE_UNSENT, unsent_batches */
	uint32_t seed;
	uint64_t elicitations;      /* URL questions so far */
	struct str info[REV_COUNT]; /* Implementation, JSON, made when first needed */
	unsigned char key[CRYPTO_KEY_SIZE];
	bool has_key;
	struct asked *asked; /* NULL: there is no client behind this server (asked.h) */
	struct subscription_hook *subscription_hooks;
};

/* Which shelves and features the server announces. */
bool server_has_tools(const cleat_server *s);
bool server_has_resources(const cleat_server *s);
bool server_has_prompts(const cleat_server *s);
bool server_has_completions(const cleat_server *s);

#endif
