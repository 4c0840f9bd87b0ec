/* program/bench/plan.c - see plan.h. What it makes lives until the end of the run (text.h), except for
 * the messages.
 */
#include "bench/plan.h"
#include "bench/scan.h"
#include "cli/arguments.h"
#include "reach/reach.h"
#include "terminal/await.h"
#include "text/nearest.h"
#include "text/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MIX_MAX = 4 << 20, DOCS_MAX = 2 * PLAN_MAX };

static cleat_doc *docs[DOCS_MAX]; /* freed by plan_done() */
static size_t n_docs;

static const cleat_json *own(cleat_doc *doc)
{
	if (doc && n_docs < DOCS_MAX)
		docs[n_docs++] = doc;
	return cleat_doc_root(doc);
}

/* ---- reading ------------------------------------------------------------------------------------ */

static const struct {
	const char *word, *method;
} lists[] = {
	{ "tools", "tools/list" },
	{ "resources", "resources/list" },
	{ "templates", "resources/templates/list" },
	{ "prompts", "prompts/list" },
};

static const char *list_method(const char *word)
{
	for (size_t i = 0; word && i < CLEAT_COUNT(lists); i++)
		if (strcmp(lists[i].word, word) == 0)
			return lists[i].method;
	return NULL;
}

static struct plan_item *plan_add(struct plan *p, const char *method, const char *label,
				  unsigned weight)
{
	struct plan_item *item = &p->items[p->n++];

	*item = (struct plan_item){ .method = method, .label = label, .weight = weight };
	return item;
}

static void set_call(struct plan_item *item, const char *tool, const cleat_json *arguments)
{
	item->name = tool;
	item->params = arguments ? own(cleat_doc_newf(NULL, "{name: %s, arguments: %p}", tool,
						      (void *)arguments))
				 : own(cleat_doc_newf(NULL, "{name: %s, arguments: {}}", tool));
}

/* One scenario. NULL, or what is wrong with it. */
static const char *read_scenario(struct plan *p, const cleat_json *v)
{
	const char *call = cleat_json_str(cleat_json_get(v, "call"), NULL);
	const char *list = cleat_json_str(cleat_json_get(v, "list"), NULL);
	const char *uri = cleat_json_str(cleat_json_get(v, "read"), NULL);
	const char *prompt = cleat_json_str(cleat_json_get(v, "prompt"), NULL);
	const char *request = cleat_json_str(cleat_json_get(v, "request"), NULL);
	const cleat_json *arguments = cleat_json_get(v, "arguments");
	int64_t weight = cleat_json_int(cleat_json_get(v, "weight"), 1);
	unsigned w = (unsigned)weight;

	if (cleat_json_type(v) != CLEAT_JSON_OBJECT)
		return "is no object";
	if (!!call + !!list + !!uri + !!prompt + !!request != 1)
		return "needs one of \"call\", \"list\", \"read\", \"prompt\", \"request\"";
	if (weight < 1 || weight > 1000000)
		return "has a weight that is not from 1 to 1000000";
	if (p->n == PLAN_MAX)
		return "is one too many: 64 is the limit";
	if (list && !list_method(list))
		return "lists something other than tools, resources, templates or prompts";
	if (arguments && cleat_json_type(arguments) != CLEAT_JSON_OBJECT)
		return "has arguments that are not an object";
	if (call)
		set_call(plan_add(p, "tools/call", call, w), call, arguments);
	else if (list)
		plan_add(p, list_method(list), list_method(list), w);
	else if (uri)
		plan_add(p, "resources/read", uri, w)->params =
			own(cleat_doc_newf(NULL, "{uri: %s}", uri));
	else if (prompt)
		plan_add(p, "prompts/get", prompt, w)->params =
			own(arguments ? cleat_doc_newf(NULL, "{name: %s, arguments: %p}", prompt,
						       (void *)arguments)
				      : cleat_doc_newf(NULL, "{name: %s}", prompt));
	else
		plan_add(p, request, request, w)->params = cleat_json_get(v, "params");
	return NULL;
}

static int read_mix(struct cli *cli, struct plan *p, const char *path)
{
	struct text text = { 0 };
	cleat_error err = { 0 };
	cleat_json_iter it;
	const cleat_json *mix;

	if (!text_read(&text, path, MIX_MAX)) {
		text_free(&text);
		return cli_error(cli, EXIT_USAGE, "%s: %s", path, strerror(errno));
	}
	mix = own(cleat_doc_parse(text_str(&text), text.n, NULL, NULL, &err));
	text_free(&text);
	if (!mix)
		return cli_error(cli, EXIT_USAGE, "%s: %s", path, err.message);
	if (cleat_json_type(mix) != CLEAT_JSON_ARRAY || !cleat_json_size(mix))
		return cli_error(cli, EXIT_USAGE, "%s: must be an array of scenarios", path);
	for (it = cleat_json_each(mix); cleat_json_next(&it);) {
		const char *why = read_scenario(p, it.value);

		if (why)
			return cli_error(cli, EXIT_USAGE, "%s: scenario %zu %s", path, it.index + 1,
					 why);
	}
	return EXIT_GOOD;
}

int plan_read(struct cli *cli, struct plan *p)
{
	const char *mix = cli_option(cli, "mix"), *call = cli_option(cli, "call");
	const char *list = cli_option(cli, "list"), *uri = cli_option(cli, "read");

	memset(p, 0, sizeof *p);
	if (!!mix + !!call + !!list + !!uri > 1)
		return cli_usage(cli, "only one of --call, --list, --read and --mix; several "
				      "things at a time are scenarios of a --mix");
	if (cli->argc && !call)
		return cli_usage(cli, "\"%s\" is an argument, but there is no --call TOOL",
				 cli->argv[0]);
	if (mix)
		return read_mix(cli, p, mix);
	if (call)
		set_call(plan_add(p, "tools/call", call, 1), call, NULL);
	else if (list && !list_method(list))
		return cli_usage(cli, "--list takes tools, resources, templates or prompts");
	else if (list)
		plan_add(p, list_method(list), list_method(list), 1);
	else if (uri)
		plan_add(p, "resources/read", uri, 1)->params =
			own(cleat_doc_newf(NULL, "{uri: %s}", uri));
	else
		plan_add(p, NULL, "ping", 1);
	return EXIT_GOOD;
}

/* ---- trying ------------------------------------------------------------------------------------- */

/* What the library sends is written down. One run, one of these. */
static struct {
	struct plan *plan;
	struct plan_item *item;
} noting;

static void note(char **to, size_t *to_n, const char *text, size_t n)
{
	free(*to);
	*to = must_alloc(n + 1);
	memcpy(*to, text, n);
	(*to)[n] = '\0';
	*to_n = n;
}

static bool is_method(const struct scan *s, const char *method)
{
	return s->method && s->method_n == strlen(method) &&
	       memcmp(s->method, method, s->method_n) == 0;
}

static void plan_on_message(cleat_client *c, bool out, const char *text, size_t n, void *userdata)
{
	struct plan *p = noting.plan;
	struct plan_item *item = noting.item;
	struct scan s;

	(void)c;
	(void)userdata;
	if (!out || !p)
		return;
	scan_message(text, n, &s);
	if (is_method(&s, "initialize"))
		note(&p->initialize, &p->initialize_n, text, n);
	else if (is_method(&s, "notifications/initialized"))
		note(&p->initialized, &p->initialized_n, text, n);
	else if (item && !item->message && s.kind == SCAN_REQUEST && is_method(&s, item->method))
		note(&item->message, &item->message_n, text, n);
}

static const cleat_json *find_tool(const struct plan *p, const char *name)
{
	cleat_json_iter it = cleat_json_each(cleat_result_items(p->tools));

	while (cleat_json_next(&it))
		if (strcmp(cleat_json_str(cleat_json_get(it.value, "name"), ""), name) == 0)
			return it.value;
	return NULL;
}

static int no_tool(struct cli *cli, const struct plan *p, const char *name)
{
	cleat_json_iter it = cleat_json_each(cleat_result_items(p->tools));
	struct words names = { 0 };
	const char *near;

	while (cleat_json_next(&it))
		words_add(&names, cleat_json_str(cleat_json_get(it.value, "name"), ""));
	near = nearest(name, names.at, names.n);
	return near ? cli_error(cli, EXIT_TOOL, "there is no tool \"%s\"; did you mean \"%s\"?",
				name, near)
		    : cli_error(cli, EXIT_TOOL, "there is no tool \"%s\"", name);
}

/* The schema of a tool, and what the words of the command line are by it. */
static int look_up(struct cli *cli, struct plan *p, struct plan_item *item)
{
	const cleat_json *tool;
	cleat_doc *arguments;
	int code = EXIT_GOOD;

	if (!p->tools) {
		p->tools = cli_await_list(cli, CLEAT_LIST_TOOLS);
		code = cli_result_code(cli, p->tools);
		if (code)
			return code;
	}
	tool = find_tool(p, item->name);
	if (!tool)
		return no_tool(cli, p, item->name);
	item->schema = cleat_json_get(tool, "inputSchema");
	if (cli_flag(cli, "mix"))
		return EXIT_GOOD;
	arguments = cli_arguments(cli, item->name, cli->argc, cli->argv, item->schema, &code);
	if (!arguments)
		return code;
	set_call(item, item->name, own(arguments));
	return EXIT_GOOD;
}

struct trial {
	cleat_result *result;
	bool done, given_up;
};

static void plan_on_done(cleat_call *call, cleat_result *result)
{
	struct trial *t = cleat_call_userdata(call);

	if (t->given_up)
		cleat_result_free(result);
	else
		t->result = result;
	t->done = true;
}

/* Not cli_await(): the message is to be repeated, so it must not ask for progress, whose tokens have to
 * differ. NULL: interrupted, or out of memory. */
static cleat_result *request(struct cli *cli, const struct plan_item *item)
{
	struct trial *t = keep_alloc(sizeof *t);
	cleat_call_options o = { .on_done = plan_on_done, .no_cache = true, .userdata = t };
	cleat_call *call =
		item->params ? cleat_client_start_requestf(cli->client, &o, item->method, "%p",
							   (void *)item->params)
			     : cleat_client_start_requestf(cli->client, &o, item->method, NULL);

	if (call)
		cli_wait(cli, &t->done, -1);
	t->given_up = !t->done;
	return t->result;
}

static int try_item(struct cli *cli, struct plan *p, struct plan_item *item)
{
	cleat_result *r;
	int code = item->name ? look_up(cli, p, item) : EXIT_GOOD;

	if (code)
		return code;
	if (!item->method)
		item->method = cleat_client_era(cli->client) == CLEAT_ERA_MODERN ? "server/discover"
										 : "ping";
	noting.item = item;
	r = request(cli, item);
	noting.item = NULL;
	if (!r && cli_interrupted())
		return cli_interrupted_code();
	if (r && cleat_result_is_tool_error(r))
		cli_note(cli, "%s: the tool fails: %s", item->label, cleat_result_text(r));
	else
		code = cli_result_code(cli, r);
	cleat_result_free(r);
	if (!code && !item->message)
		code = cli_error(cli, EXIT_OTHER, "%s: nothing was sent that could be repeated",
				 item->label);
	return code;
}

int plan_try(struct cli *cli, struct plan *p)
{
	static const cleat_client_options want = { .on_message = plan_on_message,
						   .no_cache = true,
						   .no_stream = true };
	int code = EXIT_GOOD;

	noting.plan = p;
	if (!cli_client(cli, &want, &code))
		return code;
	code = cli_open(cli);
	for (size_t i = 0; i < p->n && !code; i++)
		code = cli_interrupted() ? cli_interrupted_code() : try_item(cli, p, &p->items[i]);
	noting.plan = NULL;
	return code;
}

void plan_done(struct plan *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->items[i].message);
	free(p->initialize);
	free(p->initialized);
	cleat_result_free(p->tools);
	while (n_docs)
		cleat_doc_free(docs[--n_docs]);
}
