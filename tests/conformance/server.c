/* server.c - the server that the official conformance suite is run against: all of tests/wire's
 * fixture, served as its command line says.
 */
#include "../wire/fixture.h"

int main(int argc, char **argv)
{
	static struct fixture fixture;
	cleat_server *s = cleat_server_new("cleat-fixture", "1.0.0",
					   &(cleat_server_options){ .userdata = &fixture });

	fixture_add_all(s);
	/* Works, but some clients refuse such a name, and the suite says so. */
	cleat_server_remove_tool(s, "calculator/add");
	return cleat_server_main(s, argc, argv);
}
