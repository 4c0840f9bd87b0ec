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

void on_line(void *ctx, bool is_err, struct str line);
void on_done(void *ctx, const struct process_result *result);
void run_begin(struct run *r);
void start(struct run *r, const char *const *argv);
void start_sh(struct run *r, const char *script);
void until_done(struct run *r);
void run_sh(struct run *r, const char *script);
void run_end(struct run *r);

#define RUN_TEST(name) TEST_ON(name, struct run, r, run_begin(r), run_end)

#endif
