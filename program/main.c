/* program/main.c - `cleat`, the program: finds the verb and runs it. */
#include "clients/config.h"
#include "help/help.h"
#include "reach/reach.h"
#include "reach/target.h"
#include "terminal/ask.h"
#include "terminal/await.h"
#include "terminal/output.h"
#include "text/text.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static int main_run(struct cli *cli, int argc, char **argv)
{
	int code = cli_parse(cli, argc, argv);

	if (code != EXIT_GOOD)
		return code;
	if (!cli->verb && cli_flag(cli, "version"))
		return help_version(cli);
	if (!cli->verb && cli_flag(cli, "help"))
		return help_all(cli);
	if (!cli->verb) {
		help_short();
		return EXIT_USAGE;
	}
	if (cli_flag(cli, "help"))
		return help_verb(cli, cli->verb);
	return cli->verb->run(cli);
}

/* Ends the run: the client, the output and all memory. Gives `code`, or EXIT_OTHER when output was lost. */
static int main_end(struct cli *cli, int code)
{
	code = cli_close_output(cli, code);
	if (!cli_client_end(cli) && code == EXIT_GOOD)
		code = EXIT_OTHER;
	if (cli_interrupted() && code != EXIT_GOOD)
		code = cli_interrupted_code();
	ask_end();
	config_free();
	keep_free_all();
	return code;
}

/* A closed stdout would be the number of the next socket. What takes its place cannot be written to (or read
 * from), so that the loss is still seen. */
static void fill_descriptors(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
			_exit(EXIT_OTHER);
}

int main(int argc, char **argv)
{
	struct cli cli = { 0 };

	fill_descriptors();
	bearer_take();
	/* A reader that goes away is seen by writing. */
	signal(SIGPIPE, SIG_IGN);
	return main_end(&cli, main_run(&cli, argc, argv));
}
