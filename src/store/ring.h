/* store/ring.h - doubly linked rings of things that carry their own links: an order in which anything
 * can be taken out of the middle, and which needs no memory of its own.
 *
 * A ring begins as a head that points to itself; the head must not move. Not here: who owns what is
 * in it.
 */
#ifndef STORE_RING_H
#define STORE_RING_H

#include <stdbool.h>
#include <stddef.h>

struct ring {
	struct ring *prev, *next;
};

/* What the link `ptr` is the `member` of. */
#define RING_OF(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

static inline void ring_init(struct ring *head)
{
	head->prev = head->next = head;
}

static inline bool ring_empty(const struct ring *head)
{
	return head->next == head;
}

/* Behind all that are there. */
static inline void ring_add(struct ring *head, struct ring *r)
{
	r->prev = head->prev;
	r->next = head;
	head->prev->next = r;
	head->prev = r;
}

/* r itself keeps pointing at its neighbours: see events_replay(). */
static inline void ring_remove(struct ring *r)
{
	r->prev->next = r->next;
	r->next->prev = r->prev;
}

#endif
