/* test_child_options.c - what commands ask of a child beyond what servers do: a call before exec, stderr
 * of one's own or together with stdout, an end at once, and nobody left behind in another session.
 */
#include "test.h"
#include "unit/child/child_rig.h"

#include <sys/stat.h>

/* ---- before exec -------------------------------------------------------------------------- */

static int prepared(const void *ctx)
{
	umask(*(const mode_t *)ctx);
	return 0;
}

static int unable(const void *ctx)
{
	return *(const int *)ctx;
}

TEST(test_a_call_before_exec)
{
	const char *const argv[] = { "sh", "-c", "umask", NULL };
	const mode_t mask = 0123;
	struct rig r;

	rig_init(&r);
	r.o.prepare = prepared;
	r.o.prepare_ctx = &mask;
	assert_int_equal(spawn(&r, argv), CLEAT_OK);
	read_until(&r, NULL);
	assert_string_equal(r.out, "0123\n");
	rig_done(&r);
	assert_int_not_equal(umask(022), 0123); /* not ours */
}

RIG_TEST(test_a_call_that_fails_is_why_it_is_not_started)
{
	const char *const argv[] = { "sh", "-c", "echo ran", NULL };
	const int error = ENOSYS;
	size_t fds;

	fds = open_fds();
	r->o.prepare = unable;
	r->o.prepare_ctx = &error;
	r->o.prepare_what = "cannot enter the sandbox";
	assert_int_equal(spawn(r, argv), CLEAT_EIO);
	assert_string_equal(r->err.message,
			    "cannot start sh: cannot enter the sandbox: Function not implemented");
	assert_int_equal(r->err.os_errno, ENOSYS);
	assert_int_equal(open_fds(), fds);
}

/* A descriptor above 15 that is there at the call, and not in the program. */
static int has_descriptor(const void *ctx)
{
	return fcntl(*(const int *)ctx, F_GETFD) < 0 ? errno : 0;
}

TEST(test_descriptors_are_there_before_exec_and_gone_after)
{
	const char *argv[] = { myself(), "--play", "fds", NULL };
	int pipe_fds[2], fd;
	struct rig r;

	assert_int_equal(pipe(pipe_fds), 0);
	fd = fcntl(pipe_fds[0], F_DUPFD, 16); /* not even close-on-exec */
	rig_init(&r);
	r.o.prepare = has_descriptor;
	r.o.prepare_ctx = &fd;
	r.o.prepare_what = "look";
	assert_int_equal(spawn(&r, argv), CLEAT_OK);
	read_until(&r, NULL);
	assert_string_equal(r.out, "0 1 2 \n");
	rig_done(&r);
	close(fd);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

/* ---- stderr ------------------------------------------------------------------------------- */

RIG_TEST(test_stderr_can_be_the_same_stream)
{
	r->o.merge_err = true;
	spawn_sh(r, "echo a; echo b >&2; echo c");
	read_until(r, NULL);
	assert_string_equal(r->out, "a\nb\nc\n");
	until_exit(r);
	assert_int_equal(r->lines, 0);
}

RIG_TEST(test_stderr_can_be_read_by_somebody_else_also_after_the_end)
{
	char buf[16];

	r->o.own_err = true;
	spawn_sh(r, "echo said >&2; exit 3");
	until_exit(r);
	assert_int_equal(r->lines, 0);
	assert_int_equal(read(child_err(r->child), buf, sizeof buf), 5);
	assert_memory_equal(buf, "said\n", 5);
	assert_int_equal(read(child_err(r->child), buf, sizeof buf), 0);
}

/* ---- its end ------------------------------------------------------------------------------ */

RIG_TEST(test_the_end_of_input_alone_ends_nothing)
{
	r->o.grace_ms = 20;
	spawn_sh(r, "cat; echo after; exec sleep 1000");
	child_end_input(r->child);
	child_end_input(r->child);
	assert_int_equal(child_in(r->child), -1);
	read_until(r, "after\n");
	for (uint64_t begin = loop_now(); loop_now() < begin + 100;) /* no signal comes */
		cleat_loop_step(r->loop, 10);
	assert_int_equal(r->exits, 0);
	child_stop(r->child); /* this still lets it go */
	until_exit(r);
	assert_int_equal(WTERMSIG(r->status), SIGTERM);
}

TEST(test_terminating_does_not_wait_for_the_end_of_input)
{
	static const struct {
		const char *script;
		int signal;
		bool stop_first;
	} cases[] = {
		{ "echo r; exec sleep 1000", SIGTERM, false },
		{ "echo r; exec sleep 1000", SIGTERM, true },
		{ "trap '' TERM; echo r; while :; do sleep 0.02; done", SIGKILL, false },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		uint64_t begin = loop_now();
		struct rig r;

		rig_init(&r);
		r.o.grace_ms = cases[i].signal == SIGKILL ? 50 : 60000;
		spawn_sh(&r, cases[i].script);
		read_until(&r, "r\n");
		if (cases[i].stop_first)
			child_stop(r.child);
		child_terminate(r.child);
		child_terminate(r.child);
		until_exit(&r);
		assert_int_equal(WTERMSIG(r.status), cases[i].signal);
		assert_true(loop_now() - begin < 30000); /* no grace was waited for */
		child_terminate(r.child);                /* does nothing */
		rig_done(&r);
	}
}

/* What has gone to another session lives on, unless it is asked for. */
TEST(test_strays)
{
	for (int strays = 0; strays < 2; strays++) {
		struct rig r;
		int pid;

		rig_init(&r);
		r.o.strays = strays;
		spawn_sh(&r, "setsid sh -c 'sleep 1000 </dev/null >/dev/null 2>&1 & echo $!'");
		until_exit(&r);
		read_until(&r, "\n");
		pid = atoi(r.out);
		assert_true(pid > 1);
		assert_int_equal(gone(pid), strays);
		kill(pid, SIGKILL);
		rig_done(&r);
	}
}
