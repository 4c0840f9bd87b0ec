/* server/notify.h - notifications to clients: progress, log, changed lists, updated resources. */
#ifndef SERVER_NOTIFY_H
#define SERVER_NOTIFY_H

#include "request/conn.h"

/* Owner's thread; the checks (token, level, order, rate) are made here. `text` absent: none. */
void notify_progress(cleat_request *req, double done, double total, struct str text);
/* The client may hang up and come back for the answer. */
void notify_release(cleat_request *req, uint64_t retry_ms);
void notify_log(cleat_request *req, int level, struct str text);
/* Ends the subscriptions whose client did not take a notification. */
void notify_end_behind(cleat_connection *c);
/* Sends the list_changed notices that are due. */
void notify_flush(cleat_server *s);
/* "_meta":{"io.modelcontextprotocol/subscriptionId":ID} */
void notify_subscription_meta(struct jw *w, const cleat_request *listen);
/* Is this URI one that the subscription is about? */
bool notify_wants_uri(const cleat_request *listen, struct str uri);
/* A list of this kind has changed. */
void notify_changed(cleat_server *s, enum shelf_kind kind);

#endif
