/* test_http_listen.c - HTTP addresses of a server inside a program: their end when calls do not end,
 * lack of memory, who may pass and the files that say it.
 */
#include "test.h"
#include "unit/run/test_run.h"

#include "base/mem.h"
#include "http/parser.h"
#include "run/http_guard.h"
#include "run/runner.h"

#include <cleat/http.h>

#include <netinet/in.h>
#include <time.h>

/* ---- a server and a client in one thread -------------------------------------------------- */

/* The server's i-th address; the connection does not wait. */
static int dial_server(const cleat_server *s, size_t i)
{
	const char *url = cleat_server_http_url(s, i);
	int fd;

	assert_non_null(url);
	fd = dial(atoi(strrchr(url, ':') + 1));
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

/* Steps until the other side has closed; gives what came. */
static const char *read_to_end(cleat_loop *l, int fd)
{
	static char text[65536];
	size_t n = 0;
	ssize_t k;

	while ((k = recv(fd, text + n, sizeof text - 1 - n, 0)) != 0) {
		if (k > 0)
			n += (size_t)k;
		else if (errno != EAGAIN)
			break; /* reset */
		else if (cleat_loop_step(l, 100) == CLEAT_ECLOSED)
			sched_yield();
	}
	text[n] = 0;
	close(fd);
	return text;
}

static void listen_here(cleat_server *s, const cleat_http_options *o)
{
	assert_int_equal(cleat_server_listen_http(s, "127.0.0.1:0", o), CLEAT_OK);
	((struct runner *)server_runner(s))->grace_ms = 1;
}

/* ---- the end ------------------------------------------------------------------------------ */

/* The handler does not end in time: it is cancelled, and its client told. */
TEST(call_is_cancelled_when_the_grace_is_over)
{
	cleat_server *s = new_server(NULL);
	cleat_loop *l = cleat_server_loop(s);
	int fd;

	listen_here(s, NULL);
	fd = dial_server(s, 0);
	send_call(fd, "later", "{}", "");
	while (!atomic_load(&n_deferred))
		cleat_loop_step(l, 100);
	cleat_server_stop(s);
	assert_int_equal(cleat_server_run(s), CLEAT_OK);
	assert_true(cleat_request_cancelled(deferred[0]));
	assert_non_null(strstr(read_to_end(l, fd), "\"message\":\"the server is stopping\""));
	cleat_request_finish(deferred[0], CLEAT_OK);
	cleat_server_free(s);
}

/* It has all the time in the world: but the others have not. */
TEST(client_that_does_not_read_is_cut_off)
{
	cleat_server *s = new_server(NULL);
	cleat_loop *l = cleat_server_loop(s);
	int fd, small = 4096;

	listen_here(s, NULL);
	fd = dial_server(s, 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
	send_call(fd, "big", "{\"n\":12000000}", "");
	while (recv(fd, &small, 1, MSG_PEEK) < 0)
		cleat_loop_step(l, 100);
	cleat_server_stop(s);
	assert_int_equal(cleat_server_run(s), CLEAT_OK);
	close(fd);
	cleat_server_free(s);
}

/* The loop of a program is free again when its server has stopped, also with two addresses that
 * share one for their counters. */
TEST(loop_is_left_when_all_addresses_have_ended)
{
	cleat_loop *l = cleat_loop_new(NULL);
	cleat_server *s = new_server(&(cleat_server_options){ .loop = l });
	const cleat_http_options o = { .metrics = "127.0.0.1:0" };
	int fd;

	listen_here(s, &o);
	listen_here(s, &o);
	assert_null(cleat_server_http_url(s, 2));
	fd = dial_server(s, 1);
	assert_int_equal(cleat_loop_step(l, 0), CLEAT_OK);
	cleat_server_stop(s);
	assert_int_equal(cleat_loop_run(l), CLEAT_OK);
	assert_int_equal(cleat_loop_step(l, 0), CLEAT_ECLOSED);
	close(fd);
	cleat_server_free(s);
	cleat_loop_free(l);
}

/* ---- memory ------------------------------------------------------------------------------- */

static const char *path; /* of the tokens */

#define TOKEN "a-token-that-is-long"

TEST(address_opens_whole_or_not_at_all)
{
	const cleat_http_options o = { .metrics = "127.0.0.1:0",
				       .token_file = path,
				       .access_log = STDERR_FILENO };
	size_t fds = open_fds();

	scratch_put("tokens", "alice " TOKEN "\n");
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		cleat_server *s;
		int rc;

		fail_alloc_calm(&fa);
		s = cleat_server_new("test", "1", &(cleat_server_options){ .allocator = &fa.hook });
		assert_non_null(cleat_server_loop(s));
		fail_alloc_arm(&fa);
		rc = cleat_server_listen_http(s, "127.0.0.1:0", &o);
		fail_alloc_calm(&fa);
		if (rc != (fail_alloc_hit(&fa) ? CLEAT_ENOMEM : CLEAT_OK))
			fail_msg("allocation %zu: %d", fa.round, rc);
		assert_int_equal(!cleat_server_http_url(s, 0), rc != CLEAT_OK);
		cleat_server_free(s);
		assert_int_equal(open_fds(), fds);
	}
}

/* ---- who may pass ------------------------------------------------------------------------- */

static int find(struct http_guard *g, const char *header, struct str *ret)
{
	char text[8192];
	unsigned char hash[CRYPTO_HASH_SIZE];
	struct http_parser *p = http_parser_new(NULL, NULL);
	size_t used;
	int rc;

	assert_non_null(p);
	snprintf(text, sizeof text, "GET / HTTP/1.1\r\nHost: h\r\n%s\r\n\r\n", header);
	assert_int_equal(http_parser_feed(p, text, strlen(text), &used), HTTP_HEAD_DONE);
	rc = http_guard_find(g, http_parser_request(p), ret, hash);
	http_parser_free(p);
	return rc;
}

/* RFC 6750, 2.1; and X-API-Key, for clients that cannot set Authorization. */
TEST(token_is_found_in_either_header)
{
	static const struct {
		const char *header;
		bool known;
	} cases[] = {
		{ "Authorization: Bearer " TOKEN, true },
		{ "authorization: bearer " TOKEN, true },
		{ "X-API-Key: " TOKEN, true },
		{ "Authorization: Basic " TOKEN, false },
		{ "Authorization: Bearer " TOKEN "x", false },
		{ "Authorization: Bearer", false },
		{ "X-Other: " TOKEN, false },
	};
	const cleat_http_options o = { .token_file = path };
	struct http_guard g;
	cleat_error err;
	struct str name;

	scratch_put("tokens", "alice " TOKEN "\n");
	http_guard_init(&g, &o, &mem_default);
	assert_true(http_guard_asks(&g));
	assert_int_equal(http_guard_load_tokens(&g, &err), CLEAT_OK);
	for (size_t i = 0; i < CLEAT_COUNT(cases); i++)
		if (find(&g, cases[i].header, &name) != (cases[i].known ? CLEAT_OK : CLEAT_ENOENT))
			fail_msg("%s", cases[i].header);
	assert_int_equal(find(&g, cases[0].header, &name), CLEAT_OK);
	assert_true(str_eqz(name, "alice"));
	http_guard_done(&g);
}

static char verified[8192];

static int verify(void *userdata, const char *token, char *name)
{
	assert_string_equal(userdata, "mine");
	snprintf(verified, sizeof verified, "%s", token);
	memset(name, 'n', 256); /* not terminated, as it should be */
	return strcmp(token, TOKEN) == 0 ? CLEAT_OK : CLEAT_ENOENT;
}

TEST(program_decides_where_it_wants_to)
{
	const cleat_http_options o = { .verify = verify, .userdata = "mine" };
	char header[6000] = "Authorization: Bearer ";
	struct http_guard g;
	struct str name;

	http_guard_init(&g, &o, &mem_default);
	assert_true(http_guard_asks(&g));
	assert_int_equal(find(&g, "Authorization: Bearer " TOKEN, &name), CLEAT_OK);
	assert_string_equal(verified, TOKEN);
	assert_int_equal(name.n, 255);
	assert_int_equal(find(&g, "Authorization: Bearer other", &name), CLEAT_ENOENT);
	/* 4 KiB are the most it is asked about */
	memset(header + strlen(header), 'x', 4097);
	strcpy(verified, "not called");
	assert_int_equal(find(&g, header, &name), CLEAT_ENOENT);
	assert_string_equal(verified, "not called");
	header[strlen(header) - 1] = 0;
	assert_int_equal(find(&g, header, &name), CLEAT_ENOENT);
	assert_int_equal(strlen(verified), 4096);
	http_guard_done(&g);
}

/* ---- files -------------------------------------------------------------------------------- */

static void fill(size_t lines)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	for (size_t i = 0; i < lines; i++)
		fprintf(f, "name%zu " TOKEN "-%zu\n", i, i);
	assert_int_equal(fclose(f), 0);
}

/* What was there before stays, whatever is wrong. */
TEST(bad_token_file_changes_nothing)
{
	const cleat_http_options o = { .token_file = path };
	struct http_guard g;
	cleat_error err;
	struct str name;
	FILE *f;

	http_guard_init(&g, &o, &mem_default);
	fill(5000); /* more than the first buffer takes */
	assert_int_equal(http_guard_load_tokens(&g, &err), CLEAT_OK);
	assert_int_equal(find(&g, "X-API-Key: " TOKEN "-4999", &name), CLEAT_OK);
	assert_true(str_eqz(name, "name4999"));

	scratch_put("tokens", "");
	assert_int_equal(http_guard_load_tokens(&g, &err), CLEAT_EINVAL);
	scratch_put("tokens", "alice short\n");
	assert_int_equal(http_guard_load_tokens(&g, &err), CLEAT_EINVAL);
	assert_null(strstr(err.message, "short ")); /* nothing of the file is repeated */
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(ftruncate(fileno(f), (4 << 20) + 1), 0);
	fclose(f);
	assert_int_equal(http_guard_load_tokens(&g, &err), CLEAT_ELIMIT);
	unlink(path);
	assert_int_equal(http_guard_load_tokens(&g, &err), CLEAT_EIO);
	assert_non_null(strstr(err.message, path));
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(http_guard_load_tokens(&g, &err), CLEAT_EIO);
	rmdir(path);
	assert_int_equal(find(&g, "X-API-Key: " TOKEN "-4999", &name), CLEAT_OK);
	http_guard_done(&g);
}

/* A pipe is read to its end; one that nobody writes to any more is empty, and the server does not wait
 * for somebody who might. */
TEST(pipe_is_read_without_waiting_for_ever)
{
	const cleat_http_options o = { .token_file = path };
	struct http_guard g;
	cleat_error err;
	struct str name;
	int fd;

	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	http_guard_init(&g, &o, &mem_default);
	assert_int_equal(http_guard_load_tokens(&g, &err), CLEAT_EINVAL);
	fd = open(path, O_RDWR);
	put(fd, "alice " TOKEN "\n");
	assert_int_equal(http_guard_load_tokens(&g, &err), CLEAT_EIO); /* it never ends */
	close(fd);
	if (fork() == 0) {
		fd = open(path, O_WRONLY);
		_exit(write(fd, "alice " TOKEN "\n", 27) != 27);
	}
	fd = open(path, O_RDONLY); /* returns when there is a writer */
	assert_int_equal(wait(NULL) > 0, 1);
	assert_int_equal(http_guard_load_tokens(&g, &err), CLEAT_OK);
	assert_int_equal(find(&g, "X-API-Key: " TOKEN, &name), CLEAT_OK);
	close(fd);
	unlink(path);
	http_guard_done(&g);
}

TEST(tokens_are_read_whole_or_not_at_all)
{
	const cleat_http_options o = { .token_file = path };

	fill(1000); /* grows once */
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct http_guard g;
		cleat_error err;
		struct str name;
		int rc;

		http_guard_init(&g, &o, &fa.hook);
		rc = http_guard_load_tokens(&g, &err);
		assert_int_equal(rc, fail_alloc_hit(&fa) ? CLEAT_ENOMEM : CLEAT_OK);
		fail_alloc_calm(&fa);
		if (rc) { /* nobody passes before there are tokens */
			assert_int_equal(find(&g, "X-API-Key: " TOKEN "-1", &name), CLEAT_ENOENT);
			assert_int_equal(http_guard_load_tokens(&g, &err), CLEAT_OK);
		}
		http_guard_done(&g);
	}
}

static int make_place(void **state)
{
	int rc = warm_up(state) || scratch_begin(state);

	path = scratch_path("tokens");
	return rc;
}

TEST_GROUP(make_place, scratch_end)
