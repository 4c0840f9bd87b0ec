/* deferred.c - answer later, from another thread: the handler starts the work and returns at once.
 * For programs that have their own threads, queues or callbacks; otherwise .blocking is less work.
 *
 *	examples/try deferred build '{"target":"docs"}'
 */
#define _POSIX_C_SOURCE 200809L
#include <cleat/cleat.h>

#include <pthread.h>
#include <time.h>

/* The request is ours until cleat_request_finish(), also when it was cancelled meanwhile. */
static void *build(void *arg)
{
	enum { STEPS = 5 };
	cleat_request *req = arg;
	const char *target = cleat_arg_str(req, "target");

	for (int i = 1; i <= STEPS && !cleat_request_cancelled(req); i++) {
		nanosleep(&(struct timespec){ .tv_nsec = 20 * 1000 * 1000 }, NULL);
		cleat_request_progress(req, i, STEPS, "%s: step %d", target, i);
	}
	cleat_request_finish(req, cleat_reply_textf(req, "%s is built", target));
	return NULL;
}

static int start_build(cleat_request *req)
{
	pthread_t thread;

	cleat_request_defer(req); /* before anybody else can finish it */
	if (pthread_create(&thread, NULL, build, req) == 0)
		pthread_detach(thread);
	else
		cleat_request_finish(req, cleat_reply_error(req, "no more threads"));
	return CLEAT_PENDING;
}

int main(int argc, char **argv)
{
	cleat_server *s = cleat_server_new("deferred", "1.0.0", NULL);
	cleat_server_add_tool(s, &(cleat_tool){
					 .signature = "build(target: string)",
					 .description = "Build a target",
					 .call = start_build,
				 });
	return cleat_server_main(s, argc, argv);
}
