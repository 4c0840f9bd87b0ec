/* program/serve/prompts/prompt.c - prompts of a configuration: text, Markdown files, directories of them (source.h).
 *
 * Files are read when the configuration is, so that a prompt never changes half-way and a broken file is
 * found at once; with --watch a change loads them again. Everything that a prompt needs is in its own arena.
 */
#include "serve/prompts/prompt.h"

#include "base/error.h"
#include "base/mem.h"
#include "field/field.h"
#include "field/signature.h"
#include "serve/argument/argtext.h"
#include "serve/kit/reqmem.h"
#include "serve/kit/tool.h"
#include "serve/prompts/completion.h"
#include "serve/prompts/source.h"
#include "wording/show.h"
#include "json/build.h"
#include "json/copy.h"
#include "json/parse.h"
#include "json/writer.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

enum { PROMPT_ARENA_MAX = 16 << 20 };

struct message {
	const char *role;
	const struct argtext *text;
};

struct prompt {
	struct jobs jobs; /* first: see job.h */
	cleat_allocator mem;
	struct arena arena;
	struct message *messages;
	size_t n;
	const char **names; /* of the arguments; ends with NULL */
	struct completion *completion;
};

/* ---- getting ------------------------------------------------------------------------------ */

/* The arguments with their defaults, as an object. */
static const cleat_json *take_arguments(const struct prompt *p, cleat_request *req)
{
	const cleat_allocator mem = reqmem(req);
	const cleat_json *args = NULL;
	struct arena ar;
	struct build all;

	arena_init(&ar, &mem, SIZE_MAX);
	build_init(&all, &ar);
	build_obj(&all);
	for (const char **name = p->names; *name; name++) {
		const cleat_json *v = cleat_arg(req, *name);

		if (v) {
			build_keyz(&all, *name);
			build_value(&all, v);
		}
	}
	build_end(&all);
	(void)build_finish(&all, &args, NULL);
	return args;
}

static int prompt_get(cleat_request *req)
{
	const struct prompt *p = cleat_request_userdata(req);
	const cleat_json *args = take_arguments(p, req);
	struct buf text;
	int rc = args ? CLEAT_OK : CLEAT_ENOMEM;

	buf_init(&text, &p->mem, 64 << 20);
	for (size_t i = 0; !rc && i < p->n; i++) {
		buf_truncate(&text, 0);
		rc = argtext_write(p->messages[i].text, args, &text, NULL);
		if (!rc)
			rc = cleat_reply_role(req, p->messages[i].role);
		if (!rc)
			rc = cleat_reply_textn(req, buf_size(&text) ? buf_str(&text).p : "",
					       buf_size(&text));
	}
	buf_done(&text);
	return rc;
}

static int prompt_complete(cleat_request *req)
{
	struct prompt *p = cleat_request_userdata(req);

	return completion_reply(p->completion, &p->jobs, req);
}

static void prompt_free(void *userdata)
{
	struct prompt *p = userdata;
	cleat_allocator mem;

	if (!p)
		return;
	mem = p->mem;
	completion_free(p->completion);
	arena_done(&p->arena);
	mem_free(&mem, p);
}

/* ---- making ------------------------------------------------------------------------------- */

/* {"properties": ...} of a field table, in the conf's arena. */
static const cleat_json *names_of(struct draft *b, const cleat_field *fields)
{
	const cleat_json *names;
	struct build made;
	struct jw w;

	build_init(&made, conf_arena(b->conf));
	jw_build(&w, &made);
	field_write_schema(&w, fields, FIELD_SCHEMA_ARGUMENTS);
	build_finish(&made, &names, NULL);
	return names;
}

static bool fill_names(struct prompt *p, const cleat_field *fields)
{
	size_t n = field_count(fields);

	p->names = arena_zalloc(&p->arena, (n + 1) * sizeof *p->names);
	for (size_t i = 0; p->names && i < n; i++)
		p->names[i] = arena_strdup(&p->arena, fields[i].name);
	return p->names && !arena_failed(&p->arena);
}

static bool fill_messages(struct prompt *p, struct draft *b, const cleat_json *at, const char *path,
			  struct str body, const cleat_json *names)
{
	struct prompt_message *parts =
		arena_alloc(conf_arena(b->conf), PROMPT_MESSAGES_MAX * sizeof *parts);
	cleat_error err;

	if (!parts)
		return false;
	p->n = prompt_split(body, parts);
	if (!p->n) {
		conf_problem(b->conf, at, "%s: more than %d messages", path, PROMPT_MESSAGES_MAX);
		return false;
	}
	p->messages = arena_zalloc(&p->arena, p->n * sizeof *p->messages);
	for (size_t i = 0; p->messages && i < p->n; i++) {
		p->messages[i].role = parts[i].role;
		p->messages[i].text =
			argtext_parse(&p->arena, parts[i].text, names, ARGTEXT_PROSE, &err);
		if (!p->messages[i].text) {
			conf_problem(b->conf, at, "%s: message %zu: %s", path, i + 1, err.message);
			return false;
		}
	}
	return p->messages;
}

/* What a prompt is made of, wherever it stands. */
struct prompt_plan {
	const cleat_json *at;   /* for problems */
	const cleat_json *node; /* NULL: a file of a directory */
	const char *path;       /* for problems; "text" */
	const char *recipe;
	struct str body;
	cleat_prompt prompt; /* name, title, description, input */
};

static void add_prompt(struct draft *b, struct prompt_plan *plan)
{
	const cleat_json *names = names_of(b, plan->prompt.input);
	size_t before = conf_problems(b->conf);
	struct prompt *p = mem_zalloc(&b->rt->mem, sizeof *p);
	bool ok = p && names;

	if (p) {
		p->mem = b->rt->mem;
		arena_init(&p->arena, &p->mem, PROMPT_ARENA_MAX);
	}
	ok = ok && fill_names(p, plan->prompt.input) &&
	     fill_messages(p, b, plan->at, plan->path, plan->body, names) &&
	     completion_read(b, plan->node, names, &p->completion);
	if (ok) {
		plan->prompt.get = prompt_get;
		plan->prompt.complete = p->completion ? prompt_complete : NULL;
		plan->prompt.userdata = p;
		plan->prompt.destroy = prompt_free;
		draft_prompt(b, plan->at, plan->recipe, &plan->prompt);
		return;
	}
	if (conf_problems(b->conf) == before)
		conf_problem(b->conf, plan->at, "out of memory");
	prompt_free(p);
}

/* Takes over what a file says, where the configuration itself does not say it. */
static bool read_file(struct draft *b, struct prompt_plan *plan)
{
	struct arena *ar = conf_arena(b->conf);
	struct prompt_file file;
	cleat_error err;
	struct str text;

	if (!draft_read(b, plan->at, plan->path, PROMPT_FILE_MAX, &text))
		return false;
	if (prompt_file_parse(ar, text, &file, &err)) {
		conf_problem(b->conf, plan->at, "%s: %s", plan->path, err.message);
		return false;
	}
	if (!plan->prompt.name)
		plan->prompt.name = file.name;
	if (!plan->prompt.title)
		plan->prompt.title = file.title;
	if (!plan->prompt.description)
		plan->prompt.description = file.description;
	if (!plan->prompt.input)
		plan->prompt.input = file.fields;
	plan->body = file.body;
	plan->recipe = arena_printf(ar, "%s\n%s\n%s", plan->recipe ? plan->recipe : "", plan->path,
				    text.p);
	return plan->recipe;
}

void source_prompt(struct draft *b, const char *name, const cleat_json *node)
{
	const cleat_json *text = json_member(node, "text"), *file = json_member(node, "file");
	const cleat_json *args = json_member(node, "args");
	cleat_error err;
	struct prompt_plan plan = {
		.at = node,
		.node = node,
		.path = "text",
		.recipe = draft_recipe(b, node),
		.prompt = { .name = name,
			    .title = conf_shown(b->conf, json_member(node, "title"), NULL),
			    .description =
				    conf_shown(b->conf, json_member(node, "description"), NULL),
			    .icons = tool_icons(b, json_member(node, "icons")) },
	};

	if (json_member(node, "meta"))
		plan.prompt.meta = json_text(conf_arena(b->conf), json_member(node, "meta")).p;

	if (args && signature_parse_args(conf_arena(b->conf), cleat_json_str(args, ""),
					 &plan.prompt.input, &err)) {
		conf_problem(b->conf, args, "%s", err.message);
		return;
	}
	if (!text == !file) {
		conf_problem(b->conf, node, "expected \"file\" or \"text\"");
		return;
	}
	if (file) {
		plan.at = file;
		plan.path = conf_path_at(b->conf, file);
		if (!plan.path || !read_file(b, &plan))
			return;
	} else {
		plan.body = str_of(conf_shown(b->conf, text, ""));
	}
	add_prompt(b, &plan);
}

/* ---- directories -------------------------------------------------------------------------- */

static bool is_prompt(const char *name)
{
	size_t n = strlen(name);

	return n > 3 && name[0] != '.' && !strcmp(name + n - 3, ".md");
}

static int prompt_compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Fills `names` with those of *.md; how many, or SIZE_MAX: a problem was added. */
static size_t read_names(struct draft *b, const cleat_json *at, const char *path, DIR *dir,
			 const char **names)
{
	struct dirent *e;
	size_t n = 0;

	while ((e = readdir(dir))) {
		if (!is_prompt(e->d_name))
			continue;
		if (n == PROMPT_FILES_MAX) {
			conf_problem(b->conf, at, "%s: more than %d prompts", path,
				     PROMPT_FILES_MAX);
			return SIZE_MAX;
		}
		names[n] = arena_strdup(conf_arena(b->conf), e->d_name);
		if (!names[n++])
			return SIZE_MAX;
	}
	qsort(names, n, sizeof *names, prompt_compare);
	return n;
}

void source_prompt_dir(struct draft *b, const cleat_json *node)
{
	const char *path = conf_path_at(b->conf, node);
	struct arena *ar = conf_arena(b->conf);
	const char **names = arena_zalloc(ar, PROMPT_FILES_MAX * sizeof *names);
	size_t n = SIZE_MAX;
	DIR *dir;

	if (!path || !names)
		return;
	draft_watch(b, path);
	dir = opendir(path);
	if (!dir) {
		conf_problem(b->conf, node, "cannot read %s: %s", path, strerror(errno));
		return;
	}
	n = read_names(b, node, path, dir, names);
	closedir(dir);
	for (size_t i = 0; n != SIZE_MAX && i < n; i++) {
		struct prompt_plan plan = { .at = node,
					    .path = arena_printf(ar, "%s/%s", path, names[i]) };

		if (!plan.path || !read_file(b, &plan))
			continue;
		if (!plan.prompt.name)
			plan.prompt.name = arena_strndup(ar, names[i], strlen(names[i]) - 3);
		if (plan.prompt.name)
			add_prompt(b, &plan);
	}
}
