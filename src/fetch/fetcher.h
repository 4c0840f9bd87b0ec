/* fetch/fetcher.h - HTTP requests on our loop: libcurl's multi interface behind a small face.
 *
 * libcurl is opened when the first client is made (base/lazy.h), so that programs which never speak HTTP
 * carry nothing of it. It brings HTTP/1.1 and 2, TLS, proxies, IPv6, happy eyeballs and connection reuse.
 * Redirects are followed here, not by libcurl: only to the same origin (scheme, host, port), at most 5,
 * method and body kept (307, 308) or, for GET, any of 301, 302, 303, 307, 308; everything else is a
 * failure that names the place it led to. So no header ever reaches another origin. Only http and https
 * are allowed. No cookies, no netrc, no authentication of its own, no user names in URLs. Answers are not
 * asked for in a compressed form, and one that is compressed all the same is a failure. The header of an
 * answer, with 1xx and trailers, has at most 200 lines and 64 KiB. (Whoever only passes answers on gets
 * redirects and compressed bodies as they are: `verbatim`.)
 *
 * A POST is never sent a second time once something of it has left. GET and DELETE are, by libcurl, when a
 * connection that was used before turns out to be broken before any answer (RFC 9110, 9.2.2).
 *
 * Not here: what a body means, retrying, MCP.
 */
#ifndef FETCH_FETCHER_H
#define FETCH_FETCHER_H

#include "http/message.h"
#include "loop/loop.h"
#include "protocol/link.h"

struct fetcher;
struct fetch;

struct fetcher_options {
	cleat_loop *loop;
	const cleat_allocator *mem;
	const char *proxy;   /* NULL: environment, but not for loopback hosts; "": none */
	const char *ca_file; /* NULL: the system's */
	const char *client_cert, *client_key;
	const char *unix_socket; /* NULL: TCP */
	const char *user_agent;  /* NULL: "cleat/VERSION" */
	bool insecure;
	bool no_http2;
	unsigned connect_ms; /* DNS, TCP and TLS of one request; 0: 30 s */
	/* Every header line sent and received, without secrets (Authorization and configured headers show
	 * their name and "..." only), and connection events, for -v. May be NULL. */
	void (*trace)(void *ctx, bool out, const char *line);
	void *ctx;
};

/* NULL with the reason in *err: CLEAT_EUNSUPPORTED (libcurl is not there), CLEAT_EINVAL (a CA file that
 * cannot be read, ...), CLEAT_ENOMEM. All strings are copied. */
struct fetcher *fetcher_new(const struct fetcher_options *o, cleat_error *err);
/* Ends all fetches without events. Accepts NULL. Also from inside an event. */
void fetcher_free(struct fetcher *h);

/* The fields of the answer's header, names as they were sent, in the order in which they came. Valid from
 * on_head until the fetch ends. */
const struct http_field *fetch_fields(const struct fetch *f, size_t *ret_n);
/* The value of the last of them with this name, whatever its case; absent when there is none. */
struct str fetch_field(const struct fetch *f, const char *name);
int fetch_status(const struct fetch *f); /* 0 before on_head */

struct fetch_options {
	const char *method; /* "POST", "GET", "DELETE" */
	const char *url;
	/* Names that are no tokens, control characters in values, and fields that frame the message
	 * (Content-Length, Transfer-Encoding, Connection, Upgrade, Expect, TE), are CLEAT_EINVAL. At most 200
	 * and 64 KiB. Content-Type is sent only when it is here. Copied. */
	const struct http_field *fields;
	size_t n_fields;
	struct str body; /* copied; absent: none */
	/* No byte for so long, from when the request is sent on, is a failure (CLEAT_ETIMEOUT); 0: never.
	 * Not while it is paused, nor while a large body leaves. */
	unsigned idle_ms;
	size_t max_body; /* 0: no limit (streams are limited by who reads them) */
	/* The answer is for somebody else: a redirect, and a body with a Content-Encoding, are answers like
	 * any other. */
	bool verbatim;
	/* The final status and its headers (after redirects; never 1xx). False: stop, on_end is not called
	 * any more. May be NULL. */
	bool (*on_head)(void *ctx, struct fetch *f, int status);
	/* Some bytes of the body. False: as above. May be NULL: thrown away. */
	bool (*on_body)(void *ctx, struct fetch *f, struct str bytes);
	/* The end, exactly once: `why` NULL when the response is complete (whatever its status),
	 * otherwise with a message that names host and port and what to try, and the step:
	 * DNS, CONNECT, TLS (CLEAT_EIO, or CLEAT_ETIMEOUT when connect_ms was not enough),
	 * EXCHANGE (it broke: CLEAT_EIO, CLEAT_ENOMEM),
	 * TIMEOUT (idle_ms: CLEAT_ETIMEOUT),
	 * PROTOCOL (what came is not HTTP: CLEAT_EPROTO; too much of it: CLEAT_ELIMIT),
	 * HTTP (a redirect that is not followed, with http_status: CLEAT_EPROTO).
	 * `unsent` is set when the request cannot have reached the server. The fetch is gone when this
	 * returns. */
	void (*on_end)(void *ctx, struct fetch *f, const struct link_failure *why);
	void *ctx;
};

/* Starts; events come from the loop, never from in here. NULL with the reason in *err: CLEAT_EINVAL,
 * CLEAT_ELIMIT (headers, or 1,024 fetches are under way), CLEAT_EUNSUPPORTED (no TLS in this libcurl),
 * CLEAT_ECLOSED (the client has been freed and is on the stack), CLEAT_ENOMEM. Also from inside any event.
 * Keeps the loop attached until it ends. */
struct fetch *fetch_start(struct fetcher *h, const struct fetch_options *o, cleat_error *err);
/* Gives it up: the connection is closed (HTTP/2: the stream is reset) if the response was not complete.
 * No more events. Also from inside any event of any fetch (its own on_head and on_body must return false
 * then). Accepts NULL. */
void fetch_cancel(struct fetch *f);
/* Stops and resumes reading the body (backpressure). */
void fetch_pause(struct fetch *f, bool pause);

#endif
