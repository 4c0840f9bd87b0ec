/* fetch/answer.c - the answer to a request as libcurl hands it over: header lines, then bytes.
 *
 * All of this runs inside of libcurl. Header lines become fields as they come; 1xx and trailers are counted
 * and dropped. A redirect is judged here, where its header is complete: only the same origin is gone to.
 * Returning anything but the number of bytes ends the transfer.
 */
#include "base/error.h"
#include "base/mem.h"
#include "fetch/impl.h"
#include "http/field.h"
#include "http/token.h"

static void forget_fields(struct fetch *f)
{
	arena_reset(&f->head);
	f->fields = (struct http_field_list){ .ar = &f->head };
}

void fetch_answer_reset(struct fetch *f)
{
	forget_fields(f);
	f->head_state = HEAD_NONE;
	f->head_bytes = f->head_lines = 0;
	f->status = 0;
	f->body_bytes = 0;
	f->hop = false;
	f->held = false;
	f->words[0] = '\0';
}

/* Its owner has had enough. */
static size_t stop(struct fetch *f)
{
	f->state = FETCH_DEAD;
	f->h->dead = true;
	return 0;
}

static bool is_over(const struct fetch *f)
{
	return f->state == FETCH_DEAD || f->h->doomed || f->faulted;
}

static size_t not_http(struct fetch *f, const char *why)
{
	return fetch_fault(f, CLEAT_STEP_PROTOCOL, CLEAT_EPROTO,
			   "%s does not speak HTTP as it should: %s", fetch_place(f).text, why);
}

/* ---- redirects --------------------------------------------------------------------------------- */

/* Where it leads, for people: without what may be a secret. */
static struct str show(struct str text)
{
	size_t n = 0;
	struct uri u;

	if (uri_split(text, 0, &u) && u.userinfo.p)
		return u.host;
	while (n < text.n && n < 120 && text.p[n] != '?' && text.p[n] != '#')
		n++;
	return (struct str){ text.p, n };
}

static size_t answer_refuse(struct fetch *f, int status, struct str to, const char *why)
{
	f->why.http_status = status;
	return fetch_fault(f, CLEAT_STEP_HTTP, CLEAT_EPROTO, "%s answers %d and leads to %.*s, %s",
			   fetch_place(f).text, status, STR_ARGS(show(to)), why);
}

/* CLEAT_OK, CLEAT_EPROTO when it is not a URL that we may go to, CLEAT_ENOMEM. */
static int answer_resolve(struct fetch *f, struct str location, struct buf *to, bool *same)
{
	struct str from = str_of(f->o.url);
	struct uri u;

	if (!uri_resolve(to, from, location) || buf_status(to) || !fetch_split_url(buf_str(to), &u))
		return buf_status(to) == CLEAT_ENOMEM ? CLEAT_ENOMEM : CLEAT_EPROTO;
	*same = uri_same_origin(from, buf_str(to));
	return CLEAT_OK;
}

static size_t answer_no_memory(struct fetch *f)
{
	return fetch_fault(f, CLEAT_STEP_EXCHANGE, CLEAT_ENOMEM, "out of memory");
}

static size_t redirect(struct fetch *f, int status, struct str location)
{
	bool kept = status == 307 || status == 308 || strcmp(f->o.method, "GET") == 0, same = false;
	struct buf to;
	char *url;
	int rc;

	if (!kept)
		return answer_refuse(f, status, location, "which is not an answer to this method");
	if (f->redirects == FETCH_MAX_REDIRECTS)
		return answer_refuse(f, status, location, "and there were 5 redirects before");
	buf_init(&to, &f->h->mem, 2 * FETCH_MAX_URL);
	rc = answer_resolve(f, location, &to, &same);
	if (rc == CLEAT_OK && same) {
		url = mem_strndup(&f->h->mem, buf_str(&to).p, buf_size(&to));
		rc = url ? CLEAT_OK : CLEAT_ENOMEM;
		if (url) {
			mem_free(&f->h->mem, f->moved);
			f->o.url = f->moved = url;
			f->redirects++;
			f->hop = true;
		}
	} else if (rc == CLEAT_OK) {
		answer_refuse(f, status, buf_str(&to),
			      "another origin: if you trust it, use that URL instead");
	}
	buf_done(&to);
	if (rc == CLEAT_ENOMEM)
		return answer_no_memory(f);
	if (rc != CLEAT_OK)
		return answer_refuse(f, status, location, "which cannot be followed");
	return f->hop;
}

/* ---- the header -------------------------------------------------------------------------------- */

static bool is_redirect(int status)
{
	return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* We ask for neither; a body in another coding would be taken for rubbish further up, or for a bomb. The
 * coding of the transfer is nobody's but ours. */
static bool is_coded(const struct fetch *f)
{
	struct str transfer = fetch_field(f, "transfer-encoding");
	struct str content = fetch_field(f, "content-encoding");

	return (transfer.n && !str_samez(transfer, "chunked") &&
		!str_samez(transfer, "identity")) ||
	       (content.n && !str_samez(content, "identity") && !f->o.verbatim);
}

/* The empty line. 1 to go on. */
static size_t head_end(struct fetch *f)
{
	struct str location;
	int status = f->line_status;

	if (status < 200 && status != 101) {
		f->head_state = HEAD_NONE;
		forget_fields(f);
		return 1;
	}
	f->head_state = HEAD_DONE;
	if (status == 101)
		return fetch_fault(f, CLEAT_STEP_PROTOCOL, CLEAT_EPROTO,
				   "%s answers with status %d, which was not asked for",
				   fetch_place(f).text, status);
	location = fetch_field(f, "location");
	if (is_redirect(status) && location.p && !f->o.verbatim)
		return redirect(f, status, location);
	if (is_coded(f))
		return fetch_fault(f, CLEAT_STEP_PROTOCOL, CLEAT_EPROTO,
				   "%s sends a compressed answer, which was not asked for",
				   fetch_place(f).text);
	f->status = status;
	if (f->o.on_head && !f->o.on_head(f->o.ctx, f, f->status))
		return stop(f);
	return !is_over(f);
}

static bool is_fold(struct str line)
{
	return line.n && (line.p[0] == ' ' || line.p[0] == '\t');
}

/* RFC 9112, 5.2: a folded line belongs to the one before. */
static void unfold(struct fetch *f, struct str more)
{
	struct str *value = &f->fields.at[f->fields.n - 1].value;
	size_t n = value->n + 1 + more.n;
	char *text = arena_realloc(&f->head, (char *)value->p, value->n + 1, n + 1);

	if (!text)
		return;
	text[value->n] = ' ';
	memcpy(text + value->n + 1, more.p, more.n);
	text[n] = '\0';
	*value = (struct str){ text, n };
}

/* A line that is not a field is nobody's concern. */
static void fetch_answer_keep(struct fetch *f, struct str line)
{
	struct http_field field;

	if (is_fold(line) && f->fields.n)
		unfold(f, http_trim(line));
	else if (http_field_split(line, &field))
		http_field_keep(&f->fields, field.name, field.value);
}

/* "HTTP/1.1 200 OK" (RFC 9112, 4); of HTTP/2 libcurl makes one, too. Some libcurls look at no more than
 * three digits. 0 when it is none. */
static int read_status(struct str line)
{
	const char *space = memchr(line.p, ' ', line.n);
	size_t left = space ? line.n - (size_t)(space - line.p) : 0;
	int status = 0;

	if (!str_starts(line, "HTTP/") || left < 4 || (left > 4 && space[4] != ' '))
		return 0;
	for (int i = 1; i < 4; i++) {
		if (space[i] < '0' || space[i] > '9')
			return 0;
		status = status * 10 + (space[i] - '0');
	}
	return status >= 100 ? status : 0;
}

static struct str without_end(const char *p, size_t n)
{
	while (n && (p[n - 1] == '\n' || p[n - 1] == '\r'))
		n--;
	return (struct str){ p, n };
}

size_t fetch_answer_header(char *bytes, size_t size, size_t n, void *fetch)
{
	struct fetch *f = fetch;
	struct str line = without_end(bytes, size * n);

	n *= size;
	if (is_over(f))
		return 0;
	if (f->o.idle_ms)
		f->last = loop_now();
	f->head_bytes += n;
	if (++f->head_lines > FETCH_MAX_LINES + 2 || f->head_bytes > FETCH_MAX_HEAD)
		return fetch_fault(f, CLEAT_STEP_PROTOCOL, CLEAT_ELIMIT,
				   "%s sends a header of more than %d lines or %d bytes",
				   fetch_place(f).text, FETCH_MAX_LINES, FETCH_MAX_HEAD);
	/* Some libcurls hand over what there is when the connection ends. */
	if (n == 0 || bytes[n - 1] != '\n')
		return not_http(f, "a header that breaks off");
	/* RFC 9112, 2.2: a bare CR ends a line for some readers, libcurl among them, not for others. */
	if (memchr(line.p, '\r', line.n))
		return not_http(f, "a bare CR in a header");
	if (f->head_state == HEAD_DONE)
		return n; /* a trailer */
	if (f->head_state == HEAD_NONE) {
		f->head_state = HEAD_LINES;
		f->line_status = read_status(line);
		return f->line_status ? n : not_http(f, "it is not a valid status line");
	}
	if (line.n == 0)
		return head_end(f) ? n : 0;
	fetch_answer_keep(f, line);
	return arena_failed(&f->head) ? answer_no_memory(f) : n;
}

/* ---- the body ---------------------------------------------------------------------------------- */

size_t fetch_answer_body(char *bytes, size_t size, size_t n, void *fetch)
{
	struct fetch *f = fetch;

	n *= size;
	if (is_over(f))
		return 0;
	if (f->head_state != HEAD_DONE)
		return not_http(f, "a body without a header");
	if (f->paused && !f->hop) {
		f->held = true;
		return CURL_WRITEFUNC_PAUSE;
	}
	if (f->o.idle_ms)
		f->last = loop_now();
	f->body_bytes += n;
	if (f->hop)
		return f->body_bytes > FETCH_MAX_DISCARD ? 0 : n;
	if (f->o.max_body && f->body_bytes > f->o.max_body)
		return fetch_fault(f, CLEAT_STEP_PROTOCOL, CLEAT_ELIMIT,
				   "%s answers with more than %zu bytes", fetch_place(f).text,
				   f->o.max_body);
	if (f->o.on_body && !f->o.on_body(f->o.ctx, f, (struct str){ bytes, n }))
		return stop(f);
	return is_over(f) ? 0 : n;
}
