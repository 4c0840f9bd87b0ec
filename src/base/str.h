/* base/str.h - byte strings with a length, and the few text helpers that several layers share.
 *
 * Text from the wire may contain NUL, so it is always (pointer, length) and compared as such. Not
 * here: JSON escaping (json/writer.h), formatting (base/buf.h).
 */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
	const char *p; /* not necessarily terminated; NULL means absent */
	size_t n;
};

#define STR_LIT(s)  ((struct str){ "" s, sizeof(s) - 1 })
#define STR_INIT(s) /* in a static table */                                                        \
	{                                                                                          \
		"" s, sizeof(s) - 1                                                                \
	}
#define STR_ARGS(s) (int)(s).n, (s).p /* for "%.*s"; only for lengths known to fit an int */

/* Inline: with a literal argument the compiler knows the length. NULL gives { NULL, 0 }. */
static inline struct str str_of(const char *z)
{
	return (struct str){ z, z ? strlen(z) : 0 };
}

static inline bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* Exact bytes, z terminated. */
static inline bool str_eqz(struct str a, const char *z)
{
	return str_eq(a, str_of(z));
}

/* Equal when the case of ASCII letters is ignored. */
bool str_same(struct str a, struct str b);
static inline bool str_samez(struct str a, const char *z)
{
	return str_same(a, str_of(z));
}

bool str_starts(struct str s, const char *prefix);
/* Is it one of these words? The list ends with NULL. */
bool str_among(struct str s, const char *const *words);
bool str_has_nul(struct str s);

/* Equal only when case is folded, as careless readers do: ASCII letters, and the two characters
 * beyond ASCII that fold to one (U+017F to s, U+212A to k). False for equal strings. */
bool str_lookalike(struct str a, const char *z);

/* FNV-1a with a seed; for tables, not for security. */
uint32_t str_hash(struct str s, uint32_t seed);

/* Length of the valid UTF-8 prefix of s (RFC 3629: no surrogates, no overlong forms, nothing above
 * U+10FFFF); equals s.n when all of it is valid. */
size_t utf8_valid_prefix(struct str s);
/* Number of code points; s must be valid. */
size_t utf8_length(struct str s);
/* The code point at s.p[*i] (*i < n), and *i moves past it; UTF8_BAD, and one byte on, where there
 * is not a well-formed sequence. */
#define UTF8_BAD UINT32_MAX
uint32_t utf8_next(struct str s, size_t *i);
/* Not for a terminal, nor for text that somebody reads: control characters (newline and tab, too), and those
 * that change the direction of a line or cannot be seen. */
bool utf8_unsafe(uint32_t c);

/* Restricted edit distance (insert, delete, substitute, swap neighbours), case-insensitive for
 * ASCII, or SIZE_MAX when it is over `limit` or a string is longer than 64 bytes. */
size_t str_distance(struct str a, struct str b, size_t limit);
/* Keeps the nearest candidate so far: start with { .best = {NULL,0} }, offer each name, read best
 * (absent when nothing is near enough: at most a third of the length and at most 4). */
struct str_nearest {
	struct str wanted;
	struct str best;
	size_t distance;
};
void str_nearest_offer(struct str_nearest *n, struct str candidate);

#endif
