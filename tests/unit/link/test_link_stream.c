/* test_link_stream.c - one message per line over a child's pipes and over two descriptors: what is
 * sent and received, what breaks it, how it is opened again and closed.
 *
 * stdio transport: "The server MUST NOT write anything to its stdout that is not a valid MCP message."
 */
#include "test.h"
#include "unit/link/link_support.h"

#include <sys/socket.h>

static void link_sh(struct link_rig *r, const char *script)
{
	const char *argv[] = { "/bin/sh", "-c", script, NULL };

	rig_init(r);
	r->link = link_child_new(&r->o, argv, NULL, NULL, false, &r->err);
	assert_non_null(r->link);
	assert_true(r->link->process);
	assert_false(r->link->http);
	assert_int_equal(link_child_pid(r->link), 0);
}

static void until_down(struct link_rig *r)
{
	UNTIL(r->loop, r->downs > 0);
	assert_int_equal(r->downs, 1);
}

static const char *reason(const struct link_rig *r)
{
	return r->why.error.message;
}

/* ---- messages ----------------------------------------------------------------------------- */

RIG_TEST(test_messages_go_both_ways)
{
	link_sh(r, "exec cat");
	rig_up_now(r);
	assert_true(link_child_pid(r->link) > 0);
	rig_say(r, "{\"a\":1}");
	rig_say(r, "[2]");
	UNTIL(r->loop, r->messages == 2);
	rig_say(r, "{\"a\":\n3}"); /* a line break in a JSON text is white space */
	UNTIL(r->loop, r->messages == 3);
	assert_string_equal(r->got, "{\"a\":1}|[2]|{\"a\": 3}|");
	rig_close_now(r);
	assert_int_equal(r->downs, 0);
	assert_int_equal(rig_send(r, "{}", 2), CLEAT_ECLOSED);
}

RIG_TEST(test_nothing_is_sent_before_it_is_up)
{
	link_sh(r, "exec cat");
	assert_int_equal(rig_send(r, "{}", 2), CLEAT_ECLOSED);
	rig_open(r);
	assert_int_equal(rig_send(r, "{}", 2), CLEAT_ECLOSED);
	rig_open(r); /* does nothing */
	UNTIL(r->loop, r->ups == 1);
	assert_int_equal(r->link->ops->fall_back(r->link), CLEAT_EUNSUPPORTED);
	r->link->ops->listen(r->link);
	r->link->ops->forget(r->link, r);
}

/* Without an event; what the old child still says is not heard. */
TEST(test_a_reset_child_is_another_one_next_time)
{
	for (int inside = 0; inside < 2; inside++) {
		struct link_rig r;
		int first;

		link_sh(&r, "while read -r x; do echo \"{}\"; echo \"[$$]\"; done");
		r.link->ops->reset(r.link); /* nothing to do */
		rig_up_now(&r);
		first = link_child_pid(r.link);
		if (inside) {
			r.on = "message";
			r.act = "renew";
			rig_say(&r, "{}");
		} else {
			r.link->ops->reset(r.link);
			assert_int_equal(rig_send(&r, "{}", 2), CLEAT_ECLOSED);
			rig_open(&r);
		}
		UNTIL(r.loop, r.ups == 2);
		assert_int_not_equal(link_child_pid(r.link), first);
		assert_true(gone(first));
		assert_int_equal(r.downs, 0);
		assert_int_equal(r.messages, inside);
		rig_say(&r, "{}");
		UNTIL(r.loop, r.messages == (unsigned)inside + 2);
		rig_close_now(&r);
		rig_done(&r);
		assert_true(no_children());
	}
}

TEST(test_a_message_larger_than_a_pipe_goes_both_ways)
{
	enum { SIZE = 900 * 1024 };
	char *big = malloc(SIZE);
	struct link_rig r;

	assert_non_null(big);
	memset(big, ' ', SIZE);
	big[0] = '{';
	big[SIZE - 1] = '}';
	link_sh(&r, "exec cat");
	rig_up_now(&r);
	assert_int_equal(rig_send(&r, big, SIZE), CLEAT_OK);
	rig_say(&r, "{}");
	UNTIL(r.loop, r.messages == 2);
	assert_int_equal(r.bytes, SIZE + 2);
	rig_done(&r);
	free(big);
}

RIG_TEST(test_a_message_over_the_limit_is_skipped)
{
	link_sh(r,
		"echo '{}'; printf '{'; head -c 2000000 /dev/zero | tr '\\0' x; echo; echo '[]'; cat");
	rig_up_now(r);
	UNTIL(r->loop, r->messages == 2);
	assert_int_equal(r->oversizes, 1);
	assert_string_equal(r->got, "{}|[]|");
}

/* A server that never reads is told so to whoever sends, and nothing else happens. */
RIG_TEST(test_what_waits_is_bounded)
{
	enum { SIZE = 64 * 1024 };
	static char text[SIZE];
	size_t sent = 0;
	int rc;

	memset(text, '1', sizeof text);
	text[0] = '[';
	text[SIZE - 1] = ']';
	link_sh(r, "exec sleep 1000");
	rig_up_now(r);
	while ((rc = rig_send(r, text, SIZE)) == CLEAT_OK) {
		cleat_loop_step(r->loop, 0);
		sent += SIZE;
		assert_true(sent < 6 << 20);
	}
	assert_int_equal(rc, CLEAT_ELIMIT);
	assert_true(sent >= 4 << 20);
	assert_int_equal(rig_send(r, text, SIZE), CLEAT_ELIMIT);
	assert_int_equal(r->downs, 0);
}

TEST(test_everything_sent_in_one_turn_is_written_together)
{
	struct link_rig r;
	char buf[4096];
	int s[2];

	/* Every write is a packet of its own here. */
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, s), 0);
	rig_init(&r);
	r.link = link_fds_new(&r.o, s[0], s[0], &r.err);
	rig_up_now(&r);
	cleat_loop_step(r.loop, 0);
	rig_say(&r, "[1]"); /* at once */
	assert_int_equal(read(s[1], buf, sizeof buf), 4);
	rig_say(&r, "[2]");
	rig_say(&r, "[3]");
	rig_say(&r, "[4]");
	assert_int_equal(read(s[1], buf, sizeof buf), -1);
	cleat_loop_step(r.loop, 0);
	assert_int_equal(read(s[1], buf, sizeof buf), 12);
	assert_memory_equal(buf, "[2]\n[3]\n[4]\n", 12);
	rig_done(&r);
	close(s[0]);
	close(s[1]);
}

/* ---- garbage ------------------------------------------------------------------------------ */

RIG_TEST(test_lines_that_are_no_messages_are_noted_and_skipped)
{
	link_sh(r, "echo 'Server started'; echo; echo ' \t{\"b\":1}'; echo \"\033[0mdebug\"; cat");
	rig_up_now(r);
	rig_say(r, "[1]");
	UNTIL(r->loop, r->messages == 2);
	assert_int_equal(r->notes, 2);
	assert_string_equal(r->last_note, "skipped a line that is not JSON: ?[0mdebug");
	assert_string_equal(r->got, " \t{\"b\":1}|[1]|");
}

TEST(test_100_in_a_row_and_it_is_no_server)
{
	static const struct {
		const char *script;
		bool down;
	} cases[] = {
		{ "for i in $(seq 99); do echo x$i; done; echo '{}'; for i in $(seq 99); do echo y; done; "
		  "echo '[]'; cat",
		  false },
		{ "i=0; while :; do i=$((i+1)); echo \"x$i\"; done", true },
		{ "for i in $(seq 100); do echo x$i; done; exec sleep 1000", true },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct link_rig r;

		link_sh(&r, cases[i].script);
		rig_up_now(&r);
		UNTIL(r.loop, r.messages == 2 || r.downs > 0);
		assert_int_equal(r.downs, cases[i].down);
		assert_true(r.notes <= 20);
		if (cases[i].down) {
			assert_int_equal(r.why.error.status, CLEAT_EPROTO);
			assert_int_equal(r.why.step, CLEAT_STEP_PROTOCOL);
			assert_non_null(strstr(reason(&r),
					       "/bin/sh has written 100 lines in a row that "
					       "are not JSON; the last begins: x100"));
		}
		rig_done(&r);
	}
}

/* ---- the end of a child ------------------------------------------------------------------- */

TEST(test_down_says_how_it_ended_and_what_it_said)
{
	static const struct {
		const char *script, *words[2];
	} cases[] = {
		{ "exit 3", { "/bin/sh exited with status 3, ", " s after it was started" } },
		{ "echo '{}'; kill -9 $$",
		  { "/bin/sh was killed by signal 9 (Killed), ", "s after" } },
		{ "echo 'Error: no database' >&2; echo more >&2; exit 1",
		  { "exited with status 1", "; it said: Error: no database" } },
		{ "exec >&-; exec sleep 1000",
		  { "closed its standard output, but has not exited", "" } },
		{ "setsid sleep 1000 & echo $! >&2; exit 0",
		  { "exited with status 0", "it said: " } },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct link_rig r;
		int other;

		link_sh(&r, cases[i].script);
		rig_up_now(&r);
		until_down(&r);
		assert_int_equal(r.why.step, CLEAT_STEP_EXCHANGE);
		assert_int_equal(r.why.error.status, CLEAT_ECLOSED);
		for (int k = 0; k < 2; k++)
			assert_non_null(strstr(reason(&r), cases[i].words[k]));
		other = atoi(r.said);
		if (other > 0)
			kill(other, SIGKILL);
		rig_done(&r);
	}
}

/* It is known only by writing to it. */
RIG_TEST(test_a_child_that_closes_its_input_is_down)
{
	link_sh(r, "exec <&-; echo '[1]'; exec sleep 1000");
	rig_up_now(r);
	UNTIL(r->loop, r->messages == 1);
	UNTIL(r->loop, rig_send(r, "{}", 2) == CLEAT_ECLOSED);
	until_down(r);
	assert_non_null(strstr(reason(r), "does not read its standard input any more"));
	assert_int_equal(r->why.error.os_errno, EPIPE);
}

/* Everything that it wrote before it ended is handed on first. */
RIG_TEST(test_the_last_words_come_before_the_end)
{
	link_sh(r, "read x; i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo \"[$i]\"; done; "
		   "printf '{\"last\":1}'; exit 9");
	rig_up_now(r);
	rig_say(r, "{}");
	until_down(r);
	assert_int_equal(r->messages, 3001);
	assert_non_null(strstr(r->got, "[3000]|{\"last\":1}|"));
	assert_non_null(strstr(reason(r), "status 9"));
}

TEST(test_what_cannot_be_started_is_told_by_up)
{
	const char *const argv[] = { "/no/such/program", NULL };
	struct link_rig r;

	rig_init(&r);
	r.link = link_child_new(&r.o, argv, NULL, NULL, false, &r.err);
	for (unsigned i = 1; i < 3; i++) {
		rig_open(&r);
		UNTIL(r.loop, r.ups == i);
		assert_true(r.up_failed && r.why.unsent);
		assert_int_equal(r.why.step, CLEAT_STEP_SPAWN);
		assert_int_equal(r.why.error.os_errno, ENOENT);
		assert_string_equal(reason(&r),
				    "cannot start /no/such/program: No such file or directory");
	}
	rig_close_now(&r);
	rig_done(&r);
	rig_init(&r);
	assert_null(link_child_new(&r.o, (const char *const[]){ NULL }, NULL, NULL, false, &r.err));
	assert_int_equal(r.err.status, CLEAT_EINVAL);
	rig_done(&r);
}

RIG_TEST(test_it_can_be_opened_again)
{
	int pid = 0;

	link_sh(r, "echo '{}'; read x; exit 1");
	for (unsigned i = 1; i < 6; i++) {
		rig_up_now(r);
		UNTIL(r->loop, r->messages == i);
		assert_true(link_child_pid(r->link) != pid);
		pid = link_child_pid(r->link);
		if (i % 2)
			kill(pid, SIGKILL);
		else
			rig_say(r, "{}");
		UNTIL(r->loop, r->downs == i);
	}
}

/* The old one lives on for a while, but not beside the new one. */
RIG_TEST(test_a_child_that_is_let_go_is_gone_before_the_next)
{
	int pid;

	link_sh(r, "trap '' TERM; exec >&-; while :; do sleep 0.05; done");
	rig_up_now(r);
	pid = link_child_pid(r->link);
	until_down(r);
	assert_false(gone(pid));
	rig_up_now(r);
	assert_true(gone(pid));
}

RIG_TEST(test_its_stderr_is_heard)
{
	link_sh(r, "echo one >&2; read x; echo two >&2");
	rig_up_now(r);
	UNTIL(r->loop, strcmp(r->said, "one|") == 0);
	rig_close_now(r);
	assert_string_equal(r->said, "one|two|");
}

TEST(test_close_in_any_state)
{
	static const char *const scripts[] = { "exec cat", "exit 1", "yes '{}' & cat >/dev/null" };

	for (size_t i = 0; i < 4 * CLEAT_COUNT(scripts); i++) {
		struct link_rig r;

		link_sh(&r, scripts[i / 4]);
		if (i % 4 > 0)
			rig_open(&r);
		if (i % 4 > 1)
			UNTIL(r.loop, r.ups == 1);
		if (i % 4 > 2 && i / 4 == 1)
			UNTIL(r.loop, r.downs == 1);
		rig_close(&r);
		rig_close(&r);
		UNTIL(r.loop, r.closes > 0);
		assert_int_equal(r.closes, 1);
		assert_int_equal(link_child_pid(r.link), 0);
		rig_done(&r);
	}
}

/* What an event does must not pull the floor from under the link. */
TEST(test_ops_inside_events)
{
	static const char *const events[] = { "up",   "message",  "down",
					      "note", "err_line", "oversize" };
	static const char *const acts[] = { "free", "close", "open" };

	for (size_t i = 0; i < CLEAT_COUNT(events) * CLEAT_COUNT(acts); i++) {
		struct link_rig r;

		link_sh(&r, "echo text; echo '{}'; echo '{}'; echo hm >&2; echo hm >&2; "
			    "head -c 2000000 /dev/zero | tr '\\0' x; echo; exit 1");
		r.on = events[i / CLEAT_COUNT(acts)];
		r.act = acts[i % CLEAT_COUNT(acts)];
		rig_open(&r);
		UNTIL(r.loop, !r.on);
		if (r.link && strcmp(r.act, "close") == 0)
			UNTIL(r.loop, r.closes == 1);
		else if (r.link)
			UNTIL(r.loop, r.downs > 0);
		rig_done(&r);
	}
}

/* ---- descriptors -------------------------------------------------------------------------- */

TEST(test_descriptors_stay_the_callers)
{
	struct link_rig r;
	int s[2], flags;
	char buf[16];

	for (int how = 0; how < 3; how++) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, s), 0);
		flags = fcntl(s[0], F_GETFL);
		rig_init(&r);
		r.link = link_fds_new(&r.o, s[0], s[0], &r.err);
		assert_non_null(r.link);
		assert_false(r.link->process);
		rig_up_now(&r);
		assert_int_equal(write(s[1], "{}\n[]\n", 6), 6);
		UNTIL(r.loop, r.messages == 2);
		rig_say(&r, "{}");
		assert_int_equal(read(s[1], buf, sizeof buf), 3);
		if (how == 0) {
			shutdown(s[1], SHUT_WR);
			until_down(&r);
			assert_non_null(strstr(reason(&r), "closed the connection"));
			rig_open(&r);
			UNTIL(r.loop, r.ups == 2);
			assert_true(r.up_failed);
			assert_non_null(strstr(reason(&r), "cannot be opened again"));
		} else if (how == 1) {
			rig_close_now(&r);
		} else {
			rig_done(&r);
		}
		assert_int_equal(fcntl(s[0], F_GETFL), flags);
		assert_int_equal(write(s[0], "x", 1), 1);
		if (how != 2)
			rig_done(&r);
		close(s[0]);
		close(s[1]);
	}
}

TEST(test_two_pipes_work_as_well)
{
	struct link_rig r;
	int in[2], out[2];
	char buf[16];

	assert_int_equal(pipe(in) | pipe(out), 0);
	rig_init(&r);
	r.link = link_fds_new(&r.o, in[0], out[1], &r.err);
	rig_up_now(&r);
	rig_say(&r, "{}");
	assert_int_equal(read(out[0], buf, sizeof buf), 3);
	assert_int_equal(write(in[1], "[1]\n[2]", 7), 7);
	close(in[1]);
	until_down(&r);
	assert_string_equal(r.got, "[1]|[2]|");
	rig_done(&r);
	rig_init(&r);
	assert_null(link_fds_new(&r.o, in[0], 9999, &r.err)); /* none */
	assert_int_equal(r.err.status, CLEAT_EINVAL);
	assert_null(link_fds_new(&r.o, in[0], out[0], &r.err)); /* not for writing */
	assert_int_equal(r.err.status, CLEAT_EINVAL);
	rig_done(&r);
	close(in[0]);
	close(out[0]);
	close(out[1]);
}

/* ---- memory ------------------------------------------------------------------------------- */

/* The link is made, opened, spoken to and closed; whatever fails is told or has no effect. */
TEST(test_every_allocation_may_fail)
{
	const char *const argv[] = { "/bin/sh", "-c", "echo '[1]'; exec cat", NULL };
	const char *const env[] = { "A=1", NULL };

	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct link_rig r;

		rig_init(&r);
		r.o.mem = &fa.hook;
		r.link = link_child_new(&r.o, argv, "/", env, false, &r.err);
		if (!r.link) {
			assert_int_equal(r.err.status, CLEAT_ENOMEM);
		} else {
			rig_open(&r);
			UNTIL(r.loop, r.ups == 1);
			if (r.up_failed)
				assert_int_equal(r.why.error.status, CLEAT_ENOMEM);
			else
				UNTIL(r.loop, r.messages >= 1);
			if (!r.up_failed && rig_send(&r, "{}", 2) == CLEAT_OK)
				UNTIL(r.loop, r.messages == 2);
			rig_close_now(&r);
		}
		rig_done(&r);
	}
}

TEST_GROUP(warm_up, NULL)
