/* server/batch.h - an array of messages (2025-03-26, and only there): read one by one, answered with one
 * array when the last member has ended.
 */
#ifndef SERVER_BATCH_H
#define SERVER_BATCH_H

#include "request/conn.h"

typedef void batch_receive(cleat_request *req, const cleat_json *root);

/* Hands each member of the array to `receive`, as a request of its own; `req` is the whole of it and ends
 * here. */
void batch_read(cleat_request *req, const cleat_json *list, batch_receive *receive);
/* Those whose answer waits for memory: tries again. */
void batch_retry(cleat_connection *c);
/* The connection is closed: those are lost. */
void batch_drop(cleat_connection *c);

#endif
