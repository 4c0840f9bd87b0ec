/* test_tap_wire.c - program/record/tap/front.c and program/record/tap/back.c speak to each other on one loop: what is sent is what is
 * received, whoever goes is noticed, nobody is run over, and lack of memory is an end like any other.
 */
#include "record/tap/tap.h"
#include "support.h"
#include "test.h"
#include "unit/http/field_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct wire {
	cleat_loop *loop;
	struct front *front;
	struct back *back;
	/* the server's side */
	void (*serve)(struct wire *w, struct front_exchange *x);
	struct front_exchange *open; /* the one that is not answered yet */
	size_t requests, gone, drained;
	char request[4096]; /* "POST /x?y [a: b] body" */
	/* the client's */
	struct back_call *call;
	int status;
	char head[4096], body[4096], error[512];
	size_t n, done;
};

/* ---- the server's side ------------------------------------------------------------------------- */

static void show(char *to, size_t room, const char *what, size_t n)
{
	size_t at = strlen(to);

	snprintf(to + at, room - at, "%.*s", (int)n, what);
}

static void on_request(void *ctx, struct front_exchange *x)
{
	struct wire *w = ctx;

	w->requests++;
	w->open = x;
	snprintf(w->request, sizeof w->request, "%s %s ", x->method, x->target);
	for (const struct http_field *f = x->fields; f < x->fields + x->n_fields; f++)
		if (*f->name.p == 'x' || str_eqz(f->name, "user-agent")) {
			show(w->request, sizeof w->request, f->name.p, f->name.n);
			show(w->request, sizeof w->request, "=", 1);
			show(w->request, sizeof w->request, f->value.p, f->value.n);
			show(w->request, sizeof w->request, " ", 1);
		}
	show(w->request, sizeof w->request, x->body, x->n);
	if (w->serve)
		w->serve(w, x);
}

static void on_gone(void *ctx, struct front_exchange *x)
{
	struct wire *w = ctx;

	assert_ptr_equal(x, w->open);
	w->open = NULL;
	w->gone++;
}

static void on_drained(void *ctx, struct front_exchange *x)
{
	struct wire *w = ctx;

	assert_ptr_equal(x, w->open);
	w->drained++;
}

/* ---- the client's ------------------------------------------------------------------------------ */

static void on_head(void *ctx, int status, const struct http_field *f, size_t n)
{
	struct wire *w = ctx;

	w->status = status;
	for (; n--; f++)
		if (!str_eqz(f->name, "Date"))
			snprintf(w->head + strlen(w->head), sizeof w->head - strlen(w->head),
				 "%.*s=%.*s ", STR_ARGS(f->name), STR_ARGS(f->value));
}

static void on_data(void *ctx, const char *p, size_t n)
{
	struct wire *w = ctx;

	if (w->n + n < sizeof w->body)
		show(w->body, sizeof w->body, p, n);
	w->n += n;
}

static void on_done(void *ctx, const char *error)
{
	struct wire *w = ctx;

	snprintf(w->error, sizeof w->error, "%s", error ? error : "");
	w->done++;
	w->call = NULL;
}

static const struct back_user user = { on_head, on_data, on_done };

static void ask(struct wire *w, const char *method, const char *target, const char *const *lines,
		const char *body)
{
	struct http_field fields[4];
	size_t n = field_lines(fields, CLEAT_COUNT(fields), lines);
	cleat_error err;

	w->status = 0;
	w->n = w->done = 0;
	w->head[0] = w->body[0] = w->error[0] = '\0';
	w->call = back_send(w->back, method, target, fields, n, body, strlen(body), &user, w, &err);
	if (!w->call)
		on_done(w, err.message);
}

/* ---- both -------------------------------------------------------------------------------------- */

static bool wire_open(struct wire *w, const cleat_allocator *mem, const cleat_client_options *opts)
{
	const struct front_user front = { on_request, on_gone, on_drained, w };
	cleat_error err = { 0 };

	alarm(60); /* whoever waits for what never comes ends here */
	*w = (struct wire){ .loop = cleat_loop_new(NULL) };
	assert_non_null(w->loop);
	w->front = front_new(w->loop, mem, "127.0.0.1:0", &front, &err);
	w->back = w->front ? back_new(w->loop, mem, front_url(w->front, "/mcp"), opts, "", &err)
			   : NULL;
	assert_true(w->back || (mem && err.status == CLEAT_ENOMEM));
	return w->back != NULL;
}

static void wire_close(struct wire *w)
{
	back_free(w->back);
	front_free(w->front);
	cleat_loop_free(w->loop);
	alarm(0);
}

/* A case on a wire that needs nothing in particular. */
#define WIRE_TEST(name)                                                                            \
	TEST_ON(name, struct wire, w, wire_open(w, NULL, &(cleat_client_options){ 0 }), wire_close)

#define WAIT_FOR(w, condition)                                                                     \
	while (!(condition))                                                                       \
	cleat_loop_step((w)->loop, -1)

static void answer(struct wire *w, struct front_exchange *x)
{
	const struct http_field fields[] = { { STR_LIT("X-One"), STR_LIT("1") },
					     { STR_LIT("X-Two"), STR_LIT("") } };

	w->open = NULL;
	front_answer(x, 203, STR_LIT("text/plain"), fields, 2, "hello", 5);
}

static void stream(struct wire *w, struct front_exchange *x)
{
	const struct http_field field = { STR_LIT("X-One"), STR_LIT("1") };

	w->open = NULL;
	front_begin(x, 200, STR_LIT("text/event-stream"), &field, 1);
	front_write(x, ": hi\n\n", 6);
	front_event(x, "{}", 2);
	front_end(x);
}

TEST(request_and_answer_arrive_as_they_were_sent)
{
	static const char *const own[] = { "X-Own: mine", NULL };
	static const char *const lines[] = { "X-Own: theirs", "x-own: again", "X-Other: \t a b",
					     NULL };
	const cleat_client_options opts = { .headers = own, .bearer = "secret" };
	struct wire w;

	wire_open(&w, NULL, &opts);
	assert_string_equal(back_path(w.back), "/mcp");
	w.serve = answer;
	ask(&w, "POST", "/a/b?c=%20d", lines, "a body");
	WAIT_FOR(&w, w.done);
	assert_string_equal(w.request, "POST /a/b?c=%20d x-own=mine x-other=a b a body");
	assert_string_equal(w.error, "");
	assert_int_equal(w.status, 203);
	assert_string_equal(w.head, "Content-Type=text/plain Content-Length=5 X-One=1 X-Two= ");
	assert_string_equal(w.body, "hello");
	w.serve = stream;
	ask(&w, "GET", "/", NULL, "");
	WAIT_FOR(&w, w.done);
	assert_string_equal(w.request, "GET / x-own=mine ");
	assert_string_equal(w.body, ": hi\n\nevent: message\ndata: {}\n\n");
	ask(&w, "HEAD", "/", NULL, "");
	WAIT_FOR(&w, w.done);
	assert_string_equal(w.error, "");
	assert_string_equal(w.body, "");
	assert_int_equal(w.gone, 0);
	wire_close(&w);
}

/* Who may ask: endpoint/policy.h. Nobody is asked about the others. */
WIRE_TEST(requests_that_a_page_may_have_caused_are_refused)
{
	static const struct {
		const char *line;
		int status;
	} cases[] = {
		{ "Host: localhost:1234", 203 },
		{ "Origin: http://localhost:3000", 203 },
		{ "Origin: http://127.0.0.1", 203 },
		{ "Host: evil.example", 403 },
		{ "Host: 127.0.0.1.evil.example", 403 },
		{ "Origin: https://evil.example", 403 },
		{ "Origin: null", 403 },
		{ "Sec-Fetch-Site: cross-site", 403 },
	};

	w->serve = answer;
	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		const char *const lines[] = { cases[i].line, NULL };
		size_t before = w->requests;

		ask(w, "POST", "/mcp", lines, "{}");
		WAIT_FOR(w, w->done);
		assert_int_equal(w->status, cases[i].status);
		assert_int_equal(w->requests - before, cases[i].status == 203);
	}
}

/* A request that is open; `begun`: a part of its answer has come. */
static void ask_and_begin(struct wire *w, bool begun)
{
	ask(w, "POST", "/", NULL, "{}");
	WAIT_FOR(w, w->open);
	if (!begun)
		return;
	front_begin(w->open, 200, STR_LIT("text/plain"), NULL, 0);
	front_write(w->open, "a", 1);
	WAIT_FOR(w, w->n);
}

TEST(whoever_goes_is_noticed_by_the_other)
{
	const cleat_client_options opts = { 0 };
	struct wire w;

	wire_open(&w, NULL, &opts);
	for (size_t begun = 0; begun < 2; begun++) {
		/* the client */
		ask_and_begin(&w, begun);
		back_cancel(w.call);
		WAIT_FOR(&w, w.gone == begun + 1);
		assert_int_equal(w.done, 0);
		/* the server: what came is recognisably not all */
		ask_and_begin(&w, begun);
		front_break(w.open);
		w.open = NULL;
		WAIT_FOR(&w, w.done);
		assert_true(*w.error);
		assert_int_equal(w.gone, begun + 1);
	}
	/* all of it ends in the middle */
	ask(&w, "POST", "/", NULL, "{}");
	WAIT_FOR(&w, w.open);
	front_begin(w.open, 200, STR_LIT("text/plain"), NULL, 0);
	wire_close(&w);
	assert_int_equal(w.gone, 3);
	assert_int_equal(w.done, 0);
}

static void cancel_in_head(void *ctx, int status, const struct http_field *fields, size_t n)
{
	struct wire *w = ctx;

	on_head(w, status, fields, n);
	back_cancel(w->call);
}

static void cancel_in_data(void *ctx, const char *p, size_t n)
{
	struct wire *w = ctx;

	on_data(w, p, n);
	back_cancel(w->call);
}

WIRE_TEST(call_may_be_cancelled_while_it_is_told_something)
{
	static const struct back_user users[] = { { cancel_in_head, on_data, on_done },
						  { on_head, cancel_in_data, on_done } };

	for (size_t i = 0; i < CLEAT_COUNT(users); i++) {
		w->status = 0;
		w->n = 0;
		w->serve = NULL;
		w->call = back_send(w->back, "GET", "/", NULL, 0, NULL, 0, &users[i], w, NULL);
		WAIT_FOR(w, w->open);
		front_begin(w->open, 200, (struct str){ 0 }, NULL, 0);
		front_write(w->open, "abc", 3);
		WAIT_FOR(w, w->gone == i + 1);
		assert_int_equal(w->status, 200);
		assert_int_equal(w->n, i ? 3 : 0);
		assert_int_equal(w->done, 0);
	}
	/* and it works on */
	w->serve = answer;
	ask(w, "GET", "/", NULL, "");
	WAIT_FOR(w, w->done);
	assert_string_equal(w->body, "hello");
}

/* ---- backpressure ------------------------------------------------------------------------------ */

enum { PART = 1 << 16 };
static char part[PART];

/* Nobody reads: writes until it is told to wait; gives how much that was. */
static size_t fill(struct wire *w)
{
	size_t sent = 0;
	bool room = true;

	ask(w, "GET", "/", NULL, "");
	WAIT_FOR(w, w->open);
	front_begin(w->open, 200, STR_LIT("text/plain"), NULL, 0);
	back_pause(w->call, true);
	while (room) {
		room = front_write(w->open, part, PART);
		sent += PART;
		assert_true(sent < 64 << 20);
		for (int i = 0; i < 3; i++)
			cleat_loop_step(w->loop, 0);
	}
	return sent;
}

WIRE_TEST(slow_reader_is_waited_for)
{
	size_t sent, drained;

	sent = fill(w);
	drained = w->drained;
	assert_true(w->n < sent);
	back_pause(w->call, false);
	WAIT_FOR(w, w->drained > drained);
	assert_true(front_write(w->open, "end", 3));
	front_end(w->open);
	w->open = NULL;
	WAIT_FOR(w, w->done);
	assert_string_equal(w->error, "");
	assert_int_equal(w->n, sent + 3);
}

/* Who does not wait for it does not fill all memory: the exchange is gone, later, and takes everything. */
MEMORY_TEST(reader_that_takes_nothing_is_given_up)
{
	const cleat_client_options opts = { 0 };
	struct wire w;
	size_t sent;

	wire_open(&w, &fa->hook, &opts);
	sent = fill(&w);
	for (; sent < 400u << 20; sent += PART)
		front_write(w.open, part, PART);
	assert_int_equal(w.gone, 0);
	assert_true(fa->bytes < 300u << 20);
	assert_false(front_event(w.open, "{}", 2));
	WAIT_FOR(&w, w.gone);
	assert_int_equal(w.gone, 1);
	back_pause(w.call, false);
	WAIT_FOR(&w, w.done);
	assert_true(*w.error);
	/* the same, with its end before that is told */
	sent = fill(&w);
	for (; sent < 400u << 20; sent += PART)
		front_write(w.open, part, PART);
	front_end(w.open);
	w.open = NULL;
	back_cancel(w.call);
	wire_close(&w);
	assert_int_equal(w.gone, 1);
}

/* ---- addresses --------------------------------------------------------------------------------- */

TEST(addresses_are_of_this_machine)
{
	static const struct {
		const char *address, *words;
	} cases[] = {
		{ "nonsense", "port" },
		{ "127.0.0.1:", "port" },
		{ "", "" },
		{ "0.0.0.0:0", "others can reach" },
		{ "[::]:0", "others can reach" },
		{ "https://127.0.0.1:0", "TLS" },
		{ "fd:0", "systemd" },
	};
	const struct front_user none = { on_request, on_gone, NULL, NULL };
	cleat_loop *loop = cleat_loop_new(NULL);
	cleat_error err;

	assert_non_null(loop);
	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		assert_null(front_new(loop, NULL, cases[i].address, &none, &err));
		assert_int_equal(err.status, CLEAT_EINVAL);
		assert_non_null(strstr(err.message, cases[i].words));
	}
	cleat_loop_free(loop);
}

TEST(address_for_clients_has_a_path)
{
	const struct front_user none = { on_request, on_gone, NULL, NULL };
	cleat_loop *loop = cleat_loop_new(NULL);
	char address[64];
	struct front *f;

	assert_non_null(loop);
	f = front_new(loop, NULL, "http://127.0.0.1:0/here", &none, NULL);
	assert_string_equal(front_path(f), "/here");
	assert_non_null(strstr(front_url(f, "/mcp"), "/here"));
	front_free(f);
	snprintf(address, sizeof address, "unix:/tmp/cleat-tap-%ld.sock", (long)getpid());
	f = front_new(loop, NULL, address, &none, NULL);
	assert_string_equal(front_path(f), "");
	assert_non_null(strstr(front_url(f, "/mcp"), ".sock#/mcp"));
	front_free(f);
	cleat_loop_free(loop);
}

TEST(addresses_of_servers)
{
	static const struct {
		const char *url, *path; /* NULL: it is none */
	} cases[] = {
		{ "http://host.example", "/" },
		{ "https://host.example:1/a/b?c#d", "/a/b?c" },
		{ "http://host.example?x", "/?x" },
		{ "unix:/tmp/x.sock", "/mcp" },
		{ "unix:/tmp/x.sock#/other", "/other" },
		{ "tcp://host.example:1", NULL },
		{ "unix-stream:/tmp/x", NULL },
		{ "http://a b/", NULL },
		{ "host.example", NULL },
	};
	const cleat_client_options opts = { 0 };
	cleat_loop *loop = cleat_loop_new(NULL);
	cleat_error err;

	assert_non_null(loop);
	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct back *b = back_new(loop, NULL, cases[i].url, &opts, NULL, &err);

		if (cases[i].path)
			assert_string_equal(back_path(b), cases[i].path);
		else
			assert_true(!b && err.status == CLEAT_EINVAL);
		back_free(b);
	}
	cleat_loop_free(loop);
}

/* ---- memory ------------------------------------------------------------------------------------ */

TEST(lack_of_memory_is_an_end_like_any_other)
{
	const cleat_client_options opts = { .bearer = "x" };

	for (size_t i = 0; i < 2; i++)
		for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
			struct wire w;

			if (wire_open(&w, &fa.hook, &opts)) {
				w.serve = i ? stream : answer;
				ask(&w, "POST", "/mcp", NULL, "{}");
				WAIT_FOR(&w, w.done);
				if (!fail_alloc_hit(&fa))
					assert_int_equal(w.n, i ? 31 : 5);
			}
			wire_close(&w);
		}
}
