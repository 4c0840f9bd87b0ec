/* missing_rig.h - a library that is not there, or lacks a function, for code that loads it with base/lazy.
 *
 * It comes first. Behind it the test includes what it tests as source, its functions under other names
 * (#define x copy_x): that code and a second copy of base/lazy.c get libraries and functions from here.
 */
#ifndef TESTS_MISSING_RIG_H
#define TESTS_MISSING_RIG_H

#include "test.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

static bool no_library;
static const char *denied; /* name of a function that is not there */
static int opened;
/* Gives what is in the place of a function; NULL for the library's own. */
static void *(*instead)(void *library, const char *name);

static inline void *genuine_library(const char *name)
{
	return dlopen(name, RTLD_NOW);
}

static inline void *genuine_function(void *library, const char *name)
{
	return dlsym(library, name);
}

static inline char *fake_dlerror(void)
{
	static char text[] = "a reason";

	return no_library || denied ? text : NULL;
}

static inline void *fake_dlopen(const char *name, int flags)
{
	opened++;
	return no_library ? NULL : dlopen(name, flags);
}

static inline void *fake_dlsym(void *library, const char *name)
{
	void *p;

	if (denied && strcmp(name, denied) == 0)
		return NULL;
	p = instead ? instead(library, name) : NULL;
	return p ? p : dlsym(library, name);
}

#define dlopen   fake_dlopen
#define dlsym    fake_dlsym
#define dlerror  fake_dlerror
#define lazy_get copy_get
#include "base/lazy.c" /* NOLINT(bugprone-suspicious-include): see above */

/* `check` with the library not there. */
static inline void deny_library(void (*check)(void))
{
	no_library = true;
	check();
	no_library = false;
}

/* ... and with each of its functions not there. */
#define DENY_FUNCTIONS(check) deny_functions(call_names, CLEAT_COUNT(call_names), check)

static inline void deny_functions(const struct lazy_name *names, size_t n, void (*check)(void))
{
	for (size_t i = 0; i < n; i++) {
		denied = names[i].name;
		check();
	}
	denied = NULL;
}

#endif
