/* client/intake.c - messages in: read once, straight into the arena of the result that they may become,
 * told apart, passed on.
 *
 * Every message is hostile. What can be laid at the door of a call (by its id, or by the exchange it
 * came in) ends that call; everything else is a note. Not here: what an answer means (answer.c).
 */
#include "client/state.h"

#include "base/error.h"
#include "json/copy.h"
#include "json/mend.h"
#include "json/skim.h"

#include <stdio.h>

enum { SHOWN = 80, MAX_BATCH = 1000 };

struct message {
	cleat_client *client;
	struct str text; /* absent: a member of a batch */
	void *tag;
	int http_status;
	bool event; /* HTTP: one of a stream; whatever is not the answer is passed over there, as on a pipe */
};

enum { STREAM_STATUS = 200 }; /* no other has events */

/* The beginning of it, for people. */
static struct str shown(struct str s)
{
	if (s.n > SHOWN)
		s.n = SHOWN;
	s.n = utf8_valid_prefix(s);
	return s;
}

/* ---- what cannot be read -------------------------------------------------------------------- */

/* The id of a message that cannot be parsed (it is over a limit, or memory is short), as well as it can
 * be told without any; 0: none. */
static int64_t peek_id(struct str text)
{
	int64_t id = 0;

	skim_whole(skim_find(text, "id"), &id);
	return id;
}

static COLD void unreadable(const struct message *in, const cleat_error *why)
{
	cleat_client *c = in->client;
	cleat_call *call = call_by_tag(c, in->tag);
	struct str s = shown(in->text);
	int status = why->status == CLEAT_ENOMEM ? CLEAT_ENOMEM : CLEAT_EPROTO;
	cleat_error err;

	/* It was a message, only we cannot read it: if one call is under way, most likely its answer. */
	if (in->event && why->status == CLEAT_EPROTO && tag_id(in->tag) != peek_id(in->text))
		call = NULL;
	else if (!call && !in->tag)
		call = call_by_number(c, peek_id(in->text));
	if (!call && !in->tag && why->status != CLEAT_EPROTO)
		call = call_only(c);
	if (!call) {
		client_note(c, CLEAT_LOG_WARNING, "%s that is no message was ignored (%s): %.*s",
			    in->tag ? "an event" : "a line", why->message, (int)s.n, s.p);
		return;
	}
	if (status == CLEAT_ENOMEM)
		error_set(&err, status, "out of memory");
	else
		error_set(&err, status, "the server's answer cannot be read: %s%s; it begins %.*s",
			  why->message,
			  why->status == CLEAT_ELIMIT && in->text.n > json_max_nodes(&c->opts.json)
				  ? " (a larger opts.max_message allows more)"
				  : "",
			  (int)s.n, s.p);
	call_abandon(call, "the answer cannot be read");
	call_fail_error(call, CLEAT_STEP_PROTOCOL, in->http_status, &err);
}

void intake_oversize(void *ctx, void *tag, size_t limit)
{
	cleat_client *c = ctx;
	cleat_call *call = call_by_tag(c, tag);

	client_enter(c);
	/* On a stream nobody knows whose it was; if there is only one call, most likely that one's. */
	if (!call && !tag)
		call = call_only(c);
	if (call) {
		call_abandon(call, "the answer is too large");
		call_fail(call, CLEAT_STEP_PROTOCOL, CLEAT_ELIMIT,
			  "the server's answer is over %zu bytes (opts.max_message)", limit);
	} else {
		client_note(c, CLEAT_LOG_WARNING,
			    "a message of over %zu bytes (opts.max_message) was thrown away",
			    limit);
	}
	client_leave(c);
}

/* ---- responses ------------------------------------------------------------------------------ */

/* An id that we have given out, but nobody waits for: late, or twice. */
static bool was_ours(const cleat_client *c, const cleat_json *id)
{
	int64_t n = cleat_json_int(id, 0);

	return n > 0 && n <= c->last_id;
}

/* Of a stream: does the id say that it is somebody else's? The link thinks the same, and hears on. */
static bool is_others(const struct message *in, const struct rpc_message *m)
{
	bool string = json_is_string(m->id);

	return in->event && m->id &&
	       !rpc_id_may_mean(string ? json_str(m->id) : json_number(m->id), string,
				tag_id(in->tag));
}

static COLD void unknown_response(const struct message *in, const struct rpc_message *m)
{
	cleat_client *c = in->client;
	cleat_call *call = call_by_tag(c, in->tag);

	if (call && !is_others(in, m)) {
		call_abandon(call, "answered with another id");
		call_fail(call, CLEAT_STEP_PROTOCOL, CLEAT_EPROTO,
			  "the server answered with another request's id");
		return;
	}
	client_note(c, was_ours(c, m->id) ? CLEAT_LOG_DEBUG : CLEAT_LOG_WARNING,
		    "an answer that nobody waits for was ignored");
}

/* An error whose writer could not read our id. On HTTP it is the answer to what was posted; on a stream
 * it is clear only while nothing but the first question is under way. */
static cleat_call *owner_of_error(const struct message *in, const struct rpc_message *m)
{
	cleat_client *c = in->client;

	if (m->id && cleat_json_type(m->id) != CLEAT_JSON_NULL)
		return NULL;
	if (in->tag)
		return call_by_tag(c, in->tag);
	return c->phase == CLIENT_OPENING ? call_only(c) : NULL;
}

/* Whose answer it is. On HTTP the answer to a POST is in its own exchange: in another one's it is not
 * believed, and that one has no answer. NULL: nobody's. */
static cleat_call *addressee(const struct message *in, const struct rpc_message *m)
{
	cleat_call *call = m->id ? call_by_id(in->client, m->id) : NULL;

	return call && in->tag && tag_id(in->tag) != call->node.number ? NULL : call;
}

/* Takes `r`. */
static void take_response(const struct message *in, const struct rpc_message *m, cleat_result *r)
{
	cleat_call *call = addressee(in, m);

	if (!call && m->kind == RPC_ERROR)
		call = owner_of_error(in, m);
	if (!call) {
		unknown_response(in, m);
		cleat_result_free(r);
		return;
	}
	r->shape = call->shape;
	r->http_status = in->http_status;
	if (m->kind == RPC_RESULT)
		answer_result(call, r, m->result, in->http_status);
	else
		answer_error(call, r, m->error, in->http_status);
}

/* What an error says that is not one by the rules; absent: nothing. */
static struct str broken_text(const struct rpc_message *m)
{
	const cleat_json *error = json_member(m->root, "error");

	return json_str(json_is_string(error) ? error : json_member(error, "message"));
}

/* Something like a response that breaks a rule: the call that it is for has to end all the same. */
static COLD void take_broken(const struct message *in, const struct rpc_message *m,
			     const cleat_error *why, cleat_result *r)
{
	cleat_client *c = in->client;
	bool response = m->kind == RPC_RESULT || m->kind == RPC_ERROR;
	cleat_call *call = response ? addressee(in, m) : NULL;
	struct str said;
	cleat_error err;

	if (!call && m->kind == RPC_ERROR && m->error)
		call = owner_of_error(in, m);
	if (call && m->kind == RPC_ERROR && m->error && !m->id) {
		r->shape = call->shape;
		answer_error(call, r, m->error, in->http_status);
		return;
	}
	/* The body of an HTTP answer can only be about what was posted; but of one that is a request or a
	 * notification the link says so. */
	if (!call && (response ? !is_others(in, m) : !in->event && m->kind == RPC_INVALID))
		call = call_by_tag(c, in->tag);
	if (!call) {
		client_note(c, CLEAT_LOG_WARNING, "a message was ignored: %s", why->message);
		cleat_result_free(r);
		return;
	}
	said = shown(broken_text(m));
	error_set(&err, CLEAT_EPROTO, "the server's answer is no JSON-RPC response: %s%s%.*s%s",
		  why->message, said.n ? "; it says \"" : "", (int)said.n, said.p ? said.p : "",
		  said.n ? "\"" : "");
	cleat_result_free(r);
	call_abandon(call, "the answer is none");
	call_fail_error(call, CLEAT_STEP_PROTOCOL, in->http_status, &err);
}

/* ---- all ------------------------------------------------------------------------------------ */

/* Takes `r`, in whose arena the value is. */
static void intake_take(const struct message *in, const cleat_json *value, cleat_result *r)
{
	static const struct rpc_rules rules = { .no_lookalikes = true, .named_params = true };
	struct rpc_message m;
	cleat_error err;

	if (rpc_classify(value, &rules, &m, &err) != CLEAT_OK) {
		take_broken(in, &m, &err, r);
		return;
	}
	if (m.null_beside)
		client_remark(
			in->client, REMARK_NULL,
			"the server's answers have \"result\" and \"error\", one of them null, which is "
			"overlooked");
	if (m.kind == RPC_RESULT || m.kind == RPC_ERROR) {
		take_response(in, &m, r);
		return;
	}
	if (m.kind == RPC_REQUEST)
		asked_request(in->client, &m, value, in->tag);
	else
		notify_take(in->client, &m, value, in->tag);
	cleat_result_free(r);
}

static void take_member(const struct message *in, const cleat_json *value)
{
	cleat_result *r = result_new(&in->client->mem, RESULT_OTHER);
	const cleat_json *copy;

	if (r && json_copy(&r->arena, value, &copy) == CLEAT_OK) {
		intake_take(in, copy, r);
		return;
	}
	cleat_result_free(r);
	client_note(in->client, CLEAT_LOG_ERROR, "a message was lost: out of memory");
}

/* 2025-03-26 basic/index: clients MUST support receiving batches. No other revision has them. */
static void take_batch(const struct message *in, const cleat_json *array, cleat_result *r)
{
	cleat_client *c = in->client;
	struct message member = *in;
	cleat_json_iter it = cleat_json_each(array);
	cleat_error err;

	if (c->rev == REV_NONE || !(revision_features(c->rev) & FEAT_BATCH) ||
	    !cleat_json_size(array) || cleat_json_size(array) > MAX_BATCH) {
		error_set(&err, CLEAT_EPROTO, "an array is no message in this revision");
		unreadable(in, &err);
	} else {
		while (cleat_json_next(&it))
			take_member(&member, it.value);
	}
	cleat_result_free(r);
}

/* Over a limit: without the entries of a list that are too deep it may be within. */
static COLD bool trimmed(const struct message *in, cleat_result *r, struct str *ret)
{
	cleat_client *c = in->client;
	cleat_call *call = in->tag ? call_by_tag(c, in->tag) : call_by_number(c, peek_id(in->text));

	return call && trim_list(call, &r->arena, in->text, ret);
}

static void read_message(const struct message *in)
{
	cleat_client *c = in->client;
	cleat_result *r = result_new(&c->mem, RESULT_OTHER);
	cleat_error err = { .status = CLEAT_ENOMEM, .message = "out of memory" };
	const cleat_json *value;
	unsigned mended = 0;
	int rc = CLEAT_ENOMEM;
	struct str text;

	if (r)
		rc = json_parse_peer(&r->arena, in->text, &c->opts.json, &value, &mended, &err);
	if (mended)
		client_remark(c, (unsigned)REMARK_JSON << mended, json_mended_words(mended));
	if (rc == CLEAT_ELIMIT && trimmed(in, r, &text))
		rc = json_parse_peer(&r->arena, text, &c->opts.json, &value, &mended, &err);
	if (rc != CLEAT_OK) {
		cleat_result_free(r);
		unreadable(in, &err);
	} else if (json_is_array(value)) {
		take_batch(in, value, r);
	} else {
		intake_take(in, value, r);
	}
}

void intake_message(void *ctx, struct str text, void *tag, int http_status)
{
	cleat_client *c = ctx;
	bool event = tag && !http_status;
	struct message in = { c, text, tag, event ? STREAM_STATUS : http_status, event };

	client_enter(c);
	if (c->opts.on_message)
		c->opts.on_message(c, false, text.p, text.n, c->opts.userdata);
	/* Some servers answer notifications with a body; it says the same as 202. */
	if (negotiation_sent(&c->neg, tag))
		negotiate_accepted(c);
	else
		read_message(&in);
	client_leave(c);
}
