/* test_client_toolbook.c - what a client remembers of tools: the list, and what a result must look like
 * (2026-07-28 server/tools "Output Schema"). Headers: test_client_headers.c.
 */
#include "test.h"
#include "unit/client/toolbook_rig.h"

/* ---- the list --------------------------------------------------------------------------------- */

BOOK_TEST(what_is_no_tool_is_not_learned)
{
	static const char *const rows[] = {
		"{}", "{'name':''}", "{'name':7}", "{'name':null}",         "{'title':'t'}",
		"[]", "'t'",         "null",       "{'name':{'name':'t'}}", "[{'name':'t'}]",
	};

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		assert_int_equal(learn(b, rows[i], err), CLEAT_EINVAL);
		assert_non_null(strstr(err->message, "no name"));
		assert_false(toolbook_knows(b, STR_LIT("t")));
		assert_false(toolbook_knows(b, STR_LIT("")));
	}
	assert_int_equal(toolbook_learn(b, NULL, err), CLEAT_EINVAL);
}

BOOK_TEST(any_schema_can_be_learned)
{
	static const char *const rows[] = {
		"{'name':'t'}",
		"{'name':'t','inputSchema':null,'outputSchema':null}",
		"{'name':'t','inputSchema':[],'outputSchema':[]}",
		"{'name':'t','inputSchema':'x','outputSchema':'x'}",
		"{'name':'t','inputSchema':{'properties':[]}}",
		"{'name':'t','inputSchema':{'properties':{'a':7,'b':null,'c':[],'d':true}}}",
		"{'name':'t','inputSchema':{'properties':'x'},'annotations':7}",
	};

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		assert_int_equal(learn(b, rows[i], err), CLEAT_OK);
		assert_true(toolbook_knows(b, STR_LIT("t")));
		expect_fields(b, "t", "{'a':1}", "");
	}
}

BOOK_TEST(names_are_compared_byte_by_byte)
{
	assert_int_equal(learn(b, "{'name':'a\\u0000b'}", err), CLEAT_OK);
	assert_int_equal(learn(b, "{'name':'T'}", err), CLEAT_OK);
	assert_true(toolbook_knows(b, STR_LIT("a\0b")));
	assert_false(toolbook_knows(b, STR_LIT("a")));
	assert_false(toolbook_knows(b, STR_LIT("a\0c")));
	assert_false(toolbook_knows(b, STR_LIT("t")));
	assert_false(toolbook_knows(b, (struct str){ 0 }));
}

BOOK_TEST(of_two_with_one_name_the_later_counts)
{
	toolbook_begin(b);
	assert_int_equal(learn_properties(b, ONE("Old"), err), CLEAT_OK);
	assert_int_equal(learn_properties(b, ONE(""), err), CLEAT_EINVAL);
	assert_true(toolbook_refused(b, STR_LIT("t"), err));
	assert_int_equal(learn_properties(b, ONE("New"), err), CLEAT_OK);
	toolbook_end(b);
	assert_false(toolbook_refused(b, STR_LIT("t"), err));
	expect_fields(b, "t", "{'value':'x'}", "mcp-param-new: x\n");
}

TEST(a_new_list_forgets_what_is_not_in_it)
{
	struct toolbook *b = open_book(NULL);
	cleat_error err;

	toolbook_begin(b);
	learn(b, "{'name':'stays'}", &err);
	learn(b, "{'name':'goes'}", &err);
	toolbook_end(b);
	assert_true(toolbook_knows(b, STR_LIT("goes")));
	toolbook_begin(b);
	learn(b, "{'name':'stays'}", &err);
	learn(b, "{'name':'comes'}", &err);
	assert_true(toolbook_knows(b, STR_LIT("goes"))); /* its page may still come */
	toolbook_end(b);
	assert_true(toolbook_knows(b, STR_LIT("stays")));
	assert_true(toolbook_knows(b, STR_LIT("comes")));
	assert_false(toolbook_knows(b, STR_LIT("goes")));
	/* a page that somebody asked for by itself */
	learn(b, "{'name':'more'}", &err);
	assert_true(toolbook_knows(b, STR_LIT("more")) && toolbook_knows(b, STR_LIT("stays")));
	toolbook_clear(b);
	assert_false(toolbook_knows(b, STR_LIT("stays")));
	toolbook_free(b);
	toolbook_free(NULL);
}

BOOK_TEST(the_book_has_an_end)
{
	struct buf text;
	cleat_doc *d;

	buf_init(&text, NULL, SIZE_MAX / 2);
	for (int i = 0; i <= 10000; i++) {
		char tool[64];

		snprintf(tool, sizeof tool, "{'name':'tool%d'}", i);
		assert_int_equal(learn(b, tool, err), i < 10000 ? CLEAT_OK : CLEAT_ELIMIT);
	}
	assert_non_null(strstr(err->message, "tool10000"));
	assert_false(toolbook_knows(b, STR_LIT("tool10000")));
	assert_int_equal(learn(b, "{'name':'tool77'}", err), CLEAT_OK); /* in its own place */
	toolbook_clear(b);
	/* 16 MiB: a few large schemas */
	buf_appendz(&text, "{\"name\":\"big0\",\"outputSchema\":{\"description\":\"");
	for (int i = 0; i < 6 << 20; i++)
		buf_putc(&text, 'x');
	buf_appendz(&text, "\"}}");
	for (char i = '0'; i < '4'; i++) {
		text.data[12] = i;
		d = cleat_doc_parse(buf_str(&text).p, buf_size(&text), NULL, NULL, NULL);
		assert_int_equal(toolbook_learn(b, cleat_doc_root(d), err),
				 i < '2' ? CLEAT_OK : CLEAT_ELIMIT);
		cleat_doc_free(d);
	}
	assert_int_equal(learn(b, "{'name':'small'}", err), CLEAT_OK);
	assert_true(toolbook_knows(b, STR_LIT("big1")));
	assert_false(toolbook_knows(b, STR_LIT("big2")));
	buf_done(&text);
}

/* ---- results ---------------------------------------------------------------------------------- */

static int check(struct toolbook *b, const char *result, cleat_error *err)
{
	cleat_doc *d = parse(result);
	int rc = toolbook_check(b, STR_LIT("t"), cleat_doc_root(d), err);

	cleat_doc_free(d);
	return rc;
}

/* 2026-07-28 server/tools, Output Schema: "Clients SHOULD validate structured results". */
TEST(results_fit_what_the_tool_promised)
{
#define WEATHER                                                                                    \
	"{'type':'object','properties':{'temperature':{'type':'number'},'conditions':{'type':"     \
	"'string'}},'required':['temperature','conditions']}"
	static const struct {
		const char *schema, *result, *message; /* NULL: it fits */
	} rows[] = {
		/* the examples of the clause */
		{ WEATHER,
		  "{'content':[],'structuredContent':{'temperature':22.5,'conditions':'x'}}",
		  NULL },
		{ WEATHER, "{'structuredContent':{'temperature':'22.5','conditions':'x'}}",
		  "temperature: expected number" },
		{ WEATHER, "{'structuredContent':{'temperature':1}}", "conditions" },
		{ WEATHER, "{'structuredContent':[]}", "expected object" },
		{ WEATHER, "{'structuredContent':null}", "expected object" },
		{ WEATHER, "{'content':[{'type':'text','text':'22.5'}]}", "no structuredContent" },
		{ WEATHER, "{}", "no structuredContent" },
		{ WEATHER,
		  "{'structuredContent':{'temperature':1,'temperature':2,'conditions':'x'}}",
		  "temperature" },
		/* a tool that failed promises nothing */
		{ WEATHER, "{'isError':true,'content':[]}", NULL },
		{ WEATHER, "{'isError':true,'structuredContent':7}", NULL },
		{ WEATHER, "{'isError':'true','content':[]}", "no structuredContent" },
		/* any JSON value */
		{ "{'type':'array','items':{'type':'integer'}}", "{'structuredContent':[1,2]}",
		  NULL },
		{ "{'type':'array','items':{'type':'integer'}}", "{'structuredContent':[1,'2']}",
		  "expected integer" },
		{ "{'type':'null'}", "{'structuredContent':null}", NULL },
		{ "{'type':'integer','maximum':5}", "{'structuredContent':1e999}", "5" },
		{ "{}", "{'structuredContent':{'anything':1}}", NULL },
		{ "true", "{'structuredContent':1}", NULL },
		{ "false", "{'structuredContent':1}", "structuredContent" },
		/* the dialect of older servers, and references within */
		{ "{'$schema':'http://json-schema.org/draft-07/schema#','definitions':{'a':{'type':"
		  "'string'}},'properties':{'x':{'$ref':'#/definitions/a'}}}",
		  "{'structuredContent':{'x':1}}", "x: expected string" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		struct toolbook *b = open_book(NULL);
		cleat_error err = { 0 };
		char tool[512];

		snprintf(tool, sizeof tool, "{'name':'t','outputSchema':%s}", rows[i].schema);
		assert_int_equal(learn(b, tool, &err), CLEAT_OK);
		for (int k = 0; k < 2; k++) { /* compiled, and used again */
			assert_int_equal(check(b, rows[i].result, &err),
					 rows[i].message ? CLEAT_EPROTO : CLEAT_OK);
			if (rows[i].message)
				assert_non_null(strstr(err.message, rows[i].message));
		}
		assert_int_equal(noted.n, 0);
		toolbook_free(b);
	}
}

BOOK_TEST(nothing_promised_nothing_checked)
{
	assert_int_equal(check(b, "{'structuredContent':7}", err), CLEAT_OK);
	assert_int_equal(learn(b, "{'name':'t','inputSchema':{}}", err), CLEAT_OK);
	assert_int_equal(check(b, "{'structuredContent':7}", err), CLEAT_OK);
	assert_int_equal(check(b, "{}", err), CLEAT_OK);
	assert_int_equal(learn(b, "{'name':'t','outputSchema':null}", err), CLEAT_OK);
	assert_int_equal(check(b, "{}", err), CLEAT_OK);
	assert_int_equal(noted.n, 0);
}

/* 2025-11-25 basic, JSON Schema Usage: nothing is fetched, and a dialect that is not known is handled
 * gracefully. */
TEST(a_schema_that_cannot_be_used_is_noted_once)
{
	static const char *const rows[] = {
		"{'$ref':'http://127.0.0.1:1/schema.json'}",
		"{'properties':{'x':{'$ref':'file:///etc/passwd'}}}",
		"{'$schema':'http://json-schema.org/draft-03/schema#'}",
		"{'type':'nothing'}",
		"{'pattern':'('}",
		"7",
		"'object'",
		"[]",
	};

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		struct toolbook *b = open_book(NULL);
		cleat_error err;
		char tool[256];

		snprintf(tool, sizeof tool, "{'name':'t','outputSchema':%s}", rows[i]);
		assert_int_equal(learn(b, tool, &err), CLEAT_OK);
		assert_int_equal(noted.n, 0); /* not before it is needed */
		for (int k = 0; k < 3; k++)
			assert_int_equal(check(b, "{'structuredContent':{}}", &err), CLEAT_OK);
		assert_int_equal(check(b, "{}", &err), CLEAT_OK);
		assert_int_equal(noted.n, 1);
		assert_int_equal(noted.level, CLEAT_LOG_WARNING);
		assert_non_null(strstr(noted.text, "tool \"t\""));
		assert_non_null(strstr(noted.text, "outputSchema"));
		toolbook_free(b);
	}
}

/* What takes too long to be checked has not been found to fit. */
BOOK_TEST(a_check_has_a_limit)
{
	struct buf text;
	cleat_doc *d;

	buf_init(&text, NULL, SIZE_MAX / 2);
	buf_appendz(&text, "{\"structuredContent\":");
	for (int i = 0; i < 100; i++)
		buf_putc(&text, '[');
	for (int i = 0; i < 100; i++)
		buf_putc(&text, ']');
	buf_putc(&text, '}');
	assert_int_equal(learn(b, "{'name':'t','outputSchema':{'items':{'$ref':'#'}}}", err),
			 CLEAT_OK);
	d = cleat_doc_parse(buf_str(&text).p, buf_size(&text), NULL, NULL, NULL);
	assert_int_equal(toolbook_check(b, STR_LIT("t"), cleat_doc_root(d), err), CLEAT_EPROTO);
	assert_non_null(strstr(err->message, "outputSchema"));
	cleat_doc_free(d);
	buf_done(&text);
}

/* ---- memory ----------------------------------------------------------------------------------- */

struct docs {
	cleat_doc *tool, *large, *bad, *args, *good, *wrong;
};

static void only(int rc, int a, int b)
{
	assert_true(rc == a || rc == b || rc == CLEAT_ENOMEM);
}

static void use(const cleat_allocator *mem, const struct docs *d)
{
	const struct http_field *f;
	struct toolbook *b = open_book(mem);
	struct arena ar;
	cleat_error err = { 0 };
	size_t n;
	int rc;

	if (!b)
		return;
	arena_init(&ar, mem, 0);
	toolbook_begin(b);
	for (int again = 0; again < 2; again++) {
		rc = toolbook_learn(b, cleat_doc_root(d->tool), &err);
		only(rc, CLEAT_OK, CLEAT_OK);
		assert_int_equal(toolbook_knows(b, STR_LIT("t")), rc == CLEAT_OK);
		rc = toolbook_learn(b, cleat_doc_root(d->large), &err);
		only(rc, CLEAT_OK, CLEAT_OK);
		rc = toolbook_learn(b, cleat_doc_root(d->bad), &err);
		only(rc, CLEAT_EINVAL, CLEAT_EINVAL);
		assert_int_equal(toolbook_refused(b, STR_LIT("bad"), &err), rc == CLEAT_EINVAL);
	}
	toolbook_end(b);
	rc = toolbook_fields(b, &ar, STR_LIT("t"), cleat_doc_root(d->args), &f, &n, &err);
	only(rc, CLEAT_OK, CLEAT_OK);
	assert_int_equal(n, rc == CLEAT_OK && toolbook_knows(b, STR_LIT("t")) ? 2 : 0);
	for (int again = 0; again < 2; again++) {
		rc = toolbook_check(b, STR_LIT("t"), cleat_doc_root(d->good), &err);
		only(rc, CLEAT_OK, CLEAT_OK);
		rc = toolbook_check(b, STR_LIT("t"), cleat_doc_root(d->wrong), &err);
		only(rc, toolbook_knows(b, STR_LIT("t")) ? CLEAT_EPROTO : CLEAT_OK, CLEAT_ENOMEM);
		if (rc == CLEAT_ENOMEM)
			assert_int_equal(err.status, CLEAT_ENOMEM);
	}
	assert_int_equal(noted.n, 0);
	arena_done(&ar);
	toolbook_free(b);
}

/* Nothing of it fits where the one before did. */
static cleat_doc *large_tool(void)
{
	cleat_doc *d;
	struct buf b;

	buf_init(&b, NULL, SIZE_MAX / 2);
	buf_printf(&b, "{'name':'%0600d','inputSchema':{'properties':{'z':{}", 1);
	for (int i = 0; i < 30; i++)
		buf_printf(&b, ",'%0300d':{'type':'string','x-mcp-header':'%0300d'}", i, i);
	buf_append(&b, "}}}", 4);
	d = parse(buf_str(&b).p);
	buf_done(&b);
	return d;
}

TEST(lack_of_memory_is_told_and_leaks_nothing)
{
	struct docs d = {
		.tool = parse("{'name':'t','inputSchema':{'properties':{" REGION PRIORITY
			      "'q':{}}},'outputSchema':{'type':'array','items':{'type':'integer'},"
			      "'uniqueItems':true}}"),
		.large = large_tool(),
		.bad = parse("{'name':'bad','inputSchema':{'properties':{" ONE(
			"a") ",'b':{"
			     "'x-mcp-header':'b'}}}}"),
		.args = parse("{'region':'r','priority':3}"),
		.good = parse("{'structuredContent':[1,2,3]}"),
		.wrong = parse("{'structuredContent':[1,2,'3']}"),
	};
	size_t rounds = 0;

	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa); rounds++)
		use(&fa.hook, &d);
	assert_true(rounds > 2 * 9);
	cleat_doc_free(d.tool);
	cleat_doc_free(d.large);
	cleat_doc_free(d.bad);
	cleat_doc_free(d.args);
	cleat_doc_free(d.good);
	cleat_doc_free(d.wrong);
}
