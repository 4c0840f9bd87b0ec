/* cleat/http.h - a server on the network: Streamable HTTP for clients of every revision on one
 * address, and HTTP+SSE of 2024-11-05 beside it.
 *
 *	cleat_server_listen_http(s, "http://127.0.0.1:8080/mcp", NULL);
 *	return cleat_server_run(s);
 *
 * Nothing in the server changes: the same handlers, called on the same thread. cleat_server_main()
 * does all of this for a program that is started with --http ADDRESS.
 *
 * Safe by default. Without a host the address is the loopback one; an address that others can reach
 * is refused unless clients have to authorize themselves (tokens or verify) or allow_remote is set.
 * Host and Origin are checked (DNS rebinding, requests by other web sites), bodies and headers are
 * limited while they are read, slow clients are cut off, sessions expire.
 */
#ifndef CLEAT_HTTP_H
#define CLEAT_HTTP_H

#include <cleat/server.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All-zero is a good default; NULL where the struct is asked for is all-zero. Lists end with NULL. */
typedef struct cleat_http_options {
	/* who may connect */
	bool allow_remote;              /* others may connect, and need not authorize themselves */
	const char *const *allow_hosts; /* further names in Host: "mcp.example.com" */
	const char *const *allow_origins; /* web pages that may connect: "https://app.example" */
	const char *token_file; /* bearer tokens, one "NAME TOKEN" a line; see the guide */
	/* Whose token is it? Writes a name, terminated, to `name` (256 bytes) and gives CLEAT_OK, or any
	 * other status: 401. Called instead of looking into token_file, once for each request: before its
	 * body is read, or with more than one of `threads` after that. Loop thread; must not wait. */
	int (*verify)(void *userdata, const char *token, char *name);
	void *userdata;

	/* TLS: both, PEM. The address is https then. */
	const char *tls_cert, *tls_key;

	/* what is served */
	bool no_old_sse; /* not HTTP+SSE of 2024-11-05 */
	/* No session is kept: clients of 2025-03-26 to 2025-11-25 are answered one request at a time, also those
	 * that never send the id of a session back. They cannot be asked anything, subscribe or come back
	 * for an answer. HTTP+SSE is off, too. */
	bool no_sessions;
	bool modern_only; /* 2026-07-28 only: initialize is refused */
	/* A message of 2026-07-28 is taken for one also when MCP-Protocol-Version names an older revision, and
	 * the headers that repeat it may be missing; those that contradict it are refused all the same. For
	 * hosts that send such requests, where nobody between them and the server decides by headers. */
	bool lenient_headers;

	/* Threads that serve connections (reading, TLS, writing), at most 256. 0 or 1: the loop's own,
	 * and no other. With more, that many are started by cleat_server_listen_http() and joined by
	 * cleat_server_free(); handlers, verify, log and everything else stay on the loop's thread, but
	 * the server's allocator is called from all of them. TCP connections are shared out by the
	 * system (SO_REUSEPORT); those of a unix socket, or of one that was handed over, are taken by
	 * whichever thread comes first. The limits below hold for all threads together. */
	unsigned threads;

	/* limits */
	size_t max_body;          /* bytes of one request; 0: 4 MiB */
	size_t max_sessions;      /* 0: 10,000; more end those that are not in use, see the guide */
	uint64_t session_idle_ms; /* a session that is not used for so long ends; 0: 30 min */
	size_t max_events; /* bytes of events that are kept for clients that come back; 0: 10 MiB */
	unsigned max_connections; /* 0: what the system allows, at most 65,536 */
	unsigned max_per_address; /* connections of one client's address; 0: 1,024 */
	unsigned socket_mode;     /* of a unix socket; 0: 0600 */

	/* operation */
	int access_log; /* descriptor for one JSON line for each request; 0: none */
	/* Address for GET /metrics (Prometheus), where no token is asked for: one that others can reach
	 * needs allow_remote. Several addresses may share one. NULL: none. */
	const char *metrics;

	/* limits for one client: its principal, or where nobody has to authorize themselves its address (the
	 * /64 of IPv6). Many clients may share an address, behind a proxy all do: this machine's own (loopback,
	 * unix) have ten times as much, for a proxy elsewhere give more. */
	size_t max_sessions_per_client; /* 0: 1,000; more end those that are not in use, or 429 */
	size_t max_streams_per_client; /* GET, /sse and subscriptions/listen; 0: 1,000; more are 429 */
	size_t max_subscriptions_per_client; /* URIs and streams; 0: 10,000; more are errors */
	uint64_t session_unused_ms; /* as session_idle_ms, with nothing asked in it yet; 0: 1 min */
} cleat_http_options;

CLEAT_API int cleat_server_listen_http_(cleat_server *s, const char *address,
					const cleat_http_options *opts, size_t size);
/* Listens on an address: "http://127.0.0.1:8080/mcp", "8080", "[::1]:8080", "unix:/run/mcp.sock" or
 * "fd:3" (socket activation). The path is /mcp when none is given; port 0 takes any. Connections are
 * served while the server's loop runs (cleat_server_run(), or the loop of cleat_server_options.loop).
 * CLEAT_OK; CLEAT_EINVAL (an address that is none, or not safe: the reason is in
 * cleat_server_error()), CLEAT_EIO (it is not available: taken, forbidden), CLEAT_ENOMEM. May be called
 * several times. Loop thread. */
static inline int cleat_server_listen_http(cleat_server *s, const char *address,
					   const cleat_http_options *opts)
{
	return cleat_server_listen_http_(s, address, opts, sizeof(cleat_http_options));
}
/* The i-th address that is listened on, as a URL with the port that it got; NULL after the last.
 * Borrowed from the server. */
CLEAT_API const char *cleat_server_http_url(const cleat_server *s, size_t i);
/* Reads certificates and tokens again; what cannot be read stays as it was and is logged. Whoever came with a
 * token that is not there any more, also when its name has another one now, is let go at the next turn of
 * the loop: open streams end, requests that wait are answered with 401. Sessions of names without a token
 * end, and what runs in them is cancelled. Loop thread. */
CLEAT_API void cleat_server_reload_http(cleat_server *s);
/* For programs with a verify() of their own, when it has begun to refuse a token: everything that is open in
 * this name, at any address of the server, ends in the same way, sessions too. It says nothing about requests
 * to come: those are verify()'s. NULL, and a name that nobody has, change nothing. Loop thread, also from
 * handlers. */
CLEAT_API void cleat_server_revoke_http(cleat_server *s, const char *principal);
/* Runs the server's loop until cleat_server_stop(): then no new requests are taken, those that run may
 * finish (at most ten seconds), and it returns. CLEAT_OK or why it could not run. */
CLEAT_API int cleat_server_run(cleat_server *s);

#ifdef __cplusplus
}
#endif
#endif
