/* base/error.h - filling a cleat_error.
 *
 * The record lives on the object that failed; there is no thread-local state and nothing prints.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "base/cold.h"
#include <cleat/base.h>

/* Fills *e (may be NULL) and returns `status`, so that a failure is one statement. The message is
 * made one line: control characters become spaces. The arguments may point into *e. */
COLD int error_set(cleat_error *e, int status, const char *fmt, ...) CLEAT_PRINTF(3, 4);
COLD int error_vset(cleat_error *e, int status, int rpc_code, const char *fmt, va_list ap)
	CLEAT_PRINTF(4, 0);
COLD int error_rpc(cleat_error *e, int status, int rpc_code, const char *fmt, ...)
	CLEAT_PRINTF(4, 5);
void error_clear(cleat_error *e);

#endif
