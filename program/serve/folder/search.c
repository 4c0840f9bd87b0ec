/* program/serve/folder/search.c - see search.h.
 *
 * A pattern without characters that mean something is plain text, and plain text is looked for in a whole
 * block at once: most files do not have it, and then no line is looked at.
 */
#define _GNU_SOURCE /* memmem */
#include "serve/folder/search.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/regex.h"

#include <errno.h>
#include <sys/types.h>
#include <unistd.h>

/* A line that may become context of the next match. */
struct past {
	uint64_t number;
	size_t n;
	char text[SEARCH_TEXT_MAX + 8];
};

struct search {
	cleat_allocator mem;
	struct regex *regex;
	char *plain; /* instead */
	size_t n_plain;
	unsigned context;
	char *block;
	struct past *past; /* a ring of `context` */
	struct buf scratch;
	/* of the file */
	const struct search_sink *sink;
	uint64_t number;
	uint64_t past_from, past_to; /* numbers of lines in the ring: from <= i < to */
	unsigned after;              /* lines still to be shown behind a match */
	bool enough;
	size_t cut; /* lines, of all files */
};

/* ---- making ------------------------------------------------------------------------------------ */

static bool is_plain(struct str pattern)
{
	for (size_t i = 0; i < pattern.n; i++)
		if (strchr("\\^$.|?*+()[]{}", pattern.p[i]))
			return false;
	return true;
}

/* Plain text as a regular expression, for when case does not matter. */
static int compile_quoted(struct search *s, struct str text, cleat_error *err)
{
	struct buf quoted = BUF_INIT(&s->mem, 2 * SEARCH_PATTERN_MAX + 1);
	int rc;

	for (size_t i = 0; i < text.n; i++) {
		if (strchr("\\^$.|?*+()[]{}#-", text.p[i]))
			buf_putc(&quoted, '\\');
		buf_putc(&quoted, text.p[i]);
	}
	rc = buf_status(&quoted);
	rc = rc ? error_set(err, rc, "no memory for the pattern")
		: regex_compile(&s->mem, buf_str(&quoted), REGEX_CASELESS, &s->regex, err);
	buf_done(&quoted);
	return rc;
}

static int search_compile(struct search *s, const struct search_options *o, cleat_error *err)
{
	if (!o->literal && !is_plain(o->pattern))
		return regex_compile(&s->mem, o->pattern, o->ignore_case ? REGEX_CASELESS : 0,
				     &s->regex, err);
	if (o->ignore_case)
		return compile_quoted(s, o->pattern, err);
	s->plain = mem_strndup(&s->mem, o->pattern.p, o->pattern.n);
	s->n_plain = o->pattern.n;
	return s->plain ? CLEAT_OK : error_set(err, CLEAT_ENOMEM, "no memory for the pattern");
}

int search_new(const cleat_allocator *mem, const struct search_options *o, struct search **ret,
	       cleat_error *err)
{
	const cleat_allocator a = mem_resolve(mem);
	struct search *s;
	int rc;

	*ret = NULL;
	if (!o->pattern.n || o->pattern.n > SEARCH_PATTERN_MAX || str_has_nul(o->pattern))
		return error_set(err, CLEAT_EINVAL, "a pattern has 1 to %d bytes and no NUL",
				 SEARCH_PATTERN_MAX);
	s = mem_zalloc(&a, sizeof *s);
	if (!s)
		return error_set(err, CLEAT_ENOMEM, "no memory for a search");
	s->mem = a;
	s->context = o->context < SEARCH_CONTEXT_MAX ? o->context : SEARCH_CONTEXT_MAX;
	buf_init(&s->scratch, &a, 4 * SEARCH_BLOCK);
	s->block = mem_alloc(&a, SEARCH_BLOCK);
	s->past = s->context ? mem_alloc(&a, s->context * sizeof *s->past) : NULL;
	rc = !s->block || (s->context && !s->past)
		     ? error_set(err, CLEAT_ENOMEM, "no memory for a search")
		     : search_compile(s, o, err);
	if (rc) {
		search_free(s);
		return rc;
	}
	*ret = s;
	return CLEAT_OK;
}

void search_free(struct search *s)
{
	cleat_allocator mem;

	if (!s)
		return;
	mem = s->mem;
	regex_free(s->regex);
	buf_done(&s->scratch);
	mem_free(&mem, s->plain);
	mem_free(&mem, s->past);
	mem_free(&mem, s->block);
	mem_free(&mem, s);
}

/* ---- a line --------------------------------------------------------------------------------- */

/* Valid UTF-8: the line itself, or a copy with U+FFFD for each bad byte. */
static struct str made_valid(struct search *s, struct str line)
{
	buf_reset(&s->scratch, SIZE_MAX);
	while (line.n) {
		size_t good = utf8_valid_prefix(line);

		buf_append(&s->scratch, line.p, good);
		line.p += good;
		line.n -= good;
		if (line.n) {
			buf_append(&s->scratch, "\xEF\xBF\xBD", 3);
			line.p++;
			line.n--;
		}
	}
	return buf_str(&s->scratch);
}

/* 1 and where it begins, 0, or a status. */
static int search_find(struct search *s, struct str line, size_t *ret_at)
{
	const char *p;

	if (s->regex)
		return regex_match(s->regex, line, 0, ret_at, NULL);
	p = line.n ? memmem(line.p, line.n, s->plain, s->n_plain) : NULL;
	*ret_at = p ? (size_t)(p - line.p) : 0;
	return p != NULL;
}

static bool in_character(struct str s, size_t at)
{
	return at < s.n && ((unsigned char)s.p[at] & 0xC0) == 0x80;
}

/* The part of a valid line that is shown: the place `at` is in it. */
static size_t excerpt(struct str line, size_t at, char to[SEARCH_TEXT_MAX + 8])
{
	static const char dots[] = "\xE2\x80\xA6";
	size_t from = 0, end = line.n, n = 0;

	if (line.n > SEARCH_TEXT_MAX) {
		from = at > SEARCH_TEXT_MAX / 4 ? at - SEARCH_TEXT_MAX / 4 : 0;
		if (from > line.n - SEARCH_TEXT_MAX)
			from = line.n - SEARCH_TEXT_MAX;
		end = from + SEARCH_TEXT_MAX;
		while (in_character(line, from))
			from++;
		while (in_character(line, end))
			end--;
	}
	if (from) {
		memcpy(to, dots, 3);
		n = 3;
	}
	memcpy(to + n, line.p + from, end - from);
	n += end - from;
	if (end < line.n) {
		memcpy(to + n, dots, 3);
		n += 3;
	}
	return n;
}

static void show(struct search *s, enum search_kind kind, uint64_t number, size_t column,
		 struct str text)
{
	const struct search_line l = { kind, number, column, text };

	if (!s->enough)
		s->enough = !s->sink->line(s->sink->ctx, &l);
}

static void show_past(struct search *s)
{
	for (uint64_t i = s->past_from; i < s->past_to; i++) {
		const struct past *p = &s->past[i % s->context];

		show(s, SEARCH_BEFORE, p->number, 0, (struct str){ p->text, p->n });
	}
	s->past_from = s->past_to;
}

static void search_remember(struct search *s, struct str line)
{
	struct past *p = &s->past[s->past_to % s->context];

	p->number = s->number;
	p->n = excerpt(line, 0, p->text);
	s->past_to++;
	if (s->past_to - s->past_from > s->context)
		s->past_from++;
}

static void show_match(struct search *s, struct str line, size_t at)
{
	char text[SEARCH_TEXT_MAX + 8];
	size_t n = excerpt(line, at, text);

	show_past(s);
	show(s, SEARCH_MATCH, s->number, utf8_length((struct str){ line.p, at }) + 1,
	     (struct str){ text, n });
	s->after = s->context;
}

static int do_line(struct search *s, struct str line)
{
	size_t at = 0;
	int rc;

	s->number++;
	if (line.n && line.p[line.n - 1] == '\r')
		line.n--;
	if (utf8_valid_prefix(line) != line.n) {
		line = made_valid(s, line);
		if (buf_status(&s->scratch))
			return CLEAT_ENOMEM;
	}
	rc = search_find(s, line, &at);
	if (rc == 1) {
		show_match(s, line, at);
	} else if (rc == 0 && s->after) {
		char text[SEARCH_TEXT_MAX + 8];

		s->after--;
		show(s, SEARCH_AFTER, s->number, 0, (struct str){ text, excerpt(line, 0, text) });
	} else if (rc == 0 && s->context) {
		search_remember(s, line);
	}
	return rc < 0 ? rc : CLEAT_OK;
}

/* ---- a file ---------------------------------------------------------------------------------- */

static uint64_t count_lines(struct str text)
{
	uint64_t n = 0;

	while (text.n) {
		const char *nl = memchr(text.p, '\n', text.n);

		if (!nl)
			break;
		n++;
		text.n -= (size_t)(nl - text.p) + 1;
		text.p = nl + 1;
	}
	return n;
}

/* Whole lines; the last may lack its end. */
static int do_lines(struct search *s, struct str text)
{
	int rc = CLEAT_OK;

	if (s->plain && !s->context && !memmem(text.p, text.n, s->plain, s->n_plain)) {
		s->number += count_lines(text);
		return CLEAT_OK;
	}
	while (text.n && rc == CLEAT_OK && !s->enough) {
		const char *nl = memchr(text.p, '\n', text.n);
		size_t n = nl ? (size_t)(nl - text.p) : text.n;

		rc = do_line(s, (struct str){ text.p, n });
		n += nl != NULL;
		text.p += n;
		text.n -= n;
	}
	return rc;
}

/* Fills the block behind what is left in it. The bytes that there are, or -1. */
static ssize_t search_fill(struct search *s, int fd, size_t have, off_t *at)
{
	ssize_t n;

	do
		n = pread(fd, s->block + have, SEARCH_BLOCK - have, *at);
	while (n < 0 && errno == EINTR);
	if (n > 0)
		*at += n;
	return n;
}

static size_t last_end(const char *p, size_t n)
{
	while (n > 0 && p[n - 1] != '\n')
		n--;
	return n;
}

/* Moves on past the end of a line that is longer than the block. */
static int skip_line(struct search *s, int fd, size_t *have, off_t *at)
{
	for (;;) {
		ssize_t n = search_fill(s, fd, 0, at);
		const char *nl = n > 0 ? memchr(s->block, '\n', (size_t)n) : NULL;

		if (s->sink->stop && s->sink->stop(s->sink->ctx))
			return CLEAT_ECANCELLED;
		*have = 0;
		if (n <= 0)
			return n < 0 ? CLEAT_EIO : CLEAT_OK;
		if (nl) {
			*have = (size_t)n - (size_t)(nl + 1 - s->block);
			memmove(s->block, nl + 1, *have);
			return CLEAT_OK;
		}
	}
}

static int do_block(struct search *s, int fd, size_t *have, off_t *at)
{
	size_t whole = last_end(s->block, *have);
	int rc;

	if (!whole && *have == SEARCH_BLOCK) {
		rc = do_line(s, (struct str){ s->block, *have });
		s->cut++;
		return rc ? rc : skip_line(s, fd, have, at);
	}
	rc = do_lines(s, (struct str){ s->block, whole });
	memmove(s->block, s->block + whole, *have - whole);
	*have -= whole;
	return rc;
}

size_t search_cut(const struct search *s)
{
	return s->cut;
}

int search_file(struct search *s, int fd, const struct search_sink *sink)
{
	size_t have = 0;
	off_t at = 0;
	int rc = CLEAT_OK;

	s->sink = sink;
	s->number = s->past_from = s->past_to = 0;
	s->after = 0;
	s->enough = false;
	while (rc == CLEAT_OK && !s->enough) {
		off_t before = at;
		size_t room = SEARCH_BLOCK - have;
		ssize_t n = search_fill(s, fd, have, &at);

		if (sink->stop && sink->stop(sink->ctx))
			return CLEAT_ECANCELLED;
		if (n < 0)
			return CLEAT_EIO;
		if (before == 0 && n > 0 && memchr(s->block, 0, (size_t)n))
			return CLEAT_EUNSUPPORTED;
		have += (size_t)n;
		if ((size_t)n < room) /* the end, of a regular file */
			return have ? do_lines(s, (struct str){ s->block, have }) : CLEAT_OK;
		rc = do_block(s, fd, &have, &at);
	}
	return rc;
}
