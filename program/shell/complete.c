/* program/shell/complete.c - what a word of a line may become: commands, options, names, arguments and their
 * values, as the server has them now.
 *
 * What a server says is offered only when it is safe to show: nothing that moves the cursor or hides.
 */
#include "shell/shell.h"

#include "base/str.h"
#include "cli/arguments.h"
#include "terminal/await.h"

#include <stdlib.h>
#include <string.h>

const char *const shell_commands[] = { "ls",    "show", "call", "read", "prompt", "complete",
				       "watch", "raw",  "info", "ping", NULL };

/* ---- what the server has ------------------------------------------------------------------------- */

static void on_change(cleat_watch *w, enum cleat_change_kind what, const char *uri)
{
	struct shell_lists *l = cleat_watch_userdata(w);

	(void)uri;
	l->stale |= what == CLEAT_CHANGE_MISSED ? ~0u : (unsigned)what;
}

void shell_lists_begin(struct shell_lists *l, struct cli *cli)
{
	*l = (struct shell_lists){ .cli = cli };
	l->watch = cleat_client_watch(cli->client,
				      &(cleat_watch_options){ .lists = CLEAT_CHANGE_TOOLS |
								       CLEAT_CHANGE_PROMPTS |
								       CLEAT_CHANGE_RESOURCES,
							      .on_change = on_change,
							      .userdata = l });
}

void shell_lists_end(struct shell_lists *l)
{
	cleat_watch_free(l->watch);
	for (size_t i = 0; i < CLEAT_COUNT(l->at); i++)
		cleat_result_free(l->at[i]);
}

static void drop_stale(struct shell_lists *l)
{
	static const unsigned change[] = { [CLEAT_LIST_TOOLS] = CLEAT_CHANGE_TOOLS,
					   [CLEAT_LIST_RESOURCES] = CLEAT_CHANGE_RESOURCES,
					   [CLEAT_LIST_TEMPLATES] = CLEAT_CHANGE_RESOURCES,
					   [CLEAT_LIST_PROMPTS] = CLEAT_CHANGE_PROMPTS };

	for (size_t i = 0; i < CLEAT_COUNT(l->at); i++) {
		if (!(l->stale & change[catalog_kinds[i].list]))
			continue;
		cleat_result_free(l->at[i]);
		l->at[i] = NULL;
	}
	l->stale = 0;
}

const cleat_json *shell_list(struct shell_lists *l, enum cleat_list what)
{
	size_t i = (size_t)(catalog_kind(what) - catalog_kinds);

	drop_stale(l);
	if (!l->at[i])
		l->at[i] = cli_await_list(l->cli, what);
	if (cleat_result_status(l->at[i]) == CLEAT_OK)
		return cleat_result_items(l->at[i]);
	cleat_result_free(l->at[i]);
	l->at[i] = NULL;
	return NULL;
}

const cleat_json *shell_entry(struct shell_lists *l, enum cleat_list what, const char *name)
{
	return catalog_find(catalog_kind(what), shell_list(l, what), name);
}

/* ---- candidates ---------------------------------------------------------------------------------- */

struct completing {
	struct shell_lists *lists;
	const char *word;
	struct words before; /* the words of the line in front of it */
	struct words *to;
};

static bool is_safe(const char *text)
{
	struct str s = str_of(text);

	if (!s.n || utf8_valid_prefix(s) != s.n)
		return false;
	for (size_t i = 0; i < s.n;)
		if (utf8_unsafe(utf8_next(s, &i)))
			return false;
	return true;
}

static void offer(struct completing *c, const char *text)
{
	if (strncmp(text, c->word, strlen(c->word)) == 0 && is_safe(text))
		words_add(c->to, text);
}

static void offer_names(struct completing *c, enum cleat_list what)
{
	struct words names = { 0 };

	catalog_names(catalog_kind(what), shell_list(c->lists, what), &names);
	for (size_t i = 0; i < names.n; i++)
		offer(c, keepf("%s", names.at[i]));
}

static void offer_options(struct completing *c, const char *command)
{
	const struct verb *verb = cli_verb_find(command);
	struct cli_list list;

	for (size_t i = 0; verb && cli_lists(verb, i, &list); i++)
		for (const struct cli_option *o = list.options; o->name; o++)
			if (!shell_at_start(list.options, o))
				offer(c, keepf("--%s%s", o->name, o->arg ? "=" : ""));
}

static bool is_given(const struct completing *c, const char *key)
{
	size_t n = strlen(key);

	for (size_t i = 1; i < c->before.n; i++)
		if (strncmp(c->before.at[i], key, n) == 0 && strchr("=:", c->before.at[i][n]) &&
		    c->before.at[i][n])
			return true;
	return false;
}

static void offer_key(struct completing *c, const char *key)
{
	if (!is_given(c, key))
		offer(c, keepf("%s=", key));
}

/* ---- arguments of tools -------------------------------------------------------------------------- */

static void offer_values(struct completing *c, const char *key, size_t n, const cleat_json *schema)
{
	cleat_json_iter it = cleat_json_each(cleat_json_get(schema, "enum"));
	const char *type = cleat_json_str(cleat_json_get(schema, "type"), "");

	while (cleat_json_next(&it)) {
		const char *text = cleat_json_str(it.value, cleat_json_number_text(it.value));

		if (text)
			offer(c, keepf("%.*s=%s", (int)n, key, text));
	}
	if (strcmp(type, "boolean") == 0) {
		offer(c, keepf("%.*s=true", (int)n, key));
		offer(c, keepf("%.*s=false", (int)n, key));
	}
}

static void complete_tool(struct completing *c, const char *tool)
{
	const cleat_json *schema =
		cleat_json_get(shell_entry(c->lists, CLEAT_LIST_TOOLS, tool), "inputSchema");
	const cleat_json *properties = cleat_json_get(schema, "properties");
	cleat_json_iter it = cleat_json_each(properties);
	size_t n = strcspn(c->word, "=");

	if (c->word[n]) {
		offer_values(c, c->word, n,
			     argument_schema(schema, cleat_json_getn(properties, c->word, n)));
		return;
	}
	while (cleat_json_next(&it))
		offer_key(c, cleat_json_str(it.key, ""));
}

/* ---- what the server suggests -------------------------------------------------------------------- */

/* The arguments that the line has already, but for the one that is typed: what fits may depend on them. */
static cleat_doc *known_arguments(const struct completing *c, const char *argument, size_t n)
{
	cleat_build *b = cleat_build_new(NULL);

	cleat_build_object(b, NULL);
	for (size_t i = 1; i < c->before.n; i++) {
		const char *word = c->before.at[i], *equals = strchr(word, '=');
		size_t key = equals ? (size_t)(equals - word) : 0;

		if (key && *word != '-' && !(key == n && strncmp(word, argument, n) == 0))
			cleat_build_str(b, keepf("%.*s", (int)key, word), equals + 1);
	}
	cleat_build_end(b);
	return cleat_build_finish(b, NULL);
}

/* `before` and `behind` stand around each suggestion. */
static void suggest(struct completing *c, bool uri, const char *ref, const char *argument, size_t n,
		    const char *typed, const char *before, const char *behind)
{
	cleat_doc *params, *known;
	cleat_result *r;
	cleat_json_iter it;

	if (!cleat_client_server_can(c->lists->cli->client, "completions"))
		return;
	known = known_arguments(c, argument, n);
	params = catalog_completion(uri, ref, keepf("%.*s", (int)n, argument), typed,
				    cleat_doc_root(known));
	r = cli_await(c->lists->cli, "completion/complete", cleat_doc_root(params));
	it = cleat_json_each(cleat_result_items(r));
	while (cleat_json_next(&it))
		offer(c, keepf("%s%s%s", before, cleat_json_str(it.value, ""), behind));
	cleat_result_free(r);
	cleat_doc_free(params);
	cleat_doc_free(known);
}

static void complete_prompt(struct completing *c, const char *prompt)
{
	const cleat_json *entry = shell_entry(c->lists, CLEAT_LIST_PROMPTS, prompt);
	cleat_json_iter it = cleat_json_each(cleat_json_get(entry, "arguments"));
	size_t n = strcspn(c->word, "=");

	if (c->word[n] && entry) {
		suggest(c, false, prompt, c->word, n, c->word + n + 1,
			keepf("%.*s=", (int)n, c->word), "");
		return;
	}
	while (cleat_json_next(&it))
		offer_key(c, cleat_json_str(cleat_json_get(it.value, "name"), ""));
}

/* "city://{name}": values of the first variable, where the word has come so far. */
static void complete_template(struct completing *c, const char *template)
{
	size_t head = strcspn(template, "{"), name = strcspn(template + head, "}");
	const char *behind = template + head + name;

	if (!template[head] || !*behind ||
	    !strchr("abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJKLMNOPQRSTUVWXYZ", template[head + 1]))
		return;
	behind++;
	if (strncmp(template, c->word, strlen(c->word)) == 0 && strlen(c->word) < head)
		offer(c, keepf("%.*s", (int)head, template));
	else if (strncmp(template, c->word, head) == 0)
		suggest(c, true, template, template + head + 1, name - 1, c->word + head,
			keepf("%.*s", (int)head, template),
			keepf("%.*s", (int)strcspn(behind, "{"), behind));
}

static void complete_uri(struct completing *c)
{
	cleat_json_iter it = cleat_json_each(shell_list(c->lists, CLEAT_LIST_TEMPLATES));

	offer_names(c, CLEAT_LIST_RESOURCES);
	while (cleat_json_next(&it))
		complete_template(c, cleat_json_str(cleat_json_get(it.value, "uriTemplate"), ""));
}

/* ---- the line ------------------------------------------------------------------------------------ */

static void complete_first(struct completing *c)
{
	for (size_t i = 0; shell_commands[i]; i++)
		offer(c, shell_commands[i]);
	offer(c, "help");
	offer(c, "quit");
	offer_names(c, CLEAT_LIST_TOOLS);
}

static void complete_name(struct completing *c, const char *command)
{
	if (strcmp(command, "call") == 0 || strcmp(command, "show") == 0)
		offer_names(c, CLEAT_LIST_TOOLS);
	if (strcmp(command, "prompt") == 0 || strcmp(command, "show") == 0 ||
	    strcmp(command, "complete") == 0)
		offer_names(c, CLEAT_LIST_PROMPTS);
	if (strcmp(command, "show") == 0 || strcmp(command, "complete") == 0)
		offer_names(c, CLEAT_LIST_TEMPLATES);
	if (strcmp(command, "show") == 0)
		offer_names(c, CLEAT_LIST_RESOURCES);
	if (strcmp(command, "read") == 0 || strcmp(command, "watch") == 0)
		complete_uri(c);
	for (size_t i = 0; strcmp(command, "help") == 0 && shell_commands[i]; i++)
		offer(c, shell_commands[i]);
}

void shell_complete(struct shell_lists *l, const char *line, size_t start, const char *word,
		    struct words *to)
{
	struct completing c = { .lists = l, .word = word, .to = to };
	const char *command, *name = NULL;

	if (!shell_split(line, start, &c.before))
		return;
	if (!c.before.n) {
		complete_first(&c);
		return;
	}
	command = c.before.at[0];
	for (size_t i = 1; i < c.before.n && !name; i++)
		if (c.before.at[i][0] != '-')
			name = c.before.at[i];
	if (word[0] == '-')
		offer_options(&c, cli_verb_find(command) ? command : "call");
	else if (strcmp(command, "call") == 0 && name)
		complete_tool(&c, name);
	else if ((strcmp(command, "prompt") == 0 || strcmp(command, "complete") == 0) && name)
		complete_prompt(&c, name);
	else if (cli_verb_find(command) && !name)
		complete_name(&c, command);
	else if (!cli_verb_find(command))
		complete_tool(&c, command);
}
