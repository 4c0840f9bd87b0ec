/* link/fds.c - a link over two descriptors that somebody else has opened; see links.h.
 *
 * They are never closed here, and get their flags back. What has ended cannot be opened again.
 */
#include "base/error.h"
#include "link/line.h"

struct link_fds {
	struct line_link line;
	int in, out;
	bool used;
};

static struct link_fds *of(struct line_link *l)
{
	return (struct link_fds *)(void *)l;
}

static void way_open(struct line_link *l)
{
	struct link_fds *k = of(l);
	cleat_error err;

	if (k->used)
		error_set(&err, CLEAT_ECLOSED,
			  "descriptors %d and %d have ended and cannot be opened again", k->in,
			  k->out);
	else if (line_attach(l, k->in, k->out, &err) == CLEAT_OK) {
		k->used = true;
		line_up(l);
		return;
	}
	line_up_failed(l, &err, CLEAT_STEP_CONNECT);
}

static void way_ended(struct line_link *l)
{
	cleat_error why;

	error_set(&why, l->why.status, "descriptor %d: %s", of(l)->in, l->why.message);
	why.os_errno = l->why.os_errno;
	line_down(l, &why);
}

struct link *link_fds_new(const struct link_base_options *o, int in, int out, cleat_error *err)
{
	static const struct line_way way = { .open = way_open, .ended = way_ended };
	struct link_fds *k;
	struct fd_end e;

	if (fd_look(&e, in, false, err) || fd_look(&e, out, true, err))
		return NULL;
	k = line_new(o, &way, sizeof *k, err);
	if (!k)
		return NULL;
	k->in = in;
	k->out = out;
	return &k->line.link;
}
