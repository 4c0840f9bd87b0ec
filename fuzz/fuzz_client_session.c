/* fuzz/fuzz_client_session.c - a hostile server, and a hostile transport, against the client role.
 *
 * Input: a byte of flags, a byte that says which allocation fails, then lines. A line that begins with !
 * is something that happens (the link goes up or down, time passes, the program calls, watches,
 * cancels); every other line is a message of the server's, in which $ stands for the id of our newest
 * request. Invariants: what we send is JSON-RPC 2.0 by our own reader; every call ends exactly once, and
 * never inside the function that starts it; nothing leaks.
 */
#include "client/core.h"
#include "memory.h"
#include "rpc/message.h"
#include "json/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HTTP = 1, LEGACY = 2, RESTART = 4, FOREVER = 8, REENTER = 16, AT_ONCE = 32, LOCAL = 64 };
enum { MAX_CALLS = 16, MAX_WATCHES = 4, MAX_QUESTIONS = 8, MAX_LINES = 300 };

struct bench {
	struct link link;
	struct peer peer;
	struct link_events ev;
	cleat_client *c;
	unsigned flags;
	uint64_t now;
	struct fuzz_memory memory;
	bool inside;
	void *newest, *notice; /* tags */
	cleat_call *calls[MAX_CALLS];
	size_t begun, ended;
	cleat_watch *watches[MAX_WATCHES];
	struct peer_sink sink;
	struct {
		void *tag;
		char id[32];
	} questions[MAX_QUESTIONS];
	size_t n_questions;
};

/* ---- the link ------------------------------------------------------------------------------- */

static struct bench *bench_of(struct link *l)
{
	return (struct bench *)(void *)((char *)l - offsetof(struct bench, link));
}

/* Is it what it should be? */
static void check(const struct link_message *m)
{
	struct rpc_rules rules = { .integer_ids = true, .named_params = true };
	struct rpc_message r;
	const cleat_json *v;
	struct arena ar;

	arena_init(&ar, NULL, 0);
	require(json_parse(&ar, m->text, NULL, &v, NULL) == CLEAT_OK);
	rules.integer_ids = m->kind != LINK_ANSWER; /* those are the server's own */
	require(rpc_classify(v, &rules, &r, NULL) == CLEAT_OK);
	require(m->kind != LINK_REQUEST || (r.kind == RPC_REQUEST && m->tag));
	require(m->kind != LINK_NOTICE || r.kind == RPC_NOTIFICATION);
	require(m->kind != LINK_ANSWER || r.kind == RPC_RESULT || r.kind == RPC_ERROR);
	require(!memchr(m->text.p, '\n', m->text.n));
	arena_done(&ar);
}

static int on_send(struct link *l, const struct link_message *m)
{
	struct bench *b = bench_of(l);

	check(m);
	if (m->kind == LINK_REQUEST)
		b->newest = m->tag;
	if (m->kind == LINK_NOTICE && m->tag)
		b->notice = m->tag;
	return CLEAT_OK;
}

static void nothing(struct link *l)
{
	(void)l;
}

static void forget(struct link *l, void *tag)
{
	(void)l;
	require(tag != NULL);
}

static int fall_back(struct link *l)
{
	return bench_of(l)->flags & RESTART ? CLEAT_EUNSUPPORTED : CLEAT_OK;
}

static const struct link_ops link_ops = { .open = nothing,
					  .send = on_send,
					  .forget = forget,
					  .listen = nothing,
					  .reset = nothing,
					  .fall_back = fall_back,
					  .close = nothing,
					  .free = nothing };

/* ---- who is asked ---------------------------------------------------------------------------- */

static void answer(struct bench *b, size_t i, bool error)
{
	void *tag = b->questions[i].tag;
	struct buf *out = b->sink.begin(b->sink.ctx, tag);
	char id[32];

	snprintf(id, sizeof id, "%s", b->questions[i].id);
	b->questions[i] = b->questions[--b->n_questions];
	if (out) {
		buf_printf(out, "{\"jsonrpc\":\"2.0\",\"id\":%s,%s}", id,
			   error ? "\"error\":{\"code\":-32603,\"message\":\"no\"}"
				 : "\"result\":{\"action\":\"accept\",\"content\":{}}");
		b->sink.end(b->sink.ctx, tag, PEER_ANSWER);
	}
	b->sink.ended(b->sink.ctx, tag, !out);
}

static size_t take(struct peer *p, const cleat_json *message, void *tag)
{
	struct bench *b = (struct bench *)(void *)((char *)p - offsetof(struct bench, peer));
	struct rpc_message m;
	size_t n = 0;

	require(rpc_classify(message, NULL, &m, NULL) == CLEAT_OK);
	if (m.kind == RPC_REQUEST && b->n_questions == MAX_QUESTIONS)
		n = PEER_LOST;
	else if (m.kind == RPC_REQUEST) {
		struct str s = json_str(m.id);

		b->questions[b->n_questions].tag = tag;
		snprintf(b->questions[b->n_questions].id, sizeof b->questions[0].id, "%s",
			 s.p ? "\"s\""
			 : cleat_json_number_text(m.id) && strlen(cleat_json_number_text(m.id)) < 30
				 ? cleat_json_number_text(m.id)
				 : "1");
		n = 1;
		b->n_questions++;
		if (b->flags & AT_ONCE)
			answer(b, b->n_questions - 1, false);
	}
	return n;
}

static void close_peer(struct peer *p)
{
	((struct bench *)(void *)((char *)p - offsetof(struct bench, peer)))->n_questions = 0;
}

static const struct peer_ops peer_ops = { .take = take, .close = close_peer };

static struct peer *asked(void *ctx, const struct peer_sink *sink, const struct peer_facts *facts)
{
	struct bench *b = ctx;

	require(facts->mode == PEER_ASKED && facts->rev >= 0 && facts->rev < REV_COUNT);
	b->sink = *sink;
	b->peer.ops = &peer_ops;
	return &b->peer;
}

/* ---- the program ----------------------------------------------------------------------------- */

static uint64_t now_ms(void *ctx)
{
	return ((struct bench *)ctx)->now;
}

static void wake(void *ctx)
{
	(void)ctx;
}

static uint32_t bits(void *ctx)
{
	return (uint32_t)((struct bench *)ctx)->now * 2654435761u;
}

static int handler(cleat_request *req)
{
	(void)req;
	return CLEAT_OK;
}

static void begin(struct bench *b, char what);

static void on_done(cleat_call *call, cleat_result *r)
{
	struct bench *b = cleat_call_userdata(call);

	require(!b->inside);
	b->ended++;
	for (size_t i = 0; i < MAX_CALLS; i++)
		if (b->calls[i] == call)
			b->calls[i] = NULL;
	cleat_result_text(r);
	cleat_result_items(r);
	cleat_result_free(r);
	if (b->flags & REENTER && b->begun < 40)
		begin(b, 'c');
}

static void on_progress(cleat_call *call, double done, double total, const char *message)
{
	(void)done;
	(void)total;
	require(message != NULL);
	if (((struct bench *)cleat_call_userdata(call))->flags & REENTER)
		client_call_cancel(call);
}

static cleat_call *make_call(cleat_client *c, const cleat_call_options *o, const char *method,
			     const char *params)
{
	cleat_doc *doc = cleat_doc_parse(params, strlen(params), NULL, NULL, NULL);
	struct build b;
	cleat_call *call = client_call_new(c, &b);

	build_value(&b, cleat_doc_root(doc));
	cleat_doc_free(doc);
	return call ? client_call(call, o, str_of(method), &b) : NULL;
}

static void begin(struct bench *b, char what)
{
	static const struct {
		char what;
		const char *method, *params;
	} rows[] = {
		{ 'c', "tools/call", "{\"name\":\"t\",\"arguments\":{\"a\":1}}" },
		{ 'r', "resources/read", "{\"uri\":\"file:///x\"}" },
		{ 'p', "prompts/get", "{\"name\":\"p\"}" },
		{ 'L', "tools/list", "{}" },
		{ 'b', "x", "[]" },
	};
	cleat_call_options o = { .on_done = on_done, .on_progress = on_progress, .userdata = b };
	cleat_call *call = NULL;
	size_t slot = 0;

	while (slot < MAX_CALLS && b->calls[slot])
		slot++;
	if (slot == MAX_CALLS)
		return;
	b->inside = true;
	for (size_t i = 0; i < CLEAT_COUNT(rows); i++)
		if (rows[i].what == what)
			call = make_call(b->c, &o, rows[i].method, rows[i].params);
	if (what == 'l')
		call = client_call_list(b->c, &o, CLEAT_LIST_TOOLS);
	b->inside = false;
	b->begun += call != NULL;
	b->calls[slot] = call;
}

static void on_change(cleat_watch *w, enum cleat_change_kind what, const char *uri)
{
	struct bench *b = cleat_watch_userdata(w);

	require((uri != NULL) == (what == CLEAT_CHANGE_RESOURCE));
	for (size_t i = 0; b->flags & REENTER && i < MAX_WATCHES; i++)
		if (b->watches[i] == w) {
			b->watches[i] = NULL;
			cleat_watch_free(w);
			return;
		}
}

static void toggle_watch(struct bench *b, unsigned i)
{
	static const char *const uris[] = { "file:///x", "file:///y", NULL };

	if (b->watches[i]) {
		cleat_watch_free(b->watches[i]);
		b->watches[i] = NULL;
		return;
	}
	b->watches[i] =
		cleat_client_watch(b->c, &(cleat_watch_options){ .lists = i + 1,
								 .uris = i & 1 ? uris : NULL,
								 .on_change = on_change,
								 .userdata = b });
}

/* ---- what happens ----------------------------------------------------------------------------- */

static void pump(struct bench *b)
{
	for (int i = 0; i < 1000; i++)
		if (client_pump(b->c) != 0)
			return;
	abort(); /* for ever */
}

static void fail_newest(struct bench *b, int http_status, bool session_lost)
{
	struct link_failure f = { .error = { .status = CLEAT_EIO, .message = "failed" },
				  .step = http_status ? CLEAT_STEP_HTTP : CLEAT_STEP_EXCHANGE,
				  .http_status = http_status,
				  .unsent = !http_status,
				  .session_lost = session_lost };

	b->ev.failed(b->ev.ctx, session_lost && !b->newest ? b->notice : b->newest, &f);
}

static void happen(struct bench *b, char what, char more)
{
	struct link_failure why = { .error = { .status = CLEAT_ECLOSED, .message = "gone" },
				    .step = CLEAT_STEP_EXCHANGE };

	switch (what) {
	case 'u': b->ev.up(b->ev.ctx, more == '!' ? &why : NULL); break;
	case 'd': b->ev.down(b->ev.ctx, &why); break;
	case 't': b->now += 1000; break;
	case 'T': b->now += 100000; break;
	case 'x':
		if (b->calls[(unsigned char)more % MAX_CALLS])
			client_call_cancel(b->calls[(unsigned char)more % MAX_CALLS]);
		break;
	case 'm':
		if (b->calls[(unsigned char)more % MAX_CALLS])
			client_call_mark(b->calls[(unsigned char)more % MAX_CALLS]);
		client_cancel_marked(b->c);
		break;
	case 'f':
		fail_newest(b,
			    more == '4'   ? 404
			    : more == '5' ? 500
			    : more == '1' ? 401
					  : 0,
			    false);
		break;
	case 's': fail_newest(b, 404, true); break;
	case 'a': b->ev.accepted(b->ev.ctx, b->notice); break;
	case 'o': b->ev.oversize(b->ev.ctx, more == 'n' ? NULL : b->newest, 100); break;
	case 'g': b->ev.gap(b->ev.ctx); break;
	case 'q':
		if (b->n_questions)
			answer(b, 0, more == '!');
		break;
	case 'w': toggle_watch(b, (unsigned char)more % MAX_WATCHES); break;
	case 'n': client_notify(b->c, STR_LIT("notifications/x"), json_empty_object()); break;
	case 'R': client_roots_changed(b->c); break;
	default: begin(b, what); break;
	}
	pump(b);
}

/* $ becomes the id of our newest request. */
static void say(struct bench *b, struct str line)
{
	struct buf text;

	buf_init(&text, NULL, 1 << 20);
	for (size_t i = 0; i < line.n; i++)
		if (line.p[i] == '$')
			buf_printf(&text, "%u", (unsigned)(uintptr_t)b->newest);
		else
			buf_putc(&text, line.p[i]);
	buf_reserve(&text, 1);
	b->ev.message(b->ev.ctx,
		      (struct str){ buf_size(&text) ? buf_str(&text).p : "", buf_size(&text) },
		      b->flags & HTTP && !(b->flags & LOCAL) ? b->newest : NULL,
		      b->flags & HTTP ? 200 : 0);
	buf_done(&text);
	pump(b);
}

static void play(struct bench *b, struct str in)
{
	for (int lines = 0; in.n && lines < MAX_LINES; lines++) {
		const char *nl = memchr(in.p, '\n', in.n);
		struct str line = { in.p, nl ? (size_t)(nl - in.p) : in.n };

		if (line.n > 1 && line.p[0] == '!')
			happen(b, line.p[1], line.n > 2 ? line.p[2] : 0);
		else
			say(b, line);
		in.p += line.n + (nl != NULL);
		in.n -= line.n + (nl != NULL);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bench b = { .now = 1 };
	cleat_allocator mem = fuzz_allocator(&b.memory);
	cleat_client_options o = { .on_form = handler,
				   .on_sampling = handler,
				   .offer_roots = true,
				   .max_pages = 5,
				   .max_rounds = 3,
				   .log_level = "info",
				   .allocator = &mem };
	struct client_hooks hooks = { now_ms, wake, bits, asked, &b };

	if (size < 2)
		return 0;
	b.flags = data[0];
	b.memory =
		(struct fuzz_memory){ .countdown = data[1], .for_good = (b.flags & FOREVER) != 0 };
	b.link = (struct link){ .ops = &link_ops,
				.http = b.flags & HTTP,
				.process = !(b.flags & HTTP),
				.local = b.flags & LOCAL };
	o.era = b.flags & LEGACY ? CLEAT_ERA_LEGACY : CLEAT_ERA_AUTO;
	o.restart = b.flags & RESTART;
	b.c = client_new(&o, &hooks);
	if (!b.c)
		return 0;
	client_set_link(b.c, &b.link);
	b.ev = client_link_events(b.c);
	begin(&b, 'c');
	play(&b, (struct str){ (const char *)data + 2, size - 2 });
	for (size_t i = 0; i < MAX_WATCHES; i++)
		cleat_watch_free(b.watches[i]);
	b.flags &= ~(unsigned)REENTER;
	client_close(b.c);
	require(b.begun == b.ended);
	client_free(b.c);
	return 0;
}
