/* client_rig.c - see client_rig.h. */
#include "unit/client/client_rig.h"

/* ---- the link -------------------------------------------------------------------------------- */

static struct rig *rig_of(struct link *l)
{
	return (struct rig *)(void *)((char *)l - offsetof(struct rig, link));
}

static void rig_open_op(struct link *l)
{
	rig_of(l)->opens++;
}

static void rig_copy(char *to, size_t n, struct str s)
{
	snprintf(to, n, "%.*s", s.p ? (int)s.n : 0, s.p ? s.p : "");
}

static int rig_send_op(struct link *l, const struct link_message *m)
{
	struct rig *rig = rig_of(l);
	struct rig_sent *s = &rig->sent[rig->n_sent];
	size_t used = 0;

	if (rig->send_status)
		return rig->send_status;
	if (rig->n_sent == RIG_MAX)
		return CLEAT_ELIMIT;
	assert_null(memchr(m->text.p, '\n', m->text.n));
	if (m->kind == LINK_REQUEST)
		assert_non_null(m->tag);
	*s = (struct rig_sent){ .kind = m->kind,
				.tag = m->tag,
				.rev = m->rev,
				.modern = m->modern,
				.initialize = m->initialize };
	s->text = malloc(m->text.n + 1);
	memcpy(s->text, m->text.p, m->text.n);
	s->text[m->text.n] = '\0';
	rig_copy(s->method, sizeof s->method, m->method);
	rig_copy(s->name, sizeof s->name, m->name);
	for (size_t i = 0; i < m->n_fields; i++)
		used += (size_t)snprintf(s->fields + used, sizeof s->fields - used, "%.*s=%.*s;",
					 (int)m->fields[i].name.n, m->fields[i].name.p,
					 (int)m->fields[i].value.n, m->fields[i].value.p);
	rig->n_sent++;
	return CLEAT_OK;
}

static void rig_forget_op(struct link *l, void *tag)
{
	struct rig *rig = rig_of(l);

	if (rig->n_forgotten < RIG_MAX)
		rig->forgotten[rig->n_forgotten++] = tag;
}

static void rig_listen_op(struct link *l)
{
	rig_of(l)->listens++;
}

static void rig_reset_op(struct link *l)
{
	rig_of(l)->resets++;
}

static int rig_fall_back_op(struct link *l)
{
	rig_of(l)->fall_backs++;
	return rig_of(l)->fall_back_status;
}

static void rig_close_op(struct link *l)
{
	rig_of(l)->closes++;
}

static void rig_free_op(struct link *l)
{
	rig_of(l)->frees++;
}

static const struct link_ops rig_link_ops = { .open = rig_open_op,
					      .send = rig_send_op,
					      .forget = rig_forget_op,
					      .listen = rig_listen_op,
					      .reset = rig_reset_op,
					      .fall_back = rig_fall_back_op,
					      .close = rig_close_op,
					      .free = rig_free_op };

/* ---- the peer that is asked ------------------------------------------------------------------ */

static struct rig *rig_of_peer(struct peer *p)
{
	return (struct rig *)(void *)((char *)p - offsetof(struct rig, peer));
}

int rig_peer_says(struct rig *rig, void *tag, int kind, const char *text)
{
	struct buf *b = rig->sink.begin(rig->sink.ctx, tag);

	if (!b)
		return CLEAT_ECLOSED;
	buf_appendz(b, text);
	return rig->sink.end(rig->sink.ctx, tag, kind);
}

/* The id of a message, as text. */
static const char *rig_id_of(const char *text, char *to, size_t n)
{
	const char *at = strstr(text, "\"id\":");
	size_t len = 0;

	assert_non_null(at);
	at += 5;
	if (*at == '"')
		len = strcspn(at + 1, "\"") + 2;
	else
		len = strcspn(at, ",}");
	snprintf(to, n, "%.*s", (int)len, at);
	return to;
}

void rig_answer_question(struct rig *rig, size_t i, const char *rest)
{
	struct rig_question *q = &rig->questions[i];
	char text[4096], id[64];

	assert_true(i < rig->n_questions && q->open);
	q->open = false;
	snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%s,%s}",
		 rig_id_of(q->text, id, sizeof id), rest);
	rig_peer_says(rig, q->tag, PEER_ANSWER, text);
	rig->sink.ended(rig->sink.ctx, q->tag, false);
}

static size_t rig_take(struct peer *p, const cleat_json *message, void *tag)
{
	struct rig *rig = rig_of_peer(p);
	struct rig_question *q = &rig->questions[rig->n_questions];
	char *text = cleat_json_print(message, NULL);
	bool question = strstr(text, "\"id\":") != NULL;

	if (!question)
		snprintf(rig->cancelled, sizeof rig->cancelled, "%s", text);
	if (!question || rig->n_questions == RIG_MAX) {
		free(text);
		return question ? PEER_LOST : 0;
	}
	*q = (struct rig_question){ .text = text, .tag = tag, .open = true };
	rig->n_questions++;
	if (rig->answer_at_once)
		rig_answer_question(rig, rig->n_questions - 1, rig->answer_at_once);
	return 1;
}

static void rig_peer_close(struct peer *p)
{
	struct rig *rig = rig_of_peer(p);

	rig->peers_closed++;
	for (size_t i = 0; i < rig->n_questions; i++)
		rig->questions[i].open = false;
}

static const struct peer_ops rig_peer_ops = { .take = rig_take, .close = rig_peer_close };

struct peer *rig_asked(void *ctx, const struct peer_sink *sink, const struct peer_facts *facts)
{
	struct rig *rig = ctx;

	if (rig->no_peer)
		return NULL;
	assert_int_equal(facts->mode, PEER_ASKED);
	rig->sink = *sink;
	rig->facts = *facts;
	rig->peers++;
	rig->peer.ops = &rig_peer_ops;
	return &rig->peer;
}

/* ---- callbacks ------------------------------------------------------------------------------- */

uint64_t rig_now(void *ctx)
{
	return ((struct rig *)ctx)->now;
}

void rig_wake(void *ctx)
{
	((struct rig *)ctx)->wakes++;
}

uint32_t rig_random(void *ctx)
{
	return ((struct rig *)ctx)->random;
}

static void rig_on_note(cleat_client *c, int level, const char *text, void *userdata)
{
	struct rig *rig = userdata;
	size_t used = strlen(rig->notes);

	(void)c;
	snprintf(rig->notes + used, sizeof rig->notes - used, "%d %s\n", level, text);
}

static void rig_on_state(cleat_client *c, const cleat_error *state, void *userdata)
{
	struct rig *rig = userdata;

	(void)c;
	if (rig->n_states < RIG_MAX)
		rig->states[rig->n_states++] = *state;
}

static void rig_on_message(cleat_client *c, bool out, const char *text, size_t n, void *userdata)
{
	struct rig *rig = userdata;

	(void)c;
	assert_non_null(text);
	(void)n;
	*(out ? &rig->traced_out : &rig->traced_in) += 1;
}

static void rig_on_log(cleat_client *c, int level, const char *logger, const cleat_json *data,
		       void *userdata)
{
	struct rig *rig = userdata;
	size_t used = strlen(rig->logs);

	(void)c;
	snprintf(rig->logs + used, sizeof rig->logs - used, "%d %s %s\n", level,
		 logger ? logger : "-", cleat_json_str(data, "?"));
}

static struct rig *rig_of_call(const cleat_call *call)
{
	return client_runner(cleat_call_client(call));
}

void rig_on_done(cleat_call *call, cleat_result *r)
{
	struct rig *rig = rig_of_call(call);

	assert_false(rig->inside);
	assert_true(rig->n_done < RIG_MAX);
	rig->done[rig->n_done] = r;
	rig->done_call[rig->n_done++] = call;
	if (rig->during_done)
		rig->during_done(rig, call);
}

void rig_on_progress(cleat_call *call, double done, double total, const char *message)
{
	struct rig *rig = rig_of_call(call);
	size_t used = strlen(rig->progress);

	snprintf(rig->progress + used, sizeof rig->progress - used, "%g/%g %s\n", done, total,
		 message);
}

void rig_call_log(cleat_call *call, int level, const char *logger, const cleat_json *data)
{
	struct rig *rig = rig_of_call(call);
	size_t used = strlen(rig->logs);

	(void)logger;
	snprintf(rig->logs + used, sizeof rig->logs - used, "call %d %s\n", level,
		 cleat_json_str(data, "?"));
}

void rig_on_change(cleat_watch *w, enum cleat_change_kind what, const char *uri)
{
	struct rig *rig = client_runner(cleat_watch_client(w));
	size_t used = strlen(rig->changes);

	snprintf(rig->changes + used, sizeof rig->changes - used, "%s%d%s%s\n",
		 cleat_watch_userdata(w) ? (const char *)cleat_watch_userdata(w) : "", (int)what,
		 uri ? " " : "", uri ? uri : "");
}

void rig_on_end(cleat_watch *w, const cleat_error *why)
{
	struct rig *rig = client_runner(cleat_watch_client(w));
	size_t used = strlen(rig->changes);

	snprintf(rig->changes + used, sizeof rig->changes - used, "%send %d %s\n",
		 cleat_watch_userdata(w) ? (const char *)cleat_watch_userdata(w) : "", why->status,
		 why->message);
}

/* ---- the rig --------------------------------------------------------------------------------- */

bool rig_init(struct rig *rig, const cleat_client_options *o)
{
	cleat_client_options opts = o ? *o : (cleat_client_options){ 0 };
	struct client_hooks hooks = { .now_ms = rig_now,
				      .wake = rig_wake,
				      .random = rig_random,
				      .asked = rig_asked,
				      .ctx = rig };

	memset(rig, 0, sizeof *rig);
	rig->now = 1000;
	rig->link.ops = &rig_link_ops;
	rig->link.process = true;
	opts.userdata = rig;
	opts.on_note = rig_on_note;
	opts.on_state = rig_on_state;
	if (!opts.on_message)
		opts.on_message = rig_on_message;
	opts.on_log = rig_on_log;
	rig->c = client_new(&opts, &hooks);
	if (!rig->c)
		return false;
	client_set_runner(rig->c, rig);
	client_set_link(rig->c, &rig->link);
	rig->ev = client_link_events(rig->c);
	return true;
}

void rig_done(struct rig *rig)
{
	size_t n;

	if (rig->c) {
		client_close(rig->c);
		client_free(rig->c);
		assert_int_equal(rig->frees, 1);
	}
	for (n = 0; n < rig->n_sent; n++)
		free(rig->sent[n].text);
	for (n = 0; n < rig->n_questions; n++)
		free(rig->questions[n].text);
	for (n = 0; n < rig->n_done; n++)
		cleat_result_free(rig->done[n]);
}

int rig_pump(struct rig *rig)
{
	int ms;

	for (int i = 0; i < 100; i++) {
		ms = client_pump(rig->c);
		if (ms != 0)
			return ms;
	}
	fail_msg("client_pump() wants to be called for ever");
	return ms;
}

void rig_wait(struct rig *rig, uint64_t ms)
{
	rig->now += ms;
	rig_pump(rig);
}

void rig_up(struct rig *rig)
{
	rig->ev.up(rig->ev.ctx, NULL);
}

struct link_failure rig_failure(int status, enum cleat_step step, int http_status, const char *text)
{
	struct link_failure f = { .step = step, .http_status = http_status };

	f.error.status = status;
	snprintf(f.error.message, sizeof f.error.message, "%s", text);
	return f;
}

void rig_down(struct rig *rig, const char *why)
{
	struct link_failure f = rig_failure(CLEAT_ECLOSED, CLEAT_STEP_EXCHANGE, 0, why);

	rig->ev.down(rig->ev.ctx, &f);
}

void rig_message(struct rig *rig, const char *text, void *tag, int http_status)
{
	rig->ev.message(rig->ev.ctx, (struct str){ text, strlen(text) }, tag, http_status);
}

void rig_say(struct rig *rig, const char *fmt, ...)
{
	static char text[100000];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	rig_message(rig, text, NULL, 0);
}

struct rig_sent *rig_last(struct rig *rig)
{
	assert_true(rig->n_sent > 0);
	return &rig->sent[rig->n_sent - 1];
}

struct rig_sent *rig_request(struct rig *rig)
{
	for (size_t i = rig->n_sent; i-- > 0;)
		if (rig->sent[i].kind == LINK_REQUEST)
			return &rig->sent[i];
	fail_msg("no request was sent");
	return NULL;
}

void rig_reply(struct rig *rig, const struct rig_sent *s, int http_status, const char *rest)
{
	static char text[100000];
	char id[64];

	snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%s,%s}",
		 rig_id_of(s->text, id, sizeof id), rest);
	rig_message(rig, text, rig->link.http ? s->tag : NULL, http_status);
}

void rig_answer(struct rig *rig, const char *rest)
{
	rig_reply(rig, rig_request(rig), rig->link.http ? 200 : 0, rest);
}

void rig_modern(struct rig *rig, const cleat_client_options *o, bool http)
{
	assert_true(rig_init(rig, o));
	rig->link.http = http;
	rig->link.process = !http;
	assert_int_equal(client_start(rig->c), CLEAT_OK);
	rig_up(rig);
	rig_answer(rig, RIG_DISCOVER(RIG_CAPS));
	assert_int_equal(client_phase(rig->c), CLIENT_READY);
}

void rig_legacy(struct rig *rig, const cleat_client_options *o, bool http, const char *initialize)
{
	cleat_client_options opts = o ? *o : (cleat_client_options){ 0 };

	opts.era = CLEAT_ERA_LEGACY;
	assert_true(rig_init(rig, &opts));
	rig->link.http = http;
	rig->link.process = !http;
	assert_int_equal(client_start(rig->c), CLEAT_OK);
	rig_up(rig);
	rig_answer(rig, initialize);
	if (http)
		rig->ev.accepted(rig->ev.ctx, rig_last(rig)->tag);
	assert_int_equal(client_phase(rig->c), CLIENT_READY);
}

cleat_doc *rig_json(const char *text)
{
	cleat_doc *doc = cleat_doc_parse(text, strlen(text), NULL, NULL, NULL);

	assert_non_null(doc);
	return doc;
}

cleat_call *rig_call_with(struct rig *rig, const cleat_call_options *o, const char *method,
			  const char *params)
{
	cleat_call_options opts = o ? *o : (cleat_call_options){ 0 };
	cleat_doc *doc = params ? rig_json(params) : NULL;
	struct build b;
	cleat_call *call;

	opts.on_done = rig_on_done;
	rig->inside = true;
	call = client_call_new(rig->c, &b);
	if (call && doc)
		build_value(&b, cleat_doc_root(doc));
	if (call)
		call = client_call(call, &opts, str_of(method), &b);
	rig->inside = false;
	cleat_doc_free(doc);
	return call;
}

int rig_notify(struct rig *rig, const char *method, const char *params)
{
	cleat_doc *doc = params ? rig_json(params) : NULL;
	int rc = client_notify(rig->c, str_of(method), cleat_doc_root(doc));

	cleat_doc_free(doc);
	return rc;
}

cleat_call *rig_call(struct rig *rig, const char *method, const char *params)
{
	return rig_call_with(rig, NULL, method, params);
}

cleat_call *rig_list(struct rig *rig, const cleat_call_options *o, enum cleat_list what)
{
	cleat_call_options opts = o ? *o : (cleat_call_options){ 0 };
	cleat_call *call;

	opts.on_done = rig_on_done;
	rig->inside = true;
	call = client_call_list(rig->c, &opts, what);
	rig->inside = false;
	return call;
}

cleat_result *rig_result(struct rig *rig)
{
	assert_true(rig->n_done > 0);
	return rig->done[rig->n_done - 1];
}

void rig_expect(struct rig *rig, int status, enum cleat_step step, const char *part)
{
	const cleat_result *r = rig_result(rig);

	if (cleat_result_status(r) != status || cleat_result_step(r) != step)
		print_error("%s\n", cleat_result_error(r)->message);
	assert_int_equal(cleat_result_status(r), status);
	assert_int_equal(cleat_result_step(r), step);
	assert_has(cleat_result_error(r)->message, part);
}
