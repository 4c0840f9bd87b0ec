/* cli/output.c - where a result goes, and in which form: --json, --jq, -o. */
#include "ask.h"
#include "cli.h"
#include "config.h"
#include "jq.h"
#include "print.h"
#include "text.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

FILE *cli_out(struct cli *cli)
{
	const char *path = cli_option(cli, "output");

	if (cli->out_)
		return cli->out_;
	if (!path || strcmp(path, "-") == 0)
		return cli->out_ = stdout;
	cli->out_ = fopen(path, "wb");
	if (!cli->out_)
		cli_error(cli, EXIT_OTHER, "cannot write %s: %s", path, strerror(errno));
	return cli->out_;
}

bool cli_print_json(struct cli *cli, const cleat_json *v, int *ret_code)
{
	const char *expression = cli_option(cli, "jq");
	FILE *to;

	if (!cli->json && !expression)
		return false;
	*ret_code = EXIT_OTHER;
	if (expression) {
		*ret_code = jq_print(cli, expression, v);
		return true;
	}
	to = cli_out(cli);
	if (!to)
		return true;
	*ret_code = EXIT_GOOD;
	/* For a person who looks at a terminal, for a program a line. */
	if (isatty(fileno(to)))
		cli_pretty(cli, to, v);
	else if (!print_json_line(to, v))
		*ret_code = cli_error(cli, EXIT_OTHER, "out of memory");
	return true;
}

int cli_close_output(struct cli *cli, int code)
{
	FILE *out = cli->out_ ? cli->out_ : stdout;
	bool bad = fflush(out) != 0 || ferror(out);
	int why = errno;

	if (out != stdout && fclose(out) != 0 && !bad) {
		bad = true;
		why = errno;
	}
	cli->out_ = NULL;
	if (!bad)
		return code;
	/* Whoever reads has seen enough (| head): nothing to complain about. */
	if (why != EPIPE)
		cli_error(cli, EXIT_OTHER, "cannot write the result: %s", strerror(why));
	return code ? code : EXIT_OTHER;
}

int cli_end(struct cli *cli, int code)
{
	code = cli_close_output(cli, code);
	cleat_client_free(cli->client);
	if (!server_end(cli) && code == EXIT_GOOD)
		code = EXIT_OTHER;
	cleat_loop_free(cli->loop);
	cli->client = NULL;
	cli->loop = NULL;
	if (cli_interrupted() && code != EXIT_GOOD)
		code = cli_interrupted_code();
	ask_end();
	config_free();
	keep_free_all();
	return code;
}
