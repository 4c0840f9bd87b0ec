/* test_serve_sandbox_missing.c - the filter of a sandbox when libseccomp is not there, is another one, or
 * fails.
 *
 * A second copy of program/serve/sandbox/filter.c finds what missing_rig.h lets it find, and other functions in
 * the place of libseccomp's.
 */
#include "test.h"
#include "unit/base/missing_rig.h"

#include "unit/child/child_support.h"

#define filter_new   copy_new
#define filter_done  copy_done
#define filter_enter copy_enter
#define filter_probe copy_probe
#include "serve/sandbox/filter.c" /* NOLINT(bugprone-suspicious-include): see above */

static int rules;     /* how many were added */
static int fail_rule; /* this one fails */
static int fail_with, fail_init, fail_export;

/* Those of the library. */
static struct calls real;

static scmp_filter_ctx fake_init(uint32_t action)
{
	return fail_init ? NULL : real.seccomp_init(action);
}

static int fake_rule(scmp_filter_ctx ctx, uint32_t action, int nr, unsigned n,
		     const struct scmp_arg_cmp *args)
{
	return ++rules == fail_rule ? fail_with
				    : real.seccomp_rule_add_array(ctx, action, nr, n, args);
}

static int fake_export(const scmp_filter_ctx ctx, int fd)
{
	return fail_export > 0   ? 0 /* and nothing was written */
	       : fail_export < 0 ? fail_export
				 : real.seccomp_export_bpf(ctx, fd);
}

/* An older library: it does not know some names. */
static int fake_resolve(const char *name)
{
	if (strcmp(name, "fchmodat2") == 0 || strcmp(name, "quotactl_fd") == 0)
		return __NR_SCMP_ERROR;
	return real.seccomp_syscall_resolve_name(name);
}

/* See missing_rig.h. */
static void *ours(void *library, const char *name)
{
	struct calls fakes = { .seccomp_init = fake_init,
			       .seccomp_rule_add_array = fake_rule,
			       .seccomp_export_bpf = fake_export,
			       .seccomp_syscall_resolve_name = fake_resolve };
	void *p = NULL;

	for (size_t i = 0; i < CLEAT_COUNT(call_names); i++) {
		if (strcmp(call_names[i].name, name) != 0)
			continue;
		memcpy(&p, (char *)&fakes + call_names[i].at, sizeof p);
		if (p)
			*(void **)(void *)((char *)&real + call_names[i].at) =
				genuine_function(library, name);
	}
	return p;
}

/* ---- the library is not there ------------------------------------------------------------- */

static const struct filter_wish wish = { .change = true, .truncate = true };

static void assert_unsupported(void)
{
	struct filter f;
	cleat_error e;

	assert_int_equal(copy_new(&f, &wish, &mem_default, &e), CLEAT_EUNSUPPORTED);
	assert_string_equal(e.message,
			    "libseccomp.so.2 cannot be loaded (a reason): install libseccomp2");
	assert_null(f.code);
	copy_done(&f, &mem_default);
}

TEST(test_a_missing_library_says_what_to_install)
{
	deny_library(assert_unsupported);
}

TEST(test_a_missing_function_is_a_missing_library)
{
	DENY_FUNCTIONS(assert_unsupported);
}

/* ---- the library fails -------------------------------------------------------------------- */

static int make(struct filter *f, cleat_error *e)
{
	size_t fds = open_fds();
	int rc;

	rules = 0;
	rc = copy_new(f, &wish, &mem_default, e);
	assert_int_equal(open_fds(), fds);
	if (rc)
		assert_null(f->code);
	return rc;
}

static void skip_without_seccomp(void)
{
	if (copy_probe())
		skip();
}

TEST(test_a_library_that_does_not_know_a_call_makes_a_filter)
{
	struct filter f;
	cleat_error e;

	skip_without_seccomp();
	assert_int_equal(make(&f, &e), CLEAT_OK);
	assert_true(f.length > 100);
	copy_done(&f, &mem_default);
	assert_null(f.code);
}

/* Never a filter with a rule less. */
TEST(test_a_rule_that_cannot_be_made_is_no_filter)
{
	static const struct {
		int rc, status;
	} cases[] = { { -ENOMEM, CLEAT_ENOMEM }, { -EINVAL, CLEAT_EIO }, { -EFAULT, CLEAT_EIO } };
	struct filter f;
	cleat_error e;
	int all;

	skip_without_seccomp();
	assert_int_equal(make(&f, &e), CLEAT_OK);
	copy_done(&f, &mem_default);
	all = rules;
	assert_true(all > 100);
	for (fail_rule = 1; fail_rule <= all; fail_rule += 17)
		for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
			fail_with = cases[i].rc;
			assert_int_equal(make(&f, &e), cases[i].status);
			assert_int_equal(rules, fail_rule); /* the rest is not tried */
		}
	fail_rule = 0;
}

TEST(test_what_else_can_fail)
{
	struct filter f;
	cleat_error e;

	skip_without_seccomp();
	fail_init = 1;
	assert_int_equal(make(&f, &e), CLEAT_ENOMEM);
	fail_init = 0;
	fail_export = -EIO;
	assert_int_equal(make(&f, &e), CLEAT_EIO);
	assert_string_equal(e.message, "libseccomp cannot make the filter: Input/output error");
	fail_export = 1;
	assert_int_equal(make(&f, &e), CLEAT_EIO);
	fail_export = 0;
}

TEST_START(argc, argv)
{
	instead = ours;
	return TEST_GO_ON;
}
