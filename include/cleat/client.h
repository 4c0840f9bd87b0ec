/* cleat/client.h - an MCP client: start or reach a server, call it, answer what it asks.
 *
 *	const char *argv[] = { "./adder", NULL };
 *	cleat_client *c = cleat_client_spawn(argv, NULL);
 *	cleat_result *r = cleat_client_callf(c, "add", "{a: %d, b: %g}", 2, 0.5);
 *
 *	if (cleat_result_status(r) == CLEAT_OK)
 *		puts(cleat_result_text(r));
 *	else
 *		fprintf(stderr, "%s\n", cleat_result_error(r)->message);
 *	cleat_result_free(r);
 *	cleat_client_free(c);
 *
 * The client finds out what the server speaks, 2024-11-05 to 2026-07-28, before the first call (or in
 * cleat_client_open()), keeps the connection healthy, and answers the server's questions with the
 * handlers of its options, which have the same shape as those of a server (<cleat/request.h>).
 *
 * Nothing needs checking but results: what failed while the client was made is the result of its
 * calls, NULL is accepted wherever a client or a result is, and a NULL result has the status
 * CLEAT_ENOMEM.
 *
 * Blocking and not. A blocking call runs the client's loop until its result is there; other calls,
 * handlers and callbacks of the same client go on meanwhile. The same call with cleat_call_options and
 * `on_done` only starts; then step the loop (cleat_client_loop(), <cleat/loop.h>), by itself or inside
 * another one. A blocking call from inside a callback of the same loop gives CLEAT_EMISUSE.
 *
 * Threads: a client belongs to the thread that steps its loop. cleat_call_cancel() and what
 * <cleat/request.h> allows may be called from any thread.
 */
#ifndef CLEAT_CLIENT_H
#define CLEAT_CLIENT_H

#include <cleat/base.h>
#include <cleat/field.h>
#include <cleat/json.h>
#include <cleat/loop.h>
#include <cleat/request.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cleat_client cleat_client;
typedef struct cleat_call cleat_call;     /* a call under way; gone when its on_done returns */
typedef struct cleat_result cleat_result; /* how a call ended; yours to free */
typedef struct cleat_watch cleat_watch;
struct cleat_server;

/* Which way of speaking MCP: with a session (up to 2025-11-25) or with every request by itself. */
enum cleat_era {
	CLEAT_ERA_AUTO,   /* find out: modern first, then legacy */
	CLEAT_ERA_LEGACY, /* initialize at once */
	CLEAT_ERA_MODERN  /* never fall back */
};

/* Where something failed. */
enum cleat_step {
	CLEAT_STEP_NONE,
	CLEAT_STEP_ARGUMENTS, /* before anything was sent: what the program asked for is wrong */
	CLEAT_STEP_SPAWN,     /* the program could not be started */
	CLEAT_STEP_DNS,
	CLEAT_STEP_CONNECT,
	CLEAT_STEP_TLS,
	CLEAT_STEP_HTTP,      /* an HTTP status that is no answer */
	CLEAT_STEP_AUTH,      /* 401, 403 */
	CLEAT_STEP_EXCHANGE,  /* the connection broke, or the program died, before the answer */
	CLEAT_STEP_NEGOTIATE, /* no common revision, or no MCP at all */
	CLEAT_STEP_PROTOCOL,  /* the server's message is none, or not what was promised */
	CLEAT_STEP_ANSWER,    /* the server said no: a JSON-RPC error, or isError */
	CLEAT_STEP_TIMEOUT,
	CLEAT_STEP_ASKED, /* the server asked something that could not be answered */
	CLEAT_STEP_CANCELLED
};

typedef struct cleat_root {
	const char *uri;       /* file:///home/me/project */
	const char *name;      /* may be NULL */
	uintptr_t reserved[2]; /* zero */
} cleat_root;

/* ---- options ------------------------------------------------------------------------------ */

/* All-zero is a good default; NULL where the struct is asked for is all-zero. Strings are copied. Lists
 * of strings end with NULL. */
typedef struct cleat_client_options {
	/* who we are; NULL: "cleat" and the library's version */
	const char *name, *version, *title;
	cleat_loop *loop; /* NULL: one of its own */
	void *userdata;   /* for all callbacks; cleat_request_userdata() in handlers */

	/* how to speak */
	enum cleat_era era;
	const char *protocol; /* speak this revision and no other: "2025-06-18"; NULL: the best */
	enum cleat_era
		known_era; /* what was found out the last time (cleat_client_era()): tried first */

	/* time, in milliseconds */
	unsigned timeout_ms;      /* of a call, from its last sign of life, not counting the time in
				      which the server waits for an answer of ours; 0: 60 s */
	unsigned hard_timeout_ms; /* of a call, however much progress it makes; 0: 5 min */
	unsigned connect_timeout_ms; /* until the server is ready; 0: 30 s */
	unsigned
		probe_timeout_ms; /* for a legacy server that says nothing to the first question on a
				      pipe; 0: 5 s */

	/* What the server may ask; NULL: it is told that this cannot be asked. The arguments
	 * (cleat_arg_str(req, "message")) are the question's params. See the guide "Answering a server".
	 *   on_form      message, requestedSchema (an object of strings, numbers, booleans and choices).
	 *                cleat_reply_jsonf() and cleat_reply_json() accept with that content,
	 *                cleat_reply_nothing() with the defaults alone; absent members that have a default
	 *                get it, then it is checked: what does not fit, or is not a field of the form, is not
	 *                sent, and on_note says why. cleat_reply_record() gives CLEAT_EMISUSE: the fields
	 *                are the server's. Returning CLEAT_EDECLINED or CLEAT_ECANCELLED says so to the
	 *                server.
	 *   on_url       message, url (http or https). CLEAT_OK: the user agreed to open it; or as above. Also
	 *                asked for the pages of -32042 (2025-11-25: they have to be visited first); when it
	 *                agrees to all of them the call is made again, once, otherwise that is its result.
	 *   on_sampling  messages, systemPrompt, maxTokens, ... Answer with cleat_reply_text(), _image(),
	 *                _audio() and cleat_reply_tool_use() (several make several blocks; servers before
	 *                2025-11-25 take one: texts are joined with newlines), cleat_reply_model(),
	 *                cleat_reply_stop_reason(); or with a whole CreateMessageResult by
	 *                cleat_reply_json(). CLEAT_EDECLINED, CLEAT_ECANCELLED: the user said no.
	 * Any other failure, cleat_reply_error() and cleat_reply_reject() are JSON-RPC errors. cleat_ask_*()
	 * give CLEAT_EUNSUPPORTED: there is nobody to ask. */
	cleat_handler *on_form;
	cleat_handler *on_url;
	cleat_handler *on_sampling;
	bool sampling_tools;    /* on_sampling knows tools (and tool_choice) */
	bool blocking_handlers; /* run the three on a worker thread: they may wait */
	const cleat_root *roots;
	size_t n_roots;
	bool offer_roots; /* there are none yet, but cleat_client_set_roots() will come */

	/* What the server says by itself. `data` is borrowed during the call. */
	void (*on_log)(cleat_client *c, int level, const char *logger, const cleat_json *data,
		       void *userdata);
	const char *log_level; /* "debug" … "emergency": ask for these; NULL: for none */
	/* A line that the child wrote to stderr, without its end; NULL: they are thrown away. */
	void (*on_stderr)(cleat_client *c, const char *line, void *userdata);
	/* The library's own remarks: a tool left out, a restart, a broken message. */
	void (*on_note)(cleat_client *c, int level, const char *text, void *userdata);
	/* Every message as it is sent (`out`) and received, for tracing. */
	void (*on_message)(cleat_client *c, bool out, const char *text, size_t n, void *userdata);
	/* HTTP, line by line: the first line and the headers of requests (`out`) and answers, with the values
	 * of those that may be secret left out; and, beginning with "* ", what becomes of connections. */
	void (*on_trace)(cleat_client *c, bool out, const char *line, void *userdata);
	/* The server is ready (CLEAT_OK), or was lost (why). */
	void (*on_state)(cleat_client *c, const cleat_error *state, void *userdata);

	/* a child process */
	const char *cwd;        /* NULL: ours */
	const char *const *env; /* "NAME=value", beside HOME, PATH and the like; "NAME": ours */
	bool inherit_env;       /* all of ours */
	bool restart;           /* when it dies; calls under way fail, see the guide */

	/* HTTP */
	const char *const *headers;           /* "Name: value" for every request to this origin */
	const char *bearer;                   /* a token for Authorization */
	const char *proxy;                    /* URL; NULL: as the environment says; "": none */
	const char *ca_file;                  /* PEM; NULL: the system's */
	const char *client_cert, *client_key; /* PEM; NULL: none */
	const char *unix_socket;              /* connect here instead of to the URL's host */
	bool insecure;                        /* accept any certificate */
	bool no_http2;
	bool old_sse;   /* the URL is that of HTTP+SSE (2024-11-05): do not try anything else */
	bool no_stream; /* do not open the stream for what the server says unasked (GET, legacy) */

	/* limits */
	size_t max_message;  /* bytes of one message from the server; 0: 16 MiB */
	unsigned max_calls;  /* calls under way; 0: 1,024 */
	unsigned max_rounds; /* questions and answers within one call; 0: 10 */
	unsigned max_pages;  /* of a list; 0: 1,000 */
	size_t max_cache;    /* bytes of results that the server lets us keep; 0: 4 MiB */
	bool no_cache;
	cleat_json_limits
		json; /* depth 128 (of an entry of a list that is deeper only that is left out);
				 * max_message / 4 nodes, but at least 1,000,000 */
	const cleat_allocator *allocator;
} cleat_client_options;

/* ---- making and ending -------------------------------------------------------------------- */

CLEAT_API cleat_client *cleat_client_spawn_(const char *const argv[], const cleat_client_options *o,
					    size_t size);
CLEAT_API cleat_client *cleat_client_connect_(const char *url, const cleat_client_options *o,
					      size_t size);
CLEAT_API cleat_client *cleat_client_inproc_(struct cleat_server *s, const cleat_client_options *o,
					     size_t size);
CLEAT_API cleat_client *cleat_client_attach_(int in, int out, const cleat_client_options *o,
					     size_t size);

/* A client of a program that is started with the first call and spoken to over its stdin and stdout.
 * argv[0] is looked for in PATH. The child is in a process group of its own that does not outlive
 * us, however we end. NULL only when out of memory. Free with cleat_client_free(). */
static inline cleat_client *cleat_client_spawn(const char *const argv[],
					       const cleat_client_options *o)
{
	return cleat_client_spawn_(argv, o, sizeof(cleat_client_options));
}
/* A client of a server at an address:
 *   http://host/mcp, https://host/mcp   Streamable HTTP, or HTTP+SSE where it is that
 *   unix:/run/mcp.sock[#/path]          HTTP over a Unix socket; the path is /mcp when none is given
 *   tcp://host:port                     one message per line
 *   unix-stream:/run/mcp.sock           one message per line
 * NULL only when out of memory; a wrong address is the result of the calls. */
static inline cleat_client *cleat_client_connect(const char *url, const cleat_client_options *o)
{
	return cleat_client_connect_(url, o, sizeof(cleat_client_options));
}
/* A client of a server in this process, for tests and for programs that are both. Both share the
 * server's loop (opts.loop is that one, or NULL). Free it before the server. */
static inline cleat_client *cleat_client_inproc(struct cleat_server *s,
						const cleat_client_options *o)
{
	return cleat_client_inproc_(s, o, sizeof(cleat_client_options));
}
/* A client over two descriptors (which may be the same), one message per line. They stay yours. */
static inline cleat_client *cleat_client_attach(int in, int out, const cleat_client_options *o)
{
	return cleat_client_attach_(in, out, o, sizeof(cleat_client_options));
}
/* Ends it: calls under way end with CLEAT_ECLOSED (their on_done runs in here), the session is closed,
 * the child gets end of input, after 2 s SIGTERM, after 2 s more SIGKILL, and is waited for; the loop
 * is stepped meanwhile. From inside a callback of the loop all of that happens at once. Waits for
 * blocking handlers. Accepts NULL. Not from inside a callback of the client itself. */
CLEAT_API void cleat_client_free(cleat_client *c);

/* Connects now and waits until the server is ready. CLEAT_OK, or why not (also in
 * cleat_client_error()); CLEAT_EMISUSE from inside a callback of the loop. Calls do this by
 * themselves. */
CLEAT_API int cleat_client_open(cleat_client *c);
/* The same without waiting: opts.on_state tells. */
CLEAT_API int cleat_client_start(cleat_client *c);
/* Can it be called without waiting for it first? */
CLEAT_API bool cleat_client_ready(const cleat_client *c);
/* Why the server could not be reached, or was lost, the last time. Borrowed. */
CLEAT_API const cleat_error *cleat_client_error(const cleat_client *c);
/* Which step of reaching it that was; CLEAT_STEP_NONE when nothing failed, or for NULL. */
CLEAT_API enum cleat_step cleat_client_error_step(const cleat_client *c);
/* The HTTP status that it was answered with; 0 when there was none, or for NULL. */
CLEAT_API int cleat_client_error_http_status(const cleat_client *c);
/* The loop to step. */
CLEAT_API cleat_loop *cleat_client_loop(cleat_client *c);
CLEAT_API void *cleat_client_userdata(const cleat_client *c);

/* ---- what the server is (after it is ready; before that NULL, 0, AUTO) --------------------- */

/* How the server is spoken to; worth keeping for opts.known_era. */
CLEAT_API enum cleat_era cleat_client_era(const cleat_client *c);
CLEAT_API const char *cleat_client_revision(const cleat_client *c); /* "2026-07-28"; static */
/* The result of initialize or server/discover: serverInfo, capabilities, instructions. Borrowed until
 * the server is reached anew. */
CLEAT_API const cleat_json *cleat_client_server(const cleat_client *c);
CLEAT_API const char *cleat_client_server_name(const cleat_client *c);    /* never NULL */
CLEAT_API const char *cleat_client_server_version(const cleat_client *c); /* never NULL */
CLEAT_API const char *cleat_client_instructions(const cleat_client *c);   /* NULL: none */
/* Has it declared this capability? "tools", "resources.subscribe", ... */
CLEAT_API bool cleat_client_server_can(const cleat_client *c, const char *capability);
/* The child's process id; 0: there is none. */
CLEAT_API int cleat_client_pid(const cleat_client *c);

/* ---- blocking calls ----------------------------------------------------------------------- */

/* Calls a tool; `args` is a template (see <cleat/json.h>), NULL: no arguments. A tool that failed has
 * the status CLEAT_EREMOTE and its content; see cleat_result_is_tool_error(). NULL only when out of
 * memory. */
CLEAT_API cleat_result *cleat_client_callf(cleat_client *c, const char *tool, const char *args, ...)
	CLEAT_PRINTF(3, 4);
CLEAT_API cleat_result *cleat_client_call(cleat_client *c, const char *tool,
					  const cleat_json *args);
CLEAT_API cleat_result *cleat_client_read(cleat_client *c, const char *uri);
/* Arguments of prompts are text: numbers and booleans in the template are sent as their text. */
CLEAT_API cleat_result *cleat_client_promptf(cleat_client *c, const char *name, const char *args,
					     ...) CLEAT_PRINTF(3, 4);
/* Suggestions for an argument of a prompt (`ref` is its name) or a variable of a template (`ref` is its
 * URI template: it has a "{" or "://" in it). `typed` is what is there so far; NULL: nothing. `context` is
 * an object of the arguments that are known already; NULL: none. The suggestions are
 * cleat_result_items(). */
CLEAT_API cleat_result *cleat_client_complete(cleat_client *c, const char *ref,
					      const char *argument, const char *typed,
					      const cleat_json *context);
/* Does it answer? 2026-07-28 has no ping: server/discover is sent instead. */
CLEAT_API cleat_result *cleat_client_ping(cleat_client *c);

enum cleat_list {
	CLEAT_LIST_TOOLS,
	CLEAT_LIST_RESOURCES,
	CLEAT_LIST_TEMPLATES,
	CLEAT_LIST_PROMPTS
};
/* All pages of a list; its entries are cleat_result_items(). A server that does not have the capability
 * has an empty list. Tools whose headers a client cannot send are left out (2026-07-28). */
CLEAT_API cleat_result *cleat_client_list(cleat_client *c, enum cleat_list what);
/* Any method with any params (a template for an object; NULL: none). What the era wants to be in _meta
 * is added. */
CLEAT_API cleat_result *cleat_client_requestf(cleat_client *c, const char *method,
					      const char *params, ...) CLEAT_PRINTF(3, 4);
/* A notification. CLEAT_OK: it was handed to the transport, or will be when the server is ready. */
CLEAT_API int cleat_client_notifyf(cleat_client *c, const char *method, const char *params, ...)
	CLEAT_PRINTF(3, 4);

/* ---- calls with options, and calls that do not wait ---------------------------------------- */

typedef struct cleat_call_options {
	unsigned timeout_ms;      /* 0: the client's */
	unsigned hard_timeout_ms; /* 0: the client's */
	/* total is 0 when it is unknown, message is "" when there is none */
	void (*on_progress)(cleat_call *call, double done, double total, const char *message);
	/* The end, exactly once, never inside the function that starts the call; the result is yours.
	 * NULL: the function waits and returns the result instead. */
	void (*on_done)(cleat_call *call, cleat_result *result);
	/* Log messages that belong to this call (2026-07-28); NULL: the client's on_log. */
	void (*on_log)(cleat_call *call, int level, const char *logger, const cleat_json *data);
	const char *log_level;  /* for this call (2026-07-28); NULL: the client's */
	const cleat_json *meta; /* further members of _meta, an object, copied; NULL: none */
	bool no_cache;          /* ask the server, whatever is known */
	void *userdata;
} cleat_call_options;

/* All of these start a call; `o` must have on_done. They give the call, good until its on_done returns,
 * or NULL when out of memory or without on_done (there is no end then). Anything else that goes wrong is
 * a result. While a client is being freed max_calls of them end with CLEAT_ECLOSED, the rest is NULL. */
CLEAT_API cleat_call *cleat_client_startf_(size_t size, cleat_client *c,
					   const cleat_call_options *o, const char *tool,
					   const char *args, ...) CLEAT_PRINTF(5, 6);
CLEAT_API cleat_call *cleat_client_start_call_(cleat_client *c, const cleat_call_options *o,
					       size_t size, const char *tool,
					       const cleat_json *args);
CLEAT_API cleat_call *cleat_client_start_requestf_(size_t size, cleat_client *c,
						   const cleat_call_options *o, const char *method,
						   const char *params, ...) CLEAT_PRINTF(5, 6);
CLEAT_API cleat_call *cleat_client_start_list_(cleat_client *c, const cleat_call_options *o,
					       size_t size, enum cleat_list what);
/* A tool: cleat_client_startf(c, &opts, "build", "{target: %s}", "all") */
#define cleat_client_startf(...) cleat_client_startf_(sizeof(cleat_call_options), __VA_ARGS__)
/* The same with the arguments as a value (NULL: none). */
static inline cleat_call *cleat_client_start_call(cleat_client *c, const cleat_call_options *o,
						  const char *tool, const cleat_json *args)
{
	return cleat_client_start_call_(c, o, sizeof(cleat_call_options), tool, args);
}
/* Any method: cleat_client_start_requestf(c, &opts, "resources/read", "{uri: %s}", uri) */
#define cleat_client_start_requestf(...)                                                           \
	cleat_client_start_requestf_(sizeof(cleat_call_options), __VA_ARGS__)
static inline cleat_call *cleat_client_start_list(cleat_client *c, const cleat_call_options *o,
						  enum cleat_list what)
{
	return cleat_client_start_list_(c, o, sizeof(cleat_call_options), what);
}

/* callf and requestf with options (on_done must be NULL: they wait). */
CLEAT_API cleat_result *cleat_client_call_withf_(size_t size, cleat_client *c,
						 const cleat_call_options *o, const char *tool,
						 const char *args, ...) CLEAT_PRINTF(5, 6);
CLEAT_API cleat_result *cleat_client_request_withf_(size_t size, cleat_client *c,
						    const cleat_call_options *o, const char *method,
						    const char *params, ...) CLEAT_PRINTF(5, 6);
#define cleat_client_call_withf(...)                                                               \
	cleat_client_call_withf_(sizeof(cleat_call_options), __VA_ARGS__)
#define cleat_client_request_withf(...)                                                            \
	cleat_client_request_withf_(sizeof(cleat_call_options), __VA_ARGS__)

/* Gives up a call: the server is told, on_done follows with CLEAT_ECANCELLED. Any thread, as long as
 * on_done has not returned. */
CLEAT_API void cleat_call_cancel(cleat_call *call);
CLEAT_API void *cleat_call_userdata(const cleat_call *call);
CLEAT_API cleat_client *cleat_call_client(const cleat_call *call);

/* ---- results ------------------------------------------------------------------------------ */

/* CLEAT_OK; CLEAT_EREMOTE (the server said no: error or isError); CLEAT_ETIMEOUT, CLEAT_ECANCELLED,
 * CLEAT_ECLOSED, CLEAT_EIO, CLEAT_EPROTO, ... */
CLEAT_API int cleat_result_status(const cleat_result *r);
/* In words, with the JSON-RPC code and errno where there is one; status CLEAT_OK when there is nothing
 * to say. Never NULL. */
CLEAT_API const cleat_error *cleat_result_error(const cleat_result *r);
CLEAT_API enum cleat_step cleat_result_step(const cleat_result *r);
/* "connecting", "TLS", ...; static. */
CLEAT_API const char *cleat_step_name(enum cleat_step step);
CLEAT_API int cleat_result_http_status(const cleat_result *r); /* 0: none */
/* The tool ran and failed; the content says why. */
CLEAT_API bool cleat_result_is_tool_error(const cleat_result *r);
/* The result as it came; NULL when there is none. */
CLEAT_API const cleat_json *cleat_result_raw(const cleat_result *r);
/* The server's error as it came, {code, message, data}: cleat_result_error() has room for the beginning of its
 * message only. NULL when the server did not answer with an error. */
CLEAT_API const cleat_json *cleat_result_error_json(const cleat_result *r);
/* The error's data; NULL when there is none. */
CLEAT_API const cleat_json *cleat_result_error_data(const cleat_result *r);
/* Of a tool its structuredContent, of anything else the whole result. NULL when there is none. */
CLEAT_API const cleat_json *cleat_result_json(const cleat_result *r);
/* All text in it, blocks joined with newlines: of a tool, a resource, a prompt's messages. "" when there
 * is none. */
CLEAT_API const char *cleat_result_text(cleat_result *r);
/* Decodes cleat_result_json() into a struct (zeroed first). Strings in it live as long as the result.
 * CLEAT_OK; the result's own status when it failed; CLEAT_EPROTO when the value does not fit, CLEAT_EINVAL
 * when the table is wrong: then cleat_result_error() says why, the status stays as it was. */
CLEAT_API int cleat_result_record(cleat_result *r, const cleat_field *fields, void *ret);
/* The array that the result is about: tools, resources, prompts, contents, messages, content, the
 * suggestions. NULL when there is none. */
CLEAT_API const cleat_json *cleat_result_items(const cleat_result *r);
/* From the cache, not from the server. */
CLEAT_API bool cleat_result_is_cached(const cleat_result *r);
/* Accepts NULL. */
CLEAT_API void cleat_result_free(cleat_result *r);

enum cleat_content_kind {
	CLEAT_CONTENT_TEXT,
	CLEAT_CONTENT_IMAGE,
	CLEAT_CONTENT_AUDIO,
	CLEAT_CONTENT_RESOURCE, /* embedded, or a part of what was read: text, or data */
	CLEAT_CONTENT_LINK,
	CLEAT_CONTENT_OTHER /* see json */
};

/* One block of content. Strings are NULL where there is none (or one with NUL bytes in it, except for
 * text), and live as long as the result. A block that lacks what makes its kind, such as an image
 * without data, is CLEAT_CONTENT_OTHER. */
typedef struct cleat_content {
	enum cleat_content_kind kind;
	const char *role; /* in prompts: "user" or "assistant" */
	const char *text;
	const void *data; /* decoded bytes of an image, audio or a binary resource */
	size_t size;      /* of text or data */
	const char *mime, *uri, *name, *description;
	const cleat_json *json; /* the block as it came */
} cleat_content;

CLEAT_API bool cleat_result_content_(cleat_result *r, size_t i, cleat_content *ret, size_t size);
/* Block `i` of a tool's result, a prompt's messages or a resource's contents. False after the last one:
 * *ret is zeroed then. Data that is not base64, or that there is no memory for, is NULL. */
static inline bool cleat_result_content(cleat_result *r, size_t i, cleat_content *ret)
{
	return cleat_result_content_(r, i, ret, sizeof(cleat_content));
}

/* ---- changes ------------------------------------------------------------------------------ */

/* What has changed. */
enum cleat_change_kind {
	CLEAT_CHANGE_TOOLS = 1,
	CLEAT_CHANGE_PROMPTS = 2,
	CLEAT_CHANGE_RESOURCES = 4, /* the list */
	CLEAT_CHANGE_RESOURCE = 8,  /* one of them: uri */
	CLEAT_CHANGE_MISSED =
		16 /* the connection was lost and is back: anything may have changed */
};

typedef struct cleat_watch_options {
	unsigned lists; /* CLEAT_CHANGE_TOOLS | ...; what the server does not offer is left out */
	const char *const *uris; /* resources; NULL: none */
	/* `uri` is NULL except with CLEAT_CHANGE_RESOURCE. */
	void (*on_change)(cleat_watch *w, enum cleat_change_kind what, const char *uri);
	/* The server refused (CLEAT_EREMOTE), cannot do this (CLEAT_EUNSUPPORTED) or is gone for good; the
	 * watch hears nothing more and is still to be freed. May be NULL. */
	void (*on_end)(cleat_watch *w, const cleat_error *why);
	void *userdata;
} cleat_watch_options;

/* Hears of changes until it is freed (before the client); it survives reconnecting. One way for all
 * revisions: subscriptions/listen, or resources/subscribe and notifications. NULL when out of memory. */
CLEAT_API cleat_watch *cleat_client_watch_(cleat_client *c, const cleat_watch_options *o,
					   size_t size);
static inline cleat_watch *cleat_client_watch(cleat_client *c, const cleat_watch_options *o)
{
	return cleat_client_watch_(c, o, sizeof(cleat_watch_options));
}
CLEAT_API void *cleat_watch_userdata(const cleat_watch *w);
CLEAT_API cleat_client *cleat_watch_client(const cleat_watch *w);
/* Also from inside its callbacks. Accepts NULL. */
CLEAT_API void cleat_watch_free(cleat_watch *w);

/* ---- answering the server ----------------------------------------------------------------- */

/* Other roots, copied; a legacy server is told, unless it was reached when there were none and
 * opts.offer_roots was not set. CLEAT_OK, CLEAT_EINVAL (a root without uri) or CLEAT_ENOMEM. */
CLEAT_API int cleat_client_set_roots(cleat_client *c, const cleat_root *roots, size_t n);
/* In a handler: whose question it is. NULL in a server's handlers. */
CLEAT_API cleat_client *cleat_request_client(cleat_request *req);
/* Sampling: which model answered ("unknown" when not said, or NULL), and why it stopped ("endTurn", with
 * cleat_reply_tool_use() "toolUse", when not said, or NULL). Copied. CLEAT_OK or CLEAT_ENOMEM;
 * CLEAT_EMISUSE in any other handler, whose answer becomes an error. */
CLEAT_API int cleat_reply_model(cleat_request *req, const char *model);
CLEAT_API int cleat_reply_stop_reason(cleat_request *req, const char *reason);
/* Sampling with tools: the model wants this tool called; `input` is an object, copied; NULL: {}.
 * CLEAT_EUNSUPPORTED, and nothing is replied, when the server's revision has no tools here or
 * opts.sampling_tools is not set; CLEAT_EINVAL without id or name, or when input is not an object;
 * otherwise as above. */
CLEAT_API int cleat_reply_tool_use(cleat_request *req, const char *id, const char *name,
				   const cleat_json *input);

#ifdef __cplusplus
}
#endif
#endif
