/* program/cli/error.c - what is said on stderr, and the exit codes that go with it. */
#include "cli/run.h"

#include "text/print.h"
#include "text/text.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	int code;
	const char *word;
} words[] = {
	{ EXIT_OTHER, "other" },
	{ EXIT_USAGE, "usage" },
	{ EXIT_AUTH, "auth_required" },
	{ EXIT_UNREACHABLE, "unreachable" },
	{ EXIT_TOOL, "failed" },
	{ EXIT_PROTOCOL, "protocol" },
	{ EXIT_CHECK, "check" },
	{ EXIT_TIMEOUT, "timeout" },
	{ EXIT_INTERRUPTED, "interrupted" },
};

static const char *word_of(int code)
{
	for (size_t i = 0; i < CLEAT_COUNT(words); i++)
		if (words[i].code == code)
			return words[i].word;
	return code > 128 ? "interrupted" : "other"; /* 143: by SIGTERM */
}

static void print_json(const struct cli_failure *f)
{
	struct text t = { 0 };
	char *data = f->data ? cleat_json_print(f->data, NULL) : NULL;

	text_printf(&t, "{\"error\":{\"code\":\"%s\",\"message\":", word_of(f->code));
	text_json(&t, f->message, strlen(f->message));
	if (f->step && *f->step) {
		text_puts(&t, ",\"step\":");
		text_json(&t, f->step, strlen(f->step));
	}
	if (f->http_status)
		text_printf(&t, ",\"status\":%d", f->http_status);
	if (f->rpc_code)
		text_printf(&t, ",\"rpc\":%d", f->rpc_code);
	if (data)
		text_printf(&t, ",\"data\":%s", data);
	text_puts(&t, "}}\n");
	print_json_text(stderr, text_str(&t), t.n);
	text_free(&t);
	free(data);
}

/* stderr, as much of it as a screen has: what a terminal cannot show at once pushes away what matters. A file and a
 * pipe get everything. */
struct pane {
	size_t rows, columns; /* left of it; SIZE_MAX: no terminal */
	size_t hidden;        /* lines that were not shown, or not whole */
};

static struct pane pane_begin(void)
{
	size_t rows = print_rows(stderr);

	/* The prompt, the line before it, and what is said about the rest. */
	return (struct pane){ rows == SIZE_MAX ? rows
			      : rows > 6       ? rows - 3
					       : 3,
			      print_room(stderr), 0 };
}

static void pane_line(struct pane *p, const char *head, const char *line, size_t n)
{
	char *whole = keepf("%s%.*s", head, (int)n, line);
	size_t fits = strlen(whole), need = 1;

	if (p->rows != SIZE_MAX) {
		fits = print_fit(whole, p->rows * p->columns);
		need = p->rows ? 1 + (print_width(whole) - 1) / p->columns : 1;
	}
	p->hidden += fits < strlen(whole) || !p->rows;
	if (!p->rows)
		return;
	print_safe(stderr, whole, fits);
	fputs(whole[fits] ? "...\n" : "\n", stderr);
	p->rows -= p->rows == SIZE_MAX ? 0 : need < p->rows ? need : p->rows;
}

static void pane_text(struct pane *p, const char *head, const char *indent, const char *text)
{
	size_t n = strlen(text);

	while (n && text[n - 1] == '\n')
		n--;
	for (size_t at = 0, line; at <= n; at += line + 1) {
		line = strcspn(text + at, "\n");
		line = line < n - at ? line : n - at;
		pane_line(p, at ? indent : head, text + at, line);
	}
}

static void pane_end(const struct pane *p)
{
	if (p->hidden)
		fprintf(stderr, "  (%zu more line%s than the terminal has; 2>FILE has all)\n",
			p->hidden, p->hidden == 1 ? "" : "s");
}

/* What the server adds to its error: a text, {"details": a text}, or whatever it is. */
static void print_data(struct pane *p, const cleat_json *data)
{
	const char *text =
		cleat_json_str(data, cleat_json_str(cleat_json_get(data, "details"), NULL));
	char *printed = text ? NULL : cleat_json_print(data, NULL);

	text = text ? text : printed ? printed : "";
	if (*text)
		pane_text(p, "  ", "  ", text);
	free(printed);
}

int cli_fail(const struct cli *cli, const struct cli_failure *f)
{
	struct pane p;

	if (cli && cli->json) {
		print_json(f);
		return f->code;
	}
	p = pane_begin();
	pane_text(&p, "cleat: ", "", f->message);
	if (f->data)
		print_data(&p, f->data);
	pane_end(&p);
	return f->code;
}

int cli_error_at(const struct cli *cli, int code, const char *step, int http_status, int rpc_code,
		 const char *message)
{
	return cli_fail(cli, &(struct cli_failure){ .code = code,
						    .step = step,
						    .http_status = http_status,
						    .rpc_code = rpc_code,
						    .message = message });
}

int cli_error(const struct cli *cli, int code, const char *fmt, ...)
{
	va_list ap;
	char *message;

	va_start(ap, fmt);
	message = keep(must_vprintf(fmt, ap));
	va_end(ap);
	return cli_error_at(cli, code, NULL, 0, 0, message);
}

int cli_usage(const struct cli *cli, const char *fmt, ...)
{
	const char *verb = cli->verb ? cli->verb->name : NULL;
	va_list ap;
	char *message;

	va_start(ap, fmt);
	message = keep(must_vprintf(fmt, ap));
	va_end(ap);
	if (cli->json)
		return cli_error_at(cli, EXIT_USAGE, NULL, 0, 0, message);
	fprintf(stderr, "cleat%s%s: ", verb ? " " : "", verb ? verb : "");
	print_safe(stderr, message, strlen(message));
	fprintf(stderr, "\ntry: cleat help%s%s\n", verb ? " " : "", verb ? verb : "");
	return EXIT_USAGE;
}

bool cli_remarks(const struct cli *cli)
{
	return !cli->quiet && (!cli->json || cli->verbose);
}

void cli_note(const struct cli *cli, const char *fmt, ...)
{
	va_list ap;
	char *message;

	if (!cli_remarks(cli))
		return;
	va_start(ap, fmt);
	message = keep(must_vprintf(fmt, ap));
	va_end(ap);
	fputs("cleat: ", stderr);
	print_safe(stderr, message, strlen(message));
	fputc('\n', stderr);
}
