/* tests/unit/test_rpc.h - a JSON-RPC peer on the bench: what it sends, notices and is answered is
 * written down. Not thread-safe, one per test.
 */
#ifndef TESTS_TEST_RPC_H
#define TESTS_TEST_RPC_H

#include "support.h"
#include "test.h"

#include <cleat/rpc.h>

#include <stdlib.h>
#include <string.h>

#define V "\"jsonrpc\":\"2.0\","

enum { RIG_MAX = 64 };

struct rig {
	cleat_rpc *rpc;
	char *out[RIG_MAX]; /* messages sent */
	size_t n_out;
	size_t reads; /* of out, by rig_next */
	cleat_error notices[RIG_MAX];
	size_t n_notices;
	int send_status;
	void (*during_send)(struct rig *rig);
	cleat_rpc_call *deferred[RIG_MAX];
	size_t n_deferred;
	int responses; /* callbacks */
	cleat_error last;
	int64_t last_id;
	char last_result[256]; /* JSON text */
	bool in_request;
};

static inline int rig_send(void *userdata, const char *bytes, size_t n)
{
	struct rig *rig = userdata;

	assert_true(rig->n_out < RIG_MAX);
	assert_null(memchr(bytes, '\n', n));
	rig->out[rig->n_out] = malloc(n + 1);
	memcpy(rig->out[rig->n_out], bytes, n);
	rig->out[rig->n_out++][n] = '\0';
	if (rig->during_send)
		rig->during_send(rig);
	return rig->send_status;
}

static inline void rig_notice(void *userdata, const cleat_error *e)
{
	struct rig *rig = userdata;

	if (rig->n_notices < RIG_MAX)
		rig->notices[rig->n_notices++] = *e;
}

static inline void rig_response(void *userdata, const cleat_rpc_response *r)
{
	struct rig *rig = userdata;

	assert_false(rig->in_request);
	rig->responses++;
	rig->last = r->error;
	rig->last_id = r->id;
	rig->last_result[0] = '\0';
	if (r->result) {
		char *text = cleat_json_print(r->result, NULL);

		assert_non_null(text);
		snprintf(rig->last_result, sizeof rig->last_result, "%s", text);
		free(text);
	}
}

static inline int64_t rig_request(struct rig *rig, uint64_t timeout_ms)
{
	cleat_rpc_request_options o = { timeout_ms, rig_response, rig };
	int64_t id;

	rig->in_request = true;
	id = cleat_rpc_request(rig->rpc, &o, "x", NULL);
	rig->in_request = false;
	return id;
}

static inline void rig_reply(struct rig *rig, size_t deferred, const char *text)
{
	assert_int_equal(cleat_rpc_replyf(rig->deferred[deferred], "%s", text), CLEAT_OK);
}

/* ---- methods ---- */

static inline int rig_subtract(cleat_rpc_call *call)
{
	int64_t a = cleat_json_int(cleat_rpc_param(call, 0, "minuend"), 0);
	int64_t b = cleat_json_int(cleat_rpc_param(call, 1, "subtrahend"), 0);

	return cleat_rpc_replyf(call, "%jd", (intmax_t)(a - b));
}

static inline int rig_sum(cleat_rpc_call *call)
{
	cleat_json_iter it = cleat_json_each(cleat_rpc_call_params(call));
	int64_t sum = 0;

	while (cleat_json_next(&it))
		sum += cleat_json_int(it.value, 0);
	return cleat_rpc_replyf(call, "%jd", (intmax_t)sum);
}

static inline int rig_echo(cleat_rpc_call *call)
{
	return cleat_rpc_reply(call, cleat_rpc_call_params(call));
}

static inline int rig_get_data(cleat_rpc_call *call)
{
	return cleat_rpc_replyf(call, "['hello', %d]", 5);
}

static inline int rig_later(cleat_rpc_call *call)
{
	struct rig *rig = cleat_rpc_userdata(call);

	assert_true(rig->n_deferred < RIG_MAX);
	rig->deferred[rig->n_deferred++] = call;
	return CLEAT_PENDING;
}

static inline int rig_mute(cleat_rpc_call *call)
{
	(void)call;
	return CLEAT_OK;
}

static inline int rig_fail(cleat_rpc_call *call)
{
	(void)call;
	return CLEAT_EIO;
}

/* ---- the bench ---- */

/* Registers what all tests use; stops at the first failure (out of memory). */
static inline int rig_methods(struct rig *rig)
{
	static const struct {
		const char *name;
		cleat_rpc_handler *handler;
	} methods[] = {
		{ "subtract", rig_subtract }, { "sum", rig_sum },           { "echo", rig_echo },
		{ "get_data", rig_get_data }, { "later", rig_later },       { "mute", rig_mute },
		{ "fail", rig_fail },         { "notify_hello", rig_mute }, { "update", rig_mute },
		{ "notify_sum", rig_mute },
	};
	int rc = CLEAT_OK;

	for (size_t i = 0; rc == CLEAT_OK && i < CLEAT_COUNT(methods); i++)
		rc = cleat_rpc_on(rig->rpc, methods[i].name, methods[i].handler, rig);
	return rc;
}

static inline cleat_rpc_options rig_options(struct rig *rig)
{
	return (cleat_rpc_options){ .send = rig_send, .on_notice = rig_notice, .userdata = rig };
}

static inline void rig_open(struct rig *rig, const cleat_rpc_options *opts)
{
	cleat_rpc_options plain = rig_options(rig);

	memset(rig, 0, sizeof *rig);
	rig->rpc = cleat_rpc_new(opts ? opts : &plain);
	assert_non_null(rig->rpc);
	assert_int_equal(rig_methods(rig), CLEAT_OK);
}

static inline void rig_forget_output(struct rig *rig)
{
	for (size_t i = 0; i < rig->n_out; i++)
		free(rig->out[i]);
	rig->n_out = rig->reads = 0;
}

static inline void rig_close(struct rig *rig)
{
	cleat_rpc_free(rig->rpc);
	rig_forget_output(rig);
}

static inline int rig_in(struct rig *rig, const char *message)
{
	return cleat_rpc_receive(rig->rpc, message, strlen(message));
}

/* The next message that was sent; NULL when there is none. */
static inline const char *rig_next(struct rig *rig)
{
	return rig->reads < rig->n_out ? rig->out[rig->reads++] : NULL;
}

static inline void rig_expect(struct rig *rig, const char *message)
{
	const char *got = rig_next(rig);

	assert_non_null(got);
	assert_string_equal(got, message);
}

static inline void rig_expect_nothing(struct rig *rig)
{
	const char *got = rig_next(rig);

	if (got)
		fail_msg("not expected: %s", got);
}

static inline cleat_doc *rig_parse(const char *text)
{
	cleat_doc *doc = cleat_doc_parse(text, strlen(text), NULL, NULL, NULL);

	if (!doc)
		fail_msg("not JSON: %s", text);
	return doc;
}

/* The next message is an error with this code and this id (JSON text; NULL: no such member).
 * Returns its data.details, in a buffer that the next call reuses. */
static inline const char *rig_expect_error(struct rig *rig, int code, const char *id)
{
	static char details[512];
	const char *got = rig_next(rig);
	const cleat_json *error;
	cleat_doc *doc;
	char *id_text;

	if (!got)
		fail_msg("nothing was answered, %d expected", code);
	doc = rig_parse(got);
	error = cleat_json_get(cleat_doc_root(doc), "error");
	assert_int_equal(cleat_json_int(cleat_json_get(error, "code"), 0), code);
	id_text = cleat_json_print(cleat_json_get(cleat_doc_root(doc), "id"), NULL);
	if (id)
		assert_string_equal(id_text ? id_text : "(absent)", id);
	else
		assert_null(id_text);
	snprintf(details, sizeof details, "%s",
		 cleat_json_str(cleat_json_get(cleat_json_get(error, "data"), "details"), ""));
	free(id_text);
	cleat_doc_free(doc);
	return details;
}

/* A case on a rig; PLAIN: which it opens itself. */
#define RIG_TEST(name)       TEST_ON(name, struct rig, rig, rig_open(rig, NULL), rig_close)
#define RIG_TEST_PLAIN(name) TEST_ON(name, struct rig, rig, (void)0, rig_close)

#endif
