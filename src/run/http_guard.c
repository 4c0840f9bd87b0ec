/* run/http_guard.c - see http_guard.h. Tokens are read into memory that is wiped before it is given
 * back, also when it grows; stdio, which keeps a copy, is not used.
 */
#define _POSIX_C_SOURCE 200809L

#include "run/http_guard.h"

#include "base/crypto.h"
#include "base/error.h"
#include "base/mem.h"
#include "http/field.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_ROOM = 16 * 1024, FILE_MAX = 4 << 20, WAIT_MS = 1000, TOKEN_MAX = 4096 };

void http_guard_init(struct http_guard *g, const cleat_http_options *opts,
		     const cleat_allocator *mem)
{
	*g = (struct http_guard){ .opts = opts, .mem = *mem };
	pthread_rwlock_init(&g->lock, NULL); /* cannot fail with default attributes */
}

void http_guard_done(struct http_guard *g)
{
	tokens_free(g->tokens);
	tls_context_drop(g->tls);
	pthread_rwlock_destroy(&g->lock);
}

bool http_guard_asks(const struct http_guard *g)
{
	return g->opts->verify || g->opts->token_file;
}

/* ---- requests ----------------------------------------------------------------------------- */

static const char *ask_program(struct http_guard *g, struct str token)
{
	char copy[TOKEN_MAX + 1];
	int rc;

	memcpy(copy, token.p, token.n);
	copy[token.n] = '\0';
	g->name[0] = '\0';
	rc = g->opts->verify(g->opts->userdata, copy, g->name);
	g->name[GUARD_NAME_MAX - 1] = '\0';
	crypto_wipe(copy, token.n);
	return rc == CLEAT_OK ? g->name : NULL;
}

/* Absent when there is none. */
static struct str token_of(const struct http_request *r)
{
	struct str token = http_bearer(http_request_field(r, "authorization"));

	if (!token.p) /* clients that cannot set Authorization */
		token = http_request_field(r, "x-api-key");
	if (token.n > TOKEN_MAX)
		token.p = NULL;
	return token;
}

int http_guard_screen(struct http_guard *g, const struct http_request *r)
{
	struct str token = token_of(r);
	bool known = token.p != NULL;

	if (known && !g->opts->verify) {
		pthread_rwlock_rdlock(&g->lock);
		known = tokens_find(g->tokens, token) != NULL;
		pthread_rwlock_unlock(&g->lock);
	}
	return known ? CLEAT_OK : CLEAT_ENOENT;
}

int http_guard_find(struct http_guard *g, const struct http_request *r, struct str *ret,
		    unsigned char hash[CRYPTO_HASH_SIZE])
{
	struct str token = token_of(r);
	const char *name;

	if (!token.p)
		return CLEAT_ENOENT;
	name = g->opts->verify ? ask_program(g, token) : tokens_find_hash(g->tokens, token, hash);
	*ret = str_of(name);
	return name ? CLEAT_OK : CLEAT_ENOENT;
}

bool http_guard_knows(const struct http_guard *g, struct str name,
		      const unsigned char hash[CRYPTO_HASH_SIZE])
{
	return g->opts->verify || tokens_have(g->tokens, name, hash);
}

/* ---- files -------------------------------------------------------------------------------- */

struct secret {
	const cleat_allocator *mem;
	char *text;
	size_t size, room;
};

static void wipe(struct secret *s)
{
	if (s->text)
		crypto_wipe(s->text, s->room);
	mem_free(s->mem, s->text);
	s->text = NULL;
}

static int http_guard_grow(struct secret *s)
{
	size_t room = s->room ? 2 * s->room : FIRST_ROOM;
	char *text;

	if (room > FILE_MAX)
		return CLEAT_ELIMIT;
	text = mem_alloc(s->mem, room);
	if (!text)
		return CLEAT_ENOMEM;
	if (s->size)
		memcpy(text, s->text, s->size);
	wipe(s);
	s->text = text;
	s->room = room;
	return CLEAT_OK;
}

/* As read(). A pipe may have nothing yet; the server does not wait for ever for one. */
static ssize_t read_some(int fd, char *to, size_t room)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	ssize_t n;

	do {
		n = read(fd, to, room);
	} while (n < 0 && (errno == EINTR || (errno == EAGAIN && poll(&p, 1, WAIT_MS) > 0)));
	return n;
}

static int http_guard_read_all(struct secret *s, int fd)
{
	ssize_t n = 1;
	int rc = CLEAT_OK;

	while (n > 0) {
		if (s->size == s->room)
			rc = http_guard_grow(s);
		if (rc)
			return rc;
		n = read_some(fd, s->text + s->size, s->room - s->size);
		if (n > 0)
			s->size += (size_t)n;
	}
	return n < 0 ? CLEAT_EIO : CLEAT_OK;
}

static int read_file(struct secret *s, const char *path, cleat_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int rc;

	if (fd < 0)
		return error_set(err, CLEAT_EIO, "%.150s: %s", path, strerror(errno));
	rc = http_guard_read_all(s, fd);
	if (rc)
		error_set(err, rc, "%.150s: %s", path,
			  rc == CLEAT_EIO ? strerror(errno) : cleat_strstatus(rc));
	close(fd);
	return rc;
}

int http_guard_load_tokens(struct http_guard *g, cleat_error *err)
{
	struct secret s = { .mem = &g->mem };
	struct tokens *fresh = NULL;
	cleat_error why;
	int rc;

	if (!g->opts->token_file)
		return CLEAT_OK;
	rc = read_file(&s, g->opts->token_file, err);
	if (!rc) {
		rc = tokens_parse(&g->mem, (struct str){ s.text, s.size }, &fresh, &why);
		if (rc)
			error_set(err, rc, "%.100s: %s", g->opts->token_file, why.message);
	}
	wipe(&s);
	if (rc)
		return rc;
	pthread_rwlock_wrlock(&g->lock);
	tokens_free(g->tokens);
	g->tokens = fresh;
	pthread_rwlock_unlock(&g->lock);
	return CLEAT_OK;
}

int http_guard_load_tls(struct http_guard *g, cleat_error *err)
{
	const cleat_http_options *o = g->opts;
	struct tls_context *fresh;
	int rc;

	if (!o->tls_cert && !o->tls_key)
		return CLEAT_OK;
	if (!o->tls_cert || !o->tls_key)
		return error_set(err, CLEAT_EINVAL, "TLS needs both a certificate and a key");
	rc = tls_context_new(&g->mem, o->tls_cert, o->tls_key, &fresh, err);
	if (rc)
		return rc;
	tls_context_drop(g->tls);
	g->tls = fresh;
	return CLEAT_OK;
}
