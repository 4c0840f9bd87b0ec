/* client_rig.h - the client role on the bench: a link that writes down what it is told to send,
 * a clock that stands still, a peer that is asked and answers when the test says so. One per test.
 */
#ifndef TESTS_CLIENT_RIG_H
#define TESTS_CLIENT_RIG_H

#include "client/core.h"
#include "messages.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RIG_MAX = 256 };

/* A call, and its answer. */
#define ADD       "{\"name\":\"add\",\"arguments\":{\"a\":1,\"b\":2.50}}"
#define TOOL_TEXT "\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"3.5\"}]}"

struct rig_sent {
	char *text;
	enum link_kind kind;
	void *tag;
	enum revision rev;
	bool modern, initialize;
	char method[64], name[64], fields[256];
};

/* A question that the fake peer was given. */
struct rig_question {
	char *text;
	void *tag;
	bool open;
};

struct rig {
	struct link link;
	struct peer peer;
	cleat_client *c;
	struct link_events ev;
	uint64_t now;
	uint32_t random;
	unsigned wakes;
	struct rig_sent sent[RIG_MAX];
	size_t n_sent;
	int send_status;
	unsigned opens, listens, resets, fall_backs, closes, frees;
	int fall_back_status;
	void *forgotten[RIG_MAX];
	size_t n_forgotten;

	cleat_result *done[RIG_MAX];
	cleat_call *done_call[RIG_MAX];
	size_t n_done;
	void (*during_done)(struct rig *rig, cleat_call *call);
	bool inside; /* a function that must not run callbacks of the program's */

	char notes[8192];
	cleat_error states[RIG_MAX];
	size_t n_states;
	unsigned traced_out, traced_in;
	char logs[2048];
	char progress[2048];
	char changes[2048];

	struct peer_sink sink;
	struct peer_facts facts;
	unsigned peers, peers_closed;
	bool no_peer;
	struct rig_question questions[RIG_MAX];
	size_t n_questions;
	/* NULL: the test answers later. */
	const char *answer_at_once;
	char cancelled[256]; /* notifications that the peer got */
};

/* The peer says something: an answer unless `kind` says otherwise. */
int rig_peer_says(struct rig *rig, void *tag, int kind, const char *text);
/* Answers question i; `rest` is "\"result\":..." or "\"error\":...". */
void rig_answer_question(struct rig *rig, size_t i, const char *rest);
struct peer *rig_asked(void *ctx, const struct peer_sink *sink, const struct peer_facts *facts);
uint64_t rig_now(void *ctx);
void rig_wake(void *ctx);
uint32_t rig_random(void *ctx);
void rig_on_done(cleat_call *call, cleat_result *r);
void rig_on_progress(cleat_call *call, double done, double total, const char *message);
void rig_call_log(cleat_call *call, int level, const char *logger, const cleat_json *data);
void rig_on_change(cleat_watch *w, enum cleat_change_kind what, const char *uri);
void rig_on_end(cleat_watch *w, const cleat_error *why);

/* ---- the rig -------------------------------------------------------------------------------- */

/* False when out of memory. */
bool rig_init(struct rig *rig, const cleat_client_options *o);
void rig_done(struct rig *rig);
/* As the loop would: pump as often as it wants to be at once. */
int rig_pump(struct rig *rig);
void rig_wait(struct rig *rig, uint64_t ms);
void rig_up(struct rig *rig);
struct link_failure rig_failure(int status, enum cleat_step step, int http_status,
				const char *text);
void rig_down(struct rig *rig, const char *why);
void rig_message(struct rig *rig, const char *text, void *tag, int http_status);
/* The server says this, on a stream. */
CLEAT_PRINTF(2, 3) void rig_say(struct rig *rig, const char *fmt, ...);
struct rig_sent *rig_last(struct rig *rig);
/* The newest request. */
struct rig_sent *rig_request(struct rig *rig);
/* Answers this request; `rest` as above. On HTTP in its exchange, with this status. */
void rig_reply(struct rig *rig, const struct rig_sent *s, int http_status, const char *rest);
void rig_answer(struct rig *rig, const char *rest);

#define RIG_DISCOVER(caps)                                                                            \
	"\"result\":{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],"             \
	"\"capabilities\":" caps                                                                      \
	",\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"srv\",\"version\":\"1.2\"}}," \
	"\"instructions\":\"be kind\",\"ttlMs\":0,\"cacheScope\":\"public\"}"
#define RIG_INITIALIZE(rev, caps)                                                                  \
	"\"result\":{\"protocolVersion\":\"" rev "\",\"capabilities\":" caps                       \
	",\"serverInfo\":{\"name\":\"old\",\"version\":\"0.9\"}}"
#define RIG_CAPS                                                                                   \
	"{\"tools\":{\"listChanged\":true},\"prompts\":{\"listChanged\":true},\"logging\":{},"     \
	"\"resources\":{\"subscribe\":true,\"listChanged\":true}}"

/* A client that is ready, of a modern server. */
void rig_modern(struct rig *rig, const cleat_client_options *o, bool http);
/* A client that is ready, of a legacy server. */
void rig_legacy(struct rig *rig, const cleat_client_options *o, bool http, const char *initialize);
cleat_doc *rig_json(const char *text);
cleat_call *rig_call_with(struct rig *rig, const cleat_call_options *o, const char *method,
			  const char *params);
int rig_notify(struct rig *rig, const char *method, const char *params);
cleat_call *rig_call(struct rig *rig, const char *method, const char *params);
cleat_call *rig_list(struct rig *rig, const cleat_call_options *o, enum cleat_list what);
cleat_result *rig_result(struct rig *rig);
/* The newest result has this status and step, and this in its message. */
void rig_expect(struct rig *rig, int status, enum cleat_step step, const char *part);

/* A case on a rig, which the case begins and this ends; MODERN_TEST: on a client that is ready, of a modern server
 * at the end of a stream. */
#define RIG_TEST(name)    TEST_ON(name, struct rig, rig, (void)0, rig_done)
#define MODERN_TEST(name) TEST_ON(name, struct rig, rig, rig_modern(rig, NULL, false), rig_done)

#endif
