/* pipe.c - what a server costs over a pipe: CPU time per call with 64 calls in flight, memory, and
 * the time from exec to the first answer.
 *
 *	bench_pipe CALLS NAME=COMMAND...
 *
 * Every command is a program that speaks MCP over stdio and has a tool add(a, b). They are measured
 * in turns, several rounds, and the smallest CPU time of each counts: the machine is shared. Prints
 * one line each: name, ns of CPU per call, peak kB, microseconds to the first answer.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { IN_FLIGHT = 64, ROUNDS = 7, MAX_SERVERS = 8 };

struct server {
	const char *name, *command;
	double cpu_ns, first_us;
	long peak_kb;
};

struct child {
	pid_t pid;
	int in, out; /* its stdin and stdout */
};

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static struct child spawn(const char *command)
{
	int to[2], from[2];
	struct child c;

	if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
		die("pipe");
	c.pid = vfork();
	if (c.pid == 0) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		execl(command, command, (char *)NULL);
		_exit(127);
	}
	if (c.pid < 0)
		die("vfork");
	close(to[0]);
	close(from[1]);
	c.in = to[1];
	c.out = from[0];
	return c;
}

static void send_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t k = write(fd, p, n);

		if (k < 0 && errno != EINTR)
			die("write");
		if (k > 0) {
			p += k;
			n -= (size_t)k;
		}
	}
}

/* Reads what is there and counts the lines; every one must be a result. */
static int read_answers(int fd)
{
	static char buf[65536];
	ssize_t n = read(fd, buf, sizeof buf);
	int lines = 0;

	if (n <= 0) {
		fprintf(stderr, "the server closed its output\n");
		exit(2);
	}
	for (ssize_t i = 0; i < n; i++)
		lines += buf[i] == '\n';
	if (memmem(buf, (size_t)n, "\"error\"", 7) || memmem(buf, (size_t)n, "isError", 7)) {
		fprintf(stderr, "a call failed: %.*s\n", (int)(n < 300 ? n : 300), buf);
		exit(2);
	}
	return lines;
}

static void handshake(const struct child *c)
{
	static const char hello[] =
		"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
		"\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{"
		"\"name\":\"bench\",\"version\":\"1\"}}}\n";

	send_all(c->in, hello, sizeof hello - 1);
	while (read_answers(c->out) == 0)
		;
}

static size_t add_call(char *to, int id)
{
	return (size_t)sprintf(
		to,
		"{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{"
		"\"name\":\"add\",\"arguments\":{\"a\":%d,\"b\":40}}}\n",
		id, id % 1000);
}

static void drive(const struct child *c, int calls)
{
	static char batch[IN_FLIGHT * 160];
	int sent = 0, answered = 0;

	while (answered < calls) {
		size_t n = 0;

		while (sent < calls && sent - answered < IN_FLIGHT)
			n += add_call(batch + n, ++sent);
		send_all(c->in, batch, n);
		answered += read_answers(c->out);
	}
}

static double cpu_ns(const struct rusage *u)
{
	return ((double)u->ru_utime.tv_sec + (double)u->ru_stime.tv_sec) * 1e9 +
	       ((double)u->ru_utime.tv_usec + (double)u->ru_stime.tv_usec) * 1e3;
}

static void measure(struct server *s, int calls)
{
	double start = now_us(), first, per_call;
	struct child c = spawn(s->command);
	struct rusage u;
	int status;

	handshake(&c);
	first = now_us() - start;
	drive(&c, calls);
	close(c.in);
	if (wait4(c.pid, &status, 0, &u) != c.pid || status != 0) {
		fprintf(stderr, "%s ended with status %d\n", s->name, status);
		exit(2);
	}
	close(c.out);
	per_call = cpu_ns(&u) / calls;
	if (s->cpu_ns == 0 || per_call < s->cpu_ns)
		s->cpu_ns = per_call;
	if (s->first_us == 0 || first < s->first_us)
		s->first_us = first;
	s->peak_kb = u.ru_maxrss;
}

int main(int argc, char **argv)
{
	struct server servers[MAX_SERVERS] = { 0 };
	int n = 0, calls = argc > 1 ? atoi(argv[1]) : 0;

	for (int i = 2; i < argc && n < MAX_SERVERS; i++) {
		char *eq = strchr(argv[i], '=');

		if (!eq)
			continue;
		*eq = '\0';
		servers[n++] = (struct server){ .name = argv[i], .command = eq + 1 };
	}
	if (calls <= 0 || n == 0) {
		fprintf(stderr, "usage: bench_pipe CALLS NAME=COMMAND...\n");
		return 2;
	}
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < n; i++)
			measure(&servers[i], calls);
	for (int i = 0; i < n; i++)
		printf("%-12s %8.0f ns/call %8ld kB %8.0f us to first answer\n", servers[i].name,
		       servers[i].cpu_ns, servers[i].peak_kb, servers[i].first_us);
	return 0;
}
