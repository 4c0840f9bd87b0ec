/* program/serve/config/conf.h - configuration: documents of JSON with comments, where each value knows its place.
 *
 * Several files (those of the command line and what they include) and the options of the command line make
 * one configuration. A problem is reported at a value: "demo.json:12:9: tools.du.timeout: expected a
 * duration such as \"30s\", got \"soon\"". Problems are collected, so that one run shows all.
 *
 * Text is expanded where it is read (conf_text): ${VAR} and ${VAR:-default} from "vars", then "secrets",
 * then the environment; ${configDir} is the directory of the file, ${home} the user's. $$ is a $. What
 * comes in is never expanded again, nothing is given to a shell, an unset variable is a problem. What is
 * given to a shell as a script ("sh") is not expanded: there $name is the shell's own.
 */
#ifndef PROGRAM_SERVE_CONFIG_CONF_H
#define PROGRAM_SERVE_CONFIG_CONF_H

#include "base/arena.h"
#include "base/str.h"

#include <cleat/json.h>

enum {
	CONF_FILE_MAX = 4 << 20,
	CONF_FILES_MAX = 256,
	CONF_PROBLEMS_MAX = 20,
	CONF_WATCHED_MAX = 10000
};

struct conf;

/* The JSON Schema of configuration files. */
const char *conf_schema(void);

struct conf *conf_new(const cleat_allocator *mem);
void conf_free(struct conf *c);
/* Reads a file and what it includes (relative to it; globs; no file twice, so no cycles), and checks each
 * against the schema. Problems are collected. */
void conf_add_file(struct conf *c, const char *path);
/* One option of the command line ("sh", "disk_usage(path: string): du -sh \"$path\""). */
void conf_add_option(struct conf *c, const char *option, const char *value);
/* Variables and secrets are known when all files are there: called once, before any conf_text(). */
void conf_ready(struct conf *c);

/* The files in the order of reading; NULL after the last. Options make a file of their own, called "command
 * line". */
const cleat_json *conf_root(const struct conf *c, size_t i);
const char *conf_path(const struct conf *c, size_t i);
/* From now on values that stand in no file (which a source has made) count as standing here; NULL: nowhere. */
void conf_stand_in(struct conf *c, const cleat_json *place);
/* Does the value come from the command line? */
bool conf_is_typed(const struct conf *c, const cleat_json *at);
/* The directory that relative paths at this value are relative to. */
const char *conf_dir(const struct conf *c, const cleat_json *at);

/* ---- reading: NULL nodes give the fallback; all texts live as long as the conf ---- */

const char *conf_text(struct conf *c, const cleat_json *v, const char *fallback); /* expanded */
/* The same for what clients are shown: a secret in it is a problem. */
const char *conf_shown(struct conf *c, const cleat_json *v, const char *fallback);
/* The same for text with {places} (argtext.h): braces that come in with a variable are doubled, so that they
 * stay what they are. */
const char *conf_template(struct conf *c, const cleat_json *v, const char *fallback);
const char *conf_raw(const cleat_json *v, const char *fallback); /* not expanded */
/* An expanded path, made absolute with conf_dir(); "~/" is the user's home. */
const char *conf_path_at(struct conf *c, const cleat_json *v);
/* "30s", "250ms", "2m", "1h", or a number of seconds. */
uint64_t conf_ms(struct conf *c, const cleat_json *v, uint64_t fallback);
/* The same for a limit: 0 (none) has to be said as "none". */
uint64_t conf_timeout(struct conf *c, const cleat_json *v, uint64_t fallback);
/* "64KB", "1MB", "2GiB" (KB and KiB are 1024 here), or a number of bytes. */
size_t conf_bytes(struct conf *c, const cleat_json *v, size_t fallback);
/* The same for a limit: "none" is 0, and 0 itself is a problem. */
uint64_t conf_limit(struct conf *c, const cleat_json *v, uint64_t fallback);
/* A secret's value must never be shown: true when expanding this text used one. */
bool conf_is_secret(const struct conf *c, const cleat_json *v);
/* Takes the secrets that were used so far out of a text that is to be shown; it does not grow. */
void conf_hide_secrets(const struct conf *c, char *text);

/* As conf_text, but what cannot be expanded is given as it is, and is no problem. */
const char *conf_loose_text(struct conf *c, const cleat_json *v);

/* ---- watching ---- */

/* A file or directory whose change is a change of the configuration: its own files and the directories
 * that "include" looks into are there by themselves. */
void conf_watch(struct conf *c, const char *path);
/* The i-th; NULL after the last. */
const char *conf_watched(const struct conf *c, size_t i);

/* ---- problems ---- */

/* Adds a problem at a value (NULL: no place). Secrets are never part of a message. */
void conf_problem(struct conf *c, const cleat_json *at, const char *fmt, ...) CLEAT_PRINTF(3, 4);
/* There was no memory for something: that is the problem, and no other is told after it, because it may only
 * follow from that. (An arena of the conf that has failed says so by itself.) */
void conf_no_memory(struct conf *c);
size_t conf_problems(const struct conf *c);
/* "file:line:column: path: message", one line, terminal-safe; NULL after the last. */
const char *conf_problem_line(const struct conf *c, size_t i);
/* "file:line:column" of a value, for messages that name another place. */
const char *conf_where(struct conf *c, const cleat_json *at);
/* Lives as long as the conf. */
struct arena *conf_arena(struct conf *c);
/* For what is needed while an entry is made, and not after that: of a thousand tools it is as large as of one. */
struct arena *conf_scratch(struct conf *c);
/* Everything in the scratch is gone. */
void conf_scratch_reset(struct conf *c);

#endif
