/* tests/unit/negotiate_rig.h - clients that find out what a server speaks, and what servers say to that. */
#ifndef TESTS_NEGOTIATE_RIG_H
#define TESTS_NEGOTIATE_RIG_H

#include "unit/client/client_rig.h"

#define UNSUPPORTED(list)                                                                          \
	"\"error\":{\"code\":-32022,\"message\":\"Unsupported protocol version\","                 \
	"\"data\":{\"supported\":[" list "],\"requested\":\"2026-07-28\"}}"
#define UNKNOWN "\"error\":{\"code\":-32601,\"message\":\"Method not found\"}"
#define BUSY    "\"error\":{\"code\":-32000,\"message\":\"Server not initialized\"}"

static inline void open_stream(struct rig *rig, const cleat_client_options *o)
{
	assert_true(rig_init(rig, o));
	rig_call(rig, "tools/call", "{\"name\":\"t\"}");
	rig_up(rig);
}

static inline void open_http(struct rig *rig, const cleat_client_options *o)
{
	assert_true(rig_init(rig, o));
	rig->link.http = true;
	rig->link.process = false;
	rig_call(rig, "tools/call", "{\"name\":\"t\"}");
	rig_up(rig);
}

static inline void open_any(struct rig *rig, bool http)
{
	if (http)
		open_http(rig, NULL);
	else
		open_stream(rig, NULL);
}

static inline void expect_initialize(struct rig *rig, const char *version)
{
	char part[64];

	snprintf(part, sizeof part, "\"protocolVersion\":\"%s\"", version);
	assert_string_equal(rig_request(rig)->method, "initialize");
	assert_has(rig_request(rig)->text, part);
	assert_true(rig_request(rig)->initialize);
	assert_false(rig_request(rig)->modern);
	assert_int_equal(rig_request(rig)->rev, REV_NONE);
	assert_lacks(rig_request(rig)->text, "_meta");
}

static inline void expect_ready(struct rig *rig, bool modern)
{
	assert_int_equal(client_phase(rig->c), CLIENT_READY);
	assert_int_equal(cleat_client_era(rig->c), modern ? CLEAT_ERA_MODERN : CLEAT_ERA_LEGACY);
	assert_string_equal(rig_request(rig)->method, "tools/call");
	assert_int_equal(rig_request(rig)->modern, modern);
}

#endif
