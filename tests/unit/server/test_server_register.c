/* test_server_register.c - what a server takes and what it refuses when things are registered: names,
 * schemas, fields, signatures, URIs, structs of other sizes; all or nothing, userdata destroyed
 * exactly once, errors that latch. (Lists of them: test_server_lists.c.)
 */
#include "test.h"
#include "unit/server/server_register_rig.h"

/* ---- names -------------------------------------------------------------------------------- */

/* 2025-11-25 server/tools: tool names. */
RIG_TEST(name_of_1_to_128_is_taken)
{
	char name[129] = { 0 };

	rig_server(r, NULL);
	memset(name, 'n', 128);
	assert_int_equal(cleat_server_add_tool(r->s, &(cleat_tool){ .name = name, .call = ok }), 0);
	assert_int_equal(cleat_server_add_tool(r->s, &(cleat_tool){ .name = "x", .call = ok }), 0);
	assert_int_equal(
		cleat_server_add_tool(r->s, &(cleat_tool){ .name = "A-z_0.9", .call = ok }), 0);
	assert_string_equal(r->notes, "");
}

TEST(bad_names_are_refused)
{
	static const struct {
		const char *name, *why;
	} rows[] = {
		{ "", "needs a name" },
		{ NULL, "needs a name" },
		{ "a b", "\"a b\" contains a space" },
		{ "a\nb", "control character" },
		{ "a\x7f", "control character" },
		{ "a\xff", "UTF-8" },
		{ "\xed\xa0\x80", "UTF-8" },
	};
	char name[130] = { 0 };

	memset(name, 'n', 129);
	assert_tool_refused(&(cleat_tool){ .name = name, .call = ok }, CLEAT_EINVAL, "129");
	for (size_t i = 0; i < CLEAT_COUNT(rows); i++)
		assert_tool_refused(&(cleat_tool){ .name = rows[i].name, .call = ok }, CLEAT_EINVAL,
				    rows[i].why);
}

/* Servers in the wild have such names; some clients refuse them. */
RIG_TEST(unusual_name_is_taken_with_a_remark)
{
	rig_server(r, NULL);
	assert_int_equal(
		cleat_server_add_tool(r->s, &(cleat_tool){ .name = "calculator/add", .call = ok }),
		CLEAT_OK);
	assert_has(r->notes, "warning: tool name \"calculator/add\"");
	r->notes[0] = '\0';
	assert_int_equal(cleat_server_add_tool(
				 r->s, &(cleat_tool){ .name = "gr\xc3\xbc\xc3\x9f", .call = ok }),
			 CLEAT_OK);
	assert_has(r->notes, "gr\xc3\xbc\xc3\x9f");
	assert_int_equal(cleat_server_error(r->s)->status, CLEAT_OK);
	rig_wire(r);
	rig_open(r, "2025-11-25");
	assert_has(rig_ask(r, CALL("1", "calculator/add", "{}")), "\"text\":\"ok\"");
	assert_has(rig_ask(r, CALL("2", "gr\\u00fc\xc3\x9f", "{}")), "\"text\":\"ok\"");
}

/* ---- tools -------------------------------------------------------------------------------- */

TEST(bad_tools_are_refused_with_reasons)
{
	struct point {
		int x;
	};
	static const cleat_field fields[] = { CLEAT_FIELD(struct point, x, "X"), CLEAT_FIELD_END };
	static const cleat_field twice[] = { CLEAT_FIELD(struct point, x, "X"),
					     CLEAT_FIELD(struct point, x, "X"), CLEAT_FIELD_END };
	static const char object[] = "{\"type\":\"object\"}";
	const struct {
		const char *why;
		cleat_tool tool; /* with "t" for a name and a handler, unless it has them */
	} rows[] = {
		{ "\"t\": input_schema is not a JSON object", { .input_schema = "{\"type\":" } },
		{ "input_schema", { .input_schema = "" } },
		{ "input_schema is not a JSON object", { .input_schema = "[]" } },
		{ "must say \"type\": \"object\"", { .input_schema = "{}" } },
		{ "must say \"type\": \"object\"", { .input_schema = "{\"type\":\"array\"}" } },
		{ "must say \"type\": \"object\"", { .input_schema = "{\"type\":[\"object\"]}" } },
		{ "output_schema is not a JSON object", { .output_schema = "nonsense" } },
		{ "output_schema is not a JSON object", { .output_schema = "7" } },
		{ "\"t\": meta is not a JSON object", { .meta = "[1]" } },
		{ "meta", { .meta = "{" } },
		{ "one of signature, input and input_schema",
		  { .input = fields, .input_schema = object } },
		{ "one of output and output_schema",
		  { .output = fields, .output_schema = object } },
		{ "\"t\": input: ", { .input = twice } },
		{ "\"t\": output: ", { .output = twice } },
		{ "signature \"add(a: numbr)\"", { .signature = "add(a: numbr)" } },
		{ "name \"sub\" and signature \"add\" differ",
		  { .name = "sub", .signature = "add(a: number)" } },
		{ "one of signature, input and input_schema",
		  { .signature = "add(a: number)", .input = fields } },
	};

	assert_tool_refused(&(cleat_tool){ .name = "t" }, CLEAT_EINVAL,
			    "\"t\" has no call handler");
	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		cleat_tool t = rows[i].tool;

		t.call = ok;
		if (!t.name && !t.signature)
			t.name = "t";
		assert_tool_refused(&t, CLEAT_EINVAL, rows[i].why);
	}
}

/* A schema that cannot be checked against is found when it is registered: wrong keywords, references
 * to nothing, dialects that are not known (2025-11-25 basic, JSON Schema usage), endless ones. */
TEST(schemas_that_do_not_compile_are_refused)
{
	static const struct {
		const char *members; /* beside the type */
		int status;
		const char *why;
	} cases[] = {
		{ "\"properties\":[]", CLEAT_EINVAL, "/properties: expected " },
		{ "\"properties\":{\"n\":{\"type\":\"intger\"}}", CLEAT_EINVAL,
		  "/properties/n/type: " },
		{ "\"properties\":{\"n\":{\"minimum\":\"1\"}}", CLEAT_EINVAL,
		  "/properties/n/minimum: expected a number, got \"1\"" },
		{ "\"required\":\"n\"", CLEAT_EINVAL, "/required: expected " },
		{ "\"$ref\":\"#/$defs/none\"", CLEAT_EINVAL, "/$ref: " },
		{ "\"$ref\":\"https://example.com/far-away\"", CLEAT_EINVAL, "/$ref: " },
		{ "\"$ref\":\"#\"", CLEAT_EINVAL, "leads back to itself" },
		{ "\"properties\":{\"a\":{},\"a\":{}}", CLEAT_EINVAL, "stands twice" },
		{ "\"$schema\":\"https://example.com/dialect\"", CLEAT_EUNSUPPORTED,
		  "not a known dialect" },
		{ "\"$schema\":\"http://json-schema.org/draft-04/schema#\"", CLEAT_EUNSUPPORTED,
		  "not a known dialect" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		cleat_tool t = { .name = "t", .call = ok };
		char schema[256];

		snprintf(schema, sizeof schema, "{\"type\":\"object\",%s}", cases[i].members);
		t.input_schema = schema;
		assert_tool_refused(&t, cases[i].status, "\"t\": input_schema: ");
		assert_tool_refused(&t, cases[i].status, cases[i].why);
		t.input_schema = NULL;
		t.output_schema = schema;
		assert_tool_refused(&t, cases[i].status, "\"t\": output_schema: ");
		assert_tool_refused(&t, cases[i].status, cases[i].why);
	}
}

/* Both dialects, and what they call remarks. A tool is freed with its schemas. */
RIG_TEST(schemas_of_both_dialects_are_taken)
{
	static const char modern[] =
		"{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\","
		"\"$defs\":{\"a\":{\"$ref\":\"#/$defs/a/properties/b\",\"properties\":{\"b\":"
		"{\"$ref\":\"#\"}}}}}";
	static const char old[] =
		"{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"type\":\"object\","
		"\"definitions\":{\"a\":{}},\"properties\":{\"a\":{\"$ref\":\"#/definitions/a\"}}}";
	static const char remarks[] =
		"{\"type\":\"object\",\"x-mine\":{\"type\":7},\"examples\":3,\"title\":null}";
	static const char *const schemas[] = { "{\"type\":\"object\"}", modern, old, remarks };

	rig_server(r, NULL);
	for (size_t i = 0; i < CLEAT_COUNT(schemas); i++) {
		assert_int_equal(
			cleat_server_add_tool(r->s, &(cleat_tool){ .name = "t",
								   .call = ok,
								   .input_schema = schemas[i],
								   .output_schema = schemas[i] }),
			CLEAT_OK);
		assert_int_equal(cleat_server_remove_tool(r->s, "t"), CLEAT_OK);
	}
}

/* Every allocation of a registration with schemas fails once, and from then on. */
TEST(registering_schemas_without_memory_fails_cleanly)
{
	static const char schema[] =
		"{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#/$defs/a\"},\"b\":{"
		"\"enum\":[1,\"x\"]}},\"required\":[\"a\"],\"$defs\":{\"a\":{\"type\":\"string\"}}}";
	const cleat_tool t = {
		.name = "t", .call = ok, .input_schema = schema, .output_schema = schema
	};

	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		cleat_server *s;
		bool hit;
		int rc;

		fail_alloc_calm(&fa);
		s = cleat_server_new("s", "1", &(cleat_server_options){ .allocator = &fa.hook });
		fail_alloc_arm(&fa);
		rc = cleat_server_add_tool(s, &t);
		hit = fail_alloc_hit(&fa);
		assert_int_equal(rc, hit ? CLEAT_ENOMEM : CLEAT_OK);
		fail_alloc_calm(&fa);
		cleat_server_free(s);
	}
}

/* What is passed in is copied: the caller may forget all of it at once. */
RIG_TEST(everything_is_copied)
{
	char name[] = "echo", title[] = "Echo", schema[] = "{\"type\":\"object\",\n \"x\": 1}";
	char meta[] = "{\"k\":\n1}", src[] = "https://i/1.png", sizes[] = "48x48 any";
	cleat_icon icons[] = { { .src = src, .sizes = sizes }, { .src = NULL } };
	cleat_tool t = { .name = name,
			 .title = title,
			 .call = ok,
			 .input_schema = schema,
			 .meta = meta,
			 .icons = icons };
	const char *out;

	rig_server(r, NULL);
	assert_int_equal(cleat_server_add_tool(r->s, &t), CLEAT_OK);
	memset(name, '#', 4);
	memset(title, '#', 4);
	memset(schema, '#', sizeof schema - 1);
	memset(meta, '#', sizeof meta - 1);
	memset(src, '#', sizeof src - 1);
	memset(sizes, '#', sizeof sizes - 1);
	memset(icons, 0, sizeof icons);
	rig_wire(r);
	rig_open(r, "2025-11-25");
	out = rig_ask(r, REQUEST("1", "tools/list", ""));
	assert_one_message(out);
	assert_lacks(out, "#");
	assert_has(out, "\"name\":\"echo\",\"title\":\"Echo\"");
	assert_has(out, "\"inputSchema\":{\"type\":\"object\",\"x\":1}");
	assert_has(out, "\"_meta\":{\"k\":1}");
	assert_has(out, "\"icons\":[{\"src\":\"https://i/1.png\",\"sizes\":[\"48x48\",\"any\"]}]");
}

/* ---- resources and prompts ----------------------------------------------------------------- */

TEST(bad_resources_are_refused_with_reasons)
{
	static const struct {
		cleat_resource resource;
		const char *why;
	} rows[] = {
		{ { .read = ok }, "needs a URI" },
		{ { .uri = "", .read = ok }, "needs a URI" },
		{ { .uri = "notes.txt", .read = ok }, "no scheme" },
		{ { .uri = "1x:y", .read = ok }, "no scheme" },
		{ { .uri = ":x", .read = ok }, "no scheme" },
		{ { .uri = "n://a b", .read = ok }, "a space or control character" },
		{ { .uri = "n://a\x01", .read = ok }, "a space or control character" },
		{ { .uri = "n://\xc3", .read = ok }, "not UTF-8" },
		{ { .uri = "n://x}", .read = ok }, "brace" },
		{ { .uri = "n://{", .read = ok }, "n://{" },
		{ { .uri = "n://{a b}", .read = ok }, "n://{a b}" },
		{ { .uri = "n://{}", .read = ok }, "n://{}" },
		{ { .uri = "n://x" }, "a text or a read handler" },
		{ { .uri = "n://x", .text = "t", .read = ok }, "not both" },
		{ { .uri = "n://{x}", .text = "t" }, "has a fixed text" },
		{ { .uri = "n://x", .text = "t", .meta = "no" }, "meta is not a JSON object" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++)
		assert_resource_refused(&rows[i].resource, CLEAT_EINVAL, rows[i].why);
}

TEST(bad_prompts_are_refused_with_reasons)
{
	static const cleat_field none[] = { CLEAT_FIELD_END };
	static const struct {
		cleat_prompt prompt;
		const char *why;
	} rows[] = {
		{ { .name = "a b", .get = ok }, "prompt name \"a b\"" },
		{ { .get = ok }, "prompt needs a name" },
		{ { .name = "p" }, "no get handler" },
		{ { .signature = "p(a: string)", .input = none, .get = ok },
		  "either a signature or input fields" },
		{ { .signature = "p(", .get = ok }, "signature \"p(\"" },
		{ { .name = "p", .get = ok, .meta = "1" }, "meta is not a JSON object" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++)
		assert_prompt_refused(&rows[i].prompt, CLEAT_EINVAL, rows[i].why);
}

RIG_TEST(duplicates_are_refused_by_kind)
{
	static int destroyed = 0;

	rig_server(r, NULL);
	assert_int_equal(cleat_server_add_tool(r->s, &(cleat_tool){ .name = "x", .call = ok }), 0);
	assert_int_equal(cleat_server_add_prompt(r->s, &(cleat_prompt){ .name = "x", .get = ok }),
			 0);
	assert_int_equal(
		cleat_server_add_resource(r->s, &(cleat_resource){ .uri = "x:x", .text = "" }), 0);
	assert_int_equal(cleat_server_error(r->s)->status, CLEAT_OK);
	assert_int_equal(cleat_server_add_tool(r->s, &(cleat_tool){ .name = "x",
								    .call = ok,
								    .userdata = &destroyed,
								    .destroy = count_destroy }),
			 CLEAT_EEXIST);
	assert_int_equal(destroyed, 1);
	assert_has(cleat_server_error(r->s)->message, "tool \"x\" is registered already");
	assert_int_equal(cleat_server_add_prompt(r->s, &(cleat_prompt){ .name = "x", .get = ok }),
			 CLEAT_EEXIST);
	assert_int_equal(
		cleat_server_add_resource(r->s, &(cleat_resource){ .uri = "x:x", .text = "" }),
		CLEAT_EEXIST);
}

/* ---- several at once ----------------------------------------------------------------------- */

TEST(add_tools_adds_all_or_none)
{
	int destroyed[4] = { 0 };
	cleat_tool tools[4] = {
		{ .name = "a" }, { .name = "b" }, { .name = "c" }, { .name = "d" }
	};
	struct rig r;

	for (size_t bad = 0; bad < 5; bad++) {
		memset(destroyed, 0, sizeof destroyed);
		for (size_t i = 0; i < 4; i++) {
			tools[i].call = i == bad ? NULL : ok;
			tools[i].userdata = &destroyed[i];
			tools[i].destroy = count_destroy;
		}
		rig_server(&r, NULL);
		assert_int_equal(
			cleat_server_add_tool(r.s, &(cleat_tool){ .name = "old", .call = ok }),
			CLEAT_OK);
		assert_int_equal(cleat_server_add_tools(r.s, tools, 4),
				 bad < 4 ? CLEAT_EINVAL : CLEAT_OK);
		for (size_t i = 0; i < 4; i++)
			assert_int_equal(destroyed[i], bad < 4);
		/* the ones before are untouched, the ones of the call are gone */
		assert_int_equal(cleat_server_remove_tool(r.s, "old"), CLEAT_OK);
		assert_int_equal(cleat_server_remove_tool(r.s, "a"), bad < 4 ? CLEAT_ENOENT : 0);
		rig_stop(&r);
		for (size_t i = 0; i < 4; i++)
			assert_int_equal(destroyed[i], 1);
	}
}

RIG_TEST(one_name_twice_in_a_call_adds_none)
{
	static int destroyed[2] = { 0 };
	cleat_tool tools[2];

	for (size_t i = 0; i < 2; i++)
		tools[i] = (cleat_tool){ .name = "same",
					 .call = ok,
					 .userdata = &destroyed[i],
					 .destroy = count_destroy };
	rig_server(r, NULL);
	assert_int_equal(cleat_server_add_tools(r->s, tools, 2), CLEAT_EEXIST);
	assert_int_equal(destroyed[0], 1);
	assert_int_equal(destroyed[1], 1);
	assert_int_equal(cleat_server_remove_tool(r->s, "same"), CLEAT_ENOENT);
}

/* Resources and templates are two lists; undoing must find both. */
RIG_TEST(undo_takes_resources_and_templates_out)
{
	static int destroyed[3] = { 0 };
	cleat_resource list[3] = { { .uri = "n://a", .text = "a" },
				   { .uri = "n://{b}", .read = ok },
				   { .uri = "bad", .text = "c" } };

	for (size_t i = 0; i < 3; i++) {
		list[i].userdata = &destroyed[i];
		list[i].destroy = count_destroy;
	}
	rig_server(r, NULL);
	assert_int_equal(cleat_server_add_resources(r->s, list, 3), CLEAT_EINVAL);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(destroyed[i], 1);
	assert_int_equal(cleat_server_remove_resource(r->s, "n://a"), CLEAT_ENOENT);
	assert_int_equal(cleat_server_remove_resource(r->s, "n://{b}"), CLEAT_ENOENT);
}

/* "Out of memory gives a NULL that every function accepts and reports as CLEAT_ENOMEM." */
TEST(null_server_is_accepted_everywhere)
{
	static int destroyed = 0;
	char *argv[] = { (char *)"program", NULL };

	assert_int_equal(cleat_server_add_tool(NULL, &(cleat_tool){ .name = "x",
								    .call = ok,
								    .userdata = &destroyed,
								    .destroy = count_destroy }),
			 CLEAT_ENOMEM);
	assert_int_equal(
		cleat_server_add_resource(NULL, &(cleat_resource){ .uri = "x:y",
								   .text = "",
								   .userdata = &destroyed,
								   .destroy = count_destroy }),
		CLEAT_ENOMEM);
	assert_int_equal(cleat_server_add_prompt(NULL, &(cleat_prompt){ .name = "x",
									.get = ok,
									.userdata = &destroyed,
									.destroy = count_destroy }),
			 CLEAT_ENOMEM);
	assert_int_equal(destroyed, 3);
	assert_int_equal(cleat_server_add_tools(NULL, NULL, 0), CLEAT_ENOMEM);
	assert_int_equal(cleat_server_remove_tool(NULL, "x"), CLEAT_ENOMEM);
	assert_int_equal(cleat_server_remove_resource(NULL, "x"), CLEAT_ENOMEM);
	assert_int_equal(cleat_server_remove_prompt(NULL, "x"), CLEAT_ENOMEM);
	assert_int_equal(cleat_server_add_method(NULL, &(cleat_method){ 0 }), CLEAT_ENOMEM);
	assert_int_equal(cleat_server_remove_method(NULL, "x"), CLEAT_ENOMEM);
	assert_int_equal(cleat_server_error(NULL)->status, CLEAT_ENOMEM);
	assert_int_equal(cleat_server_run_stdio(NULL), CLEAT_ENOMEM);
	assert_int_equal(cleat_server_attach_fds(NULL, 0, 1), CLEAT_ENOMEM);
	assert_int_equal(cleat_server_post(NULL, NULL, NULL), CLEAT_ENOMEM);
	assert_int_equal(cleat_server_main(NULL, 1, argv), 1);
	assert_null(cleat_server_loop(NULL));
	assert_null(cleat_server_userdata(NULL));
	assert_null(cleat_wire_server(NULL, NULL));
	cleat_server_resource_changed(NULL, "x:y");
	cleat_server_log(NULL, CLEAT_LOG_INFO, NULL, "x");
	cleat_server_stop(NULL);
	cleat_server_free(NULL);
}

/* ---- methods of the program's own ----------------------------------------------------------- */

TEST(names_of_the_protocol_are_refused_for_methods)
{
	static const struct {
		cleat_method m;
		int status;
		const char *why;
	} rows[] = {
		{ { .name = "com.example/a", .call = ok }, CLEAT_OK, "" },
		{ { .name = "com.example/a", .call = ok }, CLEAT_EEXIST, "registered already" },
		{ { .name = "com.example/b" }, CLEAT_EINVAL, "no call handler" },
		{ { .call = ok }, CLEAT_EINVAL, "needs a name" },
		{ { .name = "tools/call", .call = ok }, CLEAT_EINVAL, "belongs to the protocol" },
		{ { .name = "ping", .call = ok }, CLEAT_EINVAL, "belongs to the protocol" },
		{ { .name = "initialize", .call = ok }, CLEAT_EINVAL, "belongs to the protocol" },
		{ { .name = "roots/list", .call = ok }, CLEAT_EINVAL, "belongs to the protocol" },
		{ { .name = "rpc.x", .call = ok }, CLEAT_EINVAL, "belongs to the protocol" },
		{ { .name = "notifications/x", .call = ok, .notification = true },
		  CLEAT_EINVAL,
		  "belongs to the protocol" },
		{ { .signature = "tools/list()", .call = ok },
		  CLEAT_EINVAL,
		  "belongs to the protocol" },
		{ { .signature = "a()", .input_schema = "{}", .call = ok },
		  CLEAT_EINVAL,
		  "one of" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		cleat_server *s = cleat_server_new("rig", "1", NULL);
		cleat_method m = rows[i].m;
		int n_destroyed = 0;

		m.userdata = &n_destroyed;
		m.destroy = count_destroy;
		if (rows[i].status == CLEAT_EEXIST)
			assert_int_equal(cleat_server_add_method(s, &rows[i].m), CLEAT_OK);
		assert_int_equal(cleat_server_add_method(s, &m), rows[i].status);
		assert_has(cleat_server_error(s)->message, rows[i].why);
		assert_int_equal(n_destroyed, rows[i].status != CLEAT_OK);
		if (rows[i].status == CLEAT_OK)
			assert_int_equal(cleat_server_remove_method(s, m.name), CLEAT_OK);
		assert_int_equal(n_destroyed, 1);
		assert_int_equal(cleat_server_remove_method(s, "x"), CLEAT_ENOENT);
		cleat_server_free(s);
	}
}

/* ---- versions of the structs --------------------------------------------------------------- */

/* A program that was compiled against an older header, whose struct was shorter. */
TEST(smaller_structs_are_taken)
{
	struct small_tool {
		const char *name, *title, *description;
		cleat_handler *call;
	} tools[] = { { "a", NULL, "first", ok }, { "b", NULL, NULL, ok } };
	struct small_options {
		const char *title;
	} opts = { "Small" };
	struct rig r = { 0 };

	r.s = cleat_server_new_("rig", "1", (const cleat_server_options *)(void *)&opts,
				sizeof opts);
	assert_int_equal(
		cleat_server_add_tools_(r.s, (const cleat_tool *)(void *)tools, 2, sizeof tools[0]),
		CLEAT_OK);
	r.w = cleat_wire_server_(r.s, NULL, 0);
	assert_non_null(r.w);
	rig_open(&r, "2025-11-25");
	assert_has(rig_ask(&r, REQUEST("1", "tools/list", "")), "\"name\":\"b\"");
	assert_has(rig_ask(&r, CALL("2", "b", "{}")), "ok");
	rig_stop(&r);
}

/* ---- errors latch --------------------------------------------------------------------------- */

RIG_TEST(the_first_error_latches)
{
	rig_server(r, NULL);
	cleat_server_add_tool(r->s, &(cleat_tool){ .name = "first bad", .call = ok });
	assert_int_equal(cleat_server_add_tool(r->s, &(cleat_tool){ .name = "fine", .call = ok }),
			 CLEAT_OK);
	cleat_server_add_tool(r->s, &(cleat_tool){ .name = "second bad", .call = ok });
	assert_has(cleat_server_error(r->s)->message, "first bad");
	assert_int_equal(cleat_server_run_stdio(r->s), CLEAT_EINVAL);
	assert_int_equal(cleat_server_attach_fds(r->s, 0, 1), CLEAT_EINVAL);
	assert_null(cleat_wire_server(r->s, NULL));
}

TEST(server_needs_name_and_version)
{
	static const char *const bad[][2] = { { NULL, "1" }, { "", "1" }, { "n", NULL } };

	for (size_t i = 0; i < CLEAT_COUNT(bad); i++) {
		cleat_server *s = cleat_server_new(bad[i][0], bad[i][1], NULL);

		assert_int_equal(cleat_server_error(s)->status, CLEAT_EINVAL);
		assert_int_equal(cleat_server_run_stdio(s), CLEAT_EINVAL);
		cleat_server_free(s);
	}
}
