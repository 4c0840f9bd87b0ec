/* run/http.h - HTTP listeners of a runner. */
#ifndef RUN_HTTP_H
#define RUN_HTTP_H

#include "run/runner.h"

struct http_listen; /* one address and everything behind it */

/* The server is stopping: drains every listener. */
void http_listen_stop(struct runner *r);
/* Is there one that has not ended yet? */
bool http_listen_any(const struct runner *r);
/* The core has closed the peers already. */
void http_listen_free_all(struct runner *r);

#endif
