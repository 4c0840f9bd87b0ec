/* program/reach/bearer.c - $CLEAT_BEARER: a token that belongs to an address, not to whoever is spoken to.
 *
 * It goes to an address that was typed. One that is from a file may be somebody else's: whoever works in a
 * foreign checkout reads its .mcp.json. Such an address gets it only where $CLEAT_BEARER_ORIGIN names its
 * origin; when that is set, nobody else gets the token, typed or not. Programs that are started never see it:
 * it is out of the environment before anything is started.
 */
#include "reach/target.h"

#include "base/str.h"
#include "uri/reference.h"

#include <stdlib.h>
#include <string.h>

static struct {
	const char *token, *origins; /* NULL: none */
} taken;

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? keepf("%s", value) : NULL;
}

void bearer_take(void)
{
	taken.token = variable("CLEAT_BEARER");
	taken.origins = variable("CLEAT_BEARER_ORIGIN");
	unsetenv("CLEAT_BEARER");
}

const char *bearer_env(const char *entry)
{
	bool asked = strcmp(entry, "CLEAT_BEARER") == 0 && taken.token;

	return asked ? keepf("CLEAT_BEARER=%s", taken.token) : entry;
}

static bool is_named(const char *url)
{
	static const char between[] = " ,";

	for (const char *at = taken.origins; *at; at += strspn(at, between)) {
		struct str one = { at, strcspn(at, between) };

		/* A socket has a path instead of an origin. */
		if (str_eqz(one, url) || uri_same_origin(one, str_of(url)))
			return true;
		at += one.n;
	}
	return false;
}

const char *bearer_for(const struct target *t, const char **ret_why)
{
	*ret_why = NULL;
	if (!t->url || !taken.token)
		return NULL;
	if (taken.origins ? is_named(t->url) : !t->file)
		return taken.token;
	*ret_why = taken.origins ? "CLEAT_BEARER is not sent: CLEAT_BEARER_ORIGIN does not name "
				   "this address"
				 : keepf("CLEAT_BEARER is not sent: the address is from %s; "
					 "CLEAT_BEARER_ORIGIN says which it is for",
					 t->file);
	return NULL;
}
