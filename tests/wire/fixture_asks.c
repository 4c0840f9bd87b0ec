/* fixture_asks.c - questions of every kind and with every option, beyond what the suite asks. */
#include "fixture.h"

struct profile {
	const char *name, *mail, *color;
	int age;
	double height;
	bool member, has_color;
};
static const cleat_field profile_fields[] = {
	CLEAT_FIELD(struct profile, name, "Full name", .title = "Name", CLEAT_RANGE(1, 20)),
	CLEAT_FIELD(struct profile, mail, "Where to write", .format = "email"),
	CLEAT_FIELD(struct profile, color, "Favourite", .optional = true, .choices = "red|green",
		    .choice_titles = "Red|Green", CLEAT_PRESENT(struct profile, has_color)),
	CLEAT_FIELD(struct profile, age, "In years", CLEAT_RANGE(0, 150)),
	CLEAT_FIELD(struct profile, height, "In metres", .optional = true),
	CLEAT_FIELD(struct profile, member, "Paying", .fallback = "true"),
	CLEAT_FIELD_END
};

static int ask_profile(cleat_request *req)
{
	struct profile p;
	int rc = cleat_ask_form(req, "profile", "Who are you?", profile_fields, &p);

	if (rc)
		return rc;
	return cleat_reply_textf(req, "%s <%s>, %d, %s%s", p.name, p.mail, p.age,
				 p.has_color ? p.color : "no colour", p.member ? ", member" : "");
}

static int ask_confirm(cleat_request *req)
{
	int rc = cleat_ask_confirm(req, "sure", "Delete %d files?", 3);

	return rc ? rc : cleat_reply_text(req, "deleted");
}

static int ask_url(cleat_request *req)
{
	int rc = cleat_ask_url(req, "login", "Please log in", "https://example.com/login?x=1");

	if (rc)
		return rc;
	cleat_ask_url_done(req, "login");
	cleat_ask_url_done(req, "never asked");
	return cleat_reply_text(req, "logged in");
}

static int ask_everything_of_model(cleat_request *req)
{
	const cleat_json *whole;
	const char *text;
	int rc = cleat_ask_sampling(
		req, "model",
		&(cleat_sampling){
			.messages =
				"[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":"
				"\"Hi\"}},{\"role\":\"assistant\",\"content\":{\"type\":\"text\","
				"\"text\":\"Hello\"}}]",
			.system = "Be brief.",
			.max_tokens = 50,
			.has_temperature = true,
			.temperature = 0.25,
			.preferences = "{\"hints\":[{\"name\":\"small\"}],\"costPriority\":1,"
				       "\"speedPriority\":0.5,\"intelligencePriority\":0}",
			.stop_sequences = "[\"END\"]",
			.metadata = "{\"trace\":7}" },
		&text, &whole);

	if (rc)
		return rc;
	return cleat_reply_textf(req, "%s by %s", text,
				 cleat_json_str(cleat_json_get(whole, "model"), "?"));
}

static int ask_hint(cleat_request *req)
{
	const char *text;
	int rc = cleat_ask_sampling(req, "model",
				    &(cleat_sampling){ .prompt = "Hi", .model_hint = "small" },
				    &text, NULL);

	return rc ? rc : cleat_reply_text(req, text);
}

static int ask_tools(cleat_request *req)
{
	const char *text;
	int rc = cleat_ask_sampling(
		req, "model",
		&(cleat_sampling){ .prompt = "What is the weather?",
				   .tools = "[{\"name\":\"weather\",\"inputSchema\":{\"type\":"
					    "\"object\"}}]",
				   .tool_choice = "required" },
		&text, NULL);

	return rc ? rc : cleat_reply_text(req, text);
}

/* Looks at what came of the question itself, instead of handing it on. */
static int ask_and_cope(cleat_request *req)
{
	const cleat_json *roots;
	int rc = cleat_ask_roots(req, "roots", &roots);

	if (rc == CLEAT_NEED_INPUT)
		return rc;
	return cleat_reply_textf(req, "%s", cleat_strstatus(rc));
}

/* Two questions, where the second one may stay open: (name) and (roots). */
static int ask_two(cleat_request *req)
{
	struct profile p;
	const cleat_json *roots;
	int rc = cleat_ask_form(req, "profile", "Who are you?", profile_fields, &p);
	int rc2 = cleat_ask_roots(req, "roots", &roots);

	if (rc < 0 || rc2 < 0)
		return rc < 0 ? rc : rc2;
	if (rc || rc2) {
		cleat_reply_text(req, "forgotten when it runs again");
		return CLEAT_NEED_INPUT;
	}
	return cleat_reply_textf(req, "%s, %zu roots", p.name, cleat_json_size(roots));
}

/* Works on in the background after the answer. */
static int ask_then_defer(cleat_request *req)
{
	const cleat_json *roots;
	int rc = cleat_ask_roots(req, "roots", &roots);

	if (rc)
		return rc;
	cleat_request_defer(req);
	cleat_reply_textf(req, "%zu roots, later", cleat_json_size(roots));
	cleat_request_finish(req, CLEAT_OK);
	return CLEAT_PENDING;
}

static int resource_asks(cleat_request *req)
{
	const cleat_json *content;
	int rc = cleat_ask_schema(
		req, "password", "Say the word",
		"{\"type\":\"object\",\"properties\":{\"word\":{\"type\":\"string\"}}}", &content);

	if (rc)
		return rc;
	return cleat_reply_textf(req, "The word is %s",
				 cleat_json_str(cleat_json_get(content, "word"), "missing"));
}

void fixture_add_asks(cleat_server *s)
{
	static const cleat_tool tools[] = {
		{ .name = "ask_profile", .description = "A form", .call = ask_profile },
		{ .name = "ask_confirm", .description = "Yes or no", .call = ask_confirm },
		{ .name = "ask_url", .description = "A URL", .call = ask_url },
		{ .name = "ask_model",
		  .description = "Sampling with every option",
		  .call = ask_everything_of_model },
		{ .name = "ask_hint", .description = "Sampling with a hint", .call = ask_hint },
		{ .name = "ask_tools", .description = "Sampling with tools", .call = ask_tools },
		{ .name = "ask_and_cope",
		  .description = "Reads the outcome",
		  .call = ask_and_cope },
		{ .name = "ask_two", .description = "Two questions", .call = ask_two },
		{ .name = "ask_then_defer",
		  .description = "A question, then work",
		  .call = ask_then_defer },
	};

	cleat_server_add_tools(s, tools, CLEAT_COUNT(tools));
	cleat_server_add_resource(s, &(cleat_resource){ .uri = "ask://word",
							.name = "word",
							.mime_type = "text/plain",
							.read = resource_asks });
}
