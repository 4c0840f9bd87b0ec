/* loop/watch.c - waiting for descriptors; see loop.h.
 *
 * Pipes, sockets and terminals are polled. epoll refuses regular files and some devices; these are
 * always ready, so they are served from an idle handle: one call in each turn, without waiting.
 */
#define _POSIX_C_SOURCE 200809L

#include "loop/impl.h"

struct loop_watch {
	struct handle h;
	loop_watch_fn *fn;
	void *ctx;
	unsigned events; /* what is waited for */
	bool always;
};

static void on_poll(uv_poll_t *p, int status, int events)
{
	struct loop_watch *w = p->data;
	unsigned got = 0;

	if (status < 0) {
		/* libuv has stopped it; the watcher has to look for itself. */
		got = w->events;
		w->events = 0;
		w->fn(w->ctx, got, true);
		return;
	}
	if (events & UV_READABLE)
		got |= LOOP_READ;
	if (events & UV_WRITABLE)
		got |= LOOP_WRITE;
	if (events & UV_DISCONNECT)
		got |= LOOP_HANGUP;
	w->fn(w->ctx, got & w->events, false);
}

static void on_idle(uv_idle_t *i)
{
	struct loop_watch *w = i->data;

	w->fn(w->ctx, w->events, false);
}

static int status_of(int uv)
{
	switch (uv) {
	case UV_EEXIST: return CLEAT_EEXIST;
	case UV_EBADF: return CLEAT_EINVAL;
	case UV_ENOMEM: return CLEAT_ENOMEM;
	default: return CLEAT_EIO;
	}
}

int loop_watch_new(cleat_loop *l, int fd, loop_watch_fn *fn, void *ctx, struct loop_watch **ret)
{
	struct loop_watch *w;
	int rc;

	*ret = NULL;
	if (fd < 0)
		return CLEAT_EINVAL;
	w = handle_new(l, sizeof *w);
	if (!w)
		return CLEAT_ENOMEM;
	rc = uv_poll_init(&l->uv, &w->h.uv.poll, fd);
	if (rc == UV_EPERM) {
		uv_idle_init(&l->uv, &w->h.uv.idle);
		w->always = true;
	} else if (rc < 0) {
		handle_drop(&w->h);
		return status_of(rc);
	}
	w->h.uv.any.data = w;
	w->fn = fn;
	w->ctx = ctx;
	*ret = w;
	return CLEAT_OK;
}

void loop_watch_set(struct loop_watch *w, unsigned events)
{
	/* Errors and hang-ups are always told, but libuv wants to be asked for something. */
	int wanted = (events & LOOP_READ ? UV_READABLE : 0) |
		     (events & LOOP_WRITE ? UV_WRITABLE : 0) |
		     (events & LOOP_HANGUP ? UV_DISCONNECT : 0);

	if (w->events == events)
		return;
	w->events = events;
	if (w->always && events)
		uv_idle_start(&w->h.uv.idle, on_idle);
	else if (w->always)
		uv_idle_stop(&w->h.uv.idle);
	else if (events)
		uv_poll_start(&w->h.uv.poll, wanted, on_poll);
	else
		uv_poll_stop(&w->h.uv.poll);
	/* Somebody else's loop sees the change only after the next step. */
	if (events && !w->h.loop->stepping)
		uv_async_send(&w->h.loop->async);
}

bool loop_watch_always(const struct loop_watch *w)
{
	return w->always;
}

void loop_watch_free(struct loop_watch *w)
{
	if (w)
		handle_close(&w->h);
}
