/* tests/unit/test_regex_missing.c - base/regex when PCRE2 is not there or is another one.
 *
 * It compiles second copies of base/regex.c and base/lazy.c under other names, whose dlopen and
 * dlsym are the ones below, which can deny the library or one function.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <string.h>

static void *fake_dlopen(const char *name, int flags);
static void *fake_dlsym(void *handle, const char *name);
static char *fake_dlerror(void);

#undef CLEAT_LINK_PCRE2
#define dlopen             fake_dlopen
#define dlsym              fake_dlsym
#define dlerror            fake_dlerror
#define lazy_get           copy_get
#define regex_compile      copy_compile
#define regex_match        copy_match
#define regex_free         copy_free
#define regex_match_within copy_match_within
#include "base/lazy.c"  /* NOLINT(bugprone-suspicious-include): see above */
#include "base/regex.c" /* NOLINT(bugprone-suspicious-include): see above */
#undef dlopen
#undef dlsym
#undef dlerror

static bool no_library;
static const char *denied; /* name of a function that is not there */
static int opened;

static char *fake_dlerror(void)
{
	static char text[] = "a reason";

	return text;
}

static void *fake_dlopen(const char *name, int flags)
{
	opened++;
	return no_library ? NULL : dlopen(name, flags);
}

static void *fake_dlsym(void *handle, const char *name)
{
	return denied && strcmp(name, denied) == 0 ? NULL : dlsym(handle, name);
}

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
	no_library = true;
	assert_unsupported();
	no_library = false;
}

static void missing_function_is_unsupported(void **state)
{
	(void)state;
	for (size_t i = 0; i < CLEAT_COUNT(call_names); i++) {
		denied = call_names[i].name;
		assert_unsupported();
	}
	denied = NULL;
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
