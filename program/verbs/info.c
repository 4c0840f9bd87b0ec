/* program/verbs/info.c - `cleat info`: what a server says about itself. */
#include "reach/catalog.h"
#include "reach/reach.h"
#include "terminal/await.h"
#include "terminal/output.h"
#include "text/print.h"

#include <string.h>

static void label(struct cli *cli, FILE *to, const char *text)
{
	fprintf(to, "%s%-14s%s", cli->color ? COLOR_BOLD : "", text, cli->color ? COLOR_OFF : "");
}

/* "tools (listChanged), resources (subscribe)" */
static void print_capabilities(struct cli *cli, FILE *to, const cleat_json *capabilities)
{
	cleat_json_iter it = cleat_json_each(capabilities), inner;

	label(cli, to, "capabilities");
	while (cleat_json_next(&it)) {
		unsigned n = 0;

		fputs(it.index ? ", " : "", to);
		print_line(to, cleat_json_str(it.key, ""));
		inner = cleat_json_each(it.value);
		while (cleat_json_next(&inner)) {
			if (cleat_json_type(inner.value) == CLEAT_JSON_BOOL &&
			    !cleat_json_bool(inner.value, false))
				continue;
			fputs(n++ ? ", " : " (", to);
			print_line(to, cleat_json_str(inner.key, ""));
		}
		fputs(n ? ")" : "", to);
	}
	fputs(cleat_json_size(capabilities) ? "\n" : "none\n", to);
}

/* How many of each there are, where the server has them. */
static int print_counts(struct cli *cli, FILE *to)
{
	static const char *const capability[] = { "tools", "resources", "resources", "prompts" };

	for (size_t i = 0; i < CLEAT_COUNT(catalog_kinds); i++) {
		cleat_result *r;
		int code;

		if (!cleat_client_server_can(cli->client, capability[i]))
			continue;
		r = cli_await_list(cli, catalog_kinds[i].list);
		/* Templates are often not there although resources are. */
		if (cleat_result_error(r)->rpc_code == CLEAT_RPC_METHOD_NOT_FOUND) {
			cleat_result_free(r);
			continue;
		}
		code = cli_result_code(cli, r);
		if (code == EXIT_GOOD) {
			label(cli, to, catalog_kinds[i].option);
			fprintf(to, "%zu\n", cleat_json_size(cleat_result_items(r)));
		}
		cleat_result_free(r);
		if (code != EXIT_GOOD)
			return code;
	}
	return EXIT_GOOD;
}

static void print_text_of(struct cli *cli, FILE *to, const char *name, const char *text)
{
	if (!text || !*text)
		return;
	label(cli, to, name);
	print_line(to, text);
	fputc('\n', to);
}

static int print_info(struct cli *cli, FILE *to, double ready_ms)
{
	cleat_client *c = cli->client;
	const cleat_json *server = cleat_client_server(c),
			 *info = cleat_json_get(server, "serverInfo");
	int code;

	if (!info)
		info = cleat_json_get(cleat_json_get(server, "_meta"),
				      "io.modelcontextprotocol/serverInfo");
	print_text_of(cli, to, "name", cleat_client_server_name(c));
	print_text_of(cli, to, "version", cleat_client_server_version(c));
	print_text_of(cli, to, "title", cleat_json_str(cleat_json_get(info, "title"), NULL));
	print_text_of(cli, to, "description",
		      cleat_json_str(cleat_json_get(info, "description"), NULL));
	print_text_of(cli, to, "website", cleat_json_str(cleat_json_get(info, "websiteUrl"), NULL));
	label(cli, to, "revision");
	fprintf(to, "%s (%s)\n", cleat_client_revision(c),
		cleat_client_era(c) == CLEAT_ERA_MODERN ? "modern" : "legacy");
	label(cli, to, "ready after");
	fprintf(to, "%.1f ms\n", ready_ms);
	print_capabilities(cli, to, cleat_json_get(server, "capabilities"));
	code = print_counts(cli, to);
	if (code != EXIT_GOOD)
		cli_out_drop(cli);
	if (code == EXIT_GOOD && cleat_client_instructions(c)) {
		fprintf(to, "%sinstructions%s\n", cli->color ? COLOR_BOLD : "",
			cli->color ? COLOR_OFF : "");
		print_wrapped(to, cleat_client_instructions(c), 2);
	}
	return code;
}

static int info_run(struct cli *cli)
{
	double ready_ms;
	FILE *to;
	int code;

	if (cli->argc)
		return cli_usage(cli, "\"%s\" is one word too many: info takes a SERVER only",
				 cli->argv[0]);
	if (!cli_client(cli, NULL, &code) || (code = cli_open(cli)) != EXIT_GOOD)
		return code;
	ready_ms = cli_ms_since_start();
	if (cli_print_json(cli, cleat_client_server(cli->client), &code))
		return code;
	to = cli_out(cli);
	return to ? print_info(cli, to, ready_ms) : EXIT_OTHER;
}

static const char *const usage[] = { "info [OPTION]... SERVER", "info [OPTION]... -- COMMAND...",
				     NULL };
static const struct cli_example examples[] = {
	{ "cleat info http://localhost:8080/mcp",
	  "name, revision, capabilities, counts, instructions" },
	{ "cleat info --era legacy --json -- ./hello", "the result of initialize" },
	{ 0 },
};

const struct verb verb_info = {
	.name = "info",
	.summary = "show what a server says about itself, and what it speaks",
	.usage = usage,
	.about =
		"With --json the result of server/discover (2026-07-28) or initialize is printed as it came.",
	.groups = CLI_SERVER | CLI_OUTPUT,
	.examples = examples,
	.run = info_run,
};
