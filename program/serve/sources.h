/* program/serve/sources.h - the kinds of things that can be put behind MCP: one function each.
 *
 * Each reads one value of the configuration (already checked against the schema) and adds what it makes
 * to the build, or problems.
 */
#ifndef PROGRAM_SERVE_SOURCES_H
#define PROGRAM_SERVE_SOURCES_H

#include "serve/build.h"

/* tools.NAME with "cmd" or "sh" (command.c). */
void source_command(struct build *b, const char *name, const cleat_json *node);
/* tools.NAME with "http" (web.c). */
void source_web(struct build *b, const char *name, const cleat_json *node);
/* tools.NAME with "sql" (sql.c). */
void source_sql(struct build *b, const char *name, const cleat_json *node);
/* folders.NAME (folder.c). */
void source_folder(struct build *b, const char *name, const cleat_json *node);
/* databases.NAME (database.c). */
void source_database(struct build *b, const char *name, const cleat_json *node);
/* openapi.NAME (openapi.c). */
void source_openapi(struct build *b, const char *name, const cleat_json *node);
/* resources.URI: "file", "glob", "cmd"/"sh", "text"; a URI with {} is a template (resource.c). */
void source_resource(struct build *b, const char *uri, const cleat_json *node);
/* prompts.NAME: "file" or "text" (prompt.c), and each of prompt_dirs. */
void source_prompt(struct build *b, const char *name, const cleat_json *node);
void source_prompt_dir(struct build *b, const cleat_json *node);

#endif
