/* protocol/headers.c - see headers.h. Values are compared after decoding, numbers as numbers. */
#include "protocol/headers.h"

#include "base/error.h"
#include "base/mem.h"
#include "http/field.h"
#include "http/token.h"
#include "protocol/link.h"
#include "protocol/revision.h"
#include "json/parse.h"

#include <string.h>

enum {
	VALUE_MAX = 64 * 1024,
	PATH_MAX_DEPTH = 64,
	SHOWN = 60,
	PARAMS_MAX = 256,
	METHOD_MAX = 1024
};

static int mismatch(cleat_error *err, const char *field, struct str header, struct str body)
{
	return error_rpc(err, CLEAT_EPROTO, CLEAT_RPC_HEADER_MISMATCH,
			 "Header mismatch: %s is '%.*s' but the message says '%.*s'", field,
			 (int)(header.n < SHOWN ? header.n : SHOWN), header.p,
			 (int)(body.n < SHOWN ? body.n : SHOWN), body.p);
}

static int absent(cleat_error *err, const char *field)
{
	return error_rpc(
		err, CLEAT_EPROTO, CLEAT_RPC_HEADER_MISMATCH,
		"Header mismatch: the header %s is missing; requests of 2026-07-28 over HTTP "
		"carry it",
		field);
}

static int unreadable(cleat_error *err, struct str field)
{
	return error_rpc(err, CLEAT_EPROTO, CLEAT_RPC_HEADER_MISMATCH,
			 "Header mismatch: the header %.*s must appear once, as plain ASCII or as "
			 "=?base64?...?=",
			 (int)(field.n < SHOWN ? field.n : SHOWN), field.p);
}

static int headers_no_memory(cleat_error *err, int status)
{
	return error_rpc(err, CLEAT_ENOMEM, CLEAT_RPC_INTERNAL_ERROR, "%s",
			 cleat_strstatus(status));
}

/* The fields of one name, given in lower case: how many, and the value of the first. */
static size_t headers_find(const struct peer_headers *h, struct str name, struct str *ret)
{
	size_t n = 0;

	*ret = (struct str){ NULL, 0 };
	for (const struct http_field *f = h->fields; f < h->fields + h->n; f++)
		if (f->name.n == name.n && memcmp(f->name.p, name.p, name.n) == 0 && n++ == 0)
			*ret = f->value;
	return n;
}

/* A field that is sent as it is, without any encoding. `shown`: its name for people. */
static int check_plain(const struct peer_headers *h, struct str name, const char *shown,
		       struct str body, cleat_error *err)
{
	struct str value;
	size_t n = headers_find(h, name, &value);

	if (n == 0 && h->lenient)
		return CLEAT_OK;
	if (n != 1)
		return n ? unreadable(err, str_of(shown)) : absent(err, shown);
	return str_eq(value, body) ? CLEAT_OK : mismatch(err, shown, value, body);
}

/* The value of a field, decoded, in place or in *scratch. CLEAT_OK; CLEAT_ENOENT: it was not sent; CLEAT_EPROTO
 * or CLEAT_ENOMEM with the reason. */
static int read_value(const struct peer_headers *h, struct str name, struct buf *scratch,
		      struct str *ret, cleat_error *err)
{
	size_t n = headers_find(h, name, ret);
	int rc = n > 1 ? CLEAT_EPROTO : CLEAT_OK;

	if (n == 0)
		return CLEAT_ENOENT;
	if (rc == CLEAT_OK && !http_is_plain(*ret)) {
		rc = http_sentinel_decode(*ret, scratch);
		*ret = buf_str(scratch);
	}
	if (buf_status(scratch))
		return headers_no_memory(err, buf_status(scratch));
	return rc ? unreadable(err, name) : CLEAT_OK;
}

int headers_check_version(const struct peer_headers *h, struct str version, cleat_error *err)
{
	static const struct str name = STR_INIT("mcp-protocol-version");
	struct str value;

	if (h && h->lenient && headers_find(h, name, &value) == 1 &&
	    revision_find(value) != REV_NONE)
		return CLEAT_OK;
	return h ? check_plain(h, name, "MCP-Protocol-Version", version, err) : CLEAT_OK;
}

/* 2026-07-28 streamable-http, Standard Request Headers: the source of Mcp-Name. */
struct str headers_name(struct str method, const cleat_json *params)
{
	if (str_eqz(method, "tools/call") || str_eqz(method, "prompts/get"))
		return json_str(json_member(params, "name"));
	if (str_eqz(method, "resources/read"))
		return json_str(json_member(params, "uri"));
	return (struct str){ NULL, 0 };
}

static int check_name(const struct peer_headers *h, struct str body, const cleat_allocator *mem,
		      cleat_error *err)
{
	struct buf scratch;
	struct str value;
	int rc;

	buf_init(&scratch, mem, VALUE_MAX);
	rc = read_value(h, STR_LIT("mcp-name"), &scratch, &value, err);
	if (rc == CLEAT_ENOENT)
		rc = h->lenient ? CLEAT_OK : absent(err, "Mcp-Name");
	else if (rc == CLEAT_OK && !str_eq(value, body))
		rc = mismatch(err, "Mcp-Name", value, body);
	buf_done(&scratch);
	return rc;
}

int headers_check_request(const struct peer_headers *h, const struct rpc_message *m,
			  const cleat_allocator *mem, cleat_error *err)
{
	struct str name;
	int rc;

	if (!h)
		return CLEAT_OK;
	rc = check_plain(h, STR_LIT("mcp-method"), "Mcp-Method", m->method, err);
	if (rc)
		return rc;
	name = headers_name(m->method, m->params);
	return name.p ? check_name(h, name, mem, err) : CLEAT_OK; /* without one: not our error */
}

/* ---- what a client sends ---------------------------------------------------------------------- */

static void add_encoded(struct http_field_list *to, struct str name, struct str value)
{
	cleat_allocator mem = arena_allocator(to->ar);
	struct buf text;

	if (http_is_plain(value)) { /* an empty value, too, though the encoding has one for it */
		http_field_add(to, name, value);
		return;
	}
	buf_init(&text, &mem, 2 * value.n + 64);
	http_sentinel_encode(value, &text);
	http_field_add(to, name, buf_str(&text));
}

static bool is_visible(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < 0x21 || s.p[i] > 0x7E)
			return false;
	return s.n > 0 && s.n <= METHOD_MAX;
}

/* "Standard Request Headers": the method is sent as it is; there is no encoding for it. */
int headers_of(const struct link_message *m, struct http_field_list *to, cleat_error *err)
{
	if (m->method.p && !is_visible(m->method))
		return error_set(err, CLEAT_EINVAL,
				 "the method cannot be named in a header, as 2026-07-28 wants it");
	if (m->method.p)
		http_field_add(to, STR_LIT("Mcp-Method"), m->method);
	if (m->name.p)
		add_encoded(to, STR_LIT("Mcp-Name"), m->name);
	for (size_t i = 0; i < m->n_fields; i++) {
		if (!http_is_token(m->fields[i].name))
			return error_set(err, CLEAT_EINVAL,
					 "a header of this tool has an invalid name");
		add_encoded(to, m->fields[i].name, m->fields[i].value);
	}
	return CLEAT_OK;
}

/* ---- annotations ------------------------------------------------------------------------------ */

static bool is_primitive(const cleat_json *schema)
{
	struct str type = json_str(json_member(schema, "type"));

	return str_eqz(type, "string") || str_eqz(type, "integer") || str_eqz(type, "boolean");
}

static struct str field_name(struct arena *ar, struct str name)
{
	static const char prefix[] = "mcp-param-";
	size_t n = sizeof prefix - 1 + name.n;
	char *p = arena_alloc(ar, n + 1);

	if (!p)
		return (struct str){ 0 };
	memcpy(p, prefix, sizeof prefix - 1);
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];

		p[sizeof prefix - 1 + i] = (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
	}
	p[n] = '\0';
	return (struct str){ p, n };
}

static int bad(cleat_error *err, struct str property, const char *why)
{
	return error_set(err, CLEAT_EINVAL, "x-mcp-header of \"%.*s\": %s",
			 (int)(property.n < SHOWN ? property.n : SHOWN), property.p, why);
}

/* The way down through "properties": iterators over what is open. */
struct way {
	cleat_json_iter open[PATH_MAX_DEPTH];
	size_t depth;
};

static int add_param(struct arena *ar, const struct way *w, struct str name,
		     struct header_param **list, cleat_error *err)
{
	struct str property = json_str(w->open[w->depth - 1].key);
	struct header_param *p = arena_zalloc(ar, sizeof *p);

	if (!http_is_token(name))
		return bad(err, property, "must be letters, digits and - (a header field's name)");
	if (!is_primitive(w->open[w->depth - 1].value))
		return bad(err, property, "only strings, integers and booleans can be headers");
	if (p) {
		p->field = field_name(ar, name);
		p->path = arena_alloc(ar, w->depth * sizeof *p->path);
	}
	if (!p || !p->field.p || !p->path)
		return error_set(err, CLEAT_ENOMEM, "%s", cleat_strstatus(CLEAT_ENOMEM));
	for (const struct header_param *other = *list; other; other = other->next)
		if (str_eq(other->field, p->field))
			return bad(err, property, "another property has the same header");
	for (p->depth = 0; p->depth < w->depth; p->depth++)
		p->path[p->depth] = json_str(w->open[p->depth].key);
	p->next = *list;
	*list = p;
	return CLEAT_OK;
}

static void go_into(struct way *w, const cleat_json *schema)
{
	const cleat_json *properties = json_member(schema, "properties");

	if (json_is_object(properties) && w->depth < PATH_MAX_DEPTH)
		w->open[w->depth++] = cleat_json_each(properties);
}

/* A property may have that name, too: its value is a schema. */
static bool is_annotation(const cleat_json_iter *it)
{
	return it->key && str_eqz(json_str(it->key), "x-mcp-header") &&
	       !json_is_object(it->value) && cleat_json_type(it->value) != CLEAT_JSON_BOOL;
}

/* Wherever they stand; without recursion, through every container that is open. */
static size_t count_annotations(const cleat_json *schema)
{
	cleat_json_iter open[PATH_MAX_DEPTH * 2];
	size_t depth = 0, n = 0;

	open[depth++] = cleat_json_each(schema);
	while (depth) {
		cleat_json_iter *it = &open[depth - 1];

		if (!cleat_json_next(it)) {
			depth--;
			continue;
		}
		n += is_annotation(it);
		if ((json_is_object(it->value) || json_is_array(it->value)) &&
		    depth < CLEAT_COUNT(open))
			open[depth++] = cleat_json_each(it->value);
	}
	return n;
}

int header_params_find(struct arena *ar, const cleat_json *schema, struct header_param **ret,
		       cleat_error *err)
{
	size_t all = count_annotations(schema), found = 0;
	struct way w = { .depth = 0 };
	int rc = CLEAT_OK;

	*ret = NULL;
	if (all > PARAMS_MAX) /* and no endpoint takes so many header fields */
		return error_set(err, CLEAT_EINVAL,
				 "x-mcp-header appears in %zu places; at most %d", all, PARAMS_MAX);
	go_into(&w, schema);
	while (w.depth && !rc) {
		cleat_json_iter *it = &w.open[w.depth - 1];
		const cleat_json *name;

		if (!cleat_json_next(it)) {
			w.depth--;
			continue;
		}
		name = json_member(it->value, "x-mcp-header");
		if (name) {
			found++;
			rc = add_param(ar, &w, json_str(name), ret, err);
		}
		if (!rc)
			go_into(&w, it->value);
	}
	if (!rc && found != all)
		return error_set(
			err, CLEAT_EINVAL,
			"x-mcp-header may only appear in properties that are reached through "
			"\"properties\" alone, not in items, $defs, anyOf and the like");
	return rc;
}

/* ---- checking --------------------------------------------------------------------------------- */

const cleat_json *header_param_value(const struct header_param *p, const cleat_json *arguments)
{
	const cleat_json *v = arguments;

	for (size_t i = 0; i < p->depth && v; i++)
		v = json_get(v, p->path[i]);
	return cleat_json_type(v) == CLEAT_JSON_NULL ? NULL : v;
}

/* CLEAT_OK, CLEAT_EPROTO or CLEAT_ENOMEM. */
static int same_number(struct str text, const cleat_json *v, const cleat_allocator *mem)
{
	cleat_error why = { 0 };
	cleat_doc *doc = cleat_doc_parse(text.p, text.n, NULL, mem, &why);
	bool same = cleat_json_type(cleat_doc_root(doc)) == CLEAT_JSON_NUMBER &&
		    cleat_json_equal(cleat_doc_root(doc), v);

	cleat_doc_free(doc);
	return same ? CLEAT_OK : why.status == CLEAT_ENOMEM ? CLEAT_ENOMEM : CLEAT_EPROTO;
}

static int headers_compare(struct str header, const cleat_json *v, const cleat_allocator *mem)
{
	bool same = true;

	switch (cleat_json_type(v)) {
	case CLEAT_JSON_NUMBER: return same_number(header, v, mem);
	case CLEAT_JSON_STRING: same = str_eq(header, json_str(v)); break;
	case CLEAT_JSON_BOOL:
		same = str_eqz(header, cleat_json_bool(v, false) ? "true" : "false");
		break;
	default: break; /* the arguments do not fit the schema, which is said elsewhere */
	}
	return same ? CLEAT_OK : CLEAT_EPROTO;
}

static int compare_param(const struct header_param *p, struct str header, const cleat_json *v,
			 const cleat_allocator *mem, cleat_error *err)
{
	int rc = headers_compare(header, v, mem);

	if (rc == CLEAT_ENOMEM)
		return headers_no_memory(err, rc);
	return rc ? mismatch(err, p->field.p, header, STR_LIT("something else")) : CLEAT_OK;
}

static int check_param(const struct peer_headers *h, const struct header_param *p,
		       const cleat_json *v, const cleat_allocator *mem, cleat_error *err)
{
	struct buf scratch;
	struct str value;
	int rc;

	buf_init(&scratch, mem, VALUE_MAX);
	rc = read_value(h, p->field, &scratch, &value, err);
	if (rc == CLEAT_ENOENT)
		rc = v && !h->lenient ? absent(err, p->field.p) : CLEAT_OK;
	else if (rc == CLEAT_OK && !v)
		rc = mismatch(err, p->field.p, value, STR_LIT("nothing"));
	else if (rc == CLEAT_OK)
		rc = compare_param(p, value, v, mem, err);
	buf_done(&scratch);
	return rc;
}

int header_params_check(const struct peer_headers *h, const struct header_param *params,
			const cleat_json *arguments, const cleat_allocator *mem, cleat_error *err)
{
	int rc = CLEAT_OK;

	for (; h && params && !rc; params = params->next)
		rc = check_param(h, params, header_param_value(params, arguments), mem, err);
	return rc;
}
