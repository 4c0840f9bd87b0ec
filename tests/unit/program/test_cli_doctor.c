/* test_cli_doctor.c - which proxy is used for which address (program/check/doctor_proxy.c). */
#include "support.h"
#include "test.h"

#include "check/doctor.h"
#include "unit/program/cli_support.h"

#include <stdlib.h>
#include <string.h>

/* CURLOPT_NOPROXY(3). */
TEST(exceptions_are_names_domains_addresses_and_networks)
{
	static const struct {
		const char *host, *list;
		bool excepted;
	} cases[] = {
		{ "a.example", "*", true },
		{ "a.example", "", false },
		{ "a.example", " , ,", false },
		{ "a.example", "a.example", true },
		{ "A.Example", "b,a.example", true },
		{ "a.example.", "a.example", true },
		{ "a.example", "example", true },
		{ "a.example", ".example", true },
		{ "example", ".example", true },
		{ "aexample", "example", false },
		{ "a.example", "a.example.org b.example", false },
		{ "a.example", "*.example", false }, /* libcurl knows no patterns */
		{ "10.1.2.3", "10.1.2.3", true },
		{ "10.1.2.3", "10.0.0.0/8", true },
		{ "10.1.2.3", "10.0.0.0/15", true },
		{ "10.1.2.3", "10.0.0.0/16", false },
		{ "10.1.2.3", "0.0.0.0/0", true },
		{ "10.1.2.3", "10.1.2.3/33", false },
		{ "11.1.2.3", "10.0.0.0/7", true },
		{ "fd00::1", "fd00::/8", true },
		{ "fd00::1", "[fd00::1]", true },
		{ "fd00::1", "fe00::/8", false },
		{ "example", "10.0.0.0/8,[,]", false },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++)
		if (doctor_is_excepted(cases[i].host, cases[i].list) != cases[i].excepted)
			fail_msg("%s and no_proxy=\"%s\"", cases[i].host, cases[i].list);
}

static const char *const names[] = { "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy",
				     "ALL_PROXY",  "no_proxy",    "NO_PROXY",    "HTTP_PROXY" };

/* CURLOPT_PROXY(3), and that what the environment says is not for this machine. */
TEST(the_environment_says_which)
{
	static const struct {
		const char *set, *value, *host;
		bool https;
		const char *from; /* NULL: none */
	} cases[] = {
		{ "http_proxy", "p", "a.example", false, "http_proxy" },
		{ "http_proxy", "p", "a.example", true, NULL },
		{ "HTTP_PROXY", "p", "a.example", false, NULL },
		{ "https_proxy", "p", "a.example", true, "https_proxy" },
		{ "HTTPS_PROXY", "p", "a.example", true, "HTTPS_PROXY" },
		{ "HTTPS_PROXY", "p", "a.example", false, NULL },
		{ "all_proxy", "p", "a.example", true, "all_proxy" },
		{ "ALL_PROXY", "p", "a.example", false, "ALL_PROXY" },
		{ "ALL_PROXY", "", "a.example", false, NULL },
		{ "ALL_PROXY", "p", "localhost", false, NULL },
		{ "ALL_PROXY", "p", "x.LocalHost", false, NULL },
		{ "ALL_PROXY", "p", "127.0.0.7", false, NULL },
		{ "ALL_PROXY", "p", "127.example", false, "ALL_PROXY" },
		{ "ALL_PROXY", "p", "::1", false, NULL },
	};
	const char *from;

	for (size_t i = 0; i < CLEAT_COUNT(names); i++)
		unsetenv(names[i]);
	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		const char *proxy;

		setenv(cases[i].set, cases[i].value, 1);
		proxy = doctor_proxy(NULL, cases[i].host, cases[i].https, &from);
		unsetenv(cases[i].set);
		assert_int_equal(proxy != NULL, cases[i].from != NULL);
		if (proxy)
			assert_string_equal(from, cases[i].from);
	}
	setenv("all_proxy", "p", 1);
	setenv("NO_PROXY", "example", 1);
	assert_null(doctor_proxy(NULL, "a.example", false, &from));
	/* The command line's is for all addresses. */
	assert_string_equal(doctor_proxy("mine", "a.example", false, &from), "mine");
	assert_string_equal(doctor_proxy("mine", "localhost", false, &from), "mine");
	assert_null(doctor_proxy("", "b.test", false, &from));
	unsetenv("all_proxy");
	unsetenv("NO_PROXY");
}

TEST_GROUP(NULL, forget)
