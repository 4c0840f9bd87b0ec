/* test_http_fields.c - header fields as they travel: taken apart, found, put together. */
#include "http/fields.h"
#include "support.h"
#include "test.h"

/* RFC 9110 section 5.1 and 5.5, RFC 9112 section 5 */
TEST(lines_are_taken_apart)
{
	static const struct {
		const char *line, *name, *value; /* name NULL: it is none */
	} rows[] = {
		{ "A: b", "A", "b" },
		{ "A:b", "A", "b" },
		{ "A: \t b: c \t", "A", "b: c" },
		{ "x-1!~:", "x-1!~", "" },
		{ "A: b\r\nC: d", "A",
		  "b\r\nC: d" }, /* values are looked at by http_is_field_value */
		{ "", NULL, NULL },
		{ "A", NULL, NULL },
		{ ": b", NULL, NULL },
		{ "A : b", NULL, NULL },
		{ " A: b", NULL, NULL },
		{ "A\r\nC: d", NULL, NULL },
		{ "\xC3\xA9: b", NULL, NULL },
	};

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		struct http_field f;

		if (http_field_split(str_of(rows[i].line), &f) != (rows[i].name != NULL) ||
		    (rows[i].name &&
		     !(str_eqz(f.name, rows[i].name) && str_eqz(f.value, rows[i].value))))
			fail_msg("%s", rows[i].line);
	}
}

TEST(control_characters_are_no_values)
{
	assert_true(http_is_field_value(STR_LIT("")));
	assert_true(http_is_field_value(STR_LIT(" a\tb~\x80\xFF")));
	for (int c = 0; c < 256; c++) {
		bool control = (c < 0x20 && c != '\t') || c == 0x7F;

		for (size_t i = 0; i < 20; i++) { /* they are looked at eight at a time */
			char text[] = "~ value of 20 bytes~";

			text[i] = (char)c;
			assert_int_equal(http_is_field_value((struct str){ text, 20 }), !control);
		}
	}
}

TEST(lists_grow_and_say_when_there_is_no_memory)
{
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct http_field_list l = { 0 };
		char name[] = "n00";
		struct arena ar;

		arena_init(&ar, &fa.hook, 0);
		l.ar = &ar;
		for (int i = 0; i < 100; i++) {
			name[1] = (char)('0' + i / 10);
			name[2] = (char)('0' + i % 10);
			http_field_keep(&l, str_of(name), str_of(name + 1));
		}
		http_field_add(&l, STR_LIT("N42"), STR_LIT("another"));
		assert_int_equal(arena_failed(&ar), fail_alloc_hit(&fa));
		if (!arena_failed(&ar)) {
			assert_int_equal(l.n, 101);
			assert_true(str_eqz(http_fields_find(l.at, l.n, "N42"), "42"));
			assert_true(str_eqz(http_fields_find(l.at, l.n, "n99"), "99"));
			assert_null(http_fields_find(l.at, l.n, "n9").p);
			assert_string_equal(l.at[7].value.p, "07"); /* terminated */
		}
		arena_done(&ar);
	}
	assert_null(http_fields_find(NULL, 0, "a").p);
}
