/* program/serve/sandbox/filter.c - see filter.h.
 *
 * Arguments that the kernel takes as int are compared by their lower half, or so that an upper half that
 * is not zero is refused: a filter sees all of the register.
 *
 * Other architectures of the same machine (32-bit programs, x32) have other numbers for everything: their
 * calls end the process. Calls above NEWEST are not there (ENOSYS): they may be another way to do what is
 * refused. Among them are those from 512 on, which older kernels on x86-64 took for calls of x32. No rule of
 * libseccomp can say that, so that a few instructions of our own come before its program.
 */
#define _GNU_SOURCE /* memfd_create, CLONE_NEWNS */

#include "serve/sandbox/filter.h"

#include "base/error.h"
#include "base/lazy.h"
#include "base/mem.h"

#include <errno.h>
#include <string.h>

#ifdef __linux__

#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct calls {
	scmp_filter_ctx (*seccomp_init)(uint32_t);
	void (*seccomp_release)(scmp_filter_ctx);
	int (*seccomp_attr_set)(scmp_filter_ctx, enum scmp_filter_attr, uint32_t);
	uint32_t (*seccomp_arch_native)(void);
	int (*seccomp_syscall_resolve_name)(const char *);
	int (*seccomp_rule_add_array)(scmp_filter_ctx, uint32_t, int, unsigned int,
				      const struct scmp_arg_cmp *);
	int (*seccomp_export_bpf)(const scmp_filter_ctx, int);
};

#define CALLS(X)                                                                                   \
	X(seccomp_init)                                                                            \
	X(seccomp_release)                                                                         \
	X(seccomp_attr_set)                                                                        \
	X(seccomp_arch_native)                                                                     \
	X(seccomp_syscall_resolve_name)                                                            \
	X(seccomp_rule_add_array)                                                                  \
	X(seccomp_export_bpf)

LAZY_LOADED(CALLS, "libseccomp.so.2", "libseccomp2")

enum {
	LOW = 0xF,        /* the type of a socket, without its flags */
	NEWEST = 469,     /* file_setattr, Linux 6.17 */
	X32 = 0x40000000, /* a bit of the number */
	CODE_MAX = 4096   /* instructions; the kernel's limit */
};

/* The lower half of a register. */
#define HALF 0xFFFFFFFFu

struct maker {
	const struct calls *k;
	scmp_filter_ctx ctx;
	int offset; /* of this architecture's numbers, where they are the same for all but that */
	int rc;     /* the first failure */
};

/* ---- rules -------------------------------------------------------------------------------- */

/* Those that a library may be too old to know. */
static int number_of(const struct maker *m, const char *name)
{
	static const struct {
		const char *name;
		int number;
	} late[] = { { "mount_setattr", 442 }, { "fchmodat2", 452 },      { "setxattrat", 463 },
		     { "removexattrat", 466 }, { "open_tree_attr", 467 }, { "file_setattr", 469 } };
	int nr = m->k->seccomp_syscall_resolve_name(name);

	for (size_t i = 0; nr == __NR_SCMP_ERROR && i < CLEAT_COUNT(late); i++)
		if (strcmp(late[i].name, name) == 0)
			nr = m->offset + late[i].number;
	return nr;
}

static void filter_add(struct maker *m, int nr, int error, unsigned n,
		       const struct scmp_arg_cmp *args)
{
	int rc;

	if (nr == __NR_SCMP_ERROR || m->rc)
		return;
	rc = m->k->seccomp_rule_add_array(m->ctx, SCMP_ACT_ERRNO((uint16_t)error), nr, n, args);
	if (rc && rc != -EDOM && rc != -EEXIST) /* EDOM: not on this architecture */
		m->rc = rc;
}

static void filter_refuse(struct maker *m, const char *name, int error)
{
	filter_add(m, number_of(m, name), error, 0, NULL);
}

static void refuse_all(struct maker *m, const char *const *names, size_t n, int error)
{
	for (size_t i = 0; i < n; i++)
		filter_refuse(m, names[i], error);
}

static struct scmp_arg_cmp arg(unsigned i, enum scmp_compare op, uint64_t a, uint64_t b)
{
	return (struct scmp_arg_cmp){ .arg = i, .op = op, .datum_a = a, .datum_b = b };
}

static void refuse_if(struct maker *m, const char *name, int error, struct scmp_arg_cmp a)
{
	filter_add(m, number_of(m, name), error, 1, &a);
}

/* When the bits of an int argument under `mask` are `value`. */
static void refuse_bits(struct maker *m, const char *name, int error, unsigned i, uint64_t mask,
			uint64_t value)
{
	refuse_if(m, name, error, arg(i, SCMP_CMP_MASKED_EQ, mask, value));
}

static void refuse_if_both(struct maker *m, const char *name, int error, struct scmp_arg_cmp a,
			   struct scmp_arg_cmp b)
{
	struct scmp_arg_cmp both[2] = { a, b };

	filter_add(m, number_of(m, name), error, 2, both);
}

/* ---- other processes, the kernel ---------------------------------------------------------- */

static void refuse_the_kernel(struct maker *m)
{
	static const char *const names[] = {
		/* other processes */
		"ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "pidfd_getfd",
		/* what is mounted, and where a path begins */
		"mount", "umount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree",
		"open_tree_attr", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr",
		"setns", "open_by_handle_at", "quotactl", "quotactl_fd", "acct", "swapon",
		"swapoff",
		/* the kernel */
		"bpf", "perf_event_open", "userfaultfd", "keyctl", "add_key", "request_key",
		"io_uring_setup", "io_uring_enter", "io_uring_register", "init_module",
		"finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot",
		"syslog", "iopl", "ioperm", "_sysctl", "nfsservctl", "lookup_dcookie", "uselib",
		"vhangup", "sethostname", "setdomainname", "settimeofday", "clock_settime", "stime",
		"fanotify_init",
		/* memory and messages that are found by a number, not by a path */
		"shmget", "shmat", "shmctl", "semget", "semop", "semtimedop", "semctl", "msgget",
		"msgsnd", "msgrcv", "msgctl", "ipc", "mq_open", "mq_unlink"
	};

	refuse_all(m, names, CLEAT_COUNT(names), EPERM);
	/* It tells of files that may not be read. */
	filter_refuse(m, "inotify_add_watch", EACCES);
	/* Of others of the same user: their limits and priorities; all of them at once. (The call for
	 * affinity is made with the number of a thread by ordinary programs, and left to them.) */
	refuse_if(m, "prlimit64", EPERM, arg(0, SCMP_CMP_NE, 0, 0));
	refuse_if(m, "sched_setscheduler", EPERM, arg(0, SCMP_CMP_NE, 0, 0));
	refuse_if(m, "sched_setparam", EPERM, arg(0, SCMP_CMP_NE, 0, 0));
	refuse_if(m, "sched_setattr", EPERM, arg(0, SCMP_CMP_NE, 0, 0));
	refuse_if(m, "setpriority", EPERM, arg(0, SCMP_CMP_NE, PRIO_PROCESS, 0));
	refuse_if(m, "setpriority", EPERM, arg(1, SCMP_CMP_NE, 0, 0));
	refuse_if(m, "ioprio_set", EPERM, arg(0, SCMP_CMP_NE, 1, 0));
	refuse_if(m, "ioprio_set", EPERM, arg(1, SCMP_CMP_NE, 0, 0));
	refuse_bits(m, "kill", EPERM, 0, HALF, HALF);
	/* Words put into a terminal as if they had been typed: TIOCSTI, TIOCLINUX. */
	refuse_bits(m, "ioctl", EPERM, 1, HALF, 0x5412);
	refuse_bits(m, "ioctl", EPERM, 1, HALF, 0x541C);
}

/* In a new user namespace it would have privileges again. clone3 has its flags in memory, where a filter
 * cannot look; the C library goes back to clone when it is not there. */
static void refuse_namespaces(struct maker *m)
{
#if defined(__s390__)
	enum { CLONE_FLAGS = 1 };
#else
	enum { CLONE_FLAGS = 0 };
#endif
	static const uint64_t flags[] = { CLONE_NEWNS,  0x02000000 /* cgroup */, CLONE_NEWUTS,
					  CLONE_NEWIPC, CLONE_NEWUSER,           CLONE_NEWPID,
					  CLONE_NEWNET };

	for (size_t i = 0; i < CLEAT_COUNT(flags); i++) {
		refuse_bits(m, "clone", EPERM, CLONE_FLAGS, flags[i], flags[i]);
		refuse_bits(m, "unshare", EPERM, 0, flags[i], flags[i]);
	}
	refuse_bits(m, "unshare", EPERM, 0, 0x80, 0x80); /* time */
	filter_refuse(m, "clone3", ENOSYS);
}

/* ---- files -------------------------------------------------------------------------------- */

static void refuse_set_id(struct maker *m)
{
	static const uint64_t bits[] = { S_ISUID, S_ISGID };
	static const uint64_t making[] = { O_CREAT, 020000000 /* O_TMPFILE, its own bit */ };

	for (size_t i = 0; i < CLEAT_COUNT(bits); i++) {
		uint64_t b = bits[i];

		refuse_bits(m, "chmod", EPERM, 1, b, b);
		refuse_bits(m, "fchmod", EPERM, 1, b, b);
		refuse_bits(m, "fchmodat", EPERM, 2, b, b);
		refuse_bits(m, "fchmodat2", EPERM, 2, b, b);
		refuse_bits(m, "creat", EPERM, 1, b, b);
		refuse_bits(m, "mknod", EPERM, 1, b, b);
		refuse_bits(m, "mknodat", EPERM, 2, b, b);
		for (size_t k = 0; k < CLEAT_COUNT(making); k++) {
			struct scmp_arg_cmp mode = arg(2, SCMP_CMP_MASKED_EQ, b, b);

			refuse_if_both(m, "open", EPERM,
				       arg(1, SCMP_CMP_MASKED_EQ, making[k], making[k]), mode);
			mode.arg = 3;
			refuse_if_both(m, "openat", EPERM,
				       arg(2, SCMP_CMP_MASKED_EQ, making[k], making[k]), mode);
		}
	}
}

/* Landlock does not see these. They are refused wherever nothing may be changed; what may be changed is
 * not known here, so that otherwise they are allowed, unless modes are to stay: a linker makes its output
 * executable by its path, and whoever copies a file keeps its mode. */
static void refuse_attributes(struct maker *m, bool change, bool change_modes)
{
	static const char *const modes[] = { "chmod",  "fchmod",   "fchmodat", "fchmodat2",
					     "chown",  "chown32",  "fchown",   "fchown32",
					     "lchown", "lchown32", "fchownat" };
	static const char *const times[] = { "utime", "utimes", "futimesat", "utimensat",
					     "utimensat_time64" };
	/* File systems without them say so, and programs are used to it. */
	static const char *const extended[] = { "setxattr",     "lsetxattr",     "fsetxattr",
						"setxattrat",   "removexattr",   "lremovexattr",
						"fremovexattr", "removexattrat", "file_setattr" };
	/* FS_IOC_SETFLAGS, FS_IOC32_SETFLAGS, FS_IOC_FSSETXATTR */
	static const uint64_t ioctls[] = { 0x40086602, 0x40046602, 0x401C5820 };

	refuse_all(m, extended, CLEAT_COUNT(extended), EOPNOTSUPP);
	for (size_t i = 0; i < CLEAT_COUNT(ioctls); i++)
		refuse_bits(m, "ioctl", EOPNOTSUPP, 1, HALF, ioctls[i]);
	/* Its arguments are in memory; everybody who uses it can do without. */
	filter_refuse(m, "openat2", ENOSYS);
	if (!change)
		refuse_all(m, times, CLEAT_COUNT(times), EPERM);
	if (!change_modes)
		refuse_all(m, modes, CLEAT_COUNT(modes), EPERM);
	if (change)
		refuse_set_id(m);
}

/* O_TRUNC needs the right to write to the file, not a descriptor for writing. Landlock asks for that
 * right only from its ABI 3 on. */
static void refuse_truncation(struct maker *m)
{
	static const uint64_t modes[] = { O_RDONLY, O_ACCMODE };

	filter_refuse(m, "truncate", EACCES);
	filter_refuse(m, "truncate64", EACCES);
	for (size_t i = 0; i < CLEAT_COUNT(modes); i++) {
		refuse_bits(m, "open", EACCES, 1, O_TRUNC | O_ACCMODE, O_TRUNC | modes[i]);
		refuse_bits(m, "openat", EACCES, 2, O_TRUNC | O_ACCMODE, O_TRUNC | modes[i]);
	}
}

/* ---- sockets ------------------------------------------------------------------------------ */

static bool family_allowed(const struct filter_wish *w, int family)
{
	switch (family) {
	case AF_UNIX: return w->unix_;
	case AF_INET:
	case AF_INET6:
	case AF_NETLINK: return w->inet; /* to learn one's own addresses */
	default: return false;
	}
}

static void refuse_sockets(struct maker *m, const struct filter_wish *w)
{
	enum { FAMILIES = 64, TYPES = 16 };
	static const int inet[] = { AF_INET, AF_INET6 };

	for (int f = 0; f < FAMILIES; f++)
		if (!family_allowed(w, f))
			refuse_bits(m, "socket", EACCES, 0, HALF, (uint64_t)f);
	refuse_if(m, "socket", EACCES, arg(0, SCMP_CMP_GE, FAMILIES, 0));
	filter_refuse(m, "socketcall", ENOSYS);
	for (size_t i = 0; w->inet && i < CLEAT_COUNT(inet); i++)
		refuse_if_both(m, "socket", EACCES, arg(0, SCMP_CMP_EQ, (uint64_t)inet[i], 0),
			       arg(1, SCMP_CMP_MASKED_EQ, LOW, SOCK_RAW));
	/* NETLINK_ROUTE is 0. */
	if (w->inet)
		refuse_if_both(m, "socket", EACCES, arg(0, SCMP_CMP_EQ, AF_NETLINK, 0),
			       arg(2, SCMP_CMP_NE, 0, 0));
	/* A pair is connected already. One of datagrams could be connected to somebody else, or send
	 * elsewhere; and SOCK_RAW is that, too. */
	for (int t = 0; !w->unix_ && t < TYPES; t++)
		if (t != SOCK_STREAM && t != SOCK_SEQPACKET)
			refuse_bits(m, "socketpair", EACCES, 1, LOW, (uint64_t)t);
}

/* ---- the program -------------------------------------------------------------------------- */

static int make_rules(struct maker *m, const struct filter_wish *w)
{
	int known = m->k->seccomp_syscall_resolve_name("pidfd_open");

	m->offset = known > 0 ? known - 434 : 0;
	m->rc = m->k->seccomp_attr_set(m->ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	/* A tree instead of a list. Libraries before 2.5 have none. */
	m->k->seccomp_attr_set(m->ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	refuse_the_kernel(m);
	refuse_namespaces(m);
	refuse_attributes(m, w->change, w->modes);
	if (w->truncate)
		refuse_truncation(m);
	refuse_sockets(m, w);
	return m->rc;
}

enum { BEFORE = 6 };

/* Jumps are relative: what comes after it need not be changed. */
static void put_before(const struct maker *m, struct sock_filter *code)
{
	const struct sock_filter before[BEFORE] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, m->k->seccomp_arch_native(), 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, (uint32_t)(m->offset + NEWEST), 0, 2),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
	};

	memcpy(code, before, sizeof before);
}

static int read_code(const struct maker *m, int fd, struct filter *ret, const cleat_allocator *mem)
{
	struct sock_filter *code;
	off_t n = lseek(fd, 0, SEEK_END);
	size_t length = n > 0 ? (size_t)n / sizeof *code : 0;

	if (length == 0 || length > CODE_MAX - BEFORE)
		return -E2BIG;
	code = mem_alloc(mem, (BEFORE + length) * sizeof *code);
	if (!code)
		return -ENOMEM;
	put_before(m, code);
	ret->code = code;
	ret->length = (unsigned short)(BEFORE + length);
	return pread(fd, code + BEFORE, (size_t)n, 0) == n ? 0 : -EIO;
}

/* The library writes to a descriptor only. */
static int export(const struct maker *m, struct filter *ret, const cleat_allocator *mem)
{
	int fd = memfd_create("seccomp", MFD_CLOEXEC), rc;

	if (fd < 0)
		return -errno;
	rc = m->k->seccomp_export_bpf(m->ctx, fd);
	if (rc == 0)
		rc = read_code(m, fd, ret, mem);
	close(fd);
	return rc;
}

int filter_new(struct filter *ret, const struct filter_wish *w, const cleat_allocator *mem,
	       cleat_error *err)
{
	struct calls own;
	struct maker m = { .k = calls_get(&own, err) };
	int rc = filter_probe();

	*ret = (struct filter){ 0 };
	if (!m.k)
		return CLEAT_EUNSUPPORTED;
	if (rc)
		return error_set(err, CLEAT_EUNSUPPORTED, "this kernel has no seccomp filters: %s",
				 strerror(rc));
	m.ctx = m.k->seccomp_init(SCMP_ACT_ALLOW);
	rc = m.ctx ? make_rules(&m, w) : -ENOMEM;
	if (rc == 0)
		rc = export(&m, ret, mem);
	if (m.ctx)
		m.k->seccomp_release(m.ctx);
	if (rc == 0)
		return CLEAT_OK;
	filter_done(ret, mem);
	return rc == -ENOMEM ? error_set(err, CLEAT_ENOMEM, "out of memory")
			     : error_set(err, CLEAT_EIO, "libseccomp cannot make the filter: %s",
					 strerror(-rc));
}

int filter_enter(const struct filter *f)
{
	struct sock_fprog p = { .len = f->length, .filter = f->code };

	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p) ? errno : 0;
}

int filter_probe(void)
{
	uint32_t action = SECCOMP_RET_KILL_PROCESS;

	return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) ? errno : 0;
}

#else

int filter_new(struct filter *ret, const struct filter_wish *w, const cleat_allocator *mem,
	       cleat_error *err)
{
	(void)w;
	(void)mem;
	*ret = (struct filter){ 0 };
	return error_set(err, CLEAT_EUNSUPPORTED, "this system has no seccomp");
}

int filter_enter(const struct filter *f)
{
	(void)f;
	return ENOSYS;
}

int filter_probe(void)
{
	return ENOSYS;
}

#endif

void filter_done(struct filter *f, const cleat_allocator *mem)
{
	mem_free(mem, f->code);
	*f = (struct filter){ 0 };
}
