/* roundtrip.c - what a call costs in all: user and system time of client and server together, of calls one
 * after the other over a pipe.
 *
 *	bench_roundtrip CALLS NAME=CLIENT,SERVER...
 *
 * A client is started with CALLS and SERVER, and starts the server. The pairs are measured in turns,
 * several rounds: the machine is shared, but what is measured one after the other is under the same load.
 * All on one processor: client and server never run at the same time, and what it costs to wake another
 * processor is not their cost.
 * Prints one line each: name, ns of CPU per call, and how many times as much as the first one; medians of
 * all rounds.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 9, MAX_PAIRS = 4 };

struct pair {
	const char *name, *client, *server;
	double ns[ROUNDS], ratio[ROUNDS];
};

/* Of all that was started here and has ended, with all that it had started. */
static double children_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_CHILDREN, &u);
	return ((double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec) * 1e9 +
	       ((double)u.ru_utime.tv_usec + (double)u.ru_stime.tv_usec) * 1e3;
}

static double measure(const struct pair *p, const char *calls)
{
	double before = children_ns();
	pid_t pid = vfork();
	int status;

	if (pid == 0) {
		execl(p->client, p->client, calls, p->server, (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
		fprintf(stderr, "%s did not get to its end\n", p->name);
		exit(2);
	}
	return (children_ns() - before) / atoi(calls);
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double values[ROUNDS])
{
	qsort(values, ROUNDS, sizeof(double), ascending);
	return values[ROUNDS / 2];
}

static void stay_here(void)
{
	int cpu = sched_getcpu();
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu < 0 ? 0 : (size_t)cpu, &one);
	sched_setaffinity(0, sizeof one, &one);
}

int main(int argc, char **argv)
{
	struct pair pairs[MAX_PAIRS] = { 0 };
	int n = 0;

	for (int i = 2; i < argc && n < MAX_PAIRS; i++) {
		char *eq = strchr(argv[i], '='), *comma = strchr(argv[i], ',');

		if (!eq || !comma)
			continue;
		*eq = *comma = '\0';
		pairs[n++] =
			(struct pair){ .name = argv[i], .client = eq + 1, .server = comma + 1 };
	}
	if (n == 0 || atoi(argv[1]) <= 0) {
		fprintf(stderr, "usage: bench_roundtrip CALLS NAME=CLIENT,SERVER...\n");
		return 2;
	}
	stay_here();
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < n; i++) {
			pairs[i].ns[round] = measure(&pairs[i], argv[1]);
			pairs[i].ratio[round] = pairs[i].ns[round] / pairs[0].ns[round];
		}
	for (int i = 0; i < n; i++)
		printf("roundtrip %-8s %8.0f ns/call %6.2f times\n", pairs[i].name,
		       median(pairs[i].ns), median(pairs[i].ratio));
	return 0;
}
