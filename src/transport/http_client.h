/* transport/http_client.h - HTTP requests on our loop: libcurl's multi interface behind a small face.
 *
 * libcurl is opened when the first client is made (base/lazy.h), so that programs which never speak HTTP
 * carry nothing of it. It brings HTTP/1.1 and 2, TLS, proxies, IPv6, happy eyeballs and connection reuse.
 * Redirects are followed here, not by libcurl: only to the same origin (scheme, host, port), at most 5,
 * method and body kept (307, 308) or, for GET, any 3xx; everything else is a failure that names the
 * place it led to. So no header ever reaches another origin. Only http and https are allowed. No cookies,
 * no netrc, no authentication of its own. Response bodies are never decompressed beyond `max_body`.
 *
 * Not here: what a body means, retrying, MCP.
 */
#ifndef TRANSPORT_HTTP_CLIENT_H
#define TRANSPORT_HTTP_CLIENT_H

#include "loop/loop.h"
#include "protocol/link.h"

struct http_client;
struct http_fetch;

struct http_client_opts {
	cleat_loop *loop;
	const cleat_allocator *mem;
	const char *proxy;   /* NULL: environment; "": none */
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
struct http_client *http_client_new(const struct http_client_opts *o, cleat_error *err);
/* Ends all fetches without events. Accepts NULL. Also from inside an event. */
void http_client_free(struct http_client *h);

/* A header of a response; names are compared without regard to case. The value is trimmed, the last one
 * of several counts; absent when there is none. Valid during on_head, and until the fetch ends. */
struct str http_fetch_header(const struct http_fetch *f, const char *name);
int http_fetch_status(const struct http_fetch *f); /* 0 before on_head */

struct http_fetch_opts {
	const char *method; /* "POST", "GET", "DELETE" */
	const char *url;
	const char *const
		*headers; /* "Name: value" lines; ends with NULL. No CR, LF or NUL: CLEAT_EINVAL */
	struct str body;  /* copied; absent: none */
	unsigned idle_ms; /* no byte for so long is a failure (CLEAT_ETIMEOUT); 0: never */
	size_t max_body;  /* 0: no limit (streams are limited by who reads them) */
	/* The final status and its headers (after redirects; never 1xx). False: stop, on_end is not called
	 * any more. May be NULL. */
	bool (*on_head)(void *ctx, struct http_fetch *f, int status);
	/* Some bytes of the body. False: as above. May be NULL: thrown away. */
	bool (*on_body)(void *ctx, struct http_fetch *f, struct str bytes);
	/* The end, exactly once: `why` NULL when the response is complete (whatever its status),
	 * otherwise DNS, CONNECT, TLS, EXCHANGE, TIMEOUT or PROTOCOL with a message that names host and
	 * port and what to try; `unsent` is set when the request cannot have reached the server. The fetch
	 * is gone when this returns. */
	void (*on_end)(void *ctx, struct http_fetch *f, const struct link_failure *why);
	void *ctx;
};

/* Starts; events come from the loop, never from in here. NULL with the reason in *err. */
struct http_fetch *http_fetch_start(struct http_client *h, const struct http_fetch_opts *o,
				    cleat_error *err);
/* Gives it up: the connection is closed (HTTP/2: the stream is reset) if the response was not complete.
 * No more events. Also from inside on_head and on_body (which must return false then). Accepts NULL. */
void http_fetch_cancel(struct http_fetch *f);
/* Stops and resumes reading the body (backpressure). */
void http_fetch_pause(struct http_fetch *f, bool pause);

#endif
