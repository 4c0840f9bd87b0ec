/* program/reach/server.c - SERVER and the options for reaching it, to a client; where SERVER is: target.c. What the
 * server says meanwhile on its stderr and in its log is shown from here, and with -v all messages are. */
#include "clients/config.h"
#include "reach/reach.h"
#include "reach/target.h"
#include "terminal/ask.h"
#include "terminal/await.h"
#include "terminal/jq.h"
#include "text/print.h"
#include "text/text.h"
#include "transcript/transcript.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum {
	PATIENCE_MS = 3600 * 1000,
	SIZE_MOST =
		256
		<< 20, /* a result is what was asked for: more than the library takes from anybody */
	NOTES_MOST = 20, /* without -v */
	QUOTED = 80,     /* what the library quotes of an answer */
	EARLY_MOST = 100 /* lines that are known again */
};

const struct cli_option cli_reach_options[] = {
	{ .name = "config", .arg = "FILE", .help = "look for names in this file only" },
	{ .name = "header",
	  .letter = 'H',
	  .arg = "'NAME: VALUE'",
	  .repeat = true,
	  .help = "a header for every HTTP request" },
	{ .name = "bearer",
	  .arg = "TOKEN",
	  .help = "a token for Authorization; default: $CLEAT_BEARER (see cleat help environment)" },
	{ .name = "insecure", .letter = 'k', .help = "accept any certificate" },
	{ .name = "ca", .arg = "FILE", .help = "trust the certificates in this PEM file" },
	{ .name = "proxy", .arg = "URL", .help = "an HTTP proxy; \"\" for none" },
	{ .name = "env",
	  .letter = 'e',
	  .arg = "NAME=VALUE",
	  .repeat = true,
	  .help = "a variable for the command; NAME alone: as it is here" },
	{ .name = "cwd", .arg = "DIR", .help = "where the command runs" },
	{ 0 },
};

const struct cli_option cli_speak_options[] = {
	{ .name = "era",
	  .arg = "ERA",
	  .choices = "auto|legacy|modern",
	  .help = "auto (find out), legacy (up to 2025-11-25), modern (2026-07-28)" },
	{ .name = "protocol", .arg = "REV", .help = "speak this revision only: 2025-06-18" },
	{ .name = "timeout",
	  .arg = "TIME",
	  .help = "give up after this time: 30, 2.5s, 250ms, 5m" },
	{ .name = "log",
	  .arg = "LEVEL",
	  .choices = "debug|info|notice|warning|error|critical|alert|emergency",
	  .help = "ask for the server's log messages, from this level on" },
	{ .name = "record",
	  .arg = "FILE",
	  .help = "write every message to FILE, a line of JSON each (see cleat replay)" },
	{ .name = "force", .help = "replace files that exist already (--record, --save)" },
	{ .name = "root",
	  .arg = "DIR",
	  .repeat = true,
	  .help = "a folder to tell the server of when it asks for roots" },
	{ .name = "max-size",
	  .arg = "SIZE",
	  .help = "the largest message accepted from the server (default: 256M)" },
	{ .name = "no-cache", .help = "ask the server, whatever is known" },
	{ 0 },
};

/* ---- what is shown meanwhile --------------------------------------------------------------------- */

struct cli_server_state {
	struct cli *cli;
	struct timespec started;
	bool told; /* on_state has come */
	bool color;
	void (*on_state)(cleat_client *c, const cleat_error *why, void *userdata);
	cleat_client_options opts;
	struct target target;
	struct transcript *transcript; /* --record */
	cleat_doc *refusal;            /* keep_refusal() */
	unsigned notes;                /* that were shown */
	struct words early;            /* what the program has written before it was ready */
	bool second_start;
	size_t again; /* how many of `early` it has written once more */
	void (*on_message)(cleat_client *c, bool out, const char *text, size_t n, void *userdata);
	void (*on_trace)(cleat_client *c, bool out, const char *line, void *userdata);
};

static struct cli_server_state *state;

static void begin_line(const char *mark, const char *color)
{
	await_clear();
	if (state->color)
		fputs(color, stderr);
	fputs(mark, stderr);
}

static void end_line(void)
{
	fputs(state->color ? COLOR_OFF "\n" : "\n", stderr);
	await_restore();
}

static void show_message(cleat_client *c, bool out, const char *text, size_t n, void *userdata)
{
	(void)c;
	(void)userdata;
	begin_line(out ? "> " : "< ", out ? COLOR_KEY : COLOR_STRING);
	print_safe(stderr, text, n);
	end_line();
}

static void show_trace(cleat_client *c, bool out, const char *line, void *userdata)
{
	(void)c;
	(void)userdata;
	/* Headers beside the messages are for those who look for them. */
	if (line[0] != '*' && state->cli->verbose < 2)
		return;
	if (line[0] == '*')
		begin_line("", COLOR_DIM);
	else
		begin_line(out ? "> " : "< ", COLOR_DIM);
	print_safe(stderr, line, strlen(line));
	end_line();
}

static bool is_initialize(const char *text, size_t n)
{
	static const char method[] = "\"method\":\"initialize\"";
	size_t i = 0, length = sizeof method - 1;

	while (i + length <= n && memcmp(text + i, method, length) != 0)
		i++;
	return i + length <= n;
}

/* The last error that came before the server was ready: the library's message has the beginning of it. */
static void keep_refusal(const char *text, size_t n)
{
	cleat_doc *doc = cleat_doc_parse(text, n, NULL, NULL, NULL);
	const cleat_json *error = cleat_json_get(cleat_doc_root(doc), "error");

	if (strlen(cleat_json_str(cleat_json_get(error, "message"), "")) < QUOTED) {
		cleat_doc_free(doc);
		return;
	}
	cleat_doc_free(state->refusal);
	state->refusal = doc;
}

const cleat_json *cli_refusal(const struct cli *cli)
{
	return cli->server_ ? cleat_json_get(cleat_doc_root(cli->server_->refusal), "error") : NULL;
}

/* A verb that looks at messages itself takes them from nobody else. */
static void pass_message(cleat_client *c, bool out, const char *text, size_t n, void *userdata)
{
	if (out && state->early.n && !state->told && is_initialize(text, n))
		state->second_start = true;
	if (!out && !cleat_client_revision(c))
		keep_refusal(text, n);
	if (state->transcript)
		transcript_add(state->transcript, out, text, n);
	if (state->cli->verbose)
		show_message(c, out, text, n, userdata);
	if (state->on_message)
		state->on_message(c, out, text, n, userdata);
}

static void pass_trace(cleat_client *c, bool out, const char *line, void *userdata)
{
	if (state->cli->verbose)
		show_trace(c, out, line, userdata);
	if (state->on_trace)
		state->on_trace(c, out, line, userdata);
}

/* A program that ends when it is asked for server/discover is started once more, for initialize, and says
 * everything again. */
static bool said_before(const char *line)
{
	struct words *early = &state->early;

	if (state->told || state->cli->verbose)
		return false;
	if (!state->second_start && early->n < EARLY_MOST)
		words_add(early, keepf("%s", line));
	if (!state->second_start || state->again == early->n)
		return false;
	if (strcmp(early->at[state->again], line) == 0) {
		state->again++;
		return true;
	}
	state->again = early->n; /* from here on it is different */
	return false;
}

static void show_stderr(cleat_client *c, const char *line, void *userdata)
{
	(void)c;
	(void)userdata;
	if (said_before(line))
		return;
	begin_line("[server] ", COLOR_DIM);
	print_safe(stderr, line, strlen(line));
	end_line();
}

static void show_note(cleat_client *c, int level, const char *text, void *userdata)
{
	(void)c;
	(void)userdata;
	if (!state->cli->verbose && (level < CLEAT_LOG_WARNING || state->notes > NOTES_MOST))
		return;
	if (!state->cli->verbose && state->notes++ == NOTES_MOST)
		text = "there are more remarks like these; -v shows all";
	begin_line(state->cli->verbose ? "* " : "cleat: ", COLOR_DIM);
	text = cli_in_options(text);
	print_safe(stderr, text, strlen(text));
	end_line();
}

static void show_log(cleat_client *c, int level, const char *logger, const cleat_json *data,
		     void *userdata)
{
	const char *name = cleat_log_level_name(level), *text = cleat_json_str(data, NULL);
	char *printed = text ? NULL : cleat_json_print(data, NULL);

	(void)c;
	(void)userdata;
	begin_line("[", COLOR_DIM);
	fputs(name ? name : "log", stderr);
	if (logger && *logger) {
		fputc(' ', stderr);
		print_line(stderr, logger);
	}
	fputs("] ", stderr);
	if (!text)
		text = printed ? printed : "";
	print_safe(stderr, text, strlen(text));
	free(printed);
	end_line();
}

double cli_ms_since_start(void)
{
	struct timespec now;

	if (!state)
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - state->started.tv_sec) * 1e3 +
	       (double)(now.tv_nsec - state->started.tv_nsec) / 1e6;
}

static void on_state(cleat_client *c, const cleat_error *why, void *userdata)
{
	state->told = true;
	if (state->cli->verbose) {
		begin_line("* ", COLOR_DIM);
		if (why->status == CLEAT_OK) {
			print_line(stderr, cleat_client_server_name(c));
			fputc(' ', stderr);
			print_line(stderr, cleat_client_server_version(c));
			fprintf(stderr, " is ready after %.1f ms, speaks %s", cli_ms_since_start(),
				cleat_client_revision(c));
		} else {
			print_line(stderr, cli_in_options(why->message));
		}
		end_line();
	}
	if (state->on_state)
		state->on_state(c, why, userdata);
}

/* ---- options ------------------------------------------------------------------------------------- */

static bool same_header(const char *a, const char *b)
{
	size_t n = strcspn(a, ":");

	return n == strcspn(b, ":") && strncasecmp(a, b, n) == 0;
}

/* Those of the command line instead of those of the file. */
static int join_headers(struct cli *cli, struct target *t)
{
	struct words all = { 0 };
	const char *h;

	for (size_t i = 0; (h = cli_option_at(cli, "header", i)) != NULL; i++) {
		if (!strchr(h, ':') || h[0] == ':')
			return cli_usage(cli, "--header is 'NAME: VALUE', not \"%s\"", h);
		words_add(&all, h);
	}
	for (size_t i = 0; i < t->headers.n; i++) {
		bool replaced = false;

		for (size_t k = 0; (h = cli_option_at(cli, "header", k)) != NULL; k++)
			replaced = replaced || same_header(h, t->headers.at[i]);
		if (cli_option(cli, "bearer") && same_header("Authorization:", t->headers.at[i]))
			replaced = true;
		if (!replaced)
			words_add(&all, t->headers.at[i]);
	}
	t->headers = all;
	return EXIT_GOOD;
}

static const char *bearer(struct cli *cli, struct target *t)
{
	const char *token = cli_option(cli, "bearer");

	if (token)
		return token;
	for (size_t i = 0; i < t->headers.n; i++)
		if (same_header("Authorization:", t->headers.at[i]))
			return NULL;
	return bearer_for(t, &t->no_bearer);
}

static int set_time(struct cli *cli, cleat_client_options *o)
{
	const char *text = cli_option(cli, "timeout");
	uint64_t ms;

	if (!text) {
		/* A person may take longer to answer than a server. */
		if (cli->verb->groups & CLI_ASKED)
			o->hard_timeout_ms = PATIENCE_MS;
		return EXIT_GOOD;
	}
	if (!cli_duration(text, &ms) || !ms)
		return cli_usage(cli, "--timeout is a time like 30, 2.5s, 250ms or 5m, not \"%s\"",
				 text);
	o->timeout_ms = o->hard_timeout_ms = o->connect_timeout_ms = (unsigned)ms;
	if (ms < 3000)
		o->probe_timeout_ms = (unsigned)(ms / 2 ? ms / 2 : 1);
	return EXIT_GOOD;
}

static int set_size(struct cli *cli, cleat_client_options *o)
{
	const char *text = cli_option(cli, "max-size");

	o->max_message = SIZE_MOST;
	if (text && !cli_size(text, &o->max_message))
		return cli_usage(cli, "--max-size is a size up to 1G, like 64M or 100k, not \"%s\"",
				 text);
	return EXIT_GOOD;
}

/* file:///home/me/a%20b; what is an address already stays one. False: there is no such folder. */
static bool set_root(cleat_root *root, const char *dir)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789-._~/";
	struct text t = { 0 };
	char *path;

	root->uri = dir;
	if (strstr(dir, "://"))
		return true;
	path = realpath(dir, NULL);
	if (!path)
		return false;
	root->name = strrchr(keep(path), '/') + 1;
	if (!*root->name)
		root->name = NULL;
	text_puts(&t, "file://");
	for (const char *p = path; *p; p++)
		if (strchr(plain, *p))
			text_add(&t, p, 1);
		else
			text_printf(&t, "%%%02X", (unsigned)(unsigned char)*p);
	root->uri = keep(text_take(&t));
	return true;
}

static int set_roots(struct cli *cli, cleat_client_options *o)
{
	const char *dir;
	cleat_root *roots;
	size_t n = 0;

	while (cli_option_at(cli, "root", n))
		n++;
	roots = keep_alloc(n * sizeof *roots);
	for (size_t i = 0; (dir = cli_option_at(cli, "root", i)) != NULL; i++)
		if (!set_root(&roots[i], dir))
			return cli_usage(cli, "--root %s: %s", dir, strerror(errno));
	o->roots = roots;
	o->n_roots = n;
	return EXIT_GOOD;
}

static int set_options(struct cli *cli, struct target *t, cleat_client_options *o)
{
	const char *era = cli_option(cli, "era"), *e;
	int code = target_check(cli, t);

	if (code == EXIT_GOOD)
		code = set_time(cli, o);
	if (code == EXIT_GOOD)
		code = set_size(cli, o);
	if (code == EXIT_GOOD)
		code = set_roots(cli, o);
	if (code == EXIT_GOOD)
		code = join_headers(cli, t);
	if (code != EXIT_GOOD)
		return code;
	for (size_t i = 0; (e = cli_option_at(cli, "env", i)) != NULL; i++)
		words_add(&t->env, bearer_env(e));
	if (era)
		o->era = *era == 'l'   ? CLEAT_ERA_LEGACY
			 : *era == 'm' ? CLEAT_ERA_MODERN
				       : CLEAT_ERA_AUTO;
	if (cli_option(cli, "protocol"))
		o->protocol = cli_option(cli, "protocol");
	o->headers = t->headers.at;
	o->bearer = bearer(cli, t);
	o->proxy = cli_option(cli, "proxy");
	o->ca_file = cli_option(cli, "ca");
	o->insecure = cli_flag(cli, "insecure");
	o->old_sse = t->old_sse;
	o->env = t->env.at;
	o->inherit_env = t->inherit_env;
	o->cwd = cli_option(cli, "cwd") ? cli_option(cli, "cwd") : t->cwd;
	o->no_cache = o->no_cache || cli_flag(cli, "no-cache");
	o->log_level = cli_option(cli, "log") ? cli_option(cli, "log") : o->log_level;
	return EXIT_GOOD;
}

static void set_callbacks(struct cli *cli, cleat_client_options *o)
{
	o->on_state = on_state;
	if (!o->on_stderr && cli_remarks(cli))
		o->on_stderr = show_stderr;
	if (!o->on_note && cli_remarks(cli))
		o->on_note = show_note;
	state->on_message = o->on_message;
	o->on_message = pass_message;
	state->on_trace = o->on_trace;
	if (cli->verbose || state->on_trace)
		o->on_trace = pass_trace;
	if (!o->on_log && o->log_level)
		o->on_log = show_log;
}

/* ---- the client ---------------------------------------------------------------------------------- */

static int make(struct cli *cli, const cleat_client_options *want)
{
	cleat_client_options *o = &state->opts;
	struct target t;
	int code = target_find(cli, &t);

	if (code == EXIT_GOOD)
		code = jq_check(cli);
	if (code == EXIT_GOOD && want)
		*o = *want;
	if (code == EXIT_GOOD)
		code = set_options(cli, &t, o);
	state->target = t;
	if (code == EXIT_GOOD)
		code = ask_prepare(cli, o);
	if (code != EXIT_GOOD)
		return code;
	if (cli_option(cli, "record") &&
	    (state->transcript = transcript_new(cli, cli_option(cli, "record"),
						cli_flag(cli, "force"))) == NULL)
		return EXIT_OTHER;
	set_callbacks(cli, o);
	cli->loop = cleat_loop_new(NULL);
	if (!cli->loop)
		return cli_error(cli, EXIT_OTHER, "could not create an event loop");
	await_signals(cli->loop);
	o->name = o->name ? o->name : "cleat";
	o->version = o->version ? o->version : cleat_version();
	o->loop = cli->loop;
	if (cli->verbose && t.url) {
		begin_line("* connecting to ", COLOR_DIM);
		print_safe(stderr, t.url, strcspn(t.url, "?"));
		end_line();
		if (t.no_bearer)
			show_note(NULL, CLEAT_LOG_INFO, t.no_bearer, NULL);
	} else if (cli->verbose) {
		begin_line("* starting", COLOR_DIM);
		for (size_t i = 0; t.argv[i]; i++) {
			fputc(' ', stderr);
			print_safe(stderr, t.argv[i], strlen(t.argv[i]));
		}
		end_line();
	}
	cli->client = t.url ? cleat_client_connect(t.url, o) : cleat_client_spawn(t.argv, o);
	return cli->client ? EXIT_GOOD : cli_error(cli, EXIT_OTHER, "out of memory");
}

cleat_client *cli_client(struct cli *cli, const cleat_client_options *want, int *ret_code)
{
	*ret_code = EXIT_GOOD;
	if (cli->client)
		return cli->client;
	state = keep_alloc(sizeof *state);
	cli->server_ = state;
	state->cli = cli;
	state->on_state = want ? want->on_state : NULL;
	state->color = cli_color(cli, stderr);
	clock_gettime(CLOCK_MONOTONIC, &state->started);
	*ret_code = make(cli, want);
	return cli->client;
}

const struct target *cli_target(const struct cli *cli, const cleat_client_options **ret_options)
{
	*ret_options = &cli->server_->opts;
	return &cli->server_->target;
}

bool cli_client_end(struct cli *cli)
{
	bool good;

	cleat_client_free(cli->client);
	good = !cli->server_ || transcript_end(cli->server_->transcript);
	if (cli->server_)
		cleat_doc_free(cli->server_->refusal);
	cleat_loop_free(cli->loop);
	cli->client = NULL;
	cli->loop = NULL;
	return good;
}

int cli_open(struct cli *cli)
{
	int rc;

	state->told = false;
	if (cleat_client_revision(cli->client))
		return EXIT_GOOD;
	rc = cleat_client_start(cli->client);
	if (rc == CLEAT_OK)
		cli_wait(cli, &state->told, -1);
	if (cleat_client_revision(cli->client) && !cli_interrupted())
		return EXIT_GOOD;
	return cli_client_error(cli);
}
