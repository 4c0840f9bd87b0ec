/* client_watch.c - hear of changes: one way for all revisions. Reads a counter whenever it has changed;
 * here the program itself makes it change.
 *
 *	build/release/examples/client_watch build/release/examples/resources
 */
#include <cleat/cleat.h>

#include <stdio.h>

enum { CLICKS = 3 };

static int seen; /* the last number that was read; -1: it failed */

static void on_read(cleat_call *call, cleat_result *r)
{
	(void)call;
	if (cleat_result_status(r) != CLEAT_OK || sscanf(cleat_result_text(r), "%d", &seen) != 1)
		seen = -1;
	printf("the counter says %d\n", seen);
	cleat_result_free(r);
}

/* Inside a callback nothing can wait: the reading is started. */
static void on_change(cleat_watch *w, enum cleat_change_kind what, const char *uri)
{
	cleat_call_options o = { .on_done = on_read };

	if (what == CLEAT_CHANGE_RESOURCE)
		cleat_client_start_requestf(cleat_watch_client(w), &o, "resources/read",
					    "{uri: %s}", uri);
}

static void on_end(cleat_watch *w, const cleat_error *why)
{
	(void)w;
	fprintf(stderr, "nothing more is heard: %s\n", why->message);
	seen = -1;
}

int main(int argc, char **argv)
{
	const char *const server[] = { argc > 1 ? argv[1] : "./resources", NULL };
	const char *const uris[] = { "counter://clicks", NULL };
	cleat_client *c = cleat_client_spawn(server, NULL);
	cleat_watch *w = cleat_client_watch(c, &(cleat_watch_options){ .uris = uris,
								       .lists = CLEAT_CHANGE_TOOLS,
								       .on_change = on_change,
								       .on_end = on_end });

	for (int i = 1; i <= CLICKS && seen >= 0; i++) {
		cleat_result_free(cleat_client_callf(c, "click", NULL));
		while (seen >= 0 && seen < i &&
		       cleat_loop_step(cleat_client_loop(c), -1) == CLEAT_OK)
			;
	}
	cleat_watch_free(w);
	cleat_client_free(c);
	return seen != CLICKS;
}
