/* server/subscribed.h - telling those that watch what is subscribed to (core.h) of something new. */
#ifndef SERVER_SUBSCRIBED_H
#define SERVER_SUBSCRIBED_H

#include "request/conn.h"

/* One URI, or all in a subscriptions/listen. */
void subscribed_tell(cleat_server *s, struct str uri);
void subscribed_tell_all(const cleat_request *listen);

#endif
