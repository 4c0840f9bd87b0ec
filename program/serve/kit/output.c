/* program/serve/kit/output.c - bytes to replies (output.h). */
#include "serve/kit/output.h"

#include "base/error.h"
#include "json/parse.h"

/* ---- reading the configuration ------------------------------------------------------------ */

static bool read_kind(struct output *o, struct draft *b, struct arena *ar, const cleat_json *at,
		      bool has_schema)
{
	const char *text = conf_text(b->conf, at, has_schema ? "structured" : "text");

	if (!strcmp(text, "structured"))
		o->kind = OUTPUT_STRUCTURED;
	else if (!strcmp(text, "json"))
		o->kind = OUTPUT_JSON;
	else if (!strcmp(text, "text") || !strncmp(text, "text/", 5))
		o->kind = OUTPUT_TEXT;
	else
		o->kind = OUTPUT_BLOB;
	if (o->kind == OUTPUT_BLOB && !strchr(text, '/')) {
		conf_problem(b->conf, at,
			     "expected \"text\", \"json\", \"structured\" or a MIME type such as "
			     "\"image/png\", got \"%s\"",
			     text);
		return false;
	}
	if (has_schema && o->kind != OUTPUT_STRUCTURED) {
		conf_problem(b->conf, at,
			     "expected \"structured\", because there is an outputSchema");
		return false;
	}
	o->mime = o->kind == OUTPUT_BLOB ? arena_strdup(ar, text) : NULL;
	return true;
}

bool output_read(struct output *o, struct draft *b, struct arena *ar, const cleat_json *node,
		 const cleat_tool *t)
{
	const cleat_schema_options opts = { .allocator = &b->rt->mem };
	cleat_error err;

	*o = (struct output){ .kind = OUTPUT_TEXT };
	if (!read_kind(o, b, ar, json_member(node, "output"), t->output_schema != NULL))
		return false;
	if (!t->output_schema)
		return true;
	o->schema = cleat_schema_parse(t->output_schema, strlen(t->output_schema), &opts, &err);
	if (!o->schema)
		conf_problem(b->conf, json_member(node, "outputSchema"), "%s", err.message);
	return o->schema;
}

void output_done(struct output *o)
{
	cleat_schema_free(o->schema);
	o->schema = NULL;
}

/* ---- text --------------------------------------------------------------------------------- */

bool output_is_text(struct str s)
{
	size_t wrong = 0, valid = utf8_valid_prefix(s);

	if (str_has_nul(s))
		return false;
	for (size_t i = valid; i < s.n;)
		wrong += utf8_next(s, &i) == UTF8_BAD;
	return wrong * 10 <= s.n;
}

void output_write_text(struct buf *b, struct str s)
{
	const char *end = s.p + s.n, *nul = s.n ? memchr(s.p, 0, s.n) : NULL;

	while (s.p < end) {
		/* Up to the next NUL, which is found once: many of them must not take long. */
		struct str part = { s.p, (size_t)((nul ? nul : end) - s.p) };
		size_t n = utf8_valid_prefix(part);

		buf_append(b, s.p, n);
		s.p += n;
		if (s.p == end)
			break;
		buf_appendz(b, "\xEF\xBF\xBD");
		if (s.p++ == nul)
			nul = s.p < end ? memchr(s.p, 0, (size_t)(end - s.p)) : NULL;
	}
}

struct str output_chomp(struct str s)
{
	if (s.n && s.p[s.n - 1] == '\n')
		s.n--;
	if (s.n && s.p[s.n - 1] == '\r')
		s.n--;
	return s;
}

/* ---- replies ------------------------------------------------------------------------------ */

static int reply_text(cleat_request *req, const char *who, struct str out)
{
	if (!output_is_text(out))
		return cleat_reply_error(
			req, "%s printed %zu bytes of binary data, which cannot be shown as text",
			who, out.n);
	out = output_chomp(out);
	return cleat_reply_textn(req, out.p, out.n);
}

static struct str trim(struct str s)
{
	while (s.n && strchr(" \t\r\n", s.p[s.n - 1]) && s.p[s.n - 1])
		s.n--;
	while (s.n && strchr(" \t\r\n", s.p[0]) && s.p[0])
		s = (struct str){ s.p + 1, s.n - 1 };
	return s;
}

static int reply_value(const struct output *o, cleat_request *req, const char *who,
		       const cleat_json *v)
{
	cleat_error err;
	int rc = o->schema ? cleat_schema_check(o->schema, v, &err) : CLEAT_OK;

	if (rc == CLEAT_ENOMEM)
		return rc;
	if (rc)
		return cleat_reply_error(req,
					 "%s printed JSON that does not fit its outputSchema: %s",
					 who, err.message);
	return cleat_reply_json(req, v);
}

static int reply_json(const struct output *o, cleat_request *req, const char *who, struct str out)
{
	cleat_error err;
	cleat_doc *doc;
	int rc;

	if (!trim(out).n)
		return cleat_reply_error(req, "%s printed nothing where JSON was expected", who);
	doc = cleat_doc_parse(out.p, out.n, NULL, NULL, &err);
	if (!doc)
		return cleat_reply_error(req, "%s printed something that is not JSON: %s", who,
					 err.message);
	if (o->kind == OUTPUT_STRUCTURED)
		rc = reply_value(o, req, who, cleat_doc_root(doc));
	else
		rc = cleat_reply_textn(req, trim(out).p, trim(out).n);
	cleat_doc_free(doc);
	return rc;
}

int output_reply(const struct output *o, cleat_request *req, const char *who, struct str out)
{
	switch (o->kind) {
	case OUTPUT_JSON:
	case OUTPUT_STRUCTURED: return reply_json(o, req, who, out);
	case OUTPUT_BLOB: return cleat_reply_blob(req, o->mime, out.p ? out.p : "", out.n);
	default: return reply_text(req, who, out);
	}
}
