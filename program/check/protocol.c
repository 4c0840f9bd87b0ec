/* program/check/protocol.c - checks messages: JSON-RPC 2.0 by hand, the rest by the tables of protocol_table.c.
 *
 * A message that is not JSON-RPC is not looked into further. Everything that comes from a message is put
 * into findings as data; whoever prints them makes it safe.
 */
#include "check/protocol.h"

#include "base/str.h"

#include "check/protocol_types.h"
#include "text/nearest.h"
#include "json/mend.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_OPEN = 1024, MOST_SCHEMAS = 512, MOST_METHODS = 128, WHICH_MOST = 60 };

struct open_request {
	enum protocol_side from;
	char *id;
	const struct protocol_method *method; /* NULL: one that is not known */
	const char *name;                     /* kept */
	char revision;
	bool task; /* asked to become a task: the result is another one */
};

struct compiled {
	const char *type;
	char revision;
	cleat_schema *schema;
};

struct protocol {
	char fixed;   /* the revision that was asked for; 0: none */
	char session; /* that was agreed on by initialize; 0: none */
	cleat_schema_set *known;
	bool known_has[PROTOCOL_REVISIONS];
	struct compiled schemas[MOST_SCHEMAS];
	size_t n_schemas;
	struct open_request open[MOST_OPEN];
	size_t n_open;
	/* one check */
	protocol_finding_fn *fn;
	void *ctx;
	const char *prefix; /* of pointers */
	char revision;
	size_t errors;
};

const char *protocol_revision_list(void)
{
	struct text t = { 0 };

	for (size_t i = 0; i < PROTOCOL_REVISIONS; i++)
		text_printf(&t, "%s%s", i ? ", " : "", protocol_revisions[i]);
	return keep(text_take(&t));
}

static char letter_of(const char *revision)
{
	for (size_t i = 0; revision && i < PROTOCOL_REVISIONS; i++)
		if (strcmp(protocol_revisions[i], revision) == 0)
			return (char)('a' + (int)i);
	return 0;
}

static const char *revision_of(char letter)
{
	return protocol_revisions[letter - 'a'];
}

struct protocol *protocol_new(const char *revision)
{
	struct protocol *p;

	if (revision && !letter_of(revision))
		return NULL;
	p = keep_alloc(sizeof *p);
	p->fixed = letter_of(revision);
	p->known = cleat_schema_set_new(NULL);
	return p;
}

void protocol_free(struct protocol *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n_schemas; i++)
		cleat_schema_free(p->schemas[i].schema);
	for (size_t i = 0; i < p->n_open; i++)
		free(p->open[i].id);
	cleat_schema_set_free(p->known);
	p->n_schemas = p->n_open = 0;
	p->known = NULL;
}

/* ---- findings ------------------------------------------------------------------------------------ */

static void protocol_tell(struct protocol *p, bool warning, const char *rule, const char *pointer,
			  const char *fmt, ...) CLEAT_PRINTF(5, 6);
static void protocol_tell(struct protocol *p, bool warning, const char *rule, const char *pointer,
			  const char *fmt, ...)
{
	struct protocol_finding f = { warning, rule, pointer, NULL };
	va_list ap;
	char *line;

	va_start(ap, fmt);
	f.text = line = must_vprintf(fmt, ap);
	va_end(ap);
	p->errors += !warning;
	if (p->fn)
		p->fn(p->ctx, &f);
	free(line);
}

/* ---- schemas ------------------------------------------------------------------------------------- */

static cleat_schema *protocol_compile(struct protocol *p, const char *type, char revision)
{
	char base[] = "mcp:/revision/?";
	struct text t = { 0 };
	cleat_doc *doc;
	cleat_schema_options opts = { .known = p->known };
	cleat_schema *schema;

	base[sizeof base - 2] = revision;
	if (!p->known_has[revision - 'a']) {
		protocol_schema_all(&t, revision, base); /* text in, text out: once a revision */
		doc = cleat_doc_parse(text_str(&t), t.n, NULL, NULL, NULL);
		cleat_schema_set_add(p->known, base, cleat_doc_root(doc), NULL);
		cleat_doc_free(doc);
		text_free(&t);
		p->known_has[revision - 'a'] = true;
	}
	protocol_schema(&t, type, revision, base);
	schema = cleat_schema_parse(text_str(&t), t.n, &opts, NULL);
	text_free(&t);
	return schema;
}

static const cleat_schema *schema_for(struct protocol *p, const char *type, char revision)
{
	struct compiled *c;

	for (size_t i = 0; i < p->n_schemas; i++)
		if (p->schemas[i].type == type && p->schemas[i].revision == revision)
			return p->schemas[i].schema;
	if (p->n_schemas == MOST_SCHEMAS)
		return NULL;
	c = &p->schemas[p->n_schemas++];
	*c = (struct compiled){ type, revision, protocol_compile(p, type, revision) };
	return c->schema;
}

static void on_problem(void *ctx, const cleat_schema_problem *problem)
{
	struct protocol *p = ctx;
	char *pointer = keepf("%s%s", p->prefix, problem->path);
	/* The line begins with the place, for those who have no pointer. */
	const char *text = *problem->path ? strstr(problem->line, ": ") : NULL;

	protocol_tell(p, false, "member", pointer, "%s", text ? text + 2 : problem->line);
}

static void check_type(struct protocol *p, const char *type, const cleat_json *v,
		       const char *prefix)
{
	const cleat_schema *s = schema_for(p, type, p->revision);
	cleat_error err;
	int rc;

	p->prefix = prefix;
	rc = s ? cleat_schema_explain(s, v, on_problem, p, &err) : CLEAT_ENOMEM;
	if (!s)
		protocol_tell(p, true, "limit", prefix, "could not be checked");
	else if (rc != CLEAT_OK && rc != CLEAT_EINVAL)
		protocol_tell(p, true, "limit", prefix, "could not be checked: %s", err.message);
}

/* ---- requests that wait for their answer --------------------------------------------------------- */

static bool same_id(const struct open_request *o, const char *id, enum protocol_side answered_by)
{
	return strcmp(o->id, id) == 0 &&
	       (o->from == PROTOCOL_ANYBODY || answered_by == PROTOCOL_ANYBODY ||
		o->from != answered_by);
}

/* Takes the request that this is the answer to. The caller frees ret->id. */
static bool protocol_take(struct protocol *p, const char *id, enum protocol_side answered_by,
			  struct open_request *ret)
{
	for (size_t i = 0; i < p->n_open; i++)
		if (same_id(&p->open[i], id, answered_by)) {
			*ret = p->open[i];
			p->n_open--;
			memmove(p->open + i, p->open + i + 1, (p->n_open - i) * sizeof *p->open);
			return true;
		}
	return false;
}

static void protocol_remember(struct protocol *p, struct open_request r, const cleat_json *id)
{
	r.id = cleat_json_print(id, NULL);
	if (!r.id)
		return;
	for (size_t i = 0; i < p->n_open; i++)
		if (p->open[i].from == r.from && strcmp(p->open[i].id, r.id) == 0) {
			protocol_tell(p, false, "id", "/id",
				      "the id %s is that of an earlier request that is not "
				      "answered yet; an id is used once",
				      r.id);
			free(p->open[i].id);
			p->open[i] = r;
			return;
		}
	/* Somebody who never gets answers is forgotten from the oldest request on. */
	if (p->n_open == MOST_OPEN) {
		free(p->open[0].id);
		memmove(p->open, p->open + 1, --p->n_open * sizeof *p->open);
	}
	p->open[p->n_open++] = r;
}

/* ---- methods ------------------------------------------------------------------------------------- */

static const struct protocol_method *find_method(const char *name, char revision)
{
	for (const struct protocol_method *m = protocol_methods; m->name; m++)
		if (strcmp(m->name, name) == 0 && (!revision || strchr(m->revisions, revision)))
			return m;
	return NULL;
}

/* "2024-11-05 to 2025-11-25" */
static const char *method_revisions(const char *name)
{
	char first = 0, last = 0;

	for (const struct protocol_method *m = protocol_methods; m->name; m++)
		for (const char *r = m->revisions; strcmp(m->name, name) == 0 && *r; r++) {
			first = !first || *r < first ? *r : first;
			last = *r > last ? *r : last;
		}
	return first == last ? revision_of(first)
			     : keepf("%s to %s", revision_of(first), revision_of(last));
}

static void tell_unknown(struct protocol *p, const char *name)
{
	const char *names[MOST_METHODS], *near;
	size_t n = 0;

	if (find_method(name, 0)) {
		protocol_tell(p, false, "method", "/method", "%s has no \"%.100s\"; it is of %s%s",
			      revision_of(p->revision), name, method_revisions(name),
			      p->revision == 'e' && find_method(name, 0)->from == 's'
				      ? " (now a server asks inside of a result, in inputRequests)"
				      : "");
		return;
	}
	for (const struct protocol_method *m = protocol_methods; m->name && n < MOST_METHODS; m++)
		if (strchr(m->revisions, p->revision))
			names[n++] = m->name;
	near = nearest(name, names, n);
	if (near)
		protocol_tell(p, false, "method", "/method",
			      "%s has no method \"%.100s\"; did you mean \"%s\"?",
			      revision_of(p->revision), name, near);
	else
		protocol_tell(
			p, true, "method", "/method",
			"\"%.100s\" is not a method of %s; an extension? Its content was not checked",
			name, revision_of(p->revision));
}

static void check_direction(struct protocol *p, const struct protocol_method *m,
			    enum protocol_side from)
{
	char side = from == PROTOCOL_CLIENT ? 'c' : 's';

	if (from == PROTOCOL_ANYBODY || m->from == 'b' || m->from == side)
		return;
	protocol_tell(p, false, "direction", "/method", "only a %s sends \"%s\"",
		      m->from == 'c' ? "client" : "server", m->name);
}

static void check_params(struct protocol *p, const struct protocol_method *m,
			 const cleat_json *message)
{
	const cleat_json *params = cleat_json_get(message, "params");

	if (params)
		check_type(p, m->params + (*m->params == '?'), params, "/params");
	else if (*m->params != '?')
		protocol_tell(p, false, "member", "", "expected \"params\": %s has some in %s",
			      m->name, revision_of(p->revision));
}

/* ---- which revision ------------------------------------------------------------------------------ */

static char stated(const cleat_json *params)
{
	return letter_of(cleat_json_str(cleat_json_get(cleat_json_get(params, "_meta"),
						       "io.modelcontextprotocol/protocolVersion"),
					NULL));
}

/* A request says it (2026-07-28), or the session does; one that says nothing is of the older kind. */
static char revision_for(const struct protocol *p, const char *method, const cleat_json *params)
{
	char said = stated(params);

	if (p->fixed)
		return p->fixed;
	if (said)
		return said;
	if (method && strcmp(method, "initialize") == 0) {
		said = letter_of(cleat_json_str(cleat_json_get(params, "protocolVersion"), NULL));
		return said && said != 'e' ? said : 'd';
	}
	if (p->session)
		return p->session;
	if (method && !find_method(method, 'd') && find_method(method, 'e'))
		return 'e';
	if (cleat_json_get(cleat_json_get(params, "_meta"),
			   "io.modelcontextprotocol/subscriptionId"))
		return 'e';
	return 'd';
}

/* ---- kinds of messages --------------------------------------------------------------------------- */

static bool good_id(const cleat_json *id)
{
	return cleat_json_type(id) == CLEAT_JSON_STRING || cleat_json_is_integer(id);
}

static void check_call(struct protocol *p, enum protocol_side from, const cleat_json *message,
		       struct protocol_message *ret)
{
	const cleat_json *id = cleat_json_get(message, "id"),
			 *params = cleat_json_get(message, "params");
	const char *name = cleat_json_str(cleat_json_get(message, "method"), "");
	const struct protocol_method *m;

	ret->kind = id ? "request" : "notification";
	ret->method = keepf("%s", name);
	p->revision = revision_for(p, name, params);
	m = find_method(name, p->revision);
	if (params && cleat_json_type(params) != CLEAT_JSON_OBJECT) {
		protocol_tell(p, false, "member", "/params", "params must be an object");
		params = NULL;
	} else if (!m) {
		tell_unknown(p, name);
	} else {
		check_direction(p, m, from);
		if (id && !m->result)
			protocol_tell(p, false, "id", "/id",
				      "\"%s\" is a notification: it has no id", m->name);
		else if (!id && m->result)
			protocol_tell(p, false, "id", "", "expected \"id\": \"%s\" is a request",
				      m->name);
		check_params(p, m, message);
	}
	if (id && good_id(id))
		protocol_remember(
			p,
			(struct open_request){ .from = from,
					       .method = m,
					       .name = ret->method,
					       .revision = p->revision,
					       .task = cleat_json_get(params, "task") != NULL },
			id);
}

/* 2026-07-28: a result says which kind it is. */
static bool check_rounds(struct protocol *p, const struct protocol_method *m,
			 const cleat_json *result)
{
	const char *kind = cleat_json_str(cleat_json_get(result, "resultType"), "complete");

	if (p->revision != 'e' || strcmp(kind, "complete") == 0)
		return false;
	if (strcmp(kind, "input_required") != 0) {
		protocol_tell(
			p, true, "result-type", "/result/resultType",
			"\"%.60s\" is not a resultType of %s (complete, input_required); an extension?",
			kind, revision_of('e'));
		return true;
	}
	if (!strstr(m->params, "&Rounds"))
		protocol_tell(
			p, false, "result-type", "/result/resultType",
			"nothing can be asked during \"%s\" (only tools/call, prompts/get, resources/read)",
			m->name);
	check_type(p, "InputRequired", result, "/result");
	if (!cleat_json_get(result, "inputRequests") && !cleat_json_get(result, "requestState"))
		protocol_tell(p, false, "member", "/result",
			      "expected inputRequests or requestState");
	return true;
}

static void check_result(struct protocol *p, const struct open_request *r,
			 const cleat_json *message)
{
	const cleat_json *result = cleat_json_get(message, "result");
	const cleat_json *version;

	if (!r || !r->method || !r->method->result) {
		check_type(p, "Result", result, "/result");
		return;
	}
	if (strcmp(r->name, "initialize") == 0) {
		version = cleat_json_get(result, "protocolVersion");
		if (letter_of(cleat_json_str(version, NULL)) && !p->fixed)
			p->session = p->revision = letter_of(cleat_json_str(version, NULL));
		if (p->revision == 'e') {
			protocol_tell(p, false, "version", "/result/protocolVersion",
				      "initialize cannot agree on %s, which has no initialize",
				      revision_of('e'));
			p->session = p->revision = r->revision;
		} else if (cleat_json_str(version, NULL) &&
			   !letter_of(cleat_json_str(version, NULL))) {
			protocol_tell(p, true, "version", "/result/protocolVersion",
				      "\"%.40s\" is not a known revision",
				      cleat_json_str(version, ""));
		}
	}
	if (check_rounds(p, r->method, result))
		return;
	if (r->task && cleat_json_get(result, "task"))
		check_type(p, "TaskCreated", result, "/result");
	else
		check_type(p, r->method->result, result, "/result");
}

static void check_error(struct protocol *p, const cleat_json *error)
{
	static const struct {
		int code;
		char revision;
		const char *type;
	} data[] = {
		{ CLEAT_RPC_UNSUPPORTED_VERSION, 'e', "UnsupportedVersion" },
		{ CLEAT_RPC_MISSING_CAPABILITY, 'e', "MissingCapability" },
		{ CLEAT_RPC_URL_ELICITATION, 'd', "UrlsFirst" },
	};
	int64_t code = cleat_json_int(cleat_json_get(error, "code"), 0);

	check_type(p, "Error", error, "/error");
	for (size_t i = 0; i < CLEAT_COUNT(data); i++) {
		if (data[i].code != code || data[i].revision != p->revision)
			continue;
		if (cleat_json_get(error, "data"))
			check_type(p, data[i].type, cleat_json_get(error, "data"), "/error/data");
		else
			protocol_tell(p, false, "member", "/error",
				      "expected \"data\": %d has some", data[i].code);
	}
}

static void check_answer(struct protocol *p, enum protocol_side from, const cleat_json *message,
			 struct protocol_message *ret)
{
	const cleat_json *id = cleat_json_get(message, "id"),
			 *error = cleat_json_get(message, "error");
	struct open_request r = { 0 };
	char *text = id && good_id(id) ? cleat_json_print(id, NULL) : NULL;

	ret->kind = error ? "error" : "result";
	ret->matched = text && protocol_take(p, text, from, &r);
	ret->method = ret->matched ? r.name : NULL;
	p->revision = p->fixed                                                          ? p->fixed
		      : ret->matched                                                    ? r.revision
		      : p->session                                                      ? p->session
		      : cleat_json_get(cleat_json_get(message, "result"), "resultType") ? 'e'
											: 'd';
	if (!id && (!error || p->revision < 'd'))
		protocol_tell(p, false, "id", "", "expected \"id\": that of the request");
	if (error)
		check_error(p, error);
	else
		check_result(p, ret->matched ? &r : NULL, message);
	free(r.id);
	free(text);
}

/* An error whose request could not be read has the id null by JSON-RPC 2.0, and none by MCP: many servers
 * do the former, so this has a rule of its own. */
static void tell_id(struct protocol *p, const cleat_json *id, bool error)
{
	if (cleat_json_type(id) != CLEAT_JSON_NULL)
		protocol_tell(p, false, "id", "/id", "expected a string or an integer");
	else
		protocol_tell(p, false, error ? "null-id" : "id", "/id",
			      "expected a string or an integer: MCP has no null ids%s",
			      error ? ", leave it out where it is unknown" : "");
}

/* JSON-RPC 2.0 itself. False: there is nothing more to look at. */
static bool check_frame(struct protocol *p, const cleat_json *message)
{
	static const char *const what[] = { "method", "result", "error" };
	const cleat_json *id = cleat_json_get(message, "id"), *version, *duplicate;
	unsigned n = 0;

	if (cleat_json_type(message) != CLEAT_JSON_OBJECT) {
		protocol_tell(p, false, "json-rpc", "", "a message is an object");
		return false;
	}
	duplicate = cleat_json_duplicate(message);
	if (duplicate)
		protocol_tell(p, false, "json-rpc", "", "\"%.60s\" stands twice",
			      cleat_json_str(duplicate, ""));
	version = cleat_json_get(message, "jsonrpc");
	if (!version)
		protocol_tell(p, false, "json-rpc", "", "expected \"jsonrpc\": \"2.0\"");
	else if (strcmp(cleat_json_str(version, ""), "2.0") != 0)
		protocol_tell(p, false, "json-rpc", "/jsonrpc", "expected \"2.0\"");
	if (id && !good_id(id))
		tell_id(p, id, cleat_json_get(message, "error") != NULL);
	for (size_t i = 0; i < CLEAT_COUNT(what); i++)
		n += cleat_json_get(message, what[i]) != NULL;
	if (n != 1) {
		protocol_tell(
			p, false, "json-rpc", "",
			n ? "expected only one of method, result and error"
			  : "expected a method (request, notification), a result or an error");
		return false;
	}
	if (cleat_json_get(message, "method") &&
	    cleat_json_type(cleat_json_get(message, "method")) != CLEAT_JSON_STRING) {
		protocol_tell(p, false, "json-rpc", "/method", "expected a string");
		return false;
	}
	return true;
}

static size_t check_one(struct protocol *p, enum protocol_side from, const cleat_json *message,
			protocol_finding_fn *fn, void *ctx, struct protocol_message *ret)
{
	*ret = (struct protocol_message){ .kind = "message" };
	p->fn = fn;
	p->ctx = ctx;
	p->errors = 0;
	p->revision = p->fixed ? p->fixed : p->session ? p->session : 'd';
	if (check_frame(p, message)) {
		if (cleat_json_get(message, "method"))
			check_call(p, from, message, ret);
		else
			check_answer(p, from, message, ret);
	}
	ret->revision = revision_of(p->revision);
	return p->errors;
}

static size_t check_batch(struct protocol *p, enum protocol_side from, const cleat_json *batch,
			  protocol_finding_fn *fn, void *ctx, struct protocol_message *ret)
{
	char revision = p->fixed ? p->fixed : p->session ? p->session : 'd';
	cleat_json_iter it = cleat_json_each(batch);
	size_t errors = 0;

	p->fn = fn;
	p->ctx = ctx;
	p->errors = 0;
	if (revision != 'b')
		protocol_tell(p, false, "batch", "", "%s has no batches (2025-03-26 had them)",
			      revision_of(revision));
	else if (!cleat_json_size(batch))
		protocol_tell(p, false, "batch", "", "a batch has at least one message");
	errors = p->errors;
	while (cleat_json_next(&it))
		errors += check_one(p, from, it.value, fn, ctx, ret);
	*ret = (struct protocol_message){ .kind = "batch" };
	ret->revision = revision_of(revision);
	return errors;
}

size_t protocol_check(struct protocol *p, enum protocol_side from, const cleat_json *message,
		      protocol_finding_fn *fn, void *ctx, struct protocol_message *ret)
{
	struct protocol_message none = { 0 };

	ret = ret ? ret : &none;
	return cleat_json_type(message) == CLEAT_JSON_ARRAY
		       ? check_batch(p, from, message, fn, ctx, ret)
		       : check_one(p, from, message, fn, ctx, ret);
}

/* As a peer reads it (json/mend.h); *mended: what it had to overlook. */
static cleat_doc *read_text(const char *text, size_t n, unsigned *mended, cleat_error *err)
{
	/* The client has its limits, by --max-size; here it is about what the text says. */
	const cleat_json_limits all = { .max_depth = 1024, .max_nodes = n };
	cleat_doc *doc = cleat_doc_parse(text, n, &all, NULL, err);
	struct str better;
	struct arena ar;

	*mended = 0;
	if (doc)
		return doc;
	arena_init(&ar, NULL, SIZE_MAX / 2);
	if (json_mend(&ar, (struct str){ text, n }, &better, mended) == CLEAT_OK && *mended)
		doc = cleat_doc_parse(better.p, better.n, &all, NULL, err);
	arena_done(&ar);
	return doc;
}

size_t protocol_check_text(struct protocol *p, enum protocol_side from, const char *text, size_t n,
			   protocol_finding_fn *fn, void *ctx, struct protocol_message *ret)
{
	struct protocol_message none = { 0 };
	cleat_error err;
	unsigned mended;
	cleat_doc *doc = read_text(text, n, &mended, &err);
	size_t errors;

	ret = ret ? ret : &none;
	*ret = (struct protocol_message){ .kind = "message" };
	if (!doc) {
		p->fn = fn;
		p->ctx = ctx;
		p->errors = 0;
		protocol_tell(p, false, "json", "", "no JSON: %s", err.message);
		return p->errors;
	}
	errors = protocol_check(p, from, cleat_doc_root(doc), fn, ctx, ret);
	if (mended)
		protocol_tell(p, true, "json", "", "%s", json_mended_words(mended));
	cleat_doc_free(doc);
	return errors;
}

/* ---- which message ------------------------------------------------------------------------------- */

const char *protocol_which(const struct protocol_message *m, size_t number, const char *text,
			   size_t n)
{
	size_t most = n < WHICH_MOST ? n : utf8_valid_prefix((struct str){ text, WHICH_MOST });

	if (m->method)
		return keepf("%s of %s", m->kind, m->method);
	return keepf("message %zu from the server (%.*s%s)", number, (int)most, text,
		     most < n ? "..." : "");
}

void probe_sent(struct probe *p, const struct protocol_message *m)
{
	const char *method = m->method ? m->method : "";

	p->legacy = p->legacy || strcmp(method, "initialize") == 0;
	p->sent = !p->legacy && (p->sent || strcmp(method, "server/discover") == 0);
}

bool probe_reply(const struct probe *p, const struct protocol_message *m)
{
	return m->method ? strcmp(m->method, "server/discover") == 0 : p->sent;
}
