/* client_driver.c - the library's client, led by lines of JSON: what the tests of clients speak to.
 *
 * A command is one line on standard input, with an `id` that its answer carries; everything that
 * happens is one line on standard output. Calls, lists and requests run at the same time; what is
 * marked (blocking) waits, as the blocking functions do. See on_command() for the commands, and
 * open_client() for the options of `open`, which have the names of cleat_client_options.
 *
 * What a server asks is answered with what `open` or `answers` gave for this kind of question, in
 * turn; the last one stays. {"action":"wait"} leaves it to a `reply` that comes later.
 *
 * It ends with its input, and then frees the client. It is deliberately no good client itself: it
 * passes on whatever it is told.
 */
#define _POSIX_C_SOURCE 200809L
#include <cleat/cleat.h>
#include <cleat/client.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_STRINGS = 64, MAX_ROOTS = 16, MAX_WATCHES = 16, MAX_WAITING = 64, MAX_CALLS = 512 };

/* What a kind of question is answered with: an array, used up from its front to its last. */
struct answers {
	cleat_doc *doc;
	size_t next;
};

enum { FORM, URL, SAMPLING, N_KINDS };

/* A call under way, or a watch: whose id it is. */
struct ticket {
	cleat_doc *id; /* NULL: free */
	cleat_call *call;
	cleat_watch *watch;
};

static struct driver {
	cleat_client *client;
	cleat_doc *opening; /* id of an `open` that is not answered yet */
	struct answers answers[N_KINDS];
	cleat_request *waiting[MAX_WAITING];
	struct ticket calls[MAX_CALLS];
	struct ticket watches[MAX_WATCHES];
} driver;

static const char *const kinds[] = { "form", "url", "sampling" };

/* ---- small things ------------------------------------------------------------------------------- */

static const cleat_json *get(const cleat_json *v, const char *key)
{
	return cleat_json_get(v, key);
}

static const char *str(const cleat_json *v, const char *key)
{
	return cleat_json_str(get(v, key), NULL);
}

static unsigned num(const cleat_json *v, const char *key)
{
	return (unsigned)cleat_json_uint(get(v, key), 0);
}

static bool flag(const cleat_json *v, const char *key)
{
	return cleat_json_bool(get(v, key), false);
}

/* A value that outlives the command that it came in. */
static cleat_doc *keep(const cleat_json *v)
{
	return cleat_doc_newf(NULL, "%p", (void *)v);
}

/* Prints a document as one line, and frees it. */
static void say(cleat_doc *doc)
{
	char *text = cleat_json_print(cleat_doc_root(doc), NULL);

	puts(text ? text : "{\"fatal\":\"a line that could not be made\"}");
	fflush(stdout);
	free(text);
	cleat_doc_free(doc);
}

static const cleat_json *id_of(const struct ticket *t)
{
	return cleat_doc_root(t->id);
}

static struct ticket *take(struct ticket *all, size_t n, const cleat_json *id)
{
	for (size_t i = 0; i < n; i++)
		if (!all[i].id) {
			all[i].id = keep(id);
			return &all[i];
		}
	return NULL;
}

static struct ticket *find(struct ticket *all, size_t n, const cleat_json *id)
{
	for (size_t i = 0; i < n; i++)
		if (all[i].id && cleat_json_equal(id_of(&all[i]), id))
			return &all[i];
	return NULL;
}

static void drop(struct ticket *t)
{
	cleat_doc_free(t->id);
	*t = (struct ticket){ 0 };
}

static cleat_doc *error_doc(const cleat_error *e)
{
	return cleat_doc_newf(NULL, "{status: %s, code: %d, errno: %d, message: %s}",
			      cleat_strstatus(e->status), e->rpc_code, e->os_errno, e->message);
}

/* ---- results -------------------------------------------------------------------------------------- */

static void say_content(const cleat_json *id, size_t i, const cleat_content *c)
{
	static const char *const names[] = {
		"text", "image", "audio", "resource", "link", "other"
	};
	bool is_text = c->text != NULL;

	say(cleat_doc_newf(
		NULL,
		"{block: %p, index: %zu, kind: %s, role: %s, text: %.*s, size: %zu, mime: %s,"
		" uri: %s, name: %s, description: %s}",
		(void *)id, i, names[c->kind], c->role, is_text ? (int)c->size : 0,
		is_text ? c->text : NULL, c->size, c->mime, c->uri, c->name, c->description));
}

/* As in the enum: the words for people may change. */
static const char *step_name(enum cleat_step step)
{
	static const char *const names[] = {
		[CLEAT_STEP_NONE] = "none",           [CLEAT_STEP_ARGUMENTS] = "arguments",
		[CLEAT_STEP_SPAWN] = "spawn",         [CLEAT_STEP_DNS] = "dns",
		[CLEAT_STEP_CONNECT] = "connect",     [CLEAT_STEP_TLS] = "tls",
		[CLEAT_STEP_HTTP] = "http",           [CLEAT_STEP_AUTH] = "auth",
		[CLEAT_STEP_EXCHANGE] = "exchange",   [CLEAT_STEP_NEGOTIATE] = "negotiate",
		[CLEAT_STEP_PROTOCOL] = "protocol",   [CLEAT_STEP_ANSWER] = "answer",
		[CLEAT_STEP_TIMEOUT] = "timeout",     [CLEAT_STEP_ASKED] = "asked",
		[CLEAT_STEP_CANCELLED] = "cancelled",
	};

	return names[step];
}

/* All that a result says of itself; its blocks as lines before. Frees it. */
static void say_result(const cleat_json *id, cleat_result *r)
{
	cleat_doc *error = error_doc(cleat_result_error(r));
	cleat_content block;

	for (size_t i = 0; cleat_result_content(r, i, &block); i++)
		say_content(id, i, &block);
	say(cleat_doc_newf(NULL,
			   "{id: %p, status: %s, step: %s, http: %d, toolError: %hhd, cached: %hhd,"
			   " error: %p, data: %p, text: %s, json: %p, items: %p, raw: %p}",
			   (void *)id, cleat_strstatus(cleat_result_status(r)),
			   step_name(cleat_result_step(r)), cleat_result_http_status(r),
			   cleat_result_is_tool_error(r), cleat_result_is_cached(r),
			   (void *)cleat_doc_root(error), (void *)cleat_result_error_data(r),
			   cleat_result_text(r), (void *)cleat_result_json(r),
			   (void *)cleat_result_items(r), (void *)cleat_result_raw(r)));
	cleat_doc_free(error);
	cleat_result_free(r);
}

static void on_done(cleat_call *call, cleat_result *r)
{
	struct ticket *t = cleat_call_userdata(call);

	say_result(id_of(t), r);
	drop(t);
}

static void on_progress(cleat_call *call, double done, double total, const char *message)
{
	struct ticket *t = cleat_call_userdata(call);

	say(cleat_doc_newf(NULL, "{progress: %p, done: %g, total: %g, message: %s}",
			   (void *)id_of(t), done, total, message));
}

static void on_call_log(cleat_call *call, int level, const char *logger, const cleat_json *data)
{
	struct ticket *t = cleat_call_userdata(call);

	say(cleat_doc_newf(NULL, "{log: %s, logger: %s, data: %p, of: %p}",
			   cleat_log_level_name(level), logger, (void *)data, (void *)id_of(t)));
}

/* ---- what comes by itself --------------------------------------------------------------------------- */

static void on_log(cleat_client *c, int level, const char *logger, const cleat_json *data, void *u)
{
	(void)c;
	(void)u;
	say(cleat_doc_newf(NULL, "{log: %s, logger: %s, data: %p}", cleat_log_level_name(level),
			   logger, (void *)data));
}

static void on_stderr(cleat_client *c, const char *line, void *u)
{
	(void)c;
	(void)u;
	say(cleat_doc_newf(NULL, "{stderr: %s}", line));
}

static void on_note(cleat_client *c, int level, const char *text, void *u)
{
	(void)c;
	(void)u;
	say(cleat_doc_newf(NULL, "{note: %s, level: %s}", text, cleat_log_level_name(level)));
}

static void on_message(cleat_client *c, bool out, const char *text, size_t n, void *u)
{
	(void)c;
	(void)u;
	say(cleat_doc_newf(NULL, "{message: %.*s, out: %hhd}", (int)n, text, out));
}

/* The server as it is known now, under `key`. */
static void say_server(const char *key, const cleat_json *id, const cleat_error *state)
{
	static const char *const eras[] = { "auto", "legacy", "modern" };
	cleat_client *c = driver.client;
	cleat_doc *error = error_doc(state);

	say(cleat_doc_newf(NULL,
			   "{%s: %p, status: %s, error: %p, era: %s, revision: %s, name: %s,"
			   " version: %s, instructions: %s, pid: %d, server: %p}",
			   key, (void *)id, cleat_strstatus(state->status),
			   (void *)cleat_doc_root(error), eras[cleat_client_era(c)],
			   cleat_client_revision(c), cleat_client_server_name(c),
			   cleat_client_server_version(c), cleat_client_instructions(c),
			   cleat_client_pid(c), (void *)cleat_client_server(c)));
	cleat_doc_free(error);
}

static void on_state(cleat_client *c, const cleat_error *state, void *u)
{
	cleat_doc *id = driver.opening;

	(void)c;
	(void)u;
	driver.opening = NULL;
	say_server(id ? "id" : "state", cleat_doc_root(id), state);
	cleat_doc_free(id);
}

/* ---- what the server asks ----------------------------------------------------------------------------- */

static int answer(cleat_request *req, int kind, const cleat_json *a)
{
	const char *action = str(a, "action");

	if (str(a, "error"))
		return cleat_reply_reject(req, (int)cleat_json_int(get(a, "code"), -32603), "%s",
					  str(a, "error"));
	if (action && strcmp(action, "decline") == 0)
		return CLEAT_EDECLINED;
	if (action && strcmp(action, "cancel") == 0)
		return CLEAT_ECANCELLED;
	if (kind == URL)
		return CLEAT_OK;
	if (kind == FORM)
		return get(a, "content") ? cleat_reply_json(req, get(a, "content"))
					 : cleat_reply_nothing(req);
	if (get(a, "result"))
		return cleat_reply_json(req, get(a, "result"));
	if (str(a, "model"))
		cleat_reply_model(req, str(a, "model"));
	if (str(a, "stopReason"))
		cleat_reply_stop_reason(req, str(a, "stopReason"));
	if (get(a, "toolUse"))
		return cleat_reply_tool_use(req, str(get(a, "toolUse"), "id"),
					    str(get(a, "toolUse"), "name"),
					    get(get(a, "toolUse"), "input"));
	return cleat_reply_text(req, cleat_json_str(get(a, "text"), ""));
}

static int wait_for_reply(cleat_request *req, int kind)
{
	for (size_t i = 0; i < MAX_WAITING; i++)
		if (!driver.waiting[i]) {
			driver.waiting[i] = req;
			cleat_request_defer(req);
			say(cleat_doc_newf(NULL, "{waiting: %zu, kind: %s}", i, kinds[kind]));
			return CLEAT_PENDING;
		}
	return cleat_reply_error(req, "too many questions wait");
}

static int asked(cleat_request *req, int kind)
{
	struct answers *all = &driver.answers[kind];
	const cleat_json *list = cleat_doc_root(all->doc);
	const cleat_json *a = cleat_json_at(list, all->next);
	const char *action = str(a, "action");

	if (all->next + 1 < cleat_json_size(list))
		all->next++;
	say(cleat_doc_newf(NULL, "{asked: %s, method: %s, params: %p}", kinds[kind],
			   cleat_request_method(req), (void *)cleat_request_arguments(req)));
	if (action && strcmp(action, "wait") == 0)
		return wait_for_reply(req, kind);
	return answer(req, kind, a);
}

static int on_form(cleat_request *req)
{
	return asked(req, FORM);
}

static int on_url(cleat_request *req)
{
	return asked(req, URL);
}

static int on_sampling(cleat_request *req)
{
	return asked(req, SAMPLING);
}

/* {"reply":3,"kind":"form","with":{...}}: what was left waiting. */
static void reply(const cleat_json *command)
{
	size_t i = num(command, "reply");
	const char *kind = cleat_json_str(get(command, "kind"), "form");
	cleat_request *req = i < MAX_WAITING ? driver.waiting[i] : NULL;
	int k = strcmp(kind, "form") == 0 ? FORM : strcmp(kind, "url") == 0 ? URL : SAMPLING;

	if (!req)
		return;
	driver.waiting[i] = NULL;
	cleat_request_finish(req, answer(req, k, get(command, "with")));
}

static void set_answers(const cleat_json *v)
{
	for (int k = 0; k < N_KINDS; k++)
		if (get(v, kinds[k])) {
			const cleat_json *list = get(v, kinds[k]);
			bool many = cleat_json_type(list) == CLEAT_JSON_ARRAY;

			cleat_doc_free(driver.answers[k].doc);
			driver.answers[k].doc =
				cleat_doc_newf(NULL, many ? "%p" : "[%p]", (void *)list);
			driver.answers[k].next = 0;
		}
}

/* ---- opening -------------------------------------------------------------------------------------------- */

static enum cleat_era era(const char *name)
{
	if (name && strcmp(name, "legacy") == 0)
		return CLEAT_ERA_LEGACY;
	return name && strcmp(name, "modern") == 0 ? CLEAT_ERA_MODERN : CLEAT_ERA_AUTO;
}

/* A list of strings that ends with NULL; NULL when there is none. */
static const char *const *strings(const cleat_json *v, const char *room[MAX_STRINGS + 1])
{
	cleat_json_iter it = cleat_json_each(v);
	size_t n = 0;

	while (n < MAX_STRINGS && cleat_json_next(&it))
		room[n++] = cleat_json_str(it.value, "");
	room[n] = NULL;
	return v ? room : NULL;
}

static size_t roots(const cleat_json *v, cleat_root room[MAX_ROOTS])
{
	cleat_json_iter it = cleat_json_each(v);
	size_t n = 0;

	while (n < MAX_ROOTS && cleat_json_next(&it))
		room[n++] =
			(cleat_root){ .uri = str(it.value, "uri"), .name = str(it.value, "name") };
	return n;
}

static void set_callbacks(cleat_client_options *o, const cleat_json *v)
{
	const cleat_json *a = get(v, "answers");

	set_answers(a);
	o->on_form = get(a, "form") ? on_form : NULL;
	o->on_url = get(a, "url") ? on_url : NULL;
	o->on_sampling = get(a, "sampling") ? on_sampling : NULL;
	o->on_log = on_log;
	o->on_stderr = on_stderr;
	o->on_note = on_note;
	o->on_state = on_state;
	o->on_message = flag(v, "trace") ? on_message : NULL;
}

static cleat_client_options options(const cleat_json *v)
{
	return (cleat_client_options){
		.name = str(v, "name"),
		.version = str(v, "version"),
		.era = era(str(v, "era")),
		.known_era = era(str(v, "known_era")),
		.protocol = str(v, "protocol"),
		.timeout_ms = num(v, "timeout_ms"),
		.hard_timeout_ms = num(v, "hard_timeout_ms"),
		.connect_timeout_ms = num(v, "connect_timeout_ms"),
		.probe_timeout_ms = num(v, "probe_timeout_ms"),
		.sampling_tools = flag(v, "sampling_tools"),
		.offer_roots = flag(v, "offer_roots"),
		.log_level = str(v, "log_level"),
		.cwd = str(v, "cwd"),
		.inherit_env = flag(v, "inherit_env"),
		.restart = flag(v, "restart"),
		.bearer = str(v, "bearer"),
		.proxy = str(v, "proxy"),
		.ca_file = str(v, "ca_file"),
		.unix_socket = str(v, "unix_socket"),
		.insecure = flag(v, "insecure"),
		.no_http2 = flag(v, "no_http2"),
		.old_sse = flag(v, "old_sse"),
		.no_stream = flag(v, "no_stream"),
		.max_message = num(v, "max_message"),
		.max_calls = num(v, "max_calls"),
		.max_rounds = num(v, "max_rounds"),
		.max_pages = num(v, "max_pages"),
		.no_cache = flag(v, "no_cache"),
	};
}

static void open_client(const cleat_json *id, const cleat_json *v)
{
	const char *argv[MAX_STRINGS + 1], *env[MAX_STRINGS + 1], *headers[MAX_STRINGS + 1];
	cleat_root room[MAX_ROOTS];
	cleat_client_options o = options(v);
	int rc;

	set_callbacks(&o, v);
	o.env = strings(get(v, "env"), env);
	o.headers = strings(get(v, "headers"), headers);
	o.roots = room;
	o.n_roots = roots(get(v, "roots"), room);
	if (get(v, "argv"))
		driver.client = cleat_client_spawn(strings(get(v, "argv"), argv), &o);
	else
		driver.client = cleat_client_connect(cleat_json_str(get(v, "url"), ""), &o);
	driver.opening = keep(id);
	rc = cleat_client_start(driver.client);
	if (rc && driver.opening)
		on_state(driver.client, cleat_client_error(driver.client), NULL);
}

/* ---- calls ------------------------------------------------------------------------------------------------ */

static cleat_call_options call_options(const cleat_json *command, struct ticket *t)
{
	return (cleat_call_options){
		.timeout_ms = num(command, "timeout_ms"),
		.hard_timeout_ms = num(command, "hard_timeout_ms"),
		.on_done = on_done,
		.on_progress = flag(command, "progress") ? on_progress : NULL,
		.on_log = flag(command, "own_log") ? on_call_log : NULL,
		.log_level = str(command, "log_level"),
		.meta = get(command, "meta"),
		.no_cache = flag(command, "no_cache"),
		.userdata = t,
	};
}

static enum cleat_list list_kind(const char *name)
{
	static const char *const names[] = { "tools", "resources", "templates", "prompts" };
	unsigned i = 0;

	while (i + 1 < CLEAT_COUNT(names) && strcmp(names[i], name) != 0)
		i++;
	return (enum cleat_list)i;
}

/* {"call":tool,"args":{}}, {"request":method,"params":{}}, {"list":"tools"} */
static void start(const cleat_json *id, const cleat_json *command)
{
	struct ticket *t = take(driver.calls, MAX_CALLS, id);
	cleat_call_options o = call_options(command, t);
	cleat_client *c = driver.client;

	if (!t) {
		say(cleat_doc_newf(NULL, "{id: %p, fatal: 'too many calls'}", (void *)id));
		return;
	}
	if (str(command, "call"))
		t->call = cleat_client_startf(c, &o, str(command, "call"),
					      get(command, "args") ? "%p" : NULL,
					      (void *)get(command, "args"));
	else if (str(command, "request"))
		t->call = cleat_client_start_requestf(c, &o, str(command, "request"),
						      get(command, "params") ? "%p" : NULL,
						      (void *)get(command, "params"));
	else
		t->call = cleat_client_start_list(c, &o, list_kind(str(command, "list")));
	if (!t->call) {
		say(cleat_doc_newf(NULL, "{id: %p, fatal: 'out of memory'}", (void *)id));
		drop(t);
	}
}

/* {"complete":ref,"argument":name,"typed":text,"context":{}} (blocking) */
static void complete(const cleat_json *id, const cleat_json *command)
{
	say_result(id, cleat_client_complete(driver.client, str(command, "complete"),
					     str(command, "argument"), str(command, "typed"),
					     get(command, "context")));
}

/* {"prompt":name,"args":{}} (blocking) */
static void prompt(const cleat_json *id, const cleat_json *command)
{
	say_result(id, cleat_client_promptf(driver.client, str(command, "prompt"),
					    get(command, "args") ? "%p" : NULL,
					    (void *)get(command, "args")));
}

/* ---- watching ----------------------------------------------------------------------------------------------- */

static void on_change(cleat_watch *w, enum cleat_change_kind what, const char *uri)
{
	struct ticket *t = cleat_watch_userdata(w);
	const char *name = what == CLEAT_CHANGE_TOOLS       ? "tools"
			   : what == CLEAT_CHANGE_PROMPTS   ? "prompts"
			   : what == CLEAT_CHANGE_RESOURCES ? "resources"
			   : what == CLEAT_CHANGE_RESOURCE  ? "resource"
							    : "missed";

	say(cleat_doc_newf(NULL, "{change: %s, uri: %s, watch: %p}", name, uri, (void *)id_of(t)));
}

static void on_end(cleat_watch *w, const cleat_error *why)
{
	struct ticket *t = cleat_watch_userdata(w);
	cleat_doc *error = error_doc(why);

	say(cleat_doc_newf(NULL, "{end: %p, error: %p}", (void *)id_of(t),
			   (void *)cleat_doc_root(error)));
	cleat_doc_free(error);
}

/* {"watch":["tools"],"uris":[...]} */
static void watch(const cleat_json *id, const cleat_json *command)
{
	static const struct {
		const char *name;
		unsigned bit;
	} lists[] = { { "tools", CLEAT_CHANGE_TOOLS },
		      { "prompts", CLEAT_CHANGE_PROMPTS },
		      { "resources", CLEAT_CHANGE_RESOURCES } };
	struct ticket *t = take(driver.watches, MAX_WATCHES, id);
	const char *uris[MAX_STRINGS + 1];
	cleat_watch_options o = { .uris = strings(get(command, "uris"), uris),
				  .on_change = on_change,
				  .on_end = on_end,
				  .userdata = t };
	cleat_json_iter it = cleat_json_each(get(command, "watch"));

	while (cleat_json_next(&it))
		for (size_t i = 0; i < CLEAT_COUNT(lists); i++)
			if (strcmp(cleat_json_str(it.value, ""), lists[i].name) == 0)
				o.lists |= lists[i].bit;
	if (t)
		t->watch = cleat_client_watch(driver.client, &o);
	say(cleat_doc_newf(NULL, "{id: %p, status: %s}", (void *)id,
			   cleat_strstatus(t && t->watch ? CLEAT_OK : CLEAT_ENOMEM)));
}

static void unwatch(const cleat_json *id)
{
	struct ticket *t = find(driver.watches, MAX_WATCHES, id);

	if (t) {
		cleat_watch_free(t->watch);
		drop(t);
	}
}

/* ---- commands ------------------------------------------------------------------------------------------------- */

static void close_client(void)
{
	for (size_t i = 0; i < MAX_WATCHES; i++)
		if (driver.watches[i].id) {
			cleat_watch_free(driver.watches[i].watch);
			drop(&driver.watches[i]);
		}
	for (size_t i = 0; i < MAX_WAITING; i++)
		if (driver.waiting[i]) {
			cleat_request_finish(driver.waiting[i], CLEAT_ECANCELLED);
			driver.waiting[i] = NULL;
		}
	cleat_client_free(driver.client);
	driver.client = NULL;
	cleat_doc_free(driver.opening);
	driver.opening = NULL;
}

static void set_roots(const cleat_json *id, const cleat_json *v)
{
	cleat_root room[MAX_ROOTS];
	size_t n = roots(v, room);
	int rc = cleat_client_set_roots(driver.client, room, n);

	say(cleat_doc_newf(NULL, "{id: %p, status: %s}", (void *)id, cleat_strstatus(rc)));
}

static void notify(const cleat_json *id, const cleat_json *command)
{
	int rc = cleat_client_notifyf(driver.client, str(command, "notify"),
				      get(command, "params") ? "%p" : NULL,
				      (void *)get(command, "params"));

	say(cleat_doc_newf(NULL, "{id: %p, status: %s}", (void *)id, cleat_strstatus(rc)));
}

static void cancel(const cleat_json *id)
{
	struct ticket *t = find(driver.calls, MAX_CALLS, id);

	if (t)
		cleat_call_cancel(t->call);
}

static void on_command(const cleat_json *v)
{
	const cleat_json *id = get(v, "id");

	if (get(v, "open"))
		open_client(id, get(v, "open"));
	else if (get(v, "call") || get(v, "request") || get(v, "list"))
		start(id, v);
	else if (get(v, "read"))
		say_result(id, cleat_client_read(driver.client, str(v, "read")));
	else if (get(v, "prompt"))
		prompt(id, v);
	else if (get(v, "complete"))
		complete(id, v);
	else if (get(v, "ping"))
		say_result(id, cleat_client_ping(driver.client));
	else if (get(v, "notify"))
		notify(id, v);
	else if (get(v, "watch"))
		watch(id, v);
	else if (get(v, "unwatch"))
		unwatch(get(v, "unwatch"));
	else if (get(v, "cancel"))
		cancel(get(v, "cancel"));
	else if (get(v, "answers"))
		set_answers(get(v, "answers"));
	else if (get(v, "reply"))
		reply(v);
	else if (get(v, "roots"))
		set_roots(id, get(v, "roots"));
	else if (get(v, "can"))
		say(cleat_doc_newf(NULL, "{id: %p, can: %hhd}", (void *)id,
				   cleat_client_server_can(driver.client, str(v, "can"))));
	else if (get(v, "state"))
		say_server("id", id, cleat_client_error(driver.client));
	else if (get(v, "close")) {
		close_client();
		say(cleat_doc_newf(NULL, "{id: %p, status: 'success'}", (void *)id));
	} else
		say(cleat_doc_newf(NULL, "{id: %p, fatal: 'unknown command'}", (void *)id));
}

static void on_line(const char *line, size_t n)
{
	cleat_error err;
	cleat_doc *doc = cleat_doc_parse(line, n, NULL, NULL, &err);

	if (doc)
		on_command(cleat_doc_root(doc));
	else
		say(cleat_doc_newf(NULL, "{fatal: %s}", err.message));
	cleat_doc_free(doc);
}

/* Reads what is there, and does what its whole lines say. False at the end. */
static bool read_commands(void)
{
	static char in[1 << 20];
	static size_t have;
	ssize_t got = read(STDIN_FILENO, in + have, sizeof in - have);
	char *p = in, *nl;

	if (got <= 0)
		return false;
	have += (size_t)got;
	while ((nl = memchr(p, '\n', (size_t)(in + have - p)))) {
		on_line(p, (size_t)(nl - p));
		p = nl + 1;
	}
	have -= (size_t)(p - in);
	memmove(in, p, have);
	return true;
}

int main(void)
{
	bool more = true;

	while (more) {
		cleat_loop *loop = driver.client ? cleat_client_loop(driver.client) : NULL;
		struct pollfd fds[] = { { .fd = STDIN_FILENO, .events = POLLIN },
					{ .fd = loop ? cleat_loop_fd(loop) : -1,
					  .events = POLLIN } };

		if (poll(fds, CLEAT_COUNT(fds), loop ? cleat_loop_timeout(loop) : -1) < 0)
			return 1;
		if (loop)
			cleat_loop_step(loop, 0);
		if (fds[0].revents)
			more = read_commands();
	}
	close_client();
	for (int k = 0; k < N_KINDS; k++)
		cleat_doc_free(driver.answers[k].doc);
	return 0;
}
