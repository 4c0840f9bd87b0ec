/* fuzz_serve_argtext.c - text with places, and commands made of it.
 *
 * Input: elements of a command, one a line; behind a line that is "=" the arguments as JSON. Whatever the
 * values are: as many words as there can be, none with a dash at its beginning that the configuration did not
 * write or allow, none longer than the system takes.
 */
#include "serve/argument/argtext.h"
#include "serve/argument/danger.h"

#include "json/parse.h"

#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 16 };

static const char names[] = "{\"properties\":{\"a\":{},\"b\":{},\"path\":{},\"a:dash\":{}}}";

/* One element alone: a word of it that begins with '-' was written so, or allowed. */
static void check_element(struct str text, const struct argtext *t, const cleat_json *args,
			  struct arena *ar)
{
	cleat_error err;
	const char *const *words = argtext_words(&t, 1, args, ar, &err);
	bool allowed = text.n && memchr(text.p, '-', text.n);

	for (size_t i = 0; i + 5 <= text.n; i++)
		allowed = allowed || memcmp(text.p + i, ":dash", 5) == 0;
	for (size_t i = 0; words && words[i]; i++) {
		if (words[i][0] == '-' && !allowed)
			abort();
		if (strlen(words[i]) > ARGTEXT_WORD_MAX)
			abort();
	}
	if (!words && err.message[0] == 0)
		abort();
}

static void check_prose(struct str text, const cleat_json *schema, const cleat_json *args,
			struct arena *ar)
{
	const struct argtext *t = argtext_parse(ar, text, schema, ARGTEXT_PROSE, NULL);
	struct str fixed;
	struct buf b;

	if (!t)
		return;
	/* Without a brace it is itself. */
	if (!memchr(text.p, '{', text.n) && (!argtext_is_fixed(t, &fixed) || !str_eq(fixed, text)))
		abort();
	buf_init(&b, NULL, 1 << 20);
	argtext_write(t, args, &b, NULL);
	buf_done(&b);
}

/* What is found to be dangerous is a word with a place, and not the first. */
static void check_danger(const struct str *texts, const struct argtext *const *elements, size_t n,
			 struct arena *ar)
{
	const char *words[ELEMENTS + 1] = { NULL };
	bool places[ELEMENTS + 1] = { false };
	size_t found;

	for (size_t i = 0; i < n; i++) {
		words[i] = arena_strndup(ar, texts[i].p, texts[i].n);
		places[i] = !argtext_is_fixed(elements[i], NULL);
	}
	found = danger_script(words, places);
	if (found >= (n ? n : 1) || (found && !places[found]))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str input = { (const char *)data, size };
	const struct argtext *elements[ELEMENTS];
	const cleat_json *schema, *args = NULL;
	struct str texts[ELEMENTS];
	size_t n = 0, at = 0;
	struct arena ar;
	cleat_error err;

	arena_init(&ar, NULL, 0);
	json_parse(&ar, str_of(names), NULL, &schema, NULL);
	while (at < input.n && n < ELEMENTS) {
		const char *end = memchr(input.p + at, '\n', input.n - at);
		size_t len = end ? (size_t)(end - input.p) - at : input.n - at;
		struct str line = { input.p + at, len };

		at += len + 1;
		if (str_eqz(line, "="))
			break;
		texts[n] = line;
		elements[n] = argtext_parse(&ar, line, schema, ARGTEXT_STRICT, &err);
		n += elements[n] != NULL;
	}
	if (at < input.n)
		json_parse(&ar, (struct str){ input.p + at, input.n - at }, NULL, &args, NULL);
	for (size_t i = 0; i < n; i++) {
		check_element(texts[i], elements[i], args, &ar);
		check_prose(texts[i], schema, args, &ar);
	}
	argtext_words(elements, n, args, &ar, &err);
	check_danger(texts, elements, n, &ar);
	arena_done(&ar);
	return 0;
}
