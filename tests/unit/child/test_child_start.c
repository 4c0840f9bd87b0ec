/* test_child_start.c - what a child gets: descriptors, environment, signals, a session and a directory; and
 * what cannot be started. (Its life: test_child.c.)
 */
#include "test.h"
#include "unit/child/child_rig.h"

#include <sys/resource.h>
#include <sys/stat.h>

/* ---- what it gets ------------------------------------------------------------------------- */

static void run_myself(struct rig *r, const char *what)
{
	const char *argv[] = { myself(), "--play", what, NULL };

	assert_int_equal(spawn(r, argv), CLEAT_OK);
	read_until(r, NULL);
}

TEST(test_it_has_three_descriptors)
{
	struct rig r;
	int leaked, high;
	size_t before;

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
TEST(test_it_starts_when_ours_are_closed)
{
	int saved[3];
	struct rig r;

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

TEST(test_its_environment_is_the_usual_and_what_was_configured)
{
	static const char *const extra[] = { "B=2", "MINE",      "NOT_SET", "A=1",
					     "B=3", "TERM=dumb", "E=",      NULL };
	char sorted[4096];
	struct rig r;

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

TEST(test_its_signals_are_the_default_ones)
{
	const char *const argv[] = { "grep", "^Sig[BI]", "/proc/self/status", NULL };
	struct sigaction before;
	sigset_t set, mask;
	struct rig r;

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

RIG_TEST(test_it_has_a_session_and_a_directory_of_its_own)
{
	struct proc_look p, guard;

	r->o.cwd = "/usr/bin";
	spawn_sh(r, "pwd; read x");
	read_until(r, "\n");
	assert_string_equal(r->out, "/usr/bin\n");
	assert_true(look_at_process(child_pid(r->child), &p));
	assert_int_equal(p.group, child_pid(r->child));
	assert_int_equal(p.session, child_pid(r->child));
	assert_true(look_at_process(p.parent, &guard));
	assert_string_equal(guard.name, "cleat-guard");
	assert_int_equal(guard.parent, getpid());
	assert_int_equal(guard.session, p.parent);
}

/* A relative name is relative to the child's directory, as in posix_spawn and everywhere else. */
RIG_TEST(test_a_relative_program_is_looked_for_in_its_directory)
{
	const char *const argv[] = { "./sh", "-c", "echo found", NULL };

	r->o.cwd = "/bin";
	assert_int_equal(spawn(r, argv), CLEAT_OK);
	read_until(r, NULL);
	assert_string_equal(r->out, "found\n");
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

TEST(test_what_cannot_be_started_says_why)
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
		{ "node server.js", NULL, NULL, CLEAT_EIO, ENOENT,
		  "cannot start node server.js: there is no such program in PATH; its arguments "
		  "are words of their own" },
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
TEST(test_no_descriptors_left_is_an_error)
{
	const char *const argv[] = { "/bin/sh", "-c", "exit 0", NULL };
	struct rlimit before, low;
	size_t failed = 0;
	int rc;

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
