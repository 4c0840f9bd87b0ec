/* program/serve/command/program.c - configuration to argv, environment and input (program.h).
 *
 * Everything lives in one arena of its own, because a call may go on while the configuration that it came
 * from is replaced. Invariant: in the argv of a script no byte comes from an argument.
 */
#include "serve/command/program.h"

#include "base/error.h"
#include "base/mem.h"
#include "child/plan.h"
#include "serve/argument/argtext.h"
#include "serve/argument/danger.h"
#include "serve/kit/gate.h"
#include "serve/kit/tool.h"
#include "serve/sandbox/conf.h"
#include "wording/show.h"
#include "json/parse.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PROGRAM_INPUT_MAX = 64 << 20, PROGRAM_ARENA_MAX = 8 << 20, PROGRAM_ELEMENTS_MAX = 1024 };

struct program_variable {
	const char *name;
	const struct argtext *value; /* NULL: the argument of that name */
};

struct program {
	struct arena arena;
	struct runtime *rt;
	const char *name;
	const char *path;                /* cmd: what to start */
	const struct argtext **elements; /* cmd; the first has no place */
	size_t n;
	const char *script; /* sh; NULL: cmd */
	struct program_variable *variables;
	size_t n_variables;
	const struct argtext *input; /* NULL: none */
	const char *cwd;             /* NULL: ours */
	struct tool_limits limits;
	struct limits bounds;
	struct sandbox *sandbox; /* NULL: none */
	struct gate *gate;
	bool merge;
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* ---- reading: cmd, sh --------------------------------------------------------------------- */

/* A program with a slash is relative to the file that names it. */
static const char *program_path(struct program *p, struct draft *b, const cleat_json *at)
{
	struct str word;

	argtext_is_fixed(p->elements[0], &word);
	if (word.p[0] == '/' || !memchr(word.p, '/', word.n))
		return arena_strdup(&p->arena, word.p);
	return arena_printf(&p->arena, "%s/%s", conf_dir(b->conf, at), word.p);
}

/* A program that is not there yet may come; but whoever wrote its name should know. */
static void look_for(struct draft *b, const cleat_json *at, const char *program)
{
	const struct child_options o = { .argv = (const char *const[]){ program, NULL } };
	struct child_plan plan;
	cleat_error err = { .status = CLEAT_OK };
	struct stat st;

	if (stat(program, &st) == 0 && S_ISDIR(st.st_mode) && strchr(program, '/'))
		error_set(&err, CLEAT_EIO, "cannot start %s: it is a directory", program);
	else if (strchr(program, '/') && access(program, X_OK))
		error_set(&err, CLEAT_EIO, "cannot start %s: %s", program, strerror(errno));
	else
		child_plan_make(&plan, &o, conf_scratch(b->conf), &err);
	if (err.status && err.status != CLEAT_ENOMEM)
		draft_say(b, CLEAT_LOG_WARNING, "%s: %s", conf_where(b->conf, at), err.message);
}

static bool read_cmd(struct program *p, struct draft *b, const cleat_json *cmd,
		     const cleat_json *names)
{
	size_t n = cleat_json_size(cmd), script;
	const char **words = arena_zalloc(&p->arena, (n + 1) * sizeof *words);
	bool *places = arena_zalloc(&p->arena, n + 1);
	cleat_json_iter it = cleat_json_each(cmd);
	bool ok = true;

	p->elements = arena_zalloc(&p->arena, (n + 1) * sizeof *p->elements);
	if (!words || !places || !p->elements || n == 0 || n > PROGRAM_ELEMENTS_MAX) {
		conf_problem(b->conf, cmd, "expected 1 to %d words", PROGRAM_ELEMENTS_MAX);
		return false;
	}
	for (; cleat_json_next(&it); p->n++) {
		const char *word = conf_template(b->conf, it.value, "");

		words[p->n] = conf_text(b->conf, it.value, "");
		p->elements[p->n] = argtext_new(b, &p->arena, it.value, word ? word : "", names);
		ok = ok && p->elements[p->n];
		places[p->n] = ok && !argtext_is_fixed(p->elements[p->n], NULL);
	}
	if (!ok)
		return false;
	if (places[0] || !words[0][0]) {
		conf_problem(b->conf, cleat_json_at(cmd, 0),
			     "expected a program; no argument may choose it");
		return false;
	}
	script = danger_script(words, places);
	if (script) {
		conf_problem(
			b->conf, cleat_json_at(cmd, script),
			"an argument must not become part of a script or choose what is run; use \"sh\" with $name "
			"instead, or pass {name} behind the script and use \"$1\"");
		return false;
	}
	p->path = program_path(p, b, cmd);
	if (!p->path)
		return false;
	look_for(b, cleat_json_at(cmd, 0), p->path);
	p->name = arena_strdup(&p->arena, base_name(words[0]));
	return true;
}

static bool read_sh(struct program *p, struct draft *b, const cleat_json *sh,
		    const cleat_json *names)
{
	const char *script = conf_raw(sh, "");
	const cleat_json *properties = json_member(names, "properties");
	cleat_json_iter it = cleat_json_each(properties);
	bool ok = true;

	if (strlen(script) != cleat_json_size(sh) || strlen(script) > ARGTEXT_WORD_MAX) {
		conf_problem(b->conf, sh, "expected a script without NUL of at most 128 KB");
		return false;
	}
	while (cleat_json_next(&it)) {
		const char *why = danger_variable(json_str(it.key));

		if (p->input && argtext_names(p->input, json_str(it.key)))
			continue; /* it may be longer than a variable can be */
		if (why) {
			conf_problem(b->conf, sh, "argument \"%s\" %s", cleat_json_str(it.key, ""),
				     why);
			ok = false;
			continue;
		}
		p->variables[p->n_variables++] = (struct program_variable){
			.name = arena_strdup(&p->arena, cleat_json_str(it.key, "")),
		};
	}
	p->script = arena_strdup(&p->arena, script);
	p->name = "the script";
	return ok;
}

/* ---- reading: the rest -------------------------------------------------------------------- */

static bool read_env(struct program *p, struct draft *b, const cleat_json *env,
		     const cleat_json *names)
{
	cleat_json_iter it = cleat_json_each(env);
	bool ok = true;

	while (cleat_json_next(&it)) {
		struct str key = json_str(it.key);
		const struct argtext *value = argtext_new(
			b, &p->arena, it.value, conf_template(b->conf, it.value, ""), names);
		const char *why = NULL;

		ok = ok && value;
		if (!value)
			continue;
		if (!danger_is_name(key))
			why = "is not a variable name (letters, digits and _, not starting with a digit)";
		else if (!argtext_is_fixed(value, NULL))
			why = danger_variable(key);
		else if (p->script && json_get(json_member(names, "properties"), key))
			why = "is the name of an argument, too";
		if (why) {
			conf_problem(b->conf, it.value, "\"%s\" %s", key.p, why);
			ok = false;
			continue;
		}
		p->variables[p->n_variables++] =
			(struct program_variable){ arena_strdup(&p->arena, key.p), value };
	}
	return ok;
}

static bool read_cwd(struct program *p, struct draft *b, const cleat_json *node)
{
	const cleat_json *at = json_member(node, "cwd");
	struct stat st;

	p->cwd = arena_strdup(&p->arena, at ? conf_path_at(b->conf, at) : conf_dir(b->conf, node));
	if (!at || !p->cwd || (stat(p->cwd, &st) == 0 && S_ISDIR(st.st_mode)))
		return true;
	conf_problem(b->conf, at, "there is no directory %s", p->cwd);
	return false;
}

static bool program_read_all(struct program *p, struct draft *b, const cleat_json *node,
			     const cleat_json *outer, const cleat_json *names)
{
	const cleat_json *cmd = json_member(node, "cmd"), *sh = json_member(node, "sh");
	const cleat_json *input = json_member(node, "stdin"), *env = json_member(node, "env");
	size_t most = cleat_json_size(json_member(names, "properties")) + cleat_json_size(env);
	bool ok;

	p->variables = arena_zalloc(&p->arena, (most + 1) * sizeof *p->variables);
	if (!p->variables)
		return false;
	if (input)
		p->input =
			argtext_new(b, &p->arena, input, conf_template(b->conf, input, ""), names);
	ok = !input || p->input;
	ok = (cmd ? read_cmd(p, b, cmd, names) : read_sh(p, b, sh, names)) && ok;
	ok = read_env(p, b, env, names) && ok;
	ok = read_cwd(p, b, node) && ok;
	p->limits = tool_limits(b, node);
	p->bounds = limits_conf(b, outer ? outer : node);
	return ok && sandbox_conf(b, outer ? outer : node, cmd ? p->path : "/bin/sh", &p->sandbox);
}

bool program_is_named(const cleat_json *node)
{
	return json_member(node, "cmd") || json_member(node, "sh");
}

struct program *program_new(struct draft *b, const cleat_json *node, const cleat_json *outer,
			    const cleat_json *names)
{
	struct program *p = mem_zalloc(&b->rt->mem, sizeof *p);
	size_t before = conf_problems(b->conf);

	if (!p) {
		conf_problem(b->conf, node, "out of memory");
		return NULL;
	}
	arena_init(&p->arena, &b->rt->mem, PROGRAM_ARENA_MAX);
	p->rt = b->rt;
	names = names ? names : json_empty_object();
	if (!program_read_all(p, b, node, outer, names))
		goto fail;
	p->gate = gate_new(&b->rt->mem, p->limits.concurrency);
	if (p->gate && !arena_failed(&p->arena))
		return p;
fail:
	if (conf_problems(b->conf) == before)
		conf_problem(b->conf, node, "out of memory");
	program_free(p);
	return NULL;
}

void program_free(struct program *p)
{
	cleat_allocator mem;

	if (!p)
		return;
	mem = p->arena.mem;
	gate_free(p->gate);
	sandbox_unref(p->sandbox);
	arena_done(&p->arena);
	mem_free(&mem, p);
}

struct runtime *program_runtime(const struct program *p)
{
	return p->rt;
}

const char *program_name(const struct program *p)
{
	return p->name;
}

struct tool_limits program_limits(const struct program *p)
{
	return p->limits;
}

const struct limits *program_bounds(const struct program *p)
{
	return &p->bounds;
}

struct gate *program_gate(const struct program *p)
{
	return p->gate;
}

void program_set_limits(struct program *p, uint64_t timeout_ms, size_t output_max)
{
	p->limits.timeout_ms = timeout_ms;
	p->limits.output_max = output_max;
}

void program_merge_errors(struct program *p)
{
	p->merge = true;
}

/* ---- one run ------------------------------------------------------------------------------ */

static int program_refuse(struct arena *ar, cleat_error *err, int status, const char *name,
			  const char *why)
{
	struct buf shown;

	buf_init(&shown, &ar->mem, 1024);
	show_name(&shown, str_of(name));
	error_set(err, status, "%.*s: %s", STR_ARGS(buf_str(&shown)), why);
	buf_done(&shown);
	return status;
}

/* "NAME=value" behind the others, unless an argument that it needs was not given. */
static int add_variable(const struct program_variable *v, const cleat_json *args, struct arena *ar,
			const char ***end, cleat_error *err)
{
	bool missing = false;
	struct buf b;
	struct str s;
	int rc = CLEAT_OK;

	buf_init(&b, &ar->mem, PROGRAM_INPUT_MAX);
	buf_printf(&b, "%s=", v->name);
	if (v->value)
		argtext_write(v->value, args, &b, &missing);
	else
		missing = !argtext_value(&b, cleat_json_get(args, v->name));
	s = buf_str(&b);
	if (buf_status(&b))
		rc = error_set(err, buf_status(&b), "%s: %s", v->name,
			       cleat_strstatus(buf_status(&b)));
	else if (!missing && str_has_nul(s))
		rc = program_refuse(ar, err, CLEAT_EINVAL, v->name,
				    "a NUL character cannot be given to a command");
	else if (!missing && s.n > ARGTEXT_WORD_MAX)
		rc = program_refuse(ar, err, CLEAT_ELIMIT, v->name,
				    "too long for an environment variable (at most 128 KB); "
				    "longer values need \"stdin\"");
	else if (!missing && !(*(*end)++ = arena_strndup(ar, s.p, s.n)))
		rc = error_set(err, CLEAT_ENOMEM, "out of memory");
	buf_done(&b);
	return rc;
}

static int make_env(const struct program *p, const cleat_json *args, struct arena *ar,
		    struct process_spec *ret, cleat_error *err)
{
	const char **env = arena_zalloc(ar, (p->n_variables + 1) * sizeof *env), **end = env;
	int rc = env ? CLEAT_OK : error_set(err, CLEAT_ENOMEM, "out of memory");

	for (size_t i = 0; !rc && i < p->n_variables; i++)
		rc = add_variable(&p->variables[i], args, ar, &end, err);
	ret->env = env;
	return rc;
}

static int make_input(const struct program *p, const cleat_json *args, struct arena *ar,
		      struct process_spec *ret, cleat_error *err)
{
	struct buf b;
	int rc;

	if (!p->input)
		return CLEAT_OK;
	buf_init(&b, &ar->mem, PROGRAM_INPUT_MAX);
	rc = argtext_write(p->input, args, &b, NULL);
	if (!rc) {
		ret->input = (struct str){ arena_strndup(ar, buf_size(&b) ? buf_str(&b).p : "",
							 buf_size(&b)),
					   buf_size(&b) };
		rc = ret->input.p ? CLEAT_OK : CLEAT_ENOMEM;
	}
	buf_done(&b);
	return rc ? error_set(err, rc, "its input: %s", cleat_strstatus(rc)) : CLEAT_OK;
}

static int make_argv(const struct program *p, const cleat_json *args, struct arena *ar,
		     struct process_spec *ret, cleat_error *err)
{
	const char **argv;

	if (!p->script) {
		argv = argtext_words((const struct argtext *const *)p->elements, p->n, args, ar,
				     err);
		if (!argv)
			return err->status;
		argv[0] = p->path;
		ret->argv = argv;
		return CLEAT_OK;
	}
	argv = arena_zalloc(ar, 4 * sizeof *argv);
	if (!argv)
		return error_set(err, CLEAT_ENOMEM, "out of memory");
	argv[0] = "/bin/sh";
	argv[1] = "-c";
	argv[2] = p->script;
	ret->argv = argv;
	return CLEAT_OK;
}

int program_prepare(const struct program *p, const cleat_json *args, struct arena *ar,
		    struct process_spec *ret, cleat_error *err)
{
	int rc;

	*ret = (struct process_spec){ .loop = p->rt->loop,
				      .mem = &p->rt->mem,
				      .cwd = p->cwd,
				      .timeout_ms = p->limits.timeout_ms,
				      .output_max = p->limits.output_max,
				      .merge_err = p->merge,
				      .sandbox = p->sandbox,
				      .limits = p->bounds };
	rc = make_argv(p, args, ar, ret, err);
	if (!rc)
		rc = make_env(p, args, ar, ret, err);
	return rc ? rc : make_input(p, args, ar, ret, err);
}
