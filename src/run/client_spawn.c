/* run/client_spawn.c - a client of a program that it starts. */
#include "base/error.h"
#include "run/client.h"

cleat_client *cleat_client_spawn_(const char *const argv[], const cleat_client_options *o,
				  size_t size)
{
	struct client_given given = client_run_given(o, size);
	struct client_run *run = client_run_new(&given, NULL);
	struct link_base_options base;
	struct link *l = NULL;
	cleat_error err;

	if (!run)
		return NULL;
	base = client_run_base(run);
	if (!argv || !argv[0] || !argv[0][0])
		error_set(&err, CLEAT_EINVAL, "there is no program to start: argv is empty");
	else
		l = link_child_new(&base, argv, given.opts.cwd, given.opts.env,
				   given.opts.inherit_env, &err);
	run->child = l;
	return client_run_finish(run, l, &err);
}

int cleat_client_pid(const cleat_client *c)
{
	struct client_run *run = c ? client_runner(c) : NULL;

	return run && run->child ? link_child_pid(run->child) : 0;
}
