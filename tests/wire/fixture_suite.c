/* fixture_suite.c - the tools, resources and prompts that the official conformance suite asks for by
 * name, with the texts that its scenarios prescribe. Its questions are in fixture_suite_ask.c.
 */
#include "fixture.h"

#include <stdio.h>
#include <string.h>

/* ---- tools -------------------------------------------------------------------------------- */

static int simple_text(cleat_request *req)
{
	return cleat_reply_text(req, "This is a simple text response for testing.");
}

static int image_content(cleat_request *req)
{
	return cleat_reply_image(req, "image/png", fixture_png, sizeof fixture_png);
}

static int audio_content(cleat_request *req)
{
	return cleat_reply_audio(req, "audio/wav", fixture_wav, sizeof fixture_wav);
}

static int embedded_resource(cleat_request *req)
{
	return cleat_reply_resource_text(req, "test://embedded-resource", "text/plain",
					 "This is an embedded resource content.");
}

static int multiple_content_types(cleat_request *req)
{
	cleat_reply_text(req, "Multiple content types test:");
	cleat_reply_image(req, "image/png", fixture_png, sizeof fixture_png);
	return cleat_reply_resource_text(req, "test://mixed-content-resource", "application/json",
					 "{\"test\":\"data\",\"value\":123}");
}

static int error_handling(cleat_request *req)
{
	return cleat_reply_error(req, "This tool intentionally returns an error for testing");
}

static int with_progress(cleat_request *req)
{
	for (int done = 0; done <= 100; done += 50)
		cleat_request_progress(req, done, 100, NULL);
	return cleat_reply_text(req, "Progress reported");
}

static int with_logging(cleat_request *req)
{
	cleat_request_log(req, CLEAT_LOG_INFO, "Tool execution started");
	cleat_request_log(req, CLEAT_LOG_INFO, "Tool processing data");
	cleat_request_log(req, CLEAT_LOG_INFO, "Tool execution completed");
	return cleat_reply_text(req, "Logged");
}

static int reconnection(cleat_request *req)
{
	cleat_request_release(req, 100); /* the answer is for whoever comes back */
	return cleat_reply_text(req, "Reconnection test completed");
}

static int x_mcp_header(cleat_request *req)
{
	return cleat_reply_textf(req, "region=%s", cleat_arg_str(req, "region"));
}

static int trigger_tool_change(cleat_request *req)
{
	cleat_server *s = cleat_request_server(req);

	cleat_server_remove_tool(s, "test_dynamic_tool");
	cleat_server_add_tool(s, &(cleat_tool){ .name = "test_dynamic_tool",
						.description = "Came while the server ran",
						.call = simple_text });
	return cleat_reply_text(req, "The list of tools changed");
}

static int dynamic_prompt(cleat_request *req)
{
	return cleat_reply_message(req, "user", "Dynamic");
}

static int trigger_prompt_change(cleat_request *req)
{
	cleat_server *s = cleat_request_server(req);

	cleat_server_remove_prompt(s, "test_dynamic_prompt");
	cleat_server_add_prompt(s, &(cleat_prompt){ .name = "test_dynamic_prompt",
						    .description = "Came while the server ran",
						    .get = dynamic_prompt });
	return cleat_reply_text(req, "The list of prompts changed");
}

static const char schema_2020_12[] =
	"{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\",\"$defs\":{"
	"\"address\":{\"$anchor\":\"addressDef\",\"type\":\"object\",\"properties\":{\"street\":{"
	"\"type\":\"string\"},\"city\":{\"type\":\"string\"}}}},\"properties\":{\"name\":{\"type\":"
	"\"string\"},\"address\":{\"$ref\":\"#/$defs/address\"},\"contactMethod\":{\"type\":\"string\","
	"\"enum\":[\"phone\",\"email\"]},\"phone\":{\"type\":\"string\"},\"email\":{\"type\":"
	"\"string\"}},\"allOf\":[{\"anyOf\":[{\"required\":[\"phone\"]},{\"required\":[\"email\"]}]}],"
	"\"if\":{\"properties\":{\"contactMethod\":{\"const\":\"phone\"}},\"required\":["
	"\"contactMethod\"]},\"then\":{\"required\":[\"phone\"]},\"else\":{\"required\":[\"email\"]},"
	"\"additionalProperties\":false}";

static const char schema_header[] =
	"{\"type\":\"object\",\"properties\":{\"region\":{\"type\":\"string\",\"x-mcp-header\":"
	"\"Region\"},\"level\":{\"type\":\"integer\"}}}";

void fixture_add_suite_tools(cleat_server *s)
{
	static const cleat_tool tools[] = {
		{ .name = "test_simple_text", .description = "Text", .call = simple_text },
		{ .name = "test_image_content", .description = "Image", .call = image_content },
		{ .name = "test_audio_content", .description = "Sound", .call = audio_content },
		{ .name = "test_embedded_resource",
		  .description = "Embedded resource",
		  .call = embedded_resource },
		{ .name = "test_multiple_content_types",
		  .description = "Text, image and resource",
		  .call = multiple_content_types },
		{ .name = "test_error_handling",
		  .description = "Always fails",
		  .call = error_handling },
		{ .name = "test_tool_with_progress",
		  .description = "Reports progress",
		  .call = with_progress },
		{ .name = "test_tool_with_logging", .description = "Logs", .call = with_logging },
		{ .name = "test_logging_tool", .description = "Logs", .call = with_logging },
		{ .name = "test_reconnection",
		  .description = "Answers after a reconnection",
		  .call = reconnection },
		{ .name = "json_schema_2020_12_tool",
		  .description = "A schema with much of 2020-12",
		  .call = simple_text,
		  .input_schema = schema_2020_12 },
		{ .name = "test_x_mcp_header",
		  .description = "An argument that travels in a header",
		  .call = x_mcp_header,
		  .input_schema = schema_header },
		{ .name = "test_trigger_tool_change",
		  .description = "Changes the list of tools",
		  .call = trigger_tool_change },
		{ .name = "test_trigger_prompt_change",
		  .description = "Changes the list of prompts",
		  .call = trigger_prompt_change },
	};

	cleat_server_add_tools(s, tools, CLEAT_COUNT(tools));
}

/* ---- resources ---------------------------------------------------------------------------- */

static int static_binary(cleat_request *req)
{
	return cleat_reply_blob(req, NULL, fixture_png, sizeof fixture_png);
}

static int template_data(cleat_request *req)
{
	const char *id = cleat_request_var(req, "id");
	char data[200];

	snprintf(data, sizeof data, "Data for ID: %.100s", id);
	return cleat_reply_jsonf(req, "{id: %s, templateTest: true, data: %s}", id, data);
}

static int complete_id(cleat_request *req)
{
	static const char *const ids[] = { "123", "124", "456" };

	return cleat_reply_suggest_from(req, ids, CLEAT_COUNT(ids));
}

void fixture_add_suite_resources(cleat_server *s)
{
	static const cleat_resource resources[] = {
		{ .uri = "test://static-text",
		  .name = "static-text",
		  .description = "Fixed text",
		  .mime_type = "text/plain",
		  .text = "This is the content of the static text resource." },
		{ .uri = "test://static-binary",
		  .name = "static-binary",
		  .description = "Fixed bytes",
		  .mime_type = "image/png",
		  .read = static_binary },
		{ .uri = "test://template/{id}/data",
		  .name = "template",
		  .description = "Data by id",
		  .mime_type = "application/json",
		  .read = template_data,
		  .complete = complete_id },
		{ .uri = "test://watched-resource",
		  .name = "watched-resource",
		  .description = "Changes now and then",
		  .mime_type = "text/plain",
		  .text = "Watched" },
	};

	cleat_server_add_resources(s, resources, CLEAT_COUNT(resources));
}

/* ---- prompts ------------------------------------------------------------------------------ */

static int simple_prompt(cleat_request *req)
{
	return cleat_reply_message(req, "user", "This is a simple prompt for testing.");
}

static int prompt_with_arguments(cleat_request *req)
{
	return cleat_reply_message(req, "user", "Prompt with arguments: arg1='%s', arg2='%s'",
				   cleat_arg_str(req, "arg1"), cleat_arg_str(req, "arg2"));
}

static int complete_arguments(cleat_request *req)
{
	const char *other = cleat_request_context(req, "arg1");
	char value[64];

	for (int i = 1; i <= 3; i++) {
		snprintf(value, sizeof value, "%s%.20s%d", "testValue", other ? other : "", i);
		if (strncmp(value, cleat_request_typed(req), strlen(cleat_request_typed(req))) == 0)
			cleat_reply_suggest(req, value);
	}
	return cleat_reply_nothing(req);
}

static int prompt_with_resource(cleat_request *req)
{
	cleat_reply_resource_text(req, cleat_arg_str(req, "resourceUri"), "text/plain",
				  "Embedded resource content for testing.");
	return cleat_reply_message(req, "user", "Please process the embedded resource above.");
}

static int prompt_with_image(cleat_request *req)
{
	cleat_reply_image(req, "image/png", fixture_png, sizeof fixture_png);
	return cleat_reply_message(req, "user", "Please analyze the image above.");
}

void fixture_add_suite_prompts(cleat_server *s)
{
	static const cleat_prompt prompts[] = {
		{ .name = "test_simple_prompt",
		  .description = "A prompt without arguments",
		  .get = simple_prompt },
		{ .signature = "test_prompt_with_arguments(arg1: string \"First\", "
			       "arg2: string \"Second\")",
		  .description = "A prompt with two arguments",
		  .get = prompt_with_arguments,
		  .complete = complete_arguments },
		{ .signature = "test_prompt_with_embedded_resource(resourceUri: string \"What to "
			       "embed\")",
		  .description = "A prompt with a resource",
		  .get = prompt_with_resource },
		{ .name = "test_prompt_with_image",
		  .description = "A prompt with an image",
		  .get = prompt_with_image },
	};

	cleat_server_add_prompts(s, prompts, CLEAT_COUNT(prompts));
}
