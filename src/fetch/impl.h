/* fetch/impl.h - what the files of the HTTP client share: fetcher.c (libcurl and the
 * loop), handle.c (its options), fetch.c (one request), answer.c (its answer),
 * failure.c and trace.c (the words). Nobody else includes it.
 *
 * libcurl must not be called from inside its own callbacks, but whoever gets an event may call anything
 * of ours. So `inside` says that libcurl is running: then a fetch that is given up is only marked
 * (FETCH_DEAD: no more events) and goes when libcurl has returned. And `busy` says that the client is on
 * the stack: then it is freed when it no longer is.
 */
#ifndef FETCH_IMPL_H
#define FETCH_IMPL_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/ring.h"
#include "fetch/curl.h"
#include "fetch/fetcher.h"
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

struct fetcher {
	cleat_allocator mem;
	cleat_loop *loop;
	struct libcurl curl;
	CURLM *multi;
	struct loop_timer *timer; /* libcurl's */
	struct loop_timer *idle;  /* of the fetch that has been waiting longest */
	uint64_t idle_at;         /* when that fires; 0: it is not running */
	struct loop_call kick;    /* something waits to be done outside of libcurl */
	struct fetch *fetches;
	struct fetch *waiting, **waiting_end;
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
	/* as in fetcher_options; one block of memory */
	char *proxy, *ca_file, *client_cert, *client_key, *unix_socket, *user_agent;
	bool insecure, no_http2;
	unsigned connect_ms;
	void (*trace)(void *ctx, bool out, const char *line);
	void *ctx;
};

enum fetch_state { FETCH_NEW, FETCH_RUNNING, FETCH_ENDING, FETCH_DEAD };
enum head_state { HEAD_NONE, HEAD_LINES, HEAD_DONE };

struct fetch {
	struct fetcher *h;
	struct fetch *next, **at; /* among all */
	struct fetch *next_waiting;
	CURL *easy;
	struct fetch_options o; /* method, url and body point behind the struct; no fields */
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
	struct arena head;             /* of the fields: */
	struct http_field_list fields;
	uint64_t body_bytes;
	struct link_failure why;
	char words[CURL_ERROR_SIZE]; /* libcurl's */
	struct curl_slist list[];    /* the lines sent; then the text that it points to */
};

/* ---- fetcher.c ---- */

/* Around whatever the loop calls: h is there until fetcher_leave(), not after it. */
void fetcher_enter(struct fetcher *h);
void fetcher_leave(struct fetcher *h);
/* Attends to the fetch from the loop: starts it, or lets it go on. */
void fetcher_attend(struct fetcher *h, struct fetch *f);
/* Makes sure that the idle timer fires in `ms` at the latest. */
void fetcher_idle_within(struct fetcher *h, uint64_t ms);

/* ---- handle.c ---- */

/* A handle with the client's options in it; NULL when out of memory. */
CURL *fetcher_handle(struct fetcher *h);
void fetcher_handle_done(struct fetcher *h, CURL *easy);
/* A new one, and why there is none. */
CURL *fetcher_handle_make(struct fetcher *h, CURLcode *rc);

/* ---- fetch.c ---- */

/* From the loop, outside of libcurl, while the client is busy. */
void fetch_attend(struct fetch *f);
/* libcurl is through with it. */
void fetch_done(struct fetch *f, CURLcode rc);
/* Takes it out of libcurl and of the client, tells (unless it is dead) and frees it. */
void fetch_end(struct fetch *f, const struct link_failure *why);
/* The idle timer: how long it may still be silent, 0 when it has been for too long, UINT64_MAX when
 * nobody minds. */
uint64_t fetch_patience(struct fetch *f, uint64_t now);

/* ---- answer.c ---- */

size_t fetch_answer_header(char *bytes, size_t size, size_t n, void *fetch);
size_t fetch_answer_body(char *bytes, size_t size, size_t n, void *fetch);
/* Forgets the answer, before the request is sent to the next place. */
void fetch_answer_reset(struct fetch *f);

/* ---- failure.c ---- */

/* "localhost:8080", for people. */
struct place {
	char text[128];
};
struct place fetch_place(const struct fetch *f);
/* Remembers what is wrong with the answer. Returns 0, which ends the transfer when a callback of
 * libcurl's gives it back. */
size_t fetch_fault(struct fetch *f, enum cleat_step step, int status, const char *fmt, ...)
	CLEAT_PRINTF(4, 5);
/* What libcurl's code means. */
void fetch_failure(struct fetch *f, CURLcode rc, struct link_failure *ret);
void fetch_failure_idle(struct fetch *f, struct link_failure *ret);

/* ---- trace.c ---- */

/* CURLOPT_DEBUGFUNCTION; `client` is the http_client. */
int fetch_trace(CURL *easy, curl_infotype type, char *bytes, size_t n, void *client);

/* True when a reference is an http or https URL with a host, and without credentials. */
bool fetch_split_url(struct str url, struct uri *ret);

#endif
