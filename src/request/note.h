/* request/note.h - remarks for the one who wrote the program, and the errors that latch in a server. */
#ifndef REQUEST_NOTE_H
#define REQUEST_NOTE_H

#include "base/cold.h"

#include <cleat/server.h>

/* The latched error to fill. */
COLD int server_fail(cleat_server *s, int status, const char *fmt, ...) CLEAT_PRINTF(3, 4);
/* Something that was asked of a server that is in order, and can be asked again: it may still be
 * run. */
COLD int server_refuse(cleat_server *s, int status, const char *fmt, ...) CLEAT_PRINTF(3, 4);
/* The library's own remarks, to opts.log. Owner's thread. */
COLD void server_note(cleat_server *s, int level, const char *fmt, ...) CLEAT_PRINTF(3, 4);

#endif
