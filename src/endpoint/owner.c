/* endpoint/owner.c - see owner.h. */
#define _POSIX_C_SOURCE 200809L

#include "endpoint/owner.h"

#include "base/mem.h"
#include "endpoint/impl.h"

#include <arpa/inet.h>

enum { KEY_MAX = 1 + 256, LOCAL_FACTOR = 10 };

/* 'p' and a name, '4' and '6' with an address, 'u': a socket of this machine. */
struct key {
	char text[KEY_MAX];
	size_t n;
	bool local; /* many may stand behind it */
};

static void key_put(struct key *k, char kind, const void *bytes, size_t n)
{
	k->text[0] = kind;
	k->n = 1 + (n < KEY_MAX - 1 ? n : KEY_MAX - 1);
	memcpy(k->text + 1, bytes, k->n - 1);
}

static void key_put_address(struct key *k, const char *text)
{
	struct in6_addr six;
	struct in_addr four;

	if (inet_pton(AF_INET, text, &four) == 1) {
		key_put(k, '4', &four, sizeof four);
	} else if (inet_pton(AF_INET6, text, &six) != 1) {
		key_put(k, 'u', "", 0);
	} else if (IN6_IS_ADDR_V4MAPPED(&six)) {
		key_put(k, '4', six.s6_addr + 12, 4);
	} else {
		k->local = IN6_IS_ADDR_LOOPBACK(&six);
		key_put(k, '6', &six, 8);
	}
	k->local |= k->text[0] == 'u' || (k->text[0] == '4' && k->text[1] == 127);
}

static struct owner **bucket(struct endpoint *m, struct str key)
{
	/* The seed only has to differ from one server to the next. */
	uint32_t seed = (uint32_t)((uintptr_t)m >> 4);

	return &m->owners[str_hash(key, seed) % ENDPOINT_OWNERS];
}

static struct owner *owner_new(struct endpoint *m, const struct key *k)
{
	struct owner *o = mem_zalloc(&m->mem, sizeof *o + k->n);
	size_t factor = k->local ? LOCAL_FACTOR : 1;

	if (!o)
		return NULL;
	memcpy(o->text, k->text, k->n);
	o->key = (struct str){ o->text, k->n };
	o->max_sessions = m->o.max_sessions_per_client * factor;
	o->max_streams = m->o.max_streams_per_client * factor;
	o->subscriptions.max = m->o.max_subscriptions_per_client * factor;
	for (size_t i = 0; i < CLEAT_COUNT(o->sessions); i++)
		ring_init(&o->sessions[i]);
	return o;
}

struct owner *owner_take(struct endpoint *m, struct str principal, const char *address)
{
	struct key k = { .local = false };
	struct owner **first, *o;

	if (principal.n)
		key_put(&k, 'p', principal.p, principal.n);
	else
		key_put_address(&k, address);
	first = bucket(m, (struct str){ k.text, k.n });
	for (o = *first; o && !str_eq(o->key, (struct str){ k.text, k.n }); o = o->next)
		;
	if (!o) {
		o = owner_new(m, &k);
		if (!o)
			return NULL;
		o->next = *first;
		*first = o;
	}
	o->refs++;
	return o;
}

void owner_drop(struct endpoint *m, struct owner *o)
{
	struct owner **at;

	if (!o || --o->refs)
		return;
	at = bucket(m, o->key);
	while (*at != o)
		at = &(*at)->next;
	*at = o->next;
	mem_free(&m->mem, o);
}
