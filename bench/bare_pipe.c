/* bare_pipe.c - the least that a program does to give the same answers as examples/hello.c: read
 * lines, parse each with yyjson, add two numbers, write the result. It checks nothing. The yardstick for bench/pipe.c; deliberately not a server.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <yyjson.h>

enum { CHUNK = 65536 };

static char in[CHUNK * 4], out[CHUNK * 8];

static size_t answer(const char *line, size_t n, char *to)
{
	yyjson_doc *doc = yyjson_read(line, n, 0);
	yyjson_val *root = yyjson_doc_get_root(doc);
	yyjson_val *args = yyjson_obj_get(yyjson_obj_get(root, "params"), "arguments");
	long long id = (long long)yyjson_get_sint(yyjson_obj_get(root, "id"));
	double sum = yyjson_get_num(yyjson_obj_get(args, "a")) +
		     yyjson_get_num(yyjson_obj_get(args, "b"));
	int len = sprintf(to,
			  "{\"jsonrpc\":\"2.0\",\"id\":%lld,\"result\":{\"content\":[{\"type\":"
			  "\"text\",\"text\":\"%g\"}]}}\n",
			  id, sum);

	yyjson_doc_free(doc);
	return (size_t)len;
}

int main(void)
{
	size_t have = 0;
	ssize_t got;

	while ((got = read(0, in + have, CHUNK)) > 0) {
		char *p = in, *end = in + have + got, *nl;
		size_t used = 0;

		while ((nl = memchr(p, '\n', (size_t)(end - p)))) {
			used += answer(p, (size_t)(nl - p), out + used);
			p = nl + 1;
		}
		have = (size_t)(end - p);
		memmove(in, p, have);
		for (size_t sent = 0; sent < used;) {
			ssize_t k = write(1, out + sent, used - sent);

			if (k < 0)
				return 1;
			sent += (size_t)k;
		}
	}
	return 0;
}
