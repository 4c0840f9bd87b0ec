/* test_serve_command.c - programs of a configuration: what may be a variable or a script, how endings are
 * worded, and that every source is right with little memory. What calls do is shown by
 * tests/e2e/test_serve_command.mjs.
 */
#include "serve/argument/danger.h"
#include "serve/command/exitmap.h"
#include "serve/command/lines.h"
#include "serve/command/program.h"
#include "serve/command/source.h"
#include "serve/kit/kept.h"
#include "serve/kit/output.h"
#include "serve/kit/set.h"
#include "serve/prompts/resource.h"
#include "serve/prompts/source.h"
#include "test.h"

#include "support.h"
#include "json/parse.h"

#include <cleat/client.h>

#include <stdlib.h>

/* ---- names and scripts -------------------------------------------------------------------- */

TEST(variables_that_change_programs_are_refused)
{
	static const char *const good[] = { "path",  "_x",  "A1",  "Path",         "home",
					    "LIMIT", "env", "LDX", "x_LD_PRELOAD", "GITHUB" };
	static const char *const bad[] = {
		"PATH",
		"HOME",
		"IFS",
		"ENV",
		"BASH_ENV",
		"BASH_FUNC_x",
		"BASHOPTS",
		"SHELLOPTS",
		"LD_PRELOAD",
		"LD_LIBRARY_PATH",
		"LD_AUDIT",
		"DYLD_INSERT_LIBRARIES",
		"PS4",
		"PYTHONPATH",
		"PERL5OPT",
		"NODE_OPTIONS",
		"GIT_SSH_COMMAND",
		"GIT_DIR",
		"LC_ALL",
		"LANG",
		"TZ",
		"TMPDIR",
		"GCONV_PATH",
		"PAGER",
		"EDITOR",
		"http_proxy",
		"_",
		"PWD",
	};
	static const char *const no_name[] = { "", "1a", "a-b", "a b", "a=b", "é", "a.b", "$x" };

	for (size_t i = 0; i < CLEAT_COUNT(good); i++)
		assert_null(danger_variable(str_of(good[i])));
	for (size_t i = 0; i < CLEAT_COUNT(bad); i++)
		assert_non_null(strstr(danger_variable(str_of(bad[i])), "would change"));
	for (size_t i = 0; i < CLEAT_COUNT(no_name); i++)
		assert_non_null(
			strstr(danger_variable(str_of(no_name[i])), "is not a variable name"));
	assert_non_null(danger_variable((struct str){ "a\0b", 3 }));
}

/* CVE-2025-68144 and its kin: "--" protects only the program whose options it ends. NULL is a place. */
TEST(the_dashes_of_a_wrapper_are_its_own)
{
	static const struct {
		const char *words[9];
		size_t n, want;
	} table[] = {
		{ { "ls", "--", NULL }, 3, 1 },
		{ { "ls", "-l", NULL, "--" }, 4, 3 },
		{ { "ls", NULL }, 2, 2 },
		{ { "env", "--", "ls", NULL }, 4, 4 },
		{ { "env", "--", "ls", "--", NULL }, 5, 3 },
		{ { "env", "A=1", "ls", "--", NULL }, 5, 3 },
		{ { "/usr/bin/sudo", "-u", "bob", "--", "git", NULL }, 6, 6 },
		{ { "sudo", "ls", "--", NULL }, 4, 2 },
		{ { "sudo", "--", "env", "--", "ls", NULL }, 6, 6 },
		{ { "sudo", "timeout", "--", "5", "ls", NULL }, 6, 6 },
		{ { "timeout", "5", "du", "-sh", "--", NULL }, 6, 4 },
		{ { "timeout", "--", "5", "du", NULL }, 5, 5 },
		{ { "timeout", "--", NULL, "du", "--", NULL }, 6, 4 },
		{ { "kubectl", "exec", "pod", "--", "ls", NULL }, 6, 6 },
		{ { "npm", "run", "x", "--", NULL }, 5, 5 },
		{ { "docker", "exec", NULL, "ls", "--", NULL }, 6, 4 },
		{ { "env", "--" }, 2, 2 },
		{ { NULL }, 0, 0 },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++)
		assert_int_equal(danger_dashes(table[i].words, table[i].n), table[i].want);
}

/* CVE-2025-6514 and its kin: a value that becomes part of a script. Words with '{' have a place. */
TEST(a_place_in_a_script_is_found)
{
	static const struct {
		const char *words[8];
		size_t want;
	} table[] = {
		{ { "sh", "-c", "echo {x}" }, 2 },
		{ { "/bin/bash", "-c", "{x}", "y" }, 2 },
		{ { "bash", "-e", "-lc", "{x}" }, 3 },
		{ { "bash", "-c", "-e", "{x}" }, 3 },
		{ { "bash", "-o", "pipefail", "-c", "{x}" }, 4 },
		{ { "bash", "-eo", "pipefail", "-c", "{x}" }, 4 },
		{ { "env", "A=1", "dash", "-c", "{x}" }, 4 },
		{ { "sudo", "-u", "x", "zsh", "-c", "{y}" }, 5 },
		{ { "timeout", "5", "sh", "-xc", "{y}" }, 4 },
		{ { "busybox", "sh", "-c", "{y}" }, 3 },
		{ { "python3.11", "-c", "print({x})" }, 2 },
		{ { "python3", "-W", "error", "-Bc", "{x}" }, 4 },
		{ { "perl", "-w", "-ne", "{x}" }, 3 },
		{ { "node", "--eval", "{x}" }, 2 },
		{ { "node", "--eval={x}" }, 1 },
		{ { "env", "-S", "x {y}" }, 2 },
		{ { "env", "-u", "A", "B=1", "ruby", "-e", "{x}" }, 6 },
		{ { "su", "-c", "{x}", "bob" }, 2 },
		{ { "php8.2", "-r", "{x}" }, 2 },
		/* an option that an argument makes up */
		{ { "sh", "-{x}", "y" }, 1 },
		{ { "sh", "{x:dash}", "y" }, 1 },
		{ { "sh", "-c", "{x:dash}", "y" }, 2 },
		{ { "bash", "-o", "pipefail", "+{x}" }, 3 },
		/* what env is to run */
		{ { "env", "{x}" }, 1 },
		{ { "env", "A=1", "{x}" }, 2 },
		{ { "env", "{x}=1", "ls" }, 1 },
		{ { "env", "LD_PRELOAD={x}", "ls" }, 1 },
		{ { "env", "PATH={x}", "ls" }, 1 },
		/* options that take something */
		{ { "perl", "-Mfeature=say", "-e", "say '{x}'" }, 3 },
		{ { "perl", "-e", "1", "-e", "{x}" }, 4 },
		{ { "python3", "-Xpycache_prefix=/tmp", "-c", "{x}" }, 3 },
		{ { "bash", "--rcfile", "/etc/x", "-c", "echo {x}" }, 4 },
		{ { "node", "--require", "x.js", "-e", "{x}" }, 4 },
		{ { "node", "--import", "x", "--eval", "{x}" }, 4 },
		{ { "find", ".", "-exec", "sh", "-c", "{x}" }, 5 },
		/* programs whose word is a script */
		{ { "awk", "/{x}/" }, 1 },
		{ { "awk", "-F", ":", "-v", "a=1", "{x}" }, 5 },
		{ { "gawk", "-F:", "{x}" }, 2 },
		{ { "sed", "-n", "s/{x}/y/p", "file" }, 2 },
		{ { "sed", "-e", "1d", "-e", "{x}" }, 4 },
		/* and those that make one of all */
		{ { "ssh", "host", "ls", "{x}" }, 3 },
		{ { "ssh", "-o", "{x}", "host" }, 2 },
		{ { "watch", "ls", "{x}" }, 2 },
		{ { "parallel", "gzip", "{x}" }, 2 },
		/* what other programs are to run */
		{ { "nice", "{x}" }, 1 },
		{ { "timeout", "--", "5", "{x}" }, 3 },
		{ { "sudo", "-u", "bob", "--", "{x}" }, 4 },
		{ { "sudo", "-n", "{x}" }, 2 },
		{ { "nice", "-n", "{x}", "ls" }, 0 },
		{ { "timeout", "{x}", "ls", "{y}" }, 0 },
		/* nothing of that */
		{ { "ssh", "{host}", "uptime" }, 0 },
		{ { "ssh", "-4", "-n", "host", "uptime" }, 0 },
		{ { "awk", "-v", "a={x}", "{{print a}}" }, 0 },
		{ { "awk", "-f", "x.awk", "{file}" }, 0 },
		{ { "awk", "1", "{file}" }, 0 },
		{ { "sed", "-n", "1p", "{file}" }, 0 },
		{ { "sed", "-e", "1p", "{file}" }, 0 },
		{ { "perl", "-ne", "print", "{file}" }, 0 },
		{ { "python3", "-m", "json.tool", "{file}" }, 0 },
		{ { "env", "A={x}", "ls", "{y}" }, 0 },
		{ { "sh", "-c", "echo", "sh", "{x}" }, 0 },
		{ { "bash", "-c", "x", "y", "{z:dash}" }, 0 },
		{ { "sh", "script.sh", "-c", "{x}" }, 0 },
		{ { "sh", "{file}", "x" }, 0 },
		{ { "python3", "tool.py", "-c", "{x}" }, 0 },
		{ { "shred", "-c", "{x}" }, 0 },
		{ { "gcc", "-c", "{x}" }, 0 },
		{ { "grep", "-c", "{x:dash}" }, 0 },
		{ { "sh", "--noprofile", "x", "{y}" }, 0 },
		{ { "sh", "-c" }, 0 },
		{ { "sh" }, 0 },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		bool places[8];

		for (size_t k = 0; k < 8; k++)
			places[k] = table[i].words[k] && strchr(table[i].words[k], '{') &&
				    !strstr(table[i].words[k], "{{");
		assert_int_equal(danger_script(table[i].words, places), table[i].want);
	}
}

/* ---- small parts -------------------------------------------------------------------------- */

TEST(numbers_of_progress_need_no_locale)
{
	static const struct {
		const char *text;
		double want;
	} table[] = { { "0", 0 },    { "12", 12 },  { "3.5", 3.5 }, { "007", 7 },
		      { "1.", 1 },   { "", -1 },    { ".5", -1 },   { "-1", -1 },
		      { "1e3", -1 }, { "1,5", -1 }, { " 1", -1 },   { "1234567890123456789", -1 } };

	for (size_t i = 0; i < CLEAT_COUNT(table); i++)
		assert_true(lines_number(str_of(table[i].text)) == table[i].want);
}

TEST(text_is_told_from_bytes)
{
	static const struct {
		struct str s;
		bool want;
	} table[] = {
		{ { "", 0 }, true },
		{ { "plain\n", 6 }, true },
		{ { "caf\xe9 is Latin-1", 14 }, true },
		{ { "\xe9\xe8\xe0", 3 }, false },
		{ { "a\0b", 3 }, false },
		{ { "\x89PNG\r\n\x1a\n", 8 }, false },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++)
		assert_int_equal(output_is_text(table[i].s), table[i].want);
}

TEST(text_is_made_of_anything)
{
	struct buf b;

	buf_init(&b, NULL, 100);
	output_write_text(&b, (struct str){ "a\0\xff"
					    "b\xc3",
					    5 });
	buf_putc(&b, 0);
	assert_string_equal(buf_str(&b).p, "a\xEF\xBF\xBD\xEF\xBF\xBD"
					   "b\xEF\xBF\xBD");
	buf_done(&b);
}

/* Each NUL was looked for in all that was left: minutes for a megabyte of them. */
TEST(text_of_nothing_but_nul_is_made_soon)
{
	enum { N = 1 << 20 };
	char *zeros = calloc(1, N);
	struct buf b;

	buf_init(&b, NULL, 3 * N);
	output_write_text(&b, (struct str){ zeros, N });
	assert_int_equal(buf_size(&b), 3 * N);
	buf_done(&b);
	free(zeros);
}

TEST(one_line_end_is_taken_off)
{
	static const char *const table[][2] = {
		{ "", "" },       { "\n", "" }, { "a\n\n", "a\n" },
		{ "a\r\n", "a" }, { "a", "a" }, { "\r\n", "" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++)
		assert_true(str_eqz(output_chomp(str_of(table[i][0])), table[i][1]));
}

TEST(statuses_mean_what_is_said)
{
	struct exit_rule rules[] = { { 1, EXIT_OK, NULL },
				     { -1, EXIT_TEXT, NULL },
				     { 2, EXIT_ERROR, NULL } };
	const struct exitmap usual = { NULL, 0 }, mapped = { rules, 3 };

	assert_int_equal(exitmap_find(&usual, 0)->meaning, EXIT_OK);
	assert_int_equal(exitmap_find(&usual, 1)->meaning, EXIT_ERROR);
	assert_int_equal(exitmap_find(&mapped, 0)->meaning, EXIT_OK); /* "*" is not success */
	assert_int_equal(exitmap_find(&mapped, 1)->meaning, EXIT_OK);
	assert_int_equal(exitmap_find(&mapped, 2)->meaning, EXIT_ERROR);
	assert_int_equal(exitmap_find(&mapped, 3)->meaning, EXIT_TEXT);
}

TEST(what_was_said_is_kept_for_a_while_and_in_turn)
{
	struct fail_alloc fa;
	struct kept k = { .turn = 0 };
	struct str got;
	char key[16];

	fail_alloc_init(&fa, 0, false);
	kept_put(&k, &fa.hook, "a", STR_LIT("one"), 100000);
	kept_put(&k, &fa.hook, "gone", STR_LIT("two"), 0);
	assert_true(kept_find(&k, "a", &got) && str_eqz(got, "one"));
	assert_false(kept_find(&k, "gone", &got));
	assert_false(kept_find(&k, "b", &got));
	for (int i = 0; i < KEPT_PLACES; i++) {
		snprintf(key, sizeof key, "k%d", i);
		kept_put(&k, &fa.hook, key, STR_LIT(""), 100000);
	}
	assert_false(kept_find(&k, "a", &got));
	assert_true(kept_find(&k, "k0", &got) && got.n == 0);
	kept_clear(&k, &fa.hook);
	assert_int_equal(fa.live, 0);
	for (size_t n = 1; n <= 2; n++) {
		fail_alloc_init(&fa, n, false);
		kept_put(&k, &fa.hook, "x", STR_LIT("y"), 100000);
		assert_false(kept_find(&k, "x", &got));
		assert_int_equal(fa.live, 0);
	}
}

/* A variable of one segment must not smuggle a path. */
TEST(variables_that_may_hold_a_slash_are_known)
{
	static const struct {
		const char *uri, *name;
		bool want;
	} table[] = {
		{ "a://{x}", "x", false },      { "a://{+x}", "x", true },
		{ "a://{/x}", "x", false },     { "a://{/x*}", "x", true },
		{ "a://{x,y*}", "x", false },   { "a://{x,y*}", "y", true },
		{ "a://{?q,x}", "x", true },    { "a://{x:3}", "x", false },
		{ "a://{xy}/{+x}", "x", true }, { "a://{+xy}/{x}", "x", false },
		{ "a://{#x}", "x", true },      { "a://{.x}", "x", false },
		{ "a://", "x", false },         { "a://{x", "x", false },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++)
		assert_int_equal(resource_is_wide(table[i].uri, str_of(table[i].name)),
				 table[i].want);
}

/* ---- with little memory ------------------------------------------------------------------- */

struct source_case {
	const char *name, *node;
	void (*source)(struct draft *b, const char *name, const cleat_json *node);
};

static const struct source_case sources[] = {
	{ "t",
	  "{\"args\":\"a: string, b?: integer\",\"cmd\":[\"echo\",\"--\",\"{a}\",\"x{b}\"],"
	  "\"env\":{\"X\":\"{a}\"},\"stdin\":\"{a}\",\"exit\":{\"1\":{\"error\":\"no {a}\"}},"
	  "\"progress\":\"(\\\\d+)\",\"outputSchema\":\"n: integer\",\"confirm\":\"{a}?\"}",
	  source_command },
	{ "t", "{\"args\":\"a: string, b: integer = 3\",\"sh\":\"echo $a\",\"env\":{\"X\":\"y\"}}",
	  source_command },
	{ "x://{a}/{b}",
	  "{\"cmd\":[\"echo\",\"{a}\"],\"complete\":{\"a\":[\"x\",\"y\"],\"b\":{\"sh\":"
	  "\"echo $a\"}},\"mime\":\"text/plain\",\"ttl\":\"1s\"}",
	  source_resource },
	{ "x://{a}", "{\"text\":\"Hi {a}\",\"complete\":{\"a\":{\"file\":\"/nowhere\"}}}",
	  source_resource },
	{ "x://y", "{\"text\":\"Hi\"}", source_resource },
	{ "p",
	  "{\"text\":\"## user\\nHi {a}\\n## assistant\\nYo\",\"args\":\"a: string\","
	  "\"complete\":{\"a\":[\"x\"]}}",
	  source_prompt },
};

static void build_with(const struct source_case *c, cleat_server *server, struct fail_alloc *fa)
{
	struct runtime rt = { .mem = fa->hook,
			      .server = server,
			      .loop = cleat_server_loop(server) };
	struct draft b = { .conf = conf_new(NULL), .rt = &rt, .set = set_new(NULL) };
	const cleat_json *node;

	assert_true(server && b.conf && b.set);
	conf_ready(b.conf);
	assert_int_equal(json_parse(conf_arena(b.conf), str_of(c->node), NULL, &node, NULL),
			 CLEAT_OK);
	c->source(&b, c->name, node);
	/* It is there, or it was said why not. */
	assert_true(set_size(b.set) == 1 || conf_problems(b.conf) > 0);
	if (!fail_alloc_hit(fa))
		assert_int_equal(set_size(b.set), 1);
	set_free(b.set);
	conf_free(b.conf);
}

TEST(every_source_is_whole_or_not_there_with_little_memory)
{
	cleat_server *server = cleat_server_new("t", "1", NULL);

	for (size_t i = 0; i < CLEAT_COUNT(sources); i++)
		for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);)
			build_with(&sources[i], server, &fa);
	cleat_server_free(server);
}

/* One call after the other, each with one allocation less; the server lives on. */
MEMORY_TEST(calls_are_answered_with_little_memory)
{
	cleat_server *server = cleat_server_new("t", "1", NULL);
	cleat_client *client;
	struct runtime rt;
	struct draft b;
	const cleat_json *node;
	size_t n = 1;
	bool hit;

	rt = (struct runtime){ .mem = fa->hook,
			       .server = server,
			       .loop = cleat_server_loop(server) };
	b = (struct draft){ .conf = conf_new(NULL), .rt = &rt, .set = set_new(NULL) };
	assert_true(server && b.conf && b.set);
	conf_ready(b.conf);
	json_parse(conf_arena(b.conf),
		   STR_LIT("{\"args\":\"a: string\",\"sh\":\"cat; echo $b\",\"stdin\":\"{a}\"}"),
		   NULL, &node, NULL);
	source_command(&b, "t", node);
	assert_int_equal(conf_problems(b.conf), 0);
	assert_int_equal(set_apply(b.set, NULL, server, &(struct set_change){ 0 }), CLEAT_OK);
	client = cleat_client_inproc(server, NULL);
	do {
		cleat_result *r;
		const char *text;

		fa->countdown = n++;
		fa->failures = 0;
		r = cleat_client_callf(client, "t", "{a: 'hello'}");
		hit = fa->failures > 0;
		fa->countdown = 0;
		text = cleat_result_text(r);
		assert_non_null(text);
		if (!hit)
			assert_string_equal(text, "hello");
		cleat_result_free(r);
	} while (hit);
	assert_true(n > 3);
	conf_free(b.conf);
	cleat_client_free(client);
	cleat_server_free(server);
	set_free(b.set);
}
