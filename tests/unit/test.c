/* tests/unit/test.c - the main() of every unit test; see test.h. */
#include "test.h"

#include <stdlib.h>

static struct {
	struct CMUnitTest *tests;
	size_t n;
	CMFixtureFunction set_up, tear_down;
	int (*start)(int argc, char **argv);
	void *thing;
} suite;

void test_add(const struct CMUnitTest *test)
{
	suite.tests = realloc(suite.tests, (suite.n + 1) * sizeof *suite.tests);
	if (!suite.tests)
		abort();
	suite.tests[suite.n++] = *test;
}

void *test_thing(size_t size)
{
	free(suite.thing);
	suite.thing = calloc(1, size);
	if (!suite.thing)
		abort();
	return suite.thing;
}

void test_group(CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
	suite.set_up = set_up;
	suite.tear_down = tear_down;
}

void test_start(int (*start)(int argc, char **argv))
{
	suite.start = start;
}

int main(int argc, char **argv)
{
	static const char *const proxies[] = { "http_proxy", "https_proxy", "HTTPS_PROXY",
					       "HTTP_PROXY", "ALL_PROXY",   "all_proxy" };
	int status = TEST_GO_ON;

	/* What the machine is set to must not matter. */
	for (size_t i = 0; i < sizeof proxies / sizeof *proxies; i++)
		unsetenv(proxies[i]);
	if (suite.start)
		status = suite.start(argc, argv);
	setenv("CLEAT_MISUSE", "log", 0); /* what is done wrong on purpose is read in the log */
	if (status == TEST_GO_ON)
		status = _cmocka_run_group_tests("tests", suite.tests, suite.n, suite.set_up,
						 suite.tear_down);
	free(suite.thing);
	free(suite.tests);
	return status;
}
