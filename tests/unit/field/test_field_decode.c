/* tests/unit/test_field_decode.c - JSON into structs and out of them again. */
#include "field/field.h"
#include "support.h"
#include "test.h"
#include "json/parse.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct point {
	double x;
	float y;
	const char *label;
};

struct all {
	bool flag;
	int8_t i8;
	short i16;
	int i32;
	long long i64;
	uint8_t u8;
	unsigned short u16;
	unsigned u32;
	unsigned long long u64;
	float f;
	double d;
	const char *s;
	const cleat_json *j;
	struct point p;
	const char *const *names;
	size_t nnames;
	const int16_t *numbers;
	size_t nnumbers;
	const struct point *path;
	size_t npath;
	const bool *bits;
	size_t nbits;
};

static const cleat_field point_fields[] = {
	CLEAT_FIELD(struct point, x, NULL),
	CLEAT_FIELD(struct point, y, NULL, .fallback = "-1.5"),
	CLEAT_FIELD(struct point, label, NULL, .optional = true),
	CLEAT_FIELD_END,
};

static const cleat_field all_fields[] = {
	CLEAT_FIELD(struct all, flag, NULL),
	CLEAT_FIELD(struct all, i8, NULL),
	CLEAT_FIELD(struct all, i16, NULL),
	CLEAT_FIELD(struct all, i32, NULL),
	CLEAT_FIELD(struct all, i64, NULL),
	CLEAT_FIELD(struct all, u8, NULL),
	CLEAT_FIELD(struct all, u16, NULL),
	CLEAT_FIELD(struct all, u32, NULL),
	CLEAT_FIELD(struct all, u64, NULL),
	CLEAT_FIELD(struct all, f, NULL),
	CLEAT_FIELD(struct all, d, NULL),
	CLEAT_FIELD(struct all, s, NULL),
	CLEAT_FIELD(struct all, j, NULL),
	CLEAT_RECORD(struct all, p, point_fields, NULL),
	CLEAT_ARRAY(struct all, names, nnames, NULL),
	CLEAT_ARRAY(struct all, numbers, nnumbers, NULL),
	CLEAT_RECORD_ARRAY(struct all, path, npath, point_fields, NULL),
	CLEAT_ARRAY(struct all, bits, nbits, NULL),
	CLEAT_FIELD_END,
};

static const char all_json[] =
	"{\"flag\":true,\"i8\":-128,\"i16\":-32768,\"i32\":2147483647,"
	"\"i64\":-9223372036854775808,\"u8\":255,\"u16\":65535,\"u32\":4294967295,"
	"\"u64\":18446744073709551615,\"f\":0.5,\"d\":0.1,\"s\":\"grün\","
	"\"j\":{\"n\":1.10,\"a\":[null]},\"p\":{\"x\":1,\"y\":2,\"label\":\"here\"},"
	"\"names\":[\"a\",\"\"],\"numbers\":[1,-2,3],"
	"\"path\":[{\"x\":1,\"y\":-1.5},{\"x\":2,\"y\":0.25}],\"bits\":[]}";

static const cleat_json *parse(struct arena *ar, const char *json)
{
	const cleat_json *v = NULL;

	assert_int_equal(json_parse(ar, str_of(json), NULL, &v, NULL), CLEAT_OK);
	return v;
}

static void check_all(const struct all *r)
{
	assert_true(r->flag);
	assert_int_equal(r->i8, -128);
	assert_int_equal(r->i16, -32768);
	assert_int_equal(r->i32, 2147483647);
	assert_true(r->i64 == INT64_MIN);
	assert_int_equal(r->u8, 255);
	assert_int_equal(r->u16, 65535);
	assert_true(r->u32 == UINT32_MAX);
	assert_true(r->u64 == UINT64_MAX);
	assert_true(r->f == 0.5f && r->d == 0.1);
	assert_string_equal(r->s, "grün");
	assert_string_equal(cleat_json_number_text(cleat_json_get(r->j, "n")), "1.10");
	assert_true(r->p.x == 1 && r->p.y == 2);
	assert_string_equal(r->p.label, "here");
	assert_int_equal(r->nnames, 2);
	assert_string_equal(r->names[0], "a");
	assert_string_equal(r->names[1], "");
	assert_int_equal(r->nnumbers, 3);
	assert_int_equal(r->numbers[1], -2);
	assert_int_equal(r->npath, 2);
	assert_true(r->path[0].y == -1.5f && r->path[1].x == 2);
	assert_null(r->path[1].label);
	assert_int_equal(r->nbits, 0);
	assert_non_null(r->bits);
}

TEST(every_type_is_decoded)
{
	struct all r = { 0 };
	struct arena ar;

	assert_int_equal(field_table_check(all_fields, NULL), CLEAT_OK);
	arena_init(&ar, NULL, 0);
	assert_int_equal(field_decode(all_fields, parse(&ar, all_json), &ar, &r), CLEAT_OK);
	check_all(&r);
	arena_done(&ar);
}

ARENA_TEST(what_was_decoded_is_encoded_again)
{
	struct all r = { 0 };
	struct buf b;
	struct jw w;

	buf_init(&b, NULL, 1 << 20);
	jw_init(&w, &b);
	assert_int_equal(field_decode(all_fields, parse(ar, all_json), ar, &r), CLEAT_OK);
	assert_int_equal(field_encode(&w, all_fields, &r, NULL), CLEAT_OK);
	buf_putc(&b, '\0');
	assert_string_equal(buf_str(&b).p, all_json);
	buf_done(&b);
}

struct opt {
	int days, more;
	bool has_days, has_more;
	const char *unit, *note;
	const int *list;
	size_t n;
	struct point p, q;
	bool has_q;
};

static const cleat_field opt_fields[] = {
	CLEAT_FIELD(struct opt, days, NULL, .fallback = "7", CLEAT_PRESENT(struct opt, has_days)),
	CLEAT_FIELD(struct opt, more, NULL, .optional = true, CLEAT_PRESENT(struct opt, has_more)),
	CLEAT_FIELD(struct opt, unit, NULL, .fallback = "\"c\\u00e9\""),
	CLEAT_FIELD(struct opt, note, NULL, .optional = true),
	CLEAT_ARRAY(struct opt, list, n, NULL, .fallback = "[4,5]"),
	CLEAT_RECORD(struct opt, p, point_fields, NULL, .fallback = "{\"x\":9}"),
	CLEAT_RECORD(struct opt, q, point_fields, NULL, .optional = true,
		     CLEAT_PRESENT(struct opt, has_q)),
	CLEAT_FIELD_END
};

TEST(absent_values_take_their_fallback)
{
	struct opt r = { 0 };
	struct arena ar;

	assert_int_equal(field_table_check(opt_fields, NULL), CLEAT_OK);
	arena_init(&ar, NULL, 0);
	assert_int_equal(field_decode(opt_fields, NULL, &ar, &r), CLEAT_OK);
	assert_int_equal(r.days, 7);
	assert_false(r.has_days);
	assert_int_equal(r.more, 0);
	assert_false(r.has_more);
	assert_string_equal(r.unit, "cé");
	assert_null(r.note);
	assert_int_equal(r.n, 2);
	assert_int_equal(r.list[1], 5);
	assert_true(r.p.x == 9 && r.p.y == -1.5f);
	assert_false(r.has_q);
	assert_true(r.q.x == 0 && r.q.y == 0);
	arena_done(&ar);
}

ARENA_TEST(presence_is_told)
{
	struct opt r = { 0 };

	assert_int_equal(field_decode(opt_fields,
				      parse(ar, "{\"more\":0,\"days\":0,\"q\":{\"x\":3},"
						"\"list\":[],\"note\":\"\"}"),
				      ar, &r),
			 CLEAT_OK);
	assert_true(r.has_more && r.has_days && r.has_q);
	assert_true(r.q.x == 3 && r.q.y == -1.5f);
	assert_int_equal(r.n, 0);
	assert_non_null(r.list);
	assert_string_equal(r.note, "");
}

TEST(absent_members_are_not_encoded)
{
	struct opt r = { .more = 3, .p = { .x = 1 } };
	cleat_doc *doc = cleat_fields_encode(opt_fields, &r, NULL);
	char *text = cleat_json_print(cleat_doc_root(doc), NULL);

	assert_non_null(text);
	assert_string_equal(text, "{\"p\":{\"x\":1,\"y\":0}}");
	free(text);
	cleat_doc_free(doc);
	r.has_more = r.has_days = true;
	r.list = &r.days;
	r.note = "n\"";
	doc = cleat_fields_encode(opt_fields, &r, NULL);
	text = cleat_json_print(cleat_doc_root(doc), NULL);
	assert_string_equal(text, "{\"days\":0,\"more\":3,\"note\":\"n\\\"\",\"list\":[],"
				  "\"p\":{\"x\":1,\"y\":0}}");
	free(text);
	cleat_doc_free(doc);
}

static void expect_encode_error(const cleat_field *fields, const void *record, const char *wanted)
{
	cleat_error err;
	struct buf b;
	struct jw w;

	buf_init(&b, NULL, 1 << 20);
	jw_init(&w, &b);
	jw_arr(&w);
	jw_int(&w, 1);
	assert_int_equal(field_encode(&w, fields, record, &err), CLEAT_EINVAL);
	assert_string_equal(err.message, wanted);
	jw_int(&w, 2);
	jw_arr_end(&w);
	assert_true(str_eqz(buf_str(&b), "[1,2]"));
	buf_done(&b);
}

TEST(what_json_cannot_say_is_an_error_that_leaves_no_trace)
{
	struct point bad = { .x = NAN };
	struct all a = { .s = NULL };
	struct all c = { .s = "", .nnumbers = 3 };

	expect_encode_error(point_fields, &bad, "x: not a finite number");
	bad.x = -DBL_MAX * 2;
	expect_encode_error(point_fields, &bad, "x: not a finite number");
	expect_encode_error(all_fields, &a, "s: NULL, but neither optional nor any JSON");
	expect_encode_error(all_fields, &c, "numbers: NULL with a count of 3");
}

TEST(null_json_and_empty_arrays_encode_as_such)
{
	struct all a = { .s = "" };
	cleat_doc *doc = cleat_fields_encode(all_fields, &a, NULL);

	assert_int_equal(cleat_json_type(cleat_json_get(cleat_doc_root(doc), "j")),
			 CLEAT_JSON_NULL);
	assert_int_equal(cleat_json_type(cleat_json_get(cleat_doc_root(doc), "path")),
			 CLEAT_JSON_ARRAY);
	cleat_doc_free(doc);
}

#pragma pack(push, 1)
struct packed {
	char pad;
	int32_t n;
	const char *s;
	const double *list;
	size_t count;
};
#pragma pack(pop)

TEST(members_need_no_alignment)
{
	cleat_field fields[] = {
		{ .name = "n", .type = CLEAT_T_INT, .width = 4, .offset = 1 },
		{ .name = "s", .type = CLEAT_T_STRING, .width = sizeof(char *), .offset = 5 },
		{ .name = "list",
		  .type = CLEAT_T_REAL,
		  .width = sizeof(double),
		  .element = sizeof(double),
		  .array = true,
		  .offset = 5 + sizeof(char *),
		  .count_offset = 5 + 2 * sizeof(char *) },
		CLEAT_FIELD_END,
	};
	struct packed r = { 0 };
	cleat_doc *doc = cleat_doc_newf(NULL, "{n: 70000, s: 'x', list: [1, 2]}"), *again;
	char *text;

	for (int i = 0; i < 3; i++)
		fields[i].record = sizeof r;
	assert_int_equal(cleat_fields_decode(fields, doc, &r, NULL), CLEAT_OK);
	again = cleat_fields_encode(fields, &r, NULL);
	text = cleat_json_print(cleat_doc_root(again), NULL);
	assert_string_equal(text, "{\"n\":70000,\"s\":\"x\",\"list\":[1,2]}");
	free(text);
	cleat_doc_free(again);
	cleat_doc_free(doc);
}

TEST(the_public_decode_checks_first)
{
	struct point r = { .x = 5, .label = "dirty" };
	cleat_doc *doc = cleat_doc_newf(NULL, "{x: 'far', y: []}");
	cleat_error err;

	assert_int_equal(cleat_fields_decode(point_fields, doc, &r, &err), CLEAT_EINVAL);
	assert_int_equal(err.status, CLEAT_EINVAL);
	assert_string_equal(err.message, "x: expected number, got \"far\"");
	assert_true(r.x == 5); /* untouched */
	cleat_doc_free(doc);
	doc = cleat_doc_newf(NULL, "{x: 3, z: 1}");
	assert_int_equal(cleat_fields_decode(point_fields, doc, &r, &err), CLEAT_OK);
	assert_true(r.x == 3 && r.y == -1.5f);
	assert_null(r.label);
	cleat_doc_free(doc);
}

TEST(the_public_functions_refuse_nonsense)
{
	static const cleat_field plain[] = { { .name = "a", .type = CLEAT_T_INT },
					     CLEAT_FIELD_END };
	cleat_doc *doc = cleat_doc_newf(NULL, "{a: 1}");
	struct point r = { 0 };
	cleat_error err;

	assert_int_equal(cleat_fields_decode(point_fields, NULL, &r, &err), CLEAT_EINVAL);
	assert_int_equal(cleat_fields_decode(point_fields, doc, NULL, &err), CLEAT_EINVAL);
	assert_int_equal(cleat_fields_decode(plain, doc, &r, &err), CLEAT_EINVAL);
	assert_string_equal(err.message, "the table does not describe a struct");
	assert_int_equal(cleat_fields_decode(NULL, doc, &r, NULL), CLEAT_EINVAL);
	assert_null(cleat_fields_encode(plain, &r, &err));
	assert_string_equal(err.message, "the table does not describe a struct");
	assert_null(cleat_fields_encode(point_fields, NULL, &err));
	cleat_doc_free(doc);
	doc = cleat_fields_encode(NULL, &r, NULL);
	assert_int_equal(cleat_json_type(cleat_doc_root(doc)), CLEAT_JSON_OBJECT);
	cleat_doc_free(doc);
}

/* A first problem that is longer than the error record must not end in half a character. */
TEST(long_problems_are_cut_between_characters)
{
	struct s {
		const char *a;
	};
	static const char e40[] = "éééééééééééééééééééééééééééééééééééééééé";
	char choices[400];
	cleat_field fields[] = { CLEAT_FIELD(struct s, a, NULL), CLEAT_FIELD_END };
	cleat_doc *doc = cleat_doc_newf(NULL, "{a: 1}");
	struct s r;
	cleat_error err;

	for (int pad = 0; pad < 3; pad++) {
		snprintf(choices, sizeof choices, "%.*s%s|b%s|c%s", pad, "xx", e40, e40, e40);
		fields[0].choices = choices;
		assert_int_equal(cleat_fields_decode(fields, doc, &r, &err), CLEAT_EINVAL);
		assert_int_equal(utf8_valid_prefix(str_of(err.message)), strlen(err.message));
		assert_true(strlen(err.message) > 240);
	}
	cleat_doc_free(doc);
}

/* 300,000 times "{}" are 900 kB of text but would be gigabytes of structs. */
TEST(decoded_arrays_are_bounded)
{
	struct big {
		int a;
		char rest[10000];
	};
	struct list {
		const struct big *items;
		size_t n;
	};
	static const cleat_field big[] = { CLEAT_FIELD(struct big, a, NULL, .optional = true),
					   CLEAT_FIELD_END };
	static const cleat_field list[] = { CLEAT_RECORD_ARRAY(struct list, items, n, big, NULL),
					    CLEAT_FIELD_END };
	const size_t n = 300000;
	char *text = malloc(n * 3 + 100);
	size_t len = (size_t)sprintf(text, "{\"items\":[{}");
	struct list r;
	cleat_doc *doc;

	for (size_t i = 0; i < n; i++, len += 3)
		memcpy(text + len, ",{}", 3);
	memcpy(text + len, "]}", 2);
	doc = cleat_doc_parse(text, len + 2, NULL, NULL, NULL);
	assert_non_null(doc);
	assert_int_equal(cleat_fields_decode(list, doc, &r, NULL), CLEAT_ENOMEM);
	cleat_doc_free(doc);
	free(text);
}

TEST(decoding_survives_memory_failure)
{
	struct arena json, ar;
	struct buf text;
	const cleat_json *v;

	arena_init(&json, NULL, 0);
	buf_init(&text, NULL, 1 << 20);
	buf_appendz(&text, "{\"list\":[1");
	for (int i = 0; i < 5000; i++)
		buf_appendz(&text, ",1");
	buf_appendz(&text, "]}");
	assert_int_equal(json_parse(&json, buf_str(&text), NULL, &v, NULL), CLEAT_OK);
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct opt r = { 0 };
		int rc;

		arena_init(&ar, &fa.hook, 0);
		rc = field_decode(opt_fields, v, &ar, &r);
		assert_int_equal(rc, fail_alloc_hit(&fa) ? CLEAT_ENOMEM : CLEAT_OK);
		arena_done(&ar);
		assert_true(fa.round < 100);
	}
	buf_done(&text);
	arena_done(&json);
}

/* An arena that is all but full makes every single allocation the one that fails. */
TEST(decoding_survives_a_full_arena)
{
	const size_t chunk = 4096 - 64;
	struct arena json;
	const cleat_json *all, *none;
	size_t failed = 0;

	arena_init(&json, NULL, 0);
	all = parse(&json, all_json);
	none = parse(&json, "{}");
	for (size_t filled = 16; filled <= chunk; filled += 16) {
		struct arena ar;
		struct all a = { 0 };
		struct opt o = { 0 };
		int rc;

		arena_init(&ar, NULL, chunk);
		assert_non_null(arena_alloc(&ar, filled));
		rc = field_decode(all_fields, all, &ar, &a);
		assert_int_equal(rc, arena_failed(&ar) ? CLEAT_ENOMEM : CLEAT_OK);
		failed += rc != CLEAT_OK;
		arena_done(&ar);
		arena_init(&ar, NULL, chunk);
		assert_non_null(arena_alloc(&ar, filled));
		rc = field_decode(opt_fields, none, &ar, &o);
		assert_true(rc == CLEAT_OK || rc == CLEAT_ENOMEM);
		arena_done(&ar);
	}
	assert_true(failed > 5);
	arena_done(&json);
}

TEST(encoding_survives_memory_failure)
{
	static const int numbers[2000];
	struct opt r = { .list = numbers, .n = 2000 };

	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		cleat_error err;
		struct buf b;
		struct jw w;
		int rc;

		buf_init(&b, &fa.hook, 1 << 20);
		jw_init(&w, &b);
		rc = field_encode(&w, opt_fields, &r, &err);
		assert_int_equal(rc, fail_alloc_hit(&fa) ? CLEAT_ENOMEM : CLEAT_OK);
		if (rc)
			assert_int_equal(field_encode(&w, opt_fields, &r, &err), CLEAT_ENOMEM);
		buf_done(&b);
		assert_true(fa.round < 100);
	}
}
