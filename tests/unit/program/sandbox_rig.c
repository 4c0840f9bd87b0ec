/* sandbox_rig.c - see sandbox_rig.h. */
#include "unit/program/sandbox_rig.h"

struct place place;
const struct attempt *now;

static void put_program(const char *name)
{
	char command[512];

	if (access(scratch_path("program"), F_OK)) {
		snprintf(command, sizeof command, "cp /bin/true %s", scratch_path("program"));
		assert_int_equal(system(command), 0);
	}
	assert_int_equal(link(scratch_path("program"), scratch_path(name)), 0);
}

void place_files(void)
{
	char command[512];

	snprintf(
		command, sizeof command,
		"cd %s && rm -rf read write secret && mkdir -m 755 read write secret read/sub write/a "
		"write/b write/empty read/empty",
		scratch_dir);
	assert_int_equal(system(command), 0);
	scratch_put("read/file", "readable");
	scratch_put("write/file", "writable");
	scratch_put("write/a/file", "a");
	scratch_put("secret/file", "secret");
	put_program("read/program");
	put_program("write/program");
	put_program("secret/program");
	assert_int_equal(symlink("../secret/file", scratch_path("read/link")), 0);
	assert_int_equal(symlink(scratch_path("secret"), scratch_path("write/link")), 0);
}

static int bound(int family, int type, void *addr, socklen_t n)
{
	int fd = socket(family, type | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, addr, n) || (type == SOCK_STREAM && listen(fd, 10))) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	getsockname(fd, addr, &n);
	return fd;
}

static void place_sockets(void)
{
	place.to4.sin_family = place.to_udp.sin_family = AF_INET;
	place.to4.sin_addr.s_addr = place.to_udp.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	place.to6.sin6_family = AF_INET6;
	place.to6.sin6_addr = in6addr_loopback;
	place.to_path.sun_family = place.to_abstract.sun_family = AF_UNIX;
	snprintf(place.to_path.sun_path, sizeof place.to_path.sun_path, "%s",
		 scratch_path("socket"));
	snprintf(place.to_abstract.sun_path + 1, sizeof place.to_abstract.sun_path - 1, "cleat-%d",
		 getpid());
	place.abstract_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
					 strlen(place.to_abstract.sun_path + 1));
	place.tcp4 = bound(AF_INET, SOCK_STREAM, &place.to4, sizeof place.to4);
	place.tcp6 = bound(AF_INET6, SOCK_STREAM, &place.to6, sizeof place.to6);
	place.udp = bound(AF_INET, SOCK_DGRAM, &place.to_udp, sizeof place.to_udp);
	place.path = bound(AF_UNIX, SOCK_STREAM, &place.to_path, sizeof place.to_path);
	place.abstract = bound(AF_UNIX, SOCK_STREAM, &place.to_abstract, place.abstract_len);
	place.made4 = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(place.tcp4 >= 0 && place.udp >= 0 && place.path >= 0 && place.abstract >= 0);
}

pid_t fork_waiting(void)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	return pid;
}

int place_init(void **state)
{
	warm_up(state);
	scratch_begin(state);
	assert_int_equal(chdir(scratch_dir), 0);
	place_files();
	place_sockets();
	place.outside = fork_waiting();
	return 0;
}

int place_done(void **state)
{
	const int fds[] = { place.tcp4, place.tcp6,     place.udp,
			    place.path, place.abstract, place.made4 };

	for (size_t i = 0; i < CLEAT_COUNT(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	kill(place.outside, SIGKILL);
	waitpid(place.outside, NULL, 0);
	return scratch_end(state);
}

int result(long rc)
{
	return rc < 0 ? errno : 0;
}

int result_of(const struct sandbox *s, int (*attempt)(void))
{
	struct sandbox_pass pass = { .rules = -1 };
	cleat_error err;
	int status;
	pid_t pid;

	if (s && sandbox_pass_new(s, &pass, &err))
		fail_msg("%s", err.message);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		int rc = s ? sandbox_enter(&pass) : 0;

		_exit(rc ? 254 : attempt());
	}
	sandbox_pass_done(&pass);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status))
		return KILLED + WTERMSIG(status);
	assert_int_not_equal(WEXITSTATUS(status), 254);
	return WEXITSTATUS(status);
}

int try_open(void)
{
	return result(open(now->path, (int)now->arg | O_CLOEXEC, 0644));
}

int try_rename(void)
{
	return result(rename(now->path, now->to));
}

int try_call(void)
{
	const long *c = now->call;

	return result(syscall(c[0], c[1], c[2], c[3], c[4], c[5]));
}

static bool as_expected(int got, int expected)
{
	if (expected == ANY_REFUSAL)
		return got == EACCES || got == EPERM || got == EXDEV;
	return got == expected;
}

/* What can be done is done to files that are put back then. */
static int attempt_with(const struct sandbox *s, const struct attempt *a)
{
	int got;

	now = a;
	got = result_of(s, a->make);
	if (got == SUCCESS)
		place_files();
	return got;
}

/* The control can be left out where another sandbox has had it. */
static void make_attempts(const struct sandbox *s, bool controlled, const struct attempt *list,
			  size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct attempt *a = &list[i];
		int control, got = attempt_with(s, a);

		if (!as_expected(got, a->expected))
			fail_msg("%s: %d (%s) in the sandbox, ABI %d", a->what, got, strerror(got),
				 landlock_abi());
		control = controlled ? attempt_with(NULL, a) : 0;
		if (control && !a->optional)
			fail_msg("%s: %d (%s) outside, too", a->what, control, strerror(control));
		if (control)
			print_message("# %s: not to be had outside, too (%s)\n", a->what,
				      control < KILLED ? strerror(control) : "killed");
	}
}

struct sandbox *sandbox_of(struct sandbox_spec spec)
{
	cleat_error err;
	struct sandbox *s = sandbox_new(&spec, NULL, &err);

	if (!s)
		fail_msg("%s", err.message);
	return s;
}

struct sandbox *usual_sandbox(bool write)
{
	const char *reads[] = { scratch_path("read"), NULL };
	const char *writes[] = { scratch_path("write"), NULL };

	return sandbox_of((struct sandbox_spec){ .read = reads, .write = write ? writes : NULL });
}

void skip_without_landlock(void)
{
	if (landlock_abi() > 0)
		return;
	print_message("# no Landlock here: %s\n", strerror(-landlock_abi()));
	skip();
}

void try_in(struct sandbox *s, bool controlled, const struct attempt *list, size_t n)
{
	make_attempts(s, controlled, list, n);
	sandbox_unref(s);
}

void try_on_kernels(const char *abis, bool write, const struct attempt *list, size_t n)
{
	for (; *abis; abis++) {
		landlock_pretend(*abis - '0');
		try_in(usual_sandbox(write), !abis[1], list, n);
	}
	landlock_pretend(0);
}
