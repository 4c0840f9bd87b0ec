/* tests/unit/sandbox_rig.h - a place with things that may and may not be touched, and a process that tries.
 *
 * An attempt is a function that gives 0 or an errno. It is made by a process that has entered a sandbox,
 * and, as a control, by one that has not: what fails there, too, proves nothing.
 */
#ifndef TESTS_SANDBOX_RIG_H
#define TESTS_SANDBOX_RIG_H

#include "serve/sandbox/landlock.h"
#include "serve/sandbox/sandbox.h"
#include "support_files.h"
#include "unit/child/child_support.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

/* In the scratch directory, which is the working directory: read: may be read; write: may be changed; secret: neither. */
static struct {
	int tcp4, tcp6, udp, path, abstract; /* listening; -1: this system has none */
	struct sockaddr_in to4, to_udp;
	struct sockaddr_in6 to6;
	struct sockaddr_un to_path, to_abstract;
	socklen_t abstract_len;
	pid_t outside; /* a process of ours that only waits */
	int made4;     /* a socket from before */
} place;

static inline void put_program(const char *name)
{
	char command[512];

	if (access(scratch_path("program"), F_OK)) {
		snprintf(command, sizeof command, "cp /bin/true %s", scratch_path("program"));
		assert_int_equal(system(command), 0);
	}
	assert_int_equal(link(scratch_path("program"), scratch_path(name)), 0);
}

/* What attempts change is put back. */
static inline void place_files(void)
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

static inline int bound(int family, int type, void *addr, socklen_t n)
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

static inline void place_sockets(void)
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

/* A child that only waits. */
static inline pid_t fork_waiting(void)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	return pid;
}

static inline int place_init(void **state)
{
	warm_up(state);
	scratch_begin(state);
	assert_int_equal(chdir(scratch_dir), 0);
	place_files();
	place_sockets();
	place.outside = fork_waiting();
	return 0;
}

static inline int place_done(void **state)
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

/* ---- attempts ----------------------------------------------------------------------------- */

/* Results that are not an errno. */
enum { KILLED = 1000, SUCCESS = 0, ANY_REFUSAL = 2000 };

/* What an attempt gives, of what a system call gave. */
static inline int result(long rc)
{
	return rc < 0 ? errno : 0;
}

/* What came of it in a process of its own: an errno, or KILLED + signal. `s` may be NULL: no sandbox. */
static inline int result_of(const struct sandbox *s, int (*attempt)(void))
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

struct attempt {
	const char *what;
	int expected; /* SUCCESS, an errno, KILLED + signal, ANY_REFUSAL: EACCES, EPERM or EXDEV */
	/* The control may fail: not everybody may do it, or the system lacks it. */
	bool optional;
	int (*make)(void);
	const char *path, *to; /* what `make` finds in `now` */
	long arg, call[6];
};

/* The attempt at hand. */
static const struct attempt *now;

/* Attempts that differ in what they are given. */
#define OPEN(name, flags)  .make = try_open, .path = name, .arg = flags
#define RENAME(from, name) .make = try_rename, .path = from, .to = name
#define CALL(...)          .make = try_call, .call = { __VA_ARGS__ }

static inline int try_open(void)
{
	return result(open(now->path, (int)now->arg | O_CLOEXEC, 0644));
}

static inline int try_rename(void)
{
	return result(rename(now->path, now->to));
}

static inline int try_call(void)
{
	const long *c = now->call;

	return result(syscall(c[0], c[1], c[2], c[3], c[4], c[5]));
}

static inline bool as_expected(int got, int expected)
{
	if (expected == ANY_REFUSAL)
		return got == EACCES || got == EPERM || got == EXDEV;
	return got == expected;
}

/* What can be done is done to files that are put back then. */
static inline int attempt_with(const struct sandbox *s, const struct attempt *a)
{
	int got;

	now = a;
	got = result_of(s, a->make);
	if (got == SUCCESS)
		place_files();
	return got;
}

/* The control can be left out where another sandbox has had it. */
static inline void make_attempts(const struct sandbox *s, bool controlled,
				 const struct attempt *list, size_t n)
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

/* ---- sandboxes ---------------------------------------------------------------------------- */

static inline struct sandbox *sandbox_of(struct sandbox_spec spec)
{
	cleat_error err;
	struct sandbox *s = sandbox_new(&spec, NULL, &err);

	if (!s)
		fail_msg("%s", err.message);
	return s;
}

/* "read" and, if wanted, "write". */
static inline struct sandbox *usual_sandbox(bool write)
{
	const char *reads[] = { scratch_path("read"), NULL };
	const char *writes[] = { scratch_path("write"), NULL };

	return sandbox_of((struct sandbox_spec){ .read = reads, .write = write ? writes : NULL });
}

static inline void skip_without_landlock(void)
{
	if (landlock_abi() > 0)
		return;
	print_message("# no Landlock here: %s\n", strerror(-landlock_abi()));
	skip();
}

/* Makes the attempts of a table in `s`, which is gone then. */
#define TRY_IN(s, list) try_in(s, true, list, CLEAT_COUNT(list))
/* ... in the usual sandbox. */
#define TRY_USUAL(write, list) TRY_IN(usual_sandbox(write), list)
/* ... on what older kernels could do, too: `abis` are digits. The last one has the control. */
#define TRY_ON_KERNELS(abis, write, list) try_on_kernels(abis, write, list, CLEAT_COUNT(list))

static inline void try_in(struct sandbox *s, bool controlled, const struct attempt *list, size_t n)
{
	make_attempts(s, controlled, list, n);
	sandbox_unref(s);
}

static inline void try_on_kernels(const char *abis, bool write, const struct attempt *list,
				  size_t n)
{
	for (; *abis; abis++) {
		landlock_pretend(*abis - '0');
		try_in(usual_sandbox(write), !abis[1], list, n);
	}
	landlock_pretend(0);
}

#endif
