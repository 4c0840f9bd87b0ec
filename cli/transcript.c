/* cli/transcript.c - see transcript.h. */
#include "transcript.h"

#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FILE_MOST = 256 << 20, LINES_MOST = 200000 };

/* ---- writing ------------------------------------------------------------------------------------- */

struct transcript {
	const struct cli *cli;
	const char *path;
	FILE *to;
	struct timespec start;
};

struct transcript *transcript_new(const struct cli *cli, const char *path)
{
	struct transcript *t = keep_alloc(sizeof *t);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	t->cli = cli;
	t->path = path;
	t->to = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (!t->to) {
		cli_error(cli, EXIT_OTHER, "cannot write %s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	clock_gettime(CLOCK_MONOTONIC, &t->start);
	return t;
}

static long long tenths(const struct transcript *t)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - t->start.tv_sec) * 10000LL + (now.tv_nsec - t->start.tv_nsec) / 100000;
}

void transcript_add(struct transcript *t, bool out, const char *message, size_t n)
{
	cleat_doc *doc = cleat_doc_parse(message, n, NULL, NULL, NULL);
	long long at = tenths(t);
	struct text line = { 0 };

	text_printf(&line, "{\"t\":%lld.%lld,\"dir\":\"%s\",", at / 10, at % 10, out ? ">" : "<");
	if (doc) {
		/* Strict JSON has no newline that matters: without them it is one line. */
		text_puts(&line, "\"msg\":");
		for (size_t i = 0; i < n;) {
			size_t part = 0;

			while (i + part < n && message[i + part] != '\n' &&
			       message[i + part] != '\r')
				part++;
			text_add(&line, message + i, part);
			i += part + 1;
		}
	} else {
		cleat_doc *text =
			cleat_doc_newf(NULL, "%.*s", (int)(n < 1 << 24 ? n : 1 << 24), message);
		char *printed = cleat_json_print(cleat_doc_root(text), NULL);

		text_printf(&line, "\"text\":%s", printed ? printed : "null");
		free(printed);
		cleat_doc_free(text);
	}
	text_puts(&line, "}\n");
	fwrite(line.p, 1, line.n, t->to);
	fflush(t->to);
	text_free(&line);
	cleat_doc_free(doc);
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

static void *grow(void *p, size_t n, size_t *cap, size_t size)
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
	t->lines = grow(t->lines, t->n, &t->cap_, sizeof *t->lines);
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

/* From each answer back to the nearest request of its id: it is near. */
static void pair(struct tape *t)
{
	for (size_t k = 0; k < t->n; k++) {
		struct tape_line *a = &t->lines[k];

		for (size_t i = k; a->kind == TAPE_RESPONSE && i-- > 0;) {
			struct tape_line *q = &t->lines[i];

			if (q->kind != TAPE_REQUEST || q->out == a->out ||
			    q->partner != TAPE_NONE || !cleat_json_equal(a->id, q->id))
				continue;
			q->partner = k;
			a->partner = i;
			break;
		}
	}
}

static int bad_line(const struct cli *cli, const char *path, size_t number, const char *why)
{
	return cli_error(cli, EXIT_USAGE, "%s, line %zu: %s", path, number, why);
}

static int add_line(const struct cli *cli, const char *path, size_t number, struct tape *t,
		    const char *p, size_t n)
{
	cleat_error err = { 0 };
	cleat_doc *doc;
	const cleat_json *root;
	const char *dir;

	if (strspn(p, " \t\r") >= n)
		return EXIT_GOOD;
	doc = cleat_doc_parse(p, n, NULL, NULL, &err);
	if (!doc)
		return bad_line(cli, path, number, err.message);
	t->docs_ = grow(t->docs_, t->n_docs_, &t->docs_cap_, sizeof *t->docs_);
	t->docs_[t->n_docs_++] = doc;
	root = cleat_doc_root(doc);
	dir = cleat_json_str(cleat_json_get(root, "dir"), "");
	if (strcmp(dir, ">") != 0 && strcmp(dir, "<") != 0)
		return bad_line(cli, path, number,
				"this is no line of a transcript: \"dir\" must be \">\" or \"<\"");
	if (t->n >= LINES_MOST)
		return bad_line(cli, path, number, "too many messages");
	if (cleat_json_get(root, "msg"))
		add_message(t, *dir == '>', cleat_json_get(root, "msg"));
	return EXIT_GOOD;
}

int tape_load(const struct cli *cli, const char *path, struct tape *ret)
{
	struct text t = { 0 };
	int code = EXIT_GOOD;
	size_t number = 0;

	*ret = (struct tape){ 0 };
	if (!text_read(&t, path, FILE_MOST))
		code = cli_error(cli, EXIT_USAGE, "cannot read %s: %s", path, strerror(errno));
	for (size_t i = 0; code == EXIT_GOOD && i < t.n;) {
		const char *end = memchr(t.p + i, '\n', t.n - i);
		size_t n = end ? (size_t)(end - t.p) - i : t.n - i;

		code = add_line(cli, path, ++number, ret, t.p + i, n);
		i += n + 1;
	}
	text_free(&t);
	if (code == EXIT_GOOD && !ret->n)
		code = cli_error(cli, EXIT_USAGE, "%s: there are no messages in it", path);
	pair(ret);
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
	struct text t = { 0 };
	cleat_doc *doc;

	text_puts(&t, "{");
	while (cleat_json_next(&it)) {
		size_t n;
		const char *key = cleat_json_strn(it.key, &n);
		char *value = cleat_json_print(it.value, NULL);

		if (key && value && !(n == 5 && memcmp(key, "_meta", 5) == 0)) {
			text_puts(&t, t.n > 1 ? "," : "");
			text_json(&t, key, n);
			text_printf(&t, ":%s", value);
		}
		free(value);
	}
	text_puts(&t, "}");
	doc = cleat_doc_parse(text_str(&t), t.n, NULL, NULL, NULL);
	text_free(&t);
	return doc;
}
