/* server_sdk.c - the server that the official SDKs talk to: the fixture of the wire scripts (without
 * its misbehaving handlers), and beside it what a test needs to steer a running server from outside.
 *
 * Nothing here sleeps: a call waits until another call releases it, or until somebody writes to a pipe
 * (which also a server that takes no more calls can be told). The environment chooses what a
 * command line would: SERVER_PAGE (entries per list page), SERVER_TTL (milliseconds that lists may be
 * kept), SERVER_QUIET (errors are provoked, and are not worth failing for).
 */
#include "../wire/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct fixture fixture;

/* ---- calls that wait -------------------------------------------------------------------------- */

static int release(cleat_request *req)
{
	const char *key = cleat_arg_str(req, "key");

	if (!fixture_finish(&fixture, key, CLEAT_OK))
		return cleat_reply_error(req, "Nothing is parked under %s", key);
	return cleat_reply_textf(req, "released %s", key);
}

static int release_all(cleat_request *req)
{
	size_t n = fixture.n_parked;

	fixture_finish_all(&fixture);
	return cleat_reply_textf(req, "released %zu", n);
}

static int parked(cleat_request *req)
{
	return cleat_reply_text(req,
				fixture_parked(&fixture, cleat_arg_str(req, "key")) ? "yes" : "no");
}

/* Progress of a call that waits. */
static int step(cleat_request *req)
{
	cleat_request *other = fixture_parked(&fixture, cleat_arg_str(req, "key"));

	if (!other)
		return cleat_reply_error(req, "Nothing is parked there");
	cleat_request_progress(other, cleat_arg_num(req, "done"), cleat_arg_num(req, "total"),
			       "step %g", cleat_arg_num(req, "done"));
	return cleat_reply_nothing(req);
}

/* The first line of a file; of a pipe, when it is written. On a worker. */
static int first_line(cleat_request *req)
{
	FILE *f = fopen(cleat_arg_str(req, "path"), "re");
	char line[100] = "";

	if (!f)
		return cleat_reply_error(req, "It cannot be opened");
	if (!fgets(line, sizeof line, f))
		line[0] = '\0';
	fclose(f);
	line[strcspn(line, "\n")] = '\0';
	return cleat_reply_text(req, line);
}

/* ---- changes ------------------------------------------------------------------------------------ */

static int grown(cleat_request *req)
{
	return cleat_reply_text(req, "grown");
}

static int grow(cleat_request *req)
{
	cleat_server *s = cleat_request_server(req);

	cleat_server_add_tool(s, &(cleat_tool){ .name = "grown", .call = grown });
	cleat_server_add_prompt(s, &(cleat_prompt){ .name = "grown", .get = grown });
	cleat_server_add_resource(s, &(cleat_resource){ .uri = "grown://", .text = "grown" });
	return cleat_reply_text(req, "grew");
}

static int shrink(cleat_request *req)
{
	cleat_server *s = cleat_request_server(req);

	cleat_server_remove_tool(s, "grown");
	cleat_server_remove_prompt(s, "grown");
	cleat_server_remove_resource(s, "grown://");
	return cleat_reply_text(req, "shrank");
}

static int announce(cleat_request *req)
{
	cleat_server_log(cleat_request_server(req), CLEAT_LOG_WARNING, "announcer", "%s",
			 cleat_arg_str(req, "text"));
	return cleat_reply_nothing(req);
}

/* ---- the client ----------------------------------------------------------------------------------- */

static void on_roots_changed(cleat_server *s, void *userdata)
{
	struct fixture *f = userdata;

	(void)s;
	f->roots_changed++;
}

static int roots_changed(cleat_request *req)
{
	return cleat_reply_textf(req, "%zu", fixture.roots_changed);
}

static int roots(cleat_request *req)
{
	const cleat_json *list;
	int rc = cleat_ask_roots(req, "roots", &list);

	return rc ? rc : cleat_reply_json(req, list);
}

static const char *member(const cleat_json *v, const char *key)
{
	return cleat_json_str(cleat_json_get(v, key), "");
}

/* The answer of the model is a tool_use, alone or in a list of blocks. */
static const cleat_json *tool_use(const cleat_json *answer)
{
	const cleat_json *content = cleat_json_get(answer, "content");

	return cleat_json_type(content) == CLEAT_JSON_ARRAY ? cleat_json_at(content, 0) : content;
}

/* Lets the model use a tool of the server's: asks, computes what the model wants, asks again. */
static int model_with_tools(cleat_request *req)
{
	static const char tools[] =
		"[{\"name\":\"double\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"n\":{"
		"\"type\":\"number\"}},\"required\":[\"n\"]}}]";
	static const char first[] = "{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":"
				    "\"What is twice 21?\"}}";
	char *messages = cleat_request_alloc(req, 4096);
	const cleat_json *answer, *use;
	const char *text;
	double n;
	int rc;

	if (!messages)
		return CLEAT_ENOMEM;
	snprintf(messages, 4096, "[%s]", first);
	rc = cleat_ask_sampling(req, "ask",
				&(cleat_sampling){ .messages = messages,
						   .tools = tools,
						   .tool_choice = "required" },
				NULL, &answer);
	if (rc)
		return rc;
	use = tool_use(answer);
	if (strcmp(member(use, "type"), "tool_use") != 0)
		return cleat_reply_error(req, "The model did not use the tool");
	n = cleat_json_num(cleat_json_get(cleat_json_get(use, "input"), "n"), 0);
	snprintf(
		messages, 4096,
		"[%s,{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"%.100s\","
		"\"name\":\"double\",\"input\":{\"n\":%d}}]},{\"role\":\"user\",\"content\":[{"
		"\"type\":\"tool_result\",\"toolUseId\":\"%.100s\",\"content\":[{\"type\":\"text\","
		"\"text\":\"%d\"}]}]}]",
		first, member(use, "id"), (int)n, member(use, "id"), (int)(2 * n));
	rc = cleat_ask_sampling(req, "conclude",
				&(cleat_sampling){ .messages = messages, .tools = tools }, &text,
				NULL);
	return rc ? rc : cleat_reply_text(req, text);
}

/* ---- HTTP ---------------------------------------------------------------------------------------- */

static int arguments(cleat_request *req)
{
	return cleat_reply_json(req, cleat_request_arguments(req));
}

/* Who is it, as far as authorization goes? */
static int principal(cleat_request *req)
{
	const char *name = cleat_request_principal(req);

	return cleat_reply_text(req, name ? name : "nobody");
}

static const char headed_schema[] = "{\"type\":\"object\",\"properties\":{"
				    "\"region\":{\"type\":\"string\",\"x-mcp-header\":\"Region\"},"
				    "\"level\":{\"type\":\"integer\",\"x-mcp-header\":\"Level\"},"
				    "\"dry\":{\"type\":\"boolean\",\"x-mcp-header\":\"Dry-Run\"},"
				    "\"place\":{\"type\":\"object\",\"properties\":{"
				    "\"city\":{\"type\":\"string\",\"x-mcp-header\":\"City\"}}},"
				    "\"plain\":{\"type\":\"string\"}}}";

/* ---- structured results ----------------------------------------------------------------------------- */

static int odd_mail(cleat_request *req)
{
	return cleat_reply_jsonf(req, "{to: 'nobody'}");
}

/* What it says depends on which of two schemas it has; who remembers the other one is surprised. */
static int count(cleat_request *req)
{
	return cleat_reply_jsonf(req, cleat_request_userdata(req) ? "{n: 'three'}" : "{n: 3}");
}

static void add_count(cleat_server *s, bool in_words)
{
	static char words[1];
	char schema[100];

	snprintf(schema, sizeof schema,
		 "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"%s\"}}}",
		 in_words ? "string" : "integer");
	cleat_server_add_tool(s, &(cleat_tool){ .name = "count",
						.call = count,
						.output_schema = schema,
						.userdata = in_words ? words : NULL });
}

static int count_in_words(cleat_request *req)
{
	cleat_server *s = cleat_request_server(req);

	cleat_server_remove_tool(s, "count");
	add_count(s, true);
	return cleat_reply_text(req, "in words from now on");
}

static void add_own(cleat_server *s)
{
	static const cleat_tool tools[] = {
		{ .signature = "release(key: string)", .call = release },
		{ .name = "release_all", .call = release_all },
		{ .signature = "parked(key: string)", .call = parked },
		{ .signature = "step(key: string, done: number, total: number = 0)", .call = step },
		{ .signature = "first_line(path: string)", .call = first_line, .blocking = true },
		{ .name = "grow", .call = grow },
		{ .name = "shrink", .call = shrink },
		{ .signature = "announce(text: string)", .call = announce },
		{ .name = "roots_changed", .call = roots_changed },
		{ .name = "roots", .call = roots },
		{ .name = "model_with_tools", .call = model_with_tools },
		{ .name = "count_in_words", .call = count_in_words },
		{ .name = "principal", .call = principal },
		{ .name = "gr\xc3\xb6\xc3\x9f"
			  "e",
		  .call = arguments,
		  .input_schema = "{\"type\":\"object\"}" },
		{ .name = "headed", .call = arguments, .input_schema = headed_schema },
		{ .name = "odd_mail",
		  .call = odd_mail,
		  .output_schema = "{\"type\":\"object\",\"properties\":{\"to\":{\"type\":"
				   "\"string\",\"format\":\"email\"}}}" },
	};

	cleat_server_add_tools(s, tools, CLEAT_COUNT(tools));
	add_count(s, false);
}

static unsigned from_environment(const char *name)
{
	const char *value = getenv(name);

	return value ? (unsigned)strtoul(value, NULL, 10) : 0;
}

/* The tests want nothing on standard error but what is worth failing for; that a name is unusual is
 * not. */
static void only_errors(void *userdata, int level, const char *message)
{
	(void)userdata;
	if (level >= (getenv("SERVER_QUIET") ? CLEAT_LOG_CRITICAL : CLEAT_LOG_ERROR))
		fprintf(stderr, "%s\n", message);
}

int main(int argc, char **argv)
{
	static const cleat_icon icons[] = { { .src = "https://example.com/icon.png",
					      .mime_type = "image/png",
					      .sizes = "48x48" },
					    { .src = NULL } };
	cleat_server *s = cleat_server_new(
		"sdk-server", "1.2.3",
		&(cleat_server_options){ .title = "The SDKs' server",
					 .description = "Answers what the official SDKs ask",
					 .website = "https://example.com/",
					 .instructions = "Ask \"anything\" \xe2\x80\x93 politely.",
					 .icons = icons,
					 .log = only_errors,
					 .page_size = from_environment("SERVER_PAGE"),
					 .list_ttl_ms = from_environment("SERVER_TTL"),
					 .list_scope = CLEAT_CACHE_PUBLIC,
					 .progress_interval_ms = 1,
					 .on_roots_changed = on_roots_changed,
					 .userdata = &fixture });

	fixture_add_usual(s);
	add_own(s);
	return cleat_server_main(s, argc, argv);
}
