/* test_link_http_faults.c - what networks, servers and memory do to an HTTP link: every byte may be the
 * last one, every allocation may fail, nothing that is promised has to come.
 */
#include "test.h"
#include "unit/link/link_http_rig.h"

#define MESSAGE "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"text\":\"0123456789\"}}"

static const char json_answer[] =
	"HTTP/1.1 200 OK\r\n" JSON_TYPE "Content-Length: 55\r\n\r\n" MESSAGE;
static const char events_answer[] =
	"HTTP/1.1 200 OK\r\n" EVENTS_TYPE "Transfer-Encoding: chunked\r\n\r\n"
	"1a\r\ndata: {\"method\":\"x\",\"n\":1}\r\n"
	"2\r\n\n\n\r\n"
	"3f\r\ndata: " MESSAGE "\n\n\r\n"
	"0\r\n\r\n";

/* ---- cut -------------------------------------------------------------------------------------- */

/* The connection ends, in order or not, after every byte: one outcome, and only one. */
static void cut_everywhere(const char *answer, size_t complete, bool reset)
{
	size_t n = strlen(answer);

	for (size_t cut = 0; cut <= n; cut++) {
		struct rig_link r;
		struct asked *q;
		struct told *t;

		rig_start(&r);
		q = rig_ask(&r, LEGACY_REQUEST(1));
		say_bytes(&r, q->c, answer, cut);
		if (reset && cut >= complete) /* the answer may be lost with the reset */
			expect_told(&r, TOLD_MESSAGE), r.taken--;
		line_close(q->c, reset);
		do {
			RIG_WAIT(&r, r.taken < r.n_told);
			t = &r.told[r.taken++];
		} while (t->kind == TOLD_MESSAGE && strstr(t->text, "method"));
		assert_ptr_equal(t->tag, TAG(1));
		if (cut >= complete) {
			assert_int_equal(t->kind, TOLD_MESSAGE);
			assert_string_equal(t->text, MESSAGE);
		} else {
			assert_int_equal(t->kind, TOLD_FAILED);
			assert_false(t->why.unsent);
		}
		expect_nothing_told(&r);
		rig_done(&r);
	}
}

TEST(a_json_answer_is_cut_after_every_byte)
{
	cut_everywhere(json_answer, sizeof json_answer - 1, false);
	cut_everywhere(json_answer, sizeof json_answer - 1, true);
}

TEST(an_answer_of_events_is_cut_after_every_byte)
{
	const char *end = strstr(events_answer, "}}\n\n") + 4;

	cut_everywhere(events_answer, (size_t)(end - events_answer), false);
}

LINK_TEST_EACH(answers_come_in_any_pieces, 14)
{
	const char *answer = i % 2 ? events_answer : json_answer;
	struct asked *q = rig_ask(r, LEGACY_REQUEST(1));
	size_t piece = 1 + i / 2 * 6;

	for (size_t at = 0; at < strlen(answer); at += piece) {
		size_t left = strlen(answer) - at;

		say_bytes(r, q->c, answer + at, left < piece ? left : piece);
		rig_step(r);
	}
	if (i % 2)
		expect_message(r, TAG(1), 0, "{\"method\":\"x\",\"n\":1}");
	expect_message(r, TAG(1), i % 2 ? 0 : 200, MESSAGE);
	expect_nothing_told(r);
}

/* A body that is a message, but not the answer: nothing more comes, and the one who asked hears of it. */
static const char *const no_answers[] = {
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}",
	"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}",
	"[{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}]",
};

LINK_TEST_EACH(a_body_that_is_no_answer_fails_the_request, CLEAT_COUNT(no_answers))
{
	struct asked *q;
	struct told *t;
	char text[512];

	q = rig_ask(r, LEGACY_REQUEST(1));
	snprintf(text, sizeof text, "HTTP/1.1 200 OK\r\n" JSON_TYPE "Content-Length: %zu\r\n\r\n%s",
		 strlen(no_answers[i]), no_answers[i]);
	say_bytes(r, q->c, text, strlen(text));
	expect_message(r, TAG(1), 200, no_answers[i]);
	t = expect_told(r, TOLD_FAILED);
	assert_ptr_equal(t->tag, TAG(1));
	assert_int_equal(t->why.error.status, CLEAT_EPROTO);
	assert_int_equal(t->why.http_status, 200);
	assert_non_null(strstr(t->text, "not an answer"));
	expect_nothing_told(r);
}

/* ---- too much --------------------------------------------------------------------------------- */

/* As long as the link reads. */
static void flood(struct rig_link *r, struct asked *q, size_t n)
{
	static char zeros[65536];

	memset(zeros, '0', sizeof zeros);
	for (size_t sent = 0; sent < n && r->n_told == r->taken; sent += sizeof zeros) {
		say_bytes(r, q->c, zeros, sizeof zeros);
		rig_step(r);
	}
}

LINK_TEST(an_answer_of_a_gigabyte_is_not_kept)
{
	struct asked *q;
	struct told *t;

	q = rig_ask(r, LEGACY_REQUEST(1));
	say(r, q, "HTTP/1.1 200 OK\r\n" JSON_TYPE "Content-Length: 1073741824\r\n\r\n");
	flood(r, q, (size_t)1 << 30);
	t = expect_told(r, TOLD_OVERSIZE);
	assert_ptr_equal(t->tag, TAG(1));
	assert_int_equal(t->size, 1 << 20);
	assert_true(r->fa.peak < 6 << 20);
	expect_hung_up(r, q);
	expect_nothing_told(r);
	/* One event of it. */
	q = rig_ask(r, LEGACY_REQUEST(2));
	say(r, q, EVENTS_OPEN "id: 1\n\ndata: ");
	flood(r, q, (size_t)1 << 30);
	t = expect_failed(r, TAG(2), CLEAT_STEP_PROTOCOL);
	assert_int_equal(t->why.error.status, CLEAT_ELIMIT);
	assert_true(r->fa.peak < 8 << 20);
	/* An error that explains itself at length. */
	q = rig_ask(r, LEGACY_REQUEST(3));
	say(r, q, "HTTP/1.1 500 Oops\r\n\r\n");
	flood(r, q, (size_t)1 << 30);
	expect_failed(r, TAG(3), CLEAT_STEP_HTTP);
}

/* max_message is what fits, to the byte. */
TEST(the_limit_is_exact)
{
	for (int i = 0; i < 4; i++) {
		bool over = i / 2, events = i % 2;
		struct link_base_options base;
		struct rig_link r;
		struct asked *q;

		rig_base_open(&r);
		base = rig_base(&r);
		base.max_message = sizeof MESSAGE - 1 - over;
		assert_true(rig_link_with(&r, base, (struct link_http_options){ 0 }, NULL));
		rig_open_link(&r);
		q = rig_ask(&r, LEGACY_REQUEST(1));
		if (events)
			say(&r, q,
			    EVENTS_OPEN "id: with-an-id\nevent: message\ndata: " MESSAGE "\n\n");
		else
			reply_json(&r, q, MESSAGE);
		if (!over)
			expect_message(&r, TAG(1), events ? 0 : 200, MESSAGE);
		else if (events)
			expect_failed(&r, TAG(1), CLEAT_STEP_PROTOCOL);
		else
			expect_told(&r, TOLD_OVERSIZE);
		rig_done(&r);
	}
}

/* ---- elsewhere -------------------------------------------------------------------------------- */

LINK_TEST_PLAIN(a_redirect_elsewhere_is_not_followed)
{
	struct told *t;
	char fields[128];

	rig_start_with(r, (struct link_http_options){ .bearer = "secret" });
	assert_int_equal(rig_send(r, LEGACY_REQUEST(1), Q(1)), CLEAT_OK);
	snprintf(fields, sizeof fields, "Location: http://localhost:%u/stolen\r\n", r->o.port);
	reply(r, next_asked(r), "307 There", fields, "");
	t = expect_told(r, TOLD_FAILED);
	expect_text(t, "localhost");
	assert_null(strstr(t->text, "secret"));
	assert_true(nobody_asks(r));
	/* Within the origin it is. */
	reply(r, rig_ask(r, LEGACY_REQUEST(2)), "307 There", "Location: /mcp/\r\n", "");
	expect_line(next_asked(r), "POST /mcp/ HTTP/1.1\r\n");
}

LINK_TEST(nobody_is_there)
{
	struct told *t;

	close(r->o.ear);
	r->o.ear = -1;
	assert_int_equal(rig_send(r, LEGACY_REQUEST(1), Q(1)), CLEAT_OK);
	t = expect_failed(r, TAG(1), CLEAT_STEP_CONNECT);
	assert_true(t->why.unsent);
	r->link->ops->listen(r->link); /* tries again and again, quietly */
	r->link->ops->close(r->link);
	expect_told(r, TOLD_CLOSED);
}

/* ---- memory ----------------------------------------------------------------------------------- */

/* A short life with everything in it. The server answers whatever it is asked. */
static void serve(struct rig_link *r)
{
	struct line *c = origin_ready(&r->o);
	struct asked q;

	if (!c)
		return;
	take_request(c, &q);
	if (strncmp(q.head, "GET", 3) == 0 && !strstr(q.head, "Last-Event-ID"))
		say(r, &q, EVENTS_OPEN "retry: 0\nid: 1\ndata: " N(a) "\n\n");
	else if (strncmp(q.head, "GET", 3) == 0)
		say(r, &q,
		    "HTTP/1.1 200 OK\r\n" EVENTS_TYPE "Content-Length: 63\r\n\r\nid: 9\n"
		    "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"events\":1}}\n\n   ");
	else if (strstr(q.body, "\"id\":0"))
		reply(r, &q, "200 OK", JSON_TYPE "Mcp-Session-Id: s\r\n", A(0));
	else if (strstr(q.body, "\"id\":1"))
		reply(r, &q, "200 OK", EVENTS_TYPE, "retry: 0\nid: 5\ndata: " N(p) "\n\n");
	else if (strstr(q.body, "\"id\":2"))
		reply(r, &q, "500 Oops", "", "text");
	else
		reply(r, &q, "202 Accepted", "", "");
}

/* Waits for the outcome of a message, if it was sent. */
static void outcome(struct rig_link *r, int rc, void *tag)
{
	bool there = rc != CLEAT_OK;

	while (!there) {
		serve(r);
		rig_step(r);
		for (size_t i = r->taken; i < r->n_told; i++)
			there |= r->told[i].tag == tag &&
				 (r->told[i].kind != TOLD_MESSAGE ||
				  strstr(r->told[i].text, "result") != NULL);
	}
	r->taken = r->n_told;
}

static void short_life(struct rig_link *r)
{
	struct link_message first = LEGACY_REQUEST(0);

	first.initialize = true;
	first.rev = REV_NONE;
	if (!rig_link_with(r, rig_base(r), (struct link_http_options){ .bearer = "b" }, NULL))
		return;
	rig_open_link(r);
	outcome(r, rig_send(r, first, Q(0)), TAG(0));
	r->link->ops->listen(r->link);
	outcome(r, rig_send(r, LEGACY_REQUEST(1), Q(1)), TAG(1));
	outcome(r, rig_send(r, LEGACY_REQUEST(2), Q(2)), TAG(2));
	outcome(r, rig_send(r, NOTICE(3), N(x)), TAG(3));
	r->link->ops->close(r->link);
	while (r->n_told == r->taken || r->told[r->n_told - 1].kind != TOLD_CLOSED) {
		serve(r);
		rig_step(r);
	}
}

/* Whatever allocation fails, and all after it or not: every message has one outcome, and nothing is left
 * behind. */
static void fail_each_allocation(void (*life)(struct rig_link *r), bool forever)
{
	bool hit = true;

	for (size_t n = 1; hit; n += n < 80 ? 1 : 7) {
		struct rig_link r;

		rig_base_open(&r);
		r.fa.countdown = n;
		r.fa.forever = forever;
		life(&r);
		hit = fail_alloc_hit(&r.fa);
		r.fa.countdown = 0;
		r.fa.forever = false;
		rig_done(&r);
	}
}

TEST(every_allocation_may_fail)
{
	fail_each_allocation(short_life, false);
	fail_each_allocation(short_life, true);
}

static void old_life(struct rig_link *r)
{
	struct line *c;
	struct asked q;
	size_t n;

	if (!rig_link_with(r, rig_base(r), (struct link_http_options){ .old_sse = true }, NULL))
		return;
	r->link->ops->open(r->link);
	for (n = r->n_told; r->n_told == n;) {
		if ((c = origin_ready(&r->o)) != NULL) {
			take_request(c, &q);
			say(r, &q, EVENTS_OPEN "event: endpoint\ndata: /m\n\n");
		}
		rig_step(r);
	}
	if (r->told[n].why.error.status)
		return;
	if (rig_send(r, LEGACY_REQUEST(1), Q(1)) == CLEAT_OK)
		for (int i = 0; i < 20 && r->n_told == n + 1; i++) {
			if ((c = origin_ready(&r->o)) != NULL) {
				take_request(c, &q);
				reply(r, &q, "202 Accepted", "", "");
			}
			rig_step(r);
		}
}

TEST(every_allocation_may_fail_in_the_old_way_too)
{
	fail_each_allocation(old_life, false);
	fail_each_allocation(old_life, true);
}
