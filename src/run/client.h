/* run/client.h - what a client needs to run: a loop, a timer, and somebody who answers what its server
 * asks. One for each client, made with it and freed with it. A client over a wire (wire_client.c) has no
 * loop: its wire is told when there is something to do, and does it when it is polled.
 *
 * Each way to reach a server is a file of its own (client_spawn.c, client_connect.c, ...), so that a
 * program which only starts children does not carry HTTP in it.
 */
#ifndef RUN_CLIENT_H
#define RUN_CLIENT_H

#include "client/core.h"
#include "link/links.h"
#include "run/runner.h"

struct client_wait;

/* Stands in for the loop. */
struct client_poll {
	/* There is something to do. Called on any thread. */
	void (*wake)(void *ctx);
	uint64_t (*now)(void *ctx); /* NULL: the system's clock */
	void *ctx, *now_ctx;
	atomic_uintptr_t owner; /* the thread that polls */
};

struct client_run {
	cleat_client *client;
	cleat_allocator mem;
	cleat_loop *loop; /* NULL: `poll` is in its place */
	struct client_poll poll;
	bool own_loop;
	bool pump_wanted;
	bool ending; /* inside cleat_client_free() */
	struct loop_timer *timer;
	struct loop_call cancel;    /* some call is to be given up; posted by any thread */
	struct cleat_server *asked; /* answers the server's questions; NULL: nobody asked yet */
	struct runner_ear ear;      /* hears, without a loop, of what `asked` has to do */
	const struct link *child;   /* NULL: the server is not a child of ours */
	struct client_wait *wait;   /* who waits for the end of a call; NULL: nobody */
	uint64_t stepped_ms;        /* when the last function that waits has returned */
};

struct client_given {
	cleat_client_options opts;
	cleat_error newer;
};

/* A client without a link, on this loop (NULL: that of the options, or one of its own). NULL when there
 * is no memory, or no descriptor, for it. */
struct client_run *client_run_new(const struct client_given *g, cleat_loop *loop);
/* What the program asked for, as far as it is known here; if there is more, `newer` says so, and the
 * client's calls end with that. */
struct client_given client_run_given(const cleat_client_options *o, size_t size);
/* A client without a link and without a loop. NULL when out of memory. */
struct client_run *client_run_new_polled(const struct client_given *g, void (*wake)(void *ctx),
					 void *ctx, uint64_t (*now)(void *ctx), void *now_ctx);
/* The polling: takes the client for the calling thread; does what is due; gives milliseconds until it
 * wants to be polled again, -1: not before `wake`. */
void client_run_own(struct client_run *run);
int client_run_poll(struct client_run *run);
/* Is the caller the thread that the client belongs to? Any thread. */
bool client_run_is_owner(const struct client_run *run);
/* Ends the client: calls end with CLEAT_ECLOSED in here. */
void client_run_free(struct client_run *run);
/* What every link wants to know. */
struct link_base_options client_run_base(struct client_run *run);
/* Gives the client its link, which is NULL when `why` says so. NULL (all is freed) when that was for
 * want of memory; otherwise the client, whose calls end with the reason. */
cleat_client *client_run_finish(struct client_run *run, struct link *l, const cleat_error *why);
/* May a function that waits be called? CLEAT_OK; otherwise why not. After a pause, what has happened
 * meanwhile is looked at first: a child that has died is found dead before something is sent to it, not
 * after. */
int client_run_may_wait(struct client_run *run, cleat_error *err);

/* client_asked.c: hooks.asked, */
struct peer *client_run_asked(void *ctx, const struct peer_sink *sink,
			      const struct peer_facts *facts);
/* and whether what the options offer can be offered. CLEAT_OK, CLEAT_EINVAL or CLEAT_ENOMEM. */
int client_run_check(struct client_run *run, cleat_error *err);

#endif
