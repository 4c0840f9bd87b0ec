/* tests/unit/endpoint_rig.h - a server with a few tools behind the MCP endpoint, its store, an HTTP server
 * and clients on real sockets, all in one thread; time of the endpoint stands still unless a test
 * moves it.
 */
#ifndef TESTS_MCP_RIG_H
#define TESTS_MCP_RIG_H

#include "endpoint/endpoint.h"
#include "messages.h"
#include "server/core.h"
#include "unit/httpd/httpd_rig.h"

#include <cleat/http.h>

/* ---- tools -------------------------------------------------------------------------------- */

/* Requests that were deferred. */
extern cleat_request *parked[64];
extern size_t n_parked, n_cancelled;

int tool_who(cleat_request *req); /* says who calls */

/* Answers the oldest that is parked. */
void unpark(const char *text);

/* ---- the endpoint ------------------------------------------------------------------------- */

struct bench {
	struct rig h; /* loop, memory and address, for the clients */
	cleat_server *s;
	struct endpoint *m;
	struct store *store;
	uint64_t now_ms; /* the endpoint's clock */
	char notes[8192];
	size_t refuse;         /* accept() gives no connection so many times */
	size_t asked;          /* who somebody is */
	char lent[64];         /* the last answer to that */
	char banned[64];       /* NAME, or NAME/TOKEN: may not pass any more */
	size_t opened, closed; /* connections, as the server's callbacks are told */
};

struct bench_options {
	struct endpoint_options mcp;
	struct store_limits store;
	struct httpd_options http;
	cleat_server_options server;
	bool pages; /* those of https://app.example may connect */
	bool tokens; /* "Authorization: Bearer NAME", or NAME/TOKEN, is NAME; without it nobody passes */
};

/* Only the server, for those that make the rest themselves. */
void bench_base(struct bench *b, const struct bench_options *o);
void bench_open_with(struct bench *b, const struct bench_options *o);
void bench_open(struct bench *b);

/* What cleat_server_stop() leads to. */
void bench_stop(struct bench *b);
void bench_close(struct bench *b);
struct client *join(struct bench *b);
void turn(struct bench *b);
void pass(struct bench *b, uint64_t ms);
struct endpoint_stats stats_of(const struct bench *b);

/* ---- requests ----------------------------------------------------------------------------- */

/* A request as text, in memory that the next call uses again. `fields`: lines with CRLF; a default for
 * Host, Accept and Content-Type, unless they are there. `body` NULL: none. */
const char *request_text(const char *method, const char *target, const char *fields,
			 const char *body);
void send_request(struct client *c, const char *method, const char *target, const char *fields,
		  const char *body);

#define VERSION(v)     "MCP-Protocol-Version: " v "\r\n"
#define MODERN_VERSION VERSION("2026-07-28")

/* The fields of a modern request; `name` NULL: no Mcp-Name. In memory that the next call uses
 * again. */
const char *modern_fields(const char *method, const char *name, const char *more);

/* A modern tools/call; `args` is JSON. */
#define MODERN_CALL(id, name, args)                                                                \
	REQUEST(id, "tools/call", MODERN ",\"name\":\"" name "\",\"arguments\":" args)
#define LOGGING                                                                                    \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                   \
	"\"io.modelcontextprotocol/clientCapabilities\":{},"                                       \
	"\"io.modelcontextprotocol/logLevel\":\"debug\",\"progressToken\":7}"
#define LISTEN(id, filter)                                                                         \
	REQUEST(id, "subscriptions/listen", MODERN ",\"notifications\":{" filter "}")

void modern_call(struct client *c, const char *tool, const char *body);
void modern_listen(struct client *c, const char *body);

/* ---- answers ------------------------------------------------------------------------------ */

/* One whole answer, in memory that the next call uses again; NULL when the connection ended before its
 * end. */
const struct answer *answer_of(struct client *c);

/* The same, with this status; gives its body. */
#define expect_answer(c, status) expect_answer_(c, status, __FILE__, __LINE__)
const char *expect_answer_(struct client *c, int status, const char *file, int line);

/* Asks and gives the body of the answer, which must have this status. */
#define ask(c, status, method, fields, body)                                                       \
	(send_request(c, method, "/mcp", fields, body), expect_answer(c, status))

/* ---- event streams ------------------------------------------------------------------------ */

struct stream {
	struct client *c;
	char head[4096];
	char *text; /* of the body, not taken yet */
	size_t n, cap;
	bool ended; /* by the last chunk */
	size_t comments;
};

struct event {
	char id[80];
	char *data; /* points into `block`; NULL: no data line */
	long retry; /* -1: none */
	char name[32];
	char *block;
};

/* The header of an event stream has come; false when it is something else (it is left where it is) or
 * the connection ended. */
bool stream_begin(struct client *c, struct stream *st);
void stream_expect(struct client *c, struct stream *st);
void stream_done(struct stream *st);

/* Takes the next event if all of it has come; comments are counted and left out. */
bool stream_poll(struct stream *st, struct event *e);
void event_done(struct event *e);

/* The next event; false when the stream, or the connection, ended before. */
bool stream_next(struct stream *st, struct event *e);

/* The next event has this in its data. Gives its id, in memory that the next call uses again. */
#define expect_event(st, part) expect_event_(st, part, __FILE__, __LINE__)
const char *expect_event_(struct stream *st, const char *part, const char *file, int line);

/* A stream of changes begins. */
void listen_on(struct client *c, struct stream *st, const char *body);

/* The stream ends in order, with nothing more in it. */
#define expect_stream_end(st) expect_stream_end_(st, __FILE__, __LINE__)
void expect_stream_end_(struct stream *st, const char *file, int line);

/* Nothing has come, and the stream is open. */
void expect_silence(struct bench *b, struct stream *st);

/* ---- sessions ----------------------------------------------------------------------------- */

struct talk {
	struct bench *b;
	char id[64];
	char fields[256]; /* of every request in it */
	char rev[16];
};

#define INITIALIZE(rev, caps)                                                                      \
	REQUEST("\"init\"", "initialize",                                                          \
		"\"protocolVersion\":\"" rev "\",\"capabilities\":" caps                           \
		",\"clientInfo\":{\"name\":\"bench\",\"version\":\"7\"}")

/* Begins a session of that revision: initialize and notifications/initialized; `more`: further
 * fields. */
void talk_open_with(struct bench *b, struct talk *t, const char *rev, const char *caps,
		    const char *more);
void talk_open(struct bench *b, struct talk *t, const char *rev);

/* Sends a message of the session. */
void talk_post(struct talk *t, struct client *c, const char *body);

/* A call that goes on until unpark(). */
struct client *park_call(struct talk *t);

/* Opens the standing stream (last NULL), or resumes one. */
void talk_get(struct talk *t, struct client *c, const char *last);

/* The status of a whole exchange on a connection of its own. */
int talk_status(struct talk *t, const char *method, const char *body);

#define PING(id) REQUEST(id, "ping", "")

/* A case on an endpoint; BENCH_TEST_WITH: with these members of struct bench_options. */
#define BENCH_TEST(name) TEST_ON(name, struct bench, b, bench_open(b), bench_close)
#define BENCH_TEST_WITH(name, ...)                                                                 \
	TEST_ON(name, struct bench, b, bench_open_with(b, &(struct bench_options){ __VA_ARGS__ }), \
		bench_close)

#endif
