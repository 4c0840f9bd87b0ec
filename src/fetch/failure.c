/* fetch/failure.c - why a request failed, in words that a person can act on: the step, the
 * place, the system's or libcurl's reason, and what to try.
 *
 * URLs and headers may hold secrets: of a URL only host and port are named. `unsent` is set only when it
 * is certain that the server has not seen the request.
 */
#include "base/error.h"
#include "fetch/impl.h"

#include <stdarg.h>
#include <stdio.h>

enum { CODE_TOO_LARGE = 100 }; /* CURLE_TOO_LARGE, since 8.6.0 */

struct place fetch_place(const struct fetch *f)
{
	struct place p = { "the server" };
	struct uri u;

	if (f->h->unix_socket)
		snprintf(p.text, sizeof p.text, "unix:%s", f->h->unix_socket);
	else if (fetch_split_url(str_of(f->o.url), &u))
		snprintf(p.text, sizeof p.text, "%.*s:%u", (int)(u.host.n > 100 ? 100 : u.host.n),
			 u.host.p, uri_port(&u));
	return p;
}

size_t fetch_fault(struct fetch *f, enum cleat_step step, int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	error_vset(&f->why.error, status, 0, fmt, ap);
	va_end(ap);
	f->why.step = step;
	f->faulted = true;
	return 0;
}

/* ---- the step ---------------------------------------------------------------------------------- */

static bool is_tls(CURLcode rc)
{
	switch (rc) {
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CIPHER:
	case CURLE_SSL_ISSUER_ERROR:
	case CURLE_SSL_CRL_BADFILE:
	case CURLE_SSL_ENGINE_NOTFOUND:
	case CURLE_SSL_ENGINE_SETFAILED:
	case CURLE_SSL_ENGINE_INITFAILED:
	case CURLE_SSL_INVALIDCERTSTATUS:
	case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
	case CURLE_SSL_CLIENTCERT:
	case CURLE_SSL_SHUTDOWN_FAILED:
	case CURLE_BAD_FUNCTION_ARGUMENT: /* since 8.16: a key that is not the certificate's */
	case CURLE_USE_SSL_FAILED: return true;
	default: return false;
	}
}

/* How far connecting came. */
static enum cleat_step step_reached(const struct fetch *f)
{
	curl_off_t named = 0;

	if (f->began)
		return CLEAT_STEP_EXCHANGE;
	if (f->connected)
		return CLEAT_STEP_TLS;
	f->h->curl.curl_easy_getinfo(f->easy, CURLINFO_NAMELOOKUP_TIME_T, &named);
	return named > 0 ? CLEAT_STEP_CONNECT : CLEAT_STEP_DNS;
}

/* A line that is longer than libcurl's own limit, and comes to no end. It says what it says when there is
 * no memory, which there is for smaller things. */
static bool is_long_line(const struct fetch *f, CURLcode rc)
{
	return ((int)rc == CODE_TOO_LARGE || rc == CURLE_OUT_OF_MEMORY) && f->began &&
	       f->head_state != HEAD_DONE;
}

static enum cleat_step step_of(const struct fetch *f, CURLcode rc)
{
	if (is_long_line(f, rc))
		return CLEAT_STEP_PROTOCOL;
	if (is_tls(rc))
		return f->began ? CLEAT_STEP_EXCHANGE : CLEAT_STEP_TLS;
	switch (rc) {
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY: return CLEAT_STEP_DNS;
	case CURLE_COULDNT_CONNECT:
	case CURLE_PROXY: return CLEAT_STEP_CONNECT;
	case CURLE_OPERATION_TIMEDOUT: return step_reached(f);
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_WEIRD_SERVER_REPLY:
	case CURLE_BAD_CONTENT_ENCODING: return CLEAT_STEP_PROTOCOL;
	case CURLE_RECV_ERROR:
		/* libcurl has no code of its own for broken chunks. */
		if (strstr(f->words, "hunk"))
			return CLEAT_STEP_PROTOCOL;
		return f->began ? CLEAT_STEP_EXCHANGE : CLEAT_STEP_CONNECT;
	default:
		if ((int)rc == CODE_TOO_LARGE)
			return CLEAT_STEP_PROTOCOL;
		return f->began ? CLEAT_STEP_EXCHANGE : CLEAT_STEP_CONNECT;
	}
}

/* ---- the words --------------------------------------------------------------------------------- */

static const char *reason(const struct fetch *f, CURLcode rc)
{
	return f->words[0] ? f->words : f->h->curl.curl_easy_strerror(rc);
}

/* What libcurl says, without what we say too. */
static const char *tls_reason(const struct fetch *f, CURLcode rc)
{
	static const char *const prefixes[] = { "SSL certificate problem: ", "SSL: " };
	const char *words = reason(f, rc);

	for (size_t i = 0; i < CLEAT_COUNT(prefixes); i++)
		if (strncmp(words, prefixes[i], strlen(prefixes[i])) == 0)
			return words + strlen(prefixes[i]);
	/* "OpenSSL/3.0.11: error:0A00010B:SSL routines::wrong version number" */
	if (strstr(words, "error:") && strrchr(words, ':')[1])
		return strrchr(words, ':') + 1;
	return words;
}

static const char *tls_remedy(const struct fetch *f, CURLcode rc)
{
	const char *words = reason(f, rc);

	if (strstr(words, "wrong version number") || strstr(words, "packet length too long"))
		return ": this port does not speak TLS; is it http://?";
	if (strstr(words, "does not match") || strstr(words, "alternative"))
		return ": the certificate is for another name; use the name that it is for";
	if (strstr(words, "expired") || strstr(words, "not yet valid"))
		return ": the server needs a new one, or a clock is wrong";
	if (rc == CURLE_SSL_CACERT_BADFILE)
		return ": ca_file has to be PEM";
	if (rc == CURLE_SSL_CERTPROBLEM || rc == CURLE_BAD_FUNCTION_ARGUMENT)
		return ": check client certificate and key, both PEM";
	if (rc == CURLE_PEER_FAILED_VERIFICATION)
		return ": ca_file names an authority of your own";
	return "";
}

static void say_dns(const struct fetch *f, CURLcode rc, cleat_error *e)
{
	struct uri u = { 0 };

	if (rc == CURLE_COULDNT_RESOLVE_PROXY) {
		error_set(e, CLEAT_EIO, "resolving the proxy: name not known: check its name");
		return;
	}
	fetch_split_url(str_of(f->o.url), &u);
	error_set(e, rc == CURLE_OPERATION_TIMEDOUT ? CLEAT_ETIMEOUT : CLEAT_EIO,
		  "resolving %.*s: %s: check the name and the network",
		  (int)(u.host.n > 100 ? 100 : u.host.n), u.host.p,
		  rc == CURLE_OPERATION_TIMEDOUT ? "no answer in time" : "name not known");
}

/* libcurl names the one that it could not connect to; later ones (8.17) say "HOST port N via PROXY". */
static bool is_proxys(const struct fetch *f)
{
	char host[128];
	struct uri u;

	if (f->h->unix_socket || !fetch_split_url(str_of(f->o.url), &u) || u.host.n >= sizeof host)
		return false;
	snprintf(host, sizeof host, "%.*s", STR_ARGS(u.host));
	/* Without the brackets of an IPv6 address, and in whatever case it has. */
	host[strcspn(host, "]")] = '\0';
	return strstr(f->words, " via ") ||
	       (f->words[0] && !strstr(f->words, host + (host[0] == '[')));
}

static void say_connect(const struct fetch *f, CURLcode rc, int os, cleat_error *e)
{
	struct place p = fetch_place(f);

	if (rc == CURLE_COULDNT_CONNECT && is_proxys(f))
		error_set(e, CLEAT_EIO, "connecting to the proxy: %s: is it running?",
			  os ? strerror(os) : reason(f, rc));
	else if (rc == CURLE_OPERATION_TIMEDOUT)
		error_set(e, CLEAT_ETIMEOUT,
			  "connecting to %s: no answer for %u ms: is it the right host and port, "
			  "or does a firewall drop it?",
			  p.text, f->h->connect_ms);
	else if (rc == CURLE_COULDNT_CONNECT)
		error_set(e, CLEAT_EIO, "connecting to %s: %s: is the server running?", p.text,
			  os ? strerror(os) : reason(f, rc));
	else
		error_set(e, CLEAT_EIO, "connecting to %s: %s", p.text, reason(f, rc));
}

/* Nothing was ever handed to a connection; the size counts what was, also by earlier tries. */
static bool is_unsent(const struct fetch *f)
{
	long sent = 0;

	if (f->redirects)
		return false;
	f->h->curl.curl_easy_getinfo(f->easy, CURLINFO_REQUEST_SIZE, &sent);
	return f->began == 0 || (sent == 0 && f->head_bytes == 0);
}

static void say_exchange(const struct fetch *f, CURLcode rc, cleat_error *e)
{
	struct place p = fetch_place(f);
	bool closed = f->replayed || rc == CURLE_OK || rc == CURLE_GOT_NOTHING ||
		      rc == CURLE_PARTIAL_FILE;

	if (f->head_bytes)
		error_set(e, CLEAT_EIO, "%s: %s in the middle of the answer", p.text,
			  closed ? "the connection was closed" : reason(f, rc));
	else
		error_set(e, CLEAT_EIO, "%s: %s before any answer: %s", p.text,
			  closed ? "the connection was closed" : reason(f, rc),
			  is_unsent(f) ? "the request was not sent"
				       : "the server may have acted on the request");
}

static void failure_say(const struct fetch *f, CURLcode rc, int os, struct link_failure *w)
{
	struct place p = fetch_place(f);

	if (w->step == CLEAT_STEP_PROTOCOL && is_long_line(f, rc)) {
		error_set(&w->error, CLEAT_ELIMIT, "%s sends a header line that is too long",
			  p.text);
	} else if (rc == CURLE_OUT_OF_MEMORY) {
		error_set(&w->error, CLEAT_ENOMEM, "out of memory");
	} else if (w->step == CLEAT_STEP_DNS) {
		say_dns(f, rc, &w->error);
	} else if (w->step == CLEAT_STEP_CONNECT) {
		say_connect(f, rc, os, &w->error);
	} else if (w->step == CLEAT_STEP_TLS) {
		error_set(&w->error, rc == CURLE_OPERATION_TIMEDOUT ? CLEAT_ETIMEOUT : CLEAT_EIO,
			  "TLS with %s: %s%s", p.text, tls_reason(f, rc), tls_remedy(f, rc));
	} else if (w->step == CLEAT_STEP_PROTOCOL) {
		error_set(&w->error, CLEAT_EPROTO, "%s does not speak HTTP as it should: %s",
			  p.text, reason(f, rc));
	} else {
		say_exchange(f, rc, &w->error);
	}
}

/* libcurl's is that of whatever failed last on this handle, perhaps long ago. */
static int os_errno(const struct fetch *f, CURLcode rc)
{
	long os = 0;

	f->h->curl.curl_easy_getinfo(f->easy, CURLINFO_OS_ERRNO, &os);
	if (os && (rc == CURLE_COULDNT_CONNECT || strstr(f->words, strerror((int)os))))
		return (int)os;
	return 0;
}

void fetch_failure(struct fetch *f, CURLcode rc, struct link_failure *ret)
{
	int os = os_errno(f, rc);

	memset(ret, 0, sizeof *ret);
	ret->step = step_of(f, rc);
	failure_say(f, rc, os, ret);
	ret->error.os_errno = os;
	ret->http_status = f->status;
	ret->unsent = is_unsent(f);
}

void fetch_failure_idle(struct fetch *f, struct link_failure *ret)
{
	memset(ret, 0, sizeof *ret);
	error_set(&ret->error, CLEAT_ETIMEOUT, "%s: no byte for %u ms: %s", fetch_place(f).text,
		  f->o.idle_ms,
		  f->status ? "the answer is not complete" : "the server does not answer");
	ret->step = CLEAT_STEP_TIMEOUT;
	ret->http_status = f->status;
}
