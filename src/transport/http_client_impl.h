/* transport/http_client_impl.h - what the files of the HTTP client share: http_client.c (libcurl and the
 * loop), http_handle.c (its options), http_fetch.c (one request), http_answer.c (its answer),
 * http_failure.c and http_trace.c (the words). Nobody else includes it.
 *
 * libcurl must not be called from inside its own callbacks, but whoever gets an event may call anything
 * of ours. So `inside` says that libcurl is running: then a fetch that is given up is only marked
 * (FETCH_DEAD: no more events) and goes when libcurl has returned. And `busy` says that the client is on
 * the stack: then it is freed when it no longer is.
 */
#ifndef TRANSPORT_HTTP_CLIENT_IMPL_H
#define TRANSPORT_HTTP_CLIENT_IMPL_H

#include "base/buf.h"
#include "transport/curl.h"
#include "transport/http_client.h"
#include "uri/reference.h"

enum {
	CLIENT_IDLE_HANDLES = 8, /* kept, with their options, for the next request */
	CLIENT_MAX_FETCHES = 1024,
	CLIENT_CONNECTIONS = 32, /* that libcurl keeps open for the next request */
	FETCH_MAX_URL = 64 * 1024,
	FETCH_MAX_LINES = 200, /* of a header, either way */
	FETCH_MAX_HEAD = 64 * 1024,
	FETCH_MAX_REDIRECTS = 5,
	FETCH_MAX_DISCARD = 64 * 1024 /* of the body of a redirect, to keep the connection */
};

struct http_client {
	cleat_allocator mem;
	cleat_loop *loop;
	struct libcurl curl;
	CURLM *multi;
	struct loop_timer *timer; /* libcurl's */
	struct loop_timer *idle;  /* of the fetch that has been waiting longest */
	uint64_t idle_at;         /* when that fires; 0: it is not running */
	struct loop_call kick;    /* something waits to be done outside of libcurl */
	struct http_fetch *fetches;
	struct http_fetch *waiting, **waiting_end;
	size_t n_fetches;
	struct client_socket *sockets;
	CURL *handles[CLIENT_IDLE_HANDLES];
	size_t n_handles;
	unsigned busy;
	bool inside;
	bool kicking;
	bool doomed;  /* freed as soon as it is not busy */
	bool dead;    /* there are fetches to be reaped */
	bool starved; /* no memory for a watch: nothing under way can go on */
	bool has_tls;
	/* as in http_client_opts; one block of memory */
	char *proxy, *ca_file, *client_cert, *client_key, *unix_socket, *user_agent;
	bool insecure, no_http2;
	unsigned connect_ms;
	void (*trace)(void *ctx, bool out, const char *line);
	void *ctx;
};

enum fetch_state { FETCH_NEW, FETCH_RUNNING, FETCH_ENDING, FETCH_DEAD };
enum head_state { HEAD_NONE, HEAD_LINES, HEAD_DONE };

struct http_fetch {
	struct http_client *h;
	struct http_fetch *next, **at; /* among all */
	struct http_fetch *next_waiting;
	CURL *easy;
	struct http_fetch_opts o; /* method, url and body point behind the struct; no headers */
	enum fetch_state state;
	char *moved; /* the URL after a redirect; o.url is this then */
	unsigned redirects;
	bool added;      /* libcurl has it */
	bool hop;        /* the answer is a redirect that will be followed */
	bool queued;     /* in `waiting` */
	bool paused;     /* by its owner */
	bool held;       /* libcurl keeps bytes back because of that */
	bool replayed;   /* libcurl would send it a second time, and may not */
	bool faulted;    /* `why` says what is wrong with the answer */
	bool connected;  /* the other side has been reached */
	unsigned began;  /* how often libcurl was about to send it */
	uint64_t last;   /* when something came */
	curl_off_t sent; /* of the body, when the idle timer looked last */
	int status;      /* 0 before the header is complete */
	int line_status; /* of the status line, also a 1xx */
	enum head_state head_state;
	size_t head_bytes, head_lines; /* all that came, also 1xx and trailers */
	struct buf head;               /* "name:value\n" for each field */
	uint64_t body_bytes;
	struct link_failure why;
	char words[CURL_ERROR_SIZE]; /* libcurl's */
	struct curl_slist list[];    /* the lines sent; then the text that it points to */
};

/* ---- http_client.c ---- */

/* Around whatever the loop calls: h is there until http_client_leave(), not after it. */
void http_client_enter(struct http_client *h);
void http_client_leave(struct http_client *h);
/* Attends to the fetch from the loop: starts it, or lets it go on. */
void http_client_attend(struct http_client *h, struct http_fetch *f);
/* Makes sure that the idle timer fires in `ms` at the latest. */
void http_client_idle_within(struct http_client *h, uint64_t ms);

/* ---- http_handle.c ---- */

/* A handle with the client's options in it; NULL when out of memory. */
CURL *http_handle(struct http_client *h);
void http_handle_done(struct http_client *h, CURL *easy);
/* A new one, and why there is none. */
CURL *http_handle_make(struct http_client *h, CURLcode *rc);

/* ---- http_fetch.c ---- */

/* From the loop, outside of libcurl, while the client is busy. */
void fetch_attend(struct http_fetch *f);
/* libcurl is through with it. */
void fetch_done(struct http_fetch *f, CURLcode rc);
/* Takes it out of libcurl and of the client, tells (unless it is dead) and frees it. */
void fetch_end(struct http_fetch *f, const struct link_failure *why);
/* The idle timer: how long it may still be silent, 0 when it has been for too long, UINT64_MAX when
 * nobody minds. */
uint64_t fetch_patience(struct http_fetch *f, uint64_t now);

/* ---- http_answer.c ---- */

size_t fetch_answer_header(char *bytes, size_t size, size_t n, void *fetch);
size_t fetch_answer_body(char *bytes, size_t size, size_t n, void *fetch);
/* Forgets the answer, before the request is sent to the next place. */
void fetch_answer_reset(struct http_fetch *f);

/* ---- http_failure.c ---- */

/* "localhost:8080", for people. */
struct place {
	char text[128];
};
struct place fetch_place(const struct http_fetch *f);
/* Remembers what is wrong with the answer. Returns 0, which ends the transfer when a callback of
 * libcurl's gives it back. */
size_t fetch_fault(struct http_fetch *f, enum cleat_step step, int status, const char *fmt, ...)
	CLEAT_PRINTF(4, 5);
/* What libcurl's code means. */
void fetch_failure(struct http_fetch *f, CURLcode rc, struct link_failure *ret);
void fetch_failure_idle(struct http_fetch *f, struct link_failure *ret);

/* ---- http_trace.c ---- */

/* CURLOPT_DEBUGFUNCTION; `client` is the http_client. */
int fetch_trace(CURL *easy, curl_infotype type, char *bytes, size_t n, void *client);

/* True when a reference is an http or https URL with a host, and without credentials. */
bool fetch_split_url(struct str url, struct uri *ret);
unsigned fetch_port(const struct uri *u);

#endif
