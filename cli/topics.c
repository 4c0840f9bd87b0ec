/* cli/topics.c - what is to be known about all verbs. */
#include "help.h"

static const char *const server[] = {
	("Every verb that speaks to a server is told which one by its first word, or by a command "
	 "behind \"--\":"),
	"https://host/mcp\tStreamable HTTP, or HTTP+SSE where it is that",
	"unix:/run/x.sock\tHTTP over a Unix socket; \"#/path\" behind it when it is not at /mcp",
	"tcp://host:port\tone message per line; also unix-stream:/run/x.sock",
	"name\ta server of a configuration file that is there already; \"cleat config\" lists them",
	"./program\ta program without arguments",
	"-- command ...\ta program with arguments, up to the end or to the next \"--\"",
	("Options stand before or behind the server, not inside of a command. A program that is named "
	 "on the command line gets the whole environment, one of a configuration file only HOME, PATH "
	 "and the like, and what the file says."),
	NULL,
};

static const char *const arguments[] = {
	("Arguments of tools are checked and typed by the tool's own schema (\"cleat show\" prints it) "
	 "before anything is sent:"),
	"key=value\ta number, a boolean or text, as the schema wants it",
	"key:=json\tJSON as it is: tags:='[\"a\", \"b\"]'",
	"key=a key=b\tan array, where the schema wants one",
	"key=@file\tthe text of a file; key:=@file the JSON in it",
	"'{\"key\": 1}'\tseveral at once",
	"-\tthe same from stdin",
	NULL,
};

static const char *const codes[] = {
	"0\tall is well",
	"1\tsomething else: a file, no memory, a question that nobody could answer",
	"2\tthe command line is wrong, or an argument does not fit the tool; nothing was sent",
	"3\tauthorization is needed",
	"4\tthe server cannot be started or reached, or was lost",
	"5\tthe tool failed, or there is no such tool, prompt or resource",
	"6\tthe server broke the protocol",
	"7\ta check found something",
	"124\tit took too long",
	"130\tinterrupted (143: by SIGTERM)",
	("With --json an error is one line of JSON on stderr: {\"error\":{\"code\", \"message\", \"step\", "
	 "\"status\", \"rpc\"}}, where step says what failed (\"connecting\", \"TLS\"), status is that of "
	 "HTTP and rpc the code of JSON-RPC; those that there are none of are left out."),
	NULL,
};

static const char *const files[] = {
	"Names of servers are looked for in these files, which are only read; an earlier one wins:",
	"~/.claude.json\tClaude Code: what it has for this directory only",
	".mcp.json\tthis project",
	".vscode/mcp.json\tVS Code, this project",
	".cursor/mcp.json\tCursor, this project",
	"~/.claude.json\tClaude Code: what it has everywhere",
	"~/.cursor/mcp.json\tCursor",
	"~/.config/Claude/claude_desktop_config.json\tClaude Desktop",
	("With --config FILE only that one counts. Comments and trailing commas are fine. Variables are "
	 "${VAR}, ${VAR:-default}, ${env:VAR}, ${workspaceFolder} and ${userHome}; one that is not set "
	 "is an error."),
	NULL,
};

static const char *const environment[] = {
	"CLEAT_BEARER\ta token for Authorization, where nothing else says one",
	"NO_COLOR\tno colour, when it is not empty",
	"XDG_STATE_HOME\twhere cleat shell keeps its history; default: ~/.local/state",
	"CLEAT_EDITOR_LIBRARY\tlibedit.so.2 or libreadline.so.8 for cleat shell; none: plain lines",
	"http_proxy, https_proxy, no_proxy\tproxies, as for curl",
	NULL,
};

const struct topic help_topics[] = {
	{ "server", "Servers", server },       { "arguments", "Arguments", arguments },
	{ "files", "Files", files },           { "environment", "Environment", environment },
	{ "exit-codes", "Exit codes", codes }, { 0 },
};
