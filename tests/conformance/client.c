/* client.c - the client that the official conformance suite drives: what a scenario wants done, by the
 * library's public functions and with its defaults. It knows nothing of the wire; how a server is
 * spoken to is the library's decision, and that is what the suite looks at.
 *
 *	MCP_CONFORMANCE_SCENARIO=tools_call conformance_client URL
 *
 * Exits 0 when everything was answered, and ends after half a minute whatever happens: the suite
 * kills only the shell that it starts a client with.
 */
#define _POSIX_C_SOURCE 200809L
#include <cleat/cleat.h>
#include <cleat/client.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE_S = 30 };

/* Says what failed; takes the result. */
static int done(cleat_result *r, const char *what)
{
	int status = cleat_result_status(r);

	if (status)
		fprintf(stderr, "%s: %s (%s)\n", what, cleat_result_error(r)->message,
			cleat_step_name(cleat_result_step(r)));
	cleat_result_free(r);
	return status;
}

static int call(cleat_client *c, const char *tool)
{
	return done(cleat_client_call(c, tool, NULL), tool);
}

static const char *member(const cleat_json *v, const char *key)
{
	return cleat_json_str(cleat_json_get(v, key), "");
}

static const cleat_json *find_tool(const cleat_result *tools, const char *name)
{
	cleat_json_iter it = cleat_json_each(cleat_result_items(tools));

	while (cleat_json_next(&it))
		if (strcmp(member(it.value, "name"), name) == 0)
			return it.value;
	return NULL;
}

/* ---- scenarios ---------------------------------------------------------------------------------- */

static int list_only(cleat_client *c)
{
	return done(cleat_client_list(c, CLEAT_LIST_TOOLS), "tools/list");
}

static int add_numbers(cleat_client *c)
{
	int rc = list_only(c);

	return rc ? rc : done(cleat_client_callf(c, "add_numbers", "{a: %d, b: %d}", 5, 3), "call");
}

static int defaults(cleat_client *c)
{
	int rc = list_only(c);

	return rc ? rc : call(c, "test_client_elicitation_defaults");
}

static int reconnection(cleat_client *c)
{
	int rc = list_only(c);

	return rc ? rc : call(c, "test_reconnection");
}

static int questions(cleat_client *c)
{
	static const char *const tools[] = { "test_mrtr_echo_state", "test_mrtr_unrelated",
					     "test_mrtr_no_state", "test_mrtr_no_result_type" };
	int rc = list_only(c);

	for (size_t i = 0; i < CLEAT_COUNT(tools) && !rc; i++)
		rc = call(c, tools[i]);
	return rc;
}

/* Uses everything that is listed. */
static int use_all(cleat_client *c, enum cleat_list what, const char *key,
		   cleat_result *use(cleat_client *c, const char *name))
{
	cleat_result *list = cleat_client_list(c, what);
	cleat_json_iter it = cleat_json_each(cleat_result_items(list));
	int rc = CLEAT_OK;

	while (cleat_json_next(&it) && !rc)
		rc = done(use(c, member(it.value, key)), key);
	return done(list, "list") || rc;
}

static cleat_result *use_tool(cleat_client *c, const char *name)
{
	return cleat_client_call(c, name, NULL);
}

static cleat_result *use_prompt(cleat_client *c, const char *name)
{
	return cleat_client_promptf(c, name, NULL);
}

static int everything(cleat_client *c)
{
	return use_all(c, CLEAT_LIST_TOOLS, "name", use_tool) ||
	       use_all(c, CLEAT_LIST_RESOURCES, "uri", cleat_client_read) ||
	       use_all(c, CLEAT_LIST_PROMPTS, "name", use_prompt);
}

static int tools(cleat_client *c)
{
	return use_all(c, CLEAT_LIST_TOOLS, "name", use_tool);
}

/* The calls that the suite asks for in MCP_CONFORMANCE_CONTEXT. */
static int given_calls(cleat_client *c)
{
	const char *text = getenv("MCP_CONFORMANCE_CONTEXT");
	cleat_doc *context =
		cleat_doc_parse(text ? text : "", text ? strlen(text) : 0, NULL, NULL, NULL);
	cleat_json_iter it = cleat_json_each(cleat_json_get(cleat_doc_root(context), "toolCalls"));
	int rc = context ? list_only(c) : CLEAT_EINVAL;

	while (!rc && cleat_json_next(&it)) {
		const char *tool = member(it.value, "name");

		rc = done(cleat_client_call(c, tool, cleat_json_get(it.value, "arguments")), tool);
	}
	cleat_doc_free(context);
	return rc;
}

/* Gives a schema back as it was listed. */
static int echo_schema(cleat_client *c)
{
	cleat_result *list = cleat_client_list(c, CLEAT_LIST_TOOLS);
	const cleat_json *schema =
		cleat_json_get(find_tool(list, "json_schema_2020_12_tool"), "inputSchema");
	int rc = CLEAT_ENOENT;

	if (schema)
		rc = done(cleat_client_callf(c, "json_schema_echo", "{schema: %p}", (void *)schema),
			  "json_schema_echo");
	return done(list, "tools/list") || rc;
}

static const struct {
	const char *name;
	int (*run)(cleat_client *c);
} scenarios[] = {
	{ "initialize", list_only },
	{ "tools_call", add_numbers },
	{ "elicitation-sep1034-client-defaults", defaults },
	{ "sse-retry", reconnection },
	{ "request-metadata", list_only },
	{ "sep-2322-client-request-state", questions },
	{ "http-standard-headers", everything },
	{ "http-custom-headers", given_calls },
	{ "http-invalid-tool-headers", tools },
	{ "json-schema-ref-no-deref", list_only },
	{ "json-schema-2020-12-preservation", echo_schema },
};

/* ---- the client ----------------------------------------------------------------------------------- */

/* A form is answered with its defaults; the question whether to go on, with yes. */
static int on_form(cleat_request *req)
{
	const cleat_json *fields = cleat_json_get(cleat_arg(req, "requestedSchema"), "properties");

	if (cleat_json_get(fields, "confirmed"))
		return cleat_reply_jsonf(req, "{confirmed: true}");
	return cleat_reply_nothing(req);
}

static void on_note(cleat_client *c, int level, const char *text, void *userdata)
{
	(void)c;
	(void)userdata;
	fprintf(stderr, "%s: %s\n", cleat_log_level_name(level), text);
}

static void on_message(cleat_client *c, bool out, const char *text, size_t n, void *userdata)
{
	(void)c;
	(void)userdata;
	fprintf(stderr, "%s %.*s\n", out ? "->" : "<-", (int)n, text);
}

int main(int argc, char **argv)
{
	const char *scenario = getenv("MCP_CONFORMANCE_SCENARIO");
	int rc = CLEAT_EINVAL;

	alarm(PATIENCE_S);
	for (size_t i = 0; i < CLEAT_COUNT(scenarios) && scenario && argc == 2; i++)
		if (strcmp(scenario, scenarios[i].name) == 0) {
			cleat_client_options o = { .name = "cleat-conformance",
						   .version = "1.0.0",
						   .on_form = on_form,
						   .on_note = on_note,
						   .on_message = on_message };
			cleat_client *c = cleat_client_connect(argv[1], &o);

			rc = scenarios[i].run(c);
			cleat_client_free(c);
			return rc ? 1 : 0;
		}
	fprintf(stderr,
		"usage: MCP_CONFORMANCE_SCENARIO=NAME conformance_client URL\n"
		"this is not one that it knows: %s\n",
		scenario ? scenario : "(none)");
	return 2;
}
