/* program/serve/serve.h - `cleat serve`: a server made of a configuration instead of code. The face for cli/.
 *
 * What a configuration may say is in docs/serve.schema.json (its reference for people is made from that).
 * The options of the command line are turned into a configuration as well (conf.h), so that there is one
 * way from words to tools. This module is part of the program `cleat`, not of libcleat: it carries what only
 * a no-code server needs (SQLite, libmagic, sandboxes), and it stands above run/, because it uses the
 * library's processes and HTTP client instead of writing them a second time.
 *
 * Not here: the command line itself (program/verbs/serve.c), serving (run/).
 */
#ifndef PROGRAM_SERVE_SERVE_H
#define PROGRAM_SERVE_SERVE_H

#include <cleat/main.h>

struct serve;

struct serve_options {
	const char *const *files; /* configuration files, in order; ends with NULL; NULL: none */
	/* The options --sh, --cmd, --dir, --sqlite, --openapi, --prompts: "sh", value, "cmd", value, ...;
	 * ends with NULL; NULL: none. */
	const char *const *sources;
	const char *name; /* NULL: the configuration's, or "cleat" */
	bool watch;       /* load again when one of the files changes */
	bool check;       /* only to see whether it is right: nothing is made or changed anywhere */
	/* A remark or an error for the operator, one line, terminal-safe. Loop thread. */
	void (*say)(void *ctx, int level, const char *line);
	/* It is about to serve (cleat_server_options.on_ready). May be NULL. */
	void (*ready)(void *ctx);
	void *ctx;
	const cleat_allocator *mem; /* NULL: malloc */
};

/* Reads everything and makes the server. NULL: said why (every problem, up to 20, each with file, line
 * and column), status in *ret_status (CLEAT_EINVAL, CLEAT_ENOMEM). */
struct serve *serve_new(const struct serve_options *o, int *ret_status);
/* Borrowed. */
cleat_server *serve_server(struct serve *s);
/* Serves as cleat_server_run_main() does; frees everything, `s` too, and gives the exit status. */
int serve_main(struct serve *s, cleat_main_options *o);
/* Reads the files again: what is new is added, what is gone is removed, what is the same is not touched;
 * clients are told; calls that run finish with what they started with. CLEAT_OK, or it said why and
 * nothing has changed. Loop thread. */
int serve_reload(struct serve *s);

/* What it offers, for people. */
enum serve_kind { SERVE_TOOLS, SERVE_RESOURCES, SERVE_TEMPLATES, SERVE_PROMPTS };
/* The i-th name or URI, NULL after the last. Borrowed, until the next reload. */
const char *serve_item(const struct serve *s, enum serve_kind kind, size_t i);
size_t serve_count(const struct serve *s, enum serve_kind kind);
/* A tool that can be called just so: without arguments or questions, and it changes nothing as far as it
 * says. NULL: none. */
const char *serve_easy_tool(const struct serve *s);
const char *serve_name(const struct serve *s);
/* The configuration's "http": its address (NULL: none), and how it is served. Borrowed, until the next
 * reload. */
const char *serve_http(const struct serve *s, cleat_http_options *ret);
/* Accepts NULL. */
void serve_free(struct serve *s);

/* What this kernel can enforce, for `cleat serve --probe`: lines of text. */
void serve_probe(void (*tell)(void *ctx, int level, const char *line), void *ctx);
/* The schema of configurations. */
const char *serve_schema(void);

#endif
