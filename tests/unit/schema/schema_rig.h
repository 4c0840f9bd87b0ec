/* tests/unit/schema/schema_rig.h - schemas, values, what is said of them and what it costs.
 *
 * In all texts ' stands for ", to keep tables readable. Costs are counted in steps, never in time.
 */
#ifndef TESTS_SCHEMA_RIG_H
#define TESTS_SCHEMA_RIG_H

#include "schema/run.h"
#include "support.h"
#include "test.h"
#include "json/node.h"

#include <cleat/schema.h>

#include <stdio.h>
#include <stdlib.h>

#define DRAFT_07   "http://json-schema.org/draft-07/schema"
#define D2020_12   "https://json-schema.org/draft/2020-12/schema"
#define VOCABULARY "https://json-schema.org/draft/2020-12/vocab/"

static const cleat_schema_options draft_07 = { .dialect = CLEAT_SCHEMA_DRAFT_07 };

/* A text that grows; freed by whoever asked for it. */
struct text {
	char *p;
	size_t n, cap;
};

void add(struct text *t, const char *fmt, ...) CLEAT_PRINTF(2, 3);
void add_many(struct text *t, const char *piece, size_t times);

/* Whatever is wrong with them fails the test. */
cleat_schema *schema_of(const char *text, const cleat_schema_options *opts);
cleat_doc *value_of(const char *text);

/* What compiling comes to: nothing is wrong; or the whole message, or its beginning when `message` ends in '*'. */
void accept(const char *text, const cleat_schema_options *opts);
void refuse(const char *text, const cleat_schema_options *opts, int status, const char *message);
/* Adds a schema to a set; `message` may be NULL. */
void add_known(cleat_schema_set *set, const char *uri, const char *schema, int status,
	       const char *message);

/* What the schema says of a value. */
int verdict(const cleat_schema *s, const char *value, cleat_error *err);
/* The same of several: those that begin with + fit, those with - do not. */
#define judge(text, opts, ...) judge_all(text, opts, (const char *const[]){ __VA_ARGS__, NULL })
void judge_all(const char *text, const cleat_schema_options *opts, const char *const *values);
/* Steps that a verdict takes. */
uint64_t cost(const cleat_schema *s, const char *value);

struct verdict {
	const char *schema, *value;
	bool fits;
};

void check_all(const struct verdict *table, size_t n);

#endif
