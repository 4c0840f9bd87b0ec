/* test_serve_sandbox_use.c - sandboxes in use: programs that work inside, what is said when one cannot be
 * had, paths that change, scripts, and memory that runs out.
 */
#include "serve/command/process.h"
#include "test.h"
#include "unit/program/sandbox_rig.h"

#include <sys/resource.h>

struct done {
	unsigned n;
	enum process_ending ending;
	int status;
	char out[8192], err[8192];
};

static void copy(char *to, size_t n, struct str s)
{
	snprintf(to, n, "%.*s", (int)(s.n < n ? s.n : n - 1), s.n ? s.p : "");
}

static void on_done(void *ctx, const struct process_result *r)
{
	struct done *d = ctx;

	d->n++;
	d->ending = r->ending;
	d->status = r->status;
	copy(d->out, sizeof d->out, r->out);
	copy(d->err, sizeof d->err, r->err);
}

/* What could not be started has its message in err, and -1 as its status. */
static void run(const struct sandbox *s, const char *const *argv, struct done *d)
{
	cleat_loop *loop = cleat_loop_new(NULL);
	const char *env[] = { NULL, NULL, NULL };
	char home[128], tmp[128];
	cleat_error err;

	assert_non_null(loop);
	memset(d, 0, sizeof *d);
	snprintf(home, sizeof home, "HOME=%s", scratch_path("write"));
	snprintf(tmp, sizeof tmp, "TMPDIR=%s", scratch_path("write"));
	env[0] = home;
	env[1] = tmp;
	if (process_start(&(struct process_spec){ .loop = loop,
						  .argv = argv,
						  .env = env,
						  .cwd = scratch_dir,
						  .output_max = 1 << 20,
						  .timeout_ms = 60000,
						  .sandbox = s,
						  .done = on_done,
						  .ctx = d },
			  &err)) {
		UNTIL(loop, d->n > 0);
	} else {
		d->status = -1;
		snprintf(d->err, sizeof d->err, "%s", err.message);
	}
	cleat_loop_free(loop);
	assert_true(no_children() || place.outside);
}

static void run_sh(const struct sandbox *s, const char *script, struct done *d)
{
	const char *argv[] = { "/bin/sh", "-c", script, NULL };

	run(s, argv, d);
}

/* A case in a sandbox of its own, `in->s`, with files as they were. */
struct inside {
	struct sandbox *s;
	struct done d;
};

static void leave(struct inside *in)
{
	sandbox_unref(in->s);
}

#define INSIDE_TEST(name, sandbox)                                                                 \
	TEST_ON(name, struct inside, in,                                                           \
		(skip_without_landlock(), place_files(), in->s = sandbox), leave)

/* ---- programs that have to work ----------------------------------------------------------- */

INSIDE_TEST(test_programs_work_inside, usual_sandbox(true))
{
	/* With the system's own programs: others may be anywhere. */
	static const struct {
		const char *needs, *script, *out;
	} cases[] = {
		{ "/bin/sh", "echo $((1+2)) | cat; test -r /etc/passwd && echo yes", "3\nyes\n" },
		{ "/bin/bash", "exec bash -c 'cat <(echo a) <(echo b); kill -0 $$ && echo c'",
		  "a\nb\nc\n" },
		{ "/usr/bin/python3",
		  "/usr/bin/python3 -c 'import json, ssl, subprocess, threading, tempfile\n"
		  "t = threading.Thread(target=lambda: print(1)); t.start(); t.join()\n"
		  "print(subprocess.run([\"echo\", \"2\"], capture_output=True).stdout)\n"
		  "print(tempfile.NamedTemporaryFile().write(b\"3\"))'",
		  "1\nb'2\\n'\n1\n" },
		{ "/usr/bin/node",
		  "exec /usr/bin/node -e 'const c = require(\"child_process\");"
		  "new (require(\"worker_threads\").Worker)(\"0\", { eval: true });"
		  "console.log(process.memoryUsage().rss > 0, c.execSync(\"echo 1\").toString())'",
		  "true 1\n\n" },
		{ "/usr/bin/perl", "/usr/bin/perl -e 'print `echo 1`, 2'", "1\n2" },
		{ "/usr/bin/git",
		  "cd write && git init -q g && cd g && echo 1 > f && git add f && "
		  "git -c user.name=n -c user.email=e commit -qm m && git gc -q && "
		  "git log --format=%s && git status -s",
		  "m\n" },
		{ "/usr/bin/gcc",
		  "cd write && echo 'int main(void) { return 3; }' > p.c && "
		  "/usr/bin/gcc -o p p.c && test -x p && echo built",
		  "built\n" },
		{ "/usr/bin/curl", "/usr/bin/curl -s file:///etc/hostname-not || echo $?", "37\n" },
		{ "/bin/tar",
		  "cd write && mkdir t && echo 1 > t/f && tar cf t.tar t && rm -r t && tar xf t.tar && "
		  "cp -p t/f k && touch -d 2020-01-01 k && chmod 600 k && mv k h && cat h",
		  "1\n" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		if (access(cases[i].needs, X_OK)) {
			print_message("# no %s here\n", cases[i].needs);
			continue;
		}
		run_sh(in->s, cases[i].script, &in->d);
		if (in->d.status || strcmp(in->d.out, cases[i].out) != 0)
			fail_msg("%s: %d\n%s\n%s", cases[i].needs, in->d.status, in->d.out,
				 in->d.err);
	}
}

TEST(test_curl_reaches_what_listens_with_net_only)
{
	char script[256];

	skip_without_landlock();
	if (access("/usr/bin/curl", X_OK))
		skip();
	for (int net = 0; net < 2; net++) {
		struct sandbox *s = sandbox_of((struct sandbox_spec){ .net = net });
		struct done d;

		/* It listens and never answers: 28 is time, 7 is not a connection. */
		snprintf(script, sizeof script, "curl -s -m 0.3 http://127.0.0.1:%d/",
			 ntohs(place.to4.sin_port));
		run_sh(s, script, &d);
		assert_int_equal(d.status, net ? 28 : 7);
		sandbox_unref(s);
	}
}

INSIDE_TEST(test_a_child_has_three_descriptors, sandbox_of((struct sandbox_spec){ 0 }))
{
	const char *const argv[] = { "ls", "/proc/self/fd", NULL };

	run(in->s, argv, &in->d);
	assert_string_equal(in->d.out, "0\n1\n2\n3\n"); /* the last is its own, to list them */
}

INSIDE_TEST(test_what_is_refused_is_said_by_the_program, usual_sandbox(false))
{
	run_sh(in->s, "cat secret/file; echo x > write/file; cat read/file", &in->d);
	assert_string_equal(in->d.out, "readable");
	assert_non_null(strstr(in->d.err, "secret/file: Permission denied"));
	assert_non_null(strstr(in->d.err, "cannot create write/file: Permission denied"));
	run_sh(NULL, "cat secret/file; echo x > write/file; cat read/file", &in->d);
	assert_string_equal(in->d.out, "secretreadable");
}

/* ---- the program itself ------------------------------------------------------------------- */

static void write_script(const char *name, const char *first, const char *rest)
{
	FILE *f = fopen(scratch_path(name), "w");

	assert_non_null(f);
	fprintf(f, "#!%s\n%s", first, rest);
	fclose(f);
	assert_int_equal(chmod(scratch_path(name), 0755), 0);
}

/* The command need not be in "read", wherever it is; and what its #! line names need not. */
TEST(test_a_script_anywhere_can_be_run)
{
	char line[320], interpreter[160];

	skip_without_landlock();
	place_files();
	snprintf(interpreter, sizeof interpreter, "%s", scratch_path("secret/interpreter"));
	snprintf(line, sizeof line, "cp /bin/sh %s", interpreter);
	assert_int_equal(system(line), 0);
	for (int i = 0; i < 5; i++) {
		static const char *const lines[] = { "/bin/sh", " /usr/bin/env sh",
						     "/usr/bin/env -S sh -e", NULL, NULL };
		const char *path = scratch_path("secret/script"), *argv[] = { path, NULL };
		struct sandbox *s;
		struct done d;

		write_script("secret/script", lines[i] ? lines[i] : interpreter, "echo ran");
		if (i == 4)
			argv[0] = path = "secret/script"; /* relative to its directory */
		s = sandbox_of((struct sandbox_spec){ .program = path, .cwd = scratch_dir });
		run(s, argv, &d);
		if (d.status)
			fail_msg("%d: %s", i, d.err);
		assert_string_equal(d.out, "ran\n");
		sandbox_unref(s);
	}
}

TEST(test_a_program_that_may_not_be_run_is_told)
{
	const char *argv[2] = { NULL };
	char program[160], says[320];
	struct sandbox *s;
	struct done d;

	skip_without_landlock();
	place_files();
	snprintf(program, sizeof program, "%s", scratch_path("secret/program"));
	argv[0] = program;
	snprintf(
		says, sizeof says,
		"cannot start %s: Permission denied (may the sandbox read it, and what it needs to "
		"run?)",
		argv[0]);
	s = usual_sandbox(true);
	run(s, argv, &d);
	assert_int_equal(d.status, -1);
	assert_string_equal(d.err, says);
	sandbox_unref(s);
	/* the program is there, but nothing that it needs */
	s = sandbox_of((struct sandbox_spec){ .no_system = true, .program = argv[0] });
	run(s, argv, &d);
	assert_int_equal(d.status, -1);
	assert_string_equal(d.err, says);
	sandbox_unref(s);
}

/* ---- paths that change -------------------------------------------------------------------- */

/* Who may write beside a path must not be able to lead the next process elsewhere. */
TEST(test_a_path_that_becomes_a_link_is_refused)
{
	const char *reads[2] = { NULL }, *writes[2] = { NULL };
	struct sandbox *s;
	struct done d;

	skip_without_landlock();
	place_files();
	reads[0] = scratch_path("write/a");
	writes[0] = scratch_path("write");
	s = sandbox_of((struct sandbox_spec){ .read = reads, .write = writes });
	run_sh(s, "rm -r write/a && ln -s ../secret write/a", &d);
	if (d.status)
		fail_msg("%s", d.err);
	run_sh(s, "cat write/a/file", &d);
	assert_int_equal(d.status, -1);
	assert_non_null(strstr(d.err, "write/a: it is a symbolic link now"));
	sandbox_unref(s);
}

/* May read one thing of the place. */
static struct sandbox *reading(const char *name)
{
	const char *reads[] = { scratch_path(name), NULL };

	return sandbox_of((struct sandbox_spec){ .read = reads });
}

INSIDE_TEST(test_a_file_that_is_replaced_is_found, reading("secret/file"))
{
	run_sh(in->s, "cat secret/file", &in->d);
	assert_string_equal(in->d.out, "secret");
	scratch_put("secret/new", "another");
	assert_int_equal(rename(scratch_path("secret/new"), scratch_path("secret/file")), 0);
	run_sh(in->s, "cat secret/file", &in->d);
	assert_string_equal(in->d.out, "another");
	assert_int_equal(unlink(scratch_path("secret/file")), 0);
	run_sh(in->s, "echo", &in->d);
	assert_int_equal(in->d.status, -1);
	assert_non_null(strstr(in->d.err, "secret/file: No such file or directory"));
}

/* A link that is in the configuration is followed when that is read. */
INSIDE_TEST(test_a_link_that_is_asked_for_means_what_it_leads_to, reading("write/link"))
{
	run_sh(in->s, "cat secret/file write/link/file", &in->d);
	assert_string_equal(in->d.out, "secretsecret");
}

/* ---- what is not available ------------------------------------------------------------------- */

TEST(test_a_sandbox_that_cannot_be_had_says_what_is_missing)
{
	static const char *const no_path[] = { "/no/such/path", NULL };
	static const char *const relative[] = { "docs", NULL };
	const struct {
		int abi;
		struct sandbox_spec spec;
		const char *says;
	} cases[] = {
		{ -ENOSYS, { 0 }, "this kernel has no Landlock: Linux 5.13 or later is needed" },
		{ -EOPNOTSUPP, { 0 }, "Landlock is switched off in this kernel" },
		{ -EPERM, { 0 }, "Landlock cannot be used here: Operation not permitted" },
		{ 1, { .read = no_path }, "read: /no/such/path: No such file or directory" },
		{ 1, { .write = no_path }, "write: /no/such/path: No such file or directory" },
		{ 1, { .read = relative }, "read: \"docs\" is not absolute" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		cleat_error err = { 0 };

		if (cases[i].abi > 0)
			skip_without_landlock();
		landlock_pretend(cases[i].abi);
		assert_null(sandbox_new(&cases[i].spec, NULL, &err));
		if (!strstr(err.message, cases[i].says))
			fail_msg("%s", err.message);
		landlock_pretend(0);
	}
}

TEST(test_too_many_paths_are_refused)
{
	const char *many[SANDBOX_PATHS_MAX + 2] = { NULL };
	cleat_error err = { 0 };
	struct sandbox *s;

	skip_without_landlock();
	for (size_t i = 0; i < SANDBOX_PATHS_MAX; i++)
		many[i] = "/usr";
	s = sandbox_of((struct sandbox_spec){ .read = many });
	sandbox_unref(s);
	many[SANDBOX_PATHS_MAX] = "/usr";
	assert_null(sandbox_new(&(struct sandbox_spec){ .read = many }, NULL, &err));
	assert_non_null(strstr(err.message, "more than 256 paths"));
}

static void collect(void *ctx, int level, const char *line)
{
	char *all = ctx;
	size_t n = strlen(all);

	(void)level;
	snprintf(all + n, 4096 - n, "%s\n", line);
}

TEST(test_the_probe_says_what_is_enforced)
{
	static const struct {
		int abi;
		const char *says, *says_not;
	} cases[] = {
		{ -ENOSYS, "Landlock not available", "enforced" },
		{ -ENOSYS, "sandboxes are not available: this kernel has no Landlock", "network" },
		{ 1, "Landlock ABI 1, seccomp filters available", NULL },
		{ 1, "truncate(2) is refused everywhere", NULL },
		{ 1, "needs Linux 5.19", "by Landlock, too" },
		{ 3, "NOT enforced (needs Linux 6.12, Landlock ABI 6)", "refused everywhere" },
		{ 4, "TCP by Landlock, too", NULL },
		{ 6, "signals to others                   enforced (Landlock)", "6.12" },
	};

	skip_without_landlock();
	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		char all[4096] = "";

		landlock_pretend(cases[i].abi);
		sandbox_probe(collect, all);
		landlock_pretend(0);
		if (!strstr(all, cases[i].says))
			fail_msg("%s", all);
		if (cases[i].says_not && strstr(all, cases[i].says_not))
			fail_msg("%s", all);
	}
}

/* ---- memory, descriptors ------------------------------------------------------------------ */

TEST(test_without_memory_there_is_none)
{
	const char *reads[] = { scratch_path("read"), scratch_path("write"), NULL };

	skip_without_landlock();
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		cleat_error err = { 0 };
		size_t fds = open_fds();
		struct sandbox *s;

		s = sandbox_new(&(struct sandbox_spec){ .read = reads, .program = "sh" }, &fa.hook,
				&err);
		if (!s)
			assert_int_equal(err.status, CLEAT_ENOMEM);
		else
			assert_false(fail_alloc_hit(&fa));
		sandbox_unref(s);
		assert_int_equal(open_fds(), fds);
		assert_true(fa.round < 100);
	}
}

TEST(test_it_is_counted)
{
	struct sandbox *s;
	struct done d;

	skip_without_landlock();
	s = sandbox_of((struct sandbox_spec){ 0 });
	assert_ptr_equal(sandbox_ref(s), s);
	sandbox_unref(s);
	run_sh(s, "echo", &d);
	assert_int_equal(d.status, 0);
	sandbox_unref(s);
	sandbox_unref(NULL);
}

/* No descriptor to be had: said, and not entered with half of the rules. */
INSIDE_TEST(test_without_descriptors_there_is_no_half_sandbox,
	    sandbox_of((struct sandbox_spec){ 0 }))
{
	struct rlimit before, few;
	unsigned failed = 0;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	for (few = before, few.rlim_cur = 1; few.rlim_cur < 40; few.rlim_cur++) {
		struct sandbox_pass pass;
		cleat_error err = { 0 };
		int rc;

		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		rc = sandbox_pass_new(in->s, &pass, &err);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
		if (rc) {
			assert_int_equal(pass.rules, -1);
			assert_true(strlen(err.message) > 0);
			failed++;
		}
		sandbox_pass_done(&pass);
	}
	assert_true(failed >= 16 && failed < 38); /* those below its own, 16 */
}

TEST_GROUP(place_init, place_done)
