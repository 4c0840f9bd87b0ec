/* test_child.c - the life of a child, what it says, and letting it go. (What it gets: test_child_start.c.)
 *
 * stdio transport, Shutdown: "First, closing the input stream to the child process; waiting for the
 * server to exit, or sending SIGTERM if the server does not exit within a reasonable time; sending
 * SIGKILL if the server does not exit within a reasonable time after SIGTERM."
 */
#include "child/lines.h"
#include "test.h"
#include "unit/child/child_rig.h"

/* ---- life --------------------------------------------------------------------------------- */

RIG_TEST(test_speaks_and_ends_with_its_input)
{
	spawn_sh(r, "echo ready >&2; cat; echo bye >&2; exit 3");
	say(r, "hello\n");
	read_until(r, "hello\n");
	child_stop(r->child);
	child_stop(r->child); /* does nothing */
	until_exit(r);
	assert_false(child_alive(r->child));
	assert_true(WIFEXITED(r->status));
	assert_int_equal(WEXITSTATUS(r->status), 3);
	assert_string_equal(r->said, "ready|bye|");
	assert_string_equal(child_last_words(r->child), "bye");
}

RIG_TEST(test_a_program_is_found_in_path)
{
	const char *const argv[] = { "sh", "-c", "echo \"$0 $1\"", "a  b", "$c", NULL };

	assert_int_equal(spawn(r, argv), CLEAT_OK);
	read_until(r, NULL);
	assert_string_equal(r->out, "a  b $c\n");
}

TEST(test_the_ending_in_words)
{
	char text[100];

	child_ending(3 << 8, text, sizeof text);
	assert_string_equal(text, "exited with status 3");
	child_ending(SIGKILL, text, sizeof text);
	assert_string_equal(text, "was killed by signal 9 (Killed)");
}

/* The child may end by any signal; the pipes may be held open by something else. */
TEST(test_its_exit_is_told_however_it_comes)
{
	static const struct {
		const char *script;
		int signal, status;
	} cases[] = {
		{ "exit 0", 0, 0 },
		{ "exit 255", 0, 255 },
		{ "kill -9 $$", SIGKILL, 0 },
		{ "kill -SEGV $$", SIGSEGV, 0 },
		{ "setsid sleep 1000 & echo $! >&2; exit 4", 0, 4 },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct rig r;
		int other;

		rig_init(&r);
		spawn_sh(&r, cases[i].script);
		until_exit(&r);
		if (cases[i].signal)
			assert_int_equal(WTERMSIG(r.status), cases[i].signal);
		else
			assert_int_equal(WEXITSTATUS(r.status), cases[i].status);
		other = atoi(r.said);
		if (other > 0)
			kill(other, SIGKILL);
		rig_done(&r);
	}
}

RIG_TEST(test_what_is_left_of_the_group_dies_with_it)
{
	int pids[2];

	spawn_sh(r, "sleep 1000 & echo $!; (trap '' TERM HUP; sleep 1000 & echo $!; wait) & "
		    "read x; exit 0");
	UNTIL_TRUE(read_more(r) && r->n > 0 && r->out[r->n - 1] == '\n' &&
		   sscanf(r->out, "%d %d\n", &pids[0], &pids[1]) == 2);
	child_stop(r->child);
	until_exit(r);
	assert_int_equal(r->status, 0);
	assert_int_equal(kill(pids[0], 0), -1); /* reaped, too */
	assert_int_equal(kill(pids[1], 0), -1);
}

TEST(test_letting_go_takes_as_much_force_as_it_needs)
{
	static const struct {
		const char *script;
		int signal;
	} cases[] = {
		{ "echo r; exec sleep 1000", SIGTERM },
		{ "trap 'exit 7' TERM; echo r; while :; do sleep 0.02; done", 0 },
		{ "trap '' TERM; echo r; while :; do sleep 0.02; done", SIGKILL },
		{ "echo r; kill -STOP $$", SIGTERM },
		{ "trap '' TERM; echo r; kill -STOP $$; while :; do sleep 0.02; done", SIGKILL },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct rig r;

		rig_init(&r);
		r.o.grace_ms = 60;
		spawn_sh(&r, cases[i].script);
		read_until(&r, "r\n");
		child_stop(r.child);
		until_exit(&r);
		if (cases[i].signal)
			assert_int_equal(WTERMSIG(r.status), cases[i].signal);
		else
			assert_int_equal(WEXITSTATUS(r.status), 7);
		rig_done(&r);
	}
}

/* One that waits for us to read could otherwise never end by itself. */
RIG_TEST(test_its_output_is_drained_when_asked)
{
	spawn_sh(r, "head -c 3000000 /dev/zero; head -c 300000 /dev/zero >&2; exit 5");
	child_stop(r->child);
	child_drain(r->child);
	until_exit(r);
	assert_int_equal(WEXITSTATUS(r->status), 5);
}

static bool has_exited(int pid)
{
	struct proc_look p;

	return look_at_process(pid, &p) && p.state == 'Z';
}

/* The guard is held up, so that it learns of the end first and leaves what it was told unread. */
RIG_TEST(test_an_exit_that_crosses_a_signal_keeps_its_status)
{
	struct proc_look p;
	uint64_t begin;

	r->o.grace_ms = 20;
	spawn_sh(r, "read x; exit 3");
	assert_true(look_at_process(child_pid(r->child), &p));
	kill(p.parent, SIGSTOP);
	child_stop(r->child);
	UNTIL_TRUE(has_exited(child_pid(r->child)));
	for (begin = loop_now(); loop_now() < begin + 200;) /* SIGTERM and SIGKILL are asked for */
		cleat_loop_step(r->loop, 10);
	kill(p.parent, SIGCONT);
	until_exit(r);
	assert_true(WIFEXITED(r->status));
	assert_int_equal(WEXITSTATUS(r->status), 3);
}

TEST(test_free_at_any_moment_leaves_nothing)
{
	static const char *const scripts[] = { "exit 1", "sleep 1000", "kill -STOP $$",
					       "trap '' TERM; while :; do echo x >&2; done" };

	for (size_t i = 0; i < 3 * CLEAT_COUNT(scripts); i++) {
		struct rig r;
		int pid;

		rig_init(&r);
		spawn_sh(&r, scripts[i / 3]);
		pid = child_pid(r.child);
		if (i % 3 > 0)
			cleat_loop_step(r.loop, 5);
		if (i % 3 > 1)
			child_stop(r.child);
		child_free(r.child);
		r.child = NULL;
		assert_int_equal(kill(pid, 0), -1);
		assert_true(r.exits == 0 || i % 3 > 0);
		rig_done(&r);
	}
}

TEST(test_free_from_inside_its_callbacks)
{
	for (int i = 0; i < 2; i++) {
		struct rig r;

		rig_init(&r);
		r.free_on_line = i == 0;
		r.free_on_exit = i == 1;
		spawn_sh(&r, "echo one >&2; echo two >&2; exit 1");
		UNTIL(r.loop, !r.child);
		assert_string_equal(r.said, i == 0 ? "one|" : "one|two|");
		assert_int_equal(r.exits, i);
		rig_done(&r);
	}
}

/* ---- stderr ------------------------------------------------------------------------------- */

static void collect_line(void *ctx, const char *line)
{
	char *to = ctx;
	size_t n = strlen(to);

	snprintf(to + n, 65536 - n, "%s|", line);
}

TEST(test_lines_are_made_harmless)
{
	static const struct {
		const char *bytes, *lines, *words;
	} cases[] = {
		{ "one\ntwo\r\n\nthree", "one|two||three|", "three" },
		{ "\x1b[31mred\x07\x7f\n", "?[31mred??|", "?[31mred??" },
		{ "tab\tbed\n", "tab bed|", "tab bed" },
		{ "\xc3\xa4 \xff \xc2\x9b"
		  "x \xe2\x82\n",
		  "\xc3\xa4 ? ??x ??|", NULL },
		{ "Error: cannot find it\n    at x\n\nNode.js v1\n",
		  "Error: cannot find it|    at x||Node.js v1|", "Error: cannot find it" },
		{ "first error: a\nsecond ERROR: b\nlast\n", "first error: a|second ERROR: b|last|",
		  "second ERROR: b" },
		{ "a\xe2\x80\xae"
		  "b\xc2\xa0"
		  "c\n",
		  "a???b\xc2\xa0"
		  "c|",
		  NULL },
		{ "", "", "" },
		{ "   \n  x\n   \n", "   |  x|   |", "x" },
	};
	static char got[65536];

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		for (size_t step = 1; step < 4; step++) {
			size_t n = strlen(cases[i].bytes);
			struct child_lines l;

			got[0] = 0;
			child_lines_init(&l, collect_line, got);
			for (size_t at = 0; at < n; at += step)
				child_lines_feed(&l, cases[i].bytes + at,
						 n - at < step ? n - at : step, 1);
			child_lines_end(&l, 1);
			assert_string_equal(got, cases[i].lines);
			if (cases[i].words)
				assert_string_equal(l.words, cases[i].words);
		}
	}
}

TEST(test_a_line_of_any_length_is_cut)
{
	static char got[65536], line[3 * CHILD_LINE_MAX];
	struct child_lines l;

	for (size_t n = CHILD_LINE_MAX - 2; n < sizeof line;
	     n += n < CHILD_LINE_MAX + 3 ? 1 : 5000) {
		size_t want = n < CHILD_LINE_MAX ? n : CHILD_LINE_MAX;

		memset(line, 'x', n);
		got[0] = 0;
		child_lines_init(&l, collect_line, got);
		child_lines_feed(&l, line, n / 3, 1);
		child_lines_feed(&l, line + n / 3, n - n / 3, 1);
		child_lines_feed(&l, "\nnext\n", 6, 1);
		assert_int_equal(strlen(got), want + 1 + 5);
		assert_string_equal(got + want, "|next|");
	}
}

TEST(test_more_than_200_lines_a_second_are_counted_only)
{
	static char got[65536];
	struct child_lines l;

	got[0] = 0;
	child_lines_init(&l, collect_line, got);
	for (int i = 0; i < 1000; i++)
		child_lines_feed(&l, "x\n", 2, 5000 + (uint64_t)i / 2);
	assert_int_equal(strlen(got), 2 * 200);
	assert_int_equal(child_lines_tell(&l, 5500, false), 500);
	assert_int_equal(child_lines_tell(&l, 6000, false), 0);
	assert_string_equal(got + 400, "(800 more lines were left out)|");
	child_lines_feed(&l, "y\n", 2, 6001);
	assert_non_null(strstr(got, "|y|"));
	assert_int_equal(child_lines_tell(&l, 9000, true), 0); /* nothing to tell */
	child_lines_end(&l, 9000);
	assert_string_equal(got + strlen(got) - 3, "|y|");
}

RIG_TEST(test_a_child_that_floods_stderr_neither_waits_nor_hurts)
{
	unsigned sum = 0, shown = 0;

	spawn_sh(r, "yes abc | head -n 100000 >&2; echo 'Error: it broke' >&2; echo end >&2");
	until_exit(r);
	for (char *p = strtok(r->said, "|"); p; p = strtok(NULL, "|")) {
		unsigned n = 1;

		sum += sscanf(p, "(%u more", &n) == 1 ? n : 1;
		shown++;
	}
	/* said[] is too short for more, but not for what one second may say */
	assert_true(shown >= 200);
	assert_true(r->lines <= 202 + 201 * PATIENCE_MS / 1000);
	if (r->lines <= 202)
		assert_int_equal(sum, 100002);
	assert_string_equal(child_last_words(r->child), "Error: it broke");
}

RIG_TEST(test_stderr_that_nobody_wants_is_read)
{
	r->o.err_line = NULL;
	spawn_sh(r, "yes abc | head -n 100000 >&2; echo last >&2; exit 6");
	until_exit(r);
	assert_int_equal(WEXITSTATUS(r->status), 6);
	assert_string_equal(child_last_words(r->child), "last");
}

/* ---- memory ------------------------------------------------------------------------------- */

TEST(test_every_allocation_may_fail)
{
	static const char *const env[] = { "A=1", "HOME", NULL };
	const char *const argv[] = { "sh", "-c", "exit 0", NULL };

	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct rig r;
		int rc;

		rig_init(&r);
		r.o.mem = &fa.hook;
		r.o.env = env;
		rc = spawn(&r, argv);
		assert_int_equal(rc, fail_alloc_hit(&fa) ? CLEAT_ENOMEM : CLEAT_OK);
		if (rc == CLEAT_OK)
			until_exit(&r);
		rig_done(&r);
	}
}
