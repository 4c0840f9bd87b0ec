/* format/impl.h - the checkers behind format/format.h, by what they are about.
 *
 * Only for the format_*.c files and their table. Each takes any bytes; a NUL is a character like any
 * other (and in most formats a wrong one).
 */
#ifndef FORMAT_IMPL_H
#define FORMAT_IMPL_H

#include "format/format.h"

/* time.c: RFC 3339 section 5.6 and appendix A. */
bool format_date(struct str text);
bool format_time(struct str text);
bool format_date_time(struct str text);
bool format_duration(struct str text);

/* host.c: RFC 1123 section 2.1, RFC 5321 section 4.1.2, RFC 6531 section 3.3. */
bool format_hostname(struct str text);
bool format_email(struct str text);
bool format_idn_email(struct str text);

/* alabel.c: is this label, which begins with "xn--", the Punycode of something that may be a
 * label? */
bool format_alabel(struct str label);

#endif
