/* link/fds.c - a link over two descriptors that somebody else has opened; see links.h.
 *
 * They are never closed here, and get their flags back. What has ended cannot be opened again.
 */
#include "base/error.h"
#include "link/line.h"

struct link_fds {
	struct line_link line;
	int in, out;
	struct fd_end before_in, before_out; /* as they were given to us */
	bool used;
};

static struct link_fds *of(struct line_link *l)
{
	return (struct link_fds *)(void *)l;
}

static void give_back(struct link_fds *k)
{
	line_detach(&k->line);
	if (k->used) {
		fd_restore(&k->before_in);
		fd_restore(&k->before_out);
	}
	k->before_in.flags = k->before_out.flags = -1;
}

static void way_open(struct line_link *l)
{
	struct link_fds *k = of(l);
	cleat_error err;

	if (k->used)
		error_set(&err, CLEAT_ECLOSED,
			  "descriptors %d and %d have ended and cannot be opened again", k->in,
			  k->out);
	else if (fd_look(&k->before_in, k->in, false, &err) == CLEAT_OK &&
		 fd_look(&k->before_out, k->out, true, &err) == CLEAT_OK &&
		 line_attach(l, k->in, k->out, &err) == CLEAT_OK) {
		k->used = true;
		line_up(l);
		return;
	}
	line_up_failed(l, &err, CLEAT_STEP_CONNECT);
}

static void way_ended(struct line_link *l)
{
	cleat_error why;

	give_back(of(l));
	error_set(&why, l->why.status, "descriptor %d: %s", of(l)->in, l->why.message);
	why.os_errno = l->why.os_errno;
	line_down(l, &why);
}

static bool way_close(struct line_link *l)
{
	give_back(of(l));
	return true;
}

static void way_free(struct line_link *l)
{
	give_back(of(l));
}

struct link *link_fds_new(const struct link_base_options *o, int in, int out, cleat_error *err)
{
	static const struct line_way way = { way_open, way_ended, way_close, way_free };
	struct link_fds *k;
	struct fd_end e;

	if (fd_look(&e, in, false, err) || fd_look(&e, out, true, err))
		return NULL;
	k = line_new(o, &way, sizeof *k, err);
	if (!k)
		return NULL;
	k->in = in;
	k->out = out;
	k->before_in.flags = k->before_out.flags = -1;
	return &k->line.link;
}
