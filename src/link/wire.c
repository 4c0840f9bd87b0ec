/* link/wire.c - a link whose bytes somebody else moves: no descriptor, no loop; see links.h.
 *
 * What a loop would do later is done in link_wire_turn(), or before the next bytes are looked at. What has
 * ended cannot be opened again.
 */
#include "base/error.h"
#include "link/line.h"

struct link_wire {
	struct line_link line;
	void (*wake)(void *ctx);
	void *ctx;
	bool due;  /* line_run() is */
	bool used; /* it was opened */
};

static struct link_wire *of(struct link *l)
{
	return (struct link_wire *)(void *)l;
}

static void way_open(struct line_link *l)
{
	struct link_wire *k = of(&l->link);
	cleat_error err;

	if (k->used) {
		error_set(&err, CLEAT_ECLOSED, "the wire has ended and cannot be opened again");
		line_up_failed(l, &err, CLEAT_STEP_CONNECT);
		return;
	}
	k->used = true;
	line_attach(l, -1, -1, NULL);
	line_up(l);
}

static void way_ended(struct line_link *l)
{
	cleat_error why = l->why;

	line_down(l, &why);
}

static void way_later(struct line_link *l)
{
	struct link_wire *k = of(&l->link);

	k->due = true;
	k->wake(k->ctx);
}

void link_wire_turn(struct link *l)
{
	struct link_wire *k = of(l);

	while (k->due) {
		k->due = false;
		line_run(&k->line);
	}
}

int link_wire_feed(struct link *l, const void *p, size_t n)
{
	struct link_wire *k = of(l);

	link_wire_turn(l);
	if (k->line.state != LINE_UP)
		return CLEAT_ECLOSED;
	line_enter(&k->line);
	linestream_feed(&k->line.io, p, n);
	line_leave(&k->line);
	return CLEAT_OK;
}

void link_wire_eof(struct link *l)
{
	struct link_wire *k = of(l);

	k->used = true;
	line_enter(&k->line);
	linestream_end(&k->line.io);
	line_leave(&k->line);
}

struct str link_wire_ready(const struct link *l)
{
	return outbox_ready(&((const struct link_wire *)(const void *)l)->line.io.box);
}

void link_wire_sent(struct link *l, size_t n)
{
	linestream_sent(&of(l)->line.io, n);
}

struct link *link_wire_new(const struct link_base_options *o, void (*wake)(void *ctx), void *ctx,
			   cleat_error *err)
{
	static const struct line_way way = { .open = way_open,
					     .ended = way_ended,
					     .later = way_later };
	struct link_wire *k = line_new(o, &way, sizeof *k, err);

	if (!k)
		return NULL;
	k->wake = wake;
	k->ctx = ctx;
	return &k->line.link;
}
