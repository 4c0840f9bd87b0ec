/* program/verbs/replay.c - `cleat replay`: plays a transcript, as the server or as the client. */
#include "record/replay.h"

static int replay_run(struct cli *cli)
{
	const char *address = cli_option(cli, "http");
	struct tape tape;
	int code;

	if (!cli->argc)
		return cli_usage(cli, "which transcript? cleat replay FILE");
	if (cli->argc > (cli->command ? 1 : 2))
		return cli_usage(cli, "\"%s\" is one word too many: a command goes after --",
				 cli->argv[cli->argc - 1]);
	cli->server = cli->argc > 1 ? cli->argv[1] : NULL;
	if (address && (cli->server || cli->command))
		return cli_usage(cli, "--http is for being the server: there is no SERVER then");
	code = tape_load(cli, cli->argv[0], &tape);
	if (code == EXIT_GOOD)
		code = cli->server || cli->command ? replay_compare(cli, &tape)
		       : address                   ? replay_http(cli, &tape, address)
						   : replay_mock(cli, &tape);
	tape_free(&tape);
	return code;
}

static const char *const usage[] = { "replay [OPTION]... FILE",
				     "replay --http ADDRESS [OPTION]... FILE",
				     "replay [OPTION]... FILE SERVER",
				     "replay [OPTION]... FILE -- COMMAND...", NULL };
static const struct cli_option own[] = {
	{ .name = "http",
	  .arg = "ADDRESS",
	  .help = "be the server over HTTP: 8080, 127.0.0.1:0 (any port), [::1]:8080/path" },
	{ .name = "ignore",
	  .letter = 'i',
	  .arg = "NAME",
	  .repeat = true,
	  .help = "do not compare members of this name" },
	{ 0 },
};
static const struct cli_example examples[] = {
	{ "cleat call --record session.ndjson http://localhost:8080/mcp add a=2 b=40 && cleat call -- cleat replay session.ndjson "
	  "-- add a=2 b=40",
	  "the transcript is the server" },
	{ "cleat call --record session.ndjson http://localhost:8080/mcp add a=2 b=40 && cleat replay session.ndjson -- ./hello",
	  "the same requests to another server: is anything different?" },
	{ 0 },
};

const struct verb verb_replay = {
	.name = "replay",
	.summary = "play back what was recorded: as the server, or as the client",
	.usage = usage,
	.about =
		"With FILE alone it is a server on stdin and stdout that answers as it was recorded. Requests "
		"are known by method and params; one that was not recorded is answered with an error that "
		"says so (-32601, or -32602 when the method was recorded with other params). With --http it is "
		"the same server on an address of this machine, for clients of all revisions, until "
		"Ctrl-C.\n\n"
		"With a SERVER it is a client: it sends the recorded requests, one after the other, answers "
		"questions as they were answered, compares the answers, and prints what is different (exit "
		"code 7). \"_meta\" is never compared; --ignore names more.\n\n"
		"Transcripts come from \"cleat record\" and from the option --record.",
	.groups = CLI_COMMAND | CLI_REACH | CLI_SPEAK | CLI_OUTPUT,
	.options = own,
	.examples = examples,
	.run = replay_run,
};
