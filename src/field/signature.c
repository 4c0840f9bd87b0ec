/* field/signature.c - the grammar of signatures; its page is docs/signatures.md.
 *
 * One pass over the text, a token of lookahead, no recursion: arguments do not nest, and default
 * values are found by counting brackets and then given to the JSON parser. Each argument becomes a
 * cleat_field without a struct. Not here: tokens and messages (reader.c), printing
 * (signature_print.c).
 */
#include "field/signature.h"

#include "base/error.h"
#include "base/mem.h"
#include "field/impl.h"
#include "field/reader.h"
#include "wording/show.h"
#include "json/parse.h"

#include <string.h>

/* The arguments that were read so far; always ended by CLEAT_T_END. */
struct args {
	size_t n;
	cleat_field fields[SIGNATURE_ARGS + 1];
};

static const struct {
	const char *word;
	uint8_t type;
} types[] = {
	{ "string", CLEAT_T_STRING }, { "integer", CLEAT_T_INT },   { "int", CLEAT_T_INT },
	{ "number", CLEAT_T_REAL },   { "num", CLEAT_T_REAL },      { "float", CLEAT_T_REAL },
	{ "boolean", CLEAT_T_BOOL },  { "bool", CLEAT_T_BOOL },     { "json", CLEAT_T_JSON },
	{ "any", CLEAT_T_JSON },      { "object", CLEAT_T_RECORD },
};

#define A_TYPE "a type (string, integer, number, boolean, json, object, a|b, ...)"

/* ---- types -------------------------------------------------------------------------------- */

bool signature_reserved(struct str word)
{
	for (size_t i = 0; i < CLEAT_COUNT(types); i++)
		if (str_eqz(word, types[i].word))
			return true;
	return str_eqz(word, "true") || str_eqz(word, "false") || str_eqz(word, "null");
}

static int read_choice(struct reader *r, struct str *ret)
{
	const char *start = r->p, *text;
	int rc;

	*ret = (struct str){ r->p, show_word(reader_ahead(r)) };
	if (ret->n) {
		if (signature_reserved(*ret))
			return reader_fail(r, start, "\"%.*s\" as a choice must be in quotes",
					   STR_ARGS(*ret));
		r->p += ret->n;
		return CLEAT_OK;
	}
	if (r->p == r->end || *r->p != '"')
		return reader_expected(r, "a choice");
	rc = reader_text(r, &text);
	if (rc)
		return rc;
	*ret = str_of(text);
	if (!ret->n || memchr(ret->p, '|', ret->n))
		return reader_fail(r, start, "a choice must not be empty or contain \"|\"");
	return CLEAT_OK;
}

/* a|b|"c d" into "a|b|c d". */
static int read_choices(struct reader *r, cleat_field *f)
{
	cleat_allocator mem = arena_allocator(r->ar);
	size_t count = 0;
	struct buf b;

	buf_init(&b, &mem, SIGNATURE_MAX);
	do {
		const char *start = reader_place(r);
		struct str c;
		int rc = read_choice(r, &c);

		if (rc)
			return rc;
		if (count && choice_has((struct field_choices){ .rest = b.data }, c))
			return reader_fail(r, start, "a choice stands twice");
		if (count++ == SIGNATURE_CHOICES)
			return reader_fail(r, start, "more than %d choices", SIGNATURE_CHOICES);
		if (count > 1) /* in place of the terminator */
			b.data[b.len - 1] = '|';
		buf_append(&b, c.p, c.n);
		buf_putc(&b, '\0');
		if (buf_status(&b))
			return reader_no_memory(r);
	} while (reader_take(r, '|'));
	f->type = CLEAT_T_STRING;
	f->choices = b.data;
	return CLEAT_OK;
}

static int unknown_type(struct reader *r, struct str word)
{
	struct str_nearest near = { .wanted = word };

	for (size_t i = 0; i < CLEAT_COUNT(types); i++)
		str_nearest_offer(&near, str_of(types[i].word));
	if (!near.best.p)
		return reader_expected(r, A_TYPE);
	return reader_fail(r, r->p, "unknown type \"%.*s\" (did you mean %.*s?)", STR_ARGS(word),
			   STR_ARGS(near.best));
}

/* Does a "|" follow the word or string at the reader's place? */
static bool choice_ahead(struct reader *r)
{
	const char *start = reader_place(r);
	size_t n = reader_peek(r) == '"' ? reader_string(r, start) : show_word(reader_ahead(r));
	bool yes;

	r->p += n;
	yes = n && reader_peek(r) == '|';
	r->p = start;
	return yes;
}

static int read_base(struct reader *r, cleat_field *f, bool *ret_bare_choices)
{
	struct str word;
	int rc;

	if (reader_take(r, '(')) {
		rc = read_choices(r, f);
		if (!rc && !reader_take(r, ')'))
			rc = reader_expected(r, "\"|\" or \")\"");
		return rc;
	}
	if (choice_ahead(r)) {
		*ret_bare_choices = true;
		return read_choices(r, f);
	}
	word = (struct str){ r->p, show_word(reader_ahead(r)) };
	if (!word.n)
		return reader_expected(r, A_TYPE);
	for (size_t i = 0; i < CLEAT_COUNT(types); i++)
		if (str_eqz(word, types[i].word)) {
			f->type = types[i].type;
			r->p += word.n;
			return CLEAT_OK;
		}
	return unknown_type(r, word);
}

static int read_bound(struct reader *r, const cleat_field *f, double *ret)
{
	const char *start = r->p;
	bool whole = f->array || f->type != CLEAT_T_REAL;
	const cleat_json *v = NULL;
	double d;
	int rc = reader_json(r, start, reader_number(r, start), &v);

	if (rc == CLEAT_ENOMEM)
		return rc;
	d = cleat_json_num(v, 0);
	if (rc || cleat_json_num(v, 1) != d)
		return reader_expected(r, "a number");
	if (whole && !field_bound_is_exact(d))
		return reader_fail(r, start, "a bound here must be a whole number of at most 2^53");
	if (d < 0 && (f->array || f->type == CLEAT_T_STRING))
		return reader_fail(r, start, "a length cannot be negative");
	r->p += reader_number(r, start);
	*ret = d;
	return CLEAT_OK;
}

static int read_range(struct reader *r, cleat_field *f)
{
	const char *start = r->p;
	int rc;

	if (!f->array && (f->choices || f->type == CLEAT_T_BOOL || f->type == CLEAT_T_JSON ||
			  f->type == CLEAT_T_RECORD))
		return reader_fail(r, start,
				   "only integers, numbers, strings and arrays have a range");
	if (*r->p != '.') {
		rc = read_bound(r, f, &f->min);
		if (rc)
			return rc;
		f->bounds |= 1;
	}
	if (!str_starts(reader_ahead(r), ".."))
		return reader_expected(r, "\"..\" of a range");
	r->p += 2;
	if (reader_number(r, r->p)) {
		rc = read_bound(r, f, &f->max);
		if (rc)
			return rc;
		f->bounds |= 2;
	}
	if (!f->bounds)
		return reader_fail(r, start, "a range needs a number on one side of \"..\"");
	if (f->bounds == 3 && f->min > f->max)
		return reader_fail(r, start, "the range is empty");
	return CLEAT_OK;
}

static int read_type(struct reader *r, cleat_field *f)
{
	bool bare_choices = false;
	int rc = read_base(r, f, &bare_choices);

	if (rc)
		return rc;
	if (reader_peek(r) == '[') {
		if (bare_choices)
			return reader_fail(r, r->p, "an array of choices is written (a|b)[]");
		r->p++;
		if (!reader_take(r, ']'))
			return reader_expected(r, "\"]\"");
		f->array = true;
	}
	if (reader_peek(r) == '[')
		return reader_fail(r, r->p, "arrays of arrays are written json[]");
	if (reader_number(r, r->p) || str_starts(reader_ahead(r), ".."))
		rc = read_range(r, f);
	if (!rc && reader_peek(r) == '[')
		rc = reader_fail(r, r->p, "a range after \"[]\" counts elements");
	return rc;
}

/* ---- defaults ----------------------------------------------------------------------------- */

/* Length of the array or object at p, by counting brackets; 0 when it is not closed. Whether it is
 * JSON is for the parser to say. */
static size_t brackets_length(const struct reader *r, const char *p)
{
	const char *start = p;
	size_t depth = 0;

	while (p < r->end) {
		if (*p == '"') {
			size_t n = reader_string(r, p);

			if (!n)
				return 0;
			p += n;
			continue;
		}
		if (*p == '[' || *p == '{')
			depth++;
		if (*p == ']' || *p == '}')
			depth--;
		p++;
		if (!depth)
			return (size_t)(p - start);
	}
	return 0;
}

/* The value as compact JSON, which is what a field's fallback holds. */
static const char *compact(struct reader *r, const cleat_json *v)
{
	cleat_allocator mem = arena_allocator(r->ar);
	struct buf b;
	struct jw w;

	buf_init(&b, &mem, 8 * SIGNATURE_MAX);
	jw_init(&w, &b);
	jw_value(&w, v);
	buf_putc(&b, '\0');
	return buf_status(&b) ? NULL : b.data;
}

static int check_default(struct reader *r, const cleat_field *f, const cleat_json *v,
			 const char *start)
{
	cleat_allocator mem = arena_allocator(r->ar);
	struct buf problems;
	struct str line;
	const char *end;
	int rc;

	buf_init(&problems, &mem, 64 << 10);
	rc = field_check_value(f, v, &problems);
	if (rc != CLEAT_EINVAL)
		return rc ? reader_no_memory(r) : CLEAT_OK;
	line = buf_str(&problems);
	end = memchr(line.p, '\n', line.n);
	line.n = end ? (size_t)(end - line.p) : line.n;
	return reader_fail(r, start, "default of %.*s", STR_ARGS(line));
}

/* The text of a default: JSON as it is there, or a bare choice put into quotes. On success *ret
 * is the text and the reader comes after it. */
static int default_text(struct reader *r, const cleat_field *f, struct str *ret)
{
	const char *start = reader_place(r);
	struct str word = { start, show_word(reader_ahead(r)) };
	char first = reader_peek(r);

	if (word.n && !str_eqz(word, "true") && !str_eqz(word, "false") && !str_eqz(word, "null")) {
		if (!f->choices || f->array)
			return reader_fail(r, start,
					   "expected a JSON value as default, got %s (text "
					   "stands in quotes)",
					   reader_found(r));
		r->p += word.n;
		*ret = str_of(arena_printf(r->ar, "\"%.*s\"", STR_ARGS(word)));
		return ret->p ? CLEAT_OK : reader_no_memory(r);
	}
	*ret = (struct str){ start, word.n };
	if (first == '"')
		ret->n = reader_string(r, start);
	else if (first == '[' || first == '{')
		ret->n = brackets_length(r, start);
	else if (!word.n)
		ret->n = reader_number(r, start);
	if (!ret->n)
		return reader_expected(r, "a JSON value as default (text stands in quotes)");
	r->p += ret->n;
	return CLEAT_OK;
}

static int read_default(struct reader *r, cleat_field *f)
{
	const char *start = reader_place(r);
	const cleat_json *v = NULL;
	struct str text = { NULL, 0 };
	int rc = default_text(r, f, &text);

	if (rc)
		return rc;
	rc = reader_json(r, text.p, text.n, &v);
	if (rc == CLEAT_EINVAL)
		return reader_fail(r, start, "the default is not valid JSON");
	if (!rc)
		rc = check_default(r, f, v, start);
	if (rc)
		return rc;
	f->fallback = compact(r, v);
	return f->fallback ? CLEAT_OK : reader_no_memory(r);
}

/* ---- arguments ---------------------------------------------------------------------------- */

static int read_arg_name(struct reader *r, const struct args *args, const char **ret)
{
	const char *start = reader_place(r);
	size_t n = show_word(reader_ahead(r));
	int rc;

	if (n) {
		*ret = arena_strndup(r->ar, r->p, n);
		r->p += n;
		if (!*ret)
			return reader_no_memory(r);
	} else {
		if (reader_peek(r) != '"')
			return reader_expected(r, "an argument's name or \")\"");
		rc = reader_text(r, ret);
		if (rc)
			return rc;
	}
	if (!**ret)
		return reader_fail(r, start, "an argument's name must not be empty");
	if (field_find(args->fields, str_of(*ret)))
		return reader_fail(r, start, "argument \"%.60s\" stands twice", *ret);
	return CLEAT_OK;
}

static int read_arg(struct reader *r, struct args *args)
{
	cleat_field f = { 0 };
	int rc;

	if (args->n == SIGNATURE_ARGS)
		return reader_fail(r, reader_place(r), "more than %d arguments", SIGNATURE_ARGS);
	rc = read_arg_name(r, args, &f.name);
	if (rc)
		return rc;
	f.optional = reader_take(r, '?');
	if (!reader_take(r, ':'))
		return reader_expected(r, f.optional ? "\":\" and a type"
						     : "\":\" or \"?:\" and a type");
	rc = read_type(r, &f);
	if (!rc && reader_take(r, '='))
		rc = read_default(r, &f);
	if (!rc && reader_peek(r) == '"') {
		rc = reader_text(r, &f.doc);
		if (!rc && reader_peek(r) == '=')
			rc = reader_fail(r, r->p, "a default stands before the description");
	}
	if (!rc)
		args->fields[args->n++] = f;
	return rc;
}

/* Up to the closing parenthesis, or where there is none (`bare`) to the end. */
static bool take_end(struct reader *r, bool bare)
{
	return bare ? !*reader_place(r) : reader_take(r, ')');
}

static int read_args(struct reader *r, struct args *args, bool bare)
{
	while (!take_end(r, bare)) {
		int rc = read_arg(r, args);

		if (rc)
			return rc;
		if (take_end(r, bare))
			break;
		if (!reader_take(r, ','))
			return reader_expected(r, bare ? "\",\" or the end" : "\",\" or \")\"");
	}
	return CLEAT_OK;
}

static int copy_fields(struct reader *r, const struct args *args, const cleat_field **ret)
{
	cleat_field *fields = arena_alloc(r->ar, (args->n + 1) * sizeof *fields);

	if (!fields)
		return reader_no_memory(r);
	memcpy(fields, args->fields, (args->n + 1) * sizeof *fields);
	*ret = fields;
	return CLEAT_OK;
}

/* ---- the whole ---------------------------------------------------------------------------- */

/* A colon ends the name only where a command can follow it: ns:tool is a name. */
static bool ends_name(const struct reader *r, const char *p)
{
	if (*p == '(' || *p == '"')
		return true;
	return *p == ':' &&
	       (p + 1 == r->end || p[1] == ' ' || p[1] == '\t' || p[1] == '\r' || p[1] == '\n');
}

static int read_name(struct reader *r, const char **ret)
{
	const char *start = reader_place(r);
	size_t count = 0, len;

	for (; r->p < r->end && !ends_name(r, r->p); r->p += len, count++) {
		len = show_visible(reader_ahead(r));
		if (!len)
			break;
	}
	if (!count)
		return reader_expected(r, "a name");
	if (count > SIGNATURE_NAME)
		return reader_fail(r, start, "a name has at most %d characters", SIGNATURE_NAME);
	*ret = arena_strndup(r->ar, start, (size_t)(r->p - start));
	return *ret ? CLEAT_OK : reader_no_memory(r);
}

static int read_signature(struct reader *r, struct signature *ret)
{
	struct args args = { 0 };
	int rc = read_name(r, &ret->name);

	if (!rc && reader_take(r, '('))
		rc = read_args(r, &args, false);
	if (!rc && reader_peek(r) == '"')
		rc = reader_text(r, &ret->description);
	return rc ? rc : copy_fields(r, &args, &ret->fields);
}

static struct reader signature_begin(struct arena *ar, const char *text, cleat_error *err)
{
	struct reader r = { .ar = ar, .err = err, .text = text, .p = text, .max = SIGNATURE_MAX };
	const char *end = memchr(text, '\0', SIGNATURE_MAX);
	size_t n = end ? (size_t)(end - text) : SIGNATURE_MAX;

	r.end = text + utf8_valid_prefix((struct str){ text, n });
	r.too_long = !end && r.end + 3 >= text + SIGNATURE_MAX && *r.end; /* may cut a character */
	return r;
}

int signature_parse(struct arena *ar, const char *text, struct signature *ret, const char **rest,
		    cleat_error *err)
{
	struct signature sig = { 0 };
	struct reader r;
	int rc;

	if (!text)
		return error_set(err, CLEAT_EINVAL, "no signature given");
	r = signature_begin(ar, text, err);
	rc = read_signature(&r, &sig);
	if (rc)
		return rc;
	if (!rest && *reader_place(&r))
		return reader_expected(&r, "the end");
	if (rest)
		*rest = reader_place(&r);
	*ret = sig;
	return CLEAT_OK;
}

int signature_parse_args(struct arena *ar, const char *text, const cleat_field **ret,
			 cleat_error *err)
{
	struct reader r = signature_begin(ar, text, err);
	struct args args = { 0 };
	int rc = read_args(&r, &args, true);

	return rc ? rc : copy_fields(&r, &args, ret);
}

char *cleat_signature_schema(const char *signature, char **ret_name, cleat_error *err)
{
	struct signature sig = { 0 };
	struct arena ar;
	struct buf b;
	struct jw w;
	char *name = NULL;

	arena_init(&ar, NULL, 0);
	buf_init(&b, NULL, 64 * SIGNATURE_MAX);
	if (signature_parse(&ar, signature, &sig, NULL, err))
		goto fail;
	jw_init(&w, &b);
	field_write_schema(&w, sig.fields, FIELD_SCHEMA_TOOL);
	buf_putc(&b, '\0');
	name = ret_name ? mem_strdup(&mem_default, sig.name) : NULL;
	if (buf_status(&b) || (ret_name && !name)) {
		error_set(err, CLEAT_ENOMEM, "%s", cleat_strstatus(CLEAT_ENOMEM));
		goto fail;
	}
	if (ret_name)
		*ret_name = name;
	arena_done(&ar);
	return b.data;
fail:
	mem_free(&mem_default, name);
	buf_done(&b);
	arena_done(&ar);
	return NULL;
}
