/* server/asked_sampling.c - sampling/createMessage in the asked mode: a handler speaks for the client's
 * model. The blocks that it replies with become one message of the assistant; or it replies with a
 * whole result as JSON, which is sent as it is once it is seen to be one.
 *
 * Not here: a model. The messages are checked as far as the specification asks a client to
 * (2025-11-25 client/sampling, error handling); what they say is the handler's business.
 */
#include "request/life.h"
#include "request/out.h"
#include "request/output.h"
#include "server/asked_call.h"
#include "json/parse.h"

enum {
	REJECTED = -1,  /* 2025-11-25 client/sampling, error handling: the user rejected it */
	TOOLS_MAX = 256 /* uses of tools in one message: they are matched one by one */
};

bool asked_can_sample(const cleat_server *s)
{
	return s->asked->who.on_sampling != NULL;
}

/* ---- the question --------------------------------------------------------------------------- */

static bool is_type(const cleat_json *block, const char *type)
{
	return str_eqz(json_str(json_member(block, "type")), type);
}

/* A message's content is one block or, from 2025-11-25 on, several: calls fn for each until it gives
 * false. */
static bool each_block(const cleat_json *content, bool (*fn)(void *ctx, const cleat_json *block),
		       void *ctx)
{
	cleat_json_iter it = cleat_json_each(content);

	if (!json_is_array(content))
		return fn(ctx, content);
	while (cleat_json_next(&it))
		if (!fn(ctx, it.value))
			return false;
	return true;
}

struct tally {
	size_t blocks, uses, results;
	bool shaped; /* every block is an object that names its type */
};

static bool asked_sampling_count(void *ctx, const cleat_json *block)
{
	struct tally *t = ctx;

	t->blocks++;
	t->uses += is_type(block, "tool_use");
	t->results += is_type(block, "tool_result");
	t->shaped = t->shaped && json_is_string(json_member(block, "type"));
	return true;
}

static bool other_result(void *ctx, const cleat_json *block)
{
	return !str_eq(json_str(json_member(block, "toolUseId")), *(struct str *)ctx);
}

/* ctx: the content that should have the results. */
static bool has_result(void *ctx, const cleat_json *block)
{
	struct str id = json_str(json_member(block, "id"));

	return !is_type(block, "tool_use") || !each_block(ctx, other_result, &id);
}

static struct tally tally(const cleat_json *message)
{
	struct tally t = { .shaped = true };

	each_block(json_member(message, "content"), asked_sampling_count, &t);
	return t;
}

/* What is wrong with a message and the one before (NULL: it is the first); NULL: nothing. */
static const char *message_problem(const cleat_json *before, const cleat_json *m)
{
	struct str role = json_str(json_member(m, "role"));
	bool user = str_eqz(role, "user");
	struct tally t = tally(m), last = before ? tally(before) : (struct tally){ 0 };

	if (!user && !str_eqz(role, "assistant"))
		return "its role must be \"user\" or \"assistant\"";
	if (!t.shaped)
		return "its content must be blocks, objects with a type";
	if (t.uses > TOOLS_MAX || t.results > TOOLS_MAX)
		return "it uses too many tools";
	if (t.results && t.results < t.blocks)
		return "tool results are mixed with other content";
	if (!last.uses)
		return NULL;
	if (!user || !t.results ||
	    !each_block(json_member(before, "content"), has_result,
			(void *)json_member(m, "content")))
		return "the result of a tool that was used before it is missing";
	return NULL;
}

static bool check_messages(cleat_request *req)
{
	const cleat_json *messages = json_member(req->msg.params, "messages"), *before = NULL;
	cleat_json_iter it = cleat_json_each(messages);

	if (!json_is_array(messages))
		return asked_refuse(req, "params.messages must be an array, not %s",
				    json_type_name(messages));
	for (; cleat_json_next(&it); before = it.value) {
		const char *problem = message_problem(before, it.value);

		if (problem)
			return asked_refuse(req, "params.messages[%zu]: %s", it.index, problem);
	}
	if (before && tally(before).uses)
		return asked_refuse(req, "params.messages: the result of a tool is missing");
	return true;
}

/* 2025-11-25 schema, CreateMessageRequestParams: a client MUST return an error for tools and toolChoice
 * when it has not declared sampling.tools. */
static bool check_tools(cleat_request *req)
{
	const cleat_json *tools = json_member(req->msg.params, "tools");
	const cleat_json *choice = json_member(req->msg.params, "toolChoice");

	if ((tools || choice) && !req->asked->tools)
		return asked_refuse(req, "this client has not declared sampling with tools");
	if (tools && !json_is_array(tools))
		return asked_refuse(req, "params.tools must be an array, not %s",
				    json_type_name(tools));
	if (choice && !json_is_object(choice))
		return asked_refuse(req, "params.toolChoice must be an object, not %s",
				    json_type_name(choice));
	return true;
}

static bool check_tokens(cleat_request *req)
{
	const cleat_json *most = json_member(req->msg.params, "maxTokens");

	return cleat_json_type(most) == CLEAT_JSON_NUMBER ||
	       asked_refuse(req, "params.maxTokens must be a number, not %s", json_type_name(most));
}

static void asked_sampling_settle(cleat_request *req);

void asked_sample(cleat_request *req)
{
	const struct server_asked *who = &req->server->asked->who;
	struct asked_call *call = asked_begin(req, SHAPE_SAMPLING);

	if (call) {
		call->tools = who->sampling_tools && (req->ctx.features & FEAT_SAMPLING_TOOLS);
		call->settle = asked_sampling_settle;
	}
	if (call && check_messages(req) && check_tokens(req) && check_tools(req))
		request_call(req, who->on_sampling, who->blocking, asked_settle);
	else
		request_end(req);
}

/* ---- the reply ------------------------------------------------------------------------------ */

static int misplaced(cleat_request *req, const char *what)
{
	if (!req)
		return CLEAT_EINVAL;
	cleat_reply_reject(req, CLEAT_RPC_INTERNAL_ERROR, "the handler of %s cannot reply with %s",
			   req->msg.method.p, what);
	return CLEAT_EMISUSE;
}

/* A copy of the text, in *ret. */
static int asked_sampling_say(cleat_request *req, const char **ret, const char *text,
			      const char *what)
{
	if (!ret)
		return misplaced(req, what);
	*ret = arena_strdup(&req->arena, text);
	return arena_failed(&req->arena) ? CLEAT_ENOMEM : CLEAT_OK;
}

static struct asked_call *sampling(cleat_request *req)
{
	return req && req->asked && req->shape == SHAPE_SAMPLING ? req->asked : NULL;
}

int cleat_reply_model(cleat_request *req, const char *model)
{
	struct asked_call *call = sampling(req);

	return asked_sampling_say(req, call ? &call->model : NULL, model, "a model");
}

int cleat_reply_stop_reason(cleat_request *req, const char *reason)
{
	struct asked_call *call = sampling(req);

	return asked_sampling_say(req, call ? &call->stop_reason : NULL, reason, "a stop reason");
}

int cleat_reply_tool_use(cleat_request *req, const char *id, const char *name,
			 const cleat_json *input)
{
	struct asked_call *call = sampling(req);
	const cleat_json *args = input ? input : json_empty_object();
	struct jw *w;

	if (!call)
		return misplaced(req, "the use of a tool");
	if (!call->tools)
		return CLEAT_EUNSUPPORTED;
	if (!id || !*id || !name || !*name || !json_is_object(args)) {
		misplaced(req,
			  "the use of a tool without id and name, or whose input is no object");
		return CLEAT_EINVAL;
	}
	w = &req->blocks_jw;
	jw_obj(w);
	jw_kv_str(w, "type", "tool_use");
	jw_kv_str(w, "id", id);
	jw_kv_str(w, "name", name);
	jw_kv_value(w, "input", args);
	jw_obj_end(w);
	req->blocks++;
	call->tool_uses++;
	req->replied = true;
	return buf_status(&req->content);
}

/* ---- the answer ----------------------------------------------------------------------------- */

/* Arrays of blocks came with the use of tools (2025-11-25). */
static bool knows_several(const cleat_request *req)
{
	return (req->ctx.features & FEAT_SAMPLING_TOOLS) != 0;
}

/* What keeps this from being a CreateMessageResult; NULL: nothing. */
static const char *result_problem(const cleat_request *req, const cleat_json *v)
{
	const cleat_json *content = json_member(v, "content"),
			 *reason = json_member(v, "stopReason");
	struct str role = json_str(json_member(v, "role"));
	struct tally t;

	if (!json_is_object(v))
		return "it is not an object";
	if (!str_eqz(role, "user") && !str_eqz(role, "assistant"))
		return "its role is neither \"user\" nor \"assistant\"";
	if (!json_is_string(json_member(v, "model")))
		return "it has no model";
	if (reason && !json_is_string(reason))
		return "its stopReason is not a string";
	if (!json_is_object(content) && !(knows_several(req) && json_is_array(content)))
		return "its content is not a block";
	t = tally(v);
	if (!t.shaped)
		return "its content has something that is not a block";
	if (t.uses && !req->asked->tools)
		return "it uses a tool, which was not declared";
	return json_check_all_keys(v, NULL) ? "a key appears twice in it" : NULL;
}

static void settle_result(cleat_request *req)
{
	int rc = output_value(req, NULL);
	const char *problem = rc ? NULL : result_problem(req, req->value);

	req->asked->result = req->value;
	if (rc)
		req->status = rc;
	else if (problem)
		asked_misfit(req, "the client's model gave no usable message", problem);
}

static bool is_text(void *ctx, const cleat_json *block)
{
	(void)ctx;
	return is_type(block, "text");
}

/* Before 2025-11-25 there is one block, or text: only then are blocks that were written read again. */
static void settle_blocks(cleat_request *req)
{
	struct buf b;
	int rc;

	if (req->blocks == 0) {
		asked_misfit(req, "the client's model gave no usable message", "it has no content");
		return;
	}
	if (req->blocks == 1 || knows_several(req))
		return;
	buf_init(&b, &req->server->mem, req->server->opts.max_reply + 2);
	buf_putc(&b, '[');
	buf_append(&b, buf_str(&req->content).p, buf_size(&req->content));
	buf_putc(&b, ']');
	rc = buf_status(&b);
	if (!rc)
		rc = json_parse(&req->arena, buf_str(&b), NULL, &req->asked->blocks, NULL);
	buf_done(&b);
	if (rc)
		req->status = rc;
	else if (!each_block(req->asked->blocks, is_text, NULL))
		asked_misfit(req, "the client's model gave no usable message",
			     "before 2025-11-25 it can have only one block, or text");
}

static void asked_sampling_settle(cleat_request *req)
{
	req->missing = -1;
	if (req->rejected)
		return;
	if (req->status == CLEAT_EDECLINED || req->status == CLEAT_ECANCELLED)
		cleat_reply_reject(req, REJECTED, "User rejected sampling request");
	else if (req->status || !req->replied)
		return; /* reply_send() has words for that */
	else if (buf_size(&req->structured))
		settle_result(req);
	else
		settle_blocks(req);
}

/* Before 2025-11-25 a message is one block: pieces of text are put together, a line each, rather than
 * lost. */
static void write_joined(struct jw *w, const cleat_json *blocks)
{
	cleat_json_iter it = cleat_json_each(blocks);

	jw_key(w, "content");
	jw_obj(w);
	jw_kv_str(w, "type", "text");
	jw_key(w, "text");
	jw_text_begin(w);
	while (cleat_json_next(&it)) {
		if (it.index)
			jw_text_part(w, STR_LIT("\n"));
		jw_text_part(w, json_str(json_member(it.value, "text")));
	}
	jw_text_end(w, false);
	jw_obj_end(w);
}

static void write_content(struct jw *w, const cleat_request *req)
{
	if (req->blocks == 1)
		jw_kv_raw(w, "content", buf_str(&req->content));
	else if (req->asked->blocks)
		write_joined(w, req->asked->blocks);
	else
		jw_frame(w, STR_LIT("\"content\":["), buf_str(&req->content), STR_LIT("]"), true);
}

static void write_whole(struct jw *w, const cleat_request *req)
{
	cleat_json_iter it = cleat_json_each(req->asked->result);

	while (cleat_json_next(&it)) {
		if (req->meta && str_eqz(json_str(it.key), "_meta"))
			continue; /* cleat_reply_meta() was called, too */
		jw_keyn(w, json_str(it.key));
		jw_value(w, it.value);
	}
}

void asked_write_sampled(struct jw *w, cleat_request *req)
{
	const struct asked_call *call = req->asked;
	const char *usual = call->tool_uses ? "toolUse" : "endTurn";

	if (call->result) {
		write_whole(w, req);
		return;
	}
	jw_kv_str(w, "role", "assistant");
	write_content(w, req);
	jw_kv_str(w, "model", call->model ? call->model : "unknown");
	jw_kv_str(w, "stopReason", call->stop_reason ? call->stop_reason : usual);
}
