/* served_rig.c - see served_rig.h. */
#include "unit/server/served_rig.h"

bool patience(struct timespec *since)
{
	struct timespec now, nap = { .tv_nsec = 200000 };

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!since->tv_sec)
		*since = now;
	nanosleep(&nap, NULL);
	return (now.tv_sec - since->tv_sec) * 1000 < DEADLINE_MS;
}

static void *run_loop(void *arg)
{
	struct served *v = arg;

	v->rc = cleat_loop_run(v->loop);
	return NULL;
}

void send_line(struct served *v, const char *line)
{
	size_t n = strlen(line);

	while (n) {
		ssize_t k = write(v->client, line, n);

		assert_true(k > 0);
		line += k;
		n -= (size_t)k;
	}
	assert_int_equal(write(v->client, "\n", 1), 1);
}

const char *expect(struct served *v, const char *part)
{
	while (!strstr(v->in, part)) {
		struct pollfd p = { .fd = v->client, .events = POLLIN };
		ssize_t n;

		if (poll(&p, 1, DEADLINE_MS) != 1) {
			print_error("never came: %s; in: %s\n", part, v->in);
			abort();
		}
		n = read(v->client, v->in + v->n_in, sizeof v->in - 1 - v->n_in);
		assert_true(n > 0);
		v->n_in += (size_t)n;
		v->in[v->n_in] = '\0';
	}
	return v->in;
}

struct served *serve(const cleat_tool *tools, size_t n, const cleat_server_options *opts)
{
	struct served *v = calloc(1, sizeof *v);
	int ends[2];

	assert_non_null(v);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	v->client = ends[0];
	v->server = ends[1];
	rig_server(&v->rig, opts);
	assert_int_equal(cleat_server_add_tools(v->rig.s, tools, n), CLEAT_OK);
	assert_int_equal(cleat_server_attach_fds(v->rig.s, v->server, v->server), CLEAT_OK);
	v->loop = cleat_server_loop(v->rig.s);
	assert_int_equal(pthread_create(&v->thread, NULL, run_loop, v), 0);
	send_line(v, REQUEST("\"i\"", "initialize",
			     "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{}"));
	send_line(v, NOTE("notifications/initialized", ""));
	expect(v, "\"id\":\"i\"");
	return v;
}

void leave(struct served *v)
{
	if (v->client >= 0)
		close(v->client);
	pthread_join(v->thread, NULL);
	cleat_server_free(v->rig.s);
	close(v->server);
	free(v);
}
