/* json/arithmetic.c - comparing and dividing numbers, exactly and by their text.
 *
 * Exponents are only ever subtracted from each other, and a difference that is too large for an
 * integer is as good as any other one of that sign: so there is no exponent that is too large.
 * Neither does a division write out a power of ten. With v = V * 10^e and by = B * 10^f, where V
 * and B do not end in zero, v is a multiple of by only if e >= f (else V would have to end in
 * zero), and then if B divides V * 10^(e-f). All that 10^(e-f) can contribute are factors 2 or 5,
 * and B has fewer than four of them to a digit.
 *
 * Divisors of up to 18 digits take one machine division for several digits; longer ones the long
 * division of school, in limbs of 18 digits, on the stack: nothing is allocated.
 */
#include "json/decimal.h"
#include "json/number.h"

enum {
	LIMB_DIGITS = 18,
	LIMBS = 512,                              /* 2 * 4 KiB on the stack */
	DIVISOR_DIGITS = LIMBS * LIMB_DIGITS - 1, /* a remainder takes one more digit for a while */
};

static const uint64_t LIMB = UINT64_C(1000000000000000000);

/* The digit of the written exponent that stands `place` digits from its end, with its sign. */
static int64_t power_digit(const struct decimal *d, size_t place)
{
	int64_t digit = place < d->power.n ? d->power.p[d->power.n - 1 - place] - '0' : 0;

	return d->power_negative ? -digit : digit;
}

/* The difference of the exponents; one beyond DECIMAL_VAST is only known to be about that. Written
 * exponents are subtracted digit by digit: once the difference is vast, it can only grow. */
static int64_t exponent_difference(const struct decimal *a, const struct decimal *b)
{
	size_t place = a->power.n > b->power.n ? a->power.n : b->power.n;
	int64_t diff = 0;

	if (!a->vast && !b->vast)
		return a->exponent - b->exponent;
	while (place-- > 0 && diff < DECIMAL_VAST && diff > -DECIMAL_VAST)
		diff = diff * 10 + power_digit(a, place) - power_digit(b, place);
	return diff + a->shift - b->shift;
}

static int sign_of(int64_t n)
{
	return (n > 0) - (n < 0);
}

/* Of values that are not zero. */
static int compare_magnitude(const struct decimal *a, const struct decimal *b)
{
	int64_t order = exponent_difference(a, b) + (int64_t)a->digits - (int64_t)b->digits;
	struct decimal_cursor p = decimal_start(a), q = decimal_start(b);

	if (order != 0)
		return sign_of(order);
	while (p.left || q.left) {
		int diff = (int)decimal_digit(&p) - (int)decimal_digit(&q);

		if (diff != 0)
			return sign_of(diff);
	}
	return 0;
}

static int sign(const struct decimal *d)
{
	if (d->digits == 0)
		return 0;
	return d->negative ? -1 : 1;
}

static int arithmetic_compare(const yyjson_val *a, const yyjson_val *b)
{
	struct decimal x = decimal_read(a), y = decimal_read(b);

	if (sign(&x) != sign(&y))
		return sign(&x) - sign(&y);
	return sign(&x) == 0 ? 0 : sign(&x) * compare_magnitude(&x, &y);
}

int json_number_compare(const cleat_json *a, const cleat_json *b)
{
	int64_t x, y;

	if (json_small_int(a, &x) && json_small_int(b, &y))
		return sign_of(x - y);
	return arithmetic_compare(node_of(a), node_of(b));
}

bool number_equal(const yyjson_val *a, const yyjson_val *b)
{
	return node_same_text(a, b) || json_number_compare(node_json(a), node_json(b)) == 0;
}

/* The first `digits` digits of a number as limbs, the lowest one first. */
static void arithmetic_load(uint64_t *limb, size_t n, struct decimal_cursor *c, size_t digits)
{
	memset(limb, 0, n * sizeof *limb);
	for (size_t i = digits; i-- > 0;)
		limb[i / LIMB_DIGITS] = limb[i / LIMB_DIGITS] * 10 + decimal_digit(c);
}

static void append(uint64_t *limb, size_t n, uint64_t digit)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t t = limb[i] * 10 + digit;

		limb[i] = t % LIMB;
		digit = t / LIMB;
	}
}

static bool at_least(const uint64_t *a, const uint64_t *b, size_t n)
{
	while (n-- > 0)
		if (a[n] != b[n])
			return a[n] > b[n];
	return true;
}

static void subtract(uint64_t *a, const uint64_t *b, size_t n)
{
	uint64_t borrow = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t take = b[i] + borrow;

		borrow = a[i] < take;
		a[i] += borrow * LIMB - take;
	}
}

static bool is_zero(const uint64_t *limb, size_t n)
{
	while (n-- > 0)
		if (limb[n] != 0)
			return false;
	return true;
}

/* Does `by` divide the integer of the first `digits` digits, of which there are not fewer than in
 * `by` itself? */
static bool divides_long(const struct decimal *by, const struct decimal *v, uint64_t digits)
{
	const size_t n = by->digits / LIMB_DIGITS + 1;
	struct decimal_cursor top = decimal_start(v), divisor = decimal_start(by);
	uint64_t b[LIMBS], r[LIMBS];

	arithmetic_load(b, n, &divisor, by->digits);
	arithmetic_load(r, n, &top, by->digits);
	for (uint64_t left = digits - by->digits;; left--) {
		while (at_least(r, b, n))
			subtract(r, b, n);
		if (left == 0)
			return is_zero(r, n);
		append(r, n, decimal_digit(&top));
	}
}

static uint64_t ten_to(size_t n)
{
	uint64_t power = 1;

	while (n-- > 0)
		power *= 10;
	return power;
}

/* The same for a divisor of at most 18 digits: a remainder and as many digits as make up 19 are an
 * integer below 2^64. */
static bool divides_short(const struct decimal *by, const struct decimal *v, uint64_t digits)
{
	struct decimal_cursor top = decimal_start(v), divisor = decimal_start(by);
	const uint64_t b = decimal_chunk(&divisor, by->digits);
	const size_t most = LIMB_DIGITS + 1 - by->digits;
	uint64_t r = 0;

	while (digits > 0) {
		size_t n = digits < most ? (size_t)digits : most;

		r = (r * ten_to(n) + decimal_chunk(&top, n)) % b;
		digits -= n;
	}
	return r == 0;
}

/* How many zeros to put behind v for the factors 2 and 5 of `by`, given that it has this many more
 * by its exponent. */
static uint64_t zeros_needed(const struct decimal *by, int64_t zeros)
{
	struct decimal_cursor c = decimal_start(by);
	unsigned last = 0;
	uint64_t most = 4 * (uint64_t)by->digits;

	while (c.left)
		last = decimal_digit(&c);
	if (last % 2 != 0 && last != 5)
		return 0;
	return (uint64_t)zeros < most ? (uint64_t)zeros : most;
}

static int multiple_of(const struct decimal *v, const struct decimal *by, uint64_t *budget)
{
	const bool quick = by->digits <= LIMB_DIGITS;
	int64_t zeros = exponent_difference(v, by);
	uint64_t digits, steps;

	if (v->digits == 0)
		return 1;
	if (by->digits == 0 || zeros < 0)
		return 0;
	digits = v->digits + zeros_needed(by, zeros);
	if (digits < by->digits)
		return 0;
	steps = quick ? digits : digits - by->digits + 1;
	if (by->digits > DIVISOR_DIGITS || steps > *budget / (quick ? 1 : by->digits))
		return CLEAT_ELIMIT;
	*budget -= steps * (quick ? 1 : by->digits);
	return quick ? divides_short(by, v, digits) : divides_long(by, v, digits);
}

int json_number_multiple_of(const cleat_json *v, const cleat_json *by, uint64_t *budget)
{
	struct decimal x, y;
	int64_t a, b;

	if (json_small_int(v, &a) && json_small_int(by, &b) && b > 0)
		return a % b == 0;
	x = decimal_read(node_of(v));
	y = decimal_read(node_of(by));
	return multiple_of(&x, &y, budget);
}
