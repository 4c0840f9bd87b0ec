/* test_owner.c - which requests are one client's, and how much it may have. */
#include "support.h"
#include "test.h"

#include "base/mem.h"
#include "endpoint/impl.h"

TEST(a_client_is_a_name_or_an_address)
{
	static const struct {
		const char *name, *address, *other_name, *other_address;
		bool same;
		size_t sessions;
	} cases[] = {
		{ "ann", "1.2.3.4", "ann", "5.6.7.8", true, 5 },
		{ "ann", "1.2.3.4", "bob", "1.2.3.4", false, 5 },
		{ "ann", "127.0.0.1", NULL, "127.0.0.1", false, 5 },
		{ NULL, "1.2.3.4", "", "1.2.3.4", true, 5 },
		{ NULL, "1.2.3.4", NULL, "::ffff:1.2.3.4", true, 5 },
		{ NULL, "1.2.3.4", NULL, "1.2.3.5", false, 5 },
		{ NULL, "2001:db8::1", NULL, "2001:db8::ffff:0:0:1", true, 5 },
		{ NULL, "2001:db8:0:1::1", NULL, "2001:db8:0:2::1", false, 5 },
		/* a proxy of this machine may stand there */
		{ NULL, "127.0.0.1", NULL, "127.0.0.2", false, 50 },
		{ NULL, "::ffff:127.0.0.1", NULL, "127.0.0.1", true, 50 },
		{ NULL, "::1", NULL, "127.0.0.1", false, 50 },
		{ NULL, "unix", NULL, "unix", true, 50 },
	};
	static struct endpoint m;

	m = (struct endpoint){ .mem = mem_resolve(NULL), .o = { .max_sessions_per_client = 5 } };
	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct owner *o = owner_take(&m, str_of(cases[i].name), cases[i].address);
		struct owner *p =
			owner_take(&m, str_of(cases[i].other_name), cases[i].other_address);

		assert_int_equal(o == p, cases[i].same);
		assert_int_equal(o->max_sessions, cases[i].sessions);
		owner_drop(&m, o);
		owner_drop(&m, p);
	}
	for (size_t i = 0; i < ENDPOINT_OWNERS; i++)
		assert_null(m.owners[i]);
}
