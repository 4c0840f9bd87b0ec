/* run/client_connect.c - a client of a server at an address; <cleat/client.h> lists the kinds. */
#include "base/buf.h"
#include "base/error.h"
#include "http/field.h"
#include "run/client.h"

enum { ADDRESS_MAX = 8192 };

/* What an address is made of. The texts are in `text`. */
struct target {
	bool http;
	const char *url;    /* of HTTP, or of a stream */
	const char *socket; /* NULL: TCP */
	struct buf text;
};

/* Does the address begin with this scheme ("http:")? Gives what is behind it. */
static const char *behind(const char *address, const char *scheme)
{
	size_t n = strlen(scheme);

	if (strlen(address) < n || !http_same((struct str){ address, n }, scheme))
		return NULL;
	return address + n;
}

/* "/path" of "/path" and of "///path" (a URI without a host); NULL: neither. */
static const char *local_path(const char *rest)
{
	if (strncmp(rest, "//", 2) == 0)
		rest += 2;
	return rest[0] == '/' && rest[1] ? rest : NULL;
}

/* unix:/path[#/mcp] */
static int unix_target(struct target *t, const char *rest, cleat_error *err)
{
	const char *path = local_path(rest);
	size_t n = path ? strcspn(path, "#") : 0;
	const char *mcp = path && path[n] ? path + n + 1 : "/mcp";

	if (n < 2 || mcp[0] != '/')
		return error_set(err, CLEAT_EINVAL,
				 "unix:%.100s is no address: write unix:/path/of.sock, with #/path "
				 "where the server is not at /mcp",
				 rest);
	buf_append(&t->text, path, n);
	buf_putc(&t->text, '\0');
	buf_printf(&t->text, "http://localhost%s", mcp);
	buf_putc(&t->text, '\0');
	if (buf_status(&t->text))
		return error_set(err, buf_status(&t->text), "out of memory");
	t->socket = buf_str(&t->text).p;
	t->url = t->socket + n + 1;
	t->http = true;
	return CLEAT_OK;
}

static int stream_target(struct target *t, const char *rest, cleat_error *err)
{
	const char *path = local_path(rest);

	if (!path)
		return error_set(err, CLEAT_EINVAL,
				 "unix-stream:%.100s is no address: write "
				 "unix-stream:/path/of.sock",
				 rest);
	buf_printf(&t->text, "unix-stream:%s", path);
	buf_putc(&t->text, '\0');
	if (buf_status(&t->text))
		return error_set(err, buf_status(&t->text), "out of memory");
	t->url = buf_str(&t->text).p;
	return CLEAT_OK;
}

static int parse(struct target *t, const char *address, cleat_error *err)
{
	const char *rest;

	if (!address || !*address)
		return error_set(err, CLEAT_EINVAL, "there is no address to connect to");
	if (strlen(address) > ADDRESS_MAX)
		return error_set(err, CLEAT_ELIMIT, "the address has more than %d characters",
				 ADDRESS_MAX);
	if ((rest = behind(address, "unix:")) != NULL)
		return unix_target(t, rest, err);
	if ((rest = behind(address, "unix-stream:")) != NULL)
		return stream_target(t, rest, err);
	t->url = address;
	t->http = behind(address, "http://") || behind(address, "https://");
	if (t->http || behind(address, "tcp://"))
		return CLEAT_OK;
	return error_set(err, CLEAT_EINVAL,
			 "%.100s is no address: it begins with http://, https://, unix:, tcp:// or "
			 "unix-stream:",
			 address);
}

static void on_trace(void *ctx, bool out, const char *line)
{
	const struct client_run *run = ctx;
	const cleat_client_opts *o = client_opts(run->client);

	o->on_trace(run->client, out, line, o->userdata);
}

static struct link *http_link(struct client_run *run, const struct link_base_opts *base,
			      const struct target *t, const cleat_client_opts *o, cleat_error *err)
{
	struct link_http_opts http = {
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

cleat_client *cleat_client_connect_(const char *url, const cleat_client_opts *o, size_t size)
{
	cleat_client_opts opts = client_run_opts(o, size);
	struct client_run *run = client_run_new(&opts, NULL);
	struct target t = { 0 };
	struct link_base_opts base;
	struct link *l = NULL;
	cleat_error err;

	if (!run)
		return NULL;
	base = client_run_base(run);
	buf_init(&t.text, &run->mem, 2 * ADDRESS_MAX);
	if (parse(&t, url, &err) == CLEAT_OK)
		l = t.http ? http_link(run, &base, &t, &opts, &err)
			   : link_socket_new(&base, t.url, &err);
	buf_done(&t.text);
	return client_run_finish(run, l, &err);
}
