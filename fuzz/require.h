/* fuzz/require.h - what must hold whatever the input is, and the input as text. */
#ifndef FUZZ_REQUIRE_H
#define FUZZ_REQUIRE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline void require(bool ok)
{
	if (!ok)
		abort();
}

/* With a NUL behind it; to be freed. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = calloc(1, size + 1);

	require(text);
	if (size)
		memcpy(text, data, size);
	return text;
}

#endif
