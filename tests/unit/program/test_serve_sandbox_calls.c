/* test_serve_sandbox_calls.c - processes in a sandbox try to reach other processes and the kernel. (The network:
 * test_serve_sandbox_network.c.)
 */
#include "test.h"
#include "unit/program/sandbox_rig.h"

#include <mqueue.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/uio.h>

/* ---- other processes ---------------------------------------------------------------------- */

static int signal_parent(void)
{
	return result(kill(getppid(), 0));
}

static int signal_by_descriptor(void)
{
	int fd = (int)syscall(SYS_pidfd_open, place.outside, 0);

	return fd < 0 ? errno : result(syscall(SYS_pidfd_send_signal, fd, SIGCONT, NULL, 0));
}

/* A signal that the kernel sends for us. */
static int signal_by_owner(void)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		return 99;
	return result(fcntl(fds[0], F_SETOWN, place.outside));
}

static int signal_own_child(void)
{
	pid_t pid = fork_waiting();
	int rc, status;

	rc = result(kill(pid, SIGKILL));
	return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) ? rc : 99;
}

static int read_memory(void)
{
	char c;
	struct iovec own = { &c, 1 }, other = { &place, 1 };

	return result(process_vm_readv(place.outside, &own, 1, &other, 1, 0));
}

static int take_descriptor(void)
{
	int fd = (int)syscall(SYS_pidfd_open, place.outside, 0);

	return fd < 0 ? 99 : result(syscall(438 /* pidfd_getfd */, fd, 2, 0));
}

static int limit_outside(void)
{
	struct rlimit r;

	return result(prlimit(place.outside, RLIMIT_CORE, NULL, &r));
}

static int limit_self(void)
{
	struct rlimit r;

	return getrlimit(RLIMIT_CORE, &r) ? errno : result(setrlimit(RLIMIT_CORE, &r));
}

static int slow_down_all(void)
{
	return result(setpriority(PRIO_USER, getuid(), getpriority(PRIO_USER, getuid())));
}

TEST(test_other_processes_are_out_of_reach)
{
	const struct sched_param plain = { 0 };
	const struct attempt list[] = {
		{ "signal to itself", SUCCESS, false, .make = signal_own_child },
		{ "signal to everybody", EPERM, false, CALL(SYS_kill, -1) },
		{ "ptrace", EPERM, true, CALL(SYS_ptrace, PTRACE_SEIZE, place.outside) },
		{ "being traced", EPERM, true, CALL(SYS_ptrace, PTRACE_TRACEME) },
		{ "process_vm_readv", EPERM, true, .make = read_memory },
		{ "pidfd_getfd", EPERM, true, .make = take_descriptor },
		{ "limits of others", EPERM, false, .make = limit_outside },
		{ "own limits", SUCCESS, false, .make = limit_self },
		{ "priority of others", EPERM, false,
		  CALL(SYS_setpriority, PRIO_PROCESS, place.outside, 1) },
		{ "priority of all", EPERM, true, .make = slow_down_all },
		{ "own priority", SUCCESS, false, CALL(SYS_setpriority, PRIO_PROCESS, 0, 1) },
		{ "scheduling of others", EPERM, false,
		  CALL(SYS_sched_setscheduler, place.outside, SCHED_BATCH, (long)&plain) },
		{ "own scheduling", SUCCESS, false,
		  CALL(SYS_sched_setscheduler, 0, SCHED_BATCH, (long)&plain) },
	};

	skip_without_landlock();
	TRY_ON_KERNELS("147", false, list);
}

TEST(test_signals_stay_inside)
{
	const struct attempt list[] = {
		{ "kill", EPERM, false, CALL(SYS_kill, place.outside, SIGCONT) },
		{ "kill the parent", EPERM, false, .make = signal_parent },
		{ "tgkill", EPERM, false, CALL(SYS_tgkill, place.outside, place.outside, SIGCONT) },
		{ "pidfd_send_signal", EPERM, false, .make = signal_by_descriptor },
	};
	const struct attempt before[] = {
		{ "kill, on an older kernel", SUCCESS, false,
		  CALL(SYS_kill, place.outside, SIGCONT) },
	};

	if (landlock_abi() < LANDLOCK_SCOPE)
		skip();
	assert_null(sandbox_remark());
	TRY_USUAL(false, list);
	landlock_pretend(5);
	assert_non_null(strstr(sandbox_remark(), "signals"));
	TRY_USUAL(false, before);
	landlock_pretend(0);
}

/* F_SETOWN itself succeeds; the signal does not come. */
static int io_signal_outside(void)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) || fcntl(fds[0], F_SETOWN, place.outside) ||
	    fcntl(fds[0], F_SETSIG, SIGKILL) || fcntl(fds[0], F_SETFL, O_ASYNC))
		return errno;
	return result(write(fds[1], "x", 1));
}

TEST(test_the_kernel_sends_no_signals_for_it)
{
	struct sandbox *s;
	int status;

	if (landlock_abi() < LANDLOCK_SCOPE)
		skip();
	s = usual_sandbox(false);
	assert_int_equal(result_of(s, signal_by_owner), 0);
	assert_int_equal(result_of(s, io_signal_outside), 0);
	assert_int_equal(waitpid(place.outside, &status, WNOHANG), 0); /* it lives */
	/* the control ends it, and another takes its place */
	assert_int_equal(result_of(NULL, io_signal_outside), 0);
	assert_int_equal(waitpid(place.outside, &status, 0), place.outside);
	assert_int_equal(WTERMSIG(status), SIGKILL);
	place.outside = fork_waiting();
	sandbox_unref(s);
}

/* With /proc allowed: what can be seen of others is what everybody can see. */
#define PROC(name, flags) .make = open_proc, .path = name, .arg = flags

static int open_proc(void)
{
	char path[512];

	snprintf(path, sizeof path, "/proc/%d/%s", place.outside, now->path);
	return result(open(path, (int)now->arg | O_CLOEXEC));
}

static int look_through_its_root(void)
{
	char path[256];

	snprintf(path, sizeof path, "/proc/%d/root%s", place.outside, scratch_path("secret/file"));
	return result(open(path, O_RDONLY | O_CLOEXEC));
}

TEST(test_proc_shows_no_more_of_others_than_everybody_sees)
{
	const struct attempt list[] = {
		{ "arguments", SUCCESS, false, PROC("cmdline", O_RDONLY) },
		{ "environment", EACCES, false, PROC("environ", O_RDONLY) },
		{ "memory", EACCES, false, PROC("mem", O_RDWR) },
		{ "maps", EACCES, false, PROC("maps", O_RDONLY) },
		{ "files through its root", EACCES, false, .make = look_through_its_root },
		{ "its descriptors", EACCES, true, PROC("fd/2", O_WRONLY) },
	};
	const char *read[] = { "/proc", NULL };

	skip_without_landlock();
	TRY_IN(sandbox_of((struct sandbox_spec){ .read = read }), list);
}

/* ---- the kernel --------------------------------------------------------------------------- */

static int mount_something(void)
{
	const char *at = scratch_path("write");
	int rc = result(mount("none", at, "tmpfs", 0, NULL));

	return rc ? rc : result(umount(at));
}

static int namespace_of_child(void)
{
	pid_t pid = (pid_t)syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		_exit(0);
	return result(pid);
}

static int clone_by_struct(void)
{
	uint64_t args[11] = { [4] = SIGCHLD };
	pid_t pid = (pid_t)syscall(435 /* clone3 */, args, sizeof args);

	if (pid == 0)
		_exit(0);
	return result(pid);
}

static int other_namespace(void)
{
	int fd = open("/proc/self/ns/mnt", O_RDONLY);

	return fd < 0 ? 99 : result(setns(fd, 0));
}

static int load_bpf(void)
{
	char attr[128] = { 0 };

	attr[0] = 1; /* a map: hash, keys and values of 4 bytes, one entry */
	attr[4] = attr[8] = 4;
	attr[12] = 1;
	return result(syscall(SYS_bpf, 0, attr, sizeof attr));
}

static int count_events(void)
{
	unsigned char attr[128] = { 0 };

	attr[0] = 1; /* software: cpu-clock */
	attr[4] = 112;
	return result(syscall(SYS_perf_event_open, attr, 0, -1, -1, 0));
}

static int shared_memory(void)
{
	int id = shmget(IPC_PRIVATE, 4096, 0600);

	if (id < 0)
		return errno;
	shmctl(id, IPC_RMID, NULL);
	return 0;
}

static int message_queue(void)
{
	int fd = (int)syscall(SYS_mq_open, "cleat-test", O_CREAT | O_RDWR, 0600, NULL);

	syscall(SYS_mq_unlink, "cleat-test");
	return result(fd);
}

static int host_name(void)
{
	char name[65];

	return gethostname(name, sizeof name) ? 99 : result(sethostname(name, strlen(name)));
}

static int open_by_handle(void)
{
	struct {
		struct file_handle h;
		unsigned char more[128];
	} f;
	int at, mount_id;

	memset(&f, 0, sizeof f);
	f.h.handle_bytes = sizeof f.more;
	at = open("/usr", O_RDONLY);
	if (name_to_handle_at(AT_FDCWD, "/usr", &f.h, &mount_id, 0))
		return 99;
	return result(open_by_handle_at(at, &f.h, O_RDONLY));
}

TEST(test_the_kernel_is_out_of_reach)
{
	const struct attempt list[] = {
		{ "mount", EPERM, true, .make = mount_something },
		{ "fsopen", EPERM, true, CALL(430 /* fsopen */, (long)"tmpfs") },
		{ "open_tree", EPERM, true,
		  CALL(428, AT_FDCWD, (long)"/", 1 /* OPEN_TREE_CLONE */) },
		{ "chroot", EPERM, true, CALL(SYS_chroot, (long)"/") },
		{ "a user namespace", EPERM, true, CALL(SYS_unshare, CLONE_NEWUSER) },
		{ "a mount namespace", EPERM, true, CALL(SYS_unshare, CLONE_NEWNS) },
		{ "a child in a user namespace", EPERM, true, .make = namespace_of_child },
		{ "unshare without namespaces", SUCCESS, false,
		  CALL(SYS_unshare, CLONE_FILES | CLONE_FS) },
		{ "clone3", ENOSYS, true, .make = clone_by_struct },
		{ "setns", EPERM, true, .make = other_namespace },
		{ "bpf", EPERM, true, .make = load_bpf },
		{ "perf_event_open", EPERM, true, .make = count_events },
		{ "userfaultfd", EPERM, true, CALL(SYS_userfaultfd, 1 /* user mode only */) },
		{ "keyctl", EPERM, true, CALL(SYS_keyctl, 0, -3) },
		{ "add_key", EPERM, true,
		  CALL(SYS_add_key, (long)"user", (long)"cleat-test", (long)"x", 1, -2) },
		{ "System V shared memory", EPERM, true, .make = shared_memory },
		{ "message queues", EPERM, true, .make = message_queue },
		{ "syslog", EPERM, true, CALL(SYS_syslog, 10 /* its size */) },
		{ "sethostname", EPERM, true, .make = host_name },
		{ "open_by_handle_at", EPERM, true, .make = open_by_handle },
	};

	skip_without_landlock();
	TRY_USUAL(true, list);
}

#ifdef __x86_64__
static int call_x32(void)
{
	syscall(0x40000000 | 39);
	return 0;
}

/* getpid by the 32-bit door. */
static int call_i386(void)
{
	long rc = 20;

	__asm__ volatile("int $0x80" : "+a"(rc) : : "memory");
	return rc > 0 ? 0 : ENOSYS;
}
#endif

TEST(test_other_doors_are_closed)
{
	const struct attempt list[] = {
		/* A number that only a later kernel knows, and one that older ones took for ptrace of x32. */
		{ "a new system call", ENOSYS, true, CALL(471) },
		{ "number 521", ENOSYS, true, CALL(521) },
#ifdef __x86_64__
		{ "x32", KILLED + SIGSYS, true, .make = call_x32 },
		{ "i386", KILLED + SIGSYS, true, .make = call_i386 },
#endif
	};

	skip_without_landlock();
	TRY_USUAL(true, list);
}

/* ---- privileges --------------------------------------------------------------------------- */

/* 0 when no capability is left but those for files and signals, and none can be had. */
static int have_privileges(void)
{
	uint32_t header[2] = { 0x20080522, 0 }, sets[6] = { 0 };
	const uint32_t kept = 1u << 1 | 1u << 2 | 1u << 3 | 1u << 5;

	if (syscall(SYS_capget, header, sets) || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return 1;
	return (sets[0] & ~kept) || (sets[1] & ~kept) || sets[2] || sets[3] || sets[4] || sets[5];
}

TEST(test_privileges_are_dropped)
{
	struct sandbox *s;

	skip_without_landlock();
	s = usual_sandbox(true);
	assert_int_equal(result_of(s, have_privileges), 0);
	assert_int_equal(result_of(NULL, have_privileges), 1);
	sandbox_unref(s);
}

TEST_GROUP(place_init, place_done)
