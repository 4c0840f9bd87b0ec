/* tests/unit/server/server_reply_rig.h - a server whose handlers, in every place where there can be one, are the one
 * that the test has just chosen.
 */
#ifndef TESTS_SERVER_REPLY_RIG_H
#define TESTS_SERVER_REPLY_RIG_H

#include "unit/server/server_rig.h"

/* The handler of the moment; registered as a tool, a resource, a template, a prompt and a completer. */
extern cleat_handler *now;

struct place {
	const char *city;
	int days;
	bool sure;
	double share;
};

void open_rig(struct rig *r, const char *revision, size_t max_reply);

#define TOOL     CALL("1", "t", "{}")
#define RESOURCE REQUEST("1", "resources/read", "\"uri\":\"r:1\"")
#define PROMPT   REQUEST("1", "prompts/get", "\"name\":\"p\",\"arguments\":{\"city\":\"Rome\"}")
#define COMPLETE                                                                                    \
	REQUEST("1", "completion/complete",                                                         \
		"\"ref\":{\"type\":\"ref/prompt\",\"name\":\"p\"},\"argument\":{\"name\":\"city\"," \
		"\"value\":\"O\"},\"context\":{\"arguments\":{\"days\":\"2\"}}")

/* Runs fn for this request; exactly one line must come out. */
const char *run(struct rig *r, cleat_handler *fn, const char *line);
int nothing(cleat_request *req);

#endif
