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

	if (*p >= '1' && *p <= '9')
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

/* "! each NAME... in ROW || ROW": "! let" for the values of the row, which are separated by ";;". */
static void read_each(struct script *s, const char *line, int number, size_t row)
{
	const char *names = line + strlen("! each "), *values = strstr(line, " in ") + 4;

	for (const char *end; row && (end = strstr(values, "||")) != NULL; row--)
		values = end + 2;
	while (strncmp(names, "in ", 3) != 0) {
		size_t n = strcspn(names, " "), length = strcspn(values, "|;");
		struct step *step = new_step(s, number);

		while (values[length] && values[length + 1] != values[length])
			length += 1 + strcspn(values + length + 1, "|;");
		while (*values == ' ')
			values++, length--;
		step->kind = STEP_DO;
		text_printf(&step->text, "let %.*s = %.*s", (int)n, names, (int)length, values);
		while (step->text.p[step->text.n - 1] == ' ')
			step->text.p[--step->text.n] = '\0';
		values += length + (values[length] == ';' ? 2 : 0);
		names += n + 1;
	}
}

static bool is_each(const char *line)
{
	return strncmp(line, "! each ", 7) == 0 && strstr(line, " in ") != NULL;
}

static size_t rows_of(const char *line)
{
	size_t n = 1;

	while ((line = strstr(line, "||")) != NULL)
		line += 2, n++;
	return n;
}

/* "STEP => ANSWER => ANSWER": what is expected, on the same connection. */
static void read_answers(struct script *s, size_t first, const char *rest)
{
	for (struct step *step = &s->steps[first];;) {
		const char *end = strstr(rest, " => ");

		text_put(&step->text, rest, end ? (size_t)(end - rest) : strlen(rest));
		if (!end)
			return;
		rest = end + 4;
		step = new_step(s, s->steps[first].line);
		step->kind = STEP_EXPECT;
		step->conn = s->steps[first].conn;
		if (s->steps[first].condition)
			step->condition = text_dup(s->steps[first].condition,
						   strlen(s->steps[first].condition));
	}
}

static bool read_line(struct script *s, const char *line, int number, size_t row)
{
	static const char loop[] = "! for REV in ";
	struct step *step;
	const char *rest;

	if (is_each(line)) {
		read_each(s, line, number, row);
		return true;
	}
	if (strncmp(line, loop, sizeof loop - 1) == 0) {
		read_for(s, line + sizeof loop - 1);
		return true;
	}
	step = new_step(s, number);
	rest = read_mark(read_condition(line, step), step);
	if (rest)
		read_answers(s, s->n_steps - 1, rest);
	return rest != NULL;
}

/* A file as lines, with those that go on put together, and without comments. */
struct file {
	struct text *lines;
	int *numbers;
	size_t n;
};

static void file_add(struct file *f, const char *line, size_t n, int number)
{
	if (!n || *line == '#')
		return;
	if (f->n && (*line == ' ' || *line == '\t')) {
		while (n && (*line == ' ' || *line == '\t'))
			line++, n--;
		text_put(&f->lines[f->n - 1], line, n);
		return;
	}
	text_put(&f->lines[f->n], line, n);
	f->numbers[f->n++] = number;
}

static bool file_read(struct file *f, const char *path)
{
	struct text whole = { 0 };
	int number = 1;

	if (!read_file(path, &whole))
		return false;
	for (const char *p = text_str(&whole); *p; p++)
		number += *p == '\n';
	f->lines = text_alloc((size_t)number * sizeof *f->lines);
	f->numbers = text_alloc((size_t)number * sizeof *f->numbers);
	number = 1;
	for (const char *p = text_str(&whole); *p; number++) {
		size_t n = strcspn(p, "\n");

		file_add(f, p, n, number);
		p += n + (p[n] == '\n');
	}
	text_free(&whole);
	return true;
}

static void file_free(struct file *f)
{
	for (size_t i = 0; i < f->n; i++)
		text_free(&f->lines[i]);
	free(f->lines);
	free(f->numbers);
}

static bool is_title(const struct file *f, size_t i)
{
	return strncmp(text_str(&f->lines[i]), "== ", 3) == 0;
}

static bool read_lines(struct script *s, const struct file *f, size_t from, size_t to, size_t row,
		       struct text *problem)
{
	for (size_t i = from; i < to; i++)
		if (!read_line(s, text_str(&f->lines[i]), f->numbers[i], row)) {
			text_printf(problem, "%s:%d: cannot be read: %s", s->path, f->numbers[i],
				    text_str(&f->lines[i]));
			return false;
		}
	return true;
}

/* The case at [from, to), where a title may appear first, with this row of its "! each". */
static struct script *read_case(const struct file *f, size_t preamble, size_t from, size_t to,
				size_t row, const char *path, const char *name,
				struct text *problem)
{
	struct script *s = text_alloc(sizeof *s);
	struct text full = { 0 };
	bool titled = from < to && is_title(f, from);

	text_printf(&full, "%s%s%s", name, titled ? ": " : "",
		    titled ? text_str(&f->lines[from]) + 3 : "");
	if (row)
		text_printf(&full, " (%zu)", row + 1);
	s->path = text_dup(path, strlen(path));
	s->name = text_dup(text_str(&full), full.n);
	text_free(&full);
	if (read_lines(s, f, 0, preamble, row, problem) &&
	    read_lines(s, f, from + titled, to, row, problem))
		return s;
	script_free(s);
	return NULL;
}

static size_t count_rows(const struct file *f, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (is_each(text_str(&f->lines[i])))
			return rows_of(text_str(&f->lines[i]));
	return 1;
}

static bool read_cases(const struct file *f, const char *path, const char *name,
		       struct script **ret, struct text *problem)
{
	size_t preamble = 0, to;

	while (preamble < f->n && !is_title(f, preamble))
		preamble++;
	if (preamble == f->n) /* the file is one case */
		preamble = 0;
	for (size_t from = preamble; from < f->n || from == 0; from = to) {
		size_t rows;

		for (to = from + 1; to < f->n && !is_title(f, to); to++)
			;
		if (to > f->n)
			to = f->n;
		rows = count_rows(f, from, to);
		for (size_t row = 0; row < rows; row++) {
			*ret = read_case(f, preamble, from, to, row, path, name, problem);
			if (!*ret)
				return false;
			ret = &(*ret)->next;
		}
		if (f->n == 0)
			break;
	}
	return true;
}

struct script *script_read(const char *path, const char *name, struct text *problem)
{
	struct file f = { 0 };
	struct script *first = NULL;
	bool ok = file_read(&f, path);

	if (!ok)
		text_printf(problem, "%s cannot be read", path);
	ok = ok && read_cases(&f, path, name, &first, problem);
	file_free(&f);
	if (ok)
		return first;
	script_free(first);
	return NULL;
}

void script_free(struct script *s)
{
	while (s) {
		struct script *next = s->next;

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
		s = next;
	}
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

bool script_stage(const struct script *s, const char *name)
{
	const char *first = s->n_steps ? text_str(&s->steps[0].text) : "";

	return strncmp(first, "stage ", 6) == 0 && (!name || strcmp(first + 6, name) == 0);
}

bool script_does(const struct script *s, const char *directive)
{
	for (size_t i = 0; i < s->n_steps; i++)
		if (s->steps[i].kind == STEP_DO &&
		    strcmp(text_str(&s->steps[i].text), directive) == 0)
			return true;
	return false;
}
