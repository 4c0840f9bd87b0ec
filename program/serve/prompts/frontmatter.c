/* program/serve/prompts/frontmatter.c - lines to JSON (frontmatter.h).
 *
 * One pass, line by line; the text of a JSON object is written as it goes and parsed at the end, so that
 * what comes out is an ordinary value. Two levels at the most (a key, its list, the members of an item), and
 * each has a function of its own: no recursion, no general tree.
 */
#include "serve/prompts/frontmatter.h"

#include "base/error.h"
#include "json/build.h"
#include "json/parse.h"
#include "json/writer.h"

struct front_reader {
	struct str text; /* what is between the marks */
	size_t at;       /* of the next line */
	int number;      /* of the line in `line`, from 1 (the opening mark) */
	struct str line; /* without its end and without the indent */
	size_t indent;
	struct buf *scratch;
	struct jw *w;
	cleat_error *err;
};

static bool wrong(struct front_reader *r, const char *what)
{
	error_set(r->err, CLEAT_EINVAL, "line %d: %s", r->number, what);
	return false;
}

/* ---- lines -------------------------------------------------------------------------------- */

static struct str trim_end(struct str s)
{
	while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t' || s.p[s.n - 1] == '\r'))
		s.n--;
	return s;
}

static struct str trim(struct str s)
{
	while (s.n && (s.p[0] == ' ' || s.p[0] == '\t')) {
		s.p++;
		s.n--;
	}
	return trim_end(s);
}

/* The line at `at` without its end; *ret_next is after it. */
static struct str line_at(struct str text, size_t at, size_t *ret_next)
{
	const char *end = at < text.n ? memchr(text.p + at, '\n', text.n - at) : NULL;
	size_t n = end ? (size_t)(end - text.p) - at : text.n - at;

	*ret_next = at + n + (end ? 1 : 0);
	return trim_end((struct str){ text.p + at, n });
}

static bool is_comment(struct str s)
{
	return s.n == 0 || s.p[0] == '#';
}

/* The next line that says something; false at the end. */
static bool next_line(struct front_reader *r)
{
	while (r->at < r->text.n) {
		r->line = line_at(r->text, r->at, &r->at);
		r->number++;
		r->indent = 0;
		while (r->line.n && r->line.p[0] == ' ') {
			r->line.p++;
			r->line.n--;
			r->indent++;
		}
		if (!is_comment(r->line))
			return true;
	}
	r->line = (struct str){ NULL, 0 };
	r->indent = 0;
	return false;
}

/* Is there one more line, of more than `indent`, or of just that with a dash? It stays unread. */
static bool goes_deeper(struct front_reader *r, size_t indent, bool dash)
{
	struct front_reader look = *r;

	if (!next_line(&look))
		return false;
	if (dash && look.indent >= indent && look.line.p[0] == '-')
		return true;
	return look.indent > indent;
}

/* ---- values ------------------------------------------------------------------------------- */

static void write_plain(struct jw *w, struct str s)
{
	if (s.n == 0 || str_eqz(s, "~") || str_eqz(s, "null"))
		jw_null(w);
	else if (str_eqz(s, "true") || str_eqz(s, "false"))
		jw_bool(w, s.p[0] == 't');
	else
		jw_str(w, s);
}

/* What was gathered in `scratch`. */
static bool write_scratch(struct front_reader *r)
{
	if (buf_status(r->scratch)) {
		error_set(r->err, CLEAT_ENOMEM, "out of memory");
		return false;
	}
	jw_str(r->w, buf_size(r->scratch) ? buf_str(r->scratch) : STR_LIT(""));
	return true;
}

/* 'it''s': behind the closing quote in *ret_end. */
static bool write_single(struct front_reader *r, struct str s, size_t *ret_end)
{
	size_t i = 1;

	buf_truncate(r->scratch, 0);
	for (; i < s.n; i++) {
		if (s.p[i] == '\'') {
			if (i + 1 >= s.n || s.p[i + 1] != '\'')
				break;
			i++;
		}
		buf_putc(r->scratch, s.p[i]);
	}
	if (i >= s.n)
		return wrong(r, "' is never closed");
	*ret_end = i + 1;
	return write_scratch(r);
}

/* "..." is taken over as the JSON string that it is; if it is none, the build says so at the end. */
static bool write_double(struct front_reader *r, struct str s, size_t *ret_end)
{
	size_t i = 1;

	while (i < s.n && s.p[i] != '"')
		i += s.p[i] == '\\' ? 2 : 1;
	if (i >= s.n)
		return wrong(r, "\" is never closed");
	jw_raw(r->w, (struct str){ s.p, i + 1 });
	*ret_end = i + 1;
	return true;
}

/* A value inside of [...] or {...}: up to one of `stops`. */
static bool write_flow_scalar(struct front_reader *r, struct str s, const char *stops,
			      size_t *ret_end)
{
	size_t i = 0;

	if (s.n && s.p[0] == '\'')
		return write_single(r, s, ret_end);
	if (s.n && s.p[0] == '"')
		return write_double(r, s, ret_end);
	while (i < s.n && !strchr(stops, s.p[i]) && !strchr("[]{}", s.p[i]))
		i++;
	write_plain(r->w, trim((struct str){ s.p, i }));
	*ret_end = i;
	return true;
}

static struct str skip(struct str s, size_t n)
{
	return trim((struct str){ s.p + n, s.n - n });
}

/* The key of `key: value`; absent when there is none. *ret_end is after the colon. */
static struct str read_key(struct str s, size_t *ret_end)
{
	size_t i = 0;

	while (i < s.n && s.p[i] != ':' && !strchr("'\"[]{},#&*!\t|>%@`", s.p[i]))
		i++;
	if (i == 0 || i == s.n || s.p[i] != ':' ||
	    (i + 1 < s.n && s.p[i + 1] != ' ' && s.p[i + 1] != '\t'))
		return (struct str){ NULL, 0 };
	*ret_end = i + 1;
	return trim_end((struct str){ s.p, i });
}

/* [a, b] or {k: v, l: w}, on one line, no nesting; after it in *rest. */
static bool write_flow(struct front_reader *r, struct str s, struct str *rest)
{
	bool map = s.p[0] == '{';
	char close = map ? '}' : ']';
	size_t end;

	map ? jw_obj(r->w) : jw_arr(r->w);
	for (s = skip(s, 1); s.n && s.p[0] != close;) {
		if (map) {
			struct str key = read_key(s, &end);

			if (!key.p)
				return wrong(r, "expected key: value between { and }");
			jw_keyn(r->w, key);
			s = skip(s, end);
		}
		if (!write_flow_scalar(r, s, ",", &end))
			return false;
		s = skip(s, end);
		if (s.n && s.p[0] == ',')
			s = skip(s, 1);
		else if (!s.n || s.p[0] != close)
			return wrong(r, map ? "expected , or }" : "expected , or ]");
	}
	if (!s.n)
		return wrong(r, map ? "{ is never closed" : "[ is never closed");
	map ? jw_obj_end(r->w) : jw_arr_end(r->w);
	*rest = skip(s, 1);
	return true;
}

/* Without " # comment". */
static struct str without_comment(struct str s)
{
	for (size_t i = 1; i < s.n; i++)
		if (s.p[i] == '#' && (s.p[i - 1] == ' ' || s.p[i - 1] == '\t'))
			return trim_end((struct str){ s.p, i });
	return s;
}

/* | and >: the lines that follow and are indented more than `indent`. */
static bool write_block(struct front_reader *r, struct str mark, size_t indent)
{
	bool fold = mark.p[0] == '>', keep_end = mark.n == 1, pending = false;
	size_t own = SIZE_MAX, blanks = 0;

	if (mark.n > 2 || (mark.n == 2 && mark.p[1] != '-'))
		return wrong(r, "expected |, |-, > or >-");
	buf_truncate(r->scratch, 0);
	while (r->at < r->text.n) {
		size_t next, depth = 0;
		struct str s = line_at(r->text, r->at, &next);

		while (depth < s.n && s.p[depth] == ' ')
			depth++;
		if (depth < s.n && depth <= indent)
			break;
		r->at = next;
		r->number++;
		if (depth == s.n) {
			blanks++;
			continue;
		}
		own = own == SIZE_MAX ? depth : own;
		if (depth < own)
			return wrong(r, "indented less than the lines before");
		if (pending && fold && !blanks)
			buf_putc(r->scratch, ' ');
		else if (pending && !fold)
			buf_putc(r->scratch, '\n');
		for (; pending && blanks; blanks--)
			buf_putc(r->scratch, '\n');
		buf_append(r->scratch, s.p + own, s.n - own);
		pending = true;
		blanks = 0;
	}
	if (keep_end && pending)
		buf_putc(r->scratch, '\n');
	return write_scratch(r);
}

/* Something for which YAML has a meaning that this does not. */
static bool is_special(struct str s)
{
	return s.n && strchr("&*!%@`", s.p[0]);
}

/* What comes after "key:" on its line, or below it. Not a list over several lines. */
static bool write_value(struct front_reader *r, struct str s, size_t indent)
{
	struct str rest;
	size_t end = 0;

	s = trim(s);
	if (s.n && (s.p[0] == '|' || s.p[0] == '>'))
		return write_block(r, without_comment(s), indent);
	if (is_special(s))
		return wrong(r, "expected a text; put it in quotes");
	if (s.n == 0 || s.p[0] == '#' || !strchr("'\"[{", s.p[0])) {
		write_plain(r->w, s.n && s.p[0] == '#' ? STR_LIT("") : without_comment(s));
		if (goes_deeper(r, indent, false)) {
			next_line(r);
			return wrong(r, "indented, but nothing before it asks for that");
		}
		return true;
	}
	if (s.p[0] == '[' || s.p[0] == '{') {
		if (!write_flow(r, s, &rest))
			return false;
	} else {
		if (!(s.p[0] == '\'' ? write_single(r, s, &end) : write_double(r, s, &end)))
			return false;
		rest = skip(s, end);
	}
	return is_comment(rest) || wrong(r, "there is something after the value");
}

/* The members of one item of a list: the first comes after "- ", the others below it. */
static bool write_item_map(struct front_reader *r, struct str key, struct str value, size_t column)
{
	jw_obj(r->w);
	for (;;) {
		size_t end;

		jw_keyn(r->w, key);
		if (!write_value(r, value, column))
			return false;
		if (!goes_deeper(r, column - 1, false))
			break;
		next_line(r);
		key = r->indent == column ? read_key(r->line, &end) : (struct str){ NULL, 0 };
		if (!key.p)
			return wrong(r, "expected key: value, below the one before");
		value = (struct str){ r->line.p + end, r->line.n - end };
	}
	jw_obj_end(r->w);
	return true;
}

static bool write_list(struct front_reader *r, size_t indent)
{
	size_t own = SIZE_MAX;

	jw_arr(r->w);
	while (goes_deeper(r, indent, true)) {
		struct str s, key;
		size_t end;

		next_line(r);
		own = own == SIZE_MAX ? r->indent : own;
		if (r->indent != own || r->line.p[0] != '-' ||
		    (r->line.n > 1 && r->line.p[1] != ' '))
			return wrong(r, "expected \"- \" and an item of the list");
		s = skip(r->line, 1);
		key = read_key(s, &end);
		if (!key.p) {
			if (!write_value(r, s, own))
				return false;
		} else if (!write_item_map(r, key, (struct str){ s.p + end, s.n - end },
					   own + (size_t)(s.p - r->line.p))) {
			return false;
		}
	}
	jw_arr_end(r->w);
	return true;
}

static bool write_all(struct front_reader *r)
{
	jw_obj(r->w);
	while (next_line(r)) {
		size_t end;
		struct str key, value;

		if (r->number > FRONTMATTER_LINES)
			return error_set(r->err, CLEAT_ELIMIT, "more than %d lines between ---",
					 FRONTMATTER_LINES),
			       false;
		if (r->indent)
			return wrong(r, "expected a key in the first column");
		key = read_key(r->line, &end);
		if (!key.p)
			return wrong(r, "expected key: value");
		jw_keyn(r->w, key);
		value = skip(r->line, end);
		if (is_comment(value) && goes_deeper(r, 0, true)) {
			if (!write_list(r, 0))
				return false;
		} else if (!write_value(r, value, 0)) {
			return false;
		}
	}
	jw_obj_end(r->w);
	return true;
}

/* ---- the file ----------------------------------------------------------------------------- */

/* Finds the marks; false when the file does not begin with one. *ret_front is absent when it is not closed. */
static bool find_front(struct str text, struct str *ret_front, struct str *ret_body)
{
	size_t at, next;

	if (!str_eqz(line_at(text, 0, &at), "---"))
		return false;
	*ret_front = (struct str){ NULL, 0 };
	for (size_t from = at; at < text.n; at = next) {
		struct str line = line_at(text, at, &next);

		if (str_eqz(line, "---") || str_eqz(line, "...")) {
			*ret_front = (struct str){ text.p + from, at - from };
			*ret_body = (struct str){ text.p + next, text.n - next };
			break;
		}
	}
	return true;
}

static int read_front(struct arena *ar, struct str front, const cleat_json **ret, cleat_error *err)
{
	struct buf scratch;
	struct build out;
	struct jw w;
	struct front_reader r = {
		.text = front, .number = 1, .scratch = &scratch, .w = &w, .err = err
	};
	int rc;

	build_init(&out, ar);
	buf_init(&scratch, &ar->mem, FRONTMATTER_MAX + 1);
	jw_build(&w, &out);
	rc = write_all(&r) ? build_finish(&out, ret, err) : err->status;
	if (rc == CLEAT_EPROTO)
		rc = error_set(err, CLEAT_EINVAL, "a text in \"...\" has a wrong escape");
	else if (!rc && json_check_all_keys(*ret, err))
		rc = err->status = CLEAT_EINVAL;
	buf_done(&scratch);
	return rc;
}

int frontmatter_split(struct arena *ar, struct str text, const cleat_json **ret_front,
		      struct str *ret_body, cleat_error *err)
{
	cleat_error own = { .status = CLEAT_OK };
	struct str front;

	err = err ? err : &own;
	if (text.n >= 3 && !memcmp(text.p, "\xEF\xBB\xBF", 3))
		text = (struct str){ text.p + 3, text.n - 3 };
	*ret_front = json_empty_object();
	*ret_body = text;
	if (utf8_valid_prefix(text) != text.n || str_has_nul(text))
		return error_set(err, CLEAT_EINVAL, "expected text in UTF-8 without NUL");
	if (!find_front(text, &front, ret_body))
		return CLEAT_OK;
	if (!front.p)
		return error_set(err, CLEAT_EINVAL, "line 1: --- is never closed by a second ---");
	if (front.n > FRONTMATTER_MAX)
		return error_set(err, CLEAT_ELIMIT, "more than %d bytes between ---",
				 FRONTMATTER_MAX);
	return read_front(ar, front, ret_front, err);
}
