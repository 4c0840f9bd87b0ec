/* program/serve/folder/folder.h - a folder behind MCP, as its tools and resources see it.
 *
 * One struct folder is shared by all entries that one "folders" member makes; it is counted, so calls that run
 * while the configuration is loaded again keep theirs. It never changes after it was made. All handlers block
 * (worker threads) and ask folder_stop() wherever they may take long.
 */
#ifndef PROGRAM_SERVE_FOLDER_FOLDER_H
#define PROGRAM_SERVE_FOLDER_FOLDER_H

#include "base/buf.h"
#include "serve/folder/beneath.h"
#include "serve/kit/draft.h"

#include <stdatomic.h>
#include <sys/types.h>
#include <time.h>

struct jw;

struct folder {
	atomic_uint refs;
	cleat_allocator mem;
	struct beneath root;
	struct glob **exclude;
	size_t n_exclude;
	struct glob *only; /* what is a resource; NULL: everything */
	char *directory;   /* its path, for watches */
	char *mime;        /* of all resources; NULL: what they look like */
	char *uri;         /* "docs:///": what the URIs of its files begin with */
	size_t max_file;
	size_t output_max;
	uint64_t timeout_ms;
	char *list_tool, *read_tool; /* names, for hints */
	struct names *names;         /* may be NULL */
};

/* From folders.NAME. NULL: problems were added. */
struct folder *folder_new(struct draft *b, const char *name, const cleat_json *node);
/* From a directory (NULL: only the limits are wanted); `uri` is what the URIs of its files begin with. NULL: a
 * problem was added at `at`. */
struct folder *folder_open(struct draft *b, const cleat_json *at, const char *directory,
			   const char *uri);
struct folder *folder_ref(struct folder *f);
void folder_unref(void *folder);

/* A call that runs. */
struct folder_call {
	cleat_request *req;
	const struct folder *f;
	uint64_t deadline; /* 0: none */
	bool late;
};
struct folder_call folder_call(cleat_request *req);
/* Should it stop: cancelled, or out of time? A walk's `stop`: whatever its ctx is begins with the call. */
bool folder_stop(void *call);
/* The reply to a call that stopped. */
int folder_stopped(const struct folder_call *c);
/* The reply to a failure. */
int folder_failed(cleat_request *req, const cleat_error *err);
/* A string argument with its length; absent: { "", 0 }. */
struct str folder_arg(cleat_request *req, const char *name);
/* Reads up to n bytes at an offset, through interruptions; the bytes that there are, or -1 with errno. */
ssize_t folder_pread(int fd, char *to, size_t n, off_t at);
/* The whole of an open file into `out`, a buf of FOLDER_BUF_MAX; at most f->max_file bytes. CLEAT_OK;
 * CLEAT_ECANCELLED; otherwise *err says why. */
enum { FOLDER_BLOCK = 64 * 1024 };
#define FOLDER_BUF_MAX(f) ((f)->max_file + FOLDER_BLOCK + 1)
int folder_slurp(struct folder_call *c, int fd, struct str path, struct buf *out, cleat_error *err);
/* ISO 8601, UTC, seconds. */
enum { FOLDER_TIME = 32 };
void folder_time(time_t t, char ret[FOLDER_TIME]);
/* "1.4 MB" */
void folder_size(struct buf *out, uint64_t bytes);
/* Replies with text and, as the structured part, the JSON in `json`. */
int folder_reply(cleat_request *req, struct buf *text, struct buf *json);
/* The URI of a file. */
void folder_uri(const struct folder *f, struct str path, struct buf *out);

/* The path that a URI of this folder's stands for; false: it is none, or has a broken escape. */
bool folder_path_of(const struct folder *f, struct str uri, struct buf *out);

/* The tools. */
cleat_handler folder_list, folder_stat, folder_read, folder_search;
cleat_handler folder_write, folder_edit, folder_move, folder_remove;

/* ---- resources (resource.c) ---- */

cleat_handler folder_resource_read, folder_resource_complete;
/* The template for all files, the list of the first `limit` of them, and word to their subscribers. */
void folder_resources(struct draft *b, const cleat_json *node, const char *recipe, struct folder *f,
		      const cleat_resource *about, size_t limit);
/* Replies with the content of an open file, which is text or not; `mime` NULL: what it looks like. */
int folder_resource_reply(struct folder_call *c, int fd, struct str path, const char *mime);

#endif
