/* fixture_schemas.c - tools whose arguments and results are described by hand-written JSON Schemas,
 * and handlers whose results and questions do and do not fit them.
 */
#include "fixture.h"

/* ---- arguments ---------------------------------------------------------------------------- */

static int give_back(cleat_request *req)
{
	return cleat_reply_json(req, cleat_request_arguments(req));
}

static const char order_schema[] =
	"{\"type\":\"object\",\"properties\":{"
	"\"item\":{\"type\":\"string\",\"minLength\":1,\"description\":\"What to order\"},"
	"\"count\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":10},"
	"\"size\":{\"enum\":[\"small\",\"large\"]},"
	"\"to\":{\"$ref\":\"#/$defs/address\"},"
	"\"notes\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"maxItems\":2,"
	"\"uniqueItems\":true}},"
	"\"required\":[\"item\",\"count\"],\"additionalProperties\":false,"
	"\"$defs\":{\"address\":{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"},"
	"\"zip\":{\"type\":\"string\"}},\"required\":[\"city\"]}}}";

/* What draft-07 says with other words. */
static const char old_schema[] =
	"{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"type\":\"object\","
	"\"definitions\":{\"pair\":{\"type\":\"array\",\"items\":[{\"type\":\"string\"},{\"type\":"
	"\"number\"}],\"additionalItems\":false}},\"properties\":{\"pair\":{\"$ref\":"
	"\"#/definitions/pair\"}},\"dependencies\":{\"pair\":[\"unit\"]}}";

static const char tree_schema[] =
	"{\"type\":\"object\",\"properties\":{\"tree\":{\"$ref\":\"#/$defs/tree\"}},"
	"\"$defs\":{\"tree\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/tree\"}}}}";

/* ---- results ------------------------------------------------------------------------------ */

static const char score_schema[] =
	"{\"type\":\"object\",\"properties\":{\"score\":{\"type\":\"integer\",\"minimum\":1,"
	"\"maximum\":5},\"by\":{\"type\":\"string\"}},\"required\":[\"score\"],"
	"\"additionalProperties\":false}";

/* Replies with the argument, or without it with text. */
static int answer(cleat_request *req)
{
	if (!cleat_arg_given(req, "value"))
		return cleat_reply_text(req, "nothing structured");
	return cleat_reply_json(req, cleat_arg(req, "value"));
}

static int answer_deferred(cleat_request *req)
{
	cleat_request_defer(req);
	cleat_request_finish(req, answer(req));
	return CLEAT_PENDING;
}

static int answer_nothing(cleat_request *req)
{
	return cleat_reply_nothing(req);
}

static int answer_error(cleat_request *req)
{
	return cleat_reply_error(req, "No score today");
}

/* The same key twice: each of them fits. */
static int answer_twice(cleat_request *req)
{
	return cleat_reply_jsonf(req, "{score: 1, score: 2}");
}

struct stay {
	const char *room;
	int nights;
	double price;
};
static const cleat_field stay_fields[] = {
	CLEAT_FIELD(struct stay, room, "Which", .choices = "single|double"),
	CLEAT_FIELD(struct stay, nights, "How long", CLEAT_RANGE(1, 14)),
	CLEAT_FIELD(struct stay, price, "For all of it", CLEAT_AT_LEAST(0)), CLEAT_FIELD_END
};

static int answer_record(cleat_request *req)
{
	struct stay s = { .room = cleat_arg_str(req, "room"),
			  .nights = (int)cleat_arg_int(req, "nights"),
			  .price = cleat_arg_num(req, "price") };

	return cleat_reply_record(req, &s);
}

/* ---- questions ---------------------------------------------------------------------------- */

static int ask_with(cleat_request *req, const char *schema)
{
	const cleat_json *content;
	int rc = cleat_ask_schema(req, "guest", "Who comes?", schema, &content);

	if (rc)
		return rc;
	return cleat_reply_textf(req, "%s comes with %lld",
				 cleat_json_str(cleat_json_get(content, "name"), "Nobody"),
				 (long long)cleat_json_int(cleat_json_get(content, "with"), 0));
}

static int ask_guest(cleat_request *req)
{
	return ask_with(req, "{\"type\":\"object\",\"properties\":{"
			     "\"name\":{\"type\":\"string\",\"minLength\":2},"
			     "\"with\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":9},"
			     "\"meal\":{\"type\":\"string\",\"enum\":[\"fish\",\"soup\"]}},"
			     "\"required\":[\"name\"]}");
}

/* Nothing is required, so nothing need be answered. */
static int ask_optional(cleat_request *req)
{
	return ask_with(req,
			"{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}}}");
}

static int ask_choices(cleat_request *req)
{
	return ask_with(req, "{\"type\":\"object\",\"properties\":{\"meals\":{\"type\":\"array\","
			     "\"items\":{\"type\":\"string\",\"enum\":[\"fish\",\"soup\"]}}}}");
}

static int ask_nested(cleat_request *req)
{
	return ask_with(req,
			"{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"object\"}}}");
}

static int ask_wrong(cleat_request *req)
{
	return ask_with(req, "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\","
			     "\"minLength\":\"2\"}}}");
}

static int ask_foreign(cleat_request *req)
{
	return ask_with(req, "{\"$schema\":\"https://example.com/other\",\"type\":\"object\","
			     "\"properties\":{}}");
}

void fixture_add_schemas(cleat_server *s)
{
	static const cleat_tool tools[] = {
		{ .name = "order",
		  .description = "Gives its arguments back",
		  .call = give_back,
		  .input_schema = order_schema },
		{ .name = "old_order",
		  .description = "The same, in draft-07",
		  .call = give_back,
		  .input_schema = old_schema },
		{ .name = "tree",
		  .description = "Arguments as deep as one likes",
		  .call = give_back,
		  .input_schema = tree_schema },
		{ .signature = "answer(value?: json)",
		  .description = "Gives the value as its result",
		  .call = answer,
		  .output_schema = score_schema },
		{ .signature = "answer_deferred(value?: json)",
		  .description = "The same, later",
		  .call = answer_deferred,
		  .output_schema = score_schema },
		{ .signature = "answer_blocking(value?: json)",
		  .description = "The same, on a worker",
		  .call = answer,
		  .output_schema = score_schema,
		  .blocking = true },
		{ .signature = "answer_list(value?: json)",
		  .description = "A result that is no object",
		  .call = answer,
		  .output_schema = "{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}" },
		{ .signature = "answer_tree(value?: json)",
		  .description = "A result as deep as one likes",
		  .call = answer,
		  .output_schema = tree_schema },
		{ .signature = "answer_fields(value?: json)",
		  .description = "A result that is described by fields",
		  .call = answer,
		  .output = stay_fields },
		{ .signature = "answer_record(room: string, nights: integer, price: number)",
		  .description = "A record",
		  .call = answer_record,
		  .output = stay_fields },
		{ .name = "answer_nothing",
		  .description = "No result",
		  .call = answer_nothing,
		  .output_schema = score_schema },
		{ .name = "answer_error",
		  .description = "Fails, which fits every schema",
		  .call = answer_error,
		  .output_schema = score_schema },
		{ .name = "answer_twice",
		  .description = "One key, two values",
		  .call = answer_twice,
		  .output_schema = score_schema },
		{ .name = "ask_guest", .description = "A form by schema", .call = ask_guest },
		{ .name = "ask_optional", .description = "Nothing required", .call = ask_optional },
		{ .name = "ask_choices", .description = "Several choices", .call = ask_choices },
		{ .name = "bad_ask_nested", .description = "No form", .call = ask_nested },
		{ .name = "bad_ask_keyword", .description = "No schema", .call = ask_wrong },
		{ .name = "bad_ask_dialect", .description = "Not ours", .call = ask_foreign },
	};

	cleat_server_add_tools(s, tools, CLEAT_COUNT(tools));
}
