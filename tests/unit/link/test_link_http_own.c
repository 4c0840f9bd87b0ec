/* test_link_http_own.c - the HTTP link against our own server: sessions that expire, and answers that are resumed after
 * their connection was cut at any byte. (Everything that is in order: test_client_matrix.c.)
 */
#include "test.h"
#include "unit/endpoint/endpoint_rig.h"

#include "unit/link/link_http_rig.h"

/* The server's bench and a link to it, on the bench's loop. */
struct pair {
	struct bench b;
	struct rig_link r;
};

/* Through this port, if not 0. */
static void pair_open(struct pair *p, unsigned port)
{
	struct rig_link *r = &p->r;
	struct link_base_options base;

	memset(r, 0, sizeof *r);
	r->o.ear = -1;
	r->l = p->b.h.l;
	snprintf(r->url, sizeof r->url, "http://127.0.0.1:%u/mcp",
		 port ? port : (unsigned)p->b.h.ear.address.port);
	base = rig_base(r);
	base.mem = &p->b.h.fa.hook;
	assert_true(rig_link_with(r, base, (struct link_http_options){ 0 }, NULL));
	rig_open_link(r);
}

static void pair_close(struct pair *p)
{
	rig_close_link(&p->r);
	rig_drop_told(&p->r);
	bench_close(&p->b);
}

static void pair_initialize(struct pair *p)
{
	struct link_message m = {
		.kind = LINK_REQUEST, .tag = TAG(1), .rev = REV_NONE, .initialize = true
	};

	assert_int_equal(rig_send(&p->r, m, INITIALIZE("2025-11-25", "{\"elicitation\":{}}")),
			 CLEAT_OK);
	expect_text(expect_told(&p->r, TOLD_MESSAGE), "2025-11-25");
	assert_int_equal(rig_send(&p->r, NOTICE(2), NOTE("notifications/initialized", "")),
			 CLEAT_OK);
	expect_told(&p->r, TOLD_ACCEPTED);
}

TEST_ON(a_session_that_expires_is_lost, struct pair, p, (rig_warm_up(), bench_open(&p->b)),
	pair_close)
{
	pair_open(p, 0);
	pair_initialize(p);
	pass(&p->b, 24 * 3600 * 1000);
	assert_int_equal(rig_send(&p->r, LEGACY_REQUEST(1), CALL("2", "echo", "{\"text\":\"hi\"}")),
			 CLEAT_OK);
	assert_true(expect_failed(&p->r, TAG(1), CLEAT_STEP_HTTP)->why.session_lost);
	p->r.link->ops->reset(p->r.link);
	pair_initialize(p);
	assert_int_equal(rig_send(&p->r, LEGACY_REQUEST(1), CALL("3", "echo", "{\"text\":\"hi\"}")),
			 CLEAT_OK);
	expect_text(expect_told(&p->r, TOLD_MESSAGE), "echo hi");
}

/* ---- cutting ---------------------------------------------------------------------------------- */

/* A middleman that lets only this many bytes of the answer to a call through: its id is how many. */
enum { WIRES = 256 };

struct wire {
	int down, up;
	size_t left; /* of what comes from the server; 0: no limit */
};

struct middle {
	struct origin ear;
	struct wire wires[WIRES];
	size_t n, resumed;
};

static void carry(struct middle *m, struct wire *w)
{
	static char bytes[65536];
	ssize_t n = recv(w->down, bytes, sizeof bytes - 1, 0);
	const char *id;

	if (n > 0) {
		bytes[n] = '\0';
		m->resumed += strncmp(bytes, "GET ", 4) == 0;
		id = strstr(bytes, "\"id\":1");
		if (id && strstr(bytes, "chat")) /* 1000 + so many bytes */
			w->left = (size_t)atol(id + 5) - 1000;
		assert_int_equal(send(w->up, bytes, (size_t)n, MSG_NOSIGNAL), n);
	}
	if (n == 0 || (n < 0 && errno != EAGAIN))
		goto end;
	n = recv(w->up, bytes, sizeof bytes, 0);
	if (n == 0 || (n < 0 && errno != EAGAIN))
		goto end;
	if (n > 0) {
		size_t pass_on = w->left && w->left < (size_t)n ? w->left : (size_t)n;

		assert_int_equal(send(w->down, bytes, pass_on, MSG_NOSIGNAL), pass_on);
		if (pass_on == w->left)
			goto end;
		w->left -= w->left ? pass_on : 0;
	}
	return;
end:
	close(w->up);
	close(w->down);
	*w = m->wires[--m->n];
}

static void carry_all(struct middle *m, struct pair *p)
{
	int fd;

	while ((fd = accept(m->ear.ear, NULL, NULL)) >= 0) {
		assert_true(m->n < WIRES);
		fcntl(fd, F_SETFL, O_NONBLOCK);
		m->wires[m->n++] = (struct wire){ .down = fd, .up = dial_fd(&p->b.h) };
	}
	for (size_t i = m->n; i-- > 0;)
		carry(m, &m->wires[i]);
	rig_step(&p->r);
}

enum { CUTS = 48, CUT_FROM = 300, CUT_STEP = 23 };

/* What came of one of the calls, in order. */
static void expect_all(const struct rig_link *r, void *tag)
{
	static const char *const parts[] = { "<1>", "<2>", "<3>", "<4>", "said" };
	size_t n = 0;

	for (size_t i = 0; i < r->n_told; i++)
		if (r->told[i].tag == tag) {
			assert_int_equal(r->told[i].kind, TOLD_MESSAGE);
			assert_true(n < CLEAT_COUNT(parts));
			assert_non_null(strstr(r->told[i].text, parts[n++]));
		}
	assert_int_equal(n, CLEAT_COUNT(parts));
}

static size_t answers(const struct rig_link *r)
{
	size_t n = 0;

	for (size_t i = r->taken; i < r->n_told; i++)
		n += r->told[i].kind == TOLD_FAILED || strstr(r->told[i].text, "\"result\"");
	return n;
}

/* 2025-11-25 Resumability: wherever the connection is cut after the first id, everything comes, and
 * nothing twice. */
TEST(an_answer_is_complete_wherever_it_was_cut)
{
	static struct middle m;
	struct pair p;

	rig_warm_up();
	bench_open(&p.b);
	memset(&m, 0, sizeof m);
	origin_open(&m.ear, NULL);
	pair_open(&p, m.ear.port);
	assert_int_equal(rig_send(&p.r,
				  (struct link_message){ .kind = LINK_REQUEST,
							 .tag = TAG(1),
							 .rev = REV_NONE,
							 .initialize = true },
				  INITIALIZE("2025-11-25", "{}")),
			 CLEAT_OK);
	while (p.r.n_told == p.r.taken)
		carry_all(&m, &p);
	p.r.taken = p.r.n_told;
	for (int i = 0; i < CUTS; i++) {
		char call[256];

		snprintf(call, sizeof call, CALL("%d", "chat", "{\"n\":4}"),
			 1000 + CUT_FROM + i * CUT_STEP);
		assert_int_equal(rig_send(&p.r, LEGACY_REQUEST(2 + i), call), CLEAT_OK);
	}
	while (answers(&p.r) < CUTS)
		carry_all(&m, &p);
	for (int i = 0; i < CUTS; i++)
		expect_all(&p.r, TAG(2 + i));
	assert_true(m.resumed > CUTS / 2);
	rig_close_link(&p.r);
	for (size_t i = 0; i < m.n; i++) {
		close(m.wires[i].up);
		close(m.wires[i].down);
	}
	origin_close(&m.ear);
	pair_close(&p);
}
