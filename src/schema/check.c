/* schema/check.c - asking whether a value fits, and why not: the public functions, and schema_check()
 * for the layers above. How a check runs is in validate.c, what is said about it in explain.c.
 *
 * The verdict is found first and alone. Only a value that does not fit is looked at again for words.
 */
#include "schema/check.h"
#include "schema/run.h"

#include "base/error.h"
#include "json/node.h"
#include "json/parse.h"

/* Steps that telling may take beyond those of the verdict, so that there is something to tell. */
enum { MOST_PROBLEMS = 10, TELL_STEPS = 10000 };

static int no_verdict(const struct run *r, cleat_error *err)
{
	if (r->status == CLEAT_ELIMIT)
		return error_set(err, CLEAT_ELIMIT,
				 "the value could not be checked within the limits: over %s",
				 r->limit);
	return error_set(err, r->status, "%s while checking a value", cleat_strstatus(r->status));
}

/* The verdict alone. */
static int judge(const cleat_schema *s, const cleat_json *value, cleat_error *err)
{
	struct run r;
	bool ok;
	int rc;

	run_init(&r, s);
	ok = run_apply(&r, s->root, node_of(value), NULL);
	rc = r.status ? no_verdict(&r, err) : ok && !r.twice ? CLEAT_OK : CLEAT_EINVAL;
	run_done(&r);
	return rc;
}

/* The problems of a value that does not fit. Finding all of them may take longer than the verdict
 * did: what was found within the limits is enough. */
static int check_tell(const cleat_schema *s, const cleat_json *value, struct report *report)
{
	struct run r;
	int rc;

	run_init(&r, s);
	r.report = report;
	if (r.steps < UINT64_MAX - TELL_STEPS)
		r.steps += TELL_STEPS;
	run_apply(&r, s->root, node_of(value), NULL);
	rc = r.status == CLEAT_ENOMEM ? CLEAT_ENOMEM : CLEAT_EINVAL;
	run_done(&r);
	if (rc == CLEAT_EINVAL && report->told == 0)
		report->fn(report->ctx,
			   &(cleat_schema_problem){ .line = r.twice ? "a member stands twice"
								    : "does not fit the schema",
						    .path = "",
						    .schema_path = "#",
						    .value = value });
	return rc;
}

static void first_to_error(void *ctx, const cleat_schema_problem *problem)
{
	error_set(ctx, CLEAT_EINVAL, "%s", problem->line);
}

static int missing_argument(cleat_error *err)
{
	return error_set(err, CLEAT_EINVAL, "there is no schema, or no value");
}

int cleat_schema_check(const cleat_schema *s, const cleat_json *value, cleat_error *err)
{
	struct report report = { .fn = first_to_error, .ctx = err, .most = 1, .bare = true };
	int rc;

	if (!s || !value)
		return missing_argument(err);
	rc = judge(s, value, err);
	if (rc != CLEAT_EINVAL || !err)
		return rc;
	rc = check_tell(s, value, &report);
	return rc == CLEAT_EINVAL ? rc : error_set(err, rc, "%s", cleat_strstatus(rc));
}

int cleat_schema_explain(const cleat_schema *s, const cleat_json *value,
			 cleat_schema_problem_fn *fn, void *ctx, cleat_error *err)
{
	struct report report = { .fn = fn, .ctx = ctx, .most = MOST_PROBLEMS };
	int rc;

	if (!s || !value || !fn)
		return missing_argument(err);
	rc = cleat_schema_check(s, value, err);
	return rc == CLEAT_EINVAL ? check_tell(s, value, &report) : rc;
}

/* A buf that is full keeps its complete lines: that is still an answer. */
static void add_text(struct buf *b, const char *fmt, ...) CLEAT_PRINTF(2, 3);
static void add_text(struct buf *b, const char *fmt, ...)
{
	size_t before = buf_size(b);
	va_list ap;

	if (before)
		buf_putc(b, '\n');
	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
	if (buf_status(b) == CLEAT_ELIMIT)
		buf_truncate(b, before);
}

static void add_line(void *ctx, const cleat_schema_problem *problem)
{
	add_text(ctx, "%s", problem->line);
}

int schema_check(const cleat_schema *s, const cleat_json *value, const char *member,
		 struct buf *problems)
{
	struct report report = { .fn = add_line,
				 .ctx = problems,
				 .member = member,
				 .most = MOST_PROBLEMS,
				 .bare = true };
	cleat_error err;
	int rc = judge(s, value, &err);

	if (rc == CLEAT_OK && json_check_all_keys(value, &err)) {
		add_text(problems, "%s", err.message);
		rc = CLEAT_EINVAL;
	} else if (rc == CLEAT_EINVAL) {
		rc = check_tell(s, value, &report);
	} else if (rc == CLEAT_ELIMIT) {
		add_text(problems, "%s", err.message);
	}
	if (report.told && report.count > report.told)
		add_text(problems, "... and %zu more", report.count - report.told);
	return buf_status(problems) == CLEAT_ENOMEM ? CLEAT_ENOMEM : rc;
}
