/* program/serve/folder/read.c - the tool read_file: lines of a text, or the whole of what is none.
 *
 * A text may be of any size: only the lines that were asked for are kept, at most as many bytes as an answer
 * may have; the end of a file is looked for from the end. What is not text (pictures, sounds, other binaries)
 * is given whole, up to max_file. What was left out is said in a block of its own, with the call that goes
 * on, so that the content itself is always exactly the file's.
 */
#include "serve/folder/folder.h"

#include "base/error.h"
#include "base/mem.h"
#include "serve/folder/mime.h"

#include <errno.h>
#include <unistd.h>

struct reading {
	struct folder_call call; /* first: see folder_stop() */
	struct str path;
	int fd;
	struct stat st;
	uint64_t first, lines; /* what is asked for: from this one on (from 1), so many */
	uint64_t line;         /* the one that is read */
	off_t at;              /* how far it was read, then what was given */
	struct buf out;
	size_t whole;   /* bytes of it that are whole lines */
	uint64_t given; /* lines, counting one that was cut */
	bool cut;       /* the only line is not whole: it is longer than an answer */
	bool early;     /* tail: more lines were asked for than fit */
	bool in_line;   /* what was read last is not a whole line */
};

static int io_failed(struct reading *r, cleat_error *err)
{
	beneath_fail(err, r->path, errno);
	return CLEAT_EIO;
}

/* ---- lines ------------------------------------------------------------------------------------ */

/* A line, or a piece of one, that is asked for. False: it does not fit. */
static bool read_put_line(struct reading *r, struct str line, bool ends)
{
	size_t room = r->call.f->output_max - buf_size(&r->out);

	if (line.n > room) {
		r->cut = r->whole == 0;
		r->given += r->cut;
		if (r->cut)
			buf_append(&r->out, line.p, room);
		else
			buf_truncate(&r->out, r->whole);
		return false;
	}
	buf_append(&r->out, line.p, line.n);
	if (ends) {
		r->whole = buf_size(&r->out);
		r->given++;
	}
	return true;
}

/* False: there is enough. *ret: how much of the block was used. */
static bool read_take(struct reading *r, struct str block, size_t *ret)
{
	*ret = 0;
	while (*ret < block.n) {
		struct str rest = { block.p + *ret, block.n - *ret };
		const char *nl = memchr(rest.p, '\n', rest.n);

		if (nl)
			rest.n = (size_t)(nl - rest.p) + 1;
		if (r->line >= r->first &&
		    (r->given == r->lines || !read_put_line(r, rest, nl != NULL)))
			return false;
		r->line += nl != NULL;
		r->in_line = !nl;
		*ret += rest.n;
	}
	return true;
}

/* From r->at on, which is the beginning of line r->line. */
static int read_lines(struct reading *r, char *block, cleat_error *err)
{
	for (;;) {
		ssize_t n = folder_pread(r->fd, block, FOLDER_BLOCK, r->at);
		size_t used = 0;

		if (folder_stop(&r->call))
			return CLEAT_ECANCELLED;
		if (n < 0)
			return io_failed(r, err);
		if (n == 0) {
			r->given += buf_size(&r->out) > r->whole;
			return buf_status(&r->out);
		}
		if (!read_take(r, (struct str){ block, (size_t)n }, &used)) {
			r->at += (off_t)used;
			return buf_status(&r->out);
		}
		r->at += n;
	}
}

/* Where the last r->lines lines begin, as far back as an answer may be long. */
static int find_tail(struct reading *r, char *block, cleat_error *err)
{
	off_t size = r->st.st_size, at = size, start = size;
	off_t most = (off_t)r->call.f->output_max;
	uint64_t lines = 0;

	while (at > 0 && lines < r->lines) {
		off_t from = at > FOLDER_BLOCK ? at - FOLDER_BLOCK : 0;
		ssize_t n = folder_pread(r->fd, block, (size_t)(at - from), from);

		if (folder_stop(&r->call))
			return CLEAT_ECANCELLED;
		if (n < 0)
			return io_failed(r, err);
		if (n < at - from)
			break; /* it became shorter */
		for (ssize_t i = n; i-- > 0 && lines < r->lines;)
			if (block[i] == '\n' && from + i + 1 < size) {
				r->early = size - (from + i + 1) > most;
				if (r->early)
					break;
				start = from + i + 1;
				lines++;
			}
		at = from;
		r->early = r->early || (lines < r->lines && size - at > most);
		if (r->early)
			break;
	}
	if (lines < r->lines && !r->early)
		start = 0;
	if (start == size && size > 0) { /* the last line alone is too long: its end */
		r->cut = true;
		start = size - most;
	}
	r->at = start;
	return CLEAT_OK;
}

/* ---- answers ---------------------------------------------------------------------------------- */

/* A character that was cut at either end goes. */
static struct str trimmed(const struct reading *r)
{
	struct str s = buf_str(&r->out);

	if (!r->cut)
		return s;
	for (int i = 0; i < 3 && s.n && ((unsigned char)s.p[0] & 0xC0) == 0x80; i++) {
		s.p++;
		s.n--;
	}
	if (utf8_valid_prefix(s) + 3 >= s.n)
		s.n = utf8_valid_prefix(s);
	return s;
}

static void say_rest(struct reading *r, bool tail, bool valid)
{
	cleat_request *req = r->call.req;
	const char *tool = r->call.f->read_tool;
	unsigned long long last = r->first + r->given - 1;

	if (tail && r->cut)
		cleat_reply_textf(
			req,
			"[Only the end of the last line: it is longer than an answer may be.]");
	else if (tail && r->early)
		cleat_reply_textf(req,
				  "[These are the last %llu lines; more would be longer than an "
				  "answer may be. Use %s with offset and limit for others.]",
				  (unsigned long long)r->given, tool);
	else if (r->cut)
		cleat_reply_textf(
			req,
			"[Line %llu is longer than an answer may be and was cut. To go on "
			"behind it: %s with offset %llu.]",
			last, tool, last + 1);
	else if (!tail && r->at < r->st.st_size)
		cleat_reply_textf(req,
				  "[Lines %llu to %llu; the file goes on. To go on: %s with offset "
				  "%llu.]",
				  (unsigned long long)r->first, last, tool, last + 1);
	if (!valid)
		cleat_reply_text(req, "[Some bytes are not UTF-8; each is shown as U+FFFD.]");
}

static int reply_lines(struct reading *r, bool tail)
{
	struct str text = trimmed(r);
	cleat_request *req = r->call.req;

	fstat(r->fd, &r->st);
	if (!r->given && r->first > 1) { /* past the end: a mistake worth saying */
		unsigned long long lines = r->line - 1 + r->in_line;

		return cleat_reply_error(req, "%.*s: has only %llu line%s", STR_ARGS(r->path),
					 lines, lines == 1 ? "" : "s");
	}
	cleat_reply_textn(req, text.p ? text.p : "", text.n);
	say_rest(r, tail, utf8_valid_prefix(text) == text.n);
	return CLEAT_OK;
}

static int read_text(struct reading *r, bool tail)
{
	char *block = mem_alloc(&r->call.f->mem, FOLDER_BLOCK);
	cleat_error err = { 0 };
	int rc = CLEAT_OK;

	if (!block)
		return CLEAT_ENOMEM;
	if (tail) {
		rc = find_tail(r, block, &err);
		r->lines = UINT64_MAX;
	}
	if (rc == CLEAT_OK)
		rc = read_lines(r, block, &err);
	mem_free(&r->call.f->mem, block);
	if (rc == CLEAT_ECANCELLED)
		return folder_stopped(&r->call);
	if (err.status)
		return folder_failed(r->call.req, &err);
	return rc ? rc : reply_lines(r, tail);
}

static int read_binary(struct reading *r, const char *mime)
{
	struct buf bytes = BUF_INIT(&r->call.f->mem, FOLDER_BUF_MAX(r->call.f));
	struct buf uri = BUF_INIT(&r->call.f->mem, 8 * BENEATH_PATH_MAX);
	cleat_request *req = r->call.req;
	cleat_error err = { 0 };
	int rc = folder_slurp(&r->call, r->fd, r->path, &bytes, &err);

	folder_uri(r->call.f, r->path, &uri);
	buf_putc(&uri, '\0');
	if (rc == CLEAT_ECANCELLED)
		rc = folder_stopped(&r->call);
	else if (rc)
		rc = folder_failed(req, &err);
	else if (strncmp(mime, "image/", 6) == 0 || strncmp(mime, "audio/", 6) == 0)
		rc = cleat_reply_blob(req, mime, buf_str(&bytes).p, buf_size(&bytes));
	else
		rc = cleat_reply_resource_blob(req, buf_str(&uri).p, mime, buf_str(&bytes).p,
					       buf_size(&bytes));
	buf_done(&bytes);
	buf_done(&uri);
	return rc;
}

/* Lines can be made of what is UTF-8, and of what libmagic calls text in another encoding. */
static bool has_lines(struct str head, bool whole, const char *mime)
{
	return mime_is_text(head, whole) ||
	       (mime_is_lines(head) &&
		(strncmp(mime, "text/", 5) == 0 || strcmp(mime, "application/octet-stream") == 0));
}

static int read_kind(struct reading *r, bool tail, bool ranged)
{
	char head[MIME_HEAD], mime[MIME_MAX];
	ssize_t n = folder_pread(r->fd, head, sizeof head, 0);
	bool whole = r->st.st_size <= n;

	if (n < 0) {
		cleat_error err = { 0 };

		io_failed(r, &err);
		return folder_failed(r->call.req, &err);
	}
	mime_guess(r->path, (struct str){ head, (size_t)n }, whole, mime);
	if (has_lines((struct str){ head, (size_t)n }, whole, mime))
		return read_text(r, tail);
	if (ranged)
		return cleat_reply_error(r->call.req,
					 "%.*s: is not text (%s): it can only be read whole, "
					 "without offset, limit, head and tail",
					 STR_ARGS(r->path), mime);
	return read_binary(r, mime);
}

static uint64_t number(cleat_request *req, const char *name, uint64_t fallback)
{
	int64_t n = cleat_json_int(cleat_arg(req, name), 0);

	return n > 0 ? (uint64_t)n : fallback;
}

int folder_read(cleat_request *req)
{
	bool head = cleat_arg_given(req, "head"), tail = cleat_arg_given(req, "tail");
	bool range = cleat_arg_given(req, "offset") || cleat_arg_given(req, "limit");
	struct reading r = { .call = folder_call(req), .path = folder_arg(req, "path"), .line = 1 };
	cleat_error err = { 0 };
	int rc;

	if (head + tail + range > 1)
		return cleat_reply_error(
			req, "give either head, or tail, or offset with limit, not several");
	r.first = number(req, "offset", 1);
	r.lines = number(req, head ? "head" : tail ? "tail" : "limit", UINT64_MAX);
	r.fd = beneath_open_file(&r.call.f->root, r.path, &r.st, &err);
	if (r.fd < 0)
		return folder_failed(req, &err);
	buf_init(&r.out, &r.call.f->mem, r.call.f->output_max + 1);
	rc = read_kind(&r, tail, head || tail || range);
	buf_done(&r.out);
	close(r.fd);
	return rc;
}
