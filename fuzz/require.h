/* fuzz/require.h - what must hold whatever the input is. */
#ifndef FUZZ_REQUIRE_H
#define FUZZ_REQUIRE_H

#include <stdbool.h>
#include <stdlib.h>

static inline void require(bool ok)
{
	if (!ok)
		abort();
}

#endif
