/* request/event.h - what other threads tell the owner's, as hooks.post() carries it. */
#ifndef REQUEST_EVENT_H
#define REQUEST_EVENT_H

#include "request/hooks.h"

#include <cleat/server.h>

enum event_kind { EVENT_DONE, EVENT_PROGRESS, EVENT_LOG, EVENT_RELEASE, EVENT_NOTE, EVENT_CALL };

struct event {
	struct server_event base; /* first: this is what hooks.post carries */
	enum event_kind kind;
	cleat_request *req;                     /* DONE, PROGRESS, LOG, RELEASE */
	uint64_t retry_ms;                      /* RELEASE */
	double done, total;                     /* PROGRESS */
	int level;                              /* LOG, NOTE */
	void (*fn)(cleat_server *s, void *arg); /* CALL */
	void *arg;
};

/* PROGRESS, LOG and NOTE carry a text; all but DONE are freed when handled. */
struct text_event {
	struct event e;
	bool has_text;
	size_t len;
	char text[];
};

#endif
