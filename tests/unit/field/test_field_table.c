/* tests/unit/test_field_table.c - which tables are refused and why; deep copies; lookups. */
#include "field/field.h"
#include "support.h"
#include "test.h"

#include <float.h>
#include <string.h>

struct inner {
	int a;
	const char *s;
};

struct outer {
	const char *text;
	int number;
	bool has_number;
	unsigned char byte;
	float small;
	double real;
	struct inner in;
	const struct inner *list;
	size_t count;
	struct inner *weird;
};

static const cleat_field inner_fields[] = { CLEAT_FIELD(struct inner, a, "A"),
					    CLEAT_FIELD(struct inner, s, "S", .fallback = "\"x\""),
					    CLEAT_FIELD_END };

/* A table of this one field is refused with this reason. */
static void refuse(cleat_field f, const char *reason)
{
	cleat_field table[2] = { f };
	cleat_error err = { 0 };

	assert_int_equal(field_table_check(table, &err), CLEAT_EINVAL);
	if (!strstr(err.message, reason))
		fail_msg("\"%s\" does not say \"%s\"", err.message, reason);
	assert_int_equal(field_table_check(table, NULL), CLEAT_EINVAL);
}

static void accept(cleat_field f)
{
	cleat_field table[2] = { f };
	cleat_error err = { 0 };

	if (field_table_check(table, &err))
		fail_msg("%s", err.message);
}

#define FIELD(member, ...) ((cleat_field)CLEAT_FIELD(struct outer, member, __VA_ARGS__))
#define PLAIN(...)         ((cleat_field){ .name = "p", __VA_ARGS__ })

TEST(names_are_needed_and_unique)
{
	static const cleat_field twice[] = { { .name = "a", .type = CLEAT_T_INT },
					     { .name = "b", .type = CLEAT_T_INT },
					     { .name = "a", .type = CLEAT_T_INT },
					     CLEAT_FIELD_END };
	cleat_error err;

	refuse((cleat_field){ .type = CLEAT_T_INT }, "field 1 has no name");
	refuse((cleat_field){ .name = "", .type = CLEAT_T_INT }, "has no name");
	refuse((cleat_field){ .name = "\xff", .type = CLEAT_T_INT }, "not UTF-8");
	assert_int_equal(field_table_check(twice, &err), CLEAT_EINVAL);
	assert_string_equal(err.message, "field \"a\": appears twice in the table");
}

TEST(types_and_members_must_agree)
{
	cleat_field f;

	refuse(PLAIN(.type = 10), "unknown type");
	refuse(PLAIN(.type = CLEAT_T_CHARS), "needs a struct");
	refuse(PLAIN(.type = CLEAT_T_ENUM), "needs a struct");
	f = FIELD(number, NULL);
	f.width = 3;
	refuse(f, "the member's size does not go with its type");
	f = FIELD(number, NULL);
	f.offset = sizeof(struct outer) - 3;
	refuse(f, "lies outside its struct");
	f = FIELD(number, NULL);
	f.offset = UINT32_MAX;
	refuse(f, "lies outside its struct");
	f = FIELD(number, NULL);
	f.has_present = true;
	f.present_offset = sizeof(struct outer);
	refuse(f, "lies outside its struct");
	refuse(FIELD(weird, NULL), "the member's type is not supported");
	accept(FIELD(number, NULL, CLEAT_PRESENT(struct outer, has_number)));
}

TEST(fields_of_a_table_share_a_struct)
{
	static const cleat_field mixed[] = { CLEAT_FIELD(struct outer, number, NULL),
					     CLEAT_FIELD(struct inner, a, NULL), CLEAT_FIELD_END };
	cleat_error err;

	assert_int_equal(field_table_check(mixed, &err), CLEAT_EINVAL);
	assert_non_null(strstr(err.message, "belongs to another struct"));
}

TEST(inner_tables_must_describe_the_member)
{
	cleat_field f = CLEAT_RECORD(struct outer, in, inner_fields, NULL);
	cleat_field list = CLEAT_RECORD_ARRAY(struct outer, list, count, inner_fields, NULL);

	accept(f);
	accept(list);
	f.width--;
	refuse(f, "a struct of another size");
	list.element = 0;
	refuse(list, "the size of an element is missing");
	refuse(PLAIN(.type = CLEAT_T_INT, .fields = inner_fields), "only records have fields");
	refuse(PLAIN(.type = CLEAT_T_RECORD, .fields = inner_fields), "a struct inside a table");
	accept(PLAIN(.type = CLEAT_T_RECORD));
}

TEST(bounds_must_make_sense)
{
	refuse(FIELD(number, NULL, CLEAT_RANGE(3, 2)), "the range is empty");
	refuse(FIELD(number, NULL, CLEAT_AT_LEAST(0.5)), "a bound must be a whole number");
	refuse(FIELD(number, NULL, CLEAT_AT_MOST(3e9)), "outside what the member can hold");
	refuse(FIELD(byte, NULL, CLEAT_AT_LEAST(-1)), "outside what the member can hold");
	refuse(FIELD(byte, NULL, CLEAT_AT_MOST(256)), "outside what the member can hold");
	accept(FIELD(byte, NULL, CLEAT_RANGE(0, 255)));
	refuse(FIELD(small, NULL, CLEAT_AT_MOST(1e39)), "outside what the member can hold");
	refuse(FIELD(real, NULL, CLEAT_AT_MOST(DBL_MAX * 2)), "outside what the member can hold");
	refuse(FIELD(text, NULL, CLEAT_AT_LEAST(-1)), "outside what the member can hold");
	refuse(FIELD(has_number, NULL, CLEAT_AT_LEAST(0)), "this type has no range");
	refuse(FIELD(text, NULL, .choices = "a|b", CLEAT_AT_LEAST(1)), "this type has no range");
	refuse(FIELD(number, NULL, .bounds = 4), ".bounds must be 0 to 3");
	accept(FIELD(real, NULL, CLEAT_RANGE(-0.5, 0.5)));
}

TEST(choices_must_be_well_formed)
{
	accept(FIELD(text, NULL, .choices = "a"));
	refuse(FIELD(text, NULL, .choices = ""), "a choice is empty");
	refuse(FIELD(text, NULL, .choices = "a||b"), "a choice is empty");
	refuse(FIELD(text, NULL, .choices = "a|b|a"), "a choice stands twice");
	refuse(FIELD(text, NULL, .choices = "\xc3"), "not UTF-8");
	refuse(FIELD(number, NULL, .choices = "1|2"), "only strings have choices");
	refuse(FIELD(text, NULL, .choices = "a|b", .choice_titles = "A"), "as many choice titles");
	refuse(FIELD(text, NULL, .choice_titles = "A"), "choice titles without choices");
	refuse(FIELD(text, NULL, .choices = "a", .format = "uri"), "choices have no format");
	refuse(FIELD(number, NULL, .format = "uri"), "only strings have a format");
}

TEST(fallbacks_must_parse_and_fit)
{
	accept(FIELD(number, NULL, .fallback = " 3 "));
	refuse(FIELD(number, NULL, .fallback = "x"), "fallback of number: ");
	refuse(FIELD(number, NULL, .fallback = ""), "fallback of number: ");
	refuse(FIELD(number, NULL, CLEAT_RANGE(1, 2), .fallback = "3"),
	       "fallback of number does not fit: number: expected integer between 1 and 2, got 3");
	refuse(FIELD(text, NULL, .choices = "a|b", .fallback = "\"c\""), "expected one of");
	refuse(PLAIN(.type = CLEAT_T_STRING, .array = true, .fallback = "[1]"),
	       "p[0]: expected string, got 1");
	refuse((cleat_field)CLEAT_RECORD(struct outer, in, inner_fields, NULL, .fallback = "{}"),
	       "in.a: required, but missing");
	accept((cleat_field)CLEAT_RECORD(struct outer, in, inner_fields, NULL,
					 .fallback = "{\"a\":1}"));
}

TEST(too_many_fields_are_refused)
{
	static char names[300][4];
	static cleat_field many[301];
	cleat_error err;

	for (int i = 0; i < 300; i++) {
		memcpy(names[i], (char[]){ (char)('a' + i % 26), (char)('a' + i / 26), 0 }, 3);
		many[i] = (cleat_field){ .name = names[i], .type = CLEAT_T_INT };
	}
	assert_int_equal(field_table_check(many, &err), CLEAT_EINVAL);
	assert_non_null(strstr(err.message, "more than 256 fields"));
	many[256].type = CLEAT_T_END;
	assert_int_equal(field_table_check(many, NULL), CLEAT_OK);
}

TEST(elements_must_have_their_size)
{
	struct list {
		const int *v;
		size_t n;
	};
	cleat_field f = CLEAT_ARRAY(struct list, v, n, NULL);

	accept(f);
	f.element = 8;
	refuse(f, "the element's size does not go with its type");
	f = (cleat_field)CLEAT_ARRAY(struct list, v, n, NULL);
	f.count_offset = sizeof(struct list);
	refuse(f, "lies outside its struct");
	f = (cleat_field)CLEAT_ARRAY(struct list, v, n, NULL, .fallback = "[1,true,null]");
	refuse(f, "v[1]: expected integer, got true");
}

TEST(depth_is_bounded_and_cycles_are_found)
{
	cleat_field level[9][2] = { 0 }, loop[2] = { 0 };
	cleat_error err;

	for (int i = 0; i < 9; i++)
		level[i][0] = (cleat_field){ .name = "n",
					     .type = CLEAT_T_RECORD,
					     .fields = i < 8 ? level[i + 1] : NULL };
	assert_int_equal(field_table_check(level[1], NULL), CLEAT_OK);
	assert_int_equal(field_table_check(level[0], &err), CLEAT_EINVAL);
	assert_non_null(strstr(err.message, "nested too deep"));
	loop[0] = (cleat_field){ .name = "n", .type = CLEAT_T_RECORD, .fields = loop };
	assert_int_equal(field_table_check(loop, &err), CLEAT_EINVAL);
}

/* 26 fields that share an inner table, eight levels deep, would be 26^8 fields. */
TEST(shared_tables_cannot_multiply_without_end)
{
	static cleat_field level[8][27];
	static char names[26][2];
	cleat_error err;

	for (int i = 0; i < 8; i++)
		for (int k = 0; k < 26; k++) {
			names[k][0] = (char)('a' + k);
			level[i][k] = (cleat_field){ .name = names[k],
						     .type = CLEAT_T_RECORD,
						     .fields = i < 7 ? level[i + 1] : NULL };
		}
	assert_int_equal(field_table_check(level[0], &err), CLEAT_EINVAL);
	assert_non_null(strstr(err.message, "more than 4096 fields"));
}

TEST(fields_are_found_by_exact_name)
{
	assert_int_equal(field_count(NULL), 0);
	assert_int_equal(field_count(inner_fields), 2);
	assert_ptr_equal(field_find(inner_fields, STR_LIT("s")), &inner_fields[1]);
	assert_null(field_find(inner_fields, STR_LIT("S")));
	assert_null(field_find(inner_fields, STR_LIT("ss")));
	assert_null(field_find(inner_fields, STR_LIT("")));
	assert_null(field_find(inner_fields, STR_LIT("s\0")));
	assert_null(field_find(NULL, STR_LIT("s")));
	assert_null(field_find(inner_fields, (struct str){ NULL, 0 }));
}

static void same_text(const char *a, const char *b)
{
	assert_true(!a == !b);
	if (!a)
		return;
	assert_ptr_not_equal(a, b);
	assert_string_equal(a, b);
}

ARENA_TEST(copies_share_nothing)
{
	static const cleat_field table[] = {
		CLEAT_RECORD(struct outer, in, inner_fields, "Doc", .fallback = "{\"a\":1}"),
		CLEAT_FIELD(struct outer, text, "Text", .choices = "a|b", .choice_titles = "A|B",
			    .title = "T"),
		CLEAT_FIELD_END
	};
	const cleat_field *copy;

	copy = field_table_copy(ar, table);
	assert_int_equal(field_count(copy), 2);
	for (int i = 0; i < 2; i++) {
		same_text(table[i].name, copy[i].name);
		same_text(table[i].doc, copy[i].doc);
		same_text(table[i].title, copy[i].title);
		same_text(table[i].choices, copy[i].choices);
		same_text(table[i].choice_titles, copy[i].choice_titles);
		same_text(table[i].fallback, copy[i].fallback);
		assert_int_equal(table[i].offset, copy[i].offset);
	}
	assert_ptr_not_equal(copy[0].fields, inner_fields);
	assert_int_equal(field_count(copy[0].fields), 2);
	same_text(inner_fields[1].fallback, copy[0].fields[1].fallback);
	assert_int_equal(field_table_check(copy, NULL), CLEAT_OK);
	copy = field_table_copy(ar, NULL);
	assert_int_equal(copy->type, CLEAT_T_END);
}

TEST(a_copy_without_memory_is_null)
{
	static char doc[3000];
	static const cleat_field table[] = { CLEAT_RECORD(struct outer, in, inner_fields, doc),
					     CLEAT_FIELD(struct outer, text, doc, .choices = "a|b"),
					     CLEAT_FIELD_END };
	struct arena ar;

	memset(doc, 'x', sizeof doc - 1);
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		const cleat_field *copy;

		arena_init(&ar, &fa.hook, 0);
		copy = field_table_copy(&ar, table);
		assert_true(!copy == fail_alloc_hit(&fa));
		arena_done(&ar);
		assert_true(fa.round < 100);
	}
}
