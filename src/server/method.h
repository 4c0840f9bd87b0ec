/* server/method.h - the methods a server knows: finding the one that a request names. */
#ifndef SERVER_METHOD_H
#define SERVER_METHOD_H

#include "request/request.h"

/* Has the request served by its method. */
void method_dispatch(cleat_request *req);
/* Is there a method of this name in any revision, or one of the program's own? */
bool method_exists(const cleat_request *req);
/* -32601; the request does not end. */
void method_refuse(cleat_request *req);
/* -32601, and the request ends: for a method that its revision does not have, too. */
void method_unknown(cleat_request *req);

/* Is this the name of a method or notification of the protocol, or one that JSON-RPC keeps for itself? */
bool method_is_reserved(struct str name);

#endif
