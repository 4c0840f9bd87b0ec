/* fuzz_bench_reader.c - answers as `cleat bench` reads them: any bytes, which must be read the same in all
 * slicings; and the messages in them, about which the scanner must agree with the library's parser wherever
 * that takes them for JSON.
 *
 * The first byte chooses: bit 0, lines instead of HTTP; bit 1, the connection ends behind the bytes.
 */
#include "bench/reader.h"
#include "bench/scan.h"
#include "require.h"

#include <cleat/json.h>

#include <stdlib.h>
#include <string.h>

#define MAX_SIZE ((size_t)256 * 1024)

/* ---- messages ----------------------------------------------------------------------------------- */

/* What the scanner is to say about a message, by its parsed form; keys that appear twice are nobody's. */
static enum scan_kind kind_of(const cleat_json *v)
{
	const cleat_json *result = cleat_json_get(v, "result");
	const char *type = cleat_json_str(cleat_json_get(result, "resultType"), "");

	if (cleat_json_type(v) != CLEAT_JSON_OBJECT)
		return SCAN_GARBAGE;
	if (cleat_json_type(cleat_json_get(v, "method")) == CLEAT_JSON_STRING)
		return cleat_json_get(v, "id") ? SCAN_REQUEST : SCAN_NOTICE;
	if (!result)
		return cleat_json_get(v, "error") ? SCAN_ERROR : SCAN_GARBAGE;
	if (cleat_json_bool(cleat_json_get(result, "isError"), false))
		return SCAN_TOOL_ERROR;
	return strcmp(type, "input_required") == 0 ? SCAN_ASKS : SCAN_RESULT;
}

static void check_message(const char *p, size_t n)
{
	cleat_doc *doc = cleat_doc_parse(p, n, NULL, NULL, NULL);
	const cleat_json *v = cleat_doc_root(doc), *result = cleat_json_get(v, "result");
	struct scan s;

	scan_message(p, n, &s);
	require(s.id_at + s.id_n <= n);
	require(!s.method || (s.method > p && s.method + s.method_n < p + n));
	if (v && !cleat_json_duplicate(v) && !(result && cleat_json_get(v, "error")) &&
	    !(cleat_json_get(result, "isError") && cleat_json_get(result, "resultType")) &&
	    !cleat_json_duplicate(result))
		require(s.kind == kind_of(v));
	cleat_doc_free(doc);
}

/* ---- answers ------------------------------------------------------------------------------------ */

struct seen {
	uint64_t hash;
	unsigned events, answers;
	bool bad;
};

static void add(struct seen *s, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		s->hash = (s->hash ^ (unsigned char)p[i]) * 1099511628211u;
	s->hash += n + 1;
}

static bool drain(struct reader *r, struct seen *s)
{
	for (;;) {
		enum reader_step step = reader_step(r);

		if (step == READER_MORE)
			return true;
		if (step == READER_BAD) {
			require(r->why != NULL);
			s->bad = true;
			return false;
		}
		if (r->body) {
			require(r->body >= r->buf && r->body + r->body_n <= r->buf + r->cap);
			add(s, r->body, r->body_n);
			check_message(r->body, r->body_n);
		}
		s->events += step == READER_EVENT;
		if (step != READER_DONE)
			continue;
		s->answers++;
		s->hash = s->hash * 31 + (unsigned)r->status * 2 + r->close;
		add(s, r->session, strlen(r->session));
		reader_next(r);
		if (!reader_started(r))
			return true;
	}
}

/* Slices of `step` bytes; 0: pseudo-random ones. */
static struct seen run(const char *p, size_t n, unsigned how, size_t step)
{
	struct seen s = { .hash = 1469598103934665603u };
	struct reader r;
	uint32_t seed = (uint32_t)n;
	bool go_on = true;

	require(reader_init(&r, how & 1, MAX_SIZE));
	for (size_t at = 0, room = 0; go_on && at < n;) {
		char *to = reader_room(&r, &room);
		size_t k = step;

		seed = seed * 1664525u + 1013904223u;
		k = k ? k : 1 + (seed >> 24) % 17;
		k = k < n - at ? k : n - at;
		require(to && k <= room); /* inputs are far smaller than the maximum */
		memcpy(to, p + at, k);
		reader_received(&r, k);
		at += k;
		go_on = drain(&r, &s);
	}
	if (go_on && how & 2 && reader_started(&r)) {
		reader_ended(&r);
		drain(&r, &s);
	}
	reader_done(&r);
	return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data + 1;
	struct seen whole, other;

	if (size < 1 || size > 8192)
		return 0;
	check_message(p, size - 1);
	whole = run(p, size - 1, data[0], 2048);
	for (size_t step = 0; step < 2; step++) {
		other = run(p, size - 1, data[0], step);
		require(whole.hash == other.hash && whole.bad == other.bad);
		require(whole.events == other.events && whole.answers == other.answers);
	}
	return 0;
}
