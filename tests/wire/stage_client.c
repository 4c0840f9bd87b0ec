#include "session.h"
static bool none(struct session *s)
{
	return session_fail(s, "no such stage");
}
static void nothing(struct session *s)
{
	(void)s;
}
const struct stage stage_client = { .name = "client", .open = none, .close = nothing };
