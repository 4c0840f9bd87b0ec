/* http/head.c - see head.h.
 *
 * Refused here, because llhttp accepts it: more than one space between the parts of the request
 * line, RTSP and ICE, HTTP/0.9 and HTTP/2.0, a fragment in the target, any target but a path or a
 * URL of http or https (or "*" of OPTIONS), CONNECT, a Transfer-Encoding that is not exactly "chunked" or not in HTTP/1.1, Host
 * that is missing, doubled or no host, and expectations that nobody can meet.
 */
#include "http/head.h"
#include "base/cold.h"
#include "base/mem.h"
#include "http/field.h"
#include "http/token.h"

#define ACCEPTED ((struct http_fault){ 0, NULL })

static COLD struct http_fault head_refuse(int status, const char *why)
{
	return (struct http_fault){ status, why };
}

/* ---- the request line ------------------------------------------------------------------------- */

static enum http_method method_of(struct str name)
{
	switch (name.n) {
	case 3: return str_eqz(name, "GET") ? HTTP_METHOD_GET : HTTP_METHOD_OTHER;
	case 4:
		if (str_eqz(name, "POST"))
			return HTTP_METHOD_POST;
		return str_eqz(name, "HEAD") ? HTTP_METHOD_HEAD : HTTP_METHOD_OTHER;
	case 6: return str_eqz(name, "DELETE") ? HTTP_METHOD_DELETE : HTTP_METHOD_OTHER;
	case 7: return str_eqz(name, "OPTIONS") ? HTTP_METHOD_OPTIONS : HTTP_METHOD_OTHER;
	default: return HTTP_METHOD_OTHER;
	}
}

/* What comes before the first space; *rest begins after it. Absent when there is no space. */
static struct str word(struct str *rest)
{
	const char *space = memchr(rest->p, ' ', rest->n);
	struct str w = { NULL, 0 };

	if (!space)
		return w;
	w = (struct str){ rest->p, (size_t)(space - rest->p) };
	*rest = (struct str){ space + 1, rest->n - w.n - 1 };
	return w;
}

/* The rest behind "http://" or "https://", in any case; absent when it does not begin so. */
static struct str behind_scheme(struct str target)
{
	static const char *const schemes[] = { "http://", "https://" };

	for (size_t i = 0; i < 2; i++) {
		size_t n = strlen(schemes[i]);

		if (target.n > n && str_samez((struct str){ target.p, n }, schemes[i]))
			return (struct str){ target.p + n, target.n - n };
	}
	return (struct str){ 0 };
}

/* RFC 9112 section 3.2.2: "a server MUST accept the absolute-form". Its path and query are left in *target. */
static struct http_fault read_authority(struct str *target, struct http_request *r)
{
	struct str rest = behind_scheme(*target), host, port;
	size_t n = 0;

	if (!rest.p)
		return head_refuse(400, "the request target is neither a path nor an http URL");
	while (n < rest.n && rest.p[n] != '/' && rest.p[n] != '?')
		n++;
	r->authority = (struct str){ rest.p, n };
	if (!http_split_host(r->authority, &host, &port))
		return head_refuse(400, "the request target's host is malformed");
	*target = (struct str){ rest.p + n, rest.n - n };
	return ACCEPTED;
}

/* RFC 9112 section 3.2. */
static struct http_fault read_target(struct str target, struct http_request *r)
{
	struct http_fault fault = ACCEPTED;
	const char *mark;

	r->authority = (struct str){ NULL, 0 };
	if (target.n == 0 || memchr(target.p, '#', target.n))
		return head_refuse(400, "the request target is malformed");
	if (target.p[0] != '/' && !(r->method == HTTP_METHOD_OPTIONS && str_eqz(target, "*")))
		fault = read_authority(&target, r);
	if (fault.status)
		return fault;
	mark = memchr(target.p, '?', target.n);
	r->path = target;
	r->query = (struct str){ NULL, 0 };
	if (mark) {
		r->path.n = (size_t)(mark - target.p);
		r->query = (struct str){ mark + 1, target.n - r->path.n - 1 };
	}
	if (r->path.n == 0)
		r->path = STR_LIT("/");
	return ACCEPTED;
}

static struct http_fault read_version(struct str version, struct http_request *r)
{
	r->http_1_0 = str_eqz(version, "HTTP/1.0\r\n");
	if (r->http_1_0 || str_eqz(version, "HTTP/1.1\r\n"))
		return ACCEPTED;
	if (str_eqz(version, "HTTP/2.0\r\n"))
		return head_refuse(505, "HTTP/2 is not spoken here");
	return head_refuse(400, "the protocol of the request line is not HTTP/1.1");
}

static struct http_fault read_line(struct str line, struct http_request *r)
{
	struct http_fault fault;
	struct str target;

	r->method_name = word(&line);
	target = word(&line);
	if (!r->method_name.p || !target.p)
		return head_refuse(400, "the request line has no protocol version");
	fault = read_version(line, r);
	if (fault.status)
		return fault;
	if (str_eqz(r->method_name, "CONNECT"))
		return head_refuse(501, "CONNECT is not supported");
	r->method = method_of(r->method_name);
	return read_target(target, r);
}

struct http_fault head_check_line(struct str line)
{
	struct http_request r = { 0 };

	return read_line(line, &r);
}

/* ---- fields ----------------------------------------------------------------------------------- */

/* What the fields say together. */
struct sum {
	unsigned hosts;
	struct http_fault fault;
};

static void note_framing(struct sum *sum, const struct http_request *r, struct str value)
{
	/* RFC 9112 section 6.1: other codings, more than one, or one in HTTP/1.0 make it doubtful where
	 * the body ends. */
	if (r->http_1_0)
		sum->fault = head_refuse(400, "Transfer-Encoding in HTTP/1.0");
	else if (!str_samez(value, "chunked"))
		sum->fault = head_refuse(400, "Transfer-Encoding is not \"chunked\"");
}

static void note_host(struct sum *sum, struct str value)
{
	struct str host, port;

	if (++sum->hosts > 1)
		sum->fault = head_refuse(400, "there is more than one Host");
	else if (value.n && !http_split_host(value, &host, &port))
		sum->fault = head_refuse(400, "Host is malformed");
}

/* RFC 9110 section 10.1.1; of HTTP/1.0 it has to be ignored. */
static void note_expect(struct sum *sum, struct http_request *r, struct str value)
{
	if (r->http_1_0)
		return;
	if (str_samez(value, "100-continue"))
		r->expect_continue = true;
	else
		sum->fault = head_refuse(417, "the expectation is unknown");
}

static void note_field(struct sum *sum, struct http_request *r, const struct http_field *f)
{
	switch (f->name.n) {
	case 4:
		if (str_eqz(f->name, "host"))
			note_host(sum, f->value);
		break;
	case 6:
		if (str_eqz(f->name, "expect"))
			note_expect(sum, r, f->value);
		break;
	case 17:
		if (str_eqz(f->name, "transfer-encoding"))
			note_framing(sum, r, f->value);
		break;
	default: break;
	}
}

/* One line without its LF. */
static bool read_field(char *line, size_t n, struct http_field *f)
{
	char *at = line, c;

	if (n == 0 || line[n - 1] != '\r')
		return false;
	for (; (c = http_token_lower(*at)) != 0; at++) /* stops at the CR at the latest */
		*at = c;
	if (at == line || *at != ':')
		return false;
	f->name = (struct str){ line, (size_t)(at - line) };
	f->value = http_trim((struct str){ at + 1, n - f->name.n - 2 });
	return true;
}

/* "MUST ignore the received Host header field (if any) and instead replace it with the host information of
 * the request-target": nobody after this can see another host. */
static void take_authority(struct http_field *fields, const struct http_request *r)
{
	for (size_t i = 0; i < r->n_fields; i++)
		if (str_eqz(fields[i].name, "host"))
			fields[i].value = r->authority;
}

static struct http_fault read_fields(char *at, char *end, const cleat_allocator *mem,
				     struct http_field **fields, size_t *cap,
				     struct http_request *r)
{
	struct sum sum = { 0 };

	for (char *lf; at < end && !sum.fault.status; at = lf + 1) {
		void *array = *fields;
		int rc = mem_grow(mem, &array, cap, r->n_fields, sizeof **fields, HTTP_MAX_FIELDS);

		*fields = array;
		if (rc == CLEAT_ELIMIT)
			return head_refuse(431, "there are more than 100 header fields");
		if (rc != CLEAT_OK)
			return head_refuse(500, "out of memory");
		lf = memchr(at, '\n', (size_t)(end - at));
		if (!lf || !read_field(at, (size_t)(lf - at), *fields + r->n_fields))
			return head_refuse(400, "a header field is malformed");
		note_field(&sum, r, *fields + r->n_fields++);
	}
	if (r->authority.p)
		take_authority(*fields, r);
	if (!sum.fault.status && sum.hosts == 0 && !r->http_1_0) /* RFC 9112 section 3.2 */
		return head_refuse(400, "Host is missing");
	return sum.fault;
}

struct http_fault head_read(char *bytes, size_t n, const cleat_allocator *mem,
			    struct http_field **fields, size_t *cap, struct http_request *r)
{
	char *lf = memchr(bytes, '\n', n);
	struct http_fault fault;

	if (!lf || n < 4)
		return head_refuse(400, "the request line is malformed");
	fault = read_line((struct str){ bytes, (size_t)(lf + 1 - bytes) }, r);
	if (!fault.status)
		fault = read_fields(lf + 1, bytes + n - 2, mem, fields, cap, r);
	r->fields = *fields;
	return fault;
}
