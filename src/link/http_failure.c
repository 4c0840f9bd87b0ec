/* link/http_failure.c - HTTP's ways of saying no, in words that a person can act on: what was
 * asked, which status came, what the server said about it, what to try.
 *
 * What a server says is quoted in short and printable. Not in here: secrets; the address is quoted
 * without its query.
 */
#include "base/arena.h"
#include "http/field.h"
#include "http/token.h"
#include "link/http_impl.h"
#include "json/parse.h"

#include <stdio.h>

enum { QUOTE_MAX = 90 }; /* so that there is room for advice after it */

struct link_failure link_http_failure(enum cleat_step step, int status, const char *fmt, ...)
{
	struct link_failure f = { .step = step };
	va_list ap;

	va_start(ap, fmt);
	error_vset(&f.error, status, 0, fmt, ap);
	va_end(ap);
	return f;
}

const char *link_http_snippet(struct str text, char *buf, size_t n)
{
	size_t k = 0;

	for (size_t i = 0; i < text.n && k + 1 < n; i++) {
		char c = text.p[i];

		if (c > 0x20 && c < 0x7F)
			buf[k++] = c;
		else if (k && buf[k - 1] != ' ')
			buf[k++] = ' ';
	}
	while (k && buf[k - 1] == ' ')
		k--;
	buf[k] = '\0';
	return buf;
}

/* What the body says: the message of a JSON-RPC error, or the beginning of whatever it is. */
static void quote(const struct link_http *l, struct str body, char *to, size_t n)
{
	const cleat_json *root = NULL;
	struct str said = { NULL, 0 };
	struct arena ar;

	arena_init(&ar, &l->mem, 64 << 10);
	if (body.n && body.p[0] == '{' && !json_parse(&ar, body, NULL, &root, NULL))
		said = json_str(json_member(json_member(root, "error"), "message"));
	link_http_snippet(said.p ? said : body, to, n);
	arena_done(&ar);
}

int64_t link_http_retry_after(const struct fetch *f)
{
	struct str s = fetch_field(f, "retry-after");
	int64_t n = 0;

	if (s.n == 0 || s.n > 7)
		return -1;
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return -1;
		n = n * 10 + (s.p[i] - '0');
	}
	return n * 1000;
}

/* ---- WWW-Authenticate ------------------------------------------------------------------------- */

/* The value of a parameter of a challenge (RFC 9110 section 11.6.1), quotes taken off; absent when there
 * is none. Whatever is quoted is jumped over, so nothing inside a text is taken for a parameter. */
static struct str challenge_param(struct str s, const char *name)
{
	size_t i = 0;

	while (i < s.n) {
		struct str word = { s.p + i, 0 }, value;

		while (i < s.n && http_token_lower(s.p[i]))
			i++;
		word.n = (size_t)(s.p + i - word.p);
		if (i + 1 < s.n && s.p[i] == '=' && s.p[i + 1] == '"') {
			i += 2;
			value = (struct str){ s.p + i, 0 };
			while (i < s.n && s.p[i] != '"')
				i += s.p[i] == '\\' && i + 1 < s.n ? 2 : 1;
			value.n = (size_t)(s.p + (i < s.n ? i : s.n) - value.p);
			if (str_samez(word, name))
				return value;
			i++;
		} else {
			i++;
		}
	}
	return (struct str){ 0 };
}

static struct link_failure unauthorized(const struct exch *x)
{
	const struct link_http *l = x->l;
	struct str challenge = fetch_field(x->fetch, "www-authenticate");
	struct str what = challenge_param(challenge, "error_description");
	struct str scope = challenge_param(challenge, "scope");
	char said[81], scopes[61];

	if (!what.n)
		what = challenge_param(challenge, "error");
	link_http_snippet(what, said, sizeof said);
	link_http_snippet(scope, scopes, sizeof scopes);
	return link_http_failure(CLEAT_STEP_AUTH, CLEAT_EREMOTE, "%.70s answered %d: %s%s%s%s%s",
				 l->place, x->status,
				 x->status == 403 ? "this is not allowed"
				 : l->authorized  ? "the token or header was refused"
						 : "it wants to know who asks; give a bearer token",
				 *said ? ": " : "", said, *scopes ? "; scope: " : "", scopes);
}

/* ---- everything else -------------------------------------------------------------------------- */

static const char *advice(int status)
{
	switch (status) {
	case 404:
	case 405: return "; is this the address of the MCP endpoint?";
	case 406:
	case 415: return "; is this an MCP server?";
	case 407: return "; the proxy wants to know who asks";
	case 408:
	case 429:
	case 500:
	case 502:
	case 503:
	case 504: return "; try again later";
	default: return "";
	}
}

struct link_failure link_http_refused(const struct exch *x)
{
	const struct link_http *l = x->l;
	int64_t after = x->fetch ? link_http_retry_after(x->fetch) : -1;
	struct link_failure f;
	char said[QUOTE_MAX + 1], wait[48] = "";

	quote(l, buf_str(&x->text), said, sizeof said);
	if (after >= 0)
		snprintf(wait, sizeof wait, " (in %lld s, it says)", (long long)(after / 1000));
	if ((x->status == 401 || x->status == 403) && x->fetch)
		f = unauthorized(x);
	else
		f = link_http_failure(CLEAT_STEP_HTTP, CLEAT_EREMOTE, "%.70s answered %d%s%s%s%s%s",
				      l->place, x->status, *said ? ": \"" : "", said,
				      *said ? "\"" : "", advice(x->status), wait);
	f.http_status = x->status;
	return f;
}
