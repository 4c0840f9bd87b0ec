/* client.c - whole lives of clients of real servers, over pipes and sockets, each time with another
 * allocation of the client failing, once and for good:   torture_client
 *
 * What must hold: nothing crashes, hangs or is left behind (memory, descriptors, processes), every call
 * ends exactly once, and when there is memory again the client works. The server is another process, this
 * program again, whose memory does not fail; for "in process" it is on the client's loop. TAP, one case a
 * way and revision, each in a process of its own, so that a crash is a finding like others.
 */
#include "unit/support.h"
#include "unit/support_files.h"

#include <cleat/cleat.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	PATIENCE_S = 900,
	CALL_MS = 150, /* of a call whose answer there was no memory for */
	LAST_MS = 20000,
	TRIES = 4 /* calls until one works again: the first may find out that the server is lost */
};

/* Shared with the parent, which wants to know where a child died. */
struct attempt {
	size_t fail_at, allocations, runs;
	bool for_good, done;
	char wrong[300];
};

static struct attempt *now;

/* ---- the server --------------------------------------------------------------------------- */

static int tool_echo(cleat_request *req)
{
	return cleat_reply_text(req, cleat_arg_str(req, "text"));
}

static int tool_ask(cleat_request *req)
{
	static const char schema[] =
		"{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}";
	const cleat_json *answer;
	int rc = cleat_ask_schema(req, "n", "How many?", schema, &answer);

	return rc ? rc : cleat_reply_text(req, "thank you");
}

static int tool_work(cleat_request *req)
{
	cleat_request_progress(req, 1, 2, "half");
	cleat_request_log(req, CLEAT_LOG_INFO, "half done");
	cleat_server_resource_changed(cleat_request_server(req), "text://a");
	return cleat_reply_text(req, "done");
}

static void finish(cleat_request *req)
{
	cleat_request_finish(req, CLEAT_OK);
}

static int tool_hang(cleat_request *req)
{
	cleat_request_defer(req);
	cleat_request_on_cancel(req, finish);
	return CLEAT_PENDING;
}

static cleat_server *new_server(void)
{
	const cleat_tool tools[] = {
		{ .signature = "echo(text: string)", .call = tool_echo },
		{ .name = "ask", .call = tool_ask },
		{ .name = "work", .call = tool_work },
		{ .name = "hang", .call = tool_hang },
	};
	cleat_server *s = cleat_server_new("torture", "1", NULL);

	cleat_server_add_tools(s, tools, CLEAT_COUNT(tools));
	cleat_server_add_resource(s, &(cleat_resource){ .uri = "text://a", .text = "a" });
	return s;
}

/* In a process of its own; its address is written to `tell`. */
static _Noreturn void serve(int tell)
{
	cleat_server *s = new_server();

	if (cleat_server_listen_http(s, "127.0.0.1:0", NULL) == CLEAT_OK)
		dprintf(tell, "%s", cleat_server_http_url(s, 0));
	close(tell);
	cleat_server_run(s);
	_exit(0);
}

struct place {
	pid_t server;
	char url[200];
};

static bool start_server(struct place *p)
{
	int tell[2];
	ssize_t n;

	if (pipe(tell))
		return false;
	p->server = fork();
	if (p->server == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(tell[0]);
		serve(tell[1]);
	}
	close(tell[1]);
	n = read(tell[0], p->url, sizeof p->url - 1);
	close(tell[0]);
	p->url[n > 0 ? n : 0] = 0;
	return n > 0;
}

/* ---- the clients -------------------------------------------------------------------------- */

static char self[4096];

static cleat_client *reach_http(const struct place *p, const cleat_client_options *o)
{
	return cleat_client_connect(p->url, o);
}

static cleat_client *reach_sse(const struct place *p, const cleat_client_options *o)
{
	cleat_client_options old = *o;
	char url[sizeof p->url];
	char *path;

	snprintf(url, sizeof url, "%s", p->url);
	path = strstr(url, "/mcp");
	if (path)
		memcpy(path, "/sse", 4);
	old.old_sse = true;
	return cleat_client_connect(url, &old);
}

static cleat_client *reach_child(const struct place *p, const cleat_client_options *o)
{
	const char *const argv[] = { self, "--serve", NULL };

	(void)p;
	return cleat_client_spawn(argv, o);
}

static cleat_server *beside; /* the server "in process" */

static cleat_client *reach_inproc(const struct place *p, const cleat_client_options *o)
{
	(void)p;
	return cleat_client_inproc(beside, o);
}

static const struct way {
	const char *name, *revision; /* NULL: the best, by asking */
	cleat_client *(*reach)(const struct place *p, const cleat_client_options *o);
} ways[] = {
	{ "in-process", "2025-11-25", reach_inproc },
	{ "in-process", NULL, reach_inproc },
	{ "http", "2025-11-25", reach_http },
	{ "http", NULL, reach_http },
	{ "http-sse", "2024-11-05", reach_sse },
	{ "child", "2025-06-18", reach_child },
	{ "child", NULL, reach_child },
};

/* ---- what is looked at -------------------------------------------------------------------- */

/* Of any kind, the server among them. */
static size_t children(void)
{
	char path[64], text[512];
	size_t n = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
	f = fopen(path, "r");
	if (f && fgets(text, sizeof text, f))
		for (const char *p = text; *p; p++)
			n += *p == ' ';
	if (f)
		fclose(f);
	return n;
}

static bool wrong(const char *what, size_t have, size_t want)
{
	snprintf(now->wrong, sizeof now->wrong, "%s: %zu instead of %zu", what, have, want);
	return false;
}

/* ---- one life ----------------------------------------------------------------------------- */

static int on_form(cleat_request *req)
{
	return cleat_reply_jsonf(req, "{n: 3}");
}

static void on_done(cleat_call *call, cleat_result *r)
{
	++*(size_t *)cleat_call_userdata(call);
	cleat_result_free(r);
}

static void on_progress(cleat_call *call, double done, double total, const char *message)
{
	(void)call, (void)done, (void)total, (void)message;
}

static void on_change(cleat_watch *w, enum cleat_change_kind what, const char *uri)
{
	(void)w, (void)what, (void)uri;
}

/* Calls that do not wait; true when each has ended once. */
static bool call_at_once(cleat_client *c)
{
	static const char *const tools[] = { "echo", "work", "ask", "hang" };
	size_t ended[CLEAT_COUNT(tools)] = { 0 }, begun[CLEAT_COUNT(tools)] = { 0 };
	cleat_call *last = NULL;

	for (size_t i = 0; i < CLEAT_COUNT(tools); i++) {
		cleat_call_options o = { .on_done = on_done, .userdata = &ended[i] };

		o.on_progress = on_progress;
		last = cleat_client_startf(c, &o, tools[i], "{text: %s}", "x");
		begun[i] = last != NULL;
	}
	if (last)
		cleat_call_cancel(last);
	for (size_t i = 0; i < CLEAT_COUNT(tools); i++) {
		while (ended[i] < begun[i])
			if (cleat_loop_step(cleat_client_loop(c), LAST_MS))
				return wrong("a loop that is empty; calls that ended", ended[i], 1);
		if (ended[i] != begun[i])
			return wrong("calls that ended", ended[i], begun[i]);
	}
	return true;
}

/* There is memory again. */
static bool works(cleat_client *c)
{
	cleat_call_options o = { .timeout_ms = LAST_MS, .hard_timeout_ms = LAST_MS };
	int status = CLEAT_OK;

	for (int i = 0; i < TRIES; i++) {
		cleat_result *r = cleat_client_call_withf(c, &o, "echo", "{text: %s}", "y");
		bool fine = cleat_result_status(r) == CLEAT_OK &&
			    strcmp(cleat_result_text(r), "y") == 0;

		status = cleat_result_status(r);
		if (!fine)
			snprintf(now->wrong, sizeof now->wrong, "with memory again (%d): %s",
				 status, cleat_result_error(r)->message);
		cleat_result_free(r);
		if (fine)
			return true;
	}
	return false;
}

static bool live(const struct way *w, const struct place *p, struct fail_alloc *fa)
{
	static const char *const uris[] = { "text://a", NULL };
	const cleat_root root = { .uri = "file:///a", .name = "A" };
	cleat_client_options o = { .allocator = &fa->hook,
				   .protocol = w->revision,
				   .on_form = on_form,
				   .roots = &root,
				   .n_roots = 1,
				   .restart = true,
				   .log_level = "info",
				   .timeout_ms = CALL_MS,
				   .hard_timeout_ms = CALL_MS * 2,
				   .probe_timeout_ms = 2000,
				   .connect_timeout_ms = 4000 };
	cleat_watch_options watch = { .lists = CLEAT_CHANGE_TOOLS,
				      .uris = uris,
				      .on_change = on_change };
	cleat_client *c = w->reach(p, &o);
	cleat_watch *heard;
	bool fine;

	if (!c)
		return fail_alloc_hit(fa);
	heard = cleat_client_watch(c, &watch);
	cleat_result_free(cleat_client_callf(c, "echo", "{text: %s}", "x"));
	cleat_result_free(cleat_client_list(c, CLEAT_LIST_TOOLS));
	cleat_result_free(cleat_client_read(c, "text://a"));
	cleat_result_free(cleat_client_callf(c, "ask", NULL));
	cleat_client_set_roots(c, &root, 1);
	fine = call_at_once(c);
	fa->countdown = 0;
	fa->forever = false;
	fine = fine && works(c);
	cleat_watch_free(heard);
	cleat_client_free(c);
	return fine;
}

static bool try_one(const struct way *w, const struct place *p, size_t at, bool for_good, bool *hit)
{
	size_t fds = open_fds(), processes = children();
	struct fail_alloc fa;
	bool fine;

	fail_alloc_init(&fa, at, for_good);
	now->runs++;
	fine = live(w, p, &fa);
	*hit = fail_alloc_hit(&fa);
	now->allocations = fa.requests > now->allocations ? fa.requests : now->allocations;
	if (!fine)
		return false;
	now->wrong[0] = 0;
	if (fa.live)
		return wrong("blocks that were not freed", fa.live, 0);
	if (open_fds() != fds)
		return wrong("descriptors", open_fds(), fds);
	return children() == processes || wrong("processes", children(), processes);
}

static int try_all(const struct way *w)
{
	struct place place = { 0 };
	bool hit = true, fine;

	alarm(PATIENCE_S);
	if (w->reach == reach_inproc)
		beside = new_server();
	else if (w->reach != reach_child && !start_server(&place))
		return 2;
	/* The first leaves something behind: libraries that are opened when they are needed, what libuv
	 * keeps. */
	try_one(w, &place, 0, false, &hit);
	fine = try_one(w, &place, 0, false, &hit);
	for (int i = 0; fine && i < 2; i++) {
		now->for_good = i;
		hit = true;
		for (now->fail_at = 1; hit && fine; now->fail_at += fine)
			fine = try_one(w, &place, now->fail_at, i, &hit);
	}
	cleat_server_free(beside);
	if (place.server > 0) {
		kill(place.server, SIGKILL);
		waitpid(place.server, NULL, 0);
	}
	now->done = fine;
	return !fine;
}

/* One case of TAP; true when it is ok. */
static bool torture(int number, const struct way *w)
{
	int status = -1;
	pid_t child;

	*now = (struct attempt){ 0 };
	fflush(stdout);
	child = fork();
	if (child == 0)
		exit(try_all(w)); /* with a look for leaks */
	if (child > 0)
		waitpid(child, &status, 0);
	now->done = now->done && status == 0;
	printf("%sok %d - client/%s-%s with each of %zu allocations failing, %zu runs\n",
	       now->done ? "" : "not ", number, w->name, w->revision ? w->revision : "best",
	       now->allocations, now->runs);
	if (!now->done)
		printf("# allocation %zu (%s): %s, status %d\n", now->fail_at,
		       now->for_good ? "for good" : "once",
		       now->wrong[0] ? now->wrong : "it crashed", status);
	fflush(stdout);
	return now->done;
}

int main(int argc, char **argv)
{
	int failed = 0, n = 0;
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

	if (length > 0 && argc == 2 && strcmp(argv[1], "--serve") == 0)
		return cleat_server_main(new_server(), 1, argv);
	now = mmap(NULL, sizeof *now, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (length <= 0 || now == MAP_FAILED)
		return 2;
	for (size_t i = 0; i < CLEAT_COUNT(ways); i++)
		n += argc < 2 || strcmp(argv[1], ways[i].name) == 0;
	printf("1..%d\n", n);
	n = 0;
	for (size_t i = 0; i < CLEAT_COUNT(ways); i++)
		if (argc < 2 || strcmp(argv[1], ways[i].name) == 0)
			failed += !torture(++n, &ways[i]);
	return failed > 0;
}
