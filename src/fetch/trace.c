/* fetch/trace.c - what libcurl does, line by line, for people who debug: header lines both ways,
 * and what becomes of connections. Bodies are not shown.
 *
 * A trace is pasted into bug reports, so nothing in it may be a secret: values are shown only of fields
 * that are known to hold none, queries of URLs never, and of libcurl's own remarks (some repeat headers)
 * only those that are known to be about connections.
 */
#include "fetch/impl.h"
#include "http/field.h"

#include <stdio.h>

static bool is_among(struct str name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_samez(name, list[i]))
			return true;
	return false;
}

/* Fields that hold no secret, either way. */
static bool is_harmless(struct str name)
{
	static const char *const names[] = {
		"host",
		"accept",
		"content-type",
		"content-length",
		"user-agent",
		"transfer-encoding",
		"connection",
		"keep-alive",
		"date",
		"server",
		"allow",
		"cache-control",
		"vary",
		"retry-after",
		"mcp-protocol-version",
		"mcp-method",
		"content-encoding",
		"www-authenticate",
	};

	return is_among(name, names, CLEAT_COUNT(names));
}

static void trace_say(const struct fetcher *h, bool out, struct str a, const char *b)
{
	char line[512];

	snprintf(line, sizeof line, "%.*s%s", (int)(a.n > 480 ? 480 : a.n), a.p, b);
	for (char *p = line; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = ' ';
	h->trace(h->ctx, out, line);
}

/* A remark, which is not a line of a message: "* Connected to ..." */
static void say_marked(const struct fetcher *h, struct str remark)
{
	char line[512];
	int n = snprintf(line, sizeof line, "* %.*s", (int)(remark.n > 480 ? 480 : remark.n),
			 remark.p);

	trace_say(h, true, (struct str){ line, (size_t)n }, "");
}

/* "POST /path?... HTTP/1.1" */
static void say_request(const struct fetcher *h, struct str line)
{
	const char *query = memchr(line.p, '?', line.n);

	if (query)
		trace_say(h, true, (struct str){ line.p, (size_t)(query - line.p) }, "?...");
	else
		trace_say(h, true, line, "");
}

static void say_header(const struct fetcher *h, bool out, struct str line, bool first)
{
	const char *colon = memchr(line.p, ':', line.n);
	size_t name = colon ? (size_t)(colon - line.p) : line.n;

	if (first && out)
		say_request(h, line);
	else if (first || is_harmless((struct str){ line.p, name }))
		trace_say(h, out, line, "");
	else
		trace_say(h, out, (struct str){ line.p, name }, ": ...");
}

static void say_lines(const struct fetcher *h, bool out, struct str text)
{
	/* Sent, they come in one piece; received, one by one. */
	bool first = out || (text.n >= 5 && memcmp(text.p, "HTTP/", 5) == 0);

	while (text.n) {
		const char *end = memchr(text.p, '\n', text.n);
		size_t n = end ? (size_t)(end - text.p) : text.n, used = end ? n + 1 : n;

		if (n && text.p[n - 1] == '\r')
			n--;
		if (n)
			say_header(h, out, (struct str){ text.p, n }, first);
		first = false;
		text.p += used;
		text.n -= used;
	}
}

static void say_remark(const struct fetcher *h, struct str text)
{
	static const char *const known[] = {
		"Trying ",
		"Connected to ",
		"Connection #",
		"Closing connection",
		"SSL connection using",
		"ALPN",
		"Re-using existing ",
		"Reusing existing ",
		"Could not resolve ",
		"connect to ",
		"Failed to connect",
		"Immediate connect fail",
		"Establish HTTP proxy",
		"CONNECT tunnel",
		"Resolving timed out",
		"Host ",
		"IPv4: ",
		"IPv6: ",
		"Server certificate",
		"subject: ",
		"start date: ",
		"expire date: ",
		"issuer: ",
		"SSL certificate verify",
		"SSL certificate problem",
		"using HTTP/",
		"Using HTTP2",
	};

	while (text.n && (text.p[0] == ' ' || text.p[0] == '*'))
		text.p++, text.n--;
	while (text.n && (text.p[text.n - 1] == '\n' || text.p[text.n - 1] == '\r'))
		text.n--;
	for (size_t i = 0; i < CLEAT_COUNT(known); i++) {
		if (!str_starts(text, known[i]))
			continue;
		say_marked(h, text);
		return;
	}
}

int fetch_trace(CURL *easy, curl_infotype type, char *bytes, size_t n, void *client)
{
	const struct fetcher *h = client;
	struct str text = { bytes, n };

	(void)easy;
	if (h->doomed)
		return 0;
	if (type == CURLINFO_TEXT)
		say_remark(h, text);
	else if (type == CURLINFO_HEADER_OUT || type == CURLINFO_HEADER_IN)
		say_lines(h, type == CURLINFO_HEADER_OUT, text);
	return 0;
}
