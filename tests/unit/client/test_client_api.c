/* test_client_api.c - <cleat/client.h> as a program uses it, on a server in the same process: blocking
 * calls, calls that do not wait, giving up, ending, and everything that a program can get wrong. (All operations in
 * every revision: test_client_matrix.c.)
 */
#include "test.h"
#include "unit/client/test_client.h"

#include "loop/loop.h"

#include <poll.h>

/* ---- blocking calls ----------------------------------------------------------------------- */

TEST(a_value_is_decoded_into_a_struct)
{
	struct sum {
		double sum;
	} sum;
	const cleat_field fields[] = { CLEAT_FIELD(struct sum, sum, ""), CLEAT_FIELD_END };
	cleat_result *r;
	struct rig g;

	rig_begin(&g, NULL);
	r = cleat_client_callf(g.c, "add", "{a: %d, b: %g}", 2, 0.5);
	assert_ok(r);
	assert_int_equal(cleat_result_record(r, fields, &sum), CLEAT_OK);
	assert_true(sum.sum == 2.5);
	rig_end(&g); /* a result outlives its client */
	assert_true(cleat_json_num(cleat_json_get(cleat_result_json(r), "sum"), 0) == 2.5);
	cleat_result_free(r);
}

RIG_TEST(open_waits_until_the_server_is_ready)
{
	assert_int_equal(cleat_client_era(g->c), CLEAT_ERA_AUTO);
	assert_null(cleat_client_server(g->c));
	assert_int_equal(cleat_client_open(g->c), CLEAT_OK);
	assert_int_equal(cleat_client_error(g->c)->status, CLEAT_OK);
	assert_non_null(cleat_client_server(g->c));
	assert_string_equal(cleat_client_server_name(g->c), "rig");
	assert_string_equal(cleat_client_server_version(g->c), "1.2.3");
	assert_int_equal(cleat_client_pid(g->c), 0);
	assert_text(cleat_client_read(g->c, "city://rome"), "rome is a city");
	assert_true(cleat_client_server_can(g->c, "tools"));
	assert_int_equal(cleat_client_open(g->c), CLEAT_OK);
}

static void on_ready(cleat_client *c, const cleat_error *state, void *userdata)
{
	(void)c;
	*(int *)userdata = state->status == CLEAT_OK ? 1 : 2;
}

TEST(start_tells_by_on_state)
{
	int ready = 0;
	struct rig g;

	rig_begin(&g, &(cleat_client_options){ .on_state = on_ready, .userdata = &ready });
	assert_ptr_equal(cleat_client_userdata(g.c), &ready);
	assert_int_equal(cleat_client_start(g.c), CLEAT_OK);
	assert_int_equal(ready, 0);
	assert_false(cleat_client_ready(g.c));
	while (!ready)
		assert_int_equal(cleat_loop_step(cleat_client_loop(g.c), 10000), CLEAT_OK);
	assert_int_equal(ready, 1);
	assert_true(cleat_client_ready(g.c));
	assert_false(cleat_client_ready(NULL));
	rig_end(&g);
}

RIG_TEST(a_blocking_call_has_options_and_the_callers_userdata)
{
	struct ending e = { 0 };
	cleat_call_options o = { .on_progress = ending_progress, .userdata = &e };

	assert_text(cleat_client_request_withf(g->c, &o, "tools/call", "{name: 'steps'}"), "done");
	assert_int_equal(e.progress, 3);
	assert_text(cleat_client_request_withf(g->c, NULL, "tools/call", "{name: 'steps'}"),
		    "done");
	assert_text(cleat_client_call_withf(g->c, &o, "echo", "{text: %s}", "with"), "with");
	assert_fails(cleat_client_request_withf(g->c, &(cleat_call_options){ .timeout_ms = 20 },
						"tools/call", "{name: 'hang'}"),
		     CLEAT_ETIMEOUT);
	o.on_done = ending_done;
	assert_fails(cleat_client_request_withf(g->c, &o, "tools/call", "{name: 'steps'}"),
		     CLEAT_EINVAL);
	assert_int_equal(e.count, 0);
}

RIG_TEST(a_call_that_does_not_wait_takes_a_value)
{
	cleat_doc *args = cleat_doc_newf(NULL, "{text: 'value'}"),
		  *list = cleat_doc_newf(NULL, "[1]");
	struct ending e[2] = { { 0 } };
	cleat_call *call;

	call = cleat_client_start_call(g->c, ENDING(&e[0]), "echo", cleat_doc_root(args));
	assert_ptr_equal(cleat_call_userdata(call), &e[0]);
	assert_ptr_equal(cleat_call_client(call), g->c);
	assert_non_null(cleat_client_start_call(g->c, ENDING(&e[1]), "echo", cleat_doc_root(list)));
	cleat_doc_free(args);
	cleat_doc_free(list);
	assert_int_equal(e[0].count + e[1].count, 0); /* never inside; a blocking one in between */
	assert_text(cleat_client_callf(g->c, "echo", "{text: 'between'}"), "between");
	wait_ending(g->c, &e[0]);
	wait_ending(g->c, &e[1]);
	assert_int_equal(e[0].status, CLEAT_OK);
	assert_string_equal(e[0].text, "value");
	assert_int_equal(e[1].status, CLEAT_EINVAL);
}

/* ---- what a program gets wrong ------------------------------------------------------------ */

RIG_TEST(wrong_arguments_are_results)
{
	cleat_doc *list = cleat_doc_newf(NULL, "[1]");
	cleat_result *r;

	r = cleat_client_callf(g->c, "echo", "[1, 2]");
	assert_int_equal(cleat_result_step(r), CLEAT_STEP_ARGUMENTS);
	assert_has(cleat_result_error(r)->message, "not an object");
	assert_fails(r, CLEAT_EINVAL);
	assert_fails(cleat_client_callf(g->c, "echo", "{text: "), CLEAT_EINVAL);
	assert_fails(cleat_client_callf(g->c, NULL, NULL), CLEAT_EINVAL);
	assert_fails(cleat_client_call(g->c, "echo", cleat_doc_root(list)), CLEAT_EINVAL);
	assert_fails(cleat_client_read(g->c, NULL), CLEAT_EINVAL);
	assert_fails(cleat_client_promptf(g->c, NULL, NULL), CLEAT_EINVAL);
	assert_fails(cleat_client_promptf(g->c, "greet", "[]"), CLEAT_EINVAL);
	assert_fails(cleat_client_promptf(g->c, "greet", "{name: [1]}"), CLEAT_EINVAL);
	assert_fails(cleat_client_promptf(g->c, "greet", "{name"), CLEAT_EINVAL);
	assert_fails(cleat_client_complete(g->c, NULL, "a", "", NULL), CLEAT_EINVAL);
	assert_fails(cleat_client_complete(g->c, "greet", NULL, "", NULL), CLEAT_EINVAL);
	assert_fails(cleat_client_complete(g->c, "greet", "name", "", cleat_doc_root(list)),
		     CLEAT_EINVAL);
	assert_fails(cleat_client_requestf(g->c, NULL, NULL), CLEAT_EINVAL);
	assert_fails(cleat_client_requestf(g->c, "tools/list", "[]"), CLEAT_EINVAL);
	assert_int_equal(cleat_client_notifyf(g->c, "", NULL), CLEAT_EINVAL);
	assert_int_equal(cleat_client_notifyf(g->c, "x", "{"), CLEAT_EINVAL);
	/* Nothing of that was sent, and all is well. */
	assert_text(cleat_client_callf(g->c, "echo", "{text: 'ok'}"), "ok");
	cleat_doc_free(list);
}

RIG_TEST(a_call_that_starts_wrong_ends_later)
{
	struct ending e[3] = { { 0 } };

	assert_non_null(cleat_client_startf(g->c, ENDING(&e[0]), "echo", "[1]"));
	assert_non_null(cleat_client_start_requestf(g->c, ENDING(&e[1]), "", NULL));
	assert_non_null(cleat_client_start_list(g->c, ENDING(&e[2]), (enum cleat_list)9));
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(e[i].count, 0);
	for (size_t i = 0; i < 3; i++) {
		wait_ending(g->c, &e[i]);
		assert_int_equal(e[i].status, CLEAT_EINVAL);
	}
	/* There is nobody to tell. */
	assert_null(cleat_client_startf(g->c, NULL, "echo", NULL));
	assert_null(cleat_client_start_list(g->c, &(cleat_call_options){ 0 }, CLEAT_LIST_TOOLS));
}

TEST(no_client_is_out_of_memory)
{
	struct ending e = { 0 };
	cleat_call_options o = ending_options(&e);

	assert_fails(cleat_client_callf(NULL, "echo", NULL), CLEAT_ENOMEM);
	assert_fails(cleat_client_call(NULL, "echo", NULL), CLEAT_ENOMEM);
	assert_fails(cleat_client_read(NULL, "a:b"), CLEAT_ENOMEM);
	assert_fails(cleat_client_promptf(NULL, "p", NULL), CLEAT_ENOMEM);
	assert_fails(cleat_client_complete(NULL, "p", "a", "", NULL), CLEAT_ENOMEM);
	assert_fails(cleat_client_ping(NULL), CLEAT_ENOMEM);
	assert_fails(cleat_client_list(NULL, CLEAT_LIST_TOOLS), CLEAT_ENOMEM);
	assert_fails(cleat_client_requestf(NULL, "m", NULL), CLEAT_ENOMEM);
	assert_fails(cleat_client_request_withf(NULL, NULL, "m", NULL), CLEAT_ENOMEM);
	assert_null(cleat_client_startf(NULL, &o, "t", NULL));
	assert_null(cleat_client_start_requestf(NULL, &o, "m", NULL));
	assert_null(cleat_client_start_list(NULL, &o, CLEAT_LIST_TOOLS));
	assert_int_equal(cleat_client_notifyf(NULL, "m", NULL), CLEAT_ENOMEM);
	assert_int_equal(cleat_client_open(NULL), CLEAT_ENOMEM);
	assert_int_equal(cleat_client_start(NULL), CLEAT_ENOMEM);
	assert_int_equal(cleat_client_set_roots(NULL, NULL, 0), CLEAT_ENOMEM);
	assert_int_equal(cleat_client_error(NULL)->status, CLEAT_ENOMEM);
	assert_null(cleat_client_loop(NULL));
	assert_null(cleat_client_userdata(NULL));
	assert_int_equal(cleat_client_pid(NULL), 0);
	assert_null(cleat_client_server(NULL));
	assert_string_equal(cleat_client_server_name(NULL), "");
	assert_false(cleat_client_server_can(NULL, "tools"));
	assert_null(cleat_client_watch(NULL, &(cleat_watch_options){ 0 }));
	cleat_call_cancel(NULL);
	cleat_client_free(NULL);
	assert_null(cleat_client_inproc(NULL, NULL)); /* no server: likewise */
}

TEST(a_wrong_address_is_the_result_of_calls)
{
	static const struct {
		const char *address, *word;
	} cases[] = {
		{ NULL, "no address" },
		{ "", "no address" },
		{ "localhost:8080", "begins with" },
		{ "ftp://host/mcp", "begins with" },
		{ "/run/mcp.sock", "begins with" },
		{ "unix:", "unix:/path" },
		{ "unix:run/mcp.sock", "unix:/path" },
		{ "unix://host/path", "" },
		{ "unix:/run/a.sock#mcp", "unix:/path" },
		{ "unix-stream:", "unix-stream:/path" },
		{ "unix-stream:relative", "unix-stream:/path" },
		{ "tcp://", "" },
		{ "tcp://host", "" },
		{ "tcp://host:99999", "" },
		{ "http://", "" },
		{ "http:///mcp", "" },
		{ "http://host:port/mcp", "" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		cleat_client *c = cleat_client_connect(cases[i].address, NULL);
		cleat_result *r = cleat_client_callf(c, "echo", NULL);

		if (strcmp(cases[i].word, "") != 0)
			assert_int_equal(cleat_result_step(r), CLEAT_STEP_ARGUMENTS);
		assert_int_not_equal(cleat_result_status(r), CLEAT_OK);
		assert_int_not_equal(cleat_result_status(r), CLEAT_ENOMEM);
		assert_has(cleat_result_error(r)->message, cases[i].word);
		assert_int_not_equal(cleat_client_open(c), CLEAT_OK);
		assert_int_not_equal(cleat_client_error(c)->status, CLEAT_OK);
		cleat_result_free(r);
		cleat_client_free(c);
	}
}

TEST(an_address_has_a_limit)
{
	static char address[10000] = "http://host/";
	cleat_client *c;

	memset(address + strlen(address), 'x', sizeof address - 1 - strlen(address));
	c = cleat_client_connect(address, NULL);
	assert_fails(cleat_client_callf(c, "echo", NULL), CLEAT_ELIMIT);
	cleat_client_free(c);
}

TEST(what_cannot_be_reached_is_the_result_of_calls)
{
	static const char *const nothing[] = { NULL }, *const empty[] = { "", NULL };
	cleat_loop *other = cleat_loop_new(NULL);
	cleat_server *broken = cleat_server_new("broken", NULL, NULL);
	cleat_server *s = new_server(NULL);
	cleat_client *all[] = {
		cleat_client_spawn(NULL, NULL),
		cleat_client_spawn(nothing, NULL),
		cleat_client_spawn(empty, NULL),
		cleat_client_attach(-1, 1, NULL),
		cleat_client_inproc(s, &(cleat_client_options){ .loop = other }),
		cleat_client_inproc(broken, NULL),
		cleat_client_inproc(s, &(cleat_client_options){ .protocol = "1999-01-01" }),
	};

	for (size_t i = 0; i < CLEAT_COUNT(all); i++) {
		cleat_result *r = cleat_client_callf(all[i], "echo", NULL);

		assert_int_equal(cleat_result_step(r), CLEAT_STEP_ARGUMENTS);
		assert_int_equal(cleat_client_error_step(all[i]), CLEAT_STEP_ARGUMENTS);
		assert_int_equal(cleat_client_error_http_status(all[i]), 0);
		assert_true(cleat_result_error(r)->message[0]);
		assert_fails(r, CLEAT_EINVAL);
		cleat_client_free(all[i]);
	}
	cleat_server_free(broken);
	cleat_server_free(s);
	cleat_loop_free(other);
}

/* An older program has a shorter struct; what is behind it is not ours to read. */
TEST(options_of_an_older_program_are_shorter)
{
	int marker = 7;
	struct ending e = { 0 };
	cleat_client_options o = { .userdata = &marker };
	cleat_call_options call = ending_options(&e);
	cleat_server *s = new_server(NULL);
	cleat_client *c;

	o.protocol = "garbage";
	o.era = (enum cleat_era)99;
	c = cleat_client_inproc_(s, &o, offsetof(cleat_client_options, era));
	assert_ptr_equal(cleat_client_userdata(c), &marker);
	assert_text(cleat_client_callf(c, "echo", "{text: 'ok'}"), "ok");
	/* options in place, with commas in them, though these are macros */
	assert_text(cleat_client_call_withf(
			    c, &(cleat_call_options){ .log_level = "info", .userdata = &marker },
			    "echo", "{text: %s}", "inline"),
		    "inline");
	call.userdata = NULL;
	call.log_level = "garbage";
	assert_null(cleat_client_startf_(offsetof(cleat_call_options, on_done), c, &call, "echo",
					 NULL));
	call.on_done = NULL;
	call.on_progress = NULL;
	assert_text(cleat_client_request_withf_(offsetof(cleat_call_options, log_level), c, &call,
						"tools/call", "{name: 'steps'}"),
		    "done");
	cleat_client_free(c);
	cleat_server_free(s);
}

/* ---- callbacks ---------------------------------------------------------------------------- */

static void block_inside(cleat_call *call, cleat_result *r)
{
	cleat_client *c = cleat_call_client(call);
	struct ending *e = cleat_call_userdata(call);

	cleat_result_free(r);
	e->status = cleat_client_open(c);
	r = cleat_client_callf(c, "echo", "{text: 'x'}");
	if (cleat_result_status(r) == e->status)
		e->count++;
	cleat_result_free(r);
	r = cleat_client_list(c, CLEAT_LIST_TOOLS);
	if (cleat_result_status(r) == e->status)
		e->count++;
	cleat_result_free(r);
	r = cleat_client_ping(c);
	if (cleat_result_status(r) == e->status)
		e->count++;
	cleat_result_free(r);
}

RIG_TEST(waiting_inside_a_callback_is_misuse)
{
	struct ending e = { 0 };
	cleat_call_options o = { .on_done = block_inside, .userdata = &e };

	assert_non_null(cleat_client_startf(g->c, &o, "echo", "{text: 'a'}"));
	wait_ending(g->c, &e);
	assert_int_equal(e.count, 3);
	assert_int_equal(e.status, CLEAT_EMISUSE);
	assert_text(cleat_client_callf(g->c, "echo", "{text: 'ok'}"), "ok");
}

static int tool_calls_itself(cleat_request *req)
{
	cleat_client *c = *(cleat_client **)cleat_request_userdata(req);
	cleat_result *r = cleat_client_callf(c, "echo", "{text: 'x'}");
	int rc = cleat_result_status(r);

	cleat_result_free(r);
	return cleat_reply_text(req, cleat_strstatus(rc));
}

RIG_TEST(waiting_inside_a_handler_of_the_same_loop_is_misuse)
{
	cleat_server_add_tool(
		g->s,
		&(cleat_tool){ .name = "self", .call = tool_calls_itself, .userdata = &g->c });
	assert_text(cleat_client_callf(g->c, "self", NULL), cleat_strstatus(CLEAT_EMISUSE));
}

static void chain(cleat_call *call, cleat_result *r)
{
	struct ending *e = cleat_call_userdata(call);
	cleat_call_options o = { .on_done = chain, .userdata = e };

	assert_ok(r);
	cleat_result_free(r);
	if (++e->progress < 100)
		assert_non_null(cleat_client_startf(cleat_call_client(call), &o, "echo",
						    "{text: 'again'}"));
	else
		e->count = 1;
}

RIG_TEST(the_next_call_starts_in_on_done)
{
	struct ending e = { 0 };
	cleat_call_options o = { .on_done = chain, .userdata = &e };

	assert_non_null(cleat_client_startf(g->c, &o, "echo", "{text: 'first'}"));
	wait_ending(g->c, &e);
	assert_int_equal(e.progress, 100);
}

RIG_TEST(the_other_starters)
{
	struct ending e[2] = { { 0 } };

	cleat_client_start_requestf(g->c, ENDING(&e[0]), "resources/read", "{uri: %s}",
				    "text://motto");
	cleat_client_start_list(g->c, ENDING(&e[1]), CLEAT_LIST_PROMPTS);
	wait_ending(g->c, &e[0]);
	wait_ending(g->c, &e[1]);
	assert_string_equal(e[0].text, "Make it fast.");
	assert_int_equal(e[1].status, CLEAT_OK);
	assert_int_equal(cleat_client_notifyf(g->c, "notifications/x", "{a: %d}", 1), CLEAT_OK);
}

/* A step that has ended the call must not go on waiting for something else; the next thing to happen
 * would be the timeout of the call that hangs, in a minute. */
RIG_TEST(nobody_waits_when_it_is_over)
{
	uint64_t begun = loop_now();
	static struct ending hangs, e; /* outlive the case */

	cleat_client_startf(g->c, ENDING(&hangs), "hang", NULL);
	while (!hangs.progress)
		cleat_loop_step(cleat_client_loop(g->c), 20000);
	for (int i = 0; i < 20; i++) {
		assert_text(cleat_client_callf(g->c, "echo", "{text: 'x'}"), "x");
		e.count = 0;
		cleat_client_startf(g->c, ENDING(&e), "echo", "{text: 'y'}");
		while (!e.count)
			cleat_loop_step(cleat_client_loop(g->c), -1);
		e.count = 0;
		cleat_call_cancel(cleat_client_startf(g->c, ENDING(&e), "hang", NULL));
		while (!e.count)
			cleat_loop_step(cleat_client_loop(g->c), -1);
	}
	assert_true(loop_now() - begun < 40000);
}

/* ---- other loops -------------------------------------------------------------------------- */

/* The program polls the loop's descriptor; nothing else makes the client go on. */
RIG_TEST(inside_a_foreign_loop)
{
	struct ending e = { 0 };
	cleat_call_options o = ending_options(&e);
	cleat_loop *loop;

	loop = cleat_client_loop(g->c);
	for (int i = 0; i < 3; i++) {
		e.count = 0;
		assert_non_null(cleat_client_startf(g->c, &o, "echo", "{text: 'polled'}"));
		while (!e.count) {
			struct pollfd p = { .fd = cleat_loop_fd(loop), .events = POLLIN };
			int ms = cleat_loop_timeout(loop);

			assert_int_not_equal(poll(&p, 1, ms < 0 ? 10000 : ms) == 0 && ms < 0, 1);
			assert_int_equal(cleat_loop_step(loop, 0), CLEAT_OK);
		}
		assert_string_equal(e.text, "polled");
	}
}

TEST(clients_share_a_loop)
{
	cleat_loop *loop = cleat_loop_new(NULL);
	cleat_server *s = cleat_server_new("shared", "1", &(cleat_server_options){ .loop = loop });
	cleat_client_options o = { .loop = loop };
	struct ending e[2] = { { 0 } };
	cleat_client *c[2];

	add_all(s, NULL);
	for (int i = 0; i < 2; i++) {
		c[i] = cleat_client_inproc(s, &o);
		assert_ptr_equal(cleat_client_loop(c[i]), loop);
	}
	cleat_client_startf(c[0], ENDING(&e[0]), "echo", "{text: 'first'}");
	cleat_client_startf(c[1], ENDING(&e[1]), "hang", NULL);
	assert_text(cleat_client_callf(c[1], "echo", "{text: 'x'}"), "x");
	wait_ending(c[0], &e[0]);
	cleat_client_free(c[1]);
	assert_int_equal(e[1].status, CLEAT_ECLOSED);
	assert_text(cleat_client_callf(c[0], "echo", "{text: 'alone'}"), "alone");
	cleat_client_free(c[0]);
	assert_int_equal(cleat_loop_step(loop, 0),
			 CLEAT_ECLOSED); /* nothing is attached any more */
	cleat_server_free(s);
	cleat_loop_free(loop);
}
