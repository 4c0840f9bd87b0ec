/* program/serve/prompts/resource.c - resources and templates: fixed text, and what a command prints (source.h).
 *
 * A template's variables are the command's arguments, under the rules of program.h, and one more: a variable
 * that stands for one segment of a URI never holds a '/', however it was encoded. Not here: files and globs
 * (resource_file.c).
 */
#include "serve/prompts/resource.h"

#include "base/error.h"
#include "base/mem.h"
#include "serve/argument/argtext.h"
#include "serve/command/job.h"
#include "serve/kit/kept.h"
#include "serve/kit/output.h"
#include "serve/kit/reqmem.h"
#include "serve/kit/tool.h"
#include "serve/prompts/completion.h"
#include "serve/prompts/source.h"
#include "uri/template.h"
#include "json/build.h"
#include "json/copy.h"
#include "json/parse.h"

enum { RESOURCE_ARENA_MAX = 8 << 20 };

struct resource {
	struct jobs jobs; /* first: see job.h */
	cleat_allocator mem;
	struct arena arena;
	struct program *program;    /* NULL: text */
	const struct argtext *text; /* of a template */
	const char *mime;           /* NULL: what the bytes look like */
	struct completion *completion;
	uint64_t ttl_ms; /* what was read is good for so long */
	struct kept kept;
	struct uri_variable {
		const char *name;
		bool wide;
	} * variables;
	size_t n;
};

/* ---- reading ------------------------------------------------------------------------------ */

/* The variables as an object, *ret. CLEAT_OK, CLEAT_ENOENT for a value that must not be, CLEAT_ENOMEM. */
static int take_variables(const struct resource *r, cleat_request *req, const cleat_json **ret)
{
	const cleat_allocator mem = reqmem(req);
	struct arena ar;
	struct build all;

	arena_init(&ar, &mem, 0);
	build_init(&all, &ar);
	build_obj(&all);
	for (size_t i = 0; i < r->n; i++) {
		struct str v = str_of(cleat_request_var(req, r->variables[i].name));

		if (!v.n)
			continue;
		if (!r->variables[i].wide &&
		    (memchr(v.p, '/', v.n) || str_eqz(v, ".") || str_eqz(v, "..")))
			return CLEAT_ENOENT;
		build_keyz(&all, r->variables[i].name);
		build_str(&all, v);
	}
	build_end(&all);
	return build_finish(&all, ret, NULL);
}

/* Text or bytes: by its type, where that is known to be one of them, else by what it looks like. */
static int reply_content(const struct resource *r, cleat_request *req, struct str s)
{
	const char *mime = r->mime;
	bool bytes =
		mime && (!strncmp(mime, "image/", 6) || !strncmp(mime, "audio/", 6) ||
			 !strncmp(mime, "video/", 6) || !strcmp(mime, "application/octet-stream"));

	if (bytes || !output_is_text(s))
		return cleat_reply_blob(req, mime, s.p ? s.p : "", s.n);
	return cleat_reply_textn(req, s.p ? s.p : "", s.n);
}

static int resource_on_done(cleat_request *req, void *ctx, const struct process_result *result)
{
	struct resource *r = ctx;
	struct buf words;
	int rc;

	if (result->ending == PROCESS_EXITED && result->status == 0) {
		if (r->ttl_ms)
			kept_put(&r->kept, &r->mem, cleat_request_uri(req), result->out, r->ttl_ms);
		return reply_content(r, req, result->out);
	}
	buf_init(&words, &r->mem, 16 << 10);
	job_write_ending(&words, r->program, result, true);
	rc = cleat_reply_error(req, "%.*s", STR_ARGS(buf_str(&words)));
	buf_done(&words);
	return rc;
}

static int resource_read(cleat_request *req)
{
	static const struct job_hooks hooks = { .done = resource_on_done };
	struct resource *r = cleat_request_userdata(req);
	const cleat_json *args;
	struct str kept;
	const char *text;
	int rc = take_variables(r, req, &args);

	if (rc == CLEAT_ENOENT)
		return cleat_reply_not_found(req);
	if (rc)
		return rc;
	if (r->program && kept_find(&r->kept, cleat_request_uri(req), &kept))
		return reply_content(r, req, kept);
	if (r->program)
		return job_start(&r->jobs, r->program, req, args, &hooks, r);
	text = argtext_render(r->text, req, args, NULL);
	return text ? cleat_reply_text(req, text) : CLEAT_OK;
}

static int resource_complete(cleat_request *req)
{
	struct resource *r = cleat_request_userdata(req);

	return completion_reply(r->completion, &r->jobs, req);
}

static void resource_free(void *userdata)
{
	struct resource *r = userdata;
	cleat_allocator mem;

	if (!r)
		return;
	mem = r->mem;
	program_free(r->program);
	completion_free(r->completion);
	kept_clear(&r->kept, &mem);
	arena_done(&r->arena);
	mem_free(&mem, r);
}

/* ---- variables ---------------------------------------------------------------------------- */

bool resource_is_wide(const char *uri, struct str name)
{
	for (const char *p = strchr(uri, '{'); p; p = strchr(p, '{')) {
		const char *end = strchr(++p, '}');
		bool wide = *p && strchr("+#?&;", *p);

		if (!end)
			return false;
		p += *p && strchr("+#./;?&", *p) ? 1 : 0;
		while (p < end) {
			size_t n = strcspn(p, ",:*}");
			bool same = str_eq((struct str){ p, n }, name);

			p += n;
			if (same && (wide || *p == '*'))
				return true;
			p += strcspn(p, ",}");
			p += *p == ',';
		}
	}
	return false;
}

const cleat_json *resource_names(struct draft *b, const char *uri, const cleat_json *node)
{
	struct arena *ar = conf_arena(b->conf);
	const struct uri_template *t;
	const cleat_json *names = NULL;
	cleat_error err;
	struct build all;

	if (uri_template_compile(ar, str_of(uri), &t, &err)) {
		conf_problem(b->conf, node, "%s", err.message);
		return NULL;
	}
	build_init(&all, ar);
	build_obj(&all);
	build_keyz(&all, "properties");
	build_obj(&all);
	for (size_t i = 0; i < uri_template_var_count(t); i++) {
		build_key(&all, uri_template_var_name(t, i));
		build_value(&all, json_empty_object());
	}
	build_end(&all);
	build_end(&all);
	if (build_finish(&all, &names, NULL))
		conf_problem(b->conf, node, "out of memory");
	return names;
}

static bool read_variables(struct resource *r, const char *uri, const cleat_json *names)
{
	const cleat_json *properties = json_member(names, "properties");
	cleat_json_iter it = cleat_json_each(properties);

	r->variables =
		arena_zalloc(&r->arena, (cleat_json_size(properties) + 1) * sizeof *r->variables);
	while (r->variables && cleat_json_next(&it))
		r->variables[r->n++] =
			(struct uri_variable){ arena_strdup(&r->arena, cleat_json_str(it.key, "")),
					       resource_is_wide(uri, json_str(it.key)) };
	return r->variables && !arena_failed(&r->arena);
}

/* ---- reading the configuration ------------------------------------------------------------ */

void resource_describe(struct draft *b, const char *uri, const cleat_json *node,
		       cleat_resource *ret)
{
	ret->uri = uri;
	ret->name = conf_shown(b->conf, json_member(node, "name"), NULL);
	ret->title = conf_shown(b->conf, json_member(node, "title"), NULL);
	ret->description = conf_shown(b->conf, json_member(node, "description"), NULL);
	ret->mime_type = conf_shown(b->conf, json_member(node, "mime"), NULL);
	ret->ttl_ms = conf_ms(b->conf, json_member(node, "ttl"), 0);
	ret->icons = tool_icons(b, json_member(node, "icons"));
	if (json_member(node, "meta"))
		ret->meta = json_text(conf_arena(b->conf), json_member(node, "meta")).p;
}

static bool read_text(struct resource *r, struct draft *b, const cleat_json *at,
		      const cleat_json *names)
{
	cleat_error err;

	r->text = argtext_parse(&r->arena, str_of(conf_shown(b->conf, at, "")), names,
				ARGTEXT_PROSE, &err);
	if (!r->text)
		conf_problem(b->conf, at, "%s", err.message);
	return r->text;
}

static bool resource_fill(struct resource *r, struct draft *b, const char *uri,
			  const cleat_json *node, const cleat_resource *res)
{
	const cleat_json *names = resource_names(b, uri, node), *text = json_member(node, "text");

	if (!names)
		return false;
	r->mime = arena_strdup(&r->arena, res->mime_type);
	r->ttl_ms = res->ttl_ms;
	if (text && !read_text(r, b, text, names))
		return false;
	if (!text && !(r->program = program_new(b, node, NULL, names)))
		return false;
	return completion_read(b, node, names, &r->completion) && read_variables(r, uri, names);
}

static void source_made(struct draft *b, const char *uri, const cleat_json *node)
{
	cleat_resource res = { .read = resource_read, .destroy = resource_free };
	size_t before = conf_problems(b->conf);
	struct resource *r;

	resource_describe(b, uri, node, &res);
	if (json_member(node, "text") && !uri_is_template(str_of(uri))) {
		res = (cleat_resource){ .text = conf_shown(b->conf, json_member(node, "text"),
							   "") };
		resource_describe(b, uri, node, &res);
		draft_resource(b, node, draft_recipe(b, node), &res);
		return;
	}
	r = mem_zalloc(&b->rt->mem, sizeof *r);
	if (!r) {
		conf_problem(b->conf, node, "out of memory");
		return;
	}
	r->mem = b->rt->mem;
	arena_init(&r->arena, &r->mem, RESOURCE_ARENA_MAX);
	if (resource_fill(r, b, uri, node, &res) && conf_problems(b->conf) == before) {
		res.userdata = r;
		res.complete = r->completion ? resource_complete : NULL;
		draft_resource(b, node, draft_recipe(b, node), &res);
		return;
	}
	if (conf_problems(b->conf) == before)
		conf_problem(b->conf, node, "out of memory");
	resource_free(r);
}

void source_resource(struct draft *b, const char *uri, const cleat_json *node)
{
	static const char *const kinds[] = { "file", "glob", "cmd", "sh", "text" };
	size_t n = 0;

	for (size_t i = 0; i < CLEAT_COUNT(kinds); i++)
		n += json_member(node, kinds[i]) != NULL;
	if (n != 1)
		conf_problem(b->conf, node,
			     "expected one of \"file\", \"glob\", \"cmd\", \"sh\" and \"text\"");
	else if (json_member(node, "file"))
		resource_file(b, uri, node);
	else if (json_member(node, "glob"))
		resource_glob(b, uri, node);
	else
		source_made(b, uri, node);
}
