/* test_asked_sampling.c - sampling/createMessage as the client sees it: which questions reach the handler,
 * and what message its reply becomes in each revision.
 */
#include "test.h"
#include "unit/server/test_asked.h"

#define USER(content)      "{\"role\":\"user\",\"content\":" content "}"
#define ASSISTANT(content) "{\"role\":\"assistant\",\"content\":" content "}"
#define TEXT               "{\"type\":\"text\",\"text\":\"Hi\"}"
#define USE(id)            "{\"type\":\"tool_use\",\"id\":\"" id "\",\"name\":\"t\",\"input\":{}}"
#define RESULT(id)         "{\"type\":\"tool_result\",\"toolUseId\":\"" id "\",\"content\":[]}"
#define ASK(messages, more)                                                                        \
	REQUEST("1", "sampling/createMessage", "\"messages\":[" messages "],\"maxTokens\":10" more)
#define ASK_PLAIN   ASK(USER(TEXT), "")
#define WITH_TOOLS  ",\"tools\":[{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}]"
#define WITH_CHOICE ",\"toolChoice\":{\"mode\":\"required\"}"

static int calls;

static int hello(cleat_request *req)
{
	calls++;
	assert_int_equal(cleat_arg_int(req, "maxTokens"), 10);
	return cleat_reply_text(req, "Hello");
}

/* ---- the question --------------------------------------------------------------------------- */

struct question_case {
	const char *question;
	const char *plain, *tools; /* in the answer of a client without and with tools */
};

#define FINE "\"role\":\"assistant\""

/* 2025-11-25 client/sampling, error handling, and CreateMessageRequestParams: an error for tools and
 * toolChoice that were not declared, for a tool result that is missing or mixed with other content. */
static const struct question_case questions[] = {
	{ ASK_PLAIN, FINE, FINE },
	{ ASK("", ""), FINE, FINE },
	{ ASK(USER("[" TEXT "," TEXT "]"), ""), FINE, FINE },
	{ ASK(USER("[]"), ""), FINE, FINE },
	{ ASK(USER(TEXT) "," ASSISTANT(TEXT), ",\"systemPrompt\":\"s\",\"temperature\":0.5"), FINE,
	  FINE },
	{ ASK(USER(TEXT), WITH_TOOLS), "-32602", FINE },
	{ ASK(USER(TEXT), WITH_CHOICE), "-32602", FINE },
	{ ASK(USER(TEXT), ",\"tools\":[]"), "-32602", FINE },
	{ ASK(USER(TEXT), ",\"tools\":{}"), "-32602", "params.tools must be an array" },
	{ ASK(USER(TEXT), ",\"toolChoice\":\"auto\""), "-32602", "params.toolChoice must be" },
	{ REQUEST("1", "sampling/createMessage", "\"maxTokens\":10"), "messages must be an array",
	  "-32602" },
	{ REQUEST("1", "sampling/createMessage", "\"messages\":{},\"maxTokens\":10"),
	  "messages must be an array, not an object", "-32602" },
	{ REQUEST("1", "sampling/createMessage", "\"messages\":[]"), "maxTokens must be a number",
	  "-32602" },
	{ REQUEST("1", "sampling/createMessage", "\"messages\":[],\"maxTokens\":\"10\""),
	  "maxTokens must be a number, not a string", "-32602" },
	{ ASK("5", ""), "params.messages[0]: its role", "-32602" },
	{ ASK("{\"content\":" TEXT "}", ""), "params.messages[0]: its role", "-32602" },
	{ ASK("{\"role\":\"system\",\"content\":" TEXT "}", ""), "params.messages[0]: its role",
	  "-32602" },
	{ ASK(USER(TEXT) ",{\"role\":\"user\"}", ""), "params.messages[1]: its content", "-32602" },
	{ ASK(USER("\"Hi\""), ""), "params.messages[0]: its content", "-32602" },
	{ ASK(USER("[" TEXT ",5]"), ""), "params.messages[0]: its content", "-32602" },
	{ ASK(USER("{\"text\":\"x\"}"), ""), "params.messages[0]: its content", "-32602" },
	/* tools that were used */
	{ ASK(USER(TEXT) "," ASSISTANT("[" TEXT "," USE("a") "," USE("b") "]") "," USER(
		      "[" RESULT("b") "," RESULT("a") "]"),
	      ""),
	  FINE, FINE },
	{ ASK(ASSISTANT(USE("a")) "," USER(RESULT("a")), ""), FINE, FINE },
	{ ASK(ASSISTANT(USE("a")), ""), "result of a tool is missing", "-32602" },
	{ ASK(ASSISTANT(USE("a")) "," USER(TEXT), ""), "params.messages[1]: the result of a tool",
	  "-32602" },
	{ ASK(ASSISTANT(USE("a")) "," ASSISTANT(TEXT), ""), "params.messages[1]: the result",
	  "-32602" },
	{ ASK(ASSISTANT("[" USE("a") "," USE("b") "]") "," USER("[" RESULT("a") "]"), ""),
	  "params.messages[1]: the result of a tool", "-32602" },
	{ ASK(ASSISTANT(USE("a")) "," USER("[" RESULT("a") "," TEXT "]"), ""),
	  "params.messages[1]: tool results are mixed", "-32602" },
};

TEST(a_question_is_checked_before_it_reaches_the_handler)
{
	for (size_t i = 0; i < CLEAT_COUNT(questions); i++)
		for (enum revision rev = REV_2025_11_25; rev <= REV_2026_07_28; rev++)
			for (int tools = 0; tools < 2; tools++) {
				const char *want = tools ? questions[i].tools : questions[i].plain;
				const struct server_asked who = { .on_sampling = hello,
								  .sampling_tools = tools };
				struct bench b;
				const char *got;

				calls = 0;
				bench_start(&b, rev, &who);
				got = bench_ask(&b, questions[i].question);
				assert_has(got, want);
				if (strcmp(want, FINE) != 0)
					assert_has(got, "\"id\":1,\"error\":{\"code\":-32602");
				assert_int_equal(calls, strcmp(want, FINE) == 0);
				bench_stop(&b);
			}
}

/* Before 2025-11-25 there is nothing to declare. */
TEST(older_revisions_have_no_tools)
{
	for (enum revision rev = REV_2024_11_05; rev <= REV_2025_06_18; rev++) {
		struct bench b;

		bench_start(&b, rev,
			    &(struct server_asked){ .on_sampling = hello, .sampling_tools = true });
		assert_has(bench_ask(&b, ASK(USER(TEXT), WITH_TOOLS)), "-32602");
		bench_stop(&b);
	}
}

/* Uses are matched one by one: their number is limited, so that no question takes long. */
BENCH_TEST(a_message_cannot_use_tools_without_end)
{
	struct buf m;

	bench_start(b, REV_2025_11_25,
		    &(struct server_asked){ .on_sampling = hello, .sampling_tools = true });
	buf_init(&m, NULL, 1 << 20);
	buf_appendz(&m, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"sampling/createMessage\","
			"\"params\":{\"maxTokens\":10,\"messages\":[{\"role\":\"assistant\","
			"\"content\":[" USE("a"));
	for (int i = 0; i < 256; i++)
		buf_appendz(&m, "," USE("a"));
	buf_appendz(&m, "]}]}}");
	buf_putc(&m, '\0');
	assert_has(bench_ask(b, buf_str(&m).p), "too many tools");
	buf_done(&m);
}

/* ---- the answer ----------------------------------------------------------------------------- */

static int one_image(cleat_request *req)
{
	return cleat_reply_image(req, "image/png", "\x89PNG", 4);
}

static int one_audio(cleat_request *req)
{
	return cleat_reply_audio(req, NULL, "RIFF", 4);
}

static int two_texts(cleat_request *req)
{
	cleat_reply_text(req, "a\"");
	return cleat_reply_textf(req, "b%d", 1);
}

static int text_and_image(cleat_request *req)
{
	cleat_reply_text(req, "a");
	return cleat_reply_image(req, NULL, "x", 1);
}

static int named(cleat_request *req)
{
	char name[] = "sonnet", why[] = "maxTokens";

	assert_int_equal(cleat_reply_model(req, name), CLEAT_OK);
	assert_int_equal(cleat_reply_stop_reason(req, why), CLEAT_OK);
	name[0] = why[0] = 'X';
	return cleat_reply_message(req, "user", "the role is the model's: %s", "assistant");
}

static int uses_tool(cleat_request *req)
{
	cleat_doc *input = cleat_doc_newf(NULL, "{city: 'Oslo'}");
	int rc = cleat_reply_tool_use(req, "call_1", "weather", cleat_doc_root(input));

	cleat_doc_free(input); /* it was copied */
	return rc == CLEAT_EUNSUPPORTED ? cleat_reply_text(req, "by hand") : rc;
}

static int speaks_and_uses(cleat_request *req)
{
	cleat_reply_text(req, "Let me see");
	assert_int_equal(cleat_reply_tool_use(req, "1", "a", NULL), CLEAT_OK);
	return cleat_reply_tool_use(req, "2", "b", NULL);
}

static int whole(cleat_request *req)
{
	return cleat_reply_jsonf(req,
				 "{role: %s, content: {type: 'text', text: %s}, model: %s, "
				 "stopReason: 'other', _meta: {a: 1}, more: [1.0]}",
				 "assistant", "x", "m");
}

static int whole_and_meta(cleat_request *req)
{
	cleat_reply_meta(req, "{\"b\":2}");
	return whole(req);
}

static int whole_list(cleat_request *req)
{
	return cleat_reply_jsonf(
		req, "{role: 'assistant', model: 'm', content: [{type: 'text', text: 'x'}]}");
}

static int annotated(cleat_request *req)
{
	cleat_reply_annotate(req, &(cleat_annotations){ .user = true }, NULL);
	cleat_reply_meta(req, "{\"m\":1}");
	return cleat_reply_text(req, "x");
}

enum { OLDEST = REV_2024_11_05, NEWEST = REV_2026_07_28 };

static const struct {
	cleat_handler *handler;
	int from, to; /* revisions */
	const char *wanted;
} answers[] = {
	{ hello, OLDEST, NEWEST,
	  "{\"role\":\"assistant\",\"content\":{\"type\":\"text\",\"text\":\"Hello\"},\"model\":"
	  "\"unknown\",\"stopReason\":\"endTurn\"}" },
	{ one_image, OLDEST, NEWEST,
	  "\"content\":{\"type\":\"image\",\"data\":\"iVBORw==\",\"mimeType\":\"image/png\"}" },
	{ one_audio, REV_2025_03_26, NEWEST,
	  "\"content\":{\"type\":\"audio\",\"data\":\"UklGRg==\",\"mimeType\":\"audio/wav\"}" },
	{ named, OLDEST, NEWEST,
	  "{\"role\":\"assistant\",\"content\":{\"type\":\"text\",\"text\":\"the role is the "
	  "model's: assistant\"},\"model\":\"sonnet\",\"stopReason\":\"maxTokens\"}" },
	/* one block until 2025-06-18: pieces of text are put together */
	{ two_texts, OLDEST, REV_2025_06_18,
	  "\"content\":{\"type\":\"text\",\"text\":\"a\\\"\\nb1\"}," },
	{ two_texts, REV_2025_11_25, NEWEST,
	  "\"content\":[{\"type\":\"text\",\"text\":\"a\\\"\"},{\"type\":\"text\",\"text\":\"b1\"}]"
	  "," },
	{ text_and_image, REV_2025_11_25, NEWEST, "\"content\":[{\"type\":\"text\"" },
	{ uses_tool, OLDEST, REV_2025_06_18, "\"by hand\"},\"model\":\"unknown\"" },
	{ uses_tool, REV_2025_11_25, NEWEST,
	  "{\"role\":\"assistant\",\"content\":{\"type\":\"tool_use\",\"id\":\"call_1\",\"name\":"
	  "\"weather\",\"input\":{\"city\":\"Oslo\"}},\"model\":\"unknown\",\"stopReason\":"
	  "\"toolUse\"}" },
	{ speaks_and_uses, REV_2025_11_25, NEWEST,
	  "\"content\":[{\"type\":\"text\",\"text\":\"Let me see\"},{\"type\":\"tool_use\",\"id\":"
	  "\"1\",\"name\":\"a\",\"input\":{}},{\"type\":\"tool_use\",\"id\":\"2\",\"name\":\"b\","
	  "\"input\":{}}],\"model\":\"unknown\",\"stopReason\":\"toolUse\"}" },
	{ whole, OLDEST, NEWEST,
	  "\"result\":{\"role\":\"assistant\",\"content\":{\"type\":\"text\",\"text\":\"x\"},"
	  "\"model\":\"m\",\"stopReason\":\"other\",\"_meta\":{\"a\":1},\"more\":[1.0]}}" },
	{ whole_and_meta, OLDEST, NEWEST,
	  "\"stopReason\":\"other\",\"more\":[1.0],\"_meta\":{\"b\":2}}" },
	{ whole_list, REV_2025_11_25, NEWEST,
	  "\"result\":{\"role\":\"assistant\",\"model\":\"m\",\"content\":[{\"type\":\"text\","
	  "\"text\":\"x\"}]}" },
	{ annotated, OLDEST, NEWEST,
	  "\"annotations\":{\"audience\":[\"user\"]}},\"model\":\"unknown\",\"stopReason\":"
	  "\"endTurn\",\"_meta\":{\"m\":1}}" },
};

TEST(a_reply_becomes_a_message_of_the_revision)
{
	for (size_t i = 0; i < CLEAT_COUNT(answers); i++)
		for (int rev = answers[i].from; rev <= answers[i].to; rev++) {
			const struct server_asked who = { .on_sampling = answers[i].handler,
							  .sampling_tools = true };
			struct bench b;
			const char *got;

			bench_start(&b, (enum revision)rev, &who);
			got = bench_ask(&b, ASK_PLAIN);
			assert_has(got, answers[i].wanted);
			assert_published((enum revision)rev, "CreateMessageResult", got);
			assert_string_equal(b.notes, "");
			bench_stop(&b);
		}
}

/* ---- replies that are no message ------------------------------------------------------------ */

static int no_reply(cleat_request *req)
{
	(void)req;
	return CLEAT_OK;
}

static int empty(cleat_request *req)
{
	return cleat_reply_nothing(req);
}

static int declined(cleat_request *req)
{
	cleat_reply_text(req, "unsaid");
	return CLEAT_EDECLINED;
}

static int cancelled(cleat_request *req)
{
	(void)req;
	return CLEAT_ECANCELLED;
}

static int failed(cleat_request *req)
{
	cleat_reply_text(req, "unsaid");
	return CLEAT_EIO;
}

static int resource(cleat_request *req)
{
	return cleat_reply_resource_text(req, "a:b", NULL, "x");
}

static int link(cleat_request *req)
{
	return cleat_reply_link(req, "a:b", NULL, NULL, NULL);
}

static int bytes(cleat_request *req)
{
	return cleat_reply_blob(req, "application/zip", "x", 1);
}

static int record(cleat_request *req)
{
	int n = 5;

	return cleat_reply_record(req, &n);
}

static int not_whole(cleat_request *req)
{
	return cleat_reply_jsonf(req, "[1]");
}

static int no_model(cleat_request *req)
{
	return cleat_reply_jsonf(req, "{role: 'assistant', content: {type: 'text', text: ''}}");
}

static int no_role(cleat_request *req)
{
	return cleat_reply_jsonf(req,
				 "{role: 'system', content: {type: 'text', text: ''}, model: 'm'}");
}

static int no_content(cleat_request *req)
{
	return cleat_reply_jsonf(req, "{role: 'user', content: 'text', model: 'm'}");
}

static int no_block(cleat_request *req)
{
	return cleat_reply_jsonf(req, "{role: 'user', content: {text: ''}, model: 'm'}");
}

static int odd_reason(cleat_request *req)
{
	return cleat_reply_jsonf(
		req,
		"{role: 'user', content: {type: 'text', text: ''}, model: 'm', stopReason: 5}");
}

static int sly_use(cleat_request *req)
{
	return cleat_reply_jsonf(req, "{role: 'assistant', model: 'm', content: {type: 'tool_use', "
				      "id: '1', name: 'n', input: {}}}");
}

static int bad_uses(cleat_request *req)
{
	cleat_doc *inputs = cleat_doc_newf(NULL, "[5, [], null, '']");

	for (size_t i = 0; i < 4; i++)
		assert_int_equal(cleat_reply_tool_use(req, "i", "n",
						      cleat_json_at(cleat_doc_root(inputs), i)),
				 CLEAT_EINVAL);
	cleat_doc_free(inputs);
	assert_int_equal(cleat_reply_tool_use(req, NULL, "n", NULL), CLEAT_EINVAL);
	return cleat_reply_tool_use(req, "i", "", NULL);
}

static int forbidden_use(cleat_request *req)
{
	return cleat_reply_tool_use(req, "i", "n", NULL);
}

#define REJECTED "\"error\":{\"code\":-1,\"message\":\"User rejected sampling request\"}"

static const struct {
	cleat_handler *handler;
	int from, to;
	bool tools;
	const char *wanted, *note;
} failures[] = {
	{ no_reply, OLDEST, NEWEST, true, "-32603", "returned without a reply" },
	{ empty, OLDEST, NEWEST, true, "-32603", "no content" },
	/* 2025-11-25 client/sampling, error handling */
	{ declined, OLDEST, NEWEST, true, REJECTED, "" },
	{ cancelled, OLDEST, NEWEST, true, REJECTED, "" },
	{ failed, OLDEST, NEWEST, true, "-32603", "failed" },
	{ one_audio, OLDEST, OLDEST, true, "cannot reply with audio", "" },
	{ text_and_image, OLDEST, REV_2025_06_18, true, "-32603", "only one block" },
	{ whole_list, OLDEST, REV_2025_06_18, true, "-32603", "not a block" },
	{ resource, OLDEST, NEWEST, true, "cannot reply with a resource", "" },
	{ link, OLDEST, NEWEST, true, "cannot reply with a link", "" },
	{ bytes, OLDEST, NEWEST, true, "neither an image nor audio", "" },
	{ record, OLDEST, NEWEST, true, "-32603", "" },
	{ not_whole, OLDEST, NEWEST, true, "-32603", "not an object" },
	{ no_model, OLDEST, NEWEST, true, "-32603", "no model" },
	{ no_role, OLDEST, NEWEST, true, "-32603", "role" },
	{ no_content, OLDEST, NEWEST, true, "-32603", "not a block" },
	{ no_block, OLDEST, NEWEST, true, "-32603", "not a block" },
	{ odd_reason, OLDEST, NEWEST, true, "-32603", "stopReason" },
	{ sly_use, OLDEST, NEWEST, false, "-32603", "not declared" },
	{ bad_uses, REV_2025_11_25, NEWEST, true, "-32603", "" },
	{ forbidden_use, OLDEST, NEWEST, false, "-32603", "does not support this" },
};

TEST(what_is_no_message_is_an_error)
{
	for (size_t i = 0; i < CLEAT_COUNT(failures); i++)
		for (int rev = failures[i].from; rev <= failures[i].to; rev++) {
			const struct server_asked who = { .on_sampling = failures[i].handler,
							  .sampling_tools = failures[i].tools };
			struct bench b;
			const char *got;

			bench_start(&b, (enum revision)rev, &who);
			got = bench_ask(&b, ASK_PLAIN);
			assert_has(got, failures[i].wanted);
			assert_has(got, "\"error\"");
			assert_lacks(got, "unsaid");
			assert_has(b.notes, failures[i].note);
			bench_stop(&b);
		}
}

/* ---- elsewhere ------------------------------------------------------------------------------ */

static int not_here(cleat_request *req)
{
	assert_null(cleat_request_client(req));
	assert_int_equal(cleat_reply_model(req, "m"), CLEAT_EMISUSE);
	assert_int_equal(cleat_reply_stop_reason(req, "m"), CLEAT_EMISUSE);
	assert_int_equal(cleat_reply_tool_use(req, "a", "b", NULL), CLEAT_EMISUSE);
	return cleat_reply_text(req, "x");
}

BENCH_TEST(a_servers_own_handlers_have_no_client_and_no_model)
{
	bench_server(b, &(struct server_asked){ .on_form = not_here }, NULL);
	assert_int_equal(cleat_server_add_tools(
				 b->s, (cleat_tool[]){ { .name = "t", .call = not_here } }, 1),
			 CLEAT_OK);
	b->p = server_accept(b->s,
			     &(struct peer_sink){ .begin = bench_begin,
						  .end = bench_end,
						  .congested = bench_congested,
						  .ctx = b },
			     NULL);
	assert_has(bench_ask(b, REQUEST("1", "tools/call", "\"name\":\"t\"," MODERN)),
		   "the handler of tools/call cannot reply with");
}
