/* program/serve/command/command.c - a tool that runs a program: "cmd" or "sh" (source.h).
 *
 * The handler asks what is to be asked, and starts a job; what the program printed and how it ended become
 * the result. A program that fails is a result that the model can read (isError), never an error of the
 * protocol. Not here: how arguments reach the program (program.c), its turn and its end (job.c).
 */
#include "base/mem.h"
#include "serve/argument/inquiry.h"
#include "serve/command/exitmap.h"
#include "serve/command/job.h"
#include "serve/command/lines.h"
#include "serve/command/slips.h"
#include "serve/command/source.h"
#include "serve/kit/output.h"
#include "serve/kit/reqmem.h"
#include "serve/kit/tool.h"
#include "json/parse.h"

enum { COMMAND_ARENA_MAX = 4 << 20, ERROR_OUTPUT_MAX = 16 << 10, BEGINNING_MAX = 1000 };

struct command {
	struct jobs jobs; /* first: see job.h */
	cleat_allocator mem;
	struct arena arena;
	struct program *program;
	struct inquiry *question;
	struct output output;
	struct exitmap exits;
	struct lines lines;
	bool show_errors; /* stderr is part of an error */
};

struct call {
	struct command *c;
	const cleat_json *args;
	struct lines_state lines;
};

/* ---- the result --------------------------------------------------------------------------- */

/* What it printed before it failed: often the reason. The end of it, or a little of the beginning where it was
 * ended for printing too much. */
static void write_output(struct buf *out, const struct process_result *r)
{
	struct str s = output_chomp(r->out);

	if (!s.n)
		return;
	if (!output_is_text(s)) {
		buf_printf(out, "\n\n(%zu bytes of binary data)", s.n);
	} else if (r->ending == PROCESS_TOO_MUCH) {
		buf_appendz(out, "; its output begins:\n\n");
		output_write_text(out,
				  (struct str){ s.p, s.n < BEGINNING_MAX ? s.n : BEGINNING_MAX });
	} else if (s.n > ERROR_OUTPUT_MAX) {
		buf_appendz(out, "\n\n…");
		output_write_text(out,
				  (struct str){ s.p + s.n - ERROR_OUTPUT_MAX, ERROR_OUTPUT_MAX });
	} else {
		buf_appendz(out, "\n\n");
		output_write_text(out, s);
	}
}

static int reply_failure(struct command *c, cleat_request *req, const struct process_result *r)
{
	const cleat_allocator mem = reqmem(req);
	struct buf text;

	buf_init(&text, &mem, 1 << 20);
	job_write_ending(&text, c->program, r, c->show_errors);
	write_output(&text, r);
	buf_putc(&text, '\0');
	if (buf_status(&text))
		return buf_status(&text);
	return cleat_reply_error(req, "%s", buf_str(&text).p);
}

static int reply_output(struct call *call, cleat_request *req, const struct process_result *r)
{
	const struct command *c = call->c;
	struct buf text;
	int rc;

	if (!c->lines.progress)
		return output_reply(&c->output, req, program_name(c->program), r->out);
	buf_init(&text, &c->mem, r->out.n + 1);
	lines_write_result(&c->lines, &call->lines, &text, r->out);
	rc = buf_status(&text);
	if (!rc)
		rc = output_reply(&c->output, req, program_name(c->program), buf_str(&text));
	buf_done(&text);
	return rc;
}

static int reply_rule(const struct exit_rule *rule, struct call *call, cleat_request *req,
		      const struct process_result *r)
{
	const char *text = NULL;

	if (rule->text) {
		text = argtext_render(rule->text, req, call->args, NULL);
		if (!text)
			return CLEAT_OK;
	}
	switch (rule->meaning) {
	case EXIT_OK: return reply_output(call, req, r);
	case EXIT_TEXT: return cleat_reply_text(req, text);
	case EXIT_ERROR_TEXT: return cleat_reply_error(req, "%s", text);
	default: return reply_failure(call->c, req, r);
	}
}

/* ---- one call ----------------------------------------------------------------------------- */

static void command_on_line(cleat_request *req, void *ctx, bool is_err, struct str line)
{
	struct call *call = ctx;

	lines_tell(&call->c->lines, &call->lines, req, is_err, line);
}

static int command_on_done(cleat_request *req, void *ctx, const struct process_result *r)
{
	struct call *call = ctx;

	lines_flush(&call->lines, req);
	if (r->ending != PROCESS_EXITED)
		return reply_failure(call->c, req, r);
	return reply_rule(exitmap_find(&call->c->exits, r->status), call, req, r);
}

static int command_call(cleat_request *req)
{
	struct command *c = cleat_request_userdata(req);
	const struct job_hooks hooks = { .line = lines_wanted(&c->lines) ? command_on_line : NULL,
					 .done = command_on_done };
	struct call *call = cleat_request_alloc(req, sizeof *call);
	int rc;

	if (!call)
		return CLEAT_ENOMEM;
	call->c = c;
	rc = inquiry_ask(c->question, req, &call->args);
	return rc || !call->args ? rc
				 : job_start(&c->jobs, c->program, req, call->args, &hooks, call);
}

/* ---- reading the configuration ------------------------------------------------------------ */

static void command_free(void *userdata)
{
	struct command *c = userdata;
	cleat_allocator mem;

	if (!c)
		return;
	mem = c->mem;
	program_free(c->program);
	inquiry_free(c->question);
	output_done(&c->output);
	lines_done(&c->lines);
	arena_done(&c->arena);
	mem_free(&mem, c);
}

static bool command_read(struct command *c, struct draft *b, const cleat_json *node,
			 const cleat_tool *t)
{
	const cleat_json *names = tool_arguments(b, node, t);
	struct str errors = json_str(json_member(node, "stderr"));
	bool ok;

	c->program = program_new(b, node, NULL, names);
	ok = c->program;
	ok = output_read(&c->output, b, &c->arena, node, t) && ok;
	ok = exitmap_read(&c->exits, b, &c->arena, json_member(node, "exit"), names,
			  c->output.kind == OUTPUT_STRUCTURED) &&
	     ok;
	ok = lines_read(&c->lines, b, node) && ok;
	c->show_errors = !str_eqz(errors, "drop");
	if (ok && str_eqz(errors, "merge"))
		program_merge_errors(c->program);
	if (ok)
		slips_warn(b, node, names);
	return ok;
}

void source_command(struct draft *b, const char *name, const cleat_json *node)
{
	cleat_tool t;
	size_t before = conf_problems(b->conf);
	struct command *c;

	if (!tool_describe(b, name, node, &t))
		return;
	c = mem_zalloc(&b->rt->mem, sizeof *c);
	if (!c) {
		conf_problem(b->conf, node, "out of memory");
		return;
	}
	c->mem = b->rt->mem;
	arena_init(&c->arena, &c->mem, COMMAND_ARENA_MAX);
	c->question = inquiry_new(b, node, &t, false);
	if (command_read(c, b, node, &t) && conf_problems(b->conf) == before) {
		t.call = command_call;
		t.userdata = c;
		t.destroy = command_free;
		draft_tool(b, node, draft_recipe(b, node), &t);
		return;
	}
	if (conf_problems(b->conf) == before)
		conf_problem(b->conf, node, "out of memory");
	command_free(c);
}
