/* cleat/request.h - what a handler does: read the request, answer it.
 *
 * Every handler has one signature, in every revision and on every transport:
 *
 *	int handler(cleat_request *req);
 *
 * It fills in a reply and returns CLEAT_OK (all cleat_reply_* functions return a status to return).
 * Memory from the request's functions lives until the request is answered; nothing is freed by
 * hand, and nothing needs checking: a failure latches and becomes the answer.
 *
 * Four ways to run:
 *   inline     the default: runs on the loop thread, returning sends the answer;
 *   blocking   with .blocking = true it runs on a worker thread and may take its time;
 *   deferred   call cleat_request_defer(), return CLEAT_PENDING, and later, from any thread, call
 *              cleat_request_finish() exactly once;
 *   asking     `rc = cleat_ask_form(req, "key", ...); if (rc) return rc;`: the first run records the
 *              question, and when the answer is there the handler runs again from the top and the
 *              same line yields it. What comes before a question therefore runs more than once.
 *
 * Threads: a request belongs to the thread that its handler runs on (after defer: to whoever will
 * finish it). cleat_request_cancelled(), _progress() and _log() may be called from any thread until
 * the request is finished.
 *
 * NULL, for the request or for anything that a function needs, is never a crash: the status is
 * CLEAT_EINVAL, what is asked for is not there. A reply after the answer is CLEAT_EMISUSE, as far as that
 * can be told. What a handler does wrong unseen (that, another name for an argument than the tool declares,
 * anything but CLEAT_PENDING after cleat_request_defer()) is said once of each kind through opts.log; a
 * library that was built without NDEBUG says it on standard error and aborts, unless the environment has
 * CLEAT_MISUSE=log.
 */
#ifndef CLEAT_REQUEST_H
#define CLEAT_REQUEST_H

#include <cleat/base.h>
#include <cleat/field.h>
#include <cleat/json.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cleat_request cleat_request;
typedef int cleat_handler(cleat_request *req);

/* ---- arguments ---------------------------------------------------------------------------- */

/* The decoded struct of a tool or prompt that was declared with `input` fields; NULL otherwise. */
CLEAT_API const void *cleat_request_args(cleat_request *req);
/* All arguments as they came; NULL when there are none. */
CLEAT_API const cleat_json *cleat_request_arguments(cleat_request *req);
/* One argument, or its declared default; NULL when absent. */
CLEAT_API const cleat_json *cleat_arg(cleat_request *req, const char *name);
/* The same, converted; "" / 0 / false when absent or of another type. */
CLEAT_API const char *cleat_arg_str(cleat_request *req, const char *name);
CLEAT_API double cleat_arg_num(cleat_request *req, const char *name);
CLEAT_API int64_t cleat_arg_int(cleat_request *req, const char *name);
CLEAT_API bool cleat_arg_bool(cleat_request *req, const char *name);
CLEAT_API bool cleat_arg_given(cleat_request *req, const char *name);

/* The URI that is read, and the variables that a template found in it ("" when unknown). */
CLEAT_API const char *cleat_request_uri(cleat_request *req);
CLEAT_API const char *cleat_request_var(cleat_request *req, const char *name);

/* In a `complete` handler: which argument is being typed, what is there so far, and the other
 * arguments that are known already (NULL when not). */
CLEAT_API const char *cleat_request_completing(cleat_request *req);
CLEAT_API const char *cleat_request_typed(cleat_request *req);
CLEAT_API const char *cleat_request_context(cleat_request *req, const char *name);

/* ---- about the request -------------------------------------------------------------------- */

CLEAT_API const char *cleat_request_method(cleat_request *req);   /* "tools/call" */
CLEAT_API const char *cleat_request_name(cleat_request *req);     /* of the tool or prompt; "" */
CLEAT_API const char *cleat_request_revision(cleat_request *req); /* "2025-11-25" */
/* The client's own word about itself; never NULL. Not a basis for decisions. */
CLEAT_API const char *cleat_request_client_name(cleat_request *req);
CLEAT_API const char *cleat_request_client_version(cleat_request *req);
/* The request's _meta; NULL when there is none. */
CLEAT_API const cleat_json *cleat_request_meta(cleat_request *req);
/* The userdata that was registered with the tool, resource or prompt. */
CLEAT_API void *cleat_request_userdata(cleat_request *req);
/* The server that the request belongs to; in its userdata live things that all handlers share. */
CLEAT_API struct cleat_server *cleat_request_server(cleat_request *req);
/* The connection that it came over, see <cleat/connection.h>: there as long as the request, also when the
 * client is gone. */
CLEAT_API struct cleat_connection *cleat_request_connection(cleat_request *req);
/* Zeroed memory that lives as long as the request. NULL when out of memory (latched: the answer
 * becomes an error). */
CLEAT_API void *cleat_request_alloc(cleat_request *req, size_t n);
/* Formatted text that lives as long as the request; "" when out of memory (latched likewise). */
CLEAT_API const char *cleat_request_printf(cleat_request *req, const char *fmt, ...)
	CLEAT_PRINTF(2, 3);

/* What the client can be asked. */
enum cleat_client_capability {
	CLEAT_CLIENT_FORM,           /* cleat_ask_form, cleat_ask_schema */
	CLEAT_CLIENT_URL,            /* cleat_ask_url */
	CLEAT_CLIENT_SAMPLING,       /* cleat_ask_sampling */
	CLEAT_CLIENT_SAMPLING_TOOLS, /* with tools */
	CLEAT_CLIENT_ROOTS           /* cleat_ask_roots */
};
CLEAT_API bool cleat_request_client_can(cleat_request *req, enum cleat_client_capability what);

/* ---- while it runs ------------------------------------------------------------------------ */

/* Should the handler stop? True after the client cancelled or went away, the deadline passed, or
 * the server stops; what is replied then is thrown away. Any thread. */
CLEAT_API bool cleat_request_cancelled(cleat_request *req);
/* Calls fn on the loop thread when the request is cancelled (at once, on this thread, if it already
 * is). One per request; NULL removes it. Not called any more after cleat_request_finish(); a call
 * that has begun on the loop thread may still be running then, so let fn touch only what lives as
 * long as the request, or lock. */
CLEAT_API void cleat_request_on_cancel(cleat_request *req, void (*fn)(cleat_request *req));
/* A descriptor that becomes readable when the request is cancelled, for poll(). Borrowed. -1 when
 * there can be none. */
CLEAT_API int cleat_request_cancel_fd(cleat_request *req);
/* Reports progress, where the client asked for it; otherwise does nothing. `done` must increase (a
 * smaller one is dropped), `total` 0 means unknown, `fmt` may be NULL. Rate-limited. Any thread. */
CLEAT_API void cleat_request_progress(cleat_request *req, double done, double total,
				      const char *fmt, ...) CLEAT_PRINTF(4, 5);
/* Lets the client hang up: it comes back for the answer (and for progress) after `retry_ms`, and the
 * connection need not be held open meanwhile. For calls that take minutes; where client or transport
 * cannot do that (stdio, 2026-07-28, a client that takes no events), nothing happens. The answer is
 * kept for it (see the guide on sessions). Any thread. */
CLEAT_API void cleat_request_release(cleat_request *req, uint64_t retry_ms);
/* Who the client is, as authorization has found out (the name in a token file, or what the verifier
 * wrote); NULL: nobody was asked. Lives as long as the request. */
CLEAT_API const char *cleat_request_principal(cleat_request *req);
/* A log message to the client, where it asked for this level; otherwise nothing. Any thread. */
CLEAT_API void cleat_request_log(cleat_request *req, int level, const char *fmt, ...)
	CLEAT_PRINTF(3, 4);

/* From here on only cleat_request_finish() ends the request; return CLEAT_PENDING. Called by the
 * handler itself, on its own thread. */
CLEAT_API void cleat_request_defer(cleat_request *req);
/* Ends a deferred request, as returning `status` from the handler would. Exactly once, from any
 * thread, also when the request was cancelled; `req` is gone afterwards. A second call is detected
 * and logged, not obeyed, as long as the memory has not been used for a new request. */
CLEAT_API void cleat_request_finish(cleat_request *req, int status);

/* ---- replies ------------------------------------------------------------------------------ */

typedef struct cleat_annotations {
	bool user, assistant; /* the audience; both false: not said */
	bool has_priority;
	double priority;           /* 0 to 1, used with has_priority */
	const char *last_modified; /* ISO 8601; may be NULL */
	uintptr_t reserved[4];     /* zero */
} cleat_annotations;

/* Text. In a tool and in a prompt a block of content, in a resource its content. Several calls make
 * several blocks. NULL counts as "". */
CLEAT_API int cleat_reply_text(cleat_request *req, const char *text);
CLEAT_API int cleat_reply_textn(cleat_request *req, const char *text, size_t n);
CLEAT_API int cleat_reply_textf(cleat_request *req, const char *fmt, ...) CLEAT_PRINTF(2, 3);
/* Bytes. In a resource its content; elsewhere an image or audio block by the MIME type, otherwise
 * an embedded resource. `mime` NULL: the resource's own, or application/octet-stream. */
CLEAT_API int cleat_reply_blob(cleat_request *req, const char *mime, const void *p, size_t n);
CLEAT_API int cleat_reply_image(cleat_request *req, const char *mime, const void *p, size_t n);
CLEAT_API int cleat_reply_audio(cleat_request *req, const char *mime, const void *p, size_t n);
/* An embedded resource. `mime` may be NULL. In a resource handler: one more content under its own
 * URI. */
CLEAT_API int cleat_reply_resource_text(cleat_request *req, const char *uri, const char *mime,
					const char *text);
CLEAT_API int cleat_reply_resource_blob(cleat_request *req, const char *uri, const char *mime,
					const void *p, size_t n);
/* A link to a resource; `name` NULL: the URI; the others may be NULL. Clients before 2025-06-18 get
 * it as text. */
CLEAT_API int cleat_reply_link(cleat_request *req, const char *uri, const char *name,
			       const char *mime, const char *description);
/* Annotations and/or _meta (a JSON object as text) for the next block only; both may be NULL. */
CLEAT_API int cleat_reply_annotate(cleat_request *req, const cleat_annotations *annotations,
				   const char *meta);

/* A structured result: the record of the tool's `output` fields, JSON from a template, or a value.
 * The last one counts. It is checked against the tool's `output` or `output_schema`, see cleat_tool.
 * A text block with the same JSON is added when there is no other content, for older clients. */
CLEAT_API int cleat_reply_record(cleat_request *req, const void *record);
CLEAT_API int cleat_reply_jsonf(cleat_request *req, const char *fmt, ...) CLEAT_PRINTF(2, 3);
CLEAT_API int cleat_reply_json(cleat_request *req, const cleat_json *value);

/* Prompts: one message with text. `role` is "user" or "assistant". */
CLEAT_API int cleat_reply_message(cleat_request *req, const char *role, const char *fmt, ...)
	CLEAT_PRINTF(3, 4);
/* Prompts: whose the following blocks (cleat_reply_image(), ...) are; "user" at first. */
CLEAT_API int cleat_reply_role(cleat_request *req, const char *role);
/* Prompts: a description of this very prompt. */
CLEAT_API int cleat_reply_description(cleat_request *req, const char *text);

/* Completions: one suggestion (100 at most are sent), and how many there are in all. A handler that
 * suggests nothing just returns CLEAT_OK. */
CLEAT_API int cleat_reply_suggest(cleat_request *req, const char *value);
/* Those of n values that begin with what was typed. */
CLEAT_API int cleat_reply_suggest_from(cleat_request *req, const char *const values[], size_t n);
CLEAT_API int cleat_reply_suggest_total(cleat_request *req, size_t total, bool more);

/* Done, with nothing to say: an empty result. */
CLEAT_API int cleat_reply_nothing(cleat_request *req);
/* _meta of the result, a JSON object as text. */
CLEAT_API int cleat_reply_meta(cleat_request *req, const char *json);
/* How long a client may keep this resource (2026-07-28), other than registered. */
CLEAT_API int cleat_reply_cache(cleat_request *req, uint64_t ttl_ms, bool shared);

/* The tool failed and the model should read why (isError). A tool that returns a negative status
 * without a reply says the status's own text this way. What was replied before is dropped.
 * Outside of tools the same as a reject with CLEAT_RPC_INTERNAL_ERROR. */
CLEAT_API int cleat_reply_error(cleat_request *req, const char *fmt, ...) CLEAT_PRINTF(2, 3);
/* The request itself is wrong: a JSON-RPC error with any code, sent as it is. */
CLEAT_API int cleat_reply_reject(cleat_request *req, int rpc_code, const char *fmt, ...)
	CLEAT_PRINTF(3, 4);
/* The same with `data` (JSON text; NULL: none). */
CLEAT_API int cleat_reply_reject_data(cleat_request *req, int rpc_code, const char *data,
				      const char *fmt, ...) CLEAT_PRINTF(4, 5);
/* A resource handler's "there is no such thing", with the code that the client's revision wants. */
CLEAT_API int cleat_reply_not_found(cleat_request *req);

/* ---- asking the client -------------------------------------------------------------------- */

/* All of these: `key` names the question within the handler. CLEAT_OK: the answer is there.
 * CLEAT_NEED_INPUT: not yet, return it. CLEAT_EDECLINED, CLEAT_ECANCELLED: the user said no, or
 * closed the question. CLEAT_EUNSUPPORTED: this client cannot be asked this. CLEAT_EREMOTE,
 * CLEAT_ETIMEOUT, CLEAT_EPROTO: the answer was an error, never came, or made no sense. CLEAT_EINVAL,
 * CLEAT_EMISUSE: the question is wrong. Returning a negative one gives the client a fitting answer.
 * Several questions may be asked in one run; return CLEAT_NEED_INPUT if any is open. Only in tools,
 * prompts and resources. */

/* A form with `fields` (flat: booleans, numbers, strings, choices); the checked answer goes to
 * `ret_record`, which is zeroed first. */
CLEAT_API int cleat_ask_form(cleat_request *req, const char *key, const char *message,
			     const cleat_field *fields, void *ret_record) CLEAT_MUST_USE;
/* A form by requestedSchema (JSON text): an object of strings, numbers, booleans and choices, which a
 * client can draw. The answer, checked against it, goes to *ret ({} when it was empty) and lives as
 * long as the request. CLEAT_EINVAL when the schema is wrong or no form; the reply says why. */
CLEAT_API int cleat_ask_schema(cleat_request *req, const char *key, const char *message,
			       const char *schema, const cleat_json **ret) CLEAT_MUST_USE;
/* A question with no fields: CLEAT_OK when the user accepts, CLEAT_EDECLINED when not. */
CLEAT_API int cleat_ask_confirm(cleat_request *req, const char *key, const char *fmt, ...)
	CLEAT_PRINTF(3, 4) CLEAT_MUST_USE;
/* Asks the user to open a URL. CLEAT_OK means that they agreed to, not that they are done there. */
CLEAT_API int cleat_ask_url(cleat_request *req, const char *key, const char *message,
			    const char *url) CLEAT_MUST_USE;
/* Tells the client that what happened at the URL of question `key` is over (2025-11-25 has a
 * notification for that; in other revisions this does nothing). */
CLEAT_API void cleat_ask_url_done(cleat_request *req, const char *key);

/* Asks the client's model. */
typedef struct cleat_sampling {
	const char *prompt;   /* one user message; or */
	const char *messages; /* JSON array of messages */
	const char *system;   /* may be NULL */
	unsigned max_tokens;  /* 0: 1,000 */
	bool has_temperature;
	double temperature;
	const char *model_hint;     /* part of a model's name; may be NULL */
	const char *preferences;    /* modelPreferences, JSON; instead of model_hint; may be NULL */
	const char *stop_sequences; /* JSON array of strings; may be NULL */
	const char *tools;          /* JSON array of tools; may be NULL */
	const char *tool_choice;    /* "auto", "required", "none"; may be NULL */
	const char *metadata;       /* JSON object; may be NULL */
} cleat_sampling;
CLEAT_API int cleat_ask_sampling_(cleat_request *req, const char *key, const cleat_sampling *s,
				  size_t size, const char **ret_text,
				  const cleat_json **ret) CLEAT_MUST_USE;
/* `ret_text` (may be NULL) receives the text of the answer, `ret` (may be NULL) the whole result. */
static inline CLEAT_MUST_USE int cleat_ask_sampling(cleat_request *req, const char *key,
						    const cleat_sampling *s, const char **ret_text,
						    const cleat_json **ret)
{
	return cleat_ask_sampling_(req, key, s, sizeof(cleat_sampling), ret_text, ret);
}
/* The client's roots: an array of {uri, name}. */
CLEAT_API int cleat_ask_roots(cleat_request *req, const char *key,
			      const cleat_json **ret) CLEAT_MUST_USE;

/* Small state (4 KiB) that travels from one run of an asking handler to the next. With 2026-07-28
 * it goes through the client, sealed: it cannot be read or changed there, and is good for this
 * request of this client only. NULL on the first run or when none was set. */
CLEAT_API const cleat_json *cleat_request_state(cleat_request *req);
CLEAT_API int cleat_request_set_state(cleat_request *req, const char *fmt, ...) CLEAT_PRINTF(2, 3);

#ifdef __cplusplus
}
#endif
#endif
