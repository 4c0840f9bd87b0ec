/* program/serve/sources.c - which source reads which part of a configuration (sources.h).
 *
 * The values of a configuration, already checked against the schema, are given to the sources one by one; they
 * add to the draft what they make, or problems.
 */
#include "serve/sources.h"

#include "serve/command/source.h"
#include "serve/folder/source.h"
#include "serve/kit/set.h"
#include "serve/prompts/source.h"
#include "serve/sql/source.h"
#include "serve/web/source.h"
#include "server/core.h"
#include "json/parse.h"

/* tools.NAME has one of these, which says what it is. */
static const struct {
	const char *key;
	void (*source)(struct draft *b, const char *name, const cleat_json *node);
} kinds[] = {
	{ "cmd", source_command },
	{ "sh", source_command },
	{ "http", source_web },
	{ "sql", source_sql },
};

static void source_tool(struct draft *b, const char *name, const cleat_json *node)
{
	const char *first = NULL;
	size_t found = CLEAT_COUNT(kinds);

	for (size_t i = 0; i < CLEAT_COUNT(kinds); i++) {
		const cleat_json *v = cleat_json_get(node, kinds[i].key);

		if (!v)
			continue;
		if (first) {
			conf_problem(b->conf, v, "a tool has \"%s\" or \"%s\", not both", first,
				     kinds[i].key);
			return;
		}
		first = kinds[i].key;
		found = i;
	}
	if (first)
		kinds[found].source(b, name, node);
	else
		conf_problem(b->conf, node,
			     "a tool needs one of \"cmd\", \"sh\", \"http\" or \"sql\"");
}

static const struct {
	const char *section;
	void (*source)(struct draft *b, const char *name, const cleat_json *node);
	bool makes; /* each value makes something, or is a problem */
} sections[] = {
	{ "databases", source_database, false }, { "folders", source_folder, false },
	{ "tools", source_tool, true },          { "openapi", source_openapi, false },
	{ "resources", source_resource, true },  { "prompts", source_prompt, true },
};

static void read_value(struct draft *b, size_t section, const char *name, const cleat_json *node)
{
	size_t before = set_size(b->set);

	sections[section].source(b, name, node);
	conf_scratch_reset(b->conf);
	/* A source whose own memory ran out may have nothing to say it with. One that needs something else which
	 * is wrong (a database) is silent, too, but then a problem is known. */
	if (sections[section].makes && set_size(b->set) == before && !conf_problems(b->conf))
		conf_problem(b->conf, node, "out of memory");
}

static void read_section(struct draft *b, size_t section)
{
	for (size_t i = 0; conf_root(b->conf, i); i++) {
		cleat_json_iter it = cleat_json_each(
			cleat_json_get(conf_root(b->conf, i), sections[section].section));

		while (cleat_json_next(&it)) {
			if (str_has_nul(json_str(it.key)))
				conf_problem(b->conf, it.key,
					     "a NUL character is not allowed here");
			else if (json_is_object(it.value))
				read_value(b, section, cleat_json_str(it.key, ""), it.value);
		}
	}
}

static void read_prompt_dirs(struct draft *b)
{
	for (size_t i = 0; conf_root(b->conf, i); i++) {
		cleat_json_iter it =
			cleat_json_each(cleat_json_get(conf_root(b->conf, i), "prompt_dirs"));

		while (cleat_json_next(&it))
			if (json_is_string(it.value))
				source_prompt_dir(b, it.value);
	}
}

struct set *sources_read(struct conf *c, struct runtime *rt)
{
	struct draft b = { .conf = c, .rt = rt, .set = set_new(server_memory(rt->server)) };

	if (!b.set)
		return NULL;
	for (size_t i = 0; i < CLEAT_COUNT(sections); i++)
		read_section(&b, i);
	read_prompt_dirs(&b);
	return b.set;
}
