/* main.c - wire_runner: plays transcripts and says in TAP how they went.
 *
 *	wire_runner [--torture [--from-start]] [--dump FILE] [--only TEXT] [FILE|DIRECTORY]...
 *
 * Every transcript runs for each of its revisions, and each time in whole lines, byte by byte and in
 * odd slices. --torture runs it again and again instead, each time with the next allocation failing:
 * see torture.h. --dump writes every message that the server sent as a line of JSON {revision,
 * direction, answers, message}, for test_schema.mjs. --record prints what the server said and nobody
 * expected, instead of failing: revision, line, connection, message; it helps to write transcripts.
 */
#include "session.h"
#include "torture.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

struct run {
	const char *only;
	FILE *dump;
	bool record, torture, from_start;
	size_t cases, failed;
};

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

/* Transcripts in refused/ must fail: they prove that the runner can. */
static bool is_refused(const struct script *script)
{
	return strstr(script->name, "refused/") != NULL;
}

static void play(struct run *r, const struct script *script, const char *revision, enum slicing how)
{
	struct session *s = text_alloc(sizeof *s);
	bool ok;

	s->script = script;
	s->revision = revision;
	s->how = how;
	s->dump = how == SLICE_LINES && !is_refused(script) ? r->dump : NULL;
	s->record = r->record ? stdout : NULL;
	ok = session_run(s) != is_refused(script);
	if (!r->record || !ok)
		report(r, s, ok);
	session_done(s);
	free(s);
}

static void torture(struct run *r, const struct script *script, const char *revision)
{
	struct torture_counts counts = { 0 };
	struct text why = { 0 };
	bool ok = torture_run(script, revision, r->from_start, &counts, &why);

	r->cases++;
	r->failed += !ok;
	printf("%sok %zu - %s%s%s with each of %zu allocations failing, %zu runs\n",
	       ok ? "" : "not ", r->cases, script->name, revision ? " " : "",
	       revision ? revision : "", counts.allocations, counts.runs);
	if (!ok)
		printf("# %s\n", text_str(&why));
	fflush(stdout);
	text_free(&why);
}

/* Again and again, each time with the next allocation after "! starve" failing, alone or with all that follow. */
static void starve(struct run *r, const struct script *script, const char *revision)
{
	struct session s = { 0 };
	bool ok = true;

	for (int good = 0; ok && good < 2; good++) {
		bool hit = true;

		for (size_t n = 1; ok && hit; n++) {
			s = (struct session){ .script = script,
					      .revision = revision,
					      .fail_at = n,
					      .fail_for_good = good };
			ok = session_run(&s) || s.gave_up;
			if (!ok)
				report(r, &s, ok);
			session_done(&s);
			hit = s.hit;
		}
	}
	if (ok)
		report(r, &s, ok);
}

static void play_ways(struct run *r, const struct script *script, const char *revision)
{
	int ways = r->record ? 1 : SLICE_COUNT;

	if (r->torture && (is_refused(script) || script_stage(script, NULL)))
		return;
	if (r->torture)
		torture(r, script, revision);
	else if (script_does(script, "starve"))
		starve(r, script, revision);
	else
		for (int how = 0; how < (script_stage(script, "client") ? 1 : ways); how++)
			play(r, script, revision, (enum slicing)how);
}

static void play_file(struct run *r, const char *path, const char *name)
{
	struct text problem = { 0 };
	struct script *first = script_read(path, name, &problem);

	if (!first) {
		r->cases++;
		r->failed++;
		printf("not ok %zu - %s can be read\n# %s\n", r->cases, name, text_str(&problem));
	}
	for (struct script *script = first; script; script = script->next) {
		if (r->only && !strstr(script->name, r->only))
			continue;
		if (script->n_steps == 0) {
			r->cases++;
			r->failed++;
			printf("not ok %zu - %s has steps\n", r->cases, script->name);
		}
		for (size_t i = 0; i < (script->n_revisions ? script->n_revisions : 1); i++)
			play_ways(r, script, script->n_revisions ? script->revisions[i] : NULL);
	}
	script_free(first);
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
		} else if (strcmp(argv[i], "--from-start") == 0) {
			r.from_start = true;
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
