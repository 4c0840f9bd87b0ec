/* server/arguments.h - a call's arguments: taken from params, checked, decoded. */
#ifndef SERVER_ARGUMENTS_H
#define SERVER_ARGUMENTS_H

#include "request/request.h"

/* All of these send the error themselves when they return false; the caller ends the request. */

/* A string member of params: not missing, not of another type, without NUL inside. */
bool arguments_param(cleat_request *req, const char *key, struct str *ret);
/* params.arguments is an object or absent. */
bool arguments_take(cleat_request *req);
/* The same for prompts, whose arguments are strings on the wire: numbers, booleans and JSON are read
 * out of them. */
bool arguments_take_strings(cleat_request *req);
/* A method of the program's: all of params, but for what the protocol has put there. */
bool arguments_take_params(cleat_request *req);
/* Checks against the entry's fields or schema and fills req->args. */
bool arguments_check(cleat_request *req);

#endif
