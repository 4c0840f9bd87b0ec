/* fuzz_tokens.c - a file of tokens, as anybody may have written it.
 *
 * What is refused is refused with one line that begins with the place. What is accepted must do what
 * the file says, read here a second time in the simplest way: every token that is there plainly
 * gives the name in front of it, and none gives one with a byte changed.
 */
#include "auth/tokens.h"
#include "require.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static size_t span(const char *p, size_t n, bool blank)
{
	size_t i = 0;

	while (i < n && (p[i] == ' ' || p[i] == '\t' || p[i] == '\r') == blank)
		i++;
	return i;
}

static void check_token(const struct tokens *t, struct str name, struct str token)
{
	const char *found = tokens_find(t, token);
	char *other;

	if (token.n >= 7 && token.p[6] == ':' && memcmp(token.p + 3, "256", 3) == 0)
		return; /* most likely a hash: what it is of is not known here */
	require(found && str_eqz(name, found));
	other = malloc(token.n);
	require(other != NULL);
	memcpy(other, token.p, token.n);
	other[token.n / 2] = ' '; /* not in any token */
	require(!tokens_find(t, (struct str){ other, token.n }));
	free(other);
}

static void check_line(const struct tokens *t, const char *p, size_t n)
{
	struct str name, token;
	size_t skip = span(p, n, true);

	name = (struct str){ p + skip, span(p + skip, n - skip, false) };
	if (name.n == 0 || name.p[0] == '#')
		return;
	p = name.p + name.n;
	n -= skip + name.n;
	skip = span(p, n, true);
	token = (struct str){ p + skip, span(p + skip, n - skip, false) };
	require(token.n >= 16);
	check_token(t, name, token);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data, *end = p + size;
	struct tokens *t = NULL;
	cleat_error err;
	int rc = tokens_parse(NULL, (struct str){ p, size }, &t, &err);

	if (rc != CLEAT_OK) {
		require(rc == CLEAT_EINVAL || rc == CLEAT_ELIMIT);
		require(err.status == rc && t == NULL);
		require(strncmp(err.message, "line ", 5) == 0 ||
			strcmp(err.message, "there is no token in it") == 0 || rc == CLEAT_ELIMIT);
		return 0;
	}
	while (p < end) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));

		stop = stop ? stop : end;
		check_line(t, p, (size_t)(stop - p));
		p = stop + (stop < end);
	}
	tokens_free(t);
	return 0;
}
