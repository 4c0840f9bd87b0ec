/* fixture_calls.c - tools for single rules of the protocol: ways to run, progress, log, changes of
 * the lists, what a handler learns about its request.
 */
#include "fixture.h"

#include <stdio.h>
#include <string.h>

static int echo(cleat_request *req)
{
	return cleat_reply_text(req, cleat_arg_str(req, "text"));
}

static int add(cleat_request *req)
{
	return cleat_reply_textf(req, "%g", cleat_arg_num(req, "a") + cleat_arg_num(req, "b"));
}

/* Every type of argument that a signature knows. */
static int typed(cleat_request *req)
{
	return cleat_reply_json(req, cleat_request_arguments(req));
}

/* ---- deferred ----------------------------------------------------------------------------- */

static int parks(cleat_request *req)
{
	if (!fixture_park(req, cleat_arg_str(req, "key")))
		return cleat_reply_error(req, "No room to park");
	cleat_reply_textf(req, "parked %s", cleat_arg_str(req, "key"));
	cleat_request_defer(req);
	return CLEAT_PENDING;
}

static void stop_parking(cleat_request *req)
{
	struct fixture *f = cleat_server_userdata(cleat_request_server(req));

	for (size_t i = 0; i < f->n_parked; i++)
		if (f->parked[i] == req) {
			cleat_server_log(cleat_request_server(req), CLEAT_LOG_NOTICE, "park",
					 "%s was cancelled", f->keys[i]);
			fixture_finish(f, f->keys[i], CLEAT_ECANCELLED);
			return;
		}
}

/* Ends by itself when it is cancelled. */
static int parks_until_cancelled(cleat_request *req)
{
	if (!fixture_park(req, cleat_arg_str(req, "key")))
		return cleat_reply_error(req, "No room to park");
	cleat_reply_text(req, "never cancelled");
	cleat_request_defer(req);
	cleat_request_on_cancel(req, stop_parking);
	return CLEAT_PENDING;
}

/* Only cleat_request_finish() ends what is deferred: not what the handler returns, not a second defer. */
static int finishes_at_once(cleat_request *req)
{
	cleat_request_defer(req);
	cleat_request_defer(req);
	cleat_reply_text(req, "finished inside the handler");
	cleat_request_finish(req, CLEAT_OK);
	return CLEAT_EIO;
}

static int fd_of(cleat_request *req)
{
	return cleat_reply_textf(req, "%s, %s",
				 cleat_request_cancel_fd(req) >= 0 ? "a descriptor" : "none",
				 cleat_request_cancelled(req) ? "cancelled" : "not cancelled");
}

/* ---- progress and log --------------------------------------------------------------------- */

static int progress(cleat_request *req)
{
	cleat_json_iter it = cleat_json_each(cleat_arg(req, "steps"));

	while (cleat_json_next(&it))
		if (cleat_arg_given(req, "message"))
			cleat_request_progress(req, cleat_json_num(it.value, 0),
					       cleat_arg_num(req, "total"), "%s",
					       cleat_arg_str(req, "message"));
		else
			cleat_request_progress(req, cleat_json_num(it.value, 0),
					       cleat_arg_num(req, "total"), NULL);
	cleat_request_progress(req, 0.0 / 0.0, 0, "no number");
	return cleat_reply_textf(req, "%zu steps", cleat_json_size(cleat_arg(req, "steps")));
}

static int logs(cleat_request *req)
{
	for (int level = CLEAT_LOG_DEBUG; level <= CLEAT_LOG_EMERGENCY; level++)
		cleat_request_log(req, level, "at %s", cleat_log_level_name(level));
	cleat_request_log(req, 99, "at no level");
	cleat_request_log(req, -1, "at no level");
	return cleat_reply_text(req, "logged");
}

static int log_odd(cleat_request *req)
{
	cleat_request_log(req, CLEAT_LOG_ERROR, "\xff\xfe \"quoted\"\n\x01");
	return cleat_reply_text(req, "logged");
}

/* ---- changes ------------------------------------------------------------------------------ */

/* Several changes of every list: clients are told once of each. */
static int churn(cleat_request *req)
{
	cleat_server *s = cleat_request_server(req);
	char name[40];

	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof name, "churn_%d", i);
		cleat_server_add_tool(s, &(cleat_tool){ .name = name, .call = echo });
		cleat_server_add_prompt(s, &(cleat_prompt){ .name = name, .get = echo });
		snprintf(name, sizeof name, "churn://%d", i);
		cleat_server_add_resource(s, &(cleat_resource){ .uri = name, .text = "churn" });
		snprintf(name, sizeof name, "churn://%d/{x}", i);
		cleat_server_add_resource(s, &(cleat_resource){ .uri = name, .read = echo });
	}
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof name, "churn_%d", i);
		cleat_server_remove_tool(s, name);
		cleat_server_remove_prompt(s, name);
		snprintf(name, sizeof name, "churn://%d", i);
		cleat_server_remove_resource(s, name);
		snprintf(name, sizeof name, "churn://%d/{x}", i);
		cleat_server_remove_resource(s, name);
	}
	return cleat_reply_text(req, "churned");
}

static int remove_self(cleat_request *req)
{
	cleat_server_remove_tool(cleat_request_server(req), "remove_self");
	return cleat_reply_textf(req, "%s is gone", cleat_request_name(req));
}

static int touch(cleat_request *req)
{
	cleat_server_resource_changed(cleat_request_server(req), cleat_arg_str(req, "uri"));
	return cleat_reply_text(req, "touched");
}

/* ---- what a handler learns ------------------------------------------------------------------ */

static bool can(cleat_request *req, enum cleat_client_capability what)
{
	return cleat_request_client_can(req, what);
}

static int whoami(cleat_request *req)
{
	bool meta = cleat_request_meta(req) != NULL;
	bool arguments = cleat_request_arguments(req) != NULL;

	return cleat_reply_jsonf(
		req,
		"{method: %s, name: %s, revision: %s, client: {name: %s, version: %s}, form: %hhd, "
		"url: %hhd, sampling: %hhd, samplingTools: %hhd, roots: %hhd, meta: %hhd, "
		"arguments: %hhd}",
		cleat_request_method(req), cleat_request_name(req), cleat_request_revision(req),
		cleat_request_client_name(req), cleat_request_client_version(req),
		can(req, CLEAT_CLIENT_FORM), can(req, CLEAT_CLIENT_URL),
		can(req, CLEAT_CLIENT_SAMPLING), can(req, CLEAT_CLIENT_SAMPLING_TOOLS),
		can(req, CLEAT_CLIENT_ROOTS), meta, arguments);
}

void fixture_add_calls(cleat_server *s)
{
	static const cleat_tool tools[] = {
		{ .signature = "echo(text: string)", .description = "Says it", .call = echo },
		{ .signature = "calculator/add(a: number, b: number)",
		  .description = "Adds",
		  .call = add },
		{ .signature =
			  "typed(s?: string 1..5, i?: integer 1..10, n?: number, b?: boolean, "
			  "j?: json, o?: object, c?: red|green, l?: integer[] 1..2, d: integer = 7)",
		  .description = "Gives its arguments back",
		  .call = typed },
		{ .signature = "park(key: string)",
		  .description = "Is answered later",
		  .call = parks },
		{ .signature = "park_until_cancelled(key: string)",
		  .description = "Ends when it is cancelled",
		  .call = parks_until_cancelled },
		{ .name = "finish_at_once",
		  .description = "Deferred and finished in one",
		  .call = finishes_at_once },
		{ .signature = "block(text: string)",
		  .description = "Runs on a worker",
		  .call = echo,
		  .blocking = true },
		{ .name = "cancel_fd", .description = "Has a descriptor to poll", .call = fd_of },
		{ .signature = "progress(steps: number[], total: number = 0, message?: string)",
		  .description = "Reports these steps",
		  .call = progress },
		{ .name = "log_all", .description = "Logs at each level", .call = logs },
		{ .name = "log_odd", .description = "Logs what is no text", .call = log_odd },
		{ .name = "churn", .description = "Changes every list often", .call = churn },
		{ .name = "remove_self", .description = "Removes itself", .call = remove_self },
		{ .signature = "touch(uri: string)",
		  .description = "A resource changed",
		  .call = touch },
		{ .name = "whoami",
		  .description = "What the server knows",
		  .call = whoami,
		  .output_schema = "{\"type\":\"object\"}" },
	};

	cleat_server_add_tools(s, tools, CLEAT_COUNT(tools));
}
