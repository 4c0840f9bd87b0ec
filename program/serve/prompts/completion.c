/* program/serve/prompts/completion.c - where suggestions come from (completion.h).
 *
 * Each argument has one source. What a command printed is kept under what it was asked with (the other
 * arguments), in a few places that are used in turn, so that typing a word runs it once.
 */
#include "serve/prompts/completion.h"

#include "base/mem.h"
#include "serve/kit/kept.h"
#include "serve/kit/output.h"
#include "serve/kit/reqmem.h"
#include "wording/show.h"
#include "json/build.h"
#include "json/copy.h"
#include "json/parse.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COMPLETION_ARENA_MAX = 4 << 20 };

struct source {
	struct str name;
	const char **values; /* a list */
	size_t n;
	const char *file;
	struct program *program;
	struct kept kept;
	uint64_t remarked; /* when it was complained about last */
};

struct completion {
	cleat_allocator mem;
	struct arena arena;
	struct runtime *rt;
	struct source *sources;
	size_t n;
	const char **names; /* of all arguments, those that cannot be completed as well */
	size_t n_names;
};

/* ---- reading the configuration ------------------------------------------------------------ */

static bool read_list(struct source *s, struct draft *b, struct arena *ar, const cleat_json *list)
{
	cleat_json_iter it = cleat_json_each(list);

	s->values = arena_zalloc(ar, (cleat_json_size(list) + 1) * sizeof *s->values);
	while (s->values && cleat_json_next(&it))
		s->values[s->n++] = arena_strdup(ar, conf_shown(b->conf, it.value, ""));
	return s->values;
}

/* The names that a command may use: all but the one that is completed. */
static const cleat_json *other_names(struct draft *b, const cleat_json *names, struct str but)
{
	cleat_json_iter it = cleat_json_each(json_member(names, "properties"));
	const cleat_json *others = NULL;
	struct build all;

	build_init(&all, conf_arena(b->conf));
	build_obj(&all);
	build_keyz(&all, "properties");
	build_obj(&all);
	while (cleat_json_next(&it))
		if (!str_eq(json_str(it.key), but)) {
			build_key(&all, json_str(it.key));
			build_value(&all, json_empty_object());
		}
	build_end(&all);
	build_end(&all);
	(void)build_finish(&all, &others, NULL);
	return others;
}

static bool read_source(struct completion *c, struct source *s, struct draft *b,
			const cleat_json *v, const cleat_json *outer, const cleat_json *names)
{
	if (json_is_array(v))
		return read_list(s, b, &c->arena, v);
	if (json_member(v, "file")) {
		s->file = arena_strdup(&c->arena, conf_path_at(b->conf, json_member(v, "file")));
		return s->file;
	}
	if (!program_is_named(v)) {
		conf_problem(b->conf, v,
			     "expected a list, {\"cmd\": ...}, {\"sh\": ...} or {\"file\": ...}");
		return false;
	}
	s->program = program_new(b, v, outer, other_names(b, names, s->name));
	if (s->program)
		program_set_limits(s->program, COMPLETION_TIMEOUT_MS, COMPLETION_BYTES);
	return s->program;
}

static bool read_names(struct completion *c, const cleat_json *names)
{
	const cleat_json *properties = json_member(names, "properties");
	cleat_json_iter it = cleat_json_each(properties);

	c->names = arena_zalloc(&c->arena, (cleat_json_size(properties) + 1) * sizeof *c->names);
	while (c->names && cleat_json_next(&it))
		c->names[c->n_names++] = arena_strdup(&c->arena, cleat_json_str(it.key, ""));
	return c->names;
}

static struct source *add_source(struct completion *c, struct str name)
{
	struct source *s = &c->sources[c->n++];

	s->name = (struct str){ arena_strndup(&c->arena, name.p, name.n), name.n };
	return s;
}

/* Arguments with choices complete themselves where there is no handler; here is one. */
static bool read_choices(struct completion *c, const cleat_json *node, const cleat_json *properties)
{
	cleat_json_iter it = cleat_json_each(properties);
	bool ok = true;

	while (ok && cleat_json_next(&it)) {
		cleat_json_iter choice = cleat_json_each(json_member(it.value, "enum"));
		struct source *s;

		if (!json_member(it.value, "enum") || json_get(node, json_str(it.key)))
			continue;
		s = add_source(c, json_str(it.key));
		s->values = arena_zalloc(&c->arena,
					 (cleat_json_size(json_member(it.value, "enum")) + 1) *
						 sizeof *s->values);
		ok = s->values;
		while (ok && cleat_json_next(&choice))
			s->values[s->n++] =
				arena_strdup(&c->arena, cleat_json_str(choice.value, ""));
	}
	return ok;
}

static bool read_sources(struct completion *c, struct draft *b, const cleat_json *node,
			 const cleat_json *outer, const cleat_json *names)
{
	const cleat_json *properties = json_member(names, "properties");
	cleat_json_iter it = cleat_json_each(node);
	bool ok = true;

	c->sources = arena_zalloc(&c->arena, (cleat_json_size(node) + cleat_json_size(properties) +
					      1) * sizeof *c->sources);
	if (!c->sources)
		return false;
	while (cleat_json_next(&it)) {
		if (!json_get(properties, json_str(it.key))) {
			conf_problem(b->conf, it.value, "there is no argument \"%s\"",
				     cleat_json_str(it.key, ""));
			ok = false;
		}
		ok = read_source(c, add_source(c, json_str(it.key)), b, it.value, outer, names) &&
		     ok;
	}
	return ok && read_choices(c, node, properties) && read_names(c, names) &&
	       !arena_failed(&c->arena);
}

bool completion_read(struct draft *b, const cleat_json *node, const cleat_json *names,
		     struct completion **ret)
{
	const cleat_json *complete = json_member(node, "complete");
	size_t before = conf_problems(b->conf);
	struct completion *c;

	*ret = NULL;
	if (!complete)
		return true;
	c = mem_zalloc(&b->rt->mem, sizeof *c);
	if (c) {
		c->mem = b->rt->mem;
		c->rt = b->rt;
		arena_init(&c->arena, &c->mem, COMPLETION_ARENA_MAX);
		if (read_sources(c, b, complete, node, names)) {
			*ret = c;
			return true;
		}
	}
	if (conf_problems(b->conf) == before)
		conf_problem(b->conf, complete, "out of memory");
	completion_free(c);
	return false;
}

void completion_free(struct completion *c)
{
	cleat_allocator mem;

	if (!c)
		return;
	for (size_t i = 0; i < c->n; i++) {
		program_free(c->sources[i].program);
		kept_clear(&c->sources[i].kept, &c->mem);
	}
	mem = c->mem;
	arena_done(&c->arena);
	mem_free(&mem, c);
}

/* ---- answers ------------------------------------------------------------------------------ */

/* Suggests the lines of a text that begin with what was typed. What is not UTF-8 is not a suggestion. */
static int suggest_lines(cleat_request *req, struct str text)
{
	struct str typed = str_of(cleat_request_typed(req));
	char *copy = cleat_request_alloc(req, text.n + 1);
	int rc = copy ? CLEAT_OK : CLEAT_ENOMEM;

	if (copy)
		memcpy(copy, text.p ? text.p : "", text.n);
	for (size_t at = 0; !rc && at < text.n;) {
		char *end = memchr(copy + at, '\n', text.n - at);
		size_t len = end ? (size_t)(end - copy) - at : text.n - at;
		struct str line = output_chomp((struct str){ copy + at, len });

		if (line.n && line.n >= typed.n && memcmp(line.p, typed.p, typed.n) == 0 &&
		    utf8_valid_prefix(line) == line.n && !str_has_nul(line)) {
			copy[at + line.n] = 0;
			rc = cleat_reply_suggest(req, copy + at);
		}
		at += len + 1;
	}
	return rc;
}

/* At most one remark every few seconds: what clients send must not fill the operator's log. */
static void remark(const struct completion *c, struct source *s, struct str what)
{
	uint64_t now = loop_now();
	struct buf line;

	if (!c->rt->say || (s->remarked && now - s->remarked < COMPLETION_KEPT_MS))
		return;
	s->remarked = now;
	buf_init(&line, &c->mem, 64 << 10);
	buf_appendz(&line, "completion of ");
	show_name(&line, s->name);
	buf_appendz(&line, ": ");
	show_plain(&line, what);
	buf_putc(&line, '\0');
	if (!buf_status(&line))
		c->rt->say(c->rt->say_ctx, CLEAT_LOG_WARNING, buf_str(&line).p);
	buf_done(&line);
}

/* The text of an open file, as whole lines; SIZE_MAX: it cannot be read. *ret_cut: there is more. */
static size_t read_lines(int fd, char *to, size_t size, bool *ret_cut)
{
	size_t n = 0;
	ssize_t got = 0;

	while (n < size && (got = read(fd, to + n, size - n)) > 0)
		n += (size_t)got;
	if (got < 0)
		return SIZE_MAX;
	*ret_cut = n == COMPLETION_FILE_BYTES;
	while (*ret_cut && n && to[n - 1] != '\n')
		n--;
	return n;
}

static int suggest_file(const struct completion *c, struct source *s, cleat_request *req)
{
	/* Not blocking: a FIFO must not stop the server. */
	int fd = open(s->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc = CLEAT_OK;
	struct stat st = { .st_size = 0 };
	size_t n = SIZE_MAX, size;
	char *text = NULL;
	bool cut = false;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		size = st.st_size < COMPLETION_FILE_BYTES ? (size_t)st.st_size
							  : COMPLETION_FILE_BYTES;
		text = cleat_request_alloc(req, size + 1);
		if (text)
			n = read_lines(fd, text, size, &cut);
	}
	if (n == SIZE_MAX)
		remark(c, s, str_of(fd < 0 ? strerror(errno) : "its file cannot be read"));
	else
		rc = suggest_lines(req, (struct str){ text, n });
	if (cut)
		remark(c, s, STR_LIT("only the first 4 MB of its file are used"));
	if (fd >= 0)
		close(fd);
	return rc;
}

/* ---- commands ----------------------------------------------------------------------------- */

struct question_of {
	struct completion *c;
	struct source *s;
	const char *key;
};

/* The other arguments that are known, as an object, and as its text. */
static const cleat_json *known(const struct completion *c, const struct source *but,
			       cleat_request *req, const char **ret_key)
{
	const cleat_allocator mem = reqmem(req);
	const cleat_json *args = NULL;
	struct arena ar;
	struct build all;

	arena_init(&ar, &mem, 0);
	build_init(&all, &ar);
	build_obj(&all);
	for (size_t i = 0; i < c->n_names; i++) {
		const char *v = cleat_request_context(req, c->names[i]);

		if (v && !str_eqz(but->name, c->names[i])) {
			build_keyz(&all, c->names[i]);
			build_strz(&all, v);
		}
	}
	build_end(&all);
	if (build_finish(&all, &args, NULL))
		return NULL;
	*ret_key = json_text(&ar, args).p;
	return *ret_key ? args : NULL;
}

static void completion_keep(const struct question_of *q, struct str text)
{
	kept_put(&q->s->kept, &q->c->mem, q->key, text, COMPLETION_KEPT_MS);
}

static int completion_on_done(cleat_request *req, void *ctx, const struct process_result *r)
{
	struct question_of *q = ctx;
	struct buf words;

	if (r->ending == PROCESS_EXITED && r->status == 0) {
		completion_keep(q, r->out);
		return suggest_lines(req, r->out);
	}
	buf_init(&words, &q->c->mem, 16 << 10);
	job_write_ending(&words, q->s->program, r, true);
	remark(q->c, q->s, buf_str(&words));
	buf_done(&words);
	completion_keep(q, STR_LIT(""));
	return CLEAT_OK;
}

static int on_refused(cleat_request *req, void *ctx, const char *why)
{
	const struct question_of *q = ctx;

	(void)req;
	remark(q->c, q->s, str_of(why));
	return CLEAT_OK;
}

static int ask_command(struct completion *c, struct source *s, struct jobs *jobs,
		       cleat_request *req)
{
	static const struct job_hooks hooks = { .done = completion_on_done, .refused = on_refused };
	struct question_of *q = cleat_request_alloc(req, sizeof *q);
	const cleat_json *args;
	struct str kept;

	if (!q)
		return CLEAT_ENOMEM;
	*q = (struct question_of){ .c = c, .s = s };
	args = known(c, s, req, &q->key);
	if (!args)
		return CLEAT_ENOMEM;
	if (kept_find(&s->kept, q->key, &kept))
		return suggest_lines(req, kept);
	return job_start(jobs, s->program, req, args, &hooks, q);
}

int completion_reply(struct completion *c, struct jobs *jobs, cleat_request *req)
{
	struct str name = str_of(cleat_request_completing(req));

	for (size_t i = 0; c && i < c->n; i++) {
		struct source *s = &c->sources[i];

		if (!str_eq(s->name, name))
			continue;
		if (s->program)
			return ask_command(c, s, jobs, req);
		return s->file ? suggest_file(c, s, req)
			       : cleat_reply_suggest_from(req, s->values, s->n);
	}
	return CLEAT_OK;
}
