/* program/cli/create.c - files that the program makes: they are new, or --force says that they may take an old one's place.
 *
 * Nothing is written through a link, and nothing into a file that is there: whoever has filled the directory may
 * have put something of that name into it, a link to a file of the user's even. (What -o names is another
 * matter: it is replaced by its nature, as by a shell's ">".)
 */
#include "cli/run.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What takes all and keeps nothing, or hands it on to somebody of ours. */
static bool is_drain(const struct stat *s)
{
	return S_ISCHR(s->st_mode) || (S_ISFIFO(s->st_mode) && s->st_uid == geteuid());
}

static int create_refuse(const struct cli *cli, const char *path, const struct stat *s)
{
	const char *why = strerror(errno);

	if (errno == EEXIST && S_ISLNK(s->st_mode))
		why = "it is a link; --force puts a file in its place";
	else if (errno == EEXIST && S_ISDIR(s->st_mode))
		why = "it is a directory";
	else if (errno == EEXIST && S_ISREG(s->st_mode))
		why = "it exists already; --force replaces it";
	cli_error(cli, EXIT_OTHER, "cannot write %s: %s", path, why);
	return -1;
}

int cli_create(const struct cli *cli, const char *path, unsigned mode, bool replace)
{
	struct stat old = { 0 };
	bool there = lstat(path, &old) == 0;
	int fd;

	if (there && is_drain(&old))
		fd = open(path, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	else if (there && replace && (S_ISREG(old.st_mode) || S_ISLNK(old.st_mode)) &&
		 unlink(path) != 0)
		fd = -1;
	else
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, (mode_t)mode);
	if (fd < 0)
		return create_refuse(cli, path, &old);
	return fd;
}
