/* http/parser.c - see parser.h.
 *
 * The bytes of a header are copied first, and llhttp reads the copy: that finds its end and refuses
 * what is malformed. The complete header is then split in one pass (http/head.c), so nothing in a
 * request depends on how its bytes came in. The body is read by llhttp from where it lies.
 *
 * llhttp itself refuses, without any of its lenient flags: Content-Length together with
 * Transfer-Encoding, doubled or not a plain number; line ends other than CRLF; folded lines; white
 * space before a colon; NUL, CR and other control characters in values; chunk sizes that are not
 * hexadecimal or too large, and chunks that are longer or shorter than they say. http/head.c has
 * what is refused besides in headers; here it is more than one empty line before a request, chunk
 * sizes of more than 16 digits, more than 256 bytes of chunk extensions in a request, and what is
 * too much. Upgrades are ignored (RFC 9110 section 7.8 allows it, and some clients offer h2c with
 * every first request).
 *
 * Invariant: the outcome is the same for all slicings. So llhttp never gets more bytes at once than
 * the next decision of ours lets it have.
 */
#include "http/parser.h"
#include "base/cold.h"
#include "base/mem.h"
#include "http/head.h"
#include "http/token.h"

#include <llhttp.h>

enum {
	DEFAULT_HEAD = 16 << 10,
	DEFAULT_BODY = 4 << 20,
	STEP = 1 << 10,        /* bytes of a header that are copied at once */
	FIRST_BODY = 16 << 10, /* most memory that is taken on the word of Content-Length */
	KEEP = 1 << 10,        /* of each buffer, between requests */
	KEEP_FIELDS = 16,
	MAX_SIZE_DIGITS = 16,
	MAX_EXTENSIONS = 256
};

enum phase {
	START,    /* nothing yet */
	EMPTY_CR, /* in an empty line before the request line */
	EMPTY_LF, /* after it */
	LINE,
	FIELDS,
	HEAD,  /* the header was handed out */
	SIZED, /* a body with Content-Length */
	CHUNK_SIZE,
	CHUNK_EXTENSION,
	CHUNK_DATA, /* and the line end after it */
	TRAILER,
	DONE,
	FAILED
};

struct http_parser {
	cleat_allocator mem;
	size_t max_head, usual_body, max_body;
	enum phase phase;
	struct http_fault fault;
	llhttp_t ll;
	struct buf head, body;
	struct http_field *fields;
	size_t cap_fields;
	struct http_request request;
	uint64_t left;     /* bytes that can only be data of the body */
	size_t digits;     /* of this chunk's size */
	size_t extensions; /* bytes of all chunks' */
	size_t trailer;    /* bytes of it */
};

static COLD void parser_fail(struct http_parser *p, int status, const char *why)
{
	p->phase = FAILED;
	p->fault = (struct http_fault){ status, why };
}

/* ---- what llhttp calls ------------------------------------------------------------------------ */

static int on_headers_complete(llhttp_t *ll)
{
	struct http_parser *p = ll->data;

	p->phase = HEAD;
	ll->upgrade = 0;
	return HPE_PAUSED;
}

static int on_chunk_header(llhttp_t *ll)
{
	struct http_parser *p = ll->data;

	p->left = ll->content_length;
	if (p->left > p->max_body - buf_size(&p->body)) {
		parser_fail(p, 413, "the body is too large");
		return HPE_USER;
	}
	p->phase = p->left ? CHUNK_DATA : TRAILER;
	return 0;
}

static int on_chunk_complete(llhttp_t *ll)
{
	struct http_parser *p = ll->data;

	p->phase = CHUNK_SIZE;
	p->digits = 0;
	return 0;
}

static int on_body(llhttp_t *ll, const char *at, size_t n)
{
	struct http_parser *p = ll->data;

	buf_append(&p->body, at, n);
	if (buf_status(&p->body) == CLEAT_OK)
		return 0;
	parser_fail(p, 500, "out of memory");
	return HPE_USER;
}

static int on_message_complete(llhttp_t *ll)
{
	struct http_parser *p = ll->data;

	p->phase = DONE;
	p->request.body = buf_str(&p->body);
	return HPE_PAUSED;
}

static const llhttp_settings_t settings = {
	.on_headers_complete = on_headers_complete,
	.on_chunk_header = on_chunk_header,
	.on_chunk_complete = on_chunk_complete,
	.on_body = on_body,
	.on_message_complete = on_message_complete,
};

/* ---- running it ------------------------------------------------------------------------------- */

/* An error of llhttp's own, which stumbled over the byte c. */
static COLD void translate(struct http_parser *p, llhttp_errno_t e, char c)
{
	bool known = p->ll.http_major == 1 && p->ll.http_minor <= 1;

	if (e == HPE_INVALID_METHOD && (http_token_lower(c) || c == ' '))
		parser_fail(p, 501, "the method is unknown");
	else if (e == HPE_INVALID_VERSION && !known)
		parser_fail(p, 505, "the HTTP version is not supported");
	else
		parser_fail(p, 400, llhttp_get_error_reason(&p->ll)); /* a literal */
}

/* Lets llhttp read n bytes, which are fewer when it pauses or fails; gives how many it has read. */
static size_t parser_run(struct http_parser *p, const char *bytes, size_t n)
{
	llhttp_errno_t e = llhttp_execute(&p->ll, bytes, n);
	const char *at;

	if (e == HPE_OK)
		return n;
	at = llhttp_get_error_pos(&p->ll);
	if (e == HPE_PAUSED)
		llhttp_resume(&p->ll);
	else if (p->phase != FAILED)
		translate(p, e, at < bytes + n ? *at : 0);
	return (size_t)(at - bytes);
}

/* ---- the header ------------------------------------------------------------------------------- */

/* RFC 9112 section 2.2: one empty line before a request is ignored. */
static void skip_empty_line(struct http_parser *p, const char *bytes, size_t n, size_t *used)
{
	for (; *used < n && p->phase < LINE; (*used)++) {
		char c = bytes[*used];

		if (c == '\r' && p->phase == START) {
			p->phase = EMPTY_CR;
		} else if (c == '\n' && p->phase == EMPTY_CR) {
			p->phase = EMPTY_LF;
		} else if (c == '\r' || c == '\n' || p->phase == EMPTY_CR) {
			parser_fail(p, 400, "there is something before the request line");
		} else {
			p->phase = LINE;
			return;
		}
	}
}

static void finish_head(struct http_parser *p)
{
	struct http_request *r = &p->request;
	struct http_fault fault =
		head_read(p->head.data, buf_size(&p->head), &p->mem, &p->fields, &p->cap_fields, r);

	if (fault.status) {
		parser_fail(p, fault.status, fault.why);
		return;
	}
	r->keep_alive = llhttp_should_keep_alive(&p->ll) != 0;
	if (!(p->ll.flags & F_CHUNKED) && p->ll.content_length == 0)
		r->expect_continue = false;
}

/* Is there room for k more bytes of the header? */
static bool make_room(struct http_parser *p, size_t k)
{
	if (k == 0)
		parser_fail(p, 431, "the header is too large");
	else if (!buf_reserve(&p->head, k))
		parser_fail(p, 500, "out of memory");
	return p->phase != FAILED;
}

/* Copies some bytes of the header, not beyond the end of the request line, and reads them. */
static size_t step_head(struct http_parser *p, const char *bytes, size_t n)
{
	size_t had = buf_size(&p->head), room = p->max_head - had, k = n < STEP ? n : STEP;
	const char *lf = NULL;
	struct http_fault fault;

	k = k < room ? k : room;
	if (!make_room(p, k))
		return 0;
	if (p->phase == LINE)
		lf = memchr(bytes, '\n', k);
	if (lf)
		k = (size_t)(lf - bytes) + 1;
	buf_append(&p->head, bytes, k);
	k = parser_run(p, p->head.data + had, k);
	buf_truncate(&p->head, had + k);
	if (lf && p->phase == LINE) {
		p->phase = FIELDS;
		fault = head_check_line(buf_str(&p->head));
		if (fault.status)
			parser_fail(p, fault.status, fault.why);
	} else if (p->phase == HEAD) {
		finish_head(p);
	}
	return k;
}

/* ---- the body --------------------------------------------------------------------------------- */

static void begin_body(struct http_parser *p)
{
	uint64_t length = p->ll.content_length;

	if (p->ll.flags & F_CHUNKED) {
		p->phase = CHUNK_SIZE;
	} else if (length == 0) {
		p->phase = DONE;
		p->request.body = STR_LIT("");
	} else if (length > p->max_body) {
		parser_fail(p, 413, "the body is too large");
	} else if (!buf_reserve(&p->body, length < FIRST_BODY ? (size_t)length : FIRST_BODY)) {
		parser_fail(p, 500, "out of memory");
	} else {
		p->phase = SIZED;
		p->left = length;
	}
}

/* Counts a byte of what is around the chunks. */
static void parser_count(struct http_parser *p, char c)
{
	if (p->phase == CHUNK_SIZE && c == ';')
		p->phase = CHUNK_EXTENSION;
	if (p->phase == CHUNK_SIZE && c != '\r' && c != '\n' && ++p->digits > MAX_SIZE_DIGITS)
		parser_fail(p, 400, "the size of a chunk has too many digits");
	if (p->phase == CHUNK_EXTENSION && ++p->extensions > MAX_EXTENSIONS)
		parser_fail(p, 400, "the extensions of the chunks are too large");
	if (p->phase == TRAILER && ++p->trailer > p->max_head)
		parser_fail(p, 431, "the trailer is too large");
}

/* Data in one go; what is around it byte by byte, so that it can be counted. */
static size_t step_body(struct http_parser *p, const char *bytes, size_t n)
{
	size_t k = 1;

	if (p->left) {
		k = n < p->left ? n : (size_t)p->left;
		p->left -= k;
	} else {
		parser_count(p, *bytes);
		if (p->phase == FAILED)
			return 0;
	}
	return parser_run(p, bytes, k);
}

/* ---- for callers ------------------------------------------------------------------------------ */

static size_t at_most_half(size_t n)
{
	return n < SIZE_MAX / 2 ? n : SIZE_MAX / 2;
}

struct http_parser *http_parser_new(const cleat_allocator *mem, const struct http_limits *limits)
{
	cleat_allocator a = mem_resolve(mem);
	struct http_parser *p = mem_zalloc(&a, sizeof *p);

	if (!p)
		return NULL;
	p->mem = a;
	p->max_head = at_most_half(limits && limits->max_head ? limits->max_head : DEFAULT_HEAD);
	p->usual_body = at_most_half(limits && limits->max_body ? limits->max_body : DEFAULT_BODY);
	buf_init(&p->head, &a, p->max_head);
	buf_init(&p->body, &a, SIZE_MAX / 2);
	http_parser_next(p);
	return p;
}

void http_parser_free(struct http_parser *p)
{
	if (!p)
		return;
	buf_done(&p->head);
	buf_done(&p->body);
	mem_free(&p->mem, p->fields);
	mem_free(&p->mem, p);
}

void http_parser_next(struct http_parser *p)
{
	buf_reset(&p->head, KEEP);
	buf_reset(&p->body, KEEP);
	if (p->cap_fields > KEEP_FIELDS) {
		mem_free(&p->mem, p->fields);
		p->fields = NULL;
		p->cap_fields = 0;
	}
	p->request = (struct http_request){ 0 };
	p->fault = (struct http_fault){ 0 };
	p->phase = START;
	p->max_body = p->usual_body;
	p->left = 0;
	p->digits = p->extensions = p->trailer = 0;
	llhttp_init(&p->ll, HTTP_REQUEST, &settings);
	p->ll.data = p;
}

enum http_progress http_parser_feed(struct http_parser *p, const char *bytes, size_t n,
				    size_t *ret_used)
{
	size_t used = 0;
	bool head = p->phase < HEAD;

	if (head)
		skip_empty_line(p, bytes, n, &used);
	else if (p->phase == HEAD)
		begin_body(p);
	while (used < n && p->phase < DONE && (p->phase < HEAD) == head)
		used += head ? step_head(p, bytes + used, n - used)
			     : step_body(p, bytes + used, n - used);
	*ret_used = used;
	switch (p->phase) {
	case HEAD: return HTTP_HEAD_DONE;
	case DONE: return HTTP_DONE;
	case FAILED: return HTTP_FAILED;
	default: return HTTP_MORE;
	}
}

const struct http_request *http_parser_request(const struct http_parser *p)
{
	return &p->request;
}

bool http_parser_is_idle(const struct http_parser *p)
{
	return p->phase < LINE;
}

void http_parser_limit_body(struct http_parser *p, size_t max_body)
{
	if (p->phase == HEAD)
		p->max_body = at_most_half(max_body);
}

int http_parser_error(const struct http_parser *p, const char **ret_why)
{
	if (ret_why)
		*ret_why = p->fault.why;
	return p->fault.status;
}
