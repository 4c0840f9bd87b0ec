/* program/terminal/ask.c - answers what a server asks: by --answer and --answers, or by whoever sits at the terminal.
 *
 * Every client declares that it can be asked, so that a server offers the same tools to every verb. With a
 * terminal the handlers run on a thread of their own and may wait for a person; without one they run on
 * the loop, and a question that no option answers ends the call.
 */
#include "terminal/ask.h"

#include "cli/arguments.h"
#include "terminal/await.h"
#include "terminal/terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 4 << 20 };

const struct cli_option cli_asked_options[] = {
	{ .name = "answer",
	  .arg = "KEY=VALUE",
	  .repeat = true,
	  .help = "answer for a field of a form, or for \"sampling\" or \"url\"" },
	{ .name = "answers", .arg = "FILE", .help = "the same from a JSON object in FILE" },
	{ .name = "accept", .help = "accept what can be accepted without typing anything" },
	{ .name = "decline", .help = "decline whatever the server asks" },
	{ 0 },
};

static struct {
	struct cli *cli;           /* the run that asks */
	struct cli *outer;         /* the shell that it is a command of; NULL: none */
	cleat_doc *file;           /* --answers, of the run that made the client */
	cleat_doc *inner_file;     /* and of a command */
	struct terminal *terminal; /* NULL: nobody is there */
	int unanswered;            /* exit code */
	unsigned declined;         /* questions, by a verb with CLI_DECLINES */
} asked;

int cli_unanswered(const struct cli *cli)
{
	(void)cli;
	return asked.unanswered;
}

static bool flag(const char *name)
{
	return cli_flag(asked.cli, name) || (asked.outer && cli_flag(asked.outer, name));
}

/* ---- answers of the command line ----------------------------------------------------------------- */

static const char *option_of(const struct cli *cli, const char *key)
{
	size_t n = strlen(key);
	const char *word, *last = NULL;

	for (size_t i = 0; cli && (word = cli_option_at(cli, "answer", i)) != NULL; i++)
		if (strncmp(word, key, n) == 0 &&
		    (word[n] == '=' || strncmp(word + n, ":=", 2) == 0))
			last = strchr(word + n, '=') + 1;
	return last;
}

/* The value for a key as text, or as JSON; false when neither option has it. */
static bool answer_of(const char *key, const char **ret_text, const cleat_json **ret_json)
{
	*ret_json = NULL;
	*ret_text = option_of(asked.cli, key);
	if (!*ret_text)
		*ret_json = cleat_json_get(cleat_doc_root(asked.inner_file), key);
	if (!*ret_text && !*ret_json)
		*ret_text = option_of(asked.outer, key);
	if (!*ret_text && !*ret_json)
		*ret_json = cleat_json_get(cleat_doc_root(asked.file), key);
	return *ret_text || *ret_json;
}

/* The one element of an array. */
static cleat_doc *in_array(cleat_doc *element)
{
	cleat_doc *doc =
		element ? cleat_doc_newf(NULL, "[%p]", (const void *)cleat_doc_root(element))
			: NULL;

	cleat_doc_free(element);
	return doc;
}

/* A text that is a JSON string is that string. */
static cleat_doc *answer_value(const cleat_json *schema, const char *text, const char **why)
{
	cleat_doc *doc =
		*text == '"' ? cleat_doc_parse(text, strlen(text), NULL, NULL, NULL) : NULL;
	size_t n = strlen(text);
	const char *s = doc ? cleat_json_strn(cleat_doc_root(doc), &n) : text;
	const char *type = cleat_json_str(cleat_json_get(schema, "type"), "");
	cleat_doc *value;

	if (strcmp(type, "array") == 0 && *text != '[')
		value = in_array(
			argument_value(schema, cleat_json_get(schema, "items"), s, n, why));
	else
		value = argument_value(schema, schema, s, n, why);
	cleat_doc_free(doc);
	return value;
}

static const cleat_json *properties_of(const cleat_json *schema)
{
	return cleat_json_get(schema, "properties");
}

struct form {
	const cleat_json *schema;
	cleat_build *object;
	struct text missing; /* required fields without an answer, for people */
	unsigned given;
	const char *why;
};

static bool fill_field(struct form *f, const char *name, const cleat_json *field)
{
	const char *text;
	const cleat_json *json;
	cleat_doc *typed = NULL;

	if (!answer_of(name, &text, &json)) {
		if (argument_required(f->schema, name) && !cleat_json_get(field, "default"))
			text_printf(&f->missing, "%s%s (%s)", f->missing.n ? ", " : "", name,
				    argument_type(field));
		return true;
	}
	if (text) {
		typed = answer_value(field, text, &f->why);
		if (!typed) {
			f->why = keepf("%s %s", name, f->why);
			return false;
		}
		json = cleat_doc_root(typed);
	}
	f->given++;
	cleat_build_value(f->object, name, json);
	cleat_doc_free(typed);
	return true;
}

/* ---- endings ------------------------------------------------------------------------------------- */

static int nobody(cleat_request *req, const char *why)
{
	asked.unanswered =
		cli_error_at(asked.cli, EXIT_OTHER, cleat_step_name(CLEAT_STEP_ASKED), 0, 0, why);
	await_give_up();
	return cleat_reply_error(req, "nobody is there to answer");
}

static bool declined(void)
{
	return flag("decline");
}

/* ---- forms --------------------------------------------------------------------------------------- */

static int form_by_terminal(cleat_request *req, const struct form *f, const cleat_json *given)
{
	const char *message = cleat_arg_str(req, "message");
	cleat_doc *all;
	int rc;

	await_clear();
	terminal_begin(asked.terminal, req);
	rc = terminal_form(asked.terminal, message, f->schema, given, &all);
	if (rc == CLEAT_OK)
		rc = cleat_reply_json(req, cleat_doc_root(all));
	cleat_doc_free(all);
	return rc;
}

/* With what the options say: it is enough, somebody is asked for the rest, or nobody can be. */
static int answer_given(cleat_request *req, struct form *f, const cleat_json *given)
{
	const char *message = cleat_arg_str(req, "message");

	if (!f->missing.n && (f->given || flag("accept")))
		return cleat_reply_json(req, given);
	if (asked.terminal)
		return form_by_terminal(req, f, given);
	if (f->missing.n)
		return nobody(req,
			      keepf("the server asks \"%s\" and there is no terminal: answer %s "
				    "with --answer KEY=VALUE, or use --decline",
				    message, text_str(&f->missing)));
	return nobody(
		req,
		keepf("the server asks \"%s\" and there is no terminal: use %s--accept or --decline",
		      message,
		      cleat_json_size(properties_of(f->schema)) ? "--answer KEY=VALUE, " : ""));
}

static int answer_form(cleat_request *req, struct form *f)
{
	cleat_json_iter it = cleat_json_each(properties_of(f->schema));
	bool good = true;
	cleat_error err;
	cleat_doc *given;
	int rc;

	f->object = cleat_build_new(NULL);
	cleat_build_object(f->object, NULL);
	while (good && cleat_json_next(&it))
		good = fill_field(f, cleat_json_str(it.key, ""), it.value);
	cleat_build_end(f->object);
	given = cleat_build_finish(f->object, &err);
	if (!good)
		rc = nobody(req, keepf("--answer: %s", f->why));
	else if (!given)
		rc = cleat_reply_error(req, "the form cannot be answered: %s", err.message);
	else
		rc = answer_given(req, f, cleat_doc_root(given));
	cleat_doc_free(given);
	return rc;
}

static int on_form(cleat_request *req)
{
	struct form f = { .schema = cleat_arg(req, "requestedSchema") };
	int rc;

	if (declined())
		return CLEAT_EDECLINED;
	rc = answer_form(req, &f);
	text_free(&f.missing);
	return rc;
}

/* ---- URLs ---------------------------------------------------------------------------------------- */

static int on_url(cleat_request *req)
{
	const char *url = cleat_arg_str(req, "url"), *text;
	const cleat_json *json;
	bool agreed;

	if (declined())
		return CLEAT_EDECLINED;
	if (answer_of("url", &text, &json)) {
		agreed = text ? strcmp(text, "true") == 0 || strcmp(text, "yes") == 0
			      : cleat_json_bool(json, false);
		return agreed ? CLEAT_OK : CLEAT_EDECLINED;
	}
	if (flag("accept")) {
		cli_note(asked.cli, "the server wants this to be opened: %s", url);
		return CLEAT_OK;
	}
	if (!asked.terminal)
		return nobody(
			req, keepf("the server wants %s to be opened and there is no terminal: use "
				   "--answer url=true when it is, or --decline",
				   url));
	await_clear();
	terminal_begin(asked.terminal, req);
	return terminal_url(asked.terminal, cleat_arg_str(req, "message"), url);
}

/* ---- sampling ------------------------------------------------------------------------------------ */

/* "text", {"text": ..., "model": ...}, a whole CreateMessageResult, or plain text. */
static int reply_sampling(cleat_request *req, const char *text, const cleat_json *json)
{
	cleat_doc *doc = text ? cleat_doc_parse(text, strlen(text), NULL, NULL, NULL) : NULL;
	const char *s;
	int rc;

	if (doc)
		json = cleat_doc_root(doc);
	s = cleat_json_str(cleat_json_type(json) == CLEAT_JSON_OBJECT ? cleat_json_get(json, "text")
								      : json,
			   NULL);
	if (cleat_json_get(json, "content")) {
		rc = cleat_reply_json(req, json);
	} else {
		cleat_reply_model(req, cleat_json_str(cleat_json_get(json, "model"), "cleat"));
		rc = cleat_reply_text(req, s ? s : text ? text : "");
	}
	cleat_doc_free(doc);
	return rc;
}

static int on_sampling(cleat_request *req)
{
	const char *text;
	const cleat_json *json;
	struct text typed = { 0 };
	int rc;

	if (declined())
		return CLEAT_EDECLINED;
	if (answer_of("sampling", &text, &json))
		return reply_sampling(req, text, json);
	if (!asked.terminal)
		return nobody(
			req,
			keepf("the server asks for a model and there is no terminal: answer with "
			      "--answer sampling=TEXT, or use --decline"));
	await_clear();
	terminal_begin(asked.terminal, req);
	rc = terminal_sampling(asked.terminal, cleat_request_arguments(req), &typed);
	if (rc == CLEAT_OK) {
		cleat_reply_model(req, "human");
		rc = cleat_reply_text(req, text_str(&typed));
	}
	text_free(&typed);
	return rc;
}

/* ---- making -------------------------------------------------------------------------------------- */

static int read_answers(struct cli *cli, const char *path, cleat_doc **ret)
{
	struct text t = { 0 };
	cleat_error err;

	if (!text_read(&t, path, FILE_MAX)) {
		text_free(&t);
		return cli_error(cli, EXIT_USAGE, "cannot read %s: %s", path, strerror(errno));
	}
	*ret = cleat_doc_parse(text_str(&t), t.n, NULL, NULL, &err);
	text_free(&t);
	if (!*ret)
		return cli_error(cli, EXIT_USAGE, "%s: %s", path, err.message);
	if (cleat_json_type(cleat_doc_root(*ret)) != CLEAT_JSON_OBJECT)
		return cli_error(cli, EXIT_USAGE, "%s: must be a JSON object", path);
	return EXIT_GOOD;
}

static int ask_read_options(struct cli *cli, cleat_doc **ret_file)
{
	const char *path = cli_option(cli, "answers"), *word;

	for (size_t i = 0; (word = cli_option_at(cli, "answer", i)) != NULL; i++)
		if (!strchr(word, '=') || word[0] == '=')
			return cli_usage(cli, "--answer is KEY=VALUE, not \"%s\"", word);
	return path ? read_answers(cli, path, ret_file) : EXIT_GOOD;
}

unsigned ask_declined(void)
{
	return asked.declined;
}

static int decline(cleat_request *req)
{
	(void)req;
	asked.declined++;
	return CLEAT_EDECLINED;
}

int ask_prepare(struct cli *cli, cleat_client_options *o)
{
	int code;

	asked.cli = cli;
	if (cli->verb->groups & CLI_UNASKED)
		return EXIT_GOOD;
	if (cli->verb->groups & CLI_DECLINES) {
		o->on_form = o->on_url = o->on_sampling = decline;
		return EXIT_GOOD;
	}
	code = ask_read_options(cli, &asked.file);
	if (code != EXIT_GOOD)
		return code;
	if (cli->verb->groups & CLI_ASKED && !declined())
		asked.terminal = terminal_open();
	if (!o->on_form)
		o->on_form = on_form;
	if (!o->on_url)
		o->on_url = on_url;
	if (!o->on_sampling)
		o->on_sampling = on_sampling;
	if (asked.terminal)
		o->blocking_handlers = true;
	return EXIT_GOOD;
}

int ask_begin(struct cli *command)
{
	asked.outer = asked.cli;
	asked.cli = command;
	asked.unanswered = 0;
	return ask_read_options(command, &asked.inner_file);
}

void ask_return(void)
{
	asked.cli = asked.outer;
	asked.outer = NULL;
	cleat_doc_free(asked.inner_file);
	asked.inner_file = NULL;
	asked.unanswered = 0;
}

void ask_end(void)
{
	terminal_close(asked.terminal);
	cleat_doc_free(asked.file);
	memset(&asked, 0, sizeof asked);
}
