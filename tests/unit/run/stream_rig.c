/* stream_rig.c - see stream_rig.h. */
#include "unit/run/stream_rig.h"

void answer(struct echo *e, const char *p, size_t n)
{
	struct buf *b = e->sink.begin(e->sink.ctx, NULL);

	if (!b) {
		e->unsent++;
		return;
	}
	buf_append(b, p, n);
	if (e->sink.end(e->sink.ctx, NULL, PEER_ANSWER))
		e->unsent++;
	e->congested = e->congested || e->sink.congested(e->sink.ctx);
}

static size_t echo_receive(struct peer *p, struct str line, void *tag,
			   const struct peer_headers *headers)
{
	struct echo *e = (struct echo *)(void *)p;
	char text[64];

	(void)tag;
	(void)headers;
	assert_int_equal(e->closed, 0);
	e->received++;
	if (str_eqz(line, "defer")) {
		e->inflight++;
	} else if (str_starts(line, "big ") && line.n < sizeof text) {
		size_t n;
		char *z;

		memcpy(text, line.p, line.n);
		text[line.n] = 0;
		n = (size_t)atol(text + 4);
		z = malloc(n + 1);
		assert_non_null(z);
		memset(z, 'z', n);
		answer(e, z, n);
		free(z);
	} else {
		answer(e, line.p, line.n);
	}
	return 1;
}

static void echo_oversize(struct peer *p, size_t limit)
{
	struct echo *e = (struct echo *)(void *)p;
	char text[64];

	e->oversize++;
	answer(e, text, (size_t)snprintf(text, sizeof text, "over %zu", limit));
}

static void echo_close(struct peer *p)
{
	((struct echo *)(void *)p)->closed++;
}

static size_t echo_inflight(const struct peer *p)
{
	return ((const struct echo *)(const void *)p)->inflight;
}

static const struct peer_ops echo_ops = { .receive = echo_receive,
					  .oversize = echo_oversize,
					  .close = echo_close,
					  .inflight = echo_inflight };

static void on_note(void *ctx, int level, const char *text)
{
	struct rig *r = ctx;
	size_t n = strlen(r->notes);

	snprintf(r->notes + n, sizeof r->notes - n, "%d %s\n", level, text);
}

static void on_closed(void *ctx, struct stream *s, int status)
{
	struct rig *r = ctx;

	assert_ptr_equal(s, r->s);
	assert_false(r->over);
	r->over = true;
	r->status = status;
	stream_free(s);
	r->s = NULL;
}

int open_rig(struct rig *r, int in, int out)
{
	struct stream_options o = { .loop = r->l,
				    .mem = r->mem,
				    .in = in,
				    .out = out,
				    .max_message = 1 << 20,
				    .max_reply = 4 << 20,
				    .note = on_note,
				    .closed = on_closed,
				    .ctx = r };
	cleat_error err;
	int rc = stream_open(&o, &r->s, &err);

	if (rc) {
		assert_int_equal(err.status, rc);
		return rc;
	}
	r->echo = (struct echo){ .peer = { &echo_ops }, .sink = stream_sink(r->s) };
	stream_start(r->s, &r->echo.peer);
	return CLEAT_OK;
}

cleat_loop *new_loop(void)
{
	cleat_loop *l = cleat_loop_new(NULL);

	assert_non_null(l);
	return l;
}

void make_pipes(struct rig *r)
{
	assert_int_equal(pipe(r->in), 0);
	assert_int_equal(pipe(r->out), 0);
}

void begin_pipes(struct rig *r)
{
	*r = (struct rig){ .l = new_loop() };
	make_pipes(r);
	assert_int_equal(open_rig(r, r->in[0], r->out[1]), CLEAT_OK);
	fcntl(r->out[0], F_SETFL, O_NONBLOCK);
	fcntl(r->in[1], F_SETFL, O_NONBLOCK);
}

void begin_socket(struct rig *r)
{
	int small = 1, s[2];

	*r = (struct rig){ .l = new_loop() };
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, s), 0);
	for (int i = 0; i < 2; i++) {
		setsockopt(s[i], SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
		setsockopt(s[i], SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
	}
	r->in[0] = r->out[1] = s[0];
	r->in[1] = r->out[0] = s[1];
	assert_int_equal(open_rig(r, s[0], s[0]), CLEAT_OK);
	fcntl(s[1], F_SETFL, O_NONBLOCK);
}

void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void end(struct rig *r)
{
	bool same = r->in[0] == r->out[1];

	stream_free(r->s);
	cleat_loop_free(r->l);
	close_fd(&r->in[0]);
	close_fd(&r->in[1]);
	if (!same) {
		close_fd(&r->out[0]);
		close_fd(&r->out[1]);
	}
}

void put(struct rig *r, const char *text)
{
	size_t n = strlen(text);

	assert_int_equal(write(r->in[1], text, n), (ssize_t)n);
}

size_t get(struct rig *r, char *to, size_t room)
{
	ssize_t n = read(r->out[0], to, room);

	if (n < 0)
		assert_true(errno == EAGAIN);
	return n < 0 ? 0 : (size_t)n;
}

void expect(struct rig *r, const char *text)
{
	char got[4096];
	size_t n = 0, want = strlen(text);

	while (n < want && !r->over) {
		n += get(r, got + n, sizeof got - 1 - n);
		if (n < want)
			cleat_loop_step(r->l, 20);
	}
	n += get(r, got + n, sizeof got - 1 - n);
	got[n] = 0;
	assert_string_equal(got, text);
}

void run_to_end(struct rig *r)
{
	while (!r->over)
		cleat_loop_step(r->l, -1);
}
