/* test_tap_body.c - what is read out of bodies that pass (program/record/tap/body.c), the address that HTTP+SSE begins with
 * (reroute.c), and the headers that repeat what a message says (mirror.c). */
#include "record/tap/tap.h"
#include "support.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static char said[8192];
static size_t said_n;

static void say(const char *p, size_t n)
{
	assert_true(said_n + n < sizeof said);
	memcpy(said + said_n, p, n);
	said_n += n;
	said[said_n] = '\0';
}

static void forget(void)
{
	said_n = 0;
	said[0] = '\0';
}

/* ---- bodies ------------------------------------------------------------------------------------ */

static void on_message(void *ctx, const char *p, size_t n)
{
	assert_ptr_equal(ctx, said);
	say("[", 1);
	say(p, n);
	say("]", 1);
}

/* HTML standard 9.2.6: CR, LF, CR LF; comments; several lines of data; no data, no event. */
static const struct {
	const char *type, *body, *messages, *id;
} bodies[] = {
	{ "application/json; charset=utf-8", "{\n}", "[{\n}]", "" },
	{ "application/json", "", "", "" },
	{ "text/html", "<p>", "", "" },
	{ NULL, "{}", "", "" },
	{ "text/event-stream", "data: a\n\ndata:b\r\rdata: c\r\n\r\n", "[a][b][c]", "" },
	{ "text/event-stream", ": hi\nid: 7\ndata: a\ndata:  b\nevent: message\n\n", "[a\n b]",
	  "7" },
	{ "Text/Event-Stream;x", "id: 8\n\ndata\n\ndata:\n\ndatas: x\n\n", "", "8" },
	{ "text/event-stream", "data: not complete\n", "", "" },
	/* of HTTP+SSE, and whatever else a server calls its events: no messages */
	{ "text/event-stream", "event: endpoint\ndata: /x\n\ndata: {}\n\n", "[{}]", "" },
	{ "text/event-stream", "id: a\x01\ndata: {}\n\n", "[{}]", "" },
};

static void read_body(size_t i, size_t slice, const cleat_allocator *mem)
{
	struct body *b = body_new(mem, str_of(bodies[i].type), on_message, said);
	size_t n = strlen(bodies[i].body);
	int rc = CLEAT_OK;
	char id[16];

	forget();
	for (size_t k = 0; b && k < n && rc == CLEAT_OK; k += slice)
		rc = body_feed(b, bodies[i].body + k, n - k < slice ? n - k : slice);
	if (b && rc == CLEAT_OK) {
		body_end(b);
		body_last_id(b, id, sizeof id);
		assert_string_equal(said, bodies[i].messages);
		assert_string_equal(id, bodies[i].id);
	} else {
		assert_true(mem && (!b || rc == CLEAT_ENOMEM));
		assert_true(!b || body_feed(b, "x", 1) == rc);
	}
	body_free(b);
}

TEST(messages_are_the_same_in_any_slices)
{
	for (size_t i = 0; i < CLEAT_COUNT(bodies); i++)
		for (size_t slice = 1; slice < 9; slice++)
			read_body(i, slice, NULL);
}

TEST(bodies_without_memory_are_not_read)
{
	for (size_t i = 0; i < CLEAT_COUNT(bodies); i++)
		for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);)
			read_body(i, 3, &fa.hook);
}

static void on_none(void *ctx, const char *p, size_t n)
{
	(void)ctx, (void)p, (void)n;
	fail();
}

TEST(message_over_64_mib_is_none)
{
	static char part[1 << 20];

	memset(part, 'x', sizeof part);
	for (size_t i = 0; i < 2; i++) {
		struct body *b = body_new(
			NULL, str_of(i ? "application/json" : "text/event-stream"), on_none, NULL);
		size_t n = 0;

		assert_non_null(b);
		assert_int_equal(body_feed(b, "data:", 5), CLEAT_OK);
		while (n < 70 && body_feed(b, part, sizeof part) == CLEAT_OK)
			n++;
		assert_in_range(n, 62, 65);
		assert_int_equal(body_feed(b, "\n\n", 2), CLEAT_ELIMIT);
		body_end(b);
		body_free(b);
	}
}

TEST(id_that_has_no_room_is_none)
{
	struct body *b = body_new(NULL, STR_LIT("text/event-stream"), on_message, said);
	char id[4];

	forget();
	assert_int_equal(body_feed(b, "id:123\ndata:x\n\n", 15), CLEAT_OK);
	body_last_id(b, id, sizeof id);
	assert_string_equal(id, "123");
	assert_int_equal(body_feed(b, "id:1234\ndata:x\n\n", 16), CLEAT_OK);
	body_last_id(b, id, sizeof id);
	assert_string_equal(id, "");
	body_free(b);
}

/* ---- the address for messages ------------------------------------------------------------------ */

static void on_bytes(void *ctx, const char *p, size_t n)
{
	assert_ptr_equal(ctx, said);
	say(p, n);
}

#define SAME NULL
/* 2024-11-05 basic/transports, HTTP with SSE: "the server MUST send an endpoint event containing a URI". */
static const struct {
	const char *in, *out;
} streams[] = {
	{ "event: endpoint\ndata: /messages?s=1\n\nevent: message\ndata: {}\n\n", SAME },
	{ "event: endpoint\ndata: messages?s=1\n\n", SAME },
	{ "event: endpoint\ndata: http://server.example:8080/messages?s=1#x\n\ndata: {}\n\n",
	  "event: endpoint\ndata: /messages?s=1\n\ndata: {}\n\n" },
	{ "data: //SERVER.example:8080/m\r\nevent: endpoint\r\n\r\ndata: {}\r\n\r\n",
	  "event: endpoint\ndata: /m\n\n\ndata: {}\r\n\r\n" },
	{ "event:endpoint\rdata:HTTP://server.example:8080\r\rx", "event: endpoint\ndata: /\n\nx" },
	{ "event: endpoint\ndata: http://server.example:8080//m?s\n\n",
	  "event: endpoint\ndata: /.//m?s\n\n" },
	{ "event: endpoint\ndata: http://server.example:8080?s\n\n",
	  "event: endpoint\ndata: /?s\n\n" },
	/* It goes elsewhere: what a client would have made of that it makes of it now. */
	{ "event: endpoint\ndata: http://server.example/messages\n\n", SAME },
	{ "event: endpoint\ndata: https://server.example:8080/messages\n\n", SAME },
	{ "event: endpoint\ndata: http://other.example:8080/messages\n\n", SAME },
	{ "event: endpoint\ndata: http://[\n\n", SAME },
	/* Only the first one is looked at, and a stream of another kind is none. */
	{ ": hi\n\nevent: endpoint\ndata: http://server.example:8080/messages\n\n", SAME },
	{ "data: {}\n\nevent: endpoint\ndata: http://server.example:8080/messages\n\n", SAME },
	{ "event: endpoint\ndata: http://server.example:8080/messages", SAME },
	{ "\n", SAME },
	{ "", SAME },
};

static const char *expected(size_t i)
{
	return streams[i].out ? streams[i].out : streams[i].in;
}

TEST(address_for_messages_leads_back)
{
	const cleat_client_options opts = { 0 };
	cleat_loop *loop = cleat_loop_new(NULL);
	cleat_error err;
	struct back *server =
		back_new(loop, NULL, "http://server.example:8080/sse?x", &opts, NULL, &err);

	assert_non_null(server);
	for (size_t i = 0; i < CLEAT_COUNT(streams); i++)
		for (size_t slice = 1; slice < 20; slice++) {
			struct reroute *r = reroute_new(NULL, server, on_bytes, said);
			size_t n = strlen(streams[i].in);

			assert_non_null(r);
			forget();
			for (size_t k = 0; k < n; k += slice)
				reroute_feed(r, streams[i].in + k, n - k < slice ? n - k : slice);
			reroute_end(r);
			assert_string_equal(said, expected(i));
			reroute_free(r);
		}
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct reroute *r = reroute_new(&fa.hook, server, on_bytes, said);

		forget();
		if (r)
			reroute_feed(r, streams[2].in, strlen(streams[2].in));
		reroute_free(r);
	}
	back_free(server);
	cleat_loop_free(loop);
}

static size_t passed;

static void on_passed(void *ctx, const char *p, size_t n)
{
	(void)ctx, (void)p;
	passed += n;
}

TEST(little_is_held_back)
{
	const cleat_client_options opts = { 0 };
	cleat_loop *loop = cleat_loop_new(NULL);
	struct back *server = back_new(loop, NULL, "http://server.example/", &opts, NULL, NULL);
	struct reroute *r = reroute_new(NULL, server, on_passed, NULL);
	size_t held = 0;

	passed = 0;
	while (!passed && held < 100000) {
		reroute_feed(r, "x", 1);
		held++;
	}
	assert_in_range(held, 1000, 20000);
	assert_int_equal(passed, held);
	/* A comment ends at its empty line. */
	reroute_free(r);
	r = reroute_new(NULL, server, on_passed, NULL);
	passed = 0;
	reroute_feed(r, ":\n\n", 3);
	assert_int_equal(passed, 3);
	reroute_free(r);
	back_free(server);
	cleat_loop_free(loop);
}

/* ---- headers ----------------------------------------------------------------------------------- */

static void say_fields(const struct http_field_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		say(l->at[i].name.p, l->at[i].name.n);
		say(": ", 2);
		say(l->at[i].value.p, l->at[i].value.n);
		say("\n", 1);
	}
}

#define TOOLS                                                                                      \
	"[{'name': 'f', 'inputSchema': {'type': 'object', 'properties': {"                         \
	"'region': {'type': 'string', 'x-mcp-header': 'Region'},"                                  \
	"'level': {'type': 'integer', 'x-mcp-header': 'Level'}, 'other': {'type': 'string'}}}},"   \
	"{'name': 'broken', 'inputSchema': {'type': 'object', 'properties': {"                     \
	"'a': {'type': 'object', 'x-mcp-header': 'A'}}}}]"

/* 2026-07-28 streamable-http: "Standard Request Headers", "Custom Headers from Tool Parameters". */
static const struct {
	const char *message;
	int status;
	const char *lines;
} messages[] = {
	{ "{'method': 'ping'}", CLEAT_OK, "Mcp-Method: ping\n" },
	{ "{'id': 1, 'result': {}}", CLEAT_OK, "" },
	{ "{'method': 'prompts/get', 'params': {'name': 'p', 'uri': 'u'}}", CLEAT_OK,
	  "Mcp-Method: prompts/get\nMcp-Name: p\n" },
	{ "{'method': 'resources/read', 'params': {'name': 'p', 'uri': 'u:x'}}", CLEAT_OK,
	  "Mcp-Method: resources/read\nMcp-Name: u:x\n" },
	{ "{'method': 'tools/call', 'params': {'name': 'g\xc3\xb6'}}", CLEAT_OK,
	  "Mcp-Method: tools/call\nMcp-Name: =?base64?Z8O2?=\n" },
	{ "{'method': 'tools/call', 'params': {'name': 'f', 'arguments': {'region': 'a', 'level': 3, 'other': 'x'}}}",
	  CLEAT_OK,
	  "Mcp-Method: tools/call\nMcp-Name: f\nmcp-param-region: a\nmcp-param-level: 3\n" },
	{ "{'method': 'tools/call', 'params': {'name': 'f', 'arguments': {'region': null}}}",
	  CLEAT_OK, "Mcp-Method: tools/call\nMcp-Name: f\n" },
	{ "{'method': 'tools/call', 'params': {'name': 'broken', 'arguments': {'a': {}}}}",
	  CLEAT_OK, "Mcp-Method: tools/call\nMcp-Name: broken\n" },
	{ "{'method': 'tools/call', 'params': {'name': 'f', 'arguments': {'region': []}}}",
	  CLEAT_EINVAL, "" },
	{ "{'method': 'a b'}", CLEAT_EINVAL, "" },
	{ "5", CLEAT_OK, "" },
};

/* JSON, with ' for ". */
static cleat_doc *json(const char *text)
{
	char copy[1024];
	size_t n = strlen(text);

	assert_true(n < sizeof copy);
	for (size_t i = 0; i < n; i++)
		copy[i] = (char)(text[i] == '\'' ? '"' : text[i]);
	return cleat_doc_parse(copy, n, NULL, NULL, NULL);
}

TEST(fields_repeat_what_the_message_says)
{
	cleat_doc *tools = json(TOOLS);

	assert_non_null(tools);
	for (size_t i = 0; i < CLEAT_COUNT(messages); i++) {
		cleat_doc *doc = json(messages[i].message);

		assert_non_null(doc);
		for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
			struct mirror *m = mirror_new(&fa.hook);
			struct arena ar;
			struct http_field_list list = { .ar = &ar };
			int rc = CLEAT_ENOMEM;
			cleat_error err;

			forget();
			arena_init(&ar, &fa.hook, 0);
			if (m) {
				mirror_learn(m, NULL);
				mirror_learn(m, cleat_doc_root(tools));
				rc = mirror_fields(m, cleat_doc_root(doc), &list, &err);
			}
			say_fields(&list);
			if (!fail_alloc_hit(&fa)) {
				assert_int_equal(rc, messages[i].status);
				assert_string_equal(said, messages[i].lines);
			}
			arena_done(&ar);
			mirror_free(m);
		}
		cleat_doc_free(doc);
	}
	cleat_doc_free(tools);
}
