/* test_run_stream_ends.c - streams whose other side vanishes, that are stopped, that are files or
 * terminals, that find no memory; and what is given back.
 */
#include "support.h"
#include "support_files.h"
#include "test.h"
#include "unit/run/stream_rig.h"

/* ---- the other side vanishes -------------------------------------------------------------- */

static volatile sig_atomic_t sigpipes;

static void on_sigpipe(int n)
{
	(void)n;
	sigpipes++;
}

/* SIGPIPE must reach nobody: neither a handler nor, later, whoever unblocks it. */
TEST(vanished_reader_raises_no_signal)
{
	struct sigaction sa = { .sa_handler = on_sigpipe }, old;
	sigset_t pending;
	struct rig r;

	sigpipes = 0;
	sigemptyset(&sa.sa_mask);
	sigaction(SIGPIPE, &sa, &old);
	begin_pipes(&r);
	close_fd(&r.out[0]);
	put(&r, "one\ntwo\n");
	run_to_end(&r);
	assert_int_equal(r.status, CLEAT_OK);
	assert_int_equal(r.echo.closed, 1);
	end(&r);
	begin_socket(&r);
	put(&r, "one\n");
	close_fd(&r.in[1]);
	run_to_end(&r);
	assert_int_equal(r.status, CLEAT_OK);
	end(&r);
	assert_int_equal(sigpipes, 0);
	sigpending(&pending);
	assert_int_equal(sigismember(&pending, SIGPIPE), 0);
	sigaction(SIGPIPE, &old, NULL);
}

/* A SIGPIPE that the program itself holds back stays its own. */
PIPES_TEST(pending_signal_of_the_program_is_kept)
{
	struct sigaction sa = { .sa_handler = on_sigpipe }, old;
	sigset_t block, before, pending;

	sigpipes = 0;
	sigemptyset(&sa.sa_mask);
	sigaction(SIGPIPE, &sa, &old);
	sigemptyset(&block);
	sigaddset(&block, SIGPIPE);
	sigprocmask(SIG_BLOCK, &block, &before);
	raise(SIGPIPE);
	close_fd(&r->out[0]);
	put(r, "one\n");
	run_to_end(r);
	sigpending(&pending);
	assert_int_equal(sigismember(&pending, SIGPIPE), 1);
	sigprocmask(SIG_SETMASK, &before, NULL);
	assert_int_equal(sigpipes, 1);
	sigaction(SIGPIPE, &old, NULL);
}

PIPES_TEST(reader_that_vanishes_while_output_waits)
{
	put(r, "big 500000\ndefer\n");
	for (int i = 0; i < 5; i++)
		cleat_loop_step(r->l, 0);
	assert_false(r->over);
	close_fd(&r->out[0]);
	run_to_end(r);
	assert_int_equal(r->status, CLEAT_OK);
	assert_int_equal(r->echo.closed, 1);
}

/* Closing a socket with unread data resets it. */
TEST(reset_connection_is_an_ordinary_end)
{
	struct rig r;

	begin_socket(&r);
	put(&r, "one\n");
	while (r.echo.received == 0)
		cleat_loop_step(r.l, -1);
	close_fd(&r.in[1]);
	run_to_end(&r);
	assert_int_equal(r.status, CLEAT_OK);
	assert_int_equal(r.echo.closed, 1);
	assert_non_null(strstr(r.notes, "cannot read"));
	end(&r);
}

TEST(what_cannot_be_read_is_an_error)
{
	struct rig r = { .l = new_loop(), .out = { -1, -1 } };
	int directory = open("/", O_RDONLY);

	assert_int_equal(pipe(r.in), 0);
	assert_int_equal(open_rig(&r, directory, r.in[1]), CLEAT_OK);
	run_to_end(&r);
	assert_int_equal(r.status, CLEAT_EIO);
	assert_int_equal(r.echo.closed, 1);
	close(directory);
	end(&r);
}

TEST(full_disk_ends_the_connection)
{
	struct rig r = { .l = new_loop(), .out = { -1, -1 } };

	r.out[1] = open("/dev/full", O_WRONLY);
	if (r.out[1] < 0) {
		cleat_loop_free(r.l);
		skip();
	}
	assert_int_equal(pipe(r.in), 0);
	assert_int_equal(open_rig(&r, r.in[0], r.out[1]), CLEAT_OK);
	put(&r, "one\n");
	run_to_end(&r);
	assert_int_equal(r.status, CLEAT_EIO);
	assert_non_null(strstr(r.notes, "cannot write"));
	end(&r);
}

/* ---- stopping ----------------------------------------------------------------------------- */

PIPES_TEST(finish_writes_what_is_left)
{
	put(r, "defer\nunread by then\n");
	answer(&r->echo, "bye", 3);
	stream_finish(r->s);
	assert_true(r->over); /* there was room: no waiting */
	assert_int_equal(r->echo.closed, 1);
	assert_int_equal(r->echo.received, 0);
	expect(r, "bye\n");
}

PIPES_TEST(finish_waits_for_a_reader_but_not_for_ever)
{
	uint64_t before;

	put(r, "big 500000\n");
	while (r->echo.received == 0)
		cleat_loop_step(r->l, -1);
	before = loop_now();
	stream_finish(r->s);
	assert_false(r->over);
	stream_finish(r->s); /* twice is as good as once */
	run_to_end(r);
	assert_true(loop_now() - before >= STREAM_FLUSH_MS - 1);
}

/* Lines that waited for room are for nobody any more. */
PIPES_TEST(finish_while_input_waits)
{
	size_t got = 0;
	ssize_t n;
	char c[4096];

	put(r, "big 1500000\nlate\n");
	while (r->echo.received == 0)
		cleat_loop_step(r->l, -1);
	stream_finish(r->s);
	while (!r->over) {
		while ((n = read(r->out[0], c, sizeof c)) > 0)
			got += (size_t)n;
		cleat_loop_step(r->l, 0);
	}
	while ((n = read(r->out[0], c, sizeof c)) > 0)
		got += (size_t)n;
	assert_int_equal(got, 1500001);
	assert_int_equal(r->echo.received, 1);
}

PIPES_TEST(free_closes_the_peer_and_writes_what_it_can)
{
	char got[8];

	answer(&r->echo, "bye", 3);
	stream_free(r->s);
	r->s = NULL;
	assert_int_equal(r->echo.closed, 1);
	assert_int_equal(get(r, got, sizeof got), 4);
	assert_int_equal(cleat_loop_step(r->l, -1), CLEAT_ECLOSED);
}

/* ---- files and flags ---------------------------------------------------------------------- */

TEST(regular_files_in_and_out)
{
	struct rig r = { .l = new_loop() };
	FILE *in = tmpfile(), *out = tmpfile();
	size_t lines = 0;
	int c;

	assert_non_null(in);
	assert_non_null(out);
	for (int i = 0; i < 50000; i++)
		fprintf(in, "{\"id\":%d,\"method\":\"ping\"}\n", i);
	fprintf(in, "last");
	rewind(in);
	assert_int_equal(open_rig(&r, fileno(in), fileno(out)), CLEAT_OK);
	run_to_end(&r);
	assert_int_equal(r.status, CLEAT_OK);
	assert_int_equal(r.echo.received, 50001);
	rewind(in);
	rewind(out);
	while ((c = getc(in)) != EOF) {
		assert_int_equal(c, getc(out));
		lines += c == '\n';
	}
	assert_int_equal(lines, 50000);
	assert_int_equal(getc(out), '\n');
	assert_int_equal(getc(out), EOF);
	cleat_loop_free(r.l);
	fclose(in);
	fclose(out);
}

TEST(dev_null_is_an_end_of_input)
{
	struct rig r = { .l = new_loop() };
	int fd = open("/dev/null", O_RDWR);

	assert_int_equal(open_rig(&r, fd, fd), CLEAT_OK);
	run_to_end(&r);
	assert_int_equal(r.status, CLEAT_OK);
	cleat_loop_free(r.l);
	close(fd);
}

PIPES_TEST(flags_are_given_back)
{
	assert_true(fcntl(r->in[0], F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(r->out[1], F_GETFL) & O_NONBLOCK);
	stream_free(r->s);
	r->s = NULL;
	assert_false(fcntl(r->in[0], F_GETFL) & O_NONBLOCK);
	assert_false(fcntl(r->out[1], F_GETFL) & O_NONBLOCK);
	fcntl(r->in[0], F_SETFL, O_NONBLOCK); /* one that was non-blocking before stays so */
	assert_int_equal(open_rig(r, r->in[0], r->out[1]), CLEAT_OK);
	stream_free(r->s);
	r->s = NULL;
	assert_true(fcntl(r->in[0], F_GETFL) & O_NONBLOCK);
}

/* The terminal is shared with the shell, which would find it non-blocking after a crash. */
TEST(terminals_stay_blocking)
{
	struct rig r = { .l = new_loop(), .in = { -1, -1 }, .out = { -1, -1 } };
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave;
	char got[256] = "";
	ssize_t n;

	if (master < 0 || grantpt(master) || unlockpt(master)) {
		cleat_loop_free(r.l);
		skip();
	}
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	assert_true(slave >= 0);
	assert_int_equal(open_rig(&r, slave, slave), CLEAT_OK);
	assert_false(fcntl(slave, F_GETFL) & O_NONBLOCK);
	assert_int_equal(write(master, "hello\n", 6), 6);
	while (r.echo.received == 0)
		cleat_loop_step(r.l, -1);
	n = read(master, got, sizeof got - 1); /* the terminal's echo, then ours */
	for (ssize_t k; n < 14 && (k = read(master, got + n, sizeof got - 1 - (size_t)n)) > 0;)
		n += k;
	assert_string_equal(got, "hello\r\nhello\r\n");
	close(master); /* hang up */
	run_to_end(&r);
	assert_int_equal(r.status, CLEAT_OK);
	close(slave);
	cleat_loop_free(r.l);
}

TEST(bad_descriptors_are_refused)
{
	struct rig r = { .l = new_loop() }, second;
	int closed;

	make_pipes(&r);
	closed = dup(r.in[0]);
	close(closed);
	assert_int_equal(open_rig(&r, closed, r.out[1]), CLEAT_EINVAL);
	assert_int_equal(open_rig(&r, r.in[0], closed), CLEAT_EINVAL);
	assert_int_equal(open_rig(&r, -1, -1), CLEAT_EINVAL);
	assert_int_equal(open_rig(&r, r.in[1], r.out[1]), CLEAT_EINVAL); /* cannot be read */
	assert_int_equal(open_rig(&r, r.in[0], r.out[0]), CLEAT_EINVAL); /* cannot be written */
	assert_null(r.s);
	assert_int_equal(cleat_loop_step(r.l, 0), CLEAT_ECLOSED);
	assert_int_equal(open_rig(&r, r.in[0], r.out[1]), CLEAT_OK);
	cleat_loop_step(r.l, 0);
	second = r;
	assert_int_equal(open_rig(&second, r.in[0], r.out[1]), CLEAT_EEXIST);
	assert_true(fcntl(r.in[0], F_GETFL) & O_NONBLOCK); /* still the first one's */
	end(&r);
}

/* ---- memory and descriptors --------------------------------------------------------------- */

TEST(memory_may_run_out)
{
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct rig r = { .l = cleat_loop_new(&fa.hook), .mem = &fa.hook };

		if (!r.l)
			continue;
		make_pipes(&r);
		fcntl(r.out[0], F_SETFL, O_NONBLOCK);
		if (open_rig(&r, r.in[0], r.out[1]) == CLEAT_OK) {
			put(&r, "one\ntwo\nbig 5000\nthr");
			cleat_loop_step(r.l, 0);
			put(&r, "ee\nfour");
			close_fd(&r.in[1]);
			run_to_end(&r);
			assert_int_equal(r.echo.closed, 1);
		}
		assert_null(r.s);
		end(&r);
	}
}

TEST(no_descriptor_is_left_behind)
{
	size_t before = open_fds();

	for (int i = 0; i < 5; i++) {
		struct rig r;

		begin_pipes(&r);
		put(&r, "one\n");
		close_fd(&r.in[1]);
		run_to_end(&r);
		end(&r);
		begin_socket(&r);
		end(&r);
	}
	assert_int_equal(open_fds(), before);
}
