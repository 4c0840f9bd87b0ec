/* program/shell/editor.c - lines of `cleat shell`, with editing where there is a terminal and a library for it.
 *
 * libedit, or readline, is opened when it is there; nothing is linked. Both give single characters to
 * us to wait for, so the connection is served while somebody thinks. The history is a plain file, a line
 * each, that every session adds to.
 */
#include "base/str.h"
#include "shell/shell.h"
#include "terminal/await.h"
#include "text/print.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HISTORY_KEPT = 1000, HISTORY_MOST = 4 << 20, LINE_MOST = 16 << 20 };

/* The functions and variables of both libraries that are used. */
struct library {
	void *handle;
	void (*install)(const char *prompt, void (*on_line)(char *line));
	void (*read_char)(void);
	void (*remove)(void);
	int (*add_history)(const char *line);
	int (*add_function)(const char *name, int (*f)(int count, int key), int key);
	int (*insert)(const char *text);
	int (*on_new_line)(void), (*redraw)(void);
	bool lazy; /* libedit: what is inserted is not seen by itself */
	char **line;
	int *point;
	int *catch_signals; /* may be missing */
};

struct shell_editor {
	struct cli *cli;
	struct shell_lists *lists;
	struct library lib; /* handle NULL: lines as they come */
	bool terminal, installed, bound, got, ended;
	bool waiting, hidden; /* for a key; the prompt, for a line of somebody else's */
	const char *prompt;
	char *line;        /* the last one */
	char *history;     /* path; NULL: none */
	struct text input; /* read ahead, without a library */
	size_t taken;
	bool eof;
};

static struct shell_editor *editor; /* the libraries know one only */

/* ---- history ------------------------------------------------------------------------------------- */

/* Makes the directories of a path. */
static void make_directories(char *path)
{
	for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(path, 0700);
		*p = '/';
	}
}

static char *history_path(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

	if (state && *state == '/')
		return keepf("%s/cleat/history", state);
	return home && *home == '/' ? keepf("%s/.local/state/cleat/history", home) : NULL;
}

static void write_lines(const char *path, const char *text, size_t n, int how)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | how, 0600);

	/* A history that cannot be written is no reason to stop. */
	while (fd >= 0 && n) {
		ssize_t done = write(fd, text, n);

		if (done <= 0)
			break;
		text += done;
		n -= (size_t)done;
	}
	if (fd >= 0)
		close(fd);
}

static void load_history(struct shell_editor *e)
{
	struct text t = { 0 };
	size_t lines = 0, start = 0;

	e->history = history_path();
	if (!e->history)
		return;
	make_directories(e->history);
	if (!text_read(&t, e->history, HISTORY_MOST)) {
		text_free(&t);
		return;
	}
	for (size_t i = 0; i < t.n; i++)
		lines += t.p[i] == '\n';
	for (size_t skip = lines > HISTORY_KEPT ? lines - HISTORY_KEPT : 0; skip && start < t.n;
	     start++)
		skip -= t.p[start] == '\n';
	if (lines > (size_t)2 * HISTORY_KEPT)
		write_lines(e->history, t.p + start, t.n - start, O_TRUNC);
	while (start < t.n) {
		char *end = memchr(t.p + start, '\n', t.n - start);

		if (!end)
			break;
		*end = '\0';
		e->lib.add_history(t.p + start);
		start = (size_t)(end - t.p) + 1;
	}
	text_free(&t);
}

/* A line that begins with a blank is nobody's business. */
static void editor_remember(struct shell_editor *e, const char *line)
{
	struct text t = { 0 };

	if (!*line || *line == ' ' || *line == '\t')
		return;
	e->lib.add_history(line);
	if (!e->history)
		return;
	text_printf(&t, "%s\n", line);
	write_lines(e->history, t.p, t.n, O_APPEND);
	text_free(&t);
}

/* ---- completion ---------------------------------------------------------------------------------- */

static char *editor_copy(const char *text, size_t n)
{
	char *p = must_alloc(n + 1);

	memcpy(p, text, n);
	p[n] = '\0';
	return p;
}

/* Candidates in columns, under the line. */
static void print_all(const struct words *found)
{
	size_t width = 0, column = 0;

	for (size_t i = 0; i < found->n; i++)
		width = print_width(found->at[i]) > width ? print_width(found->at[i]) : width;
	fputc('\n', stdout);
	for (size_t i = 0; i < found->n; i++) {
		bool last = i + 1 == found->n || column + 2 * (width + 2) > print_room(stdout);

		fputs(found->at[i], stdout);
		printf("%*s%s", last ? 0 : (int)(width + 2 - print_width(found->at[i])), "",
		       last ? "\n" : "");
		column = last ? 0 : column + width + 2;
	}
	fflush(stdout);
}

static void drop_copies(struct words *found)
{
	size_t n = 0;

	for (size_t i = 0; i < found->n; i++) {
		size_t k = 0;

		while (k < n && strcmp(found->at[k], found->at[i]) != 0)
			k++;
		if (k == n)
			found->at[n++] = found->at[i];
	}
	found->n = n;
}

static size_t common_length(const struct words *found)
{
	size_t common = strlen(found->at[0]);

	for (size_t i = 1; i < found->n; i++) {
		size_t same = 0;

		while (same < common && found->at[i][same] == found->at[0][same])
			same++;
		common = same;
	}
	return utf8_valid_prefix((struct str){ found->at[0], common });
}

/* Goes to where the line begins, the prompt included. */
static void go_home(const char *line)
{
	size_t columns = print_width(editor->prompt) + print_width(line);

	fputs("\r", stdout);
	for (size_t rows = columns / print_room(stdout); rows; rows--)
		fputs("\033[A", stdout);
	fflush(stdout);
}

/* Adds what all candidates have in common, or shows them. The libraries' own completion would do, but
 * libedit rings the bell also when there is one only. */
static int on_tab(int count, int key)
{
	const struct library *lib = &editor->lib;
	size_t mark = keep_mark(), point = (size_t)*lib->point, start, common, typed;
	char *line = keepf("%.*s", (int)point, *lib->line), quote;
	const char *word;
	struct words found = { 0 };

	(void)count;
	(void)key;
	start = shell_last_word(line, point, &word, &quote);
	shell_complete(editor->lists, line, start, word, &found);
	if (found.n) {
		drop_copies(&found);
		common = common_length(&found);
		typed = strlen(word);
		if (common > typed || found.n == 1) {
			const char *one = found.at[0];
			bool open = found.n > 1 || strchr("=/:", one[common - 1]);
			const char close[] = { open ? '\0' : quote, '\0' };

			lib->insert(keepf("%s%s%s",
					  shell_quoted(one + typed, common - typed, quote), close,
					  open ? "" : " "));
			if (lib->lazy) {
				go_home(line);
				lib->redraw();
			}
		} else {
			print_all(&found);
			lib->on_new_line();
			lib->redraw();
		}
	}
	if (!cli_interrupted()) /* as in program/verbs/shell.c */
		keep_release(mark);
	return 0;
}

/* ---- the library --------------------------------------------------------------------------------- */

static bool find_all(struct library *l)
{
	const struct {
		const char *name;
		void *to;
	} all[] = {
		{ "rl_callback_handler_install", &l->install },
		{ "rl_callback_read_char", &l->read_char },
		{ "rl_callback_handler_remove", &l->remove },
		{ "add_history", &l->add_history },
		{ "rl_add_defun", &l->add_function },
		{ "rl_insert_text", &l->insert },
		{ "rl_on_new_line", &l->on_new_line },
		{ "rl_forced_update_display", &l->redraw },
		{ "rl_line_buffer", &l->line },
		{ "rl_point", &l->point },
	};
	void *catch = dlsym(l->handle, "rl_catch_signals");

	for (size_t i = 0; i < CLEAT_COUNT(all); i++) {
		void *symbol = dlsym(l->handle, all[i].name);

		if (!symbol)
			return false;
		memcpy(all[i].to, &symbol, sizeof symbol); /* POSIX: functions, too */
	}
	memcpy(&l->catch_signals, &catch, sizeof catch);
	return true;
}

static bool open_library(struct library *l)
{
	static const char *const names[] = { "libedit.so.2", "libreadline.so.8", "libedit.so.0" };
	const char *choice = getenv("CLEAT_EDITOR_LIBRARY");

	for (size_t i = 0; i < CLEAT_COUNT(names); i++) {
		if (choice && strcmp(choice, names[i]) != 0)
			continue;
		l->handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
		l->lazy = strncmp(names[i], "libedit", 7) == 0;
		if (l->handle && find_all(l))
			return true;
		if (l->handle)
			dlclose(l->handle);
	}
	*l = (struct library){ 0 };
	return false;
}

static void on_line(char *line)
{
	editor->got = true;
	editor->ended = !line;
	free(editor->line);
	editor->line = line;
	editor->lib.remove();
	editor->installed = false;
}

/* ---- what is written meanwhile -------------------------------------------------------------------- */

/* A log message of the server goes where the prompt is, and that comes back under it, with what is typed. */
static void hide_prompt(void)
{
	size_t mark = keep_mark();

	if (!editor || !editor->waiting)
		return;
	go_home(editor->installed ? keepf("%.*s", *editor->lib.point, *editor->lib.line) : "");
	fputs("\033[J", stdout);
	fflush(stdout);
	editor->hidden = true;
	keep_release(mark);
}

static void show_prompt(void)
{
	if (!editor || !editor->hidden)
		return;
	editor->hidden = false;
	if (editor->installed) {
		editor->lib.on_new_line();
		editor->lib.redraw();
	} else {
		fputs(editor->prompt, stdout);
	}
	fflush(stdout);
}

/* The libraries lose what is not of the locale's characters, and the one of a program that has set none is ASCII. */
static void set_characters(void)
{
	if (!setlocale(LC_CTYPE, "") || strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		setlocale(LC_CTYPE, "C.UTF-8");
}

struct shell_editor *shell_editor_new(struct cli *cli, struct shell_lists *lists)
{
	struct shell_editor *e = keep_alloc(sizeof *e);

	e->cli = cli;
	e->lists = lists;
	e->terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	editor = e;
	if (!e->terminal)
		return e;
	set_characters();
	await_prompt(hide_prompt, show_prompt);
	if (!open_library(&e->lib))
		return e;
	if (e->lib.catch_signals)
		*e->lib.catch_signals = 0; /* they are ours */
	load_history(e);
	return e;
}

bool shell_editor_is_terminal(const struct shell_editor *e)
{
	return e->terminal;
}

void shell_editor_free(struct shell_editor *e)
{
	if (e->installed)
		e->lib.remove();
	free(e->line);
	text_free(&e->input);
	/* The library stays: it has handlers of its own that may still run. */
	await_prompt(NULL, NULL);
	editor = NULL;
}

/* ---- waiting ------------------------------------------------------------------------------------- */

/* Until there is something to read; false: Ctrl-C. */
static bool await_input(struct shell_editor *e)
{
	e->waiting = e->terminal;
	for (;;) {
		struct pollfd p[3] = { { .fd = STDIN_FILENO, .events = POLLIN },
				       { .fd = cleat_loop_fd(e->cli->loop), .events = POLLIN },
				       { .fd = cli_interrupt_fd(), .events = POLLIN } };
		int n = poll(p, 3, cleat_loop_timeout(e->cli->loop));

		if (!cli_interrupted() && (n == 0 || (n > 0 && p[1].revents)))
			cleat_loop_step(e->cli->loop, 0);
		/* n < 0: reading will tell */
		if (cli_interrupted() || (n < 0 && errno != EINTR) || (n > 0 && p[0].revents))
			break;
	}
	e->waiting = false;
	return !cli_interrupted();
}

static enum shell_input edited_line(struct shell_editor *e, const char *prompt, const char **ret)
{
	e->got = false;
	e->lib.install(prompt, on_line);
	e->installed = true;
	if (!e->bound) /* not before the library is ready */
		e->lib.add_function("cleat-complete", on_tab, '\t');
	e->bound = true;
	while (!e->got) {
		if (!await_input(e)) {
			e->lib.remove();
			e->installed = false;
			fputc('\n', stdout);
			return SHELL_INTERRUPTED;
		}
		e->lib.read_char();
	}
	if (e->ended) {
		fputc('\n', stdout);
		return SHELL_END;
	}
	editor_remember(e, e->line);
	*ret = e->line;
	return SHELL_LINE;
}

static void read_more(struct shell_editor *e)
{
	char buf[4096];
	ssize_t n = read(STDIN_FILENO, buf, sizeof buf);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	e->eof = n <= 0 || e->input.n > LINE_MOST;
	if (n > 0)
		text_add(&e->input, buf, (size_t)n);
}

static enum shell_input plain_line(struct shell_editor *e, const char *prompt, const char **ret)
{
	char *end = NULL;
	size_t left;

	if (e->terminal) {
		fputs(prompt, stdout);
		fflush(stdout);
	}
	for (;;) {
		left = e->input.n - e->taken;
		end = left ? memchr(e->input.p + e->taken, '\n', left) : NULL;
		if (end || e->eof)
			break;
		if (!await_input(e))
			return SHELL_INTERRUPTED;
		read_more(e);
	}
	if (!left)
		return SHELL_END;
	left = end ? (size_t)(end - e->input.p) - e->taken : left;
	free(e->line);
	e->line = editor_copy(e->input.p + e->taken, left);
	e->taken += left + (end != NULL);
	*ret = e->line;
	return SHELL_LINE;
}

enum shell_input shell_editor_line(struct shell_editor *e, const char *prompt, const char **ret)
{
	e->prompt = prompt;
	return e->lib.handle ? edited_line(e, prompt, ret) : plain_line(e, prompt, ret);
}
