/* program/terminal/output.c - where a result goes, and in which form: --json, --jq, -o.
 *
 * What -o names keeps its old content until the new one is complete: that is written beside it and takes
 * its place in the end. Only what is not a plain file (a pipe, a device), or is watched as it grows, is
 * written as it is.
 */
#include "terminal/output.h"

#include "terminal/jq.h"
#include "text/print.h"
#include "text/text.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- where --------------------------------------------------------------------------------------- */

/* Of several names for one file, the others would keep the old content. */
static bool is_replaceable(const char *path, const struct stat *s)
{
	return S_ISREG(s->st_mode) && s->st_nlink == 1 && access(path, W_OK) == 0;
}

/* A file beside `path`, to be written instead of it; NULL: it has to be written as it is. */
static FILE *open_beside(struct cli *cli, const char *path)
{
	struct stat old;
	bool exists = stat(path, &old) == 0;
	char *target = exists ? realpath(path, NULL) : NULL;
	char *beside = keepf("%s.XXXXXX", target ? target : path);
	mode_t mask = umask(0);
	FILE *f = NULL;
	int fd;

	umask(mask);
	cli->target_ = target ? keep(target) : path;
	if (exists ? !target || !is_replaceable(path, &old) : lstat(path, &old) == 0)
		return NULL; /* the second: a link to what is not there yet */
	fd = mkstemp(beside);
	if (fd < 0)
		return NULL;
	if (fchmod(fd, exists ? old.st_mode & 07777 : 0666 & ~mask) == 0 &&
	    (!exists || (old.st_uid == geteuid() && old.st_gid == getegid()) ||
	     fchown(fd, old.st_uid, old.st_gid) == 0))
		f = fdopen(fd, "wb");
	if (f) {
		cli->beside_ = beside;
		return f;
	}
	unlink(beside);
	close(fd);
	return NULL;
}

static FILE *open_output(struct cli *cli, bool live)
{
	const char *path = cli_option(cli, "output");

	if (cli->out_)
		return cli->out_;
	if (!path || strcmp(path, "-") == 0)
		return cli->out_ = stdout;
	cli->out_ = live ? NULL : open_beside(cli, path);
	if (!cli->out_)
		cli->out_ = fopen(path, "wb");
	if (!cli->out_)
		cli_error(cli, EXIT_OTHER, "cannot write %s: %s", path, strerror(errno));
	return cli->out_;
}

FILE *cli_out(struct cli *cli)
{
	return open_output(cli, false);
}

FILE *cli_out_live(struct cli *cli)
{
	return open_output(cli, true);
}

void cli_out_drop(struct cli *cli)
{
	cli->dropped_ = true;
}

/* ---- what ---------------------------------------------------------------------------------------- */

void cli_pretty(struct cli *cli, FILE *to, const cleat_json *v)
{
	print_pretty(to, v, cli_color(cli, to));
}

bool cli_print_json(struct cli *cli, const cleat_json *v, int *ret_code)
{
	const char *expression = cli_option(cli, "jq");
	FILE *to;

	if (!cli->json && !expression)
		return false;
	*ret_code = EXIT_OTHER;
	if (expression) {
		*ret_code = jq_print(cli, expression, v);
		return true;
	}
	to = cli_out(cli);
	if (!to)
		return true;
	*ret_code = EXIT_GOOD;
	/* For a person who looks at a terminal, for a program a line. */
	if (isatty(fileno(to)))
		cli_pretty(cli, to, v);
	else if (!print_json_line(to, v))
		*ret_code = cli_error(cli, EXIT_OTHER, "out of memory");
	return true;
}

bool cli_print_doc(struct cli *cli, cleat_doc *doc, int *ret_code)
{
	bool printed = cli_print_json(cli, cleat_doc_root(doc), ret_code);

	cleat_doc_free(doc);
	return printed;
}

/* ---- the end ------------------------------------------------------------------------------------- */

/* What was lost before is not in errno any more; that nobody reads a pipe can be seen. */
static int lost_why(FILE *out)
{
	struct pollfd p = { .fd = fileno(out), .events = POLLOUT };

	return poll(&p, 1, 0) == 1 && p.revents & (POLLERR | POLLHUP) ? EPIPE : 0;
}

/* Gives 0, or why not all of it was written; -1: nobody knows. */
static int finish_output(struct cli *cli, FILE *out)
{
	int why = fflush(out) != 0 ? errno : ferror(out) ? lost_why(out) : 0;
	bool bad = why || ferror(out);

	if (out != stdout && fclose(out) != 0 && !bad) {
		bad = true;
		why = errno;
	}
	if (cli->beside_ && (bad || cli->dropped_)) {
		unlink(cli->beside_);
	} else if (cli->beside_ && rename(cli->beside_, cli->target_) != 0) {
		bad = true;
		why = errno;
		unlink(cli->beside_);
	}
	cli->beside_ = NULL;
	cli->dropped_ = false;
	return bad && !why ? -1 : why;
}

int cli_close_output(struct cli *cli, int code)
{
	FILE *out = cli->out_ ? cli->out_ : stdout;
	int why = finish_output(cli, out);

	cli->out_ = NULL;
	if (!why)
		return code;
	/* Whoever reads has seen enough (| head): nothing to complain about. */
	if (why == -1)
		cli_error(cli, EXIT_OTHER, "cannot write the result");
	else if (why != EPIPE)
		cli_error(cli, EXIT_OTHER, "cannot write the result: %s", strerror(why));
	return code ? code : EXIT_OTHER;
}
