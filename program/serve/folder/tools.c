/* program/serve/folder/tools.c - folders.NAME of the configuration: which tools a folder has and what they say about
 * themselves. One folder alone has tools with plain names, several put theirs before them.
 */
#include "serve/folder/folder.h"

#include "serve/folder/source.h"

#include <stdio.h>
#include <sys/stat.h>

#define TEXT(name, words) "\"" name "\":{\"type\":\"string\",\"description\":\"" words "\"}"
#define NUMBER(name, words)                                                                        \
	"\"" name "\":{\"type\":\"integer\",\"minimum\":1,\"description\":\"" words "\"}"
#define FLAG(name, words)                                                                          \
	"\"" name "\":{\"type\":\"boolean\",\"default\":false,\"description\":\"" words "\"}"
#define OBJECT(required, properties)                                                               \
	"{\"type\":\"object\",\"properties\":{" properties "},\"required\":[" required             \
	"],\"additionalProperties\":false}"
#define PATH "relative to the folder, such as notes/todo.md"
#define ENTRY                                                                                      \
	TEXT("path", "Relative to the folder")                                                     \
	",\"type\":{\"enum\":[\"file\",\"directory\",\"link\",\"other\"]},"                        \
	"\"size\":{\"type\":\"integer\",\"description\":\"Bytes of a file\"},"                     \
	"\"modified\":{\"type\":\"string\",\"format\":\"date-time\"}"

struct kind {
	const char *name, *title, *description;
	cleat_handler *call;
	const char *input, *output;
	bool writes;
	int8_t destructive, idempotent;
};

static const struct kind kinds[] = {
	{ "list_files", "List files",
	  "List files and directories, sorted by name, in pages. Hidden and excluded files are left "
	  "out, links are not followed.",
	  folder_list,
	  OBJECT("",
		 "\"path\":{\"type\":\"string\",\"default\":\"\",\"description\":\"Directory, "
		 "relative to the folder; empty: the folder itself\"}," FLAG("recursive", "Also what is in the directories below") "," TEXT(
			 "glob",
			 "Only what matches, such as *.md (a name anywhere) or src/**/*.c "
			 "(a path from the folder on)") "," TEXT("cursor",
								 "next_cursor of the page before") ","
												   "\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":5000,\"default\":"
												   "200,\"description\":\"Entries of a page\"}"),
	  OBJECT("\"entries\"",
		 "\"entries\":{\"type\":\"array\",\"items\":" OBJECT(
			 "\"path\",\"type\",\"modified\"",
			 ENTRY) "}," TEXT("next_cursor",
					  "There is more: give this as cursor") ","
										"\"unread\":{\"type\":\"integer\",\"description\":\"Directories that "
										"could not be read\"}"),
	  false, CLEAT_UNSET, CLEAT_UNSET },
	{ "read_file", "Read a file",
	  "Read a text file, whole or some of its lines, or an image, a sound or another file whole. "
	  "When a text is longer than an answer may be, the answer says how to go on.",
	  folder_read,
	  OBJECT("\"path\"",
		 TEXT("path", "The file, " PATH) "," NUMBER("offset", "First line, from 1") "," NUMBER(
			 "limit",
			 "Number of lines") "," NUMBER("head",
						       "Only this many of the first lines") "," NUMBER("tail",
												       "Only this many of the last lines")),
	  NULL, false, CLEAT_UNSET, CLEAT_UNSET },
	{ "search_files", "Search in files",
	  "Find lines by a regular expression (PCRE2, one line at a time) or plain text in all text "
	  "files, or in those that match a glob. Gives path:line: text.",
	  folder_search,
	  OBJECT("\"pattern\"",
		 "\"pattern\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":4096,"
		 "\"description\":\"Regular expression, or plain text with literal\"},"
		 "\"path\":{\"type\":\"string\",\"default\":\"\",\"description\":\"Directory or "
		 "file, relative to the folder; empty: everything\"}," TEXT("glob", "Only files that match, such as *.md or src/**/*.c") "," FLAG(
			 "ignore_case",
			 "Ignore case") "," FLAG("literal",
						 "The pattern is plain text") ","
									      "\"context\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":20,\"default\":0,"
									      "\"description\":\"Lines to show before and after each match\"},"
									      "\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":10000,\"default\":100,"
									      "\"description\":\"Most matches\"}"),
	  OBJECT("\"matches\",\"files\",\"truncated\"",
		 "\"matches\":{\"type\":\"array\",\"items\":" OBJECT(
			 "\"path\",\"line\",\"column\",\"text\"",
			 TEXT("path",
			      "Relative to the folder") ","
							"\"line\":{\"type\":\"integer\"},\"column\":{\"type\":\"integer\"},"
							"\"text\":{\"type\":\"string\"},"
							"\"before\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
							"\"after\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}") "},"
															  "\"files\":{\"type\":\"integer\",\"description\":\"Files that were searched\"},"
															  "\"truncated\":{\"type\":\"boolean\",\"description\":\"There may be more\"}"),
	  false, CLEAT_UNSET, CLEAT_UNSET },
	{ "stat_file", "Look at a file",
	  "Tell type, size, time of the last change and MIME type of a file or directory.",
	  folder_stat, OBJECT("\"path\"", TEXT("path", "File or directory, " PATH)),
	  OBJECT("\"path\",\"type\",\"modified\"", ENTRY "," TEXT("mime", "MIME type of a file")),
	  false, CLEAT_UNSET, CLEAT_UNSET },
	{ "write_file", "Write a file",
	  "Write a text file: a new one, or with overwrite in place of an old one. It is written "
	  "whole or not at all.",
	  folder_write,
	  OBJECT("\"path\",\"content\"",
		 TEXT("path", "The file, " PATH) "," TEXT("content", "All of the new content") "," FLAG(
			 "overwrite",
			 "Replace a file that exists") "," FLAG("parents",
								"Make missing directories")),
	  OBJECT("\"path\",\"size\",\"created\"",
		 TEXT("path", "The file") ",\"size\":{\"type\":\"integer\"},"
					  "\"created\":{\"type\":\"boolean\"}"),
	  true, CLEAT_YES, CLEAT_YES },
	{ "edit_file", "Edit a file",
	  "Replace a piece of text in a file by another one. The old text must occur exactly once, or "
	  "all must be set. Gives the difference.",
	  folder_edit,
	  OBJECT("\"path\",\"old\",\"new\"",
		 TEXT("path", "The file, " PATH) "," TEXT("old", "The text to replace, exactly as it stands in the file") "," TEXT(
			 "new", "What comes in its place") "," FLAG("all",
								    "Replace every occurrence")),
	  OBJECT("\"path\",\"replaced\",\"diff\"",
		 TEXT("path", "The file") ",\"replaced\":{\"type\":\"integer\"}," TEXT(
			 "diff", "The difference, unified")),
	  true, CLEAT_YES, CLEAT_NO },
	{ "move_file", "Move a file", "Move or rename a file or directory within the folder.",
	  folder_move,
	  OBJECT("\"from\",\"to\"",
		 TEXT("from", "What to move, relative to the folder") "," TEXT("to", "Its new path, relative to the folder") "," FLAG(
			 "overwrite",
			 "Replace a file that exists") "," FLAG("parents",
								"Make missing directories")),
	  OBJECT("\"from\",\"to\"", TEXT("from", "The old path") "," TEXT("to", "The new path")),
	  true, CLEAT_YES, CLEAT_NO },
	{ "remove_file", "Remove a file", "Remove a file, a link or an empty directory.",
	  folder_remove, OBJECT("\"path\"", TEXT("path", "What to remove, " PATH)),
	  OBJECT("\"path\"", TEXT("path", "What was removed")), true, CLEAT_YES, CLEAT_NO },
};

static void add_tool(struct draft *b, const cleat_json *node, const char *recipe, struct folder *f,
		     const struct kind *k)
{
	struct arena *ar = conf_arena(b->conf);
	const char *about = conf_shown(b->conf, cleat_json_get(node, "description"), NULL);
	const char *list = f->list_tool;
	int prefix = (int)(strlen(list) - strlen("list_files"));
	cleat_tool t = { .name = arena_printf(ar, "%.*s%s", prefix, list, k->name),
			 .title = k->title,
			 .description = about ? arena_printf(ar, "%s The folder: %s",
							     k->description, about)
					      : k->description,
			 .call = k->call,
			 .input_schema = k->input,
			 .output_schema = k->output,
			 .read_only = k->writes ? CLEAT_NO : CLEAT_YES,
			 .destructive = k->destructive,
			 .idempotent = k->idempotent,
			 .open_world = CLEAT_NO,
			 .blocking = true,
			 .userdata = folder_ref(f),
			 .destroy = folder_unref };

	draft_tool(b, node, recipe, &t);
}

enum { LISTED_MAX = 100 };

static void add_resources(struct draft *b, const char *name, const cleat_json *node,
			  const char *recipe, struct folder *f)
{
	const cleat_resource about = { .name = name,
				       .description = conf_shown(
					       b->conf, cleat_json_get(node, "description"),
					       "Any file of the folder, by its path") };

	folder_resources(b, node, recipe, f, &about, LISTED_MAX);
}

void source_folder(struct draft *b, const char *name, const cleat_json *node)
{
	bool write = cleat_json_bool(cleat_json_get(node, "write"), false);
	struct folder *f = folder_new(b, name, node);
	const char *recipe;
	struct stat st = { 0 };

	if (!f)
		return;
	/* Another directory of the same name is another folder. */
	fstat(f->root.fd, &st);
	recipe = arena_printf(conf_arena(b->conf), "%s %llu %llu %s", f->list_tool,
			      (unsigned long long)st.st_dev, (unsigned long long)st.st_ino,
			      draft_recipe(b, node));
	for (size_t i = 0; i < CLEAT_COUNT(kinds); i++)
		if (cleat_json_bool(cleat_json_get(node, "tools"), true) &&
		    (write || !kinds[i].writes))
			add_tool(b, node, recipe, f, &kinds[i]);
	if (cleat_json_bool(cleat_json_get(node, "resources"), true))
		add_resources(b, name, node, recipe, f);
	folder_unref(f);
}
