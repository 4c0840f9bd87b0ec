/* test_client_matrix.c - every way to reach a server, in every revision, with one of each thing that
 * client and server can do together: our client and our server, the fixture of the wire tests.
 *
 * The server is in this process and on the client's loop, except where it is a child: then it is this
 * program again.
 */
#include "unit/client/test_client.h"

#include "loop/loop.h"
#include "wire/fixture.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { PATIENCE_MS = 60000 };

/* ---- servers ------------------------------------------------------------------------------ */

struct bench {
	cleat_loop *loop;
	cleat_server *s;
	struct fixture fixture;
	int listener;
	struct loop_watch *watch;
	int accepted[8];
	size_t n_accepted;
	char address[200], path[100];
	const char *self; /* this program */
	/* what the client has heard */
	int logs;
	cleat_client *c;
};

static void on_connection(void *ctx, unsigned events, bool failed)
{
	struct bench *b = ctx;
	int fd = accept(b->listener, NULL, NULL);

	(void)events;
	(void)failed;
	if (fd < 0 || b->n_accepted == CLEAT_COUNT(b->accepted))
		return;
	b->accepted[b->n_accepted++] = fd;
	cleat_server_attach_fds(b->s, fd, fd);
}

static void serve_socket(struct bench *b, const struct sockaddr *at, socklen_t n)
{
	b->listener = socket(at->sa_family, SOCK_STREAM, 0);
	assert_true(b->listener >= 0);
	assert_int_equal(bind(b->listener, at, n), 0);
	assert_int_equal(listen(b->listener, 8), 0);
	assert_int_equal(loop_watch_new(b->loop, b->listener, on_connection, b, &b->watch),
			 CLEAT_OK);
	loop_watch_set(b->watch, LOOP_READ);
}

static void temporary_path(struct bench *b)
{
	snprintf(b->path, sizeof b->path, "/tmp/cleat-matrix-%ld.sock", (long)getpid());
	unlink(b->path);
}

static void serve_tcp(struct bench *b)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof at;

	serve_socket(b, (struct sockaddr *)&at, sizeof at);
	assert_int_equal(getsockname(b->listener, (struct sockaddr *)&at, &n), 0);
	snprintf(b->address, sizeof b->address, "tcp://127.0.0.1:%d", ntohs(at.sin_port));
}

static void serve_unix(struct bench *b)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	temporary_path(b);
	snprintf(at.sun_path, sizeof at.sun_path, "%s", b->path);
	serve_socket(b, (struct sockaddr *)&at, sizeof at);
	snprintf(b->address, sizeof b->address, "unix-stream:%s", b->path);
}

static void serve_http(struct bench *b)
{
	assert_int_equal(cleat_server_listen_http(b->s, "127.0.0.1:0", NULL), CLEAT_OK);
	snprintf(b->address, sizeof b->address, "%s", cleat_server_http_url(b->s, 0));
}

static void serve_old_sse(struct bench *b)
{
	char *path;

	serve_http(b);
	path = strstr(b->address, "/mcp");
	assert_non_null(path);
	memcpy(path, "/sse", 4);
}

static void serve_http_unix(struct bench *b)
{
	char where[120];

	temporary_path(b);
	snprintf(where, sizeof where, "unix:%s", b->path);
	assert_int_equal(cleat_server_listen_http(b->s, where, NULL), CLEAT_OK);
	snprintf(b->address, sizeof b->address, "unix://%s#/mcp", b->path);
}

/* ---- clients ------------------------------------------------------------------------------ */

static cleat_client *connect_address(struct bench *b, const cleat_client_options *o)
{
	return cleat_client_connect(b->address, o);
}

static cleat_client *connect_inproc(struct bench *b, const cleat_client_options *o)
{
	return cleat_client_inproc(b->s, o);
}

static cleat_client *connect_child(struct bench *b, const cleat_client_options *o)
{
	const char *const argv[] = { b->self, "--serve", NULL };

	return cleat_client_spawn(argv, o);
}

static cleat_client *connect_fds(struct bench *b, const cleat_client_options *o)
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, b->accepted), 0);
	b->n_accepted = 2;
	assert_int_equal(cleat_server_attach_fds(b->s, b->accepted[0], b->accepted[0]), CLEAT_OK);
	return cleat_client_attach(b->accepted[1], b->accepted[1], o);
}

static const struct way {
	const char *name;
	void (*serve)(struct bench *b); /* NULL: not needed */
	cleat_client *(*connect)(struct bench *b, const cleat_client_options *o);
	bool old_sse;
} ways[] = {
	{ "in process", NULL, connect_inproc, false },
	{ "a child", NULL, connect_child, false },
	{ "two descriptors", NULL, connect_fds, false },
	{ "a TCP stream", serve_tcp, connect_address, false },
	{ "a Unix stream", serve_unix, connect_address, false },
	{ "HTTP", serve_http, connect_address, false },
	{ "HTTP over a Unix socket", serve_http_unix, connect_address, false },
	{ "HTTP+SSE", serve_old_sse, connect_address, true },
};

/* ---- what the client answers -------------------------------------------------------------- */

static int on_form(cleat_request *req)
{
	const cleat_json *wanted = cleat_json_get(cleat_arg(req, "requestedSchema"), "properties");

	if (cleat_json_get(wanted, "username"))
		return cleat_reply_jsonf(req, "{username: 'ann', email: %s}", "ann@example.com");
	return cleat_reply_jsonf(req, "{name: %s}", "Ann");
}

static int on_sampling(cleat_request *req)
{
	cleat_reply_model(req, "parrot");
	return cleat_reply_text(req, "Paris");
}

static void on_log(cleat_client *c, int level, const char *logger, const cleat_json *data,
		   void *userdata)
{
	(void)c;
	(void)logger;
	(void)data;
	if (level == CLEAT_LOG_INFO)
		((struct bench *)userdata)->logs++;
}

static void open_bench(struct bench *b, const struct way *w, const char *revision, const char *self)
{
	static const cleat_root roots[] = { { .uri = "file:///a", .name = "A" },
					    { .uri = "file:///b" } };
	cleat_client_options o = { .protocol = revision,
				   .userdata = b,
				   .on_form = on_form,
				   .on_sampling = on_sampling,
				   .roots = roots,
				   .n_roots = 2,
				   .on_log = on_log,
				   .log_level = "info",
				   .old_sse = w->old_sse };

	*b = (struct bench){ .listener = -1, .self = self };
	b->loop = cleat_loop_new(NULL);
	assert_non_null(b->loop);
	o.loop = b->loop;
	b->s = cleat_server_new(
		"fixture", "1.0.0",
		&(cleat_server_options){ .loop = b->loop, .userdata = &b->fixture });
	fixture_add_all(b->s);
	if (w->serve)
		w->serve(b);
	b->c = w->connect(b, &o);
	assert_non_null(b->c);
}

static void close_bench(struct bench *b)
{
	cleat_client_free(b->c);
	fixture_finish_all(&b->fixture);
	loop_watch_free(b->watch);
	cleat_server_free(b->s);
	for (size_t i = 0; i < b->n_accepted; i++)
		close(b->accepted[i]);
	if (b->listener >= 0)
		close(b->listener);
	if (b->path[0])
		unlink(b->path);
	cleat_loop_free(b->loop);
}

/* ---- operations --------------------------------------------------------------------------- */

static bool at_least(const struct bench *b, const char *revision)
{
	return strcmp(cleat_client_revision(b->c), revision) >= 0;
}

static void lists(struct bench *b)
{
	static const size_t least[] = { [CLEAT_LIST_TOOLS] = 50,
					[CLEAT_LIST_RESOURCES] = 3,
					[CLEAT_LIST_TEMPLATES] = 2,
					[CLEAT_LIST_PROMPTS] = 3 };

	for (size_t i = 0; i < CLEAT_COUNT(least); i++) {
		cleat_result *r = cleat_client_list(b->c, (enum cleat_list)i);

		assert_ok(r);
		assert_true(cleat_json_size(cleat_result_items(r)) > least[i]);
		cleat_result_free(r);
	}
	assert_fails(cleat_client_list(b->c, (enum cleat_list)77), CLEAT_EINVAL);
}

static void calls(struct bench *b)
{
	cleat_doc *args = cleat_doc_newf(NULL, "{text: %s}", "from a value");
	cleat_result *r;

	assert_text(cleat_client_callf(b->c, "test_simple_text", NULL),
		    "This is a simple text response for testing.");
	assert_text(cleat_client_call(b->c, "echo", cleat_doc_root(args)), "from a value");
	cleat_doc_free(args);
	assert_text(cleat_client_requestf(b->c, "tools/call", "{name: %s, arguments: {text: %s}}",
					  "echo", "by hand"),
		    "by hand");
	r = cleat_client_call(b->c, "structured", NULL);
	assert_ok(r);
	if (at_least(b, "2025-06-18"))
		assert_int_equal(cleat_json_type(cleat_result_json(r)), CLEAT_JSON_OBJECT);
	cleat_result_free(r);
	r = cleat_client_callf(b->c, "test_error_handling", NULL);
	assert_true(cleat_result_is_tool_error(r));
	assert_int_equal(cleat_result_step(r), CLEAT_STEP_ANSWER);
	assert_fails(r, CLEAT_EREMOTE);
	r = cleat_client_callf(b->c, "nobody", NULL);
	assert_int_equal(cleat_result_error(r)->rpc_code, CLEAT_RPC_INVALID_PARAMS);
	assert_fails(r, CLEAT_EREMOTE);
	assert_text(cleat_client_callf(b->c, "test_x_mcp_header", "{region: %s}", "Malm\xc3\xb6"),
		    "region=Malm\xc3\xb6");
	assert_fails(cleat_client_requestf(b->c, "no/such/method", NULL), CLEAT_EREMOTE);
	r = cleat_client_ping(b->c);
	assert_ok(r);
	assert_false(cleat_result_is_cached(r));
	cleat_result_free(r);
}

static void contents(struct bench *b)
{
	cleat_result *r = cleat_client_callf(b->c, "test_multiple_content_types", NULL);
	cleat_content block;

	assert_ok(r);
	assert_true(cleat_result_content(r, 1, &block));
	assert_int_equal(block.kind, CLEAT_CONTENT_IMAGE);
	assert_int_equal(block.size, sizeof fixture_png);
	assert_memory_equal(block.data, fixture_png, sizeof fixture_png);
	cleat_result_free(r);
	r = cleat_client_callf(b->c, "huge", "{bytes: %d}", 300000);
	assert_ok(r);
	assert_true(strlen(cleat_result_text(r)) >= 300000);
	cleat_result_free(r);
}

static void progress_and_log(struct bench *b)
{
	struct ending e = { 0 };
	cleat_call_options o = { .on_progress = ending_progress, .userdata = &e };

	assert_text(cleat_client_request_withf(
			    b->c, &o, "tools/call",
			    "{name: 'progress', arguments: {steps: [1, 2, 3], total: 3}}"),
		    "3 steps");
	assert_int_equal(e.progress, 3);
	b->logs = 0;
	assert_text(cleat_client_callf(b->c, "test_tool_with_logging", NULL), "Logged");
	assert_int_equal(b->logs, 3);
}

static void questions(struct bench *b)
{
	cleat_result *r;

	if (at_least(b, "2025-06-18")) {
		r = cleat_client_callf(b->c, "test_elicitation", "{message: %s}", "Who?");
		assert_ok(r);
		assert_has(cleat_result_text(r), "ann@example.com");
		cleat_result_free(r);
	}
	assert_text(cleat_client_callf(b->c, "test_sampling", "{prompt: %s}", "Capital?"),
		    "LLM response: Paris");
	assert_text(cleat_client_callf(b->c, "test_input_required_result_list_roots", NULL),
		    "Roots: 2");
	if (at_least(b, "2025-06-18"))
		assert_text(cleat_client_callf(b->c, "test_input_required_result_multiple_inputs",
					       NULL),
			    "Ann, Paris, 2 roots");
}

static void reads_and_prompts(struct bench *b)
{
	cleat_doc *known = cleat_doc_newf(NULL, "{arg1: 'X'}");
	cleat_result *r = cleat_client_read(b->c, "test://static-text");

	assert_ok(r);
	assert_true(cleat_result_text(r)[0]);
	cleat_result_free(r);
	assert_fails(cleat_client_read(b->c, "nowhere://x"), CLEAT_EREMOTE);
	/* Arguments of prompts are text, whatever the template makes of them. */
	assert_text(cleat_client_promptf(b->c, "test_prompt_with_arguments",
					 "{arg1: %d, arg2: true}", 3),
		    "Prompt with arguments: arg1='3', arg2='true'");
	assert_fails(cleat_client_promptf(b->c, "test_prompt_with_arguments", NULL), CLEAT_EREMOTE);
	r = cleat_client_complete(b->c, "test_prompt_with_arguments", "arg2", NULL,
				  cleat_doc_root(known));
	assert_ok(r);
	assert_string_equal(cleat_json_str(cleat_json_at(cleat_result_items(r), 1), ""),
			    "testValueX2");
	cleat_result_free(r);
	r = cleat_client_complete(b->c, "total://{x}", "x", "", NULL);
	assert_ok(r);
	cleat_result_free(r);
	cleat_doc_free(known);
}

struct heard {
	int tools, resource, ends;
};

static void on_change(cleat_watch *w, enum cleat_change_kind what, const char *uri)
{
	struct heard *h = cleat_watch_userdata(w);

	h->tools += what == CLEAT_CHANGE_TOOLS;
	h->resource +=
		what == CLEAT_CHANGE_RESOURCE && uri && strcmp(uri, "test://watched-resource") == 0;
}

static void on_end(cleat_watch *w, const cleat_error *why)
{
	struct heard *h = cleat_watch_userdata(w);

	print_error("the watch has ended: %s\n", why->message);
	h->ends++;
}

/* Until it is heard; the watch may begin a moment after the first change. */
static void change_until(struct bench *b, const int *heard, const char *tool,
			 const cleat_json *args)
{
	uint64_t until = loop_now() + PATIENCE_MS;

	while (!*heard && loop_now() < until) {
		cleat_result *r = cleat_client_call(b->c, tool, args);

		assert_ok(r);
		cleat_result_free(r);
		for (int i = 0; i < 20 && !*heard; i++)
			cleat_loop_step(b->loop, 10);
	}
	assert_true(*heard > 0);
}

static void changes(struct bench *b)
{
	static const char *const uris[] = { "test://watched-resource", NULL };
	cleat_doc *args = cleat_doc_newf(NULL, "{uri: %s}", uris[0]);
	struct heard h = { 0 };
	cleat_watch *w =
		cleat_client_watch(b->c, &(cleat_watch_options){ .lists = CLEAT_CHANGE_TOOLS,
								 .uris = uris,
								 .on_change = on_change,
								 .on_end = on_end,
								 .userdata = &h });

	assert_non_null(w);
	change_until(b, &h.tools, "test_trigger_tool_change", NULL);
	change_until(b, &h.resource, "touch", cleat_doc_root(args));
	cleat_doc_free(args);
	assert_int_equal(h.ends, 0);
	cleat_watch_free(w);
	assert_text(cleat_client_callf(b->c, "echo", "{text: 'after'}"), "after");
}

static void giving_up(struct bench *b)
{
	struct ending e = { 0 };
	cleat_call_options o = ending_options(&e);
	cleat_call *call = cleat_client_startf(b->c, &o, "park_until_cancelled", "{key: %s}", "k");

	assert_non_null(call);
	for (int i = 0; i < 5; i++)
		cleat_loop_step(b->loop, 5);
	cleat_call_cancel(call);
	wait_ending(b->c, &e);
	assert_int_equal(e.status, CLEAT_ECANCELLED);
	assert_text(cleat_client_callf(b->c, "echo", "{text: 'after'}"), "after");
}

static void many_at_once(struct bench *b)
{
	struct ending e[40] = { { 0 } };

	for (size_t i = 0; i < CLEAT_COUNT(e); i++)
		assert_non_null(cleat_client_startf(b->c, ENDING(&e[i]), "calculator/add",
						    "{a: %zu, b: 1}", i));
	for (size_t i = 0; i < CLEAT_COUNT(e); i++) {
		wait_ending(b->c, &e[i]);
		assert_int_equal(e[i].status, CLEAT_OK);
		assert_int_equal(atoi(e[i].text), (int)i + 1);
	}
}

static void (*const operations[])(struct bench *b) = {
	lists,   calls,     contents,     progress_and_log, questions, reads_and_prompts,
	changes, giving_up, many_at_once,
};

/* ---- the matrix --------------------------------------------------------------------------- */

static const char *self;

static void every_operation(const struct way *w, const char *revision)
{
	struct bench b;

	print_message("  %s, %s\n", w->name, revision ? revision : "the best");
	open_bench(&b, w, revision, self);
	for (size_t i = 0; i < CLEAT_COUNT(operations); i++)
		operations[i](&b);
	if (revision)
		assert_string_equal(cleat_client_revision(b.c), revision);
	else
		assert_string_equal(cleat_client_revision(b.c),
				    w->old_sse ? "2025-11-25" : "2026-07-28");
	close_bench(&b);
}

/* 2026-07-28 cannot be spoken over HTTP+SSE. */
static void every_way(void **state)
{
	const struct way *w = *state;

	for (size_t i = 0; i < CLEAT_COUNT(revisions); i++)
		if (!w->old_sse || !revisions[i] || strcmp(revisions[i], "2026-07-28") != 0)
			every_operation(w, revisions[i]);
}

/* What is left under way, when the client is freed, ends. */
static void freed_in_the_middle(void **state)
{
	const struct way *w = *state;

	for (size_t i = 0; i < CLEAT_COUNT(revisions); i++) {
		struct ending e[3] = { { 0 } };
		struct bench b;

		if (w->old_sse && revisions[i] && strcmp(revisions[i], "2026-07-28") == 0)
			continue;
		open_bench(&b, w, revisions[i], self);
		for (size_t k = 0; k < CLEAT_COUNT(e); k++)
			cleat_client_startf(b.c, ENDING(&e[k]), "park_until_cancelled",
					    "{key: 'k'}");
		if (i % 2)
			assert_int_equal(cleat_client_open(b.c), CLEAT_OK);
		close_bench(&b);
		for (size_t k = 0; k < CLEAT_COUNT(e); k++) {
			assert_int_equal(e[k].count, 1);
			assert_int_equal(e[k].status, CLEAT_ECLOSED);
		}
	}
}

static int serve(int argc, char **argv)
{
	static struct fixture fixture;
	cleat_server *s = cleat_server_new("fixture", "1.0.0",
					   &(cleat_server_options){ .userdata = &fixture });

	fixture_add_all(s);
	argv[1] = (char *)"--stdio";
	return cleat_server_main(s, argc, argv);
}

TEST_START(argc, argv)
{
	static char names[2 * CLEAT_COUNT(ways)][100];

	if (argc > 1)
		return serve(argc, argv);
	self = argv[0];
	for (size_t i = 0; i < CLEAT_COUNT(names); i++) {
		const struct way *w = &ways[i / 2];

		snprintf(names[i], sizeof names[i], "%s: %s", w->name,
			 i % 2 ? "freed in the middle" : "every operation in every revision");
		test_add(&(struct CMUnitTest){ .name = names[i],
					       .test_func = i % 2 ? freed_in_the_middle : every_way,
					       .initial_state = (void *)w });
	}
	return TEST_GO_ON;
}
