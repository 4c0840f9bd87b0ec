/* fixture_suite_ask.c - the tools and the prompt of the official conformance suite that ask the
 * client something. The same handlers serve both eras.
 */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

/* "action=accept, content={...}" as a text block. */
static int reply_action(cleat_request *req, const char *lead, int rc, const cleat_json *content)
{
	char *text = content ? cleat_json_print(content, NULL) : NULL;
	const char *action = rc == CLEAT_OK          ? "accept"
			     : rc == CLEAT_EDECLINED ? "decline"
						     : "cancel";

	rc = cleat_reply_textf(req, "%s: action=%s, content=%s", lead, action, text ? text : "{}");
	free(text);
	return rc;
}

static bool settled(int rc)
{
	return rc == CLEAT_OK || rc == CLEAT_EDECLINED || rc == CLEAT_ECANCELLED;
}

static int ask_and_show(cleat_request *req, const char *lead, const char *message,
			const char *schema)
{
	const cleat_json *content;
	int rc = cleat_ask_schema(req, "form", message, schema, &content);

	return settled(rc) ? reply_action(req, lead, rc, content) : rc;
}

static int sampling(cleat_request *req)
{
	const char *text;
	int rc = cleat_ask_sampling(
		req, "sample",
		&(cleat_sampling){ .prompt = cleat_arg_str(req, "prompt"), .max_tokens = 100 },
		&text, NULL);

	return rc ? rc : cleat_reply_textf(req, "LLM response: %s", text);
}

static int elicitation(cleat_request *req)
{
	return ask_and_show(
		req, "User response", cleat_arg_str(req, "message"),
		"{\"type\":\"object\",\"properties\":{\"username\":{\"type\":\"string\"},"
		"\"email\":{\"type\":\"string\"}},\"required\":[\"username\",\"email\"]}");
}

static int sep1034(cleat_request *req)
{
	return ask_and_show(
		req, "Elicitation completed", "Please review",
		"{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\",\"default\":"
		"\"John Doe\"},\"age\":{\"type\":\"integer\",\"default\":30},\"score\":{\"type\":"
		"\"number\",\"default\":95.5},\"status\":{\"type\":\"string\",\"enum\":[\"active\","
		"\"inactive\",\"pending\"],\"default\":\"active\"},\"verified\":{\"type\":\"boolean\","
		"\"default\":true}}}");
}

#define TITLED(a, b, c)                                                                            \
	"[{\"const\":\"" a "\",\"title\":\"One\"},{\"const\":\"" b                                 \
	"\",\"title\":\"Two\"},{\"const\":\"" c "\",\"title\":\"Three\"}]"
#define PLAIN "[\"option1\",\"option2\",\"option3\"]"

static int sep1330(cleat_request *req)
{
	return ask_and_show(
		req, "Elicitation completed", "Please choose",
		"{\"type\":\"object\",\"properties\":{\"untitledSingle\":{\"type\":\"string\",\"enum\":" PLAIN
		"},\"titledSingle\":{\"type\":\"string\",\"oneOf\":" TITLED(
			"value1", "value2",
			"value3") "},\"legacyEnum\":{\"type\":\"string\",\"enum\":[\"opt1\",\"opt2\",\"opt3\"],"
				  "\"enumNames\":[\"Option One\",\"Option Two\",\"Option Three\"]},\"untitledMulti\":{"
				  "\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":" PLAIN
				  "}},\"titledMulti\":{\"type\":\"array\",\"items\":{\"anyOf\":" TITLED(
					  "value1", "value2", "value3") "}}}}");
}

/* ---- input_required (2026-07-28) ------------------------------------------------------------ */

struct name {
	const char *name;
};
static const cleat_field name_fields[] = { CLEAT_FIELD(struct name, name, NULL), CLEAT_FIELD_END };

struct confirm {
	bool ok;
};
static const cleat_field confirm_fields[] = { CLEAT_FIELD(struct confirm, ok, NULL),
					      CLEAT_FIELD_END };

struct color {
	const char *color;
};
static const cleat_field color_fields[] = { CLEAT_FIELD(struct color, color, NULL),
					    CLEAT_FIELD_END };

struct context {
	const char *context;
};
static const cleat_field context_fields[] = { CLEAT_FIELD(struct context, context, NULL),
					      CLEAT_FIELD_END };

static const cleat_sampling capital = { .prompt = "What is the capital of France?",
					.max_tokens = 100 };

static int ask_elicitation(cleat_request *req)
{
	struct name a;
	int rc = cleat_ask_form(req, "user_name", "What is your name?", name_fields, &a);

	return rc ? rc : cleat_reply_textf(req, "Hello, %s!", a.name);
}

static int ask_sampling(cleat_request *req)
{
	const char *text;
	int rc = cleat_ask_sampling(req, "capital_question", &capital, &text, NULL);

	return rc ? rc : cleat_reply_textf(req, "The model says: %s", text);
}

static int ask_list_roots(cleat_request *req)
{
	const cleat_json *roots;
	int rc = cleat_ask_roots(req, "client_roots", &roots);

	return rc ? rc : cleat_reply_textf(req, "Roots: %zu", cleat_json_size(roots));
}

static int ask_request_state(cleat_request *req)
{
	const cleat_json *state = cleat_request_state(req);
	struct confirm a;
	int rc;

	if (!state)
		cleat_request_set_state(req, "{step: 1}");
	rc = cleat_ask_form(req, "confirm", "Please confirm", confirm_fields, &a);
	if (rc)
		return rc;
	return cleat_reply_text(req, state ? "state-ok" : "the state is missing");
}

/* Any failure is better than an open question. */
static int worst(int a, int b, int c)
{
	if (a < 0 || b < 0)
		return a < 0 ? a : b;
	return c < 0 ? c : a | b | c;
}

static int ask_multiple(cleat_request *req)
{
	const cleat_json *roots;
	const char *text;
	struct name a;
	int rc, rc2, rc3;

	cleat_request_set_state(req, "{asked: 3}");
	rc = cleat_ask_form(req, "user_name", "What is your name?", name_fields, &a);
	rc2 = cleat_ask_sampling(req, "capital_question", &capital, &text, NULL);
	rc3 = cleat_ask_roots(req, "client_roots", &roots);
	rc = worst(rc, rc2, rc3);
	if (rc)
		return rc;
	return cleat_reply_textf(req, "%s, %s, %zu roots", a.name, text, cleat_json_size(roots));
}

static int ask_multi_round(cleat_request *req)
{
	struct name first;
	struct color second;
	int rc;

	cleat_request_set_state(
		req, "{round: %d}",
		(int)cleat_json_int(cleat_json_get(cleat_request_state(req), "round"), 0) + 1);
	rc = cleat_ask_form(req, "step1", "What is your name?", name_fields, &first);
	if (rc)
		return rc;
	rc = cleat_ask_form(req, "step2", "What is your favourite colour?", color_fields, &second);
	return rc ? rc : cleat_reply_textf(req, "%s likes %s", first.name, second.color);
}

static int ask_capabilities(cleat_request *req)
{
	struct name a;
	int rc = CLEAT_OK, rc2 = CLEAT_OK;

	if (cleat_request_client_can(req, CLEAT_CLIENT_SAMPLING))
		rc = cleat_ask_sampling(req, "capital_question", &capital, NULL, NULL);
	if (cleat_request_client_can(req, CLEAT_CLIENT_FORM))
		rc2 = cleat_ask_form(req, "user_name", "What is your name?", name_fields, &a);
	rc = worst(rc, rc2, CLEAT_OK);
	return rc ? rc : cleat_reply_text(req, "Asked what could be asked");
}

static int missing_capability(cleat_request *req)
{
	const char *text;
	int rc = cleat_ask_sampling(req, "capital_question", &capital, &text, NULL);

	return rc ? rc : cleat_reply_text(req, text);
}

static int prompt_asks(cleat_request *req)
{
	struct context a;
	int rc = cleat_ask_form(req, "user_context", "What is this about?", context_fields, &a);

	return rc ? rc : cleat_reply_message(req, "user", "Context: %s", a.context);
}

void fixture_add_suite_asks(cleat_server *s)
{
	static const cleat_tool tools[] = {
		{ .signature = "test_sampling(prompt: string)",
		  .description = "Asks the client's model",
		  .call = sampling },
		{ .signature = "test_elicitation(message: string)",
		  .description = "Asks the user",
		  .call = elicitation },
		{ .name = "test_elicitation_sep1034_defaults",
		  .description = "Asks with defaults",
		  .call = sep1034 },
		{ .name = "test_elicitation_sep1330_enums",
		  .description = "Asks with choices",
		  .call = sep1330 },
		{ .name = "test_input_required_result_elicitation",
		  .description = "Asks the user",
		  .call = ask_elicitation },
		{ .name = "test_input_required_result_sampling",
		  .description = "Asks the model",
		  .call = ask_sampling },
		{ .name = "test_input_required_result_list_roots",
		  .description = "Asks for roots",
		  .call = ask_list_roots },
		{ .name = "test_input_required_result_request_state",
		  .description = "Keeps state between two rounds",
		  .call = ask_request_state },
		{ .name = "test_input_required_result_multiple_inputs",
		  .description = "Asks three things at once",
		  .call = ask_multiple },
		{ .name = "test_input_required_result_multi_round",
		  .description = "Asks twice",
		  .call = ask_multi_round },
		{ .name = "test_input_required_result_tampered_state",
		  .description = "Refuses a changed state",
		  .call = ask_request_state },
		{ .name = "test_input_required_result_capabilities",
		  .description = "Asks what the client can be asked",
		  .call = ask_capabilities },
		{ .name = "test_missing_capability",
		  .description = "Needs sampling",
		  .call = missing_capability },
		{ .name = "test_streaming_elicitation",
		  .description = "Asks the user",
		  .call = ask_elicitation },
	};

	cleat_server_add_tools(s, tools, CLEAT_COUNT(tools));
	cleat_server_add_prompt(s, &(cleat_prompt){ .name = "test_input_required_result_prompt",
						    .description = "A prompt that asks first",
						    .get = prompt_asks });
}
