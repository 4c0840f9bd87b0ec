/* fixture_methods.c - methods of the server's own: what a handler of one can do, right and wrong. */
#include "fixture.h"

#include <string.h>

static int sum(cleat_request *req)
{
	return cleat_reply_jsonf(req, "{sum: %g, method: %s}",
				 cleat_arg_num(req, "a") + cleat_arg_num(req, "b"),
				 cleat_request_method(req));
}

/* Whatever came, as it came. */
static int mirror(cleat_request *req)
{
	const cleat_json *all = cleat_request_arguments(req);

	cleat_reply_meta(req, "{\"example.com/mirrored\":true}");
	return all ? cleat_reply_json(req, all) : cleat_reply_nothing(req);
}

static int greet(cleat_request *req)
{
	const cleat_json *answer;
	int rc = cleat_ask_schema(req, "who", "Who are you?",
				  "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":"
				  "\"string\"}},\"required\":[\"name\"]}",
				  &answer);

	return rc ? rc
		  : cleat_reply_jsonf(req, "{greeting: %s}",
				      cleat_json_str(cleat_json_get(answer, "name"), ""));
}

static int park(cleat_request *req)
{
	if (!fixture_park(req, cleat_arg_str(req, "key")))
		return cleat_reply_error(req, "No room to park");
	cleat_reply_jsonf(req, "{parked: %s}", cleat_arg_str(req, "key"));
	cleat_request_defer(req);
	return CLEAT_PENDING;
}

static int go_wrong(cleat_request *req)
{
	const char *how = cleat_arg_str(req, "how");

	if (strcmp(how, "text") == 0)
		return cleat_reply_text(req, "text");
	if (strcmp(how, "list") == 0)
		return cleat_reply_jsonf(req, "[1]");
	if (strcmp(how, "meta") == 0)
		return cleat_reply_jsonf(req, "{_meta: {a: 1}}");
	if (strcmp(how, "twice") == 0)
		return cleat_reply_jsonf(req, "{a: 1, a: 2}");
	if (strcmp(how, "error") == 0)
		return cleat_reply_error(req, "It broke");
	if (strcmp(how, "reject") == 0)
		return cleat_reply_reject(req, 17, "Not now");
	return strcmp(how, "status") == 0 ? CLEAT_EIO : CLEAT_OK;
}

/* ---- a notification ----------------------------------------------------------------------- */

static int count(cleat_request *req)
{
	struct fixture *f = cleat_server_userdata(cleat_request_server(req));

	if (f)
		f->counted += (size_t)cleat_arg_int(req, "by");
	return cleat_reply_nothing(req); /* which nobody gets */
}

static int counted(cleat_request *req)
{
	struct fixture *f = cleat_server_userdata(cleat_request_server(req));

	return cleat_reply_jsonf(req, "{counted: %zu}", f ? f->counted : (size_t)0);
}

void fixture_add_methods(cleat_server *s)
{
	static const cleat_method methods[] = {
		{ .signature = "com.example/sum(a: number, b: number = 1)", .call = sum },
		{ .name = "com.example/mirror", .call = mirror },
		{ .name = "com.example/greet", .call = greet },
		{ .signature = "com.example/park(key: string)", .call = park },
		{ .name = "com.example/work",
		  .call = sum,
		  .blocking = true,
		  .input_schema = "{\"type\":\"object\",\"required\":[\"a\"],\"properties\":{\"a\":"
				  "{\"type\":\"number\"}},\"additionalProperties\":false}" },
		{ .signature = "com.example/wrong(how: string)", .call = go_wrong },
		{ .signature = "com.example/count(by: integer = 1)",
		  .call = count,
		  .notification = true },
		{ .name = "com.example/counted", .call = counted },
	};

	cleat_server_add_methods(s, methods, CLEAT_COUNT(methods));
}
