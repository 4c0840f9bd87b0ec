/* test_sized.c - programs that were compiled against a newer Cleat: every public function that takes a
 * struct with its size takes a longer one as long as what it does not know is zero, and refuses it with the
 * reason otherwise. The same for reserved room.
 *
 * A function of cmake/libcleat.symbols whose name ends in _ and that has no row here fails the test.
 */
#define _POSIX_C_SOURCE 200809L

#include "support.h"
#include "test.h"

#include <cleat/cleat.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MORE = 24, BIGGEST = 1024 };

/* What the functions are tried with. */
static cleat_server *server;
static cleat_client *client;
static cleat_error why;
static const void *asked_with;
static size_t asked_size;

/* ---- uses: each gives the status that its function ended with, and the words in `why` ---- */

/* One that is an expression of `p` and `size`. */
#define USE(name, value)                                                                           \
	static int name(void *p, size_t size)                                                      \
	{                                                                                          \
		return value;                                                                      \
	}

static int of_server(int rc)
{
	why = *cleat_server_error(server);
	return rc;
}

static int of_result(cleat_result *r)
{
	int rc = cleat_result_status(r);

	why = *cleat_result_error(r);
	cleat_result_free(r);
	return rc;
}

static int handler(cleat_request *req)
{
	return cleat_reply_text(req, "done");
}

static int sampler(cleat_request *req)
{
	const char *text;
	int rc = cleat_ask_sampling_(req, "k", asked_with, asked_size, &text, NULL);

	return rc ? rc : cleat_reply_text(req, text);
}

static int send_nothing(void *userdata, const char *bytes, size_t n)
{
	(void)userdata, (void)bytes, (void)n;
	return CLEAT_OK;
}

static void on_done(cleat_call *call, cleat_result *r)
{
	*(int *)cleat_call_userdata(call) = of_result(r);
}

static int done_status;

static int started(const cleat_call *call)
{
	assert_non_null(call);
	for (done_status = CLEAT_PENDING; done_status == CLEAT_PENDING;)
		cleat_loop_step(cleat_client_loop(client), -1);
	return done_status;
}

static int use_server_new(void *p, size_t size)
{
	cleat_server *s = cleat_server_new_("s", "1", p, size);
	int rc = cleat_server_error(s)->status;

	why = *cleat_server_error(s);
	cleat_server_free(s);
	return rc;
}

static int use_tools(void *p, size_t size)
{
	*(cleat_tool *)p = (cleat_tool){ .name = "t", .call = handler };
	return of_server(cleat_server_add_tools_(server, p, 1, size));
}

static int use_resources(void *p, size_t size)
{
	*(cleat_resource *)p = (cleat_resource){ .uri = "a:b", .text = "x" };
	return of_server(cleat_server_add_resources_(server, p, 1, size));
}

static int use_prompts(void *p, size_t size)
{
	*(cleat_prompt *)p = (cleat_prompt){ .name = "p", .get = handler };
	return of_server(cleat_server_add_prompts_(server, p, 1, size));
}

static int use_methods(void *p, size_t size)
{
	*(cleat_method *)p = (cleat_method){ .name = "com.example/m", .call = handler };
	return of_server(cleat_server_add_methods_(server, p, 1, size));
}
USE(use_http, of_server(cleat_server_listen_http_(server, "127.0.0.1:0", p, size)))

static int use_main_parse(void *p, size_t size)
{
	char *argv[] = { "program", NULL };
	cleat_main_options *o = p;
	int rc = cleat_main_parse_(o, 1, argv, size, sizeof *o->http);

	why = o->error;
	cleat_main_done(o);
	return rc;
}

/* What the options point to travels with its size as well. */
static int use_main_http(void *p, size_t size)
{
	cleat_main_options o = { .http = p };
	int rc = cleat_main_parse_(&o, 1, (char *[]){ "program", NULL }, sizeof o, size);

	why = o.error;
	if (!rc) /* and the library's own is as long as it is */
		rc = cleat_main_parse_(&o, 1, (char *[]){ "program", NULL }, sizeof o, size);
	cleat_main_done(&o);
	return rc;
}

/* It prints the reason, and fails. */
static int use_run_main(void *p, size_t size)
{
	cleat_main_options *o = p;
	int status;

	o->error = (cleat_error){ .status = CLEAT_OK };
	o->action = CLEAT_MAIN_VERSION;
	o->program = "newer Cleat";
	status = cleat_server_run_main_(cleat_server_new("s", "1", NULL), o, size, 0);
	snprintf(why.message, sizeof why.message, "newer Cleat");
	return status == 1 ? CLEAT_EUNSUPPORTED : status;
}

static int use_wire(void *p, size_t size)
{
	cleat_wire *w = cleat_wire_server_(server, p, size);
	int rc = w ? CLEAT_OK : cleat_server_error(server)->status;

	cleat_wire_free(w);
	return of_server(rc);
}

static int use_server_attach(void *p, size_t size)
{
	int ends[2], rc;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	((cleat_attach_options *)p)->own_fds = true; /* also when it is refused */
	rc = cleat_server_attach_(server, ends[0], ends[0], p, size);
	assert_int_equal(recv(ends[1], &(char){ 0 }, 1, MSG_DONTWAIT), rc ? 0 : -1);
	close(ends[1]);
	return of_server(rc);
}

/* The reason is that of the client's calls, before there is anything to reach. */
static int of_client(cleat_client *c)
{
	int rc = cleat_client_error(c)->status;

	why = *cleat_client_error(c);
	cleat_client_free(c);
	return rc;
}
USE(use_spawn, of_client(cleat_client_spawn_((const char *[]){ "true", NULL }, p, size)))
USE(use_connect, of_client(cleat_client_connect_("unix-stream:/nowhere", p, size)))
USE(use_inproc, of_client(cleat_client_inproc_(server, p, size)))
USE(use_attach, of_client(cleat_client_attach_(0, 1, p, size)))

static cleat_call_options *waits_not(void *p)
{
	*(cleat_call_options *)p =
		(cleat_call_options){ .on_done = on_done, .userdata = &done_status };
	return p;
}
USE(use_startf, started(cleat_client_startf_(size, client, waits_not(p), "tool", NULL)))
USE(use_start_call, started(cleat_client_start_call_(client, waits_not(p), size, "tool", NULL)))
USE(use_start_requestf,
    started(cleat_client_start_requestf_(size, client, waits_not(p), "tools/list", NULL)))
USE(use_start_list, started(cleat_client_start_list_(client, waits_not(p), size, CLEAT_LIST_TOOLS)))
USE(use_call_withf, of_result(cleat_client_call_withf_(size, client, p, "tool", NULL)))
USE(use_request_withf, of_result(cleat_client_request_withf_(size, client, p, "tools/list", NULL)))

static void on_end(cleat_watch *w, const cleat_error *end)
{
	(void)w;
	why = *end;
}

static int use_watch(void *p, size_t size)
{
	cleat_watch *w;

	why = (cleat_error){ 0 };
	*(cleat_watch_options *)p =
		(cleat_watch_options){ .lists = CLEAT_CHANGE_TOOLS, .on_end = on_end };
	w = cleat_client_watch_(client, p, size);
	assert_non_null(w);
	cleat_result_free(cleat_client_ping(client)); /* steps the loop */
	cleat_watch_free(w);
	return why.status;
}

static int use_sampling(void *p, size_t size)
{
	int rc;

	*(cleat_sampling *)p = (cleat_sampling){ .prompt = "hello" };
	asked_with = p;
	asked_size = size;
	rc = of_result(cleat_client_callf(client, "sampler", NULL));
	return rc == CLEAT_EREMOTE ? CLEAT_EUNSUPPORTED : rc;
}

/* These two can say no more than no. */
static int bare(int rc)
{
	snprintf(why.message, sizeof why.message, "newer Cleat");
	return rc;
}

static int use_rpc_new(void *p, size_t size)
{
	cleat_rpc *rpc;

	((cleat_rpc_options *)p)->send = send_nothing;
	rpc = cleat_rpc_new_(p, size);
	cleat_rpc_free(rpc);
	return bare(rpc ? CLEAT_OK : CLEAT_EUNSUPPORTED);
}

static int use_rpc_request(void *p, size_t size)
{
	cleat_rpc *rpc = cleat_rpc_new(&(cleat_rpc_options){ .send = send_nothing });
	int64_t rc = cleat_rpc_request_(size, rpc, p, "m", NULL);

	cleat_rpc_free(rpc);
	return bare(rc > 0 ? CLEAT_OK : (int)rc);
}

static int of_wire(cleat_wire *w)
{
	int rc = of_client(cleat_wire_get_client(w)); /* who is not freed by that */

	cleat_wire_free(w);
	return rc;
}
USE(use_wire_client, of_wire(cleat_wire_client_(p, size, NULL, 0)))
USE(use_wire_of_client, of_wire(cleat_wire_client_(NULL, 0, p, size)))

static int use_schema_new(void *p, size_t size)
{
	cleat_doc *d = cleat_doc_newf(NULL, "{type: 'object'}");
	cleat_schema *s = cleat_schema_new_(cleat_doc_root(d), p, size, &why);
	int rc = s ? CLEAT_OK : why.status;

	cleat_schema_free(s);
	cleat_doc_free(d);
	return rc;
}

static int use_schema_parse(void *p, size_t size)
{
	cleat_schema *s = cleat_schema_parse_("{}", 2, p, size, &why);
	int rc = s ? CLEAT_OK : why.status;

	cleat_schema_free(s);
	return rc;
}

static int use_content(void *p, size_t size)
{
	cleat_result *r = cleat_client_callf(client, "tool", NULL);
	const unsigned char *tail = (unsigned char *)p + sizeof(cleat_content);
	cleat_content *c = p;

	assert_true(cleat_result_content_(r, 0, c, size));
	assert_string_equal(c->text, "done");
	for (size_t i = 0; i < size - sizeof *c; i++)
		assert_int_equal(tail[i], 0); /* is filled in, not looked at */
	cleat_result_free(r);
	return bare(CLEAT_OK);
}

static const struct sized_row {
	const char *function;
	size_t size;
	int (*use)(void *p, size_t size);
	bool out;
} rows[] = {
	{ "cleat_server_new_", sizeof(cleat_server_options), use_server_new, false },
	{ "cleat_server_add_tools_", sizeof(cleat_tool), use_tools, false },
	{ "cleat_server_add_resources_", sizeof(cleat_resource), use_resources, false },
	{ "cleat_server_add_prompts_", sizeof(cleat_prompt), use_prompts, false },
	{ "cleat_server_add_methods_", sizeof(cleat_method), use_methods, false },
	{ "cleat_server_listen_http_", sizeof(cleat_http_options), use_http, false },
	{ "cleat_main_parse_", sizeof(cleat_main_options), use_main_parse, false },
	{ "cleat_main_parse_", sizeof(cleat_http_options), use_main_http, false },
	{ "cleat_server_run_main_", sizeof(cleat_main_options), use_run_main, false },
	{ "cleat_wire_server_", sizeof(cleat_wire_options), use_wire, false },
	{ "cleat_wire_client_", sizeof(cleat_client_options), use_wire_client, false },
	{ "cleat_wire_client_", sizeof(cleat_wire_options), use_wire_of_client, false },
	{ "cleat_server_attach_", sizeof(cleat_attach_options), use_server_attach, false },
	{ "cleat_client_spawn_", sizeof(cleat_client_options), use_spawn, false },
	{ "cleat_client_connect_", sizeof(cleat_client_options), use_connect, false },
	{ "cleat_client_inproc_", sizeof(cleat_client_options), use_inproc, false },
	{ "cleat_client_attach_", sizeof(cleat_client_options), use_attach, false },
	{ "cleat_client_startf_", sizeof(cleat_call_options), use_startf, false },
	{ "cleat_client_start_call_", sizeof(cleat_call_options), use_start_call, false },
	{ "cleat_client_start_requestf_", sizeof(cleat_call_options), use_start_requestf, false },
	{ "cleat_client_start_list_", sizeof(cleat_call_options), use_start_list, false },
	{ "cleat_client_call_withf_", sizeof(cleat_call_options), use_call_withf, false },
	{ "cleat_client_request_withf_", sizeof(cleat_call_options), use_request_withf, false },
	{ "cleat_client_watch_", sizeof(cleat_watch_options), use_watch, false },
	{ "cleat_ask_sampling_", sizeof(cleat_sampling), use_sampling, false },
	{ "cleat_rpc_new_", sizeof(cleat_rpc_options), use_rpc_new, false },
	{ "cleat_rpc_request_", sizeof(cleat_rpc_request_options), use_rpc_request, false },
	{ "cleat_rpc_requestv_", sizeof(cleat_rpc_request_options), use_rpc_request, false },
	{ "cleat_schema_new_", sizeof(cleat_schema_options), use_schema_new, false },
	{ "cleat_schema_parse_", sizeof(cleat_schema_options), use_schema_parse, false },
	{ "cleat_result_content_", sizeof(cleat_content), use_content, true },
};

static int set_up(void **state)
{
	(void)state;
	server = cleat_server_new("s", "1", NULL);
	cleat_server_add_tool(server, &(cleat_tool){ .name = "tool", .call = handler });
	cleat_server_add_tool(server, &(cleat_tool){ .name = "sampler", .call = sampler });
	client = cleat_client_inproc(server, &(cleat_client_options){ .on_sampling = handler });
	return cleat_client_open(client);
}

static int tear_down(void **state)
{
	(void)state;
	cleat_client_free(client);
	cleat_server_free(server);
	return 0;
}

TEST_WITH(a_longer_struct_is_taken_when_what_is_unknown_is_zero, set_up, tear_down)
{
	for (const struct sized_row *r = rows; r < rows + CLEAT_COUNT(rows); r++) {
		_Alignas(max_align_t) unsigned char p[BIGGEST] = { 0 };
		int rc;

		why = (cleat_error){ 0 };
		rc = r->use(p, r->size + MORE);
		if (rc)
			fail_msg("%s: %s", r->function, why.message);
	}
}

TEST_WITH(a_longer_struct_is_refused_when_what_is_unknown_is_set, set_up, tear_down)
{
	for (const struct sized_row *r = rows; r < rows + CLEAT_COUNT(rows); r++)
		for (size_t at = 0; at < MORE; at += MORE - 1) {
			_Alignas(max_align_t) unsigned char p[BIGGEST] = { 0 };
			int rc;

			assert_true(r->size + MORE <= sizeof p);
			p[r->size + at] = 1;
			rc = r->use(p, r->size + MORE);
			if (rc != (r->out ? CLEAT_OK : CLEAT_EUNSUPPORTED) ||
			    !strstr(why.message, "newer Cleat"))
				fail_msg("%s gave %d: %s", r->function, rc, why.message);
		}
}

TEST_WITH(a_shorter_struct_is_filled_up_with_zeros, set_up, tear_down)
{
	cleat_tool tool = { .name = "short", .call = handler, .meta = "no JSON" };
	cleat_result *r;
	struct {
		enum cleat_content_kind kind;
		const char *role, *text, *mine;
	} block = { .mine = "mine" };

	assert_int_equal(cleat_server_add_tools_(server, &tool, 1, offsetof(cleat_tool, meta)), 0);
	r = cleat_client_callf(client, "short", NULL);
	assert_true(cleat_result_content_(r, 0, (cleat_content *)(void *)&block,
					  offsetof(cleat_content, data)));
	assert_string_equal(block.text, "done");
	assert_string_equal(block.mine, "mine");
	cleat_result_free(r);
}

static void destroyed(void *userdata)
{
	++*(int *)userdata;
}

TEST_WITH(userdata_of_a_refused_tool_is_destroyed_once, set_up, tear_down)
{
	struct {
		cleat_tool tool;
		void *more;
	} two[2];
	int count = 0;

	for (int i = 0; i < 2; i++)
		two[i].tool = (cleat_tool){ .name = i ? "b" : "a",
					    .call = handler,
					    .userdata = &count,
					    .destroy = destroyed },
		two[i].more = i ? &count : NULL;
	assert_int_equal(cleat_server_add_tools_(server, &two[0].tool, 2, sizeof two[0]),
			 CLEAT_EUNSUPPORTED);
	assert_int_equal(count, 2);
	assert_int_equal(cleat_server_remove_tool(server, "a"), CLEAT_ENOENT);
}

TEST(every_function_with_a_size_has_a_row)
{
	char *text = support_read_file(CLEAT_SOURCE_DIR "/cmake/libcleat.symbols", NULL);
	size_t found = 0;

	assert_non_null(text);
	for (char *s = strtok(text, "\n"); s; s = strtok(NULL, "\n")) {
		size_t i = 0;

		if (s[strlen(s) - 1] != '_')
			continue;
		while (i < CLEAT_COUNT(rows) && strcmp(rows[i].function, s) != 0)
			i++;
		if (i == CLEAT_COUNT(rows))
			fail_msg("%s has no row in test_sized.c", s);
		found++;
	}
	assert_true(found > 20);
	free(text);
}

/* ---- reserved room ---- */

static int annotates(cleat_request *req)
{
	return cleat_reply_annotate(req, &(cleat_annotations){ .reserved = { 1 } }, NULL);
}

TEST_WITH(reserved_room_must_be_zero, set_up, tear_down)
{
	const cleat_icon icons[] = { { .src = "https://i", .reserved = { 0, 1 } }, { 0 } };
	const cleat_root root = { .uri = "file:///a", .reserved = { 1 } };
	const cleat_json_limits limits = { .reserved = { 0, 1 } };
	const cleat_annotations note = { .reserved = { 1 } };
	cleat_server_options deep = { .json = limits }, shown = { .icons = icons };
	cleat_client_options reads = { .json = limits }, offers = { .roots = &root, .n_roots = 1 };
	int rc[] = {
		use_server_new(&deep, sizeof deep),
		use_server_new(&shown, sizeof shown),
		use_inproc(&reads, sizeof reads),
		use_inproc(&offers, sizeof offers),
		cleat_client_set_roots(client, &root, 1),
		cleat_server_add_tool(
			server, &(cleat_tool){ .name = "i", .call = handler, .icons = icons }),
		cleat_server_add_prompt(
			server, &(cleat_prompt){ .name = "i", .get = handler, .icons = icons }),
		cleat_server_add_resource(
			server, &(cleat_resource){ .uri = "a:i", .text = "x", .icons = icons }),
		cleat_server_add_resource(
			server,
			&(cleat_resource){ .uri = "a:i", .text = "x", .annotations = &note }),
		cleat_doc_parse("1", 1, &limits, NULL, &why) ? CLEAT_OK : why.status,
	};

	for (size_t i = 0; i < CLEAT_COUNT(rc); i++)
		if (rc[i] != CLEAT_EUNSUPPORTED)
			fail_msg("case %zu gave %d", i, rc[i]);
	assert_null(cleat_rpc_new(&(cleat_rpc_options){ .send = send_nothing, .limits = limits }));
	cleat_server_add_tool(server, &(cleat_tool){ .name = "annotates", .call = annotates });
	assert_int_equal(of_result(cleat_client_callf(client, "annotates", NULL)), CLEAT_EREMOTE);
	assert_non_null(strstr(why.message, "newer Cleat"));
}
