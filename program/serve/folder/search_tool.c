/* program/serve/folder/search_tool.c - the tool search_files: search.h for every file of a walk.
 *
 * Files come in the order of a walk, so the same folder gives the same answer. Each match is also told as
 * progress while the search goes on. It ends at its limit of matches, at the size of an answer, when it is
 * cancelled, or when it takes too long; then what was found is the answer, which says so.
 */
#include "serve/folder/folder.h"

#include "base/error.h"
#include "serve/folder/search.h"
#include "serve/folder/walk.h"
#include "json/writer.h"

#include <unistd.h>

enum {
	SEARCH_LIMIT = 100,
	SEARCH_LIMIT_MAX = 10000,
	SEARCH_BATCH = 16384,
	PROGRESS_MS = 100, /* least time between two notes */
	SLOW_MAX = 10      /* files on which the pattern may take too long */
};

enum opened { OPENED_NOTHING, OPENED_BEFORE, OPENED_MATCH, OPENED_AFTER };

struct finding {
	struct folder_call call; /* first: see folder_stop() */
	struct search *search;
	struct glob *glob;
	size_t limit;
	unsigned context;
	struct str path; /* of the file that is searched */
	struct buf text, json;
	struct jw w;
	enum opened opened; /* how far the last object of `json` is */
	uint64_t last_line; /* shown of this file; 0: none */
	size_t matches, files, matching, skipped, slow;
	uint64_t told_ms;
	bool full;
};

/* ---- what is shown ------------------------------------------------------------------------------ */

static void close_match(struct finding *f)
{
	if (f->opened == OPENED_BEFORE || f->opened == OPENED_AFTER)
		jw_arr_end(&f->w);
	if (f->opened)
		jw_obj_end(&f->w);
	f->opened = OPENED_NOTHING;
}

static void open_match(struct finding *f)
{
	struct buf shown = BUF_INIT(&f->call.f->mem, 4 * BENEATH_PATH_MAX);

	close_match(f);
	jw_obj(&f->w);
	beneath_show(&shown, f->path, false);
	jw_kv_strn(&f->w, "path", buf_str(&shown));
	buf_done(&shown);
}

static void write_json(struct finding *f, const struct search_line *l)
{
	if (l->kind == SEARCH_BEFORE && f->opened != OPENED_BEFORE) {
		open_match(f);
		jw_key(&f->w, "before");
		jw_arr(&f->w);
		f->opened = OPENED_BEFORE;
	} else if (l->kind == SEARCH_AFTER && f->opened == OPENED_MATCH) {
		jw_key(&f->w, "after");
		jw_arr(&f->w);
		f->opened = OPENED_AFTER;
	} else if (l->kind == SEARCH_MATCH) {
		if (f->opened == OPENED_BEFORE)
			jw_arr_end(&f->w);
		else
			open_match(f);
		jw_kv_int(&f->w, "line", (int64_t)l->number);
		jw_kv_int(&f->w, "column", (int64_t)l->column);
		jw_kv_strn(&f->w, "text", l->text.n ? l->text : STR_LIT(""));
		f->opened = OPENED_MATCH;
		return;
	}
	jw_str(&f->w, l->text.n ? l->text : STR_LIT(""));
}

/* "path:line: text" for a match, "path-line- text" around it, as grep does. */
static void write_text(struct finding *f, const struct search_line *l)
{
	char mark = l->kind == SEARCH_MATCH ? ':' : '-';

	if (f->context && f->matches && (!f->last_line || l->number > f->last_line + 1))
		buf_appendz(&f->text, "--\n");
	beneath_show(&f->text, f->path, true);
	buf_printf(&f->text, "%c%llu%c ", mark, (unsigned long long)l->number, mark);
	buf_append(&f->text, l->text.p, l->text.n);
	buf_putc(&f->text, '\n');
	f->last_line = l->number;
}

static void search_tool_tell(struct finding *f, const struct search_line *l)
{
	uint64_t now = loop_now();
	double done = (double)(f->files + f->skipped + f->matches);

	bool first = l && f->matches == 1; /* which somebody may be waiting for */

	if (!first && f->told_ms && now - f->told_ms < PROGRESS_MS)
		return;
	if (l)
		cleat_request_progress(f->call.req, done, 0, "%.*s:%llu: %.*s", STR_ARGS(f->path),
				       (unsigned long long)l->number, STR_ARGS(l->text));
	else
		cleat_request_progress(f->call.req, done, 0, "%zu files searched, %zu matches",
				       f->files, f->matches);
	f->told_ms = now ? now : 1;
}

static bool search_tool_on_line(void *ctx, const struct search_line *l)
{
	struct finding *f = ctx;
	size_t max = f->call.f->output_max;

	/* Only what comes after the last match that fits is still shown. */
	if (l->kind != SEARCH_AFTER && (f->matches >= f->limit || buf_size(&f->text) >= max ||
					buf_size(&f->json) >= 2 * max)) {
		f->full = true;
		return false;
	}
	write_text(f, l);
	write_json(f, l);
	if (l->kind == SEARCH_MATCH) {
		f->matches++;
		search_tool_tell(f, l);
	}
	return buf_status(&f->text) == CLEAT_OK && buf_status(&f->json) == CLEAT_OK;
}

/* ---- files ------------------------------------------------------------------------------------- */

/* False: the search is over. */
static bool search_open(struct finding *f, int fd, int *ret_status)
{
	const struct search_sink sink = { search_tool_on_line, folder_stop, f };
	size_t before = f->matches;
	int rc = search_file(f->search, fd, &sink);

	close_match(f);
	f->matching += f->matches > before;
	if (rc == CLEAT_EUNSUPPORTED || rc == CLEAT_EIO) {
		f->skipped++;
		rc = CLEAT_OK;
	} else {
		f->files++;
	}
	if (rc == CLEAT_ELIMIT && ++f->slow < SLOW_MAX)
		rc = CLEAT_OK;
	*ret_status = rc;
	return rc == CLEAT_OK && !f->full;
}

static bool wants(void *ctx, struct str path, enum walk_kind kind)
{
	const struct finding *f = ctx;

	return kind == WALK_FILE && (!f->glob || glob_match(f->glob, path));
}

static bool enters(void *ctx, struct str path)
{
	const struct finding *f = ctx;

	return !f->glob || glob_may_enter(f->glob, path);
}

static int search_all(struct finding *f, struct str from, cleat_error *err, size_t *ret_unread)
{
	const struct walk_options o = { .root = &f->call.f->root,
					.mem = &f->call.f->mem,
					.from = from,
					.recursive = true,
					.names = f->call.f->names,
					.batch = SEARCH_BATCH,
					.wants = wants,
					.enters = enters,
					.stop = folder_stop,
					.ctx = f };
	struct walk *w = walk_new(&o, err);
	struct walk_entry e;
	int rc = CLEAT_OK;

	if (!w)
		return CLEAT_EIO;
	while (rc == CLEAT_OK && walk_next(w, &e)) {
		struct stat st;
		int fd = beneath_open_entry(e.directory, e.name.p, &st);
		bool more;

		if (fd < 0) {
			f->skipped++;
			continue;
		}
		f->path = e.path;
		f->last_line = 0;
		more = search_open(f, fd, &rc);
		close(fd);
		if (!more)
			break;
		search_tool_tell(f, NULL);
	}
	*ret_unread = walk_unread(w);
	if (rc == CLEAT_OK)
		rc = walk_status(w);
	walk_free(w);
	return rc;
}

/* A directory, or a file by its name. */
static int search_path(struct finding *f, cleat_error *err, size_t *ret_unread)
{
	const struct beneath *root = &f->call.f->root;
	struct str path = folder_arg(f->call.req, "path");
	struct beneath_path clean;
	struct stat st;
	int rc = CLEAT_OK, fd;

	if (beneath_clean(root, path, &clean, err))
		return CLEAT_EINVAL;
	fd = beneath_open_place(root, path, &st, err);
	if (fd < 0)
		return CLEAT_EIO;
	close(fd);
	if (S_ISDIR(st.st_mode))
		return search_all(f, (struct str){ clean.text, clean.n }, err, ret_unread);
	fd = beneath_open_file(root, path, &st, err);
	if (fd < 0)
		return CLEAT_EIO;
	f->path = (struct str){ clean.text, clean.n };
	search_open(f, fd, &rc);
	close(fd);
	f->path = (struct str){ NULL, 0 };
	return rc;
}

/* ---- the answer --------------------------------------------------------------------------------- */

static void sum_up(struct finding *f, size_t unread, bool late)
{
	size_t cut = search_cut(f->search);
	bool truncated = f->full || late || f->slow || cut;

	jw_arr_end(&f->w);
	jw_kv_int(&f->w, "files", (int64_t)f->files);
	jw_kv_bool(&f->w, "truncated", truncated);
	jw_obj_end(&f->w);
	if (f->matches)
		buf_printf(&f->text, "(%zu match%s in %zu of %zu files)\n", f->matches,
			   f->matches == 1 ? "" : "es", f->matching, f->files);
	else
		buf_printf(&f->text, "(no match in %zu files)\n", f->files);
	if (f->full)
		buf_appendz(&f->text, "(there are more; narrow the search by path, glob or "
				      "pattern, or raise limit)\n");
	if (late)
		buf_appendz(&f->text, "(time is up and not all files were searched; narrow the "
				      "search by path or glob)\n");
	if (f->slow)
		buf_printf(&f->text,
			   "(in %zu files the pattern took too long for a line; they "
			   "were left there)\n",
			   f->slow);
	if (cut)
		buf_printf(&f->text,
			   "(%zu line%s longer than %d KB: only the beginning was searched)\n", cut,
			   cut == 1 ? " is" : "s are", SEARCH_BLOCK / 1024);
	if (f->skipped)
		buf_printf(&f->text, "(%zu files are not text or cannot be read)\n", f->skipped);
	if (unread)
		buf_printf(&f->text, "(%zu directories could not be read)\n", unread);
}

static int read_arguments(struct finding *f, cleat_error *err)
{
	cleat_request *req = f->call.req;
	struct str glob = folder_arg(req, "glob");
	int64_t limit = cleat_json_int(cleat_arg(req, "limit"), SEARCH_LIMIT);
	int64_t context = cleat_json_int(cleat_arg(req, "context"), 0);
	struct search_options o = { .pattern = folder_arg(req, "pattern"),
				    .literal = cleat_arg_bool(req, "literal"),
				    .ignore_case = cleat_arg_bool(req, "ignore_case") };
	cleat_error why = { 0 };
	int rc;

	f->limit = limit < 1 ? 1 : limit > SEARCH_LIMIT_MAX ? SEARCH_LIMIT_MAX : (size_t)limit;
	o.context = context < 0                    ? 0
		    : context > SEARCH_CONTEXT_MAX ? SEARCH_CONTEXT_MAX
						   : (unsigned)context;
	f->context = o.context;
	if (glob.n) {
		f->glob = glob_new(&f->call.f->mem, glob, err);
		if (!f->glob)
			return CLEAT_EINVAL;
	}
	rc = search_new(&f->call.f->mem, &o, &f->search, &why);
	return rc ? error_set(err, rc, "pattern: %s", why.message) : CLEAT_OK;
}

static int find_all(struct finding *f, cleat_error *err)
{
	size_t unread = 0;
	int rc;

	jw_init(&f->w, &f->json);
	jw_obj(&f->w);
	jw_key(&f->w, "matches");
	jw_arr(&f->w);
	rc = search_path(f, err, &unread);
	if (err->status)
		return folder_failed(f->call.req, err);
	if (rc == CLEAT_ECANCELLED && !f->call.late)
		return rc;
	if (rc == CLEAT_ENOMEM)
		return rc;
	sum_up(f, unread, rc == CLEAT_ECANCELLED);
	return folder_reply(f->call.req, &f->text, &f->json);
}

int folder_search(cleat_request *req)
{
	struct folder_call call = folder_call(req);
	struct finding f = { .call = call };
	cleat_error err = { 0 };
	int rc;

	buf_init(&f.text, &call.f->mem, 2 * call.f->output_max + 65536);
	buf_init(&f.json, &call.f->mem, 4 * call.f->output_max + 65536);
	rc = read_arguments(&f, &err) ? folder_failed(req, &err) : find_all(&f, &err);
	search_free(f.search);
	glob_free(f.glob);
	buf_done(&f.text);
	buf_done(&f.json);
	return rc;
}
