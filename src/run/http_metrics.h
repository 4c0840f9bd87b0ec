/* run/http_metrics.h - an address where a server's counters can be read: GET /metrics, nothing else.
 *
 * It is never the address of MCP: what is published to clients is one thing, what is told to those who
 * run the server another. Only this machine can reach it, unless the program says otherwise; nobody is
 * asked for a token. Several HTTP addresses of a server may name the same one; it is there as long as
 * one of them serves, also while that comes to its end.
 */
#ifndef RUN_HTTP_METRICS_H
#define RUN_HTTP_METRICS_H

#include "run/runner.h"

struct http_metrics;

/* The one for this address, which is opened if nobody has yet. `remote`: others may reach it. CLEAT_OK,
 * CLEAT_EINVAL, or what listener_open() says. */
int http_metrics_open(struct runner *r, const char *address, bool remote, struct http_metrics **ret,
		      cleat_error *err);
/* Whoever opened it needs it no more; the last one ends it. Accepts NULL. */
void http_metrics_drop(struct http_metrics *m);
/* The i-th address, as a URL; NULL after the last. */
const char *http_metrics_url(const struct runner *r, size_t i);

#endif
