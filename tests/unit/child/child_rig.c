/* child_rig.c - see child_rig.h. */
#include "child_rig.h"

static void on_line(void *ctx, const char *line)
{
	struct rig *r = ctx;
	size_t n = strlen(r->said);

	r->lines++;
	snprintf(r->said + n, sizeof r->said - n, "%s|", line);
	if (r->free_on_line) {
		child_free(r->child);
		r->child = NULL;
	}
}

static void on_exit_(void *ctx, int status)
{
	struct rig *r = ctx;

	r->exits++;
	r->status = status;
	if (r->free_on_exit) {
		child_free(r->child);
		r->child = NULL;
	}
}

void rig_init(struct rig *r)
{
	memset(r, 0, sizeof *r);
	r->loop = cleat_loop_new(NULL);
	assert_non_null(r->loop);
	r->o = (struct child_options){
		.loop = r->loop, .err_line = on_line, .exited = on_exit_, .ctx = r, .grace_ms = 5000
	};
}

void rig_done(struct rig *r)
{
	child_free(r->child);
	assert_int_equal(cleat_loop_step(r->loop, 0), CLEAT_ECLOSED); /* nothing is attached */
	cleat_loop_free(r->loop);
	assert_true(no_children());
}

int spawn(struct rig *r, const char *const *argv)
{
	r->o.argv = argv;
	return child_spawn(&r->o, &r->child, &r->err);
}

void spawn_sh(struct rig *r, const char *script)
{
	const char *argv[] = { "/bin/sh", "-c", script, NULL };

	assert_int_equal(spawn(r, argv), CLEAT_OK);
	assert_true(child_alive(r->child));
}

bool read_more(struct rig *r)
{
	struct pollfd p = { .fd = child_out(r->child), .events = POLLIN };
	ssize_t k;

	poll(&p, 1, 100);
	k = read(p.fd, r->out + r->n, sizeof r->out - 1 - r->n);
	r->n += k > 0 ? (size_t)k : 0;
	r->out[r->n] = 0;
	return k != 0;
}

void read_until(struct rig *r, const char *text)
{
	uint64_t end = loop_now() + PATIENCE_MS;

	while ((!text || !strstr(r->out, text)) && read_more(r))
		assert_true(loop_now() < end);
}

void until_exit(struct rig *r)
{
	UNTIL(r->loop, r->exits > 0);
	assert_int_equal(r->exits, 1);
}

void say(struct rig *r, const char *text)
{
	assert_int_equal(write(child_in(r->child), text, strlen(text)), (ssize_t)strlen(text));
}

TEST_GROUP(warm_up, NULL)

TEST_START(argc, argv)
{
	return played(argc, argv) ? 0 : TEST_GO_ON;
}
