/* httpd/conn.h - what the parts of the HTTP server share: the server, its connections, and
 * the one exchange that a connection has at a time.
 *
 *   server.c    the server: life, pools, the flush before the loop waits
 *   accept.c    listening sockets, limits on connections
 *   deadline.c  time: clock, deadlines, Date
 *   conn.c      one connection: bytes in, requests, bytes out, its end
 *   exchange.c  what a service calls
 *   http_relay*.c    the same for a service on another thread
 *
 * Every path from the loop goes through httpd_enter(), one or more http_conn_settle(), and
 * httpd_leave(). Only settle destroys a connection, and only leave ends the server; whatever a
 * service calls only notes what happened. So nothing disappears from under a caller.
 */
#ifndef HTTPD_CONN_H
#define HTTPD_CONN_H

#include "base/ring.h"
#include "httpd/peers.h"
#include "httpd/server.h"
#include "net/fd.h"
#include "net/tls.h"

#include <time.h>

enum {
	HTTP_CHUNK = 64 * 1024,        /* bytes of one read */
	HTTP_AHEAD = 64 * 1024,        /* bytes that are read while an answer is not complete */
	HTTP_OUT_HIGH = 64 * 1024,     /* answers that wait: no more requests are looked at */
	HTTP_OUT_KEEP = 16 * 1024,     /* the largest buffer that is worth keeping */
	HTTP_DISCARD = 64 * 1024,      /* the largest body that is read though nobody wants it */
	HTTP_LINGER = 4 * 1024 * 1024, /* most bytes that are thrown away before closing */
	HTTP_SPARE = 16,               /* buffers and parsers in stock */
	HTTP_ROUNDS = 8                /* of drained() in one turn */
};

/* ---- the server --------------------------------------------------------------------------- */

enum http_deadline {
	HTTP_NO_DEADLINE,
	HTTP_UNTIL_REQUEST,   /* between requests */
	HTTP_UNTIL_HEAD,      /* from the first byte of a request to the end of its header */
	HTTP_UNTIL_BODY,      /* without a byte of the body */
	HTTP_UNTIL_WRITTEN,   /* without a byte of the answer being taken */
	HTTP_UNTIL_FORGOTTEN, /* while input is thrown away before closing */
	HTTP_DEADLINES
};

struct http_ear; /* a socket that listens */

struct httpd {
	struct httpd_options o;
	cleat_allocator mem;
	struct http_ear *ears;
	struct ring conns, dirty;
	struct ring waiting[HTTP_DEADLINES]; /* in the order in which their time is over */
	uint64_t patience_ms[HTTP_DEADLINES];
	uint64_t body_us; /* for the whole of a body */
	uint64_t tick_ms;
	struct loop_timer *tick, *pause;
	struct loop_call flush_call;
	bool ticking, draining, detached, dying;
	unsigned busy; /* calls on the stack that use the server */
	void (*done)(void *ctx);
	void *done_ctx;
	int reserve; /* a descriptor to give up when there are no more */
	uint64_t (*clock)(void *ctx);
	void *clock_ctx;
	uint64_t now_us;   /* when the loop called */
	uint64_t noted_us; /* the last remark about descriptors */
	time_t date_second;
	char date[32];
	struct httpd_stats stats;
	struct http_peers *peers, own_peers;
	struct http_parser *parsers[HTTP_SPARE];
	size_t n_parsers;
	struct buf outs[HTTP_SPARE];
	size_t n_outs;
	struct buf plain;            /* what one read was, decrypted */
	struct http_request summary; /* see http_exchange_request() */
	char chunk[HTTP_CHUNK];      /* what one read gave */
};

void httpd_enter(struct httpd *h);
/* May free the server: nothing comes after it. */
void httpd_leave(struct httpd *h);
void httpd_note(struct httpd *h, int level, const char *fmt, ...) CLEAT_PRINTF(3, 4);

/* Parsers and memory of buffers, from a small stock: an idle connection has neither. */
struct http_parser *httpd_parser(struct httpd *h);
void httpd_keep_parser(struct httpd *h, struct http_parser *p);
/* For a buffer that is empty: before something is written to it, and after all of it was sent. */
void httpd_lend(struct httpd *h, struct buf *b);
void httpd_take_back(struct httpd *h, struct buf *b);

/* deadline.c */
void http_deadlines_init(struct httpd *h);
/* The server is to end: who has been answered is not waited for so long any more. */
void http_deadlines_drain(struct httpd *h);
uint64_t httpd_now_us(const struct httpd *h);
/* A ready value for Date. */
struct str httpd_date(struct httpd *h);
/* For tests: another clock (microseconds), and the look at the deadlines that comes once a second. */
void httpd_set_clock(struct httpd *h, uint64_t (*clock)(void *ctx), void *ctx);
void httpd_tick(struct httpd *h);

/* accept.c */
void http_accept_init(struct httpd *h);
/* Goes on after a pause. */
void http_accept_resume(void *server);
/* Closes all listening sockets. */
void http_accept_close(struct httpd *h);

/* ---- connections -------------------------------------------------------------------------- */

enum http_phase {
	CONN_IDLE,     /* no request has begun */
	CONN_HEAD,     /* its header is coming */
	CONN_BODY,     /* its body is coming; the exchange is open unless it was answered already */
	CONN_SERVING,  /* it is complete, the answer is not */
	CONN_CLOSING,  /* the last answer is being written */
	CONN_LINGERING /* all is written; what still comes is thrown away */
};

/* What an exchange does whose connection is on another thread (relay.h). */
struct http_exchange_ops {
	const struct http_request *(*request)(const struct http_exchange *ex);
	const char *(*address)(const struct http_exchange *ex);
	bool (*is_tls)(const struct http_exchange *ex);
	void (*keep)(struct http_exchange *ex, void *memory);
	void (*set_connection_data)(struct http_exchange *ex, void *data,
				    void (*closed)(void *data));
	void *(*connection_data)(const struct http_exchange *ex);
	void (*limit_body)(struct http_exchange *ex, size_t max_body);
	void (*reply)(struct http_exchange *ex, int status, struct str content_type,
		      const struct http_field *fields, size_t n_fields, struct str body);
	int (*begin)(struct http_exchange *ex, int status, struct str content_type,
		     const struct http_field *fields, size_t n_fields);
	int (*write)(struct http_exchange *ex, struct str bytes, bool must);
	size_t (*queued)(const struct http_exchange *ex);
	void (*end)(struct http_exchange *ex);
	void (*abort)(struct http_exchange *ex);
};

struct http_exchange {
	const struct http_exchange_ops *ops; /* NULL: part of a struct http_conn */
	void *data, *kept;
	char *line;         /* method and path, once the parser is needed no more */
	size_t method_size; /* of the method in it */
	uint64_t begun_us, bytes;
	int status;
	enum http_method method;
	bool open;       /* from the header to the end of the answer */
	bool seen;       /* the service knows it */
	bool early;      /* head() is running */
	bool streaming;  /* the header of the answer has gone, more will follow */
	bool over;       /* the answer is complete, or given up */
	bool keep_alive; /* what the client asked for */
	bool http_1_0;
	bool close; /* what the service asked for */
};

/* Does an answer with this status have one? */
bool http_exchange_has_body(const struct http_exchange *ex, int status);

struct http_conn {
	struct httpd *server;
	struct ring all, dirty, waiting;
	struct fd_end end;
	struct loop_watch *watch;
	struct tls_session *tls;
	struct http_parser *parser; /* while a request is there */
	struct buf in;              /* read, and not looked at yet */
	struct buf out;             /* answers */
	struct buf wire;            /* TLS: the same, encrypted */
	struct http_peer *peer;
	uint64_t since_us; /* when the time for `deadline` began */
	uint64_t body_us;  /* when the body began */
	size_t thrown_away;
	void *data;
	void (*closed)(void *data);
	struct http_exchange ex;
	enum http_phase phase;
	enum http_deadline deadline;
	bool handling;  /* settle() follows anyway */
	bool feed;      /* the parser has to go on, also without new bytes */
	bool body_came; /* some of it */
	bool eof;       /* the client sends no more */
	bool writing;   /* waits for room */
	bool progress;  /* something happened that restarts the deadline */
	bool owes;      /* a call of drained() */
	bool skip;      /* what comes belongs to a request that was answered before its end */
	bool last;      /* no request after this one */
	bool linger;    /* the client may be sending still: see CONN_LINGERING */
	bool reset;     /* the end has to look like an accident */
	bool finished;  /* TLS: said goodbye */
	bool dead;      /* settle() destroys it */
	char address[46];
};

/* Takes the descriptor, also when it fails. `from`: the client's address as text. */
int http_conn_open(struct httpd *h, int fd, const char *from, struct http_peer *peer);
/* From the loop: does what follows from what happened, and may destroy the connection. */
void http_conn_settle(struct http_conn *c);
/* From anywhere: settles before the loop waits. */
void http_conn_mark(struct http_conn *c);
/* The time for c->deadline is over. */
void http_conn_expired(struct http_conn *c);
/* Calls gone(), where somebody waits for it, and the connection's closed(). */
void http_conn_tell(struct http_conn *c);
size_t http_conn_queued(const struct http_conn *c);
/* Is the request, of which only the header was read, one whose body is larger than `most` or may
 * never come? Then the connection is of no use after the answer. */
bool http_conn_body_unwelcome(const struct http_conn *c, size_t most);
/* Starts the deadline that fits the state, or stops it. */
void http_conn_arm(struct http_conn *c);

#endif
