/* child/lines.c - see lines.h. */
#include "child/lines.h"

#include "net/plain.h"

#include <inttypes.h>
#include <stdio.h>

void child_lines_init(struct child_lines *l, void (*line)(void *ctx, const char *line), void *ctx)
{
	memset(l, 0, sizeof *l);
	l->line = line;
	l->ctx = ctx;
}

/* ---- what to remember --------------------------------------------------------------------- */

/* Cuts so that no character is split. */
static size_t cut(struct str s, size_t most)
{
	if (s.n <= most)
		return s.n;
	while (most > 0 && ((unsigned char)s.p[most] & 0xC0) == 0x80)
		most--;
	return most;
}

/* "error:" in any case, as in "ModuleNotFoundError: No module named 'x'". */
static bool says_error(const char *line)
{
	static const char word[] = "error:";

	for (; *line; line++) {
		size_t i = 0;

		while (word[i] && (line[i] == word[i] || (line[i] | 0x20) == word[i]))
			i++;
		if (!word[i])
			return true;
	}
	return false;
}

/* Some programs print a stack or a version after the error: the last line is the best only where none
 * speaks of an error. */
static void lines_remember(struct child_lines *l, struct str line)
{
	bool error = says_error(line.p);
	size_t n;

	while (line.n && line.p[0] == ' ') {
		line.p++;
		line.n--;
	}
	if (line.n == 0 || (l->has_error && !error))
		return;
	n = cut(line, CHILD_WORDS_KEEP);
	memcpy(l->words, line.p, n);
	l->words[n] = 0;
	l->has_error = error;
}

/* ---- lines -------------------------------------------------------------------------------- */

unsigned child_lines_tell(struct child_lines *l, uint64_t now, bool force)
{
	char text[64];

	if (l->dropped == 0)
		return 0;
	if (!force && now < l->second + 1000)
		return (unsigned)(l->second + 1000 - now);
	snprintf(text, sizeof text, "(%" PRIu64 " more lines were left out)", l->dropped);
	l->dropped = 0;
	if (l->line)
		l->line(l->ctx, text);
	return 0;
}

static void hand_on(struct child_lines *l, uint64_t now)
{
	struct str line = { l->buf, l->n };

	if (line.n && line.p[line.n - 1] == '\r')
		line.n--;
	plain(l->buf, line.n);
	l->buf[line.n] = 0;
	l->n = 0;
	lines_remember(l, line);
	if (l->second == 0 || now >= l->second + 1000) {
		child_lines_tell(l, now, true);
		l->second = now;
		l->in_second = 0;
	}
	if (++l->in_second > CHILD_LINES_RATE)
		l->dropped++;
	else if (l->line)
		l->line(l->ctx, l->buf);
}

void child_lines_feed(struct child_lines *l, const char *p, size_t n, uint64_t now)
{
	while (n > 0) {
		const char *nl = memchr(p, '\n', n);
		size_t piece = nl ? (size_t)(nl - p) : n;
		size_t room = CHILD_LINE_MAX - l->n, take = piece < room ? piece : room;

		if (!l->skipping) {
			memcpy(l->buf + l->n, p, take);
			l->n += take;
			if (take < piece) {
				hand_on(l, now);
				l->skipping = true;
			}
		}
		if (nl && !l->skipping)
			hand_on(l, now);
		if (nl)
			l->skipping = false;
		piece += nl != NULL;
		p += piece;
		n -= piece;
	}
}

void child_lines_end(struct child_lines *l, uint64_t now)
{
	if (l->n)
		hand_on(l, now);
	child_lines_tell(l, now, true);
}
