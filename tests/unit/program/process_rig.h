/* process_rig.h - a process of cleat serve (program/serve/command/process.h) on a loop, and what it has told. */
#ifndef PROCESS_RIG_H
#define PROCESS_RIG_H

#include "serve/command/process.h"
#include "unit/child/child_support.h"

#include "base/buf.h"

struct run {
	cleat_loop *loop;
	struct process *process;
	struct process_spec spec;
	cleat_error err;
	unsigned done, lines;
	struct process_result result;
	char *out;
	size_t n_out;
	char said[3 * 8192 + 1];
	char text[8192]; /* lines: "out:...|err:...|" */
	size_t longest;
	unsigned cancel_at; /* this line cancels it */
};

static inline void on_line(void *ctx, bool is_err, struct str line)
{
	struct run *r = ctx;
	size_t n = strlen(r->text);

	assert_true(line.n <= 65536);
	if (line.n > r->longest)
		r->longest = line.n;
	snprintf(r->text + n, sizeof r->text - n, "%s:%.*s|", is_err ? "err" : "out",
		 (int)(line.n < 100 ? line.n : 100), line.p);
	if (++r->lines == r->cancel_at)
		process_cancel(r->process);
}

static inline void on_done(void *ctx, const struct process_result *result)
{
	struct run *r = ctx;

	r->done++;
	r->result = *result;
	r->out = malloc(result->out.n + 1);
	assert_non_null(r->out);
	memcpy(r->out, result->out.n ? result->out.p : "", result->out.n);
	r->out[result->out.n] = 0;
	r->n_out = result->out.n;
	assert_true(result->err.n < sizeof r->said);
	memcpy(r->said, result->err.n ? result->err.p : "", result->err.n);
	r->said[result->err.n] = 0;
	assert_int_equal(utf8_valid_prefix(result->err), result->err.n);
	assert_false(str_has_nul(result->err));
	r->process = NULL;
}

static inline void run_init(struct run *r)
{
	memset(r, 0, sizeof *r);
	r->loop = cleat_loop_new(NULL);
	assert_non_null(r->loop);
	r->spec = (struct process_spec){
		.loop = r->loop, .done = on_done, .ctx = r, .output_max = 1 << 20
	};
}

static inline void start(struct run *r, const char *const *argv)
{
	r->spec.argv = argv;
	r->process = process_start(&r->spec, &r->err);
	if (!r->process)
		fail_msg("%s", r->err.message);
	assert_int_equal(r->done, 0); /* never before it returns */
}

static inline void start_sh(struct run *r, const char *script)
{
	const char *argv[] = { "sh", "-c", script, NULL };

	start(r, argv);
}

static inline void until_done(struct run *r)
{
	UNTIL(r->loop, r->done > 0);
	assert_int_equal(r->done, 1);
}

static inline void run_sh(struct run *r, const char *script)
{
	start_sh(r, script);
	until_done(r);
}

static inline void run_done(struct run *r)
{
	assert_int_equal(cleat_loop_step(r->loop, 0), CLEAT_ECLOSED); /* nothing is attached */
	cleat_loop_free(r->loop);
	free(r->out);
	assert_true(no_children());
}

#define RUN_TEST(name) TEST_ON(name, struct run, r, run_init(r), run_done)

#endif
