/* program/serve/kit/draft.h - a configuration on its way to what a server offers.
 *
 * A source reads its part of the configuration and adds tools, resources and prompts to the draft.
 * Nothing of it reaches the server before everything is known to be right: a draft with problems is
 * thrown away. Then it is compared with what the server has: an entry whose recipe is the same stays
 * untouched, the others are removed and added in one turn of the loop.
 *
 * An entry's userdata belongs to its source, is counted there if it is shared, and is given back by
 * `destroy` when the entry is gone and no call uses it; so a call that runs while the configuration is
 * loaded again keeps what it started with.
 */
#ifndef PROGRAM_SERVE_KIT_DRAFT_H
#define PROGRAM_SERVE_KIT_DRAFT_H

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

struct draft {
	struct conf *conf;
	struct runtime *rt;
	struct set *set; /* see set.h */
};

/* Adds an entry; everything is copied but userdata. `at`: where its configuration stands (a name that
 * exists twice is a problem that names both places). `recipe`: text that is different whenever the entry
 * would behave differently (its configuration as JSON after expansion will do; may hold secrets, is only
 * hashed). On any failure a problem is added and `destroy` is called. Tools have .name and
 * .input_schema (text), not .signature or .input. */
void draft_tool(struct draft *b, const cleat_json *at, const char *recipe, const cleat_tool *t);
void draft_resource(struct draft *b, const cleat_json *at, const char *recipe,
		    const cleat_resource *r);
void draft_prompt(struct draft *b, const cleat_json *at, const char *recipe, const cleat_prompt *p);
/* Something that lives as long as this configuration is in force (a file watch): `destroy` is called when
 * it is replaced or the server ends. */
void draft_keep(struct draft *b, void *thing, void (*destroy)(void *thing));
/* The same for one that has to begin, or goes on when the next configuration has its like (set.h). */
void draft_keep_on(struct draft *b, const struct set_thing *t);

/* Reads a file that belongs to the configuration: terminated, in the conf's arena. False: a problem was
 * added at `at`. With --watch the configuration is loaded again when the file changes, also when it could
 * not be read. */
bool draft_read(struct draft *b, const cleat_json *at, const char *path, size_t max,
		struct str *ret);
/* The same, into an arena of its own: for what is large and soon done with. */
bool draft_read_into(struct draft *b, struct arena *ar, const cleat_json *at, const char *path,
		     size_t max, struct str *ret);
/* The same for a file or directory that is read by other means. */
void draft_watch(struct draft *b, const char *path);
/* A remark to the operator. */
void draft_say(struct draft *b, int level, const char *fmt, ...) CLEAT_PRINTF(3, 4);

/* The node and the configuration's "defaults" as text with every variable expanded: a recipe, in the
 * conf's scratch. */
const char *draft_recipe(struct draft *b, const cleat_json *node);
/* The first of the files that has "defaults": {key: ...}; NULL. */
const cleat_json *draft_default(struct draft *b, const char *key);

#endif
