/* test_null.c - one rule for all of the API: a pointer that is not there is never a crash.
 *
 * Walks the list of exported symbols: each is called with nothing but zeros, and each that takes an object with
 * that and zeros behind it. In a process of its own: what counts is that it comes back.
 */
#include "test.h"

#include <cleat/cleat.h>
#include <cleat/wire.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NAMES_MAX = 512, NAME_MAX_ = 64, PATIENCE_S = 20 };

static struct {
	char at[NAMES_MAX][NAME_MAX_];
	size_t n;
	void *library;
	char failed[16384];
} all;

/* The leak checker trips over the thread-local memory of a library that was opened. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
	return 1;
}

/* More arguments than any function has. */
typedef long any_fn(void *, long, long, long, long, long, long, long);

static void read_names(void)
{
	FILE *f = fopen(CLEAT_SOURCE_DIR "/cmake/libcleat.symbols", "r");

	assert_non_null(f);
	while (all.n < NAMES_MAX && fscanf(f, "%63s", all.at[all.n]) == 1)
		all.n++;
	fclose(f);
	assert_in_range(all.n, 200, NAMES_MAX - 1);
}

/* Opened, not linked: what is called is what others link. */
static void *symbol(const char *name)
{
	const char *build = getenv("CLEAT_BUILD_DIR");
	char path[1024];
	void *at;

	if (!all.library) {
		snprintf(path, sizeof path, "%s/libcleat.so", build ? build : "build/debug");
		all.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		assert_non_null(all.library);
	}
	at = dlsym(all.library, name);
	assert_non_null(at);
	return at;
}

#define CLEAT_COUNT(a) (sizeof(a) / sizeof *(a))

static void call_in_process(const char *name, void *object, long n, long size)
{
	void *at = symbol(name);
	pid_t pid = fork();
	any_fn *fn;
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		static const int deadly[] = { SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE };

		for (size_t i = 0; i < CLEAT_COUNT(deadly); i++)
			signal(deadly[i], SIG_DFL); /* cmocka's would go on with the next test */
		memcpy(&fn, &at, sizeof fn);
		alarm(PATIENCE_S);
		fn(object, 0, n, size, 0, 0, 0, 0);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		snprintf(all.failed + strlen(all.failed), sizeof all.failed - strlen(all.failed),
			 " %s(%s, 0...)", name, object ? "object" : "0");
}

static bool is_of(const char *name, const char *const prefixes[])
{
	for (; *prefixes; prefixes++)
		if (strncmp(name, *prefixes, strlen(*prefixes)) == 0)
			return true;
	return false;
}

/* What cannot be called like that: it gives a struct; its first argument is a server, or an iterator. */
static bool is_other(const char *name, bool object)
{
	return strcmp(name, "cleat_json_each") == 0 ||
	       (object &&
		(strcmp(name, "cleat_client_inproc_") == 0 ||
		 strcmp(name, "cleat_wire_server_") == 0 || strcmp(name, "cleat_json_next") == 0));
}

static void walk(const char *const prefixes[], void *object)
{
	for (size_t i = 0; i < all.n; i++)
		if (is_of(all.at[i], prefixes) && !is_other(all.at[i], object))
			call_in_process(all.at[i], object, 0, 0);
}

/* Nothing, and how much of it: (object, NULL, n, size). */
static void claim(const char *name, void *object, size_t n, size_t size)
{
	call_in_process(name, object, (long)n, (long)size);
}

#define WALK(object, ...) walk((const char *const[]){ __VA_ARGS__, NULL }, object)

static void nothing_failed(void)
{
	if (*all.failed)
		fail_msg("%s", all.failed);
}

static int setup(void **state)
{
	(void)state;
	*all.failed = '\0';
	if (!all.n)
		read_names();
	return 0;
}

TEST_WITH(zeros_alone, setup, NULL)
{
	WALK(NULL, "cleat_");
	nothing_failed();
}

/* ---- with an object ------------------------------------------------------------------------- */

static int in_handler(cleat_request *req)
{
	int (*reply)(cleat_request *, const char *);
	void *at = symbol("cleat_reply_text");

	WALK(req, "cleat_request_", "cleat_reply_", "cleat_arg", "cleat_ask_");
	claim("cleat_reply_suggest_from", req, 3, 0);
	claim("cleat_reply_textn", req, 3, 0);
	claim("cleat_reply_blob", req, 0, 3);
	memcpy(&reply, &at, sizeof reply);
	return reply(req, "done");
}

#define LOAD(name)                                                                                 \
	do {                                                                                       \
		void *at = symbol("cleat_" #name);                                                 \
		memcpy(&api.name, &at, sizeof at);                                                 \
	} while (0)

static struct {
	__typeof__(cleat_server_new_) *server_new_;
	__typeof__(cleat_server_add_tools_) *server_add_tools_;
	__typeof__(cleat_client_inproc_) *client_inproc_;
	__typeof__(cleat_client_callf) *client_callf;
	__typeof__(cleat_result_status) *result_status;
	__typeof__(cleat_result_free) *result_free;
	__typeof__(cleat_client_free) *client_free;
	__typeof__(cleat_server_free) *server_free;
	__typeof__(cleat_loop_new) *loop_new;
	__typeof__(cleat_loop_free) *loop_free;
	__typeof__(cleat_doc_newf) *doc_newf;
	__typeof__(cleat_doc_root) *doc_root;
	__typeof__(cleat_doc_free) *doc_free;
	__typeof__(cleat_build_new) *build_new;
	__typeof__(cleat_build_free) *build_free;
	__typeof__(cleat_wire_server_) *wire_server_;
	__typeof__(cleat_wire_free) *wire_free;
} api;

static void load_api(void)
{
	LOAD(server_new_);
	LOAD(server_add_tools_);
	LOAD(client_inproc_);
	LOAD(client_callf);
	LOAD(result_status);
	LOAD(result_free);
	LOAD(client_free);
	LOAD(server_free);
	LOAD(loop_new);
	LOAD(loop_free);
	LOAD(doc_newf);
	LOAD(doc_root);
	LOAD(doc_free);
	LOAD(build_new);
	LOAD(build_free);
	LOAD(wire_server_);
	LOAD(wire_free);
}

TEST_WITH(a_request_and_zeros, setup, NULL)
{
	static const cleat_tool tool = { .name = "t", .call = in_handler };
	cleat_server *s;
	cleat_client *c;
	cleat_result *r;

	load_api();
	s = api.server_new_("test", "0", NULL, 0);
	assert_int_equal(api.server_add_tools_(s, &tool, 1, sizeof tool), CLEAT_OK);
	c = api.client_inproc_(s, NULL, 0);
	r = api.client_callf(c, "t", "{}");
	assert_int_equal(api.result_status(r), CLEAT_OK);
	WALK(r, "cleat_result_");
	WALK(c, "cleat_client_");
	WALK(s, "cleat_server_");
	claim("cleat_server_add_tools_", s, 1, sizeof(cleat_tool));
	claim("cleat_server_add_resources_", s, 1, sizeof(cleat_resource));
	claim("cleat_server_add_prompts_", s, 1, sizeof(cleat_prompt));
	claim("cleat_server_add_methods_", s, 1, sizeof(cleat_method));
	claim("cleat_client_set_roots", c, 3, 0);
	api.result_free(r);
	api.client_free(c);
	api.server_free(s);
	nothing_failed();
}

TEST_WITH(other_objects_and_zeros, setup, NULL)
{
	cleat_server *s;
	cleat_loop *l;
	cleat_doc *d;
	cleat_build *b;
	cleat_wire *w;

	load_api();
	s = api.server_new_("test", "0", NULL, 0);
	l = api.loop_new(NULL);
	d = api.doc_newf(NULL, "{a: [1]}");
	b = api.build_new(NULL);
	w = api.wire_server_(s, NULL, 0);
	assert_true(s && l && d && b && w);
	WALK(l, "cleat_loop_");
	WALK(d, "cleat_doc_root", "cleat_doc_free");
	WALK((void *)(uintptr_t)api.doc_root(d), "cleat_json_", "cleat_schema_new");
	WALK(b, "cleat_build_");
	WALK(w, "cleat_wire_");
	claim("cleat_json_getn", (void *)(uintptr_t)api.doc_root(d), 3, 0);
	claim("cleat_build_strn", b, 0, 3);
	claim("cleat_wire_feed", w, 3, 0);
	claim("cleat_wire_consume", w, 3, 0);
	api.wire_free(w);
	api.build_free(b);
	api.doc_free(d);
	api.loop_free(l);
	api.server_free(s);
	nothing_failed();
}
