/* uri/template.c - compiling URI templates; see template.h.
 *
 * Two passes: the text into parts by the grammar of RFC 6570 section 2, then the parts into the flat
 * program of literals, runs and optional groups that match.c runs. The first alone, keeping nothing,
 * is the check of the grammar. All arrays are sized before they are filled, from the counts that the
 * limits bound; nothing recurses.
 */
#include "uri/template_impl.h"

#include "base/error.h"

#include <string.h>

/* ---- text to parts ------------------------------------------------------------------------ */

struct compiler {
	struct arena *ar;
	struct uri_template *t; /* NULL: only the grammar is checked, nothing is kept */
	struct str s;           /* with one, the arena's copy of the text */
	size_t i;
	cleat_error *err;
};

static int wrong(struct compiler *c, size_t at, const char *what)
{
	return error_set(c->err, CLEAT_EINVAL, "URI template, position %zu: %s", at + 1, what);
}

static char peek(const struct compiler *c)
{
	return c->i < c->s.n ? c->s.p[c->i] : '\0';
}

/* Length of the character at c->i if a literal may hold it, else 0: RFC 6570 section 2.1, with the
 * apostrophe that erratum 6937 gives back. */
static size_t literal_char(const struct compiler *c)
{
	size_t len;

	if (c->s.p[c->i] == '%')
		return uri_escape_at(c->s, c->i) ? 3 : 0;
	return uri_char_at(c->s, c->i, &len) == CHAR_OTHER ? 0 : len;
}

static int parse_literal(struct compiler *c)
{
	size_t start = c->i;

	while (c->i < c->s.n && c->s.p[c->i] != '{') {
		size_t len = literal_char(c);

		if (c->s.p[c->i] == '}')
			return wrong(c, c->i, "'}' without '{'");
		if (len == 0)
			return wrong(c, c->i, "this character has to be percent-encoded");
		c->i += len;
	}
	if (c->t)
		c->t->parts[c->t->n_parts++] =
			(struct uri_part){ .op = OP_LITERAL,
					   .text = { c->s.p + start, c->i - start } };
	return CLEAT_OK;
}

/* varchar of section 2.3; returns its length, 0 if there is none. */
static size_t varchar(const struct compiler *c)
{
	char ch = peek(c);

	if (ch == '%')
		return uri_escape_at(c->s, c->i) ? 3 : 0;
	return ch == '_' || uri_char_class(ch) & (CHAR_ALPHA | CHAR_DIGIT);
}

static int parse_name(struct compiler *c, struct str *ret)
{
	size_t start = c->i, n = varchar(c);

	while (n) {
		c->i += n;
		if (peek(c) == '.') {
			c->i++;
			n = varchar(c);
			if (!n)
				return wrong(c, c->i, "a variable name cannot end here");
		} else {
			n = varchar(c);
		}
	}
	if (c->i == start)
		return wrong(c, c->i, "a variable name is expected here");
	*ret = (struct str){ c->s.p + start, c->i - start };
	return CLEAT_OK;
}

/* Section 2.4: '*', or ':' and 1 to 9999 without leading zeros. */
static int parse_modifier(struct compiler *c, struct uri_spec *spec)
{
	size_t start = c->i + 1;

	if (peek(c) == '*') {
		c->i++;
		spec->explode = true;
	} else if (peek(c) == ':') {
		c->i++;
		while (peek(c) >= '0' && peek(c) <= '9' && c->i - start < 4)
			spec->max = spec->max * 10 + (size_t)(c->s.p[c->i++] - '0');
		if (spec->max == 0 || c->s.p[start] == '0')
			return wrong(c, start, "a prefix length from 1 to 9999 is expected here");
	}
	return CLEAT_OK;
}

static size_t slot_of(struct uri_template *t, struct str name)
{
	for (size_t i = 0; i < t->n_names; i++)
		if (str_eq(t->names[i], name))
			return i;
	t->names[t->n_names] = name;
	return t->n_names++;
}

static int keep_spec(struct compiler *c, const struct uri_spec *spec)
{
	struct uri_spec *to;

	if (!c->t)
		return CLEAT_OK;
	if (c->t->n_specs == URI_TEMPLATE_MAX_VARS)
		return error_set(c->err, CLEAT_ELIMIT, "URI template: over %d variables",
				 URI_TEMPLATE_MAX_VARS);
	to = &c->t->specs[c->t->n_specs++];
	*to = *spec;
	to->slot = slot_of(c->t, spec->name);
	return CLEAT_OK;
}

static int parse_spec(struct compiler *c, enum uri_op op)
{
	struct uri_spec spec = { .query = op >= OP_QUERY };
	int rc = parse_name(c, &spec.name);

	if (rc == CLEAT_OK)
		rc = parse_modifier(c, &spec);
	return rc == CLEAT_OK ? keep_spec(c, &spec) : rc;
}

/* Section 2.2; OP_LITERAL for the operators that are reserved for extensions. */
static enum uri_op parse_operator(struct compiler *c)
{
	static const char chars[] = "+#./;?&";
	char ch = peek(c);
	const char *at = ch ? strchr(chars, ch) : NULL;

	if (at) {
		c->i++;
		return (enum uri_op)(OP_RESERVED + (at - chars));
	}
	return memchr("=,!@|", ch, 5) ? OP_LITERAL : OP_SIMPLE;
}

static int parse_expression(struct compiler *c)
{
	struct uri_part part = { .first = c->t ? c->t->n_specs : 0 };
	size_t open = c->i++;
	int rc;

	part.op = parse_operator(c);
	if (part.op == OP_LITERAL)
		return wrong(c, c->i, "this operator is reserved");
	for (;;) {
		rc = parse_spec(c, part.op);
		if (rc == CLEAT_EINVAL && c->i == c->s.n)
			return wrong(c, open, "'{' without '}'");
		if (rc != CLEAT_OK)
			return rc;
		if (peek(c) != ',')
			break;
		c->i++;
	}
	if (c->i == c->s.n)
		return wrong(c, open, "'{' without '}'");
	if (peek(c) != '}')
		return wrong(c, c->i, "',' or '}' is expected here");
	c->i++;
	if (c->t) {
		part.count = c->t->n_specs - part.first;
		c->t->parts[c->t->n_parts++] = part;
	}
	return CLEAT_OK;
}

static int parse(struct compiler *c)
{
	int rc = CLEAT_OK;

	while (rc == CLEAT_OK && c->i < c->s.n)
		rc = c->s.p[c->i] == '{' ? parse_expression(c) : parse_literal(c);
	return rc;
}

/* ---- parts to atoms ----------------------------------------------------------------------- */

static struct uri_atom *emit(struct compiler *c, enum uri_atom_kind kind, size_t spec)
{
	struct uri_atom *a = &c->t->atoms[c->t->n_atoms++];

	*a = (struct uri_atom){ .kind = kind, .spec = spec };
	return a;
}

/* The normal form in the arena; absent when memory is short. The text has no broken escapes. */
static struct str normal(struct arena *ar, struct str s, size_t *ret_units)
{
	char *p = arena_alloc(ar, s.n * 3);
	size_t n = 0, i = 0;

	*ret_units = 0;
	if (!p)
		return (struct str){ NULL, 0 };
	while (i < s.n) {
		bool first = i == 0;
		size_t len = uri_normal_next(s, &i, p + n);

		*ret_units += first || !uri_continues(p + n, len);
		n += len;
	}
	return (struct str){ p, n };
}

static void emit_literal(struct compiler *c, struct str text)
{
	struct uri_atom *a = emit(c, ATOM_LITERAL, NO_SPEC);

	a->text = normal(c->ar, text, &a->units);
}

static unsigned base_stops(const struct uri_part *part, const struct uri_spec *spec)
{
	unsigned stops = STOP_QUESTION | STOP_HASH | (part->in_query ? STOP_AMP : 0u);

	switch (part->op) {
	case OP_SIMPLE:
	case OP_PATH: return spec->explode ? stops : stops | STOP_SLASH | STOP_COMMA;
	case OP_LABEL: return stops | STOP_SLASH | STOP_COMMA;
	case OP_PARAM: return stops | STOP_SLASH | STOP_SEMICOLON;
	default: return 0;
	}
}

static void emit_run(struct compiler *c, const struct uri_part *part, size_t i, unsigned later)
{
	const struct uri_spec *spec = &c->t->specs[i];
	struct uri_atom *a = emit(c, ATOM_RUN, i);

	a->stops = base_stops(part, spec) | later;
	a->max = spec->max;
	a->empty = part->op == OP_FRAGMENT || part->op == OP_PARAM;
	a->segments = part->op == OP_PATH && spec->explode;
}

static void emit_list(struct compiler *c, const struct uri_part *part, unsigned later)
{
	static const char *const prefix[] = {
		[OP_FRAGMENT] = "#", [OP_LABEL] = ".", [OP_PATH] = "/", [OP_QUERY_MORE] = NULL
	};
	bool repeats = part->op == OP_LABEL || part->op == OP_PATH;

	for (size_t i = 0; i < part->count; i++) {
		if (i > 0 && !repeats)
			emit_literal(c, STR_LIT(","));
		else if (prefix[part->op])
			emit_literal(c, str_of(prefix[part->op]));
		emit_run(c, part, part->first + i, later);
	}
}

/* Section 3.2.7: an empty value has no '='. */
static void emit_param(struct compiler *c, const struct uri_part *part, size_t i, unsigned later)
{
	struct uri_atom *whole = emit(c, ATOM_OPTIONAL, NO_SPEC), *value;

	emit_literal(c, STR_LIT(";"));
	emit_literal(c, c->t->specs[i].key);
	value = emit(c, ATOM_OPTIONAL, i);
	emit_literal(c, STR_LIT("="));
	emit_run(c, part, i, later);
	whole->skip = value->skip = c->t->n_atoms;
}

static void emit_query(struct compiler *c, const struct uri_part *part)
{
	struct uri_atom *whole = emit(c, ATOM_OPTIONAL, NO_SPEC), *pairs;

	emit_literal(c, part->op == OP_QUERY ? STR_LIT("?") : STR_LIT("&"));
	pairs = emit(c, ATOM_RUN, part->first);
	pairs->stops = STOP_HASH;
	pairs->empty = true;
	whole->skip = c->t->n_atoms;
}

static void emit_part(struct compiler *c, const struct uri_part *part, unsigned later)
{
	struct uri_atom *whole;

	switch (part->op) {
	case OP_LITERAL: emit_literal(c, part->text); break;
	case OP_PARAM:
		for (size_t i = 0; i < part->count; i++)
			emit_param(c, part, part->first + i, later);
		break;
	case OP_QUERY:
	case OP_QUERY_MORE: emit_query(c, part); break;
	case OP_FRAGMENT:
		whole = emit(c, ATOM_OPTIONAL, NO_SPEC);
		emit_list(c, part, later);
		whole->skip = c->t->n_atoms;
		break;
	default: emit_list(c, part, later); break;
	}
}

/* What a variable in part p may not match, because an optional expression after it begins with
 * that: the expression would otherwise never get anything. */
static unsigned later_stops(const struct uri_template *t, size_t p)
{
	unsigned amp = t->parts[p].in_query ? STOP_AMP : 0, stops = 0;

	while (++p < t->n_parts) {
		switch (t->parts[p].op) {
		case OP_PARAM: stops |= STOP_SEMICOLON; break;
		case OP_QUERY: stops |= STOP_QUESTION | STOP_HASH; break;
		case OP_QUERY_MORE: stops |= STOP_HASH | amp; break;
		case OP_FRAGMENT: stops |= STOP_HASH; break;
		default: break;
		}
	}
	return stops;
}

static void mark_query(struct uri_template *t)
{
	bool in_query = false;

	for (size_t p = 0; p < t->n_parts; p++) {
		const struct uri_part *part = &t->parts[p];

		if (part->op == OP_QUERY ||
		    (part->op == OP_LITERAL && memchr(part->text.p, '?', part->text.n)))
			in_query = true;
		t->parts[p].in_query = in_query;
	}
}

static void template_lower(struct compiler *c)
{
	struct uri_template *t = c->t;
	size_t units;

	for (size_t i = 0; i < t->n_specs; i++)
		t->specs[i].key = normal(c->ar, t->specs[i].name, &units);
	if (arena_failed(c->ar))
		return;
	mark_query(t);
	for (size_t p = 0; p < t->n_parts; p++) {
		emit_part(c, &t->parts[p], later_stops(t, p));
		if (t->parts[p].op == OP_LITERAL)
			t->literals += t->atoms[t->n_atoms - 1].units;
	}
}

/* ---- the module --------------------------------------------------------------------------- */

/* Room for what the text can hold at most: {;v} gives six atoms, anything else fewer a variable. */
static bool make_room(struct compiler *c)
{
	size_t open = 0, specs;

	for (size_t i = 0; i < c->s.n; i++)
		open += c->s.p[i] == '{';
	specs = open;
	for (size_t i = 0; i < c->s.n && open; i++)
		specs += c->s.p[i] == ',';
	if (specs > URI_TEMPLATE_MAX_VARS)
		specs = URI_TEMPLATE_MAX_VARS;
	if (open > URI_TEMPLATE_MAX_VARS) /* the 65th is refused before it is stored */
		open = URI_TEMPLATE_MAX_VARS;
	c->t->parts = arena_alloc(c->ar, (2 * open + 2) * sizeof *c->t->parts);
	c->t->specs = arena_alloc(c->ar, specs * sizeof *c->t->specs);
	c->t->names = arena_alloc(c->ar, specs * sizeof *c->t->names);
	c->t->atoms = arena_alloc(c->ar, (open + 2 + 6 * specs) * sizeof *c->t->atoms);
	return !arena_failed(c->ar);
}

int uri_template_compile(struct arena *ar, struct str text, const struct uri_template **ret,
			 cleat_error *err)
{
	struct compiler c = { .ar = ar, .err = err };
	int rc;

	*ret = NULL;
	if (text.n > URI_TEMPLATE_MAX_LEN)
		return error_set(err, CLEAT_ELIMIT, "URI template: over %d bytes",
				 URI_TEMPLATE_MAX_LEN);
	if (utf8_valid_prefix(text) != text.n)
		return error_set(err, CLEAT_EINVAL, "URI template: not UTF-8");
	c.s = (struct str){ arena_strndup(ar, text.p ? text.p : "", text.n), text.n };
	c.t = arena_zalloc(ar, sizeof *c.t);
	if (!c.s.p || !c.t || !make_room(&c))
		return error_set(err, CLEAT_ENOMEM, "out of memory");
	c.t->text = c.s;
	rc = parse(&c);
	if (rc != CLEAT_OK)
		return rc;
	template_lower(&c);
	if (arena_failed(ar))
		return error_set(err, CLEAT_ENOMEM, "out of memory");
	*ret = c.t;
	return CLEAT_OK;
}

bool uri_template_is_valid(struct str text)
{
	struct compiler c = { .s = text };

	return parse(&c) == CLEAT_OK;
}

bool uri_is_template(struct str text)
{
	const char *open = text.n ? memchr(text.p, '{', text.n) : NULL;

	return open && memchr(open, '}', text.n - (size_t)(open - text.p));
}

size_t uri_template_var_count(const struct uri_template *t)
{
	return t->n_names;
}

struct str uri_template_var_name(const struct uri_template *t, size_t i)
{
	return i < t->n_names ? t->names[i] : (struct str){ NULL, 0 };
}

int uri_template_compare(const struct uri_template *a, const struct uri_template *b)
{
	if (a->literals != b->literals)
		return a->literals > b->literals ? -1 : 1;
	if (a->n_names != b->n_names)
		return a->n_names < b->n_names ? -1 : 1;
	return 0;
}

struct str uri_prefix(struct str s, size_t max)
{
	size_t i = 0;

	if (max == 0)
		return s;
	for (; i < s.n; i++)
		if (((unsigned char)s.p[i] & 0xC0) != 0x80 && max-- == 0)
			break;
	return (struct str){ s.p, i };
}
