/* program/shell/shell.h - the parts of `cleat shell`: its words, its lines, what it knows of the server. */
#ifndef PROGRAM_SHELL_SHELL_H
#define PROGRAM_SHELL_SHELL_H

#include "reach/catalog.h"

/* ---- words --------------------------------------------------------------------------------- */

/* Splits a line at blanks; '...', "..." and \ quote as in a shell, # begins a comment. The words are kept.
 * False: a quote is not closed. */
bool shell_split(const char *line, size_t n, struct words *to);
/* The word that a line ends in, which may not be complete: where it begins (n: there is none yet), what it says, kept,
 * and the quote that is still open (0: none). */
size_t shell_last_word(const char *line, size_t n, const char **ret_word, char *ret_quote);
/* A text as it is typed where this quote is open; kept. */
const char *shell_quoted(const char *text, size_t n, char quote);

/* ---- what the server has ------------------------------------------------------------------- */

struct shell_lists {
	struct cli *cli;
	cleat_result *at[CLEAT_COUNT(catalog_kinds)]; /* in their order; NULL: not asked for yet */
	cleat_watch *watch;
	unsigned stale; /* CLEAT_CHANGE_* */
};

void shell_lists_begin(struct shell_lists *l, struct cli *cli);
void shell_lists_end(struct shell_lists *l);
/* The entries of a list; NULL: there are none, or they is not available. */
const cleat_json *shell_list(struct shell_lists *l, enum cleat_list what);
const cleat_json *shell_entry(struct shell_lists *l, enum cleat_list what, const char *name);

/* ---- completion ---------------------------------------------------------------------------- */

/* The verbs that are commands here; ends with NULL. */
extern const char *const shell_commands[];
/* An option that belongs to the start of the shell: the connection is there, there is no other to be made. */
bool shell_at_start(const struct cli_option *list, const struct cli_option *o);
/* What `word`, which begins at line[start], may become: texts as they are, without quotes. */
void shell_complete(struct shell_lists *l, const char *line, size_t start, const char *word,
		    struct words *to);

/* ---- lines --------------------------------------------------------------------------------- */

enum shell_input { SHELL_LINE, SHELL_END, SHELL_INTERRUPTED };

struct shell_editor;
/* With history and completion where stdin is a terminal and libedit or readline is there; otherwise lines
 * as they come. */
struct shell_editor *shell_editor_new(struct cli *cli, struct shell_lists *lists);
/* The next line, good until the next call. The server is served meanwhile. */
enum shell_input shell_editor_line(struct shell_editor *e, const char *prompt, const char **ret);
bool shell_editor_is_terminal(const struct shell_editor *e);
void shell_editor_free(struct shell_editor *e);

#endif
