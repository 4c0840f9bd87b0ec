/* schema/run.h - one check while it runs: what validate.c (the verdict) and explain.c (the words)
 * share.
 *
 * A check first runs for the verdict alone and stops at the first thing that does not fit. Only when
 * there is something to say, it runs a second time with a report, and then goes on after a problem.
 */
#ifndef SCHEMA_RUN_H
#define SCHEMA_RUN_H

#include "base/buf.h"
#include "base/cold.h"
#include "schema/path.h"
#include "schema/program.h"

enum { MARK_WORDS = 16 };

/* The resources that were entered, from the inside out: where $dynamicRef looks. */
struct scope {
	const struct scope *up;
	uint32_t resource;
};

/* What a run with a report tells, and counts. */
struct report {
	cleat_schema_problem_fn *fn;
	void *ctx;
	const char *member;      /* what a member of the whole value is called; NULL: "member" */
	const struct at *within; /* a place that the lines need not name; NULL: the whole value */
	size_t most;             /* calls of fn */
	bool bare;               /* nobody looks at path and schema_path */
	size_t count, told;      /* problems, and those that fn was called for */
	size_t weight;           /* how far the value is from fitting, by the problems so far */
};

struct run {
	const cleat_schema *s;
	const struct scope *scope;
	struct report *report; /* NULL: only the verdict counts */
	uint64_t steps;        /* left */
	uint32_t nesting;      /* schemas inside schemas, left */
	int status;            /* CLEAT_OK while there is a verdict */
	bool twice;        /* a member appears twice: the value fits nothing, also not by `not` */
	const char *limit; /* which, for CLEAT_ELIMIT */
	/* evaluated members and elements, for unevaluated*: bits, as a stack */
	uint64_t *words;
	size_t n_words, cap_words;
	uint64_t few_words[MARK_WORDS];
};

/* Prepares a run of a schema; run_done() frees what it needed. */
void run_init(struct run *r, const cleat_schema *s);
void run_done(struct run *r);
/* The schema applied to the value, with the run's report. */
bool run_apply(struct run *r, node_id id, const yyjson_val *v, const struct at *at);
/* The same without a report: does it fit? */
bool run_fits(struct run *r, node_id id, const yyjson_val *v, const struct at *at);

/* ---- marks.c: bits on a stack, named by position because the stack may move ------------------- */

struct marks {
	size_t at, n;
};

/* n bits, all clear; false when the run ends here. */
bool marks_push(struct run *r, size_t n, struct marks *ret);
void marks_pop(struct run *r, const struct marks *m);
void marks_add(struct run *r, const struct marks *to, const struct marks *from);
void marks_fill(struct run *r, const struct marks *m);

static inline void mark(struct run *r, const struct marks *m, uint32_t i)
{
	r->words[m->at + i / 64] |= UINT64_C(1) << (i % 64);
}

static inline bool is_marked(const struct run *r, const struct marks *m, uint32_t i)
{
	return r->words[m->at + i / 64] >> (i % 64) & 1;
}

/* ---- bounds ---- */

/* Ends the run without a verdict, because of this limit, or of a failure. False. No steps are left
 * then, so that nothing goes on for long. */
COLD bool run_over(struct run *r, const char *limit);
COLD bool run_fail(struct run *r, int status);

static inline bool run_pay(struct run *r, uint64_t steps)
{
	if (r->steps < steps)
		return run_over(r, "max_steps");
	r->steps -= steps;
	return true;
}

static inline node_id run_id(const struct run *r, const struct node *n)
{
	return (node_id)(n - r->s->nodes);
}

/* TYPE_...; TYPE_NUMBER for any number. */
static inline unsigned run_type(const yyjson_val *v)
{
	static const uint8_t bits[8] = {
		[YYJSON_TYPE_RAW] = TYPE_NUMBER, [YYJSON_TYPE_NULL] = TYPE_NULL,
		[YYJSON_TYPE_BOOL] = TYPE_BOOL,  [YYJSON_TYPE_STR] = TYPE_STRING,
		[YYJSON_TYPE_ARR] = TYPE_ARRAY,  [YYJSON_TYPE_OBJ] = TYPE_OBJECT,
	};

	return bits[v->tag & YYJSON_TYPE_MASK];
}

/* ---- scalar.c ---- */

/* What a node says about numbers or strings; any other scalar fits. */
bool scalar_check(struct run *r, const struct node *n, unsigned bits, const yyjson_val *v,
		  const struct at *at);
/* enum and const, of values of any type. */
bool scalar_check_values(struct run *r, const struct node *n, const yyjson_val *v,
			 const struct at *at);
/* What hashing a value, or comparing it with another, costs in steps. */
uint64_t value_cost(const yyjson_val *v);
/* Are they equal? Paid for. */
bool value_equal(struct run *r, const yyjson_val *a, const yyjson_val *b);
/* Is there a match in the string? */
bool scalar_matches(struct run *r, const struct regex *re, const yyjson_val *v);

/* ---- unique.c ---- */

/* Are all elements different? If not, two that are equal. True also when the run ends here. */
bool unique_check(struct run *r, const yyjson_val *v, uint32_t *ret_i, uint32_t *ret_j);

/* ---- explain.c: each adds one problem to r->report ------------------------------------------- */

/* "expected integer between 1 and 14, got X", said by the keyword. */
COLD void explain_value(struct run *r, node_id id, const char *keyword, const yyjson_val *v,
			const struct at *at);
/* "required, but missing". */
COLD void explain_missing(struct run *r, node_id id, const struct property *p, const struct at *at);
/* A member that may not be there: additionalProperties or unevaluatedProperties is false. */
COLD void explain_unknown(struct run *r, node_id id, const char *keyword, const yyjson_val *key,
			  const struct at *at);
/* A member appears twice. */
COLD void explain_duplicate(struct run *r, node_id id, const yyjson_val *v, const struct at *at);
/* The schema false. */
COLD void explain_never(struct run *r, node_id id, const yyjson_val *v, const struct at *at);
/* "b" is required because "a" is there. */
COLD void explain_dependency(struct run *r, node_id id, const struct property *given,
			     const struct property *missing, const struct at *at);
/* A member whose name does not fit propertyNames. */
COLD void explain_name(struct run *r, node_id id, node_id names, const yyjson_val *key,
		       const struct at *at);
/* Elements i and j are equal. */
COLD void explain_twins(struct run *r, node_id id, uint32_t i, uint32_t j, const yyjson_val *v,
			const struct at *at);
/* So many elements fit `contains`. */
COLD void explain_contains(struct run *r, node_id id, uint64_t found, const yyjson_val *v,
			   const struct at *at);
/* None of anyOf or oneOf fits. */
COLD void explain_none(struct run *r, node_id id, const char *keyword, const struct node_list *list,
		       const yyjson_val *v, const struct at *at);
/* More than one of oneOf fits: these two at least. */
COLD void explain_several(struct run *r, node_id id, uint32_t first, uint32_t second,
			  const yyjson_val *v, const struct at *at);
/* It fits `not`. */
COLD void explain_not(struct run *r, node_id id, const yyjson_val *v, const struct at *at);

#endif
