/* program/record/replay_mock.c - a server that says what a transcript says.
 *
 * A request is answered as the same request was, by method and params without _meta; each recorded one is
 * used once, the last one again and again. What the server said by itself comes where it came: before the
 * answer, or after it, up to the client's next message. When the recorded server asked something, the
 * rest waits for the client's answer. Ids and progress tokens are those of the client that is there now.
 *
 * Where a message goes is not decided here: it is said with the place that its request came from (of a
 * subscription, or of progress: that of the request that asked for it), or with NULL when it belongs to none.
 */
#include "record/replay.h"

#include "text/text.h"

#include <stdlib.h>
#include <string.h>

#define SUBSCRIPTION "io.modelcontextprotocol/subscriptionId"

enum { PLAYS_MOST = 1024, MESSAGE_MOST = 64 << 20 };

/* What is said because of one message of the client. */
struct play {
	size_t at;     /* the next line */
	size_t answer; /* the line of the response; TAPE_NONE: there is none, or it is said already */
	size_t request; /* the line of the request */
	size_t asked;   /* the line of the question that has to be answered first; TAPE_NONE */
	bool busy;
	void *place; /* of the request; NULL: none, or it is answered */
};

/* What a recorded request is called now; JSON text from malloc. */
struct alias {
	char *id, *token;
	void *place;
};

struct mock {
	struct cli *cli;
	struct tape *tape;
	struct mock_outlet outlet;
	cleat_doc **params; /* of the requests, without _meta */
	struct alias *now;  /* by line */
	struct play plays[PLAYS_MOST];
};

static void replay_mock_say(struct mock *m, void *place, const char *line, int answer)
{
	m->outlet.say(m->outlet.ctx, place, line, answer);
}

static void say_empty(struct mock *m, void *place, const char *id)
{
	char *line = NULL;
	struct text t = { 0 };

	text_printf(&t, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}", id);
	line = text_take(&t);
	replay_mock_say(m, place, line, MOCK_RESULT);
	free(line);
}

static void replay_mock_refuse(struct mock *m, void *place, const char *id, int code,
			       const char *message)
{
	struct text t = { 0 };

	text_printf(&t, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d,\"message\":", id,
		    code);
	text_json(&t, message, strlen(message));
	text_puts(&t, "}}");
	replay_mock_say(m, place, text_str(&t), code);
	text_free(&t);
}

/* An object as it is, except for one member (text of JSON). */
static char *with(const cleat_json *object, const char *key, const char *value)
{
	cleat_json_iter it = cleat_json_each(object);
	struct text t = { 0 };

	text_puts(&t, "{");
	while (cleat_json_next(&it)) {
		size_t n;
		const char *name = cleat_json_strn(it.key, &n);
		char *old = cleat_json_print(it.value, NULL);

		text_puts(&t, t.n > 1 ? "," : "");
		text_json(&t, name ? name : "", name ? n : 0);
		text_printf(&t, ":%s",
			    name && n == strlen(key) && memcmp(name, key, n) == 0 ? value
			    : old                                                 ? old
										  : "null");
		free(old);
	}
	text_puts(&t, "}");
	return text_take(&t);
}

/* ---- what was recorded, under its new names -------------------------------------------------------- */

static const cleat_json *token_of(const cleat_json *params)
{
	return cleat_json_get(cleat_json_get(params, "_meta"), "progressToken");
}

/* The request of this id (or progress token) that was made again last. */
static const struct alias *alias_of(const struct mock *m, const cleat_json *key, bool token)
{
	for (size_t i = m->tape->n; i-- > 0;) {
		const struct tape_line *l = &m->tape->lines[i];

		if (l->out && l->kind == TAPE_REQUEST && m->now[i].id &&
		    cleat_json_equal(token ? token_of(l->params) : l->id, key))
			return &m->now[i];
	}
	return NULL;
}

static void say_params(struct mock *m, void *place, const struct tape_line *l, char *params)
{
	char *line = with(l->msg, "params", params);

	replay_mock_say(m, place, line, MOCK_NO_ANSWER);
	free(line);
	free(params);
}

/* A notification or a question of the server. One about something that was not asked for is left out. */
static bool say_line(struct mock *m, struct tape_line *l, void *place)
{
	const cleat_json *meta = cleat_json_get(l->params, "_meta"),
			 *token = cleat_json_get(l->params, "progressToken"),
			 *subscription = cleat_json_get(meta, SUBSCRIPTION);
	const struct alias *a;
	char *text;

	l->used = true;
	if (!token && !subscription) {
		text = cleat_json_print(l->msg, NULL);
		if (text)
			replay_mock_say(m, place, text, MOCK_NO_ANSWER);
		free(text);
		return text != NULL;
	}
	a = alias_of(m, token ? token : subscription, token != NULL);
	if (!a || (token && !a->token))
		return false;
	if (token) {
		say_params(m, a->place, l, with(l->params, "progressToken", a->token));
	} else {
		text = with(meta, SUBSCRIPTION, a->id);
		say_params(m, a->place, l, with(l->params, "_meta", text));
		free(text);
	}
	return true;
}

static void say_answer(struct mock *m, struct play *p)
{
	const cleat_json *msg = m->tape->lines[p->answer].msg,
			 *error = cleat_json_get(msg, "error");
	char *line = with(msg, "id", m->now[p->request].id);

	p->answer = TAPE_NONE;
	/* What comes after it has no place any more. */
	m->now[p->request].place = NULL;
	replay_mock_say(m, p->place, line,
			error ? (int)cleat_json_int(cleat_json_get(error, "code"), -32603)
			      : MOCK_RESULT);
	p->place = NULL;
	free(line);
}

static void go_on(struct mock *m, struct play *p)
{
	for (; p->at < m->tape->n; p->at++) {
		struct tape_line *l = &m->tape->lines[p->at];

		if (p->at == p->answer) {
			say_answer(m, p);
		} else if (l->out && p->answer == TAPE_NONE &&
			   (l->kind == TAPE_REQUEST || l->kind == TAPE_NOTIFICATION)) {
			break;
		} else if (!l->out && !l->used &&
			   (l->kind == TAPE_REQUEST || l->kind == TAPE_NOTIFICATION) &&
			   say_line(m, l, p->place) && l->kind == TAPE_REQUEST) {
			p->asked = p->at++;
			return;
		}
	}
	p->busy = false;
}

static void replay_mock_begin(struct mock *m, size_t line, void *place)
{
	const struct tape_line *l = &m->tape->lines[line];
	struct play *p = m->plays;

	while (p < m->plays + PLAYS_MOST && p->busy)
		p++;
	if (p == m->plays + PLAYS_MOST) {
		if (l->kind == TAPE_REQUEST)
			replay_mock_refuse(m, place, m->now[line].id, CLEAT_RPC_INTERNAL_ERROR,
					   "too many at once");
		return;
	}
	*p = (struct play){ .at = line + 1,
			    .answer = l->kind == TAPE_REQUEST ? l->partner : TAPE_NONE,
			    .request = line,
			    .asked = TAPE_NONE,
			    .busy = true,
			    .place = place };
	/* A subscription stays open; its end was the recorded client's. */
	if (strcmp(l->method, "subscriptions/listen") == 0)
		p->answer = TAPE_NONE;
	go_on(m, p);
}

/* ---- what the client says -------------------------------------------------------------------------- */

/* These are about the client: what it says of itself decides nothing. */
static bool by_method_only(const char *method)
{
	return strcmp(method, "initialize") == 0 || strcmp(method, "server/discover") == 0;
}

/* The line to play; TAPE_NONE: there is none. *ret_known: the method was recorded, with other params. */
static size_t match(struct mock *m, const char *method, const cleat_json *params, bool *ret_known)
{
	size_t last = TAPE_NONE;
	cleat_doc *plain = tape_params(params);

	*ret_known = false;
	for (size_t i = 0; i < m->tape->n; i++) {
		const struct tape_line *l = &m->tape->lines[i];

		if (!l->out || l->kind != TAPE_REQUEST || strcmp(l->method, method) != 0)
			continue;
		*ret_known = true;
		if (!by_method_only(method) &&
		    !cleat_json_equal(cleat_doc_root(m->params[i]), cleat_doc_root(plain)))
			continue;
		last = i;
		if (!l->used)
			break;
	}
	cleat_doc_free(plain);
	return last;
}

static bool was_cancelled(const struct mock *m, size_t request)
{
	for (size_t i = request + 1; i < m->tape->n; i++) {
		const struct tape_line *l = &m->tape->lines[i];

		if (l->out && strcmp(l->method, "notifications/cancelled") == 0 &&
		    cleat_json_equal(cleat_json_get(l->params, "requestId"),
				     m->tape->lines[request].id))
			return true;
	}
	return false;
}

static void refuse_unknown(struct mock *m, void *place, const char *id, const char *method,
			   bool known)
{
	struct text t = { 0 };

	text_printf(&t, known ? "%s was not recorded with these params" : "%s was not recorded",
		    method);
	cli_note(m->cli, "%s", text_str(&t));
	replay_mock_refuse(m, place, id,
			   known ? CLEAT_RPC_INVALID_PARAMS : CLEAT_RPC_METHOD_NOT_FOUND,
			   text_str(&t));
	text_free(&t);
}

static void replay_mock_on_request(struct mock *m, const char *method, const cleat_json *msg,
				   void *place)
{
	const cleat_json *params = cleat_json_get(msg, "params");
	char *id = cleat_json_print(cleat_json_get(msg, "id"), NULL);
	bool known;
	size_t line = match(m, method, params, &known);

	if (!id)
		return;
	if (line == TAPE_NONE) {
		if (strcmp(method, "ping") == 0) /* every server has that */
			say_empty(m, place, id);
		else
			refuse_unknown(m, place, id, method, known);
		free(id);
		return;
	}
	m->tape->lines[line].used = true;
	free(m->now[line].id);
	free(m->now[line].token);
	m->now[line].id = id;
	m->now[line].token = cleat_json_print(token_of(params), NULL);
	m->now[line].place = place;
	if (m->tape->lines[line].partner == TAPE_NONE && !was_cancelled(m, line) &&
	    strcmp(method, "subscriptions/listen") != 0)
		replay_mock_refuse(m, place, id, CLEAT_RPC_INTERNAL_ERROR,
				   "the recording ends before the answer");
	else
		replay_mock_begin(m, line, place);
}

static void on_notification(struct mock *m, const char *method)
{
	for (size_t i = 0; i < m->tape->n; i++) {
		struct tape_line *l = &m->tape->lines[i];

		if (!l->out || l->kind != TAPE_NOTIFICATION || l->used ||
		    strcmp(l->method, method) != 0)
			continue;
		l->used = true;
		replay_mock_begin(m, i, NULL);
		return;
	}
}

static void on_response(struct mock *m, const cleat_json *id)
{
	for (struct play *p = m->plays; p < m->plays + PLAYS_MOST; p++)
		if (p->busy && p->asked != TAPE_NONE &&
		    cleat_json_equal(m->tape->lines[p->asked].id, id)) {
			p->asked = TAPE_NONE;
			go_on(m, p);
			return;
		}
}

/* Gives 1 for a request: it gets an answer. */
static size_t replay_mock_on_message(struct mock *m, const cleat_json *msg, void *place)
{
	const char *method = cleat_json_str(cleat_json_get(msg, "method"), NULL);
	const cleat_json *id = cleat_json_get(msg, "id");

	if (cleat_json_type(msg) != CLEAT_JSON_OBJECT || (!method && !id)) {
		replay_mock_refuse(m, place, "null", CLEAT_RPC_INVALID_REQUEST,
				   "this is not a message");
		return 1;
	}
	if (method && id)
		replay_mock_on_request(m, method, msg, place);
	else if (method)
		on_notification(m, method);
	else
		on_response(m, id);
	return method && id;
}

size_t mock_message(struct mock *m, void *place, const char *text, size_t n)
{
	cleat_error err;
	cleat_doc *doc = cleat_doc_parse(text, n, NULL, NULL, &err);
	const cleat_json *root = cleat_doc_root(doc);
	size_t requests = 0;

	if (!doc) {
		replay_mock_refuse(m, place, "null", CLEAT_RPC_PARSE_ERROR, err.message);
		return 1;
	}
	if (cleat_json_type(root) == CLEAT_JSON_ARRAY) {
		cleat_json_iter it = cleat_json_each(root);

		while (cleat_json_next(&it))
			requests += replay_mock_on_message(m, it.value, place);
	} else {
		requests = replay_mock_on_message(m, root, place);
	}
	cleat_doc_free(doc);
	return requests;
}

void mock_gone(struct mock *m, const void *place)
{
	for (struct play *p = m->plays; p < m->plays + PLAYS_MOST; p++)
		if (p->busy && p->place == place)
			p->busy = false;
	for (size_t i = 0; i < m->tape->n; i++)
		if (m->now[i].place == place)
			m->now[i].place = NULL;
}

struct mock *mock_new(struct cli *cli, struct tape *tape, const struct mock_outlet *outlet)
{
	struct mock *m = keep_alloc(sizeof *m);

	m->cli = cli;
	m->tape = tape;
	m->outlet = *outlet;
	m->params = keep_alloc(tape->n * sizeof *m->params);
	m->now = keep_alloc(tape->n * sizeof *m->now);
	for (size_t i = 0; i < tape->n; i++)
		if (tape->lines[i].out && tape->lines[i].kind == TAPE_REQUEST)
			m->params[i] = tape_params(tape->lines[i].params);
	return m;
}

void mock_free(struct mock *m)
{
	for (size_t i = 0; i < m->tape->n; i++) {
		cleat_doc_free(m->params[i]);
		free(m->now[i].id);
		free(m->now[i].token);
	}
}

/* ---- on stdin and stdout --------------------------------------------------------------------------- */

static void say_stdout(void *ctx, void *place, const char *line, int answer)
{
	(void)ctx;
	(void)place;
	(void)answer;
	fputs(line, stdout);
	fputc('\n', stdout);
	fflush(stdout);
}

/* The next line, without its end; false: there is none, or it is too long. */
static bool read_line(struct text *line)
{
	char part[8192];

	line->n = 0;
	while (line->n < MESSAGE_MOST && fgets(part, sizeof part, stdin)) {
		text_puts(line, part);
		if (line->n && line->p[line->n - 1] == '\n')
			return true;
	}
	return line->n && line->n < MESSAGE_MOST;
}

int replay_mock(struct cli *cli, struct tape *tape)
{
	struct mock_outlet outlet = { .say = say_stdout };
	struct mock *m = mock_new(cli, tape, &outlet);
	struct text line = { 0 };

	while (!ferror(stdout) && read_line(&line))
		if (strspn(line.p, " \t\r\n") < line.n)
			mock_message(m, NULL, line.p, line.n);
	text_free(&line);
	mock_free(m);
	return EXIT_GOOD;
}
