/* test_serve_limits.c - how much a command may use (program/serve/command/limits.h, program/serve/command/family.h), with real processes. */
#include "test.h"
#include "unit/program/process_rig.h"

#include <sys/resource.h>

TEST(test_each_process_has_its_limits)
{
	static const struct {
		struct limits limits;
		const char *script, *out;
		enum process_ending ending;
		int status;
	} cases[] = {
		/* blocks of 512 bytes; KB; seconds */
		{ { .file_size = 1 << 20 }, "ulimit -f", "2048\n", PROCESS_EXITED, 0 },
		{ { .memory = 64 << 20 },
		  "ulimit -d; ulimit -Hd",
		  "65536\n65536\n",
		  PROCESS_EXITED,
		  0 },
		{ { .cpu_s = 3 }, "ulimit -t; ulimit -Ht", "3\n5\n", PROCESS_EXITED, 0 },
		{ { .open_files = 20 }, "ulimit -n; ulimit -Hn", "20\n20\n", PROCESS_EXITED, 0 },
		/* who needs more than select() can take has to ask */
		{ { .open_files = 2000 },
		  "ulimit -n; ulimit -Hn",
		  "1024\n2000\n",
		  PROCESS_EXITED,
		  0 },
		{ { 0 }, "ulimit -c", "0\n", PROCESS_EXITED, 0 },
		{ { .cpu_s = 1 }, "while :; do :; done", "", PROCESS_KILLED, SIGXCPU },
		{ { .file_size = 4096 },
		  "cd \"$TMPDIR\" && exec dd if=/dev/zero of=large bs=4096 count=2 2>/dev/null",
		  "",
		  PROCESS_KILLED,
		  SIGXFSZ },
	};
	char variable[80];
	const char *env[] = { variable, NULL };

	scratch_begin(NULL);
	snprintf(variable, sizeof variable, "TMPDIR=%s", scratch_dir);
	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct run r;

		run_begin(&r);
		r.spec.limits = cases[i].limits;
		r.spec.env = env;
		run_sh(&r, cases[i].script);
		assert_string_equal(r.out, cases[i].out);
		assert_int_equal(r.result.ending, cases[i].ending);
		assert_int_equal(r.result.status, cases[i].status);
		run_end(&r);
	}
	scratch_end(NULL);
}

TEST(test_what_is_lower_already_stays_so)
{
	struct rlimit before, low;
	struct run r;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	low = before;
	low.rlim_cur = 512 * 100;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
	run_begin(&r);
	r.spec.limits.file_size = 1 << 20;
	run_sh(&r, "ulimit -f");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_string_equal(r.out, "100\n");
	run_end(&r);
}

/* Also those that are in another session by now, and those of one that is gone. */
TEST(test_too_many_processes_are_the_end_of_all)
{
	static const char *const scripts[] = {
		"for i in 1 2 3 4 5 6 7 8; do sleep 1000 & done; wait",
		"for i in 1 2 3 4 5 6 7 8; do setsid sleep 1000 & done; wait",
		"for i in 1 2 3 4; do (sleep 1000 & sleep 1000 &) & done; sleep 1000",
		"trap '' TERM; for i in 1 2 3 4 5 6 7 8; do sleep 1000 & done; wait",
		/* the well-known one, but for 255 processes: it may run for a while before we look */
		"b() { [ $1 = 0 ] && exec sleep 1000; b $(($1 - 1)) | b $(($1 - 1)) & }; b 7; sleep 1000",
	};

	for (size_t i = 0; i < CLEAT_COUNT(scripts); i++) {
		struct run r;

		run_begin(&r);
		r.spec.limits.processes = 6;
		run_sh(&r, scripts[i]);
		assert_int_equal(r.result.ending, PROCESS_TOO_MANY);
		run_end(&r);
	}
}

/* A shell that has a text of that many megabytes. */
#define HOG(mb) "x=$(head -c " #mb "000000 /dev/zero | tr '\\0' x); "

RUN_TEST(test_memory_is_counted_together)
{
	r->spec.limits.memory = 100 << 20;
	run_sh(r, "for i in 1 2 3 4; do (" HOG(30) "sleep 1000; :) & done; wait");
	assert_int_equal(r->result.ending, PROCESS_TOO_LARGE);
}

/* After a fork all pages are those of both: five that look like 30 MB each are 30 MB. They live long enough to be
 * looked at. */
RUN_TEST(test_pages_in_common_count_once)
{
	r->spec.limits.memory = 100 << 20;
	run_sh(r, HOG(30) "for i in 1 2 3 4; do (sleep 1; :) & done; wait; echo done");
	assert_string_equal(r->out, "done\n");
	assert_int_equal(r->result.ending, PROCESS_EXITED);
}

TEST_GROUP(warm_up, NULL)
