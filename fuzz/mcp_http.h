/* fuzz/mcp_http.h - plays an input of fuzz_mcp_http.c, also for tests/torture/http.c. */
#ifndef FUZZ_MCP_HTTP_H
#define FUZZ_MCP_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MCP_HTTP_CONNS = 4 };

struct mcp_http_result {
	size_t allocations; /* while the input was played */
	struct {
		size_t requests, answers; /* that were begun */
		bool closed;
	} conns[MCP_HTTP_CONNS];
};

/* Aborts where an invariant is broken. Allocation number `fail_at` fails (0: none), and with for_good
 * all that follow, until the input is at its end; then memory is back. */
void mcp_http_play(const uint8_t *data, size_t size, size_t fail_at, bool for_good,
		   struct mcp_http_result *ret);

#endif
