/* net/tls.h - TLS 1.2 and 1.3 for the server side, by OpenSSL, which is loaded on first use.
 *
 * A session turns bytes of the wire into bytes of the application and back, in memory: it never
 * touches a descriptor. Not here: the connection and its deadlines (httpd/server.c), client
 * certificates, anything but http/1.1 (a client that offers only other protocols is refused).
 */
#ifndef NET_TLS_H
#define NET_TLS_H

#include "base/buf.h"
#include "base/str.h"

#include <cleat/base.h>

struct tls_context; /* certificate and key; counted, because sessions keep it alive */
struct tls_session;

/* Reads PEM files: a certificate chain (the server's own first) and its key, not encrypted. Dates and
 * names in the certificate are the clients' business. CLEAT_OK; CLEAT_EINVAL (which file, and what is
 * wrong with it), CLEAT_EUNSUPPORTED (OpenSSL is not installed), CLEAT_ENOMEM. */
int tls_context_new(const cleat_allocator *mem, const char *cert_file, const char *key_file,
		    struct tls_context **ret, cleat_error *err);
/* Any thread: several loops may share a context. The last one frees it. */
struct tls_context *tls_context_hold(struct tls_context *c);
void tls_context_drop(struct tls_context *c); /* accepts NULL */

/* NULL when out of memory. */
struct tls_session *tls_session_new(struct tls_context *c);
void tls_session_free(struct tls_session *t); /* accepts NULL; says nothing to the client */

/* Bytes from the wire, all of which are taken. What is decrypted is appended to `plain`; what has to
 * be sent because of it (handshake, alerts, key updates) to `wire`, also when this fails. After the
 * handshake that is about as much as came, at most: while much waits to be written, do not read.
 * CLEAT_OK; CLEAT_ECLOSED (the client said goodbye and sends no more, but may still be sent to);
 * CLEAT_EPROTO with the reason; CLEAT_ENOMEM; CLEAT_ELIMIT when a buffer is full. After the last three
 * the session is over: what is in `wire` may be sent, and that is all. */
int tls_session_receive(struct tls_session *t, struct str bytes, struct buf *plain,
			struct buf *wire, cleat_error *err);
/* Encrypts; appended to `wire`. CLEAT_OK; CLEAT_EMISUSE before the handshake is done; CLEAT_ECLOSED
 * after tls_session_finish(); what ended the session, if it is over. CLEAT_ENOMEM or CLEAT_ELIMIT when
 * `wire` cannot take it: nothing was sent then, and if tls_session_is_ready() still says so (it does,
 * unless the client asked for tiny records) the session goes on. */
int tls_session_send(struct tls_session *t, struct str bytes, struct buf *wire);
/* The handshake is done and nothing has gone wrong. */
bool tls_session_is_ready(const struct tls_session *t);
/* close_notify, once and only where the handshake is done. */
void tls_session_finish(struct tls_session *t, struct buf *wire);

#endif
