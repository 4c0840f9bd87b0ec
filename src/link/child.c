/* link/child.c - a link to a program that we start; see links.h.
 *
 * Its exit is what counts, not the end of its output: the pipe can be held open by something that it
 * started, and can be closed by a program that lives on. After the exit what is left in the pipe is read,
 * then `down` says how it ended. After the end of a pipe the exit has EXIT_MS to come; then `down`
 * comes without it, and the program is let go in the background. There is one program at a time: open()
 * ends one that is still being let go.
 */
#include "child/child.h"
#include "base/arena.h"
#include "base/error.h"
#include "link/line.h"

#include <stdio.h>

enum { EXIT_MS = 200 };

struct link_child {
	struct line_link line;
	struct arena ar; /* the options */
	struct child_options opts;
	struct child *child; /* may be one that is being let go */
	struct loop_timer *timer;
	uint64_t started;
};

static struct link_child *of(struct line_link *l)
{
	return (struct link_child *)(void *)l;
}

static const char *name(const struct link_child *k)
{
	return k->opts.argv[0];
}

static void drop_child(struct link_child *k)
{
	struct child *c = k->child;

	k->child = NULL;
	child_free(c);
}

/* Why it is down, when `how` is what is known. */
static void go_down(struct link_child *k, int status, const char *how)
{
	unsigned long long ms = loop_now() - k->started;
	const char *words = child_last_words(k->child);
	char when[64] = "";
	cleat_error why;

	if (ms < 60000)
		snprintf(when, sizeof when, ", %llu.%llu s after it was started", ms / 1000,
			 ms % 1000 / 100);
	error_set(&why, status, "%s %s%s%s%s", name(k), how, when, *words ? "; it said: " : "",
		  words);
	why.os_errno = k->line.why.os_errno;
	line_detach(&k->line);
	if (child_alive(k->child)) {
		child_stop(k->child);
		child_drain(k->child);
	} else {
		drop_child(k);
	}
	line_down(&k->line, &why);
}

static void on_err_line(void *ctx, const char *text)
{
	struct link_child *k = ctx;

	line_enter(&k->line);
	if (k->line.o.events.err_line)
		k->line.o.events.err_line(k->line.o.events.ctx, text);
	line_leave(&k->line);
}

static void on_exited(void *ctx, int status)
{
	struct link_child *k = ctx;
	char how[128];

	line_enter(&k->line);
	if (k->timer)
		loop_timer_stop(k->timer);
	if (k->line.state == LINE_UP || k->line.state == LINE_ENDING)
		line_read_rest(&k->line);
	switch (k->line.freed ? LINE_CLOSED : k->line.state) {
	case LINE_UP:
	case LINE_ENDING:
		child_ending(status, how, sizeof how);
		go_down(k, CLEAT_ECLOSED, how);
		break;
	case LINE_CLOSING:
		drop_child(k);
		line_closed(&k->line);
		break;
	default: /* it was let go in the background */ drop_child(k);
	}
	line_leave(&k->line);
}

/* The end of a pipe, and still no exit. */
static void child_on_timer(void *ctx)
{
	struct link_child *k = ctx;
	bool output = k->line.why.status == CLEAT_ECLOSED;

	if (k->line.state != LINE_ENDING)
		return;
	line_enter(&k->line);
	go_down(k, CLEAT_ECLOSED,
		output ? "closed its standard output, but has not exited"
		       : "does not read its standard input any more");
	line_leave(&k->line);
}

static void way_open(struct line_link *l)
{
	struct link_child *k = of(l);
	cleat_error err;

	drop_child(k);
	if (child_spawn(&k->opts, &k->child, &err)) {
		line_up_failed(l, &err, CLEAT_STEP_SPAWN);
		return;
	}
	k->started = loop_now();
	if (line_attach(l, child_out(k->child), child_in(k->child), &err)) {
		drop_child(k);
		line_up_failed(l, &err, CLEAT_STEP_SPAWN);
		return;
	}
	line_up(l);
}

static void way_ended(struct line_link *l)
{
	struct link_child *k = of(l);
	char how[sizeof l->why.message + 16];

	if (l->why.status != CLEAT_EPROTO) {
		loop_timer_start(k->timer, EXIT_MS);
		return;
	}
	snprintf(how, sizeof how, "has written %s", l->why.message);
	go_down(k, CLEAT_EPROTO, how);
}

static bool way_close(struct line_link *l)
{
	struct link_child *k = of(l);

	loop_timer_stop(k->timer);
	if (!k->child || !child_alive(k->child))
		return true;
	child_stop(k->child);
	child_drain(k->child);
	return false;
}

static void way_free(struct line_link *l)
{
	struct link_child *k = of(l);

	drop_child(k);
	loop_timer_free(k->timer);
	k->timer = NULL;
	arena_done(&k->ar);
}

struct link *link_child_new(const struct link_base_options *o, const char *const *argv,
			    const char *cwd, const char *const *env, bool inherit_env,
			    cleat_error *err)
{
	static const struct line_way way = { way_open, way_ended, way_close, way_free, NULL };
	struct link_child *k;

	if (!argv || !argv[0] || !argv[0][0]) {
		error_set(err, CLEAT_EINVAL, "no program to start: argv is empty");
		return NULL;
	}
	k = line_new(o, &way, sizeof *k, err);
	if (!k)
		return NULL;
	k->line.link.process = k->line.link.renews = true;
	arena_init(&k->ar, &k->line.mem, 0);
	k->opts = (struct child_options){
		.loop = o->loop,
		.mem = &k->line.mem,
		.argv = arena_strlist(&k->ar, argv),
		.cwd = arena_strdup(&k->ar, cwd),
		.env = arena_strlist(&k->ar, env),
		.inherit_env = inherit_env,
		.err_line = on_err_line,
		.exited = on_exited,
		.ctx = k,
	};
	k->timer = loop_timer_new(o->loop, child_on_timer, k);
	if (!k->timer || arena_failed(&k->ar)) {
		error_set(err, CLEAT_ENOMEM, "out of memory");
		k->line.link.ops->free(&k->line.link);
		return NULL;
	}
	return &k->line.link;
}

int link_child_pid(const struct link *l)
{
	const struct link_child *k = (const struct link_child *)(const void *)l;

	return k->child && child_alive(k->child) ? child_pid(k->child) : 0;
}
