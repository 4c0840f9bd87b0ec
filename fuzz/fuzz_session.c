/* fuzz/fuzz_session.c - hostile bytes to a whole server: the fixture of tests/wire over a wire.
 *
 * Input: a byte of flags, a byte that says which allocation fails (its high bit: and all that follow),
 * then what a client would send.
 * Invariants: what comes out are lines, each of them JSON-RPC by our own reader; after the end
 * nothing leaks. Which answers are right is the business of the transcripts.
 */
#include "memory.h"
#include "messages.h"
#include "json/parse.h"

#include "../tests/wire/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bits of the first byte. */
enum {
	SLICES = 3,     /* 0 whole, 1 bytes, 2 odd, 3 lines */
	HANDSHAKE = 28, /* 0 none, 4 2024-11-05, 8 2025-03-26, 12 2025-06-18, 16 2025-11-25 */
	TIGHT = 32,     /* small limits */
	TIME = 64,      /* time passes between the slices */
	HANG_UP = 128   /* free without end of input */
};

struct bench {
	cleat_server *server;
	cleat_wire *wire;
	struct fixture fixture;
	uint64_t now;
	char *line; /* output that is not a whole line yet */
	size_t n, cap;
	struct fuzz_memory memory;
};

/* ---- time ---- */

static uint64_t bench_now(void *userdata)
{
	return ((struct bench *)userdata)->now;
}

/* ---- the way out ---- */

static void take_byte(struct bench *b, char c)
{
	if (c == '\n') {
		check_messages(b->line, b->n);
		b->n = 0;
		return;
	}
	if (b->n == b->cap) {
		b->cap = b->cap * 2 + 256;
		b->line = realloc(b->line, b->cap);
		require(b->line != NULL);
	}
	b->line[b->n++] = c;
}

static void drain(struct bench *b)
{
	const void *p;
	size_t n;

	while ((n = cleat_wire_peek(b->wire, &p)) > 0) {
		for (size_t i = 0; i < n; i++)
			take_byte(b, ((const char *)p)[i]);
		cleat_wire_consume(b->wire, n);
	}
}

/* ---- the way in ---- */

static void feed(struct bench *b, const char *p, size_t n)
{
	while (cleat_wire_feed(b->wire, p, n) == CLEAT_ELIMIT)
		drain(b);
	cleat_wire_poll(b->wire);
	drain(b);
}

static void shake_hands(struct bench *b, unsigned which)
{
	static const char *const revisions[] = { "2024-11-05", "2025-03-26", "2025-06-18",
						 "2025-11-25" };
	char text[400];

	if (which == 0 || which > CLEAT_COUNT(revisions))
		return;
	snprintf(
		text, sizeof text,
		"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
		"\"protocolVersion\":\"%s\",\"capabilities\":{\"roots\":{},\"sampling\":{\"tools\":{}},"
		"\"elicitation\":{\"form\":{},\"url\":{}}},\"clientInfo\":{\"name\":\"fuzz\",\"version\":"
		"\"1\"}}}\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n",
		revisions[which - 1]);
	feed(b, text, strlen(text));
}

static size_t slice(unsigned how, const char *p, size_t n, size_t turn)
{
	static const size_t odd[] = { 3, 1, 7, 64, 2 };
	const char *nl = memchr(p, '\n', n);
	size_t k = how == 1   ? 1
		   : how == 2 ? odd[turn % CLEAT_COUNT(odd)]
		   : how == 3 ? (nl ? (size_t)(nl - p) + 1 : n)
			      : n;

	return k < n ? k : n;
}

static void feed_all(struct bench *b, unsigned flags, const char *p, size_t n)
{
	size_t turn = 0;

	while (n) {
		size_t k = slice(flags & SLICES, p, n, turn++);

		feed(b, p, k);
		p += k;
		n -= k;
		if (flags & TIME)
			b->now += 40;
		if ((flags & TIME) && turn % 16 == 0)
			fixture_finish_all(&b->fixture);
	}
	cleat_wire_poll(b->wire);
	drain(b);
}

/* ---- one run ---- */

static bool open_bench(struct bench *b, unsigned flags)
{
	cleat_allocator mem = fuzz_allocator(&b->memory);
	cleat_server_options o = { .userdata = &b->fixture,
				   .allocator = &mem,
				   .max_reply = 1 << 20 };
	cleat_wire_options w = { .now = bench_now, .userdata = b };

	if (flags & TIGHT) {
		o.page_size = 3;
		o.max_inflight = 2;
		o.max_queued = 2;
		o.max_subscriptions = 2;
		o.max_rounds = 2;
		o.max_message = 2000;
		o.max_reply = 3000;
		o.json.max_depth = 16;
		o.json.max_nodes = 200;
		o.request_timeout_ms = 500;
		o.ask_timeout_ms = 200;
	}
	b->server = cleat_server_new("fuzz", "1", &o);
	fixture_add_all(b->server);
	b->wire = cleat_wire_server(b->server, &w);
	return b->wire != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bench *b;
	unsigned flags;

	if (size < 2)
		return 0;
	b = calloc(1, sizeof *b);
	require(b != NULL);
	flags = data[0];
	require(open_bench(b, flags));
	shake_hands(b, (flags & HANDSHAKE) >> 2);
	b->memory.countdown = (size_t)(data[1] & 0x7f) * 3;
	b->memory.for_good = (data[1] & 0x80) != 0;
	feed_all(b, flags, (const char *)data + 2, size - 2);
	b->memory.countdown = 0;
	b->memory.failing = false;
	if (!(flags & HANG_UP)) {
		cleat_wire_eof(b->wire);
		drain(b);
		require(b->n == 0); /* the last line has ended, too */
	}
	cleat_wire_free(b->wire);
	fixture_finish_all(&b->fixture);
	cleat_server_free(b->server);
	free(b->line);
	free(b);
	return 0;
}
