/* run/client_inproc.c - a client of a server in the same process and on the same loop. */
#include "base/error.h"
#include "run/client.h"
#include "run/runner.h"

static struct peer *accept_peer(void *ctx, const struct peer_sink *sink,
				const struct peer_facts *facts)
{
	struct runner *r = ctx;
	struct peer_facts local = *facts;
	struct peer *p;

	local.transport = CLEAT_TRANSPORT_INPROC;
	p = server_accept(r->server, sink, &local);
	r->connected |= p != NULL;
	return p;
}

/* The server's runner, where both can share its loop; NULL with the reason otherwise. */
static struct runner *host(cleat_server *s, const cleat_loop *wanted, cleat_error *err)
{
	struct runner *r;

	if (server_start_status(s)) {
		*err = *cleat_server_error(s);
		return NULL;
	}
	r = runner_with_loop(s);
	if (!r)
		runner_no_loop(err);
	else if (wanted && wanted != atomic_load(&r->loop)) {
		error_set(err, CLEAT_EINVAL,
			  "a client in the server's process shares the server's loop: leave "
			  "opts.loop out, or make the server with the same");
		r = NULL;
	}
	return r;
}

cleat_client *cleat_client_inproc_(struct cleat_server *s, const cleat_client_options *o,
				   size_t size)
{
	struct client_given given = client_run_given(o, size);
	cleat_error err = { 0 };
	struct runner *r = host(s, given.opts.loop, &err);
	struct client_run *run = client_run_new(&given, r ? atomic_load(&r->loop) : NULL);
	struct link_base_options base;
	struct link *l = NULL;

	if (!run)
		return NULL;
	base = client_run_base(run);
	if (r)
		l = link_local_new(&base,
				   &(struct link_local_options){ .accept = accept_peer, .ctx = r },
				   &err);
	return client_run_finish(run, l, &err);
}
