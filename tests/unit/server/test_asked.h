/* tests/unit/test_asked.h - a hidden server of a client on the bench (server/asked.h): questions go in as
 * messages, what the sink gets is kept as lines, the library's remarks are written down; and answers
 * held against the protocol's own JSON schemas.
 */
#ifndef TESTS_TEST_ASKED_H
#define TESTS_TEST_ASKED_H

#include "messages.h"
#include "run/runner.h"
#include "server/asked.h"
#include "support.h"
#include "test.h"

#include <cleat/cleat.h>
#include <cleat/schema.h>

#include <stdlib.h>
#include <string.h>

#include "protocol/revision.h"

struct bench {
	cleat_server *s;
	struct runner *r;
	struct peer *p;
	struct buf out;    /* all messages since the last bench_clear(), one per line */
	size_t message_at; /* where the one at hand begins */
	bool refuse;       /* the sink can send nothing */
	size_t ended, lost;
	char notes[16384];
};

static inline void bench_note(void *userdata, int level, const char *message)
{
	struct bench *b = userdata;
	size_t n = strlen(b->notes);

	snprintf(b->notes + n, sizeof b->notes - n, "%s: %s\n", cleat_log_level_name(level),
		 message);
}

static inline struct buf *bench_begin(void *ctx, void *tag)
{
	struct bench *b = ctx;

	(void)tag;
	b->message_at = buf_size(&b->out);
	return b->refuse ? NULL : &b->out;
}

static inline int bench_end(void *ctx, void *tag, int kind)
{
	struct bench *b = ctx;
	int rc = buf_status(&b->out);

	(void)tag;
	if (rc || kind == PEER_TAKE_BACK) {
		buf_truncate(&b->out, b->message_at);
		b->out.status = CLEAT_OK;
		return rc;
	}
	buf_putc(&b->out, '\n');
	return CLEAT_OK;
}

static inline void bench_ended(void *ctx, void *tag, bool lost)
{
	struct bench *b = ctx;

	(void)tag;
	b->ended++;
	b->lost += lost;
}

static inline bool bench_congested(void *ctx)
{
	(void)ctx;
	return false;
}

/* A server that can be asked `who`, and no connection yet. */
static inline void bench_server(struct bench *b, const struct server_asked *who,
				const cleat_server_options *opts)
{
	cleat_server_options o = opts ? *opts : (cleat_server_options){ 0 };

	*b = (struct bench){ 0 };
	o.log = bench_note;
	o.userdata = b;
	buf_init(&b->out, o.allocator, 64 << 20);
	b->s = cleat_server_new("client", "1", &o);
	assert_non_null(b->s);
	assert_int_equal(server_set_asked(b->s, who), CLEAT_OK);
	b->r = who->blocking ? runner_with_loop(b->s) : runner_get(b->s);
	assert_non_null(b->r);
}

static inline struct peer *bench_accept(struct bench *b, enum revision rev)
{
	const struct peer_sink sink = { .begin = bench_begin,
					.end = bench_end,
					.ended = bench_ended,
					.congested = bench_congested,
					.ctx = b };

	return server_accept(b->s, &sink, &(struct peer_facts){ .mode = PEER_ASKED, .rev = rev });
}

static inline void bench_start(struct bench *b, enum revision rev, const struct server_asked *who)
{
	bench_server(b, who, NULL);
	b->p = bench_accept(b, rev);
	assert_non_null(b->p);
}

static inline void bench_stop(struct bench *b)
{
	if (b->p)
		b->p->ops->close(b->p);
	cleat_server_free(b->s);
	buf_done(&b->out);
}

static inline const char *bench_text(struct bench *b)
{
	buf_putc(&b->out, '\0');
	assert_int_equal(buf_status(&b->out), CLEAT_OK);
	buf_truncate(&b->out, buf_size(&b->out) - 1);
	return buf_str(&b->out).p;
}

static inline size_t bench_say(struct bench *b, const char *message)
{
	return b->p->ops->receive(b->p, str_of(json_of(message)), NULL, NULL);
}

/* One message, and all that was sent since. */
static inline const char *bench_ask(struct bench *b, const char *message)
{
	buf_truncate(&b->out, 0);
	bench_say(b, message);
	return bench_text(b);
}

/* Waits for handlers on other threads. */
static inline const char *bench_wait(struct bench *b)
{
	assert_true(runner_wait(b->r, 60000));
	return bench_text(b);
}

/* ---- the protocol's schemas ----------------------------------------------------------------- */

/* The schema of this type in this revision, as published; NULL when there is no test data. */
static inline cleat_schema *published(enum revision rev, const char *type)
{
	char path[512], name[64], ref[128], *text;
	cleat_schema_set *set = cleat_schema_set_new(NULL);
	cleat_doc *doc;
	cleat_schema *s;
	cleat_error err;
	size_t n;

	snprintf(name, sizeof name, "mcp-schema/%s/schema.json", revision_name(rev));
	if (!support_data_path(path, sizeof path, name)) {
		cleat_schema_set_free(set);
		return NULL;
	}
	text = support_read_file(path, &n);
	assert_non_null(text);
	doc = cleat_doc_parse(text, n, NULL, NULL, NULL);
	assert_int_equal(cleat_schema_set_add(set, "mcp:spec", cleat_doc_root(doc), NULL),
			 CLEAT_OK);
	n = (size_t)snprintf(ref, sizeof ref, "{\"$ref\":\"mcp:spec#/%s/%s\"}",
			     rev <= REV_2025_06_18 ? "definitions" : "$defs", type);
	s = cleat_schema_parse(ref, n, &(cleat_schema_options){ .known = set }, &err);
	if (!s)
		print_error("%s\n", err.message);
	assert_non_null(s);
	cleat_doc_free(doc);
	cleat_schema_set_free(set);
	free(text);
	return s;
}

/* The result of the only message in `answer` must be of this type; nothing is checked without test
 * data. */
static inline void assert_published(enum revision rev, const char *type, const char *answer)
{
	cleat_schema *s = published(rev, type);
	cleat_doc *doc = cleat_doc_parse(answer, strlen(answer), NULL, NULL, NULL);
	const cleat_json *result = cleat_json_get(cleat_doc_root(doc), "result");
	cleat_error err;

	if (!result)
		print_error("no result: %s\n", answer);
	assert_non_null(result);
	assert_null(cleat_json_get(result, "resultType"));
	if (s && cleat_schema_check(s, result, &err)) {
		print_error("%s %s: %s\n%s\n", revision_name(rev), type, err.message, answer);
		fail();
	}
	cleat_schema_free(s);
	cleat_doc_free(doc);
}

/* A case on a bench, which it begins itself. */
#define BENCH_TEST(name) TEST_ON(name, struct bench, b, (void)0, bench_stop)

#endif
