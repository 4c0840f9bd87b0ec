/* base/lazy.h - a library that is opened when one of its functions is first needed.
 *
 * A file that wants one declares `struct calls` with a pointer for every function, named like the
 * function, lists the names in an X macro, and says LAZY_LOADED or, where the build links the
 * library, LAZY_LINKED. Both give it calls_get(), through which everything is called. The types are
 * those of the library's own headers, checked when compiling; nothing of it is linked by that.
 */
#ifndef BASE_LAZY_H
#define BASE_LAZY_H

#include <cleat/base.h>

#include <stdatomic.h>

struct lazy_name {
	const char *name;
	size_t at; /* of its pointer in the table */
};

struct lazy {
	const char *library; /* what dlopen is given */
	const char *package; /* what a person has to install */
	const struct lazy_name *names;
	size_t n_names;
	void *shared; /* the table that all threads use, once it is ready */
	size_t size;
	atomic_int state;
};

enum { LAZY_NOBODY, LAZY_FILLING, LAZY_READY };

/* The shared table, or `own` (of the same size), filled, while the shared one is not there yet.
 * NULL with CLEAT_EUNSUPPORTED in *err when the library or one of the functions is missing. Never
 * makes a thread wait. Any thread. */
const void *lazy_get(struct lazy *l, void *own, cleat_error *err);

/* The comparison is never made, but pointers to different types do not compare. */
#define LAZY_CHECK(name)   _Static_assert(sizeof(((struct calls *)0)->name == (name)) > 0, #name);
#define LAZY_PLACE(name)   { #name, offsetof(struct calls, name) },
#define LAZY_ADDRESS(name) .name = (name),

#define LAZY_LOADED(CALLS, soname, debian)                                                         \
	CALLS(LAZY_CHECK)                                                                          \
	static const struct lazy_name call_names[] = { CALLS(LAZY_PLACE) };                        \
	_Static_assert(CLEAT_COUNT(call_names) * sizeof(void *) == sizeof(struct calls),           \
		       "every member of struct calls is listed");                                  \
	static struct calls shared;                                                                \
	static struct lazy lazy = { .library = (soname),                                           \
				    .package = (debian),                                           \
				    .names = call_names,                                           \
				    .n_names = CLEAT_COUNT(call_names),                            \
				    .shared = &shared,                                             \
				    .size = sizeof shared };                                       \
	static const struct calls *calls_get(struct calls *own, cleat_error *err)                  \
	{                                                                                          \
		return lazy_get(&lazy, own, err);                                                  \
	}

#define LAZY_LINKED(CALLS)                                                                         \
	CALLS(LAZY_CHECK)                                                                          \
	static const struct calls *calls_get(struct calls *own, cleat_error *err)                  \
	{                                                                                          \
		static const struct calls linked = { CALLS(LAZY_ADDRESS) };                        \
                                                                                                   \
		(void)own;                                                                         \
		(void)err;                                                                         \
		return &linked;                                                                    \
	}

#endif
