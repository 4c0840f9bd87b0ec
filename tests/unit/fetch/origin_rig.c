/* origin_rig.c - see origin_rig.h. */
#include "unit/fetch/origin_rig.h"

#include "loop/loop.h"
#include "test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void origin_open(struct origin *o, const char *file)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	socklen_t n = sizeof in;

	*o = (struct origin){ .ear = socket(file ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_NONBLOCK,
					    0) };
	assert_true(o->ear >= 0);
	if (file) {
		snprintf(o->file, sizeof o->file, "%s", file);
		snprintf(un.sun_path, sizeof un.sun_path, "%s", file);
		unlink(file);
		assert_int_equal(bind(o->ear, (struct sockaddr *)&un, sizeof un), 0);
	} else {
		in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		assert_int_equal(bind(o->ear, (struct sockaddr *)&in, sizeof in), 0);
		assert_int_equal(getsockname(o->ear, (struct sockaddr *)&in, &n), 0);
		o->port = ntohs(in.sin_port);
	}
	assert_int_equal(listen(o->ear, 128), 0);
}

void origin_close(struct origin *o)
{
	if (o->ear >= 0)
		close(o->ear);
	o->ear = -1;
	if (o->file[0])
		unlink(o->file);
	for (size_t i = 0; i < ORIGIN_LINES; i++)
		if (o->lines[i])
			line_close(o->lines[i], false);
}

void origin_accept(struct origin *o)
{
	int fd, one = 1;

	while (o->ear >= 0 && (fd = accept(o->ear, NULL, NULL)) >= 0) {
		struct line *c = calloc(1, sizeof *c);
		size_t i = 0;

		while (i < ORIGIN_LINES && o->lines[i])
			i++;
		assert_true(i < ORIGIN_LINES && c);
		*c = (struct line){ .o = o, .fd = fd, .in = calloc(1, 1) };
		o->lines[i] = c;
		o->accepted++;
		fcntl(fd, F_SETFL, O_NONBLOCK);
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
		if (o->at_once)
			line_answer(c, o->answer);
	}
}

size_t origin_connections(const struct origin *o)
{
	size_t n = 0;

	for (size_t i = 0; i < ORIGIN_LINES; i++)
		n += o->lines[i] && !o->lines[i]->eof;
	return n;
}

void line_close(struct line *c, bool reset)
{
	struct linger at_once = { 1, 0 };

	for (size_t i = 0; i < ORIGIN_LINES; i++)
		if (c->o->lines[i] == c)
			c->o->lines[i] = NULL;
	if (reset)
		setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
	close(c->fd);
	free(c->in);
	free(c);
}

void line_read(struct line *c)
{
	ssize_t n;

	if (c->o->slow && loop_now() < c->read_at)
		return;
	do {
		if (c->cap - c->n < 1 << 18) {
			c->cap = c->cap * 2 + (1 << 18) + 1;
			c->in = realloc(c->in, c->cap);
			assert_non_null(c->in);
		}
		n = recv(c->fd, c->in + c->n, c->cap - c->n - 1, 0);
		if (n > 0)
			c->n += (size_t)n;
		c->in[c->n] = '\0';
	} while (n > 0 && !c->o->slow);
	c->read_at = loop_now() + 20;
	if (n == 0 || (n < 0 && errno != EAGAIN))
		c->eof = true;
}

size_t line_request(const struct line *c)
{
	const char *end = strstr(c->in, "\r\n\r\n"), *length = strstr(c->in, "Content-Length: ");
	size_t n;

	if (!end)
		return 0;
	n = (size_t)(end - c->in) + 4;
	if (length && length < end)
		n += (size_t)strtoul(length + 16, NULL, 10);
	return c->n >= n ? n : 0;
}

void line_drop(struct line *c, size_t n)
{
	memmove(c->in, c->in + n, c->n - n + 1);
	c->n -= n;
}

struct line *origin_ready(struct origin *o)
{
	origin_accept(o);
	for (size_t i = 0; i < ORIGIN_LINES; i++) {
		struct line *c = o->lines[o->turn++ % ORIGIN_LINES]; /* nobody waits for ever */

		if (c && !c->eof)
			line_read(c);
		if (c && !c->eof && line_request(c))
			return c;
	}
	return NULL;
}

/* ---- answering by itself ------------------------------------------------------------------------ */

void line_answer(struct line *c, struct str answer)
{
	c->answering = true;
	c->out = answer;
	if (c->o->cut && c->o->cut < answer.n)
		c->out.n = c->o->cut;
}

static void line_write(struct line *c)
{
	const struct origin *o = c->o;
	size_t n = o->slice && o->slice < c->out.n ? o->slice : c->out.n;
	ssize_t done = n ? send(c->fd, c->out.p, n, MSG_NOSIGNAL) : 0;

	if (done < 0 && errno != EAGAIN) {
		line_close(c, false);
		return;
	}
	if (done > 0) {
		c->out.p += done;
		c->out.n -= (size_t)done;
	}
	if (c->out.n)
		return;
	c->out = o->pump;
	c->answering = o->pump.n > 0;
	if (!c->answering && o->after != KEEP)
		line_close(c, o->after == RESET);
}

static void line_take(struct line *c)
{
	struct origin *o = c->o;
	size_t n = line_request(c);

	if (!n)
		return;
	o->requests++;
	o->request_n = n;
	snprintf(o->request, sizeof o->request, "%.*s", (int)(n < 16000 ? n : 16000), c->in);
	line_drop(c, n);
	if (o->script)
		o->script(o, c);
	else if (!o->silent)
		line_answer(c, o->answer);
}

void origin_turn(struct origin *o)
{
	origin_accept(o);
	for (size_t i = 0; i < ORIGIN_LINES; i++) {
		struct line *c = o->lines[i];

		if (c && c->answering)
			line_write(c);
		if (!c || c != o->lines[i])
			continue;
		line_read(c);
		if (c->eof)
			line_close(c, false);
		else
			line_take(c);
	}
}
