/* program/text/yaml.c - YAML as JSON (yaml.h).
 *
 * JSON is written as events come; an alias is a copy of what was written for its anchor. It is text because
 * the limit is one of bytes, and because merging looks into a mapping that is not closed yet. Merge keys ("<<", of
 * YAML 1.1, still in use) are members that are written when their mapping ends, those that it has not itself.
 */
#include "text/yaml.h"

#include "base/error.h"
#include "base/lazy.h"
#include "base/mem.h"
#include "json/writer.h"

#include <string.h>
#include <yaml.h>

enum { DEPTH_MAX = 256, ANCHORS_MAX = 1000, ALIASES_MAX = 100000 };
enum { MERGES_MAX = 16, MERGED_MAX = 64 << 20 /* bytes that are looked through for merges */ };

struct calls {
	int (*yaml_parser_initialize)(yaml_parser_t *);
	void (*yaml_parser_delete)(yaml_parser_t *);
	void (*yaml_parser_set_input_string)(yaml_parser_t *, const unsigned char *, size_t);
	int (*yaml_parser_parse)(yaml_parser_t *, yaml_event_t *);
	void (*yaml_event_delete)(yaml_event_t *);
};

#define CALLS(X)                                                                                   \
	X(yaml_parser_initialize)                                                                  \
	X(yaml_parser_delete)                                                                      \
	X(yaml_parser_set_input_string)                                                            \
	X(yaml_parser_parse)                                                                       \
	X(yaml_event_delete)

LAZY_LOADED(CALLS, "libyaml-0.so.2", "libyaml-0-2")

/* A value that may be referred to: where its JSON is in the result. */
struct anchor {
	char *name;
	size_t from, to; /* to 0: not complete yet */
};

struct yaml_reader {
	const struct calls *k;
	yaml_parser_t parser;
	struct buf *out;
	struct jw w;
	struct level {
		bool mapping, value; /* `value`: the next node is a member's value, not its key */
		bool merge;          /* and that member is "<<" */
		bool merge_list;     /* it is the list of such a member */
		int anchor;          /* -1: none */
		size_t from;         /* where it begins in the result */
		int merges[MERGES_MAX]; /* anchors */
		size_t n_merges;
	} levels[DEPTH_MAX];
	size_t depth;
	size_t merged; /* bytes */
	struct anchor anchors[ANCHORS_MAX];
	size_t n_anchors, n_aliases;
	bool done; /* the document is complete */
	cleat_error *err;
};

static int yaml_fail(struct yaml_reader *r, int status, const yaml_mark_t *at, const char *what)
{
	return error_set(r->err, status, "line %zu, column %zu: %s", at->line + 1, at->column + 1,
			 what);
}

/* ---- scalars ---------------------------------------------------------------------------------- */

static size_t digits(struct str s, size_t i)
{
	size_t from = i;

	while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
		i++;
	return i - from;
}

/* A number as JSON writes it too (a sign +, and digits missing around the point, are YAML's own). */
static bool is_json_number(struct str s)
{
	size_t i = s.n && s.p[0] == '-', n = digits(s, i);

	if (!n || (n > 1 && s.p[i] == '0'))
		return false;
	i += n;
	if (i < s.n && s.p[i] == '.') {
		n = digits(s, i + 1);
		if (!n)
			return false;
		i += n + 1;
	}
	if (i < s.n && (s.p[i] | 32) == 'e') {
		i++;
		i += i < s.n && (s.p[i] == '+' || s.p[i] == '-');
		n = digits(s, i);
		if (!n)
			return false;
		i += n;
	}
	return i == s.n;
}

static void put_plain(struct jw *w, struct str s)
{
	static const char *const nulls[] = { "", "~", "null", "Null", "NULL", NULL };
	static const char *const yes[] = { "true", "True", "TRUE", NULL };
	static const char *const no[] = { "false", "False", "FALSE", NULL };

	if (str_among(s, nulls))
		jw_null(w);
	else if (str_among(s, yes) || str_among(s, no))
		jw_bool(w, str_among(s, yes));
	else if (is_json_number(s))
		jw_raw(w, s);
	else
		jw_str(w, s);
}

/* ---- events ----------------------------------------------------------------------------------- */

static bool key_expected(const struct yaml_reader *r)
{
	return r->depth && r->levels[r->depth - 1].mapping && !r->levels[r->depth - 1].value;
}

/* A node is complete: what comes next in its mapping is the other of key and value. */
static void node_done(struct yaml_reader *r, int anchor)
{
	if (anchor >= 0)
		r->anchors[anchor].to = buf_size(r->out);
	if (r->depth && r->levels[r->depth - 1].mapping)
		r->levels[r->depth - 1].value = !r->levels[r->depth - 1].value;
	r->done = r->done || !r->depth;
}

/* Where the value that comes next will begin: after the comma, if there is one. */
static int add_anchor(struct yaml_reader *r, const yaml_char_t *name, const yaml_mark_t *at,
		      int *ret)
{
	*ret = -1;
	if (!name)
		return CLEAT_OK;
	if (r->n_anchors == ANCHORS_MAX)
		return yaml_fail(r, CLEAT_ELIMIT, at, "more than 1000 anchors");
	r->anchors[r->n_anchors].name = mem_strdup(&r->out->mem, (const char *)name);
	if (!r->anchors[r->n_anchors].name)
		return error_set(r->err, CLEAT_ENOMEM, "out of memory");
	r->anchors[r->n_anchors].from = buf_size(r->out) + r->w.comma;
	r->anchors[r->n_anchors].to = 0;
	*ret = (int)r->n_anchors++;
	return CLEAT_OK;
}

/* The mapping whose "<<" comes next or is being listed; NULL: what comes is something else. */
static struct level *merging(struct yaml_reader *r)
{
	struct level *top = r->depth ? &r->levels[r->depth - 1] : NULL;

	if (top && top->merge_list)
		return top - 1;
	return top && top->merge ? top : NULL;
}

static int no_merge(struct yaml_reader *r, const yaml_mark_t *at)
{
	return yaml_fail(r, CLEAT_EPROTO, at, "<< takes aliases of mappings");
}

static int on_scalar(struct yaml_reader *r, const yaml_event_t *e)
{
	struct str s = { (const char *)e->data.scalar.value, e->data.scalar.length };
	const char *tag = (const char *)e->data.scalar.tag;
	int anchor, rc;

	if (merging(r))
		return no_merge(r, &e->start_mark);
	if (key_expected(r)) {
		r->levels[r->depth - 1].merge =
			str_eqz(s, "<<") && e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
		if (!r->levels[r->depth - 1].merge)
			jw_keyn(&r->w, s);
		node_done(r, -1);
		return CLEAT_OK;
	}
	rc = add_anchor(r, e->data.scalar.anchor, &e->start_mark, &anchor);
	if (rc != CLEAT_OK)
		return rc;
	if (e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	    !(tag && strcmp(tag, YAML_STR_TAG) == 0))
		put_plain(&r->w, s);
	else
		jw_str(&r->w, s);
	node_done(r, anchor);
	return CLEAT_OK;
}

static int on_start(struct yaml_reader *r, const yaml_event_t *e, bool mapping)
{
	int anchor, rc;

	if (key_expected(r))
		return yaml_fail(r, CLEAT_EPROTO, &e->start_mark, "a key has to be a text");
	if (r->depth == DEPTH_MAX)
		return yaml_fail(r, CLEAT_ELIMIT, &e->start_mark, "nested too deeply");
	if (merging(r) && (mapping || r->levels[r->depth - 1].merge_list))
		return no_merge(r, &e->start_mark);
	if (merging(r)) {
		r->levels[r->depth++] = (struct level){ .merge_list = true, .anchor = -1 };
		return CLEAT_OK;
	}
	rc = add_anchor(r, mapping ? e->data.mapping_start.anchor : e->data.sequence_start.anchor,
			&e->start_mark, &anchor);
	if (rc != CLEAT_OK)
		return rc;
	r->levels[r->depth++] = (struct level){ .mapping = mapping,
						.anchor = anchor,
						.from = buf_size(r->out) + r->w.comma };
	if (mapping)
		jw_obj(&r->w);
	else
		jw_arr(&r->w);
	return CLEAT_OK;
}

/* A piece of the result as a document; `end` closes it. */
static cleat_doc *piece(struct yaml_reader *r, size_t from, size_t to, const char *end)
{
	cleat_doc *doc = NULL;
	struct buf text;

	r->merged += to - from;
	buf_init(&text, &r->out->mem, MERGED_MAX);
	buf_append(&text, buf_str(r->out).p + from, to - from);
	buf_appendz(&text, end);
	if (!buf_status(&text) && r->merged <= MERGED_MAX)
		doc = cleat_doc_parse(buf_str(&text).p, buf_size(&text), NULL, &r->out->mem, NULL);
	buf_done(&text);
	return doc;
}

/* The members of an anchor's mapping that this one has not yet. */
static int merge(struct yaml_reader *r, const struct level *l, const struct anchor *a,
		 const yaml_mark_t *at)
{
	cleat_doc *own = piece(r, l->from, buf_size(r->out), "}");
	cleat_doc *other = piece(r, a->from, a->to, "");
	cleat_json_iter it = cleat_json_each(cleat_doc_root(other));
	bool read = own && other;

	while (read && cleat_json_next(&it)) {
		struct str key;

		key.p = cleat_json_strn(it.key, &key.n);
		if (cleat_json_getn(cleat_doc_root(own), key.p, key.n))
			continue;
		jw_keyn(&r->w, key);
		jw_value(&r->w, it.value);
	}
	cleat_doc_free(own);
	cleat_doc_free(other);
	return read ? CLEAT_OK : yaml_fail(r, CLEAT_ELIMIT, at, "too much for << to look through");
}

static int on_end(struct yaml_reader *r, const yaml_event_t *e)
{
	const struct level *l = &r->levels[r->depth - 1];

	for (size_t i = 0; i < l->n_merges; i++) {
		int rc = merge(r, l, &r->anchors[l->merges[i]], &e->start_mark);

		if (rc)
			return rc;
	}
	r->depth--;
	if (l->merge_list)
		r->levels[r->depth - 1].merge = false;
	else if (l->mapping)
		jw_obj_end(&r->w);
	else
		jw_arr_end(&r->w);
	node_done(r, l->anchor);
	return CLEAT_OK;
}

/* The alias comes after "<<". */
static int add_merge(struct yaml_reader *r, struct level *to, size_t anchor, const yaml_mark_t *at)
{
	if (buf_str(r->out).p[r->anchors[anchor].from] != '{')
		return no_merge(r, at);
	if (to->n_merges == MERGES_MAX)
		return yaml_fail(r, CLEAT_ELIMIT, at, "more than 16 mappings for one <<");
	to->merges[to->n_merges++] = (int)anchor;
	if (to->merge && to == &r->levels[r->depth - 1]) {
		to->merge = false;
		node_done(r, -1);
	}
	return CLEAT_OK;
}

static int on_alias(struct yaml_reader *r, const yaml_event_t *e)
{
	if (++r->n_aliases > ALIASES_MAX)
		return yaml_fail(r, CLEAT_ELIMIT, &e->start_mark, "more than 100000 aliases");
	for (size_t i = r->n_anchors; i-- > 0;) {
		const struct anchor *a = &r->anchors[i];
		char *copy;

		if (strcmp(a->name, (const char *)e->data.alias.anchor) != 0)
			continue;
		if (!a->to || key_expected(r))
			break;
		if (merging(r))
			return add_merge(r, merging(r), i, &e->start_mark);
		copy = mem_strndup(&r->out->mem, buf_str(r->out).p + a->from, a->to - a->from);
		if (!copy)
			return error_set(r->err, CLEAT_ENOMEM, "out of memory");
		jw_raw(&r->w, (struct str){ copy, a->to - a->from });
		mem_free(&r->out->mem, copy);
		node_done(r, -1);
		return CLEAT_OK;
	}
	return yaml_fail(r, CLEAT_EPROTO, &e->start_mark, "an alias without an anchor");
}

static int yaml_on_event(struct yaml_reader *r, const yaml_event_t *e)
{
	switch (e->type) {
	case YAML_SCALAR_EVENT: return on_scalar(r, e);
	case YAML_MAPPING_START_EVENT: return on_start(r, e, true);
	case YAML_SEQUENCE_START_EVENT: return on_start(r, e, false);
	case YAML_MAPPING_END_EVENT:
	case YAML_SEQUENCE_END_EVENT: return on_end(r, e);
	case YAML_ALIAS_EVENT: return on_alias(r, e);
	case YAML_DOCUMENT_START_EVENT:
		return r->done ? yaml_fail(r, CLEAT_EPROTO, &e->start_mark, "a second document")
			       : CLEAT_OK;
	default: return CLEAT_OK;
	}
}

static int yaml_read_all(struct yaml_reader *r)
{
	for (bool more = true; more;) {
		yaml_event_t e;
		int rc;

		if (!r->k->yaml_parser_parse(&r->parser, &e))
			return r->parser.error == YAML_MEMORY_ERROR
				       ? error_set(r->err, CLEAT_ENOMEM, "out of memory")
				       : yaml_fail(r, CLEAT_EPROTO, &r->parser.problem_mark,
						   r->parser.problem ? r->parser.problem
								     : "no YAML");
		more = e.type != YAML_STREAM_END_EVENT;
		rc = yaml_on_event(r, &e);
		r->k->yaml_event_delete(&e);
		if (rc != CLEAT_OK)
			return rc;
		if (buf_status(r->out) != CLEAT_OK)
			return error_set(r->err, buf_status(r->out), "the document is too large");
	}
	return r->done ? CLEAT_OK : error_set(r->err, CLEAT_EPROTO, "it is empty");
}

int yaml_to_json(struct str text, struct buf *out, cleat_error *err)
{
	struct calls own;
	const struct calls *k = calls_get(&own, err);
	struct yaml_reader *r;
	int rc;

	if (!k)
		return CLEAT_EUNSUPPORTED;
	r = mem_zalloc(&out->mem, sizeof *r);
	if (!r || !k->yaml_parser_initialize(&r->parser)) {
		mem_free(&out->mem, r);
		return error_set(err, CLEAT_ENOMEM, "out of memory");
	}
	r->k = k;
	r->out = out;
	r->err = err;
	jw_init(&r->w, out);
	k->yaml_parser_set_input_string(&r->parser, (const unsigned char *)(text.p ? text.p : ""),
					text.n);
	rc = yaml_read_all(r);
	k->yaml_parser_delete(&r->parser);
	for (size_t i = 0; i < r->n_anchors; i++)
		mem_free(&out->mem, r->anchors[i].name);
	mem_free(&out->mem, r);
	return rc;
}
