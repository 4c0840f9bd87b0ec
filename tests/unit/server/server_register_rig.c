/* server_register_rig.c - see server_register_rig.h. */
#include "unit/server/server_register_rig.h"

int ok(cleat_request *req)
{
	return cleat_reply_text(req, "ok");
}

void count_destroy(void *userdata)
{
	++*(int *)userdata;
}

/* What an add gave for something that counts in `destroyed`; the server is gone then. */
static void assert_refused(struct rig *r, int rc, int status, const char *why, const int *destroyed)
{
	assert_int_equal(rc, status);
	assert_int_equal(*destroyed, 1);
	assert_int_equal(cleat_server_error(r->s)->status, status);
	assert_has(cleat_server_error(r->s)->message, why);
	assert_null(strchr(cleat_server_error(r->s)->message, '\n'));
	assert_has(r->notes, why); /* the log hears it, too */
	assert_null(cleat_wire_server(r->s, NULL));
	rig_stop(r);
	assert_int_equal(*destroyed, 1);
}

void assert_tool_refused(const cleat_tool *tool, int status, const char *why)
{
	cleat_tool copy = *tool;
	int destroyed = 0;
	struct rig r;

	copy.destroy = count_destroy;
	copy.userdata = &destroyed;
	rig_server(&r, NULL);
	assert_refused(&r, cleat_server_add_tool(r.s, &copy), status, why, &destroyed);
}

void assert_resource_refused(const cleat_resource *resource, int status, const char *why)
{
	cleat_resource copy = *resource;
	int destroyed = 0;
	struct rig r;

	copy.destroy = count_destroy;
	copy.userdata = &destroyed;
	rig_server(&r, NULL);
	assert_refused(&r, cleat_server_add_resource(r.s, &copy), status, why, &destroyed);
}

void assert_prompt_refused(const cleat_prompt *prompt, int status, const char *why)
{
	cleat_prompt copy = *prompt;
	int destroyed = 0;
	struct rig r;

	copy.destroy = count_destroy;
	copy.userdata = &destroyed;
	rig_server(&r, NULL);
	assert_refused(&r, cleat_server_add_prompt(r.s, &copy), status, why, &destroyed);
}
