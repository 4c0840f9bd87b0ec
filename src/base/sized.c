/* base/sized.c - see sized.h. */
#include "base/sized.h"

#include "base/error.h"

#include <string.h>

static bool is_zero(const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i])
			return false;
	return true;
}

COLD static int newer(const char *name, cleat_error *err)
{
	return error_set(err, CLEAT_EUNSUPPORTED,
			 "%s has something set that Cleat " CLEAT_VERSION
			 " does not know: the program was compiled against a newer Cleat",
			 name);
}

int sized_take(void *to, size_t known, const void *from, size_t given, const char *name,
	       cleat_error *err)
{
	size_t n = !from ? 0 : given < known ? given : known;

	if (n)
		memcpy(to, from, n);
	memset((char *)to + n, 0, known - n);
	if (from && given > known && !is_zero((const unsigned char *)from + known, given - known))
		return newer(name, err);
	return CLEAT_OK;
}

void sized_give(void *to, size_t given, const void *from, size_t known)
{
	size_t n = given < known ? given : known;

	memcpy(to, from, n);
	memset((char *)to + n, 0, given - n);
}

int sized_reserved(const void *room, size_t n, const char *name, cleat_error *err)
{
	return is_zero(room, n) ? CLEAT_OK : newer(name, err);
}
