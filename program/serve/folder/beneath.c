/* program/serve/folder/beneath.c - see beneath.h.
 *
 * A path is tried without links first, which is what nearly all paths need. Only when that meets a link
 * it is resolved with links, and then the place that was reached (the kernel's name of the descriptor)
 * is checked against the rules: the rules are about names, so here names are good enough, while that
 * the place is beneath has been the kernel's decision.
 */
#define _GNU_SOURCE /* O_PATH, syscall */
#include "serve/folder/beneath.h"
#include "serve/kit/taken.h"

#include "base/buf.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { RETRIES = 64, LINK_TEXT = 2 * BENEATH_PATH_MAX };

static struct str path_str(const struct beneath_path *p)
{
	return (struct str){ p->text, p->n };
}

/* ---- errors --------------------------------------------------------------------------------- */

static const char *meaning(int error)
{
	switch (error) {
	case ENOENT: return "no such file or directory";
	case EXDEV: return "leads outside the folder";
	case ELOOP: return "is or contains a symbolic link that is not followed";
	case EACCES:
	case EPERM: return "permission denied";
	case ENOTDIR: return "is not a directory, or something above it is not";
	case EISDIR: return "is a directory";
	case EEXIST: return "already exists";
	case ENOTEMPTY: return "is a directory that is not empty";
	case ENAMETOOLONG: return "is too long";
	case EAGAIN: return "the folder is changing while this is looked up; try again";
	case ENXIO:
	case ENODEV: return "is not a regular file";
	case ENOSPC: return "no space left on the device";
	case EDQUOT: return "the disk quota is used up";
	case EFBIG: return "the file would be larger than the system allows";
	case EROFS: return "the file system is read-only";
	case EMFILE:
	case ENFILE: return "too many open files; try again";
	case EBUSY: return "is in use";
	case EIO: return "input or output failed";
	case EINVAL: return "the file system refuses this";
	default: return NULL;
	}
}

int beneath_fail(cleat_error *err, struct str path, int error)
{
	const char *words = meaning(error);
	char number[32];

	if (!words) {
		snprintf(number, sizeof number, "system error %d", error);
		words = number;
	}
	error_set(err,
		  error == ENOENT   ? CLEAT_ENOENT
		  : error == EEXIST ? CLEAT_EEXIST
				    : CLEAT_EIO,
		  "%.*s: %s", path.n ? (int)(path.n < 150 ? path.n : 150) : 1,
		  path.n ? path.p : ".", words);
	if (err)
		err->os_errno = error;
	return -1;
}

static int beneath_refuse(cleat_error *err, int status, struct str path, const char *why)
{
	return error_set(err, status, "%.*s: %s", (int)(path.n < 100 ? path.n : 100),
			 path.p ? path.p : "", why);
}

/* ---- paths and rules ------------------------------------------------------------------------ */

bool beneath_allows_entry(const struct beneath *b, struct str path, struct str name)
{
	if (name.n && name.p[0] == '.' && !b->hidden)
		return false;
	for (size_t i = 0; i < b->n_exclude; i++)
		if (glob_match(b->exclude[i], path))
			return false;
	return true;
}

bool beneath_allows(const struct beneath *b, struct str path)
{
	size_t from = 0;

	for (size_t i = 0; i <= path.n; i++) {
		if (i < path.n && path.p[i] != '/')
			continue;
		if (!beneath_allows_entry(b, (struct str){ path.p, i },
					  (struct str){ path.p + from, i - from }))
			return false;
		from = i + 1;
	}
	return true;
}

/* One component onto the end. */
static int append(struct beneath_path *to, struct str whole, struct str part, cleat_error *err)
{
	if (!part.n || str_eqz(part, "."))
		return CLEAT_OK;
	if (str_eqz(part, ".."))
		return beneath_refuse(err, CLEAT_EINVAL, whole,
				      "\"..\" is not allowed: paths are relative to the folder");
	if (part.n > BENEATH_NAME_MAX)
		return beneath_refuse(err, CLEAT_EINVAL, whole, "a name has at most 255 bytes");
	if (to->n + part.n + 2 > sizeof to->text)
		return beneath_refuse(err, CLEAT_EINVAL, whole, "is too long");
	if (to->n)
		to->text[to->n++] = '/';
	memcpy(to->text + to->n, part.p, part.n);
	to->n += part.n;
	return CLEAT_OK;
}

static int split(struct str path, struct beneath_path *ret, cleat_error *err)
{
	size_t from = 0;
	int rc = CLEAT_OK;

	for (size_t i = 0; i <= path.n && rc == CLEAT_OK; i++)
		if (i == path.n || path.p[i] == '/') {
			rc = append(ret, path, (struct str){ path.p + from, i - from }, err);
			from = i + 1;
		}
	ret->text[ret->n] = '\0';
	return rc;
}

int beneath_clean(const struct beneath *b, struct str path, struct beneath_path *ret,
		  cleat_error *err)
{
	int rc;

	ret->n = 0;
	ret->text[0] = '\0';
	if (str_has_nul(path))
		return error_set(err, CLEAT_EINVAL, "a path cannot contain a NUL character");
	if (path.n >= BENEATH_PATH_MAX)
		return beneath_refuse(err, CLEAT_EINVAL, path, "is too long");
	if (path.n && path.p[0] == '/')
		return beneath_refuse(
			err, CLEAT_EINVAL, path,
			"absolute paths are not allowed: paths are relative to the folder");
	rc = split(path, ret, err);
	if (rc == CLEAT_OK && ret->n && !beneath_allows(b, path_str(ret)))
		rc = beneath_refuse(err, CLEAT_ENOENT, path,
				    "hidden and excluded files are not part of this folder");
	return rc;
}

/* ---- escaped names -------------------------------------------------------------------------- */

/* Those that beneath_show() may have written: never '.' or '/', which would get around the checks. */
static bool is_escaped(unsigned char c, bool line)
{
	return c >= 0x80 || (line && (c < 0x20 || c == 0x7f));
}

void beneath_show(struct buf *out, struct str name, bool line)
{
	bool valid = utf8_valid_prefix(name) == name.n;
	bool plain = valid;

	for (size_t i = 0; line && plain && i < name.n; i++)
		plain = (unsigned char)name.p[i] >= 0x20 && name.p[i] != 0x7f;
	if (plain) {
		buf_append(out, name.p, name.n);
		return;
	}
	for (size_t i = 0; i < name.n; i++) {
		unsigned char c = (unsigned char)name.p[i];

		if (c == '\\' || (c >= 0x80 ? !valid : is_escaped(c, line)))
			buf_printf(out, "\\x%02x", c);
		else
			buf_putc(out, (char)c);
	}
}

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* False: there is nothing to undo. */
static bool unescape(const struct beneath_path *p, struct beneath_path *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n; n++) {
		int high = -1, low = -1;

		if (p->n - i >= 4 && p->text[i] == '\\' && p->text[i + 1] == 'x') {
			high = hex(p->text[i + 2]);
			low = hex(p->text[i + 3]);
		}
		if (high >= 0 && low >= 0 &&
		    (is_escaped((unsigned char)(high << 4 | low), true) ||
		     (high << 4 | low) == '\\') &&
		    (high << 4 | low) != 0) {
			ret->text[n] = (char)(high << 4 | low);
			i += 4;
		} else {
			ret->text[n] = p->text[i++];
		}
	}
	ret->text[n] = '\0';
	ret->n = n;
	return n != p->n;
}

/* ---- opening -------------------------------------------------------------------------------- */

static int kernel_open(int dir, const char *path, int flags, uint64_t resolve)
{
	struct open_how how = { .flags = (unsigned)(flags | O_CLOEXEC),
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | resolve };
	long fd = -1;

	/* EAGAIN: something was renamed meanwhile and the kernel is not sure (openat2(2)). */
	for (int i = 0; i < RETRIES; i++) {
		fd = syscall(SYS_openat2, dir, path, &how, sizeof how);
		if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
			break;
	}
	return (int)fd;
}

static int step_into(int dir, const char *name)
{
	return openat(dir, name, O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC);
}

/* Without openat2: a single name at a time, no links. */
static int stepwise_open(int root, const char *path, int flags)
{
	char name[BENEATH_NAME_MAX + 1];
	int dir = root, fd;

	for (;;) {
		const char *slash = strchr(path, '/');
		int next;

		if (!slash)
			break;
		memcpy(name, path, (size_t)(slash - path));
		name[slash - path] = '\0';
		next = step_into(dir, name);
		if (dir != root)
			close(dir);
		if (next < 0)
			return -1;
		dir = next;
		path = slash + 1;
	}
	fd = openat(dir, path, flags | O_NOFOLLOW | O_CLOEXEC);
	if (dir != root) {
		int error = errno;

		close(dir);
		errno = error;
	}
	return fd;
}

static bool place_of(int fd, char text[LINK_TEXT], size_t *ret)
{
	char name[64];
	ssize_t n;

	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	n = readlink(name, text, LINK_TEXT);
	if (n <= 0 || n >= LINK_TEXT)
		return false;
	*ret = (size_t)n;
	return true;
}

/* The path of a descriptor from the root on. False: it is not beneath, as far as names go. */
static bool relative_place(const struct beneath *b, int fd, struct beneath_path *ret)
{
	char root[LINK_TEXT], place[LINK_TEXT];
	size_t n_root = 0, n = 0;

	if (!place_of(b->fd, root, &n_root) || !place_of(fd, place, &n))
		return false;
	if (n_root == 1) /* the root of all */
		n_root = 0;
	if (n < n_root || memcmp(root, place, n_root) != 0 || (n > n_root && place[n_root] != '/'))
		return false;
	ret->n = n > n_root ? n - n_root - 1 : 0;
	if (ret->n >= sizeof ret->text)
		return false;
	memcpy(ret->text, place + n - ret->n, ret->n);
	ret->text[ret->n] = '\0';
	return true;
}

/* Where a link led to, *ret: do the rules allow it? Closes what they do not. */
static int checked(const struct beneath *b, int fd, struct beneath_path *ret)
{
	if (fd < 0)
		return -1;
	if (relative_place(b, fd, ret) && (!ret->n || beneath_allows(b, path_str(ret))))
		return fd;
	close(fd);
	errno = ENOENT;
	return -1;
}

/* A clean path; errno tells. *ret_real (may be NULL): the same place without links. */
static int open_clean(const struct beneath *b, const struct beneath_path *p, int flags,
		      struct beneath_path *ret_real)
{
	const char *path = p->n ? p->text : ".";
	struct beneath_path real;
	int fd = b->stepwise ? stepwise_open(b->fd, path, flags)
			     : kernel_open(b->fd, path, flags, RESOLVE_NO_SYMLINKS);

	if (fd < 0 && errno == ELOOP && !b->stepwise)
		fd = checked(b, kernel_open(b->fd, path, flags, 0), &real);
	else
		real = *p;
	if (fd >= 0 && ret_real)
		*ret_real = real;
	return fd;
}

/* A path of a client's; what was not there is looked for under the name that it may stand for. */
static int open_path(const struct beneath *b, struct str path, int flags, struct beneath_path *ret,
		     struct beneath_path *ret_real, cleat_error *err)
{
	struct beneath_path raw;
	int fd;

	if (beneath_clean(b, path, ret, err))
		return -1;
	fd = open_clean(b, ret, flags, ret_real);
	if (fd < 0 && errno == ENOENT && unescape(ret, &raw) && beneath_allows(b, path_str(&raw))) {
		fd = open_clean(b, &raw, flags, ret_real);
		if (fd >= 0)
			*ret = raw;
	}
	return fd < 0 ? beneath_fail(err, path, errno) : fd;
}

static int wrong_kind(int fd, struct str path, mode_t mode, cleat_error *err)
{
	close(fd);
	if (S_ISDIR(mode))
		return beneath_fail(err, path, EISDIR);
	beneath_refuse(err, CLEAT_EINVAL, path,
		       S_ISFIFO(mode)   ? "is a FIFO, not a regular file"
		       : S_ISSOCK(mode) ? "is a socket, not a regular file"
		       : S_ISLNK(mode)  ? "is a symbolic link, not a regular file"
					: "is a device, not a regular file");
	return -1;
}

int beneath_open_place(const struct beneath *b, struct str path, struct stat *ret, cleat_error *err)
{
	struct beneath_path p;
	int fd = open_path(b, path, O_PATH, &p, NULL, err);

	if (fd >= 0 && fstat(fd, ret)) {
		int error = errno;

		close(fd);
		return beneath_fail(err, path, error);
	}
	return fd;
}

/* It is there, which is not a secret: unlike with other files that are refused. */
static int refuse_taken(cleat_error *err, struct str path, const char *why)
{
	beneath_refuse(err, CLEAT_EIO, path, why);
	if (err)
		err->os_errno = EBUSY;
	return -1;
}

int beneath_open_file(const struct beneath *b, struct str path, struct stat *ret, cleat_error *err)
{
	struct beneath_path p;
	char why[TAKEN_WORDS];
	/* Opening a FIFO or a device does something already: look first. */
	int fd = open_path(b, path, O_PATH, &p, NULL, err);

	if (fd < 0)
		return -1;
	ret->st_mode = 0;
	if (fstat(fd, ret) || !S_ISREG(ret->st_mode))
		return wrong_kind(fd, path, ret->st_mode, err);
	close(fd);
	if (taken_is(ret, p.text, why))
		return refuse_taken(err, path, why);
	fd = open_clean(b, &p, O_RDONLY | O_NONBLOCK | O_NOCTTY, NULL);
	if (fd < 0)
		return beneath_fail(err, path, errno);
	if (fstat(fd, ret) || !S_ISREG(ret->st_mode))
		return wrong_kind(fd, path, ret->st_mode, err);
	if (taken_is(ret, p.text, why)) { /* has taken the place of another meanwhile */
		taken_leave_open(fd);
		return refuse_taken(err, path, why);
	}
	return fd;
}

int beneath_open_entry(int directory, const char *name, struct stat *ret)
{
	int fd;

	if (taken_any() && fstatat(directory, name, ret, AT_SYMLINK_NOFOLLOW) == 0 &&
	    taken_is(ret, name, NULL)) {
		errno = ENXIO;
		return -1;
	}
	fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (fstat(fd, ret) == 0 && S_ISREG(ret->st_mode) && !taken_is(ret, name, NULL))
		return fd;
	if (taken_is(ret, name, NULL))
		taken_leave_open(fd);
	else
		close(fd);
	errno = ENXIO;
	return -1;
}

int beneath_open_directory(const struct beneath *b, struct str path, struct beneath_path *ret_real,
			   cleat_error *err)
{
	struct beneath_path p;

	return open_path(b, path, O_RDONLY | O_DIRECTORY, &p, ret_real, err);
}

/* An entry of a directory that was reached, maybe by links; errno tells. */
static bool allows_in(const struct beneath *b, struct beneath_path *directory, const char *name)
{
	if (append(directory, str_of(name), str_of(name), NULL) == CLEAT_OK &&
	    beneath_allows(b, path_str(directory)))
		return true;
	errno = ENOENT;
	return false;
}

/* The directories of a clean path, made where they are missing: each in the one before, by its name. */
static int make_directories(const struct beneath *b, const struct beneath_path *p)
{
	struct beneath_path part = { .n = 0 }, real;
	size_t from = 0;

	for (size_t i = 0; i <= p->n; i++) {
		int dir, rc, error;

		if (i < p->n && p->text[i] != '/')
			continue;
		part.text[part.n = from ? from - 1 : 0] = '\0';
		dir = open_clean(b, &part, O_PATH | O_DIRECTORY, &real);
		if (dir < 0)
			return -1;
		memcpy(part.text, p->text, i);
		part.text[i] = '\0';
		rc = allows_in(b, &real, part.text + from) ? mkdirat(dir, part.text + from, 0777)
							   : -1;
		error = errno;
		close(dir);
		if (rc && error != EEXIST) {
			errno = error;
			return -1;
		}
		from = i + 1;
	}
	return 0;
}

/* The directory above a clean path, which is not the root; its last component in ret_name. */
static int open_above(const struct beneath *b, const struct beneath_path *p, bool make,
		      char ret_name[BENEATH_NAME_MAX + 1])
{
	struct beneath_path above = *p, real;
	char *slash = strrchr(above.text, '/');
	const char *name = slash ? slash + 1 : above.text;
	int fd;

	memcpy(ret_name, name, strlen(name) + 1); /* at most BENEATH_NAME_MAX: it is clean */
	above.n = slash ? (size_t)(slash - above.text) : 0;
	above.text[above.n] = '\0';
	fd = open_clean(b, &above, O_PATH | O_DIRECTORY, &real);
	if (fd < 0 && errno == ENOENT && make && make_directories(b, &above) == 0)
		fd = open_clean(b, &above, O_PATH | O_DIRECTORY, &real);
	if (fd < 0 || allows_in(b, &real, ret_name))
		return fd;
	close(fd);
	errno = ENOENT;
	return -1;
}

static bool exists(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

int beneath_open_parent(const struct beneath *b, struct str path, bool make,
			char ret_name[BENEATH_NAME_MAX + 1], cleat_error *err)
{
	struct beneath_path p, raw;
	int fd;

	if (beneath_clean(b, path, &p, err))
		return -1;
	if (!p.n) {
		error_set(err, CLEAT_EINVAL, "the path is the folder itself; name something in it");
		return -1;
	}
	if (unescape(&p, &raw) && beneath_allows(b, path_str(&raw))) {
		fd = open_above(b, &raw, false, ret_name);
		if (fd >= 0 && exists(fd, ret_name))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	fd = open_above(b, &p, make, ret_name);
	return fd < 0 ? beneath_fail(err, path, errno) : fd;
}

int beneath_init(struct beneath *b, const char *directory, cleat_error *err)
{
	int probe;

	*b = (struct beneath){ .fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC) };
	if (b->fd < 0) {
		beneath_fail(err, str_of(directory), errno);
		return err ? err->status : CLEAT_EIO;
	}
	probe = kernel_open(b->fd, ".", O_PATH, 0);
	b->stepwise = probe < 0;
	if (probe >= 0)
		close(probe);
	return CLEAT_OK;
}

void beneath_done(struct beneath *b)
{
	if (b->fd >= 0)
		close(b->fd);
	b->fd = -1;
}
