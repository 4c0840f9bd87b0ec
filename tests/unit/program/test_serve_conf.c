/* test_serve_conf.c - configurations: where values stand, variables, times and sizes, problems, options of
 * the command line, and memory that runs out (serve/conf*.c, program/text/jsonc.c).
 */
#include "base/buf.h"
#include "serve/config/conf.h"
#include "support.h"
#include "support_files.h"
#include "test.h"
#include "text/jsonc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int begin(void **state)
{
	scratch_begin(state);
	setenv("CONF_SET", "from env", 1);
	setenv("CONF_EMPTY", "", 1);
	setenv("CONF_SECRET", "hush-hush", 1);
	unsetenv("CONF_UNSET");
	setenv("HOME", "/home/x", 1);
	return 0;
}

static int end(void **state)
{
	return scratch_end(state);
}

static struct conf *load(const char *text)
{
	struct conf *c = conf_new(NULL);

	assert_non_null(c);
	scratch_put("c.json", text);
	conf_add_file(c, scratch_path("c.json"));
	conf_ready(c);
	return c;
}

static const cleat_json *member(const struct conf *c, const char *a, const char *b)
{
	const cleat_json *v = cleat_json_get(conf_root(c, 0), a);

	return b ? cleat_json_get(v, b) : v;
}

/* The problem without the directory before the file's name. */
static const char *problem(const struct conf *c, size_t i)
{
	const char *line = conf_problem_line(c, i);
	size_t n = strlen(scratch_dir);

	return line && strncmp(line, scratch_dir, n) == 0 ? line + n + 1 : line;
}

/* ---- places ------------------------------------------------------------------------------------ */

TEST_WITH(every_value_and_key_has_its_place, begin, end)
{
	static const char text[] =
		"// \xc3\xa9\n{\"name\": \"n\", /* */ \"vars\": {\n\t\"\xc3\xa4\": \"1\", "
		"\"b\\\"c\": \"2\"},\n\"prompt_dirs\": [\"x\",\n \"y\",],}";
	static const struct {
		const char *a, *b, *where;
	} cases[] = {
		{ "name", NULL, "c.json:2:10" },        { "vars", NULL, "c.json:2:29" },
		{ "vars", "\xc3\xa4", "c.json:3:7" },   { "vars", "b\"c", "c.json:3:20" },
		{ "prompt_dirs", NULL, "c.json:4:16" },
	};
	struct conf *c = load(text);

	assert_int_equal(conf_problems(c), 0);
	for (size_t i = 0; i < CLEAT_COUNT(cases); i++)
		assert_string_equal(conf_where(c, member(c, cases[i].a, cases[i].b)) +
					    strlen(scratch_dir) + 1,
				    cases[i].where);
	assert_string_equal(conf_where(c, conf_root(c, 0)) + strlen(scratch_dir) + 1, "c.json:2:1");
	assert_string_equal(conf_where(c, cleat_json_at(member(c, "prompt_dirs", NULL), 1)) +
				    strlen(scratch_dir) + 1,
			    "c.json:5:2");
	assert_string_equal(conf_dir(c, member(c, "name", NULL)), scratch_dir);
	conf_free(c);
}

TEST_WITH(a_problem_names_file_line_column_and_path, begin, end)
{
	struct conf *c = load("{\"vars\": {\"a b\": \"1\"},\n\"prompt_dirs\": [\"x\", \"y\"]}");
	cleat_json_iter it = cleat_json_each(member(c, "vars", NULL));

	conf_problem(c, member(c, "vars", "a b"), "one");
	conf_problem(c, cleat_json_at(member(c, "prompt_dirs", NULL), 1), "two %d\x1b[2J", 2);
	assert_true(cleat_json_next(&it));
	conf_problem(c, it.key, "three");
	conf_problem(c, conf_root(c, 0), "four");
	conf_problem(c, NULL, "five");
	assert_int_equal(conf_problems(c), 5);
	assert_string_equal(problem(c, 0), "c.json:1:18: vars.\"a b\": one");
	assert_string_equal(problem(c, 1), "c.json:2:22: prompt_dirs[1]: two 2\\u001b[2J");
	assert_string_equal(problem(c, 2), "c.json:1:11: vars.\"a b\": three");
	assert_string_equal(problem(c, 3), "c.json:1:1: four");
	assert_string_equal(problem(c, 4), "five");
	assert_null(conf_problem_line(c, 5));
	conf_free(c);
}

/* What follows from one mistake in several places is one problem; but it counts each time. */
TEST_WITH(a_problem_is_told_once, begin, end)
{
	struct conf *c = load("{\"name\": \"x\"}");

	conf_problem(c, member(c, "name", NULL), "one");
	conf_problem(c, conf_root(c, 0), "one");
	conf_problem(c, member(c, "name", NULL), "one");
	assert_int_equal(conf_problems(c), 3);
	assert_string_equal(problem(c, 1), "c.json:1:1: one");
	assert_null(conf_problem_line(c, 2));
	conf_free(c);
}

/* What a source has made of a document of somebody else's stands where the configuration names that. */
TEST_WITH(what_stands_nowhere_can_stand_somewhere, begin, end)
{
	struct conf *c = load("{\"vars\": {\"token\": \"t\"}, \"name\": \"x\"}");
	static const char made[] = "[\"${tokn}\",\"${configDir}\"]";
	cleat_doc *doc = cleat_doc_parse(made, sizeof made - 1, NULL, NULL, NULL);
	const cleat_json *list = cleat_doc_root(doc);

	conf_stand_in(c, member(c, "name", NULL));
	assert_string_equal(conf_text(c, cleat_json_at(list, 1), ""), scratch_dir);
	conf_text(c, cleat_json_at(list, 0), "");
	assert_string_equal(
		problem(c, 0),
		"c.json:1:34: name: ${tokn} is neither in \"vars\" nor in \"secrets\" nor "
		"set in the environment (did you mean ${token}?)");
	conf_stand_in(c, NULL);
	assert_string_equal(conf_text(c, cleat_json_at(list, 1), ""), ".");
	cleat_doc_free(doc);
	conf_free(c);
}

/* The schema's words are right, but a person who knows other files needs more. */
TEST_WITH(mistakes_of_beginners_get_advice, begin, end)
{
	static const char *const cases[][2] = {
		{ "{\"tools\": {\"x\": {\"cmd\": \"ls {a}\"}}}", "or a script as \"sh\")" },
		{ "{\"tools\": {\"x\": {\"sh\": [\"ls\"]}}}", "(a list of words is \"cmd\")" },
		{ "{\"tools\": {\"x\": \"ls\"}}", "(write {\"sh\": ...} or {\"cmd\": [...]})" },
		{ "{\"tools\": {\"x\": {\"shell\": \"ls\"}}}",
		  "unknown member \"shell\" (a tool has one of \"cmd\", \"sh\", \"http\" and \"sql\")" },
		{ "{\"tools\": {\"x\": {\"sh\": \"ls\", \"zzz\": 1}}}", "unknown member \"zzz\"" },
		{ "{\"folders\": {\"x\": \"docs\"}}", "got \"docs\" (write {\"path\": ...})" },
		{ "{\"databases\": {\"x\": 1}}", "expected object, got 1" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct conf *c = load(cases[i][0]);
		const char *line = problem(c, 0);
		size_t n = strlen(cases[i][1]);

		if (!line || strlen(line) < n || strcmp(line + strlen(line) - n, cases[i][1]) != 0)
			fail_msg("%s: %s", cases[i][0], line);
		conf_free(c);
	}
}

TEST_WITH(problems_are_bounded, begin, end)
{
	struct conf *c = load("{}");

	for (int i = 0; i < 100; i++)
		conf_problem(c, NULL, "%d", i);
	assert_int_equal(conf_problems(c), 100);
	assert_string_equal(conf_problem_line(c, CONF_PROBLEMS_MAX - 1), "19");
	assert_string_equal(conf_problem_line(c, CONF_PROBLEMS_MAX),
			    "there may be more problems than these");
	assert_null(conf_problem_line(c, CONF_PROBLEMS_MAX + 1));
	conf_free(c);
}

/* What the tokenizer counts must be what the parser counts, or every place is wrong. */
TEST_WITH(values_are_counted_as_the_parser_counts, begin, end)
{
	static const struct {
		const char *text;
		size_t n;
	} cases[] = {
		{ "1", 1 },
		{ "{}", 1 },
		{ "[[],{},\"]\",\"\\\"\",-1e5,true,null]", 8 },
		{ "{\"a\":{\"b\":[1,2]},\"c\":\"d:e,f\"}", 9 },
		{ "", 0 },
		{ " \n", 0 },
	};
	uint32_t at[16];

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		size_t n = strlen(cases[i].text);

		assert_int_equal(jsonc_values(cases[i].text, n, at, 16), cases[i].n);
		assert_int_equal(jsonc_values(cases[i].text, n, at, 0), cases[i].n);
	}
}

/* ---- text -------------------------------------------------------------------------------------- */

TEST_WITH(text_is_expanded_once, begin, end)
{
	static const struct {
		const char *text, *expanded;
	} cases[] = {
		{ "plain", "plain" },
		{ "", "" },
		{ "$", "$" },
		{ "$$", "$" },
		{ "$${a}", "${a}" },
		{ "$$$", "$$" },
		{ "a $b $5", "a $b $5" },
		{ "${a}", "A" },
		{ "<${a}${a}>", "<AA>" },
		{ "${b}", "[A]" },
		{ "${tricky}", "${a}" },
		{ "${CONF_SET}", "from env" },
		{ "${env:CONF_SET}", "from env" },
		{ "${a:-x}", "A" },
		{ "${CONF_UNSET:-x:-y}", "x:-y" },
		{ "${CONF_EMPTY:-x}", "x" },
		{ "${CONF_EMPTY}", "" },
		{ "${CONF_UNSET:-}", "" },
		{ "${home}/x", "/home/x/x" },
		{ "${secret}", "hush-hush" },
		{ "${made}", "a hush-hush" },
		{ "}", "}" },
	};
	char text[2000];

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct conf *c;

		snprintf(
			text, sizeof text,
			"{\"name\": \"%s\", \"vars\": {\"a\": \"A\", \"b\": \"[${a}]\", \"tricky\": \"$${a}\", "
			"\"made\": \"a ${secret}\"}, \"secrets\": {\"secret\": {\"env\": \"CONF_SECRET\"}}}",
			cases[i].text[0] ? cases[i].text : " ");
		c = load(text);
		assert_int_equal(conf_problems(c), 0);
		assert_string_equal(conf_text(c, member(c, "name", NULL), "none"),
				    cases[i].text[0] ? cases[i].expanded : " ");
		assert_int_equal(conf_problems(c), 0);
		assert_int_equal(conf_is_secret(c, member(c, "name", NULL)),
				 strstr(cases[i].expanded, "hush") != NULL);
		conf_free(c);
	}
}

TEST_WITH(what_cannot_be_expanded_is_one_problem, begin, end)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "${CONF_UNSET}",
		  "name: ${CONF_UNSET} is neither in \"vars\" nor in \"secrets\" nor set in "
		  "the environment" },
		{ "${env:a}", "name: ${env:a} is not set in the environment" },
		{ "${}", "name: ${} names no variable" },
		{ "${:-x}", "name: ${} names no variable" },
		{ "x ${a", "name: there is no } for this ${ (write $${ for the text itself)" },
		{ "a\\u0000b", "name: a NUL character is not allowed here" },
	};
	char text[500], expected[500];

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct conf *c;

		snprintf(text, sizeof text, "{\"vars\": {\"a\": \"A\"}, \"name\": \"%s\"}",
			 cases[i].text);
		c = load(text);
		assert_string_equal(conf_text(c, member(c, "name", NULL), NULL), "");
		snprintf(expected, sizeof expected, "c.json:1:30: %s", cases[i].why);
		assert_string_equal(problem(c, 0), expected);
		/* Who goes on working with it does not add another. */
		conf_problem(c, member(c, "name", NULL), "no such file");
		assert_int_equal(conf_problems(c), 1);
		conf_free(c);
	}
}

TEST_WITH(variables_that_need_themselves_are_a_problem, begin, end)
{
	struct conf *c =
		load("{\"vars\": {\"a\": \"${b}\", \"b\": \"${c}\", \"c\": \"x${a}\"}, \"name\": "
		     "\"${a}\", \"title\": \"${b}\"}");

	conf_text(c, member(c, "name", NULL), NULL);
	conf_text(c, member(c, "title", NULL), NULL);
	assert_int_equal(conf_problems(c), 1);
	assert_string_equal(problem(c, 0), "c.json:1:42: vars.c: ${a} needs itself");
	conf_free(c);
}

/* 39 variables, each twice the one before, were told to need themselves. */
TEST_WITH(long_chains_of_variables_are_told_for_what_they_are, begin, end)
{
	static const struct {
		int n, times;
		const char *want; /* NULL: nothing is wrong */
	} table[] = {
		{ 39, 2, "vars.v21: the text is too long with its variables" },
		{ 199, 1, NULL },
		{ 300, 1,
		  "vars.v101: ${v100} stands at the end of a chain of more than 200 variables that "
		  "need one another" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		struct conf *c;
		struct buf text;

		buf_init(&text, NULL, 1 << 20);
		buf_appendz(&text, "{\"vars\": {\"v0\": \"x\"");
		for (int v = 1; v <= table[i].n; v++) {
			buf_printf(&text, ", \"v%d\": \"${v%d}", v, v - 1);
			if (table[i].times == 2)
				buf_printf(&text, "${v%d}", v - 1);
			buf_putc(&text, '"');
		}
		buf_printf(&text, "}, \"name\": \"${v%d}\"}", table[i].n);
		buf_putc(&text, 0);
		c = load(buf_str(&text).p);
		conf_text(c, member(c, "name", NULL), NULL);
		assert_int_equal(conf_problems(c), table[i].want != NULL);
		if (table[i].want)
			assert_non_null(strstr(problem(c, 0), table[i].want));
		conf_free(c);
		buf_done(&text);
	}
}

TEST_WITH(secrets_come_from_files_and_are_never_shown, begin, end)
{
	struct conf *c;

	scratch_put("key", "line one\n\n");
	c = load(
		"{\"secrets\": {\"k\": {\"file\": \"key\"}, \"s\": {\"env\": \"CONF_SECRET\"}, \"n\": "
		"{\"file\": \"nowhere\"}, \"u\": {\"env\": \"CONF_UNSET\"}}, \"name\": \"${k}\", \"title\": "
		"\"${s}\", \"version\": \"${n}\", \"description\": \"${u}\"}");
	assert_string_equal(conf_text(c, member(c, "name", NULL), NULL), "line one");
	assert_string_equal(conf_text(c, member(c, "title", NULL), NULL), "hush-hush");
	conf_problem(c, member(c, "title", NULL), "cannot use hush-hush or line one (hush-hush)");
	assert_string_equal(problem(c, 0), "c.json:1:145: title: cannot use **** or **** (****)");
	conf_text(c, member(c, "version", NULL), NULL);
	conf_text(c, member(c, "description", NULL), NULL);
	assert_int_equal(conf_problems(c), 3);
	assert_non_null(strstr(problem(c, 1), "cannot read the secret from"));
	assert_non_null(strstr(problem(c, 2), "secrets.u.env: the secret is to come from the "
					      "environment, but CONF_UNSET is not set"));
	conf_free(c);
}

/* One that is empty would be sent, and refused by somebody who cannot say why. */
TEST_WITH(an_empty_secret_is_none, begin, end)
{
	struct conf *c;

	scratch_put("empty", "\n");
	setenv("CONF_EMPTY", "", 1);
	c = load("{\"secrets\": {\"f\": {\"file\": \"empty\"}, \"e\": {\"env\": \"CONF_EMPTY\"}}, "
		 "\"name\": \"${f}\", \"title\": \"${e}\"}");
	conf_text(c, member(c, "name", NULL), NULL);
	conf_text(c, member(c, "title", NULL), NULL);
	assert_int_equal(conf_problems(c), 2);
	assert_non_null(strstr(problem(c, 0), "/empty holds no secret: it is empty"));
	assert_string_equal(problem(c, 1),
			    "c.json:1:51: secrets.e.env: the secret is to come from the "
			    "environment, but CONF_EMPTY is empty");
	unsetenv("CONF_EMPTY");
	conf_free(c);
}

/* Braces that come in are not places for arguments. */
TEST_WITH(braces_of_variables_are_doubled_for_templates, begin, end)
{
	struct conf *c = load(
		"{\"vars\": {\"a\": \"{x}\"}, \"name\": \"{y} ${a} ${CONF_UNSET:-{z}} ${a}\"}");

	assert_string_equal(conf_template(c, member(c, "name", NULL), NULL),
			    "{y} {{x}} {{z} {{x}}");
	assert_string_equal(conf_text(c, member(c, "name", NULL), NULL), "{y} {x} {z} {x}");
	conf_free(c);
}

TEST_WITH(paths_are_made_absolute, begin, end)
{
	static const struct {
		const char *text, *path;
	} cases[] = {
		{ "/a/b", "/a/b" }, { "~/x", "/home/x/x" }, { "~", "/home/x" },
		{ "~y", "%/~y" },   { "x", "%/x" },         { "./x/y", "%/x/y" },
		{ ".", "%" },       { "../x", "%/../x" },   { "${configDir}", "%" },
	};
	char text[200], expected[300];

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		const char *percent = strchr(cases[i].path, '%');
		struct conf *c;

		snprintf(text, sizeof text, "{\"name\": \"%s\"}", cases[i].text);
		c = load(text);
		snprintf(expected, sizeof expected, "%s%s", percent ? scratch_dir : "",
			 percent ? percent + 1 : cases[i].path);
		assert_string_equal(conf_path_at(c, member(c, "name", NULL)), expected);
		conf_free(c);
	}
}

/* ---- times and sizes --------------------------------------------------------------------------- */

TEST_WITH(times_and_sizes_are_read, begin, end)
{
	static const struct {
		const char *json;
		long long ms, bytes; /* -1: a problem */
	} cases[] = {
		{ "\"30s\"", 30000, -1 },
		{ "\"250ms\"", 250, -1 },
		{ "\"2m\"", 120000, -1 },
		{ "\"1h\"", 3600000, -1 },
		{ "\"1.5s\"", 1500, -1 },
		{ "\"0.001s\"", 1, -1 },
		{ "\"none\"", 0, -1 },
		{ "\"\"", -1, -1 },
		{ "\"s\"", -1, -1 },
		{ "\"-1s\"", -1, -1 },
		{ "\"1d\"", -1, -1 },
		{ "\"99999999h\"", -1, -1 },
		{ "\"1e3s\"", -1, -1 },
		{ "\"10\"", 10000, 10 },
		{ "7", 7000, 7 },
		{ "0.25", 250, 0 },
		{ "-1", -1, -1 },
		{ "1e3", -1, -1 },
		{ "\"64KB\"", -1, 65536 },
		{ "\"1MB\"", -1, 1 << 20 },
		{ "\"1 MiB\"", -1, 1 << 20 },
		{ "\"2G\"", -1, 2LL << 30 },
		{ "\"1.5K\"", -1, 1536 },
		{ "\"1kb\"", -1, -1 },
		{ "\"999999999999999999999999\"", -1, -1 },
		{ "\"soon\"", -1, -1 },
		{ "\"${CONF_SET}\"", -1, -1 },
	};
	char text[200];

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		const cleat_json *v;
		struct conf *c;

		snprintf(text, sizeof text, "{\"defaults\": {\"timeout\": %s}}", cases[i].json);
		c = load(text);
		v = member(c, "defaults", "timeout");
		assert_int_equal(conf_ms(c, v, 77), cases[i].ms < 0 ? 77 : cases[i].ms);
		assert_int_equal(conf_problems(c), cases[i].ms < 0);
		assert_int_equal(conf_bytes(c, v, 78), cases[i].bytes < 0 ? 78 : cases[i].bytes);
		assert_int_equal(conf_problems(c), (cases[i].ms < 0) + (cases[i].bytes < 0));
		assert_int_equal(conf_ms(c, NULL, 5), 5);
		assert_int_equal(conf_bytes(c, NULL, 6), 6);
		conf_free(c);
	}
}

/* ---- files ------------------------------------------------------------------------------------- */

TEST_WITH(includes_are_read_once_and_in_order, begin, end)
{
	static const char *const order[] = { "c.json", "./b.json", "d/1.json", "d/2.json" };
	struct conf *c = conf_new(NULL);

	assert_non_null(c);
	assert_int_equal(mkdir(scratch_path("d"), 0700), 0);
	scratch_put("c.json",
		    "{\"include\": [\"./b.json\", \"d/*.json\", \"c.json\", \"none/*.json\"]}");
	scratch_put("b.json", "{\"include\": \"./c.json\", \"vars\": {\"v\": \"b\"}}");
	scratch_put("d/1.json", "{\"vars\": {\"v\": \"1\"}, \"include\": \"2.json\"}");
	scratch_put("d/2.json", "{}");
	conf_add_file(c, scratch_path("c.json"));
	conf_add_file(c, scratch_path("c.json"));
	conf_ready(c);
	assert_int_equal(conf_problems(c), 0);
	for (size_t i = 0; i < CLEAT_COUNT(order); i++) {
		assert_non_null(conf_path(c, i));
		assert_string_equal(conf_path(c, i) + strlen(scratch_dir) + 1, order[i]);
		assert_non_null(conf_root(c, i));
	}
	assert_null(conf_root(c, CLEAT_COUNT(order)));
	assert_null(conf_path(c, CLEAT_COUNT(order)));
	assert_string_equal(conf_dir(c, conf_root(c, 3)), scratch_path("d"));
	conf_free(c);
}

TEST_WITH(what_is_watched_is_what_was_read_and_where_files_may_come, begin, end)
{
	static const char *const names[] = { "c.json", "missing.json", "d" };
	struct conf *c = load("{\"include\": [\"missing.json\", \"d/*.json\"]}");

	assert_int_equal(conf_problems(c), 1);
	for (size_t i = 0; i < CLEAT_COUNT(names); i++)
		assert_string_equal(conf_watched(c, i), scratch_path(names[i]));
	conf_watch(c, scratch_path("d"));
	assert_null(conf_watched(c, CLEAT_COUNT(names)));
	conf_free(c);
}

TEST_WITH(the_first_file_has_the_last_word_about_variables, begin, end)
{
	struct conf *c = conf_new(NULL);

	assert_non_null(c);
	scratch_put("a.json", "{\"vars\": {\"v\": \"a\"}, \"name\": \"${v}\"}");
	scratch_put("b.json", "{\"vars\": {\"v\": \"b\", \"w\": \"w\"}}");
	conf_add_file(c, scratch_path("a.json"));
	conf_add_file(c, scratch_path("b.json"));
	conf_ready(c);
	assert_string_equal(conf_text(c, member(c, "name", NULL), NULL), "a");
	conf_free(c);
	c = conf_new(NULL);
	assert_non_null(c);
	scratch_put("b.json", "{\"secrets\": {\"v\": {\"env\": \"X\"}}}");
	conf_add_file(c, scratch_path("a.json"));
	conf_add_file(c, scratch_path("b.json"));
	conf_ready(c);
	assert_int_equal(conf_problems(c), 1);
	assert_non_null(strstr(conf_problem_line(c, 0), "secrets.v: v is a variable already ("));
	conf_free(c);
}

TEST_WITH(too_large_a_file_is_refused, begin, end)
{
	char *text = malloc((size_t)CONF_FILE_MAX + 10);
	struct conf *c;

	memset(text, ' ', (size_t)CONF_FILE_MAX + 9);
	memcpy(text, "{}", 2);
	text[CONF_FILE_MAX + 9] = 0;
	c = load(text);
	assert_int_equal(conf_problems(c), 1);
	assert_string_equal(problem(c, 0), "c.json: is larger than 4 MB");
	conf_free(c);
	free(text);
}

/* ---- options ----------------------------------------------------------------------------------- */

TEST_WITH(options_become_documents, begin, end)
{
	static const struct {
		const char *option, *value, *json, *problem;
	} cases[] = {
		{ "sh", "f(a: string \"A\") \"Does\": echo \"$a\" ${b}",
		  "{\"tools\":{\"f\":{\"args\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\","
		  "\"description\":\"A\"}},\"required\":[\"a\"],\"additionalProperties\":false},\"description\":\"Does\",\"sh\":\"echo \\\"$a\\\" "
		  "${b}\"}}}",
		  NULL },
		{ "cmd", "f(): echo 'a b' \"c\" {d}",
		  "{\"tools\":{\"f\":{\"args\":{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false},\"cmd\":[\"echo\",\"a "
		  "b\",\"c\",\"{d}\"]}}}",
		  NULL },
		{ "dir", "/no/where/My Docs:rw",
		  "{\"folders\":{\"My_Docs\":{\"path\":\"/no/where/My Docs\",\"write\":true}}}",
		  NULL },
		{ "dir", "/no/$x/", "{\"folders\":{\"x\":{\"path\":\"/no/$$x/\",\"write\":false}}}",
		  NULL },
		{ "dir", "/", "{\"folders\":{\"root\":{\"path\":\"/\",\"write\":false}}}", NULL },
		{ "sqlite", "/no/shop.v2.db:ro",
		  "{\"databases\":{\"shop_v2\":{\"file\":\"/no/shop.v2.db\",\"write\":false}}}",
		  NULL },
		{ "openapi", "/no/a=b.json=http://x/y",
		  "{\"openapi\":{\"a_b\":{\"file\":\"/no/a=b.json\",\"server\":\"http://x/y\"}}}",
		  NULL },
		{ "openapi", "/no/pets.json",
		  "{\"openapi\":{\"pets\":{\"file\":\"/no/pets.json\"}}}", NULL },
		{ "prompts", "./p", "{\"prompt_dirs\":[\"./p\"]}", NULL },
		{ "prompts", "", NULL, "--prompts: expected a directory" },
		{ "dir", ":rw", NULL, "--dir: expected a path" },
		{ "dir", "", NULL, "--dir: expected a path" },
		{ "sh", "f(", NULL,
		  "--sh: column 3: expected an argument's name or \")\", got the end" },
		{ "nothing", "x", NULL, "nothing: there is no such option" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct conf *c = conf_new(NULL);

		assert_non_null(c);
		conf_add_option(c, cases[i].option, cases[i].value);
		if (cases[i].problem) {
			assert_string_equal(conf_problem_line(c, 0), cases[i].problem);
		} else {
			char *json = cleat_json_print(conf_root(c, 0), NULL);

			assert_string_equal(json, cases[i].json);
			assert_int_equal(conf_problems(c), 0);
			assert_string_equal(conf_path(c, 0), "command line");
			free(json);
		}
		conf_free(c);
	}
}

TEST_WITH(names_of_options_do_not_collide, begin, end)
{
	struct conf *c = conf_new(NULL);

	assert_non_null(c);
	conf_add_option(c, "dir", "/a/docs");
	conf_add_option(c, "dir", "/b/docs");
	conf_add_option(c, "dir", "/c/docs");
	assert_non_null(cleat_json_get(cleat_json_get(conf_root(c, 1), "folders"), "docs_2"));
	assert_non_null(cleat_json_get(cleat_json_get(conf_root(c, 2), "folders"), "docs_3"));
	conf_problem(c, cleat_json_get(conf_root(c, 1), "folders"), "x");
	assert_string_equal(conf_problem_line(c, 0), "command line: --dir: folders: x");
	conf_free(c);
}

/* ---- memory ------------------------------------------------------------------------------------ */

static void work(const cleat_allocator *mem)
{
	struct conf *c = conf_new(mem);

	if (!c)
		return;
	conf_add_file(c, scratch_path("c.json"));
	conf_add_option(c, "cmd", "f(a: string): echo {a}");
	conf_add_option(c, "dir", "/a/docs:rw");
	conf_ready(c);
	conf_text(c, member(c, "name", NULL), NULL);
	conf_template(c, member(c, "name", NULL), NULL);
	conf_path_at(c, member(c, "title", NULL));
	conf_problem(c, member(c, "title", NULL), "something %d", 1);
	conf_ms(c, member(c, "defaults", "timeout"), 0);
	for (size_t i = 0; conf_problem_line(c, i); i++)
		assert_true(strlen(conf_problem_line(c, i)) > 0);
	assert_true(conf_problems(c) > 0);
	conf_free(c);
}

TEST_WITH(memory_that_runs_out_is_a_problem_and_nothing_else, begin, end)
{
	scratch_put(
		"c.json",
		"{\"include\": [\"b.json\", \"*.json\"], \"vars\": {\"v\": \"x\"}, \"secrets\": {\"s\": "
		"{\"env\": \"CONF_SECRET\"}}, \"name\": \"${v}${s}\", \"title\": \"t\", \"defaults\": "
		"{\"timeout\": \"soon\"}}");
	scratch_put("b.json", "{\"tols\": 1}");
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);)
		work(&fa.hook);
}
