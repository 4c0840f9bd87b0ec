/* program/reach/target.c - SERVER to something that can be reached.
 *
 *	http://..., https://...   Streamable HTTP, or HTTP+SSE
 *	unix:/run/x.sock          HTTP over a Unix socket
 *	tcp://host:port, unix-stream:/run/x.sock
 *	a name                    from a configuration file (config.h)
 *	./program                 a program, without arguments
 *	-- command...             a program
 *
 * An entry of a configuration file:
 *
 *	{ "command": "node", "args": ["server.js"], "env": {...}, "envFile": "...", "cwd": "..." }
 *	{ "type": "http" | "sse" | ..., "url": "https://...", "headers": {...} }
 *
 * Every text in it may have variables. Other members are other programs' business.
 */
#include "reach/target.h"
#include "clients/config.h"
#include "clients/expand.h"
#include "text/jsonc.h"
#include "text/nearest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { MOST_KEYS = 8, MOST_NAMES = 256, FILE_MAX = 1 << 20 };

struct reading {
	const struct config_server *server;
	struct expand_places places;
	const char *problem; /* NULL: none */
};

/* "file:line:column: mcpServers.gh.headers.Authorization: why" */
static bool complain(struct reading *r, const char *member, const char *inner, const char *why)
{
	const struct config_server *s = r->server;
	const char *path[MOST_KEYS] = { NULL };
	struct text at = { 0 }, keys = { 0 };
	size_t n = 0, line, column;

	for (; n < s->n_keys; n++)
		path[n] = s->keys[n];
	if (member)
		path[n++] = member;
	if (inner)
		path[n++] = inner;
	for (size_t i = 0; i < n; i++)
		text_printf(&keys, "%s%s", i ? "." : "", path[i]);
	/* An element of an array is found by its array. */
	if (jsonc_locate(s->file->text, s->file->n, path, n, &line, &column) ||
	    (inner && jsonc_locate(s->file->text, s->file->n, path, n - 1, &line, &column)))
		text_printf(&at, ":%zu:%zu", line, column);
	r->problem = keepf("%s%s: %s: %s", s->file->path, text_str(&at), text_str(&keys), why);
	text_free(&at);
	text_free(&keys);
	return false;
}

/* A text with its variables expanded; NULL after a complaint. Numbers and booleans are their text. */
static const char *text_of(struct reading *r, const cleat_json *v, const char *member,
			   const char *inner)
{
	const char *raw = cleat_json_str(v, NULL), *why = NULL, *text;
	char *printed = NULL;

	if (!raw &&
	    (cleat_json_type(v) == CLEAT_JSON_NUMBER || cleat_json_type(v) == CLEAT_JSON_BOOL))
		raw = printed = cleat_json_print(v, NULL);
	if (!raw) {
		complain(r, member, inner, "must be text");
		return NULL;
	}
	text = expand(raw, &r->places, &why);
	free(printed);
	if (!text)
		complain(r, member, inner, why);
	return text;
}

/* An object of texts as "NAME<between>value". */
static bool pairs(struct reading *r, const char *member, const char *between, struct words *to)
{
	cleat_json_iter it = cleat_json_each(cleat_json_get(r->server->entry, member));

	while (cleat_json_next(&it)) {
		const char *name = cleat_json_str(it.key, ""), *value;

		if (cleat_json_type(it.value) == CLEAT_JSON_NULL)
			continue; /* VS Code: not to be set */
		value = text_of(r, it.value, member, name);
		if (!value)
			return false;
		words_add(to, keepf("%s%s%s", name, between, value));
	}
	return true;
}

/* Lines of NAME=value, with # comments and quotes around a value; blanks around both do not count. */
static void env_lines(char *text, struct words *to)
{
	static const char blanks[] = " \t";
	char *rest = NULL;

	for (char *line = strtok_r(text, "\r\n", &rest); line;
	     line = strtok_r(NULL, "\r\n", &rest)) {
		char *value;
		size_t n, name;

		line += strspn(line, blanks);
		if (strncmp(line, "export ", 7) == 0)
			line += 7 + strspn(line + 7, blanks);
		name = strcspn(line, "= \t");
		value = line + name + strspn(line + name, blanks);
		if (*line == '#' || !name || *value != '=')
			continue;
		value += 1 + strspn(value + 1, blanks);
		n = strlen(value);
		while (n && strchr(blanks, value[n - 1]))
			value[--n] = '\0';
		if (n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n - 1] == value[0]) {
			value[n - 1] = '\0';
			value++;
		}
		words_add(to, keepf("%.*s=%s", (int)name, line, value));
	}
}

static bool env_file(struct reading *r, struct target *t)
{
	const cleat_json *v = cleat_json_get(r->server->entry, "envFile");
	struct text content = { 0 };
	const char *path;

	if (!v)
		return true;
	path = text_of(r, v, "envFile", NULL);
	if (!path)
		return false;
	if (!text_read(&content, path, FILE_MAX)) {
		text_free(&content);
		return complain(r, "envFile", NULL, keepf("%s: %s", path, strerror(errno)));
	}
	env_lines(keep(text_take(&content)), &t->env);
	return true;
}

static bool command(struct reading *r, struct target *t)
{
	const cleat_json *entry = r->server->entry, *args = cleat_json_get(entry, "args");
	const cleat_json *cwd = cleat_json_get(entry, "cwd");
	cleat_json_iter it = cleat_json_each(args);
	struct words argv = { 0 };
	const char *word = text_of(r, cleat_json_get(entry, "command"), "command", NULL);

	if (!word)
		return false;
	words_add(&argv, word);
	if (args && cleat_json_type(args) != CLEAT_JSON_ARRAY)
		return complain(r, "args", NULL, "must be an array");
	while (cleat_json_next(&it)) {
		word = text_of(r, it.value, "args", keepf("%zu", it.index));
		if (!word)
			return false;
		words_add(&argv, word);
	}
	t->argv = argv.at;
	if (cwd && cleat_json_type(cwd) != CLEAT_JSON_NULL) {
		t->cwd = text_of(r, cwd, "cwd", NULL);
		if (!t->cwd)
			return false;
	}
	return env_file(r, t) && pairs(r, "env", "=", &t->env);
}

static bool address(struct reading *r, struct target *t)
{
	const cleat_json *entry = r->server->entry;

	t->url = text_of(r, cleat_json_get(entry, "url"), "url", NULL);
	if (!t->url)
		return false;
	t->old_sse = strcmp(cleat_json_str(cleat_json_get(entry, "type"), ""), "sse") == 0;
	return pairs(r, "headers", ": ", &t->headers);
}

const char *config_resolve(const struct config_server *s, struct target *ret)
{
	struct reading r = { .server = s,
			     .places = { .workspace = config_workspace(), .home = config_home() } };

	memset(ret, 0, sizeof *ret);
	if (cleat_json_get(s->entry, "command"))
		command(&r, ret);
	else if (cleat_json_get(s->entry, "url"))
		address(&r, ret);
	else
		complain(&r, NULL, NULL, "has neither \"command\" nor \"url\"");
	return r.problem;
}

/* ---- SERVER -------------------------------------------------------------------------------------- */

/* What was meant by host:port or host/path: an address without its beginning. */
static const char *as_address(const char *word)
{
	const char *colon = strchr(word, ':'), *slash = strchr(word, '/');
	bool port = colon && colon[1] >= '0' && colon[1] <= '9';
	bool host = slash && memchr(word, '.', (size_t)(slash - word));

	if ((!port && !host) || strspn(word, "./~"))
		return NULL;
	return keepf("http%s://%s%s", port ? "" : "s", word, slash ? "" : "/mcp");
}

static int no_such_name(struct cli *cli, const struct config *config)
{
	const char *names[MOST_NAMES], *near, *word = cli->server;
	const char *why = access(word, X_OK) == 0 ? "" : strerror(errno);
	size_t n = 0;

	for (size_t i = 0; i < config->n && n < MOST_NAMES; i++)
		names[n++] = config->servers[i].name;
	near = nearest(word, names, n);
	if (!near)
		near = as_address(word);
	if (near)
		return cli_error(cli, EXIT_USAGE, "there is no server \"%s\", did you mean \"%s\"?",
				 word, near);
	if (strchr(word, ' '))
		return cli_error(cli, EXIT_USAGE,
				 "there is no server \"%s\": a command goes after --, as in cleat "
				 "%s -- %s",
				 word, cli->verb->name, word);
	if (strspn(word, "./~"))
		return cli_error(cli, EXIT_USAGE, "cannot run %s: %s", word, why);
	return cli_error(
		cli, EXIT_USAGE,
		"there is no server \"%s\" in the configuration files (cleat config lists "
		"them); an address begins with http:// or https://, a command goes after --",
		word);
}

static int by_name(struct cli *cli, struct target *t)
{
	const struct config *config = config_load(cli);
	const struct config_server *s = config ? config_find(config, cli->server) : NULL;
	const char *problem;

	if (!config)
		return EXIT_USAGE;
	if (!s)
		return no_such_name(cli, config);
	/* A directory that somebody else has filled may mean something else by a name. */
	for (size_t i = 0; s->file->project && i < config->n; i++)
		if (config->servers[i].shadowed_by == s && !config->servers[i].file->project)
			cli_note(cli, "\"%s\" is the one of %s, not of %s", s->name, s->file->path,
				 config->servers[i].file->path);
	problem = config_resolve(s, t);
	t->file = s->file->path;
	return problem ? cli_error(cli, EXIT_USAGE, "%s", problem) : EXIT_GOOD;
}

/* One message per line, without HTTP. */
static bool is_stream(const char *url)
{
	return strncasecmp(url, "tcp://", 6) == 0 || strncasecmp(url, "unix-stream:", 12) == 0;
}

static bool is_address(const char *word)
{
	return strstr(word, "://") || strncasecmp(word, "unix:", 5) == 0 || is_stream(word);
}

int target_find(struct cli *cli, struct target *t)
{
	const char *word = cli->server;
	struct words one = { 0 };

	memset(t, 0, sizeof *t);
	t->inherit_env = true;
	if (cli->command) {
		t->argv = cli->command;
		return EXIT_GOOD;
	}
	if (!word)
		return cli_usage(cli,
				 "SERVER is missing: an address, a name (cleat config lists them) "
				 "or -- COMMAND");
	if (is_address(word)) {
		t->url = word;
		return EXIT_GOOD;
	}
	if (strchr(word, '/') && access(word, X_OK) == 0) {
		words_add(&one, word);
		t->argv = one.at;
		return EXIT_GOOD;
	}
	return by_name(cli, t);
}

/* An option that would do nothing is a mistake that nobody would see. $CLEAT_BEARER is
 * not one: see bearer.c. */
int target_check(struct cli *cli, const struct target *t)
{
	static const struct {
		const char *name, *instead;
	} of_http[] = { { "header", ": --env NAME=VALUE gives it a variable" },
			{ "bearer", ": --env NAME=VALUE gives it a variable" },
			{ "insecure", "" },
			{ "ca", "" },
			{ "proxy", "" } },
	  of_command[] = { { "env", ": --header 'NAME: VALUE' gives it a header" }, { "cwd", "" } };
	bool http = t->url && !is_stream(t->url);
	const char *who = t->file ? keepf("\"%s\" (%s)", cli->server, t->file) : "this one";

	for (size_t i = 0; !http && i < CLEAT_COUNT(of_http); i++)
		if (cli_flag(cli, of_http[i].name))
			return cli_usage(cli, "--%s is for a server over HTTP, and %s is a %s%s",
					 of_http[i].name, who,
					 t->url ? "stream of lines" : "command",
					 t->url ? "" : of_http[i].instead);
	for (size_t i = 0; t->url && i < CLEAT_COUNT(of_command); i++)
		if (cli_flag(cli, of_command[i].name))
			return cli_usage(cli, "--%s is for a command, and %s is at an address%s",
					 of_command[i].name, who,
					 http ? of_command[i].instead : "");
	return EXIT_GOOD;
}

/* ---- for people ---------------------------------------------------------------------------------- */

const char *config_kind(const struct config_server *s)
{
	const char *url = cleat_json_str(cleat_json_get(s->entry, "url"), NULL);

	if (cleat_json_get(s->entry, "command"))
		return "stdio";
	if (!url)
		return NULL;
	if (strcmp(cleat_json_str(cleat_json_get(s->entry, "type"), ""), "sse") == 0)
		return "sse";
	return strncmp(url, "unix:", 5) == 0 ? "unix" : "http";
}

const char *config_line(const struct config_server *s)
{
	cleat_json_iter it = cleat_json_each(cleat_json_get(s->entry, "args"));
	struct text t = { 0 };

	text_puts(&t, cleat_json_str(cleat_json_get(s->entry, "command"),
				     cleat_json_str(cleat_json_get(s->entry, "url"), "")));
	while (cleat_json_get(s->entry, "command") && cleat_json_next(&it))
		text_printf(&t, " %s", cleat_json_str(it.value, "?"));
	return keep(text_take(&t));
}
