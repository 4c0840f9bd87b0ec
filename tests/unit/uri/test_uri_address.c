/* test_uri_address.c - IP addresses in text: RFC 3986 section 3.2.2, line by line, and what is near. */

#include "test.h"
#include "uri/address.h"

#include <string.h>

static void check_addresses(bool (*valid)(struct str), const char *const *cases, bool expected)
{
	for (; *cases; cases++) {
		struct str with_nul = { *cases, strlen(*cases) + 1 };

		if (valid(str_of(*cases)) != expected)
			fail_msg("%s: %s", *cases, expected ? "refused" : "accepted");
		assert_false(valid(with_nul));
	}
	assert_false(valid((struct str){ NULL, 0 }));
}

TEST(ipv4_is_four_numbers)
{
	static const char *const good[] = { "0.0.0.0", "255.255.255.255", "1.22.199.200",
					    "249.250.9.10", NULL };
	static const char *const bad[] = {
		"",           "1",         "1.2.3",      "1.2.3.4.5",       "1.2.3.",
		".1.2.3",     "1..2.3",    "256.1.1.1",  "1.1.1.260",       "1.1.1.999",
		"1.1.1.1000", "01.1.1.1",  "1.1.1.00",   "1.1.1.1 ",        " 1.1.1.1",
		"1.1.1.a",    "0x1.1.1.1", "+1.1.1.1",   "1.1.1.-1",        "1,1,1,1",
		"1.1.1.1/8",  "...",       "1.1.1.1:80", "1\xD9\xA1.1.1.1", NULL
	};

	check_addresses(ip4_valid, good, true);
	check_addresses(ip4_valid, bad, false);
}

/* RFC 3986 section 3.2.2, the nine lines of IPv6address. */
TEST(ipv6_is_eight_groups_or_fewer_with_a_gap)
{
	static const char *const good[] = { "1:2:3:4:5:6:7:8",
					    "1:2:3:4:5:6:1.2.3.4",
					    "::2:3:4:5:6:7:8",
					    "::2:3:4:5:6:1.2.3.4",
					    "1::3:4:5:6:7:8",
					    "1:2::4:5:6:7:8",
					    "1:2:3::5:6:7:8",
					    "1:2:3:4::6:7:8",
					    "1:2:3:4:5::7:8",
					    "1:2:3:4:5::1.2.3.4",
					    "1:2:3:4:5:6::8",
					    "1:2:3:4:5:6:7::",
					    "::",
					    "::1",
					    "1::",
					    "::1.2.3.4",
					    "1::1.2.3.4",
					    "FFFF:ffff:aBcD::0",
					    "0001::0000",
					    "::ffff:255.255.255.255",
					    "1::2:3",
					    NULL };
	static const char *const bad[] = { "",
					   ":",
					   ":::",
					   "1",
					   "1:",
					   ":1",
					   "1:2:3:4:5:6:7",
					   "1:2:3:4:5:6:7:8:9",
					   "1:2:3:4:5:6:7:8:",
					   ":1:2:3:4:5:6:7",
					   "1::2::3",
					   "::1::",
					   "1:::2",
					   "::1:",
					   "1:2:3:4:5:6:7:8::",
					   "::1:2:3:4:5:6:7:8",
					   "1::2:3:4:5:6:7:8",
					   "12345::",
					   "::12345",
					   "g::",
					   "::g",
					   "1.2.3.4",
					   "1:2:3:4:5:6:7:1.2.3.4",
					   "1:2:3:4:5:1.2.3.4",
					   "::1:2:3:4:5:6:1.2.3.4",
					   "::1.2.3",
					   "::1.2.3.4.5",
					   "::1.2.3.4:5",
					   "::1.2.3.256",
					   "::1.2.3.04",
					   "::a.2.3.4",
					   "::.1.2.3",
					   "::1%en0",
					   "::1/64",
					   "[::1]",
					   " ::1",
					   "::1 ",
					   "1.2.3.4::",
					   "::\xD9\xA1",
					   NULL };

	check_addresses(ip6_valid, good, true);
	check_addresses(ip6_valid, bad, false);
}
