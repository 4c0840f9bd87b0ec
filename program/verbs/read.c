/* program/verbs/read.c - `cleat read`: reads a resource. */
#include "reach/reach.h"
#include "terminal/ask.h"
#include "terminal/await.h"
#include "terminal/output.h"
#include "text/text.h"

#include <unistd.h>

/* The only part of a result: as it is, byte for byte, unless a terminal has to be spared. */
static bool print_only(struct cli *cli, cleat_result *r, FILE *to, int *ret_code)
{
	bool terminal = isatty(fileno(to));
	cleat_content c;

	if (cleat_result_content(r, 1, &c) || !cleat_result_content(r, 0, &c))
		return false;
	if (c.text && !terminal && !(cli->in_shell && to == stdout)) {
		fwrite(c.text, 1, c.size, to);
		return true;
	}
	if (c.text || !c.data || cli_is_text(&c) || !terminal || cli_option(cli, "save"))
		return false;
	*ret_code = cli_error(cli, EXIT_OTHER,
			      "these are %zu bytes that are not text (%s), and this is a terminal: "
			      "-o FILE or --save DIR writes them to a file",
			      c.size, c.mime ? c.mime : "of no known type");
	return true;
}

static int print_result(struct cli *cli, cleat_result *r)
{
	int code = cli_result_code(cli, r);
	FILE *to;

	if (cli_unanswered(cli))
		return cli_unanswered(cli);
	if (code != EXIT_GOOD || cli_print_json(cli, cleat_result_raw(r), &code))
		return code;
	to = cli_out(cli);
	if (!to)
		return EXIT_OTHER;
	return print_only(cli, r, to, &code) ? code : cli_print_content(cli, r);
}

static int read_run(struct cli *cli)
{
	cleat_doc *params;
	cleat_result *r;
	int code;

	if (cli->argc != 1 && (cli->server || cli->command))
		return cli_usage(cli, cli->argc
					      ? "one URI only"
					      : "which resource? cleat ls --resources lists them");
	if (!cli_client(cli, NULL, &code))
		return code;
	params = cleat_doc_newf(NULL, "{uri: %s}", cli->argv[0]);
	r = cli_await(cli, "resources/read", cleat_doc_root(params));
	code = print_result(cli, r);
	cleat_result_free(r);
	cleat_doc_free(params);
	return code;
}

static const char *const usage[] = { "read [OPTION]... SERVER URI",
				     "read [OPTION]... -- COMMAND... -- URI", NULL };
static const struct cli_example examples[] = {
	{ "cleat read -- ./resources -- text://motto", "text, as it is" },
	{ "cleat read -o pixel.gif -- ./resources -- pixel://1", "bytes go to a file" },
	{ "cleat read --json -- ./resources -- city://oslo", "the protocol's own JSON" },
	{ 0 },
};

const struct verb verb_read = {
	.name = "read",
	.summary = "read a resource",
	.usage = usage,
	.about =
		"Text is written as it is, and so are bytes that go to a file or a pipe. A terminal gets text "
		"with its control characters made visible, and no bytes: -o FILE or --save DIR takes those.\n\n"
		"A resource of several parts is printed part by part, each under its URI.",
	.groups = CLI_SERVER | CLI_ASKED | CLI_OUTPUT | CLI_CONTENT,
	.examples = examples,
	.run = read_run,
};
