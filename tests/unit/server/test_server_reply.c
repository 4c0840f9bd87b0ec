/* test_server_reply.c - every cleat_reply_* in every place where a handler may call it, also in the
 * wrong ones; text that is not UTF-8, holds NUL or is too large; JSON of the program that has
 * newlines; structured results in each revision.
 */
#include "test.h"
#include "unit/server/server_reply_rig.h"

/* ---- texts ----------------------------------------------------------------------------------- */

static int texts(cleat_request *req)
{
	cleat_reply_text(req, NULL);
	cleat_reply_textn(req, "a\0b", 3);
	cleat_reply_textn(req, NULL, 7);
	cleat_reply_textf(req, "%s-%d", "f", 7);
	return cleat_reply_textf(req, "%0600d", 1); /* longer than any buffer on the stack */
}

RIG_TEST(texts_in_every_place)
{
	open_rig(r, "2025-11-25", 0);
	run(r, texts, TOOL);
	assert_has(r->out,
		   "\"content\":[{\"type\":\"text\",\"text\":\"\"},{\"type\":\"text\",\"text\":"
		   "\"a\\u0000b\"},{\"type\":\"text\",\"text\":\"\"},{\"type\":\"text\",\"text\":"
		   "\"f-7\"},{\"type\":\"text\",\"text\":\"000");
	run(r, texts, RESOURCE);
	assert_has(r->out,
		   "{\"contents\":[{\"uri\":\"r:1\",\"mimeType\":\"text/x-own\",\"text\":\"\"},");
	run(r, texts, PROMPT);
	assert_has(r->out, "{\"description\":\"own\",\"messages\":[{\"role\":\"user\",\"content\":{"
			   "\"type\":\"text\",\"text\":\"\"}},");
	run(r, texts, COMPLETE);
	assert_has(r->out,
		   "\"code\":-32603,\"message\":\"the handler of completion/complete cannot "
		   "reply with text; use cleat_reply_suggest\"");
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
RIG_TEST(invalid_utf8_is_replaced)
{
	open_rig(r, "2025-11-25", 0);
	run(r, invalid_utf8, TOOL);
	assert_has(r->out, "a\xef\xbf\xbd\xef\xbf\xbd"
			   "b\xef\xbf\xbd");
	run(r, invalid_utf8, RESOURCE);
	run(r, invalid_utf8, PROMPT);
	assert_has(run(r, invalid_utf8_error, TOOL), "bad \xef\xbf\xbd\\n\\t\\u0001 end");
	assert_has(r->out, "\"isError\":true");
	assert_has(run(r, invalid_utf8_reject, TOOL),
		   "\"code\":5,\"message\":\"bad \xef\xbf\xbd\\n");
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

RIG_TEST(bytes_in_every_place)
{
	open_rig(r, "2025-11-25", 0);
	run(r, bytes, TOOL);
	assert_has(r->out, "{\"type\":\"resource\",\"resource\":{\"uri\":\"");
	assert_has(r->out, "\"mimeType\":\"application/octet-stream\",\"blob\":\"AAEC\"}}");
	assert_has(r->out, "{\"type\":\"image\",\"data\":\"R0lG\",\"mimeType\":\"image/gif\"}");
	assert_has(r->out, "{\"type\":\"audio\",\"data\":\"\",\"mimeType\":\"audio/ogg\"}");
	assert_has(r->out, "\"data\":\"UA==\",\"mimeType\":\"image/png\"");
	run(r, bytes, RESOURCE);
	assert_has(r->out, "{\"uri\":\"r:1\",\"mimeType\":\"text/x-own\",\"blob\":\"AAEC\"}");
	assert_has(r->out, "{\"uri\":\"r:1\",\"mimeType\":\"image/gif\",\"blob\":\"R0lG\"}");
	run(r, bytes, PROMPT);
	assert_has(r->out, "{\"role\":\"user\",\"content\":{\"type\":\"image\"");
	assert_has(run(r, bytes, COMPLETE), "cannot reply with bytes");
}

/* 2024-11-05 has no audio: it travels as an embedded resource. */
RIG_TEST(bytes_before_there_was_audio)
{
	open_rig(r, "2024-11-05", 0);
	run(r, bytes, TOOL);
	assert_lacks(r->out, "\"type\":\"audio\"");
	assert_int_equal(count_of(r->out, "\"type\":\"resource\""), 3);
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
	struct rig r;

	open_rig(&r, "2025-11-25", 0);
	run(&r, parts, TOOL);
	assert_has(r.out, "{\"type\":\"resource\",\"resource\":{\"uri\":\"x:1\",\"mimeType\":"
			  "\"text/plain\",\"text\":\"one\"}}");
	run(&r, parts, RESOURCE); /* one more content under its own URI */
	assert_has(r.out, "\"contents\":[{\"uri\":\"x:1\",");
	assert_has(r.out, "{\"uri\":\"x:2\",\"blob\":\"dHdv\"}");
	run(&r, parts, PROMPT);
	assert_has(run(&r, parts, COMPLETE), "-32603");
	run(&r, link, TOOL);
	assert_has(r.out,
		   "{\"type\":\"resource_link\",\"uri\":\"x:1\",\"name\":\"One\",\"mimeType\":"
		   "\"text/plain\",\"description\":\"the first\"}");
	assert_has(r.out, "{\"type\":\"resource_link\",\"uri\":\"x:2\",\"name\":\"x:2\"}");
	run(&r, link, PROMPT);
	assert_has(run(&r, link, RESOURCE), "cannot reply with a link");
	assert_has(run(&r, link, COMPLETE), "cannot reply with a link");
	rig_stop(&r);
	open_rig(&r, "2025-03-26", 0);
	assert_has(run(&r, link, TOOL), "{\"type\":\"text\",\"text\":\"One: x:1\"}");
	rig_stop(&r);
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
	struct rig r;

	open_rig(&r, "2025-11-25", 0);
	run(&r, annotated, TOOL);
	assert_has(r.out,
		   "{\"type\":\"text\",\"text\":\"one\",\"annotations\":{\"audience\":[\"user\"],"
		   "\"priority\":0.5,\"lastModified\":\"2026-01-02T03:04:05Z\"},\"_meta\":{\"k\":"
		   "[1,2]}},{\"type\":\"text\",\"text\":\"two\"}]");
	assert_has(r.out, "\"_meta\":{\"m\":\"x\\ny\"}}");
	run(&r, annotated, PROMPT);
	assert_has(r.out, "\"_meta\":{\"m\":\"x\\ny\"}}");
	run(&r, annotated, RESOURCE);
	assert_has(r.out, "\"text\":\"one\",\"_meta\":{\"k\":[1,2]}}");
	rig_stop(&r);
	open_rig(&r, "2024-11-05", 0); /* knows no _meta on blocks and no lastModified */
	run(&r, annotated, TOOL);
	assert_lacks(r.out, "lastModified");
	assert_lacks(r.out, "\"k\"");
	rig_stop(&r);
	open_rig(&r, NULL, 0);
	run(&r, annotated, REQUEST("1", "tools/call", MODERN ",\"name\":\"t\""));
	assert_has(r.out, "\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"rig\","
			  "\"version\":\"1\"},\"m\":\"x\\ny\"}");
	rig_stop(&r);
}

static int empty_meta(cleat_request *req)
{
	cleat_reply_meta(req, " { } ");
	return cleat_reply_text(req, "x");
}

static int bad_meta(cleat_request *req)
{
	cleat_reply_text(req, "x");
	return cleat_reply_meta(req, "[]");
}

static int bad_block_meta(cleat_request *req)
{
	cleat_reply_annotate(req, NULL, "{\"a\":");
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
	struct rig r;

	open_rig(&r, "2025-11-25", 0);
	assert_has(run(&r, empty_meta, TOOL), "\"_meta\":{}");
	assert_has(run(&r, bad_meta, TOOL), "_meta that is not a JSON object");
	assert_has(run(&r, bad_block_meta, TOOL), "_meta that is not a JSON object");
	assert_has(run(&r, bad_data, TOOL),
		   "{\"code\":-7,\"message\":\"why 1\",\"data\":{\"a\":1}}");
	assert_has(run(&r, nonsense_data, TOOL), "{\"code\":-7,\"message\":\"why 2\"}");
	rig_stop(&r);
	open_rig(&r, NULL, 0);
	run(&r, empty_meta, REQUEST("1", "tools/call", MODERN ",\"name\":\"t\""));
	rig_stop(&r);
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
	static const struct {
		const char *revision;
		bool structured;
	} all[] = { { "2024-11-05", false },
		    { "2025-03-26", false },
		    { "2025-06-18", true },
		    { "2025-11-25", true } };
	struct rig r;

	for (size_t i = 0; i < CLEAT_COUNT(all); i++) {
		open_rig(&r, all[i].revision, 0);
		run(&r, object, TOOL);
		assert_has(r.out, "\"content\":[{\"type\":\"text\",\"text\":\"{\\\"a\\\":1,");
		if (all[i].structured)
			assert_has(r.out, "\"structuredContent\":{\"a\":1,\"b\":[\"x\",null]}");
		else
			assert_lacks(r.out, "structuredContent");
		run(&r, number, TOOL); /* an object until 2025-11-25 */
		assert_has(r.out, "\"text\":\"2.5\"");
		assert_lacks(r.out, "structuredContent");
		run(&r, object_and_text, TOOL);
		assert_has(r.out, "\"content\":[{\"type\":\"text\",\"text\":\"for people\"}]");
		run(&r, twice, TOOL);
		assert_lacks(r.out, "2.5");
		run(&r, object, PROMPT);
		assert_lacks(r.out, "structuredContent");
		assert_has(r.out, "\"text\":\"{\\\"a\\\":1,");
		run(&r, object, RESOURCE);
		assert_lacks(r.out, "structuredContent");
		rig_stop(&r);
	}
	open_rig(&r, NULL, 0);
	run(&r, number, REQUEST("1", "tools/call", MODERN ",\"name\":\"t\""));
	assert_has(r.out, "\"structuredContent\":2.5");
	run(&r, null_json, REQUEST("1", "tools/call", MODERN ",\"name\":\"t\""));
	assert_has(r.out, "\"structuredContent\":null");
	run(&r, own_json,
	    REQUEST("1", "tools/call",
		    MODERN ",\"name\":\"free\",\"arguments\":{\"n\":1.10,\t\"s\":\"\\u000a\"}"));
	assert_has(r.out, "\"structuredContent\":{\"n\":1.10,\"s\":\"\\n\"}");
	rig_stop(&r);
}

static int record(cleat_request *req)
{
	struct place p = *(const struct place *)cleat_request_args(req);

	p.days++;
	return cleat_reply_record(req, &p);
}

static int record_not_declared(cleat_request *req)
{
	struct place p = { .city = "x" };

	return cleat_reply_record(req, &p);
}

static int record_with_null(cleat_request *req)
{
	struct place p = { .days = 1 };

	return cleat_reply_record(req, &p);
}

RIG_TEST(records_go_in_and_out)
{
	open_rig(r, "2025-11-25", 0);
	run(r, record, CALL("1", "rec", "{\"city\":\"Rome\",\"sure\":true,\"share\":0.25}"));
	assert_has(r->out, "\"structuredContent\":{\"city\":\"Rome\",\"days\":4,\"sure\":true,"
			   "\"share\":0.25}");
	run(r, record, CALL("1", "rec", "{\"days\":1}"));
	assert_has(r->out, "isError");
	run(r, record_not_declared, TOOL);
	assert_has(r->out, "no output fields are declared");
	run(r, record_with_null, CALL("1", "rec", "{\"city\":\"Rome\"}"));
	assert_has(r->out, "\"id\":1"); /* required and NULL: an error or null, but an answer */
	assert_has(run(r, bad_template, TOOL), "-32603");
	assert_lacks(r->out, "dropped");
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

RIG_TEST(prompts_and_completions)
{
	open_rig(r, "2025-11-25", 0);
	run(r, messages, PROMPT);
	assert_has(r->out,
		   "{\"description\":\"this very\",\"messages\":[{\"role\":\"assistant\","
		   "\"content\":{\"type\":\"text\",\"text\":\"1\"}},{\"role\":\"assistant\",");
	assert_int_equal(count_of(r->out, "\"role\":\"user\""), 3);
	assert_has(run(r, nothing, PROMPT), "{\"description\":\"own\",\"messages\":[]}");
	assert_has(run(r, nothing, TOOL), "\"result\":{\"content\":[]}");
	assert_has(run(r, nothing, RESOURCE), "\"result\":{\"contents\":[]}");
	assert_has(run(r, nothing, COMPLETE), "{\"values\":[],\"total\":0,\"hasMore\":false}");
	run(r, suggest, COMPLETE); /* 2025-11-25 utilities/completion: 100 at most */
	assert_has(r->out, "\"s99\"]");
	assert_has(r->out, "\"total\":150,\"hasMore\":true");
	assert_has(run(r, suggest_total, COMPLETE),
		   "{\"values\":[\"\",\"b\"],\"total\":7,\"hasMore\":true}");
	assert_has(run(r, suggest_total, TOOL), "cannot reply with a suggestion");
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

static int not_found(cleat_request *req)
{
	return cleat_reply_not_found(req);
}

RIG_TEST(failures_in_every_place)
{
	open_rig(r, "2025-11-25", 0);
	run(r, error_drops, TOOL);
	assert_has(r->out,
		   "{\"content\":[{\"type\":\"text\",\"text\":\"it broke\"},{\"type\":\"text\","
		   "\"text\":\"and more\"}],\"isError\":true}");
	assert_has(run(r, error_drops, PROMPT), "{\"code\":-32603,\"message\":\"it broke\"}");
	assert_has(run(r, error_drops, RESOURCE), "{\"code\":-32603,\"message\":\"it broke\"}");
	assert_has(run(r, reject_wins, TOOL), "\"error\":{\"code\":-1,\"message\":\"no\"}");
	assert_has(run(r, not_found, RESOURCE),
		   "{\"code\":-32002,\"message\":\"Resource not found: "
		   "r:1\",\"data\":{\"uri\":\"r:1\"}}");
	run(r, not_found, REQUEST("1", "resources/read", MODERN ",\"uri\":\"r:1\""));
	assert_has(r->out, "\"code\":-32602");
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
