/* test_store_model.c - the store in memory against a model of it: a hundred thousand calls made up at
 * random, under limits so small that something is purged or refused all the time. The model is one
 * array of events, searched from end to end; after every call it has to agree in the answer, in every
 * event replayed, and in all the counts.
 */
#include "test.h"
#include "unit/store/test_store.h"

#include <stdlib.h>

enum { IDS = 6, STREAMS = 4, MAX_SESSIONS = 4, MODEL_EVENTS = 1000, CALLS = 100000 };

struct model_event {
	unsigned session, stream;
	uint64_t number;
	size_t n;
	char fill;
};

static struct {
	bool there[IDS];
	uint64_t used[IDS], order[IDS]; /* last use: when, and after how many others */
	bool known[IDS][STREAMS];
	uint64_t last[IDS][STREAMS];
	struct model_event events[MODEL_EVENTS]; /* oldest first */
	size_t n;
	size_t cost, max_all, max_session;
	uint64_t uses;
	size_t purged, complete,
		missed; /* events; replays with events; replays that were refused */
} model;

static const char *const ids[IDS] = { "s0", "s1", "s2", "s3", "s4", "s5" };

/* ---- the model ---------------------------------------------------------------------------- */

static void model_remove(size_t i)
{
	model.n--;
	memmove(&model.events[i], &model.events[i + 1], (model.n - i) * sizeof model.events[0]);
}

/* stream == STREAMS: of all of them. */
static void model_clear(unsigned session, unsigned stream)
{
	for (size_t i = model.n; i-- > 0;)
		if (model.events[i].session == session &&
		    (stream == STREAMS || model.events[i].stream == stream))
			model_remove(i);
}

static void model_use(unsigned id)
{
	model.used[id] = now_ms;
	model.order[id] = model.uses++;
}

static size_t model_sessions(void)
{
	size_t n = 0;

	for (unsigned i = 0; i < IDS; i++)
		n += model.there[i];
	return n;
}

/* Bytes of a session; IDS: of all. */
static size_t model_bytes(unsigned session)
{
	size_t sum = 0;

	for (size_t i = 0; i < model.n; i++)
		if (session == IDS || model.events[i].session == session)
			sum += model.events[i].n + model.cost;
	return sum;
}

static void model_purge_oldest(unsigned session)
{
	for (size_t i = 0; i < model.n; i++)
		if (session == IDS || model.events[i].session == session) {
			model_remove(i);
			model.purged++;
			return;
		}
}

static int model_put(unsigned id)
{
	if (!model.there[id] && model_sessions() == MAX_SESSIONS)
		return CLEAT_ELIMIT;
	if (!model.there[id])
		memset(model.known[id], 0, sizeof model.known[id]);
	model.there[id] = true;
	model_use(id);
	return CLEAT_OK;
}

static int model_drop(unsigned id)
{
	if (!model.there[id])
		return CLEAT_ENOENT;
	model.there[id] = false;
	model_clear(id, STREAMS);
	return CLEAT_OK;
}

static int model_append(const struct model_event *e)
{
	uint64_t *last = &model.last[e->session][e->stream];
	bool *known = &model.known[e->session][e->stream];

	if (!model.there[e->session])
		return CLEAT_ENOENT;
	model_use(e->session);
	if (!*known)
		*last = 0;
	if (e->number <= *last)
		return CLEAT_EINVAL;
	if (e->n + model.cost > model.max_session || e->n + model.cost > model.max_all)
		return CLEAT_ELIMIT;
	if (e->number != *last + 1) /* what is before the gap is of no use */
		model_clear(e->session, e->stream);
	*known = true;
	*last = e->number;
	while (model_bytes(e->session) + e->n + model.cost > model.max_session)
		model_purge_oldest(e->session);
	while (model_bytes(IDS) + e->n + model.cost > model.max_all)
		model_purge_oldest(IDS);
	assert_true(model.n < MODEL_EVENTS);
	model.events[model.n++] = *e;
	return CLEAT_OK;
}

/* And the text that test_store.h makes of the events. */
static int model_replay(unsigned session, unsigned stream, uint64_t after, char *text)
{
	uint64_t want = after;

	*text = '\0';
	if (!model.there[session])
		return CLEAT_ENOENT;
	model_use(session);
	if (!model.known[session][stream])
		return after ? CLEAT_ENOENT : CLEAT_OK;
	if (after >= model.last[session][stream])
		return CLEAT_OK;
	for (size_t i = 0; i < model.n; i++) {
		const struct model_event *e = &model.events[i];

		if (e->session != session || e->stream != stream || e->number <= after)
			continue;
		if (e->number != want + 1)
			break;
		want = e->number;
		text += sprintf(text, "%" PRIu64 "=", e->number);
		memset(text, e->fill, e->n);
		text += e->n;
		*text++ = ' ';
		*text = '\0';
	}
	return want == model.last[session][stream] ? CLEAT_OK : CLEAT_ENOENT;
}

/* And the ids, in order of their last use. */
static void model_expire(uint64_t before, char *text)
{
	*text = '\0';
	for (;;) {
		unsigned oldest = IDS;

		for (unsigned i = 0; i < IDS; i++)
			if (model.there[i] && model.used[i] < before &&
			    (oldest == IDS || model.order[i] < model.order[oldest]))
				oldest = i;
		if (oldest == IDS)
			return;
		model_drop(oldest);
		text += sprintf(text, "%s ", ids[oldest]);
	}
}

static void model_check(const struct store *st)
{
	struct store_stats s = stats(st);
	size_t streams = 0;

	for (unsigned i = 0; i < IDS; i++)
		for (unsigned k = 0; k < STREAMS; k++)
			streams += model.there[i] && model.known[i][k];
	assert_int_equal(s.sessions, model_sessions());
	assert_int_equal(s.streams, streams);
	assert_int_equal(s.events, model.n);
	assert_int_equal(s.bytes, model_bytes(IDS));
}

/* ---- calls at random ---------------------------------------------------------------------- */

static uint32_t random_state;

/* Below n; the same numbers everywhere. */
static unsigned pick(unsigned n)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (random_state >> 8) % n;
}

static char wanted[sizeof events];

static void call_append(struct store *st, unsigned id, unsigned stream)
{
	static char bytes[1000];
	struct model_event e = { .session = id, .stream = stream, .fill = (char)('a' + pick(26)) };
	uint64_t last = model.known[id][stream] ? model.last[id][stream] : 0;

	/* Mostly the next; sometimes an old one, or one is left out. */
	e.number = pick(20) ? last + 1 : last + pick(4) - (last ? pick(2) : 0);
	e.n = pick(30) ? pick(200) : pick(sizeof bytes);
	memset(bytes, e.fill, e.n);
	assert_int_equal(append_bytes(st, ids[id], stream, e.number, (struct str){ bytes, e.n }),
			 model_append(&e));
}

static void call_replay(struct store *st, unsigned id, unsigned stream)
{
	uint64_t last = model.known[id][stream] ? model.last[id][stream] : 0;
	uint64_t back = pick(pick(2) ? 3 : 8), after = back > last ? 0 : last - back;
	int want;

	if (pick(10) == 0)
		after = last + pick(3);
	want = model_replay(id, stream, after, wanted);
	assert_int_equal(replay(st, ids[id], stream, after), want);
	assert_string_equal(events, want == CLEAT_OK ? wanted : "");
	model.complete += want == CLEAT_OK && *events;
	model.missed += want == CLEAT_ENOENT;
}

static void call_any(struct store *st)
{
	unsigned id = pick(IDS), stream = pick(STREAMS), what = pick(100);

	now_ms += pick(3);
	if (what < 55) {
		call_append(st, id, stream);
	} else if (what < 80) {
		call_replay(st, id, stream);
	} else if (what < 88) {
		assert_int_equal(put(st, ids[id]), model_put(id));
	} else if (what < 92) {
		assert_int_equal(get(st, ids[id]), model.there[id] ? CLEAT_OK : CLEAT_ENOENT);
		if (model.there[id])
			model_use(id);
	} else if (what < 96) {
		st->ops->stream_drop(st, str_of(ids[id]), stream);
		model_clear(id, stream);
		model.known[id][stream] = false;
	} else if (what < 98) {
		uint64_t before = now_ms - pick(200);

		model_expire(before, wanted);
		assert_string_equal(expire(st, before), wanted);
	} else {
		assert_int_equal(drop(st, ids[id]), model_drop(id));
	}
	model_check(st);
}

/* Under the given limits, in costs of an event without data: the whole of it, or of a session. */
static void run(unsigned all, unsigned session, uint32_t seed)
{
	struct fail_alloc fa;
	struct store *st;

	fail_alloc_init(&fa, 0, false);
	memset(&model, 0, sizeof model);
	random_state = seed;
	now_ms = 1000;
	model.cost = event_cost();
	model.max_all = all * model.cost;
	model.max_session = session * model.cost;
	st = new_store(&fa, MAX_SESSIONS, model.max_all, model.max_session);
	assert_non_null(st);
	for (unsigned i = 0; i < CALLS / 4; i++)
		call_any(st);
	/* It was about something. */
	assert_true(model.purged > 1000 && model.complete > 50 && model.missed > 500);
	st->ops->free(st);
	assert_int_equal(fa.live, 0);
}

TEST(any_sequence_of_calls_does_what_the_model_does)
{
	run(30, 12, 1);  /* both limits are hit */
	run(20, 100, 2); /* that of all only */
	run(100, 8, 3);  /* that of a session only */
	run(3, 3, 4);    /* hardly anything fits */
}
