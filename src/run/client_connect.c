/* run/client_connect.c - a client of a server at an address; <cleat/client.h> lists the kinds. */
#include "run/client.h"
#include "run/reach.h"

static void on_trace(void *ctx, bool out, const char *line)
{
	const struct client_run *run = ctx;
	const cleat_client_options *o = client_options(run->client);

	o->on_trace(run->client, out, line, o->userdata);
}

static struct link *http_link(struct client_run *run, const struct link_base_options *base,
			      const struct reach *t, const cleat_client_options *o,
			      cleat_error *err)
{
	struct link_http_options http = {
		.url = t->url,
		.headers = o->headers,
		.bearer = o->bearer,
		.proxy = o->proxy,
		.ca_file = o->ca_file,
		.client_cert = o->client_cert,
		.client_key = o->client_key,
		.unix_socket = t->socket ? t->socket : o->unix_socket,
		.insecure = o->insecure,
		.no_http2 = o->no_http2,
		.old_sse = o->old_sse,
		.no_stream = o->no_stream,
		.trace = o->on_trace ? on_trace : NULL,
		.trace_ctx = run,
	};

	return link_http_new(base, &http, err);
}

cleat_client *cleat_client_connect_(const char *url, const cleat_client_options *o, size_t size)
{
	struct client_given given = client_run_given(o, size);
	struct client_run *run = client_run_new(&given, NULL);
	struct reach t;
	struct link_base_options base;
	struct link *l = NULL;
	cleat_error err;

	if (!run)
		return NULL;
	base = client_run_base(run);
	if (reach_parse(&t, url, &run->mem, &err) == CLEAT_OK)
		l = t.http ? http_link(run, &base, &t, &given.opts, &err)
			   : link_socket_new(&base, t.url, &err);
	reach_done(&t);
	return client_run_finish(run, l, &err);
}
