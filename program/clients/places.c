/* program/clients/places.c - where the programs that have MCP servers keep their list of them.
 *
 * XDG_CONFIG_HOME is honoured where the program itself does so on Linux.
 */
#include "clients/places.h"

#include "clients/config.h"

#include <stdlib.h>
#include <string.h>

static const struct place known[] = {
	{ "claude-code", "Claude Code", false, "mcpServers", ".claude.json", NULL, false },
	{ "claude-code", "this project", true, "mcpServers", ".mcp.json", NULL, false },
	{ "claude-desktop", "Claude Desktop", false, "mcpServers",
	  ".config/Claude/claude_desktop_config.json", NULL, true },
	{ "cursor", "Cursor", false, "mcpServers", ".cursor/mcp.json", NULL, false },
	{ "cursor", "Cursor", true, "mcpServers", ".cursor/mcp.json", NULL, false },
	{ "vscode", "VS Code", false, "servers", ".config/Code/User/mcp.json", NULL, false },
	{ "vscode", "VS Code", true, "servers", ".vscode/mcp.json", NULL, false },
};
_Static_assert(CLEAT_COUNT(known) <= PLACES_MAX, "all of them fit");

static struct place places_resolve(struct place p)
{
	static const char config[] = ".config/";
	const char *xdg = getenv("XDG_CONFIG_HOME");

	p.shown = p.project ? p.path : keepf("~/%s", p.path);
	if (p.project)
		return p;
	if (xdg && *xdg == '/' && strncmp(p.path, config, sizeof config - 1) == 0)
		p.path = p.shown = keepf("%s/%s", xdg, p.path + sizeof config - 1);
	else
		p.path = keepf("%s/%s", config_home(), p.path);
	return p;
}

size_t places_all(struct place ret[PLACES_MAX])
{
	for (size_t i = 0; i < CLEAT_COUNT(known); i++)
		ret[i] = places_resolve(known[i]);
	return CLEAT_COUNT(known);
}

bool places_find(const char *client, bool project, struct place *ret)
{
	for (size_t i = 0; i < CLEAT_COUNT(known); i++)
		if (strcmp(known[i].client, client) == 0 && known[i].project == project) {
			*ret = places_resolve(known[i]);
			return true;
		}
	return false;
}
