/* test_serve_sandbox.c - processes in a sandbox try to read, write, truncate, rename, link, run and look
 * behind symbolic links and /proc, on this kernel and on what older ones could do. (Sockets:
 * test_serve_sandbox_network.c; other processes: test_serve_sandbox_calls.c; programs:
 * test_serve_sandbox_use.c.)
 */
#include "test.h"
#include "unit/program/sandbox_rig.h"

#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <sys/xattr.h>

/* ---- reading ------------------------------------------------------------------------------ */

static int read_up_and_over(void)
{
	int fd = open("read", O_RDONLY | O_DIRECTORY);

	return fd < 0 ? 99 : result(openat(fd, "../secret/file", O_RDONLY));
}

static int read_by_proc_root(void)
{
	char path[256];

	snprintf(path, sizeof path, "/proc/self/root%s", scratch_path("secret/file"));
	return result(open(path, O_RDONLY));
}

static int read_by_proc_cwd(void)
{
	return chdir("secret") ? 99 : result(open("/proc/self/cwd/file", O_RDONLY));
}

/* A descriptor of a path is to be had; it is worth nothing. */
static int read_by_reopening(void)
{
	int fd = open("secret/file", O_PATH);
	char path[64];

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return fd < 0 ? 99 : result(open(path, O_RDONLY));
}

static int read_beneath_path_descriptor(void)
{
	int fd = open("secret", O_PATH);

	return fd < 0 ? 99 : result(openat(fd, "file", O_RDONLY));
}

static int watch_secret(void)
{
	return result(inotify_add_watch(inotify_init(), "secret", IN_ALL_EVENTS));
}

static int see_other_arguments(void)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/cmdline", place.outside);
	return result(open(path, O_RDONLY));
}

TEST(test_only_what_is_allowed_can_be_read)
{
	char *allowed = strdup(scratch_path("read/file"));
	char *another = strdup(scratch_path("secret/file"));
	const struct attempt list[] = {
		{ "read by an absolute path", SUCCESS, false, OPEN(allowed, O_RDONLY) },
		{ "read what is allowed", SUCCESS, false, OPEN("read/file", O_RDONLY) },
		{ "list what is allowed", SUCCESS, false, OPEN("read", O_RDONLY | O_DIRECTORY) },
		{ "read what may be written", SUCCESS, false, OPEN("write/file", O_RDONLY) },
		{ "read a file of the system", SUCCESS, false, OPEN("/etc/passwd", O_RDONLY) },
		{ "read /proc/self", SUCCESS, false, OPEN("/proc/self/status", O_RDONLY) },
		{ "read another by its absolute path", EACCES, false, OPEN(another, O_RDONLY) },
		{ "read another file", EACCES, false, OPEN("secret/file", O_RDONLY) },
		{ "list another directory", EACCES, false, OPEN("secret", O_RDONLY | O_DIRECTORY) },
		{ "list /", EACCES, false, OPEN("/", O_RDONLY | O_DIRECTORY) },
		{ "read through a symbolic link", EACCES, false, OPEN("read/link", O_RDONLY) },
		{ "read through a link to a directory", EACCES, false,
		  OPEN("write/link/file", O_RDONLY) },
		{ "read ../secret", EACCES, false, .make = read_up_and_over },
		{ "read through /proc/self/root", EACCES, false, .make = read_by_proc_root },
		{ "read through /proc/self/cwd", EACCES, false, .make = read_by_proc_cwd },
		{ "open a path again to read", EACCES, false, .make = read_by_reopening },
		{ "read beneath a path's descriptor", EACCES, false,
		  .make = read_beneath_path_descriptor },
		{ "watch a directory", EACCES, false, .make = watch_secret },
		{ "read /etc/shadow", EACCES, true, OPEN("/etc/shadow", O_RDONLY) },
		{ "list processes", EACCES, false, OPEN("/proc", O_RDONLY | O_DIRECTORY) },
		{ "see the arguments of another process", EACCES, false,
		  .make = see_other_arguments },
	};

	skip_without_landlock();
	TRY_ON_KERNELS("1237", true, list);
	free(allowed);
	free(another);
}

/* ---- running ------------------------------------------------------------------------------ */

static char *arguments[] = { (char *)"program", NULL };

static int run(void)
{
	execve(now->path, arguments, arguments + 1);
	return errno;
}

static int run_by_descriptor(void)
{
	int fd = open("secret/program", O_PATH);

	if (fd < 0)
		return 99;
	syscall(SYS_execveat, fd, "", arguments, arguments + 1, AT_EMPTY_PATH);
	return errno;
}

static int run_by_loader(void)
{
	char *argv[] = { (char *)"ld", (char *)"secret/program", NULL };

	close(2); /* it complains */
	execve("/lib64/ld-linux-x86-64.so.2", argv, argv + 2);
	return 127; /* not on this architecture */
}

TEST(test_only_what_is_allowed_can_be_run)
{
	static const struct attempt list[] = {
		{ "run what is allowed", SUCCESS, false, .make = run, .path = "read/program" },
		{ "run what may be written", EACCES, false, .make = run, .path = "write/program" },
		{ "run another program", EACCES, false, .make = run, .path = "secret/program" },
		{ "run another by its descriptor", EACCES, false, .make = run_by_descriptor },
		{ "run another by the loader", 127, true, .make = run_by_loader },
	};

	skip_without_landlock();
	TRY_USUAL(true, list);
}

/* ---- changing ----------------------------------------------------------------------------- */

#define CHANGE(how, name) .make = change_by_##how, .path = name

static int change_by_truncate(void)
{
	return result(truncate(now->path, 1));
}

static int change_by_ftruncate(void)
{
	int fd = open(now->path, O_RDWR);

	return fd < 0 ? 99 : result(ftruncate(fd, 1));
}

static int change_by_unlink(void)
{
	return result(unlink(now->path));
}

static int change_by_rmdir(void)
{
	return result(rmdir(now->path));
}

static int change_by_mkdir(void)
{
	return result(mkdir(now->path, 0755));
}

static int change_by_symlink(void)
{
	return result(symlink("x", now->path));
}

static int change_by_mkfifo(void)
{
	return result(mkfifo(now->path, 0644));
}

static int change_by_mknod(void)
{
	return result(mknod(now->path, S_IFCHR | 0666, 1 << 8 | 3));
}

static int change_by_link(void)
{
	return result(link(now->path, now->to));
}

static int swap(void)
{
	return result(syscall(SYS_renameat2, AT_FDCWD, now->path, AT_FDCWD, now->to,
			      2 /* RENAME_EXCHANGE */));
}

TEST(test_only_what_is_allowed_can_be_changed)
{
	enum { NEW = O_WRONLY | O_CREAT | O_EXCL, NAMELESS = O_WRONLY | O_TMPFILE };
	static const struct attempt list[] = {
		{ "write", SUCCESS, false, OPEN("write/file", O_WRONLY) },
		{ "append", SUCCESS, false, OPEN("write/file", O_RDWR | O_APPEND) },
		{ "create", SUCCESS, false, OPEN("write/new", NEW) },
		{ "create without a name", SUCCESS, true, OPEN("write", NAMELESS) },
		{ "empty (writing)", SUCCESS, false, OPEN("write/file", O_WRONLY | O_TRUNC) },
		{ "shorten", SUCCESS, false, CHANGE(ftruncate, "write/file") },
		{ "remove", SUCCESS, false, CHANGE(unlink, "write/file") },
		{ "remove a directory", SUCCESS, false, CHANGE(rmdir, "write/empty") },
		{ "make a directory", SUCCESS, false, CHANGE(mkdir, "write/d") },
		{ "make a symbolic link", SUCCESS, false, CHANGE(symlink, "write/s") },
		{ "make a FIFO", SUCCESS, false, CHANGE(mkfifo, "write/p") },
		{ "rename", SUCCESS, false, RENAME("write/file", "write/renamed") },
		{ "link", SUCCESS, false, CHANGE(link, "write/file"), .to = "write/linked" },
		{ "write elsewhere", EACCES, false, OPEN("read/file", O_WRONLY) },
		{ "append elsewhere", EACCES, false, OPEN("read/file", O_RDWR | O_APPEND) },
		{ "create elsewhere", EACCES, false, OPEN("read/new", NEW) },
		{ "create without a name elsewhere", EACCES, true, OPEN("read", NAMELESS) },
		{ "empty elsewhere (writing)", EACCES, false,
		  OPEN("read/file", O_WRONLY | O_TRUNC) },
		{ "empty elsewhere (reading)", EACCES, false,
		  OPEN("read/file", O_RDONLY | O_TRUNC) },
		{ "empty elsewhere (neither)", EACCES, false,
		  OPEN("read/file", O_ACCMODE | O_TRUNC) },
		{ "truncate elsewhere", EACCES, false, CHANGE(truncate, "read/file") },
		{ "remove elsewhere", EACCES, false, CHANGE(unlink, "read/file") },
		{ "remove a directory elsewhere", EACCES, false, CHANGE(rmdir, "read/empty") },
		{ "make a directory elsewhere", EACCES, false, CHANGE(mkdir, "read/d") },
		{ "make a symbolic link elsewhere", EACCES, false, CHANGE(symlink, "read/s") },
		{ "make a FIFO elsewhere", EACCES, false, CHANGE(mkfifo, "read/p") },
		{ "rename elsewhere", EACCES, false, RENAME("read/file", "read/renamed") },
		{ "link elsewhere", EACCES, false, CHANGE(link, "read/file"), .to = "read/linked" },
		{ "make a device", EACCES, true, CHANGE(mknod, "write/null") },
		{ "move a secret in", ANY_REFUSAL, false, RENAME("secret/file", "write/x") },
		{ "move in what may be read", ANY_REFUSAL, false, RENAME("read/file", "write/x") },
		{ "link a secret in", ANY_REFUSAL, false, CHANGE(link, "secret/file"),
		  .to = "write/x" },
		{ "link in what may be read", ANY_REFUSAL, false, CHANGE(link, "read/file"),
		  .to = "write/x" },
		{ "replace what may be read", ANY_REFUSAL, false,
		  RENAME("write/file", "read/file") },
		{ "swap with what may be read", ANY_REFUSAL, false, .make = swap,
		  .path = "write/file", .to = "read/file" },
	};

	skip_without_landlock();
	TRY_ON_KERNELS("1237", true, list);
}

/* Without "write" nothing at all is changed. */
TEST(test_without_write_nothing_can_be_changed)
{
	static const struct attempt list[] = {
		{ "write", EACCES, false, OPEN("write/file", O_WRONLY) },
		{ "create", EACCES, false, OPEN("write/new", O_WRONLY | O_CREAT | O_EXCL) },
		{ "remove", EACCES, false, CHANGE(unlink, "write/file") },
		{ "write elsewhere", EACCES, false, OPEN("read/file", O_WRONLY) },
		{ "read", SUCCESS, false, OPEN("read/file", O_RDONLY) },
	};

	skip_without_landlock();
	TRY_USUAL(false, list);
}

/* What an older kernel cannot tell apart is refused altogether, not allowed. */
TEST(test_what_differs_between_kernels)
{
	skip_without_landlock();
	for (int abi = 1; abi <= 7; abi++) {
		int truncating = abi < 3 ? EACCES : SUCCESS;
		const struct attempt list[] = {
			{ "truncate", truncating, false, CHANGE(truncate, "write/file") },
			{ "empty (reading)", truncating, false,
			  OPEN("write/file", O_RDONLY | O_TRUNC) },
			{ "empty (neither)", truncating, false,
			  OPEN("write/file", O_ACCMODE | O_TRUNC) },
			{ "move between directories", abi < 2 ? EXDEV : SUCCESS, false,
			  RENAME("write/a/file", "write/b/file") },
		};

		landlock_pretend(abi);
		try_in(usual_sandbox(true), abi == 7, list, CLEAT_COUNT(list));
	}
	landlock_pretend(0);
}

/* ---- what Landlock does not see ----------------------------------------------------------- */

static int change_by_chmod(void)
{
	return result(chmod(now->path, (mode_t)now->arg));
}

static int change_mode_new_call(void)
{
	return result(syscall(452 /* fchmodat2 */, AT_FDCWD, "read/file", 0600, 0));
}

static int change_by_fchmod(void)
{
	int fd = open(now->path, O_RDONLY);

	return fd < 0 ? 99 : result(fchmod(fd, 0600));
}

static int change_by_chown(void)
{
	return result(chown(now->path, getuid(), getgid()));
}

static int change_by_utimes(void)
{
	return result(utimes(now->path, NULL));
}

static int change_by_futimens(void)
{
	int fd = open(now->path, O_RDONLY);

	return fd < 0 ? 99 : result(futimens(fd, NULL));
}

static int change_by_setxattr(void)
{
	return result(setxattr(now->path, "user.x", "y", 1, 0));
}

static int change_flags(void)
{
	int fd = open("read/file", O_RDONLY), flags = 0;

	return fd < 0 ? 99 : result(ioctl(fd, 0x40086602 /* FS_IOC_SETFLAGS */, &flags));
}

static int create_set_user_id(void)
{
	return result(open(now->path, (int)now->arg, 04755));
}

static int open_by_new_call(void)
{
	uint64_t how[3] = { O_RDONLY, 0, 0 };

	return result(syscall(437 /* openat2 */, AT_FDCWD, "read/file", how, sizeof how));
}

#define CHMOD(name, mode) CHANGE(chmod, name), .arg = mode
#define CREATE_SUID       .make = create_set_user_id, .path = "write/suid", .arg = O_WRONLY | O_CREAT

TEST(test_modes_owners_and_times_where_nothing_may_be_changed)
{
	static const struct attempt list[] = {
		{ "chmod", EPERM, false, CHMOD("secret/file", 0600) },
		{ "fchmodat2", EPERM, true, .make = change_mode_new_call },
		{ "fchmod", EPERM, false, CHANGE(fchmod, "read/file") },
		{ "chown", EPERM, false, CHANGE(chown, "secret/file") },
		{ "utimes", EPERM, false, CHANGE(utimes, "secret/file") },
		{ "futimens", EPERM, false, CHANGE(futimens, "read/file") },
		{ "setxattr", EOPNOTSUPP, true, CHANGE(setxattr, "secret/file") },
		{ "FS_IOC_SETFLAGS", EOPNOTSUPP, true, .make = change_flags },
		{ "openat2", ENOSYS, true, .make = open_by_new_call },
	};

	skip_without_landlock();
	TRY_USUAL(false, list);
}

/* ... unless modes are to stay: by paths and by descriptors. Times stay possible. */
TEST(test_modes_that_are_to_stay)
{
	static const char *writes[2];
	static const struct attempt list[] = {
		{ "chmod", EPERM, false, CHMOD("secret/file", 0600) },
		{ "fchmodat2", EPERM, true, .make = change_mode_new_call },
		{ "fchmod", EPERM, false, CHANGE(fchmod, "read/file") },
		{ "chown", EPERM, false, CHANGE(chown, "secret/file") },
		{ "chmod u+s", EPERM, false, CHMOD("write/file", 04755) },
		{ "create u+s", EPERM, false, CREATE_SUID },
		{ "utimes", SUCCESS, false, CHANGE(utimes, "secret/file") },
	};

	skip_without_landlock();
	place_files();
	writes[0] = scratch_path("");
	TRY_IN(sandbox_of((struct sandbox_spec){ .write = writes, .no_modes = true }), list);
}

/* The guide says so: where something may be changed, modes and times of everything can be. */
TEST(test_modes_where_something_may_be_changed)
{
	static const struct attempt list[] = {
		{ "chmod", SUCCESS, false, CHMOD("secret/file", 0600) },
		{ "utimes", SUCCESS, false, CHANGE(utimes, "secret/file") },
		{ "chmod u+s", EPERM, false, CHMOD("write/file", 04755) },
		{ "chmod g+s", EPERM, false, CHMOD("write/file", 02755) },
		{ "create u+s", EPERM, false, CREATE_SUID },
		{ "create u+s without a name", EPERM, true, .make = create_set_user_id,
		  .path = "write", .arg = O_WRONLY | O_TMPFILE },
		{ "setxattr", EOPNOTSUPP, true, CHANGE(setxattr, "secret/file") },
		{ "FS_IOC_SETFLAGS", EOPNOTSUPP, true, .make = change_flags },
		{ "openat2", ENOSYS, true, .make = open_by_new_call },
	};

	skip_without_landlock();
	TRY_USUAL(true, list);
}

TEST_GROUP(place_init, place_done)
