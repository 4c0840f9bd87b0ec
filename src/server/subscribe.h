/* server/subscribe.h - how subscriptions end from our side; how they begin is in serve.h. */
#ifndef SERVER_SUBSCRIBE_H
#define SERVER_SUBSCRIBE_H

#include "request/conn.h"

/* Ends a subscriptions/listen, and says so. */
void subscribe_end(cleat_request *listen);
/* The connection is closed: forgets those of the legacy era. */
void subscribe_drop_all(cleat_connection *c);

#endif
