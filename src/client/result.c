/* client/result.c - see result.h: how a call ended, and the getters that need no look into content
 * (content.c has those).
 *
 * The result is the first thing in its own arena, whose first chunk is large enough for what a small
 * answer needs: most calls cost one allocation for all that comes back.
 */
#include "client/result.h"

#include "base/error.h"
#include "base/mem.h"
#include "field/field.h"
#include "json/parse.h"

#include <limits.h>
#include <string.h>

enum { FIRST_CHUNK = 3072 - 64, PROBLEMS_MAX = 8192, DECODED_MAX = 64 << 20 };

static const cleat_error no_memory = { .status = CLEAT_ENOMEM, .message = "out of memory" };
static const cleat_error nothing = { .status = CLEAT_OK };

/* ---- making ----------------------------------------------------------------------------------- */

enum result_shape result_shape_of(struct str method)
{
	static const struct {
		const char *method;
		enum result_shape shape;
	} rows[] = {
		{ "tools/call", RESULT_TOOL },
		{ "resources/read", RESULT_RESOURCE },
		{ "prompts/get", RESULT_PROMPT },
		{ "completion/complete", RESULT_COMPLETE },
		{ "tools/list", RESULT_LIST },
		{ "resources/list", RESULT_LIST },
		{ "resources/templates/list", RESULT_LIST },
		{ "prompts/list", RESULT_LIST },
	};

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++)
		if (str_eqz(method, rows[i].method))
			return rows[i].shape;
	return RESULT_OTHER;
}

/* The arena has no limit of its own: what is put there is what the server sent, whose size the link
 * limits (opts.max_message), and a fixed multiple of that. */
cleat_result *result_new(const cleat_allocator *mem, enum result_shape shape)
{
	struct arena ar;
	cleat_result *r;

	arena_init(&ar, mem, SIZE_MAX / 2);
	ar.first = FIRST_CHUNK;
	r = arena_zalloc(&ar, sizeof *r);
	if (!r)
		return NULL;
	r->arena = ar;
	r->shape = shape;
	return r;
}

void cleat_result_free(cleat_result *r)
{
	struct arena ar;

	if (!r)
		return;
	ar = r->arena;
	arena_done(&ar);
}

void result_fail(cleat_result *r, enum cleat_step step, int http_status, const cleat_error *why)
{
	if (!r)
		return;
	r->error = *why;
	r->step = step;
	r->http_status = http_status;
}

static void broken(cleat_result *r, const char *what, const cleat_json *v)
{
	r->step = CLEAT_STEP_PROTOCOL;
	error_set(&r->error, CLEAT_EPROTO, "the server's %s is %s instead of an object", what,
		  v ? json_type_name(v) : "missing");
}

/* 2025-11-25 server/tools "Error Handling": a tool that failed says so in its content. */
static void tool_failed(cleat_result *r)
{
	const char *text = cleat_result_text(r);

	r->tool_error = true;
	r->step = CLEAT_STEP_ANSWER;
	error_set(&r->error, CLEAT_EREMOTE, "%s",
		  *text ? text : "the tool failed and does not say why");
}

void result_set(cleat_result *r, const cleat_json *value)
{
	if (!r)
		return;
	r->error = nothing;
	r->step = CLEAT_STEP_NONE;
	if (!json_is_object(value)) {
		broken(r, "result", value);
		return;
	}
	r->raw = value;
	if (r->shape == RESULT_TOOL && cleat_json_bool(json_member(value, "isError"), false))
		tool_failed(r);
}

static int code_of(const cleat_json *error)
{
	int64_t code = cleat_json_int(json_member(error, "code"), 0);

	return code >= INT_MIN && code <= INT_MAX ? (int)code : 0;
}

void result_set_error(cleat_result *r, int http_status, const cleat_json *error)
{
	const char *message;

	if (!r)
		return;
	r->http_status = http_status;
	if (!json_is_object(error)) {
		broken(r, "error", error);
		return;
	}
	message = cleat_json_str(json_member(error, "message"), "");
	r->step = CLEAT_STEP_ANSWER;
	r->error_json = error;
	r->error_data = json_member(error, "data");
	error_rpc(&r->error, CLEAT_EREMOTE, code_of(error), "%s",
		  *message ? message : "the server answered with an error and does not say why");
}

/* ---- how it ended ----------------------------------------------------------------------------- */

int cleat_result_status(const cleat_result *r)
{
	return r ? r->error.status : CLEAT_ENOMEM;
}

const cleat_error *cleat_result_error(const cleat_result *r)
{
	if (!r)
		return &no_memory;
	return r->error.status == CLEAT_OK && r->misfit ? r->misfit : &r->error;
}

enum cleat_step cleat_result_step(const cleat_result *r)
{
	return r ? r->step : CLEAT_STEP_NONE;
}

const char *cleat_step_name(enum cleat_step step)
{
	switch (step) {
	case CLEAT_STEP_NONE: return "nothing";
	case CLEAT_STEP_ARGUMENTS: return "checking the call";
	case CLEAT_STEP_SPAWN: return "starting the program";
	case CLEAT_STEP_DNS: return "looking up the host";
	case CLEAT_STEP_CONNECT: return "connecting";
	case CLEAT_STEP_TLS: return "TLS";
	case CLEAT_STEP_HTTP: return "HTTP";
	case CLEAT_STEP_AUTH: return "authorization";
	case CLEAT_STEP_EXCHANGE: return "waiting for the answer";
	case CLEAT_STEP_NEGOTIATE: return "agreeing on a revision";
	case CLEAT_STEP_PROTOCOL: return "reading the answer";
	case CLEAT_STEP_ANSWER: return "the server's answer";
	case CLEAT_STEP_TIMEOUT: return "waiting for too long";
	case CLEAT_STEP_ASKED: return "answering the server's question";
	case CLEAT_STEP_CANCELLED: return "cancelling";
	}
	return "unknown";
}

int cleat_result_http_status(const cleat_result *r)
{
	return r ? r->http_status : 0;
}

bool cleat_result_is_tool_error(const cleat_result *r)
{
	return r && r->tool_error;
}

bool cleat_result_is_cached(const cleat_result *r)
{
	return r && r->cached;
}

/* ---- what is in it ---------------------------------------------------------------------------- */

const cleat_json *cleat_result_raw(const cleat_result *r)
{
	return r ? r->raw : NULL;
}

const cleat_json *cleat_result_error_json(const cleat_result *r)
{
	return r ? r->error_json : NULL;
}

const cleat_json *cleat_result_error_data(const cleat_result *r)
{
	return r ? r->error_data : NULL;
}

const cleat_json *cleat_result_json(const cleat_result *r)
{
	if (!r)
		return NULL;
	return r->shape == RESULT_TOOL ? json_member(r->raw, "structuredContent") : r->raw;
}

static const cleat_json *array(const cleat_json *v)
{
	return json_is_array(v) ? v : NULL;
}

/* The known names come first: a server may add members of its own before them. */
static const cleat_json *listed(const cleat_json *v)
{
	static const char *const names[] = { "tools", "resources", "resourceTemplates", "prompts" };
	cleat_json_iter it = cleat_json_each(v);

	for (size_t i = 0; i < CLEAT_COUNT(names); i++)
		if (array(json_member(v, names[i])))
			return json_member(v, names[i]);
	while (json_is_object(v) && cleat_json_next(&it))
		if (json_is_array(it.value))
			return it.value;
	return NULL;
}

const cleat_json *cleat_result_items(const cleat_result *r)
{
	if (!r)
		return NULL;
	if (r->items)
		return r->items;
	switch (r->shape) {
	case RESULT_TOOL: return array(json_member(r->raw, "content"));
	case RESULT_RESOURCE: return array(json_member(r->raw, "contents"));
	case RESULT_PROMPT: return array(json_member(r->raw, "messages"));
	case RESULT_COMPLETE:
		return array(json_member(json_member(r->raw, "completion"), "values"));
	case RESULT_LIST: return listed(r->raw);
	case RESULT_OTHER: break;
	}
	return NULL;
}

/* ---- records ---------------------------------------------------------------------------------- */

int result_misfit(cleat_error *err, const char *what, struct str problems)
{
	const char *end = problems.n ? memchr(problems.p, '\n', problems.n) : NULL;

	if (end)
		problems.n = (size_t)(end - problems.p);
	if (err && problems.n > sizeof err->message) /* also makes it fit an int */
		problems.n = sizeof err->message;
	return error_set(err, CLEAT_EPROTO, "%s: %.*s", what, STR_ARGS(problems));
}

static int table_ok(const cleat_field *fields, const void *ret, cleat_error *err)
{
	int rc = field_table_check(fields, err);

	if (rc)
		return rc;
	if (!ret || !field_count(fields) || !fields->record)
		return error_set(err, CLEAT_EINVAL, "%s",
				 ret ? "the table does not describe a struct" : "no record given");
	return CLEAT_OK;
}

static int result_decode(cleat_result *r, const cleat_field *fields, const cleat_json *v, void *ret)
{
	size_t max = r->arena.max;
	int rc;

	r->arena.max = r->arena.total + DECODED_MAX; /* elements may be larger than their text */
	rc = field_decode(fields, v, &r->arena, ret);
	r->arena.max = max;
	return rc;
}

static int fit(cleat_result *r, const cleat_field *fields, void *ret, cleat_error *err)
{
	const char *what = r->shape == RESULT_TOOL ? "structuredContent" : "result";
	const cleat_json *v = cleat_result_json(r);
	struct buf problems = BUF_INIT(&r->arena.mem, PROBLEMS_MAX);
	int rc;

	if (!v)
		return error_set(err, CLEAT_EPROTO, "the result has no structuredContent");
	rc = field_check(fields, v, false, &problems);
	if (!rc)
		rc = result_decode(r, fields, v, ret);
	else if (rc != CLEAT_ENOMEM)
		rc = result_misfit(err, what, buf_str(&problems));
	if (rc == CLEAT_ENOMEM)
		error_set(err, rc, "%s", cleat_strstatus(rc));
	buf_done(&problems);
	return rc;
}

static int result_remember(cleat_result *r, int rc, const cleat_error *why)
{
	cleat_error *copy = arena_alloc(&r->arena, sizeof *copy);

	if (copy)
		*copy = *why;
	r->misfit = copy ? copy : &no_memory;
	return rc;
}

int cleat_result_record(cleat_result *r, const cleat_field *fields, void *ret)
{
	cleat_error err;
	int rc = table_ok(fields, ret, &err);
	bool usable = rc == CLEAT_OK;

	if (usable)
		memset(ret, 0, fields->record);
	if (cleat_result_status(r) != CLEAT_OK)
		return cleat_result_status(r);
	r->misfit = NULL;
	if (usable)
		rc = fit(r, fields, ret, &err);
	if (usable && rc)
		memset(ret, 0, fields->record); /* nothing half-decoded */
	return rc ? result_remember(r, rc, &err) : CLEAT_OK;
}
