/* program/serve/command/family.c - see family.h. */
#include "serve/command/family.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS_MAX = 1024 /* of one process that are asked for its children */ };

struct list {
	int pid[FAMILY_MAX + 1];
	size_t n;
};

/* The beginning of a file of /proc; 0: there is none any more. */
static size_t read_some(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, size - 1);

	if (fd >= 0)
		close(fd);
	buf[n > 0 ? n : 0] = 0;
	return n > 0 ? (size_t)n : 0;
}

static void family_add(struct list *l, long pid)
{
	if (pid > 1 && l->n < FAMILY_MAX + 1)
		l->pid[l->n++] = (int)pid;
}

/* "12 345 " as far as the list has room. */
static void add_children(struct list *l, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char buf[4096];
	ssize_t n;
	long pid = 0;

	while (fd >= 0 && l->n <= FAMILY_MAX && (n = read(fd, buf, sizeof buf)) > 0)
		for (ssize_t i = 0; i < n; i++) {
			if (buf[i] >= '0' && buf[i] <= '9') {
				pid = pid * 10 + (buf[i] - '0');
				continue;
			}
			family_add(l, pid);
			pid = 0;
		}
	family_add(l, pid);
	if (fd >= 0)
		close(fd);
}

/* Each thread has the children that it has started. */
static void add_children_of(struct list *l, int pid)
{
	char path[80];
	DIR *d;
	struct dirent *e;
	size_t threads = 0;

	snprintf(path, sizeof path, "/proc/%d/task", pid);
	d = opendir(path);
	while (d && (e = readdir(d)) && threads < THREADS_MAX) {
		if (e->d_name[0] < '0' || e->d_name[0] > '9')
			continue;
		snprintf(path, sizeof path, "/proc/%d/task/%.20s/children", pid, e->d_name);
		add_children(l, path);
		threads++;
	}
	if (d)
		closedir(d);
}

/* Its own pages: those that are there, without files and what is shared by intention. */
static uint64_t own_memory(int pid)
{
	char path[40], buf[200];
	unsigned long size, resident, shared;

	snprintf(path, sizeof path, "/proc/%d/statm", pid);
	if (!read_some(path, buf, sizeof buf) ||
	    sscanf(buf, "%lu %lu %lu", &size, &resident, &shared) != 3 || resident < shared)
		return 0;
	return (uint64_t)(resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Its part of the pages that it has together with others; `whole` where that is not to be had. */
static uint64_t part_of_memory(int pid, uint64_t whole)
{
	char path[48], buf[2000];
	const char *at;
	unsigned long kb;

	snprintf(path, sizeof path, "/proc/%d/smaps_rollup", pid);
	if (!read_some(path, buf, sizeof buf) || !(at = strstr(buf, "Pss_Anon:")))
		return whole;
	kb = strtoul(at + strlen("Pss_Anon:"), NULL, 10);
	return (uint64_t)kb * 1024;
}

struct family family_look(int root, uint64_t memory_max)
{
	struct family f = { 0, 0 };
	struct list l;

	l.n = 0;
	add_children_of(&l, root);
	for (size_t i = 0; i < l.n && l.n <= FAMILY_MAX; i++)
		add_children_of(&l, l.pid[i]);
	f.processes = l.n;
	for (size_t i = 0; i < l.n; i++)
		f.memory += own_memory(l.pid[i]);
	/* The closer look walks all their pages: only where it decides, and where there can be a difference. */
	if (f.memory <= memory_max || l.n < 2)
		return f;
	f.memory = 0;
	for (size_t i = 0; i < l.n && f.memory <= memory_max; i++)
		f.memory += part_of_memory(l.pid[i], own_memory(l.pid[i]));
	return f;
}
