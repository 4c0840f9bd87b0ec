/* program/clients/clientfile.c - a configuration file of another program, changed with care. */
#include "clients/clientfile.h"

#include "terminal/output.h"
#include "text/jsonc.h"
#include "text/jsonedit.h"
#include "text/nearest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FILE_MOST = 64 << 20 };

/* ---- which file ---------------------------------------------------------------------------------- */

static int clientfile_unknown(struct cli *cli, const char *client)
{
	struct place all[PLACES_MAX];
	struct words names = { 0 };
	const char *near;

	for (size_t i = 0, n = places_all(all); i < n; i++)
		words_add(&names, all[i].client);
	near = nearest(client, names.at, names.n);
	if (near)
		return cli_usage(cli, "unknown program \"%s\", did you mean %s?", client, near);
	return cli_usage(
		cli,
		"unknown program \"%s\": claude-code, claude-desktop, cursor, vscode, or a "
		"file (./mcp.json)",
		client);
}

static int choose(struct cli *cli, struct clientfile *f, const char *client)
{
	bool project = cli_flag(cli, "project");

	if (places_find(client, project, &f->place))
		return EXIT_GOOD;
	if (places_find(client, !project, &f->place))
		return cli_usage(cli, "%s has no file for a project, only %s", f->place.program,
				 f->place.shown);
	if (!strpbrk(client, "./"))
		return clientfile_unknown(cli, client);
	if (project)
		return cli_usage(cli, "--project goes with a program's name, not with a file");
	f->place = (struct place){ .client = client,
				   .program = client,
				   .path = client,
				   .shown = client,
				   .no_url = strstr(client, "claude_desktop_config.json") };
	return EXIT_GOOD;
}

/* What a file's servers are called: as it has them already, otherwise as VS Code or everybody else does. */
static const char *top_of(const struct clientfile *f)
{
	const cleat_json *root = cleat_doc_root(f->doc);

	if (f->place.top)
		return f->place.top;
	if (cleat_json_get(root, "mcpServers"))
		return "mcpServers";
	if (cleat_json_get(root, "servers") || strstr(f->place.path, ".vscode/") ||
	    strstr(f->place.path, "Code/User/"))
		return "servers";
	return "mcpServers";
}

/* Of two members with one name readers take the last, an edit would change the first. */
static int check_names(struct cli *cli, const struct clientfile *f)
{
	const cleat_json *name = cleat_json_duplicate(cleat_doc_root(f->doc));

	if (!name)
		name = cleat_json_duplicate(f->servers);
	if (!name)
		return EXIT_GOOD;
	return cli_error(
		cli, EXIT_OTHER,
		"%s: \"%s\" is there twice; remove one of them first (nothing was changed)",
		f->place.shown, cleat_json_str(name, ""));
}

static int parse(struct cli *cli, struct clientfile *f)
{
	char *bare = must_alloc(f->text.n + 1);
	const cleat_json *root;
	cleat_error err;

	memcpy(bare, text_str(&f->text), f->text.n);
	bare[f->text.n] = '\0';
	jsonc_blank(bare, f->text.n);
	if (strspn(bare, " \t\r\n") < f->text.n) {
		f->doc = cleat_doc_parse(bare, f->text.n, NULL, NULL, &err);
		if (!f->doc) {
			free(bare);
			return cli_error(cli, EXIT_OTHER, "%s: %s; nothing was changed",
					 f->place.shown, err.message);
		}
	}
	free(bare);
	root = cleat_doc_root(f->doc);
	f->place.top = top_of(f);
	f->servers = cleat_json_get(root, f->place.top);
	if ((root && cleat_json_type(root) != CLEAT_JSON_OBJECT) ||
	    (f->servers && cleat_json_type(f->servers) != CLEAT_JSON_OBJECT))
		return cli_error(cli, EXIT_OTHER, "%s: expected an object%s%s; nothing was changed",
				 f->place.shown, root && f->servers ? " in " : "",
				 root && f->servers ? f->place.top : "");
	return check_names(cli, f);
}

int clientfile_open(struct cli *cli, struct clientfile *f, const char *client)
{
	struct stat st;
	char *real;
	int code;

	*f = (struct clientfile){ 0 };
	code = choose(cli, f, client);
	if (code != EXIT_GOOD)
		return code;
	real = realpath(f->place.path, NULL);
	f->real = real ? keep(real) : f->place.path;
	if (!real && lstat(f->place.path, &st) == 0)
		return cli_error(cli, EXIT_OTHER, "%s: a broken symbolic link", f->place.shown);
	if (real && (stat(real, &st) != 0 || !S_ISREG(st.st_mode))) /* a pipe would never end */
		return cli_error(cli, EXIT_OTHER, "%s: not a file", f->place.shown);
	if (!text_read(&f->text, f->real, FILE_MOST) && errno != ENOENT && errno != ENOTDIR)
		return cli_error(cli, EXIT_OTHER, "%s: %s", f->place.shown, strerror(errno));
	return parse(cli, f);
}

void clientfile_close(struct clientfile *f)
{
	text_free(&f->text);
	cleat_doc_free(f->doc);
}

/* ---- writing ------------------------------------------------------------------------------------- */

/* Whoever starts servers runs what its file says, so nothing is written into it that nobody has agreed to. */
static int agreed(struct cli *cli)
{
	char answer[16];

	if (cli_flag(cli, "yes"))
		return EXIT_GOOD;
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
		return cli_usage(cli, "nothing was changed, as there is no terminal to ask on: use "
				      "--yes to write this, or --dry-run to look at it only");
	fputs("Write this? [Y/n] ", stderr);
	fflush(stderr);
	if (fgets(answer, sizeof answer, stdin) &&
	    (*answer == '\n' || *answer == 'y' || *answer == 'Y'))
		return EXIT_GOOD;
	return cli_error(cli, EXIT_OTHER, "nothing was changed");
}

static bool write_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return false;
		p += done;
		n -= (size_t)done;
	}
	return fsync(fd) == 0;
}

/* A new file beside `path`, with that file's permissions; configurations hold secrets, so without one only
 * the user may read it. */
static bool write_new(const char *path, const char *like, const char *p, size_t n)
{
	struct stat st;
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	bool ok;

	if (fd < 0)
		return false;
	ok = stat(like, &st) != 0 || fchmod(fd, st.st_mode & 07777) == 0;
	ok = write_all(fd, p, n) && ok;
	if (close(fd) != 0 || !ok) {
		int why = errno;

		unlink(path);
		errno = why;
		return false;
	}
	return true;
}

/* The directories of a file that does not exist yet. */
static bool make_directories(const char *path)
{
	char *copy = keepf("%s", path);

	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, 0700) != 0 && errno != EEXIST)
			return false;
		*slash = '/';
	}
	return true;
}

/* "FILE.2026-07-28T09-30-00.bak", or with a number where that exists. */
static const char *backup(const struct clientfile *f)
{
	time_t now = time(NULL);
	struct tm tm;
	char stamp[32];

	if (!localtime_r(&now, &tm) || !strftime(stamp, sizeof stamp, "%Y-%m-%dT%H-%M-%S", &tm))
		return NULL;
	for (unsigned i = 0; i < 100; i++) {
		char *path = i ? keepf("%s.%s-%u.bak", f->real, stamp, i)
			       : keepf("%s.%s.bak", f->real, stamp);

		if (write_new(path, f->real, f->text.p, f->text.n))
			return path;
		if (errno != EEXIST)
			return NULL;
	}
	return NULL;
}

static int failed(struct cli *cli, const struct clientfile *f, const char *what)
{
	return cli_error(cli, EXIT_OTHER, "%s: %s: %s; nothing was changed", f->place.shown, what,
			 strerror(errno));
}

/* Is it what the difference was shown of? These programs write their files themselves, at any time, and a
 * person takes a while to say yes. */
static bool is_unchanged(struct clientfile *f)
{
	struct text now = { 0 };
	bool there = text_read(&now, f->real, FILE_MOST);
	bool same = now.n == f->text.n && memcmp(text_str(&now), text_str(&f->text), now.n) == 0;

	text_free(&now);
	return same && (there || !f->text.n);
}

static int replace(struct cli *cli, struct clientfile *f, struct text *after)
{
	char *fresh = keepf("%s.%ld.new", f->real, (long)getpid());
	const char *kept = NULL;

	if (!is_unchanged(f))
		return cli_error(cli, EXIT_OTHER,
				 "%s has changed in the meantime; nothing was written: try again",
				 f->place.shown);
	if (!make_directories(f->real))
		return failed(cli, f, "cannot make its directory");
	if (f->text.n) {
		kept = backup(f);
		if (!kept)
			return failed(cli, f, "cannot keep a backup");
	}
	if (!write_new(fresh, f->real, text_str(after), after->n))
		return failed(cli, f, "cannot write");
	if (rename(fresh, f->real) != 0) {
		unlink(fresh);
		return failed(cli, f, "cannot replace it");
	}
	if (kept)
		cli_note(cli, "%s was written; the old version is %s", f->place.shown, kept);
	else
		cli_note(cli, "%s was written", f->place.shown);
	return EXIT_GOOD;
}

int clientfile_write(struct cli *cli, struct clientfile *f, struct text *after)
{
	FILE *to = cli_out(cli);
	int code;

	if (!to)
		return EXIT_OTHER;
	jsonedit_diff(to, f->place.shown, &f->text, after, cli->color);
	fflush(to);
	if (cli_flag(cli, "dry-run"))
		return EXIT_GOOD;
	code = agreed(cli);
	return code == EXIT_GOOD ? replace(cli, f, after) : code;
}
