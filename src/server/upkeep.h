/* server/upkeep.h - what time, and the end, do to connections and their requests. */
#ifndef SERVER_UPKEEP_H
#define SERVER_UPKEEP_H

#include "request/conn.h"

/* The other side is gone: cancels what runs. Frees the connection when its last request has ended. */
void conn_close(cleat_connection *c);

#endif
