/* httpd/server.h - an HTTP/1.1 server on the loop: listening sockets, connections, TLS, and
 * exchanges (one request and its answer) for whoever serves them.
 *
 * Not here: what is served (paths, methods, MCP): that is the http_service. All calls happen on the
 * loop's thread.
 *
 * A connection handles one exchange at a time: the next request of a pipeline is not looked at before
 * the answer to this one is complete. It notices at once when the client goes away, also in the middle
 * of a long answer; one that only shuts down its sending half counts as gone, too (see conn.c). Every phase has a deadline, every queue a
 * bound; a connection that is idle, also one with a stream that has nothing to say, holds no buffers.
 *
 * The service is called from the loop only, never from inside its own calls. It may call anything
 * from anywhere, also httpd_free() from inside of its callbacks.
 */
#ifndef HTTPD_SERVER_H
#define HTTPD_SERVER_H

#include "http/message.h"
#include "http/parser.h"
#include "loop/loop.h"
#include "net/listen.h"

struct httpd;
struct http_exchange;
struct http_peers;
struct tls_context;

/* Who serves the requests. */
struct http_service {
	/* The header is there, the body is not: says early that a request is refused (by answering it
	 * here, or beginning to) or how large its body may be (http_exchange_limit_body). May be
	 * NULL. */
	void (*head)(void *ctx, struct http_exchange *ex);
	/* The request is complete. Answered now or later. */
	void (*request)(void *ctx, struct http_exchange *ex);
	/* The client has gone, or the connection failed, before the answer was complete. The exchange
	 * must not be used any more when this returns. Not called for an exchange whose answer is
	 * complete, nor for one that neither head() nor request() has seen. */
	void (*gone)(void *ctx, struct http_exchange *ex);
	/* What was waiting to be written in a streamed answer has been written: called once after one
	 * or more http_exchange_write(). May be NULL. */
	void (*drained)(void *ctx, struct http_exchange *ex);
	/* An exchange is over, for the access log and the counters: status (0: it ended before there
	 * was one), bytes of the body, microseconds since the request began. Also for requests that
	 * were refused without asking the service; http_exchange_request() then has what is known of
	 * them, perhaps nothing. After gone() http_exchange_data() is NULL. May be NULL. */
	void (*logged)(void *ctx, const struct http_exchange *ex, int status, uint64_t bytes,
		       uint64_t micros);
	void *ctx;
};

struct httpd_options {
	cleat_loop *loop;
	const cleat_allocator *mem;
	struct http_service service;
	struct http_limits limits;
	struct tls_context *tls;   /* NULL: plain. Held; may be replaced (httpd_set_tls) */
	unsigned max_connections;  /* 0: RLIMIT_NOFILE less a reserve, at most 65,536 */
	unsigned max_per_address;  /* of one client address, loopback excepted; 0: 1,024 */
	uint64_t head_timeout_ms;  /* for request line and header; 0: 10 s */
	uint64_t body_timeout_ms;  /* for the body, of which something has to come every
				     head_timeout_ms; 0: 30 s */
	uint64_t idle_timeout_ms;  /* between requests; 0: 75 s */
	uint64_t write_timeout_ms; /* the client takes nothing of what it is sent; 0: 30 s */
	struct http_peers *peers;  /* counts connections together with other servers; NULL: alone.
				     Must outlive the server */
	size_t max_stream_queue;   /* bytes of a streamed answer that may wait; 0: 256 KiB */
	/* Remarks for people. */
	void (*note)(void *ctx, int level, const char *text);
	void *note_ctx;
};

/* CLEAT_OK or CLEAT_ENOMEM. Listens to nothing yet. */
int httpd_new(const struct httpd_options *o, struct httpd **ret);
/* Accepts connections from this listening socket, which it owns from now on (l->fd becomes -1). On
 * failure it stays the caller's. CLEAT_OK, CLEAT_ENOMEM, CLEAT_ECLOSED (draining), or what
 * loop_watch_new() says. */
int httpd_add(struct httpd *h, struct listener *l, cleat_error *err);
/* For connections that are accepted from now on. */
void httpd_set_tls(struct httpd *h, struct tls_context *tls);
/* Accepts no more connections and closes the idle ones; exchanges that are under way may finish, and
 * their connections are closed then. `done` is called when there is none left (perhaps from in
 * here). */
void httpd_drain(struct httpd *h, void (*done)(void *ctx), void *ctx);
/* At once: calls gone() for every exchange that is under way. Accepts NULL. */
void httpd_free(struct httpd *h);

struct httpd_stats {
	size_t connections, exchanges, queued_bytes;
	uint64_t accepted, refused, timeouts;
};
void httpd_stats(const struct httpd *h, struct httpd_stats *ret);

/* ---- exchanges -------------------------------------------------------------------------------- */

/* The request: header from head() on, all of it in request(), good until the answer is complete. Only
 * when the answer is streamed it is good until control is back in the loop after
 * http_exchange_begin(); then method and the beginning of the path are left, for the log, and good
 * until the next call of this function. */
const struct http_request *http_exchange_request(const struct http_exchange *ex);
/* The client's address as text ("127.0.0.1", "::1", "unix"). */
const char *http_exchange_address(const struct http_exchange *ex);
bool http_exchange_is_tls(const struct http_exchange *ex);
/* A pointer of the service's own for this exchange, NULL at first. */
void http_exchange_set_data(struct http_exchange *ex, void *data);
void *http_exchange_data(const struct http_exchange *ex);
/* Memory of the server's allocator that outlives request and data: it is there in logged(), and freed
 * after it. Replaces what was kept before. NULL when nothing was. */
void http_exchange_keep(struct http_exchange *ex, void *memory);
void *http_exchange_kept(const struct http_exchange *ex);
/* A pointer for the connection, with what to call when it ends (also when it is closed between two
 * exchanges). */
void http_exchange_set_connection_data(struct http_exchange *ex, void *data,
				       void (*closed)(void *data));
void *http_exchange_connection_data(const struct http_exchange *ex);

void http_exchange_limit_body(struct http_exchange *ex, size_t max_body);

/* The whole answer. The exchange must not be used any more when this returns. HEAD gets the header
 * alone. Lack of memory closes the connection. `fields`: besides Content-Type, Content-Length, Date
 * and Connection. */
void http_exchange_reply(struct http_exchange *ex, int status, struct str content_type,
			 const struct http_field *fields, size_t n_fields, struct str body);
/* An answer in pieces: header now, then any number of writes, then the end. After begin the exchange
 * is used until http_exchange_end() or gone(). CLEAT_OK; CLEAT_ENOMEM (nothing was written: it can
 * still be answered or aborted); CLEAT_ECLOSED; CLEAT_EMISUSE (begun already). */
int http_exchange_begin(struct http_exchange *ex, int status, struct str content_type,
			const struct http_field *fields, size_t n_fields);
/* Bytes of the body, copied. CLEAT_OK; CLEAT_ELIMIT when more would wait than may (nothing was taken
 * then); CLEAT_ENOMEM; CLEAT_ECLOSED; CLEAT_EMISUSE (not begun). Written when the loop turns, together
 * with what comes until then. `must`: over the bound by one, for what may not be dropped: it is taken
 * as long as the bound is not exceeded already. */
int http_exchange_write(struct http_exchange *ex, struct str bytes, bool must);
/* Bytes that wait to be written. */
size_t http_exchange_queued(const struct http_exchange *ex);
/* The answer is complete: the exchange must not be used any more. */
void http_exchange_end(struct http_exchange *ex);
/* Breaks the connection off: whatever the client has of the answer is recognisably incomplete. The
 * exchange must not be used any more; gone() is not called. */
void http_exchange_abort(struct http_exchange *ex);
/* The connection is not to be kept after this answer. */
void http_exchange_close_after(struct http_exchange *ex);

#endif
