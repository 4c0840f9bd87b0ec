/* tests/unit/messages.h - messages as tests write them, and looking for parts in what came back. */
#ifndef TESTS_MESSAGES_H
#define TESTS_MESSAGES_H

#include "support.h"
#include "test.h"

#include <string.h>

/* What every request of 2026-07-28 carries; put it inside params. */
#define MODERN_CAPS(caps)                                                                          \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                   \
	"\"io.modelcontextprotocol/clientCapabilities\":" caps "}"
#define MODERN MODERN_CAPS("{}")

/* A legacy tools/call; `id` and `args` are JSON. */
#define CALL(id, name, args)                                                                       \
	"{\"jsonrpc\":\"2.0\",\"id\":" id                                                          \
	",\"method\":\"tools/call\",\"params\":{\"name\":\"" name "\",\"arguments\":" args "}}"
#define REQUEST(id, method, params)                                                                \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\",\"params\":{" params "}}"
#define NOTE(method, params)                                                                       \
	"{\"jsonrpc\":\"2.0\",\"method\":\"" method "\",\"params\":{" params "}}"
#define CANCEL(id) NOTE("notifications/cancelled", "\"requestId\":" id)

static inline size_t count_of(const char *text, const char *part)
{
	size_t n = 0;

	while (text && (text = strstr(text, part)) != NULL) {
		text += strlen(part);
		n++;
	}
	return n;
}

/* `text` must contain `part`, as it is or as json_of() reads it; both are shown when it does not. */
#define assert_has(text, part) assert_has_(text, part, __FILE__, __LINE__)
static inline void assert_has_(const char *text, const char *part, const char *file, int line)
{
	if (strstr(text, part) || strstr(text, json_of(part)))
		return;
	print_error("wanted: %s\n   in: %.2000s\n", part, text);
	_fail(file, line);
}

#define assert_lacks(text, part) assert_lacks_(text, part, __FILE__, __LINE__)
static inline void assert_lacks_(const char *text, const char *part, const char *file, int line)
{
	if (!strstr(text, part) && !strstr(text, json_of(part)))
		return;
	print_error("not wanted: %s\n   in: %.2000s\n", part, text);
	_fail(file, line);
}

#endif
