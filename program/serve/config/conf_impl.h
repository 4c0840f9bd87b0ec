/* program/serve/config/conf_impl.h - what the files of a configuration (conf*.c) share. See conf.h. */
#ifndef PROGRAM_SERVE_CONFIG_CONF_IMPL_H
#define PROGRAM_SERVE_CONFIG_CONF_IMPL_H

#include "serve/config/conf.h"

#include "base/buf.h"

#include <cleat/schema.h>

#include <sys/types.h>

struct conf_file {
	const char *path;   /* as it was given, or found by "include" */
	const char *dir;    /* absolute */
	const char *option; /* "--sh": not a file, but a word of the command line */
	const char *text; /* strict JSON, every position as in the file; NULL: could not be read */
	size_t n;
	const cleat_json *root; /* {} when it is not JSON */
	size_t count;           /* values and keys; they lie in one array, root first */
	uint32_t *at;           /* where each begins in text; NULL: not known */
	dev_t dev;
	ino_t ino;
};

struct conf_word {
	const cleat_json *key, *value; /* of "vars" or "secrets" */
	const char *text;              /* NULL: not known yet */
	bool secret;                   /* it is one, or made of one */
	bool busy;                     /* is being expanded */
	bool bad;                      /* a problem was added */
};

struct conf {
	cleat_allocator mem;
	struct arena arena, scratch;
	struct conf_file files[CONF_FILES_MAX];
	size_t n_files;
	struct conf_word *words;
	size_t n_words, cap_words;
	const char **watched;
	size_t n_watched, cap_watched;
	char *problems[CONF_PROBLEMS_MAX]; /* in the arena */
	size_t n_problems;
	size_t unsaid;              /* more problems than that */
	size_t repeated;            /* that were told before, word by word */
	const cleat_json *stand_in; /* where values stand that are in no file; NULL: nowhere */
	const cleat_json *doubtful[CONF_PROBLEMS_MAX]; /* values that could not be expanded */
	size_t n_doubtful;
	cleat_schema *schema; /* NULL: not compiled yet */
	bool ready, no_memory;
};

/* ---- conf.c ---- */

/* The file that a value stands in, or (*v becomes that) what stands for it: conf_stand_in(). NULL: none. */
struct conf_file *conf_file_of(const struct conf *c, const cleat_json **v);

/* Another document, {} at first; NULL: there are too many, or no memory, which was noted. */
struct conf_file *conf_new_file(struct conf *c, const char *path);
/* The document's text, which is changed, and stays. */
void conf_parse(struct conf *c, struct conf_file *f, char *text, size_t n);
/* A document that is not a file: what an option of the command line stands for (NULL: of none). */
void conf_add_value(struct conf *c, const char *path, const char *option, const cleat_json *root);

/* ---- conf_place.c ---- */

/* Adds "WHERE: message" as it is; `where` may be empty. Secrets are taken out. */
void conf_add_problem(struct conf *c, const char *where, const char *message);
/* "file:line:column" of an offset in a file's text. */
const char *conf_place(struct conf *c, const struct conf_file *f, size_t line, size_t column);

/* ---- conf_text.c ---- */

/* ${configDir}, ${home} and the environment only: for what is needed before all files are there. */
const char *conf_early_text(struct conf *c, const cleat_json *v);

/* ---- conf_check.c ---- */

/* Checks a file against docs/serve.schema.json. */
void conf_check(struct conf *c, struct conf_file *f);

#endif
