/* test_cli_options.c - command lines (program/cli/options.c), durations, and "did you mean" (program/text/nearest.c). */
#include "support.h"
#include "test.h"

#include "cli/run.h"
#include "text/nearest.h"
#include "text/text.h"
#include "unit/program/cli_support.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 16 };

static const char *said;

/* A line of words; messages go to `said`. */
static int parse(struct cli *cli, const char *line)
{
	char *words[MOST] = { NULL }, *rest = NULL;
	int n = 0, code;

	memset(cli, 0, sizeof *cli);
	for (char *w = strtok_r(keepf("%s", line), " ", &rest); w; w = strtok_r(NULL, " ", &rest))
		words[n++] = strcmp(w, "''") == 0 ? keepf("%s", "") : w;
	capture_begin();
	code = cli_parse(cli, n, words);
	said = capture_end();
	return code;
}

/* verb, server, command, words, and some values, as one line. */
static const char *picture(const struct cli *cli)
{
	static const char *const names[] = { "timeout", "era", "output", "header",
					     "json",    "jq",  "color" };
	struct text t = { 0 };

	text_printf(&t, "%s", cli->verb ? cli->verb->name : "-");
	if (cli->server)
		text_printf(&t, " @%s", cli->server);
	for (size_t i = 0; cli->command && cli->command[i]; i++)
		text_printf(&t, " $%s", cli->command[i]);
	for (int i = 0; i < cli->argc; i++)
		text_printf(&t, " %s", cli->argv[i]);
	for (size_t i = 0; i < CLEAT_COUNT(names); i++)
		for (size_t k = 0; cli_option_at(cli, names[i], k); k++)
			text_printf(&t, " %s=%s", names[i], cli_option_at(cli, names[i], k));
	if (cli->verbose)
		text_printf(&t, " v%u", cli->verbose);
	if (cli->quiet)
		text_puts(&t, " q");
	return keep(text_take(&t));
}

TEST(words_options_and_commands_are_told_apart)
{
	static const struct {
		const char *line, *picture;
	} cases[] = {
		{ "cleat", "-" },
		{ "cleat ls", "ls" },
		{ "cleat ls x", "ls @x" },
		{ "cleat call x tool a=1", "call @x tool a=1" },
		{ "cleat call --json x tool --timeout 3 a=1 -v",
		  "call @x tool a=1 timeout=3 json= v1" },
		{ "cleat call --timeout=3s --jq=.a=1 x", "call @x timeout=3s jq=.a=1" },
		{ "cleat call -ofile x", "call @x output=file" },
		{ "cleat call -o file x", "call @x output=file" },
		{ "cleat call -o=file x", "call @x output=file" },
		{ "cleat call -vvq x", "call @x v2 q" },
		{ "cleat call -vofile x", "call @x output=file v1" },
		{ "cleat -v ls x", "ls @x v1" },
		{ "cleat --color never ls", "ls color=never" },
		{ "cleat ls -- node s.js --json -v", "ls $node $s.js $--json $-v" },
		{ "cleat ls --json -- node", "ls $node json=" },
		{ "cleat call -- node s.js -- tool a=1", "call $node $s.js tool a=1" },
		{ "cleat call -- node -- tool --json a=1", "call $node tool a=1 json=" },
		{ "cleat call -- node -- tool -- --json", "call $node tool --json" },
		{ "cleat call x tool -- --json -v", "call @x tool --json -v" },
		{ "cleat call x tool -", "call @x tool -" },
		{ "cleat call -H a:1 -H b:2 x", "call @x header=a:1 header=b:2" },
		{ "cleat call --header=a:1 x --header b:2", "call @x header=a:1 header=b:2" },
		{ "cleat ls --jq '' x", "ls @x jq=" },
		{ "cleat ls ''", "ls @" },
		{ "cleat help call", "help call" },
		{ "cleat help -- call", "help call" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct cli cli;
		int code = parse(&cli, cases[i].line);

		if (code != EXIT_GOOD)
			fail_msg("%s: %s", cases[i].line, said);
		assert_string_equal(picture(&cli), cases[i].picture);
	}
}

TEST(what_is_wrong_is_said_with_a_way_out)
{
	static const struct {
		const char *line, *message;
	} cases[] = {
		{ "cleat lss",
		  "cleat: there is no verb \"lss\", did you mean ls?\ntry: cleat help\n" },
		{ "cleat qqqqq", "cleat: there is no verb \"qqqqq\"\n" },
		{ "cleat https://x/mcp",
		  "cleat: what to do with it? For instance: cleat ls https://x/mcp\n" },
		{ "cleat call --tiemout 3 x",
		  "cleat call: there is no option --tiemout, did you mean --timeout?\n"
		  "try: cleat help call\n" },
		{ "cleat call --xyzxyz x", "cleat call: there is no option --xyzxyz\n" },
		{ "cleat call -Z x", "cleat call: there is no option -Z\n" },
		{ "cleat call x --timeout",
		  "cleat call: --timeout needs a value: --timeout TIME\n" },
		{ "cleat call x -o", "cleat call: -o needs a value: -o FILE\n" },
		{ "cleat call x --json=1", "cleat call: --json takes no value\n" },
		{ "cleat call x --era old",
		  "cleat call: --era is one of auto|legacy|modern, not \"old\"\n" },
		{ "cleat call x --era leg",
		  "cleat call: --era is one of auto|legacy|modern, not \"leg\"\n" },
		{ "cleat call x --timeout 1 --timeout 2", "cleat call: --timeout stands twice\n" },
		{ "cleat ls --", "cleat ls: there is no command after --\n" },
		{ "cleat call -- -- tool", "cleat call: there is no command after --\n" },
		{ "cleat --timeout 3 ls x",
		  "cleat: --timeout stands behind the verb: cleat VERB --timeout\n" },
		{ "cleat --tomeiut 3 ls x", "cleat: there is no option --tomeiut\n" },
		{ "cleat ls --nope --json x",
		  "{\"error\":{\"code\":\"usage\",\"message\":\"there is no option --nope" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct cli cli;
		int code = parse(&cli, cases[i].line);

		assert_int_equal(code, EXIT_USAGE);
		if (strncmp(said, cases[i].message, strlen(cases[i].message)) != 0)
			fail_msg("%s: %s", cases[i].line, said);
	}
}

/* The tables are what the help, the man pages and the completions are made of. */
TEST(every_verb_is_described)
{
	for (size_t i = 0; cli_verbs[i]; i++) {
		const struct verb *v = cli_verbs[i];
		bool letters[128] = { false };
		struct cli_list list;
		size_t examples = 0;

		assert_non_null(v->run);
		assert_ptr_equal(cli_verb_find(v->name), v);
		assert_true(strlen(v->summary) <= 79 - 14); /* in the list of `cleat help` */
		assert_true(v->usage[0] && strncmp(v->usage[0], v->name, strlen(v->name)) == 0);
		while (v->examples && v->examples[examples].command)
			assert_non_null(v->examples[examples++].what);
		assert_true(examples >= 2);
		for (size_t k = 0; cli_lists(v, k, &list); k++)
			for (const struct cli_option *o = list.options; o->name; o++) {
				assert_non_null(o->help);
				assert_true(!o->choices || o->arg);
				if (!o->letter)
					continue;
				if (letters[(int)o->letter])
					fail_msg("%s: -%c stands for two options", v->name,
						 o->letter);
				letters[(int)o->letter] = true;
			}
	}
}

TEST(durations_have_units)
{
	static const struct {
		const char *text;
		int64_t ms; /* -1: none */
	} cases[] = {
		{ "30", 30000 },
		{ "1.5s", 1500 },
		{ "250ms", 250 },
		{ "2m", 120000 },
		{ "1h", 3600000 },
		{ "0", 0 },
		{ "0.001", 1 },
		{ "1.2345s", 1234 },
		{ "0.5ms", 0 },
		{ "277h", 277 * 3600000LL },
		{ "", -1 },
		{ "s", -1 },
		{ "-1", -1 },
		{ "1d", -1 },
		{ "1.", -1 },
		{ ".5", -1 },
		{ "1.2.3", -1 },
		{ "1 s", -1 },
		{ "99999999999999", -1 },
		{ "300h", -1 },
		{ "1e3", -1 },
		{ "0x10", -1 },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		uint64_t ms = 7;
		bool good = cli_duration(cases[i].text, &ms);

		if (good != (cases[i].ms >= 0) || (good && ms != (uint64_t)cases[i].ms))
			fail_msg("%s: %d %llu", cases[i].text, good, (unsigned long long)ms);
	}
}

TEST(the_nearest_name_is_suggested_when_one_is_near)
{
	static const char *const names[] = { "get-sum", "get-env", "echo",
					     "add",     "ls",      "trigger-long-running" };
	static const struct {
		const char *name, *near;
	} cases[] = {
		{ "get-smu", "get-sum" },
		{ "getsum", "get-sum" },
		{ "Get_Sum", "get-sum" },
		{ "sum", "get-sum" },
		{ "ad", "add" },
		{ "ehco", "echo" },
		{ "sl", "ls" },
		{ "long", "trigger-long-running" },
		{ "xyz", NULL },
		{ "rm", NULL },
		{ "", NULL },
		{ "completely-different", NULL },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		const char *near = nearest(cases[i].name, names, CLEAT_COUNT(names));

		if (!near != !cases[i].near || (near && strcmp(near, cases[i].near) != 0))
			fail_msg("%s: %s", cases[i].name, near ? near : "none");
	}
}

TEST(sizes_have_units_and_an_end)
{
	static const struct {
		const char *text;
		size_t bytes; /* 0: none */
	} cases[] = {
		{ "4096", 4096 },
		{ "100k", 102400 },
		{ "64M", 64 << 20 },
		{ "1g", 1 << 30 },
		{ "1048576K", 1 << 30 },
		{ "1048577K", 0 },
		{ "2G", 0 },
		{ "99999999999999999999", 0 },
		{ "0", 0 },
		{ "", 0 },
		{ "M", 0 },
		{ "1.5M", 0 },
		{ "5x", 0 },
		{ "5MB", 0 },
		{ "-1", 0 },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		size_t bytes = 0;

		if (cli_size(cases[i].text, &bytes) != (cases[i].bytes != 0) ||
		    (cases[i].bytes && bytes != cases[i].bytes))
			fail_msg("%s: %zu", cases[i].text, bytes);
	}
}

TEST_GROUP(NULL, forget)
