/* program/record/replay_compare.c - asks a server once more what a transcript's client asked, and says what is
 * different.
 *
 * Requests go out one after the other, through the library: the connection, the handshake and rounds of
 * questions are its own. What the server asks is answered as it was then. "_meta" is not compared.
 */
#include "record/replay.h"

#include "reach/reach.h"
#include "terminal/await.h"
#include "terminal/output.h"
#include "text/print.h"
#include "text/text.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN_MOST = 20 }; /* differences of one answer */

struct compare {
	struct cli *cli;
	struct tape *tape;
	FILE *to;
	unsigned same, different, skipped;
	cleat_build *report; /* an array of those that differ */
	/* of one answer */
	struct text found;
	cleat_build *differences; /* an array; NULL: there are none yet */
	unsigned n;
};

/* ---- differences --------------------------------------------------------------------------------- */

static bool is_ignored(const struct compare *c, const char *key)
{
	const char *name;

	if (strcmp(key, "_meta") == 0)
		return true;
	for (size_t i = 0; (name = cli_option_at(c->cli, "ignore", i)) != NULL; i++)
		if (strcmp(name, key) == 0)
			return true;
	return false;
}

static void add_value(struct text *t, const char *word, const cleat_json *v)
{
	char *text = cleat_json_print(v, NULL);

	text_printf(t, "%s %.200s%s", word, text ? text : "nothing",
		    text && strlen(text) > 200 ? "..." : "");
	free(text);
}

static void differ(struct compare *c, const char *path, const cleat_json *then,
		   const cleat_json *now)
{
	if (c->n++ >= SHOWN_MOST)
		return;
	text_printf(&c->found, "  %s: ", *path ? path : "/");
	add_value(&c->found, "recorded", then);
	add_value(&c->found, ", now", now);
	text_puts(&c->found, "\n");
	if (!c->differences)
		cleat_build_array(c->differences = cleat_build_new(NULL), NULL);
	cleat_build_object(c->differences, NULL);
	cleat_build_str(c->differences, "path", path);
	if (then)
		cleat_build_value(c->differences, "recorded", then);
	if (now)
		cleat_build_value(c->differences, "now", now);
	cleat_build_end(c->differences);
}

static char *below(const char *path, const char *key)
{
	struct text t = { 0 };

	text_printf(&t, "%s/", path);
	for (; *key; key++) /* RFC 6901 */
		text_printf(&t, *key == '~' ? "~0" : *key == '/' ? "~1" : "%c", *key);
	return text_take(&t);
}

/* As deep as a document may be: the parser has a limit. */
static void walk(struct compare *c, const char *path, const cleat_json *then, const cleat_json *now)
{
	enum cleat_json_type type = cleat_json_type(then);
	cleat_json_iter it = cleat_json_each(then);
	bool object = type == CLEAT_JSON_OBJECT;

	if (cleat_json_equal(then, now))
		return;
	if (type != cleat_json_type(now) || (!object && type != CLEAT_JSON_ARRAY) ||
	    (!object && cleat_json_size(then) != cleat_json_size(now))) {
		differ(c, path, then, now);
		return;
	}
	while (cleat_json_next(&it)) {
		char index[24];
		const char *key = index;
		char *at;

		snprintf(index, sizeof index, "%zu", it.index);
		if (object)
			key = cleat_json_str(it.key, "");
		if (object && is_ignored(c, key))
			continue;
		at = below(path, key);
		walk(c, at, it.value,
		     object ? cleat_json_get(now, key) : cleat_json_at(now, it.index));
		free(at);
	}
	it = cleat_json_each(object ? now : NULL);
	while (cleat_json_next(&it)) {
		const char *key = cleat_json_str(it.key, "");
		char *at = below(path, key);

		if (!cleat_json_get(then, key) && !is_ignored(c, key))
			differ(c, at, NULL, it.value);
		free(at);
	}
}

/* ---- what the server asks ------------------------------------------------------------------------ */

enum answer_kind { ANSWER_FORM, ANSWER_SAMPLING };

static struct {
	const cleat_json **at[2]; /* by kind */
	size_t n[2], next[2], cap[2];
} answers;

static void add_answer(enum answer_kind kind, const cleat_json *v)
{
	if (answers.n[kind] == answers.cap[kind]) {
		size_t cap = answers.cap[kind] ? 2 * answers.cap[kind] : 16;
		const cleat_json **at = keep_alloc(cap * sizeof *at);

		if (answers.n[kind])
			memcpy(at, answers.at[kind], answers.n[kind] * sizeof *at);
		answers.at[kind] = at;
		answers.cap[kind] = cap;
	}
	answers.at[kind][answers.n[kind]++] = v;
}

/* An answer tells by its members what it is one to. */
static void add_by_shape(const cleat_json *v, const cleat_json **roots)
{
	if (cleat_json_get(v, "action"))
		add_answer(ANSWER_FORM, v);
	else if (cleat_json_get(v, "model"))
		add_answer(ANSWER_SAMPLING, v);
	else if (cleat_json_get(v, "roots") && !*roots)
		*roots = cleat_json_get(v, "roots");
}

static void collect(const struct tape *tape, const cleat_json **roots)
{
	for (size_t i = 0; i < tape->n; i++) {
		const struct tape_line *l = &tape->lines[i];
		cleat_json_iter it = cleat_json_each(cleat_json_get(l->params, "inputResponses"));

		if (!l->out)
			continue;
		if (l->kind == TAPE_RESPONSE)
			add_by_shape(cleat_json_get(l->msg, "result"), roots);
		while (cleat_json_next(&it))
			add_by_shape(it.value, roots);
	}
}

static const cleat_json *next_answer(enum answer_kind kind)
{
	if (answers.next[kind] >= answers.n[kind])
		return NULL;
	return answers.at[kind][answers.next[kind]++];
}

static int on_form(cleat_request *req)
{
	const cleat_json *v = next_answer(ANSWER_FORM), *content = cleat_json_get(v, "content");
	const char *action = cleat_json_str(cleat_json_get(v, "action"), "");

	if (!v)
		return cleat_reply_error(req, "the recording has no answer to this");
	if (strcmp(action, "accept") != 0)
		return strcmp(action, "cancel") == 0 ? CLEAT_ECANCELLED : CLEAT_EDECLINED;
	return content ? cleat_reply_json(req, content) : cleat_reply_nothing(req);
}

static int on_url(cleat_request *req)
{
	const char *action =
		cleat_json_str(cleat_json_get(next_answer(ANSWER_FORM), "action"), "cancel");

	(void)req;
	if (strcmp(action, "accept") == 0)
		return CLEAT_OK;
	return strcmp(action, "cancel") == 0 ? CLEAT_ECANCELLED : CLEAT_EDECLINED;
}

static int on_sampling(cleat_request *req)
{
	const cleat_json *v = next_answer(ANSWER_SAMPLING);

	return v ? cleat_reply_json(req, v)
		 : cleat_reply_error(req, "the recording has no answer to this");
}

/* ---- requests ------------------------------------------------------------------------------------ */

static const char *title(const struct tape_line *l)
{
	const char *name = cleat_json_str(cleat_json_get(l->params, "name"), NULL);

	if (!name)
		name = cleat_json_str(cleat_json_get(l->params, "uri"), NULL);
	return name ? keepf("%s %s", l->method, name) : l->method;
}

static void report(struct compare *c, const struct tape_line *l)
{
	bool person = !c->cli->json && !cli_option(c->cli, "jq");
	cleat_doc *differences;

	if (!c->n) {
		c->same++;
		if (person && c->cli->verbose) {
			fputs("same: ", c->to);
			print_line(c->to, title(l));
			fputc('\n', c->to);
		}
		return;
	}
	c->different++;
	if (person) {
		fputs("different: ", c->to);
		print_line(c->to, title(l));
		fputc('\n', c->to);
		print_safe(c->to, text_str(&c->found), c->found.n);
		if (c->n > SHOWN_MOST)
			fprintf(c->to, "  and %u more\n", c->n - SHOWN_MOST);
	}
	cleat_build_end(c->differences);
	differences = cleat_build_finish(c->differences, NULL);
	c->differences = NULL;
	cleat_build_valuef(c->report, NULL, "{request: %s, differences: %p}", title(l),
			   (const void *)cleat_doc_root(differences));
	cleat_doc_free(differences);
}

/* The last answer of several rounds of questions (2026-07-28). */
static const cleat_json *last_answer(const struct tape *tape, size_t i)
{
	const struct tape_line *l = &tape->lines[i];
	const cleat_json *answer = tape->lines[l->partner].msg;

	for (size_t k = l->partner;
	     cleat_json_get(cleat_json_get(answer, "result"), "inputRequests") && k < tape->n;
	     k++) {
		struct tape_line *next = &tape->lines[k];

		if (!next->out || next->kind != TAPE_REQUEST || next->used ||
		    next->partner == TAPE_NONE || strcmp(next->method, l->method) != 0 ||
		    !cleat_json_get(next->params, "inputResponses"))
			continue;
		next->used = true;
		answer = tape->lines[next->partner].msg;
	}
	return answer;
}

static void compare_answer(struct compare *c, const cleat_json *then, const cleat_result *r)
{
	const cleat_json *error = cleat_json_get(then, "error"), *raw = cleat_result_raw(r);
	int code = cleat_result_error(r)->rpc_code;
	cleat_doc *now;

	if (!error && raw) {
		walk(c, "", cleat_json_get(then, "result"), raw);
		return;
	}
	if (error && !raw && cleat_json_int(cleat_json_get(error, "code"), 0) == code)
		return;
	now = raw ? cleat_doc_newf(NULL, "{result: %p}", (void *)raw)
		  : cleat_doc_newf(NULL, "{error: {code: %d, message: %s}}", code,
				   cleat_result_error(r)->message);
	differ(c, "", error ? error : cleat_json_get(then, "result"),
	       cleat_json_get(cleat_doc_root(now), raw ? "result" : "error"));
	cleat_doc_free(now);
}

/* EXIT_GOOD: it was compared. Anything else: the server is gone (printed). */
static int replay_compare_ask(struct compare *c, size_t i)
{
	const struct tape_line *l = &c->tape->lines[i];
	cleat_doc *params = tape_params(l->params);
	const cleat_json *root = cleat_doc_root(params);
	cleat_result *r = cli_await(c->cli, l->method, cleat_json_size(root) ? root : NULL);
	int code = EXIT_GOOD;

	if (!cleat_result_raw(r) && cleat_result_step(r) != CLEAT_STEP_ANSWER)
		code = cli_result_error(c->cli, r);
	else
		compare_answer(c, last_answer(c->tape, i), r);
	if (code == EXIT_GOOD)
		report(c, l);
	cleat_result_free(r);
	cleat_doc_free(params);
	return code;
}

static bool is_one_of(const char *method, const char *const *list)
{
	while (*list && strcmp(*list, method) != 0)
		list++;
	return *list != NULL;
}

static int play_line(struct compare *c, size_t i)
{
	static const char *const hello[] = { "initialize", "server/discover", NULL };
	/* The library's own business. */
	static const char *const not_ours[] = { "subscriptions/listen", "notifications/initialized",
						"notifications/cancelled", "notifications/progress",
						NULL };
	struct tape_line *l = &c->tape->lines[i];
	const cleat_json *answer = l->partner == TAPE_NONE ? NULL : c->tape->lines[l->partner].msg;

	text_free(&c->found);
	cleat_build_free(c->differences);
	c->differences = NULL;
	c->n = 0;
	if (!l->out || l->used || is_one_of(l->method, not_ours))
		return EXIT_GOOD;
	if (l->kind == TAPE_NOTIFICATION) {
		cleat_doc *params = tape_params(l->params);

		cleat_client_notifyf(c->cli->client, l->method, "%p",
				     (void *)cleat_doc_root(params));
		cleat_doc_free(params);
		return EXIT_GOOD;
	}
	if (l->kind != TAPE_REQUEST)
		return EXIT_GOOD;
	if (!answer) {
		c->skipped++;
		return EXIT_GOOD;
	}
	if (!is_one_of(l->method, hello))
		return replay_compare_ask(c, i);
	/* Which of the two is said is a matter of who asks. */
	if (cleat_json_get(answer, "result") &&
	    (cleat_client_era(c->cli->client) == CLEAT_ERA_MODERN) == (*l->method == 's')) {
		walk(c, "", cleat_json_get(answer, "result"), cleat_client_server(c->cli->client));
		report(c, l);
	}
	return EXIT_GOOD;
}

static int replay_compare_finish(struct compare *c)
{
	cleat_doc *different;
	int code = EXIT_GOOD;

	cleat_build_end(c->report);
	different = cleat_build_finish(c->report, NULL);
	c->report = NULL;
	if (!cli_print_doc(c->cli,
			   cleat_doc_newf(NULL, "{same: %u, different: %p}", c->same,
					  (const void *)cleat_doc_root(different)),
			   &code))
		fprintf(c->to, "%u answer%s the same, %u %s different\n", c->same,
			c->same == 1 ? " is" : "s are", c->different,
			c->different == 1 ? "is" : "are");
	cleat_doc_free(different);
	if (c->skipped)
		cli_note(c->cli, "%u request%s no recorded answer, and %s left out", c->skipped,
			 c->skipped == 1 ? " has" : "s have", c->skipped == 1 ? "was" : "were");
	return code ? code : c->different ? EXIT_CHECK : EXIT_GOOD;
}

/* ---- the whole ----------------------------------------------------------------------------------- */

/* What was spoken then. */
static const char *revision_of(const struct tape *tape)
{
	for (size_t i = 0; i < tape->n; i++) {
		const struct tape_line *l = &tape->lines[i];
		const char *modern =
			cleat_json_str(cleat_json_get(cleat_json_get(l->params, "_meta"),
						      "io.modelcontextprotocol/protocolVersion"),
				       NULL);

		if (!l->out || l->kind != TAPE_REQUEST || l->partner == TAPE_NONE ||
		    !cleat_json_get(tape->lines[l->partner].msg, "result"))
			continue;
		if (modern)
			return modern;
		if (strcmp(l->method, "initialize") == 0)
			return cleat_json_str(
				cleat_json_get(
					cleat_json_get(tape->lines[l->partner].msg, "result"),
					"protocolVersion"),
				NULL);
	}
	return NULL;
}

static size_t read_roots(const cleat_json *roots, cleat_root *ret, size_t most)
{
	cleat_json_iter it = cleat_json_each(roots);
	size_t n = 0;

	while (cleat_json_next(&it) && n < most) {
		ret[n].uri = cleat_json_str(cleat_json_get(it.value, "uri"), NULL);
		ret[n].name = cleat_json_str(cleat_json_get(it.value, "name"), NULL);
		n += ret[n].uri != NULL;
	}
	return n;
}

int replay_compare(struct cli *cli, struct tape *tape)
{
	struct compare c = { .cli = cli, .tape = tape };
	cleat_client_options want = {
		.on_form = on_form, .on_url = on_url, .on_sampling = on_sampling, .no_cache = true
	};
	cleat_root roots[64];
	const cleat_json *recorded = NULL;
	int code;

	collect(tape, &recorded);
	want.n_roots = read_roots(recorded, roots, CLEAT_COUNT(roots));
	want.roots = want.n_roots ? roots : NULL;
	if (!cli_option(cli, "era") && !cli_option(cli, "protocol"))
		want.protocol = revision_of(tape);
	c.to = cli_out(cli);
	if (!c.to)
		return EXIT_OTHER;
	if (!cli_client(cli, &want, &code) || (code = cli_open(cli)) != EXIT_GOOD)
		return code;
	cleat_build_array(c.report = cleat_build_new(NULL), NULL);
	for (size_t i = 0; code == EXIT_GOOD && i < tape->n; i++)
		code = play_line(&c, i);
	if (code == EXIT_GOOD)
		code = replay_compare_finish(&c);
	cleat_build_free(c.report);
	text_free(&c.found);
	cleat_build_free(c.differences);
	return code;
}
