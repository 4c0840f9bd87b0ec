/* tests/unit/test_regex_missing.c - base/regex when PCRE2 is not there or is another one.
 *
 * A second copy of base/regex.c finds what missing_rig.h lets it find.
 */
#include "test.h"
#include "unit/base/missing_rig.h"

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

TEST(missing_library_is_unsupported_and_says_what_to_install)
{
	deny_library(assert_unsupported);
}

TEST(missing_function_is_unsupported)
{
	DENY_FUNCTIONS(assert_unsupported);
}

/* After the two tests above: what failed before works once the library is there. */
TEST(library_that_appears_later_is_used_and_opened_once)
{
	struct regex *a, *b;

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
