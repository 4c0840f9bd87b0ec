/* program/verbs/serve.c - `cleat serve`: an MCP server without writing code. */
#include "terminal/output.h"
#include "text/print.h"

#include "serve/greet.h"
#include "serve/serve.h"
#include "text/text.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

struct serving {
	struct cli *cli;
	struct serve *s;
	struct serve_greeting greeting;
	size_t errors;
};

/* ---- what it says ---- */

static void on_say(void *ctx, int level, const char *line)
{
	struct serving *r = ctx;
	const char *word = level >= CLEAT_LOG_ERROR     ? ""
			   : level == CLEAT_LOG_WARNING ? "warning: "
							: "";

	r->errors += level >= CLEAT_LOG_ERROR;
	if (r->cli->quiet && level < CLEAT_LOG_ERROR)
		return;
	fprintf(stderr, "cleat serve: %s", word);
	print_safe(stderr, line, strlen(line));
	fputc('\n', stderr);
}

static void verbs_serve_on_ready(void *ctx)
{
	const struct serving *r = ctx;

	serve_greet(&r->greeting, r->s);
}

static void on_probe(void *ctx, int level, const char *line)
{
	(void)level;
	fputs(line, ctx);
	fputc('\n', ctx);
}

/* ---- options ---- */

static const char *const source_options[] = { "sh", "cmd", "dir", "sqlite", "openapi", "prompts" };

static const char *const *sources(const struct cli *cli)
{
	struct words w = { 0 };
	const char *value;

	for (size_t k = 0; k < CLEAT_COUNT(source_options); k++)
		for (size_t i = 0; (value = cli_option_at(cli, source_options[k], i)); i++) {
			words_add(&w, source_options[k]);
			words_add(&w, value);
		}
	return w.at;
}

/* The options that are members of cleat_http_options: texts, flags, lists. */
static const struct http_option {
	const char *name;
	enum { TEXT, FLAG, LIST } kind;
	size_t at;
} http_options[] = {
#define AT(member) offsetof(cleat_http_options, member)
	{ "token-file", TEXT, AT(token_file) },
	{ "tls-cert", TEXT, AT(tls_cert) },
	{ "tls-key", TEXT, AT(tls_key) },
	{ "metrics", TEXT, AT(metrics) },
	{ "allow-remote", FLAG, AT(allow_remote) },
	{ "no-old-sse", FLAG, AT(no_old_sse) },
	{ "no-sessions", FLAG, AT(no_sessions) },
	{ "modern-only", FLAG, AT(modern_only) },
	{ "lenient-headers", FLAG, AT(lenient_headers) },
	{ "allow-host", LIST, AT(allow_hosts) },
	{ "allow-origin", LIST, AT(allow_origins) }
#undef AT
};

/* What the command line adds to a list of the configuration. */
static const char *const *more(const struct cli *cli, const char *const *list, const char *name)
{
	struct words w = { 0 };
	const char *value;

	for (; list && *list; list++)
		words_add(&w, *list);
	for (size_t i = 0; (value = cli_option_at(cli, name, i)); i++)
		words_add(&w, value);
	return w.at;
}

/* The command line goes before the configuration. */
static void read_http(const struct cli *cli, cleat_http_options *http)
{
	for (size_t i = 0; i < CLEAT_COUNT(http_options); i++) {
		const struct http_option *k = &http_options[i];
		void *at = (char *)http + k->at;

		if (k->kind == LIST)
			*(const char *const **)at = more(cli, *(const char *const **)at, k->name);
		else if (k->kind == FLAG)
			*(bool *)at = *(bool *)at || cli_flag(cli, k->name);
		else if (cli_option(cli, k->name))
			*(const char **)at = cli_option(cli, k->name);
	}
	if (cli_flag(cli, "access-log"))
		http->access_log = STDERR_FILENO;
}

static int read_threads(const struct cli *cli, unsigned *ret)
{
	enum { MOST = 256 };
	const char *text = cli_option(cli, "threads");
	size_t n = 0;

	if (text && (!cli_size(text, &n) || n > MOST))
		return cli_usage(cli, "--threads needs a number from 1 to %d, not %s", MOST, text);
	*ret = (unsigned)n;
	return EXIT_GOOD;
}

/* Options of HTTP have a meaning only there. */
static int check_http(const struct cli *cli)
{
	static const char *const others[] = { "threads", "any-port", "access-log" };
	const char *found = NULL;

	for (size_t i = 0; i < CLEAT_COUNT(others); i++)
		found = cli_option(cli, others[i]) ? others[i] : found;
	for (size_t i = 0; i < CLEAT_COUNT(http_options); i++)
		found = cli_option(cli, http_options[i].name) ? http_options[i].name : found;
	return found ? cli_usage(cli, "--%s is of no use without --http ADDRESS", found)
		     : EXIT_GOOD;
}

/* ---- the verb ---- */

/* The server's own descriptors must not become 0, 1 or 2. */
static void open_standard(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

static int print_check(struct cli *cli, const struct serve *s)
{
	static const char *const titles[] = { "tools", "resources", "resource templates",
					      "prompts" };
	FILE *to = cli_out(cli);
	const char *name;
	size_t all = 0;

	if (!to)
		return EXIT_OTHER;
	print_line(to, serve_name(s));
	fputs(" is in order.\n", to);
	for (size_t k = 0; k < CLEAT_COUNT(titles); k++) {
		size_t n = serve_count(s, (enum serve_kind)k);

		if (!n)
			continue;
		fprintf(to, "%zu %.*s:", n, (int)(strlen(titles[k]) - (n == 1)), titles[k]);
		for (size_t i = 0; i < 20 && (name = serve_item(s, (enum serve_kind)k, i)); i++) {
			fputs(i ? ", " : " ", to);
			print_line(to, name);
		}
		fputs(n > 20 ? ", ...\n" : "\n", to);
		all += n;
	}
	if (!all)
		fputs("It offers nothing.\n", to);
	return EXIT_GOOD;
}

static int check_options(struct cli *cli, const char *const *from)
{
	if (!cli->argc && !from)
		return cli_usage(cli, "what is to be served? A configuration FILE, or --sh, --cmd, "
				      "--dir, --sqlite, --openapi, --prompts");
	if (cli_flag(cli, "stdio") && cli_option(cli, "http"))
		return cli_usage(cli, "--stdio and --http: choose one of them");
	return EXIT_GOOD;
}

static int serve_serve(struct serving *r)
{
	cleat_http_options http;
	const char *address = serve_http(r->s, &http);
	const char *const configured[] = { address, NULL };
	cleat_main_options o = { .listen = more(r->cli, NULL, "http"),
				 .http = &http,
				 .any_port = cli_flag(r->cli, "any-port") };
	int code;

	if (!o.listen && !cli_flag(r->cli, "stdio"))
		o.listen = configured;
	code = o.listen && *o.listen ? read_threads(r->cli, &http.threads) : check_http(r->cli);
	if (code != EXIT_GOOD) {
		serve_free(r->s);
		return code;
	}
	read_http(r->cli, &http);
	return serve_main(r->s, &o);
}

static int serve_run(struct cli *cli)
{
	struct serving r = { .cli = cli };
	struct serve_options o = {
		.files = cli->argc ? cli->argv : NULL,
		.sources = sources(cli),
		.name = cli_option(cli, "name"),
		.watch = cli_flag(cli, "watch"),
		.check = cli_flag(cli, "check"),
		.say = on_say,
		.ready = verbs_serve_on_ready,
		.ctx = &r,
	};
	struct words files = { 0 };
	int code, status;

	if (cli_flag(cli, "probe")) {
		serve_probe(on_probe, stdout);
		return EXIT_GOOD;
	}
	if (cli_flag(cli, "schema")) {
		fputs(serve_schema(), stdout);
		return EXIT_GOOD;
	}
	code = check_options(cli, o.sources);
	if (code != EXIT_GOOD)
		return code;
	for (int i = 0; i < cli->argc; i++)
		words_add(&files, cli->argv[i]);
	o.files = files.at;
	r.greeting = (struct serve_greeting){
		.quiet = cli->quiet,
		.files = o.files,
		.sources = o.sources,
		.name = o.name,
		.banner = cli_flag(cli, "banner"),
	};
	open_standard();
	/* From here on it means "load again", also while it is too early for that. */
	signal(SIGHUP, SIG_IGN);
	signal(SIGXFSZ,
	       SIG_IGN); /* a file that may not grow is the failure of a call, not of the server */
	r.s = serve_new(&o, &status);
	if (!r.s)
		return status == CLEAT_EINVAL ? EXIT_CHECK : EXIT_OTHER;
	if (!o.check)
		return serve_serve(&r);
	code = print_check(cli, r.s);
	serve_free(r.s);
	return code;
}

static const char *const usage[] = {
	"serve [OPTION]... FILE...",
	"serve [OPTION]... --sh|--cmd|--dir|--sqlite|--openapi|--prompts ...", NULL
};
static const struct cli_option own[] = {
	{ .name = "sh",
	  .arg = "TOOL",
	  .repeat = true,
	  .help = "a tool that is a script: 'NAME(args) \"description\": SCRIPT'; arguments are "
		  "variables, as in \"$path\"" },
	{ .name = "cmd",
	  .arg = "TOOL",
	  .repeat = true,
	  .help = "a tool that is a command, without a shell: 'NAME(args): program {arg} ...'" },
	{ .name = "dir",
	  .arg = "PATH[:rw]",
	  .repeat = true,
	  .help = "a folder: tools to list, read and search its files, with :rw to change them" },
	{ .name = "sqlite",
	  .arg = "FILE[:rw]",
	  .repeat = true,
	  .help = "an SQLite database: a tool for queries, and its schema" },
	{ .name = "openapi",
	  .arg = "FILE[=URL]",
	  .repeat = true,
	  .help = "a web API: each operation of its OpenAPI document is a tool" },
	{ .name = "prompts",
	  .arg = "DIR",
	  .repeat = true,
	  .help = "a directory of prompts (Markdown files)" },
	{ .name = "name", .arg = "NAME", .help = "the server's name" },
	{ .name = "watch", .help = "load the configuration again when its files change" },
	{ .name = "check", .help = "only see whether everything is right (exit status 7 if not)" },
	{ .name = "probe", .help = "say what sandboxes can do on this machine" },
	{ .name = "schema", .help = "print the JSON Schema of configuration files" },
	{ .name = "stdio", .help = "serve standard input and output (the default)" },
	{ .name = "http",
	  .arg = "ADDRESS",
	  .repeat = true,
	  .help = "serve HTTP: 8080, 127.0.0.1:8080, http://127.0.0.1:8080/mcp, unix:/path" },
	{ .name = "any-port", .help = "where the port is taken, serve another and say so" },
	{ .name = "banner", .help = "say how to use it also where there is no terminal" },
	{ .name = "token-file",
	  .arg = "FILE",
	  .help = "clients need a bearer token: one \"NAME TOKEN\" a line" },
	{ .name = "allow-remote", .help = "serve an address that others can reach without tokens" },
	{ .name = "allow-host", .arg = "NAME", .repeat = true, .help = "accept this name in Host" },
	{ .name = "allow-origin",
	  .arg = "URL",
	  .repeat = true,
	  .help = "accept web pages of this origin" },
	{ .name = "tls-cert",
	  .arg = "FILE",
	  .help = "certificate chain (PEM), with --tls-key: serve https" },
	{ .name = "tls-key", .arg = "FILE", .help = "its private key" },
	{ .name = "threads", .arg = "N", .help = "threads that serve connections (default: 1)" },
	{ .name = "metrics",
	  .arg = "ADDRESS",
	  .help = "serve counters for Prometheus at /metrics there" },
	{ .name = "access-log", .help = "one JSON line for each request on standard error" },
	{ .name = "no-old-sse", .help = "not the older transport of 2024-11-05" },
	{ .name = "no-sessions", .help = "keep no sessions: clients of 2025 are answered without" },
	{ .name = "modern-only", .help = "only clients of 2026-07-28" },
	{ .name = "lenient-headers",
	  .help = "take messages of 2026-07-28 whose headers are missing or name an older revision" },
	{ 0 },
};
static const struct cli_example examples[] = {
	{ "cleat call -- cleat serve --sh 'disk_usage(path: string \"Folder to measure\"): du -sh \"$path\"' -- "
	  "disk_usage path=.",
	  "a script as a tool, and a call of it" },
	{ "cleat ls -- cleat serve --cmd 'today() \"The date\": date +%F'",
	  "a command without a shell" },
	{ "cleat serve --check --cmd 'today() \"The date\": date +%F'",
	  "is everything right, and what would be served?" },
	{ 0 },
};

const struct verb verb_serve = {
	.name = "serve",
	.summary = "put commands, folders, databases and web APIs behind MCP",
	.usage = usage,
	.about =
		"Puts what you already have behind MCP: with options, or with configuration files (JSON with "
		"comments; \"cleat serve --schema\" prints their schema, and docs/guides/configuration.md is "
		"their reference). Both may be combined and repeated.\n\n"
		"It is safe by default: arguments never reach a shell as text, folders are never left, writing "
		"has to be allowed (:rw), output, time and the number of calls are limited, and what a tool "
		"starts ends with it.\n\n"
		"SIGHUP (or --watch) loads the configuration again: clients are told what has changed, calls "
		"that run finish as they began, and a configuration with a mistake changes nothing.",
	.groups = CLI_NO_OPTIONS,
	.options = own,
	.examples = examples,
	.run = serve_run,
};
