/* cleat/server.h - an MCP server: tools, resources and prompts behind one handle.
 *
 *	static int add(cleat_request *req)
 *	{
 *		return cleat_reply_textf(req, "%g", cleat_arg_num(req, "a") + cleat_arg_num(req, "b"));
 *	}
 *
 *	int main(int argc, char **argv)
 *	{
 *		cleat_server *s = cleat_server_new("adder", "1.0.0", NULL);
 *		cleat_server_add_tool(s, &(cleat_tool){ .signature = "add(a: number, b: number)",
 *			.description = "Add two numbers", .call = add });
 *		return cleat_server_main(s, argc, argv);
 *	}
 *
 * The same server speaks every protocol revision, 2024-11-05 to 2026-07-28; what a client's
 * revision does not know is not sent to it. Handlers are described in <cleat/request.h>.
 *
 * Errors latch: cleat_server_new() and the functions that add things need no checking, the run
 * function reports the first failure (also in cleat_server_error()).
 *
 * Threads: a server belongs to the thread that runs its loop. From other threads call only
 * cleat_server_stop() and cleat_server_post(). Things may be added and removed while requests run;
 * clients are told, and running calls finish with what they started with.
 */
#ifndef CLEAT_SERVER_H
#define CLEAT_SERVER_H

#include <cleat/base.h>
#include <cleat/connection.h>
#include <cleat/field.h>
#include <cleat/loop.h>
#include <cleat/request.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cleat_server cleat_server;

/* Hints with three values: zero says nothing on the wire. */
enum cleat_hint { CLEAT_UNSET = 0, CLEAT_YES = 1, CLEAT_NO = -1 };

/* Who may keep a result in a cache, and with whom it may be shared (2026-07-28). */
enum cleat_cache_scope { CLEAT_CACHE_PRIVATE = 0, CLEAT_CACHE_PUBLIC = 1 };

/* Capabilities that are announced although nothing of the kind is registered yet, because it will
 * be added later. What is registered is announced anyway. */
enum cleat_capability {
	CLEAT_CAP_TOOLS = 1,
	CLEAT_CAP_RESOURCES = 2,
	CLEAT_CAP_PROMPTS = 4,
	CLEAT_CAP_COMPLETIONS = 8
};

/* An icon of a server, tool, resource or prompt; arrays of them end with src == NULL. */
typedef struct cleat_icon {
	const char *src;       /* https: or data: URI */
	const char *mime_type; /* may be NULL */
	const char *sizes;     /* "48x48 96x96" or "any"; may be NULL */
	const char *theme;     /* "light", "dark" or NULL */
	uintptr_t reserved[2]; /* zero */
} cleat_icon;

/* All-zero is a good default; NULL where the struct is asked for is all-zero. */
typedef struct cleat_server_options {
	const char *title;        /* for people; NULL: none */
	const char *description;  /* one line about the server; NULL: none */
	const char *website;      /* URL; NULL: none */
	const char *instructions; /* how a model should use this server; NULL: none */
	const cleat_icon *icons;  /* NULL: none */
	unsigned capabilities;    /* CLEAT_CAP_* bits */
	bool no_logging;          /* do not offer log messages to clients */
	cleat_loop *loop;         /* NULL: the server makes its own */
	unsigned workers;         /* threads for .blocking handlers; 0: 4, at most 256 */
	unsigned page_size;       /* entries per list page; 0: 1,000 */
	uint64_t list_ttl_ms;     /* how long clients may keep lists (2026-07-28); 0: not at all */
	enum cleat_cache_scope list_scope;
	size_t max_message;         /* bytes of one incoming message; 0: 10 MiB */
	size_t max_reply;           /* bytes of one answer; 0: 16 MiB */
	cleat_json_limits json;     /* depth 128, 1,000,000 nodes */
	unsigned max_inflight;      /* requests of one connection that run at once; 0: 256 */
	unsigned max_queued;        /* and that wait; 0: 1,024. More are refused. */
	unsigned max_subscriptions; /* of one connection; 0: 1,024 */
	unsigned
		progress_interval_ms; /* least time between two progress notes of a request; 0: 50 */
	uint64_t request_timeout_ms;  /* a handler is cancelled after this; 0: never */
	uint64_t ask_timeout_ms;      /* how long a question may wait for its answer; 0: 10 min */
	unsigned max_rounds;          /* questions-and-answers rounds of one request; 0: 16 */
	uint64_t state_ttl_ms;        /* how long a sealed requestState is good; 0: 10 min */
	const void *state_key;        /* 32 bytes shared by all nodes of a service; NULL: random */
	/* Called with the library's own remarks (misuse, refused messages, bad answers). The library
	 * never prints. Loop thread. NULL: silence. */
	void (*log)(void *userdata, int level, const char *message);
	/* A client's list of roots changed (up to 2025-11-25). Loop thread. NULL: ignored. */
	void (*on_roots_changed)(cleat_server *s, void *userdata);
	void *userdata;                   /* cleat_server_userdata() */
	const cleat_allocator *allocator; /* NULL: malloc */
	/* For programs that use cleat_server_main(); loop thread. It is about to serve; over HTTP it listens
	 * already, and cleat_server_http_url() says where. With this it prints nothing itself at its
	 * beginning. NULL: it does. */
	void (*on_ready)(cleat_server *s, void *userdata);
	/* SIGHUP came: read your files again. With this SIGHUP does not end a server on standard input and
	 * output either. (Certificates and tokens are read again before.) NULL: nothing is to be done. */
	void (*on_reload)(cleat_server *s, void *userdata);
	/* A client's connection has begun, and has ended: see <cleat/connection.h>. Loop thread. NULL: nobody
	 * wants to know. */
	void (*on_open)(cleat_connection *c, void *userdata);
	void (*on_close)(cleat_connection *c, void *userdata);
} cleat_server_options;

/* A tool. Either a `signature` (which gives name and arguments) or a `name` with `input` fields or
 * an `input_schema`; neither means no arguments. Everything is copied.
 *
 * Schemas are JSON text, 2020-12 or, where "$schema" says so, draft-07; <cleat/schema.h> says what is
 * checked. Arguments that do not fit never reach the handler. With `output` or `output_schema` every
 * result that is not an error must have a structured part that fits; if not, the client gets
 * CLEAT_RPC_INTERNAL_ERROR and opts.log the reason. */
typedef struct cleat_tool {
	const char *name; /* 1-128 visible characters; A-Za-z0-9_.- is what every client takes */
	const char *title;
	const char *description;
	cleat_handler *call;
	const char *signature;
	const cleat_field *input;
	const char *input_schema;  /* of type "object" */
	const cleat_field *output; /* with cleat_reply_record() */
	const char *output_schema; /* clients before 2026-07-28 see it if it is of type "object" */
	int8_t read_only, destructive, idempotent,
		open_world; /* CLEAT_YES, CLEAT_NO, CLEAT_UNSET */
	bool blocking;      /* run on a worker thread */
	const cleat_icon *icons;
	const char *meta; /* JSON object, shown as _meta; may be NULL */
	void *userdata;   /* cleat_request_userdata() */
	/* Called exactly once when the tool is gone and no call uses it, also when adding fails. */
	void (*destroy)(void *userdata);
} cleat_tool;

/* A resource, or with a URI template (RFC 6570, "city://{name}") a family of them. */
typedef struct cleat_resource {
	const char *uri;
	const char *name; /* NULL: the URI */
	const char *title;
	const char *description;
	const char *mime_type;
	const char *text;        /* fixed content, instead of `read` */
	cleat_handler *read;     /* reply with cleat_reply_text(), cleat_reply_blob(), ... */
	cleat_handler *complete; /* templates: completes variables; may be NULL */
	int64_t size;            /* bytes, 0: unknown */
	const cleat_annotations *annotations;
	uint64_t ttl_ms; /* how long a client may keep the content (2026-07-28) */
	enum cleat_cache_scope scope;
	bool blocking;
	const cleat_icon *icons;
	const char *meta;
	void *userdata;
	void (*destroy)(void *userdata);
} cleat_resource;

/* A prompt: messages for a model, with arguments. */
typedef struct cleat_prompt {
	const char *name;
	const char *title;
	const char *description;
	cleat_handler *get; /* reply with cleat_reply_message(), cleat_reply_image(), ... */
	const char *signature;
	const cleat_field *input;
	cleat_handler *complete; /* completes arguments; fields with choices complete themselves */
	bool blocking;
	const cleat_icon *icons;
	const char *meta;
	void *userdata;
	void (*destroy)(void *userdata);
} cleat_prompt;

/* A method of the program's own, beside those of the protocol: "com.example/reindex". Its handler is like any
 * other (arguments, asking, progress, cancelling, worker threads, deferring), in every revision and over
 * every transport; clients call it with cleat_client_requestf(). Everything is copied.
 *
 * The request's params, without what the protocol itself puts there (_meta, ...), are the handler's arguments.
 * They are described by one of `signature` (which gives the name, too), `input` and `input_schema`, and
 * checked; with none of them they are taken as they come. The result is an object: cleat_reply_jsonf(),
 * cleat_reply_json(), cleat_reply_record() with `output`, or cleat_reply_nothing() for an empty one;
 * "_meta" (see cleat_reply_meta()) and "resultType" are not for it. */
typedef struct cleat_method {
	const char *name; /* not one of the protocol's own, nor rpc.* or notifications/... */
	cleat_handler *call;
	const char *signature;
	const cleat_field *input;
	const char *input_schema;
	const cleat_field *output; /* see cleat_tool */
	const char *output_schema;
	/* It comes as a notification: nobody waits for an answer, and there are no questions, no progress and
	 * no log messages. What does not fit, or is too much at once, is dropped. */
	bool notification;
	bool blocking;  /* run on a worker thread */
	void *userdata; /* cleat_request_userdata() */
	/* Called exactly once when the method is gone and no call uses it, also when adding fails. */
	void (*destroy)(void *userdata);
} cleat_method;

/* ---- making and running ------------------------------------------------------------------- */

CLEAT_API cleat_server *cleat_server_new_(const char *name, const char *version,
					  const cleat_server_options *opts, size_t size);
/* A server. `name` and `version` are what clients see; NULL is refused. Never fails visibly: out of
 * memory gives a NULL that every function accepts and reports as CLEAT_ENOMEM. Free it with
 * cleat_server_free() unless cleat_server_main() does. */
static inline cleat_server *cleat_server_new(const char *name, const char *version,
					     const cleat_server_options *opts)
{
	return cleat_server_new_(name, version, opts, sizeof(cleat_server_options));
}
/* Closes every connection, cancels what runs, waits for worker threads and (up to five seconds) for
 * deferred requests to be finished, frees. Accepts NULL. Not from inside a handler. */
CLEAT_API void cleat_server_free(cleat_server *s);

/* The whole main(): reads the command line (--help lists what there is), serves standard input and output
 * until it ends, or HTTP, or until SIGTERM or SIGINT arrives, frees the server and gives the exit status.
 * Takes over standard output: while it runs, printf() goes to standard error and cannot disturb the
 * protocol. It, and cleat_server_run_main() of <cleat/main.h>, which is it without the command line, are
 * the only functions of the library that print or touch signals. */
CLEAT_API int cleat_server_main(cleat_server *s, int argc, char **argv);
/* Serves standard input and output until end of file or cleat_server_stop(). Standard output is
 * taken over as above and given back afterwards. CLEAT_OK or the first error. */
CLEAT_API int cleat_server_run_stdio(cleat_server *s);

typedef struct cleat_attach_options {
	/* The server closes the descriptors when the connection has ended, before on_close; also when it
	 * cannot be made, except where CLEAT_EEXIST says that they belong to another one. False: they stay
	 * yours, and are free again in on_close. */
	bool own_fds;
	void *userdata; /* cleat_connection_userdata(), from on_open on */
	/* Called exactly once when the connection is gone, also when it cannot be made. May be NULL. */
	void (*destroy)(void *userdata);
} cleat_attach_options;

CLEAT_API int cleat_server_attach_(cleat_server *s, int in, int out,
				   const cleat_attach_options *opts, size_t size);
/* Serves a pair of descriptors (pipe, socket; the same one twice is fine) on the server's loop and
 * returns at once; drive cleat_server_loop(). They are made non-blocking while in use. When the other
 * side closes, the connection ends (on_close); cleat_loop_step() gives CLEAT_ECLOSED once nothing is
 * attached any more. `opts` may be NULL. CLEAT_OK; CLEAT_EINVAL (no such descriptor), CLEAT_EEXIST (the
 * loop serves it already), CLEAT_EIO, CLEAT_ENOMEM, or the error that the server was built with. */
static inline int cleat_server_attach(cleat_server *s, int in, int out,
				      const cleat_attach_options *opts)
{
	return cleat_server_attach_(s, in, out, opts, sizeof(cleat_attach_options));
}
/* The same without options: the descriptors stay yours. */
static inline int cleat_server_attach_fds(cleat_server *s, int in, int out)
{
	return cleat_server_attach_(s, in, out, NULL, 0);
}
/* Ends the run function after the running calls were cancelled; the next one, if none runs. On a loop
 * that is driven by hand it closes every connection. Any thread, also a signal handler. */
CLEAT_API void cleat_server_stop(cleat_server *s);
/* The loop that drives the server. Borrowed. */
CLEAT_API cleat_loop *cleat_server_loop(cleat_server *s);
/* Calls fn(arg) on the loop's thread, soon. Any thread. CLEAT_OK, CLEAT_ENOMEM, or CLEAT_EMISUSE
 * before the server has a loop or a wire (cleat_server_loop() makes one). */
CLEAT_API int cleat_server_post(cleat_server *s, void (*fn)(cleat_server *s, void *arg), void *arg);
/* What went wrong: while the server is being built the first thing, which is also what the run
 * functions report; once it has served a connection the last thing, such as the reason why adding a
 * tool failed. Status CLEAT_OK when nothing did. Borrowed, never NULL. */
CLEAT_API const cleat_error *cleat_server_error(const cleat_server *s);
CLEAT_API void *cleat_server_userdata(const cleat_server *s);

/* ---- what the server offers --------------------------------------------------------------- */

CLEAT_API int cleat_server_add_tools_(cleat_server *s, const cleat_tool *tools, size_t n,
				      size_t size);
CLEAT_API int cleat_server_add_resources_(cleat_server *s, const cleat_resource *resources,
					  size_t n, size_t size);
CLEAT_API int cleat_server_add_prompts_(cleat_server *s, const cleat_prompt *prompts, size_t n,
					size_t size);

CLEAT_API int cleat_server_add_methods_(cleat_server *s, const cleat_method *methods, size_t n,
					size_t size);

/* Adds one or several. CLEAT_OK; CLEAT_EINVAL (bad name, schema, fields; the reason is in
 * cleat_server_error()), CLEAT_EUNSUPPORTED (a schema of another dialect, or a pattern where PCRE2 is
 * not installed), CLEAT_EEXIST (name or URI taken), CLEAT_ELIMIT, CLEAT_ENOMEM. On failure nothing of
 * the call is added and every userdata of the call is destroyed. Clients that listen are told (of methods
 * there is nothing to tell). */
static inline int cleat_server_add_tool(cleat_server *s, const cleat_tool *tool)
{
	return cleat_server_add_tools_(s, tool, 1, sizeof(cleat_tool));
}
static inline int cleat_server_add_tools(cleat_server *s, const cleat_tool *tools, size_t n)
{
	return cleat_server_add_tools_(s, tools, n, sizeof(cleat_tool));
}
static inline int cleat_server_add_resource(cleat_server *s, const cleat_resource *resource)
{
	return cleat_server_add_resources_(s, resource, 1, sizeof(cleat_resource));
}
static inline int cleat_server_add_resources(cleat_server *s, const cleat_resource *r, size_t n)
{
	return cleat_server_add_resources_(s, r, n, sizeof(cleat_resource));
}
static inline int cleat_server_add_prompt(cleat_server *s, const cleat_prompt *prompt)
{
	return cleat_server_add_prompts_(s, prompt, 1, sizeof(cleat_prompt));
}
static inline int cleat_server_add_prompts(cleat_server *s, const cleat_prompt *prompts, size_t n)
{
	return cleat_server_add_prompts_(s, prompts, n, sizeof(cleat_prompt));
}
static inline int cleat_server_add_method(cleat_server *s, const cleat_method *method)
{
	return cleat_server_add_methods_(s, method, 1, sizeof(cleat_method));
}
static inline int cleat_server_add_methods(cleat_server *s, const cleat_method *m, size_t n)
{
	return cleat_server_add_methods_(s, m, n, sizeof(cleat_method));
}

/* Removes by name (resources and templates by URI). CLEAT_OK or CLEAT_ENOENT. Calls that run go on
 * to their end. Clients that listen are told. */
CLEAT_API int cleat_server_remove_tool(cleat_server *s, const char *name);
CLEAT_API int cleat_server_remove_resource(cleat_server *s, const char *uri);
CLEAT_API int cleat_server_remove_prompt(cleat_server *s, const char *name);
CLEAT_API int cleat_server_remove_method(cleat_server *s, const char *name);

/* Tells the clients that subscribed to `uri` that its content changed. */
CLEAT_API void cleat_server_resource_changed(cleat_server *s, const char *uri);
/* A log message to every session that asked for this level (up to 2025-11-25; later revisions have
 * log messages of a request only: cleat_request_log()). `logger` may be NULL. */
CLEAT_API void cleat_server_log(cleat_server *s, int level, const char *logger, const char *fmt,
				...) CLEAT_PRINTF(4, 5);

#ifdef __cplusplus
}
#endif
#endif
