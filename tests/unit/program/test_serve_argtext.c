/* test_serve_argtext.c - text with places: what is a place, what a value becomes, and what no value may do.
 */
#include "serve/argument/argtext.h"
#include "serve/argument/integers.h"
#include "test.h"

#include "support.h"
#include "json/copy.h"
#include "json/parse.h"

#include <stdlib.h>

#define NAMES "{\"properties\":{\"path\":{},\"n\":{},\"tags\":{},\"a:b\":{},\"x-y\":{}}}"

static struct arena ar;

static int setup(void **state)
{
	(void)state;
	arena_init(&ar, NULL, 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_done(&ar);
	return 0;
}

static const cleat_json *json(const char *text)
{
	const cleat_json *v = NULL;

	assert_int_equal(json_parse(&ar, str_of(text), NULL, &v, NULL), CLEAT_OK);
	return v;
}

static const struct argtext *text_of(const char *text, enum argtext_style style)
{
	cleat_error err;
	const struct argtext *t = argtext_parse(&ar, str_of(text), json(NAMES), style, &err);

	if (!t)
		print_message("%s: %s\n", text, err.message);
	assert_non_null(t);
	return t;
}

/* ---- reading ------------------------------------------------------------------------------ */

TEST_WITH(values_stand_in_their_places, setup, teardown)
{
	static const struct {
		const char *text, *args, *want;
		bool missing;
	} table[] = {
		{ "", "{}", "", false },
		{ "plain", "{}", "plain", false },
		{ "{path}", "{\"path\":\"/a b\"}", "/a b", false },
		{ "--n={n}!", "{\"n\":1.10}", "--n=1.10!", false }, /* as it was written */
		{ "{n}", "{\"n\":12345678901234567890}", "12345678901234567890", false },
		{ "{n}", "{\"n\":true}", "true", false },
		{ "{n}", "{\"n\":[1,{\"a\":\"b\"}]}", "[1,{\"a\":\"b\"}]", false },
		{ "{{path}}", "{\"path\":\"x\"}", "{path}", false },
		{ "a{{b}}c", "{}", "a{b}c", false },
		{ "{path}{path}", "{\"path\":\"x\"}", "xx", false },
		{ "[{path}]", "{}", "[]", true },
		{ "[{path}]", "{\"path\":null}", "[]", true }, /* null is not given */
		{ "[{path}]", "{\"path\":\"\"}", "[]", false },
		{ "{a:b} {x-y}", "{\"a:b\":1,\"x-y\":2}", "1 2", false },
		/* A value is never read again. */
		{ "{path}", "{\"path\":\"{n} ${HOME} $(id) %s\"}", "{n} ${HOME} $(id) %s", false },
		{ "é{path}", "{\"path\":\"ü\"}", "éü", false },
		{ "{*}", "{\"path\":\"a \\\"b\\\"\",\"n\":1.0}",
		  "{\"path\":\"a \\\"b\\\"\",\"n\":1.0}", false },
		{ "x={*}", "{}", "x={}", false },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		const struct argtext *t = text_of(table[i].text, ARGTEXT_STRICT);
		bool missing = !table[i].missing;
		struct buf b;

		buf_init(&b, NULL, 1000);
		assert_int_equal(argtext_write(t, json(table[i].args), &b, &missing), CLEAT_OK);
		buf_putc(&b, 0);
		assert_string_equal(buf_str(&b).p, table[i].want);
		assert_int_equal(missing, table[i].missing);
		buf_done(&b);
	}
}

TEST_WITH(mistakes_are_told_with_their_column, setup, teardown)
{
	static const struct {
		const char *text, *want;
	} table[] = {
		{ "{", "column 1: expected an argument's name and } after {, or {{ for a brace" },
		{ "a {}",
		  "column 3: expected an argument's name and } after {, or {{ for a brace" },
		{ "{path",
		  "column 1: expected an argument's name and } after {, or {{ for a brace" },
		{ "{pa\nth}",
		  "column 1: expected an argument's name and } after {, or {{ for a brace" },
		{ "é}", "column 2: expected }} for a brace, got }" },
		{ "x {pth}", "column 3: there is no argument \"pth\" (did you mean path?)" },
		{ "{zzz}", "column 1: there is no argument \"zzz\"" },
		{ "{\"a\":1}",
		  "column 1: there is no argument \"\\\"a\\\":1\" (a brace itself is written {{)" },
		{ "{zzz:dash}", "column 1: there is no argument \"zzz\"" },
		{ "{path:dsh}", "column 1: there is no argument \"path:dsh\"" },
		{ "\xff", "expected text in UTF-8 without NUL" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		cleat_error err;

		assert_null(argtext_parse(&ar, str_of(table[i].text), json(NAMES), ARGTEXT_STRICT,
					  &err));
		assert_string_equal(err.message, table[i].want);
	}
}

/* In prose braces are mostly code: only a declared name is a place. */
TEST_WITH(prose_keeps_its_braces, setup, teardown)
{
	static const struct {
		const char *text, *want;
	} table[] = {
		{ "{path}", "P" },
		{ "{{path}}", "{path}" },
		{ "{{path}", "{{path}" },
		{ "{ \"a\": 1 } {zzz} }{ {} {{}} {{zzz}}",
		  "{ \"a\": 1 } {zzz} }{ {} {{}} {{zzz}}" },
		{ "style={{a: 1}} {path}", "style={{a: 1}} P" },
		{ "if (x) {\n{path}\n}", "if (x) {\nP\n}" },
		{ "{", "{" },
		{ "{path", "{path" },
	};
	cleat_error err;

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		struct buf b;

		buf_init(&b, NULL, 1000);
		argtext_write(text_of(table[i].text, ARGTEXT_PROSE), json("{\"path\":\"P\"}"), &b,
			      NULL);
		buf_putc(&b, 0);
		assert_string_equal(buf_str(&b).p, table[i].want);
		buf_done(&b);
	}
	/* What is nearly the name of an argument is a slip. */
	assert_null(argtext_parse(&ar, STR_LIT("{pathh}"), json(NAMES), ARGTEXT_PROSE, &err));
	assert_string_equal(err.message,
			    "column 1: there is no argument \"pathh\" (did you mean path?)");
}

/* ---- commands ----------------------------------------------------------------------------- */

/* The elements of a command, divided by '|'; the words likewise, or the error. */
static char *words_of(const char *command, const char *args)
{
	static char out[4096];
	const struct argtext *elements[16];
	char copy[256], *p = copy, *bar;
	const char *const *words;
	size_t n = 0;
	cleat_error err;

	snprintf(copy, sizeof copy, "%s", command);
	do {
		bar = strchr(p, '|');
		if (bar)
			*bar = 0;
		elements[n++] = text_of(p, ARGTEXT_STRICT);
		p = bar + 1;
	} while (bar);
	words = argtext_words(elements, n, json(args), &ar, &err);
	if (!words) {
		snprintf(out, sizeof out, "! %s", err.message);
		return out;
	}
	out[0] = 0;
	for (size_t i = 0; words[i]; i++)
		snprintf(out + strlen(out), sizeof out - strlen(out), "%s%s", i ? "|" : "",
			 words[i]);
	return out;
}

#define OPTION                                                                                      \
	"! path: a value that begins with \"-\" would be read as an option; a file of such a name " \
	"can be written ./-name"

TEST_WITH(commands_become_words, setup, teardown)
{
	static const struct {
		const char *command, *args, *want;
	} table[] = {
		{ "du|-sh|--|{path}", "{\"path\":\"a b\"}", "du|-sh|--|a b" },
		{ "du|{path}", "{\"path\":\"; rm -rf / && $(id) `id`\\n> x\"}",
		  "du|; rm -rf / && $(id) `id`\n> x" },
		{ "du|{path}", "{\"path\":\"\"}", "du|" }, /* empty is a word */
		/* not given: the element is left out, and only that */
		{ "du|-x|{path}|y", "{}", "du|-x|y" },
		{ "du|--depth={n}|y", "{}", "du|y" },
		{ "du|--depth={n}|y", "{\"n\":null}", "du|y" },
		/* one word for each value */
		{ "ls|{tags}|z", "{\"tags\":[\"a\",\"b c\",3,true,{\"k\":1}]}",
		  "ls|a|b c|3|true|{\"k\":1}|z" },
		{ "ls|{tags}|z", "{\"tags\":[]}", "ls|z" },
		{ "ls|-t{tags}", "{\"tags\":[1,2]}", "ls|-t[1,2]" },
		/* CWE-88: a value must not become an option */
		{ "du|{path}", "{\"path\":\"-rf\"}", OPTION },
		{ "du|{path}", "{\"path\":\"--files0-from=/etc/passwd\"}", OPTION },
		{ "du|{path}", "{\"path\":\"-\"}", OPTION },
		{ "du|{n}{path}", "{\"n\":\"\",\"path\":\"-x\"}", OPTION },
		{ "ls|{tags}", "{\"tags\":[\"a\",\"-x\"]}",
		  "! tags: a value that begins with \"-\" would be read as an option; a file of such "
		  "a name can be written ./-name" },
		{ "head|{n}", "{\"n\":-5}",
		  "! n: a value that begins with \"-\" would be read as an option; a file of such a "
		  "name can be written ./-name" },
		{ "du|--|{path}", "{\"path\":\"-rf\"}", "du|--|-rf" },
		{ "du|--|{tags}", "{\"tags\":[\"-a\"]}", "du|--|-a" },
		{ "du|{path:dash}", "{\"path\":\"-rf\"}", "du|-rf" },
		{ "du|./{path}", "{\"path\":\"-rf\"}", "du|./-rf" },
		{ "du|-n{path}", "{\"path\":\"-1\"}", "du|-n-1" },
		/* "--" that is itself a value does not count */
		{ "du|{n:dash}|{path}", "{\"n\":\"--\",\"path\":\"-x\"}", OPTION },
		/* a NUL would cut the word short */
		{ "du|{path}", "{\"path\":\"a\\u0000b\"}",
		  "! path: a NUL character cannot be given to a command" },
		{ "ls|{tags}", "{\"tags\":[\"\\u0000\"]}",
		  "! tags: a NUL character cannot be given to a command" },
		{ "{path}", "{}", "! nothing to run" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++)
		assert_string_equal(words_of(table[i].command, table[i].args), table[i].want);
}

/* Linux: MAX_ARG_STRLEN. */
TEST_WITH(what_does_not_fit_a_command_line_is_refused, setup, teardown)
{
	const struct argtext *t = text_of("{path}", ARGTEXT_STRICT);
	const struct argtext *longer = text_of("x{path}", ARGTEXT_STRICT);
	size_t n = ARGTEXT_WORD_MAX;
	char *text = malloc(n + 16);
	cleat_error err;
	const cleat_json *args;

	for (int more = 0; more < 2; more++) {
		size_t len = n + (size_t)more;

		memcpy(text, "{\"path\":\"", 9);
		memset(text + 9, 'a', len);
		memcpy(text + 9 + len, "\"}", 3);
		args = json(text);
		assert_int_equal(argtext_words(&t, 1, args, &ar, &err) == NULL, more);
		assert_null(argtext_words(&longer, 1, args, &ar, &err));
		assert_int_equal(err.status, CLEAT_ELIMIT);
		assert_non_null(strstr(err.message, "too long for a command line"));
	}
	free(text);
}

TEST_WITH(every_failing_allocation_is_told, setup, teardown)
{
	const cleat_json *names = json(NAMES), *args = json("{\"path\":\"abc\",\"tags\":[1,2]}");

	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		const struct argtext *t[2];
		struct arena own;
		cleat_error err = { .status = CLEAT_OK };

		arena_init(&own, &fa.hook, 0);
		t[0] = argtext_parse(&own, STR_LIT("a{path}b"), names, ARGTEXT_STRICT, &err);
		t[1] = t[0] ? argtext_parse(&own, STR_LIT("{tags}"), names, ARGTEXT_STRICT, &err)
			    : NULL;
		if (!t[1] || !argtext_words(t, 2, args, &own, &err))
			assert_int_equal(err.status, CLEAT_ENOMEM);
		arena_done(&own);
	}
}

/* ---- integers ----------------------------------------------------------------------------- */

/* diameter:=12.0 and 1e3 are integers to a schema, and were "Illegal number" to a script. */
TEST_WITH(integers_are_given_on_in_digits, setup, teardown)
{
	static const char schema[] =
		"{\"properties\":{\"n\":{\"type\":\"integer\"},\"x\":{\"type\":\"number\"},\"any\":{},"
		"\"or\":{\"type\":[\"null\",\"integer\"]},\"list\":{\"items\":{\"$ref\":\"#/$defs/i\"}},"
		"\"pair\":{\"prefixItems\":[{\"type\":\"integer\"},{}],\"items\":{\"type\":\"integer\"}},"
		"\"one\":{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"integer\"}]},"
		"\"in\":{\"properties\":{\"n\":{\"type\":\"integer\"}},"
		"\"additionalProperties\":{\"$ref\":\"#/$defs/loop\"}}},"
		"\"$defs\":{\"i\":{\"type\":\"integer\"},\"loop\":{\"$ref\":\"#/$defs/loop\"}}}";
	static const char beyond[] =
		"expected an integer in digits, or one of at most 64 bits, got ";
	static const char signed64[] = "expected an integer between -9223372036854775808 and "
				       "9223372036854775807, got ";
	static const struct {
		const char *key, *value, *want; /* NULL: refused */
		bool int64;
	} table[] = {
		{ "n", "12.0", "12", false },
		{ "n", "1e3", "1000", false },
		{ "n", "-1.20e1", "-12", true },
		{ "n", "-0.0", "0", false },
		{ "n", "-0", "0", false },
		{ "n", "\"12.0\"", "\"12.0\"", false },
		{ "n", "1e19", "10000000000000000000", false },
		{ "n", "-9223372036854775808.0", "-9223372036854775808", true },
		{ "n", "123456789012345678901234567890", "123456789012345678901234567890", false },
		{ "n", "1e400", NULL, false },
		{ "n", "-1e19", NULL, false },
		{ "n", "1e19", NULL, true },
		{ "n", "9223372036854775808", NULL, true },
		{ "x", "12.0", "12.0", false }, /* a number: as it was written */
		{ "x", "1e400", "1e400", true },
		{ "any", "[1.0]", "[1.0]", false },
		{ "unknown", "1.0", "1.0", false },
		{ "or", "2.0", "2", false },
		{ "or", "null", "null", false },
		{ "one", "3.0", "3", false },
		{ "list", "[1.0,2,\"x\"]", "[1,2,\"x\"]", false },
		{ "list", "[1e400]", NULL, false },
		{ "pair", "[1.0,1.0,1.0]", "[1,1.0,1]", false },
		{ "in", "{\"n\":4.0,\"o\":5.0}", "{\"n\":4,\"o\":5.0}", false },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		struct integers how = { json(schema), table[i].int64 };
		const cleat_json *all = NULL;
		cleat_error err = { 0 };
		struct build to;
		char want[200];

		build_init(&to, &ar);
		build_obj(&to);
		integers_put(&how, &to, str_of(table[i].key), json(table[i].value));
		build_end(&to);
		if (build_finish(&to, &all, &err) != CLEAT_OK) {
			snprintf(want, sizeof want, "%s: %s%.*s", table[i].key,
				 table[i].int64 ? signed64 : beyond,
				 (int)strcspn(table[i].value + (*table[i].value == '['), "]"),
				 table[i].value + (*table[i].value == '['));
			assert_null(table[i].want);
			assert_string_equal(err.message, want);
			continue;
		}
		assert_non_null(table[i].want);
		snprintf(want, sizeof want, "{\"%s\":%s}", table[i].key, table[i].want);
		assert_string_equal(json_text(&ar, all).p, want);
	}
}
