/* test_json_skim.c - a look into a JSON text without reading it: what belongs to the outermost object, whatever
 * stands inside. fuzz_bench_reader compares it with the parser.
 */
#include "base/buf.h"
#include "test.h"
#include "json/skim.h"

#include <cleat/base.h>
#include <stdlib.h>

/* "key=value ", objects that are named "in" entered, then "." when all was there and "!" when it was bad. */
static void put_members(struct skim *s, struct buf *out)
{
	struct str key, value;

	while (skim_member(s, &key)) {
		buf_printf(out, "%.*s=", STR_ARGS(key));
		if (skim_is(key, "in") && skim_enter(s, '{')) {
			buf_appendz(out, "< ");
			put_members(s, out);
			buf_appendz(out, "> ");
			continue;
		}
		value = skim_value(s);
		buf_printf(out, "%.*s ", (int)value.n, value.p ? value.p : "");
	}
}

static void put_all(struct str text, struct buf *out)
{
	struct skim s = skim_text(text);

	if (skim_enter(&s, '['))
		while (skim_element(&s)) {
			struct str value = skim_value(&s);

			buf_printf(out, "%.*s,", (int)value.n, value.p ? value.p : "");
		}
	else if (skim_enter(&s, '{'))
		put_members(&s, out);
	buf_appendz(out, s.bad ? "!" : skim_is_over(&s) ? "." : "");
	buf_putc(out, '\0');
}

TEST(members_are_those_of_the_object_that_was_entered)
{
	static const struct {
		const char *text, *seen;
	} rows[] = {
		{ "{}", "." },
		{ " { \"a\" : 1 , \"b\":\"x\" }\n", "a=1 b=\"x\" ." },
		{ "{\"a\":{\"b\":1,\"c\":[{\"d\":2}]},\"e\":null}",
		  "a={\"b\":1,\"c\":[{\"d\":2}]} e=null ." },
		{ "{\"in\":{\"a\":1},\"b\":2}", "in=< a=1 > b=2 ." },
		{ "{\"in\":{},\"b\":2}", "in=< > b=2 ." },
		{ "{\"in\":{\"in\":{\"x\":[]}}}", "in=< in=< x=[] > > ." },
		{ "{\"in\":[1],\"b\":2}", "in=[1] b=2 ." },
		{ "[]", "." },
		{ "[1, \"a\" ,{\"b\":[2]},[]]", "1,\"a\",{\"b\":[2]},[],." },
		/* what only looks like the end, or like a member */
		{ "{\"a\":\"},\\\"b\\\":1\",\"c\":2}", "a=\"},\\\"b\\\":1\" c=2 ." },
		{ "{\"a\":\"\\\\\",\"b\":\"\\\\\\\"\"}", "a=\"\\\\\" b=\"\\\\\\\"\" ." },
		{ "{\"a\":[\"]}\",{\"b\":\"{[\"}],\"c\":2}", "a=[\"]}\",{\"b\":\"{[\"}] c=2 ." },
		{ "{\"a\":1,\"a\":2}", "a=1 a=2 ." },
		{ "{}x", "" },
		{ "{} {}", "" },
		/* what is missing, too much, or at the wrong place */
		{ "{", "!" },
		{ "{\"a\"", "!" },
		{ "{\"a\":", "a= !" },
		{ "{\"a\":1", "a=1 !" },
		{ "{\"a\":\"x\\\"}", "a= !" },
		{ "{\"a\":[1}", "a= !" },
		{ "{\"a\":{\"b\":[}],\"c\":1}}", "a= !" },
		{ "{\"a\":[}", "a= !" },
		{ "{\"a\":1,}", "a=1 !" },
		{ "{,\"a\":1}", "!" },
		{ "{\"a\":1 \"b\":2}", "a=1 !" },
		{ "{\"a\" 1}", "!" },
		{ "{a:1}", "!" },
		{ "{\"a\":}", "a= !" },
		{ "{\"a\":1]", "a=1 !" },
		{ "[1,]", "1,,!" },
		{ "[1 2]", "1,!" },
		{ "[1}", "1,!" },
		{ "", "." },
		{ "5", "" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		/* A copy of exactly its size: nothing may be read after it. */
		size_t n = strlen(rows[i].text);
		char *copy = malloc(n ? n : 1);
		struct buf out;

		assert_non_null(copy);
		memcpy(copy, rows[i].text, n);
		buf_init(&out, NULL, 4096);
		put_all((struct str){ copy, n }, &out);
		if (strcmp(out.data, rows[i].seen) != 0)
			fail_msg("%s: %s", rows[i].text, out.data);
		buf_done(&out);
		free(copy);
	}
}

TEST(depth_is_no_limit)
{
	enum { DEEP = 100000 };
	static char text[2 * DEEP + 16];
	struct skim s;
	struct str key;

	memcpy(text, "{\"a\":", 5);
	memset(text + 5, '[', DEEP);
	memset(text + 5 + DEEP, ']', DEEP);
	memcpy(text + 5 + 2 * DEEP, ",\"b\":1}", 8);
	s = skim_text(str_of(text));
	assert_true(skim_enter(&s, '{'));
	assert_true(skim_member(&s, &key));
	assert_int_equal(skim_value(&s).n, 2 * DEEP);
	assert_true(skim_member(&s, &key));
	assert_true(skim_is(key, "b"));
}

TEST(words_may_be_escaped)
{
	static const struct {
		const char *quoted, *word;
		bool is;
	} rows[] = {
		{ "id", "id", true },         { "\\u0069d", "id", true },
		{ "i\\u0064", "id", true },   { "a\\/b", "a/b", true },
		{ "a\\u002Fb", "a/b", true }, { "", "", true },
		{ "", "id", false },          { "ID", "id", false },
		{ "idd", "id", false },       { "i", "id", false },
		{ "id\\u0000", "id", false }, { "i\\u006", "id", false },
		{ "i\\u00g4", "id", false },  { "i\\n", "id", false },
		{ "i\\", "id", false },
	};

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++)
		if (skim_is(str_of(rows[i].quoted), rows[i].word) != rows[i].is)
			fail_msg("%s %s", rows[i].quoted, rows[i].word);
	assert_true(skim_is_text(STR_LIT("\"id\""), "id"));
	assert_false(skim_is_text(STR_LIT("\""), ""));
	assert_false(skim_is_text(STR_LIT("true"), "ru"));
	assert_false(skim_is_text((struct str){ 0 }, ""));
}

TEST(whole_numbers_are_read)
{
	static const struct {
		const char *text;
		bool is;
		int64_t value;
	} rows[] = {
		{ "0", true, 0 },
		{ "-1", true, -1 },
		{ "999999999999999999", true, 999999999999999999 },
		{ "1000000000000000000", false, 0 },
		{ "-", false, 0 },
		{ "", false, 0 },
		{ "1.0", false, 0 },
		{ "1e3", false, 0 },
		{ "\"1\"", false, 0 },
	};

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		int64_t v = 0;

		if (skim_whole(str_of(rows[i].text), &v) != rows[i].is || v != rows[i].value)
			fail_msg("%s", rows[i].text);
	}
}
