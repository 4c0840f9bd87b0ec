/* program/bench/usage.c - see usage.h. */
#include "bench/usage.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INODES_MAX 64

/* ---- one process -------------------------------------------------------------------------------- */

struct usage_process {
	long group;
	uint64_t cpu_ns, rss;
};

/* /proc/PID/stat; the name in it may hold anything, but is the last thing in parentheses. */
static bool bench_usage_look(pid_t pid, struct usage_process *ret)
{
	char path[64], text[1024], *p;
	unsigned long user = 0, sys = 0;
	long rss = 0;
	FILE *f;
	size_t n;

	snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
	f = fopen(path, "r");
	if (!f)
		return false;
	n = fread(text, 1, sizeof text - 1, f);
	fclose(f);
	text[n] = '\0';
	p = strrchr(text, ')');
	if (!p || sscanf(p + 1,
			 " %*c %*d %ld %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %*d %*d %*d %*d %*d "
			 "%*d %*u %*u %ld",
			 &ret->group, &user, &sys, &rss) != 4)
		return false;
	ret->cpu_ns = (uint64_t)(user + sys) * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
	ret->rss = (uint64_t)rss * (uint64_t)sysconf(_SC_PAGESIZE);
	return true;
}

static void usage_add(struct usage *u, pid_t pid)
{
	for (size_t i = 0; i < u->n; i++)
		if (u->pids[i] == pid)
			return;
	if (u->n < USAGE_MAX)
		u->pids[u->n++] = pid;
}

/* ---- whose it is -------------------------------------------------------------------------------- */

/* Calls back with each process there is. */
static void each_process(void (*fn)(struct usage *u, pid_t pid, const void *ctx), struct usage *u,
			 const void *ctx)
{
	DIR *proc = opendir("/proc");
	struct dirent *d;

	/* cppcheck-suppress readdirCalled ; a directory of our own, read by one thread */
	while (proc && (d = readdir(proc)) != NULL) {
		long pid = strtol(d->d_name, NULL, 10);

		if (pid > 0)
			fn(u, (pid_t)pid, ctx);
	}
	if (proc)
		closedir(proc);
}

struct groups {
	const pid_t *at;
	size_t n;
};

static void if_in_group(struct usage *u, pid_t pid, const void *ctx)
{
	const struct groups *g = ctx;
	struct usage_process p;

	if (!bench_usage_look(pid, &p))
		return;
	for (size_t i = 0; i < g->n; i++)
		if (g->at[i] == p.group)
			usage_add(u, pid);
}

void usage_of_groups(struct usage *u, const pid_t *groups, size_t n)
{
	struct groups g = { groups, n };

	memset(u, 0, sizeof *u);
	each_process(if_in_group, u, &g);
}

struct inodes {
	unsigned long at[INODES_MAX];
	size_t n;
};

static void add_inode(struct inodes *in, unsigned long inode)
{
	if (in->n < INODES_MAX && inode)
		in->at[in->n++] = inode;
}

/* Lines "0: 0100007F:1F90 00000000:0000 0A ... inode": 0A is listening. */
static void find_tcp(struct inodes *in, const char *path, unsigned port)
{
	char line[512];
	FILE *f = fopen(path, "r");

	while (f && fgets(line, sizeof line, f)) {
		unsigned local = 0, state = 0;
		unsigned long inode = 0;

		if (sscanf(line,
			   " %*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*x:%*x %*x:%*x %*x %*u %*u %lu",
			   &local, &state, &inode) == 3 &&
		    state == 0x0A && local == port)
			add_inode(in, inode);
	}
	if (f)
		fclose(f);
}

/* Lines "addr: refs protocol flags type state inode path": flag 10000 is listening. */
static void find_unix(struct inodes *in, const char *path)
{
	char line[512];
	FILE *f = fopen("/proc/net/unix", "r");

	while (f && fgets(line, sizeof line, f)) {
		unsigned long flags = 0, inode = 0;
		int at = 0;

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%*s %*s %*s %lx %*s %*s %lu %n", &flags, &inode, &at) == 2 &&
		    flags & 0x10000 && at && strcmp(line + at, path) == 0)
			add_inode(in, inode);
	}
	if (f)
		fclose(f);
}

static void if_holds(struct usage *u, pid_t pid, const void *ctx)
{
	const struct inodes *in = ctx;
	char path[64], name[400], link[64];
	struct dirent *d;
	DIR *fds;

	snprintf(path, sizeof path, "/proc/%ld/fd", (long)pid);
	fds = opendir(path);
	/* cppcheck-suppress readdirCalled */
	while (fds && (d = readdir(fds)) != NULL) {
		unsigned long inode = 0;
		ssize_t n;

		snprintf(name, sizeof name, "%s/%s", path, d->d_name);
		n = readlink(name, link, sizeof link - 1);
		if (n <= 0)
			continue;
		link[n] = '\0';
		if (sscanf(link, "socket:[%lu]", &inode) != 1)
			continue;
		for (size_t i = 0; i < in->n; i++)
			if (in->at[i] == inode)
				usage_add(u, pid);
	}
	if (fds)
		closedir(fds);
}

void usage_of_goal(struct usage *u, const struct goal *t)
{
	struct inodes in = { .n = 0 };

	memset(u, 0, sizeof *u);
	if (!goal_is_local(t))
		return;
	if (goal_socket(t)) {
		find_unix(&in, goal_socket(t));
	} else {
		find_tcp(&in, "/proc/net/tcp", goal_port(t));
		find_tcp(&in, "/proc/net/tcp6", goal_port(t));
	}
	if (in.n)
		each_process(if_holds, u, &in);
}

/* ---- over time ---------------------------------------------------------------------------------- */

static void sum(const struct usage *u, uint64_t *ret_cpu, uint64_t *ret_rss)
{
	struct usage_process p;

	*ret_cpu = *ret_rss = 0;
	for (size_t i = 0; i < u->n; i++) {
		if (!bench_usage_look(u->pids[i], &p))
			continue;
		*ret_cpu += p.cpu_ns;
		*ret_rss += p.rss;
	}
}

void usage_begin(struct usage *u)
{
	sum(u, &u->cpu_before, &u->rss_first);
	u->rss_most = u->rss_last = u->rss_first;
}

void usage_look(struct usage *u)
{
	uint64_t cpu;

	sum(u, &cpu, &u->rss_last);
	if (cpu > u->cpu_before + u->cpu_ns)
		u->cpu_ns = cpu - u->cpu_before;
	if (u->rss_last > u->rss_most)
		u->rss_most = u->rss_last;
}
