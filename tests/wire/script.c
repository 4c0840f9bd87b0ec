/* script.c - see script.h. */
#include "script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_file(const char *path, struct text *into)
{
	FILE *f = fopen(path, "rb");
	char piece[4096];
	size_t n;

	if (!f)
		return false;
	while ((n = fread(piece, 1, sizeof piece, f)) > 0)
		text_put(into, piece, n);
	fclose(f);
	return true;
}

static struct step *new_step(struct script *s, int line)
{
	struct step *grown = text_alloc((s->n_steps + 1) * sizeof *grown);

	if (s->n_steps)
		memcpy(grown, s->steps, s->n_steps * sizeof *grown);
	free(s->steps);
	s->steps = grown;
	grown[s->n_steps].line = line;
	return &grown[s->n_steps++];
}

/* "[...] " in front of a line. */
static const char *read_condition(const char *p, struct step *step)
{
	const char *end = *p == '[' ? strchr(p, ']') : NULL;

	if (!end)
		return p;
	step->condition = text_dup(p + 1, (size_t)(end - p - 1));
	for (p = end + 1; *p == ' ';)
		p++;
	return p;
}

static const char *read_mark(const char *p, struct step *step)
{
	static const struct {
		const char *mark;
		enum step_kind kind;
	} marks[] = { { ">raw ", STEP_RAW },
		      { ">rep ", STEP_REPEAT },
		      { "> ", STEP_SEND },
		      { "< ", STEP_EXPECT },
		      { "! ", STEP_DO } };

	if (*p >= '1' && *p <= '4')
		step->conn = *p++ - '1';
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
		size_t n = strlen(marks[i].mark);

		if (strncmp(p, marks[i].mark, n) == 0) {
			step->kind = marks[i].kind;
			return p + n;
		}
	}
	return NULL;
}

static void read_for(struct script *s, const char *list)
{
	while (*list && s->n_revisions < SCRIPT_REVISIONS) {
		size_t n = strcspn(list, " ");

		if (n)
			s->revisions[s->n_revisions++] = text_dup(list, n);
		list += n + (list[n] == ' ');
	}
}

static bool read_line(struct script *s, const char *line, int number)
{
	static const char loop[] = "! for REV in ";
	struct step *step;
	const char *rest;

	if (*line == '\0' || *line == '#')
		return true;
	if (strncmp(line, loop, sizeof loop - 1) == 0) {
		read_for(s, line + sizeof loop - 1);
		return true;
	}
	if (*line == ' ' || *line == '\t') { /* the step before goes on */
		if (!s->n_steps)
			return false;
		while (*line == ' ' || *line == '\t')
			line++;
		text_puts(&s->steps[s->n_steps - 1].text, line);
		return true;
	}
	step = new_step(s, number);
	rest = read_mark(read_condition(line, step), step);
	if (rest)
		text_puts(&step->text, rest);
	return rest != NULL;
}

static bool read_lines(struct script *s, char *at, struct text *problem)
{
	for (int number = 1; *at; number++) {
		char *end = strchr(at, '\n');

		if (end)
			*end = '\0';
		if (!read_line(s, at, number)) {
			text_printf(problem, "%s:%d: cannot be read: %s", s->path, number, at);
			return false;
		}
		if (!end)
			break;
		at = end + 1;
	}
	return true;
}

struct script *script_read(const char *path, const char *name, struct text *problem)
{
	struct script *s = text_alloc(sizeof *s);
	struct text file = { 0 };
	bool ok;

	s->path = text_dup(path, strlen(path));
	s->name = text_dup(name, strlen(name));
	ok = read_file(path, &file);
	if (!ok)
		text_printf(problem, "%s cannot be read", path);
	else if (file.n)
		ok = read_lines(s, file.p, problem);
	text_free(&file);
	if (ok)
		return s;
	script_free(s);
	return NULL;
}

void script_free(struct script *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_steps; i++) {
		free(s->steps[i].condition);
		text_free(&s->steps[i].text);
	}
	for (size_t i = 0; i < s->n_revisions; i++)
		free(s->revisions[i]);
	free(s->steps);
	free(s->path);
	free(s->name);
	free(s);
}

/* ">=2025-06-18", "<2025-06-18", or a list of revisions. */
bool script_applies(const struct step *step, const char *revision)
{
	const char *c = step->condition;
	int order;

	if (!c)
		return true;
	if (!revision)
		return false;
	if (*c != '<' && *c != '>')
		return strstr(c, revision) != NULL;
	order = strcmp(revision, c + 1 + (c[1] == '='));
	if (c[1] == '=' && order == 0)
		return true;
	return *c == '<' ? order < 0 : order > 0;
}
