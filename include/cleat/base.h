/* cleat/base.h - what every other Cleat header needs: visibility, status codes, the error record,
 * the allocator hook and the library's version.
 *
 * Ownership, for the whole library, in three sentences: what you pass in is copied; what a getter
 * gives you is borrowed from the object you asked; what a function whose name ends in _new, _spawn,
 * _connect, _call or _parse returns is yours to free.
 *
 * Threads: an object belongs to one thread at a time. The few functions that may be called from any
 * thread say so.
 */
#ifndef CLEAT_BASE_H
#define CLEAT_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CLEAT_API              __attribute__((visibility("default")))
#define CLEAT_PRINTF(fmt, arg) __attribute__((format(printf, fmt, arg)))
#define CLEAT_MUST_USE         __attribute__((warn_unused_result))
#else
#define CLEAT_API
#define CLEAT_PRINTF(fmt, arg)
#define CLEAT_MUST_USE
#endif

/* Stands before a function that has a better one: CLEAT_DEPRECATED("use cleat_x()"). The compiler says so
 * where it is used, unless CLEAT_NO_DEPRECATED is defined before the header is included. */
#if defined(__GNUC__) && !defined(CLEAT_NO_DEPRECATED)
#define CLEAT_DEPRECATED(text) __attribute__((deprecated(text)))
#else
#define CLEAT_DEPRECATED(text)
#endif

/* The version that the program is compiled against. This is the one place where it stands. */
#define CLEAT_VERSION_MAJOR 0
#define CLEAT_VERSION_MINOR 1
#define CLEAT_VERSION_PATCH 0
/* "0.1.0" */
#define CLEAT_VERSION                                                                              \
	CLEAT_TEXT_(CLEAT_VERSION_MAJOR)                                                           \
	"." CLEAT_TEXT_(CLEAT_VERSION_MINOR) "." CLEAT_TEXT_(CLEAT_VERSION_PATCH)
/* 0xMMmmpp, to compare: #if CLEAT_VERSION_NUM >= 0x000200 */
#define CLEAT_VERSION_NUM                                                                          \
	(CLEAT_VERSION_MAJOR * 65536 + CLEAT_VERSION_MINOR * 256 + CLEAT_VERSION_PATCH)
#define CLEAT_TEXT_(x)  CLEAT_TEXT__(x)
#define CLEAT_TEXT__(x) #x

/* Number of elements of an array (not of a pointer). */
#define CLEAT_COUNT(a) (sizeof(a) / sizeof *(a))

/* ---- status ------------------------------------------------------------------------------- */

/* The one list of status codes: X(name, value, text). Zero is success, positive values say that
 * the work is not finished yet, negative values are failures. */
#define CLEAT_STATUS_MAP(X)                                                                        \
	X(OK, 0, "success")                                                                        \
	X(PENDING, 1, "not finished yet")                                                          \
	X(NEED_INPUT, 2, "the client has to answer first")                                         \
	X(ENOMEM, -1, "out of memory")                                                             \
	X(EINVAL, -2, "invalid argument")                                                          \
	X(ELIMIT, -3, "over a limit")                                                              \
	X(EIO, -4, "input or output failed")                                                       \
	X(ECLOSED, -5, "closed")                                                                   \
	X(ETIMEOUT, -6, "timed out")                                                               \
	X(ECANCELLED, -7, "cancelled")                                                             \
	X(EPROTO, -8, "protocol violation")                                                        \
	X(EREMOTE, -9, "the other side answered with an error")                                    \
	X(EDECLINED, -10, "the user declined")                                                     \
	X(EEXIST, -11, "already there")                                                            \
	X(ENOENT, -12, "not found")                                                                \
	X(EUNSUPPORTED, -13, "the other side does not support this")                               \
	X(EMISUSE, -14, "called at the wrong time")

enum cleat_status {
#define CLEAT_STATUS_ENUM(name, value, text) CLEAT_##name = (value),
	CLEAT_STATUS_MAP(CLEAT_STATUS_ENUM)
#undef CLEAT_STATUS_ENUM
};

/* JSON-RPC 2.0 and MCP error codes, as they stand on the wire. Any other integer is an
 * application's own and passes through untouched. */
enum cleat_rpc_code {
	CLEAT_RPC_PARSE_ERROR = -32700,
	CLEAT_RPC_INVALID_REQUEST = -32600,
	CLEAT_RPC_METHOD_NOT_FOUND = -32601,
	CLEAT_RPC_INVALID_PARAMS = -32602,
	CLEAT_RPC_INTERNAL_ERROR = -32603,
	CLEAT_RPC_RESOURCE_NOT_FOUND = -32002,  /* up to 2025-11-25 */
	CLEAT_RPC_HEADER_MISMATCH = -32020,     /* 2026-07-28 */
	CLEAT_RPC_MISSING_CAPABILITY = -32021,  /* 2026-07-28 */
	CLEAT_RPC_UNSUPPORTED_VERSION = -32022, /* 2026-07-28 */
	CLEAT_RPC_URL_ELICITATION = -32042,     /* 2025-11-25 only */
	CLEAT_RPC_REQUEST_CANCELLED = -32800,   /* what older peers expect */
	CLEAT_RPC_CONTENT_TOO_LARGE = -32801    /* what older peers expect */
};

/* What went wrong, in full. A plain record: copy it, keep it, nothing to free. It is 288 bytes long and
 * stays so. */
typedef struct cleat_error {
	int status;        /* CLEAT_E..., or CLEAT_OK when there is nothing to report */
	int rpc_code;      /* the JSON-RPC code, where the failure has one */
	int os_errno;      /* errno, where the system said no */
	int reserved[8];   /* zero */
	char message[244]; /* one line for a person, always terminated */
} cleat_error;

/* The fixed English text of a status code ("out of memory"); never NULL, also for unknown codes.
 * Static storage. Any thread. */
CLEAT_API const char *cleat_strstatus(int status);

/* The version of the library that is running, such as "0.1.0"; CLEAT_VERSION is the one that was
 * compiled against. Static storage. Any thread. */
CLEAT_API const char *cleat_version(void);
/* The same as a number, 0xMMmmpp; CLEAT_VERSION_NUM is the one that was compiled against. Any thread. */
CLEAT_API int cleat_version_num(void);

/* ---- memory ------------------------------------------------------------------------------- */

/* Where an object gets its memory. NULL wherever one is accepted means malloc, realloc and free.
 * All three functions must be set, must behave as their namesakes, and may be called from any
 * thread that the object's handlers run on. `old_size` is the size that was asked for before.
 * The struct is copied and never grows; `ctx` must outlive every object made with it. */
typedef struct cleat_allocator {
	void *(*malloc)(void *ctx, size_t size);
	void *(*realloc)(void *ctx, void *ptr, size_t old_size, size_t size);
	void (*free)(void *ctx, void *ptr);
	void *ctx;
} cleat_allocator;

/* ---- log ---------------------------------------------------------------------------------- */

/* The eight levels of RFC 5424, in the protocol's spelling and order. */
enum cleat_log_level {
	CLEAT_LOG_DEBUG,
	CLEAT_LOG_INFO,
	CLEAT_LOG_NOTICE,
	CLEAT_LOG_WARNING,
	CLEAT_LOG_ERROR,
	CLEAT_LOG_CRITICAL,
	CLEAT_LOG_ALERT,
	CLEAT_LOG_EMERGENCY
};

/* "debug" … "emergency"; NULL for a value that is not a level. Static storage. Any thread. */
CLEAT_API const char *cleat_log_level_name(int level);

#ifdef __cplusplus
}
#endif
#endif
