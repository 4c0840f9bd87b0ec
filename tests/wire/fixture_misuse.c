/* fixture_misuse.c - handlers that do what they should not. Whatever they do, the client gets one
 * well-formed answer and the server lives on.
 */
#include "fixture.h"

#include <string.h>

static int silent(cleat_request *req)
{
	(void)req;
	return CLEAT_OK;
}

static int pending(cleat_request *req)
{
	(void)req;
	return CLEAT_PENDING;
}

static int finishes_undeferred(cleat_request *req)
{
	cleat_request_finish(req, CLEAT_EIO);
	return cleat_reply_text(req, "normal");
}

static int status(cleat_request *req)
{
	cleat_reply_text(req, "thrown away");
	return (int)cleat_arg_int(req, "status");
}

static int not_utf8(cleat_request *req)
{
	return cleat_reply_text(req, "a\xff\xc0\x80z \xed\xa0\x80");
}

static int nul(cleat_request *req)
{
	return cleat_reply_textn(req, "a\0b\r\n\x7f\x1b", 7);
}

static int huge(cleat_request *req)
{
	size_t n = (size_t)cleat_arg_int(req, "bytes");
	char *text = cleat_request_alloc(req, n + 1);

	if (text)
		memset(text, 'x', n);
	return cleat_reply_text(req, text);
}

static int bad_meta(cleat_request *req)
{
	cleat_reply_text(req, "text");
	return cleat_reply_meta(req, "[1]");
}

static int bad_annotation_meta(cleat_request *req)
{
	cleat_reply_annotate(req, NULL, "{oops");
	return cleat_reply_text(req, "text");
}

static int bad_record(cleat_request *req)
{
	return cleat_reply_record(req, "no output fields are declared");
}

static int bad_template(cleat_request *req)
{
	return cleat_reply_jsonf(req, "{n: }");
}

static int bad_suggestion(cleat_request *req)
{
	return cleat_reply_suggest(req, "not a completion");
}

static int bad_link(cleat_request *req)
{
	return cleat_reply_link(req, "test://x", NULL, NULL, NULL);
}

/* ---- questions ---------------------------------------------------------------------------- */

static int asks_nothing(cleat_request *req)
{
	(void)req;
	return CLEAT_NEED_INPUT;
}

static int asks_one_key_twice(cleat_request *req)
{
	const cleat_json *v;
	int rc = cleat_ask_roots(req, "same", &v);
	int rc2 = cleat_ask_schema(req, "same", "?", "{\"type\":\"object\",\"properties\":{}}", &v);

	return rc2 < 0 ? rc2 : rc;
}

static int asks_without_key(cleat_request *req)
{
	const cleat_json *v;

	return cleat_ask_roots(req, "", &v);
}

static int asks_bad_schema(cleat_request *req)
{
	const cleat_json *v;

	return cleat_ask_schema(req, "k", "?", "not JSON", &v);
}

/* A new question in every round. */
static int asks_for_ever(cleat_request *req)
{
	static const char *const keys[] = { "a", "b", "c", "d", "e" };
	const cleat_json *v;
	int rc = CLEAT_OK;

	for (size_t i = 0; !rc && i < CLEAT_COUNT(keys); i++)
		rc = cleat_ask_roots(req, keys[i], &v);
	return rc ? rc : cleat_reply_text(req, "five answers");
}

static int too_much_state(cleat_request *req)
{
	char text[5000];
	const cleat_json *v;

	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	cleat_request_set_state(req, "%s", text);
	return cleat_ask_roots(req, "roots", &v);
}

static int completes_with_text(cleat_request *req)
{
	return cleat_reply_text(req, "not a suggestion");
}

static int completes_by_asking(cleat_request *req)
{
	const cleat_json *v;

	return cleat_ask_roots(req, "roots", &v);
}

void fixture_add_misuse(cleat_server *s)
{
	static const cleat_tool tools[] = {
		{ .name = "bad_silent", .description = "Says nothing", .call = silent },
		{ .name = "bad_pending", .description = "Pending for ever", .call = pending },
		{ .name = "bad_finish",
		  .description = "Finishes what it did not defer",
		  .call = finishes_undeferred },
		{ .signature = "bad_status(status: integer)",
		  .description = "Returns this status",
		  .call = status },
		{ .name = "bad_utf8", .description = "Text that is none", .call = not_utf8 },
		{ .name = "bad_nul", .description = "Text with NUL", .call = nul },
		{ .signature = "huge(bytes: integer 0..4000000)",
		  .description = "Says much",
		  .call = huge },
		{ .name = "bad_meta", .description = "_meta is a list", .call = bad_meta },
		{ .name = "bad_annotation_meta",
		  .description = "_meta is no JSON",
		  .call = bad_annotation_meta },
		{ .name = "bad_record", .description = "A record of nothing", .call = bad_record },
		{ .name = "bad_template", .description = "No template", .call = bad_template },
		{ .name = "bad_suggestion", .description = "A suggestion", .call = bad_suggestion },
		{ .name = "bad_ask_nothing",
		  .description = "Waits for nothing",
		  .call = asks_nothing },
		{ .name = "bad_ask_twice",
		  .description = "One key, two questions",
		  .call = asks_one_key_twice },
		{ .name = "bad_ask_key", .description = "No key", .call = asks_without_key },
		{ .name = "bad_ask_schema", .description = "No schema", .call = asks_bad_schema },
		{ .name = "ask_for_ever",
		  .description = "Never has enough",
		  .call = asks_for_ever },
		{ .name = "bad_state", .description = "Too much state", .call = too_much_state },
	};
	static const cleat_prompt prompts[] = {
		{ .signature = "bad_completion(x: string)",
		  .description = "Suggests what is no suggestion",
		  .get = bad_suggestion,
		  .complete = completes_with_text },
		{ .signature = "asking_completion(x: string)",
		  .description = "Asks while it completes",
		  .get = silent,
		  .complete = completes_by_asking },
	};
	static const cleat_resource resources[] = {
		{ .uri = "bad://link", .read = bad_link },
		{ .uri = "bad://silent", .read = silent },
	};

	cleat_server_add_tools(s, tools, CLEAT_COUNT(tools));
	cleat_server_add_prompts(s, prompts, CLEAT_COUNT(prompts));
	cleat_server_add_resources(s, resources, CLEAT_COUNT(resources));
}
