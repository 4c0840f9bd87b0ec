/* program/serve/http_conf.h - "http" of a configuration: an address, and how it is served. */
#ifndef PROGRAM_SERVE_HTTP_CONF_H
#define PROGRAM_SERVE_HTTP_CONF_H

#include "serve/kit/draft.h"

#include <cleat/http.h>

struct http_conf {
	const char *address; /* NULL: none */
	cleat_http_options options;
};

/* Texts live as long as the conf. What is wrong is a problem: somebody who only checks has to hear of it. A file
 * that cannot be read is a remark, because it may be that nobody wants HTTP this time (--stdio); who does will
 * not get a server without it. */
void http_conf_read(struct draft *b, const cleat_json *http, struct http_conf *ret);

#endif
