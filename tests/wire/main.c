/* main.c - wire_runner: plays transcripts against the fixture and says in TAP how they went.
 *
 *	wire_runner [--torture] [--dump FILE] [--only TEXT] [FILE|DIRECTORY]...
 *
 * Every transcript runs for each of its revisions, and each time in whole lines, byte by byte and in
 * odd slices. --torture runs it again and again, each time with the next allocation failing: whatever
 * the answers are then, they are messages, nothing crashes and nothing leaks. --dump writes every message that the server sent as a line of JSON {revision,
 * direction, answers, message}, for test_schema.mjs. --record prints what the server said and nobody
 * expected, instead of failing: revision, line, connection, message; it helps to write transcripts.
 */
#define _POSIX_C_SOURCE 200809L

#include "session.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

struct run {
	const char *only;
	FILE *dump;
	bool record, torture;
	size_t cases, failed;
};

/* A built-in word: what every modern request and result carries. */
static void add_words(struct words *w)
{
	static const char *const lets[][2] = {
		{ "PV", "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"" },
		{ "CI",
		  "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"tester\",\"version\":\"2\"}" },
		{ "CC", "\"io.modelcontextprotocol/clientCapabilities\"" },
		{ "META", "{$PV,$CI,$CC:{}}" },
		{ "META_ALL",
		  "{$PV,$CI,$CC:{\"elicitation\":{\"form\":{},\"url\":{}},\"sampling\":{\"tools\":{}},"
		  "\"roots\":{}}}" },
		{ "INFO",
		  "{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"fixture\",\"version\":"
		  "\"1.0.0\"}}" },
		{ "ALL",
		  "{\"elicitation\":{\"form\":{},\"url\":{}},\"sampling\":{\"tools\":{}},\"roots\":{}}" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(lets); i++)
		words_set(w, lets[i][0], strlen(lets[i][0]), lets[i][1], false);
}

static void report(struct run *r, const struct session *s, bool ok)
{
	r->cases++;
	r->failed += !ok;
	printf("%sok %zu - %s%s%s %s\n", ok ? "" : "not ", r->cases, s->script->name,
	       s->revision ? " " : "", s->revision ? s->revision : "", slicing_name(s->how));
	for (const char *p = ok ? "" : text_str(&s->failure); *p;) {
		size_t n = strcspn(p, "\n");

		printf("# %.*s\n", (int)n, p);
		p += n + (p[n] == '\n');
	}
	fflush(stdout);
}

static void play(struct run *r, const struct script *script, const char *revision, enum slicing how)
{
	struct session *s = text_alloc(sizeof *s);
	bool ok;

	s->script = script;
	s->revision = revision;
	s->how = how;
	s->dump = how == SLICE_LINES ? r->dump : NULL;
	s->record = r->record ? stdout : NULL;
	add_words(&s->words);
	ok = session_run(s);
	if (!r->record || !ok)
		report(r, s, ok);
	session_done(s);
	free(s);
}

struct torment {
	bool more;                  /* the allocation that should fail was reached */
	size_t unanswered, orphans; /* when nothing fails */
};

/* False when something broke, or when an answer was lost. `fail_at` 0: nothing fails. */
static bool play_failing(const struct script *script, const char *revision, size_t fail_at,
			 struct torment *t, struct text *why)
{
	struct session *s = text_alloc(sizeof *s);
	bool ok;

	s->script = script;
	s->revision = revision;
	s->how = SLICE_LINES;
	s->torture = true;
	s->fail_at = fail_at;
	add_words(&s->words);
	ok = session_run(s);
	if (!fail_at) {
		t->unanswered = s->unanswered;
		t->orphans = s->orphans;
	}
	/* Where not even the id could be read, an error without one says so. */
	if (ok && s->unanswered > t->unanswered && s->orphans <= t->orphans) {
		ok = false;
		text_printf(&s->failure, "%zu requests got no answer",
			    s->unanswered - t->unanswered);
	}
	if (!ok)
		text_printf(why, "with allocation %zu failing: %s", fail_at, text_str(&s->failure));
	t->more = s->allocations >= fail_at;
	session_done(s);
	free(s);
	return ok;
}

static void torture(struct run *r, const struct script *script, const char *revision)
{
	struct text why = { 0 };
	struct torment t = { 0 };
	size_t n = 0;
	bool ok = play_failing(script, revision, 0, &t, &why);

	while (ok && t.more)
		ok = play_failing(script, revision, ++n, &t, &why);
	r->cases++;
	r->failed += !ok;
	printf("%sok %zu - %s%s%s with each of %zu allocations failing\n", ok ? "" : "not ",
	       r->cases, script->name, revision ? " " : "", revision ? revision : "", n - 1);
	if (!ok)
		printf("# %s\n", text_str(&why));
	fflush(stdout);
	text_free(&why);
}

static void play_ways(struct run *r, const struct script *script, const char *revision)
{
	int ways = r->record ? 1 : SLICE_COUNT;

	if (r->torture)
		torture(r, script, revision);
	else
		for (int how = 0; how < ways; how++)
			play(r, script, revision, (enum slicing)how);
}

static void play_file(struct run *r, const char *path, const char *name)
{
	struct text problem = { 0 };
	struct script *script;

	if (r->only && !strstr(name, r->only))
		return;
	script = script_read(path, name, &problem);
	if (!script) {
		r->cases++;
		r->failed++;
		printf("not ok %zu - %s can be read\n# %s\n", r->cases, name, text_str(&problem));
	} else if (script->n_steps == 0) {
		r->cases++;
		r->failed++;
		printf("not ok %zu - %s has steps\n", r->cases, name);
	}
	for (size_t i = 0; script && i < (script->n_revisions ? script->n_revisions : 1); i++)
		play_ways(r, script, script->n_revisions ? script->revisions[i] : NULL);
	script_free(script);
	text_free(&problem);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void play_path(struct run *r, const char *path, const char *name);

static void play_directory(struct run *r, DIR *dir, const char *path, const char *name)
{
	char **names = NULL;
	size_t n = 0;

	for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
		char **grown;

		if (e->d_name[0] == '.')
			continue;
		grown = text_alloc((n + 1) * sizeof *grown);
		if (n)
			memcpy(grown, names, n * sizeof *grown);
		free(names);
		names = grown;
		names[n++] = text_dup(e->d_name, strlen(e->d_name));
	}
	if (n)
		qsort(names, n, sizeof *names, by_name);
	for (size_t i = 0; i < n; i++) {
		struct text sub = { 0 }, shown = { 0 };

		text_printf(&sub, "%s/%s", path, names[i]);
		text_printf(&shown, "%s%s%s", name, *name ? "/" : "", names[i]);
		play_path(r, text_str(&sub), text_str(&shown));
		text_free(&sub);
		text_free(&shown);
		free(names[i]);
	}
	free(names);
}

static void play_path(struct run *r, const char *path, const char *name)
{
	size_t n = strlen(path);
	DIR *dir = opendir(path);

	if (dir) {
		play_directory(r, dir, path, name);
		closedir(dir);
	} else if (n > 4 && strcmp(path + n - 4, ".txt") == 0) {
		play_file(r, path, *name ? name : path);
	}
}

int main(int argc, char **argv)
{
	struct run r = { 0 };
	int i = 1;

	for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
		if (strcmp(argv[i], "--record") == 0) {
			r.record = true;
		} else if (strcmp(argv[i], "--torture") == 0) {
			r.torture = true;
		} else if (i + 1 < argc && strcmp(argv[i], "--only") == 0) {
			r.only = argv[++i];
		} else if (i + 1 < argc && strcmp(argv[i], "--dump") == 0) {
			r.dump = fopen(argv[++i], "w");
			if (!r.dump) {
				perror(argv[i]);
				return 2;
			}
		} else {
			fprintf(stderr, "wire_runner: unknown option %s\n", argv[i]);
			return 2;
		}
	}
	if (i == argc)
		play_path(&r, CLEAT_SOURCE_DIR "/tests/wire", "");
	for (; i < argc; i++)
		play_path(&r, argv[i], "");
	if (r.dump)
		fclose(r.dump);
	if (!r.record)
		printf("1..%zu\n", r.cases);
	return r.failed ? 1 : 0;
}
