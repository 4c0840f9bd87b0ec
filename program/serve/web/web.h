/* program/serve/web/web.h - a tool that makes an HTTP request, for sources that make several of them. */
#ifndef PROGRAM_SERVE_WEB_WEB_H
#define PROGRAM_SERVE_WEB_WEB_H

#include "serve/kit/draft.h"

/* Adds the tool whose configuration is `node`, which is not needed afterwards; `at`: where problems with the
 * tool as a whole are shown. */
void web_add(struct draft *b, const cleat_json *at, const char *name, const cleat_json *node);

#endif
