/* field/signature_print.c - a tool's inputSchema as a signature, for people who look at tools.
 *
 * The schema may come from any server: it is read with bounded work, the text is bounded
 * (SIGNATURE_PRINTED, then "…") and safe for a terminal. What the grammar can say is said so that
 * signature_parse() gives the same schema again; the rest (formats, patterns, nested properties,
 * unions) is left out, and a value is then shown as its JSON type. No recursion.
 */
#include "base/error.h"
#include "base/mem.h"
#include "field/impl.h"
#include "field/signature.h"
#include "wording/show.h"
#include "json/parse.h"

#include <string.h>

enum { MOST_REQUIRED = 1024, MOST_UNWRAPS = 4, MOST_UNION = 8, SCRATCH = 64 << 10 };

struct printer {
	struct buf *out;
	struct buf scratch;
	bool with_docs;
};

static const struct {
	const char *type, *word, *min, *max;
	uint8_t field_type;
} kinds[] = {
	{ "string", "string", "minLength", "maxLength", CLEAT_T_STRING },
	{ "integer", "integer", "minimum", "maximum", CLEAT_T_INT },
	{ "number", "number", "minimum", "maximum", CLEAT_T_REAL },
	{ "boolean", "boolean", NULL, NULL, CLEAT_T_BOOL },
	{ "object", "object", NULL, NULL, CLEAT_T_RECORD },
};

/* ---- reading schemas ---------------------------------------------------------------------- */

/* The one branch of anyOf/oneOf that is not null, as generators write optional values; otherwise
 * the schema itself. */
static const cleat_json *unwrap(const cleat_json *schema)
{
	for (int i = 0; i < MOST_UNWRAPS; i++) {
		const cleat_json *list = cleat_json_get(schema, "anyOf"), *only = NULL;
		cleat_json_iter it;

		if (!list)
			list = cleat_json_get(schema, "oneOf");
		it = cleat_json_each(list);
		while (cleat_json_next(&it)) {
			if (str_eqz(json_str(cleat_json_get(it.value, "type")), "null"))
				continue;
			if (only)
				return schema;
			only = it.value;
		}
		if (!only || cleat_json_get(schema, "type"))
			return schema;
		schema = only;
	}
	return schema;
}

/* "type", also where it is in a list beside "null"; absent when there is no single one. */
static struct str type_of(const cleat_json *schema)
{
	const cleat_json *type = cleat_json_get(schema, "type");
	cleat_json_iter it = cleat_json_each(type);
	struct str only = json_str(type);

	while (json_is_array(type) && cleat_json_next(&it)) {
		if (str_eqz(json_str(it.value), "null"))
			continue;
		if (only.p)
			return (struct str){ NULL, 0 };
		only = json_str(it.value);
	}
	return only;
}

static bool is_choice(const cleat_json *v)
{
	struct str s = json_str(v);

	return s.n && !str_has_nul(s) && !memchr(s.p, '|', s.n);
}

/* The enum of a schema if the grammar can say it. */
static const cleat_json *choices_of(const cleat_json *schema)
{
	const cleat_json *list = cleat_json_get(schema, "enum");
	struct str type = type_of(schema);
	cleat_json_iter it = cleat_json_each(list), before;

	if (!json_is_array(list) || !cleat_json_size(list) ||
	    cleat_json_size(list) > SIGNATURE_CHOICES || (type.p && !str_eqz(type, "string")))
		return NULL;
	while (cleat_json_next(&it)) {
		if (!is_choice(it.value))
			return NULL;
		before = cleat_json_each(list);
		while (cleat_json_next(&before) && before.index < it.index)
			if (str_eq(json_str(before.value), json_str(it.value)))
				return NULL;
	}
	return list;
}

static bool is_required(const cleat_json *required, struct str name)
{
	cleat_json_iter it = cleat_json_each(required);

	while (cleat_json_next(&it) && it.index < MOST_REQUIRED)
		if (json_is_string(it.value) && str_eq(json_str(it.value), name))
			return true;
	return false;
}

/* ---- types -------------------------------------------------------------------------------- */

static void print_name(struct buf *b, struct str name)
{
	if (show_is_word(name))
		buf_append(b, name.p, name.n);
	else
		show_quoted(b, name, SIZE_MAX);
}

static void print_choice(struct buf *b, struct str choice)
{
	if (signature_reserved(choice))
		show_quoted(b, choice, SIZE_MAX);
	else
		print_name(b, choice);
}

/* One choice or an array of them needs parentheses. */
static void print_choices(struct printer *p, const cleat_json *choices, bool array)
{
	bool parens = array || cleat_json_size(choices) == 1;
	cleat_json_iter it = cleat_json_each(choices);

	if (parens)
		buf_putc(p->out, '(');
	while (cleat_json_next(&it)) {
		if (it.index)
			buf_putc(p->out, '|');
		print_choice(p->out, json_str(it.value));
	}
	if (parens)
		buf_putc(p->out, ')');
}

/* A bound that the grammar takes for this field, or NULL. */
static const char *bound_text(const cleat_json *schema, const char *key, const cleat_field *f,
			      double *ret)
{
	const cleat_json *v = key ? cleat_json_get(schema, key) : NULL;
	double d = cleat_json_num(v, 0);

	if (!cleat_json_number_text(v) || cleat_json_num(v, 1) != d)
		return NULL;
	if ((f->array || f->type != CLEAT_T_REAL) && !field_bound_is_exact(d))
		return NULL;
	if (d < 0 && (f->array || f->type == CLEAT_T_STRING))
		return NULL;
	*ret = d;
	return cleat_json_number_text(v);
}

static void print_range(struct printer *p, const cleat_json *schema, const char *min_key,
			const char *max_key, cleat_field *f)
{
	const char *min = bound_text(schema, min_key, f, &f->min);
	const char *max = bound_text(schema, max_key, f, &f->max);

	/* that an integer is one of 32 bits need not be said */
	if (max && f->max == (double)UINT32_MAX && min && f->min == 0)
		max = NULL;
	if (max && f->max == (double)INT32_MAX && min && f->min == (double)INT32_MIN)
		min = max = NULL;
	if ((!min && !max) || (min && max && f->min > f->max))
		return;
	f->bounds = (uint8_t)((min != NULL) | (max != NULL) << 1);
	buf_printf(p->out, " %s..%s", min ? min : "", max ? max : "");
}

/* One of several types: "string", or an array of them. */
struct plain_type {
	const char *word; /* NULL: it is none by itself */
	bool array;
};

static const char *word_of(struct str type)
{
	for (size_t i = 0; i < CLEAT_COUNT(kinds); i++)
		if (str_eqz(type, kinds[i].type))
			return kinds[i].word;
	return NULL;
}

static struct plain_type plain_type(struct str type, const cleat_json *items)
{
	bool array = str_eqz(type, "array");
	const char *word = word_of(array ? type_of(items) : type);

	return (struct plain_type){ array && !word ? "json" : word, array };
}

/* "boolean|string": the grammar has no such thing, but whoever looks at a tool wants to know. False: they are
 * not all plain types, and nothing was printed. */
static bool print_union(struct printer *p, const cleat_json *schema, bool array)
{
	const cleat_json *types = cleat_json_get(schema, "type"), *list = types;
	struct plain_type all[MOST_UNION];
	cleat_json_iter it;
	size_t n = 0;

	if (!json_is_array(types))
		list = cleat_json_get(schema, "anyOf");
	if (!list)
		list = cleat_json_get(schema, "oneOf");
	it = cleat_json_each(list);
	while (cleat_json_size(list) > 1 && cleat_json_next(&it)) {
		bool name = list == types;
		struct str type = name ? json_str(it.value) : type_of(it.value);
		struct plain_type one =
			plain_type(type, cleat_json_get(name ? schema : it.value, "items"));
		size_t k = 0;

		if (str_eqz(type, "null"))
			continue;
		while (k < n && (all[k].word != one.word || all[k].array != one.array))
			k++;
		if (!one.word || k == MOST_UNION)
			return false;
		all[k] = one;
		n += k == n;
	}
	for (size_t i = 0; i < n; i++)
		buf_printf(p->out, "%s%s%s",
			   i                ? "|"
			   : array && n > 1 ? "("
					    : "",
			   all[i].word, all[i].array ? "[]" : "");
	buf_appendz(p->out, array && n > 1 ? ")" : "");
	return n > 0;
}

/* Prints the type and fills in *f as far as a default has to fit it; *ret_choices is the enum. */
static void print_type(struct printer *p, const cleat_json *schema, cleat_field *f,
		       const cleat_json **ret_choices)
{
	const char *min = NULL, *max = NULL, *word = "json";
	const cleat_json *value = schema;
	struct str type = type_of(schema);

	f->array = str_eqz(type, "array");
	if (f->array)
		value = unwrap(cleat_json_get(schema, "items"));
	type = type_of(value);
	*ret_choices = choices_of(value);
	f->type = *ret_choices ? CLEAT_T_STRING : CLEAT_T_JSON;
	for (size_t i = 0; i < CLEAT_COUNT(kinds) && !*ret_choices && type.p; i++) {
		if (!str_eqz(type, kinds[i].type))
			continue;
		word = kinds[i].word;
		f->type = kinds[i].field_type;
		min = kinds[i].min;
		max = kinds[i].max;
	}
	if (*ret_choices)
		print_choices(p, *ret_choices, f->array);
	else if (type.p || !print_union(p, value, f->array))
		buf_appendz(p->out, word);
	if (f->array)
		buf_appendz(p->out, "[]");
	print_range(p, schema, f->array ? "minItems" : min, f->array ? "maxItems" : max, f);
}

/* ---- defaults ----------------------------------------------------------------------------- */

static bool listed(const cleat_json *choices, const cleat_json *v)
{
	cleat_json_iter it = cleat_json_each(choices);

	while (cleat_json_next(&it))
		if (str_eq(json_str(it.value), json_str(v)))
			return true;
	return false;
}

/* The grammar refuses a default that its type does not allow, so such a one is not printed. */
static bool default_fits(struct printer *p, const cleat_field *f, const cleat_json *choices,
			 const cleat_json *v)
{
	cleat_json_iter it = cleat_json_each(v);

	if (cleat_json_size(v) > SIGNATURE_PRINTED) /* cannot be shown anyway */
		return false;
	buf_reset(&p->scratch, SCRATCH);
	if (field_check_value(f, v, &p->scratch) != CLEAT_OK)
		return false;
	if (!choices)
		return true;
	if (!f->array)
		return listed(choices, v);
	while (cleat_json_next(&it))
		if (!listed(choices, it.value))
			return false;
	return true;
}

static void print_default(struct printer *p, const cleat_field *f, const cleat_json *choices,
			  const cleat_json *v)
{
	struct jw w;

	if (!default_fits(p, f, choices, v))
		return;
	buf_appendz(p->out, " = ");
	if (choices && !f->array) {
		print_choice(p->out, json_str(v));
		return;
	}
	buf_reset(&p->scratch, SCRATCH);
	jw_init(&w, &p->scratch);
	jw_value(&w, v);
	if (buf_status(&p->scratch)) /* no memory, or longer than all that is ever shown */
		p->out->status = buf_status(&p->scratch);
	else
		show_plain(p->out, buf_str(&p->scratch));
}

/* ---- the whole ---------------------------------------------------------------------------- */

static void print_property(struct printer *p, struct str name, const cleat_json *property,
			   bool required)
{
	const cleat_json *doc = cleat_json_get(property, "description"), *choices;
	const cleat_json *fallback = cleat_json_get(property, "default");
	cleat_field f = { .name = "" };

	print_name(p->out, name);
	buf_appendz(p->out, required ? ": " : "?: ");
	print_type(p, unwrap(property), &f, &choices);
	if (fallback && !required) /* in the grammar a default makes an argument optional */
		print_default(p, &f, choices, fallback);
	if (p->with_docs && json_is_string(doc)) {
		buf_putc(p->out, ' ');
		show_quoted(p->out, json_str(doc), SIZE_MAX);
	}
}

static void print_properties(struct printer *p, const cleat_json *schema)
{
	const cleat_json *required = cleat_json_get(schema, "required");
	cleat_json_iter it = cleat_json_each(cleat_json_get(schema, "properties"));

	while (!buf_status(p->out) && cleat_json_next(&it)) {
		struct str name = json_str(it.key);

		if (it.index)
			buf_appendz(p->out, ", ");
		print_property(p, name, it.value, is_required(required, name));
	}
}

/* Ends the text, also one that did not fit. */
static void signature_print_finish(struct buf *b)
{
	static const char more[] = "…";
	struct str s;

	if (buf_status(b) != CLEAT_ELIMIT && buf_size(b) < b->max) {
		buf_putc(b, '\0');
		return;
	}
	if (buf_status(b) == CLEAT_ENOMEM)
		return;
	s = buf_str(b);
	if (s.n > b->max - sizeof more)
		s.n = b->max - sizeof more;
	buf_truncate(b, utf8_valid_prefix(s));
	buf_append(b, more, sizeof more);
}

char *signature_print(const cleat_allocator *mem, const char *name, const cleat_json *input_schema,
		      bool with_docs, cleat_error *err)
{
	struct printer p = { .with_docs = with_docs };
	struct buf out;

	if (!name) {
		error_set(err, CLEAT_EINVAL, "no name given");
		return NULL;
	}
	buf_init(&out, mem, SIGNATURE_PRINTED);
	buf_init(&p.scratch, mem, SCRATCH);
	p.out = &out;
	show_plain(&out, str_of(name));
	buf_putc(&out, '(');
	print_properties(&p, input_schema);
	buf_putc(&out, ')');
	signature_print_finish(&out);
	buf_done(&p.scratch);
	if (!buf_status(&out))
		return out.data;
	error_set(err, buf_status(&out), "%s", cleat_strstatus(buf_status(&out)));
	buf_done(&out);
	return NULL;
}

char *cleat_signature_print(const char *name, const cleat_json *input_schema, bool with_docs,
			    cleat_error *err)
{
	return signature_print(NULL, name, input_schema, with_docs, err);
}
