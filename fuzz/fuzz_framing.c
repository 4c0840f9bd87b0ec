/* fuzz_framing.c - lines must not depend on how their bytes were sliced, nor on pauses.
 *
 * The first two bytes give the limit and a seed for slices; the rest is the input. It is framed
 * three times: whole, in pseudo-random slices, and in slices with a pause after every line. All
 * three must see the same lines, none over the limit, and an over-long line exactly once.
 */
#include "net/framing.h"
#include "require.h"

#include <stdlib.h>

struct seen {
	uint32_t hash;
	size_t lines, lost, limit;
	bool pause;
};

static bool on_line(void *ctx, struct str line)
{
	struct seen *s = ctx;

	require(line.n > 0 && line.n <= s->limit);
	require(!memchr(line.p, '\n', line.n));
	s->hash = str_hash(line, s->hash + 1);
	s->lines++;
	return !s->pause;
}

static void on_oversize(void *ctx, size_t limit)
{
	struct seen *s = ctx;

	require(limit == s->limit);
	s->hash = s->hash * 31 + 7;
	s->lost++;
}

static struct seen run(const char *p, size_t n, size_t limit, uint32_t seed, bool pause)
{
	struct seen s = { .limit = limit, .pause = pause };
	struct framing_sink sink = { .line = on_line, .oversize = on_oversize, .ctx = &s };
	struct framing f;
	size_t at = 0;

	framing_init(&f, NULL, limit);
	while (at < n) {
		size_t k = n - at, used;

		if (seed) {
			seed = seed * 1664525u + 1013904223u;
			k = 1 + (seed >> 24) % 17;
			k = k < n - at ? k : n - at;
		}
		used = framing_feed(&f, p + at, k, &sink);
		require(used > 0 && used <= k && (used == k || pause));
		at += used;
		require(buf_size(&f.tail) <= limit + 1);
	}
	framing_end(&f, &sink);
	framing_done(&f);
	return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen whole, sliced, paused;
	const char *p = (const char *)data + 2;

	if (size < 2)
		return 0;
	whole = run(p, size - 2, data[0], 0, false);
	sliced = run(p, size - 2, data[0], data[1] + 1u, false);
	paused = run(p, size - 2, data[0], data[1] + 1u, true);
	require(whole.hash == sliced.hash && whole.lines == sliced.lines &&
		whole.lost == sliced.lost);
	require(whole.hash == paused.hash && whole.lines == paused.lines &&
		whole.lost == paused.lost);
	return 0;
}
