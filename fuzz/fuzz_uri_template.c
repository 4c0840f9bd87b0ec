/* fuzz_uri_template.c - a template, a newline, a URI: compile, match, expand.
 *
 * Invariants: work within its bound; values terminated, UTF-8, without NUL, in the order of the
 * names; what matched can be expanded; and for templates without the constructs that matching
 * cannot undo, the expansion matches again and has then settled: expanding once more changes
 * nothing.
 */
#include "require.h"
#include "uri/template_impl.h"
#include "json/parse.h"
#include "json/writer.h"

#include <stdlib.h>
#include <string.h>

/* Does every value show in a form that matching can tell from the literals around it? */
static bool reversible(const struct uri_template *t)
{
	for (size_t p = 0; p < t->n_parts; p++)
		switch (t->parts[p].op) {
		case OP_RESERVED:
		case OP_FRAGMENT:
		case OP_PARAM:
		case OP_QUERY_MORE: return false;
		default: break;
		}
	for (size_t i = 0; i < t->n_specs; i++)
		if (t->specs[i].explode || t->specs[i].max)
			return false;
	return t->n_specs == t->n_names;
}

static void check_vars(const struct uri_template *t, const struct uri_vars *vars)
{
	size_t next = 0;

	for (size_t i = 0; i < vars->n; i++) {
		struct str value = vars->v[i].value;

		while (!str_eq(uri_template_var_name(t, next), vars->v[i].name))
			require(next++ < uri_template_var_count(t));
		next++;
		require(value.p[value.n] == '\0' && !str_has_nul(value));
		require(utf8_valid_prefix(value) == value.n);
	}
}

static bool match(struct arena *ar, const struct uri_template *t, struct str uri,
		  struct uri_vars *ret)
{
	bool ok = uri_template_match(t, uri, ar, ret);

	require(!arena_failed(ar));
	require(ret->steps <= 8 * (t->text.n + 1) * (uri.n + 1));
	require(ok || ret->n == 0);
	if (ok)
		check_vars(t, ret);
	return ok;
}

static void expand(struct arena *ar, const struct uri_template *t, const struct uri_vars *vars,
		   struct buf *out)
{
	const cleat_json *v;
	struct buf text;
	struct jw w;

	buf_init(&text, NULL, 4 << 20);
	jw_init(&w, &text);
	jw_obj(&w);
	for (size_t i = 0; i < vars->n; i++) {
		jw_keyn(&w, vars->v[i].name);
		jw_str(&w, vars->v[i].value);
	}
	jw_obj_end(&w);
	require(buf_status(&text) == CLEAT_OK);
	require(json_parse(ar, buf_str(&text), NULL, &v, NULL) == CLEAT_OK);
	require(uri_template_expand(t, v, out, NULL) == CLEAT_OK);
	buf_done(&text);
}

static void round_trip(struct arena *ar, const struct uri_template *t, struct str uri)
{
	struct uri_vars vars;
	struct buf once, twice;

	if (!match(ar, t, uri, &vars))
		return;
	buf_init(&once, NULL, 8 << 20);
	buf_init(&twice, NULL, 8 << 20);
	expand(ar, t, &vars, &once);
	if (reversible(t) && buf_size(&once) <= URI_MAX_LEN) {
		require(match(ar, t, buf_str(&once), &vars));
		expand(ar, t, &vars, &twice);
		require(str_eq(buf_str(&once), buf_str(&twice)));
	}
	buf_done(&once);
	buf_done(&twice);
}

/* The URI as JSON variables: lists, objects and numbers that no match gives. */
static void expand_any(struct arena *ar, const struct uri_template *t, struct str text)
{
	const cleat_json *v;
	struct buf out;

	if (json_parse(ar, text, NULL, &v, NULL) != CLEAT_OK)
		return;
	buf_init(&out, NULL, 1 << 20);
	if (uri_template_expand(t, v, &out, NULL) != CLEAT_OK)
		require(buf_size(&out) == 0);
	for (size_t i = 0; i < buf_size(&out); i++)
		require(buf_str(&out).p[i] == '%' ||
			uri_char_class(buf_str(&out).p[i]) != CHAR_OTHER);
	buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *cut = size ? memchr(data, '\n', size) : NULL;
	size_t n = cut ? (size_t)(cut - data) : size;
	struct str text = { (const char *)data, n }, uri = { "", 0 };
	const struct uri_template *t;
	cleat_error err;
	struct arena ar;

	if (cut)
		uri = (struct str){ (const char *)cut + 1, size - n - 1 };
	arena_init(&ar, NULL, 0);
	if (uri_template_compile(&ar, text, &t, &err) == CLEAT_OK) {
		require(uri_template_var_count(t) <= URI_TEMPLATE_MAX_VARS);
		require(uri_is_template(text) == (uri_template_var_count(t) > 0));
		require(uri_template_compare(t, t) == 0);
		round_trip(&ar, t, uri);
		expand_any(&ar, t, uri);
	} else {
		require(err.status < 0 && err.message[0]);
	}
	arena_done(&ar);
	return 0;
}
