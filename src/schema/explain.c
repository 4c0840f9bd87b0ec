/* schema/explain.c - why a value does not fit, in words.
 *
 * Each problem is one line that a person or a model can repair the value from: where, what was
 * expected, what was there. Values are shown cut and harmless (wording/show.h). Not here: who asks,
 * and how many lines are wanted (schema/check.c). What several forms have to say: schema/nearest.c.
 */
#include "schema/explain.h"

#include "base/mem.h"
#include "schema/describe.h"
#include "uri/chars.h"
#include "wording/show.h"
#include "wording/wording.h"
#include "json/node.h"
#include "json/parse.h"

enum { LINE_MAX_BYTES = 8192, PROBLEM_COST = 100 };

/* ---- problems --------------------------------------------------------------------------------- */

/* How far from fitting this problem is. A wrong type says that something else was meant, a wrong
 * constant mostly that: it is what forms are told apart by. */
static size_t weigh(const char *keyword, bool here)
{
	if (here && (!keyword || strcmp(keyword, "type") == 0))
		return EXPLAIN_OTHER_TYPE;
	if (keyword && strcmp(keyword, "const") == 0)
		return 16;
	return keyword && strcmp(keyword, "enum") == 0 ? 4 : 1;
}

bool problem_begin(struct problem *p, struct run *r, node_id id, const char *keyword,
		   const yyjson_val *v, const struct at *at)
{
	struct report *report = r->report;
	bool here = at == report->within;

	report->count++;
	report->weight += weigh(keyword, here);
	if (report->told >= report->most || !run_pay(r, PROBLEM_COST))
		return false;
	*p = (struct problem){ .r = r, .at = at, .id = id, .keyword = keyword, .value = v };
	buf_init(&p->line, &r->s->mem, LINE_MAX_BYTES);
	if (!here) {
		path_write_plain(&p->line, at);
		buf_appendz(&p->line, ": ");
	}
	return true;
}

static const char *text_of(struct buf *b)
{
	buf_putc(b, '\0');
	return buf_status(b) ? NULL : buf_str(b).p;
}

/* Where the keyword is: RFC 6901 section 6, a pointer as the fragment of a URI. */
static void write_schema_path(struct buf *b, const struct problem *p)
{
	const cleat_schema *s = p->r->s;
	struct str uri = s->uris[s->nodes[p->id].resource], text;
	struct buf pointer;

	buf_init(&pointer, &s->mem, SIZE_MAX / 2);
	path_write_node(&pointer, s->nodes, p->id);
	if (p->keyword)
		buf_printf(&pointer, "/%s", p->keyword);
	buf_append(b, uri.p, uri.n);
	buf_putc(b, '#');
	text = buf_str(&pointer);
	for (size_t i = 0; i < text.n; i++) {
		char escape[3], c = text.p[i];

		if (uri_char_class(c) & (CHAR_UNRESERVED | CHAR_SUB_DELIM) ||
		    (c && strchr("/?:@", c))) {
			buf_putc(b, c);
			continue;
		}
		uri_escape(escape, (unsigned char)c);
		buf_append(b, escape, sizeof escape);
	}
	if (buf_status(&pointer))
		b->status = buf_status(&pointer);
	buf_done(&pointer);
}

/* A line over its limit ends in "…". */
static void close_line(struct buf *b)
{
	static const char dots[] = "…";
	struct str text = buf_str(b);

	if (buf_status(b) != CLEAT_ELIMIT)
		return;
	if (text.n > LINE_MAX_BYTES - sizeof dots)
		text.n = LINE_MAX_BYTES - sizeof dots;
	buf_truncate(b, utf8_valid_prefix(text));
	buf_appendz(b, dots);
}

void problem_end(struct problem *p)
{
	struct run *r = p->r;
	struct report *report = r->report;
	struct buf path, schema_path;
	cleat_schema_problem told = { .value = node_json(p->value) };

	buf_init(&path, &r->s->mem, SIZE_MAX / 2);
	buf_init(&schema_path, &r->s->mem, SIZE_MAX / 2);
	if (!report->bare) {
		path_write_pointer(&path, p->at);
		write_schema_path(&schema_path, p);
	}
	close_line(&p->line);
	p->line.max++; /* for the NUL */
	told.line = text_of(&p->line);
	told.path = text_of(&path);
	told.schema_path = text_of(&schema_path);
	if (told.line && told.path && told.schema_path) {
		report->told++;
		report->fn(report->ctx, &told);
	} else {
		run_fail(r, CLEAT_ENOMEM);
	}
	buf_done(&p->line);
	buf_done(&path);
	buf_done(&schema_path);
}

/* ---- one value -------------------------------------------------------------------------------- */

static const char *size_unit(const char *keyword)
{
	if (strstr(keyword, "Length"))
		return "character";
	if (strstr(keyword, "Items"))
		return "element";
	return strstr(keyword, "Properties") ? "member" : NULL;
}

/* null where a member that may be absent was meant: a frequent habit. */
static bool may_be_left_out(const struct at *at, const yyjson_val *v)
{
	const struct object_rules *rules = at && at->key ? at->rules : NULL;

	if (!rules || !node_is(v, YYJSON_TYPE_NULL))
		return false;
	for (uint32_t i = 0; i < rules->n; i++)
		if (node_same_text(rules->properties[i].key, at->key))
			return !rules->properties[i].required;
	return true;
}

void explain_value(struct run *r, node_id id, const char *keyword, const yyjson_val *v,
		   const struct at *at)
{
	const char *unit = size_unit(keyword);
	struct problem p;

	if (!problem_begin(&p, r, id, keyword, v, at))
		return;
	buf_appendz(&p.line, "expected ");
	describe_for_type(&p.line, r->s, id, run_type(v));
	buf_appendz(&p.line, ", got ");
	if (unit)
		wording_count(&p.line,
			      node_is(v, YYJSON_TYPE_STR) ? utf8_length(node_text(v)) : node_len(v),
			      unit);
	else
		show_value(&p.line, node_json(v));
	if (may_be_left_out(at, v))
		buf_appendz(&p.line, " (optional: leave it out)");
	problem_end(&p);
}

void explain_never(struct run *r, node_id id, const yyjson_val *v, const struct at *at)
{
	struct problem p;

	if (!problem_begin(&p, r, id, NULL, v, at))
		return;
	buf_appendz(&p.line, at ? "must not be there, got " : "no value is allowed, got ");
	show_value(&p.line, node_json(v));
	problem_end(&p);
}

void explain_not(struct run *r, node_id id, const yyjson_val *v, const struct at *at)
{
	node_id not = r->s->nodes[id].combine->not ;
	struct problem p;

	if (!problem_begin(&p, r, id, "not", v, at))
		return;
	if (describe_is_complete(r->s, not )) {
		buf_appendz(&p.line, "must not be ");
		describe_for_type(&p.line, r->s, not, run_type(v));
	} else {
		buf_appendz(&p.line, "must not have the form that \"not\" describes");
	}
	buf_appendz(&p.line, ", got ");
	show_value(&p.line, node_json(v));
	problem_end(&p);
}

/* ---- members ---------------------------------------------------------------------------------- */

void explain_missing(struct run *r, node_id id, const struct property *property,
		     const struct at *at)
{
	const struct at there = { .up = at, .key = property->key };
	struct problem p;
	size_t before;

	if (!problem_begin(&p, r, id, "required", NULL, &there))
		return;
	buf_appendz(&p.line, "required, but missing");
	before = buf_size(&p.line);
	buf_appendz(&p.line, " (");
	if (property->node)
		describe_wanted(&p.line, r->s, property->node);
	if (buf_size(&p.line) > before + 2)
		buf_putc(&p.line, ')');
	else if (!buf_status(&p.line))
		buf_truncate(&p.line, before);
	problem_end(&p);
}

static const char *member_word(const struct run *r, const struct at *at)
{
	return at || !r->report->member ? "member" : r->report->member;
}

void explain_unknown(struct run *r, node_id id, const char *keyword, const yyjson_val *key,
		     const struct at *at)
{
	const struct object_rules *rules = r->s->nodes[id].object;
	const struct at there = { .up = at, .key = key };
	struct str_nearest near = { .wanted = node_text(key) };
	struct problem p;

	if (!problem_begin(&p, r, id, keyword, key + 1, at))
		return;
	for (uint32_t i = 0; rules && i < rules->n && run_pay(r, 2); i++)
		if (rules->properties[i].node)
			str_nearest_offer(&near, node_text(rules->properties[i].key));
	wording_unknown(&p.line, member_word(r, at), &near);
	p.at = &there; /* the line names the object, the path its member */
	problem_end(&p);
}

void explain_duplicate(struct run *r, node_id id, const yyjson_val *v, const struct at *at)
{
	struct problem p;

	if (!problem_begin(&p, r, id, NULL, v, at))
		return;
	show_quoted(&p.line, json_str(cleat_json_duplicate(node_json(v))), SHOW_CHARS);
	buf_appendz(&p.line, " stands twice");
	problem_end(&p);
}

void explain_dependency(struct run *r, node_id id, const struct property *given,
			const struct property *missing, const struct at *at)
{
	const cleat_json *own = json_member(r->s->nodes[id].json, "dependentRequired");
	const struct at there = { .up = at, .key = missing->key };
	const char *keyword =
		json_get(own, node_text(given->key)) ? "dependentRequired" : "dependencies";
	struct problem p;

	if (!problem_begin(&p, r, id, keyword, NULL, &there))
		return;
	buf_appendz(&p.line, "required, because ");
	show_quoted(&p.line, node_text(given->key), SHOW_CHARS);
	buf_appendz(&p.line, " is there");
	problem_end(&p);
}

void explain_name(struct run *r, node_id id, node_id names, const yyjson_val *key,
		  const struct at *at)
{
	const struct at there = { .up = at, .key = key };
	struct problem p;

	if (!problem_begin(&p, r, id, "propertyNames", key + 1, at))
		return;
	buf_printf(&p.line, "the name of %s ", member_word(r, at));
	show_quoted(&p.line, node_text(key), SHOW_CHARS);
	buf_appendz(&p.line, " does not fit: ");
	explain_first(r, names, key, at, at, &p.line);
	p.at = &there;
	problem_end(&p);
}

/* ---- elements --------------------------------------------------------------------------------- */

void explain_twins(struct run *r, node_id id, uint32_t i, uint32_t j, const yyjson_val *v,
		   const struct at *at)
{
	struct problem p;

	if (!problem_begin(&p, r, id, "uniqueItems", v, at))
		return;
	buf_printf(&p.line, "elements must differ, but [%u] and [%u] are equal: ", i, j);
	show_value(&p.line, cleat_json_at(node_json(v), i));
	problem_end(&p);
}

void explain_contains(struct run *r, node_id id, uint64_t found, const yyjson_val *v,
		      const struct at *at)
{
	const struct array_rules *rules = r->s->nodes[id].array;
	bool few = found < rules->min_contains;
	const char *keyword = !few                      ? "maxContains"
			      : rules->min_contains > 1 ? "minContains"
							: "contains";
	struct problem p;

	if (!problem_begin(&p, r, id, keyword, v, at))
		return;
	buf_printf(&p.line, "expected at %s ", few ? "least" : "most");
	wording_count(&p.line, few ? rules->min_contains : rules->max_contains, "element");
	buf_appendz(&p.line, " of this form: ");
	describe_node(&p.line, r->s, rules->contains);
	buf_appendz(&p.line, ", got ");
	wording_count(&p.line, found, "such element");
	if (few && !describe_is_complete(r->s, rules->contains))
		explain_nearest_element(r, rules->contains, v, at, &p.line);
	problem_end(&p);
}
