/* rpc/message.c - see message.h.
 *
 * The envelope is read in one pass that only collects; the rules are applied afterwards, in an order
 * that finds a usable id and "looks like a response" first, because those two decide whether and to
 * whom a refusal is sent.
 */
#include "rpc/message.h"
#include "base/cold.h"

#include "base/error.h"
#include "json/parse.h"
#include "json/skim.h"

#include <string.h>

enum { INVALID_REQUEST = CLEAT_RPC_INVALID_REQUEST, INVALID_PARAMS = CLEAT_RPC_INVALID_PARAMS };

struct envelope {
	const cleat_json *version, *id, *method, *params, *result, *error;
	size_t ids;   /* how often "id" is there */
	size_t known; /* members that are one of these */
};

static const cleat_json **slot(struct envelope *e, struct str key)
{
	switch (key.n) {
	case 2: return str_eq(key, STR_LIT("id")) ? &e->id : NULL;
	case 5: return str_eq(key, STR_LIT("error")) ? &e->error : NULL;
	case 6:
		if (str_eq(key, STR_LIT("method")))
			return &e->method;
		if (str_eq(key, STR_LIT("params")))
			return &e->params;
		return str_eq(key, STR_LIT("result")) ? &e->result : NULL;
	case 7: return str_eq(key, STR_LIT("jsonrpc")) ? &e->version : NULL;
	default: return NULL;
	}
}

static void collect(const cleat_json *root, struct envelope *e)
{
	cleat_json_iter it = cleat_json_each(root);

	while (cleat_json_next(&it)) {
		const cleat_json **to = slot(e, json_str(it.key));

		if (!to)
			continue;
		e->known += *to == NULL;
		e->ids += to == &e->id;
		*to = it.value;
	}
}

/* A member that a reader who folds case would take for one of ours. */
static COLD int refuse_lookalikes(const cleat_json *root, cleat_error *err)
{
	static const char *const ours[] = {
		"jsonrpc", "id", "method", "params", "result", "error"
	};
	cleat_json_iter it = cleat_json_each(root);

	while (cleat_json_next(&it))
		for (size_t i = 0; i < CLEAT_COUNT(ours); i++)
			if (str_lookalike(json_str(it.key), ours[i]))
				return error_rpc(err, CLEAT_EPROTO, INVALID_REQUEST,
						 "a member looks like \"%s\" but is not", ours[i]);
	return CLEAT_OK;
}

static bool id_allowed(const cleat_json *id, const struct rpc_rules *rules)
{
	switch (cleat_json_type(id)) {
	case CLEAT_JSON_STRING: return true;
	case CLEAT_JSON_NUMBER: return !rules->integer_ids || cleat_json_is_integer(id);
	case CLEAT_JSON_NULL: return !rules->integer_ids;
	default: return false;
	}
}

static COLD int refuse_id(const cleat_json *id, const struct rpc_rules *rules, cleat_error *err)
{
	const char *allowed =
		rules->integer_ids ? "a string or an integer" : "a string, a number or null";

	if (cleat_json_type(id) == CLEAT_JSON_NUMBER)
		return error_rpc(err, CLEAT_EPROTO, INVALID_REQUEST,
				 "\"id\" is a number with a fraction; it must be %s", allowed);
	return error_rpc(err, CLEAT_EPROTO, INVALID_REQUEST, "\"id\" is %s; it must be %s",
			 json_type_name(id), allowed);
}

static int check_version(const cleat_json *version, cleat_error *err)
{
	if (!version)
		return error_rpc(err, CLEAT_EPROTO, INVALID_REQUEST,
				 "\"jsonrpc\" is missing; it must be \"2.0\"");
	if (!json_is_string(version) || !str_eq(json_str(version), STR_LIT("2.0")))
		return error_rpc(err, CLEAT_EPROTO, INVALID_REQUEST,
				 "\"jsonrpc\" must be the string \"2.0\"");
	return CLEAT_OK;
}

/* JSON-RPC 1.0 has "error": null beside a result, and the reverse. */
static void overlook_null(struct envelope *e, struct rpc_message *ret)
{
	bool result, error;

	if (!e->result || !e->error)
		return;
	result = cleat_json_type(e->result) == CLEAT_JSON_NULL;
	error = cleat_json_type(e->error) == CLEAT_JSON_NULL;
	if (result == error)
		return;
	*(result ? &e->result : &e->error) = NULL;
	ret->null_beside = true;
}

/* What the writer of the message meant it to be, as far as the members tell. */
static enum rpc_kind intent(const struct envelope *e)
{
	if (e->method)
		return RPC_INVALID;
	return e->result ? RPC_RESULT : e->error ? RPC_ERROR : RPC_INVALID;
}

static int check_params(const cleat_json *params, const struct rpc_rules *rules, cleat_error *err)
{
	if (!params || json_is_object(params))
		return CLEAT_OK;
	if (rules->named_params)
		return error_rpc(err, CLEAT_EPROTO, INVALID_PARAMS,
				 "\"params\" is %s; it must be an object", json_type_name(params));
	if (json_is_array(params))
		return CLEAT_OK;
	return error_rpc(err, CLEAT_EPROTO, INVALID_REQUEST,
			 "\"params\" is %s; it must be an object or an array",
			 json_type_name(params));
}

static int read_request(const struct envelope *e, const struct rpc_rules *rules,
			struct rpc_message *ret, cleat_error *err)
{
	int rc;

	if (e->result || e->error)
		return error_rpc(err, CLEAT_EPROTO, INVALID_REQUEST,
				 "\"method\" and \"%s\" in one message: a request has no answer",
				 e->result ? "result" : "error");
	if (!json_is_string(e->method))
		return error_rpc(err, CLEAT_EPROTO, INVALID_REQUEST,
				 "\"method\" is %s; it must be a string",
				 json_type_name(e->method));
	if (str_has_nul(json_str(e->method)))
		return error_rpc(err, CLEAT_EPROTO, INVALID_REQUEST,
				 "\"method\" contains a NUL character");
	if (e->id && !ret->id)
		return refuse_id(e->id, rules, err);
	ret->method = json_str(e->method);
	rc = check_params(e->params, rules, err);
	/* JSON-RPC 2.0, 4.1: a notification gets no answer, not even "Invalid params"; so where only
	 * that is wrong the caller learns which of the two it is. */
	if (rc != CLEAT_OK && rules->named_params)
		ret->kind = e->id ? RPC_REQUEST : RPC_NOTIFICATION;
	if (rc != CLEAT_OK)
		return rc;
	ret->params = e->params;
	ret->kind = e->id ? RPC_REQUEST : RPC_NOTIFICATION;
	return CLEAT_OK;
}

static COLD int read_error_object(const cleat_json *error, struct rpc_message *ret,
				  cleat_error *err)
{
	const cleat_json *code = json_member(error, "code");
	const cleat_json *message = json_member(error, "message");

	if (!json_is_object(error))
		return error_rpc(err, CLEAT_EPROTO, INVALID_REQUEST,
				 "\"error\" is %s; it must be an object", json_type_name(error));
	if (json_check_keys(error, err) != CLEAT_OK)
		return CLEAT_EPROTO;
	/* The two fallbacks tell a number that does not fit from one that equals the fallback. */
	if (!cleat_json_is_integer(code) || cleat_json_int(code, 0) != cleat_json_int(code, 1))
		return error_rpc(err, CLEAT_EPROTO, INVALID_REQUEST,
				 "\"error.code\" must be an integer");
	if (!json_is_string(message))
		return error_rpc(err, CLEAT_EPROTO, INVALID_REQUEST,
				 "\"error.message\" must be a string");
	ret->error = error;
	ret->error_code = cleat_json_int(code, 0);
	ret->error_message = json_str(message);
	return CLEAT_OK;
}

static COLD int read_response(const struct envelope *e, const struct rpc_rules *rules,
			      struct rpc_message *ret, cleat_error *err)
{
	if (e->result && e->error)
		return error_rpc(err, CLEAT_EPROTO, INVALID_REQUEST,
				 "a response has \"result\" or \"error\", not both");
	if (e->error && read_error_object(e->error, ret, err) != CLEAT_OK)
		return CLEAT_EPROTO;
	if (!e->id)
		return error_rpc(err, CLEAT_EPROTO, INVALID_REQUEST, "a response without \"id\"");
	if (!ret->id)
		return refuse_id(e->id, rules, err);
	ret->result = e->result;
	return CLEAT_OK;
}

static int classify(const struct rpc_rules *rules, struct rpc_message *ret, cleat_error *err)
{
	struct envelope e = { 0 };
	int rc;

	if (!json_is_object(ret->root))
		return error_set(err, CLEAT_EPROTO, "the message is %s; it must be an object",
				 json_type_name(ret->root));
	collect(ret->root, &e);
	overlook_null(&e, ret);
	ret->kind = intent(&e);
	if (e.ids == 1 && id_allowed(e.id, rules))
		ret->id = e.id;
	/* Only known members, each once: there is nothing to search for. */
	rc = CLEAT_OK;
	if (e.known != cleat_json_size(ret->root))
		rc = json_check_keys(ret->root, err);
	if (rc == CLEAT_OK && rules->no_lookalikes && e.known != cleat_json_size(ret->root))
		rc = refuse_lookalikes(ret->root, err);
	if (rc == CLEAT_OK)
		rc = check_version(e.version, err);
	if (rc != CLEAT_OK)
		return rc;
	if (e.method)
		return read_request(&e, rules, ret, err);
	if (e.result || e.error)
		return read_response(&e, rules, ret, err);
	return error_set(err, CLEAT_EPROTO,
			 "no \"method\" (a request), no \"result\" and no \"error\" (a response)");
}

int rpc_classify(const cleat_json *root, const struct rpc_rules *rules, struct rpc_message *ret,
		 cleat_error *err)
{
	static const struct rpc_rules plain;
	int rc;

	*ret = (struct rpc_message){ .kind = RPC_INVALID, .root = root };
	rc = classify(rules ? rules : &plain, ret, err);
	if (rc != CLEAT_OK && err && !err->rpc_code)
		err->rpc_code = INVALID_REQUEST;
	return rc;
}

/* The bytes that make an id what it is, beside its type. */
static struct str id_token(const cleat_json *id)
{
	return json_is_string(id) ? json_str(id) : str_of(cleat_json_number_text(id));
}

bool rpc_id_equal(const cleat_json *a, const cleat_json *b)
{
	return a && b && cleat_json_type(a) == cleat_json_type(b) &&
	       str_eq(id_token(a), id_token(b));
}

bool rpc_id_may_mean(struct str text, bool string, int64_t n)
{
	int64_t says;

	if (!skim_whole(text, &says))
		return !string;
	return says == n && !(string && text.p[0] == '0');
}

uint32_t rpc_id_hash(const cleat_json *id, uint32_t seed)
{
	return str_hash(id_token(id), seed + (uint32_t)cleat_json_type(id));
}

static void message_begin(struct jw *w)
{
	jw_splice(w, STR_LIT("{\"jsonrpc\":\"2.0\""), true);
}

static void put_id(struct jw *w, const cleat_json *id)
{
	struct str number = json_number(id);

	jw_splice(w, STR_LIT("\"id\":"), false);
	if (number.p)
		jw_raw(w, number);
	else if (json_is_string(id))
		jw_str(w, json_str(id));
	else
		jw_null(w);
}

void rpc_begin_result(struct jw *w, const cleat_json *id)
{
	jw_splice(w, STR_LIT("{\"jsonrpc\":\"2.0\""), true);
	put_id(w, id);
	jw_splice(w, STR_LIT("\"result\":"), false);
}

void rpc_begin_result_object(struct jw *w, const cleat_json *id)
{
	struct str number = json_number(id);

	if (number.p) {
		jw_frame(w, STR_LIT("{\"jsonrpc\":\"2.0\",\"id\":"), number,
			 STR_LIT(",\"result\":{"), false);
		return;
	}
	jw_splice(w, STR_LIT("{\"jsonrpc\":\"2.0\""), true);
	put_id(w, id);
	jw_splice(w, STR_LIT("\"result\":{"), false);
}

void rpc_end_result_object(struct jw *w)
{
	w->comma = false;
	jw_splice(w, STR_LIT("}}"), true);
}

void rpc_begin_request(struct jw *w, int64_t id, const char *method)
{
	message_begin(w);
	jw_kv_int(w, "id", id);
	jw_key(w, "method");
	jw_strz(w, method);
}

void rpc_begin_notification(struct jw *w, const char *method)
{
	message_begin(w);
	jw_key(w, "method");
	jw_strz(w, method);
}

void rpc_params(struct jw *w)
{
	jw_key(w, "params");
}

void rpc_end(struct jw *w)
{
	jw_obj_end(w);
}

void rpc_write_error(struct jw *w, const cleat_json *id, bool null_id, int code, struct str message,
		     struct str data)
{
	message_begin(w);
	if (id || null_id)
		put_id(w, id);
	jw_key(w, "error");
	jw_obj(w);
	jw_kv_int(w, "code", code);
	jw_key(w, "message");
	jw_str(w, message.p ? message : STR_LIT(""));
	jw_kv_raw(w, "data", data);
	jw_obj_end(w);
	rpc_end(w);
}
