/* test_serve_openapi.c - schemas of OpenAPI documents as JSON Schema, and whole documents as tools: odd ones,
 * hostile ones, and with little memory. That the tools work is shown by tests/e2e/test_serve_openapi.mjs. */
#include "support.h"
#include "support_files.h"
#include "test.h"

#include "base/mem.h"
#include "serve/kit/set.h"
#include "serve/web/openapi_schema.h"
#include "serve/web/source.h"
#include "server/core.h"
#include "json/parse.h"

#include <stdlib.h>
#include <string.h>

/* ---- schemas ---------------------------------------------------------------------------------- */

/* What a schema of a document becomes, with its "$defs"; `document` has it as "s". */
static char *converted(const char *document, bool loose, bool *ret_full)
{
	static struct openapi_doc doc;
	struct openapi_schemas s = { .doc = &doc, .request = true, .loose = loose };
	struct arena ar;
	struct buf out;
	struct jw w;

	doc = (struct openapi_doc){ 0 };
	arena_init(&ar, NULL, 0);
	if (json_parse(&ar, str_of(json_of(document)), NULL, &doc.root, NULL) != CLEAT_OK)
		fail_msg("no JSON: %s", document);
	buf_init(&out, NULL, 1 << 20);
	jw_init(&w, &out);
	jw_obj(&w);
	jw_key(&w, "s");
	openapi_write(&s, &w, cleat_json_get(doc.root, "s"));
	openapi_write_defs(&s, &w);
	jw_obj_end(&w);
	buf_putc(&out, '\0');
	assert_int_equal(buf_status(&out), CLEAT_OK);
	arena_done(&ar);
	if (ret_full)
		*ret_full = s.full;
	return out.data;
}

TEST(dialects_become_one)
{
	static const struct {
		const char *from, *to;
		bool loose;
	} table[] = {
		{ "true", "true", false },
		{ "7", "{}", false },
		{ "{'type':'string','example':'x','xml':{},'discriminator':{}}",
		  "{'type':'string'}", false },
		/* 3.0 */
		{ "{'type':'string','nullable':true}", "{'type':['string','null']}", false },
		{ "{'type':'string','x-nullable':true,'enum':['a']}",
		  "{'type':['string','null'],'enum':['a',null]}", false },
		{ "{'nullable':true,'enum':['a',null]}", "{'enum':['a',null]}", false },
		{ "{'minimum':1,'exclusiveMinimum':true,'maximum':2,'exclusiveMaximum':false}",
		  "{'exclusiveMinimum':1,'maximum':2}", false },
		/* 3.1 */
		{ "{'type':['string','null'],'exclusiveMinimum':1,'const':'a'}",
		  "{'type':['string','null'],'exclusiveMinimum':1,'const':'a'}", false },
		/* 2.0: a parameter is its schema */
		{ "{'name':'x','in':'query','required':true,'type':'array','items':{'type':'file'},"
		  "'collectionFormat':'csv'}",
		  "{'type':'array','items':{'type':'string'}}", false },
		/* what only answers have */
		{ "{'properties':{'a':{'readOnly':true},'b':{}},'required':['a','b']}",
		  "{'properties':{'b':{}},'required':['b']}", false },
		{ "{'pattern':'^a$','format':'date','minLength':1}",
		  "{'pattern':'^a$','format':'date','minLength':1}", false },
		{ "{'pattern':'(','format':'date','minLength':1}", "{'minLength':1}", true },
		{ "{'additionalProperties':{'type':'integer'},'not':false,'allOf':[],'anyOf':[{}]}",
		  "{'additionalProperties':{'type':'integer'},'not':false,'anyOf':[{}]}", false },
		{ "{'properties':7,'items':'x','enum':1,'required':'x'}", "{}", false },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		char document[1000], want[1000], *got;

		snprintf(document, sizeof document, "{'s':%s}", table[i].from);
		snprintf(want, sizeof want, "{'s':%s}", table[i].to);
		got = converted(document, table[i].loose, NULL);
		assert_string_equal(got, json_of(want));
		free(got);
	}
}

TEST(references_stand_in_defs_once)
{
	static const struct {
		const char *from, *to;
	} table[] = {
		{ "{'s':{'$ref':'#/definitions/A'},'definitions':{'A':{'items':{'$ref':"
		  "'#/definitions/A'}}}}",
		  "{'s':{'$ref':'#/$defs/A'},'$defs':{'A':{'items':{'$ref':'#/$defs/A'}}}}" },
		/* names that are no part of a URI, as Java's generators like them, and the same one in two ways */
		{ "{'s':{'allOf':[{'$ref':'#/d/List%C2%ABA%C2%BB'},{'$ref':'#/d/List«A»'}]},'d':{"
		  "'List«A»':{}}}",
		  "{'s':{'allOf':[{'$ref':'#/$defs/List_C2_ABA_C2_BB'},{'$ref':"
		  "'#/$defs/List_C2_ABA_C2_BB'}]},'$defs':{'List_C2_ABA_C2_BB':{}}}" },
		/* two of the same name */
		{ "{'s':{'allOf':[{'$ref':'#/a/X'},{'$ref':'#/b/X'},{'$ref':'#/b/~1'}]},'a':{'X':{"
		  "}},'b':{'X':{},'/':true}}",
		  "{'s':{'allOf':[{'$ref':'#/$defs/X'},{'$ref':'#/$defs/X_2'},{'$ref':"
		  "'#/$defs/1'}]},'$defs':{'X':{},'X_2':{},'1':true}}" },
		/* into a list; and what leads nowhere, or elsewhere, is anything */
		{ "{'s':{'$ref':'#/a/1'},'a':[7,{'type':'null'}]}",
		  "{'s':{'$ref':'#/$defs/1'},'$defs':{'1':{'type':'null'}}}" },
		{ "{'s':{'$ref':'#/a/x'},'a':[7]}", "{'s':{}}" },
		{ "{'s':{'$ref':'other.json#/a'}}", "{'s':{}}" },
		{ "{'s':{'$ref':'http://evil.example/'}}", "{'s':{}}" },
		{ "{'s':{'$ref':'#/~'},'~':1}", "{'s':{}}" },
		{ "{'s':{'$ref':'#/%7e0'},'~':true}",
		  "{'s':{'$ref':'#/$defs/7e0'},'$defs':{'7e0':true}}" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		char *got = converted(table[i].from, false, NULL);

		assert_string_equal(got, json_of(table[i].to));
		free(got);
	}
}

/* A schema that refers to itself twice, by whatever path, must not double with each step. */
TEST(what_refers_to_itself_stays_finite)
{
	char *got =
		converted("{'s':{'$ref':'#/x'},'x':{'allOf':[{'$ref':'#/x'},{'$ref':'#/x'},{'$ref':"
			  "'#/x/allOf/0'}]}}",
			  false, NULL);

	assert_true(strlen(got) < 300);
	free(got);
}

TEST(what_is_too_deep_or_too_much_is_left_open)
{
	struct buf text;
	bool full = false;
	char *got;

	buf_init(&text, NULL, 1 << 20);
	buf_appendz(&text, "{'s':");
	for (int i = 0; i < 100; i++)
		buf_appendz(&text, "{'items':");
	buf_appendz(&text, "true");
	for (int i = 0; i < 101; i++)
		buf_appendz(&text, "}");
	buf_putc(&text, '\0');
	got = converted(buf_str(&text).p, false, &full);
	assert_true(full);
	assert_null(strstr(got, "true"));
	free(got);
	buf_reset(&text, SIZE_MAX);
	buf_appendz(&text, "{'s':{'allOf':[true");
	for (int i = 0; i < 300; i++)
		buf_printf(&text, ",{'$ref':'#/d/d%d'}", i);
	buf_appendz(&text, "]},'d':{'x':1");
	for (int i = 0; i < 300; i++)
		buf_printf(&text, ",'d%d':{}", i);
	buf_appendz(&text, "}}");
	buf_putc(&text, '\0');
	full = false;
	got = converted(buf_str(&text).p, false, &full);
	assert_true(full);
	assert_non_null(strstr(got, "d199\":"));
	assert_null(strstr(got, "d200"));
	free(got);
	buf_done(&text);
}

ARENA_TEST(loops_of_references_end)
{
	static struct openapi_doc doc;

	json_parse(
		ar,
		str_of(json_of("{'a':{'$ref':'#/b'},'b':{'$ref':'#/a'},'c':{'$ref':'#/d'},'d':7}")),
		NULL, &doc.root, NULL);
	assert_null(openapi_resolve(&doc, cleat_json_get(doc.root, "a")));
	assert_int_equal(cleat_json_int(openapi_resolve(&doc, cleat_json_get(doc.root, "c")), 0),
			 7);
	assert_null(openapi_resolve(&doc, NULL));
}

/* ---- documents -------------------------------------------------------------------------------- */

struct made {
	struct conf *conf;
	struct set *set;
	struct runtime rt;
	char said[1000];
};

static void on_say(void *ctx, int level, const char *line)
{
	struct made *m = ctx;

	(void)level;
	snprintf(m->said, sizeof m->said, "%s", line);
}

static void write_document(struct str text)
{
	FILE *f = fopen(scratch_path("api.json"), "w");

	assert_non_null(f);
	for (size_t i = 0; i < text.n; i++)
		fputc(text.p[i] == '\'' ? '"' : text.p[i], f); /* as json_of() */
	assert_int_equal(fclose(f), 0);
}

static void make(struct made *m, const char *more, cleat_server *server, const cleat_allocator *mem)
{
	struct draft b;
	const cleat_json *node;
	char text[1000];

	m->rt = (struct runtime){ .mem = *mem, .server = server, .say = on_say, .say_ctx = m };
	m->conf = conf_new(NULL);
	m->set = set_new(NULL);
	assert_true(server && m->conf && m->set);
	*m->said = '\0';
	conf_add_option(m->conf, "sh", "x(): true"); /* something to stand in */
	conf_ready(m->conf);
	b = (struct draft){ .conf = m->conf, .rt = &m->rt, .set = m->set };
	snprintf(text, sizeof text, "{'file':'%s'%s}", scratch_path("api.json"), more);
	assert_int_equal(json_parse(conf_arena(m->conf), str_of(json_of(text)), NULL, &node, NULL),
			 CLEAT_OK);
	source_openapi(&b, "api", node);
}

static void done(struct made *m)
{
	set_free(m->set);
	conf_free(m->conf);
}

/* One operation that cannot be a tool is no reason to do without the others. */
TEST(what_cannot_be_a_tool_is_left_out)
{
	static const char good[] = "'/good':{'get':{}}";
	static const struct {
		const char *path, *why;
	} table[] = {
		{ "'/a b':{'get':{}}", "GET /a b: its path cannot be part of an address" },
		{ "'/a{b{c}d}':{'get':{}}", "its path is broken" },
		{ "'/a{}':{'get':{}}", "its path is broken" },
		{ "'/a}':{'get':{}}", "its path cannot be part of an address" },
		{ "'/a{b':{'get':{}}", "its path is broken" },
		{ "\"/a\\u0001\":{\"get\":{}}", "its path cannot be part of an address" },
		{ "'/a':{'get':{'parameters':[{'$ref':'#/nowhere'}]}}",
		  "one of its parameters has no name" },
		{ "'/a':{'get':{'parameters':[{'name':'x','in':'moon'}]}}", "unknown kind" },
		{ "'/a':{'get':{'parameters':[{'name':'x','in':'cookie','required':true}]}}",
		  "it needs a cookie" },
		{ "'/a':{'get':{'parameters':[{'name':'x','in':'query','schema':{'type':'mo'}}]}}",
		  "its schema cannot be honoured" },
		{ "'/a':{'post':{'requestBody':{'required':true,'content':{'image/png':{}}}}}",
		  "its body is no JSON, form or text" },
		{ "\"/a\":{\"post\":{\"requestBody\":{\"content\":{\"text/x\\r\\nEvil: 1\":{}}}}}",
		  "its body is no JSON, form or text" },
	};
	cleat_server *server = cleat_server_new("t", "1", NULL);

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		char text[1000];
		struct made m;

		snprintf(text, sizeof text,
			 "{'openapi':'3.0.0','servers':[{'url':'http://h'}],'paths':{%s,%s}}",
			 table[i].path, good);
		write_document(str_of(text));
		make(&m, "", server, &mem_default);
		if (conf_problems(m.conf))
			fail_msg("%s: %s", table[i].path, conf_problem_line(m.conf, 0));
		assert_int_equal(set_size(m.set), 1);
		if (!strstr(m.said, table[i].why))
			fail_msg("%s: %s", table[i].path, m.said);
		done(&m);
	}
	cleat_server_free(server);
}

/* Headers that frame a message, those that are set, and keys that the configuration has. */
TEST(what_is_not_the_models_to_say_is_no_argument)
{
	cleat_server *server = cleat_server_new("t", "1", NULL);
	struct set_change change;
	const struct shelf *tools;
	struct made m;
	struct str input;

	write_document(STR_LIT(
		"{'openapi':'3.0.0','servers':[{'url':'http://h'}],'paths':{'/a':{'get':{"
		"'parameters':[{'name':'x-key','in':'header','required':true},{'name':'Expect',"
		"'in':'header'},{'name':'Host','in':'header'},{'name':'a b','in':'header'},{'name':"
		"'token','in':'query','required':true},{'name':'q','in':'query'}]}}}}"));
	make(&m, ",'headers':{'X-Key':'k'},'query':{'token':'t'}", server, &mem_default);
	assert_int_equal(conf_problems(m.conf), 0);
	assert_int_equal(set_apply(m.set, NULL, server, &change), CLEAT_OK);
	tools = &server_registry(server)->shelves[SHELF_TOOLS];
	assert_int_equal(tools->count, 1);
	input = tools->list[0]->schemas.input;
	assert_true(str_eqz(
		input,
		json_of("{'type':'object','properties':{'q':{'type':'string'}},'required':[],"
			"'additionalProperties':false}")));
	cleat_server_free(server);
	done(&m);
}

TEST(very_many_operations_end_soon)
{
	cleat_server *server = cleat_server_new("t", "1", NULL);
	struct buf text;
	struct made m;

	/* all of one name: each gets another */
	buf_init(&text, NULL, 32 << 20);
	buf_appendz(&text, "{'openapi':'3.0.0','servers':[{'url':'http://h'}],'paths':{'x':1");
	for (int i = 0; i < 2000; i++)
		buf_printf(&text, ",'/%d':{'get':{'operationId':'same'}}", i);
	buf_appendz(&text, "}}");
	write_document(buf_str(&text));
	make(&m, "", server, &mem_default);
	assert_int_equal(conf_problems(m.conf), 0);
	assert_int_equal(set_size(m.set), 2000);
	done(&m);
	/* more than there may be */
	buf_reset(&text, SIZE_MAX);
	buf_appendz(&text, "{'openapi':'3.0.0','servers':[{'url':'http://h'}],'paths':{'x':1");
	for (int i = 0; i < 10001; i++)
		buf_printf(&text, ",'/%d':{'get':{}}", i);
	buf_appendz(&text, "}}");
	write_document(buf_str(&text));
	make(&m, "", server, &mem_default);
	assert_non_null(strstr(conf_problem_line(m.conf, 0), "more than 10000 operations"));
	done(&m);
	/* each wants what is large, and some more of many */
	buf_reset(&text, SIZE_MAX);
	buf_appendz(&text, "{'openapi':'3.0.0','servers':[{'url':'http://h'}],'s':{'x':1");
	for (int i = 0; i < 20000; i++)
		buf_printf(&text, ",'k%d':{}", i);
	buf_appendz(&text, ",'big':{'allOf':[{'description':'");
	for (int i = 0; i < 2000; i++)
		buf_appendz(&text, "a hundred characters, more or less, that nobody will read. ");
	buf_appendz(&text, "'}");
	for (int i = 0; i < 180; i++)
		buf_printf(&text, ",{'$ref':'#/s/k%d'}", 19999 - i);
	buf_appendz(&text, "]}},'paths':{'x':1");
	for (int i = 0; i < 5000; i++)
		buf_printf(&text,
			   ",'/%d':{'get':{'parameters':[{'name':'q','in':'query','schema':{'$ref':"
			   "'#/s/big'}}]}}",
			   i);
	buf_appendz(&text, "}}");
	write_document(buf_str(&text));
	make(&m, "", server, &mem_default);
	if (!strstr(conf_problem_line(m.conf, 0), "more than 16 MB"))
		fail_msg("%s", conf_problem_line(m.conf, 0));
	done(&m);
	buf_done(&text);
	cleat_server_free(server);
}

/* What was needed to read a document is given back. */
TEST(a_large_document_leaves_little_behind)
{
	cleat_server *server = cleat_server_new("t", "1", NULL);
	struct fail_alloc fa;
	struct buf text;
	struct made m;

	buf_init(&text, NULL, 32 << 20);
	buf_appendz(
		&text,
		"{'openapi':'3.0.0','servers':[{'url':'http://h'}],'paths':{'/a':{'get':{}}},'x':[0");
	for (int i = 0; i < 500000; i++)
		buf_appendz(&text, ",123456");
	buf_appendz(&text, "]}");
	write_document(buf_str(&text));
	fail_alloc_init(&fa, 0, false);
	make(&m, "", server, &fa.hook);
	assert_int_equal(set_size(m.set), 1);
	assert_true(fa.peak > 4 << 20);
	assert_true(fa.bytes < 1 << 20);
	assert_true(conf_arena(m.conf)->total < 1 << 20);
	done(&m);
	buf_done(&text);
	cleat_server_free(server);
}

/* A document's own server may be one with variables; a secret of the configuration is never shown. */
TEST(the_server_is_found)
{
	static const struct {
		const char *document, *more, *problem;
	} table[] = {
		{ "'openapi':'3.0.0','servers':[{'url':'https://{r}.h/','variables':{'r':{"
		  "'default':'eu'}}}]",
		  "", NULL },
		{ "'swagger':'2.0','host':'h'", "", NULL },
		{ "'swagger':'2.0'", "", "does not say where" },
		{ "'swagger':'2.0','host':'u@h'", "", "does not say where" },
		{ "'openapi':'3.1.0','servers':[{'url':'https://{r}.h/'}]", "",
		  "does not say where" },
		{ "'openapi':'3.1.0','servers':[{'url':'file:///etc'}]", "", "does not say where" },
		{ "'openapi':'3.1.0','servers':7", ",'server':'http://h/v1//'", NULL },
		{ "'openapi':'3.1.0'", ",'server':'http://h/?x'", "expected an address" },
		{ "'openapi':'3.1.0'", ",'server':'http://h/a b'", "expected an address" },
		{ "'openapi':'3.1.0'", ",'server':'http://h/${CLEAT_NOT_SET}'", "CLEAT_NOT_SET" },
	};
	cleat_server *server = cleat_server_new("t", "1", NULL);

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		char text[1000];
		struct made m;

		snprintf(text, sizeof text, "{%s,'paths':{'/a':{'get':{}}}}", table[i].document);
		write_document(str_of(text));
		make(&m, table[i].more, server, &mem_default);
		assert_int_equal(conf_problems(m.conf) > 0, table[i].problem != NULL);
		if (table[i].problem && !strstr(conf_problem_line(m.conf, 0), table[i].problem))
			fail_msg("%s: %s", text, conf_problem_line(m.conf, 0));
		done(&m);
	}
	cleat_server_free(server);
}

TEST(documents_are_read_with_little_memory)
{
	static const char *const documents[] = {
		"{'openapi':'3.0.0','servers':[{'url':'http://{a}','variables':{'a':{'default':"
		"'h'}}}],'paths':{'/a/{id}':{'get':{'summary':'s $x','description':'d',"
		"'parameters':[{'name':'l','in':'query','explode':false,'description':'x','schema':"
		"{'$ref':'#/s'}}]},'post':{'operationId':'get_a_id','requestBody':{'content':{"
		"'application/json':{'schema':{'$ref':'#/s'}}}}}}},'s':{'type':'object',"
		"'properties':{'a':{'default':1}}}}",
		"{'swagger':'2.0','host':'h','basePath':'/v','paths':{'/u':{'post':{'parameters':[{"
		"'name':'f','in':'formData','type':'string'}]}}}}",
	};
	cleat_server *server = cleat_server_new("t", "1", NULL);

	for (size_t i = 0; i < CLEAT_COUNT(documents); i++) {
		write_document(str_of(documents[i]));
		for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
			struct made m;

			make(&m, ",'include':['* /*'],'prefix':'p_'", server, &fa.hook);
			assert_true(set_size(m.set) > 0 || conf_problems(m.conf) > 0);
			if (!fail_alloc_hit(&fa) && conf_problems(m.conf))
				fail_msg("%s", conf_problem_line(m.conf, 0));
			done(&m);
		}
	}
	cleat_server_free(server);
}

TEST_GROUP(scratch_begin, scratch_end)
