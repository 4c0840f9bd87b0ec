/* transport/plain.h - text of somebody else's program, made fit for terminals and logs.
 *
 * In place and byte for byte, so that nothing grows: control characters (the C1 ones, too), what
 * turns lines around, and broken UTF-8 become '?', a tab becomes a blank. Where text may grow,
 * schema/show.h writes escapes instead.
 */
#ifndef TRANSPORT_PLAIN_H
#define TRANSPORT_PLAIN_H

#include <stddef.h>

void plain(char *p, size_t n);

#endif
