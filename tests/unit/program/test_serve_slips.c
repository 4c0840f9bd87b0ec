/* test_serve_slips.c - what a command may say but hardly means is remarked, and what it may mean is not.
 */
#include "serve/command/slips.h"
#include "test.h"

#include "base/buf.h"
#include "support.h"
#include "json/parse.h"

#define NO_SHELL "because there is no shell: "

static struct buf said;

static void tell(void *ctx, const cleat_json *at, const char *text)
{
	(void)ctx;
	assert_non_null(at);
	buf_printf(&said, "%s\n", text);
}

TEST(a_slip_is_remarked_and_what_may_be_meant_is_not)
{
	static const struct {
		const char *node, *want;
		bool typed;
	} table[] = {
		/* Arguments are a and path. */
		{ "{'cmd':['ls','{a}','{path}']}", "", false },
		{ "{'cmd':['ls','--x={a}','{path:dash}']}", "", false },
		{ "{'cmd':['ls'],'stdin':'{*}'}", "", false },
		{ "{'cmd':['ls'],'stdin':'{a}','env':{'X':'{path}'}}", "", false },
		{ "{'cmd':['ls','{a}']}",
		  "argument \"path\" is used nowhere: write {path} where it belongs\n", false },
		{ "{'cmd':['ls','{a}','$path']}",
		  "\"$path\" is not a variable here, " NO_SHELL "write {path}\n", false },
		{ "{'cmd':['ls','{a}','${path}/x']}",
		  "\"$path\" is not a variable here, " NO_SHELL "write {path}\n", false },
		/* jq and awk have variables of their own. */
		{ "{'cmd':['jq','--arg','a','{a}','.[$a]','{path}']}", "", false },
		{ "{'cmd':['ls','{a}{path}','|','wc','>','x']}",
		  "\"|\" is passed to ls as a word, " NO_SHELL "a script is \"sh\" (or --sh)\n",
		  false },
		{ "{'cmd':['ls','{a}{path}','2>&1']}",
		  "\"2>&1\" is passed to ls as a word, " NO_SHELL "a script is \"sh\" (or --sh)\n",
		  false },
		{ "{'cmd':['expr','{a}','|','{path}']}", "", false },
		{ "{'cmd':['find','{a}{path}','-exec','ls','{{}}',';']}", "", false },
		{ "{'cmd':['ls','~/x','{a}{path}']}",
		  "\"~/x\" is taken literally, " NO_SHELL "write the whole path\n", false },
		{ "{'cmd':['ls','x~/','{a}{path}']}", "", false },
		{ "{'sh':'echo $a ${path:-x}'}", "", false },
		{ "{'sh':'echo $a {path}'}",
		  "{path} is just text in a script, where an argument is a variable: write \"$path\"\n",
		  false },
		{ "{'sh':'echo $a {path} $path'}", "", false },
		{ "{'sh':'echo $a $paht'}", "$paht is not an argument; did you mean $path?\n",
		  false },
		{ "{'sh':'echo $a ${paths%/}'}", "$paths is not an argument; did you mean $path?\n",
		  false },
		{ "{'sh':'paths=x; echo $a $paths'}", "", false },
		{ "{'sh':'for paths in x y; do echo $a $paths; done'}", "", false },
		{ "{'sh':'echo $a $paths','env':{'paths':'1'}}", "", false },
		/* What it starts may read its variables. */
		{ "{'sh':'./tool'}", "", false },
		{ "{'sh':'ls $a '}",
		  "argument \"path\" is used nowhere: write \"$path\", and the tool in single "
		  "quotes, so that your own shell leaves it alone\n",
		  true },
		{ "{'sh':'./tool $'}", "", false },
		{ "{'sh':'$a ${'}", "", false },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		cleat_doc *node, *names;
		char text[200] = "";

		for (size_t k = 0; table[i].node[k]; k++)
			text[k] = table[i].node[k] == '\'' ? '"' : table[i].node[k];
		node = cleat_doc_parse(text, strlen(text), NULL, NULL, NULL);
		names = cleat_doc_newf(NULL, "{properties: {a: {}, path: {}}}");
		assert_non_null(node);
		buf_init(&said, NULL, 10000);
		slips_find(cleat_doc_root(node), cleat_doc_root(names), table[i].typed, tell, NULL);
		buf_putc(&said, 0);
		assert_string_equal(buf_str(&said).p, table[i].want);
		buf_done(&said);
		cleat_doc_free(node);
		cleat_doc_free(names);
	}
}
