/* test_cli_transcript.c - transcripts: what is written can be read again, answers find their requests, and the
 * mock says what was recorded (program/transcript/transcript.c, program/record/replay_mock.c). */
#include "support.h"
#include "test.h"

#include "record/replay.h"
#include "unit/program/cli_support.h"

#include <stdlib.h>
#include <string.h>

static const struct verb verb = { .name = "replay" };
static struct cli cli = { .verb = &verb, .quiet = true };

#define REQ(dir, id, method)                                                                       \
	"{\"t\":1,\"dir\":\"" dir "\",\"msg\":{\"jsonrpc\":\"2.0\",\"id\":" id                     \
	",\"method\":\"" method "\"}}\n"
#define RES(dir, id, result)                                                                       \
	"{\"t\":1,\"dir\":\"" dir "\",\"msg\":{\"jsonrpc\":\"2.0\",\"id\":" id                     \
	",\"result\":" result "}}\n"
#define NOTE(dir, method, params)                                                                  \
	"{\"t\":1,\"dir\":\"" dir "\",\"msg\":{\"jsonrpc\":\"2.0\",\"method\":\"" method           \
	"\",\"params\":" params "}}\n"

/* ---- writing --------------------------------------------------------------------------------- */

TEST(a_line_holds_what_was_said_whatever_it_was)
{
	static const struct {
		const char *said;
		size_t n;
		const char *line;
	} cases[] = {
		{ "{\"id\":1}", 8, "{\"t\":1.5,\"dir\":\">\",\"msg\":{\"id\":1}}\n" },
		{ "{\r\n \"id\" : 1.0\n}", 16,
		  "{\"t\":1.5,\"dir\":\">\",\"msg\":{ \"id\" : 1.0}}\n" },
		{ "[]", 2, "{\"t\":1.5,\"dir\":\">\",\"msg\":[]}\n" },
		{ "no \"json\"", 9, "{\"t\":1.5,\"dir\":\">\",\"text\":\"no \\\"json\\\"\"}\n" },
		{ "a\tb", 3, "{\"t\":1.5,\"dir\":\">\",\"text\":\"a\\tb\"}\n" },
		/* no UTF-8, and a zero */
		{ "\xff\\", 2, "{\"t\":1.5,\"dir\":\">\",\"text\":\"\xef\xbf\xbd\\\\\"}\n" },
		{ "a\0b", 3, "{\"t\":1.5,\"dir\":\">\",\"text\":\"a\\u0000b\"}\n" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct text t = { 0 };
		cleat_doc *doc;

		transcript_line(&t, 15, true, cases[i].said, cases[i].n);
		assert_string_equal(text_str(&t), cases[i].line);
		doc = cleat_doc_parse(t.p, t.n, NULL, NULL, NULL);
		assert_non_null(doc);
		cleat_doc_free(doc);
		text_free(&t);
	}
}

/* ---- reading --------------------------------------------------------------------------------- */

static struct tape parse(const char *text, int code)
{
	struct tape t;

	assert_int_equal(tape_parse(NULL, "test", text, strlen(text), &t), code);
	return t;
}

TEST(an_answer_belongs_to_the_nearest_request_of_the_other_side)
{
	struct tape t =
		parse(REQ(">", "1", "a") REQ("<", "1", "b") RES("<", "1", "{}") RES(">", "1", "{}")
			      REQ(">", "1", "c") REQ(">", "\"1\"", "d") RES("<", "1", "{}")
				      RES("<", "1", "{}") RES("<", "\"1\"", "{}"),
		      EXIT_GOOD);
	static const size_t partners[] = { 2, 3, 0, 1, 6, 8, 4, TAPE_NONE, 5 };

	assert_int_equal(t.n, CLEAT_COUNT(partners));
	for (size_t i = 0; i < t.n; i++)
		assert_int_equal(t.lines[i].partner, partners[i]);
	tape_free(&t);
}

TEST(a_batch_is_its_messages)
{
	struct tape t =
		parse("{\"t\":0,\"dir\":\">\",\"msg\":[{\"id\":1,\"method\":\"a\"},7,{\"method\":"
		      "\"b\"}]}\n\n \t\r\n{\"t\":0,\"dir\":\"<\",\"text\":\"noise\"}",
		      EXIT_GOOD);

	assert_int_equal(t.n, 2);
	assert_int_equal(t.lines[0].kind, TAPE_REQUEST);
	assert_int_equal(t.lines[1].kind, TAPE_NOTIFICATION);
	tape_free(&t);
}

TEST(what_is_none_is_refused)
{
	static const char *const cases[] = { "",
					     "\n\n",
					     "{",
					     "[]",
					     "{\"dir\":\"=\",\"msg\":{}}",
					     "{\"dir\":7,\"msg\":{}}",
					     "{\"dir\":\">\",\"text\":\"only noise\"}",
					     REQ(">", "1", "a") "nonsense\n" };

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct tape t = parse(cases[i], EXIT_USAGE);

		tape_free(&t);
	}
}

/* A file that somebody made to be slow: each line would be compared with each. */
TEST(many_answers_without_requests_are_read_at_once)
{
	struct text text = { 0 };
	struct tape t;

	for (int i = 0; i < 60000; i++)
		text_printf(&text, "{\"dir\":\"%s\",\"msg\":{\"id\":%d,\"%s\":1}}\n",
			    i % 2 ? "<" : ">", i, i % 2 ? "result" : "method\":\"x\",\"y");
	t = parse(text_str(&text), EXIT_GOOD);
	assert_int_equal(t.n, 60000);
	assert_int_equal(t.lines[59999].partner, TAPE_NONE);
	tape_free(&t);
	text_free(&text);
}

TEST(params_are_compared_without_meta)
{
	cleat_doc *a = cleat_doc_newf(NULL, "{x: 1, _meta: {y: 2}, 'a\"b': null}");
	cleat_doc *plain = tape_params(cleat_doc_root(a)), *none = tape_params(NULL);
	char *text = cleat_json_print(cleat_doc_root(plain), NULL);

	assert_string_equal(text, "{\"x\":1,\"a\\\"b\":null}");
	assert_int_equal(cleat_json_size(cleat_doc_root(none)), 0);
	free(text);
	cleat_doc_free(a);
	cleat_doc_free(plain);
	cleat_doc_free(none);
}

/* ---- the mock -------------------------------------------------------------------------------- */

static int here, there; /* places */
static struct text said;

static void on_say(void *ctx, void *place, const char *line, int answer)
{
	(void)ctx;
	text_printf(&said, "%s %d %s\n",
		    place == &here    ? "here"
		    : place == &there ? "there"
				      : "-",
		    answer, line);
}

static void expect_said(struct mock *m, void *place, const char *message, size_t answers,
			const char *expected)
{
	text_free(&said);
	assert_int_equal(mock_message(m, place, message, strlen(message)), answers);
	assert_string_equal(text_str(&said), expected);
}

TEST(the_mock_says_what_was_recorded_under_the_new_names)
{
	struct tape t = parse(
		"{\"dir\":\">\",\"msg\":{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
		"\"name\":\"x\",\"_meta\":{\"progressToken\":9}}}}\n" NOTE(
			"<", "notifications/progress", "{\"progressToken\":9,\"progress\":1}")
			REQ("<", "5", "elicitation/create") RES(">", "5", "{}")
				RES("<", "1", "{\"a\":1}") NOTE("<", "notifications/late", "{}")
					REQ(">", "2", "subscriptions/listen") NOTE(
						"<", "notifications/subscriptions/acknowledged",
						"{\"_meta\":{\"io.modelcontextprotocol/"
						"subscriptionId\":2}}") REQ(">", "3", "touch")
						NOTE("<",
						     "notifications/"
						     "resources/"
						     "updated",
						     "{\"_meta\":{\"io.modelcontextprotocol/"
						     "subscriptionId\":2}}") RES("<", "3", "{}"),
		EXIT_GOOD);
	struct mock_outlet outlet = { on_say, NULL };
	struct mock *m = mock_new(&cli, &t, &outlet);

	expect_said(
		m, &here,
		"{\"jsonrpc\":\"2.0\",\"id\":\"n\",\"method\":\"tools/call\",\"params\":{\"name\":\"x\",\"_"
		"meta\":{\"progressToken\":\"p\"}}}",
		1,
		"here 0 {\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
		"progress\",\"params\":{\"progressToken\":\"p\",\"progress\":1}}\n"
		"here 0 {\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"elicitation/create\"}\n");
	/* The rest waits for the answer, and what is behind the result belongs to nobody. */
	expect_said(m, &there, "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{\"action\":\"accept\"}}",
		    0,
		    "here 1 {\"jsonrpc\":\"2.0\",\"id\":\"n\",\"result\":{\"a\":1}}\n"
		    "- 0 {\"jsonrpc\":\"2.0\",\"method\":\"notifications/late\",\"params\":{}}\n");
	/* A subscription has a place that outlives it; what others cause goes there. */
	expect_said(m, &here, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"subscriptions/listen\"}",
		    1,
		    "here 0 {\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/"
		    "acknowledged\",\"params\":{\"_meta\":{\"io.modelcontextprotocol/"
		    "subscriptionId\":7}}}\n");
	expect_said(
		m, &there, "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"touch\"}", 1,
		"here 0 {\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/"
		"updated\",\"params\":{\"_meta\":{\"io.modelcontextprotocol/"
		"subscriptionId\":7}}}\nthere 1 {\"jsonrpc\":\"2.0\",\"id\":8,\"result\":{}}\n");
	expect_said(m, &here, "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}", 1,
		    "here 1 {\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}\n");
	expect_said(
		m, &here, "7", 1,
		"here -32600 {\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":"
		"\"this is not a message\"}}\n");
	mock_gone(m, &here);
	mock_free(m);
	tape_free(&t);
	text_free(&said);
}

TEST(nothing_is_said_to_a_place_that_is_gone)
{
	struct tape t = parse(REQ(">", "1", "slow") REQ("<", "5", "roots/list") RES(">", "5", "{}")
				      RES("<", "1", "{}"),
			      EXIT_GOOD);
	struct mock_outlet outlet = { on_say, NULL };
	struct mock *m = mock_new(&cli, &t, &outlet);

	expect_said(m, &here, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"slow\"}", 1,
		    "here 0 {\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"roots/list\"}\n");
	mock_gone(m, &here);
	expect_said(m, &there, "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}", 0, "");
	mock_free(m);
	tape_free(&t);
	text_free(&said);
}

TEST_GROUP(NULL, forget)
