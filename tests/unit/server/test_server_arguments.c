/* test_server_arguments.c - what a handler is given: arguments, defaults, records, variables. */
#include "test.h"
#include "unit/server/server_reply_rig.h"

static int defaults(cleat_request *req)
{
	assert_int_equal(cleat_arg_int(req, "n"), 4);
	assert_int_equal((int)cleat_arg_num(req, "n"), 4);
	assert_string_equal(cleat_arg_str(req, "n"), ""); /* of another type */
	assert_false(cleat_arg_given(req, "n"));
	assert_string_equal(cleat_arg_str(req, "s"), "");
	assert_null(cleat_arg(req, "s"));
	assert_false(cleat_arg_bool(req, "f"));
	assert_int_equal(cleat_json_size(cleat_arg(req, "list")), 1);
	assert_null(cleat_arg(req, "nonsense"));
	assert_null(cleat_request_args(req));
	assert_string_equal(cleat_request_uri(req), "");
	assert_string_equal(cleat_request_var(req, "a"), "");
	assert_string_equal(cleat_request_completing(req), "");
	assert_string_equal(cleat_request_method(req), "tools/call");
	assert_string_equal(cleat_request_name(req), "sig");
	assert_string_equal(cleat_request_revision(req), "2025-11-25");
	assert_string_equal(cleat_request_client_name(req), "bench");
	assert_string_equal(cleat_request_client_version(req), "7");
	assert_null(cleat_request_meta(req));
	return cleat_reply_text(req, "ok");
}

static int given(cleat_request *req)
{
	assert_int_equal(cleat_arg_int(req, "n"), 9);
	assert_true(cleat_arg_given(req, "n"));
	assert_string_equal(cleat_arg_str(req, "s"), "text");
	assert_true(cleat_arg_bool(req, "f"));
	assert_true(cleat_arg_num(req, "x") == -1.5e3);
	assert_int_equal(cleat_json_size(cleat_arg(req, "list")), 0);
	assert_non_null(cleat_request_meta(req));
	return cleat_reply_text(req, "ok");
}

RIG_TEST(arguments_with_and_without_defaults)
{
	open_rig(r, "2025-11-25", 0);
	assert_has(run(r, defaults, CALL("1", "sig", "{}")), "ok");
	assert_has(run(r, defaults, REQUEST("1", "tools/call", "\"name\":\"sig\"")), "ok");
	assert_has(
		run(r, given,
		    REQUEST("1", "tools/call",
			    "\"name\":\"sig\",\"_meta\":{},\"arguments\":{\"n\":9,\"s\":\"text\","
			    "\"f\":true,\"x\":-1.5e3,\"list\":[]}")),
		"ok");
	assert_has(run(r, given, CALL("1", "sig", "{\"n\":10}")), "isError");
	assert_has(run(r, given, CALL("1", "sig", "{\"m\":1}")), "isError");
	assert_has(run(r, given, CALL("1", "sig", "[]")), "-32602");
	assert_has(run(r, given, CALL("1", "sig", "{\"n\":1,\"n\":2}")), "\"id\":1");
	assert_has(run(r, nothing, CALL("1", "t", "{\"x\":1}")), "isError"); /* takes none */
	assert_has(run(r, nothing, CALL("1", "free", "{\"x\":1}")), "\"content\":[]");
}

static int decoded(cleat_request *req)
{
	const struct place *p = cleat_request_args(req);

	assert_non_null(p);
	return cleat_reply_textf(req, "%s %d %d %.2f %lld", p->city, p->days, p->sure, p->share,
				 (long long)cleat_arg_int(req, "days"));
}

static int converted(cleat_request *req)
{
	return cleat_reply_textf(req, "%lld %d %.1f <%s>", (long long)cleat_arg_int(req, "n"),
				 cleat_arg_bool(req, "f"), cleat_arg_num(req, "x"),
				 cleat_arg_str(req, "s"));
}

/* Prompt arguments are strings on the wire; the program gets what it declared. */
RIG_TEST(prompt_arguments_are_converted_checked_and_decoded)
{
	open_rig(r, "2025-11-25", 0);
	run(r, decoded,
	    REQUEST("1", "prompts/get",
		    "\"name\":\"p\",\"arguments\":{\"city\":\"12\",\"days\":\"5\",\"sure\":\"true\","
		    "\"share\":\"1e-1\"}"));
	assert_has(r->out, "12 5 1 0.10 5");
	run(r, decoded,
	    REQUEST("1", "prompts/get", "\"name\":\"p\",\"arguments\":{\"city\":\"x\"}"));
	assert_has(r->out, "x 3 0 0.00 3");
	run(r, converted,
	    REQUEST("1", "prompts/get",
		    "\"name\":\"ps\",\"arguments\":{\"n\":\"-3\",\"f\":\"true\",\"x\":\"2.5\",\"s\":\"7\"}"));
	assert_has(r->out, "-3 1 2.5 <7>");
	run(r, converted, REQUEST("1", "prompts/get", "\"name\":\"ps\""));
	assert_has(r->out, "0 0 0.0 <>");
	/* 2025-11-25 server/prompts: -32602 for invalid and missing arguments */
	run(r, decoded, REQUEST("1", "prompts/get", "\"name\":\"p\""));
	assert_has(r->out, "-32602");
	assert_has(r->out, "city");
	run(r, decoded,
	    REQUEST("1", "prompts/get",
		    "\"name\":\"p\",\"arguments\":{\"city\":\"x\",\"days\":\"many\"}"));
	assert_has(r->out, "-32602");
	run(r, converted,
	    REQUEST("1", "prompts/get", "\"name\":\"ps\",\"arguments\":{\"f\":\"maybe\"}"));
	assert_has(r->out, "-32602");
}

static int variables(cleat_request *req)
{
	return cleat_reply_textf(req, "%s|%s|%s|%s", cleat_request_uri(req),
				 cleat_request_var(req, "a"), cleat_request_var(req, "b"),
				 cleat_request_var(req, "c"));
}

RIG_TEST(template_variables)
{
	open_rig(r, "2025-11-25", 0);
	run(r, variables, REQUEST("1", "resources/read", "\"uri\":\"v://x%20y/z\""));
	assert_has(r->out, "\"text\":\"v://x%20y/z|x y|z|\"");
	assert_has(r->out, "\"uri\":\"v://x%20y/z\"");
	run(r, variables, REQUEST("1", "resources/read", "\"uri\":\"v://x\""));
	assert_has(r->out, "-32002");
	run(r, variables, REQUEST("1", "resources/read", "\"uri\":\"v://x\\u0000/y\""));
	assert_has(r->out, "-32602");
}
