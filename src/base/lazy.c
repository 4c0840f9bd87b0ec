/* base/lazy.c - see lazy.h.
 *
 * Filling a table never makes a thread wait: whoever finds none looks the names up for itself (the
 * loader allows that, and counts), uses what it found, and offers it to all; the first offer stays.
 * Failure is not remembered, so the reason is always the loader's own and a library that is
 * installed later is found. Nothing is ever unloaded: libraries register exit handlers.
 */
#include "base/lazy.h"

#include "base/error.h"

#include <dlfcn.h>
#include <string.h>

static bool missing(const struct lazy *l, cleat_error *err)
{
	const char *why = dlerror();

	error_set(err, CLEAT_EUNSUPPORTED, "%s cannot be loaded (%s): install %s", l->library,
		  why ? why : "no reason given", l->package);
	return false;
}

static bool lazy_fill(const struct lazy *l, void *table, cleat_error *err)
{
	/* Lazily: libcurl brings thirty libraries along, of which a request calls few functions. */
	void *handle = dlopen(l->library, RTLD_LAZY | RTLD_LOCAL);

	if (!handle)
		return missing(l, err);
	for (size_t i = 0; i < l->n_names; i++) {
		void *p = dlsym(handle, l->names[i].name);

		if (!p)
			return missing(l, err);
		/* ISO C has no cast from an object pointer to a function pointer; POSIX promises
		 * that both are the same bytes. */
		memcpy((char *)table + l->names[i].at, &p, sizeof p);
	}
	return true;
}

const void *lazy_get(struct lazy *l, void *own, cleat_error *err)
{
	int expected = LAZY_NOBODY;

	if (atomic_load_explicit(&l->state, memory_order_acquire) == LAZY_READY)
		return l->shared;
	if (!lazy_fill(l, own, err))
		return NULL;
	if (atomic_compare_exchange_strong(&l->state, &expected, LAZY_FILLING)) {
		memcpy(l->shared, own, l->size);
		atomic_store_explicit(&l->state, LAZY_READY, memory_order_release);
	}
	return own;
}
