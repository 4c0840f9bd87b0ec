/* program/serve/config/conf_place.c - where a value stands, and what is wrong there.
 *
 * The values of a document lie in one array in document order (json/node.h), so the number of a value is
 * also its number in the text; the way to it is found by walking down from the root. Lines are bounded,
 * safe for a terminal, and hold no secret: whatever a message was made of, values of secrets are taken
 * out of it again.
 */
#include "serve/config/conf_impl.h"

#include "text/jsonc.h"
#include "wording/show.h"
#include "json/node.h"
#include "json/parse.h"

#include <stdio.h>

enum { SHOWN_LINE_MAX = 2000, SHORTEST_SECRET = 4 };

/* ---- places ---- */

const char *conf_place(struct conf *c, const struct conf_file *f, size_t line, size_t column)
{
	const char *text;

	if (f->option)
		text = arena_printf(&c->arena, "command line: %s", f->option);
	else if (line)
		text = arena_printf(&c->arena, "%s:%zu:%zu", f->path, line, column);
	else
		text = f->path;
	return text ? text : "";
}

const char *conf_where(struct conf *c, const cleat_json *at)
{
	const struct conf_file *f = conf_file_of(c, &at);
	size_t line = 0, column = 0;

	if (!f)
		return "";
	if (f->at)
		jsonc_line(f->text, f->at[node_of(at) - node_of(f->root)], &line, &column);
	return conf_place(c, f, line, column);
}

/* One step of the way: .name or [3]; *at becomes the child that holds v. False: v is *at itself. */
static bool step_down(struct buf *b, const yyjson_val **at, const yyjson_val *v)
{
	cleat_json_iter it = cleat_json_each(node_json(*at));

	if (*at == v)
		return false;
	while (cleat_json_next(&it)) {
		const yyjson_val *child = node_of(it.value);

		if (v >= node_next(child))
			continue;
		if (it.key) {
			if (buf_size(b))
				buf_putc(b, '.');
			show_name(b, json_str(it.key));
		} else {
			buf_printf(b, "[%zu]", it.index);
		}
		*at = child;
		return v >= child; /* before it is its key: that is the place */
	}
	return false;
}

static void write_way(struct buf *b, const struct conf_file *f, const cleat_json *v)
{
	const yyjson_val *at = node_of(f->root);

	while (step_down(b, &at, node_of(v)))
		;
}

/* ---- problems ---- */

void conf_hide_secrets(const struct conf *c, char *text)
{
	for (size_t i = 0; i < c->n_words; i++) {
		const struct conf_word *w = &c->words[i];
		size_t n = w->secret && w->text ? strlen(w->text) : 0;
		char *at = text;

		if (n < SHORTEST_SECRET)
			continue;
		while ((at = strstr(at, w->text)) != NULL) {
			memcpy(at, "****", 4);
			memmove(at + 4, at + n, strlen(at + n) + 1);
			at += 4;
		}
	}
}

static bool is_told(const struct conf *c, const char *line)
{
	for (size_t i = 0; i < c->n_problems; i++)
		if (strcmp(c->problems[i], line) == 0)
			return true;
	return false;
}

void conf_add_problem(struct conf *c, const char *where, const char *message)
{
	struct buf b;
	char *line;

	if (c->n_problems == CONF_PROBLEMS_MAX) {
		c->unsaid++;
		return;
	}
	buf_init(&b, &c->mem, 8 * SHOWN_LINE_MAX);
	if (*where) {
		show_plain(&b, str_of(where));
		buf_appendz(&b, ": ");
	}
	line = arena_strdup(&c->arena, message);
	if (line) {
		conf_hide_secrets(c, line);
		show_plain(&b,
			   (struct str){ line, strlen(line) < SHOWN_LINE_MAX ? strlen(line)
									     : SHOWN_LINE_MAX });
	}
	line = line && !buf_status(&b) ? arena_strndup(&c->arena, buf_str(&b).p, buf_size(&b))
				       : NULL;
	buf_done(&b);
	if (!line)
		c->no_memory = true;
	else if (is_told(c, line))
		c->repeated++;
	else
		c->problems[c->n_problems++] = line;
}

static bool is_doubtful(const struct conf *c, const cleat_json *at)
{
	for (size_t i = 0; i < c->n_doubtful; i++)
		if (at && c->doubtful[i] == at)
			return true;
	return false;
}

static bool is_out_of_memory(const struct conf *c)
{
	return c->no_memory || arena_failed(&c->arena) || arena_failed(&c->scratch);
}

void conf_no_memory(struct conf *c)
{
	c->no_memory = true;
}

void conf_problem(struct conf *c, const cleat_json *at, const char *fmt, ...)
{
	const bool known = is_doubtful(c, at);
	const struct conf_file *f = conf_file_of(c, &at);
	struct buf b;
	va_list ap;

	if (known)
		return;
	if (is_out_of_memory(c)) {
		conf_no_memory(c);
		return;
	}
	if (c->n_problems == CONF_PROBLEMS_MAX) { /* finding the place takes longer than all else */
		c->unsaid++;
		return;
	}
	buf_init(&b, &c->mem, 16 * SHOWN_LINE_MAX);
	if (f)
		write_way(&b, f, at);
	if (buf_size(&b))
		buf_appendz(&b, ": ");
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	buf_putc(&b, '\0');
	if (buf_status(&b))
		c->no_memory = true;
	else
		conf_add_problem(c, f ? conf_where(c, at) : "", buf_str(&b).p);
	buf_done(&b);
}

size_t conf_problems(const struct conf *c)
{
	return c->n_problems + c->repeated + c->unsaid + is_out_of_memory(c);
}

const char *conf_problem_line(const struct conf *c, size_t i)
{
	static const char no_memory[] = "out of memory";
	size_t n = c->n_problems;

	if (i < n)
		return c->problems[i];
	if (c->unsaid && i == n++)
		return "there may be more problems than these";
	return is_out_of_memory(c) && i == n ? no_memory : NULL;
}
