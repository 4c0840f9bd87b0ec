/* http.h - what transcripts over HTTP have in common, whatever serves them: clients on several connections, what they
 * send, cut like the lines of other transcripts, and what comes back.
 *
 *	> POST [Field: value]... BODY     a request to /mcp, or to the /path behind the method
 *	> CALL ID TOOL [Field: value]... ARGUMENTS   a tools/call of 2026-07-28, with its fields
 *	< 200 [Field: value]... WHAT      an answer; <capture:X>, <any>, <none> for values; "head 200": to HEAD
 *	< broken WHAT                     one whose end does not come, only this of it
 *	< stream                          the header of an event stream
 *	< event [id: value]... WHAT       its next event; also [retry: ms] and [event: name]
 *	< final WHAT                      an answer, or the end of a stream with it, whatever else is in that
 *	< end                             its end, in order; "cut": the connection ended before it
 *	< eof                             the server has closed the connection; "reset": not in order
 */
#ifndef WIRE_HTTP_H
#define WIRE_HTTP_H

#include "session.h"

#include "unit/endpoint/endpoint_rig.h"

enum { HTTP_CONNS = 9, HTTP_FIELDS = 1024 };

/* The data of such a stage begin with it. */
struct http {
	struct rig *rig; /* loop and address; NULL: nothing serves yet */
	struct rig *(*start)(struct session *s);
	struct client *c[HTTP_CONNS];
	struct stream st[HTTP_CONNS];
	bool streams[HTTP_CONNS]; /* between "stream" and "end" */
	bool excused;             /* what came instead is what may come without memory */
};

/* `size`: of the data. */
void http_open(struct session *s, size_t size, struct rig *(*start)(struct session *s));
/* Closes the connections only. */
void http_close(struct session *s);
/* What serves, which is started if it is not. */
struct rig *http_rig(struct session *s);
bool http_step(struct session *s, const struct step *step);
bool http_rest(struct session *s);
bool http_quiet(struct session *s);
/* The fields "[...]" at the front, as lines; gives what follows them. */
const char *http_fields(const char *p, char *into, size_t size);

bool http_do_close(struct session *s, struct line *l);
bool http_do_connect(struct session *s, struct line *l);
/* ! starve: from here on allocations fail, each in a run of its own. What comes then is what is expected, an error or the
 * end of the connection; where that is so the run is over. */
bool http_do_starve(struct session *s, struct line *l);
/* The server has closed this connection. */
bool http_has_ended(struct session *s, int conn);
/* There is memory again. */
void http_feed(struct session *s);
/* ! count WHAT N, when it has become so; `count` gives SIZE_MAX for what it does not know. */
bool http_do_count(struct session *s, struct line *l,
		   size_t (*count)(struct session *s, const char *what));

#endif
