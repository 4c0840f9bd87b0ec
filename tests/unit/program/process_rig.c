/* process_rig.c - see process_rig.h. */
#include "unit/program/process_rig.h"

void on_line(void *ctx, bool is_err, struct str line)
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

void on_done(void *ctx, const struct process_result *result)
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

void run_begin(struct run *r)
{
	memset(r, 0, sizeof *r);
	r->loop = cleat_loop_new(NULL);
	assert_non_null(r->loop);
	r->spec = (struct process_spec){
		.loop = r->loop, .done = on_done, .ctx = r, .output_max = 1 << 20
	};
}

void start(struct run *r, const char *const *argv)
{
	r->spec.argv = argv;
	r->process = process_start(&r->spec, &r->err);
	if (!r->process)
		fail_msg("%s", r->err.message);
	assert_int_equal(r->done, 0); /* never before it returns */
}

void start_sh(struct run *r, const char *script)
{
	const char *argv[] = { "sh", "-c", script, NULL };

	start(r, argv);
}

void until_done(struct run *r)
{
	UNTIL(r->loop, r->done > 0);
	assert_int_equal(r->done, 1);
}

void run_sh(struct run *r, const char *script)
{
	start_sh(r, script);
	until_done(r);
}

void run_end(struct run *r)
{
	assert_int_equal(cleat_loop_step(r->loop, 0), CLEAT_ECLOSED); /* nothing is attached */
	cleat_loop_free(r->loop);
	free(r->out);
	assert_true(no_children());
}
