/* tests/unit/test_json_arithmetic.c - numbers compared and divided exactly, against a table (the
 * answers are those of Python's fractions) and against digit strings worked out as at school.
 */
#include "unit/json/json_rig.h"
#include "json/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define P200_OF_2 "1606938044258990275541962092341162602522202993782792835301376"
#define P200_OF_5                                                                                   \
	"62230152778611417071440640537801242405902521687211671331011166147896988340353834411839448" \
	"231257136169569665895551224821247160434722900390625"
#define P64_OF_2 "18446744073709551616"

static int sign(int n)
{
	return (n > 0) - (n < 0);
}

/* Both ways round, and equality must think the same. */
static int compare(const char *a, const char *b)
{
	cleat_doc *x = parse(a), *y = parse(b);
	const cleat_json *v = cleat_doc_root(x), *w = cleat_doc_root(y);
	int c = sign(json_number_compare(v, w));

	assert_int_equal(sign(json_number_compare(w, v)), -c);
	assert_int_equal(json_number_compare(v, v), 0);
	assert_int_equal(cleat_json_equal(v, w), c == 0);
	cleat_doc_free(x);
	cleat_doc_free(y);
	return c;
}

static int multiple_within(const char *v, const char *by, uint64_t *budget)
{
	cleat_doc *x = parse(v), *y = parse(by);
	int is = json_number_multiple_of(cleat_doc_root(x), cleat_doc_root(y), budget);

	cleat_doc_free(x);
	cleat_doc_free(y);
	return is;
}

static int multiple(const char *v, const char *by)
{
	uint64_t budget = 1000000;

	return multiple_within(v, by, &budget);
}

TEST(small_integers_are_read_at_once)
{
	static const struct {
		const char *text;
		bool small;
		int64_t value;
	} cases[] = {
		{ "0", true, 0 },
		{ "-0", true, 0 },
		{ "7", true, 7 },
		{ "-12", true, -12 },
		{ "999999999999999", true, INT64_C(999999999999999) },
		{ "-99999999999999", true, INT64_C(-99999999999999) },
		{ "1000000000000000", false, 0 },
		{ "1.0", false, 0 },
		{ "1e2", false, 0 },
		{ "0.5", false, 0 },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		cleat_doc *doc = parse(cases[i].text);
		int64_t n = 0;

		assert_int_equal(json_small_int(cleat_doc_root(doc), &n), cases[i].small);
		assert_true(n == cases[i].value);
		cleat_doc_free(doc);
	}
}

TEST(numbers_are_ordered_by_value)
{
	static const struct {
		const char *a, *b;
		int order;
	} cases[] = {
		{ "1", "2", -1 },
		{ "-1", "-2", 1 },
		{ "-1", "1", -1 },
		{ "0", "-1", 1 },
		{ "-0", "0", 0 },
		{ "-0.00", "0e99999999999999999999", 0 },
		{ "-0", "1e-99999999999999999999", -1 },
		{ "-1e-99999999999999999999", "0", -1 },
		{ "1", "1.0", 0 },
		{ "10", "1e1", 0 },
		{ "10e-1", "1", 0 },
		{ "100200", "1.002e5", 0 },
		{ "0.1", "0.10000000000000000001", -1 },
		{ "-0.1", "-0.10000000000000000001", 1 },
		{ "1e400", "9e399", 1 },
		{ "-1e400", "-9e399", -1 },
		{ "1e-400", "9e-401", 1 },
		{ "12", "111", -1 },
		{ "2", "11e-1", 1 },
		{ "9007199254740993", "9007199254740992", 1 }, /* the same double */
		{ "9007199254740993", "9007199254740992.9", 1 },
		{ "999999999999999", "1000000000000000", -1 },
		{ "-999999999999999", "999999999999999", -1 },
		{ "18446744073709551616", "18446744073709551615", 1 },
		{ P200_OF_2, "1606938044258990275541962092341162602522202993782792835301375", 1 },
		/* exponents that no integer holds */
		{ "1e99999999999999999999", "1e99999999999999999998", 1 },
		{ "1e99999999999999999999", "10e99999999999999999998", 0 },
		{ "1.00e99999999999999999999", "0.1e100000000000000000000", 0 },
		{ "10e99999999999999999990", "1e100000000000000000000", -1 },
		{ "1e-99999999999999999999", "0.01e-99999999999999999997", 0 },
		{ "1e-99999999999999999999", "1e-99999999999999999998", -1 },
		{ "2e99999999999999999999", "1e99999999999999999999", 1 },
		{ "-2e99999999999999999999", "-1e99999999999999999999", -1 },
		{ "1e99999999999999999999", "1e-99999999999999999999", 1 },
		{ "1e99999999999999999999", "123456789", 1 },
		{ "1e-99999999999999999999", "123456789", -1 },
		{ "-1e99999999999999999999", "1", -1 },
		{ "1e00000000000000000000000000003", "1000", 0 },
		/* one exponent just fits, the other one does not */
		{ "1e100000000000000001", "10e100000000000000000", 0 },
		{ "1e100000000000000001", "11e100000000000000000", -1 },
		{ "0.1e-100000000000000000", "1e-100000000000000001", 0 },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++)
		if (compare(cases[i].a, cases[i].b) != cases[i].order)
			fail_msg("%s and %s", cases[i].a, cases[i].b);
}

/* JSON Schema Validation 6.2.1: "valid only if division by this keyword's value results in an
 * integer", here without rounding. */
TEST(multiples_are_exact)
{
	static const struct {
		const char *v, *by;
		int is;
	} cases[] = {
		{ "0", "3", 1 },
		{ "-0.0", "0.7", 1 },
		{ "0e99999999999999999999", "1e99999999999999999999", 1 },
		{ "9", "3", 1 },
		{ "-9", "3", 1 },
		{ "10", "3", 0 },
		{ "3", "9", 0 },
		{ "5", "10", 0 },
		{ "50", "1e1", 1 },
		{ "5", "1", 1 },
		{ "5.0", "1", 1 },
		{ "5.5", "1", 0 },
		{ "35", "1.5", 0 },
		{ "4.5", "1.5", 1 },
		{ "0.5", "0.25", 1 },
		{ "0.0075", "0.0001", 1 },
		{ "0.00751", "0.0001", 0 },
		{ "0.0075", "0.01", 0 },
		{ "19.99", "0.01", 1 },
		{ "-4.35", "0.01", 1 },
		{ "1.1", "0.1", 1 },
		{ "1e308", "0.123456789", 0 },
		{ "1e308", "0.5", 1 },
		{ "1e308", "1e-307", 1 },
		{ "12345678910", "10", 1 },
		{ "12345678910", "7", 0 },
		{ "9007199254740993", "2", 0 },
		{ "9007199254740992", "2", 1 },
		{ P200_OF_2, "3", 0 },
		{ "4820814132776970826625886277023487807566608981348378505904128", "3", 1 },
		/* divisors at the edge of one limb */
		{ "1e30", "999999999999999999", 0 },
		{ "999999999999999999e5", "999999999999999999", 1 },
		{ "999999999999999998000000000000000001", "999999999999999999", 1 },
		{ "999999999999999998000000000000000002", "999999999999999999", 0 },
		{ "1000000000000000000", "1000000000000000001", 0 },
		{ "1000000000000000002000000000000000001", "1000000000000000001", 1 },
		{ "1000000000000000002000000000000000002", "1000000000000000001", 0 },
		{ P200_OF_2, P64_OF_2, 1 },
		{ "340282366920938463463374607431768211456", P64_OF_2, 1 },
		{ "340282366920938463463374607431768211457", P64_OF_2, 0 },
		{ "121932631137021795226185032733622923332237463801111263526900",
		  "123456789012345678901234567890", 1 },
		{ "121932631137021795226185032733622923332237463801111263526901",
		  "123456789012345678901234567890", 0 },
		/* only a power of ten can have enough factors 2 or 5 */
		{ "1e63", P64_OF_2, 0 },
		{ "1e64", P64_OF_2, 1 },
		{ "7e62", "9223372036854775808", 0 },
		{ "7e63", "9223372036854775808", 1 },
		{ "1e199", P200_OF_2, 0 },
		{ "1e200", P200_OF_2, 1 },
		{ "1e199", P200_OF_5, 0 },
		{ "1e200", P200_OF_5, 1 },
		{ "1e59", "576460752303423488", 1 }, /* 2^59: 18 digits */
		{ "1e58", "576460752303423488", 0 },
		{ "1e25", "298023223876953125", 1 }, /* 5^25 */
		{ "1e24", "298023223876953125", 0 },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++)
		if (multiple(cases[i].v, cases[i].by) != cases[i].is)
			fail_msg("%s by %s", cases[i].v, cases[i].by);
}

/* An exponent costs the peer a few bytes, so it must not cost more here. */
TEST(exponents_of_any_size_cost_nothing)
{
	static const struct {
		const char *v, *by;
		int is;
	} cases[] = {
		{ "1e400000000", "1", 1 },
		{ "1e400000000", "3", 0 },
		{ "3e400000000", "3", 1 },
		{ "1e400000000", "7.0000000000000000001e3", 0 },
		{ "1e400000000", P200_OF_2, 1 },
		{ "1e-400000000", "1", 0 },
		{ "1", "1e-400000000", 1 },
		{ "1", "3e-400000000", 0 },
		{ "6e99999999999999999999", "3e99999999999999999999", 1 },
		{ "6e99999999999999999999", "4e99999999999999999999", 0 },
		{ "6e99999999999999999999", "0.4e99999999999999999999", 1 },
		{ "6e99999999999999999999", "4e99999999999999999998", 1 },
		{ "6e99999999999999999998", "3e99999999999999999999", 0 },
		{ "1e99999999999999999999", "1024e-99999999999999999999", 1 },
		{ "1e-99999999999999999999", "1e99999999999999999999", 0 },
		{ "1e100000000000000001", "2.5e100000000000000000", 1 },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		uint64_t budget = 15000;

		if (multiple_within(cases[i].v, cases[i].by, &budget) != cases[i].is)
			fail_msg("%s by %s", cases[i].v, cases[i].by);
	}
}

/* "What was used is taken from *budget", and nothing when it does not suffice. */
TEST(budget_is_charged_and_kept)
{
	static const struct {
		const char *v, *by;
		uint64_t cost;
	} cases[] = {
		{ "123456", "7", 0 },
		{ "1234567890123456789012", "13", 22 },
		{ "12.5", "0.7", 3 },
		{ "1e2", "8", 3 },                   /* a digit and two zeros */
		{ "1e9", "12", 9 },                  /* a digit and four zeros for each one of 12 */
		{ "1", "1000000000000000003", 0 },   /* shorter than the divisor */
		{ "1.5", "1000000000000000003", 0 }, /* no integer */
		{ "1234567890123456789012", "1000000000000000003", 19 * (22 - 19 + 1) },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		uint64_t budget = cases[i].cost;

		assert_int_equal(multiple_within(cases[i].v, cases[i].by, &budget), 0);
		assert_true(budget == 0);
		if (cases[i].cost == 0)
			continue;
		budget = cases[i].cost - 1;
		assert_int_equal(multiple_within(cases[i].v, cases[i].by, &budget), CLEAT_ELIMIT);
		assert_true(budget == cases[i].cost - 1);
	}
}

/* An integer of n digits, all of them nines. */
static char *nines(size_t n)
{
	char *s = malloc(n + 1);

	assert_non_null(s);
	memset(s, '9', n);
	s[n] = '\0';
	return s;
}

TEST(divisors_have_up_to_9215_digits)
{
	static const struct {
		size_t v, by;
		int is;
	} cases[] = {
		{ 18430, 9215, 1 }, /* 10^2n - 1 = (10^n - 1) * (10^n + 1) */
		{ 18429, 9215, 0 },           { 9215, 9215, 1 }, { 9216, 9215, 0 },
		{ 9216, 9216, CLEAT_ELIMIT }, { 9215, 9216, 0 }, { 30000, 9000, 0 },
		{ 27000, 9000, 1 },           { 9000, 36, 1 },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		char *v = nines(cases[i].v), *by = nines(cases[i].by);
		uint64_t budget = UINT64_MAX;

		assert_int_equal(multiple_within(v, by, &budget), cases[i].is);
		free(v);
		free(by);
	}
}

/* ---- the same, as at school ---------------------------------------------------------------- */

/* A fixed-point number: WIDTH decimal digits, the highest one first, POINT of them behind the
 * point. */
enum { WIDTH = 130, POINT = 40, DIGITS = 40 };

struct fixed {
	int digit[WIDTH];
	bool negative;
};

static uint64_t rng_state = 20261112;

static unsigned below(unsigned n)
{
	rng_state ^= rng_state << 13;
	rng_state ^= rng_state >> 7;
	rng_state ^= rng_state << 17;
	return (unsigned)(rng_state >> 33) % n;
}

static bool is_zero(const struct fixed *f)
{
	for (size_t i = 0; i < WIDTH; i++)
		if (f->digit[i] != 0)
			return false;
	return true;
}

static int compare_digits(const struct fixed *a, const struct fixed *b)
{
	for (size_t i = 0; i < WIDTH; i++)
		if (a->digit[i] != b->digit[i])
			return a->digit[i] < b->digit[i] ? -1 : 1;
	return 0;
}

static int slow_compare(const struct fixed *a, const struct fixed *b)
{
	int x = is_zero(a) ? 0 : a->negative ? -1 : 1;
	int y = is_zero(b) ? 0 : b->negative ? -1 : 1;

	return x != y ? sign(x - y) : x * compare_digits(a, b);
}

static bool slow_multiple(const struct fixed *v, const struct fixed *by)
{
	struct fixed r = { { 0 }, false };

	for (size_t i = 0; i < WIDTH; i++) {
		assert_int_equal(r.digit[0], 0);
		memmove(r.digit, r.digit + 1, (WIDTH - 1) * sizeof *r.digit);
		r.digit[WIDTH - 1] = v->digit[i];
		while (compare_digits(&r, by) >= 0) {
			for (size_t j = WIDTH; j-- > 0;) {
				r.digit[j] -= by->digit[j];
				if (r.digit[j] < 0) {
					r.digit[j] += 10;
					r.digit[j - 1]--;
				}
			}
		}
	}
	return is_zero(&r);
}

/* Up to n digits, the last one at 10^exponent. */
static struct fixed random_fixed(size_t n, int exponent)
{
	struct fixed f = { { 0 }, below(3) == 0 };
	size_t last = (size_t)(WIDTH - 1 - POINT + -exponent);

	for (size_t i = 0; i < n; i++)
		f.digit[last - i] = (int)(below(4) ? below(10) : below(2) * 9);
	return f;
}

static void multiply(struct fixed *f, unsigned by)
{
	int carry = 0;

	for (size_t i = WIDTH; i-- > 0;) {
		int t = f->digit[i] * (int)by + carry;

		f->digit[i] = t % 10;
		carry = t / 10;
	}
	assert_int_equal(carry, 0);
}

/* One of its many spellings: with a point anywhere, and zeros at both ends. */
static void spell(const struct fixed *f, char out[WIDTH + 64])
{
	size_t first = 0, end = WIDTH, point, n = 0;

	while (first < WIDTH - 1 && f->digit[first] == 0 && below(40))
		first++;
	while (end > first + 1 && f->digit[end - 1] == 0 && below(40))
		end--;
	point = first + 1 + below((unsigned)(end - first));
	while (first + 1 < point && f->digit[first] == 0) /* JSON: no leading zeros */
		first++;
	if (f->negative)
		out[n++] = '-';
	for (size_t i = first; i < end; i++) {
		if (i == point)
			out[n++] = '.';
		out[n++] = (char)('0' + f->digit[i]);
	}
	snprintf(out + n, 64, "%c%s%d", below(2) ? 'e' : 'E',
		 point > WIDTH - POINT || below(2) ? "" : "+", WIDTH - POINT - (int)point);
}

static struct fixed random_pair(struct fixed *by)
{
	int exponent = (int)below(2 * DIGITS / 4) - DIGITS / 4;
	struct fixed v;

	do {
		*by = random_fixed(1 + below(below(2) ? DIGITS : 9), exponent);
		by->negative = false;
	} while (is_zero(by));
	if (below(3) == 0)
		return random_fixed(1 + below(DIGITS), (int)below(DIGITS) - DIGITS / 2);
	v = *by;
	for (unsigned n = below(30); n > 0; n--)
		multiply(&v, 1 + below(10));
	v.negative = below(2) != 0;
	if (below(4) == 0)
		v.digit[WIDTH - 1 - below(WIDTH / 2)] = (int)below(10);
	return v;
}

TEST(random_numbers_agree_with_schoolbook_arithmetic)
{
	size_t multiples = 0, equal = 0;
	const size_t rounds = 1500;

	for (size_t i = 0; i < rounds; i++) {
		struct fixed by, v = random_pair(&by);
		char a[WIDTH + 64], b[WIDTH + 64];
		bool is = slow_multiple(&v, &by);
		int order = slow_compare(&v, &by);

		spell(&v, a);
		spell(&by, b);
		if (compare(a, b) != order || multiple(a, b) != is)
			fail_msg("%s and %s: order %d, multiple %d", a, b, order, is);
		multiples += is;
		equal += order == 0;
	}
	/* both answers were wanted often enough */
	assert_in_range(multiples, rounds / 5, rounds * 4 / 5);
	assert_in_range(equal, 5, rounds);
}
