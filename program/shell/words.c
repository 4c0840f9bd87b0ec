/* program/shell/words.c - a line to words, as shells do it, without anything that a shell would expand. */
#include "shell/shell.h"

#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* One word from line[*i] on. False: a quote is not closed. */
static bool take_word(const char *line, size_t n, size_t *i, struct text *word)
{
	char quote = 0;

	for (; *i < n && (quote || !is_blank(line[*i])); (*i)++) {
		char c = line[*i];

		if (quote && c == quote) {
			quote = 0;
		} else if (!quote && (c == '\'' || c == '"')) {
			quote = c;
		} else if (c == '\\' && quote != '\'' && *i + 1 < n &&
			   (!quote || line[*i + 1] == '"' || line[*i + 1] == '\\')) {
			text_add(word, &line[++*i], 1);
		} else {
			text_add(word, &c, 1);
		}
	}
	return !quote;
}

bool shell_split(const char *line, size_t n, struct words *to)
{
	size_t i = 0;

	for (;;) {
		struct text word = { 0 };
		bool closed;

		while (i < n && is_blank(line[i]))
			i++;
		if (i >= n || line[i] == '#')
			return true;
		closed = take_word(line, n, &i, &word);
		words_add(to, keep(text_take(&word)));
		if (!closed)
			return false;
	}
}
