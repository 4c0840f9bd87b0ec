/* program/serve/build.h - from a configuration to what a server offers.
 *
 * A source (sources.h) reads its part of the configuration and adds tools, resources and prompts to the
 * build. Nothing of it reaches the server before everything is known to be right: a build with problems is
 * thrown away. Then it is compared with what the server has: an entry whose recipe is the same stays
 * untouched, the others are removed and added in one turn of the loop.
 *
 * An entry's userdata belongs to its source, is counted there if it is shared, and is given back by
 * `destroy` when the entry is gone and no call uses it; so a call that runs while the configuration is
 * loaded again keeps what it started with.
 */
#ifndef PROGRAM_SERVE_BUILD_H
#define PROGRAM_SERVE_BUILD_H

#include "serve/config/conf.h"

#include "loop/loop.h"

#include <cleat/server.h>

struct fetcher;

/* What lives as long as the server, shared by all configurations. Loop thread, except where said. */
struct runtime {
	cleat_allocator mem;
	cleat_loop *loop;
	cleat_server *server;
	void (*say)(void *ctx, int level, const char *line); /* to the operator */
	void *say_ctx;
	bool check; /* only to see whether a configuration is right: make and change nothing outside */
	struct fetcher *http_; /* runtime_http() */
	struct job *jobs;      /* all that run or wait; see job.h */
};

/* The HTTP client for tools, made on the first call. NULL: *err says why. */
struct fetcher *runtime_http(struct runtime *rt, cleat_error *err);

struct set_thing;

struct build {
	struct conf *conf;
	struct runtime *rt;
	struct set *set; /* see set.h */
};

/* Adds an entry; everything is copied but userdata. `at`: where its configuration stands (a name that
 * exists twice is a problem that names both places). `recipe`: text that is different whenever the entry
 * would behave differently (its configuration as JSON after expansion will do; may hold secrets, is only
 * hashed). On any failure a problem is added and `destroy` is called. Tools have .name and
 * .input_schema (text), not .signature or .input. */
void build_tool(struct build *b, const cleat_json *at, const char *recipe, const cleat_tool *t);
void build_resource(struct build *b, const cleat_json *at, const char *recipe,
		    const cleat_resource *r);
void build_prompt(struct build *b, const cleat_json *at, const char *recipe, const cleat_prompt *p);
/* Something that lives as long as this configuration is in force (a file watch): `destroy` is called when
 * it is replaced or the server ends. */
void build_keep(struct build *b, void *thing, void (*destroy)(void *thing));
/* The same for one that has to begin, or goes on when the next configuration has its like (set.h). */
void build_keep_on(struct build *b, const struct set_thing *t);

/* Reads a file that belongs to the configuration: terminated, in the conf's arena. False: a problem was
 * added at `at`. With --watch the configuration is loaded again when the file changes, also when it could
 * not be read. */
bool build_read(struct build *b, const cleat_json *at, const char *path, size_t max,
		struct str *ret);
/* The same, into an arena of its own: for what is large and soon done with. */
bool build_read_into(struct build *b, struct arena *ar, const cleat_json *at, const char *path,
		     size_t max, struct str *ret);
/* The same for a file or directory that is read by other means. */
void build_watch(struct build *b, const char *path);
/* A remark to the operator. */
void build_say(struct build *b, int level, const char *fmt, ...) CLEAT_PRINTF(3, 4);

/* ---- the whole ---- */

/* Makes everything that a configuration wants; conf_problems() tells whether it is any good. NULL when out
 * of memory. See set.h. */
struct set *build_all(struct conf *c, struct runtime *rt);

/* ---- what all tools have in common (tool.c) ---- */

/* "args" (inside of a signature, or a JSON Schema object), "title", "description", "hints", "icons",
 * "outputSchema" (signature text or schema), "meta" of a tool's configuration -> the members of *ret
 * (texts live in the conf's scratch). False: problems were added. */
bool tool_describe(struct build *b, const char *name, const cleat_json *node, cleat_tool *ret);
/* {"properties": ...}: the arguments of a tool and the fields of its "ask", for text with {places}. Never
 * NULL; in the conf's scratch. */
const cleat_json *tool_arguments(struct build *b, const cleat_json *node, const cleat_tool *t);
/* The node and the configuration's "defaults" as text with every variable expanded: a recipe, in the
 * conf's scratch. */
const char *build_recipe(struct build *b, const cleat_json *node);

/* Limits that every tool has ("timeout", "output_limit", "concurrency"), from the node, then "defaults". */
struct tool_limits {
	uint64_t timeout_ms;  /* 30 s; 0: never ("none") */
	size_t output_max;    /* 1 MiB */
	unsigned concurrency; /* 4; more wait; see gate.h */
};
struct tool_limits tool_limits(struct build *b, const cleat_json *node);
/* The first of the files that has "defaults": {key: ...}; NULL. */
const cleat_json *build_default(struct build *b, const char *key);

/* "confirm" (text with {arg}) and "ask" ({"message", "fields": signature inside}): a question to the user
 * before the work is done. The answers to "ask" are added to the arguments under their names. */
struct question;
/* NULL: nothing is asked and no argument has a default, or a problem was added. It does not need the conf
 * any more. */
struct question *question_new(struct build *b, const cleat_json *node, const cleat_tool *t);
/* CLEAT_OK and all arguments in *ret (those of the call, defaults filled in, with the answers); otherwise what
 * the handler has to return. q may be NULL (arguments and defaults then). */
int question_ask(const struct question *q, cleat_request *req, const cleat_json **ret_args);
void question_free(struct question *q);

#endif
