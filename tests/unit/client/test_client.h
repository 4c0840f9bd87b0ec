/* tests/unit/test_client.h - a server that clients are tried on: one of each thing that can be called,
 * and calls whose end is written down.
 */
#ifndef TESTS_TEST_CLIENT_H
#define TESTS_TEST_CLIENT_H

#include "messages.h"
#include "support.h"

#include <cleat/cleat.h>

#include <stdatomic.h>
#include <stdlib.h>

/* ---- the server --------------------------------------------------------------------------- */

static inline int tool_echo(cleat_request *req)
{
	return cleat_reply_text(req, cleat_arg_str(req, "text"));
}

static inline int tool_add(cleat_request *req)
{
	return cleat_reply_jsonf(req, "{sum: %g}",
				 cleat_arg_num(req, "a") + cleat_arg_num(req, "b"));
}

static inline int tool_fail(cleat_request *req)
{
	return cleat_reply_error(req, "it did not work");
}

static inline int tool_steps(cleat_request *req)
{
	for (int i = 1; i <= 3; i++)
		cleat_request_progress(req, i, 3, "step %d", i);
	return cleat_reply_text(req, "done");
}

static inline void finish_cancelled(cleat_request *req)
{
	atomic_int *count = cleat_request_userdata(req);

	if (count)
		atomic_fetch_add(count, 1);
	cleat_request_finish(req, CLEAT_OK);
}

/* Is answered never, and ends when it is cancelled. */
static inline int tool_hang(cleat_request *req)
{
	cleat_request_defer(req);
	cleat_request_progress(req, 1, 0, "hangs");
	cleat_request_on_cancel(req, finish_cancelled);
	return CLEAT_PENDING;
}

static inline int tool_ask(cleat_request *req)
{
	static const char schema[] = "{\"type\":\"object\",\"properties\":{\"size\":{\"type\":"
				     "\"integer\",\"default\":7}}}";
	const cleat_json *answer;
	int rc = cleat_ask_schema(req, "size", "Which size?", schema, &answer);

	if (rc == CLEAT_EDECLINED || rc == CLEAT_ECANCELLED || rc == CLEAT_EUNSUPPORTED)
		return cleat_reply_textf(req, "no: %s", cleat_strstatus(rc));
	if (rc)
		return rc;
	return cleat_reply_textf(req, "size %d",
				 (int)cleat_json_int(cleat_json_get(answer, "size"), -1));
}

static inline int tool_roots(cleat_request *req)
{
	const cleat_json *roots;
	int rc = cleat_ask_roots(req, "roots", &roots);

	if (rc == CLEAT_EUNSUPPORTED)
		return cleat_reply_text(req, "no roots");
	if (rc)
		return rc;
	return cleat_reply_textf(
		req, "%zu roots, first %s", cleat_json_size(roots),
		cleat_json_str(cleat_json_get(cleat_json_at(roots, 0), "uri"), "none"));
}

static inline int read_city(cleat_request *req)
{
	return cleat_reply_textf(req, "%s is a city", cleat_request_var(req, "name"));
}

static inline int complete_city(cleat_request *req)
{
	cleat_reply_suggest(req, "oslo");
	return cleat_reply_nothing(req);
}

static inline int get_greeting(cleat_request *req)
{
	return cleat_reply_textf(req, "Greet %s %s times, loud: %s", cleat_arg_str(req, "name"),
				 cleat_arg_str(req, "times"), cleat_arg_str(req, "loud"));
}

/* `cancelled` counts calls of "hang" that were; may be NULL. */
static inline void add_all(cleat_server *s, atomic_int *cancelled)
{
	const cleat_tool tools[] = {
		{ .signature = "echo(text: string)", .call = tool_echo },
		{ .signature = "add(a: number, b: number)", .call = tool_add },
		{ .name = "fail", .call = tool_fail },
		{ .name = "steps", .call = tool_steps },
		{ .signature = "hang(text?: string)", .call = tool_hang, .userdata = cancelled },
		{ .name = "ask", .call = tool_ask },
		{ .name = "roots", .call = tool_roots },
	};
	const cleat_resource resources[] = {
		{ .uri = "text://motto", .text = "Make it fast." },
		{ .uri = "city://{name}", .read = read_city, .complete = complete_city },
	};

	cleat_server_add_tools(s, tools, CLEAT_COUNT(tools));
	cleat_server_add_resources(s, resources, CLEAT_COUNT(resources));
	cleat_server_add_prompt(
		s,
		&(cleat_prompt){ .signature = "greet(name: string, times?: string, loud?: string)",
				 .get = get_greeting,
				 .complete = complete_city });
}

static inline cleat_server *new_server(atomic_int *cancelled)
{
	cleat_server *s = cleat_server_new("rig", "1.2.3", NULL);

	add_all(s, cancelled);
	return s;
}

/* A server and its client in one process. */
struct rig {
	cleat_server *s;
	cleat_client *c;
	atomic_int cancelled;
};

static inline void rig_begin(struct rig *r, const cleat_client_options *o)
{
	atomic_init(&r->cancelled, 0);
	r->s = new_server(&r->cancelled);
	r->c = cleat_client_inproc(r->s, o);
	assert_non_null(r->c);
}

static inline void rig_end(struct rig *r)
{
	cleat_client_free(r->c);
	cleat_server_free(r->s);
}

static const char *const revisions[] = { "2024-11-05", "2025-03-26", "2025-06-18",
					 "2025-11-25", "2026-07-28", NULL /* the best */ };

/* ---- results ------------------------------------------------------------------------------ */

#define assert_ok(r) assert_ok_((r), __FILE__, __LINE__)
static inline void assert_ok_(const cleat_result *r, const char *file, int line)
{
	if (cleat_result_status(r) == CLEAT_OK)
		return;
	print_error("%s: %s: %s\n", cleat_strstatus(cleat_result_status(r)),
		    cleat_step_name(cleat_result_step(r)), cleat_result_error(r)->message);
	_fail(file, line);
}

/* A result that is looked at once: its text must be this. */
#define assert_text(r, text) assert_text_((r), (text), __FILE__, __LINE__)
static inline void assert_text_(cleat_result *r, const char *text, const char *file, int line)
{
	assert_ok_(r, file, line);
	if (strcmp(cleat_result_text(r), text) != 0) {
		print_error("wanted: %s\n   got: %s\n", text, cleat_result_text(r));
		_fail(file, line);
	}
	cleat_result_free(r);
}

#define assert_fails(r, status) assert_fails_((r), (status), __FILE__, __LINE__)
static inline void assert_fails_(cleat_result *r, int status, const char *file, int line)
{
	if (cleat_result_status(r) != status) {
		print_error("wanted: %s\n   got: %s: %s\n", cleat_strstatus(status),
			    cleat_strstatus(cleat_result_status(r)),
			    cleat_result_error(r)->message);
		_fail(file, line);
	}
	cleat_result_free(r);
}

/* ---- calls that do not wait --------------------------------------------------------------- */

struct ending {
	int count; /* of on_done */
	int status;
	char text[300]; /* of the result, or what went wrong */
	int progress;   /* how often there was any */
	cleat_call *call;
};

static inline void ending_done(cleat_call *call, cleat_result *r)
{
	struct ending *e = cleat_call_userdata(call);

	e->count++;
	e->status = cleat_result_status(r);
	snprintf(e->text, sizeof e->text, "%s",
		 e->status ? cleat_result_error(r)->message : cleat_result_text(r));
	cleat_result_free(r);
}

static inline void ending_progress(cleat_call *call, double done, double total, const char *message)
{
	struct ending *e = cleat_call_userdata(call);

	(void)done;
	(void)total;
	(void)message;
	e->progress++;
}

static inline cleat_call_options ending_options(struct ending *e)
{
	return (cleat_call_options){ .on_done = ending_done,
				     .on_progress = ending_progress,
				     .userdata = e };
}

/* The same as an argument. */
#define ENDING(e) ((const cleat_call_options[]){ ending_options(e) })

/* Steps until it has ended. */
static inline void wait_ending(cleat_client *c, const struct ending *e)
{
	while (!e->count)
		assert_int_equal(cleat_loop_step(cleat_client_loop(c), 20000), CLEAT_OK);
}

/* A case on a rig; WITH: whose client has these options. */
#define RIG_TEST(name) RIG_TEST_WITH(name, 0)
#define RIG_TEST_WITH(name, ...)                                                                   \
	TEST_ON(name, struct rig, g, rig_begin(g, &(cleat_client_options){ __VA_ARGS__ }), rig_end)

#endif
