/* http.c - the inputs of fuzz/fuzz_mcp_http.c again and again, each time with another allocation of the
 * server failing, once and for good:   torture_http DIRECTORY
 *
 * What must hold always is checked where they are played: answers are whole or recognisably not, none
 * comes twice, the next client is served, nothing is left behind. Here: whoever had an answer when nothing
 * failed has one now, or the end of its connection. TAP, one case a file, each in a process of its own, so
 * that a crash is a finding like others.
 */
#include "../../fuzz/mcp_http.h"

#include "unit/support.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_S = 300 };

/* Shared with the parent, which wants to know where a child died. */
struct attempt {
	size_t fail_at, allocations, runs;
	bool for_good, done, unanswered;
};

static bool is_answered(const struct mcp_http_result *r, const struct mcp_http_result *normal)
{
	for (int i = 0; i < MCP_HTTP_CONNS; i++)
		if (normal->conns[i].answers >= normal->conns[i].requests &&
		    r->conns[i].answers < r->conns[i].requests && !r->conns[i].closed)
			return false;
	return true;
}

static bool try_one(struct attempt *now, const uint8_t *data, size_t size,
		    const struct mcp_http_result *normal)
{
	struct mcp_http_result r;

	now->runs++;
	mcp_http_play(data, size, now->fail_at, now->for_good, &r);
	now->unanswered = !is_answered(&r, normal);
	return !now->unanswered;
}

static int try_all(struct attempt *now, const uint8_t *data, size_t size)
{
	struct mcp_http_result normal;

	alarm(PATIENCE_S);
	mcp_http_play(data, size, 0, false, &normal);
	now->allocations = normal.allocations;
	for (now->fail_at = 1; now->fail_at <= normal.allocations; now->fail_at++)
		for (int good = 0; good < 2; good++) {
			now->for_good = good;
			if (!try_one(now, data, size, &normal))
				return 1;
		}
	now->done = true;
	return 0;
}

/* One case of TAP; true when it is ok. */
static bool torture(struct attempt *now, int number, const char *path)
{
	size_t size;
	char *data = support_read_file(path, &size);
	const char *name = strrchr(path, '/');
	int status = -1;
	pid_t child;

	*now = (struct attempt){ 0 };
	fflush(stdout);
	child = data && size > 1 ? fork() : -1;
	if (child == 0)
		exit(try_all(now, (const uint8_t *)data, size)); /* with a look for leaks */
	if (child > 0)
		waitpid(child, &status, 0);
	free(data);
	now->done = now->done && status == 0;
	printf("%sok %d - http%s with each of %zu allocations failing, %zu runs\n",
	       now->done ? "" : "not ", number, name, now->allocations, now->runs);
	if (!now->done)
		printf("# allocation %zu (%s): %s, status %d\n", now->fail_at,
		       now->for_good ? "for good" : "once",
		       now->unanswered ? "a request was not answered" : "it crashed", status);
	return now->done;
}

static int visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

int main(int argc, char **argv)
{
	struct attempt *now =
		mmap(NULL, sizeof *now, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct dirent **entries;
	int n = argc == 2 ? scandir(argv[1], &entries, visible, alphasort) : -1, failed = 0;

	if (n <= 0 || now == MAP_FAILED) {
		fprintf(stderr, "usage: torture_http DIRECTORY\n");
		return 2;
	}
	printf("1..%d\n", n);
	for (int i = 0; i < n; i++) {
		char path[4096];

		snprintf(path, sizeof path, "%s/%s", argv[1], entries[i]->d_name);
		failed += !torture(now, i + 1, path);
		free(entries[i]);
	}
	free(entries);
	return failed > 0;
}
