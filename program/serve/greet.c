/* program/serve/greet.c - what `cleat serve` tells the person in front of it when it begins: where it is, three
 * commands to try, and the block for a client's configuration. All of it on stderr; without a terminal (and
 * without --banner) one line.
 */
#include "serve/greet.h"

#include "text/print.h"
#include "text/text.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- words of a command ---- */

/* A word as a shell takes it back. */
static void put_word(struct text *t, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-./:=@,+%";

	if (*word && strspn(word, plain) == strlen(word)) {
		text_puts(t, word);
		return;
	}
	text_puts(t, "'");
	for (; *word; word++)
		text_puts(t, *word == '\'' ? "'\\''" : (const char[]){ *word, 0 });
	text_puts(t, "'");
}

/* A path that is good from any directory; after ":rw" and "=URL" it may go on. */
static const char *absolute(const char *path)
{
	char *real = realpath(path, NULL);
	const char *mark = strrchr(path, ':');
	char cwd[PATH_MAX];

	if (real)
		return keep(real);
	if (*path == '/' || !getcwd(cwd, sizeof cwd))
		return path;
	if (mark && (strcmp(mark, ":rw") == 0 || strcmp(mark, ":ro") == 0))
		return keepf("%s%s", absolute(keepf("%.*s", (int)(mark - path), path)), mark);
	return keepf("%s/%s", cwd, path);
}

/* "serve", files and options: what a client has to start. */
static void command_words(const struct serve_greeting *g, struct words *ret)
{
	words_add(ret, "serve");
	for (size_t i = 0; g->files && g->files[i]; i++)
		words_add(ret, absolute(g->files[i]));
	for (size_t i = 0; g->sources && g->sources[i]; i += 2) {
		bool text = strcmp(g->sources[i], "sh") == 0 || strcmp(g->sources[i], "cmd") == 0;

		words_add(ret, keepf("--%s", g->sources[i]));
		words_add(ret, text ? g->sources[i + 1] : absolute(g->sources[i + 1]));
	}
	if (g->name) {
		words_add(ret, "--name");
		words_add(ret, g->name);
	}
}

static const char *program(void)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

	return n > 0 ? keepf("%.*s", (int)n, path) : "cleat";
}

/* Is it what a shell finds under this name? */
static bool is_in_path(const char *name, const char *file)
{
	const char *p = getenv("PATH");

	while (p && *p) {
		size_t n = strcspn(p, ":");
		char *real = realpath(keepf("%.*s/%s", n ? (int)n : 1, n ? p : ".", name), NULL);
		bool there = real && access(real, X_OK) == 0,
		     same = there && strcmp(real, file) == 0;

		free(real);
		if (there)
			return same; /* the first one counts */
		p += n + (p[n] == ':');
	}
	return false;
}

/* This program, as short as it can be typed here. */
static const char *program_word(void)
{
	const char *file = program();
	char cwd[PATH_MAX];
	size_t n;

	if (is_in_path("cleat", file))
		return "cleat";
	if (!getcwd(cwd, sizeof cwd))
		return file;
	n = strlen(cwd);
	if (strncmp(file, cwd, n) != 0 || file[n] != '/')
		return file;
	return strchr(file + n + 1, '/') ? file + n + 1 : keepf("./%s", file + n + 1);
}

/* ---- the parts ---- */

static void put_counts(struct text *t, const struct serve *s)
{
	static const char *const nouns[][2] = { { "tool", "tools" },
						{ "resource", "resources" },
						{ "resource template", "resource templates" },
						{ "prompt", "prompts" } };
	const char *comma = "";

	for (size_t k = 0; k < CLEAT_COUNT(nouns); k++) {
		size_t n = serve_count(s, (enum serve_kind)k);

		if (n)
			text_printf(t, "%s%zu %s", comma, n, nouns[k][n != 1]);
		comma = t->n ? ", " : comma;
	}
	if (!t->n)
		text_puts(t, "nothing");
}

/* The block for "mcpServers": a command. */
static void print_block(FILE *to, const struct serve_greeting *g, const struct serve *s)
{
	struct words words = { 0 };
	struct text t = { 0 };

	command_words(g, &words);
	text_puts(&t, "  { \"mcpServers\": { ");
	text_json(&t, serve_name(s), strlen(serve_name(s)));
	text_puts(&t, ": {\n      \"command\": ");
	text_json(&t, program(), strlen(program()));
	text_puts(&t, ",\n      \"args\": [");
	for (size_t i = 0; i < words.n; i++) {
		text_puts(&t, i ? ", " : "");
		text_json(&t, words.at[i], strlen(words.at[i]));
	}
	text_puts(&t, "] } } }\n");
	print_safe(to, text_str(&t), t.n);
	text_free(&t);
}

static void print_tries(FILE *to, const struct serve *s, const char *server)
{
	const char *easy = serve_easy_tool(s), *tool = serve_item(s, SERVE_TOOLS, 0);
	bool dashes = strncmp(server, "-- ", 3) == 0;
	struct text t = { 0 }, me = { 0 };

	put_word(&me, program_word());
	text_printf(&t, "  %s ls %s\n", text_str(&me), server);
	if (easy || tool) {
		text_printf(&t, "  %s %s %s%s ", text_str(&me), easy ? "call" : "show", server,
			    dashes ? " --" : "");
		put_word(&t, easy ? easy : tool);
		text_puts(&t, "\n");
	}
	text_printf(&t, "  %s shell %s\n", text_str(&me), server);
	text_free(&me);
	print_safe(to, text_str(&t), t.n);
	text_free(&t);
}

/* ---- the whole ---- */

static void greet_http(const struct serve_greeting *g, struct serve *s, bool all)
{
	const char *url = cleat_server_http_url(serve_server(s), 0);
	struct text counts = { 0 }, name = { 0 };

	for (size_t i = 0; cleat_server_http_url(serve_server(s), i); i++)
		fprintf(stderr, "%s: listening on %s\n", serve_name(s),
			cleat_server_http_url(serve_server(s), i));
	if (!all)
		return;
	put_counts(&counts, s);
	fprintf(stderr, "%s offers %s.\n", serve_name(s), text_str(&counts));
	text_free(&counts);
	fputs("\nTry, in another terminal:\n", stderr);
	print_tries(stderr, s, url);
	fputs("\nIn the configuration of a desktop client, which starts it by itself:\n", stderr);
	print_block(stderr, g, s);
	fputs("or, to use this one:\n", stderr);
	text_json(&name, serve_name(s), strlen(serve_name(s)));
	fprintf(stderr, "  { \"mcpServers\": { %s: { \"type\": \"http\", \"url\": \"%s\" } } }\n",
		text_str(&name), url);
	text_free(&name);
	fprintf(stderr, "\nCtrl-C ends it; kill -HUP %ld loads the configuration again.\n",
		(long)getpid());
}

static void greet_stdio(const struct serve_greeting *g, struct serve *s)
{
	struct words words = { 0 };
	struct text t = { 0 }, counts = { 0 };

	put_counts(&counts, s);
	fprintf(stderr,
		"%s (%s) speaks MCP on standard input and output, to the client that starts it.\n"
		"\nIn the configuration of a client:\n",
		serve_name(s), text_str(&counts));
	print_block(stderr, g, s);
	fputs("\nTry:\n", stderr);
	command_words(g, &words);
	text_puts(&t, "-- ");
	put_word(&t, program_word());
	for (size_t i = 0; i < words.n; i++) {
		text_puts(&t, " ");
		put_word(&t, words.at[i]);
	}
	print_tries(stderr, s, text_str(&t));
	fputs("\n--http 127.0.0.1:7331 serves HTTP instead. Ctrl-D ends it.\n", stderr);
	text_free(&t);
	text_free(&counts);
}

void serve_greet(const struct serve_greeting *g, struct serve *s)
{
	bool http = cleat_server_http_url(serve_server(s), 0) != NULL;

	if (g->quiet)
		return;
	if (http)
		greet_http(g, s, g->banner || isatty(STDERR_FILENO));
	else if (g->banner || isatty(STDIN_FILENO))
		greet_stdio(g, s);
	fflush(stderr);
}
