/* program/serve/command/process.c - see process.h.
 *
 * Its exit is what counts, not the end of its output: a pipe can be held open by something that it has
 * started, and can be closed by a program that lives on. When the child says that it has exited, all that
 * it had started is dead, so that what is left in the pipes is the rest, and is there at once.
 *
 * The first reason to end it is the one that is told. After that its output is still read, so that a
 * program that is blocked writing can end, but thrown away.
 */
#include "serve/command/process.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "child/child.h"
#include "net/fd.h"
#include "serve/command/family.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

enum {
	READ_SIZE = 64 * 1024,
	REST_MAX = 2 * 1024 * 1024, /* read of a pipe after the end; it can hold a MiB */
	LINE_MAX_ = 64 * 1024,
	ENV_MAX = 65536,
	HURRY_MS = 400,
	LOOK_MS = 200 /* between two looks at its family */
};

/* stdout or stderr. */
struct stream {
	struct process *p;
	struct loop_watch *watch;
	int fd;           /* the child's; -1: ended */
	struct buf line;  /* the beginning of one that is not complete */
	bool skipping;    /* the rest of a line that is too long */
	struct buf bytes; /* all of stdout; the last of stderr */
};

struct process {
	cleat_allocator mem;
	struct process_spec o; /* only what is not a pointer to the caller's, and callbacks */
	struct child *child;
	struct stream out, err;
	struct loop_watch *in_watch;
	struct fd_end in;
	struct buf input;
	struct loop_timer *timer, *look;
	size_t out_total;
	bool ending; /* by us, for the reason in `why` */
	enum process_ending why;
};

/* ---- ending ------------------------------------------------------------------------------- */

static void end_input(struct process *p)
{
	loop_watch_free(p->in_watch);
	p->in_watch = NULL;
	buf_done(&p->input);
	child_end_input(p->child);
}

static void end_it(struct process *p, enum process_ending why)
{
	if (p->ending)
		return;
	p->ending = true;
	p->why = why;
	loop_timer_stop(p->timer);
	end_input(p);
	/* Who eats up the machine is not asked first. */
	if (why == PROCESS_TOO_LARGE || why == PROCESS_TOO_MANY)
		child_terminate_in(p->child, 0);
	else
		child_terminate(p->child);
}

static void destroy(struct process *p)
{
	cleat_allocator mem = p->mem;

	loop_watch_free(p->in_watch);
	loop_watch_free(p->out.watch);
	loop_watch_free(p->err.watch);
	loop_timer_free(p->timer);
	loop_timer_free(p->look);
	child_free(p->child);
	buf_done(&p->input);
	buf_done(&p->out.line);
	buf_done(&p->out.bytes);
	buf_done(&p->err.line);
	buf_done(&p->err.bytes);
	mem_free(&mem, p);
}

void process_cancel(struct process *p)
{
	end_it(p, PROCESS_CANCELLED);
}

void process_hurry(struct process *p)
{
	end_it(p, PROCESS_CANCELLED);
	child_terminate_in(p->child, HURRY_MS);
}

void process_free(struct process *p)
{
	if (p)
		destroy(p);
}

static void on_timeout(void *ctx)
{
	end_it(ctx, PROCESS_TIMED_OUT);
}

/* Also while it is ending: those two seconds are enough for a hundred thousand processes. */
static void on_look(void *ctx)
{
	struct process *p = ctx;
	const struct limits *l = &p->o.limits;
	struct family f = family_look(child_root(p->child), l->memory ? l->memory : UINT64_MAX);
	bool many = l->processes && f.processes > l->processes;
	bool large = l->memory && f.memory > l->memory;

	if ((many || large) && p->ending)
		child_terminate_in(p->child, 0);
	else if (many || large)
		end_it(p, many ? PROCESS_TOO_MANY : PROCESS_TOO_LARGE);
	else
		loop_timer_start(p->look, LOOK_MS);
}

/* ---- lines -------------------------------------------------------------------------------- */

static void hand_on(struct stream *s, struct str line)
{
	if (line.n && line.p[line.n - 1] == '\r')
		line.n--;
	if (line.n > LINE_MAX_)
		line.n = LINE_MAX_;
	s->p->o.line(s->p->o.ctx, s == &s->p->err, line);
}

/* A line that ends here: what was kept of it, and `end`. */
static void end_line(struct stream *s, struct str end)
{
	if (!s->skipping && buf_size(&s->line) == 0) {
		hand_on(s, end);
	} else if (!s->skipping) {
		buf_append(&s->line, end.p, end.n);
		hand_on(s, buf_str(&s->line));
	}
	s->skipping = false;
	buf_reset(&s->line, READ_SIZE);
}

/* Keeps the beginning of a line. One that is too long is handed on as far as it goes, once. */
static void keep_line(struct stream *s, struct str part)
{
	if (s->skipping)
		return;
	buf_append(&s->line, part.p, part.n);
	if (buf_status(&s->line) == CLEAT_ENOMEM) {
		end_it(s->p, PROCESS_NO_MEMORY);
	} else if (buf_size(&s->line) > LINE_MAX_) {
		hand_on(s, buf_str(&s->line));
		buf_reset(&s->line, 0);
		s->skipping = true;
	}
}

static void split(struct stream *s, struct str t)
{
	while (t.n > 0 && !s->p->ending) {
		const char *nl = memchr(t.p, '\n', t.n);
		size_t n = nl ? (size_t)(nl - t.p) : t.n;

		if (nl)
			end_line(s, (struct str){ t.p, n });
		else
			keep_line(s, t);
		n += nl != NULL;
		t.p += n;
		t.n -= n;
	}
}

/* ---- output ------------------------------------------------------------------------------- */

static void take_out(struct process *p, struct str t)
{
	size_t room = p->o.output_max - p->out_total;
	bool over = t.n > room;

	if (over)
		t.n = room;
	p->out_total += t.n;
	if (!p->o.no_collect)
		buf_append(&p->out.bytes, t.p, t.n);
	if (p->o.line)
		split(&p->out, t);
	if (buf_status(&p->out.bytes))
		end_it(p, PROCESS_NO_MEMORY);
	else if (over)
		end_it(p, PROCESS_TOO_MUCH);
}

/* The last PROCESS_ERR_KEEP bytes; moved only when as much again has come. */
static void take_err(struct process *p, struct str t)
{
	struct buf *b = &p->err.bytes;

	if (p->o.line)
		split(&p->err, t);
	if (t.n > PROCESS_ERR_KEEP)
		t = (struct str){ t.p + t.n - PROCESS_ERR_KEEP, PROCESS_ERR_KEEP };
	buf_append(b, t.p, t.n);
	if (buf_status(b))
		buf_reset(b, SIZE_MAX); /* for a message: not worth ending it */
	if (buf_size(b) > PROCESS_ERR_KEEP)
		buf_consume(b, buf_size(b) - PROCESS_ERR_KEEP);
}

static void close_stream(struct stream *s)
{
	loop_watch_free(s->watch);
	s->watch = NULL;
	s->fd = -1;
}

/* Reads once. What it gives is 0 where there is nothing to be had now, or ever. */
static size_t read_stream(struct stream *s)
{
	struct fd_end e = { .fd = s->fd };
	char buf[READ_SIZE];
	ptrdiff_t n = s->fd < 0 ? -EAGAIN : fd_read(&e, buf, sizeof buf);

	if (fd_would_block(n))
		return 0;
	if (n <= 0) {
		close_stream(s);
		return 0;
	}
	if (!s->p->ending && s == &s->p->out)
		take_out(s->p, (struct str){ buf, (size_t)n });
	else if (s == &s->p->err)
		take_err(s->p, (struct str){ buf, (size_t)n });
	return (size_t)n;
}

static void on_readable(void *ctx, unsigned events, bool failed)
{
	struct stream *s = ctx;

	(void)events;
	if (read_stream(s) == 0 && failed)
		close_stream(s);
}

static void read_rest(struct stream *s)
{
	size_t n, sum = 0;

	while (sum < REST_MAX && (n = read_stream(s)) > 0)
		sum += n;
	if (s->p->o.line && !s->p->ending && !s->skipping && buf_size(&s->line) > 0)
		end_line(s, (struct str){ "", 0 });
}

/* ---- input -------------------------------------------------------------------------------- */

/* What it does not want is not an error of ours: it may have seen enough. */
static void write_input(struct process *p)
{
	while (buf_size(&p->input) > 0) {
		struct str s = buf_str(&p->input);
		ptrdiff_t n = fd_write(&p->in, s.p, s.n);

		if (fd_would_block(n)) {
			loop_watch_set(p->in_watch, LOOP_WRITE);
			return;
		}
		if (n <= 0)
			break;
		buf_consume(&p->input, (size_t)n);
	}
	end_input(p);
}

static void on_writable(void *ctx, unsigned events, bool failed)
{
	struct process *p = ctx;

	(void)events;
	if (failed)
		end_input(p);
	else
		write_input(p);
}

/* ---- the end ------------------------------------------------------------------------------ */

/* The tail, beginning with a whole character, in what JSON and people can read. */
static struct str readable(struct process *p, struct buf *to)
{
	struct str s = buf_str(&p->err.bytes);
	size_t i = 0;

	while (s.n == PROCESS_ERR_KEEP && i < 3 && ((unsigned char)s.p[i] & 0xC0) == 0x80)
		i++;
	while (i < s.n) {
		size_t from = i;
		uint32_t c = utf8_next(s, &i);

		if (c == UTF8_BAD || c == 0)
			buf_appendz(to, "\xEF\xBF\xBD");
		else
			buf_append(to, s.p + from, i - from);
	}
	return buf_status(to) ? (struct str){ "", 0 } : buf_str(to);
}

static void on_exited(void *ctx, int status)
{
	struct process *p = ctx;
	struct process_result r = { .ending = PROCESS_EXITED };
	struct buf text;

	buf_init(&text, &p->mem, 3 * PROCESS_ERR_KEEP);
	loop_timer_stop(p->timer);
	loop_timer_stop(p->look);
	end_input(p);
	read_rest(&p->out);
	read_rest(&p->err);
	if (p->ending)
		r.ending = p->why;
	else if (WIFSIGNALED(status))
		r.ending = PROCESS_KILLED;
	r.status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
	r.out = buf_str(&p->out.bytes);
	r.err = readable(p, &text);
	p->o.done(p->o.ctx, &r);
	buf_done(&text);
	destroy(p);
}

/* ---- the beginning ------------------------------------------------------------------------ */

static int process_no_memory(cleat_error *err)
{
	return error_set(err, CLEAT_ENOMEM, "out of memory");
}

/* What programs expect besides what every child gets; ours, where they are set. */
static const char *const *make_env(const char *const *env, struct arena *ar)
{
	static const char *const ours[] = { "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR" };
	size_t n = 0;
	const char **all;

	while (env && env[n] && n < ENV_MAX)
		n++;
	all = arena_zalloc(ar, (CLEAT_COUNT(ours) + n + 1) * sizeof *all);
	if (!all)
		return NULL;
	memcpy(all, ours, sizeof ours);
	if (n)
		memcpy(all + CLEAT_COUNT(ours), env, n * sizeof *env);
	return all;
}

static struct process *new_process(const struct process_spec *spec)
{
	cleat_allocator mem = mem_resolve(spec->mem);
	struct process *p = mem_zalloc(&mem, sizeof *p);

	if (!p)
		return NULL;
	p->mem = mem;
	p->o = *spec;
	p->out.p = p->err.p = p;
	p->out.fd = p->err.fd = -1;
	buf_init(&p->input, &mem, spec->input.n);
	buf_init(&p->out.line, &mem, LINE_MAX_ + READ_SIZE);
	buf_init(&p->err.line, &mem, LINE_MAX_ + READ_SIZE);
	buf_init(&p->out.bytes, &mem,
		 spec->output_max < SIZE_MAX / 2 ? spec->output_max : SIZE_MAX / 2);
	buf_init(&p->err.bytes, &mem, 2 * PROCESS_ERR_KEEP);
	buf_append(&p->input, spec->input.p, spec->input.n);
	p->timer = loop_timer_new(spec->loop, on_timeout, p);
	p->look = loop_timer_new(spec->loop, on_look, p);
	if (buf_status(&p->input) || !p->timer || !p->look) {
		destroy(p);
		return NULL;
	}
	return p;
}

/* What it enters before it is another program. */
struct entry {
	const struct limits *limits;
	const struct sandbox_pass *pass; /* NULL: no sandbox */
};

static int process_enter(const void *ctx)
{
	const struct entry *e = ctx;
	int error = limits_enter(e->limits);

	return error || !e->pass ? error : sandbox_enter(e->pass);
}

static int spawn(struct process *p, const struct process_spec *spec, cleat_error *err)
{
	struct child_options o = { .loop = spec->loop,
				   .mem = &p->mem,
				   .argv = spec->argv,
				   .cwd = spec->cwd,
				   .strays = true,
				   .merge_err = spec->merge_err,
				   .own_err = true,
				   .prepare = process_enter,
				   .prepare_what = spec->sandbox ? "cannot enter the sandbox"
								 : "cannot set its limits",
				   .exited = on_exited,
				   .ctx = p };
	struct sandbox_pass pass = { .rules = -1 };
	const struct entry entry = { &p->o.limits, spec->sandbox ? &pass : NULL };
	struct arena ar;
	int rc = CLEAT_OK;

	arena_init(&ar, &p->mem, 0);
	o.env = make_env(spec->env, &ar);
	if (!o.env)
		rc = process_no_memory(err);
	o.prepare_ctx = &entry;
	if (rc == CLEAT_OK && spec->sandbox)
		rc = sandbox_pass_new(spec->sandbox, &pass, err);
	if (rc == CLEAT_OK)
		rc = child_spawn(&o, &p->child, err);
	if (rc == CLEAT_EIO && spec->sandbox && err && err->os_errno == EACCES)
		error_set(err, rc, "%s (may the sandbox read it, and what it needs to run?)",
			  err->message);
	sandbox_pass_done(&pass);
	arena_done(&ar);
	return rc;
}

static int watch(struct process *p, struct stream *s, int fd)
{
	int rc = loop_watch_new(p->o.loop, fd, on_readable, s, &s->watch);

	if (rc)
		return rc;
	s->fd = fd;
	loop_watch_set(s->watch, LOOP_READ);
	return CLEAT_OK;
}

static int connect_pipes(struct process *p, cleat_error *err)
{
	int rc = watch(p, &p->out, child_out(p->child));

	if (rc == CLEAT_OK)
		rc = watch(p, &p->err, child_err(p->child));
	if (rc == CLEAT_OK && buf_size(&p->input) > 0)
		rc = loop_watch_new(p->o.loop, child_in(p->child), on_writable, p, &p->in_watch);
	if (rc == CLEAT_OK && buf_size(&p->input) > 0)
		rc = fd_look(&p->in, child_in(p->child), true, err);
	if (rc)
		return error_set(err, rc, "cannot start %s: %s", p->o.argv[0], cleat_strstatus(rc));
	write_input(p);
	return CLEAT_OK;
}

struct process *process_start(const struct process_spec *spec, cleat_error *err)
{
	struct process *p = new_process(spec);

	if (!p) {
		process_no_memory(err);
		return NULL;
	}
	if (spawn(p, spec, err) || connect_pipes(p, err)) {
		destroy(p);
		return NULL;
	}
	if (spec->timeout_ms)
		loop_timer_start(p->timer, spec->timeout_ms);
	if (spec->limits.memory || spec->limits.processes)
		loop_timer_start(p->look, LOOK_MS);
	return p;
}
