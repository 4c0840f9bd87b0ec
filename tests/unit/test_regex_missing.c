/* tests/unit/test_regex_missing.c - base/regex when PCRE2 is not there or is another one.
 *
 * A second copy of base/regex.c finds what missing_rig.h lets it find.
 */
#include "missing_rig.h"

#undef CLEAT_LINK_PCRE2
#define regex_compile      copy_compile
#define regex_match        copy_match
#define regex_free         copy_free
#define regex_match_within copy_match_within
#include "base/regex.c" /* NOLINT(bugprone-suspicious-include): see above */

static void assert_unsupported(void)
{
	struct regex *re = (struct regex *)&opened;
	cleat_error e;

	assert_int_equal(copy_compile(NULL, STR_LIT("a"), 0, &re, &e), CLEAT_EUNSUPPORTED);
	assert_string_equal(e.message,
			    "libpcre2-8.so.0 cannot be loaded (a reason): install libpcre2-8-0");
	assert_null(re);
	assert_int_equal(copy_compile(NULL, STR_LIT("a"), 0, &re, NULL), CLEAT_EUNSUPPORTED);
}

static void missing_library_is_unsupported_and_says_what_to_install(void **state)
{
	(void)state;
	deny_library(assert_unsupported);
}

static void missing_function_is_unsupported(void **state)
{
	(void)state;
	DENY_FUNCTIONS(assert_unsupported);
}

/* After the two tests above: what failed before works once the library is there. */
static void library_that_appears_later_is_used_and_opened_once(void **state)
{
	struct regex *a, *b;

	(void)state;
	opened = 0;
	assert_int_equal(copy_compile(NULL, STR_LIT("^a"), 0, &a, NULL), CLEAT_OK);
	assert_int_equal(copy_compile(NULL, STR_LIT("b$"), 0, &b, NULL), CLEAT_OK);
	assert_int_equal(opened, 1);
	no_library = true; /* neither matching nor freeing asks again */
	assert_int_equal(copy_match(a, STR_LIT("ab"), 0, NULL, NULL), 1);
	assert_int_equal(copy_match(b, STR_LIT("ba"), 0, NULL, NULL), 0);
	copy_free(a);
	copy_free(b);
	no_library = false;
	assert_int_equal(opened, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(missing_library_is_unsupported_and_says_what_to_install),
		cmocka_unit_test(missing_function_is_unsupported),
		cmocka_unit_test(library_that_appears_later_is_used_and_opened_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
