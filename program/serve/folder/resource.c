/* program/serve/folder/resource.c - the files of a folder as resources: the template, reading, completion of paths.
 *
 * A URI is the folder's prefix and the path, percent-encoded. Reading goes the same way as the tools do
 * (beneath.h), so what a tool cannot reach is not to be had by a URI either.
 */
#include "serve/folder/folder.h"

#include "base/error.h"
#include "serve/folder/listing.h"
#include "serve/folder/mime.h"
#include "serve/folder/walk.h"
#include "serve/kit/filewatch.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* ---- reading ---------------------------------------------------------------------------------- */

static int reply_bytes(cleat_request *req, struct str name, struct str bytes, const char *mime)
{
	char guess[MIME_MAX];

	if (!mime) {
		mime_guess(name, bytes, true, guess);
		mime = guess;
	}
	if (!mime_is_text(bytes, true))
		return cleat_reply_resource_blob(req, cleat_request_uri(req), mime, bytes.p,
						 bytes.n);
	return cleat_reply_resource_text(req, cleat_request_uri(req), mime, bytes.n ? bytes.p : "");
}

int folder_resource_reply(struct folder_call *c, int fd, struct str path, const char *mime)
{
	struct buf bytes = BUF_INIT(&c->f->mem, FOLDER_BUF_MAX(c->f));
	cleat_error err = { 0 };
	int rc = folder_slurp(c, fd, path, &bytes, &err);
	size_t n = buf_size(&bytes);

	buf_putc(&bytes, '\0');
	if (rc == CLEAT_ECANCELLED)
		rc = folder_stopped(c);
	else if (rc || buf_status(&bytes))
		rc = rc ? folder_failed(c->req, &err) : CLEAT_ENOMEM;
	else
		rc = reply_bytes(c->req, path, (struct str){ buf_str(&bytes).p, n }, mime);
	buf_done(&bytes);
	return rc;
}

int folder_resource_read(cleat_request *req)
{
	struct folder_call c = folder_call(req);
	struct buf path = BUF_INIT(&c.f->mem, BENEATH_PATH_MAX);
	cleat_error err = { 0 };
	struct stat st;
	int fd = -1, rc;

	if (folder_path_of(c.f, str_of(cleat_request_uri(req)), &path) &&
	    (!c.f->only || glob_match(c.f->only, buf_str(&path))))
		fd = beneath_open_file(&c.f->root, buf_str(&path), &st, &err);
	if (fd >= 0) {
		rc = folder_resource_reply(&c, fd, buf_str(&path), c.f->mime);
		close(fd);
	} else if (err.os_errno && err.os_errno != ENOENT && err.os_errno != ENOTDIR &&
		   err.os_errno != EXDEV && err.os_errno != EISDIR) {
		rc = folder_failed(req, &err);
	} else {
		rc = cleat_reply_not_found(req);
	}
	buf_done(&path);
	return rc;
}

/* ---- completion ------------------------------------------------------------------------------- */

enum { SUGGESTIONS = 100 };

struct completing {
	struct folder_call call; /* first: see folder_stop() */
	struct str typed;
};

static bool wants(void *ctx, struct str path, enum walk_kind kind)
{
	const struct completing *c = ctx;

	return path.n >= c->typed.n && memcmp(path.p, c->typed.p, c->typed.n) == 0 &&
	       (kind == WALK_DIRECTORY ||
		(kind == WALK_FILE && (!c->call.f->only || glob_match(c->call.f->only, path))));
}

static void suggest(cleat_request *req, const struct walk_entry *e, const cleat_allocator *mem)
{
	struct buf shown = BUF_INIT(mem, 4 * BENEATH_PATH_MAX);

	beneath_show(&shown, e->path, false);
	if (e->kind == WALK_DIRECTORY)
		buf_putc(&shown, '/');
	buf_putc(&shown, '\0');
	if (!buf_status(&shown))
		cleat_reply_suggest(req, buf_str(&shown).p);
	buf_done(&shown);
}

/* Entries of the directory that was typed whole, beginning with the rest. */
int folder_resource_complete(cleat_request *req)
{
	struct completing c = { .call = folder_call(req),
				.typed = str_of(cleat_request_typed(req)) };
	const struct folder *f = c.call.f;
	struct beneath_path from;
	struct str directory = c.typed;
	struct walk_entry e;
	struct walk *w;
	size_t n = 0;

	while (directory.n && directory.p[directory.n - 1] != '/')
		directory.n--;
	if (beneath_clean(&f->root, directory, &from, NULL))
		return CLEAT_OK;
	w = walk_new(&(struct walk_options){ .root = &f->root,
					     .mem = &f->mem,
					     .from = { from.text, from.n },
					     .names = f->names,
					     .batch = SUGGESTIONS + 1,
					     .wants = wants,
					     .stop = folder_stop,
					     .ctx = &c },
		     NULL);
	while (w && n <= SUGGESTIONS && walk_next(w, &e))
		if (n++ < SUGGESTIONS)
			suggest(req, &e, &f->mem);
	walk_free(w);
	if (n > SUGGESTIONS)
		cleat_reply_suggest_total(req, n, true);
	return CLEAT_OK;
}

/* ---- the configuration ------------------------------------------------------------------------ */

/* For subscriptions. */
static bool find_file(void *ctx, struct str uri, char ret[FILEWATCH_PATH])
{
	const struct folder *f = ctx;
	struct buf path = BUF_INIT(&f->mem, BENEATH_PATH_MAX);
	struct beneath_path clean;
	struct stat st;
	int fd = -1, n = FILEWATCH_PATH;

	if (folder_path_of(f, uri, &path) && (!f->only || glob_match(f->only, buf_str(&path))) &&
	    beneath_clean(&f->root, buf_str(&path), &clean, NULL) == CLEAT_OK)
		fd = beneath_open_place(&f->root, buf_str(&path), &st, NULL);
	if (fd >= 0) {
		close(fd);
		n = snprintf(ret, FILEWATCH_PATH, "%s/%s", f->directory, clean.text);
	}
	buf_done(&path);
	return n < FILEWATCH_PATH;
}

void folder_resources(struct draft *b, const cleat_json *node, const char *recipe, struct folder *f,
		      const cleat_resource *about, size_t limit)
{
	cleat_resource r = *about;

	r.uri = arena_printf(conf_arena(b->conf), "%s{+path}", f->uri);
	r.read = folder_resource_read;
	r.complete = folder_resource_complete;
	r.blocking = true;
	r.userdata = folder_ref(f);
	r.destroy = folder_unref;
	draft_resource(b, node, recipe, &r);
	listing_add(b, recipe, f, limit);
	filewatch_add(b, &(struct filewatch_options){ .rt = b->rt,
						      .find = find_file,
						      .ctx = folder_ref(f),
						      .done = folder_unref });
}
