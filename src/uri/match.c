/* uri/match.c - a URI back to the variables of a template; see template.h for the rules.
 *
 * Method. The URI in normal form is cut into units: characters, where an escape, or the escapes of
 * one UTF-8 sequence, are one. can(k, u) says whether atoms k... match exactly the units u...; it is
 * a bit table that is filled from the last atom to the first. Then one walk from the front takes,
 * at each atom, the longest choice that can() allows. can(0, 0) holds at its start, each step keeps
 * it true, so the walk never has to go back, and what it finds is the greedy match.
 *
 * Bound. A run's row takes one step per unit (the nearest good end is carried along from the
 * right), an optional's as well, a literal's at most its length per unit; the walk visits a unit
 * once per run. With T template bytes, at most 3T + 1 atoms and N units, all of it is at most
 * 8 (T + 1) (N + 1) steps, whatever the input: there is no backtracking. `steps` counts them.
 */
#include "uri/template_impl.h"

#include "base/error.h"
#include "base/mem.h"
#include "json/doc.h"
#include "json/writer.h"

#include <cleat/uri.h>

#include <string.h>

struct value {
	struct str text; /* absent: undefined */
	size_t max;      /* the prefix modifier it was found with */
};

struct match {
	const struct uri_template *t;
	struct arena *ar;  /* the caller's: values */
	struct arena work; /* everything else */
	char *s;           /* the URI in normal form */
	uint16_t *pos;     /* where unit u begins; pos[n] is the end */
	size_t n;          /* units */
	unsigned char *rows;
	size_t row_size;
	struct str span[URI_TEMPLATE_MAX_VARS]; /* by spec: what the walk found; absent: nothing */
	struct value value[URI_TEMPLATE_MAX_VARS]; /* by name */
	size_t steps;
};

enum { NONE = 0xFFFFFF }; /* more than any unit */

/* ---- units -------------------------------------------------------------------------------- */

/* The cheap test that decides most routing: does the URI begin with the template's first literal?
 * Takes no memory. */
static bool begins_right(struct match *m, struct str uri)
{
	struct str lit = m->t->n_atoms ? m->t->atoms[0].text : (struct str){ NULL, 0 };
	size_t i = 0, at = 0;

	while (at < lit.n) {
		char piece[3];
		size_t len = i < uri.n ? uri_normal_next(uri, &i, piece) : 0;

		m->steps++;
		if (len == 0 || len > lit.n - at || memcmp(piece, lit.p + at, len) != 0)
			return false;
		at += len;
	}
	return true;
}

/* False for a broken escape or no memory. */
static bool cut(struct match *m, struct str uri)
{
	size_t at = 0, i = 0;

	m->s = arena_alloc(&m->work, uri.n * 3);
	m->pos = arena_alloc(&m->work, (uri.n + 1) * sizeof *m->pos);
	if (!m->s || !m->pos)
		return false;
	while (i < uri.n) {
		size_t len = uri_normal_next(uri, &i, m->s + at);

		if (len == 0)
			return false;
		if (m->n == 0 || !uri_continues(m->s + at, len))
			m->pos[m->n++] = (uint16_t)at;
		at += len;
	}
	m->pos[m->n] = (uint16_t)at;
	m->steps += uri.n;
	return true;
}

static char unit(const struct match *m, size_t u)
{
	return m->s[m->pos[u]];
}

static unsigned stop_bit(char c)
{
	switch (c) {
	case '/': return STOP_SLASH;
	case '?': return STOP_QUESTION;
	case '#': return STOP_HASH;
	case ',': return STOP_COMMA;
	case '&': return STOP_AMP;
	case ';': return STOP_SEMICOLON;
	default: return 0;
	}
}

/* ---- the table ---------------------------------------------------------------------------- */

static bool can(const struct match *m, size_t k, size_t u)
{
	return m->rows[k * m->row_size + u / 8] >> (u % 8) & 1;
}

static void set(struct match *m, size_t k, size_t u)
{
	m->rows[k * m->row_size + u / 8] |= (unsigned char)(1u << (u % 8));
}

static bool literal_at(struct match *m, const struct uri_atom *a, size_t u)
{
	m->steps += a->text.n;
	return (size_t)(m->pos[u + a->units] - m->pos[u]) == a->text.n &&
	       memcmp(m->s + m->pos[u], a->text.p, a->text.n) == 0;
}

static void fill_literal(struct match *m, const struct uri_atom *a, size_t k)
{
	for (size_t u = 0; u + a->units <= m->n; u++)
		if (can(m, k + 1, u + a->units) && literal_at(m, a, u))
			set(m, k, u);
}

static void fill_optional(struct match *m, const struct uri_atom *a, size_t k)
{
	for (size_t u = 0; u <= m->n; u++)
		if (can(m, k + 1, u) || can(m, a->skip, u))
			set(m, k, u);
}

/* Is this unit a slash that a run of segments may not begin or end with? */
static bool edge(const struct match *m, const struct uri_atom *a, size_t u)
{
	return a->segments && unit(m, u) == '/';
}

/* May a run go from unit u on to unit u + 1? */
static bool goes_on(const struct match *m, const struct uri_atom *a, size_t u)
{
	return u + 1 < m->n && !(edge(m, a, u) && edge(m, a, u + 1));
}

static void fill_run(struct match *m, const struct uri_atom *a, size_t k)
{
	size_t near = NONE; /* the nearest end that a run from here can have */

	if (a->empty && can(m, k + 1, m->n))
		set(m, k, m->n);
	for (size_t u = m->n; u-- > 0;) {
		bool in = !(a->stops & stop_bit(unit(m, u)));

		if (!in || !goes_on(m, a, u))
			near = NONE;
		if (in && !edge(m, a, u) && can(m, k + 1, u + 1))
			near = u + 1;
		if ((near != NONE && !edge(m, a, u) && (!a->max || near - u <= a->max)) ||
		    (a->empty && can(m, k + 1, u)))
			set(m, k, u);
	}
}

/* False when memory is short. */
static bool match_fill(struct match *m)
{
	size_t atoms = m->t->n_atoms;

	m->row_size = m->n / 8 + 1;
	m->rows = arena_zalloc(&m->work, (atoms + 1) * m->row_size);
	if (!m->rows)
		return false;
	set(m, atoms, m->n);
	for (size_t k = atoms; k-- > 0;) {
		const struct uri_atom *a = &m->t->atoms[k];

		m->steps += m->n + 1;
		switch (a->kind) {
		case ATOM_LITERAL: fill_literal(m, a, k); break;
		case ATOM_OPTIONAL: fill_optional(m, a, k); break;
		case ATOM_RUN: fill_run(m, a, k); break;
		}
	}
	return true;
}

/* ---- the walk ----------------------------------------------------------------------------- */

static size_t longest(struct match *m, const struct uri_atom *a, size_t k, size_t u)
{
	size_t best = u, e = u;

	while (e < m->n && (!a->max || e - u < a->max) && !(a->stops & stop_bit(unit(m, e)))) {
		m->steps++;
		if (!edge(m, a, e) && can(m, k + 1, e + 1))
			best = e + 1;
		if (!goes_on(m, a, e))
			break;
		e++;
	}
	return best;
}

static void walk(struct match *m)
{
	size_t k = 0, u = 0;

	while (k < m->t->n_atoms) {
		const struct uri_atom *a = &m->t->atoms[k];
		size_t e;

		if (a->kind == ATOM_LITERAL) {
			u += a->units;
		} else if (a->kind == ATOM_RUN) {
			e = longest(m, a, k, u);
			m->span[a->spec] =
				(struct str){ m->s + m->pos[u], (size_t)(m->pos[e] - m->pos[u]) };
			u = e;
		} else if (!can(m, k + 1, u)) {
			if (a->spec != NO_SPEC)
				m->span[a->spec] = (struct str){ m->s + m->pos[u], 0 };
			k = a->skip;
			continue;
		}
		k++;
	}
}

/* ---- values ------------------------------------------------------------------------------- */

/* Decodes normal form; returns the length. */
static size_t match_decode(char *out, struct str s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] != '%') {
			out[n++] = s.p[i];
			continue;
		}
		out[n++] = (char)(uri_hex_digit(s.p[i + 1]) << 4 | uri_hex_digit(s.p[i + 2]));
		i += 2;
	}
	return n;
}

/* Gives a variable its value, or compares with the one it has. The one that was found with the
 * longer prefix (or with none) is kept; the other has to be its beginning. */
static bool define(struct match *m, const struct uri_spec *spec, struct str text)
{
	struct value *old = &m->value[spec->slot];
	struct value new = { text, spec->max };
	struct value part = new;

	if (str_has_nul(text) || utf8_valid_prefix(text) != text.n)
		return false;
	if (uri_prefix(text, spec->max).n != text.n)
		return false;
	if (old->text.p && (old->max == 0 || (new.max &&new.max < old->max)))
		new = *old;
	else if (old->text.p)
		part = *old;
	*old = new;
	return str_eq(part.text, uri_prefix(new.text, part.max));
}

static bool define_path(struct match *m, const struct uri_spec *spec, struct str raw)
{
	char *p = arena_alloc(m->ar, raw.n + 1);
	size_t n;

	if (!p)
		return false;
	n = match_decode(p, raw);
	p[n] = '\0';
	return define(m, spec, (struct str){ p, n });
}

/* Takes the next "name=value" off the pairs; false at the end. */
static bool next_pair(struct str *pairs, struct str *name, struct str *value)
{
	const char *end, *equals;
	size_t n;

	if (pairs->n == 0)
		return false;
	end = memchr(pairs->p, '&', pairs->n);
	n = end ? (size_t)(end - pairs->p) : pairs->n;
	equals = memchr(pairs->p, '=', n);
	*name = (struct str){ pairs->p, equals ? (size_t)(equals - pairs->p) : n };
	*value = (struct str){ pairs->p + n, 0 };
	if (equals)
		*value = (struct str){ equals + 1, n - name->n - 1 };
	pairs->p += end ? n + 1 : n;
	pairs->n -= end ? n + 1 : n;
	return true;
}

/* Goes over the pairs that all query expressions found and joins the values of one variable into
 * `out` (NULL: only measures). Names are not decoded: expansion never encodes them, and two
 * spellings of one name would let one parameter hide another. */
static size_t gather(struct match *m, const struct uri_spec *spec, char *out, size_t *ret_n)
{
	size_t hits = 0, n = 0;

	for (size_t i = 0; i < m->t->n_specs; i++) {
		struct str pairs = m->span[i], name, value;

		if (!m->t->specs[i].query)
			continue;
		m->steps += pairs.n;
		while (next_pair(&pairs, &name, &value)) {
			if (!str_eq(name, spec->key))
				continue;
			if (hits++ > 0) {
				if (out)
					out[n] = ',';
				n++;
			}
			n += out ? match_decode(out + n, value) : value.n;
		}
	}
	*ret_n = n;
	return hits;
}

static bool define_query(struct match *m, const struct uri_spec *spec)
{
	size_t n, hits = gather(m, spec, NULL, &n);
	char *p;

	if (hits == 0)
		return true;
	if (hits > 1 && !spec->explode)
		return false;
	p = arena_alloc(m->ar, n + 1);
	if (!p)
		return false;
	gather(m, spec, p, &n);
	p[n] = '\0';
	return define(m, spec, (struct str){ p, n });
}

static bool define_all(struct match *m)
{
	for (size_t i = 0; i < m->t->n_specs; i++) {
		const struct uri_spec *spec = &m->t->specs[i];

		if (spec->query ? !define_query(m, spec)
				: m->span[i].p && !define_path(m, spec, m->span[i]))
			return false;
	}
	return true;
}

static bool give(struct match *m, struct uri_vars *ret)
{
	ret->v = arena_alloc(m->ar, m->t->n_names * sizeof *ret->v);
	if (!ret->v)
		return false;
	for (size_t i = 0; i < m->t->n_names; i++)
		if (m->value[i].text.p)
			ret->v[ret->n++] = (struct uri_var){ m->t->names[i], m->value[i].text };
	return true;
}

bool uri_template_match(const struct uri_template *t, struct str uri, struct arena *ar,
			struct uri_vars *ret)
{
	struct match m = { .t = t, .ar = ar };
	bool ok = false;

	*ret = (struct uri_vars){ .n = 0 };
	if (uri.n > URI_MAX_LEN)
		return false;
	if (begins_right(&m, uri)) {
		arena_init(&m.work, &ar->mem, 0);
		if (cut(&m, uri) && match_fill(&m) && can(&m, 0, 0)) {
			walk(&m);
			ok = define_all(&m) && give(&m, ret);
		}
		if (arena_failed(&m.work))
			ar->failed = true;
		arena_done(&m.work);
	}
	ret->steps = m.steps;
	return ok;
}

/* ---- public ------------------------------------------------------------------------------- */

static cleat_doc *make_doc(const struct uri_vars *vars, const cleat_allocator *mem,
			   cleat_error *err)
{
	cleat_build *b = cleat_build_new(mem);
	struct jw w;

	if (doc_writer(b, &w)) {
		jw_obj(&w);
		for (size_t i = 0; i < vars->n; i++) {
			jw_keyn(&w, vars->v[i].name);
			jw_str(&w, vars->v[i].value);
		}
		jw_obj_end(&w);
	}
	return cleat_build_finish(b, err);
}

cleat_doc *cleat_uri_template_match(const char *tmpl, const char *uri, const cleat_allocator *mem,
				    cleat_error *err)
{
	const struct uri_template *t;
	cleat_doc *doc = NULL;
	struct uri_vars vars;
	struct arena ar;

	if (!tmpl || !uri) {
		error_set(err, CLEAT_EINVAL, "URI template: template or URI is missing");
		return NULL;
	}
	arena_init(&ar, mem, 0);
	if (uri_template_compile(&ar, str_of(tmpl), &t, err) == CLEAT_OK) {
		if (uri_template_match(t, str_of(uri), &ar, &vars))
			doc = make_doc(&vars, mem, err);
		else if (arena_failed(&ar))
			error_set(err, CLEAT_ENOMEM, "out of memory");
		else
			error_set(err, CLEAT_ENOENT, "the URI does not match the template");
	}
	arena_done(&ar);
	return doc;
}
