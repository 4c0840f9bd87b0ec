/* net/plain.h - text of somebody else's program, made fit for terminals and logs.
 *
 * In place and byte for byte, so that nothing grows: control characters (the C1 ones, too), what
 * turns lines around, and broken UTF-8 become '?', a tab becomes a blank. Where text may grow,
 * wording/show.h writes escapes instead.
 */
#ifndef NET_PLAIN_H
#define NET_PLAIN_H

#include <stddef.h>

void plain(char *p, size_t n);

#endif
