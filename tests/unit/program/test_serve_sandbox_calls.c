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
#include <sys/syscall.h>
#include <sys/uio.h>

/* ---- other processes ---------------------------------------------------------------------- */

static int signal_outside(void)
{
	return result(kill(place.outside, SIGCONT));
}

static int signal_parent(void)
{
	return result(kill(getppid(), 0));
}

static int signal_thread_outside(void)
{
	return result(syscall(SYS_tgkill, place.outside, place.outside, SIGCONT));
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

static int signal_everybody(void)
{
	return result(kill(-1, 0));
}

static int trace_outside(void)
{
	return result(ptrace(PTRACE_SEIZE, place.outside, NULL, NULL));
}

static int be_traced(void)
{
	return result(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
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

static int slow_down_outside(void)
{
	return result(setpriority(PRIO_PROCESS, (id_t)place.outside, 1));
}

static int slow_down_all(void)
{
	return result(setpriority(PRIO_USER, getuid(), getpriority(PRIO_USER, getuid())));
}

static int slow_down_self(void)
{
	return result(setpriority(PRIO_PROCESS, 0, 1));
}

static int idle_outside(void)
{
	struct sched_param p = { 0 };

	return result(sched_setscheduler(place.outside, SCHED_BATCH, &p));
}

static int idle_self(void)
{
	struct sched_param p = { 0 };

	return result(sched_setscheduler(0, SCHED_BATCH, &p));
}

TEST(test_other_processes_are_out_of_reach)
{
	static const struct attempt list[] = {
		{ "signal to itself", signal_own_child, SUCCESS, false },
		{ "signal to everybody", signal_everybody, EPERM, false },
		{ "ptrace", trace_outside, EPERM, true },
		{ "being traced", be_traced, EPERM, true },
		{ "process_vm_readv", read_memory, EPERM, true },
		{ "pidfd_getfd", take_descriptor, EPERM, true },
		{ "limits of others", limit_outside, EPERM, false },
		{ "own limits", limit_self, SUCCESS, false },
		{ "priority of others", slow_down_outside, EPERM, false },
		{ "priority of all", slow_down_all, EPERM, true },
		{ "own priority", slow_down_self, SUCCESS, false },
		{ "scheduling of others", idle_outside, EPERM, false },
		{ "own scheduling", idle_self, SUCCESS, false },
	};

	skip_without_landlock();
	TRY_ON_KERNELS("147", false, list);
}

TEST(test_signals_stay_inside)
{
	static const struct attempt list[] = {
		{ "kill", signal_outside, EPERM, false },
		{ "kill the parent", signal_parent, EPERM, false },
		{ "tgkill", signal_thread_outside, EPERM, false },
		{ "pidfd_send_signal", signal_by_descriptor, EPERM, false },
	};
	static const struct attempt before[] = {
		{ "kill, on an older kernel", signal_outside, SUCCESS, false },
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
static int open_proc(const char *name, int flags)
{
	char path[512];

	snprintf(path, sizeof path, "/proc/%d/%s", place.outside, name);
	return result(open(path, flags | O_CLOEXEC));
}

static int read_environment(void)
{
	return open_proc("environ", O_RDONLY);
}

static int open_memory(void)
{
	return open_proc("mem", O_RDWR);
}

static int open_maps(void)
{
	return open_proc("maps", O_RDONLY);
}

static int look_through_its_root(void)
{
	char path[256];

	snprintf(path, sizeof path, "root%s", scratch_path("secret/file"));
	return open_proc(path, O_RDONLY);
}

static int look_through_its_descriptor(void)
{
	return open_proc("fd/2", O_WRONLY);
}

static int see_its_arguments(void)
{
	return open_proc("cmdline", O_RDONLY);
}

TEST(test_proc_shows_no_more_of_others_than_everybody_sees)
{
	static const struct attempt list[] = {
		{ "arguments", see_its_arguments, SUCCESS, false },
		{ "environment", read_environment, EACCES, false },
		{ "memory", open_memory, EACCES, false },
		{ "maps", open_maps, EACCES, false },
		{ "files through its root", look_through_its_root, EACCES, false },
		{ "its descriptors", look_through_its_descriptor, EACCES, true },
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

static int mount_new(void)
{
	return result(syscall(430 /* fsopen */, "tmpfs", 0));
}

static int clone_tree(void)
{
	return result(syscall(428, AT_FDCWD, "/", 1 /* OPEN_TREE_CLONE */));
}

static int change_root(void)
{
	return result(chroot("/"));
}

static int user_namespace(void)
{
	return result(unshare(CLONE_NEWUSER));
}

static int mount_namespace(void)
{
	return result(unshare(CLONE_NEWNS));
}

static int namespace_of_child(void)
{
	pid_t pid = (pid_t)syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		_exit(0);
	return result(pid);
}

static int unshare_files(void)
{
	return result(unshare(CLONE_FILES | CLONE_FS));
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

static int page_faults(void)
{
	return result(syscall(SYS_userfaultfd, 1 /* user mode only */));
}

static int keyring(void)
{
	return result(syscall(SYS_keyctl, 0, -3, 0, 0, 0));
}

static int add_key(void)
{
	return result(syscall(SYS_add_key, "user", "cleat-test", "x", 1ul, -2));
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

static int kernel_log(void)
{
	return result(syscall(SYS_syslog, 10 /* its size */, NULL, 0));
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
	static const struct attempt list[] = {
		{ "mount", mount_something, EPERM, true },
		{ "fsopen", mount_new, EPERM, true },
		{ "open_tree", clone_tree, EPERM, true },
		{ "chroot", change_root, EPERM, true },
		{ "a user namespace", user_namespace, EPERM, true },
		{ "a mount namespace", mount_namespace, EPERM, true },
		{ "a child in a user namespace", namespace_of_child, EPERM, true },
		{ "unshare without namespaces", unshare_files, SUCCESS, false },
		{ "clone3", clone_by_struct, ENOSYS, true },
		{ "setns", other_namespace, EPERM, true },
		{ "bpf", load_bpf, EPERM, true },
		{ "perf_event_open", count_events, EPERM, true },
		{ "userfaultfd", page_faults, EPERM, true },
		{ "keyctl", keyring, EPERM, true },
		{ "add_key", add_key, EPERM, true },
		{ "System V shared memory", shared_memory, EPERM, true },
		{ "message queues", message_queue, EPERM, true },
		{ "syslog", kernel_log, EPERM, true },
		{ "sethostname", host_name, EPERM, true },
		{ "open_by_handle_at", open_by_handle, EPERM, true },
	};

	skip_without_landlock();
	TRY_USUAL(true, list);
}

/* A number that only a later kernel knows, and one that older ones took for ptrace of x32. */
static int call_from_the_future(void)
{
	return result(syscall(471));
}

static int call_of_another_abi(void)
{
	return result(syscall(521, 0, 0, 0, 0));
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
	static const struct attempt list[] = {
		{ "a new system call", call_from_the_future, ENOSYS, true },
		{ "number 521", call_of_another_abi, ENOSYS, true },
#ifdef __x86_64__
		{ "x32", call_x32, KILLED + SIGSYS, true },
		{ "i386", call_i386, KILLED + SIGSYS, true },
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
