/* run/http_guard.h - who may pass at an HTTP address, and its certificate: what is read from files when
 * the address is opened, and again when the server is told to.
 *
 * Whatever cannot be read leaves what was there before. Not here: Host and Origin
 * (endpoint/policy.h).
 */
#ifndef RUN_HTTP_GUARD_H
#define RUN_HTTP_GUARD_H

#include "auth/tokens.h"
#include "http/message.h"
#include "net/tls.h"

#include <cleat/http.h>

#include <pthread.h>

enum { GUARD_NAME_MAX = 256 };

struct http_guard {
	const cleat_http_options *opts;
	cleat_allocator mem;
	struct tokens *tokens;
	pthread_rwlock_t lock; /* for other threads that look at the tokens */
	struct tls_context *tls;
	char name[GUARD_NAME_MAX]; /* of who was asked about last */
};

/* `opts` must outlive it. Reads nothing yet. */
void http_guard_init(struct http_guard *g, const cleat_http_options *opts,
		     const cleat_allocator *mem);
void http_guard_done(struct http_guard *g);
/* Does anybody have to authorize themselves? */
bool http_guard_asks(const struct http_guard *g);
/* Whose request is it? CLEAT_OK with his name, good until the next call, and the hash of his token where that
 * is in a file; or CLEAT_ENOENT. */
int http_guard_find(struct http_guard *g, const struct http_request *r, struct str *ret,
		    unsigned char hash[CRYPTO_HASH_SIZE]);
/* Is the token with this hash in the file, under that name? NULL: does he have any? Of a program with a
 * verify() of its own it is not known: true. */
bool http_guard_knows(const struct http_guard *g, struct str name,
		      const unsigned char hash[CRYPTO_HASH_SIZE]);

/* Is it worth while to read the rest of this request? CLEAT_ENOENT when it has no token or, where they
 * are in a file, none that is known. Any thread. */
int http_guard_screen(struct http_guard *g, const struct http_request *r);

/* Each reads its files, where there are any. */
int http_guard_load_tokens(struct http_guard *g, cleat_error *err);
int http_guard_load_tls(struct http_guard *g, cleat_error *err);

#endif
