/* program/serve/sandbox/landlock.c - see landlock.h. */
#define _GNU_SOURCE /* syscall, O_PATH */

#include "serve/sandbox/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/syscall.h>
#endif

/* The same on every architecture but Alpha. */
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule       445
#define SYS_landlock_restrict_self  446
#endif

/* As in linux/landlock.h of Linux 6.12. */
enum {
	FS_EXECUTE = 1 << 0,
	FS_WRITE_FILE = 1 << 1,
	FS_READ_FILE = 1 << 2,
	FS_READ_DIR = 1 << 3,
	FS_REMOVE_DIR = 1 << 4,
	FS_REMOVE_FILE = 1 << 5,
	FS_MAKE_DIR = 1 << 7,
	FS_MAKE_REG = 1 << 8,
	FS_MAKE_SOCK = 1 << 9,
	FS_MAKE_FIFO = 1 << 10,
	FS_MAKE_SYM = 1 << 12,
	FS_REFER = 1 << 13,
	FS_TRUNCATE = 1 << 14,
	FS_IOCTL_DEV = 1 << 15,

	FS_ABI_1 = (1 << 13) - 1,
	/* what a rule for something that is not a directory may say */
	FS_OF_FILES = FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV,

	NET_BIND_TCP = 1 << 0,
	NET_CONNECT_TCP = 1 << 1,
	SCOPE_ABSTRACT_UNIX = 1 << 0,
	SCOPE_SIGNAL = 1 << 1,

	VERSION = 1, /* a flag: only tell the ABI */
	PATH_BENEATH = 1,
	LOWEST_FD = 16 /* see struct child_options */
};

struct ruleset {
	uint64_t fs, net, scoped;
};

static int pretended;

void landlock_pretend(int abi)
{
	pretended = abi;
}

static long create(const struct ruleset *r, size_t n, unsigned flags)
{
#ifdef __linux__
	return syscall(SYS_landlock_create_ruleset, r, n, flags);
#else
	(void)r;
	(void)n;
	(void)flags;
	errno = ENOSYS;
	return -1;
#endif
}

/* Asked once: it does not change. */
static int real_abi(void)
{
	static atomic_int known;
	int abi = atomic_load(&known);

	if (abi == 0) {
		abi = (int)create(NULL, 0, VERSION);
		if (abi < 0)
			abi = -errno;
		atomic_store(&known, abi);
	}
	return abi;
}

int landlock_abi(void)
{
	int abi = real_abi();

	return pretended < 0 || (pretended > 0 && pretended < abi) ? pretended : abi;
}

static uint64_t handled(int abi)
{
	return (uint64_t)FS_ABI_1 | (abi >= LANDLOCK_REFER ? FS_REFER : 0) |
	       (abi >= LANDLOCK_TRUNCATE ? FS_TRUNCATE : 0) |
	       (abi >= LANDLOCK_IOCTL ? FS_IOCTL_DEV : 0);
}

int landlock_rules_new(bool tcp)
{
	int abi = landlock_abi(), fd, high;
	struct ruleset r = { 0 };
	size_t n = sizeof r.fs;

	if (abi < 1)
		return abi < 0 ? abi : -ENOSYS;
	r.fs = handled(abi);
	if (abi >= LANDLOCK_TCP) {
		n += sizeof r.net;
		r.net = tcp ? 0 : NET_BIND_TCP | NET_CONNECT_TCP;
	}
	if (abi >= LANDLOCK_SCOPE) {
		n += sizeof r.scoped;
		r.scoped = SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL;
	}
	fd = (int)create(&r, n, 0);
	if (fd < 0)
		return -errno;
	high = fcntl(fd, F_DUPFD_CLOEXEC, LOWEST_FD);
	if (high < 0)
		high = -errno;
	close(fd);
	return high;
}

static uint64_t rights(enum landlock_use use)
{
	switch (use) {
	case LANDLOCK_READ: return FS_READ_FILE | FS_READ_DIR;
	case LANDLOCK_RUN: return FS_READ_FILE | FS_READ_DIR | FS_EXECUTE;
	case LANDLOCK_DEVICE: return FS_READ_FILE | FS_WRITE_FILE | FS_TRUNCATE | FS_IOCTL_DEV;
	case LANDLOCK_CHANGE: break;
	}
	return FS_READ_FILE | FS_READ_DIR | FS_WRITE_FILE | FS_TRUNCATE | FS_REMOVE_DIR |
	       FS_REMOVE_FILE | FS_MAKE_DIR | FS_MAKE_REG | FS_MAKE_SOCK | FS_MAKE_FIFO |
	       FS_MAKE_SYM | FS_REFER;
}

int landlock_rules_add(int rules, int path_fd, enum landlock_use use)
{
	uint64_t allowed = rights(use) & handled(landlock_abi());
	unsigned char rule[sizeof allowed + sizeof path_fd]; /* the kernel's struct is packed */
	struct stat st;

	if (fstat(path_fd, &st))
		return -errno;
	if (!S_ISDIR(st.st_mode))
		allowed &= FS_OF_FILES;
	memcpy(rule, &allowed, sizeof allowed);
	memcpy(rule + sizeof allowed, &path_fd, sizeof path_fd);
#ifdef __linux__
	return syscall(SYS_landlock_add_rule, rules, PATH_BENEATH, rule, 0) ? -errno : 0;
#else
	(void)rules;
	return -ENOSYS;
#endif
}

int landlock_enter(int rules)
{
#ifdef __linux__
	return syscall(SYS_landlock_restrict_self, rules, 0) ? errno : 0;
#else
	(void)rules;
	return ENOSYS;
#endif
}
