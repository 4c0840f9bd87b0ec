/* program/clients/expand.c - variables in configuration files, without a shell.
 *
 * A variable that is not set is an error: a server that is started with the text "${TOKEN}" for a token
 * fails later and says less.
 */
#include "clients/expand.h"

#include "text/text.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 4 };

static bool is_name(const char *s, size_t n)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";

	return n && strspn(s, letters) >= n && !(*s >= '0' && *s <= '9');
}

static const char *variable(const struct expand_places *places, const char *name, size_t n)
{
	char *copy = keepf("%.*s", (int)n, name);

	return places->get ? places->get(copy) : getenv(copy);
}

static const char *place(const struct expand_places *places, const char *name, size_t n)
{
	const char *slash = places->workspace ? strrchr(places->workspace, '/') : NULL;
	const struct {
		const char *name, *value;
	} known[] = {
		{ "workspaceFolder", places->workspace },
		{ "workspaceRoot", places->workspace },
		{ "cwd", places->workspace },
		{ "workspaceFolderBasename", slash ? slash + 1 : places->workspace },
		{ "userHome", places->home },
		{ "pathSeparator", "/" },
		{ "/", "/" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(known); i++)
		if (strlen(known[i].name) == n && memcmp(known[i].name, name, n) == 0)
			return known[i].value;
	return NULL;
}

static const char *expand_at(const char *text, const struct expand_places *places, unsigned depth,
			     const char **why);

/* The value of what is between ${ and }. What a default has inside is expanded, too. */
static const char *value_of(const struct expand_places *places, const char *s, size_t n,
			    unsigned depth, const char **why)
{
	const char *value = place(places, s, n), *colon = memchr(s, ':', n);
	size_t name = colon ? (size_t)(colon - s) : n;
	const char *fallback = NULL;

	if (value)
		return value;
	if (name == 3 && memcmp(s, "env", 3) == 0 && colon && colon[1] != '-') {
		s += 4;
		n -= 4;
		colon = memchr(s, ':', n);
		name = colon ? (size_t)(colon - s) : n;
	} else if (name == 5 && memcmp(s, "input", 5) == 0 && colon) {
		*why = keepf(
			"${%.*s} is a question to the user of an editor: write the value there, or "
			"${VAR} and set VAR",
			(int)n, s);
		return NULL;
	}
	if (colon && (size_t)(colon - s) + 1 < n && colon[1] == '-')
		fallback = keepf("%.*s", (int)(n - name - 2), colon + 2);
	if (!is_name(s, name) || (colon && !fallback)) {
		*why = keepf("${%.*s} is not a known variable", (int)n, s);
		return NULL;
	}
	value = variable(places, s, name);
	if (fallback && (!value || !*value))
		return expand_at(fallback, places, depth + 1, why);
	/* A token for what is typed on the command line: reach/bearer.c has taken it. */
	if (!value && name == 12 && memcmp(s, "CLEAT_BEARER", 12) == 0)
		*why = "${CLEAT_BEARER} is not for files, as it is for addresses on the command "
		       "line: use a variable with another name";
	else if (!value)
		*why = keepf("${%.*s} is not set", (int)name, s);
	return value;
}

/* The } that belongs to the ${ at the beginning; 0: there is none. */
static size_t closing(const char *text)
{
	unsigned open = 0;

	for (size_t i = 0; text[i]; i++) {
		open += text[i] == '$' && text[i + 1] == '{';
		if (text[i] == '}' && --open == 0)
			return i;
	}
	return 0;
}

static const char *expand_at(const char *text, const struct expand_places *places, unsigned depth,
			     const char **why)
{
	struct text out = { 0 };

	if (depth > DEEPEST) {
		*why = "has defaults inside of defaults, too deep";
		return NULL;
	}

	while (*text) {
		size_t n = strcspn(text, "$");
		const char *value;

		text_add(&out, text, n);
		text += n;
		if (!*text)
			break;
		if (text[1] != '{') {
			text_add(&out, text++, 1);
			continue;
		}
		n = closing(text);
		if (!n) {
			*why = keepf("\"%s\" has no closing }", text);
			text_free(&out);
			return NULL;
		}
		value = value_of(places, text + 2, n - 2, depth, why);
		if (!value) {
			text_free(&out);
			return NULL;
		}
		text_puts(&out, value);
		text += n + 1;
	}
	return keep(text_take(&out));
}

const char *expand(const char *text, const struct expand_places *places, const char **why)
{
	return expand_at(text, places, 0, why);
}
