/* program/serve/kit/set.h - all that one configuration offers. See draft.h for who fills it. */
#ifndef PROGRAM_SERVE_KIT_SET_H
#define PROGRAM_SERVE_KIT_SET_H

#include "request/registry.h"

struct set;

/* NULL when out of memory. */
struct set *set_new(const cleat_allocator *mem);
/* Frees the record; of one that never was in force all that was made goes with it. Accepts NULL. */
void set_free(struct set *s);
/* Takes over the entry. CLEAT_OK; CLEAT_EEXIST with the place of the other one in *ret_other, CLEAT_ELIMIT,
 * CLEAT_ENOMEM: then it is still the caller's. */
int set_add(struct set *s, struct entry *e, const char *recipe, const cleat_json *at,
	    const cleat_json **ret_other, cleat_error *err);
/* How many entries there are. */
size_t set_size(const struct set *s);
/* Something that is there while the set is in force. */
struct set_thing {
	void *thing;
	void (*destroy)(void *thing); /* when the set is no longer in force */
	/* When the set has come into force, before anybody is served by it. NULL: nothing is to be done. */
	void (*begin)(void *thing);
	/* If the set before has one of the same recipe, that one stays and this one is destroyed instead; then
	 * go_on() is called for the one that stays. NULL: none does. */
	const char *recipe;
	void (*go_on)(void *thing);
};
/* False: no memory, it has been destroyed. */
bool set_keep(struct set *s, const struct set_thing *t);

/* What has changed, for people. */
struct set_change {
	size_t added, removed, changed, kept;
};
/* Puts `next` in force in place of `old` (NULL: nothing was), whose things are let go. CLEAT_OK, or why
 * not (cleat_server_error()); then nothing has changed. Loop thread. */
int set_apply(struct set *next, struct set *old, cleat_server *server, struct set_change *ret);

#endif
