/* tests/unit/test_rpc_spec.c - the examples of the JSON-RPC 2.0 specification, section 7, one test
 * each, compared byte for byte but for white space. The order of members is free, so answers are
 * written again in the order of the examples; `error.data`, which the examples do not show, must be
 * an object with a text in `details` and is left out of the comparison.
 */
#include "test_rpc.h"

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
	rig_in(&rig, request);
	assert_int_equal(rig.n_out, answer ? 1 : 0);
	if (answer) {
		assert_true(strlen(answer) < sizeof expected);
		squeeze(answer, expected);
		rewrite(&b, rig.out[0]);
		assert_string_equal(buf_str(&b).p, expected);
	}
	buf_done(&b);
	rig_close(&rig);
}

static void positional_parameters(void **state)
{
	(void)state;
	example("{\"jsonrpc\": \"2.0\", \"method\": \"subtract\", \"params\": [42, 23], \"id\": 1}",
		"{\"jsonrpc\": \"2.0\", \"result\": 19, \"id\": 1}");
	example("{\"jsonrpc\": \"2.0\", \"method\": \"subtract\", \"params\": [23, 42], \"id\": 2}",
		"{\"jsonrpc\": \"2.0\", \"result\": -19, \"id\": 2}");
}

static void named_parameters(void **state)
{
	(void)state;
	example("{\"jsonrpc\": \"2.0\", \"method\": \"subtract\", \"params\": {\"subtrahend\": 23, "
		"\"minuend\": 42}, \"id\": 3}",
		"{\"jsonrpc\": \"2.0\", \"result\": 19, \"id\": 3}");
	example("{\"jsonrpc\": \"2.0\", \"method\": \"subtract\", \"params\": {\"minuend\": 42, "
		"\"subtrahend\": 23}, \"id\": 4}",
		"{\"jsonrpc\": \"2.0\", \"result\": 19, \"id\": 4}");
}

static void a_notification(void **state)
{
	(void)state;
	example("{\"jsonrpc\": \"2.0\", \"method\": \"update\", \"params\": [1,2,3,4,5]}", NULL);
	example("{\"jsonrpc\": \"2.0\", \"method\": \"foobar\"}", NULL);
}

static void non_existent_method(void **state)
{
	(void)state;
	example("{\"jsonrpc\": \"2.0\", \"method\": \"foobar\", \"id\": \"1\"}",
		"{\"jsonrpc\": \"2.0\", \"error\": {\"code\": -32601, \"message\": \"Method not "
		"found\"}, \"id\": \"1\"}");
}

static void invalid_json(void **state)
{
	(void)state;
	example("{\"jsonrpc\": \"2.0\", \"method\": \"foobar, \"params\": \"bar\", \"baz]",
		"{\"jsonrpc\": \"2.0\", \"error\": {\"code\": -32700, \"message\": \"Parse error\"}, "
		"\"id\": null}");
}

static void invalid_request_object(void **state)
{
	(void)state;
	example("{\"jsonrpc\": \"2.0\", \"method\": 1, \"params\": \"bar\"}",
		"{\"jsonrpc\": \"2.0\", \"error\": {\"code\": -32600, \"message\": \"Invalid "
		"Request\"}, \"id\": null}");
}

static void batch_with_invalid_json(void **state)
{
	(void)state;
	example("[\n"
		"  {\"jsonrpc\": \"2.0\", \"method\": \"sum\", \"params\": [1,2,4], \"id\": \"1\"},\n"
		"  {\"jsonrpc\": \"2.0\", \"method\"\n"
		"]",
		"{\"jsonrpc\": \"2.0\", \"error\": {\"code\": -32700, \"message\": \"Parse error\"}, "
		"\"id\": null}");
}

static void empty_array(void **state)
{
	(void)state;
	example("[]", "{\"jsonrpc\": \"2.0\", \"error\": {\"code\": -32600, \"message\": \"Invalid "
		      "Request\"}, \"id\": null}");
}

static void invalid_batch_but_not_empty(void **state)
{
	(void)state;
	example("[1]", "[\n"
		       "  {\"jsonrpc\": \"2.0\", \"error\": {\"code\": -32600, \"message\": "
		       "\"Invalid Request\"}, \"id\": null}\n"
		       "]");
}

static void invalid_batch(void **state)
{
	(void)state;
	example("[1,2,3]",
		"[\n"
		"  {\"jsonrpc\": \"2.0\", \"error\": {\"code\": -32600, \"message\": \"Invalid "
		"Request\"}, \"id\": null},\n"
		"  {\"jsonrpc\": \"2.0\", \"error\": {\"code\": -32600, \"message\": \"Invalid "
		"Request\"}, \"id\": null},\n"
		"  {\"jsonrpc\": \"2.0\", \"error\": {\"code\": -32600, \"message\": \"Invalid "
		"Request\"}, \"id\": null}\n"
		"]");
}

static void a_batch(void **state)
{
	(void)state;
	example("[\n"
		"  {\"jsonrpc\": \"2.0\", \"method\": \"sum\", \"params\": [1,2,4], \"id\": \"1\"},\n"
		"  {\"jsonrpc\": \"2.0\", \"method\": \"notify_hello\", \"params\": [7]},\n"
		"  {\"jsonrpc\": \"2.0\", \"method\": \"subtract\", \"params\": [42,23], \"id\": "
		"\"2\"},\n"
		"  {\"foo\": \"boo\"},\n"
		"  {\"jsonrpc\": \"2.0\", \"method\": \"foo.get\", \"params\": {\"name\": "
		"\"myself\"}, \"id\": \"5\"},\n"
		"  {\"jsonrpc\": \"2.0\", \"method\": \"get_data\", \"id\": \"9\"} \n"
		"]",
		"[\n"
		"  {\"jsonrpc\": \"2.0\", \"result\": 7, \"id\": \"1\"},\n"
		"  {\"jsonrpc\": \"2.0\", \"result\": 19, \"id\": \"2\"},\n"
		"  {\"jsonrpc\": \"2.0\", \"error\": {\"code\": -32600, \"message\": \"Invalid "
		"Request\"}, \"id\": null},\n"
		"  {\"jsonrpc\": \"2.0\", \"error\": {\"code\": -32601, \"message\": \"Method not "
		"found\"}, \"id\": \"5\"},\n"
		"  {\"jsonrpc\": \"2.0\", \"result\": [\"hello\", 5], \"id\": \"9\"}\n"
		"]");
}

static void batch_of_notifications(void **state)
{
	(void)state;
	example("[\n"
		"  {\"jsonrpc\": \"2.0\", \"method\": \"notify_sum\", \"params\": [1,2,4]},\n"
		"  {\"jsonrpc\": \"2.0\", \"method\": \"notify_hello\", \"params\": [7]}\n"
		"]",
		NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(positional_parameters),
		cmocka_unit_test(named_parameters),
		cmocka_unit_test(a_notification),
		cmocka_unit_test(non_existent_method),
		cmocka_unit_test(invalid_json),
		cmocka_unit_test(invalid_request_object),
		cmocka_unit_test(batch_with_invalid_json),
		cmocka_unit_test(empty_array),
		cmocka_unit_test(invalid_batch_but_not_empty),
		cmocka_unit_test(invalid_batch),
		cmocka_unit_test(a_batch),
		cmocka_unit_test(batch_of_notifications),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
