/* tests/unit/server/server_rig.h - a server with a wire on the bench: messages are fed as lines, what comes
 * out is kept as text, the library's remarks are written down. One rig is used by one thread, except
 * for rig_wake().
 */
#ifndef TESTS_SERVER_RIG_H
#define TESTS_SERVER_RIG_H

#include "messages.h"
#include "support.h"
#include "test.h"

#include <cleat/cleat.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct rig {
	cleat_server *s;
	cleat_wire *w;
	char *out; /* all that came out since the last rig_ask() or rig_clear(); terminated */
	size_t n_out, cap;
	char notes[16384]; /* the library's remarks, one per line */
	atomic_int wakes;
};

/* Options that write the remarks down. */
cleat_server_options rig_options(struct rig *r);

/* A server; `opts` NULL: rig_options(). */
void rig_server(struct rig *r, const cleat_server_options *opts);
void rig_wire(struct rig *r);
void rig_clear(struct rig *r);

/* Moves what is ready into r->out. */
const char *rig_take(struct rig *r);

/* Feeds a line. */
void rig_say(struct rig *r, const char *line);

/* Feeds a line and gives all that came out because of it. */
const char *rig_ask(struct rig *r, const char *line);

/* Handles what other threads did and gives all that came out since the last rig_ask(). */
const char *rig_poll(struct rig *r);

/* A legacy session of this revision; `caps` is JSON. */
void rig_open_caps(struct rig *r, const char *revision, const char *caps);
void rig_open(struct rig *r, const char *revision);

/* A server with one tool, a wire and a session of 2025-11-25: what most tests want. */
void rig_start(struct rig *r, const cleat_tool *tools, size_t n);
void rig_stop(struct rig *r);

/* `text` must be exactly one line of JSON. */
#define assert_one_message(text) assert_messages_(text, 1, __FILE__, __LINE__)
#define assert_messages(text, n) assert_messages_(text, n, __FILE__, __LINE__)
void assert_messages_(const char *text, size_t want, const char *file, int line);

/* A case on a rig, which it begins itself. */
#define RIG_TEST(name) TEST_ON(name, struct rig, r, (void)0, rig_stop)

#endif
