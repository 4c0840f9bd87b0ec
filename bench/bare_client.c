/* bare_client.c - the least that a program does to make the calls of bench/client.c: start the server,
 * write a line, read one, parse it with yyjson, look at the text. It checks nothing. The yardstick;
 * deliberately not a client.
 *
 *	bench_bare_client CALLS SERVER
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <yyjson.h>

static char line[65536];

/* The answer to the one call that is under way is the next line. */
static size_t read_line(int fd)
{
	size_t have = 0;

	do {
		ssize_t got = read(fd, line + have, sizeof line - have);

		if (got <= 0)
			exit(2);
		have += (size_t)got;
	} while (line[have - 1] != '\n');
	return have - 1;
}

static int call(int in, int out, int id)
{
	/* what the client of 2026-07-28 sends */
	int n = sprintf(
		line,
		"{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{"
		"\"name\":\"add\",\"arguments\":{\"a\":%d,\"b\":40},\"_meta\":{"
		"\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
		"\"io.modelcontextprotocol/clientInfo\":{\"name\":\"bare\",\"version\":\"1\"},"
		"\"io.modelcontextprotocol/clientCapabilities\":{}}}}\n",
		id, id % 1000);
	yyjson_doc *doc;
	yyjson_val *content;
	int sum;

	if (write(in, line, (size_t)n) != n)
		return -1;
	doc = yyjson_read(line, read_line(out), 0);
	content = yyjson_obj_get(yyjson_obj_get(yyjson_doc_get_root(doc), "result"), "content");
	sum = atoi(yyjson_get_str(yyjson_obj_get(yyjson_arr_get_first(content), "text")));
	yyjson_doc_free(doc);
	return sum;
}

int main(int argc, char **argv)
{
	int calls = argc == 3 ? atoi(argv[1]) : 0, to[2], from[2], status;
	pid_t pid;

	if (calls <= 0 || pipe(to) || pipe(from) || (pid = fork()) < 0)
		return 2;
	if (pid == 0) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		close(to[1]);
		close(from[0]);
		execl(argv[2], argv[2], (char *)NULL);
		_exit(127);
	}
	close(to[0]);
	close(from[1]);
	for (int i = 0; i < calls; i++)
		if (call(to[1], from[0], i) != i % 1000 + 40)
			return 1;
	close(to[1]);
	return waitpid(pid, &status, 0) == pid && status == 0 ? 0 : 1;
}
