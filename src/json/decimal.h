/* json/decimal.h - a number as sign, significant digits and a power of ten, read from its text.
 *
 * Private to json/. Nothing is rounded or copied: the digits stay in the token. Not here: doubles.
 */
#ifndef JSON_DECIMAL_H
#define JSON_DECIMAL_H

#include "json/node.h"

/* More than any exponent that is kept as an integer, and far more than a token has digits. */
#define DECIMAL_VAST INT64_C(100000000000000000)

/* The value is digits * 10^exponent; `digits` has no zero at either end and is empty for zero.
 * `first` points into the token, so a decimal point may appear between two digits. */
struct decimal {
	const char *first;
	size_t digits;
	int64_t exponent;    /* when vast: its sign is right, its size is only known to be vast */
	struct str power;    /* the exponent as it was written, without the sign; may be empty */
	int64_t shift;       /* what is added to that one because of the point and of zeros */
	bool power_negative; /* and its sign */
	bool vast;
	bool negative;
};

struct decimal decimal_read(const yyjson_val *v);
/* The absolute value, if it is an integer below 2^64. */
bool decimal_magnitude(const struct decimal *d, uint64_t *ret);

/* The digits one by one, the first one first, and then zeros for ever. */
struct decimal_cursor {
	const char *p;
	size_t left;
};

static inline struct decimal_cursor decimal_start(const struct decimal *d)
{
	return (struct decimal_cursor){ d->first, d->digits };
}

static inline unsigned decimal_digit(struct decimal_cursor *c)
{
	if (c->left == 0)
		return 0;
	c->left--;
	c->p += *c->p == '.';
	return (unsigned)(*c->p++ - '0');
}

/* The next n digits as one integer; n is at most 19. */
static inline uint64_t decimal_chunk(struct decimal_cursor *c, size_t n)
{
	uint64_t value = 0;

	while (n-- > 0)
		value = value * 10 + decimal_digit(c);
	return value;
}

#endif
