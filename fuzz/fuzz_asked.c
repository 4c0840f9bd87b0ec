/* fuzz/fuzz_asked.c - hostile questions to a client: the asked mode of the server role.
 *
 * Input: a byte of flags, a byte that says which allocation fails (its high bit: and all that follow),
 * then messages, one per line. The handlers answer with _meta.answer of the question where it has one,
 * so that the input decides on both sides of a form.
 * Invariants: every message that comes out is JSON; every request that was taken ends; the content of an
 * accepted form has strings, numbers, booleans and lists of strings only; nothing leaks.
 */
#include "memory.h"
#include "protocol/revision.h"
#include "run/runner.h"
#include "server/asked.h"
#include "json/parse.h"

#include <stdlib.h>
#include <string.h>

/* Bits of the first byte. */
enum {
	REVISION = 7, /* 5, 6 and 7 are 2026-07-28, too */
	TOOLS = 8,
	NO_URL = 16,
	NO_ROOTS = 32,
	TIGHT = 64, /* small limits */
	CLOSE = 128 /* before what is deferred has ended */
};

enum { HELD_MAX = 16 };

struct bench {
	struct buf out;
	size_t start, taken, ended;
	struct fuzz_memory memory;
	cleat_request *held[HELD_MAX];
	size_t n_held;
};

/* ---- the sink ---- */

static bool is_field(const cleat_json *v)
{
	cleat_json_iter it = cleat_json_each(v);

	if (!json_is_array(v))
		return !json_is_object(v) && cleat_json_type(v) != CLEAT_JSON_NULL;
	while (cleat_json_next(&it))
		if (!json_is_string(it.value))
			return false;
	return true;
}

static void check_message(const char *p, size_t n)
{
	cleat_doc *doc =
		cleat_doc_parse(p, n, &(cleat_json_limits){ .max_depth = 1024 }, NULL, NULL);
	const cleat_json *result = cleat_json_get(cleat_doc_root(doc), "result");
	cleat_json_iter it = cleat_json_each(cleat_json_get(result, "content"));

	require(doc != NULL);
	require(!cleat_json_get(result, "resultType") || cleat_json_get(result, "model"));
	if (cleat_json_get(result, "action"))
		while (cleat_json_next(&it))
			require(is_field(it.value));
	cleat_doc_free(doc);
}

static struct buf *begin(void *ctx, void *tag)
{
	struct bench *b = ctx;

	(void)tag;
	b->start = buf_size(&b->out);
	return &b->out;
}

static int end(void *ctx, void *tag, int kind)
{
	struct bench *b = ctx;
	int rc = buf_status(&b->out);

	(void)tag;
	if (!rc && kind != PEER_TAKE_BACK)
		check_message(buf_str(&b->out).p + b->start, buf_size(&b->out) - b->start);
	buf_truncate(&b->out, b->start);
	b->out.status = CLEAT_OK;
	return rc;
}

static void ended(void *ctx, void *tag, bool lost)
{
	(void)tag;
	(void)lost;
	((struct bench *)ctx)->ended++;
}

static bool congested(void *ctx)
{
	(void)ctx;
	return false;
}

/* ---- the handlers ---- */

static int hold(cleat_request *req, struct bench *b)
{
	if (b->n_held == HELD_MAX)
		return CLEAT_EDECLINED;
	b->held[b->n_held++] = req;
	cleat_request_defer(req);
	return CLEAT_PENDING;
}

static int handle(cleat_request *req)
{
	const cleat_json *answer = cleat_json_get(cleat_request_meta(req), "answer");
	const char *word = cleat_json_str(answer, "");

	if (strcmp(word, "no") == 0)
		return CLEAT_EDECLINED;
	if (strcmp(word, "hold") == 0)
		return hold(req, cleat_request_userdata(req));
	if (strcmp(word, "use") == 0) {
		cleat_reply_text(req, "so");
		return cleat_reply_tool_use(req, "i", "n", NULL);
	}
	if (json_is_string(answer)) {
		cleat_reply_model(req, word);
		cleat_reply_text(req, word);
		return cleat_reply_text(req, word);
	}
	return answer ? cleat_reply_json(req, answer) : cleat_reply_nothing(req);
}

/* One that ends lets one that waited begin, which may be held, too. */
static void finish_all(struct bench *b, cleat_server *s)
{
	while (b->n_held) {
		cleat_request_finish(b->held[--b->n_held], CLEAT_ECANCELLED);
		runner_drain(server_runner(s));
	}
}

/* ---- one run ---- */

static cleat_server *make(struct bench *b, unsigned flags)
{
	static const cleat_root root = { .uri = "file:///r", .name = "r" };
	const cleat_allocator mem = fuzz_allocator(&b->memory);
	const struct server_asked who = { .on_form = handle,
					  .on_url = flags & NO_URL ? NULL : handle,
					  .on_sampling = handle,
					  .sampling_tools = flags & TOOLS,
					  .userdata = b };
	cleat_server_options o = { .allocator = &mem, .max_reply = 1 << 20 };
	cleat_server *s;

	if (flags & TIGHT) {
		o.max_inflight = o.max_queued = 2;
		o.max_reply = 400;
		o.json.max_depth = 16;
		o.json.max_nodes = 200;
	}
	s = cleat_server_new("fuzz", "1", &o);
	require(s && !server_set_asked(s, &who) && runner_get(s));
	require(flags & NO_ROOTS || !server_set_roots(s, &root, 1));
	return s;
}

static void feed(struct bench *b, struct peer *p, const char *text, size_t n)
{
	while (n) {
		const char *nl = memchr(text, '\n', n);
		size_t k = nl ? (size_t)(nl - text) : n;
		size_t taken = p->ops->receive(p, (struct str){ text, k }, NULL, NULL);

		b->taken += taken == PEER_LOST ? 0 : taken;
		k += nl != NULL;
		text += k;
		n -= k;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleat_allocator mem;
	struct bench b = { 0 };
	const struct peer_sink sink = { begin, end, ended, NULL, congested, &b };
	struct peer_facts facts = { .mode = PEER_ASKED };
	cleat_server *s;
	struct peer *p;

	if (size < 2)
		return 0;
	facts.rev = data[0] & REVISION;
	if (facts.rev > REV_2026_07_28)
		facts.rev = REV_2026_07_28;
	mem = fuzz_allocator(&b.memory);
	buf_init(&b.out, &mem, 8 << 20);
	s = make(&b, data[0]);
	p = server_accept(s, &sink, &facts);
	require(p != NULL);
	b.memory.countdown = (size_t)(data[1] & 0x7f) * 2;
	b.memory.for_good = (data[1] & 0x80) != 0;
	feed(&b, p, (const char *)data + 2, size - 2);
	b.memory.countdown = 0;
	b.memory.failing = false;
	if (!(data[0] & CLOSE)) {
		finish_all(&b, s);
		require(runner_wait(server_runner(s), 10000));
		server_pump(s); /* what waited for memory */
		require(b.ended == b.taken && p->ops->inflight(p) == 0);
	}
	p->ops->close(p);
	finish_all(&b, s);
	cleat_server_free(s);
	buf_done(&b.out);
	return 0;
}
