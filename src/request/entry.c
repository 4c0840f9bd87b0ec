/* request/entry.c - a public struct becomes a checked, self-contained, counted entry.
 *
 * Everything is copied into the entry's arena. What is wrong is found here, when the server is
 * built, and not when a client calls.
 */
#include "request/entry.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/sized.h"
#include "field/field.h"
#include "field/signature.h"
#include "json/copy.h"
#include "json/parse.h"

#include <string.h>

enum { NAME_MAX_LEN = 128, ENTRY_ARENA_MAX = 8 << 20 };

static struct entry *new_entry(const cleat_allocator *mem, enum shelf_kind kind)
{
	struct entry *e = mem_zalloc(mem, sizeof *e);

	if (!e)
		return NULL;
	e->kind = kind;
	e->refs = 1;
	arena_init(&e->arena, mem, ENTRY_ARENA_MAX);
	return e;
}

void entry_discard(struct entry *e)
{
	cleat_allocator mem;

	if (!e)
		return;
	mem = e->arena.mem;
	cleat_schema_free(e->input_schema);
	cleat_schema_free(e->output_schema);
	arena_done(&e->arena);
	mem_free(&mem, e);
}

void entry_unref(struct entry *e)
{
	if (!e || --e->refs)
		return;
	if (e->destroy)
		e->destroy(e->userdata);
	entry_discard(e);
}

/* 2025-11-25 server/tools: names SHOULD be 1-128 of A-Za-z0-9_.- ; older servers use others, such as
 * "calculator/add", so those work, with a remark. */
static int check_name(const char *what, const char *name, cleat_error *note, cleat_error *err)
{
	size_t n = name ? strlen(name) : 0;
	bool plain = true;

	if (n == 0)
		return error_set(err, CLEAT_EINVAL, "a %s needs a name", what);
	if (utf8_length(str_of(name)) > NAME_MAX_LEN)
		return error_set(err, CLEAT_EINVAL,
				 "%s name \"%.40s...\" has %zu characters; at most %d are allowed",
				 what, name, n, NAME_MAX_LEN);
	for (const char *p = name; *p; p++) {
		unsigned char c = (unsigned char)*p;

		if (c <= ' ' || c == 0x7F)
			return error_set(
				err, CLEAT_EINVAL,
				"%s name \"%s\" contains a space or control character; use "
				"letters, digits, _ . -",
				what, name);
		plain = plain && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
				  (c >= '0' && c <= '9') || strchr("_.-", c));
	}
	if (utf8_valid_prefix(str_of(name)) != n)
		return error_set(err, CLEAT_EINVAL, "a %s name is not UTF-8", what);
	if (!plain)
		error_set(note, CLEAT_OK,
			  "%s name \"%s\" has characters outside A-Z a-z 0-9 _ . - ; some clients "
			  "refuse it",
			  what, name);
	return CLEAT_OK;
}

/* A copy of JSON text that must be an object, in compact form. */
static int copy_object(struct entry *e, const char *what, const char *text, struct str *ret,
		       const cleat_json **ret_value, cleat_error *err)
{
	const cleat_json *v;
	cleat_error why;
	int rc = json_parse(&e->arena, str_of(text), NULL, &v, &why);

	if (rc == CLEAT_ENOMEM)
		return error_set(err, rc, "%s", cleat_strstatus(rc));
	if (rc || !json_is_object(v))
		return error_set(err, CLEAT_EINVAL, "\"%s\": %s is not a JSON object%s%s", e->key.p,
				 what, rc ? ": " : "", rc ? why.message : "");
	*ret = json_text(&e->arena, v);
	if (!ret->p)
		return error_set(err, CLEAT_ENOMEM, "%s", cleat_strstatus(CLEAT_ENOMEM));
	if (ret_value)
		*ret_value = v;
	return CLEAT_OK;
}

static int copy_meta(struct entry *e, const char **meta, cleat_error *err)
{
	struct str text;
	int rc;

	if (!*meta)
		return CLEAT_OK;
	rc = copy_object(e, "meta", *meta, &text, NULL, err);
	*meta = text.p;
	return rc;
}

int entry_icons_check(const cleat_icon *icons, cleat_error *err)
{
	int rc = CLEAT_OK;

	for (; icons && icons->src && !rc; icons++)
		rc = SIZED_RESERVED(icons, cleat_icon, err);
	return rc;
}

const cleat_icon *entry_copy_icons(struct arena *ar, const cleat_icon *icons)
{
	size_t n = 0;
	cleat_icon *copy;

	if (!icons)
		return NULL;
	while (icons[n].src)
		n++;
	copy = arena_zalloc(ar, (n + 1) * sizeof *copy);
	for (size_t i = 0; copy && i < n; i++) {
		copy[i].src = arena_strdup(ar, icons[i].src);
		copy[i].mime_type = arena_strdup(ar, icons[i].mime_type);
		copy[i].sizes = arena_strdup(ar, icons[i].sizes);
		copy[i].theme = arena_strdup(ar, icons[i].theme);
	}
	return copy;
}

static const cleat_annotations *copy_annotations(struct arena *ar, const cleat_annotations *a)
{
	cleat_annotations *copy = a ? arena_alloc(ar, sizeof *copy) : NULL;

	if (copy) {
		*copy = *a;
		copy->last_modified = arena_strdup(ar, a->last_modified);
	}
	return copy;
}

static int copy_fields(struct entry *e, const char *what, const cleat_field *fields,
		       const cleat_field **ret, cleat_error *err)
{
	cleat_error why;
	int rc = field_table_check(fields, &why);

	if (rc)
		return error_set(err, rc, "\"%s\": %s: %s", e->key.p, what, why.message);
	*ret = field_table_copy(&e->arena, fields);
	return *ret ? CLEAT_OK : error_set(err, CLEAT_ENOMEM, "%s", cleat_strstatus(CLEAT_ENOMEM));
}

static int fields_schema(struct entry *e, const cleat_field *fields, enum field_schema_style style,
			 struct str *ret, cleat_error *err)
{
	struct buf b;
	struct jw w;

	buf_init(&b, &e->arena.mem, ENTRY_ARENA_MAX);
	jw_init(&w, &b);
	field_write_schema(&w, fields, style);
	ret->n = buf_size(&b);
	ret->p = buf_status(&b) ? NULL : arena_strndup(&e->arena, buf_str(&b).p, ret->n);
	buf_done(&b);
	return ret->p ? CLEAT_OK
		      : error_set(err, CLEAT_ENOMEM, "%s", cleat_strstatus(CLEAT_ENOMEM));
}

/* A signature gives name, fields and perhaps a description. */
static int read_signature(struct entry *e, const char *text, const char **name,
			  const char **description, cleat_error *err)
{
	struct signature sig = { 0 };
	cleat_error why;
	int rc = signature_parse(&e->arena, text, &sig, NULL, &why);

	if (rc)
		return error_set(err, rc, "signature \"%.60s\": %s", text, why.message);
	if (*name && strcmp(*name, sig.name) != 0)
		return error_set(err, CLEAT_EINVAL, "name \"%s\" and signature \"%s\" differ",
				 *name, sig.name);
	*name = sig.name;
	if (!*description)
		*description = sig.description;
	e->input = sig.fields;
	return CLEAT_OK;
}

/* A schema that the program wrote. What cannot be checked against later is refused now, as
 * 2025-11-25 basic (JSON Schema usage) wants it for dialects that are not supported. */
static int compile_schema(struct entry *e, const char *what, const cleat_json *json,
			  cleat_schema **ret, cleat_error *err)
{
	const cleat_schema_options opts = { .allocator = &e->arena.mem };
	cleat_error why;

	*ret = cleat_schema_new(json, &opts, &why);
	return *ret ? CLEAT_OK
		    : error_set(err, why.status, "\"%s\": %s: %s", e->key.p, what, why.message);
}

static int find_headers(struct entry *e, const cleat_json *schema, cleat_error *err)
{
	cleat_error why;
	int rc = header_params_find(&e->arena, schema, &e->headers, &why);

	return rc ? error_set(err, rc, "\"%s\": input_schema: %s", e->key.p, why.message) : rc;
}

static int tool_input(struct entry *e, const cleat_tool *t, cleat_error *err)
{
	const cleat_json *v = NULL, *type;
	int rc;

	if (!!t->signature + !!t->input + !!t->input_schema > 1)
		return error_set(err, CLEAT_EINVAL,
				 "\"%s\": give one of signature, input and input_schema", e->key.p);
	if (t->input_schema) {
		rc = copy_object(e, "input_schema", t->input_schema, &e->schemas.input, &v, err);
		type = json_member(v, "type");
		if (!rc && !str_eqz(json_str(type), "object"))
			return error_set(err, CLEAT_EINVAL,
					 "\"%s\": input_schema must say \"type\": \"object\"",
					 e->key.p);
		if (!rc)
			rc = compile_schema(e, "input_schema", v, &e->input_schema, err);
		return rc ? rc : find_headers(e, v, err);
	}
	if (t->input) {
		rc = copy_fields(e, "input", t->input, &e->input, err);
		if (rc)
			return rc;
		e->decodes = true;
	}
	return fields_schema(e, e->input, FIELD_SCHEMA_ARGUMENTS, &e->schemas.input, err);
}

static int tool_output(struct entry *e, const cleat_tool *t, cleat_error *err)
{
	const cleat_json *v;
	int rc;

	if (t->output && t->output_schema)
		return error_set(err, CLEAT_EINVAL, "\"%s\": give one of output and output_schema",
				 e->key.p);
	if (t->output_schema) {
		rc = copy_object(e, "output_schema", t->output_schema, &e->schemas.output, &v, err);
		if (rc)
			return rc;
		e->schemas.output_is_object = str_eqz(json_str(json_member(v, "type")), "object");
		return compile_schema(e, "output_schema", v, &e->output_schema, err);
	}
	if (!t->output)
		return CLEAT_OK;
	rc = copy_fields(e, "output", t->output, &e->output, err);
	if (!rc)
		rc = fields_schema(e, e->output, FIELD_SCHEMA_TOOL, &e->schemas.output, err);
	e->schemas.output_is_object = true;
	return rc;
}

static int entry_finish(struct entry *e, int rc, struct entry **ret, cleat_error *err)
{
	if (arena_failed(&e->arena)) /* then "no name" and the like are its consequences */
		rc = error_set(err, CLEAT_ENOMEM, "%s", cleat_strstatus(CLEAT_ENOMEM));
	if (rc) {
		entry_discard(e);
		return rc;
	}
	*ret = e;
	return CLEAT_OK;
}

int entry_from_tool(const cleat_allocator *mem, const cleat_tool *t, struct entry **ret,
		    cleat_error *note, cleat_error *err)
{
	struct entry *e = new_entry(mem, SHELF_TOOLS);
	cleat_tool *c;
	int rc;

	error_clear(note);
	if (!e)
		return error_set(err, CLEAT_ENOMEM, "%s", cleat_strstatus(CLEAT_ENOMEM));
	c = &e->tool;
	*c = *t;
	e->userdata = t->userdata;
	e->destroy = t->destroy;
	c->name = arena_strdup(&e->arena, t->name);
	c->title = arena_strdup(&e->arena, t->title);
	c->description = arena_strdup(&e->arena, t->description);
	c->icons = entry_copy_icons(&e->arena, t->icons);
	rc = entry_icons_check(t->icons, err);
	if (!rc && t->signature)
		rc = read_signature(e, t->signature, &c->name, &c->description, err);
	if (!rc)
		rc = check_name("tool", c->name, note, err);
	e->key = str_of(c->name ? c->name : "");
	if (!rc && !t->call)
		rc = error_set(err, CLEAT_EINVAL, "tool \"%s\" has no call handler", c->name);
	if (!rc)
		rc = tool_input(e, t, err);
	if (!rc)
		rc = tool_output(e, t, err);
	if (!rc)
		rc = copy_meta(e, &c->meta, err);
	c->input = e->input;
	c->output = e->output;
	c->signature = c->input_schema = c->output_schema = NULL;
	return entry_finish(e, rc, ret, err);
}

/* RFC 3986: a scheme, a colon, and no white space or control characters. */
static int check_uri(const char *uri, cleat_error *err)
{
	size_t i = 0;

	if (!uri || !*uri)
		return error_set(err, CLEAT_EINVAL, "a resource needs a URI");
	while ((uri[i] >= 'a' && uri[i] <= 'z') || (uri[i] >= 'A' && uri[i] <= 'Z') ||
	       (i && ((uri[i] >= '0' && uri[i] <= '9') || (uri[i] && strchr("+-.", uri[i])))))
		i++;
	if (i == 0 || uri[i] != ':')
		return error_set(
			err, CLEAT_EINVAL,
			"resource URI \"%.80s\" has no scheme; write for example \"file:///x\" "
			"or \"notes://%.40s\"",
			uri, uri);
	for (const char *p = uri; *p; p++)
		if ((unsigned char)*p <= ' ' || *p == 0x7F)
			return error_set(
				err, CLEAT_EINVAL,
				"resource URI \"%.80s\" contains a space or control character",
				uri);
	if (!uri_is_template(str_of(uri)) && strpbrk(uri, "{}"))
		return error_set(
			err, CLEAT_EINVAL,
			"resource URI \"%.80s\" has a brace but is not a template; write {name}",
			uri);
	if (utf8_valid_prefix(str_of(uri)) != strlen(uri))
		return error_set(err, CLEAT_EINVAL, "a resource URI is not UTF-8");
	return CLEAT_OK;
}

static int resource_pattern(struct entry *e, const cleat_resource *r, cleat_error *err)
{
	cleat_error why;
	int rc;

	if (e->kind != SHELF_TEMPLATES)
		return CLEAT_OK;
	if (r->text)
		return error_set(err, CLEAT_EINVAL,
				 "template \"%s\" has a fixed text; give a read handler", r->uri);
	rc = uri_template_compile(&e->arena, e->key, &e->pattern, &why);
	return rc ? error_set(err, rc, "template \"%.80s\": %s", r->uri, why.message) : CLEAT_OK;
}

int entry_from_resource(const cleat_allocator *mem, const cleat_resource *r, struct entry **ret,
			cleat_error *note, cleat_error *err)
{
	bool is_template = r->uri && uri_is_template(str_of(r->uri));
	struct entry *e = new_entry(mem, is_template ? SHELF_TEMPLATES : SHELF_RESOURCES);
	cleat_resource *c;
	int rc;

	error_clear(note);
	if (!e)
		return error_set(err, CLEAT_ENOMEM, "%s", cleat_strstatus(CLEAT_ENOMEM));
	c = &e->resource;
	*c = *r;
	e->userdata = r->userdata;
	e->destroy = r->destroy;
	c->uri = arena_strdup(&e->arena, r->uri);
	c->name = arena_strdup(&e->arena, r->name ? r->name : r->uri);
	c->title = arena_strdup(&e->arena, r->title);
	c->description = arena_strdup(&e->arena, r->description);
	c->mime_type = arena_strdup(&e->arena, r->mime_type);
	c->text = arena_strdup(&e->arena, r->text);
	c->annotations = copy_annotations(&e->arena, r->annotations);
	c->icons = entry_copy_icons(&e->arena, r->icons);
	e->key = str_of(c->uri ? c->uri : "");
	rc = entry_icons_check(r->icons, err);
	if (!rc && r->annotations)
		rc = SIZED_RESERVED(r->annotations, cleat_annotations, err);
	if (!rc)
		rc = check_uri(r->uri, err);
	if (!rc && !r->read == !r->text)
		rc = error_set(err, CLEAT_EINVAL, "resource \"%s\" needs %s", r->uri,
			       r->read ? "either a text or a read handler, not both"
				       : "a text or a read handler");
	if (!rc)
		rc = resource_pattern(e, r, err);
	if (!rc && r->text && !r->size)
		c->size = (int64_t)strlen(r->text);
	if (!rc)
		rc = copy_meta(e, &c->meta, err);
	return entry_finish(e, rc, ret, err);
}

int entry_from_prompt(const cleat_allocator *mem, const cleat_prompt *p, struct entry **ret,
		      cleat_error *note, cleat_error *err)
{
	struct entry *e = new_entry(mem, SHELF_PROMPTS);
	cleat_prompt *c;
	int rc;

	error_clear(note);
	if (!e)
		return error_set(err, CLEAT_ENOMEM, "%s", cleat_strstatus(CLEAT_ENOMEM));
	c = &e->prompt;
	*c = *p;
	e->userdata = p->userdata;
	e->destroy = p->destroy;
	c->name = arena_strdup(&e->arena, p->name);
	c->title = arena_strdup(&e->arena, p->title);
	c->description = arena_strdup(&e->arena, p->description);
	c->icons = entry_copy_icons(&e->arena, p->icons);
	rc = entry_icons_check(p->icons, err);
	if (!rc && p->signature && p->input)
		rc = error_set(err, CLEAT_EINVAL,
			       "a prompt has either a signature or input fields");
	if (!rc && p->signature)
		rc = read_signature(e, p->signature, &c->name, &c->description, err);
	if (!rc)
		rc = check_name("prompt", c->name, note, err);
	e->key = str_of(c->name ? c->name : "");
	if (!rc && !p->get)
		rc = error_set(err, CLEAT_EINVAL, "prompt \"%s\" has no get handler", c->name);
	if (!rc && p->input) {
		rc = copy_fields(e, "input", p->input, &e->input, err);
		e->decodes = true;
	}
	if (!rc)
		rc = copy_meta(e, &c->meta, err);
	c->input = e->input;
	c->signature = NULL;
	return entry_finish(e, rc, ret, err);
}

int entry_from_method(const cleat_allocator *mem, const cleat_method *m, struct entry **ret,
		      cleat_error *note, cleat_error *err)
{
	/* Arguments and result are described as those of a tool. */
	const cleat_tool like = { .signature = m->signature,
				  .input = m->input,
				  .input_schema = m->input_schema,
				  .output = m->output,
				  .output_schema = m->output_schema };
	struct entry *e = new_entry(mem, SHELF_METHODS);
	const char *description = "";
	cleat_method *c;
	int rc = CLEAT_OK;

	error_clear(note);
	if (!e)
		return error_set(err, CLEAT_ENOMEM, "%s", cleat_strstatus(CLEAT_ENOMEM));
	c = &e->method;
	*c = *m;
	e->userdata = m->userdata;
	e->destroy = m->destroy;
	e->open = !m->signature && !m->input && !m->input_schema;
	c->name = arena_strdup(&e->arena, m->name);
	if (m->signature)
		rc = read_signature(e, m->signature, &c->name, &description, err);
	if (!rc)
		rc = check_name("method", c->name, note, err);
	error_clear(note); /* a slash is as it should be */
	e->key = str_of(c->name ? c->name : "");
	if (!rc && !m->call)
		rc = error_set(err, CLEAT_EINVAL, "method \"%s\" has no call handler", c->name);
	if (!rc)
		rc = tool_input(e, &like, err);
	if (!rc)
		rc = tool_output(e, &like, err);
	c->input = e->input;
	c->output = e->output;
	c->signature = c->input_schema = c->output_schema = NULL;
	return entry_finish(e, rc, ret, err);
}
