/* request/queue.h - which requests of a connection run, and which wait for their turn. */
#ifndef REQUEST_QUEUE_H
#define REQUEST_QUEUE_H

#include "request/conn.h"

/* All of these: room in the table of ids was reserved. */

/* Serves it now. */
void queue_start(cleat_request *req);
/* Puts it at the end of those that wait. */
void queue_wait(cleat_request *req);
/* Starts waiting requests while there is room. */
void queue_advance(cleat_connection *c);
/* Does not wait any more. */
void queue_leave(cleat_request *req);

#endif
