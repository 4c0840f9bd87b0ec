/* run/client_asked.c - who answers what a server asks its client: a server of our own that nobody sees
 * (server/asked.h), whose handlers are those of the client's options. It is made when the first question
 * comes, or roots are given, and shares the client's loop; its worker threads are its own. A client without
 * a loop has none of these: what blocks runs inline.
 */
#include "base/error.h"
#include "run/client.h"
#include "run/runner.h"
#include "server/asked.h"

static void client_asked_on_note(void *userdata, int level, const char *text)
{
	cleat_client *c = ((struct client_run *)userdata)->client;
	const cleat_client_options *o = client_options(c);

	if (o->on_note)
		o->on_note(c, level, text, o->userdata);
}

static cleat_server *make(struct client_run *run)
{
	const cleat_client_options *o = client_options(run->client);

	return cleat_server_new("client", CLEAT_VERSION,
				&(cleat_server_options){ .no_logging = true,
							 .loop = run->loop,
							 .max_message = o->max_message,
							 .max_inflight = o->max_calls,
							 .json = o->json,
							 .userdata = o->userdata,
							 .allocator = &run->mem });
}

/* On the client's loop, or by its polling and its clock. */
static int get_going(struct client_run *run, cleat_server *s)
{
	struct runner *r = run->loop ? runner_with_loop(s) : runner_get(s);

	if (!r)
		return CLEAT_ENOMEM;
	if (!run->loop) {
		r->now = run->poll.now;
		r->now_ctx = run->poll.now_ctx;
		run->ear = (struct runner_ear){ .wake = run->poll.wake, .ctx = run->poll.ctx };
		runner_listen(r, &run->ear);
	}
	return CLEAT_OK;
}

static int set_up(struct client_run *run, cleat_server *s)
{
	const cleat_client_options *o = client_options(run->client);
	int rc = server_start_status(s);

	if (rc)
		return rc;
	server_set_log(s, client_asked_on_note, run);
	rc = server_set_asked(s, &(struct server_asked){ .on_form = o->on_form,
							 .on_url = o->on_url,
							 .on_sampling = o->on_sampling,
							 .blocking = o->blocking_handlers,
							 .sampling_tools = o->sampling_tools,
							 .userdata = o->userdata,
							 .client = run->client });
	if (!rc && (o->n_roots || o->offer_roots))
		rc = server_set_roots(s, o->roots, o->n_roots);
	return rc ? rc : get_going(run, s);
}

/* CLEAT_OK when there is one. */
static int need_server(struct client_run *run)
{
	cleat_server *s;
	int rc;

	if (run->asked)
		return CLEAT_OK;
	s = make(run);
	rc = set_up(run, s);
	if (rc)
		cleat_server_free(s);
	else
		run->asked = s;
	return rc;
}

struct peer *client_run_asked(void *ctx, const struct peer_sink *sink,
			      const struct peer_facts *facts)
{
	struct client_run *run = ctx;

	return need_server(run) ? NULL : server_accept(run->asked, sink, facts);
}

int client_run_check(struct client_run *run, cleat_error *err)
{
	int rc = client_options(run->client)->n_roots ? need_server(run) : CLEAT_OK;

	if (rc == CLEAT_EINVAL)
		return error_set(err, rc, "a root's uri is missing, or is not an absolute URI");
	return rc ? error_set(err, rc, "%s", cleat_strstatus(rc)) : CLEAT_OK;
}

int cleat_client_set_roots(cleat_client *c, const cleat_root *roots, size_t n)
{
	struct client_run *run = c ? client_runner(c) : NULL;
	int rc = !roots && n ? CLEAT_EINVAL : run ? need_server(run) : CLEAT_ENOMEM;

	if (!rc)
		rc = server_set_roots(run->asked, roots, n);
	return rc ? rc : client_roots_changed(c);
}
