/* program/serve/sandbox/paths.c - see paths.h.
 *
 * What the system's set leaves out on purpose: /etc but for what programs look up (there are keys in it),
 * /proc but for a few figures (the arguments of other processes), /home, /root, /var, /run, /tmp, /opt.
 */
#define _GNU_SOURCE /* O_PATH, realpath */

#include "serve/sandbox/paths.h"

#include "base/error.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/syscall.h>
#endif

enum { SCRIPTS_DEEP = 4, SHEBANG_MAX = 256 };

static const struct sandbox_path system_paths[] = {
	{ "/usr", LANDLOCK_RUN, true },
	{ "/bin", LANDLOCK_RUN, true },
	{ "/sbin", LANDLOCK_RUN, true },
	{ "/lib", LANDLOCK_RUN, true },
	{ "/lib32", LANDLOCK_RUN, true },
	{ "/lib64", LANDLOCK_RUN, true },
	{ "/nix/store", LANDLOCK_RUN, true },
	{ "/gnu/store", LANDLOCK_RUN, true },
	/* the dynamic loader */
	{ "/etc/ld.so.cache", LANDLOCK_READ, true },
	{ "/etc/ld.so.conf", LANDLOCK_READ, true },
	{ "/etc/ld.so.conf.d", LANDLOCK_READ, true },
	{ "/etc/ld.so.preload", LANDLOCK_READ, true },
	/* names, numbers, places */
	{ "/etc/nsswitch.conf", LANDLOCK_READ, true },
	{ "/etc/passwd", LANDLOCK_READ, true },
	{ "/etc/group", LANDLOCK_READ, true },
	{ "/etc/hosts", LANDLOCK_READ, true },
	{ "/etc/host.conf", LANDLOCK_READ, true },
	{ "/etc/resolv.conf", LANDLOCK_READ, true },
	{ "/etc/gai.conf", LANDLOCK_READ, true },
	{ "/etc/services", LANDLOCK_READ, true },
	{ "/etc/protocols", LANDLOCK_READ, true },
	{ "/etc/networks", LANDLOCK_READ, true },
	{ "/etc/localtime", LANDLOCK_READ, true },
	{ "/etc/timezone", LANDLOCK_READ, true },
	{ "/etc/locale.alias", LANDLOCK_READ, true },
	{ "/etc/locale.conf", LANDLOCK_READ, true },
	{ "/etc/default/locale", LANDLOCK_READ, true },
	{ "/etc/os-release", LANDLOCK_READ, true },
	{ "/etc/debian_version", LANDLOCK_READ, true },
	{ "/etc/mime.types", LANDLOCK_READ, true },
	{ "/etc/magic", LANDLOCK_READ, true },
	{ "/etc/terminfo", LANDLOCK_READ, true },
	{ "/etc/inputrc", LANDLOCK_READ, true },
	{ "/etc/fonts", LANDLOCK_READ, true },
	/* whom to trust */
	{ "/etc/ssl/certs", LANDLOCK_READ, true },
	{ "/etc/ssl/openssl.cnf", LANDLOCK_READ, true },
	{ "/etc/ssl/cert.pem", LANDLOCK_READ, true },
	{ "/etc/pki/tls/certs", LANDLOCK_READ, true },
	{ "/etc/pki/tls/openssl.cnf", LANDLOCK_READ, true },
	{ "/etc/pki/ca-trust/extracted", LANDLOCK_READ, true },
	{ "/etc/ca-certificates", LANDLOCK_READ, true },
	{ "/etc/crypto-policies", LANDLOCK_READ, true },
	/* programs' own */
	{ "/etc/alternatives", LANDLOCK_READ, true },
	{ "/etc/gitconfig", LANDLOCK_READ, true },
	{ "/etc/perl", LANDLOCK_READ, true },
	{ "/etc/python3", LANDLOCK_READ, true },
	/* figures of the machine */
	{ "/proc/cpuinfo", LANDLOCK_READ, true },
	{ "/proc/filesystems", LANDLOCK_READ, true },
	{ "/proc/loadavg", LANDLOCK_READ, true },
	{ "/proc/meminfo", LANDLOCK_READ, true },
	{ "/proc/stat", LANDLOCK_READ, true },
	{ "/proc/uptime", LANDLOCK_READ, true },
	{ "/proc/version", LANDLOCK_READ, true },
	{ "/proc/sys/kernel/cap_last_cap", LANDLOCK_READ, true },
	{ "/proc/sys/kernel/ngroups_max", LANDLOCK_READ, true },
	{ "/proc/sys/kernel/osrelease", LANDLOCK_READ, true },
	{ "/proc/sys/kernel/pid_max", LANDLOCK_READ, true },
	{ "/proc/sys/kernel/random/boot_id", LANDLOCK_READ, true },
	{ "/proc/sys/kernel/random/uuid", LANDLOCK_READ, true },
	{ "/proc/sys/net/core/somaxconn", LANDLOCK_READ, true },
	{ "/proc/sys/vm/max_map_count", LANDLOCK_READ, true },
	{ "/proc/sys/vm/overcommit_memory", LANDLOCK_READ, true },
	{ "/sys/devices/system/cpu", LANDLOCK_READ, true },
	{ "/sys/devices/system/node", LANDLOCK_READ, true },
	{ "/sys/kernel/mm/transparent_hugepage", LANDLOCK_READ, true },
	/* devices that are nothing but a service */
	{ "/dev/null", LANDLOCK_DEVICE, true },
	{ "/dev/zero", LANDLOCK_DEVICE, true },
	{ "/dev/full", LANDLOCK_DEVICE, true },
	{ "/dev/random", LANDLOCK_READ, true },
	{ "/dev/urandom", LANDLOCK_READ, true },
};

/* ---- making ------------------------------------------------------------------------------- */

struct maker {
	struct sandbox_path *list; /* with room for all */
	size_t n;
	struct arena *ar;
	cleat_error *err;
};

static int paths_no_memory(cleat_error *err)
{
	return error_set(err, CLEAT_ENOMEM, "out of memory");
}

/* The same without symbolic links; NULL with errno. */
static const char *real_path(struct maker *m, const char *path)
{
	char real[PATH_MAX];

	return realpath(path, real) ? arena_strdup(m->ar, real) : NULL;
}

static void paths_put(struct maker *m, const char *path, enum landlock_use use)
{
	m->list[m->n++] = (struct sandbox_path){ .path = path, .use = use };
}

static int paths_ask(struct maker *m, const char *const *paths, const char *what,
		     enum landlock_use use)
{
	for (size_t i = 0; paths && paths[i]; i++) {
		const char *real;

		if (paths[i][0] != '/')
			return error_set(m->err, CLEAT_EINVAL, "%s: \"%s\" is not absolute", what,
					 paths[i]);
		if (i == SANDBOX_PATHS_MAX)
			return error_set(m->err, CLEAT_EINVAL, "%s: more than %d paths", what,
					 SANDBOX_PATHS_MAX);
		real = real_path(m, paths[i]);
		if (arena_failed(m->ar))
			return paths_no_memory(m->err);
		if (!real)
			return error_set(m->err, CLEAT_EINVAL, "%s: %s: %s", what, paths[i],
					 strerror(errno));
		paths_put(m, real, use);
	}
	return CLEAT_OK;
}

/* Where a program is: as child/plan.c finds it. NULL: nowhere. */
static const char *find_program(struct maker *m, struct str name, const char *cwd)
{
	const char *dirs = getenv("PATH"), *path;
	size_t n;

	if (name.n == 0 || name.n >= PATH_MAX)
		return NULL;
	if (memchr(name.p, '/', name.n)) {
		bool relative = name.p[0] != '/' && cwd;

		path = arena_printf(m->ar, "%s%s%.*s", relative ? cwd : "", relative ? "/" : "",
				    STR_ARGS(name));
		return path ? real_path(m, path) : NULL;
	}
	for (dirs = dirs ? dirs : "/usr/local/bin:/usr/bin:/bin"; *dirs;
	     dirs += n + (dirs[n] == ':')) {
		n = strcspn(dirs, ":");
		if (dirs[0] != '/' || n >= PATH_MAX)
			continue;
		path = arena_printf(m->ar, "%.*s/%.*s", (int)n, dirs, STR_ARGS(name));
		if (path && access(path, X_OK) == 0)
			return real_path(m, path);
	}
	return NULL;
}

static struct str next_word(struct str *line)
{
	struct str w;

	while (line->n && (*line->p == ' ' || *line->p == '\t')) {
		line->p++;
		line->n--;
	}
	w = (struct str){ line->p, 0 };
	while (w.n < line->n && !strchr(" \t\n\r", line->p[w.n]))
		w.n++;
	*line = (struct str){ line->p + w.n, line->n - w.n };
	return w;
}

static bool first_line(const char *path, char *buf, struct str *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, SHEBANG_MAX);
	const char *nl;

	if (fd >= 0)
		close(fd);
	if (n < 2 || memcmp(buf, "#!", 2) != 0)
		return false;
	nl = memchr(buf, '\n', (size_t)n);
	*ret = (struct str){ buf + 2, nl ? (size_t)(nl - buf - 2) : (size_t)n - 2 };
	return true;
}

/* The command, what its #! line names, and what env(1) is told to find there. One that is not there is
 * noticed when it is started. */
static void add_program(struct maker *m, const char *name, const char *cwd)
{
	const char *path = find_program(m, str_of(name), cwd);
	char buf[SHEBANG_MAX];
	struct str line, word;

	for (int i = 0; path && i < SCRIPTS_DEEP; i++) {
		paths_put(m, path, LANDLOCK_RUN);
		if (!first_line(path, buf, &line))
			return;
		word = next_word(&line);
		path = find_program(m, word, NULL);
		if (word.n >= 4 && memcmp(word.p + word.n - 4, "/env", 4) == 0) {
			word = next_word(&line);
			if (str_eqz(word, "-S"))
				word = next_word(&line);
			path = find_program(m, word, NULL);
		}
	}
}

static size_t paths_count(const char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

int sandbox_paths_make(struct sandbox_paths *ret, const struct sandbox_spec *spec, struct arena *ar,
		       cleat_error *err)
{
	size_t most = CLEAT_COUNT(system_paths) + paths_count(spec->read) +
		      paths_count(spec->write) + SCRIPTS_DEEP;
	struct maker m = { .ar = ar, .err = err };
	int rc;

	m.list = arena_zalloc(ar, most * sizeof *m.list);
	if (!m.list)
		return paths_no_memory(err);
	if (!spec->no_system) {
		memcpy(m.list, system_paths, sizeof system_paths);
		m.n = CLEAT_COUNT(system_paths);
	}
	rc = paths_ask(&m, spec->read, "read", LANDLOCK_RUN);
	if (rc == CLEAT_OK)
		rc = paths_ask(&m, spec->write, "write", LANDLOCK_CHANGE);
	if (rc == CLEAT_OK && spec->program)
		add_program(&m, spec->program, spec->cwd);
	if (rc == CLEAT_OK && arena_failed(ar))
		rc = paths_no_memory(err);
	*ret = (struct sandbox_paths){ m.list, m.n };
	return rc;
}

/* ---- using -------------------------------------------------------------------------------- */

static int open_path(const struct sandbox_path *p)
{
#ifdef __linux__
	/* struct open_how; RESOLVE_NO_SYMLINKS. Every kernel with Landlock has it. */
	uint64_t how[3] = { O_PATH | O_CLOEXEC, 0, 4 };

	if (!p->optional)
		return (int)syscall(SYS_openat2, AT_FDCWD, p->path, how, sizeof how);
	return open(p->path, O_PATH | O_CLOEXEC);
#else
	(void)p;
	errno = ENOSYS;
	return -1;
#endif
}

int sandbox_paths_allow(const struct sandbox_paths *p, int rules, cleat_error *err)
{
	for (size_t i = 0; i < p->n; i++) {
		int fd = open_path(&p->list[i]), rc;

		if (fd < 0 && p->list[i].optional && errno != EMFILE && errno != ENFILE)
			continue;
		rc = fd < 0 ? -errno : landlock_rules_add(rules, fd, p->list[i].use);
		if (fd >= 0)
			close(fd);
		if (rc) {
			error_set(err, CLEAT_EIO, "the sandbox's %s: %s", p->list[i].path,
				  rc == -ELOOP ? "it is a symbolic link now" : strerror(-rc));
			if (err)
				err->os_errno = -rc;
			return CLEAT_EIO;
		}
	}
	return CLEAT_OK;
}
