/* tests/unit/link_support.h - a link and what came of it, for the tests of links that are streams.
 */
#ifndef TESTS_LINK_SUPPORT_H
#define TESTS_LINK_SUPPORT_H

#include "link/links.h"
#include "unit/child/child_support.h"

struct link_rig {
	cleat_loop *loop;
	size_t fds; /* that were open before */
	struct link *link;
	struct link_base_options o;
	cleat_error err;
	unsigned ups, downs, closes, messages, oversizes, notes, failures;
	bool up_failed;
	struct link_failure why; /* of the last up or down that failed, or `failed` */
	void *failed_tag;
	size_t bytes;
	char got[65536]; /* messages: "text|text|" */
	char last_note[300];
	char said[4096]; /* stderr: "line|" */
	/* what to do inside an event: the name of the event, and of the op */
	const char *on, *act;
	bool inside; /* an op runs: no event may come */
	bool echoes; /* messages go back where they came from */
};

static inline void rig_act(struct link_rig *r, const char *event)
{
	assert_false(r->inside);
	if (!r->on || strcmp(r->on, event) != 0)
		return;
	r->on = NULL;
	r->inside = true;
	if (strcmp(r->act, "free") == 0) {
		r->link->ops->free(r->link);
		r->link = NULL;
	} else if (strcmp(r->act, "close") == 0) {
		r->link->ops->close(r->link);
	} else if (strcmp(r->act, "open") == 0) {
		r->link->ops->open(r->link);
	} else if (strcmp(r->act, "renew") == 0) {
		r->link->ops->reset(r->link);
		r->link->ops->open(r->link);
	}
	r->inside = false;
}

static inline void rig_add(char *to, size_t room, struct str text)
{
	size_t n = strlen(to), take = text.n < room - n - 2 ? text.n : room - n - 2;

	memcpy(to + n, text.p, take);
	memcpy(to + n + take, "|", 2);
}

static inline void rig_message(void *ctx, struct str text, void *tag, int http)
{
	struct link_rig *r = ctx;

	assert_null(tag);
	assert_int_equal(http, 0);
	r->messages++;
	r->bytes += text.n;
	rig_add(r->got, sizeof r->got, text);
	rig_act(r, "message");
	if (r->echoes)
		r->link->ops->send(r->link, &(struct link_message){ .text = text });
}

static inline void rig_failed(void *ctx, void *tag, const struct link_failure *why)
{
	struct link_rig *r = ctx;

	r->failures++;
	r->failed_tag = tag;
	r->why = *why;
	rig_act(r, "failed");
}

static inline void rig_down(void *ctx, const struct link_failure *why)
{
	struct link_rig *r = ctx;

	r->downs++;
	r->why = *why;
	rig_act(r, "down");
}

static inline void rig_up(void *ctx, const struct link_failure *why)
{
	struct link_rig *r = ctx;

	r->ups++;
	r->up_failed = why != NULL;
	if (why)
		r->why = *why;
	rig_act(r, "up");
}

static inline void rig_oversize(void *ctx, void *tag, size_t limit)
{
	struct link_rig *r = ctx;

	assert_null(tag);
	r->oversizes++;
	r->bytes = limit;
	rig_act(r, "oversize");
}

static inline void rig_note(void *ctx, int level, const char *text)
{
	struct link_rig *r = ctx;

	(void)level;
	r->notes++;
	snprintf(r->last_note, sizeof r->last_note, "%s", text);
	rig_act(r, "note");
}

static inline void rig_err_line(void *ctx, const char *line)
{
	struct link_rig *r = ctx;

	rig_add(r->said, sizeof r->said, str_of(line));
	rig_act(r, "err_line");
}

static inline void rig_closed(void *ctx)
{
	struct link_rig *r = ctx;

	r->closes++;
	rig_act(r, "closed");
}

static inline void rig_init(struct link_rig *r)
{
	memset(r, 0, sizeof *r);
	r->fds = open_fds();
	r->loop = cleat_loop_new(NULL);
	assert_non_null(r->loop);
	r->o = (struct link_base_options){ .loop = r->loop,
					   .max_message = 1 << 20,
					   .events = { .message = rig_message,
						       .failed = rig_failed,
						       .down = rig_down,
						       .up = rig_up,
						       .oversize = rig_oversize,
						       .note = rig_note,
						       .err_line = rig_err_line,
						       .closed = rig_closed,
						       .ctx = r } };
}

static inline void rig_done(struct link_rig *r)
{
	r->inside = true;
	if (r->link)
		r->link->ops->free(r->link);
	r->inside = false;
	r->link = NULL;
	assert_int_equal(cleat_loop_step(r->loop, 0), CLEAT_ECLOSED); /* nothing is attached */
	cleat_loop_free(r->loop);
	assert_true(no_children());
	UNTIL_TRUE(open_fds() <=
		   r->fds); /* a question that was given up has its own a little longer */
}

/* Any op; no event may come from inside it. */
static inline void rig_open(struct link_rig *r)
{
	r->inside = true;
	r->link->ops->open(r->link);
	r->inside = false;
}

static inline void rig_close(struct link_rig *r)
{
	r->inside = true;
	r->link->ops->close(r->link);
	r->inside = false;
}

static inline int rig_send(struct link_rig *r, const char *text, size_t n)
{
	struct link_message m = { .text = { text, n }, .kind = LINK_REQUEST, .tag = r };
	int rc;

	r->inside = true;
	rc = r->link->ops->send(r->link, &m);
	r->inside = false;
	return rc;
}

static inline void rig_say(struct link_rig *r, const char *text)
{
	assert_int_equal(rig_send(r, text, strlen(text)), CLEAT_OK);
}

/* Opens and waits for `up`. */
static inline void rig_up_now(struct link_rig *r)
{
	unsigned before = r->ups;

	rig_open(r);
	assert_int_equal(r->ups, before);
	UNTIL(r->loop, r->ups > before);
	assert_false(r->up_failed);
}

static inline void rig_close_now(struct link_rig *r)
{
	rig_close(r);
	assert_int_equal(r->closes, 0);
	UNTIL(r->loop, r->closes > 0);
	assert_int_equal(r->closes, 1);
}

/* A case on a rig, which it begins itself. */
#define RIG_TEST(name) TEST_ON(name, struct link_rig, r, (void)0, rig_done)

#endif
