/* program/clients/config.c - finds and reads the configuration files of other programs. */
#include "clients/config.h"

#include "clients/places.h"
#include "text/jsonc.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_MAX = 64 << 20, MOST_FILES = 8, MOST_SERVERS = 4096, PASSWD_MAX = 16384 };

static struct config config;
static bool loaded;

/* ---- files --------------------------------------------------------------------------------------- */

const char *config_home(void)
{
	const char *home = getenv("HOME");
	struct passwd entry, *found = NULL;
	char *room;

	if (home && *home)
		return home;
	room = keep_alloc(PASSWD_MAX);
	if (getpwuid_r(getuid(), &entry, room, PASSWD_MAX, &found) != 0 || !found)
		return "";
	return entry.pw_dir;
}

const char *config_workspace(void)
{
	static char here[4096];

	return getcwd(here, sizeof here) ? here : "";
}

static const char *message_of(struct config_file *f, const cleat_error *err)
{
	return keepf("%s: %s", f->path, err->message);
}

/* Reads and parses; what is wrong with it is f->problem. */
static void read_file(struct config_file *f, const char *path)
{
	struct text t = { 0 };
	cleat_error err;

	if (!text_read(&t, path, FILE_MAX)) {
		f->found = errno != ENOENT && errno != ENOTDIR;
		if (f->found)
			f->problem = keepf("%s: %s", f->path, strerror(errno));
		text_free(&t);
		return;
	}
	f->found = true;
	f->n = t.n;
	f->text = keep(text_take(&t));
	jsonc_blank(f->text, f->n);
	f->doc = cleat_doc_parse(f->text, f->n, NULL, NULL, &err);
	if (!f->doc && f->n)
		f->problem = message_of(f, &err);
}

static struct config_file *add_file(const char *path, const char *shown, const char *program,
				    bool project)
{
	struct config_file *f = &config.files[config.n_files++];

	*f = (struct config_file){ .path = shown, .program = program, .project = project };
	read_file(f, path);
	return f;
}

/* ---- servers ------------------------------------------------------------------------------------- */

const struct config_server *config_find(const struct config *c, const char *name)
{
	for (size_t i = 0; i < c->n; i++)
		if (!c->servers[i].shadowed_by && strcmp(c->servers[i].name, name) == 0)
			return &c->servers[i];
	return NULL;
}

/* The servers under `servers`, to which these keys lead. */
static void add_servers(const struct config_file *f, const cleat_json *servers,
			const char *const *keys, size_t n_keys)
{
	cleat_json_iter it = cleat_json_each(servers);

	while (cleat_json_type(servers) == CLEAT_JSON_OBJECT && cleat_json_next(&it) &&
	       config.n < MOST_SERVERS) {
		struct config_server *s = &config.servers[config.n];

		*s = (struct config_server){ .name = cleat_json_str(it.key, ""),
					     .file = f,
					     .entry = it.value };
		for (size_t i = 0; i < n_keys; i++)
			s->keys[s->n_keys++] = keys[i];
		s->keys[s->n_keys++] = s->name;
		s->shadowed_by = config_find(&config, s->name);
		config.n++;
	}
}

/* Both spellings of the top key. */
static void add_from(const struct config_file *f)
{
	static const char *const tops[] = { "mcpServers", "servers" };
	const cleat_json *root = cleat_doc_root(f->doc);

	for (size_t i = 0; i < CLEAT_COUNT(tops); i++)
		add_servers(f, cleat_json_get(root, tops[i]), &tops[i], 1);
}

/* Claude Code keeps what is for one directory only in the user's file. */
static void add_local(const struct config_file *f, const char *here)
{
	const char *const keys[] = { "projects", here, "mcpServers" };
	const cleat_json *project =
		cleat_json_get(cleat_json_get(cleat_doc_root(f->doc), "projects"), here);

	add_servers(f, cleat_json_get(project, "mcpServers"), keys, 3);
}

static const struct config_file *add_place(const char *client, bool project)
{
	struct place p;

	return places_find(client, project, &p) ? add_file(p.path, p.shown, p.program, project)
						: NULL;
}

/* In the order of config.h; Claude Code's file comes first and once more. */
static void find_files(void)
{
	static const struct {
		const char *client;
		bool project;
	} order[] = { { "claude-code", true },    { "vscode", true },  { "cursor", true },
		      { "claude-code", false },   { "cursor", false }, { "vscode", false },
		      { "claude-desktop", false } };
	const char *here = keepf("%s", config_workspace());
	bool at_home = strcmp(config_home(), here) == 0; /* then two of them are one file */
	const struct config_file *claude = add_place("claude-code", false);

	add_local(claude, here);
	for (size_t i = 0; i < CLEAT_COUNT(order); i++) {
		bool again = strcmp(order[i].client, "claude-code") == 0 && !order[i].project;

		if (at_home && !order[i].project && strcmp(order[i].client, "cursor") == 0)
			continue;
		add_from(again ? claude : add_place(order[i].client, order[i].project));
	}
}

const struct config *config_load(struct cli *cli)
{
	const char *path = cli_option(cli, "config");
	const struct config_file *only;

	if (loaded)
		return &config;
	loaded = true;
	config.files = keep_alloc(MOST_FILES * sizeof *config.files);
	config.servers = keep_alloc(MOST_SERVERS * sizeof *config.servers);
	if (path) {
		only = add_file(path, path, "--config", true);
		if (only->problem || !only->found) {
			cli_error(cli, EXIT_USAGE, "%s",
				  only->problem ? only->problem
						: keepf("%s: %s", path, strerror(ENOENT)));
			return NULL;
		}
		add_from(only);
		return &config;
	}
	find_files();
	for (size_t i = 0; i < config.n_files; i++)
		if (config.files[i].problem)
			cli_note(cli, "%s", config.files[i].problem);
	return &config;
}

void config_free(void)
{
	for (size_t i = 0; i < config.n_files; i++)
		cleat_doc_free(config.files[i].doc);
	memset(&config, 0, sizeof config);
	loaded = false;
}
