/* program/check/live.c - how a server behaves when it is asked for what there is not.
 *
 * Only what cannot do harm is called: names that nobody has, and tools that say by readOnlyHint that they
 * change nothing.
 */
#include "check/check.h"
#include "reach/reach.h"
#include "terminal/ask.h"
#include "terminal/await.h"

#include <stdlib.h>
#include <string.h>

enum { TOOLS_MOST = 10, READS_MOST = 20, PROMPTS_MOST = 20, UNANSWERED_MOST = 3 };

#define NOBODY "cleat-check-nobody-has-this"

static cleat_result *live_ask(struct check *c, const char *method, const char *key,
			      const char *value, const cleat_json *arguments)
{
	cleat_doc *params = arguments ? cleat_doc_newf(NULL, "{%s: %s, arguments: %p}", key, value,
						       (const void *)arguments)
			    : key     ? cleat_doc_newf(NULL, "{%s: %s}", key, value)
				      : NULL;
	unsigned before = ask_declined();
	cleat_result *r = cli_await(c->cli, method, cleat_doc_root(params));

	c->asked = ask_declined() != before;
	c->unanswered += cleat_result_step(r) == CLEAT_STEP_TIMEOUT;
	cleat_doc_free(params);
	return r;
}

/* Ctrl-C; or each further request would only cost the time that is waited for its answer. */
static bool gave_up(const struct check *c)
{
	return cli_interrupted() || c->unanswered >= UNANSWERED_MOST;
}

/* Did the server say no, by a JSON-RPC error? With which code is another question: 0 is one, too. */
static bool refused(const cleat_result *r)
{
	return cleat_result_step(r) == CLEAT_STEP_ANSWER && !cleat_result_is_tool_error(r);
}

static int code_of(const cleat_result *r)
{
	return cleat_result_error(r)->rpc_code;
}

/* Nobody is here to be asked: what needs that cannot be tried. */
static bool wants_to_ask(const struct check *c, const cleat_result *r)
{
	return c->asked || cleat_result_step(r) == CLEAT_STEP_ASKED ||
	       (refused(r) && code_of(r) == CLEAT_RPC_MISSING_CAPABILITY);
}

/* `also` is another code that is right, or the same. */
static void expect_code(struct check *c, const char *rule, const char *where, cleat_result *r,
			int right, int also)
{
	if (cleat_result_status(r) == CLEAT_OK)
		check_report(c, CHECK_ERROR, rule, where,
			     "is answered with a result instead of an error");
	else if (cleat_result_is_tool_error(r))
		check_report(c, CHECK_WARNING, rule, where,
			     "is answered with isError instead of the error %d", right);
	else if (!refused(r))
		check_report(c, CHECK_ERROR, rule, where, "is not answered: %s",
			     cli_result_words(r));
	else if (code_of(r) != right && code_of(r) != also)
		check_report(c, CHECK_WARNING, rule, where, "is answered with %d instead of %d",
			     code_of(r), right);
	cleat_result_free(r);
}

static void check_unknown(struct check *c)
{
	cleat_client *client = c->cli->client;
	bool modern = cleat_client_era(client) == CLEAT_ERA_MODERN;

	if (check_wanted(c, "unknown-method"))
		expect_code(c, "unknown-method", "an unknown method",
			    live_ask(c, "cleat/" NOBODY, NULL, NULL, NULL),
			    CLEAT_RPC_METHOD_NOT_FOUND, CLEAT_RPC_METHOD_NOT_FOUND);
	if (check_wanted(c, "unknown-tool") && !gave_up(c) &&
	    cleat_client_server_can(client, "tools"))
		expect_code(c, "unknown-tool", "an unknown tool",
			    live_ask(c, "tools/call", "name", NOBODY, NULL),
			    CLEAT_RPC_INVALID_PARAMS, CLEAT_RPC_INVALID_PARAMS);
	if (check_wanted(c, "unknown-prompt") && !gave_up(c) &&
	    cleat_client_server_can(client, "prompts"))
		expect_code(c, "unknown-prompt", "an unknown prompt",
			    live_ask(c, "prompts/get", "name", NOBODY, NULL),
			    CLEAT_RPC_INVALID_PARAMS, CLEAT_RPC_INVALID_PARAMS);
	if (check_wanted(c, "unknown-resource") && !gave_up(c) &&
	    cleat_client_server_can(client, "resources"))
		expect_code(c, "unknown-resource", "an unknown resource",
			    live_ask(c, "resources/read", "uri", NOBODY ":///nothing", NULL),
			    modern ? CLEAT_RPC_INVALID_PARAMS : CLEAT_RPC_RESOURCE_NOT_FOUND,
			    CLEAT_RPC_INVALID_PARAMS);
}

/* ---- tools --------------------------------------------------------------------------------------- */

/* Arguments that the schema refuses: none where some are required, or one of a type that it is not. NULL:
 * there are none that are sure to be refused. */
static cleat_doc *wrong_arguments(const cleat_json *schema, const cleat_schema *compiled)
{
	cleat_json_iter it = cleat_json_each(cleat_json_get(schema, "properties"));
	cleat_doc *doc;

	while (cleat_json_next(&it)) {
		size_t n = 0;
		const char *name = cleat_json_strn(it.key, &n);

		if (!name || strlen(name) != n)
			continue;
		doc = cleat_doc_newf(NULL, "{%s: [{wrong: ['" NOBODY "']}]}", name);
		if (doc && cleat_schema_check(compiled, cleat_doc_root(doc), NULL) == CLEAT_EINVAL)
			return doc;
		cleat_doc_free(doc);
	}
	return NULL;
}

static void check_arguments(struct check *c, const char *where, const char *name,
			    const cleat_json *entry)
{
	const cleat_json *schema = cleat_json_get(entry, "inputSchema");
	cleat_schema *compiled = cleat_schema_new(schema, NULL, NULL);
	cleat_doc *wrong = compiled ? wrong_arguments(schema, compiled) : NULL;
	cleat_result *r;

	cleat_schema_free(compiled);
	if (!wrong)
		return;
	r = live_ask(c, "tools/call", "name", name, cleat_doc_root(wrong));
	if (cleat_result_status(r) == CLEAT_OK)
		check_report(c, CHECK_ERROR, "arguments", where,
			     "takes arguments that its schema does not allow");
	else if (refused(r) && code_of(r) != CLEAT_RPC_INVALID_PARAMS && !wants_to_ask(c, r))
		check_report(c, CHECK_WARNING, "arguments", where,
			     "answers wrong arguments with %d instead of isError or -32602",
			     code_of(r));
	else if (!refused(r) && !cleat_result_is_tool_error(r) && !wants_to_ask(c, r) &&
		 cleat_result_step(r) !=
			 CLEAT_STEP_ARGUMENTS) /* no header can carry it: not sent */
		check_report(c, CHECK_ERROR, "arguments", where,
			     "does not answer wrong arguments: %s", cli_result_words(r));
	cleat_result_free(r);
	cleat_doc_free(wrong);
}

static void compare_output(struct check *c, const char *where, cleat_result *r,
			   const cleat_json *schema)
{
	const cleat_json *value = cleat_json_get(cleat_result_raw(r), "structuredContent");
	cleat_schema *compiled = cleat_schema_new(schema, NULL, NULL);
	cleat_error err;

	if (!value)
		check_report(c, CHECK_ERROR, "output", where,
			     "has an outputSchema, but gives no structuredContent");
	else if (compiled && cleat_schema_check(compiled, value, &err) == CLEAT_EINVAL)
		check_report(c, CHECK_ERROR, "output", where, "%s", err.message);
	cleat_schema_free(compiled);
}

static void check_output(struct check *c, const char *where, const char *name,
			 const cleat_json *entry)
{
	const cleat_json *output = cleat_json_get(entry, "outputSchema");
	cleat_doc *none;
	cleat_result *r;

	if (!output ||
	    cleat_json_size(cleat_json_get(cleat_json_get(entry, "inputSchema"), "required")))
		return;
	none = cleat_doc_newf(NULL, "{}");
	r = live_ask(c, "tools/call", "name", name, cleat_doc_root(none));
	if (cleat_result_status(r) == CLEAT_OK)
		compare_output(c, where, r, output);
	else if (cleat_result_step(r) == CLEAT_STEP_PROTOCOL ||
		 cleat_result_step(r) == CLEAT_STEP_TIMEOUT)
		check_report(c, CHECK_ERROR, "output", where, "%s", cli_result_words(r));
	cleat_result_free(r);
	cleat_doc_free(none);
}

static void check_tools(struct check *c)
{
	cleat_json_iter it = cleat_json_each(cleat_result_items(c->lists[0]));
	unsigned n = 0;

	while (cleat_json_next(&it) && n < TOOLS_MOST && !gave_up(c)) {
		const char *name = cleat_json_str(cleat_json_get(it.value, "name"), NULL);
		const cleat_json *hints = cleat_json_get(it.value, "annotations");
		const char *where;

		if (!name || !cleat_json_bool(cleat_json_get(hints, "readOnlyHint"), false) ||
		    cleat_json_bool(cleat_json_get(hints, "destructiveHint"), false))
			continue;
		n++;
		where = keepf("tool %s", name);
		if (check_wanted(c, "arguments"))
			check_arguments(c, where, name, it.value);
		if (check_wanted(c, "output"))
			check_output(c, where, name, it.value);
	}
}

/* ---- resources and prompts ----------------------------------------------------------------------- */

static void check_contents(struct check *c, const char *where, const char *uri,
			   const cleat_result *r)
{
	cleat_json_iter it = cleat_json_each(cleat_result_items(r));
	bool same = false;

	while (cleat_json_next(&it))
		same = same ||
		       strcmp(cleat_json_str(cleat_json_get(it.value, "uri"), ""), uri) == 0;
	if (cleat_json_size(cleat_result_items(r)) && !same)
		check_report(c, CHECK_NOTE, "read", where,
			     "no content has the URI that was asked for");
}

static void check_resources(struct check *c)
{
	cleat_json_iter it = cleat_json_each(cleat_result_items(c->lists[1]));

	while (cleat_json_next(&it) && it.index < READS_MOST && !gave_up(c)) {
		const char *uri = cleat_json_str(cleat_json_get(it.value, "uri"), NULL), *where;
		cleat_result *r;

		if (!uri)
			continue;
		where = keepf("resource %s", uri);
		r = live_ask(c, "resources/read", "uri", uri, NULL);
		if (wants_to_ask(c, r))
			check_report(c, CHECK_NOTE, "read", where,
				     "was not tried: it asks something");
		else if (cleat_result_status(r) != CLEAT_OK)
			check_report(c, CHECK_ERROR, "read", where,
				     "is listed, but cannot be read: %s", cli_result_words(r));
		else
			check_contents(c, where, uri, r);
		cleat_result_free(r);
	}
}

static bool needs_arguments(const cleat_json *prompt)
{
	cleat_json_iter it = cleat_json_each(cleat_json_get(prompt, "arguments"));

	while (cleat_json_next(&it))
		if (cleat_json_bool(cleat_json_get(it.value, "required"), false))
			return true;
	return false;
}

static void check_prompts(struct check *c)
{
	cleat_json_iter it = cleat_json_each(cleat_result_items(c->lists[3]));

	while (cleat_json_next(&it) && it.index < PROMPTS_MOST && !gave_up(c)) {
		const char *name = cleat_json_str(cleat_json_get(it.value, "name"), NULL), *where;
		bool needs = needs_arguments(it.value);
		cleat_result *r;

		if (!name)
			continue;
		where = keepf("prompt %s", name);
		r = live_ask(c, "prompts/get", "name", name, NULL);
		if (wants_to_ask(c, r))
			check_report(c, CHECK_NOTE, "prompt", where,
				     "was not tried: it asks something");
		else if (cleat_result_status(r) == CLEAT_OK && needs)
			check_report(c, CHECK_WARNING, "prompt", where,
				     "is given even without the arguments that it requires");
		else if (cleat_result_status(r) != CLEAT_OK && !needs)
			check_report(c, CHECK_ERROR, "prompt", where,
				     "requires no arguments, but fails without them: %s",
				     cli_result_words(r));
		else if (needs && !refused(r))
			check_report(c, CHECK_ERROR, "prompt", where,
				     "does not answer without its arguments: %s",
				     cli_result_words(r));
		else if (needs && code_of(r) != CLEAT_RPC_INVALID_PARAMS)
			check_report(c, CHECK_WARNING, "prompt", where,
				     "refuses missing arguments with %d instead of -32602",
				     code_of(r));
		cleat_result_free(r);
	}
}

/* ---- lists --------------------------------------------------------------------------------------- */

static void check_again(struct check *c)
{
	for (size_t i = 0; i < CLEAT_COUNT(catalog_kinds); i++) {
		cleat_result *again;

		if (!c->lists[i])
			continue;
		again = cli_await_list(c->cli, catalog_kinds[i].list);
		if (cleat_result_status(again) == CLEAT_OK &&
		    !cleat_json_equal(cleat_result_items(c->lists[i]), cleat_result_items(again)))
			check_report(c, CHECK_WARNING, "order",
				     keepf("list of %s", catalog_kinds[i].option),
				     "differs the second time");
		cleat_result_free(again);
	}
}

static void check_undeclared(struct check *c)
{
	static const char *const names[] = { "tools", "resources", "prompts" };

	for (size_t i = 0; i < CLEAT_COUNT(names); i++) {
		cleat_result *r;

		if (cleat_client_server_can(c->cli->client, names[i]) || gave_up(c))
			continue;
		r = live_ask(c, keepf("%s/list", names[i]), NULL, NULL, NULL);
		if (cleat_result_status(r) == CLEAT_OK)
			check_report(c, CHECK_WARNING, "capability",
				     keepf("capability %s", names[i]),
				     "is not declared, but %s/list is answered", names[i]);
		else if (cleat_result_step(r) == CLEAT_STEP_TIMEOUT)
			check_report(c, CHECK_ERROR, "capability", keepf("capability %s", names[i]),
				     "is not declared, and a request for it is not answered: %s",
				     cli_result_words(r));
		cleat_result_free(r);
	}
}

void check_behaviour(struct check *c)
{
	check_unknown(c);
	if ((check_wanted(c, "arguments") || check_wanted(c, "output")) && !gave_up(c))
		check_tools(c);
	if (check_wanted(c, "read") && !gave_up(c))
		check_resources(c);
	if (check_wanted(c, "prompt") && !gave_up(c))
		check_prompts(c);
	if (check_wanted(c, "order") && !gave_up(c))
		check_again(c);
	if (check_wanted(c, "capability") && !gave_up(c))
		check_undeclared(c);
	if (c->unanswered >= UNANSWERED_MOST)
		cli_note(c->cli,
			 "the rest was not tried, as the server left %u requests without an answer",
			 c->unanswered);
}
