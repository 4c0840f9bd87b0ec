/* program/bench/child.c - see child.h. */
#define _GNU_SOURCE /* pipe2, execvpe */

#include "bench/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_NS 1000000000u /* before the next, stronger hint */

extern char **environ;

/* ---- the guard --------------------------------------------------------------------------------- */

/* Lives until its pipe ends, which is when we do; kills the groups that it was told of. */
static void guard(int from, size_t most)
{
	pid_t *pids = calloc(most ? most : 1, sizeof *pids);
	size_t n = 0;
	pid_t pid;

	for (int sig = 1; sig < 32; sig++)
		if (sig != SIGKILL && sig != SIGSTOP && sig != SIGCHLD)
			signal(sig, SIG_IGN);
	while (pids && read(from, &pid, sizeof pid) == (ssize_t)sizeof pid && n < most)
		pids[n++] = pid;
	for (size_t i = 0; i < n; i++)
		kill(-pids[i], SIGKILL);
	_exit(0);
}

static bool start_guard(struct brood *b, size_t most)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return false;
	b->guard = fork();
	if (b->guard == 0) {
		setpgid(0, 0); /* Ctrl-C is not for it */
		close(ends[1]);
		guard(ends[0], most);
	}
	close(ends[0]);
	b->tell = ends[1];
	return b->guard > 0;
}

/* ---- variables ---------------------------------------------------------------------------------- */

struct vars {
	char **at;
	size_t n;
	bool bad;
};

/* Instead of one of the same name. */
static void set_var(struct vars *v, const char *name, const char *value)
{
	size_t len = strcspn(name, "="), i = 0;
	char *text = NULL;

	if (asprintf(&text, "%.*s=%s", (int)len, name, value) < 0) {
		v->bad = true;
		return;
	}
	while (i < v->n && strncmp(v->at[i], text, len + 1) != 0)
		i++;
	if (i == v->n)
		v->n++;
	else
		free(v->at[i]);
	v->at[i] = text;
}

static void set_ours(struct vars *v, const char *name)
{
	const char *value = getenv(name);

	if (value)
		set_var(v, name, value);
}

char **brood_env(const char *const *more, bool all)
{
	static const char *const usual[] = { "HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER" };
	size_t most = sizeof usual / sizeof *usual + 1;
	struct vars v = { 0 };

	for (size_t i = 0; environ && environ[i]; i++)
		most++;
	for (size_t i = 0; more && more[i]; i++)
		most++;
	v.at = calloc(most, sizeof *v.at);
	if (!v.at)
		return NULL;
	for (size_t i = 0; all && environ && environ[i]; i++)
		if (strchr(environ[i], '='))
			set_var(&v, environ[i], strchr(environ[i], '=') + 1);
	for (size_t i = 0; !all && i < sizeof usual / sizeof *usual; i++)
		set_ours(&v, usual[i]);
	for (size_t i = 0; more && more[i]; i++) {
		if (strchr(more[i], '='))
			set_var(&v, more[i], strchr(more[i], '=') + 1);
		else
			set_ours(&v, more[i]);
	}
	if (!v.bad)
		return v.at;
	brood_env_free(v.at);
	return NULL;
}

void brood_env_free(char *const *env)
{
	for (size_t i = 0; env && env[i]; i++)
		free(env[i]);
	free((void *)env);
}

/* ---- children ----------------------------------------------------------------------------------- */

/* After fork(): becomes the program, or says why not. */
static void become(const struct brood_options *o, int in, int out, int say)
{
	char **argv = (char **)o->command;
	sigset_t none;
	int null = o->show_stderr ? -1 : open("/dev/null", O_WRONLY);

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0ul, 0ul, 0ul);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	if (dup2(in, 0) >= 0 && dup2(out, 1) >= 0 && (null < 0 || dup2(null, 2) >= 0) &&
	    (!o->cwd || chdir(o->cwd) == 0))
		execvpe(argv[0], argv, o->env ? o->env : environ);
	in = errno;
	if (write(say, &in, sizeof in) < 0)
		_exit(126);
	_exit(127);
}

static void close_all(int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/* 0, or errno. */
static int start_one(struct brood *b, const struct brood_options *o)
{
	int fds[6] = { -1, -1, -1, -1, -1, -1 }, error = 0; /* its input, its output, its failure */
	pid_t pid = -1;

	if (pipe2(fds, O_CLOEXEC) || pipe2(fds + 2, O_CLOEXEC) || pipe2(fds + 4, O_CLOEXEC) ||
	    (pid = fork()) < 0) {
		error = errno;
		close_all(fds, 6);
		return error;
	}
	if (pid == 0)
		become(o, fds[0], fds[3], fds[5]);
	setpgid(pid, pid);
	if (write(b->tell, &pid, sizeof pid) < 0)
		error = errno;
	close(fds[0]);
	close(fds[3]);
	close(fds[5]);
	if (read(fds[4], &error, sizeof error) == 0)
		error = 0;
	close(fds[4]);
	b->pids[b->n] = pid;
	b->pipes[b->n++] = (struct load_pipe){ .in = fds[2], .out = fds[1] };
	return error;
}

bool brood_start(struct brood *b, const struct brood_options *o, size_t n)
{
	int error;

	*b = (struct brood){ .tell = -1 };
	b->pids = calloc(n, sizeof *b->pids);
	b->pipes = calloc(n, sizeof *b->pipes);
	error = b->pids && b->pipes && start_guard(b, n) ? 0 : errno ? errno : ENOMEM;
	while (!error && b->n < n)
		error = start_one(b, o);
	if (!error)
		return true;
	brood_end(b);
	errno = error;
	return false;
}

/* ---- the end ------------------------------------------------------------------------------------ */

static size_t reap(struct brood *b)
{
	size_t left = 0;

	for (size_t i = 0; i < b->n; i++) {
		if (b->pids[i] > 0 && waitpid(b->pids[i], NULL, WNOHANG) != 0) {
			kill(-b->pids[i], SIGKILL); /* what it may have started */
			b->pids[i] = 0;
		}
		left += b->pids[i] > 0;
	}
	return left;
}

static bool reap_within(struct brood *b, uint64_t ns)
{
	uint64_t until = load_clock() + ns;
	struct timespec pause = { .tv_nsec = 2000000 };

	while (reap(b) > 0) {
		if (load_clock() > until)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

static void signal_all(struct brood *b, int sig)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->pids[i] > 0)
			kill(-b->pids[i], sig);
}

void brood_end(struct brood *b)
{
	for (size_t i = 0; i < b->n; i++) {
		close(b->pipes[i].out);
		close(b->pipes[i].in);
	}
	if (!reap_within(b, PATIENCE_NS)) {
		signal_all(b, SIGTERM);
		if (!reap_within(b, PATIENCE_NS))
			signal_all(b, SIGKILL);
		while (reap(b) > 0)
			nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
	}
	if (b->tell >= 0)
		close(b->tell);
	if (b->guard > 0)
		waitpid(b->guard, NULL, 0);
	free(b->pids);
	free(b->pipes);
	*b = (struct brood){ .tell = -1 };
}
