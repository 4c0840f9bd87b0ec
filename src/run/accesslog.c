/* run/accesslog.c - see accesslog.h. */
#define _POSIX_C_SOURCE 200809L

#include "run/accesslog.h"

#include "base/error.h"
#include "json/writer.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* How much of a text is shown. With every byte escaped (six for one) and a short path a line still
 * fits. */
enum { LONG_PATH = 1024, SHORT_PATH = 128, LONG_TEXT = 64, SHORT_TEXT = 16, SESSION_SHOWN = 8 };

_Static_assert(6 * (SHORT_PATH + 4 * LONG_TEXT + 2 * SHORT_TEXT) + 512 < ACCESSLOG_LINE,
	       "a line with a short path always fits");

#define LAST_MS UINT64_C(253402300799999) /* 9999-12-31: RFC 3339 has four digits for a year */

/* ---- the line ----------------------------------------------------------------------------- */

/* RFC 3339, UTC. */
static void put_time(struct jw *w, uint64_t wall_ms)
{
	uint64_t ms = wall_ms < LAST_MS ? wall_ms : LAST_MS;
	time_t seconds = (time_t)(ms / 1000);
	struct tm tm = { 0 };
	struct buf *b = w->b;

	gmtime_r(&seconds, &tm);
	jw_key(w, "time");
	buf_printf(b, "\"%04d-%02d-%02dT%02d:%02d:%02d.%03uZ\"", tm.tm_year + 1900, tm.tm_mon + 1,
		   tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, (unsigned)(ms % 1000));
	w->comma = true;
}

/* What a terminal acts upon, or shows in another order: DEL, C1, the separators, the bidirectional
 * controls. (C0 is escaped in JSON anyway.) And what is not a character at all. */
static bool is_harmful(uint32_t c)
{
	return (c >= 0x7F && c <= 0x9F) || (c >= 0x2028 && c <= 0x202E) ||
	       (c >= 0x2066 && c <= 0x2069) || c == 0x200E || c == 0x200F || c == 0x061C ||
	       c == UTF8_BAD;
}

/* Up to `max` bytes of a text; "..." tells that it goes on, where that is of interest. */
static void accesslog_put_text(struct jw *w, const char *key, struct str s, size_t max, bool tell)
{
	size_t i = 0, done = 0, before = 0;

	if (!s.p)
		return;
	jw_key(w, key);
	jw_text_begin(w);
	while (i < s.n) {
		uint32_t c = utf8_next(s, &i);

		if (i > max)
			break;
		if (is_harmful(c)) {
			jw_text_part(w, (struct str){ s.p + done, before - done });
			jw_text_part(w, STR_LIT("\xEF\xBF\xBD"));
			done = i;
		}
		before = i;
	}
	jw_text_part(w, (struct str){ s.p + done, before - done });
	if (tell && before < s.n)
		jw_text_part(w, STR_LIT("..."));
	jw_text_end(w, false);
}

static void put_uint(struct jw *w, const char *key, uint64_t v)
{
	jw_key(w, key);
	jw_uint(w, v);
}

static struct str without_query(struct str path)
{
	const char *end = path.n ? memchr(path.p, '?', path.n) : NULL;

	return (struct str){ path.p, end ? (size_t)(end - path.p) : path.n };
}

static void accesslog_put_line(struct buf *b, const struct accesslog_entry *e, uint64_t wall_ms,
			       size_t max_path)
{
	struct jw w;

	jw_init(&w, b);
	jw_obj(&w);
	put_time(&w, wall_ms);
	accesslog_put_text(&w, "remote", e->remote, LONG_TEXT, true);
	accesslog_put_text(&w, "method", e->method, SHORT_TEXT, true);
	accesslog_put_text(&w, "path", without_query(e->path), max_path, true);
	put_uint(&w, "status", e->status > 0 ? (uint64_t)e->status : 0);
	put_uint(&w, "bytes", e->bytes);
	put_uint(&w, "micros", e->micros);
	accesslog_put_text(&w, "session", e->session, SESSION_SHOWN, false);
	accesslog_put_text(&w, "revision", e->revision, SHORT_TEXT, true);
	accesslog_put_text(&w, "principal", e->principal, LONG_TEXT, true);
	accesslog_put_text(&w, "rpc", e->rpc, LONG_TEXT, true);
	jw_obj_end(&w);
	buf_putc(b, '\n');
}

void accesslog_format(struct buf *b, const struct accesslog_entry *e, uint64_t wall_ms)
{
	size_t before = buf_size(b);

	if (buf_status(b) != CLEAT_OK)
		return;
	accesslog_put_line(b, e, wall_ms, LONG_PATH);
	if (buf_status(b) == CLEAT_ENOMEM ||
	    (buf_status(b) == CLEAT_OK && buf_size(b) - before <= ACCESSLOG_LINE))
		return;
	buf_truncate(b, before);
	accesslog_put_line(b, e, wall_ms, SHORT_PATH);
}

/* ---- the descriptor ----------------------------------------------------------------------- */

int accesslog_init(struct accesslog *l, const cleat_allocator *mem, int fd, cleat_error *err)
{
	int rc;

	*l = (struct accesslog){ 0 };
	rc = fd_look(&l->end, fd < 0 ? STDERR_FILENO : fd, true, err);
	if (rc != CLEAT_OK)
		return rc;
	buf_init(&l->line, mem, ACCESSLOG_LINE + 1);
	if (buf_reserve(&l->line, ACCESSLOG_LINE + 1))
		return CLEAT_OK;
	buf_done(&l->line);
	return error_set(err, CLEAT_ENOMEM, "out of memory for the access log");
}

void accesslog_done(struct accesslog *l)
{
	if (l->line.data)
		buf_done(&l->line);
}

/* As write(), or -EAGAIN; never waits. The mode of the descriptor is not ours to change. A pipe that
 * is ready takes PIPE_BUF bytes at least, a terminal that is ready is not stopped. */
static ptrdiff_t write_now(const struct fd_end *end, struct str s)
{
	struct pollfd p = { .fd = end->fd, .events = POLLOUT };
	ssize_t n;

	if (!end->socket)
		return poll(&p, 1, 0) > 0 ? fd_write(end, s.p, s.n) : -EAGAIN;
	do {
		n = send(end->fd, s.p, s.n, MSG_NOSIGNAL | MSG_DONTWAIT);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

void accesslog_write(struct accesslog *l, const struct accesslog_entry *e, uint64_t wall_ms)
{
	struct str line;
	ptrdiff_t n = -ENOMEM;

	buf_reset(&l->line, SIZE_MAX);
	if (l->torn)
		buf_putc(&l->line, '\n');
	accesslog_format(&l->line, e, wall_ms);
	line = buf_str(&l->line);
	if (buf_status(&l->line) == CLEAT_OK)
		n = write_now(&l->end, line);
	if (n == (ptrdiff_t)line.n) {
		l->torn = false;
		return;
	}
	l->dropped++;
	if (n > 0) /* a torn line whose end alone was written is complete now */
		l->torn = !(l->torn && n == 1);
}

uint64_t accesslog_dropped(const struct accesslog *l)
{
	return l->dropped;
}
