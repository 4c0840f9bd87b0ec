/* fuzz_transcript.c - what the debugging verbs read: transcripts and what a client says to them, messages that
 * are checked.
 *
 * The first byte says which. A line that is written reads back; what the mock says is JSON.
 */
#include "check/protocol.h"
#include "record/replay.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const struct verb verb = { .name = "replay" };
static struct cli cli = { .verb = &verb, .quiet = true, .json = true };

/* ---- a transcript, a zero, what a client says ------------------------------------------------- */

static void on_say(void *ctx, void *place, const char *line, int answer)
{
	cleat_doc *doc = cleat_doc_parse(line, strlen(line), NULL, NULL, NULL);
	size_t *n = ctx;

	(void)place;
	/* Deeper than the limit it may be by as much as a message is wrapped. */
	if (!doc && answer != MOCK_NO_ANSWER && answer != MOCK_RESULT && *line != '{')
		abort();
	++*n;
	cleat_doc_free(doc);
}

static void play(const char *data, size_t size)
{
	const char *zero = memchr(data, 0, size);
	size_t n = zero ? (size_t)(zero - data) : size, said = 0;
	struct tape t;

	if (tape_parse(NULL, "fuzz", data, n, &t) == EXIT_GOOD) {
		struct mock_outlet outlet = { on_say, &said };
		struct mock *m = mock_new(&cli, &t, &outlet);

		for (size_t i = 0; i < t.n; i++)
			if (t.lines[i].partner != TAPE_NONE &&
			    t.lines[t.lines[i].partner].partner != i)
				abort();
		data += n;
		size -= n;
		while (size > 1) {
			const char *end = memchr(data + 1, '\n', size - 1);
			size_t length = end ? (size_t)(end - data - 1) : size - 1;

			mock_message(m, &t, data + 1, length);
			data += length + 1;
			size -= length + 1;
		}
		mock_gone(m, &t);
		mock_free(m);
	}
	tape_free(&t);
}

static void write_down(const char *data, size_t size)
{
	struct text t = { 0 };
	cleat_doc *doc;

	transcript_line(&t, 0, size & 1, data, size);
	/* One level deeper than the message was. */
	doc = cleat_doc_parse(t.p, t.n, &(cleat_json_limits){ .max_depth = 130 }, NULL, NULL);
	if (!doc || memchr(t.p, '\n', t.n) != t.p + t.n - 1)
		abort();
	cleat_doc_free(doc);
	text_free(&t);
}

/* ---- messages ---------------------------------------------------------------------------------- */

static void on_finding(void *ctx, const struct protocol_finding *f)
{
	size_t *n = ctx;

	if (!f->rule || !f->pointer || !f->text || !*f->text)
		abort();
	*n += !f->warning;
}

/* A line each; the first byte of it says who says it. */
static void check(const char *data, size_t size)
{
	static const char *const revisions[] = { NULL,         "2024-11-05", "2025-03-26",
						 "2025-06-18", "2025-11-25", "2026-07-28" };
	struct protocol *p =
		protocol_new(revisions[(unsigned char)data[0] % CLEAT_COUNT(revisions)]);

	while (size) {
		const char *end = memchr(data, '\n', size);
		size_t n = end ? (size_t)(end - data) : size, errors = 0;
		struct protocol_message m;

		if (n && protocol_check_text(p, (enum protocol_side)(data[0] & 1 ? 1 : 2), data + 1,
					     n - 1, on_finding, &errors, &m) != errors)
			abort();
		if (n && (!m.kind || (strcmp(m.kind, "message") != 0 && !m.revision)))
			abort();
		data += end ? n + 1 : n;
		size -= end ? n + 1 : n;
	}
	protocol_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Of exactly this size, and terminated as files are when they were read. */
	char *text;

	if (size < 2)
		return 0;
	text = malloc(size);
	if (!text)
		return 0;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = 0;
	switch (data[0] % 3) {
	case 0: play(text, size - 1); break;
	case 1: write_down(text, size - 1); break;
	default: check(text, size - 1); break;
	}
	free(text);
	keep_free_all();
	return 0;
}
