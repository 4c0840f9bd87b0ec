/* fuzz/fuzz_field.c - objects from anybody against field tables.
 *
 * The first line is a signature, the rest JSON. The JSON is checked against the signature's table
 * and against a fixed one with a struct; what fits the latter is decoded and encoded, and the
 * result must fit again and decode to the same.
 */
#include "field/field.h"
#include "field/signature.h"
#include "require.h"
#include "json/parse.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct point {
	double x;
	float y;
};

struct all {
	bool b, has_i;
	int8_t i;
	uint16_t u;
	int64_t l;
	double d;
	const char *s, *e;
	const cleat_json *j;
	struct point p;
	const char *const *a;
	size_t na;
	const struct point *q;
	size_t nq;
	const uint32_t *n;
	size_t nn;
	char c[5];
	enum { ONE = 1, MANY = 300 } m;
	const char (*t)[3];
	size_t nt;
};

static const cleat_enum names[] = { { "one", ONE }, { "many", MANY }, CLEAT_ENUM_END };

static const cleat_field point_fields[] = {
	CLEAT_FIELD(struct point, x, NULL),
	CLEAT_FIELD(struct point, y, NULL, .fallback = "2.5"),
	CLEAT_FIELD_END,
};

static const cleat_field all_fields[] = {
	CLEAT_FIELD(struct all, b, NULL, .optional = true),
	CLEAT_FIELD(struct all, i, NULL, .optional = true, CLEAT_RANGE(1, 14),
		    CLEAT_PRESENT(struct all, has_i)),
	CLEAT_FIELD(struct all, u, NULL, .fallback = "7"),
	CLEAT_FIELD(struct all, l, NULL, .optional = true),
	CLEAT_FIELD(struct all, d, NULL, .optional = true, CLEAT_RANGE(-0.5, 1e9)),
	CLEAT_FIELD(struct all, s, NULL, .optional = true, CLEAT_RANGE(1, 9)),
	CLEAT_FIELD(struct all, e, NULL, .optional = true, .choices = "a|bc|d"),
	CLEAT_FIELD(struct all, j, NULL, .optional = true),
	CLEAT_RECORD(struct all, p, point_fields, NULL, .fallback = "{\"x\":1}"),
	CLEAT_ARRAY(struct all, a, na, NULL, .fallback = "[\"z\"]", CLEAT_AT_MOST(5)),
	CLEAT_RECORD_ARRAY(struct all, q, nq, point_fields, NULL, .optional = true),
	CLEAT_ARRAY(struct all, n, nn, NULL, .optional = true),
	CLEAT_FIELD(struct all, c, NULL, .optional = true, CLEAT_AT_MOST(3)),
	CLEAT_ENUM(struct all, m, names, NULL, .fallback = "\"one\""),
	CLEAT_ARRAY(struct all, t, nt, NULL, .optional = true),
	CLEAT_FIELD_END,
};

static int check(const cleat_field *fields, const cleat_json *v, bool closed)
{
	struct buf b;
	struct str s;
	int rc;

	buf_init(&b, NULL, 1 << 20);
	rc = field_check(fields, v, closed, &b);
	s = buf_str(&b);
	require(rc == CLEAT_OK ? s.n == 0 : s.n > 0 && rc == CLEAT_EINVAL);
	require(utf8_valid_prefix(s) == s.n);
	require(!str_has_nul(s) && s.n < 64 << 10);
	buf_done(&b);
	return rc;
}

/* Decodes and encodes; the text is in *ret. */
static void pass(struct arena *ar, const cleat_json *v, struct buf *ret)
{
	struct all r;
	struct jw w;

	memset(&r, 0, sizeof r);
	require(field_decode(all_fields, v, ar, &r) == CLEAT_OK);
	jw_init(&w, ret);
	require(field_encode(&w, all_fields, &r, NULL) == CLEAT_OK);
}

static void round_trip(struct arena *ar, const cleat_json *v)
{
	const cleat_json *again;
	struct buf first, second;

	buf_init(&first, NULL, 64 << 20);
	buf_init(&second, NULL, 64 << 20);
	pass(ar, v, &first);
	require(json_parse(ar, buf_str(&first), NULL, &again, NULL) == CLEAT_OK);
	require(check(all_fields, again, true) == CLEAT_OK);
	pass(ar, again, &second);
	require(str_eq(buf_str(&first), buf_str(&second)));
	buf_done(&first);
	buf_done(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *line = size ? memchr(data, '\n', size) : NULL;
	struct signature sig;
	const cleat_json *v;
	struct arena ar;
	struct str json;
	char *text;

	if (!line || size > 1 << 16)
		return 0;
	json = (struct str){ (const char *)line + 1, size - (size_t)(line + 1 - data) };
	arena_init(&ar, NULL, 0);
	text = arena_strndup(&ar, (const char *)data, (size_t)(line - data));
	require(text);
	if (json_parse(&ar, json, NULL, &v, NULL) == CLEAT_OK) {
		if (signature_parse(&ar, text, &sig, NULL, NULL) == CLEAT_OK) {
			check(sig.fields, v, true);
			check(sig.fields, v, false);
		}
		check(all_fields, v, true);
		if (check(all_fields, v, false) == CLEAT_OK)
			round_trip(&ar, v);
	}
	arena_done(&ar);
	return 0;
}
