/* base/regex.h - regular expressions with limits, by PCRE2, which is loaded on first use.
 *
 * Always UTF mode and never a hang: every match has a match limit, a depth limit and a heap limit.
 * Linking PCRE2 would cost each program its memory and start-up time although most never match a
 * pattern; CLEAT_LINK_PCRE2 links it. Not here: the dialect of JSON Schema (format/pattern.h).
 */
#ifndef BASE_REGEX_H
#define BASE_REGEX_H

#include "base/str.h"

#include <cleat/base.h>

struct regex;

enum regex_flag {
	REGEX_CASELESS = 1,
	REGEX_ECMA = 2, /* $ only at the very end, [] and [^], unset back references are empty */
	REGEX_MULTILINE = 4 /* ^ and $ at line ends */
};

enum { REGEX_MAX_PATTERN = 64 * 1024, REGEX_GROUPS = 3 };

/* Compiles. CLEAT_EINVAL with PCRE2's own words and the offset in *err; CLEAT_ELIMIT for a pattern
 * that is too long or needs too much; CLEAT_EUNSUPPORTED when PCRE2 is not installed (the message
 * says what to install); CLEAT_ENOMEM. */
int regex_compile(const cleat_allocator *mem, struct str pattern, unsigned flags,
		  struct regex **ret, cleat_error *err);
/* 1: found (its place in *ret_at .. *ret_end, both may be NULL), 0: not found, CLEAT_ELIMIT: a
 * limit ended the search, CLEAT_EINVAL: the text is not UTF-8, CLEAT_ENOMEM. Any number of threads
 * may match with one regex; an ordinary match after the first allocates nothing. */
int regex_match(const struct regex *re, struct str text, size_t from, size_t *ret_at,
		size_t *ret_end);
/* The same anywhere in the text, for callers that have a budget for many matches: what this one took,
 * in about nanoseconds, is taken from *budget, and more than that it does not take (CLEAT_ELIMIT). */
int regex_match_within(const struct regex *re, struct str text, uint64_t *budget);
/* As regex_match_within(), `budget` may be NULL; when found, ret[i] is what group i + 1 matched (absent: there
 * is no such group, or it took no part). */
int regex_groups(const struct regex *re, struct str text, struct str ret[REGEX_GROUPS],
		 uint64_t *budget);
/* Bytes that it takes while nothing is matched: some patterns take a thousand times their length. */
size_t regex_size(const struct regex *re);
/* Accepts NULL. */
void regex_free(struct regex *re);

#endif
