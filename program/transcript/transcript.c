/* program/transcript/transcript.c - see transcript.h. */
#include "transcript/transcript.h"

#include "text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FILE_MOST = 256 << 20, LINES_MOST = 200000, TEXT_MOST = 1 << 24 };

/* ---- writing ------------------------------------------------------------------------------------- */

struct transcript {
	const struct cli *cli;
	const char *path;
	FILE *to;
	struct timespec start;
};

struct transcript *transcript_new(const struct cli *cli, const char *path, bool replace)
{
	struct transcript *t = keep_alloc(sizeof *t);
	int fd = cli_create(cli, path, 0600, replace);

	t->cli = cli;
	t->path = path;
	t->to = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (!t->to) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	clock_gettime(CLOCK_MONOTONIC, &t->start);
	return t;
}

bool transcript_at(const char *path)
{
	static const char beginning[] = "{\"t\":";
	char first[sizeof beginning - 1];
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, first, sizeof first) : -1;

	if (fd >= 0)
		close(fd);
	return n == 0 || (n == sizeof first && memcmp(first, beginning, sizeof first) == 0);
}

static long long tenths(const struct transcript *t)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - t->start.tv_sec) * 10000LL + (now.tv_nsec - t->start.tv_nsec) / 100000;
}

void transcript_line(struct text *to, long long tenths, bool out, const char *message, size_t n)
{
	cleat_doc *doc = cleat_doc_parse(message, n, NULL, NULL, NULL);

	text_printf(to, "{\"t\":%lld.%lld,\"dir\":\"%s\",", tenths / 10, tenths % 10,
		    out ? ">" : "<");
	if (doc) {
		/* Strict JSON has no newline that matters: without them it is one line. */
		text_puts(to, "\"msg\":");
		for (size_t i = 0; i < n;) {
			size_t part = 0;

			while (i + part < n && message[i + part] != '\n' &&
			       message[i + part] != '\r')
				part++;
			text_add(to, message + i, part);
			i += part + 1;
		}
	} else {
		text_puts(to, "\"text\":");
		text_json(to, message, n < TEXT_MOST ? n : TEXT_MOST);
	}
	text_puts(to, "}\n");
	cleat_doc_free(doc);
}

void transcript_add(struct transcript *t, bool out, const char *message, size_t n)
{
	struct text line = { 0 };

	transcript_line(&line, tenths(t), out, message, n);
	fwrite(line.p, 1, line.n, t->to);
	fflush(t->to);
	text_free(&line);
}

bool transcript_end(struct transcript *t)
{
	bool good;

	if (!t || !t->to)
		return true;
	good = !ferror(t->to);
	good = fclose(t->to) == 0 && good;
	t->to = NULL;
	if (!good)
		cli_error(t->cli, EXIT_OTHER, "cannot write all of %s", t->path);
	return good;
}

/* ---- reading ------------------------------------------------------------------------------------- */

static void *transcript_grow(void *p, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return p;
	*cap = *cap ? 2 * *cap : 256;
	p = realloc(p, *cap * size);
	if (!p) {
		fputs("cleat: out of memory\n", stderr);
		exit(EXIT_OTHER);
	}
	return p;
}

static void add_message(struct tape *t, bool out, const cleat_json *msg)
{
	struct tape_line *l;
	bool answer = cleat_json_get(msg, "result") || cleat_json_get(msg, "error");

	if (cleat_json_type(msg) == CLEAT_JSON_ARRAY) { /* a batch: 2025-03-26 */
		cleat_json_iter it = cleat_json_each(msg);

		while (cleat_json_next(&it))
			if (cleat_json_type(it.value) == CLEAT_JSON_OBJECT)
				add_message(t, out, it.value);
		return;
	}
	t->lines = transcript_grow(t->lines, t->n, &t->cap_, sizeof *t->lines);
	l = &t->lines[t->n++];
	*l = (struct tape_line){ .out = out, .msg = msg, .partner = TAPE_NONE };
	l->id = cleat_json_get(msg, "id");
	l->params = cleat_json_get(msg, "params");
	l->method = cleat_json_str(cleat_json_get(msg, "method"), "");
	if (*l->method)
		l->kind = l->id ? TAPE_REQUEST : TAPE_NOTIFICATION;
	else
		l->kind = l->id && answer ? TAPE_RESPONSE : TAPE_OTHER;
}

/* Requests that are not answered yet, by side and id: a table of chains, the latest first. */
struct waiting {
	size_t *heads, *next; /* next: by line */
	char **ids;           /* by line, JSON text */
	size_t mask;
};

static size_t slot_of(const struct waiting *w, bool out, const char *id)
{
	uint64_t h = out ? 1099511628211u : 14695981039346656037u; /* FNV-1a */

	for (; *id; id++)
		h = (h ^ (unsigned char)*id) * 1099511628211u;
	return (size_t)(h ^ h >> 32) & w->mask;
}

/* From each answer back to the nearest request of its id. */
static void pair_line(struct tape *t, struct waiting *w, size_t k)
{
	struct tape_line *l = &t->lines[k];
	bool asked_by_client = l->kind == TAPE_REQUEST ? l->out : !l->out;
	size_t *at;

	if ((l->kind != TAPE_REQUEST && l->kind != TAPE_RESPONSE) ||
	    !(w->ids[k] = cleat_json_print(l->id, NULL)))
		return;
	at = &w->heads[slot_of(w, asked_by_client, w->ids[k])];
	if (l->kind == TAPE_REQUEST) {
		w->next[k] = *at;
		*at = k;
		return;
	}
	while (*at != TAPE_NONE &&
	       (t->lines[*at].out != asked_by_client || strcmp(w->ids[*at], w->ids[k]) != 0))
		at = &w->next[*at];
	if (*at == TAPE_NONE)
		return;
	l->partner = *at;
	t->lines[*at].partner = k;
	*at = w->next[*at];
}

static void pair(struct tape *t)
{
	struct waiting w = { .mask = 255 };

	while (w.mask < t->n)
		w.mask = w.mask * 2 + 1;
	w.heads = must_alloc((w.mask + 1) * sizeof *w.heads);
	w.next = must_alloc(t->n * sizeof *w.next);
	w.ids = must_alloc(t->n * sizeof *w.ids);
	for (size_t i = 0; i <= w.mask; i++)
		w.heads[i] = TAPE_NONE;
	for (size_t i = 0; i < t->n; i++)
		w.ids[i] = NULL;
	for (size_t i = 0; i < t->n; i++)
		pair_line(t, &w, i);
	for (size_t i = 0; i < t->n; i++)
		free(w.ids[i]);
	free(w.heads);
	free(w.next);
	free(w.ids);
}

static int bad_line(const struct cli *cli, const char *path, size_t number, const char *why)
{
	return cli ? cli_error(cli, EXIT_USAGE, "%s, line %zu: %s", path, number, why) : EXIT_USAGE;
}

static int add_line(const struct cli *cli, const char *path, size_t number, struct tape *t,
		    const char *p, size_t n)
{
	cleat_error err = { 0 };
	cleat_doc *doc;
	const cleat_json *root;
	const char *dir;

	while (n && strchr(" \t\r", p[n - 1]) && p[n - 1])
		n--;
	if (!n)
		return EXIT_GOOD;
	doc = cleat_doc_parse(p, n, NULL, NULL, &err);
	if (!doc)
		return bad_line(cli, path, number, err.message);
	t->docs_ = transcript_grow(t->docs_, t->n_docs_, &t->docs_cap_, sizeof *t->docs_);
	t->docs_[t->n_docs_++] = doc;
	root = cleat_doc_root(doc);
	dir = cleat_json_str(cleat_json_get(root, "dir"), "");
	if (strcmp(dir, ">") != 0 && strcmp(dir, "<") != 0)
		return bad_line(
			cli, path, number,
			"this is not a line of a transcript: \"dir\" must be \">\" or \"<\"");
	if (t->n >= LINES_MOST)
		return bad_line(cli, path, number, "too many messages");
	if (cleat_json_get(root, "msg"))
		add_message(t, *dir == '>', cleat_json_get(root, "msg"));
	return EXIT_GOOD;
}

int tape_parse(const struct cli *cli, const char *name, const char *text, size_t n,
	       struct tape *ret)
{
	int code = EXIT_GOOD;
	size_t number = 0;

	*ret = (struct tape){ 0 };
	for (size_t i = 0; code == EXIT_GOOD && i < n;) {
		const char *end = memchr(text + i, '\n', n - i);
		size_t length = end ? (size_t)(end - text) - i : n - i;

		code = add_line(cli, name, ++number, ret, text + i, length);
		i += length + 1;
	}
	if (code == EXIT_GOOD && !ret->n)
		code = cli ? cli_error(cli, EXIT_USAGE, "%s: there are no messages in it", name)
			   : EXIT_USAGE;
	pair(ret);
	return code;
}

int tape_load(const struct cli *cli, const char *path, struct tape *ret)
{
	struct text t = { 0 };
	int code;

	*ret = (struct tape){ 0 };
	if (!text_read(&t, path, FILE_MOST))
		code = cli_error(cli, EXIT_USAGE, "cannot read %s: %s",
				 strcmp(path, "-") == 0 ? "stdin" : path, strerror(errno));
	else
		code = tape_parse(cli, path, text_str(&t), t.n, ret);
	text_free(&t);
	return code;
}

void tape_free(struct tape *t)
{
	for (size_t i = 0; i < t->n_docs_; i++)
		cleat_doc_free(t->docs_[i]);
	free(t->docs_);
	free(t->lines);
	*t = (struct tape){ 0 };
}

cleat_doc *tape_params(const cleat_json *params)
{
	cleat_json_iter it = cleat_json_each(params);
	cleat_build *b = cleat_build_new(NULL);

	cleat_build_object(b, NULL);
	while (cleat_json_next(&it)) {
		const char *key = cleat_json_str(it.key, NULL);

		if (key && strcmp(key, "_meta") != 0)
			cleat_build_value(b, key, it.value);
	}
	cleat_build_end(b);
	return cleat_build_finish(b, NULL);
}
