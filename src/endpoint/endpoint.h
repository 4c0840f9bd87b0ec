/* endpoint/endpoint.h - MCP over HTTP: the endpoint that clients of every revision use.
 *
 *   POST   2026-07-28: each request stands alone; what is sent because of it is its answer
 *   POST   2025-03-26 to 2025-11-25: with a session; GET listens and resumes, DELETE ends it
 *   GET /sse, POST /messages: the older transport of 2024-11-05, beside it
 *   GET /healthz, OPTIONS: for machines and browsers
 *
 * An http_service (httpd/server.h) on one side, peers (protocol/peer.h) on the other. Every
 * request passes the same gate before anything looks at its path: Host, Origin, authorization. Not
 * here: sockets, the server's meaning of a message.
 */
#ifndef ENDPOINT_ENDPOINT_H
#define ENDPOINT_ENDPOINT_H

#include "base/crypto.h"
#include "endpoint/policy.h"
#include "httpd/server.h"
#include "protocol/peer.h"
#include "store/store.h"

struct endpoint;

/* What happened in one exchange, for the access log and the counters. Of one that was refused at the
 * gate address, method, path and numbers are known; names are cut to 128 bytes. */
struct endpoint_record {
	const char *address;
	struct str method, path; /* of HTTP */
	struct str rpc_method;   /* of the message, where a header says it; else absent */
	struct str principal;    /* absent: nobody */
	struct str session;      /* absent: none */
	struct str revision;     /* MCP-Protocol-Version; absent: not sent */
	int status;
	uint64_t bytes, micros;
};

/* Who sends a request. */
struct endpoint_caller {
	struct str name; /* empty: anybody */
	/* The hash of what he has shown; of use to `knows` alone. */
	unsigned char credential[CRYPTO_HASH_SIZE];
};

struct endpoint_options {
	cleat_loop *loop;
	const cleat_allocator *mem;
	/* A new connection of the role that is served; NULL when it has no memory. */
	struct peer *(*accept)(void *ctx, const struct peer_sink *sink,
			       const struct peer_facts *facts);
	/* Who sends this request? CLEAT_OK with *ret filled in, which is copied; anything else is 401. Once
	 * for each request, when its header is there, and again when it is complete if endpoint_revoke() was
	 * called meanwhile. NULL: nobody is asked. */
	int (*authorize)(void *ctx, const struct http_request *r, struct endpoint_caller *ret);
	/* Would it still say that of somebody with this name and credential? `credential` NULL: of anybody
	 * with this name. NULL: it cannot be told. */
	bool (*knows)(void *ctx, struct str name, const unsigned char *credential);
	/* The same on any thread, for endpoint_screen(): CLEAT_OK also when it cannot be told there. NULL: it
	 * never can. */
	int (*screen)(void *ctx, const struct http_request *r);
	/* Remarks for people. */
	void (*note)(void *ctx, int level, const char *text);
	/* An exchange is over; see http_service.logged. May be NULL. */
	void (*logged)(void *ctx, const struct endpoint_record *r);
	void *ctx;
	const char *path; /* NULL: "/mcp" */
	bool no_old_sse;  /* no /sse and /messages */
	bool no_sessions; /* those of 2025-03-26 to 2025-11-25 are answered without; GET and DELETE are
			   * 405 */
	bool modern_only; /* 2026-07-28 only, likewise */
	/* A message of 2026-07-28 is one also when MCP-Protocol-Version names an older revision, and the
	 * other headers that repeat it may be missing. */
	bool lenient_headers;
	struct policy_options policy;
	struct store *store;        /* sessions and events; borrowed */
	size_t max_body;            /* of a POST; 0: 4 MiB */
	size_t max_reply;           /* of one message */
	uint64_t session_idle_ms;   /* 0: 30 min */
	uint64_t session_unused_ms; /* of one with nothing after its opening; 0: 1 min */
	/* See owner.h. */
	size_t max_sessions_per_client;      /* 0: 1,000 */
	size_t max_streams_per_client;       /* that listen; 0: 1,000 */
	size_t max_subscriptions_per_client; /* 0: 10,000 */
	uint64_t keep_alive_ms;              /* between comments on a silent stream; 0: 15 s */
	uint64_t (*now)(void *ctx);          /* milliseconds that never go back; NULL: loop_now() */
};

/* CLEAT_OK, CLEAT_EINVAL (a path that is none), CLEAT_ENOMEM. */
int endpoint_new(const struct endpoint_options *o, struct endpoint **ret, cleat_error *err);
/* To be given to the http_server. */
struct http_service endpoint_service(struct endpoint *m);
/* For connections on other threads: answers a request whose header shows that it will be refused, and
 * limits the body of the others. The endpoint's own gate comes after it. Any thread. */
void endpoint_screen(void *mcp, struct http_exchange *ex);
/* Those who may not pass any more are let go at the next turn of the loop: streams end, requests that wait for
 * an answer get 401, and of sessions whose principal is not known at all everything ends. `name` absent:
 * whom o.knows() does not know any more; otherwise all of that principal, sessions too. A request that is
 * still being read is looked at again when it is complete. May be called from a handler. */
void endpoint_revoke(struct endpoint *m, struct str name);
/* No new sessions and requests (503); what runs may finish, streams that only listen end. The role
 * has been told to stop before. */
void endpoint_shutdown(struct endpoint *m);
/* All peers were closed by somebody else and must not be used any more. */
void endpoint_forget(struct endpoint *m);
/* After the http_server is gone. Closes all peers. Accepts NULL. */
void endpoint_free(struct endpoint *m);

struct endpoint_stats {
	size_t sessions, streams;
};
void endpoint_stats(const struct endpoint *m, struct endpoint_stats *ret);
/* For tests: what is done every few seconds. */
void endpoint_tick(struct endpoint *m);

#endif
