/* program/serve/sandbox/sandbox.c - see sandbox.h. What is allowed: paths.c; how: landlock.c and
 * filter.c; what there is to say about it: probe.c.
 *
 * The rules are made anew for every process, by us, and entered by it: so files that were replaced are
 * found, what fails has a message, and the process between fork and exec has four calls to make.
 */
#define _GNU_SOURCE /* syscall, O_PATH */

#include "serve/sandbox/sandbox.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/mem.h"
#include "serve/sandbox/filter.h"
#include "serve/sandbox/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

struct sandbox {
	cleat_allocator mem;
	atomic_size_t refs;
	struct arena ar;
	struct sandbox_paths paths;
	struct filter filter;
	bool net, system;
};

enum { TRY_NOT_ENFORCED = 255 };

/* ---- entering ----------------------------------------------------------------------------- */

#ifdef __linux__
/* Root keeps what makes files accessible that belong to others; without that "write" would not mean much
 * in a container. (Privileges that were dropped are not given back by an exec: no_new_privs.) */
static int drop_capabilities(void)
{
	enum {
		VERSION_3 = 0x20080522,
		DAC_OVERRIDE = 1,
		DAC_READ_SEARCH = 2,
		FOWNER = 3,
		KILL = 5
	};
	const uint32_t keep =
		1u << DAC_OVERRIDE | 1u << DAC_READ_SEARCH | 1u << FOWNER | 1u << KILL;
	struct {
		uint32_t version;
		int pid;
	} header = { VERSION_3, 0 };
	struct {
		uint32_t effective, permitted, inheritable;
	} sets[2] = { { 0, 0, 0 }, { 0, 0, 0 } };

	if (syscall(SYS_capget, &header, sets))
		return errno;
	sets[0].effective &= keep;
	sets[0].permitted &= keep;
	sets[0].inheritable = 0;
	sets[1].effective = sets[1].permitted = sets[1].inheritable = 0;
	return syscall(SYS_capset, &header, sets) ? errno : 0;
}

/* /proc/self is another directory for everybody. So this is for the command itself; what it starts has
 * none, because all of /proc would show the arguments of other people's programs. */
static void allow_own_proc(int rules)
{
	int fd = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	landlock_rules_add(rules, fd, LANDLOCK_READ);
	close(fd);
}

int sandbox_enter(const void *ctx)
{
	const struct sandbox_pass *pass = ctx;
	int error = drop_capabilities();

	if (pass->sandbox->system)
		allow_own_proc(pass->rules);
	if (error == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		error = errno;
	if (error == 0)
		error = landlock_enter(pass->rules);
	return error ? error : filter_enter(&pass->sandbox->filter);
}

/* Calls that cannot succeed inside: a kernel, or what plays one, that takes the rules and does not
 * keep them is found out. */
static bool kept(const struct sandbox *s)
{
	bool all = false; /* of the file system may be read */

	for (size_t i = 0; i < s->paths.n; i++)
		all = all || strcmp(s->paths.list[i].path, "/") == 0;
	if (!all && syscall(SYS_openat, AT_FDCWD, "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) >= 0)
		return false;
	if (!s->net && syscall(SYS_socket, 2 /* AF_INET */, 1, 0) >= 0)
		return false;
	return syscall(SYS_chroot, "/") != 0 && errno == EPERM;
}

/* A process that enters and ends, made so that the program does not hear of it. 0, errno, or
 * TRY_NOT_ENFORCED. */
static int try_out(const struct sandbox_pass *pass)
{
	int status = 0, error;
	pid_t pid = (pid_t)syscall(SYS_clone, 0ul, 0ul, 0ul, 0ul, 0ul);

	if (pid == 0) {
		error = sandbox_enter(pass);
		if (error == 0 && !kept(pass->sandbox))
			error = TRY_NOT_ENFORCED;
		syscall(SYS_exit_group, error);
	}
	if (pid < 0)
		return errno;
	while (waitpid(pid, &status, __WALL) < 0)
		if (errno != EINTR)
			return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : ENOSYS;
}
#else
int sandbox_enter(const void *ctx)
{
	(void)ctx;
	return ENOSYS;
}

static int try_out(const struct sandbox_pass *pass)
{
	(void)pass;
	return ENOSYS;
}
#endif

/* ---- one pass ----------------------------------------------------------------------------- */

int sandbox_pass_new(const struct sandbox *s, struct sandbox_pass *ret, cleat_error *err)
{
	int rc;

	*ret = (struct sandbox_pass){ .sandbox = s, .rules = landlock_rules_new(s->net) };
	if (ret->rules < 0) {
		error_set(err, CLEAT_EIO, "cannot make the sandbox: %s", strerror(-ret->rules));
		ret->rules = -1;
		return CLEAT_EIO;
	}
	rc = sandbox_paths_allow(&s->paths, ret->rules, err);
	if (rc)
		sandbox_pass_done(ret);
	return rc;
}

void sandbox_pass_done(struct sandbox_pass *pass)
{
	if (pass->rules >= 0)
		close(pass->rules);
	pass->rules = -1;
}

/* ---- making ------------------------------------------------------------------------------- */

static int need_landlock(int abi, cleat_error *err)
{
	if (abi > 0)
		return CLEAT_OK;
	if (abi == -EOPNOTSUPP)
		return error_set(err, CLEAT_EUNSUPPORTED,
				 "Landlock is switched off in this kernel; start it with "
				 "\"lsm=landlock,...\" (see /sys/kernel/security/lsm)");
	if (abi == -ENOSYS)
		return error_set(err, CLEAT_EUNSUPPORTED,
				 "this kernel has no Landlock: Linux 5.13 or later is needed");
	return error_set(err, CLEAT_EUNSUPPORTED, "Landlock cannot be used here: %s",
			 strerror(-abi));
}

static int sandbox_check(const struct sandbox *s, cleat_error *err)
{
	struct sandbox_pass pass;
	int rc = sandbox_pass_new(s, &pass, err), error;

	if (rc)
		return rc;
	error = try_out(&pass);
	sandbox_pass_done(&pass);
	if (error == TRY_NOT_ENFORCED)
		return error_set(
			err, CLEAT_EUNSUPPORTED,
			"this kernel accepts the rules of a sandbox, but does not keep them");
	if (error)
		return error_set(err, CLEAT_EUNSUPPORTED, "a sandbox cannot be entered here: %s",
				 strerror(error));
	return CLEAT_OK;
}

struct sandbox *sandbox_new(const struct sandbox_spec *spec, const cleat_allocator *mem,
			    cleat_error *err)
{
	cleat_allocator a = mem_resolve(mem);
	int abi = landlock_abi(), rc = need_landlock(abi, err);
	struct filter_wish wish = { .inet = spec->net,
				    .unix_ = spec->unix_sockets,
				    .change = spec->write && spec->write[0],
				    .modes = spec->write && spec->write[0] && !spec->no_modes,
				    .truncate = abi < LANDLOCK_TRUNCATE };
	struct sandbox *s = rc ? NULL : mem_zalloc(&a, sizeof *s);

	if (!s) {
		if (rc == CLEAT_OK)
			error_set(err, CLEAT_ENOMEM, "out of memory");
		return NULL;
	}
	s->mem = a;
	s->net = spec->net;
	s->system = !spec->no_system;
	atomic_init(&s->refs, 1);
	arena_init(&s->ar, &s->mem, 0);
	rc = sandbox_paths_make(&s->paths, spec, &s->ar, err);
	if (rc == CLEAT_OK)
		rc = filter_new(&s->filter, &wish, &s->mem, err);
	if (rc == CLEAT_OK)
		rc = sandbox_check(s, err);
	if (rc) {
		sandbox_unref(s);
		return NULL;
	}
	return s;
}

struct sandbox *sandbox_ref(struct sandbox *s)
{
	atomic_fetch_add(&s->refs, 1);
	return s;
}

void sandbox_unref(struct sandbox *s)
{
	cleat_allocator mem;

	if (!s || atomic_fetch_sub(&s->refs, 1) != 1)
		return;
	mem = s->mem;
	filter_done(&s->filter, &mem);
	arena_done(&s->ar);
	mem_free(&mem, s);
}
