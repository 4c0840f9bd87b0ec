/* program/shell/words.c - a line to words, as shells do it, without anything that a shell would expand. */
#include "shell/shell.h"

#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* One word from line[*i] on. Gives the quote that is not closed; 0: none. */
static char take_word(const char *line, size_t n, size_t *i, struct text *word)
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
	return quote;
}

bool shell_split(const char *line, size_t n, struct words *to)
{
	size_t i = 0;

	for (;;) {
		struct text word = { 0 };
		char quote;

		while (i < n && is_blank(line[i]))
			i++;
		if (i >= n || line[i] == '#')
			return true;
		quote = take_word(line, n, &i, &word);
		words_add(to, keep(text_take(&word)));
		if (quote)
			return false;
	}
}

size_t shell_last_word(const char *line, size_t n, const char **ret_word, char *ret_quote)
{
	size_t i = 0, start;

	for (;;) {
		struct text word = { 0 };

		while (i < n && is_blank(line[i]))
			i++;
		start = i;
		*ret_quote = take_word(line, n, &i, &word);
		*ret_word = keep(text_take(&word));
		if (i >= n)
			return start;
	}
}

const char *shell_quoted(const char *text, size_t n, char quote)
{
	struct text t = { 0 };

	for (size_t i = 0; i < n; i++) {
		char c = text[i];

		if (quote == '\'' && c == '\'')
			text_puts(&t, "'\\''");
		else if (quote ? quote == '"' && strchr("\"\\", c) != NULL
			       : strchr(" \t'\"\\#", c) != NULL)
			text_printf(&t, "\\%c", c);
		else
			text_add(&t, &c, 1);
	}
	return keep(text_take(&t));
}
