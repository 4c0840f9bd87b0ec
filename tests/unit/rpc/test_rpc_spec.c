/* tests/unit/test_rpc_spec.c - the examples of the JSON-RPC 2.0 specification, section 7, one test
 * each, compared byte for byte but for white space. The order of members is free, so answers are
 * written again in the order of the examples; `error.data`, which the examples do not show, must be
 * an object with a text in `details` and is left out of the comparison.
 */
#include "test.h"
#include "unit/rpc/test_rpc.h"

#include "json/writer.h"

static void rewrite_error(struct jw *w, const cleat_json *error)
{
	const cleat_json *data = cleat_json_get(error, "data");

	assert_int_equal(cleat_json_size(error), data ? 3 : 2);
	if (data)
		assert_non_null(cleat_json_str(cleat_json_get(data, "details"), NULL));
	jw_obj(w);
	jw_kv_value(w, "code", cleat_json_get(error, "code"));
	jw_kv_value(w, "message", cleat_json_get(error, "message"));
	jw_obj_end(w);
}

static void rewrite_one(struct jw *w, const cleat_json *m)
{
	assert_int_equal(cleat_json_type(m), CLEAT_JSON_OBJECT);
	assert_int_equal(cleat_json_size(m), 3);
	jw_obj(w);
	jw_kv_value(w, "jsonrpc", cleat_json_get(m, "jsonrpc"));
	jw_kv_value(w, "result", cleat_json_get(m, "result"));
	if (cleat_json_get(m, "error")) {
		jw_key(w, "error");
		rewrite_error(w, cleat_json_get(m, "error"));
	}
	jw_kv_value(w, "id", cleat_json_get(m, "id"));
	jw_obj_end(w);
}

static void rewrite(struct buf *b, const char *text)
{
	cleat_doc *doc = rig_parse(text);
	const cleat_json *root = cleat_doc_root(doc);
	cleat_json_iter it = cleat_json_each(root);
	struct jw w;

	jw_init(&w, b);
	if (cleat_json_type(root) == CLEAT_JSON_ARRAY) {
		jw_arr(&w);
		while (cleat_json_next(&it))
			rewrite_one(&w, it.value);
		jw_arr_end(&w);
	} else {
		rewrite_one(&w, root);
	}
	buf_putc(b, '\0');
	assert_int_equal(buf_status(b), CLEAT_OK);
	cleat_doc_free(doc);
}

/* White space between tokens goes, white space in strings stays. */
static void squeeze(const char *from, char *to)
{
	bool quoted = false;

	for (; *from; from++) {
		if (*from == '"')
			quoted = !quoted;
		if (quoted || !strchr(" \n\t", *from))
			*to++ = *from;
	}
	*to = '\0';
}

/* --> request, <-- answer (NULL: none) */
static void example(const char *request, const char *answer)
{
	char expected[2048];
	struct rig rig;
	struct buf b;

	rig_open(&rig, NULL);
	buf_init(&b, NULL, 65536);
	rig_in(&rig, json_of(request));
	assert_int_equal(rig.n_out, answer ? 1 : 0);
	if (answer) {
		assert_true(strlen(answer) < sizeof expected);
		squeeze(json_of(answer), expected);
		rewrite(&b, rig.out[0]);
		assert_string_equal(buf_str(&b).p, expected);
	}
	buf_done(&b);
	rig_close(&rig);
}

TEST(positional_parameters)
{
	example("{'jsonrpc': '2.0', 'method': 'subtract', 'params': [42, 23], 'id': 1}",
		"{'jsonrpc': '2.0', 'result': 19, 'id': 1}");
	example("{'jsonrpc': '2.0', 'method': 'subtract', 'params': [23, 42], 'id': 2}",
		"{'jsonrpc': '2.0', 'result': -19, 'id': 2}");
}

TEST(named_parameters)
{
	example("{'jsonrpc': '2.0', 'method': 'subtract', 'params': {'subtrahend': 23, 'minuend': "
		"42}, 'id': 3}",
		"{'jsonrpc': '2.0', 'result': 19, 'id': 3}");
	example("{'jsonrpc': '2.0', 'method': 'subtract', 'params': {'minuend': 42, 'subtrahend': "
		"23}, 'id': 4}",
		"{'jsonrpc': '2.0', 'result': 19, 'id': 4}");
}

TEST(a_notification)
{
	example("{'jsonrpc': '2.0', 'method': 'update', 'params': [1,2,3,4,5]}", NULL);
	example("{'jsonrpc': '2.0', 'method': 'foobar'}", NULL);
}

TEST(non_existent_method)
{
	example("{'jsonrpc': '2.0', 'method': 'foobar', 'id': '1'}",
		"{'jsonrpc': '2.0', 'error': {'code': -32601, 'message': 'Method not found'}, 'id':"
		" '1'}");
}

TEST(invalid_json)
{
	example("{'jsonrpc': '2.0', 'method': 'foobar, 'params': 'bar', 'baz]",
		"{'jsonrpc': '2.0', 'error': {'code': -32700, 'message': 'Parse error'}, 'id': "
		"null}");
}

TEST(invalid_request_object)
{
	example("{'jsonrpc': '2.0', 'method': 1, 'params': 'bar'}",
		"{'jsonrpc': '2.0', 'error': {'code': -32600, 'message': 'Invalid Request'}, 'id': "
		"null}");
}

TEST(batch_with_invalid_json)
{
	example("[\n  {'jsonrpc': '2.0', 'method': 'sum', 'params': [1,2,4], 'id': '1'},\n  {"
		"'jsonrpc': '2.0', 'method'\n]",
		"{'jsonrpc': '2.0', 'error': {'code': -32700, 'message': 'Parse error'}, 'id': "
		"null}");
}

TEST(empty_array)
{
	example("[]",
		"{'jsonrpc': '2.0', 'error': {'code': -32600, 'message': 'Invalid Request'}, 'id': "
		"null}");
}

TEST(invalid_batch_but_not_empty)
{
	example("[1]",
		"[\n  {'jsonrpc': '2.0', 'error': {'code': -32600, 'message': 'Invalid Request'}, "
		"'id': null}\n]");
}

TEST(invalid_batch)
{
	example("[1,2,3]",
		"[\n  {'jsonrpc': '2.0', 'error': {'code': -32600, 'message': 'Invalid Request'}, "
		"'id': null},\n  {'jsonrpc': '2.0', 'error': {'code': -32600, 'message': 'Invalid "
		"Request'}, 'id': null},\n  {'jsonrpc': '2.0', 'error': {'code': -32600, 'message':"
		" 'Invalid Request'}, 'id': null}\n]");
}

TEST(a_batch)
{
	example("[\n  {'jsonrpc': '2.0', 'method': 'sum', 'params': [1,2,4], 'id': '1'},\n  {"
		"'jsonrpc': '2.0', 'method': 'notify_hello', 'params': [7]},\n  {'jsonrpc': '2.0', "
		"'method': 'subtract', 'params': [42,23], 'id': '2'},\n  {'foo': 'boo'},\n  {"
		"'jsonrpc': '2.0', 'method': 'foo.get', 'params': {'name': 'myself'}, 'id': '5'},"
		"\n  {'jsonrpc': '2.0', 'method': 'get_data', 'id': '9'} \n]",
		"[\n  {'jsonrpc': '2.0', 'result': 7, 'id': '1'},\n  {'jsonrpc': '2.0', 'result': "
		"19, 'id': '2'},\n  {'jsonrpc': '2.0', 'error': {'code': -32600, 'message': "
		"'Invalid Request'}, 'id': null},\n  {'jsonrpc': '2.0', 'error': {'code': -32601, "
		"'message': 'Method not found'}, 'id': '5'},\n  {'jsonrpc': '2.0', 'result': ["
		"'hello', 5], 'id': '9'}\n]");
}

TEST(batch_of_notifications)
{
	example("[\n  {'jsonrpc': '2.0', 'method': 'notify_sum', 'params': [1,2,4]},\n  {'jsonrpc':"
		" '2.0', 'method': 'notify_hello', 'params': [7]}\n]",
		NULL);
}
