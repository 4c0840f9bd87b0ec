/* program/serve/web/web_request.c - an HTTP request with places for arguments (web_request.h). */
#define _GNU_SOURCE /* memmem() */

#include "serve/web/web_request.h"

#include "base/error.h"
#include "base/mem.h"
#include "http/token.h"
#include "serve/argument/argtext.h"
#include "uri/chars.h"
#include "uri/reference.h"
#include "uri/template.h"
#include "json/writer.h"

#include <string.h>
#include <strings.h>

enum {
	REQUEST_ARENA_MAX = 4 << 20,
	URL_MAX = 64 << 10,
	HEADER_MAX = 16 << 10,
	BODY_MAX = 16 << 20
};

enum body_kind { BODY_NONE, BODY_JSON, BODY_FORM, BODY_TEXT };

/* "name": "text with {places}" */
struct pair {
	const char *name;
	const struct argtext *text;
	struct str only; /* the argument's name, when there is nothing else in the text */
};

struct pairs {
	struct pair *at;
	size_t n;
};

struct web_request {
	cleat_allocator mem;
	struct arena arena;
	const char *method, *name;
	const struct uri_template *url;
	const struct uri_template *path; /* the beginning of it, without the query */
	struct pairs query, headers, form;
	enum body_kind kind;
	const char *type;
	cleat_doc *body;             /* BODY_JSON: texts are expanded, places are still in it */
	const struct argtext *plain; /* BODY_TEXT */
};

/* ---- compiling -------------------------------------------------------------------------------- */

/* The name in "{name}"; absent when the text is something else, as {*} (argtext.h). */
static struct str only_place(struct str s)
{
	if (s.n < 3 || s.p[0] != '{' || s.p[s.n - 1] != '}' || s.p[1] == '{' || str_eqz(s, "{*}") ||
	    memchr(s.p + 1, '}', s.n - 2) || memchr(s.p + 1, '{', s.n - 2))
		return (struct str){ NULL, 0 };
	return (struct str){ s.p + 1, s.n - 2 };
}

static bool read_pairs(struct draft *b, struct web_request *w, const cleat_json *node,
		       const cleat_json *names, struct pairs *ret)
{
	cleat_json_iter it = cleat_json_each(node);

	ret->at = arena_zalloc(&w->arena, (cleat_json_size(node) + 1) * sizeof *ret->at);
	while (ret->at && cleat_json_next(&it)) {
		struct pair *p = &ret->at[ret->n++];
		char *text = arena_strdup(&w->arena, conf_template(b->conf, it.value, ""));

		p->name = arena_strdup(&w->arena, cleat_json_str(it.key, ""));
		if (!text || !p->name)
			return false;
		p->only = only_place(str_of(text));
		p->text = argtext_new(b, &w->arena, it.value, text, names);
		if (!p->text)
			return false;
	}
	return ret->at != NULL;
}

bool web_request_may_set(const char *header)
{
	static const char *const ours[] = {
		"connection", "content-length",    "expect", "host", "te",
		"trailer",    "transfer-encoding", "upgrade"
	};

	for (size_t i = 0; i < CLEAT_COUNT(ours); i++)
		if (strcasecmp(header, ours[i]) == 0)
			return false;
	return http_is_token(str_of(header));
}

bool web_request_is_type(const char *type)
{
	size_t main = strcspn(type, "/"), n = strcspn(type, "; ");

	for (const char *p = type; *p; p++)
		if (*p < ' ' || *p == 127)
			return false;
	return main < n && http_is_token((struct str){ type, main }) &&
	       http_is_token((struct str){ type + main + 1, n - main - 1 });
}

static bool check_headers(struct draft *b, const cleat_json *node)
{
	cleat_json_iter it = cleat_json_each(node);
	bool good = true;

	while (cleat_json_next(&it)) {
		const char *name = cleat_json_str(it.key, "");

		if (web_request_may_set(name))
			continue;
		conf_problem(b->conf, it.key, "\"%s\" cannot be set as a header", name);
		good = false;
	}
	return good;
}

/* Every place of a body, for the check of its names. The depth is the configuration's. */
static bool check_body(struct draft *b, struct web_request *w, const cleat_json *v,
		       const cleat_json *names)
{
	cleat_json_iter it = cleat_json_each(v);

	if (cleat_json_type(v) == CLEAT_JSON_STRING)
		return argtext_new(b, &w->arena, v, conf_template(b->conf, v, ""), names) != NULL;
	while (cleat_json_next(&it))
		if (!check_body(b, w, it.value, names))
			return false;
	return true;
}

/* The body with its texts expanded; `key` is what it is called in an object. */
static void put_expanded(struct draft *b, cleat_build *to, const char *key, const cleat_json *v)
{
	cleat_json_iter it = cleat_json_each(v);

	switch (cleat_json_type(v)) {
	case CLEAT_JSON_STRING: cleat_build_str(to, key, conf_template(b->conf, v, "")); return;
	case CLEAT_JSON_ARRAY: cleat_build_array(to, key); break;
	case CLEAT_JSON_OBJECT: cleat_build_object(to, key); break;
	default: cleat_build_value(to, key, v); return;
	}
	while (cleat_json_next(&it))
		put_expanded(b, to, cleat_json_str(it.key, NULL), it.value);
	cleat_build_end(to);
}

static bool read_json_body(struct draft *b, struct web_request *w, const cleat_json *body,
			   const cleat_json *names)
{
	cleat_build *to;

	if (!check_body(b, w, body, names))
		return false;
	to = cleat_build_new(&w->mem);
	put_expanded(b, to, NULL, body);
	w->body = cleat_build_finish(to, NULL);
	return w->body != NULL;
}

static bool starts_with(const char *type, const char *with)
{
	return strncasecmp(type, with, strlen(with)) == 0;
}

bool web_is_json(const char *type)
{
	size_t n = strcspn(type, "; \t");

	return (n == 16 && strncasecmp(type, "application/json", n) == 0) ||
	       (n > 5 && strncasecmp(type + n - 5, "+json", 5) == 0);
}

static bool read_body(struct draft *b, struct web_request *w, const cleat_json *node,
		      const cleat_json *names)
{
	const cleat_json *body = cleat_json_get(node, "body");
	const cleat_json *type = cleat_json_get(node, "type");
	bool text = cleat_json_type(body) == CLEAT_JSON_STRING;

	if (!body)
		return true;
	w->type = arena_strdup(&w->arena,
			       conf_text(b->conf, type,
					 text && !only_place(str_of(cleat_json_str(body, ""))).p
						 ? "text/plain; charset=utf-8"
						 : "application/json"));
	if (!w->type)
		return false;
	if (!web_request_is_type(w->type)) {
		conf_problem(b->conf, type, "expected a media type such as application/json");
		return false;
	}
	if (web_is_json(w->type)) {
		w->kind = BODY_JSON;
		return read_json_body(b, w, body, names);
	}
	if (starts_with(w->type, "application/x-www-form-urlencoded")) {
		w->kind = BODY_FORM;
		if (cleat_json_type(body) == CLEAT_JSON_OBJECT)
			return read_pairs(b, w, body, names, &w->form);
		conf_problem(b->conf, body,
			     "a form's body is an object: {\"field\": \"{argument}\"}");
		return false;
	}
	if (!text) {
		conf_problem(b->conf, body, "the body of type %s has to be a text", w->type);
		return false;
	}
	w->kind = BODY_TEXT;
	w->plain = argtext_new(b, &w->arena, body, conf_template(b->conf, body, ""), names);
	return w->plain != NULL;
}

/* ---- the address ------------------------------------------------------------------------------ */

/* Scheme, host and a slash have to be there before anything is filled in. */
static const char *bad_url(struct str url)
{
	const char *brace = memchr(url.p, '{', url.n);
	struct str fixed = { url.p, brace ? (size_t)(brace - url.p) : url.n };
	struct uri uri;
	bool web = uri_split(fixed, 0, &uri) && uri.scheme.p && uri.host.n &&
		   ((uri.scheme.n == 4 && strncasecmp(uri.scheme.p, "http", 4) == 0) ||
		    (uri.scheme.n == 5 && strncasecmp(uri.scheme.p, "https", 5) == 0));

	if (!web)
		return "expected an address such as https://api.example.com/items/{id}";
	if (uri.userinfo.p)
		return "no user name in an address: use \"headers\"";
	if (memchr(url.p, '#', url.n))
		return "the part after # is never sent: leave it out";
	if (brace && !uri.path.n && !uri.query.p &&
	    ((size_t)(brace - url.p) + 1 == url.n || !strchr("/?", brace[1])))
		return "a value must not become a part of the host: put a / after it";
	return NULL;
}

/* [ and ] stand for themselves in a host only (RFC 3986 section 3.2.2); APIs have them in names of parameters
 * ("filter[name]"), where servers take them encoded as well. */
static bool is_bracket(struct str url, size_t at, size_t authority_end)
{
	return at >= authority_end && (url.p[at] == '[' || url.p[at] == ']');
}

struct str web_request_url(struct arena *ar, struct str url, const char **why)
{
	const char *slashes = url.n ? memmem(url.p, url.n, "//", 2) : NULL;
	size_t end = slashes ? (size_t)(slashes - url.p) + 2 : url.n, n = url.n;
	struct str ret = { NULL, 0 };
	char *to;

	*why = NULL;
	while (end < url.n && !strchr("/?{", url.p[end]))
		end++;
	for (size_t i = end; i < url.n; i++)
		n += is_bracket(url, i, end) ? 2 : 0;
	to = arena_alloc(ar, n + 1);
	if (!to)
		return ret;
	ret = (struct str){ to, n };
	for (size_t i = 0; i < url.n; i++) {
		if (is_bracket(url, i, end)) {
			memcpy(to, url.p[i] == '[' ? "%5B" : "%5D", 3);
			to += 3;
		} else {
			*to++ = url.p[i];
		}
	}
	*to = '\0';
	*why = bad_url(ret);
	return ret;
}

static bool check_names(struct draft *b, const cleat_json *at, const struct uri_template *t,
			const cleat_json *names)
{
	const cleat_json *properties = cleat_json_get(names, "properties");

	for (size_t i = 0; i < uri_template_var_count(t); i++) {
		struct str name = uri_template_var_name(t, i);
		struct str_nearest near = { .wanted = name };
		cleat_json_iter it = cleat_json_each(properties);

		if (cleat_json_getn(properties, name.p, name.n))
			continue;
		while (cleat_json_next(&it))
			str_nearest_offer(&near, str_of(cleat_json_str(it.key, "")));
		if (near.best.p)
			conf_problem(b->conf, at,
				     "{%.*s} is not an argument of the tool; did you mean {%.*s}?",
				     STR_ARGS(name), STR_ARGS(near.best));
		else
			conf_problem(b->conf, at, "{%.*s} is not an argument of the tool",
				     STR_ARGS(name));
		return false;
	}
	return true;
}

/* What comes before the query, literal or {?...}: variables there make the path. */
static struct str path_part(struct str url)
{
	for (size_t i = 0; i < url.n; i++)
		if (url.p[i] == '?' ||
		    (url.p[i] == '{' && i + 1 < url.n && strchr("?&", url.p[i + 1])))
			return (struct str){ url.p, i };
	return url;
}

static bool read_url(struct draft *b, struct web_request *w, const cleat_json *at,
		     const cleat_json *names)
{
	const char *bad;
	struct str url = web_request_url(&w->arena, str_of(conf_text(b->conf, at, "")), &bad);
	cleat_error err = { 0 };

	if (!url.p)
		return false;
	if (bad) {
		conf_problem(b->conf, at, "%s", bad);
		return false;
	}
	if (uri_template_compile(&w->arena, url, &w->url, &err) != CLEAT_OK ||
	    uri_template_compile(&w->arena, path_part(url), &w->path, &err) != CLEAT_OK) {
		conf_problem(b->conf, at, "%s", err.message);
		return false;
	}
	return check_names(b, at, w->url, names);
}

/* Up to the query or the first place. A variable that is a secret does not stand in an error, either. */
static const char *name_of(struct draft *b, struct web_request *w, const cleat_json *url)
{
	const char *text =
		conf_is_secret(b->conf, url) ? conf_raw(url, "") : conf_text(b->conf, url, "");

	return arena_printf(&w->arena, "%s %.*s", w->method, (int)strcspn(text, "?{#$"), text);
}

static bool web_request_read_all(struct draft *b, struct web_request *w, const cleat_json *node,
				 const cleat_json *names)
{
	const cleat_json *url = cleat_json_get(node, "url");
	const cleat_json *headers = cleat_json_get(node, "headers");

	w->method =
		arena_strdup(&w->arena, conf_text(b->conf, cleat_json_get(node, "method"),
						  cleat_json_get(node, "body") ? "POST" : "GET"));
	if (!w->method || !http_is_token(str_of(w->method)))
		return false;
	w->name = name_of(b, w, url);
	return read_url(b, w, url, names) && check_headers(b, headers) &&
	       read_pairs(b, w, headers, names, &w->headers) &&
	       read_pairs(b, w, cleat_json_get(node, "query"), names, &w->query) &&
	       read_body(b, w, node, names) && w->name;
}

struct web_request *web_request_new(struct draft *b, const cleat_json *node,
				    const cleat_json *names)
{
	struct web_request *w = mem_zalloc(&b->rt->mem, sizeof *w);
	size_t before = conf_problems(b->conf);

	if (w) {
		w->mem = b->rt->mem;
		arena_init(&w->arena, &w->mem, REQUEST_ARENA_MAX);
		w->arena.first = 1024; /* there may be a thousand of them */
		if (web_request_read_all(b, w, node, names) && conf_problems(b->conf) == before)
			return w;
	}
	if (conf_problems(b->conf) == before)
		conf_problem(b->conf, node, "out of memory, or too large");
	web_request_free(w);
	return NULL;
}

void web_request_free(struct web_request *w)
{
	if (!w)
		return;
	cleat_doc_free(w->body);
	arena_done(&w->arena);
	mem_free(&w->mem, w);
}

const char *web_request_name(const struct web_request *w)
{
	return w->name;
}

/* ---- filling in ------------------------------------------------------------------------------- */

/* What is not unreserved becomes an escape. */
static void put_escaped(struct buf *out, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char escape[3];

		if (uri_char_class(s.p[i]) & CHAR_UNRESERVED) {
			buf_putc(out, s.p[i]);
			continue;
		}
		uri_escape(escape, (unsigned char)s.p[i]);
		buf_append(out, escape, sizeof escape);
	}
}

static void put_pair(struct buf *out, struct str name, struct str text)
{
	if (buf_size(out))
		buf_putc(out, '&');
	put_escaped(out, name);
	buf_putc(out, '=');
	put_escaped(out, text);
}

/* A list stands once for each of its values, an object as name[key]=value. */
static void put_named(struct buf *out, struct str name, const cleat_json *v, unsigned depth)
{
	cleat_json_iter it = cleat_json_each(v);
	enum cleat_json_type type = cleat_json_type(v);
	bool deep = depth < 8 && (type == CLEAT_JSON_OBJECT || type == CLEAT_JSON_ARRAY);
	struct buf text;

	buf_init(&text, &out->mem, BODY_MAX);
	while (deep && buf_status(out) == CLEAT_OK && cleat_json_next(&it)) {
		buf_truncate(&text, 0);
		buf_append(&text, name.p, name.n);
		if (type == CLEAT_JSON_OBJECT)
			buf_printf(&text, "[%s]", cleat_json_str(it.key, ""));
		else if (depth)
			buf_printf(&text, "[%zu]", it.index);
		put_named(out, buf_str(&text), it.value, depth + 1);
	}
	if (!deep && argtext_value(&text, v))
		put_pair(out, name, buf_str(&text));
	buf_done(&text);
}

/* "a=1&a=2&b=x". What names an argument that was not given is left out. */
static int put_pairs(struct buf *out, const struct pairs *pairs, const cleat_json *args)
{
	for (size_t i = 0; i < pairs->n; i++) {
		const struct pair *p = &pairs->at[i];
		bool missing = false;
		struct buf text;

		if (p->only.p) {
			put_named(out, str_of(p->name), cleat_json_getn(args, p->only.p, p->only.n),
				  0);
			continue;
		}
		buf_init(&text, &out->mem, BODY_MAX);
		argtext_write(p->text, args, &text, &missing);
		if (!missing)
			put_pair(out, str_of(p->name), buf_str(&text));
		buf_done(&text);
	}
	return buf_status(out);
}

/* Would nothing stand in its place? So it is with null, "", and lists of nothing else. */
static bool is_empty(const cleat_json *v)
{
	cleat_json_iter it = cleat_json_each(v);
	size_t n = 1;

	switch (cleat_json_type(v)) {
	case CLEAT_JSON_NONE:
	case CLEAT_JSON_NULL: return true;
	case CLEAT_JSON_STRING: cleat_json_strn(v, &n); return !n;
	case CLEAT_JSON_OBJECT: return !cleat_json_size(v);
	case CLEAT_JSON_ARRAY:
		while (cleat_json_next(&it)) {
			if (cleat_json_type(it.value) == CLEAT_JSON_STRING)
				cleat_json_strn(it.value, &n);
			if (cleat_json_type(it.value) != CLEAT_JSON_NULL && n)
				return false;
		}
		return true;
	default: return false;
	}
}

/* A variable of the path that is empty or absent would name another place. */
static int check_path_values(const struct web_request *w, const cleat_json *args, cleat_error *err)
{
	for (size_t i = 0; i < uri_template_var_count(w->path); i++) {
		struct str name = uri_template_var_name(w->path, i);

		if (is_empty(cleat_json_getn(args, name.p, name.n)))
			return error_set(err, CLEAT_EINVAL,
					 "%.*s must not be empty: it is a part of the address",
					 STR_ARGS(name));
	}
	return CLEAT_OK;
}

/* "." and "..", also as escapes, are steps, not names. */
static bool is_step(struct str s)
{
	size_t dots = 0;

	for (size_t i = 0; i < s.n; dots++)
		if (s.p[i] == '.')
			i++;
		else if (s.n - i >= 3 && strncasecmp(s.p + i, "%2e", 3) == 0)
			i += 3;
		else
			return false;
	return dots == 1 || dots == 2;
}

/* The length of what separates two names at `i`, also as an escape: there are servers that undo those before
 * they follow the steps. 0: nothing does. */
static size_t separator(struct str s, size_t i)
{
	if (s.p[i] == '/' || s.p[i] == '\\')
		return 1;
	return s.n - i >= 3 && (strncasecmp(s.p + i, "%2f", 3) == 0 ||
				strncasecmp(s.p + i, "%5c", 3) == 0)
		       ? 3
		       : 0;
}

/* The address up to its query. {+name} lets reserved characters through: with a ? or # a value would end the
 * path, and put the query that is configured behind another one, or out of what is sent. */
static int check_path(struct str path, cleat_error *err)
{
	struct uri uri;
	size_t from = 0, n;

	if (!uri_split(path, 0, &uri) || uri.query.p || uri.fragment.p)
		return error_set(err, CLEAT_EINVAL,
				 "the values do not make an address: in its path there must be no "
				 "? and no #");
	for (size_t i = 0; i <= uri.path.n; i += n ? n : 1) {
		n = i < uri.path.n ? separator(uri.path, i) : 1;
		if (!n)
			continue;
		if (is_step((struct str){ uri.path.p + from, i - from }))
			return error_set(err, CLEAT_EINVAL,
					 "a value must not be \".\" or \"..\": it is a part of the "
					 "address");
		from = i + n;
	}
	return CLEAT_OK;
}

static int render_url(const struct web_request *w, const cleat_json *args, struct arena *ar,
		      const char **ret, cleat_error *err)
{
	const cleat_allocator mem = arena_allocator(ar);
	struct buf path, url, query;
	int rc = check_path_values(w, args, err);

	if (rc != CLEAT_OK)
		return rc;
	buf_init(&path, &mem, URL_MAX);
	buf_init(&url, &mem, URL_MAX);
	buf_init(&query, &mem, URL_MAX);
	rc = uri_template_expand(w->path, args, &path, err);
	if (rc == CLEAT_OK)
		rc = check_path(buf_str(&path), err);
	if (rc == CLEAT_OK)
		rc = uri_template_expand(w->url, args, &url, err);
	if (rc == CLEAT_ELIMIT)
		return error_set(err, rc, "the address would be too long (64 KB)");
	if (rc != CLEAT_OK)
		return rc;
	rc = put_pairs(&query, &w->query, args);
	if (buf_size(&query)) {
		buf_putc(&url, memchr(buf_str(&url).p, '?', buf_size(&url)) ? '&' : '?');
		buf_append(&url, buf_str(&query).p, buf_size(&query));
	}
	buf_putc(&url, '\0');
	*ret = buf_str(&url).p;
	if (rc != CLEAT_OK || buf_status(&url) != CLEAT_OK)
		return error_set(err, rc ? rc : buf_status(&url),
				 "the address would be too long (64 KB)");
	return CLEAT_OK;
}

static int render_header(const struct pair *p, const cleat_json *args, struct http_field_list *to,
			 cleat_error *err)
{
	const cleat_allocator mem = arena_allocator(to->ar);
	bool missing = false;
	struct buf value;

	buf_init(&value, &mem, HEADER_MAX);
	argtext_write(p->text, args, &value, &missing);
	if (buf_status(&value) != CLEAT_OK)
		return error_set(err, buf_status(&value), "the header %s would be too long (16 KB)",
				 p->name);
	if (!http_is_field_value(buf_str(&value)))
		return error_set(err, CLEAT_EINVAL,
				 "the header %s must not have line ends or control characters",
				 p->name);
	if (!missing)
		http_field_add(to, str_of(p->name), buf_str(&value));
	return CLEAT_OK;
}

static bool has_header(const struct web_request *w, const char *name)
{
	for (size_t i = 0; i < w->headers.n; i++)
		if (strcasecmp(w->headers.at[i].name, name) == 0)
			return true;
	return false;
}

static int render_headers(const struct web_request *w, const cleat_json *args,
			  struct http_field_list *to, cleat_error *err)
{
	int rc = CLEAT_OK;

	for (size_t i = 0; i < w->headers.n && rc == CLEAT_OK; i++)
		rc = render_header(&w->headers.at[i], args, to, err);
	if (w->type && !has_header(w, "Content-Type"))
		http_field_add(to, STR_LIT("Content-Type"), str_of(w->type));
	if (!has_header(w, "Accept"))
		http_field_add(to, STR_LIT("Accept"),
			       STR_LIT("application/json, text/*;q=0.9, */*;q=0.8"));
	if (rc == CLEAT_OK && arena_failed(to->ar))
		rc = error_set(err, CLEAT_ENOMEM, "out of memory");
	return rc;
}

/* ---- the body --------------------------------------------------------------------------------- */

struct filling {
	struct jw w;
	const cleat_json *args;
	struct arena *ar;
	cleat_error *err;
	bool failed; /* no memory, or one text is too large; *err says which */
};

/* False: it names something that was not given, and is left out. */
static bool web_request_put_text(struct filling *f, const cleat_json *v, bool dry)
{
	struct str text;
	struct str name;
	const struct argtext *t;
	const cleat_allocator mem = arena_allocator(f->ar);
	const cleat_json *value;
	bool missing = false;
	struct buf out;

	text.p = cleat_json_strn(v, &text.n);
	name = only_place(text);
	if (name.p) {
		value = cleat_json_getn(f->args, name.p, name.n);
		if (value && !dry)
			jw_value(&f->w, value);
		return value != NULL;
	}
	t = argtext_parse(f->ar, text, NULL, ARGTEXT_STRICT, f->err);
	buf_init(&out, &mem, BODY_MAX);
	if (t && argtext_write(t, f->args, &out, &missing) != CLEAT_OK)
		error_set(f->err, buf_status(&out), "the values are too large (16 MB)");
	f->failed = f->failed || !t || buf_status(&out) != CLEAT_OK;
	if (!missing && !dry)
		jw_str(&f->w,
		       (struct str){ buf_size(&out) ? buf_str(&out).p : "", buf_size(&out) });
	return !missing;
}

/* The depth is the configuration's. */
static void put_body(struct filling *f, const cleat_json *v)
{
	bool object = cleat_json_type(v) == CLEAT_JSON_OBJECT;
	cleat_json_iter it = cleat_json_each(v);

	if (cleat_json_type(v) == CLEAT_JSON_STRING) {
		if (!web_request_put_text(f, v, false))
			jw_null(&f->w);
		return;
	}
	if (!object && cleat_json_type(v) != CLEAT_JSON_ARRAY) {
		jw_value(&f->w, v);
		return;
	}
	if (object)
		jw_obj(&f->w);
	else
		jw_arr(&f->w);
	while (cleat_json_next(&it)) {
		if (cleat_json_type(it.value) == CLEAT_JSON_STRING &&
		    !web_request_put_text(f, it.value, true))
			continue;
		if (object)
			jw_keyn(&f->w, str_of(cleat_json_str(it.key, "")));
		put_body(f, it.value);
	}
	if (object)
		jw_obj_end(&f->w);
	else
		jw_arr_end(&f->w);
}

static int render_body(const struct web_request *w, const cleat_json *args, struct arena *ar,
		       struct str *ret, cleat_error *err)
{
	const cleat_allocator mem = arena_allocator(ar);
	struct filling f = { .args = args, .ar = ar, .err = err };
	bool missing = false;
	struct buf out;

	if (w->kind == BODY_NONE)
		return CLEAT_OK;
	buf_init(&out, &mem, BODY_MAX);
	jw_init(&f.w, &out);
	if (w->kind == BODY_JSON)
		put_body(&f, cleat_doc_root(w->body));
	else if (w->kind == BODY_FORM)
		put_pairs(&out, &w->form, args);
	else
		argtext_write(w->plain, args, &out, &missing);
	*ret = buf_size(&out) ? buf_str(&out) : STR_LIT("");
	if (arena_failed(ar) || buf_status(&out) == CLEAT_ENOMEM)
		return error_set(err, CLEAT_ENOMEM, "out of memory");
	if (buf_status(&out) != CLEAT_OK)
		return error_set(err, buf_status(&out), "the values are too large (16 MB)");
	return f.failed ? err->status : CLEAT_OK;
}

int web_request_render(const struct web_request *w, const cleat_json *args, struct arena *ar,
		       struct web_message *ret, cleat_error *err)
{
	int rc;

	*ret = (struct web_message){ .method = w->method, .fields = { .ar = ar } };
	rc = render_url(w, args, ar, &ret->url, err);
	if (rc == CLEAT_OK)
		rc = render_headers(w, args, &ret->fields, err);
	if (rc == CLEAT_OK)
		rc = render_body(w, args, ar, &ret->body, err);
	return rc;
}
