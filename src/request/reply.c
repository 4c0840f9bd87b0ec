/* request/reply.c - see reply.h. What a handler replied, or how it failed, becomes one answer. */
#include "request/reply.h"
#include "base/cold.h"

#include "request/entry.h"
#include "request/note.h"
#include "request/out.h"
#include "request/output.h"
#include "request/question.h"
#include "json/parse.h"

#include <stdio.h>

void reply_reset(cleat_request *req)
{
	buf_truncate(&req->content, 0);
	buf_truncate(&req->structured, 0);
	jw_init(&req->blocks_jw, &req->content);
	req->blocks = 0;
	req->role = "user";
	req->description = req->meta = NULL;
	req->next_annotations = NULL;
	req->next_meta = NULL;
	req->replied = req->is_error = req->rejected = req->has_cache = false;
	req->reject_message = req->reject_data = NULL;
	req->suggested = req->suggest_total = 0;
	req->suggest_total_set = req->suggest_more = false;
	req->status = CLEAT_OK;
	req->missing = -1;
	req->ask_failure = req->next_failure;
	for (struct question *q = req->questions; q; q = q->next)
		q->fresh = false;
}

/* ---- bodies ------------------------------------------------------------------------------- */

static bool shows_structured(const cleat_request *req)
{
	struct str json = buf_str(&req->structured);

	if (!json.n || !(req->ctx.features & FEAT_STRUCTURED))
		return false;
	return json.p[0] == '{' || (req->ctx.features & FEAT_ANY_STRUCTURED);
}

/* 2025-06-18 server/tools: structured content SHOULD also stand in a text block. */
static void content_array(struct jw *w, cleat_request *req)
{
	struct str json = buf_str(&req->structured);

	if (req->blocks) {
		jw_frame(w, STR_LIT("\"content\":["), buf_str(&req->content), STR_LIT("]"), true);
		return;
	}
	jw_splice(w, STR_LIT("\"content\":["), false);
	if (json.n)
		content_text(w, req->ctx.features, json, NULL);
	jw_arr_end(w);
}

void reply_write_tool(struct jw *w, cleat_request *req)
{
	content_array(w, req);
	if (shows_structured(req))
		jw_kv_raw(w, "structuredContent", buf_str(&req->structured));
	if (req->is_error)
		jw_kv_bool(w, "isError", true);
}

static void array_of_blocks(struct jw *w, const char *key, cleat_request *req)
{
	jw_key(w, key);
	jw_arr(w);
	if (req->blocks)
		jw_raw(w, buf_str(&req->content));
	jw_arr_end(w);
}

void reply_write_resource(struct jw *w, cleat_request *req)
{
	array_of_blocks(w, "contents", req);
}

void reply_write_prompt(struct jw *w, cleat_request *req)
{
	const char *own = req->entry->prompt.description;

	jw_kv_str(w, "description", req->description ? req->description : own);
	array_of_blocks(w, "messages", req);
}

void reply_write_completion(struct jw *w, cleat_request *req)
{
	size_t total = req->suggest_total_set ? req->suggest_total : req->suggested;

	jw_key(w, "completion");
	jw_obj(w);
	array_of_blocks(w, "values", req);
	jw_key(w, "total");
	jw_uint(w, total);
	jw_kv_bool(w, "hasMore", req->suggest_more || total > req->blocks);
	jw_obj_end(w);
}

/* The members of the handler's object, beside those of the era. */
void reply_write_own(struct jw *w, cleat_request *req)
{
	struct str json = buf_str(&req->structured);

	if (json.n > 2)
		jw_raw(w, (struct str){ json.p + 1, json.n - 2 });
}

/* ---- sending ------------------------------------------------------------------------------ */

static struct result_facts facts_of(const cleat_request *req)
{
	struct result_facts f = { .cacheable = req->method->cacheable, .meta = str_of(req->meta) };

	if (req->has_cache) {
		f.ttl_ms = req->cache_ttl;
		f.shared = req->cache_shared;
	} else if (req->entry &&
		   (req->entry->kind == SHELF_RESOURCES || req->entry->kind == SHELF_TEMPLATES)) {
		f.ttl_ms = req->entry->resource.ttl_ms;
		f.shared = req->entry->resource.scope == CLEAT_CACHE_PUBLIC;
	}
	return f;
}

static COLD void send_failure(cleat_request *req, int status)
{
	if (status == CLEAT_ELIMIT)
		out_errorf(req, req->ctx.era->too_large_code, NULL,
			   "the answer is over the limit of %zu bytes",
			   req->server->opts.max_reply);
	else
		out_error(req, CLEAT_RPC_INTERNAL_ERROR, NULL, cleat_strstatus(status));
}

static void send_result(cleat_request *req)
{
	struct result_facts f = facts_of(req);
	struct out o;
	int rc;

	if (!result_begin(&o, req, &f))
		return;
	req->method->write(&o.w, req);
	rc = result_end(&o, req, &f);
	if (rc)
		send_failure(req, rc);
}

/* 2026-07-28 basic/index: -32021 lists what the client would have had to declare. Older revisions
 * have no such code. */
static COLD void send_missing_capability(cleat_request *req)
{
	enum cleat_client_capability what = (enum cleat_client_capability)req->missing;

	if (req->ctx.era->modern) {
		char data[128];

		snprintf(data, sizeof data, "{\"requiredCapabilities\":%s}",
			 era_capability_json(what));
		out_errorf(req, CLEAT_RPC_MISSING_CAPABILITY, data,
			   "%s needs a client that supports %s, and this one did not declare it",
			   req->entry ? req->entry->key.p : req->msg.method.p,
			   era_capability_name(what));
		return;
	}
	cleat_reply_error(req, "This needs a client that supports %s, and this one does not.",
			  era_capability_name(what));
	req->status = CLEAT_OK;
	reply_send(req);
}

/* A question that came to nothing is something that the model should read. */
static const char *question_outcome(const cleat_request *req)
{
	if (!req->questions) /* the handler speaks of something of its own */
		return NULL;
	switch (req->status) {
	case CLEAT_EDECLINED: return "The user declined.";
	case CLEAT_ECANCELLED: return "The user closed the question without an answer.";
	case CLEAT_ETIMEOUT: return "The question was not answered in time.";
	case CLEAT_EREMOTE:
	case CLEAT_EPROTO:
		return req->ask_failure ? req->ask_failure : "The client's answer was not usable.";
	default: return NULL;
	}
}

static COLD void send_as_tool_error(cleat_request *req, const char *text)
{
	req->status = CLEAT_OK;
	cleat_reply_error(req, "%s", text);
	reply_send(req);
}

/* A tool that failed to do its work, not one that was written wrongly or had no memory. */
static bool is_for_the_model(const cleat_request *req)
{
	return req->entry && req->entry->kind == SHELF_TOOLS && req->status != CLEAT_ENOMEM &&
	       req->status != CLEAT_EMISUSE && req->status < 0;
}

static COLD void send_unanswered(cleat_request *req)
{
	const char *outcome = question_outcome(req);

	if (req->status == CLEAT_EUNSUPPORTED && req->missing >= 0) {
		send_missing_capability(req);
	} else if (req->status == CLEAT_EPROTO && req->ask_failure &&
		   req->ctx.era->asks_by_result) {
		/* 2026-07-28 patterns/mrtr: answers that make no sense are a protocol error. */
		out_error(req, CLEAT_RPC_INVALID_PARAMS, NULL, req->ask_failure);
	} else if (outcome) {
		send_as_tool_error(req, outcome);
	} else if (req->status == CLEAT_EMISUSE) {
		server_note(req->server, CLEAT_LOG_ERROR,
			    "the handler of %s returned CLEAT_PENDING without cleat_request_defer",
			    req->entry ? req->entry->key.p : req->msg.method.p);
		out_error(req, CLEAT_RPC_INTERNAL_ERROR, NULL, "the handler gave no reply");
	} else {
		server_note(req->server, CLEAT_LOG_ERROR, "the handler of %s failed: %s",
			    req->entry ? req->entry->key.p : req->msg.method.p,
			    cleat_strstatus(req->status));
		if (is_for_the_model(req))
			send_as_tool_error(req, cleat_strstatus(req->status));
		else
			out_error(req, CLEAT_RPC_INTERNAL_ERROR, NULL,
				  cleat_strstatus(req->status));
	}
}

static int latched(const cleat_request *req)
{
	if (buf_status(&req->content))
		return buf_status(&req->content);
	if (buf_status(&req->structured))
		return buf_status(&req->structured);
	return arena_failed(&req->arena) ? CLEAT_ENOMEM : CLEAT_OK;
}

void reply_send(cleat_request *req)
{
	int rc = latched(req);

	if (rc) {
		send_failure(req, rc);
	} else if (req->rejected) {
		out_error(req, req->reject_code, req->reject_data, req->reject_message);
	} else if (req->status != CLEAT_OK) {
		send_unanswered(req);
	} else if (!req->replied && !req->complete_arg) {
		server_note(req->server, CLEAT_LOG_ERROR,
			    "the handler of %s returned without a reply; call one of cleat_reply_*",
			    req->entry ? req->entry->key.p : req->msg.method.p);
		out_error(req, CLEAT_RPC_INTERNAL_ERROR, NULL, "the handler gave no reply");
	} else if (!output_promised(req) || output_check(req)) {
		send_result(req);
	}
}
