/* program/serve/command/job.c - running a program for a request (job.h).
 *
 * A job is memory of its request, linked into its entry's list from job_start() until the request is
 * finished. A request that is cancelled is finished when its process is gone, not before: so what the process
 * uses (the program, its sandbox, the entry) is there as long as it needs it.
 */
#include "serve/command/job.h"

#include "base/error.h"
#include "child/child.h"
#include "serve/kit/gate.h"
#include "serve/kit/reqmem.h"
#include "serve/kit/tool.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

/* Lines of standard error that an error has. */
enum { ERRORS_FIRST = 3, ERRORS_LAST = 10 };

struct job {
	struct job *next, *next_of_all;
	struct jobs *jobs;
	const struct program *program;
	cleat_request *req;
	struct job_hooks hooks;
	void *ctx;
	const cleat_json *args;
	struct process *process; /* NULL: waits for its turn */
	bool ended;              /* it must not be cancelled any more */
};

/* ---- the list ----------------------------------------------------------------------------- */

static void link_job(struct job *j)
{
	struct runtime *rt = program_runtime(j->program);

	j->next = j->jobs->first;
	j->jobs->first = j;
	j->next_of_all = rt->jobs;
	rt->jobs = j;
}

static void unlink_job(struct job *j)
{
	struct job **p = &j->jobs->first;

	while (*p && *p != j)
		p = &(*p)->next;
	if (*p)
		*p = j->next;
	p = &program_runtime(j->program)->jobs;
	while (*p && *p != j)
		p = &(*p)->next_of_all;
	if (*p)
		*p = j->next_of_all;
}

/* ---- running ------------------------------------------------------------------------------ */

static void job_finish(struct job *j, int status)
{
	cleat_request *req = j->req;
	struct gate *gate = program_gate(j->program);

	unlink_job(j);
	cleat_request_on_cancel(req, NULL);
	/* The next one first: with the last request its entry may go, and the gate with it. */
	gate_leave(gate);
	cleat_request_finish(req, status);
}

static void job_on_line(void *ctx, bool is_err, struct str line)
{
	struct job *j = ctx;

	j->hooks.line(j->req, j->ctx, is_err, line);
}

static void job_on_done(void *ctx, const struct process_result *r)
{
	struct job *j = ctx;

	j->ended = true;
	job_finish(j, r->ending == PROCESS_CANCELLED ? CLEAT_ECANCELLED
						     : j->hooks.done(j->req, j->ctx, r));
}

/* `value`: something that the client has sent cannot be given. A tool's result says so; elsewhere the request
 * itself is wrong. */
static int job_refuse(struct job *j, const char *why, bool value)
{
	if (j->hooks.refused)
		return j->hooks.refused(j->req, j->ctx, why);
	if (value && strcmp(cleat_request_method(j->req), "tools/call") != 0)
		return cleat_reply_reject(j->req, CLEAT_RPC_INVALID_PARAMS, "%s", why);
	return cleat_reply_error(j->req, "%s", why);
}

/* What it is given is made now, not when it began to wait: those that wait cost nothing more than their
 * request. */
static void job_run(cleat_request *req, void *ctx)
{
	const cleat_allocator mem = reqmem(req);
	struct job *j = ctx;
	cleat_error err = { .status = CLEAT_OK };
	struct process_spec spec;
	struct arena ar;

	arena_init(&ar, &mem, SIZE_MAX);
	if (program_prepare(j->program, j->args, &ar, &spec, &err)) {
		job_finish(j, job_refuse(j, err.message, err.status != CLEAT_ENOMEM));
		return;
	}
	spec.line = j->hooks.line ? job_on_line : NULL;
	spec.done = job_on_done;
	spec.ctx = j;
	j->process = process_start(&spec, &err);
	if (!j->process)
		job_finish(j, job_refuse(j,
					 err.os_errno == E2BIG
						 ? "the arguments are too long for a command line; "
						   "longer values need \"stdin\""
						 : err.message,
					 err.os_errno == E2BIG));
}

static void on_cancel(cleat_request *req)
{
	struct jobs *jobs = cleat_request_userdata(req);
	struct job *j = jobs->first;

	while (j && j->req != req)
		j = j->next;
	if (!j || j->ended)
		return;
	if (j->process) {
		process_cancel(j->process);
		return;
	}
	unlink_job(j);
	gate_cancel(program_gate(j->program), req);
}

/* Their ends come from the loop: the list does not change here. */
void jobs_hurry(struct runtime *rt)
{
	for (struct job *j = rt->jobs; j; j = j->next_of_all)
		if (j->process && !j->ended)
			process_hurry(j->process);
}

int job_start(struct jobs *jobs, const struct program *p, cleat_request *req,
	      const cleat_json *args, const struct job_hooks *hooks, void *ctx)
{
	struct job *j = cleat_request_alloc(req, sizeof *j);
	int rc;

	if (!j)
		return CLEAT_ENOMEM;
	*j = (struct job){
		.jobs = jobs, .program = p, .req = req, .hooks = *hooks, .ctx = ctx, .args = args
	};
	link_job(j);
	cleat_request_on_cancel(req, on_cancel);
	rc = gate_enter(program_gate(p), req, job_run, j);
	if (rc != CLEAT_PENDING) {
		unlink_job(j);
		cleat_request_on_cancel(req, NULL);
	}
	return rc;
}

/* ---- words -------------------------------------------------------------------------------- */

static void write_duration(struct buf *out, uint64_t ms)
{
	if (ms % 1000)
		buf_printf(out, "%llu ms", (unsigned long long)ms);
	else if (ms % 60000)
		buf_printf(out, "%llu s", (unsigned long long)ms / 1000);
	else
		buf_printf(out, "%llu min", (unsigned long long)ms / 60000);
}

static void write_size(struct buf *out, uint64_t n)
{
	static const char *const units[] = { "bytes", "KB", "MB", "GB" };
	size_t i = 0;

	while (n && n % 1024 == 0 && i + 1 < CLEAT_COUNT(units)) {
		n /= 1024;
		i++;
	}
	buf_printf(out, "%llu %s", (unsigned long long)n, units[i]);
}

/* Without blanks and line ends at its end. */
static struct str trimmed(struct str s)
{
	while (s.n && (s.p[s.n - 1] == '\n' || s.p[s.n - 1] == '\r' || s.p[s.n - 1] == ' '))
		s.n--;
	return s;
}

/* How many bytes the first n lines have, with their ends. */
static size_t first_lines(struct str s, size_t n)
{
	size_t i = 0;

	while (i < s.n && n)
		n -= s.p[i++] == '\n';
	return i;
}

/* Where the last n lines begin. */
static size_t last_lines(struct str s, size_t n)
{
	size_t i = s.n;

	while (i && !(s.p[i - 1] == '\n' && --n == 0))
		i--;
	return i;
}

/* Some programs say first what is wrong, and then how they are used; others end with it. `cut`: its beginning is
 * not there any more. */
static void write_errors(struct buf *out, struct str s, bool cut)
{
	size_t first = cut ? 0 : first_lines(s, ERRORS_FIRST), last = last_lines(s, ERRORS_LAST);

	if (!cut && first_lines(s, ERRORS_FIRST + 1) >= last) { /* nothing worth leaving out */
		buf_append(out, s.p, s.n);
		return;
	}
	buf_append(out, s.p, first);
	buf_appendz(out, "…\n");
	buf_append(out, s.p + last, s.n - last);
}

static bool has(struct str s, const char *words)
{
	size_t n = strlen(words);

	for (size_t i = 0; i + n <= s.n; i++)
		if (memcmp(s.p + i, words, n) == 0)
			return true;
	return false;
}

/* The signal that ended it, also where a shell tells it by its own status. */
static int signal_of(const struct process_result *r)
{
	return r->ending == PROCESS_EXITED && r->status > 128 ? r->status - 128 : r->status;
}

/* Which limit it has met. What the kernel says is sure; what a program prints is a guess. */
static void write_limit(struct buf *out, const struct limits *l, const struct process_result *r)
{
	int sig = signal_of(r);

	if (r->ending == PROCESS_EXITED && r->status == 0)
		return;
	if (l->cpu_s && sig == SIGXCPU) {
		buf_appendz(out, ": it used more than ");
		write_duration(out, l->cpu_s * 1000);
		buf_appendz(out, " of processor time");
	} else if (l->file_size && sig == SIGXFSZ) {
		buf_appendz(out, ": a file would have become larger than ");
		write_size(out, l->file_size);
	} else if (l->file_size && has(r->err, "File too large")) {
		buf_appendz(out, " (a file that it writes may be up to ");
		write_size(out, l->file_size);
		buf_putc(out, ')');
	} else if (l->open_files && has(r->err, "Too many open files")) {
		buf_printf(out, " (it may have %u files open)", l->open_files);
	} else if (l->memory && (has(r->err, "emory") || has(r->err, "bad_alloc"))) {
		buf_appendz(out, " (it may have ");
		write_size(out, l->memory);
		buf_appendz(out, " of memory)");
	}
}

void job_write_ending(struct buf *out, const struct program *p, const struct process_result *r,
		      bool with_stderr)
{
	struct tool_limits limits = program_limits(p);
	struct str said = with_stderr ? trimmed(r->err) : (struct str){ NULL, 0 };
	char words[80];

	buf_appendz(out, program_name(p));
	switch (r->ending) {
	case PROCESS_EXITED:
	case PROCESS_KILLED:
		child_ending(r->ending == PROCESS_EXITED ? r->status << 8 : r->status, words,
			     sizeof words);
		buf_printf(out, " %s", words);
		write_limit(out, program_bounds(p), r);
		break;
	case PROCESS_TIMED_OUT:
		buf_appendz(out, " timed out after ");
		write_duration(out, limits.timeout_ms);
		buf_appendz(out, " and was ended");
		break;
	case PROCESS_TOO_MUCH:
		buf_appendz(out, " printed more than ");
		write_size(out, limits.output_max);
		buf_appendz(out, " and was ended");
		break;
	case PROCESS_CANCELLED: buf_appendz(out, " was cancelled"); break;
	case PROCESS_NO_MEMORY: buf_appendz(out, " was ended: no memory for its output"); break;
	case PROCESS_TOO_LARGE:
		buf_appendz(out, " took more than ");
		write_size(out, program_bounds(p)->memory);
		buf_appendz(out, " of memory, with all that it had started, and was ended");
		break;
	case PROCESS_TOO_MANY:
		buf_printf(out, " had more than %u processes and was ended",
			   program_bounds(p)->processes);
		break;
	}
	if (!said.n)
		return;
	buf_appendz(out, memchr(said.p, '\n', said.n) ? ":\n" : ": ");
	write_errors(out, said, r->err.n + 3 >= PROCESS_ERR_KEEP); /* up to a whole character */
}
