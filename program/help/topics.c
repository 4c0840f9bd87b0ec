/* program/help/topics.c - what is to be known about all verbs. */
#include "help/help.h"

static const char *const server[] = {
	("Every verb that speaks to a server is told which one by its first word, or by a command after \"--\":"),
	"https://host/mcp\tStreamable HTTP, or HTTP+SSE where it is that",
	"unix:/run/x.sock\tHTTP over a Unix socket; with \"#/path\" after it where it is not at /mcp",
	"tcp://host:port\tone message per line; also unix-stream:/run/x.sock",
	"name\ta server from an existing configuration file; \"cleat config\" lists them",
	"./program\ta program without arguments",
	"-- command ...\ta program with arguments, up to the end or to the next \"--\"",
	("A command cannot have a \"--\" of its own, as the next one ends it: put it into a shell's words, "
	 "-- sh -c 'npx -y some-server -- --port 1' -- add a=1, or into a configuration file."),
	("Options go before or after the server, not inside a command. A program that is named "
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
	"key=@file\tthe text of a file; key:=@file the JSON in it; @- is stdin",
	"'{\"key\": 1}'\tseveral at once",
	"-\tthe same from stdin",
	("Numbers stay as they are typed, whatever their size. Where null is allowed and text is not, null "
	 "is null. Text that begins with @ is written as JSON: key:='\"@name\"'."),
	NULL,
};

static const char *const output[] = {
	("Results go to stdout, everything else to stderr: remarks, what the server writes to its own "
	 "stderr ([server]), progress. On a terminal nothing that a server says can move the cursor or "
	 "change the window: control characters are made visible. A pipe or a file gets text as it is."),
	"--json\tthe protocol's own result in one line (indented on a terminal), with its numbers as they came",
	("--jq EXPR\twhat jq makes of it; text without quotes. libjq before 1.7 (Debian 12) makes every number "
	 "a double: integers beyond 2^53 lose digits there, --json keeps them"),
	("-o FILE\tinto a file, which has its old content until the new one is complete (watch and ping write "
	 "as they go)"),
	"--save DIR\timages, audio and binary data as files",
	"-q\tno remarks and no stderr of the server; with --json there are none unless -v is given",
	"-v\tmessages sent (>) and received (<), and what happens (*), on stderr",
	("With --json, every exit code but 0 comes with one line of JSON on stderr (check, validate and doctor "
	 "have their findings on stdout instead). A tool that failed has a result as well, on stdout."),
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
	 "\"status\", \"rpc\", \"data\"}}, where step says what failed (\"connecting\", \"TLS\"), status is that "
	 "of HTTP, rpc the code of JSON-RPC and data what its error has besides; absent ones are left out."),
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
	"~/.config/Code/User/mcp.json\tVS Code",
	"~/.config/Claude/claude_desktop_config.json\tClaude Desktop",
	("With --config FILE only that one counts. Comments and trailing commas are fine. Variables are "
	 "${VAR}, ${VAR:-default}, ${env:VAR}, ${workspaceFolder} and ${userHome}; one that is not set "
	 "is an error."),
	NULL,
};

static const char *const environment[] = {
	("CLEAT_BEARER\ta token for Authorization at addresses on the command line, where nothing else says one; "
	 "programs that are started do not get it"),
	"CLEAT_BEARER_ORIGIN\tthe addresses that it is for, also those of files, and no others: https://example.com",
	"NO_COLOR\tno colour, when it is not empty",
	"XDG_STATE_HOME\twhere cleat shell keeps its history; default: ~/.local/state",
	"CLEAT_EDITOR_LIBRARY\tlibedit.so.2 or libreadline.so.8 for cleat shell; none: plain lines",
	"http_proxy, https_proxy, no_proxy\tproxies, as for curl",
	NULL,
};

const struct topic help_topics[] = {
	{ "server", "Servers", "how SERVER is written: addresses, commands, names", server },
	{ "arguments", "Arguments", "how arguments of tools are written", arguments },
	{ "output", "Output", "what goes where, for people and for programs", output },
	{ "files", "Files", "configuration files that are read", files },
	{ "environment", "Environment", "variables that count", environment },
	{ "exit-codes", "Exit codes", "what they mean", codes },
	{ 0 },
};
