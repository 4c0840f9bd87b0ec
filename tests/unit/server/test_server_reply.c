/* test_server_reply.c - every cleat_reply_* in every place where a handler may call it, also in the
 * wrong ones; text that is not UTF-8, holds NUL or is too large; JSON of the program that has
 * newlines; structured results in each revision.
 */
#include "test.h"
#include "unit/server/server_reply_rig.h"

/* What the handler makes of the request has this, and lacks that (NULL: whatever); ' is written for ". */
struct row {
	cleat_handler *fn;
	const char *line, *has, *lacks;
};

#define PLAY(revision, rows) play(revision, rows, CLEAT_COUNT(rows))
#define MODERN_TOOL          REQUEST("1", "tools/call", MODERN ",\"name\":\"t\"")

static const char *quoted(const char *text)
{
	static char to[1024];
	size_t n = 0;

	assert_true(strlen(text) < sizeof to);
	do
		to[n++] = *text == '\'' ? '"' : *text;
	while (*text++);
	return to;
}

static void play(const char *revision, const struct row *rows, size_t n)
{
	struct rig r;

	open_rig(&r, revision, 0);
	for (; n--; rows++) {
		run(&r, rows->fn, rows->line);
		assert_has(r.out, quoted(rows->has));
		if (rows->lacks)
			assert_lacks(r.out, quoted(rows->lacks));
	}
	rig_stop(&r);
}

/* ---- texts ----------------------------------------------------------------------------------- */

static int texts(cleat_request *req)
{
	cleat_reply_text(req, NULL);
	cleat_reply_textn(req, "a\0b", 3);
	cleat_reply_textn(req, NULL, 7);
	cleat_reply_textf(req, "%s-%d", "f", 7);
	return cleat_reply_textf(req, "%0600d", 1); /* longer than any buffer on the stack */
}

TEST(texts_in_every_place)
{
	static const struct row rows[] = {
		{ texts, TOOL,
		  "'content':[{'type':'text','text':''},{'type':'text','text':'a\\u0000b'},{'type':'text',"
		  "'text':''},{'type':'text','text':'f-7'},{'type':'text','text':'000",
		  NULL },
		{ texts, RESOURCE, "{'contents':[{'uri':'r:1','mimeType':'text/x-own','text':''},",
		  NULL },
		{ texts, PROMPT,
		  "{'description':'own','messages':[{'role':'user','content':{'type':'text','text':''}},",
		  NULL },
	};

	PLAY("2025-11-25", rows);
}

static int invalid_utf8(cleat_request *req)
{
	cleat_reply_text(req, "a\xff\xfe"
			      "b\xc3");
	cleat_reply_annotate(req, NULL, NULL);
	return cleat_reply_text(req, "\xed\xa0\x80\xf5\x80\xe2\x82");
}

static int invalid_utf8_error(cleat_request *req)
{
	return cleat_reply_error(req, "bad \xff\n\t\x01 end");
}

static int invalid_utf8_reject(cleat_request *req)
{
	return cleat_reply_reject(req, 5, "bad \xff\n\x7f end");
}

/* RFC 8259: what goes out is UTF-8, whatever the program had. */
TEST(invalid_utf8_is_replaced)
{
	static const struct row rows[] = {
		{ invalid_utf8, TOOL,
		  "a\xef\xbf\xbd\xef\xbf\xbd"
		  "b\xef\xbf\xbd",
		  NULL },
		{ invalid_utf8, RESOURCE, "contents", NULL },
		{ invalid_utf8, PROMPT, "messages", NULL },
		{ invalid_utf8_error, TOOL, "bad \xef\xbf\xbd\\n\\t\\u0001 end'}],'isError':true",
		  NULL },
		{ invalid_utf8_reject, TOOL, "'code':5,'message':'bad \xef\xbf\xbd\\n", NULL },
	};

	PLAY("2025-11-25", rows);
}

/* ---- bytes, links, embedded resources ----------------------------------------------------------- */

static int bytes(cleat_request *req)
{
	cleat_reply_blob(req, NULL, "\0\1\2", 3);
	cleat_reply_blob(req, "image/gif", "GIF", 3);
	cleat_reply_blob(req, "audio/ogg", "", 0);
	cleat_reply_image(req, NULL, "P", 1);
	return cleat_reply_audio(req, NULL, "A", 1);
}

TEST(bytes_in_every_place)
{
	static const struct row rows[] = {
		{ bytes, TOOL, "{'type':'resource','resource':{'uri':'", NULL },
		{ bytes, TOOL, "'mimeType':'application/octet-stream','blob':'AAEC'}}", NULL },
		{ bytes, TOOL, "{'type':'image','data':'R0lG','mimeType':'image/gif'}", NULL },
		{ bytes, TOOL, "{'type':'audio','data':'','mimeType':'audio/ogg'}", NULL },
		{ bytes, TOOL, "'data':'UA==','mimeType':'image/png'", NULL },
		{ bytes, RESOURCE, "{'uri':'r:1','mimeType':'text/x-own','blob':'AAEC'}", NULL },
		{ bytes, RESOURCE, "{'uri':'r:1','mimeType':'image/gif','blob':'R0lG'}", NULL },
		{ bytes, PROMPT, "{'role':'user','content':{'type':'image'", NULL },
		{ bytes, COMPLETE, "cannot reply with bytes", NULL },
	};

	PLAY("2025-11-25", rows);
}

static int parts(cleat_request *req)
{
	cleat_reply_resource_text(req, "x:1", "text/plain", "one");
	cleat_reply_resource_blob(req, "x:2", NULL, "two", 3);
	return cleat_reply_resource_text(req, NULL, NULL, NULL);
}

static int link(cleat_request *req)
{
	cleat_reply_link(req, "x:1", "One", "text/plain", "the first");
	return cleat_reply_link(req, "x:2", NULL, NULL, NULL);
}

TEST(resources_and_links_in_every_place)
{
	static const struct row rows[] = {
		{ parts, TOOL,
		  "{'type':'resource','resource':{'uri':'x:1','mimeType':'text/plain','text':'one'}}",
		  NULL },
		/* one more content under its own URI */
		{ parts, RESOURCE, "'contents':[{'uri':'x:1',", NULL },
		{ parts, RESOURCE, "{'uri':'x:2','blob':'dHdv'}", NULL },
		{ parts, PROMPT, "messages", NULL },
		{ parts, COMPLETE, "-32603", NULL },
		{ link, PROMPT, "resource_link", NULL },
		{ link, COMPLETE, "cannot reply with a link", NULL },
	};

	PLAY("2025-11-25", rows);
}

/* ---- annotations and _meta ------------------------------------------------------------------------ */

static int annotated(cleat_request *req)
{
	char when[] = "2026-01-02T03:04:05Z";
	cleat_annotations a = {
		.user = true, .has_priority = true, .priority = 0.5, .last_modified = when
	};

	cleat_reply_annotate(req, &a, "{\n \"k\":\n [1,\t2] }");
	memset(when, 'x', sizeof when - 1); /* copied */
	cleat_reply_text(req, "one");
	cleat_reply_text(req, "two"); /* for the next block only */
	return cleat_reply_meta(req, "\r\n{ \"m\" : \"x\\ny\" }\n");
}

TEST(annotations_and_meta_stay_on_one_line)
{
	static const struct row rows[] = {
		{ annotated, TOOL,
		  "{'type':'text','text':'one','annotations':{'audience':['user'],'priority':0.5,"
		  "'lastModified':'2026-01-02T03:04:05Z'},'_meta':{'k':[1,2]}},{'type':'text','text':'two'}]",
		  NULL },
		{ annotated, TOOL, "'_meta':{'m':'x\\ny'}}", NULL },
		{ annotated, PROMPT, "'_meta':{'m':'x\\ny'}}", NULL },
		{ annotated, RESOURCE, "'text':'one','_meta':{'k':[1,2]}}", NULL },
	};
	/* knows no _meta on blocks and no lastModified */
	static const struct row oldest[] = { { annotated, TOOL, "'one'", "lastModified" },
					     { annotated, TOOL, "'one'", "'k'" } };
	static const struct row modern[] = {
		{ annotated, MODERN_TOOL,
		  "'_meta':{'io.modelcontextprotocol/serverInfo':{'name':'rig','version':'1'},'m':'x\\ny'}",
		  NULL },
	};

	PLAY("2025-11-25", rows);
	PLAY("2024-11-05", oldest);
	PLAY(NULL, modern);
}

static int empty_meta(cleat_request *req)
{
	cleat_reply_meta(req, " { } ");
	return cleat_reply_text(req, "x");
}

static int bad_data(cleat_request *req)
{
	return cleat_reply_reject_data(req, -7, "{\"a\":\n 1}", "why %d", 1);
}

static int nonsense_data(cleat_request *req)
{
	return cleat_reply_reject_data(req, -7, "{nonsense\n", "why %d", 2);
}

TEST(json_of_the_program_is_checked)
{
	static const struct row rows[] = {
		{ empty_meta, TOOL, "'_meta':{}", NULL },
		{ bad_data, TOOL, "{'code':-7,'message':'why 1','data':{'a':1}}", NULL },
		{ nonsense_data, TOOL, "{'code':-7,'message':'why 2'}", NULL },
	};
	static const struct row modern[] = { { empty_meta, MODERN_TOOL, "'_meta':{", NULL } };

	PLAY("2025-11-25", rows);
	PLAY(NULL, modern);
}

/* ---- structured results --------------------------------------------------------------------------- */

static const char *volatile no_text; /* volatile: compilers warn of a NULL that they can see */

static int object(cleat_request *req)
{
	return cleat_reply_jsonf(req, "{a: %d, b: [%s, %s]}", 1, "x", no_text);
}

static int number(cleat_request *req)
{
	return cleat_reply_jsonf(req, "%g", 2.5);
}

static int object_and_text(cleat_request *req)
{
	cleat_reply_text(req, "for people");
	return object(req);
}

static int twice(cleat_request *req)
{
	number(req);
	return object(req); /* the last one counts */
}

static int null_json(cleat_request *req)
{
	return cleat_reply_json(req, NULL);
}

static int bad_template(cleat_request *req)
{
	cleat_reply_text(req, "dropped");
	return cleat_reply_jsonf(req, "{a: %d", 1);
}

static int own_json(cleat_request *req)
{
	return cleat_reply_json(req, cleat_request_arguments(req));
}

TEST(structured_results_in_each_revision)
{
	static const char *const revisions[] = { "2024-11-05", "2025-03-26", "2025-06-18",
						 "2025-11-25" };
	static const struct row rows[] = {
		{ number, TOOL, "'text':'2.5'",
		  "structuredContent" }, /* an object until 2025-11-25 */
		{ twice, TOOL, "{\\'a\\':1,", "2.5" },
		{ object, PROMPT, "'text':'{\\'a\\':1,", "structuredContent" },
		{ object, RESOURCE, "\\'a\\'", "structuredContent" },
	};
	static const struct row modern[] = {
		{ number, MODERN_TOOL, "'structuredContent':2.5", NULL },
		{ null_json, MODERN_TOOL, "'structuredContent':null", NULL },
		{ own_json,
		  REQUEST("1", "tools/call",
			  MODERN
			  ",\"name\":\"free\",\"arguments\":{\"n\":1.10,\t\"s\":\"\\u000a\"}"),
		  "'structuredContent':{'n':1.10,'s':'\\n'}", NULL },
	};

	for (size_t i = 0; i < CLEAT_COUNT(revisions); i++)
		PLAY(revisions[i], rows);
	PLAY(NULL, modern);
}

static int record(cleat_request *req)
{
	struct place p = *(const struct place *)cleat_request_args(req);

	p.days++;
	return cleat_reply_record(req, &p);
}

static int record_with_null(cleat_request *req)
{
	struct place p = { .days = 1 };

	return cleat_reply_record(req, &p);
}

TEST(records_go_in_and_out)
{
	static const struct row rows[] = {
		{ record, CALL("1", "rec", "{\"city\":\"Rome\",\"sure\":true,\"share\":0.25}"),
		  "'structuredContent':{'city':'Rome','days':4,'sure':true,'share':0.25}", NULL },
		{ record, CALL("1", "rec", "{\"days\":1}"), "isError", NULL },
		/* required and NULL: an error or null, but an answer */
		{ record_with_null, CALL("1", "rec", "{\"city\":\"Rome\"}"), "'id':1", NULL },
		{ bad_template, TOOL, "-32603", "dropped" },
	};

	PLAY("2025-11-25", rows);
}

/* ---- prompts, completions, nothing ------------------------------------------------------------------ */

static int messages(cleat_request *req)
{
	cleat_reply_message(req, "assistant", "%d", 1);
	cleat_reply_text(req, "still assistant");
	cleat_reply_role(req, "user");
	cleat_reply_image(req, NULL, "P", 1);
	cleat_reply_message(req, "nobody", "as user");
	cleat_reply_message(req, NULL, "as user");
	return cleat_reply_description(req, "this very");
}

static int suggest(cleat_request *req)
{
	char text[16];

	assert_string_equal(cleat_request_completing(req), "city");
	assert_string_equal(cleat_request_typed(req), "O");
	assert_string_equal(cleat_request_context(req, "days"), "2");
	assert_null(cleat_request_context(req, "none"));
	for (int i = 0; i < 150; i++) {
		snprintf(text, sizeof text, "s%d", i);
		cleat_reply_suggest(req, text);
	}
	return CLEAT_OK;
}

static int suggest_total(cleat_request *req)
{
	cleat_reply_suggest(req, NULL);
	cleat_reply_suggest(req, "b");
	return cleat_reply_suggest_total(req, 7, false);
}

TEST(prompts_and_completions)
{
	static const struct row rows[] = {
		{ messages, PROMPT,
		  "{'description':'this very','messages':[{'role':'assistant','content':{'type':'text',"
		  "'text':'1'}},{'role':'assistant','content':{'type':'text','text':'still assistant'}},"
		  "{'role':'user','content':{'type':'image','data':'UA==','mimeType':'image/png'}},"
		  "{'role':'user','content':{'type':'text','text':'as user'}},{'role':'user',",
		  NULL },
		{ nothing, PROMPT, "{'description':'own','messages':[]}", NULL },
		{ nothing, TOOL, "'result':{'content':[]}", NULL },
		{ nothing, RESOURCE, "'result':{'contents':[]}", NULL },
		{ nothing, COMPLETE, "{'values':[],'total':0,'hasMore':false}", NULL },
		/* 2025-11-25 utilities/completion: 100 at most */
		{ suggest, COMPLETE, "'s99'],'total':150,'hasMore':true", NULL },
		{ suggest_total, COMPLETE, "{'values':['','b'],'total':7,'hasMore':true}", NULL },
	};

	PLAY("2025-11-25", rows);
}

/* ---- failures ----------------------------------------------------------------------------------------- */

static int error_drops(cleat_request *req)
{
	object_and_text(req);
	cleat_reply_error(req, "it %s", "broke");
	return cleat_reply_text(req, "and more");
}

static int reject_wins(cleat_request *req)
{
	cleat_reply_text(req, "half");
	cleat_reply_reject(req, -1, "no");
	return cleat_reply_error(req, "broke");
}

TEST(failures_in_every_place)
{
	static const struct row rows[] = {
		{ error_drops, TOOL,
		  "{'content':[{'type':'text','text':'it broke'},{'type':'text','text':'and more'}],"
		  "'isError':true}",
		  NULL },
		{ error_drops, PROMPT, "{'code':-32603,'message':'it broke'}", NULL },
		{ error_drops, RESOURCE, "{'code':-32603,'message':'it broke'}", NULL },
		{ reject_wins, TOOL, "'error':{'code':-1,'message':'no'}", NULL },
	};

	PLAY("2025-11-25", rows);
}

static int huge(cleat_request *req)
{
	static char text[4096];

	memset(text, 'h', sizeof text - 1);
	for (int i = 0; i < 100; i++) {
		int rc = cleat_reply_text(req, text);

		if (rc) {
			assert_int_equal(rc, CLEAT_ELIMIT); /* tells the handler, too */
			return CLEAT_OK;                    /* which need not listen */
		}
	}
	return CLEAT_OK;
}

static int huge_structured(cleat_request *req)
{
	return cleat_reply_jsonf(req, "{a: %s}", cleat_arg_str(req, "s"));
}

TEST(replies_over_the_limit_become_errors)
{
	char *line = malloc(40000), *fill = malloc(30001);
	struct rig r;

	assert_true(line && fill);
	memset(fill, 'f', 30000);
	fill[30000] = '\0';
	open_rig(&r, "2025-11-25", 20000);
	assert_has(run(&r, huge, TOOL),
		   "{\"code\":-32801,\"message\":\"the answer is over the limit");
	assert_has(run(&r, huge, RESOURCE), "-32801");
	assert_has(run(&r, huge, PROMPT), "-32801");
	snprintf(line, 40000, CALL("1", "free", "{\"s\":\"%s\"}"), fill);
	assert_has(run(&r, huge_structured, line), "-32801");
	/* written twice (as text, too) it is over; half of that is not */
	snprintf(line, 40000, CALL("1", "free", "{\"s\":\"%.12000s\"}"), fill);
	assert_has(run(&r, huge_structured, line), "-32801");
	snprintf(line, 40000, CALL("1", "free", "{\"s\":\"%.9000s\"}"), fill);
	assert_has(run(&r, huge_structured, line), "structuredContent");
	assert_has(run(&r, nothing, TOOL), "\"content\":[]");
	rig_stop(&r);
	free(line);
	free(fill);
}
