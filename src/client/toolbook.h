/* client/toolbook.h - what the client remembers of the server's tools: which arguments are repeated in
 * headers (2026-07-28 streamable-http, x-mcp-header), and what a result must look like (outputSchema).
 *
 * Learned from every tools/list that passes by, page by page. Schemas are compiled when they are first
 * needed, and nothing is ever fetched for them: one that cannot be compiled is noted once and not
 * applied. Bounded: 10,000 tools, 16 MiB of text.
 */
#ifndef CLIENT_TOOLBOOK_H
#define CLIENT_TOOLBOOK_H

#include "base/arena.h"
#include "protocol/link.h"

#include <cleat/client.h>

struct toolbook;

struct toolbook_options {
	const cleat_allocator *mem;
	void (*note)(void *ctx, int level, const char *text);
	void *ctx;
};

struct toolbook *toolbook_new(const struct toolbook_options *o); /* NULL when out of memory */
void toolbook_free(struct toolbook *b);                          /* accepts NULL */
/* A list begins anew: what is not learned until toolbook_end() is gone then. */
void toolbook_begin(struct toolbook *b);
/* One tool (an entry of tools/list); of two with one name the later one counts. CLEAT_OK; CLEAT_EINVAL
 * when its x-mcp-header annotations are wrong, or it has no name: over HTTP the tool must be left out,
 * the reason is in *err; CLEAT_ELIMIT, CLEAT_ENOMEM: nothing is known of it then. */
int toolbook_learn(struct toolbook *b, const cleat_json *tool, cleat_error *err);
void toolbook_end(struct toolbook *b);
void toolbook_clear(struct toolbook *b);
/* Is this tool known (refused or not)? */
bool toolbook_knows(const struct toolbook *b, struct str name);
/* Was it refused (CLEAT_EINVAL above)? The reason in *err then. */
bool toolbook_refused(const struct toolbook *b, struct str name, cleat_error *err);
/* The headers for a call with these arguments (an object or NULL), all of it in the arena, in the order
 * of the schema. null and absent values have none; strings as they are, integers in decimal, booleans
 * "true" and "false". CLEAT_OK (also for a tool that is not known: none), CLEAT_EINVAL (a value that is
 * neither, or an integer beyond 2^53 - 1), CLEAT_ENOMEM. */
int toolbook_fields(struct toolbook *b, struct arena *ar, struct str name, const cleat_json *args,
		    const struct http_field **ret, size_t *ret_n, cleat_error *err);
/* Does the result (of tools/call) fit what the tool promised? CLEAT_OK (also when nothing is known, and
 * for isError, which promises nothing), CLEAT_EPROTO with the reason (structuredContent missing, not
 * fitting, or too much to be checked), CLEAT_ENOMEM. */
int toolbook_check(struct toolbook *b, struct str name, const cleat_json *result, cleat_error *err);

#endif
