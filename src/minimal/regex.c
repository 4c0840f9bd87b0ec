/* minimal/regex.c - base/regex.h in a minimal build that was not told to link PCRE2: no pattern can be
 * compiled, so schemas that have one are refused when they are added, with the reason. */
#include "base/regex.h"

#include "base/error.h"

int regex_compile(const cleat_allocator *mem, struct str pattern, unsigned flags,
		  struct regex **ret, cleat_error *err)
{
	(void)mem;
	(void)pattern;
	(void)flags;
	*ret = NULL;
	return error_set(err, CLEAT_EUNSUPPORTED,
			 "this is a minimal build of libcleat without PCRE2 (CLEAT_LINK_PCRE2)");
}

int regex_match_within(const struct regex *re, struct str text, uint64_t *budget)
{
	(void)re;
	(void)text;
	(void)budget;
	return CLEAT_EUNSUPPORTED;
}

size_t regex_size(const struct regex *re)
{
	(void)re;
	return 0;
}

void regex_free(struct regex *re)
{
	(void)re;
}
