/* program/serve/argument/inquiry.c - "confirm" and "ask": what the user is asked before a tool works; and the arguments
 * that the work is given: those of the call, the defaults of the others, and the answers.
 *
 * A handler that asks runs again from the top when the answer is there (cleat/request.h), so this stands at
 * the very beginning of a tool's handler. A question belongs to its tool and needs nothing of the
 * configuration that it came from.
 */
#include "serve/argument/inquiry.h"

#include "base/mem.h"
#include "serve/argument/argtext.h"
#include "serve/argument/integers.h"
#include "serve/kit/output.h"
#include "serve/kit/reqmem.h"
#include "serve/kit/tool.h"
#include "json/build.h"
#include "json/copy.h"
#include "json/parse.h"

enum { ARGUMENTS_MAX = 16 << 20 };

struct inquiry {
	cleat_allocator mem;
	struct arena arena; /* owns all of this */
	const struct argtext *confirm, *message;
	const char *form;           /* requestedSchema; NULL: nothing is asked */
	const cleat_json *defaults; /* of arguments and fields, by name */
	struct integers integers;
};

/* ---- making ---- */

static bool any_default(const cleat_json *properties)
{
	cleat_json_iter it = cleat_json_each(properties);

	while (cleat_json_next(&it))
		if (cleat_json_get(it.value, "default"))
			return true;
	return false;
}

/* A field of the form that is an argument, too, would be asked for in vain. */
static bool check_names(struct draft *b, const cleat_json *fields, const char *form,
			const char *input)
{
	const cleat_json *mine = NULL, *theirs = NULL;
	cleat_json_iter it;

	/* cleat_ask_form() and cleat_tool have schemas as text */
	json_parse(conf_scratch(b->conf), str_of(form), NULL, &mine, NULL);
	json_parse(conf_scratch(b->conf), str_of(input), NULL, &theirs, NULL);
	it = cleat_json_each(cleat_json_get(mine, "properties"));
	while (cleat_json_next(&it)) {
		if (!json_get(cleat_json_get(theirs, "properties"), json_str(it.key)))
			continue;
		conf_problem(b->conf, fields, "%s is an argument of the tool already",
			     cleat_json_str(it.key, ""));
		return false;
	}
	return true;
}

static bool keep_defaults(struct draft *b, struct inquiry *q, const cleat_json *properties)
{
	cleat_json_iter it = cleat_json_each(properties);
	struct build all;
	int rc;

	build_init(&all, &q->arena);
	build_obj(&all);
	while (cleat_json_next(&it)) {
		const cleat_json *value = cleat_json_get(it.value, "default");

		if (!value)
			continue;
		build_key(&all, json_str(it.key));
		build_value(&all, value);
	}
	build_end(&all);
	rc = build_finish(&all, &q->defaults, NULL);
	if (rc)
		conf_problem(b->conf, NULL, "defaults of arguments: %s", cleat_strstatus(rc));
	return !rc;
}

/* May there be integers among the arguments? Where the word stands does not matter: it costs a copy. */
static bool has_integers(const cleat_json *node, const cleat_tool *t)
{
	return strstr(t->input_schema, "\"integer\"") || cleat_json_get(node, "ask");
}

static bool keep_schema(struct draft *b, struct inquiry *q, const cleat_json *names)
{
	int rc = json_copy(&q->arena, names, &q->integers.schema);

	if (rc)
		conf_problem(b->conf, NULL, "arguments: %s", cleat_strstatus(rc));
	return !rc;
}

/* `names`: what may appear in braces. */
static bool inquiry_fill(struct draft *b, struct inquiry *q, const cleat_json *node,
			 const cleat_tool *t, const cleat_json *names)
{
	const cleat_json *confirm = cleat_json_get(node, "confirm"),
			 *ask = cleat_json_get(node, "ask");
	const cleat_json *message = cleat_json_get(ask, "message");
	const cleat_json *fields = cleat_json_get(ask, "fields");

	if (confirm) {
		q->confirm = argtext_new(b, &q->arena, confirm, conf_template(b->conf, confirm, ""),
					 names);
		if (!q->confirm)
			return false;
	}
	if (ask) {
		const char *form = tool_fields(b, fields, true);

		if (!form || !check_names(b, fields, form, t->input_schema))
			return false;
		q->form = arena_strdup(&q->arena, form);
		q->message = argtext_new(b, &q->arena, message ? message : ask,
					 conf_template(b->conf, message, "More is needed:"), names);
		if (!q->form || !q->message)
			return false;
	}
	return (!has_integers(node, t) || keep_schema(b, q, names)) &&
	       keep_defaults(b, q, cleat_json_get(names, "properties"));
}

struct inquiry *inquiry_new(struct draft *b, const cleat_json *node, const cleat_tool *t,
			    bool int64)
{
	const cleat_json *names = tool_arguments(b, node, t);
	struct inquiry *q;

	if (!cleat_json_get(node, "confirm") && !has_integers(node, t) &&
	    !any_default(cleat_json_get(names, "properties")))
		return NULL;
	q = mem_zalloc(&b->rt->mem, sizeof *q);
	if (!q) {
		conf_problem(b->conf, node, "out of memory");
		return NULL;
	}
	q->mem = b->rt->mem;
	q->integers.int64 = int64;
	arena_init(&q->arena, &q->mem, 0);
	q->arena.first = 512; /* most have one or two defaults, and that is all */
	if (inquiry_fill(b, q, node, t, names))
		return q;
	if (arena_failed(&q->arena))
		conf_problem(b->conf, node, "out of memory");
	inquiry_free(q);
	return NULL;
}

void inquiry_free(struct inquiry *q)
{
	cleat_allocator mem;

	if (!q)
		return;
	mem = q->mem;
	arena_done(&q->arena);
	mem_free(&mem, q);
}

/* ---- asking ---- */

static void put_members(const struct inquiry *q, struct build *to, const cleat_json *object)
{
	cleat_json_iter it = cleat_json_each(object);

	while (cleat_json_next(&it))
		integers_put(&q->integers, to, json_str(it.key), it.value);
}

static void put_defaults(const struct inquiry *q, struct build *to, const cleat_json *args,
			 const cleat_json *answers)
{
	cleat_json_iter it = cleat_json_each(q->defaults);

	while (cleat_json_next(&it)) {
		struct str key = json_str(it.key);

		if (json_get(args, key) || json_get(answers, key))
			continue;
		integers_put(&q->integers, to, key, it.value);
	}
}

/* Arguments, answers and defaults as one object, in the request's memory. NULL: a reply
 * says why they cannot be used. */
static int merge(const struct inquiry *q, cleat_request *req, const cleat_json *args,
		 const cleat_json *answers, const cleat_json **ret)
{
	const cleat_allocator mem = reqmem(req);
	struct arena ar; /* is gone with the request */
	struct build all;
	cleat_error err;
	int rc;

	arena_init(&ar, &mem, 4 * ARGUMENTS_MAX);
	build_init(&all, &ar);
	build_obj(&all);
	put_members(q, &all, args);
	put_members(q, &all, answers);
	put_defaults(q, &all, args, answers);
	build_end(&all);
	rc = build_finish(&all, ret, &err);
	return rc == CLEAT_EINVAL ? cleat_reply_error(req, "%s", err.message) : rc;
}

/* What a person is asked. A NUL is shown as U+FFFD: the tool itself will say that it cannot use it. NULL: no
 * memory, or far too long. */
static const char *words_of(const struct argtext *t, cleat_request *req, const cleat_json *args)
{
	const cleat_allocator mem = reqmem(req);
	struct buf raw, words;

	buf_init(&raw, &mem, ARGUMENTS_MAX);
	buf_init(&words, &mem, 3 * ARGUMENTS_MAX);
	if (argtext_write(t, args, &raw, NULL))
		return NULL;
	output_write_text(&words, buf_str(&raw));
	buf_putc(&words, '\0');
	return buf_status(&words) ? NULL : buf_str(&words).p;
}

int inquiry_ask(const struct inquiry *q, cleat_request *req, const cleat_json **ret_args)
{
	const cleat_json *args = cleat_request_arguments(req), *answers = NULL, *all;
	const char *text;
	int rc = CLEAT_OK;

	*ret_args = args ? args : json_empty_object();
	if (!q)
		return CLEAT_OK;
	if (q->form) {
		rc = merge(q, req, args, NULL, &all);
		if (!rc && !all)
			return *ret_args = NULL, CLEAT_OK;
		text = rc ? NULL : words_of(q->message, req, all);
		if (!text)
			return rc ? rc : CLEAT_ELIMIT;
		rc = cleat_ask_schema(req, "ask", text, q->form, &answers);
	}
	if (rc)
		return rc;
	if (cleat_json_size(q->defaults) || answers || q->integers.schema) {
		rc = merge(q, req, *ret_args, answers, &all);
		if (rc)
			return rc;
		*ret_args = all;
	}
	if (!q->confirm || !*ret_args)
		return CLEAT_OK;
	text = words_of(q->confirm, req, *ret_args);
	return text ? cleat_ask_confirm(req, "confirm", "%s", text) : CLEAT_ELIMIT;
}
