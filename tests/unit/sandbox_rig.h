/* tests/unit/sandbox_rig.h - a place with things that may and may not be touched, and a process that tries.
 *
 * An attempt is a function that gives 0 or an errno. It is made by a process that has entered a sandbox,
 * and, as a control, by one that has not: what fails there, too, proves nothing.
 */
#ifndef TESTS_SANDBOX_RIG_H
#define TESTS_SANDBOX_RIG_H

#include "child_support.h"
#include "serve/sandbox.h"
#include "serve/sandbox_landlock.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* DIR/read: may be read; DIR/write: may be changed; DIR/secret: neither. */
static struct {
	char dir[64];
	int tcp4, tcp6, udp, path, abstract; /* listening; -1: this system has none */
	struct sockaddr_in to4, to_udp;
	struct sockaddr_in6 to6;
	struct sockaddr_un to_path, to_abstract;
	socklen_t abstract_len;
	pid_t outside; /* a process of ours that only waits */
	int made4;     /* a socket from before */
} place;

/* "DIR/..." in one of a few buffers. */
static inline const char *in_place(const char *name)
{
	static char buf[8][192];
	static unsigned next;
	char *p = buf[next++ % 8];

	snprintf(p, sizeof buf[0], "%s/%s", place.dir, name);
	return p;
}

static inline void put_file(const char *name, const char *text)
{
	FILE *f = fopen(in_place(name), "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static inline void put_program(const char *name)
{
	char command[512];

	if (access(in_place("program"), F_OK)) {
		snprintf(command, sizeof command, "cp /bin/true %s", in_place("program"));
		assert_int_equal(system(command), 0);
	}
	assert_int_equal(link(in_place("program"), in_place(name)), 0);
}

/* What attempts change is put back. */
static inline void place_files(void)
{
	char command[512];

	snprintf(
		command, sizeof command,
		"cd %s && rm -rf read write secret && mkdir -m 755 read write secret read/sub write/a "
		"write/b write/empty read/empty",
		place.dir);
	assert_int_equal(system(command), 0);
	put_file("read/file", "readable");
	put_file("write/file", "writable");
	put_file("write/a/file", "a");
	put_file("secret/file", "secret");
	put_program("read/program");
	put_program("write/program");
	put_program("secret/program");
	assert_int_equal(symlink("../secret/file", in_place("read/link")), 0);
	assert_int_equal(symlink(in_place("secret"), in_place("write/link")), 0);
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
	snprintf(place.to_path.sun_path, sizeof place.to_path.sun_path, "%s", in_place("socket"));
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

static inline int place_init(void **state)
{
	(void)state;
	warm_up(NULL);
	snprintf(place.dir, sizeof place.dir, "/tmp/cleat-sandbox-XXXXXX");
	if (!mkdtemp(place.dir))
		return -1;
	place_files();
	place_sockets();
	place.outside = fork();
	if (place.outside == 0)
		for (;;)
			pause();
	return 0;
}

static inline int place_done(void **state)
{
	char command[128];

	(void)state;
	kill(place.outside, SIGKILL);
	waitpid(place.outside, NULL, 0);
	snprintf(command, sizeof command, "rm -rf %s", place.dir);
	return system(command);
}

/* ---- attempts ----------------------------------------------------------------------------- */

/* Results that are not an errno. */
enum { KILLED = 1000, SUCCESS = 0, ANY_REFUSAL = 2000 };

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
	int (*make)(void);
	int expected; /* SUCCESS, an errno, KILLED + signal, ANY_REFUSAL: EACCES, EPERM or EXDEV */
	/* The control may fail: not everybody may do it, or the system lacks it. */
	bool optional;
};

static inline bool as_expected(int got, int expected)
{
	if (expected == ANY_REFUSAL)
		return got == EACCES || got == EPERM || got == EXDEV;
	return got == expected;
}

/* What can be done is done to files that are put back then. */
static inline int attempt_with(const struct sandbox *s, const struct attempt *a)
{
	int got = result_of(s, a->make);

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

#define MAKE_ATTEMPTS(s, list) make_attempts(s, true, list, CLEAT_COUNT(list))
#define MAKE_MORE(s, list)     make_attempts(s, false, list, CLEAT_COUNT(list))

/* ---- sandboxes ---------------------------------------------------------------------------- */

static inline struct sandbox *sandbox_of(struct sandbox_spec spec)
{
	cleat_error err;
	struct sandbox *s = sandbox_new(&spec, NULL, &err);

	if (!s)
		fail_msg("%s", err.message);
	return s;
}

/* DIR/read and, if wanted, DIR/write. */
static inline struct sandbox *usual_sandbox(bool write)
{
	const char *reads[] = { in_place("read"), NULL };
	const char *writes[] = { in_place("write"), NULL };

	return sandbox_of((struct sandbox_spec){ .read = reads, .write = write ? writes : NULL });
}

static inline void skip_without_landlock(void)
{
	if (landlock_abi() > 0)
		return;
	print_message("# no Landlock here: %s\n", strerror(-landlock_abi()));
	skip();
}

#endif
