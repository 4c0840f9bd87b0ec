/* program/serve/folder/search.h - lines of a file that match.
 *
 * A pattern is a regular expression (PCRE2, with limits: base/regex.h) or plain text, and is about one line at
 * a time, without its end. Files are read in blocks, so their size does not matter; of a line that is longer
 * than a block only the beginning is looked at. What has a NUL byte in its first block is not text and is
 * skipped. Bytes that are not UTF-8 match nothing but ".".
 *
 * A search belongs to one thread.
 */
#ifndef PROGRAM_SERVE_FOLDER_SEARCH_H
#define PROGRAM_SERVE_FOLDER_SEARCH_H

#include "base/str.h"

#include <cleat/base.h>

enum {
	SEARCH_BLOCK = 128 * 1024,
	SEARCH_TEXT_MAX = 400, /* bytes shown of a line */
	SEARCH_CONTEXT_MAX = 20,
	SEARCH_PATTERN_MAX = 4096
};

struct search;

struct search_options {
	struct str pattern;
	bool literal, ignore_case;
	unsigned context; /* lines before and after */
};

/* CLEAT_OK; CLEAT_EINVAL (the pattern is wrong), CLEAT_ELIMIT, CLEAT_EUNSUPPORTED (no PCRE2), CLEAT_ENOMEM, with
 * the reason. */
int search_new(const cleat_allocator *mem, const struct search_options *o, struct search **ret,
	       cleat_error *err);
/* Accepts NULL. */
void search_free(struct search *s);

enum search_kind { SEARCH_BEFORE, SEARCH_MATCH, SEARCH_AFTER };

struct search_line {
	enum search_kind kind;
	uint64_t number; /* from 1 */
	size_t column;   /* of the match, in characters from 1; 0 for context */
	struct str
		text; /* valid UTF-8, at most SEARCH_TEXT_MAX bytes and what shows that it was cut */
};

struct search_sink {
	/* Each line to show, in order. False: enough. */
	bool (*line)(void *ctx, const struct search_line *l);
	/* Asked for each block; true ends the search. May be NULL. */
	bool (*stop)(void *ctx);
	void *ctx;
};

/* What came of it: CLEAT_OK (to the end, or the sink had enough), CLEAT_EUNSUPPORTED (no text),
 * CLEAT_ECANCELLED, CLEAT_EIO, CLEAT_ENOMEM, CLEAT_ELIMIT (the pattern took too long on a line; what was found
 * before has been given). The file is read from its beginning. */
int search_file(struct search *s, int fd, const struct search_sink *sink);
/* Lines so far of which only the beginning was looked at. */
size_t search_cut(const struct search *s);

#endif
