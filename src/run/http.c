/* run/http.c - the server role behind HTTP addresses; see <cleat/http.h>.
 *
 * One `http_listen` for each address: sockets and connections (httpd/server.h), the MCP
 * endpoint on them (endpoint/endpoint.h), its store, and who may pass. Everything runs on the server's
 * loop, except connections where more threads than one are to serve them (httpd/threads.h).
 *
 * The order of the end: the core stops, streams that only listen end, exchanges finish; after a grace
 * what still runs is cancelled, and a little later cut off. Then connections and endpoint go.
 */
#define _POSIX_C_SOURCE 200809L

#include <cleat/http.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/sized.h"
#include "endpoint/endpoint.h"
#include "httpd/threads.h"
#include "run/accesslog.h"
#include "run/hooks.h"
#include "run/http_guard.h"
#include "run/http_metrics.h"
#include "run/runner.h"

/* For calls to finish; and for their clients to take the answer. */
enum { GRACE_MS = 10000, LAST_MS = 1000 };
enum { MAX_THREADS = 256 };

struct http_listen {
	struct runner *r;
	struct http_listen *next;
	cleat_http_options opts; /* strings in the arena */
	struct arena ar;
	struct httpd *http;           /* or, with more threads than one, */
	struct http_threads *threads; /* this; neither when it was cut off */
	struct endpoint *mcp;
	struct store *store;
	struct http_guard guard;
	struct http_metrics *metrics; /* NULL: none wanted, or it has ended */
	struct accesslog log;         /* zeroed: none wanted */
	struct loop_timer *grace;
	char *url;
	bool stopping;
	bool cancelled; /* the grace is over */
	bool ended;     /* no connection is left */
};

/* ---- what the endpoint asks for ------------------------------------------------------------------- */

static struct peer *on_accept(void *ctx, const struct peer_sink *sink,
			      const struct peer_facts *facts)
{
	struct http_listen *l = ctx;

	l->r->connected = true;
	return server_accept(l->r->server, sink, facts);
}

/* Any thread. */
static int on_screen(void *ctx, const struct http_request *r)
{
	struct http_listen *l = ctx;

	return http_guard_screen(&l->guard, r);
}

static int on_authorize(void *ctx, const struct http_request *r, struct endpoint_caller *ret)
{
	struct http_listen *l = ctx;

	return http_guard_find(&l->guard, r, &ret->name, ret->credential);
}

static bool on_knows(void *ctx, struct str name, const unsigned char *credential)
{
	const struct http_listen *l = ctx;

	return http_guard_knows(&l->guard, name, credential);
}

/* Streams that only listen may last for days: how long says nothing about the server. */
static bool is_timed(const struct endpoint_record *e)
{
	return str_eqz(e->method, "POST") && !str_eqz(e->rpc_method, "subscriptions/listen");
}

static void on_logged(void *ctx, const struct endpoint_record *e)
{
	struct http_listen *l = ctx;
	const struct accesslog_entry line = { .remote = str_of(e->address),
					      .method = e->method,
					      .path = e->path,
					      .status = e->status,
					      .bytes = e->bytes,
					      .micros = e->micros,
					      .session = e->session,
					      .revision = e->revision,
					      .principal = e->principal,
					      .rpc = e->rpc_method };

	if (l->opts.access_log)
		accesslog_write(&l->log, &line, (uint64_t)hooks_wall_ms());
	metrics_count_http(&l->r->counts, e->status);
	if (is_timed(e))
		metrics_observe(&l->r->counts, e->micros);
}

static void connection_stats(const struct http_listen *l, struct httpd_stats *ret)
{
	*ret = (struct httpd_stats){ 0 };
	if (l->threads)
		http_threads_stats(l->threads, ret);
	else if (l->http)
		httpd_stats(l->http, ret);
}

/* What is known now, of all addresses together. */
static void on_read_metrics(void *ctx, struct metrics_readings *ret)
{
	const struct runner *r = ctx;
	struct httpd_stats http;
	struct endpoint_stats mcp;

	for (const struct http_listen *l = r->https; l; l = l->next) {
		ret->log_dropped += accesslog_dropped(&l->log);
		if (l->threads)
			ret->log_dropped += http_threads_unlogged(l->threads);
		connection_stats(l, &http);
		endpoint_stats(l->mcp, &mcp);
		ret->connections += http.connections;
		ret->queued_bytes += http.queued_bytes;
		ret->accepted += http.accepted;
		ret->refused += http.refused;
		ret->timeouts += http.timeouts;
		ret->sessions += mcp.sessions;
		ret->streams += mcp.streams;
	}
}

static void http_on_note(void *ctx, int level, const char *text)
{
	struct http_listen *l = ctx;

	server_note(l->r->server, level, "%s", text);
}

static uint64_t store_now(void *ctx)
{
	(void)ctx;
	return loop_now();
}

/* ---- options -------------------------------------------------------------------------------------- */

static int take_options(struct http_listen *l, const cleat_http_options *given, size_t size,
			cleat_error *err)
{
	cleat_http_options *o = &l->opts;
	int rc = SIZED_TAKE(o, given, size, cleat_http_options, err);

	if (rc)
		return rc;
	o->allow_hosts = arena_strlist(&l->ar, o->allow_hosts);
	o->allow_origins = arena_strlist(&l->ar, o->allow_origins);
	o->token_file = arena_strdup(&l->ar, o->token_file);
	o->tls_cert = arena_strdup(&l->ar, o->tls_cert);
	o->tls_key = arena_strdup(&l->ar, o->tls_key);
	o->metrics = arena_strdup(&l->ar, o->metrics);
	if (arena_failed(&l->ar))
		rc = error_set(err, CLEAT_ENOMEM, "%s", cleat_strstatus(CLEAT_ENOMEM));
	return rc;
}

/* An address that others can reach is not opened by accident. */
static int check_reach(const struct http_listen *l, const struct listener *socket, cleat_error *err)
{
	if (socket->address.loopback || l->opts.allow_remote || http_guard_asks(&l->guard))
		return CLEAT_OK;
	return error_set(
		err, CLEAT_EINVAL,
		"%.120s can be reached from other machines, and clients would not have to authorize themselves: give a token file (--token-file), or say that this is "
		"wanted (--allow-remote)",
		socket->text);
}

/* ---- beginning ------------------------------------------------------------------------------------ */

static int open_endpoint(struct http_listen *l, const struct listener *socket, cleat_error *err)
{
	cleat_server *s = l->r->server;
	bool logged = l->opts.metrics || l->opts.access_log;
	struct store_limits kept = { .max_sessions = l->opts.max_sessions,
				     .max_event_bytes = l->opts.max_events };
	struct endpoint_options o = {
		.loop = atomic_load(&l->r->loop),
		.mem = &l->r->mem,
		.accept = on_accept,
		.authorize = http_guard_asks(&l->guard) ? on_authorize : NULL,
		.knows = on_knows,
		.screen = http_guard_asks(&l->guard) ? on_screen : NULL,
		.note = http_on_note,
		.logged = logged ? on_logged : NULL,
		.ctx = l,
		.path = socket->address.path[0] ? socket->address.path : NULL,
		.no_old_sse = l->opts.no_old_sse || l->opts.no_sessions || l->opts.modern_only,
		.no_sessions = l->opts.no_sessions,
		.modern_only = l->opts.modern_only,
		.lenient_headers = l->opts.lenient_headers,
		.policy = { .loopback = socket->address.loopback,
			    .hosts = l->opts.allow_hosts,
			    .origins = l->opts.allow_origins },
		.max_body = l->opts.max_body,
		.max_reply = server_max_reply(s),
		.session_idle_ms = l->opts.session_idle_ms,
		.session_unused_ms = l->opts.session_unused_ms,
		.max_sessions_per_client = l->opts.max_sessions_per_client,
		.max_streams_per_client = l->opts.max_streams_per_client,
		.max_subscriptions_per_client = l->opts.max_subscriptions_per_client
	};

	l->store = store_memory_new(&l->r->mem, &kept, store_now, NULL);
	if (!l->store)
		return error_set(err, CLEAT_ENOMEM, "out of memory");
	o.store = l->store;
	return endpoint_new(&o, &l->mcp, err);
}

static int open_http(struct http_listen *l, struct listener *socket, cleat_error *err)
{
	struct httpd_options o = { .loop = atomic_load(&l->r->loop),
				   .mem = &l->r->mem,
				   .service = endpoint_service(l->mcp),
				   .limits = { .max_body = l->opts.max_body },
				   .tls = l->guard.tls,
				   .max_connections = l->opts.max_connections,
				   .max_per_address = l->opts.max_per_address,
				   .note = http_on_note,
				   .note_ctx = l };
	bool many = l->opts.threads > 1;
	int rc = many ? http_threads_new(&o, l->opts.threads, endpoint_screen, l->mcp, &l->threads)
		      : httpd_new(&o, &l->http);

	if (rc)
		return error_set(err, rc, "%s", cleat_strstatus(rc));
	return many ? http_threads_listen(l->threads, socket, err)
		    : httpd_add(l->http, socket, err);
}

static int make_url(struct http_listen *l, const struct listener *socket)
{
	l->url = arena_printf(&l->ar, "%s%s", socket->text,
			      socket->address.file[0]   ? ""
			      : socket->address.path[0] ? socket->address.path
							: "/mcp");
	return l->url ? CLEAT_OK : CLEAT_ENOMEM;
}

static int open_records(struct http_listen *l, cleat_error *err)
{
	int rc = CLEAT_OK;

	if (l->opts.access_log)
		rc = accesslog_init(&l->log, &l->r->mem, l->opts.access_log, err);
	if (rc || !l->opts.metrics)
		return rc;
	l->r->counts.read = on_read_metrics;
	l->r->counts.read_ctx = l->r;
	return http_metrics_open(l->r, l->opts.metrics, l->opts.allow_remote, &l->metrics, err);
}

static void on_grace_over(void *ctx);

static int open_all(struct http_listen *l, const char *address, cleat_error *err)
{
	struct listener socket = { .fd = -1 };
	struct listen_options how = { .mode = l->opts.socket_mode,
				      .reuse_port = l->opts.threads > 1 };
	struct address a;
	int rc = address_parse(address, &a, err);

	if (l->opts.threads > MAX_THREADS)
		return error_set(err, CLEAT_EINVAL, "%u threads are too many: %d is the most",
				 l->opts.threads, MAX_THREADS);
	if (!rc)
		rc = http_guard_load_tokens(&l->guard, err);
	if (!rc)
		rc = http_guard_load_tls(&l->guard, err);
	if (rc)
		return rc;
	if (a.tls && !l->guard.tls)
		return error_set(err, CLEAT_EINVAL,
				 "https needs a certificate and a key (--tls-cert, --tls-key)");
	a.tls = l->guard.tls != NULL;
	rc = listener_open(&a, &how, &socket, err);
	if (rc)
		return rc;
	rc = check_reach(l, &socket, err);
	if (!rc)
		rc = make_url(l, &socket) ? error_set(err, CLEAT_ENOMEM, "out of memory") : 0;
	if (!rc)
		rc = open_endpoint(l, &socket, err);
	if (!rc)
		rc = open_records(l, err);
	if (!rc) /* now: an end must not need memory */
		l->grace = loop_timer_new(atomic_load(&l->r->loop), on_grace_over, l);
	if (!rc && !l->grace)
		rc = error_set(err, CLEAT_ENOMEM, "out of memory");
	if (!rc)
		rc = open_http(l, &socket, err);
	if (rc)
		listener_close(&socket);
	return rc;
}

/* At once. */
static void cut_off(struct http_listen *l)
{
	httpd_free(l->http);
	http_threads_free(l->threads);
	l->http = NULL;
	l->threads = NULL;
}

static void free_listen(struct http_listen *l)
{
	struct runner *r = l->r;
	struct http_listen **at = &r->https;

	while (*at && *at != l)
		at = &(*at)->next;
	if (*at)
		*at = l->next;
	cut_off(l);
	endpoint_free(l->mcp);
	if (l->store)
		l->store->ops->free(l->store);
	http_metrics_drop(l->metrics);
	accesslog_done(&l->log);
	loop_timer_free(l->grace);
	http_guard_done(&l->guard);
	arena_done(&l->ar);
	mem_free(&r->mem, l);
}

static void stop_all(struct runner *r);
static void free_all(struct runner *r);
static const struct runner_http listeners = { .stop = stop_all, .free_all = free_all };

int cleat_server_listen_http_(cleat_server *s, const char *address, const cleat_http_options *opts,
			      size_t size)
{
	int rc = server_start_status(s);
	struct runner *r = rc ? NULL : runner_with_loop(s);
	struct http_listen *l = r ? mem_zalloc(&r->mem, sizeof *l) : NULL;
	cleat_error err;

	if (rc)
		return rc;
	if (!l) {
		runner_no_loop(&err);
		return server_refuse(s, err.status, "%s", err.message);
	}
	l->r = r;
	arena_init(&l->ar, &r->mem, 1 << 20);
	http_guard_init(&l->guard, &l->opts, &r->mem);
	rc = take_options(l, opts, size, &err);
	if (!rc)
		rc = open_all(l, address ? address : "", &err);
	if (rc) {
		free_listen(l);
		return server_refuse(s, rc, "%s", err.message);
	}
	l->next = r->https;
	r->https = l;
	r->http = &listeners;
	loop_attach(atomic_load(&r->loop));
	return CLEAT_OK;
}

const char *cleat_server_http_url(const cleat_server *s, size_t i)
{
	const struct runner *r = s ? server_runner(s) : NULL;
	const struct http_listen *l = r ? r->https : NULL;
	size_t n = 0;

	for (const struct http_listen *k = l; k; k = k->next)
		n++;
	if (i >= n)
		return NULL;
	for (size_t k = n - 1 - i; k > 0; k--) /* the newest stands first */
		l = l->next;
	return l->url;
}

void cleat_server_reload_http(cleat_server *s)
{
	struct runner *r = s ? server_runner(s) : NULL;
	cleat_error err;

	for (struct http_listen *l = r ? r->https : NULL; l; l = l->next) {
		if (http_guard_load_tokens(&l->guard, &err))
			server_note(s, CLEAT_LOG_ERROR, "the tokens stay as they were: %s",
				    err.message);
		else
			endpoint_revoke(l->mcp, (struct str){ 0 });
		if (http_guard_load_tls(&l->guard, &err))
			server_note(s, CLEAT_LOG_ERROR, "the certificate stays as it was: %s",
				    err.message);
		else if (l->http && l->guard.tls)
			httpd_set_tls(l->http, l->guard.tls);
		else if (l->threads && l->guard.tls)
			http_threads_set_tls(l->threads, l->guard.tls);
	}
}

void cleat_server_revoke_http(cleat_server *s, const char *principal)
{
	struct runner *r = s ? server_runner(s) : NULL;

	for (struct http_listen *l = r && principal ? r->https : NULL; l; l = l->next)
		endpoint_revoke(l->mcp, str_of(principal));
}

/* ---- the end -------------------------------------------------------------------------------------- */

static bool any_open(const struct runner *r)
{
	for (const struct http_listen *l = r->https; l; l = l->next)
		if (!l->ended)
			return true;
	return false;
}

static void on_ended(void *ctx)
{
	struct http_listen *l = ctx;

	if (l->ended)
		return;
	l->ended = true;
	loop_timer_free(l->grace);
	l->grace = NULL;
	http_metrics_drop(l->metrics);
	l->metrics = NULL;
	loop_detach(atomic_load(&l->r->loop));
	if (!any_open(l->r))
		server_abort(l->r->server); /* calls whose clients are not connected */
}

static void on_grace_over(void *ctx)
{
	struct http_listen *l = ctx;

	if (!l->cancelled) {
		l->cancelled = true;
		loop_timer_start(l->grace, l->r->grace_ms ? l->r->grace_ms : LAST_MS);
		server_abort(l->r->server);
		return;
	}
	/* whoever still has a connection does not read */
	cut_off(l);
	on_ended(l);
}

static void stop_all(struct runner *r)
{
	for (struct http_listen *l = r->https; l; l = l->next) {
		if (l->ended || l->stopping)
			continue;
		l->stopping = true;
		endpoint_shutdown(l->mcp);
		loop_timer_start(l->grace, r->grace_ms ? r->grace_ms : GRACE_MS);
		if (l->threads)
			http_threads_drain(l->threads, on_ended, l);
		else
			httpd_drain(l->http, on_ended, l);
	}
}

static void free_all(struct runner *r)
{
	while (r->https) {
		if (!r->https->ended)
			loop_detach(atomic_load(&r->loop));
		endpoint_forget(r->https->mcp);
		free_listen(r->https);
	}
}

int cleat_server_run(cleat_server *s)
{
	int rc = server_start_status(s);
	struct runner *r = rc ? NULL : runner_with_loop(s);
	cleat_error err;

	if (rc)
		return rc;
	if (!r) {
		runner_no_loop(&err);
		return server_fail(s, err.status, "%s", err.message);
	}
	if (!any_open(r))
		return server_fail(
			s, CLEAT_EMISUSE,
			"there is nothing to run: call cleat_server_listen_http() first");
	while (any_open(r) && (rc == CLEAT_OK || rc == CLEAT_ECLOSED))
		rc = cleat_loop_step(atomic_load(&r->loop), -1);
	if (any_open(r))
		return server_fail(s, rc, "the loop is in use: %s", cleat_strstatus(rc));
	return CLEAT_OK;
}
