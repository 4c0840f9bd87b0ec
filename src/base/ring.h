/* base/ring.h - lists whose links are members of what is listed: nothing is allocated to be in one, and
 * leaving it needs no search.
 *
 * Circular; the list itself is a link that belongs to nobody, and a link that is in no list points to itself.
 */
#ifndef BASE_RING_H
#define BASE_RING_H

#include <stdbool.h>
#include <stddef.h>

/* What a member is a member of. */
#define CONTAINER_OF(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

struct ring {
	struct ring *prev, *next;
};

static inline void ring_init(struct ring *r)
{
	r->prev = r->next = r;
}

/* Is it in no list? As a list: is it empty? */
static inline bool ring_alone(const struct ring *r)
{
	return r->next == r;
}

/* Takes it out; it goes on pointing at its former neighbours. */
static inline void ring_cut(struct ring *r)
{
	r->prev->next = r->next;
	r->next->prev = r->prev;
}

static inline void ring_remove(struct ring *r)
{
	ring_cut(r);
	ring_init(r);
}

/* At the end of the list. */
static inline void ring_add(struct ring *list, struct ring *r)
{
	r->prev = list->prev;
	r->next = list;
	list->prev->next = r;
	list->prev = r;
}

#endif
