/* tests/unit/test_store.h - a store with the test's own clock, and its calls with the answer as the
 * result: of a store that answers from inside the call.
 */
#ifndef TESTS_TEST_STORE_H
#define TESTS_TEST_STORE_H

#include "store/store.h"
#include "support.h"
#include "test.h"

#include <inttypes.h>
#include <stdio.h>

static uint64_t now_ms;

static uint64_t test_now(void *ctx)
{
	(void)ctx;
	return now_ms;
}

/* NULL only when `fa` makes memory fail. */
static inline struct store *new_store(struct fail_alloc *fa, size_t sessions, size_t event_bytes,
				      size_t session_bytes)
{
	const struct store_limits limits = { sessions, event_bytes, session_bytes };
	struct store *st = store_memory_new(fa ? &fa->hook : NULL, &limits, test_now, NULL);

	if (!fa)
		assert_non_null(st);
	return st;
}

static inline struct store_stats stats(const struct store *st)
{
	struct store_stats ret;

	store_memory_stats(st, &ret);
	return ret;
}

#define free_store(st) (*(st))->ops->free(*(st))
/* A case on a store with these limits. */
#define STORE_TEST(name, sessions, event_bytes, session_bytes)                                     \
	static void name##_at(struct store *st);                                                   \
	TEST_ON(name, struct store *, it,                                                          \
		*it = new_store(NULL, sessions, event_bytes, session_bytes), free_store)           \
	{                                                                                          \
		name##_at(*it);                                                                    \
	}                                                                                          \
	static void name##_at(struct store *st)

/* ---- answers ------------------------------------------------------------------------------ */

static int answer;
static size_t answers; /* since the call began: must be one */

static inline void note_status(void *ctx, int status)
{
	(void)ctx;
	answer = status;
	answers++;
}

static struct {
	int status;
	char id[40], principal[40], data[40]; /* the beginning */
	size_t data_n;
} got;

static inline void note_part(char to[40], struct str s)
{
	size_t n = s.n < 39 ? s.n : 39;

	assert_non_null(s.p);
	memcpy(to, s.p, n);
	to[n] = '\0';
}

static inline void note_session(void *ctx, int status, const struct store_session *s)
{
	note_status(ctx, status);
	got.status = status;
	if (status != CLEAT_OK) {
		assert_null(s);
		return;
	}
	note_part(got.id, s->id);
	note_part(got.principal, s->principal);
	note_part(got.data, s->data);
	got.data_n = s->data.n;
}

/* "number=data " for each event of a replay, or "id " for each session that expired. */
static char events[1 << 16];
static size_t events_n;

static inline void note_bytes(struct str s, char end)
{
	assert_true(events_n + s.n + 2 < sizeof events);
	if (s.n)
		memcpy(events + events_n, s.p, s.n);
	events_n += s.n;
	events[events_n++] = end;
	events[events_n] = '\0';
}

static inline void note_event(void *ctx, uint64_t number, struct str data)
{
	char text[24];
	int n = snprintf(text, sizeof text, "%" PRIu64, number);

	(void)ctx;
	note_bytes((struct str){ text, (size_t)n }, '=');
	note_bytes(data, ' ');
}

static inline void note_id(void *ctx, struct str id)
{
	(void)ctx;
	note_bytes(id, ' ');
}

/* ---- calls -------------------------------------------------------------------------------- */

static inline int one_answer(void)
{
	assert_int_equal(answers, 1);
	return answer;
}

static inline int put_session(struct store *st, const struct store_session *s)
{
	answers = 0;
	st->ops->session_put(st, s, note_status, NULL);
	return one_answer();
}

/* With "data of ID" as its data. */
static inline int put(struct store *st, const char *id)
{
	char data[64];
	int n = snprintf(data, sizeof data, "data of %s", id);
	const struct store_session s = { str_of(id), STR_LIT("p"), { data, (size_t)n } };

	return put_session(st, &s);
}

static inline int get(struct store *st, const char *id)
{
	answers = 0;
	st->ops->session_get(st, str_of(id), note_session, NULL);
	return one_answer();
}

static inline int drop(struct store *st, const char *id)
{
	answers = 0;
	st->ops->session_drop(st, str_of(id), note_status, NULL);
	return one_answer();
}

static inline int append_bytes(struct store *st, const char *id, uint64_t stream, uint64_t number,
			       struct str data)
{
	answers = 0;
	st->ops->append(st, str_of(id), stream, number, data, note_status, NULL);
	return one_answer();
}

static inline int append(struct store *st, const char *id, uint64_t stream, uint64_t number,
			 const char *text)
{
	return append_bytes(st, id, stream, number, str_of(text));
}

static inline int replay(struct store *st, const char *id, uint64_t stream, uint64_t after)
{
	answers = 0;
	events_n = 0;
	events[0] = '\0';
	st->ops->replay(st, str_of(id), stream, after, note_event, note_status, NULL);
	return one_answer();
}

static inline const char *expire(struct store *st, uint64_t before_ms)
{
	events_n = 0;
	events[0] = '\0';
	st->ops->expire(st, before_ms, note_id, NULL);
	return events;
}

/* What an event counts besides its data. */
static inline size_t event_cost(void)
{
	struct store *st = new_store(NULL, 0, 0, 0);
	size_t ret;

	assert_int_equal(put(st, "s"), CLEAT_OK);
	assert_int_equal(append(st, "s", 1, 1, ""), CLEAT_OK);
	ret = stats(st).bytes;
	assert_in_range(ret, 1, 200); /* as store.h says */
	st->ops->free(st);
	return ret;
}

#endif
