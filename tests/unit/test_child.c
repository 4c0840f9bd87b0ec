/* test_child.c - starting a child, what it gets, what it says, and letting it go.
 *
 * stdio transport, Shutdown: "First, closing the input stream to the child process; waiting for the
 * server to exit, or sending SIGTERM if the server does not exit within a reasonable time; sending
 * SIGKILL if the server does not exit within a reasonable time after SIGTERM."
 */
#define _GNU_SOURCE

#include "child_support.h"
#include "transport/child.h"
#include "transport/child_lines.h"

#include <sys/resource.h>
#include <sys/stat.h>

/* ---- a child and what came of it ---------------------------------------------------------- */

struct rig {
	cleat_loop *loop;
	struct child *child;
	struct child_opts o;
	cleat_error err;
	unsigned exits, lines;
	int status;
	bool free_on_line, free_on_exit;
	char said[4096]; /* stderr: "line|line|" */
	char out[65536]; /* stdout */
	size_t n;
};

static void on_line(void *ctx, const char *line)
{
	struct rig *r = ctx;
	size_t n = strlen(r->said);

	r->lines++;
	snprintf(r->said + n, sizeof r->said - n, "%s|", line);
	if (r->free_on_line) {
		child_free(r->child);
		r->child = NULL;
	}
}

static void on_exit_(void *ctx, int status)
{
	struct rig *r = ctx;

	r->exits++;
	r->status = status;
	if (r->free_on_exit) {
		child_free(r->child);
		r->child = NULL;
	}
}

static void rig_init(struct rig *r)
{
	memset(r, 0, sizeof *r);
	r->loop = cleat_loop_new(NULL);
	assert_non_null(r->loop);
	r->o = (struct child_opts){
		.loop = r->loop, .err_line = on_line, .exited = on_exit_, .ctx = r, .grace_ms = 5000
	};
}

static void rig_done(struct rig *r)
{
	child_free(r->child);
	assert_int_equal(cleat_loop_step(r->loop, 0), CLEAT_ECLOSED); /* nothing is attached */
	cleat_loop_free(r->loop);
	assert_true(no_children());
}

static int spawn(struct rig *r, const char *const *argv)
{
	r->o.argv = argv;
	return child_spawn(&r->o, &r->child, &r->err);
}

static void spawn_sh(struct rig *r, const char *script)
{
	const char *argv[] = { "/bin/sh", "-c", script, NULL };

	assert_int_equal(spawn(r, argv), CLEAT_OK);
	assert_true(child_alive(r->child));
}

/* Reads what is there of stdout, or waits a little. False at its end. */
static bool read_more(struct rig *r)
{
	struct pollfd p = { .fd = child_out(r->child), .events = POLLIN };
	ssize_t k;

	poll(&p, 1, 100);
	k = read(p.fd, r->out + r->n, sizeof r->out - 1 - r->n);
	r->n += k > 0 ? (size_t)k : 0;
	r->out[r->n] = 0;
	return k != 0;
}

/* Reads stdout until `text` was there, or to the end when it is NULL. */
static void read_until(struct rig *r, const char *text)
{
	uint64_t end = loop_now() + PATIENCE_MS;

	while ((!text || !strstr(r->out, text)) && read_more(r))
		assert_true(loop_now() < end);
}

static void until_exit(struct rig *r)
{
	UNTIL(r->loop, r->exits > 0);
	assert_int_equal(r->exits, 1);
}

static void say(struct rig *r, const char *text)
{
	assert_int_equal(write(child_in(r->child), text, strlen(text)), (ssize_t)strlen(text));
}

/* ---- life --------------------------------------------------------------------------------- */

static void test_speaks_and_ends_with_its_input(void **state)
{
	struct rig r;

	(void)state;
	rig_init(&r);
	spawn_sh(&r, "echo ready >&2; cat; echo bye >&2; exit 3");
	say(&r, "hello\n");
	read_until(&r, "hello\n");
	child_stop(r.child);
	child_stop(r.child); /* does nothing */
	until_exit(&r);
	assert_false(child_alive(r.child));
	assert_true(WIFEXITED(r.status));
	assert_int_equal(WEXITSTATUS(r.status), 3);
	assert_string_equal(r.said, "ready|bye|");
	assert_string_equal(child_last_words(r.child), "bye");
	rig_done(&r);
}

static void test_a_program_is_found_in_path(void **state)
{
	const char *const argv[] = { "sh", "-c", "echo \"$0 $1\"", "a  b", "$c", NULL };
	struct rig r;

	(void)state;
	rig_init(&r);
	assert_int_equal(spawn(&r, argv), CLEAT_OK);
	read_until(&r, NULL);
	assert_string_equal(r.out, "a  b $c\n");
	rig_done(&r);
}

static void test_the_ending_in_words(void **state)
{
	char text[100];

	(void)state;
	child_ending(3 << 8, text, sizeof text);
	assert_string_equal(text, "exited with status 3");
	child_ending(SIGKILL, text, sizeof text);
	assert_string_equal(text, "was killed by signal 9 (Killed)");
}

/* The child may end by any signal; the pipes may be held open by something else. */
static void test_its_exit_is_told_however_it_comes(void **state)
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

	(void)state;
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

static void test_what_is_left_of_the_group_dies_with_it(void **state)
{
	struct rig r;
	int pids[2];

	(void)state;
	rig_init(&r);
	spawn_sh(&r, "sleep 1000 & echo $!; (trap '' TERM HUP; sleep 1000 & echo $!; wait) & "
		     "read x; exit 0");
	UNTIL_TRUE(read_more(&r) && r.n > 0 && r.out[r.n - 1] == '\n' &&
		   sscanf(r.out, "%d %d\n", &pids[0], &pids[1]) == 2);
	child_stop(r.child);
	until_exit(&r);
	assert_int_equal(r.status, 0);
	assert_int_equal(kill(pids[0], 0), -1); /* reaped, too */
	assert_int_equal(kill(pids[1], 0), -1);
	rig_done(&r);
}

static void test_letting_go_takes_as_much_force_as_it_needs(void **state)
{
	static const struct {
		const char *script;
		int signal;
	} cases[] = {
		{ "echo r; exec sleep 1000", SIGTERM },
		{ "echo r; trap 'exit 7' TERM; while :; do sleep 0.02; done", 0 },
		{ "echo r; trap '' TERM; while :; do sleep 0.02; done", SIGKILL },
		{ "echo r; kill -STOP $$", SIGTERM },
		{ "trap '' TERM; echo r; kill -STOP $$; while :; do sleep 0.02; done", SIGKILL },
	};

	(void)state;
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
static void test_its_output_is_drained_when_asked(void **state)
{
	struct rig r;

	(void)state;
	rig_init(&r);
	spawn_sh(&r, "head -c 3000000 /dev/zero; head -c 300000 /dev/zero >&2; exit 5");
	child_stop(r.child);
	child_drain(r.child);
	until_exit(&r);
	assert_int_equal(WEXITSTATUS(r.status), 5);
	rig_done(&r);
}

static bool has_exited(int pid)
{
	struct process p;

	return look_at_process(pid, &p) && p.state == 'Z';
}

/* The guard is held up, so that it learns of the end first and leaves what it was told unread. */
static void test_an_exit_that_crosses_a_signal_keeps_its_status(void **state)
{
	struct process p;
	uint64_t begin;
	struct rig r;

	(void)state;
	rig_init(&r);
	r.o.grace_ms = 20;
	spawn_sh(&r, "read x; exit 3");
	assert_true(look_at_process(child_pid(r.child), &p));
	kill(p.parent, SIGSTOP);
	child_stop(r.child);
	UNTIL_TRUE(has_exited(child_pid(r.child)));
	for (begin = loop_now(); loop_now() < begin + 200;) /* SIGTERM and SIGKILL are asked for */
		cleat_loop_step(r.loop, 10);
	kill(p.parent, SIGCONT);
	until_exit(&r);
	assert_true(WIFEXITED(r.status));
	assert_int_equal(WEXITSTATUS(r.status), 3);
	rig_done(&r);
}

static void test_free_at_any_moment_leaves_nothing(void **state)
{
	static const char *const scripts[] = { "exit 1", "sleep 1000", "kill -STOP $$",
					       "trap '' TERM; while :; do echo x >&2; done" };

	(void)state;
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

static void test_free_from_inside_its_callbacks(void **state)
{
	(void)state;
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

/* ---- what it gets ------------------------------------------------------------------------- */

static void run_myself(struct rig *r, const char *what)
{
	const char *argv[] = { myself(), "--play", what, NULL };

	assert_int_equal(spawn(r, argv), CLEAT_OK);
	read_until(r, NULL);
}

static void test_it_has_three_descriptors(void **state)
{
	struct rig r;
	int leaked, high;
	size_t before;

	(void)state;
	leaked = open("/dev/null", O_RDONLY); /* without O_CLOEXEC */
	high = dup2(leaked, 900);
	assert_true(leaked > 2 && high == 900);
	before = open_fds();
	rig_init(&r);
	run_myself(&r, "fds");
	assert_string_equal(r.out, "0 1 2 \n");
	until_exit(&r);
	rig_done(&r);
	assert_int_equal(open_fds(), before);
	close(leaked);
	close(high);
}

/* The program may have closed 0, 1 and 2: the pipes must not get lost in their numbers. */
static void test_it_starts_when_ours_are_closed(void **state)
{
	int saved[3];
	struct rig r;

	(void)state;
	for (int i = 0; i < 3; i++)
		saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 100);
	rig_init(&r);
	for (int i = 0; i < 3; i++)
		close(i);
	spawn_sh(&r, "read x; echo \"out $x\"; echo err >&2");
	for (int i = 0; i < 3; i++) {
		dup2(saved[i], i);
		close(saved[i]);
	}
	say(&r, "in\n");
	read_until(&r, NULL);
	until_exit(&r);
	assert_string_equal(r.out, "out in\n");
	assert_string_equal(r.said, "err|");
	rig_done(&r);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines of `text`, sorted, joined. */
static void sort_lines(char *text, char *to, size_t room)
{
	char *lines[512];
	size_t n = 0, at = 0;

	for (char *p = strtok(text, "\n"); p && n < CLEAT_COUNT(lines); p = strtok(NULL, "\n"))
		lines[n++] = p;
	qsort(lines, n, sizeof *lines, by_text);
	to[0] = 0;
	for (size_t i = 0; i < n; i++)
		at += (size_t)snprintf(to + at, room - at, "%s\n", lines[i]);
}

static void test_its_environment_is_the_usual_and_what_was_configured(void **state)
{
	static const char *const extra[] = { "B=2", "MINE",      "NOT_SET", "A=1",
					     "B=3", "TERM=dumb", "E=",      NULL };
	char sorted[4096];
	struct rig r;

	(void)state;
	setenv("HOME", "/home/me", 1);
	setenv("LOGNAME", "me", 1);
	setenv("PATH", "/usr/bin:/bin", 1);
	setenv("SHELL", "() { :; }; echo owned", 1);
	setenv("TERM", "xterm", 1);
	unsetenv("USER");
	setenv("SECRET", "s3cr3t", 1);
	setenv("MINE", "given", 1);
	setenv("LD_PRELOAD_X", "x", 1);
	rig_init(&r);
	run_myself(&r, "env");
	sort_lines(r.out, sorted, sizeof sorted);
	assert_string_equal(sorted, "HOME=/home/me\nLOGNAME=me\nPATH=/usr/bin:/bin\nTERM=xterm\n");
	rig_done(&r);

	rig_init(&r);
	r.o.env = extra;
	run_myself(&r, "env");
	sort_lines(r.out, sorted, sizeof sorted);
	assert_string_equal(sorted, "A=1\nB=3\nE=\nHOME=/home/me\nLOGNAME=me\nMINE=given\n"
				    "PATH=/usr/bin:/bin\nTERM=dumb\n");
	rig_done(&r);

	rig_init(&r);
	r.o.env = extra;
	r.o.inherit_env = true;
	run_myself(&r, "env");
	assert_non_null(strstr(r.out, "SECRET=s3cr3t\n"));
	assert_non_null(strstr(r.out, "SHELL=() { :; }; echo owned\n"));
	assert_non_null(strstr(r.out, "B=3\n"));
	assert_non_null(strstr(r.out, "TERM=dumb\n"));
	assert_null(strstr(r.out, "TERM=xterm\n"));
	rig_done(&r);
}

static void test_its_signals_are_the_default_ones(void **state)
{
	const char *const argv[] = { "grep", "^Sig[BI]", "/proc/self/status", NULL };
	struct sigaction before;
	sigset_t set, mask;
	struct rig r;

	(void)state;
	sigaction(SIGPIPE, NULL, &before);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, &mask);
	rig_init(&r);
	assert_int_equal(spawn(&r, argv), CLEAT_OK);
	read_until(&r, NULL);
	assert_string_equal(r.out, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
	rig_done(&r);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	sigaction(SIGPIPE, &before, NULL);
}

static void test_it_has_a_session_and_a_directory_of_its_own(void **state)
{
	struct process p, guard;
	struct rig r;

	(void)state;
	rig_init(&r);
	r.o.cwd = "/usr/bin";
	spawn_sh(&r, "pwd; read x");
	read_until(&r, "\n");
	assert_string_equal(r.out, "/usr/bin\n");
	assert_true(look_at_process(child_pid(r.child), &p));
	assert_int_equal(p.group, child_pid(r.child));
	assert_int_equal(p.session, child_pid(r.child));
	assert_true(look_at_process(p.parent, &guard));
	assert_string_equal(guard.name, "cleat-guard");
	assert_int_equal(guard.parent, getpid());
	assert_int_equal(guard.session, p.parent);
	rig_done(&r);
}

/* A relative name is relative to the child's directory, as in posix_spawn and everywhere else. */
static void test_a_relative_program_is_looked_for_in_its_directory(void **state)
{
	const char *const argv[] = { "./sh", "-c", "echo found", NULL };
	struct rig r;

	(void)state;
	rig_init(&r);
	r.o.cwd = "/bin";
	assert_int_equal(spawn(&r, argv), CLEAT_OK);
	read_until(&r, NULL);
	assert_string_equal(r.out, "found\n");
	rig_done(&r);
}

/* ---- what cannot be started --------------------------------------------------------------- */

static void put_file(const char *dir, const char *file, const char *text, unsigned mode)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", dir, file);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(chmod(path, mode), 0);
}

static void test_what_cannot_be_started_says_why(void **state)
{
	static const struct {
		const char *program, *cwd, *env;
		int status, error;
		const char *words;
	} cases[] = {
		{ "./missing", NULL, NULL, CLEAT_EIO, ENOENT,
		  "cannot start ./missing: No such file or directory" },
		{ "no-such-program-anywhere", NULL, NULL, CLEAT_EIO, ENOENT,
		  "cannot start no-such-program-anywhere: there is no such program in PATH" },
		{ "./plain", NULL, NULL, CLEAT_EIO, EACCES,
		  "cannot start ./plain: Permission denied" },
		{ "plain", NULL, NULL, CLEAT_EIO, EACCES, "cannot start plain: Permission denied" },
		{ ".", NULL, NULL, CLEAT_EIO, EACCES, NULL },
		{ "/", NULL, NULL, CLEAT_EIO, EACCES, "cannot start /: Permission denied" },
		{ "./odd", NULL, NULL, CLEAT_EIO, ENOEXEC, NULL },
		{ "./lost", NULL, NULL, CLEAT_EIO, ENOENT, NULL },
		{ "./plain/x", NULL, NULL, CLEAT_EIO, ENOTDIR, NULL },
		{ "/bin/sh", "/nowhere", NULL, CLEAT_EIO, ENOENT,
		  "cannot start /bin/sh: directory /nowhere: No such file or directory" },
		{ "/bin/sh", "/dev/null", NULL, CLEAT_EIO, ENOTDIR, NULL },
		{ "", NULL, NULL, CLEAT_EINVAL, 0, "no program to start: argv is empty" },
		{ NULL, NULL, NULL, CLEAT_EINVAL, 0, "no program to start: argv is empty" },
		{ "/bin/sh", NULL, "=x", CLEAT_EINVAL, 0,
		  "environment \"=x\" has no name: write NAME=value" },
	};
	char dir[] = "/tmp/cleat-child-XXXXXX", home[PATH_MAX], command[64];
	size_t before;

	(void)state;
	assert_non_null(getcwd(home, sizeof home));
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	put_file(dir, "plain", "#!/bin/sh\n", 0600);
	put_file(dir, "odd", "neither program nor script\n", 0700);
	put_file(dir, "lost", "#!/no/such/interpreter\n", 0700);
	setenv("PATH", dir, 1);
	before = open_fds();
	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		const char *argv[] = { cases[i].program, NULL }, *env[] = { cases[i].env, NULL };
		struct rig r;
		bool script = cases[i].program && (strcmp(cases[i].program, "./odd") == 0 ||
						   strcmp(cases[i].program, "./lost") == 0);

		if (script && getenv("CLEAT_VALGRIND"))
			continue; /* valgrind has given up the program by then */
		rig_init(&r);
		r.o.cwd = cases[i].cwd;
		r.o.env = env;
		assert_int_equal(spawn(&r, argv), cases[i].status);
		assert_null(r.child);
		assert_int_equal(r.err.status, cases[i].status);
		assert_int_equal(r.err.os_errno, cases[i].error);
		if (cases[i].words)
			assert_string_equal(r.err.message, cases[i].words);
		if (script)
			assert_non_null(strstr(r.err.message, "#! line"));
		rig_done(&r);
	}
	assert_int_equal(open_fds(), before);
	assert_int_equal(chdir(home), 0);
	setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1);
	snprintf(command, sizeof command, "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

/* With any number of descriptors left, from none on. */
static void test_no_descriptors_left_is_an_error(void **state)
{
	const char *const argv[] = { "/bin/sh", "-c", "exit 0", NULL };
	struct rlimit before, low;
	size_t failed = 0;
	int rc;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	low = before;
	do {
		size_t fds = open_fds();
		struct rig r;
		int top;

		rig_init(&r);
		top = dup(0);
		close(top);
		low.rlim_cur = (rlim_t)top + failed;
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
		rc = spawn(&r, argv);
		setrlimit(RLIMIT_NOFILE, &before);
		if (rc)
			assert_true(rc == CLEAT_EIO && r.err.os_errno == EMFILE);
		rig_done(&r);
		assert_int_equal(open_fds(), fds);
	} while (rc && ++failed < 20);
	assert_true(failed >= 10 && rc == CLEAT_OK);
}

/* ---- stderr ------------------------------------------------------------------------------- */

static void collect_line(void *ctx, const char *line)
{
	char *to = ctx;
	size_t n = strlen(to);

	snprintf(to + n, 65536 - n, "%s|", line);
}

static void test_lines_are_made_harmless(void **state)
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

	(void)state;
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

static void test_a_line_of_any_length_is_cut(void **state)
{
	static char got[65536], line[3 * CHILD_LINE_MAX];
	struct child_lines l;

	(void)state;
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

static void test_more_than_200_lines_a_second_are_counted_only(void **state)
{
	static char got[65536];
	struct child_lines l;

	(void)state;
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

static void test_a_child_that_floods_stderr_neither_waits_nor_hurts(void **state)
{
	unsigned sum = 0, shown = 0;
	struct rig r;

	(void)state;
	rig_init(&r);
	spawn_sh(&r, "yes abc | head -n 100000 >&2; echo 'Error: it broke' >&2; echo end >&2");
	until_exit(&r);
	for (char *p = strtok(r.said, "|"); p; p = strtok(NULL, "|")) {
		unsigned n = 1;

		sum += sscanf(p, "(%u more", &n) == 1 ? n : 1;
		shown++;
	}
	/* said[] is too short for more, but not for what one second may say */
	assert_true(shown >= 200);
	assert_true(r.lines <= 202 + 201 * PATIENCE_MS / 1000);
	if (r.lines <= 202)
		assert_int_equal(sum, 100002);
	assert_string_equal(child_last_words(r.child), "Error: it broke");
	rig_done(&r);
}

static void test_stderr_that_nobody_wants_is_read(void **state)
{
	struct rig r;

	(void)state;
	rig_init(&r);
	r.o.err_line = NULL;
	spawn_sh(&r, "yes abc | head -n 100000 >&2; echo last >&2; exit 6");
	until_exit(&r);
	assert_int_equal(WEXITSTATUS(r.status), 6);
	assert_string_equal(child_last_words(r.child), "last");
	rig_done(&r);
}

/* ---- memory ------------------------------------------------------------------------------- */

static void test_every_allocation_may_fail(void **state)
{
	static const char *const env[] = { "A=1", "HOME", NULL };
	const char *const argv[] = { "sh", "-c", "exit 0", NULL };

	(void)state;
	for (int forever = 0; forever < 2; forever++) {
		for (size_t n = 1;; n++) {
			struct fail_alloc fa;
			struct rig r;
			int rc;

			fail_alloc_init(&fa, n, forever);
			rig_init(&r);
			r.o.mem = &fa.hook;
			r.o.env = env;
			rc = spawn(&r, argv);
			assert_int_equal(rc, fail_alloc_hit(&fa) ? CLEAT_ENOMEM : CLEAT_OK);
			if (rc == CLEAT_OK)
				until_exit(&r);
			rig_done(&r);
			assert_int_equal(fa.live, 0);
			if (!fail_alloc_hit(&fa))
				break;
		}
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_speaks_and_ends_with_its_input),
		cmocka_unit_test(test_a_program_is_found_in_path),
		cmocka_unit_test(test_the_ending_in_words),
		cmocka_unit_test(test_its_exit_is_told_however_it_comes),
		cmocka_unit_test(test_what_is_left_of_the_group_dies_with_it),
		cmocka_unit_test(test_letting_go_takes_as_much_force_as_it_needs),
		cmocka_unit_test(test_its_output_is_drained_when_asked),
		cmocka_unit_test(test_an_exit_that_crosses_a_signal_keeps_its_status),
		cmocka_unit_test(test_free_at_any_moment_leaves_nothing),
		cmocka_unit_test(test_free_from_inside_its_callbacks),
		cmocka_unit_test(test_it_has_three_descriptors),
		cmocka_unit_test(test_it_starts_when_ours_are_closed),
		cmocka_unit_test(test_its_environment_is_the_usual_and_what_was_configured),
		cmocka_unit_test(test_its_signals_are_the_default_ones),
		cmocka_unit_test(test_it_has_a_session_and_a_directory_of_its_own),
		cmocka_unit_test(test_a_relative_program_is_looked_for_in_its_directory),
		cmocka_unit_test(test_what_cannot_be_started_says_why),
		cmocka_unit_test(test_no_descriptors_left_is_an_error),
		cmocka_unit_test(test_lines_are_made_harmless),
		cmocka_unit_test(test_a_line_of_any_length_is_cut),
		cmocka_unit_test(test_more_than_200_lines_a_second_are_counted_only),
		cmocka_unit_test(test_a_child_that_floods_stderr_neither_waits_nor_hurts),
		cmocka_unit_test(test_stderr_that_nobody_wants_is_read),
		cmocka_unit_test(test_every_allocation_may_fail),
	};

	if (played(argc, argv))
		return 0;
	return cmocka_run_group_tests(tests, warm_up, NULL);
}
