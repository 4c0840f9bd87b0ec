/* program/serve/sandbox/conf.c - see conf.h. */
#include "serve/sandbox/conf.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

/* A list of paths, ended by NULL; NULL: there is something wrong with it. */
static const char *const *read_paths(struct draft *b, const cleat_json *list)
{
	size_t n = cleat_json_size(list);
	const char **paths = arena_zalloc(conf_arena(b->conf), (n + 1) * sizeof *paths);
	bool ok = paths != NULL;

	for (size_t i = 0; paths && i < n; i++) {
		const cleat_json *at = cleat_json_at(list, i);

		paths[i] = conf_path_at(b->conf, at);
		if (paths[i] && access(paths[i], F_OK) == 0)
			continue;
		if (paths[i])
			conf_problem(b->conf, at, "%s: %s", paths[i], strerror(errno));
		ok = false;
	}
	return ok ? paths : NULL;
}

/* Once: it is about the kernel, not about a tool. */
static void remark(struct draft *b)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	const char *text = sandbox_remark();

	if (text && !atomic_flag_test_and_set(&said))
		draft_say(b, CLEAT_LOG_WARNING, "%s", text);
}

bool sandbox_conf(struct draft *b, const cleat_json *node, const char *program,
		  struct sandbox **ret)
{
	const cleat_json *at = cleat_json_get(node, "sandbox"), *cwd = cleat_json_get(node, "cwd");
	struct sandbox_spec spec = { .program = program };
	cleat_error err = { 0 };

	*ret = NULL;
	if (!at)
		at = draft_default(b, "sandbox");
	if (cleat_json_type(at) != CLEAT_JSON_OBJECT)
		return true;
	spec.read = read_paths(b, cleat_json_get(at, "read"));
	spec.write = read_paths(b, cleat_json_get(at, "write"));
	if (!spec.read || !spec.write)
		return false;
	spec.net = cleat_json_bool(cleat_json_get(at, "net"), false);
	spec.unix_sockets = cleat_json_bool(cleat_json_get(at, "unix"), false);
	spec.no_modes = !cleat_json_bool(cleat_json_get(at, "modes"), true);
	spec.no_system = !cleat_json_bool(cleat_json_get(at, "system"), true);
	spec.cwd = cwd ? conf_path_at(b->conf, cwd) : conf_dir(b->conf, node);
	*ret = sandbox_new(&spec, &b->rt->mem, &err);
	if (!*ret)
		conf_problem(b->conf, at, "this sandbox is not available: %s", err.message);
	else
		remark(b);
	return *ret != NULL;
}
