/* test_serve_sandbox.c - processes in a sandbox try to read, write, truncate, rename, link, run and look
 * behind symbolic links and /proc, on this kernel and on what older ones could do. (Sockets:
 * test_serve_sandbox_network.c; other processes: test_serve_sandbox_calls.c; programs:
 * test_serve_sandbox_use.c.)
 */
#include "test.h"
#include "unit/program/sandbox_rig.h"

#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/xattr.h>

static int open_as(const char *name, int flags)
{
	return result(open(scratch_path(name), flags | O_CLOEXEC, 0644));
}

/* ---- reading ------------------------------------------------------------------------------ */

static int read_allowed(void)
{
	return open_as("read/file", O_RDONLY);
}

static int list_allowed(void)
{
	return open_as("read", O_RDONLY | O_DIRECTORY);
}

static int read_writable(void)
{
	return open_as("write/file", O_RDONLY);
}

static int read_secret(void)
{
	return open_as("secret/file", O_RDONLY);
}

static int list_secret(void)
{
	return open_as("secret", O_RDONLY | O_DIRECTORY);
}

static int list_root(void)
{
	return result(open("/", O_RDONLY | O_DIRECTORY));
}

static int read_through_link(void)
{
	return open_as("read/link", O_RDONLY);
}

static int read_through_link_of_directory(void)
{
	return open_as("write/link/file", O_RDONLY);
}

static int read_up_and_over(void)
{
	int fd = open(scratch_path("read"), O_RDONLY | O_DIRECTORY);

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
	return chdir(scratch_path("secret")) ? 99 : result(open("/proc/self/cwd/file", O_RDONLY));
}

/* A descriptor of a path is to be had; it is worth nothing. */
static int read_by_reopening(void)
{
	int fd = open(scratch_path("secret/file"), O_PATH);
	char path[64];

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return fd < 0 ? 99 : result(open(path, O_RDONLY));
}

static int read_beneath_path_descriptor(void)
{
	int fd = open(scratch_path("secret"), O_PATH);

	return fd < 0 ? 99 : result(openat(fd, "file", O_RDONLY));
}

static int watch_secret(void)
{
	return result(inotify_add_watch(inotify_init(), scratch_path("secret"), IN_ALL_EVENTS));
}

static int read_system_key(void)
{
	return result(open("/etc/shadow", O_RDONLY));
}

static int read_system_file(void)
{
	return result(open("/etc/passwd", O_RDONLY));
}

static int list_processes(void)
{
	return result(open("/proc", O_RDONLY | O_DIRECTORY));
}

static int read_own_proc(void)
{
	return result(open("/proc/self/status", O_RDONLY));
}

static int see_other_arguments(void)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/cmdline", place.outside);
	return result(open(path, O_RDONLY));
}

TEST(test_only_what_is_allowed_can_be_read)
{
	static const struct attempt list[] = {
		{ "read what is allowed", read_allowed, SUCCESS, false },
		{ "list what is allowed", list_allowed, SUCCESS, false },
		{ "read what may be written", read_writable, SUCCESS, false },
		{ "read a file of the system", read_system_file, SUCCESS, false },
		{ "read /proc/self", read_own_proc, SUCCESS, false },
		{ "read another file", read_secret, EACCES, false },
		{ "list another directory", list_secret, EACCES, false },
		{ "list /", list_root, EACCES, false },
		{ "read through a symbolic link", read_through_link, EACCES, false },
		{ "read through a link to a directory", read_through_link_of_directory, EACCES,
		  false },
		{ "read ../secret", read_up_and_over, EACCES, false },
		{ "read through /proc/self/root", read_by_proc_root, EACCES, false },
		{ "read through /proc/self/cwd", read_by_proc_cwd, EACCES, false },
		{ "open a path again to read", read_by_reopening, EACCES, false },
		{ "read beneath a path's descriptor", read_beneath_path_descriptor, EACCES, false },
		{ "watch a directory", watch_secret, EACCES, false },
		{ "read /etc/shadow", read_system_key, EACCES, true },
		{ "list processes", list_processes, EACCES, false },
		{ "see the arguments of another process", see_other_arguments, EACCES, false },
	};

	skip_without_landlock();
	TRY_ON_KERNELS("1237", true, list);
}

/* ---- running ------------------------------------------------------------------------------ */

static int run(const char *name)
{
	char *argv[] = { (char *)"program", NULL };

	execve(scratch_path(name), argv, argv + 1);
	return errno;
}

static int run_allowed(void)
{
	return run("read/program");
}

static int run_writable(void)
{
	return run("write/program");
}

static int run_secret(void)
{
	return run("secret/program");
}

static int run_by_descriptor(void)
{
	int fd = open(scratch_path("secret/program"), O_PATH);
	char *argv[] = { (char *)"program", NULL };

	if (fd < 0)
		return 99;
	syscall(SYS_execveat, fd, "", argv, argv + 1, AT_EMPTY_PATH);
	return errno;
}

static int run_by_loader(void)
{
	char *argv[] = { (char *)"ld", (char *)scratch_path("secret/program"), NULL };

	close(2); /* it complains */
	execve("/lib64/ld-linux-x86-64.so.2", argv, argv + 2);
	return 127; /* not on this architecture */
}

TEST(test_only_what_is_allowed_can_be_run)
{
	static const struct attempt list[] = {
		{ "run what is allowed", run_allowed, SUCCESS, false },
		{ "run what may be written", run_writable, EACCES, false },
		{ "run another program", run_secret, EACCES, false },
		{ "run another by its descriptor", run_by_descriptor, EACCES, false },
		{ "run another by the loader", run_by_loader, 127, true },
	};

	skip_without_landlock();
	TRY_USUAL(true, list);
}

/* ---- changing ----------------------------------------------------------------------------- */

#define CHANGES(where)                                                                             \
	static int write_##where(void)                                                             \
	{                                                                                          \
		return open_as(#where "/file", O_WRONLY);                                          \
	}                                                                                          \
	static int append_##where(void)                                                            \
	{                                                                                          \
		return open_as(#where "/file", O_RDWR | O_APPEND);                                 \
	}                                                                                          \
	static int create_##where(void)                                                            \
	{                                                                                          \
		return open_as(#where "/new", O_WRONLY | O_CREAT | O_EXCL);                        \
	}                                                                                          \
	static int nameless_##where(void)                                                          \
	{                                                                                          \
		return open_as(#where, O_WRONLY | O_TMPFILE);                                      \
	}                                                                                          \
	static int empty_writing_##where(void)                                                     \
	{                                                                                          \
		return open_as(#where "/file", O_WRONLY | O_TRUNC);                                \
	}                                                                                          \
	static int empty_reading_##where(void)                                                     \
	{                                                                                          \
		return open_as(#where "/file", O_RDONLY | O_TRUNC);                                \
	}                                                                                          \
	static int empty_neither_##where(void)                                                     \
	{                                                                                          \
		return open_as(#where "/file", O_ACCMODE | O_TRUNC);                               \
	}                                                                                          \
	static int truncate_##where(void)                                                          \
	{                                                                                          \
		return result(truncate(scratch_path(#where "/file"), 1));                          \
	}                                                                                          \
	static int remove_##where(void)                                                            \
	{                                                                                          \
		return result(unlink(scratch_path(#where "/file")));                               \
	}                                                                                          \
	static int rmdir_##where(void)                                                             \
	{                                                                                          \
		return result(rmdir(scratch_path(#where "/empty")));                               \
	}                                                                                          \
	static int mkdir_##where(void)                                                             \
	{                                                                                          \
		return result(mkdir(scratch_path(#where "/d"), 0755));                             \
	}                                                                                          \
	static int symlink_##where(void)                                                           \
	{                                                                                          \
		return result(symlink("x", scratch_path(#where "/s")));                            \
	}                                                                                          \
	static int fifo_##where(void)                                                              \
	{                                                                                          \
		return result(mkfifo(scratch_path(#where "/p"), 0644));                            \
	}                                                                                          \
	static int rename_##where(void)                                                            \
	{                                                                                          \
		return result(                                                                     \
			rename(scratch_path(#where "/file"), scratch_path(#where "/renamed")));    \
	}                                                                                          \
	static int link_##where(void)                                                              \
	{                                                                                          \
		return result(link(scratch_path(#where "/file"), scratch_path(#where "/linked"))); \
	}

CHANGES(read)
CHANGES(write)

static int device(void)
{
	return result(mknod(scratch_path("write/null"), S_IFCHR | 0666, 1 << 8 | 3));
}

static int shorten_own(void)
{
	int fd = open(scratch_path("write/file"), O_RDWR);

	return fd < 0 ? 99 : result(ftruncate(fd, 1));
}

static int take_away(void)
{
	return result(rename(scratch_path("secret/file"), scratch_path("write/x")));
}

static int take_away_readable(void)
{
	return result(rename(scratch_path("read/file"), scratch_path("write/x")));
}

static int link_in(void)
{
	return result(link(scratch_path("secret/file"), scratch_path("write/x")));
}

static int link_readable_in(void)
{
	return result(link(scratch_path("read/file"), scratch_path("write/x")));
}

static int put_in_place(void)
{
	return result(rename(scratch_path("write/file"), scratch_path("read/file")));
}

static int swap(void)
{
	return result(syscall(SYS_renameat2, AT_FDCWD, scratch_path("write/file"), AT_FDCWD,
			      scratch_path("read/file"), 2 /* RENAME_EXCHANGE */));
}

static int move_inside(void)
{
	return result(rename(scratch_path("write/a/file"), scratch_path("write/b/file")));
}

TEST(test_only_what_is_allowed_can_be_changed)
{
	static const struct attempt list[] = {
		{ "write", write_write, SUCCESS, false },
		{ "append", append_write, SUCCESS, false },
		{ "create", create_write, SUCCESS, false },
		{ "create without a name", nameless_write, SUCCESS, true },
		{ "empty (writing)", empty_writing_write, SUCCESS, false },
		{ "shorten", shorten_own, SUCCESS, false },
		{ "remove", remove_write, SUCCESS, false },
		{ "remove a directory", rmdir_write, SUCCESS, false },
		{ "make a directory", mkdir_write, SUCCESS, false },
		{ "make a symbolic link", symlink_write, SUCCESS, false },
		{ "make a FIFO", fifo_write, SUCCESS, false },
		{ "rename", rename_write, SUCCESS, false },
		{ "link", link_write, SUCCESS, false },
		{ "write elsewhere", write_read, EACCES, false },
		{ "append elsewhere", append_read, EACCES, false },
		{ "create elsewhere", create_read, EACCES, false },
		{ "create without a name elsewhere", nameless_read, EACCES, true },
		{ "empty elsewhere (writing)", empty_writing_read, EACCES, false },
		{ "empty elsewhere (reading)", empty_reading_read, EACCES, false },
		{ "empty elsewhere (neither)", empty_neither_read, EACCES, false },
		{ "truncate elsewhere", truncate_read, EACCES, false },
		{ "remove elsewhere", remove_read, EACCES, false },
		{ "remove a directory elsewhere", rmdir_read, EACCES, false },
		{ "make a directory elsewhere", mkdir_read, EACCES, false },
		{ "make a symbolic link elsewhere", symlink_read, EACCES, false },
		{ "make a FIFO elsewhere", fifo_read, EACCES, false },
		{ "rename elsewhere", rename_read, EACCES, false },
		{ "link elsewhere", link_read, EACCES, false },
		{ "make a device", device, EACCES, true },
		{ "move a secret in", take_away, ANY_REFUSAL, false },
		{ "move in what may be read", take_away_readable, ANY_REFUSAL, false },
		{ "link a secret in", link_in, ANY_REFUSAL, false },
		{ "link in what may be read", link_readable_in, ANY_REFUSAL, false },
		{ "replace what may be read", put_in_place, ANY_REFUSAL, false },
		{ "swap with what may be read", swap, ANY_REFUSAL, false },
	};

	skip_without_landlock();
	TRY_ON_KERNELS("1237", true, list);
}

/* Without "write" nothing at all is changed. */
TEST(test_without_write_nothing_can_be_changed)
{
	static const struct attempt list[] = {
		{ "write", write_write, EACCES, false },
		{ "create", create_write, EACCES, false },
		{ "remove", remove_write, EACCES, false },
		{ "write elsewhere", write_read, EACCES, false },
		{ "read", read_allowed, SUCCESS, false },
	};

	skip_without_landlock();
	TRY_USUAL(false, list);
}

/* What an older kernel cannot tell apart is refused altogether, not allowed. */
TEST(test_what_differs_between_kernels)
{
	skip_without_landlock();
	for (int abi = 1; abi <= 7; abi++) {
		const struct attempt list[] = {
			{ "truncate", truncate_write, abi < 3 ? EACCES : SUCCESS, false },
			{ "empty (reading)", empty_reading_write, abi < 3 ? EACCES : SUCCESS,
			  false },
			{ "empty (neither)", empty_neither_write, abi < 3 ? EACCES : SUCCESS,
			  false },
			{ "move between directories", move_inside, abi < 2 ? EXDEV : SUCCESS,
			  false },
		};

		landlock_pretend(abi);
		try_in(usual_sandbox(true), abi == 7, list, CLEAT_COUNT(list));
	}
	landlock_pretend(0);
}

/* ---- what Landlock does not see ----------------------------------------------------------- */

static int change_mode(void)
{
	return result(chmod(scratch_path("secret/file"), 0600));
}

static int change_mode_new_call(void)
{
	return result(syscall(452 /* fchmodat2 */, AT_FDCWD, scratch_path("read/file"), 0600, 0));
}

static int change_mode_of_descriptor(void)
{
	int fd = open(scratch_path("read/file"), O_RDONLY);

	return fd < 0 ? 99 : result(fchmod(fd, 0600));
}

static int change_owner(void)
{
	return result(chown(scratch_path("secret/file"), getuid(), getgid()));
}

static int change_times(void)
{
	return result(utimes(scratch_path("secret/file"), NULL));
}

static int change_times_of_descriptor(void)
{
	int fd = open(scratch_path("read/file"), O_RDONLY);

	return fd < 0 ? 99 : result(futimens(fd, NULL));
}

static int change_attribute(void)
{
	return result(setxattr(scratch_path("secret/file"), "user.x", "y", 1, 0));
}

static int change_flags(void)
{
	int fd = open(scratch_path("read/file"), O_RDONLY), flags = 0;

	return fd < 0 ? 99 : result(ioctl(fd, 0x40086602 /* FS_IOC_SETFLAGS */, &flags));
}

static int set_user_id(void)
{
	return result(chmod(scratch_path("write/file"), 04755));
}

static int set_group_id(void)
{
	return result(chmod(scratch_path("write/file"), 02755));
}

static int create_set_user_id(void)
{
	return result(open(scratch_path("write/suid"), O_WRONLY | O_CREAT, 04755));
}

static int create_nameless_set_user_id(void)
{
	return result(open(scratch_path("write"), O_WRONLY | O_TMPFILE, 04755));
}

static int open_by_new_call(void)
{
	uint64_t how[3] = { O_RDONLY, 0, 0 };

	return result(
		syscall(437 /* openat2 */, AT_FDCWD, scratch_path("read/file"), how, sizeof how));
}

TEST(test_modes_owners_and_times_where_nothing_may_be_changed)
{
	static const struct attempt list[] = {
		{ "chmod", change_mode, EPERM, false },
		{ "fchmodat2", change_mode_new_call, EPERM, true },
		{ "fchmod", change_mode_of_descriptor, EPERM, false },
		{ "chown", change_owner, EPERM, false },
		{ "utimes", change_times, EPERM, false },
		{ "futimens", change_times_of_descriptor, EPERM, false },
		{ "setxattr", change_attribute, EOPNOTSUPP, true },
		{ "FS_IOC_SETFLAGS", change_flags, EOPNOTSUPP, true },
		{ "openat2", open_by_new_call, ENOSYS, true },
	};

	skip_without_landlock();
	TRY_USUAL(false, list);
}

/* ... unless modes are to stay: by paths and by descriptors. Times stay possible. */
TEST(test_modes_that_are_to_stay)
{
	static const char *writes[2];
	static const struct attempt list[] = {
		{ "chmod", change_mode, EPERM, false },
		{ "fchmodat2", change_mode_new_call, EPERM, true },
		{ "fchmod", change_mode_of_descriptor, EPERM, false },
		{ "chown", change_owner, EPERM, false },
		{ "chmod u+s", set_user_id, EPERM, false },
		{ "create u+s", create_set_user_id, EPERM, false },
		{ "utimes", change_times, SUCCESS, false },
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
		{ "chmod", change_mode, SUCCESS, false },
		{ "utimes", change_times, SUCCESS, false },
		{ "chmod u+s", set_user_id, EPERM, false },
		{ "chmod g+s", set_group_id, EPERM, false },
		{ "create u+s", create_set_user_id, EPERM, false },
		{ "create u+s without a name", create_nameless_set_user_id, EPERM, true },
		{ "setxattr", change_attribute, EOPNOTSUPP, true },
		{ "FS_IOC_SETFLAGS", change_flags, EOPNOTSUPP, true },
		{ "openat2", open_by_new_call, ENOSYS, true },
	};

	skip_without_landlock();
	TRY_USUAL(true, list);
}

TEST_GROUP(place_init, place_done)
