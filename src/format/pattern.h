/* format/pattern.h - the regular expressions of JSON Schema: ECMA-262 (2024) with the u flag,
 * unanchored.
 *
 * The source is checked against ECMA-262's own grammar and rewritten for PCRE2 where the two
 * differ, so that a pattern means here what it means in a browser, or is refused.
 *
 * Schemas in the wild have patterns that are wrong with the u flag and right without it, where
 * ECMA-262's Annex B holds. pattern_compile() takes these with Annex B's meaning: a backslash before
 * a character that needs none (\- \_ \@), a lone ] } or {, a set beside a hyphen in a class
 * ([\w-.]), a repeated lookahead, and octal escapes. It does not take a backslash before a letter
 * that ECMA-262 gives no meaning (\a, \Z, \Q), although Annex B does: whoever wrote it meant what
 * another dialect means. Everything else keeps the meaning that it has with the u flag.
 *
 * Not as in ECMA-262: a group in a repeated group keeps what it captured in an earlier round, where
 * ECMA-262 forgets it at each; only a back reference can tell. Identifiers of groups may have any
 * character beyond ASCII. Lookbehind has the limits of PCRE2 (up to 10.42: alternatives of fixed
 * length).
 */
#ifndef FORMAT_PATTERN_H
#define FORMAT_PATTERN_H

#include "base/buf.h"
#include "base/regex.h"
#include "base/str.h"

/* Compiles an ECMA-262 pattern. CLEAT_EINVAL with what is wrong and where ("column 3: ...", counted
 * in characters), CLEAT_EUNSUPPORTED for what is not available with PCRE2, or as regex_compile(). */
int pattern_compile(const cleat_allocator *mem, struct str source, struct regex **ret,
		    cleat_error *err);
/* Is it a valid ECMA-262 pattern (u flag)? Syntax only; nothing is compiled or allocated. False also
 * for one that is longer than REGEX_MAX_PATTERN, nests deeper than 200 groups or names more than
 * 200. */
bool pattern_is_valid(struct str source);
/* The first half of pattern_compile(): appends what PCRE2 is given. `strict` takes what
 * pattern_is_valid() takes, and writes the same for it. */
int pattern_translate(struct str source, bool strict, struct buf *out, cleat_error *err);

#endif
