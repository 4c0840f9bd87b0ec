/* json/number.c - numbers, from the text that was received, and doubles as text.
 *
 * Integers are exact: a token is read as sign, significant digits and a power of ten, never through
 * a double. Doubles come from yyjson's reader, which is correctly rounded and knows no locale. A
 * number beyond the range of a double is legal JSON; only cleat_json_num refuses it. Not here:
 * comparing and dividing (arithmetic.c).
 */
#include "json/number.h"

#include "json/decimal.h"
#include "json/parse.h"

#include <math.h>

static void read_exponent(struct decimal *d, const char *p, const char *end)
{
	int64_t e = 0;

	d->power_negative = *p == '-';
	if (*p == '-' || *p == '+')
		p++;
	d->power = (struct str){ p, (size_t)(end - p) };
	for (; p < end; p++) {
		e = e * 10 + (*p - '0');
		if (e > DECIMAL_VAST) {
			e = DECIMAL_VAST;
			d->vast = true;
		}
	}
	d->exponent += d->power_negative ? -e : e;
}

struct decimal decimal_read(const yyjson_val *v)
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
	d.shift = d.exponent = (int64_t)pending - point;
	if (p < end)
		read_exponent(&d, p + 1, end);
	return d;
}

static bool append_digit(uint64_t *n, uint64_t digit)
{
	if (*n > (UINT64_MAX - digit) / 10)
		return false;
	*n = *n * 10 + digit;
	return true;
}

bool decimal_magnitude(const struct decimal *d, uint64_t *ret)
{
	struct decimal_cursor c = decimal_start(d);
	uint64_t n = 0;

	*ret = 0;
	if (d->digits == 0)
		return true;
	if (d->exponent < 0 || d->exponent > 20 || d->digits > 20)
		return false;
	for (size_t left = d->digits + (size_t)d->exponent; left > 0; left--)
		if (!append_digit(&n, decimal_digit(&c)))
			return false;
	*ret = n;
	return true;
}

static bool is_number(const cleat_json *v)
{
	return v && node_is(node_of(v), YYJSON_TYPE_RAW);
}

enum { SMALL_DIGITS = 15 };

/* The usual number: up to 15 digits and perhaps a sign, which int64_t and double both hold
 * exactly. */
bool json_small_int(const cleat_json *v, int64_t *ret)
{
	const char *p = node_of(v)->uni.str;
	size_t n = node_len(node_of(v));
	bool negative = *p == '-';
	int64_t value = 0;

	if (n > SMALL_DIGITS)
		return false;
	for (size_t i = negative; i < n; i++) {
		if (p[i] < '0' || p[i] > '9')
			return false;
		value = value * 10 + (p[i] - '0');
	}
	*ret = negative ? -value : value;
	return true;
}

bool json_small_floor(const cleat_json *v, int64_t *ret, bool *ret_above)
{
	const char *p = node_of(v)->uni.str, *end = p + node_len(node_of(v));
	bool negative = *p == '-';
	const char *first = p += negative;
	int64_t value = 0;

	*ret_above = false;
	for (; p < end && *p >= '0' && *p <= '9'; p++) {
		if (p - first >= SMALL_DIGITS)
			return false;
		value = value * 10 + (*p - '0');
	}
	if (p < end && *p == '.')
		for (p++; p < end && *p >= '0' && *p <= '9'; p++)
			*ret_above |= *p != '0';
	*ret = negative ? -value - *ret_above : value;
	return p == end;
}

int64_t cleat_json_int(const cleat_json *v, int64_t fallback)
{
	struct decimal d;
	int64_t small;
	uint64_t n;

	if (!is_number(v))
		return fallback;
	if (json_small_int(v, &small))
		return small;
	d = decimal_read(node_of(v));
	if (!decimal_magnitude(&d, &n) || n > (uint64_t)INT64_MAX + d.negative)
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
	d = decimal_read(node_of(v));
	return decimal_magnitude(&d, &n) && (n == 0 || !d.negative) ? n : fallback;
}

double cleat_json_num(const cleat_json *v, double fallback)
{
	yyjson_val n;
	int64_t small;

	if (!is_number(v))
		return fallback;
	if (json_small_int(v, &small) && small != 0) /* -0 keeps its sign below */
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
	if (json_small_int(v, &small))
		return true;
	d = decimal_read(node_of(v));
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

/* ---- writing ------------------------------------------------------------------------------ */

/* yyjson writes into memory that it asks for: into ours. */
static void *scratch_malloc(void *ctx, size_t size)
{
	return size <= NUMBER_REAL ? ctx : NULL;
}

static void *scratch_realloc(void *ctx, void *ptr, size_t old_size, size_t size)
{
	(void)ptr;
	(void)old_size;
	return scratch_malloc(ctx, size);
}

static void scratch_free(void *ctx, void *ptr)
{
	(void)ctx;
	(void)ptr;
}

struct str number_print(char to[NUMBER_REAL], double v)
{
	const yyjson_alc alc = { scratch_malloc, scratch_realloc, scratch_free, to };
	yyjson_val n = { .tag = YYJSON_TYPE_NUM | YYJSON_SUBTYPE_REAL, .uni.f64 = v };
	struct str text = { NULL, 0 };

	if (isfinite(v))
		text.p = yyjson_val_write_opts(&n, 0, &alc, &text.n, NULL);
	if (text.p && text.n > 2 && memcmp(text.p + text.n - 2, ".0", 2) == 0)
		text.n -= 2; /* 3.0 is 3 */
	return text;
}
