/* format/time.c - dates, times and durations by RFC 3339.
 *
 * The grammar, the lengths of months, and leap seconds, which are at 23:59:60 of UTC, wherever that is
 * on the local clock. Letters may be small, as the RFC notes in 5.6. Not here: other forms of ISO
 * 8601, and in which months there was a leap second.
 */
#include "format/impl.h"

#include "uri/chars.h"

static bool digit_at(struct str s, size_t i)
{
	return i < s.n && uri_char_class(s.p[i]) == CHAR_DIGIT;
}

static bool take_char(struct str s, size_t *i, char c)
{
	if (*i >= s.n || s.p[*i] != c)
		return false;
	++*i;
	return true;
}

/* A letter of the grammar, in either case. */
static bool take_letter(struct str s, size_t *i, char capital)
{
	return take_char(s, i, capital) || take_char(s, i, (char)(capital + 'a' - 'A'));
}

/* Exactly this many digits, with a value of at most `max`. */
static bool take_number(struct str s, size_t *i, int digits, unsigned max, unsigned *ret)
{
	for (*ret = 0; digits > 0; digits--) {
		if (!digit_at(s, *i))
			return false;
		*ret = *ret * 10 + (unsigned)(s.p[(*i)++] - '0');
	}
	return *ret <= max;
}

static unsigned days_in(unsigned year, unsigned month)
{
	static const unsigned char days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return month == 2 && leap ? 29 : days[month - 1];
}

static bool take_date(struct str s, size_t *i)
{
	unsigned year, month, day;

	return take_number(s, i, 4, 9999, &year) && take_char(s, i, '-') &&
	       take_number(s, i, 2, 12, &month) && month >= 1 && take_char(s, i, '-') &&
	       take_number(s, i, 2, days_in(year, month), &day) && day >= 1;
}

/* time-offset, as the minutes of UTC's clock when the local one shows `minutes`. */
static bool take_offset(struct str s, size_t *i, unsigned minutes, unsigned *ret_utc)
{
	enum { DAY = 24 * 60 };
	unsigned hours, more;
	bool east;

	*ret_utc = minutes;
	if (take_letter(s, i, 'Z'))
		return true;
	east = take_char(s, i, '+');
	if (!east && !take_char(s, i, '-'))
		return false;
	if (!take_number(s, i, 2, 23, &hours) || !take_char(s, i, ':') ||
	    !take_number(s, i, 2, 59, &more))
		return false;
	more += hours * 60;
	*ret_utc = (minutes + (east ? DAY - more : more)) % DAY;
	return true;
}

static bool take_time(struct str s, size_t *i)
{
	unsigned hour, minute, second, utc;

	if (!take_number(s, i, 2, 23, &hour) || !take_char(s, i, ':') ||
	    !take_number(s, i, 2, 59, &minute) || !take_char(s, i, ':') ||
	    !take_number(s, i, 2, 60, &second))
		return false;
	if (take_char(s, i, '.')) {
		if (!digit_at(s, *i))
			return false;
		while (digit_at(s, *i))
			++*i;
	}
	return take_offset(s, i, hour * 60 + minute, &utc) && (second < 60 || utc == 23 * 60 + 59);
}

bool format_date(struct str text)
{
	size_t i = 0;

	return take_date(text, &i) && i == text.n;
}

bool format_time(struct str text)
{
	size_t i = 0;

	return take_time(text, &i) && i == text.n;
}

bool format_date_time(struct str text)
{
	size_t i = 0;

	return take_date(text, &i) && take_letter(text, &i, 'T') && take_time(text, &i) &&
	       i == text.n;
}

/* One or more numbers with units, each unit the next in the list after the one before: 1H2M, 2M3S,
 * but not 1H3S. */
static bool take_amounts(struct str s, size_t *i, const char *units)
{
	const char *next = NULL;

	while (digit_at(s, *i)) {
		while (digit_at(s, *i))
			++*i;
		if (!next) /* the first may be any */
			for (next = units; *next && !take_letter(s, i, *next);)
				next++;
		else if (*next && !take_letter(s, i, *next))
			return false;
		if (!*next)
			return false;
		next++;
	}
	return next;
}

bool format_duration(struct str text)
{
	size_t i = 0, from;

	if (!take_letter(text, &i, 'P'))
		return false;
	from = i;
	if (take_amounts(text, &i, "W"))
		return i == text.n;
	i = from;
	if (digit_at(text, i) && !take_amounts(text, &i, "YMD"))
		return false;
	if (i == text.n)
		return i > from;
	return take_letter(text, &i, 'T') && take_amounts(text, &i, "HMS") && i == text.n;
}
