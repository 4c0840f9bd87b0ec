/* tests/unit/test_rpc_message.c - what one JSON value means (rpc/message.h): every rule of the
 * envelope, and the writers.
 */
#include "test.h"
#include "unit/rpc/test_rpc.h"

#include "rpc/message.h"

#define PLAIN                                                                                      \
	{                                                                                          \
		.integer_ids = false, .named_params = false                                        \
	}
#define STRICT                                                                                     \
	{                                                                                          \
		.integer_ids = true, .named_params = true                                          \
	} /* MCP */

struct envelope_case {
	const char *text;
	enum rpc_kind kind;
	int code;       /* 0: fine */
	const char *id; /* JSON text; NULL: none usable */
	struct rpc_rules rules;
};

static void check_case(const struct envelope_case *c)
{
	cleat_doc *doc = rig_parse(json_of(c->text));
	struct rpc_message m;
	cleat_error err = { 0 };
	int rc = rpc_classify(cleat_doc_root(doc), &c->rules, &m, &err);
	char *id = cleat_json_print(m.id, NULL);

	if (rc != (c->code ? CLEAT_EPROTO : CLEAT_OK) || err.rpc_code != c->code ||
	    m.kind != c->kind)
		fail_msg("%s: rc %d code %d kind %d (%s)", c->text, rc, err.rpc_code, (int)m.kind,
			 err.message);
	if (c->code)
		assert_true(err.message[0] != '\0');
	if (!c->id != !id || (id && strcmp(id, json_of(c->id)) != 0))
		fail_msg("%s: id %s", c->text, id ? id : "(none)");
	/* The error record is optional and changes nothing. */
	assert_int_equal(rpc_classify(cleat_doc_root(doc), &c->rules, &m, NULL), rc);
	free(id);
	cleat_doc_free(doc);
}

static void check_all(const struct envelope_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check_case(&cases[i]);
}

/* JSON-RPC 2.0, 4, 4.1 and 5. */
TEST(good_messages_are_told_apart)
{
	static const struct envelope_case cases[] = {
		{ "{" V "'method':'a','id':1}", RPC_REQUEST, 0, "1", PLAIN },
		{ "{" V "'method':'a','id':null}", RPC_REQUEST, 0, "null", PLAIN },
		{ "{" V "'method':'a','id':1.5}", RPC_REQUEST, 0, "1.5", PLAIN },
		{ "{" V "'method':'a','id':''}", RPC_REQUEST, 0, "''", PLAIN },
		{ "{" V "'method':'','id':1}", RPC_REQUEST, 0, "1", PLAIN },
		{ "{" V "'method':'a','id':1,'params':[]}", RPC_REQUEST, 0, "1", PLAIN },
		{ "{" V "'method':'a','id':1,'params':{}}", RPC_REQUEST, 0, "1", STRICT },
		{ "{" V "'method':'a','id':1.0}", RPC_REQUEST, 0, "1.0", STRICT },
		{ "{" V "'method':'a'}", RPC_NOTIFICATION, 0, NULL, STRICT },
		{ "{" V "'result':null,'id':1}", RPC_RESULT, 0, "1", STRICT },
		{ "{" V "'result':1,'error':null,'id':1}", RPC_RESULT, 0, "1", PLAIN },
		{ "{" V "'result':null,'error':{'code':1,'message':''},'id':1}", RPC_ERROR, 0, "1",
		  STRICT },
		{ "{" V "'error':{'code':1,'message':''},'id':'x'}", RPC_ERROR, 0, "'x'", STRICT },
		{ "{" V "'error':{'code':1,'message':''},'id':null}", RPC_ERROR, 0, "null", PLAIN },
		{ "{" V "'error':{'code':-32000,'message':'','data':[]},'id':1}", RPC_ERROR, 0, "1",
		  PLAIN },
	};

	check_all(cases, CLEAT_COUNT(cases));
}

TEST(broken_envelopes_are_refused)
{
	static const struct envelope_case cases[] = {
		/* not an object */
		{ "null", RPC_INVALID, -32600, NULL, PLAIN },
		{ "1", RPC_INVALID, -32600, NULL, PLAIN },
		{ "'2.0'", RPC_INVALID, -32600, NULL, PLAIN },
		{ "[]", RPC_INVALID, -32600, NULL, PLAIN },
		{ "[[1]]", RPC_INVALID, -32600, NULL, PLAIN },
		{ "{}", RPC_INVALID, -32600, NULL, PLAIN },
		/* jsonrpc */
		{ "{'method':'a','id':1}", RPC_INVALID, -32600, "1", PLAIN },
		{ "{'jsonrpc':'1.0','method':'a','id':1}", RPC_INVALID, -32600, "1", PLAIN },
		{ "{'jsonrpc':2.0,'method':'a','id':1}", RPC_INVALID, -32600, "1", PLAIN },
		{ "{'jsonrpc':2,'method':'a','id':1}", RPC_INVALID, -32600, "1", PLAIN },
		{ "{'jsonrpc':null,'method':'a','id':1}", RPC_INVALID, -32600, "1", PLAIN },
		{ "{\"jsonrpc\":\"2.0\\u0000\",\"method\":\"a\",\"id\":1}", RPC_INVALID, -32600,
		  "1", PLAIN },
		{ "{'jsonrpc':'2.0 ','method':'a','id':1}", RPC_INVALID, -32600, "1", PLAIN },
		{ "{'JSONRPC':'2.0','method':'a','id':1}", RPC_INVALID, -32600, "1", PLAIN },
		/* id */
		{ "{" V "'method':'a','id':{}}", RPC_INVALID, -32600, NULL, PLAIN },
		{ "{" V "'method':'a','id':[1]}", RPC_INVALID, -32600, NULL, PLAIN },
		{ "{" V "'method':'a','id':true}", RPC_INVALID, -32600, NULL, PLAIN },
		{ "{" V "'method':'a','id':false}", RPC_INVALID, -32600, NULL, PLAIN },
		{ "{" V "'method':'a','id':null}", RPC_INVALID, -32600, NULL, STRICT },
		{ "{" V "'method':'a','id':1.5}", RPC_INVALID, -32600, NULL, STRICT },
		{ "{" V "'method':'a','id':1e-1}", RPC_INVALID, -32600, NULL, STRICT },
		/* method */
		{ "{" V "'id':1}", RPC_INVALID, -32600, "1", PLAIN },
		{ "{" V "'method':1,'id':1}", RPC_INVALID, -32600, "1", PLAIN },
		{ "{" V "'method':null,'id':1}", RPC_INVALID, -32600, "1", PLAIN },
		{ "{" V "'method':['a'],'id':1}", RPC_INVALID, -32600, "1", PLAIN },
		{ "{" V "\"method\":\"a\\u0000\",\"id\":1}", RPC_INVALID, -32600, "1", PLAIN },
		{ "{" V "'Method':'a','id':1}", RPC_INVALID, -32600, "1", PLAIN },
		{ "{" V "'method':'a','result':1,'id':1}", RPC_INVALID, -32600, "1", PLAIN },
		{ "{" V "'method':'a','error':{'code':1,'message':''},'id':1}", RPC_INVALID, -32600,
		  "1", PLAIN },
		/* params */
		{ "{" V "'method':'a','id':1,'params':'x'}", RPC_INVALID, -32600, "1", PLAIN },
		{ "{" V "'method':'a','id':1,'params':1}", RPC_INVALID, -32600, "1", PLAIN },
		{ "{" V "'method':'a','id':1,'params':null}", RPC_INVALID, -32600, "1", PLAIN },
		{ "{" V "'method':'a','id':1,'params':true}", RPC_INVALID, -32600, "1", PLAIN },
		{ "{" V "'method':'a','params':'x'}", RPC_INVALID, -32600, NULL, PLAIN },
		{ "{" V "'method':'a','id':1,'params':[]}", RPC_REQUEST, -32602, "1", STRICT },
		{ "{" V "'method':'a','params':[]}", RPC_NOTIFICATION, -32602, NULL, STRICT },
		/* keys */
		{ "{" V "'method':'a','id':1,'id':1}", RPC_INVALID, -32600, NULL, PLAIN },
		{ "{" V "'method':'a','method':'b','id':1}", RPC_INVALID, -32600, "1", PLAIN },
		{ "{" V V "'method':'a','id':1}", RPC_INVALID, -32600, "1", PLAIN },
		{ "{" V "'method':'a','id':1,'x':1,'x':2}", RPC_INVALID, -32600, "1", PLAIN },
		{ "{" V "\"method\\u0000\":\"a\",\"id\":1}", RPC_INVALID, -32600, "1", PLAIN },
		{ "{" V "\"method\":\"a\",\"id\":1,\"id\\u0000\":2}", RPC_INVALID, -32600, "1",
		  PLAIN },
	};

	check_all(cases, CLEAT_COUNT(cases));
}

/* A broken response is still seen to be one, because a response must never be answered. */
TEST(broken_responses_are_still_responses)
{
	static const struct envelope_case cases[] = {
		{ "{" V "'result':1,'error':{'code':1,'message':''},'id':1}", RPC_RESULT, -32600,
		  "1", PLAIN },
		{ "{" V "'result':null,'error':null,'id':1}", RPC_RESULT, -32600, "1", PLAIN },
		{ "{" V "'result':1}", RPC_RESULT, -32600, NULL, PLAIN },
		{ "{" V "'error':{'code':1,'message':''}}", RPC_ERROR, -32600, NULL, PLAIN },
		{ "{" V "'result':1,'id':null}", RPC_RESULT, -32600, NULL, STRICT },
		{ "{" V "'result':1,'id':[]}", RPC_RESULT, -32600, NULL, PLAIN },
		{ "{" V "'result':1,'id':1,'id':1}", RPC_RESULT, -32600, NULL, PLAIN },
		{ "{" V "'result':1,'result':1,'id':1}", RPC_RESULT, -32600, "1", PLAIN },
		{ "{'result':1,'id':1}", RPC_RESULT, -32600, "1", PLAIN },
		{ "{'jsonrpc':'1.0','error':{'code':1,'message':''},'id':1}", RPC_ERROR, -32600,
		  "1", PLAIN },
		{ "{" V "'error':null,'id':1}", RPC_ERROR, -32600, "1", PLAIN },
		{ "{" V "'error':'no','id':1}", RPC_ERROR, -32600, "1", PLAIN },
		{ "{" V "'error':[],'id':1}", RPC_ERROR, -32600, "1", PLAIN },
		{ "{" V "'error':{},'id':1}", RPC_ERROR, -32600, "1", PLAIN },
		{ "{" V "'error':{'code':1},'id':1}", RPC_ERROR, -32600, "1", PLAIN },
		{ "{" V "'error':{'message':''},'id':1}", RPC_ERROR, -32600, "1", PLAIN },
		{ "{" V "'error':{'code':'1','message':''},'id':1}", RPC_ERROR, -32600, "1",
		  PLAIN },
		{ "{" V "'error':{'code':1.5,'message':''},'id':1}", RPC_ERROR, -32600, "1",
		  PLAIN },
		{ "{" V "'error':{'code':99999999999999999999,'message':''},'id':1}", RPC_ERROR,
		  -32600, "1", PLAIN },
		{ "{" V "'error':{'code':1,'message':1},'id':1}", RPC_ERROR, -32600, "1", PLAIN },
		{ "{" V "'error':{'code':1,'code':2,'message':''},'id':1}", RPC_ERROR, -32600, "1",
		  PLAIN },
		{ "{" V "\"error\":{\"code\":1,\"message\":\"\",\"a\\u0000\":1},\"id\":1}",
		  RPC_ERROR, -32600, "1", PLAIN },
	};

	check_all(cases, CLEAT_COUNT(cases));
}

/* Keys are compared byte for byte: what only looks like "params" is an unknown member. */
TEST(lookalike_keys_are_unknown_members)
{
	cleat_doc *doc =
		rig_parse(json_of("{" V "\"method\":\"a\",\"id\":1,\"Params\":[1],\"param\\u017f\":"
				  "[2],\"Id\":2,\"\\uff4dethod\":\"b\",\"result \":3}"));
	struct rpc_message m;

	assert_int_equal(rpc_classify(cleat_doc_root(doc), NULL, &m, NULL), CLEAT_OK);
	assert_int_equal(m.kind, RPC_REQUEST);
	assert_null(m.params);
	assert_true(str_eqz(m.method, "a"));
	assert_int_equal(cleat_json_int(m.id, 0), 1);
	/* unless the rules say that nothing may look like that */
	assert_int_equal(rpc_classify(cleat_doc_root(doc),
				      &(struct rpc_rules){ .no_lookalikes = true }, &m, NULL),
			 CLEAT_EPROTO);
	cleat_doc_free(doc);
}

TEST(the_members_are_handed_out)
{
	cleat_doc *doc = rig_parse(json_of("{'id':'q','params':{'x':1}," V "'method':'a/b'}"));
	struct rpc_message m;

	assert_int_equal(rpc_classify(cleat_doc_root(doc), NULL, &m, NULL), CLEAT_OK);
	assert_ptr_equal(m.root, cleat_doc_root(doc));
	assert_true(str_eqz(m.method, "a/b"));
	assert_int_equal(cleat_json_int(cleat_json_get(m.params, "x"), 0), 1);
	cleat_doc_free(doc);

	doc = rig_parse(
		json_of("{" V "\"error\":{\"code\":-7,\"message\":\"a\\u0000b\"},\"id\":1}"));
	assert_int_equal(rpc_classify(cleat_doc_root(doc), NULL, &m, NULL), CLEAT_OK);
	assert_int_equal(m.error_code, -7);
	assert_int_equal(m.error_message.n, 3);
	assert_null(m.result);
	cleat_doc_free(doc);

	doc = rig_parse(json_of("{" V "'result':null,'id':1}"));
	assert_int_equal(rpc_classify(cleat_doc_root(doc), NULL, &m, NULL), CLEAT_OK);
	assert_int_equal(cleat_json_type(m.result), CLEAT_JSON_NULL);
	cleat_doc_free(doc);
	assert_int_equal(rpc_classify(NULL, NULL, &m, NULL), CLEAT_EPROTO);
}

/* An id is its type and its token. */
TEST(ids_differ_by_type_and_token)
{
	cleat_doc *doc = rig_parse(
		json_of("[1,1.0,'1',null,'null',-0,0,1e0,'',123456789012345678901234567890,"
			"12345678901234567890123456789]"));
	const cleat_json *list = cleat_doc_root(doc);
	cleat_doc *again = rig_parse(json_of("[\"\\u0031\"]"));

	for (size_t i = 0; i < cleat_json_size(list); i++)
		for (size_t j = 0; j < cleat_json_size(list); j++)
			assert_int_equal(
				rpc_id_equal(cleat_json_at(list, i), cleat_json_at(list, j)),
				i == j);
	assert_true(rpc_id_equal(cleat_json_at(list, 2), cleat_json_at(cleat_doc_root(again), 0)));
	assert_int_equal(rpc_id_hash(cleat_json_at(list, 2), 7),
			 rpc_id_hash(cleat_json_at(cleat_doc_root(again), 0), 7));
	assert_int_not_equal(rpc_id_hash(cleat_json_at(list, 0), 7),
			     rpc_id_hash(cleat_json_at(list, 2), 7));
	assert_int_not_equal(rpc_id_hash(cleat_json_at(list, 0), 7),
			     rpc_id_hash(cleat_json_at(list, 0), 8));
	assert_false(rpc_id_equal(NULL, NULL));
	cleat_doc_free(doc);
	cleat_doc_free(again);
}

static void expect_text(struct buf *b, const char *text)
{
	buf_putc(b, '\0');
	assert_int_equal(buf_status(b), CLEAT_OK);
	assert_string_equal(buf_str(b).p, json_of(text));
	buf_reset(b, SIZE_MAX);
}

TEST(the_writers_write_json_rpc)
{
	cleat_doc *id = rig_parse("1.0");
	const struct str none = { NULL, 0 };
	struct buf b;
	struct jw w;

	buf_init(&b, NULL, 4096);
	jw_init(&w, &b);
	rpc_begin_result(&w, cleat_doc_root(id));
	jw_bool(&w, true);
	rpc_end(&w);
	expect_text(&b, "{'jsonrpc':'2.0','id':1.0,'result':true}");
	jw_init(&w, &b);
	rpc_begin_result(&w, NULL);
	jw_obj(&w);
	jw_obj_end(&w);
	rpc_end(&w);
	expect_text(&b, "{'jsonrpc':'2.0','id':null,'result':{}}");
	jw_init(&w, &b);
	rpc_begin_request(&w, -5, "a\"b");
	rpc_params(&w);
	jw_arr(&w);
	jw_arr_end(&w);
	rpc_end(&w);
	expect_text(&b, "{\"jsonrpc\":\"2.0\",\"id\":-5,\"method\":\"a\\\"b\",\"params\":[]}");
	jw_init(&w, &b);
	rpc_begin_notification(&w, "n");
	rpc_end(&w);
	expect_text(&b, "{'jsonrpc':'2.0','method':'n'}");
	jw_init(&w, &b);
	rpc_write_error(&w, cleat_doc_root(id), false, -1, STR_LIT("m"), STR_LIT("[1]"));
	expect_text(&b, "{'jsonrpc':'2.0','id':1.0,'error':{'code':-1,'message':'m','data':[1]}}");
	jw_init(&w, &b);
	rpc_write_error(&w, NULL, true, -1, none, none);
	expect_text(&b, "{'jsonrpc':'2.0','id':null,'error':{'code':-1,'message':''}}");
	jw_init(&w, &b);
	rpc_write_error(&w, NULL, false, -1, STR_LIT("m"), none);
	expect_text(&b, "{'jsonrpc':'2.0','error':{'code':-1,'message':'m'}}");
	buf_done(&b);
	cleat_doc_free(id);
}
