/* httpd/peers.c - see peers.h. */
#define _POSIX_C_SOURCE 200809L

#include "httpd/peers.h"

#include "base/mem.h"
#include "base/str.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

enum { KEY = 16 };

struct http_peer {
	struct http_peer *next;
	unsigned count;
	unsigned char key[KEY];
};

void http_peers_share(struct http_peers *p)
{
	p->shared = pthread_mutex_init(&p->lock, NULL) == 0;
}

void http_peers_done(struct http_peers *p)
{
	if (p->shared)
		pthread_mutex_destroy(&p->lock);
}

bool http_peers_enter(struct http_peers *p, unsigned max)
{
	if (atomic_fetch_add_explicit(&p->connections, 1, memory_order_relaxed) < max)
		return true;
	http_peers_leave(p);
	return false;
}

void http_peers_leave(struct http_peers *p)
{
	atomic_fetch_sub_explicit(&p->connections, 1, memory_order_relaxed);
}

static void lock(struct http_peers *p)
{
	if (p->shared)
		pthread_mutex_lock(&p->lock);
}

static void unlock(struct http_peers *p)
{
	if (p->shared)
		pthread_mutex_unlock(&p->lock);
}

static bool key_of(const struct sockaddr *from, unsigned char key[KEY])
{
	const struct in6_addr *six;

	memset(key, 0, KEY);
	if (from->sa_family == AF_INET) {
		memcpy(key + 12, &((const struct sockaddr_in *)(const void *)from)->sin_addr, 4);
		key[10] = key[11] = 0xFF;
		return key[12] != 127;
	}
	if (from->sa_family != AF_INET6)
		return false;
	six = &((const struct sockaddr_in6 *)(const void *)from)->sin6_addr;
	memcpy(key, six->s6_addr, KEY);
	if (IN6_IS_ADDR_V4MAPPED(six))
		return key[12] != 127;
	memset(key + 8, 0, 8);
	return !IN6_IS_ADDR_LOOPBACK(six);
}

static struct http_peer **bucket(struct http_peers *p, const unsigned char key[KEY])
{
	/* The seed only has to differ from one server to the next. */
	uint32_t seed = (uint32_t)((uintptr_t)p >> 4);

	return &p->buckets[str_hash((struct str){ (const char *)key, KEY }, seed) %
			   HTTP_PEERS_BUCKETS];
}

static int count_one(struct http_peers *p, const cleat_allocator *mem, const unsigned char key[KEY],
		     unsigned max, struct http_peer **ret)
{
	struct http_peer **first = bucket(p, key), *peer;

	for (peer = *first; peer && memcmp(peer->key, key, KEY) != 0; peer = peer->next)
		;
	if (peer && peer->count >= max)
		return CLEAT_ELIMIT;
	if (!peer) {
		peer = mem_zalloc(mem, sizeof *peer);
		if (!peer)
			return CLEAT_ENOMEM;
		memcpy(peer->key, key, KEY);
		peer->next = *first;
		*first = peer;
	}
	peer->count++;
	*ret = peer;
	return CLEAT_OK;
}

int http_peers_add(struct http_peers *p, const cleat_allocator *mem, const struct sockaddr *from,
		   unsigned max, struct http_peer **ret)
{
	unsigned char key[KEY];
	int rc;

	*ret = NULL;
	if (!key_of(from, key))
		return CLEAT_OK;
	lock(p);
	rc = count_one(p, mem, key, max, ret);
	unlock(p);
	return rc;
}

void http_peers_remove(struct http_peers *p, const cleat_allocator *mem, struct http_peer *peer)
{
	struct http_peer **at;

	if (!peer)
		return;
	lock(p);
	if (--peer->count == 0) {
		at = bucket(p, peer->key);
		while (*at != peer)
			at = &(*at)->next;
		*at = peer->next;
		mem_free(mem, peer);
	}
	unlock(p);
}
