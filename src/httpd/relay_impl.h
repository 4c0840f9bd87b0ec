/* httpd/relay_impl.h - what the parts of the relay share.
 *
 *   relay.c        life; what crosses: mail from front to back, commands from back to front
 *   relay_front.c  the service of the connections' http_server, on the connections' thread
 *   relay_back.c   exchanges as the service sees them, on the service's thread
 *
 * Connections and exchanges of a relay are counted, because either side may be done with them first:
 * the front holds a connection until it is closed and an exchange until it is logged, the back holds an
 * exchange from the request to its end, and everything that crosses holds what it is about. Each member
 * belongs to one side; only mail, commands and the few numbers under the lock are seen by both.
 */
#ifndef HTTPD_RELAY_IMPL_H
#define HTTPD_RELAY_IMPL_H

#include "httpd/conn.h"
#include "httpd/relay.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- mail --------------------------------------------------------------------------------- */

/* What happened in the front, in the order in which it happens to one exchange. */
enum {
	MAIL_REQUEST = 1,
	MAIL_DRAINED = 2,
	MAIL_GONE = 4,
	MAIL_LOGGED = 8,
	MAIL_OTHER = 16 /* of what is not an exchange */
};

/* Part of what it is about, so that sending cannot fail; what happens until it is taken is added. */
struct relay_mail {
	struct relay_mail *next;
	void (*deliver)(struct relay_mail *m, unsigned what);
	unsigned what; /* 0: not on its way */
	size_t weight; /* bytes */
};

/* ---- commands ----------------------------------------------------------------------------- */

enum relay_verb { DO_REPLY, DO_BEGIN, DO_WRITE, DO_END, DO_ABORT };

/* Strings and fields lie after it, except in the one that is part of its exchange. */
struct relay_command {
	struct relay_command *next;
	struct relay_exchange *x; /* held */
	enum relay_verb verb;
	int status;
	bool close;
	struct str type, body;
	const struct http_field *fields;
	size_t n_fields;
};

struct relay_commands {
	struct relay_command *first, **end;
};

/* ---- connections and exchanges ------------------------------------------------------------ */

struct relay_conn {
	struct http_relay *relay;
	atomic_uint holds;
	struct relay_mail closed_mail;
	bool tls;
	char address[46];
	/* front */
	struct relay_exchange *current; /* until it is logged */
	/* back */
	void *data;
	void (*closed)(void *data);
};

struct relay_exchange {
	struct http_exchange ex; /* what the service sees; back */
	struct http_relay *relay;
	struct relay_conn *conn;
	atomic_uint holds;
	struct relay_mail mail;
	/* front */
	struct http_exchange *real; /* NULL: nothing more can be done with it */
	struct ring waiting;        /* for room on the way to the back */
	bool sent;                  /* the back knows it */
	size_t given;               /* bytes of the answer that the connection has */
	/* of the record; written in the front before it is sent */
	int status;
	uint64_t bytes, micros;
	/* back, from the request on */
	struct http_request request;
	void *copy; /* what it points into */
	size_t max_body;
	size_t added; /* bytes of the answer that were written */
	/* both */
	atomic_size_t written; /* bytes of the answer that the client was sent */
	struct relay_command last;
};

/* Numbers of the front that the back may read at any time. */
struct relay_stats {
	atomic_size_t connections, exchanges, queued_bytes;
	atomic_uint_least64_t accepted, refused, timeouts, unlogged;
	atomic_bool wanted; /* queued_bytes */
};

struct http_relay {
	cleat_allocator mem;
	struct http_relay_options o;
	struct http_service service;
	struct httpd *http; /* front */
	struct relay_stats stats;
	/* both */
	pthread_mutex_t lock; /* for all of this part */
	struct relay_mail *mail, **mail_end;
	size_t n_mail, weight;
	unsigned n_requests, n_notes;
	bool starving; /* an exchange waits for room */
	struct relay_commands commands;
	bool drain;
	struct tls_context *tls; /* held; to be used from now on */
	bool set_tls;
	/* front */
	struct loop_call front_call, publish_call;
	struct loop_turn turn;
	struct ring waiting;
	/* back */
	struct loop_call back_call, send_call;
	struct relay_commands staged; /* until control is back in the loop */
	struct relay_mail drained_mail;
	void (*done)(void *ctx);
	void *done_ctx;
	bool closing;
};

/* Any thread. Whoever has it holds it. */
void relay_exchange_hold(struct relay_exchange *x);
void relay_exchange_drop(struct relay_exchange *x);
void relay_conn_hold(struct relay_conn *c);
void relay_conn_drop(struct relay_conn *c);

/* Front: puts `what` on its way. True when nothing of it was on its way before: then the mail keeps
 * the hold that was taken for it. */
bool relay_send(struct http_relay *r, struct relay_mail *m, unsigned what, size_t weight);
/* Front: may one more request be sent? If not, the front is called when there is room again. */
bool relay_has_room(struct http_relay *r);

/* Back: carried out in the front after control is back in the loop. It holds c->x. */
void relay_command(struct relay_command *c);
/* Gives back the hold and the memory. */
void relay_command_free(struct relay_command *c);

/* Copies a text to *at, which moves on; what is absent stays absent. */
struct str relay_put(char **at, struct str s);
size_t relay_fields_size(const struct http_field *fields, size_t n);
void relay_put_fields(char **at, struct http_field *to, const struct http_field *fields, size_t n);

/* relay_front.c */
struct http_service relay_front_service(struct http_relay *r);
void relay_front_note(void *relay, int level, const char *text);
void relay_front_run(struct relay_command *c);
/* Sends exchanges that waited for room. */
void relay_front_resume(struct http_relay *r);

/* relay_back.c */
extern const struct http_exchange_ops relay_back_ops;
void relay_back_deliver(struct relay_mail *m, unsigned what);
/* The command is about to leave: control is back in the loop. */
void relay_back_staged(struct relay_command *c);

#endif
