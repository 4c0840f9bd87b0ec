/* test_serve_process.c - a command that is run to its end: input, output, lines, limits, and programs that
 * fork, flood, hang, leave their group or do not listen.
 */
#include "test.h"
#include "unit/program/process_rig.h"

#include <dirent.h>
#include <sys/resource.h>

/* ---- a life ------------------------------------------------------------------------------- */

TEST(test_its_output_and_how_it_ended_are_told)
{
	static const struct {
		const char *script, *out, *err;
		enum process_ending ending;
		int status;
	} cases[] = {
		{ "echo hello", "hello\n", "", PROCESS_EXITED, 0 },
		{ "echo no >&2; exit 3", "", "no\n", PROCESS_EXITED, 3 },
		{ "printf x; kill -9 $$", "x", "", PROCESS_KILLED, 9 },
		{ "kill -TERM $$", "", "", PROCESS_KILLED, 15 },
		{ "exec 1>&-; exit 2", "", "", PROCESS_EXITED, 2 },
		{ "exec 1>&- 2>&-; sleep 0.1; exit 4", "", "", PROCESS_EXITED, 4 },
		{ "cat", "", "", PROCESS_EXITED, 0 }, /* its input ends at once */
		{ "printf '\\377\\300\\200 \\355\\240\\200' >&2", "",
		  "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD",
		  PROCESS_EXITED, 0 },
		{ "printf 'a\\000b' >&2", "",
		  "a\xEF\xBF\xBD"
		  "b",
		  PROCESS_EXITED, 0 },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct run r;

		run_begin(&r);
		run_sh(&r, cases[i].script);
		assert_string_equal(r.out, cases[i].out);
		assert_string_equal(r.said, cases[i].err);
		assert_int_equal(r.result.ending, cases[i].ending);
		assert_int_equal(r.result.status, cases[i].status);
		run_end(&r);
	}
}

RUN_TEST(test_any_bytes_come_out_as_they_are)
{
	run_sh(r, "printf 'a\\000\\377\\nb'");
	assert_int_equal(r->n_out, 5);
	assert_memory_equal(r->out, "a\0\xFF\nb", 5);
}

TEST(test_arguments_environment_and_directory)
{
	const char *const argv[] = {
		"/bin/sh",
		"-c",
		"printf '%s|' \"$@\" \"$A\" \"$EMPTY\" \"$SECRET\" \"$TZ\"; pwd",
		"sh",
		"a  b",
		"$(touch /tmp/no)",
		"",
		"'; exit 1",
		NULL
	};
	const char *const env[] = { "A=1 2", "EMPTY=", NULL };
	struct run r;

	setenv("SECRET", "x", 1);
	setenv("TZ", "UTC", 1);
	run_begin(&r);
	r.spec.env = env;
	r.spec.cwd = "/usr";
	start(&r, argv);
	until_done(&r);
	assert_string_equal(r.out, "a  b|$(touch /tmp/no)||'; exit 1|1 2|||UTC|/usr\n");
	run_end(&r);
}

RUN_TEST(test_one_stream_where_it_is_wanted_in_the_right_order)
{
	r->spec.merge_err = true;
	run_sh(r, "echo a; echo b >&2; echo c; echo d >&2");
	assert_string_equal(r->out, "a\nb\nc\nd\n");
	assert_string_equal(r->said, "");
}

TEST(test_what_cannot_be_started_says_why)
{
	static const struct {
		const char *program, *cwd, *says;
	} cases[] = {
		{ "no-such-program", NULL,
		  "cannot start no-such-program: there is no such program in PATH" },
		{ "/no/such", NULL, "cannot start /no/such: No such file or directory" },
		{ "/etc/passwd", NULL, "cannot start /etc/passwd: Permission denied" },
		{ "sh", "/no/such",
		  "cannot start sh: directory /no/such: No such file or directory" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		const char *const argv[] = { cases[i].program, NULL };
		struct run r;

		run_begin(&r);
		r.spec.argv = argv;
		r.spec.cwd = cases[i].cwd;
		assert_null(process_start(&r.spec, &r.err));
		assert_string_equal(r.err.message, cases[i].says);
		assert_int_equal(r.done, 0);
		run_end(&r);
	}
}

/* ---- input -------------------------------------------------------------------------------- */

enum { INPUT = 10 << 20 };

static char *much_input(void)
{
	char *p = malloc(INPUT);

	assert_non_null(p);
	for (size_t i = 0; i < INPUT; i++)
		p[i] = (char)(i * 31 + i / 251);
	return p;
}

TEST(test_ten_megabytes_go_in_and_come_out)
{
	char *input = much_input();
	struct run r;

	run_begin(&r);
	r.spec.input = (struct str){ input, INPUT };
	r.spec.output_max = INPUT;
	run_sh(&r, "cat");
	assert_int_equal(r.result.ending, PROCESS_EXITED);
	assert_int_equal(r.n_out, INPUT);
	assert_memory_equal(r.out, input, INPUT);
	run_end(&r);
	free(input);
}

/* No SIGPIPE for us, whatever its disposition is. */
TEST(test_input_that_nobody_reads)
{
	static const char *const scripts[] = {
		"exit 5",                            /* ends while we write */
		"exec <&-; sleep 0.1; exit 5",       /* closes it */
		"head -c 100000 >/dev/null; exit 5", /* reads some */
		"sleep 0.2; exit 5",                 /* never reads */
	};
	char *input = much_input();

	signal(SIGPIPE, SIG_DFL);
	for (size_t i = 0; i < CLEAT_COUNT(scripts); i++) {
		struct run r;

		run_begin(&r);
		r.spec.input = (struct str){ input, INPUT };
		run_sh(&r, scripts[i]);
		assert_int_equal(r.result.ending, PROCESS_EXITED);
		assert_int_equal(r.result.status, 5);
		run_end(&r);
	}
	free(input);
}

/* ---- lines -------------------------------------------------------------------------------- */

TEST(test_lines_come_one_by_one)
{
	static const struct {
		const char *script, *lines;
	} cases[] = {
		{ "echo a; echo; printf 'b\\r\\nc'", "out:a|out:|out:b|out:c|" },
		{ "printf a; sleep 0.05; printf 'b\\nc\\n'", "out:ab|out:c|" },
		{ "echo x >&2; printf end >&2", "err:x|err:end|" },
		{ ":", "" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct run r;

		run_begin(&r);
		r.spec.line = on_line;
		run_sh(&r, cases[i].script);
		assert_string_equal(r.text, cases[i].lines);
		run_end(&r);
	}
}

TEST(test_lines_are_collected_too_unless_not_wanted)
{
	for (int no_collect = 0; no_collect < 2; no_collect++) {
		struct run r;

		run_begin(&r);
		r.spec.line = on_line;
		r.spec.no_collect = no_collect;
		run_sh(&r, "seq 3");
		assert_string_equal(r.text, "out:1|out:2|out:3|");
		assert_string_equal(r.out, no_collect ? "" : "1\n2\n3\n");
		run_end(&r);
	}
}

RUN_TEST(test_a_line_that_is_too_long_is_cut)
{
	r->spec.line = on_line;
	run_sh(r, "head -c 300000 /dev/zero | tr '\\000' x; echo; echo next; "
		  "head -c 65536 /dev/zero | tr '\\000' y; echo; printf z");
	assert_int_equal(r->lines, 4);
	assert_int_equal(r->longest, 65536);
	assert_non_null(strstr(r->text, "|out:next|out:yyy"));
	assert_non_null(strstr(r->text, "y|out:z|"));
	assert_int_equal(r->n_out, 300000 + 1 + 5 + 65536 + 2);
}

/* ---- limits ------------------------------------------------------------------------------- */

TEST(test_too_much_output_ends_it)
{
	static const struct {
		const char *script;
		bool lines, no_collect;
	} cases[] = {
		{ "exec yes", false, false },
		{ "yes & yes & wait", false, false },
		{ "trap '' TERM; yes", true, false },
		{ "exec yes", true, true },
		{ "head -c 100001 /dev/zero", false, false },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct run r;

		run_begin(&r);
		r.spec.output_max = 100000;
		r.spec.line = cases[i].lines ? on_line : NULL;
		r.spec.no_collect = cases[i].no_collect;
		run_sh(&r, cases[i].script);
		assert_int_equal(r.result.ending, PROCESS_TOO_MUCH);
		assert_int_equal(r.n_out, cases[i].no_collect ? 0 : 100000);
		run_end(&r);
	}
}

RUN_TEST(test_output_of_exactly_the_limit_is_not_too_much)
{
	r->spec.output_max = 100000;
	run_sh(r, "head -c 100000 /dev/zero");
	assert_int_equal(r->result.ending, PROCESS_EXITED);
	assert_int_equal(r->n_out, 100000);
}

RUN_TEST(test_stderr_may_be_flooded_and_its_end_is_kept)
{
	run_sh(r, "yes 0123456789 | head -c 5000000 >&2; echo; echo 'the end' >&2");
	assert_int_equal(r->result.ending, PROCESS_EXITED);
	assert_int_equal(strlen(r->said), 8192);
	assert_string_equal(r->said + 8192 - 8, "the end\n");
}

/* The cut may go through a character: what is left of it is not shown as broken. */
RUN_TEST(test_the_tail_of_stderr_begins_with_a_whole_character)
{
	run_sh(r, "i=0; while [ $i -lt 5000 ]; do printf '\\342\\202\\254'; i=$((i+1)); done >&2");
	assert_int_equal(strlen(r->said), 8190); /* 2,730 of three bytes */
	assert_memory_equal(r->said, "\xE2\x82\xAC", 3);
}

/* Runs what has to have said something before its time is over: on a busy machine it gets more of it. The limit,
 * in milliseconds. */
static unsigned run_out_of_time(struct run *r, const char *script)
{
	for (unsigned ms = 100;; ms *= 4) {
		run_begin(r);
		r->spec.timeout_ms = ms;
		run_sh(r, script);
		assert_int_equal(r->result.ending, PROCESS_TIMED_OUT);
		if (*r->out || ms > 10000)
			return ms;
		run_end(r);
	}
}

TEST(test_time_ends_it)
{
	static const struct {
		const char *script;
		int status;
	} cases[] = {
		{ "echo r; exec sleep 1000", SIGTERM },
		{ "sleep 1000 & sleep 1000 & echo r; wait", SIGTERM },
		{ "trap 'echo sorry >&2; exit 7' TERM; echo r; while :; do sleep 0.01; done", 7 },
		{ "trap '' TERM; echo r; while :; do sleep 0.02; done", SIGKILL },
		{ "echo r; kill -STOP $$", SIGTERM },
		{ "echo r; exec 1>&- 2>&- 0<&-; exec sleep 1000", SIGTERM },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct run r;
		uint64_t begin = loop_now();
		unsigned limit = run_out_of_time(&r, cases[i].script);

		assert_string_equal(r.out, "r\n");
		assert_int_equal(r.result.status, cases[i].status);
		assert_true(loop_now() - begin >= limit);
		if (cases[i].status == SIGKILL)
			assert_true(loop_now() - begin >= 2000); /* it had time to end by itself */
		if (cases[i].status == 7)
			assert_non_null(strstr(r.said, "sorry\n"));
		run_end(&r);
	}
}

RUN_TEST(test_cancelling_ends_it_once)
{
	start_sh(r, "exec sleep 1000");
	process_cancel(r->process);
	process_cancel(r->process);
	assert_int_equal(r->done, 0); /* from the loop */
	until_done(r);
	assert_int_equal(r->result.ending, PROCESS_CANCELLED);
}

RUN_TEST(test_cancelling_from_inside_a_line)
{
	r->spec.line = on_line;
	r->spec.output_max = SIZE_MAX;
	r->cancel_at = 3;
	run_sh(r, "exec yes");
	assert_int_equal(r->result.ending, PROCESS_CANCELLED);
	assert_int_equal(r->lines, 3); /* none after that */
}

RUN_TEST(test_it_is_gone_when_it_is_freed)
{
	r->spec.line = on_line;
	start_sh(r, "echo $$; trap '' TERM; while :; do sleep 1; done");
	UNTIL(r->loop, r->lines > 0);
	process_free(r->process);
	assert_true(gone(atoi(r->text + 4)));
	assert_int_equal(r->done, 0);
	process_free(NULL);
}

/* ---- nothing is left behind --------------------------------------------------------------- */

/* Each leaves something behind that tries to live on, and prints its number; the shell itself ends. */
static const char *const leavers[] = {
	"sleep 1000 & echo $!",
	"nohup sleep 1000 >/dev/null 2>&1 & echo $!",
	"setsid sleep 1000 & echo $!",
	/* a daemon: a session of its own, no parent, nothing of ours open */
	"setsid sh -c 'sleep 1000 >/dev/null 2>&1 </dev/null & echo $!'",
	("(setsid setsid sh -c 'setsid sleep 1000 >/dev/null 2>&1 </dev/null & echo $!' &) |"
	 " { read n; echo $n; }"),
	/* one that does not listen, whose child is another session still */
	("(setsid sh -c 'trap \"\" TERM HUP INT; setsid sleep 1000 >/dev/null & echo $!;"
	 " exec sleep 999 >/dev/null' &) | { read n; echo $n; }"),
};

TEST(test_what_it_leaves_behind_dies_with_it)
{
	for (size_t i = 0; i < CLEAT_COUNT(leavers); i++) {
		struct run r;

		run_begin(&r);
		run_sh(&r, leavers[i]);
		assert_int_equal(r.result.ending, PROCESS_EXITED);
		assert_true(atoi(r.out) > 1);
		assert_true(gone(atoi(r.out)));
		run_end(&r);
	}
}

TEST(test_what_it_has_started_dies_with_it_when_time_is_over)
{
	for (size_t i = 0; i < CLEAT_COUNT(leavers); i++) {
		char script[512];
		struct run r;

		snprintf(script, sizeof script, "%s; sleep 1000", leavers[i]);
		run_out_of_time(&r, script);
		assert_true(atoi(r.out) > 1);
		assert_true(gone(atoi(r.out)));
		run_end(&r);
	}
}

/* Has a process this variable in its environment? */
static bool somebody_has(const char *variable)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	bool found = false;

	assert_non_null(d);
	while (!found && (e = readdir(d))) {
		char path[300], *text;
		size_t n;

		if (atoi(e->d_name) <= 1 || atoi(e->d_name) == getpid())
			continue;
		snprintf(path, sizeof path, "/proc/%s/environ", e->d_name);
		text = support_read_file(path, &n);
		found = text && memmem(text, n, variable, strlen(variable));
		free(text);
	}
	closedir(d);
	return found;
}

/* Always on the move: its number is another one before it can be killed. */
RUN_TEST(test_one_that_runs_away_is_caught)
{
	const char *const env[] = { "HOP=setsid sh -c \"$HOP\" </dev/null >/dev/null 2>&1 &",
				    NULL };

	r->spec.env = env;
	r->spec.line = on_line;
	start_sh(r, "sh -c \"$HOP\"; echo off; exec env -u HOP sleep 1000");
	UNTIL(r->loop, r->lines > 0 && somebody_has("HOP=setsid"));
	process_cancel(r->process);
	until_done(r);
	assert_false(somebody_has("HOP=setsid"));
}

/* ---- many, and without memory ------------------------------------------------------------- */

TEST(test_many_at_once_keep_apart)
{
	static struct run runs[24];
	cleat_loop *loop = cleat_loop_new(NULL);
	size_t fds;

	assert_non_null(loop);
	fds = open_fds();
	for (size_t i = 0; i < CLEAT_COUNT(runs); i++) {
		char script[64];
		const char *argv[] = { "sh", "-c", script, NULL };

		memset(&runs[i], 0, sizeof runs[i]);
		runs[i].spec = (struct process_spec){
			.loop = loop, .done = on_done, .ctx = &runs[i], .output_max = 1000000
		};
		snprintf(script, sizeof script, "echo %zu; seq 1000 >&2; exit %zu", i, i);
		start(&runs[i], argv);
	}
	for (size_t i = 0; i < CLEAT_COUNT(runs); i++) {
		UNTIL(loop, runs[i].done > 0);
		assert_int_equal(atoi(runs[i].out), (int)i);
		assert_int_equal(runs[i].result.status, (int)i);
		free(runs[i].out);
	}
	assert_int_equal(open_fds(), fds);
	cleat_loop_free(loop);
	assert_true(no_children());
}

/* However few there are: it is started or it is not, and nothing is left open. */
TEST(test_without_descriptors_it_is_told)
{
	struct rlimit before, few;
	unsigned failed = 0, started = 0;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	for (few = before, few.rlim_cur = 4; few.rlim_cur < 40; few.rlim_cur++) {
		struct run r;
		size_t fds;

		run_begin(&r);
		fds = open_fds();
		r.spec.argv = (const char *const[]){ "sh", "-c", "echo ran", NULL };
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		r.process = process_start(&r.spec, &r.err);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
		if (r.process) {
			until_done(&r);
			assert_string_equal(r.out, "ran\n");
			started++;
		} else {
			assert_non_null(strstr(r.err.message, "cannot start sh"));
			failed++;
		}
		assert_int_equal(open_fds(), fds);
		run_end(&r);
	}
	assert_true(failed > 0 && started > 0);
}

TEST(test_without_memory_it_is_told)
{
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct run r;
		size_t fds;

		run_begin(&r);
		fds = open_fds();
		r.spec.mem = &fa.hook;
		r.spec.line = on_line;
		r.spec.input = STR_LIT("input\n");
		r.spec.argv =
			(const char *const[]){ "sh", "-c",
					       "cat; printf half; seq 2000; echo err >&2", NULL };
		r.process = process_start(&r.spec, &r.err);
		if (!r.process)
			assert_int_equal(r.err.status, CLEAT_ENOMEM);
		else
			until_done(&r);
		if (r.done && fail_alloc_hit(&fa))
			assert_true(r.result.ending == PROCESS_NO_MEMORY ||
				    r.result.ending == PROCESS_EXITED);
		assert_int_equal(open_fds(), fds);
		assert_int_equal(fa.live, 0);
		run_end(&r);
		assert_true(fa.round < 200);
	}
}

TEST_GROUP(warm_up, NULL)
