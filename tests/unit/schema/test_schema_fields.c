/* tests/unit/test_schema_fields.c - a field table and the schema that is made of it say the same.
 *
 * Calls are checked against the fields, clients check against the schema: a call that a client lets
 * through must not surprise it. Every field of a wide table meets every value of a pool, and the
 * verdict of field_check() is compared with that of the compiled schema. Where they differ on
 * purpose the reason is in a list, each entry of which must be needed.
 */
#include "field/field.h"
#include "field/signature.h"
#include "schema/check.h"
#include "support.h"
#include "test.h"
#include "json/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables ------------------------------------------------------------------------------- */

struct point {
	double x;
	int8_t y;
};
static const cleat_field point_fields[] = {
	CLEAT_FIELD(struct point, x, "Right"),
	CLEAT_FIELD(struct point, y, NULL, .optional = true, CLEAT_AT_LEAST(-3)), CLEAT_FIELD_END
};

struct wide {
	bool yes;
	int8_t tiny;
	uint8_t byte;
	int32_t days;
	int64_t big;
	uint64_t huge;
	float single;
	double ratio;
	const char *text, *name, *unit, *mail;
	const cleat_json *any;
	struct point point;
	const char *const *tags;
	const char *const *words;
	const uint16_t *numbers;
	const double *reals;
	const struct point *path;
	size_t n_tags, n_words, n_numbers, n_reals, n_path;
};
static const cleat_field wide_fields[] = {
	CLEAT_FIELD(struct wide, yes, "A switch", .fallback = "true"),
	CLEAT_FIELD(struct wide, tiny, NULL, .optional = true, CLEAT_RANGE(-100, 100)),
	CLEAT_FIELD(struct wide, byte, NULL, .optional = true, CLEAT_AT_MOST(200)),
	CLEAT_FIELD(struct wide, days, "Days ahead", CLEAT_RANGE(1, 14)),
	CLEAT_FIELD(struct wide, big, NULL, .optional = true),
	CLEAT_FIELD(struct wide, huge, NULL, .optional = true),
	CLEAT_FIELD(struct wide, single, NULL, .optional = true),
	CLEAT_FIELD(struct wide, ratio, NULL, .optional = true, CLEAT_RANGE(0.1, 1e30)),
	CLEAT_FIELD(struct wide, text, NULL, .optional = true),
	CLEAT_FIELD(struct wide, name, "Full name", CLEAT_RANGE(1, 3)),
	CLEAT_FIELD(struct wide, unit, "Scale", .optional = true, .choices = "a|b|\xc3\xbc",
		    .choice_titles = "A|B|C"),
	CLEAT_FIELD(struct wide, mail, NULL, .optional = true, .format = "email"),
	CLEAT_FIELD(struct wide, any, NULL, .optional = true),
	CLEAT_RECORD(struct wide, point, point_fields, "Where", .optional = true),
	CLEAT_ARRAY(struct wide, tags, n_tags, NULL, .optional = true, CLEAT_RANGE(1, 2),
		    .choices = "a|b"),
	CLEAT_ARRAY(struct wide, words, n_words, NULL, .optional = true),
	CLEAT_ARRAY(struct wide, numbers, n_numbers, NULL, .optional = true, CLEAT_AT_MOST(3)),
	CLEAT_ARRAY(struct wide, reals, n_reals, NULL, .optional = true, CLEAT_AT_LEAST(1)),
	CLEAT_RECORD_ARRAY(struct wide, path, n_path, point_fields, NULL, .optional = true),
	CLEAT_FIELD_END
};
static const char signature[] =
	"f(days: integer 1..14 \"Days\", name: string 1..3, b?: boolean, n?: number -1.5..1e3, "
	"i?: integer, s?: string, c?: a|b|\"c d\", j?: json, o?: object, l?: (a|b)[] 1..2, "
	"m?: integer[], d: string[] = [])";

static const cleat_field form_fields[] = {
	{ .name = "days", .type = CLEAT_T_INT, .bounds = 3, .min = 1, .max = 14 },
	{ .name = "name", .type = CLEAT_T_STRING, .bounds = 3, .min = 1, .max = 3 },
	{ .name = "share", .type = CLEAT_T_REAL, .bounds = 2, .max = 0.5, .optional = true },
	{ .name = "sure", .type = CLEAT_T_BOOL, .fallback = "false" },
	{ .name = "when", .type = CLEAT_T_STRING, .format = "date", .optional = true },
	{ .name = "plain", .type = CLEAT_T_STRING, .choices = "a|b", .fallback = "\"a\"" },
	{ .name = "titled",
	  .type = CLEAT_T_STRING,
	  .choices = "a|b",
	  .choice_titles = "A|B",
	  .optional = true },
	CLEAT_FIELD_END
};

static const cleat_field list_fields[] = { { .name = "days", .type = CLEAT_T_INT },
					   { .name = "name", .type = CLEAT_T_STRING },
					   { .name = "several",
					     .type = CLEAT_T_STRING,
					     .array = true,
					     .choices = "a|b",
					     .bounds = 3,
					     .min = 1,
					     .max = 2,
					     .optional = true },
					   { .name = "titled",
					     .type = CLEAT_T_STRING,
					     .array = true,
					     .choices = "a|b",
					     .choice_titles = "A|B",
					     .optional = true },
					   CLEAT_FIELD_END };

/* ---- values ------------------------------------------------------------------------------- */

static const char *const pool[] = {
	"null",
	"true",
	"false",
	/* numbers: zero, whole ones in every spelling, bounds of tables and of C types */
	"0",
	"-0",
	"-0.0",
	"0e9",
	"1",
	"-1",
	"1.0",
	"1.5",
	"1e1",
	"10E-1",
	"1e-1",
	"14",
	"14.0",
	"15",
	"-3",
	"-4",
	"0.1",
	"0.09",
	"0.5",
	"0.51",
	"-1.5",
	"-1.6",
	"1000",
	"1e3",
	"1000.1",
	"127",
	"128",
	"-129",
	"200",
	"201",
	"255",
	"256",
	"65536",
	"4294967296",
	"9223372036854775807",
	"9223372036854775808",
	"18446744073709551616",
	"1e30",
	"1.1e30",
	"1e39",
	"1e400",
	"-1e400",
	"1e-400",
	/* strings: lengths are counted in characters */
	"\"\"",
	"\"a\"",
	"\"b\"",
	"\"c d\"",
	"\"A\"",
	"\"\xc3\xbc\"",
	"\"\\u00fc\"",
	"\"abc\"",
	"\"abcd\"",
	"\"\xc3\xbc\xc3\xbc\xc3\xbc\"",
	"\"\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80\"",
	"\"\\ud83d\\ude00\"",
	"\"1\"",
	"\"x\\u0000\"",
	"\"\\u0000\"",
	"\"a@b\"",
	"\"2025-01-01\"",
	/* containers */
	"[]",
	"[null]",
	"[\"a\"]",
	"[\"a\",\"b\"]",
	"[\"a\",\"b\",\"a\"]",
	"[\"c\"]",
	"[\"\\u0000\"]",
	"[0]",
	"[-1]",
	"[1,2,3]",
	"[1,2,3,4]",
	"[1.5]",
	"[65536]",
	"[1e400]",
	"[[]]",
	"[{}]",
	"[{\"x\":1}]",
	"[{\"x\":1},{\"x\":2,\"y\":0}]",
	"[{\"y\":1}]",
	"[{\"x\":1,\"y\":-4}]",
	"{}",
	"{\"x\":1}",
	"{\"x\":\"1\"}",
	"{\"x\":1,\"y\":-3}",
	"{\"x\":1,\"y\":-4}",
	"{\"x\":1,\"y\":128}",
	"{\"x\":1,\"z\":null}",
	"{\"x\":null}",
	"{\"y\":1}",
	"{\"x\":1,\"x\":2}",
	/* deeper */
	"{\"x\":{\"x\":1}}",
	"[[[[1]]]]",
};

/* ---- where the two differ on purpose ------------------------------------------------------- */

struct difference {
	const char *key, *value, *why;
};

#define WIDTH   "a C member holds only so much, which is no business of a model"
#define FINITE  "a C number is finite"
#define NUL     "a C string ends at NUL"
#define ROUNDED "bounds of real numbers are compared as doubles"

#define BEYOND_64(key)                                                                             \
	{ key, "18446744073709551616", WIDTH }, { key, "1e30", WIDTH }, { key, "1.1e30", WIDTH },  \
		{ key, "1e39", WIDTH },                                                            \
	{                                                                                          \
		key, "1e400", WIDTH                                                                \
	}
#define BEYOND_63(key)                                                                             \
	{ key, "9223372036854775808", WIDTH }, BEYOND_64(key),                                     \
	{                                                                                          \
		key, "-1e400", WIDTH                                                               \
	}
#define WITH_NUL(key)                                                                              \
	{ key, "\"x\\u0000\"", NUL },                                                              \
	{                                                                                          \
		key, "\"\\u0000\"", NUL                                                            \
	}
#define THE_END                                                                                    \
	{                                                                                          \
		NULL, NULL, NULL                                                                   \
	}

/* The fields refuse what the schema lets through; ROUNDED is the other way round. */
static const struct difference wide_differences[] = {
	BEYOND_63("big"),
	BEYOND_64("huge"),
	{ "single", "1e39", WIDTH },
	{ "single", "1e400", FINITE },
	{ "single", "-1e400", FINITE },
	WITH_NUL("text"),
	WITH_NUL("name"),
	WITH_NUL("mail"),
	{ "words", "[\"\\u0000\"]", NUL },
	{ "reals", "[1e400]", FINITE },
	THE_END,
};
static const struct difference signature_differences[] = {
	WITH_NUL("name"),
	BEYOND_63("i"),
	WITH_NUL("s"),
	{ "m", "[1e400]", WIDTH },
	{ "d", "[\"\\u0000\"]", NUL },
	THE_END,
};
static const struct difference form_differences[] = {
	WITH_NUL("name"),
	{ "share", "-1e400", FINITE },
	WITH_NUL("when"),
	THE_END,
};
static const struct difference list_differences[] = {
	BEYOND_63("days"),
	WITH_NUL("name"),
	THE_END,
};
static const struct difference rounded_differences[] = {
	{ "ratio", "0.09999999999999999999999", ROUNDED },
	THE_END,
};
static const struct difference no_differences[] = { THE_END };

/* ---- comparing ---------------------------------------------------------------------------- */

struct pair {
	const char *name;
	const cleat_field *fields;
	enum field_schema_style style;
	const struct difference *known;
	bool seen[64];
	cleat_schema *schema;
	size_t compared;
};

static void pair_open(struct pair *p, const char *name, const cleat_field *fields,
		      enum field_schema_style style, const struct difference *known)
{
	cleat_error err;
	struct buf b;
	struct jw w;

	*p = (struct pair){ .name = name, .fields = fields, .style = style, .known = known };
	assert_int_equal(field_table_check(fields, NULL), CLEAT_OK);
	buf_init(&b, NULL, 1 << 20);
	jw_init(&w, &b);
	field_write_schema(&w, fields, style);
	assert_int_equal(buf_status(&b), CLEAT_OK);
	p->schema = cleat_schema_parse(buf_str(&b).p, buf_size(&b), NULL, &err);
	if (!p->schema)
		fail_msg("%s: %s", name, err.message);
	buf_done(&b);
}

/* Every difference that is listed must have been met. */
static void pair_close(struct pair *p)
{
	for (size_t i = 0; p->known[i].key; i++)
		if (!p->seen[i])
			fail_msg("%s: %s = %s makes no difference any more", p->name,
				 p->known[i].key, p->known[i].value);
	assert_true(p->compared > CLEAT_COUNT(pool));
	cleat_schema_free(p->schema);
}

static const struct difference *known_difference(struct pair *p, const char *key, const char *value)
{
	for (size_t i = 0; p->known[i].key; i++)
		if (strcmp(p->known[i].key, key) == 0 && strcmp(p->known[i].value, value) == 0) {
			assert_true(i < CLEAT_COUNT(p->seen));
			p->seen[i] = true;
			return &p->known[i];
		}
	return NULL;
}

/* One object by both; `key` and `value` are what is special about it. */
static void compare(struct pair *p, const char *json, const char *key, const char *value)
{
	const cleat_json *v;
	struct buf problems;
	struct arena ar;
	cleat_error err;
	int by_fields, by_schema;

	arena_init(&ar, NULL, 0);
	buf_init(&problems, NULL, 1 << 16);
	assert_int_equal(json_parse(&ar, str_of(json), NULL, &v, NULL), CLEAT_OK);
	by_fields = field_check(p->fields, v, p->style == FIELD_SCHEMA_ARGUMENTS, &problems);
	by_schema = cleat_schema_check(p->schema, v, &err);
	if (by_fields != by_schema) {
		const struct difference *d = known_difference(p, key, value);
		bool lenient = d && strcmp(d->why, ROUNDED) == 0;

		if (!d || by_fields != (lenient ? CLEAT_OK : CLEAT_EINVAL) ||
		    by_schema != (lenient ? CLEAT_EINVAL : CLEAT_OK))
			fail_msg("%s: %s\nfields: %d %.*s\nschema: %d %s", p->name, json, by_fields,
				 (int)buf_size(&problems), buf_str(&problems).p, by_schema,
				 by_schema ? err.message : "");
	}
	p->compared++;
	buf_done(&problems);
	arena_done(&ar);
}

/* {"days":3,"name":"Ann"} with one member that is another, or without it. */
static void compare_member(struct pair *p, const char *key, const char *value)
{
	char json[512];
	size_t n = (size_t)snprintf(json, sizeof json, "{");

	if (value)
		n += (size_t)snprintf(json + n, sizeof json - n, "\"%s\":%s", key, value);
	if (strcmp(key, "days") != 0)
		n += (size_t)snprintf(json + n, sizeof json - n, "%s\"days\":3", n > 1 ? "," : "");
	if (strcmp(key, "name") != 0)
		n += (size_t)snprintf(json + n, sizeof json - n, "%s\"name\":\"Ann\"",
				      n > 1 ? "," : "");
	n += (size_t)snprintf(json + n, sizeof json - n, "}");
	assert_true(n < sizeof json);
	compare(p, json, key, value ? value : "");
}

static void compare_all(struct pair *p)
{
	for (const cleat_field *f = p->fields; f->type != CLEAT_T_END; f++) {
		compare_member(p, f->name, NULL);
		for (size_t i = 0; i < CLEAT_COUNT(pool); i++)
			compare_member(p, f->name, pool[i]);
	}
	compare_member(p, "unknown", "1"); /* refused by arguments alone */
	for (size_t i = 0; i < CLEAT_COUNT(pool); i++)
		compare(p, pool[i], "", pool[i]);
	pair_close(p);
}

TEST(arguments_by_fields_agree_with_their_schema)
{
	struct pair p;

	pair_open(&p, "arguments", wide_fields, FIELD_SCHEMA_ARGUMENTS, wide_differences);
	compare_all(&p);
}

TEST(results_by_fields_agree_with_their_schema)
{
	struct pair p;

	pair_open(&p, "results", wide_fields, FIELD_SCHEMA_TOOL, wide_differences);
	compare_all(&p);
}

ARENA_TEST(arguments_by_signature_agree_with_their_schema)
{
	struct signature sig = { 0 };
	struct pair p;

	assert_int_equal(signature_parse(ar, signature, &sig, NULL, NULL), CLEAT_OK);
	pair_open(&p, "signature", sig.fields, FIELD_SCHEMA_ARGUMENTS, signature_differences);
	compare_all(&p);
}

TEST(forms_agree_with_their_schema)
{
	struct pair p;

	pair_open(&p, "form", form_fields, FIELD_SCHEMA_FORM, form_differences);
	compare_all(&p);
	pair_open(&p, "form of 2025-06-18", form_fields, FIELD_SCHEMA_FORM_2025_06_18,
		  form_differences);
	compare_all(&p);
	pair_open(&p, "form with lists", list_fields, FIELD_SCHEMA_FORM, list_differences);
	compare_all(&p);
}

/* Real bounds go into the schema as decimal text and are compared exactly there. */
TEST(real_bounds_are_rounded_by_the_fields_alone)
{
	struct pair p;

	pair_open(&p, "rounding", wide_fields, FIELD_SCHEMA_ARGUMENTS, rounded_differences);
	compare_member(&p, "ratio", rounded_differences[0].value);
	assert_true(p.seen[0]);
	cleat_schema_free(p.schema);
}

/* The deepest and the largest table that field_table_check() lets pass. */
TEST(tables_at_their_limits_compile)
{
	enum { DEEP = 8, MANY = 256 };
	static cleat_field many[MANY + 1], deep[DEEP][2];
	static char names[MANY][8];
	struct pair p;

	for (size_t i = 0; i < MANY; i++) {
		snprintf(names[i], sizeof names[i], "f%zu", i);
		many[i] = (cleat_field){ .name = names[i], .type = CLEAT_T_STRING };
	}
	for (size_t i = 0; i < DEEP; i++)
		deep[i][0] = (cleat_field){ .name = "in",
					    .type = i + 1 < DEEP ? CLEAT_T_RECORD : CLEAT_T_BOOL,
					    .array = i % 2,
					    .fields = i + 1 < DEEP ? deep[i + 1] : NULL };
	pair_open(&p, "many", many, FIELD_SCHEMA_ARGUMENTS, no_differences);
	compare(&p, "{\"f0\":\"\"}", "", "");
	cleat_schema_free(p.schema);
	pair_open(&p, "deep", deep[0], FIELD_SCHEMA_ARGUMENTS, no_differences);
	compare(&p, "{\"in\":{\"in\":[{\"in\":{\"in\":[]}}]}}", "", "");
	compare(&p, "{\"in\":{\"in\":[{\"in\":{\"in\":1}}]}}", "", "");
	cleat_schema_free(p.schema);
	pair_open(&p, "none", NULL, FIELD_SCHEMA_ARGUMENTS, no_differences);
	compare(&p, "{}", "", "");
	compare(&p, "{\"a\":1}", "", "");
	cleat_schema_free(p.schema);
}
