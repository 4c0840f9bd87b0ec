/* test_serve_web_request.c - the "http" of a tool and values for its places: what is sent, and what is
 * refused. */
#include "support.h"
#include "test.h"

#include "base/mem.h"
#include "serve/kit/set.h"
#include "serve/web/source.h"
#include "serve/web/web_request.h"
#include "json/parse.h"

#include <stdlib.h>
#include <string.h>

static const char accepted[] = "application/json, text/*;q=0.9, */*;q=0.8";

/* Arguments of every case: whatever their names say. */
static const char names[] = "{'properties':{'a':{},'b':{},'c':{},'list':{},'o':{}}}";

static const cleat_json *json(struct conf *c, const char *text)
{
	const cleat_json *v = NULL;

	if (json_parse(conf_arena(c), str_of(json_of(text)), NULL, &v, NULL) != CLEAT_OK)
		fail_msg("no JSON: %s", text);
	return v;
}

/* The message as text, without our Accept; a refusal as "! words"; a problem as "? words". */
static char *sent(const char *http, const char *args)
{
	struct runtime rt = { .mem = mem_default };
	struct draft b = { .conf = conf_new(NULL), .rt = &rt };
	struct web_request *w;
	struct web_message m;
	cleat_error err = { 0 };
	struct arena ar;
	struct buf out;
	int rc;

	assert_non_null(b.conf);
	conf_ready(b.conf);
	buf_init(&out, NULL, 1 << 20);
	arena_init(&ar, NULL, 0);
	w = web_request_new(&b, json(b.conf, http), json(b.conf, names));
	if (!w)
		buf_printf(&out, "? %s", conf_problem_line(b.conf, 0));
	rc = w ? web_request_render(w, json(b.conf, args), &ar, &m, &err) : CLEAT_OK;
	if (rc != CLEAT_OK)
		buf_printf(&out, "! %s", err.message);
	if (w && rc == CLEAT_OK) {
		buf_printf(&out, "%s %s\n", m.method, m.url);
		for (const struct http_field *f = m.fields.at; f < m.fields.at + m.fields.n; f++)
			if (!str_eqz(f->value, accepted))
				buf_printf(&out, "%.*s: %.*s\n", STR_ARGS(f->name),
					   STR_ARGS(f->value));
		buf_append(&out, m.body.p, m.body.n);
	}
	buf_putc(&out, '\0');
	web_request_free(w);
	conf_free(b.conf);
	arena_done(&ar);
	return out.data;
}

struct request_case {
	const char *http, *args, *want; /* `want` may be the beginning, when it ends with "..." */
};

static void check(const struct request_case *table, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char *got = sent(table[i].http, table[i].args);
		const char *want = json_of(table[i].want), *is = json_of(got);
		size_t length = strlen(want);
		bool open = length > 3 && strcmp(want + length - 3, "...") == 0;

		if (open ? strncmp(is, want, length - 3) : strcmp(is, want))
			fail_msg("%s with %s\ngave     %s\nexpected %s", table[i].http,
				 table[i].args, got, table[i].want);
		free(got);
	}
}

TEST(places_are_filled_in)
{
	static const struct request_case table[] = {
		{ "{'url':'http://h/x'}", "{}", "GET http://h/x\n" },
		{ "{'url':'http://h/{a}/y{?b,c}'}", "{'a':'p q','c':1.50}",
		  "GET http://h/p%20q/y?c=1.50\n" },
		{ "{'url':'http://h/{list}'}", "{'list':[1,'a/b']}", "GET http://h/1,a%2Fb\n" },
		/* the same name twice is one variable, and what is in the query may be missing */
		{ "{'url':'http://h/{a}/{a}{?b}'}", "{'a':'x'}", "GET http://h/x/x\n" },
		{ "{'url':'http://h/{a}/{a}?b={b}'}", "{'a':'x'}", "GET http://h/x/x?b=\n" },
		/* brackets, as many APIs have them: encoded, except in a host */
		{ "{'url':'http://[::1]:8/{a}?filter[name]={a}'}", "{'a':'x'}",
		  "GET http://[::1]:8/x?filter%5Bname%5D=x\n" },
		{ "{'url':'http://h/items[1]?filter[name]={a}'}", "{'a':'['}",
		  "GET http://h/items%5B1%5D?filter%5Bname%5D=%5B\n" },
		/* query: lists once for each value, objects by [name] */
		{ "{'url':'http://h/x?k=1','query':{'l':'{list}','o':'{o}','n':'{b}','t':'-{a}-'}}",
		  "{'list':[1,'&'],'o':{'p':[true,null],'q':{'r':'='}},'a':'z'}",
		  "GET http://h/x?k=1&l=1&l=%26&o%5Bp%5D%5B0%5D=true&o%5Bq%5D%5Br%5D=%3D&t=-z-\n" },
		/* headers */
		{ "{'url':'http://h/','headers':{'X-A':'v={a}','X-B':'{b}','X-C':'c'}}",
		  "{'a':true}", "GET http://h/\nX-A: v=true\nX-C: c\n" },
		/* bodies */
		{ "{'url':'http://h/','body':{'a':'{a}','b':'{b}','c':['{b}','{{{a}}}'],'o':{'x':"
		  "null}}}",
		  "{'a':{'deep':[1]}}",
		  "POST http://h/\nContent-Type: application/json\n"
		  "{\"a\":{\"deep\":[1]},\"c\":[\"{{\\\"deep\\\":[1]}}\"],\"o\":{\"x\":null}}" },
		{ "{'url':'http://h/','body':'{a}'}", "{'a':[1]}",
		  "POST http://h/\nContent-Type: application/json\n[1]" },
		{ "{'url':'http://h/','body':'{a}'}", "{}",
		  "POST http://h/\nContent-Type: application/json\nnull" },
		{ "{'method':'PUT','url':'http://h/','body':'is {a}'}", "{'a':'x'}",
		  "PUT http://h/\nContent-Type: text/plain; charset=utf-8\nis x" },
		{ "{'url':'http://h/','type':'application/x-www-form-urlencoded','body':{'f':'{a}',"
		  "'g':'{list}'}}",
		  "{'a':'x&y','list':[]}",
		  "POST http://h/\nContent-Type: application/x-www-form-urlencoded\nf=x%26y" },
		{ "{'url':'http://h/','type':'application/json','headers':{'content-type':"
		  "'application/vnd.x+json'},'body':{}}",
		  "{}", "POST http://h/\ncontent-type: application/vnd.x+json\n{}" },
	};

	check(table, CLEAT_COUNT(table));
}

/* FastMCP CVE-2026-32871 and its kin. */
TEST(no_value_leads_to_another_place)
{
	static const struct request_case table[] = {
		/* CVE-2026-32871 and its kin: servers that undo %2F before they follow the steps */
		{ "{'url':'http://h/{a}/x'}", "{'a':'../..'}", "! a value must not be '.'..." },
		{ "{'url':'http://h/{a}/x'}", "{\"a\":\"b\\\\..\\\\c\"}",
		  "! a value must not be '.'..." },
		{ "{'url':'http://h/{+a}/x'}", "{'a':'..%2fadmin'}",
		  "! a value must not be '.'..." },
		{ "{'url':'http://h/{a}/x'}", "{'a':'..b/c..'}", "GET http://h/..b%2Fc../x\n" },
		{ "{'url':'http://h/{a}/x'}", "{\"a\":\"@evil\\\\:?#\"}",
		  "GET http://h/%40evil%5C%3A%3F%23/x\n" },
		{ "{'url':'http://h/{a}/x'}", "{\"a\":\"\\u0000\\r\\n\"}",
		  "GET http://h/%00%0D%0A/x\n" },
		{ "{'url':'http://h/{a}/x'}", "{'a':'..'}",
		  "! a value must not be '.' or '..': it is a part of the address" },
		{ "{'url':'http://h/{a}{b}/x'}", "{'a':'.','b':'.'}",
		  "! a value must not be '.'..." },
		{ "{'url':'http://h/.{a}/x'}", "{'a':'.'}", "! a value must not be '.'..." },
		{ "{'url':'http://h/{+a}/x'}", "{'a':'b/../../c'}",
		  "! a value must not be '.'..." },
		{ "{'url':'http://h/{+a}/x'}", "{'a':'%2e%2E/c'}", "! a value must not be '.'..." },
		/* the query that is configured stays the only one, and is sent */
		{ "{'url':'http://h/{+a}','query':{'scope':'mine'}}", "{'a':'x#'}",
		  "! the values do not make an address: in its path there must be no ? and no #" },
		{ "{'url':'http://h/{+a}','query':{'scope':'mine'}}", "{'a':'x?scope=all'}",
		  "! the values do not make an address..." },
		{ "{'url':'http://h/{+a}?scope=mine'}", "{'a':'x?y'}",
		  "! the values do not make an address..." },
		{ "{'url':'http://h/{+a}{?b}'}", "{'a':'x/y:z','b':'?#'}",
		  "GET http://h/x/y:z?b=%3F%23\n" },
		{ "{'url':'http://h/','headers':{'X':'{a}'}}", "{\"a\":\"v\\u007f\"}",
		  "! the header X must not have line ends..." },
		{ "{'url':'http://h{/list*}'}", "{'list':['a','..']}",
		  "! a value must not be '.'..." },
		{ "{'url':'http://h/{a}/x'}", "{'a':''}",
		  "! a must not be empty: it is a part of the address" },
		{ "{'url':'http://h/{a}/x'}", "{'a':null}", "! a must not be empty..." },
		{ "{'url':'http://h/{a}/x'}", "{}", "! a must not be empty..." },
		{ "{'url':'http://h/{list}/x'}", "{'list':[]}", "! list must not be empty..." },
		{ "{'url':'http://h/{list}/x'}", "{'list':['']}", "! list must not be empty..." },
		{ "{'url':'http://h/{list}/x'}", "{'list':[null]}", "! list must not be empty..." },
		{ "{'url':'http://h/{o}/x'}", "{'o':{}}", "! o must not be empty..." },
		{ "{'url':'http://h/','headers':{'X':'{a}'}}", "{\"a\":\"v\\r\\nY: 1\"}",
		  "! the header X must not have line ends or control characters" },
		{ "{'url':'http://h/','headers':{'X':'{a}'}}", "{\"a\":\"\\u0000\"}",
		  "! the header X must not have..." },
	};

	check(table, CLEAT_COUNT(table));
}

TEST(what_is_too_large_is_refused)
{
	size_t most = 1 << 20;
	char *args = malloc(most + 100), *got;

	memset(args, 'x', most);
	memcpy(args, "{'a':'", 6);
	memcpy(args + most, "'}", 3);
	got = sent("{'url':'http://h/{a}'}", args);
	assert_string_equal(got, "! the address would be too long (64 KB)");
	free(got);
	got = sent("{'url':'http://h/','query':{'q':'{a}'}}", args);
	assert_string_equal(got, "! the address would be too long (64 KB)");
	free(got);
	got = sent("{'url':'http://h/','headers':{'X':'{a}'}}", args);
	assert_string_equal(got, "! the header X would be too long (16 KB)");
	free(got);
	free(args);
}

/* Very many values for a query end with the limit, not with all memory. */
TEST(a_list_that_is_too_long_costs_little)
{
	struct runtime rt = { .mem = mem_default };
	struct draft b = { .conf = conf_new(NULL), .rt = &rt };
	struct web_request *w;
	struct web_message m;
	struct fail_alloc fa;
	cleat_error err = { 0 };
	struct arena ar;
	struct buf text;

	assert_non_null(b.conf);
	conf_ready(b.conf);
	buf_init(&text, NULL, 16 << 20);
	buf_appendz(&text, "{'list':[1");
	for (int i = 0; i < 300000; i++)
		buf_appendz(&text, ",1");
	buf_appendz(&text, "]}");
	buf_putc(&text, '\0');
	fail_alloc_init(&fa, 0, false);
	arena_init(&ar, &fa.hook, SIZE_MAX);
	w = web_request_new(&b, json(b.conf, "{'url':'http://h/','query':{'q':'{list}'}}"),
			    json(b.conf, names));
	assert_non_null(w);
	assert_int_equal(web_request_render(w, json(b.conf, buf_str(&text).p), &ar, &m, &err),
			 CLEAT_ELIMIT);
	assert_true(fa.peak < 24 << 20);
	arena_done(&ar);
	buf_done(&text);
	web_request_free(w);
	conf_free(b.conf);
}

TEST(mistakes_are_found)
{
	static const struct request_case table[] = {
		{ "{'url':'ftp://h/'}", "{}", "? expected an address such as https..." },
		{ "{'url':'http:///x'}", "{}", "? expected an address such as https..." },
		{ "{'url':'http://h/a b'}", "{}", "? expected an address such as https..." },
		{ "{'url':'http://{a}/'}", "{}", "? expected an address such as https..." },
		{ "{'url':'http://h{a}/'}", "{}",
		  "? a value must not become a part of the host..." },
		{ "{'url':'http://h{.a}/'}", "{}",
		  "? a value must not become a part of the host..." },
		{ "{'url':'http://h:{a}/'}", "{}",
		  "? a value must not become a part of the host..." },
		{ "{'url':'http://h{'}", "{}", "? a value must not become a part of the host..." },
		{ "{'url':'http://u@h/'}", "{}", "? no user name in an address..." },
		{ "{'url':'http://h/#x'}", "{}", "? the part after # is never sent..." },
		{ "{'url':'http://h/{a}#x'}", "{}", "? the part after # is never sent..." },
		{ "{'url':'http://h/{#a}'}", "{}", "? the part after # is never sent..." },
		{ "{'url':'http://h/{a'}", "{}", "? ..." },
		{ "{'url':'http://h/{nobody}'}", "{}",
		  "? {nobody} is not an argument of the tool..." },
		{ "{'url':'http://h/','headers':{'Host':'x'}}", "{}",
		  "? 'Host' cannot be set as a header" },
		{ "{'url':'http://h/','headers':{'A:B':'x'}}", "{}",
		  "? 'A:B' cannot be set as a header" },
		{ "{\"url\":\"http://h/\",\"type\":\"a/b\\nX: y\",\"body\":\"x\"}", "{}",
		  "? expected a media type such as application/json" },
		{ "{'url':'http://h/','type':'+json','body':{}}", "{}",
		  "? expected a media type such as application/json" },
		{ "{'url':'http://h/','type':'text/plain','body':{}}", "{}",
		  "? the body of type text/plain has to be a text" },
		{ "{'url':'http://h/','type':'application/x-www-form-urlencoded','body':'x'}", "{}",
		  "? a form's body is an object..." },
	};

	check(table, CLEAT_COUNT(table));
}

/* ---- with little memory ----------------------------------------------------------------------- */

static const char big_http[] =
	"{'args':'a: string, b?: string[], n: integer = 3','confirm':'{a}?','http':{'url':'http:"
	"//h/{a}{?b}','query':{'n':'{n}','x':'y{a}'},'headers':{'X':'{a}'},'body':{'a':'{a}','t':["
	"'is {a}']},'response':{'select':'/x','ok':[200,'3xx']}},'outputSchema':'n: integer'}";

static void build_tool_with(cleat_server *server, struct fail_alloc *fa)
{
	struct runtime rt = { .mem = fa->hook,
			      .server = server,
			      .loop = cleat_server_loop(server) };
	struct draft b = { .conf = conf_new(NULL), .rt = &rt, .set = set_new(NULL) };

	assert_true(server && b.conf && b.set);
	conf_ready(b.conf);
	source_web(&b, "t", json(b.conf, big_http));
	if (!fail_alloc_hit(fa) && conf_problems(b.conf))
		fail_msg("%s", conf_problem_line(b.conf, 0));
	assert_true(set_size(b.set) == 1 || conf_problems(b.conf) > 0);
	set_free(b.set);
	conf_free(b.conf);
}

TEST(the_tool_is_whole_or_not_there_with_little_memory)
{
	cleat_server *server = cleat_server_new("t", "1", NULL);

	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);)
		build_tool_with(server, &fa);
	cleat_server_free(server);
}

TEST(a_message_is_whole_or_not_there_with_little_memory)
{
	struct runtime rt = { .mem = mem_default };
	struct draft b = { .conf = conf_new(NULL), .rt = &rt };
	const cleat_json *args;
	struct web_request *w;

	assert_non_null(b.conf);
	conf_ready(b.conf);
	w = web_request_new(
		&b,
		json(b.conf,
		     "{'url':'http://h/{a}{?b}','query':{'q':'{o}','x':'y{a}'},'headers':{'X':'{"
		     "a}'},'body':{'a':'{o}','t':['is {a}']}}"),
		json(b.conf, names));
	args = json(b.conf, "{'a':'x','b':[1,2],'o':{'p':[1,{'q':'r'}]}}");
	assert_non_null(w);
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct web_message m;
		cleat_error err = { 0 };
		struct arena ar;
		int rc;

		arena_init(&ar, &fa.hook, 0);
		ar.first = 1; /* many small chunks: each place can fail */
		rc = web_request_render(w, args, &ar, &m, &err);
		if (rc == CLEAT_OK) {
			assert_string_equal(m.url,
					    "http://h/x?b=1,2&q%5Bp%5D%5B0%5D=1&q%5Bp%5D%5B1%5D%5B"
					    "q%5D=r&x=yx");
			assert_true(str_eqz(m.fields.at[0].name, "X"));
			assert_true(str_eqz(m.fields.at[0].value, "x"));
			assert_true(
				str_eqz(m.body, json_of("{'a':{'p':[1,{'q':'r'}]},'t':['is x']}")));
		} else {
			assert_int_equal(rc, CLEAT_ENOMEM);
		}
		arena_done(&ar);
		if (!fail_alloc_hit(&fa))
			assert_int_equal(rc, CLEAT_OK);
	}
	web_request_free(w);
	conf_free(b.conf);
}
