/* fetch/handle.c - libcurl's handles, with all that is the same for every request of a client in
 * them. They are kept for the next request: setting it all again would cost more than a request's own
 * options do.
 *
 * What keeps a client safe is set or the handle is not made; only what is a matter of comfort may be
 * missing in a libcurl.
 */
#define _DEFAULT_SOURCE 1 /* TCP_USER_TIMEOUT */

#include "fetch/impl.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

enum { KEEPALIVE_AFTER_S = 30, KEEPALIVE_EVERY_S = 10, UNACKNOWLEDGED_MS = 60 * 1000 };

/* What was sent and is not acknowledged for a minute will not be. */
static int on_socket_made(void *client, curl_socket_t fd, curlsocktype purpose)
{
	int ms = UNACKNOWLEDGED_MS;

	(void)client, (void)purpose;
#ifdef TCP_USER_TIMEOUT
	(void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);
#else
	(void)fd, (void)ms;
#endif
	return CURL_SOCKOPT_OK;
}

/* Called when a connection is ready and the request is about to be sent. libcurl sends a request again
 * by itself when a connection that was used before breaks before any answer. When something of it had
 * left already, only it knows whether the server acted on it: so only what may be repeated
 * (RFC 9110, 9.2.2) is. */
static int on_sending(void *fetch, char *ip, char *local_ip, int port, int local_port)
{
	struct fetch *f = fetch;
	long sent = 0;

	(void)ip, (void)local_ip, (void)port, (void)local_port;
	f->last = loop_now();
	if (f->began++ == 0 || strcmp(f->o.method, "POST") != 0)
		return CURL_PREREQFUNC_OK;
	f->h->curl.curl_easy_getinfo(f->easy, CURLINFO_REQUEST_SIZE, &sent);
	f->replayed = sent > 0;
	return f->replayed ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

#define SET(option, value)                                                                         \
	(rc = rc == CURLE_OK ? k->curl_easy_setopt(easy, CURLOPT_##option, (value)) : rc)
/* Where a libcurl that was built without it does as well. */
#define TRY(option, value) ((void)k->curl_easy_setopt(easy, CURLOPT_##option, (value)))

static CURLcode set_tls(const struct fetcher *h, CURL *easy)
{
	const struct libcurl *k = &h->curl;
	CURLcode rc = CURLE_OK;

	if (!h->has_tls)
		return CURLE_OK;
	SET(SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	SET(SSL_VERIFYPEER, h->insecure ? 0L : 1L);
	SET(SSL_VERIFYHOST, h->insecure ? 0L : 2L);
	if (h->ca_file)
		SET(CAINFO, h->ca_file);
	if (h->client_cert)
		SET(SSLCERT, h->client_cert);
	if (h->client_key)
		SET(SSLKEY, h->client_key);
	return rc;
}

static CURLcode set_connection(const struct fetcher *h, CURL *easy)
{
	const struct libcurl *k = &h->curl;
	CURLcode rc = CURLE_OK;

	SET(CONNECTTIMEOUT_MS, (long)h->connect_ms);
	SET(TCP_KEEPALIVE, 1L);
	SET(TCP_KEEPIDLE, (long)KEEPALIVE_AFTER_S);
	SET(TCP_KEEPINTVL, (long)KEEPALIVE_EVERY_S);
	SET(SOCKOPTFUNCTION, on_socket_made);
	SET(QUICK_EXIT, 1L);
	/* No request waits to see whether it can share a connection that another one is opening, nor
	 * for anything else of another one's. */
	TRY(PIPEWAIT, 0L);
	TRY(HTTP_VERSION, (long)(h->no_http2 ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2TLS));
	if (h->unix_socket) {
		SET(UNIX_SOCKET_PATH, h->unix_socket);
		SET(PROXY, "");
	} else if (h->proxy) {
		SET(PROXY, h->proxy);
	}
	/* A proxy gets no header that is meant for the server, and its own is not taken for an answer. */
	TRY(HEADEROPT, (long)CURLHEADER_SEPARATE);
	TRY(SUPPRESS_CONNECT_HEADERS, 1L);
	return rc;
}

/* Everything that is the same for all requests of a client. */
static CURLcode set_all(struct fetcher *h, CURL *easy)
{
	const struct libcurl *k = &h->curl;
	CURLcode rc = CURLE_OK;

	SET(NOSIGNAL, 1L);
	SET(PROTOCOLS_STR, "http,https");
	SET(FOLLOWLOCATION, 0L);
	SET(DISALLOW_USERNAME_IN_URL, 1L);
	SET(PATH_AS_IS, 1L);
	SET(HTTP09_ALLOWED, 0L);
	SET(HTTP_CONTENT_DECODING, 0L);
	SET(USERAGENT, h->user_agent);
	SET(HEADERFUNCTION, fetch_answer_header);
	SET(WRITEFUNCTION, fetch_answer_body);
	SET(PREREQFUNCTION, on_sending);
	if (h->trace) {
		SET(DEBUGFUNCTION, fetch_trace);
		SET(DEBUGDATA, h);
		SET(VERBOSE, 1L);
	}
	if (rc == CURLE_OK)
		rc = set_connection(h, easy);
	return rc == CURLE_OK ? set_tls(h, easy) : rc;
}

#undef SET
#undef TRY

CURL *fetcher_handle_make(struct fetcher *h, CURLcode *rc)
{
	CURL *easy = h->curl.curl_easy_init();

	*rc = easy ? set_all(h, easy) : CURLE_OUT_OF_MEMORY;
	if (*rc == CURLE_OK)
		return easy;
	h->curl.curl_easy_cleanup(easy);
	return NULL;
}

CURL *fetcher_handle(struct fetcher *h)
{
	CURLcode rc;

	return h->n_handles ? h->handles[--h->n_handles] : fetcher_handle_make(h, &rc);
}

void fetcher_handle_done(struct fetcher *h, CURL *easy)
{
	/* The rest that points into the fetch is set anew before it is used. */
	h->curl.curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, NULL);
	if (h->n_handles < CLIENT_IDLE_HANDLES && !h->doomed)
		h->handles[h->n_handles++] = easy;
	else
		h->curl.curl_easy_cleanup(easy);
}
