/* program/verbs/ping.c - `cleat ping`: does the server answer, and how fast? */
#include "reach/reach.h"
#include "terminal/await.h"
#include "terminal/output.h"
#include "text/print.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 1000000 };

struct times {
	unsigned n;
	double least, most, sum;
};

static int ping(struct cli *cli, struct times *t, FILE *to)
{
	/* 2026-07-28 has no ping; server/discover is what every server answers. */
	bool modern = cleat_client_era(cli->client) == CLEAT_ERA_MODERN;
	double start = cli_ms_since_start(), ms;
	cleat_result *r = cli_await(cli, modern ? "server/discover" : "ping", NULL);
	int code = cli_result_code(cli, r);

	ms = cli_ms_since_start() - start;
	cleat_result_free(r);
	if (code != EXIT_GOOD)
		return code;
	t->least = !t->n || ms < t->least ? ms : t->least;
	t->most = ms > t->most ? ms : t->most;
	t->sum += ms;
	t->n++;
	if (!cli->json && !cli_option(cli, "jq")) {
		print_line(to, cleat_client_server_name(cli->client));
		fprintf(to, " answers after %.2f ms\n", ms);
		fflush(to);
	}
	return EXIT_GOOD;
}

static int print_summary(struct cli *cli, const struct times *t, FILE *to)
{
	int code = EXIT_OTHER;

	if (!cli->json && !cli_option(cli, "jq")) {
		if (t->n > 1)
			fprintf(to, "%u answers: least %.2f ms, mean %.2f ms, most %.2f ms\n", t->n,
				t->least, t->sum / t->n, t->most);
		return EXIT_GOOD;
	}
	cli_print_doc(cli,
		      cleat_doc_newf(NULL, "{count: %u, ms: {least: %g, mean: %g, most: %g}}", t->n,
				     t->least, t->sum / t->n, t->most),
		      &code);
	return code;
}

static int ping_read_options(struct cli *cli, unsigned *count, uint64_t *interval)
{
	const char *c = cli_option(cli, "count"), *i = cli_option(cli, "interval");
	char *end;
	unsigned long n = c ? strtoul(c, &end, 10) : 1;

	*interval = 1000;
	if (c && (!*c || *end || !n || n > MOST || *c == '-'))
		return cli_usage(cli, "--count is a number from 1 to %d, not \"%s\"", MOST, c);
	if (i && !cli_duration(i, interval))
		return cli_usage(cli, "--interval is a time like 1s or 250ms, not \"%s\"", i);
	*count = (unsigned)n;
	return EXIT_GOOD;
}

static int ping_run(struct cli *cli)
{
	struct times t = { 0 };
	uint64_t interval;
	unsigned count = 1;
	bool never = false;
	FILE *to;
	int code = ping_read_options(cli, &count, &interval);

	if (code != EXIT_GOOD)
		return code;
	if (cli->argc)
		return cli_usage(cli, "\"%s\" is one word too many: ping takes a SERVER only",
				 cli->argv[0]);
	if (!cli_client(cli, NULL, &code) || (code = cli_open(cli)) != EXIT_GOOD)
		return code;
	to = cli_out_live(cli);
	for (unsigned i = 0; to && i < count && code == EXIT_GOOD && !cli_interrupted(); i++) {
		if (i)
			cli_wait(cli, &never, (int)interval);
		if (!cli_interrupted())
			code = ping(cli, &t, to);
	}
	if (!to || !t.n)
		return code ? code : EXIT_OTHER;
	print_summary(cli, &t, to);
	if (!cli_interrupted())
		return code;
	return cli->json ? cli_say_interrupted(cli) : cli_interrupted_code();
}

static const char *const usage[] = { "ping [OPTION]... SERVER", "ping [OPTION]... -- COMMAND...",
				     NULL };
static const struct cli_option own[] = {
	{ .name = "count", .letter = 'c', .arg = "N", .help = "this many times; default: once" },
	{ .name = "interval", .letter = 'i', .arg = "TIME", .help = "between two; default: 1s" },
	{ 0 },
};
static const struct cli_example examples[] = {
	{ "cleat ping http://localhost:8080/mcp", "does it answer? The exit code says so, too" },
	{ "cleat ping -c 3 -i 10ms -- ./hello", "three times, and how long it takes on average" },
	{ 0 },
};

const struct verb verb_ping = {
	.name = "ping",
	.summary = "see whether a server answers, and how fast",
	.usage = usage,
	.about =
		"The time is that of one request and its answer on a connection that is there already; "
		"\"cleat info\" says how long it takes to begin.",
	.groups = CLI_SERVER | CLI_OUTPUT,
	.options = own,
	.examples = examples,
	.run = ping_run,
};
