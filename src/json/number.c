/* json/number.c - numbers, from the text that was received.
 *
 * Integers and equality are exact: a token is read as sign, significant digits and a power of ten,
 * never through a double. Doubles come from yyjson's reader, which is correctly rounded and knows
 * no locale. A number beyond the range of a double is legal JSON; only cleat_json_num refuses it.
 */
#include "json/node.h"
#include "json/parse.h"

/* The value is digits * 10^exponent; `digits` has no zero at either end and is empty for zero.
 * `first` points into the token, so a decimal point may stand between two digits. */
struct decimal {
	const char *first;
	size_t digits;
	int64_t exponent;
	bool negative;
	bool vast; /* the exponent did not fit and is only known to be that large */
};

static const int64_t VAST = INT64_C(100000000000000000);

static const char *read_exponent(const char *p, const char *end, struct decimal *d)
{
	bool negative = p < end && *p == '-';
	int64_t e = 0;

	if (p < end && (*p == '-' || *p == '+'))
		p++;
	for (; p < end; p++) {
		e = e * 10 + (*p - '0');
		if (e > VAST) {
			e = VAST;
			d->vast = true;
		}
	}
	d->exponent += negative ? -e : e;
	return p;
}

static struct decimal read_decimal(const yyjson_val *v)
{
	const char *p = v->uni.str, *end = p + node_len(v);
	struct decimal d = { .negative = *p == '-' };
	int64_t point = 0;  /* digits after the point */
	size_t pending = 0; /* zeros that count only if another digit follows */
	bool fraction = false;

	for (p += d.negative; p < end && *p != 'e' && *p != 'E'; p++) {
		if (*p == '.') {
			fraction = true;
			continue;
		}
		point += fraction;
		if (*p == '0') {
			pending += d.digits != 0;
			continue;
		}
		if (!d.digits)
			d.first = p;
		d.digits += pending + 1;
		pending = 0;
	}
	d.exponent = (int64_t)pending - point;
	if (p < end)
		read_exponent(p + 1, end, &d);
	return d;
}

static bool append_digit(uint64_t *n, uint64_t digit)
{
	if (*n > (UINT64_MAX - digit) / 10)
		return false;
	*n = *n * 10 + digit;
	return true;
}

/* The absolute value, if it is an integer below 2^64. */
static bool magnitude(const struct decimal *d, uint64_t *ret)
{
	const char *p = d->first;
	uint64_t n = 0;

	*ret = 0;
	if (d->digits == 0)
		return true;
	if (d->exponent < 0 || d->exponent > 20 || d->digits > 20)
		return false;
	for (size_t i = 0; i < d->digits; p++) {
		if (*p == '.')
			continue;
		if (!append_digit(&n, (uint64_t)(*p - '0')))
			return false;
		i++;
	}
	for (int64_t i = 0; i < d->exponent; i++)
		if (!append_digit(&n, 0))
			return false;
	*ret = n;
	return true;
}

static bool is_number(const cleat_json *v)
{
	return v && node_is(node_of(v), YYJSON_TYPE_RAW);
}

/* The usual number: up to 15 digits and perhaps a sign, which int64_t and double both hold
 * exactly. */
static bool small_integer(const cleat_json *v, int64_t *ret)
{
	const char *p = node_of(v)->uni.str;
	size_t n = node_len(node_of(v));
	bool negative = *p == '-';
	int64_t value = 0;

	if (n > 15)
		return false;
	for (size_t i = negative; i < n; i++) {
		if (p[i] < '0' || p[i] > '9')
			return false;
		value = value * 10 + (p[i] - '0');
	}
	*ret = negative ? -value : value;
	return true;
}

int64_t cleat_json_int(const cleat_json *v, int64_t fallback)
{
	struct decimal d;
	int64_t small;
	uint64_t n;

	if (!is_number(v))
		return fallback;
	if (small_integer(v, &small))
		return small;
	d = read_decimal(node_of(v));
	if (!magnitude(&d, &n) || n > (uint64_t)INT64_MAX + d.negative)
		return fallback;
	if (d.negative)
		return n == 0 ? 0 : -(int64_t)(n - 1) - 1;
	return (int64_t)n;
}

uint64_t cleat_json_uint(const cleat_json *v, uint64_t fallback)
{
	struct decimal d;
	uint64_t n;

	if (!is_number(v))
		return fallback;
	d = read_decimal(node_of(v));
	return magnitude(&d, &n) && (n == 0 || !d.negative) ? n : fallback;
}

double cleat_json_num(const cleat_json *v, double fallback)
{
	yyjson_val n;
	int64_t small;

	if (!is_number(v))
		return fallback;
	if (small_integer(v, &small) && small != 0) /* -0 keeps its sign below */
		return (double)small;
	if (!yyjson_read_number(node_of(v)->uni.str, &n, 0, NULL, NULL))
		return fallback;
	return yyjson_get_num(&n);
}

bool cleat_json_is_integer(const cleat_json *v)
{
	struct decimal d;
	int64_t small;

	if (!is_number(v))
		return false;
	if (small_integer(v, &small))
		return true;
	d = read_decimal(node_of(v));
	return d.digits == 0 || d.exponent >= 0;
}

struct str json_number(const cleat_json *v)
{
	return is_number(v) ? node_text(node_of(v)) : (struct str){ NULL, 0 };
}

const char *cleat_json_number_text(const cleat_json *v)
{
	return is_number(v) ? node_of(v)->uni.str : NULL;
}

bool number_equal(const yyjson_val *a, const yyjson_val *b)
{
	struct decimal x, y;
	const char *p, *q;

	if (node_same_text(a, b))
		return true;
	x = read_decimal(a);
	y = read_decimal(b);
	if (x.digits == 0 || y.digits == 0)
		return x.digits == y.digits;
	if (x.vast || y.vast) /* exponents of 18 digits: equal only when written alike */
		return false;
	if (x.negative != y.negative || x.digits != y.digits || x.exponent != y.exponent)
		return false;
	p = x.first;
	q = y.first;
	for (size_t i = 0; i < x.digits; i++, p++, q++) {
		p += *p == '.';
		q += *q == '.';
		if (*p != *q)
			return false;
	}
	return true;
}
