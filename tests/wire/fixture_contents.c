/* fixture_contents.c - replies of every kind: blocks with annotations and _meta, links, structured
 * results, resources of several contents, completions of every length.
 */
#include "fixture.h"

#include <stdio.h>
#include <string.h>

static const cleat_annotations for_user = {
	.user = true, .has_priority = true, .priority = 1, .last_modified = "2025-01-12T15:00:58Z"
};

/* ---- tools -------------------------------------------------------------------------------- */

static void mark(cleat_request *req)
{
	cleat_reply_annotate(req, &for_user, "{\"example.com/k\": \"v\"}");
}

static int all_kinds(cleat_request *req)
{
	mark(req);
	cleat_reply_text(req, "text");
	mark(req);
	cleat_reply_image(req, "image/png", fixture_png, 8);
	mark(req);
	cleat_reply_audio(req, "audio/wav", fixture_wav, 8);
	mark(req);
	cleat_reply_resource_text(req, "test://a", "text/plain", "embedded");
	mark(req);
	cleat_reply_resource_blob(req, "test://b", NULL, "\0\1\2", 3);
	mark(req);
	cleat_reply_blob(req, "application/zip", "PK", 2);
	mark(req);
	cleat_reply_link(req, "test://static-text", "static-text", "text/plain", "A link");
	cleat_reply_text(req, "plain");
	return cleat_reply_meta(req, "{\"example.com/result\": true}");
}

static int links(cleat_request *req)
{
	cleat_reply_link(req, "test://static-text", "static-text", "text/plain", "A link");
	return cleat_reply_link(req, "test://bare", NULL, NULL, NULL);
}

static int structured(cleat_request *req)
{
	return cleat_reply_jsonf(req, "{n: %d, s: %s, list: [1, 2.50], none: null}", 3, "x");
}

static int structured_and_text(cleat_request *req)
{
	cleat_reply_jsonf(req, "{n: 1}");
	return cleat_reply_text(req, "One.");
}

static int structured_list(cleat_request *req)
{
	return cleat_reply_jsonf(req, "[1, 'two']");
}

static int nothing(cleat_request *req)
{
	return cleat_reply_nothing(req);
}

/* What was replied before an error is dropped. */
static int error_after_text(cleat_request *req)
{
	cleat_reply_text(req, "so far so good");
	cleat_reply_jsonf(req, "{n: 1}");
	return cleat_reply_error(req, "then it broke: %d", 7);
}

static int rejects(cleat_request *req)
{
	return cleat_reply_reject_data(req, (int)cleat_arg_int(req, "code"), "{ \"why\": [1, 2] }",
				       "refused: %s", cleat_arg_str(req, "why"));
}

/* ---- resources ---------------------------------------------------------------------------- */

static int several(cleat_request *req)
{
	cleat_reply_text(req, "first");
	cleat_reply_annotate(req, NULL, "{\"example.com/k\":1}");
	cleat_reply_resource_text(req, "multi://second", "text/html", "<b>second</b>");
	cleat_reply_resource_blob(req, "multi://third", "application/zip", "PK", 2);
	cleat_reply_meta(req, "{\"example.com/result\":true}");
	return cleat_reply_cache(req, 5000, true);
}

static int item(cleat_request *req)
{
	if (strcmp(cleat_request_var(req, "id"), "none") == 0)
		return cleat_reply_not_found(req);
	if (strcmp(cleat_request_var(req, "id"), "broken") == 0)
		return cleat_reply_error(req, "The disk is broken");
	return cleat_reply_textf(req, "%s is %s", cleat_request_uri(req),
				 cleat_request_var(req, "id"));
}

static int complete_many(cleat_request *req)
{
	char value[32];

	for (int i = 0; i < 250; i++) {
		snprintf(value, sizeof value, "%s%d", cleat_request_typed(req), i);
		cleat_reply_suggest(req, value);
	}
	return CLEAT_OK;
}

static int complete_total(cleat_request *req)
{
	cleat_reply_suggest(req, "one");
	return cleat_reply_suggest_total(req, 1000, true);
}

/* ---- prompts ------------------------------------------------------------------------------ */

static int conversation(cleat_request *req)
{
	cleat_reply_message(req, "user", "Look at %s", cleat_arg_str(req, "what"));
	cleat_reply_role(req, "assistant");
	cleat_reply_audio(req, "audio/wav", fixture_wav, 8);
	cleat_reply_link(req, "test://static-text", "static-text", NULL, NULL);
	return cleat_reply_jsonf(req, "{count: %d}", (int)cleat_arg_int(req, "count"));
}

void fixture_add_contents(cleat_server *s)
{
	static const cleat_tool tools[] = {
		{ .name = "all_kinds", .description = "Every kind of content", .call = all_kinds },
		{ .name = "links", .description = "Links", .call = links },
		{ .name = "structured",
		  .description = "An object",
		  .call = structured,
		  .output_schema = "{\"type\":\"object\"}" },
		{ .name = "structured_and_text",
		  .description = "An object, and text of its own",
		  .call = structured_and_text },
		{ .name = "structured_list", .description = "A list", .call = structured_list },
		{ .name = "nothing", .description = "Nothing to say", .call = nothing },
		{ .name = "error_after_text",
		  .description = "Fails late",
		  .call = error_after_text },
		{ .signature = "reject(code: integer, why: string)",
		  .description = "Refuses the request",
		  .call = rejects },
	};
	static const cleat_resource resources[] = {
		{ .uri = "multi://first", .name = "multi", .read = several },
		{ .uri = "item://{id}", .name = "item", .mime_type = "text/plain", .read = item },
		{ .uri = "many://{x}/{y}",
		  .name = "many",
		  .read = item,
		  .complete = complete_many },
		{ .uri = "total://{x}", .name = "total", .read = item, .complete = complete_total },
	};
	static const cleat_prompt prompts[] = {
		{ .signature = "conversation(what: string, count: integer = 3)",
		  .description = "Two roles",
		  .get = conversation },
	};

	cleat_server_add_tools(s, tools, CLEAT_COUNT(tools));
	cleat_server_add_resources(s, resources, CLEAT_COUNT(resources));
	cleat_server_add_prompts(s, prompts, CLEAT_COUNT(prompts));
}
