/* run/http.c - the server role behind HTTP addresses; see <cleat/http.h>.
 *
 * One `http_listen` for each address: sockets and connections (transport/http_server.h), the MCP
 * endpoint on them (transport/mcp.h), its store, and who may pass. Everything runs on the server's
 * loop. The order of the end: the core stops, streams that only listen end, exchanges finish or are
 * cut off after a grace, then connections and endpoint go.
 */
#define _POSIX_C_SOURCE 200809L

#include <cleat/http.h>

#include "auth/tokens.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/mem.h"
#include "http/field.h"
#include "run/http.h"
#include "transport/mcp.h"
#include "transport/tls.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { GRACE_MS = 10000, NAME_MAX_BYTES = 256, FILE_MAX = 4 << 20 };

struct http_listen {
	struct runner *r;
	struct http_listen *next;
	cleat_http_opts opts; /* strings in the arena */
	struct arena ar;
	struct http_server *http;
	struct mcp *mcp;
	struct store *store;
	struct tokens *tokens;
	struct tls_context *tls;
	struct loop_timer *grace;
	char *url;
	char name[NAME_MAX_BYTES]; /* of who was asked about last */
	bool ended;                /* no connection is left */
};

/* ---- who may pass --------------------------------------------------------------------------------- */

static int authorize(void *ctx, const struct http_request *r, struct str *ret)
{
	struct http_listen *l = ctx;
	struct str token = http_bearer(http_request_field(r, "authorization"));
	const char *name = NULL;

	if (!token.p) /* clients that cannot set Authorization */
		token = http_request_field(r, "x-api-key");
	if (!token.p || token.n > 4096)
		return CLEAT_ENOENT;
	if (l->opts.verify) {
		char copy[4097];

		memcpy(copy, token.p, token.n);
		copy[token.n] = '\0';
		l->name[0] = '\0';
		if (l->opts.verify(l->opts.userdata, copy, l->name) == CLEAT_OK)
			name = l->name;
		l->name[NAME_MAX_BYTES - 1] = '\0';
	} else {
		name = tokens_find(l->tokens, token);
	}
	*ret = str_of(name);
	return name ? CLEAT_OK : CLEAT_ENOENT;
}

static int read_file(const cleat_allocator *mem, const char *path, struct buf *b, cleat_error *err)
{
	FILE *f = fopen(path, "rbe");
	size_t n = 1;

	buf_init(b, mem, FILE_MAX);
	if (!f)
		return error_set(err, CLEAT_EIO, "%.150s: %s", path, strerror(errno));
	while (n > 0 && !buf_status(b)) {
		char *room = buf_reserve(b, 4096);

		n = room ? fread(room, 1, 4096, f) : 0;
		buf_commit(b, n);
	}
	fclose(f);
	return buf_status(b) ? error_set(err, buf_status(b), "%.150s: %s", path,
					 cleat_strstatus(buf_status(b)))
			     : CLEAT_OK;
}

static int load_tokens(struct http_listen *l, cleat_error *err)
{
	struct tokens *fresh = NULL;
	cleat_error why;
	struct buf text;
	int rc;

	if (!l->opts.token_file)
		return CLEAT_OK;
	rc = read_file(&l->r->mem, l->opts.token_file, &text, err);
	if (!rc) {
		rc = tokens_parse(&l->r->mem, buf_str(&text), &fresh, &why);
		if (rc)
			error_set(err, rc, "%.100s: %s", l->opts.token_file, why.message);
	}
	buf_done(&text);
	if (rc)
		return rc;
	tokens_free(l->tokens);
	l->tokens = fresh;
	return CLEAT_OK;
}

static int load_tls(struct http_listen *l, cleat_error *err)
{
	struct tls_context *fresh;
	int rc;

	if (!l->opts.tls_cert && !l->opts.tls_key)
		return CLEAT_OK;
	if (!l->opts.tls_cert || !l->opts.tls_key)
		return error_set(err, CLEAT_EINVAL, "TLS needs both a certificate and a key");
	rc = tls_context_new(&l->r->mem, l->opts.tls_cert, l->opts.tls_key, &fresh, err);
	if (rc)
		return rc;
	if (l->http)
		http_server_set_tls(l->http, fresh);
	tls_context_drop(l->tls);
	l->tls = fresh;
	return CLEAT_OK;
}

/* ---- what the endpoint asks for ------------------------------------------------------------------- */

static struct peer *on_accept(void *ctx, const struct peer_sink *sink,
			      const struct peer_facts *facts)
{
	struct http_listen *l = ctx;

	l->r->connected = true;
	return server_accept(l->r->server, sink, facts);
}

static void on_note(void *ctx, int level, const char *text)
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

static const char *const *copy_list(struct arena *ar, const char *const *list)
{
	size_t n = 0;
	const char **copy;

	if (!list)
		return NULL;
	while (list[n])
		n++;
	copy = arena_zalloc(ar, (n + 1) * sizeof *copy);
	for (size_t i = 0; copy && i < n; i++)
		copy[i] = arena_strdup(ar, list[i]);
	return copy;
}

static int copy_options(struct http_listen *l, const cleat_http_opts *o)
{
	if (!o)
		return CLEAT_OK;
	l->opts = *o;
	l->opts.allow_hosts = copy_list(&l->ar, o->allow_hosts);
	l->opts.allow_origins = copy_list(&l->ar, o->allow_origins);
	l->opts.token_file = arena_strdup(&l->ar, o->token_file);
	l->opts.tls_cert = arena_strdup(&l->ar, o->tls_cert);
	l->opts.tls_key = arena_strdup(&l->ar, o->tls_key);
	l->opts.metrics = arena_strdup(&l->ar, o->metrics);
	return arena_failed(&l->ar) ? CLEAT_ENOMEM : CLEAT_OK;
}

/* An address that others can reach is not opened by accident. */
static int check_reach(const struct http_listen *l, const struct listener *socket, cleat_error *err)
{
	if (socket->address.loopback || l->opts.allow_remote || l->opts.verify ||
	    l->opts.token_file)
		return CLEAT_OK;
	return error_set(err, CLEAT_EINVAL,
			 "%.120s can be reached from other machines, and nobody would have to "
			 "authorize himself: give a token file (--token-file), or say that this is "
			 "wanted (--allow-remote)",
			 socket->text);
}

/* ---- beginning ------------------------------------------------------------------------------------ */

static int open_endpoint(struct http_listen *l, const struct listener *socket, cleat_error *err)
{
	cleat_server *s = l->r->server;
	bool guarded = l->opts.verify || l->opts.token_file;
	struct store_limits kept = { .max_sessions = l->opts.max_sessions,
				     .max_event_bytes = l->opts.max_events };
	struct mcp_opts o = { .loop = atomic_load(&l->r->loop),
			      .mem = &l->r->mem,
			      .accept = on_accept,
			      .authorize = guarded ? authorize : NULL,
			      .note = on_note,
			      .ctx = l,
			      .path = socket->address.path[0] ? socket->address.path : NULL,
			      .no_old_sse = l->opts.no_old_sse || l->opts.no_sessions,
			      .no_sessions = l->opts.no_sessions,
			      .policy = { .loopback = socket->address.loopback,
					  .hosts = l->opts.allow_hosts,
					  .origins = l->opts.allow_origins },
			      .max_body = l->opts.max_body,
			      .max_reply = server_max_reply(s),
			      .session_idle_ms = l->opts.session_idle_ms };

	l->store = store_memory_new(&l->r->mem, &kept, store_now, NULL);
	if (!l->store)
		return error_set(err, CLEAT_ENOMEM, "out of memory");
	o.store = l->store;
	return mcp_new(&o, &l->mcp, err);
}

static int open_http(struct http_listen *l, cleat_error *err)
{
	struct http_server_opts o = { .loop = atomic_load(&l->r->loop),
				      .mem = &l->r->mem,
				      .service = mcp_service(l->mcp),
				      .limits = { .max_body = l->opts.max_body },
				      .tls = l->tls,
				      .sigpipe_ignored = l->r->sigpipe_ignored,
				      .max_connections = l->opts.max_connections,
				      .max_per_address = l->opts.max_per_address,
				      .note = on_note,
				      .note_ctx = l };
	int rc = http_server_new(&o, &l->http);

	return rc ? error_set(err, rc, "%s", cleat_strstatus(rc)) : CLEAT_OK;
}

static int make_url(struct http_listen *l, const struct listener *socket)
{
	l->url = arena_printf(&l->ar, "%s%s", socket->text,
			      socket->address.file[0]   ? ""
			      : socket->address.path[0] ? socket->address.path
							: "/mcp");
	return l->url ? CLEAT_OK : CLEAT_ENOMEM;
}

static int open_all(struct http_listen *l, const char *address, cleat_error *err)
{
	struct listener socket = { .fd = -1 };
	struct listen_opts how = { .mode = l->opts.socket_mode };
	struct address a;
	int rc = address_parse(address, &a, err);

	if (!rc)
		rc = load_tokens(l, err);
	if (!rc)
		rc = load_tls(l, err);
	if (rc)
		return rc;
	if (a.tls && !l->tls)
		return error_set(err, CLEAT_EINVAL,
				 "https needs a certificate and a key (--tls-cert, --tls-key)");
	a.tls = l->tls != NULL;
	rc = listener_open(&a, &how, &socket, err);
	if (rc)
		return rc;
	rc = check_reach(l, &socket, err);
	if (!rc)
		rc = make_url(l, &socket) ? error_set(err, CLEAT_ENOMEM, "out of memory") : 0;
	if (!rc)
		rc = open_endpoint(l, &socket, err);
	if (!rc)
		rc = open_http(l, err);
	if (!rc)
		rc = http_server_add(l->http, &socket, err);
	if (rc)
		listener_close(&socket);
	return rc;
}

static void free_listen(struct http_listen *l)
{
	struct runner *r = l->r;
	struct http_listen **at = &r->https;

	while (*at && *at != l)
		at = &(*at)->next;
	if (*at)
		*at = l->next;
	http_server_free(l->http);
	mcp_free(l->mcp);
	if (l->store)
		l->store->ops->free(l->store);
	loop_timer_free(l->grace);
	tokens_free(l->tokens);
	tls_context_drop(l->tls);
	arena_done(&l->ar);
	mem_free(&r->mem, l);
}

int cleat_server_listen_http(cleat_server *s, const char *address, const cleat_http_opts *opts)
{
	int rc = server_start_status(s);
	struct runner *r = rc ? NULL : runner_with_loop(s);
	struct http_listen *l = r ? mem_zalloc(&r->mem, sizeof *l) : NULL;
	cleat_error err;

	if (rc)
		return rc;
	if (!l)
		return server_fail(s, CLEAT_ENOMEM, "%s", cleat_strstatus(CLEAT_ENOMEM));
	l->r = r;
	arena_init(&l->ar, &r->mem, 1 << 20);
	rc = copy_options(l, opts);
	if (rc)
		error_set(&err, rc, "%s", cleat_strstatus(rc));
	else
		rc = open_all(l, address ? address : "", &err);
	if (rc) {
		free_listen(l);
		return server_fail(s, rc, "%s", err.message);
	}
	l->next = r->https;
	r->https = l;
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
		if (load_tokens(l, &err))
			server_note(s, CLEAT_LOG_ERROR, "the tokens stay as they were: %s",
				    err.message);
		if (load_tls(l, &err))
			server_note(s, CLEAT_LOG_ERROR, "the certificate stays as it was: %s",
				    err.message);
	}
}

/* ---- the end -------------------------------------------------------------------------------------- */

static void on_ended(void *ctx)
{
	struct http_listen *l = ctx;

	if (l->ended)
		return;
	l->ended = true;
	loop_timer_free(l->grace);
	l->grace = NULL;
	loop_detach(atomic_load(&l->r->loop));
}

/* Whoever still has a connection now does not read, or waits for a handler that does not end. */
static void on_grace_over(void *ctx)
{
	struct http_listen *l = ctx;

	http_server_free(l->http);
	l->http = NULL;
	on_ended(l);
}

void http_listen_stop(struct runner *r)
{
	for (struct http_listen *l = r->https; l; l = l->next) {
		if (l->ended || l->grace)
			continue;
		mcp_shutdown(l->mcp);
		l->grace = loop_timer_new(atomic_load(&r->loop), on_grace_over, l);
		if (l->grace)
			loop_timer_start(l->grace, GRACE_MS);
		http_server_drain(l->http, on_ended, l);
	}
}

bool http_listen_any(const struct runner *r)
{
	for (const struct http_listen *l = r->https; l; l = l->next)
		if (!l->ended)
			return true;
	return false;
}

void http_listen_free_all(struct runner *r)
{
	while (r->https) {
		if (!r->https->ended)
			loop_detach(atomic_load(&r->loop));
		mcp_forget(r->https->mcp);
		free_listen(r->https);
	}
}

int cleat_server_run(cleat_server *s)
{
	int rc = server_start_status(s);
	struct runner *r = rc ? NULL : runner_with_loop(s);

	if (rc)
		return rc;
	if (!r)
		return server_fail(s, CLEAT_ENOMEM, "no event loop");
	if (!http_listen_any(r))
		return server_fail(
			s, CLEAT_EMISUSE,
			"there is nothing to run: call cleat_server_listen_http() first");
	while (http_listen_any(r) && (rc == CLEAT_OK || rc == CLEAT_ECLOSED))
		rc = cleat_loop_step(atomic_load(&r->loop), -1);
	if (http_listen_any(r))
		return server_fail(s, rc, "the loop is in use: %s", cleat_strstatus(rc));
	return CLEAT_OK;
}
