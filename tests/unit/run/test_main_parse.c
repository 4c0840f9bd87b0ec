/* test_main_parse.c - the command line of a program that serves, and a run from a struct that no command
 * line has filled.
 */
#include "test.h"
#include "unit/run/test_run_child.h"

#include <cleat/main.h>

static int parse(cleat_main_options *o, const char *const *words)
{
	char *argv[MOST_ARGUMENTS + 2] = { "program" };
	int argc = 1;

	for (; *words; words++)
		argv[argc++] = (char *)*words;
	return cleat_main_parse(o, argc, argv);
}

#define PARSE(o, ...) parse(o, (const char *const[]){ __VA_ARGS__, NULL })

/* "a,b": the entries of a list. */
static const char *joined(const char *const *list)
{
	static char text[256];

	text[0] = 0;
	for (size_t i = 0; list && list[i]; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? "," : "",
			 list[i]);
	return text;
}

TEST(words_become_members)
{
	cleat_main_options o = { 0 };

	assert_int_equal(PARSE(&o, "--http", "8080", "--http=unix:/s", "--any-port",
			       "--token-file=t", "--allow-remote", "--allow-host", "a",
			       "--allow-host=b", "--allow-origin", "https://x", "--tls-cert", "c",
			       "--tls-key", "k"),
			 CLEAT_OK);
	assert_string_equal(joined(o.listen), "8080,unix:/s");
	assert_string_equal(joined(o.http->allow_hosts), "a,b");
	assert_string_equal(joined(o.http->allow_origins), "https://x");
	assert_string_equal(o.http->token_file, "t");
	assert_string_equal(o.http->tls_cert, "c");
	assert_string_equal(o.http->tls_key, "k");
	assert_true(o.any_port && o.http->allow_remote && !o.http->no_sessions);
	assert_string_equal(o.program, "program");
	cleat_main_done(&o);
	cleat_main_done(&o);
	cleat_main_done(NULL);
	assert_null(o.listen);
	assert_int_equal(PARSE(&o, "--http=0", "--threads=256", "--metrics=9090", "--access-log",
			       "--no-old-sse", "--no-sessions", "--modern-only",
			       "--lenient-headers"),
			 CLEAT_OK);
	assert_true(o.http->no_old_sse && o.http->no_sessions && o.http->modern_only &&
		    o.http->lenient_headers);
	assert_int_equal(o.http->threads, 256);
	assert_int_equal(o.http->access_log, 2);
	assert_string_equal(o.http->metrics, "9090");
	cleat_main_done(&o);
}

/* What the program has set counts where the command line says nothing, and a command line where the next
 * one says nothing. */
TEST(members_that_are_set_are_the_defaults)
{
	const char *const listen[] = { "1", "2", NULL }, *const hosts[] = { "a", NULL };
	const cleat_http_options http = { .max_body = 7, .token_file = "t", .allow_hosts = hosts };
	cleat_main_options o = { .listen = listen, .http = &http, .program = "me" };

	assert_int_equal(PARSE(&o, "--allow-host=b", "--token-file=u"), CLEAT_OK);
	assert_string_equal(joined(o.listen), "1,2");
	assert_string_equal(joined(o.http->allow_hosts), "a,b");
	assert_string_equal(o.http->token_file, "u");
	assert_int_equal(o.http->max_body, 7);
	assert_string_equal(o.program, "me");
	assert_int_equal(PARSE(&o, "--http=3", "--allow-host=c"), CLEAT_OK);
	assert_string_equal(joined(o.listen), "3");
	assert_string_equal(joined(o.http->allow_hosts), "a,b,c");
	assert_string_equal(o.http->token_file, "u");
	assert_int_equal(PARSE(&o, "--stdio"), CLEAT_OK);
	assert_null(o.listen);
	cleat_main_done(&o);
}

TEST(own_options_get_their_values)
{
	const char *file = "none", *fast = NULL, *metrics = NULL;
	const cleat_main_option own[] = { { "--file", "FILE", "a file", &file, { 0 } },
					  { "--fast", NULL, NULL, &fast, { 0 } },
					  { "--metrics", "WHAT", "ours", &metrics, { 0 } },
					  { 0 } };
	cleat_main_options o = { .own = own };

	assert_int_equal(PARSE(&o, "--stdio"), CLEAT_OK);
	assert_string_equal(file, "none");
	assert_int_equal(PARSE(&o, "--file", "x", "--file=y", "--fast", "--metrics=all"), CLEAT_OK);
	assert_string_equal(file, "y");
	assert_string_equal(fast, "--fast");
	assert_string_equal(metrics, "all"); /* not the standard one, which wants --http */
	assert_int_equal(PARSE(&o, "--file"), CLEAT_EINVAL);
	assert_string_equal(o.error.message, "--file needs a value");
	assert_int_equal(PARSE(&o, "--stdio"), CLEAT_EINVAL); /* it latches */
	cleat_main_done(&o);
}

TEST(questions_are_kept)
{
	static const struct {
		const char *words[3];
		enum cleat_main_action action;
	} cases[] = { { { "--help" }, CLEAT_MAIN_HELP },
		      { { "--threads=3", "-h" }, CLEAT_MAIN_HELP },
		      { { "--version", "--nonsense" }, CLEAT_MAIN_VERSION } };

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		cleat_main_options o = { 0 };

		assert_int_equal(parse(&o, cases[i].words), CLEAT_OK);
		assert_int_equal(o.action, cases[i].action);
		cleat_main_done(&o);
	}
}

TEST(words_that_make_no_sense_are_told)
{
	static const struct {
		const char *words[8], *why;
	} cases[] = {
		{ { "--nonsense" }, "unknown option --nonsense" },
		{ { "--nonsense=1" }, "unknown option --nonsense=1" },
		{ { "--http8080" }, "unknown option --http8080" },
		{ { "8080" }, "unknown argument 8080" },
		{ { "--http" }, "--http needs a value" },
		{ { "--http", "--access-log" }, "--http needs a value" },
		{ { "--stdio=yes" }, "--stdio takes no value" },
		{ { "--http", "0", "--stdio" }, "--stdio and --http: choose one of them" },
		{ { "--threads", "0", "--http", "0" },
		  "--threads needs a number from 1 to 256, not 0" },
		{ { "--threads=many", "--http", "0" },
		  "--threads needs a number from 1 to 256, not many" },
		{ { "--threads=257", "--http", "0" },
		  "--threads needs a number from 1 to 256, not 257" },
		{ { "--threads=4294967297", "--http", "0" },
		  "--threads needs a number from 1 to 256, not 4294967297" },
		{ { "--threads=-1", "--http", "0" },
		  "--threads needs a number from 1 to 256, not -1" },
		{ { "--token-file", "tokens" },
		  "--token-file is of no use without --http ADDRESS" },
		{ { "--stdio", "--access-log" },
		  "--access-log is of no use without --http ADDRESS" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		cleat_main_options o = { 0 };

		assert_int_equal(parse(&o, cases[i].words), CLEAT_EINVAL);
		assert_string_equal(o.error.message, cases[i].why);
		cleat_main_done(&o);
	}
}

/* ---- from a struct ------------------------------------------------------------------------ */

struct given {
	cleat_main_options o;
	bool listens;
};

static int run_main(void *arg)
{
	cleat_server *s = new_server(NULL);
	struct given *given = arg;

	if (given->listens)
		cleat_server_listen_http(s, "0", NULL);
	cleat_server_stop(s);
	return cleat_server_run_main(s, &given->o);
}

/* Runs with these options: its exit status; what it printed is in `c`. */
static int run_given(struct child *c, bool listens, cleat_main_options o)
{
	start_running(c, run_main, &(struct given){ o, listens });
	return finish(c);
}

TEST(run_takes_a_struct)
{
	const char *const listen[] = { "0", "127.0.0.1:0", NULL }, *const bad[] = { "0.0.0.0:0",
										    NULL };
	const char *value;
	const cleat_main_option own[] = { { "--long-option", "FILE", "one\ntwo", &value, { 0 } },
					  { "--threads", "N", "ours", &value, { 0 } },
					  { 0 } };
	struct child c;

	assert_int_equal(run_given(&c, false, (cleat_main_options){ .listen = listen }), 0);
	assert_has(c.errors, "\ntest: listening on http://127.0.0.1:");
	assert_int_equal(strncmp(c.errors, "test: listening on ", 19), 0);
	assert_int_equal(
		run_given(&c, false, (cleat_main_options){ .listen = listen, .quiet = true }), 0);
	assert_string_equal(c.errors, "");
	assert_int_equal(run_given(&c, false, (cleat_main_options){ .listen = bad }), 1);
	assert_has(c.errors, "0.0.0.0");
	assert_int_equal(run_given(&c, true, (cleat_main_options){ 0 }), 0); /* it listens */
	assert_has(c.errors, "listening on");
	assert_int_equal(run_given(&c, false,
				   (cleat_main_options){ .own = own,
							 .action = CLEAT_MAIN_HELP,
							 .program = "/bin/x" }),
			 0);
	assert_has(c.text, "Usage: /bin/x [--stdio");
	assert_has(c.text, "  --long-option FILE   one\n                       two\n"
			   "  --threads N          ours\n  --stdio ");
	assert_lacks(c.text, "threads that serve");
	assert_int_equal(run_given(&c, false, (cleat_main_options){ .action = CLEAT_MAIN_HELP }),
			 0);
	assert_has(c.text, "Usage: test [--stdio");
}
