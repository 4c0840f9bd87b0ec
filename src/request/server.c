/* request/server.c - see server.h. */
#include "request/server.h"

static bool announces(const cleat_server *s, enum shelf_kind kind, unsigned cap)
{
	return s->registry.shelves[kind].ever || (s->opts.capabilities & cap);
}

bool server_has_tools(const cleat_server *s)
{
	return announces(s, SHELF_TOOLS, CLEAT_CAP_TOOLS);
}

bool server_has_resources(const cleat_server *s)
{
	return announces(s, SHELF_RESOURCES, CLEAT_CAP_RESOURCES) ||
	       s->registry.shelves[SHELF_TEMPLATES].ever;
}

bool server_has_prompts(const cleat_server *s)
{
	return announces(s, SHELF_PROMPTS, CLEAT_CAP_PROMPTS);
}

bool server_has_completions(const cleat_server *s)
{
	return s->registry.completes || (s->opts.capabilities & CLEAT_CAP_COMPLETIONS);
}
