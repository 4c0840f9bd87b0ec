/* run/wire.c - see wire.h: the functions that servers' and clients' wires share, and who may call them. */
#include "run/wire.h"

void wire_tell(cleat_wire *w)
{
	if (w->busy || w->told || !w->opts.wake)
		return;
	w->told = true;
	w->opts.wake(w->opts.userdata);
}

/* False when a callback of the library called back. */
static bool wire_enter(cleat_wire *w)
{
	if (!w || w->busy)
		return false;
	w->busy = true;
	w->told = false;
	return true;
}

int cleat_wire_feed(cleat_wire *w, const void *p, size_t n)
{
	int rc;

	if (!w || (n && !p))
		return CLEAT_EINVAL;
	if (!wire_enter(w))
		return CLEAT_EMISUSE;
	rc = w->role->feed(w, p, n);
	w->busy = false;
	return rc;
}

void cleat_wire_eof(cleat_wire *w)
{
	if (!wire_enter(w))
		return;
	w->role->eof(w);
	w->busy = false;
}

size_t cleat_wire_peek(cleat_wire *w, const void **ret)
{
	struct str ready = w ? w->role->ready(w) : (struct str){ "", 0 };

	if (ret)
		*ret = ready.p;
	return ready.n;
}

void cleat_wire_consume(cleat_wire *w, size_t n)
{
	if (!wire_enter(w))
		return;
	w->role->sent(w, n);
	w->busy = false;
}

int cleat_wire_poll(cleat_wire *w)
{
	int ms;

	if (!wire_enter(w))
		return -1;
	ms = w->role->poll(w);
	w->busy = false;
	return ms;
}

size_t cleat_wire_inflight(const cleat_wire *w)
{
	return w ? w->role->inflight(w) : 0;
}

void cleat_wire_free(cleat_wire *w)
{
	if (wire_enter(w))
		w->role->free(w);
}
