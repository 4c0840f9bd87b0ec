/* cli/http_events.h - the messages in the body of an HTTP answer: one JSON text, or a stream of events.
 *
 * The stream is that of the HTML standard ("Server-sent events", 9.2.6); events without data are none. A body
 * of any other type has no messages.
 */
#ifndef CLI_HTTP_EVENTS_H
#define CLI_HTTP_EVENTS_H

#include "text.h"

struct http_events {
	void (*message)(void *ctx, const char *p, size_t n);
	void *ctx;
	char id[256]; /* of the last event that has one; "" */
	/* inside */
	enum { EVENTS_NONE, EVENTS_JSON, EVENTS_STREAM } kind_;
	struct text line_, data_;
	bool cr_, too_long_, has_data_;
};

/* `type` is the Content-Type; NULL: there is none. The struct is zeroed but for message and ctx. */
void http_events_begin(struct http_events *e, const char *type);
void http_events_feed(struct http_events *e, const char *p, size_t n);
/* The body is complete. */
void http_events_end(struct http_events *e);
void http_events_free(struct http_events *e);

#endif
