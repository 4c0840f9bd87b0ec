/* client_async.c - several calls at once, with progress; one of them is given up half-way. The
 * server is a program to start, or a URL.
 *
 *	build/release/examples/client_async build/release/examples/deferred
 */
#include <cleat/cleat.h>

#include <stdio.h>
#include <string.h>

struct build {
	const char *target;
	int give_up_at; /* 0: never */
	int *left;
};

static void on_progress(cleat_call *call, double done, double total, const char *message)
{
	struct build *b = cleat_call_userdata(call);

	fprintf(stderr, "%s (%g of %g)\n", message, done, total);
	if (b->give_up_at && done >= b->give_up_at)
		cleat_call_cancel(call);
}

static void on_done(cleat_call *call, cleat_result *r)
{
	struct build *b = cleat_call_userdata(call);
	bool ok = cleat_result_status(r) == CLEAT_OK;

	printf("%s: %s\n", b->target, ok ? cleat_result_text(r) : cleat_result_error(r)->message);
	cleat_result_free(r);
	--*b->left;
}

int main(int argc, char **argv)
{
	const char *at = argc > 1 ? argv[1] : "./deferred";
	const char *const program[] = { at, NULL };
	cleat_client *c = strstr(at, "://") ? cleat_client_connect(at, NULL)
					    : cleat_client_spawn(program, NULL);
	int left = 0;
	struct build builds[] = { { "docs", 0, &left },
				  { "all", 2, &left },
				  { "tests", 0, &left } };

	for (size_t i = 0; i < CLEAT_COUNT(builds); i++) {
		cleat_call_options o = { .on_progress = on_progress, .on_done = on_done };

		o.userdata = &builds[i];
		if (cleat_client_startf(c, &o, "build", "{target: %s}", builds[i].target))
			left++;
	}
	while (left > 0)
		cleat_loop_step(cleat_client_loop(c), -1);
	cleat_client_free(c);
	return 0;
}
