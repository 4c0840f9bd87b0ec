/* uri/expand.c - URI template and variables to a URI; see template.h.
 *
 * RFC 6570 section 3 with the table of its appendix A. Values come as JSON and are written straight
 * into the buf; numbers keep the text they were received as. Nothing is appended unless all of it
 * is. Not here: Unicode normalisation, which the RFC asks of the one who makes the values.
 */
#include "uri/template_impl.h"

#include "base/error.h"
#include "base/mem.h"
#include "json/parse.h"

#include <cleat/uri.h>

#include <string.h>

enum { EXPANSION_MAX = 1 << 20 };

/* Appendix A. */
struct style {
	const char *first;
	char sep;
	bool named;
	bool equals_if_empty;
	bool reserved; /* reserved characters and escapes stay as they are */
};

static const struct style styles[] = {
	[OP_SIMPLE] = { "", ',', false, false, false },
	[OP_RESERVED] = { "", ',', false, false, true },
	[OP_FRAGMENT] = { "#", ',', false, false, true },
	[OP_LABEL] = { ".", '.', false, false, false },
	[OP_PATH] = { "/", '/', false, false, false },
	[OP_PARAM] = { ";", ';', true, false, false },
	[OP_QUERY] = { "?", '&', true, true, false },
	[OP_QUERY_MORE] = { "&", '&', true, true, false },
};

struct expander {
	struct buf *out;
	const struct style *style;
	const struct uri_spec *spec;
	bool started; /* the expression has written something */
	cleat_error *err;
};

static void put_encoded(struct buf *out, struct str s, bool reserved)
{
	unsigned as_is = reserved ? CHAR_UNRESERVED | CHAR_RESERVED : CHAR_UNRESERVED;

	for (size_t i = 0; i < s.n; i++) {
		char escape[3];

		if (uri_char_class(s.p[i]) & as_is) {
			buf_putc(out, s.p[i]);
		} else if (reserved && uri_escape_at(s, i)) {
			buf_append(out, s.p + i, 3);
			i += 2;
		} else {
			uri_escape(escape, (unsigned char)s.p[i]);
			buf_append(out, escape, 3);
		}
	}
}

/* A string, number or boolean as text; absent for anything else. */
static struct str scalar(const cleat_json *v)
{
	switch (cleat_json_type(v)) {
	case CLEAT_JSON_STRING: return json_str(v);
	case CLEAT_JSON_NUMBER: return str_of(cleat_json_number_text(v));
	case CLEAT_JSON_BOOL: return cleat_json_bool(v, false) ? STR_LIT("true") : STR_LIT("false");
	default: return (struct str){ NULL, 0 };
	}
}

static int wrong(struct expander *x, const char *what)
{
	struct str name = uri_prefix(x->spec->name, 64);

	return error_set(x->err, CLEAT_EINVAL, "URI template: variable %.*s: %s", STR_ARGS(name),
			 what);
}

static void put_separator(struct expander *x)
{
	if (x->started)
		buf_putc(x->out, x->style->sep);
	else
		buf_appendz(x->out, x->style->first);
	x->started = true;
}

/* "name=value" of the named operators. The name is a literal (section 3.2.1). */
static void put_name(struct expander *x, struct str name, bool empty)
{
	put_encoded(x->out, name, true);
	if (!empty || x->style->equals_if_empty)
		buf_putc(x->out, '=');
}

static void put_scalar(struct expander *x, struct str value)
{
	put_separator(x);
	if (x->style->named)
		put_name(x, x->spec->name, value.n == 0);
	put_encoded(x->out, uri_prefix(value, x->spec->max), x->style->reserved);
}

/* One member of an exploded list (key absent) or association. */
static void put_exploded(struct expander *x, struct str key, struct str value)
{
	if (!key.p) {
		put_scalar(x, value);
		return;
	}
	put_separator(x);
	put_encoded(x->out, key, x->style->reserved);
	if (!x->style->named || value.n || x->style->equals_if_empty)
		buf_putc(x->out, '=');
	put_encoded(x->out, value, x->style->reserved);
}

/* One member of a list that is written as one value, "a,b,c" or "key,value,key,value". */
static void put_joined(struct expander *x, struct str key, struct str value, bool first)
{
	if (!first) {
		buf_putc(x->out, ',');
	} else {
		put_separator(x);
		if (x->style->named)
			put_name(x, x->spec->name, false);
	}
	if (key.p) {
		put_encoded(x->out, key, x->style->reserved);
		buf_putc(x->out, ',');
	}
	put_encoded(x->out, value, x->style->reserved);
}

/* Section 2.3: members that are undefined count as not there; a list without members is itself
 * undefined. */
static int put_composite(struct expander *x, const cleat_json *v)
{
	cleat_json_iter it = cleat_json_each(v);
	bool first = true;

	if (x->spec->max)
		return wrong(x, "a prefix of a list or an object is not possible");
	while (cleat_json_next(&it)) {
		struct str value = scalar(it.value);

		if (cleat_json_type(it.value) == CLEAT_JSON_NULL)
			continue;
		if (!value.p)
			return wrong(x, "a list inside a list or an object is not possible");
		if (x->spec->explode)
			put_exploded(x, json_str(it.key), value);
		else
			put_joined(x, json_str(it.key), value, first);
		first = false;
	}
	return CLEAT_OK;
}

static int put_variable(struct expander *x, const cleat_json *v)
{
	switch (cleat_json_type(v)) {
	case CLEAT_JSON_NONE:
	case CLEAT_JSON_NULL: return CLEAT_OK;
	case CLEAT_JSON_ARRAY:
	case CLEAT_JSON_OBJECT: return put_composite(x, v);
	default: put_scalar(x, scalar(v)); return CLEAT_OK;
	}
}

static int put_expression(const struct uri_template *t, const struct uri_part *part,
			  const cleat_json *vars, struct buf *out, cleat_error *err)
{
	struct expander x = { .out = out, .style = &styles[part->op], .err = err };
	int rc = CLEAT_OK;

	for (size_t i = 0; rc == CLEAT_OK && i < part->count; i++) {
		x.spec = &t->specs[part->first + i];
		rc = put_variable(&x, json_get(vars, x.spec->name));
	}
	return rc;
}

int uri_template_expand(const struct uri_template *t, const cleat_json *vars, struct buf *out,
			cleat_error *err)
{
	size_t before = buf_size(out);
	int rc = buf_status(out);

	if (rc != CLEAT_OK)
		return error_set(err, rc, "%s", cleat_strstatus(rc));
	if (vars && !json_is_object(vars))
		return error_set(err, CLEAT_EINVAL,
				 "URI template: the variables have to be an object");
	for (size_t p = 0; rc == CLEAT_OK && p < t->n_parts; p++) {
		const struct uri_part *part = &t->parts[p];

		if (part->op == OP_LITERAL)
			put_encoded(out, part->text, true);
		else
			rc = put_expression(t, part, vars, out, err);
	}
	if (rc == CLEAT_OK && buf_status(out) != CLEAT_OK)
		rc = error_set(err, buf_status(out), "URI template: %s",
			       cleat_strstatus(buf_status(out)));
	if (rc != CLEAT_OK)
		buf_truncate(out, before);
	return rc;
}

char *cleat_uri_template_expand(const char *tmpl, const cleat_json *vars, cleat_error *err)
{
	const struct uri_template *t;
	struct arena ar;
	struct buf out;
	char *ret = NULL;

	if (!tmpl) {
		error_set(err, CLEAT_EINVAL, "URI template: it is NULL");
		return NULL;
	}
	arena_init(&ar, NULL, 0);
	buf_init(&out, NULL, EXPANSION_MAX);
	if (uri_template_compile(&ar, str_of(tmpl), &t, err) == CLEAT_OK &&
	    uri_template_expand(t, vars, &out, err) == CLEAT_OK) {
		struct str s = buf_str(&out);

		ret = mem_strndup(&mem_default, s.p, s.n);
		if (!ret)
			error_set(err, CLEAT_ENOMEM, "out of memory");
	}
	buf_done(&out);
	arena_done(&ar);
	return ret;
}
